/* Numbers in the order of time, kept as few grids: what a parameter of a call (its offset, say) was at its first,
 * second, … execution. Regular sequences need one grid, whatever their length; any sequence is kept exactly. Pure. */
#ifndef PIOLET_MODEL_SEQ_H
#define PIOLET_MODEL_SEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_GRID_LEVELS = 4 };

/* base + i0 * stride[0] + i1 * stride[1] + …, i0 running fastest. Without levels: one number. Numbers are kept modulo
 * 2^64; a sequence has fewer than 2^62 of them, which who reads files makes sure of. */
struct model_grid {
    int64_t base;
    int levels;
    int64_t count[MODEL_GRID_LEVELS], stride[MODEL_GRID_LEVELS];
    int64_t start; /* inside a sequence: how many numbers stand before it */
};

struct model_seq { /* {0} is empty */
    struct model_grid *grids;
    size_t count, capacity;
};

int64_t model_grid_total(const struct model_grid *grid);
/* The number at `index`, which lies inside. */
int64_t model_grid_at(const struct model_grid *grid, int64_t index);
/* Drops levels of one, and joins levels of which one continues the other. */
void model_grid_tidy(struct model_grid *grid);

void model_seq_clear(struct model_seq *seq);
int64_t model_seq_total(const struct model_seq *seq);
int64_t model_seq_at(const struct model_seq *seq, int64_t index);
/* Appending: false when memory is short. What continues the last grid, or repeats it elsewhere, makes it larger. */
bool model_seq_add(struct model_seq *seq, int64_t value);
bool model_seq_add_grid(struct model_seq *seq, struct model_grid grid);
bool model_seq_add_seq(struct model_seq *seq, const struct model_seq *more);
/* Appends `count` numbers of `from`, beginning at `index`. */
bool model_seq_add_slice(struct model_seq *seq, const struct model_seq *from, int64_t index, int64_t count);
/* Makes the grids those that number after number would give, however the sequence came together. Sequences that are
 * irregular and very long are left as they are. */
bool model_seq_settle(struct model_seq *seq);
/* True if `b` is `a` moved by a constant, which is told. */
bool model_seq_is_moved(const struct model_seq *a, const struct model_seq *b, int64_t *ret_by);

#endif
