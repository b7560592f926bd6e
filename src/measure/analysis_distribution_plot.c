#include "measure/analysis_distribution_plot.h"

#include "base/units.h"
#include "measure/analysis_names.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 1160, LEFT = 80, TOP = 122, PANEL_HEIGHT = 200, GAP = 72, LEGEND = WIDTH - 290, COLUMN_GAP = 52 };
enum { COLUMNS = 2, TEST_HEADING = 30 };

/* ---- collecting ---- */

pl_status analysis_distribution_plot_begin(struct analysis_distribution_plot *plot,
                                           const struct analysis_request *request, const struct analysis_input *input,
                                           struct pl_error *error)
{
    struct analysis_choice *choice = &plot->choice;
    const pl_status status = analysis_choice_build(request, input, choice, error);
    if (status)
        return status;
    plot->test_count = choice->kinds < ANALYSIS_CURVE_TESTS ? choice->kinds : ANALYSIS_CURVE_TESTS;
    for (size_t kind = 0; kind < plot->test_count; kind++)
        plot->left_out += analysis_choice_spread(request, choice, kind, ANALYSIS_CURVES);
    size_t drawn_sets[ANALYSIS_CURVE_TESTS] = {0};
    for (size_t i = 0; i < choice->count; i++) {
        const struct analysis_candidate *candidate = &choice->sets[i];
        if (candidate->kind >= plot->test_count)
            plot->left_out += candidate->ranks;
        else if (candidate->last_rank >= 0)
            plot->tests[candidate->kind].several_sets = ++drawn_sets[candidate->kind] > 1;
    }
    return PL_OK;
}

void analysis_distribution_plot_clear(struct analysis_distribution_plot *plot)
{
    analysis_choice_clear(&plot->choice);
}

static struct analysis_distribution_panel *panel_for(struct analysis_distribution_test *test, const char *op)
{
    for (size_t i = 0; i < test->panel_count; i++)
        if (strcmp(test->panels[i].op, op) == 0)
            return &test->panels[i];
    if (test->panel_count == ANALYSIS_CURVE_OPS)
        return NULL;
    test->panels[test->panel_count].op = op;
    return &test->panels[test->panel_count++];
}

/* Its index; ANALYSIS_CURVES when there is no room. */
static size_t source_for(struct analysis_distribution_test *test, const struct analysis_chosen *chosen, int rank)
{
    for (size_t i = 0; i < test->source_count; i++)
        if (test->sources[i].chosen.set == chosen->set && test->sources[i].rank == rank)
            return i;
    if (test->source_count < ANALYSIS_CURVES)
        test->sources[test->source_count] = (struct analysis_curve_source){*chosen, rank};
    return test->source_count < ANALYSIS_CURVES ? test->source_count++ : ANALYSIS_CURVES;
}

/* Curves of one set share their range, and more samples fill more bins: twice Rice's rule, since the axis also has to
 * hold a few outliers. Of several sets only bins of equal width can be compared. */
static void choose_bins(struct analysis_curve *curve, bool several_sets, int64_t n, double low_ns, double high_ns)
{
    enum { BINS_MIN = 16, BINS_OF_SET = 90, BINS_OF_DECADE = 24 };
    if (several_sets) {
        const double first = floor(log10(low_ns) * BINS_OF_DECADE);
        const double bins = floor(log10(high_ns) * BINS_OF_DECADE) + 1 - first;
        curve->bins = (size_t)fmin(bins, ANALYSIS_CURVE_BINS);
        curve->low_ns = pow(10, first / BINS_OF_DECADE);
        curve->high_ns = pow(10, (first + (double)curve->bins) / BINS_OF_DECADE);
        return;
    }
    const size_t bins = (size_t)(4 * cbrt((double)n));
    curve->bins = bins < BINS_MIN ? BINS_MIN : bins > BINS_OF_SET ? BINS_OF_SET : bins;
    curve->low_ns = low_ns;
    curve->high_ns = high_ns;
}

void analysis_distribution_plot_add(struct analysis_distribution_plot *plot, const struct analysis_chosen *chosen,
                                    const struct analysis_row *row, const struct analysis_histogram *histogram,
                                    double low_ns, double high_ns)
{
    const struct analysis_candidate *candidate = analysis_choice_of(&plot->choice, chosen->set);
    if (!candidate || row->series->rank > candidate->last_rank)
        return;
    struct analysis_distribution_test *test = &plot->tests[candidate->kind];
    struct analysis_distribution_panel *panel = panel_for(test, row->series->key);
    const size_t source = source_for(test, chosen, row->series->rank);
    if (!panel || source == ANALYSIS_CURVES || panel->count == ANALYSIS_CURVES)
        return;
    struct analysis_curve *curve = &panel->curves[panel->count++];
    curve->source = source;
    choose_bins(curve, test->several_sets, row->times.n, low_ns, high_ns);
    analysis_histogram_log_bins(histogram, curve->low_ns, curve->high_ns, curve->bins, curve->part);
    for (size_t i = 0; i < curve->bins; i++)
        curve->part[i] *= 100 / (double)row->times.n;
}

/* ---- drawing ---- */

static struct plot_style style_of(size_t source)
{
    return (struct plot_style){.colour = (int)source, .filled = true, .dashed = source >= PLOT_COLOURS};
}

/* Steps: the plateau of a bin is its part, its edges are where the bin begins and ends. */
static void draw_curve(struct plot *plot, const struct analysis_curve *curve)
{
    double x[2 * ANALYSIS_CURVE_BINS + 2];
    double y[2 * ANALYSIS_CURVE_BINS + 2];
    const double ratio = log(curve->high_ns / curve->low_ns) / (double)curve->bins;
    size_t count = 0;
    x[count] = curve->low_ns;
    y[count++] = 0;
    for (size_t i = 0; i < curve->bins; i++) {
        x[count] = curve->low_ns * exp(ratio * (double)i);
        y[count++] = curve->part[i];
        x[count] = curve->low_ns * exp(ratio * (double)(i + 1));
        y[count++] = curve->part[i];
    }
    x[count] = x[count - 1];
    y[count++] = 0;
    plot_line(plot, x, y, count, style_of(curve->source));
}

static void draw_panel(struct plot *plot, const struct analysis_distribution_test *test, size_t index,
                       struct plot_box box)
{
    const struct analysis_distribution_panel *panel = &test->panels[index];
    double low = INFINITY;
    double high = 0;
    double most = 0;
    for (size_t c = 0; c < panel->count; c++) {
        low = fmin(low, panel->curves[c].low_ns);
        high = fmax(high, panel->curves[c].high_ns);
        for (size_t i = 0; i < panel->curves[c].bins; i++)
            most = fmax(most, panel->curves[c].part[i]);
    }
    char title[ANALYSIS_NAME_MAX];
    const struct plot_panel axes = {
        .box = box,
        .x = {.min = low / 1.05, .max = high * 1.05, .log = true, .unit = PLOT_TIME, .label = "time of an operation"},
        .y = {.min = 0, .max = most * 1.08, .label = index % COLUMNS ? "" : "operations (%)"},
        .title = analysis_op_text(panel->op, title),
    };
    plot_panel(plot, &axes);
    for (size_t c = 0; c < panel->count; c++)
        draw_curve(plot, &panel->curves[c]);
}

/* Do two curves have the same sizes and rank, so that only block and set tell them apart? */
static bool are_alike(const struct analysis_distribution_test *test)
{
    char first[ANALYSIS_NAME_MAX], second[ANALYSIS_NAME_MAX];
    for (size_t i = 0; i < test->source_count; i++)
        for (size_t k = 0; k < i; k++)
            if (test->sources[i].rank == test->sources[k].rank &&
                strcmp(analysis_sizes_text(test->sources[i].chosen.set, first),
                       analysis_sizes_text(test->sources[k].chosen.set, second)) == 0)
                return true;
    return false;
}

static void draw_legend(struct plot *plot, const struct analysis_distribution_test *test, double top)
{
    const bool alike = are_alike(test);
    bool several_ranks = false;
    for (size_t i = 1; i < test->source_count; i++)
        several_ranks = several_ranks || test->sources[i].rank != test->sources[0].rank;
    for (size_t i = 0; i < test->source_count; i++) {
        const struct analysis_curve_source *source = &test->sources[i];
        char sizes[ANALYSIS_NAME_MAX], label[ANALYSIS_NAME_MAX + 96], rank[24], number[64];
        analysis_sizes_text(source->chosen.set, sizes);
        snprintf(rank, sizeof rank, "rank %d", source->rank);
        snprintf(number, sizeof number, " (block %" PRId64 ", set %" PRId64 ")", source->chosen.block_number,
                 source->chosen.set->number);
        if (!test->several_sets)
            snprintf(label, sizeof label, "%s", rank);
        else
            snprintf(label, sizeof label, "%s%s%s%s", sizes, several_ranks ? ", " : "", several_ranks ? rank : "",
                     alike ? number : "");
        plot_legend(plot, LEGEND, top + 8, (int)i, style_of(i), label);
    }
}

static void name_test(const struct analysis_distribution_test *test, char *text, size_t size)
{
    const struct analysis_chosen *chosen = &test->sources[0].chosen;
    char name[ANALYSIS_NAME_MAX], processes[ANALYSIS_NAME_MAX], sizes[ANALYSIS_NAME_MAX];
    bool same_sizes = true;
    analysis_sizes_text(chosen->set, sizes);
    for (size_t i = 1; i < test->source_count; i++)
        same_sizes = same_sizes && strcmp(analysis_sizes_text(test->sources[i].chosen.set, name), sizes) == 0;
    snprintf(text, size, "%s, %s%s%s", analysis_test_text(chosen, name),
             analysis_processes_text(blockfile_fact_of(chosen->block, "nprocs"), analysis_one_process(chosen->set),
                                     processes),
             same_sizes && sizes[0] ? ", " : "", same_sizes ? sizes : "");
}

static double test_height(const struct analysis_distribution_test *test)
{
    const size_t rows = (test->panel_count + COLUMNS - 1) / COLUMNS;
    return rows ? TEST_HEADING + (double)rows * (PANEL_HEIGHT + GAP) : 0;
}

static void draw_test(struct plot *plot, const struct analysis_distribution_test *test, double top)
{
    const double room = LEGEND - 24 - LEFT;
    const double width = test->panel_count == 1 ? room : (room - COLUMN_GAP) / 2;
    char name[3 * ANALYSIS_NAME_MAX];
    name_test(test, name, sizeof name);
    plot_heading(plot, 20, top - TEST_HEADING, name);
    for (size_t i = 0; i < test->panel_count; i++) {
        const size_t row = i / COLUMNS;
        const size_t column = i % COLUMNS;
        const struct plot_box box = {LEFT + (double)column * (width + COLUMN_GAP),
                                     top + (double)row * (PANEL_HEIGHT + GAP), width, PANEL_HEIGHT};
        draw_panel(plot, test, i, box);
    }
    draw_legend(plot, test, top);
}

pl_status analysis_distribution_plot_draw(void *context, FILE *stream, struct pl_error *error)
{
    (void)error;
    const struct analysis_distribution_plot *data = context;
    double height = TOP - TEST_HEADING;
    bool several_sets = false;
    for (size_t i = 0; i < data->test_count; i++) {
        height += test_height(&data->tests[i]);
        several_sets = several_sets || data->tests[i].several_sets;
    }
    struct plot plot;
    plot_begin(&plot, stream, WIDTH, height, "Distribution of times",
               several_sets ? "part of the operations in each bin of time; a bin is 10 % longer than the one before it"
                            : "part of the operations in each bin of time; bins of equal ratio");
    double top = TOP;
    for (size_t i = 0; i < data->test_count; i++) {
        if (data->tests[i].panel_count)
            draw_test(&plot, &data->tests[i], top);
        top += test_height(&data->tests[i]);
    }
    char note[128];
    snprintf(note, sizeof note, "%zu more curves are not drawn: choose with --test, --block, --set, --rank, --op",
             data->left_out);
    if (data->left_out)
        plot_caption(&plot, LEFT, height - 10, note);
    plot_end(&plot);
    return PL_OK;
}
