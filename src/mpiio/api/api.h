/* What every MPI_File_* function begins and ends with.
 *
 * A function of the chapter is one C function here, exported under its MPI_ and its PMPI_ name (Open MPI's Fortran
 * calls the latter). It checks its arguments, does the work through the layers below with a struct pl_error, and leaves
 * by api_end(), which makes the error code and calls the file's error handler. */
#ifndef PIOLET_MPIIO_API_API_H
#define PIOLET_MPIIO_API_API_H

#include "mpiio/api/handle.h"

/* Exports PMPI_x beside MPI_x. */
#define API_ALIAS(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))

struct api {
    const char *function;
    struct file *file;     /* NULL: the call is about no open file, and MPI_FILE_NULL's error handler is used */
    bool moves_data;       /* the log then gets its line by api_log() */
    struct pl_error error; /* the outcome */
};

/* False where the handle is no open file: the error is set. */
bool api_begin(struct api *api, const char *function, MPI_File handle);

/* What a collective call begins with, before it looks at its arguments: operations that are under way come to their
 * end, and in develop mode the ranks compare what they are about to do. False: they differ; all ranks know, and none
 * goes on. api->error: what is known to be wrong on this rank already. */
bool api_begin_coll(struct api *api);

/* A collective call on what is no open file: in develop mode the others, who are in it on a file that this rank has
 * open too, hear of it. It waits a moment for them: they may all have made the same mistake. */
void api_without_file(struct api *api, bool moves_data);
/* api_begin() of collective calls that move no data, with that. */
bool api_begin_together(struct api *api, const char *function, MPI_File handle);

/* For functions without an open file. Ends the process with a message where there is no MPI that fits. */
void api_begin_free(struct api *api, const char *function);

/* What the program gets. */
int api_end(struct api *api);

/* The same in two parts, for errors that are found before the program asks for them. */
int api_code(struct api *api);
int api_raise(struct file *file, int code, const char *words);

/* What the program gets of a call that the MPI's own file did (piolet_impl=system). */
int api_end_system(struct file *file, int code);

pl_status api_wants_pointer(struct api *api, const void *pointer, const char *what);

/* MPI_FILE_NULL's error handler: what new files get. */
MPI_Errhandler api_default_handler(void);

#endif
