/* The MPI's own I/O functions, for files that are passed through to them. */
#ifndef PIOLET_MPIIO_API_SYSTEM_H
#define PIOLET_MPIIO_API_SYSTEM_H

#include "base/status.h"

#include <mpi.h>

struct api_system {
#define FILE_CALL(name) __typeof__(&PMPI_##name) name;
#include "mpiio/api/api_system.def"
#undef FILE_CALL
};

/* Filled by the first file that needs it; files of ours never look at it. */
extern struct api_system api_system;
pl_status api_system_load(struct pl_error *error);

#endif
