/* The agent's end of the messages from other nodes: a few boxes of its own, into which requests are received and from
 * which they are answered. Used by the agent's thread alone; nothing here waits. */
#ifndef PIOLET_MPIIO_SHIP_PORT_H
#define PIOLET_MPIIO_SHIP_PORT_H

#include "mpiio/ship/ship_message.h"

#include <mpi.h>

enum { SHIP_PORT_BOXES = 8 };

struct ship_port;

/* `end`: of the caches of this node; it is part of every answer. */
pl_status ship_port_new(MPI_Comm comm, const _Atomic int64_t *end, struct ship_port **ret_port, struct pl_error *error);
void ship_port_free(struct ship_port *port); /* accepts NULL; the port is quiet */

/* Keeps messages going. True: some have moved. `last`: no rank has anything to ask for any more, so that a request that
 * is not complete yet, since its rank has failed, never will be. */
bool ship_port_poll(struct ship_port *port, bool last);
/* The requests that are complete, at most SHIP_PORT_BOXES; each is to be answered, after which its box is the port's.
 */
int ship_port_take(struct ship_port *port, struct ship_box **ret_boxes);
void ship_port_answer(struct ship_port *port, struct ship_box *box); /* the next poll sends it */
bool ship_port_is_quiet(const struct ship_port *port);               /* nothing is under way */

#endif
