/* Every call of a trace as a line of a table, as in Figure 2 of the document. Pure but
 * for the stream. */
#ifndef PIOLET_MODEL_DUMP_H
#define PIOLET_MODEL_DUMP_H

#include "trace/trace_tree.h"

#include <stdio.h>

void model_dump_head(FILE *stream);
/* IdP IdF operation offset tick size time duration. Calls without an access have no offset and size: "-". In a folded
 * trace single times are not kept: time is spread evenly between first and last, and duration is the mean. */
void model_dump(const struct trace_tree *tree, FILE *stream);

#endif
