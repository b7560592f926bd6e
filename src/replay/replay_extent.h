/* How far the accesses of a rank reach, before anything is done: which files must be there, how much space and memory
 * it takes. */
#ifndef PIOLET_REPLAY_EXTENT_H
#define PIOLET_REPLAY_EXTENT_H

#include "replay/replay_memory.h"
#include "replay/replay_plan.h"

#include <mpi.h>

struct replay_extent {
    int file;
    int64_t instance;
    int64_t end;     /* of all writes */
    int64_t initial; /* bytes that must be there at first; -1: the file need not be there */
    int ranks;       /* of the communicator that opens it */
};

struct replay_extents { /* {0} is empty */
    struct replay_extent *items;
    int count, room, last;
    int64_t largest, largest_write; /* bytes of an access */
    int64_t span, span_write;       /* bytes of memory over which an access reaches, with its layout */
    struct replay_layout *layouts;  /* as the model's */
    int layout_count;
    bool untold;     /* accesses whose layout the model does not tell */
    int buffers;     /* accesses under way at the same time */
    int64_t calls;   /* that were looked at */
    bool is_partial; /* there are more: what they need is not known */
};

/* Walks through the calls of a rank, `most` of them. Views are tried on a file that is none: nothing is touched. */
pl_status replay_extents_find(const struct replay_plan *plan, int rank, int64_t most,
                              struct replay_extents *ret_extents, struct pl_error *error);
void replay_extents_clear(struct replay_extents *extents);
/* NULL: the rank has no such file. */
const struct replay_extent *replay_extents_of(struct replay_extents *extents, int file, int64_t instance);

/* The space that all files take. Every rank calls. */
int64_t replay_extents_space_coll(const struct replay_plan *plan, const struct replay_extents *extents, MPI_Comm comm);

/* The byte behind `size` bytes at `offset` of the file's view; 0 where the view is empty. */
int64_t replay_extent_end(MPI_File file, int64_t offset, int64_t size, int64_t etype_bytes, int64_t view_bytes);

#endif
