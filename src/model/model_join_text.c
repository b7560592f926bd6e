/* Formulas and patterns of joined steps: the columns of all their classes, put in the order of the ranks and fitted. */
#include "model/model_join.h"

#include "base/checked.h"
#include "model/model_formula.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    int64_t rank, value;
};

static int join_text_by_rank(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static const struct model_item *join_text_item_of(const struct model_part *part)
{
    return part->class->leaves[part->leaf].item;
}

/* Of what is never done, any number will do. */
static struct model_grid NOTHING_GRID;
static const struct model_seq NOTHING = {.grids = &NOTHING_GRID, .count = 1};

static const struct model_seq *join_text_param_of(const struct model_part *part, int param)
{
    if (part->leaf < 0)
        return &NOTHING;
    return &join_text_item_of(part)->params[param];
}

/* The column of a parameter's first number (level -1) or of a stride. */
static const struct model_seq *join_text_column_of(const struct model_part *part, int param, int level)
{
    int column = part->class->leaves[part->leaf].column;
    for (int i = 0; i < param; i++)
        column += 1 +
                  (model_seq_is_grid(join_text_param_of(part, i)) ? join_text_param_of(part, i)->grids[0].levels : 0);
    return &part->class->columns[column + 1 + level];
}

/* The numbers of all ranks of the parts, in the order of the ranks; NULL when memory is short (caller frees). */
static struct pair *join_text_gather(const struct model_part *parts, int count, int param, int level, size_t *ret_count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += (size_t)model_ranks_total(&parts[i].class->ranks);
    struct pair *pairs = malloc((total + 1) * sizeof *pairs);
    *ret_count = 0;
    for (int i = 0; i < count && pairs; i++) {
        const struct model_seq *column = parts[i].leaf < 0 ? NULL : join_text_column_of(&parts[i], param, level);
        int64_t index = 0;
        for (int64_t rank = -1; (rank = model_ranks_next(&parts[i].class->ranks, rank)) >= 0; index++)
            pairs[(*ret_count)++] = (struct pair){rank, column ? model_seq_at(column, index) : 0};
    }
    if (pairs && count > 1)
        qsort(pairs, *ret_count, sizeof *pairs, join_text_by_rank);
    return pairs;
}

static void join_text_fit_column(const struct model_part *parts, int count, int param, int level, struct text *text)
{
    size_t total;
    struct pair *pairs = join_text_gather(parts, count, param, level, &total);
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

static bool join_text_is_number(const char *text)
{
    text += *text == '-';
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Digit `level` of n, which counts a grid. */
static void join_text_write_digit(const struct model_grid *grid, int level, char *digit, size_t size)
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

static void join_text_add_stride(const struct model_part *parts, int count, int param, int level, size_t from,
                                 struct text *text)
{
    const struct model_grid *grid = &join_text_param_of(parts, param)->grids[0];
    struct text stride = {0};
    char digit[80];
    join_text_fit_column(parts, count, param, level, &stride);
    join_text_write_digit(grid, level, digit, sizeof digit);
    if (join_text_is_number(text_get(&stride)))
        model_fit_term(text, from, strtoll(text_get(&stride), NULL, 10), digit);
    else
        text_format(text, "%s%s*(%s)", text->length > from ? "+" : "", digit, text_get(&stride));
    text->failed |= stride.failed;
    text_clear(&stride);
}

/* Parts whose numbers have the same structure: what depends on the rank comes first, a constant last. */
static void join_text_write_alike(const struct model_part *parts, int count, int param, struct text *text)
{
    const size_t from = text->length;
    const struct model_seq *list = join_text_param_of(parts, param);
    struct text first = {0};
    join_text_fit_column(parts, count, param, -1, &first);
    const bool constant = join_text_is_number(text_get(&first));
    if (!constant)
        text_add(text, text_get(&first));
    if (!model_seq_is_grid(list)) {
        text_add(text, constant ? "" : "+");
        model_fit_list(text, list, model_seq_at(list, 0));
        text_add(text, "[n]");
    }
    for (int level = model_seq_is_grid(list) ? list->grids[0].levels - 1 : -1; level >= 0; level--)
        join_text_add_stride(parts, count, param, level, from, text);
    if (constant)
        model_fit_constant(text, from, strtoll(text_get(&first), NULL, 10));
    text->failed |= first.failed;
    text_clear(&first);
}

static bool join_text_is_alike(const struct model_part *a, const struct model_part *b, int param)
{
    int64_t by;
    const struct model_seq *x = join_text_param_of(a, param), *y = join_text_param_of(b, param);
    if (model_seq_is_grid(x) != model_seq_is_grid(y) || (a->leaf < 0) != (b->leaf < 0))
        return false;
    if (!model_seq_is_grid(x))
        return model_seq_is_moved(x, y, &by);
    if (x->grids[0].levels != y->grids[0].levels)
        return false;
    for (int level = 0; level + 1 < x->grids[0].levels;
         level++) /* how often the outermost turns is not in the formula */
        if (x->grids[0].count[level] != y->grids[0].count[level])
            return false;
    return true;
}

static void join_text_write_ranks(const struct model_part *parts, int count, struct text *text)
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
static int join_text_group(struct model_part *parts, int count, int param)
{
    int alike = 1;
    for (int i = 1; i < count; i++)
        if (join_text_is_alike(&parts[0], &parts[i], param)) {
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
    int alike = join_text_group(parts, joint->part_count, param);
    if (alike == joint->part_count) {
        join_text_write_alike(parts, alike, param, text);
    } else { /* each structure is a case */
        for (int at = 0; at < joint->part_count; at += alike) {
            alike = join_text_group(parts + at, joint->part_count - at, param);
            text_add(text, at ? ";" : "{");
            join_text_write_ranks(parts + at, alike, text);
            text_add(text, ":");
            join_text_write_alike(parts + at, alike, param, text);
        }
        text_add(text, "}");
    }
    free(parts);
}

/* The turns of a loop without a rule, of one class. */
static void join_text_write_turns(const struct model_part *part, struct text *text)
{
    const struct model_seq *turns = part->item && part->item->kind == MODEL_LOOP && !part->in_row &&
                                            part->item->param_count > 0
                                        ? &part->item->params[MODEL_PARAM_TURNS]
                                        : NULL;
    const size_t from = text->length;
    if (turns && !model_seq_is_grid(turns)) {
        model_fit_list(text, turns, 0);
        text_add(text, "[n]");
        return;
    }
    for (int level = turns ? turns->grids[0].levels - 1 : -1; level >= 0; level--) {
        char digit[80];
        join_text_write_digit(&turns->grids[0], level, digit, sizeof digit);
        model_fit_term(text, from, turns->grids[0].stride[level], digit);
    }
    model_fit_constant(text, from, turns ? turns->grids[0].base : part->turns);
}

static void join_text_write_free(const struct model_joint *joint, struct text *text)
{
    struct text first = {0};
    bool same = true;
    join_text_write_turns(&joint->parts[0], &first);
    for (int i = 1; i < joint->part_count && same; i++) {
        struct text other = {0};
        join_text_write_turns(&joint->parts[i], &other);
        same = strcmp(text_get(&first), text_get(&other)) == 0;
        text_clear(&other);
    }
    if (same)
        text_add(text, text_get(&first));
    for (int i = 0; i < joint->part_count && !same; i++) {
        text_add(text, i ? ";" : "{");
        join_text_write_ranks(&joint->parts[i], 1, text);
        text_add(text, ":");
        join_text_write_turns(&joint->parts[i], text);
    }
    text_add(text, same ? "" : "}");
    text->failed |= first.failed;
    text_clear(&first);
}

void model_join_turns(const struct model_joint *joint, struct text *text)
{
    if (joint->item->free) {
        join_text_write_free(joint, text);
        return;
    }
    size_t total = 0, count = 0;
    for (int i = 0; i < joint->part_count; i++)
        total += (size_t)model_ranks_total(&joint->parts[i].class->ranks);
    struct pair *pairs = malloc((total + 1) * sizeof *pairs);
    int64_t *ranks = malloc(2 * (total + 1) * sizeof *ranks);
    for (int i = 0; i < joint->part_count && pairs && ranks; i++)
        for (int64_t rank = -1; (rank = model_ranks_next(&joint->parts[i].class->ranks, rank)) >= 0;)
            pairs[count++] = (struct pair){rank, joint->parts[i].turns};
    if (pairs && ranks) {
        qsort(pairs, count, sizeof *pairs, join_text_by_rank);
        for (size_t i = 0; i < count; i++) {
            ranks[i] = pairs[i].rank;
            ranks[total + i] = pairs[i].value;
        }
        model_fit(ranks, ranks + total, count, text);
    } else {
        text->failed = true;
    }
    free(pairs);
    free(ranks);
}

void model_join_collectives(const struct model_joint *joint, struct text *text)
{
    bool is_cut = false;
    for (int i = 0; i < joint->part_count; i++)
        is_cut |= joint->parts[i].collectives >= 0;
    if (!is_cut) {
        model_join_formula(joint, MODEL_PARAM_COLLECTIVES, text);
        return;
    }
    /* cut ones are equally long, and meet equally long ones only */
    const struct model_part *part = &joint->parts[0];
    const int64_t each = part->collectives >= 0 ? part->collectives
                                                : model_seq_at(join_text_param_of(part, MODEL_PARAM_COLLECTIVES), 0);
    text_format(text, "%" PRId64, each);
}

void model_join_ranks(const struct model_joint *joint, struct model_ranks *ret_ranks, bool *ok)
{
    size_t count;
    *ret_ranks = (struct model_ranks){0};
    struct pair *pairs = join_text_gather(joint->parts, joint->part_count, 0, -1, &count);
    *ok = *ok && pairs;
    for (size_t i = 0; pairs && i < count; i++)
        *ok = *ok && model_ranks_add(ret_ranks, pairs[i].rank);
    free(pairs);
}

/* ---- patterns ---- */

static int join_text_digits_of(int64_t value)
{
    int digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

/* The n-th number of a parameter, for the rank that is number `member` of the class. */
static int64_t join_text_number_of(const struct model_part *part, int param, int64_t member, int64_t n)
{
    const struct model_seq *structure = join_text_param_of(part, param);
    struct model_grid grid = structure->grids[0];
    const int64_t first = model_seq_at(join_text_column_of(part, param, -1), member);
    if (!model_seq_is_grid(structure))
        return wrapping_add(wrapping_sub(model_seq_at(structure, n), model_seq_at(structure, 0)), first);
    grid.base = first;
    for (int level = 0; level < grid.levels; level++)
        grid.stride[level] = model_seq_at(join_text_column_of(part, param, level), member);
    return model_grid_at(&grid, n);
}

static bool join_text_part_is_unpadded(const struct model_part *part, int param)
{
    const int64_t ranks = model_ranks_total(&part->class->ranks),
                  each = model_seq_total(join_text_param_of(part, param));
    for (int64_t member = 0; member < ranks; member++)
        for (int64_t n = 0; n < each; n++)
            if (join_text_digits_of(join_text_number_of(part, param, member, n)) !=
                join_text_number_of(part, param + 1, member, n))
                return false;
    return true;
}

enum { LOOK_AT_MOST = 1 << 20 };

/* Whether no number of a name was written with zeros before it. Where there are too many to look at, it is not: then
 * the widths are told. */
static bool join_text_is_unpadded(const struct model_joint *joint, int param)
{
    int64_t looked = 0;
    for (int i = 0; i < joint->part_count; i++) {
        const struct model_part *part = &joint->parts[i];
        looked = saturating_add(looked, saturating_mul(model_ranks_total(&part->class->ranks),
                                                       model_seq_total(join_text_param_of(part, param))));
        if (looked > LOOK_AT_MOST || !join_text_part_is_unpadded(part, param))
            return false;
    }
    return true;
}

/* Text that is kept in a pattern: braces and quotes are escaped, as text_add_escaped() does with others. */
static void join_text_add_literal(struct text *text, const char *literal, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char one[2] = {literal[i], '\0'};
        if (strchr("{}\"", literal[i]))
            text_format(text, "\\x%02x", (unsigned)literal[i]);
        else
            text_add_escaped(text, one);
    }
}

static void join_text_add_name_slot(const struct model_joint *joint, int param, struct text *text)
{
    struct text value = {0}, width = {0};
    model_join_formula(joint, param, &value);
    model_join_formula(joint, param + 1, &width);
    if (join_text_is_number(text_get(&value)) && join_text_is_number(text_get(&width)))
        text_format(text, "%0*" PRId64, (int)strtol(text_get(&width), NULL, 10),
                    (int64_t)strtoll(text_get(&value), NULL, 10));
    else if (join_text_is_unpadded(joint, param))
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
            join_text_add_literal(text, literal, 1);
            continue;
        }
        join_text_add_name_slot(joint, param, text);
        param += 2;
    }
}

void model_join_detail(const struct model_joint *joint, int param, struct text *text)
{
    for (const char *at = joint->item->call.text, *literal; *at;) {
        if (!model_form_step(&at, &literal)) {
            join_text_add_literal(text, literal, 1);
            continue;
        }
        struct text value = {0};
        model_join_formula(joint, param++, &value);
        text_format(text, join_text_is_number(text_get(&value)) ? "%s" : "{%s}", text_get(&value));
        text->failed |= value.failed;
        text_clear(&value);
    }
}
