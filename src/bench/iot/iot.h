/* The Parallel I/O Test Suite: tests, parameter sets, and what tests share while they run.
 *
 * Three layers: the benchmark (iot.c, iot_run.c) walks through the blocks of a keyword file; for each block it walks
 * through the parameter sets; for each set it calls the test's run_coll(), which measures and nothing else. */
#ifndef PIOLET_BENCH_IOT_IOT_H
#define PIOLET_BENCH_IOT_IOT_H

#include "base/status.h"
#include "base/text.h"
#include "bench/iot/iot_spec.h"
#include "lab/runner/sample.h"
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
    const struct iot_spec *spec;
    const struct iot_block *block;
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

struct lowlevel_steps;

struct iot_test {
    const char *name;
    const char *also;                         /* another spelling that the document has; NULL: none */
    const struct option_row *const *keywords; /* tables, each ended by {0}; the list by NULL */
    const char *summary;
    const char *access; /* who accesses the file, where no keyword `collective` says it: "one rank", … */
    /* Pure. Checks what several keywords say together, and counts the parameter sets. */
    pl_status (*check)(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                       struct pl_error *error);
    /* Pure. What set `index` of a checked block will do. */
    void (*describe)(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set);
    /* Measures one set. Every rank calls, and every rank returns success or every rank a failure. */
    pl_status (*run_coll)(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict);
    const struct lowlevel_steps *steps; /* of a low-level test: what lowlevel_run_coll() does; else NULL */
};

/* A test's entry: `IOT_TEST(name) = {…};`, known to the .def files. And its functions, by their common beginning. */
#define IOT_TEST(test)                                                                                                 \
    extern const struct iot_test iot_test_##test;                                                                      \
    const struct iot_test iot_test_##test
#define IOT_TEST_CALLS(prefix) .check = prefix##_check, .describe = prefix##_describe, .run_coll = prefix##_run_coll

/* All classes with their tests; ends with {0}. */
enum { IOT_LOWLEVEL, IOT_KERNEL, IOT_CLASS_COUNT };
extern const struct iot_class IOT_CLASSES[];

/* How many parameter sets a checked block has, hint variants included; and one of them, from 0. Pure. */
int64_t iot_sets_of(const struct iot_spec *spec, const struct iot_block *block, int nprocs);
void iot_set_of(const struct iot_block *block, int nprocs, int64_t number, struct iot_set *ret_set);

/* What all blocks together will do. */
struct iot_totals {
    int64_t sets;
    double write_bytes, read_bytes;
    int64_t largest_file_bytes;
    int64_t memory_bytes; /* of the rank that needs most */
    double samples;       /* of all ranks, roughly: what the results will hold */
};
struct iot_totals iot_totals_of(const struct iot_spec *spec, int nprocs);

/* Parses and checks the text of a keyword file for `nprocs` ranks. `classes` ends with {0}. On success the caller calls
 * iot_spec_clear(). */
pl_status iot_load(const char *path, const struct text *text, const struct iot_class *classes, int nprocs,
                   const struct iot_override *overrides, size_t override_count, struct iot_spec *ret_spec,
                   struct pl_error *error);

/* Before any I/O, on one process: is a test file where the results go, or the keyword file, or somebody's? The last is
 * not asked with `overwrite`, nor of blocks that only read. `takes`: this process looks after the files from now on. */
pl_status iot_check_places(const struct iot_spec *spec, int nprocs, bool overwrite, bool takes, struct pl_error *error);

/* ---- keywords that tests share ---- */

extern const struct option_row IOT_COMMON[];           /* filename, repeat, check, preallocate, keep, seed, phases */
extern const struct option_row IOT_COMMON_BOTH_ONLY[]; /* the same without phases */

/* The row of a count of values in lists. */
#define IOT_COUNT(count_name, count_alias, count_help)                                                                 \
    {                                                                                                                  \
        .name = count_name, .aliases = count_alias, .type = OPTION_INT, .flags = OPTION_REQUIRED, .min = 1,            \
        .max = 1e6, .help = count_help                                                                                 \
    }

/* A list must hold as many values as its count says. Pure. */
pl_status iot_check_list(const struct iot_spec *spec, const struct iot_block *block, const char *count_name,
                         const char *list_name, struct pl_error *error);

/* `phases read` can check nothing without the seed. Pure. */
pl_status iot_check_phases(const struct iot_spec *spec, const struct iot_block *block, struct pl_error *error);

/* Does the block compare with what an earlier run wrote? */
bool iot_checks_old_data(const struct iot_block *block);

/* Bytes written and read of a set whose file is moved once in each phase. Pure. */
void iot_set_phases(const struct iot_block *block, struct iot_set *set);

bool iot_has_hint(const struct iot_block *block, const char *name);

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

/* ---- the course of a test: steps in a row, each started together, timed, and agreed upon by all ranks ----
 *
 * After a step that failed on any rank the course goes straight to the steps that close what was opened. So no rank
 * ever waits for one that has left. */

/* Does one thing for `test`, the test's own state. May call collectives: every rank that takes part is in the same
 * step. */
typedef pl_status iot_step(void *test, struct pl_error *error);

enum {
    IOT_WRITES = 1,     /* only where the set writes */
    IOT_READS = 2,      /* only where it reads */
    IOT_OPENS = 4,      /* what the IOT_CLOSES steps undo */
    IOT_CLOSES = 8,     /* also after a failure, once the IOT_OPENS step has succeeded */
    IOT_ALONE = 16,     /* rank 0 alone; the others sleep until it is done */
    IOT_EVERYWHERE = 32 /* with IOT_ALONE: the others too, but not measured */
};

struct iot_course {
    iot_step *step;  /* NULL: nothing to do */
    const char *key; /* its time goes into the results under this name; NULL: not */
    int when;
};

/* Runs `count` steps. All ranks return alike. */
pl_status iot_course_coll(struct iot_run *run, const struct iot_course *course, size_t count, void *test,
                          struct pl_error *error, struct coll_verdict *ret_verdict);

/* ---- a test's file through MPI-IO, with messages that name file and cause ---- */

/* For writing (and reading) or only for reading, as the set does, with the hints asked for; every rank of `comm` calls.
 * Rank 0 notes the hints in force. */
pl_status iot_file_open_coll(struct iot_run *run, MPI_Comm comm, MPI_File *ret_file, struct pl_error *error);

/* To the size of the set's file, unless the keyword `preallocate` says no. */
pl_status iot_file_preallocate_coll(const struct iot_run *run, MPI_File file, struct pl_error *error);
pl_status iot_file_sync_coll(const struct iot_run *run, MPI_File file, struct pl_error *error);
pl_status iot_file_close_coll(const struct iot_run *run, MPI_File *file, struct pl_error *error);

/* MPI-IO seldom says that a disk is full: ROMIO calls it an "other error", OMPIO just moves less. Adds to the message
 * of an access that failed ("writing", "updating"; else nothing) that it is, where it is. Returns the status. */
pl_status iot_file_note_full_disk(const struct iot_run *run, const char *doing, struct pl_error *error);

#endif
