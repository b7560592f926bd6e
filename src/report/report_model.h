/* A model for the page: its words, files and phases as JSON, and its accesses as columns. */
#ifndef PIOLET_REPORT_MODEL_H
#define PIOLET_REPORT_MODEL_H

#include "report/report.h"
#include "report/report_column.h"

/* An object of the current array. */
pl_status report_model_put(const struct report_file *file, int file_number, struct json *json,
                           struct report_columns *columns, struct pl_error *error);

#endif
