/* Which rank owns which part of the test file. Pure, closed form: any block's place in constant time.
 *
 * Block k of B covers the bytes [edge(k), edge(k+1)), with edge(k) = k·b + jitter(k). Without `fuzzy` the jitter is 0.
 * With it, every inner edge moves by up to ± F·b/2, so that lengths scatter around b within ± F·b and still fill the
 * file exactly, and no rank needs to know the blocks before its own. */
#ifndef PIOLET_BENCH_IOT_LAYOUT_H
#define PIOLET_BENCH_IOT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct iot_layout {
    int64_t blocks;     /* B, of the whole file */
    int64_t blocksize;  /* b, bytes, a multiple of 8 */
    int64_t tail_bytes; /* asked for and left out */
    int nprocs;
    bool segmented; /* a rank's blocks side by side; else block j of rank r is file block j·P + r */
    double fuzzy;   /* F in [0, 1) */
    uint64_t seed;  /* of the jitter */
};

struct iot_extent {
    int64_t offset; /* bytes */
    int64_t length;
};

/* A block larger than the file is cut to the file; a tail shorter than a block is left out. */
struct iot_layout iot_layout_make(int64_t filesize, int64_t blocksize, int nprocs);

/* Blocks of one rank, and of the rank that has most. */
int64_t iot_layout_count(const struct iot_layout *layout, int rank);
int64_t iot_layout_rounds(const struct iot_layout *layout);

/* Block j of a rank. */
struct iot_extent iot_layout_block(const struct iot_layout *layout, int rank, int64_t j);

/* No block is longer. */
int64_t iot_layout_longest(const struct iot_layout *layout);

#endif
