#include "base/rng.h"

#include <sys/random.h>
#include <time.h>

uint64_t rng_seed_from_system(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        return seed;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return rng_mix((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}
