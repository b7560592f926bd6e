/* piolet trace: runs a program and keeps what every rank asks of MPI-IO. */
#include "base/interrupt.h"
#include "cli/cli.h"
#include "cli/cli_launch.h"
#include "cli/cli_target.h"
#include "mpi/job.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_trace;

enum { RANKS = 1, OUTPUT, FULL, ENGINE };

struct request {
    int ranks; /* 0: -n was not given */
    const char *directory;
    bool engine, full;
};

static bool parse(struct request *request, int argc, char **argv)
{
    const char *argument;
    int option;
    while ((option = cli_next(&cli_verb_trace, argc, argv, &argument)) > CLI_END) {
        if (option == RANKS && !(request->ranks = cli_launch_ranks(&cli_verb_trace, argument)))
            return false;
        if (option == OUTPUT)
            request->directory = argument;
        request->engine |= option == ENGINE;
        request->full |= option == FULL;
    }
    return option == CLI_END;
}

static bool is_empty(const char *directory)
{
    DIR *stream = opendir(directory);
    if (!stream)
        return false;
    int count = 0;
    while (count < 3 && readdir(stream))
        count++;
    closedir(stream);
    return count < 3; /* . and .. */
}

/* Makes the directory, and refuses one that holds something: a trace is never mixed with another. The ranks of a job
 * all come here, and some may be tracing already: they take it as it is. */
static int make_directory(const char *directory, char ret_path[PATH_MAX])
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
    if (!in_job && !is_empty(ret_path))
        return cli_usage_error(&cli_verb_trace, "'%s' is there already, and not an empty directory", directory);
    if (!in_job && access(ret_path, W_OK | X_OK) != 0) {
        cli_complain(&cli_verb_trace, "nothing can be written into the directory '%s': %s", directory, strerror(errno));
        return CLI_FAILED;
    }
    return CLI_OK;
}

/* A name for the directory where none was given. Ranks that mpiexec started have no name in common. */
static int name_directory(struct request *request, char ret_name[PATH_MAX])
{
    if (request->directory)
        return CLI_OK;
    if (job_is_launched()) {
        if (job_speaks())
            cli_usage_error(&cli_verb_trace, "under mpiexec all ranks need one directory: name it with -o DIR");
        return CLI_USAGE;
    }
    const time_t now = time(NULL);
    struct tm local;
    char stamp[32];
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    snprintf(ret_name, PATH_MAX, "piolet-trace.%s.%ld", stamp, (long)getpid());
    request->directory = ret_name;
    fprintf(stderr, "piolet trace: the trace goes to '%s'\n", ret_name);
    return CLI_OK;
}

/* The ranks are this verb again, each becoming the program: so LD_PRELOAD is never set for the launcher. */
static int launch(const struct request *request, const char *directory, int argc, char **argv)
{
    char **words = calloc((size_t)argc + 9, sizeof *words);
    int count = 0;
    if (!words) {
        cli_complain(&cli_verb_trace, "not enough memory");
        return CLI_FAILED;
    }
    words[count++] = (char *)"trace";
    words[count++] = (char *)"-o";
    words[count++] = (char *)directory;
    if (request->engine)
        words[count++] = (char *)"--engine";
    if (request->full)
        words[count++] = (char *)"--full";
    words[count++] = (char *)"--";
    memcpy(words + count, argv, (size_t)argc * sizeof *words);
    const int status = cli_launch(&cli_verb_trace, request->ranks, count + argc, words);
    free(words);
    return status;
}

static int trace_run(int argc, char **argv)
{
    static char list[CLI_PRELOAD_MAX];
    const struct cli_verb *const verb = &cli_verb_trace;
    struct request request = {0};
    char path[PATH_MAX], name[PATH_MAX], directory[PATH_MAX];
    int own, status;
    const int program = cli_target_word(verb, argc, argv, &own);
    if (!parse(&request, own, argv))
        return CLI_USAGE;
    if (program >= argc)
        return cli_usage_error(verb, "which PROGRAM?");
    if ((status = cli_target_find(verb, argv[program], path)) || (status = cli_target_accept(verb, path, argc, argv)))
        return status;
    const char *const libraries[] = {"libpiolet-trace.so", request.engine ? "libpiolet-mpiio.so" : NULL, NULL};
    if (!cli_target_preload(verb, libraries, list))
        return CLI_FAILED;
    if ((status = name_directory(&request, name)) != 0)
        return status;
    interrupt_results(request.directory, NULL);
    if ((status = make_directory(request.directory, directory)) != 0)
        return status;
    if (request.ranks)
        return launch(&request, directory, argc - program, argv + program);
    if (setenv("PIOLET_TRACE_DIR", directory, 1) != 0 || setenv("LD_PRELOAD", list, 1) != 0 ||
        setenv("PIOLET_TRACE_FULL", request.full ? "1" : "0", 1) != 0) {
        cli_complain(verb, "not enough memory");
        return CLI_FAILED;
    }
    return cli_target_exec(verb, path, argv + program);
}

const struct cli_verb cli_verb_trace = {
    .name = "trace",
    .runs_program = true,
    .summary = "run a program and keep what it asks of MPI-IO",
    .synopsis = "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    .details = "PROGRAM is any MPI program that is linked dynamically; it is not changed.\n"
               "'mpiexec -n 4 piolet trace -o DIR PROGRAM' and 'piolet trace -n 4 -o DIR PROGRAM'\n"
               "do the same. The exit status is that of PROGRAM.",
    .options =
        (const struct cli_option[]){
            {RANKS, "ranks", 'n', "N", "start mpiexec with N ranks of PROGRAM"},
            {OUTPUT, "output", 'o', "DIR",
             "a new directory for the trace, one file for each\nrank (default: piolet-trace.TIME.PID)"},
            {FULL, "full", 0, NULL, "a line of text for every call (default: folded)"},
            {ENGINE, "engine", 0, NULL, "run PROGRAM on our MPI-IO, see 'piolet preload'"},
            {0}},
    .run = trace_run,
};
