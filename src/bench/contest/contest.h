/* Contests: contestants move the same bytes in turn, cell by cell, and every byte is checked. PIOBENCH (piobench*.c)
 * and the MPI-IO/GPFS benchmarks (gpfs*.c) are contests: they say which cells and contestants there are, which bytes a
 * rank moves and by which calls. Everything else is here, once.
 *
 * A *cell* is one case: bytes, ranks, writing or reading. A *trial* is one contestant moving the data of a cell once.
 * contest.c reads what is asked for, contest_run.c goes through cells and turns, contest_trial.c measures one trial and
 * compares contents, contest_results.c makes points and documents of block files. Nothing of the engine is included:
 * its algorithms are reached by hints. */
#ifndef PIOLET_BENCH_CONTEST_H
#define PIOLET_BENCH_CONTEST_H

#include "lab/facts/conditions.h"
#include "lab/runner/lab.h"
#include "piolet/dist.h"

enum { CONTEST_LABEL_MAX = 96, CONTEST_TEXT_MAX = 512, CONTEST_KEYS_MAX = 18, CONTEST_TRIALS_MAX = 1000 };

/* ---- who takes part ---- */

enum contest_access { CONTEST_POSIX, CONTEST_SYSTEM, CONTEST_ENGINE };

struct contest_contestant {
    char label[CONTEST_LABEL_MAX]; /* "cbx", "cbx:cb_nodes=2", "ranges-4" */
    const char *summary;
    enum contest_access access;
    const char *strategy;   /* of the engine */
    struct lab_hints hints; /* of its own; owned */
    /* piobench */
    const char *family;      /* what it is compared as: naive, scheduling, buffering, choosing, system */
    const char *buffer_hint; /* what --buffers varies; NULL: it has no buffers */
    bool independent;        /* MPI-IO without collective calls */
    /* gpfs */
    bool largeblock, unique; /* shipping is off; the file is opened by this job alone */
    int ranges;              /* of guided prefetching */
};

void contest_hint(struct lab_hints *hints, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- cells ---- */

struct piobench_distribution {
    char text[PIOLET_DIST_TEXT_MAX]; /* as piolet_dist_format() writes it */
    struct piolet_dist_spec spec;
};

struct contest_cell {
    int ranks;
    bool writes;
    bool fresh;          /* writing makes the file */
    bool cold;           /* the file is taken out of the page cache before each trial */
    int64_t file_bytes;  /* as really used */
    int64_t moved_bytes; /* by all ranks together */
    /* piobench */
    const struct piobench_distribution *distribution;
    int64_t file_asked_bytes;
    int64_t block_asked_bytes; /* 0: file and ranks give it */
    int64_t block_bytes;       /* what is contiguous in the file for one rank, at most */
    struct piolet_dist_spec spec;
    struct piolet_dist_shape shape;
    /* gpfs */
    const struct gpfs_benchmark *benchmark;
    int64_t value[CONTEST_KEYS_MAX]; /* of keys that the benchmark lacks: 0 */
};

/* ---- whose trial is next ---- */

struct contest_rule {
    int64_t trials, max_trials; /* of each contestant in each cell; equal: so many */
    double width;               /* wanted half width of the 90 % interval, as a part of the mean */
};

struct contest_tally {
    double total_ns[CONTEST_TRIALS_MAX]; /* of the trials so far */
    int count;
    bool failed; /* no more trials, or it cannot take part */
};

/* Half width of the 90 % interval of the mean as a part of it; NaN for fewer than 2 trials. */
double contest_width(const struct contest_tally *tally);
/* Enough trials: failed, or the interval is narrow enough, or the limit is reached. */
bool contest_finished(const struct contest_tally *tally, const struct contest_rule *rule);
/* One of those with fewest trials, each round beginning with another; -1: all have finished. It depends on the tallies
 * alone, so that a resumed run goes on as the interrupted one would have. */
int contest_next(const struct contest_tally *tallies, int count, const struct contest_rule *rule);

/* ---- what is asked for ---- */

enum contest_check { CONTEST_CHECK_FIRST, CONTEST_CHECK_ALL, CONTEST_CHECK_NONE };

/* Common to both: the first member of what their rows fill. */
struct contest {
    const struct contest_kind *kind;
    const char *test;      /* of its blocks */
    const char *file_name; /* --file */
    char *file;            /* owned: with --on before it */
    int64_t seed;
    struct contest_rule rule;
    int check; /* enum contest_check */
    bool sync, direct, keep;
    struct contest_contestant *contestants; /* owned */
    int contestant_count;
    struct contest_cell *cells; /* owned */
    int cell_count;
    struct text left_out;   /* a line for each cell that cannot be, and why */
    struct lab_hints hints; /* for all MPI-IO; owned */
    /* of a launch that is one step of many */
    int only_cell; /* -1: all */
    int round;     /* > 0: only trials of this number, by those who have all before it */
};

/* Of the rows of both: the struct contest stands first in what they fill. */
#define CONTEST_ROWS(default_file)                                                                                     \
    {.name = "file",                                                                                                   \
     .letter = 'f',                                                                                                    \
     .type = OPTION_TEXT,                                                                                              \
     .argument = "FILE",                                                                                               \
     .initial = (default_file),                                                                                        \
     OPTION_AT(struct contest, file_name),                                                                             \
     .help = "test file, in the place of --on",                                                                        \
     .more = "Removed at the end. One that is there is overwritten if piolet left it as it is now, else only with "    \
             "--overwrite."},                                                                                          \
    {                                                                                                                  \
        .name = "seed", .type = OPTION_INT, .initial = "1", OPTION_AT(struct contest, seed),                           \
        .help = "of data and of random places"                                                                         \
    }

/* The first steps of `prepare`: names, ranks as the job has them, what stands in a list twice. `own` becomes as the
 * rows have filled it: whatever an earlier call made is cleared. */
pl_status contest_begin(struct lab_job *job, const struct contest_kind *kind, struct pl_error *error);
/* The last one: can the test file be made there? */
pl_status contest_check_place(const struct lab_job *job, struct pl_error *error);
/* PL_E_USAGE where the list has a number twice. */
pl_status contest_check_twice(const char *option, const struct option_numbers *list, struct pl_error *error);
/* Of a template; the label must be new. Takes the hints over. */
pl_status contest_add_contestant(struct contest *contest, struct contest_contestant contestant, const char *option,
                                 struct pl_error *error);
struct contest_cell *contest_add_cell(struct contest *contest, const struct contest_cell *cell);
void contest_clear(void *own);
/* The document of --dry-run. */
pl_status contest_plan(struct lab_job *job, struct result *plan, struct pl_error *error);

/* ---- the run ---- */

pl_status contest_run_coll(struct lab_run *lab, struct pl_error *error);
/* Adds what is measured already of a cell, which the parameters identify (notes), to its contestants' tallies. Rank 0
 * calls. */
void contest_tally_measured(const struct lab_run *run, const struct contest *contest, const struct text *params,
                            struct contest_tally *tallies);
bool contest_takes_part(const struct contest_contestant *contestant, const struct contest_cell *cell);

/* What a rank needs for all trials of a cell. */
struct contest_place {
    MPI_Comm comm; /* the ranks of the cell; borrowed */
    int rank, ranks;
    int64_t clock_offset_ns; /* what makes rank 0's clock of this rank's */
    const struct contest *contest;
    const struct contest_cell *cell;
    char *data;         /* its pieces, one behind the other */
    int64_t bytes;      /* of it */
    void *layout;       /* of the kind: which pieces they are; owned */
    uint64_t file_seed; /* of what the file holds where nobody writes */
    /* pieces of all ranks that reach into this rank's share of the file, ascending, of equal length; NULL: all of it is
     * written */
    int64_t *touched;
    int64_t touched_count, touched_bytes;
};

/* Takes memory, makes the layout, and writes the file, unless it `is_ready` and has the contents already. Every rank of
 * `comm` calls; the answer is agreed. contest_place_clear() is local. */
pl_status contest_place_init_coll(struct contest_place *place, const struct timebase *clock, MPI_Comm comm,
                                  const struct contest *contest, const struct contest_cell *cell, bool is_ready,
                                  struct coll_verdict *ret_verdict);
/* The file as it was, after a trial that may have spoilt it. */
pl_status contest_place_mend_coll(const struct contest_place *place, struct coll_verdict *ret_verdict);
void contest_place_clear(struct contest_place *place);

struct contest_trial {
    struct contest_place *place;
    const struct contest_contestant *contestant;
    int number;             /* from 1 */
    uint64_t seed;          /* of the data that it writes */
    struct lab_hints asked; /* owned, as the set */
    struct lab_set set;
    double total_ns; /* the same on all ranks */
    int descriptor;
    MPI_File handle;
};

/* Ends with the verdict in trial->set. Every rank of the place calls; the caller clears. */
void contest_trial_run_coll(struct contest_trial *trial);
void contest_trial_clear(struct contest_trial *trial);

/* A piece by POSIX calls: at its offset (pwrite, pread), or by seeking there first. */
pl_status contest_move_posix(const struct contest_trial *trial, char *data, int64_t offset, int64_t bytes, bool seeks,
                             struct pl_error *error);
pl_status contest_fail_force(const struct contest_trial *trial, const char *what, const char *is,
                             struct pl_error *error);

/* ---- contents: every byte of a file tells its place and who wrote it ---- */

void contest_fill(char *to, int64_t offset, int64_t bytes, uint64_t seed);
/* The first of `bytes` that is not as contest_fill() would have it, or -1. */
int64_t contest_differs(const char *data, int64_t offset, int64_t bytes, uint64_t seed);

/* ---- results ---- */

/* One contestant in one cell, over all its trials. Strings are borrowed from the input. */
struct contest_point {
    const struct blockfile_block *block; /* of its first set */
    const char *op, *mpi, *contestant;
    int ranks;
    int conditions; /* number in the list's conditions */
    /* piobench */
    const char *distribution, *family;
    int64_t file_bytes, block_bytes;
    int64_t block_asked_bytes; /* 0: it follows from file and ranks */
    int64_t buffer_bytes;      /* 0: not asked for */
    bool crowded;              /* more ranks than cores */
    /* gpfs */
    const struct gpfs_benchmark *benchmark;
    int64_t value[CONTEST_KEYS_MAX];
    double task_ns; /* mean of the computation alone; NaN: none */
    double overlap; /* of computation and I/O, 0 … 1; NaN: not known */
    /* the result */
    int trials, failures;
    const char *warning; /* of a trial that is not quite what was asked for; NULL: none */
    double moved_bytes;
    double *total_ns; /* of each trial; owned by the list */
    double mean_ns;
    double rate_mb_per_s;                            /* what it is compared by; NaN: all trials failed */
    double error_mb_per_s;                           /* half width of its 90 % interval; NaN: not known */
    double max_mb_per_s, mean_mb_per_s, sd_mb_per_s; /* of the trials' rates; NaN where there are too few */
    double mean_error_mb_per_s;                      /* of their mean */
};

struct contest_points {
    struct contest_point *points; /* in the order of the files; those of one cell are neighbours */
    size_t count;
    bool has_many_mpis;
    struct conditions conditions;
};

/* PL_E_INPUT where nothing is selected. On success the caller clears; the points borrow from the input. */
pl_status contest_points_load(const struct contest_kind *kind, const struct analysis_request *request,
                              const struct analysis_input *input, struct contest_points *ret_points,
                              struct pl_error *error);
void contest_points_clear(struct contest_points *points);

/* The mean time's rate of a point, with its interval; maximum, mean and standard deviation of single rates. */
void contest_point_finish(struct contest_point *point);
bool contest_same_contestant(const struct contest_point *a, const struct contest_point *b);
/* The fastest of the same cell; NULL: all failed. */
const struct contest_point *contest_best(const struct contest_kind *kind, const struct contest_points *points,
                                         const struct contest_point *of);
/* "cbx", or "openmpi cbx" where there are many MPIs. */
const char *contest_point_label(const struct contest_points *points, const struct contest_point *point,
                                char label[CONTEST_LABEL_MAX + 32]);
/* a / b with its interval; NaN where there is none. */
struct analysis_estimate contest_ratio(const struct contest_point *a, const struct contest_point *b);
/* A number or text of a set; 0 or "" where it has none. */
int64_t contest_param_number(const struct blockfile_set *set, const char *key);
const char *contest_param_text(const struct blockfile_set *set, const char *key);

/* The last columns of "points". */
#define CONTEST_RATIO_COLUMNS(name)                                                                                    \
    {.key = name, .form = RESULT_NUMBER, .decimals = 2}, {.key = "ratio_to_best", .form = RESULT_NUMBER},              \
        {.key = name "_error", .form = RESULT_NUMBER}, {.key = "ratio_to_best_error", .form = RESULT_NUMBER},          \
        {.key = "warning", .form = RESULT_TEXT}, {.key = "conditions", .form = RESULT_TEXT},                           \
    {                                                                                                                  \
        0                                                                                                              \
    }

/* The whole document. */
pl_status contest_results(const struct contest_kind *kind, const struct analysis_request *request,
                          const struct analysis_input *input, struct result *result, struct pl_error *error);

/* ---- what tells one kind of contest from another ---- */

enum contest_clock_rule {
    CONTEST_FIRST_TO_LAST, /* from the first start to the last end */
    CONTEST_BARRIERS       /* from barrier to barrier; the longest of all ranks */
};

struct contest_kind {
    const char *name, *class_name;
    const char *contestant_param, *number_param; /* "algorithm", "trial" */
    const char *const *conditions;
    enum contest_clock_rule clock;
    bool syncs_reads;   /* so files are opened for both */
    bool reuses_file;   /* a cell may find the file as the one before has left it */
    bool opens_apart;   /* pre_time is that of opening alone */
    const char *rule;   /* fact time_rule */
    const char *cold;   /* the option that asks for it */
    const char *trials; /* what many are called */

    /* cells */
    void (*cell_text)(const struct contest_cell *cell, char text[CONTEST_TEXT_MAX]);
    void (*identify)(const struct contest_cell *cell, struct text *params);
    /* Further parameters of a set. */
    void (*describe)(const struct contest_cell *cell, const struct contest_contestant *contestant, struct text *params);

    /* places and trials; what fails on one rank alone is agreed by the caller */
    /* Fills place->layout and place->bytes. */
    pl_status (*layout_new)(struct contest_place *place, struct pl_error *error);
    void (*layout_free)(void *layout);
    /* Fills place->touched; NULL: all of the file is written. */
    pl_status (*touch)(struct contest_place *place, struct pl_error *error);
    /* Calls `visit` for each piece of this rank, in the order of its memory, while that returns true. */
    bool (*each_piece)(const struct contest_place *place,
                       bool (*visit)(void *context, char *data, int64_t offset, int64_t bytes), void *context);
    void (*ask)(const struct contest_trial *trial, struct lab_hints *hints); /* beside implementation and strategy */
    /* Not in the time: allocates, sets the view. */
    pl_status (*ready_coll)(struct contest_trial *trial, struct pl_error *error);
    /* MPI-IO: what the file's hints say beyond implementation and strategy. */
    pl_status (*in_force)(struct contest_trial *trial, MPI_Info info, struct pl_error *error);
    void (*rehearse)(struct contest_trial *trial); /* right before the measurement; may be NULL */
    pl_status (*move_coll)(struct contest_trial *trial, struct pl_error *error);
    bool (*is_noted)(const void *trial, const char *key); /* a hint in force belongs to the set */

    /* results */
    const char *title, *subtitle; /* of the figure */
    const char *rates;            /* what rates and errors are: a format that takes the level of intervals in % */
    /* Of "points", for machines: what `put` puts, then CONTEST_RATIO_COLUMNS. */
    const struct result_column *columns;
    /* Of a cell's table: contestant, trials, what `put_text` puts, both ratios, a remark. */
    const struct result_column *text_columns;
    const struct quantity_kind *quantities; /* the rates of writing and reading */
    bool (*point_of)(const struct analysis_chosen *chosen, struct contest_point *point); /* false: passed over */
    void (*points_finish)(struct contest_points *points);                                /* may be NULL */
    bool (*same_cell)(const struct contest_point *a, const struct contest_point *b);
    void (*heading)(const struct contest_point *point, struct text *text);
    void (*settings)(const struct contest_point *point, struct text *text);
    /* What it is compared with besides the best; NULL: nothing was measured. */
    const struct contest_point *(*reference)(const struct contest_points *points, const struct contest_point *of);
    void (*put)(struct result *result, const struct contest_points *points, const struct contest_point *point);
    void (*put_text)(struct result *result, const struct contest_points *points, const struct contest_point *point);
    void (*findings)(const struct contest_points *points, struct text *lines); /* may be NULL */
    /* Charts: points of one row of panels, where a point stands (NaN: bars), titles and axes. */
    bool (*same_row)(const struct contest_points *points, const struct contest_point *a, const struct contest_point *b);
    double (*x_of)(const struct contest_points *points, const struct contest_point *point);
    void (*axes)(const struct contest_points *points, const struct contest_point *row, struct result_axis *x,
                 struct result_axis *y);
    void (*row_title)(const struct contest_points *points, const struct contest_point *row, const char *op,
                      struct text *title);
    bool whiskers; /* mean and standard deviation, not the interval */
};

#endif
