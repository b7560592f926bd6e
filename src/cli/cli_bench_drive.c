/* Launches that alternate: the other MPI, or another MPI-IO, needs a process of its own. The
 * benchmark says what is next, from its results alone, so that a killed run is resumed like any other; each launch
 * appends to the same file. */
#include "base/interrupt.h"
#include "base/process.h"
#include "base/progress.h"
#include "cli/cli_bench.h"
#include "cli/cli_target.h"
#include "lab/runner/lab.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAM_MAX = PATH_MAX + 64 };

struct drive_launch {
    const struct bench_launch *what;
    char program[PROGRAM_MAX];
    int argc;
    char **argv;
};

/* …/mpich/bin/piolet and …/openmpi/bin/piolet are siblings. */
static bool drive_find_program(const struct cli_verb *verb, const char *mpi, char program[PROGRAM_MAX])
{
    char tree[PATH_MAX];
    const char *own = strcmp(mpi, "mpich") == 0 ? "mpich" : "openmpi";
    if (!process_self(tree))
        return false;
    if (strcmp(own, PIOLET_MPI_NAME) == 0) {
        snprintf(program, PROGRAM_MAX, "%s", tree);
        return true;
    }
    for (int i = 0; i < 3; i++) {
        char *slash = strrchr(tree, '/');
        if (slash)
            *slash = '\0';
    }
    snprintf(program, PROGRAM_MAX, "%s/%s/bin/piolet", tree, own);
    if (access(program, X_OK) == 0)
        return true;
    cli_complain(verb, "--mpis: there is no piolet for %s at '%s'", mpi, program);
    return false;
}

/* Its tables are no one's concern: those of all launches come at the end. */
static void drive_become(void *context)
{
    const struct drive_launch *launch = context;
    char step[128];
    char **words = calloc((size_t)launch->argc + 4, sizeof *words);
    const int null = open("/dev/null", O_WRONLY);
    snprintf(step, sizeof step, "%s %s", launch->what->mpi, launch->what->step);
    setenv("PIOLET_STEP", step, 1);
    setenv("OMPI_MCA_mca_base_env_list", "PIOLET_STEP", 0); /* Open MPI hands on what it is told to */
    if (strcmp(launch->what->mpi, "openmpi-romio") == 0)
        setenv("OMPI_MCA_io", "romio321", 1);
    if (words && null >= 0) {
        dup2(null, STDOUT_FILENO);
        words[0] = (char *)launch->program;
        memcpy(words + 1, launch->argv, (size_t)launch->argc * sizeof *words);
        words[launch->argc + 1] = (char *)"--progress=never";
        execv(words[0], words);
    }
    fprintf(stderr, "cannot start '%s': %s\n", launch->program, strerror(errno));
    _exit(CLI_NOT_EXECUTABLE);
}

/* CLI_OK or CLI_FAILED, which the results explain; else it ends the whole. */
static int drive_launch(const struct cli_verb *verb, struct drive_launch *launch, bool *ret_goes_on)
{
    struct process child = {.is_piolet = true};
    *ret_goes_on = false;
    if (!process_start(&child, true, drive_become, launch)) {
        cli_complain(verb, "cannot start a process: %s", strerror(errno));
        return CLI_FAILED;
    }
    process_follow(&child);
    if (process_signal())
        return interrupt_end(process_signal());
    *ret_goes_on = child.status <= CLI_FAILED;
    if (child.status == CLI_USAGE) /* it has said what is wrong with command line or input */
        return CLI_USAGE;
    if (!*ret_goes_on)
        cli_complain(verb, "the launch of %s ended with exit status %d", launch->what->mpi, child.status);
    return *ret_goes_on ? child.status : CLI_FAILED;
}

int cli_bench_drive(const struct cli_verb *verb, struct lab_job *job, const struct bench_launch *first, int argc,
                    char **argv)
{
    assert(job->bench->next_launch);
    struct bench_launch what = *first;
    struct drive_launch launch = {.what = &what, .argc = argc, .argv = argv};
    struct progress progress;
    struct pl_error error;
    int exit_status = CLI_OK;
    progress_begin(&progress, (enum progress_when)job->common.progress, what.steps, (double)what.steps);
    while (what.mpi) {
        bool goes_on;
        if (!drive_find_program(verb, what.mpi, launch.program))
            return CLI_USAGE;
        progress_step(&progress, what.label, 1);
        const int status = drive_launch(verb, &launch, &goes_on);
        if (!goes_on)
            return status;
        exit_status = status != CLI_OK ? status : exit_status;
        if (job->bench->next_launch(job, &what, &error) != PL_OK) {
            cli_complain(verb, "%s", error.text);
            return CLI_FAILED;
        }
    }
    return exit_status;
}
