#include "measure/analysis_rawdata_plot.h"

#include "measure/analysis_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, LEFT = 90, RIGHT = 20, TOP = 92, BOTTOM = 52, GAP = 26, COLUMNS = WIDTH - LEFT - RIGHT };
enum { NUMBERS = 20, LEFT_OUT = 22 }; /* heights of tick labels, of the line that says what is left out */
enum { POINTS_MAX = 4000, POINTS_OF_PLOT = 16000 };

/* ---- collecting ---- */

pl_status analysis_rawdata_plot_begin(struct analysis_rawdata_plot *plot, const struct analysis_request *request,
                                      const struct analysis_input *input, struct pl_error *error)
{
    const pl_status status = analysis_choice_build(request, input, &plot->choice, error);
    if (status == PL_OK)
        plot->left_out = analysis_choice_spread(request, &plot->choice, ANALYSIS_ALL_KINDS, ANALYSIS_PLOT_ROWS);
    return status;
}

void analysis_rawdata_plot_clear(struct analysis_rawdata_plot *plot)
{
    analysis_choice_clear(&plot->choice);
}

static struct analysis_plot_row *row_for(struct analysis_rawdata_plot *plot, const struct analysis_chosen *chosen,
                                         int rank)
{
    for (size_t i = 0; i < plot->row_count; i++)
        if (plot->rows[i].rank == rank && plot->rows[i].chosen.set == chosen->set)
            return &plot->rows[i];
    if (plot->row_count == ANALYSIS_PLOT_ROWS)
        return NULL;
    const bool new_set = plot->row_count == 0 || plot->rows[plot->row_count - 1].chosen.set != chosen->set;
    plot->range_count += new_set;
    struct analysis_plot_row *row = &plot->rows[plot->row_count++];
    row->chosen = *chosen;
    row->rank = rank;
    row->range = plot->range_count - 1;
    return row;
}

static int op_for(struct analysis_rawdata_plot *plot, const char *key)
{
    for (size_t i = 0; i < plot->op_count; i++)
        if (strcmp(plot->ops[i], key) == 0)
            return (int)i;
    if (plot->op_count == ANALYSIS_PLOT_OPS)
        return -1;
    plot->ops[plot->op_count] = key;
    return (int)plot->op_count++;
}

static void widen(struct analysis_plot_range *range, const struct analysis_row *row)
{
    const struct analysis_region *region = &row->times.region;
    const bool first = !range->any;
    range->min_ns = first ? (double)row->times.drawn_min : fmin(range->min_ns, (double)row->times.drawn_min);
    range->max_ns = first ? (double)row->times.drawn_max : fmax(range->max_ns, (double)row->times.drawn_max);
    range->median_ns = first ? row->median : fmin(range->median_ns, row->median);
    range->from = first || region->from < range->from ? region->from : range->from;
    range->to = first || region->to > range->to ? region->to : range->to;
    range->any = true;
}

void analysis_rawdata_plot_add(struct analysis_rawdata_plot *plot, const struct analysis_request *request,
                               const struct analysis_chosen *chosen, const struct analysis_rows *rows)
{
    const struct analysis_candidate *candidate = analysis_choice_of(&plot->choice, chosen->set);
    for (size_t i = 0; candidate && i < rows->count; i++) {
        const struct analysis_row *row = &rows->rows[i];
        if (row->series->rank > candidate->last_rank || !analysis_row_wanted(request, row))
            continue;
        struct analysis_plot_row *slot = row_for(plot, chosen, row->series->rank);
        const int op = slot ? op_for(plot, row->series->key) : -1;
        if (op < 0 || slot->count == ANALYSIS_PLOT_OPS)
            continue;
        slot->series[slot->count++] = (struct analysis_plot_series){row->series, row->times.region, op};
        plot->series_count++;
        widen(&plot->ranges[slot->range], row);
    }
}

/* ---- drawing ---- */

/* Either every operation as a point, or what falls into a column of pixels as its range and mean. */
struct bins {
    int64_t from, to;
    size_t count; /* columns, or points */
    bool points;
    int64_t first, last; /* counters of the axis */
    double x[POINTS_MAX], y[POINTS_MAX];
    double low[COLUMNS], high[COLUMNS], n[COLUMNS];
};

static void take_bins(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct bins *bins = context;
    const double scale = COLUMNS / ((double)(bins->last - bins->first) + 1);
    for (size_t i = 0; i < count; i++) {
        const int64_t counter = first + (int64_t)i;
        if (counter < bins->from || counter > bins->to)
            continue;
        const double value = (double)values[i];
        if (bins->points) {
            if (bins->count == POINTS_MAX)
                return;
            bins->x[bins->count] = (double)counter;
            bins->y[bins->count++] = value;
            continue;
        }
        size_t column = (size_t)((double)(counter - bins->first) * scale);
        column = column < COLUMNS ? column : COLUMNS - 1;
        bins->low[column] = bins->n[column] == 0 || value < bins->low[column] ? value : bins->low[column];
        bins->high[column] = bins->n[column] == 0 || value > bins->high[column] ? value : bins->high[column];
        bins->y[column] += value;
        bins->n[column] += 1;
    }
}

static void finish_columns(struct bins *bins)
{
    const double width = ((double)(bins->last - bins->first) + 1) / COLUMNS;
    bins->count = COLUMNS;
    for (size_t i = 0; i < COLUMNS; i++) {
        bins->x[i] = (double)bins->first + ((double)i + 0.5) * width;
        bins->y[i] = bins->n[i] > 0 ? bins->y[i] / bins->n[i] : NAN;
        bins->low[i] = bins->n[i] > 0 ? bins->low[i] : NAN;
        bins->high[i] = bins->n[i] > 0 ? bins->high[i] : NAN;
    }
}

/* Fewer operations than columns of pixels are always points: in columns they would be lost. */
static int64_t points_allowed(const struct analysis_rawdata_plot *data)
{
    const int64_t share = POINTS_OF_PLOT / (int64_t)(data->series_count ? data->series_count : 1);
    return share < COLUMNS ? COLUMNS : share > POINTS_MAX ? POINTS_MAX : share;
}

/* When the colours begin again, points are open. */
static struct plot_style style_of(int op)
{
    return (struct plot_style){.colour = op, .filled = op < PLOT_COLOURS};
}

static pl_status draw_series(struct plot *plot, const struct analysis_rawdata_plot *data,
                             const struct analysis_plot_row *row, const struct analysis_plot_series *series,
                             struct bins *bins, struct pl_error *error)
{
    memset(bins, 0, sizeof *bins);
    bins->from = series->region.from;
    bins->to = series->region.to;
    bins->first = data->ranges[row->range].from;
    bins->last = data->ranges[row->range].to;
    bins->points = bins->to - bins->from < points_allowed(data);
    const pl_status status = blockfile_stream(row->chosen.file, series->series, take_bins, bins, error);
    if (status)
        return status;
    const struct plot_style style = style_of(series->op);
    if (bins->points) {
        plot_points(plot, bins->x, bins->y, bins->count, bins->count < 300 ? 2.4 : 1.5, style);
        return PL_OK;
    }
    finish_columns(bins);
    plot_band(plot, bins->x, bins->low, bins->high, bins->count, style);
    plot_line(plot, bins->x, bins->y, bins->count, style);
    return PL_OK;
}

static void mark_startup(struct plot *plot, const struct analysis_plot_series *series)
{
    if (series->region.skip == 0)
        return;
    const double at = (double)(series->region.from + series->region.skip) - 0.5;
    const double x[] = {at, at};
    const double y[] = {plot->panel.y.min, plot->panel.y.max};
    plot_line(plot, x, y, 2, (struct plot_style){.colour = series->op, .dashed = true});
}

/* ---- titles ---- */

static bool several_sets(const struct analysis_rawdata_plot *data)
{
    return data->range_count > 1;
}

/* The test if there is one only, else the file or files. */
static void name_figure(const struct analysis_rawdata_plot *data, char *title, size_t size)
{
    const struct analysis_chosen *first = &data->rows[0].chosen;
    bool one_test = true;
    bool one_file = true;
    for (size_t i = 1; i < data->row_count; i++) {
        const struct analysis_chosen *chosen = &data->rows[i].chosen;
        one_test = one_test && strcmp(chosen->block->testname, first->block->testname) == 0;
        one_file = one_file && chosen->file == first->file;
    }
    if (one_test)
        snprintf(title, size, "Raw times: %.100s", first->block->testname);
    else
        snprintf(title, size, "Raw times: %.100s%s", analysis_base_name(first->file->path),
                 one_file ? "" : " and other files");
}

static void describe(const struct analysis_rawdata_plot *data, char *text, size_t size)
{
    const struct analysis_chosen *chosen = &data->rows[0].chosen;
    char sizes[ANALYSIS_NAME_MAX], processes[ANALYSIS_NAME_MAX];
    const char *file = analysis_base_name(chosen->file->path);
    if (several_sets(data))
        snprintf(text, size, "%.80s: each parameter set has axes of its own", file);
    else
        snprintf(text, size, "%.80s, block %" PRId64 ", set %" PRId64 ": %s, %s", file, chosen->block_number,
                 chosen->set->number,
                 analysis_processes_text(blockfile_fact_of(chosen->block, "nprocs"), analysis_one_process(chosen->set),
                                         processes),
                 analysis_sizes_text(chosen->set, sizes));
}

static void name_row(const struct analysis_plot_row *row, char *title, size_t size)
{
    char test[ANALYSIS_NAME_MAX], sizes[ANALYSIS_NAME_MAX];
    analysis_sizes_text(row->chosen.set, sizes);
    snprintf(title, size, "%s%s%s, rank %d", analysis_test_text(&row->chosen, test), sizes[0] ? ", " : "", sizes,
             row->rank);
}

/* ---- the figure ---- */

static void draw_legend(struct plot *plot, const struct analysis_rawdata_plot *data)
{
    enum { BESIDE = 3 }; /* more would run into the subtitle: then in a line of their own, closer together */
    const double entry = data->op_count <= BESIDE ? 96 : 90;
    const double y = data->op_count <= BESIDE ? 44 : 63;
    double x = WIDTH - RIGHT - entry * (double)data->op_count;
    char name[ANALYSIS_NAME_MAX];
    for (size_t i = 0; i < data->op_count; i++, x += entry)
        plot_legend(plot, x, y, 0, style_of((int)i), analysis_op_text(data->ops[i], name));
}

static bool last_of_set(const struct analysis_rawdata_plot *data, size_t index)
{
    return index + 1 == data->row_count || data->rows[index + 1].range != data->rows[index].range;
}

static struct plot_panel panel_of(const struct analysis_rawdata_plot *data, size_t index, double top, double height)
{
    const struct analysis_plot_range *range = &data->ranges[data->rows[index].range];
    const char *label = index + 1 == data->row_count ? "loop counter" : last_of_set(data, index) ? "" : NULL;
    const bool log_axis = range->median_ns > 0 && range->max_ns > 10 * range->median_ns;
    const double span = range->max_ns - range->min_ns;
    const double low = fmax(0, range->min_ns - 0.05 * span);
    const double margin = 0.01 * (double)(range->to - range->from); /* points at the ends are drawn in full */
    return (struct plot_panel){
        .box = {LEFT, top, COLUMNS, height},
        .x = {.min = (double)range->from - margin, .max = (double)range->to + margin, .whole = true, .label = label},
        .y = {.min = log_axis                    ? fmax(1, range->min_ns / 1.15)
                     : low < 0.5 * range->max_ns ? 0
                                                 : low,
              .max = log_axis ? range->max_ns * 1.15 : range->max_ns + 0.05 * (span > 0 ? span : range->max_ns),
              .log = log_axis,
              .unit = PLOT_TIME,
              .label = "time"},
    };
}

static pl_status draw_row(struct plot *plot, const struct analysis_rawdata_plot *data, size_t index, double top,
                          double height, struct bins *bins, struct pl_error *error)
{
    const struct analysis_plot_row *row = &data->rows[index];
    char title[2 * ANALYSIS_NAME_MAX], note[64];
    struct plot_panel panel = panel_of(data, index, top, height);
    name_row(row, title, sizeof title);
    panel.title = title;
    plot_panel(plot, &panel);
    snprintf(note, sizeof note, "--block %" PRId64 " --set %" PRId64, row->chosen.block_number,
             row->chosen.set->number);
    if (several_sets(data))
        plot_note(plot, note);
    pl_status status = PL_OK;
    for (size_t i = 0; i < row->count && status == PL_OK; i++) {
        status = draw_series(plot, data, row, &row->series[i], bins, error);
        mark_startup(plot, &row->series[i]);
    }
    return status;
}

static double gap_below(const struct analysis_rawdata_plot *data, size_t index)
{
    return GAP + (last_of_set(data, index) ? NUMBERS : 0);
}

static double figure_height(const struct analysis_rawdata_plot *data, double height)
{
    double total = TOP + (data->left_out ? LEFT_OUT : 0);
    for (size_t i = 0; i < data->row_count; i++)
        total += height + (i + 1 < data->row_count ? gap_below(data, i) : BOTTOM);
    return total;
}

pl_status analysis_rawdata_plot_draw(void *context, FILE *stream, struct pl_error *error)
{
    const struct analysis_rawdata_plot *data = context;
    struct bins *bins = malloc(sizeof *bins);
    if (!bins)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    const double height = data->row_count == 1 ? 380 : data->row_count <= 3 ? 200 : 120;
    const double total = figure_height(data, height);
    char title[160], subtitle[512];
    name_figure(data, title, sizeof title);
    describe(data, subtitle, sizeof subtitle);
    struct plot plot;
    plot_begin(&plot, stream, WIDTH, total, title, subtitle);
    draw_legend(&plot, data);
    pl_status status = PL_OK;
    double top = TOP;
    for (size_t i = 0; i < data->row_count && status == PL_OK; i++) {
        status = draw_row(&plot, data, i, top, height, bins, error);
        top += height + gap_below(data, i);
    }
    snprintf(subtitle, sizeof subtitle, "%zu more rows, each a process of a set, are not drawn: choose with %s",
             data->left_out, "--test, --block, --set, --rank");
    if (data->left_out)
        plot_caption(&plot, LEFT, total - 10, subtitle);
    plot_end(&plot);
    free(bins);
    return status;
}
