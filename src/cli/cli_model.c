/* piolet model: the I/O phases of a program from its trace, and what can be done with a model file. No MPI. */
#include "cli/cli.h"
#include "cli/cli_models.h"
#include "cli/cli_outputs.h"

#include "base/output.h"
#include "base/path.h"
#include "base/units.h"
#include "model/model.h"
#include "trace/trace_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_verb cli_verb_model;

enum model_task { MODEL_MAKE, MODEL_CHECK, MODEL_DIFF, MODEL_EXPAND, MODEL_DUMP, MODEL_TASKS };

struct cli_model_request {
    const char *output, *plot, *phases;
    int64_t apart;
    int extents; /* of --dump: 0 short, 1 all */
    bool program;
    bool wants[MODEL_TASKS]; /* flags of the command line */
    enum model_task task;
    const char *const *operands;
    int operand_count;
};

#define AT(member) OPTION_AT(struct cli_model_request, member)
static const struct option_row ROWS[] = {
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .argument = "FILE|-",
     AT(output),
     .more = "A few words about it go to standard output, or to standard error where the model goes there.",
     .help = "where to write the model; by default to standard output"},
    {.name = "plot",
     .type = OPTION_TEXT,
     .argument = "FILE",
     AT(plot),
     .more = "Of the file with most bytes: offset by logical time, process by logical time, and which process is where "
             "in the file.",
     .help = "draw process, tick and offset of every access: FILE.svg, or FILE.png where rsvg-convert is installed"},
    {.name = "phases",
     .type = OPTION_TEXT,
     .argument = "fine|N",
     AT(phases),
     .more = "fine: any communication between two accesses does. See docs/model.md for the rule.",
     .help = "more than N events of communication between accesses begin a phase (16)"},
    {.name = "check",
     .type = OPTION_FLAG,
     AT(wants[MODEL_CHECK]),
     .more = "The grammar, every formula, and what is told beside the steps (weights, files, sums) against the steps. "
             "Messages tell the line.",
     .help = "read a model file and check it; also with --plot"},
    {.name = "diff",
     .type = OPTION_FLAG,
     AT(wants[MODEL_DIFF]),
     .more = "By lines, without their observed parts and the names of program and files: < stands before a line of the "
             "first, "
             "> before one of the second.",
     .help = "tell in what two model files differ"},
    {.name = "program",
     .type = OPTION_FLAG,
     AT(program),
     .help = "with --diff: compare the names of program and files too"},
    {.name = "expand",
     .type = OPTION_FLAG,
     AT(wants[MODEL_EXPAND]),
     .more =
         "For each process in its order: process, file, operation, offset (in etypes), tick, request size (bytes), "
         "and the bytes of the file that it means through the view, as FIRST+LENGTH, separated by commas: every "
         "one. - stands where only the MPI-IO knows them (shared pointers), ? where the trace does not tell the view.",
     .help = "print every call that a model file says"},
    {.name = "dump",
     .type = OPTION_FLAG,
     AT(wants[MODEL_DUMP]),
     .more =
         "Process, file, operation, offset (in etypes), tick, request size (bytes), time and duration (seconds), where "
         "in the file the access begins and ends (bytes, through the view), and its pieces as FIRST+LENGTH. Folded "
         "traces do not keep single times: ~ stands before those that are interpolated or a mean.",
     .help = "print every call of the trace in DIR"},
    {.name = "extents",
     .type = OPTION_CHOICE,
     .choices = "short all",
     .initial = "short",
     AT(extents),
     .more = "short: up to 4 runs, where FIRST+LENGTH:STEP*COUNT is a row of pieces, and ... if there are more.",
     .help = "with --dump: every piece of an access, or as many as fit on a line"},
    {0}};
#undef AT

static bool cli_model_is_picture(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && (strcmp(path + length - 4, ".svg") == 0 || strcmp(path + length - 4, ".png") == 0);
}

static int model_check_request(struct cli_model_request *request, const struct options *options)
{
    static const char *const names[] = {
        [MODEL_CHECK] = "--check", [MODEL_DIFF] = "--diff", [MODEL_EXPAND] = "--expand", [MODEL_DUMP] = "--dump"};
    static const char *const lacks[] = {[MODEL_MAKE] = "which DIR? (one directory with a trace)",
                                        [MODEL_CHECK] = "--check needs one model file",
                                        [MODEL_DIFF] = "--diff needs two model files",
                                        [MODEL_EXPAND] = "--expand needs one model file",
                                        [MODEL_DUMP] = "which DIR? (one directory with a trace)"};
    for (enum model_task task = MODEL_CHECK; task < MODEL_TASKS; task++) {
        if (request->wants[task] && request->task)
            return cli_usage_error(&cli_verb_model, "%s and %s exclude each other", names[request->task], names[task]);
        request->task = request->wants[task] ? task : request->task;
    }
    request->operands = options->operands;
    request->operand_count = (int)options->operand_count;
    if (request->operand_count != (request->task == MODEL_DIFF ? 2 : 1))
        return cli_usage_error(&cli_verb_model, "%s", lacks[request->task]);
    if (request->extents && request->task != MODEL_DUMP)
        return cli_usage_error(&cli_verb_model, "--extents goes with --dump");
    if (request->task && request->output)
        return cli_usage_error(&cli_verb_model, "%s takes no --output", names[request->task]);
    if (request->task && request->task != MODEL_CHECK && request->plot)
        return cli_usage_error(&cli_verb_model, "%s takes no --plot", names[request->task]);
    if (request->task && request->phases)
        return cli_usage_error(&cli_verb_model, "%s takes no --phases", names[request->task]);
    if (request->program && request->task != MODEL_DIFF)
        return cli_usage_error(&cli_verb_model, "--program goes with --diff");
    request->apart = MODEL_APART;
    if (request->phases && strcmp(request->phases, "fine") == 0)
        request->apart = 0;
    else if (request->phases && !units_parse_int(request->phases, 0, INT32_MAX, &request->apart))
        return cli_usage_error(&cli_verb_model, "--phases '%s': allowed: fine, or a number of events from 0 to %d",
                               request->phases, INT32_MAX);
    if (request->plot && !cli_model_is_picture(request->plot))
        return cli_usage_error(&cli_verb_model, "--plot '%s': the name of a plot ends in .svg or .png", request->plot);
    return CLI_OK;
}

static int cli_model_complain(const struct pl_error *error, int status)
{
    cli_complain(&cli_verb_model, "%s", error->text);
    return status;
}

/* ---- model files ---- */

static void cli_model_tell(FILE *stream, const struct model *model)
{
    struct text words = {0};
    model_words(model, &words);
    text_print_wrapped(stream, text_get(&words), 0, 0);
    if (model->incomplete_ranks > 0)
        fprintf(stream, "%lld trace%s early: the program was killed, or could not write.\n",
                (long long)model->incomplete_ranks, model->incomplete_ranks == 1 ? " ends" : "s end");
    if (model->failed_calls > 0)
        fprintf(stream, "%lld call%s not in the model.\n", (long long)model->failed_calls,
                model->failed_calls == 1 ? " failed and is" : "s failed and are");
    text_clear(&words);
}

static int cli_model_plot(const struct cli_model_request *request, const struct model *model)
{
    struct pl_error error;
    if ((request->plot && model_plot(model, request->plot, &error) != PL_OK) || output_commit(&error) != PL_OK)
        return cli_model_complain(&error, CLI_FAILED);
    return CLI_OK;
}

static int cli_model_check(const struct cli_model_request *request)
{
    struct model model;
    struct pl_error error;
    if (model_read_file(request->operands[0], &model, NULL, &error) != PL_OK)
        return cli_model_complain(&error, CLI_USAGE);
    const int status = cli_model_plot(request, &model);
    if (status == CLI_OK)
        cli_model_tell(stdout, &model);
    model_clear(&model);
    return status;
}

static int cli_model_diff(const struct cli_model_request *request)
{
    struct model a, b;
    struct pl_error error;
    struct text text = {0};
    if (model_read_file(request->operands[0], &a, NULL, &error) != PL_OK)
        return cli_model_complain(&error, CLI_USAGE);
    if (model_read_file(request->operands[1], &b, NULL, &error) != PL_OK) {
        model_clear(&a);
        return cli_model_complain(&error, CLI_USAGE);
    }
    const int differences = model_diff(&a, &b, request->program, &text);
    fputs(text_get(&text), stdout);
    text_clear(&text);
    model_clear(&a);
    model_clear(&b);
    return differences ? CLI_FAILED : CLI_OK;
}

/* One rank after the other. */
struct cli_model_expansion {
    struct model_views views;
    struct text extents;
    pl_status status;
    struct pl_error *error;
};

static bool cli_model_print_event(void *context, const struct model_event *event)
{
    struct cli_model_expansion *expansion = context;
    char offset[24] = "-", size[24] = "-", memory[40] = "";
    if (event->size >= 0)
        snprintf(size, sizeof size, "%lld", (long long)event->size);
    if (event->offset >= 0)
        snprintf(offset, sizeof offset, "%lld", (long long)event->offset);
    if (event->memory > 0)
        snprintf(memory, sizeof memory, " memory=%lld", (long long)event->memory);
    const struct trace_view *view = model_views_of(&expansion->views, event);
    text_clear(&expansion->extents);
    if (!event->step->access || event->offset < 0)
        text_add(&expansion->extents, "-");
    else if (!view)
        text_add(&expansion->extents, "?");
    else
        trace_extents_add_text(view, event->offset, event->size, 0, &expansion->extents);
    printf("%5lld %4d %-28s %16s %10lld %14s %s%s\n", (long long)event->rank, event->step->file + 1,
           event->step->operation, offset, (long long)event->tick, size, text_get(&expansion->extents), memory);
    expansion->status = model_views_take(&expansion->views, event, expansion->error);
    return expansion->status == PL_OK;
}

static int cli_model_expand(const struct cli_model_request *request)
{
    struct model model;
    struct pl_error error;
    struct cli_model_expansion expansion = {.error = &error};
    pl_status status = model_read_file(request->operands[0], &model, NULL, &error);
    if (status != PL_OK)
        return cli_model_complain(&error, CLI_USAGE);
    printf("%5s %4s %-28s %16s %10s %14s %s\n", "IdP", "IdF", "operation", "Offset", "tick", "RequestSize", "Extents");
    for (int64_t rank = 0; rank < model.ranks && status == PL_OK; rank++) {
        status = model_expand(&model, rank, cli_model_print_event, &expansion, &error);
        status = status == PL_OK ? expansion.status : status;
        model_views_clear(&expansion.views);
    }
    text_clear(&expansion.extents);
    model_clear(&model);
    return status == PL_OK ? CLI_OK : cli_model_complain(&error, CLI_FAILED);
}

/* ---- traces ---- */

static pl_status cli_model_dump_tree(void *context, const struct trace_tree *tree, struct pl_error *error)
{
    return trace_dump(tree, *(const int *)context, stdout, error);
}

static int cli_model_dump(const struct cli_model_request *request)
{
    struct pl_error error;
    int most = request->extents ? 0 : TRACE_DUMP_SHORT;
    trace_dump_head(stdout);
    if (cli_models_each_rank(request->operands[0], cli_model_dump_tree, &most, &error) != PL_OK)
        return cli_model_complain(&error, CLI_FAILED);
    return CLI_OK;
}

static int cli_model_write_model(const struct cli_model_request *request, const struct model *model)
{
    struct text text = {0};
    struct pl_error error;
    FILE *stream;
    if (output_open(request->output ? request->output : "-", &stream, &error) != PL_OK)
        return cli_model_complain(&error, CLI_FAILED);
    model_write(model, true, &text);
    pl_status status = text.failed ? pl_fail(&error, PL_E_NOMEM, "not enough memory for the model") : PL_OK;
    fputs(text_get(&text), stream); /* finishing it tells */
    text_clear(&text);
    if (status == PL_OK)
        status = output_finish(stream, &error);
    return status == PL_OK ? CLI_OK : cli_model_complain(&error, CLI_FAILED);
}

static bool cli_model_is_standard(const struct cli_model_request *request)
{
    return !request->output || strcmp(request->output, "-") == 0;
}

/* A file of this name in DIR would be taken for the trace of a rank. */
static pl_status cli_model_refuse_trace_name(const struct cli_model_request *request, const char *path,
                                             struct pl_error *error)
{
    char folder[PATH_MAX];
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    if (!path || strncmp(name, "trace.", 6) != 0 || name[6 + strspn(name + 6, "0123456789")])
        return PL_OK;
    path_folder(path, folder);
    return path_same(folder, request->operands[0])
               ? pl_fail(error, PL_E_USAGE, "'%s' is a name of the trace; allowed: another file", path)
               : PL_OK;
}

static int cli_model_check_outputs(const struct cli_model_request *request)
{
    const struct cli_outputs outputs = {.plot = request->plot};
    struct pl_error error;
    pl_status status = PL_OK;
    for (int i = 0; i < request->operand_count; i++)
        output_reads(request->operands[i]);
    if (request->output && output_check(request->output, &error) != PL_OK)
        status = pl_within(&error, "--output");
    if (status == PL_OK)
        status = cli_outputs_check(&outputs, &error);
    if (status == PL_OK)
        status = cli_model_refuse_trace_name(request, request->output, &error);
    return status == PL_OK ? CLI_OK : cli_model_complain(&error, CLI_USAGE);
}

static int cli_model_make(const struct cli_model_request *request)
{
    struct model model;
    struct pl_error error;
    if (cli_models_of_trace(request->operands[0], request->apart, &model, &error) != PL_OK)
        return cli_model_complain(&error, CLI_FAILED);
    int code = cli_model_write_model(request, &model);
    if (code == CLI_OK)
        code = cli_model_plot(request, &model);
    if (code == CLI_OK)
        cli_model_tell(cli_model_is_standard(request) ? stderr : stdout, &model);
    model_clear(&model);
    return code;
}

static int model_do(const struct cli_model_request *request)
{
    switch (request->task) {
    case MODEL_CHECK:
        return cli_model_check(request);
    case MODEL_DIFF:
        return cli_model_diff(request);
    case MODEL_DUMP:
        return cli_model_dump(request);
    case MODEL_EXPAND:
        return cli_model_expand(request);
    default:
        return cli_model_make(request);
    }
}

static int model_act(void *values, const struct cli_line *line)
{
    struct cli_model_request *request = values;
    int status = model_check_request(request, line->options);
    if (status == CLI_OK)
        status = cli_model_check_outputs(request);
    return status == CLI_OK ? model_do(request) : status;
}

const struct cli_verb cli_verb_model = {
    .name = "model",
    .summary = "the I/O phases of a program from its trace",
    .synopsis = "[-o FILE] DIR | --check FILE | --diff FILE FILE | --expand FILE | --dump [--extents all] DIR",
    .details = "DIR holds the trace that 'piolet trace' made. The model goes to FILE or to\n"
               "standard output, and a few words tell what it says.",
    .rows = ROWS,
    .values_size = sizeof(struct cli_model_request),
    .act = model_act,
};
