/* Making a distribution: everything that can be wrong about it is found here, and said. */
#include "dist/dist_core.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t ELEMENTS_MAX = INT64_C(1) << 62;

/* Where a message goes. */
struct complaint {
    char *message;
    size_t size;
};

int dist_fail(char *message, size_t message_size, int code, const char *format, ...)
{
    if (message && message_size) {
        va_list args;
        va_start(args, format);
        vsnprintf(message, message_size, format, args);
        va_end(args);
    }
    return code;
}

#define SHAPE_FAIL(where, ...) dist_fail((where)->message, (where)->size, PIOLET_DIST_E_SHAPE, __VA_ARGS__)

static const char NO_TEXT[] = "the specification of the distribution is none that a text could give";

static int check_array(const struct piolet_dist_shape *shape, const struct complaint *where, int64_t *ret_elements)
{
    if (shape->dims < 1 || shape->dims > PIOLET_DIST_DIMS_MAX)
        return SHAPE_FAIL(where, "the array has %d dimensions; allowed: 1 to %d", shape->dims, PIOLET_DIST_DIMS_MAX);
    if (shape->order != PIOLET_DIST_COLUMN_ORDER && shape->order != PIOLET_DIST_ROW_ORDER)
        return SHAPE_FAIL(where, "order %d is neither column order nor row order", (int)shape->order);
    if (shape->procs < 1 || shape->procs > INT_MAX)
        return SHAPE_FAIL(where, "%" PRId64 " processes; allowed: 1 to %d", shape->procs, INT_MAX);
    int64_t elements = 1;
    for (int d = 0; d < shape->dims; d++) {
        if (shape->size[d] < 1)
            return SHAPE_FAIL(where, "dimension %d of the array has size %" PRId64 "; allowed: 1 and more", d + 1,
                              shape->size[d]);
        if (shape->size[d] > ELEMENTS_MAX / elements)
            return SHAPE_FAIL(where, "the array has more than 2^62 elements");
        elements *= shape->size[d];
    }
    *ret_elements = elements;
    return PIOLET_DIST_OK;
}

static int64_t dist_make_square_root(int64_t number)
{
    int64_t root = 0;
    while ((root + 1) * (root + 1) <= number)
        root++;
    return root;
}

static int check_multipartition(const struct piolet_dist_shape *shape, const struct complaint *where)
{
    if (shape->dims != 3)
        return SHAPE_FAIL(where, "multipartition needs an array of 3 dimensions, not %d", shape->dims);
    const int64_t root = dist_make_square_root(shape->procs);
    if (root * root != shape->procs)
        return SHAPE_FAIL(where,
                          "multipartition needs a square number of processes (1, 4, 9, 16, ...), not %" PRId64
                          "; the nearest are %" PRId64 " and %" PRId64,
                          shape->procs, root * root, (root + 1) * (root + 1));
    return PIOLET_DIST_OK;
}

static int check_rule(const struct piolet_dist_rule *rule, int64_t grid, int dimension, const struct complaint *where)
{
    if (rule->kind == PIOLET_DIST_CYCLIC && rule->block < 1)
        return SHAPE_FAIL(where, "dimension %d: CYCLIC(%" PRId64 "): blocks have 1 element or more", dimension,
                          rule->block);
    if (rule->kind == PIOLET_DIST_WHOLE && grid > 1)
        return SHAPE_FAIL(where,
                          "dimension %d is '*', not distributed: the process grid must be 1 there (or 0), not %" PRId64,
                          dimension, grid);
    if (grid < 0)
        return SHAPE_FAIL(where, "the process grid is %" PRId64 " in dimension %d; allowed: 1 and more, or 0 to choose",
                          grid, dimension);
    return PIOLET_DIST_OK;
}

static int check_rules(const struct piolet_dist_spec *spec, const struct piolet_dist_shape *shape,
                       const struct complaint *where)
{
    char text[PIOLET_DIST_TEXT_MAX];
    const int formatted = piolet_dist_format(spec, text, sizeof text);
    if (spec->rules != shape->dims)
        return SHAPE_FAIL(where, "%s has rules for %d dimension%s, but the array has %d",
                          formatted ? "the distribution" : text, spec->rules, spec->rules == 1 ? "" : "s", shape->dims);
    if (spec->transposed && shape->dims < 2)
        return SHAPE_FAIL(where, "transposed needs an array of 2 dimensions or more, not %d", shape->dims);
    for (int d = 0; d < shape->dims; d++) {
        const int status = check_rule(&spec->rule[d], shape->grid[d], d + 1, where);
        if (status)
            return status;
    }
    return formatted ? SHAPE_FAIL(where, NO_TEXT) : PIOLET_DIST_OK;
}

/* All kinds but the rules take no grid. */
static int check_no_grid(const struct piolet_dist_spec *spec, const struct piolet_dist_shape *shape,
                         const struct complaint *where)
{
    char text[PIOLET_DIST_TEXT_MAX];
    if (piolet_dist_format(spec, text, sizeof text) != PIOLET_DIST_OK)
        return SHAPE_FAIL(where, NO_TEXT);
    for (int d = 0; d < shape->dims; d++)
        if (shape->grid[d])
            return SHAPE_FAIL(where, "%s takes no process grid (dimension %d: %" PRId64 ")", text, d + 1,
                              shape->grid[d]);
    return PIOLET_DIST_OK;
}

static int64_t largest_prime_factor(int64_t number)
{
    int64_t largest = 1;
    for (int64_t factor = 2; factor * factor <= number; factor++)
        while (number % factor == 0) {
            largest = factor;
            number /= factor;
        }
    return number > 1 ? number : largest;
}

/* Puts the `left` processes on the dimensions marked free: each prime factor, from the largest down, goes to the
 * dimension that has fewest; then larger ones first. */
static void grid_choose(struct piolet_dist_shape *shape, const bool *is_free, int64_t left)
{
    while (left > 1) {
        const int64_t factor = largest_prime_factor(left);
        int fewest = -1;
        for (int d = 0; d < shape->dims; d++)
            if (is_free[d] && (fewest < 0 || shape->grid[d] < shape->grid[fewest]))
                fewest = d;
        assert(fewest >= 0);
        shape->grid[fewest] *= factor;
        left /= factor;
    }
    for (int d = 0; d < shape->dims; d++)
        for (int later = d + 1; later < shape->dims; later++)
            if (is_free[d] && is_free[later] && shape->grid[later] > shape->grid[d]) {
                const int64_t swapped = shape->grid[d];
                shape->grid[d] = shape->grid[later];
                shape->grid[later] = swapped;
            }
}

static void grid_text(const struct piolet_dist_shape *shape, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < shape->dims && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, d ? " x " : "", shape->grid[d]);
}

/* Fills in what the user left open. The messages show the grid as it was given. */
static int grid_complete(const struct piolet_dist_spec *spec, struct piolet_dist_shape *shape,
                         const struct complaint *where)
{
    char given[96];
    grid_text(shape, given, sizeof given);
    bool is_free[PIOLET_DIST_DIMS_MAX] = {false}, is_any_free = false;
    int64_t product = 1;
    for (int d = 0; d < shape->dims; d++) {
        is_free[d] = spec->rule[d].kind != PIOLET_DIST_WHOLE && shape->grid[d] == 0;
        is_any_free = is_any_free || is_free[d];
        if (shape->grid[d] == 0)
            shape->grid[d] = 1;
        if (shape->grid[d] > shape->procs / product)
            return SHAPE_FAIL(where, "the process grid %s is for more than the %" PRId64 " processes there are", given,
                              shape->procs);
        product *= shape->grid[d];
    }
    if (product != shape->procs && !is_any_free)
        return SHAPE_FAIL(where, "the process grid %s is for %" PRId64 " process%s, but there are %" PRId64, given,
                          product, product == 1 ? "" : "es", shape->procs);
    if (shape->procs % product)
        return SHAPE_FAIL(where, "the process grid %s cannot be filled up: %" PRId64 " does not divide %" PRId64, given,
                          product, shape->procs);
    grid_choose(shape, is_free, shape->procs / product);
    return PIOLET_DIST_OK;
}

static int check_fit(const struct piolet_dist_spec *spec, struct piolet_dist_shape *shape,
                     const struct complaint *where)
{
    int status;
    if (spec->kind == PIOLET_DIST_RULES) {
        status = check_rules(spec, shape, where);
        return status ? status : grid_complete(spec, shape, where);
    }
    status = check_no_grid(spec, shape, where);
    if (!status && spec->kind == PIOLET_DIST_MULTIPARTITION)
        status = check_multipartition(shape, where);
    for (int d = 0; d < shape->dims; d++)
        shape->grid[d] = 1;
    return status;
}

/* Random and scatter see the file as one line; the rest has an axis for each dimension, fastest first. */
static void fill_axes(struct piolet_dist *dist)
{
    const bool is_line = dist->spec.kind == PIOLET_DIST_RANDOM || dist->spec.kind == PIOLET_DIST_SCATTER;
    dist->axes = is_line ? 1 : dist->shape.dims;
    int64_t pitch = 1;
    for (int a = 0; a < dist->axes; a++) {
        const int d = dist_dimension(dist, a);
        struct dist_axis_rule *axis = &dist->axis[a];
        *axis = (struct dist_axis_rule){.size = dist->shape.size[d], .pitch = pitch, .grid = 1, .rank_pitch = 1};
        if (is_line)
            *axis = (struct dist_axis_rule){.size = dist->elements,
                                            .pitch = 1,
                                            .rule = {PIOLET_DIST_CYCLIC, dist->block},
                                            .grid = dist->shape.procs,
                                            .rank_pitch = 1};
        if (dist->spec.kind == PIOLET_DIST_MULTIPARTITION) {
            axis->rule.kind = PIOLET_DIST_BALANCED;
            axis->grid = dist->cells;
        } else if (dist->spec.kind == PIOLET_DIST_RULES) {
            axis->rule = dist->spec.rule[d];
            axis->grid = dist->shape.grid[d];
            for (int before = 0; before < d; before++)
                axis->rank_pitch *= dist->shape.grid[before];
        }
        pitch *= axis->size;
    }
    assert(pitch == dist->elements);
}

/* 0 for the kinds that have no blocks. No block is larger than the array: products stay within 64 bits. */
static int64_t block_elements(const struct piolet_dist *dist)
{
    if (dist->spec.kind != PIOLET_DIST_RANDOM && dist->spec.kind != PIOLET_DIST_SCATTER)
        return 0;
    const int64_t block = dist->spec.block ? dist->spec.block : dist_ceil_div(dist->elements, dist->shape.procs);
    return block < dist->elements ? block : dist->elements;
}

int piolet_dist_new(const struct piolet_dist_spec *spec, const struct piolet_dist_shape *shape, piolet_dist **ret_dist,
                    char *message, size_t message_size)
{
    const struct complaint where = {message, message_size};
    struct piolet_dist made = {.spec = *spec, .shape = *shape};
    int status = check_array(shape, &where, &made.elements);
    if (!status)
        status = check_fit(spec, &made.shape, &where);
    if (status)
        return status;
    made.cells = spec->kind == PIOLET_DIST_MULTIPARTITION ? dist_make_square_root(shape->procs) : 0;
    made.block = block_elements(&made);
    made.blocks = made.block ? dist_ceil_div(made.elements, made.block) : 0;
    fill_axes(&made);
    struct piolet_dist *dist = malloc(sizeof *dist);
    if (!dist)
        return dist_fail(message, message_size, PIOLET_DIST_E_MEMORY, "not enough memory for a distribution");
    *dist = made;
    *ret_dist = dist;
    return PIOLET_DIST_OK;
}

void piolet_dist_free(piolet_dist *dist)
{
    free(dist);
}
