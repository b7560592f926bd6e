/* Develop mode: who reads what another rank wrote, or asks for a size that another rank made, without MPI_File_sync,
 * barrier, MPI_File_sync in between, gets one warning for a file on stderr. Ranks that share memory see each other's
 * writes, whether they communicate or not; those of other nodes are not seen. Each collective open is looked at by
 * itself. Every function does nothing where `file->track` is NULL. */
#ifndef PIOLET_MPIIO_DEVELOP_DEVELOP_TRACK_H
#define PIOLET_MPIIO_DEVELOP_DEVELOP_TRACK_H

#include "mpiio/file/file.h"

/* Sets file->track; leaves it NULL where there is no memory to share. Every rank of the file calls it. */
void develop_track_open_coll(struct file *file);
void develop_track_close(struct file *file);

/* Before the data are moved, so that whoever meets this rank later finds it. */
void develop_track_write(struct file *file, const struct access_request *request);
/* After they were. */
void develop_track_read(struct file *file, const char *function, const struct access_request *request);
void develop_track_size(struct file *file, const char *function, int64_t size);

void develop_track_sync_begins(struct file *file);
void develop_track_sync_ends(struct file *file);
void develop_track_resized(struct file *file); /* one rank, before the others go on */

#endif
