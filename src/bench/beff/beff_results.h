/* The measurements of one run as read from its block, and the values that are defined by them (docs/beff.md). */
#ifndef PIOLET_BENCH_BEFF_RESULTS_H
#define PIOLET_BENCH_BEFF_RESULTS_H

#include "base/blockfile.h"
#include "bench/beff/beff_method.h"

enum { BEFF_REPETITIONS_MAX = 8, BEFF_ALL = -1 };

/* One pattern, length and method: all repetitions. */
struct beff_cell {
    int64_t loops;
    int count; /* 0: not measured, or failed */
    int64_t times_ns[BEFF_REPETITIONS_MAX];
};

struct beff_row {
    struct beff_pattern pattern;
    int64_t messages;
    struct beff_cell cells[BEFF_LENGTHS][BEFF_METHODS];
};

struct beff_results {
    const struct blockfile_block *block; /* borrowed */
    int64_t block_number;                /* over all files, from 1 */
    const char *path;
    int nprocs;
    int64_t lengths[BEFF_LENGTHS]; /* ascending */
    int length_count;
    struct beff_row *rows; /* owned */
    size_t row_count;
    int failed; /* sets with an error: they count as not measured */
};

bool beff_is_beff(const struct blockfile_block *block);
/* On success the caller calls beff_results_clear(). */
pl_status beff_results_read(struct blockfile *file, const struct blockfile_block *block,
                            struct beff_results *ret_results, struct pl_error *error);
void beff_results_clear(struct beff_results *results);

/* ---- values, in bytes a second; NaN: not all that is needed was measured ---- */

/* exp of the mean of logarithms. */
double beff_logavg(const double *values, size_t count);

/* b(pattern, L, method, repetition). */
double beff_bandwidth(int64_t length, int64_t messages, int64_t loops, int64_t time_ns);

/* Which measurements count; BEFF_ALL: each. */
struct beff_filter {
    int method, repetition;
    int length; /* index; BEFF_ALL: the mean over all 21 */
};
extern const struct beff_filter BEFF_EVERYTHING;

/* The maximum over methods and repetitions at one length. `ret_method` may be NULL. */
double beff_best(const struct beff_results *results, const struct beff_row *row, int length, struct beff_filter filter,
                 int *ret_method);
/* The same at the filter's length, or the mean over all lengths. */
double beff_row_value(const struct beff_results *results, const struct beff_row *row, struct beff_filter filter);

struct beff_average {
    double rings, random, both; /* both: b_eff */
    int random_patterns;        /* complete ones */
};
struct beff_average beff_average(const struct beff_results *results, struct beff_filter filter);

const struct beff_row *beff_row_of(const struct beff_results *results, struct beff_pattern pattern);

/* What Table 1 of the document tells of a system, and what belongs to it. */
struct beff_summary {
    struct beff_average mean, longest; /* over all lengths; at L_max */
    int64_t length_max;
    double pingpong;         /* at L_max */
    double pingpong_largest; /* at its best length */
    double latency_s;        /* half of a round trip of the shortest message */
    double memory_bytes;     /* of all processes */
    double coffee_s;         /* to communicate the memory of all processes once */
    double rmax_gflops, balance_bytes_per_flop;
};
struct beff_summary beff_summarize(const struct beff_results *results);

/* ---- where the ranks are ---- */

enum beff_placement { BEFF_ONE_HOST, BEFF_ONE_EACH, BEFF_SEQUENTIAL, BEFF_ROUND_ROBIN, BEFF_IRREGULAR };

/* hosts[r]: number of the host of rank r, hosts counted from 0 in the order of their first ranks. */
enum beff_placement beff_placement_of(const int *hosts, int n);
const char *beff_placement_text(enum beff_placement placement);
/* From the block's facts; *ret_hosts: how many there are. */
enum beff_placement beff_results_placement(const struct beff_results *results, int *ret_hosts);

/* A fact of the block as a number; `otherwise` if it has none. */
double beff_fact(const struct beff_results *results, const char *key, double otherwise);

#endif
