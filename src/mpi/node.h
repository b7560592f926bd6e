/* Which ranks of a communicator share memory, and a segment of it that they all see. */
#ifndef PIOLET_MPI_NODE_H
#define PIOLET_MPI_NODE_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node {
    int rank, size;  /* within the node */
    int leader;      /* the communicator's rank that is the first of this node */
    int count;       /* nodes that the communicator spans */
    bool everywhere; /* each node has a segment that all of its ranks see */
    bool refused;    /* on some node a rank may not open the segment of another: it is another user's */
    bool alone;      /* the whole communicator is on this node, and its segment is seen by all */
    void *segment;   /* NULL where these ranks cannot share memory: they use messages */
    size_t bytes;
    size_t promised; /* bytes that the next segment must leave alone, though they may be free still */
    bool attached;   /* how it is given back: shmdt(2), not munmap(2) */
    uint64_t left; /* memory that this rank may count on: of its address space and, on a node's first rank, of what the
                    * control group leaves to each rank of the node */
    bool scarce;   /* some rank has too little address space for the MPI's messages to all ranks of its node */
    int choice;    /* the size that every node has: sizes[choice] bytes at least; where `everywhere` holds */
};

/* Every rank of `comm` calls it. A segment of zeroed bytes for each node, of the first of `sizes` (in falling order)
 * that can be had: anonymous memory of the node's first rank, opened by the others through /proc, or memory of System V
 * that is marked for removal before anybody else hears of it, so that nothing has to be cleaned up, whatever kills the
 * job. That the ranks really see the same memory is proved by a number that is read through it (containers and
 * namespaces can make MPI believe otherwise). No failure: where memory cannot be shared, segment is NULL.
 *
 * Most of a segment is never touched; but what is touched must be there, since whoever touches a page that the system
 * cannot give is ended by it. So it is a small part of what the node's control group and the segments of files that are
 * open already leave, and of what is left to each rank. */
void node_open_coll(MPI_Comm comm, int comm_rank, int comm_size, const size_t *sizes, int count, struct node *ret_node);
void node_close(struct node *node);
/* Local: would a segment of this size still be taken? Others may have come to need the memory that it was promised. */
bool node_affords(const struct node *node);

#endif
