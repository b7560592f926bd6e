/* Develop mode (PIOLET_DEVELOP=1): before a collective call does anything, every rank compares what it is about to do
 * with what its neighbour in a ring does, and all agree. A program whose ranks are in different calls gets an error in
 * the place of a hang or of wrong data. A step operation, so that non-blocking calls stay so. */
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

/* Is the mode on, and are there others to compare with? The same on all ranks. */
bool develop_is_on(const struct file *file);

void develop_check_start(struct develop_check *check, struct file *file, const char *function);
enum step develop_check_step(struct develop_check *check);
/* After the last step: the same answer on all ranks. */
pl_status develop_check_result(const struct develop_check *check, struct pl_error *error);

#endif
