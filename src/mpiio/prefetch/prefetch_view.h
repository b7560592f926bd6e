/* Guided prefetching of one rank's own access: the pieces are those of its view. */
#ifndef PIOLET_MPIIO_PREFETCH_VIEW_H
#define PIOLET_MPIIO_PREFETCH_VIEW_H

#include "mpiio/access/access.h"
#include "mpiio/prefetch/prefetch.h"

struct prefetch_view {
    struct prefetch prefetch;
    const struct access_request *request;
    struct typemap_cursor cursor;
    int64_t left;
};

/* False: there is nothing to guide (a write, a regular pattern, no memory), and nothing to end. `together`: ranges that
 * are accessed before they are released. */
bool prefetch_view_begin(struct prefetch_view *guide, const struct access_request *request, struct storage *storage,
                         struct prefetch_memory *memory, int64_t block_bytes, int together);
void prefetch_view_end(struct prefetch_view *guide);

#endif
