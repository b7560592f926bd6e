#include "cli/cli_listing.h"

#include "cli/cli_target.h"

#include <stdio.h>
#include <string.h>

struct listing_values {
    bool json;
};

const struct option_row CLI_LISTING_ROWS[] = {
    {.name = "json", .type = OPTION_FLAG, OPTION_AT(struct listing_values, json), .help = "as a JSON array"}, {0}};

int cli_listing_run(const struct cli_verb *verb, const struct cli_listing *listing, int argc, char **argv)
{
    struct listing_values values = {0};
    struct options options;
    int status = cli_options(verb, argc, argv, &values, &options);
    if (status == CLI_OK && options.operand_count)
        status = cli_usage_error(verb, "takes no arguments, but '%s' is given", options.operands[0]);
    options_clear(&options);
    if (status != CLI_OK)
        return status;
    void *symbol = cli_target_engine_symbol(verb, listing->symbol);
    if (!symbol)
        return CLI_FAILED;
    cli_listing_function *at;
    memcpy(&at, &symbol, sizeof at); /* ISO C has no cast from an object to a function pointer */
    if (!values.json) {
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
