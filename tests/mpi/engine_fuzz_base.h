/* What all parts of engine_fuzz share: options, random numbers, and the place where failures are told. */
#ifndef ENGINE_FUZZ_BASE_H
#define ENGINE_FUZZ_BASE_H

#include "engine_random.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a run may do; --kinds names the calls that are wanted, --avoid anything that is not. */
enum feature {
#define FEATURE(kind, name, help) FEATURE_##name,
#include "engine_fuzz_feature.h"
#undef FEATURE
    FEATURE_COUNT
};

struct fuzz {
    const char *path;
    const char *strategy; /* of every file; NULL: as it comes */
    uint64_t seed;
    int64_t first, cases;
    bool quiet, verbose, faults, keep, large, unique;
    int alarm_s; /* a case that takes longer is taken for a hang */
    bool enabled[FEATURE_COUNT];
    int rank, procs; /* of MPI_COMM_WORLD */
    int64_t case_number;
    int step;
    int64_t accesses, empty, bytes; /* of this rank: what was done at all */
    int failures;                   /* of this rank, in this case */
    char doing[2048];               /* what this rank does now: told when it fails or hangs */
};

extern struct fuzz fuzz;

static inline bool has(enum feature feature)
{
    return fuzz.enabled[feature];
}

/* False and a message where an option cannot be understood. */
bool options_read(int argc, char **argv);

/* Tells a failure with seed, case, step and what was being done; the run goes on, so that all ranks stay together. */
#define complain(...) random_complain(&fuzz.failures, fuzz_where(), fuzz.doing, __VA_ARGS__)
#define doing(...)    random_doing(fuzz.doing, sizeof fuzz.doing, fuzz.verbose ? fuzz_where() : NULL, __VA_ARGS__)
const char *fuzz_where(void); /* "seed 1 case 2 step 3, rank 0 of 4" */
void *allocate(size_t bytes); /* zeroed; ends the program where there is no memory */
void give_up(const char *why) __attribute__((noreturn));

/* Numbers that follow from their seeds: every rank can draw those of every other. */
struct random {
    uint64_t state;
};

uint64_t mix(uint64_t a, uint64_t b);
struct random random_of(uint64_t seed, uint64_t stream);
uint64_t random_next(struct random *random);
int64_t random_between(struct random *random, int64_t low, int64_t high); /* both included */
bool random_chance(struct random *random, int percent);
int64_t random_size(struct random *random, int64_t most); /* 0 … most, small ones more often */

#endif
