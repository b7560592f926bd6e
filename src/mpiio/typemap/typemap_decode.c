/* Typemaps of MPI datatypes: asks MPI how a type was made, of its inner types as well, and keeps what it found as an
 * attribute of each type. Inner types are kept, too: a type that is used twice inside another is decoded once, so that
 * nesting of pairs in pairs does not double the work with each level. */
#include "mpiio/typemap/typemap_decode.h"
#include "mpi/real.h"
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_combine.h"
#include "mpiio/typemap/typemap_node.h"

#include <pthread.h>
#include <stddef.h>

static pl_status check(int code, const char *name, struct pl_error *error)
{
    return code == MPI_SUCCESS ? PL_OK : pl_fail(error, PL_E_TYPE, "%s failed with code %d", name, code);
}

/* ---- Kept at the datatype ---------------------------------------------------------------------------------------- */

/* MPI runs these two inside of its own calls and may hold locks: they only count and free. For predefined types, MPICH
 * runs the second in MPI_Finalize; Open MPI never does, which leaves one small block for each named type in use. */
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

static struct typemap *cache_find(MPI_Datatype type)
{
    pthread_mutex_lock(&cache_lock);
    struct typemap *map = look_up(type);
    pthread_mutex_unlock(&cache_lock);
    return map;
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

static pl_status decode_leaf(MPI_Datatype type, struct typemap **ret_map, struct pl_error *error)
{
    int64_t counts[2], places[2];
    MPI_Count size = 0;
    struct typemap *byte = NULL;
    pl_status status = check(real.Type_size_x(type, &size), "MPI_Type_size_x", error);
    if (status || !find_pair(type, counts, places))
        return status ? status : typemap_dense(size, ret_map, error);
    status = typemap_dense(1, &byte, error);
    if (!status)
        status = typemap_indexed(2, places, counts, byte, ret_map, error);
    typemap_unref(byte);
    return status;
}

static bool is_leaf(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* ---- Asking MPI -------------------------------------------------------------------------------------------------- */

/* A type that is being decoded, and the one outside of it: a stack on the heap, since programs may nest types deeper
 * than calls. */
struct task {
    struct task *outer;
    MPI_Datatype type;
    int64_t done; /* inner types whose maps are there */
    MPI_Datatype *types;
    struct typemap_contents contents;
};

struct envelope {
    MPI_Count integers, addresses, counts, types;
    int combiner;
};

static pl_status get_envelope(MPI_Datatype type, struct envelope *ret, struct pl_error *error)
{
    *ret = (struct envelope){0};
#if PIOLET_IS_OPENMPI
    int integers, addresses, types;
    const int code = real.Type_get_envelope(type, &integers, &addresses, &types, &ret->combiner);
    if (code == MPI_SUCCESS) {
        ret->integers = integers;
        ret->addresses = addresses;
        ret->types = types;
    }
#else
    const int code = real.Type_get_envelope_c(type, &ret->integers, &ret->addresses, &ret->counts, &ret->types,
                                              &ret->combiner);
#endif
    return check(code, "MPI_Type_get_envelope", error);
}

/* Arguments as MPI gives them. One element more each: an array of none would be no memory. */
struct raw {
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *counts;
};

static bool raw_init(struct raw *raw, const struct envelope *envelope)
{
    raw->integers = mem_zalloc((size_t)envelope->integers + 1, sizeof *raw->integers);
    raw->addresses = mem_zalloc((size_t)envelope->addresses + 1, sizeof *raw->addresses);
    raw->counts = mem_zalloc((size_t)envelope->counts + 1, sizeof *raw->counts);
    return raw->integers && raw->addresses && raw->counts;
}

static void raw_clear(struct raw *raw)
{
    mem_free(raw->integers);
    mem_free(raw->addresses);
    mem_free(raw->counts);
}

static void unite_values(const struct raw *raw, const struct envelope *envelope, int64_t *values)
{
    for (MPI_Count i = 0; i < envelope->integers; i++)
        *values++ = raw->integers[i];
    for (MPI_Count i = 0; i < envelope->addresses; i++)
        *values++ = raw->addresses[i];
    for (MPI_Count i = 0; i < envelope->counts; i++)
        *values++ = raw->counts[i];
}

/* MPI fills the handles only here, so that whoever fails before has none to free. */
static pl_status get_contents(struct task *task, const struct envelope *envelope, const struct raw *raw,
                              struct pl_error *error)
{
#if PIOLET_IS_OPENMPI
    const int code = real.Type_get_contents(task->type, (int)envelope->integers, (int)envelope->addresses,
                                            (int)envelope->types, raw->integers, raw->addresses, task->types);
#else
    const int code = real.Type_get_contents_c(task->type, envelope->integers, envelope->addresses, envelope->counts,
                                              envelope->types, raw->integers, raw->addresses, raw->counts, task->types);
#endif
    const pl_status status = check(code, "MPI_Type_get_contents", error);
    if (status)
        return status;
    unite_values(raw, envelope, task->contents.values);
    task->contents.n_types = envelope->types;
    return PL_OK;
}

static pl_status task_fill(struct task *task, const struct envelope *envelope, struct pl_error *error)
{
    struct raw raw = {0};
    const int64_t n_values = envelope->integers + envelope->addresses + envelope->counts;
    task->types = mem_zalloc((size_t)envelope->types + 1, sizeof(MPI_Datatype));
    task->contents = (struct typemap_contents){
        .combiner = envelope->combiner,
        .integers = envelope->integers,
        .n_values = n_values,
        .values = mem_zalloc((size_t)n_values + 1, sizeof(int64_t)),
        .maps = mem_zalloc((size_t)envelope->types + 1, sizeof(struct typemap *)),
    };
    pl_status status;
    if (raw_init(&raw, envelope) && task->types && task->contents.values && task->contents.maps)
        status = get_contents(task, envelope, &raw, error);
    else
        status = typemap_no_memory(error);
    raw_clear(&raw);
    return status;
}

/* ---- Decoding ---------------------------------------------------------------------------------------------------- */

/* Predefined handles are not for us to free: neither named ones nor those of MPI_Type_create_f90_*. */
static void free_inner(MPI_Datatype *type)
{
    struct pl_error ignored;
    struct envelope envelope;
    if (!get_envelope(*type, &envelope, &ignored) && !is_leaf(envelope.combiner))
        real.Type_free(type);
}

static void task_free(struct task *task)
{
    for (int64_t i = 0; i < task->contents.n_types; i++) {
        typemap_unref(task->contents.maps[i]);
        free_inner(&task->types[i]);
    }
    mem_free(task->contents.values);
    mem_free(task->contents.maps);
    mem_free(task->types);
    mem_free(task);
}

/* MPI has the last word on bounds (it knows about alignment and about bounds that inner types insist on); where it
 * counts other bytes than we do, the map would read or write the wrong ones. */
static pl_status agree_with_mpi(MPI_Datatype type, struct typemap **map, struct pl_error *error)
{
    const struct typemap_shape *shape = typemap_shape(*map);
    MPI_Count size = 0, lb = 0, extent = 0;
    struct typemap *resized = NULL;
    pl_status status = check(real.Type_size_x(type, &size), "MPI_Type_size_x", error);
    if (!status)
        status = check(real.Type_get_extent_x(type, &lb, &extent), "MPI_Type_get_extent_x", error);
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

/* Ends the work on a type: its map in *map, kept at the type. */
static pl_status settle(MPI_Datatype type, struct typemap **map, struct pl_error *error)
{
    const pl_status status = agree_with_mpi(type, map, error);
    if (status) {
        typemap_unref(*map);
        *map = NULL;
        return status;
    }
    *map = cache_keep(type, *map);
    return PL_OK;
}

/* Either gives the map of a type at once, or puts a task on the stack. */
static pl_status begin(MPI_Datatype type, struct task **stack, struct typemap **ret_map, struct pl_error *error)
{
    struct envelope envelope;
    *ret_map = cache_find(type);
    if (*ret_map)
        return PL_OK;
    pl_status status = get_envelope(type, &envelope, error);
    if (status)
        return status;
    if (is_leaf(envelope.combiner)) {
        status = decode_leaf(type, ret_map, error);
        return status ? status : settle(type, ret_map, error);
    }
    struct task *task = mem_zalloc(1, sizeof *task);
    if (!task)
        return typemap_no_memory(error);
    task->type = type;
    task->outer = *stack;
    *stack = task; /* also on failure: the caller clears the stack */
    return task_fill(task, &envelope, error);
}

/* One step on the innermost task: its next inner type, or its own map. */
static pl_status step(struct task **stack, struct typemap **ret_map, struct pl_error *error)
{
    struct task *task = *stack;
    struct typemap *map = NULL;
    pl_status status;
    if (task->done < task->contents.n_types) {
        status = begin(task->types[task->done], stack, &map, error);
        if (!status && map)
            task->contents.maps[task->done++] = map;
        return status;
    }
    status = typemap_combine(&task->contents, &map, error);
    if (!status)
        status = settle(task->type, &map, error);
    if (status)
        return status;
    *stack = task->outer;
    task_free(task);
    if (*stack)
        (*stack)->contents.maps[(*stack)->done++] = map;
    else
        *ret_map = map;
    return PL_OK;
}

pl_status typemap_of(MPI_Datatype type, struct typemap **ret_map, struct pl_error *error)
{
    struct task *stack = NULL;
    struct typemap *map = NULL;
    if (type == MPI_DATATYPE_NULL)
        return pl_fail(error, PL_E_TYPE, "MPI_DATATYPE_NULL is no datatype");
    pl_status status = begin(type, &stack, &map, error);
    while (!status && stack)
        status = step(&stack, &map, error);
    while (stack) {
        struct task *task = stack;
        stack = task->outer;
        task_free(task);
    }
    if (!status)
        *ret_map = map;
    return status;
}
