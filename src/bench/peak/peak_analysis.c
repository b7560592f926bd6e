#include "bench/peak/peak_analysis.h"

#include "base/json.h"
#include "base/units.h"
#include "measure/analysis_format.h"
#include "measure/record.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 79 };

/* ---- text ---- */

static void print_time(double ns, FILE *text)
{
    char cell[UNITS_TEXT_MAX];
    fprintf(text, " %9s", isfinite(ns) ? units_ns(ns, cell) : "-");
}

static void print_times(const struct peak_point *point, FILE *text)
{
    print_time(point->mean_ns, text);
    print_time(point->median_ns, text);
    print_time(point->p99_ns, text);
    fprintf(text, "%s\n", point->failure ? " failed" : point->cut ? " *" : "");
}

static void print_number(double value, int width, int decimals, FILE *text)
{
    if (isfinite(value))
        fprintf(text, " %*.*f", width, decimals, value);
    else
        fprintf(text, " %*s", width, "-");
}

static void print_point(const struct peak_point *point, FILE *text)
{
    char request[UNITS_TEXT_MAX];
    const char *name = point->set.makes_file ? "first" : PEAK_OPERATION_NAMES[point->set.operation];
    if (point->set.operation <= PEAK_READ) {
        fprintf(text, "  %-6s %-10s %9s", name, PEAK_ACCESS_NAMES[point->set.access],
                units_binary(point->set.request_bytes, request));
        print_number(point->rate_bytes_per_s / 1e6, 9, 1, text);
    } else {
        fprintf(text, "  %-6s %-10s %9s %9lld", name, "", "", (long long)point->operations);
    }
    print_number(point->iops, 8, 0, text);
    print_times(point, text);
}

static void print_wrapped(const char *before, const char *words, FILE *text)
{
    int column = fprintf(text, "  %s", before);
    for (const char *at = words; *at;) {
        const int length = (int)strcspn(at, " ");
        if (column + 1 + length > WIDTH)
            column = fprintf(text, "\n   ") - 1;
        column += fprintf(text, " %.*s", length, at);
        at += length + (at[length] == ' ');
    }
    fputc('\n', text);
}

static void print_remarks(const struct peak_node *node, FILE *text)
{
    bool cut = false;
    char label[PEAK_LABEL_MAX], words[PEAK_LABEL_MAX + PL_ERROR_TEXT_MAX];
    for (size_t i = 0; i < node->count; i++) {
        const struct peak_point *point = &node->points[i];
        cut |= point->cut;
        if (!point->failure)
            continue;
        snprintf(words, sizeof words, "%s: rank %d: %s", peak_set_label(&point->set, label), point->failure->rank,
                 point->failure->text);
        print_wrapped("failed:", words, text);
    }
    for (size_t i = 0; i < node->block->fact_count; i++)
        if (strcmp(node->block->facts[i].key, "warning") == 0)
            print_wrapped("warning:", node->block->facts[i].value, text);
    if (cut)
        fprintf(text, "  * the limit of time came before the end of the file\n");
    if (!node->block->complete)
        fprintf(text, "  the run did not come to its end\n");
}

static void print_peak(const char *name, const struct peak_node *node, enum peak_operation operation, FILE *text)
{
    const struct peak_point *best = peak_points_best(node, operation);
    char request[UNITS_TEXT_MAX];
    if (best)
        fprintf(text, "  BW_PK %-5s %9.1f MB/s  (%s, requests of %s)\n", name, best->rate_bytes_per_s / 1e6,
                PEAK_ACCESS_NAMES[best->set.access], units_binary(best->set.request_bytes, request));
}

static void print_heading(const struct peak_node *node, FILE *text)
{
    const struct peak_point *first = &node->points[0];
    const char *cache = blockfile_fact_of(node->block, "cache");
    char words[200], size[UNITS_TEXT_MAX];
    fprintf(text, "\nI/O node %s\n  %s\n", node->io_node, record_words(node->block, words, sizeof words));
    if (first->file_bytes)
        fprintf(text, "  file of %s, ", units_binary(first->file_bytes, size));
    else
        fprintf(text, "  ");
    fprintf(text, "%d process%s; cache: %s\n", first->processes, first->processes == 1 ? "" : "es",
            cache ? cache : "unknown");
}

static void print_rows(const struct peak_node *node, bool data, FILE *text)
{
    bool printed = false;
    for (size_t i = 0; i < node->count; i++) {
        if ((node->points[i].set.operation <= PEAK_READ) != data)
            continue;
        if (!printed)
            fprintf(text, "  %-6s %-10s %9s %9s %8s %9s %9s %9s\n", data ? "" : "files", data ? "access" : "",
                    data ? "request" : "", data ? "MB/s" : "number", data ? "IOPS" : "per s", "mean", "median", "p99");
        printed = true;
        print_point(&node->points[i], text);
    }
}

static void print_sum(const struct peak_points *list, FILE *text)
{
    const int nodes = peak_points_nodes(list);
    const double write = peak_points_sum(list, PEAK_WRITE), read = peak_points_sum(list, PEAK_READ);
    if (nodes < 2)
        return;
    fprintf(text, "\nBW_PK of %d I/O nodes together:", nodes);
    if (isfinite(write))
        fprintf(text, " write %.1f MB/s", write / 1e6);
    if (isfinite(read))
        fprintf(text, "%s read %.1f MB/s", isfinite(write) ? "," : "", read / 1e6);
    fputc('\n', text);
}

static void print_text(const struct peak_points *list, FILE *text)
{
    fprintf(text, "Peak rates of the devices: 1 MB = 10^6 bytes; fsync belongs to writing.\n"
                  "first: the write that makes the file, which the others write over.\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct peak_node *node = &list->nodes[i];
        print_heading(node, text);
        print_rows(node, true, text);
        print_rows(node, false, text);
        print_peak("write", node, PEAK_WRITE, text);
        print_peak("read", node, PEAK_READ, text);
        print_remarks(node, text);
    }
    print_sum(list, text);
}

/* ---- exports ---- */

static void put_point(struct json *json, const struct peak_point *point)
{
    json_row_begin(json, NULL);
    json_put_string(json, "operation", PEAK_OPERATION_NAMES[point->set.operation]);
    if (point->set.operation <= PEAK_READ) {
        json_put_bool(json, "first", point->set.makes_file);
        json_put_string(json, "access", PEAK_ACCESS_NAMES[point->set.access]);
        json_put_int(json, "request_bytes", point->set.request_bytes);
        json_put_int(json, "file_bytes", point->file_bytes);
        json_put_int(json, "bytes", point->bytes);
        json_put_bool(json, "direct", point->direct);
        json_put_double(json, "rate_bytes_per_s", point->rate_bytes_per_s);
    }
    json_put_int(json, "processes", point->processes);
    json_put_int(json, "operations", point->operations);
    json_put_double(json, "operations_per_s", point->iops);
    json_put_double(json, "mean_ns", point->mean_ns);
    json_put_double(json, "median_ns", point->median_ns);
    json_put_double(json, "p99_ns", point->p99_ns);
    json_put_bool(json, "cut", point->cut);
    json_put_string(json, "failure", point->failure ? point->failure->text : NULL);
    json_object_end(json);
}

static void put_best(struct json *json, const char *key, const struct peak_node *node, enum peak_operation operation)
{
    const struct peak_point *best = peak_points_best(node, operation);
    json_put_double(json, key, best ? best->rate_bytes_per_s : NAN);
}

static void put_node(struct json *json, const struct peak_node *node)
{
    json_object_begin(json, NULL);
    json_put_string(json, "io_node", node->io_node);
    json_put_int(json, "block", node->block_number);
    json_put_bool(json, "complete", node->block->complete);
    json_array_begin(json, "configuration");
    for (size_t i = 0; i < node->block->fact_count; i++) {
        if (strncmp(node->block->facts[i].key, "config.", 7) != 0)
            continue;
        json_row_begin(json, NULL);
        json_put_string(json, "key", node->block->facts[i].key + 7);
        json_put_string(json, "value", node->block->facts[i].value);
        json_object_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "points");
    for (size_t i = 0; i < node->count; i++)
        put_point(json, &node->points[i]);
    json_array_end(json);
    put_best(json, "peak_write_bytes_per_s", node, PEAK_WRITE);
    put_best(json, "peak_read_bytes_per_s", node, PEAK_READ);
    json_object_end(json);
}

static void write_json(const struct peak_points *list, FILE *stream)
{
    struct json json = {.stream = stream};
    json_object_begin(&json, NULL);
    json_array_begin(&json, "nodes");
    for (size_t i = 0; i < list->count; i++)
        put_node(&json, &list->nodes[i]);
    json_array_end(&json);
    json_put_int(&json, "io_nodes", peak_points_nodes(list));
    json_put_double(&json, "peak_write_bytes_per_s", peak_points_sum(list, PEAK_WRITE));
    json_put_double(&json, "peak_read_bytes_per_s", peak_points_sum(list, PEAK_READ));
    json_object_end(&json);
    fputc('\n', stream);
}

static void write_csv_row(const struct peak_node *node, const struct peak_point *point, FILE *csv)
{
    analysis_csv_field(csv, node->io_node);
    fprintf(csv, ",%lld,%s,%s,", (long long)node->block_number, PEAK_OPERATION_NAMES[point->set.operation],
            point->set.makes_file ? "yes" : "no");
    if (point->set.operation <= PEAK_READ)
        fprintf(csv, "%s,%lld,%lld,%lld,%s", PEAK_ACCESS_NAMES[point->set.access], (long long)point->set.request_bytes,
                (long long)point->file_bytes, (long long)point->bytes, point->direct ? "yes" : "no");
    else
        fprintf(csv, ",,,,");
    fprintf(csv, ",%d,%lld", point->processes, (long long)point->operations);
    analysis_csv_number(csv, point->rate_bytes_per_s);
    analysis_csv_number(csv, point->iops);
    analysis_csv_number(csv, point->mean_ns);
    analysis_csv_number(csv, point->median_ns);
    analysis_csv_number(csv, point->p99_ns);
    fprintf(csv, ",%s,", point->cut ? "yes" : "no");
    analysis_csv_field(csv, point->failure ? point->failure->text : "");
    fputc('\n', csv);
}

static void write_csv(const struct peak_points *list, FILE *csv)
{
    fprintf(csv, "io_node,block,operation,first,access,request_bytes,file_bytes,bytes,direct,processes,operations,"
                 "rate_bytes_per_s,operations_per_s,mean_ns,median_ns,p99_ns,cut,failure\n");
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->nodes[i].count; k++)
            write_csv_row(&list->nodes[i], &list->nodes[i].points[k], csv);
}

pl_status peak_analysis(const struct analysis_request *request, const struct analysis_input *input,
                        struct pl_error *error)
{
    struct peak_points list;
    if (peak_points_load(request, input, &list, error) != PL_OK)
        return error->status;
    if (request->text)
        print_text(&list, request->text);
    if (request->json)
        write_json(&list, request->json);
    if (request->csv)
        write_csv(&list, request->csv);
    const pl_status status = request->plot ? peak_plot(&list, request->plot, error) : PL_OK;
    peak_points_clear(&list);
    return status;
}
