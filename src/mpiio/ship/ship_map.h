/* Which agent a byte of the file belongs to: parts of equal size, counted from the file's first byte, go round a list
 * of ranks. Pure. */
#ifndef PIOLET_MPIIO_SHIP_MAP_H
#define PIOLET_MPIIO_SHIP_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct ship_map {
    int64_t part_bytes; /* whole blocks */
    int count;
    int *ranks; /* owned by whoever made the map; a rank may come more than once */
};

static inline int ship_map_rank(const struct ship_map *map, int64_t byte)
{
    return map->ranks[byte / map->part_bytes % map->count];
}

/* The first byte behind the part that `byte` lies in. */
static inline int64_t ship_map_end(const struct ship_map *map, int64_t byte)
{
    const int64_t begin = byte - byte % map->part_bytes;
    return begin > INT64_MAX - map->part_bytes ? INT64_MAX : begin + map->part_bytes;
}

/* Is this rank an agent at all? */
bool ship_map_has(const struct ship_map *map, int rank);

/* What is handed out as one: at least 256 KiB, as a block of the file system that the document is about. */
int64_t ship_map_block(int64_t file_system_block);

/* The part that a wish (0: none) leads to, in whole blocks; without one, 16 blocks. */
int64_t ship_map_part(int64_t wish, int64_t block);

/* Spreads `count` agents over `ranks` ranks. */
void ship_map_spread(int *ret_ranks, int count, int ranks);

#endif
