/* Which bytes of a file an access means: through the view in force, in the order of the data. Pure.
 *
 *     struct trace_view view;
 *     trace_view_init(&view, "disp=16 etype_bytes=4 … filetype=\"vector(2,1,3,MPI_INT)\"", &error);
 *     trace_extents_each(&view, 0, 8, take, NULL);       take(16, 4), take(28, 4)
 *     trace_extents_add_text(&view, 0, 8, 0, &text);     "16+4,28+4"
 *     trace_view_clear(&view);
 *
 * A view that moves keeps its types: whoever knows where it is now sets `disp`. */
#ifndef PIOLET_TRACE_EXTENT_H
#define PIOLET_TRACE_EXTENT_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_shape;

struct trace_view {
    int64_t disp;
    int64_t etype_bytes;
    int64_t size, extent;            /* of the filetype: bytes of data, and how far it is to the next */
    const struct trace_shape *shape; /* of one filetype; NULL: bytes, one after the other */
    struct trace_shape *shapes;      /* what trace_view_clear() frees */
};

/* The detail of a set_view (docs/trace-format.md); NULL or "": the view that a file has when it is opened. PL_E_FORMAT:
 * the text does not tell the types to their end. PL_E_UNSUPPORTED: they do not tell the places (a data representation
 * of other sizes than memory). */
pl_status trace_view_init(struct trace_view *view, const char *detail, struct pl_error *error);
void trace_view_clear(struct trace_view *view);

/* Gives every piece of the file that an access of `bytes` from `offset` (in etypes) on touches; pieces that follow each
 * other without a gap are one. False of `take` ends it. Returns false where a place is beyond 2^63 or the offset is not
 * known (-1). */
typedef bool trace_extent_take(void *context, int64_t first, int64_t bytes);
bool trace_extents_each(const struct trace_view *view, int64_t offset, int64_t bytes, trace_extent_take *take,
                        void *context);

/* Where the first byte is and where the last one ends, without looking at what lies between. An access without bytes
 * has both at the same place. False as above. */
bool trace_extents_range(const struct trace_view *view, int64_t offset, int64_t bytes, int64_t *ret_first,
                         int64_t *ret_end);

/* Adds the pieces as FIRST+LENGTH, separated by commas. `most` = 0: every one. Else three or more of one length at
 * equal distances are FIRST+LENGTH:STEP*COUNT, and behind `most` of these stands "...". "-": not known, or no bytes. */
void trace_extents_add_text(const struct trace_view *view, int64_t offset, int64_t bytes, int most, struct text *text);

#endif
