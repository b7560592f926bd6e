#include "replay/replay_memory.h"

#include "base/checked.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

static pl_status make_layout(const char *text, struct replay_layout *layout, struct pl_error *error)
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
        if (model->layouts[made] && make_layout(model->layouts[made], &layouts[made], error) != PL_OK)
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
