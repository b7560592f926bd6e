#include "cli/cli_listing.h"

#include "cli/cli_target.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

const struct cli_option CLI_LISTING_OPTIONS[] = {{1, "json", 0, NULL, "as a JSON array"}, {0}};

int cli_listing_run(const struct cli_verb *verb, const struct cli_listing *listing, int argc, char **argv)
{
    const char *argument;
    bool as_json = false;
    int option;
    while ((option = cli_next(verb, argc, argv, &argument)) > CLI_END)
        as_json = true;
    if (option == CLI_BAD)
        return CLI_USAGE;
    if (optind < argc)
        return cli_usage_error(verb, "takes no arguments, but '%s' is given", argv[optind]);
    void *symbol = cli_target_engine_symbol(verb, listing->symbol);
    if (!symbol)
        return CLI_FAILED;
    cli_listing_function *at;
    memcpy(&at, &symbol, sizeof at); /* ISO C has no cast from an object to a function pointer */
    if (!as_json) {
        listing->print_table(at);
        return CLI_OK;
    }
    struct json json = {.stream = stdout};
    json_array_begin(&json, NULL);
    listing->print_json(at, &json);
    json_array_end(&json);
    putchar('\n');
    return CLI_OK;
}
