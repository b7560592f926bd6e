/* kernel (IOT-33): the rates of kernels by problem size, process grid, distribution and hints.
 *   analysis_kernel_facets.c   what tells sets apart
 *   analysis_kernel_cases.c    sets become cases, repeats are averaged
 *   analysis_kernel_columns.c  what tells cases apart, as narrow columns
 *   analysis_kernel_text.c     the tables; _compare.c and _sweep.c: cases against each other
 *   analysis_kernel_summary.c  JSON and CSV
 *   analysis_kernel_curves.c   what the plot draws; analysis_kernel_plot.c draws it */
#include "measure/analysis_kernel.h"

#include "measure/analysis_format.h"
#include "measure/analysis_tools.h"
#include "measure/plot.h"

#include <string.h>

/* ---- collecting ---- */

static void tell_failure(const struct kernel *kernel, struct json *json, const struct analysis_chosen *chosen)
{
    if (kernel->request->text) {
        analysis_print_set(chosen, kernel->request->text);
        analysis_print_failures(chosen, kernel->request->text);
        fputc('\n', kernel->request->text);
    }
    if (kernel->request->json) {
        json_object_begin(json, NULL);
        analysis_json_set(json, chosen);
        json_object_end(json);
    }
}

static pl_status collect(struct kernel *kernel, struct json *json, const struct analysis_input *input,
                         struct pl_error *error)
{
    struct analysis_chosen chosen = {0};
    pl_status status = kernel_names_init(kernel, input, error);
    while (status == PL_OK && analysis_next(kernel->request, input, &chosen)) {
        if (!analysis_is_kernel(chosen.block)) {
            kernel->other_sets++;
            continue;
        }
        if (chosen.set->error_count)
            tell_failure(kernel, json, &chosen);
        status = kernel_add_set(kernel, &chosen, error);
    }
    return status == PL_OK ? kernel_finish(kernel, error) : status;
}

static size_t sets_of(const struct kernel *kernel)
{
    size_t sets = 0;
    for (size_t i = 0; i < kernel->case_count; i++)
        sets += kernel->cases[i].sets;
    return sets;
}

/* ---- output ---- */

static void print_definitions(const struct kernel *kernel, FILE *text)
{
    struct text line = {0};
    text_format(&line, "rate: %s", KERNEL_RATE_TEXT);
    kernel_print_wrapped(text_get(&line), 0, text);
    text_clear(&line);
    text_format(&line, "±: %s", KERNEL_ERROR_TEXT);
    kernel_print_wrapped(text_get(&line), 0, text);
    text_clear(&line);
    fprintf(text, "imb: %s\n", KERNEL_IMBALANCE_TEXT);
    if (kernel->request->ranks.count)
        kernel_print_wrapped("With --rank a single time has no rate unless all its ranks are chosen.", 0, text);
    if (!kernel->request->times)
        fputs("All times (open, preallocation, gather, ...): --times\n", text);
    if (kernel->other_sets)
        fprintf(text, "%zu sets are of no kernel: for them there is 'piolet analyze allav'.\n", kernel->other_sets);
}

static pl_status print_text(const struct kernel *kernel, FILE *text, struct pl_error *error)
{
    pl_status status = kernel_print_tables(kernel, text, error);
    if (status == PL_OK)
        status = kernel_print_comparisons(kernel, text, error);
    if (status == PL_OK)
        status = kernel_print_sweeps(kernel, text, error);
    if (status == PL_OK && sets_of(kernel))
        print_definitions(kernel, text);
    return status;
}

static void begin_json(struct json *json)
{
    json_object_begin(json, NULL);
    json_put_string(json, "tool", "kernel");
    json_object_begin(json, "definitions");
    json_put_string(json, "rate", KERNEL_RATE_TEXT);
    json_put_string(json, "error", KERNEL_ERROR_TEXT);
    json_put_string(json, "imbalance", KERNEL_IMBALANCE_TEXT);
    json_object_end(json);
    json_array_begin(json, "remarks");
}

static void print_left_out(const struct kernel *kernel, FILE *text)
{
    fputs("The plot has no room for:\n", text);
    for (const char *at = text_get(&kernel->left_out); *at; at += strcspn(at, "\n") + 1) {
        struct text line = {0};
        text_append(&line, at + 2, strcspn(at + 2, "\n"));
        kernel_print_wrapped(text_get(&line), 2, text);
        text_clear(&line);
    }
    fputs("Choose with --test, --block, --set, --op.\n", text);
}

static pl_status draw(struct kernel *kernel, struct pl_error *error)
{
    if (!kernel_can_plot(kernel))
        return pl_fail(error, PL_E_UNSUPPORTED, "no plot: the selected sets have no write or read with a rate");
    const pl_status status = plot_to_file(kernel->request->plot, kernel_plot_draw, kernel, error);
    if (status == PL_OK && kernel->left_out.length && kernel->request->text)
        print_left_out(kernel, kernel->request->text);
    return status;
}

static pl_status finish(struct kernel *kernel, struct pl_error *error)
{
    if (sets_of(kernel) == 0 && kernel->failed_sets)
        return pl_fail(error, PL_E_INPUT, "every selected set failed");
    if (sets_of(kernel) == 0)
        return pl_fail(error, PL_E_INPUT, "nothing matches the selection%s",
                       kernel->other_sets ? ", or what matches is no kernel (for which there is allav)" : "");
    return kernel->request->plot ? draw(kernel, error) : PL_OK;
}

pl_status analysis_kernel(const struct analysis_request *request, const struct analysis_input *input,
                          struct pl_error *error)
{
    struct kernel kernel = {.request = request};
    struct json json = {.stream = request->json};
    if (request->json)
        begin_json(&json);
    pl_status status = collect(&kernel, &json, input, error);
    if (request->json) {
        json_array_end(&json);
        if (status == PL_OK)
            status = kernel_write_json(&kernel, &json, error);
        json_object_end(&json);
    }
    if (status == PL_OK && request->text)
        status = print_text(&kernel, request->text, error);
    if (status == PL_OK && request->csv)
        kernel_write_csv(&kernel, request->csv);
    if (status == PL_OK)
        status = finish(&kernel, error);
    kernel_clear(&kernel);
    return status;
}

bool analysis_only_kernels(const struct analysis_request *request, const struct analysis_input *input)
{
    struct analysis_chosen chosen = {0};
    bool any = false;
    while (analysis_next(request, input, &chosen)) {
        if (!analysis_is_kernel(chosen.block) || chosen.set->series_count || chosen.set->error_count)
            return false;
        any = true;
    }
    return any;
}
