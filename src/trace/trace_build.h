/* The tree of the records in an arena. Trusts nothing: the records may come from a damaged file. */
#ifndef PIOLET_TRACE_BUILD_H
#define PIOLET_TRACE_BUILD_H

#include "trace/trace_record.h"
#include "trace/trace_tree.h"

struct trace_records {
    const uint64_t *words;
    size_t count;
    const struct trace_control *control;
};

/* Files, details, nodes, calls and `complete` of the tree; the head of the file is its reader's. What there is of
 * `ret_tree` before is left alone; trace_tree_clear() frees what was made, after a failure as well. Texts of the tree
 * are those of the records, which must live as long as it does. */
pl_status trace_build(const struct trace_records *records, struct trace_tree *ret_tree, struct pl_error *error);

/* Memory that goes with the tree. Zeroed; NULL: there is none. */
void *trace_build_memory(struct trace_tree *tree, size_t count, size_t bytes);
char *trace_build_text(struct trace_tree *tree, const char *text, size_t length);

#endif
