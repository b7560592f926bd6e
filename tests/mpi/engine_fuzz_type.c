/* Datatypes of engine_fuzz: the parts that every constructor needs, the elementary types, and random nesting. */
#include "engine_fuzz_type.h"
#include "engine_fuzz_construct.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 700 };

struct type *type_begin(const struct type *kid, const char *format, ...)
{
    struct type *type = allocate(sizeof *type);
    char head[TEXT_MAX - 200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(head, sizeof head, format, arguments);
    va_end(arguments);
    type->mpi = MPI_DATATYPE_NULL;
    type->text = allocate(TEXT_MAX);
    type->align = kid ? kid->align : 1;
    type->is_marked = kid && kid->is_marked;
    if (kid)
        snprintf(type->text, TEXT_MAX, "%s of %s", head, kid->text);
    else
        snprintf(type->text, TEXT_MAX, "%s", head);
    return type;
}

void type_append(struct type *type, const struct type *kid, int64_t displacement)
{
    const int64_t size = type->size + kid->size;
    type->at = realloc(type->at, (size_t)(size ? size : 1) * sizeof *type->at);
    type->left = realloc(type->left, (size_t)(size ? size : 1));
    if (!type->at || !type->left)
        give_up("no memory");
    for (int64_t i = 0; i < kid->size; i++) {
        type->at[type->size + i] = displacement + kid->at[i];
        type->left[type->size + i] = kid->left[i];
    }
    type->size = size;
    type->is_uncountable = type->is_uncountable || kid->is_uncountable;
}

/* MPI's idea of a type's size and bounds; a difference is no matter of I/O, but would make every check worthless. */
static void compare_bounds(const struct type *type)
{
    MPI_Aint lb, extent;
    MPI_Count size;
    MPI_Type_get_extent(type->mpi, &lb, &extent);
    MPI_Type_size_x(type->mpi, &size);
    if (size != type->size || (type->size > 0 && (lb != type->lb || extent != type->extent)))
        complain("MPI says size %lld, lower bound %lld, extent %lld, but it must be %lld, %lld, %lld: %s",
                 (long long)size, (long long)lb, (long long)extent, (long long)type->size, (long long)type->lb,
                 (long long)type->extent, type->text);
}

/* Whether MPI_Pack takes the bytes from where the model says: not needed for the model, but a guard against a mistake
 * in it. Each byte of memory tells its place, the lower half in one pass and the upper in another. */
static void compare_pack(const struct type *type)
{
    const int64_t low = type_true_lb(type), bytes = type_true_ub(type) - low;
    uint8_t *memory = allocate((size_t)bytes), *packed = allocate((size_t)type->size);
    int64_t wrong = 0;
    for (int shift = 0; shift < 16; shift += 8) {
        int used = 0;
        for (int64_t i = 0; i < bytes; i++)
            memory[i] = (uint8_t)(i >> shift);
        MPI_Pack(memory - low, 1, type->mpi, packed, (int)type->size, &used, MPI_COMM_SELF);
        for (int64_t i = 0; i < type->size; i++)
            wrong += packed[i] != (uint8_t)((type->at[i] - low) >> shift);
    }
    if (wrong)
        complain("MPI_Pack takes %lld bytes from other places than this program: %s", (long long)wrong, type->text);
    free(memory);
    free(packed);
}

struct type *type_end(struct type *type, struct type *kid, int64_t lb, int64_t extent)
{
    type->lb = lb;
    type->extent = extent;
    if (type->mpi != MPI_DATATYPE_NULL) {
        MPI_Type_commit(&type->mpi);
        compare_bounds(type);
        if (type->size > 0 && has(FEATURE_pack))
            compare_pack(type);
    }
    type_free(kid);
    return type;
}

void type_free(struct type *type)
{
    int integers, addresses, types, combiner;
    if (!type)
        return;
    if (type->mpi != MPI_DATATYPE_NULL) {
        MPI_Type_get_envelope(type->mpi, &integers, &addresses, &types, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&type->mpi);
    }
    free(type->at);
    free(type->left);
    free(type->text);
    free(type);
}

int64_t type_true_lb(const struct type *type)
{
    int64_t lowest = type->size ? type->at[0] : 0;
    for (int64_t i = 1; i < type->size; i++)
        lowest = type->at[i] < lowest ? type->at[i] : lowest;
    return lowest;
}

int64_t type_true_ub(const struct type *type)
{
    int64_t highest = type->size ? type->at[0] + 1 : 0;
    for (int64_t i = 1; i < type->size; i++)
        highest = type->at[i] + 1 > highest ? type->at[i] + 1 : highest;
    return highest;
}

struct type *type_dup(const struct type *kid, bool is_mine)
{
    struct type *type = type_begin(kid, "dup");
    if (is_mine && kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_dup(kid->mpi, &type->mpi);
    type_append(type, kid, 0);
    return type_end(type, NULL, kid->lb, kid->extent);
}

/* ---- elementary types: basic elements at given places ---- */

struct etype {
    const char *text;
    int basics, bytes[3], at[3]; /* of one element */
    int extent, align;
};

static const struct etype ETYPE[ETYPES] = {
    {"byte", 1, {1}, {0}, 1, 1},
    {"int", 1, {4}, {0}, 4, 4},
    {"double", 1, {8}, {0}, 8, 8},
    {"byte", 1, {1}, {0}, 1, 1}, /* twice: there is no freer type */
    {"short", 1, {2}, {0}, 2, 2},
    {"contiguous(3, int)", 3, {4, 4, 4}, {0, 4, 8}, 12, 4},
    {"contiguous(3, byte)", 3, {1, 1, 1}, {0, 1, 2}, 3, 1},
    {"double_int", 2, {8, 4}, {0, 8}, 16, 8},
    {"short_int", 2, {2, 4}, {0, 4}, 8, 4},
    {"struct{int 0, double 8; 24}", 2, {4, 8}, {0, 8}, 24, 8},
    {"resized(int; 0, 12)", 1, {4}, {0}, 12, 4},
    {"struct{short 4, int 8; 20}", 2, {2, 4}, {4, 8}, 20, 4},
};

static MPI_Datatype basic(int bytes)
{
    return bytes == 1 ? MPI_BYTE : bytes == 2 ? MPI_SHORT : bytes == 4 ? MPI_INT : MPI_DOUBLE;
}

static MPI_Datatype make_etype(const struct etype *etype, int which)
{
    MPI_Datatype parts[3], packed, result;
    MPI_Aint at[3];
    const int ones[3] = {1, 1, 1};
    if (which == 7)
        return MPI_DOUBLE_INT;
    if (which == 8)
        return MPI_SHORT_INT;
    if (etype->basics == 1 && etype->extent == etype->bytes[0])
        return basic(etype->bytes[0]);
    if (which == 5 || which == 6) {
        MPI_Type_contiguous(3, basic(etype->bytes[0]), &result);
    } else {
        for (int i = 0; i < etype->basics; i++) {
            parts[i] = basic(etype->bytes[i]);
            at[i] = etype->at[i];
        }
        MPI_Type_create_struct(etype->basics, ones, at, parts, &packed);
        MPI_Type_create_resized(packed, 0, etype->extent, &result);
        MPI_Type_free(&packed);
    }
    MPI_Type_commit(&result);
    return result;
}

struct type *type_etype(int which, bool is_mine)
{
    const struct etype *etype = &ETYPE[which];
    struct type *type = type_begin(NULL, "%s", etype->text);
    for (int i = 0; i < etype->basics; i++) {
        int64_t at[8];
        uint8_t left[8];
        for (int j = 0; j < etype->bytes[i]; j++) {
            at[j] = j;
            left[j] = (uint8_t)(etype->bytes[i] - 1 - j);
        }
        const struct type part = {.size = etype->bytes[i], .at = at, .left = left};
        type_append(type, &part, etype->at[i]);
    }
    type->align = etype->align;
    type->extent = etype->extent;
    type->is_uncountable = which == 7 || which == 8 || which == 9 || which == 11;
    type->is_marked = which >= 9;
    if (is_mine) {
        type->mpi = make_etype(etype, which);
        compare_bounds(type);
    }
    return type;
}

int type_draw_etype(struct random *random)
{
    for (;;) {
        const int which = (int)random_between(random, 0, ETYPES - 1);
        if ((which == 7 || which == 8) && !has(FEATURE_pair))
            continue;
        if (which >= 9 && !has(FEATURE_holes))
            continue;
        return which;
    }
}

bool type_has_gaps(int which)
{
    return which >= 7; /* pairs, and etypes with holes */
}

bool type_is_bytes(int which)
{
    return ETYPE[which].extent == 1;
}

/* ---- nesting ---- */

struct type *type_draw(struct random *random, const struct type *base, const struct type_style *style)
{
    struct type *type = type_dup(base, style->is_mine);
    const int levels = has(FEATURE_nested) ? (int)random_between(random, 0, 4) : (int)random_between(random, 0, 1);
    for (int level = 0; level < levels; level++) {
        if (type->size * 4 > style->most || type->extent * 4 > style->most * 8)
            break;
        type = construct_draw(random, type, base, style);
    }
    /* a single odd constructor may have let it grow too large */
    if (type->size > style->most || type->extent > style->most * 8) {
        type_free(type);
        type = type_dup(base, style->is_mine);
    }
    return type;
}
