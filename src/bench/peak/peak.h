/* The peak of a storage target at the level of its devices (PHASE-11, PHASE-13, PHASE-15): reads and writes of UNIX
 * calls, sequential, strided and random, with several request sizes, and metadata operations.
 *
 * peak_config.c reads what is asked for and peak_plan.c says what is done in which order: both are pure. peak_target.c
 * looks at a directory, peak_file.c and peak_meta.c measure one set on one process, peak_run.c all. docs/peak.md says
 * what is measured. No MPI-IO: this is what lies below it. */
#ifndef PIOLET_BENCH_PEAK_H
#define PIOLET_BENCH_PEAK_H

#include "base/status.h"
#include "measure/record.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PEAK_DIRS_MAX = 64,
    PEAK_REQUESTS_MAX = 24,
    PEAK_REQUEST_UNIT = 512,       /* what direct I/O asks for at least, and what a page of 4096 is a multiple of */
    PEAK_OPERATIONS_MAX = 1 << 17, /* of a set on a process: what its raw times may take in memory and results */
    PEAK_MAKING_MAX = 1 << 24,     /* the same for the set that makes the file */
    PEAK_FILES_MAX = 1 << 20,
    PEAK_LABEL_MAX = 64
};

/* The class and test of its blocks in a block file. */
extern const char PEAK_CLASS[], PEAK_TEST[];

enum peak_operation {
    PEAK_WRITE,
    PEAK_READ,
    PEAK_CREATE,
    PEAK_OPEN,
    PEAK_STAT,
    PEAK_FSYNC,
    PEAK_UNLINK,
    PEAK_OPERATIONS
};
extern const char *const PEAK_OPERATION_NAMES[PEAK_OPERATIONS + 1]; /* ends with NULL */

enum peak_access { PEAK_SEQUENTIAL, PEAK_STRIDED, PEAK_RANDOM, PEAK_ACCESSES };
extern const char *const PEAK_ACCESS_NAMES[PEAK_ACCESSES + 1]; /* ends with NULL */

enum peak_direct { PEAK_DIRECT_AUTO, PEAK_DIRECT_YES, PEAK_DIRECT_NO };
extern const char *const PEAK_DIRECT_NAMES[4]; /* ends with NULL */

/* ---- what is asked for ---- */

struct peak_config {
    const char *dirs[PEAK_DIRS_MAX];
    int dir_count;
    int64_t size_bytes;                  /* of all processes of an I/O node together; 0: 2 x memory */
    int64_t requests[PEAK_REQUESTS_MAX]; /* descending */
    int request_count;
    bool access[PEAK_ACCESSES];
    int64_t stride; /* in requests */
    enum peak_direct direct;
    bool drop_caches, quick;
    int64_t files; /* of the metadata operations, a process; 0: none */
    double limit_s;
    uint64_t seed;
    const char *io_node; /* NULL: host and directory */
    struct record_given given;
};

void peak_config_init(struct peak_config *config);
/* One setting by its option's name without "--"; `value` NULL for a flag. It must live as long as the config. */
pl_status peak_config_set(struct peak_config *config, const char *name, const char *value, struct pl_error *error);
pl_status peak_config_add_dir(struct peak_config *config, const char *directory, struct pl_error *error);
/* Fills in what was not given. Call it once, after the last setting. */
pl_status peak_config_finish(struct peak_config *config, struct pl_error *error);

/* ---- what is done; pure ---- */

struct peak_set {
    enum peak_operation operation;
    enum peak_access access;
    int64_t request_bytes;
    bool makes_file; /* the first one: writes the whole file, which is then written over */
};

enum { PEAK_SETS_MAX = 2 * PEAK_ACCESSES * PEAK_REQUESTS_MAX + PEAK_OPERATIONS + 1 };

/* Data sets first (the file is made by sequential writes of the largest requests, whatever is asked for), then
 * metadata; returns their number. */
int peak_plan_make(const struct peak_config *config, struct peak_set sets[PEAK_SETS_MAX]);

/* "write, sequential, 1 MiB" or "create". */
const char *peak_set_label(const struct peak_set *set, char label[PEAK_LABEL_MAX]);

/* The file of a process: its share, in whole requests of the largest size. PL_E_INPUT: no request fits, or too many. */
pl_status peak_file_share(int64_t size_bytes, int processes, const struct peak_config *config, int64_t *ret_bytes,
                          struct pl_error *error);

/* The time that a set may take: an equal part of what is left; making the file may take half of all. */
double peak_slice_s(double limit_s, double elapsed_s, const struct peak_set *set, int sets_left);

/* The place, in requests, of operation `index` of `count`: every place once. */
int64_t peak_place(enum peak_access access, int64_t count, int64_t stride, uint64_t seed, int64_t index);

#endif
