/* Guided prefetching of a storage: prefetch_policy.h on the page cache of the system.
 *
 * A range is asked for with posix_fadvise(); whether it is there is asked with a read that does not wait. Only what was
 * not there before is given back after use, so that nothing is thrown out that others brought in. */
#ifndef PIOLET_MPIIO_PREFETCH_PREFETCH_H
#define PIOLET_MPIIO_PREFETCH_PREFETCH_H

#include "mpiio/prefetch/prefetch_ranges.h"
#include "mpiio/storage/storage.h"

#include <pthread.h>

/* What is known from one request to the next, of one file on one rank. */
struct prefetch_memory {
    pthread_mutex_t lock;
    int ahead; /* 0: not yet known */
    struct prefetch_counts counts;
};
void prefetch_memory_init(struct prefetch_memory *memory);
void prefetch_memory_clear(struct prefetch_memory *memory);

/* Of one request. */
struct prefetch {
    struct storage *storage;
    struct prefetch_memory *memory;
    struct prefetch_ranges ranges;
    struct prefetch_policy policy;
};

/* `pieces` from their beginning. What is regular is to be found out before. */
void prefetch_begin(struct prefetch *prefetch, struct storage *storage, struct prefetch_memory *memory,
                    const struct prefetch_pieces *pieces, int64_t block_bytes, int together);
void prefetch_reach(struct prefetch *prefetch, int64_t offset, int64_t bytes); /* is accessed next */
void prefetch_end(struct prefetch *prefetch);

#endif
