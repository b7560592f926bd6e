/* Progress of whatever takes longer than two seconds: "[3/12] write, 1 MiB; about 2 min left" on stderr. By default
 * only on a terminal and not before two seconds are over, so that short work is silent. One process prints: rank 0. */
#ifndef PIOLET_BASE_PROGRESS_H
#define PIOLET_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* The words of --progress, in the order of its choices. */
enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };
#define PROGRESS_CHOICES "auto always never"

struct progress {
    enum progress_when when;
    int64_t steps, step;       /* of `steps`, begun */
    double weight, done, last; /* of all steps, of those ended, of the one that runs */
    double part;               /* of the step that runs */
    double began_s, told_s;
};

/* `weight` is the sum of the steps' weights: bytes, seconds, anything; what is left is estimated by it. */
void progress_begin(struct progress *progress, enum progress_when when, int64_t steps, double weight);
/* A step begins, and the one before has ended. Time left is told once a tenth of a second was measured. */
void progress_step(struct progress *progress, const char *label, double weight);
/* A part (0 to 1) of the step that runs is done: told at most once a second, where a step takes long. */
void progress_part(struct progress *progress, const char *label, double part);
/* A step that need not be done: it counts as done, and takes no time. */
void progress_skip(struct progress *progress, double weight);
/* Would a step that begins now be told? For those who say something else where it is not. */
bool progress_speaks(const struct progress *progress);
/* Seconds left by what was measured so far; negative: not known yet. */
double progress_left_s(const struct progress *progress);

#endif
