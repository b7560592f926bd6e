/* Collective access through memory that the ranks of a node share.
 *
 * The file is seen as blocks, and a few of them lie in shared memory at a time, in the order of the file. Every rank
 * copies its own pieces straight into them (or out of them): there are no lists of pieces, no messages and no second
 * copy. Ranks publish how far they have got; a block is complete when all have passed it, and whoever notices first
 * writes it. For reading, whoever comes first fetches a block.
 *
 * One operation with step(): it never waits inside, and all memory is taken when the file is opened. A failure is
 * noted; the rank goes on taking part, and all learn of it at the end. */
#ifndef PIOLET_MPIIO_RING_RING_H
#define PIOLET_MPIIO_RING_RING_H

#include "mpi/agree.h"
#include "mpi/node.h"
#include "mpi/step.h"
#include "mpiio/access/access.h"

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

/* What a call needs to know of its file; the same on all ranks, but for what belongs to the rank itself. */
struct ring_setup {
    MPI_Comm comm; /* for words about failures, and to keep MPI going */
    int rank;      /* in it */
    struct storage *storage;
    int64_t agents;              /* ranks of all nodes that access the file; 0: all may */
    int64_t buffer_bytes;        /* of all blocks together */
    int64_t block_bytes;         /* 0: as fits */
    int64_t unit_bytes;          /* blocks are multiples of it; 0: of anything */
    bool may_choose;             /* the ranks may also access the file each for itself, where that is faster */
    bool small_pieces;           /* for these, only where the file can be mapped */
    bool lock_writes;            /* somebody may sieve beside: what is written is locked */
    bool sieve;                  /* gaps may be read and written back */
    bool async;                  /* system calls are left to threads */
    struct aux *aux;             /* auxiliary processes that store blocks; NULL: none */
    struct access_manner manner; /* of a rank that accesses the file itself */
};

/* Starts this rank's part of a collective access. `own`: its outcome so far; a rank that failed takes part with
 * nothing, and the call ends for all before anything is accessed. `late`: a failure that others should hear of at the
 * end (PL_OK: none), `late_heard`: this rank's program knows of it. The request must live until the end. */
void ring_start(struct ring *ring, const struct ring_setup *setup, const struct access_request *request,
                const struct pl_error *own, const struct pl_error *late, bool late_heard);
enum step ring_step(struct ring *ring);
void ring_wait(struct ring *ring); /* a little, after a step that got nowhere */

/* After the last step: what all agreed on, and the bytes of data that this rank's request moved. */
pl_status ring_result(struct ring *ring, int64_t *ret_done, struct pl_error *error);
/* Which way the ring takes at present where it may choose, and what it learned: in words, "" where it does not. */
void ring_explain(const struct ring *ring, bool write, char *ret_text, size_t bytes);

/* The late failure that all ranks have heard of now; status PL_OK: none. */
struct pl_error ring_told_late(const struct ring *ring);

#endif
