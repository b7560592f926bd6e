/* The I/O model of a program: what its ranks ask of MPI-IO, in which order, as few lines for many ranks. See
 * docs/model.md for the text of a model file and what it means.
 *
 *     struct model_builder *builder = model_builder_new();
 *     for each rank, ascending: model_builder_add(builder, &tree, &error);
 *     model_builder_finish(builder, &model, &error);
 *
 * Pure: no MPI, no clock, no file. */
#ifndef PIOLET_MODEL_MODEL_H
#define PIOLET_MODEL_MODEL_H

#include "base/text.h"
#include "model/model_fold.h"
#include "model/model_formula.h"

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
    int64_t turns;
    struct model_step *body;
    int count;
    /* MODEL_COMM */
    int64_t collectives; /* of the world */
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
    char *program;
    int file_count;
    char **layouts; /* in memory, as constructors of datatypes; NULL: one that is not told */
    int layout_count;
    struct model_step *steps;
    int step_count;
    int leaf_count, phase_count; /* entries: a family of equal phases is one */
    /* as it was seen */
    char *mpi, *mpiio;
    int64_t failed_calls, incomplete_ranks;
};

struct model_builder;
struct model_builder *model_builder_new(void); /* NULL when memory is short */
void model_builder_free(struct model_builder *builder);
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
/* A pattern (name or detail) for a rank and an execution. */
pl_status model_render(const char *pattern, int64_t rank, int64_t n, struct text *text, struct pl_error *error);

/* ---- texts ---- */

/* The model file. Without the observed part, models of one program are equal on all machines and MPIs. */
void model_write(const struct model *model, bool observed, struct text *text);
/* Reads and checks a model file; `name` is for messages, which tell the line. */
pl_status model_read(const char *name, const char *text, struct model *ret_model, struct pl_error *error);
/* A few words on it. */
void model_words(const struct model *model, struct text *text);
/* The lines in which the two differ, without the observed part; returns how many. */
int model_diff(const struct model *a, const struct model *b, struct text *text);

#endif
