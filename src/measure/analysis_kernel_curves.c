/* Which curves the figure of kernels has: a row for each test, a curve for each grid, distribution, access and hint
 * value. x is the problem size, or the block size where that alone varies; bars where no curve would have two points.
 */
#include "measure/analysis_kernel_plot.h"

#include "base/units.h"
#include "measure/analysis_names.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a case gives ---- */

static const struct kernel_measure *direction_of(const struct kernel_case *c, int direction)
{
    static const struct {
        const char *key;
        bool series;
    } keys[KERNEL_DIRECTIONS][3] = {{{"write", false}, {"w", true}, {"u", true}},
                                    {{"read", false}, {"r", true}, {"r", true}}};
    for (size_t i = 0; i < 3; i++) {
        const struct kernel_measure *measure = kernel_measure_of(c, keys[direction][i].key, keys[direction][i].series);
        if (measure && isfinite(measure->rate.value) && measure->rate.value > 0)
            return measure;
    }
    return NULL;
}

static bool is_drawn(const struct kernel_case *c)
{
    return direction_of(c, 0) || direction_of(c, 1);
}

bool kernel_can_plot(const struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->case_count; i++)
        if (is_drawn(&kernel->cases[i]))
            return true;
    return false;
}

static double x_of(const struct kernel_case *c, enum kernel_x kind)
{
    double bytes = NAN;
    if (kind == KERNEL_X_FILE)
        return c->file_bytes;
    if (kind == KERNEL_X_BLOCK && !units_parse_number(c->facets[KERNEL_BLOCK], &bytes))
        return NAN;
    return bytes;
}

/* At least two sizes, and each case has one. */
static bool varies(const struct kernel_case *const *cases, size_t count, enum kernel_x kind)
{
    bool differs = false;
    for (size_t i = 0; i < count; i++) {
        const double x = x_of(cases[i], kind);
        if (!(x > 0))
            return false;
        differs = differs || x != x_of(cases[0], kind);
    }
    return differs;
}

/* ---- curves ---- */

static bool curve_init(struct kernel_curve *curve, size_t points)
{
    double *numbers = calloc(5 * points + 1, sizeof *numbers);
    curve->x = numbers;
    for (int d = 0; numbers && d < KERNEL_DIRECTIONS; d++) {
        curve->rate[d] = numbers + (size_t)(1 + 2 * d) * points;
        curve->error[d] = numbers + (size_t)(2 + 2 * d) * points;
    }
    return numbers != NULL;
}

static void widen(struct kernel_row *row, double value)
{
    if (!isfinite(value) || value <= 0)
        return;
    row->low = fmin(row->low, value);
    row->high = fmax(row->high, value);
}

/* A large error must not squeeze all curves: bars count up to a factor of 1.5 and are cut at the frame. */
static void add_point(struct kernel_row *row, struct kernel_curve *curve, const struct kernel_case *c, double x)
{
    const size_t at = curve->count++;
    curve->x[at] = x;
    row->x_low = fmin(row->x_low, x);
    row->x_high = fmax(row->x_high, x);
    for (int d = 0; d < KERNEL_DIRECTIONS; d++) {
        const struct kernel_measure *measure = direction_of(c, d);
        curve->rate[d][at] = measure ? measure->rate.value : NAN;
        curve->error[d][at] = measure ? measure->rate.error : NAN;
        row->has[d] = row->has[d] || measure;
        widen(row, curve->rate[d][at]);
        if (measure && isfinite(measure->rate.error)) {
            widen(row, fmin(measure->rate.value + measure->rate.error, 1.5 * measure->rate.value));
            widen(row, fmax(measure->rate.value - measure->rate.error, measure->rate.value / 1.5));
        }
    }
}

/* The cases of a row, the number of each one's curve, and a case of each curve. */
struct variants {
    const struct kernel_case **cases;
    size_t *curve_of;
    size_t *shown_by;
    size_t count, curves;
};

static bool same_label(const struct kernel_columns *columns, size_t a, size_t b)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->columns[i].cells[a], columns->columns[i].cells[b]) != 0)
            return false;
    return true;
}

static void find_variants(struct variants *variants, const struct kernel_columns *columns)
{
    for (size_t i = 0; i < variants->count; i++) {
        size_t curve = 0;
        while (curve < variants->curves && !same_label(columns, i, variants->shown_by[curve]))
            curve++;
        if (curve == variants->curves)
            variants->shown_by[variants->curves++] = i;
        variants->curve_of[i] = curve;
    }
}

/* Of too many curves the first, the last, and some evenly between. SIZE_MAX: not drawn. */
static size_t place_of(size_t curve, size_t curves)
{
    if (curves <= KERNEL_PLOT_CURVES)
        return curve;
    for (size_t i = 0; i < KERNEL_PLOT_CURVES; i++)
        if (i * (curves - 1) / (KERNEL_PLOT_CURVES - 1) == curve)
            return i;
    return SIZE_MAX;
}

static void tell_left_out(struct kernel *kernel, size_t table, const struct text *label)
{
    char processes[ANALYSIS_NAME_MAX];
    const char *const *traits = kernel->tables[table].traits;
    text_format(&kernel->left_out, "  %.40s, %s%s%s\n", traits[KERNEL_TEST],
                analysis_processes_text(traits[KERNEL_NPROCS], false, processes), label ? ": " : "",
                label ? text_get(label) : "");
}

static bool fill_curves(struct kernel_figure *figure, struct kernel_row *row, const struct variants *variants,
                        const struct kernel_columns *columns)
{
    for (size_t curve = 0; curve < variants->curves; curve++) {
        struct text label = {0};
        const size_t place = place_of(curve, variants->curves);
        kernel_columns_label(columns, variants->shown_by[curve], &label);
        if (label.length == 0) /* one curve: what it is stands among what all have in common */
            text_add(&label, columns->fixed.length ? columns->fixed.data : "all selected sets");
        if (place == SIZE_MAX) {
            tell_left_out(figure->kernel, row->table, &label);
            text_clear(&label);
            continue;
        }
        row->curves[place].label = label;
        row->curve_count = place + 1;
        if (label.failed || !curve_init(&row->curves[place], variants->count))
            return false;
    }
    for (size_t i = 0; i < variants->count; i++) {
        const size_t place = place_of(variants->curve_of[i], variants->curves);
        if (place != SIZE_MAX)
            add_point(row, &row->curves[place], variants->cases[i],
                      row->kind == KERNEL_X_NONE ? (double)place + 0.5 : x_of(variants->cases[i], row->kind));
    }
    return true;
}

/* ---- rows ---- */

/* The first kind of x axis on which some curve has two points; else bars. */
static pl_status choose_kind(const struct kernel *kernel, struct variants *variants, enum kernel_x *ret_kind,
                             struct kernel_columns *ret_columns, struct pl_error *error)
{
    static const unsigned skips[] = {
        [KERNEL_X_FILE] = 1U << KERNEL_SIZE, [KERNEL_X_BLOCK] = 1U << KERNEL_BLOCK, [KERNEL_X_NONE] = 0};
    for (int kind = KERNEL_X_FILE; kind <= KERNEL_X_NONE; kind++) {
        if (kind != KERNEL_X_NONE && !varies(variants->cases, variants->count, (enum kernel_x)kind))
            continue;
        const pl_status status = kernel_columns_build(kernel, variants->cases, variants->count, skips[kind], INT_MAX,
                                                      ret_columns, error);
        if (status)
            return status;
        variants->curves = 0;
        find_variants(variants, ret_columns);
        *ret_kind = (enum kernel_x)kind;
        if (kind == KERNEL_X_NONE || variants->curves < variants->count)
            break;
        kernel_columns_clear(ret_columns);
    }
    return PL_OK;
}

static pl_status fill_row(struct kernel_figure *figure, struct kernel_row *row, struct variants *variants,
                          struct pl_error *error)
{
    struct kernel_columns columns;
    *row = (struct kernel_row){.table = variants->cases[0]->table, .x_low = INFINITY, .low = INFINITY};
    const pl_status status = choose_kind(figure->kernel, variants, &row->kind, &columns, error);
    if (status)
        return status;
    const bool done = fill_curves(figure, row, variants, &columns);
    kernel_columns_clear(&columns);
    if (!done)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    return PL_OK;
}

static size_t collect_cases(const struct kernel *kernel, size_t table, const struct kernel_case **ret_cases)
{
    size_t count = 0;
    for (size_t i = 0; i < kernel->case_count; i++)
        if (kernel->cases[i].table == table && is_drawn(&kernel->cases[i]))
            ret_cases[count++] = &kernel->cases[i];
    return count;
}

static pl_status fill_rows(struct kernel_figure *figure, struct variants *variants, struct pl_error *error)
{
    struct kernel *kernel = figure->kernel;
    pl_status status = PL_OK;
    for (size_t table = 0; table < kernel->table_count && status == PL_OK; table++) {
        variants->count = collect_cases(kernel, table, variants->cases);
        if (variants->count == 0)
            continue;
        if (figure->row_count == KERNEL_PLOT_ROWS)
            tell_left_out(kernel, table, NULL);
        else
            status = fill_row(figure, &figure->rows[figure->row_count++], variants, error);
    }
    return status;
}

pl_status kernel_figure_fill(struct kernel_figure *figure, struct pl_error *error)
{
    const size_t room = figure->kernel->case_count + 1;
    struct variants variants = {.cases = kernel_list_new(figure->kernel),
                                .curve_of = malloc(room * sizeof *variants.curve_of),
                                .shown_by = malloc(room * sizeof *variants.shown_by)};
    const bool there = variants.cases && variants.curve_of && variants.shown_by;
    const pl_status status = there ? fill_rows(figure, &variants, error)
                                   : pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    free(variants.cases);
    free(variants.curve_of);
    free(variants.shown_by);
    return status;
}

void kernel_figure_clear(struct kernel_figure *figure)
{
    for (size_t r = 0; r < figure->row_count; r++)
        for (size_t i = 0; i < figure->rows[r].curve_count; i++) {
            text_clear(&figure->rows[r].curves[i].label);
            free(figure->rows[r].curves[i].x);
        }
}
