/* Transport: memory that the ranks of a node share.
 *
 * The file is seen as blocks, and a few of them lie in shared memory at a time, in the order of the file. Every rank
 * copies its own pieces straight into them (or out of them): there are no lists of pieces, no messages and no second
 * copy. Ranks publish how far they have got; a block is complete when all have passed it, and whoever notices first
 * writes it. For reading, whoever comes first fetches a block.
 *
 * All memory but that of messages is taken when the file is opened. The ranks meet in this memory too: no messages
 * where all goes well on one node. */
#ifndef PIOLET_ENGINE_RING_RING_H
#define PIOLET_ENGINE_RING_RING_H

#include "base/status.h"
#include "mpi/node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct move_transport;

struct ring; /* one rank's end of it */

/* Bytes of all blocks together, at most: a power of two. */
#define RING_CAPACITY_MIN ((int64_t)64 << 10)
#define RING_CAPACITY_MAX ((int64_t)64 << 20)

/* Bytes of the node's segment for so many ranks on it, and nodes: address space, most of it never touched. */
size_t ring_segment_bytes(int ranks, int nodes, int64_t capacity);

/* `rank` of `ranks` on this one of `nodes` nodes; several need ring_port_open_coll() too. `memory`: that many bytes of
 * the segment, zeroed, aligned to a page. The capacity is the same on all nodes. */
pl_status ring_new(void *memory, int64_t capacity, int rank, int ranks, int nodes, struct ring **ret_ring,
                   struct pl_error *error);
void ring_free(struct ring *ring); /* accepts NULL */

/* Between files, on the first rank of the node: gives back the memory of blocks beyond `bytes`; returns what stays. */
int64_t ring_cool(struct ring *ring, int64_t bytes);
/* On all ranks: memory is given back after every call, since many files are open. */
void ring_set_frugal(struct ring *ring);

/* The transport; it works on file->ring, one call at a time. */
extern const struct move_transport ring_transport;

/* Which way the ring takes at present where it may choose, and what it learned: in words, "" where it does not. */
void ring_explain(const struct ring *ring, bool write, char *ret_text, size_t bytes);

/* ---- across nodes ---- */
/* The ring across nodes. A few ranks of each node, its aggregators, have a port: a communicator in which each node has
 * one rank. Aggregator k of every node deals with the same blocks, so that a pair of nodes exchanges one message for a
 * block. */

/* Every rank of `comm` calls it, also where `ring` is NULL for want of memory; node->everywhere holds. */
pl_status ring_port_open_coll(struct ring *ring, MPI_Comm comm, const struct node *node, struct pl_error *error);

#endif
