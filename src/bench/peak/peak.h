/* The peak of a storage target at the level of its devices (PHASE-11, PHASE-13, PHASE-15): reads and writes of UNIX
 * calls, sequential, strided and random, with several request sizes, and metadata operations. No MPI-IO: this is what
 * lies below it. docs/peak.md says what is measured.
 *
 * peak.c has the options and the plan, which is pure; peak_target.c looks at a directory, peak_file.c measures one set
 * on one process, peak_run.c all sets on all targets, peak_results.c reads what came out. */
#ifndef PIOLET_BENCH_PEAK_H
#define PIOLET_BENCH_PEAK_H

#include "lab/facts/environment.h"
#include "lab/facts/record.h"
#include "lab/result/analysis_select.h"
#include "lab/runner/lab.h"

#include <limits.h>

enum {
    PEAK_REQUESTS_MAX = 24,
    PEAK_REQUEST_UNIT = 512,       /* what direct I/O asks for at least, and what a page of 4096 is a multiple of */
    PEAK_OPERATIONS_MAX = 1 << 17, /* of a set on a process: what its raw times may take in memory and results */
    PEAK_MAKING_MAX = 1 << 24,     /* the same for the set that makes the file */
    PEAK_FILES_MAX = 1 << 20,
    PEAK_LABEL_MAX = 64,
    PEAK_WARNINGS_MAX = 6,
    PEAK_WARNING_MAX = 240
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

/* ---- what is asked for ---- */

/* A directory whose storage is to be measured: looked at before anything is run. */
struct peak_target {
    const char *directory;
    struct environment_filesystem fs;
    bool in_memory; /* tmpfs: neither a device nor a cold cache */
    bool local;     /* each host has its own: a device, or memory */
    bool direct;
    bool is_small; /* below 2 x memory */
    int64_t size_bytes;
    char warnings[PEAK_WARNINGS_MAX][PEAK_WARNING_MAX];
    int warning_count;
};

struct peak_config {
    int64_t size_bytes; /* of all processes of an I/O node together; 0: 2 x memory */
    struct option_numbers request_list;
    uint64_t access; /* bit i: enum peak_access */
    int64_t stride;  /* in requests */
    int direct;      /* enum peak_direct */
    bool drop_caches, quick;
    int64_t files; /* of the metadata operations, a process; 0: none */
    double limit_s;
    int64_t seed;
    const char *io_node; /* NULL: host and directory */
    struct record_given given;
    /* made by prepare */
    int64_t requests[PEAK_REQUESTS_MAX]; /* descending, each once */
    int request_count;
    struct peak_target *targets; /* owned; one for each directory of --on */
    int target_count;
};

extern const struct option_row PEAK_ROWS[];

/* Looks at a directory and decides on size and direct I/O. `probe`: also tries direct I/O with a small file. Local. */
pl_status peak_target_look(const struct peak_config *config, const char *directory, bool probe,
                           struct peak_target *ret_target, struct pl_error *error);
/* Forgets what is cached of all files; needs root. */
pl_status peak_target_drop_caches(struct pl_error *error);

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

/* ---- one process: no rank waits for another here ---- */

struct peak_file {
    char path[PATH_MAX];
    int fd;        /* -1: not open */
    int64_t bytes; /* of the file, as made */
    void *buffer;  /* owned; one request, random and so not compressible */
    int64_t capacity;
    uint64_t seed;
    int64_t stride;
};

/* One pass: what is asked for, and what came out. */
struct peak_pass {
    const struct peak_set *set;
    double deadline;              /* MPI_Wtime: no further operation is begun after it */
    struct sample_series *series; /* of each operation */
    int64_t bytes;                /* moved */
    double seconds;               /* in calls, the fsync of a write included */
    double sync_begin, sync_end;
    bool cut; /* the deadline came first */
};

/* Makes the file, empty. It is removed by peak_file_close(), and when a signal ends the process. */
pl_status peak_file_open(struct peak_file *file, const char *directory, bool direct, int64_t largest_request,
                         uint64_t seed, struct pl_error *error);
void peak_file_close(struct peak_file *file); /* accepts one that was never opened: fd -1 */
/* Operations of a set; file->bytes must be known. */
int64_t peak_file_operations(const struct peak_file *file, const struct peak_set *set);
/* Writes or reads, each operation timed. What was measured before a failure stays in `pass`. */
pl_status peak_file_run(struct peak_file *file, struct peak_pass *pass, struct pl_error *error);
/* The kernel is to forget this file's pages. */
void peak_file_forget(struct peak_file *file);

/* Metadata operations of one process, in a directory of its own. */
struct peak_meta {
    char path[PATH_MAX]; /* of its directory; "": none */
    int64_t files;       /* that are there */
};

pl_status peak_meta_begin(struct peak_meta *meta, const char *directory, struct pl_error *error);
/* pass->set says which operation; at most `files` of them. */
pl_status peak_meta_run(struct peak_meta *meta, struct peak_pass *pass, int64_t files, struct pl_error *error);
void peak_meta_end(struct peak_meta *meta); /* removes what is left; accepts one that never began */

/* ---- the run, and its results ---- */

pl_status peak_run_coll(struct lab_run *run, struct pl_error *error);

/* One set, read from a block file. Strings and blocks are borrowed from the input. */
struct peak_point {
    struct peak_set set;
    const struct blockfile_set *from;
    int64_t file_bytes, bytes, operations;
    int processes;
    bool direct, cut;
    double rate_bytes_per_s;                 /* NaN: of metadata, or nothing was measured */
    double span_rate_bytes_per_s;            /* first start to last end; NaN: no stamps */
    double call_rate_bytes_per_s;            /* by the longest time of a process in calls: analysis_rows.h */
    bool by_calls;                           /* no stamps: the rate is that */
    double iops;                             /* NaN: nothing was measured */
    double mean_ns, median_ns, p99_ns;       /* of single operations, all processes */
    const struct blockfile_failure *failure; /* NULL: none; such a point is no peak */
};

/* One block. */
struct peak_node {
    const char *io_node, *on; /* on: its directory */
    const struct blockfile_block *block;
    int64_t block_number;
    struct peak_point *points; /* owned */
    size_t count;
};

struct peak_points {
    struct peak_node *nodes; /* owned */
    size_t count;
};

pl_status peak_points_load(const struct analysis_request *request, const struct analysis_input *input,
                           struct peak_points *ret_points, struct pl_error *error);
void peak_points_clear(struct peak_points *points);

/* The point with the highest rate of a block, PEAK_WRITE or PEAK_READ; NULL: none. Equation 3. */
const struct peak_point *peak_points_best(const struct peak_node *node, enum peak_operation operation);
/* Bytes a second, each I/O node once with the best of its blocks; NaN: none. Equation 4. */
double peak_points_sum(const struct peak_points *points, enum peak_operation operation);
/* Different I/O nodes. */
int peak_points_nodes(const struct peak_points *points);

pl_status peak_results(const struct analysis_request *request, const struct analysis_input *input,
                       struct result *result, struct pl_error *error);

#endif
