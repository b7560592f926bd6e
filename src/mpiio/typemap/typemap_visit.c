#include "mpiio/typemap/typemap_visit.h"
#include "mpi/real.h"
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_node.h"

#include <stddef.h>

pl_status typemap_check(int code, const char *name, struct pl_error *error)
{
    return code == MPI_SUCCESS ? PL_OK : pl_fail(error, PL_E_TYPE, "%s failed with code %d", name, code);
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
        status = get_contents(task, envelope, &raw, error);
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
static pl_status begin(const struct typemap_maker *maker, MPI_Datatype type, struct task **stack,
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
    task->contents.maps[task->done] = made->map;
    task->inner[task->done++] = *made;
}

/* One step on the innermost task: its next inner type, or itself. */
static pl_status step(const struct typemap_maker *maker, struct task **stack, struct typemap_made *ret_made,
                      struct pl_error *error)
{
    struct task *task = *stack;
    struct typemap_made made = {0};
    pl_status status;
    if (task->done < task->contents.n_types) {
        status = begin(maker, task->types[task->done], stack, &made, error);
        if (!status && made.map)
            task_add(task, &made);
        return status;
    }
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
    pl_status status = begin(maker, type, &stack, &made, error);
    while (!status && stack)
        status = step(maker, &stack, &made, error);
    while (stack) {
        struct task *task = stack;
        stack = task->outer;
        task_free(task);
    }
    if (!status)
        *ret_made = made;
    return status;
}
