/* Every call of a trace as a line of a table, for people. */
#ifndef PIOLET_TRACE_DUMP_H
#define PIOLET_TRACE_DUMP_H

#include "base/status.h"
#include "trace/trace_tree.h"

#include <stdio.h>

enum { TRACE_DUMP_SHORT = 4 }; /* runs of pieces that a short line has */

void trace_dump_head(FILE *stream);

/* IdP IdF operation offset tick size time duration range extents. Calls without an access have "-" for offset, size and
 * what follows from them. Times that the trace does not hold, since it is folded, have a ~ before them: they are spread
 * evenly between the first and the last call of a node, durations are the mean. Range: first byte in the file .. end;
 * extents: trace_extents_add_text() with `most`. Both are "?" where the trace does not tell the view, and "-" where
 * only the MPI-IO knows the place (shared pointers). */
pl_status trace_dump(const struct trace_tree *tree, int most, FILE *stream, struct pl_error *error);

#endif
