#include "mpiio/schedule/schedule_shuffle.h"

#include "base/rng.h"

enum { TURNS = 4 };

/* A Feistel network: whatever mixes the halves, each turn can be undone, so that the whole is a permutation of the
 * numbers of 2 × half bits. */
static uint64_t permute(uint64_t number, int half, uint64_t seed)
{
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t left = number >> half, right = number & mask;
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        const uint64_t mixed = left ^ (rng_at(rng_at(seed, turn), right) & mask);
        left = right;
        right = mixed;
    }
    return left << half | right;
}

int64_t schedule_shuffle(int64_t count, uint64_t seed, int64_t index)
{
    int half = 1;
    while (half < 32 && (uint64_t)(count - 1) >> (2 * half) != 0)
        half++;
    /* There are less than four times as many numbers as wanted: those beyond lead, in the end, to one that is not. */
    uint64_t number = (uint64_t)index;
    do
        number = permute(number, half, seed);
    while (number >= (uint64_t)count);
    return (int64_t)number;
}
