/* A collective is an operation that is stepped until it is done: blocking calls step it in a loop, non-blocking ones
 * from wherever MPI makes progress. A step never waits for another rank. */
#ifndef PIOLET_MPI_STEP_H
#define PIOLET_MPI_STEP_H

enum step { STEP_PENDING, STEP_DONE };

#endif
