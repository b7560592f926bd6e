/* A model file: read, told in words, drawn, written, expanded. */
/* proves: PHASE-6
 * Fails when a model file crashes its reader or what follows from it. */
#include "fuzz.h"

#include "model/model.h"

#include <stdlib.h>

enum { EVENTS_MAX = 1000 }; /* of each rank: `piolet model --expand` prints all, a few tell */

static bool take_event(void *context, const struct model_event *event)
{
    int *left = context;
    struct text text = {0};
    struct pl_error error;
    if (event->step->name && model_render(event->step->name, event->rank, event->n, &text, &error) == PL_OK)
        fputs(text_get(&text), fuzz_nowhere());
    text_clear(&text);
    return --*left > 0;
}

static void use(const struct model *model)
{
    struct text text = {0};
    struct pl_error error;
    char plot[320];
    snprintf(plot, sizeof plot, "%s/model.svg", fuzz_folder());
    model_words(model, &text);
    model_write(model, true, &text);
    model_diff(model, model, true, &text);
    text_clear(&text);
    model_plot(model, plot, &error);
    for (int64_t rank = 0; rank < model->ranks; rank = rank ? model->ranks : model->ranks - 1 + (model->ranks == 1)) {
        int left = EVENTS_MAX;
        model_expand(model, rank, take_event, &left, &error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size);
    struct model model;
    struct pl_error error;
    if (model_read("fuzz", text, &model, &error) == PL_OK) {
        use(&model);
        model_clear(&model);
    }
    free(text);
    return 0;
}
