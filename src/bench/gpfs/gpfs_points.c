/* From sets of single repetitions to maximum, mean and standard deviation. */
#include "bench/gpfs/gpfs_points.h"

#include "base/units.h"
#include "bench/gpfs/gpfs_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

bool gpfs_points_alike(const struct gpfs_point *a, const struct gpfs_point *b, uint64_t mask)
{
    for (int key = 0; key < GPFS_KEYS; key++)
        if (!(mask >> key & 1) && a->cell.value[key] != b->cell.value[key])
            return false;
    return a->cell.benchmark == b->cell.benchmark && a->conditions == b->conditions;
}

bool gpfs_points_same_contestant(const struct gpfs_point *a, const struct gpfs_point *b)
{
    return strcmp(a->contestant, b->contestant) == 0 && strcmp(a->mpi, b->mpi) == 0;
}

/* Behind the other points of its cell, or at the end. */
static struct gpfs_point *insert(struct gpfs_points *list, const struct gpfs_point *point)
{
    if ((list->count & (list->count - 1)) == 0) {
        struct gpfs_point *more = realloc(list->points, (list->count ? 2 * list->count : 1) * sizeof *more);
        if (!more)
            return NULL;
        list->points = more;
    }
    size_t at = list->count;
    while (at > 0 && !gpfs_points_alike(&list->points[at - 1], point, 0))
        at--;
    at = at ? at : list->count;
    memmove(&list->points[at + 1], &list->points[at], (list->count - at) * sizeof *list->points);
    list->points[at] = *point;
    list->count++;
    return &list->points[at];
}

/* The longest of all ranks; NaN: it was not measured. */
static double time_of(const struct blockfile_set *set, const char *key)
{
    double longest = NAN;
    for (size_t i = 0; i < set->time_count; i++)
        if (strcmp(set->times[i].key, key) == 0)
            longest = fmax(longest, (double)set->times[i].nanoseconds);
    return longest;
}

static bool add_repetition(struct gpfs_point *point, const struct blockfile_set *set)
{
    const double total = time_of(set, "total_time");
    if (set->error_count || isnan(total)) {
        point->failures++;
        return true;
    }
    if ((point->count & (point->count - 1)) == 0) {
        double *more = realloc(point->rates, (size_t)(point->count ? 2 * point->count : 1) * sizeof *more);
        if (!more)
            return false;
        point->rates = more;
    }
    point->rates[point->count++] = units_rate_mb_per_s((double)point->cell.moved_bytes, total);
    point->total_ns += total;
    point->task_ns += time_of(set, "task_time");
    return true;
}

static bool add_set(struct gpfs_points *list, const struct analysis_chosen *chosen)
{
    const struct gpfs_benchmark *benchmark = gpfs_benchmark_find(chosen->block->testname);
    const char *mpi = blockfile_fact_of(chosen->block, "mpi");
    struct gpfs_point new = {.mpi = mpi ? mpi : "", .contestant = blockfile_param_of(chosen->set, "contestant")};
    if (!benchmark || !new.contestant || !gpfs_results_cell(benchmark, chosen->set, &new.cell))
        return true; /* of a later version: passed over */
    new.conditions = conditions_number(&list->conditions, chosen->block, GPFS_CONDITIONS);
    if (new.conditions < 0)
        return false;
    struct gpfs_point *point = NULL;
    for (size_t i = 0; i < list->count && !point; i++)
        if (gpfs_points_alike(&list->points[i], &new, 0) && gpfs_points_same_contestant(&list->points[i], &new))
            point = &list->points[i];
    if (!point && !(point = insert(list, &new)))
        return false;
    return add_repetition(point, chosen->set);
}

/* Where the same is known without computation: how much of the shorter of both was hidden behind the other. */
static double overlap_of(const struct gpfs_points *list, const struct gpfs_point *point)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct gpfs_point *bare = &list->points[i];
        if (bare->cell.value[GPFS_COMPUTE] == 0 && gpfs_points_alike(bare, point, UINT64_C(1) << GPFS_COMPUTE) &&
            gpfs_points_same_contestant(bare, point))
            return (bare->total_ns + point->task_ns - point->total_ns) / fmin(bare->total_ns, point->task_ns);
    }
    return NAN;
}

static void finish(struct gpfs_points *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct gpfs_point *point = &list->points[i];
        point->statistics = gpfs_statistics_of(point->rates, point->count);
        point->total_ns = point->count ? point->total_ns / point->count : NAN;
        point->task_ns = point->count ? point->task_ns / point->count : NAN;
        list->has_many_mpis |= strcmp(point->mpi, list->points[0].mpi) != 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        struct gpfs_point *point = &list->points[i];
        point->overlap = point->cell.value[GPFS_COMPUTE] ? overlap_of(list, point) : NAN;
        list->has_overlap |= isfinite(point->overlap);
    }
}

static bool is_wanted(const struct analysis_request *request, const struct analysis_chosen *chosen)
{
    const char *op = blockfile_param_of(chosen->set, "op");
    return strcmp(chosen->block->class_name, GPFS_CLASS) == 0 && (!request->op || (op && strcmp(op, request->op) == 0));
}

pl_status gpfs_points_load(const struct analysis_request *request, const struct analysis_input *input,
                           struct gpfs_points *ret_points, struct pl_error *error)
{
    struct analysis_request selection = *request;
    struct analysis_chosen chosen = {0};
    struct gpfs_points list = {0};
    selection.op = NULL; /* here an operation is a parameter */
    while (analysis_next(&selection, input, &chosen))
        if (is_wanted(request, &chosen) && !add_set(&list, &chosen)) {
            gpfs_points_clear(&list);
            return pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
        }
    if (list.count == 0)
        return pl_fail(error, PL_E_INPUT, "no results of gpfs are selected");
    finish(&list);
    *ret_points = list;
    return PL_OK;
}

void gpfs_points_clear(struct gpfs_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        free(points->points[i].rates);
    free(points->points);
    conditions_clear(&points->conditions);
    *points = (struct gpfs_points){0};
}

/* ---- comparing ---- */

const char *gpfs_points_label(const struct gpfs_points *points, const struct gpfs_point *point,
                              char label[GPFS_POINT_LABEL_MAX])
{
    snprintf(label, GPFS_POINT_LABEL_MAX, "%.30s%s%.31s", points->has_many_mpis ? point->mpi : "",
             points->has_many_mpis ? " " : "", point->contestant);
    return label;
}

static double shown_of(const struct gpfs_point *point)
{
    return gpfs_statistics_shown(&point->statistics, point->cell.benchmark->by_maximum);
}

/* A contestant of the same cell and MPI; NaN: it is not there. */
static double shown_by(const struct gpfs_points *points, const struct gpfs_point *of, const char *contestant)
{
    for (size_t i = 0; i < points->count; i++) {
        const struct gpfs_point *point = &points->points[i];
        if (gpfs_points_alike(point, of, 0) && strcmp(point->mpi, of->mpi) == 0 &&
            strcmp(point->contestant, contestant) == 0)
            return shown_of(point);
    }
    return NAN;
}

struct gpfs_ratios gpfs_points_ratios(const struct gpfs_points *points, const struct gpfs_point *point)
{
    struct gpfs_ratios ratios = {.shown = shown_of(point), .reference = "system"};
    double reference = shown_by(points, point, "system"), best = NAN;
    if (isnan(reference)) {
        ratios.reference = "posix";
        reference = shown_by(points, point, "posix");
    }
    if (isnan(reference))
        ratios.reference = "-";
    for (size_t i = 0; i < points->count; i++)
        if (gpfs_points_alike(&points->points[i], point, 0))
            best = fmax(best, shown_of(&points->points[i]));
    ratios.to_reference = ratios.shown / reference;
    ratios.to_best = ratios.shown / best;
    return ratios;
}
