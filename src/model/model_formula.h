/* Formulas of a model: whole numbers as functions of the rank (idP) and of the number of executions before (n).
 *
 *     expression := term { ("+" | "-") term }          term   := factor { ("*" | "/" | "%") factor }
 *     factor     := NUMBER | "idP" | "n" | "-" factor | "(" expression ")" | list "[" expression "]" | cases
 *     list       := "[" item { "," item } "]"          item   := NUMBER [ "+" NUMBER ] [ "x" COUNT ] | packed
 *     packed     := "z" COUNT ":" BASE64
 *     cases      := "{" case { ";" case } "}"          case   := ranks ":" expression
 *     ranks      := range { "," range }                range  := FIRST [ "-" LAST [ "/" STEP ] ]
 *
 * No blanks. An item VxC stands for C times V, V+SxC for V, V+S, V+2S, … (C of them); the first of a list is number 0.
 * Packed numbers have no rule: their differences (the first from 0), each as 2 * d or -2 * d - 1 in groups of 7 bits,
 * the lowest first, the high bit set where another group follows; these bytes in base64 with '-' and '_', unpadded.
 * "/" rounds toward zero. Numbers are 64 bits; a formula that divides by zero, goes beyond a list, or meets a rank that
 * no case names has no value. Pure. */
#ifndef PIOLET_MODEL_FORMULA_H
#define PIOLET_MODEL_FORMULA_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_formula; /* one parsed expression */

/* Parses a formula to the end of the text, or to the first character in `stops`; *ret_end is then behind it (may be
 * NULL where there are no stops). */
pl_status model_formula_parse(const char *text, const char *stops, struct model_formula **ret_formula,
                              const char **ret_end, struct pl_error *error);
void model_formula_free(struct model_formula *formula);
bool model_formula_value(const struct model_formula *formula, int64_t rank, int64_t n, int64_t *ret_value);
/* Whether its value may depend on n. */
bool model_formula_has_turn(const struct model_formula *formula);

/* Sets of ranks, sorted and without overlap. */
struct model_range {
    int64_t first, last, step;
};

struct model_ranks { /* {0} is empty */
    struct model_range *ranges;
    size_t count, capacity;
};

void model_ranks_clear(struct model_ranks *ranks);
/* `rank` is larger than all that are in it; false when memory is short. */
bool model_ranks_add(struct model_ranks *ranks, int64_t rank);
bool model_ranks_has(const struct model_ranks *ranks, int64_t rank);
int64_t model_ranks_total(const struct model_ranks *ranks);
/* The next rank that is larger than `rank`; -1 behind the last. */
int64_t model_ranks_next(const struct model_ranks *ranks, int64_t rank);
/* Reads a set; *ret_end is behind it. */
pl_status model_ranks_parse(const char *text, struct model_ranks *ret_ranks, const char **ret_end,
                            struct pl_error *error);
struct text;
void model_ranks_write(const struct model_ranks *ranks, struct text *text);

/* Numbers of ranks as a formula of the rank: exact, in whole numbers, never a least squares fit. Pure.
 *
 * The first of these forms that reproduces every number is taken: constant; affine; nested grid (idP/m and idP%m); few
 * affine pieces; sum or product of a function of idP/m and one of idP%m, as lists; a list. */

/* Appends the formula of values[i] for ranks[i], which ascend; count > 0. */
void model_fit(const int64_t *ranks, const int64_t *values, size_t count, struct text *text);

/* Appends "+c*variable" in its shortest form: nothing for 0, no "+" at `from`, where the formula begins. */
void model_fit_term(struct text *text, size_t from, int64_t factor, const char *variable);
/* The same for a number alone; "0" where nothing stands since `from`. */
void model_fit_constant(struct text *text, size_t from, int64_t number);

struct model_seq;
/* Appends "[…]", a list of the formula grammar, each number less `base`. */
void model_fit_list(struct text *text, const struct model_seq *list, int64_t base);
/* The same as one packed item, where at least half of the numbers, or of the runs of equal ones, stand alone; false:
 * they do not, and nothing was written. */
bool model_pack(struct text *text, const struct model_seq *list, int64_t base);
/* Appends `count` packed numbers to a list; *text is behind them then. */
bool model_unpack(const char **text, int64_t count, bool runs, struct model_seq *list);

#endif
