/* piolet survey: the command line, and what a launcher around it means. */
#include "cli/cli_launch.h"
#include "cli/cli_screen.h"
#include "mpi/launcher.h"
#include "survey/survey.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_survey;

struct survey_values {
    int64_t ranks; /* 0: not given */
    const char *directory, *output;
    bool quick, full, dry_run;
    bool without[SURVEY_PARTS];
};

#define AT(member) OPTION_AT(struct survey_values, member)
static const struct option_row ROWS[] = {
    {CLI_LAUNCH_RANKS, AT(ranks), .more = "BT-IO needs a square and runs on 4 or more.",
     .help = "MPI processes; by default the cores, from 2 to 4"},
    {.name = "on",
     .aliases = "dir",
     .type = OPTION_TEXT,
     .argument = "DIR",
     AT(directory),
     .help = "write the test files there, in a directory that is removed afterwards; by default in the results"},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .argument = "DIR",
     AT(output),
     .help = "a new directory for the results; by default results/TIME"},
    {.name = "quick", .type = OPTION_FLAG, AT(quick), .help = "a try of some seconds: the numbers mean little"},
    {.name = "full", .type = OPTION_FLAG, AT(full), .help = "take the time that the documents ask for: over an hour"},
    {.name = "dry-run",
     .type = OPTION_FLAG,
     AT(dry_run),
     .more = "With their commands and how long they take.",
     .help = "print the steps; run nothing"},
    {.name = "no-limits", .type = OPTION_FLAG, AT(without[SURVEY_LIMITS]), .help = "without the peak of the device"},
    {.name = "no-curves", .type = OPTION_FLAG, AT(without[SURVEY_CURVES]), .help = "without the low-level tests"},
    {.name = "no-kernels", .type = OPTION_FLAG, AT(without[SURVEY_KERNELS]), .help = "without the kernels"},
    {.name = "no-strategies",
     .type = OPTION_FLAG,
     AT(without[SURVEY_STRATEGIES]),
     .help = "without collective I/O against the system's"},
    {.name = "no-beff", .type = OPTION_FLAG, AT(without[SURVEY_BEFF]), .help = "without b_eff"},
    {.name = "no-beffio", .type = OPTION_FLAG, AT(without[SURVEY_BEFFIO]), .help = "without b_eff_io"},
    {.name = "no-benches",
     .type = OPTION_FLAG,
     AT(without[SURVEY_BENCHES]),
     .help = "without the other benchmarks, as metadata"},
    {.name = "no-app",
     .type = OPTION_FLAG,
     AT(without[SURVEY_APP]),
     .help = "without BT-IO: trace, model, replay, prediction"},
    {0}};
#undef AT

/* ---- under a launcher ---- */

/* The ranks that a launcher started; 0: it does not tell. */
static int survey_launched_ranks(void)
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
static void survey_forget_launcher(void)
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
static bool survey_enter(struct survey_request *request, int *ret_status)
{
    *ret_status = CLI_OK;
    if (!job_is_launched())
        return true;
    const int ranks = survey_launched_ranks();
    if (request->ranks || ranks == 0 || getenv("SLURM_STEP_ID")) {
        *ret_status = cli_usage_error(
            &cli_verb_survey, "the survey starts its jobs itself: call 'piolet survey -n %d' without a launcher",
            request->ranks ? request->ranks
            : ranks > 0    ? ranks
                           : 2);
        return false;
    }
    request->ranks = ranks;
    survey_forget_launcher();
    return true;
}

/* ---- options ---- */

static int survey_default_ranks(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 2 ? 2 : cores > 4 ? 4 : (int)cores;
}

static int survey_check_directory(const char *name)
{
    struct stat info;
    if (stat(name, &info) != 0 || !S_ISDIR(info.st_mode))
        return cli_usage_error(&cli_verb_survey, "--on '%s': there is no such directory", name);
    if (access(name, W_OK | X_OK) != 0)
        return cli_usage_error(&cli_verb_survey, "--on '%s': it cannot be written", name);
    return CLI_OK;
}

/* A new directory, or an empty one. */
static int survey_check_output(const char *name)
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

static void survey_complain(const char *text)
{
    cli_complain(&cli_verb_survey, "%s", text);
}

static int survey_check(const struct survey_values *values, const struct options *options)
{
    if (options->operand_count)
        return cli_usage_error(&cli_verb_survey, "'%s': the survey takes options only", options->operands[0]);
    if (values->quick && values->full)
        return cli_usage_error(&cli_verb_survey, "--quick and --full exclude each other");
    if (values->directory && survey_check_directory(values->directory) != CLI_OK)
        return CLI_USAGE;
    return values->output ? survey_check_output(values->output) : CLI_OK;
}

static int cli_survey_run(int argc, char **argv)
{
    struct survey_values values = {0};
    struct options options;
    if (job_is_launched() && !job_speaks())
        return CLI_OK; /* the first process starts all jobs */
    int status = cli_options(&cli_verb_survey, argc, argv, &values, &options);
    if (status == CLI_OK)
        status = survey_check(&values, &options);
    struct survey_request request = {.complain = survey_complain,
                                     .clear_line = cli_screen_clear_line,
                                     .form = values.quick  ? SURVEY_QUICK
                                             : values.full ? SURVEY_FULL
                                                           : SURVEY_DEFAULT,
                                     .ranks = (int)values.ranks,
                                     .directory = values.directory,
                                     .output = values.output,
                                     .dry_run = values.dry_run};
    memcpy(request.without, values.without, sizeof request.without);
    if (status == CLI_OK && survey_enter(&request, &status)) {
        request.ranks = request.ranks ? request.ranks : survey_default_ranks();
        status = survey_run(&request);
    }
    options_clear(&options);
    return status;
}

const struct cli_verb cli_verb_survey = {
    .name = "survey",
    .summary = "survey the I/O of this machine: numbers, curves, a page",
    .synopsis = "[OPTION]...",
    .details = "Runs the other verbs in a form that takes about half a minute on an idle\n"
               "machine, and ends with a page and a summary. A step that fails is named, and the\n"
               "others go on. Ctrl-C leaves a page of what was done.",
    .rows = ROWS,
    .run = cli_survey_run,
};
