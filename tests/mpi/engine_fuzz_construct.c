/* The constructors of engine_fuzz's datatypes. What they promise one another: a type's extent is positive and no
 * smaller than the span of its data, so copies side by side never overlap, and ascend where the type itself does. */
#include "engine_fuzz_construct.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 6 };

/* Blocks of copies of one kid. Lengths count copies, displacements bytes. */
struct blocks {
    int n;
    int64_t length[BLOCKS], at[BLOCKS];
};

static int64_t span(const struct type *type)
{
    return type_true_ub(type) - type_true_lb(type);
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static void list_text(char *text, size_t size, int n, const int64_t *lengths, const int64_t *at, int64_t unit)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld@%lld", i ? " " : "", (long long)lengths[i],
                                 (long long)(at[i] / unit));
}

/* The data and bounds of blocks, whatever constructor made them. */
static struct type *finish(struct type *type, struct type *kid, int n, const int64_t *lengths, const int64_t *at)
{
    int64_t lb = INT64_MAX, ub = INT64_MIN;
    for (int i = 0; i < n; i++) {
        for (int64_t j = 0; j < lengths[i]; j++) {
            const int64_t place = at[i] + j * kid->extent;
            type_append(type, kid, place);
            lb = place + kid->lb < lb ? place + kid->lb : lb;
            ub = place + kid->lb + kid->extent > ub ? place + kid->lb + kid->extent : ub;
        }
    }
    return type_end(type, kid, type->size ? lb : 0, type->size ? ub - lb : 0);
}

struct type *type_contiguous(struct type *kid, int64_t count)
{
    struct type *type = type_begin(kid, "contiguous(%lld)", (long long)count);
    const int64_t at = 0;
    if (kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_contiguous((int)count, kid->mpi, &type->mpi);
    return finish(type, kid, 1, &count, &at);
}

struct type *type_resized(struct type *kid, int64_t lb, int64_t extent)
{
    struct type *type = type_begin(kid, "resized(%lld, %lld)", (long long)lb, (long long)extent);
    if (kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_create_resized(kid->mpi, lb, extent, &type->mpi);
    type_append(type, kid, 0);
    type->is_marked = true;
    return type_end(type, kid, lb, extent);
}

struct type *type_hindexed(struct type *kid, int n, const int64_t *lengths, const int64_t *displacements)
{
    char list[400];
    list_text(list, sizeof list, n, lengths, displacements, 1);
    struct type *type = type_begin(kid, "hindexed(%s)", list);
    if (kid->mpi != MPI_DATATYPE_NULL) {
        int *counts = allocate((size_t)n * sizeof *counts);
        MPI_Aint *at = allocate((size_t)n * sizeof *at);
        for (int i = 0; i < n; i++) {
            counts[i] = (int)lengths[i];
            at[i] = displacements[i];
        }
        MPI_Type_create_hindexed(n, counts, at, kid->mpi, &type->mpi);
        free(counts);
        free(at);
    }
    return finish(type, kid, n, lengths, displacements);
}

/* ---- drawing ---- */

/* Blocks that do not overlap, in ascending order for files, in any order for memory. Displacements are multiples of
 * `unit` bytes. */
static struct blocks draw_blocks(struct random *random, const struct type *kid, const struct type_style *style,
                                 int64_t unit, bool equal)
{
    struct blocks blocks = {.n = (int)random_between(random, 1, BLOCKS)};
    const int64_t length = random_between(random, 1, 3), wide = span(kid);
    int64_t place = style->is_file || !has(FEATURE_memlb) ? 0 : -unit * random_between(random, 0, 3);
    const bool leave_front = has(style->is_file ? FEATURE_lb : FEATURE_memlb) && random_chance(random, 30);
    place += leave_front ? unit * random_between(random, 1, 4) : 0;
    for (int i = 0; i < blocks.n; i++) {
        int64_t count = equal ? length : random_between(random, i ? 0 : 1, 3);
        if (count == 0 && !has(FEATURE_zeroblock))
            count = 1;
        blocks.length[i] = count;
        blocks.at[i] = count ? place : unit * random_between(random, 0, 9);
        if (count) /* the next one's first byte lies behind this one's last */
            place += round_up((count - 1) * kid->extent + wide, unit) +
                     unit * (random_chance(random, 50) ? 0 : random_between(random, 1, 5));
    }
    for (int i = blocks.n - 1; i > 0 && !style->is_file && has(FEATURE_negative); i--) {
        const int other = (int)random_between(random, 0, i);
        const int64_t at = blocks.at[i], count = blocks.length[i];
        blocks.at[i] = blocks.at[other];
        blocks.length[i] = blocks.length[other];
        blocks.at[other] = at;
        blocks.length[other] = count;
    }
    return blocks;
}

static struct type *draw_vector(struct random *random, struct type *kid, const struct type_style *style, bool is_bytes)
{
    const int count = (int)random_between(random, 1, 5), length = (int)random_between(random, 1, 4);
    const bool backwards = !style->is_file && has(FEATURE_negative) && random_chance(random, 40);
    int64_t stride = is_bytes ? round_up((length - 1) * kid->extent + span(kid), style->unit) +
                                    style->unit * random_between(random, 0, 6)
                              : length + random_between(random, 0, 3);
    /* one unit more: Open MPI takes hvector(3, 1, -1) of bytes for a row of bytes that ascend */
    stride = backwards ? -stride - (is_bytes ? style->unit : 1) : stride;
    struct type *type = type_begin(kid, "%svector(%d, %d, %lld)", is_bytes ? "h" : "", count, length,
                                   (long long)stride);
    if (kid->mpi != MPI_DATATYPE_NULL && is_bytes)
        MPI_Type_create_hvector(count, length, stride, kid->mpi, &type->mpi);
    else if (kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_vector(count, length, (int)stride, kid->mpi, &type->mpi);
    int64_t lengths[5], at[5];
    for (int i = 0; i < count; i++) {
        lengths[i] = length;
        at[i] = i * stride * (is_bytes ? 1 : kid->extent);
    }
    return finish(type, kid, count, lengths, at);
}

static struct type *draw_indexed(struct random *random, struct type *kid, const struct type_style *style, bool equal)
{
    const struct blocks blocks = draw_blocks(random, kid, style, kid->extent, equal);
    char list[200];
    int counts[BLOCKS], at[BLOCKS];
    list_text(list, sizeof list, blocks.n, blocks.length, blocks.at, kid->extent);
    struct type *type = type_begin(kid, "%s(%s)", equal ? "indexed_block" : "indexed", list);
    for (int i = 0; i < blocks.n; i++) {
        counts[i] = (int)blocks.length[i];
        at[i] = (int)(blocks.at[i] / kid->extent);
    }
    if (kid->mpi != MPI_DATATYPE_NULL && equal)
        MPI_Type_create_indexed_block(blocks.n, counts[0], at, kid->mpi, &type->mpi);
    else if (kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_indexed(blocks.n, counts, at, kid->mpi, &type->mpi);
    return finish(type, kid, blocks.n, blocks.length, blocks.at);
}

static struct type *draw_hindexed(struct random *random, struct type *kid, const struct type_style *style, bool equal)
{
    const struct blocks blocks = draw_blocks(random, kid, style, style->unit, equal);
    char list[200];
    MPI_Aint at[BLOCKS];
    if (!equal)
        return type_hindexed(kid, blocks.n, blocks.length, blocks.at);
    list_text(list, sizeof list, blocks.n, blocks.length, blocks.at, 1);
    struct type *type = type_begin(kid, "hindexed_block(%s)", list);
    for (int i = 0; i < blocks.n; i++)
        at[i] = blocks.at[i];
    if (kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_create_hindexed_block(blocks.n, (int)blocks.length[0], at, kid->mpi, &type->mpi);
    return finish(type, kid, blocks.n, blocks.length, blocks.at);
}

enum { PARTS = 4 };

struct parts {
    int n, counts[PARTS];
    const struct type *types[PARTS];
    int64_t at[PARTS];
};

/* Of the kid and of the plain element, one behind the other. */
static struct parts draw_parts(struct random *random, const struct type *kid, const struct type *base, int64_t unit)
{
    struct parts parts = {.n = (int)random_between(random, 1, PARTS)};
    /* where only one of them has bounds that were set, MPICH and Open MPI disagree on those of the whole */
    const bool is_mixing = kid->is_marked == base->is_marked;
    int64_t place = 0;
    for (int i = 0; i < parts.n; i++) {
        const struct type *type = parts.types[i] = is_mixing && random_chance(random, 40) ? base : kid;
        parts.counts[i] = (int)random_between(random, i && has(FEATURE_zeroblock) ? 0 : 1, 2);
        place += unit * (i ? random_between(random, 0, 2) : 0);
        const int64_t at = place - type_true_lb(type);
        parts.at[i] = at > 0 ? round_up(at, unit) : 0;
        if (parts.counts[i])
            place = parts.at[i] + (parts.counts[i] - 1) * type->extent + type_true_ub(type);
    }
    return parts;
}

static void struct_bounds(const struct parts *parts, int64_t *ret_lb, int64_t *ret_extent)
{
    int64_t lb = INT64_MAX, ub = INT64_MIN;
    for (int i = 0; i < parts->n; i++) {
        const struct type *part = parts->types[i];
        const int64_t low = parts->at[i] + part->lb, high = low + parts->counts[i] * part->extent;
        if (parts->counts[i] == 0)
            continue;
        lb = low < lb ? low : lb;
        ub = high > ub ? high : ub;
    }
    *ret_lb = lb;
    *ret_extent = ub - lb;
}

static struct type *make_struct(struct type *kid, const struct parts *parts)
{
    MPI_Datatype types[PARTS];
    MPI_Aint at[PARTS];
    char list[200];
    size_t used = 0;
    int64_t lb, extent;
    for (int i = 0; i < parts->n; i++) {
        types[i] = parts->types[i]->mpi;
        at[i] = parts->at[i];
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d %s @%lld", i ? ", " : "", parts->counts[i],
                                 parts->types[i] == kid ? "x" : "element", (long long)at[i]);
    }
    struct type *type = type_begin(kid, "struct{%s} where x is", list);
    for (int i = 0; i < parts->n; i++) {
        for (int j = 0; j < parts->counts[i]; j++)
            type_append(type, parts->types[i], parts->at[i] + j * parts->types[i]->extent);
    }
    if (kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_create_struct(parts->n, parts->counts, at, types, &type->mpi);
    struct_bounds(parts, &lb, &extent);
    return type_end(type, kid, lb, extent);
}

static struct type *draw_struct(struct random *random, struct type *kid, const struct type *base,
                                const struct type_style *style)
{
    const struct parts parts = draw_parts(random, kid, base, style->unit);
    struct type *type = make_struct(kid, &parts);
    const int64_t low = type_true_lb(type), high = type_true_ub(type);
    if (type->extent >= high - low && (!style->is_file || has(FEATURE_lb) || type->lb == 0))
        return type;
    return type_resized(type, style->is_file ? 0 : low, round_up(style->is_file ? high : high - low, style->unit));
}

static struct type *draw_resized(struct random *random, struct type *kid, const struct type_style *style)
{
    const int64_t unit = style->unit, low = type_true_lb(kid), high = type_true_ub(kid);
    if (!style->is_file) {
        const int64_t lb = has(FEATURE_memlb) ? kid->lb + unit * random_between(random, -4, 4) : kid->lb;
        return type_resized(kid, lb, round_up(high - low, unit) + unit * random_between(random, 0, 4));
    }
    if (has(FEATURE_tight) && random_chance(random, 20))
        return type_resized(kid, 0, round_up(high - low, unit) + unit * random_between(random, 0, 1));
    return type_resized(kid, 0,
                        round_up(high, unit) + unit * (random_chance(random, 40) ? 0 : random_between(random, 1, 8)));
}

/* A part of an array, or the part of one rank of a distributed one. */
static struct type *draw_array(struct random *random, struct type *kid, bool is_darray)
{
    struct array array = {.dims = (int)random_between(random, 1, 3), .procs = 1};
    array.order = random_chance(random, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int i = 0; i < array.dims; i++) {
        array.sizes[i] = (int)random_between(random, 1, 6);
        array.part[i] = (int)random_between(random, 1, array.sizes[i]);
        array.start[i] = (int)random_between(random, 0, array.sizes[i] - array.part[i]);
        const int kind = (int)random_between(random, 0, 2);
        array.kinds[i] = (const int[]){MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}[kind];
        array.grid[i] = kind ? (int)random_between(random, 1, 3) : 1;
        array.arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (kind == 2 && random_chance(random, 60))
            array.arguments[i] = (int)random_between(random, 1, 3);
        if (kind == 1 && random_chance(random, 30))
            array.arguments[i] = (array.sizes[i] + array.grid[i] - 1) / array.grid[i] + 1;
        array.procs *= array.grid[i];
    }
    array.rank = (int)random_between(random, 0, array.procs - 1);
    if (kid->lb != 0)
        kid = type_resized(kid, 0, kid->extent + (kid->lb > 0 ? kid->lb : 0));
    if (!is_darray)
        return type_subarray(kid, &array);
    struct type *copy = type_dup(kid, kid->mpi != MPI_DATATYPE_NULL), *type = type_darray(kid, &array);
    if (type->size == 0) {
        type_free(type);
        return copy;
    }
    type_free(copy);
    return type;
}

static struct type *draw_dup(struct type *kid)
{
    struct type *type = type_dup(kid, kid->mpi != MPI_DATATYPE_NULL);
    type_free(kid);
    return type;
}

struct type *construct_draw(struct random *random, struct type *kid, const struct type *base,
                            const struct type_style *style)
{
    for (;;) {
        const int first = FEATURE_vector, last = FEATURE_contiguous;
        const enum feature feature = (enum feature)random_between(random, first, last);
        if (!has(feature) && random_chance(random, 99)) /* where nothing is wanted, something comes out in the end */
            continue;
        switch (feature) {
        case FEATURE_vector:
            return draw_vector(random, kid, style, false);
        case FEATURE_hvector:
            return draw_vector(random, kid, style, true);
        case FEATURE_indexed:
            return draw_indexed(random, kid, style, false);
        case FEATURE_indexed_block:
            return draw_indexed(random, kid, style, true);
        case FEATURE_hindexed:
            return draw_hindexed(random, kid, style, false);
        case FEATURE_hindexed_block:
            return draw_hindexed(random, kid, style, true);
        case FEATURE_struct:
            return draw_struct(random, kid, base, style);
        case FEATURE_subarray:
            return draw_array(random, kid, false);
        case FEATURE_darray:
            return draw_array(random, kid, true);
        case FEATURE_resized:
            return draw_resized(random, kid, style);
        case FEATURE_dup:
            return draw_dup(kid);
        default:
            return type_contiguous(kid, random_between(random, 1, 5));
        }
    }
}
