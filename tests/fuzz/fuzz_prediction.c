/* What `piolet predict` reads: a model, then block files of replays, peaks, characterisations. The input is both, with
 * a line "----" between. */
/* proves: PHASE-11 PHASE-12
 * Fails when a model or results crash the prediction or one of its outputs. */
#include "fuzz.h"

#include "predict/predict.h"

#include <stdlib.h>
#include <string.h>

static void predict(struct prediction *prediction, const char *path)
{
    struct blockfile file;
    struct pl_error error;
    int count = 0;
    if (blockfile_open(path, &file, &error) != PL_OK)
        return;
    predict_read_replay(prediction, &file, &count, &error);
    predict_read_peak(prediction, &file, &count, &error);
    predict_read_sources(prediction, &file, &count, &error);
    if (predict_estimate(prediction, &error) == PL_OK && predict_finish(prediction, &error) == PL_OK) {
        predict_print(prediction, fuzz_nowhere());
        predict_print_ranks(prediction, fuzz_nowhere());
        predict_export_json(prediction, fuzz_nowhere());
        predict_export_csv(prediction, fuzz_nowhere());
    }
    blockfile_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char BETWEEN[] = "\n----\n";
    const char *line = size ? memmem(bytes, size, BETWEEN, sizeof BETWEEN - 1) : NULL;
    if (!line)
        return 0;
    const size_t length = (size_t)(line + 1 - (const char *)bytes);
    const size_t rest = size - length - (sizeof BETWEEN - 2);
    char *text = fuzz_text(bytes, length);
    struct model model;
    struct prediction prediction = {0};
    struct pl_error error;
    if (model_read("fuzz", text, &model, &error) == PL_OK) {
        if (predict_program_make(&model, text, &prediction.program, &error) == PL_OK)
            predict_measured_add(&prediction, "fuzz", &model, NULL, &error);
        if (prediction.program.phase_count > 0)
            predict(&prediction, fuzz_file("results", bytes + size - rest, rest));
        prediction_clear(&prediction);
        model_clear(&model);
    }
    free(text);
    return 0;
}
