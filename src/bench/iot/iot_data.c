#include "bench/iot/iot_data.h"

#include "base/rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int64_t iot_data_memory(int64_t longest_bytes)
{
    return longest_bytes + (int64_t)IOT_DATA_WINDOWS * IOT_DATA_STEP * (int64_t)sizeof(double);
}

pl_status iot_data_init(struct iot_data *data, int64_t longest_bytes, uint64_t seed, struct pl_error *error)
{
    enum { PAGE = 4096 };
    const int64_t bytes = (iot_data_memory(longest_bytes) + PAGE - 1) / PAGE * PAGE;
    data->seed = seed;
    data->pool = aligned_alloc(PAGE, (size_t)bytes);
    if (!data->pool)
        return pl_fail_errno(error, ENOMEM, "taking %lld bytes for random data", (long long)bytes);
    for (int64_t i = 0; i < bytes / (int64_t)sizeof(double); i++)
        data->pool[i] = rng_unit(rng_at(seed, (uint64_t)i));
    return PL_OK;
}

void iot_data_clear(struct iot_data *data)
{
    free(data->pool);
    data->pool = NULL;
}

const double *iot_data_block(const struct iot_data *data, int64_t offset, uint64_t salt)
{
    const uint64_t turn = salt ? 1 + rng_mix(salt) % (IOT_DATA_WINDOWS - 1) : 0; /* never the window without salt */
    const uint64_t window = (rng_at(data->seed, (uint64_t)offset) + turn) % IOT_DATA_WINDOWS;
    return data->pool + window * IOT_DATA_STEP;
}

static int64_t data_check_all(const double *wanted, const double *got, int64_t count)
{
    if (memcmp(wanted, got, (size_t)count * sizeof *got) == 0)
        return -1;
    int64_t i = 0;
    while (memcmp(&wanted[i], &got[i], sizeof *got) == 0)
        i++;
    return i;
}

/* Another number of each 4 KiB with each block: over a run, damage anywhere is met. */
static int64_t data_check_sample(const double *wanted, const double *got, int64_t count, uint64_t where)
{
    enum { STRETCH = 512 };
    uint64_t random = rng_mix(where);
    for (int64_t begin = 0; begin < count; begin += STRETCH) {
        const int64_t length = count - begin < STRETCH ? count - begin : STRETCH;
        const int64_t i = begin + (int64_t)(random % (uint64_t)length);
        if (wanted[i] != got[i])
            return i;
        random = random * 6364136223846793005u + 1442695040888963407u;
        random ^= random >> 29;
    }
    if (wanted[0] != got[0])
        return 0;
    return wanted[count - 1] != got[count - 1] ? count - 1 : -1;
}

int64_t iot_data_check(enum iot_check check, const double *wanted, const double *got, int64_t count, uint64_t where)
{
    if (count == 0 || check == IOT_CHECK_NONE)
        return -1;
    return check == IOT_CHECK_FULL ? data_check_all(wanted, got, count) : data_check_sample(wanted, got, count, where);
}

enum iot_check iot_check_named(const char *name)
{
    if (strcmp(name, "none") == 0)
        return IOT_CHECK_NONE;
    return strcmp(name, "full") == 0 ? IOT_CHECK_FULL : IOT_CHECK_SAMPLE;
}

/* ---- a random order in closed form ---- */

struct iot_order iot_order_make(int64_t count, uint64_t seed)
{
    struct iot_order order = {.count = count, .seed = seed, .half_bits = 1};
    while ((int64_t)1 << (2 * order.half_bits) < count)
        order.half_bits++;
    return order;
}

/* Four rounds; each is its own inverse but for the halves' exchange, so the whole is a permutation of 2^(2·half). */
static uint64_t order_shuffle(const struct iot_order *order, uint64_t value)
{
    const uint64_t mask = ((uint64_t)1 << order->half_bits) - 1;
    uint64_t left = value >> order->half_bits, right = value & mask;
    for (uint64_t round = 0; round < 4; round++) {
        const uint64_t next = left ^ (rng_at(order->seed + round, right) & mask);
        left = right;
        right = next;
    }
    return left << order->half_bits | right;
}

/* Numbers beyond the count are shuffled on until one falls inside: less than 4 times on average. */
int64_t iot_order_at(const struct iot_order *order, int64_t index)
{
    uint64_t value = (uint64_t)index;
    do
        value = order_shuffle(order, value);
    while (value >= (uint64_t)order->count);
    return (int64_t)value;
}

/* ---- the task of interleaved tests ---- */

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

static double task_multiply(struct iot_task *task)
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
        largest = task_multiply(task);
        for (int i = 0; i < task->order; i++) /* scaled, to stay finite */
            task->vector[i] = task->product[i] / largest;
        /* Left alone, the vector would settle on an eigenvector and all results would be equal. */
        task->vector[task->round % (uint64_t)task->order] = rng_unit(rng_at(3, task->round));
        task->round++;
    }
    return largest;
}
