/* An order of numbers that looks random and needs no list. Pure. */
#ifndef PIOLET_MPIIO_SCHEDULE_SHUFFLE_H
#define PIOLET_MPIIO_SCHEDULE_SHUFFLE_H

#include <stdint.h>

/* A permutation of 0 … count - 1 that `seed` decides: the number at place `index`. count > 0. */
int64_t schedule_shuffle(int64_t count, uint64_t seed, int64_t index);

#endif
