/* From our status and words to what an MPI program sees: error codes, error strings, error handlers. */
#ifndef PIOLET_MPIIO_ERROR_ERROR_H
#define PIOLET_MPIIO_ERROR_ERROR_H

#include "base/status.h"

#include <mpi.h>

/* The MPI error class of a status. */
int error_class(pl_status status);

/* An error code of that class whose string is the error's text. Codes are made by the MPI (so that it accepts them
 * everywhere) and used again: each status keeps the words of its last ERROR_CODES_EACH failures. */
enum { ERROR_CODES_EACH = 64 };
int error_code(const struct pl_error *error);

/* The words of a code that error_code() made, in `ret_text` of MPI_MAX_ERROR_STRING; 0: the code is none of ours. */
int error_words(int code, char *ret_text);

/* Turns a failed MPI call of ours into a status. */
pl_status error_from_mpi(int code, const char *doing, struct pl_error *error);

#endif
