/* Where each call of each pattern goes in its file. Pure, 64 bit throughout.
 *
 * A type's file is a sequence of regions, one for each pattern in the order of the table. In types 0 and 1 a region
 * holds the chunks of all n processes in turn, in type 2 those of the file's one process. In types 3 and 4 each process
 * has a segment of its own, and the regions follow each other within it. In type 5 a region is a set of places that
 * all processes share in random order. */
#ifndef PIOLET_BENCH_BEFFIO_LAYOUT_H
#define PIOLET_BENCH_BEFFIO_LAYOUT_H

#include "bench/beffio/beffio_pattern.h"

/* What is known of the patterns of one type: calls of a process, planned (3, 4, 5) or done in the initial write. */
struct beffio_layout {
    int type, nprocs;
    int64_t mpart_bytes;
    int64_t calls[BEFFIO_PATTERNS_ALL]; /* by pattern number; of this type only */
    int64_t segment_bytes;              /* types 3 and 4 */
    int64_t fill_bytes;                 /* of the fill-up pattern's call */
};

/* Bytes that a process moved in each pattern of types 0 to 2, by pattern number; -1: not measured. */
struct beffio_measured {
    int64_t process_bytes[BEFFIO_PATTERNS_ALL];
};

/* Repeat factor of a chunk size: mean bytes of a process over the types 0 to 2 that were measured, divided by l, at
 * least 1. */
int64_t beffio_repeats(const struct beffio_measured *measured, enum beffio_chunk chunk, int64_t mpart_bytes);

/* The plan of types 3, 4 and 5: repeat factors, segment rounded up to 1 MB, and what fills it up. For types 0 to 2 all
 * calls are 0, to be set as they are measured. */
void beffio_layout_plan(struct beffio_layout *layout, int type, int nprocs, int64_t mpart_bytes,
                        const struct beffio_measured *measured);

/* Bytes of one call of a process: L, or what fills the segment up. */
int64_t beffio_layout_call_bytes(const struct beffio_layout *layout, int pattern);

/* Where a pattern begins: in the file, or in types 3 and 4 in each segment. */
int64_t beffio_layout_start(const struct beffio_layout *layout, int pattern);

/* Where the first byte of call `index` of process `rank` goes, in the file (type 2: in the process's own one). In type
 * 5 it is the place `index` before the order is mixed. */
int64_t beffio_layout_offset(const struct beffio_layout *layout, int pattern, int rank, int64_t index);

/* Bytes of all files of the type together, as planned or measured. */
int64_t beffio_layout_total(const struct beffio_layout *layout);

#endif
