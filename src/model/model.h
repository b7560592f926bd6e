/* The I/O model of a program: what its ranks ask of MPI-IO, in which order, as few lines for many ranks. See
 * docs/model.md for the text of a model file and what it means.
 *
 *     struct model_builder *builder = model_builder_new();
 *     for each rank, ascending: model_builder_add(builder, &tree, &error);
 *     model_builder_finish(builder, &model, &error);
 *
 * Pure: no MPI, no clock, no file (but for the streams that it writes to). */
#ifndef PIOLET_MODEL_H
#define PIOLET_MODEL_H

#include "base/text.h"
#include "model/model_fold.h"
#include "model/model_formula.h"
#include "trace/trace_extent.h"
#include "trace/trace_tree.h"

#include <stdio.h>

/* What a model may say, whoever wrote it: products of ranks and turns then fit into 64 bits, and a file of a few lines
 * keeps nobody busy for hours. */
#define MODEL_TURNS_MAX (INT64_C(1) << 53) /* of loops inside of each other together; also collectives */
#ifdef PIOLET_FUZZ
enum { MODEL_RANKS_MAX = 1 << 10, MODEL_LOOK_MAX = 1 << 10 };
#else
enum {
    MODEL_RANKS_MAX = 1 << 24,
    MODEL_LOOK_MAX = 1 << 20 /* calls of a rank that are looked at one by one for a picture */
};
#endif

/* Accesses with more events of communication between them are phases of their own, see docs/model.md. */
enum { MODEL_APART = 16 };

/* A number as a formula. */
struct model_value { /* {0}: there is none */
    char *text;
    struct model_formula *formula;
};

struct model_step {
    enum model_kind kind;
    struct model_ranks ranks; /* who does it; of a loop and inside of a phase: empty, as told around it */
    int phase;                /* > 0: this step, with all in it, is a phase with this number */
    /* MODEL_LOOP */
    int64_t turns;               /* the most of all ranks and executions */
    struct model_value turns_of; /* where they differ between ranks or executions */
    bool varies;                 /* between executions of the loop: its formula has n */
    int loop;                    /* number of the loop in the model, from 0 */
    struct model_step *body;
    int count;
    /* MODEL_COMM */
    int64_t collectives;               /* of the world; the first time, where they differ */
    struct model_value collectives_of; /* where they differ between times or ranks */
    /* MODEL_CALL */
    char *operation; /* "write_at_all" */
    int file;        /* index into the files; -1: none */
    bool access;
    struct model_value size, offset, instance; /* the offset has no text where the shared pointer decides; of
                                                * set_size and others that move no data it is their number */
    struct model_value memory;                 /* number of the layout of an access, 0: one piece; none: always that */
    int64_t etype_bytes;                       /* unit of the offset */
    bool holes;                                /* the view leaves bytes out */
    char *name, *detail; /* patterns of the name of an opened file and of other arguments; NULL: none */
    int leaf;            /* number of the call or communication in the model, from 0 */
    /* as it was seen */
    struct model_observed observed;
    double slowest_ns; /* largest sum of durations of a rank */
};

struct model {
    int64_t ranks;
    bool is_old; /* of version 1: small accesses were metadata, whoever made them */
    char *program;
    int file_count;
    char **layouts; /* in memory, as constructors of datatypes; NULL: one that is not told */
    int layout_count;
    struct model_step *steps;
    int step_count;
    int leaf_count, phase_count; /* entries: a family of equal phases is one */
    int loop_count;
    /* as it was seen */
    char *mpi, *mpiio;
    int64_t failed_calls, incomplete_ranks;
    struct model_buffers { /* bytes of buffers that ranks touched for the first time by reading and writing a file */
        double read_bytes, written_bytes;
        bool unlinked; /* a rank removed it right behind its close, without MPI-IO */
    } * fresh;         /* of each file; NULL: none anywhere */
};

struct model_builder;
struct model_builder *model_builder_new(void); /* NULL when memory is short */
void model_builder_free(struct model_builder *builder);
/* Other than MODEL_APART events of communication keep phases apart; 0: any do. Before the first rank is added. */
void model_builder_apart(struct model_builder *builder, int64_t events);
/* Told while model_builder_finish() works: what it does, and which part of that (0 to 1) is done. */
typedef void model_watch(void *context, const char *what, double part);
void model_builder_watch(struct model_builder *builder, model_watch *watch, void *context);
pl_status model_builder_add(struct model_builder *builder, const struct trace_tree *tree, struct pl_error *error);
/* Adds what another builder, of larger ranks, has gathered; it is empty afterwards. */
pl_status model_builder_merge(struct model_builder *builder, struct model_builder *more, struct pl_error *error);
pl_status model_builder_finish(struct model_builder *builder, struct model *ret_model, struct pl_error *error);
/* A builder that uses the words of another one: only such can be merged. */
struct model_builder *model_builder_branch(struct model_builder *trunk);

void model_clear(struct model *model);

/* ---- what a model says ---- */

/* What the name of an operation tells. */
struct model_operation {
    bool reads, writes, collective, nonblocking, split;
    enum { MODEL_EXPLICIT, MODEL_INDIVIDUAL, MODEL_SHARED } pointer;
};
struct model_operation model_operation_of(const char *operation);

/* Of communication and of a loop, for a rank. The n-th time, from 0. */
int64_t model_collectives(const struct model_step *step, int64_t rank, int64_t n);
int64_t model_turns(const struct model_step *loop, int64_t rank, int64_t n);
/* In so many executions of the loop, from number n on, together. */
int64_t model_turns_in(const struct model_step *loop, int64_t rank, int64_t n, int64_t executions);
/* Whether the turns of a loop in it vary between executions: calls in no order that a rule tells. */
bool model_is_free(const struct model_step *step);

/* A call of a rank, as the model gives it back. */
struct model_event {
    const struct model_step *step;
    int64_t rank, n;                /* the n-th execution of this step, from 0 */
    int64_t tick;                   /* calls and communication before it */
    int64_t size, offset, instance; /* -1: none */
    int64_t memory;                 /* number of the layout, from 1; 0: one piece */
};

/* Calls `take` for every call of a rank in order, until it returns false. */
typedef bool model_take_event(void *context, const struct model_event *event);
pl_status model_expand(const struct model *model, int64_t rank, model_take_event *take, void *context,
                       struct pl_error *error);
/* The call of a step that holds one call, besides communication; NULL: it holds several. */
const struct model_step *model_only_call(const struct model_step *step);
/* A pattern (name or detail) for a rank and an execution. */
pl_status model_render(const char *pattern, int64_t rank, int64_t n, struct text *text, struct pl_error *error);

/* The views of a rank's files, while model_expand() goes through its calls: each call is taken after it was looked at.
 */
struct model_views { /* {0}: no file is open */
    struct viewed *items;
    int count, room;
};
pl_status model_views_take(struct model_views *views, const struct model_event *event, struct pl_error *error);
/* Through which view an access goes; NULL: the trace does not tell. */
const struct trace_view *model_views_of(const struct model_views *views, const struct model_event *event);
void model_views_clear(struct model_views *views);

/* ---- texts ---- */

/* The model file. Without the observed part, models of one program are equal on all machines and MPIs. */
void model_write(const struct model *model, bool observed, struct text *text);
/* Reads and checks a model file; `name` is for messages, which tell the line. */
pl_status model_read(const char *name, const char *text, struct model *ret_model, struct pl_error *error);
/* The same of a file. Its text is kept in ret_text, unless that is NULL. */
pl_status model_read_file(const char *path, struct model *ret_model, struct text *ret_text, struct pl_error *error);
/* A few words on it. */
void model_words(const struct model *model, struct text *text);
/* The lines in which the two differ, without the observed part; returns how many. `with_names`: also in the names of
 * the program and of its files, which are no I/O. */
int model_diff(const struct model *a, const struct model *b, bool with_names, struct text *text);

/* ---- what follows from its steps: bytes, phases, and how each file is used ---- */

enum model_order { MODEL_SEQUENTIAL, MODEL_STRIDED, MODEL_RANDOM };

struct model_phase_facts {
    const struct model_step *step;
    int64_t count;           /* how often it comes: its family */
    int64_t number, step_by; /* of its first one among all phases (0: not told), and from one to the next */
    int64_t processes;
    int64_t read_bytes, written_bytes; /* by all processes in one phase */
    int64_t smallest, largest;         /* request size */
    enum model_order order;
    bool metadata;  /* small accesses of a library beside the data, see docs/model.md */
    int64_t givers; /* processes that move bytes */
    bool spread;    /* each to or from places of their own */
    int file;       /* the first one that it accesses */
};

struct model_file_facts {
    const char *name; /* pattern of the first open; "" if there was none */
    int64_t processes;
    enum { MODEL_FILE_SHARED, MODEL_FILE_UNIQUE, MODEL_FILE_GROUPED } type;
    enum model_order order;
    bool pointers[3]; /* by enum of struct model_operation */
    bool collective, independent, blocking, nonblocking, split;
    int64_t read_bytes, written_bytes, views;
    int64_t largest;
};

struct model_facts {
    struct model_phase_facts *phases;
    int phase_count;
    int64_t total; /* phases of all families */
    struct model_file_facts *files;
    int file_count;
    int64_t read_bytes, written_bytes;
};

pl_status model_facts_find(const struct model *model, struct model_facts *ret_facts, struct pl_error *error);
void model_facts_clear(struct model_facts *facts);

/* The attributes of a file and of a phase, as the model file has them. */
void model_facts_file(const struct model_file_facts *file, struct text *text);
void model_facts_phase(const struct model_phase_facts *phase, struct text *text);
/* "40 × collective strided write of 10.1 MiB by each of 4 processes". */
void model_words_phase(const struct model_phase_facts *phase, struct text *text);
const char *model_order_word(enum model_order order);

/* ---- for people ---- */

/* A picture: process, tick and offset of every access in three projections, for the file with most bytes. SVG; a name
 * that ends in .png goes through rsvg-convert. */
pl_status model_plot(const struct model *model, const char *path, struct pl_error *error);

#endif
