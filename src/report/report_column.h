/* Columns of numbers, all in one piece of binary memory behind the JSON: 32-bit unsigned where they fit, else doubles
 * (whole numbers up to 2^53 are exact). Little-endian, as every machine that opens pages is. */
#ifndef PIOLET_REPORT_COLUMN_H
#define PIOLET_REPORT_COLUMN_H

#include "base/json.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report_columns {
    FILE *stream;   /* of open_memstream */
    int64_t length; /* bytes so far */
};

/* Appends the column, and writes where it is as [BYTE, COUNT, WIDTH] under `key`. */
void report_column_put(struct report_columns *columns, struct json *json, const char *key, const double *values,
                       size_t count);

#endif
