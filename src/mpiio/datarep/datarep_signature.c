/* A run of n elements of kind k is a dense stretch of n "bytes" at k << 57. Copies of a run lie side by side, so that
 * they are one longer run; copies of anything else lie on top of each other (extent 0), since only their order counts.
 */
#include "mpiio/datarep/datarep_signature.h"
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_node.h"

static const int64_t RUN_MAX = ((int64_t)1 << SIGNATURE_KIND_SHIFT) - 1;

/* Gives a signature the bounds that let its copies follow each other; takes the reference. */
static pl_status finish(struct typemap *raw, struct typemap **ret_signature, struct pl_error *error)
{
    const struct typemap_shape *shape = typemap_shape(raw);
    pl_status status;
    if (shape->largest > RUN_MAX)
        status = typemap_overflow(error);
    else
        status = typemap_resized(raw, 0, shape->dense ? shape->size : 0, ret_signature, error);
    typemap_unref(raw);
    return status;
}

pl_status signature_run(int kind, int64_t elements, struct typemap **ret_signature, struct pl_error *error)
{
    struct typemap *dense = NULL, *placed = NULL;
    const int64_t at = (int64_t)kind << SIGNATURE_KIND_SHIFT, one = 1;
    pl_status status = typemap_dense(elements, &dense, error);
    if (!status)
        status = typemap_indexed(1, &at, &one, dense, &placed, error);
    typemap_unref(dense);
    return status ? status : finish(placed, ret_signature, error);
}

pl_status signature_repeat(struct typemap *child, int64_t count, struct typemap **ret_signature, struct pl_error *error)
{
    return signature_list(1, &count, &child, ret_signature, error);
}

/* Where child i lies: behind the run before it where both are of one kind, else where its kind says. */
static void place_children(int64_t n, const int64_t *counts, struct typemap *const *children, int64_t *displacements)
{
    int64_t end = -1; /* of the run before, if it was one */
    for (int64_t i = 0; i < n; i++) {
        displacements[i] = 0;
        if (counts[i] <= 0 || typemap_shape(children[i])->size == 0)
            continue;
        const struct typemap_shape *shape = typemap_shape(children[i]);
        int64_t length = 0;
        if (!shape->dense || __builtin_mul_overflow(shape->size, counts[i], &length) || length > RUN_MAX) {
            end = -1;
            continue;
        }
        const int64_t start = shape->true_lb;
        if (end >= 0 && end >> SIGNATURE_KIND_SHIFT == start >> SIGNATURE_KIND_SHIFT &&
            length <= RUN_MAX - (end & RUN_MAX))
            displacements[i] = end - start;
        end = start + displacements[i] + length;
    }
}

pl_status signature_list(int64_t n, const int64_t *counts, struct typemap *const *children,
                         struct typemap **ret_signature, struct pl_error *error)
{
    struct typemap *raw = NULL;
    int64_t *displacements = mem_zalloc((size_t)n + 1, sizeof *displacements);
    if (!displacements)
        return typemap_no_memory(error);
    place_children(n, counts, children, displacements);
    const pl_status status = typemap_list(n, displacements, counts, children, &raw, error);
    mem_free(displacements);
    return status ? status : finish(raw, ret_signature, error);
}

int64_t signature_next(struct typemap_cursor *cursor, int64_t limit, int *ret_kind)
{
    int64_t at = 0;
    const int64_t elements = typemap_cursor_next(cursor, limit, &at);
    *ret_kind = (int)(at >> SIGNATURE_KIND_SHIFT);
    return elements;
}
