#include "cli/predict_shell.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/progress.h"
#include "cli/cli_outputs.h"
#include "predict/predict.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void predict_words_add(struct option_texts *words, const char *word)
{
    words->values = memory_more(words->values, words->count + 2, sizeof *words->values);
    words->values[words->count++] = word;
    words->values[words->count] = NULL;
}

static int predict_shell_complain(const struct cli_verb *verb, const struct pl_error *error, int status)
{
    cli_complain(verb, "%s", error->text);
    return status;
}

int predict_shell_check(const struct cli_verb *verb, const struct predict_outputs *outputs)
{
    struct pl_error error;
    if (outputs->output && strcmp(outputs->output, "-") == 0)
        return cli_usage_error(verb, "-o: results are appended to a file, not to standard output");
    const struct cli_outputs files = {
        .results = outputs->output, .of_others = true, .json = outputs->json, .csv = outputs->csv};
    if (cli_outputs_check(&files, &error) != PL_OK)
        return predict_shell_complain(verb, &error, CLI_USAGE);
    return CLI_OK;
}

int predict_shell_model(const struct cli_verb *verb, const char *path, struct prediction *ret_prediction)
{
    struct model model;
    struct text text = {0};
    struct pl_error error;
    if (model_read_file(path, &model, &text, &error) != PL_OK)
        return predict_shell_complain(verb, &error, CLI_USAGE);
    const pl_status status = predict_program_make(&model, text_get(&text), &ret_prediction->program, &error);
    text_clear(&text);
    model_clear(&model);
    if (status != PL_OK)
        return predict_shell_complain(verb, &error, CLI_FAILED);
    if (ret_prediction->program.phase_count > 0)
        return CLI_OK;
    cli_complain(verb, "'%s': the model has no phases, so there is nothing to predict", path);
    return CLI_USAGE;
}

pl_status predict_shell_results(struct prediction *prediction, struct blockfile *file, int *ret_count,
                                struct pl_error *error)
{
    const pl_status status = predict_read_replay(prediction, file, ret_count, error);
    return status == PL_OK ? predict_read_peak(prediction, file, ret_count, error) : status;
}

int predict_shell_read(const struct cli_verb *verb, struct prediction *prediction, const struct option_texts *paths,
                       predict_take_file *take, bool must_find)
{
    struct progress progress;
    progress_begin(&progress, PROGRESS_AUTO, 1, 1);
    progress_step(&progress, "reading results", 1);
    for (size_t i = 0; i < paths->count; i++) {
        struct blockfile file;
        struct pl_error error;
        int count = 0;
        progress_part(&progress, paths->values[i], (double)i / (double)paths->count);
        if (blockfile_open(paths->values[i], &file, &error) != PL_OK)
            return predict_shell_complain(verb, &error, CLI_USAGE);
        for (size_t w = 0; w < file.warning_count; w++)
            cli_complain(verb, "%s", file.warnings[w]);
        progress_part(&progress, paths->values[i], ((double)i + 0.5) / (double)paths->count); /* both read all */
        const pl_status status = take(prediction, &file, &count, &error);
        blockfile_close(&file);
        if (status != PL_OK)
            return predict_shell_complain(verb, &error, CLI_FAILED);
        if (count == 0 && must_find) {
            cli_complain(verb, "'%s' holds no results that can be used here", paths->values[i]);
            return CLI_USAGE;
        }
    }
    return CLI_OK;
}

/* ---- outputs ---- */

static int predict_shell_export_to(const struct cli_verb *verb, const struct prediction *prediction, const char *path,
                                   void (*export)(const struct prediction *prediction, FILE *stream))
{
    if (!path)
        return CLI_OK;
    FILE *stream;
    struct pl_error error;
    if (output_open(path, &stream, &error) == PL_OK) {
        export(prediction, stream);
        if (output_finish(stream, &error) == PL_OK)
            return CLI_OK;
    }
    cli_complain(verb, "%s", error.text);
    return CLI_FAILED;
}

static int predict_shell_append_block(const struct cli_verb *verb, const struct prediction *prediction,
                                      const char *path, const struct option_texts *sources)
{
    static const char *const NONE[] = {NULL};
    assert(!path || strcmp(path, "-") != 0); /* predict_shell_check() */
    struct pl_error error;
    char stamp[CLOCK_STAMP_MAX];
    if (!path)
        return CLI_OK;
    if (predict_export_block(prediction, path, clock_stamp(stamp), sources->count ? sources->values : NONE, &error) !=
        PL_OK)
        return predict_shell_complain(verb, &error, CLI_FAILED);
    return CLI_OK;
}

static bool predict_shell_is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

int predict_shell_write(const struct cli_verb *verb, const struct prediction *prediction,
                        const struct predict_outputs *outputs, const struct option_texts *sources,
                        void (*print)(const struct prediction *prediction, FILE *stream))
{
    for (size_t i = 0; i < prediction->note_count; i++)
        cli_complain(verb, "%s", prediction->notes[i]);
    int status = CLI_OK;
    if (!predict_shell_is_standard(outputs->json) && !predict_shell_is_standard(outputs->csv))
        status |= predict_shell_export_to(verb, prediction, "-", print);
    status |= predict_shell_export_to(verb, prediction, outputs->json, predict_export_json);
    status |= predict_shell_export_to(verb, prediction, outputs->csv, predict_export_csv);
    if (status == CLI_OK)
        status = predict_shell_append_block(verb, prediction, outputs->output, sources);
    struct pl_error error;
    if (status == CLI_OK && output_commit(&error) != PL_OK)
        return predict_shell_complain(verb, &error, CLI_FAILED);
    return status;
}
