/* BT-IO as a kernel: makes the requests of a plan. */
#ifndef PIOLET_BENCH_APPS_BTIO_H
#define PIOLET_BENCH_APPS_BTIO_H

#include "bench/apps/btio_plan.h"

/* The plan must outlive the kernel. */
struct apps_kernel btio_kernel(const struct btio_plan *plan);

#endif
