/* The measured loop of one pattern: batches of calls, each followed by a decision that all ranks take alike.
 *
 * What is read is checked: of each call the first and the last number, which is a comparison of two words in cache, and
 * after each batch the whole of its last call at one number in every 4 KiB, outside of the pattern's time. Data are
 * windows into a pool of random numbers (bench/iot/iot_data.h), another one for each place in the file; the rewrite
 * writes other data than the initial write. */
#ifndef PIOLET_BENCH_BEFFIO_LOOP_H
#define PIOLET_BENCH_BEFFIO_LOOP_H

#include "bench/beffio/beffio_file.h"
#include "bench/beffio/beffio_schedule.h"
#include "bench/iot/iot_data.h"
#include "bench/iot/iot_order.h"
#include "mpi/coll.h"

enum { BEFFIO_BATCHES_KEPT = 256 };

struct beffio_loop {
    /* what to do */
    MPI_Comm comm;
    struct beffio_file *file;
    const struct beffio_layout *layout;
    int rank, pattern;
    enum beffio_method method;
    struct beffio_loop_plan plan;
    int64_t rewritten; /* reading: so many calls of the region hold what the rewrite wrote */
    uint64_t order_seed;
    const struct iot_data *data;
    double *buffer;     /* reading: room for a call */
    const char *folder; /* writing anew: whose free space is looked at before each batch */
    /* what came out: the same on all ranks but for the own times */
    int64_t calls;
    int decisions;
    double time_s, decide_s;
    double own_calls_s, own_sync_s, own_decide_s, own_check_s;
    int64_t batches[BEFFIO_BATCHES_KEPT];
    double elapsed_s[BEFFIO_BATCHES_KEPT]; /* at the decision behind each batch */
    /* of the moment */
    struct iot_order order;
    int64_t base_bytes, stride_bytes, call_bytes;
    double began, last_decide_s, first_decide_s;
};

/* Every rank calls; success or failure is the same on all. After a failure the file can only be closed. */
pl_status beffio_loop_coll(struct beffio_loop *loop, struct pl_error *error, struct coll_verdict *ret_verdict);

#endif
