/* The document of b_eff_io: the table of patterns, values, verdict, three diagrams for each case, and the quantities.
 */
#include "bench/beffio/beffio.h"

#include "base/memory.h"
#include "base/units.h"
#include "lab/show/show.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct beffio_result *beffio_of(const struct beffio_report *report, const struct beffio_case *item,
                                             int method, int pattern)
{
    assert(item->results < report->result_count);
    return beffio_results_find(&report->results[item->results], item->path, item->partition, (enum beffio_method)method,
                               pattern);
}

static double beffio_case_value(const struct beffio_case *item, int method)
{
    return method == BEFFIO_REWRITE ? beffio_rewrite_value(&item->rates, item->order_2_0)
                                    : beffio_method_value(item->rates.type[method]);
}

/* ---- quantities ---- */

static const struct quantity_kind VALUE = {
    "b_eff_io", "MB/s",
    "25 % initial write, 25 % rewrite, 50 % read; of each the mean over pattern types, type 0 twice", false};
static const struct quantity_kind TYPE_RATE = {
    "rate of a pattern type", "MB/s", "bytes of its patterns / time from open to close of the slowest process", false};

/* A run that was resumed has several blocks: its values are those of the last one. */
static void beffio_add_quantities(struct result *result, const struct beffio_case *item)
{
    char what[64], settings[80];
    if (item->continued)
        return;
    snprintf(settings, sizeof settings, "T %g s, %d processes%s", item->time_s, item->partition,
             item->release_2_1 ? ", schedule of release 2.1" : "");
    result_quantity(result, item->block, &VALUE, NULL, settings, (struct analysis_estimate){item->value, NAN});
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int type = 0; type < BEFFIO_TYPES; type++) {
            snprintf(what, sizeof what, "%s rate of type %d", beffio_method_name((enum beffio_method)method), type);
            result_quantity(result, item->block, &TYPE_RATE, what, settings,
                            (struct analysis_estimate){item->rates.type[method][type], NAN});
        }
}

/* ---- words above the table ---- */

static const char *beffio_fact(const struct beffio_case *item, const char *key)
{
    const char *value = blockfile_fact_of(item->block, key);
    return value ? value : "unknown";
}

/* Of a parallel file system; MPI-IO tells it with the hints in use. */
static const char *beffio_used_hint(const struct beffio_case *item, const char *key)
{
    for (size_t s = 0; s < item->block->set_count; s++)
        for (size_t h = 0; h < item->block->sets[s].hint_count; h++) {
            const struct blockfile_hint *hint = &item->block->sets[s].hints[h];
            if (hint->used && strcmp(hint->key, key) == 0)
                return hint->value;
        }
    return "not told";
}

static void beffio_put_given(struct result *result, const struct beffio_case *item)
{
    for (size_t i = 0; i < item->block->fact_count; i++) {
        const struct blockfile_pair *fact = &item->block->facts[i];
        struct text words = {0};
        if (strcmp(fact->key, "given") != 0)
            continue;
        for (size_t k = 0; k < item->block->input_count; k++)
            if (strcmp(item->block->inputs[k].key, fact->value) == 0) {
                text_add(&words, words.length ? ", " : "");
                text_add_escaped(&words, item->block->inputs[k].value);
            }
        result_line(result, "not as by default: %s %s", fact->value, text_get(&words));
        text_clear(&words);
    }
}

static void beffio_put_head(struct result *result, const struct beffio_case *item)
{
    char bytes[UNITS_TEXT_MAX], took[UNITS_TEXT_MAX];
    const char *memory = blockfile_input_of(item->block, "memory-node");
    int64_t number = 0;
    units_parse_int(memory ? memory : "0", 0, INT64_MAX, &number);
    result_line(result, "%d process%s on %d node%s, up to %d on one; threads of each: %s; T = %s%s", item->partition,
                item->partition == 1 ? "" : "es", item->nodes, item->nodes == 1 ? "" : "s", item->most_on_node,
                beffio_fact(item, "threads"), units_duration(item->time_s, took),
                item->order_2_0 ? "; 2.0 schedule, not official" : "");
    result_line(result, "%.76s", beffio_fact(item, "mpi_library"));
    result_line(result, "MPI-IO %s; folder '%s' (%s)", beffio_fact(item, "mpiio"), item->folder,
                beffio_fact(item, "filesystem"));
    result_line(result, "file system block %s bytes; striping factor %s, unit %s",
                beffio_fact(item, "filesystem_block"), beffio_used_hint(item, "striping_factor"),
                beffio_used_hint(item, "striping_unit"));
    result_line(result, "memory of a node %s, M_PART %s bytes", units_bytes(number, bytes),
                beffio_fact(item, "mpart_bytes"));
    beffio_put_given(result, item);
}

/* ---- the table: one for people, one for machines ---- */

static double beffio_share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

static void beffio_put_type(struct result *result, const struct beffio_report *report, const struct beffio_case *item,
                            int type)
{
    static const struct result_column columns[] = {{.key = "pattern", .label = "no", .form = RESULT_INT},
                                                   {.key = "chunk", .form = RESULT_TEXT},
                                                   {.key = "call", .form = RESULT_INT},
                                                   {.key = "units", .label = "U", .form = RESULT_INT},
                                                   {.key = "write", .form = RESULT_NUMBER, .decimals = -4},
                                                   {.key = "rewrite", .form = RESULT_NUMBER, .decimals = -4},
                                                   {.key = "read", .form = RESULT_NUMBER, .decimals = -4},
                                                   {.key = "calls", .form = RESULT_INT},
                                                   {.key = "sync", .form = RESULT_PERCENT},
                                                   {.key = "stop", .form = RESULT_PERCENT},
                                                   {0}};
    char title[80];
    snprintf(title, sizeof title, "type %d: %s", type, beffio_type_name(type));
    result_begin_table(result, "type_table", title, columns);
    result_only_in(result, RESULT_IN_TEXT | RESULT_IN_PAGE);
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_result *write = beffio_of(report, item, BEFFIO_WRITE, p);
        double stop = NAN;
        result_row(result);
        result_put_int(result, p);
        result_put_text(result, beffio_chunk_name(BEFFIO_TABLE[p].chunk));
        result_put_int(result, write ? write->call_bytes : 0);
        result_put_int(result, BEFFIO_TABLE[p].units);
        for (int method = 0; method < BEFFIO_METHODS; method++) {
            const struct beffio_result *got = beffio_of(report, item, method, p);
            result_put_number(
                result, got && !got->failed ? beffio_pattern_rate((double)got->bytes, (double)got->time_ns) : NAN);
            stop = got ? fmax(stop, beffio_share(got->decide_ns, got->time_ns)) : stop;
        }
        if (write)
            result_put_int(result, write->calls);
        else
            result_put_empty(result);
        result_put_number(result, write ? beffio_share(write->sync_ns, write->time_ns) : NAN);
        result_put_number(result, stop);
    }
    result_row(result);
    result_put_empty(result);
    result_put_text(result, "open to close");
    result_put_empty(result);
    result_put_empty(result);
    for (int method = 0; method < BEFFIO_METHODS; method++)
        result_put_number(result, item->rates.type[method][type]);
}

static void beffio_put_types(struct result *result, const struct beffio_report *report, const struct beffio_case *item)
{
    for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
        bool there = false;
        for (int method = 0; method < BEFFIO_METHODS; method++)
            there |= beffio_of(report, item, method, beffio_type_first(type)) != NULL;
        if (there)
            beffio_put_type(result, report, item, type);
    }
}

static void beffio_put_patterns(struct result *result, const struct beffio_report *report,
                                const struct beffio_case *item)
{
    struct result_column columns[BEFFIO_FIELDS + 8] = {{.key = "method", .form = RESULT_TEXT},
                                                       {.key = "type", .form = RESULT_INT},
                                                       {.key = "pattern", .form = RESULT_INT},
                                                       {.key = "units", .form = RESULT_INT}};
    for (int c = 0; c < BEFFIO_FIELDS; c++)
        columns[4 + c] = (struct result_column){.key = beffio_field_name(c), .form = RESULT_INT};
    columns[4 + BEFFIO_FIELDS] = (struct result_column){.key = "decisions", .form = RESULT_INT};
    columns[5 + BEFFIO_FIELDS] = (struct result_column){.key = "failed", .form = RESULT_BOOL};
    columns[6 + BEFFIO_FIELDS] = (struct result_column){.key = "rate_mb_per_s", .form = RESULT_RATE};
    result_begin_table(result, "patterns", NULL, columns);
    result_only_in(result, RESULT_IN_JSON | RESULT_IN_CSV);
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++) {
            const struct beffio_result *got = beffio_of(report, item, method, p);
            if (!got)
                continue;
            result_row(result);
            result_put_text(result, beffio_method_name((enum beffio_method)method));
            result_put_int(result, BEFFIO_TABLE[p].type);
            result_put_int(result, p);
            result_put_int(result, BEFFIO_TABLE[p].units);
            for (int c = 0; c < BEFFIO_FIELDS; c++)
                result_put_int(result, beffio_field(got, c));
            result_put_int(result, got->decisions);
            result_put_bool(result, got->failed);
            result_put_number(result,
                              got->failed ? NAN : beffio_pattern_rate((double)got->bytes, (double)got->time_ns));
        }
}

/* ---- the three diagrams ---- */

/* Bytes over time of the patterns of a type that have this chunk size and time units. */
static double beffio_chunk_rate(const struct beffio_report *report, const struct beffio_case *item, int method,
                                int type, int chunk)
{
    double bytes = 0, ns = 0;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_result *got = beffio_of(report, item, method, p);
        if (!got || got->failed || (int)BEFFIO_TABLE[p].chunk != chunk || BEFFIO_TABLE[p].units == 0)
            continue;
        bytes += (double)got->bytes;
        ns += (double)got->time_ns;
    }
    return beffio_pattern_rate(bytes, ns);
}

/* Their points, for the page. */
static void beffio_put_diagrams(struct result *result, const struct beffio_report *report,
                                const struct beffio_case *item)
{
    static const struct result_column columns[] = {{.key = "method", .form = RESULT_TEXT},
                                                   {.key = "type", .form = RESULT_INT},
                                                   {.key = "chunk", .form = RESULT_INT}, /* enum beffio_chunk */
                                                   {.key = "rate_mb_per_s", .form = RESULT_RATE},
                                                   {0}};
    result_begin_table(result, "diagrams", NULL, columns);
    result_only_in(result, RESULT_IN_JSON);
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int type = 0; type < BEFFIO_TYPES_ALL; type++)
            for (int chunk = 0; chunk < BEFFIO_CHUNKS; chunk++) {
                const double rate = beffio_chunk_rate(report, item, method, type, chunk);
                if (isnan(rate))
                    continue;
                result_row(result);
                result_put_text(result, beffio_method_name((enum beffio_method)method));
                result_put_int(result, type);
                result_put_int(result, chunk);
                result_put_number(result, rate);
            }
}

/* ---- below it: values and verdict ---- */

static void beffio_put_methods(struct result *result, const struct beffio_case *item)
{
    static const struct result_column columns[] = {
        {.key = "method", .form = RESULT_TEXT},
        {.key = "bytes", .label = "bytes moved", .form = RESULT_BYTES},
        {.key = "value", .label = "value (type 0 twice)", .form = RESULT_RATE},
        {0}};
    static const struct result_column numbers[] = {{.key = "", .form = RESULT_NUMBER}, {0}};
    for (int method = 0; method < BEFFIO_METHODS; method++) {
        result_begin_group(result, "methods", NULL);
        result_fact_text(result, "method", NULL, beffio_method_name((enum beffio_method)method));
        result_fact(result, "bytes", NULL, RESULT_NUMBER, item->moved_bytes[method]);
        result_fact(result, "value_mb_per_s", NULL, RESULT_NUMBER, beffio_case_value(item, method));
        result_fact(result, "cache_share", NULL, RESULT_NUMBER,
                    beffio_cache_share(item->moved_bytes[method], item->cache_bytes));
        result_begin_table(result, "types_mb_per_s", NULL, numbers);
        result_only_in(result, RESULT_IN_JSON);
        for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
            result_row(result);
            result_put_number(result, item->rates.type[method][type]);
        }
        result_end_group(result);
    }
    result_begin_table(result, "method_table", NULL, columns);
    result_only_in(result, RESULT_IN_TEXT | RESULT_IN_PAGE);
    for (int method = 0; method < BEFFIO_METHODS; method++) {
        result_row(result);
        result_put_text(result, beffio_method_name((enum beffio_method)method));
        result_put_number(result, item->moved_bytes[method]);
        result_put_number(result, beffio_case_value(item, method));
    }
}

/* Lines of a text as a list of its own: for people below a line that says what they are, for machines by `key`. */
static void beffio_put_lines(struct result *result, const char *key, const struct text *lines)
{
    static const struct result_column columns[] = {{.key = "", .form = RESULT_TEXT}, {0}};
    char *copy = memory_copy(text_get(lines)), *rest = copy, *line;
    for (const char *at = text_get(lines); *at; at += strcspn(at, "\n") + 1)
        result_line(result, "- %.*s", (int)strcspn(at, "\n"), at);
    result_begin_table(result, key, NULL, columns);
    result_only_in(result, RESULT_IN_JSON);
    while ((line = strsep(&rest, "\n")) != NULL && *line) {
        result_row(result);
        result_put_text(result, line);
    }
    free(copy);
}

static void beffio_put_release(struct result *result, const struct beffio_case *item)
{
    char cell[SHOW_CELL_MAX], kept[SHOW_CELL_MAX];
    if (item->release_2_1 && isnan(item->value_2_1_kept))
        result_line(result, "by release 2.1's schedule and average, its delete in the close of a read: %s MB/s",
                    show_cell(item->value_2_1, 5, cell));
    else if (item->release_2_1)
        result_line(result, "by release 2.1's schedule and average, files kept: %s MB/s",
                    show_cell(item->value_2_1, 5, cell));
    else if (item->deletes_known)
        result_line(result,
                    "release 2.1's average of these types: %s MB/s with its delete in the close of a read, "
                    "%s without (-keep)",
                    show_cell(item->value_2_1, 5, cell), show_cell(item->value_2_1_kept, 5, kept));
    else
        result_line(result, "release 2.1's average of these types: %s MB/s, files kept",
                    show_cell(item->value_2_1, 5, cell));
    result_fact(result, "release_2_1_mb_per_s", NULL, RESULT_NUMBER, item->value_2_1);
    result_fact(result, "release_2_1_kept_mb_per_s", NULL, RESULT_NUMBER, item->value_2_1_kept);
    result_fact_text(result, "release", NULL, item->release_2_1 ? "2.1" : "document");
}

/* Two statements that have nothing to do with each other: what the value is called, and what caches may have hidden. */
static void beffio_put_verdict(struct result *result, const struct beffio_case *item)
{
    const char *verdict = beffio_is_official(item) ? "OFFICIAL" : "NOT OFFICIAL";
    char cell[SHOW_CELL_MAX], memory[UNITS_TEXT_MAX];
    const double minutes = beffio_coffee_minutes(item->cache_bytes, item->value);
    result_line(result, "b_eff_io of this partition: %s MB/s (25 %% write, 25 %% rewrite, 50 %% read)",
                show_cell(item->value, 5, cell));
    beffio_put_release(result, item);
    if (item->cache_bytes > 0 && isfinite(item->value))
        result_line(result, "coffee-cup rule: the memory of %s in %s minutes (balanced: 10)",
                    units_bytes((int64_t)item->cache_bytes, memory), show_cell(minutes, 3, cell));
    result_fact(result, "b_eff_io_mb_per_s", NULL, RESULT_NUMBER, item->value);
    result_fact(result, "cache_bytes", NULL, RESULT_NUMBER, item->cache_bytes);
    result_fact(result, "coffee_cup_minutes", NULL, RESULT_NUMBER, minutes);
    result_fact_text(result, "verdict", NULL, verdict);
    result_line(result, "verdict: %s%s", verdict,
                beffio_is_official(item) ? " (all types in all methods, T of 15 minutes or more)" : "");
    beffio_put_lines(result, "reasons", &item->reasons);
    if (item->caches.length)
        result_line(result, "caches: part of the data may have stayed in memory");
    else if (item->cache_bytes > 0 && item->complete)
        result_line(result, "caches: each method moved at least %d times what they can hold", BEFFIO_CACHE_FACTOR);
    beffio_put_lines(result, "caches", &item->caches);
    if (item->warnings.length)
        result_line(result, "patterns to be doubted:");
    beffio_put_lines(result, "warnings", &item->warnings);
}

/* Results of 0.1.0 have no times of calls. */
static void beffio_put_kept(struct result *result, const struct beffio_report *report, const struct beffio_case *item)
{
    const struct beffio_results *all = &report->results[item->results];
    int64_t least = INT64_MAX;
    int count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct beffio_result *one = &all->list[i];
        if (one->path != item->path || one->partition != item->partition || one->failed || one->kept_calls <= 0 ||
            one->kept_calls >= one->calls)
            continue;
        least = one->kept_calls < least ? one->kept_calls : least;
        count++;
    }
    if (count)
        result_note(result, RESULT_NOTE,
                    "%d pattern%s made so many calls that not all of their times are kept, but those of the first %lld "
                    "of each process or more (kept_calls)",
                    count, count == 1 ? "" : "s", (long long)least);
}

static void beffio_put_case(struct result *result, const struct beffio_report *report, const struct beffio_case *item)
{
    result_begin_group(result, "partitions", "b_eff_io, run %s of %s", item->run, item->file);
    result_fact_text(result, "file", NULL, item->file); /* those before the patterns lead the rows of CSV */
    result_fact_text(result, "run", NULL, item->run);
    result_fact_text(result, "folder", NULL, item->folder);
    result_fact_int(result, "processes", NULL, item->partition);
    beffio_put_patterns(result, report, item);
    beffio_put_diagrams(result, report, item);
    result_fact_text(result, "mpiio", NULL, blockfile_fact_of(item->block, "mpiio"));
    result_fact_int(result, "nodes", NULL, item->nodes);
    result_fact(result, "time_s", NULL, RESULT_NUMBER, item->time_s);
    result_fact_text(result, "order", NULL, item->order_2_0 ? "2.0" : "document");
    beffio_put_head(result, item);
    beffio_put_types(result, report, item);
    beffio_put_methods(result, item);
    beffio_put_verdict(result, item);
    beffio_put_kept(result, report, item);
    for (size_t i = 0; i < item->block->fact_count; i++)
        if (strcmp(item->block->facts[i].key, "warning") == 0)
            result_note(result, RESULT_WARNING, "%s", item->block->facts[i].value);
    result_end_group(result);
}

/* ---- the three diagrams, drawn ---- */

/* Bandwidth on a logarithmic axis against the chunk size on disk on the document's pseudo-logarithmic one, where sizes
 * stand at equal distances. A case is a row of three panels. */
static void beffio_draw(struct result *result, const struct beffio_report *report, const struct beffio_case *item)
{
    static const char *const titles[BEFFIO_METHODS] = {"initial write", "rewrite", "read"};
    static const char *const names[BEFFIO_CHUNKS] = {"1k", "1k+8", "32k", "32k+8", "1M", "1M+8", "M_PART"};
    const struct result_axis x = {.label = "chunk on disk (bytes)", .names = names, .name_count = BEFFIO_CHUNKS};
    const struct result_axis y = {.label = "bandwidth", .form = RESULT_RATE, .log = true};
    for (int method = 0; method < BEFFIO_METHODS; method++) {
        result_begin_panel(result, &x, &y, BEFFIO_METHODS, "%s, %d process%s, %s", titles[method], item->partition,
                           item->partition == 1 ? "" : "es", beffio_fact(item, "mpiio"));
        for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
            double rates[BEFFIO_CHUNKS];
            bool any = false;
            for (int chunk = 0; chunk < BEFFIO_CHUNKS; chunk++) {
                rates[chunk] = beffio_chunk_rate(report, item, method, type, chunk);
                any |= isfinite(rates[chunk]);
            }
            if (!any)
                continue;
            result_begin_series(result, RESULT_LINE, "type %d: %s", type, beffio_type_name(type));
            for (int chunk = 0; chunk < BEFFIO_CHUNKS; chunk++)
                result_point(result, chunk, rates[chunk], NAN, NAN);
        }
    }
}

/* ---- the whole ---- */

/* The value of a system is the largest of its official partitions: of runs on several systems there are several, and
 * none is that of "the system". */
static void beffio_put_systems(struct result *result, const struct beffio_report *report)
{
    bool several = false;
    for (size_t i = 1; i < report->case_count; i++)
        several |= !beffio_same_system(&report->cases[0], &report->cases[i]);
    const struct beffio_case *only = several ? NULL : beffio_report_system(report, &report->cases[0]);
    result_fact(result, "system_mb_per_s", NULL, RESULT_NUMBER, only ? only->value : NAN);
    for (size_t i = 0; i < report->case_count; i++) {
        const struct beffio_case *item = &report->cases[i];
        const struct beffio_case *best = beffio_report_system(report, item);
        bool before = false;
        for (size_t k = 0; k < i; k++)
            before |= beffio_same_system(item, &report->cases[k]);
        if (before)
            continue;
        const char *name = several ? beffio_fact(item, "hostname") : "";
        const char *open = several ? " '" : "", *close = several ? "'" : "";
        if (best)
            result_line(result, "b_eff_io of the system%s%s%s: %.1f MB/s, by %d processes (run %s)", open, name, close,
                        best->value, best->partition, best->run);
        else
            result_line(result,
                        "b_eff_io of the system%s%s%s: none; it needs an official partition: T of 15 minutes "
                        "or more, all types in all methods",
                        open, name, close);
    }
}

pl_status beffio_results(const struct analysis_request *request, const struct analysis_input *input,
                         struct result *result, struct pl_error *error)
{
    enum { DRAWN_MAX = 8 };
    struct beffio_report report;
    if (beffio_report_make(request, input, &report, error) != PL_OK)
        return error->status;
    result_csv_table(result, "patterns");
    result_figure(result, "b_eff_io: bandwidth by pattern type and chunk size",
                  "bytes of a pattern over its time with MPI_File_sync; chunk sizes at equal distances, +8 is not "
                  "wellformed");
    for (size_t i = 0; i < report.case_count; i++) {
        beffio_put_case(result, &report, &report.cases[i]);
        beffio_add_quantities(result, &report.cases[i]);
        if (i < DRAWN_MAX)
            beffio_draw(result, &report, &report.cases[i]);
    }
    if (report.case_count > DRAWN_MAX)
        result_note(result, RESULT_NOTE, "%d of %zu partitions are drawn; --block selects others", DRAWN_MAX,
                    report.case_count);
    result_line(result, "MB/s: 10^6 bytes a second. calls: of each process, initial write. sync: share of "
                        "MPI_File_sync in its time. stop: share of the decisions to go on, the largest of the three.");
    beffio_put_systems(result, &report);
    beffio_report_clear(&report);
    return PL_OK;
}
