/* The file of one process, and the loops that write and read it. Local: no rank waits for another here. */
#ifndef PIOLET_BENCH_PEAK_FILE_H
#define PIOLET_BENCH_PEAK_FILE_H

#include "bench/peak/peak.h"
#include "measure/sample.h"

#include <limits.h>

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
    double sync_seconds;
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

#endif
