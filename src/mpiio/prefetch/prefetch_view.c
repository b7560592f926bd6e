#include "mpiio/prefetch/prefetch_view.h"

static struct prefetch_piece next(void *self)
{
    struct prefetch_view *guide = self;
    int64_t displacement = 0;
    if (guide->left == 0)
        return (struct prefetch_piece){0};
    const int64_t bytes = typemap_cursor_next(&guide->cursor, guide->left, &displacement);
    guide->left -= bytes;
    return (struct prefetch_piece){guide->request->view->displacement + displacement, bytes};
}

static void rewind_pieces(struct prefetch_view *guide)
{
    typemap_cursor_seek(&guide->cursor, guide->request->position);
    guide->left = guide->request->bytes;
}

bool prefetch_view_begin(struct prefetch_view *guide, const struct access_request *request, struct storage *storage,
                         struct prefetch_memory *memory, int64_t block_bytes, int together)
{
    struct pl_error unguided;
    const struct view *view = request->view;
    if (together == 0 || request->write || request->bytes == 0 || view->contiguous ||
        !typemap_shape(view->filetype)->monotone)
        return false;
    guide->request = request;
    if (typemap_cursor_init(&guide->cursor, view->filetype, &unguided))
        return false;
    const struct prefetch_pieces pieces = {guide, next};
    rewind_pieces(guide);
    if (prefetch_is_regular(&pieces)) {
        typemap_cursor_clear(&guide->cursor);
        return false;
    }
    rewind_pieces(guide);
    prefetch_begin(&guide->prefetch, storage, memory, &pieces, block_bytes, together);
    return true;
}

void prefetch_view_end(struct prefetch_view *guide)
{
    prefetch_end(&guide->prefetch);
    typemap_cursor_clear(&guide->cursor);
}
