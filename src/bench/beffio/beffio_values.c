/* From sets to results, and from results to cases with their values and verdict. No MPI. */
#include "bench/beffio/beffio.h"

#include "base/memory.h"
#include "base/notes.h"
#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those behind FIELDS_OLD are not in results of 0.1.0: there they are 0. */
enum { FIELDS_OLD = 14 };
static const struct {
    const char *name;
    size_t offset;
} FIELDS[BEFFIO_FIELDS] = {
#define FIELD(name)                                                                                                    \
    {                                                                                                                  \
#name, offsetof(struct beffio_result, name)                                                                    \
    }
    FIELD(chunk_bytes), FIELD(call_bytes),  FIELD(calls),         FIELD(planned),
    FIELD(bytes),       FIELD(start_bytes), FIELD(segment_bytes), FIELD(scheduled_ns),
    FIELD(time_ns),     FIELD(sync_ns),     FIELD(decide_ns),     FIELD(open_ns),
    FIELD(position_ns), FIELD(close_ns),    FIELD(delete_ns),     FIELD(kept_calls),
#undef FIELD
};

const char *beffio_field_name(int field)
{
    return FIELDS[field].name;
}

int64_t beffio_field(const struct beffio_result *result, int field)
{
    assert(field >= 0 && field < BEFFIO_FIELDS);
    int64_t value;
    memcpy(&value, (const char *)result + FIELDS[field].offset, sizeof value);
    return value;
}

static void beffio_note_number(struct text *params, const char *key, int64_t value)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, value);
    notes_add(params, key, number);
}

void beffio_result_note(const struct beffio_result *result, struct text *params)
{
    assert(result->pattern >= 0 && result->pattern < BEFFIO_PATTERNS_ALL);
    beffio_note_number(params, "partition", result->partition);
    notes_add(params, "method", beffio_method_name((enum beffio_method)result->method));
    beffio_note_number(params, "type", BEFFIO_TABLE[result->pattern].type);
    beffio_note_number(params, "pattern", result->pattern);
    beffio_note_number(params, "units", BEFFIO_TABLE[result->pattern].units);
    beffio_note_number(params, "blocksize_bytes", result->call_bytes); /* of each operation of the series */
    for (int i = 0; i < BEFFIO_FIELDS; i++)
        beffio_note_number(params, FIELDS[i].name, beffio_field(result, i));
    beffio_note_number(params, "decisions", result->decisions);
}

static bool beffio_number_of(const struct blockfile_set *set, const char *key, int64_t most, int64_t *ret_number)
{
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, 0, most, ret_number);
}

/* False: not a set of ours. */
static bool beffio_result_read(const struct blockfile_set *set, int path, struct beffio_result *ret_result)
{
    struct beffio_result result = {.path = path, .failed = set->error_count > 0};
    const char *method = blockfile_param_of(set, "method");
    int64_t partition, pattern, decisions;
    if (!method || !beffio_number_of(set, "partition", INT32_MAX, &partition) ||
        !beffio_number_of(set, "pattern", BEFFIO_PATTERNS_ALL - 1, &pattern) ||
        !beffio_number_of(set, "decisions", INT32_MAX, &decisions))
        return false;
    while (result.method < BEFFIO_METHODS && strcmp(method, beffio_method_name((enum beffio_method)result.method)) != 0)
        result.method++;
    if (result.method == BEFFIO_METHODS)
        return false;
    for (int i = 0; i < BEFFIO_FIELDS; i++) {
        int64_t value = 0;
        if (!beffio_number_of(set, FIELDS[i].name, INT64_MAX, &value) &&
            (i < FIELDS_OLD || blockfile_param_of(set, FIELDS[i].name)))
            return false;
        memcpy((char *)&result + FIELDS[i].offset, &value, sizeof value);
    }
    result.partition = (int32_t)partition;
    result.pattern = (int32_t)pattern;
    result.decisions = (int32_t)decisions;
    *ret_result = result;
    return true;
}

/* ---- lists ---- */

void beffio_results_add(struct beffio_results *results, const struct beffio_result *result)
{
    results->list = memory_grow(results->list, results->count, sizeof *results->list);
    results->list[results->count++] = *result;
}

void beffio_results_clear(struct beffio_results *results)
{
    free(results->list);
    *results = (struct beffio_results){0};
}

const struct beffio_result *beffio_results_find(const struct beffio_results *results, int path, int partition,
                                                enum beffio_method method, int pattern)
{
    for (size_t i = results->count; i-- > 0;) {
        const struct beffio_result *result = &results->list[i];
        if (result->path == path && result->partition == partition && result->method == (int32_t)method &&
            result->pattern == pattern)
            return result;
    }
    return NULL;
}

void beffio_results_load(struct beffio_results *results, const struct blockfile *file, const char *run)
{
    for (size_t b = 0; b < file->block_count; b++) {
        const struct blockfile_block *block = &file->blocks[b];
        const char *id = blockfile_fact_of(block, "run"), *path = blockfile_fact_of(block, "path_number");
        int64_t number;
        if (strcmp(block->class_name, BEFFIO_CLASS) != 0 || !id || strcmp(id, run) != 0 || !path ||
            !units_parse_int(path, 1, INT32_MAX, &number))
            continue;
        for (size_t s = 0; s < block->set_count; s++) {
            struct beffio_result result;
            if (beffio_result_read(&block->sets[s], (int)number - 1, &result))
                beffio_results_add(results, &result);
        }
    }
}

/* ---- what follows from them ---- */

bool beffio_type_failed(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                        int type)
{
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_result *result = beffio_results_find(results, path, partition, method, p);
        if (result && result->failed)
            return true;
    }
    return false;
}

/* Bytes and time from open to close of a type; false where a pattern is missing or failed. */
static bool beffio_type_total(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                              int type, double *ret_bytes, double *ret_s)
{
    *ret_bytes = *ret_s = 0;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_result *result = beffio_results_find(results, path, partition, method, p);
        if (!result || result->failed)
            return false;
        *ret_bytes += (double)result->bytes;
        *ret_s += (double)(result->open_ns + result->position_ns + result->time_ns + result->close_ns) * 1e-9;
    }
    return *ret_s > 0;
}

double beffio_pattern_rate(double bytes, double time_ns)
{
    return time_ns > 0 ? units_rate_mb_per_s(bytes, time_ns) : NAN;
}

/* The rates of all types: MB/s, NAN where not measured. */
static void beffio_rates_of(const struct beffio_results *results, int path, int partition,
                            struct beffio_rates *ret_rates)
{
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
            double bytes, seconds;
            const bool known = beffio_type_total(results, path, partition, (enum beffio_method)method, type, &bytes,
                                                 &seconds);
            ret_rates->type[method][type] = known ? bytes / seconds / 1e6 : NAN;
        }
}

void beffio_measured_of(const struct beffio_results *results, int path, int partition,
                        struct beffio_measured *ret_measured)
{
    for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++) {
        const struct beffio_result *result = beffio_results_find(results, path, partition, BEFFIO_WRITE, p);
        ret_measured->process_bytes[p] = result && !result->failed ? result->bytes / partition : -1;
    }
}

void beffio_report_clear(struct beffio_report *report)
{
    for (size_t i = 0; i < report->case_count; i++) {
        text_clear(&report->cases[i].reasons);
        text_clear(&report->cases[i].caches);
        text_clear(&report->cases[i].warnings);
    }
    for (size_t i = 0; i < report->result_count; i++)
        beffio_results_clear(&report->results[i]);
    free(report->cases);
    free(report->results);
    *report = (struct beffio_report){0};
}

/* ---- the verdict ---- */

static bool beffio_counts(const struct beffio_case *item, int method, int type)
{
    return type < BEFFIO_TYPES && (method != BEFFIO_REWRITE || !item->order_2_0 || type == 0);
}

static const char *beffio_failure_in(const struct blockfile_block *block, const struct beffio_case *item, int method,
                                     int type)
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

static bool beffio_same_fact(const struct blockfile_block *a, const struct blockfile_block *b, const char *key)
{
    const char *x = blockfile_fact_of(a, key), *y = blockfile_fact_of(b, key);
    return x && y && strcmp(x, y) == 0;
}

/* Blocks of one run in one folder: there are several where it was resumed. */
static bool beffio_same_place(const struct blockfile_block *a, const struct blockfile_block *b)
{
    return beffio_same_fact(a, b, "run") && beffio_same_fact(a, b, "path_number");
}

/* The words of the pattern that failed, from its set. */
static const char *beffio_failure_of(const struct beffio_case *item, int method, int type)
{
    const char *words = NULL;
    for (size_t b = 0; b < item->source->block_count && !words; b++)
        if (beffio_same_place(&item->source->blocks[b], item->block))
            words = beffio_failure_in(&item->source->blocks[b], item, method, type);
    return words ? words : "it failed";
}

static void beffio_look_at_types(struct beffio_case *item, const struct beffio_results *results)
{
    item->complete = true;
    for (int type = 0; type < BEFFIO_TYPES; type++) {
        bool failed = false, missing = false;
        for (int method = 0; method < BEFFIO_METHODS; method++) {
            if (!beffio_counts(item, method, type))
                continue;
            if (beffio_type_failed(results, item->path, item->partition, (enum beffio_method)method, type)) {
                text_format(&item->reasons, "type %d failed in %s: %s\n", type,
                            beffio_method_name((enum beffio_method)method), beffio_failure_of(item, method, type));
                failed = true;
            }
            missing = missing || isnan(item->rates.type[method][type]);
        }
        if (!failed && missing)
            text_format(&item->reasons, "type %d was not measured to its end\n", type);
        item->complete = item->complete && !failed && !missing;
    }
}

/* Runs with T below 15 minutes only: they are not official in any case. */
static void beffio_look_at_cuts(struct beffio_case *item, const struct beffio_results *results)
{
    for (int p = 0; p < BEFFIO_PATTERNS; p++) {
        const struct beffio_result *result = beffio_results_find(results, item->path, item->partition, BEFFIO_WRITE, p);
        if (result && !result->failed && result->planned > result->calls)
            text_format(&item->warnings, "pattern %d ended at %d times its scheduled time, with %lld of %lld calls\n",
                        p, BEFFIO_PATIENCE, (long long)result->calls, (long long)result->planned);
    }
}

/* A line for each method: the document assumes that a decision costs less than a tenth of the calls. */
static void beffio_look_at_decisions(struct beffio_case *item, const struct beffio_results *results)
{
    for (int method = 0; method < BEFFIO_METHODS; method++) {
        int count = 0, worst = 0;
        double most = 0;
        for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++) {
            const struct beffio_result *result = beffio_results_find(results, item->path, item->partition,
                                                                     (enum beffio_method)method, p);
            if (!result || result->failed || result->time_ns <= 0)
                continue;
            const double share = (double)result->decide_ns / (double)result->time_ns;
            count += share > BEFFIO_DECISION_SHARE;
            worst = share > most ? p : worst;
            most = fmax(most, share);
        }
        if (count)
            text_format(&item->warnings,
                        "%s: deciding whether to go on took more than %.0f %% of the time of %d pattern%s, most of "
                        "pattern %d's: %.0f %%%s\n",
                        beffio_method_name((enum beffio_method)method), 100 * BEFFIO_DECISION_SHARE, count,
                        count == 1 ? "" : "s", worst, 100 * most,
                        item->release_2_1 ? "; release 2.1 decides behind each call" : "");
    }
}

/* The document's other rule, of which its definition of a value makes no condition. */
static void beffio_look_at_cache(struct beffio_case *item)
{
    for (int method = 0; method < BEFFIO_METHODS; method++) {
        const double bytes = item->moved_bytes[method];
        if (bytes >= BEFFIO_CACHE_FACTOR * item->cache_bytes || bytes == 0)
            continue;
        char moved[UNITS_TEXT_MAX], cache[UNITS_TEXT_MAX];
        text_format(&item->caches,
                    "%s moved %s, less than %d times the %s that a page cache can hold: up to %.0f %% may never "
                    "have %s the disk\n",
                    beffio_method_name((enum beffio_method)method), units_bytes((int64_t)bytes, moved),
                    BEFFIO_CACHE_FACTOR, units_bytes((int64_t)item->cache_bytes, cache),
                    100 * beffio_cache_share(bytes, item->cache_bytes),
                    method == BEFFIO_READ ? "come from" : "reached");
    }
}

static void beffio_judge(struct beffio_case *item, const struct beffio_results *results)
{
    char took[UNITS_TEXT_MAX];
    if (item->time_s < BEFFIO_OFFICIAL_S)
        text_format(&item->reasons, "T is %s, below 15 minutes\n", units_duration(item->time_s, took));
    if (item->order_2_0)
        text_add(&item->reasons, "2.0 schedule, not official: only type 0 was rewritten\n");
    if (item->release_2_1)
        text_add(&item->reasons, "the schedule of release 2.1, not the document's\n");
    beffio_look_at_types(item, results);
    beffio_look_at_cuts(item, results);
    beffio_look_at_decisions(item, results);
    beffio_look_at_cache(item);
    assert(item->reasons.length || (item->complete && item->time_s >= BEFFIO_OFFICIAL_S));
}

bool beffio_is_official(const struct beffio_case *item)
{
    return item->reasons.length == 0;
}

/* ---- finding the cases ---- */

/* Release 2.1 deletes a file in the close behind its read, unless it is told to keep it. A run by its schedule does the
 * same: then the rates of reading have it in them. Any other run deletes behind the close, and measures that apart. */
static void beffio_sum_up_2_1(struct beffio_case *item, const struct beffio_results *results)
{
    const char *keep = blockfile_input_of(item->block, "keep");
    double read[BEFFIO_TYPES];
    for (int type = 0; type < BEFFIO_TYPES; type++) {
        const struct beffio_result *last = beffio_results_find(results, item->path, item->partition, BEFFIO_READ,
                                                               beffio_type_end(type) - 1);
        double bytes, seconds;
        read[type] = item->rates.type[BEFFIO_READ][type];
        if (!last || last->delete_ns <= 0 ||
            !beffio_type_total(results, item->path, item->partition, BEFFIO_READ, type, &bytes, &seconds))
            continue;
        read[type] = bytes / (seconds + (double)last->delete_ns * 1e-9) / 1e6;
        item->deletes_known = true;
    }
    item->value_2_1 = beffio_value_2_1(&item->rates, read);
    item->value_2_1_kept = beffio_value_2_1(&item->rates, item->rates.type[BEFFIO_READ]);
    if (item->release_2_1 && keep && strcmp(keep, "true") != 0) {
        item->deletes_known = true;
        item->value_2_1_kept = NAN;
    }
}

static void beffio_sum_up(struct beffio_case *item, const struct beffio_results *results)
{
    beffio_rates_of(results, item->path, item->partition, &item->rates);
    item->value = beffio_partition_value(&item->rates, item->order_2_0);
    beffio_sum_up_2_1(item, results);
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int p = 0; p < BEFFIO_PATTERNS; p++) {
            const struct beffio_result *result = beffio_results_find(results, item->path, item->partition,
                                                                     (enum beffio_method)method, p);
            item->moved_bytes[method] += result ? (double)result->bytes : 0;
        }
    beffio_judge(item, results);
}

static double beffio_number_in(const char *text)
{
    double value;
    return text && units_parse_number(text, &value) ? value : 0;
}

/* A case for each partition that the block names. */
static void beffio_add_block(struct beffio_report *report, const struct blockfile *source,
                             const struct blockfile_block *block, bool continued)
{
    const char *order = blockfile_input_of(block, "order"), *folder = blockfile_fact_of(block, "path");
    const char *release = blockfile_input_of(block, "release");
    for (size_t i = 0; i < block->fact_count; i++) {
        struct beffio_case item = {.source = source,
                                   .file = source->path,
                                   .block = block,
                                   .run = blockfile_fact_of(block, "run"),
                                   .folder = folder ? folder : "?",
                                   .path = (int)beffio_number_in(blockfile_fact_of(block, "path_number")) - 1,
                                   .results = report->result_count - 1,
                                   .time_s = beffio_number_in(blockfile_input_of(block, "time")),
                                   .order_2_0 = order && strcmp(order, "2.0") == 0,
                                   .release_2_1 = release && strcmp(release, "2.1") == 0,
                                   .continued = continued};
        if (strcmp(block->facts[i].key, "partition") != 0 ||
            sscanf(block->facts[i].value, "%d %d %d", &item.partition, &item.nodes, &item.most_on_node) != 3)
            continue;
        item.cache_bytes = beffio_number_in(blockfile_fact_of(block, "memory_bytes")) * item.nodes;
        beffio_sum_up(&item, &report->results[item.results]);
        report->cases = memory_grow(report->cases, report->case_count, sizeof *report->cases);
        report->cases[report->case_count++] = item;
    }
}

/* A later block of the file that goes on with the same run and folder tells for this one too. */
static bool beffio_is_continued(const struct blockfile *file, size_t b)
{
    for (size_t later = b + 1; later < file->block_count; later++)
        if (beffio_same_place(&file->blocks[b], &file->blocks[later]))
            return true;
    return false;
}

pl_status beffio_report_make(const struct analysis_request *request, const struct analysis_input *input,
                             struct beffio_report *ret_report, struct pl_error *error)
{
    int64_t number = 0;
    *ret_report = (struct beffio_report){0};
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count; b++) {
            const struct blockfile *file = &input->files[f];
            const char *run = blockfile_fact_of(&file->blocks[b], "run");
            number++;
            if (strcmp(file->blocks[b].class_name, BEFFIO_CLASS) != 0 || !run ||
                (request->block && request->block != number))
                continue;
            const bool continued = beffio_is_continued(file, b);
            if (continued && !request->block)
                continue;
            ret_report->results = memory_grow(ret_report->results, ret_report->result_count,
                                              sizeof *ret_report->results);
            beffio_results_load(&ret_report->results[ret_report->result_count++], file, run);
            beffio_add_block(ret_report, file, &file->blocks[b], continued);
        }
    if (ret_report->case_count)
        return PL_OK;
    beffio_report_clear(ret_report);
    return pl_fail(error, PL_E_INPUT, "no results of b_eff_io match");
}

bool beffio_same_system(const struct beffio_case *a, const struct beffio_case *b)
{
    const char *x = blockfile_fact_of(a->block, "hostname"), *y = blockfile_fact_of(b->block, "hostname");
    return strcmp(x ? x : "", y ? y : "") == 0;
}

const struct beffio_case *beffio_report_system(const struct beffio_report *report, const struct beffio_case *like)
{
    const struct beffio_case *best = NULL;
    for (size_t i = 0; i < report->case_count; i++) {
        const struct beffio_case *item = &report->cases[i];
        if (beffio_is_official(item) && beffio_same_system(item, like) && (!best || item->value > best->value))
            best = item;
    }
    return best;
}
