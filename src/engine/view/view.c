#include "engine/view/view.h"
#include "base/container.h"
#include "engine/error/error.h"
#include "engine/mem.h"
#include "mpi/real.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- Copies of types --------------------------------------------------------------------------------------------- */

static bool is_derived(MPI_Datatype type)
{
    int combiner = MPI_COMBINER_NAMED;
#if PIOLET_IS_OPENMPI
    int numbers[3];
    real.Type_get_envelope(type, &numbers[0], &numbers[1], &numbers[2], &combiner);
#else
    MPI_Count numbers[4];
    real.Type_get_envelope_c(type, &numbers[0], &numbers[1], &numbers[2], &numbers[3], &combiner);
#endif
    return combiner != MPI_COMBINER_NAMED;
}

pl_status view_type_keep(MPI_Datatype type, MPI_Datatype *ret_type, struct pl_error *error)
{
    *ret_type = type;
    const int code = is_derived(type) ? real.Type_dup(type, ret_type) : MPI_SUCCESS;
    return code == MPI_SUCCESS ? PL_OK : error_from_mpi(code, "duplicating a datatype", error);
}

void view_type_drop(MPI_Datatype *type)
{
    int finalized = 0;
    real.Finalized(&finalized);
    if (*type != MPI_DATATYPE_NULL && !finalized && is_derived(*type))
        real.Type_free(type);
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

struct counted {
    struct view view;
    atomic_int references;
};

static struct counted *view_counted(struct view *view)
{
    return container_of(view, struct counted, view);
}

/* What MPI demands of etypes and filetypes: their displacements are not negative, never descend, and where the file
 * is written nothing overlaps. This speaks of one copy: copies may interleave. */
static pl_status check_type(struct typemap *map, const char *what, bool writable, struct pl_error *error)
{
    const struct typemap_shape *shape = typemap_shape(map);
    if (shape->size == 0)
        return PL_OK;
    if (shape->true_lb < 0)
        return pl_fail(error, PL_E_IO, "the %s has data at displacement %lld; allowed: 0 and above", what,
                       (long long)shape->true_lb);
    struct typemap *one;
    if (typemap_resized(map, shape->true_lb, shape->true_extent, &one, error))
        return error->status;
    const bool ascends = typemap_shape(one)->ascending, apart = typemap_shape(one)->monotone;
    typemap_unref(one);
    if (!ascends && !apart)
        return pl_fail(error, PL_E_IO, "the displacements of the %s descend; MPI wants them to ascend", what);
    if (writable && !apart)
        return pl_fail(error, PL_E_IO, "data of the %s overlap, which MPI allows only in files that are read", what);
    return PL_OK;
}

static pl_status check_types(struct typemap *etype, struct typemap *filetype, bool writable, struct pl_error *error)
{
    const int64_t unit = typemap_shape(etype)->size, bytes = typemap_shape(filetype)->size;
    if (unit <= 0)
        return pl_fail(error, PL_E_TYPE, "the etype has no data");
    if (bytes % unit != 0)
        return pl_fail(error, PL_E_TYPE, "the filetype has %lld bytes, which is no multiple of the etype's %lld",
                       (long long)bytes, (long long)unit);
    if (check_type(etype, "etype", writable, error))
        return error->status;
    return check_type(filetype, "filetype", writable, error);
}

static pl_status view_fill(struct view *view, MPI_Datatype etype, MPI_Datatype filetype, bool writable,
                           struct pl_error *error)
{
    struct typemap *unit = NULL;
    if (datarep_typemap(view->representation, etype, &unit, error) ||
        datarep_typemap(view->representation, filetype, &view->filetype, error)) {
        typemap_unref(unit);
        return error->status;
    }
    const struct typemap_shape *shape = typemap_shape(view->filetype);
    const pl_status status = check_types(unit, view->filetype, writable, error);
    view->etype_size = typemap_shape(unit)->size;
    view->etype_extent = typemap_shape(unit)->extent;
    view->contiguous = shape->tiles && shape->size > 0 && shape->true_lb == 0;
    typemap_unref(unit);
    if (status)
        return status;
    assert(view->etype_size > 0 && shape->size % view->etype_size == 0);
    if (view_type_keep(etype, &view->etype_handle, error))
        return error->status;
    return view_type_keep(filetype, &view->filetype_handle, error);
}

pl_status view_new(int64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const struct datarep *rep,
                   bool writable, struct view **ret_view, struct pl_error *error)
{
    assert(displacement >= 0 && rep);
    struct counted *counted = mem_zalloc(1, sizeof *counted);
    if (!counted)
        return pl_fail(error, PL_E_NOMEM, "no memory for a view");
    atomic_init(&counted->references, 1);
    struct view *view = &counted->view;
    view->displacement = displacement;
    view->etype_handle = view->filetype_handle = MPI_DATATYPE_NULL;
    view->representation = rep;
    if (view_fill(view, etype, filetype, writable, error)) {
        view_unref(view);
        return error->status;
    }
    *ret_view = view;
    return PL_OK;
}

pl_status view_new_bytes(struct view **ret_view, struct pl_error *error)
{
    const struct datarep *rep;
    if (datarep_find("native", &rep, error))
        return error->status;
    return view_new(0, MPI_BYTE, MPI_BYTE, rep, true, ret_view, error);
}

struct view *view_ref(struct view *view)
{
    assert(atomic_load(&view_counted(view)->references) > 0);
    atomic_fetch_add(&view_counted(view)->references, 1);
    return view;
}

void view_unref(struct view *view)
{
    assert(!view || atomic_load(&view_counted(view)->references) > 0);
    if (!view || atomic_fetch_sub(&view_counted(view)->references, 1) > 1)
        return;
    typemap_unref(view->filetype);
    view_type_drop(&view->etype_handle);
    view_type_drop(&view->filetype_handle);
    mem_free(view_counted(view));
}

pl_status view_types(const struct view *view, MPI_Datatype *ret_etype, MPI_Datatype *ret_filetype,
                     struct pl_error *error)
{
    MPI_Datatype etype;
    if (view_type_keep(view->etype_handle, &etype, error))
        return error->status;
    if (view_type_keep(view->filetype_handle, ret_filetype, error)) {
        view_type_drop(&etype);
        return error->status;
    }
    *ret_etype = etype;
    return PL_OK;
}

int64_t view_byte(const struct view *view, int64_t position)
{
    return view->displacement + (view->contiguous ? position : typemap_displacement(view->filetype, position));
}

int64_t view_position(const struct view *view, int64_t byte)
{
    if (byte <= view->displacement)
        return 0;
    const int64_t relative = byte - view->displacement;
    if (view->contiguous)
        return relative;
    return typemap_shape(view->filetype)->size > 0 ? typemap_position(view->filetype, relative) : 0;
}

bool view_fits(const struct view *view, int64_t position, int64_t bytes)
{
    int64_t end, byte;
    if (position < 0 || __builtin_add_overflow(position, bytes, &end))
        return false;
    if (view->contiguous)
        return !__builtin_add_overflow(end, view->displacement, &byte);
    const struct typemap_shape *shape = typemap_shape(view->filetype);
    if (shape->size == 0)
        return bytes == 0;
    if (__builtin_mul_overflow(end / shape->size + 2, shape->extent > 0 ? shape->extent : 1, &byte))
        return false;
    return !__builtin_add_overflow(byte, shape->true_lb + shape->true_extent, &byte) &&
           !__builtin_add_overflow(byte, view->displacement, &byte);
}
