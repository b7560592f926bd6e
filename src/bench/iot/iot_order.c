#include "bench/iot/iot_order.h"

#include "base/rng.h"

struct iot_order iot_order_make(int64_t count, uint64_t seed)
{
    struct iot_order order = {.count = count, .seed = seed, .half_bits = 1};
    while ((int64_t)1 << (2 * order.half_bits) < count)
        order.half_bits++;
    return order;
}

/* Four rounds; each is its own inverse but for the halves' exchange, so the whole is a permutation of 2^(2·half). */
static uint64_t shuffle(const struct iot_order *order, uint64_t value)
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
        value = shuffle(order, value);
    while (value >= (uint64_t)order->count);
    return (int64_t)value;
}
