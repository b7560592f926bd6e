/* Datatypes of distributions. The only file of this layer that calls MPI.
 *
 * MPI's constructors count in int, so every repetition goes through dist_type_repeat(), which splits what is longer;
 * distances are in bytes and 64 bits wide. A type is built axis by axis, from the fastest: its size grows with the
 * number of axes, not with that of elements. */
#include "dist/dist_core.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { CHUNK = 1 << 30 }; /* longest repetition handed to MPI at once */

/* What a construction has in hand. `mpi` is the first MPI error; after it nothing more is called. */
struct maker {
    const struct piolet_dist *dist;
    MPI_Datatype element;
    MPI_Aint element_bytes;
    int mpi;
    bool is_out_of_memory;
};

static bool dist_type_failed(const struct maker *maker)
{
    return maker->mpi != MPI_SUCCESS || maker->is_out_of_memory;
}

static void dist_type_note(struct maker *maker, int mpi)
{
    if (maker->mpi == MPI_SUCCESS)
        maker->mpi = mpi;
}

/* Frees what is ours: never the caller's element. */
static void dist_type_drop(const struct maker *maker, MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL && *type != maker->element)
        MPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
}

/* Copies of types at places; takes the types over. MPI_DATATYPE_NULL after a failure. */
static MPI_Datatype dist_type_join(struct maker *maker, int count, const MPI_Aint *places, MPI_Datatype *types)
{
    assert(count > 0);
    MPI_Datatype joined = MPI_DATATYPE_NULL;
    int *ones = malloc((size_t)count * sizeof *ones);
    if (!ones)
        maker->is_out_of_memory = true;
    for (int i = 0; ones && i < count; i++)
        ones[i] = 1;
    if (!dist_type_failed(maker))
        dist_type_note(maker, MPI_Type_create_struct(count, ones, places, types, &joined));
    free(ones);
    for (int i = 0; i < count; i++)
        dist_type_drop(maker, &types[i]);
    return joined;
}

static MPI_Datatype repeat_short(struct maker *maker, int64_t count, MPI_Aint stride, MPI_Datatype type)
{
    assert(count > 0 && count <= CHUNK);
    MPI_Datatype repeated = MPI_DATATYPE_NULL;
    MPI_Aint lower = 0, extent = 0;
    if (dist_type_failed(maker))
        return repeated;
    dist_type_note(maker, MPI_Type_get_extent(type, &lower, &extent));
    if (dist_type_failed(maker))
        return repeated;
    if (extent == stride) /* says contiguous where it is: implementations look no further */
        dist_type_note(maker, MPI_Type_contiguous((int)count, type, &repeated));
    else
        dist_type_note(maker, MPI_Type_create_hvector((int)count, 1, stride, type, &repeated));
    return repeated;
}

/* `count` copies of a type at 0, stride, 2 stride, ...; the type stays the caller's. */
static MPI_Datatype dist_type_repeat(struct maker *maker, int64_t count, MPI_Aint stride, MPI_Datatype type)
{
    if (count <= CHUNK)
        return repeat_short(maker, count, stride, type);
    MPI_Datatype chunk = repeat_short(maker, CHUNK, stride, type);
    MPI_Datatype types[2] = {dist_type_repeat(maker, count / CHUNK, stride * CHUNK, chunk), MPI_DATATYPE_NULL};
    dist_type_drop(maker, &chunk);
    if (count % CHUNK == 0)
        return types[0];
    types[1] = repeat_short(maker, count % CHUNK, stride, type);
    const MPI_Aint places[2] = {0, count / CHUNK * CHUNK * stride};
    return dist_type_join(maker, 2, places, types);
}

/* The intervals of an axis of `inner`, the first one at 0; takes `inner` over. */
static MPI_Datatype axis_type(struct maker *maker, const struct piolet_dist_axis *part, MPI_Aint pitch,
                              MPI_Datatype inner)
{
    assert(part->count > 0 && part->length > 0 && part->last > 0);
    const int64_t equal = part->last == part->length ? part->count : part->count - 1;
    MPI_Datatype interval = dist_type_repeat(maker, part->length, pitch, inner);
    MPI_Datatype types[2] = {interval, MPI_DATATYPE_NULL};
    if (part->count > 1) {
        types[0] = dist_type_repeat(maker, equal, part->stride * pitch, interval);
        dist_type_drop(maker, &interval);
    }
    if (equal < part->count) {
        types[1] = dist_type_repeat(maker, part->last, pitch, inner);
        const MPI_Aint places[2] = {0, equal * part->stride * pitch};
        types[0] = dist_type_join(maker, 2, places, types);
    }
    dist_type_drop(maker, &inner);
    return types[0];
}

/* The type of a box that is not empty, and the place of its first element. */
static MPI_Datatype box_type(struct maker *maker, const struct piolet_dist_axis *parts, MPI_Aint *ret_place)
{
    MPI_Datatype type = maker->element;
    *ret_place = 0;
    for (int a = 0; a < maker->dist->axes; a++) {
        const MPI_Aint pitch = maker->dist->axis[a].pitch * maker->element_bytes;
        *ret_place += parts[a].first * pitch;
        type = axis_type(maker, &parts[a], pitch, type);
    }
    return type;
}

/* The boxes of a rank in one type; MPI_DATATYPE_NULL when all are empty. */
static MPI_Datatype boxes_type(struct maker *maker, int64_t rank)
{
    const int64_t boxes = dist_box_count(maker->dist);
    MPI_Datatype *types = malloc((size_t)boxes * sizeof(MPI_Datatype));
    MPI_Aint *places = malloc((size_t)boxes * sizeof *places);
    MPI_Datatype joined = MPI_DATATYPE_NULL;
    int count = 0;
    maker->is_out_of_memory = !types || !places;
    for (int64_t box = 0; box < boxes && !dist_type_failed(maker); box++) {
        struct piolet_dist_axis parts[PIOLET_DIST_DIMS_MAX];
        dist_box(maker->dist, rank, box, parts);
        if (dist_box_size(maker->dist, parts)) {
            types[count] = box_type(maker, parts, &places[count]);
            count++;
        }
    }
    if (count == 1 && places[0] == 0)
        joined = types[0];
    else if (count)
        joined = dist_type_join(maker, count, places, types);
    free(types);
    free(places);
    return joined;
}

/* The lists that MPI_Type_create_hindexed() takes, from the runs of a rank. */
struct index_list {
    int64_t capacity;
    int count;
    int *lengths;
    MPI_Aint *places;
};

static void dist_type_list_add(struct index_list *list, struct piolet_dist_run run, MPI_Aint element_bytes)
{
    while (run.length > 0) {
        const int length = run.length < CHUNK ? (int)run.length : CHUNK;
        assert(list->count < list->capacity);
        list->lengths[list->count] = length;
        list->places[list->count++] = run.offset * element_bytes;
        run.offset += length;
        run.length -= length;
    }
}

static MPI_Datatype random_type(struct maker *maker, int64_t rank)
{
    const int64_t blocks = dist_random_blocks(maker->dist, rank);
    const int64_t pieces = dist_ceil_div(maker->dist->block, CHUNK);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (blocks == 0)
        return type;
    struct index_list list = {.capacity = blocks * pieces};
    if (list.capacity <= INT32_MAX) {
        list.lengths = malloc((size_t)list.capacity * sizeof *list.lengths);
        list.places = malloc((size_t)list.capacity * sizeof *list.places);
    }
    maker->is_out_of_memory = !list.lengths || !list.places;
    if (!maker->is_out_of_memory) {
        struct piolet_dist_runs runs;
        struct piolet_dist_run run;
        piolet_dist_runs_begin(&runs, maker->dist, rank);
        while (piolet_dist_runs_next(&runs, &run))
            dist_type_list_add(&list, run, maker->element_bytes);
        dist_type_note(maker, MPI_Type_create_hindexed(list.count, list.lengths, list.places, maker->element, &type));
    }
    free(list.lengths);
    free(list.places);
    return type;
}

/* A rank's buffer whose dimensions run the other way: visits it in file order. */
static MPI_Datatype transposed_type(struct maker *maker, int64_t rank)
{
    struct piolet_dist_axis parts[PIOLET_DIST_DIMS_MAX];
    int64_t pitches[PIOLET_DIST_DIMS_MAX];
    dist_box(maker->dist, rank, 0, parts);
    dist_box_pitches(maker->dist, parts, pitches);
    MPI_Datatype type = maker->element;
    for (int a = 0; a < maker->dist->axes; a++) {
        MPI_Datatype inner = type;
        type = dist_type_repeat(maker, piolet_dist_axis_size(&parts[a]), pitches[a] * maker->element_bytes, inner);
        dist_type_drop(maker, &inner);
    }
    return type;
}

/* Sets the extent where it is another, and commits; takes the type over. MPI_DATATYPE_NULL stands for nothing. */
static MPI_Datatype dist_type_complete(struct maker *maker, MPI_Datatype type, MPI_Aint bytes)
{
    MPI_Aint lower = 0, extent = 0;
    MPI_Datatype resized = MPI_DATATYPE_NULL;
    if (!dist_type_failed(maker) && type == MPI_DATATYPE_NULL)
        dist_type_note(maker, MPI_Type_contiguous(0, maker->element, &type));
    if (!dist_type_failed(maker))
        dist_type_note(maker, MPI_Type_get_extent(type, &lower, &extent));
    if (!dist_type_failed(maker) && (lower != 0 || extent != bytes)) {
        dist_type_note(maker, MPI_Type_create_resized(type, 0, bytes, &resized));
        dist_type_drop(maker, &type);
        type = resized;
    }
    if (!dist_type_failed(maker))
        dist_type_note(maker, MPI_Type_commit(&type));
    if (dist_type_failed(maker))
        dist_type_drop(maker, &type);
    return type;
}

static int maker_begin(struct maker *maker, const struct piolet_dist *dist, int64_t rank, MPI_Datatype element,
                       char *message, size_t size)
{
    *maker = (struct maker){.dist = dist, .element = element, .mpi = MPI_SUCCESS};
    if (!dist_rank_ok(dist, rank))
        return dist_fail(message, size, PIOLET_DIST_E_RANGE, "rank %" PRId64 "; allowed: 0 to %" PRId64, rank,
                         dist->shape.procs - 1);
    MPI_Aint lower = 0, extent = 0;
    if (MPI_Type_get_extent(element, &lower, &extent) != MPI_SUCCESS)
        return dist_fail(message, size, PIOLET_DIST_E_MPI, "the element's datatype has no extent");
    if (lower != 0 || extent < 1)
        return dist_fail(message, size, PIOLET_DIST_E_SHAPE,
                         "the element's datatype runs from byte %lld and has %lld bytes; it must run from 0 and have 1 "
                         "or more",
                         (long long)lower, (long long)extent);
    if (dist->elements > PTRDIFF_MAX / extent)
        return dist_fail(message, size, PIOLET_DIST_E_SHAPE,
                         "%" PRId64 " elements of %lld bytes are more than a file offset can count", dist->elements,
                         (long long)extent);
    maker->element_bytes = extent;
    return PIOLET_DIST_OK;
}

static int maker_end(const struct maker *maker, char *message, size_t size)
{
    if (maker->is_out_of_memory)
        return dist_fail(message, size, PIOLET_DIST_E_MEMORY, "not enough memory for a datatype");
    if (maker->mpi == MPI_SUCCESS)
        return PIOLET_DIST_OK;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(maker->mpi, text, &length);
    return dist_fail(message, size, PIOLET_DIST_E_MPI, "MPI made no datatype: %.300s", text);
}

static MPI_Datatype maker_memory(struct maker *maker, int64_t rank, int64_t count)
{
    if (!count)
        return MPI_DATATYPE_NULL;
    return maker->dist->spec.transposed ? transposed_type(maker, rank)
                                        : dist_type_repeat(maker, count, maker->element_bytes, maker->element);
}

/* The rank's elements where they are in the file, or in its memory. */
static int maker_make(const piolet_dist *dist, bool in_file, int64_t rank, MPI_Datatype element, MPI_Datatype *ret_type,
                      char *message, size_t size)
{
    struct maker maker;
    int status = maker_begin(&maker, dist, rank, element, message, size);
    if (status)
        return status;
    const int64_t count = in_file ? dist->elements : piolet_dist_count(dist, rank);
    MPI_Datatype type;
    if (!in_file)
        type = maker_memory(&maker, rank, count);
    else
        type = dist->spec.kind == PIOLET_DIST_RANDOM ? random_type(&maker, rank) : boxes_type(&maker, rank);
    type = dist_type_complete(&maker, type, count * maker.element_bytes);
    status = maker_end(&maker, message, size);
    if (!status)
        *ret_type = type;
    return status;
}

int piolet_dist_filetype(const piolet_dist *dist, int64_t rank, MPI_Datatype element, MPI_Datatype *ret_type,
                         char *message, size_t message_size)
{
    return maker_make(dist, true, rank, element, ret_type, message, message_size);
}

int piolet_dist_memtype(const piolet_dist *dist, int64_t rank, MPI_Datatype element, MPI_Datatype *ret_type,
                        char *message, size_t message_size)
{
    return maker_make(dist, false, rank, element, ret_type, message, message_size);
}
