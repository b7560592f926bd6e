#include "base/rng.h"

#include "base/clock.h"

#include <sys/random.h>

uint64_t rng_seed_from_system(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        return seed;
    return rng_mix((uint64_t)clock_read_ns(CLOCK_REALTIME));
}
