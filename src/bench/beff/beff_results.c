/* From a block to the table of its measurements. */
#include "bench/beff/beff_results.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool beff_is_beff(const struct blockfile_block *block)
{
    return strcmp(block->class_name, "Beff") == 0 && strcmp(block->testname, "b_eff") == 0;
}

void beff_results_clear(struct beff_results *results)
{
    free(results->rows);
    *results = (struct beff_results){0};
}

double beff_fact(const struct beff_results *results, const char *key, double otherwise)
{
    const char *text = blockfile_fact_of(results->block, key);
    double value;
    return text && units_parse_number(text, &value) ? value : otherwise;
}

/* ---- parameters ---- */

static bool param_int(const struct blockfile_set *set, const char *key, int64_t *ret_value)
{
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, 1, INT64_MAX, ret_value);
}

static pl_status bad_set(const struct blockfile_set *set, const char *what, struct pl_error *error)
{
    return pl_fail(error, PL_E_FORMAT, "set %" PRId64 ": %s", set->number, what);
}

/* ---- rows and columns ---- */

static pl_status add_length(struct beff_results *results, int64_t length, struct pl_error *error)
{
    int at = results->length_count;
    for (int i = 0; i < results->length_count; i++)
        if (results->lengths[i] == length)
            return PL_OK;
    if (at == BEFF_LENGTHS)
        return pl_fail(error, PL_E_FORMAT, "more than %d message lengths", BEFF_LENGTHS);
    for (; at > 0 && results->lengths[at - 1] > length; at--)
        results->lengths[at] = results->lengths[at - 1];
    results->lengths[at] = length;
    results->length_count++;
    return PL_OK;
}

static int length_index(const struct beff_results *results, int64_t length)
{
    int i = 0;
    while (results->lengths[i] != length)
        i++;
    return i;
}

static struct beff_row *row_for(struct beff_results *results, struct beff_pattern pattern)
{
    for (size_t i = results->row_count; i > 0; i--)
        if (results->rows[i - 1].pattern.kind == pattern.kind && results->rows[i - 1].pattern.number == pattern.number)
            return &results->rows[i - 1];
    const size_t count = results->row_count;
    if ((count & (count - 1)) == 0) { /* the capacity is the next power of two */
        struct beff_row *rows = realloc(results->rows, (count ? 2 * count : 1) * sizeof *rows);
        if (!rows)
            return NULL;
        results->rows = rows;
    }
    struct beff_row *row = &results->rows[results->row_count++];
    *row = (struct beff_row){.pattern = pattern};
    return row;
}

/* ---- numbers ---- */

static void take_times(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct beff_cell *cell = context;
    for (size_t i = 0; i < count && first + (int64_t)i < BEFF_REPETITIONS_MAX; i++)
        if (values[i] > 0)
            cell->times_ns[cell->count++] = values[i];
}

static pl_status read_method(struct blockfile *file, const struct blockfile_set *set, int m, struct beff_cell *cell,
                             struct pl_error *error)
{
    char key[BEFF_NAME_MAX];
    snprintf(key, sizeof key, "%s_loops", BEFF_METHOD_TABLE[m].name);
    for (size_t i = 0; i < set->series_count; i++) {
        if (strcmp(set->series[i].key, BEFF_METHOD_TABLE[m].name) != 0)
            continue;
        if (!param_int(set, key, &cell->loops))
            return bad_set(set, "a method without its loop length", error);
        cell->count = 0;
        return blockfile_stream(file, &set->series[i], take_times, cell, error);
    }
    return PL_OK;
}

static pl_status read_set(struct blockfile *file, const struct blockfile_set *set, struct beff_results *results,
                          struct pl_error *error)
{
    struct beff_pattern pattern;
    int64_t length, messages;
    const char *name = blockfile_param_of(set, "pattern");
    if (!name || !beff_pattern_parse(name, &pattern))
        return bad_set(set, "no known pattern", error);
    if (!param_int(set, "length_bytes", &length) || !param_int(set, "messages", &messages))
        return bad_set(set, "no message length or number of messages", error);
    pl_status status = PL_OK;
    struct beff_row *row = row_for(results, pattern);
    if (!row)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for %zu patterns", results->row_count);
    row->messages = messages;
    for (int m = 0; m < BEFF_METHODS && status == PL_OK && set->error_count == 0; m++)
        status = read_method(file, set, m, &row->cells[length_index(results, length)][m], error);
    results->failed += set->error_count > 0;
    return status;
}

pl_status beff_results_read(struct blockfile *file, const struct blockfile_block *block,
                            struct beff_results *ret_results, struct pl_error *error)
{
    struct beff_results results = {.block = block, .path = file->path};
    int64_t nprocs = 0, length;
    const char *text = blockfile_fact_of(block, "nprocs");
    if (!text || !units_parse_int(text, 2, INT32_MAX, &nprocs))
        return pl_fail(error, PL_E_FORMAT, "'%s', line %" PRId64 ": a block of b_eff without its number of processes",
                       file->path, block->line);
    results.nprocs = (int)nprocs;
    pl_status status = PL_OK;
    for (size_t i = 0; i < block->set_count && status == PL_OK; i++)
        if (param_int(&block->sets[i], "length_bytes", &length))
            status = add_length(&results, length, error);
    for (size_t i = 0; i < block->set_count && status == PL_OK; i++)
        status = read_set(file, &block->sets[i], &results, error);
    if (status != PL_OK) {
        beff_results_clear(&results);
        return pl_within(error, "'%s', block of line %" PRId64, file->path, block->line);
    }
    *ret_results = results;
    return PL_OK;
}
