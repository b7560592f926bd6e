/* piolet analyze [TOOL] FILE...: tables, plots and exports of block files. No MPI. Tools are the benchmarks, which know
 * their own results, those for any series of times, and two for everything: export and quantities. */
#include "cli/cli.h"
#include "cli/cli_outputs.h"

#include "base/memory.h"
#include "base/output.h"
#include "base/units.h"
#include "bench/bench.h"
#include "lab/show/analysis_tools.h"
#include "lab/show/export.h"
#include "lab/show/show.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_analyze;

/* ---- options ---- */

enum analyze_format { ANALYZE_NO_FORMAT = -1, ANALYZE_JSON, ANALYZE_CSV };

struct analyze_values {
    struct analysis_request request;
    const char *output, *json, *csv;
    int format; /* enum analyze_format */
};

static pl_status analyze_set_ranks(void *target, const struct option_row *row, const char *value,
                                   struct pl_error *error)
{
    struct analyze_values *values = target;
    (void)row;
    return analysis_ranks_parse(value, &values->request.ranks)
               ? PL_OK
               : pl_fail(error, PL_E_USAGE, "'%s'; must be a list of ranks such as 0,2-5", value);
}

static pl_status analyze_set_skip(void *target, const struct option_row *row, const char *value, struct pl_error *error)
{
    struct analysis_request *request = &((struct analyze_values *)target)->request;
    (void)row;
    request->skip_auto = strcmp(value, "auto") == 0;
    request->skip = 0;
    return request->skip_auto || units_parse_int(value, 0, INT64_MAX / 4, &request->skip)
               ? PL_OK
               : pl_fail(error, PL_E_USAGE, "'%s'; must be a whole number from 0 on, or auto", value);
}

#define AT(member) OPTION_AT(struct analyze_values, member)
static const struct option_row ROWS[] = {
    {.name = "block",
     .letter = 'b',
     .type = OPTION_INT,
     .min = 1,
     AT(request.block),
     .help = "only block N, counted from 1 over all files"},
    {.name = "test",
     .letter = 't',
     .type = OPTION_TEXT,
     .argument = "NAME",
     AT(request.test),
     .help = "only blocks of this test"},
    {.name = "set",
     .letter = 's',
     .type = OPTION_INT,
     .min = 1,
     AT(request.set),
     .help = "only parameter set N of each block"},
    {.name = "op",
     .type = OPTION_TEXT,
     .argument = "KEY",
     AT(request.op),
     .more = "Also wtI, wwI, rI, rtI, rwI; of kernels also a single time: write, read, gather, ...",
     .help = "only this operation: w, r, t, wI, write, gather, ..."},
    {.name = "rank",
     .letter = 'r',
     .type = OPTION_CALL,
     .argument = "LIST",
     .set = analyze_set_ranks,
     .help = "only these ranks, e.g. 0,2-5"},
    {.name = "from",
     .type = OPTION_INT,
     .argument = "J",
     AT(request.from),
     .more =
         "The loop counter counts from 0, and both ends of the region belong to it. The plot of rawdata zooms to it.",
     .help = "region: first loop counter, from 0"},
    {.name = "to", .type = OPTION_INT, .argument = "J", AT(request.to), .help = "region: last loop counter, inclusive"},
    {.name = "skip",
     .type = OPTION_CALL,
     .argument = "N|auto",
     .set = analyze_set_skip,
     .more = "auto: the region is cut into 64 batches, and what comes before the first batch is left out from which on "
             "every batch mean stays inside the range of the batch means of the last half, that range widened by half "
             "of its width on both sides. The longest start-up of all ranks counts.",
     .help = "leave out the first N operations of the region as start-up, or as many as the stated rule finds"},
    {.name = "times",
     .type = OPTION_FLAG,
     AT(request.times),
     .more = "Of kernels: also a table of all single times of the slowest rank (open, preallocation, gather, scatter, "
             "internal, sync, close, ...), and of numbers that the run found.",
     .help = "kernels: all times, not those with a rate alone; beff: every single measurement"},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .argument = "FILE",
     AT(output),
     .more = "Without it an export goes to standard output.",
     .help = "plot: FILE.svg, or FILE.png where rsvg-convert is installed; export: where to write"},
    {.name = "json",
     .type = OPTION_TEXT,
     .argument = "FILE|-",
     AT(json),
     .more = "Then without the table.",
     .help = "summary as JSON (- is standard output)"},
    {.name = "csv",
     .type = OPTION_TEXT,
     .argument = "FILE|-",
     AT(csv),
     .more = "Then without the table.",
     .help = "summary as CSV (- is standard output)"},
    {.name = "format", .type = OPTION_CHOICE, .choices = "json csv", AT(format), .help = "of export"},
    {0}};
#undef AT

/* Rows that select a part of the files; a tool takes some of them. */
enum {
    SELECTIONS = 9, /* the first rows, in the order of enum analysis_selection */
    BLOCK = ANALYSIS_BY_BLOCK,
    TEST = ANALYSIS_BY_TEST,
    OP = ANALYSIS_BY_OP,
    RANK = ANALYSIS_BY_RANK,
    TIMES = ANALYSIS_BY_TIMES,
    OF_BLOCKS = ANALYSIS_BY_SETS,
    OF_SERIES = ANALYSIS_BY_SERIES
};

/* ---- tools ---- */

typedef pl_status analyze_function(const struct analysis_request *request, const struct analysis_input *input,
                                   struct pl_error *error);

/* One of `bench`, `build` and `run`; or none: export. */
struct analyze_tool {
    const char *name, *summary;
    unsigned selections; /* that it takes */
    const struct bench *bench;
    pl_status (*build)(const struct analysis_request *request, const struct analysis_input *input,
                       struct result *result, struct pl_error *error);
    analyze_function *run;
};

static pl_status analyze_quantities(const struct analysis_request *request, const struct analysis_input *input,
                                    struct result *result, struct pl_error *error);

/* Those that are neither a benchmark nor for series of any (ANALYSIS_TOOLS). */
static const struct analyze_tool TOOLS[] = {
    {"kernel", "rates of kernels by size, process grid, distribution and hints", OF_SERIES | TIMES,
     .run = analysis_kernel},
    {"quantities", "every number worth keeping, of all benchmarks", BLOCK | TEST, .build = analyze_quantities},
    {"export", "everything in the files as JSON or CSV", 0, .run = NULL},
};

enum { TOOL_COUNT = sizeof TOOLS / sizeof TOOLS[0], TOOLS_MAX = 64 };

/* Tool number i of all; false: there are no more. */
static bool analyze_tool_at(size_t i, struct analyze_tool *ret_tool)
{
    size_t benches = 0, series = 0;
    while (BENCHES[benches])
        benches++;
    while (ANALYSIS_TOOLS[series].name)
        series++;
    if (i < benches) {
        const struct bench *bench = BENCHES[i];
        *ret_tool = (struct analyze_tool){bench->name, bench->summary,
                                          (bench->takes & BENCH_WHOLE ? BLOCK : OF_BLOCKS | OP) |
                                              (bench->takes & BENCH_TIMES ? TIMES : 0),
                                          .bench = bench};
    } else if (i < benches + series) {
        const struct analysis_tool *tool = &ANALYSIS_TOOLS[i - benches];
        *ret_tool = (struct analyze_tool){tool->name, tool->summary, tool->selections, .build = tool->build};
    } else if (i < benches + series + TOOL_COUNT) {
        *ret_tool = TOOLS[i - benches - series];
    }
    return i < benches + series + TOOL_COUNT;
}

static bool analyze_find(const char *name, struct analyze_tool *ret_tool)
{
    for (size_t i = 0; analyze_tool_at(i, ret_tool); i++)
        if (strcmp(ret_tool->name, name) == 0)
            return true;
    return false;
}

static const char *const *analyze_names(void)
{
    static const char *names[TOOLS_MAX];
    struct analyze_tool tool;
    for (size_t i = 0; analyze_tool_at(i, &tool); i++) {
        assert(i < TOOLS_MAX - 1);
        names[i] = tool.name;
    }
    return names;
}

/* "Tools:" in --help. */
static void analyze_print_tools(FILE *stream)
{
    enum { COLUMN = 16 };
    struct analyze_tool tool;
    fputs("Tools:\n", stream);
    for (size_t i = 0; analyze_tool_at(i, &tool); i++) {
        fprintf(stream, "  %-13s ", tool.name);
        text_print_wrapped(stream, tool.summary, COLUMN, COLUMN);
    }
    fputs("FILE is a block file as written by the benchmarks; - is standard input. Without\n"
          "TOOL it is that of the benchmark that wrote the files.\n",
          stream);
}

/* ---- quantities ---- */

static const struct result_column QUANTITY_COLUMNS[] = {{.key = "block", .form = RESULT_INT},
                                                        {.key = "benchmark", .form = RESULT_TEXT},
                                                        {.key = "test", .form = RESULT_TEXT},
                                                        {.key = "what", .form = RESULT_TEXT},
                                                        {.key = "settings", .form = RESULT_TEXT},
                                                        {.key = "value", .form = RESULT_NUMBER, .decimals = -4},
                                                        {.key = "unit", .label = "", .form = RESULT_TEXT},
                                                        {.key = "low", .form = RESULT_NUMBER, .decimals = -4},
                                                        {.key = "high", .form = RESULT_NUMBER, .decimals = -4},
                                                        {.key = "repetitions", .label = "n", .form = RESULT_INT},
                                                        {.key = "made", .form = RESULT_TEXT, .hidden = true},
                                                        {0}};

static void analyze_put_quantities(const struct result *from, const struct blockfile_block *block, int64_t number,
                                   struct result *result)
{
    for (size_t i = 0; i < from->quantity_count; i++) {
        const struct quantity *quantity = &from->quantities[i];
        result_row(result);
        result_put_int(result, number);
        result_put_text(result, from->name);
        result_put_text(result, block->testname);
        result_put_text(result, quantity->what);
        result_put_text(result, quantity->settings);
        result_put_number(result, quantity->value);
        result_put_text(result, quantity->unit);
        result_put_number(result, quantity->low);
        result_put_number(result, quantity->high);
        result_put_int(result, quantity->repetitions);
        result_put_text(result, quantity->made);
    }
}

static pl_status analyze_quantities(const struct analysis_request *request, const struct analysis_input *input,
                                    struct result *result, struct pl_error *error)
{
    int64_t number = 0;
    size_t found = 0;
    result_begin_table(result, "all", NULL, QUANTITY_COLUMNS);
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count; b++) {
            const struct blockfile_block *block = &input->files[f].blocks[b];
            struct result *of_block;
            number++;
            if ((request->block && request->block != number) ||
                (request->test && strcmp(request->test, block->testname) != 0))
                continue;
            if (bench_results_of(&input->files[f], b, &of_block, error) != PL_OK)
                return error->status;
            analyze_put_quantities(of_block, block, number, result);
            found += of_block->quantity_count;
            result_free(of_block);
        }
    return found ? PL_OK : pl_fail(error, PL_E_INPUT, "no quantity is selected");
}

/* ---- the command line ---- */

struct analyze_command {
    struct analyze_values values; /* the first: the rows' offsets are in it */
    struct analyze_tool tool;
    const char *const *names; /* of the files */
    size_t name_count;
    bool guess; /* the tool follows from the files */
};

static bool analyze_is_standard(const char *name)
{
    return name && strcmp(name, "-") == 0;
}

/* The first option given that the tool does not take, and those that do. */
static int analyze_check_selections(const struct analyze_command *command, const struct options *options)
{
    for (int i = 0; i < SELECTIONS; i++) {
        struct text takers = {0};
        struct analyze_tool tool;
        if (!options_given(options, ROWS[i].name) || command->tool.selections >> i & 1)
            continue;
        for (size_t t = 0; analyze_tool_at(t, &tool); t++)
            if (tool.selections >> i & 1)
                text_format(&takers, "%s%s", takers.length ? ", " : "", tool.name);
        cli_usage_error(&cli_verb_analyze, "--%s belongs to %s, not to %s", ROWS[i].name, text_get(&takers),
                        command->tool.name);
        text_clear(&takers);
        return CLI_USAGE;
    }
    return CLI_OK;
}

static int analyze_check(const struct analyze_command *command, const struct options *options)
{
    const struct analyze_values *values = &command->values;
    const struct cli_verb *verb = &cli_verb_analyze;
    const bool exports = !command->guess && !command->tool.bench && !command->tool.build && !command->tool.run;
    if (!command->guess && analyze_check_selections(command, options) != CLI_OK)
        return CLI_USAGE;
    if (values->request.from > values->request.to)
        return cli_usage_error(verb, "--from lies behind --to");
    if (exports && values->format == ANALYZE_NO_FORMAT)
        return cli_usage_error(verb, "export needs --format json or --format csv");
    if (exports && (values->json || values->csv))
        return cli_usage_error(verb, "export writes to --output; --json and --csv are of the other tools");
    if (exports)
        return CLI_OK;
    if (values->format != ANALYZE_NO_FORMAT)
        return cli_usage_error(verb, "--format belongs to export; %s has --json and --csv",
                               command->guess ? "this" : command->tool.name);
    const size_t length = values->output ? strlen(values->output) : 0;
    if (values->output && (length < 5 || (strcmp(values->output + length - 4, ".svg") != 0 &&
                                          strcmp(values->output + length - 4, ".png") != 0)))
        return cli_usage_error(verb, "--output '%s': the name of a plot ends in .svg or .png", values->output);
    return CLI_OK;
}

static int analyze_take_operands(struct analyze_command *command, const struct options *options)
{
    const char *const *names = analyze_names();
    if (options->operand_count == 0) {
        struct text all = {0};
        for (size_t i = 0; names[i]; i++)
            text_format(&all, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
        cli_usage_error(&cli_verb_analyze, "a tool is missing: %s", text_get(&all));
        text_clear(&all);
        return CLI_USAGE;
    }
    const char *first = options->operands[0];
    const bool named = analyze_find(first, &command->tool);
    command->guess = !named && (analyze_is_standard(first) || access(first, F_OK) == 0);
    command->names = options->operands + named;
    command->name_count = options->operand_count - named;
    if (!named && !command->guess)
        return cli_unknown(&cli_verb_analyze, "a tool", first, names);
    if (command->name_count == 0)
        return cli_usage_error(&cli_verb_analyze, "a block file is missing");
    return CLI_OK;
}

/* ---- files ---- */

/* Opens what can be read; a file that cannot is complained about, and the others are still analysed. */
static struct analysis_input analyze_open(const struct analyze_command *command)
{
    struct analysis_input input = {.files = memory_new(command->name_count + 1, sizeof *input.files)};
    for (size_t i = 0; i < command->name_count; i++) {
        struct pl_error error;
        struct blockfile *file = &input.files[input.file_count];
        if (blockfile_open(command->names[i], file, &error) != PL_OK) {
            cli_complain(&cli_verb_analyze, "%s", error.text);
            continue;
        }
        input.file_count++;
        for (size_t w = 0; w < file->warning_count; w++)
            cli_complain(&cli_verb_analyze, "warning: %s", file->warnings[w]);
    }
    return input;
}

static void analyze_close(struct analysis_input *input)
{
    for (size_t i = 0; i < input->file_count; i++)
        blockfile_close(&input->files[i]);
    free(input->files);
}

static int analyze_complain(const struct pl_error *error)
{
    cli_complain(&cli_verb_analyze, "%s", error->text);
    return CLI_FAILED;
}

static int analyze_commit(void)
{
    struct pl_error error;
    return output_finish(stdout, &error) == PL_OK && output_commit(&error) == PL_OK ? CLI_OK : analyze_complain(&error);
}

static int analyze_check_outputs(const struct analyze_command *command)
{
    const struct analyze_values *values = &command->values;
    const struct cli_outputs outputs = {.json = values->json, .csv = values->csv};
    struct pl_error error;
    for (size_t i = 0; i < command->name_count; i++)
        output_reads(command->names[i]);
    if (values->output && output_check(values->output, &error) != PL_OK)
        return cli_usage_error(&cli_verb_analyze, "--output: %s", error.text);
    if (cli_outputs_check(&outputs, &error) != PL_OK)
        return cli_usage_error(&cli_verb_analyze, "%s", error.text);
    return CLI_OK;
}

/* The benchmark that wrote the blocks. */
static int analyze_guess(struct analyze_command *command, const struct analysis_input *input)
{
    const struct bench *found = NULL;
    const char *unknown = NULL;
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count; b++) {
            const char *class_name = input->files[f].blocks[b].class_name;
            const struct bench *bench = bench_of_block(&input->files[f].blocks[b]);
            if (bench && found && bench != found)
                return cli_usage_error(&cli_verb_analyze,
                                       "the files hold results of %s and of %s: which TOOL? (or quantities, for all)",
                                       found->name, bench->name);
            found = bench ? bench : found;
            unknown = bench ? unknown : class_name;
        }
    if (!found && unknown)
        return cli_usage_error(&cli_verb_analyze, "which TOOL? No benchmark writes blocks of class %s", unknown);
    if (!found)
        return cli_usage_error(&cli_verb_analyze, "which TOOL? There are no blocks in the files");
    return analyze_find(found->name, &command->tool) ? CLI_OK : CLI_USAGE;
}

/* ---- doing it ---- */

static FILE *analyze_open_output(const char *name, bool *failed)
{
    struct pl_error error;
    FILE *stream = NULL;
    if (name && output_open(name, &stream, &error) != PL_OK) {
        analyze_complain(&error);
        *failed = true;
    }
    return stream;
}

static int analyze_no_results(const struct analyze_command *command, const struct analysis_input *input,
                              const struct pl_error *error)
{
    if (error->status == PL_E_INPUT && command->tool.selections & RANK && command->tool.run != analysis_kernel &&
        analysis_only_kernels(&command->values.request, input)) {
        cli_complain(&cli_verb_analyze,
                     "the selected sets are of kernels with one time for each rank and no series, for which "
                     "'piolet analyze kernel' is the tool");
        return CLI_FAILED;
    }
    analyze_complain(error);
    if (error->status == PL_E_INPUT)
        analysis_describe(input, stderr);
    return CLI_FAILED;
}

/* A document in all forms that are asked for. */
static int analyze_show(const struct analyze_command *command, const struct analysis_input *input)
{
    const struct analyze_values *values = &command->values;
    struct analysis_request request = values->request;
    struct result *result = result_new(command->tool.name, NULL);
    struct pl_error error;
    bool failed = false;
    request.plot = values->output;
    pl_status status = command->tool.bench ? command->tool.bench->results(&request, input, result, &error)
                                           : command->tool.build(&request, input, result, &error);
    if (status != PL_OK) {
        result_free(result);
        return analyze_no_results(command, input, &error);
    }
    result_finish(result);
    FILE *json = analyze_open_output(values->json, &failed), *csv = analyze_open_output(values->csv, &failed);
    if (!failed && !analyze_is_standard(values->json) && !analyze_is_standard(values->csv))
        show_text(result, stdout);
    if (!failed && json)
        show_json(result, json);
    if (!failed && csv)
        show_csv(result, csv);
    if (!failed && values->output && show_plot(result, values->output, &error) != PL_OK) {
        analyze_complain(&error);
        failed = true;
    }
    result_free(result);
    return failed ? CLI_FAILED : analyze_commit();
}

static int analyze_run_tool(struct analyze_command *command, const struct analysis_input *input)
{
    const struct analyze_values *values = &command->values;
    struct analysis_request request = values->request;
    struct pl_error error;
    bool failed = false;
    request.plot = values->output;
    request.json = analyze_open_output(values->json, &failed);
    request.csv = analyze_open_output(values->csv, &failed);
    if (!analyze_is_standard(values->json) && !analyze_is_standard(values->csv))
        request.text = stdout;
    if (failed)
        return CLI_FAILED;
    return command->tool.run(&request, input, &error) == PL_OK ? analyze_commit()
                                                               : analyze_no_results(command, input, &error);
}

static int analyze_export(const struct analyze_command *command, const struct analysis_input *input)
{
    const struct analyze_values *values = &command->values;
    struct pl_error error;
    bool failed = false;
    FILE *stream = analyze_open_output(values->output ? values->output : "-", &failed);
    if (failed)
        return CLI_FAILED;
    const pl_status status = values->format == ANALYZE_JSON
                                 ? export_json(input->files, input->file_count, stream, &error)
                                 : export_csv(input->files, input->file_count, stream, &error);
    return status == PL_OK ? analyze_commit() : analyze_complain(&error);
}

static int analyze_act(void *target, const struct cli_line *line)
{
    struct analyze_command *command = target;
    const struct options *options = line->options;
    int status = analyze_take_operands(command, options);
    if (status == CLI_OK)
        status = analyze_check(command, options);
    if (status == CLI_OK)
        status = analyze_check_outputs(command);
    if (status != CLI_OK)
        return status;
    struct analysis_input input = analyze_open(command);
    status = input.file_count ? CLI_OK : CLI_FAILED;
    if (status == CLI_OK && command->guess) {
        status = analyze_guess(command, &input);
        if (status == CLI_OK)
            status = analyze_check_selections(command, options);
    }
    if (status == CLI_OK)
        status = command->tool.bench || command->tool.build ? analyze_show(command, &input)
                 : command->tool.run                        ? analyze_run_tool(command, &input)
                                                            : analyze_export(command, &input);
    analyze_close(&input);
    return status;
}

const struct cli_verb cli_verb_analyze = {
    .name = "analyze",
    .summary = "tables, plots and exports of measured times",
    .synopsis = "[TOOL] [OPTION]... FILE...",
    .explain = analyze_print_tools,
    .operands = analyze_names,
    .rows = ROWS,
    .values_size = sizeof(struct analyze_command),
    .values = &(
        const struct analyze_command){.values = {.request = {.to = INT64_MAX - 1}, .format = ANALYZE_NO_FORMAT}},
    .act = analyze_act,
};
