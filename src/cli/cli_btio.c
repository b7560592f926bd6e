/* piolet btio: the I/O of NAS BT-IO. */
#include "base/units.h"
#include "bench/apps/btio.h"
#include "cli/apps_shell.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_CLASS = 1, OPT_SUBTYPE, OPT_DUMPS, OPT_NO_READ, OPT_COMPUTE };

static const struct cli_option BTIO_OPTIONS[] = {
    {OPT_CLASS, "class", 'c', "CLASS", "S, W, A, B, C or D: the size of the grid (W)"},
    {OPT_SUBTYPE, "subtype", 't', "SUBTYPE", "full, simple or epio (full)"},
    {OPT_DUMPS, "dumps", 'd', "N", "only the first N dumps"},
    {OPT_NO_READ, "no-read", 0, NULL, "do not read the dumps back"},
    {OPT_COMPUTE, "compute", 0, "MS", "compute for MS milliseconds before each dump (0)"},
    APPS_SHELL_OPTIONS,
};

static int take_class(const struct apps_shell *shell, const char *text, struct btio_options *options)
{
    for (const struct btio_class *class = BTIO_CLASSES; class->name; class ++)
        if (strcmp(class->name, text) == 0) {
            options->class = class;
            return CLI_OK;
        }
    return cli_usage_error(shell->verb, "--class: '%s'; allowed: S, W, A, B, C, D", text);
}

static int take_subtype(const struct apps_shell *shell, const char *text, struct btio_options *options)
{
    static const char *const words[] = {"full", "simple", "epio", NULL}; /* in the order of enum btio_subtype */
    int index = 0;
    const int status = apps_shell_choice(shell, "subtype", text, words, &index);
    options->subtype = (enum btio_subtype)index;
    return status;
}

static int take(const struct apps_shell *shell, int option, const char *argument, struct btio_options *options)
{
    enum { DUMPS_MAX = 1000000, COMPUTE_MAX = 3600000 };
    switch (option) {
    case OPT_CLASS:
        return take_class(shell, argument, options);
    case OPT_SUBTYPE:
        return take_subtype(shell, argument, options);
    case OPT_DUMPS:
        return apps_shell_number(shell, "dumps", argument, 1, DUMPS_MAX, &options->dumps);
    case OPT_COMPUTE:
        return apps_shell_number(shell, "compute", argument, 0, COMPUTE_MAX, &options->compute_ms);
    case OPT_NO_READ:
        options->reads = false;
        break;
    default:
        break;
    }
    return CLI_OK;
}

static pl_status make(const void *options, int ranks, struct apps_kernel *ret_kernel, struct pl_error *error)
{
    struct btio_plan *plan = malloc(sizeof *plan);
    if (!plan)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    if (btio_plan_make(options, ranks, plan, error) != PL_OK) {
        free(plan);
        return error->status;
    }
    *ret_kernel = btio_kernel(plan);
    return PL_OK;
}

static void clear(struct apps_kernel *kernel)
{
    struct btio_plan *plan = (struct btio_plan *)kernel->plan;
    btio_plan_clear(plan);
    free(plan);
}

static void print_rank(const struct btio_plan *plan, int rank)
{
    struct btio_walk walk;
    struct btio_request first, next;
    btio_walk_begin(&walk, plan, rank, 0);
    btio_walk_next(&walk, &first);
    btio_walk_begin(&walk, plan, rank, 1);
    btio_walk_next(&walk, &next);
    printf("  %4d %12lld %14lld %14lld %14lld %14lld\n", rank, (long long)btio_plan_requests(plan, rank),
           (long long)btio_plan_points(plan, rank) * BTIO_POINT_BYTES, (long long)first.bytes, (long long)first.offset,
           (long long)(next.offset - first.offset));
}

static void print_plan(const struct apps_kernel *kernel, int ranks)
{
    static const char *const units[] = {"etypes of 40 bytes", "doubles", "bytes of the own file"};
    const struct btio_plan *plan = kernel->plan;
    const struct btio_options *options = &plan->options;
    printf("BT-IO class %s, %s, on %d rank%s: %lld dumps of a grid of %lld^3 points,\n"
           "%lld cell%s of up to %lld^3 points for each rank; offsets in %s.\n\n",
           options->class->name, BTIO_SUBTYPE_NAMES[options->subtype], ranks, ranks == 1 ? "" : "s",
           (long long)options->dumps, (long long)options->class->size, (long long)plan->cells,
           plan->cells == 1 ? "" : "s", (long long)plan->cell_max, units[options->subtype]);
    printf("  %4s %12s %14s %14s %14s %14s\n", "", "in each dump:", "", "first request:", "", "from dump");
    printf("  %4s %12s %14s %14s %14s %14s\n", "rank", "requests", "bytes", "bytes", "offset", "to dump");
    for (int rank = 0; rank < ranks && rank < APPS_SHELL_RANKS_SHOWN; rank++)
        print_rank(plan, rank);
    if (ranks > APPS_SHELL_RANKS_SHOWN)
        printf("  … and %d more\n", ranks - APPS_SHELL_RANKS_SHOWN);
}

extern const struct cli_verb cli_verb_btio;

static int run_btio(int argc, char **argv)
{
    static struct apps_shell shell; /* large */
    struct btio_options options = {.class = &BTIO_CLASSES[1], .reads = true};
    const struct apps_shell_app app = {&options, make, clear, print_plan};
    const char *argument;
    int option;
    apps_shell_init(&shell, &cli_verb_btio);
    while ((option = cli_next(&cli_verb_btio, argc, argv, &argument)) != CLI_END)
        if (option == CLI_BAD || apps_shell_take(&shell, option, argument) != CLI_OK ||
            take(&shell, option, argument, &options) != CLI_OK)
            return CLI_USAGE;
    return apps_shell_main(&shell, &app, argc, argv);
}

const struct cli_verb cli_verb_btio = {
    .name = "btio",
    .summary = "the I/O of NAS BT-IO: dumps of a multi-partitioned grid",
    .synopsis = "--file=FILE [OPTION]...",
    .details = "The number of ranks is a square. Everything read back is compared with what\n"
               "was written. 'piolet btio -n 4 …' starts mpiexec itself.",
    .options = BTIO_OPTIONS,
    .run = run_btio,
};
