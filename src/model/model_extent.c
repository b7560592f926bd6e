/* Which bytes of a file the calls of a model mean: the views that are in force while a rank's calls are gone through.
 */
#include "model/model.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct viewed { /* a file that the rank has open */
    int file;
    int64_t instance;
    struct trace_view view;
    bool is_known; /* false: the view cannot be told, and nothing through it */
};

static struct viewed *extent_find(const struct model_views *views, const struct model_event *event)
{
    const int64_t instance = event->instance < 0 ? 0 : event->instance;
    for (int i = 0; i < views->count; i++)
        if (views->items[i].file == event->step->file && views->items[i].instance == instance)
            return &views->items[i];
    return NULL;
}

static struct viewed *extent_add(struct model_views *views, const struct model_event *event)
{
    if (!ARRAY_ROOM(views->items, views->count, views->room, 8))
        return NULL;
    struct viewed *viewed = &views->items[views->count++];
    *viewed = (struct viewed){.file = event->step->file, .instance = event->instance < 0 ? 0 : event->instance};
    return viewed;
}

static void extent_remove(struct model_views *views, struct viewed *viewed)
{
    trace_view_clear(&viewed->view);
    *viewed = views->items[--views->count];
}

void model_views_clear(struct model_views *views)
{
    while (views->count > 0)
        extent_remove(views, &views->items[0]);
    free(views->items);
    *views = (struct model_views){0};
}

/* A view that the trace does not tell to its end is no error: what it means is not known, and said so. */
static pl_status extent_set_view(struct viewed *viewed, const struct model_event *event, struct pl_error *error)
{
    struct text detail = {0};
    struct pl_error reason;
    pl_status status = PL_OK;
    trace_view_clear(&viewed->view);
    viewed->is_known = false;
    if (event->step->detail)
        status = model_render(event->step->detail, event->rank, event->n, &detail, error);
    if (status == PL_OK)
        viewed->is_known = trace_view_init(&viewed->view, text_get(&detail), &reason) == PL_OK;
    text_clear(&detail);
    return status;
}

pl_status model_views_take(struct model_views *views, const struct model_event *event, struct pl_error *error)
{
    assert(event->step->kind == MODEL_CALL);
    const char *operation = event->step->operation;
    const bool opens = strcmp(operation, "open") == 0, closes = strcmp(operation, "close") == 0;
    if (event->step->file < 0 || (!opens && !closes && strcmp(operation, "set_view") != 0))
        return PL_OK;
    struct viewed *viewed = extent_find(views, event);
    if (closes) {
        if (viewed)
            extent_remove(views, viewed);
        return PL_OK;
    }
    if (!viewed && !(viewed = extent_add(views, event)))
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the open files of a rank");
    if (!opens)
        return extent_set_view(viewed, event, error);
    trace_view_clear(&viewed->view);
    viewed->is_known = trace_view_init(&viewed->view, NULL, error) == PL_OK;
    return PL_OK;
}

const struct trace_view *model_views_of(const struct model_views *views, const struct model_event *event)
{
    const struct viewed *viewed = event->step->access ? extent_find(views, event) : NULL;
    return viewed && viewed->is_known ? &viewed->view : NULL;
}
