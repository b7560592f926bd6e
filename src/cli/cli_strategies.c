/* piolet strategies: the ways of collective access that our MPI-IO knows, from its own table. */
#include "base/text.h"
#include "cli/cli_listing.h"

#include <piolet/mpiio.h>
#include <stdio.h>

extern const struct cli_verb cli_verb_strategies;

typedef int strategy_at(int index, struct piolet_strategy *ret);

enum { NAME = 20, PARAMETER = 13 };

static void print_parameter(const char *name, const char *words)
{
    if (!*words)
        return;
    printf("%*s", NAME, "");
    text_print_wrapped(stdout, words, text_print_cell(stdout, name, NAME, PARAMETER), NAME + PARAMETER);
}

static void print_table(cli_listing_function *function)
{
    strategy_at *at = (strategy_at *)function;
    struct piolet_strategy strategy;
    for (int i = 0; at(i, &strategy) == 0; i++) {
        text_print_wrapped(stdout, strategy.summary, text_print_cell(stdout, strategy.name, 0, NAME), NAME);
        print_parameter("order", strategy.order);
        print_parameter("target", strategy.target);
        print_parameter("aggregators", strategy.agents);
        print_parameter("exchange", strategy.exchange);
    }
}

static void print_json(cli_listing_function *function, struct json *json)
{
    strategy_at *at = (strategy_at *)function;
    struct piolet_strategy strategy;
    for (int i = 0; at(i, &strategy) == 0; i++) {
        json_row_begin(json, NULL);
        json_put_string(json, "name", strategy.name);
        json_put_string(json, "summary", strategy.summary);
        json_put_string(json, "order", strategy.order);
        json_put_string(json, "target", strategy.target);
        json_put_string(json, "agents", strategy.agents);
        json_put_string(json, "exchange", strategy.exchange);
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
    .details = "The hint piolet_strategy chooses one for a file. Below each stand its\n"
               "parameters: in which order ranks access the file; or how it is spread over\n"
               "agents that access it for all, who they are, and how data come to them.",
    .rows = CLI_LISTING_ROWS,
    .run = strategies_run,
};
