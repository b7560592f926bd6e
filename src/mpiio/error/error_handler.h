/* Error handlers of files. MPI keeps the handles; the functions behind them it does not give back, so that we keep
 * our own list of those that MPI_File_create_errhandler made. */
#ifndef PIOLET_MPIIO_ERROR_HANDLER_H
#define PIOLET_MPIIO_ERROR_HANDLER_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>

/* A C function, or a Fortran one with its calling convention (file and code as INTEGERs). */
struct error_function {
    MPI_File_errhandler_function *c;
    void (*fortran)(MPI_Fint *file, MPI_Fint *code, ...);
};

pl_status error_handler_create(struct error_function function, MPI_Errhandler *ret_handler, struct pl_error *error);

/* References: the program has one by creating or getting a handler, each file one more. error_handler_hold() fails
 * where the handle is none for files. The last one frees MPI's. */
pl_status error_handler_hold(MPI_Errhandler handler, struct pl_error *error);
void error_handler_drop(MPI_Errhandler handler);

/* The same for references of the program: it gets one, and frees it. error_handler_take_back() is false where the
 * reference is the MPI's own to free. */
pl_status error_handler_give(MPI_Errhandler handler, struct pl_error *error);
bool error_handler_take_back(MPI_Errhandler handler);

/* Does as the handler says with `code`: returns (the code), calls the function, or ends the job with `words`.
 * `number`: the file's Fortran handle. */
int error_handler_call(MPI_Errhandler handler, MPI_File *file, MPI_Fint number, int code, const char *words);

#endif
