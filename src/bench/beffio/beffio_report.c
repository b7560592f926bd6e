#include "bench/beffio/beffio_report.h"

#include "base/units.h"
#include "bench/beffio/beffio_schedule.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void beffio_report_clear(struct beffio_report *report)
{
    for (size_t i = 0; i < report->case_count; i++)
        text_clear(&report->cases[i].reasons);
    for (size_t i = 0; i < report->result_count; i++)
        beffio_results_clear(&report->results[i]);
    free(report->cases);
    free(report->results);
    *report = (struct beffio_report){0};
}

/* ---- the verdict ---- */

static bool is_wanted(const struct beffio_case *item, int method, int type)
{
    return type < BEFFIO_TYPES && (method != BEFFIO_REWRITE || !item->order_2_0 || type == 0);
}

static const char *failure_in(const struct blockfile_block *block, const struct beffio_case *item, int method, int type)
{
    for (size_t s = 0; s < block->set_count; s++) {
        const struct blockfile_set *set = &block->sets[s];
        struct beffio_result result;
        if (set->error_count && beffio_result_read(set, item->path, &result) && result.partition == item->partition &&
            result.method == method && BEFFIO_TABLE[result.pattern].type == type)
            return set->errors[0].text;
    }
    return NULL;
}

static bool same_fact(const struct blockfile_block *a, const struct blockfile_block *b, const char *key)
{
    const char *x = blockfile_fact_of(a, key), *y = blockfile_fact_of(b, key);
    return x && y && strcmp(x, y) == 0;
}

/* Blocks of one run in one folder: there are several where it was resumed. */
static bool same_place(const struct blockfile_block *a, const struct blockfile_block *b)
{
    return same_fact(a, b, "run") && same_fact(a, b, "path_number");
}

/* The words of the pattern that failed, from its set. */
static const char *failure_of(const struct beffio_case *item, int method, int type)
{
    const char *words = NULL;
    for (size_t b = 0; b < item->source->block_count && !words; b++)
        if (same_place(&item->source->blocks[b], item->block))
            words = failure_in(&item->source->blocks[b], item, method, type);
    return words ? words : "it failed";
}

static void look_at_types(struct beffio_case *item, const struct beffio_results *results)
{
    item->complete = true;
    for (int type = 0; type < BEFFIO_TYPES; type++) {
        bool failed = false, missing = false;
        for (int method = 0; method < BEFFIO_METHODS; method++) {
            if (!is_wanted(item, method, type))
                continue;
            if (beffio_type_failed(results, item->path, item->partition, (enum beffio_method)method, type)) {
                text_format(&item->reasons, "type %d failed in %s: %s\n", type,
                            beffio_method_name((enum beffio_method)method), failure_of(item, method, type));
                failed = true;
            }
            missing = missing || isnan(item->rates.type[method][type]);
        }
        if (!failed && missing)
            text_format(&item->reasons, "type %d was not measured to its end\n", type);
        item->complete = item->complete && !failed && !missing;
    }
}

static void look_at_cuts(struct beffio_case *item, const struct beffio_results *results)
{
    for (int p = 0; p < BEFFIO_PATTERNS; p++) {
        const struct beffio_result *result = beffio_results_find(results, item->path, item->partition, BEFFIO_WRITE, p);
        if (result && !result->failed && result->planned > result->calls)
            text_format(&item->reasons, "pattern %d ended at %d times its scheduled time, with %lld of %lld calls\n", p,
                        BEFFIO_PATIENCE, (long long)result->calls, (long long)result->planned);
    }
}

static void look_at_cache(struct beffio_case *item)
{
    for (int method = 0; method < BEFFIO_METHODS; method++) {
        const double bytes = item->moved_bytes[method];
        if (bytes >= BEFFIO_CACHE_FACTOR * item->cache_bytes || bytes == 0)
            continue;
        char moved[UNITS_TEXT_MAX], cache[UNITS_TEXT_MAX];
        text_format(&item->reasons, "%s moved %s, less than %d times the cache of %s:\n",
                    beffio_method_name((enum beffio_method)method), units_bytes((int64_t)bytes, moved),
                    BEFFIO_CACHE_FACTOR, units_bytes((int64_t)item->cache_bytes, cache));
        text_format(&item->reasons, "  up to %.0f %% of it may never have %s the disk\n",
                    100 * beffio_cache_share(bytes, item->cache_bytes),
                    method == BEFFIO_READ ? "come from" : "reached");
    }
}

static void judge(struct beffio_case *item, const struct beffio_results *results)
{
    char took[UNITS_TEXT_MAX];
    if (item->time_s < BEFFIO_OFFICIAL_S)
        text_format(&item->reasons, "T is %s, below 15 minutes\n", units_duration(item->time_s, took));
    if (item->order_2_0)
        text_add(&item->reasons, "2.0 schedule, not official: only type 0 was rewritten\n");
    look_at_types(item, results);
    look_at_cuts(item, results);
    look_at_cache(item);
}

/* ---- finding the cases ---- */

static void sum_up(struct beffio_case *item, const struct beffio_results *results)
{
    beffio_rates_of(results, item->path, item->partition, &item->rates);
    item->value = beffio_partition_value(&item->rates, item->order_2_0);
    item->value_2_1 = beffio_value_2_1(&item->rates);
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int p = 0; p < BEFFIO_PATTERNS; p++) {
            const struct beffio_result *result = beffio_results_find(results, item->path, item->partition,
                                                                     (enum beffio_method)method, p);
            item->moved_bytes[method] += result ? (double)result->bytes : 0;
        }
    judge(item, results);
}

static double number_in(const char *text)
{
    double value;
    return text && units_parse_number(text, &value) ? value : 0;
}

static pl_status add_case(struct beffio_report *report, const struct beffio_case *made, struct pl_error *error)
{
    struct beffio_case *grown = realloc(report->cases, (report->case_count + 1) * sizeof *grown);
    if (!grown)
        return pl_fail_errno(error, ENOMEM, "reading results");
    report->cases = grown;
    report->cases[report->case_count] = *made;
    sum_up(&report->cases[report->case_count++], &report->results[made->results]);
    return PL_OK;
}

/* A case for each partition that the block names. */
static pl_status add_block(struct beffio_report *report, const struct blockfile *source,
                           const struct blockfile_block *block, struct pl_error *error)
{
    const char *order = blockfile_input_of(block, "order"), *folder = blockfile_fact_of(block, "path");
    pl_status status = PL_OK;
    for (size_t i = 0; i < block->fact_count && status == PL_OK; i++) {
        struct beffio_case item = {.source = source,
                                   .file = source->path,
                                   .block = block,
                                   .run = blockfile_fact_of(block, "run"),
                                   .folder = folder ? folder : "?",
                                   .path = (int)number_in(blockfile_fact_of(block, "path_number")) - 1,
                                   .results = report->result_count - 1,
                                   .time_s = number_in(blockfile_input_of(block, "time")),
                                   .order_2_0 = order && strcmp(order, "2.0") == 0};
        if (strcmp(block->facts[i].key, "partition") != 0 ||
            sscanf(block->facts[i].value, "%d %d %d", &item.partition, &item.nodes, &item.most_on_node) != 3)
            continue;
        item.cache_bytes = number_in(blockfile_fact_of(block, "memory_bytes")) * item.nodes;
        status = add_case(report, &item, error);
    }
    return status;
}

/* A later block of the file that goes on with the same run and folder tells for this one too. */
static bool is_continued(const struct blockfile *file, size_t b)
{
    for (size_t later = b + 1; later < file->block_count; later++)
        if (same_place(&file->blocks[b], &file->blocks[later]))
            return true;
    return false;
}

static pl_status add_results(struct beffio_report *report, const struct blockfile *file, const char *run,
                             struct pl_error *error)
{
    struct beffio_results *grown = realloc(report->results, (report->result_count + 1) * sizeof *grown);
    if (!grown)
        return pl_fail_errno(error, ENOMEM, "reading '%s'", file->path);
    report->results = grown;
    report->results[report->result_count] = (struct beffio_results){0};
    if (!beffio_results_load(&report->results[report->result_count++], file, run))
        return pl_fail_errno(error, ENOMEM, "reading '%s'", file->path);
    return PL_OK;
}

pl_status beffio_report_make(const struct analysis_request *request, const struct analysis_input *input,
                             const char *run, struct beffio_report *ret_report, struct pl_error *error)
{
    int64_t number = 0;
    pl_status status = PL_OK;
    *ret_report = (struct beffio_report){0};
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count && status == PL_OK; b++) {
            const struct blockfile *file = &input->files[f];
            const struct blockfile_block *block = &file->blocks[b];
            const char *id = blockfile_fact_of(block, "run");
            number++;
            if (strcmp(block->class_name, BEFFIO_CLASS) != 0 || !id || (run && strcmp(run, id) != 0) ||
                (request->block && request->block != number) || (!request->block && is_continued(file, b)))
                continue;
            status = add_results(ret_report, file, id, error);
            if (status == PL_OK)
                status = add_block(ret_report, file, block, error);
        }
    if (status == PL_OK && ret_report->case_count == 0)
        status = pl_fail(error, PL_E_INPUT, "no results of b_eff_io match");
    if (status != PL_OK)
        beffio_report_clear(ret_report);
    return status;
}

const struct beffio_case *beffio_report_system(const struct beffio_report *report)
{
    const struct beffio_case *best = NULL;
    for (size_t i = 0; i < report->case_count; i++) {
        const struct beffio_case *item = &report->cases[i];
        const bool counts = item->complete && !item->order_2_0 && item->time_s >= BEFFIO_OFFICIAL_S;
        if (counts && (!best || item->value > best->value))
            best = item;
    }
    return best;
}

/* ---- the tool ---- */

static pl_status report(const struct analysis_request *request, const struct analysis_input *input, const char *run,
                        struct pl_error *error)
{
    struct beffio_report made;
    pl_status status = beffio_report_make(request, input, run, &made, error);
    if (status != PL_OK)
        return status;
    if (request->text)
        beffio_report_text(&made, request->text);
    if (request->json)
        beffio_report_json(&made, request->json);
    if (request->csv)
        beffio_report_csv(&made, request->csv);
    if (request->plot)
        status = beffio_report_plot(&made, request->plot, error);
    beffio_report_clear(&made);
    return status;
}

pl_status beffio_analyze(const struct analysis_request *request, const struct analysis_input *input,
                         struct pl_error *error)
{
    return report(request, input, NULL, error);
}

pl_status beffio_report_run(const char *path, const char *run, const struct analysis_request *request,
                            struct pl_error *error)
{
    struct blockfile file;
    pl_status status = blockfile_open(path, &file, error);
    if (status != PL_OK)
        return status;
    const struct analysis_input input = {.files = &file, .file_count = 1};
    status = report(request, &input, run, error);
    blockfile_close(&file);
    return status;
}
