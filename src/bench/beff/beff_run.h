/* Runs b_eff: every pattern, message length, method and repetition, results into a block file (docs/beff.md). */
#ifndef PIOLET_BENCH_BEFF_RUN_H
#define PIOLET_BENCH_BEFF_RUN_H

#include "base/status.h"
#include "bench/beff/beff_pattern.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What the user asked for; {0} but for `output` is the standard run. */
struct beff_wish {
    int64_t memory_bytes; /* of a process; 0: detected */
    int random_patterns;  /* 0: 30, or 3 of a quick run */
    double time_s;        /* 0: 300, or 12 of a quick run */
    double rmax_gflops;   /* 0: not known */
    bool has_seed;
    uint64_t seed;
    bool quick;
    const char *output;
};

/* What follows from it. */
struct beff_plan {
    int nprocs;
    int64_t memory_bytes; /* of a process */
    bool memory_given;
    int64_t lengths[BEFF_LENGTHS];
    int random_patterns;
    double time_s; /* no random pattern is begun that would end later, but for the first */
    int64_t loop_first;
    double loop_target_s;
    uint64_t seed;
};

/* Pure. `memory_bytes` of a process is used where the wish names none. PL_E_USAGE: there can be no such run. */
pl_status beff_plan_make(const struct beff_wish *wish, int nprocs, int64_t memory_bytes, struct beff_plan *ret_plan,
                         struct pl_error *error);
/* Bytes of both message buffers of a process. */
int64_t beff_plan_buffer_bytes(const struct beff_plan *plan);

/* As rank 0 tells it to whoever watches, before a pattern. */
struct beff_event {
    struct beff_pattern pattern;
    int number, patterns; /* of the whole run, from 1 */
    double elapsed_s;
};

struct beff_observer {
    void *context;
    void (*begin)(void *context, const struct beff_event *event);
    /* A pattern and length that failed. */
    void (*failed)(void *context, struct beff_pattern pattern, int64_t length, const char *text);
};

/* *ret_failed: patterns and lengths with wrong data or failed calls. PL_E_USAGE: nothing was run. */
pl_status beff_run_coll(MPI_Comm comm, const struct beff_wish *wish, const struct beff_observer *observer,
                        int64_t *ret_failed, struct pl_error *error);

#endif
