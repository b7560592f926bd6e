/* Inside of reading trace files: for the files trace_read*.c only. */
#ifndef PIOLET_TRACE_READ_H
#define PIOLET_TRACE_READ_H

#include "trace/trace_tree.h"

#include <stddef.h>

/* A trace file in memory, behind its head. */
struct trace_read {
    const char *bytes;
    size_t length;
    size_t at;      /* behind the head */
    size_t records; /* of a folded one: where they begin */
    struct trace_tree *tree;
    struct pl_error *error;
};

/* The next line from `at` on, without its end; NULL: no whole line is left. */
const char *trace_read_line(struct trace_read *read, size_t *ret_length);
/* Whether the lines from `from` to before `to` are what an end-… line says of them. */
bool trace_read_is_whole(const struct trace_read *read, size_t from, size_t to, const char *end_line);

pl_status trace_read_text(struct trace_read *read);
pl_status trace_read_folded(struct trace_read *read);

#endif
