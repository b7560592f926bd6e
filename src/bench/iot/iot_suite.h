/* Runs a keyword file: every block, every parameter set, results into one block file. */
#ifndef PIOLET_BENCH_IOT_SUITE_H
#define PIOLET_BENCH_IOT_SUITE_H

#include "bench/iot/iot.h"

/* A finished set, as rank 0 tells it to whoever watches. */
struct iot_event {
    const struct spec_block *block;
    const struct iot_set *set;
    int64_t number, sets; /* of the whole file, from 1 */
    const struct coll_verdict *verdict;
    double write_mb_per_s, read_mb_per_s; /* bytes moved / the longest rank's time; 0: not measured */
    double bytes_done, bytes_total;       /* moved, of the whole file */
    double elapsed_s;
};

struct iot_observer {
    void *context;
    void (*begin)(void *context, const struct iot_event *event); /* before a set */
    void (*end)(void *context, const struct iot_event *event);   /* after it */
};

/* What all blocks together will do. */
struct iot_totals {
    int64_t sets;
    double write_bytes, read_bytes;
    int64_t largest_file_bytes;
    int64_t memory_bytes; /* of the rank that needs most */
    double samples;       /* of all ranks, roughly: what the results will hold */
};

/* Reads the file on rank 0 and gives the same, checked spec to every rank. `class_name`: only this class, or NULL.
 * On success the caller calls spec_clear(). */
pl_status iot_suite_load_coll(MPI_Comm comm, const char *path, const char *class_name,
                              const struct spec_override *overrides, size_t override_count, struct spec *ret_spec,
                              struct pl_error *error);

/* The same without MPI, for nprocs ranks to come. */
pl_status iot_suite_load(int nprocs, const char *path, const char *class_name, const struct spec_override *overrides,
                         size_t override_count, struct spec *ret_spec, struct pl_error *error);

/* Before any I/O, on one process: is a test file where the results go, or the keyword file, or somebody's? The last is
 * not asked with `overwrite`, nor of blocks that only read. `takes`: this process looks after the files from now on. */
pl_status iot_suite_check_places(const struct spec *spec, int nprocs, bool overwrite, bool takes,
                                 struct pl_error *error);

const struct iot_test *iot_test_of(const struct spec_block *block);
int64_t iot_sets_of(const struct spec *spec, const struct spec_block *block, int nprocs);
void iot_set_of(const struct spec_block *block, int nprocs, int64_t number, struct iot_set *ret_set); /* from 0 */
struct iot_totals iot_suite_totals(const struct spec *spec, int nprocs);

/* Runs all blocks. The test files that rank 0 has taken go at the end, unless they are kept or were there before.
 * *ret_failed counts the sets that failed; a status other than PL_OK means that the run had to stop (no clock, results
 * not writable). */
pl_status iot_suite_run_coll(MPI_Comm comm, const struct spec *spec, const struct iot_observer *observer,
                             int64_t *ret_failed, struct pl_error *error);

#endif
