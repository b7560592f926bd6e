/* Sets that differ in their hints only, side by side. */
#include "measure/analysis_kernel.h"

#include "measure/analysis_format.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 80, OP = 6, CELL = 10 };
enum { KEYS_MAX = 16 };

/* All sweeps of a table. */
struct sweeps {
    const struct kernel *kernel;
    const struct kernel_case **cases; /* all members, one sweep behind the other */
    size_t count;
    size_t *sweep_of;                 /* number of each member's sweep */
    const struct kernel_case **bases; /* the first member of each sweep */
    size_t sweep_count;
    size_t *members;             /* scratch */
    struct kernel_columns hints; /* a row for each member */
    size_t *labels;              /* the member that shows each distinct value of the hints */
    size_t label_count;
    struct kernel_columns columns; /* a row for each sweep */
    bool coded;
};

static bool init(struct sweeps *sweeps, const struct kernel *kernel)
{
    const size_t room = kernel->case_count + 1;
    *sweeps = (struct sweeps){.kernel = kernel,
                              .cases = kernel_list_new(kernel),
                              .sweep_of = malloc(room * sizeof *sweeps->sweep_of),
                              .bases = kernel_list_new(kernel),
                              .members = malloc(room * sizeof *sweeps->members),
                              .labels = malloc(room * sizeof *sweeps->labels)};
    return sweeps->cases && sweeps->sweep_of && sweeps->bases && sweeps->members && sweeps->labels;
}

static void clear(struct sweeps *sweeps)
{
    free(sweeps->cases);
    free(sweeps->sweep_of);
    free(sweeps->bases);
    free(sweeps->members);
    free(sweeps->labels);
    kernel_columns_clear(&sweeps->hints);
    kernel_columns_clear(&sweeps->columns);
}

/* Some measure has a rate with two values of the hints. */
static bool has_best(const struct kernel *kernel, const size_t *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct kernel_case *c = &kernel->cases[members[i]];
        for (size_t m = 0; m < c->measure_count; m++)
            if (kernel_best(kernel, members, count, c->measures[m].key, c->measures[m].series) != SIZE_MAX)
                return true;
    }
    return false;
}

static void collect(struct sweeps *sweeps, size_t table)
{
    const struct kernel *kernel = sweeps->kernel;
    for (size_t i = 0; i < kernel->case_count; i++) {
        if (kernel->cases[i].table != table)
            continue;
        const size_t count = kernel_sweep(kernel, i, sweeps->members);
        if (!has_best(kernel, sweeps->members, count))
            continue;
        for (size_t m = 0; m < count; m++) {
            sweeps->sweep_of[sweeps->count] = sweeps->sweep_count;
            sweeps->cases[sweeps->count++] = &kernel->cases[sweeps->members[m]];
        }
        sweeps->bases[sweeps->sweep_count++] = &kernel->cases[i];
    }
}

static const char *hint_text(const struct sweeps *sweeps, size_t member)
{
    return sweeps->hints.columns[0].cells[member];
}

static bool same_hints(const struct sweeps *sweeps, size_t a, size_t b)
{
    return strcmp(sweeps->cases[a]->facets[KERNEL_HINTS], sweeps->cases[b]->facets[KERNEL_HINTS]) == 0;
}

static void find_labels(struct sweeps *sweeps)
{
    for (size_t i = 0; i < sweeps->count; i++) {
        size_t label = 0;
        while (label < sweeps->label_count && !same_hints(sweeps, i, sweeps->labels[label]))
            label++;
        if (label == sweeps->label_count)
            sweeps->labels[sweeps->label_count++] = i;
        sweeps->coded = sweeps->coded || kernel_text_width(hint_text(sweeps, i)) > CELL - 2;
    }
}

/* SIZE_MAX: the sweep was not run with these hints. */
static size_t member_with(const struct sweeps *sweeps, size_t sweep, size_t label)
{
    for (size_t i = 0; i < sweeps->count; i++)
        if (sweeps->sweep_of[i] == sweep && same_hints(sweeps, i, sweeps->labels[label]))
            return i;
    return SIZE_MAX;
}

static void print_labels(const struct sweeps *sweeps, size_t first, size_t end, FILE *text)
{
    kernel_columns_print(&sweeps->columns, SIZE_MAX, text);
    fprintf(text, "%-*s", OP, "");
    for (size_t i = first; i < end; i++) {
        char letters[8];
        fprintf(text, "%s%*s", i > first ? " " : "", CELL - 1,
                sweeps->coded ? kernel_letters(i, letters) : hint_text(sweeps, sweeps->labels[i]));
    }
    fputc('\n', text);
}

static void print_op(const struct sweeps *sweeps, size_t sweep, const struct kernel_measure *op, size_t first,
                     size_t end, FILE *text)
{
    const struct kernel *kernel = sweeps->kernel;
    const size_t count = kernel_sweep(kernel, (size_t)(sweeps->bases[sweep] - kernel->cases), sweeps->members);
    const size_t best = kernel_best(kernel, sweeps->members, count, op->key, op->series);
    if (best == SIZE_MAX)
        return;
    kernel_columns_print(&sweeps->columns, sweep, text);
    fprintf(text, "%-*.*s", OP, OP - 1, op->key);
    for (size_t i = first; i < end; i++) {
        const size_t member = member_with(sweeps, sweep, i);
        const struct kernel_case *c = member == SIZE_MAX ? NULL : sweeps->cases[member];
        const struct kernel_measure *measure = c ? kernel_measure_of(c, op->key, op->series) : NULL;
        char cell[ANALYSIS_CELL_MAX];
        const char *number = c && c->sets == 0 ? "failed" : "-";
        fprintf(text, "%*s%c", CELL - 1, measure ? analysis_cell(measure->rate.value, 4, cell) : number,
                c == &kernel->cases[best] ? '*'
                : i + 1 < end             ? ' '
                                          : '\n');
        if (c == &kernel->cases[best] && i + 1 == end)
            fputc('\n', text);
    }
}

/* A measure of any member of the sweep for each key that has a rate. */
static size_t find_ops(const struct sweeps *sweeps, size_t sweep, const struct kernel_measure *ops[KEYS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < sweeps->count; i++)
        for (size_t m = 0; sweeps->sweep_of[i] == sweep && m < sweeps->cases[i]->measure_count; m++) {
            const struct kernel_measure *measure = &sweeps->cases[i]->measures[m];
            size_t known = 0;
            while (known < count &&
                   (ops[known]->series != measure->series || strcmp(ops[known]->key, measure->key) != 0))
                known++;
            if (known == count && count < KEYS_MAX && isfinite(measure->rate.value))
                ops[count++] = measure;
        }
    return count;
}

static void print_part(const struct sweeps *sweeps, size_t first, size_t end, FILE *text)
{
    print_labels(sweeps, first, end, text);
    for (size_t sweep = 0; sweep < sweeps->sweep_count; sweep++) {
        const struct kernel_measure *ops[KEYS_MAX];
        const size_t count = find_ops(sweeps, sweep, ops);
        for (size_t op = 0; op < count; op++)
            print_op(sweeps, sweep, ops[op], first, end, text);
    }
}

static void print_legend(const struct sweeps *sweeps, FILE *text)
{
    struct text line = {0};
    for (size_t i = 0; sweeps->coded && i < sweeps->label_count; i++) {
        char letters[8];
        text_format(&line, "%s: %s%s", kernel_letters(i, letters), hint_text(sweeps, sweeps->labels[i]),
                    i + 1 < sweeps->label_count ? ", " : "");
    }
    kernel_print_wrapped(text_get(&line), 2, text);
    text_clear(&line);
    kernel_print_wrapped(text_get(&sweeps->hints.fixed), 2, text);
    kernel_columns_heading(&sweeps->columns, text);
}

static void print_sweeps(const struct sweeps *sweeps, size_t table, FILE *text)
{
    fprintf(text, "%.30s, hints side by side: rate in MB/s, the best one marked *\n  %s%s\n",
            sweeps->kernel->tables[table].traits[KERNEL_TEST], sweeps->hints.columns[0].header,
            sweeps->coded ? "" : " in the columns");
    print_legend(sweeps, text);
    const int left = LINE - kernel_columns_width(&sweeps->columns) - OP;
    const size_t at_once = left > 2 * CELL ? (size_t)(left / CELL) : 2;
    for (size_t first = 0; first < sweeps->label_count; first += at_once)
        print_part(sweeps, first, first + at_once < sweeps->label_count ? first + at_once : sweeps->label_count, text);
    fputc('\n', text);
}

static pl_status build(struct sweeps *sweeps, struct pl_error *error)
{
    const unsigned all = (1U << KERNEL_FACETS) - 1;
    const unsigned hints = 1U << KERNEL_HINTS;
    const struct kernel *kernel = sweeps->kernel;
    pl_status status = kernel_columns_build(kernel, sweeps->cases, sweeps->count, all & ~hints, INT_MAX, &sweeps->hints,
                                            error);
    if (status == PL_OK)
        status = kernel_columns_build(kernel, sweeps->bases, sweeps->sweep_count, hints, LINE - OP - 3 * CELL,
                                      &sweeps->columns, error);
    return status;
}

pl_status kernel_print_sweeps(const struct kernel *kernel, FILE *text, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t table = 0; table < kernel->table_count && status == PL_OK; table++) {
        struct sweeps sweeps;
        if (!init(&sweeps, kernel)) {
            clear(&sweeps);
            return pl_fail(error, PL_E_NOMEM, "not enough memory for a table");
        }
        collect(&sweeps, table);
        if (sweeps.sweep_count)
            status = build(&sweeps, error);
        if (sweeps.sweep_count && status == PL_OK) {
            find_labels(&sweeps);
            print_sweeps(&sweeps, table, text);
        }
        clear(&sweeps);
    }
    return status;
}
