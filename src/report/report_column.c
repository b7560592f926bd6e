#include "report/report_column.h"

#include <math.h>

enum { WIDE = 8, NARROW = 4 };

static void put_bytes(struct report_columns *columns, const void *bytes, size_t count)
{
    fwrite(bytes, 1, count, columns->stream);
    columns->length += (int64_t)count;
}

static bool is_narrow(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] >= 0 && values[i] <= (double)UINT32_MAX && values[i] == floor(values[i])))
            return false;
    return true;
}

void report_column_put(struct report_columns *columns, struct json *json, const char *key, const double *values,
                       size_t count)
{
    static const char PADDING[WIDE];
    const bool narrow = is_narrow(values, count);
    put_bytes(columns, PADDING, (size_t)((WIDE - columns->length % WIDE) % WIDE));
    json_numbers_begin(json, key);
    json_put_int(json, NULL, columns->length);
    json_put_int(json, NULL, (int64_t)count);
    json_put_int(json, NULL, narrow ? NARROW : WIDE);
    json_array_end(json);
    if (!narrow) {
        put_bytes(columns, values, count * sizeof *values);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t value = (uint32_t)values[i];
        put_bytes(columns, &value, sizeof value);
    }
}
