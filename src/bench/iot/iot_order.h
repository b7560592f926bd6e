/* A pseudo-random order of 0 … n-1 in closed form: no list, every number once, the same for the same seed. */
#ifndef PIOLET_BENCH_IOT_ORDER_H
#define PIOLET_BENCH_IOT_ORDER_H

#include <stdint.h>

struct iot_order {
    int64_t count;
    uint64_t seed;
    int half_bits; /* a Feistel network of two halves of so many bits covers [0, count) */
};

struct iot_order iot_order_make(int64_t count, uint64_t seed);

/* The number at place `index` of the order. */
int64_t iot_order_at(const struct iot_order *order, int64_t index);

#endif
