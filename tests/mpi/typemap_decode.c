/* Typemaps of MPI datatypes against MPI itself: typemap_decode [SEED [CASES]]. Called by typemap.sh, on one rank.
 * MPI_Pack takes the bytes of a type out of a buffer in which every byte says where it is; the walk through our typemap
 * must meet the same bytes in the same order. Prints what is wrong, with the constructors that led to it.
 * Memory comes from support/type_trial.h: it is counted, and one request fails where a test wants it. */
#include <mpi.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/typemap/typemap.h"
#include "engine/typemap/typemap_node.h"
#include "mpi/real.h"
#include "support/type_trial.h"

static struct pl_error error;

/* ---- One type against MPI ---------------------------------------------------------------------------------------- */

enum { TEXT_MAX = 4000, FOOTPRINT_MAX = 60000, PACKED_MAX = 100000, COPIES = 3, NOT_WRITTEN = -1 };

struct item {
    MPI_Datatype type;
    bool is_ours;
    bool is_misread; /* this MPI has a bug with such a type: no comparison of bytes */
    char text[TEXT_MAX];
};

/* Where each byte of the packed copies came from, relative to `low`: byte i of the buffer is i, in two halves. A byte
 * that MPI does not write shows what was there before, which is 0 the first time and 1 the second: MPICH copies a long
 * double as the processor loads and stores it, without its six bytes of padding. */
static bool pack_places(MPI_Datatype type, int copies, int64_t low, int64_t footprint, int64_t size, int32_t *places)
{
    static unsigned char buffer[FOOTPRINT_MAX], packed[2][PACKED_MAX];
    memset(places, 0, (size_t)size * sizeof *places);
    for (int half = 0; half < 2; half++) {
        for (int64_t i = 0; i < footprint; i++)
            buffer[i] = (unsigned char)(i >> (8 * half));
        for (int fill = 0; fill < 2; fill++) {
            int used = 0;
            memset(packed[fill], fill, (size_t)size);
            if (MPI_Pack((char *)buffer - low, copies, type, packed[fill], PACKED_MAX, &used, MPI_COMM_SELF) ||
                used != size)
                return false;
        }
        for (int64_t i = 0; i < size; i++)
            if (packed[0][i] != packed[1][i] || places[i] < 0)
                places[i] = NOT_WRITTEN;
            else
                places[i] |= packed[0][i] << (8 * half);
    }
    return true;
}

static void compare_bytes(const struct item *item, const struct typemap *map, int copies)
{
    static int32_t places[PACKED_MAX];
    const struct typemap_shape *shape = typemap_shape(map);
    const int64_t shift = (copies - 1) * shape->extent, size = copies * shape->size;
    const int64_t low = shape->true_lb + typemap_min(0, shift);
    const int64_t footprint = shape->true_extent + (shift < 0 ? -shift : shift);
    struct typemap_cursor cursor;
    if (footprint > FOOTPRINT_MAX || size > PACKED_MAX || size == 0)
        return;
    if (!pack_places(item->type, copies, low, footprint, size, places)) {
        complain(__LINE__, "MPI_Pack failed: %s", item->text);
        return;
    }
    if (typemap_cursor_init(&cursor, map, &error))
        complain(__LINE__, "%s", error.text);
    for (int64_t position = 0; position < size;) {
        int64_t at = 0;
        const int64_t length = typemap_cursor_next(&cursor, size - position, &at);
        for (int64_t i = 0; i < length; i++)
            if (places[position + i] != NOT_WRITTEN && at + i - low != places[position + i]) {
                complain(__LINE__, "byte %" PRId64 " of %d copies is at %" PRId64 ", MPI says %" PRId64 ": %s",
                         position + i, copies, at + i, places[position + i] + low, item->text);
                position = size;
                break;
            }
        position += length;
    }
    typemap_cursor_clear(&cursor);
}

static struct typemap *map_of(const struct item *item)
{
    struct typemap *map = NULL;
    if (typemap_of(item->type, &map, &error))
        complain(__LINE__, "%s: %s", error.text, item->text);
    return map;
}

/* MPICH 4.0.2 lets blocks without data count for the true bounds of a struct. */
#define EXACT_TRUE_BOUNDS PIOLET_IS_OPENMPI

static void check_item(struct item *item)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    struct typemap *map = map_of(item);
    if (!map)
        return;
    const struct typemap_shape *shape = typemap_shape(map);
    MPI_Type_size_x(item->type, &size);
    MPI_Type_get_extent_x(item->type, &lb, &extent);
    MPI_Type_get_true_extent_x(item->type, &true_lb, &true_extent);
    EXPECT(shape->size == size && shape->lb == lb && shape->extent == extent, "size or bounds: %s", item->text);
    if (size > 0 && EXACT_TRUE_BOUNDS && !item->is_misread)
        EXPECT(shape->true_lb == true_lb && shape->true_extent == true_extent,
               "true bounds %" PRId64 "+%" PRId64 ", MPI says %" PRId64 "+%" PRId64 ": %s", shape->true_lb,
               shape->true_extent, (int64_t)true_lb, (int64_t)true_extent, item->text);
    if (item->is_ours)
        MPI_Type_commit(&item->type);
    if (!item->is_misread) {
        compare_bytes(item, map, 1);
        compare_bytes(item, map, COPIES);
    }
    typemap_unref(map);
}

/* ---- Random types ------------------------------------------------------------------------------------------------ */

enum { BLOCKS_MAX = 5, DIMS_MAX = 3, POOL = 5 };

static const struct {
    MPI_Datatype type;
    const char *name;
} * named;
static int n_named;

static void make_named(struct item *made)
{
    const int i = pick(0, n_named - 1);
    made->type = named[i].type;
    describe(made, "%s", named[i].name);
}

static MPI_Count size_of(MPI_Datatype type)
{
    MPI_Count size;
    MPI_Type_size_x(type, &size);
    return size;
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    return extent;
}

/* Bugs of the two MPIs that the comparison of bytes leaves out; a typemap is right all the same.
 * Both: a struct with a block of a type without data. MPICH 4.0.2 divides by zero in MPI_Pack, Open MPI 4.1.4 packs
 *   further copies at a wrong distance. (Of such types, Open MPI also refuses to make a darray, with MPI_ERR_TYPE.)
 * MPICH 4.0.2: several copies of blocks of a type whose extent is negative are packed at a wrong distance.
 * Open MPI 4.1.4: a distance of -1 byte, a vector's stride or an extent, is taken as "none given" (opal_datatype_add).
 */
static bool is_misread_in_blocks(const struct item *child)
{
    const MPI_Aint extent = extent_of(child->type);
    return child->is_misread || (PIOLET_IS_OPENMPI ? extent == -1 : extent < 0);
}

/* Some constructors exist with large counts as well: one half of the cases takes those, where the MPI has them. */
#if PIOLET_IS_OPENMPI
#define EITHER(is_large, small, large) (small)
#else
#define EITHER(is_large, small, large) ((is_large) ? (large) : (small))
#endif

struct blocks {
    int n, lengths[BLOCKS_MAX], places[BLOCKS_MAX];
    MPI_Aint byte_places[BLOCKS_MAX];
    MPI_Count large_lengths[BLOCKS_MAX], large_places[BLOCKS_MAX], large_byte_places[BLOCKS_MAX];
};

static void pick_blocks(struct blocks *blocks, MPI_Aint extent, struct item *made)
{
    int at = pick(-5, 10);
    *blocks = (struct blocks){.n = pick(0, 9) ? pick(1, BLOCKS_MAX) : 0};
    for (int i = 0; i < blocks->n; i++) {
        const int length = pick(0, 5) ? pick(1, 3) : 0;
        blocks->lengths[i] = length;
        blocks->places[i] = pick(0, 3) ? at : pick(-5, 20);
        blocks->byte_places[i] = blocks->places[i] * (pick(0, 2) ? extent : 4);
        blocks->large_lengths[i] = length;
        blocks->large_places[i] = blocks->places[i];
        blocks->large_byte_places[i] = blocks->byte_places[i];
        at += length + pick(0, 1) * pick(0, 4);
        describe(made, "%dx@%d/%ld ", length, blocks->places[i], (long)blocks->byte_places[i]);
    }
}

static int make_vector(struct item *made, const struct item *child)
{
    const int count = pick(0, 9) ? pick(1, 5) : 0, length = pick(0, 9) ? pick(1, 3) : 0, is_large = pick(0, 1);
    const int stride = pick(0, 2) ? pick(0, 6) : -pick(0, 6), bytes = pick(0, 1) ? pick(-50, 90) : pick(-5, 9) * 4;
    const bool in_bytes = pick(0, 1);
    made->is_misread = is_misread_in_blocks(child);
    if (PIOLET_IS_OPENMPI && (in_bytes ? bytes : stride * extent_of(child->type)) == -1)
        made->is_misread = true;
    describe(made, "vector(%d, %d, %d or %d bytes, %s)", count, length, stride, bytes, child->text);
    (void)is_large;
    if (!in_bytes)
        return EITHER(is_large, MPI_Type_vector(count, length, stride, child->type, &made->type),
                      MPI_Type_vector_c(count, length, stride, child->type, &made->type));
    return EITHER(is_large, MPI_Type_create_hvector(count, length, bytes, child->type, &made->type),
                  MPI_Type_create_hvector_c(count, length, bytes, child->type, &made->type));
}

static int make_indexed(struct item *made, const struct item *child)
{
    const int length = pick(0, 3), kind = pick(0, 3), is_large = pick(0, 1);
    struct blocks b;
    made->is_misread = is_misread_in_blocks(child);
    describe(made, "indexed%d.%d(%d, ", kind, is_large, length);
    pick_blocks(&b, extent_of(child->type), made);
    describe(made, "%s)", child->text);
    switch (kind) {
    case 0:
        return EITHER(is_large, MPI_Type_indexed(b.n, b.lengths, b.places, child->type, &made->type),
                      MPI_Type_indexed_c(b.n, b.large_lengths, b.large_places, child->type, &made->type));
    case 1:
        return EITHER(is_large, MPI_Type_create_hindexed(b.n, b.lengths, b.byte_places, child->type, &made->type),
                      MPI_Type_create_hindexed_c(b.n, b.large_lengths, b.large_byte_places, child->type, &made->type));
    case 2:
        return EITHER(is_large, MPI_Type_create_indexed_block(b.n, length, b.places, child->type, &made->type),
                      MPI_Type_create_indexed_block_c(b.n, length, b.large_places, child->type, &made->type));
    default:
        return EITHER(is_large, MPI_Type_create_hindexed_block(b.n, length, b.byte_places, child->type, &made->type),
                      MPI_Type_create_hindexed_block_c(b.n, length, b.large_byte_places, child->type, &made->type));
    }
}

static int make_struct(struct item *made, const struct item *pool)
{
    MPI_Datatype types[BLOCKS_MAX];
    const int is_large = pick(0, 1);
    struct blocks b;
    (void)is_large;
    describe(made, "struct(");
    pick_blocks(&b, pick(1, 40), made);
    for (int i = 0; i < b.n; i++) {
        const struct item *child = &pool[pick(0, POOL - 1)];
        types[i] = child->type;
        made->is_misread |= is_misread_in_blocks(child) || size_of(child->type) == 0;
        describe(made, ", %s", child->text);
    }
    describe(made, ")");
    return EITHER(is_large, MPI_Type_create_struct(b.n, b.lengths, b.byte_places, types, &made->type),
                  MPI_Type_create_struct_c(b.n, b.large_lengths, b.large_byte_places, types, &made->type));
}

static int make_subarray(struct item *made, const struct item *child)
{
    const int dims = pick(1, DIMS_MAX), order = pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, is_large = pick(0, 1);
    int sizes[DIMS_MAX], subsizes[DIMS_MAX], starts[DIMS_MAX];
    MPI_Count large[3][DIMS_MAX];
    made->is_misread = is_misread_in_blocks(child);
    describe(made, "subarray(%s", order == MPI_ORDER_C ? "C" : "F");
    for (int i = 0; i < dims; i++) {
        large[0][i] = sizes[i] = pick(1, 6);
        large[1][i] = subsizes[i] = pick(1, sizes[i]);
        large[2][i] = starts[i] = pick(0, sizes[i] - subsizes[i]);
        describe(made, ", %d@%d of %d", subsizes[i], starts[i], sizes[i]);
    }
    describe(made, ", %s)", child->text);
    (void)is_large, (void)large;
    return EITHER(is_large, MPI_Type_create_subarray(dims, sizes, subsizes, starts, order, child->type, &made->type),
                  MPI_Type_create_subarray_c(dims, large[0], large[1], large[2], order, child->type, &made->type));
}

static int make_darray(struct item *made, const struct item *child)
{
    static const int KINDS[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int dims = pick(1, DIMS_MAX), order = pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, is_large = pick(0, 1);
    int sizes[DIMS_MAX], kinds[DIMS_MAX], arguments[DIMS_MAX], grid[DIMS_MAX], ranks = 1;
    MPI_Count large_sizes[DIMS_MAX];
    made->is_misread = is_misread_in_blocks(child);
    describe(made, "darray%d(%s", is_large, order == MPI_ORDER_C ? "C" : "F");
    for (int i = 0; i < dims; i++) {
        const int kind = pick(0, 2);
        large_sizes[i] = sizes[i] = pick(1, 9);
        kinds[i] = KINDS[kind];
        grid[i] = kind == 2 ? 1 : pick(1, 3);
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (kind != 2 && pick(0, 1))
            arguments[i] = kind == 1 ? pick(1, 4) : (sizes[i] + grid[i] - 1) / grid[i] + pick(0, 2);
        ranks *= grid[i];
        describe(made, ", %c(%d) %d on %d", "BC*"[kind], arguments[i], sizes[i], grid[i]);
    }
    const int rank = pick(0, ranks - 1);
    describe(made, ", rank %d, %s)", rank, child->text);
    (void)large_sizes;
    return EITHER(
        is_large,
        MPI_Type_create_darray(ranks, rank, dims, sizes, kinds, arguments, grid, order, child->type, &made->type),
        MPI_Type_create_darray_c(ranks, rank, dims, large_sizes, kinds, arguments, grid, order, child->type,
                                 &made->type));
}

static int make_simple(struct item *made, const struct item *child)
{
    const int count = pick(0, 9) ? pick(1, 4) : 0, lb = pick(-20, 20), is_large = pick(0, 1);
    const int extent = pick(0, 3) ? (int)extent_of(child->type) + pick(0, 2) * 4 : pick(-30, 60);
    (void)is_large;
    made->is_misread = is_misread_in_blocks(child);
    switch (pick(0, 3)) {
    case 0:
        describe(made, "dup(%s)", child->text);
        return MPI_Type_dup(child->type, &made->type);
    case 1:
        describe(made, "contiguous(%d, %s)", count, child->text);
        return EITHER(is_large, MPI_Type_contiguous(count, child->type, &made->type),
                      MPI_Type_contiguous_c(count, child->type, &made->type));
    default:
        describe(made, "resized(%d, %d, %s)", lb, extent, child->text);
        return EITHER(is_large, MPI_Type_create_resized(child->type, lb, extent, &made->type),
                      MPI_Type_create_resized_c(child->type, lb, extent, &made->type));
    }
}

static int make_item(struct item *made, const struct item *pool)
{
    const struct item *child = &pool[pick(0, POOL - 1)];
    made->is_ours = true;
    switch (pick(0, 8)) {
    case 0:
    case 1:
        return make_simple(made, child);
    case 2:
    case 3:
        return make_vector(made, child);
    case 4:
    case 5:
        return make_indexed(made, child);
    case 6:
        return make_struct(made, pool);
    case 7:
        return make_subarray(made, child);
    default:
        return make_darray(made, child);
    }
}

static void drop(struct item *item)
{
    if (item->is_ours)
        MPI_Type_free(&item->type);
    memset(item, 0, sizeof *item);
}

/* A few types made of one another; all are freed at the end, some before those that use them. */
static void check_random(void)
{
    static struct item pool[POOL + 1];
    struct item *made = &pool[POOL];
    for (int i = 0; i < POOL; i++)
        make_named(&pool[i]);
    for (int steps = pick(1, 6); steps > 0; steps--) {
        if (make_item(made, pool)) { /* see is_misread_in_blocks() */
            EXPECT(PIOLET_IS_OPENMPI, "refused: %s", made->text);
            memset(made, 0, sizeof *made);
            continue;
        }
        check_item(made);
        struct item *old = &pool[pick(0, POOL - 1)];
        drop(old);
        *old = *made;
        memset(made, 0, sizeof *made);
        if (size_of(old->type) > 2000 || extent_of(old->type) > 5000 || extent_of(old->type) < -5000)
            break;
    }
    for (int i = 0; i < POOL; i++)
        drop(&pool[i]);
}

/* ---- Cache and memory -------------------------------------------------------------------------------------------- */

/* A type of several levels, its inner ones freed at once. */
static MPI_Datatype make_nested(void)
{
    MPI_Datatype types[3] = {MPI_DOUBLE_INT, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}, nested;
    MPI_Type_vector(3, 2, 5, MPI_SHORT, &types[1]);
    MPI_Type_indexed(3, (int[]){1, 2, 3}, (int[]){0, 3, 7}, types[1], &types[2]);
    MPI_Type_create_struct(3, (int[]){2, 1, 2}, (MPI_Aint[]){0, 100, 200}, types, &nested);
    MPI_Type_free(&types[1]);
    MPI_Type_free(&types[2]);
    return nested;
}

static void check_cache(void)
{
    struct item item = {.type = MPI_DOUBLE_INT, .text = "nested"}, twin = {.text = "its duplicate"};
    typemap_unref(map_of(&item));
    item.type = MPI_SHORT;
    typemap_unref(map_of(&item));
    const int64_t before = live_blocks;
    item.type = make_nested();
    struct typemap *first = map_of(&item), *second = map_of(&item);
    EXPECT(first == second, "a second lookup made a second map");
    MPI_Type_dup(item.type, &twin.type);
    struct typemap *third = map_of(&twin);
    EXPECT(first == third, "a duplicate does not share its map");
    MPI_Type_free(&item.type);
    MPI_Type_free(&twin.type);
    EXPECT(live_blocks > before && typemap_shape(first)->size == typemap_shape(second)->size, "freed too early");
    typemap_unref(first);
    typemap_unref(second);
    typemap_unref(third);
    EXPECT(live_blocks == before, "%" PRId64 " blocks of memory outlive their types", live_blocks - before);
}

static void *look_up(void *type)
{
    struct pl_error own_error;
    struct typemap *map = NULL;
    return typemap_of(*(MPI_Datatype *)type, &map, &own_error) ? NULL : map;
}

/* Threads that decode the same type at the same time end with the same map. */
static void check_threads(void)
{
    enum { THREADS = 4, ROUNDS = 200 };
    const int64_t before = live_blocks;
    int provided;
    MPI_Query_thread(&provided);
    for (int round = 0; provided == MPI_THREAD_MULTIPLE && round < ROUNDS; round++) {
        MPI_Datatype type = make_nested();
        pthread_t threads[THREADS];
        void *maps[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, look_up, &type);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], &maps[i]);
            EXPECT(maps[i] && maps[i] == maps[0], "threads have different maps");
            typemap_unref(maps[i]);
        }
        MPI_Type_free(&type);
    }
    EXPECT(live_blocks == before, "%" PRId64 " blocks of memory are lost between threads", live_blocks - before);
}

/* Each request for memory fails once; nothing may be lost, and the next try must succeed. */
static void check_no_memory(void)
{
    const int64_t before = live_blocks;
    pl_status status = PL_E_NOMEM;
    for (int64_t n = 0; status && n < 1000; n++) {
        struct typemap *map = NULL;
        struct item item = {.type = make_nested(), .text = "nested"};
        fail_in = n;
        status = typemap_of(item.type, &map, &error);
        fail_in = -1;
        EXPECT(!status || status == PL_E_NOMEM, "without memory: %s", error.text);
        EXPECT(!status == (map != NULL), "the map must be there on success only");
        typemap_unref(map);
        typemap_unref(map_of(&item));
        MPI_Type_free(&item.type);
        EXPECT(live_blocks == before, "request %" PRId64 " failed: %" PRId64 " blocks are lost", n,
               live_blocks - before);
    }
    EXPECT(!status, "never succeeds");
}

/* ---- Huge and deep ----------------------------------------------------------------------------------------------- */

static void check_huge(MPI_Datatype type, const char *name, int64_t pieces, int64_t position, int64_t displacement)
{
    struct item item = {.type = type};
    struct typemap_cursor cursor;
    int64_t at = 0;
    const int64_t before = live_blocks;
    describe(&item, "%s", name);
    struct typemap *map = map_of(&item);
    if (!map)
        return;
    EXPECT(live_blocks < before + 20, "%s takes %" PRId64 " blocks of memory", name, live_blocks - before);
    EXPECT(typemap_shape(map)->pieces == pieces, "%s has %" PRId64 " pieces", name, typemap_shape(map)->pieces);
    EXPECT(typemap_displacement(map, position) == displacement, "%s: byte %" PRId64 " is at %" PRId64, name, position,
           typemap_displacement(map, position));
    EXPECT(typemap_position(map, displacement) == position, "%s: wrong position", name);
    if (typemap_cursor_init(&cursor, map, &error))
        complain(__LINE__, "%s", error.text);
    typemap_cursor_seek(&cursor, position);
    typemap_cursor_next(&cursor, 1, &at);
    EXPECT(at == displacement, "%s: the cursor finds %" PRId64, name, at);
    typemap_cursor_clear(&cursor);
    typemap_unref(map);
    MPI_Type_free(&item.type);
}

static void check_huge_types(void)
{
    const int64_t billion = 1000000000, side = 1 << 20;
    MPI_Datatype type;
    MPI_Type_vector((int)billion, 1, 2, MPI_DOUBLE, &type);
    check_huge(type, "a vector of 10^9 blocks", billion, 8 * (billion - 1) + 3, 16 * (billion - 1) + 3);
    MPI_Type_create_subarray(2, (int[]){(int)side, (int)side}, (int[]){(int)side / 2, (int)side / 2},
                             (int[]){(int)side / 2, (int)side / 2}, MPI_ORDER_C, MPI_DOUBLE, &type);
    check_huge(type, "a subarray of 2^43 bytes", side / 2, 8 * (side / 2) * (side / 2) - 1, 8 * side * side - 1);
    MPI_Type_create_darray(4, 3, 2, (int[]){(int)side, (int)side},
                           (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}, (int[]){3, 5}, (int[]){2, 2},
                           MPI_ORDER_C, MPI_DOUBLE, &type);
    struct item item = {.type = type, .text = "a cyclic array of 2^43 bytes"};
    struct typemap *map = map_of(&item);
    EXPECT(map && typemap_shape(map)->monotone && map->node->sum.height <= 6, "%s: not as expected", item.text);
    typemap_unref(map);
    MPI_Type_free(&item.type);
#if !PIOLET_IS_OPENMPI
    MPI_Type_vector_c(1000 * billion, 1, 2, MPI_DOUBLE, &type);
    check_huge(type, "a vector of 10^12 blocks", 1000 * billion, 8 * (999 * billion) + 3, 16 * (999 * billion) + 3);
#endif
}

static void check_million(void)
{
    enum { PIECES = 1000000 };
    int *lengths = calloc(PIECES, sizeof *lengths);
    MPI_Aint *places = calloc(PIECES, sizeof *places);
    MPI_Datatype type;
    for (int64_t i = 0; i < PIECES; i++) {
        lengths[i] = 1 + (int)(i % 2);
        places[i] = 10 * i * (i + 1);
    }
    MPI_Type_create_hindexed(PIECES, lengths, places, MPI_INT, &type);
    free(lengths);
    free(places);
    check_huge(type, "an index of 10^6 pieces", PIECES, 6 * 700000 + 5, 10 * INT64_C(700001) * 700002 + 1);
}

static void check_deep(void)
{
    enum { DEPTH = 2000 };
    MPI_Datatype type, outer;
    const int64_t before = live_blocks;
    MPI_Type_contiguous(1, MPI_CHAR, &type);
    for (int i = 0; i < DEPTH; i++) {
        MPI_Datatype types[2] = {MPI_CHAR, type};
        if (i % 2)
            MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 2}, types, &outer);
        else
            MPI_Type_create_resized(type, 0, 3 + i, &outer);
        MPI_Type_free(&type);
        type = outer;
    }
    struct item item = {.type = type, .text = "a deep type"};
    struct typemap *map = map_of(&item);
    EXPECT(map && typemap_shape(map)->size == DEPTH / 2 + 1, "deep type: wrong size");
    EXPECT(map && typemap_displacement(map, DEPTH / 4) == DEPTH / 2, "deep type: wrong place");
    typemap_unref(map);
    MPI_Type_free(&type);
    EXPECT(live_blocks - before < 4, "deep type: %" PRId64 " blocks are lost", live_blocks - before);
}

/* ---- Named types ------------------------------------------------------------------------------------------------- */

static void check_named(void)
{
    struct typemap *map = NULL;
    for (int i = 0; i < n_named; i++) {
        struct item item = {.type = named[i].type};
        describe(&item, "%s", named[i].name);
        check_item(&item);
    }
    EXPECT(typemap_of(MPI_DATATYPE_NULL, &map, &error) == PL_E_TYPE && !map, "MPI_DATATYPE_NULL was taken");
#if !PIOLET_IS_OPENMPI /* which has no more MPI_LB and MPI_UB */
    struct item item = {.is_ours = true, .text = "a struct with the bounds of MPI-1", .is_misread = true};
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){-8, 0, 24}, (MPI_Datatype[]){MPI_LB, MPI_INT, MPI_UB},
                           &item.type);
    check_item(&item);
    drop(&item);
#endif
}

static void check_all_random(uint64_t first_seed, int cases)
{
    const int64_t before = live_blocks;
    for (int i = 0; i < cases; i++) {
        seed = rng_at(first_seed, (uint64_t)i);
        check_random();
    }
    EXPECT(live_blocks == before, "%" PRId64 " blocks of memory outlive the random types", live_blocks - before);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (real_load(&error))
        complain(__LINE__, "%s", error.text);
    MPI_Datatype real_type, complex_type, integer_type;
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real_type);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex_type);
    MPI_Type_create_f90_integer(9, &integer_type);
    const __typeof__(*named) types[] = {
#define NAMED(type) {type, #type}
        NAMED(MPI_CHAR),
        NAMED(MPI_BYTE),
        NAMED(MPI_SHORT),
        NAMED(MPI_INT),
        NAMED(MPI_DOUBLE),
        NAMED(MPI_LONG_DOUBLE),
        NAMED(MPI_DOUBLE_INT),
        NAMED(MPI_SHORT_INT),
        NAMED(MPI_LONG_INT),
        NAMED(MPI_FLOAT_INT),
        NAMED(MPI_LONG_DOUBLE_INT),
        NAMED(MPI_2INT),
        NAMED(MPI_C_DOUBLE_COMPLEX),
        NAMED(MPI_C_BOOL),
        NAMED(MPI_UINT64_T),
        NAMED(MPI_PACKED),
        NAMED(real_type),
        NAMED(complex_type),
        NAMED(integer_type),
    };
    named = types;
    n_named = (int)(sizeof types / sizeof types[0]);
    const uint64_t first_seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const int cases = argc > 2 ? atoi(argv[2]) : 3000;

    check_named();
    check_all_random(first_seed, cases);
    check_cache();
    check_threads();
    check_no_memory();
    check_huge_types();
    check_million();
    check_deep();
    if (!failures)
        printf("%d random types: all bytes are where MPI says\n", cases);
    MPI_Finalize();
    return failures != 0;
}
