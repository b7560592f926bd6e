/* Which ranks of a communicator share memory, and a segment of it that they all see. */
#ifndef PIOLET_MPI_NODE_H
#define PIOLET_MPI_NODE_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct node {
    int rank, size;  /* within the node */
    int leader;      /* the communicator's rank that is the first of this node */
    int count;       /* nodes that the communicator spans */
    bool everywhere; /* each node has a segment that all of its ranks see */
    bool alone;      /* the whole communicator is on this node, and its segment is seen by all */
    void *segment;   /* NULL where these ranks cannot share memory: they use messages */
    size_t bytes;
};

/* Every rank of `comm` calls it. A segment of `bytes` zeroed bytes for each node: anonymous memory of the node's first
 * rank, opened by the others through /proc, so that nothing has to be cleaned up, whatever kills the job. That the
 * ranks really see the same memory is proved by a number that is read through it (containers and namespaces can make
 * MPI believe otherwise). No failure: where memory cannot be shared, segment is NULL. */
void node_open_coll(MPI_Comm comm, int comm_rank, int comm_size, size_t bytes, struct node *ret_node);
void node_close(struct node *node);

#endif
