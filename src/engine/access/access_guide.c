/* Guided prefetching of one rank's own access: the ranges that it will need are those of its view (prefetch.h). */
#include "engine/access/access.h"
#include "engine/prefetch/prefetch.h"

#include <assert.h>

struct access_guide {
    struct prefetch prefetch;
    const struct access_request *request;
    struct typemap_cursor cursor;
    int64_t left;
};

static struct prefetch_piece access_guide_next(void *self)
{
    struct access_guide *guide = self;
    int64_t displacement = 0;
    if (guide->left == 0)
        return (struct prefetch_piece){0};
    const int64_t bytes = typemap_cursor_next(&guide->cursor, guide->left, &displacement);
    assert(bytes > 0 && bytes <= guide->left);
    guide->left -= bytes;
    return (struct prefetch_piece){guide->request->view->displacement + displacement, bytes};
}

static void access_guide_rewind(struct access_guide *guide)
{
    typemap_cursor_seek(&guide->cursor, guide->request->position);
    guide->left = guide->request->bytes;
}

/* False: there is nothing to guide (a write, a regular pattern, no memory), and nothing to end. */
static bool access_guide_begin(struct access_guide *guide, struct storage *storage,
                               const struct access_request *request, const struct access_prefetch *ahead)
{
    struct pl_error unguided;
    const struct view *view = request->view;
    if (ahead->together == 0 || request->write || request->bytes == 0 || view->contiguous ||
        !typemap_shape(view->filetype)->monotone)
        return false;
    guide->request = request;
    if (typemap_cursor_init(&guide->cursor, view->filetype, &unguided))
        return false;
    const struct prefetch_pieces pieces = {guide, access_guide_next};
    access_guide_rewind(guide);
    if (prefetch_is_regular(&pieces)) {
        typemap_cursor_clear(&guide->cursor);
        return false;
    }
    access_guide_rewind(guide);
    prefetch_begin(&guide->prefetch, storage, ahead->memory, &pieces, ahead->block_bytes, ahead->together);
    return true;
}

pl_status access_run_guided(struct storage *storage, const struct access_request *request,
                            const struct access_options *options, const struct access_prefetch *ahead,
                            int64_t *ret_done, struct pl_error *error)
{
    struct access_guide guide;
    if (!access_guide_begin(&guide, storage, request, ahead))
        return access_run(storage, request, options, ret_done, error);
    struct access_options guided = *options;
    guided.prefetch = &guide.prefetch;
    access_run(storage, request, &guided, ret_done, error);
    prefetch_end(&guide.prefetch);
    typemap_cursor_clear(&guide.cursor);
    return error->status;
}
