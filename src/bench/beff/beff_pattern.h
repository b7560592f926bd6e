/* The communication patterns of b_eff: who sends to whom, for any number of processes. Pure: no MPI call.
 *
 * In every pattern a process has a few links. Link k is one message sent and one received: the message that rank r
 * sends over its link k arrives over link k of the receiver, so both know its number. */
#ifndef PIOLET_BENCH_BEFF_PATTERN_H
#define PIOLET_BENCH_BEFF_PATTERN_H

#include "bench/beff/beff_plan.h"

#include <stdbool.h>
#include <stdint.h>

enum beff_kind {
    BEFF_RING,            /* number 1 to 6; in the average */
    BEFF_RANDOM,          /* number 1 to …: one ring of all processes in random order; in the average */
    BEFF_WORST_CYCLE,     /* one ring 0, n-1, 1, n-2, … */
    BEFF_BISECTION_BEST,  /* pairs 2i, 2i + 1 */
    BEFF_BISECTION_WORST, /* pairs i, n - 1 - i; of an odd number the last process is idle */
    BEFF_CART2,           /* cyclic Cartesian grids: number 1 … one direction, 0 all together */
    BEFF_CART3,
    BEFF_PINGPONG, /* processes 0 and 1 in turn */
    BEFF_KINDS
};

struct beff_pattern {
    enum beff_kind kind;
    int number;
};

enum { BEFF_DIMENSIONS = 3, BEFF_LINKS_MAX = 2 * BEFF_DIMENSIONS, BEFF_NOBODY = -1 };

struct beff_links {
    int count;
    int to[BEFF_LINKS_MAX], from[BEFF_LINKS_MAX]; /* ranks; BEFF_NOBODY: an idle process */
};

/* The i-th pattern of a run, from 0 on: ping-pong, rings, those outside the average, and last the random ones, of which
 * there are as many as time allows. False behind the last one. Directions of a grid in which all processes stand behind
 * each other (extent 1) have no messages and are passed over. */
bool beff_pattern_next(int n, int random_patterns, int index, struct beff_pattern *ret_pattern);
int beff_pattern_count(int n, int random_patterns);

/* The links of a rank. `order` has room for n ranks and is used by random patterns only, which depend on the seed. */
struct beff_links beff_pattern_links(struct beff_pattern pattern, int n, int rank, uint64_t seed, int *order);

/* Messages of all processes in one round. */
int64_t beff_pattern_messages(struct beff_pattern pattern, int n);

/* Most links that a pattern on n processes has. */
int beff_links_max(int n);

/* Ranks in random order, the same for everybody with this seed and number. */
void beff_random_order(int n, uint64_t seed, int number, int *ret_order);

/* Extents of a grid of n processes with 2 or 3 dimensions, as equal as can be, the largest first. */
void beff_grid(int n, int dimensions, int ret_extents[BEFF_DIMENSIONS]);

/* "ring-3", "random-12", "cart2d-1", "cart2d": the name in block files, and back. */
enum { BEFF_NAME_MAX = 40 };
const char *beff_pattern_name(struct beff_pattern pattern, char name[BEFF_NAME_MAX]);
bool beff_pattern_parse(const char *name, struct beff_pattern *ret_pattern);
/* "ring 3", "2-D, direction 1", "2-D together". */
const char *beff_pattern_label(struct beff_pattern pattern, char label[BEFF_NAME_MAX]);

#endif
