/* The tables of b_eff as text, in 80 columns. */
#include "bench/beff/beff_analyze.h"

#include "base/text.h"
#include "base/units.h"
#include "measure/analysis_format.h"
#include "measure/analysis_names.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char BEFF_UNIT_TEXT[] = "MByte/s = 2^20 bytes a second; message lengths: kB = 1024 bytes, MB = 2^20 bytes";

const char *beff_length_text(int64_t length, char text[BEFF_LENGTH_TEXT_MAX])
{
    if (length < 1024)
        snprintf(text, BEFF_LENGTH_TEXT_MAX, "%" PRId64 " B", length);
    else if (length < 1 << 20)
        snprintf(text, BEFF_LENGTH_TEXT_MAX, "%.4g kB", (double)length / 1024);
    else
        snprintf(text, BEFF_LENGTH_TEXT_MAX, "%.4g MB", (double)length / BEFF_MBYTE);
    return text;
}

static void put_cell(FILE *text, int width, double bytes_per_s)
{
    char cell[ANALYSIS_CELL_MAX];
    fprintf(text, " %*s", width, analysis_cell(bytes_per_s / BEFF_MBYTE, 5, cell));
}

/* ---- the summary ---- */

static void note_patterns(const struct beff_results *results, struct text *lines)
{
    const int planned = (int)beff_fact(results, "random_patterns", 0);
    const int measured = beff_average(results, BEFF_EVERYTHING).random_patterns;
    if (planned != BEFF_RANDOM_PATTERNS || measured < planned)
        text_format(lines, "%d random pattern%s, not %d%s\n", measured, measured == 1 ? "" : "s", BEFF_RANDOM_PATTERNS,
                    measured < planned && results->block->complete ? ": there was no time for more" : "");
}

/* Patterns that were not repeated three times. */
static int hasty_patterns(const struct beff_results *results)
{
    int hasty = 0;
    for (size_t i = 0; i < results->row_count; i++)
        for (int m = 0; m < BEFF_METHODS; m++) {
            const int count = results->rows[i].cells[0][m].count;
            if (count == 0 || count == BEFF_REPETITIONS)
                continue;
            hasty++;
            break;
        }
    return hasty;
}

void beff_deviations(const struct beff_results *results, struct text *lines)
{
    const double target_ms = beff_fact(results, "loop_target_ns", 0) / 1e6;
    const double first = beff_fact(results, "loops_first", 0);
    const int64_t longest = results->length_count ? results->lengths[results->length_count - 1] : 0;
    const int64_t standard = beff_length_max((int64_t)beff_fact(results, "memory_per_process_bytes", 0));
    char is[BEFF_LENGTH_TEXT_MAX], should[BEFF_LENGTH_TEXT_MAX];
    note_patterns(results, lines);
    if (target_ms < BEFF_LOOP_TARGET_S * 1e3 * 0.999 || first != BEFF_LOOP_FIRST)
        text_format(lines, "loops of %.3g-%.3g ms from %.0f rounds on, not 2.5-5 ms from 300\n", target_ms,
                    2 * target_ms, first);
    if (results->length_count == BEFF_LENGTHS && longest != standard)
        text_format(lines, "L_max is %s, not %s\n", beff_length_text(longest, is), beff_length_text(standard, should));
    if (hasty_patterns(results))
        text_format(lines, "%d patterns without 3 repetitions: there was no time for them\n", hasty_patterns(results));
    if (results->failed)
        text_format(lines, "%d pattern%s with a length that failed\n", results->failed,
                    results->failed == 1 ? "" : "s");
    if (!results->block->complete)
        text_add(lines, "the run did not come to its end\n");
}

static void print_row(const struct beff_results *results, FILE *text)
{
    const struct beff_summary s = beff_summarize(results);
    char length[BEFF_LENGTH_TEXT_MAX];
    fprintf(text, "%3" PRId64 " %6d", results->block_number, results->nprocs);
    put_cell(text, 8, s.mean.both);
    put_cell(text, 8, s.mean.both / results->nprocs);
    fprintf(text, " %9s", beff_length_text(s.length_max, length));
    put_cell(text, 9, s.pingpong);
    put_cell(text, 8, s.longest.both);
    put_cell(text, 9, s.longest.both / results->nprocs);
    put_cell(text, 9, s.longest.rings / results->nprocs);
    fputc('\n', text);
}

static void print_place(const struct beff_results *results, FILE *text)
{
    int hosts;
    const enum beff_placement placement = beff_results_placement(results, &hosts);
    const char *library = blockfile_fact_of(results->block, "mpi_library");
    const char *when = blockfile_fact_of(results->block, "timestamp");
    const char *host = blockfile_fact_of(results->block, "hostname");
    char path[ANALYSIS_NAME_MAX];
    fprintf(text, "block %" PRId64 " of %s: %s, %s\n", results->block_number, analysis_path_text(results->path, path),
            host ? host : "?", when ? when : "?");
    fprintf(text, "  %d processes on %d host%s, %s\n", results->nprocs, hosts, hosts == 1 ? "" : "s",
            beff_placement_text(placement));
    fprintf(text, "  %.76s\n", library ? library : "?");
}

static void print_lines(const struct text *lines, const char *lead, FILE *text)
{
    for (const char *at = text_get(lines); *at; at += strcspn(at, "\n") + 1)
        fprintf(text, "  %s%.*s\n", lead, (int)strcspn(at, "\n"), at);
}

static void print_facts(const struct beff_results *results, FILE *text)
{
    const struct beff_summary s = beff_summarize(results);
    char memory[UNITS_TEXT_MAX];
    const char *from = blockfile_fact_of(results->block, "memory_per_process_from");
    const char *seed = blockfile_fact_of(results->block, "seed");
    char latency[ANALYSIS_CELL_MAX], at_longest[ANALYSIS_CELL_MAX], at_best[ANALYSIS_CELL_MAX];
    fprintf(text, "  ping-pong: latency %s us (1 B); MByte/s: %s at L_max, %s at best\n",
            analysis_cell(s.latency_s * 1e6, 4, latency), analysis_cell(s.pingpong / BEFF_MBYTE, 5, at_longest),
            analysis_cell(s.pingpong_largest / BEFF_MBYTE, 5, at_best));
    fprintf(text, "  memory: %s a process (%s); seed %s\n",
            analysis_bytes_text(s.memory_bytes / results->nprocs, memory), from ? from : "?", seed ? seed : "?");
    if (isfinite(s.coffee_s))
        fprintf(text, "  the memory of all processes, %s, is communicated in %.3g s\n",
                analysis_bytes_text(s.memory_bytes, memory), s.coffee_s);
    if (isfinite(s.balance_bytes_per_flop))
        fprintf(text, "  balance factor: %.4g bytes a flop (R_max %.6g GFlop/s)\n", s.balance_bytes_per_flop,
                s.rmax_gflops);
    struct text deviations = {0};
    beff_deviations(results, &deviations);
    print_lines(&deviations, "not standard: ", text);
    text_clear(&deviations);
    for (size_t i = 0; i < results->block->fact_count; i++)
        if (strcmp(results->block->facts[i].key, "warning") == 0)
            fprintf(text, "  warning: %s\n", results->block->facts[i].value);
}

void beff_print_summary(const struct beff_results *runs, size_t count, FILE *text)
{
    for (size_t i = 0; i < count; i++) {
        print_place(&runs[i], text);
        print_facts(&runs[i], text);
    }
    fprintf(text, "\nEffective bandwidth (MByte/s)\n");
    fprintf(text, "%3s %6s %8s %8s %9s %9s %8s %9s %9s\n", "", "", "", "b_eff", "", "ping-pong", "b_eff", "per proc.",
            "per proc.");
    fprintf(text, "%3s %6s %8s %8s %9s %9s %8s %9s %9s\n", "", "", "", "per", "", "bandwidth", "at", "at L_max,",
            "at L_max,");
    fprintf(text, "%3s %6s %8s %8s %9s %9s %8s %9s %9s\n", "blk", "procs", "b_eff", "process", "L_max", "at L_max",
            "L_max", "all", "rings");
    for (size_t i = 0; i < count; i++)
        print_row(&runs[i], text);
    fprintf(text, "%s\n", BEFF_UNIT_TEXT);
    for (size_t i = 0; i < count; i++)
        if (isnan(beff_average(&runs[i], BEFF_EVERYTHING).both))
            fprintf(text, "block %" PRId64 ": no b_eff: not all of the 6 ring patterns and 1 random pattern is there\n",
                    runs[i].block_number);
}

/* ---- one run ---- */

static void print_methods_row(const char *label, const double *values, FILE *text)
{
    fprintf(text, "%-22s", label);
    for (int m = 0; m <= BEFF_TURNS; m++)
        put_cell(text, 11, values[m]);
    fputc('\n', text);
}

/* The last value is that of all methods. */
static struct beff_filter filter_of(int m)
{
    return (struct beff_filter){m == BEFF_TURNS ? BEFF_ALL : m, BEFF_ALL, BEFF_ALL};
}

static void print_by_method(const struct beff_results *results, FILE *text)
{
    double both[BEFF_METHODS], rings[BEFF_METHODS], random[BEFF_METHODS];
    for (int m = 0; m <= BEFF_TURNS; m++) {
        const struct beff_average average = beff_average(results, filter_of(m));
        both[m] = average.both;
        rings[m] = average.rings;
        random[m] = average.random;
    }
    fprintf(text, "\nBy method (MByte/s, mean over the %d lengths)\n%-22s %11s %11s %11s %11s\n", BEFF_LENGTHS, "",
            BEFF_METHOD_TABLE[0].label, BEFF_METHOD_TABLE[1].label, BEFF_METHOD_TABLE[2].label, "best");
    print_methods_row("b_eff", both, text);
    print_methods_row("rings (log. average)", rings, text);
    print_methods_row("random (log. average)", random, text);
    for (size_t i = 0; i < results->row_count; i++) {
        const struct beff_pattern pattern = results->rows[i].pattern;
        char label[BEFF_NAME_MAX];
        if (pattern.kind == BEFF_RING || pattern.kind == BEFF_RANDOM || pattern.kind == BEFF_PINGPONG)
            continue;
        for (int m = 0; m <= BEFF_TURNS; m++)
            both[m] = beff_row_value(results, &results->rows[i], filter_of(m));
        print_methods_row(beff_pattern_label(pattern, label), both, text);
    }
}

static void print_by_repetition(const struct beff_results *results, FILE *text)
{
    const int repetitions = (int)beff_fact(results, "repetitions", 0);
    fprintf(text, "\nBy repetition (MByte/s)\n%-22s", "b_eff of one alone");
    for (int r = 0; r < repetitions && r < BEFF_REPETITIONS_MAX; r++)
        put_cell(text, 11, beff_average(results, (struct beff_filter){BEFF_ALL, r, BEFF_ALL}).both);
    fputc('\n', text);
}

static void print_by_length(const struct beff_results *results, FILE *text)
{
    static const struct beff_pattern others[] = {
        {BEFF_WORST_CYCLE, 0}, {BEFF_CART2, 0}, {BEFF_CART3, 0}, {BEFF_PINGPONG, 0}};
    fprintf(text, "\nBy message length (MByte/s)\n%10s %10s %10s %10s %10s %10s %10s\n", "length", "rings", "random",
            "worst cyc.", "2-D", "3-D", "ping-pong");
    for (int i = 0; i < results->length_count; i++) {
        char length[BEFF_LENGTH_TEXT_MAX];
        const struct beff_filter here = {BEFF_ALL, BEFF_ALL, i};
        const struct beff_average average = beff_average(results, here);
        fprintf(text, "%10s", beff_length_text(results->lengths[i], length));
        put_cell(text, 10, average.rings);
        put_cell(text, 10, average.random);
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            const struct beff_row *row = beff_row_of(results, others[k]);
            put_cell(text, 10, row ? beff_row_value(results, row, here) : NAN);
        }
        fputc('\n', text);
    }
}

static const char *shape_of(const struct beff_results *results, struct beff_pattern pattern,
                            char text[BEFF_RINGS_TEXT_MAX])
{
    const int n = results->nprocs;
    int grid[BEFF_DIMENSIONS];
    snprintf(text, BEFF_RINGS_TEXT_MAX, "%s", "");
    if (pattern.kind == BEFF_RING) {
        const struct beff_rings rings = beff_rings_of(pattern.number, n);
        return beff_rings_text(&rings, text);
    }
    if (pattern.kind == BEFF_RANDOM || pattern.kind == BEFF_WORST_CYCLE)
        snprintf(text, BEFF_RINGS_TEXT_MAX, "1 x %d", n);
    if (pattern.kind == BEFF_BISECTION_BEST || pattern.kind == BEFF_BISECTION_WORST)
        snprintf(text, BEFF_RINGS_TEXT_MAX, "%d pair%s", n / 2, n / 2 == 1 ? "" : "s");
    if (pattern.kind == BEFF_CART2 || pattern.kind == BEFF_CART3) {
        beff_grid(n, pattern.kind == BEFF_CART2 ? 2 : 3, grid);
        snprintf(text, BEFF_RINGS_TEXT_MAX, pattern.kind == BEFF_CART2 ? "%d x %d" : "%d x %d x %d", grid[0], grid[1],
                 grid[2]);
    }
    return text;
}

static void print_by_pattern(const struct beff_results *results, FILE *text)
{
    const int last = results->length_count - 1;
    fprintf(text, "\nBy pattern (MByte/s; mean: over the lengths; method: the best one at L_max)\n");
    fprintf(text, "%-17s %-17s %8s %9s %9s  %s\n", "pattern", "processes", "messages", "mean", "at L_max", "method");
    for (size_t i = 0; i < results->row_count; i++) {
        const struct beff_row *row = &results->rows[i];
        char label[BEFF_NAME_MAX], shape[BEFF_RINGS_TEXT_MAX];
        int method = BEFF_ALL;
        const double longest = last < 0 ? NAN : beff_best(results, row, last, BEFF_EVERYTHING, &method);
        fprintf(text, "%-17s %-17s %8" PRId64, beff_pattern_label(row->pattern, label),
                shape_of(results, row->pattern, shape), row->messages);
        put_cell(text, 9, beff_row_value(results, row, BEFF_EVERYTHING));
        put_cell(text, 9, longest);
        fprintf(text, "  %s\n", method == BEFF_ALL ? "-" : BEFF_METHOD_TABLE[method].label);
    }
}

void beff_print_tables(const struct beff_results *results, FILE *text)
{
    print_by_method(results, text);
    print_by_repetition(results, text);
    print_by_length(results, text);
    print_by_pattern(results, text);
}

/* ---- the protocol ---- */

static void print_cell(const struct beff_results *results, const struct beff_row *row, int length, int m, FILE *text)
{
    const struct beff_cell *cell = &row->cells[length][m];
    char name[BEFF_NAME_MAX];
    for (int r = 0; r < cell->count; r++)
        fprintf(text, "%-16s %-11s %9" PRId64 " %9" PRId64 " %3d %6" PRId64 " %9.3f %9.5g\n",
                beff_pattern_name(row->pattern, name), BEFF_METHOD_TABLE[m].name, row->messages,
                results->lengths[length], r + 1, cell->loops, (double)cell->times_ns[r] / 1e6,
                beff_bandwidth(results->lengths[length], row->messages, cell->loops, cell->times_ns[r]) / BEFF_MBYTE);
}

void beff_print_protocol(const struct beff_results *results, FILE *text)
{
    fprintf(text, "\nProtocol of block %" PRId64 " (bandwidth = length x messages x loops / time of the slowest)\n",
            results->block_number);
    fprintf(text, "%-16s %-11s %9s %9s %3s %6s %9s %9s\n", "pattern", "method", "messages", "length B", "rep", "loops",
            "time ms", "MByte/s");
    for (size_t i = 0; i < results->row_count; i++)
        for (int length = 0; length < results->length_count; length++)
            for (int m = 0; m < BEFF_METHODS; m++)
                print_cell(results, &results->rows[i], length, m, text);
}
