/* The report as text, in 80 columns. MB/s are 10^6 bytes a second. */
#include "base/units.h"
#include "bench/beffio/beffio_config.h"
#include "bench/beffio/beffio_report.h"
#include "measure/analysis_format.h"

#include <math.h>
#include <string.h>

static const struct beffio_result *result_of(const struct beffio_report *report, const struct beffio_case *item,
                                             int method, int pattern)
{
    return beffio_results_find(&report->results[item->results], item->path, item->partition, (enum beffio_method)method,
                               pattern);
}

static const char *fact(const struct beffio_case *item, const char *key)
{
    const char *value = blockfile_fact_of(item->block, key);
    return value ? value : "unknown";
}

static void put_rate(double rate, FILE *text)
{
    char cell[ANALYSIS_CELL_MAX];
    fprintf(text, " %9s", analysis_cell(rate, 4, cell));
}

static double rate_of(const struct beffio_result *result)
{
    return result && !result->failed && result->time_ns > 0 ? (double)result->bytes * 1e3 / (double)result->time_ns
                                                            : NAN;
}

/* ---- above the table ---- */

/* Of a parallel file system; MPI-IO tells it with the hints in use. */
static const char *used_hint(const struct beffio_case *item, const char *key)
{
    for (size_t s = 0; s < item->block->set_count; s++)
        for (size_t h = 0; h < item->block->sets[s].hint_count; h++) {
            const struct blockfile_hint *hint = &item->block->sets[s].hints[h];
            if (hint->used && strcmp(hint->key, key) == 0)
                return hint->value;
        }
    return "not told";
}

static void put_settings(const struct beffio_case *item, FILE *text)
{
    bool any = false;
    for (int i = 0; i < BEFFIO_SETTINGS; i++) {
        const char *name = beffio_setting_name(i), *value = blockfile_input_of(item->block, name);
        if (!value || !beffio_setting_was_given(item->block, i))
            continue;
        struct text escaped = {0};
        text_format(&escaped, "%s ", name);
        text_add_escaped(&escaped, value);
        fprintf(text, "%s %s\n", any ? "                    " : "  not as by default:", text_get(&escaped));
        text_clear(&escaped);
        any = true;
    }
}

static void put_head(const struct beffio_case *item, FILE *text)
{
    char bytes[UNITS_TEXT_MAX], took[UNITS_TEXT_MAX];
    fprintf(text, "b_eff_io, run %s of %s\n", item->run, item->file);
    fprintf(text, "  %d process%s on %d node%s, up to %d on one; threads of each: %s; T = %s%s\n", item->partition,
            item->partition == 1 ? "" : "es", item->nodes, item->nodes == 1 ? "" : "s", item->most_on_node,
            fact(item, "threads"), units_duration(item->time_s, took),
            item->order_2_0 ? "; 2.0 schedule, not official" : "");
    fprintf(text, "  %.78s\n", fact(item, "mpi_library"));
    fprintf(text, "  MPI-IO %s; folder '%s' (%s)\n", fact(item, "mpiio"), item->folder, fact(item, "filesystem"));
    fprintf(text, "  file system block %s bytes; striping factor %s, unit %s\n", fact(item, "filesystem_block"),
            used_hint(item, "striping_factor"), used_hint(item, "striping_unit"));
    const char *memory = blockfile_input_of(item->block, "memory-node"), *mpart = fact(item, "mpart_bytes");
    int64_t number = 0;
    units_parse_int(memory ? memory : "0", 0, INT64_MAX, &number);
    fprintf(text, "  memory of a node %s, M_PART %s bytes\n", units_bytes(number, bytes), mpart);
    put_settings(item, text);
}

/* ---- the table ---- */

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : NAN;
}

static void put_pattern(const struct beffio_report *report, const struct beffio_case *item, int pattern, FILE *text)
{
    const struct beffio_result *write = result_of(report, item, BEFFIO_WRITE, pattern);
    double stop = NAN;
    fprintf(text, "  %2d  %-6s %8lld  %d", pattern, beffio_chunk_name(BEFFIO_TABLE[pattern].chunk),
            write ? (long long)write->call_bytes : 0LL, BEFFIO_TABLE[pattern].units);
    for (int method = 0; method < BEFFIO_METHODS; method++) {
        const struct beffio_result *result = result_of(report, item, method, pattern);
        put_rate(rate_of(result), text);
        stop = result ? fmax(stop, share(result->decide_ns, result->time_ns)) : stop;
    }
    char calls[ANALYSIS_CELL_MAX] = "-", sync[ANALYSIS_CELL_MAX], cell[ANALYSIS_CELL_MAX];
    if (write)
        analysis_count_cell(write->calls, calls);
    fprintf(text, "  %8s %6s %6s\n", calls, analysis_cell(write ? share(write->sync_ns, write->time_ns) : NAN, 3, sync),
            analysis_cell(stop, 3, cell));
}

static void put_type(const struct beffio_report *report, const struct beffio_case *item, int type, FILE *text)
{
    fprintf(text, "\ntype %d: %s\n", type, beffio_type_name(type));
    fprintf(text, "  no  chunk      call  U     write   rewrite      read     calls sync %% stop %%\n");
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++)
        put_pattern(report, item, p, text);
    fprintf(text, "  from open to close    ");
    for (int method = 0; method < BEFFIO_METHODS; method++)
        put_rate(item->rates.type[method][type], text);
    fprintf(text, "\n");
}

static bool has_type(const struct beffio_report *report, const struct beffio_case *item, int type)
{
    for (int method = 0; method < BEFFIO_METHODS; method++)
        if (result_of(report, item, method, beffio_type_first(type)))
            return true;
    return false;
}

/* ---- below it ---- */

static void put_methods(const struct beffio_case *item, FILE *text)
{
    char moved[UNITS_TEXT_MAX];
    fprintf(text, "\n%-24s %9s %9s %9s\n", "", "write", "rewrite", "read");
    fprintf(text, "%-24s", "bytes moved");
    for (int method = 0; method < BEFFIO_METHODS; method++)
        fprintf(text, " %9s", units_bytes((int64_t)item->moved_bytes[method], moved));
    fprintf(text, "\n%-24s", "value (type 0 twice) MB/s");
    put_rate(beffio_method_value(item->rates.type[BEFFIO_WRITE]), text);
    put_rate(beffio_rewrite_value(&item->rates, item->order_2_0), text);
    put_rate(beffio_method_value(item->rates.type[BEFFIO_READ]), text);
    fprintf(text, "\n");
}

/* A line in columns `indent` to 80; a word that is longer, as a path, stands alone. */
static void put_wrapped(const char *line, int length, int indent, FILE *text)
{
    enum { WIDTH = 80 };
    while (length > WIDTH - indent) {
        int cut = WIDTH - indent;
        while (cut > 0 && line[cut] != ' ')
            cut--;
        while (cut < length && line[cut] != ' ')
            cut++;
        if (cut == length)
            break;
        fprintf(text, "%.*s\n%*s", cut, line, indent, "");
        line += cut + 1;
        length -= cut + 1;
    }
    fprintf(text, "%.*s\n", length, line);
}

static void put_reasons(const struct beffio_case *item, FILE *text)
{
    fprintf(text, "verdict: %s\n", item->reasons.length ? "NOT OFFICIAL" : "VALID");
    const char *line = text_get(&item->reasons);
    while (*line) {
        const int length = (int)strcspn(line, "\n"), blanks = (int)strspn(line, " ");
        fprintf(text, blanks ? "    " : "  - ");
        put_wrapped(line + blanks, length - blanks, 4, text);
        line += length + (line[length] == '\n');
    }
}

static void put_values(const struct beffio_case *item, FILE *text)
{
    char cell[ANALYSIS_CELL_MAX], memory[UNITS_TEXT_MAX];
    fprintf(text, "b_eff_io of this partition: %s MB/s (25 %% write, 25 %% rewrite, 50 %% read)\n",
            analysis_cell(item->value, 5, cell));
    fprintf(text, "release 2.1 would print %s MB/s (its own average of the same types)\n",
            analysis_cell(item->value_2_1, 5, cell));
    if (item->cache_bytes > 0 && isfinite(item->value))
        fprintf(text, "coffee-cup rule: the memory of %s in %s minutes (balanced: 10)\n",
                units_bytes((int64_t)item->cache_bytes, memory),
                analysis_cell(beffio_coffee_minutes(item->cache_bytes, item->value), 3, cell));
    put_reasons(item, text);
}

static void put_system(const struct beffio_report *report, FILE *text)
{
    const struct beffio_case *best = beffio_report_system(report);
    if (best)
        fprintf(text, "b_eff_io of the system: %.1f MB/s, by %d processes (run %s%s)\n", best->value, best->partition,
                best->run, best->reasons.length ? ", NOT OFFICIAL: see its verdict" : "");
    else
        fprintf(text, "b_eff_io of the system: none; it needs a whole run with T of 15 minutes or more\n");
}

void beffio_report_text(const struct beffio_report *report, FILE *text)
{
    for (size_t i = 0; i < report->case_count; i++) {
        const struct beffio_case *item = &report->cases[i];
        put_head(item, text);
        for (int type = 0; type < BEFFIO_TYPES_ALL; type++)
            if (has_type(report, item, type))
                put_type(report, item, type, text);
        put_methods(item, text);
        put_values(item, text);
        fprintf(text, "\n");
    }
    fprintf(text, "MB/s: 10^6 bytes a second. calls: of each process, initial write. sync: share\n"
                  "of MPI_File_sync in its time. stop: share of the decisions to go on, the largest\n"
                  "of the three.\n");
    put_system(report, text);
}
