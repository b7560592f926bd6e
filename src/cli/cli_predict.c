/* piolet predict: the time of a program's I/O on systems where its phases were replayed, or that were characterised. No
 * MPI. */
#include "base/output.h"
#include "cli/cli_models.h"
#include "cli/predict_shell.h"
#include "predict/predict_observe.h"
#include "predict/predict_text.h"

#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

extern const struct cli_verb cli_verb_predict;

enum { PEAK = 1, MEASURED, FROM, CONFIGURATION, OUTPUT, JSON, CSV };

struct request {
    const char *model, *configuration;
    struct predict_words results, peaks, measured, from, sources;
    struct predict_outputs outputs;
};

static void request_clear(struct request *request)
{
    predict_words_clear(&request->results);
    predict_words_clear(&request->peaks);
    predict_words_clear(&request->measured);
    predict_words_clear(&request->from);
    predict_words_clear(&request->sources);
}

static bool take_option(struct request *request, int option, const char *argument)
{
    switch (option) {
    case PEAK:
        return predict_words_add(&request->peaks, argument) && predict_words_add(&request->sources, argument);
    case MEASURED:
        return predict_words_add(&request->measured, argument) && predict_words_add(&request->sources, argument);
    case FROM:
        return predict_words_add(&request->from, argument) && predict_words_add(&request->sources, argument);
    case CONFIGURATION:
        request->configuration = argument;
        return true;
    case OUTPUT:
        request->outputs.output = argument;
        return true;
    case JSON:
        request->outputs.json = argument;
        return true;
    default:
        request->outputs.csv = argument;
        return true;
    }
}

static int parse(struct request *request, int argc, char **argv)
{
    const struct cli_verb *const verb = &cli_verb_predict;
    const char *argument;
    int option;
    bool ok = true;
    while (ok && (option = cli_next(verb, argc, argv, &argument)) > CLI_END)
        ok = take_option(request, option, argument);
    if (ok && option != CLI_END)
        return CLI_USAGE;
    if (optind >= argc)
        return cli_usage_error(verb, "which MODEL? (a file that 'piolet model' wrote)");
    request->model = argv[optind];
    for (int i = optind + 1; i < argc && ok; i++)
        ok = predict_words_add(&request->results, argv[i]) && predict_words_add(&request->sources, argv[i]);
    if (!ok) {
        cli_complain(verb, "not enough memory");
        return CLI_FAILED;
    }
    if (request->results.count == 0 && request->from.count == 0)
        return cli_usage_error(verb, "which RESULTS? (files that 'piolet replay' wrote; or --from a characterisation)");
    output_reads(request->model);
    for (int i = 0; i < request->sources.count; i++)
        output_reads(request->sources.list[i]);
    return predict_shell_check(verb, &request->outputs);
}

/* ---- which configurations ---- */

static int complain_of_configurations(const struct prediction *prediction, const char *problem)
{
    cli_complain(&cli_verb_predict, "%s; there are:", problem);
    for (int i = 0; i < prediction->configuration_count; i++) {
        fflush(stdout);
        predict_print_wrapped(stderr, "  ", prediction->configurations[i].label);
    }
    return CLI_USAGE;
}

/* Puts the configuration that was asked for first, and forgets the others. */
static int select_configuration(const struct request *request, struct prediction *prediction)
{
    if (prediction->configuration_count == 0 && request->from.count == 0) {
        for (size_t i = 0; i < prediction->note_count; i++)
            cli_complain(&cli_verb_predict, "%s", prediction->notes[i]);
        cli_complain(&cli_verb_predict, "no file holds a replay of the model '%s'", request->model);
        return CLI_USAGE;
    }
    if (request->configuration && !predict_keep_configuration(prediction, request->configuration))
        return complain_of_configurations(prediction, "--configuration: there is none of this name");
    if (request->measured.count > 0 && prediction->configuration_count > 1)
        return complain_of_configurations(prediction, "--measured belongs to one configuration: choose it with "
                                                      "--configuration");
    return CLI_OK;
}

/* ---- measured runs ---- */

static pl_status observe_tree(void *context, const struct trace_tree *tree, struct pl_error *error)
{
    return predict_observe_rank(context, tree, error);
}

/* A trace is read twice: for its model, and for the times of the phases on each rank. */
static pl_status add_trace(struct prediction *prediction, const char *path, struct pl_error *error)
{
    struct model model;
    struct predict_observer observer;
    pl_status status = cli_models_of_trace(path, &model, error);
    if (status != PL_OK)
        return status;
    if (!predict_observer_init(&observer, &model)) {
        model_clear(&model);
        return pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", path);
    }
    status = cli_models_each_rank(path, observe_tree, &observer, error);
    if (status == PL_OK)
        status = predict_measured_add(prediction, path, &model, observer.gave_up ? NULL : observer.phase_ns, error);
    predict_observer_clear(&observer);
    model_clear(&model);
    return status;
}

static pl_status add_measured(struct prediction *prediction, const char *path, struct pl_error *error)
{
    struct stat info;
    struct model model;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return add_trace(prediction, path, error);
    pl_status status = cli_models_read(path, &model, NULL, error);
    if (status != PL_OK)
        return status;
    status = predict_measured_add(prediction, path, &model, NULL, error);
    model_clear(&model);
    return status;
}

static int read_measured(const struct request *request, struct prediction *prediction)
{
    struct pl_error error;
    for (int i = 0; i < request->measured.count; i++)
        if (add_measured(prediction, request->measured.list[i], &error) != PL_OK) {
            cli_complain(&cli_verb_predict, "--measured: %s", error.text);
            return CLI_USAGE;
        }
    return CLI_OK;
}

/* ---- all ---- */

static pl_status take_peak(struct prediction *prediction, struct blockfile *file, int *ret_count,
                           struct pl_error *error)
{
    return predict_read_peak(prediction, file, ret_count, error);
}

static int finish(const struct request *request, struct prediction *prediction)
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

static int predict(const struct request *request, struct prediction *prediction)
{
    const struct cli_verb *const verb = &cli_verb_predict;
    int status;
    if ((status = predict_shell_model(verb, request->model, prediction)) ||
        (status = predict_shell_read(verb, prediction, &request->results, predict_shell_results, false)) ||
        (status = predict_shell_read(verb, prediction, &request->peaks, take_peak, true)) ||
        (status = select_configuration(request, prediction)) || (status = read_measured(request, prediction)) ||
        (status = predict_shell_read(verb, prediction, &request->from, predict_read_sources, true)))
        return status;
    return finish(request, prediction);
}

static int predict_run(int argc, char **argv)
{
    struct request request = {0};
    struct prediction prediction = {0};
    int status = parse(&request, argc, argv);
    if (status == CLI_OK)
        status = predict(&request, &prediction);
    prediction_clear(&prediction);
    request_clear(&request);
    return status;
}

const struct cli_verb cli_verb_predict = {
    .name = "predict",
    .summary = "the time of a program's I/O on a system, phase by phase",
    .synopsis = "MODEL RESULTS... [--peak FILE] [--measured RUN] | MODEL --from FILE...",
    .details = "RESULTS are files that 'piolet replay' wrote. Options that name a FILE or RUN\n"
               "may be repeated. 'piolet choose' ranks configurations.",
    .options = (const struct cli_option[]){{PEAK, "peak", 0, "FILE",
                                            "what 'piolet peak' measured: adds the usage of the devices"},
                                           {MEASURED, "measured", 0, "RUN",
                                            "a trace directory of the program on the target, or its\n"
                                            "model: adds the errors of the prediction"},
                                           {FROM, "from", 0, "FILE",
                                            "estimate without replay, from results of b_eff_io, of the\n"
                                            "low-level tests, or of 'piolet peak'"},
                                           {CONFIGURATION, "configuration", 0, "NAME",
                                            "only this one of the configurations in RESULTS"},
                                           {OUTPUT, "output", 'o', "FILE", "append the prediction to FILE, as a block"},
                                           {JSON, "json", 0, "FILE", "the prediction as JSON (- is standard output)"},
                                           {CSV, "csv", 0, "FILE", "the prediction as CSV (- is standard output)"},
                                           {0}},
    .run = predict_run,
};
