/* piolet strategies: the ways of collective access that our MPI-IO knows, from its own table. */
#include "cli/cli_listing.h"
#include "cli/cli_wrap.h"

#include <piolet/mpiio.h>

extern const struct cli_verb cli_verb_strategies;

typedef int strategy_at(int index, struct piolet_strategy *ret);

static void print_table(cli_listing_function *function)
{
    enum { NAME = 20 };
    strategy_at *at = (strategy_at *)function;
    struct piolet_strategy strategy;
    for (int i = 0; at(i, &strategy) == 0; i++)
        cli_wrap(strategy.summary, cli_wrap_cell(strategy.name, 0, NAME), NAME);
}

static void print_json(cli_listing_function *function, struct json *json)
{
    strategy_at *at = (strategy_at *)function;
    struct piolet_strategy strategy;
    for (int i = 0; at(i, &strategy) == 0; i++) {
        json_row_begin(json, NULL);
        json_put_string(json, "name", strategy.name);
        json_put_string(json, "summary", strategy.summary);
        json_object_end(json);
    }
}

static int strategies_run(int argc, char **argv)
{
    static const struct cli_listing listing = {"piolet_strategy_at", print_table, print_json};
    return cli_listing_run(&cli_verb_strategies, &listing, argc, argv);
}

const struct cli_verb cli_verb_strategies = {
    .name = "strategies",
    .summary = "list the strategies of collective access of our MPI-IO",
    .synopsis = "[--json]",
    .details = "The hint piolet_strategy chooses one for a file.",
    .options = CLI_LISTING_OPTIONS,
    .run = strategies_run,
};
