/* Transports by messages.
 *
 * exchange_transport: two-phase access. Every rank sends its data to the aggregators that own their place in the file
 * (or asks them for it); aggregators access the file in whole windows. Buffers are taken before the ranks first meet;
 * only lists of many partners grow later.
 *
 * broadcast_transport: reads of the same bytes by all ranks. A few of them read, each window is read once, and a tree
 * of messages (that of the MPI's broadcast) hands it to all. Where ranks want different bytes, and for writes, the
 * access goes the way of the row `otherwise`. */
#ifndef PIOLET_ENGINE_EXCHANGE_EXCHANGE_H
#define PIOLET_ENGINE_EXCHANGE_EXCHANGE_H

#include "engine/move/move.h"

extern const struct move_transport exchange_transport, broadcast_transport;

#endif
