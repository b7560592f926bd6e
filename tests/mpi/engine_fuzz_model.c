/* The model of a file: a byte array, as naive as can be. */
#include "engine_fuzz_model.h"

#include <stdlib.h>
#include <string.h>

int64_t view_at(const struct view *view, int64_t position)
{
    const struct type *file = view->file;
    return view->displacement + position / file->size * file->extent + file->at[position % file->size];
}

/* Counts tile by tile, and within the last one etype by etype; `first` or last byte of an etype must be before it. */
static int64_t etypes_before(const struct view *view, int64_t limit, int64_t byte_in_etype)
{
    const struct type *file = view->file;
    const int64_t etype = view->etype->size;
    if (file->size == 0)
        return 0;
    const int64_t tiles = (limit - view->displacement - type_true_ub(file)) / file->extent;
    int64_t count = tiles > 0 ? tiles * (file->size / etype) : 0;
    while (view_at(view, count * etype + byte_in_etype) < limit)
        count++;
    return count;
}

int64_t view_room(const struct view *view, int64_t limit)
{
    const int64_t count = etypes_before(view, limit, view->etype->size - 1);
    return count > view->base ? count - view->base : 0;
}

int64_t view_end(const struct view *view, int64_t size)
{
    return etypes_before(view, size, 0);
}

void view_clear(struct view *view)
{
    type_free(view->etype);
    type_free(view->file);
    *view = (struct view){0};
}

void model_init(struct model *model, int64_t origin, int64_t bytes)
{
    *model = (struct model){.origin = origin, .limit = origin + bytes};
    model->bytes = allocate((size_t)bytes);
    model->preset = allocate((size_t)bytes);
    model->known = allocate((size_t)bytes);
    model->writer = allocate((size_t)bytes);
    model->reader = allocate((size_t)bytes);
    if (fuzz.faults)
        model->allowed = allocate((size_t)bytes * sizeof *model->allowed);
}

void model_clear(struct model *model)
{
    free(model->bytes);
    free(model->preset);
    free(model->known);
    free(model->writer);
    free(model->reader);
    free(model->allowed);
    *model = (struct model){0};
}

void model_synchronised(struct model *model)
{
    memset(model->writer, NOBODY, (size_t)(model->limit - model->origin));
    memset(model->reader, NOBODY, (size_t)(model->limit - model->origin));
    model->synced_size = model->size;
    model->end_writer = model->end_reader = NOBODY;
}

static bool is_other(uint8_t mark, int rank)
{
    return mark != NOBODY && mark != rank + 1;
}

static void leave_mark(uint8_t *mark, int rank)
{
    *mark = is_other(*mark, rank) ? MANY : (uint8_t)(rank + 1);
}

bool model_conflicts(const struct model *model, int rank, const struct view *view, int64_t position, int64_t bytes,
                     bool is_write)
{
    if (bytes == 0)
        return false;
    if (view_at(view, position + bytes - 1) >= model->synced_size &&
        is_other(is_write ? model->end_reader : model->end_writer, rank))
        return true;
    for (int64_t i = 0; i < bytes; i++) {
        const int64_t at = view_at(view, position + i) - model->origin;
        if (is_other(model->writer[at], rank) || (is_write && is_other(model->reader[at], rank)))
            return true;
    }
    return false;
}

void model_note(struct model *model, int rank, const struct view *view, int64_t position, int64_t bytes, bool is_write)
{
    if (bytes && view_at(view, position + bytes - 1) >= model->synced_size)
        leave_mark(is_write ? &model->end_writer : &model->end_reader, rank);
    for (int64_t i = 0; i < bytes; i++) {
        const int64_t at = view_at(view, position + i) - model->origin;
        leave_mark(is_write ? &model->writer[at] : &model->reader[at], rank);
    }
}

bool model_end_is_known(const struct model *model, int rank)
{
    return !is_other(model->end_writer, rank);
}

void model_note_end_read(struct model *model, int rank)
{
    leave_mark(&model->end_reader, rank);
}

void model_put(struct model *model, int64_t offset, uint8_t value)
{
    const int64_t at = offset - model->origin;
    model->bytes[at] = value;
    model->known[at] = 1;
    if (offset >= model->size)
        model->size = offset + 1;
    if (model->allowed)
        model->allowed[at][value / 8] |= (uint8_t)(1u << value % 8);
}

bool model_knows(const struct model *model, int64_t offset)
{
    return has(FEATURE_gaps) || model->known[offset - model->origin];
}

uint8_t model_get(const struct model *model, int64_t offset)
{
    return model->bytes[offset - model->origin];
}

void model_set_size(struct model *model, int64_t size)
{
    const int64_t keep = size > model->origin ? size - model->origin : 0;
    if (size < model->size) { /* what is cut off comes back as zeros */
        memset(model->bytes + keep, 0, (size_t)(model->limit - model->origin - keep));
        memset(model->known + keep, 0, (size_t)(model->limit - model->origin - keep));
        for (int64_t i = keep; model->allowed && i < model->limit - model->origin; i++)
            model->allowed[i][0] |= 1;
    }
    model->size = size;
}

int64_t model_readable(const struct model *model, const struct view *view, int64_t position, int64_t bytes)
{
    int64_t count = 0;
    while (count < bytes && view_at(view, position + count) < model->size)
        count++;
    return count;
}
