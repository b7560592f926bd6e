/* Results of the test suite: the rates of each set, by the definitions that the run's own rows have. */
#include "bench/iot/iot_bench.h"

#include "base/memory.h"
#include "base/units.h"
#include "bench/iot/iot_kernel.h"
#include "lab/result/analysis_rows.h"
#include "lab/result/settings.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- definitions ---- */

const struct iot_rate_rule IOT_RATE_RULES[IOT_RATES] = {
    [IOT_WRITE] = {.series = {"w"}, .time = "write"},
    [IOT_READ] = {.series = {"r"}, .time = "read"},
    [IOT_UPDATE] = {.series = {"u"}},
    [IOT_WRITE_SYNC] = {.series = {"w"}, .added = "sync_time", .time = "write"},
    [IOT_WRITE_CYCLE] = {.series = {"wI", "wtI", "wwI"}},
    [IOT_READ_CYCLE] = {.series = {"rI", "rtI", "rwI"}},
};

const struct quantity_kind IOT_RATE_KINDS[IOT_RATES] = {
    [IOT_WRITE] = {"write rate", "MB/s", RESULT_RATE_MADE, false},
    [IOT_READ] = {"read rate", "MB/s", RESULT_RATE_MADE, false},
    [IOT_UPDATE] = {"update rate", "MB/s", RESULT_RATE_MADE, false},
    [IOT_WRITE_SYNC] = {"write rate, with sync", "MB/s", RESULT_RATE_MADE ", MPI_File_sync behind them included",
                        false},
    [IOT_WRITE_CYCLE] = {"write rate of cycles", "MB/s", RESULT_RATE_MADE ", the task between start and end included",
                         false},
    [IOT_READ_CYCLE] = {"read rate of cycles", "MB/s", RESULT_RATE_MADE ", the task between start and end included",
                        false},
};

static const struct quantity_kind OTHER_RATE = {NULL, "MB/s", RESULT_RATE_MADE, false};
static const struct quantity_kind CYCLES[] = {
    {"writing cycle", "ms", "mean of start, task and wait", true},
    {"reading cycle", "ms", "mean of start, task and wait", true},
};

/* The rate that a series or single time of this key is known by; IOT_RATES: by its key. */
static enum iot_rate iot_rate_of_key(const char *key)
{
    static const struct {
        const char *key;
        enum iot_rate rate;
    } keys[] = {
        {"w", IOT_WRITE}, {"write", IOT_WRITE}, {"r", IOT_READ}, {"read", IOT_READ}, {"u", IOT_UPDATE},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i].key) == 0)
            return keys[i].rate;
    return IOT_RATES;
}

static void iot_quantity_of_key(struct result *result, const struct blockfile_block *block, const char *key,
                                const char *settings, const struct result_rate *value)
{
    const enum iot_rate rate = iot_rate_of_key(key);
    char name[64];
    snprintf(name, sizeof name, "rate of %.40s", key);
    result_quantity_rate(result, block, rate < IOT_RATES ? &IOT_RATE_KINDS[rate] : &OTHER_RATE,
                         rate < IOT_RATES ? NULL : name, settings, value);
}

/* ---- rates of a set in a block file ---- */

static const struct analysis_op_times *iot_op_of(const struct analysis_rows *rows, const char *key)
{
    for (size_t i = 0; key && i < rows->op_count; i++)
        if (rows->ops[i].n > 0 && strcmp(rows->rows[rows->ops[i].first].series->key, key) == 0)
            return &rows->ops[i];
    return NULL;
}

static double iot_rank_time_ns(const struct blockfile_set *set, int rank, const char *key)
{
    double sum = 0;
    for (size_t i = 0; key && i < set->time_count; i++)
        if (set->times[i].rank == rank && strcmp(set->times[i].key, key) == 0)
            sum += (double)set->times[i].nanoseconds;
    return sum;
}

/* By series: the time of each rank that moved data is the sum of the rule's series. */
static double iot_longest_of_series(const struct iot_rate_rule *rule, const struct blockfile_set *set,
                                    const struct analysis_rows *rows, double *ret_bytes)
{
    const struct analysis_op_times *moving = iot_op_of(rows, rule->series[0]);
    const double block_bytes = kernel_param_number(set, "blocksize_bytes");
    double longest = 0;
    *ret_bytes = 0;
    for (size_t i = moving->first; i < moving->end; i++) {
        const struct analysis_row *row = &rows->rows[i];
        double time = row->times.n ? iot_rank_time_ns(set, row->series->rank, rule->added) : 0;
        for (size_t s = 0; s < sizeof rule->series / sizeof rule->series[0]; s++) {
            const struct analysis_op_times *op = iot_op_of(rows, rule->series[s]);
            for (size_t k = op ? op->first : 0; op && k < op->end; k++)
                time += rows->rows[k].series->rank == row->series->rank ? rows->rows[k].times.sum : 0;
        }
        longest = fmax(longest, time);
        *ret_bytes += row->has_bytes ? row->bytes : (double)row->times.n * block_bytes;
    }
    return longest;
}

/* By single times of each rank: all of the file. */
static double iot_longest_of_times(const struct iot_rate_rule *rule, const struct blockfile_set *set, double *ret_bytes)
{
    double longest = 0;
    for (size_t i = 0; rule->time && i < set->time_count; i++)
        if (strcmp(set->times[i].key, rule->time) == 0)
            longest = fmax(longest, iot_rank_time_ns(set, set->times[i].rank, rule->time) +
                                        iot_rank_time_ns(set, set->times[i].rank, rule->added));
    *ret_bytes = longest > 0 ? kernel_single_bytes(set, rule->time) : NAN;
    return longest;
}

static const struct analysis_estimate NO_RATE = {NAN, NAN};

static pl_status iot_rate_in_file(const struct analysis_request *request, enum iot_rate rate,
                                  const struct analysis_chosen *chosen, const struct analysis_rows *rows,
                                  struct result_rate *ret_rate, struct pl_error *error)
{
    const struct iot_rate_rule *rule = &IOT_RATE_RULES[rate];
    const struct blockfile_set *set = chosen->set;
    const struct analysis_op_times *op = iot_op_of(rows, rule->series[0]);
    struct analysis_op_rate estimate;
    *ret_rate = (struct result_rate){NO_RATE, NO_RATE, true, NAN};
    if (rate == IOT_WRITE_SYNC && iot_rank_time_ns(set, 0, rule->added) <= 0)
        return PL_OK;
    if (op && !rule->added && !rule->series[1]) { /* with its error */
        if (analysis_op_rate(rows, op->first, op->end, &estimate))
            *ret_rate = (struct result_rate){estimate.rate, estimate.call_rate, estimate.by_calls, estimate.span_rate};
        return PL_OK;
    }
    const char *const keys[] = {rule->series[0], rule->series[1], rule->series[2], op ? NULL : rule->time, rule->added};
    struct analysis_request region = *request;
    struct analysis_time time;
    double bytes;
    const double longest = op ? iot_longest_of_series(rule, set, rows, &bytes)
                              : iot_longest_of_times(rule, set, &bytes);
    if (!(longest > 0))
        return PL_OK;
    region.skip = op ? rows->rows[op->first].times.region.skip : 0; /* of --skip auto too */
    const pl_status status = analysis_busy_of(&region, chosen, keys, sizeof keys / sizeof keys[0], &time, error);
    ret_rate->call_rate.value = units_rate_mb_per_s(bytes, longest);
    ret_rate->by_calls = isnan(time.busy_ns);
    ret_rate->rate.value = ret_rate->by_calls ? ret_rate->call_rate.value : units_rate_mb_per_s(bytes, time.busy_ns);
    ret_rate->span_rate = ret_rate->by_calls ? NAN : units_rate_mb_per_s(bytes, time.span_ns);
    return status;
}

pl_status iot_rate_of_set(const struct analysis_chosen *chosen, enum iot_rate rate, struct result_rate *ret_rate,
                          struct pl_error *error)
{
    const struct analysis_request all = {.to = INT64_MAX};
    struct analysis_rows rows;
    *ret_rate = (struct result_rate){NO_RATE, NO_RATE, true, NAN};
    if (chosen->set->error_count)
        return PL_OK;
    if (analysis_rows_build(&all, chosen, &rows, error) != PL_OK)
        return error->status;
    const pl_status status = iot_rate_in_file(&all, rate, chosen, &rows, ret_rate, error);
    analysis_rows_clear(&rows);
    return status;
}

/* ---- the table ---- */

static const struct result_column COLUMNS[] = {
    {.key = "block", .form = RESULT_INT, .hidden = true},
    {.key = "set", .form = RESULT_INT},
    {.key = "test", .form = RESULT_TEXT},
    {.key = "access", .form = RESULT_TEXT},
    {.key = "sizes", .form = RESULT_TEXT},
    {.key = "file_bytes", .form = RESULT_NUMBER, .hidden = true}, /* as asked for, with what was left out */
    {.key = "block_bytes", .form = RESULT_NUMBER, .hidden = true},
    {.key = "write_mb_per_s", .label = "write", .form = RESULT_RATE, .error = true},
    {.key = "read_mb_per_s", .label = "read", .form = RESULT_RATE, .error = true},
    {.key = "update_mb_per_s", .label = "update", .form = RESULT_RATE, .hidden = true},
    {.key = "write_sync_mb_per_s", .label = "write, with sync", .form = RESULT_RATE},
    {.key = "write_cycle_mb_per_s", .label = "write, cycles", .form = RESULT_RATE, .hidden = true},
    {.key = "read_cycle_mb_per_s", .label = "read, cycles", .form = RESULT_RATE, .hidden = true},
    {.key = "write_call_mb_per_s", .label = "write, by calls", .form = RESULT_RATE},
    {.key = "read_call_mb_per_s", .label = "read, by calls", .form = RESULT_RATE},
    {.key = "failure", .form = RESULT_TEXT, .hidden = true},
    {.key = "write_span_mb_per_s", .label = "write, start to end", .form = RESULT_RATE},
    {.key = "read_span_mb_per_s", .label = "read, start to end", .form = RESULT_RATE},
    {0}};

static const struct iot_test *iot_test_named(const char *name)
{
    for (const struct iot_class *class = IOT_CLASSES; class->name; class ++)
        for (const struct iot_test *const *test = class->tests; *test; test++)
            if (strcmp((*test)->name, name) == 0)
                return *test;
    return NULL;
}

static const char *iot_access_in_file(const struct analysis_chosen *chosen)
{
    const char *collective = blockfile_param_of(chosen->set, "collective");
    const struct iot_test *test = iot_test_named(chosen->block->testname);
    if (collective)
        return strcmp(collective, "true") == 0 ? "collective" : "independent";
    return test ? test->access : NULL;
}

static void iot_put_row(struct result *result, const struct analysis_chosen *chosen,
                        const struct result_rate rates[IOT_RATES])
{
    const struct blockfile_set *set = chosen->set;
    struct text sizes = {0};
    result_row(result);
    result_put_int(result, chosen->block_number);
    result_put_int(result, set->number);
    result_put_text(result, chosen->block->testname);
    result_put_text(result, iot_access_in_file(chosen));
    settings_of_keys(set, (const char *const[]){"filesize_bytes", "blocksize_bytes", NULL}, &sizes);
    result_put_text(result, sizes.length ? text_get(&sizes) : NULL);
    result_put_number(result, kernel_size_bytes(set));
    result_put_number(result, kernel_param_number(set, "blocksize_bytes"));
    result_put_estimate(result, rates[IOT_WRITE].rate);
    result_put_estimate(result, rates[IOT_READ].rate);
    result_put_number(result, rates[IOT_UPDATE].rate.value);
    result_put_number(result, rates[IOT_WRITE_SYNC].rate.value);
    result_put_number(result, rates[IOT_WRITE_CYCLE].rate.value);
    result_put_number(result, rates[IOT_READ_CYCLE].rate.value);
    result_put_number(result, rates[IOT_WRITE].call_rate.value);
    result_put_number(result, rates[IOT_READ].call_rate.value);
    result_put_text(result, set->error_count ? set->errors[0].text : NULL);
    result_put_number(result, rates[IOT_WRITE].span_rate);
    result_put_number(result, rates[IOT_READ].span_rate);
    text_clear(&sizes);
}

/* ---- quantities ---- */

/* Of low-level tests: each operation that has a rate, whole cycles, and what is defined besides. */
static void iot_add_lowlevel(struct result *result, const struct analysis_chosen *chosen,
                             const struct analysis_rows *rows, const struct result_rate rates[IOT_RATES])
{
    struct text settings = {0};
    settings_of_set(chosen->set, NULL, &settings);
    for (size_t i = 0; i < rows->op_count; i++) {
        struct analysis_op_rate rate;
        const struct analysis_op_times *op = &rows->ops[i];
        if (!analysis_op_rate(rows, op->first, op->end, &rate))
            continue;
        const struct result_rate both = {rate.rate, rate.call_rate, rate.by_calls, rate.span_rate};
        iot_quantity_of_key(result, chosen->block, rows->rows[op->first].series->key, text_get(&settings), &both);
    }
    for (int i = 0; i < 2; i++) {
        struct analysis_overlap overlap;
        double task, blocking;
        if (analysis_rows_overlap(rows, "wr"[i], &overlap, &task, &blocking))
            result_quantity(result, chosen->block, &CYCLES[i], NULL, text_get(&settings),
                            (struct analysis_estimate){overlap.cycle_ns / 1e6, NAN});
    }
    for (int rate = IOT_WRITE_SYNC; rate < IOT_RATES; rate++)
        result_quantity_rate(result, chosen->block, &IOT_RATE_KINDS[rate], NULL, text_get(&settings), &rates[rate]);
    text_clear(&settings);
}

/* Of kernels: each measure of a case, which is what repeated sets have in common. */
static pl_status iot_add_kernels(struct result *result, const struct analysis_request *request,
                                 const struct analysis_input *input, int64_t block, struct pl_error *error)
{
    static const char *const found[] = {"written_bytes", "balance_least_bytes", "balance_most_bytes", NULL};
    struct analysis_request selection = *request;
    struct analysis_chosen chosen = {0};
    struct kernel kernel = {.request = &selection};
    selection.block = block;
    pl_status status = PL_OK;
    kernel_names_init(&kernel, input);
    while (status == PL_OK && analysis_next(&selection, input, &chosen))
        status = kernel_add_set(&kernel, &chosen, error);
    kernel_finish(&kernel);
    for (size_t i = 0; status == PL_OK && i < kernel.case_count; i++) {
        const struct kernel_case *c = &kernel.cases[i];
        struct text settings = {0};
        settings_of_set(c->first.set, found, &settings);
        for (size_t m = 0; m < c->measure_count; m++)
            iot_quantity_of_key(result, c->first.block, c->measures[m].key, text_get(&settings), &c->measures[m].rate);
        text_clear(&settings);
    }
    kernel_clear(&kernel);
    return status;
}

/* ---- the document ---- */

static const struct iot_class *iot_class_of(const struct blockfile_block *block)
{
    for (const struct iot_class *class = IOT_CLASSES; class->name; class ++)
        if (strcasecmp(class->name, block->class_name) == 0)
            return class;
    return NULL;
}

/* Writing and reading of each set, in the order of the file. */
static void iot_draw(struct result *result, const double *points, size_t count)
{
    static const struct result_axis x = {.label = "set"}, y = {.label = "rate", .form = RESULT_RATE, .log = true};
    static const char *const names[] = {"write", "read", "write, with sync"};
    result_begin_panel(result, &x, &y, 1, "Rates of all sets");
    for (size_t i = 0; i < 3; i++) {
        result_begin_series(result, RESULT_POINTS, "%s", names[i]);
        for (size_t s = 0; s < count; s++)
            if (points[3 * s + i] > 0)
                result_point(result, (double)s + 1, points[3 * s + i], NAN, NAN);
    }
}

static pl_status iot_add_set(struct result *result, const struct analysis_request *request,
                             const struct analysis_chosen *chosen, double ret_points[3], bool *ret_by_calls,
                             struct pl_error *error)
{
    struct analysis_rows rows;
    struct result_rate rates[IOT_RATES];
    pl_status status = analysis_rows_build(request, chosen, &rows, error);
    if (status != PL_OK)
        return status;
    for (int rate = 0; rate < IOT_RATES && status == PL_OK; rate++) {
        rates[rate] = (struct result_rate){NO_RATE, NO_RATE, true, NAN};
        if (chosen->set->error_count == 0)
            status = iot_rate_in_file(request, (enum iot_rate)rate, chosen, &rows, &rates[rate], error);
        *ret_by_calls |= isfinite(rates[rate].rate.value) && rates[rate].by_calls;
    }
    if (status != PL_OK) {
        analysis_rows_clear(&rows);
        return status;
    }
    iot_put_row(result, chosen, rates);
    if (iot_class_of(chosen->block) == &IOT_CLASSES[IOT_LOWLEVEL])
        iot_add_lowlevel(result, chosen, &rows, rates);
    ret_points[0] = rates[IOT_WRITE].rate.value;
    ret_points[1] = rates[IOT_READ].rate.value;
    ret_points[2] = rates[IOT_WRITE_SYNC].rate.value;
    analysis_rows_clear(&rows);
    return PL_OK;
}

pl_status iot_results(const struct analysis_request *request, const struct analysis_input *input, struct result *result,
                      struct pl_error *error)
{
    struct analysis_chosen chosen = {0};
    double *points = NULL;
    size_t count = 0;
    int64_t block = 0;
    bool by_calls = false;
    pl_status status = PL_OK;
    result_begin_table(result, "sets", NULL, COLUMNS);
    while (status == PL_OK && analysis_next(request, input, &chosen)) {
        const struct iot_class *class = iot_class_of(chosen.block);
        if (!class)
            continue;
        points = memory_more(points, 3 * (count + 1), sizeof *points);
        status = iot_add_set(result, request, &chosen, points + 3 * count++, &by_calls, error);
        if (status == PL_OK && class == &IOT_CLASSES[IOT_KERNEL] && chosen.block_number != block)
            status = iot_add_kernels(result, request, input, chosen.block_number, error);
        block = chosen.block_number;
    }
    if (status == PL_OK && count == 0)
        status = pl_fail(error, PL_E_INPUT, "no results of run are selected");
    if (status == PL_OK)
        iot_draw(result, points, count);
    if (status == PL_OK && by_calls)
        analysis_note_by_calls(result);
    free(points);
    return status;
}
