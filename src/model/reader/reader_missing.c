/* Stands in for src/trace/trace_read.c in trees that have no reader of traces: CMake takes it only where that file is
 * not there. Model files can then be read, but none can be made. */
#include "trace/trace_tree.h"

pl_status trace_tree_read(const char *directory, int rank, struct trace_tree *ret_tree, struct pl_error *error)
{
    (void)rank;
    (void)ret_tree;
    return pl_fail(error, PL_E_UNSUPPORTED, "'%s': this piolet was built without a reader of traces", directory);
}

void trace_tree_clear(struct trace_tree *tree)
{
    *tree = (struct trace_tree){0};
}
