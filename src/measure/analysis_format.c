#include "measure/analysis_format.h"

#include "base/units.h"
#include "measure/analysis_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char ANALYSIS_ERROR_TEXT[] = "90 % confidence, from the means of 20 consecutive batches of the region";
const char ANALYSIS_RATE_TEXT[] = "bytes of all ranks / largest total time of a rank; MB = 10^6 bytes";
const char ANALYSIS_ASYMPTOTIC_TEXT[] = "the same rate over the second half of the region";

const char *analysis_cell(double value, int digits, char cell[ANALYSIS_CELL_MAX])
{
    if (!isfinite(value)) {
        snprintf(cell, ANALYSIS_CELL_MAX, "-");
        return cell;
    }
    if (value >= pow(10, digits + 2) - 0.5) {
        const int exponent = (int)floor(log10(value) + 1e-12);
        snprintf(cell, ANALYSIS_CELL_MAX, "%.*fe%d", digits - 2, value / pow(10, exponent), exponent);
        return cell;
    }
    int decimals = digits - 1;
    for (double limit = 10; decimals > 0 && value >= limit - 0.5 * pow(10, -decimals); limit *= 10)
        decimals--;
    snprintf(cell, ANALYSIS_CELL_MAX, "%.*f", decimals, value);
    return cell;
}

const char *analysis_count_cell(int64_t count, char cell[ANALYSIS_CELL_MAX])
{
    if (count < 100000000)
        snprintf(cell, ANALYSIS_CELL_MAX, "%" PRId64, count);
    else
        snprintf(cell, ANALYSIS_CELL_MAX, "%.2e", (double)count);
    return cell;
}

const char *analysis_estimate_text(struct analysis_estimate estimate, char *text, size_t size)
{
    if (!isfinite(estimate.value)) {
        snprintf(text, size, "-");
        return text;
    }
    const double fine = isfinite(estimate.error) && estimate.error > 0 ? estimate.error : estimate.value / 100;
    int decimals = fine > 0 ? 1 - (int)floor(log10(fine)) : 0;
    decimals = decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
    if (isfinite(estimate.error))
        snprintf(text, size, "%.*f ± %.*f", decimals, estimate.value, decimals, estimate.error);
    else
        snprintf(text, size, "%.*f (no error)", decimals, estimate.value);
    return text;
}

const char *analysis_bytes_text(double bytes, char *buffer)
{
    return units_bytes(bytes < 0x1p63 ? (int64_t)bytes : INT64_MAX, buffer);
}

struct analysis_time_unit analysis_time_unit(double typical_ns)
{
    static const struct analysis_time_unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof units[0] && typical_ns >= units[i + 1].ns)
        i++;
    return units[i];
}

/* Spreadsheets take a cell that begins so for a formula, and run it; what is a number as a whole is none. */
static bool looks_like_formula(const char *value)
{
    if (!*value || !strchr("=+-@\t\r", *value) || (*value == '-' && !value[1]))
        return false;
    char *end;
    strtod(value, &end);
    return end == value || *end;
}

void analysis_csv_field(FILE *csv, const char *value)
{
    const bool defused = looks_like_formula(value);
    if (!defused && !strpbrk(value, ",\"\r\n")) {
        fputs(value, csv);
        return;
    }
    fputs(defused ? "\"'" : "\"", csv);
    for (const char *c = value; *c; c++) {
        if (*c == '"')
            fputc('"', csv);
        fputc(*c, csv);
    }
    fputc('"', csv);
}

void analysis_csv_number(FILE *csv, double value)
{
    if (isfinite(value))
        fprintf(csv, ",%.15g", value);
    else
        fputc(',', csv);
}

/* ---- a set ---- */

static void print_word(const char *name, const char *value, FILE *text)
{
    if (value && *value)
        fprintf(text, ", %s %.12s", name, value);
}

void analysis_print_place(const char *mpiio, const char *filesystem, FILE *text)
{
    fprintf(text, "\n  MPI-IO %.32s, file system %.20s\n", mpiio && *mpiio ? mpiio : "?",
            filesystem && *filesystem ? filesystem : "?");
}

void analysis_print_set(const struct analysis_chosen *chosen, FILE *text)
{
    const struct blockfile_block *block = chosen->block;
    const struct blockfile_set *set = chosen->set;
    char name[ANALYSIS_NAME_MAX];
    fprintf(text, "%s, block %" PRId64 ", set %" PRId64 ": %s %s\n", analysis_path_text(chosen->file->path, name),
            chosen->block_number, set->number, block->class_name, block->testname);
    fprintf(text, "  %s", analysis_processes_text(blockfile_fact_of(block, "nprocs"), analysis_one_process(set), name));
    analysis_sizes_text(set, name);
    fprintf(text, "%s%s", name[0] ? ", " : "", name);
    print_word("collective", blockfile_param_of(set, "collective"), text);
    print_word("layout", blockfile_param_of(set, "layout"), text);
    analysis_print_place(blockfile_fact_of(block, "mpiio"), blockfile_fact_of(block, "filesystem"), text);
    for (size_t i = 0; i < set->warning_count; i++)
        fprintf(text, "  warning: %s\n", set->warnings[i]);
}

void analysis_print_failures(const struct analysis_chosen *chosen, FILE *text)
{
    enum { SHOWN = 3 };
    const struct blockfile_set *set = chosen->set;
    for (size_t i = 0; i < set->error_count && i < SHOWN; i++)
        fprintf(text, "  failed: %s (%s, rank %d)\n", set->errors[i].text, set->errors[i].status, set->errors[i].rank);
    if (set->error_count > SHOWN)
        fprintf(text, "  and %zu more errors\n", set->error_count - SHOWN);
}

void analysis_json_set(struct json *json, const struct analysis_chosen *chosen)
{
    const struct blockfile_set *set = chosen->set;
    json_put_string(json, "file", chosen->file->path);
    json_put_int(json, "block", chosen->block_number);
    json_put_string(json, "id", chosen->block->id);
    json_put_string(json, "class", chosen->block->class_name);
    json_put_string(json, "testname", chosen->block->testname);
    json_put_int(json, "set", set->number);
    json_row_begin(json, "params");
    for (size_t i = 0; i < set->param_count; i++)
        json_put_string(json, set->params[i].key, set->params[i].value);
    json_object_end(json);
    json_array_begin(json, "failed");
    for (size_t i = 0; i < set->error_count; i++) {
        json_row_begin(json, NULL);
        json_put_string(json, "status", set->errors[i].status);
        json_put_int(json, "rank", set->errors[i].rank);
        json_put_string(json, "text", set->errors[i].text);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- overlap ---- */

static const struct {
    char direction;
    const char *name;
} DIRECTIONS[] = {{'w', "write"}, {'r', "read"}};

enum { DIRECTION_COUNT = sizeof DIRECTIONS / sizeof DIRECTIONS[0] };

void analysis_print_overlap(const struct analysis_rows *rows, FILE *text)
{
    for (size_t i = 0; i < DIRECTION_COUNT; i++) {
        struct analysis_overlap overlap;
        double task, blocking;
        if (!analysis_rows_overlap(rows, DIRECTIONS[i].direction, &overlap, &task, &blocking))
            continue;
        char cycle[UNITS_TEXT_MAX], alone[UNITS_TEXT_MAX], io[UNITS_TEXT_MAX], exposed[UNITS_TEXT_MAX];
        if (isnan(overlap.part))
            fprintf(text, "  %s: overlap not known (no blocking reference); ", DIRECTIONS[i].name);
        else
            fprintf(text, "  %s: overlap %.1f %%; blocking %s; ", DIRECTIONS[i].name, 100 * overlap.part,
                    units_ns(blocking, io));
        fprintf(text, "task %s, cycle %s,\n    exposed I/O time of a cycle %s\n",
                isnan(task) ? "?" : units_ns(task, alone), units_ns(overlap.cycle_ns, cycle),
                isnan(overlap.exposed_ns) ? "?" : units_ns(overlap.exposed_ns, exposed));
    }
}

void analysis_json_overlap(struct json *json, const struct analysis_rows *rows)
{
    json_array_begin(json, "overlap");
    for (size_t i = 0; i < DIRECTION_COUNT; i++) {
        struct analysis_overlap overlap;
        double task, blocking;
        if (!analysis_rows_overlap(rows, DIRECTIONS[i].direction, &overlap, &task, &blocking))
            continue;
        json_row_begin(json, NULL);
        json_put_string(json, "direction", DIRECTIONS[i].name);
        json_put_double(json, "overlap", overlap.part);
        json_put_double(json, "blocking_ns", blocking);
        json_put_double(json, "task_ns", task);
        json_put_double(json, "cycle_ns", overlap.cycle_ns);
        json_put_double(json, "exposed_ns", overlap.exposed_ns);
        json_object_end(json);
    }
    json_array_end(json);
}
