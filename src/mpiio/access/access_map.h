/* Small pieces by copies through mapped parts of the file (storage_map.h), where that is quicker than anything else. */
#ifndef PIOLET_MPIIO_ACCESS_MAP_H
#define PIOLET_MPIIO_ACCESS_MAP_H

#include "mpiio/access/access.h"
#include "mpiio/access/access_memory.h"
#include "mpiio/storage/storage_hold.h"

/* Parts of the file that are mapped at a time are at most this long, and begin and end at its multiples: so that
 * large pages are mapped as one, and the processor's caches hold what is used. */
enum { ACCESS_MAP_BYTES = 4 << 20 };

/* A part of the file with some of an access's data. */
struct access_map {
    struct storage *storage;
    bool write;
    int64_t begin, end;          /* bytes of the file */
    int64_t bytes;               /* of data in it */
    int64_t piece;               /* mean length of a piece */
    int64_t base;                /* byte of the file that is displacement 0 of `file` */
    struct typemap_cursor *file; /* both stand before the data, and behind them after success */
    struct access_memory *memory;
};

/* Could any part of this access be quicker so? Of a view that is monotone and not contiguous. */
bool access_map_may(struct storage *storage, const struct access_request *request);

/* How well this rank knows the file between two places: with STORAGE_HELD an access is nothing but a copy.
 * STORAGE_NEW also where it would not be made by copies at all. */
enum storage_ground access_map_ground(struct storage *storage, const struct access_request *request, int64_t begin,
                                      int64_t end);

/* Moves all data of the part. False: it is not worth it here, or cannot be; nothing has changed but bytes of the same
 * data. */
bool access_map_run(const struct access_map *map);

#endif
