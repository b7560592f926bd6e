/* PIOBENCH: what a point of it is, and how it is shown. */
#include "bench/contest/piobench.h"

#include "base/units.h"
#include "lab/result/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLASS "Piobench"

/* ---- results ---- */

static int64_t piobench_hint_of(const struct blockfile_set *set, const char *key)
{
    int64_t value = 0;
    for (size_t i = 0; i < set->hint_count; i++)
        if (!set->hints[i].used && strcmp(set->hints[i].key, key) == 0)
            units_parse_size(set->hints[i].value, &value);
    return value;
}

/* As many cores as hosts times those of the first; unknown is taken as enough. */
static bool piobench_is_crowded(const struct blockfile_block *block, int ranks)
{
    const char *cores_text = blockfile_fact_of(block, "cores");
    int64_t cores, hosts = 0;
    char last[128] = "";
    if (!cores_text || !units_parse_int(cores_text, 1, INT32_MAX, &cores))
        return false;
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

static bool piobench_point_of(const struct analysis_chosen *chosen, struct contest_point *point)
{
    const struct blockfile_set *set = chosen->set;
    point->distribution = contest_param_text(set, "distribution");
    point->family = contest_param_text(set, "family");
    point->file_bytes = contest_param_number(set, "file_asked_bytes");
    point->block_bytes = contest_param_number(set, "blocksize_bytes");
    point->block_asked_bytes = contest_param_number(set, "block_asked_bytes");
    point->buffer_bytes = piobench_hint_of(set, "IBM_io_buffer_size");
    point->buffer_bytes = point->buffer_bytes ? point->buffer_bytes : piobench_hint_of(set, "cb_buffer_size");
    point->crowded = piobench_is_crowded(chosen->block, point->ranks);
    return true;
}

static bool piobench_same_row(const struct contest_points *points, const struct contest_point *a,
                              const struct contest_point *b)
{
    (void)points;
    return a->conditions == b->conditions && a->ranks == b->ranks && a->file_bytes == b->file_bytes &&
           strcmp(a->distribution, b->distribution) == 0;
}

bool piobench_same_cell(const struct contest_point *a, const struct contest_point *b)
{
    return a->block_bytes == b->block_bytes && strcmp(a->op, b->op) == 0 && piobench_same_row(NULL, a, b);
}

/* The naive of the same cell, of the same MPI if there is one. */
static const struct contest_point *piobench_reference(const struct contest_points *points,
                                                      const struct contest_point *of)
{
    const struct contest_point *naive = NULL;
    for (size_t i = 0; i < points->count; i++) {
        const struct contest_point *point = &points->points[i];
        if (piobench_same_cell(point, of) && strcmp(point->family, "naive") == 0 && isfinite(point->rate_mb_per_s) &&
            (!naive || strcmp(point->mpi, of->mpi) == 0))
            naive = point;
    }
    return naive;
}

static void piobench_row_title(const struct contest_points *points, const struct contest_point *row, const char *op,
                               struct text *title)
{
    char file[UNITS_TEXT_MAX];
    (void)points;
    text_format(title, "%s %.160s, file %s, %d rank%s", op, row->distribution, units_binary(row->file_bytes, file),
                row->ranks, row->ranks == 1 ? "" : "s");
}

static void piobench_heading(const struct contest_point *point, struct text *text)
{
    char block[UNITS_TEXT_MAX], file[UNITS_TEXT_MAX];
    text_format(text, "%s %s, block %s, file %s, %d rank%s", point->op, point->distribution,
                units_binary(point->block_bytes, block), units_binary(point->file_bytes, file), point->ranks,
                point->ranks == 1 ? "" : "s");
}

static void piobench_settings(const struct contest_point *point, struct text *text)
{
    text_format(text, "%s, %s, %s, file ", point->contestant, point->mpi, point->distribution);
    settings_add_bytes(text, (long long)point->file_bytes);
    text_add(text, ", block ");
    settings_add_bytes(text, (long long)point->block_bytes);
    text_format(text, ", %d ranks", point->ranks);
}

static const struct result_column COLUMNS[] = {{.key = "op", .form = RESULT_TEXT},
                                               {.key = "distribution", .form = RESULT_TEXT},
                                               {.key = "file_bytes", .form = RESULT_INT},
                                               {.key = "block_bytes", .form = RESULT_INT},
                                               {.key = "ranks", .form = RESULT_INT},
                                               {.key = "mpi", .form = RESULT_TEXT},
                                               {.key = "algorithm", .form = RESULT_TEXT},
                                               {.key = "family", .form = RESULT_TEXT},
                                               {.key = "trials", .form = RESULT_INT},
                                               {.key = "failures", .form = RESULT_INT},
                                               {.key = "rate_mb_per_s", .form = RESULT_RATE},
                                               {.key = "error_mb_per_s", .form = RESULT_RATE},
                                               CONTEST_RATIO_COLUMNS("ratio_to_naive")};

static void piobench_put(struct result *result, const struct contest_points *points, const struct contest_point *point)
{
    (void)points;
    result_put_text(result, point->op);
    result_put_text(result, point->distribution);
    result_put_int(result, point->file_bytes);
    result_put_int(result, point->block_bytes);
    result_put_int(result, point->ranks);
    result_put_text(result, point->mpi);
    result_put_text(result, point->contestant);
    result_put_text(result, point->family);
    result_put_int(result, point->trials);
    result_put_int(result, point->failures);
    result_put_number(result, point->rate_mb_per_s);
    result_put_number(result, point->error_mb_per_s);
}

static const struct result_column TEXT_COLUMNS[] = {
    {.key = "algorithm", .form = RESULT_TEXT},
    {.key = "trials", .form = RESULT_INT},
    {.key = "rate_mb_per_s", .label = "rate", .form = RESULT_RATE, .error = true},
    {.key = "to_naive", .label = "/naive", .form = RESULT_NUMBER, .decimals = -3, .error = true},
    {.key = "to_best", .label = "/best", .form = RESULT_NUMBER, .decimals = -3},
    {.key = "remark", .label = "", .form = RESULT_TEXT},
    {0}};

static void piobench_put_text(struct result *result, const struct contest_points *points,
                              const struct contest_point *point)
{
    (void)points;
    result_put_estimate(result, (struct analysis_estimate){point->rate_mb_per_s, point->error_mb_per_s});
}

static double piobench_x_of(const struct contest_points *points, const struct contest_point *point)
{
    (void)points;
    return (double)point->block_bytes;
}

static void piobench_axes(const struct contest_points *points, const struct contest_point *row, struct result_axis *x,
                          struct result_axis *y)
{
    (void)points;
    (void)row;
    *x = (struct result_axis){.label = "data block size", .form = RESULT_BINARY, .log = true};
    *y = (struct result_axis){.label = "rate", .form = RESULT_RATE, .log = true};
}

const char *const PIOBENCH_CLASSES[] = {CLASS, NULL};
const char *const PIOBENCH_CONDITIONS[] = {"file", "on", "dims", "sync", "cold", "direct", "fresh", "hint hints", NULL};

#define MADE "bytes moved / mean time from the first start to the last end"

static const struct quantity_kind RATES[] = {{"write rate, first start to last end", "MB/s", MADE, false},
                                             {"read rate, first start to last end", "MB/s", MADE, false}};

const struct contest_kind PIOBENCH_KIND = {
    .name = "piobench",
    .class_name = CLASS,
    .contestant_param = "algorithm",
    .number_param = "trial",
    .conditions = PIOBENCH_CONDITIONS,
    .clock = CONTEST_FIRST_TO_LAST,
    .rule = "first start to last end",
    .cold = "--cold",
    .trials = "trials",
    .cell_text = piobench_cell_text,
    .identify = piobench_identify,
    .describe = piobench_describe,
    .layout_new = piobench_layout_new,
    .layout_free = piobench_layout_free,
    .each_piece = piobench_each_piece,
    .ask = piobench_ask,
    .ready_coll = piobench_ready_coll,
    .in_force = piobench_in_force,
    .move_coll = piobench_move_coll,
    .is_noted = piobench_is_noted,
    .title = "PIOBENCH: rate against data block size",
    .subtitle = MADE "; bars: confidence intervals of the mean",
    .rates = "Rate: " MADE ". ±: half width of the %d %% confidence interval of the mean, by Student's t; that of a "
             "ratio follows from both.",
    .columns = COLUMNS,
    .text_columns = TEXT_COLUMNS,
    .quantities = RATES,
    .point_of = piobench_point_of,
    .same_cell = piobench_same_cell,
    .heading = piobench_heading,
    .settings = piobench_settings,
    .reference = piobench_reference,
    .put = piobench_put,
    .put_text = piobench_put_text,
    .findings = piobench_findings_text,
    .same_row = piobench_same_row,
    .x_of = piobench_x_of,
    .axes = piobench_axes,
    .row_title = piobench_row_title,
};
