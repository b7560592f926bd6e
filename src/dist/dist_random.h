/* Random distributions: blocks of the file at pseudo-random processes, as evenly as can be.
 *
 * The blocks are cut into windows of PIOLET_DIST_WINDOW * procs neighbours (the last window may be shorter). Within a
 * window, slot s belongs to process permutation(s) mod procs, with a permutation that seed and window choose: a full
 * window gives every process the same number of blocks, and since a permutation can be turned around, a process finds
 * its own slots without looking at those of others. */
#ifndef PIOLET_DIST_DIST_RANDOM_H
#define PIOLET_DIST_DIST_RANDOM_H

#include "dist/dist_core.h"

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
