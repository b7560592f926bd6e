/* What the files of the storage layer share. */
#ifndef PIOLET_ENGINE_STORAGE_STORAGE_CORE_H
#define PIOLET_ENGINE_STORAGE_STORAGE_CORE_H

#include "engine/storage/storage.h"
#include "engine/storage/storage_map.h"

#include <pthread.h>
#include <stdatomic.h>

struct storage_span; /* storage.c */
struct storage_map_system;

struct storage {
    const struct storage_backend *backend;
    int fd;
    int flags;
    int64_t block_bytes;
    char *path;
    pthread_mutex_t mutex; /* guards `spans` */
    struct storage_span *spans;
    const struct storage_map_system *_Atomic map_system; /* storage_map.c; NULL: not asked for yet */
    _Atomic int64_t map_bytes_max;                       /* storage_map_allow() */
    struct storage_hold hold;
    struct storage_way small, large; /* writes */
};

#define ENTRY(name) extern const struct storage_backend storage_backend_##name;
#include "engine/storage/storage.def"
#undef ENTRY

const struct storage_backend *storage_backend_in_force(void);

/* For messages: the end of a name that is long, with dots before it. Use as "'%s%s'" with STORAGE_NAME(path). */
const char *storage_tail(const char *path);
#define STORAGE_NAME(path) storage_tail(path) == (path) ? "" : "...", storage_tail(path)

/* The words for -result of a backend: as pl_fail_errno(), but EFBIG is a matter of space and names the limit. */
pl_status storage_fail(struct pl_error *error, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How often a call was made in vain since the last progress: {0} to begin with, and again after progress. */
struct storage_patience {
    int64_t interrupted;
    int64_t napped_ns;
};

/* Shall a call that gave this errno be made again? EINTR: at once. EAGAIN: after a nap, up to about 2 s in all. */
bool storage_again(struct storage_patience *patience, int errno_value);

void storage_spans_free(struct storage *storage);

#endif
