/* piolet trace: runs a program and keeps what every rank asks of MPI-IO. */
#include "base/clock.h"
#include "base/interrupt.h"
#include "cli/cli.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/cli_target.h"
#include "mpi/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_trace;

struct trace_values {
    int64_t ranks; /* 0: -n was not given */
    const char *directory;
    bool engine, full;
};

#define AT(member) OPTION_AT(struct trace_values, member)
static const struct option_row ROWS[] = {
    {CLI_LAUNCH_RANKS, AT(ranks), .more = "Or srun inside a SLURM job.",
     .help = "start mpiexec with N ranks of PROGRAM"},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .argument = "DIR",
     AT(directory),
     .more = "It is new, or empty; the default name is told on standard error. Under mpiexec it must be given.",
     .help = "a new directory for the trace, one file for each rank; by default piolet-trace.TIME.PID"},
    {.name = "full",
     .type = OPTION_FLAG,
     AT(full),
     .more = "With both times and bytes done. Costs about a microsecond and 100 bytes a call.",
     .help = "a line of text for every call; by default they are folded"},
    {.name = "engine",
     .type = OPTION_FLAG,
     AT(engine),
     .more = "What it asks of that is traced.",
     .help = "run PROGRAM on our MPI-IO, see 'piolet preload'"},
    {0}};
#undef AT

/* Makes the directory, and refuses one that holds something: a trace is never mixed with another. The ranks of a job
 * all come here, and some may be tracing already: they take it as it is. */
static int trace_make_directory(const char *directory, char ret_path[PATH_MAX])
{
    const bool in_job = job_is_launched();
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        cli_complain(&cli_verb_trace, "cannot make the directory '%s': %s", directory, strerror(errno));
        return CLI_FAILED;
    }
    if (!realpath(directory, ret_path)) {
        cli_complain(&cli_verb_trace, "'%s': %s", directory, strerror(errno));
        return CLI_FAILED;
    }
    if (!in_job && !cli_outputs_is_empty(ret_path))
        return cli_usage_error(&cli_verb_trace, "'%s' is there already, and not an empty directory", directory);
    if (!in_job && access(ret_path, W_OK | X_OK) != 0) {
        cli_complain(&cli_verb_trace, "nothing can be written into the directory '%s': %s", directory, strerror(errno));
        return CLI_FAILED;
    }
    return CLI_OK;
}

/* A name for the directory where none was given. Ranks that mpiexec started have no name in common. */
static int trace_name_directory(struct trace_values *values, char ret_name[PATH_MAX])
{
    if (values->directory)
        return CLI_OK;
    if (job_is_launched()) {
        if (job_speaks())
            cli_usage_error(&cli_verb_trace, "under mpiexec all ranks need one directory: name it with -o DIR");
        return CLI_USAGE;
    }
    char stamp[CLOCK_STAMP_MAX];
    snprintf(ret_name, PATH_MAX, "piolet-trace.%s.%ld", clock_format("%Y%m%d-%H%M%S", 0, stamp, sizeof stamp),
             (long)getpid());
    values->directory = ret_name;
    fprintf(stderr, "piolet trace: the trace goes to '%s'\n", ret_name);
    return CLI_OK;
}

static int trace_launch(const struct trace_values *values, const char *directory, int argc, char **argv)
{
    const char *words[5] = {"-o", directory};
    int count = 2;
    if (values->engine)
        words[count++] = "--engine";
    if (values->full)
        words[count++] = "--full";
    return cli_launch_program(&cli_verb_trace, (int)values->ranks, words, argc, argv);
}

static int trace_act(void *target, const struct cli_line *line)
{
    struct trace_values *values = target;
    const int count = (int)line->options->operand_count;
    char **program = line->argv + line->argc - count;
    static char list[CLI_PRELOAD_MAX];
    const struct cli_verb *const verb = &cli_verb_trace;
    char path[PATH_MAX], name[PATH_MAX], directory[PATH_MAX];
    int status;
    if ((status = cli_target_take(verb, line, path)))
        return status;
    const char *const libraries[] = {"libpiolet-trace.so", values->engine ? "libpiolet-mpiio.so" : NULL, NULL};
    if (!cli_target_preload(verb, libraries, list))
        return CLI_FAILED;
    if ((status = trace_name_directory(values, name)) != 0)
        return status;
    interrupt_results(values->directory, NULL);
    if ((status = trace_make_directory(values->directory, directory)) != 0)
        return status;
    if (values->ranks)
        return trace_launch(values, directory, count, program);
    setenv("PIOLET_TRACE_DIR", directory, 1);
    setenv("LD_PRELOAD", list, 1);
    setenv("PIOLET_TRACE_FULL", values->full ? "1" : "0", 1);
    return cli_target_exec(verb, path, program);
}

const struct cli_verb cli_verb_trace = {
    .name = "trace",
    .runs_program = true,
    .summary = "run a program and keep what it asks of MPI-IO",
    .synopsis = "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    .details = "PROGRAM is any MPI program that is linked dynamically; it is not changed.\n"
               "'mpiexec -n 4 piolet trace -o DIR PROGRAM' and 'piolet trace -n 4 -o DIR\n"
               "PROGRAM' do the same. The exit status is that of PROGRAM.",
    .rows = ROWS,
    .values_size = sizeof(struct trace_values),
    .act = trace_act,
};
