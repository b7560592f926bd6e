#include "mpiio/ship/ship_map.h"

enum { BLOCK_LEAST = 256 * 1024, PART_BLOCKS = 16 };

bool ship_map_has(const struct ship_map *map, int rank)
{
    for (int i = 0; i < map->count; i++)
        if (map->ranks[i] == rank)
            return true;
    return false;
}

int64_t ship_map_block(int64_t file_system_block)
{
    return file_system_block > BLOCK_LEAST ? file_system_block : BLOCK_LEAST;
}

int64_t ship_map_part(int64_t wish, int64_t block)
{
    if (wish <= 0)
        return PART_BLOCKS * block;
    const int64_t blocks = wish / block + (wish % block != 0);
    return blocks > INT64_MAX / block ? INT64_MAX / block * block : blocks * block;
}

void ship_map_spread(int *ret_ranks, int count, int ranks)
{
    for (int i = 0; i < count; i++)
        ret_ranks[i] = (int)((int64_t)i * ranks / count);
}
