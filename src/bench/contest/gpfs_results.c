/* The MPI-IO/GPFS benchmarks: what a set and a point of them is, and how it is shown. */
#include "bench/contest/gpfs.h"

#include "base/notes.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLASS "Gpfs"

const char *const GPFS_CLASSES[] = {CLASS, NULL};

/* ---- sets and points ---- */

#define KEY_COLUMN(id, param, f) [3 + GPFS_##id] = {.key = (param), .form = RESULT_##f}
static const struct result_column COLUMNS[] = {{.key = "benchmark", .form = RESULT_TEXT},
                                               {.key = "mpi", .form = RESULT_TEXT},
                                               {.key = "contestant", .form = RESULT_TEXT},
                                               KEY_COLUMN(RANKS, "ranks", INT),
                                               KEY_COLUMN(PATTERN, "pattern", TEXT),
                                               KEY_COLUMN(COLLECTIVE, "collective", TEXT),
                                               KEY_COLUMN(PREALLOCATE, "preallocate", TEXT),
                                               KEY_COLUMN(SIZE, "size_bytes", INT),
                                               KEY_COLUMN(FILE_SIZE, "file_asked_bytes", INT),
                                               KEY_COLUMN(REGION, "region_bytes", INT),
                                               KEY_COLUMN(BLOCK, "block_bytes", INT),
                                               KEY_COLUMN(BLOCKS, "blocks", INT),
                                               KEY_COLUMN(SUB_BLOCK, "sub_block_bytes", INT),
                                               KEY_COLUMN(SUB_BLOCKS, "sub_blocks", INT),
                                               KEY_COLUMN(RECORD, "record_bytes", INT),
                                               KEY_COLUMN(BATCH, "batch", INT),
                                               KEY_COLUMN(THREADS, "threads", INT),
                                               KEY_COLUMN(COMPUTE, "compute_us", INT),
                                               KEY_COLUMN(BUFFER, "buffer_bytes", INT),
                                               KEY_COLUMN(CACHE, "cache", TEXT),
                                               KEY_COLUMN(OP, "op", TEXT),
                                               {.key = "moved_bytes", .form = RESULT_INT},
                                               {.key = "repetitions", .form = RESULT_INT},
                                               {.key = "failures", .form = RESULT_INT},
                                               {.key = "max_mb_per_s", .form = RESULT_RATE},
                                               {.key = "mean_mb_per_s", .form = RESULT_RATE},
                                               {.key = "sd_mb_per_s", .form = RESULT_RATE},
                                               {.key = "overlap", .form = RESULT_NUMBER},
                                               {.key = "reference", .form = RESULT_TEXT},
                                               CONTEST_RATIO_COLUMNS("ratio_to_reference")};

/* In the block file a parameter has the name of its column. */
static const char *gpfs_param(int key)
{
    return COLUMNS[3 + key].key;
}

static void gpfs_identify(const struct contest_cell *cell, struct text *params)
{
    char word[GPFS_WORD_MAX];
    for (int key = 0; key < GPFS_KEYS; key++)
        if (cell->benchmark->defaults[key])
            notes_add(params, gpfs_param(key), gpfs_key_text(key, cell->value[key], word));
}

static void gpfs_describe(const struct contest_cell *cell, const struct contest_contestant *contestant,
                          struct text *params)
{
    char number[GPFS_WORD_MAX];
    notes_add(params, "filesize_bytes", gpfs_key_text(GPFS_SIZE, cell->file_bytes, number));
    notes_add(params, "moved_bytes", gpfs_key_text(GPFS_SIZE, cell->moved_bytes, number));
    notes_add(params, "unique_open", contestant->unique ? "yes" : "no");
}

static bool gpfs_point_of(const struct analysis_chosen *chosen, struct contest_point *point)
{
    point->benchmark = gpfs_find(chosen->block->testname);
    if (!point->benchmark || !*point->contestant || point->moved_bytes < 1)
        return false;
    for (int key = 0; key < GPFS_KEYS; key++) {
        const char *text = blockfile_param_of(chosen->set, gpfs_param(key));
        if (point->benchmark->defaults[key] && (!text || !gpfs_key_parse(key, text, &point->value[key])))
            return false;
    }
    return true;
}

#define BIT(key) (UINT64_C(1) << (key))

/* Of the same benchmark and conditions, with equal parameters but those in `mask`. */
static bool gpfs_alike(const struct contest_point *a, const struct contest_point *b, uint64_t mask)
{
    for (int key = 0; key < GPFS_KEYS; key++)
        if (!(mask & BIT(key)) && a->value[key] != b->value[key])
            return false;
    return a->benchmark == b->benchmark && a->conditions == b->conditions;
}

static bool gpfs_same_cell(const struct contest_point *a, const struct contest_point *b)
{
    return gpfs_alike(a, b, 0);
}

/* Where the same is known without computation: how much of the shorter of both was hidden behind the other. */
static double gpfs_overlap(const struct contest_points *list, const struct contest_point *point)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct contest_point *bare = &list->points[i];
        if (bare->value[GPFS_COMPUTE] == 0 && gpfs_alike(bare, point, BIT(GPFS_COMPUTE)) &&
            contest_same_contestant(bare, point))
            return (bare->mean_ns + point->task_ns - point->mean_ns) / fmin(bare->mean_ns, point->task_ns);
    }
    return NAN;
}

/* Compared by what the document's figures show. */
static void gpfs_points_finish(struct contest_points *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct contest_point *point = &list->points[i];
        point->rate_mb_per_s = point->benchmark->by_maximum ? point->max_mb_per_s : point->mean_mb_per_s;
        point->error_mb_per_s = point->benchmark->by_maximum ? NAN
                                                             : point->mean_error_mb_per_s; /* a maximum has none */
        point->overlap = point->value[GPFS_COMPUTE] ? gpfs_overlap(list, point) : NAN;
    }
}

/* The MPI's own MPI-IO of the same cell and MPI, else POSIX. */
static const struct contest_point *gpfs_reference(const struct contest_points *points, const struct contest_point *of)
{
    static const char *const names[] = {"system", "posix"};
    for (int n = 0; n < 2; n++)
        for (size_t i = 0; i < points->count; i++) {
            const struct contest_point *point = &points->points[i];
            if (gpfs_same_cell(point, of) && strcmp(point->mpi, of->mpi) == 0 &&
                strcmp(point->contestant, names[n]) == 0 && isfinite(point->rate_mb_per_s))
                return point;
        }
    return NULL;
}

static void gpfs_put(struct result *result, const struct contest_points *points, const struct contest_point *point)
{
    const struct contest_point *reference = gpfs_reference(points, point);
    char word[GPFS_WORD_MAX];
    result_put_text(result, point->benchmark->name);
    result_put_text(result, point->mpi);
    result_put_text(result, point->contestant);
    for (int key = 0; key < GPFS_KEYS; key++)
        if (!point->benchmark->defaults[key])
            result_put_empty(result);
        else if (gpfs_key_type(key) == OPTION_CHOICES)
            result_put_text(result, gpfs_key_text(key, point->value[key], word));
        else
            result_put_int(result, point->value[key]);
    result_put_int(result, (int64_t)point->moved_bytes);
    result_put_int(result, point->trials);
    result_put_int(result, point->failures);
    result_put_number(result, point->max_mb_per_s);
    result_put_number(result, point->mean_mb_per_s);
    result_put_number(result, point->sd_mb_per_s);
    result_put_number(result, point->overlap);
    result_put_text(result, reference ? reference->contestant : "-");
}

static const struct result_column TEXT_COLUMNS[] = {
    {.key = "contestant", .form = RESULT_TEXT},
    {.key = "repetitions", .label = "reps", .form = RESULT_INT},
    {.key = "max_mb_per_s", .label = "max", .form = RESULT_RATE},
    {.key = "mean_mb_per_s", .label = "mean", .form = RESULT_RATE},
    {.key = "sd_mb_per_s", .label = "sd", .form = RESULT_RATE},
    {.key = "to_reference", .label = "/reference", .form = RESULT_NUMBER, .decimals = -3, .error = true},
    {.key = "to_best", .label = "/best", .form = RESULT_NUMBER, .decimals = -3},
    {.key = "remark", .label = "", .form = RESULT_TEXT},
    {0}};

static void gpfs_put_text(struct result *result, const struct contest_points *points, const struct contest_point *point)
{
    (void)points;
    result_put_number(result, point->max_mb_per_s);
    result_put_number(result, point->mean_mb_per_s);
    result_put_number(result, point->sd_mb_per_s);
}

static void gpfs_heading(const struct contest_point *point, struct text *text)
{
    char cell[CONTEST_TEXT_MAX];
    gpfs_text(point->benchmark, point->value, cell);
    text_format(text, "%s %s", point->benchmark->name, cell);
}

static void gpfs_settings(const struct contest_point *point, struct text *text)
{
    char cell[CONTEST_TEXT_MAX];
    gpfs_text(point->benchmark, point->value, cell);
    text_format(text, "%s, %s, %s", point->contestant, point->mpi, cell);
}

/* ---- charts ---- */

static bool gpfs_varies(const struct contest_points *list, const struct gpfs_benchmark *benchmark, int key)
{
    const struct contest_point *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct contest_point *point = &list->points[i];
        if (point->benchmark != benchmark)
            continue;
        first = first ? first : point;
        if (point->value[key] != first->value[key])
            return true;
    }
    return false;
}

/* The parameter along the x axis: the first of these that varies; GPFS_KEYS: none. */
static int gpfs_x_key(const struct contest_points *list, const struct gpfs_benchmark *benchmark)
{
    static const enum gpfs_key wishes[] = {GPFS_RANKS, GPFS_RECORD, GPFS_SUB_BLOCKS, GPFS_THREADS,   GPFS_SIZE,
                                           GPFS_BLOCK, GPFS_BLOCKS, GPFS_SUB_BLOCK,  GPFS_FILE_SIZE, GPFS_BATCH};
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++)
        if (gpfs_varies(list, benchmark, wishes[i]))
            return wishes[i];
    return GPFS_KEYS;
}

/* Points of one row differ in what is drawn inside of it. */
static uint64_t gpfs_row_mask(const struct contest_points *list, const struct contest_point *point)
{
    return BIT(GPFS_OP) | BIT(gpfs_x_key(list, point->benchmark));
}

static bool gpfs_same_row(const struct contest_points *list, const struct contest_point *a,
                          const struct contest_point *b)
{
    return gpfs_alike(a, b, gpfs_row_mask(list, a));
}

static double gpfs_x_of(const struct contest_points *list, const struct contest_point *point)
{
    const int key = gpfs_x_key(list, point->benchmark);
    return key < GPFS_KEYS ? (double)point->value[key] : NAN;
}

static void gpfs_axes(const struct contest_points *list, const struct contest_point *row, struct result_axis *x,
                      struct result_axis *y)
{
    const int key = gpfs_x_key(list, row->benchmark);
    if (key < GPFS_KEYS)
        *x = (struct result_axis){.label = gpfs_key_name(key),
                                  .form = gpfs_key_type(key) == OPTION_SIZES ? RESULT_BINARY : RESULT_INT,
                                  .log = true};
    *y = (struct result_axis){
        .label = row->benchmark->by_maximum ? "maximum" : "mean", .form = RESULT_RATE, .from_zero = true};
}

/* The benchmark, and what tells this row from others of it. */
static void gpfs_row_title(const struct contest_points *list, const struct contest_point *row, const char *op,
                           struct text *title)
{
    char word[GPFS_WORD_MAX], bytes[UNITS_TEXT_MAX];
    text_format(title, "%s, %s", row->benchmark->name, op);
    for (int key = 0; key < GPFS_OP; key++) {
        if (gpfs_row_mask(list, row) & BIT(key) || !row->benchmark->defaults[key] ||
            (key != GPFS_RANKS && !gpfs_varies(list, row->benchmark, key)))
            continue;
        text_format(title, ", %s %s", gpfs_key_name(key),
                    gpfs_key_type(key) == OPTION_SIZES ? units_binary(row->value[key], bytes)
                                                       : gpfs_key_text(key, row->value[key], word));
    }
}

/* ---- the whole ---- */

static const char *const CONDITIONS[] = {"file", "on", "hint hints", NULL};

#define MADE "bytes moved / time of the job, from barrier to barrier; maximum or mean of the repetitions"
static const struct quantity_kind RATES[] = {{"write rate of the job", "MB/s", MADE, false},
                                             {"read rate of the job", "MB/s", MADE, false}};

const struct contest_kind GPFS_KIND = {
    .name = "gpfs",
    .class_name = CLASS,
    .contestant_param = "contestant",
    .number_param = "repetition",
    .conditions = CONDITIONS,
    .clock = CONTEST_BARRIERS,
    .syncs_reads = true, /* the document synchronises after reading, too */
    .reuses_file = true,
    .opens_apart = true,
    .rule = "barrier, access, sync, barrier; the longest of all ranks",
    .cold = "--cache cold",
    .trials = "repetitions",
    .cell_text = gpfs_cell_text,
    .identify = gpfs_identify,
    .describe = gpfs_describe,
    .layout_new = gpfs_layout_new,
    .layout_free = gpfs_layout_free,
    .touch = gpfs_touch,
    .each_piece = gpfs_each_piece,
    .ask = gpfs_ask,
    .ready_coll = gpfs_ready_coll,
    .in_force = gpfs_in_force,
    .rehearse = gpfs_rehearse,
    .move_coll = gpfs_move_coll,
    .is_noted = gpfs_is_noted,
    .title = "MPI-IO/GPFS benchmarks",
    .subtitle = "rate of the job: all meet, access, sync, all meet; whiskers: mean and standard deviation of the "
                "repetitions",
    .rates =
        "MB/s of the job: all meet, access, sync, all meet. sd: standard deviation. Ratios to the system's MPI-IO, "
        "else to POSIX, and to the best: of the maximum (contiguous, discontiguous), else of the mean; ±: half "
        "width of the %d %% interval.",
    .columns = COLUMNS,
    .text_columns = TEXT_COLUMNS,
    .quantities = RATES,
    .point_of = gpfs_point_of,
    .points_finish = gpfs_points_finish,
    .same_cell = gpfs_same_cell,
    .heading = gpfs_heading,
    .settings = gpfs_settings,
    .reference = gpfs_reference,
    .put = gpfs_put,
    .put_text = gpfs_put_text,
    .same_row = gpfs_same_row,
    .x_of = gpfs_x_of,
    .axes = gpfs_axes,
    .row_title = gpfs_row_title,
    .whiskers = true,
};
