/* An agent: the thread of one rank that alone accesses the parts of a file that are bound to it, for all ranks of the
 * node, whatever the program of its own rank does meanwhile. Where ranks of other nodes need it, they send messages;
 * else it calls no MPI. It waits for nothing but its bell. */
#ifndef PIOLET_ENGINE_SHIP_AGENT_H
#define PIOLET_ENGINE_SHIP_AGENT_H

#include "engine/prefetch/prefetch.h"
#include "engine/ship/ship_mail.h"
#include "engine/storage/storage.h"

#include <mpi.h>
#include <stdatomic.h>

/* ---- cache ---- */
/* The blocks that an agent owns alone, while a file is partitioned: read once, changed in memory, written late and as
 * large as can be. Memory is bounded; the block that was not used for longest goes first. Which bytes of a block are
 * known and which are to be written is kept for every byte, so that nothing is written that nobody wrote, but for short
 * gaps whose bytes are known.
 *
 * What cannot be written stays: it is tried again when its place is needed and at every flush. Used by one thread at a
 * time. No MPI. */

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

/* ---- combining ---- */
/* Pieces of several boxes, put in the order of the file, and accessed together where they lie side by side. */

enum { SHIP_BATCH = 16 }; /* boxes that are looked at together */

struct ship_ref {
    int64_t offset;
    struct ship_box *box;
    struct ship_piece *piece;
    char *data;
};

struct ship_combine {
    struct storage *storage;
    char *buffer; /* owned */
    int64_t buffer_bytes;
    struct ship_ref *refs; /* owned; room for all pieces of SHIP_BATCH boxes */
    int64_t count;
    struct prefetch_memory *prefetch; /* not owned */
    int64_t block_bytes, looked_at;   /* of guided prefetching: how far its pieces were given */
    int together;                     /* 0: none */
    int64_t calls, combined;          /* since the beginning: of the storage, pieces that went together with others */
};

/* Guided prefetching is the caller's to set up, in the fields above. */
pl_status ship_combine_init(struct ship_combine *combine, struct storage *storage, int64_t buffer_bytes,
                            struct pl_error *error);
void ship_combine_clear(struct ship_combine *combine); /* accepts {0} */

/* Adds a box; then carries out all that were added, of one command: every piece gets its `done`, every box whose
 * pieces failed its status and text. */
void ship_combine_add(struct ship_combine *combine, struct ship_box *box);
void ship_combine_run(struct ship_combine *combine, bool write);

/* ---- the agent ---- */

struct ship_agent;
struct prefetch_memory;

struct ship_agent_setup {
    struct ship_segment *segment;
    int rank, place, node_ranks; /* its own, that within its node, and how many these are */
    MPI_Comm comm;               /* of messages from other nodes; MPI_COMM_NULL: none come */
    struct storage *storage;
    int64_t buffer_bytes;             /* for what is read or written as one */
    struct prefetch_memory *prefetch; /* of the file */
    int64_t block_bytes;
    int together; /* ranges of guided prefetching that are accessed before they are released; 0: it is off */
};

struct ship_agent_counts {
    int64_t boxes, pieces; /* served */
    int64_t reads, writes; /* of the storage, but for those of the cache */
    int64_t combined;      /* pieces that were accessed together with others */
};

/* Starts the thread. */
pl_status ship_agent_new(const struct ship_agent_setup *setup, struct ship_agent **ret_agent, struct pl_error *error);
/* Ends it, when nothing is posted any more; what the cache holds is gone. Accepts NULL. */
void ship_agent_free(struct ship_agent *agent);

/* From now on the agent keeps its blocks in this cache (NULL: in none), which is its own. The one before is freed: it
 * has been flushed. To be called while no rank has anything posted. */
void ship_agent_set_cache(struct ship_agent *agent, struct ship_cache *cache);
/* What its rank may do itself, while no rank has anything posted. PL_OK where there is no cache. */
pl_status ship_agent_flush(struct ship_agent *agent, struct pl_error *error);

void ship_agent_count(struct ship_agent *agent, struct ship_agent_counts *ret_counts,
                      struct ship_cache_counts *ret_cache);

#endif
