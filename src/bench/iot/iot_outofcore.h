/* The kernel outofcore: what its plan and its run share. */
#ifndef PIOLET_BENCH_IOT_OUTOFCORE_H
#define PIOLET_BENCH_IOT_OUTOFCORE_H

#include "bench/iot/iot.h"
#include "bench/iot/iot_lu.h"
#include "bench/iot/iot_outofcore.h"

/* Of a column, above and from its panel's diagonal block down: the streamed parts are checked alone. */
struct outofcore_sums {
    uint64_t upper, lower;
};

extern const struct option_row OUTOFCORE_KEYWORDS[];

/* For struct iot_test. Pure. */
pl_status outofcore_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                          struct pl_error *error);
void outofcore_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set);

/* Panels and slabs of set `index`; bytes that a process has for them. */
struct lu_plan outofcore_plan(const struct iot_block *block, int nprocs, int64_t index);
int64_t outofcore_memory(const struct iot_block *block);

/* The panels of the kernel outofcore, between the file and the memory of all ranks. */

/* Rows `top` to n - 1 of panel k, and this rank's columns of them. */
struct outofcore_part {
    int64_t k, top;
    int rows, width;
    int first, columns; /* this rank's, counted from the panel's first */
};

/* The part that is on its way into `share`. */
struct outofcore_stream {
    struct outofcore_part part;
    MPI_Request *requests;
    int started, landed;
    double seconds; /* spent on it in MPI calls */
    pl_status status;
    struct pl_error error;
};

struct outofcore_spent {
    double read, write, wait, sync, compute, comm, check;
};

struct outofcore {
    struct iot_run *run;
    struct lu_plan plan;
    int n;
    bool collective, prefetch, check;
    MPI_File file;
    double *own;   /* plan.held panels of n rows: this rank's part of the slab */
    double *panel; /* the panel that is applied, packed */
    double *share;
    int *pivots; /* of all columns; within a panel from 1 */
    struct outofcore_sums *sums;
    double *b, *x, *rest; /* rest: A x - b */
    struct outofcore_stream stream;
    int *counts, *places; /* of MPI_Allgatherv */
    struct outofcore_spent spent;
    int64_t slab;
    struct sample_series *r, *w, *s, *sb;
};

/* Panel i of those that this rank holds; where panel k begins in the file. */
double *outofcore_own_panel(const struct outofcore *o, int64_t i);
int64_t outofcore_byte_of(const struct outofcore *o, int64_t k);

/* Adds the time since *since, and begins anew. */
void outofcore_lap(double *since, double *total);

/* No rank works with what another one failed to read. The words stay with the rank that failed: the course asks for
 * them at the end of the step. */
bool outofcore_go_on_coll(struct outofcore *o, pl_status status);

/* Remembers what panel k, whole, will have to be when it is read. */
void outofcore_note_sums(struct outofcore *o, int64_t k, const double *panel);

/* Collective calls see the file through a view; with explicit offsets it is that of doubles from the first one on. */
pl_status outofcore_view_coll(struct outofcore *o, struct pl_error *error);

/* All panels of the slab, one call for each; read ones are compared with their sums. */
pl_status outofcore_move_slab_coll(struct outofcore *o, bool writes, struct pl_error *error);
pl_status outofcore_read_slab_coll(struct outofcore *o, struct pl_error *error);

/* What a rank wrote becomes visible to the others. */
pl_status outofcore_make_visible_coll(struct outofcore *o, struct pl_error *error);

pl_status outofcore_check_length(struct outofcore *o, struct pl_error *error);

/* What is done with panel k, or its lower part, in o->panel. */
typedef void outofcore_use(struct outofcore *o, int64_t k);

/* Panels 0 to count - 1, upwards and without their upper parts, or downwards and whole. */
pl_status outofcore_stream_coll(struct outofcore *o, int64_t count, bool downwards, outofcore_use *use,
                                struct pl_error *error);

/* Between two pieces of computation: many MPI libraries move data only while they are called. */
void outofcore_stream_poke(struct outofcore *o);

#endif
