/* Cases held against each other: matrix2D against gatherscat2D, transpose by the file against by messages, hints. */
#include "measure/analysis_kernel.h"

#include "measure/analysis_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 80 };

/* ---- which cases ---- */

bool kernel_is_test(const struct kernel *kernel, const struct kernel_case *c, const char *testname)
{
    return strcmp(kernel->tables[c->table].traits[KERNEL_TEST], testname) == 0;
}

bool kernel_same_but_hints(const struct kernel_case *a, const struct kernel_case *b)
{
    if (a->table != b->table)
        return false;
    for (int i = 0; i < KERNEL_FACETS; i++)
        if (i != KERNEL_HINTS && strcmp(a->facets[i], b->facets[i]) != 0)
            return false;
    return true;
}

/* In what matrix2D and gatherscat2D have both; gatherscat2D has no choice of access. */
static bool same_matrix(const struct kernel *kernel, const struct kernel_case *a, const struct kernel_case *b)
{
    static const enum kernel_facet facets[] = {KERNEL_SIZE, KERNEL_GRID, KERNEL_DISTRIBUTION, KERNEL_OTHER};
    const struct kernel_table *tables = kernel->tables;
    for (int i = KERNEL_NPROCS; i < KERNEL_TRAITS; i++)
        if (strcmp(tables[a->table].traits[i], tables[b->table].traits[i]) != 0)
            return false;
    for (size_t i = 0; i < sizeof facets / sizeof facets[0]; i++)
        if (strcmp(a->facets[facets[i]], b->facets[facets[i]]) != 0)
            return false;
    return true;
}

size_t kernel_gather_for(const struct kernel *kernel, const struct kernel_case *matrix)
{
    size_t without_hints = SIZE_MAX;
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        if (c->sets == 0 || !kernel_is_test(kernel, c, "gatherscat2D") || !same_matrix(kernel, c, matrix))
            continue;
        if (strcmp(c->facets[KERNEL_HINTS], matrix->facets[KERNEL_HINTS]) == 0)
            return i;
        if (c->facets[KERNEL_HINTS][0] == '\0')
            without_hints = i;
    }
    return without_hints;
}

struct kernel_exchange kernel_exchange(const struct kernel_case *matrix, const struct kernel_case *gather)
{
    return (struct kernel_exchange){
        .matrix_write = kernel_longest_ns(matrix, "write"),
        .gather_write = kernel_longest_ns(gather, "gather") + kernel_longest_ns(gather, "write"),
        .matrix_read = kernel_longest_ns(matrix, "read"),
        .scatter_read = kernel_longest_ns(gather, "read") + kernel_longest_ns(gather, "scatter"),
    };
}

size_t kernel_sweep(const struct kernel *kernel, size_t first, size_t *ret_members)
{
    size_t count = 0;
    for (size_t i = 0; i < kernel->case_count; i++) {
        if (!kernel_same_but_hints(&kernel->cases[first], &kernel->cases[i]))
            continue;
        if (i < first)
            return 0;
        ret_members[count++] = i;
    }
    return count > 1 ? count : 0;
}

size_t kernel_best(const struct kernel *kernel, const size_t *members, size_t count, const char *key, bool series)
{
    size_t best = SIZE_MAX;
    size_t rated = 0;
    double highest = -1;
    for (size_t i = 0; i < count; i++) {
        const struct kernel_measure *measure = kernel_measure_of(&kernel->cases[members[i]], key, series);
        if (!measure || !isfinite(measure->rate.value))
            continue;
        rated++;
        if (measure->rate.value > highest) {
            highest = measure->rate.value;
            best = members[i];
        }
    }
    return rated > 1 ? best : SIZE_MAX;
}

static pl_status no_memory(struct pl_error *error)
{
    return pl_fail(error, PL_E_NOMEM, "not enough memory for a table");
}

/* "  12.34   1.234   10.0": two times in ms, and their ratio. */
static void print_times(double a_ns, double b_ns, double ratio, FILE *text)
{
    char cells[3][ANALYSIS_CELL_MAX];
    fprintf(text, " %8s %8s %6s", analysis_cell(a_ns / 1e6, 4, cells[0]), analysis_cell(b_ns / 1e6, 4, cells[1]),
            analysis_cell(ratio, 3, cells[2]));
}

/* ---- matrix2D against gatherscat2D ---- */

static pl_status print_exchange(const struct kernel *kernel, const struct kernel_case *const *cases, size_t count,
                                FILE *text, struct pl_error *error)
{
    enum { NUMBERS = 2 * 25 };
    struct kernel_columns columns;
    const pl_status status = kernel_columns_build(kernel, cases, count, 0, LINE - NUMBERS, &columns, error);
    if (status)
        return status;
    fprintf(text, "matrix2D against gatherscat2D: longest time in ms from all ranks to the file\n"
                  "(write; gather + write) and back (read; read + scatter); ratio above 1:\n"
                  "matrix2D is the faster one\n");
    kernel_columns_heading(&columns, text);
    const int width = kernel_columns_width(&columns);
    fprintf(text, "%*s %24s %24s\n", width, "", "to the file", "back");
    kernel_columns_print(&columns, SIZE_MAX, text);
    fputs("   matrix   gather  ratio   matrix  scatter  ratio\n", text);
    for (size_t i = 0; i < count; i++) {
        const struct kernel_exchange times = kernel_exchange(cases[i],
                                                             &kernel->cases[kernel_gather_for(kernel, cases[i])]);
        kernel_columns_print(&columns, i, text);
        print_times(times.matrix_write, times.gather_write, times.gather_write / times.matrix_write, text);
        print_times(times.matrix_read, times.scatter_read, times.scatter_read / times.matrix_read, text);
        fputc('\n', text);
    }
    fputc('\n', text);
    kernel_columns_clear(&columns);
    return PL_OK;
}

/* ---- transpose ---- */

static pl_status print_transpose(const struct kernel *kernel, const struct kernel_case *const *cases, size_t count,
                                 FILE *text, struct pl_error *error)
{
    enum { NUMBERS = 25 };
    struct kernel_columns columns;
    const pl_status status = kernel_columns_build(kernel, cases, count, 0, LINE - NUMBERS, &columns, error);
    if (status)
        return status;
    fprintf(text, "transpose: longest time in ms to read through a transposing view against the\n"
                  "same by messages (internal); ratio above 1: messages are faster\n");
    kernel_columns_heading(&columns, text);
    kernel_columns_print(&columns, SIZE_MAX, text);
    fputs("     read internal  ratio\n", text);
    for (size_t i = 0; i < count; i++) {
        const double read = kernel_longest_ns(cases[i], "read");
        const double internal = kernel_longest_ns(cases[i], "internal");
        kernel_columns_print(&columns, i, text);
        print_times(read, internal, read / internal, text);
        fputc('\n', text);
    }
    fputc('\n', text);
    kernel_columns_clear(&columns);
    return PL_OK;
}

static bool is_exchanged(const struct kernel *kernel, const struct kernel_case *c)
{
    if (c->sets == 0 || !kernel_is_test(kernel, c, "matrix2D"))
        return false;
    const size_t gather = kernel_gather_for(kernel, c);
    if (gather == SIZE_MAX)
        return false;
    const struct kernel_exchange times = kernel_exchange(c, &kernel->cases[gather]);
    return isfinite(times.gather_write / times.matrix_write) || isfinite(times.scatter_read / times.matrix_read);
}

static bool is_transposed(const struct kernel *kernel, const struct kernel_case *c)
{
    return kernel_is_test(kernel, c, "transpose") &&
           isfinite(kernel_longest_ns(c, "read") / kernel_longest_ns(c, "internal"));
}

/* Of one table: the cases for which is_wanted() holds. */
static pl_status print_wanted(const struct kernel *kernel, size_t table,
                              bool (*is_wanted)(const struct kernel *, const struct kernel_case *),
                              pl_status (*print)(const struct kernel *, const struct kernel_case *const *, size_t,
                                                 FILE *, struct pl_error *),
                              FILE *text, struct pl_error *error)
{
    const struct kernel_case **cases = kernel_list_new(kernel);
    if (!cases)
        return no_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < kernel->case_count; i++)
        if (kernel->cases[i].table == table && is_wanted(kernel, &kernel->cases[i]))
            cases[count++] = &kernel->cases[i];
    const pl_status status = count ? print(kernel, cases, count, text, error) : PL_OK;
    free(cases);
    return status;
}

pl_status kernel_print_comparisons(const struct kernel *kernel, FILE *text, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t table = 0; table < kernel->table_count && status == PL_OK; table++) {
        status = print_wanted(kernel, table, is_exchanged, print_exchange, text, error);
        if (status == PL_OK)
            status = print_wanted(kernel, table, is_transposed, print_transpose, text, error);
    }
    return status;
}
