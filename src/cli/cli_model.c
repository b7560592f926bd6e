/* piolet model: the I/O phases of a program from its trace, and what can be done with a model file. No MPI. */
#include "cli/cli.h"
#include "cli/cli_models.h"
#include "cli/cli_outputs.h"

#include "base/output.h"
#include "base/path.h"
#include "model/model.h"
#include "model/model_dump.h"
#include "model/model_plot.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_verb cli_verb_model;

enum { OUTPUT = 1, PLOT, CHECK, DIFF, DUMP, EXPAND };

struct request {
    const char *output, *plot;
    int task; /* CHECK, DIFF, DUMP, EXPAND; 0: make a model */
    const char *operands[2];
    int operand_count;
};

static bool is_picture(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && (strcmp(path + length - 4, ".svg") == 0 || strcmp(path + length - 4, ".png") == 0);
}

static int parse(struct request *request, int argc, char **argv)
{
    static const char *const NAMES[] = {
        [CHECK] = "--check", [DIFF] = "--diff", [DUMP] = "--dump", [EXPAND] = "--expand"};
    const char *argument;
    int option;
    while ((option = cli_next(&cli_verb_model, argc, argv, &argument)) > CLI_END) {
        if (option == OUTPUT)
            request->output = argument;
        else if (option == PLOT)
            request->plot = argument;
        else if (request->task && request->task != option)
            return cli_usage_error(&cli_verb_model, "%s and %s exclude each other", NAMES[request->task],
                                   NAMES[option]);
        else
            request->task = option;
    }
    if (option != CLI_END)
        return CLI_USAGE;
    const int wanted = request->task == DIFF ? 2 : 1;
    if (argc - optind != wanted)
        return cli_usage_error(&cli_verb_model, "%s",
                               request->task == DIFF     ? "--diff needs two model files"
                               : request->task == CHECK  ? "--check needs one model file"
                               : request->task == EXPAND ? "--expand needs one model file"
                                                         : "which DIR? (one directory with a trace)");
    for (int i = 0; i < wanted; i++)
        request->operands[request->operand_count++] = argv[optind + i];
    if (request->task && request->output)
        return cli_usage_error(&cli_verb_model, "%s takes no --output", NAMES[request->task]);
    if (request->task && request->task != CHECK && request->plot)
        return cli_usage_error(&cli_verb_model, "%s takes no --plot", NAMES[request->task]);
    if (request->plot && !is_picture(request->plot))
        return cli_usage_error(&cli_verb_model, "--plot '%s': the name of a plot ends in .svg or .png", request->plot);
    return CLI_OK;
}

static int complain(const struct pl_error *error, int status)
{
    cli_complain(&cli_verb_model, "%s", error->text);
    return status;
}

/* ---- model files ---- */

/* Prints a text in lines of at most 80 columns; bytes that continue a character of UTF-8 have none. */
static void print_wrapped(FILE *stream, const char *text)
{
    int column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        int columns = 0;
        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (column > 0 && column + 1 + columns > 80) {
            fputc('\n', stream);
            column = 0;
        }
        fprintf(stream, "%s%.*s", column ? " " : "", (int)length, text);
        column += columns + (column > 0);
        text += length;
        text += *text == ' ';
    }
    fputc('\n', stream);
}

static void tell(FILE *stream, const struct model *model)
{
    struct text words = {0};
    model_words(model, &words);
    print_wrapped(stream, text_get(&words));
    if (model->incomplete_ranks > 0)
        fprintf(stream, "%lld trace%s early: the program was killed, or could not write.\n",
                (long long)model->incomplete_ranks, model->incomplete_ranks == 1 ? " ends" : "s end");
    if (model->failed_calls > 0)
        fprintf(stream, "%lld call%s not in the model.\n", (long long)model->failed_calls,
                model->failed_calls == 1 ? " failed and is" : "s failed and are");
    text_clear(&words);
}

static int plot(const struct request *request, const struct model *model)
{
    struct pl_error error;
    if ((request->plot && model_plot(model, request->plot, &error) != PL_OK) || output_commit(&error) != PL_OK)
        return complain(&error, CLI_FAILED);
    return CLI_OK;
}

static int check(const struct request *request)
{
    struct model model;
    struct pl_error error;
    if (cli_models_read(request->operands[0], &model, NULL, &error) != PL_OK)
        return complain(&error, CLI_USAGE);
    const int status = plot(request, &model);
    if (status == CLI_OK)
        tell(stdout, &model);
    model_clear(&model);
    return status;
}

static int diff(const struct request *request)
{
    struct model a, b;
    struct pl_error error;
    struct text text = {0};
    if (cli_models_read(request->operands[0], &a, NULL, &error) != PL_OK)
        return complain(&error, CLI_USAGE);
    if (cli_models_read(request->operands[1], &b, NULL, &error) != PL_OK) {
        model_clear(&a);
        return complain(&error, CLI_USAGE);
    }
    const int differences = model_diff(&a, &b, &text);
    fputs(text_get(&text), stdout);
    text_clear(&text);
    model_clear(&a);
    model_clear(&b);
    return differences ? CLI_FAILED : CLI_OK;
}

static bool print_event(void *context, const struct model_event *event)
{
    (void)context;
    char offset[24] = "-", size[24] = "-", memory[40] = "";
    if (event->size >= 0)
        snprintf(size, sizeof size, "%lld", (long long)event->size);
    if (event->offset >= 0)
        snprintf(offset, sizeof offset, "%lld", (long long)event->offset);
    if (event->memory > 0)
        snprintf(memory, sizeof memory, " memory=%lld", (long long)event->memory);
    printf("%5lld %4d %-28s %16s %10lld %14s%s\n", (long long)event->rank, event->step->file + 1,
           event->step->operation, offset, (long long)event->tick, size, memory);
    return true;
}

static int expand(const struct request *request)
{
    struct model model;
    struct pl_error error;
    pl_status status = cli_models_read(request->operands[0], &model, NULL, &error);
    if (status != PL_OK)
        return complain(&error, CLI_USAGE);
    printf("%5s %4s %-28s %16s %10s %14s\n", "IdP", "IdF", "operation", "Offset", "tick", "RequestSize");
    for (int64_t rank = 0; rank < model.ranks && status == PL_OK; rank++)
        status = model_expand(&model, rank, print_event, NULL, &error);
    model_clear(&model);
    return status == PL_OK ? CLI_OK : complain(&error, CLI_FAILED);
}

/* ---- traces ---- */

static pl_status dump_tree(void *context, const struct trace_tree *tree, struct pl_error *error)
{
    (void)error;
    model_dump(tree, context);
    return PL_OK;
}

static int dump(const struct request *request)
{
    struct pl_error error;
    model_dump_head(stdout);
    if (cli_models_each_rank(request->operands[0], dump_tree, stdout, &error) != PL_OK)
        return complain(&error, CLI_FAILED);
    return CLI_OK;
}

static int write_model(const struct request *request, const struct model *model)
{
    struct text text = {0};
    struct pl_error error;
    FILE *stream;
    if (output_open(request->output ? request->output : "-", &stream, &error) != PL_OK)
        return complain(&error, CLI_FAILED);
    model_write(model, true, &text);
    pl_status status = text.failed ? pl_fail(&error, PL_E_NOMEM, "not enough memory for the model") : PL_OK;
    fputs(text_get(&text), stream); /* finishing it tells */
    text_clear(&text);
    if (status == PL_OK)
        status = output_finish(stream, &error);
    return status == PL_OK ? CLI_OK : complain(&error, CLI_FAILED);
}

static bool is_standard(const struct request *request)
{
    return !request->output || strcmp(request->output, "-") == 0;
}

/* A file of this name in DIR would be taken for the trace of a rank. */
static pl_status refuse_trace_name(const struct request *request, const char *path, struct pl_error *error)
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

static int check_outputs(const struct request *request)
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
        status = refuse_trace_name(request, request->output, &error);
    return status == PL_OK ? CLI_OK : complain(&error, CLI_USAGE);
}

static int make(const struct request *request)
{
    struct model model;
    struct pl_error error;
    if (cli_models_of_trace(request->operands[0], &model, &error) != PL_OK)
        return complain(&error, CLI_FAILED);
    int code = write_model(request, &model);
    if (code == CLI_OK)
        code = plot(request, &model);
    if (code == CLI_OK)
        tell(is_standard(request) ? stderr : stdout, &model);
    model_clear(&model);
    return code;
}

static int model_run(int argc, char **argv)
{
    struct request request = {0};
    int status = parse(&request, argc, argv);
    if (status == CLI_OK)
        status = check_outputs(&request);
    if (status != CLI_OK)
        return status;
    switch (request.task) {
    case CHECK:
        return check(&request);
    case DIFF:
        return diff(&request);
    case DUMP:
        return dump(&request);
    case EXPAND:
        return expand(&request);
    default:
        return make(&request);
    }
}

const struct cli_verb cli_verb_model = {
    .name = "model",
    .summary = "the I/O phases of a program from its trace",
    .synopsis = "[-o FILE] DIR | --check FILE | --diff FILE FILE | --expand FILE | --dump DIR",
    .details = "DIR holds the trace that 'piolet trace' made. The model goes to FILE or to standard\n"
               "output, and a few words tell what it says.",
    .options = (const struct cli_option[]){{OUTPUT, "output", 'o', "FILE", "where to write the model"},
                                           {PLOT, "plot", 0, "FILE",
                                            "draw process, tick and offset of every access: FILE.svg,\n"
                                            "or FILE.png where rsvg-convert is installed"},
                                           {CHECK, "check", 0, NULL,
                                            "read a model file and check it; also with --plot"},
                                           {DIFF, "diff", 0, NULL, "tell in what two model files differ"},
                                           {EXPAND, "expand", 0, NULL, "print every call that a model file says"},
                                           {DUMP, "dump", 0, NULL, "print every call of the trace in DIR"},
                                           {0}},
    .run = model_run,
};
