/* Quantities of the test suite and of the application kernels: rates of each set. */
#include "history/history_quantity.h"

#include "base/units.h"
#include "measure/analysis_kernel.h"
#include "measure/analysis_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct analysis_request request_of(const struct history_source *source)
{
    return (struct analysis_request){.block = (int64_t)source->number + 1, .to = INT64_MAX};
}

static const char *name_of(const char *key, char name[64])
{
    static const struct {
        const char *key, *name;
    } names[] = {
        {"w", "write rate"}, {"r", "read rate"}, {"u", "update rate"}, {"write", "write rate"}, {"read", "read rate"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key, names[i].key) == 0)
            return names[i].name;
    snprintf(name, 64, "rate of %.40s", key);
    return name;
}

/* ---- low-level tests, BT-IO ---- */

/* The mean length of an interleaved cycle: start, task and wait. */
static void add_cycle(const struct history_source *source, const struct analysis_rows *rows, char direction,
                      const char *settings)
{
    struct analysis_overlap overlap;
    double task, blocking;
    if (analysis_rows_overlap(rows, direction, &overlap, &task, &blocking))
        history_quantity_time(source, direction == 'w' ? "writing cycle" : "reading cycle", settings, overlap.cycle_ns);
}

static pl_status add_set(const struct history_source *source, const struct analysis_request *request,
                         const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct analysis_rows rows;
    struct text settings = {0};
    char name[64];
    pl_status status = analysis_rows_build(request, chosen, &rows, error);
    if (status)
        return status;
    history_settings(chosen->set, NULL, &settings);
    for (size_t i = 0; i < rows.op_count; i++) {
        struct analysis_op_rate rate;
        const struct analysis_op_times *op = &rows.ops[i];
        if (analysis_op_rate(&rows, op->first, op->end, &rate))
            history_quantity_rate(source, name_of(rows.rows[op->first].series->key, name), text_get(&settings),
                                  rate.rate.value);
    }
    add_cycle(source, &rows, 'w', text_get(&settings));
    add_cycle(source, &rows, 'r', text_get(&settings));
    text_clear(&settings);
    analysis_rows_clear(&rows);
    return PL_OK;
}

pl_status history_quantity_lowlevel(const struct history_source *source, struct pl_error *error)
{
    const struct analysis_request request = request_of(source);
    const struct analysis_input input = {source->file, 1};
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    while (status == PL_OK && analysis_next(&request, &input, &chosen))
        status = add_set(source, &request, &chosen, error);
    return status;
}

/* ---- kernels ---- */

static void add_case(const struct history_source *source, const struct kernel_case *c)
{
    struct text settings = {0};
    char name[64];
    history_settings(c->first.set,
                     (const char *const[]){"written_bytes", "balance_least_bytes", "balance_most_bytes", NULL},
                     &settings);
    for (size_t i = 0; i < c->measure_count; i++) {
        const struct kernel_measure *measure = &c->measures[i];
        history_quantity_rate(source, name_of(measure->key, name), text_get(&settings), measure->rate.value);
    }
    text_clear(&settings);
}

pl_status history_quantity_kernel(const struct history_source *source, struct pl_error *error)
{
    const struct analysis_request request = request_of(source);
    const struct analysis_input input = {source->file, 1};
    struct kernel kernel = {.request = &request};
    struct analysis_chosen chosen = {0};
    pl_status status = kernel_names_init(&kernel, &input, error);
    while (status == PL_OK && analysis_next(&request, &input, &chosen))
        status = kernel_add_set(&kernel, &chosen, error);
    if (status == PL_OK)
        status = kernel_finish(&kernel, error);
    for (size_t i = 0; status == PL_OK && i < kernel.case_count; i++)
        add_case(source, &kernel.cases[i]);
    kernel_clear(&kernel);
    return status;
}

/* ---- applications ---- */

/* The requests of MADbench2 have one size in its first function and for W's reads, another for what W makes. */
static double request_bytes(const struct blockfile_set *set, const char *key)
{
    const bool results = strcmp(key, "W_w") == 0 || strcmp(key, "C_r") == 0;
    const char *text = blockfile_param_of(set, results ? "result_bytes" : "request_bytes");
    double bytes;
    return text && units_parse_number(text, &bytes) ? bytes : NAN;
}

static pl_status add_madbench(const struct history_source *source, const struct analysis_request *request,
                              const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct analysis_rows rows;
    struct text settings = {0};
    char name[64];
    pl_status status = analysis_rows_build(request, chosen, &rows, error);
    if (status)
        return status;
    history_settings(chosen->set, NULL, &settings);
    for (size_t i = 0; i < rows.op_count; i++) {
        const struct analysis_op_times *op = &rows.ops[i];
        const char *key = rows.rows[op->first].series->key;
        double longest = 0;
        for (size_t row = op->first; row < op->end; row++)
            longest = fmax(longest, rows.rows[row].times.sum);
        history_quantity_rate(source, name_of(key, name), text_get(&settings),
                              units_rate_mb_per_s((double)op->n * request_bytes(chosen->set, key), longest));
    }
    text_clear(&settings);
    analysis_rows_clear(&rows);
    return PL_OK;
}

pl_status history_quantity_apps(const struct history_source *source, struct pl_error *error)
{
    if (strcmp(source->block->testname, "madbench") != 0)
        return history_quantity_lowlevel(source, error);
    const struct analysis_request request = request_of(source);
    const struct analysis_input input = {source->file, 1};
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    while (status == PL_OK && analysis_next(&request, &input, &chosen))
        status = add_madbench(source, &request, &chosen, error);
    return status;
}
