#include "bench/peak/peak_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one set ---- */

static int find_name(const char *const *names, const char *name)
{
    for (int i = 0; name && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int64_t number_of(const struct blockfile_set *set, const char *key)
{
    const char *value = blockfile_param_of(set, key);
    return value ? strtoll(value, NULL, 10) : 0;
}

/* The longest of all processes. */
static double longest_ns(const struct blockfile_set *set, const char *key)
{
    double longest = NAN;
    for (size_t i = 0; i < set->time_count; i++)
        if (strcmp(set->times[i].key, key) == 0)
            longest = fmax(longest, (double)set->times[i].nanoseconds);
    return longest;
}

struct latencies {
    struct analysis_histogram histogram;
    double sum;
    int64_t count;
};

static void take_latencies(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct latencies *all = context;
    (void)first;
    for (size_t i = 0; i < count; i++)
        all->sum += (double)values[i];
    all->count += (int64_t)count;
    analysis_histogram_add(&all->histogram, values, count);
}

static pl_status add_latencies(struct peak_point *point, const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct latencies all = {.count = 0};
    pl_status status = PL_OK;
    if (!analysis_histogram_init(&all.histogram))
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
    for (size_t i = 0; i < chosen->set->series_count && status == PL_OK; i++)
        if (strcmp(chosen->set->series[i].unit, "ns") == 0)
            status = blockfile_stream(chosen->file, &chosen->set->series[i], take_latencies, &all, error);
    point->mean_ns = all.count ? all.sum / (double)all.count : NAN;
    point->median_ns = analysis_histogram_quantile(&all.histogram, 0.5);
    point->p99_ns = analysis_histogram_quantile(&all.histogram, 0.99);
    point->operations = all.count;
    analysis_histogram_clear(&all.histogram);
    return status;
}

/* False: a set of another kind, such as the activity of a device. */
static bool read_set(struct peak_point *point, const struct blockfile_set *set)
{
    const int operation = find_name(PEAK_OPERATION_NAMES, blockfile_param_of(set, "operation"));
    const int access = find_name(PEAK_ACCESS_NAMES, blockfile_param_of(set, "access"));
    const char *direct = blockfile_param_of(set, "direct"), *fresh = blockfile_param_of(set, "fresh");
    *point = (struct peak_point){.rate_bytes_per_s = NAN, .iops = NAN};
    if (operation < 0 || (operation <= PEAK_READ && access < 0))
        return false;
    point->set.operation = (enum peak_operation)operation;
    point->set.access = access < 0 ? PEAK_SEQUENTIAL : (enum peak_access)access;
    point->set.request_bytes = number_of(set, "request_bytes");
    point->set.makes_file = fresh && strcmp(fresh, "yes") == 0;
    point->file_bytes = number_of(set, "file_bytes");
    point->bytes = number_of(set, "bytes");
    point->processes = (int)number_of(set, "processes");
    point->direct = direct && strcmp(direct, "yes") == 0;
    point->cut = set->warning_count > 0;
    point->failure = set->error_count ? &set->errors[0] : NULL;
    return true;
}

static void add_rates(struct peak_point *point, const struct blockfile_set *set)
{
    const double ns = longest_ns(set, point->set.operation == PEAK_WRITE  ? "write_time"
                                      : point->set.operation == PEAK_READ ? "read_time"
                                                                          : "loop_time");
    if (!(ns > 0) || point->operations == 0)
        return;
    point->iops = (double)point->operations / ns * 1e9;
    if (point->set.operation <= PEAK_READ)
        point->rate_bytes_per_s = (double)point->bytes / ns * 1e9;
}

/* ---- all ---- */

/* Room for one more, zeroed, in an array whose capacity is the next power of two; NULL: no memory. */
static void *grow(void *array_pointer, size_t *count, size_t size)
{
    void **array = array_pointer;
    if ((*count & (*count - 1)) == 0) {
        void *more = realloc(*array, (*count ? 2 * *count : 1) * size);
        if (!more)
            return NULL;
        *array = more;
    }
    return memset((char *)*array + (*count)++ * size, 0, size);
}

static struct peak_node *node_of(struct peak_points *list, const struct analysis_chosen *chosen)
{
    if (list->count && list->nodes[list->count - 1].block_number == chosen->block_number)
        return &list->nodes[list->count - 1];
    struct peak_node *node = grow(&list->nodes, &list->count, sizeof *node);
    const char *name = blockfile_fact_of(chosen->block, "io_node");
    if (node)
        *node = (struct peak_node){
            .io_node = name ? name : "unknown", .block = chosen->block, .block_number = chosen->block_number};
    return node;
}

static pl_status add_set(struct peak_points *list, const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct peak_point point;
    if (!read_set(&point, chosen->set))
        return PL_OK;
    if (add_latencies(&point, chosen, error) != PL_OK)
        return error->status;
    add_rates(&point, chosen->set);
    struct peak_node *node = node_of(list, chosen);
    struct peak_point *place = node ? grow(&node->points, &node->count, sizeof *place) : NULL;
    if (!place)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
    *place = point;
    return PL_OK;
}

static bool is_wanted(const struct analysis_request *request, const struct analysis_chosen *chosen)
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
        if (is_wanted(request, &chosen))
            status = add_set(&list, &chosen, error);
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
static bool is_repeated(const struct peak_points *points, size_t index)
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
        count += !is_repeated(points, i);
    return count;
}

double peak_points_sum(const struct peak_points *points, enum peak_operation operation)
{
    double sum = NAN;
    for (size_t i = 0; i < points->count; i++) {
        double best = NAN;
        if (is_repeated(points, i))
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
