/* The loops of singleI and multipleI: a task between start and end of every I/O (IOT-14). */
#ifndef PIOLET_BENCH_IOT_INTERLEAVED_H
#define PIOLET_BENCH_IOT_INTERLEAVED_H

#include "bench/iot/iot_lowlevel.h"

extern const struct lowlevel_steps INTERLEAVED_STEPS;

#endif
