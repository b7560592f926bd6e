#include "fuzz_trace.h"

#include "fuzz.h"

#include "model/model.h"
#include "trace/trace_tree.h"

#include <stdlib.h>

enum { CALLS_MAX = 1000 }; /* `piolet model --dump` prints as many as there are: a few tell */

static void list_calls(const struct trace_tree *tree)
{
    struct trace_expand expand;
    struct trace_expanded call;
    trace_expand_init(&expand, tree);
    for (int i = 0; i < CALLS_MAX && trace_expand_next(&expand, &call); i++)
        fprintf(fuzz_nowhere(), "%lld %g\n", (long long)call.offset, call.duration_ns);
}

/* A model that we wrote is one that we read. */
static void read_back(const struct model *model)
{
    struct text text = {0};
    struct model again;
    struct pl_error error;
    model_write(model, true, &text);
    if (!text.failed && model_read("model", text_get(&text), &again, &error) == PL_OK)
        model_clear(&again);
    text_clear(&text);
}

void fuzz_trace(const uint8_t *bytes, size_t size)
{
    struct trace_tree tree;
    struct pl_error error;
    struct model model;
    fuzz_file("trace.0", bytes, size);
    if (trace_tree_read(fuzz_folder(), 0, &tree, &error) != PL_OK)
        return;
    list_calls(&tree);
    struct model_builder *builder = model_builder_new();
    pl_status status = PL_OK;
    tree.size = 2;
    for (tree.rank = 0; tree.rank < 2 && builder && status == PL_OK; tree.rank++)
        status = model_builder_add(builder, &tree, &error);
    if (builder && status == PL_OK && model_builder_finish(builder, &model, &error) == PL_OK) {
        read_back(&model);
        model_clear(&model);
    }
    model_builder_free(builder);
    trace_tree_clear(&tree);
}
