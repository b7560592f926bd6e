/* Transport: none. Each rank accesses the file itself, or by the agents of data shipping where that is on. Where the
 * row has an order, ranks go through rounds together: who has something for a round accesses it; then all say in which
 * round they have something next, and the least of these is the next round. A rank that fails has nothing more, but
 * goes on saying so until all are through. */
#ifndef PIOLET_ENGINE_DIRECT_DIRECT_H
#define PIOLET_ENGINE_DIRECT_DIRECT_H

#include "engine/move/move.h"

extern const struct move_transport direct_transport;

#endif
