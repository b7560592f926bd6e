/* From sets to cases: which sets are repeats of each other, and the averages over them. */
#include "measure/analysis_kernel.h"

#include "base/units.h"
#include "measure/analysis_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static pl_status no_memory(struct pl_error *error)
{
    return pl_fail(error, PL_E_NOMEM, "not enough memory for the times of kernels");
}

/* ---- finding the case ---- */

static const char *known(const char *value)
{
    return value ? value : "";
}

/* Index, SIZE_MAX: no memory. */
static size_t table_for(struct kernel *kernel, const struct analysis_chosen *chosen)
{
    const struct kernel_table table = {
        .traits = {[KERNEL_TEST] = chosen->block->testname,
                   [KERNEL_NPROCS] = known(blockfile_fact_of(chosen->block, "nprocs")),
                   [KERNEL_MPIIO] = known(blockfile_fact_of(chosen->block, "mpiio")),
                   [KERNEL_FILESYSTEM] = known(blockfile_fact_of(chosen->block, "filesystem"))}};
    for (size_t i = 0; i < kernel->table_count; i++) {
        int same = 0;
        while (same < KERNEL_TRAITS && strcmp(kernel->tables[i].traits[same], table.traits[same]) == 0)
            same++;
        if (same == KERNEL_TRAITS)
            return i;
    }
    struct kernel_table *tables = realloc(kernel->tables, (kernel->table_count + 1) * sizeof *tables);
    if (!tables)
        return SIZE_MAX;
    kernel->tables = tables;
    tables[kernel->table_count] = table;
    return kernel->table_count++;
}

static void clear_facets(struct kernel_case *c)
{
    for (int i = 0; i < KERNEL_FACETS; i++)
        free(c->facets[i]);
}

static bool same_case(const struct kernel_case *a, const struct kernel_case *b)
{
    return kernel_same_but_hints(a, b) && strcmp(a->facets[KERNEL_HINTS], b->facets[KERNEL_HINTS]) == 0;
}

static struct kernel_case *insert_case(struct kernel *kernel, struct kernel_case *wanted)
{
    /* the sets of a block come one after another: the case before is as likely as the first */
    for (size_t i = kernel->case_count; i-- > 0;)
        if (same_case(&kernel->cases[i], wanted)) {
            clear_facets(wanted);
            return &kernel->cases[i];
        }
    struct kernel_case *cases = kernel->cases;
    if ((kernel->case_count & (kernel->case_count + 1)) == 0) /* 0, 1, 3, 7, …: room for as many again */
        cases = realloc(kernel->cases, (2 * kernel->case_count + 1) * sizeof *cases);
    if (!cases) {
        clear_facets(wanted);
        return NULL;
    }
    kernel->cases = cases;
    cases[kernel->case_count] = *wanted;
    return &cases[kernel->case_count++];
}

/* NULL: no memory. */
static struct kernel_case *case_for(struct kernel *kernel, const struct analysis_chosen *chosen)
{
    struct kernel_case wanted = {.table = table_for(kernel, chosen), .order = kernel->case_count, .first = *chosen};
    bool failed = wanted.table == SIZE_MAX;
    for (int i = 0; i < KERNEL_FACETS; i++) {
        struct text text = {0};
        kernel_facet_add(kernel, chosen->set, (enum kernel_facet)i, &text);
        failed = failed || text.failed;
        wanted.facets[i] = text.data ? text.data : text_dup("");
        failed = failed || !wanted.facets[i];
    }
    wanted.file_bytes = kernel_size_bytes(chosen->set);
    if (failed) {
        clear_facets(&wanted);
        return NULL;
    }
    return insert_case(kernel, &wanted);
}

/* ---- times ---- */

static struct kernel_measure *measure_for(struct kernel_case *c, const char *key, bool series)
{
    for (size_t i = 0; i < c->measure_count; i++)
        if (c->measures[i].series == series && strcmp(c->measures[i].key, key) == 0)
            return &c->measures[i];
    struct kernel_measure *measures = realloc(c->measures, (c->measure_count + 1) * sizeof *measures);
    if (!measures)
        return NULL;
    c->measures = measures;
    measures[c->measure_count] = (struct kernel_measure){.key = key, .series = series};
    return &measures[c->measure_count++];
}

static bool add_sample(struct kernel_case *c, const char *key, bool series, const struct kernel_sample *sample)
{
    struct kernel_measure *measure = measure_for(c, key, series);
    struct kernel_sample *samples = measure ? realloc(measure->samples, (measure->count + 1) * sizeof *samples) : NULL;
    if (!samples)
        return false;
    measure->samples = samples;
    samples[measure->count++] = *sample;
    return true;
}

/* What the ranks move in a single time: all of the file, unless a parameter says otherwise. */
static double bytes_of(const struct blockfile_set *set, const char *key)
{
    char param[128];
    snprintf(param, sizeof param, "%.100s_bytes", key);
    const double own = kernel_param_number(set, param);
    if (!isnan(own))
        return own;
    return strcmp(key, "write") == 0 || strcmp(key, "read") == 0 ? kernel_param_number(set, "filesize_bytes") : NAN;
}

static int compare_timings(const void *a, const void *b)
{
    const struct blockfile_timing *x = a;
    const struct blockfile_timing *y = b;
    const int keys = strcmp(x->key, y->key);
    return keys ? keys : x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* timings[0..count) are of one key, sorted by rank; a rank may have several, which add up. A rank that was not asked
 * for has moved a part of the bytes, nobody knows which: no rate then. */
static struct kernel_sample time_sample(const struct analysis_request *request, const struct blockfile_set *set,
                                        const struct blockfile_timing *timings, size_t count)
{
    double longest = -1;
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
    const double bytes = all ? bytes_of(set, timings[0].key) : NAN;
    return (struct kernel_sample){.bytes = bytes,
                                  .rate = longest > 0 ? bytes / longest * 1e3 : NAN,
                                  .rate_error = NAN,
                                  .longest_ns = ranks > 0 ? longest : NAN,
                                  .imbalance = sum > 0 ? longest / (sum / ranks) : NAN,
                                  .operations = NAN,
                                  .operation_ns = NAN,
                                  .operation_error_ns = NAN};
}

static bool is_asked(const struct analysis_request *request, const char *key)
{
    return !request->op || strcmp(request->op, key) == 0;
}

static bool add_times(const struct analysis_request *request, struct kernel_case *c, const struct blockfile_set *set)
{
    struct blockfile_timing *sorted = malloc((set->time_count + 1) * sizeof *sorted);
    bool done = sorted != NULL;
    for (size_t i = 0; done && i < set->time_count; i++) {
        sorted[i] = set->times[i];
        /* in the order of the file, which is that of the run */
        done = !is_asked(request, set->times[i].key) || measure_for(c, set->times[i].key, false);
    }
    if (done)
        qsort(sorted, set->time_count, sizeof *sorted, compare_timings);
    for (size_t first = 0, end; done && first < set->time_count; first = end) {
        for (end = first + 1; end < set->time_count && strcmp(sorted[end].key, sorted[first].key) == 0;)
            end++;
        if (!is_asked(request, sorted[first].key))
            continue;
        const struct kernel_sample sample = time_sample(request, set, sorted + first, end - first);
        done = isnan(sample.longest_ns) || add_sample(c, sorted[first].key, false, &sample);
    }
    free(sorted);
    return done;
}

static struct kernel_sample series_sample(const struct analysis_rows *rows, const struct analysis_op_times *op)
{
    struct analysis_op_rate rate = {.rate = {NAN, NAN}, .bytes = NAN};
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
                                  .longest_ns = longest,
                                  .imbalance = op->sum > 0 ? longest / (op->sum / op->processes) : NAN,
                                  .operations = (double)op->n,
                                  .operation_ns = mean.value,
                                  .operation_error_ns = mean.error};
}

static pl_status add_series(const struct analysis_request *request, struct kernel_case *c,
                            const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct analysis_rows rows;
    pl_status status = analysis_rows_build(request, chosen, &rows, error);
    for (size_t i = 0; status == PL_OK && i < rows.op_count; i++) {
        const char *key = rows.rows[rows.ops[i].first].series->key;
        if (rows.ops[i].n == 0 || !is_asked(request, key))
            continue;
        const struct kernel_sample sample = series_sample(&rows, &rows.ops[i]);
        if (!add_sample(c, key, true, &sample))
            status = no_memory(error);
    }
    analysis_rows_clear(&rows);
    return status;
}

static bool add_value(struct kernel_case *c, const char *key, double number)
{
    for (size_t i = 0; i < c->value_count; i++)
        if (strcmp(c->values[i].key, key) == 0) {
            c->values[i].sum += number;
            c->values[i].count++;
            return true;
        }
    struct kernel_value *values = realloc(c->values, (c->value_count + 1) * sizeof *values);
    if (!values)
        return false;
    c->values = values;
    values[c->value_count++] = (struct kernel_value){key, number, 1};
    return true;
}

static bool add_values(const struct kernel *kernel, struct kernel_case *c, const struct blockfile_set *set)
{
    for (size_t i = 0; i < set->param_count; i++) {
        const char *key = set->params[i].key;
        double number;
        if (!kernel_is_covered(key) && !kernel_is_other(kernel, key) &&
            units_parse_number(set->params[i].value, &number) && !add_value(c, key, number))
            return false;
    }
    return true;
}

static size_t sample_count(const struct kernel_case *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->measure_count; i++)
        count += c->measures[i].count;
    return count;
}

pl_status kernel_add_set(struct kernel *kernel, const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct kernel_case *c = case_for(kernel, chosen);
    if (!c)
        return no_memory(error);
    if (chosen->set->error_count) {
        c->failed++;
        kernel->failed_sets++;
        return PL_OK;
    }
    const size_t before = sample_count(c);
    if (!add_times(kernel->request, c, chosen->set))
        return no_memory(error);
    const pl_status status = add_series(kernel->request, c, chosen, error);
    if (status)
        return status;
    if (sample_count(c) == before)
        return PL_OK;
    c->sets++;
    return add_values(kernel, c, chosen->set) ? PL_OK : no_memory(error);
}

/* ---- averages ---- */

static double at(const struct kernel_sample *sample, size_t offset)
{
    double value;
    memcpy(&value, (const char *)sample + offset, sizeof value);
    return value;
}

#define FIELD(name) offsetof(struct kernel_sample, name)

/* Over the sets that have it; numbers[] has room for all of them. */
static struct analysis_estimate mean_of(const struct kernel_measure *measure, size_t offset, double *numbers)
{
    size_t count = 0;
    for (size_t i = 0; i < measure->count; i++) {
        const double value = at(&measure->samples[i], offset);
        if (isfinite(value))
            numbers[count++] = value;
    }
    return analysis_mean(numbers, count);
}

static bool average(struct kernel_measure *measure)
{
    double *numbers = malloc((measure->count + 1) * sizeof *numbers);
    if (!numbers)
        return false;
    measure->bytes = mean_of(measure, FIELD(bytes), numbers).value;
    measure->imbalance = mean_of(measure, FIELD(imbalance), numbers).value;
    measure->operations = mean_of(measure, FIELD(operations), numbers).value;
    measure->rate = mean_of(measure, FIELD(rate), numbers);
    measure->longest_ns = mean_of(measure, FIELD(longest_ns), numbers);
    measure->operation_ns = mean_of(measure, FIELD(operation_ns), numbers);
    if (measure->count == 1) { /* a series has batches; of several sets their spread tells more */
        measure->rate.error = measure->samples[0].rate_error;
        measure->operation_ns.error = measure->samples[0].operation_error_ns;
    }
    free(numbers);
    return true;
}

static int compare_cases(const void *a, const void *b)
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

static void clear_case(struct kernel_case *c)
{
    clear_facets(c);
    for (size_t i = 0; i < c->measure_count; i++)
        free(c->measures[i].samples);
    free(c->measures);
    free(c->values);
}

pl_status kernel_finish(struct kernel *kernel, struct pl_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < kernel->case_count; i++) {
        struct kernel_case *c = &kernel->cases[i];
        if (c->sets == 0 && c->failed == 0) /* nothing of it was asked for */
            clear_case(c);
        else
            kernel->cases[kept++] = *c;
    }
    kernel->case_count = kept;
    for (size_t i = 0; i < kept; i++)
        for (size_t m = 0; m < kernel->cases[i].measure_count; m++)
            if (!average(&kernel->cases[i].measures[m]))
                return no_memory(error);
    if (kept)
        qsort(kernel->cases, kept, sizeof *kernel->cases, compare_cases);
    return PL_OK;
}

void kernel_clear(struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->case_count; i++)
        clear_case(&kernel->cases[i]);
    free(kernel->cases);
    free(kernel->tables);
    free(kernel->names);
    text_clear(&kernel->left_out);
    *kernel = (struct kernel){0};
}

const struct kernel_case **kernel_list_new(const struct kernel *kernel)
{
    return calloc(kernel->case_count + 1, sizeof(const struct kernel_case *));
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
