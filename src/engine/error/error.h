/* From our status and words to what an MPI program sees: error codes, error strings, error handlers. */
#ifndef PIOLET_ENGINE_ERROR_ERROR_H
#define PIOLET_ENGINE_ERROR_ERROR_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The MPI error class of a status. */
int error_class(pl_status status);

/* An error code of that class whose string is the error's text. Codes are made by the MPI (so that it accepts them
 * everywhere) and used again: each status keeps the words of its last ERROR_CODES_EACH failures. */
enum { ERROR_CODES_EACH = 64 };
int error_code(const struct pl_error *error);

/* The words of a code that error_code() made, in `ret_text` of MPI_MAX_ERROR_STRING; 0: the code is none of ours. */
int error_text(int code, char *ret_text);

/* A failure that ranks have not heard of yet: it waits for the next call in which they meet. */
struct error_late {
    struct pl_error error; /* status PL_OK: there is none */
    bool heard;            /* the program of this rank knows of it */
    uint64_t number;       /* which of its file's it is: whoever has told one forgets that one, and no later one */
};

/* Turns a failed MPI call of ours into a status. */
pl_status error_from_mpi(int code, const char *doing, struct pl_error *error);

/* ---- error handlers ---- */
/* Error handlers of files. MPI keeps the handles; the functions behind them it does not give back, so that we keep
 * our own list of those that MPI_File_create_errhandler made. */

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
