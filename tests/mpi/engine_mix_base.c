/* Random numbers and words of engine_mix. */
#include "engine_mix.h"

#include <stdio.h>
#include <stdlib.h>

struct mix mix = {.seed = 1, .cases = 20};

static uint64_t draw_bits(struct random *random)
{
    uint64_t bits = random->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

int64_t draw(struct random *random, int64_t least, int64_t most)
{
    return least + (int64_t)(draw_bits(random) % (uint64_t)(most - least + 1));
}

const char *mix_where(void)
{
    static char where[160];
    snprintf(where, sizeof where, "seed %lld case %lld event %d, rank %d of %d", (long long)mix.seed,
             (long long)mix.number, mix.event, mix.rank, mix.ranks);
    return where;
}

void *allocate(int64_t bytes)
{
    void *memory = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
    if (!memory) {
        fprintf(stderr, "engine_mix: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}
