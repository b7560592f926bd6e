#include "measure/analysis_rawdata_plot.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, LEFT = 90, RIGHT = 20, TOP = 88, BOTTOM = 52, GAP = 26, COLUMNS = WIDTH - LEFT - RIGHT };
enum { POINTS_MAX = 4000, POINTS_OF_PLOT = 16000 };

/* ---- collecting ---- */

static struct analysis_plot_row *row_for(struct analysis_rawdata_plot *plot, const struct analysis_chosen *chosen,
                                         int rank)
{
    for (size_t i = 0; i < plot->row_count; i++)
        if (plot->rows[i].rank == rank && plot->rows[i].chosen.set == chosen->set)
            return &plot->rows[i];
    if (plot->row_count == ANALYSIS_PLOT_ROWS)
        return NULL;
    struct analysis_plot_row *row = &plot->rows[plot->row_count++];
    row->chosen = *chosen;
    row->rank = rank;
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

static void widen(struct analysis_rawdata_plot *plot, const struct analysis_row *row)
{
    const struct analysis_region *region = &row->times.region;
    const bool first = plot->operations == 0;
    plot->min_ns = first ? (double)row->times.drawn_min : fmin(plot->min_ns, (double)row->times.drawn_min);
    plot->max_ns = first ? (double)row->times.drawn_max : fmax(plot->max_ns, (double)row->times.drawn_max);
    plot->median_ns = first ? row->median : fmin(plot->median_ns, row->median);
    plot->from = first || region->from < plot->from ? region->from : plot->from;
    plot->to = first || region->to > plot->to ? region->to : plot->to;
    plot->operations += row->times.n;
}

void analysis_rawdata_plot_add(struct analysis_rawdata_plot *plot, const struct analysis_request *request,
                               const struct analysis_chosen *chosen, const struct analysis_rows *rows)
{
    const char *first_op = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const struct analysis_row *row = &rows->rows[i];
        if (!analysis_row_wanted(request, row))
            continue;
        first_op = first_op ? first_op : row->series->key;
        struct analysis_plot_row *slot = row_for(plot, chosen, row->series->rank);
        const int op = slot ? op_for(plot, row->series->key) : -1;
        if (!slot && strcmp(row->series->key, first_op) == 0)
            plot->left_out++;
        if (op < 0 || slot->count == ANALYSIS_PLOT_OPS)
            continue;
        slot->series[slot->count++] = (struct analysis_plot_series){row->series, row->times.region, op};
        plot->several_sets = plot->several_sets || slot->chosen.set != plot->rows[0].chosen.set;
        widen(plot, row);
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

static pl_status draw_series(struct plot *plot, const struct analysis_rawdata_plot *data,
                             const struct analysis_plot_row *row, const struct analysis_plot_series *series,
                             struct bins *bins, struct pl_error *error)
{
    memset(bins, 0, sizeof *bins);
    bins->from = series->region.from;
    bins->to = series->region.to;
    bins->first = data->from;
    bins->last = data->to;
    bins->points = bins->to - bins->from < POINTS_MAX && data->operations <= POINTS_OF_PLOT;
    const pl_status status = blockfile_stream(row->chosen.file, series->series, take_bins, bins, error);
    if (status)
        return status;
    const struct plot_style style = {.colour = series->op, .filled = true};
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

static void describe(const struct analysis_rawdata_plot *data, char *text, size_t size)
{
    const struct analysis_chosen *chosen = &data->rows[0].chosen;
    char file[UNITS_TEXT_MAX], block[UNITS_TEXT_MAX];
    int64_t bytes;
    const char *file_text = blockfile_param_of(chosen->set, "filesize_bytes");
    const char *block_text = blockfile_param_of(chosen->set, "blocksize_bytes");
    const char *name = strrchr(chosen->file->path, '/');
    int used = snprintf(text, size, "%.80s, block %" PRId64, name ? name + 1 : chosen->file->path,
                        chosen->block_number);
    if (!data->several_sets && file_text && block_text && units_parse_int(file_text, 0, INT64_MAX, &bytes)) {
        units_bytes(bytes, file);
        if (units_parse_int(block_text, 0, INT64_MAX, &bytes) && used > 0 && (size_t)used < size)
            snprintf(text + used, size - (size_t)used, ", set %" PRId64 ": file %s in blocks of %s",
                     chosen->set->number, file, units_bytes(bytes, block));
    }
}

static void draw_legend(struct plot *plot, const struct analysis_rawdata_plot *data)
{
    double x = WIDTH - RIGHT - 62.0 * (double)data->op_count;
    for (size_t i = 0; i < data->op_count; i++, x += 62)
        plot_legend(plot, x, 66, 0, (struct plot_style){.colour = (int)i, .filled = true}, data->ops[i]);
}

static struct plot_panel panel_of(const struct analysis_rawdata_plot *data, size_t index, double height,
                                  const char *title)
{
    const bool last = index + 1 == data->row_count;
    const bool log_axis = data->median_ns > 0 && data->max_ns > 10 * data->median_ns;
    const double span = data->max_ns - data->min_ns;
    const double low = fmax(0, data->min_ns - 0.05 * span);
    return (struct plot_panel){
        .box = {LEFT, TOP + (double)index * (height + GAP), COLUMNS, height},
        .x = {.min = (double)data->from, .max = (double)data->to, .label = last ? "loop counter" : NULL},
        .y = {.min = log_axis                   ? fmax(1, data->min_ns / 1.15)
                     : low < 0.5 * data->max_ns ? 0
                                                : low,
              .max = log_axis ? data->max_ns * 1.15 : data->max_ns + 0.05 * (span > 0 ? span : data->max_ns),
              .log = log_axis,
              .unit = PLOT_TIME,
              .label = "time"},
        .title = title,
    };
}

static pl_status draw_row(struct plot *plot, const struct analysis_rawdata_plot *data, size_t index, double height,
                          struct bins *bins, struct pl_error *error)
{
    const struct analysis_plot_row *row = &data->rows[index];
    char title[64];
    if (data->several_sets)
        snprintf(title, sizeof title, "block %" PRId64 ", set %" PRId64 ", rank %d", row->chosen.block_number,
                 row->chosen.set->number, row->rank);
    else
        snprintf(title, sizeof title, "rank %d", row->rank);
    const struct plot_panel panel = panel_of(data, index, height, title);
    plot_panel(plot, &panel);
    pl_status status = PL_OK;
    for (size_t i = 0; i < row->count && status == PL_OK; i++) {
        status = draw_series(plot, data, row, &row->series[i], bins, error);
        mark_startup(plot, &row->series[i]);
    }
    return status;
}

pl_status analysis_rawdata_plot_draw(void *context, FILE *stream, struct pl_error *error)
{
    const struct analysis_rawdata_plot *data = context;
    struct bins *bins = malloc(sizeof *bins);
    if (!bins)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    const double height = data->row_count == 1 ? 380 : data->row_count <= 3 ? 200 : 120;
    char title[160], subtitle[256];
    snprintf(title, sizeof title, "Raw times: %.120s", data->rows[0].chosen.block->testname);
    describe(data, subtitle, sizeof subtitle);
    struct plot plot;
    plot_begin(&plot, stream, WIDTH, TOP + (height + GAP) * (double)data->row_count - GAP + BOTTOM, title, subtitle);
    draw_legend(&plot, data);
    pl_status status = PL_OK;
    for (size_t i = 0; i < data->row_count && status == PL_OK; i++)
        status = draw_row(&plot, data, i, height, bins, error);
    plot_end(&plot);
    free(bins);
    return status;
}
