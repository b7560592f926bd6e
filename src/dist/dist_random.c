/* Random distributions: blocks of the file at pseudo-random processes, as evenly as can be.
 *
 * The blocks are cut into windows of PIOLET_DIST_WINDOW * procs neighbours (the last window may be shorter). Within a
 * window, slot s belongs to process permutation(s) mod procs, with a permutation that seed and window choose: a full
 * window gives every process the same number of blocks, and since a permutation can be turned around, a process finds
 * its own slots without looking at those of others. */
#include "dist/dist_core.h"

#include <assert.h>

#include "base/rng.h"

enum { ROUNDS = 6 };

/* A permutation of 0 .. size - 1: a Feistel network over an even number of bits, walked until it lands inside. */
struct permutation {
    uint64_t size;
    int half_bits;
    uint64_t half_mask;
    uint64_t key;
};

static struct permutation permutation_make(uint64_t seed, int64_t window, int64_t size)
{
    assert(size > 0);
    struct permutation permutation = {.size = (uint64_t)size, .half_bits = 1, .key = rng_at(seed, (uint64_t)window)};
    while (permutation.half_bits < 31 && (1ull << (2 * permutation.half_bits)) < permutation.size)
        permutation.half_bits++;
    permutation.half_mask = (1ull << permutation.half_bits) - 1;
    return permutation;
}

static uint64_t round_value(const struct permutation *permutation, int round, uint64_t half)
{
    return rng_at(permutation->key + (uint64_t)round, half) & permutation->half_mask;
}

static int64_t permutation_forward(const struct permutation *permutation, int64_t slot)
{
    assert(slot >= 0 && (uint64_t)slot < permutation->size);
    uint64_t value = (uint64_t)slot;
    do {
        uint64_t left = value >> permutation->half_bits, right = value & permutation->half_mask;
        for (int round = 0; round < ROUNDS; round++) {
            const uint64_t mixed = left ^ round_value(permutation, round, right);
            left = right;
            right = mixed;
        }
        value = left << permutation->half_bits | right;
    } while (value >= permutation->size);
    return (int64_t)value;
}

static int64_t permutation_backward(const struct permutation *permutation, int64_t image)
{
    assert(image >= 0 && (uint64_t)image < permutation->size);
    uint64_t value = (uint64_t)image;
    do {
        uint64_t left = value >> permutation->half_bits, right = value & permutation->half_mask;
        for (int round = ROUNDS - 1; round >= 0; round--) {
            const uint64_t mixed = right ^ round_value(permutation, round, left);
            right = left;
            left = mixed;
        }
        value = left << permutation->half_bits | right;
    } while (value >= permutation->size);
    return (int64_t)value;
}

static int64_t window_size(const struct piolet_dist *dist)
{
    return PIOLET_DIST_WINDOW * dist->shape.procs;
}

int64_t dist_random_windows(const struct piolet_dist *dist)
{
    return dist_ceil_div(dist->blocks, window_size(dist));
}

int64_t dist_random_window_begin(const struct piolet_dist *dist, int64_t window)
{
    return window * window_size(dist);
}

static struct permutation window_permutation(const struct piolet_dist *dist, int64_t window)
{
    const int64_t left = dist->blocks - dist_random_window_begin(dist, window);
    return permutation_make(dist->shape.seed, window, left < window_size(dist) ? left : window_size(dist));
}

int dist_random_slots(const struct piolet_dist *dist, int64_t rank, int64_t window, int64_t slots[PIOLET_DIST_WINDOW])
{
    const struct permutation permutation = window_permutation(dist, window);
    int count = 0;
    for (int64_t image = rank; image < (int64_t)permutation.size; image += dist->shape.procs) {
        const int64_t slot = permutation_backward(&permutation, image);
        int at = count++;
        for (; at > 0 && slots[at - 1] > slot; at--)
            slots[at] = slots[at - 1];
        slots[at] = slot;
    }
    assert(count <= PIOLET_DIST_WINDOW);
    return count;
}

int64_t dist_random_owner(const struct piolet_dist *dist, int64_t block)
{
    const int64_t window = block / window_size(dist);
    const struct permutation permutation = window_permutation(dist, window);
    return permutation_forward(&permutation, block % window_size(dist)) % dist->shape.procs;
}

int64_t dist_random_blocks(const struct piolet_dist *dist, int64_t rank)
{
    const int64_t rest = dist->blocks % window_size(dist);
    const int64_t of_rest = rest > rank ? (rest - 1 - rank) / dist->shape.procs + 1 : 0;
    return dist->blocks / window_size(dist) * PIOLET_DIST_WINDOW + of_rest;
}

int64_t dist_random_count(const struct piolet_dist *dist, int64_t rank)
{
    const int64_t missing = dist->blocks * dist->block - dist->elements; /* from the last block */
    const bool is_ours = missing && dist_random_owner(dist, dist->blocks - 1) == rank;
    return dist_random_blocks(dist, rank) * dist->block - (is_ours ? missing : 0);
}

int64_t dist_random_offset_of_local(const struct piolet_dist *dist, int64_t rank, int64_t local)
{
    int64_t slots[PIOLET_DIST_WINDOW];
    const int64_t number = local / dist->block; /* among our blocks */
    const int64_t window = number / PIOLET_DIST_WINDOW;
    const int found = dist_random_slots(dist, rank, window, slots);
    const int64_t at = number % PIOLET_DIST_WINDOW;
    assert(at < found);
    (void)found;
    return (dist_random_window_begin(dist, window) + slots[at]) * dist->block + local % dist->block;
}

int64_t dist_random_local_of_offset(const struct piolet_dist *dist, int64_t rank, int64_t offset)
{
    int64_t slots[PIOLET_DIST_WINDOW];
    const int64_t block = offset / dist->block;
    const int64_t window = block / window_size(dist);
    const int found = dist_random_slots(dist, rank, window, slots);
    int at = 0;
    while (at < found && slots[at] != block % window_size(dist))
        at++;
    assert(at < found);
    return (window * PIOLET_DIST_WINDOW + at) * dist->block + offset % dist->block;
}
