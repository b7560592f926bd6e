/* piolet madbench: the I/O of MADbench2. */
#include "base/units.h"
#include "bench/apps/madbench.h"
#include "cli/apps_shell.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    OPT_PIXELS = 1,
    OPT_BINS,
    OPT_GANGS,
    OPT_BLOCK,
    OPT_FILES,
    OPT_CALLS,
    OPT_IOMETHOD,
    OPT_RMOD,
    OPT_WMOD,
    OPT_WORK
};

static const struct cli_option MADBENCH_OPTIONS[] = {
    {OPT_PIXELS, "pixels", 'p', "N", "matrices of N x N doubles (640)"},
    {OPT_BINS, "bins", 'b', "N", "number of matrices (8)"},
    {OPT_GANGS, "gangs", 'g', "N", "gangs that share the bins in W and C (1)"},
    {OPT_BLOCK, "block", 0, "SIZE", "requests are rounded up to this (4k)"},
    {OPT_FILES, "files", 0, "KIND", "shared, or unique: one for each rank (shared)"},
    {OPT_CALLS, "calls", 0, "KIND", "independent or collective (independent)"},
    {OPT_IOMETHOD, "iomethod", 0, "METHOD", "mpi or posix (mpi)"},
    {OPT_RMOD, "rmod", 0, "K", "only one of K ranks reads at a time (1)"},
    {OPT_WMOD, "wmod", 0, "K", "only one of K ranks writes at a time (1)"},
    {OPT_WORK, "work", 0, "X", "busy-work: n^X operations for a request of\nn numbers (none)"},
    APPS_SHELL_OPTIONS,
};

static int take_block(const struct apps_shell *shell, const char *text, int64_t *ret_bytes)
{
    enum { BLOCK_MAX = 1 << 30 };
    if (units_parse_size(text, ret_bytes) && *ret_bytes >= 8 && *ret_bytes <= BLOCK_MAX)
        return CLI_OK;
    return cli_usage_error(shell->verb, "--block: '%s'; allowed: sizes from 8 to 1g, multiples of 8", text);
}

static int take_work(const struct apps_shell *shell, const char *text, double *ret_exponent)
{
    if (units_parse_number(text, ret_exponent) && *ret_exponent >= 0 && *ret_exponent <= 3)
        return CLI_OK;
    return cli_usage_error(shell->verb, "--work: '%s'; allowed: numbers from 0 (none) to 3", text);
}

static int take_kind(const struct apps_shell *shell, int option, const char *text, struct madbench_options *options)
{
    static const char *const files[] = {"shared", "unique", NULL}, *const calls[] = {"independent", "collective", NULL},
                             *const methods[] = {"mpi", "posix", NULL}; /* in the order of their enums */
    int index = 0;
    int status = CLI_OK;
    if (option == OPT_FILES) {
        status = apps_shell_choice(shell, "files", text, files, &index);
        options->files = (enum madbench_files)index;
    } else if (option == OPT_CALLS) {
        status = apps_shell_choice(shell, "calls", text, calls, &index);
        options->calls = (enum madbench_calls)index;
    } else {
        status = apps_shell_choice(shell, "iomethod", text, methods, &index);
        options->method = (enum madbench_method)index;
    }
    return status;
}

static int take(const struct apps_shell *shell, int option, const char *argument, struct madbench_options *options)
{
    enum { PIXELS_MAX = 1000000, BINS_MAX = 100000, MOD_MAX = 1000000 };
    switch (option) {
    case OPT_PIXELS:
        return apps_shell_number(shell, "pixels", argument, 1, PIXELS_MAX, &options->pixels);
    case OPT_BINS:
        return apps_shell_number(shell, "bins", argument, 1, BINS_MAX, &options->bins);
    case OPT_GANGS:
        return apps_shell_number(shell, "gangs", argument, 1, BINS_MAX, &options->gangs);
    case OPT_RMOD:
        return apps_shell_number(shell, "rmod", argument, 1, MOD_MAX, &options->rmod);
    case OPT_WMOD:
        return apps_shell_number(shell, "wmod", argument, 1, MOD_MAX, &options->wmod);
    case OPT_BLOCK:
        return take_block(shell, argument, &options->block_bytes);
    case OPT_WORK:
        return take_work(shell, argument, &options->work);
    case OPT_FILES:
    case OPT_CALLS:
    case OPT_IOMETHOD:
        return take_kind(shell, option, argument, options);
    default:
        return CLI_OK;
    }
}

static pl_status make(const void *options, int ranks, struct apps_kernel *ret_kernel, struct pl_error *error)
{
    struct madbench_plan *plan = malloc(sizeof *plan);
    if (!plan)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    if (madbench_plan_make(options, ranks, plan, error) != PL_OK) {
        free(plan);
        return error->status;
    }
    *ret_kernel = madbench_kernel(plan);
    return PL_OK;
}

static void clear(struct apps_kernel *kernel)
{
    free((void *)kernel->plan);
}

static void print_plan(const struct apps_kernel *kernel, int ranks)
{
    enum { SHOWN = 40 };
    static const char names[] = "SWC";
    const struct madbench_plan *plan = kernel->plan;
    const int64_t count = madbench_plan_requests(plan);
    printf("MADbench2 I/O mode on %d rank%s: %lld matrices of %lld x %lld doubles,\n"
           "%lld gang%s; a rank's region has %lld bytes.\n\nRequests of rank 0:\n",
           ranks, ranks == 1 ? "" : "s", (long long)plan->options.bins, (long long)plan->options.pixels,
           (long long)plan->options.pixels, (long long)plan->options.gangs, plan->options.gangs == 1 ? "" : "s",
           (long long)madbench_plan_region_bytes(plan));
    printf("  %-8s %-6s %16s %16s\n", "function", "kind", "offset", "bytes");
    for (int64_t i = 0; i < count && i < SHOWN; i++) {
        const struct madbench_request request = madbench_plan_request(plan, 0, i);
        printf("  %-8c %-6s %16lld %16lld\n", names[request.function], request.writes ? "write" : "read",
               (long long)request.offset, (long long)request.bytes);
    }
    if (count > SHOWN)
        printf("  … and %lld more\n", (long long)(count - SHOWN));
}

extern const struct cli_verb cli_verb_madbench;

static int run_madbench(int argc, char **argv)
{
    static struct apps_shell shell; /* large */
    struct madbench_options options = {.pixels = 640, .bins = 8, .gangs = 1, .block_bytes = 4096, .rmod = 1, .wmod = 1};
    const struct apps_shell_app app = {&options, make, clear, print_plan};
    const char *argument;
    int option;
    apps_shell_init(&shell, &cli_verb_madbench);
    while ((option = cli_next(&cli_verb_madbench, argc, argv, &argument)) != CLI_END)
        if (option == CLI_BAD || apps_shell_take(&shell, option, argument) != CLI_OK ||
            take(&shell, option, argument, &options) != CLI_OK)
            return CLI_USAGE;
    return apps_shell_main(&shell, &app, argc, argv);
}

const struct cli_verb cli_verb_madbench = {
    .name = "madbench",
    .summary = "the I/O of MADbench2: matrices written, read, written and read",
    .synopsis = "--file=FILE [OPTION]...",
    .details = "The number of ranks, and that of each gang, is a square. Everything read is\n"
               "compared with what was written. 'piolet madbench -n 4 …' starts mpiexec itself.",
    .options = MADBENCH_OPTIONS,
    .run = run_madbench,
};
