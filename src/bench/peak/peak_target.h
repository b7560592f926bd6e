/* A directory whose storage is to be measured: looked at before anything is run. */
#ifndef PIOLET_BENCH_PEAK_TARGET_H
#define PIOLET_BENCH_PEAK_TARGET_H

#include "bench/peak/peak.h"
#include "measure/environment.h"

enum { PEAK_WARNINGS_MAX = 6, PEAK_WARNING_MAX = 240 };

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

/* Looks at it and decides on size and direct I/O. `probe`: also tries direct I/O with a small file. Local. */
pl_status peak_target_look(const struct peak_config *config, const char *directory, bool probe,
                           struct peak_target *ret_target, struct pl_error *error);

/* Forgets what is cached of all files; needs root. */
pl_status peak_target_drop_caches(struct pl_error *error);

#endif
