#include "mpi/launcher.h"

#include "base/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The first of these variables, as a number; -1: there is none. */
static int first_number(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = getenv(names[i]);
        if (text)
            return atoi(text);
    }
    return -1;
}

/* From Slurm's "2(x3),1": the most that any node has. */
static int most_tasks(const char *text)
{
    int most = -1;
    for (; text; text = strchr(text, ',')) {
        text += *text == ',';
        most = atoi(text) > most ? atoi(text) : most;
    }
    return most;
}

int launcher_local_size(void)
{
    static const char *const sizes[] = {
#if PIOLET_IS_OPENMPI
        "OMPI_COMM_WORLD_LOCAL_SIZE",
#endif
        "MPI_LOCALNRANKS",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "PALS_LOCAL_SIZE"
    };
    const int size = first_number(sizes, sizeof sizes / sizeof sizes[0]);
    return size > 0 ? size : most_tasks(getenv("SLURM_STEP_TASKS_PER_NODE"));
}

int64_t launcher_node_bytes(void)
{
    static const char *const node[] = {"SLURM_MEM_PER_NODE"}, *const each[] = {"SLURM_MEM_PER_CPU"},
                             *const cpus[] = {"SLURM_CPUS_ON_NODE"};
    const int64_t mib = first_number(node, 1), mib_each = first_number(each, 1), count = first_number(cpus, 1);
    if (mib > 0)
        return mib << 20;
    return mib_each > 0 && count > 0 ? mib_each * count << 20 : -1;
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
    const int rank = first_number(ranks, sizeof ranks / sizeof ranks[0]);
    return rank >= 0 || job_is_launched() ? rank : 0;
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

/* ---- the environment ---- */

#define CHECKED_MARK "PIOLET_VARIABLES_CHECKED"

void job_variables_tell(void)
{
    struct text lines = {0};
    if (getenv(CHECKED_MARK))
        return;
    variables_check(environ, &lines);
    if (lines.data)
        setenv(CHECKED_MARK, "1", 1);
    char *rest = NULL;
    for (char *line = lines.data ? strtok_r(lines.data, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        fprintf(stderr, "piolet: warning: %s\n", line);
    text_clear(&lines);
}
