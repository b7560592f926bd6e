/* Formulas and patterns of joined steps: the columns of all their classes, put in the order of the ranks and fitted. */
#include "model/model_join.h"

#include "base/checked.h"
#include "model/model_fit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    int64_t rank, value;
};

static int by_rank(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static const struct model_item *item_of(const struct model_part *part)
{
    return part->class->leaves[part->leaf].item;
}

static const struct model_seq *param_of(const struct model_part *part, int param)
{
    return &item_of(part)->params[param];
}

/* The column of a parameter's first number (level -1) or of a stride. */
static const struct model_seq *column_of(const struct model_part *part, int param, int level)
{
    int column = part->class->leaves[part->leaf].column;
    if (param == MODEL_SIZE)
        return &part->class->columns[column];
    column++;
    for (int i = 0; i < param; i++)
        column += 1 + (param_of(part, i)->count == 1 ? param_of(part, i)->grids[0].levels : 0);
    return &part->class->columns[column + 1 + level];
}

/* The numbers of all ranks of the parts, in the order of the ranks; NULL when memory is short (caller frees). */
static struct pair *gather(const struct model_part *parts, int count, int param, int level, size_t *ret_count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += (size_t)model_ranks_total(&parts[i].class->ranks);
    struct pair *pairs = malloc((total + 1) * sizeof *pairs);
    *ret_count = 0;
    for (int i = 0; i < count && pairs; i++) {
        const struct model_seq *column = column_of(&parts[i], param, level);
        int64_t index = 0;
        for (int64_t rank = -1; (rank = model_ranks_next(&parts[i].class->ranks, rank)) >= 0; index++)
            pairs[(*ret_count)++] = (struct pair){rank, model_seq_at(column, index)};
    }
    if (pairs && count > 1)
        qsort(pairs, *ret_count, sizeof *pairs, by_rank);
    return pairs;
}

static void fit_column(const struct model_part *parts, int count, int param, int level, struct text *text)
{
    size_t total;
    struct pair *pairs = gather(parts, count, param, level, &total);
    int64_t *ranks = malloc(2 * (total + 1) * sizeof *ranks);
    if (pairs && ranks) {
        int64_t *values = ranks + total;
        for (size_t i = 0; i < total; i++) {
            ranks[i] = pairs[i].rank;
            values[i] = pairs[i].value;
        }
        model_fit(ranks, values, total, text);
    } else {
        text->failed = true;
    }
    free(pairs);
    free(ranks);
}

static bool is_number(const char *text)
{
    text += *text == '-';
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Digit `level` of n, which counts a grid. */
static void write_digit(const struct model_grid *grid, int level, char *digit, size_t size)
{
    int64_t below = 1;
    for (int i = 0; i < level; i++)
        below *= grid->count[i];
    int length = snprintf(digit, size, "n");
    if (below > 1)
        length += snprintf(digit + length, size - (size_t)length, "/%" PRId64, below);
    if (level + 1 < grid->levels)
        snprintf(digit + length, size - (size_t)length, "%%%" PRId64, grid->count[level]);
}

static void add_stride(const struct model_part *parts, int count, int param, int level, size_t from, struct text *text)
{
    const struct model_grid *grid = &param_of(parts, param)->grids[0];
    struct text stride = {0};
    char digit[80];
    fit_column(parts, count, param, level, &stride);
    write_digit(grid, level, digit, sizeof digit);
    if (is_number(text_get(&stride)))
        model_fit_term(text, from, strtoll(text_get(&stride), NULL, 10), digit);
    else
        text_format(text, "%s%s*(%s)", text->length > from ? "+" : "", digit, text_get(&stride));
    text->failed |= stride.failed;
    text_clear(&stride);
}

/* Parts whose numbers have the same structure: what depends on the rank comes first, a constant last. */
static void write_alike(const struct model_part *parts, int count, int param, struct text *text)
{
    const size_t from = text->length;
    const struct model_seq *list = param == MODEL_SIZE ? NULL : param_of(parts, param);
    struct text first = {0};
    fit_column(parts, count, param, -1, &first);
    const bool constant = is_number(text_get(&first));
    if (!constant)
        text_add(text, text_get(&first));
    if (list && list->count > 1) {
        text_add(text, constant ? "" : "+");
        model_fit_list(text, list, list->grids[0].base);
        text_add(text, "[n]");
    }
    for (int level = list && list->count == 1 ? list->grids[0].levels - 1 : -1; level >= 0; level--)
        add_stride(parts, count, param, level, from, text);
    if (constant)
        model_fit_constant(text, from, strtoll(text_get(&first), NULL, 10));
    text->failed |= first.failed;
    text_clear(&first);
}

static bool is_alike(const struct model_part *a, const struct model_part *b, int param)
{
    int64_t by;
    if (param == MODEL_SIZE)
        return true;
    const struct model_seq *x = param_of(a, param), *y = param_of(b, param);
    if (x->count != y->count)
        return false;
    if (x->count > 1)
        return model_seq_is_moved(x, y, &by);
    if (x->grids[0].levels != y->grids[0].levels)
        return false;
    return memcmp(x->grids[0].count, y->grids[0].count, sizeof x->grids[0].count[0] * (size_t)x->grids[0].levels) == 0;
}

static void write_ranks(const struct model_part *parts, int count, struct text *text)
{
    struct model_joint all = {.parts = (struct model_part *)parts, .part_count = count};
    struct model_ranks ranks;
    bool ok = true;
    model_join_ranks(&all, &ranks, &ok);
    model_ranks_write(&ranks, text);
    model_ranks_clear(&ranks);
    text->failed |= !ok;
}

/* Moves the parts that are like parts[0] to the front; returns how many. */
static int group(struct model_part *parts, int count, int param)
{
    int alike = 1;
    for (int i = 1; i < count; i++)
        if (is_alike(&parts[0], &parts[i], param)) {
            const struct model_part part = parts[i];
            parts[i] = parts[alike];
            parts[alike++] = part;
        }
    return alike;
}

void model_join_formula(const struct model_joint *joint, int param, struct text *text)
{
    struct model_part *parts = malloc(((size_t)joint->part_count + 1) * sizeof *parts);
    if (!parts) {
        text->failed = true;
        return;
    }
    memcpy(parts, joint->parts, (size_t)joint->part_count * sizeof *parts);
    int alike = group(parts, joint->part_count, param);
    if (alike == joint->part_count) {
        write_alike(parts, alike, param, text);
    } else { /* each structure is a case */
        for (int at = 0; at < joint->part_count; at += alike) {
            alike = group(parts + at, joint->part_count - at, param);
            text_add(text, at ? ";" : "{");
            write_ranks(parts + at, alike, text);
            text_add(text, ":");
            write_alike(parts + at, alike, param, text);
        }
        text_add(text, "}");
    }
    free(parts);
}

void model_join_ranks(const struct model_joint *joint, struct model_ranks *ret_ranks, bool *ok)
{
    size_t count;
    *ret_ranks = (struct model_ranks){0};
    struct pair *pairs = gather(joint->parts, joint->part_count, MODEL_SIZE, -1, &count);
    *ok = *ok && pairs;
    for (size_t i = 0; pairs && i < count; i++)
        *ok = *ok && model_ranks_add(ret_ranks, pairs[i].rank);
    free(pairs);
}

/* ---- patterns ---- */

static int digits_of(int64_t value)
{
    int digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

/* The n-th number of a parameter, for the rank that is number `member` of the class. */
static int64_t number_of(const struct model_part *part, int param, int64_t member, int64_t n)
{
    const struct model_seq *structure = param_of(part, param);
    struct model_grid grid = structure->grids[0];
    const int64_t first = model_seq_at(column_of(part, param, -1), member);
    if (structure->count > 1)
        return wrapping_add(wrapping_sub(model_seq_at(structure, n), grid.base), first);
    grid.base = first;
    for (int level = 0; level < grid.levels; level++)
        grid.stride[level] = model_seq_at(column_of(part, param, level), member);
    return model_grid_at(&grid, n);
}

static bool part_is_unpadded(const struct model_part *part, int param)
{
    const int64_t ranks = model_ranks_total(&part->class->ranks), each = model_seq_total(param_of(part, param));
    for (int64_t member = 0; member < ranks; member++)
        for (int64_t n = 0; n < each; n++)
            if (digits_of(number_of(part, param, member, n)) != number_of(part, param + 1, member, n))
                return false;
    return true;
}

enum { LOOK_AT_MOST = 1 << 20 };

/* Whether no number of a name was written with zeros before it. Where there are too many to look at, it is not: then
 * the widths are told. */
static bool is_unpadded(const struct model_joint *joint, int param)
{
    int64_t looked = 0;
    for (int i = 0; i < joint->part_count; i++) {
        const struct model_part *part = &joint->parts[i];
        looked = saturating_add(
            looked, saturating_mul(model_ranks_total(&part->class->ranks), model_seq_total(param_of(part, param))));
        if (looked > LOOK_AT_MOST || !part_is_unpadded(part, param))
            return false;
    }
    return true;
}

/* Text that is kept in a pattern: braces and quotes are escaped, as text_add_escaped() does with others. */
static void add_literal(struct text *text, const char *literal, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char one[2] = {literal[i], '\0'};
        if (strchr("{}\"", literal[i]))
            text_format(text, "\\x%02x", (unsigned)literal[i]);
        else
            text_add_escaped(text, one);
    }
}

static void add_name_slot(const struct model_joint *joint, int param, struct text *text)
{
    struct text value = {0}, width = {0};
    model_join_formula(joint, param, &value);
    model_join_formula(joint, param + 1, &width);
    if (is_number(text_get(&value)) && is_number(text_get(&width)))
        text_format(text, "%0*" PRId64, (int)strtol(text_get(&width), NULL, 10),
                    (int64_t)strtoll(text_get(&value), NULL, 10));
    else if (is_unpadded(joint, param))
        text_format(text, "{%s}", text_get(&value));
    else
        text_format(text, "{%s:%s}", text_get(&value), text_get(&width));
    text->failed |= value.failed || width.failed;
    text_clear(&value);
    text_clear(&width);
}

void model_join_name(const struct model_joint *joint, int param, struct text *text)
{
    for (const char *at = joint->item->call.name, *literal; *at;) {
        if (!model_form_step(&at, &literal)) {
            add_literal(text, literal, 1);
            continue;
        }
        add_name_slot(joint, param, text);
        param += 2;
    }
}

void model_join_detail(const struct model_joint *joint, int param, struct text *text)
{
    for (const char *at = joint->item->call.text, *literal; *at;) {
        if (!model_form_step(&at, &literal)) {
            add_literal(text, literal, 1);
            continue;
        }
        struct text value = {0};
        model_join_formula(joint, param++, &value);
        text_format(text, is_number(text_get(&value)) ? "%s" : "{%s}", text_get(&value));
        text->failed |= value.failed;
        text_clear(&value);
    }
}
