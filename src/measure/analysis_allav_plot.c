/* The figure of allav: two sections (against file size, against block size), each a grid of panels. Columns are
 * operations. A colour is a fixed size. Tests lie over each other with markers of their own while that can be read,
 * else each has a row. All panels of a section share their axes, so that they compare. */
#include "measure/analysis_allav.h"

#include "base/units.h"
#include "measure/analysis_format.h"
#include "measure/analysis_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1100, LEFT = 84, TOP = 70, COLUMN_GAP = 56, LEGEND = WIDTH - 140 };
enum { HEADING = 34, TESTS = 26, TITLE = 24, ROW_GAP = 32, X_AXIS = 54, BOTTOM = 16 };
enum { OVERLAY_HEIGHT = 240, ROW_HEIGHT = 132 };
enum { OPS_MAX = 3, TESTS_MAX = 6, OVERLAY_TESTS = PLOT_MARKERS, OVERLAY_CURVES = 9, SIZES_MAX = PLOT_COLOURS };

struct range {
    double low, high;
};

struct curve {
    double *x, *rate, *error; /* room for all points */
    size_t count;
    const struct analysis_op_rate *approximate; /* NULL: none */
};

struct section {
    bool by_file; /* x is the file size and the block size is fixed; else the other way round */
    double sizes[SIZES_MAX];
    size_t size_count, size_all;
    bool overlay;
    struct range x, y;
};

struct sheet {
    const struct allav *allav;
    const char *ops[OPS_MAX];
    size_t op_count, op_all;
    size_t tests[TESTS_MAX]; /* a group of each: of a test with its access and processes, for any operation */
    size_t test_count, test_all;
    struct curve curve; /* of the moment */
};

/* ---- what there is ---- */

static void find_ops(struct sheet *sheet)
{
    const struct allav *allav = sheet->allav;
    for (size_t g = 0; g < allav->group_count; g++) {
        size_t before = 0;
        while (before < g && strcmp(allav->groups[before].traits[ALLAV_OP], allav->groups[g].traits[ALLAV_OP]) != 0)
            before++;
        if (before < g)
            continue;
        if (sheet->op_count < OPS_MAX)
            sheet->ops[sheet->op_count++] = allav->groups[g].traits[ALLAV_OP];
        sheet->op_all++;
    }
}

static void find_tests(struct sheet *sheet)
{
    const struct allav *allav = sheet->allav;
    for (size_t g = 0; g < allav->group_count; g++) {
        size_t before = 0;
        while (before < g && !allav_same_group(&allav->groups[before], &allav->groups[g], true))
            before++;
        if (before < g)
            continue;
        if (sheet->test_count < TESTS_MAX)
            sheet->tests[sheet->test_count++] = g;
        sheet->test_all++;
    }
}

/* SIZE_MAX: the test has no such operation. */
static size_t group_of(const struct sheet *sheet, size_t test, size_t op)
{
    const struct allav *allav = sheet->allav;
    for (size_t g = 0; g < allav->group_count; g++)
        if (allav_same_group(&allav->groups[g], &allav->groups[sheet->tests[test]], true) &&
            strcmp(allav->groups[g].traits[ALLAV_OP], sheet->ops[op]) == 0)
            return g;
    return SIZE_MAX;
}

static double fixed_size(const struct section *section, const struct allav_point *point)
{
    return section->by_file ? point->block_bytes : point->file_bytes;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The fixed sizes, each with a colour; of too many the smallest, the largest, and some evenly between. */
static void find_sizes(struct sheet *sheet, struct section *section)
{
    double *all = sheet->curve.x; /* free for now */
    size_t count = 0;
    for (size_t i = 0; i < sheet->allav->point_count; i++)
        all[i] = fixed_size(section, &sheet->allav->points[i]);
    qsort(all, sheet->allav->point_count, sizeof *all, compare_doubles);
    for (size_t i = 0; i < sheet->allav->point_count; i++)
        if (i == 0 || all[i] != all[i - 1])
            all[count++] = all[i];
    section->size_all = count;
    section->size_count = count < SIZES_MAX ? count : SIZES_MAX;
    for (size_t i = 0; i < section->size_count; i++)
        section->sizes[i] = count <= SIZES_MAX ? all[i] : all[i * (count - 1) / (SIZES_MAX - 1)];
    section->overlay = sheet->test_all <= OVERLAY_TESTS && sheet->test_all * section->size_count <= OVERLAY_CURVES;
    section->overlay = section->overlay || sheet->test_all == 1;
}

/* Fills sheet->curve; false when it has no point. */
static bool find_curve(struct sheet *sheet, const struct section *section, size_t test, size_t op, size_t size)
{
    struct curve *curve = &sheet->curve;
    const size_t group = group_of(sheet, test, op);
    curve->count = 0;
    curve->approximate = NULL;
    for (size_t i = 0; i < sheet->allav->point_count; i++) {
        const struct allav_point *point = &sheet->allav->points[i];
        if (point->group != group || fixed_size(section, point) != section->sizes[size])
            continue;
        curve->x[curve->count] = section->by_file ? point->file_bytes : point->block_bytes;
        curve->rate[curve->count] = point->rate.rate.value;
        curve->error[curve->count++] = point->rate.rate.error;
        /* points are sorted: the last one is of the largest file */
        curve->approximate = section->by_file && point->rate.point_count > 1 ? &point->rate : NULL;
    }
    return curve->count > 0;
}

/* ---- ranges ---- */

static void widen(struct range *range, double value)
{
    if (!isfinite(value) || value <= 0)
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* A large error must not squeeze all curves: bars count up to a factor of 1.5 and are cut at the frame. */
static void widen_by(struct section *section, const struct curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const double rate = curve->rate[i];
        const double error = isfinite(curve->error[i]) ? curve->error[i] : 0;
        widen(&section->x, curve->x[i]);
        widen(&section->y, rate);
        widen(&section->y, fmin(rate + error, 1.5 * rate));
        widen(&section->y, fmax(rate - error, rate / 1.5));
    }
    for (int i = 0; curve->approximate && i < curve->approximate->point_count; i++) {
        widen(&section->x, curve->approximate->point_bytes[i]);
        widen(&section->y, curve->approximate->point_rate[i]);
    }
}

static void find_ranges(struct sheet *sheet, struct section *section)
{
    section->x = section->y = (struct range){INFINITY, 0};
    for (size_t test = 0; test < sheet->test_count; test++)
        for (size_t op = 0; op < sheet->op_count; op++)
            for (size_t size = 0; size < section->size_count; size++)
                if (find_curve(sheet, section, test, op, size))
                    widen_by(section, &sheet->curve);
}

/* ---- drawing ---- */

static size_t row_count(const struct sheet *sheet, const struct section *section)
{
    return section->overlay ? 1 : sheet->test_count;
}

static bool has_test_legend(const struct sheet *sheet, const struct section *section)
{
    return section->overlay && sheet->test_count > 1;
}

static double panel_height(const struct section *section)
{
    return section->overlay ? OVERLAY_HEIGHT : ROW_HEIGHT;
}

static double section_height(const struct sheet *sheet, const struct section *section)
{
    const double rows = (double)row_count(sheet, section);
    return HEADING + (has_test_legend(sheet, section) ? TESTS : 0) + TITLE + rows * panel_height(section) +
           (rows - 1) * ROW_GAP + X_AXIS;
}

static void draw_curve(struct plot *plot, const struct curve *curve, struct plot_style style)
{
    if (curve->approximate)
        plot_line(plot, curve->approximate->point_bytes, curve->approximate->point_rate,
                  (size_t)curve->approximate->point_count, (struct plot_style){.colour = style.colour, .dashed = true});
    plot_line(plot, curve->x, curve->rate, curve->count, style);
    plot_bars(plot, curve->x, curve->rate, curve->error, curve->count, style);
    plot_points(plot, curve->x, curve->rate, curve->count, 3.4, style);
}

static struct plot_style style_of(size_t size, size_t test, bool overlay)
{
    return (struct plot_style){
        .colour = (int)size, .filled = true, .marker = overlay ? (enum plot_marker)test : PLOT_CIRCLE};
}

/* Curves of the tests [first, end). */
static void draw_curves(struct plot *plot, struct sheet *sheet, const struct section *section, size_t op, size_t first,
                        size_t end)
{
    const double middle = (double)((end - first) * section->size_count - 1) / 2;
    double place = 0;
    for (size_t test = first; test < end; test++)
        for (size_t size = 0; size < section->size_count; size++, place++) {
            struct plot_style style = style_of(size, test, section->overlay);
            style.shift = 2.5 * (place - middle);
            if (find_curve(sheet, section, test, op, size))
                draw_curve(plot, &sheet->curve, style);
        }
}

static void draw_panel(struct plot *plot, struct sheet *sheet, const struct section *section, size_t row, size_t op,
                       double top)
{
    const double room = LEGEND - 30 - LEFT - COLUMN_GAP * (double)(sheet->op_count - 1);
    const double width = room / (double)sheet->op_count;
    const bool log_rate = section->y.high > 10 * section->y.low;
    const char *size_name = section->by_file ? "file size" : "block size";
    char op_name[ANALYSIS_NAME_MAX], label[ANALYSIS_NAME_MAX], title[2 * ANALYSIS_NAME_MAX + 4];
    analysis_op_text(sheet->ops[op], op_name);
    allav_label(sheet->allav, sheet->tests[row], label, sizeof label);
    if (has_test_legend(sheet, section))
        snprintf(title, sizeof title, "%s", op_name);
    else
        snprintf(title, sizeof title, "%s: %s", label, op_name);
    const struct plot_panel axes = {
        .box = {LEFT + (double)op * (width + COLUMN_GAP), top, width, panel_height(section)},
        .x = {.min = section->x.low / 1.3,
              .max = section->x.high * 1.3,
              .log = true,
              .unit = PLOT_BYTES,
              .label = row + 1 == row_count(sheet, section) ? size_name : NULL},
        .y = {.min = log_rate ? section->y.low / 1.2 : 0,
              .max = section->y.high * (log_rate ? 1.2 : 1.06),
              .log = log_rate,
              .label = op == 0 ? "rate (MB/s)" : ""},
        .title = title,
    };
    plot_panel(plot, &axes);
    if (section->overlay)
        draw_curves(plot, sheet, section, op, 0, sheet->test_count);
    else
        draw_curves(plot, sheet, section, op, row, row + 1);
}

static void draw_legends(struct plot *plot, const struct sheet *sheet, const struct section *section, double top,
                         double panels)
{
    char text[ANALYSIS_NAME_MAX];
    for (size_t test = 0; has_test_legend(sheet, section) && test < sheet->test_count; test++) {
        struct plot_style style = style_of(PLOT_COLOURS - 1, test, true); /* black: a colour would mean a size */
        allav_label(sheet->allav, sheet->tests[test], text, sizeof text);
        plot_legend(plot, LEFT + 300.0 * (double)test, top + HEADING, 0, style, text);
    }
    plot_caption(plot, LEGEND, panels + 8, section->by_file ? "block size" : "file size");
    for (size_t size = 0; size < section->size_count; size++)
        plot_legend(plot, LEGEND, panels + 26, (int)size, style_of(size, 0, false),
                    analysis_bytes_text(section->sizes[size], text));
    if (section->by_file)
        plot_legend(plot, LEGEND, panels + 32, (int)section->size_count,
                    (struct plot_style){.colour = PLOT_COLOURS - 1, .dashed = true}, "approximate");
}

static void draw_section(struct plot *plot, struct sheet *sheet, const struct section *section, double top)
{
    const double panels = top + HEADING + (has_test_legend(sheet, section) ? TESTS : 0) + TITLE;
    plot_heading(plot, 20, top + 16,
                 section->by_file ? "Against file size, at fixed block size"
                                  : "Against block size, at fixed file size");
    draw_legends(plot, sheet, section, top, panels);
    for (size_t row = 0; row < row_count(sheet, section); row++)
        for (size_t op = 0; op < sheet->op_count; op++)
            draw_panel(plot, sheet, section, row, op, panels + (double)row * (panel_height(section) + ROW_GAP));
}

/* ---- the figure ---- */

static void add_left_out(char *text, size_t size, size_t all, size_t drawn, const char *what)
{
    const size_t used = strlen(text);
    if (all > drawn)
        snprintf(text + used, size - used, "%s%zu of %zu %s", used ? ", " : "", all - drawn, all, what);
}

static void draw_sheet(struct allav *allav, struct sheet *sheet, FILE *stream)
{
    struct section sections[] = {{.by_file = true}, {.by_file = false}};
    double height = TOP + BOTTOM;
    for (size_t i = 0; i < 2; i++) {
        find_sizes(sheet, &sections[i]);
        find_ranges(sheet, &sections[i]);
        height += section_height(sheet, &sections[i]);
    }
    allav->left_out[0] = '\0';
    add_left_out(allav->left_out, sizeof allav->left_out, sheet->test_all, sheet->test_count, "tests");
    add_left_out(allav->left_out, sizeof allav->left_out, sheet->op_all, sheet->op_count, "operations");
    add_left_out(allav->left_out, sizeof allav->left_out, sections[0].size_all, sections[0].size_count, "block sizes");
    add_left_out(allav->left_out, sizeof allav->left_out, sections[1].size_all, sections[1].size_count, "file sizes");
    struct plot plot;
    plot_begin(&plot, stream, WIDTH, height, "Rate against file size and block size",
               "bars: 90 % confidence, cut at the frame; points of equal size stand side by side; "
               "approximate: rate up to a size within the largest run");
    double top = TOP;
    for (size_t i = 0; i < 2; i++) {
        draw_section(&plot, sheet, &sections[i], top);
        top += section_height(sheet, &sections[i]);
    }
    char note[256];
    snprintf(note, sizeof note, "not drawn: %s; choose with --test, --block, --set, --op", allav->left_out);
    if (allav->left_out[0])
        plot_caption(&plot, LEFT, height - 8, note);
    plot_end(&plot);
}

pl_status allav_plot_draw(void *context, FILE *stream, struct pl_error *error)
{
    struct allav *allav = context;
    struct sheet sheet = {.allav = allav};
    double *numbers = malloc((3 * allav->point_count + 1) * sizeof *numbers);
    if (!numbers)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    sheet.curve = (struct curve){numbers, numbers + allav->point_count, numbers + 2 * allav->point_count, 0, NULL};
    find_ops(&sheet);
    find_tests(&sheet);
    draw_sheet(allav, &sheet, stream);
    free(numbers);
    return PL_OK;
}
