/* The Parallel I/O Test Suite: tests, parameter sets, and the suite that runs a keyword file.
 *
 * Three layers: the suite (iot_suite.c) walks through the blocks of a keyword file; for each block it walks through the
 * parameter sets; for each set it calls the test's run_coll(), which measures and nothing else. */
#ifndef PIOLET_BENCH_IOT_IOT_H
#define PIOLET_BENCH_IOT_IOT_H

#include "base/status.h"
#include "base/text.h"
#include "measure/sample.h"
#include "measure/spec.h"
#include "mpi/coll.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { IOT_LABEL_MAX = 96 };

/* What is known of a parameter set before it runs. */
struct iot_set {
    char label[IOT_LABEL_MAX]; /* "file 10 MB, block 100 kB" */
    int64_t file_bytes;        /* size of the test file */
    int64_t tail_bytes;        /* asked for, but left out: shorter than a block */
    int64_t write_bytes;       /* that all ranks write */
    int64_t read_bytes;
    double mean_bytes;          /* that one timed operation moves */
    int64_t samples;            /* timings on the rank that has most */
    int64_t memory_bytes;       /* on every rank that takes part; on the one that needs most */
    int64_t memory_alone_bytes; /* besides, on rank 0 alone */
};

/* One parameter set while it runs. The suite owns it; a test fills samples and notes. */
struct iot_run {
    const struct spec *spec;
    const struct spec_block *block;
    const struct iot_test *test;
    MPI_Comm comm;
    int rank, nprocs;
    int node_ranks; /* ranks on this rank's node */
    int64_t index;  /* of the parameters, from 0 */
    size_t variant; /* of the hints, from 0 */
    struct iot_set set;
    uint64_t seed; /* of this set: another set's data is never taken for this one's */
    const char *filename;
    MPI_Info info; /* the hints asked for */
    struct samples samples;
    struct text params;     /* notes (base/notes.h) for the results */
    struct text hints_used; /* notes: MPI_File_get_info after open */
    struct text warnings;   /* notes */
};

struct iot_test {
    struct spec_test spec;
    const char *summary;
    const char *access; /* who accesses the file, where no keyword `collective` says it: "one rank", … */
    /* Pure. Checks what several keywords say together, and counts the parameter sets. */
    pl_status (*check)(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t *ret_sets,
                       struct pl_error *error);
    /* Pure. What set `index` of a checked block will do. */
    void (*describe)(const struct spec_block *block, int nprocs, int64_t index, struct iot_set *ret_set);
    /* Measures one set. Every rank calls, and every rank returns success or every rank a failure. */
    pl_status (*run_coll)(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict);
};

/* All tests, or those of one class ("Lowlevel", "Kernel"); ends with NULL. */
const struct iot_test *const *iot_tests(const char *class_name);

/* ---- keywords that tests share ---- */

extern const struct spec_keyword IOT_COMMON[];           /* filename, repeat, check, preallocate, keep, seed, phases */
extern const struct spec_keyword IOT_COMMON_BOTH_ONLY[]; /* the same without phases */

/* A list must hold as many values as its count says. Pure. */
pl_status iot_check_list(const struct spec *spec, const struct spec_block *block, const char *count_name,
                         const char *list_name, struct pl_error *error);

/* `phases read` can check nothing without the seed. Pure. */
pl_status iot_check_phases(const struct spec *spec, const struct spec_block *block, struct pl_error *error);

/* Does the block compare with what an earlier run wrote? */
bool iot_checks_old_data(const struct spec_block *block);

/* Bytes written and read of a set whose file is moved once in each phase. Pure. */
void iot_set_phases(const struct spec_block *block, struct iot_set *set);

bool iot_has_hint(const struct spec_block *block, const char *name);

/* ---- notes that a test leaves in the results; kept on rank 0, ignored elsewhere ---- */

void iot_param(struct iot_run *run, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void iot_warn(struct iot_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void iot_note_hints(struct iot_run *run, MPI_File file);

/* Rank 0 looks at the place of the test file and makes it free. A file that stands there is removed, so that every set
 * begins with a new one; too little space is refused. Where a set only reads, the file must be there
 * and long enough. Local. */
pl_status iot_clear_file(const struct iot_run *run, struct pl_error *error);

/* For ranks but the first, before they open what that one looks after: an interrupted run removes it. */
void iot_watch_file(const struct iot_run *run);

/* The file's name without the driver prefix that MPI-IO allows ("ufs:/scratch/x"). */
const char *iot_local_path(const char *filename);

/* Memory for the run: refused before it is taken when the node cannot have it. Local. */
pl_status iot_check_memory(const struct iot_run *run, struct pl_error *error);

#endif
