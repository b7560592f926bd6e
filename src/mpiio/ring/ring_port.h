/* The ring across nodes. A few ranks of each node, its agents, have a port: a communicator in which each node has one
 * rank. Agent k of every node deals with the same blocks, so that a pair of nodes exchanges one message for a block. */
#ifndef PIOLET_MPIIO_RING_PORT_H
#define PIOLET_MPIIO_RING_PORT_H

#include "mpi/node.h"
#include "mpiio/ring/ring.h"

/* Every rank of `comm` calls it, also where `ring` is NULL for want of memory; node->everywhere holds. */
pl_status ring_port_open_coll(struct ring *ring, MPI_Comm comm, const struct node *node, struct pl_error *error);

#endif
