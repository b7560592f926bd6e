/* The engine beside what the MPI brings: shared by the benchmarks `engine` (patterns of access), `files` (whole files),
 * `calls` (what one call costs) and `overlap` (computation beside I/O). docs/benchmarks.md has what was measured with
 * them.
 *
 * A peer is who serves a file. The engine is preloaded, and its hint piolet_impl tells for each file whether it or the
 * MPI's own I/O serves it: both take turns in one process. "limit" is one process with nothing but pwrite or pread. */
#ifndef PIOLET_BENCH_ENGINE_H
#define PIOLET_BENCH_ENGINE_H

#include "lab/runner/lab.h"

#include <limits.h>

/* ---- peers ---- */

enum { ENGINE_PEERS_MAX = 32, ENGINE_NAME_MAX = 64 };
enum engine_server { ENGINE_PIOLET, ENGINE_SYSTEM, ENGINE_LIMIT, ENGINE_HAND };

struct engine_peer {
    char name[ENGINE_NAME_MAX]; /* "piolet", "piolet/twophase", "romio", "ompio", "limit", "by-hand" */
    enum engine_server server;
    struct lab_hints hints; /* owned; of the engine alone */
    char path[PATH_MAX];    /* of its file */
    MPI_File file;          /* MPI_FILE_NULL: not open */
};

struct engine_peers {
    struct engine_peer list[ENGINE_PEERS_MAX];
    int count;
};

/* The engine with the job's hints, each strategy that is asked for, the MPI's own, and `limit`. Files are made in the
 * job's place and are removed by engine_peers_clear_coll(), also of a run that is interrupted. */
pl_status engine_peers_make(const struct lab_run *run, const char *program, const struct option_texts *strategies,
                            bool system, bool limit, struct engine_peers *ret_peers, struct pl_error *error);
/* One more: the exchange that users write (files_hand.c). */
void engine_peers_add_hand(const struct lab_run *run, const char *program, struct engine_peers *peers);
void engine_peers_clear_coll(const struct lab_run *run, struct engine_peers *peers);
/* Fails where another MPI-IO serves the file than is asked for, or where the engine does not take a hint: a peer
 * without its hint would be another one under its name. Agreed in `comm`. */
pl_status engine_peer_open_coll(MPI_Comm comm, struct engine_peer *peer, struct pl_error *error);
/* The value of a key of the file's info; "" where there is none. */
void engine_peer_info(MPI_File file, const char *key, char *ret_value, int room);
/* "ROMIO", "OMPIO": what the MPI's own I/O is, in small letters. */
const char *engine_system_name(char name[ENGINE_NAME_MAX]);

/* MPI_Test and MPI_Wait for a request of the peer's file that is to move `bytes`; less is an error. */
int engine_peer_test(const struct engine_peer *peer, MPI_Request *request, int64_t bytes, int *ret_done);
int engine_peer_wait(const struct engine_peer *peer, MPI_Request *request, int64_t bytes);

/* Names of all strategies of the preloaded engine but `auto`; the caller frees them and the list. */
void engine_strategies(struct option_texts *ret_names);

/* The option row of repetitions: its further names, where the value goes, and what else there is to say of it. */
#define ENGINE_REPEAT_ROW(names, ...)                                                                                  \
    {                                                                                                                  \
        .name = "repeat", .aliases = (names), .letter = 'r', .type = OPTION_INT, .min = 1, .max = 1000, __VA_ARGS__    \
    }

/* Seconds of the slowest rank. */
double engine_slowest_coll(MPI_Comm comm, double seconds);
void engine_note_number(struct text *params, const char *key, int64_t value);

/* ---- processes of their own ---- */

/* A file of ours: …/bin/piolet and …/lib/NAME. */
bool engine_find(const char *name, char path[PATH_MAX + 64]);
/* The environment as it was when this process began, for a process that becomes another. */
char **engine_environment(void);

/* ---- results: rates or times of peers side by side ---- */

/* One thing that was measured of one peer: the medians of its repetitions, and its ratio to another peer, repetition by
 * repetition. */
struct engine_value {
    const struct blockfile_block *block;
    char what[160];             /* all that tells it from others: "c-1k, fresh, 2 ranks, 64 MB" */
    char peer[ENGINE_NAME_MAX]; /* */
    double *values;             /* owned; of the repetitions, in their order */
    int count;
    char note[ENGINE_NAME_MAX]; /* the strategy that was chosen, say */
};

struct engine_values {
    struct engine_value *list; /* owned */
    size_t count;
};

/* Adds a value of a repetition. */
void engine_values_add(struct engine_values *values, const struct blockfile_block *block, const char *what,
                       const char *peer, double value, const char *note);
void engine_values_clear(struct engine_values *values);
const struct engine_value *engine_values_find(const struct engine_values *values, const struct blockfile_block *block,
                                              const char *what, const char *peer);
struct analysis_estimate engine_value_mean(const struct engine_value *value);
/* a / b, repetition by repetition: their median, and the interval of their mean. NaN: not both were measured. */
extern const struct quantity_kind ENGINE_TIME; /* such a ratio of times */
struct analysis_estimate engine_value_ratio(const struct engine_value *a, const struct engine_value *b);
/* a - b in the same way. */
struct analysis_estimate engine_value_difference(const struct engine_value *a, const struct engine_value *b);

/* ---- patterns of access (engine_pattern.c) ---- */

/* How the data are moved. */
enum pattern_call {
    PATTERN_ALL,     /* one collective call */
    PATTERN_SERIES,  /* collective calls one after the other */
    PATTERN_ALONE,   /* one independent call */
    PATTERN_SMALL,   /* independent calls one after the other */
    PATTERN_ORDERED, /* ordered calls one after the other */
};

struct layout;

struct pattern {
    const char *name;
    enum pattern_call call;
    int64_t piece_bytes;  /* where it is fixed */
    int64_t stride_bytes; /* i: from piece to piece */
    void (*make)(struct layout *layout);
    void (*make_types)(struct layout *layout);
    const char *about;
};

extern const struct pattern PATTERNS[]; /* ends with {0} */

/* Bytes of a piece, here and there; multiples of 8. */
struct piece {
    int64_t memory, file, bytes;
};

/* A pattern on one rank, with sizes. What a rank moves is described twice, on purpose: as a list of pieces, by plain
 * arithmetic, and as MPI datatypes. Data are filled and checked by the list, moved by the types; where the two
 * disagree, checking fails. */
struct layout {
    const struct pattern *pattern;
    int rank, ranks;
    int64_t wanted_bytes; /* of all ranks; what comes nearest is taken */
    int edge;             /* b: of the cube */
    /* made from these: */
    struct piece *pieces; /* in the order of the file, and in that of the memory type */
    int64_t piece_count;
    int64_t bytes, total_bytes; /* of data: this rank's, all ranks' */
    int64_t memory_bytes, file_bytes;
    int calls; /* of this rank; they divide its pieces evenly */
    /* what MPI gets: a call moves count of memory_type */
    MPI_Datatype etype, filetype, memory_type;
    MPI_Offset displacement;
    int count;
    int edge_made, rows;       /* what make leaves for make_types: d, h */
    int starts[3], lengths[3]; /* b: the block in the cube */
};

/* False where the pattern cannot be dealt to so many ranks, or a rank would move more than 2 GiB in a call. */
bool layout_make_coll(MPI_Comm comm, struct layout *layout);
void layout_clear(struct layout *layout);
/* Bytes of the file that nobody writes lie between pieces. */
bool layout_is_hole(const struct layout *layout, int64_t offset);

/* ---- their data (engine_data.c): the word at a place of the file depends on the place and on a seed ---- */

/* Bytes of a rank's memory that no piece covers keep this. */
enum { DATA_UNTOUCHED = 0xA5 };

enum op { OP_FRESH, OP_OVER, OP_READ, OP_COUNT };
#define ENGINE_OPS "fresh over read"

/* A rank's pieces, to be written. */
void data_fill(const struct layout *layout, char *memory, uint64_t seed);
/* Memory before a read: nothing but DATA_UNTOUCHED. */
void data_clear(const struct layout *layout, char *memory);
/* After a read; leaves it cleared. */
pl_status data_memory_check(const struct layout *layout, char *memory, uint64_t seed, struct pl_error *error);

/* The whole file, holes too, by one process. */
pl_status data_write_file(const char *path, int64_t bytes, uint64_t seed, struct pl_error *error);

enum data_holes { DATA_HOLES_ARE_DATA, DATA_HOLES_ARE_ZERO, DATA_HOLES_ARE_ANYTHING };

/* What a file must be. */
struct data_file {
    int64_t bytes;
    uint64_t seed;               /* of pieces */
    const struct layout *layout; /* NULL: pieces are all there is */
    enum data_holes holes;
    uint64_t hole_seed; /* where holes are data of an earlier file */
};

/* By one process, past MPI. */
pl_status data_file_check(const char *path, const struct data_file *wanted, struct pl_error *error);

/* One process moves what all ranks move, in the order of the file, by the better of two chunk sizes (small calls: by
 * theirs); checked. */
pl_status data_limit(const struct layout *layout, const char *path, enum op op, uint64_t seed, double *ret_seconds,
                     int64_t *ret_calls, struct pl_error *error);

/* ---- counts (engine_count.c): what an access asks of MPI, system and network; exact where times are noisy ---- */

/* PL_E_UNSUPPORTED where libpiolet-count.so is not preloaded, or sees no messages. */
pl_status count_init(struct pl_error *error);
/* Between these two lies what is counted. */
void count_begin(void);
void count_end(void);
/* Adds sums over all ranks ("messages"), those of rank 0 ("rank0_messages"), and, on several hosts, the bytes that they
 * sent ("wire_bytes") and those that lie in another host's part of the file ("must_bytes"). */
void count_note_coll(MPI_Comm comm, const struct layout *layout, struct text *params);

/* ---- an exchange as users write it (files_hand.c): MPI_Alltoallv, then one pwrite or pread for each stretch ---- */

struct hand;

/* Call `call` of `calls` of a layout moves that part of each rank's data. Everything that depends on the pattern alone
 * is found out here, as by a program that knows its pattern. */
struct hand *hand_new(const struct layout *layout, int calls);
void hand_free(struct hand *hand);
/* Every rank of `comm` calls it; errno's value, 0: it went well. */
int hand_move_coll(const struct hand *hand, MPI_Comm comm, int fd, char *memory, int call, bool write);

/* ---- the results of `engine` (engine_results.c) ---- */

extern const char ENGINE_CLASS[], ENGINE_COUNTS[]; /* of its blocks; the test whose blocks hold counts */
pl_status engine_results(const struct analysis_request *request, const struct analysis_input *input,
                         struct result *result, struct pl_error *error);

/* ---- predictions against measurements (accuracy.c runs them, accuracy_judge.c judges; pure) ---- */

/* A phase, calls of a kind, or the total of a program on one configuration. Times in ns; NaN: no interval. */
struct accuracy_time {
    double ns, low_ns, high_ns;
};

enum accuracy_verdict {
    ACCURACY_SHORT,  /* a phase or calls below 20 ms: shown, not judged */
    ACCURACY_WITHIN, /* at most 10 % off */
    ACCURACY_NOISE,  /* not more than 10 % off beyond the noise of both */
    ACCURACY_OFF
};

struct accuracy_judgement {
    double error;   /* (predicted - measured) / measured */
    double noise;   /* half of both intervals together, in squares, as a part of the measured time; 0: none is known */
    bool is_narrow; /* further rounds are not needed: the noise is small, or the verdict cannot change */
    enum accuracy_verdict verdict;
};

struct accuracy_judgement accuracy_judge(const struct accuracy_time *predicted, const struct accuracy_time *measured,
                                         bool total);
const char *accuracy_verdict_word(enum accuracy_verdict verdict);

/* Totals of one program on several configurations. */
struct accuracy_pairs {
    int pairs;    /* of configurations */
    int in_order; /* the predicted order is the measured one */
    int ties;     /* of the others: those whose measured intervals overlap, so that their order is not known */
    double
        regret; /* measured time of the one predicted as the best, as a multiple of the best measured one; NaN: none */
};
struct accuracy_pairs accuracy_compare(const struct accuracy_time *predicted, const struct accuracy_time *measured,
                                       int count);

/* The document of 'piolet bench predict'. */
pl_status accuracy_results(const struct analysis_request *request, const struct analysis_input *input,
                           struct result *result, struct pl_error *error);
extern const char ACCURACY_CLASS[];

#endif
