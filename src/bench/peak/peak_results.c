/* Results of peak: rates, operations a second and latencies of each set; the peak of each operation, summed over I/O
 * nodes (equations 3 and 4 of the document). Everybody who needs a peak rate takes it from here. */
#include "bench/peak/peak.h"

#include "base/memory.h"
#include "base/units.h"
#include "lab/result/analysis_rows.h"
#include "lab/result/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one set ---- */

static int peak_find_name(const char *const *names, const char *name)
{
    for (int i = 0; name && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int64_t peak_number_of(const struct blockfile_set *set, const char *key)
{
    const char *value = blockfile_param_of(set, key);
    return value ? strtoll(value, NULL, 10) : 0;
}

static pl_status peak_add_latencies(struct peak_point *point, const struct analysis_chosen *chosen,
                                    struct pl_error *error)
{
    struct analysis_times times;
    const pl_status status = analysis_times_of(chosen, &times, error);
    if (status != PL_OK)
        return status;
    point->mean_ns = times.mean_ns;
    point->median_ns = times.median_ns;
    point->p99_ns = times.p99_ns;
    point->operations = times.count;
    return PL_OK;
}

/* False: a set of another kind, such as the activity of a device. */
static bool peak_read_set(struct peak_point *point, const struct blockfile_set *set)
{
    const int operation = peak_find_name(PEAK_OPERATION_NAMES, blockfile_param_of(set, "operation"));
    const int access = peak_find_name(PEAK_ACCESS_NAMES, blockfile_param_of(set, "access"));
    const char *direct = blockfile_param_of(set, "direct"), *fresh = blockfile_param_of(set, "fresh");
    *point = (struct peak_point){
        .from = set, .rate_bytes_per_s = NAN, .span_rate_bytes_per_s = NAN, .call_rate_bytes_per_s = NAN, .iops = NAN};
    if (operation < 0 || (operation <= PEAK_READ && access < 0))
        return false;
    point->set.operation = (enum peak_operation)operation;
    point->set.access = access < 0 ? PEAK_SEQUENTIAL : (enum peak_access)access;
    point->set.request_bytes = peak_number_of(set, "request_bytes");
    point->set.makes_file = fresh && strcmp(fresh, "yes") == 0;
    point->file_bytes = peak_number_of(set, "file_bytes");
    point->bytes = peak_number_of(set, "bytes");
    point->processes = (int)peak_number_of(set, "processes");
    point->direct = direct && strcmp(direct, "yes") == 0;
    point->cut = set->warning_count > 0;
    point->failure = set->error_count ? &set->errors[0] : NULL;
    return true;
}

/* A write counts with its fsync. */
static pl_status peak_add_rates(struct peak_point *point, const struct analysis_chosen *chosen, struct pl_error *error)
{
    const enum peak_operation operation = point->set.operation;
    const char *const keys[] = {operation == PEAK_WRITE  ? "w"
                                : operation == PEAK_READ ? "r"
                                                         : PEAK_OPERATION_NAMES[operation],
                                operation == PEAK_WRITE ? "sync_time" : NULL};
    const struct analysis_request all = {.to = INT64_MAX};
    const double longest = analysis_slowest_ns(chosen->set, operation == PEAK_WRITE  ? "write_time"
                                                            : operation == PEAK_READ ? "read_time"
                                                                                     : "loop_time");
    struct analysis_time time;
    const pl_status status = analysis_busy_of(&all, chosen, keys, 2, &time, error);
    if (status != PL_OK || !(longest > 0))
        return status;
    point->by_calls = isnan(time.busy_ns);
    if (point->operations > 0)
        point->iops = (double)point->operations / (point->by_calls ? longest : time.busy_ns) * 1e9;
    if (operation <= PEAK_READ && point->bytes > 0) {
        point->call_rate_bytes_per_s = (double)point->bytes / longest * 1e9;
        point->rate_bytes_per_s = point->by_calls ? point->call_rate_bytes_per_s
                                                  : (double)point->bytes / time.busy_ns * 1e9;
        point->span_rate_bytes_per_s = (double)point->bytes / time.span_ns * 1e9;
    }
    return PL_OK;
}

/* ---- all ---- */

static struct peak_node *peak_node_of(struct peak_points *list, const struct analysis_chosen *chosen)
{
    if (list->count && list->nodes[list->count - 1].block_number == chosen->block_number)
        return &list->nodes[list->count - 1];
    const char *name = blockfile_fact_of(chosen->block, "io_node"), *on = blockfile_input_of(chosen->block, "on");
    list->nodes = memory_grow(list->nodes, list->count, sizeof *list->nodes);
    list->nodes[list->count] = (struct peak_node){.io_node = name ? name : "unknown",
                                                  .on = on ? on : "",
                                                  .block = chosen->block,
                                                  .block_number = chosen->block_number};
    return &list->nodes[list->count++];
}

static pl_status peak_add_set(struct peak_points *list, const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct peak_point point;
    if (!peak_read_set(&point, chosen->set))
        return PL_OK;
    if (peak_add_latencies(&point, chosen, error) != PL_OK)
        return error->status;
    if (peak_add_rates(&point, chosen, error) != PL_OK)
        return error->status;
    struct peak_node *node = peak_node_of(list, chosen);
    node->points = memory_grow(node->points, node->count, sizeof *node->points);
    node->points[node->count++] = point;
    return PL_OK;
}

static bool peak_is_wanted(const struct analysis_request *request, const struct analysis_chosen *chosen)
{
    const char *operation = blockfile_param_of(chosen->set, "operation");
    return strcmp(chosen->block->class_name, PEAK_CLASS) == 0 &&
           (!request->op || (operation && strcmp(operation, request->op) == 0));
}

pl_status peak_points_load(const struct analysis_request *request, const struct analysis_input *input,
                           struct peak_points *ret_points, struct pl_error *error)
{
    struct analysis_request selection = *request;
    struct analysis_chosen chosen = {0};
    struct peak_points list = {.count = 0};
    pl_status status = PL_OK;
    selection.op = NULL; /* here an operation is a parameter */
    while (status == PL_OK && analysis_next(&selection, input, &chosen))
        if (peak_is_wanted(request, &chosen))
            status = peak_add_set(&list, &chosen, error);
    if (status == PL_OK && list.count == 0)
        status = pl_fail(error, PL_E_INPUT, "no results of peak are selected");
    if (status != PL_OK)
        peak_points_clear(&list);
    else
        *ret_points = list;
    return status;
}

void peak_points_clear(struct peak_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        free(points->nodes[i].points);
    free(points->nodes);
    *points = (struct peak_points){0};
}

/* ---- peaks ---- */

const struct peak_point *peak_points_best(const struct peak_node *node, enum peak_operation operation)
{
    const struct peak_point *best = NULL;
    for (size_t i = 0; i < node->count; i++) {
        const struct peak_point *point = &node->points[i];
        if (point->set.operation == operation && !point->failure && isfinite(point->rate_bytes_per_s) &&
            (!best || point->rate_bytes_per_s > best->rate_bytes_per_s))
            best = point;
    }
    return best;
}

/* Another block of the same I/O node stands before it. */
static bool peak_is_repeated(const struct peak_points *points, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(points->nodes[i].io_node, points->nodes[index].io_node) == 0)
            return true;
    return false;
}

int peak_points_nodes(const struct peak_points *points)
{
    int count = 0;
    for (size_t i = 0; i < points->count; i++)
        count += !peak_is_repeated(points, i);
    return count;
}

double peak_points_sum(const struct peak_points *points, enum peak_operation operation)
{
    double sum = NAN;
    for (size_t i = 0; i < points->count; i++) {
        double best = NAN;
        if (peak_is_repeated(points, i))
            continue;
        for (size_t k = i; k < points->count; k++) {
            const struct peak_point *point = peak_points_best(&points->nodes[k], operation);
            if (point && strcmp(points->nodes[k].io_node, points->nodes[i].io_node) == 0)
                best = fmax(best, point->rate_bytes_per_s);
        }
        if (isfinite(best))
            sum = isnan(sum) ? best : sum + best;
    }
    return sum;
}

/* ---- quantities ---- */

static const struct quantity_kind PEAK_RATE = {"peak rate", "MB/s", RESULT_RATE_MADE ", fsync of writes included",
                                               false};
static const struct quantity_kind PEAK_TIME = {"time of an operation", "ms", "mean of all operations of all processes",
                                               true};

/* Reads and writes have a rate; what moves no data has a time. */
static void peak_add_quantity(struct result *result, const struct peak_node *node, const struct peak_point *point)
{
    static const char *const keys[] = {"access", "request_bytes", "file_bytes", "direct",
                                       "stride", "fresh",         "processes",  NULL};
    const char *operation = PEAK_OPERATION_NAMES[point->set.operation];
    struct text settings = {0};
    char what[64];
    if (point->failure)
        return;
    settings_of_keys(point->from, keys, &settings);
    if (point->bytes > 0) {
        snprintf(what, sizeof what, "peak %s rate", operation);
        const struct result_rate rate = {{point->rate_bytes_per_s / 1e6, NAN},
                                         {point->call_rate_bytes_per_s / 1e6, NAN},
                                         point->by_calls,
                                         point->span_rate_bytes_per_s / 1e6};
        result_quantity_rate(result, node->block, &PEAK_RATE, what, text_get(&settings), &rate);
    } else {
        snprintf(what, sizeof what, "time of %s", operation);
        result_quantity(result, node->block, &PEAK_TIME, what, text_get(&settings),
                        (struct analysis_estimate){point->mean_ns / 1e6, NAN});
    }
    text_clear(&settings);
}

/* ---- the document ---- */

static const struct result_column DATA[] = {
    {.key = "operation", .label = "", .form = RESULT_TEXT},
    {.key = "first", .form = RESULT_BOOL, .hidden = true},
    {.key = "access", .form = RESULT_TEXT},
    {.key = "request_bytes", .label = "request", .form = RESULT_BINARY},
    {.key = "file_bytes", .form = RESULT_INT, .hidden = true},
    {.key = "bytes", .form = RESULT_INT, .hidden = true},
    {.key = "direct", .form = RESULT_BOOL, .hidden = true},
    {.key = "processes", .form = RESULT_INT, .hidden = true},
    {.key = "operations", .label = "number", .form = RESULT_INT},
    {.key = "rate_bytes_per_s", .label = "rate", .form = RESULT_BYTE_RATE, .decimals = 1},
    {.key = "operations_per_s", .label = "IOPS", .form = RESULT_NUMBER},
    {.key = "mean_ns", .label = "mean", .form = RESULT_NS},
    {.key = "median_ns", .label = "median", .form = RESULT_NS},
    {.key = "p99_ns", .label = "p99", .form = RESULT_NS},
    {.key = "call_rate_bytes_per_s", .form = RESULT_BYTE_RATE, .decimals = 1, .hidden = true},
    {.key = "cut", .form = RESULT_BOOL, .hidden = true},
    {.key = "failure", .form = RESULT_TEXT, .hidden = true},
    {.key = "span_rate_bytes_per_s", .form = RESULT_BYTE_RATE, .decimals = 1, .hidden = true},
    {0}};

static void peak_put_point(struct result *result, const struct peak_point *point)
{
    const bool data = point->set.operation <= PEAK_READ;
    result_row(result);
    result_put_text(result, PEAK_OPERATION_NAMES[point->set.operation]);
    result_put_bool(result, point->set.makes_file);
    if (data) {
        result_put_text(result, PEAK_ACCESS_NAMES[point->set.access]);
        result_put_int(result, point->set.request_bytes);
        result_put_int(result, point->file_bytes);
        result_put_int(result, point->bytes);
        result_put_bool(result, point->direct);
    } else {
        for (int i = 0; i < 5; i++)
            result_put_empty(result);
    }
    result_put_int(result, point->processes);
    result_put_int(result, point->operations);
    result_put_number(result, point->rate_bytes_per_s);
    result_put_number(result, point->iops);
    result_put_number(result, point->mean_ns);
    result_put_number(result, point->median_ns);
    result_put_number(result, point->p99_ns);
    result_put_number(result, point->call_rate_bytes_per_s);
    result_put_bool(result, point->cut);
    result_put_text(result, point->failure ? point->failure->text : NULL);
    result_put_number(result, point->span_rate_bytes_per_s);
}

static void peak_put_remarks(struct result *result, const struct peak_node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        const struct peak_point *point = &node->points[i];
        char label[PEAK_LABEL_MAX];
        peak_set_label(&point->set, label);
        if (point->failure)
            result_note(result, RESULT_ERROR, "failed: %s: rank %d: %s", label, point->failure->rank,
                        point->failure->text);
        if (point->cut)
            result_note(result, RESULT_NOTE, "%s: time limit reached before the whole file was accessed", label);
    }
    for (size_t i = 0; i < node->block->fact_count; i++)
        if (strcmp(node->block->facts[i].key, "warning") == 0)
            result_note(result, RESULT_WARNING, "%s", node->block->facts[i].value);
    if (!node->block->complete)
        result_note(result, RESULT_WARNING, "the run did not come to its end");
}

static void peak_put_configuration(struct result *result, const struct peak_node *node)
{
    static const struct result_column columns[] = {
        {.key = "key", .form = RESULT_TEXT}, {.key = "value", .form = RESULT_TEXT}, {0}};
    result_begin_table(result, "configuration", NULL, columns);
    result_only_in(result, RESULT_IN_JSON | RESULT_IN_PAGE);
    for (size_t i = 0; i < node->block->fact_count; i++)
        if (strncmp(node->block->facts[i].key, "config.", 7) == 0) {
            result_row(result);
            result_put_text(result, node->block->facts[i].key + 7);
            result_put_text(result, node->block->facts[i].value);
        }
}

static void peak_put_best(struct result *result, const struct peak_node *node, enum peak_operation operation)
{
    const struct peak_point *best = peak_points_best(node, operation);
    char key[64], request[UNITS_TEXT_MAX];
    snprintf(key, sizeof key, "peak_%s_bytes_per_s", PEAK_OPERATION_NAMES[operation]);
    result_fact(result, key, NULL, RESULT_BYTE_RATE, best ? best->rate_bytes_per_s : NAN);
    if (best)
        result_line(result, "device peak, %-5s %9.1f MB/s  (BW_PK; %s, requests of %s)",
                    PEAK_OPERATION_NAMES[operation], best->rate_bytes_per_s / 1e6, PEAK_ACCESS_NAMES[best->set.access],
                    units_binary(best->set.request_bytes, request));
}

static void peak_put_node(struct result *result, const struct peak_node *node)
{
    const struct peak_point *first = &node->points[0];
    const char *cache = blockfile_fact_of(node->block, "cache");
    char text[200], size[UNITS_TEXT_MAX];
    result_begin_group(result, "nodes", "I/O node %s", node->io_node);
    result_fact_text(result, "io_node", NULL, node->io_node);
    result_fact_int(result, "block", NULL, node->block_number);
    result_line(result, "%s", record_words(node->block, text, sizeof text));
    if (first->file_bytes)
        result_line(result, "file of %s, %d process%s; cache: %s", units_binary(first->file_bytes, size),
                    first->processes, first->processes == 1 ? "" : "es", cache ? cache : "unknown");
    else
        result_line(result, "%d process%s; cache: %s", first->processes, first->processes == 1 ? "" : "es",
                    cache ? cache : "unknown");
    result_begin_table(result, "points", NULL, DATA);
    for (size_t i = 0; i < node->count; i++) {
        peak_put_point(result, &node->points[i]);
        peak_add_quantity(result, node, &node->points[i]);
    }
    result_fact_bool(result, "complete", NULL, node->block->complete);
    peak_put_configuration(result, node);
    peak_put_best(result, node, PEAK_WRITE);
    peak_put_best(result, node, PEAK_READ);
    peak_put_remarks(result, node);
    result_end_group(result);
}

/* Rate against request size, writing on the left and reading on the right. */
static void peak_draw(struct result *result, const struct peak_node *node)
{
    const struct result_axis x = {.label = "request", .form = RESULT_BINARY, .log = true};
    const struct result_axis y = {.label = "rate", .form = RESULT_RATE, .from_zero = true};
    for (int operation = PEAK_WRITE; operation <= PEAK_READ; operation++) {
        result_begin_panel(result, &x, &y, 2, "%s, %s", node->io_node, PEAK_OPERATION_NAMES[operation]);
        for (int access = 0; access < PEAK_ACCESSES; access++) {
            bool begun = false;
            for (size_t i = 0; i < node->count; i++) {
                const struct peak_point *point = &node->points[i];
                if ((int)point->set.operation != operation || (int)point->set.access != access || point->failure ||
                    point->set.makes_file || !isfinite(point->rate_bytes_per_s))
                    continue;
                if (!begun)
                    result_begin_series(result, RESULT_LINE, "%s", PEAK_ACCESS_NAMES[access]);
                begun = true;
                result_point(result, (double)point->set.request_bytes, point->rate_bytes_per_s / 1e6, NAN, NAN);
            }
        }
    }
}

static void peak_put_sums(struct result *result, const struct peak_points *list)
{
    const int nodes = peak_points_nodes(list);
    const double write = peak_points_sum(list, PEAK_WRITE), read = peak_points_sum(list, PEAK_READ);
    result_fact_int(result, "io_nodes", NULL, nodes);
    result_fact(result, "peak_write_bytes_per_s", NULL, RESULT_BYTE_RATE, write);
    result_fact(result, "peak_read_bytes_per_s", NULL, RESULT_BYTE_RATE, read);
    if (nodes > 1)
        result_line(result, "Device peak (BW_PK) of %d I/O nodes together: write %.1f MB/s, read %.1f MB/s", nodes,
                    isfinite(write) ? write / 1e6 : 0, isfinite(read) ? read / 1e6 : 0);
}

pl_status peak_results(const struct analysis_request *request, const struct analysis_input *input,
                       struct result *result, struct pl_error *error)
{
    struct peak_points list;
    if (peak_points_load(request, input, &list, error) != PL_OK)
        return error->status;
    result_line(result, "Peak rates of the devices: 1 MB = 10^6 bytes; fsync belongs to writing. The first write makes "
                        "the file, which the others write over.");
    result_csv_table(result, "points");
    for (size_t i = 0; i < list.count; i++) {
        peak_put_node(result, &list.nodes[i]);
        peak_draw(result, &list.nodes[i]);
    }
    peak_put_sums(result, &list);
    peak_points_clear(&list);
    return PL_OK;
}
