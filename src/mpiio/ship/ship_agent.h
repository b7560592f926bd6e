/* An agent: the thread of one rank that alone accesses the parts of a file that are bound to it, for all ranks of the
 * node, whatever the program of its own rank does meanwhile. Where ranks of other nodes need it, they send messages;
 * else it calls no MPI. It waits for nothing but its bell. */
#ifndef PIOLET_MPIIO_SHIP_AGENT_H
#define PIOLET_MPIIO_SHIP_AGENT_H

#include "mpiio/ship/ship_cache.h"
#include "mpiio/ship/ship_mail.h"

#include <mpi.h>

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
