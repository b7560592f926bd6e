/* Handles of datatypes that outlive the program's own. */
#ifndef PIOLET_MPIIO_VIEW_TYPE_H
#define PIOLET_MPIIO_VIEW_TYPE_H

#include "base/status.h"

#include <mpi.h>

/* A duplicate of a derived type; predefined types as themselves. */
pl_status view_type_keep(MPI_Datatype type, MPI_Datatype *ret_type, struct pl_error *error);
void view_type_drop(MPI_Datatype *type); /* accepts MPI_DATATYPE_NULL, and does nothing after MPI_Finalize */

#endif
