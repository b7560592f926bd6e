/* Rates of the low-level tests as a user sees them: from the first write until the data are on the device. */
#include "base/blockfile.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "bench/bench.h"
#include "survey/survey.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one set: a row of the document that the benchmark makes of the block ---- */

static const struct result_table *survey_rates_table(const struct result *result)
{
    for (size_t i = 0; i < result->root.item_count; i++)
        if (result->root.items[i].type == RESULT_ITEM_TABLE && strcmp(result->root.items[i].key, "sets") == 0)
            return &result->root.items[i].table;
    return NULL;
}

/* NaN: empty. */
static double survey_rates_cell(const struct result_table *table, size_t row, const char *key)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].key, key) == 0) {
            const struct result_cell *cell = &table->cells[row * table->column_count + c];
            return cell->type == RESULT_CELL_NUMBER ? cell->number : NAN;
        }
    return NAN;
}

/* Writing as a user sees it: with the sync behind it. */
static struct survey_rate survey_rates_row(const struct result_table *table, size_t row,
                                           const struct blockfile_set *set)
{
    return (struct survey_rate){.file_bytes = survey_rates_cell(table, row, "file_bytes"),
                                .block_bytes = survey_rates_cell(table, row, "block_bytes"),
                                .write = survey_rates_cell(table, row, "write_sync_mb_per_s"),
                                .read = survey_rates_cell(table, row, "read_mb_per_s"),
                                .repetitions = 1,
                                .failed = set->error_count > 0};
}

/* ---- all sets of a block ---- */

static int by_size(const void *a, const void *b)
{
    const struct survey_rate *x = a, *y = b;
    if (x->file_bytes != y->file_bytes)
        return x->file_bytes < y->file_bytes ? -1 : 1;
    return (x->block_bytes > y->block_bytes) - (x->block_bytes < y->block_bytes);
}

static double survey_repeated(const struct survey_rate *list, size_t count, bool write, double *room)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double rate = write ? list[i].write : list[i].read;
        if (!isnan(rate))
            room[found++] = rate;
    }
    statistics_sort(room, found);
    return statistics_median(room, found, sizeof *room);
}

static void join_repetitions(struct survey_rates *rates, double *room)
{
    size_t kept = 0, joined_count = 0;
    if (rates->count)
        qsort(rates->list, rates->count, sizeof *rates->list, by_size);
    for (size_t first = 0, end; first < rates->count; first = end) {
        const struct survey_rate *from = &rates->list[first];
        struct survey_rate joined = *from;
        for (end = first + 1; end < rates->count && by_size(from, &rates->list[end]) == 0; end++)
            joined.failed += rates->list[end].failed;
        joined.repetitions = (int)(end - first);
        joined.write = survey_repeated(from, end - first, true, room);
        joined.read = survey_repeated(from, end - first, false, room);
        joined_count += (size_t)joined.repetitions;
        assert(joined.failed <= joined.repetitions);
        rates->list[kept++] = joined;
    }
    assert(joined_count == rates->count); /* each is in one */
    rates->count = kept;
}

pl_status survey_rates_of(struct blockfile *file, size_t block, struct survey_rates *ret_rates, struct pl_error *error)
{
    const struct blockfile_block *from = &file->blocks[block];
    struct result *result;
    const pl_status status = bench_results_of(file, block, &result, error);
    if (status != PL_OK)
        return status;
    const struct result_table *table = survey_rates_table(result);
    struct survey_rates rates = {.list = memory_new(from->set_count + 1, sizeof *rates.list)};
    double *room = memory_new(from->set_count + 1, sizeof *room);
    assert(!table || table->row_count == from->set_count); /* a row for each set */
    for (size_t i = 0; table && i < from->set_count; i++)
        rates.list[rates.count++] = survey_rates_row(table, i, &from->sets[i]);
    join_repetitions(&rates, room);
    *ret_rates = rates;
    free(room);
    result_free(result);
    return PL_OK;
}

void survey_rates_clear(struct survey_rates *rates)
{
    free(rates->list);
    *rates = (struct survey_rates){0};
}
