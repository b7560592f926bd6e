/* The command line of the test suite. */
#include "cli/cli_launch.h"
#include "cli/suite_shell.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { OPT_RANKS = 1, OPT_OUTPUT, OPT_SET, OPT_DRY_RUN, OPT_JSON, OPT_CSV, OPT_PROGRESS, OPT_KEYWORDS, OPT_OVERWRITE };

const struct cli_option SUITE_OPTIONS[] = {
    {OPT_RANKS, "ranks", 'n', "N", "start mpiexec (srun under SLURM) with N ranks"},
    {OPT_OUTPUT, "output", 'o', "FILE", "append the results to FILE, not to the\nfile's timingsfilename (all.out)"},
    {OPT_SET, "set", 's', "KEY=VALUE", "give a keyword this value in every block\nwhose test knows it"},
    {OPT_DRY_RUN, "dry-run", 0, NULL, "print the plan, the bytes and the memory;\nrun nothing"},
    {OPT_JSON, "json", 0, "FILE", "export what was measured as JSON"},
    {OPT_CSV, "csv", 0, "FILE", "export what was measured as CSV"},
    {OPT_OVERWRITE, "overwrite", 0, NULL, "take test files that are there and that piolet\ndid not leave as they are"},
    {OPT_PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
    {OPT_KEYWORDS, "keywords", 0, "TEST", "the keywords of a test; 'all' lists the tests"},
    {0},
};

static int add_override(struct suite_request *request, const char *key, const char *value)
{
    if (request->override_count == SUITE_OVERRIDES_MAX)
        return cli_usage_error(request->verb, "--set: more than %d", SUITE_OVERRIDES_MAX);
    request->overrides[request->override_count++] = (struct spec_override){key, value};
    return CLI_OK;
}

static int take_override(struct suite_request *request, const char *argument)
{
    const char *equals = strchr(argument, '=');
    if (!equals || equals == argument || equals - argument >= SUITE_KEY_MAX)
        return cli_usage_error(request->verb, "--set: '%s' is not KEY=VALUE", argument);
    char *key = request->override_keys[request->override_count % SUITE_OVERRIDES_MAX];
    snprintf(key, SUITE_KEY_MAX, "%.*s", (int)(equals - argument), argument);
    return add_override(request, key, equals + 1);
}

int suite_shell_main(const struct cli_verb *verb, const char *class_name, int argc, char **argv)
{
    struct suite_request request = {.verb = verb, .class_name = class_name, .path = "iotparams.in", .progress = "auto"};
    int ranks = 0, option;
    bool dry_run = false;
    const char *argument;
    struct pl_error error;
    while ((option = cli_next(verb, argc, argv, &argument)) != CLI_END) {
        if (option == CLI_BAD)
            return CLI_USAGE;
        if (option == OPT_RANKS && (ranks = cli_launch_ranks(verb, argument)) == 0)
            return CLI_USAGE;
        if (option == OPT_SET && take_override(&request, argument) != CLI_OK)
            return CLI_USAGE;
        if (option == OPT_KEYWORDS)
            return suite_shell_keywords(&request, strcmp(argument, "all") == 0 ? NULL : argument);
        if (option == OPT_PROGRESS && suite_check_progress(argument, &error) != PL_OK)
            return cli_usage_error(verb, "%s", error.text);
        if (option == OPT_OUTPUT && add_override(&request, "timingsfilename", argument) != CLI_OK)
            return CLI_USAGE;
        request.json = option == OPT_JSON ? argument : request.json;
        request.csv = option == OPT_CSV ? argument : request.csv;
        request.progress = option == OPT_PROGRESS ? argument : request.progress;
        request.overwrite = request.overwrite || option == OPT_OVERWRITE;
        dry_run = dry_run || option == OPT_DRY_RUN;
    }
    if (optind < argc)
        request.path = argv[optind++];
    if (optind < argc)
        return cli_usage_error(verb, "'%s': one keyword file at a time", argv[optind]);
    if (dry_run)
        return suite_shell_dry_run(&request, ranks ? ranks : 1);
    if (ranks && !cli_launch_is_child())
        return suite_shell_check(&request, ranks) == CLI_OK ? cli_launch(verb, ranks, argc, argv) : CLI_USAGE;
    return suite_shell_run_coll(&request, argc, argv);
}
