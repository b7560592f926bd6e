/* Data block scheduling: the implementation that its rows share. Each rank accesses the file itself; a row says, by a
 * schedule, which of its data are accessed in which round. */
#ifndef PIOLET_MPIIO_STRATEGY_SCHEDULING_H
#define PIOLET_MPIIO_STRATEGY_SCHEDULING_H

#include "mpiio/schedule/schedule.h"
#include "mpiio/strategy/strategy.h"

void scheduling_start(struct collective *collective, const struct schedule *schedule);
enum step scheduling_step(struct collective *collective);
void scheduling_clear(struct collective *collective);

#endif
