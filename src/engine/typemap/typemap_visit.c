#include "engine/typemap/typemap_visit.h"
#include "engine/mem.h"
#include "engine/typemap/typemap.h"
#include "engine/typemap/typemap_node.h"
#include "mpi/real.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

pl_status typemap_check(int code, const char *name, struct pl_error *error)
{
    return code == MPI_SUCCESS ? PL_OK : pl_fail(error, PL_E_TYPE, "%s failed with code %d", name, code);
}

void *typemap_attribute(MPI_Datatype type, MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *drop,
                        int *keyval)
{
    void *value = NULL;
    int is_set = 0;
    if (*keyval == MPI_KEYVAL_INVALID && real.Type_create_keyval(copy, drop, keyval, NULL) != MPI_SUCCESS)
        *keyval = MPI_KEYVAL_INVALID;
    if (*keyval == MPI_KEYVAL_INVALID || real.Type_get_attr(type, *keyval, &value, &is_set) != MPI_SUCCESS || !is_set)
        return NULL;
    assert(value);
    return value;
}

struct typemap_made typemap_made_ref(const struct typemap_made *made)
{
    struct typemap_made copy = *made;
    typemap_ref(copy.map);
    if (copy.signature)
        typemap_ref(copy.signature);
    return copy;
}

void typemap_made_clear(struct typemap_made *made)
{
    typemap_unref(made->map);
    typemap_unref(made->signature);
    *made = (struct typemap_made){0};
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
    int64_t done; /* inner types that something was made of */
    MPI_Datatype *types;
    struct typemap_made *inner; /* of the inner types; contents.maps borrows from it */
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
    return typemap_check(code, "MPI_Type_get_envelope", error);
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
static pl_status typemap_visit_get_contents(struct task *task, const struct envelope *envelope, const struct raw *raw,
                                            struct pl_error *error)
{
#if PIOLET_IS_OPENMPI
    const int code = real.Type_get_contents(task->type, (int)envelope->integers, (int)envelope->addresses,
                                            (int)envelope->types, raw->integers, raw->addresses, task->types);
#else
    const int code = real.Type_get_contents_c(task->type, envelope->integers, envelope->addresses, envelope->counts,
                                              envelope->types, raw->integers, raw->addresses, raw->counts, task->types);
#endif
    const pl_status status = typemap_check(code, "MPI_Type_get_contents", error);
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
    task->inner = mem_zalloc((size_t)envelope->types + 1, sizeof(struct typemap_made));
    task->contents = (struct typemap_contents){
        .combiner = envelope->combiner,
        .integers = envelope->integers,
        .n_values = n_values,
        .values = mem_zalloc((size_t)n_values + 1, sizeof(int64_t)),
        .maps = mem_zalloc((size_t)envelope->types + 1, sizeof(struct typemap *)),
    };
    pl_status status;
    if (raw_init(&raw, envelope) && task->types && task->inner && task->contents.values && task->contents.maps)
        status = typemap_visit_get_contents(task, envelope, &raw, error);
    else
        status = typemap_no_memory(error);
    raw_clear(&raw);
    return status;
}

/* ---- From the inside out ----------------------------------------------------------------------------------------- */

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
        typemap_made_clear(&task->inner[i]);
        free_inner(&task->types[i]);
    }
    mem_free(task->contents.values);
    mem_free(task->contents.maps);
    mem_free(task->inner);
    mem_free(task->types);
    mem_free(task);
}

static pl_status make_leaf(const struct typemap_maker *maker, MPI_Datatype type, int combiner,
                           struct typemap_made *ret_made, struct pl_error *error)
{
    const pl_status status = maker->leaf(maker, type, combiner, ret_made, error);
    if (status)
        typemap_made_clear(ret_made);
    else
        typemap_leaf_keep(maker->owner, type, ret_made);
    return status;
}

/* Either makes something of a type at once, or puts a task on the stack (and *ret_made stays empty). */
static pl_status typemap_visit_begin(const struct typemap_maker *maker, MPI_Datatype type, struct task **stack,
                                     struct typemap_made *ret_made, struct pl_error *error)
{
    struct envelope envelope;
    if (typemap_leaf_find(maker->owner, type, ret_made) || maker->find(maker, type, ret_made))
        return PL_OK;
    const pl_status status = get_envelope(type, &envelope, error);
    if (status)
        return status;
    if (is_leaf(envelope.combiner))
        return make_leaf(maker, type, envelope.combiner, ret_made, error);
    struct task *task = mem_zalloc(1, sizeof *task);
    if (!task)
        return typemap_no_memory(error);
    task->type = type;
    task->outer = *stack;
    *stack = task; /* also on failure: the caller clears the stack */
    return task_fill(task, &envelope, error);
}

static void task_add(struct task *task, const struct typemap_made *made)
{
    assert(task->done < task->contents.n_types && made->map);
    task->contents.maps[task->done] = made->map;
    task->inner[task->done++] = *made;
}

/* One step on the innermost task: its next inner type, or itself. */
static pl_status typemap_visit_step(const struct typemap_maker *maker, struct task **stack,
                                    struct typemap_made *ret_made, struct pl_error *error)
{
    struct task *task = *stack;
    struct typemap_made made = {0};
    pl_status status;
    if (task->done < task->contents.n_types) {
        status = typemap_visit_begin(maker, task->types[task->done], stack, &made, error);
        if (!status && made.map)
            task_add(task, &made);
        return status;
    }
    assert(task->done == task->contents.n_types);
    status = typemap_combine(&task->contents, &made.map, error);
    if (!status && maker->complete)
        status = maker->complete(maker, &task->contents, task->inner, &made, error);
    if (!status)
        status = maker->settle(maker, task->type, &made, error);
    if (status) {
        typemap_made_clear(&made);
        return status;
    }
    *stack = task->outer;
    task_free(task);
    if (*stack)
        task_add(*stack, &made);
    else
        *ret_made = made;
    return PL_OK;
}

pl_status typemap_visit(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *ret_made,
                        struct pl_error *error)
{
    struct task *stack = NULL;
    struct typemap_made made = {0};
    if (type == MPI_DATATYPE_NULL)
        return pl_fail(error, PL_E_TYPE, "MPI_DATATYPE_NULL is no datatype");
    pl_status status = typemap_visit_begin(maker, type, &stack, &made, error);
    while (!status && stack)
        status = typemap_visit_step(maker, &stack, &made, error);
    while (stack) {
        struct task *task = stack;
        stack = task->outer;
        task_free(task);
    }
    if (!status)
        *ret_made = made;
    return status;
}

/* ---- Predefined types -------------------------------------------------------------------------------------------- */

/* Predefined types are as old as MPI itself. What was made of them is kept here, and not as their attributes: neither
 * MPI runs the callbacks of all of them at its end (Open MPI of none, MPICH not those of pairs and of Fortran's
 * parametrised types). They are few, so a list does; it stays for the life of the process. Entries are put
 * before the first one and never change or go, so that every access can look one up without a lock. */

struct entry {
    const struct entry *next;
    const void *owner;
    MPI_Datatype type;
    struct typemap_made made;
};

static pthread_mutex_t keep_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct entry *_Atomic list;

static const struct entry *typemap_leaf_look_up(const void *owner, MPI_Datatype type)
{
    const struct entry *entry = atomic_load_explicit(&list, memory_order_acquire);
    while (entry && (entry->type != type || entry->owner != owner))
        entry = entry->next;
    return entry;
}

bool typemap_leaf_find(const void *owner, MPI_Datatype type, struct typemap_made *ret_made)
{
    const struct entry *entry = typemap_leaf_look_up(owner, type);
    if (entry)
        *ret_made = typemap_made_ref(&entry->made);
    return entry;
}

void typemap_leaf_keep(const void *owner, MPI_Datatype type, const struct typemap_made *made)
{
    assert(made->map);
    pthread_mutex_lock(&keep_lock);
    /* Where another thread was quicker, both made the same. */
    struct entry *entry = typemap_leaf_look_up(owner, type) ? NULL : mem_zalloc(1, sizeof *entry);
    if (entry) {
        *entry = (struct entry){list, owner, type, typemap_made_ref(made)};
        typemap_keep(entry->made.map);
        atomic_store_explicit(&list, entry, memory_order_release);
    }
    pthread_mutex_unlock(&keep_lock);
}

/* ---- Typemaps of datatypes in memory ----------------------------------------------------------------------------- */

/* Typemaps of MPI datatypes: asks MPI how a type was made, of its inner types as well, and keeps what it found as an
 * attribute of each type. Inner types are kept, too: a type that is used twice inside another is decoded once, so that
 * nesting of pairs in pairs does not double the work with each level. */

/* ---- Kept at the datatype ---------------------------------------------------------------------------------------- */

/* MPI runs these two inside of its own calls and may hold locks: they only count and free. */
static int copy_attribute(MPI_Datatype type, int keyval, void *extra, void *value, void *ret_value, int *ret_flag)
{
    (void)type, (void)keyval, (void)extra;
    *(void **)ret_value = typemap_ref(value);
    *ret_flag = 1;
    return MPI_SUCCESS;
}

static int typemap_decode_delete_attribute(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)extra;
    typemap_unref(value);
    return MPI_SUCCESS;
}

/* The lock makes "look up and take a reference" one step, and "look up and set": a map once set is never replaced, so
 * that no other thread can lose it between the two. The callbacks do not take it. */
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static int cache_keyval = MPI_KEYVAL_INVALID;

static struct typemap *typemap_decode_look_up(MPI_Datatype type)
{
    struct typemap *map = typemap_attribute(type, copy_attribute, typemap_decode_delete_attribute, &cache_keyval);
    return map ? typemap_ref(map) : NULL;
}

static bool typemap_decode_find(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *ret_made)
{
    (void)maker;
    pthread_mutex_lock(&cache_lock);
    ret_made->map = typemap_decode_look_up(type);
    pthread_mutex_unlock(&cache_lock);
    return ret_made->map;
}

/* Returns the map to use: that of another thread where it was quicker. A type without attribute works as well. */
static struct typemap *cache_keep(MPI_Datatype type, struct typemap *map)
{
    pthread_mutex_lock(&cache_lock);
    struct typemap *other = typemap_decode_look_up(type);
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
static bool typemap_decode_find_pair(MPI_Datatype type, int64_t counts[2], int64_t places[2])
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
    if (!status && typemap_decode_find_pair(type, counts, places)) {
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

static pl_status typemap_decode_settle(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *made,
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
    static const struct typemap_maker maker = {
        .find = typemap_decode_find, .leaf = decode_leaf, .settle = typemap_decode_settle};
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
