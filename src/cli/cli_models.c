#include "cli/cli_models.h"

#include "base/progress.h"

pl_status cli_models_each_rank(const char *directory, cli_models_take *take, void *context, struct pl_error *error)
{
    pl_status status = PL_OK;
    struct progress progress;
    progress_begin(&progress, PROGRESS_AUTO, 1, 1);
    progress_step(&progress, "reading the trace", 1);
    for (int rank = 0, size = 1; rank < size && status == PL_OK; rank++) {
        struct trace_tree tree;
        progress_part(&progress, "reading the trace", (double)rank / size);
        status = trace_tree_read(directory, rank, &tree, error);
        if (status != PL_OK)
            break;
        size = tree.size;
        status = take(context, &tree, error);
        trace_tree_clear(&tree);
    }
    return status;
}

static pl_status add_tree(void *context, const struct trace_tree *tree, struct pl_error *error)
{
    return model_builder_add(context, tree, error);
}

/* Each thing that the builder does has its own progress: nothing tells before how they compare. */
struct models_watch {
    const char *what;
    struct progress progress;
};

static void models_tell(void *context, const char *what, double part)
{
    struct models_watch *watch = context;
    if (watch->what != what) {
        progress_begin(&watch->progress, PROGRESS_AUTO, 1, 1);
        progress_step(&watch->progress, what, 1);
        watch->what = what;
    }
    progress_part(&watch->progress, what, part);
}

pl_status cli_models_of_trace(const char *directory, int64_t apart, struct model *ret_model, struct pl_error *error)
{
    struct model_builder *builder = model_builder_new();
    if (!builder)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    struct models_watch watch = {0};
    model_builder_apart(builder, apart);
    model_builder_watch(builder, models_tell, &watch);
    pl_status status = cli_models_each_rank(directory, add_tree, builder, error);
    if (status == PL_OK)
        status = model_builder_finish(builder, ret_model, error);
    model_builder_free(builder);
    return status;
}
