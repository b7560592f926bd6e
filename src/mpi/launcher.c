#include "mpi/launcher.h"

#include <stdlib.h>
#include <string.h>

/* What each launcher leaves in the environment. `mpi` names the builds that it can start; NULL: any. */
static const struct {
    const char *size;
    const char *mpi;
    const char *name;
} LAUNCHERS[] = {
    {"OMPI_COMM_WORLD_SIZE", "openmpi", "Open MPI's mpiexec"},
    {"PMI_SIZE", "mpich", "MPICH's mpiexec"},
    {"SLURM_STEP_NUM_TASKS", NULL, "srun"},
};
enum { LAUNCHER_COUNT = sizeof LAUNCHERS / sizeof LAUNCHERS[0] };

bool job_is_launched(void)
{
    for (size_t i = 0; i < LAUNCHER_COUNT; i++)
        if (getenv(LAUNCHERS[i].size) && LAUNCHERS[i].mpi)
            return true;
    return getenv("PMIX_RANK") || (getenv("PMI_RANK") != NULL);
}

bool job_speaks(void)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        const char *rank = getenv(ranks[i]);
        if (rank)
            return atoi(rank) == 0;
    }
    return true;
}

int launcher_local_rank(void)
{
    static const char *const ranks[] = {
#if PIOLET_IS_OPENMPI /* a job may run inside of another MPI's */
        "OMPI_COMM_WORLD_LOCAL_RANK",
#endif
        "MPI_LOCALRANKID",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "SLURM_LOCALID",
        "PALS_LOCAL_RANKID"
    };
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        const char *rank = getenv(ranks[i]);
        if (rank)
            return atoi(rank);
    }
    return job_is_launched() ? -1 : 0;
}

pl_status launcher_check(int size, const char *what, struct pl_error *error)
{
    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        const char *text = getenv(LAUNCHERS[i].size);
        const bool foreign = !LAUNCHERS[i].mpi || strcmp(LAUNCHERS[i].mpi, PIOLET_MPI_NAME) != 0;
        if (text && foreign && atoi(text) > 1 && size == 1)
            return pl_fail(error, PL_E_USAGE,
                           "%s started %s processes, but %s is built for %s and each would run alone; "
                           "start it with mpiexec.%s (or 'piolet VERB -n N')",
                           LAUNCHERS[i].name, text, what, PIOLET_MPI_NAME, PIOLET_MPI_NAME);
    }
    return PL_OK;
}
