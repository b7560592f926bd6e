/* The summaries of kernels: JSON and CSV. */
#include "measure/analysis_kernel.h"

#include "measure/analysis_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static void json_measure(struct json *json, const struct kernel_measure *measure)
{
    json_row_begin(json, NULL);
    json_put_string(json, "key", measure->key);
    json_put_string(json, "kind", measure->series ? "series" : "time");
    json_put_int(json, "sets", (int64_t)measure->count);
    json_put_double(json, "bytes", measure->bytes);
    json_put_double(json, "rate_mb_per_s", measure->rate.value);
    json_put_double(json, "rate_error_mb_per_s", measure->rate.error);
    json_put_double(json, "longest_ns", measure->longest_ns.value);
    json_put_double(json, "longest_error_ns", measure->longest_ns.error);
    json_put_double(json, "imbalance", measure->imbalance);
    json_put_double(json, "operations", measure->operations);
    json_put_double(json, "operation_ns", measure->operation_ns.value);
    json_put_double(json, "operation_error_ns", measure->operation_ns.error);
    json_object_end(json);
}

static void json_facets(struct json *json, const struct kernel_case *c)
{
    for (int i = 0; i < KERNEL_OTHER; i++)
        json_put_string(json, KERNEL_FACET_NAMES[i], c->facets[i][0] ? c->facets[i] : NULL);
    json_row_begin(json, "params");
    for (size_t i = 0; i < c->first.set->param_count; i++)
        json_put_string(json, c->first.set->params[i].key, c->first.set->params[i].value);
    json_object_end(json);
    json_row_begin(json, "hints");
    for (size_t i = 0; i < c->first.set->hint_count; i++)
        if (!c->first.set->hints[i].used)
            json_put_string(json, c->first.set->hints[i].key, c->first.set->hints[i].value);
    json_object_end(json);
}

static void json_case(struct json *json, const struct kernel *kernel, const struct kernel_case *c)
{
    json_object_begin(json, NULL);
    for (int i = 0; i < KERNEL_TRAITS; i++)
        json_put_string(json, KERNEL_TRAIT_NAMES[i], kernel->tables[c->table].traits[i]);
    json_facets(json, c);
    json_put_double(json, "file_bytes", c->file_bytes);
    json_put_int(json, "sets", (int64_t)c->sets);
    json_put_int(json, "failed", (int64_t)c->failed);
    json_array_begin(json, "measures");
    for (size_t i = 0; i < c->measure_count; i++)
        if (c->measures[i].count)
            json_measure(json, &c->measures[i]);
    json_array_end(json);
    json_row_begin(json, "values");
    for (size_t i = 0; i < c->value_count; i++)
        json_put_double(json, c->values[i].key, kernel_value_of(c, c->values[i].key));
    json_object_end(json);
    json_object_end(json);
}

/* Cases are named by their place in `cases`, from 0. */
static void json_comparisons(struct json *json, const struct kernel *kernel)
{
    json_array_begin(json, "gatherscat2D");
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        const size_t gather = kernel_is_test(kernel, c, "matrix2D") ? kernel_gather_for(kernel, c) : SIZE_MAX;
        if (gather == SIZE_MAX)
            continue;
        const struct kernel_exchange times = kernel_exchange(c, &kernel->cases[gather]);
        json_row_begin(json, NULL);
        json_put_int(json, "matrix2D", (int64_t)i);
        json_put_int(json, "gatherscat2D", (int64_t)gather);
        json_put_double(json, "write_ns", times.matrix_write);
        json_put_double(json, "gather_write_ns", times.gather_write);
        json_put_double(json, "write_ratio", times.gather_write / times.matrix_write);
        json_put_double(json, "read_ns", times.matrix_read);
        json_put_double(json, "read_scatter_ns", times.scatter_read);
        json_put_double(json, "read_ratio", times.scatter_read / times.matrix_read);
        json_object_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "transpose");
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        const double read = kernel_longest_ns(c, "read");
        const double internal = kernel_longest_ns(c, "internal");
        if (!kernel_is_test(kernel, c, "transpose") || isnan(read + internal))
            continue;
        json_row_begin(json, NULL);
        json_put_int(json, "case", (int64_t)i);
        json_put_double(json, "read_ns", read);
        json_put_double(json, "internal_ns", internal);
        json_put_double(json, "ratio", read / internal);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_sweep(struct json *json, const struct kernel *kernel, const size_t *members, size_t count)
{
    json_object_begin(json, NULL);
    json_numbers_begin(json, "cases");
    for (size_t i = 0; i < count; i++)
        json_put_int(json, NULL, (int64_t)members[i]);
    json_array_end(json);
    json_row_begin(json, "best");
    const struct kernel_case *c = &kernel->cases[members[0]];
    for (size_t i = 0; i < c->measure_count; i++) {
        const size_t best = kernel_best(kernel, members, count, c->measures[i].key, c->measures[i].series);
        if (best != SIZE_MAX)
            json_put_int(json, c->measures[i].key, (int64_t)best);
    }
    json_object_end(json);
    json_object_end(json);
}

pl_status kernel_write_json(const struct kernel *kernel, struct json *json, struct pl_error *error)
{
    json_array_begin(json, "cases");
    for (size_t i = 0; i < kernel->case_count; i++)
        json_case(json, kernel, &kernel->cases[i]);
    json_array_end(json);
    json_comparisons(json, kernel);
    size_t *members = malloc((kernel->case_count + 1) * sizeof *members);
    json_array_begin(json, "hint_sweeps");
    for (size_t i = 0; members && i < kernel->case_count; i++) {
        const size_t count = kernel_sweep(kernel, i, members);
        if (count)
            json_sweep(json, kernel, members, count);
    }
    json_array_end(json);
    free(members);
    return members ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory");
}

/* ---- CSV ---- */

/* Several keys of one facet, each with its value, stand behind each other: "a=1;b=2". */
static void csv_facet(FILE *csv, const char *facet)
{
    struct text text = {0};
    for (const char *c = facet; *c; c++)
        if (*c != '\n')
            text_append(&text, c, 1);
        else if (c[1])
            text_add(&text, ";");
    analysis_csv_field(csv, text_get(&text));
    fputc(',', csv);
    text_clear(&text);
}

static void csv_case(FILE *csv, const struct kernel *kernel, const struct kernel_case *c)
{
    for (int i = 0; i < KERNEL_TRAITS; i++) {
        analysis_csv_field(csv, kernel->tables[c->table].traits[i]);
        fputc(',', csv);
    }
    for (int i = 0; i < KERNEL_FACETS; i++)
        csv_facet(csv, c->facets[i]);
    fprintf(csv, "%zu,%zu", c->sets, c->failed);
    analysis_csv_number(csv, c->file_bytes);
}

static void csv_measure(FILE *csv, const struct kernel_measure *measure)
{
    const double numbers[] = {measure->bytes,
                              measure->rate.value,
                              measure->rate.error,
                              measure->longest_ns.value,
                              measure->longest_ns.error,
                              measure->imbalance,
                              measure->operations,
                              measure->operation_ns.value,
                              measure->operation_ns.error};
    fputc(',', csv);
    analysis_csv_field(csv, measure->key);
    fputs(measure->series ? ",series" : ",time", csv);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        analysis_csv_number(csv, numbers[i]);
    fputc('\n', csv);
}

void kernel_write_csv(const struct kernel *kernel, FILE *csv)
{
    for (int i = 0; i < KERNEL_TRAITS; i++)
        fprintf(csv, "%s,", KERNEL_TRAIT_NAMES[i]);
    for (int i = 0; i < KERNEL_FACETS; i++)
        fprintf(csv, "%s,", KERNEL_FACET_NAMES[i]);
    fputs(
        "sets,failed,file_bytes,key,kind,bytes,rate_mb_per_s,rate_error_mb_per_s,longest_ns,longest_error_ns,imbalance,"
        "operations,operation_ns,operation_error_ns\n",
        csv);
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        for (size_t m = 0; m < c->measure_count; m++)
            if (c->measures[m].count) {
                csv_case(csv, kernel, c);
                csv_measure(csv, &c->measures[m]);
            }
        for (size_t v = 0; v < c->value_count; v++) { /* what the run found, as a key without times */
            csv_case(csv, kernel, c);
            fputc(',', csv);
            analysis_csv_field(csv, c->values[v].key);
            fprintf(csv, ",value,%.15g,,,,,,,,\n", kernel_value_of(c, c->values[v].key));
        }
        if (c->sets == 0) {
            csv_case(csv, kernel, c);
            fputs(",,failed,,,,,,,,,\n", csv);
        }
    }
}
