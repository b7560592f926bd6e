/* b_eff: the effective communication bandwidth of Rabenseifner and Koniges (docs/beff.md). */
#ifndef PIOLET_BENCH_BEFF_H
#define PIOLET_BENCH_BEFF_H

#include "base/blockfile.h"
#include "lab/runner/lab.h"

#include <stdbool.h>
#include <stdint.h>

extern const char BEFF_CLASS[], BEFF_TEST[];

/* ---- numbers that define a run before any message is sent ---- */

enum {
    BEFF_FIXED_LENGTHS = 13, /* 1 B, 2 B, … 4 kB */
    BEFF_LENGTHS = 21,       /* and 8 more up to L_max */
    BEFF_REPETITIONS = 3,
    BEFF_RING_PATTERNS = 6,
    BEFF_RANDOM_PATTERNS = 30,
    BEFF_RANDOM_MOST = 10000,
    BEFF_LOOP_FIRST = 300,
    BEFF_MEMORY_PART = 128, /* L_max = memory of a process / 128 */
    BEFF_WARM_LENGTHS = 18, /* these have an untimed round before each loop; one of the others takes too long */
};

#define BEFF_MBYTE          1e6                  /* of rates, as b_eff 3.6 prints them */
#define BEFF_LENGTH_LARGEST ((int64_t)128 << 20) /* counts of MPI are int */
#define BEFF_MEMORY_LEAST   ((int64_t)1 << 20)   /* below, the 8 longest messages would not differ enough */
#define BEFF_LOOP_TARGET_S  2.5e-3               /* a loop takes that to twice that */

/* L_max of a process with this much memory. */
int64_t beff_length_max(int64_t memory_bytes);

/* The 21 lengths, ascending; length_max > 4 kB is the last one. */
void beff_lengths(int64_t length_max, int64_t ret_lengths[BEFF_LENGTHS]);

/* The loop length for the next, longer message, when `loop` rounds took `seconds`: never more, at least 1. Aims at
 * `target_s`, so that a message of up to twice the length takes target_s to 2 target_s. */
int64_t beff_loop_next(int64_t loop, double seconds, double target_s);

/* Repetitions of the next pattern, after `done` patterns in `elapsed_s` and with `left` that must be measured: 3, or 1
 * where at this pace they would not end within `time_s`. */
int beff_repetitions(double elapsed_s, int done, int left, double time_s);

/* Where the next message stands in a buffer of `bytes`: behind the one before it, on a multiple of 8, and from the
 * begin again where the rest is too short. Messages so come from memory and not from the cache, where they would stay
 * if each round had the same addresses. */
int64_t beff_walk(int64_t *base, int64_t length, int64_t bytes);

/* Bytes of each of both buffers of a process: six of the longest messages. */
int64_t beff_buffer_bytes(int64_t length_max);

/* How n processes are cut into rings: `count` rings, the `larger` ones of size + 1, the others of size. */
struct beff_rings {
    int count, size, larger;
    bool larger_first;
};

/* Ring pattern 1 to 6 on n >= 2 processes; as b_eff 3.6 cuts them, or as the document does. */
struct beff_rings beff_rings_of(int pattern, int n, bool as36);

/* The ring that holds a position: its first position and its size. */
struct beff_ring {
    int first, size;
};
struct beff_ring beff_ring_at(const struct beff_rings *rings, int position);

/* "3 x 9 + 1 x 10", in the order of the ranks. */
enum { BEFF_RINGS_TEXT_MAX = 64 };
const char *beff_rings_text(const struct beff_rings *rings, char text[BEFF_RINGS_TEXT_MAX]);

/* ---- patterns: who sends to whom, for any number of processes ----
 *
 * In every pattern a process has a few links. Link k is at most one message sent and one received: the message that
 * rank r sends over its link k arrives over link k of the receiver, so both know its number. */

enum beff_kind {
    BEFF_RING,            /* number 1 to 6; in the average */
    BEFF_RANDOM,          /* number 1 to …: one ring of all processes in random order; in the average */
    BEFF_WORST_CYCLE,     /* one ring 0, n-1, 1, n-2, … */
    BEFF_BISECTION_BEST,  /* pairs 2i, 2i + 1 */
    BEFF_BISECTION_WORST, /* pairs i, n - 1 - i; of an odd number the last process is idle */
    BEFF_CART2,           /* cyclic Cartesian grids: number 1 … one direction, 0 all together */
    BEFF_CART3,
    BEFF_PINGPONG, /* processes 0 and 1 in turn */
    BEFF_KINDS
};

struct beff_pattern {
    enum beff_kind kind;
    int number;
    bool as36; /* as b_eff 3.6 does it, where that is not what the document says: beff_pattern_differs() */
};

enum { BEFF_DIMENSIONS = 3, BEFF_LINKS_MAX = 2 * BEFF_DIMENSIONS, BEFF_NOBODY = -1 };

struct beff_links {
    int count;                                    /* 0: an idle process */
    int to[BEFF_LINKS_MAX], from[BEFF_LINKS_MAX]; /* ranks; BEFF_NOBODY: the link has this direction only */
};

/* Whether b_eff 3.6 does this pattern otherwise: it sends one message where a process has the same neighbour on both
 * sides, and cuts 7 processes into two rings in pattern 2. */
bool beff_pattern_differs(struct beff_pattern pattern, int n);

/* The i-th pattern of a run, from 0 on: ping-pong, rings, those outside the average, and last the random ones, of which
 * there are as many as time allows. Behind a pattern that differs stands the same as b_eff 3.6 does it. False behind
 * the last one. Directions of a grid in which all processes stand behind each other (extent 1) have no messages and
 * are passed over. */
bool beff_pattern_next(int n, int random_patterns, int index, struct beff_pattern *ret_pattern);
int beff_pattern_count(int n, int random_patterns);

/* The links of a rank. `order` has room for n ranks and is used by random patterns only, which depend on the seed. */
struct beff_links beff_pattern_links(struct beff_pattern pattern, int n, int rank, uint64_t seed, int *order);

/* The call of MPI_Alltoallv that carries link k towards peers[k]: a call has room for one message between two
 * processes, so that the second message to the same one goes with the second call of a round. */
int beff_link_call(const int *peers, int k);
/* Calls of MPI_Alltoallv in a round, the same for all processes: 1 or 2. */
int beff_pattern_calls(struct beff_pattern pattern, int n);

/* Messages of all processes in one round. As b_eff 3.6 counts, they are those of rank 0 times n: in rings of 2 and 3
 * (odd numbers of processes, pattern 1) not all that are sent. */
int64_t beff_pattern_messages(struct beff_pattern pattern, int n);

/* Processes that send: ranks 0 to this - 1. */
int beff_pattern_used(struct beff_pattern pattern, int n);

/* Ranks in random order, the same for everybody with this seed and number. */
void beff_random_order(int n, uint64_t seed, int number, int *ret_order);

/* Extents of the grid that n processes are put into, with 2 or 3 dimensions, as equal as can be, the largest first. As
 * b_eff 3.6 does, the last processes are left out where more of them give no real grid (7: 3 x 2). Returns how many
 * are in it. */
int beff_grid(int n, int dimensions, int ret_extents[BEFF_DIMENSIONS]);

/* "ring-3", "random-12", "cart2d-1", "cart2d", "ring-1-as-3.6": the name in block files, and back. */
enum { BEFF_NAME_MAX = 40 };
const char *beff_pattern_name(struct beff_pattern pattern, char name[BEFF_NAME_MAX]);
bool beff_pattern_parse(const char *name, struct beff_pattern *ret_pattern);
/* "2 x 14", "7 x 2 x 2", "3 pairs": how the processes stand; "": nothing to tell. */
const char *beff_pattern_shape(struct beff_pattern pattern, int n, char text[BEFF_RINGS_TEXT_MAX]);
/* "ring 3", "2-D, direction 1", "2-D together". */
const char *beff_pattern_label(struct beff_pattern pattern, char label[BEFF_NAME_MAX]);

/* ---- methods and messages ---- */

struct beff_exchange; /* one pattern with one message length, as this rank sees it */

/* The ways in which a pattern's messages are sent. To add one: its loop in beff_run.c and a row there. */
struct beff_method {
    const char *name;  /* in block files */
    const char *label; /* in tables */
    /* Before a loop: all ranks that take part begin together. */
    void (*meet_coll)(struct beff_exchange *exchange);
    /* `rounds` times all messages of this rank; nothing else may be in it. */
    void (*loop_coll)(struct beff_exchange *exchange, int64_t rounds);
};

enum { BEFF_SENDRECV, BEFF_ALLTOALLV, BEFF_NONBLOCKING, BEFF_TURNS, BEFF_METHODS };
extern const struct beff_method BEFF_METHOD_TABLE[BEFF_METHODS];

/* Ping-pong has a method of its own, all other patterns have the three others. */
bool beff_method_serves(int method, enum beff_kind kind);

/* What a message holds: bytes that tell sender, link and measurement apart, at the places that are looked at
 * afterwards (the first, the last, and some between). Filled and checked outside of the timing. */
struct beff_message {
    uint64_t serial; /* of the measurement, the same on all ranks */
    int sender, link;
    int64_t length;
};

void beff_data_fill(const struct beff_message *message, char *buffer);
/* Puts wrong bytes where beff_data_check() will look, so that an old message does not pass for a new one. */
void beff_data_spoil(const struct beff_message *message, char *buffer);
pl_status beff_data_check(const struct beff_message *message, const char *buffer, struct pl_error *error);

/* ---- a run ---- */

/* What the user asked for; {0} is the standard run. */
struct beff_options {
    int64_t memory_bytes;    /* of a process; 0: detected */
    int64_t random_patterns; /* 0: 30, or 3 of a quick run */
    double time_s;           /* 0: 300, or 12 of a quick run */
    double rmax_gflops;      /* 0: not known */
    int64_t seed;
    bool cached, quick;
};

/* What follows from it. */
struct beff_plan {
    int nprocs;
    int64_t memory_bytes; /* of a process */
    bool memory_given;
    int64_t lengths[BEFF_LENGTHS];
    int random_patterns;
    double time_s; /* no random pattern is begun that would end later, but for the first */
    int64_t loop_first;
    double loop_target_s;
    uint64_t seed;
    bool cached; /* each round has the same addresses */
};

/* Pure. `memory_bytes` of a process is used where the options name none. PL_E_USAGE: there can be no such run. */
pl_status beff_plan_make(const struct beff_options *options, int nprocs, int64_t memory_bytes,
                         struct beff_plan *ret_plan, struct pl_error *error);
/* Bytes of both message buffers of a process. */
int64_t beff_plan_buffer_bytes(const struct beff_plan *plan);

pl_status beff_run_coll(struct lab_run *run, struct pl_error *error);

/* ---- results: the measurements of a run as read from its blocks, and the values that are defined by them ---- */

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
    int failed;     /* sets with an error: they count as not measured */
    bool continued; /* a later block goes on with it */
    bool walks;     /* addresses walk; else each round had the same ones, as in results of 0.1.0 */
};

/* A block, and before it those that it goes on with (fact "resumes"); what was measured again counts. On success the
 * caller calls beff_results_clear(). */
pl_status beff_results_read(struct blockfile *file, const struct blockfile_block *block,
                            struct beff_results *ret_results, struct pl_error *error);
void beff_results_clear(struct beff_results *results);
/* All lengths by all methods. */
bool beff_row_is_complete(const struct beff_results *results, const struct beff_row *row);
bool beff_is_beff(const struct blockfile_block *block);

/* ---- values, in bytes a second; NaN: not all that is needed was measured ---- */

/* exp of the mean of logarithms. */
double beff_logavg(const double *values, size_t count);

/* b(pattern, L, method, repetition). */
double beff_bandwidth(int64_t length, int64_t messages, int64_t loops, int64_t time_ns);

/* Which measurements count; BEFF_ALL: each. */
struct beff_filter {
    int method, repetition;
    int length; /* index; BEFF_ALL: the mean over all 21 */
    bool as36;  /* patterns that b_eff 3.6 does otherwise count as it does them */
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
    struct beff_average mean, longest;     /* over all lengths; at L_max */
    struct beff_average mean36, longest36; /* the same, as b_eff 3.6 counts */
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

/* "4 kB", "23.5 MB": powers of 1024. */
enum { BEFF_LENGTH_TEXT_MAX = 24 };
const char *beff_length_text(int64_t length, char text[BEFF_LENGTH_TEXT_MAX]);

/* ---- the document ---- */

pl_status beff_results(const struct analysis_request *request, const struct analysis_input *input,
                       struct result *result, struct pl_error *error);

#endif
