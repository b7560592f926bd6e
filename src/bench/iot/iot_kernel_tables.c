/* Kernels: the tables for people. */
#include "bench/iot/iot_kernel.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "lab/result/analysis_select.h"
#include "lab/show/analysis_format.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 32 };

/* ---- tables for people: the facets that differ, then numbers ---- */

enum { NUMBER_COLUMNS_MAX = 64 };

/* Begins a table of the part's facets and these columns (ended by {0}); the caller clears the columns. */
static struct kernel_columns part_begin_table(const struct kernel_part *part, const char *title, bool fixed,
                                              const struct result_column *numbers)
{
    struct kernel_columns columns = kernel_columns_of(part->kernel, part->cases, part->count, 0);
    struct result_column all[KERNEL_FACETS + NUMBER_COLUMNS_MAX + 1] = {{0}};
    size_t count = 0;
    if (fixed && columns.fixed.length)
        result_line(part->result, "%s", text_get(&columns.fixed));
    for (; count < columns.count; count++)
        all[count] = (struct result_column){.key = columns.columns[count].header, .form = RESULT_TEXT};
    for (; numbers->key; numbers++) {
        assert(count < KERNEL_FACETS + NUMBER_COLUMNS_MAX);
        all[count++] = *numbers;
    }
    result_begin_table(part->result, "table", title, all);
    result_only_in(part->result, RESULT_IN_TEXT | RESULT_IN_PAGE);
    return columns;
}

static void part_begin_row(const struct kernel_part *part, const struct kernel_columns *columns, size_t row)
{
    result_row(part->result);
    for (size_t i = 0; i < columns->count; i++)
        result_put_text(part->result, columns->columns[i].cells[row]);
}

static bool part_has(const struct kernel_part *part, const char *key, bool series)
{
    for (size_t i = 0; i < part->count; i++)
        if (kernel_measure_of(part->cases[i], key, series))
            return true;
    return false;
}

static bool part_has_series(const struct kernel_part *part)
{
    for (size_t i = 0; i < part->count; i++)
        for (size_t m = 0; m < part->cases[i]->measure_count; m++)
            if (part->cases[i]->measures[m].series && part->cases[i]->measures[m].count)
                return true;
    return false;
}

#define NUMBER(number_key, number_label, digits)                                                                       \
    {                                                                                                                  \
        .key = number_key, .label = number_label, .form = RESULT_NUMBER, .decimals = -(digits)                         \
    }

/* Single times of writing and reading. */
static void part_put_rates(const struct kernel_part *part)
{
    static const struct result_column numbers[] = {{.key = "sets", .form = RESULT_INT},
                                                   NUMBER("write", NULL, 4),
                                                   NUMBER("write_error", "±", 3),
                                                   NUMBER("write_imb", "imb", 3),
                                                   NUMBER("read", NULL, 4),
                                                   NUMBER("read_error", "±", 3),
                                                   NUMBER("read_imb", "imb", 3),
                                                   {.key = "failed", .label = "", .form = RESULT_TEXT},
                                                   {0}};
    static const char *const keys[] = {"write", "read"};
    struct kernel_columns columns = part_begin_table(part, NULL, true, numbers);
    for (size_t i = 0; i < part->count; i++) {
        const struct kernel_case *c = part->cases[i];
        part_begin_row(part, &columns, i);
        result_put_int(part->result, (int64_t)c->sets);
        for (size_t k = 0; k < 2; k++) {
            const struct kernel_measure *measure = kernel_measure_of(c, keys[k], false);
            result_put_number(part->result, measure ? measure->rate.rate.value : NAN);
            result_put_number(part->result, measure ? measure->rate.rate.error : NAN);
            result_put_number(part->result, measure ? measure->imbalance : NAN);
        }
        result_put_text(part->result, c->sets == 0 ? "failed" : "");
    }
    kernel_columns_clear(&columns);
}

static void part_put_series(const struct kernel_part *part)
{
    bool balance = false;
    double typical = INFINITY;
    for (size_t i = 0; i < part->count; i++) {
        balance = balance || isfinite(kernel_value_of(part->cases[i], "balance_most_bytes"));
        for (size_t m = 0; m < part->cases[i]->measure_count; m++)
            if (part->cases[i]->measures[m].series && part->cases[i]->measures[m].operation_ns.value > 0)
                typical = fmin(typical, part->cases[i]->measures[m].operation_ns.value);
    }
    const struct analysis_time_unit unit = analysis_time_unit(isfinite(typical) ? typical : 1);
    const struct result_column numbers[] = {{.key = "sets", .form = RESULT_INT},
                                            {.key = "op", .form = RESULT_TEXT},
                                            {.key = "n", .form = RESULT_INT},
                                            NUMBER("rate", "MB/s", 4),
                                            NUMBER("rate_error", "±", 3),
                                            {.key = "mean", .form = RESULT_NUMBER, .decimals = -4, .scale = unit.ns},
                                            NUMBER("imb", NULL, 3),
                                            {.key = balance ? "least" : NULL, .form = RESULT_BYTES},
                                            {.key = "most", .form = RESULT_BYTES},
                                            {0}};
    result_line(part->result, "n operations, mean time of one in %s%s", unit.name,
                balance ? ", least and most bytes of a rank" : "");
    struct kernel_columns columns = part_begin_table(part, NULL, true, numbers);
    for (size_t i = 0; i < part->count; i++) {
        const struct kernel_case *c = part->cases[i];
        for (size_t m = 0; m < c->measure_count; m++) {
            const struct kernel_measure *measure = &c->measures[m];
            if (!measure->series || !measure->count)
                continue;
            part_begin_row(part, &columns, i);
            result_put_int(part->result, (int64_t)c->sets);
            result_put_text(part->result, measure->key);
            result_put_int(part->result, (int64_t)round(measure->operations));
            result_put_number(part->result, measure->rate.rate.value);
            result_put_number(part->result, measure->rate.rate.error);
            result_put_number(part->result, measure->operation_ns.value);
            result_put_number(part->result, measure->imbalance);
            if (balance) {
                result_put_number(part->result, kernel_value_of(c, "balance_least_bytes"));
                result_put_number(part->result, kernel_value_of(c, "balance_most_bytes"));
            }
        }
        if (c->sets == 0) {
            part_begin_row(part, &columns, i);
            result_put_int(part->result, 0);
            result_put_text(part->result, "failed");
        }
    }
    kernel_columns_clear(&columns);
}

/* A column of the table of all times: a single time, its rate (of write and read: in a table of their own), or a number
 * that the run found. */
struct kernel_figure {
    enum { FIGURE_TIME, FIGURE_RATE, FIGURE_VALUE } kind;
    const char *key;
    char label[32];
};

static void part_add_figure(struct kernel_figure *figures, size_t *count, const char *key, int kind)
{
    const size_t length = strlen(key);
    for (size_t i = 0; i < *count; i++)
        if ((int)figures[i].kind == kind && strcmp(figures[i].key, key) == 0)
            return;
    if (*count == NUMBER_COLUMNS_MAX)
        return;
    struct kernel_figure *figure = &figures[(*count)++];
    *figure = (struct kernel_figure){.key = key};
    figure->kind = kind;
    /* without "_time", but for the names that would be taken for the measured write and read */
    const bool tail = kind == FIGURE_TIME && length > 5 && strcmp(key + length - 5, "_time") == 0 &&
                      strcmp(key, "write_time") != 0 && strcmp(key, "read_time") != 0;
    snprintf(figure->label, sizeof figure->label, "%.*s%s",
             (int)(tail          ? length - 5
                   : length < 20 ? length
                                 : 20),
             key, kind == FIGURE_RATE ? " MB/s" : "");
}

/* The bytes of a single time are in its rate. */
static bool part_is_bytes_of_time(const struct kernel_case *c, const char *value)
{
    for (size_t i = 0; i < c->measure_count; i++) {
        const size_t length = strlen(c->measures[i].key);
        if (strncmp(value, c->measures[i].key, length) == 0 && strcmp(value + length, "_bytes") == 0)
            return true;
    }
    return false;
}

static size_t part_find_figures(const struct kernel_part *part, struct kernel_figure *figures)
{
    size_t count = 0;
    for (size_t i = 0; i < part->count; i++)
        for (size_t m = 0; m < part->cases[i]->measure_count; m++) {
            const struct kernel_measure *measure = &part->cases[i]->measures[m];
            if (measure->series)
                continue;
            part_add_figure(figures, &count, measure->key, FIGURE_TIME);
            if (isfinite(measure->rate.rate.value) && strcmp(measure->key, "write") != 0 &&
                strcmp(measure->key, "read") != 0)
                part_add_figure(figures, &count, measure->key, FIGURE_RATE);
        }
    for (size_t i = 0; i < part->count; i++)
        for (size_t v = 0; v < part->cases[i]->value_count; v++) {
            const char *key = part->cases[i]->values[v].key;
            if (strncmp(key, "balance_", 8) != 0 && !part_is_bytes_of_time(part->cases[i], key))
                part_add_figure(figures, &count, key, FIGURE_VALUE);
        }
    return count;
}

static void part_put_figure(struct result *result, const struct kernel_case *c, const struct kernel_figure *figure)
{
    const struct kernel_measure *measure = kernel_measure_of(c, figure->key, false);
    const double value = kernel_value_of(c, figure->key);
    char cell[ANALYSIS_CELL_MAX];
    if (figure->kind == FIGURE_VALUE) {
        snprintf(cell, sizeof cell, fabs(value) < 1e7 && value == round(value) ? "%.0f" : "%.3g", value);
        result_put_text(result, isfinite(value) ? cell : NULL);
    } else {
        result_put_number(result, !measure                      ? NAN
                                  : figure->kind == FIGURE_RATE ? measure->rate.rate.value
                                                                : measure->longest_ns.value);
    }
}

/* All times; as many columns at once as find room. */
static void part_put_times(const struct kernel_part *part, bool alone)
{
    enum { AT_ONCE = 6 };
    struct kernel_figure figures[NUMBER_COLUMNS_MAX];
    const size_t count = part_find_figures(part, figures);
    for (size_t first = 0; first < count; first += AT_ONCE) {
        struct result_column numbers[AT_ONCE + 1] = {{0}};
        const size_t end = first + AT_ONCE < count ? first + AT_ONCE : count;
        for (size_t f = first; f < end; f++) {
            const bool value = figures[f].kind == FIGURE_VALUE; /* of any size: its own digits */
            numbers[f - first] = (struct result_column){.key = figures[f].label,
                                                        .form = value ? RESULT_TEXT : RESULT_NUMBER,
                                                        .decimals = -4,
                                                        .scale = figures[f].kind == FIGURE_TIME ? 1e6 : 1};
        }
        struct kernel_columns columns = part_begin_table(
            part, first == 0 ? "all times in ms, of the slowest rank:" : NULL, alone && first == 0, numbers);
        for (size_t i = 0; i < part->count; i++) {
            const struct kernel_case *c = part->cases[i];
            part_begin_row(part, &columns, i);
            for (size_t f = first; f < end && c->sets; f++)
                part_put_figure(part->result, c, &figures[f]);
        }
        kernel_columns_clear(&columns);
    }
}

static const char *part_used_hint(const struct blockfile_set *set, const char *key)
{
    for (size_t i = 0; i < set->hint_count; i++)
        if (set->hints[i].used && strcmp(set->hints[i].key, key) == 0)
            return set->hints[i].value;
    return NULL;
}

/* Hints that the library did not take as asked, and the warnings of the run: each once. */
static void part_put_remarks(const struct kernel_part *part)
{
    enum { SHOWN = 8 };
    char *lines[SHOWN + 64];
    size_t count = 0;
    for (size_t i = 0; i < part->count && count < SHOWN; i++) {
        const struct blockfile_set *set = part->cases[i]->first.set;
        for (size_t n = 0; n < set->hint_count + set->warning_count && count < SHOWN; n++) {
            const struct blockfile_hint *hint = n < set->hint_count ? &set->hints[n] : NULL;
            const char *used = hint && !hint->used ? part_used_hint(set, hint->key) : NULL;
            char *line = NULL;
            if (used && set->error_count == 0 && strcmp(used, hint->value) != 0)
                line = memory_text("hint %.60s: asked for %.150s, in force %.150s", hint->key, hint->value, used);
            else if (!hint)
                line = memory_text("warning: %.480s", set->warnings[n - set->hint_count]);
            if (line && kernel_columns_hold((const char *const *)lines, count, line))
                free(line);
            else if (line)
                lines[count++] = line;
        }
    }
    for (size_t i = 0; i < count; i++) {
        result_line(part->result, "%s", lines[i]);
        free(lines[i]);
    }
}

/* Two times in ms and their ratio, twice or once; the cases for which there is one of them. */
static void part_put_ratios(const struct kernel_part *part, const char *about, const struct result_column *numbers,
                            size_t pairs, const double *times)
{
    if (!part->count)
        return;
    result_line(part->result, "%s", about);
    struct kernel_columns columns = part_begin_table(part, NULL, true, numbers);
    for (size_t i = 0; i < part->count; i++) {
        part_begin_row(part, &columns, i);
        for (size_t p = 0; p < pairs; p++) {
            const double *pair = times + 3 * (i * pairs + p);
            for (size_t n = 0; n < 3; n++)
                result_put_number(part->result, pair[n]);
        }
    }
    kernel_columns_clear(&columns);
}

#define MS(ms_key, ms_label)                                                                                           \
    {                                                                                                                  \
        .key = ms_key, .label = ms_label, .form = RESULT_NUMBER, .decimals = -4, .scale = 1e6                          \
    }

static void part_add_times(struct kernel_part *part, const struct kernel_case *c, const double *of, size_t count,
                           double *times)
{
    memcpy(times + count * part->count, of, count * sizeof *of);
    part->cases[part->count++] = c;
}

static void part_put_comparisons(struct kernel_part *part, size_t table)
{
    static const struct result_column exchange[] = {MS("matrix_write", "matrix"),
                                                    MS("gather_write", "gather"),
                                                    NUMBER("write_ratio", "ratio", 3),
                                                    MS("matrix_read", "matrix"),
                                                    MS("scatter_read", "scatter"),
                                                    NUMBER("read_ratio", "ratio", 3),
                                                    {0}};
    static const struct result_column transpose[] = {
        MS("read", NULL), MS("internal", NULL), NUMBER("ratio", NULL, 3), {0}};
    const struct kernel *kernel = part->kernel;
    double *times = memory_new(6 * kernel->case_count + 6, sizeof *times);
    part->count = 0;
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        const bool matrix = c->table == table && c->sets && kernel_is_test(kernel, c, "matrix2D");
        const size_t gather = matrix ? kernel_gather_for(kernel, c) : SIZE_MAX;
        if (gather == SIZE_MAX)
            continue;
        const struct kernel_exchange e = kernel_exchange(c, &kernel->cases[gather]);
        const double of[] = {e.matrix_write, e.gather_write, e.gather_write / e.matrix_write,
                             e.matrix_read,  e.scatter_read, e.scatter_read / e.matrix_read};
        if (!isfinite(of[2]) && !isfinite(of[5]))
            continue;
        part_add_times(part, c, of, 6, times);
    }
    part_put_ratios(part,
                    "matrix2D against gatherscat2D: longest time in ms from all ranks to the file (write; gather + "
                    "write) and back (read; read + scatter); ratio above 1: matrix2D is the faster one",
                    exchange, 2, times);
    part->count = 0;
    for (size_t i = 0; i < kernel->case_count; i++) {
        const struct kernel_case *c = &kernel->cases[i];
        const double read = kernel_longest_ns(c, "read"), internal = kernel_longest_ns(c, "internal");
        if (c->table != table || !kernel_is_test(kernel, c, "transpose") || !isfinite(read / internal))
            continue;
        const double of[] = {read, internal, read / internal};
        part_add_times(part, c, of, 3, times);
    }
    part_put_ratios(part,
                    "transpose: longest time in ms to read through a transposing view against the same by messages "
                    "(internal); ratio above 1: messages are faster",
                    transpose, 1, times);
    free(times);
}

/* Cases that differ in hints alone, side by side: the best rate of each is marked. */
static void part_put_sweeps(struct kernel_part *part, size_t table)
{
    const struct kernel *kernel = part->kernel;
    size_t *members = memory_new(kernel->case_count + 1, sizeof *members);
    const char *keys[KEYS_MAX];
    bool series[KEYS_MAX];
    size_t key_count = 0;
    part->count = 0;
    for (size_t i = 0; i < kernel->case_count; i++) {
        const size_t count = kernel->cases[i].table == table ? kernel_sweep(kernel, i, members) : 0;
        for (size_t n = 0; n < count; n++) {
            const struct kernel_case *c = &kernel->cases[members[n]];
            part->cases[part->count++] = c;
            for (size_t m = 0; m < c->measure_count; m++) {
                size_t known = 0;
                while (known < key_count &&
                       (series[known] != c->measures[m].series || strcmp(keys[known], c->measures[m].key) != 0))
                    known++;
                if (known == key_count && key_count < KEYS_MAX && isfinite(c->measures[m].rate.rate.value)) {
                    series[key_count] = c->measures[m].series;
                    keys[key_count++] = c->measures[m].key;
                }
            }
        }
    }
    if (part->count && key_count) {
        struct result_column numbers[KEYS_MAX + 1] = {{0}};
        for (size_t k = 0; k < key_count; k++)
            numbers[k] = (struct result_column){.key = keys[k], .form = RESULT_TEXT};
        result_line(part->result, "%.30s, hints side by side: rate in MB/s, the best one marked *",
                    kernel->tables[table].traits[KERNEL_TEST]);
        struct kernel_columns columns = part_begin_table(part, NULL, true, numbers);
        for (size_t row = 0; row < part->count; row++) {
            const struct kernel_case *c = part->cases[row];
            size_t first = 0;
            while (!kernel_same_but_hints(&kernel->cases[first], c))
                first++;
            const size_t count = kernel_sweep(kernel, first, members);
            part_begin_row(part, &columns, row);
            for (size_t k = 0; k < key_count; k++) {
                const struct kernel_measure *measure = kernel_measure_of(c, keys[k], series[k]);
                const size_t best = kernel_best(kernel, members, count, keys[k], series[k]);
                char cell[ANALYSIS_CELL_MAX], marked[ANALYSIS_CELL_MAX + 2];
                snprintf(marked, sizeof marked, "%s%s",
                         measure        ? analysis_cell(measure->rate.rate.value, 4, cell)
                         : c->sets == 0 ? "failed"
                                        : "-",
                         best != SIZE_MAX && &kernel->cases[best] == c ? "*" : "");
                result_put_text(part->result, marked);
            }
        }
        kernel_columns_clear(&columns);
    }
    free(members);
}

void kernel_put_table(const struct kernel *kernel, struct result *result, size_t table)
{
    const char *const *traits = kernel->tables[table].traits;
    struct kernel_part part = {kernel, result, memory_new(kernel->case_count + 1, sizeof(void *)), 0};
    char processes[ANALYSIS_NAME_MAX];
    bool all_failed = true;
    for (size_t i = 0; i < kernel->case_count; i++)
        if (kernel->cases[i].table == table) {
            part.cases[part.count++] = &kernel->cases[i];
            all_failed = all_failed && kernel->cases[i].sets == 0;
        }
    if (part.count) {
        const bool rates = part_has(&part, "write", false) || part_has(&part, "read", false) || all_failed;
        const bool series = part_has_series(&part);
        result_begin_group(result, "tables", "%.40s: %s", traits[KERNEL_TEST],
                           analysis_processes_text(traits[KERNEL_NPROCS], false, processes));
        for (int i = 0; i < KERNEL_TRAITS; i++)
            result_fact_text(result, KERNEL_TRAIT_NAMES[i], NULL, traits[i]);
        result_line(result, "MPI-IO %.32s, file system %.20s", traits[KERNEL_MPIIO][0] ? traits[KERNEL_MPIIO] : "?",
                    traits[KERNEL_FILESYSTEM][0] ? traits[KERNEL_FILESYSTEM] : "?");
        if (rates)
            part_put_rates(&part);
        if (series)
            part_put_series(&part);
        if (kernel->request->times || (!rates && !series))
            part_put_times(&part, !rates && !series);
        part_put_remarks(&part);
        part_put_comparisons(&part, table);
        part_put_sweeps(&part, table);
        result_end_group(result);
    }
    free(part.cases);
}
