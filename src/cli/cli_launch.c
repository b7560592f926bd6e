#include "cli/cli_launch.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/units.h"
#include "cli/cli_target.h"
#include "mpi/job.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHILD_MARK "PIOLET_LAUNCHED"

bool cli_launch_is_child(void)
{
    return getenv(CHILD_MARK) != NULL;
}

void cli_launch_forget(void)
{
    unsetenv(CHILD_MARK);
}

enum { ARGS_MAX = 24 };

struct command {
    char *words[ARGS_MAX];
    int count;
};

static void launch_add(struct command *command, const char *word)
{
    assert(command->count < ARGS_MAX); /* a word left out would start another job */
    command->words[command->count++] = (char *)word;
}

/* Debian's MPICH spins while it waits; with more ranks than cores a small preload makes it yield. */
static void add_yield(struct command *command, const struct cli_verb *verb)
{
    static const char *const yield[] = {"libpiolet-yield.so", NULL};
    static char library[PATH_MAX], list[CLI_PRELOAD_MAX];
    if (!cli_target_library(yield[0], library) || !cli_target_preload(verb, yield, list))
        return;
    launch_add(command, "-genv");
    launch_add(command, "LD_PRELOAD");
    launch_add(command, list);
}

static void make_command(struct command *command, const struct cli_verb *verb, const char *ranks, bool crowded)
{
    if (getenv("SLURM_JOB_ID")) {
        launch_add(command, "srun");
        launch_add(command, "-n");
        launch_add(command, ranks);
        return;
    }
    launch_add(command, PIOLET_MPIEXEC);
    if (strcmp(PIOLET_MPI_NAME, "mpich") == 0) {
        if (crowded)
            add_yield(command, verb);
    } else {
        if (geteuid() == 0)
            launch_add(command, "--allow-run-as-root");
        if (crowded) {
            launch_add(command, "--oversubscribe");
            launch_add(command, "--bind-to");
            launch_add(command, "none");
            launch_add(command, "--mca");
            launch_add(command, "mpi_yield_when_idle");
            launch_add(command, "1");
        }
    }
    launch_add(command, "-n");
    launch_add(command, ranks);
}

/* ---- the launcher ---- */

struct launcher {
    const struct cli_verb *verb;
    char **words;
};

/* In a group of its own it must not read from the terminal: it would be stopped. */
static void leave_terminal(void)
{
    const int null = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (null >= 0)
        dup2(null, STDIN_FILENO);
}

static void become_launcher(void *context)
{
    const struct launcher *launcher = context;
    setenv(CHILD_MARK, "1", 1);
    if (isatty(STDERR_FILENO)) /* mpiexec puts a pipe between the ranks and the terminal */
        setenv("PIOLET_PROGRESS", "always", 0);
    if (!launcher->verb->runs_program)
        leave_terminal();
    execvp(launcher->words[0], launcher->words);
    cli_complain(launcher->verb, "cannot start %s: %s", launcher->words[0], strerror(errno));
    _exit(CLI_FAILED);
}

/* A rank that got the signal alone ends the job, too. */
static int signal_of(int status)
{
    const int number = status - 128;
    return number == SIGINT || number == SIGTERM || number == SIGHUP ? number : 0;
}

/* A program of the user's stays in the group of the terminal, and may read from it. */
static int run_launcher(struct launcher *launcher)
{
    struct process child = {.is_piolet = false};
    if (!process_start(&child, !launcher->verb->runs_program, become_launcher, launcher)) {
        cli_complain(launcher->verb, "cannot start a process: %s", strerror(errno));
        return CLI_FAILED;
    }
    if (launcher->verb->runs_program)
        process_follow_program(&child);
    else
        process_follow(&child);
    const int number = process_signal() || launcher->verb->runs_program ? process_signal() : signal_of(child.status);
    return number ? interrupt_end(number) : child.status;
}

int cli_launch(const struct cli_verb *verb, int ranks, int argc, char **argv)
{
    if (job_is_launched()) {
        if (job_speaks())
            cli_usage_error(verb, "-n starts an MPI job, but this is one already; leave -n to mpiexec");
        return CLI_USAGE;
    }
    assert(ranks > 0 && argc > 0);
    char self[PATH_MAX], number[16];
    if (!process_self(self)) {
        cli_complain(verb, "cannot find my own program file: %s", strerror(errno));
        return CLI_FAILED;
    }
    snprintf(number, sizeof number, "%d", ranks);
    struct command command = {.count = 0};
    make_command(&command, verb, number, ranks > sysconf(_SC_NPROCESSORS_ONLN));
    char **words = calloc((size_t)(command.count + argc + 3), sizeof *words);
    if (!words) {
        cli_complain(verb, "not enough memory");
        return CLI_FAILED;
    }
    memcpy(words, command.words, (size_t)command.count * sizeof *words);
    words[command.count] = self;
    const int skip = verb->standalone ? 1 : 0; /* argv[0] is the verb, or the program itself */
    memcpy(words + command.count + 1, argv + skip, (size_t)(argc - skip) * sizeof *words);
    struct launcher launcher = {verb, words};
    const int status = run_launcher(&launcher);
    free(words);
    return status;
}

int cli_launch_program(const struct cli_verb *verb, int ranks, const char *const *options, int argc, char **argv)
{
    size_t count = 0;
    while (options[count])
        count++;
    char **words = memory_new(count + (size_t)argc + 3, sizeof *words);
    words[0] = (char *)verb->name;
    memcpy(words + 1, options, count * sizeof *words);
    words[count + 1] = (char *)"--";
    memcpy(words + count + 2, argv, (size_t)argc * sizeof *words);
    const int status = cli_launch(verb, ranks, (int)count + 2 + argc, words);
    free(words);
    return status;
}
