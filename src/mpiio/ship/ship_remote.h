/* A box on its way to an agent on another node, and the answer to it. Needs MPI_THREAD_MULTIPLE: any thread of the rank
 * may ship, and the agents' threads answer. */
#ifndef PIOLET_MPIIO_SHIP_REMOTE_H
#define PIOLET_MPIIO_SHIP_REMOTE_H

#include "mpiio/ship/ship_message.h"

#include <mpi.h>

enum { SHIP_REMOTE_REQUESTS = 4 };

/* One for each box of a rank; {0} is one without anything under way. */
struct ship_remote {
    bool posted;
    int code, count; /* MPI's; of requests */
    MPI_Request requests[SHIP_REMOTE_REQUESTS];
    struct ship_answer answer;
};

/* Never waits. Its own receives are there before the request leaves, so that an agent gets rid of every answer, in
 * whatever order this rank waits for them: two agents never wait for each other by way of two ranks. */
void ship_remote_post(struct ship_remote *remote, MPI_Comm comm, struct ship_box *box);

/* Waits for the answer, and puts it into the box. `poke` as in wait.h: where it is MPI_COMM_NULL, only the messages go
 * on. PL_E_PEER: MPI has failed; what the agent says is in the box. */
pl_status ship_remote_wait(struct ship_remote *remote, struct ship_box *box, MPI_Comm poke, struct pl_error *error);

#endif
