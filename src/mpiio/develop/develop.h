/* Develop mode (PIOLET_DEVELOP=1): before a collective call does anything, every rank compares what it is about to do
 * with what its neighbour in a ring does, and all agree. A program whose ranks are in different calls, or of which one
 * gives wrong arguments, gets an error on all of them in the place of a hang or of wrong data. A step operation, so
 * that non-blocking calls stay so. */
#ifndef PIOLET_MPIIO_DEVELOP_DEVELOP_H
#define PIOLET_MPIIO_DEVELOP_DEVELOP_H

#include "mpi/step.h"
#include "mpiio/file/file.h"

struct develop_announcement {
    char function[48];
    int64_t sequence; /* collective accesses of this file so far */
};

struct develop_check {
    struct file *file;
    int state;
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

#endif
