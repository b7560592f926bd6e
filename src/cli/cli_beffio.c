/* piolet beffio: the effective I/O bandwidth benchmark of Rabenseifner and Koniges. */
#include "base/interrupt.h"
#include "base/units.h"
#include "cli/beffio_shell.h"
#include "cli/cli_launch.h"
#include "cli/suite_shell.h"
#include "mpi/launcher.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

extern const struct cli_verb cli_verb_beffio;

enum {
    OPT_RANKS = 1,
    OPT_TIME,
    OPT_PARTITIONS,
    OPT_PER_NODE,
    OPT_MEMORY_NODE,
    OPT_PATH,
    OPT_HINTS,
    OPT_ORDER,
    OPT_RANDOM,
    OPT_COLD,
    OPT_KEEP,
    OPT_SEED,
    OPT_QUICK,
    OPT_RESUME,
    OPT_DRY_RUN,
    OPT_ASSUME,
    OPT_OUTPUT,
    OPT_JSON,
    OPT_CSV,
    OPT_PROGRESS
};

/* Options that are settings of the run under the same name. */
static const struct {
    int option;
    const char *name;
} SETTINGS[] = {{OPT_TIME, "time"}, {OPT_PARTITIONS, "partitions"},   {OPT_PER_NODE, "per-node"},
                {OPT_PATH, "path"}, {OPT_MEMORY_NODE, "memory-node"}, {OPT_ORDER, "order"},
                {OPT_SEED, "seed"}, {OPT_RANDOM, "random"},           {OPT_COLD, "cold"},
                {OPT_KEEP, "keep"}};

struct command {
    struct beffio_request request;
    int ranks;
    bool dry_run, quick;
    const char *output;
};

static int take_setting(struct command *command, const char *name, const char *value)
{
    struct pl_error error;
    if (beffio_config_set(&command->request.job.config, name, value, &error) == PL_OK)
        return CLI_OK;
    return cli_usage_error(&cli_verb_beffio, "--%s", error.text);
}

/* Results say "" or 0 where a setting was left to its default. Whoever gives that as an option means something else, or
 * has an empty variable. */
static const char *allowed_instead(int option, const struct beffio_config *config)
{
    switch (option) {
    case OPT_PARTITIONS:
        return config->partition_count ? NULL : "numbers of processes, as 2,4,8";
    case OPT_PER_NODE:
        return config->per_node ? NULL : "1 to 1000000";
    case OPT_MEMORY_NODE:
        return config->node_memory_bytes ? NULL : "a size such as 16g";
    case OPT_SEED:
        return config->seed >= 0 ? NULL : "0 to 2^53";
    default:
        return NULL;
    }
}

static int take_hints(struct command *command, const char *path)
{
    struct pl_error error;
    struct text lines = {0};
    struct beffio_hints checked = {0};
    pl_status status = beffio_hints_load(path, &lines, &error);
    if (status == PL_OK)
        status = beffio_hints_parse(path, text_get(&lines), &checked, &error); /* names the file in messages */
    if (status == PL_OK)
        status = beffio_config_set(&command->request.job.config, "hints", text_get(&lines), &error);
    if (status != PL_OK)
        cli_complain(&cli_verb_beffio, "--hints: %s", error.text);
    beffio_hints_clear(&checked);
    text_clear(&lines);
    return status == PL_OK ? CLI_OK : CLI_USAGE;
}

static int take_assume(struct command *command, const char *value)
{
    int64_t rate;
    if (!units_parse_size(value, &rate) || rate < 1)
        return cli_usage_error(&cli_verb_beffio, "--assume: '%s' is not a rate; allowed: bytes a second, as 500m",
                               value);
    command->request.assume_bytes_per_s = (double)rate;
    return CLI_OK;
}

static int take_option(struct command *command, int option, const char *argument)
{
    struct beffio_request *request = &command->request;
    struct pl_error error;
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++)
        if (SETTINGS[i].option == option) {
            if (take_setting(command, SETTINGS[i].name, argument ? argument : "true") != CLI_OK)
                return CLI_USAGE;
            const char *allowed = allowed_instead(option, &request->job.config);
            return allowed ? cli_usage_error(&cli_verb_beffio, "--%s: '%s'; allowed: %s", SETTINGS[i].name, argument,
                                             allowed)
                           : CLI_OK;
        }
    switch (option) {
    case OPT_RANKS:
        command->ranks = cli_launch_ranks(&cli_verb_beffio, argument);
        return command->ranks ? CLI_OK : CLI_USAGE;
    case OPT_HINTS:
        return take_hints(command, argument);
    case OPT_ASSUME:
        return take_assume(command, argument);
    case OPT_PROGRESS:
        request->progress = argument;
        return suite_check_progress(argument, &error) == PL_OK ? CLI_OK
                                                               : cli_usage_error(&cli_verb_beffio, "%s", error.text);
    default:
        command->quick = command->quick || option == OPT_QUICK;
        command->dry_run = command->dry_run || option == OPT_DRY_RUN;
        request->resume = option == OPT_RESUME ? argument : request->resume;
        command->output = option == OPT_OUTPUT ? argument : command->output;
        request->json = option == OPT_JSON ? argument : request->json;
        request->csv = option == OPT_CSV ? argument : request->csv;
        return CLI_OK;
    }
}

/* What options say together. */
static int settle(struct command *command)
{
    struct beffio_request *request = &command->request;
    static const char *const quick[][2] = {{"time", "10"}, {"memory-node", "256m"}};
    if (request->resume && command->output && strcmp(request->resume, command->output) != 0)
        return cli_usage_error(&cli_verb_beffio, "--resume appends to the file that it resumes; leave out --output");
    if (request->resume && command->quick)
        return cli_usage_error(&cli_verb_beffio, "--quick and --resume: the run to resume says its time");
    if (request->assume_bytes_per_s > 0 && !command->dry_run)
        return cli_usage_error(&cli_verb_beffio, "--assume belongs to --dry-run");
    request->job.output = request->resume ? request->resume : command->output ? command->output : "beffio.out";
    for (int i = 0; i < 2 && command->quick; i++)
        for (int s = 0; s < BEFFIO_SETTINGS; s++)
            if (strcmp(beffio_setting_name(s), quick[i][0]) == 0 && !request->job.config.given[s] &&
                take_setting(command, quick[i][0], quick[i][1]) != CLI_OK)
                return CLI_USAGE;
    return CLI_OK;
}

static void tell_resume(const struct command *command)
{
    const int ranks = command->ranks ? command->ranks : launcher_size();
    struct text go_on = {0};
    text_add(&go_on, "piolet beffio ");
    if (ranks > 0)
        text_format(&go_on, "-n %d ", ranks);
    text_add(&go_on, "--resume ");
    text_add_word(&go_on, command->request.job.output);
    interrupt_results(command->request.job.output, text_get(&go_on));
    text_clear(&go_on);
}

static int run_command(struct command *command, int argc, char **argv)
{
    struct beffio_request *request = &command->request;
    const char *argument;
    int option;
    while ((option = cli_next(&cli_verb_beffio, argc, argv, &argument)) != CLI_END)
        if (option == CLI_BAD || take_option(command, option, argument) != CLI_OK)
            return CLI_USAGE;
    if (optind < argc)
        return cli_usage_error(&cli_verb_beffio, "'%s': there are options alone", argv[optind]);
    if (settle(command) != CLI_OK)
        return CLI_USAGE;
    if (command->dry_run)
        return beffio_shell_plan(request, command->ranks ? command->ranks : 1);
    tell_resume(command);
    if (command->ranks && !cli_launch_is_child())
        return beffio_shell_check(request, command->ranks) == CLI_OK
                   ? cli_launch(&cli_verb_beffio, command->ranks, argc, argv)
                   : CLI_USAGE;
    return beffio_shell_run_coll(request, argc, argv);
}

static int beffio_run(int argc, char **argv)
{
    struct command command = {.request = {.verb = &cli_verb_beffio, .progress = "auto"}};
    beffio_config_init(&command.request.job.config);
    const int status = run_command(&command, argc, argv);
    beffio_job_clear(&command.request.job);
    return status;
}

const struct cli_verb cli_verb_beffio = {
    .name = "beffio",
    .summary = "b_eff_io: effective I/O bandwidth",
    .synopsis = "[OPTION]...",
    .details = "'mpiexec -n 4 piolet beffio' and 'piolet beffio -n 4' do the same.",
    .options =
        (const struct cli_option[]){
            {OPT_RANKS, "ranks", 'n', "N", "start mpiexec (srun under SLURM) with N ranks"},
            {OPT_TIME, "time", 'T', "TIME", "of one partition: 30, 20s, 15m, 1h; default 15m,\nless is not official"},
            {OPT_PARTITIONS, "partitions", 'N', "LIST", "processes of each partition, as 2,4,8;\ndefault: all ranks"},
            {OPT_PER_NODE, "per-node", 0, "N", "processes that a partition takes of each node"},
            {OPT_MEMORY_NODE, "memory-node", 0, "SIZE", "memory of a node, for M_PART; default: as found"},
            {OPT_PATH, "path", 'p', "DIR", "folder of the files; may be repeated; default ."},
            {OPT_HINTS, "hints", 0, "FILE", "hints for all files, a type or a pattern"},
            {OPT_ORDER, "order", 0, "ORDER", "document, or 2.0: all partitions write, then\nrewrite type 0, then read"},
            {OPT_RANDOM, "random", 0, NULL, "also a random-access type, outside the average"},
            {OPT_COLD, "cold", 0, NULL, "drop the files from the page cache before they\nare rewritten and read"},
            {OPT_KEEP, "keep", 0, NULL, "leave the files behind"},
            {OPT_SEED, "seed", 0, "N", "of the data; default: drawn, and reported"},
            {OPT_QUICK, "quick", 0, NULL, "10 s and M_PART of 2 MB: to see that it works"},
            {OPT_RESUME, "resume", 0, "FILE", "go on with the last run in FILE, which was killed"},
            {OPT_DRY_RUN, "dry-run", 0, NULL, "print the schedule; run nothing"},
            {OPT_ASSUME, "assume", 0, "RATE", "dry run: file sizes at RATE bytes a second (500m)"},
            {OPT_OUTPUT, "output", 'o', "FILE", "append the results to FILE; default beffio.out"},
            {OPT_JSON, "json", 0, "FILE", "export what was measured as JSON"},
            {OPT_CSV, "csv", 0, "FILE", "export what was measured as CSV"},
            {OPT_PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
            {0}},
    .run = beffio_run,
};
