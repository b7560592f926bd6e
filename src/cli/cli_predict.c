/* piolet predict: the time of a program's I/O on systems where its phases were replayed, or that were characterised. No
 * MPI. */
#include "base/output.h"
#include "cli/cli_models.h"
#include "cli/predict_shell.h"
#include "predict/predict.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const struct cli_verb cli_verb_predict;

struct predict_request {
    const char *model, *configuration;
    struct option_texts results; /* borrowed: the operands behind the model */
    struct option_texts peaks, measured, from;
    struct option_texts sources; /* all files read */
    struct predict_outputs outputs;
};

#define AT(member) OPTION_AT(struct predict_request, member)
static const struct option_row ROWS[] = {
    {.name = "peak",
     .type = OPTION_EACH,
     .argument = "FILE",
     AT(peaks),
     .more = "May be repeated: several I/O nodes are summed up.",
     .help = "what 'piolet peak' measured: adds the usage of the devices"},
    {.name = "measured",
     .type = OPTION_EACH,
     .argument = "RUN",
     AT(measured),
     .more = "A model needs its observed part. May be repeated: the noise from run to run stands beside the errors. "
             "RESULTS must be of one configuration, or one be chosen.",
     .help = "a trace directory of the program on the target, or its model: adds the errors of the prediction"},
    {.name = "from",
     .type = OPTION_EACH,
     .argument = "FILE",
     AT(from),
     .more = "May be repeated. The source of each phase's rate is told; nothing is extrapolated silently. With RESULTS "
             "the estimate is compared with them.",
     .help = "estimate without replay, from results of b_eff_io, of the low-level tests, or of 'piolet peak'"},
    {.name = "configuration",
     .type = OPTION_TEXT,
     .argument = "NAME",
     AT(configuration),
     .help = "only this one of the configurations in RESULTS"},
    PREDICT_OUTPUT_ROWS(struct predict_request, outputs, "In the place of the tables.",
                        "A row for each phase and total; in the place of the tables."),
    {0}};
#undef AT

static int predict_check(struct predict_request *request, const struct options *options)
{
    const struct cli_verb *const verb = &cli_verb_predict;
    if (options->operand_count == 0)
        return cli_usage_error(verb, "which MODEL? (a file that 'piolet model' wrote)");
    request->model = options->operands[0];
    request->results = (struct option_texts){options->operands + 1, options->operand_count - 1};
    if (request->results.count == 0 && request->from.count == 0)
        return cli_usage_error(verb, "which RESULTS? (files that 'piolet replay' wrote; or --from a characterisation)");
    const struct option_texts *const all[] = {&request->results, &request->peaks, &request->measured, &request->from};
    output_reads(request->model);
    for (size_t list = 0; list < sizeof all / sizeof all[0]; list++)
        for (size_t i = 0; i < all[list]->count; i++) {
            predict_words_add(&request->sources, all[list]->values[i]);
            output_reads(all[list]->values[i]);
        }
    return predict_shell_check(verb, &request->outputs);
}

/* ---- which configurations ---- */

static int predict_complain_of_configurations(const struct prediction *prediction, const char *problem)
{
    cli_complain(&cli_verb_predict, "%s; there are:", problem);
    for (int i = 0; i < prediction->configuration_count; i++) {
        struct text label = {0};
        text_add(&label, "  ");
        text_add_escaped(&label, prediction->configurations[i].label);
        text_print_wrapped(stderr, text_get(&label), 0, 2);
        text_clear(&label);
    }
    return CLI_USAGE;
}

/* Puts the configuration that was asked for first, and forgets the others. */
static int predict_select_configuration(const struct predict_request *request, struct prediction *prediction)
{
    if (prediction->configuration_count == 0 && request->from.count == 0) {
        for (size_t i = 0; i < prediction->note_count; i++)
            cli_complain(&cli_verb_predict, "%s", prediction->notes[i]);
        cli_complain(&cli_verb_predict, "no file holds a replay of the model '%s'", request->model);
        return CLI_USAGE;
    }
    if (request->configuration && !predict_keep_configuration(prediction, request->configuration))
        return predict_complain_of_configurations(prediction, "--configuration: there is none of this name");
    if (request->measured.count > 0 && prediction->configuration_count > 1)
        return predict_complain_of_configurations(prediction, "--measured belongs to one configuration: choose it with "
                                                              "--configuration");
    return CLI_OK;
}

/* ---- measured runs ---- */

static pl_status predict_observe_tree(void *context, const struct trace_tree *tree, struct pl_error *error)
{
    return predict_observe_rank(context, tree, error);
}

/* A trace is read twice: for its model, and for the times of the phases on each rank. */
static pl_status predict_add_trace(struct prediction *prediction, const char *path, struct pl_error *error)
{
    struct model model;
    struct predict_observer observer;
    pl_status status = cli_models_of_trace(path, MODEL_APART, &model, error);
    if (status != PL_OK)
        return status;
    if (!predict_observer_init(&observer, &model)) {
        model_clear(&model);
        return pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", path);
    }
    status = cli_models_each_rank(path, predict_observe_tree, &observer, error);
    if (status == PL_OK)
        status = predict_measured_add(prediction, path, &model, observer.gave_up ? NULL : observer.phase_ns, error);
    predict_observer_clear(&observer);
    model_clear(&model);
    return status;
}

static pl_status predict_add_measured(struct prediction *prediction, const char *path, struct pl_error *error)
{
    struct stat info;
    struct model model;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return predict_add_trace(prediction, path, error);
    pl_status status = model_read_file(path, &model, NULL, error);
    if (status != PL_OK)
        return status;
    status = predict_measured_add(prediction, path, &model, NULL, error);
    model_clear(&model);
    return status;
}

static int predict_read_measured(const struct predict_request *request, struct prediction *prediction)
{
    struct pl_error error;
    for (size_t i = 0; i < request->measured.count; i++)
        if (predict_add_measured(prediction, request->measured.values[i], &error) != PL_OK) {
            cli_complain(&cli_verb_predict, "--measured: %s", error.text);
            return CLI_USAGE;
        }
    return CLI_OK;
}

/* ---- all ---- */

static pl_status predict_take_peak(struct prediction *prediction, struct blockfile *file, int *ret_count,
                                   struct pl_error *error)
{
    return predict_read_peak(prediction, file, ret_count, error);
}

static int predict_end(const struct predict_request *request, struct prediction *prediction)
{
    struct pl_error error;
    pl_status status = request->from.count ? predict_estimate(prediction, &error) : PL_OK;
    if (status == PL_OK)
        status = predict_finish(prediction, &error);
    if (status != PL_OK) {
        cli_complain(&cli_verb_predict, "%s", error.text);
        return CLI_FAILED;
    }
    int code = predict_shell_write(&cli_verb_predict, prediction, &request->outputs, &request->sources, predict_print);
    for (int i = 0; i < prediction->configuration_count; i++)
        code |= prediction->configurations[i].failure ? CLI_FAILED : CLI_OK;
    return code;
}

static int predict_make(const struct predict_request *request, struct prediction *prediction)
{
    const struct cli_verb *const verb = &cli_verb_predict;
    int status;
    if ((status = predict_shell_model(verb, request->model, prediction)) ||
        (status = predict_shell_read(verb, prediction, &request->results, predict_shell_results, false)) ||
        (status = predict_shell_read(verb, prediction, &request->peaks, predict_take_peak, true)) ||
        (status = predict_select_configuration(request, prediction)) ||
        (status = predict_read_measured(request, prediction)) ||
        (status = predict_shell_read(verb, prediction, &request->from, predict_read_sources, true)))
        return status;
    return predict_end(request, prediction);
}

static int predict_act(void *values, const struct cli_line *line)
{
    struct predict_request *request = values;
    struct prediction prediction = {0};
    int status = predict_check(request, line->options);
    if (status == CLI_OK)
        status = predict_make(request, &prediction);
    prediction_clear(&prediction);
    free(request->sources.values);
    return status;
}

const struct cli_verb cli_verb_predict = {
    .name = "predict",
    .summary = "the time of a program's I/O on a system, phase by phase",
    .synopsis = "MODEL RESULTS... [--peak FILE] [--measured RUN] | MODEL --from FILE...",
    .details = "RESULTS are files that 'piolet replay' wrote. Options that name a FILE or RUN\n"
               "may be repeated. 'piolet choose' ranks configurations.",
    .rows = ROWS,
    .values_size = sizeof(struct predict_request),
    .act = predict_act,
};
