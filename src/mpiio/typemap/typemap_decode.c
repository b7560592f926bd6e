/* Typemaps of MPI datatypes: asks MPI how a type was made, of its inner types as well, and keeps what it found as an
 * attribute of each type. Inner types are kept, too: a type that is used twice inside another is decoded once, so that
 * nesting of pairs in pairs does not double the work with each level. */
#include "mpiio/typemap/typemap_decode.h"
#include "mpi/real.h"
#include "mpiio/typemap/typemap_visit.h"

#include <pthread.h>
#include <stddef.h>

/* ---- Kept at the datatype ---------------------------------------------------------------------------------------- */

/* MPI runs these two inside of its own calls and may hold locks: they only count and free. */
static int copy_attribute(MPI_Datatype type, int keyval, void *extra, void *value, void *ret_value, int *ret_flag)
{
    (void)type, (void)keyval, (void)extra;
    *(void **)ret_value = typemap_ref(value);
    *ret_flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)extra;
    typemap_unref(value);
    return MPI_SUCCESS;
}

/* The lock makes "look up and take a reference" one step, and "look up and set": a map once set is never replaced, so
 * that no other thread can lose it between the two. The callbacks do not take it. */
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static int cache_keyval = MPI_KEYVAL_INVALID;

static struct typemap *look_up(MPI_Datatype type)
{
    void *value = NULL;
    int is_set = 0;
    if (cache_keyval == MPI_KEYVAL_INVALID &&
        real.Type_create_keyval(copy_attribute, delete_attribute, &cache_keyval, NULL) != MPI_SUCCESS)
        cache_keyval = MPI_KEYVAL_INVALID;
    if (cache_keyval == MPI_KEYVAL_INVALID || real.Type_get_attr(type, cache_keyval, &value, &is_set) != MPI_SUCCESS ||
        !is_set)
        return NULL;
    return typemap_ref(value);
}

static bool find(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *ret_made)
{
    (void)maker;
    pthread_mutex_lock(&cache_lock);
    ret_made->map = look_up(type);
    pthread_mutex_unlock(&cache_lock);
    return ret_made->map;
}

/* Returns the map to use: that of another thread where it was quicker. A type without attribute works as well. */
static struct typemap *cache_keep(MPI_Datatype type, struct typemap *map)
{
    pthread_mutex_lock(&cache_lock);
    struct typemap *other = look_up(type);
    if (!other && cache_keyval != MPI_KEYVAL_INVALID &&
        real.Type_set_attr(type, cache_keyval, typemap_ref(map)) != MPI_SUCCESS)
        typemap_unref(map);
    pthread_mutex_unlock(&cache_lock);
    if (!other)
        return map;
    typemap_unref(map);
    return other;
}

/* ---- What MPI says ----------------------------------------------------------------------------------------------- */

/* MPI has the last word on bounds (it knows about alignment and about bounds that inner types insist on); where it
 * counts other bytes than we do, the map would read or write the wrong ones. */
static pl_status agree_with_mpi(MPI_Datatype type, struct typemap **map, struct pl_error *error)
{
    const struct typemap_shape *shape = typemap_shape(*map);
    MPI_Count size = 0, lb = 0, extent = 0;
    struct typemap *resized = NULL;
    pl_status status = typemap_check(real.Type_size_x(type, &size), "MPI_Type_size_x", error);
    if (!status)
        status = typemap_check(real.Type_get_extent_x(type, &lb, &extent), "MPI_Type_get_extent_x", error);
    if (!status && size != shape->size)
        status = pl_fail(error, PL_E_TYPE, "a datatype has %lld bytes of data, but MPI says %lld",
                         (long long)shape->size, (long long)size);
    if (status || (lb == shape->lb && extent == shape->extent))
        return status;
    status = typemap_resized(*map, lb, extent, &resized, error);
    if (status)
        return status;
    typemap_unref(*map);
    *map = resized;
    return PL_OK;
}

/* ---- Types without inner types ----------------------------------------------------------------------------------- */

/* A value and an int, as the C struct of both lies in memory: where the int is aligned, a gap may be before it. */
static bool find_pair(MPI_Datatype type, int64_t counts[2], int64_t places[2])
{
    const struct {
        MPI_Datatype type;
        size_t bytes;
    } pairs[] = {
        {MPI_FLOAT_INT, sizeof(float)}, {MPI_DOUBLE_INT, sizeof(double)}, {MPI_LONG_INT, sizeof(long)},
        {MPI_SHORT_INT, sizeof(short)}, {MPI_2INT, sizeof(int)},          {MPI_LONG_DOUBLE_INT, sizeof(long double)},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (type == pairs[i].type) {
            const size_t mask = _Alignof(int) - 1;
            counts[0] = (int64_t)pairs[i].bytes;
            counts[1] = sizeof(int);
            places[0] = 0;
            places[1] = (int64_t)((pairs[i].bytes + mask) & ~mask);
            return true;
        }
    return false;
}

static pl_status decode_leaf(const struct typemap_maker *maker, MPI_Datatype type, int combiner,
                             struct typemap_made *ret_made, struct pl_error *error)
{
    (void)maker, (void)combiner;
    int64_t counts[2], places[2];
    MPI_Count size = 0;
    struct typemap *byte = NULL;
    pl_status status = typemap_check(real.Type_size_x(type, &size), "MPI_Type_size_x", error);
    if (!status && find_pair(type, counts, places)) {
        status = typemap_dense(1, &byte, error);
        if (!status)
            status = typemap_indexed(2, places, counts, byte, &ret_made->map, error);
        typemap_unref(byte);
    } else if (!status) {
        status = typemap_dense(size, &ret_made->map, error);
    }
    return status ? status : agree_with_mpi(type, &ret_made->map, error);
}

/* ---- Types with inner types -------------------------------------------------------------------------------------- */

static pl_status settle(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *made,
                        struct pl_error *error)
{
    (void)maker;
    const pl_status status = agree_with_mpi(type, &made->map, error);
    if (!status)
        made->map = cache_keep(type, made->map);
    return status;
}

pl_status typemap_of(MPI_Datatype type, struct typemap **ret_map, struct pl_error *error)
{
    static const struct typemap_maker maker = {.find = find, .leaf = decode_leaf, .settle = settle};
    struct typemap_made made;
    if (typemap_leaf_find(maker.owner, type, &made)) { /* most types of small calls */
        *ret_map = made.map;
        return PL_OK;
    }
    const pl_status status = typemap_visit(&maker, type, &made, error);
    if (!status)
        *ret_map = made.map;
    return status;
}
