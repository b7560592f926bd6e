/* The document of b_eff: Table 1, the tables of one run, its protocol, two charts and the quantities. */
#include "bench/beff/beff.h"

#include "base/memory.h"
#include "base/units.h"
#include "lab/result/analysis_select.h"
#include "lab/result/settings.h"
#include "lab/show/show.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct beff_runs {
    struct beff_results *items; /* owned */
    size_t count;
};

/* ---- which runs ---- */

/* A later block of the file goes on with it, and tells for this one too. */
static bool beff_is_continued(const struct blockfile *file, size_t number)
{
    for (size_t i = number + 1; i < file->block_count; i++) {
        const char *id = blockfile_fact_of(&file->blocks[i], "resumes");
        if (beff_is_beff(&file->blocks[i]) && id && strcmp(id, file->blocks[number].id) == 0)
            return true;
    }
    return false;
}

static pl_status beff_collect(const struct analysis_request *request, const struct analysis_input *input,
                              struct beff_runs *runs, struct pl_error *error)
{
    int64_t number = 0;
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count; b++) {
            struct blockfile *file = &input->files[f];
            const struct blockfile_block *block = &file->blocks[b];
            number++;
            if (!beff_is_beff(block) || (request->block && request->block != number) ||
                (request->test && strcmp(request->test, block->testname) != 0) ||
                (!request->block && beff_is_continued(file, b)))
                continue;
            runs->items = memory_grow(runs->items, runs->count, sizeof *runs->items);
            if (beff_results_read(file, block, &runs->items[runs->count], error) != PL_OK)
                return error->status;
            runs->items[runs->count].continued = beff_is_continued(file, b);
            runs->items[runs->count++].block_number = number;
        }
    return runs->count
               ? PL_OK
               : pl_fail(error, PL_E_INPUT, "nothing matches the selection, or what matches is no run of b_eff");
}

/* ---- quantities ---- */

static const struct quantity_kind B_EFF = {
    "b_eff", "MB/s",
    "logarithmic average over ring and random patterns of the mean over all lengths; best method and repetition",
    false};
static const struct quantity_kind B_EFF_36 = {
    "b_eff as 3.6 counts", "MB/s", "the same with one message each way in rings of 2, as b_eff 3.6 does", false};
static const struct quantity_kind AT_LONGEST = {"b_eff at L_max", "MB/s", "the same at the longest message alone",
                                                false};
static const struct quantity_kind PINGPONG = {
    "ping-pong rate", "MB/s", "bytes of the longest message / half of its round trip; best repetition", false};
static const struct quantity_kind LATENCY = {"ping-pong latency", "ms",
                                             "half of the round trip of the shortest message; best repetition", true};

static void beff_add_quantities(struct result *result, const struct beff_results *results)
{
    const struct beff_summary summary = beff_summarize(results);
    struct text settings = {0};
    if (results->continued)
        return; /* the values of a run are those of its last block */
    text_add(&settings, "L_max ");
    settings_add_bytes(&settings, (long long)summary.length_max);
    text_format(&settings, ", %d random patterns", summary.mean.random_patterns);
    if (results->walks) /* results of 0.1.0 keep their settings, and so are not compared with these */
        text_add(&settings, ", not cached");
    const struct {
        const struct quantity_kind *kind;
        double value;
    } list[] = {{&B_EFF, summary.mean.both / 1e6},
                {&B_EFF_36, summary.mean36.both / 1e6},
                {&AT_LONGEST, summary.longest.both / 1e6},
                {&PINGPONG, summary.pingpong / 1e6},
                {&LATENCY, summary.latency_s * 1e3}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (list[i].kind != &B_EFF_36 || results->walks)
            result_quantity(result, results->block, list[i].kind, NULL, text_get(&settings),
                            (struct analysis_estimate){list[i].value, NAN});
    text_clear(&settings);
}

/* ---- what is not as the document defines b_eff ---- */

/* Patterns that were not repeated three times. */
static int beff_hasty_patterns(const struct beff_results *results)
{
    int hasty = 0;
    for (size_t i = 0; i < results->row_count; i++) {
        bool is_hasty = false;
        for (int m = 0; m < BEFF_METHODS; m++) {
            const int count = results->rows[i].cells[0][m].count;
            is_hasty |= count != 0 && count != BEFF_REPETITIONS;
        }
        hasty += is_hasty;
    }
    return hasty;
}

static void beff_deviations(const struct beff_results *results, struct text *lines)
{
    const double target_ms = beff_fact(results, "loop_target_ns", 0) / 1e6;
    const double first = beff_fact(results, "loops_first", 0);
    const int64_t longest = results->length_count ? results->lengths[results->length_count - 1] : 0;
    const int64_t standard = beff_length_max((int64_t)beff_fact(results, "memory_per_process_bytes", 0));
    const int planned = (int)beff_fact(results, "random_patterns", 0), hasty = beff_hasty_patterns(results);
    const int measured = beff_average(results, BEFF_EVERYTHING).random_patterns;
    char is[BEFF_LENGTH_TEXT_MAX], should[BEFF_LENGTH_TEXT_MAX];
    if (planned != BEFF_RANDOM_PATTERNS || measured < planned)
        text_format(lines, "%d random pattern%s, not %d%s\n", measured, measured == 1 ? "" : "s", BEFF_RANDOM_PATTERNS,
                    measured < planned && results->block->complete ? ": there was no time for more" : "");
    if (target_ms < BEFF_LOOP_TARGET_S * 1e3 * 0.999 || first != BEFF_LOOP_FIRST)
        text_format(lines, "loops of %.3g-%.3g ms from %.0f rounds on, not 2.5-5 ms from 300\n", target_ms,
                    2 * target_ms, first);
    if (results->length_count == BEFF_LENGTHS && longest != standard)
        text_format(lines, "L_max is %s, not %s\n", beff_length_text(longest, is), beff_length_text(standard, should));
    if (!results->walks)
        text_format(lines, "messages in the cache: each round has the same addresses (%s)\n",
                    blockfile_fact_of(results->block, "addresses") ? "--cached" : "release 0.1.0");
    if (hasty)
        text_format(lines, "%d patterns without 3 repetitions: there was no time for them\n", hasty);
    if (results->failed)
        text_format(lines, "%d pattern%s with a length that failed\n", results->failed,
                    results->failed == 1 ? "" : "s");
    if (!results->block->complete)
        text_add(lines, "the run did not come to its end\n");
}

/* ---- one run: words and what machines read ---- */

static const char *beff_word(const struct beff_results *results, const char *key)
{
    const char *text = blockfile_fact_of(results->block, key);
    return text ? text : "?";
}

static void beff_put_words(struct result *result, const struct beff_results *results, const struct beff_summary *s)
{
    char path[ANALYSIS_NAME_MAX], cells[3][SHOW_CELL_MAX], memory[UNITS_TEXT_MAX];
    int hosts;
    const enum beff_placement placement = beff_results_placement(results, &hosts);
    result_line(result, "block %" PRId64 " of %s: %s, %s", results->block_number,
                analysis_path_text(results->path, path), beff_word(results, "hostname"),
                beff_word(results, "timestamp"));
    result_line(result, "%d processes on %d host%s, %s", results->nprocs, hosts, hosts == 1 ? "" : "s",
                beff_placement_text(placement));
    result_line(result, "%.76s", beff_word(results, "mpi_library"));
    result_line(result, "ping-pong: latency %s us (1 B); MByte/s: %s at L_max, %s at best",
                show_cell(s->latency_s * 1e6, 4, cells[0]), show_cell(s->pingpong / BEFF_MBYTE, 5, cells[1]),
                show_cell(s->pingpong_largest / BEFF_MBYTE, 5, cells[2]));
    if (isfinite(s->mean36.both))
        result_line(result, "as b_eff 3.6 counts (one message each way in rings of 2): %s MByte/s",
                    show_cell(s->mean36.both / BEFF_MBYTE, 5, cells[0]));
    const double each = s->memory_bytes / results->nprocs;
    result_line(result, "memory: %s a process (%s); seed %s", isfinite(each) ? units_bytes((int64_t)each, memory) : "?",
                beff_word(results, "memory_per_process_from"), beff_word(results, "seed"));
    if (isfinite(s->coffee_s))
        result_line(result, "the memory of all processes, %s, is communicated in %.3g s",
                    units_bytes((int64_t)s->memory_bytes, memory), s->coffee_s);
    if (isfinite(s->balance_bytes_per_flop))
        result_line(result, "balance factor: %.4g bytes a flop (R_max %.6g GFlop/s)", s->balance_bytes_per_flop,
                    s->rmax_gflops);
}

static void beff_put_deviations(struct result *result, const struct beff_results *results)
{
    static const struct result_column columns[] = {{.key = "", .form = RESULT_TEXT}, {0}};
    struct text lines = {0};
    beff_deviations(results, &lines);
    for (const char *at = text_get(&lines); *at; at += strcspn(at, "\n") + 1)
        result_note(result, RESULT_NOTE, "not standard: %.*s", (int)strcspn(at, "\n"), at);
    char *rest = lines.data, *line;
    result_begin_table(result, "not_standard", NULL, columns);
    result_only_in(result, RESULT_IN_JSON);
    while (rest && (line = strsep(&rest, "\n")) != NULL && *line) {
        result_row(result);
        result_put_text(result, line);
    }
    text_clear(&lines);
    for (size_t i = 0; i < results->block->fact_count; i++)
        if (strcmp(results->block->facts[i].key, "warning") == 0)
            result_note(result, RESULT_WARNING, "%s", results->block->facts[i].value);
    if (isnan(beff_average(results, BEFF_EVERYTHING).both))
        result_note(result, RESULT_WARNING,
                    "block %" PRId64 ": no b_eff: not all of the 6 ring patterns and 1 random pattern is there",
                    results->block_number);
}

static void beff_put_facts(struct result *result, const struct beff_results *results, const struct beff_summary *s)
{
    const int n = results->nprocs;
    int hosts;
    const enum beff_placement placement = beff_results_placement(results, &hosts);
    const struct {
        const char *key;
        double value;
    } values[] = {{"b_eff", s->mean.both},
                  {"b_eff_per_process", s->mean.both / n},
                  {"rings", s->mean.rings},
                  {"random", s->mean.random},
                  {"b_eff_as_3_6", s->mean36.both},
                  {"rings_as_3_6", s->mean36.rings},
                  {"random_as_3_6", s->mean36.random},
                  {"b_eff_as_3_6_at_length_max", s->longest36.both},
                  {"pingpong_at_length_max", s->pingpong},
                  {"pingpong_largest", s->pingpong_largest},
                  {"latency_s", s->latency_s},
                  {"b_eff_at_length_max", s->longest.both},
                  {"b_eff_at_length_max_per_process", s->longest.both / n},
                  {"rings_at_length_max_per_process", s->longest.rings / n},
                  {"memory_bytes", s->memory_bytes},
                  {"memory_communicated_in_s", s->coffee_s},
                  {"balance_bytes_per_flop", s->balance_bytes_per_flop}};
    result_fact_int(result, "hosts", NULL, hosts);
    result_fact_text(result, "placement", NULL, beff_placement_text(placement));
    result_fact_int(result, "random_patterns", NULL, s->mean.random_patterns);
    result_fact_int(result, "length_max_bytes", NULL, s->length_max);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        result_fact(result, values[i].key, NULL, RESULT_NUMBER, values[i].value);
}

/* As machines read them: values by method, length and pattern. */
static void beff_put_values(struct result *result, const struct beff_results *results)
{
    static const struct result_column methods[] = {{.key = "method", .form = RESULT_TEXT},
                                                   {.key = "b_eff", .form = RESULT_NUMBER},
                                                   {.key = "rings", .form = RESULT_NUMBER},
                                                   {.key = "random", .form = RESULT_NUMBER},
                                                   {0}};
    static const struct result_column lengths[] = {{.key = "length_bytes", .form = RESULT_INT},
                                                   {.key = "rings", .form = RESULT_NUMBER},
                                                   {.key = "random", .form = RESULT_NUMBER},
                                                   {0}};
    static const struct result_column numbers[] = {{.key = "", .form = RESULT_NUMBER}, {0}};
    result_begin_table(result, "by_method", NULL, methods);
    result_only_in(result, RESULT_IN_JSON);
    for (int m = 0; m < BEFF_TURNS; m++) {
        const struct beff_average average = beff_average(
            results, (struct beff_filter){.method = m, .repetition = BEFF_ALL, .length = BEFF_ALL});
        result_row(result);
        result_put_text(result, BEFF_METHOD_TABLE[m].name);
        result_put_number(result, average.both);
        result_put_number(result, average.rings);
        result_put_number(result, average.random);
    }
    result_begin_table(result, "by_length", NULL, lengths);
    result_only_in(result, RESULT_IN_JSON);
    for (int i = 0; i < results->length_count; i++) {
        const struct beff_average average = beff_average(
            results, (struct beff_filter){.method = BEFF_ALL, .repetition = BEFF_ALL, .length = i});
        result_row(result);
        result_put_int(result, results->lengths[i]);
        result_put_number(result, average.rings);
        result_put_number(result, average.random);
    }
    for (size_t p = 0; p < results->row_count; p++) {
        const struct beff_row *row = &results->rows[p];
        char name[BEFF_NAME_MAX];
        result_begin_group(result, "by_pattern", NULL);
        result_fact_text(result, "pattern", NULL, beff_pattern_name(row->pattern, name));
        result_fact_int(result, "messages", NULL, row->messages);
        result_fact(result, "mean", NULL, RESULT_NUMBER, beff_row_value(results, row, BEFF_EVERYTHING));
        result_begin_table(result, "by_length", NULL, numbers);
        result_only_in(result, RESULT_IN_JSON);
        for (int i = 0; i < results->length_count; i++) {
            result_row(result);
            result_put_number(result, beff_best(results, row, i, BEFF_EVERYTHING, NULL));
        }
        result_end_group(result);
    }
}

/* Every single measurement. */
static void beff_put_protocol(struct result *result, const struct beff_results *results, bool times)
{
    static const struct result_column columns[] = {
        {.key = "pattern", .form = RESULT_TEXT},
        {.key = "method", .form = RESULT_TEXT},
        {.key = "messages", .form = RESULT_INT},
        {.key = "length_bytes", .label = "length", .unit = "B", .form = RESULT_INT},
        {.key = "repetition", .label = "rep", .form = RESULT_INT},
        {.key = "loops", .form = RESULT_INT},
        {.key = "time_ns", .label = "time", .form = RESULT_NS},
        {.key = "bytes_per_s",
         .label = "",
         .unit = "MByte/s",
         .form = RESULT_NUMBER,
         .decimals = -5,
         .scale = BEFF_MBYTE},
        {0}};
    result_begin_table(result, "protocol", "Protocol (bandwidth = length x messages x loops / time of the slowest)",
                       columns);
    result_only_in(result, RESULT_IN_CSV | (times ? RESULT_IN_TEXT : 0));
    for (size_t p = 0; p < results->row_count; p++)
        for (int i = 0; i < results->length_count; i++)
            for (int m = 0; m < BEFF_METHODS; m++) {
                const struct beff_row *row = &results->rows[p];
                const struct beff_cell *cell = &row->cells[i][m];
                for (int r = 0; r < cell->count; r++) {
                    char name[BEFF_NAME_MAX];
                    result_row(result);
                    result_put_text(result, beff_pattern_name(row->pattern, name));
                    result_put_text(result, BEFF_METHOD_TABLE[m].name);
                    result_put_int(result, row->messages);
                    result_put_int(result, results->lengths[i]);
                    result_put_int(result, r + 1);
                    result_put_int(result, cell->loops);
                    result_put_int(result, cell->times_ns[r]);
                    result_put_number(
                        result, beff_bandwidth(results->lengths[i], row->messages, cell->loops, cell->times_ns[r]));
                }
            }
}

static void beff_put_run(struct result *result, const struct beff_results *results, bool times)
{
    const struct beff_summary summary = beff_summarize(results);
    result_begin_group(result, "runs", NULL);
    result_fact_text(result, "file", NULL, results->path);
    result_fact_int(result, "block", NULL, results->block_number);
    result_fact_int(result, "nprocs", NULL, results->nprocs);
    beff_put_words(result, results, &summary);
    beff_put_protocol(result, results, times);
    beff_put_facts(result, results, &summary);
    beff_put_values(result, results);
    beff_put_deviations(result, results);
    result_end_group(result);
}

/* ---- tables for people, in MByte/s ---- */

#define RATE(word, text)                                                                                               \
    {                                                                                                                  \
        .key = word, .label = text, .form = RESULT_NUMBER, .decimals = -5, .scale = BEFF_MBYTE                         \
    }

static void beff_begin_table(struct result *result, const char *key, const char *title,
                             const struct result_column *columns)
{
    result_begin_table(result, key, title, columns);
    result_only_in(result, RESULT_IN_TEXT | RESULT_IN_PAGE);
}

/* The columns of the document's Table 1. */
static void beff_put_summary(struct result *result, const struct beff_runs *runs)
{
    static const struct result_column columns[] = {{.key = "block", .label = "blk", .form = RESULT_INT},
                                                   {.key = "processes", .label = "procs", .form = RESULT_INT},
                                                   RATE("b_eff", "b_eff"),
                                                   RATE("per_process", "b_eff per process"),
                                                   {.key = "length_max", .label = "L_max", .form = RESULT_TEXT},
                                                   RATE("pingpong", "ping-pong at L_max"),
                                                   RATE("at_length_max", "b_eff at L_max"),
                                                   RATE("per_process_at_length_max", "per proc. at L_max, all"),
                                                   RATE("rings_at_length_max", "per proc. at L_max, rings"),
                                                   {0}};
    beff_begin_table(result, "summary", "Effective bandwidth (MByte/s)", columns);
    for (size_t i = 0; i < runs->count; i++) {
        const struct beff_results *results = &runs->items[i];
        const struct beff_summary s = beff_summarize(results);
        char length[BEFF_LENGTH_TEXT_MAX];
        result_row(result);
        result_put_int(result, results->block_number);
        result_put_int(result, results->nprocs);
        result_put_number(result, s.mean.both);
        result_put_number(result, s.mean.both / results->nprocs);
        result_put_text(result, beff_length_text(s.length_max, length));
        result_put_number(result, s.pingpong);
        result_put_number(result, s.longest.both);
        result_put_number(result, s.longest.both / results->nprocs);
        result_put_number(result, s.longest.rings / results->nprocs);
    }
    result_line(result, "MByte/s = 10^6 bytes a second; message lengths: kB = 1024 bytes, MB = 2^20 bytes");
}

/* What b_eff 3.6 would print, to be laid beside it. */
static void beff_put_summary36(struct result *result, const struct beff_runs *runs)
{
    static const struct result_column columns[] = {{.key = "block", .label = "blk", .form = RESULT_INT},
                                                   {.key = "processes", .label = "procs", .form = RESULT_INT},
                                                   RATE("b_eff", "b_eff"),
                                                   RATE("rings", "rings"),
                                                   RATE("random", "random"),
                                                   RATE("at_length_max", "b_eff at L_max"),
                                                   RATE("rings_at_length_max", "rings at L_max"),
                                                   {0}};
    bool any = false;
    for (size_t i = 0; i < runs->count; i++)
        any |= runs->items[i].walks;
    if (!any)
        return;
    beff_begin_table(result, "summary_as_3_6", "As b_eff 3.6 counts (MByte/s)", columns);
    for (size_t i = 0; i < runs->count; i++) {
        const struct beff_summary s = beff_summarize(&runs->items[i]);
        result_row(result);
        result_put_int(result, runs->items[i].block_number);
        result_put_int(result, runs->items[i].nprocs);
        result_put_number(result, s.mean36.both);
        result_put_number(result, s.mean36.rings);
        result_put_number(result, s.mean36.random);
        result_put_number(result, s.longest36.both);
        result_put_number(result, s.longest36.rings);
    }
}

/* The last value is that of all methods. */
static struct beff_filter beff_filter_of(int m)
{
    return (struct beff_filter){.method = m == BEFF_TURNS ? BEFF_ALL : m, .repetition = BEFF_ALL, .length = BEFF_ALL};
}

static void beff_put_by_method(struct result *result, const struct beff_results *results)
{
    static const struct result_column columns[] = {{.key = "value", .label = "", .form = RESULT_TEXT},
                                                   RATE("sendrecv", "Sendrecv"),
                                                   RATE("alltoallv", "Alltoallv"),
                                                   RATE("nonblocking", "nonblocking"),
                                                   RATE("best", "best"),
                                                   {0}};
    static const char *const names[] = {"b_eff", "rings (log. average)", "random (log. average)"};
    beff_begin_table(result, "method_table", "By method (MByte/s, mean over the 21 lengths)", columns);
    for (int value = 0; value < 3; value++) {
        result_row(result);
        result_put_text(result, names[value]);
        for (int m = 0; m <= BEFF_TURNS; m++) {
            const struct beff_average average = beff_average(results, beff_filter_of(m));
            result_put_number(result, value == 0 ? average.both : value == 1 ? average.rings : average.random);
        }
    }
    for (size_t i = 0; i < results->row_count; i++) {
        const struct beff_pattern pattern = results->rows[i].pattern;
        char label[BEFF_NAME_MAX];
        if (pattern.kind == BEFF_RING || pattern.kind == BEFF_RANDOM || pattern.kind == BEFF_PINGPONG)
            continue;
        result_row(result);
        result_put_text(result, beff_pattern_label(pattern, label));
        for (int m = 0; m <= BEFF_TURNS; m++)
            result_put_number(result, beff_row_value(results, &results->rows[i], beff_filter_of(m)));
    }
}

static void beff_put_by_repetition(struct result *result, const struct beff_results *results)
{
    static const struct result_column columns[] = {
        {.key = "repetition", .form = RESULT_INT}, RATE("b_eff", "b_eff of it alone"), {0}};
    const int repetitions = (int)beff_fact(results, "repetitions", 0);
    beff_begin_table(result, "repetition_table", "By repetition (MByte/s)", columns);
    for (int r = 0; r < repetitions && r < BEFF_REPETITIONS_MAX; r++) {
        result_row(result);
        result_put_int(result, r + 1);
        result_put_number(
            result,
            beff_average(results, (struct beff_filter){.method = BEFF_ALL, .repetition = r, .length = BEFF_ALL}).both);
    }
}

static void beff_put_by_length(struct result *result, const struct beff_results *results)
{
    static const struct result_column columns[] = {{.key = "length", .form = RESULT_TEXT},
                                                   RATE("rings", "rings"),
                                                   RATE("random", "random"),
                                                   RATE("worst_cycle", "worst cycle"),
                                                   RATE("cart2d", "2-D"),
                                                   RATE("cart3d", "3-D"),
                                                   RATE("ping_pong", "ping-pong"),
                                                   {0}};
    static const struct beff_pattern others[] = {
        {.kind = BEFF_WORST_CYCLE}, {.kind = BEFF_CART2}, {.kind = BEFF_CART3}, {.kind = BEFF_PINGPONG}};
    beff_begin_table(result, "length_table", "By message length (MByte/s)", columns);
    for (int i = 0; i < results->length_count; i++) {
        char length[BEFF_LENGTH_TEXT_MAX];
        const struct beff_filter here = {.method = BEFF_ALL, .repetition = BEFF_ALL, .length = i};
        const struct beff_average average = beff_average(results, here);
        result_row(result);
        result_put_text(result, beff_length_text(results->lengths[i], length));
        result_put_number(result, average.rings);
        result_put_number(result, average.random);
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            const struct beff_row *row = beff_row_of(results, others[k]);
            result_put_number(result, row ? beff_row_value(results, row, here) : NAN);
        }
    }
}

static void beff_put_by_pattern(struct result *result, const struct beff_results *results)
{
    static const struct result_column columns[] = {{.key = "pattern", .form = RESULT_TEXT},
                                                   {.key = "processes", .form = RESULT_TEXT},
                                                   {.key = "messages", .form = RESULT_INT},
                                                   RATE("mean", "mean"),
                                                   RATE("at_length_max", "at L_max"),
                                                   {.key = "method", .form = RESULT_TEXT},
                                                   {0}};
    const int last = results->length_count - 1;
    beff_begin_table(result, "pattern_table",
                     "By pattern (MByte/s; mean: over the lengths; method: the best one at L_max)", columns);
    for (size_t i = 0; i < results->row_count; i++) {
        const struct beff_row *row = &results->rows[i];
        char label[BEFF_NAME_MAX], shape[BEFF_RINGS_TEXT_MAX];
        int method = BEFF_ALL;
        const double longest = last < 0 ? NAN : beff_best(results, row, last, BEFF_EVERYTHING, &method);
        result_row(result);
        result_put_text(result, beff_pattern_label(row->pattern, label));
        result_put_text(result, beff_pattern_shape(row->pattern, results->nprocs, shape));
        result_put_int(result, row->messages);
        result_put_number(result, beff_row_value(results, row, BEFF_EVERYTHING));
        result_put_number(result, longest);
        result_put_text(result, method == BEFF_ALL ? NULL : BEFF_METHOD_TABLE[method].label);
    }
}

/* ---- charts ---- */

enum { CURVES = 3, DRAWN_MAX = 8 };

/* Of a process; ping-pong as it is: one message is under way at any time. */
static double beff_curve_at(const struct beff_results *results, int curve, int length)
{
    const struct beff_filter here = {.method = BEFF_ALL, .repetition = BEFF_ALL, .length = length};
    assert(curve < CURVES && length < results->length_count);
    if (curve < 2) {
        const struct beff_average average = beff_average(results, here);
        return (curve == 0 ? average.rings : average.random) / results->nprocs / BEFF_MBYTE;
    }
    const struct beff_row *row = beff_row_of(results, (struct beff_pattern){.kind = BEFF_PINGPONG});
    return row ? beff_row_value(results, row, here) / BEFF_MBYTE : NAN;
}

/* Lengths at equal distances; runs differ in their longest messages. */
static void beff_name_lengths(const struct beff_runs *runs, char texts[BEFF_LENGTHS][BEFF_LENGTH_TEXT_MAX],
                              const char *names[BEFF_LENGTHS])
{
    for (int i = 0; i < BEFF_LENGTHS; i++) {
        const bool named = i % 5 == 0 || i == BEFF_FIXED_LENGTHS - 1;
        if (i < BEFF_FIXED_LENGTHS)
            beff_length_text((int64_t)1 << i, texts[i]);
        else if (runs->count == 1 && i < runs->items[0].length_count)
            beff_length_text(runs->items[0].lengths[i], texts[i]);
        else
            snprintf(texts[i], BEFF_LENGTH_TEXT_MAX, i == BEFF_LENGTHS - 1 ? "L_max" : "4 kB a^%d",
                     i - BEFF_FIXED_LENGTHS + 1);
        names[i] = named ? texts[i] : "";
    }
}

static bool beff_has_curve(const struct beff_results *results, int curve)
{
    for (int i = 0; i < results->length_count; i++)
        if (isfinite(beff_curve_at(results, curve, i)))
            return true;
    return false;
}

/* Linear, where the area under a curve is its average, and logarithmic, where short messages can be seen. */
static void beff_draw(struct result *result, const struct beff_runs *runs)
{
    static const char *const curves[CURVES] = {"rings", "random", "ping-pong"};
    char texts[BEFF_LENGTHS][BEFF_LENGTH_TEXT_MAX];
    const char *names[BEFF_LENGTHS];
    beff_name_lengths(runs, texts, names);
    result_figure(result, "b_eff: bandwidth against message length",
                  "best method and repetition; rings and random: logarithmic average over the patterns, divided by the "
                  "number of processes; MByte = 10^6 bytes");
    for (int side = 0; side < 2; side++) {
        const struct result_axis x = {.label = "message length", .names = names, .name_count = BEFF_LENGTHS};
        const struct result_axis y = {
            .label = "bandwidth of a process (MByte/s)", .log = side == 1, .from_zero = side == 0};
        result_begin_panel(result, &x, &y, 2, "%s",
                           side ? "logarithmic" : "linear: the mean height is the average over the lengths");
        for (size_t r = 0; r < runs->count && r < DRAWN_MAX; r++)
            for (int c = 0; c < CURVES; c++) {
                const struct beff_results *results = &runs->items[r];
                if (!beff_has_curve(results, c))
                    continue;
                if (runs->count == 1)
                    result_begin_series(result, RESULT_LINE, "%s", curves[c]);
                else
                    result_begin_series(result, RESULT_LINE, "%.60s, block %" PRId64 ": %s",
                                        analysis_base_name(results->path), results->block_number, curves[c]);
                for (int i = 0; i < results->length_count; i++)
                    result_point(result, i, beff_curve_at(results, c, i), NAN, NAN);
            }
    }
    if (runs->count > DRAWN_MAX)
        result_note(result, RESULT_NOTE, "%zu more runs are not drawn: choose with --block", runs->count - DRAWN_MAX);
}

/* ---- the whole ---- */

pl_status beff_results(const struct analysis_request *request, const struct analysis_input *input,
                       struct result *result, struct pl_error *error)
{
    struct beff_runs runs = {0};
    const pl_status status = beff_collect(request, input, &runs, error);
    for (size_t i = 0; i < runs.count && status == PL_OK; i++) {
        beff_put_run(result, &runs.items[i], request->times);
        beff_add_quantities(result, &runs.items[i]);
    }
    if (status == PL_OK) {
        result_fact_text(result, "unit", NULL, "bytes a second");
        result_csv_table(result, "protocol");
        beff_put_summary(result, &runs);
        beff_put_summary36(result, &runs);
        if (runs.count > 1 && !request->times)
            result_line(result, "The tables of one run by method, message length and pattern: --block N");
        beff_draw(result, &runs);
    }
    if (status == PL_OK && runs.count == 1 && !request->times) {
        beff_put_by_method(result, &runs.items[0]);
        beff_put_by_repetition(result, &runs.items[0]);
        beff_put_by_length(result, &runs.items[0]);
        beff_put_by_pattern(result, &runs.items[0]);
    }
    for (size_t i = 0; i < runs.count; i++)
        beff_results_clear(&runs.items[i]);
    free(runs.items);
    return status;
}
