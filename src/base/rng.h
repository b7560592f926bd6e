/* Random numbers that are the same on every machine: everything random has a seed, printed and settable. */
#ifndef PIOLET_BASE_RNG_H
#define PIOLET_BASE_RNG_H

#include <stdint.h>

/* A bijective mix of 64 bits (the finaliser of SplitMix64): equal inputs give equal outputs, near inputs far ones. */
static inline uint64_t rng_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Combines a seed with a coordinate: rng_at(rng_at(seed, rank), index). */
static inline uint64_t rng_at(uint64_t seed, uint64_t coordinate)
{
    return rng_mix(seed ^ rng_mix(coordinate));
}

/* Uniform in [0, 1), 53 bits. */
static inline double rng_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1.0p-53;
}

/* A seed from the system's entropy, for runs that were given none. */
uint64_t rng_seed_from_system(void);

#endif
