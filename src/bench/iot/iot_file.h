/* A test's file through MPI-IO: open, preallocate, sync, close, with messages that name file and cause. */
#ifndef PIOLET_BENCH_IOT_FILE_H
#define PIOLET_BENCH_IOT_FILE_H

#include "bench/iot/iot.h"

/* For writing (and reading) or only for reading, as the set does, with the hints asked for; every rank of `comm` calls.
 * Rank 0 notes the hints in force. */
pl_status iot_file_open_coll(struct iot_run *run, MPI_Comm comm, MPI_File *ret_file, struct pl_error *error);

/* To the size of the set's file, unless the keyword `preallocate` says no. */
pl_status iot_file_preallocate_coll(const struct iot_run *run, MPI_File file, struct pl_error *error);
pl_status iot_file_sync_coll(const struct iot_run *run, MPI_File file, struct pl_error *error);
pl_status iot_file_close_coll(const struct iot_run *run, MPI_File *file, struct pl_error *error);

/* MPI-IO seldom says that a disk is full: ROMIO calls it an "other error", OMPIO just moves less. Adds to the message
 * of an access that failed ("writing", "updating"; else nothing) that it is, where it is. Returns the status. */
pl_status iot_file_note_full_disk(const struct iot_run *run, const char *doing, struct pl_error *error);

#endif
