/* What MADbench2 asks of its files in I/O mode, as arithmetic: no MPI call, no I/O.
 *
 * `bins` matrices of pixels^2 doubles are spread over all ranks. S writes each; W reads each and writes as many
 * results; C reads those. A rank's part of a matrix is one request, rounded up to the file block. In a shared file a
 * rank has a region for all its requests, region behind region; with unique files it has a file.
 *
 * With several gangs, S and the reads of W are as before: every rank has a part of every matrix. Then bin b belongs to
 * gang b mod gangs, and only ranks of that gang hold its result, in parts as many times larger: these are what W writes
 * and C reads. W reads a round, one bin for each gang, then writes its one; it is two rounds ahead with reading.
 * Results overwrite matrices that have been read: round k ends at most where bin (k + 1) * gangs begins. */
#ifndef PIOLET_BENCH_APPS_MADBENCH_PLAN_H
#define PIOLET_BENCH_APPS_MADBENCH_PLAN_H

#include "base/status.h"
#include "bench/apps/apps.h"

enum madbench_files { MADBENCH_SHARED, MADBENCH_UNIQUE };
enum madbench_calls { MADBENCH_INDEPENDENT, MADBENCH_COLLECTIVE };
enum madbench_method { MADBENCH_MPI, MADBENCH_POSIX };
enum madbench_function { MADBENCH_S, MADBENCH_W, MADBENCH_C, MADBENCH_FUNCTIONS };

struct madbench_options {
    int64_t pixels, bins, gangs;
    int64_t block_bytes; /* requests are a multiple of it; itself a multiple of 8 */
    enum madbench_files files;
    enum madbench_calls calls;
    enum madbench_method method;
    int64_t rmod, wmod; /* one of so many ranks reads, writes at a time; 1: all at once */
    double work;        /* between requests: as many operations as the request has numbers, to this power; 0: none */
};

struct madbench_plan {
    struct madbench_options options;
    int ranks;
    int64_t request_bytes; /* of S, and of W's reads */
    int64_t result_bytes;  /* of W's writes, and of C */
    int64_t rounds;        /* bins / gangs */
};

pl_status madbench_plan_make(const struct madbench_options *options, int ranks, struct madbench_plan *ret_plan,
                             struct pl_error *error);

struct madbench_request {
    enum madbench_function function;
    bool writes;
    bool is_result; /* of W, not a matrix of S: the data differ */
    int64_t number; /* the bin, or the round of a result */
    int64_t offset, bytes;
};

/* Requests of any rank, and request `index` of them in order. */
int64_t madbench_plan_requests(const struct madbench_plan *plan);
struct madbench_request madbench_plan_request(const struct madbench_plan *plan, int rank, int64_t index);

struct apps_cost madbench_plan_cost(const struct madbench_plan *plan);
int64_t madbench_plan_region_bytes(const struct madbench_plan *plan); /* of a rank */

/* What stands at number `index` of a request: a function of seed, kind, rank and number. */
uint64_t madbench_data_seed(uint64_t seed, int rank, const struct madbench_request *request);
double madbench_value(uint64_t data_seed, int64_t index);

#endif
