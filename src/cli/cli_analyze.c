/* piolet analyze TOOL FILE...: tables, plots and exports of block files. No MPI. */
#include "cli/cli.h"
#include "cli/cli_outputs.h"

#include "base/output.h"
#include "base/units.h"
#include "bench/beff/beff_analyze.h"
#include "bench/beffio/beffio_report.h"
#include "bench/gpfs/gpfs_analysis.h"
#include "bench/peak/peak_analysis.h"
#include "bench/piobench/piobench_analysis.h"
#include "measure/analysis_tools.h"
#include "measure/export.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_verb cli_verb_analyze;

enum {
    OPT_BLOCK = 1,
    OPT_TEST,
    OPT_SET,
    OPT_OP,
    OPT_RANK,
    OPT_FROM,
    OPT_TO,
    OPT_SKIP,
    OPT_TIMES,
    OPT_OUTPUT,
    OPT_JSON,
    OPT_CSV,
    OPT_FORMAT
};

typedef pl_status analyze_tool(const struct analysis_request *request, const struct analysis_input *input,
                               struct pl_error *error);

/* Text, JSON and CSV need a stream each; the names come from the options. */
struct command {
    const char *tool_name;
    analyze_tool *tool; /* NULL: export */
    struct analysis_request request;
    const char *output, *json, *csv, *format;
    unsigned selections; /* options given that select a part of the files: bits 1 << OPT_… */
};

/* Options that select a part of the files. */
static const struct {
    int id;
    const char *name;
} SELECTIONS[] = {{OPT_BLOCK, "--block"}, {OPT_TEST, "--test"}, {OPT_SET, "--set"},
                  {OPT_OP, "--op"},       {OPT_RANK, "--rank"}, {OPT_FROM, "--from"},
                  {OPT_TO, "--to"},       {OPT_SKIP, "--skip"}, {OPT_TIMES, "--times"}};
enum { SELECTION_COUNT = sizeof SELECTIONS / sizeof SELECTIONS[0] };

#define BIT(option) (1U << OPT_##option)
enum {
    OF_BLOCKS = BIT(BLOCK) | BIT(TEST) | BIT(SET),
    OF_SERIES = OF_BLOCKS | BIT(OP) | BIT(RANK) | BIT(FROM) | BIT(TO) | BIT(SKIP)
};

static const struct {
    const char *name;
    analyze_tool *run;
    unsigned selections; /* that it takes */
} TOOLS[] = {{"rawdata", analysis_rawdata, OF_SERIES},
             {"distribution", analysis_distribution, OF_SERIES},
             {"allav", analysis_allav, OF_SERIES},
             {"kernel", analysis_kernel, OF_SERIES | BIT(TIMES)},
             {"beff", beff_analyze, BIT(BLOCK) | BIT(TIMES)},
             {"beffio", beffio_analyze, BIT(BLOCK)},
             {"piobench", piobench_analysis, OF_BLOCKS | BIT(OP)},
             {"gpfs", gpfs_analysis, OF_BLOCKS | BIT(OP)},
             {"peak", peak_analysis, OF_BLOCKS | BIT(OP)},
             {"export", NULL, 0}};

enum { TOOL_COUNT = sizeof TOOLS / sizeof TOOLS[0] };

/* ---- the command line ---- */

static int bad_value(const char *option, const char *value, const char *allowed)
{
    return cli_usage_error(&cli_verb_analyze, "--%s '%s': %s", option, value, allowed);
}

static int take_number(const char *option, const char *value, int64_t min, int64_t *ret_number)
{
    if (units_parse_int(value, min, INT64_MAX - 1, ret_number))
        return CLI_OK;
    return bad_value(option, value, min ? "must be a whole number from 1 on" : "must be a whole number from 0 on");
}

static int take_skip(const char *value, struct analysis_request *request)
{
    request->skip_auto = strcmp(value, "auto") == 0;
    request->skip = 0;
    if (request->skip_auto || units_parse_int(value, 0, INT64_MAX / 4, &request->skip))
        return CLI_OK;
    return bad_value("skip", value, "must be a whole number from 0 on, or auto");
}

static int take_option(int id, const char *value, struct command *command)
{
    struct analysis_request *request = &command->request;
    for (size_t i = 0; i < SELECTION_COUNT; i++)
        command->selections |= SELECTIONS[i].id == id ? 1U << id : 0;
    switch (id) {
    case OPT_BLOCK:
        return take_number("block", value, 1, &request->block);
    case OPT_TEST:
        request->test = value;
        return CLI_OK;
    case OPT_SET:
        return take_number("set", value, 1, &request->set);
    case OPT_OP:
        request->op = value;
        return CLI_OK;
    case OPT_RANK:
        if (analysis_ranks_parse(value, &request->ranks))
            return CLI_OK;
        return bad_value("rank", value, "must be a list of ranks such as 0,2-5");
    case OPT_FROM:
        return take_number("from", value, 0, &request->from);
    case OPT_TO:
        return take_number("to", value, 0, &request->to);
    case OPT_SKIP:
        return take_skip(value, request);
    case OPT_TIMES:
        request->times = true;
        return CLI_OK;
    case OPT_OUTPUT:
        command->output = value;
        return CLI_OK;
    case OPT_JSON:
        command->json = value;
        return CLI_OK;
    case OPT_CSV:
        command->csv = value;
        return CLI_OK;
    case OPT_FORMAT:
        command->format = value;
        return CLI_OK;
    default:
        return CLI_USAGE;
    }
}

static bool is_standard_output(const char *name)
{
    return name && strcmp(name, "-") == 0;
}

/* The first option given that the tool does not take, and those that do. */
static int check_selections(const struct command *command, unsigned taken)
{
    for (size_t i = 0; i < SELECTION_COUNT; i++) {
        char takers[200] = "";
        const unsigned bit = 1U << SELECTIONS[i].id;
        if (!(command->selections & bit & ~taken))
            continue;
        for (size_t t = 0; t < TOOL_COUNT; t++)
            if (TOOLS[t].selections & bit)
                snprintf(takers + strlen(takers), sizeof takers - strlen(takers), "%s%s", *takers ? ", " : "",
                         TOOLS[t].name);
        return cli_usage_error(&cli_verb_analyze, "%s belongs to %s, not to %s", SELECTIONS[i].name, takers,
                               command->tool_name);
    }
    return CLI_OK;
}

static int check_command(const struct command *command)
{
    if (command->request.from > command->request.to)
        return cli_usage_error(&cli_verb_analyze, "--from lies behind --to");
    if (is_standard_output(command->json) && is_standard_output(command->csv))
        return cli_usage_error(&cli_verb_analyze, "--json and --csv cannot both go to standard output");
    if (command->tool) {
        if (command->format)
            return cli_usage_error(&cli_verb_analyze, "--format belongs to export; %s has --json and --csv",
                                   command->tool_name);
        const size_t length = command->output ? strlen(command->output) : 0;
        if (command->output && (length < 5 || (strcmp(command->output + length - 4, ".svg") != 0 &&
                                               strcmp(command->output + length - 4, ".png") != 0)))
            return cli_usage_error(&cli_verb_analyze, "--output '%s': the name of a plot ends in .svg or .png",
                                   command->output);
        return CLI_OK;
    }
    if (!command->format || (strcmp(command->format, "json") != 0 && strcmp(command->format, "csv") != 0))
        return cli_usage_error(&cli_verb_analyze, "export needs --format json or --format csv");
    if (command->json || command->csv)
        return cli_usage_error(&cli_verb_analyze, "export writes to --output; --json and --csv are of the other tools");
    return CLI_OK;
}

/* "rawdata, …, kernel or export" */
static void list_tools(char *text, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < TOOL_COUNT && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%s",
                                 i == 0                ? ""
                                 : i == TOOL_COUNT - 1 ? " or "
                                                       : ", ",
                                 TOOLS[i].name);
}

static int parse_command(int argc, char **argv, struct command *command)
{
    const char *value;
    int id;
    while ((id = cli_next(&cli_verb_analyze, argc, argv, &value)) != CLI_END) {
        const int wrong = id == CLI_BAD ? CLI_USAGE : take_option(id, value, command);
        if (wrong)
            return wrong;
    }
    char names[200];
    list_tools(names, sizeof names);
    if (optind == argc)
        return cli_usage_error(&cli_verb_analyze, "a tool is missing: %s", names);
    command->tool_name = argv[optind++];
    for (size_t i = 0; i < TOOL_COUNT; i++)
        if (strcmp(command->tool_name, TOOLS[i].name) == 0) {
            command->tool = TOOLS[i].run;
            if (optind == argc)
                return cli_usage_error(&cli_verb_analyze, "a block file is missing");
            const int wrong = check_selections(command, TOOLS[i].selections);
            return wrong ? wrong : check_command(command);
        }
    return cli_usage_error(&cli_verb_analyze, "'%s' is not a tool: %s", command->tool_name, names);
}

/* ---- files ---- */

/* Opens what can be read; a file that cannot is complained about, and the others are still analysed. */
static struct analysis_input open_input(char **names, int count)
{
    struct analysis_input input = {.files = calloc((size_t)count + 1, sizeof *input.files)};
    for (int i = 0; input.files && i < count; i++) {
        struct pl_error error;
        struct blockfile *file = &input.files[input.file_count];
        if (blockfile_open(names[i], file, &error)) {
            cli_complain(&cli_verb_analyze, "%s", error.text);
            continue;
        }
        input.file_count++;
        for (size_t w = 0; w < file->warning_count; w++)
            cli_complain(&cli_verb_analyze, "warning: %s", file->warnings[w]);
    }
    return input;
}

static void close_input(struct analysis_input *input)
{
    for (size_t i = 0; i < input->file_count; i++)
        blockfile_close(&input->files[i]);
    free(input->files);
}

static FILE *open_output(const char *name)
{
    struct pl_error error;
    FILE *stream;
    if (output_open(name, &stream, &error) == PL_OK)
        return stream;
    cli_complain(&cli_verb_analyze, "%s", error.text);
    return NULL;
}

static int commit_outputs(void)
{
    struct pl_error error;
    if (output_finish(stdout, &error) == PL_OK && output_commit(&error) == PL_OK)
        return CLI_OK;
    cli_complain(&cli_verb_analyze, "%s", error.text);
    return CLI_FAILED;
}

static int check_outputs(const struct command *command, char **names, int count)
{
    const struct cli_outputs outputs = {.json = command->json, .csv = command->csv};
    struct pl_error error;
    for (int i = 0; i < count; i++)
        output_reads(names[i]);
    if (command->output && output_check(command->output, &error) != PL_OK)
        return cli_usage_error(&cli_verb_analyze, "--output: %s", error.text);
    if (cli_outputs_check(&outputs, &error) != PL_OK)
        return cli_usage_error(&cli_verb_analyze, "%s", error.text);
    return CLI_OK;
}

/* ---- running ---- */

static void complain_of_tool(const struct command *command, const struct analysis_input *input,
                             const struct pl_error *error)
{
    if (error->status == PL_E_INPUT && command->tool != analysis_kernel &&
        analysis_only_kernels(&command->request, input)) {
        cli_complain(&cli_verb_analyze,
                     "the selected sets are of kernels with one time for each rank and no series, for which "
                     "'piolet analyze kernel' is the tool");
        return;
    }
    cli_complain(&cli_verb_analyze, "%s", error->text);
    if (error->status == PL_E_INPUT)
        analysis_describe(input, stderr);
}

static int run_tool(struct command *command, const struct analysis_input *input)
{
    struct analysis_request *request = &command->request;
    struct pl_error error;
    request->plot = command->output;
    request->json = command->json ? open_output(command->json) : NULL;
    request->csv = command->csv ? open_output(command->csv) : NULL;
    if (!is_standard_output(command->json) && !is_standard_output(command->csv))
        request->text = stdout;
    if ((command->json && !request->json) || (command->csv && !request->csv))
        return CLI_FAILED; /* open_output() said why */
    if (command->tool(request, input, &error) == PL_OK)
        return commit_outputs();
    complain_of_tool(command, input, &error);
    return CLI_FAILED;
}

static int run_export(const struct command *command, const struct analysis_input *input)
{
    struct pl_error error;
    FILE *stream = open_output(command->output ? command->output : "-");
    if (!stream)
        return CLI_FAILED;
    const bool json = command->format && strcmp(command->format, "json") == 0;
    const pl_status status = json ? export_json(input->files, input->file_count, stream, &error)
                                  : export_csv(input->files, input->file_count, stream, &error);
    if (status == PL_OK)
        return commit_outputs();
    cli_complain(&cli_verb_analyze, "%s", error.text);
    return CLI_FAILED;
}

static int analyze_run(int argc, char **argv)
{
    struct command command = {.request = {.to = INT64_MAX - 1}};
    int wrong = parse_command(argc, argv, &command);
    if (!wrong)
        wrong = check_outputs(&command, argv + optind, argc - optind);
    if (wrong)
        return wrong;
    struct analysis_input input = open_input(argv + optind, argc - optind);
    int exit_status = CLI_FAILED;
    if (input.file_count)
        exit_status = command.tool ? run_tool(&command, &input) : run_export(&command, &input);
    close_input(&input);
    return exit_status;
}

const struct cli_verb cli_verb_analyze = {
    .name = "analyze",
    .summary = "tables, plots and exports of measured times",
    .synopsis = "TOOL [OPTION]... FILE...",
    .details = "Tools:\n"
               "  rawdata       times against the loop counter, averages of a region\n"
               "  distribution  distribution of the times of a region, for each process\n"
               "  allav         rate against file size and block size, with errors\n"
               "  kernel        rates of kernels by size, process grid, distribution and hints\n"
               "  beff          b_eff and its tables, from runs of 'piolet beff'\n"
               "  beffio        b_eff_io: table, values, verdict and the three diagrams\n"
               "  piobench      algorithms of collective I/O: rates, ratios, findings\n"
               "  gpfs          the MPI-IO/GPFS benchmarks: maximum, mean, deviation, ratios\n"
               "  peak          peaks of devices: rates, latencies, sum over I/O nodes\n"
               "  export        everything in the files as JSON or CSV\n"
               "FILE is a block file as written by the benchmarks; - is standard input.",
    .options =
        (const struct cli_option[]){{OPT_BLOCK, "block", 'b', "N", "only block N, counted from 1 over all files"},
                                    {OPT_TEST, "test", 't', "NAME", "only blocks of this test"},
                                    {OPT_SET, "set", 's', "N", "only parameter set N of each block"},
                                    {OPT_OP, "op", 0, "KEY", "only this operation: w, r, t, wI, write, gather, ..."},
                                    {OPT_RANK, "rank", 'r', "LIST", "only these ranks, e.g. 0,2-5"},
                                    {OPT_FROM, "from", 0, "J", "region: first loop counter, from 0"},
                                    {OPT_TO, "to", 0, "J", "region: last loop counter, inclusive"},
                                    {OPT_SKIP, "skip", 0, "N|auto",
                                     "leave out the first N operations of the region as\n"
                                     "start-up, or as many as the stated rule finds"},
                                    {OPT_TIMES, "times", 0, NULL,
                                     "kernel: all times, not those with a rate alone;\nbeff: every single measurement"},
                                    {OPT_OUTPUT, "output", 'o', "FILE",
                                     "plot: FILE.svg, or FILE.png where rsvg-convert is\n"
                                     "installed; export: where to write"},
                                    {OPT_JSON, "json", 0, "FILE", "summary as JSON (- is standard output)"},
                                    {OPT_CSV, "csv", 0, "FILE", "summary as CSV (- is standard output)"},
                                    {OPT_FORMAT, "format", 0, "json|csv", "of export"},
                                    {0}},
    .run = analyze_run,
};
