/* Results of the kernels: what each phase of a run took, and its rate. */
#include "bench/apps/apps.h"

#include "base/units.h"
#include "lab/result/analysis_rows.h"
#include "lab/result/settings.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct quantity_kind APPS_RATE = {NULL, "MB/s", RESULT_RATE_MADE, false}; /* named by its operation */

static const struct result_column COLUMNS[] = {
    {.key = "block", .form = RESULT_INT, .hidden = true},
    {.key = "kernel", .form = RESULT_TEXT},
    {.key = "run", .form = RESULT_INT},
    {.key = "phase", .form = RESULT_TEXT},
    {.key = "requests", .form = RESULT_INT},
    {.key = "bytes", .form = RESULT_BYTES},
    {.key = "mean_s", .label = "mean s", .form = RESULT_NUMBER, .decimals = 4},
    {.key = "min_s", .label = "min s", .form = RESULT_NUMBER, .decimals = 4},
    {.key = "max_s", .label = "max s", .form = RESULT_NUMBER, .decimals = 4},
    {.key = "rate_mb_per_s", .label = "rate", .form = RESULT_RATE, .decimals = 1},
    {.key = "call_rate_mb_per_s", .label = "by calls", .form = RESULT_RATE, .decimals = 1},
    {0}};

/* The requests of MADbench2 have one size in its first function and for W's reads, another for what W makes. */
static double apps_request_bytes(const struct blockfile_set *set, const char *key)
{
    const bool results = strcmp(key, "W_w") == 0 || strcmp(key, "C_r") == 0;
    const char *text = blockfile_param_of(set, results ? "result_bytes" : "request_bytes");
    double bytes;
    return text && units_parse_number(text, &bytes) ? bytes : NAN;
}

/* The rate of an operation of a set, and the bytes it moved. */
static struct result_rate apps_rate(const struct analysis_chosen *chosen, const struct analysis_rows *rows,
                                    const struct analysis_op_times *op, double longest_ns, double *ret_bytes)
{
    const char *key = rows->rows[op->first].series->key;
    const double request = apps_request_bytes(chosen->set, key);
    struct analysis_op_rate rate = {.rate = {NAN, NAN}, .call_rate = {NAN, NAN}};
    struct result_rate both = {{NAN, NAN}, {NAN, NAN}, !op->busy.known};
    *ret_bytes = isfinite(request) ? (double)op->n * request : op->bytes;
    if (isfinite(request)) {
        both.call_rate.value = units_rate_mb_per_s(*ret_bytes, longest_ns);
        both.rate.value = both.by_calls ? both.call_rate.value : units_rate_mb_per_s(*ret_bytes, op->busy.ns);
    } else if (analysis_op_rate(rows, op->first, op->end, &rate)) {
        both.call_rate.value = rate.call_rate.value;
        both.rate.value = rate.rate.value;
    }
    return both;
}

static const char *apps_quantity_name(const char *key, char name[64])
{
    if (strcmp(key, "w") == 0 || strcmp(key, "r") == 0)
        snprintf(name, 64, "%s rate", *key == 'w' ? "write" : "read");
    else
        snprintf(name, 64, "rate of %.40s", key);
    return name;
}

static void apps_add_phase(struct result *result, const struct analysis_chosen *chosen,
                           const struct analysis_rows *rows, const struct analysis_op_times *op, const char *settings)
{
    const char *key = rows->rows[op->first].series->key;
    double least = INFINITY, longest = 0, sum = 0, bytes = 0;
    char name[64];
    assert(op->first < op->end);
    for (size_t row = op->first; row < op->end; row++) {
        least = fmin(least, rows->rows[row].times.sum);
        longest = fmax(longest, rows->rows[row].times.sum);
        sum += rows->rows[row].times.sum;
    }
    const struct result_rate rate = apps_rate(chosen, rows, op, longest, &bytes);
    result_row(result);
    result_put_int(result, chosen->block_number);
    result_put_text(result, chosen->block->testname);
    result_put_int(result, chosen->set->number);
    result_put_text(result, key);
    result_put_int(result, op->n);
    result_put_number(result, bytes);
    result_put_number(result, sum / (double)(op->end - op->first) * 1e-9);
    result_put_number(result, least * 1e-9);
    result_put_number(result, longest * 1e-9);
    result_put_number(result, rate.rate.value);
    result_put_number(result, rate.call_rate.value);
    result_quantity_rate(result, chosen->block, &APPS_RATE, apps_quantity_name(key, name), settings, &rate);
}

static pl_status apps_add_set(struct result *result, const struct analysis_request *request,
                              const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct analysis_rows rows;
    struct text settings = {0};
    for (size_t i = 0; i < chosen->set->error_count; i++)
        result_note(result, RESULT_ERROR, "%s, run %lld: rank %d: %s", chosen->block->testname,
                    (long long)chosen->set->number, chosen->set->errors[i].rank, chosen->set->errors[i].text);
    if (analysis_rows_build(request, chosen, &rows, error) != PL_OK)
        return error->status;
    settings_of_set(chosen->set, NULL, &settings);
    for (size_t i = 0; i < rows.op_count; i++)
        if (rows.ops[i].n > 0 && strcmp(rows.rows[rows.ops[i].first].series->unit, "ns") == 0)
            apps_add_phase(result, chosen, &rows, &rows.ops[i], text_get(&settings));
    text_clear(&settings);
    analysis_rows_clear(&rows);
    return PL_OK;
}

static bool apps_is_by_calls(const struct quantity *quantity)
{
    return strstr(quantity->what, ", by calls") != NULL;
}

/* Rates of all phases, run after run; by calls where there are no others (0.1.0). */
static void apps_draw(struct result *result)
{
    bool others = false;
    for (size_t i = 0; i < result->quantity_count; i++)
        others |= !apps_is_by_calls(&result->quantities[i]);
    const struct result_axis x = {.label = "phase of a run", .form = RESULT_NUMBER};
    const struct result_axis y = {.label = "rate", .form = RESULT_RATE, .from_zero = true};
    result_begin_panel(result, &x, &y, 1, "Rates of the phases");
    for (size_t i = 0; i < result->quantity_count; i++) {
        if (others && apps_is_by_calls(&result->quantities[i]))
            continue;
        result_begin_series(result, RESULT_POINTS, "%s", result->quantities[i].what);
        result_point(result, (double)(i + 1), result->quantities[i].value, NAN, NAN);
    }
}

pl_status apps_results(const struct analysis_request *request, const struct analysis_input *input,
                       struct result *result, struct pl_error *error)
{
    struct analysis_request all = *request;
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    bool found = false;
    if (all.to == 0)
        all.to = INT64_MAX;
    result_begin_table(result, "phases", NULL, COLUMNS);
    while (status == PL_OK && analysis_next(&all, input, &chosen))
        if (strcmp(chosen.block->class_name, APPS_CLASSES[0]) == 0) {
            status = apps_add_set(result, &all, &chosen, error);
            found = true;
        }
    if (status == PL_OK && !found)
        return pl_fail(error, PL_E_INPUT, "no results of an application kernel are selected");
    if (status == PL_OK)
        apps_draw(result);
    return status;
}
