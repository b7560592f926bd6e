/* MADbench2's I/O mode as a kernel: makes the requests of a plan. */
#ifndef PIOLET_BENCH_APPS_MADBENCH_H
#define PIOLET_BENCH_APPS_MADBENCH_H

#include "bench/apps/madbench_plan.h"

/* The plan must outlive the kernel. */
struct apps_kernel madbench_kernel(const struct madbench_plan *plan);

#endif
