/* What the low-level tests share: keywords, plan, and the course of a run around the two timed loops.
 *
 * A low-level test is one file: its two loops, a struct lowlevel_steps that names them, and the test's table entry.
 * The course is: take memory, make room for the file, open, preallocate, write loop, sync, read loop, close. After
 * every step all ranks agree on its outcome; a rank whose step failed takes part in what follows until then. */
#ifndef PIOLET_BENCH_IOT_LOWLEVEL_H
#define PIOLET_BENCH_IOT_LOWLEVEL_H

#include "bench/iot/iot.h"
#include "bench/iot/iot_data.h"
#include <stdbool.h>
#include <stdint.h>

/* Which rank owns which part of the test file. Pure, closed form: any block's place in constant time.
 *
 * Block k of B covers the bytes [edge(k), edge(k+1)), with edge(k) = k·b + jitter(k). Without `fuzzy` the jitter is 0.
 * With it, every inner edge moves by up to ± F·b/2, so that lengths scatter around b within ± F·b and still fill the
 * file exactly, and no rank needs to know the blocks before its own. */

struct iot_layout {
    int64_t blocks;     /* B, of the whole file */
    int64_t blocksize;  /* b, bytes, a multiple of 8 */
    int64_t tail_bytes; /* asked for and left out */
    int nprocs;
    bool segmented; /* a rank's blocks side by side; else block j of rank r is file block j·P + r */
    double fuzzy;   /* F in [0, 1) */
    uint64_t seed;  /* of the jitter */
};

struct iot_extent {
    int64_t offset; /* bytes */
    int64_t length;
};

/* A block larger than the file is cut to the file; a tail shorter than a block is left out. */
struct iot_layout iot_layout_make(int64_t filesize, int64_t blocksize, int nprocs);

/* Blocks of one rank, and of the rank that has most. */
int64_t iot_layout_count(const struct iot_layout *layout, int rank);
int64_t iot_layout_rounds(const struct iot_layout *layout);

/* Block j of a rank. */
struct iot_extent iot_layout_block(const struct iot_layout *layout, int rank, int64_t j);

/* No block is longer. */
int64_t iot_layout_longest(const struct iot_layout *layout);

struct lowlevel {
    struct iot_run *run;
    const struct lowlevel_steps *steps;
    struct iot_layout layout;
    MPI_Comm comm; /* of the file: one rank alone, or all */
    bool shared;   /* all ranks take part; else rank 0 alone, and the others wait */
    bool collective;
    int64_t count; /* my blocks */
    int64_t calls; /* my calls: in collectives everybody makes as many as the rank with most blocks */
    MPI_File file;
    int fd; /* sinunix */
    struct iot_data data;
    double *buffer; /* for reading */
    enum iot_check check;
    struct sample_series *w, *r, *b;
    /* singleI, multipleI */
    struct iot_task task;
    int64_t cycles; /* blocking and computing references before the loops */
    bool split;     /* split collectives; else non-blocking ones */
    struct sample_series *t, *wI, *wtI, *wwI, *rI, *rtI, *rwI;
};

typedef pl_status lowlevel_step(struct lowlevel *low, struct pl_error *error);

struct lowlevel_steps {
    lowlevel_step *open, *preallocate, *write, *sync, *read, *close;
    lowlevel_step *compute; /* singleI, multipleI: times the task alone; else NULL */
};

/* For struct iot_test. */
extern const struct option_row LOWLEVEL_KEYWORDS[];   /* of all low-level tests */
extern const struct option_row LOWLEVEL_COLLECTIVE[]; /* collective, layout */
extern const struct option_row LOWLEVEL_COLLECTIVE_OR_NOT[];
extern const struct option_row LOWLEVEL_INTERLEAVED[]; /* tasklength, cycles */
pl_status lowlevel_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                         struct pl_error *error);
void lowlevel_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set);

/* The course of one parameter set, by the test's steps. */
pl_status lowlevel_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict);

/* The layout of set `index`, with the sizes really used. */
struct iot_layout lowlevel_layout(const struct iot_block *block, int nprocs, int64_t index);

/* Steps on an MPI file. */
pl_status lowlevel_mpi_open_coll(struct lowlevel *low, struct pl_error *error);
pl_status lowlevel_mpi_preallocate_coll(struct lowlevel *low, struct pl_error *error);
pl_status lowlevel_mpi_sync_coll(struct lowlevel *low, struct pl_error *error);
pl_status lowlevel_mpi_close_coll(struct lowlevel *low, struct pl_error *error);
#define LOWLEVEL_MPI_STEPS                                                                                             \
    .open = lowlevel_mpi_open_coll, .preallocate = lowlevel_mpi_preallocate_coll, .sync = lowlevel_mpi_sync_coll,      \
    .close = lowlevel_mpi_close_coll

/* ---- inside the loops: no allocation, no printing, no communication ---- */

struct lowlevel_block {
    int64_t offset_bytes;
    MPI_Offset offset;  /* in etypes: doubles */
    int count;          /* doubles; 0: nothing to do but take part */
    const double *data; /* what belongs there */
};

/* My block j; an empty one where I have no such block. `salt` makes the data depend on something else too. */
struct lowlevel_block lowlevel_block(const struct lowlevel *low, int64_t j, uint64_t salt);

/* Judges a finished transfer by MPI's return code and count. */
pl_status lowlevel_moved(const struct lowlevel *low, const struct lowlevel_block *block, int64_t j, const char *doing,
                         int mpi_code, MPI_Status *moved, struct pl_error *error);

/* Touches and checks what was read into low->buffer. */
pl_status lowlevel_verify(const struct lowlevel *low, const struct lowlevel_block *block, int64_t j,
                          struct pl_error *error);

#endif
