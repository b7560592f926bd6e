/* piolet survey: the command line, and what a launcher around it means. */
#include "base/units.h"
#include "cli/cli_launch.h"
#include "cli/survey.h"
#include "mpi/launcher.h"

#include <dirent.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_survey;

enum { OPT_RANKS = 1, OPT_DIR, OPT_OUTPUT, OPT_QUICK, OPT_FULL, OPT_DRY_RUN, OPT_NO /* and one for each part */ };

/* ---- under a launcher ---- */

/* The ranks that a launcher started; 0: it does not tell. */
static int launched_ranks(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const char *text = getenv(sizes[i]);
        if (text && atoi(text) > 0)
            return atoi(text);
    }
    return 0;
}

/* A launcher inside of a job must not take itself for a part of it. */
static void forget_launcher(void)
{
    static const char *const prefixes[] = {"PMI_",  "PMIX_", "PMI2_", "HYDRA_", "HYDI_", "MPI_LOCAL",
                                           "MPIR_", "OMPI_", "ORTE_", "OPAL_",  "PRTE_"};
    for (char **entry = environ; *entry;) {
        char name[256];
        bool drop = false;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
            drop |= strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
        if (drop && strncmp(name, "OMPI_ALLOW_RUN_AS_ROOT", 22) != 0 && unsetenv(name) == 0)
            entry = environ; /* the list has moved */
        else
            entry++;
    }
}

/* True: this process is to go on, with the number of ranks that are asked for. */
static bool enter(struct survey_request *request, int *ret_status)
{
    *ret_status = CLI_OK;
    if (!job_is_launched())
        return true;
    const int ranks = launched_ranks();
    if (request->ranks || ranks == 0 || getenv("SLURM_STEP_ID")) {
        *ret_status = cli_usage_error(
            &cli_verb_survey, "the survey starts its jobs itself: call 'piolet survey -n %d' without a launcher",
            request->ranks ? request->ranks
            : ranks > 0    ? ranks
                           : 2);
        return false;
    }
    request->ranks = ranks;
    forget_launcher();
    return true;
}

/* ---- options ---- */

static int default_ranks(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 2 ? 2 : cores > 4 ? 4 : (int)cores;
}

static int check_directory(const char *name)
{
    struct stat info;
    if (stat(name, &info) != 0 || !S_ISDIR(info.st_mode))
        return cli_usage_error(&cli_verb_survey, "--dir '%s': there is no such directory", name);
    if (access(name, W_OK | X_OK) != 0)
        return cli_usage_error(&cli_verb_survey, "--dir '%s': it cannot be written", name);
    return CLI_OK;
}

/* A new directory, or an empty one. */
static int check_output(const char *name)
{
    DIR *directory = opendir(name);
    int entries = 0;
    while (directory && readdir(directory))
        entries++;
    if (directory)
        closedir(directory);
    if (entries > 2)
        return cli_usage_error(&cli_verb_survey, "--output '%s': it is there and not empty", name);
    return CLI_OK;
}

static int survey_run(int argc, char **argv)
{
    struct survey_request request = {.verb = &cli_verb_survey, .form = SURVEY_DEFAULT};
    const char *argument;
    int option, status;
    bool quick = false, full = false;
    if (job_is_launched() && !job_speaks())
        return CLI_OK; /* the first process starts all jobs */
    while ((option = cli_next(&cli_verb_survey, argc, argv, &argument)) > CLI_END) {
        if (option == OPT_RANKS && (request.ranks = cli_launch_ranks(&cli_verb_survey, argument)) == 0)
            return CLI_USAGE;
        if (option == OPT_DIR && check_directory(request.directory = argument) != CLI_OK)
            return CLI_USAGE;
        if (option == OPT_OUTPUT && check_output(request.output = argument) != CLI_OK)
            return CLI_USAGE;
        quick |= option == OPT_QUICK;
        full |= option == OPT_FULL;
        request.dry_run |= option == OPT_DRY_RUN;
        if (option >= OPT_NO)
            request.without[option - OPT_NO] = true;
    }
    if (option == CLI_BAD)
        return CLI_USAGE;
    if (optind < argc)
        return cli_usage_error(&cli_verb_survey, "'%s': the survey takes options only", argv[optind]);
    if (quick && full)
        return cli_usage_error(&cli_verb_survey, "--quick and --full exclude each other");
    request.form = quick ? SURVEY_QUICK : full ? SURVEY_FULL : SURVEY_DEFAULT;
    if (!enter(&request, &status))
        return status;
    request.ranks = request.ranks ? request.ranks : default_ranks();
    return survey_shell(&request);
}

const struct cli_verb cli_verb_survey = {
    .name = "survey",
    .summary = "survey the I/O of this machine: numbers, curves, a page",
    .synopsis = "[OPTION]...",
    .details = "Runs the other verbs in a form that takes about half a minute on an idle\n"
               "machine, and ends with a page and a summary. A step that fails is named, and the\n"
               "others go on. Ctrl-C leaves a page of what was done.",
    .options =
        (const struct cli_option[]){
            {OPT_RANKS, "ranks", 'n', "N", "MPI processes (the cores, from 2 to 4)"},
            {OPT_DIR, "dir", 0, "DIR",
             "write the test files there, in a directory that is\n"
             "removed afterwards (default: in the results)"},
            {OPT_OUTPUT, "output", 'o', "DIR", "a new directory for the results (results/TIME)"},
            {OPT_QUICK, "quick", 0, NULL, "a try of some seconds: the numbers mean little"},
            {OPT_FULL, "full", 0, NULL, "take the time that the documents ask for: over an hour"},
            {OPT_DRY_RUN, "dry-run", 0, NULL, "print the steps; run nothing"},
            {OPT_NO + SURVEY_LIMITS, "no-limits", 0, NULL, "without the peak of the device"},
            {OPT_NO + SURVEY_CURVES, "no-curves", 0, NULL, "without the low-level tests"},
            {OPT_NO + SURVEY_KERNELS, "no-kernels", 0, NULL, "without the kernels"},
            {OPT_NO + SURVEY_STRATEGIES, "no-strategies", 0, NULL, "without collective I/O against the system's"},
            {OPT_NO + SURVEY_BEFF, "no-beff", 0, NULL, "without b_eff"},
            {OPT_NO + SURVEY_BEFFIO, "no-beffio", 0, NULL, "without b_eff_io"},
            {OPT_NO + SURVEY_APP, "no-app", 0, NULL, "without BT-IO: trace, model, replay, prediction"},
            {0}},
    .run = survey_run,
};
