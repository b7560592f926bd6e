/* The file of a pattern type (one for each process in type 2): open, position, one call, sync, close, remove. */
#ifndef PIOLET_BENCH_BEFFIO_FILE_H
#define PIOLET_BENCH_BEFFIO_FILE_H

#include "base/status.h"
#include "bench/beffio/beffio_hint.h"
#include "bench/beffio/beffio_layout.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>

struct beffio_file {
    MPI_Comm comm; /* of the partition */
    int rank, type;
    char name[PATH_MAX];
    MPI_File handle; /* MPI_FILE_NULL: not open */
    const struct beffio_hints *hints;
};

/* The name tells run, partition, type and, in type 2, the rank: files of several runs lie beside each other, and Open
 * MPI's jobs never meet in a name. */
pl_status beffio_file_name(struct beffio_file *file, const char *folder, const char *run, int nprocs,
                           struct pl_error *error);

/* Opens and sets the type's view; every rank calls. Never MPI_MODE_UNIQUE_OPEN, which would let an MPI put off its
 * MPI_File_sync. Errors are local, and the file is to be closed by those who opened it only after all agreed. */
pl_status beffio_file_open_coll(struct beffio_file *file, enum beffio_method method, const struct beffio_layout *layout,
                                struct pl_error *error);

/* Puts view or pointer to where the pattern begins, with the hints of the pattern. */
pl_status beffio_file_position_coll(struct beffio_file *file, const struct beffio_layout *layout, int pattern,
                                    struct pl_error *error);

/* One call of the type, of `count` numbers of 8 bytes. `offset_bytes` is for type 5 alone, the others go on from where
 * they are. Returns MPI's code. */
int beffio_file_write(const struct beffio_file *file, int64_t offset_bytes, const void *data, int count,
                      MPI_Status *status);
int beffio_file_read(const struct beffio_file *file, int64_t offset_bytes, void *data, int count, MPI_Status *status);

pl_status beffio_file_sync_coll(struct beffio_file *file, struct pl_error *error);
pl_status beffio_file_close_coll(struct beffio_file *file, struct pl_error *error);

/* Local: rank 0 removes a shared file and what MPI keeps beside it, each rank its own in type 2. A file that is not
 * there is no failure. */
void beffio_file_remove(const struct beffio_file *file);

/* Writes the file back and asks the kernel to forget its pages. Local. */
void beffio_file_cool(const struct beffio_file *file);

#endif
