/* The few numbers and verdicts of a survey, from its block files. */
#include "base/blockfile.h"
#include "base/units.h"
#include "bench/bench.h"
#include "bench/contest/piobench.h"
#include "history/history_quantity.h"
#include "survey/survey.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct summary {
    const char *folder;
    FILE *stream;
    bool has_head;
    struct text verdicts; /* a line each */
};

/* Looks at one block; `number` counts from 0. */
typedef pl_status summary_look(struct summary *summary, struct blockfile *file, size_t number, struct pl_error *error);

/* ---- parts of the text ---- */

static const char *summary_fact(const struct blockfile_block *block, const char *key)
{
    const char *value = blockfile_fact_of(block, key);
    return value ? value : "unknown";
}

static void summary_print_head(struct summary *summary, const struct blockfile_block *block)
{
    if (summary->has_head)
        return;
    summary->has_head = true;
    const char *library = summary_fact(block, "mpi_library"); /* Open MPI tells who packed it, too */
    fprintf(summary->stream, "Host %.20s, %s cores, %.*s; %.12s of %.20s\n", summary_fact(block, "hostname"),
            summary_fact(block, "cores"), (int)strcspn(library, ","), library, summary_fact(block, "filesystem"),
            summary_fact(block, "filesystem_source"));
}

static void summary_print_heading(const struct summary *summary, const char *title, const char *write)
{
    fprintf(summary->stream, "\n%-40s %10s  %10s\n", title, write, "read MB/s");
}

/* A rate, or a dash. */
static const char *summary_rate_text(double rate, char text[32])
{
    if (isnan(rate))
        snprintf(text, 32, "-");
    else
        snprintf(text, 32, rate < 10 ? "%.1f" : "%.0f", rate);
    return text;
}

static void summary_print_row(const struct summary *summary, const char *name, double write, double read,
                              const char *remark)
{
    char first[32], second[32];
    fprintf(summary->stream, "  %-38.38s %10s  %10s%s%s\n", name, summary_rate_text(write, first),
            summary_rate_text(read, second), remark[0] ? "  " : "", remark);
}

/* ---- quantities ---- */

/* The value of a quantity whose settings hold `word`; NaN: there is none. */
static double summary_value_of(const struct history_quantities *quantities, const char *what, const char *word)
{
    for (size_t i = 0; i < quantities->count; i++)
        if (strcmp(quantities->list[i].what, what) == 0 && strstr(quantities->list[i].settings, word))
            return quantities->list[i].value;
    return NAN;
}

/* The largest value of a quantity whose settings hold `word`. */
static double summary_largest_of(const struct history_quantities *quantities, const char *what, const char *word)
{
    double largest = NAN;
    for (size_t i = 0; i < quantities->count; i++)
        if (strcmp(quantities->list[i].what, what) == 0 && strstr(quantities->list[i].settings, word))
            largest = fmax(largest, quantities->list[i].value);
    return largest;
}

static pl_status summary_look_at_peak(struct summary *summary, struct blockfile *file, size_t number,
                                      struct pl_error *error)
{
    static const char *const accesses[] = {"sequential", "strided", "random"};
    struct history_quantities quantities;
    const pl_status status = history_quantities_of(file, number, &quantities, error);
    if (status != PL_OK)
        return status;
    if (number == 0)
        summary_print_heading(summary, "What the device can do", "write+sync");
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
        const double write = summary_largest_of(&quantities, "peak write rate", accesses[i]);
        const double read = summary_largest_of(&quantities, "peak read rate", accesses[i]);
        if (!isnan(write) || !isnan(read))
            summary_print_row(summary, accesses[i], write, read, "best size");
    }
    history_quantities_clear(&quantities);
    return PL_OK;
}

static pl_status summary_look_at_kernel(struct summary *summary, struct blockfile *file, size_t number,
                                        struct pl_error *error)
{
    const struct blockfile_block *block = &file->blocks[number];
    const char *collective = blockfile_input_of(block, "collective");
    struct history_quantities quantities;
    char name[64];
    const pl_status status = history_quantities_of(file, number, &quantities, error);
    if (status != PL_OK)
        return status;
    if (number == 0)
        summary_print_heading(summary, "Kernels", "write MB/s");
    snprintf(name, sizeof name, "%.30s%s", block->testname,
             !collective                       ? ""
             : strcmp(collective, "true") == 0 ? ", collective"
                                               : ", independent");
    summary_print_row(summary, name, summary_largest_of(&quantities, "write rate", ""),
                      summary_largest_of(&quantities, "read rate", ""), "");
    history_quantities_clear(&quantities);
    return PL_OK;
}

static pl_status summary_look_at_beff(struct summary *summary, struct blockfile *file, size_t number,
                                      struct pl_error *error)
{
    struct history_quantities quantities;
    const pl_status status = history_quantities_of(file, number, &quantities, error);
    if (status != PL_OK)
        return status;
    const double value = summary_value_of(&quantities, "b_eff", ""),
                 latency = summary_value_of(&quantities, "ping-pong latency", "");
    if (!isnan(value))
        fprintf(summary->stream, "\nCommunication: b_eff %.0f MB/s, latency %.1f us\n", value, latency * 1000);
    history_quantities_clear(&quantities);
    return PL_OK;
}

static pl_status summary_look_at_beffio(struct summary *summary, struct blockfile *file, size_t number,
                                        struct pl_error *error)
{
    struct history_quantities quantities;
    const pl_status status = history_quantities_of(file, number, &quantities, error);
    if (status != PL_OK)
        return status;
    const double value = summary_value_of(&quantities, "b_eff_io", "");
    const char *time = blockfile_input_of(&file->blocks[number], "time");
    if (!isnan(value))
        fprintf(summary->stream, "I/O: b_eff_io %.0f MB/s%s\n", value,
                time && atof(time) >= 900 ? "" : " (a short run: not an official value)");
    history_quantities_clear(&quantities);
    return PL_OK;
}

/* ---- curves ---- */

static const char *summary_test_name(const struct blockfile_block *block, char name[64])
{
    const char *collective = blockfile_input_of(block, "collective"), *ranks = summary_fact(block, "nprocs");
    if (strcmp(block->testname, "sinunix") == 0)
        snprintf(name, 64, "plain UNIX, one process");
    else if (strcmp(block->testname, "single") == 0)
        snprintf(name, 64, "MPI-IO, one process");
    else
        snprintf(name, 64, "MPI-IO, %.8s ranks, %s", ranks,
                 collective && strcmp(collective, "true") == 0 ? "collective" : "independent");
    return name;
}

/* How much of the rate of large blocks is left with small ones. */
static void summary_judge_blocks(struct summary *summary, const char *name, const struct survey_rates *rates)
{
    const struct survey_rate *large = &rates->list[rates->count - 1], *small = large;
    char little[UNITS_TEXT_MAX], much[UNITS_TEXT_MAX];
    while (small > rates->list && small[-1].file_bytes == large->file_bytes)
        small--;
    if (small == large || !(small->write < 0.8 * large->write))
        return;
    text_format(&summary->verdicts, "%s: blocks of %s write at %.0f %% of the rate of %s blocks\n", name,
                units_bytes((int64_t)small->block_bytes, little), small->write / large->write * 100,
                units_bytes((int64_t)large->block_bytes, much));
}

static pl_status summary_look_at_curve(struct summary *summary, struct blockfile *file, size_t number,
                                       struct pl_error *error)
{
    struct survey_rates rates;
    char name[64], remark[80], size[UNITS_TEXT_MAX], block_size[UNITS_TEXT_MAX];
    const pl_status status = survey_rates_of(file, number, &rates, error);
    if (status != PL_OK)
        return status;
    if (number == 0)
        summary_print_heading(summary, "Files", "write+sync");
    if (rates.count) {
        const struct survey_rate *largest = &rates.list[rates.count - 1];
        snprintf(remark, sizeof remark, "%s by %s", units_bytes((int64_t)largest->file_bytes, size),
                 units_bytes((int64_t)largest->block_bytes, block_size));
        summary_print_row(summary, summary_test_name(&file->blocks[number], name), largest->write, largest->read,
                          remark);
        summary_judge_blocks(summary, name, &rates);
        if (largest->failed)
            text_format(&summary->verdicts, "%s: %d of %d runs FAILED, see curves.txt\n", name, largest->failed,
                        largest->repetitions);
    }
    survey_rates_clear(&rates);
    return PL_OK;
}

/* ---- collective I/O ---- */

static double summary_rate_by(const struct contest_points *list, const struct contest_point *of, const char *op,
                              const char *algorithm)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct contest_point *point = &list->points[i];
        if (strcmp(point->op, op) == 0 && strcmp(point->contestant, algorithm) == 0 &&
            strcmp(point->distribution, of->distribution) == 0 && point->block_bytes == of->block_bytes &&
            point->file_bytes == of->file_bytes && point->ranks == of->ranks)
            return point->rate_mb_per_s;
    }
    return NAN;
}

static void summary_print_cell(struct summary *summary, const struct contest_points *list,
                               const struct contest_point *cell)
{
    static const char *const algorithms[] = {"naive", "system", "auto"};
    static const char *const names[] = {"no collective I/O", "system's MPI-IO", "piolet"};
    char size[UNITS_TEXT_MAX], name[96];
    for (size_t i = 0; i < 3; i++) {
        const double write = summary_rate_by(list, cell, "write", algorithms[i]);
        const double read = summary_rate_by(list, cell, "read", algorithms[i]);
        snprintf(name, sizeof name, "%s, %s by %s", names[i], cell->distribution,
                 units_binary(cell->block_bytes, size));
        if (!isnan(write) || !isnan(read))
            summary_print_row(summary, name, write, read, "");
    }
    const double write = summary_rate_by(list, cell, "write", "auto") / summary_rate_by(list, cell, "write", "system");
    const double read = summary_rate_by(list, cell, "read", "auto") / summary_rate_by(list, cell, "read", "system");
    if (!isnan(write) && !isnan(read))
        text_format(&summary->verdicts,
                    "collective, %s by %s: piolet writes at %.2g times, reads at %.2g times the rate of the system's "
                    "MPI-IO\n",
                    cell->distribution, units_binary(cell->block_bytes, size), write, read);
}

/* One cell is enough here: the smallest blocks of the first distribution, where collective I/O matters most. */
static pl_status summary_look_at_strategies(struct summary *summary, struct blockfile *file, size_t number,
                                            struct pl_error *error)
{
    const struct analysis_request request = {.block = (int64_t)number + 1, .to = INT64_MAX};
    const struct analysis_input input = {file, 1};
    struct contest_points list;
    const pl_status status = contest_points_load(&PIOBENCH_KIND, &request, &input, &list, error);
    if (status != PL_OK)
        return status == PL_E_INPUT ? PL_OK : status;
    summary_print_heading(summary, "Collective I/O", "write MB/s");
    assert(list.count > 0);
    const struct contest_point *cell = &list.points[0];
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.points[i].distribution, cell->distribution) == 0 &&
            list.points[i].block_bytes < cell->block_bytes)
            cell = &list.points[i];
    summary_print_cell(summary, &list, cell);
    contest_points_clear(&list);
    return PL_OK;
}

/* ---- prediction ---- */

static double summary_param_number(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    double number;
    return text && units_parse_number(text, &number) ? number : NAN;
}

static pl_status summary_look_at_prediction(struct summary *summary, struct blockfile *file, size_t number,
                                            struct pl_error *error)
{
    const struct blockfile_block *block = &file->blocks[number];
    (void)error;
    for (size_t i = 0; i < block->set_count; i++) {
        const struct blockfile_set *set = &block->sets[i];
        const char *kind = blockfile_param_of(set, "kind");
        const double predicted = summary_param_number(set, "time_ns"),
                     measured = summary_param_number(set, "measured_ns");
        if (!kind || strcmp(kind, "total") != 0 || isnan(predicted))
            continue;
        fprintf(summary->stream, "BT-IO: I/O time predicted %.3f s", predicted / 1e9);
        if (measured > 0)
            fprintf(summary->stream, ", measured %.3f s (%+.0f %%)", measured / 1e9, (predicted / measured - 1) * 100);
        fputc('\n', summary->stream);
    }
    return PL_OK;
}

/* ---- benchmarks with a row of their own ---- */

/* A line for each of its quantities, the first settings alone. */
static pl_status summary_look_at_bench(struct summary *summary, struct blockfile *file, size_t number,
                                       struct pl_error *error)
{
    const struct bench *bench = bench_of_block(&file->blocks[number]);
    struct result *result;
    const pl_status status = bench_results_of(file, number, &result, error);
    if (status != PL_OK)
        return status;
    if (bench && result->quantity_count)
        fprintf(summary->stream, "\n%c%s\n", toupper((unsigned char)bench->name[0]), bench->name + 1);
    for (size_t i = 0; i < result->quantity_count; i++) {
        const struct quantity *quantity = &result->quantities[i];
        if (result_find(result, quantity->what, NULL) == quantity)
            fprintf(summary->stream, "  %-38.38s %10.4g %s\n", quantity->what, quantity->value, quantity->unit);
    }
    result_free(result);
    return PL_OK;
}

/* ---- all ---- */

static pl_status summary_look_at(struct summary *summary, const char *name, summary_look *each, struct pl_error *error)
{
    char path[PATH_MAX + 32];
    struct blockfile file;
    snprintf(path, sizeof path, "%s/%s", summary->folder, name);
    if (access(path, R_OK) != 0)
        return PL_OK;
    pl_status status = blockfile_open(path, &file, error);
    if (status != PL_OK)
        return status == PL_E_FORMAT ? PL_OK : status; /* killed before its first block */
    if (file.block_count)
        summary_print_head(summary, &file.blocks[0]);
    for (size_t i = 0; i < file.block_count && status == PL_OK; i++)
        status = each(summary, &file, i, error);
    blockfile_close(&file);
    return status;
}

static void summary_print_verdicts(struct summary *summary)
{
    const char *at = text_get(&summary->verdicts);
    if (*at)
        fputs("\nWhat stands out:\n", summary->stream);
    for (; *at; at += strcspn(at, "\n") + 1) {
        struct text line = {0};
        text_append(&line, at, strcspn(at, "\n"));
        fputs("  ", summary->stream);
        text_print_wrapped(summary->stream, text_get(&line), 2, 2);
        text_clear(&line);
    }
    if (summary->has_head)
        fputs("\nAll in MB/s, MB = 10^6 bytes. write+sync ends when the data are stored; other\n"
              "writing may end in the page cache, and reading may begin there.\n",
              summary->stream);
    else
        fputs("Nothing was measured.\n", summary->stream);
}

pl_status survey_summary(const char *folder, FILE *stream, struct pl_error *error)
{
    static const struct {
        const char *file;
        summary_look *each;
    } parts[] = {{"peak.out", summary_look_at_peak},
                 {"curves.out", summary_look_at_curve},
                 {"kernels.out", summary_look_at_kernel},
                 {"strategies.out", summary_look_at_strategies},
                 {"beff.out", summary_look_at_beff},
                 {"beffio.out", summary_look_at_beffio},
                 {"prediction.out", summary_look_at_prediction}};
    struct summary summary = {.folder = folder, .stream = stream};
    pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == PL_OK; i++)
        status = summary_look_at(&summary, parts[i].file, parts[i].each, error);
    for (const struct bench *const *bench = BENCHES; *bench && status == PL_OK; bench++)
        if ((*bench)->survey) {
            char name[64];
            snprintf(name, sizeof name, "%s.out", (*bench)->name);
            status = summary_look_at(&summary, name, summary_look_at_bench, error);
        }
    if (status == PL_OK)
        summary_print_verdicts(&summary);
    text_clear(&summary.verdicts);
    return status;
}
