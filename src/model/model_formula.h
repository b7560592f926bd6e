/* Formulas of a model: whole numbers as functions of the rank (idP) and of the number of executions before (n).
 *
 *     expression := term { ("+" | "-") term }          term   := factor { ("*" | "/" | "%") factor }
 *     factor     := NUMBER | "idP" | "n" | "-" factor | "(" expression ")" | list "[" expression "]" | cases
 *     list       := "[" item { "," item } "]"          item   := NUMBER [ "+" NUMBER ] [ "x" COUNT ]
 *     cases      := "{" case { ";" case } "}"          case   := ranks ":" expression
 *     ranks      := range { "," range }                range  := FIRST [ "-" LAST [ "/" STEP ] ]
 *
 * No blanks. An item VxC stands for C times V, V+SxC for V, V+S, V+2S, … (C of them); the first of a list is number 0.
 * "/" rounds toward zero. Numbers are 64 bits; a formula that divides by zero, goes beyond a list, or meets a rank that
 * no case names has no value. Pure. */
#ifndef PIOLET_MODEL_FORMULA_H
#define PIOLET_MODEL_FORMULA_H

#include "base/status.h"

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

#endif
