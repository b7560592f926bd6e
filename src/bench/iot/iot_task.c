#include "bench/iot/iot_task.h"

#include "base/rng.h"

#include <errno.h>
#include <stdlib.h>

int64_t iot_task_memory(int order)
{
    return ((int64_t)order * order + 2 * (int64_t)order) * (int64_t)sizeof(double);
}

pl_status iot_task_init(struct iot_task *task, int order, int repetitions, struct pl_error *error)
{
    *task = (struct iot_task){.order = order, .repetitions = repetitions};
    task->matrix = malloc((size_t)iot_task_memory(order));
    if (!task->matrix)
        return pl_fail_errno(error, ENOMEM, "taking memory for a task of order %d", order);
    task->vector = task->matrix + (int64_t)order * order;
    task->product = task->vector + order;
    for (int64_t i = 0; i < (int64_t)order * order; i++)
        task->matrix[i] = rng_unit(rng_at(1, (uint64_t)i));
    iot_task_reset(task);
    return PL_OK;
}

void iot_task_clear(struct iot_task *task)
{
    free(task->matrix);
    task->matrix = NULL;
}

void iot_task_reset(struct iot_task *task)
{
    task->round = 0;
    for (int i = 0; i < task->order; i++)
        task->vector[i] = rng_unit(rng_at(2, (uint64_t)i));
}

static double multiply(struct iot_task *task)
{
    const int n = task->order;
    double largest = 0;
    for (int row = 0; row < n; row++) {
        const double *line = task->matrix + (int64_t)row * n;
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += line[i] * task->vector[i];
        task->product[row] = sum;
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

double iot_task_run(struct iot_task *task)
{
    double largest = 0;
    for (int k = 0; k < task->repetitions; k++) {
        largest = multiply(task);
        for (int i = 0; i < task->order; i++) /* scaled, to stay finite */
            task->vector[i] = task->product[i] / largest;
        /* Left alone, the vector would settle on an eigenvector and all results would be equal. */
        task->vector[task->round % (uint64_t)task->order] = rng_unit(rng_at(3, task->round));
        task->round++;
    }
    return largest;
}
