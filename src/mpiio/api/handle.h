/* Handles: MPI_File is a pointer to our struct file; its Fortran form is a number. Closed files keep their memory, so
 * that the use of a handle after MPI_File_close is noticed. */
#ifndef PIOLET_MPIIO_API_HANDLE_H
#define PIOLET_MPIIO_API_HANDLE_H

#include "mpiio/file/file.h"

/* A zeroed file with a number; NULL: no memory. handle_open() makes its handle valid. */
struct file *handle_new(void);
void handle_open(struct file *file);
void handle_free(struct file *file);

static inline MPI_File handle_of(struct file *file)
{
    return (MPI_File)(void *)file;
}

/* The file behind a handle; NULL where it is none that is open. */
static inline struct file *handle_find(MPI_File handle)
{
    struct file *file = (struct file *)(void *)handle;
    return handle != MPI_FILE_NULL && file && file->magic == FILE_MAGIC ? file : NULL;
}

/* Is this the handle of the MPI's own file behind one of ours? ROMIO sets an error handler of its own in its close. */
bool handle_is_system(MPI_File handle);

MPI_Fint handle_count(void);             /* numbers go from 1 to this one; some may be free */
struct file *handle_at(MPI_Fint number); /* NULL: no file has this number */

#endif
