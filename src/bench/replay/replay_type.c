#include "bench/replay/replay_type.h"

#include "base/checked.h"
#include "mpi/coll.h"
#include "trace/trace_type.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- constructors ---- */

/* Integers of an MPI are ints: what does not fit makes the call fail by `fits`. */
static int *replay_type_as_ints(const struct trace_type_list *list, bool *fits)
{
    int *ints = malloc(((size_t)list->count + 1) * sizeof *ints);
    *fits = *fits && ints;
    for (int i = 0; i < list->count && ints; i++) {
        *fits = *fits && list->values[i] >= INT_MIN && list->values[i] <= INT_MAX;
        ints[i] = (int)list->values[i];
    }
    return ints;
}

static MPI_Aint *replay_type_as_aints(const struct trace_type_list *list, bool *fits)
{
    MPI_Aint *aints = malloc(((size_t)list->count + 1) * sizeof *aints);
    *fits = *fits && aints;
    for (int i = 0; i < list->count && aints; i++)
        aints[i] = (MPI_Aint)list->values[i];
    return aints;
}

static int replay_type_make_dup(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    (void)a;
    return MPI_Type_dup(inner[0].type, ret);
}

static int replay_type_make_contiguous(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    return MPI_Type_contiguous((int)a->numbers[0], inner[0].type, ret);
}

static int replay_type_make_vector(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    return MPI_Type_vector((int)a->numbers[0], (int)a->numbers[1], (int)a->numbers[2], inner[0].type, ret);
}

static int replay_type_make_hvector(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    return MPI_Type_create_hvector((int)a->numbers[0], (int)a->numbers[1], (MPI_Aint)a->numbers[2], inner[0].type, ret);
}

static int replay_type_make_resized(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    return MPI_Type_create_resized(inner[0].type, (MPI_Aint)a->numbers[0], (MPI_Aint)a->numbers[1], ret);
}

static int replay_type_make_indexed(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    bool fits = true;
    int *lengths = replay_type_as_ints(&a->lists[0], &fits), *places = replay_type_as_ints(&a->lists[1], &fits);
    const int code = fits ? MPI_Type_indexed(a->lists[0].count, lengths, places, inner[0].type, ret) : MPI_ERR_ARG;
    free(lengths);
    free(places);
    return code;
}

static int replay_type_make_hindexed(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    bool fits = true;
    int *lengths = replay_type_as_ints(&a->lists[0], &fits);
    MPI_Aint *places = replay_type_as_aints(&a->lists[1], &fits);
    const int code = fits ? MPI_Type_create_hindexed(a->lists[0].count, lengths, places, inner[0].type, ret)
                          : MPI_ERR_ARG;
    free(lengths);
    free(places);
    return code;
}

static int replay_type_make_indexed_block(const struct trace_type *a, const struct replay_type *inner,
                                          MPI_Datatype *ret)
{
    bool fits = true;
    int *places = replay_type_as_ints(&a->lists[0], &fits);
    const int code = fits ? MPI_Type_create_indexed_block(a->lists[0].count, (int)a->numbers[0], places, inner[0].type,
                                                          ret)
                          : MPI_ERR_ARG;
    free(places);
    return code;
}

static int replay_type_make_hindexed_block(const struct trace_type *a, const struct replay_type *inner,
                                           MPI_Datatype *ret)
{
    bool fits = true;
    MPI_Aint *places = replay_type_as_aints(&a->lists[0], &fits);
    const int code = fits ? MPI_Type_create_hindexed_block(a->lists[0].count, (int)a->numbers[0], places, inner[0].type,
                                                           ret)
                          : MPI_ERR_ARG;
    free(places);
    return code;
}

static int replay_type_make_struct(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    bool fits = true;
    int *lengths = replay_type_as_ints(&a->lists[0], &fits);
    MPI_Aint *places = replay_type_as_aints(&a->lists[1], &fits);
    MPI_Datatype *types = malloc(((size_t)a->type_count + 1) * sizeof(MPI_Datatype));
    for (int i = 0; i < a->type_count && types; i++)
        types[i] = inner[i].type;
    const int code = fits && types ? MPI_Type_create_struct(a->type_count, lengths, places, types, ret) : MPI_ERR_ARG;
    free(lengths);
    free(places);
    free(types);
    return code;
}

static int replay_type_make_subarray(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    bool fits = true;
    int *sizes = replay_type_as_ints(&a->lists[0], &fits), *parts = replay_type_as_ints(&a->lists[1], &fits),
        *starts = replay_type_as_ints(&a->lists[2], &fits);
    const int code = fits
                         ? MPI_Type_create_subarray(a->lists[0].count, sizes, parts, starts,
                                                    a->is_fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, inner[0].type, ret)
                         : MPI_ERR_ARG;
    free(sizes);
    free(parts);
    free(starts);
    return code;
}

static int replay_type_make_darray(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    const int dims = a->lists[0].count;
    bool fits = true;
    int *ints[TRACE_TYPE_LISTS];
    for (int i = 0; i < TRACE_TYPE_LISTS; i++)
        ints[i] = replay_type_as_ints(&a->lists[i], &fits);
    for (int i = 0; i < dims && fits; i++) {
        static const int words[] = {[TRACE_TYPE_BLOCK] = MPI_DISTRIBUTE_BLOCK,
                                    [TRACE_TYPE_CYCLIC] = MPI_DISTRIBUTE_CYCLIC,
                                    [TRACE_TYPE_NONE] = MPI_DISTRIBUTE_NONE};
        ints[1][i] = words[ints[1][i]];
        /* the default has another number in each MPI, and none is positive */
        ints[2][i] = ints[2][i] < 0 ? MPI_DISTRIBUTE_DFLT_DARG : ints[2][i];
    }
    const int code = fits ? MPI_Type_create_darray((int)a->numbers[0], (int)a->numbers[1], dims, ints[0], ints[1],
                                                   ints[2], ints[3], a->is_fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                                                   inner[0].type, ret)
                          : MPI_ERR_ARG;
    for (int i = 0; i < TRACE_TYPE_LISTS; i++)
        free(ints[i]);
    return code;
}

static int replay_type_make_f90_real(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    (void)inner;
    return MPI_Type_create_f90_real((int)a->numbers[0], (int)a->numbers[1], ret);
}

static int replay_type_make_f90_complex(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    (void)inner;
    return MPI_Type_create_f90_complex((int)a->numbers[0], (int)a->numbers[1], ret);
}

static int replay_type_make_f90_integer(const struct trace_type *a, const struct replay_type *inner, MPI_Datatype *ret)
{
    (void)inner;
    return MPI_Type_create_f90_integer((int)a->numbers[0], ret);
}

/* An MPI error code each. */
static int (*const MAKERS[])(const struct trace_type *from, const struct replay_type *inner, MPI_Datatype *ret) = {
    [TRACE_TYPE_DUP] = replay_type_make_dup,
    [TRACE_TYPE_CONTIGUOUS] = replay_type_make_contiguous,
    [TRACE_TYPE_VECTOR] = replay_type_make_vector,
    [TRACE_TYPE_HVECTOR] = replay_type_make_hvector,
    [TRACE_TYPE_INDEXED] = replay_type_make_indexed,
    [TRACE_TYPE_HINDEXED] = replay_type_make_hindexed,
    [TRACE_TYPE_INDEXED_BLOCK] = replay_type_make_indexed_block,
    [TRACE_TYPE_HINDEXED_BLOCK] = replay_type_make_hindexed_block,
    [TRACE_TYPE_STRUCT] = replay_type_make_struct,
    [TRACE_TYPE_SUBARRAY] = replay_type_make_subarray,
    [TRACE_TYPE_DARRAY] = replay_type_make_darray,
    [TRACE_TYPE_RESIZED] = replay_type_make_resized,
    [TRACE_TYPE_F90_REAL] = replay_type_make_f90_real,
    [TRACE_TYPE_F90_COMPLEX] = replay_type_make_f90_complex,
    [TRACE_TYPE_F90_INTEGER] = replay_type_make_f90_integer,
};

/* ---- the tree of a type, made ---- */

static const MPI_Datatype NAMED[] = {
#define TYPE(name, c)    [TRACE_TYPE_NAME_##name] = name,
#define PAIR(name, a, b) [TRACE_TYPE_NAME_##name] = name,
#include "trace/trace_type.def"
#undef TYPE
#undef PAIR
};

static pl_status replay_type_build(const struct trace_type *from, struct replay_type *ret_type, struct pl_error *error)
{
    *ret_type = (struct replay_type){MPI_DATATYPE_NULL, false};
    if (from->kind == TRACE_TYPE_NAMED) {
        ret_type->type = NAMED[from->name];
        return ret_type->type != MPI_DATATYPE_NULL
                   ? PL_OK
                   : pl_fail(error, PL_E_UNSUPPORTED, "datatype: this MPI lacks a basic type of the view");
    }
    struct replay_type *inner = calloc((size_t)from->type_count + 1, sizeof *inner);
    pl_status status = inner ? PL_OK : pl_fail(error, PL_E_NOMEM, "datatype: not enough memory for its parts");
    int made = 0;
    for (; made < from->type_count && status == PL_OK; made++)
        status = replay_type_build(&from->types[made], &inner[made], error);
    if (status == PL_OK) {
        const int code = MAKERS[from->kind](from, inner, &ret_type->type);
        /* MPI owns the types of Fortran's kinds. */
        ret_type->owned = from->kind < TRACE_TYPE_F90_REAL;
        if (code != MPI_SUCCESS) {
            *ret_type = (struct replay_type){MPI_DATATYPE_NULL, false};
            status = coll_fail_mpi(error, code, "datatype: %s", trace_type_kind_text(from->kind));
        }
    }
    for (int i = 0; i < made; i++)
        replay_type_clear(&inner[i]);
    free(inner);
    return status;
}

pl_status replay_type_make(const char *text, struct replay_type *ret_type, struct pl_error *error)
{
    struct trace_type tree;
    *ret_type = (struct replay_type){MPI_DATATYPE_NULL, false};
    pl_status status = trace_type_parse(text, &tree, error);
    if (status == PL_OK) {
        status = replay_type_build(&tree, ret_type, error);
        trace_type_clear(&tree);
    }
    if (status == PL_OK && ret_type->owned && MPI_Type_commit(&ret_type->type) != MPI_SUCCESS)
        status = pl_fail(error, PL_E_MPI, "datatype: MPI_Type_commit failed");
    if (status != PL_OK)
        replay_type_clear(ret_type);
    return status;
}

void replay_type_clear(struct replay_type *type)
{
    if (type->owned && type->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type->type);
    *type = (struct replay_type){MPI_DATATYPE_NULL, false};
}

/* ---- memory of a call ---- */

static pl_status replay_memory_make_layout(const char *text, struct replay_layout *layout, struct pl_error *error)
{
    MPI_Count size = 0, lower, extent = 0, true_lower = 0, true_extent = 0;
    const pl_status status = replay_type_make(text, &layout->type, error);
    if (status != PL_OK)
        return status;
    MPI_Type_size_x(layout->type.type, &size);
    MPI_Type_get_extent_x(layout->type.type, &lower, &extent);
    MPI_Type_get_true_extent_x(layout->type.type, &true_lower, &true_extent);
    layout->size = size;
    layout->extent = extent;
    layout->true_lower = true_lower;
    layout->true_extent = true_extent;
    return PL_OK;
}

pl_status replay_layouts_make(const struct model *model, struct replay_layout **ret_layouts, struct pl_error *error)
{
    struct replay_layout *layouts = calloc((size_t)model->layout_count + 1, sizeof *layouts);
    pl_status status = layouts ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for layouts in memory");
    int made = 0;
    for (; made < model->layout_count && status == PL_OK; made++) {
        layouts[made].type.type = MPI_DATATYPE_NULL;
        if (model->layouts[made] && replay_memory_make_layout(model->layouts[made], &layouts[made], error) != PL_OK)
            status = pl_within(error, "memory %d", made + 1);
    }
    if (status == PL_OK)
        *ret_layouts = layouts;
    else
        replay_layouts_free(layouts, made);
    return status;
}

void replay_layouts_free(struct replay_layout *layouts, int count)
{
    for (int i = 0; i < count && layouts; i++)
        replay_type_clear(&layouts[i].type);
    free(layouts);
}

pl_status replay_layout_reach(const struct replay_layout *layout, int64_t size, struct replay_reach *ret_reach,
                              struct pl_error *error)
{
    int64_t last, end;
    if (size == 0) {
        *ret_reach = (struct replay_reach){0};
        return PL_OK;
    }
    if (layout->size < 1 || size % layout->size != 0 || size / layout->size > INT_MAX)
        return pl_fail(error, PL_E_FORMAT,
                       "an access of %" PRId64 " bytes cannot have a layout in memory of %" PRId64 " bytes", size,
                       layout->size);
    const int64_t count = size / layout->size;
    if (__builtin_mul_overflow(count - 1, layout->extent, &last) ||
        __builtin_add_overflow(last > 0 ? last : 0, layout->true_extent, &end) ||
        __builtin_sub_overflow(end, last < 0 ? last : 0, &ret_reach->span))
        return pl_fail(error, PL_E_FORMAT, "an access of %" PRId64 " bytes reaches over more than 2^63 bytes", size);
    ret_reach->count = count;
    ret_reach->lowest = saturating_add(layout->true_lower, last < 0 ? last : 0);
    return PL_OK;
}
