/* Kernels: sets put together into cases. What tells sets apart (facets), which sets are repeats of each other, the
 * averages over them, and which cases are compared. */
#include "bench/iot/iot_kernel.h"

#include "base/memory.h"
#include "base/units.h"
#include "lab/result/analysis_rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what tells cases apart: size, grid, distribution, access, blocks, further parameters and hints of a set ---- */

const char *const KERNEL_TRAIT_NAMES[KERNEL_TRAITS] = {[KERNEL_TEST] = "testname",
                                                       [KERNEL_NPROCS] = "nprocs",
                                                       [KERNEL_MPIIO] = "mpiio",
                                                       [KERNEL_FILESYSTEM] = "filesystem"};

const char *const KERNEL_FACET_NAMES[KERNEL_FACETS] = {
    [KERNEL_SIZE] = "size",         [KERNEL_GRID] = "grid",   [KERNEL_DISTRIBUTION] = "distribution",
    [KERNEL_ACCESS] = "collective", [KERNEL_BLOCK] = "block", [KERNEL_UPDATE] = "update_frac",
    [KERNEL_OTHER] = "parameters",  [KERNEL_HINTS] = "hints"};

static int kernel_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void kernel_names_init(struct kernel *kernel, const struct analysis_input *input)
{
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count; b++)
            for (size_t i = 0; i < input->files[f].blocks[b].input_count; i++) {
                kernel->names = memory_grow(kernel->names, kernel->name_count, sizeof(const char *));
                kernel->names[kernel->name_count++] = input->files[f].blocks[b].inputs[i].key;
            }
    if (kernel->name_count)
        qsort(kernel->names, kernel->name_count, sizeof *kernel->names, kernel_compare_names);
}

static bool kernel_is_one_of(const char *key, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(key, *names) == 0)
            return true;
    return false;
}

static bool kernel_is_named(const struct kernel *kernel, const char *key)
{
    return kernel->name_count &&
           bsearch(&key, kernel->names, kernel->name_count, sizeof *kernel->names, kernel_compare_names) != NULL;
}

bool kernel_is_covered(const char *key)
{
    static const char *const covered[] = {"xsize",          "ysize",           "zsize",          "xproc",
                                          "yproc",          "zproc",           "distribution",   "collective",
                                          "filesize_bytes", "blocksize_bytes", "blockmin_bytes", "blockmax_bytes",
                                          "update_frac",    "blocks",          "tail_bytes",     NULL};
    return kernel_is_one_of(key, covered);
}

bool kernel_is_other(const struct kernel *kernel, const char *param)
{
    static const char *const never[] = {"filename", "seed", "repeat", "keep", NULL};
    if (kernel_is_covered(param) || kernel_is_one_of(param, never))
        return false;
    char name[128];
    const size_t length = strlen(param);
    const size_t unit = length > 6 && strcmp(param + length - 6, "_bytes") == 0 ? 6 : 0;
    snprintf(name, sizeof name, "%.*s", (int)(length - unit), param);
    return kernel_is_named(kernel, param) || kernel_is_named(kernel, name);
}

const char *kernel_keyed(const struct kernel_case *c, enum kernel_facet facet, const char *key)
{
    const struct blockfile_set *set = c->first.set;
    if (facet == KERNEL_OTHER)
        return blockfile_param_of(set, key);
    for (size_t i = 0; i < set->hint_count; i++)
        if (!set->hints[i].used && strcmp(set->hints[i].key, key) == 0)
            return set->hints[i].value;
    return NULL;
}

/* Values of the parameters, as far as there are any, with `between` them. */
static void kernel_add_joined(struct text *text, const struct blockfile_set *set, const char *const *keys,
                              const char *between)
{
    for (; *keys; keys++) {
        const char *value = blockfile_param_of(set, *keys);
        if (!value)
            continue;
        if (text->length)
            text_add(text, between);
        text_add(text, value);
    }
}

/* The order of hints is that of the input: it does not matter. */
static void kernel_add_hints(struct text *text, const struct blockfile_set *set)
{
    const char *before = "";
    for (;;) {
        const struct blockfile_hint *next = NULL;
        for (size_t i = 0; i < set->hint_count; i++) {
            const struct blockfile_hint *hint = &set->hints[i];
            if (!hint->used && strcmp(hint->key, before) > 0 && (!next || strcmp(hint->key, next->key) < 0))
                next = hint;
        }
        if (!next)
            return;
        text_format(text, "%s=%s\n", next->key, next->value);
        before = next->key;
    }
}

double kernel_param_number(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    double number;
    return text && units_parse_number(text, &number) ? number : NAN;
}

double kernel_size_bytes(const struct blockfile_set *set)
{
    const double file = kernel_param_number(set, "filesize_bytes");
    const double tail = kernel_param_number(set, "tail_bytes");
    return file > 0 ? file + (tail > 0 ? tail : 0) : NAN;
}

void kernel_facet_add(const struct kernel *kernel, const struct blockfile_set *set, enum kernel_facet facet,
                      struct text *text)
{
    static const char *const params[KERNEL_OTHER][4] = {
        [KERNEL_SIZE] = {"xsize", "ysize", "zsize"}, [KERNEL_GRID] = {"xproc", "yproc", "zproc"},
        [KERNEL_DISTRIBUTION] = {"distribution"},    [KERNEL_ACCESS] = {"collective"},
        [KERNEL_BLOCK] = {"blocksize_bytes"},        [KERNEL_UPDATE] = {"update_frac"},
    };
    static const char *const range[] = {"blockmin_bytes", "blockmax_bytes", NULL};
    if (facet == KERNEL_HINTS)
        kernel_add_hints(text, set);
    else if (facet == KERNEL_OTHER)
        for (size_t i = 0; i < set->param_count; i++) {
            if (kernel_is_other(kernel, set->params[i].key))
                text_format(text, "%s=%s\n", set->params[i].key, set->params[i].value);
        }
    else
        kernel_add_joined(text, set, params[facet], "x");
    if (facet == KERNEL_BLOCK)
        kernel_add_joined(text, set, range, "-");
    const double bytes = facet == KERNEL_SIZE && text->length == 0 ? kernel_size_bytes(set) : NAN;
    if (!isnan(bytes))
        text_format(text, "%.15g", bytes);
}

/* ---- finding the case ---- */

static const char *kernel_known(const char *value)
{
    return value ? value : "";
}

static size_t kernel_table_for(struct kernel *kernel, const struct analysis_chosen *chosen)
{
    const struct kernel_table table = {
        .traits = {[KERNEL_TEST] = chosen->block->testname,
                   [KERNEL_NPROCS] = kernel_known(blockfile_fact_of(chosen->block, "nprocs")),
                   [KERNEL_MPIIO] = kernel_known(blockfile_fact_of(chosen->block, "mpiio")),
                   [KERNEL_FILESYSTEM] = kernel_known(blockfile_fact_of(chosen->block, "filesystem"))}};
    for (size_t i = 0; i < kernel->table_count; i++) {
        int same = 0;
        while (same < KERNEL_TRAITS && strcmp(kernel->tables[i].traits[same], table.traits[same]) == 0)
            same++;
        if (same == KERNEL_TRAITS)
            return i;
    }
    kernel->tables = memory_grow(kernel->tables, kernel->table_count, sizeof *kernel->tables);
    kernel->tables[kernel->table_count] = table;
    return kernel->table_count++;
}

static void kernel_clear_facets(struct kernel_case *c)
{
    for (int i = 0; i < KERNEL_FACETS; i++)
        free(c->facets[i]);
}

static bool kernel_same_case(const struct kernel_case *a, const struct kernel_case *b)
{
    return kernel_same_but_hints(a, b) && strcmp(a->facets[KERNEL_HINTS], b->facets[KERNEL_HINTS]) == 0;
}

static struct kernel_case *kernel_insert_case(struct kernel *kernel, struct kernel_case *wanted)
{
    /* the sets of a block come one after another: the case before is as likely as the first */
    for (size_t i = kernel->case_count; i-- > 0;)
        if (kernel_same_case(&kernel->cases[i], wanted)) {
            kernel_clear_facets(wanted);
            return &kernel->cases[i];
        }
    kernel->cases = memory_grow(kernel->cases, kernel->case_count, sizeof *kernel->cases);
    kernel->cases[kernel->case_count] = *wanted;
    return &kernel->cases[kernel->case_count++];
}

static struct kernel_case *kernel_case_for(struct kernel *kernel, const struct analysis_chosen *chosen)
{
    struct kernel_case wanted = {
        .table = kernel_table_for(kernel, chosen), .order = kernel->case_count, .first = *chosen};
    for (int i = 0; i < KERNEL_FACETS; i++) {
        struct text text = {0};
        kernel_facet_add(kernel, chosen->set, (enum kernel_facet)i, &text);
        wanted.facets[i] = memory_copy(text_get(&text));
        text_clear(&text);
    }
    wanted.file_bytes = kernel_size_bytes(chosen->set);
    return kernel_insert_case(kernel, &wanted);
}

/* ---- times ---- */

static struct kernel_measure *kernel_measure_for(struct kernel_case *c, const char *key, bool series)
{
    for (size_t i = 0; i < c->measure_count; i++)
        if (c->measures[i].series == series && strcmp(c->measures[i].key, key) == 0)
            return &c->measures[i];
    c->measures = memory_grow(c->measures, c->measure_count, sizeof *c->measures);
    c->measures[c->measure_count] = (struct kernel_measure){.key = key, .series = series};
    return &c->measures[c->measure_count++];
}

static void kernel_add_sample(struct kernel_case *c, const char *key, bool series, const struct kernel_sample *sample)
{
    struct kernel_measure *measure = kernel_measure_for(c, key, series);
    measure->samples = memory_grow(measure->samples, measure->count, sizeof *measure->samples);
    measure->samples[measure->count++] = *sample;
}

double kernel_single_bytes(const struct blockfile_set *set, const char *key)
{
    char param[128];
    snprintf(param, sizeof param, "%.100s_bytes", key);
    const double own = kernel_param_number(set, param);
    if (!isnan(own))
        return own;
    return strcmp(key, "write") == 0 || strcmp(key, "read") == 0 ? kernel_param_number(set, "filesize_bytes") : NAN;
}

static int kernel_compare_timings(const void *a, const void *b)
{
    const struct blockfile_timing *x = a;
    const struct blockfile_timing *y = b;
    const int keys = strcmp(x->key, y->key);
    return keys ? keys : x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* timings[0..count) are of one key, sorted by rank; a rank may have several, which add up. A rank that was not asked
 * for has moved a part of the bytes, nobody knows which: no rate then. */
static pl_status kernel_time_sample(const struct analysis_request *request, const struct analysis_chosen *chosen,
                                    const struct blockfile_timing *timings, size_t count,
                                    struct kernel_sample *ret_sample, struct pl_error *error)
{
    double longest = -1;
    struct analysis_time on_clock = {NAN, NAN};
    double sum = 0;
    double ranks = 0;
    bool all = true;
    for (size_t i = 0, end; i < count; i = end) {
        double time = 0;
        for (end = i; end < count && timings[end].rank == timings[i].rank; end++)
            time += (double)timings[end].nanoseconds;
        if (!analysis_ranks_hold(&request->ranks, timings[i].rank)) {
            all = false;
            continue;
        }
        longest = fmax(longest, time);
        sum += time;
        ranks++;
    }
    const double bytes = all ? kernel_single_bytes(chosen->set, timings[0].key) : NAN;
    const char *const keys[] = {timings[0].key};
    const pl_status status = isnan(bytes) ? PL_OK : analysis_busy_of(request, chosen, keys, 1, &on_clock, error);
    const double call_rate = longest > 0 ? bytes / longest * 1e3 : NAN;
    *ret_sample = (struct kernel_sample){.bytes = bytes,
                                         .rate = isnan(on_clock.busy_ns) ? call_rate : bytes / on_clock.busy_ns * 1e3,
                                         .rate_error = NAN,
                                         .call_rate = call_rate,
                                         .call_rate_error = NAN,
                                         .span_rate = bytes / on_clock.span_ns * 1e3,
                                         .by_calls = isnan(on_clock.busy_ns),
                                         .longest_ns = ranks > 0 ? longest : NAN,
                                         .imbalance = sum > 0 ? longest / (sum / ranks) : NAN,
                                         .operations = NAN,
                                         .operation_ns = NAN,
                                         .operation_error_ns = NAN};
    return status;
}

static bool kernel_is_asked(const struct analysis_request *request, const char *key)
{
    return !request->op || strcmp(request->op, key) == 0;
}

static pl_status kernel_add_times(const struct analysis_request *request, struct kernel_case *c,
                                  const struct analysis_chosen *chosen, struct pl_error *error)
{
    const struct blockfile_set *set = chosen->set;
    pl_status status = PL_OK;
    struct blockfile_timing *sorted = memory_new(set->time_count + 1, sizeof *sorted);
    for (size_t i = 0; i < set->time_count; i++) {
        sorted[i] = set->times[i];
        if (kernel_is_asked(request, set->times[i].key)) /* in the order of the file, which is that of the run */
            kernel_measure_for(c, set->times[i].key, false);
    }
    qsort(sorted, set->time_count, sizeof *sorted, kernel_compare_timings);
    for (size_t first = 0, end; first < set->time_count && status == PL_OK; first = end) {
        struct kernel_sample sample;
        for (end = first + 1; end < set->time_count && strcmp(sorted[end].key, sorted[first].key) == 0;)
            end++;
        if (!kernel_is_asked(request, sorted[first].key))
            continue;
        status = kernel_time_sample(request, chosen, sorted + first, end - first, &sample, error);
        if (status == PL_OK && !isnan(sample.longest_ns))
            kernel_add_sample(c, sorted[first].key, false, &sample);
    }
    free(sorted);
    return status;
}

static struct kernel_sample kernel_series_sample(const struct analysis_rows *rows, const struct analysis_op_times *op)
{
    struct analysis_op_rate rate = {.rate = {NAN, NAN}, .call_rate = {NAN, NAN}, .span_rate = NAN, .bytes = NAN};
    double longest = 0;
    analysis_op_rate(rows, op->first, op->end, &rate);
    for (size_t i = op->first; i < op->end; i++)
        longest = fmax(longest, rows->rows[i].times.sum);
    struct analysis_estimate mean = {op->sum / (double)op->n, NAN};
    if (op->processes == 1)
        for (size_t i = op->first; i < op->end; i++)
            if (rows->rows[i].times.n)
                mean = analysis_series_mean(&rows->rows[i].times);
    return (struct kernel_sample){.bytes = rate.bytes,
                                  .rate = rate.rate.value,
                                  .rate_error = rate.rate.error,
                                  .call_rate = rate.call_rate.value,
                                  .call_rate_error = rate.call_rate.error,
                                  .span_rate = rate.span_rate,
                                  .by_calls = rate.by_calls,
                                  .longest_ns = longest,
                                  .imbalance = op->sum > 0 ? longest / (op->sum / op->processes) : NAN,
                                  .operations = (double)op->n,
                                  .operation_ns = mean.value,
                                  .operation_error_ns = mean.error};
}

static pl_status kernel_add_series(const struct analysis_request *request, struct kernel_case *c,
                                   const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct analysis_rows rows;
    pl_status status = analysis_rows_build(request, chosen, &rows, error);
    for (size_t i = 0; status == PL_OK && i < rows.op_count; i++) {
        const char *key = rows.rows[rows.ops[i].first].series->key;
        if (rows.ops[i].n == 0 || !kernel_is_asked(request, key))
            continue;
        const struct kernel_sample sample = kernel_series_sample(&rows, &rows.ops[i]);
        kernel_add_sample(c, key, true, &sample);
    }
    analysis_rows_clear(&rows);
    return status;
}

static void kernel_add_value(struct kernel_case *c, const char *key, double number)
{
    size_t i = 0;
    while (i < c->value_count && strcmp(c->values[i].key, key) != 0)
        i++;
    if (i == c->value_count) {
        c->values = memory_grow(c->values, c->value_count, sizeof *c->values);
        c->values[c->value_count++] = (struct kernel_value){.key = key};
    }
    c->values[i].sum += number;
    c->values[i].count++;
}

static void kernel_add_values(const struct kernel *kernel, struct kernel_case *c, const struct blockfile_set *set)
{
    for (size_t i = 0; i < set->param_count; i++) {
        const char *key = set->params[i].key;
        double number;
        if (!kernel_is_covered(key) && !kernel_is_other(kernel, key) &&
            units_parse_number(set->params[i].value, &number))
            kernel_add_value(c, key, number);
    }
}

static size_t kernel_sample_count(const struct kernel_case *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->measure_count; i++)
        count += c->measures[i].count;
    return count;
}

pl_status kernel_add_set(struct kernel *kernel, const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct kernel_case *c = kernel_case_for(kernel, chosen);
    if (chosen->set->error_count) {
        c->failed++;
        kernel->failed_sets++;
        return PL_OK;
    }
    const size_t before = kernel_sample_count(c);
    pl_status status = kernel_add_times(kernel->request, c, chosen, error);
    if (status == PL_OK)
        status = kernel_add_series(kernel->request, c, chosen, error);
    if (status != PL_OK || kernel_sample_count(c) == before)
        return status;
    c->sets++;
    kernel_add_values(kernel, c, chosen->set);
    return PL_OK;
}

/* ---- averages ---- */

static double kernel_field_at(const struct kernel_sample *sample, size_t offset)
{
    double value;
    memcpy(&value, (const char *)sample + offset, sizeof value);
    return value;
}

#define FIELD(name) offsetof(struct kernel_sample, name)

/* Over the sets that have it; numbers[] has room for all of them. */
static struct analysis_estimate kernel_mean_of(const struct kernel_measure *measure, size_t offset, double *numbers)
{
    size_t count = 0;
    for (size_t i = 0; i < measure->count; i++) {
        const double value = kernel_field_at(&measure->samples[i], offset);
        if (isfinite(value))
            numbers[count++] = value;
    }
    return analysis_mean(numbers, count);
}

static void kernel_average(struct kernel_measure *measure)
{
    double *numbers = memory_new(measure->count + 1, sizeof *numbers);
    measure->bytes = kernel_mean_of(measure, FIELD(bytes), numbers).value;
    measure->imbalance = kernel_mean_of(measure, FIELD(imbalance), numbers).value;
    measure->operations = kernel_mean_of(measure, FIELD(operations), numbers).value;
    measure->rate.rate = kernel_mean_of(measure, FIELD(rate), numbers);
    measure->rate.call_rate = kernel_mean_of(measure, FIELD(call_rate), numbers);
    measure->rate.span_rate = kernel_mean_of(measure, FIELD(span_rate), numbers).value;
    for (size_t i = 0; i < measure->count; i++)
        measure->rate.by_calls = measure->rate.by_calls || measure->samples[i].by_calls;
    measure->longest_ns = kernel_mean_of(measure, FIELD(longest_ns), numbers);
    measure->operation_ns = kernel_mean_of(measure, FIELD(operation_ns), numbers);
    if (measure->count == 1) { /* a series has batches; of several sets their spread tells more */
        measure->rate.rate.error = measure->samples[0].rate_error;
        measure->rate.call_rate.error = measure->samples[0].call_rate_error;
        measure->operation_ns.error = measure->samples[0].operation_error_ns;
    }
    if (measure->rate.by_calls) /* of some or of all: one definition for what is averaged */
        measure->rate.rate = measure->rate.call_rate;
    free(numbers);
}

static int kernel_compare_cases(const void *a, const void *b)
{
    const struct kernel_case *x = a;
    const struct kernel_case *y = b;
    if (x->table != y->table)
        return x->table < y->table ? -1 : 1;
    const double x_bytes = isnan(x->file_bytes) ? 0 : x->file_bytes;
    const double y_bytes = isnan(y->file_bytes) ? 0 : y->file_bytes;
    if (x_bytes != y_bytes)
        return x_bytes < y_bytes ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void kernel_clear_case(struct kernel_case *c)
{
    kernel_clear_facets(c);
    for (size_t i = 0; i < c->measure_count; i++)
        free(c->measures[i].samples);
    free(c->measures);
    free(c->values);
}

void kernel_finish(struct kernel *kernel)
{
    size_t kept = 0;
    for (size_t i = 0; i < kernel->case_count; i++) {
        struct kernel_case *c = &kernel->cases[i];
        if (c->sets == 0 && c->failed == 0) /* nothing of it was asked for */
            kernel_clear_case(c);
        else
            kernel->cases[kept++] = *c;
    }
    kernel->case_count = kept;
    for (size_t i = 0; i < kept; i++)
        for (size_t m = 0; m < kernel->cases[i].measure_count; m++)
            kernel_average(&kernel->cases[i].measures[m]);
    if (kept)
        qsort(kernel->cases, kept, sizeof *kernel->cases, kernel_compare_cases);
}

void kernel_clear(struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->case_count; i++)
        kernel_clear_case(&kernel->cases[i]);
    free(kernel->cases);
    free(kernel->tables);
    free(kernel->names);
    *kernel = (struct kernel){0};
}

const struct kernel_measure *kernel_measure_of(const struct kernel_case *c, const char *key, bool series)
{
    for (size_t i = 0; i < c->measure_count; i++)
        if (c->measures[i].count && c->measures[i].series == series && strcmp(c->measures[i].key, key) == 0)
            return &c->measures[i];
    return NULL;
}

double kernel_value_of(const struct kernel_case *c, const char *key)
{
    for (size_t i = 0; i < c->value_count; i++)
        if (strcmp(c->values[i].key, key) == 0)
            return c->values[i].sum / (double)c->values[i].count;
    return NAN;
}

double kernel_longest_ns(const struct kernel_case *c, const char *key)
{
    const struct kernel_measure *measure = kernel_measure_of(c, key, false);
    return measure ? measure->longest_ns.value : NAN;
}

/* ---- cases that are compared ---- */

bool kernel_is_test(const struct kernel *kernel, const struct kernel_case *c, const char *testname)
{
    return strcmp(kernel->tables[c->table].traits[KERNEL_TEST], testname) == 0;
}

bool kernel_same_but_hints(const struct kernel_case *a, const struct kernel_case *b)
{
    if (a->table != b->table)
        return false;
    for (int i = 0; i < KERNEL_FACETS; i++)
        if (i != KERNEL_HINTS && strcmp(a->facets[i], b->facets[i]) != 0)
            return false;
    return true;
}

/* In what matrix2D and gatherscat2D have both; gatherscat2D has no choice of access. */
static bool kernel_same_matrix(const struct kernel *kernel, const struct kernel_case *a, const struct kernel_case *b)
{
    static const enum kernel_facet facets[] = {KERNEL_SIZE, KERNEL_GRID, KERNEL_DISTRIBUTION, KERNEL_OTHER};
    const struct kernel_table *tables = kernel->tables;
    for (int i = KERNEL_NPROCS; i < KERNEL_TRAITS; i++)
        if (strcmp(tables[a->table].traits[i], tables[b->table].traits[i]) != 0)
            return false;
    for (size_t i = 0; i < sizeof facets / sizeof facets[0]; i++)
        if (strcmp(a->facets[facets[i]], b->facets[facets[i]]) != 0)
            return false;
    return true;
}

size_t kernel_gather_for(const struct kernel *kernel, const struct kernel_case *matrix)
{
    size_t without_hints = SIZE_MAX;
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        if (c->sets == 0 || !kernel_is_test(kernel, c, "gatherscat2D") || !kernel_same_matrix(kernel, c, matrix))
            continue;
        if (strcmp(c->facets[KERNEL_HINTS], matrix->facets[KERNEL_HINTS]) == 0)
            return i;
        if (c->facets[KERNEL_HINTS][0] == '\0')
            without_hints = i;
    }
    return without_hints;
}

struct kernel_exchange kernel_exchange(const struct kernel_case *matrix, const struct kernel_case *gather)
{
    return (struct kernel_exchange){
        .matrix_write = kernel_longest_ns(matrix, "write"),
        .gather_write = kernel_longest_ns(gather, "gather") + kernel_longest_ns(gather, "write"),
        .matrix_read = kernel_longest_ns(matrix, "read"),
        .scatter_read = kernel_longest_ns(gather, "read") + kernel_longest_ns(gather, "scatter"),
    };
}

size_t kernel_sweep(const struct kernel *kernel, size_t first, size_t *ret_members)
{
    size_t count = 0;
    for (size_t i = 0; i < kernel->case_count; i++) {
        if (!kernel_same_but_hints(&kernel->cases[first], &kernel->cases[i]))
            continue;
        if (i < first)
            return 0;
        ret_members[count++] = i;
    }
    return count > 1 ? count : 0;
}

size_t kernel_best(const struct kernel *kernel, const size_t *members, size_t count, const char *key, bool series)
{
    size_t best = SIZE_MAX;
    size_t rated = 0;
    double highest = -1;
    for (size_t i = 0; i < count; i++) {
        const struct kernel_measure *measure = kernel_measure_of(&kernel->cases[members[i]], key, series);
        if (!measure || !isfinite(measure->rate.rate.value))
            continue;
        rated++;
        if (measure->rate.rate.value > highest) {
            highest = measure->rate.rate.value;
            best = members[i];
        }
    }
    return rated > 1 ? best : SIZE_MAX;
}
