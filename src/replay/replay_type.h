/* Datatypes from the text of their constructors (docs/trace-format.md): what the tracer has written, made again. */
#ifndef PIOLET_REPLAY_TYPE_H
#define PIOLET_REPLAY_TYPE_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>

struct replay_type {
    MPI_Datatype type;
    bool owned; /* made here: replay_type_clear() frees it */
};

/* Makes and commits the type. A text that was cut off ("...") is refused. */
pl_status replay_type_make(const char *text, struct replay_type *ret_type, struct pl_error *error);
void replay_type_clear(struct replay_type *type);

#endif
