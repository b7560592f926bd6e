/* The blocks that an agent owns alone, while a file is partitioned: read once, changed in memory, written late and as
 * large as can be. Memory is bounded; the block that was not used for longest goes first. Which bytes of a block are
 * known and which are to be written is kept for every byte, so that nothing is written that nobody wrote, but for short
 * gaps whose bytes are known.
 *
 * What cannot be written stays: it is tried again when its place is needed and at every flush. Used by one thread at a
 * time. No MPI. */
#ifndef PIOLET_MPIIO_SHIP_CACHE_H
#define PIOLET_MPIIO_SHIP_CACHE_H

#include "mpiio/storage/storage.h"

#include <stdatomic.h>

struct ship_cache;

struct ship_cache_counts {
    int64_t hits, misses; /* pieces whose block was there, and was not */
    int64_t writes;       /* of blocks, late */
};

/* `end`: behind the last byte that any agent's cache holds; the caches of all agents share it. `readable`: the storage
 * may be read, so that gaps can be filled. */
pl_status ship_cache_new(struct storage *storage, bool readable, int64_t block_bytes, int blocks, _Atomic int64_t *end,
                         struct ship_cache **ret_cache, struct pl_error *error);
void ship_cache_free(struct ship_cache *cache); /* forgets everything; accepts NULL */

/* Pieces may cross blocks. *ret_done as in storage_read() and storage_write(). */
pl_status ship_cache_read(struct ship_cache *cache, int64_t offset, char *to, int64_t bytes, int64_t *ret_done,
                          struct pl_error *error);
pl_status ship_cache_write(struct ship_cache *cache, int64_t offset, const char *from, int64_t bytes, int64_t *ret_done,
                           struct pl_error *error);

/* Writes all that is to be written, as far as it goes; tells the first failure. */
pl_status ship_cache_flush(struct ship_cache *cache, struct pl_error *error);
void ship_cache_drop(struct ship_cache *cache); /* forgets what needs not be written */
struct ship_cache_counts ship_cache_count(const struct ship_cache *cache);

#endif
