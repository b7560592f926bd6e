/* Kernels: what tells cases apart, as columns of a table or as a label, and what they have in common. */
#include "bench/iot/iot_kernel.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 32 };

/* Keys of hints or of further parameters: those whose values differ, and the others. */
struct kernel_keys {
    const char *varying[KEYS_MAX], *fixed[KEYS_MAX];
    size_t varying_count, fixed_count;
};

bool kernel_columns_hold(const char *const *keys, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void columns_add_key(struct kernel_keys *keys, const struct kernel_case *const *cases, size_t count,
                            enum kernel_facet facet, const char *key)
{
    if (kernel_columns_hold(keys->varying, keys->varying_count, key) ||
        kernel_columns_hold(keys->fixed, keys->fixed_count, key))
        return;
    const char *first = kernel_keyed(cases[0], facet, key);
    bool varies = false;
    for (size_t i = 1; i < count && !varies; i++) {
        const char *value = kernel_keyed(cases[i], facet, key);
        varies = (value == NULL) != (first == NULL) || (value && strcmp(value, first) != 0);
    }
    if (varies && keys->varying_count < KEYS_MAX)
        keys->varying[keys->varying_count++] = key;
    else if (!varies && keys->fixed_count < KEYS_MAX)
        keys->fixed[keys->fixed_count++] = key;
}

static struct kernel_keys columns_find_keys(const struct kernel *kernel, const struct kernel_case *const *cases,
                                            size_t count, enum kernel_facet facet)
{
    struct kernel_keys keys = {.varying_count = 0};
    for (size_t i = 0; i < count; i++) {
        const struct blockfile_set *set = cases[i]->first.set;
        for (size_t p = 0; facet == KERNEL_OTHER && p < set->param_count; p++)
            if (kernel_is_other(kernel, set->params[p].key))
                columns_add_key(&keys, cases, count, facet, set->params[p].key);
        for (size_t h = 0; facet == KERNEL_HINTS && h < set->hint_count; h++)
            if (!set->hints[h].used)
                columns_add_key(&keys, cases, count, facet, set->hints[h].key);
    }
    return keys;
}

/* Bytes as people read them; as they are where that would hide a difference. */
static void columns_add_bytes(struct text *text, const char *digits, bool exact)
{
    int64_t bytes;
    char buffer[UNITS_TEXT_MAX];
    if (exact || !units_parse_int(digits, 0, INT64_MAX, &bytes))
        text_add(text, digits);
    else
        text_add(text, units_bytes(bytes, buffer));
}

static void columns_add_cell(struct text *text, const struct kernel_case *c, enum kernel_facet facet,
                             const struct kernel_keys *keys, bool exact)
{
    const char *raw = c->facets[facet];
    const char *least = blockfile_param_of(c->first.set, "blockmin_bytes");
    const char *most = blockfile_param_of(c->first.set, "blockmax_bytes");
    if (facet == KERNEL_HINTS || facet == KERNEL_OTHER) {
        for (size_t i = 0; i < keys->varying_count; i++) {
            const char *value = kernel_keyed(c, facet, keys->varying[i]);
            if (keys->varying_count > 1)
                text_format(text, "%s%s=", i ? " " : "", keys->varying[i]);
            text_add(text, value && *value ? value : "-");
        }
    } else if (raw[0] == '\0') {
        text_add(text, "-");
    } else if (facet == KERNEL_BLOCK && least && most) {
        columns_add_bytes(text, least, exact);
        text_add(text, "-");
        columns_add_bytes(text, most, exact);
    } else if (facet == KERNEL_BLOCK || (facet == KERNEL_SIZE && !blockfile_param_of(c->first.set, "xsize"))) {
        columns_add_bytes(text, raw, exact);
    } else if (facet == KERNEL_ACCESS) {
        text_add(text, strcmp(raw, "true") == 0 ? "coll" : "indep");
    } else {
        text_add(text, raw);
    }
}

static void columns_fill(struct kernel_column *column, const struct kernel_case *const *cases, size_t count,
                         const struct kernel_keys *keys, bool exact)
{
    for (size_t i = 0; i < count; i++) {
        struct text text = {0};
        columns_add_cell(&text, cases[i], column->facet, keys, exact);
        free(column->cells[i]);
        column->cells[i] = memory_copy(text_get(&text));
        text_clear(&text);
    }
}

/* Two different values that look the same. */
static bool columns_hide(const struct kernel_column *column, const struct kernel_case *const *cases, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(column->cells[i], column->cells[j]) == 0 &&
                strcmp(cases[i]->facets[column->facet], cases[j]->facets[column->facet]) != 0)
                return true;
    return false;
}

static const char *columns_header(enum kernel_facet facet, const struct kernel_keys *keys)
{
    if (facet == KERNEL_HINTS || facet == KERNEL_OTHER)
        return keys->varying_count == 1 ? keys->varying[0] : KERNEL_FACET_NAMES[facet];
    return facet == KERNEL_ACCESS ? "access" : facet == KERNEL_UPDATE ? "update" : KERNEL_FACET_NAMES[facet];
}

static void columns_add_fixed(struct text *fixed, const struct kernel_case *c, enum kernel_facet facet,
                              const struct kernel_keys *keys)
{
    if (facet == KERNEL_HINTS || facet == KERNEL_OTHER) {
        for (size_t i = 0; i < keys->fixed_count; i++) {
            const char *value = kernel_keyed(c, facet, keys->fixed[i]);
            text_format(fixed, "%s%s%s %s", fixed->length ? ", " : "", facet == KERNEL_HINTS ? "hint " : "",
                        keys->fixed[i], value ? value : "-");
        }
        return;
    }
    if (c->facets[facet][0] == '\0')
        return;
    text_add(fixed, fixed->length ? ", " : "");
    if (facet == KERNEL_ACCESS) {
        text_add(fixed, strcmp(c->facets[facet], "true") == 0 ? "collective" : "independent");
        return;
    }
    text_format(fixed, "%s ", columns_header(facet, keys));
    columns_add_cell(fixed, c, facet, keys, false);
}

/* Facets in `skip` (bits) are left out. */
struct kernel_columns kernel_columns_of(const struct kernel *kernel, const struct kernel_case *const *cases,
                                        size_t count, unsigned skip)
{
    struct kernel_columns columns = {.rows = count};
    assert(count > 0);
    for (int i = 0; i < KERNEL_FACETS; i++) {
        const enum kernel_facet facet = (enum kernel_facet)i;
        bool varies = false;
        if (skip & 1U << i)
            continue;
        const struct kernel_keys keys = columns_find_keys(kernel, cases, count, facet);
        for (size_t c = 1; c < count && !varies; c++)
            varies = strcmp(cases[c]->facets[facet], cases[0]->facets[facet]) != 0;
        if (varies) {
            struct kernel_column *column = &columns.columns[columns.count++];
            *column = (struct kernel_column){facet, columns_header(facet, &keys), memory_new(count, sizeof(char *))};
            columns_fill(column, cases, count, &keys, false);
            if ((facet == KERNEL_SIZE || facet == KERNEL_BLOCK) && columns_hide(column, cases, count))
                columns_fill(column, cases, count, &keys, true);
        }
        if (!varies || facet == KERNEL_HINTS || facet == KERNEL_OTHER)
            columns_add_fixed(&columns.fixed, cases[0], facet, &keys);
    }
    return columns;
}

void kernel_columns_clear(struct kernel_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        for (size_t row = 0; row < columns->rows; row++)
            free(columns->columns[i].cells[row]);
        free(columns->columns[i].cells);
    }
    text_clear(&columns->fixed);
}

/* "2x2, cb_nodes 4": the row in one text; what all have in common where nothing tells it apart. */
void kernel_columns_label(const struct kernel_columns *columns, size_t row, struct text *label)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct kernel_column *column = &columns->columns[i];
        const char *cell = column->cells[row];
        text_add(label, i ? ", " : "");
        if (column->facet == KERNEL_ACCESS)
            text_add(label, strcmp(cell, "coll") == 0 ? "collective" : "independent");
        else if (column->facet >= KERNEL_BLOCK && !strchr(cell, '='))
            text_format(label, "%s %s", column->header, cell);
        else
            text_add(label, cell);
    }
    if (label->length == 0)
        text_add(label, columns->fixed.length ? text_get(&columns->fixed) : "all selected sets");
}
