/* A distribution as the layer sees it, and the arithmetic that its files share.
 *
 * Every kind but random is a list of boxes; a box is a product of axes. Axes are numbered by speed in the file: axis 0
 * runs fastest. dist_dimension() leads from there to the dimension of the user. Scatter is a single cyclic axis over
 * all elements, broadcast a box of whole axes. */
#ifndef PIOLET_DIST_DIST_CORE_H
#define PIOLET_DIST_DIST_CORE_H

#include "piolet/dist.h"

/* One axis: how many indices, how they are dealt out, to how many, and how a rank finds its place among those. */
struct dist_axis_rule {
    int64_t size;
    int64_t pitch; /* elements of the file from one index to the next */
    struct piolet_dist_rule rule;
    int64_t grid;
    int64_t rank_pitch; /* place on this axis: rank / rank_pitch % grid */
};

struct piolet_dist {
    struct piolet_dist_spec spec;
    struct piolet_dist_shape shape;
    int64_t elements;
    int axes; /* 1 for the kinds that see the file as one line */
    struct dist_axis_rule axis[PIOLET_DIST_DIMS_MAX];
    int64_t cells;  /* multi-partition: sqrt(P) */
    int64_t block;  /* random, scatter: elements of a block, at most `elements` */
    int64_t blocks; /* random: blocks of the file, the last one may be short */
};

/* The user's dimension that is axis number `axis`. */
int dist_dimension(const struct piolet_dist *dist, int axis);

int64_t dist_ceil_div(int64_t a, int64_t b);

/* The part of an axis that place `place` of `grid` gets by a rule; axes that are owned wholly always look the same. */
struct piolet_dist_axis dist_axis_part(int64_t size, const struct piolet_dist_rule *rule, int64_t grid, int64_t place);

/* The place that gets an index. */
int64_t dist_axis_owner(int64_t size, const struct piolet_dist_rule *rule, int64_t grid, int64_t index);

/* The index at a place among those owned (0 <= local < size), and back; -1 when the index is not owned. */
int64_t dist_axis_index(const struct piolet_dist_axis *part, int64_t local);
int64_t dist_axis_local(const struct piolet_dist_axis *part, int64_t index);

/* Boxes of every rank (0 for random); box `number` of a rank, ret_parts by axis number; elements of a box. */
int64_t dist_box_count(const struct piolet_dist *dist);
void dist_box(const struct piolet_dist *dist, int64_t rank, int64_t number, struct piolet_dist_axis *ret_parts);
int64_t dist_box_size(const struct piolet_dist *dist, const struct piolet_dist_axis *parts);

/* Elements of a rank's buffer from one index of an axis of its box to the next: file order, or the opposite one. */
void dist_box_pitches(const struct piolet_dist *dist, const struct piolet_dist_axis *parts, int64_t *ret_pitches);

bool dist_rank_ok(const struct piolet_dist *dist, int64_t rank);

/* Formats into the caller's buffer, if there is one; returns `code`. */
int dist_fail(char *message, size_t message_size, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- dist_random.c: blocks of the file at pseudo-random processes, as evenly as can be ---- */

int64_t dist_random_windows(const struct piolet_dist *dist);

/* Slots of all windows before this one. */
int64_t dist_random_window_begin(const struct piolet_dist *dist, int64_t window);

/* The slots of a rank in a window, ascending; returns how many. */
int dist_random_slots(const struct piolet_dist *dist, int64_t rank, int64_t window, int64_t slots[PIOLET_DIST_WINDOW]);

int64_t dist_random_owner(const struct piolet_dist *dist, int64_t block);

/* Blocks and elements of a rank. */
int64_t dist_random_blocks(const struct piolet_dist *dist, int64_t rank);
int64_t dist_random_count(const struct piolet_dist *dist, int64_t rank);

/* Place in the rank's buffer -> offset, and back (the rank must own it). */
int64_t dist_random_offset_of_local(const struct piolet_dist *dist, int64_t rank, int64_t local);
int64_t dist_random_local_of_offset(const struct piolet_dist *dist, int64_t rank, int64_t offset);

#endif
