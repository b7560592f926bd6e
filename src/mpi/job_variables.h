/* What is wrong with the environment of this process. */
#ifndef PIOLET_MPI_JOB_VARIABLES_H
#define PIOLET_MPI_JOB_VARIABLES_H

/* Tells on stderr what variables_check() finds; once among processes that start each other. Only one rank calls it. */
void job_variables_tell(void);

#endif
