/* Datatypes from the text of their constructors (docs/trace-format.md): what the tracer has written, made again. */
#ifndef PIOLET_REPLAY_TYPE_H
#define PIOLET_REPLAY_TYPE_H

#include "base/status.h"
#include "model/model.h"

#include <mpi.h>
#include <stdbool.h>

struct replay_type {
    MPI_Datatype type;
    bool owned; /* made here: replay_type_clear() frees it */
};

/* Makes and commits the type. A text that was cut off ("...") is refused. */
pl_status replay_type_make(const char *text, struct replay_type *ret_type, struct pl_error *error);
void replay_type_clear(struct replay_type *type);

/* How the accesses of a program lay in memory, made again (docs/model.md). */

struct replay_layout {
    struct replay_type type; /* MPI_DATATYPE_NULL: the model does not tell it */
    int64_t size, extent, true_lower, true_extent;
};

/* An access: so many of the layout's type, which take `span` bytes from `lowest` on, seen from its buffer. */
struct replay_reach {
    int64_t count, lowest, span;
};

/* One for each of the model's. */
pl_status replay_layouts_make(const struct model *model, struct replay_layout **ret_layouts, struct pl_error *error);
void replay_layouts_free(struct replay_layout *layouts, int count);

pl_status replay_layout_reach(const struct replay_layout *layout, int64_t size, struct replay_reach *ret_reach,
                              struct pl_error *error);

#endif
