/* Numbers of ranks and of executions as formulas. */
#include "model/model_formula.h"

#include "base/checked.h"
#include "model/model_fold.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLE_MAX = 96, PIECES_MAX = 4 };

/* The ranks as first + i * step: formulas in i are easier to find. */
struct axis {
    char variable[VARIABLE_MAX]; /* i as a formula of idP: a word, or in brackets */
};

void model_fit_term(struct text *text, size_t from, int64_t factor, const char *variable)
{
    if (factor == 0)
        return;
    text_add(text, factor < 0 ? "-" : text->length > from ? "+" : "");
    text_add(text, variable);
    if (factor != 1 && factor != -1)
        text_format(text, "*%" PRIu64, factor < 0 ? -(uint64_t)factor : (uint64_t)factor);
}

void model_fit_constant(struct text *text, size_t from, int64_t number)
{
    if (number != 0 || text->length == from)
        text_format(text, "%s%" PRId64, number >= 0 && text->length > from ? "+" : "", number);
}

static void fit_add_item(struct text *text, const char *between, int64_t number, int64_t step, int64_t times)
{
    text_format(text, "%s%" PRId64, between, number);
    if (step != 0 && times > 1)
        text_format(text, "+%" PRId64, step);
    if (times > 1)
        text_format(text, "x%" PRId64, times);
}

static const char *fit_add_values(struct text *text, const struct model_seq *list, const struct model_grid *grid,
                                  int64_t base, const char *between)
{
    for (int64_t at = 0; at < grid->count[0]; at++, between = ",")
        fit_add_item(text, between, wrapping_sub(model_seq_grid_at(list, grid, at), base), 0, 1);
    return between;
}

void model_fit_list(struct text *text, const struct model_seq *list, int64_t base)
{
    const char *between = "[";
    if (list->value_count > 0 && model_pack(text, list, base))
        return;
    for (size_t i = 0; i < list->count; i++) {
        const struct model_grid *grid = &list->grids[i];
        if (grid->levels == MODEL_GRID_LIST) {
            between = fit_add_values(text, list, grid, base, between);
            continue;
        }
        int64_t inner = grid->levels ? grid->count[0] : 1;
        if (inner == 2 && grid->stride[0] != 0)
            inner = 1; /* two numbers make no step */
        for (int64_t at = 0; at < model_grid_total(grid); at += inner) {
            fit_add_item(text, between, wrapping_sub(model_grid_at(grid, at), base), inner > 1 ? grid->stride[0] : 0,
                         inner);
            between = ",";
        }
    }
    text_add(text, "]");
}

/* ---- the forms ---- */

/* Numbers beyond 2^63 are no formula: whoever reads it computes no farther either. */
static bool fit_is_affine(const int64_t *ranks, const int64_t *values, size_t count, int64_t *ret_factor)
{
    int64_t difference, wanted;
    *ret_factor = 0;
    if (count == 1)
        return true;
    if (!checked_sub(values[1], values[0], &difference) || difference % (ranks[1] - ranks[0]) != 0)
        return false;
    *ret_factor = difference / (ranks[1] - ranks[0]);
    for (size_t i = 2; i < count; i++)
        if (!checked_sub(values[i], values[0], &difference) ||
            !checked_mul(*ret_factor, ranks[i] - ranks[0], &wanted) || difference != wanted)
            return false;
    return true;
}

/* values[i] = factor * ranks[i] + constant. Alone, a number is its own constant. */
static bool fit_terms(const int64_t *ranks, const int64_t *values, size_t count, int64_t *ret_factor,
                      int64_t *ret_constant)
{
    int64_t before;
    return fit_is_affine(ranks, values, count, ret_factor) && checked_mul(*ret_factor, ranks[0], &before) &&
           checked_sub(values[0], before, ret_constant);
}

static bool fit_affine(const int64_t *ranks, const int64_t *values, size_t count, struct text *text)
{
    int64_t factor, constant;
    const size_t from = text->length;
    if (!fit_terms(ranks, values, count, &factor, &constant))
        return false;
    model_fit_term(text, from, factor, "idP");
    model_fit_constant(text, from, constant);
    return true;
}

/* values[i] = base + Σ stride[j] * digit j of i, as the grid of a sequence finds it. */
static bool fit_grid(const struct axis *axis, const struct model_seq *values, struct text *text)
{
    const struct model_grid *grid = &values->grids[0];
    const size_t from = text->length;
    int64_t below = 1;
    if (values->count != 1 || grid->levels < 2)
        return false;
    for (int i = 0; i < grid->levels; i++) {
        char digit[VARIABLE_MAX + 64], divided[VARIABLE_MAX + 32];
        if (below > 1)
            snprintf(divided, sizeof divided, "%s/%" PRId64, axis->variable, below);
        else
            snprintf(divided, sizeof divided, "%s", axis->variable);
        below *= grid->count[i];
        if (i + 1 < grid->levels)
            snprintf(digit, sizeof digit, "%s%%%" PRId64, divided, grid->count[i]);
        else
            snprintf(digit, sizeof digit, "%s", divided);
        model_fit_term(text, from, grid->stride[i], digit);
    }
    model_fit_constant(text, from, grid->base);
    return true;
}

/* How many numbers from `from` on one affine formula gives; three at least, or what is left, unless they are alone. */
static size_t fit_piece_length(const int64_t *ranks, const int64_t *values, size_t from, size_t count)
{
    size_t length = 1;
    int64_t factor, constant;
    assert(from < count);
    while (from + length < count && fit_terms(ranks + from, values + from, length + 1, &factor, &constant) &&
           ranks[from + length] - ranks[from] == (int64_t)length * (ranks[from + 1] - ranks[from]))
        length++;
    const bool whim = length == 2 && values[from] != values[from + 1] && from + 2 < count;
    return whim ? 1 : length;
}

static void fit_write_piece(const int64_t *ranks, const int64_t *values, size_t count, struct text *text)
{
    struct model_ranks set = {0};
    for (size_t i = 0; i < count; i++)
        text->failed |= !model_ranks_add(&set, ranks[i]);
    model_ranks_write(&set, text);
    model_ranks_clear(&set);
    text_add(text, ":");
    const bool is_affine = fit_affine(ranks, values, count, text);
    assert(is_affine); /* as fit_piece_length() found */
    (void)is_affine;
}

static bool fit_pieces(const int64_t *ranks, const int64_t *values, size_t count, size_t most, struct text *text)
{
    size_t pieces = 0;
    for (size_t at = 0; at < count; at += fit_piece_length(ranks, values, at, count))
        if (++pieces > most)
            return false;
    for (size_t at = 0, length; at < count; at += length) {
        length = fit_piece_length(ranks, values, at, count);
        text_add(text, at ? ";" : "{");
        fit_write_piece(ranks + at, values + at, length, text);
    }
    text_add(text, "}");
    return true;
}

/* values[i] = values[i/m*m] + values[i%m] - values[0] for all i: or the same with products. */
static bool fit_separates(const int64_t *values, size_t count, size_t m, bool product)
{
    assert(m > 0 && count % m == 0);
    for (size_t i = 0; i < count; i++) {
        const int64_t row = values[i - i % m], column = values[i % m];
        int64_t left, right;
        if (!product ? values[i] != wrapping_sub(wrapping_add(row, column), values[0])
                     : __builtin_mul_overflow(values[i], values[0], &left) ||
                           __builtin_mul_overflow(row, column, &right) || left != right)
            return false;
    }
    return true;
}

static void fit_write_list(struct text *text, const int64_t *values, size_t count, size_t step, int64_t base)
{
    struct model_seq list = {0};
    for (size_t i = 0; i < count; i += step)
        text->failed |= !model_seq_add(&list, values[i]);
    model_fit_list(text, &list, base);
    model_seq_clear(&list);
}

static void fit_write_separable(const struct axis *axis, const int64_t *values, size_t count, size_t m, bool product,
                                struct text *text)
{
    fit_write_list(text, values, count, m, 0);
    text_format(text, "[%s/%zu]%s", axis->variable, m, product ? "*" : "+");
    fit_write_list(text, values, m, 1, product ? 0 : values[0]);
    text_format(text, "[%s%%%zu]", axis->variable, m);
    if (product)
        text_format(text, "/%" PRId64, values[0]);
}

/* The m with the shortest lists that works; it divides the number of ranks. */
static bool fit_separable(const struct axis *axis, const int64_t *values, size_t count, struct text *text)
{
    size_t best = 0;
    bool product = false;
    for (size_t m = 2; m <= count / 2; m++) {
        const size_t length = m + count / m;
        if (count % m != 0 || length > count / 2 + 1 || (best && length >= best + count / best))
            continue;
        if (fit_separates(values, count, m, false)) {
            best = m;
            product = false;
        } else if (values[0] != 0 && fit_separates(values, count, m, true)) {
            best = m;
            product = true;
        }
    }
    if (best)
        fit_write_separable(axis, values, count, best, product, text);
    return best > 0;
}

static void fit_table(const struct axis *axis, const struct model_seq *values, struct text *text)
{
    model_fit_list(text, values, 0);
    text_format(text, "[%s]", axis->variable);
}

static bool fit_make_axis(const int64_t *ranks, size_t count, struct axis *ret_axis)
{
    const int64_t step = count > 1 ? ranks[1] - ranks[0] : 1;
    assert(step > 0); /* ranks ascend */
    for (size_t i = 1; i < count; i++)
        if (ranks[i] - ranks[i - 1] != step)
            return false;
    char from[VARIABLE_MAX / 2] = "idP";
    if (ranks[0] > 0)
        snprintf(from, sizeof from, "(idP-%" PRId64 ")", ranks[0]);
    if (step > 1)
        snprintf(ret_axis->variable, sizeof ret_axis->variable, "(%s/%" PRId64 ")", from, step);
    else
        snprintf(ret_axis->variable, sizeof ret_axis->variable, "%s", from);
    return true;
}

/* What is fitted must give the numbers back. Looked at where that costs little and nothing can overflow. */
static bool fit_gives_back(const int64_t *ranks, const int64_t *values, size_t count, const struct text *text,
                           size_t from)
{
    enum { CHECKED_MAX = 64 };
    const int64_t most = INT64_C(1) << 30;
    struct model_formula *formula = NULL;
    struct pl_error error;
    int64_t value;
    bool good = true;
    for (size_t i = 0; i < count; i++)
        if (count > CHECKED_MAX || text->failed || values[i] > most || values[i] < -most)
            return true;
    const pl_status status = model_formula_parse(text->data + from, NULL, &formula, NULL, &error);
    for (size_t i = 0; i < count && status == PL_OK && good; i++)
        good = model_formula_value(formula, ranks[i], 0, &value) && value == values[i];
    model_formula_free(formula);
    return status == PL_E_NOMEM || (status == PL_OK && good);
}

void model_fit(const int64_t *ranks, const int64_t *values, size_t count, struct text *text)
{
    struct axis axis;
    struct model_seq seq = {0};
    const size_t from = text->length;
    assert(count > 0);
    if (fit_affine(ranks, values, count, text))
        return;
    if (!fit_make_axis(ranks, count, &axis)) { /* any set of ranks */
        fit_pieces(ranks, values, count, count, text);
        assert(fit_gives_back(ranks, values, count, text, from));
        return;
    }
    const size_t most = count / 3 < 2 ? 2 : count / 3 < PIECES_MAX ? count / 3 : PIECES_MAX;
    for (size_t i = 0; i < count; i++)
        text->failed |= !model_seq_add(&seq, values[i]);
    if (!fit_grid(&axis, &seq, text) && !fit_pieces(ranks, values, count, most, text) &&
        !fit_separable(&axis, values, count, text))
        fit_table(&axis, &seq, text);
    assert(fit_gives_back(ranks, values, count, text, from));
    model_seq_clear(&seq);
}
