/* The computation that singleI and multipleI put between start and end of an I/O: matrix times vector. */
#ifndef PIOLET_BENCH_IOT_TASK_H
#define PIOLET_BENCH_IOT_TASK_H

#include "base/status.h"

#include <stdint.h>

struct iot_task {
    int order;       /* n: the matrix is n × n */
    int repetitions; /* products in one task */
    double *matrix;  /* owned, with the vectors behind it */
    double *vector;
    double *product;
    uint64_t round;
};

int64_t iot_task_memory(int order);
pl_status iot_task_init(struct iot_task *task, int order, int repetitions, struct pl_error *error);
void iot_task_clear(struct iot_task *task);

/* Back to the first vector: the same sequence of results follows. */
void iot_task_reset(struct iot_task *task);

/* One task. The result depends on all tasks since the reset; it is the same on every call sequence. */
double iot_task_run(struct iot_task *task);

#endif
