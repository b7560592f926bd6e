/* Rates of the low-level tests as a user sees them: from the first write until the data are on the device. */
#include "base/blockfile.h"
#include "base/units.h"
#include "cli/survey.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one set ---- */

static double number_of(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    double number;
    return text && units_parse_number(text, &number) ? number : 0;
}

static void add_up(void *context, int64_t first, const int64_t *values, size_t count)
{
    double *sum = context;
    (void)first;
    for (size_t i = 0; i < count; i++)
        *sum += (double)values[i];
}

static double sync_ns(const struct blockfile_set *set, int rank)
{
    for (size_t i = 0; i < set->time_count; i++)
        if (set->times[i].rank == rank && strcmp(set->times[i].key, "sync_time") == 0)
            return (double)set->times[i].nanoseconds;
    return 0;
}

/* Time of the slowest rank in its operations `key`; 0: there are none. */
static pl_status slowest_ns(struct blockfile *file, const struct blockfile_set *set, const char *key, double *ret_ns,
                            struct pl_error *error)
{
    pl_status status = PL_OK;
    *ret_ns = 0;
    for (size_t i = 0; i < set->series_count && status == PL_OK; i++) {
        const struct blockfile_series *series = &set->series[i];
        double sum = 0;
        if (strcmp(series->key, key) != 0)
            continue;
        status = blockfile_stream(file, series, add_up, &sum, error);
        *ret_ns = fmax(*ret_ns, sum + (key[0] == 'w' ? sync_ns(set, series->rank) : 0));
    }
    return status;
}

static double rate_of(double bytes, double ns)
{
    return ns > 0 && bytes > 0 ? units_rate_mb_per_s(bytes, ns) : NAN;
}

static pl_status measure(struct blockfile *file, const struct blockfile_set *set, struct survey_rate *ret_rate,
                         struct pl_error *error)
{
    const double bytes = number_of(set, "filesize_bytes"); /* without the tail that was left out */
    double write = 0, read = 0;
    *ret_rate = (struct survey_rate){.file_bytes = bytes + number_of(set, "tail_bytes"),
                                     .block_bytes = number_of(set, "blocksize_bytes"),
                                     .write = NAN,
                                     .read = NAN,
                                     .repetitions = 1,
                                     .failed = set->error_count > 0};
    if (ret_rate->failed)
        return PL_OK;
    pl_status status = slowest_ns(file, set, "w", &write, error);
    if (status == PL_OK)
        status = slowest_ns(file, set, "r", &read, error);
    ret_rate->write = rate_of(bytes, write);
    ret_rate->read = rate_of(bytes, read);
    return status;
}

/* ---- all sets of a block ---- */

static int by_size(const void *a, const void *b)
{
    const struct survey_rate *x = a, *y = b;
    if (x->file_bytes != y->file_bytes)
        return x->file_bytes < y->file_bytes ? -1 : 1;
    return (x->block_bytes > y->block_bytes) - (x->block_bytes < y->block_bytes);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const struct survey_rate *list, size_t count, bool write, double *room)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double rate = write ? list[i].write : list[i].read;
        if (!isnan(rate))
            room[found++] = rate;
    }
    qsort(room, found, sizeof *room, ascending);
    return found ? (room[found / 2] + room[(found - 1) / 2]) / 2 : NAN;
}

static void join_repetitions(struct survey_rates *rates, double *room)
{
    size_t kept = 0;
    if (rates->count)
        qsort(rates->list, rates->count, sizeof *rates->list, by_size);
    for (size_t first = 0, end; first < rates->count; first = end) {
        const struct survey_rate *from = &rates->list[first];
        struct survey_rate joined = *from;
        for (end = first + 1; end < rates->count && by_size(from, &rates->list[end]) == 0; end++)
            joined.failed += rates->list[end].failed;
        joined.repetitions = (int)(end - first);
        joined.write = median(from, end - first, true, room);
        joined.read = median(from, end - first, false, room);
        rates->list[kept++] = joined;
    }
    rates->count = kept;
}

pl_status survey_rates_of(struct blockfile *file, size_t block, struct survey_rates *ret_rates, struct pl_error *error)
{
    const struct blockfile_block *from = &file->blocks[block];
    struct survey_rates rates = {.list = calloc(from->set_count + 1, sizeof *rates.list)};
    double *room = calloc(from->set_count + 1, sizeof *room);
    pl_status status = rates.list && room
                           ? PL_OK
                           : pl_fail(error, PL_E_NOMEM, "not enough memory for the rates of '%s'", file->path);
    for (size_t i = 0; i < from->set_count && status == PL_OK; i++)
        status = measure(file, &from->sets[i], &rates.list[rates.count++], error);
    if (status == PL_OK) {
        join_repetitions(&rates, room);
        *ret_rates = rates;
    } else {
        free(rates.list);
    }
    free(room);
    return status;
}

void survey_rates_clear(struct survey_rates *rates)
{
    free(rates->list);
    *rates = (struct survey_rates){0};
}
