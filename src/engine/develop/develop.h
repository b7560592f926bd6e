/* Develop mode (PIOLET_DEVELOP=1): before a collective call does anything, every rank compares what it is about to do
 * with what its neighbour in a ring does, and all agree. A program whose ranks are in different calls, or of which one
 * gives wrong arguments, gets an error on all of them in the place of a hang or of wrong data. A step operation, so
 * that non-blocking calls stay so. */
#ifndef PIOLET_ENGINE_DEVELOP_DEVELOP_H
#define PIOLET_ENGINE_DEVELOP_DEVELOP_H

#include "engine/file/file.h"
#include "mpi/agree.h"

struct develop_announcement {
    char function[48];
    int64_t sequence; /* collective accesses of this file so far */
};

enum develop_state { DEVELOP_RING, DEVELOP_AGREE, DEVELOP_FINISHED };

struct develop_check {
    struct file *file;
    enum develop_state state;
    struct develop_announcement mine, left;
    MPI_Request requests[2];
    struct agree agree;
    struct pl_error own;
};

/* Does the environment of this process ask for it? A file has it (file->develop) where any rank does. */
bool develop_is_wanted(void);

/* `own`: what is wrong with this rank's arguments, if anything; all fail then, each rank with its own error, else with
 * that of another. */
void develop_check_start(struct develop_check *check, struct file *file, const char *function,
                         const struct pl_error *own);
enum step develop_check_step(struct develop_check *check);
/* After the last step: the same answer on all ranks. */
pl_status develop_check_result(const struct develop_check *check, struct pl_error *error);
/* All of it, waiting in between. */
pl_status develop_check_run_coll(struct file *file, const char *function, const struct pl_error *own,
                                 struct pl_error *error);

/* Has the left neighbour begun a check of this file that this rank takes no part in yet? */
bool develop_is_awaited(const struct file *file);

/* ---- reads and writes ---- */
/* Develop mode: who reads what another rank wrote, or asks for a size that another rank made, without MPI_File_sync,
 * barrier, MPI_File_sync in between, gets one warning for a file on stderr. Ranks that share memory see each other's
 * writes, whether they communicate or not; those of other nodes are not seen. Each collective open is looked at by
 * itself. Every function does nothing where `file->track` is NULL. */

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
