/* The report as JSON and as CSV. */
#include "base/json.h"
#include "bench/beffio/beffio_report.h"
#include "measure/analysis_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct beffio_result *result_of(const struct beffio_report *report, const struct beffio_case *item,
                                             int method, int pattern)
{
    return beffio_results_find(&report->results[item->results], item->path, item->partition, (enum beffio_method)method,
                               pattern);
}

static void json_values(struct json *json, const struct beffio_case *item)
{
    json_array_begin(json, "methods");
    for (int method = 0; method < BEFFIO_METHODS; method++) {
        json_object_begin(json, NULL);
        json_put_string(json, "method", beffio_method_name((enum beffio_method)method));
        json_put_double(json, "bytes", item->moved_bytes[method]);
        json_put_double(json, "value_mb_per_s",
                        method == BEFFIO_REWRITE ? beffio_rewrite_value(&item->rates, item->order_2_0)
                                                 : beffio_method_value(item->rates.type[method]));
        json_put_double(json, "cache_share", beffio_cache_share(item->moved_bytes[method], item->cache_bytes));
        json_numbers_begin(json, "types_mb_per_s");
        for (int type = 0; type < BEFFIO_TYPES_ALL; type++)
            json_put_double(json, NULL, item->rates.type[method][type]);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_patterns(struct json *json, const struct beffio_report *report, const struct beffio_case *item)
{
    json_array_begin(json, "patterns");
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++) {
            const struct beffio_result *result = result_of(report, item, method, p);
            if (!result)
                continue;
            json_row_begin(json, NULL);
            json_put_string(json, "method", beffio_method_name((enum beffio_method)method));
            json_put_int(json, "type", BEFFIO_TABLE[p].type);
            json_put_int(json, "pattern", p);
            json_put_int(json, "units", BEFFIO_TABLE[p].units);
            for (int c = 0; c < BEFFIO_FIELDS; c++)
                json_put_int(json, beffio_field_name(c), beffio_field(result, c));
            json_put_int(json, "decisions", result->decisions);
            json_put_bool(json, "failed", result->failed);
            json_object_end(json);
        }
    json_array_end(json);
}

static void json_reasons(struct json *json, const struct beffio_case *item)
{
    char *copy = text_dup(text_get(&item->reasons)), *rest = copy, *line;
    json_array_begin(json, "reasons");
    /* An indented line goes on with the reason before it. */
    for (char *at = copy; at && (at = strstr(at, "\n  ")) != NULL;)
        memmove(at, at + 2, strlen(at + 2) + 1);
    while (copy && (line = strsep(&rest, "\n")) != NULL)
        if (*line)
            json_put_string(json, NULL, line);
    json_array_end(json);
    free(copy);
}

void beffio_report_json(const struct beffio_report *report, FILE *stream)
{
    struct json json = {.stream = stream};
    const struct beffio_case *best = beffio_report_system(report);
    json_object_begin(&json, NULL);
    json_array_begin(&json, "partitions");
    for (size_t i = 0; i < report->case_count; i++) {
        const struct beffio_case *item = &report->cases[i];
        json_object_begin(&json, NULL);
        json_put_string(&json, "file", item->file);
        json_put_string(&json, "run", item->run);
        json_put_string(&json, "folder", item->folder);
        json_put_string(&json, "mpiio", blockfile_fact_of(item->block, "mpiio"));
        json_put_int(&json, "processes", item->partition);
        json_put_int(&json, "nodes", item->nodes);
        json_put_double(&json, "time_s", item->time_s);
        json_put_string(&json, "order", item->order_2_0 ? "2.0" : "document");
        json_put_double(&json, "b_eff_io_mb_per_s", item->value);
        json_put_double(&json, "release_2_1_mb_per_s", item->value_2_1);
        json_put_double(&json, "cache_bytes", item->cache_bytes);
        json_put_double(&json, "coffee_cup_minutes", beffio_coffee_minutes(item->cache_bytes, item->value));
        json_put_string(&json, "verdict", item->reasons.length ? "NOT OFFICIAL" : "VALID");
        json_reasons(&json, item);
        json_values(&json, item);
        json_patterns(&json, report, item);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_put_double(&json, "system_mb_per_s", best ? best->value : NAN);
    json_object_end(&json);
    fputc('\n', stream);
}

static void csv_row(const struct beffio_case *item, const struct beffio_result *result, FILE *csv)
{
    analysis_csv_field(csv, item->file);
    fputc(',', csv);
    analysis_csv_field(csv, item->run);
    fputc(',', csv);
    analysis_csv_field(csv, item->folder);
    fprintf(csv, ",%d,%s,%d,%d,%d", item->partition, beffio_method_name((enum beffio_method)result->method),
            BEFFIO_TABLE[result->pattern].type, result->pattern, BEFFIO_TABLE[result->pattern].units);
    for (int c = 0; c < BEFFIO_FIELDS; c++)
        fprintf(csv, ",%" PRId64, beffio_field(result, c));
    fprintf(csv, ",%d,%d\n", result->decisions, result->failed);
}

void beffio_report_csv(const struct beffio_report *report, FILE *csv)
{
    fprintf(csv, "file,run,folder,processes,method,type,pattern,units");
    for (int c = 0; c < BEFFIO_FIELDS; c++)
        fprintf(csv, ",%s", beffio_field_name(c));
    fprintf(csv, ",decisions,failed\n");
    for (size_t i = 0; i < report->case_count; i++)
        for (int method = 0; method < BEFFIO_METHODS; method++)
            for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++) {
                const struct beffio_result *result = result_of(report, &report->cases[i], method, p);
                if (result)
                    csv_row(&report->cases[i], result, csv);
            }
}
