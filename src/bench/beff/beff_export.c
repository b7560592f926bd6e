/* The values of b_eff as JSON, and its protocol as CSV. Rates are in bytes a second. */
#include "bench/beff/beff_analyze.h"

#include "base/json.h"
#include "base/text.h"
#include "measure/analysis_format.h"

#include <inttypes.h>
#include <string.h>

static void put_summary(struct json *json, const struct beff_results *results)
{
    const struct beff_summary s = beff_summarize(results);
    int hosts;
    const enum beff_placement placement = beff_results_placement(results, &hosts);
    json_put_string(json, "file", results->path);
    json_put_int(json, "block", results->block_number);
    json_put_int(json, "nprocs", results->nprocs);
    json_put_int(json, "hosts", hosts);
    json_put_string(json, "placement", beff_placement_text(placement));
    json_put_double(json, "b_eff", s.mean.both);
    json_put_double(json, "b_eff_per_process", s.mean.both / results->nprocs);
    json_put_double(json, "rings", s.mean.rings);
    json_put_double(json, "random", s.mean.random);
    json_put_int(json, "random_patterns", s.mean.random_patterns);
    json_put_int(json, "length_max_bytes", s.length_max);
    json_put_double(json, "pingpong_at_length_max", s.pingpong);
    json_put_double(json, "pingpong_largest", s.pingpong_largest);
    json_put_double(json, "latency_s", s.latency_s);
    json_put_double(json, "b_eff_at_length_max", s.longest.both);
    json_put_double(json, "b_eff_at_length_max_per_process", s.longest.both / results->nprocs);
    json_put_double(json, "rings_at_length_max_per_process", s.longest.rings / results->nprocs);
    json_put_double(json, "memory_bytes", s.memory_bytes);
    json_put_double(json, "memory_communicated_in_s", s.coffee_s);
    json_put_double(json, "balance_bytes_per_flop", s.balance_bytes_per_flop);
}

static void put_deviations(struct json *json, const struct beff_results *results)
{
    struct text lines = {0};
    beff_deviations(results, &lines);
    json_array_begin(json, "not_standard");
    for (const char *at = text_get(&lines); *at; at += strcspn(at, "\n") + 1) {
        char line[160];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        json_put_string(json, NULL, line);
    }
    json_array_end(json);
    text_clear(&lines);
}

static void put_methods(struct json *json, const struct beff_results *results)
{
    json_array_begin(json, "by_method");
    for (int m = 0; m < BEFF_TURNS; m++) {
        const struct beff_average average = beff_average(results, (struct beff_filter){m, BEFF_ALL, BEFF_ALL});
        json_row_begin(json, NULL);
        json_put_string(json, "method", BEFF_METHOD_TABLE[m].name);
        json_put_double(json, "b_eff", average.both);
        json_put_double(json, "rings", average.rings);
        json_put_double(json, "random", average.random);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_lengths(struct json *json, const struct beff_results *results)
{
    json_array_begin(json, "by_length");
    for (int i = 0; i < results->length_count; i++) {
        const struct beff_average average = beff_average(results, (struct beff_filter){BEFF_ALL, BEFF_ALL, i});
        json_row_begin(json, NULL);
        json_put_int(json, "length_bytes", results->lengths[i]);
        json_put_double(json, "rings", average.rings);
        json_put_double(json, "random", average.random);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_patterns(struct json *json, const struct beff_results *results)
{
    json_array_begin(json, "by_pattern");
    for (size_t p = 0; p < results->row_count; p++) {
        const struct beff_row *row = &results->rows[p];
        char name[BEFF_NAME_MAX];
        json_object_begin(json, NULL);
        json_put_string(json, "pattern", beff_pattern_name(row->pattern, name));
        json_put_int(json, "messages", row->messages);
        json_put_double(json, "mean", beff_row_value(results, row, BEFF_EVERYTHING));
        json_numbers_begin(json, "by_length");
        for (int i = 0; i < results->length_count; i++)
            json_put_double(json, NULL, beff_best(results, row, i, BEFF_EVERYTHING, NULL));
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

void beff_write_json(const struct beff_results *runs, size_t count, FILE *stream)
{
    struct json json = {.stream = stream};
    json_object_begin(&json, NULL);
    json_put_string(&json, "tool", "beff");
    json_put_string(&json, "unit", "bytes a second");
    json_array_begin(&json, "runs");
    for (size_t i = 0; i < count; i++) {
        json_object_begin(&json, NULL);
        put_summary(&json, &runs[i]);
        put_deviations(&json, &runs[i]);
        put_methods(&json, &runs[i]);
        put_lengths(&json, &runs[i]);
        put_patterns(&json, &runs[i]);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
}

/* ---- CSV: the protocol ---- */

static void put_cell(const struct beff_results *results, const struct beff_row *row, int length, int m, FILE *stream)
{
    const struct beff_cell *cell = &row->cells[length][m];
    char name[BEFF_NAME_MAX];
    for (int r = 0; r < cell->count; r++) {
        analysis_csv_field(stream, results->path);
        fprintf(stream, ",%" PRId64 ",%d,%s,%s,%" PRId64 ",%" PRId64 ",%d,%" PRId64 ",%" PRId64, results->block_number,
                results->nprocs, beff_pattern_name(row->pattern, name), BEFF_METHOD_TABLE[m].name, row->messages,
                results->lengths[length], r + 1, cell->loops, cell->times_ns[r]);
        analysis_csv_number(stream,
                            beff_bandwidth(results->lengths[length], row->messages, cell->loops, cell->times_ns[r]));
        fputc('\n', stream);
    }
}

void beff_write_csv(const struct beff_results *runs, size_t count, FILE *stream)
{
    fputs("file,block,nprocs,pattern,method,messages,length_bytes,repetition,loops,time_ns,bytes_per_s\n", stream);
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < runs[i].row_count; p++)
            for (int length = 0; length < runs[i].length_count; length++)
                for (int m = 0; m < BEFF_METHODS; m++)
                    put_cell(&runs[i], &runs[i].rows[p], length, m, stream);
}
