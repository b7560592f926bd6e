/* kernel (IOT-33): the rates of kernels by problem size, process grid, distribution and hints, as a document. */
#include "bench/iot/iot_kernel.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "bench/iot/iot_bench.h"
#include "lab/result/analysis_select.h"
#include "lab/show/analysis_format.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char RATE_TEXT[] =
    "bytes of the file (single times) or of all ranks (series) / time in which at least one rank was in such a call, "
    "on "
    "one clock; span_rate: / from the first start to the last end, pauses included; call_rate: / largest total time of "
    "a rank, as rate is where a set has no stamps; MB = 10^6 bytes; mean "
    "over repeated sets";
static const char ERROR_TEXT[] = "90 % confidence, from the spread of repeated sets; of one set with series, from the "
                                 "means of 20 consecutive batches";
static const char IMBALANCE_TEXT[] = "time of the slowest rank / mean time of the ranks";

enum { PLOT_TESTS = 8, PLOT_CURVES = 10, DIRECTIONS = 2 };

/* ---- for machines: cases by their place, what is compared, and rows for CSV ---- */

static void kernel_put_measure(struct result *result, const struct kernel_measure *measure)
{
    const double numbers[] = {measure->bytes,
                              measure->rate.rate.value,
                              measure->rate.rate.error,
                              measure->longest_ns.value,
                              measure->longest_ns.error,
                              measure->imbalance,
                              measure->operations,
                              measure->operation_ns.value,
                              measure->operation_ns.error,
                              measure->rate.call_rate.value,
                              measure->rate.call_rate.error,
                              measure->rate.span_rate};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        result_put_number(result, numbers[i]);
}

#define MEASURE_COLUMNS                                                                                                \
    {.key = "bytes", .form = RESULT_NUMBER}, {.key = "rate_mb_per_s", .form = RESULT_RATE},                            \
        {.key = "rate_error_mb_per_s", .form = RESULT_RATE}, {.key = "longest_ns", .form = RESULT_NS},                 \
        {.key = "longest_error_ns", .form = RESULT_NS}, {.key = "imbalance", .form = RESULT_NUMBER},                   \
        {.key = "operations", .form = RESULT_NUMBER}, {.key = "operation_ns", .form = RESULT_NS},                      \
        {.key = "operation_error_ns", .form = RESULT_NS}, {.key = "call_rate_mb_per_s", .form = RESULT_RATE},          \
        {.key = "call_rate_error_mb_per_s", .form = RESULT_RATE},                                                      \
    {                                                                                                                  \
        .key = "span_rate_mb_per_s", .form = RESULT_RATE                                                               \
    }

/* Several keys of one facet, each with its value, stand behind each other: "a=1;b=2". */
static void kernel_put_facet(struct result *result, const char *facet)
{
    struct text text = {0};
    for (const char *c = facet; *c; c++)
        if (*c != '\n')
            text_append(&text, c, 1);
        else if (c[1])
            text_add(&text, ";");
    result_put_text(result, text_get(&text));
    text_clear(&text);
}

static void kernel_begin_csv_row(struct result *result, const struct kernel *kernel, const struct kernel_case *c,
                                 const char *key, const char *kind)
{
    result_row(result);
    for (int i = 0; i < KERNEL_TRAITS; i++)
        result_put_text(result, kernel->tables[c->table].traits[i]);
    for (int i = 0; i < KERNEL_FACETS; i++)
        kernel_put_facet(result, c->facets[i]);
    result_put_int(result, (int64_t)c->sets);
    result_put_int(result, (int64_t)c->failed);
    result_put_number(result, c->file_bytes);
    result_put_text(result, key);
    result_put_text(result, kind);
}

static void kernel_put_csv(struct result *result, const struct kernel *kernel)
{
    static const struct result_column rest[] = {{.key = "sets", .form = RESULT_INT},
                                                {.key = "failed", .form = RESULT_INT},
                                                {.key = "file_bytes", .form = RESULT_NUMBER},
                                                {.key = "key", .form = RESULT_TEXT},
                                                {.key = "kind", .form = RESULT_TEXT},
                                                MEASURE_COLUMNS,
                                                {0}};
    struct result_column columns[KERNEL_TRAITS + KERNEL_FACETS + sizeof rest / sizeof rest[0]];
    for (int i = 0; i < KERNEL_TRAITS + KERNEL_FACETS; i++)
        columns[i] = (struct result_column){.key = i < KERNEL_TRAITS ? KERNEL_TRAIT_NAMES[i]
                                                                     : KERNEL_FACET_NAMES[i - KERNEL_TRAITS],
                                            .form = RESULT_TEXT};
    memcpy(columns + KERNEL_TRAITS + KERNEL_FACETS, rest, sizeof rest);
    result_begin_table(result, "measures", NULL, columns);
    result_only_in(result, RESULT_IN_CSV);
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        for (size_t m = 0; m < c->measure_count; m++)
            if (c->measures[m].count) {
                kernel_begin_csv_row(result, kernel, c, c->measures[m].key, c->measures[m].series ? "series" : "time");
                kernel_put_measure(result, &c->measures[m]);
            }
        for (size_t v = 0; v < c->value_count; v++) { /* what the run found, as a key without times */
            kernel_begin_csv_row(result, kernel, c, c->values[v].key, "value");
            result_put_number(result, kernel_value_of(c, c->values[v].key));
        }
        if (c->sets == 0)
            kernel_begin_csv_row(result, kernel, c, "", "failed");
    }
}

static void kernel_put_case(struct result *result, const struct kernel *kernel, const struct kernel_case *c)
{
    static const struct result_column columns[] = {{.key = "key", .form = RESULT_TEXT},
                                                   {.key = "kind", .form = RESULT_TEXT},
                                                   {.key = "sets", .form = RESULT_INT},
                                                   MEASURE_COLUMNS,
                                                   {0}};
    const struct blockfile_set *set = c->first.set;
    result_begin_group(result, "cases", NULL);
    for (int i = 0; i < KERNEL_TRAITS; i++)
        result_fact_text(result, KERNEL_TRAIT_NAMES[i], NULL, kernel->tables[c->table].traits[i]);
    for (int i = 0; i < KERNEL_OTHER; i++)
        result_fact_text(result, KERNEL_FACET_NAMES[i], NULL, c->facets[i][0] ? c->facets[i] : NULL);
    result_begin_object(result, "params", NULL);
    for (size_t i = 0; i < set->param_count; i++)
        if (blockfile_param_of(set, set->params[i].key) == set->params[i].value)
            result_fact_text(result, set->params[i].key, NULL, set->params[i].value);
    result_end_group(result);
    result_begin_object(result, "hints", NULL);
    for (size_t i = 0; i < set->hint_count; i++)
        if (!set->hints[i].used && kernel_keyed(c, KERNEL_HINTS, set->hints[i].key) == set->hints[i].value)
            result_fact_text(result, set->hints[i].key, NULL, set->hints[i].value);
    result_end_group(result);
    result_fact(result, "file_bytes", NULL, RESULT_NUMBER, c->file_bytes);
    result_fact_int(result, "sets", NULL, (int64_t)c->sets);
    result_fact_int(result, "failed", NULL, (int64_t)c->failed);
    result_begin_table(result, "measures", NULL, columns);
    result_only_in(result, RESULT_IN_JSON);
    for (size_t i = 0; i < c->measure_count; i++) {
        if (!c->measures[i].count)
            continue;
        result_row(result);
        result_put_text(result, c->measures[i].key);
        result_put_text(result, c->measures[i].series ? "series" : "time");
        result_put_int(result, (int64_t)c->measures[i].count);
        kernel_put_measure(result, &c->measures[i]);
    }
    result_begin_object(result, "values", NULL);
    for (size_t i = 0; i < c->value_count; i++)
        result_fact(result, c->values[i].key, NULL, RESULT_NUMBER, kernel_value_of(c, c->values[i].key));
    result_end_group(result);
    result_end_group(result);
}

/* Cases are named by their place in `cases`, from 0. */
static void kernel_put_compared(struct result *result, const struct kernel *kernel)
{
    static const struct result_column exchange[] = {{.key = "matrix2D", .form = RESULT_INT},
                                                    {.key = "gatherscat2D", .form = RESULT_INT},
                                                    {.key = "write_ns", .form = RESULT_NS},
                                                    {.key = "gather_write_ns", .form = RESULT_NS},
                                                    {.key = "write_ratio", .form = RESULT_NUMBER},
                                                    {.key = "read_ns", .form = RESULT_NS},
                                                    {.key = "read_scatter_ns", .form = RESULT_NS},
                                                    {.key = "read_ratio", .form = RESULT_NUMBER},
                                                    {0}};
    static const struct result_column transpose[] = {{.key = "case", .form = RESULT_INT},
                                                     {.key = "read_ns", .form = RESULT_NS},
                                                     {.key = "internal_ns", .form = RESULT_NS},
                                                     {.key = "ratio", .form = RESULT_NUMBER},
                                                     {0}};
    result_begin_table(result, "gatherscat2D", NULL, exchange);
    result_only_in(result, RESULT_IN_JSON);
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        const size_t gather = kernel_is_test(kernel, c, "matrix2D") ? kernel_gather_for(kernel, c) : SIZE_MAX;
        if (gather == SIZE_MAX)
            continue;
        const struct kernel_exchange e = kernel_exchange(c, &kernel->cases[gather]);
        const double numbers[] = {e.matrix_write, e.gather_write, e.gather_write / e.matrix_write,
                                  e.matrix_read,  e.scatter_read, e.scatter_read / e.matrix_read};
        result_row(result);
        result_put_int(result, (int64_t)i);
        result_put_int(result, (int64_t)gather);
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
            result_put_number(result, numbers[n]);
    }
    result_begin_table(result, "transpose", NULL, transpose);
    result_only_in(result, RESULT_IN_JSON);
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        const double read = kernel_longest_ns(c, "read"), internal = kernel_longest_ns(c, "internal");
        if (!kernel_is_test(kernel, c, "transpose") || isnan(read + internal))
            continue;
        result_row(result);
        result_put_int(result, (int64_t)i);
        result_put_number(result, read);
        result_put_number(result, internal);
        result_put_number(result, read / internal);
    }
}

static void kernel_put_sweeps(struct result *result, const struct kernel *kernel)
{
    static const struct result_column place[] = {{.key = "", .form = RESULT_INT}, {0}};
    size_t *members = memory_new(kernel->case_count + 1, sizeof *members);
    bool any = false;
    for (size_t i = 0; i < kernel->case_count; i++) {
        const size_t count = kernel_sweep(kernel, i, members);
        if (!count)
            continue;
        const struct kernel_case *c = &kernel->cases[members[0]];
        any = true;
        result_begin_group(result, "hint_sweeps", NULL);
        result_begin_table(result, "cases", NULL, place);
        result_only_in(result, RESULT_IN_JSON);
        for (size_t m = 0; m < count; m++) {
            result_row(result);
            result_put_int(result, (int64_t)members[m]);
        }
        result_begin_object(result, "best", NULL);
        for (size_t m = 0; m < c->measure_count; m++) {
            const size_t best = kernel_best(kernel, members, count, c->measures[m].key, c->measures[m].series);
            if (best != SIZE_MAX)
                result_fact_int(result, c->measures[m].key, NULL, (int64_t)best);
        }
        result_end_group(result);
        result_end_group(result);
    }
    if (!any) {
        result_begin_table(result, "hint_sweeps", NULL, place);
        result_only_in(result, RESULT_IN_JSON);
    }
    free(members);
}

/* ---- charts: a row for each test, panels for writing and reading, a curve for each grid, distribution, access and
 * hint value. x is the problem size, or the block size where that alone varies; bars where no curve would have two
 * points ---- */

static const struct kernel_measure *draw_direction(const struct kernel_case *c, int direction)
{
    static const struct {
        const char *key;
        bool series;
    } keys[DIRECTIONS][3] = {{{"write", false}, {"w", true}, {"u", true}}, {{"read", false}, {"r", true}, {"r", true}}};
    for (size_t i = 0; i < 3; i++) {
        const struct kernel_measure *measure = kernel_measure_of(c, keys[direction][i].key, keys[direction][i].series);
        if (measure && isfinite(measure->rate.rate.value) && measure->rate.rate.value > 0)
            return measure;
    }
    return NULL;
}

enum kernel_x { KERNEL_X_FILE, KERNEL_X_BLOCK, KERNEL_X_NONE };

static double draw_x(const struct kernel_case *c, enum kernel_x kind)
{
    double bytes = NAN;
    if (kind == KERNEL_X_FILE)
        return c->file_bytes;
    if (kind == KERNEL_X_BLOCK && units_parse_number(c->facets[KERNEL_BLOCK], &bytes))
        return bytes;
    return kind == KERNEL_X_NONE ? 0 : NAN;
}

/* At least two sizes, and each case has one. */
static bool draw_varies(const struct kernel_part *part, enum kernel_x kind)
{
    bool differs = false;
    for (size_t i = 0; i < part->count; i++) {
        if (!(draw_x(part->cases[i], kind) > 0))
            return false;
        differs = differs || draw_x(part->cases[i], kind) != draw_x(part->cases[0], kind);
    }
    return differs;
}

/* The number of each case's curve: those are of one curve that are equal in all columns. Returns how many there are. */
static size_t draw_curves(const struct kernel_columns *columns, size_t *curve_of, size_t *shown_by)
{
    size_t curves = 0;
    for (size_t row = 0; row < columns->rows; row++) {
        size_t curve = 0;
        for (; curve < curves; curve++) {
            size_t same = 0;
            while (same < columns->count &&
                   strcmp(columns->columns[same].cells[row], columns->columns[same].cells[shown_by[curve]]) == 0)
                same++;
            if (same == columns->count)
                break;
        }
        if (curve == curves)
            shown_by[curves++] = row;
        curve_of[row] = curve;
    }
    return curves;
}

/* Of too many curves the first, the last, and some evenly between. */
static bool draw_is_drawn(size_t curve, size_t curves)
{
    for (size_t i = 0; i < PLOT_CURVES && curves > PLOT_CURVES; i++)
        if (i * (curves - 1) / (PLOT_CURVES - 1) == curve)
            return true;
    return curves <= PLOT_CURVES;
}

static void draw_panel(const struct kernel_part *part, const struct kernel_columns *columns, enum kernel_x kind,
                       int direction, const size_t *curve_of, const size_t *shown_by, size_t curves)
{
    static const char *const nothing[] = {""};
    const char *const *traits = part->kernel->tables[part->cases[0]->table].traits;
    const struct result_axis x = kind == KERNEL_X_NONE
                                     ? (struct result_axis){.label = "", .names = nothing, .name_count = 1}
                                     : (struct result_axis){.label = kind == KERNEL_X_FILE ? "problem size"
                                                                                           : "block size",
                                                            .form = RESULT_BYTES,
                                                            .log = true};
    const struct result_axis y = {.label = "rate", .form = RESULT_RATE, .from_zero = kind == KERNEL_X_NONE};
    const bool update = strcmp(traits[KERNEL_TEST], "nonseq") == 0 && direction == 0;
    char processes[ANALYSIS_NAME_MAX];
    result_begin_panel(part->result, &x, &y, DIRECTIONS, "%.24s, %.24s: %s", traits[KERNEL_TEST],
                       analysis_processes_text(traits[KERNEL_NPROCS], false, processes),
                       update           ? "update"
                       : direction == 0 ? "write"
                                        : "read");
    for (size_t curve = 0; curve < curves; curve++) {
        struct text label = {0};
        bool open = false;
        kernel_columns_label(columns, shown_by[curve], &label);
        for (size_t i = 0; i < part->count && draw_is_drawn(curve, curves); i++) {
            const struct kernel_measure *measure = curve_of[i] == curve ? draw_direction(part->cases[i], direction)
                                                                        : NULL;
            if (!measure)
                continue;
            if (!open)
                result_begin_series(part->result, kind == KERNEL_X_NONE ? RESULT_BARS : RESULT_LINE, "%s",
                                    text_get(&label));
            open = true;
            const double rate = measure->rate.rate.value,
                         error = measure->rate.rate.error; /* bars up to a factor of 1.5 */
            result_point(part->result, draw_x(part->cases[i], kind), rate, fmax(rate - error, rate / 1.5),
                         fmin(rate + error, rate * 1.5));
        }
        text_clear(&label);
    }
}

/* Returns how many curves found no room. */
static size_t draw_test(struct kernel_part *part)
{
    static const unsigned skips[] = {
        [KERNEL_X_FILE] = 1U << KERNEL_SIZE, [KERNEL_X_BLOCK] = 1U << KERNEL_BLOCK, [KERNEL_X_NONE] = 0};
    size_t left_out = 0, *curve_of = memory_new(part->count, sizeof *curve_of),
           *shown_by = memory_new(part->count, sizeof *shown_by);
    for (int kind = KERNEL_X_FILE; kind <= KERNEL_X_NONE; kind++) {
        if (kind != KERNEL_X_NONE && !draw_varies(part, (enum kernel_x)kind))
            continue;
        struct kernel_columns columns = kernel_columns_of(part->kernel, part->cases, part->count, skips[kind]);
        const size_t curves = draw_curves(&columns, curve_of, shown_by);
        const bool takes = kind == KERNEL_X_NONE || curves < part->count;
        for (int direction = 0; direction < DIRECTIONS && takes; direction++) {
            bool any = false;
            for (size_t i = 0; i < part->count; i++)
                any = any || draw_direction(part->cases[i], direction);
            if (any)
                draw_panel(part, &columns, (enum kernel_x)kind, direction, curve_of, shown_by, curves);
        }
        for (size_t curve = 0; curve < curves && takes; curve++) {
            struct text label = {0};
            kernel_columns_label(&columns, shown_by[curve], &label);
            left_out += !draw_is_drawn(curve, curves);
            if (!draw_is_drawn(curve, curves))
                result_line(part->result, "The plot has no room for: %s; choose with --test, --block, --set, --op.",
                            text_get(&label));
            text_clear(&label);
        }
        kernel_columns_clear(&columns);
        if (takes)
            break;
    }
    free(curve_of);
    free(shown_by);
    return left_out;
}

static pl_status kernel_draw(struct result *result, const struct kernel *kernel, struct pl_error *error)
{
    struct kernel_part part = {kernel, result, memory_new(kernel->case_count + 1, sizeof(void *)), 0};
    size_t tests = 0, left_out = 0;
    char note[160];
    for (size_t table = 0; table < kernel->table_count; table++) {
        part.count = 0;
        for (size_t i = 0; i < kernel->case_count; i++)
            if (kernel->cases[i].table == table &&
                (draw_direction(&kernel->cases[i], 0) || draw_direction(&kernel->cases[i], 1)))
                part.cases[part.count++] = &kernel->cases[i];
        if (part.count && tests++ < PLOT_TESTS)
            left_out += draw_test(&part);
        else if (part.count)
            result_line(result, "The plot has no room for: %s; choose with --test, --block, --set, --op.",
                        kernel->tables[table].traits[KERNEL_TEST]);
    }
    left_out += tests > PLOT_TESTS ? tests - PLOT_TESTS : 0;
    snprintf(note, sizeof note, "bars: confidence, up to a factor of 1.5; not drawn, but named below the table: %zu",
             left_out);
    if (left_out)
        result_figure(result, "Rates of kernels", note);
    free(part.cases);
    return tests ? PL_OK
                 : pl_fail(error, PL_E_UNSUPPORTED, "no plot: the selected sets have no write or read with a rate");
}

/* ---- the whole ---- */

static void kernel_put_definitions(struct result *result, const struct kernel *kernel)
{
    result_line(result, "rate: %s", RATE_TEXT);
    result_line(result, "±: %s", ERROR_TEXT);
    result_line(result, "imb: %s", IMBALANCE_TEXT);
    if (kernel->request->ranks.count)
        result_line(result, "With --rank a single time has no rate unless all its ranks are chosen.");
    if (!kernel->request->times)
        result_line(result, "All times (open, preallocation, gather, ...): --times");
    if (kernel->other_sets)
        result_line(result, "%zu sets are of no kernel: for them there is 'piolet analyze allav'.", kernel->other_sets);
    result_begin_object(result, "definitions", NULL);
    result_fact_text(result, "rate", NULL, RATE_TEXT);
    result_fact_text(result, "error", NULL, ERROR_TEXT);
    result_fact_text(result, "imbalance", NULL, IMBALANCE_TEXT);
    result_end_group(result);
}

static bool kernel_is_of(const struct blockfile_block *block)
{
    return strcasecmp(block->class_name, IOT_CLASSES[IOT_KERNEL].name) == 0;
}

static pl_status kernel_collect(struct kernel *kernel, const struct analysis_input *input, struct result *result,
                                struct pl_error *error)
{
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    kernel_names_init(kernel, input);
    while (status == PL_OK && analysis_next(kernel->request, input, &chosen)) {
        char title[256];
        if (!kernel_is_of(chosen.block)) {
            kernel->other_sets++;
            continue;
        }
        if (chosen.set->error_count) {
            result_begin_group(result, "remarks", "%s", analysis_set_title(&chosen, title));
            analysis_put_set(result, &chosen);
            result_end_group(result);
        }
        status = kernel_add_set(kernel, &chosen, error);
    }
    kernel_finish(kernel);
    return status;
}

static pl_status kernel_build(const struct analysis_request *request, const struct analysis_input *input,
                              struct result *result, struct pl_error *error)
{
    static const struct result_column none[] = {{.key = "", .form = RESULT_TEXT}, {0}};
    struct kernel kernel = {.request = request};
    size_t sets = 0;
    result_figure(result, "Rates of kernels", "bars: confidence, up to a factor of 1.5");
    result_fact_text(result, "tool", NULL, "kernel");
    result_csv_table(result, "measures");
    pl_status status = kernel_collect(&kernel, input, result, error);
    for (size_t i = 0; i < kernel.case_count; i++)
        sets += kernel.cases[i].sets;
    if (kernel.failed_sets == 0) {
        result_begin_table(result, "remarks", NULL, none);
        result_only_in(result, RESULT_IN_JSON);
    }
    for (size_t table = 0; table < kernel.table_count && status == PL_OK; table++)
        kernel_put_table(&kernel, result, table);
    for (size_t i = 0; i < kernel.case_count; i++)
        kernel_put_case(result, &kernel, &kernel.cases[i]);
    kernel_put_compared(result, &kernel);
    kernel_put_sweeps(result, &kernel);
    kernel_put_csv(result, &kernel);
    kernel_put_definitions(result, &kernel);
    if (status == PL_OK && sets == 0)
        status = kernel.failed_sets
                     ? pl_fail(error, PL_E_INPUT, "every selected set failed")
                     : pl_fail(error, PL_E_INPUT, "nothing matches the selection%s",
                               kernel.other_sets ? ", or what matches is no kernel (for which there is allav)" : "");
    if (status == PL_OK && request->plot)
        status = kernel_draw(result, &kernel, error);
    kernel_clear(&kernel);
    return status;
}

const struct analysis_tool KERNEL_TOOLS[] = {{"kernel",
                                              "rates of kernels by size, process grid, distribution and hints",
                                              ANALYSIS_BY_SERIES | ANALYSIS_BY_TIMES, kernel_build},
                                             {0}};

pl_status analysis_kernel(const struct analysis_request *request, const struct analysis_input *input,
                          struct pl_error *error)
{
    return analysis_tool_show(&KERNEL_TOOLS[0], request, input, error);
}

bool analysis_only_kernels(const struct analysis_request *request, const struct analysis_input *input)
{
    struct analysis_chosen chosen = {0};
    bool any = false;
    while (analysis_next(request, input, &chosen)) {
        if (!kernel_is_of(chosen.block) || chosen.set->series_count || chosen.set->error_count)
            return false;
        any = true;
    }
    return any;
}
