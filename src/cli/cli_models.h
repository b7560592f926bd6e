/* Models from traces, for the verbs that need one. */
#ifndef PIOLET_CLI_MODELS_H
#define PIOLET_CLI_MODELS_H

#include "model/model.h"

/* Gives the trees of all ranks of a trace to `take`, one after the other, so that only one is in memory. */
typedef pl_status cli_models_take(void *context, const struct trace_tree *tree, struct pl_error *error);
pl_status cli_models_each_rank(const char *directory, cli_models_take *take, void *context, struct pl_error *error);

/* The model of a trace; see model_builder_apart(). */
pl_status cli_models_of_trace(const char *directory, int64_t apart, struct model *ret_model, struct pl_error *error);

#endif
