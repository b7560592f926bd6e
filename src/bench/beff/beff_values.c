/* From blocks to the table of their measurements, and the averages that define b_eff. No MPI. */
#include "bench/beff/beff.h"

#include "base/memory.h"
#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool beff_is_beff(const struct blockfile_block *block)
{
    return strcmp(block->class_name, BEFF_CLASS) == 0 && strcmp(block->testname, BEFF_TEST) == 0;
}

void beff_results_clear(struct beff_results *results)
{
    free(results->rows);
    *results = (struct beff_results){0};
}

double beff_fact(const struct beff_results *results, const char *key, double otherwise)
{
    const char *text = blockfile_fact_of(results->block, key);
    double value;
    return text && units_parse_number(text, &value) ? value : otherwise;
}

/* ---- parameters ---- */

static bool beff_param_int(const struct blockfile_set *set, const char *key, int64_t *ret_value)
{
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, 1, INT64_MAX, ret_value);
}

static pl_status beff_bad_set(const struct blockfile_set *set, const char *what, struct pl_error *error)
{
    return pl_fail(error, PL_E_FORMAT, "set %" PRId64 ": %s", set->number, what);
}

/* ---- rows and columns ---- */

static pl_status beff_add_length(struct beff_results *results, int64_t length, struct pl_error *error)
{
    int at = results->length_count;
    for (int i = 0; i < results->length_count; i++)
        if (results->lengths[i] == length)
            return PL_OK;
    if (at == BEFF_LENGTHS)
        return pl_fail(error, PL_E_FORMAT, "more than %d message lengths", BEFF_LENGTHS);
    for (; at > 0 && results->lengths[at - 1] > length; at--)
        results->lengths[at] = results->lengths[at - 1];
    results->lengths[at] = length;
    results->length_count++;
    return PL_OK;
}

static int beff_length_index(const struct beff_results *results, int64_t length)
{
    int i = 0;
    while (i < results->length_count && results->lengths[i] != length)
        i++;
    assert(i < results->length_count); /* all lengths were added before */
    return i;
}

static bool beff_same_pattern(struct beff_pattern a, struct beff_pattern b)
{
    return a.kind == b.kind && a.number == b.number && a.as36 == b.as36;
}

static struct beff_row *beff_row_for(struct beff_results *results, struct beff_pattern pattern)
{
    for (size_t i = results->row_count; i > 0; i--)
        if (beff_same_pattern(results->rows[i - 1].pattern, pattern))
            return &results->rows[i - 1];
    results->rows = memory_grow(results->rows, results->row_count, sizeof *results->rows);
    results->rows[results->row_count].pattern = pattern;
    return &results->rows[results->row_count++];
}

/* ---- numbers ---- */

static void beff_take_times(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct beff_cell *cell = context;
    for (size_t i = 0; i < count && first + (int64_t)i < BEFF_REPETITIONS_MAX; i++)
        if (values[i] > 0)
            cell->times_ns[cell->count++] = values[i];
}

static pl_status beff_read_method(struct blockfile *file, const struct blockfile_set *set, int m,
                                  struct beff_cell *cell, struct pl_error *error)
{
    char key[BEFF_NAME_MAX];
    snprintf(key, sizeof key, "%s_loops", BEFF_METHOD_TABLE[m].name);
    for (size_t i = 0; i < set->series_count; i++) {
        if (strcmp(set->series[i].key, BEFF_METHOD_TABLE[m].name) != 0)
            continue;
        if (!beff_param_int(set, key, &cell->loops))
            return beff_bad_set(set, "a method without its loop length", error);
        cell->count = 0;
        return blockfile_stream(file, &set->series[i], beff_take_times, cell, error);
    }
    return PL_OK;
}

static pl_status beff_read_set(struct blockfile *file, const struct blockfile_set *set, struct beff_results *results,
                               struct pl_error *error)
{
    struct beff_pattern pattern;
    int64_t length, messages;
    const char *name = blockfile_param_of(set, "pattern");
    if (!name || !beff_pattern_parse(name, &pattern))
        return beff_bad_set(set, "no known pattern", error);
    if (!beff_param_int(set, "length_bytes", &length) || !beff_param_int(set, "messages", &messages))
        return beff_bad_set(set, "no message length or number of messages", error);
    pl_status status = PL_OK;
    struct beff_row *row = beff_row_for(results, pattern);
    row->messages = messages;
    for (int m = 0; m < BEFF_METHODS && status == PL_OK && set->error_count == 0; m++)
        status = beff_read_method(file, set, m, &row->cells[beff_length_index(results, length)][m], error);
    results->failed += set->error_count > 0;
    return status;
}

static const struct blockfile_block *beff_block_before(const struct blockfile *file,
                                                       const struct blockfile_block *block)
{
    const char *id = blockfile_fact_of(block, "resumes");
    for (size_t i = 0; id && i < file->block_count && &file->blocks[i] != block; i++)
        if (beff_is_beff(&file->blocks[i]) && strcmp(file->blocks[i].id, id) == 0)
            return &file->blocks[i];
    return NULL; /* what a block resumes stands before it: no circle */
}

/* A block and those that it goes on with, the first one first; the caller frees the list. */
static size_t beff_chain(const struct blockfile *file, const struct blockfile_block *block,
                         const struct blockfile_block ***ret_chain)
{
    const struct blockfile_block **chain = NULL;
    size_t count = 0;
    for (; block; block = beff_block_before(file, block)) {
        chain = memory_grow(chain, count, sizeof(const struct blockfile_block *));
        chain[count++] = block;
    }
    for (size_t i = 0; i < count / 2; i++) {
        const struct blockfile_block *other = chain[i];
        chain[i] = chain[count - 1 - i];
        chain[count - 1 - i] = other;
    }
    *ret_chain = chain;
    return count;
}

static pl_status beff_read_sets(struct blockfile *file, const struct blockfile_block *block,
                                struct beff_results *results, struct pl_error *error)
{
    const struct blockfile_block **chain;
    const size_t count = beff_chain(file, block, &chain);
    pl_status status = PL_OK;
    int64_t length;
    for (size_t b = 0; b < count; b++)
        for (size_t i = 0; i < chain[b]->set_count && status == PL_OK; i++)
            if (beff_param_int(&chain[b]->sets[i], "length_bytes", &length))
                status = beff_add_length(results, length, error);
    for (size_t b = 0; b < count; b++) {
        results->failed = 0; /* sets that failed before are measured again */
        for (size_t i = 0; i < chain[b]->set_count && status == PL_OK; i++)
            status = beff_read_set(file, &chain[b]->sets[i], results, error);
    }
    free((void *)chain);
    return status;
}

pl_status beff_results_read(struct blockfile *file, const struct blockfile_block *block,
                            struct beff_results *ret_results, struct pl_error *error)
{
    struct beff_results results = {.block = block, .path = file->path};
    int64_t nprocs = 0;
    const char *text = blockfile_fact_of(block, "nprocs");
    if (!text || !units_parse_int(text, 2, INT32_MAX, &nprocs))
        return pl_fail(error, PL_E_FORMAT, "'%s', line %" PRId64 ": a block of b_eff without its number of processes",
                       file->path, block->line);
    results.nprocs = (int)nprocs;
    text = blockfile_fact_of(block, "addresses");
    results.walks = text && strcmp(text, "walk") == 0;
    if (beff_read_sets(file, block, &results, error) != PL_OK) {
        beff_results_clear(&results);
        return pl_within(error, "'%s', block of line %" PRId64, file->path, block->line);
    }
    *ret_results = results;
    return PL_OK;
}

bool beff_row_is_complete(const struct beff_results *results, const struct beff_row *row)
{
    for (int i = 0; i < BEFF_LENGTHS; i++)
        for (int m = 0; m < BEFF_METHODS; m++)
            if (beff_method_serves(m, row->pattern.kind) && (i >= results->length_count || row->cells[i][m].count == 0))
                return false;
    return true;
}

/* ---- the averages that define b_eff ---- */

const struct beff_filter BEFF_EVERYTHING = {.method = BEFF_ALL, .repetition = BEFF_ALL, .length = BEFF_ALL};

double beff_logavg(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += log(values[i]);
    return count ? exp(sum / (double)count) : NAN;
}

double beff_bandwidth(int64_t length, int64_t messages, int64_t loops, int64_t time_ns)
{
    return (double)length * (double)messages * (double)loops / ((double)time_ns * 1e-9);
}

double beff_best(const struct beff_results *results, const struct beff_row *row, int length, struct beff_filter filter,
                 int *ret_method)
{
    double best = NAN;
    for (int m = 0; m < BEFF_METHODS; m++) {
        const struct beff_cell *cell = &row->cells[length][m];
        if (filter.method != BEFF_ALL && filter.method != m)
            continue;
        for (int r = 0; r < cell->count; r++) {
            if (filter.repetition != BEFF_ALL && filter.repetition != r)
                continue;
            const double b = beff_bandwidth(results->lengths[length], row->messages, cell->loops, cell->times_ns[r]);
            if (isnan(best) && ret_method)
                *ret_method = m;
            if (b > best && ret_method)
                *ret_method = m;
            best = fmax(best, b); /* of NaN and a number, the number */
        }
    }
    return best;
}

double beff_row_value(const struct beff_results *results, const struct beff_row *row, struct beff_filter filter)
{
    if (filter.length != BEFF_ALL)
        return beff_best(results, row, filter.length, filter, NULL);
    double sum = 0;
    for (int i = 0; i < BEFF_LENGTHS; i++)
        sum += i < results->length_count ? beff_best(results, row, i, filter, NULL) : NAN;
    return sum / BEFF_LENGTHS;
}

/* The row that counts for a pattern of the document; NULL: none was measured. */
static const struct beff_row *beff_row_that_counts(const struct beff_results *results, const struct beff_row *row,
                                                   bool as36)
{
    struct beff_pattern pattern = row->pattern;
    if (!as36 || !beff_pattern_differs(pattern, results->nprocs))
        return row;
    pattern.as36 = true;
    return beff_row_of(results, pattern);
}

/* Logarithmic average over the patterns of a kind; those that a killed run did not finish are left out. */
static double beff_average_kind(const struct beff_results *results, enum beff_kind kind, struct beff_filter filter,
                                int *ret_count)
{
    double sum = 0;
    *ret_count = 0;
    for (size_t i = 0; i < results->row_count; i++) {
        const struct beff_pattern pattern = results->rows[i].pattern;
        if (pattern.kind != kind || pattern.as36)
            continue;
        const struct beff_row *row = beff_row_that_counts(results, &results->rows[i], filter.as36);
        const double value = row ? beff_row_value(results, row, filter) : NAN;
        if (isnan(value))
            continue;
        sum += log(value);
        ++*ret_count;
    }
    return *ret_count ? exp(sum / *ret_count) : NAN;
}

struct beff_average beff_average(const struct beff_results *results, struct beff_filter filter)
{
    struct beff_average average = {NAN, NAN, NAN, 0};
    int rings;
    if (filter.as36 && !results->walks)
        return average;
    average.rings = beff_average_kind(results, BEFF_RING, filter, &rings);
    average.random = beff_average_kind(results, BEFF_RANDOM, filter, &average.random_patterns);
    if (rings != BEFF_RING_PATTERNS)
        average.rings = NAN;
    const double both[] = {average.rings, average.random};
    average.both = beff_logavg(both, 2);
    return average;
}

const struct beff_row *beff_row_of(const struct beff_results *results, struct beff_pattern pattern)
{
    for (size_t i = 0; i < results->row_count; i++)
        if (beff_same_pattern(results->rows[i].pattern, pattern))
            return &results->rows[i];
    return NULL;
}

static void beff_summarize_pingpong(const struct beff_results *results, struct beff_summary *summary)
{
    const struct beff_row *row = beff_row_of(results, (struct beff_pattern){.kind = BEFF_PINGPONG});
    summary->pingpong = summary->pingpong_largest = summary->latency_s = NAN;
    if (!row || results->length_count == 0)
        return;
    for (int i = 0; i < results->length_count; i++)
        summary->pingpong_largest = fmax(summary->pingpong_largest, beff_best(results, row, i, BEFF_EVERYTHING, NULL));
    if (results->length_count == BEFF_LENGTHS) /* else the run was killed before it came to L_max */
        summary->pingpong = beff_best(results, row, BEFF_LENGTHS - 1, BEFF_EVERYTHING, NULL);
    summary->latency_s = (double)results->lengths[0] / beff_best(results, row, 0, BEFF_EVERYTHING, NULL);
}

/* Former releases had the other key. */
static const char *beff_rmax_input(const struct blockfile_block *block)
{
    const char *text = blockfile_input_of(block, "rmax");
    return text ? text : blockfile_input_of(block, "rmax_gflops");
}

struct beff_summary beff_summarize(const struct beff_results *results)
{
    struct beff_summary summary = {.mean = beff_average(results, BEFF_EVERYTHING)};
    struct beff_filter all = BEFF_EVERYTHING, at_longest = BEFF_EVERYTHING;
    at_longest.length = BEFF_LENGTHS - 1;
    summary.longest = summary.longest36 = (struct beff_average){NAN, NAN, NAN, 0};
    if (results->length_count == BEFF_LENGTHS)
        summary.longest = beff_average(results, at_longest);
    all.as36 = at_longest.as36 = true;
    summary.mean36 = beff_average(results, all);
    if (results->length_count == BEFF_LENGTHS)
        summary.longest36 = beff_average(results, at_longest);
    const int64_t longest = results->length_count ? results->lengths[results->length_count - 1] : 0;
    summary.length_max = (int64_t)beff_fact(results, "length_max_bytes", (double)longest);
    beff_summarize_pingpong(results, &summary);
    summary.memory_bytes = beff_fact(results, "memory_per_process_bytes", NAN) * results->nprocs;
    summary.coffee_s = summary.memory_bytes / summary.mean.both;
    const char *rmax = beff_rmax_input(results->block);
    if (!rmax || !units_parse_number(rmax, &summary.rmax_gflops))
        summary.rmax_gflops = NAN;
    summary.balance_bytes_per_flop = summary.mean.both / (summary.rmax_gflops * 1e9);
    return summary;
}

/* ---- where the ranks are ---- */

/* Hosts take a rank in turn until they are full. */
static bool beff_in_turn(const int *hosts, int n, int count)
{
    int *left = memory_new((size_t)count, sizeof *left);
    for (int r = 0; r < n; r++)
        left[hosts[r]]++;
    bool yes = true;
    for (int r = 0, host = 0; r < n && yes; r++, host = (host + 1) % count) {
        while (left[host] == 0)
            host = (host + 1) % count;
        left[host]--;
        yes = hosts[r] == host;
    }
    free(left);
    return yes;
}

enum beff_placement beff_placement_of(const int *hosts, int n)
{
    int count = 0;
    bool sequential = true;
    for (int r = 0; r < n; r++) {
        sequential = sequential && (r == 0 || hosts[r] >= hosts[r - 1]);
        count = hosts[r] >= count ? hosts[r] + 1 : count;
    }
    if (count == 1 || count == n)
        return count == 1 ? BEFF_ONE_HOST : BEFF_ONE_EACH;
    if (sequential)
        return BEFF_SEQUENTIAL;
    return beff_in_turn(hosts, n, count) ? BEFF_ROUND_ROBIN : BEFF_IRREGULAR;
}

const char *beff_placement_text(enum beff_placement placement)
{
    static const char *const texts[] = {
        [BEFF_ONE_HOST] = "all on one host",
        [BEFF_ONE_EACH] = "one on each host",
        [BEFF_SEQUENTIAL] = "numbered sequentially (host after host)",
        [BEFF_ROUND_ROBIN] = "numbered round-robin (hosts in turn)",
        [BEFF_IRREGULAR] = "numbered neither sequentially nor round-robin",
    };
    return texts[placement];
}

/* The host of the fact "RANK HOST PROCESSOR". */
static size_t beff_host_word(const char *fact, const char **ret_host)
{
    *ret_host = fact + strcspn(fact, " ");
    *ret_host += **ret_host == ' ';
    return strcspn(*ret_host, " ");
}

static int beff_number_host(const struct blockfile_block *block, size_t index, int *count, size_t *firsts)
{
    const char *host, *other;
    const size_t length = beff_host_word(block->facts[index].value, &host);
    for (int h = 0; h < *count; h++)
        if (beff_host_word(block->facts[firsts[h]].value, &other) == length && strncmp(host, other, length) == 0)
            return h;
    firsts[*count] = index;
    return (*count)++;
}

enum beff_placement beff_results_placement(const struct beff_results *results, int *ret_hosts)
{
    const struct blockfile_block *block = results->block;
    size_t named = 0;
    for (size_t i = 0; i < block->fact_count; i++)
        named += strcmp(block->facts[i].key, "host") == 0;
    int *hosts = memory_new(named, sizeof *hosts);
    size_t *firsts = memory_new(named, sizeof *firsts);
    enum beff_placement placement = BEFF_IRREGULAR;
    int rank = 0;
    *ret_hosts = 0;
    for (size_t i = 0; i < block->fact_count && rank < results->nprocs; i++)
        if (strcmp(block->facts[i].key, "host") == 0) /* written in the order of the ranks */
            hosts[rank++] = beff_number_host(block, i, ret_hosts, firsts);
    if (rank == results->nprocs)
        placement = beff_placement_of(hosts, rank);
    free(hosts);
    free(firsts);
    return placement;
}
