/* The three diagrams: bandwidth on a logarithmic axis against the chunk size on disk on the document's pseudo-
 * logarithmic one, where sizes stand at equal distances. A colour is a pattern type; several cases have markers of
 * their own. */
#include "bench/beffio/beffio_report.h"
#include "measure/analysis_format.h"
#include "measure/plot.h"

#include <math.h>

enum { WIDTH = 1180, LEFT = 84, TOP = 92, GAP = 58, PANEL_WIDTH = 322, PANEL_HEIGHT = 300, LEGEND = 466, ROW = 18 };
enum { CASES_MAX = 2 * PLOT_MARKERS };

struct sheet {
    const struct beffio_report *report;
    double low, high; /* MB/s, of all panels */
};

static const char *const CHUNK_NAMES[BEFFIO_CHUNKS] = {"1k", "1k+8", "32k", "32k+8", "1M", "1M+8", "M_PART"};

/* Bytes over time of the patterns of a type that have this chunk size and time units. */
static double rate_of(const struct sheet *sheet, const struct beffio_case *item, int method, int type, int chunk)
{
    double bytes = 0, ns = 0;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_result *result = beffio_results_find(&sheet->report->results[item->results], item->path,
                                                                 item->partition, (enum beffio_method)method, p);
        if (!result || result->failed || (int)BEFFIO_TABLE[p].chunk != chunk || BEFFIO_TABLE[p].units == 0)
            continue;
        bytes += (double)result->bytes;
        ns += (double)result->time_ns;
    }
    return ns > 0 ? bytes * 1e3 / ns : NAN;
}

static void find_range(struct sheet *sheet)
{
    sheet->low = INFINITY;
    sheet->high = 0;
    for (size_t i = 0; i < sheet->report->case_count; i++)
        for (int method = 0; method < BEFFIO_METHODS; method++)
            for (int type = 0; type < BEFFIO_TYPES_ALL; type++)
                for (int chunk = 0; chunk < BEFFIO_CHUNKS; chunk++) {
                    const double rate = rate_of(sheet, &sheet->report->cases[i], method, type, chunk);
                    sheet->low = rate > 0 ? fmin(sheet->low, rate) : sheet->low;
                    sheet->high = rate > 0 ? fmax(sheet->high, rate) : sheet->high;
                }
}

static struct plot_style style_of(int type, size_t item)
{
    return (struct plot_style){
        .colour = type, .marker = (enum plot_marker)(item % PLOT_MARKERS), .filled = item < PLOT_MARKERS};
}

static void draw_case(struct plot *plot, const struct sheet *sheet, size_t item, int method)
{
    for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
        double x[BEFFIO_CHUNKS], y[BEFFIO_CHUNKS];
        for (int chunk = 0; chunk < BEFFIO_CHUNKS; chunk++) {
            x[chunk] = chunk;
            y[chunk] = rate_of(sheet, &sheet->report->cases[item], method, type, chunk);
        }
        plot_line(plot, x, y, BEFFIO_CHUNKS, style_of(type, item));
        plot_points(plot, x, y, BEFFIO_CHUNKS, 3.6, style_of(type, item));
    }
}

static void draw_panel(struct plot *plot, const struct sheet *sheet, int method)
{
    static const char *const titles[BEFFIO_METHODS] = {"initial write", "rewrite", "read"};
    const struct plot_panel panel = {.box = {LEFT + method * (PANEL_WIDTH + GAP), TOP, PANEL_WIDTH, PANEL_HEIGHT},
                                     .x = {.min = -0.4,
                                           .max = BEFFIO_CHUNKS - 0.6,
                                           .names = CHUNK_NAMES,
                                           .name_count = BEFFIO_CHUNKS,
                                           .label = "contiguous chunk on disk (bytes)"},
                                     .y = {.min = sheet->low / 1.5,
                                           .max = sheet->high * 1.5,
                                           .log = true,
                                           .label = method == 0 ? "bandwidth (MB/s)" : ""},
                                     .title = titles[method]};
    plot_panel(plot, &panel);
    for (size_t i = 0; i < sheet->report->case_count; i++)
        draw_case(plot, sheet, i, method);
}

static bool has_type(const struct sheet *sheet, int type)
{
    for (size_t i = 0; i < sheet->report->case_count; i++)
        for (int chunk = 0; chunk < BEFFIO_CHUNKS; chunk++)
            if (isfinite(rate_of(sheet, &sheet->report->cases[i], BEFFIO_WRITE, type, chunk)))
                return true;
    return false;
}

static void draw_legends(struct plot *plot, const struct sheet *sheet)
{
    char words[512];
    int row = 0;
    for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
        snprintf(words, sizeof words, "type %d: %s", type, beffio_type_name(type));
        if (has_type(sheet, type))
            plot_legend(plot, LEFT, LEGEND, row++, style_of(type, 0), words);
    }
    for (size_t i = 0; i < sheet->report->case_count; i++) {
        const struct beffio_case *item = &sheet->report->cases[i];
        const char *mpiio = blockfile_fact_of(item->block, "mpiio");
        char value[ANALYSIS_CELL_MAX];
        snprintf(words, sizeof words, "%s, %d process%s, '%.60s': b_eff_io %s MB/s, %s (%.80s, run %s)",
                 mpiio ? mpiio : "unknown MPI-IO", item->partition, item->partition == 1 ? "" : "es", item->folder,
                 analysis_cell(item->value, 5, value), item->reasons.length ? "NOT OFFICIAL" : "VALID", item->file,
                 item->run);
        plot_legend(plot, LEFT + PANEL_WIDTH + GAP, LEGEND, (int)i, style_of(6, i), words);
    }
}

static pl_status draw(void *context, FILE *stream, struct pl_error *error)
{
    (void)error;
    const struct sheet *sheet = context;
    const size_t rows = sheet->report->case_count > BEFFIO_TYPES_ALL ? sheet->report->case_count : BEFFIO_TYPES_ALL;
    struct plot plot;
    plot_begin(
        &plot, stream, WIDTH, LEGEND + (double)rows * ROW + 10, "b_eff_io: bandwidth by pattern type and chunk size",
        "bytes of a pattern over its time with MPI_File_sync; chunk sizes at equal distances, +8 is not wellformed");
    for (int method = 0; method < BEFFIO_METHODS; method++)
        draw_panel(&plot, sheet, method);
    draw_legends(&plot, sheet);
    plot_end(&plot);
    return PL_OK;
}

pl_status beffio_report_plot(const struct beffio_report *report, const char *path, struct pl_error *error)
{
    if (report->case_count > CASES_MAX)
        return pl_fail(error, PL_E_UNSUPPORTED,
                       "one diagram holds up to %d partitions, and these are %zu; --block selects some", CASES_MAX,
                       report->case_count);
    struct sheet sheet = {.report = report};
    find_range(&sheet);
    if (!(sheet.high > 0))
        return pl_fail(error, PL_E_UNSUPPORTED, "no plot: nothing was measured");
    return plot_to_file(path, draw, &sheet, error);
}
