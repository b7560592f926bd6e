/* From the trace of a rank to a list of items: words and forms that are kept once, sequences of numbers, the folding
 * itself, and the files of the rank. Pure. */
#ifndef PIOLET_MODEL_FOLD_H
#define PIOLET_MODEL_FOLD_H

#include "base/status.h"
#include "base/text.h"
#include "trace/trace_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- words and forms ---- */

/* Words that are kept once: two equal texts of a pool are the same pointer. And texts with their numbers taken out, so
 * that what differs between ranks in numbers alone (a name with the rank in it, the beginning of a subarray) is the
 * same text. */
struct model_pool { /* {0} is empty */
    char **slots;
    size_t count, capacity; /* of the table: a power of two */
    /* layouts in memory, in the order in which they came; NULL: of those that are not told */
    const char **layouts;
    int64_t layout_count, layout_bytes;
    /* bytes of buffers that ranks touched for the first time with their accesses to a file, by the form of its name */
    struct model_fresh {
        const char *form;
        double read_bytes, written_bytes;
        bool unlinked; /* by somebody, right behind its close */
    } * fresh;
    int fresh_count;
};

void model_pool_clear(struct model_pool *pool);
/* False when memory is short. */
bool model_pool_add_fresh(struct model_pool *pool, const char *form, const struct trace_file *file);

uint64_t model_hash_text(const char *text);

/* What stands in a form where a number was; and before a byte of text that is one of these two itself. */
enum { MODEL_SLOT = '\x01', MODEL_LITERAL = '\x02' };

struct model_form { /* {0} is empty */
    struct text text;
    int64_t *numbers;
    size_t count, capacity;
    bool failed; /* memory was short */
};

/* Goes one further in a form: true over a slot, false over the byte of text `*ret_literal`. */
bool model_form_step(const char **at, const char **ret_literal);

/* ---- sequences ---- */

/* Numbers in the order of time, kept as few grids: what a parameter of a call (its offset, say) was at its first,
 * second, … execution. Regular sequences need one grid, whatever their length; any sequence is kept exactly. */

enum { MODEL_GRID_LEVELS = 4 };

/* base + i0 * stride[0] + i1 * stride[1] + …, i0 running fastest. Without levels: one number. Numbers are kept modulo
 * 2^64; a sequence has fewer than 2^62 of them, which who reads files makes sure of. Or numbers without a rule, one by
 * one: levels is MODEL_GRID_LIST, count[0] of them stand from `base` on among the values of the sequence. */
enum { MODEL_GRID_LIST = -1 };
struct model_grid {
    int64_t base;
    int levels;
    int64_t count[MODEL_GRID_LEVELS], stride[MODEL_GRID_LEVELS];
    int64_t start; /* inside a sequence: how many numbers stand before it */
};

struct model_seq { /* {0} is empty */
    struct model_grid *grids;
    size_t count, capacity;
    size_t small; /* of these, at the end: short ones that may become a list */
    int64_t *values;
    size_t value_count, value_capacity;
};

int64_t model_grid_total(const struct model_grid *grid);
/* The number at `index`, which lies inside. No list. */
int64_t model_grid_at(const struct model_grid *grid, int64_t index);
/* The same of a grid of the sequence, which may be a list. */
int64_t model_seq_grid_at(const struct model_seq *seq, const struct model_grid *grid, int64_t index);
/* Whether it is one grid: a formula gives all of it. */
static inline bool model_seq_is_grid(const struct model_seq *seq)
{
    return seq->count == 1 && seq->grids[0].levels >= 0;
}

void model_seq_clear(struct model_seq *seq);
int64_t model_seq_total(const struct model_seq *seq);
int64_t model_seq_at(const struct model_seq *seq, int64_t index);
/* Appending: false when memory is short. What continues the last grid, or repeats it elsewhere, makes it larger. */
bool model_seq_add(struct model_seq *seq, int64_t value);
bool model_seq_add_grid(struct model_seq *seq, struct model_grid grid);
bool model_seq_add_seq(struct model_seq *seq, const struct model_seq *more);
/* Appends `count` numbers of `from`, beginning at `index`. */
bool model_seq_add_slice(struct model_seq *seq, const struct model_seq *from, int64_t index, int64_t count);
/* Makes the grids those that number after number would give, however the sequence came together. Sequences that are
 * irregular and very long are left as they are. */
bool model_seq_settle(struct model_seq *seq);
/* True if `b` is `a` moved by a constant, which is told. */
bool model_seq_is_moved(const struct model_seq *a, const struct model_seq *b, int64_t *ret_by);

/* ---- lists ---- */

/* What a rank did, as a list of items in which what repeats is a loop: folded by what was called, whatever the offsets.
 *
 * The list does not depend on how the trace was folded: it is what folding call after call from the left gives. (Turns
 * of a loop of the trace are fed one by one until each makes one loop of the list longer and nothing else; the rest is
 * then added at once.) Offsets and other numbers are kept beside, each a sequence over the executions of the call. Left
 * out: seeks of the individual pointer and queries (an access has its offset), error handlers, and calls that failed.
 */

enum model_kind { MODEL_CALL, MODEL_COMM, MODEL_LOOP };

/* A call but for its numbers. The words are the pool's: equal ones are the same pointer. NULL: none. */
struct model_call {
    const char *function, *class, *who, *how, *position;
    const char *file;        /* form of the name of the file; a second handle on an open file is a file of its own */
    const char *name, *text; /* forms of what open, delete, view, … were given */
    int64_t etype_bytes;     /* of the view in force */
    bool access;             /* moves data: has a size, and an offset unless the pointer is shared */
    bool number;             /* moves none, and has a number in the place of the offset */
    bool holes;              /* the view in force leaves bytes out */
};

/* The numbers of a call: PARAM_OFFSET, PARAM_INSTANCE (which of the files with this form of name: the first, second, …
 * name of this rank), PARAM_MEMORY (which layout of the pool, 0: one piece), PARAM_SIZE (bytes; -1: no access), then
 * those of the forms `name` and `text`. Of communication: how many collectives of the world it had. */
enum { MODEL_PARAM_OFFSET, MODEL_PARAM_INSTANCE, MODEL_PARAM_MEMORY, MODEL_PARAM_SIZE, MODEL_PARAM_FORMS };
enum { MODEL_PARAM_COLLECTIVES, MODEL_COMM_PARAMS };
enum { MODEL_PARAM_TURNS, MODEL_FREE_PARAMS }; /* of a loop without a rule */

struct model_observed { /* {0}: nothing */
    int64_t calls;
    double sum_ns, gap_ns; /* durations; time between the end of the call before and the begin */
    int64_t min_ns, max_ns, first_ns;
    double events; /* of MODEL_COMM */
};

struct model_item {
    enum model_kind kind;
    uint64_t shape; /* the same without sizes */
    bool any_size;  /* a loop of calls with sizes that follow no rule */
    uint64_t hash;  /* of what is compared when folding: calls, sizes, turns, whether there was much communication */
    bool has_comm;
    int64_t turns; /* MODEL_LOOP; where params[0] lists them: the most */
    struct model_item *body;
    int count;
    /* A loop without a rule, see model_free.c, and all loops inside of it: params[0] are the turns of each execution.
     * While it grows, the last of these are `pending` turns of execution `row`, and `at` is where it stands. */
    bool free;
    int64_t pending, row;
    int at;
    /* Most events of communication: where it begins with some, where it ends with some, and in one place between. Of
     * MODEL_COMM all are the same; where there is none 0. */
    int64_t entry_events, exit_events, inner_events;
    struct model_call call;
    struct model_seq *params;
    int param_count;
    struct model_observed observed;
};

struct model_list { /* {0} is empty */
    struct model_item *items;
    int count, capacity;
};

/* The list of a rank. *ret_failed_calls: how many were left out because they failed. `apart`: more events of
 * communication than these are much. */
pl_status model_fold(const struct trace_tree *tree, struct model_pool *pool, int64_t apart, struct model_list *ret_list,
                     int64_t *ret_failed_calls, struct pl_error *error);
void model_list_clear(struct model_list *list);
void model_item_clear(struct model_item *item);

/* The pieces of model_fold(): a list that folds itself while items are pushed (moved into it, also on failure). */
bool model_list_push(struct model_list *list, struct model_item *item);
/* What folding leaves, from item *from_to on, becomes loops that a list of sizes, of turns and of offsets tells: rows
 * that repeat but for their sizes (model_rows.c), else loops without a rule (model_free.c). `behind`: items at the end
 * that are left alone, since more may come; *from_to is where to begin then. `apart`: more events of communication than
 * these are much. */
bool model_list_compact(struct model_list *list, int behind, int64_t apart, int *from_to);
/* Turns what repeats but for its first or last communication into the same loop: A c A c A becomes 3 × (c A), where the
 * first c is the communication before it, or none at all (0 collectives). And one access again and again, with
 * completions in whatever order and no more communication than `apart` between, becomes a loop of one turn. */
bool model_list_rotate(struct model_list *list, int64_t apart);
void model_loop_rehash(struct model_item *loop);

/* The numbers of `more`, which has the same shape, go behind those of `item`. */
bool model_item_absorb(struct model_item *item, const struct model_item *more);
bool model_items_same(const struct model_item *a, const struct model_item *b, int count);
bool model_items_access(const struct model_item *items, int count); /* whether one of them moves data */
/* Most events of communication inside of a row of items: not where it begins, nor where it ends. */
int64_t model_items_events(const struct model_item *items, int count);
/* `turn` comes behind the loop: what was its end, and the turn's begin, are inside of it now. */
void model_loop_join_events(struct model_item *loop, const struct model_item *turn, int width);

/* Rows: whether most of these items are rows that repeat but for their sizes; and such rows, and all that is between
 * them, moved to the end of `out`. */
bool model_rows_cover(const struct model_item *items, int count);
bool model_rows_take(struct model_item *items, int count, struct model_list *out);

/* Loops without a rule: whether an item, with all that is in it, may be in one, and how many calls it stands for; 0: it
 * may not. */
int64_t model_free_calls(const struct model_item *item);
/* Whether it opens, closes or deletes files; how many more it opens than it closes, and *opens grows by its opens. */
bool model_free_has_files(const struct model_item *item);
int64_t model_free_open_files(const struct model_item *item, int64_t *opens);
/* Cuts items where no kind of call stands on both sides, in linear time: ret_ends, which has room for `count`, gets the
 * index behind each part. *ret_goes_on: the first part has kinds of the loop (NULL: none), else nothing has. Returns
 * how many parts there are; 0: no memory. */
int model_free_cut(const struct model_item *loop, const struct model_item *items, int count, int *ret_ends,
                   bool *ret_goes_on);
/* How many of these items, from *ret_first on, may go behind the loop (NULL: make a new one). All of them may be in
 * one.
 */
int model_free_reach(const struct model_item *loop, const struct model_item *items, int count, int *ret_first);
/* Puts the calls of an item into the loop (model_free_begin(), or grown already), and clears the item. */
bool model_free_begin(struct model_item *ret_loop);
bool model_free_take(struct model_item *loop, struct model_item *item, int64_t apart);
bool model_free_end(struct model_item *loop); /* nothing more comes */
/* Makes the rows those that the kinds in another order give: kind i stands in place[i], among others perhaps. */
bool model_free_reorder(struct model_item *loop, const int *place);
void model_observed_add(struct model_observed *sum, const struct model_observed *more);

/* ---- files ---- */

/* Inside of model_fold: the files of a rank, and calls as items without their loops. */

struct model_file_state { /* one MPI_File_open of the trace */
    const char *form;     /* NULL: not opened yet */
    int64_t instance;     /* which of the names of this form */
    int entry;            /* into the names */
    int64_t etype_bytes;
    bool holes;
};

struct model_name { /* a name that this rank has opened */
    char *name;
    int open; /* handles on it now */
    struct model_name_use {
        const char *form;
        int64_t instance;
    } * uses; /* one for each handle at the same time */
    int use_count;
};

struct model_files {
    const struct trace_tree *tree;
    struct model_pool *pool;
    struct model_file_state *files; /* as many as the tree has */
    struct model_name *names;
    int name_count, name_capacity;
    int *table; /* from the hash of a name to its entry + 1 */
    size_t table_size;
    struct model_form_count {
        const char *form;
        int64_t count;
    } * forms; /* how many names have the same form */
    int form_count;
    int64_t *layouts; /* numbers of the layouts in memory that the tree's details tell; 0: not looked for yet */
};

bool model_files_begin(struct model_files *files, const struct trace_tree *tree, struct model_pool *pool);
void model_files_clear(struct model_files *files);
/* The item of one execution of a call, without its offset (params[0] is empty); keeps track of what is open, and of the
 * view. False when memory is short. */
bool model_files_call(struct model_files *files, const struct trace_node *node, struct model_item *ret_item);

#endif
