/* Numbers of ranks as a formula of the rank: exact, in whole numbers, never a least squares fit. Pure.
 *
 * The first of these forms that reproduces every number is taken: constant; affine; nested grid (idP/m and idP%m); few
 * affine pieces; sum or product of a function of idP/m and one of idP%m, as lists; a list. */
#ifndef PIOLET_MODEL_FIT_H
#define PIOLET_MODEL_FIT_H

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/* Appends the formula of values[i] for ranks[i], which ascend; count > 0. */
void model_fit(const int64_t *ranks, const int64_t *values, size_t count, struct text *text);

/* Appends "+c*variable" in its shortest form: nothing for 0, no "+" at `from`, where the formula begins. */
void model_fit_term(struct text *text, size_t from, int64_t factor, const char *variable);
/* The same for a number alone; "0" where nothing stands since `from`. */
void model_fit_constant(struct text *text, size_t from, int64_t number);

struct model_seq;
/* Appends "[…]", a list of the formula grammar, each number less `base`. */
void model_fit_list(struct text *text, const struct model_seq *list, int64_t base);

#endif
