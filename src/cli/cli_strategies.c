/* piolet strategies: the ways of collective access that our MPI-IO knows, from its own table. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/cli_target.h"
#include "cli/cli_wrap.h"

#include <getopt.h>
#include <piolet/mpiio.h>
#include <stdio.h>
#include <string.h>

extern const struct cli_verb cli_verb_strategies;

typedef int strategy_at(int index, struct piolet_strategy *ret);

static void print_table(strategy_at *at)
{
    enum { NAME = 20 };
    struct piolet_strategy strategy;
    for (int i = 0; at(i, &strategy) == 0; i++)
        cli_wrap(strategy.summary, cli_wrap_cell(strategy.name, 0, NAME), NAME);
}

static void print_json(strategy_at *at)
{
    struct json json = {.stream = stdout};
    struct piolet_strategy strategy;
    json_array_begin(&json, NULL);
    for (int i = 0; at(i, &strategy) == 0; i++) {
        json_row_begin(&json, NULL);
        json_put_string(&json, "name", strategy.name);
        json_put_string(&json, "summary", strategy.summary);
        json_object_end(&json);
    }
    json_array_end(&json);
    putchar('\n');
}

static int strategies_run(int argc, char **argv)
{
    const char *argument;
    bool json = false;
    int option;
    while ((option = cli_next(&cli_verb_strategies, argc, argv, &argument)) > CLI_END)
        json = true;
    if (option == CLI_BAD)
        return CLI_USAGE;
    if (optind < argc)
        return cli_usage_error(&cli_verb_strategies, "takes no arguments, but '%s' is given", argv[optind]);
    void *symbol = cli_target_engine_symbol(&cli_verb_strategies, "piolet_strategy_at");
    strategy_at *at;
    if (!symbol)
        return CLI_FAILED;
    memcpy(&at, &symbol, sizeof at); /* ISO C has no cast from an object to a function pointer */
    if (json)
        print_json(at);
    else
        print_table(at);
    return CLI_OK;
}

const struct cli_verb cli_verb_strategies = {
    .name = "strategies",
    .summary = "list the strategies of collective access of our MPI-IO",
    .synopsis = "[--json]",
    .details = "The hint piolet_strategy chooses one for a file.",
    .options = (const struct cli_option[]){{1, "json", 0, NULL, "as a JSON array"}, {0}},
    .run = strategies_run,
};
