/* allav (IOT-32): the rate against file size and block size, over all sets. */
#include "lab/show/analysis_tools.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "lab/result/analysis_select.h"
#include "lab/show/analysis_format.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What must be equal for two rates to stand on one curve. Strings are borrowed from the block files. */
enum allav_trait {
    ALLAV_TEST,
    ALLAV_OP,
    ALLAV_NPROCS,
    ALLAV_COLLECTIVE,
    ALLAV_LAYOUT,
    ALLAV_MPIIO,
    ALLAV_FILESYSTEM,
    ALLAV_TRAITS
};

static const char *const ALLAV_NAMES[ALLAV_TRAITS] = {"testname", "op",    "nprocs",    "collective",
                                                      "layout",   "mpiio", "filesystem"};

struct allav_group {
    const char *traits[ALLAV_TRAITS];
    bool one_process; /* the others wait */
};

/* One operation of one set; after averaging, of all sets with equal parameters. */
struct allav_point {
    size_t group;
    double file_bytes, block_bytes;
    size_t sets;
    struct analysis_op_rate rate; /* its cumulative points are those of the first set */
};

struct allav {
    const struct analysis_request *request;
    struct allav_group *groups;
    size_t group_count;
    struct allav_point *points; /* when averaged: sorted by group, block size, file size */
    size_t point_count;
    size_t failed_sets;
    bool any_overlap, any_by_calls;
};

/* ---- collecting ---- */

static bool allav_same_group(const struct allav_group *a, const struct allav_group *b, bool any_op)
{
    for (int i = 0; i < ALLAV_TRAITS; i++)
        if (!(any_op && i == ALLAV_OP) && strcmp(a->traits[i], b->traits[i]) != 0)
            return false;
    return a->one_process == b->one_process;
}

static const char *allav_known(const char *value)
{
    return value ? value : "";
}

static size_t allav_group_for(struct allav *allav, const struct analysis_chosen *chosen, const char *op)
{
    const struct allav_group group = {
        .traits = {[ALLAV_TEST] = chosen->block->testname,
                   [ALLAV_OP] = op,
                   [ALLAV_NPROCS] = allav_known(blockfile_fact_of(chosen->block, "nprocs")),
                   [ALLAV_COLLECTIVE] = allav_known(blockfile_param_of(chosen->set, "collective")),
                   [ALLAV_LAYOUT] = allav_known(blockfile_param_of(chosen->set, "layout")),
                   [ALLAV_MPIIO] = allav_known(blockfile_fact_of(chosen->block, "mpiio")),
                   [ALLAV_FILESYSTEM] = allav_known(blockfile_fact_of(chosen->block, "filesystem"))},
        .one_process = analysis_one_process(chosen->set),
    };
    for (size_t i = 0; i < allav->group_count; i++)
        if (allav_same_group(&allav->groups[i], &group, false))
            return i;
    allav->groups = memory_grow(allav->groups, allav->group_count, sizeof *allav->groups);
    allav->groups[allav->group_count] = group;
    return allav->group_count++;
}

static double allav_size(const struct blockfile_set *set, const char *key, double otherwise)
{
    const char *text = blockfile_param_of(set, key);
    double bytes;
    return text && units_parse_number(text, &bytes) && bytes > 0 && bytes < 0x1p62 ? bytes : otherwise;
}

static void allav_add_set(struct allav *allav, const struct analysis_chosen *chosen, const struct analysis_rows *rows)
{
    for (size_t i = 0; i < rows->op_count; i++) {
        const struct analysis_op_times *op = &rows->ops[i];
        const char *key = rows->rows[op->first].series->key;
        struct analysis_op_rate rate;
        if ((allav->request->op && strcmp(key, allav->request->op) != 0) ||
            !analysis_op_rate(rows, op->first, op->end, &rate))
            continue;
        allav->points = memory_grow(allav->points, allav->point_count, sizeof *allav->points);
        allav->points[allav->point_count++] = (struct allav_point){
            .group = allav_group_for(allav, chosen, key),
            .file_bytes = allav_size(chosen->set, "filesize_bytes", rate.bytes),
            .block_bytes = allav_size(chosen->set, "blocksize_bytes", 0),
            .sets = 1,
            .rate = rate,
        };
    }
}

static int allav_compare(const void *a, const void *b)
{
    const struct allav_point *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->block_bytes != y->block_bytes)
        return x->block_bytes < y->block_bytes ? -1 : 1;
    return (x->file_bytes > y->file_bytes) - (x->file_bytes < y->file_bytes);
}

/* Sets with equal parameters are independent runs: their spread tells more than the batches of one of them. */
static void allav_average(struct allav *allav)
{
    double *values = memory_new(allav->point_count + 1, sizeof *values);
    size_t kept = 0;
    if (allav->point_count)
        qsort(allav->points, allav->point_count, sizeof *allav->points, allav_compare);
    for (size_t first = 0, end; first < allav->point_count; first = end) {
        struct allav_point point = allav->points[first];
        for (end = first + 1;
             end < allav->point_count && allav_compare(&allav->points[first], &allav->points[end]) == 0;)
            end++;
        point.sets = end - first;
        for (size_t i = first; i < end; i++) {
            point.rate.by_calls = point.rate.by_calls || allav->points[i].rate.by_calls;
            values[i - first] = allav->points[i].rate.call_rate.value;
        }
        if (point.sets > 1)
            point.rate.call_rate = analysis_mean(values, point.sets);
        for (size_t i = first; i < end; i++)
            values[i - first] = allav->points[i].rate.span_rate; /* NaN of one without stamps is NaN of all */
        point.rate.span_rate = analysis_mean(values, point.sets).value;
        for (int asymptotic = 0; asymptotic < 2 && point.sets > 1; asymptotic++) {
            for (size_t i = first; i < end; i++)
                values[i - first] = asymptotic ? allav->points[i].rate.asymptotic.value
                                               : allav->points[i].rate.rate.value;
            *(asymptotic ? &point.rate.asymptotic : &point.rate.rate) = analysis_mean(values, point.sets);
        }
        if (point.rate.by_calls) /* some sets or all: one definition for what is averaged */
            point.rate.rate = point.rate.call_rate;
        allav->any_by_calls = allav->any_by_calls || point.rate.by_calls;
        allav->points[kept++] = point;
    }
    assert(kept <= allav->point_count);
    allav->point_count = kept;
    free(values);
}

/* End of the points that share group and block size with points[first]. */
static size_t allav_end_of_curve(const struct allav *allav, size_t first)
{
    size_t end = first + 1;
    while (end < allav->point_count && allav->points[end].group == allav->points[first].group &&
           allav->points[end].block_bytes == allav->points[first].block_bytes)
        end++;
    return end;
}

static bool allav_varies(const struct allav *allav, int trait)
{
    const char *first = ""; /* what is not known does not tell groups apart for a reader */
    for (size_t i = 0; i < allav->group_count; i++) {
        const char *value = allav->groups[i].traits[trait];
        if (first[0] && value[0] && strcmp(value, first) != 0)
            return true;
        first = first[0] ? first : value;
    }
    return false;
}

/* Test, access, processes, and the other traits in which the groups differ; the operation is not named. */
static void allav_label(const struct allav *allav, size_t group, struct text *label)
{
    enum { WORD = 9 };
    const char *const *traits = allav->groups[group].traits;
    char test[ANALYSIS_NAME_MAX], processes[ANALYSIS_NAME_MAX];
    text_format(label, "%.32s, %s", analysis_access_text(traits[ALLAV_TEST], traits[ALLAV_COLLECTIVE], test),
                analysis_processes_text(traits[ALLAV_NPROCS], allav->groups[group].one_process, processes));
    for (int i = ALLAV_LAYOUT; i < ALLAV_TRAITS; i++) {
        const int word = (int)strcspn(traits[i], " ,");
        if (allav_varies(allav, i) && word)
            text_format(label, ", %.*s", word < WORD ? word : WORD, traits[i]);
    }
}

/* ---- tables ---- */

static const struct result_column ALLAV_POINTS[] = {
    {.key = "file_bytes", .label = "file size", .form = RESULT_BYTES},
    {.key = "block_bytes", .label = "block size", .form = RESULT_BYTES},
    {.key = "sets", .form = RESULT_INT},
    {.key = "rate_mb_per_s", .label = "rate MB/s", .form = RESULT_NUMBER, .decimals = -4},
    {.key = "error_mb_per_s", .label = "±", .form = RESULT_NUMBER, .decimals = -3},
    {.key = "asymptotic_mb_per_s", .label = "asymptotic", .form = RESULT_NUMBER, .decimals = -4},
    {.key = "asymptotic_error_mb_per_s", .label = "±", .form = RESULT_NUMBER, .decimals = -3},
    {.key = "call_rate_mb_per_s", .label = "by calls", .form = RESULT_NUMBER, .decimals = -4},
    {.key = "call_rate_error_mb_per_s", .label = "±", .form = RESULT_NUMBER, .decimals = -3},
    {.key = "span_rate_mb_per_s", .label = "start to end", .form = RESULT_NUMBER, .decimals = -4},
    {0}};

static void allav_put_numbers(struct result *result, const struct analysis_op_rate *rate)
{
    result_put_number(result, rate->rate.value);
    result_put_number(result, rate->rate.error);
    result_put_number(result, rate->asymptotic.value);
    result_put_number(result, rate->asymptotic.error);
    result_put_number(result, rate->call_rate.value);
    result_put_number(result, rate->call_rate.error);
    result_put_number(result, rate->span_rate);
}

/* The rate up to a size within the largest run of each block size: for people in lines, for machines in groups. */
static void allav_put_approximate(struct result *result, const struct allav_point *point)
{
    enum { IN_A_LINE = 4, POINTS_MIN = 3 };
    static const struct result_column columns[] = {
        {.key = "bytes", .form = RESULT_NUMBER}, {.key = "rate_mb_per_s", .form = RESULT_RATE}, {0}};
    char size[UNITS_TEXT_MAX], cell[ANALYSIS_CELL_MAX];
    struct text line = {0};
    if (point->rate.point_count >= POINTS_MIN)
        result_line(result, "block %s, approximate: rate up to a size within the largest run:",
                    analysis_bytes_text(point->block_bytes, size));
    for (int i = 0; i < point->rate.point_count && point->rate.point_count >= POINTS_MIN; i++) {
        text_format(&line, "%8s %6s   ", analysis_bytes_text(point->rate.point_bytes[i], size),
                    analysis_cell(point->rate.point_rate[i], 4, cell));
        if (i % IN_A_LINE == IN_A_LINE - 1 || i + 1 == point->rate.point_count) {
            result_line(result, "%s", text_get(&line));
            text_clear(&line);
        }
    }
    result_begin_group(result, "approximate", NULL);
    result_fact(result, "block_bytes", NULL, RESULT_NUMBER, point->block_bytes);
    result_fact(result, "file_bytes", NULL, RESULT_NUMBER, point->file_bytes);
    result_begin_table(result, "points", NULL, columns);
    result_only_in(result, RESULT_IN_JSON);
    for (int i = 0; i < point->rate.point_count; i++) {
        result_row(result);
        result_put_number(result, point->rate.point_bytes[i]);
        result_put_number(result, point->rate.point_rate[i]);
    }
    result_end_group(result);
}

/* All of it for CSV: measured points, and behind the last one of a curve the approximate ones. */
static void allav_put_csv(struct result *result, const struct allav *allav, size_t first, size_t end)
{
    struct result_column columns[1 + sizeof ALLAV_POINTS / sizeof ALLAV_POINTS[0]] = {
        {.key = "kind", .form = RESULT_TEXT}};
    memcpy(columns + 1, ALLAV_POINTS, sizeof ALLAV_POINTS);
    result_begin_table(result, "rates", NULL, columns);
    result_only_in(result, RESULT_IN_CSV);
    for (size_t i = first; i < end; i++) {
        const struct allav_point *point = &allav->points[i];
        const int approximate = allav_end_of_curve(allav, i) == i + 1 ? point->rate.point_count : 0;
        for (int p = -1; p < approximate; p++) {
            result_row(result);
            result_put_text(result, p < 0 ? "measured" : "approximate");
            result_put_number(result, p < 0 ? point->file_bytes : point->rate.point_bytes[p]);
            result_put_number(result, point->block_bytes);
            result_put_int(result, (int64_t)point->sets);
            if (p < 0)
                allav_put_numbers(result, &point->rate);
            else
                result_put_number(result, point->rate.point_rate[p]);
        }
    }
}

static void allav_put_group(struct result *result, const struct allav *allav, size_t first, size_t end)
{
    const struct allav_group *group = &allav->groups[allav->points[first].group];
    const char *const *traits = group->traits;
    char processes[ANALYSIS_NAME_MAX];
    result_begin_group(result, "curves", "%.30s, operation %.10s: %s", traits[ALLAV_TEST], traits[ALLAV_OP],
                       analysis_processes_text(traits[ALLAV_NPROCS], group->one_process, processes));
    for (int i = 0; i < ALLAV_TRAITS; i++)
        result_fact_text(result, ALLAV_NAMES[i], NULL, traits[i]);
    if (traits[ALLAV_COLLECTIVE][0])
        result_line(result, "collective %.12s%s%.12s", traits[ALLAV_COLLECTIVE],
                    traits[ALLAV_LAYOUT][0] ? ", layout " : "", traits[ALLAV_LAYOUT]);
    result_line(result, "MPI-IO %.32s, file system %.20s", traits[ALLAV_MPIIO][0] ? traits[ALLAV_MPIIO] : "?",
                traits[ALLAV_FILESYSTEM][0] ? traits[ALLAV_FILESYSTEM] : "?");
    result_begin_table(result, "points", NULL, ALLAV_POINTS);
    for (size_t i = first; i < end; i++) {
        result_row(result);
        result_put_number(result, allav->points[i].file_bytes);
        result_put_number(result, allav->points[i].block_bytes);
        result_put_int(result, (int64_t)allav->points[i].sets);
        allav_put_numbers(result, &allav->points[i].rate);
    }
    allav_put_csv(result, allav, first, end);
    for (size_t curve = first, next; curve < end; curve = next) {
        next = allav_end_of_curve(allav, curve);
        allav_put_approximate(result, &allav->points[next - 1]);
    }
    result_end_group(result);
}

/* ---- charts: against file size at fixed block sizes, and the other way round; a panel for each test and operation */

enum { ALLAV_OPS_MAX = 3, ALLAV_TESTS_MAX = 6, ALLAV_SIZES_MAX = 7 };

static int allav_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double allav_fixed(const struct allav_point *point, bool by_file)
{
    return by_file ? point->block_bytes : point->file_bytes;
}

/* The fixed sizes; of too many the smallest, the largest, and some evenly between. Returns how many there are. */
static size_t allav_sizes(const struct allav *allav, bool by_file, double ret_sizes[ALLAV_SIZES_MAX], size_t *ret_all)
{
    double *all = memory_new(allav->point_count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < allav->point_count; i++)
        all[i] = allav_fixed(&allav->points[i], by_file);
    qsort(all, allav->point_count, sizeof *all, allav_compare_doubles);
    for (size_t i = 0; i < allav->point_count; i++)
        if (i == 0 || all[i] != all[i - 1])
            all[count++] = all[i];
    const size_t kept = count < ALLAV_SIZES_MAX ? count : ALLAV_SIZES_MAX;
    for (size_t i = 0; i < kept; i++)
        ret_sizes[i] = count <= ALLAV_SIZES_MAX ? all[i] : all[i * (count - 1) / (ALLAV_SIZES_MAX - 1)];
    *ret_all = count;
    free(all);
    return kept;
}

static void allav_draw_curve(struct result *result, const struct allav *allav, size_t group, bool by_file, double fixed)
{
    const struct allav_point *last = NULL;
    char size[UNITS_TEXT_MAX];
    analysis_bytes_text(fixed, size);
    for (size_t i = 0; i < allav->point_count; i++) {
        const struct allav_point *point = &allav->points[i];
        const struct analysis_estimate *rate = &point->rate.rate;
        if (point->group != group || allav_fixed(point, by_file) != fixed || !(rate->value > 0))
            continue;
        if (!last)
            result_begin_series(result, RESULT_LINE, "%s %s", by_file ? "block" : "file", size);
        last = point; /* points are sorted: the last one is of the largest file */
        /* a large error must not squeeze all curves: bars reach up to a factor of 1.5 */
        result_point(result, by_file ? point->file_bytes : point->block_bytes, rate->value,
                     fmax(rate->value - rate->error, rate->value / 1.5),
                     fmin(rate->value + rate->error, rate->value * 1.5));
    }
    if (!last || !by_file || last->rate.point_count < 2)
        return;
    result_begin_series(result, RESULT_DASHED, "approximate");
    for (int i = 0; i < last->rate.point_count; i++)
        if (last->rate.point_rate[i] > 0)
            result_point(result, last->rate.point_bytes[i], last->rate.point_rate[i], NAN, NAN);
}

static void allav_add_left_out(struct text *text, size_t all, size_t drawn, const char *what)
{
    if (all > drawn)
        text_format(text, "%s%zu of %zu %s", text->length ? ", " : "", all - drawn, all, what);
}

static void allav_draw(struct result *result, const struct allav *allav)
{
    size_t tests[ALLAV_TESTS_MAX], test_count = 0, test_all = 0, op_count = 0, op_all = 0;
    const char *ops[ALLAV_OPS_MAX];
    struct text left_out = {0};
    for (size_t g = 0; g < allav->group_count; g++) {
        size_t same_op = 0, same_test = 0;
        while (same_op < g && strcmp(allav->groups[same_op].traits[ALLAV_OP], allav->groups[g].traits[ALLAV_OP]) != 0)
            same_op++;
        while (same_test < g && !allav_same_group(&allav->groups[same_test], &allav->groups[g], true))
            same_test++;
        if (same_op == g && op_all++ < ALLAV_OPS_MAX)
            ops[op_count++] = allav->groups[g].traits[ALLAV_OP];
        if (same_test == g && test_all++ < ALLAV_TESTS_MAX)
            tests[test_count++] = g;
    }
    allav_add_left_out(&left_out, test_all, test_count, "tests");
    allav_add_left_out(&left_out, op_all, op_count, "operations");
    for (int by_file = 1; by_file >= 0; by_file--) {
        const struct result_axis x = {.label = by_file ? "file size" : "block size", .form = RESULT_BYTES, .log = true};
        static const struct result_axis y = {.label = "rate", .form = RESULT_RATE, .log = true};
        double sizes[ALLAV_SIZES_MAX];
        size_t size_all;
        const size_t size_count = allav_sizes(allav, by_file, sizes, &size_all);
        allav_add_left_out(&left_out, size_all, size_count, by_file ? "block sizes" : "file sizes");
        for (size_t t = 0; t < test_count; t++)
            for (size_t o = 0; o < op_count; o++) {
                struct text label = {0};
                char op[ANALYSIS_NAME_MAX];
                size_t group = 0;
                while (group < allav->group_count &&
                       (!allav_same_group(&allav->groups[group], &allav->groups[tests[t]], true) ||
                        strcmp(allav->groups[group].traits[ALLAV_OP], ops[o]) != 0))
                    group++;
                if (group == allav->group_count)
                    continue;
                allav_label(allav, group, &label);
                result_begin_panel(result, &x, &y, (int)op_count, "%s: %s", text_get(&label),
                                   analysis_op_text(ops[o], op));
                for (size_t s = 0; s < size_count; s++)
                    allav_draw_curve(result, allav, group, by_file, sizes[s]);
                text_clear(&label);
            }
    }
    if (left_out.length)
        result_line(result, "The plot has no room for %s; choose with --test, --block, --set, --op.",
                    text_get(&left_out));
    text_clear(&left_out);
}

/* ---- the whole ---- */

/* Failures and overlaps belong to single sets: they are told before the curves. */
static void allav_put_remark(struct result *result, struct allav *allav, const struct analysis_chosen *chosen,
                             const struct analysis_rows *rows)
{
    struct analysis_overlap overlap;
    double task, blocking;
    char title[256];
    const bool overlaps = analysis_rows_overlap(rows, 'w', &overlap, &task, &blocking) ||
                          analysis_rows_overlap(rows, 'r', &overlap, &task, &blocking);
    allav->any_overlap = allav->any_overlap || overlaps;
    allav->failed_sets += chosen->set->error_count > 0;
    if (!overlaps && !chosen->set->error_count)
        return;
    result_begin_group(result, "remarks", "%s", analysis_set_title(chosen, title));
    analysis_put_set(result, chosen);
    analysis_put_overlap(result, rows);
    result_end_group(result);
}

pl_status analysis_allav_build(const struct analysis_request *request, const struct analysis_input *input,
                               struct result *result, struct pl_error *error)
{
    static const struct result_column none[] = {{.key = "", .form = RESULT_TEXT}, {0}};
    struct allav allav = {.request = request};
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    result_figure(result, "Rate against file size and block size",
                  "bars: confidence, up to a factor of 1.5; approximate: rate up to a size within the largest run");
    result_fact_text(result, "tool", NULL, "allav");
    result_csv_table(result, "rates");
    while (status == PL_OK && analysis_next(request, input, &chosen)) {
        struct analysis_rows rows;
        status = analysis_rows_build(request, &chosen, &rows, error);
        if (status == PL_OK) {
            allav_put_remark(result, &allav, &chosen, &rows);
            allav_add_set(&allav, &chosen, &rows);
        }
        analysis_rows_clear(&rows);
    }
    allav_average(&allav);
    if (allav.any_by_calls)
        analysis_note_by_calls(result);
    if (!allav.any_overlap && !allav.failed_sets) { /* an empty array, so that readers need not ask */
        result_begin_table(result, "remarks", NULL, none);
        result_only_in(result, RESULT_IN_JSON);
    }
    for (size_t first = 0, end; first < allav.point_count; first = end) {
        for (end = first; end < allav.point_count && allav.points[end].group == allav.points[first].group;)
            end++;
        allav_put_group(result, &allav, first, end);
    }
    if (allav.point_count == 0) {
        result_begin_table(result, "curves", NULL, none);
        result_only_in(result, RESULT_IN_JSON);
    }
    analysis_put_definitions(result);
    if (status == PL_OK && allav.point_count == 0 && !allav.any_overlap)
        status = pl_fail(error, PL_E_INPUT,
                         allav.failed_sets ? "every selected set failed"
                                           : "nothing matches the selection, or what matches has no rate");
    else if (status == PL_OK && request->plot && allav.point_count == 0)
        status = pl_fail(error, PL_E_UNSUPPORTED, "no plot: the selected sets have no operation with a rate");
    else if (status == PL_OK && request->plot)
        allav_draw(result, &allav);
    free(allav.groups);
    free(allav.points);
    return status;
}
