/* Starting and ending MPI, and refusing the ways of starting it that look right and are not. */
#ifndef PIOLET_MPI_JOB_H
#define PIOLET_MPI_JOB_H

#include "base/status.h"
#include "mpi/launcher.h"

#include <stdint.h>

/* MPI_Init, errors return. Fails where the launcher belongs to another MPI: every process would then believe to be
 * alone, and all would write the same file. */
pl_status job_init_coll(int *argc, char ***argv, struct pl_error *error);
/* The same with MPI_Init_thread; MPI_Query_thread tells what was given. */
pl_status job_init_thread_coll(int *argc, char ***argv, int level, struct pl_error *error);
/* All ranks meet. How long this one waited for the others: called first, it tells how far apart ranks were started. */
int64_t job_meet_coll(void);
void job_finalize_coll(void);

#endif
