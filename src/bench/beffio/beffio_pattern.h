/* The patterns of b_eff_io: the document's Table 2. Pure.
 *
 * kB and MB are powers of 1024 in chunk sizes, as in the document. */
#ifndef PIOLET_BENCH_BEFFIO_PATTERN_H
#define PIOLET_BENCH_BEFFIO_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/* Sizes of a chunk on disk, in the order of the document's diagrams. */
enum beffio_chunk {
    BEFFIO_KB1,
    BEFFIO_KB1_8, /* + 8 bytes: not wellformed */
    BEFFIO_KB32,
    BEFFIO_KB32_8,
    BEFFIO_MB1,
    BEFFIO_MB1_8,
    BEFFIO_MPART,
    BEFFIO_FILL, /* what is left of a segment */
    BEFFIO_CHUNKS = BEFFIO_FILL
};

enum beffio_method { BEFFIO_WRITE, BEFFIO_REWRITE, BEFFIO_READ, BEFFIO_METHODS };

enum {
    BEFFIO_PATTERNS = 43, /* of the document */
    BEFFIO_PATTERNS_ALL = 51,
    BEFFIO_TYPES = 5,
    BEFFIO_RANDOM = 5, /* the type on request */
    BEFFIO_TYPES_ALL = 6,
    BEFFIO_UNITS = 64 /* sum of U over the document's patterns */
};

struct beffio_pattern {
    int type;
    enum beffio_chunk chunk;
    int chunks; /* in one call: L = chunks * l */
    int units;  /* U */
};

extern const struct beffio_pattern BEFFIO_TABLE[BEFFIO_PATTERNS_ALL];

/* max(2 MB, memory of one node / 128), a multiple of 8 bytes. */
int64_t beffio_mpart(int64_t node_memory_bytes);

/* l; 0 for the fill-up, which depends on what was written. */
int64_t beffio_chunk_bytes(enum beffio_chunk chunk, int64_t mpart_bytes);
/* L */
int64_t beffio_call_bytes(int pattern, int64_t mpart_bytes);

/* A type's patterns are [first, end). */
int beffio_type_first(int type);
int beffio_type_end(int type);

/* The pattern of `type` whose repeat factor counts for chunk size `chunk` in types 3 and 4: the one with U > 0 and,
 * of the two with 1 MB in type 0, with L = l as in the other types. */
int beffio_counterpart(int type, enum beffio_chunk chunk);

/* Types 3, 4 and 5 have a fixed region for each process or pattern, planned before they start. */
bool beffio_is_planned(int type);
bool beffio_is_collective(int type);

const char *beffio_method_name(enum beffio_method method);
const char *beffio_type_name(int type);                 /* "strided, collective, scattering", … */
const char *beffio_chunk_name(enum beffio_chunk chunk); /* "1k+8", "M_PART", … */

#endif
