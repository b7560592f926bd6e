#include "bench/beffio/beffio_result.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} FIELDS[BEFFIO_FIELDS] = {
#define FIELD(name)                                                                                                    \
    {                                                                                                                  \
#name, offsetof(struct beffio_result, name)                                                                    \
    }
    FIELD(chunk_bytes), FIELD(call_bytes),    FIELD(calls),        FIELD(planned),  FIELD(bytes),
    FIELD(start_bytes), FIELD(segment_bytes), FIELD(scheduled_ns), FIELD(time_ns),  FIELD(sync_ns),
    FIELD(decide_ns),   FIELD(open_ns),       FIELD(position_ns),  FIELD(close_ns),
#undef FIELD
};

const char *beffio_field_name(int field)
{
    return FIELDS[field].name;
}

int64_t beffio_field(const struct beffio_result *result, int field)
{
    int64_t value;
    memcpy(&value, (const char *)result + FIELDS[field].offset, sizeof value);
    return value;
}

void beffio_result_write(const struct beffio_result *result, struct blockfile_writer *writer)
{
    blockfile_param(writer, "partition", "%d", result->partition);
    blockfile_param(writer, "method", "%s", beffio_method_name((enum beffio_method)result->method));
    blockfile_param(writer, "type", "%d", BEFFIO_TABLE[result->pattern].type);
    blockfile_param(writer, "pattern", "%d", result->pattern);
    blockfile_param(writer, "units", "%d", BEFFIO_TABLE[result->pattern].units);
    for (int i = 0; i < BEFFIO_FIELDS; i++)
        blockfile_param(writer, FIELDS[i].name, "%" PRId64, beffio_field(result, i));
    blockfile_param(writer, "decisions", "%d", result->decisions);
}

static bool number_of(const struct blockfile_set *set, const char *key, int64_t most, int64_t *ret_number)
{
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, 0, most, ret_number);
}

bool beffio_result_read(const struct blockfile_set *set, int path, struct beffio_result *ret_result)
{
    struct beffio_result result = {.path = path, .failed = set->error_count > 0};
    const char *method = blockfile_param_of(set, "method");
    int64_t partition, pattern, decisions;
    if (!method || !number_of(set, "partition", INT32_MAX, &partition) ||
        !number_of(set, "pattern", BEFFIO_PATTERNS_ALL - 1, &pattern) ||
        !number_of(set, "decisions", INT32_MAX, &decisions))
        return false;
    while (result.method < BEFFIO_METHODS && strcmp(method, beffio_method_name((enum beffio_method)result.method)) != 0)
        result.method++;
    if (result.method == BEFFIO_METHODS)
        return false;
    for (int i = 0; i < BEFFIO_FIELDS; i++) {
        int64_t value;
        if (!number_of(set, FIELDS[i].name, INT64_MAX, &value))
            return false;
        memcpy((char *)&result + FIELDS[i].offset, &value, sizeof value);
    }
    result.partition = (int32_t)partition;
    result.pattern = (int32_t)pattern;
    result.decisions = (int32_t)decisions;
    *ret_result = result;
    return true;
}

/* ---- lists ---- */

bool beffio_results_add(struct beffio_results *results, const struct beffio_result *result)
{
    struct beffio_result *grown = realloc(results->list, (results->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    results->list = grown;
    results->list[results->count++] = *result;
    return true;
}

void beffio_results_clear(struct beffio_results *results)
{
    free(results->list);
    *results = (struct beffio_results){0};
}

const struct beffio_result *beffio_results_find(const struct beffio_results *results, int path, int partition,
                                                enum beffio_method method, int pattern)
{
    for (size_t i = results->count; i-- > 0;) {
        const struct beffio_result *result = &results->list[i];
        if (result->path == path && result->partition == partition && result->method == (int32_t)method &&
            result->pattern == pattern)
            return result;
    }
    return NULL;
}

bool beffio_results_load(struct beffio_results *results, const struct blockfile *file, const char *run)
{
    for (size_t b = 0; b < file->block_count; b++) {
        const struct blockfile_block *block = &file->blocks[b];
        const char *id = blockfile_fact_of(block, "run"), *path = blockfile_fact_of(block, "path_number");
        int64_t number;
        if (strcmp(block->class_name, BEFFIO_CLASS) != 0 || !id || strcmp(id, run) != 0 || !path ||
            !units_parse_int(path, 1, INT32_MAX, &number))
            continue;
        for (size_t s = 0; s < block->set_count; s++) {
            struct beffio_result result;
            if (beffio_result_read(&block->sets[s], (int)number - 1, &result) && !beffio_results_add(results, &result))
                return false;
        }
    }
    return true;
}

/* ---- what follows from them ---- */

bool beffio_type_failed(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                        int type)
{
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_result *result = beffio_results_find(results, path, partition, method, p);
        if (result && result->failed)
            return true;
    }
    return false;
}

bool beffio_type_total(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                       int type, double *ret_bytes, double *ret_s)
{
    *ret_bytes = *ret_s = 0;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_result *result = beffio_results_find(results, path, partition, method, p);
        if (!result || result->failed)
            return false;
        *ret_bytes += (double)result->bytes;
        *ret_s += (double)(result->open_ns + result->position_ns + result->time_ns + result->close_ns) * 1e-9;
    }
    return *ret_s > 0;
}

void beffio_rates_of(const struct beffio_results *results, int path, int partition, struct beffio_rates *ret_rates)
{
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
            double bytes, seconds;
            const bool known = beffio_type_total(results, path, partition, (enum beffio_method)method, type, &bytes,
                                                 &seconds);
            ret_rates->type[method][type] = known ? bytes / seconds / 1e6 : NAN;
        }
}

void beffio_measured_of(const struct beffio_results *results, int path, int partition,
                        struct beffio_measured *ret_measured)
{
    for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++) {
        const struct beffio_result *result = beffio_results_find(results, path, partition, BEFFIO_WRITE, p);
        ret_measured->process_bytes[p] = result && !result->failed ? result->bytes / partition : -1;
    }
}
