/* What launched this process, as its environment tells; no MPI call. */
#ifndef PIOLET_MPI_LAUNCHER_H
#define PIOLET_MPI_LAUNCHER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Was this process started by an mpiexec or srun, of any MPI? */
bool job_is_launched(void);

/* Before or without MPI: is this the one process of its launch that should print a message for all? */
bool job_speaks(void);

/* Tells on stderr what is wrong with the environment of this process (base/variables.h); once among processes that
 * start each other. Only one rank calls it. */
void job_variables_tell(void);

/* Which process of its node this is, from 0 on; 0 where no launcher started it; -1 where the launcher does not tell. */
int launcher_local_rank(void);

/* How many processes of this launch its node has, or the fullest of the nodes; -1 where the launcher does not tell. */
int launcher_local_size(void);

/* How much memory the batch system gives the job on this node; -1 where it does not tell. Some end a job that has more,
 * without a limit that the system knows of. */
int64_t launcher_node_bytes(void);

/* Fails where `size` processes run, but the launcher of another MPI started more: each then believes to be alone.
 * `what` names the program in the message. */
pl_status launcher_check(int size, const char *what, struct pl_error *error);

#endif
