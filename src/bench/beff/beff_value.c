/* The averages that define b_eff. Pure. */
#include "bench/beff/beff_results.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct beff_filter BEFF_EVERYTHING = {BEFF_ALL, BEFF_ALL, BEFF_ALL};

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

/* Logarithmic average over the patterns of a kind; those that a killed run did not finish are left out. */
static double average_kind(const struct beff_results *results, enum beff_kind kind, struct beff_filter filter,
                           int *ret_count)
{
    double sum = 0;
    *ret_count = 0;
    for (size_t i = 0; i < results->row_count; i++) {
        const double value = beff_row_value(results, &results->rows[i], filter);
        if (results->rows[i].pattern.kind != kind || isnan(value))
            continue;
        sum += log(value);
        ++*ret_count;
    }
    return *ret_count ? exp(sum / *ret_count) : NAN;
}

struct beff_average beff_average(const struct beff_results *results, struct beff_filter filter)
{
    struct beff_average average;
    int rings;
    average.rings = average_kind(results, BEFF_RING, filter, &rings);
    average.random = average_kind(results, BEFF_RANDOM, filter, &average.random_patterns);
    if (rings != BEFF_RING_PATTERNS)
        average.rings = NAN;
    const double both[] = {average.rings, average.random};
    average.both = beff_logavg(both, 2);
    return average;
}

const struct beff_row *beff_row_of(const struct beff_results *results, struct beff_pattern pattern)
{
    for (size_t i = 0; i < results->row_count; i++)
        if (results->rows[i].pattern.kind == pattern.kind && results->rows[i].pattern.number == pattern.number)
            return &results->rows[i];
    return NULL;
}

static void summarize_pingpong(const struct beff_results *results, struct beff_summary *summary)
{
    const struct beff_row *row = beff_row_of(results, (struct beff_pattern){BEFF_PINGPONG, 0});
    summary->pingpong = summary->pingpong_largest = summary->latency_s = NAN;
    if (!row || results->length_count == 0)
        return;
    for (int i = 0; i < results->length_count; i++)
        summary->pingpong_largest = fmax(summary->pingpong_largest, beff_best(results, row, i, BEFF_EVERYTHING, NULL));
    if (results->length_count == BEFF_LENGTHS) /* else the run was killed before it came to L_max */
        summary->pingpong = beff_best(results, row, BEFF_LENGTHS - 1, BEFF_EVERYTHING, NULL);
    summary->latency_s = (double)results->lengths[0] / beff_best(results, row, 0, BEFF_EVERYTHING, NULL);
}

struct beff_summary beff_summarize(const struct beff_results *results)
{
    struct beff_summary summary = {.mean = beff_average(results, BEFF_EVERYTHING)};
    struct beff_filter at_longest = BEFF_EVERYTHING;
    at_longest.length = BEFF_LENGTHS - 1;
    summary.longest = (struct beff_average){NAN, NAN, NAN, 0};
    if (results->length_count == BEFF_LENGTHS)
        summary.longest = beff_average(results, at_longest);
    const int64_t longest = results->length_count ? results->lengths[results->length_count - 1] : 0;
    summary.length_max = (int64_t)beff_fact(results, "length_max_bytes", (double)longest);
    summarize_pingpong(results, &summary);
    summary.memory_bytes = beff_fact(results, "memory_per_process_bytes", NAN) * results->nprocs;
    summary.coffee_s = summary.memory_bytes / summary.mean.both;
    const char *rmax = blockfile_input_of(results->block, "rmax_gflops");
    if (!rmax || !units_parse_number(rmax, &summary.rmax_gflops))
        summary.rmax_gflops = NAN;
    summary.balance_bytes_per_flop = summary.mean.both / (summary.rmax_gflops * 1e9);
    return summary;
}

/* ---- where the ranks are ---- */

/* Hosts take a rank in turn until they are full. */
static bool in_turn(const int *hosts, int n, int count)
{
    int *left = calloc((size_t)count, sizeof *left);
    if (!left)
        return false;
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
    return in_turn(hosts, n, count) ? BEFF_ROUND_ROBIN : BEFF_IRREGULAR;
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
static size_t host_word(const char *fact, const char **ret_host)
{
    *ret_host = fact + strcspn(fact, " ");
    *ret_host += **ret_host == ' ';
    return strcspn(*ret_host, " ");
}

static int number_host(const struct blockfile_block *block, size_t index, int *count, size_t *firsts)
{
    const char *host, *other;
    const size_t length = host_word(block->facts[index].value, &host);
    for (int h = 0; h < *count; h++)
        if (host_word(block->facts[firsts[h]].value, &other) == length && strncmp(host, other, length) == 0)
            return h;
    firsts[*count] = index;
    return (*count)++;
}

enum beff_placement beff_results_placement(const struct beff_results *results, int *ret_hosts)
{
    const struct blockfile_block *block = results->block;
    int *hosts = calloc((size_t)results->nprocs, sizeof *hosts);
    size_t *firsts = calloc((size_t)results->nprocs, sizeof *firsts);
    enum beff_placement placement = BEFF_IRREGULAR;
    int rank = 0;
    *ret_hosts = 0;
    for (size_t i = 0; hosts && firsts && i < block->fact_count && rank < results->nprocs; i++)
        if (strcmp(block->facts[i].key, "host") == 0) /* written in the order of the ranks */
            hosts[rank++] = number_host(block, i, ret_hosts, firsts);
    if (rank == results->nprocs)
        placement = beff_placement_of(hosts, rank);
    free(hosts);
    free(firsts);
    return placement;
}
