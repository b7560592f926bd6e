/* From sets of single trials to means. */
#include "bench/piobench/piobench_points.h"

#include "base/units.h"
#include "measure/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t number_of(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    int64_t value = 0;
    return text && units_parse_int(text, 0, INT64_MAX, &value) ? value : 0;
}

static const char *text_of(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    return text ? text : "";
}

static int64_t hint_of(const struct blockfile_set *set, const char *key)
{
    int64_t value = 0;
    for (size_t i = 0; i < set->hint_count; i++)
        if (!set->hints[i].used && strcmp(set->hints[i].key, key) == 0)
            units_parse_size(set->hints[i].value, &value);
    return value;
}

/* As many cores as hosts times those of the first; unknown is taken as enough. */
static bool is_crowded(const struct blockfile_block *block, int ranks)
{
    const char *cores_text = blockfile_fact_of(block, "cores");
    int64_t cores;
    if (!cores_text || !units_parse_int(cores_text, 1, INT32_MAX, &cores))
        return false;
    int64_t hosts = 0;
    char last[128] = "";
    for (size_t i = 0; i < block->fact_count; i++) {
        char host[128];
        if (strcmp(block->facts[i].key, "host") == 0 && sscanf(block->facts[i].value, "%*d %127s", host) == 1 &&
            strcmp(host, last) != 0) { /* ranks of a host mostly stand together */
            hosts++;
            snprintf(last, sizeof last, "%s", host);
        }
    }
    return ranks > cores * (hosts ? hosts : 1);
}

static struct piobench_point point_of(const struct analysis_chosen *chosen)
{
    const struct blockfile_set *set = chosen->set;
    const char *mpi = blockfile_fact_of(chosen->block, "mpi");
    struct piobench_point point = {
        .op = text_of(set, "op"),
        .distribution = text_of(set, "distribution"),
        .file_bytes = number_of(set, "file_asked_bytes"),
        .block_bytes = number_of(set, "blocksize_bytes"),
        .block_asked_bytes = number_of(set, "block_asked_bytes"),
        .ranks = (int)number_of(set, "ranks"),
        .mpi = mpi ? mpi : "",
        .algorithm = text_of(set, "algorithm"),
        .family = text_of(set, "family"),
        .group = hint_of(set, "piolet_group_size"),
        .moved_bytes = (double)number_of(set, "moved_bytes"),
    };
    point.buffer_bytes = hint_of(set, "IBM_io_buffer_size");
    point.buffer_bytes = point.buffer_bytes ? point.buffer_bytes : hint_of(set, "cb_buffer_size");
    point.crowded = is_crowded(chosen->block, point.ranks);
    return point;
}

bool piobench_points_same_cell(const struct piobench_point *a, const struct piobench_point *b)
{
    return a->conditions == b->conditions && a->block_bytes == b->block_bytes && a->ranks == b->ranks &&
           a->file_bytes == b->file_bytes && strcmp(a->op, b->op) == 0 && strcmp(a->distribution, b->distribution) == 0;
}

static bool is_same(const struct piobench_point *a, const struct piobench_point *b)
{
    return piobench_points_same_cell(a, b) && strcmp(a->algorithm, b->algorithm) == 0 && strcmp(a->mpi, b->mpi) == 0;
}

/* Room at the end, or behind the other points of its cell. */
static struct piobench_point *insert(struct piobench_points *list, const struct piobench_point *point)
{
    if ((list->count & (list->count - 1)) == 0) {
        struct piobench_point *more = realloc(list->points, (list->count ? 2 * list->count : 1) * sizeof *more);
        if (!more)
            return NULL;
        list->points = more;
    }
    size_t at = list->count;
    while (at > 0 && !piobench_points_same_cell(&list->points[at - 1], point))
        at--;
    at = at ? at : list->count;
    memmove(&list->points[at + 1], &list->points[at], (list->count - at) * sizeof *list->points);
    list->points[at] = *point;
    list->count++;
    return &list->points[at];
}

static bool add_trial(struct piobench_point *point, double total_ns)
{
    if ((point->trials & (point->trials - 1)) == 0) {
        double *more = realloc(point->total_ns, (size_t)(point->trials ? 2 * point->trials : 1) * sizeof *more);
        if (!more)
            return false;
        point->total_ns = more;
    }
    point->total_ns[point->trials++] = total_ns;
    return true;
}

static bool add_set(struct piobench_points *list, const struct analysis_chosen *chosen)
{
    struct piobench_point new = point_of(chosen);
    struct piobench_point *point = NULL;
    new.conditions = conditions_number(&list->conditions, chosen->block, PIOBENCH_CONDITIONS);
    if (new.conditions < 0)
        return false;
    for (size_t i = 0; i < list->count && !point; i++)
        if (is_same(&list->points[i], &new))
            point = &list->points[i];
    if (!point && !(point = insert(list, &new)))
        return false;
    if (chosen->set->warning_count)
        point->warning = chosen->set->warnings[0];
    if (chosen->set->error_count) {
        point->failures++;
        return true;
    }
    for (size_t t = 0; t < chosen->set->time_count; t++)
        if (strcmp(chosen->set->times[t].key, "total_time") == 0 &&
            !add_trial(point, (double)chosen->set->times[t].nanoseconds))
            return false;
    return true;
}

static void finish(struct piobench_points *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct piobench_point *point = &list->points[i];
        const struct analysis_estimate mean = analysis_mean(point->total_ns, (size_t)point->trials);
        point->rate_mb_per_s = point->trials ? units_rate_mb_per_s(point->moved_bytes, mean.value) : NAN;
        point->error_mb_per_s = point->rate_mb_per_s * mean.error / mean.value;
        list->has_many_mpis |= strcmp(point->mpi, list->points[0].mpi) != 0;
    }
}

pl_status piobench_points_load(const struct analysis_request *request, const struct analysis_input *input,
                               struct piobench_points *ret_points, struct pl_error *error)
{
    struct analysis_request selection = *request;
    struct analysis_chosen chosen = {0};
    struct piobench_points list = {0};
    selection.op = NULL; /* here an operation is a parameter */
    while (analysis_next(&selection, input, &chosen)) {
        if (strcmp(chosen.block->class_name, PIOBENCH_CLASS) != 0 ||
            (request->op && strcmp(text_of(chosen.set, "op"), request->op) != 0))
            continue;
        if (!add_set(&list, &chosen)) {
            piobench_points_clear(&list);
            return pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
        }
    }
    if (list.count == 0)
        return pl_fail(error, PL_E_INPUT, "no results of piobench are selected");
    finish(&list);
    *ret_points = list;
    return PL_OK;
}

void piobench_points_clear(struct piobench_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        free(points->points[i].total_ns);
    free(points->points);
    conditions_clear(&points->conditions);
    *points = (struct piobench_points){0};
}

const struct piobench_point *piobench_points_naive(const struct piobench_point *points, size_t count,
                                                   const struct piobench_point *of)
{
    const struct piobench_point *naive = NULL;
    for (size_t i = 0; i < count; i++)
        if (piobench_points_same_cell(&points[i], of) && strcmp(points[i].family, "naive") == 0 &&
            isfinite(points[i].rate_mb_per_s) && (!naive || strcmp(points[i].mpi, of->mpi) == 0))
            naive = &points[i];
    return naive;
}

const struct piobench_point *piobench_points_best(const struct piobench_point *points, size_t count,
                                                  const struct piobench_point *of)
{
    const struct piobench_point *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (piobench_points_same_cell(&points[i], of) && isfinite(points[i].rate_mb_per_s) &&
            (!best || points[i].rate_mb_per_s > best->rate_mb_per_s))
            best = &points[i];
    return best;
}

const char *piobench_points_label(const struct piobench_points *points, const struct piobench_point *point,
                                  char label[PIOBENCH_LABEL_MAX + PIOBENCH_MPI_MAX])
{
    snprintf(label, PIOBENCH_LABEL_MAX + PIOBENCH_MPI_MAX, "%s%s%s", points->has_many_mpis ? point->mpi : "",
             points->has_many_mpis ? " " : "", point->algorithm);
    return label;
}
