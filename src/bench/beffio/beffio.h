/* b_eff_io: the effective I/O bandwidth benchmark of Rabenseifner and Koniges (docs/beffio.md). */
#ifndef PIOLET_BENCH_BEFFIO_H
#define PIOLET_BENCH_BEFFIO_H

#include "bench/iot/iot_data.h"
#include "lab/runner/lab.h"

#include <limits.h>
#include <mpi.h>

extern const char BEFFIO_CLASS[], BEFFIO_TEST[];

/* ---- patterns: the document's Table 2. Pure; kB and MB are powers of 1024 in chunk sizes, as in the document ---- */

/* Sizes of a chunk on disk, in the order of the document's diagrams. */
enum beffio_chunk {
    BEFFIO_KB1,
    BEFFIO_KB1_8, /* + 8 bytes: not wellformed */
    BEFFIO_KB32,
    BEFFIO_KB32_8,
    BEFFIO_MB1,
    BEFFIO_MB1_8,
    BEFFIO_MPART,
    BEFFIO_FILL, /* what is left of a segment */
    BEFFIO_CHUNKS = BEFFIO_FILL
};

enum beffio_method { BEFFIO_WRITE, BEFFIO_REWRITE, BEFFIO_READ, BEFFIO_METHODS };

enum {
    BEFFIO_PATTERNS = 43, /* of the document */
    BEFFIO_PATTERNS_ALL = 51,
    BEFFIO_TYPES = 5,
    BEFFIO_RANDOM = 5, /* the type on request */
    BEFFIO_TYPES_ALL = 6,
    BEFFIO_UNITS = 64 /* sum of U over the document's patterns */
};

struct beffio_pattern {
    int type;
    enum beffio_chunk chunk;
    int chunks; /* in one call: L = chunks * l */
    int units;  /* U */
};

extern const struct beffio_pattern BEFFIO_TABLE[BEFFIO_PATTERNS_ALL];

/* Whose rules a run follows: the document's, or those of release 2.1 of the original program where they differ. */
enum beffio_release { BEFFIO_BY_DOCUMENT, BEFFIO_RELEASE_2_1 };

/* max(2 MB, memory of one node / 128), a multiple of 8 bytes; in release 2.1 at most 1 GB. */
int64_t beffio_mpart(int64_t node_memory_bytes, enum beffio_release release);

/* l; 0 for the fill-up, which depends on what was written. */
int64_t beffio_chunk_bytes(enum beffio_chunk chunk, int64_t mpart_bytes);
/* L */
int64_t beffio_call_bytes(int pattern, int64_t mpart_bytes);

/* A type's patterns are [first, end). */
int beffio_type_first(int type);
int beffio_type_end(int type);

/* The pattern of `type` whose repeat factor counts for chunk size `chunk` in types 3 and 4: the one with U > 0 and,
 * of the two with 1 MB in type 0, with L = l as in the other types. */
int beffio_counterpart(int type, enum beffio_chunk chunk);

/* Types 3, 4 and 5 have a fixed region for each process or pattern, planned before they start. */
bool beffio_is_planned(int type);
bool beffio_is_collective(int type);

const char *beffio_method_name(enum beffio_method method);
const char *beffio_type_name(int type);                 /* "strided, collective, scattering", … */
const char *beffio_chunk_name(enum beffio_chunk chunk); /* "1k+8", "M_PART", … */

/* ---- where each call of each pattern goes in its file. Pure, 64 bit throughout ----
 *
 * A type's file is a sequence of regions, one for each pattern in the order of the table. In types 0 and 1 a region
 * holds the chunks of all n processes in turn, in type 2 those of the file's one process. In types 3 and 4 each process
 * has a segment of its own, and the regions follow each other within it. In type 5 a region is a set of places that
 * all processes share in random order. */

/* What is known of the patterns of one type: calls of a process, planned (3, 4, 5) or done in the initial write. */
struct beffio_layout {
    int type, nprocs;
    int64_t mpart_bytes;
    int64_t calls[BEFFIO_PATTERNS_ALL]; /* by pattern number; of this type only */
    int64_t segment_bytes;              /* types 3 and 4 */
    int64_t fill_bytes;                 /* of the fill-up pattern's call */
};

/* Bytes that a process moved in each pattern of types 0 to 2, by pattern number; -1: not measured. */
struct beffio_measured {
    enum beffio_release release;
    int64_t process_bytes[BEFFIO_PATTERNS_ALL];
};

/* Repeat factor of a chunk size, at least 1. The document's: mean bytes of a process over the types 0 to 2 that were
 * measured, divided by l. Release 2.1's: min(rep0 · L0/l0, 10 · rep1, rep2) of those that were measured. */
int64_t beffio_repeats(const struct beffio_measured *measured, enum beffio_chunk chunk, int64_t mpart_bytes);

/* The plan of types 3, 4 and 5: repeat factors, segment rounded up to 1 MB, and what fills it up. For types 0 to 2 all
 * calls are 0, to be set as they are measured. */
void beffio_layout_plan(struct beffio_layout *layout, int type, int nprocs, int64_t mpart_bytes,
                        const struct beffio_measured *measured);

/* Bytes of one call of a process: L, or what fills the segment up. */
int64_t beffio_layout_call_bytes(const struct beffio_layout *layout, int pattern);

/* Where a pattern begins: in the file, or in types 3 and 4 in each segment. */
int64_t beffio_layout_start(const struct beffio_layout *layout, int pattern);

/* Where the first byte of call `index` of process `rank` goes, in the file (type 2: in the process's own one). In type
 * 5 it is the place `index` before the order is mixed. */
int64_t beffio_layout_offset(const struct beffio_layout *layout, int pattern, int rank, int64_t index);

/* Bytes of all files of the type together, as planned or measured. */
int64_t beffio_layout_total(const struct beffio_layout *layout);

/* ---- time of the patterns, and when their loops end. Pure: no clock, no MPI ----
 *
 * A loop is run in batches of calls. After a batch all ranks reduce what they saw to one `struct beffio_state`, and
 * each computes the next batch from it: as the inputs are the same, so is the decision. Batches grow geometrically, so
 * that the decisions cost little beside the calls; towards the end they shrink again, so that the end is met. */

/* A value is official from here on. */
#define BEFFIO_OFFICIAL_S (15 * 60.0)

/* In a run that is too short to be official, a size-driven pattern ends at so many times its scheduled time. */
#define BEFFIO_PATIENCE 2

/* T/3 · U/ΣU */
double beffio_pattern_s(int pattern, double time_s);

struct beffio_loop_plan {
    double limit_s;     /* the loop ends by time; INFINITY: by calls alone */
    double pace_s;      /* a batch should not last longer than a quarter of it, whatever the limit */
    int64_t most_calls; /* end of the region; INT64_MAX: open */
    double expected_s;  /* of a call, from a pattern measured before; 0: not known */
    bool each_call; /* release 2.1: barrier, test on rank 0 and broadcast behind each call decide, not the batches */
};

struct beffio_state {
    int64_t calls;     /* done */
    int64_t batch;     /* the last one; 0 before the first */
    double elapsed_s;  /* of the slowest rank, since the loop began */
    double spent_s;    /* of it, on decisions: no time of calls */
    double batch_s;    /* time of the last batch */
    double decision_s; /* cost of one decision, so far */
};

/* The part of a pattern's time that its decisions may take (BIO-4). */
#define BEFFIO_DECISION_SHARE 0.1

/* Calls of the next batch; 0: the loop ends. Where the pattern's time allows it, the decisions take less than
 * BEFFIO_DECISION_SHARE of it. */
int64_t beffio_next_batch(const struct beffio_loop_plan *plan, const struct beffio_state *state);

/* How many of these calls find room in the free space, when each writes `bytes` in all, and some is kept for the file
 * system's own needs and for the results. */
int64_t beffio_calls_in_space(int64_t calls, int64_t bytes, int64_t free_bytes);

/* ---- values by the document's definitions, and those of release 2.1 beside them. Pure. MB = 10^6 bytes ----
 *
 * A rate of NAN was not measured; what needs it is NAN too. */

struct beffio_rates {
    double type[BEFFIO_METHODS][BEFFIO_TYPES_ALL]; /* bytes / time from open to close, in MB/s */
};

/* Average of the pattern types, the scattering type twice. */
double beffio_method_value(const double type[BEFFIO_TYPES]);

/* 25 % initial write, 25 % rewrite, 50 % read. `order_2_0`: only type 0 was rewritten, and its value is the rewrite's.
 */
double beffio_partition_value(const struct beffio_rates *rates, bool order_2_0);

/* The rewrite value alone, as above. */
double beffio_rewrite_value(const struct beffio_rates *rates, bool order_2_0);

/* sqrt((5 write types + rewrite of type 0)/6 · (2 · type 0 + the 4 others of read)/6): release 2.1's average. `read`
 * are the rates of reading: 2.1 has the delete of the file in its time. */
double beffio_value_2_1(const struct beffio_rates *rates, const double read[BEFFIO_TYPES]);

/* ---- honesty about caches ---- */

enum { BEFFIO_CACHE_FACTOR = 20 };

/* Share of the data of an access method that may never have reached the disk, 0 to 1. */
double beffio_cache_share(double bytes, double cache_bytes);

/* MB/s of a pattern, its MPI_File_sync included; NaN: no time was measured. */
double beffio_pattern_rate(double bytes, double time_ns);

/* Minutes to move the whole memory at this rate: 10 on a well-balanced system. */
double beffio_coffee_minutes(double memory_bytes, double mb_per_s);

/* ---- hints for all files, for a pattern type or for one pattern ----
 *
 * A line for each: "all KEY VALUE", "type N KEY VALUE" or "pattern N KEY VALUE"; empty lines and those that begin with
 * # are comments. Of several lines for one key the most special one counts, then the last one. */

enum { BEFFIO_HINTS_MAX = 256 };

enum beffio_scope { BEFFIO_ALL, BEFFIO_TYPE, BEFFIO_PATTERN };

struct beffio_hint {
    enum beffio_scope scope;
    int number; /* of the type or pattern */
    char *key, *value;
};

struct beffio_hints {
    struct beffio_hint *list; /* owned */
    size_t count;
};

void beffio_hints_clear(struct beffio_hints *hints);

/* Lines as above; `name` is the file's, for messages. Replaces what was there. */
pl_status beffio_hints_parse(const char *name, const char *lines, struct beffio_hints *ret_hints,
                             struct pl_error *error);
/* The lines again, in canonical form. */
void beffio_hints_text(const struct beffio_hints *hints, struct text *out);

/* The value in force for a key in a pattern, or in a type's file as a whole (pattern -1); NULL: none. */
const char *beffio_hint_value(const struct beffio_hints *hints, int type, int pattern, const char *key);

/* Has this pattern hints of its own? */
bool beffio_hints_own(const struct beffio_hints *hints, int pattern);

/* ---- options ---- */

enum { BEFFIO_PARTITIONS_MAX = 64 };

/* What the rows fill, and what follows from it. */
struct beffio_config {
    double time_s;               /* T, for one partition */
    struct option_numbers asked; /* --partitions */
    int64_t per_node;            /* processes that a partition takes of each node; 0: all */
    int64_t node_memory_bytes;   /* 0: as found */
    int order;                   /* enum beffio_order */
    int release;                 /* enum beffio_release */
    bool random;                 /* also the random pattern type */
    bool cold;                   /* write back and drop caches before rewriting and reading */
    bool keep;                   /* the files */
    bool quick;
    int64_t seed;               /* drawn where it is not given */
    int64_t assume_bytes_per_s; /* dry run; 0: not assumed */
    struct beffio_hints hints;
    /* of beffio_prepare() */
    int partitions[BEFFIO_PARTITIONS_MAX]; /* processes */
    int partition_count;
    char **paths; /* owned; folders */
    int path_count;
};

enum beffio_order { BEFFIO_DOCUMENT, BEFFIO_2_0 };

/* The settings that stand in the head of every block, whether given or not. */
extern const char *const BEFFIO_SETTINGS[]; /* ends with NULL */

/* M_PART */
int64_t beffio_config_mpart(const struct beffio_config *config);
/* Is this pattern part of a run with these settings? */
bool beffio_is_wanted(const struct beffio_config *config, enum beffio_method method, int type);
/* Patterns that the run will measure for one partition, and the seconds that they are scheduled for. */
int beffio_config_patterns(const struct beffio_config *config);
double beffio_config_seconds(const struct beffio_config *config);

/* ---- one measured pattern, and its way into a block file and back: a set for each. No MPI ---- */

/* Plain numbers: rank 0 sends it to the others as it is. */
struct beffio_result {
    int32_t path;      /* of the run, from 0 */
    int32_t partition; /* its processes */
    int32_t method, pattern;
    int32_t failed;
    int32_t decisions;
    int64_t chunk_bytes, call_bytes; /* l, L */
    int64_t calls;                   /* of each process */
    int64_t planned;                 /* calls of the region; 0: open */
    int64_t bytes;                   /* of all processes */
    int64_t start_bytes;             /* of the region */
    int64_t segment_bytes;           /* types 3 and 4 */
    int64_t scheduled_ns;
    int64_t time_ns;     /* loop and sync, of the slowest process */
    int64_t sync_ns;     /* part of time_ns */
    int64_t decide_ns;   /* cost of the decisions to go on, part of time_ns */
    int64_t open_ns;     /* of the file, in a type's first pattern */
    int64_t position_ns; /* view or pointer */
    int64_t close_ns;    /* in a type's last pattern */
    int64_t delete_ns;   /* of the file, behind the close of a read; 0: not measured. In no time of the document's */
    int64_t kept_calls;  /* whose times are in the results, of the rank that has fewest */
};

/* The numbers of a result by name, as they stand in block files and exports. `field` < BEFFIO_FIELDS. */
enum { BEFFIO_FIELDS = 16 };
const char *beffio_field_name(int field);
int64_t beffio_field(const struct beffio_result *result, int field);

/* Its parameters, as notes. */
void beffio_result_note(const struct beffio_result *result, struct text *params);

/* A growing list. {0} is empty. */
struct beffio_results {
    struct beffio_result *list; /* owned */
    size_t count;
};

void beffio_results_add(struct beffio_results *results, const struct beffio_result *result);
void beffio_results_clear(struct beffio_results *results);
/* The last one, so that what was measured again counts; NULL: none. */
const struct beffio_result *beffio_results_find(const struct beffio_results *results, int path, int partition,
                                                enum beffio_method method, int pattern);

/* The sets of all blocks of one run. */
void beffio_results_load(struct beffio_results *results, const struct blockfile *file, const char *run);

/* Whether a pattern of the type failed in this method; then the type has no value in it. */
bool beffio_type_failed(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                        int type);

/* Bytes of a process in the initial write of types 0 to 2. */
void beffio_measured_of(const struct beffio_results *results, int path, int partition,
                        struct beffio_measured *ret_measured);

/* ---- the file of a pattern type (one for each process in type 2) ---- */

struct beffio_file {
    MPI_Comm comm; /* of the partition */
    int rank, type;
    bool delete_on_close; /* when it is opened to be read */
    char name[PATH_MAX];
    MPI_File handle; /* MPI_FILE_NULL: not open */
    const struct beffio_hints *hints;
};

/* The name tells run, partition, type and, in type 2, the rank: files of several runs lie beside each other, and Open
 * MPI's jobs never meet in a name. */
pl_status beffio_file_name(struct beffio_file *file, const char *folder, const char *run, int nprocs,
                           struct pl_error *error);

/* Opens and sets the type's view; every rank calls. Never MPI_MODE_UNIQUE_OPEN, which would let an MPI put off its
 * MPI_File_sync. Errors are local, and the file is to be closed by those who opened it only after all agreed. */
pl_status beffio_file_open_coll(struct beffio_file *file, enum beffio_method method, const struct beffio_layout *layout,
                                struct pl_error *error);

/* Puts view or pointer to where the pattern begins, with the hints of the pattern. */
pl_status beffio_file_position_coll(struct beffio_file *file, const struct beffio_layout *layout, int pattern,
                                    struct pl_error *error);

/* One call of the type, of `count` numbers of 8 bytes. `offset_bytes` is for type 5 alone, the others go on from where
 * they are. Returns MPI's code. */
int beffio_file_write(const struct beffio_file *file, int64_t offset_bytes, const void *data, int count,
                      MPI_Status *status);
int beffio_file_read(const struct beffio_file *file, int64_t offset_bytes, void *data, int count, MPI_Status *status);

pl_status beffio_file_sync_coll(struct beffio_file *file, struct pl_error *error);
pl_status beffio_file_close_coll(struct beffio_file *file, struct pl_error *error);

/* MPI_File_delete by rank 0, in type 2 by each rank; behind it all ranks meet. */
pl_status beffio_file_delete_coll(const struct beffio_file *file, struct pl_error *error);

/* Local: rank 0 removes a shared file and what MPI keeps beside it, each rank its own in type 2. A file that is not
 * there is no failure. */
void beffio_file_remove(const struct beffio_file *file);

/* Writes the file back and asks the kernel to forget its pages. Local. */
void beffio_file_cool(const struct beffio_file *file);

/* ---- the measured loop of one pattern: batches of calls, each followed by a decision that all ranks take alike ----
 *
 * What is read is checked: of each call the first and the last number, which is a comparison of two words in cache, and
 * after each batch the whole of its last call at one number in every 4 KiB, outside of the pattern's time. Data are
 * windows into a pool of random numbers (bench/iot/iot_data.h), another one for each place in the file; the rewrite
 * writes other data than the initial write. */

/* Calls of a pattern and rank whose times are kept: minutes of calls that take a microsecond would fill a disk. */
enum { BEFFIO_BATCHES_KEPT = 256, BEFFIO_CALLS_KEPT = 1000000 };

struct beffio_loop {
    /* what to do */
    MPI_Comm comm;
    struct beffio_file *file;
    const struct beffio_layout *layout;
    int rank, pattern;
    enum beffio_method method;
    struct beffio_loop_plan plan;
    int64_t rewritten; /* reading: so many calls of the region hold what the rewrite wrote */
    uint64_t order_seed;
    const struct iot_data *data;
    double *buffer;               /* reading: room for a call */
    const char *folder;           /* writing anew: whose free space is looked at before each batch */
    double decision_before_s;     /* cost of a decision in the pattern before */
    struct sample_series *series; /* takes the time of each call; NULL: nobody wants them */
    int64_t kept_most;            /* calls whose times are kept */
    /* what came out: the same on all ranks but for the own times */
    int64_t calls;
    int batch_count, decisions;
    double time_s, decide_s;
    double own_calls_s, own_sync_s, own_decide_s;
    double own_check_s, own_memory_s; /* outside of the pattern's time */
    int64_t batches[BEFFIO_BATCHES_KEPT];
    double elapsed_s[BEFFIO_BATCHES_KEPT]; /* at the decision behind each batch */
    /* of the moment */
    struct iot_order order;
    int64_t base_bytes, stride_bytes, call_bytes;
    double began, last_decide_s, first_decide_s;
    bool over; /* release 2.1: rank 0 said so */
};

/* Every rank calls; success or failure is the same on all. After a failure the file can only be closed. */
pl_status beffio_loop_coll(struct beffio_loop *loop, struct pl_error *error, struct coll_verdict *ret_verdict);

/* ---- one pattern type in one access method: opens its file, measures its patterns, closes ---- */

enum { BEFFIO_RUN_ID_MAX = 20 };

/* Where a run stands. */
struct beffio_stage {
    struct lab_run *lab;
    const struct beffio_config *config;
    char run[BEFFIO_RUN_ID_MAX];   /* name of the run, in its blocks and files */
    struct beffio_results results; /* of this run and of what it resumes; the same on all ranks of a partition */
    int node_ranks;
    struct iot_data data;
    double *buffer;
    int64_t kept_most; /* calls of a pattern whose times this rank keeps */
    double decision_s; /* cost of one in the last pattern that had any; the same on all ranks */
    /* of the moment */
    int path;
    MPI_Comm comm;
    int rank, nprocs;
    enum beffio_method method;
};

/* Passes over what an earlier run has measured. A type that fails is recorded and closed, and PL_OK returned; another
 * status means that results cannot be written. */
pl_status beffio_type_run_coll(struct beffio_stage *stage, int type, struct pl_error *error);

/* All its patterns are there, or one failed. */
bool beffio_type_is_done(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                         int type);

/* Removes the files of all types of this partition and path. Local. */
void beffio_type_remove_all(struct beffio_stage *stage);

pl_status beffio_run_coll(struct lab_run *run, struct pl_error *error);

/* ---- what block files say: cases, verdict, document. Reads block files and nothing else ---- */

/* One partition of one run in one folder. */
struct beffio_case {
    const struct blockfile *source; /* borrowed, as the next three */
    const char *file;
    const struct blockfile_block *block; /* the last of the run and folder: its facts */
    const char *run, *folder;
    int path, partition, nodes, most_on_node;
    size_t results; /* index of the run's results */
    struct beffio_rates rates;
    double time_s;
    bool order_2_0;
    double moved_bytes[BEFFIO_METHODS];
    double cache_bytes; /* memory of its nodes: what a page cache can grow to */
    double value;
    double value_2_1;      /* by release 2.1's rule, with the delete of the file in the time of a read */
    double value_2_1_kept; /* without it, as 2.1 with -keep */
    bool release_2_1;      /* the run followed release 2.1's schedule */
    bool deletes_known;    /* the deletes were measured */
    bool complete;         /* all patterns are there */
    bool continued;        /* a later block goes on with the run and folder */
    /* lines */
    struct text reasons;  /* why it is not official by the document's rule; empty: it is */
    struct text caches;   /* what caches may have hidden: another matter; empty: less than 5 % of each method */
    struct text warnings; /* patterns that are to be doubted */
};

struct beffio_report {
    struct beffio_case *cases; /* owned */
    size_t case_count;
    struct beffio_results *results; /* owned, one for each run of each file */
    size_t result_count;
};

/* The runs that the request selects. PL_E_INPUT: there is none. */
pl_status beffio_report_make(const struct analysis_request *request, const struct analysis_input *input,
                             struct beffio_report *ret_report, struct pl_error *error);
void beffio_report_clear(struct beffio_report *report);

/* By the document's rule: complete, in its order and by its schedule, with T of 15 minutes or more. */
bool beffio_is_official(const struct beffio_case *item);

/* The largest value of the official cases of one system, that of `like`; NULL: it has none. */
const struct beffio_case *beffio_report_system(const struct beffio_report *report, const struct beffio_case *like);
/* Were both measured on the same system, as far as the results tell? */
bool beffio_same_system(const struct beffio_case *a, const struct beffio_case *b);

pl_status beffio_results(const struct analysis_request *request, const struct analysis_input *input,
                         struct result *result, struct pl_error *error);

#endif
