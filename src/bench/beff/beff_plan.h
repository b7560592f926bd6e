/* The numbers that define a run of b_eff before any message is sent: message lengths, loop lengths, sizes of rings.
 * Pure: no MPI call, no clock. */
#ifndef PIOLET_BENCH_BEFF_PLAN_H
#define PIOLET_BENCH_BEFF_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BEFF_FIXED_LENGTHS = 13, /* 1 B, 2 B, … 4 kB */
    BEFF_LENGTHS = 21,       /* and 8 more up to L_max */
    BEFF_REPETITIONS = 3,
    BEFF_RING_PATTERNS = 6,
    BEFF_RANDOM_PATTERNS = 30,
    BEFF_LOOP_FIRST = 300,
    BEFF_MEMORY_PART = 128, /* L_max = memory of a process / 128 */
};

#define BEFF_MBYTE          1048576.0            /* of published values: 2^20 bytes */
#define BEFF_LENGTH_LARGEST ((int64_t)128 << 20) /* counts of MPI are int */
#define BEFF_MEMORY_LEAST   ((int64_t)1 << 20)   /* below, the 8 longest messages would not differ enough */
#define BEFF_LOOP_TARGET_S  2.5e-3               /* a loop takes that to twice that */

/* L_max of a process with this much memory. */
int64_t beff_length_max(int64_t memory_bytes);

/* The 21 lengths, ascending; length_max > 4 kB is the last one. */
void beff_lengths(int64_t length_max, int64_t ret_lengths[BEFF_LENGTHS]);

/* The loop length for the next, longer message, when `loop` rounds took `seconds`: never more, at least 1. Aims at
 * `target_s`, so that a message of up to twice the length takes target_s to 2 target_s. */
int64_t beff_loop_next(int64_t loop, double seconds, double target_s);

/* Repetitions of the next pattern, after `done` patterns in `elapsed_s` and with `left` that must be measured: 3, or 1
 * where at this pace they would not end within `time_s`. */
int beff_repetitions(double elapsed_s, int done, int left, double time_s);

/* How n processes are cut into rings: `count` rings, the `larger` ones of size + 1, the others of size. */
struct beff_rings {
    int count, size, larger;
    bool larger_first;
};

/* Ring pattern 1 to 6 on n >= 2 processes. */
struct beff_rings beff_rings_of(int pattern, int n);

/* The ring that holds a position: its first position and its size. */
struct beff_ring {
    int first, size;
};
struct beff_ring beff_ring_at(const struct beff_rings *rings, int position);

/* "3 x 9 + 1 x 10", in the order of the ranks. */
enum { BEFF_RINGS_TEXT_MAX = 64 };
const char *beff_rings_text(const struct beff_rings *rings, char text[BEFF_RINGS_TEXT_MAX]);

#endif
