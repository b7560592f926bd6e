/* Data representations of MPI datatypes: datarep [SEED [CASES]]. Called by datarep.sh, on one rank.
 * Random types are built twice: as MPI datatypes, and as a plain list of elements with their places in memory and in
 * the file. Memory comes from support/type_trial.h: it is counted, and one request fails where a test wants it. */
#include <mpi.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "engine/datarep/datarep.h"
#include "engine/typemap/typemap.h"
#include "engine/typemap/typemap_node.h"
#include "mpi/real.h"
#include "support/type_trial.h"

static struct pl_error error;
static const struct datarep *external32;

static void ok(int line, pl_status status)
{
    if (status)
        complain(line, "%s: %s", pl_status_name(status), error.text);
}
#define OK(call) ok(__LINE__, call)

/* ---- Predefined types -------------------------------------------------------------------------------------------- */

enum form { SWAPPED, LONG_AS_32, WIDE_AS_16, EXTENDED, TRUTH };

/* One value; a complex number is one with two parts. */
struct value {
    enum form form;
    int native, file, parts; /* bytes of a part on both sides */
};

/* A predefined type, and whether MPI_Pack_external is right with it. MPICH 4.0.2 ends the program for wchar_t, for
 * pairs and for most structs, and swaps a complex number of Fortran, or of C++'s long double, as a whole. Open
 * MPI 4.1.4 has four bytes for a wchar_t, and moves the bits of an x87 number to where no format has them, those of
 * MPI_REAL16, too. */
struct leaf {
    MPI_Datatype type;
    const char *name;
    bool mpich_is_right, openmpi_is_right;
    int n, places[2]; /* of its values in memory */
    struct value values[2];
};

#define ONE(type, mpich, openmpi, form, native, file, parts)                                                           \
    {                                                                                                                  \
        type, #type, mpich, openmpi, 1, {0},                                                                           \
        {                                                                                                              \
            {                                                                                                          \
                form, native, file, parts                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }
#define VALUE(form, native, file)                                                                                      \
    {                                                                                                                  \
        form, native, file, 1                                                                                          \
    }
#define INT_VALUE VALUE(SWAPPED, 4, 4)
#define PAIR(type, openmpi, second_at, first, second)                                                                  \
    {                                                                                                                  \
        type, #type, false, openmpi, 2, {0, second_at},                                                                \
        {                                                                                                              \
            first, second                                                                                              \
        }                                                                                                              \
    }

enum { LEAVES_MAX = 100 };
static struct leaf leaves[LEAVES_MAX];
static int n_leaves;

static void add_leaves(const struct leaf *table, size_t bytes)
{
    memcpy(leaves + n_leaves, table, bytes);
    n_leaves += (int)(bytes / sizeof *table);
}

static void list_types(void)
{
    const struct leaf table[] = {
        ONE(MPI_CHAR, 1, 1, SWAPPED, 1, 1, 1),
        ONE(MPI_SIGNED_CHAR, 1, 1, SWAPPED, 1, 1, 1),
        ONE(MPI_UNSIGNED_CHAR, 1, 1, SWAPPED, 1, 1, 1),
        ONE(MPI_BYTE, 1, 1, SWAPPED, 1, 1, 1),
        ONE(MPI_PACKED, 1, 1, SWAPPED, 1, 1, 1),
        ONE(MPI_WCHAR, 0, 0, WIDE_AS_16, 4, 2, 1),
        ONE(MPI_SHORT, 1, 1, SWAPPED, 2, 2, 1),
        ONE(MPI_UNSIGNED_SHORT, 1, 1, SWAPPED, 2, 2, 1),
        ONE(MPI_INT, 1, 1, SWAPPED, 4, 4, 1),
        ONE(MPI_UNSIGNED, 1, 1, SWAPPED, 4, 4, 1),
        ONE(MPI_LONG, 1, 1, LONG_AS_32, 8, 4, 1),
        ONE(MPI_UNSIGNED_LONG, 1, 1, LONG_AS_32, 8, 4, 1),
        ONE(MPI_LONG_LONG, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_UNSIGNED_LONG_LONG, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_FLOAT, 1, 1, SWAPPED, 4, 4, 1),
        ONE(MPI_DOUBLE, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_LONG_DOUBLE, 1, 0, EXTENDED, 16, 16, 1),
        ONE(MPI_INT8_T, 1, 1, SWAPPED, 1, 1, 1),
        ONE(MPI_UINT16_T, 1, 1, SWAPPED, 2, 2, 1),
        ONE(MPI_INT32_T, 1, 1, SWAPPED, 4, 4, 1),
        ONE(MPI_UINT64_T, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_AINT, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_OFFSET, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_COUNT, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_C_BOOL, 1, 1, TRUTH, 1, 1, 1),
        ONE(MPI_C_FLOAT_COMPLEX, 1, 1, SWAPPED, 4, 4, 2),
        ONE(MPI_C_DOUBLE_COMPLEX, 1, 1, SWAPPED, 8, 8, 2),
        ONE(MPI_C_LONG_DOUBLE_COMPLEX, 1, 0, EXTENDED, 16, 16, 2),
        ONE(MPI_CXX_BOOL, 1, 1, TRUTH, 1, 1, 1),
        ONE(MPI_CXX_FLOAT_COMPLEX, 1, 1, SWAPPED, 4, 4, 2),
        ONE(MPI_CXX_DOUBLE_COMPLEX, 1, 1, SWAPPED, 8, 8, 2),
        ONE(MPI_CXX_LONG_DOUBLE_COMPLEX, 0, 0, EXTENDED, 16, 16, 2),

        PAIR(MPI_FLOAT_INT, 1, 4, INT_VALUE, INT_VALUE),
        PAIR(MPI_DOUBLE_INT, 1, 8, VALUE(SWAPPED, 8, 8), INT_VALUE),
        PAIR(MPI_LONG_INT, 1, 8, VALUE(LONG_AS_32, 8, 4), INT_VALUE),
        PAIR(MPI_SHORT_INT, 1, 4, VALUE(SWAPPED, 2, 2), INT_VALUE),
        PAIR(MPI_LONG_DOUBLE_INT, 0, 16, VALUE(EXTENDED, 16, 16), INT_VALUE),
        PAIR(MPI_2INT, 1, 4, INT_VALUE, INT_VALUE),
        PAIR(MPI_2INTEGER, 1, 4, INT_VALUE, INT_VALUE),
        PAIR(MPI_2REAL, 1, 4, INT_VALUE, INT_VALUE),
        PAIR(MPI_2DOUBLE_PRECISION, 1, 8, VALUE(SWAPPED, 8, 8), VALUE(SWAPPED, 8, 8)),
        ONE(MPI_CHARACTER, 1, 1, SWAPPED, 1, 1, 1),
        ONE(MPI_LOGICAL, 1, 1, TRUTH, 4, 4, 1),
        ONE(MPI_INTEGER, 1, 1, SWAPPED, 4, 4, 1),
        ONE(MPI_INTEGER1, 1, 1, SWAPPED, 1, 1, 1),
        ONE(MPI_INTEGER2, 1, 1, SWAPPED, 2, 2, 1),
        ONE(MPI_INTEGER8, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_REAL, 1, 1, SWAPPED, 4, 4, 1),
        ONE(MPI_DOUBLE_PRECISION, 1, 1, SWAPPED, 8, 8, 1),
        ONE(MPI_REAL16, 1, 0, SWAPPED, 16, 16, 1),
        ONE(MPI_COMPLEX, 0, 1, SWAPPED, 4, 4, 2),
        ONE(MPI_DOUBLE_COMPLEX, 0, 1, SWAPPED, 8, 8, 2),
        ONE(MPI_COMPLEX32, 1, 0, SWAPPED, 16, 16, 2),
    };
    add_leaves(table, sizeof table);
}

/* ---- The model: elements with their places ----------------------------------------------------------------------- */

enum { ELEMENTS_MAX = 3000, TEXT_MAX = 2000, MEMORY_MAX = 1 << 18 };

struct element {
    int64_t native_at, file_at;
    struct value value;
};

struct item {
    MPI_Datatype type;
    bool is_ours, pack_is_right;
    int n;
    struct element elements[ELEMENTS_MAX];
    bool has_markers;
    int64_t file_lb, file_ub;
    char text[TEXT_MAX];
};

static int64_t native_bytes(const struct value *value)
{
    return (int64_t)value->native * value->parts;
}

static int64_t file_bytes(const struct value *value)
{
    return (int64_t)value->file * value->parts;
}

static void model_leaf(struct item *item, const struct leaf *leaf)
{
    item->type = leaf->type;
    item->is_ours = false;
    item->pack_is_right = PIOLET_IS_OPENMPI ? leaf->openmpi_is_right : leaf->mpich_is_right;
    item->n = leaf->n;
    item->has_markers = false;
    item->file_lb = item->file_ub = 0;
    item->text[0] = '\0';
    for (int i = 0; i < leaf->n; i++) {
        item->elements[i] = (struct element){leaf->places[i], item->file_ub, leaf->values[i]};
        item->file_ub += file_bytes(&leaf->values[i]);
    }
    describe(item, "%s", leaf->name);
}

static void item_extent(const struct item *item, int64_t *ret_lb, int64_t *ret_extent)
{
    MPI_Count lb, extent;
    MPI_Type_get_extent_x(item->type, &lb, &extent);
    *ret_lb = lb;
    *ret_extent = extent;
}

static void model_begin(struct item *item)
{
    item->is_ours = item->pack_is_right = true;
    item->n = 0;
    item->has_markers = false;
    item->file_lb = INT64_MAX;
    item->file_ub = INT64_MIN;
    item->text[0] = '\0';
}

/* `length` copies of the child. Bounds with markers win over those without. */
static bool model_block(struct item *item, const struct item *child, int64_t native_at, int64_t file_at, int length)
{
    int64_t lb, native_extent;
    const int64_t extent = child->file_ub - child->file_lb;
    item_extent(child, &lb, &native_extent);
    if (item->n + length * child->n > ELEMENTS_MAX)
        return false;
    for (int c = 0; c < length; c++)
        for (int i = 0; i < child->n; i++) {
            struct element element = child->elements[i];
            element.native_at += native_at + c * native_extent;
            element.file_at += file_at + c * extent;
            item->elements[item->n++] = element;
        }
    item->pack_is_right = item->pack_is_right && child->pack_is_right;
    if (length > 0 && child->has_markers && !item->has_markers) {
        item->has_markers = true;
        item->file_lb = INT64_MAX;
        item->file_ub = INT64_MIN;
    }
    if (length > 0 && child->has_markers == item->has_markers) {
        item->file_lb = typemap_min(item->file_lb, file_at + child->file_lb);
        item->file_ub = typemap_max(item->file_ub, file_at + child->file_ub + (length - 1) * extent);
    }
    return true;
}

/* ---- Random types: data never overlap in memory, so that every element can have a value of its own --------------- */

enum { BLOCKS_MAX = 4, POOL = 4 };

static bool make_vector(struct item *made, const struct item *child)
{
    const int count = pick(1, 4), length = pick(1, 3), stride = length + pick(0, 3);
    const bool in_bytes = pick(0, 1);
    int64_t lb, extent;
    item_extent(child, &lb, &extent);
    const int64_t file_extent = child->file_ub - child->file_lb;
    describe(made, "%s(%d, %d, %d, %s)", in_bytes ? "hvector" : "vector", count, length, stride, child->text);
    for (int i = 0; i < count; i++)
        if (!model_block(made, child, i * stride * extent, i * stride * (in_bytes ? extent : file_extent), length))
            return false;
    if (in_bytes)
        MPI_Type_create_hvector(count, length, stride * extent, child->type, &made->type);
    else
        MPI_Type_vector(count, length, stride, child->type, &made->type);
    return true;
}

static bool make_indexed(struct item *made, const struct item *child)
{
    const int n = pick(1, BLOCKS_MAX);
    const bool in_bytes = pick(0, 1);
    int64_t lb, extent, lengths_at = 0;
    int lengths[BLOCKS_MAX], places[BLOCKS_MAX];
    MPI_Aint byte_places[BLOCKS_MAX];
    item_extent(child, &lb, &extent);
    describe(made, "%s(", in_bytes ? "hindexed" : "indexed");
    for (int i = 0; i < n; i++) {
        lengths[i] = pick(0, 3);
        places[i] = (int)(lengths_at += pick(0, 2));
        byte_places[i] = places[i] * extent;
        lengths_at += lengths[i];
        describe(made, "%d@%d ", lengths[i], places[i]);
        if (!model_block(made, child, byte_places[i],
                         in_bytes ? byte_places[i] : places[i] * (child->file_ub - child->file_lb), lengths[i]))
            return false;
    }
    describe(made, "%s)", child->text);
    if (made->n == 0)
        return false;
    if (in_bytes)
        MPI_Type_create_hindexed(n, lengths, byte_places, child->type, &made->type);
    else
        MPI_Type_indexed(n, lengths, places, child->type, &made->type);
    return true;
}

static bool make_struct(struct item *made, const struct item *pool)
{
    const int n = pick(1, BLOCKS_MAX);
    int lengths[BLOCKS_MAX];
    MPI_Aint places[BLOCKS_MAX], at = 0;
    MPI_Datatype types[BLOCKS_MAX];
    describe(made, "struct(");
    made->pack_is_right = PIOLET_IS_OPENMPI;
    for (int i = 0; i < n; i++) {
        const struct item *child = &pool[pick(0, POOL - 1)];
        int64_t lb, extent;
        item_extent(child, &lb, &extent);
        lengths[i] = pick(1, 3);
        places[i] = at - lb + pick(0, 9);
        at = places[i] + lb + lengths[i] * extent;
        types[i] = child->type;
        describe(made, "%d@%ld %s, ", lengths[i], (long)places[i], child->text);
        if (!model_block(made, child, places[i], places[i], lengths[i]))
            return false;
    }
    describe(made, ")");
    MPI_Type_create_struct(n, lengths, places, types, &made->type);
    return true;
}

static bool make_resized(struct item *made, const struct item *child)
{
    int64_t lb, extent;
    item_extent(child, &lb, &extent);
    const int64_t new_lb = lb - pick(0, 9), new_extent = lb + extent - new_lb + pick(0, 9);
    describe(made, "resized(%" PRId64 ", %" PRId64 ", %s)", new_lb, new_extent, child->text);
    model_block(made, child, 0, 0, 1);
    made->has_markers = true;
    made->file_lb = new_lb;
    made->file_ub = new_lb + new_extent;
    MPI_Type_create_resized(child->type, new_lb, new_extent, &made->type);
    return true;
}

static bool make_subarray(struct item *made, const struct item *child)
{
    const int sizes[2] = {pick(2, 5), pick(2, 5)}, sub[2] = {pick(1, 2), pick(1, 2)};
    const int starts[2] = {pick(0, sizes[0] - sub[0]), pick(0, sizes[1] - sub[1])};
    int64_t lb, extent;
    item_extent(child, &lb, &extent);
    const int64_t file_extent = child->file_ub - child->file_lb;
    describe(made, "subarray(%dx%d of %dx%d at %d,%d, %s)", sub[0], sub[1], sizes[0], sizes[1], starts[0], starts[1],
             child->text);
    for (int i = 0; i < sub[0]; i++) {
        const int64_t at = (starts[0] + i) * sizes[1] + starts[1];
        if (!model_block(made, child, at * extent, at * file_extent, sub[1]))
            return false;
    }
    made->has_markers = true;
    made->file_lb = 0;
    made->file_ub = sizes[0] * sizes[1] * file_extent;
    MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_C, child->type, &made->type);
    return true;
}

static bool make_copy(struct item *made, const struct item *child)
{
    const int n = pick(0, 2);
    describe(made, n ? "%d of %s" : "dup(%d, %s)", n, child->text);
    if (!model_block(made, child, 0, 0, n ? n : 1))
        return false;
    if (n)
        MPI_Type_contiguous(n, child->type, &made->type);
    else
        MPI_Type_dup(child->type, &made->type);
    return true;
}

static bool make_type(struct item *made, const struct item *pool)
{
    const struct item *child = &pool[pick(0, POOL - 1)];
    model_begin(made);
    switch (pick(0, 6)) {
    case 0:
        return make_vector(made, child);
    case 1:
        return make_indexed(made, child);
    case 2:
        return make_resized(made, child);
    case 3:
        return make_subarray(made, child);
    case 4:
        return make_copy(made, child);
    default:
        return make_struct(made, pool);
    }
}

/* ---- Values, and what they are in the file ----------------------------------------------------------------------- */

static void fill_part(const struct value *value, char *native)
{
    const uint64_t bits = random64();
    char raw[16];
    for (int i = 0; i < 16; i++)
        raw[i] = (char)(random64() >> 11);
    switch (value->form) {
    case SWAPPED:
        break;
    case LONG_AS_32: /* fits both long and unsigned long */
        memcpy(raw, &(uint64_t){bits & INT32_MAX}, 8);
        break;
    case WIDE_AS_16:
        memcpy(raw, &(uint32_t){bits & 0xffff}, 4);
        break;
    case EXTENDED: {
        const long double number = ((long double)(int64_t)bits + 0.5L) * 0x1p-40L;
        memset(raw, 0, sizeof raw);
        memcpy(raw, &number, 10);
        break;
    }
    case TRUTH:
        memset(raw, 0, sizeof raw);
        raw[0] = bits & 1;
        break;
    }
    memcpy(native, raw, (size_t)value->native);
}

/* The standard's way: the last `file` bytes of the value, the most significant first. */
static void expect_part(const struct value *value, const char *native, char *file)
{
    char raw[16];
    memcpy(raw, native, (size_t)value->native);
#ifdef __SIZEOF_FLOAT128__
    if (value->form == EXTENDED) {
        long double number;
        memcpy(&number, native, sizeof number);
        const __float128 quad = number;
        memcpy(raw, &quad, sizeof quad);
    }
#endif
    for (int i = 0; i < value->file; i++)
        file[i] = raw[value->file - 1 - i];
}

/* ---- One type ---------------------------------------------------------------------------------------------------- */

static void check_map(const struct item *item)
{
    struct typemap *map = NULL;
    OK(datarep_typemap(external32, item->type, &map, &error));
    if (!map)
        return;
    const struct typemap_shape *shape = typemap_shape(map);
    int64_t position = 0, extent = 0, size = 0;
    for (int i = 0; i < item->n; i++)
        for (int64_t b = 0; b < file_bytes(&item->elements[i].value); b++, position++)
            if (typemap_displacement(map, position) != item->elements[i].file_at + b) {
                complain(__LINE__, "byte %" PRId64 " (element %d) is at %" PRId64 ", not %" PRId64 ": %s", position, i,
                         typemap_displacement(map, position), item->elements[i].file_at + b, item->text);
                i = item->n - 1;
                break;
            }
    EXPECT(shape->lb == item->file_lb && shape->extent == item->file_ub - item->file_lb,
           "bounds %" PRId64 "+%" PRId64 ", not %" PRId64 "..%" PRId64 ": %s", shape->lb, shape->extent, item->file_lb,
           item->file_ub, item->text);
    OK(datarep_size(external32, item->type, &size, &error));
    OK(datarep_extent(external32, item->type, &extent, &error));
    EXPECT(size == shape->size && extent == shape->extent, "size and extent: %s", item->text);
    typemap_unref(map);
}

static char memory[MEMORY_MAX], back[MEMORY_MAX], expected_back[MEMORY_MAX];
static char file[MEMORY_MAX + 1], expected_file[MEMORY_MAX];

/* Some bytes of two copies, and what of them is delivered. */
static void check_decode(const struct item *item, int copies, int64_t bytes, int64_t origin, int64_t extent)
{
    int64_t rest = bytes, wanted = 0, got = -1;
    memset(back, 'e', sizeof back);
    memset(expected_back, 'e', sizeof expected_back);
    for (int c = 0; c < copies; c++)
        for (int i = 0; i < item->n && rest >= 0; i++) {
            const struct element *element = &item->elements[i];
            const int64_t at = origin + c * extent + element->native_at;
            rest -= file_bytes(&element->value);
            if (rest < 0)
                break;
            memcpy(expected_back + at, memory + at, (size_t)native_bytes(&element->value));
            wanted += native_bytes(&element->value);
        }
    OK(datarep_decode(external32, back + origin, copies, item->type, file, bytes, &got, &error));
    EXPECT(got == wanted, "%" PRId64 " bytes gave %" PRId64 " in memory, not %" PRId64 ": %s", bytes, got, wanted,
           item->text);
    EXPECT(memcmp(back, expected_back, sizeof back) == 0, "decoded %" PRId64 " bytes: %s", bytes, item->text);
}

static void check_pack(struct item *item, int copies, int64_t origin, int64_t bytes)
{
    static char packed[MEMORY_MAX];
    MPI_Aint used = 0;
    if (!item->pack_is_right)
        return;
    MPI_Pack_external("external32", memory + origin, copies, item->type, packed, sizeof packed, &used);
    EXPECT(used == bytes && memcmp(packed, file, (size_t)bytes) == 0, "MPI_Pack_external differs: %s", item->text);
}

/* Bounds with markers may let data overlap, where no element could have a value of its own. */
static bool overlaps(const struct item *item, int copies, int64_t origin, int64_t extent)
{
    static bool is_taken[MEMORY_MAX];
    memset(is_taken, 0, sizeof is_taken);
    for (int c = 0; c < copies; c++)
        for (int i = 0; i < item->n; i++)
            for (int64_t b = 0; b < native_bytes(&item->elements[i].value); b++) {
                bool *byte = &is_taken[origin + c * extent + item->elements[i].native_at + b];
                if (*byte)
                    return true;
                *byte = true;
            }
    return false;
}

static void check_data(struct item *item)
{
    const int copies = 2;
    int64_t lb, extent, bytes = 0, low = 0, high = 0;
    item_extent(item, &lb, &extent);
    for (int i = 0; i < item->n; i++) {
        low = typemap_min(low, item->elements[i].native_at);
        high = typemap_max(high, item->elements[i].native_at);
    }
    if (extent + high - low + 64 > MEMORY_MAX || overlaps(item, copies, -low, extent))
        return;
    for (int c = 0; c < copies; c++)
        for (int i = 0; i < item->n; i++) {
            const struct value *value = &item->elements[i].value;
            char *native = memory - low + c * extent + item->elements[i].native_at;
            for (int p = 0; p < value->parts; p++, bytes += value->file) {
                fill_part(value, native + p * value->native);
                expect_part(value, native + p * value->native, expected_file + bytes);
            }
        }
    file[bytes] = 'x';
    OK(datarep_encode(external32, memory - low, copies, item->type, file, &error));
    EXPECT(memcmp(file, expected_file, (size_t)bytes) == 0 && file[bytes] == 'x', "encoded: %s", item->text);
    check_pack(item, copies, -low, bytes);
    check_decode(item, copies, bytes, -low, extent);
    check_decode(item, copies, pick(0, (int)bytes), -low, extent);
}

static void check_item(struct item *item)
{
    if (item->is_ours)
        MPI_Type_commit(&item->type);
    check_map(item);
    check_data(item);
}

static void item_free(struct item *item)
{
    if (item->is_ours)
        MPI_Type_free(&item->type);
}

static void check_random_types(int cases)
{
    static struct item pool[POOL], made;
    for (int i = 0; i < POOL; i++)
        model_leaf(&pool[i], &leaves[pick(0, n_leaves - 1)]);
    for (int i = 0; i < cases; i++) {
        const bool works = make_type(&made, pool);
        struct item *old = &pool[pick(0, POOL - 1)];
        if (works)
            check_item(&made);
        item_free(old);
        if (works && pick(0, 3))
            *old = made;
        else {
            if (works)
                item_free(&made);
            model_leaf(old, &leaves[pick(0, n_leaves - 1)]);
        }
    }
    for (int i = 0; i < POOL; i++)
        item_free(&pool[i]);
    printf("%d random types: every byte is as external32 says\n", cases);
}

static void check_leaves(void)
{
    static struct item item;
    for (int i = 0; i < n_leaves; i++) {
        model_leaf(&item, &leaves[i]);
        check_item(&item);
    }
}

/* ---- By hand ----------------------------------------------------------------------------------------------------- */

struct piece {
    int64_t at, length;
};

static void expect_pieces(int line, MPI_Datatype type, int64_t extent, int n, const struct piece *pieces)
{
    struct typemap *map = NULL;
    struct typemap_cursor cursor;
    ok(line, datarep_typemap(external32, type, &map, &error));
    ok(line, typemap_cursor_init(&cursor, map, &error));
    const struct typemap_shape *shape = typemap_shape(map);
    if (shape->extent != extent)
        complain(line, "extent %" PRId64 " in the place of %" PRId64, shape->extent, extent);
    for (int i = 0; i < n; i++) {
        int64_t at = -1;
        const int64_t length = typemap_cursor_next(&cursor, shape->size - cursor.position, &at);
        if (at != pieces[i].at || length != pieces[i].length)
            complain(line, "piece %d: %" PRId64 " bytes at %" PRId64, i, length, at);
    }
    if (cursor.position != shape->size)
        complain(line, "more than %d pieces", n);
    typemap_cursor_clear(&cursor);
    typemap_unref(map);
    MPI_Type_free(&type);
}
#define PIECES(type, extent, n, ...) expect_pieces(__LINE__, type, extent, n, (const struct piece[]){__VA_ARGS__})

static void check_by_hand(void)
{
    MPI_Datatype type, inner;
    MPI_Type_contiguous(3, MPI_WCHAR, &type);
    PIECES(type, 6, 1, {0, 6});
    MPI_Type_vector(3, 2, 4, MPI_LONG, &type);
    PIECES(type, 40, 3, {0, 8}, {16, 8}, {32, 8});
    MPI_Type_create_hvector(2, 1, 32, MPI_DOUBLE_INT, &type);
    PIECES(type, 44, 2, {0, 12}, {32, 12});
    MPI_Type_create_indexed_block(2, 1, (int[]){0, 2}, MPI_LONG_DOUBLE_INT, &type);
    PIECES(type, 60, 2, {0, 20}, {40, 20});
    MPI_Type_create_struct(2, (int[]){3, 1}, (MPI_Aint[]){0, 6}, (MPI_Datatype[]){MPI_WCHAR, MPI_LONG_DOUBLE}, &type);
    PIECES(type, 22, 1, {0, 22}); /* nothing is aligned */
    MPI_Type_create_resized(MPI_LONG, 0, 8, &inner);
    MPI_Type_contiguous(2, inner, &type);
    MPI_Type_free(&inner);
    PIECES(type, 16, 2, {0, 4}, {8, 4}); /* bounds stay as the program gave them */
    MPI_Type_create_subarray(2, (int[]){4, 6}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_WCHAR, &type);
    PIECES(type, 48, 2, {16, 6}, {28, 6});
    MPI_Type_create_darray(2, 1, 1, (int[]){10}, (int[]){MPI_DISTRIBUTE_CYCLIC}, (int[]){2}, (int[]){2}, MPI_ORDER_C,
                           MPI_SHORT_INT, &type);
    PIECES(type, 60, 2, {12, 12}, {36, 12});
    MPI_Type_create_resized(MPI_LONG, -4, 16, &inner);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 100}, (MPI_Datatype[]){inner, MPI_LONG}, &type);
    MPI_Type_free(&inner);
    PIECES(type, 16, 2, {0, 4}, {100, 4}); /* markers win over data */
    MPI_Type_contiguous(0, MPI_LONG, &inner);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){100, 0}, (MPI_Datatype[]){inner, MPI_LONG}, &type);
    MPI_Type_free(&inner);
    PIECES(type, 4, 1, {0, 4}); /* what is empty has no bounds */
}

static void check_f90(void)
{
    MPI_Datatype type;
    int64_t size = 0;
    char bytes[32];
    MPI_Type_create_f90_real(6, 30, &type);
    OK(datarep_size(external32, type, &size, &error));
    EXPECT(size == 4, "real of 6 digits: %" PRId64, size);
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &type);
    OK(datarep_encode(external32, (double[]){1.0, -1.0}, 1, type, bytes, &error));
    EXPECT(memcmp(bytes, "\x3f\xf0\0\0\0\0\0\0\xbf\xf0\0\0\0\0\0", 16) == 0, "complex of 15 digits");
    MPI_Type_create_f90_integer(9, &type);
    OK(datarep_encode(external32, &(int){258}, 1, type, bytes, &error));
    EXPECT(memcmp(bytes, "\0\0\1\2", 4) == 0, "integer of 9 digits");
#if PIOLET_IS_OPENMPI /* MPICH has none of such a precision */
    MPI_Type_create_f90_real(18, 4000, &type);
    OK(datarep_encode(external32, &(long double){-1.5L}, 1, type, bytes, &error));
    EXPECT(memcmp(bytes, "\xbf\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0", 16) == 0, "real of 18 digits");
#endif
}

static void check_misfits(void)
{
    long numbers[3] = {1, LONG_MAX, 3}, read[3] = {0};
    char bytes[12];
    int64_t got = -1;
    EXPECT(datarep_encode(external32, numbers, 3, MPI_LONG, bytes, &error) == PL_E_CONVERSION, "a long too large");
    EXPECT(strstr(error.text, "element 1, a signed integer"), "words: %s", error.text);
    OK(datarep_decode(external32, read, 3, MPI_LONG, bytes, 12, &got, &error));
    EXPECT(got == 24 && read[0] == 1 && read[1] == INT_MAX && read[2] == 3, "the nearest that fits");
    EXPECT(datarep_encode(external32, numbers, -1, MPI_LONG, bytes, &error) == PL_E_COUNT, "negative count");
    EXPECT(datarep_encode(external32, numbers, 1, MPI_DATATYPE_NULL, bytes, &error) == PL_E_TYPE, "no datatype");
}

/* Displacements that are addresses, with a buffer that is none. */
static void check_bottom(void)
{
    static const short numbers[2] = {258, 772};
    short read[2] = {0};
    MPI_Aint from, to;
    MPI_Datatype type;
    char bytes[4];
    int64_t got = -1;
    MPI_Get_address(numbers, &from);
    MPI_Get_address(read, &to);
    MPI_Type_create_hindexed(1, (int[]){2}, &from, MPI_SHORT, &type);
    OK(datarep_encode(external32, MPI_BOTTOM, 1, type, bytes, &error));
    EXPECT(memcmp(bytes, "\1\2\3\4", 4) == 0, "encoded from MPI_BOTTOM");
    MPI_Type_free(&type);
    MPI_Type_create_hindexed(1, (int[]){2}, &to, MPI_SHORT, &type);
    OK(datarep_decode(external32, MPI_BOTTOM, 1, type, bytes, 4, &got, &error));
    EXPECT(got == 4 && memcmp(read, numbers, 4) == 0, "decoded to MPI_BOTTOM");
    MPI_Type_free(&type);
}

/* ---- Registered -------------------------------------------------------------------------------------------------- */

/* A representation with eight bytes for an int and native ones for all else. Its functions take ints, side by side or
 * with gaps of one int (a vector), and note how they were called. */
static struct {
    int extents, calls;
    MPI_Datatype type;
    int64_t count, position;
    void *extra_state;
    int answer;
    int step; /* ints from one to the next in memory */
} note = {.step = 1};

static int note_call(MPI_Datatype type, int64_t count, MPI_Offset position, void *extra_state)
{
    note.calls++;
    note.type = type;
    note.count = count;
    note.position = position;
    note.extra_state = extra_state;
    return note.answer;
}

static int write_large(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf, MPI_Offset position,
                       void *extra_state)
{
    for (MPI_Count i = 0; i < count; i++)
        memcpy((char *)filebuf + 8 * i, &(int64_t){((int *)userbuf)[note.step * (position + i)]}, 8);
    return note_call(type, count, position, extra_state);
}

static int read_large(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf, MPI_Offset position,
                      void *extra_state)
{
    for (MPI_Count i = 0; i < count; i++)
        memcpy((int *)userbuf + note.step * (position + i), (char *)filebuf + 8 * i, 4);
    return note_call(type, count, position, extra_state);
}

static int write_c(void *userbuf, MPI_Datatype type, int count, void *filebuf, MPI_Offset position, void *extra_state)
{
    return write_large(userbuf, type, count, filebuf, position, extra_state);
}

static int read_c(void *userbuf, MPI_Datatype type, int count, void *filebuf, MPI_Offset position, void *extra_state)
{
    return read_large(userbuf, type, count, filebuf, position, extra_state);
}

static int extent_c(MPI_Datatype type, MPI_Aint *extent, void *extra_state)
{
    int size;
    (void)extra_state;
    note.extents++;
    MPI_Type_size(type, &size);
    *extent = type == MPI_INT ? 8 : size;
    return type == MPI_SHORT ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void write_fortran(void *userbuf, MPI_Fint *type, MPI_Fint *count, void *filebuf, MPI_Offset *position,
                          MPI_Aint *extra_state, MPI_Fint *ierror)
{
    *ierror = write_large(userbuf, MPI_Type_f2c(*type), *count, filebuf, *position, (void *)*extra_state);
}

static void extent_fortran(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra_state, MPI_Fint *ierror)
{
    *ierror = extent_c(MPI_Type_f2c(*type), extent, (void *)*extra_state);
}

static const struct datarep *make_rep(const char *name, const struct datarep_functions *functions)
{
    const struct datarep *rep = NULL;
    OK(datarep_register(name, functions, &error));
    OK(datarep_find(name, &rep, &error));
    return rep;
}

/* Every second of `2 × 3 × items` ints: 3 ints with gaps in an item, and the last gap, too. */
static void check_functions(const struct datarep *rep, void *state, bool reads)
{
    MPI_Datatype vector, type;
    int numbers[12], read[12];
    int64_t stored[6], got = -1, size = 0, extent = 0;
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 24, &type);
    MPI_Type_commit(&type);
    note.step = 2;
    for (int i = 0; i < 12; i++)
        numbers[i] = -i;
    OK(datarep_size(rep, type, &size, &error));
    OK(datarep_extent(rep, vector, &extent, &error));
    EXPECT(size == 24 && extent == 40, "size %" PRId64 ", extent %" PRId64, size, extent);
    OK(datarep_encode(rep, numbers, 2, type, (char *)stored, &error));
    EXPECT(note.type == type && note.count == 6 && note.position == 0 && note.extra_state == state, "arguments");
    for (int i = 0; i < 6; i++)
        EXPECT(stored[i] == -2 * i, "number %d", i);
    memset(read, 0, sizeof read);
    for (int bytes = 0; reads && bytes <= 50; bytes++) {
        OK(datarep_decode(rep, read, 2, type, (const char *)stored, bytes, &got, &error));
        const int whole = bytes > 48 ? 6 : bytes / 8;
        EXPECT(got == 4 * whole, "%d bytes give %" PRId64, bytes, got);
        EXPECT(whole < 4 || (read[6] == numbers[6] && read[7] == 0), "%d bytes", bytes);
    }
    note.answer = MPI_ERR_OTHER;
    EXPECT(datarep_encode(rep, numbers, 1, type, (char *)stored, &error) == PL_E_CONVERSION, "a failing function");
    EXPECT(strstr(error.text, "write conversion function"), "words: %s", error.text);
    note.answer = MPI_SUCCESS;
    note.step = 1;
    MPI_Type_free(&type);
    MPI_Type_free(&vector);
}

static void check_registered(void)
{
    int state;
    struct datarep_functions functions = {.c = {read_c, write_c}, .extent = extent_c, .extra_state = &state};
    struct typemap *map = NULL;
    const struct datarep *rep = make_rep("wide", &functions);
    check_functions(rep, &state, true);
    EXPECT(note.extents == 1, "the extent of MPI_INT was asked for %d times", note.extents);
    EXPECT(datarep_typemap(rep, MPI_SHORT, &map, &error) == PL_E_CONVERSION, "a failing extent");
    EXPECT(datarep_register("wide", &functions, &error) == PL_E_DUP_DATAREP, "registered twice");
    EXPECT(datarep_register("native", &functions, &error) == PL_E_DUP_DATAREP, "predefined");
    EXPECT(datarep_register("", &functions, &error) == PL_E_ARG, "no name");
    char name[MPI_MAX_DATAREP_STRING + 1];
    memset(name, 'n', sizeof name - 1);
    name[MPI_MAX_DATAREP_STRING] = '\0';
    EXPECT(datarep_register(name, &functions, &error) == PL_E_ARG, "a long name");
    name[MPI_MAX_DATAREP_STRING - 1] = '\0';
    OK(datarep_register(name, &functions, &error));
    EXPECT(datarep_find("unheard of", &rep, &error) == PL_E_DATAREP, "unknown");
    functions.extent = NULL;
    EXPECT(datarep_register("no extent", &functions, &error) == PL_E_ARG, "no extents");
    functions = (struct datarep_functions){
        .c_large = {read_large, write_large}, .extent = extent_c, .extra_state = &state};
    check_functions(make_rep("large", &functions), &state, true);
    functions = (struct datarep_functions){.fortran = {NULL, write_fortran, extent_fortran}, .extra_state = (void *)77};
    check_functions(make_rep("fortran", &functions), (void *)77, false);
}

/* No functions: as in memory, for types whose extents agree. */
static void check_null_functions(void)
{
    const struct datarep_functions functions = {.extent = extent_c};
    const struct datarep *rep = make_rep("null", &functions);
    const struct {
        double number;
        float pair;
        int index;
    } made[2] = {{1.5, 2.5f, 3}, {4.5, 5.5f, 6}};
    char bytes[40], read[sizeof made];
    int64_t got = -1;
    MPI_Datatype type;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_FLOAT_INT}, &type);
    OK(datarep_encode(rep, made, 2, type, bytes, &error));
    EXPECT(memcmp(bytes, made, sizeof made) == 0, "copied");
    memset(read, 0, sizeof read);
    OK(datarep_decode(rep, read, 2, type, bytes, 31, &got, &error)); /* MPI_FLOAT_INT is one element here */
    EXPECT(got == 24 && memcmp(read, made, 24) == 0 && read[24] == 0, "got %" PRId64, got);
    EXPECT(datarep_encode(rep, &(int){1}, 1, MPI_INT, bytes, &error) == PL_E_CONVERSION, "nobody can convert that");
    OK(datarep_find("internal", &rep, &error));
    EXPECT(datarep_is_native(rep) && !datarep_is_native(external32), "native");
    OK(datarep_encode(rep, made, 2, type, bytes, &error));
    OK(datarep_decode(rep, read, 2, type, bytes, 31, &got, &error));
    EXPECT(got == 31 && memcmp(read, made, 31) == 0 && read[31] == 0, "got %" PRId64, got);
    MPI_Type_free(&type);
}

/* ---- Memory that fails, and types that are large ----------------------------------------------------------------- */

static void check_memory(void)
{
    const MPI_Datatype types[2] = {MPI_LONG_DOUBLE_INT, MPI_WCHAR};
    const int64_t before = live_blocks;
    char data[200] = {0}, bytes[200];
    for (int64_t n = 0;; n++) {
        MPI_Datatype inner, type;
        MPI_Type_create_struct(2, (int[]){1, 3}, (MPI_Aint[]){0, 40}, types, &inner);
        MPI_Type_vector(2, 1, 2, inner, &type);
        fail_in = n;
        const pl_status status = datarep_encode(external32, data, 1, type, bytes, &error);
        const bool is_over = fail_in >= 0;
        fail_in = -1;
        EXPECT(status == PL_OK || status == PL_E_NOMEM, "%s: %s", pl_status_name(status), error.text);
        MPI_Type_free(&inner);
        MPI_Type_free(&type);
        EXPECT(live_blocks == before, "%" PRId64 " blocks are left after failure %" PRId64, live_blocks - before, n);
        if (is_over)
            break;
    }
}

static void check_large(void)
{
    MPI_Datatype pair, many, type;
    int64_t size = 0, extent = 0;
    const int64_t before = live_blocks;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_LONG, MPI_WCHAR}, &pair);
    MPI_Type_vector(1 << 20, 1, 2, pair, &many);
    MPI_Type_contiguous(1 << 20, many, &type);
    OK(datarep_size(external32, type, &size, &error));
    OK(datarep_extent(external32, type, &extent, &error));
    EXPECT(size == (int64_t)6 << 40, "size %" PRId64, size);
    EXPECT(extent == (((int64_t)20 << 20) - 10) << 20, "extent %" PRId64, extent);
    EXPECT(live_blocks < before + 60, "%" PRId64 " blocks", live_blocks - before);
    MPI_Type_free(&pair);
    MPI_Type_free(&many);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    OK(real_load(&error));
    OK(datarep_find("external32", &external32, &error));
    list_types();
    check_leaves();
    check_by_hand();
    check_f90();
    check_misfits();
    check_bottom();
    check_registered();
    check_null_functions();
    check_memory();
    check_large();
    check_random_types(argc > 2 ? atoi(argv[2]) : 1000);
    MPI_Finalize();
    return failures != 0;
}
