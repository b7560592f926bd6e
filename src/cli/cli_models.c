#include "cli/cli_models.h"

#include <errno.h>
#include <stdio.h>

static pl_status read_whole(const char *path, struct text *text, struct pl_error *error)
{
    char buffer[65536];
    size_t length;
    FILE *stream = fopen(path, "re");
    if (!stream)
        return pl_fail_errno(error, errno, "cannot read '%s'", path);
    while ((length = fread(buffer, 1, sizeof buffer, stream)) > 0)
        text_append(text, buffer, length);
    const int why = ferror(stream) ? errno : 0;
    fclose(stream);
    if (why)
        return pl_fail_errno(error, why, "cannot read '%s'", path);
    return text->failed ? pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", path) : PL_OK;
}

pl_status cli_models_read(const char *path, struct model *ret_model, struct text *ret_text, struct pl_error *error)
{
    struct text text = {0};
    pl_status status = read_whole(path, &text, error);
    if (status == PL_OK)
        status = model_read(path, text_get(&text), ret_model, error);
    if (status == PL_OK && ret_text)
        *ret_text = text;
    else
        text_clear(&text);
    return status;
}

pl_status cli_models_each_rank(const char *directory, cli_models_take *take, void *context, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int rank = 0, size = 1; rank < size && status == PL_OK; rank++) {
        struct trace_tree tree;
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

pl_status cli_models_of_trace(const char *directory, struct model *ret_model, struct pl_error *error)
{
    struct model_builder *builder = model_builder_new();
    if (!builder)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    pl_status status = cli_models_each_rank(directory, add_tree, builder, error);
    if (status == PL_OK)
        status = model_builder_finish(builder, ret_model, error);
    model_builder_free(builder);
    return status;
}
