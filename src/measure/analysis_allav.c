/* allav (IOT-32): the rate against file size and block size, over all sets. The plot is in analysis_allav_plot.c. */
#include "measure/analysis_allav.h"

#include "base/units.h"
#include "measure/analysis_format.h"
#include "measure/analysis_names.h"
#include "measure/analysis_tools.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const ALLAV_TRAIT_NAMES[ALLAV_TRAITS] = {
    [ALLAV_TEST] = "testname",         [ALLAV_OP] = "op",         [ALLAV_NPROCS] = "nprocs",
    [ALLAV_COLLECTIVE] = "collective", [ALLAV_LAYOUT] = "layout", [ALLAV_MPIIO] = "mpiio",
    [ALLAV_FILESYSTEM] = "filesystem"};

/* ---- collecting ---- */

bool allav_same_group(const struct allav_group *a, const struct allav_group *b, bool any_op)
{
    for (int i = 0; i < ALLAV_TRAITS; i++)
        if (!(any_op && i == ALLAV_OP) && strcmp(a->traits[i], b->traits[i]) != 0)
            return false;
    return a->one_process == b->one_process;
}

static const char *known(const char *value)
{
    return value ? value : "";
}

/* Index of the group, SIZE_MAX when there is no memory. */
static size_t group_for(struct allav *allav, const struct analysis_chosen *chosen, const char *op)
{
    const struct allav_group group = {
        .traits = {[ALLAV_TEST] = chosen->block->testname,
                   [ALLAV_OP] = op,
                   [ALLAV_NPROCS] = known(blockfile_fact_of(chosen->block, "nprocs")),
                   [ALLAV_COLLECTIVE] = known(blockfile_param_of(chosen->set, "collective")),
                   [ALLAV_LAYOUT] = known(blockfile_param_of(chosen->set, "layout")),
                   [ALLAV_MPIIO] = known(blockfile_fact_of(chosen->block, "mpiio")),
                   [ALLAV_FILESYSTEM] = known(blockfile_fact_of(chosen->block, "filesystem"))},
        .one_process = analysis_one_process(chosen->set),
    };
    for (size_t i = 0; i < allav->group_count; i++)
        if (allav_same_group(&allav->groups[i], &group, false))
            return i;
    struct allav_group *groups = realloc(allav->groups, (allav->group_count + 1) * sizeof *groups);
    if (!groups)
        return SIZE_MAX;
    allav->groups = groups;
    groups[allav->group_count] = group;
    return allav->group_count++;
}

static double size_param(const struct blockfile_set *set, const char *key, double otherwise)
{
    const char *text = blockfile_param_of(set, key);
    double bytes;
    return text && units_parse_number(text, &bytes) && bytes > 0 && bytes < 0x1p62 ? bytes : otherwise;
}

static bool add_point(struct allav *allav, const struct analysis_chosen *chosen, const char *op,
                      const struct analysis_op_rate *rate)
{
    const size_t group = group_for(allav, chosen, op);
    struct allav_point *points = realloc(allav->points, (allav->point_count + 1) * sizeof *points);
    if (points)
        allav->points = points;
    if (!points || group == SIZE_MAX)
        return false;
    points[allav->point_count++] = (struct allav_point){
        .group = group,
        .file_bytes = size_param(chosen->set, "filesize_bytes", rate->bytes),
        .block_bytes = size_param(chosen->set, "blocksize_bytes", 0),
        .sets = 1,
        .rate = *rate,
    };
    return true;
}

/* ---- averaging ---- */

static int compare_points(const void *a, const void *b)
{
    const struct allav_point *x = a;
    const struct allav_point *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->block_bytes != y->block_bytes)
        return x->block_bytes < y->block_bytes ? -1 : 1;
    if (x->file_bytes != y->file_bytes)
        return x->file_bytes < y->file_bytes ? -1 : 1;
    return 0;
}

/* Sets with equal parameters are independent runs: their spread tells more than the batches of one of them. */
static bool average_equal(struct allav *allav)
{
    qsort(allav->points, allav->point_count, sizeof *allav->points, compare_points);
    double *values = malloc((allav->point_count + 1) * sizeof *values);
    size_t kept = 0;
    for (size_t first = 0, end; values && first < allav->point_count; first = end) {
        struct allav_point point = allav->points[first];
        end = first + 1;
        while (end < allav->point_count && compare_points(&allav->points[first], &allav->points[end]) == 0)
            end++;
        point.sets = end - first;
        if (point.sets > 1) {
            for (size_t i = first; i < end; i++)
                values[i - first] = allav->points[i].rate.rate.value;
            point.rate.rate = analysis_mean(values, point.sets);
            for (size_t i = first; i < end; i++)
                values[i - first] = allav->points[i].rate.asymptotic.value;
            point.rate.asymptotic = analysis_mean(values, point.sets);
        }
        allav->points[kept++] = point;
    }
    allav->point_count = kept;
    free(values);
    return values != NULL;
}

size_t allav_end_of_curve(const struct allav *allav, size_t first)
{
    size_t end = first + 1;
    while (end < allav->point_count && allav->points[end].group == allav->points[first].group &&
           allav->points[end].block_bytes == allav->points[first].block_bytes)
        end++;
    return end;
}

static bool trait_varies(const struct allav *allav, enum allav_trait trait)
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

void allav_label(const struct allav *allav, size_t group, char *label, size_t size)
{
    enum { LABEL_WORD = 9 };
    const char *const *traits = allav->groups[group].traits;
    char test[ANALYSIS_NAME_MAX], processes[ANALYSIS_NAME_MAX];
    int used = snprintf(label, size, "%.32s, %s",
                        analysis_access_text(traits[ALLAV_TEST], traits[ALLAV_COLLECTIVE], test),
                        analysis_processes_text(traits[ALLAV_NPROCS], allav->groups[group].one_process, processes));
    for (int i = ALLAV_LAYOUT; i < ALLAV_TRAITS; i++) {
        if (!trait_varies(allav, (enum allav_trait)i) || used < 0 || (size_t)used >= size)
            continue;
        const int word = (int)strcspn(traits[i], " ,");
        if (word)
            used += snprintf(label + used, size - (size_t)used, ", %.*s", word < LABEL_WORD ? word : LABEL_WORD,
                             traits[i]);
    }
}

/* ---- text ---- */

static void print_approximate(const struct allav_point *point, FILE *text)
{
    enum { IN_A_LINE = 4, POINTS_MIN = 3 };
    char size[UNITS_TEXT_MAX], cell[ANALYSIS_CELL_MAX];
    if (point->rate.point_count < POINTS_MIN)
        return;
    fprintf(text, "  block %s, approximate: rate up to a size within the largest run:\n",
            analysis_bytes_text(point->block_bytes, size));
    for (int i = 0; i < point->rate.point_count; i++)
        fprintf(text, "%s%8s %6s%s", i % IN_A_LINE ? "   " : "  ",
                analysis_bytes_text(point->rate.point_bytes[i], size),
                analysis_cell(point->rate.point_rate[i], 4, cell),
                i % IN_A_LINE == IN_A_LINE - 1 || i + 1 == point->rate.point_count ? "\n" : "");
}

static void print_point(const struct allav_point *point, FILE *text)
{
    char file[UNITS_TEXT_MAX], block[UNITS_TEXT_MAX];
    char cells[4][ANALYSIS_CELL_MAX];
    fprintf(text, "%12s %12s %6zu %10s %8s %12s %8s\n", analysis_bytes_text(point->file_bytes, file),
            analysis_bytes_text(point->block_bytes, block), point->sets,
            analysis_cell(point->rate.rate.value, 4, cells[0]), analysis_cell(point->rate.rate.error, 3, cells[1]),
            analysis_cell(point->rate.asymptotic.value, 4, cells[2]),
            analysis_cell(point->rate.asymptotic.error, 3, cells[3]));
}

static void print_group(const struct allav *allav, size_t group, FILE *text)
{
    const char *const *traits = allav->groups[group].traits;
    char processes[ANALYSIS_NAME_MAX];
    fprintf(text, "%.30s, operation %.10s: %s", traits[ALLAV_TEST], traits[ALLAV_OP],
            analysis_processes_text(traits[ALLAV_NPROCS], allav->groups[group].one_process, processes));
    for (int i = ALLAV_COLLECTIVE; i <= ALLAV_LAYOUT; i++)
        if (traits[i][0])
            fprintf(text, "%s%s %.12s", i == ALLAV_COLLECTIVE ? "\n  " : ", ", ALLAV_TRAIT_NAMES[i], traits[i]);
    analysis_print_place(traits[ALLAV_MPIIO], traits[ALLAV_FILESYSTEM], text);
    fprintf(text, "   file size   block size   sets  rate MB/s        ±   asymptotic        ±\n");
}

static void print_text(const struct allav *allav, FILE *text)
{
    for (size_t first = 0, end; first < allav->point_count; first = end) {
        const size_t group = allav->points[first].group;
        print_group(allav, group, text);
        end = first;
        while (end < allav->point_count && allav->points[end].group == group)
            print_point(&allav->points[end++], text);
        for (size_t curve = first, next; curve < end; curve = next) {
            next = allav_end_of_curve(allav, curve);
            print_approximate(&allav->points[next - 1], text);
        }
        fputc('\n', text);
    }
    if (allav->point_count)
        fprintf(text,
                "rate: %s\nerror: %s;\n  of several sets: from their spread\n"
                "asymptotic rate: %s\n",
                ANALYSIS_RATE_TEXT, ANALYSIS_ERROR_TEXT, ANALYSIS_ASYMPTOTIC_TEXT);
}

/* ---- JSON and CSV ---- */

static void json_points(struct json *json, const struct allav *allav, size_t first, size_t end)
{
    json_array_begin(json, "points");
    for (size_t i = first; i < end; i++) {
        const struct allav_point *point = &allav->points[i];
        json_row_begin(json, NULL);
        json_put_double(json, "file_bytes", point->file_bytes);
        json_put_double(json, "block_bytes", point->block_bytes);
        json_put_int(json, "sets", (int64_t)point->sets);
        json_put_double(json, "rate_mb_per_s", point->rate.rate.value);
        json_put_double(json, "error_mb_per_s", point->rate.rate.error);
        json_put_double(json, "asymptotic_mb_per_s", point->rate.asymptotic.value);
        json_put_double(json, "asymptotic_error_mb_per_s", point->rate.asymptotic.error);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_approximate(struct json *json, const struct allav *allav, size_t first, size_t end)
{
    json_array_begin(json, "approximate");
    for (size_t curve = first, next; curve < end; curve = next) {
        next = allav_end_of_curve(allav, curve);
        const struct allav_point *point = &allav->points[next - 1];
        json_object_begin(json, NULL);
        json_put_double(json, "block_bytes", point->block_bytes);
        json_put_double(json, "file_bytes", point->file_bytes);
        json_array_begin(json, "points");
        for (int i = 0; i < point->rate.point_count; i++) {
            json_row_begin(json, NULL);
            json_put_double(json, "bytes", point->rate.point_bytes[i]);
            json_put_double(json, "rate_mb_per_s", point->rate.point_rate[i]);
            json_object_end(json);
        }
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_json_curves(struct json *json, const struct allav *allav)
{
    json_array_begin(json, "curves");
    for (size_t first = 0, end; first < allav->point_count; first = end) {
        const size_t group = allav->points[first].group;
        for (end = first; end < allav->point_count && allav->points[end].group == group;)
            end++;
        json_object_begin(json, NULL);
        for (int i = 0; i < ALLAV_TRAITS; i++)
            json_put_string(json, ALLAV_TRAIT_NAMES[i], allav->groups[group].traits[i]);
        json_points(json, allav, first, end);
        json_approximate(json, allav, first, end);
        json_object_end(json);
    }
    json_array_end(json);
}

static void csv_row(const struct allav *allav, const struct allav_point *point, const char *kind, double file_bytes,
                    const double numbers[4])
{
    FILE *csv = allav->request->csv;
    for (int i = 0; i < ALLAV_TRAITS; i++) {
        analysis_csv_field(csv, allav->groups[point->group].traits[i]);
        fputc(',', csv);
    }
    fprintf(csv, "%s,%.15g,%.15g,%zu", kind, file_bytes, point->block_bytes, point->sets);
    for (int i = 0; i < 4; i++)
        analysis_csv_number(csv, numbers[i]);
    fputc('\n', csv);
}

static void write_csv(const struct allav *allav)
{
    for (int i = 0; i < ALLAV_TRAITS; i++)
        fprintf(allav->request->csv, "%s,", ALLAV_TRAIT_NAMES[i]);
    fputs("kind,file_bytes,block_bytes,sets,rate_mb_per_s,error_mb_per_s,asymptotic_mb_per_s,"
          "asymptotic_error_mb_per_s\n",
          allav->request->csv);
    for (size_t i = 0; i < allav->point_count; i++) {
        const struct allav_point *point = &allav->points[i];
        const struct analysis_op_rate *rate = &point->rate;
        csv_row(allav, point, "measured", point->file_bytes,
                (double[]){rate->rate.value, rate->rate.error, rate->asymptotic.value, rate->asymptotic.error});
        if (allav_end_of_curve(allav, i) != i + 1)
            continue;
        for (int p = 0; p < rate->point_count; p++)
            csv_row(allav, point, "approximate", rate->point_bytes[p], (double[]){rate->point_rate[p], NAN, NAN, NAN});
    }
}

/* ---- the whole ---- */

struct progress {
    struct json json;
    size_t failed_sets;
    bool any_overlap;
};

static pl_status add_set(struct allav *allav, const struct analysis_chosen *chosen, const struct analysis_rows *rows,
                         struct pl_error *error)
{
    for (size_t first = 0, end; first < rows->count; first = end) {
        end = analysis_rows_end_of_op(rows, first);
        struct analysis_op_rate rate;
        const char *op = rows->rows[first].series->key;
        if (allav->request->op && strcmp(op, allav->request->op) != 0)
            continue;
        if (analysis_op_rate(rows, first, end, &rate) && !add_point(allav, chosen, op, &rate))
            return pl_fail(error, PL_E_NOMEM, "not enough memory for the rates of '%s'", chosen->file->path);
    }
    return PL_OK;
}

/* Failures and overlaps belong to single sets: they are told as the sets go by, before the curves. */
static void tell_set(const struct allav *allav, struct progress *progress, const struct analysis_chosen *chosen,
                     const struct analysis_rows *rows)
{
    struct analysis_overlap overlap;
    double task, blocking;
    const bool overlaps = analysis_rows_overlap(rows, 'w', &overlap, &task, &blocking) ||
                          analysis_rows_overlap(rows, 'r', &overlap, &task, &blocking);
    progress->any_overlap = progress->any_overlap || overlaps;
    progress->failed_sets += chosen->set->error_count > 0;
    if (!overlaps && !chosen->set->error_count)
        return;
    if (allav->request->text) {
        analysis_print_set(chosen, allav->request->text);
        analysis_print_failures(chosen, allav->request->text);
        analysis_print_overlap(rows, allav->request->text);
        fputc('\n', allav->request->text);
    }
    if (allav->request->json) {
        json_object_begin(&progress->json, NULL);
        analysis_json_set(&progress->json, chosen);
        analysis_json_overlap(&progress->json, rows);
        json_object_end(&progress->json);
    }
}

static pl_status collect(struct allav *allav, struct progress *progress, const struct analysis_input *input,
                         struct pl_error *error)
{
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    while (status == PL_OK && analysis_next(allav->request, input, &chosen)) {
        struct analysis_rows rows;
        status = analysis_rows_build(allav->request, &chosen, &rows, error);
        if (status == PL_OK) {
            tell_set(allav, progress, &chosen, &rows);
            status = add_set(allav, &chosen, &rows, error);
        }
        analysis_rows_clear(&rows);
    }
    if (status == PL_OK && allav->point_count && !average_equal(allav))
        status = pl_fail(error, PL_E_NOMEM, "not enough memory");
    return status;
}

static pl_status finish(struct allav *allav, const struct progress *progress, struct pl_error *error)
{
    if (allav->point_count == 0 && !progress->any_overlap)
        return pl_fail(error, PL_E_INPUT,
                       progress->failed_sets ? "every selected set failed"
                                             : "nothing matches the selection, or what matches has no rate");
    if (!allav->request->plot)
        return PL_OK;
    if (allav->point_count == 0)
        return pl_fail(error, PL_E_UNSUPPORTED, "no plot: the selected sets have no operation with a rate");
    const pl_status status = plot_to_file(allav->request->plot, allav_plot_draw, allav, error);
    if (status == PL_OK && allav->left_out[0] && allav->request->text)
        fprintf(allav->request->text, "The plot has no room for %s;\nchoose with --test, --block, --set, --op.\n",
                allav->left_out);
    return status;
}

pl_status analysis_allav(const struct analysis_request *request, const struct analysis_input *input,
                         struct pl_error *error)
{
    struct allav allav = {.request = request};
    struct progress progress = {.json = {.stream = request->json}};
    if (request->json) {
        json_object_begin(&progress.json, NULL);
        json_put_string(&progress.json, "tool", "allav");
        json_object_begin(&progress.json, "definitions");
        json_put_string(&progress.json, "rate", ANALYSIS_RATE_TEXT);
        json_put_string(&progress.json, "error", ANALYSIS_ERROR_TEXT);
        json_put_string(&progress.json, "asymptotic", ANALYSIS_ASYMPTOTIC_TEXT);
        json_object_end(&progress.json);
        json_array_begin(&progress.json, "remarks");
    }
    pl_status status = collect(&allav, &progress, input, error);
    if (request->json) {
        json_array_end(&progress.json);
        write_json_curves(&progress.json, &allav);
        json_object_end(&progress.json);
    }
    if (request->text)
        print_text(&allav, request->text);
    if (request->csv)
        write_csv(&allav);
    if (status == PL_OK)
        status = finish(&allav, &progress, error);
    free(allav.groups);
    free(allav.points);
    return status;
}
