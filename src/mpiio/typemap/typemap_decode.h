/* From an MPI datatype to its typemap. */
#ifndef PIOLET_MPIIO_TYPEMAP_DECODE_H
#define PIOLET_MPIIO_TYPEMAP_DECODE_H

#include "mpiio/typemap/typemap.h"

#include <mpi.h>

/* A new reference to the typemap of `type`. Kept as an attribute of the datatype, so that the second call for a type
 * only looks it up; it goes when the type is freed and its last user has let go. Thread-safe. */
pl_status typemap_of(MPI_Datatype type, struct typemap **ret_map, struct pl_error *error);

#endif
