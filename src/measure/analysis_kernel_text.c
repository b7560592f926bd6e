/* The tables of kernels: rates of single times, of series, and all times. */
#include "measure/analysis_kernel.h"

#include "base/units.h"
#include "measure/analysis_format.h"
#include "measure/analysis_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char KERNEL_RATE_TEXT[] =
    "single times: bytes of the file / time of the slowest rank; series: bytes of all ranks / largest total time of a "
    "rank; MB = 10^6 bytes; mean over repeated sets";
const char KERNEL_ERROR_TEXT[] = "90 % confidence, from the spread of repeated sets; of one set with series, from the "
                                 "means of 20 consecutive batches";
const char KERNEL_IMBALANCE_TEXT[] = "time of the slowest rank / mean time of the ranks";

enum { LINE = 80 };

/* The cases of one table. */
struct part {
    const struct kernel *kernel;
    const struct kernel_case **cases; /* owned */
    size_t count;
    FILE *text;
};

static bool has_measure(const struct part *part, const char *key, bool series)
{
    for (size_t i = 0; i < part->count; i++)
        if (kernel_measure_of(part->cases[i], key, series))
            return true;
    return false;
}

static bool has_series(const struct part *part)
{
    for (size_t i = 0; i < part->count; i++)
        for (size_t m = 0; m < part->cases[i]->measure_count; m++)
            if (part->cases[i]->measures[m].series && part->cases[i]->measures[m].count)
                return true;
    return false;
}

static pl_status begin_table(const struct part *part, int numbers, struct kernel_columns *ret_columns,
                             struct pl_error *error)
{
    const pl_status status = kernel_columns_build(part->kernel, part->cases, part->count, 0, LINE - numbers,
                                                  ret_columns, error);
    if (status == PL_OK)
        kernel_columns_heading(ret_columns, part->text);
    return status;
}

/* ---- rates of single times ---- */

static void print_rate(const struct kernel_measure *measure, FILE *text)
{
    char cells[3][ANALYSIS_CELL_MAX];
    fprintf(text, " %6s %5s %4s", analysis_cell(measure ? measure->rate.value : NAN, 4, cells[0]),
            analysis_cell(measure ? measure->rate.error : NAN, 3, cells[1]),
            analysis_cell(measure ? measure->imbalance : NAN, 3, cells[2]));
}

static pl_status print_rates(const struct part *part, struct pl_error *error)
{
    static const char header[] = "sets  write     ±  imb   read     ±  imb";
    struct kernel_columns columns;
    const pl_status status = begin_table(part, kernel_text_width(header), &columns, error);
    if (status)
        return status;
    kernel_columns_print(&columns, SIZE_MAX, part->text);
    fprintf(part->text, "%s\n", header);
    for (size_t i = 0; i < part->count; i++) {
        const struct kernel_case *c = part->cases[i];
        kernel_columns_print(&columns, i, part->text);
        fprintf(part->text, "%4zu", c->sets);
        if (c->sets == 0) {
            fputs(" failed\n", part->text);
            continue;
        }
        print_rate(kernel_measure_of(c, "write", false), part->text);
        print_rate(kernel_measure_of(c, "read", false), part->text);
        fputc('\n', part->text);
    }
    kernel_columns_clear(&columns);
    return PL_OK;
}

/* ---- series ---- */

static bool has_balance(const struct part *part)
{
    for (size_t i = 0; i < part->count; i++)
        if (isfinite(kernel_value_of(part->cases[i], "balance_most_bytes")))
            return true;
    return false;
}

static struct analysis_time_unit unit_of_series(const struct part *part)
{
    double typical = INFINITY;
    for (size_t i = 0; i < part->count; i++)
        for (size_t m = 0; m < part->cases[i]->measure_count; m++) {
            const struct kernel_measure *measure = &part->cases[i]->measures[m];
            if (measure->series && measure->operation_ns.value > 0)
                typical = fmin(typical, measure->operation_ns.value);
        }
    return analysis_time_unit(isfinite(typical) ? typical : 1);
}

static const char *bytes_cell(double bytes, char cell[UNITS_TEXT_MAX])
{
    if (isnan(bytes))
        snprintf(cell, UNITS_TEXT_MAX, "-");
    else
        analysis_bytes_text(bytes, cell);
    return cell;
}

static void print_series_row(const struct part *part, const struct kernel_columns *columns, size_t row,
                             const struct kernel_measure *measure, double unit_ns)
{
    const struct kernel_case *c = part->cases[row];
    char cells[6][ANALYSIS_CELL_MAX], least[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];
    kernel_columns_print(columns, row, part->text);
    fprintf(part->text, "%4zu %-3.3s %8s %6s %5s %6s %4s", c->sets, measure->key,
            analysis_count_cell((int64_t)round(measure->operations), cells[0]),
            analysis_cell(measure->rate.value, 4, cells[1]), analysis_cell(measure->rate.error, 3, cells[2]),
            analysis_cell(measure->operation_ns.value / unit_ns, 4, cells[3]),
            analysis_cell(measure->imbalance, 3, cells[4]));
    if (has_balance(part))
        fprintf(part->text, " %7s %7s", bytes_cell(kernel_value_of(c, "balance_least_bytes"), least),
                bytes_cell(kernel_value_of(c, "balance_most_bytes"), most));
    fputc('\n', part->text);
}

static pl_status print_series(const struct part *part, struct pl_error *error)
{
    static const char header[] = "sets op         n   MB/s     ±   mean  imb";
    struct kernel_columns columns;
    const bool balance = has_balance(part);
    const struct analysis_time_unit unit = unit_of_series(part);
    const pl_status status = begin_table(part, kernel_text_width(header) + (balance ? 16 : 0), &columns, error);
    if (status)
        return status;
    fprintf(part->text, "  n operations, mean time of one in %s%s\n", unit.name,
            balance ? ", least and most bytes of a rank" : "");
    kernel_columns_print(&columns, SIZE_MAX, part->text);
    fprintf(part->text, "%s%s\n", header, balance ? "   least    most" : "");
    for (size_t i = 0; i < part->count; i++) {
        const struct kernel_case *c = part->cases[i];
        for (size_t m = 0; m < c->measure_count; m++)
            if (c->measures[m].series && c->measures[m].count)
                print_series_row(part, &columns, i, &c->measures[m], unit.ns);
        if (c->sets == 0) {
            kernel_columns_print(&columns, i, part->text);
            fputs("   0 failed\n", part->text);
        }
    }
    kernel_columns_clear(&columns);
    return PL_OK;
}

/* ---- all times ---- */

/* A column: a single time, its rate (of write and read: in a table of their own), or a number that the run found. */
enum figure_kind { FIGURE_TIME, FIGURE_RATE, FIGURE_VALUE };

enum { FIGURES_MAX = 64, CELL_MIN = 7, NAME_COLUMNS = 20 };

struct figure {
    const char *key;
    enum figure_kind kind;
    char name[NAME_COLUMNS + 8];
    int width;
};

/* Without "_time", but for the names that would be taken for the measured write and read. */
static int name_length(const char *key, enum figure_kind kind)
{
    const size_t length = strlen(key);
    const bool tail = kind == FIGURE_TIME && length > 5 && strcmp(key + length - 5, "_time") == 0 &&
                      strcmp(key, "write_time") != 0 && strcmp(key, "read_time") != 0;
    const size_t shown = tail ? length - 5 : length;
    return (int)(shown < NAME_COLUMNS ? shown : NAME_COLUMNS);
}

static void add_figure(struct figure *figures, size_t *count, const char *key, enum figure_kind kind)
{
    for (size_t i = 0; i < *count; i++)
        if (figures[i].kind == kind && strcmp(figures[i].key, key) == 0)
            return;
    if (*count == FIGURES_MAX)
        return;
    struct figure *figure = &figures[(*count)++];
    *figure = (struct figure){.key = key, .kind = kind};
    snprintf(figure->name, sizeof figure->name, "%.*s%s", name_length(key, kind), key,
             kind == FIGURE_RATE ? " MB/s" : "");
    const int width = kernel_text_width(figure->name);
    figure->width = width > CELL_MIN ? width : CELL_MIN;
}

/* The bytes of a single time are in its rate. */
static bool is_bytes_of_time(const struct kernel_case *c, const char *value)
{
    for (size_t i = 0; i < c->measure_count; i++) {
        const size_t length = strlen(c->measures[i].key);
        if (strncmp(value, c->measures[i].key, length) == 0 && strcmp(value + length, "_bytes") == 0)
            return true;
    }
    return false;
}

static void add_figures_of(const struct kernel_case *c, struct figure *figures, size_t *count)
{
    for (size_t i = 0; i < c->measure_count; i++) {
        const struct kernel_measure *measure = &c->measures[i];
        if (measure->series)
            continue;
        add_figure(figures, count, measure->key, FIGURE_TIME);
        if (isfinite(measure->rate.value) && strcmp(measure->key, "write") != 0 && strcmp(measure->key, "read") != 0)
            add_figure(figures, count, measure->key, FIGURE_RATE);
    }
}

static size_t find_figures(const struct part *part, struct figure figures[FIGURES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < part->count; i++)
        add_figures_of(part->cases[i], figures, &count);
    for (size_t i = 0; i < part->count; i++)
        for (size_t v = 0; v < part->cases[i]->value_count; v++) {
            const char *key = part->cases[i]->values[v].key;
            if (strncmp(key, "balance_", 8) != 0 && !is_bytes_of_time(part->cases[i], key))
                add_figure(figures, &count, key, FIGURE_VALUE);
        }
    return count;
}

static void print_figure(const struct kernel_case *c, const struct figure *figure, FILE *text)
{
    char cell[ANALYSIS_CELL_MAX];
    const struct kernel_measure *measure = kernel_measure_of(c, figure->key, false);
    const double value = kernel_value_of(c, figure->key);
    if (figure->kind == FIGURE_VALUE && isfinite(value))
        snprintf(cell, sizeof cell, fabs(value) < 1e7 && value == round(value) ? "%.0f" : "%.3g", value);
    else if (figure->kind == FIGURE_RATE)
        analysis_cell(measure ? measure->rate.value : NAN, 4, cell);
    else
        analysis_cell(measure ? measure->longest_ns.value / 1e6 : NAN, 4, cell);
    fprintf(text, " %*s", figure->width, cell);
}

static void print_figures(const struct part *part, const struct kernel_columns *columns, const struct figure *figures,
                          size_t count)
{
    kernel_columns_print(columns, SIZE_MAX, part->text);
    for (size_t f = 0; f < count; f++)
        fprintf(part->text, " %*s", figures[f].width, figures[f].name);
    fputc('\n', part->text);
    for (size_t i = 0; i < part->count; i++) {
        kernel_columns_print(columns, i, part->text);
        if (part->cases[i]->sets == 0)
            fputs(" failed", part->text);
        for (size_t f = 0; f < count && part->cases[i]->sets; f++)
            print_figure(part->cases[i], &figures[f], part->text);
        fputc('\n', part->text);
    }
}

static pl_status print_times(const struct part *part, bool alone, struct pl_error *error)
{
    enum { ROOM = 30 };
    struct figure figures[FIGURES_MAX];
    const size_t count = find_figures(part, figures);
    struct kernel_columns columns;
    if (count == 0)
        return PL_OK;
    pl_status status = kernel_columns_build(part->kernel, part->cases, part->count, 0, ROOM, &columns, error);
    if (status)
        return status;
    fprintf(part->text, "  all times in ms, of the slowest rank:\n");
    if (!alone) /* stands above already */
        text_clear(&columns.fixed);
    kernel_columns_heading(&columns, part->text);
    const int left = LINE - kernel_columns_width(&columns);
    for (size_t first = 0, end; first < count; first = end) {
        int width = figures[first].width + 1;
        for (end = first + 1; end < count && width + figures[end].width + 1 <= left; end++)
            width += figures[end].width + 1;
        print_figures(part, &columns, figures + first, end - first);
    }
    kernel_columns_clear(&columns);
    return PL_OK;
}

/* ---- remarks ---- */

static const char *used_hint(const struct blockfile_set *set, const char *key)
{
    for (size_t i = 0; i < set->hint_count; i++)
        if (set->hints[i].used && strcmp(set->hints[i].key, key) == 0)
            return set->hints[i].value;
    return NULL;
}

static bool holds_line(const struct text *lines, const char *line)
{
    const size_t length = strlen(line);
    for (const char *at = text_get(lines); *at; at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") == length && strncmp(at, line, length) == 0)
            return true;
    return false;
}

static void add_line(struct text *lines, size_t *count, const char *line)
{
    if (holds_line(lines, line))
        return;
    ++*count;
    text_format(lines, "%s\n", line);
}

/* Hints that the library did not take as asked, and the warnings of the run: each once. */
static void print_remarks(const struct part *part)
{
    enum { SHOWN = 8 };
    struct text lines = {0};
    size_t count = 0;
    for (size_t i = 0; i < part->count && count < SHOWN; i++) {
        const struct blockfile_set *set = part->cases[i]->first.set;
        char line[512];
        for (size_t h = 0; h < set->hint_count && set->error_count == 0; h++) {
            const struct blockfile_hint *hint = &set->hints[h];
            const char *used = hint->used ? NULL : used_hint(set, hint->key);
            if (!used || strcmp(used, hint->value) == 0)
                continue;
            snprintf(line, sizeof line, "hint %.60s: asked for %.150s, in force %.150s", hint->key, hint->value, used);
            add_line(&lines, &count, line);
        }
        for (size_t w = 0; w < set->warning_count; w++) {
            snprintf(line, sizeof line, "warning: %.480s", set->warnings[w]);
            add_line(&lines, &count, line);
        }
    }
    for (const char *at = text_get(&lines); *at; at += strcspn(at, "\n") + 1) {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        kernel_print_wrapped(line, 2, part->text);
    }
    text_clear(&lines);
}

/* ---- one table after the other ---- */

static void print_title(const struct part *part)
{
    const char *const *traits = part->kernel->tables[part->cases[0]->table].traits;
    char processes[ANALYSIS_NAME_MAX];
    fprintf(part->text, "%.40s: %s", traits[KERNEL_TEST],
            analysis_processes_text(traits[KERNEL_NPROCS], false, processes));
    analysis_print_place(traits[KERNEL_MPIIO], traits[KERNEL_FILESYSTEM], part->text);
}

static bool all_failed(const struct part *part)
{
    for (size_t i = 0; i < part->count; i++)
        if (part->cases[i]->sets)
            return false;
    return true;
}

static pl_status print_part(const struct part *part, struct pl_error *error)
{
    const bool rates = has_measure(part, "write", false) || has_measure(part, "read", false) || all_failed(part);
    const bool series = has_series(part);
    pl_status status = PL_OK;
    print_title(part);
    if (rates)
        status = print_rates(part, error);
    if (status == PL_OK && series)
        status = print_series(part, error);
    if (status == PL_OK && (part->kernel->request->times || (!rates && !series)))
        status = print_times(part, !rates && !series, error);
    print_remarks(part);
    fputc('\n', part->text);
    return status;
}

pl_status kernel_print_tables(const struct kernel *kernel, FILE *text, struct pl_error *error)
{
    struct part part = {.kernel = kernel, .cases = kernel_list_new(kernel), .text = text};
    if (!part.cases)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a table");
    pl_status status = PL_OK;
    for (size_t first = 0; first < kernel->case_count && status == PL_OK; first += part.count) {
        part.count = 0;
        for (size_t i = first; i < kernel->case_count && kernel->cases[i].table == kernel->cases[first].table; i++)
            part.cases[part.count++] = &kernel->cases[i];
        status = print_part(&part, error);
    }
    free(part.cases);
    return status;
}
