/* What a program's I/O costs on one or several configurations, phase by phase: times, bandwidths, errors, ranks. The
 * definitions are in docs/predict.md; equations are those of the phase model document.
 *
 *     predict_program_make(&model, text, &prediction.program, &error);
 *     predict_read_replay(&prediction, &file, &error) for each file of results
 *     predict_read_peak(), predict_read_sources(), predict_measured_add() where there are such
 *     predict_finish(&prediction, &error);
 *
 * No MPI, no clock. */
#ifndef PIOLET_PREDICT_H
#define PIOLET_PREDICT_H

#include "base/blockfile.h"
#include "base/text.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* NaN in ns: not known; NaN in low_ns and high_ns: no interval can be given. */
struct predict_time {
    double ns, low_ns, high_ns;
};

/* One repetition: its estimate, and the squares of how far its interval reaches below and above. */
struct predict_sample {
    int run; /* which repetition of which launch */
    double ns, below, above;
};

/* An estimate with its interval as a sample; where there is no interval it is taken as exact. */
struct predict_sample predict_sample_of(int run, double ns, double low_ns, double high_ns);
/* The sum of two that were sampled apart from each other: their errors add up in squares. */
void predict_sample_add(struct predict_sample *sum, const struct predict_sample *more);

/* The mean of repetitions. Its interval is the wider one of two: what the sampling inside of the repetitions leaves
 * open, and, from two repetitions on, Student's t on their spread. */
struct predict_time predict_interval_mean(const struct predict_sample *samples, size_t count);

/* The sum of times that were measured apart from each other. */
struct predict_time predict_interval_sum(const struct predict_time *times, size_t count);

/* Standard deviation of the samples in percent of their mean; NaN for fewer than two. */
double predict_noise_percent(const double *values, size_t count);

/* A rate over request sizes, between measured points. Pure. */

struct predict_point {
    double bytes;       /* of a request */
    double bytes_per_s; /* rate with it */
    int samples;        /* that it is made of */
};

/* {0} is an empty curve. Points are in ascending order of their sizes, each size once. */
struct predict_curve {
    struct predict_point *points; /* owned */
    size_t count;
};

void predict_curve_clear(struct predict_curve *curve);
/* What becomes of several rates of one size: a peak is the highest (eq. 3), a characterisation the mean. */
enum predict_join { PREDICT_HIGHEST, PREDICT_MEAN };

/* Points that are no positive numbers are passed over. false: no memory. */
bool predict_curve_add(struct predict_curve *curve, double bytes, double bytes_per_s, enum predict_join join);

enum predict_range { PREDICT_INSIDE, PREDICT_BELOW, PREDICT_ABOVE };

/* The rate at a size: a straight line between the neighbours in a double logarithmic plot. Outside of the measured
 * sizes it is the rate of the nearest one, and ret_range says so: nothing is extrapolated. NaN for an empty curve. */
double predict_curve_at(const struct predict_curve *curve, double bytes, enum predict_range *ret_range);

/* What a program's I/O costs on one or several configurations, phase by phase: times, bandwidths, errors, ranks. The
 * definitions are in docs/predict.md; equations are those of the phase model document.
 *
 *     predict_program_make(&model, text, &prediction.program, &error);
 *     predict_read_replay(&prediction, &file, &error) for each file of results
 *     predict_read_peak(), predict_read_sources(), predict_measured_add() where there are such
 *     predict_finish(&prediction, &error);
 *
 * No MPI, no clock. */

enum predict_direction { PREDICT_WRITE, PREDICT_READ, PREDICT_DIRECTIONS };

/* ---- the program, from its model ---- */

enum { PREDICT_HASH_MAX = 24, PREDICT_LABEL_MAX = 72 };

/* One direction of a phase. */
struct predict_access {
    int64_t bytes;   /* of all processes, in one execution */
    int64_t request; /* mean request size */
    int64_t piece;   /* bytes that lie together in the file, at most the request */
    bool collective, shared_pointer;
};

struct predict_phase {
    char label[PREDICT_LABEL_MAX]; /* "1-40" */
    char *operations;              /* "write_at_all,read_at_all" */
    char *words;
    int64_t count, weight_bytes, processes;
    struct predict_access access[PREDICT_DIRECTIONS];
    enum model_order order;
    bool holes, unique, metadata;
};

struct predict_program {
    char *name;
    /* What a block may say of the model that it replayed: the sum in the file, and that of the same text as piolet
     * writes it (a model made by hand has none in the file). */
    char hash[2][PREDICT_HASH_MAX];
    int64_t ranks;
    struct predict_phase *phases;
    int phase_count;
    char **calls; /* kinds of calls outside of phases, in the order of the program: "open", "close" */
    int call_count;
};

/* `text` is the model file that `model` was read from. */
pl_status predict_program_make(const struct model *model, const char *text, struct predict_program *ret_program,
                               struct pl_error *error);
void predict_program_clear(struct predict_program *program);

/* Is it the same program, phase by phase? Names of files and of the program may differ: it ran elsewhere. Else the text
 * says in what they differ. */
bool predict_program_same(const struct predict_program *a, const struct predict_program *b, struct text *ret_why);

/* ---- configurations ---- */

/* Device peak for a phase. */
struct predict_usage {
    double peak, plain; /* bytes/s: byte-weighted harmonic mean, and plain mean, of the directions (NaN: none) */
    double percent;     /* eq. 5 */
    bool other_access;  /* the phase's access mode was not measured: sequential was taken */
    enum predict_range range;
};

/* A phase, or all calls of a kind outside of phases, on a configuration. */
struct predict_unit {
    struct predict_sample *samples; /* owned: one for each repetition */
    size_t sample_count;
    struct predict_time time;     /* for all executions of the program */
    double noise_percent;         /* of the repetitions */
    struct predict_time measured; /* mean of the runs; its interval from two on */
    double measured_noise_percent;
    struct predict_usage usage;
    double replay_ns; /* of an estimate, where a replay is there to compare with */
    char *source;     /* of an estimate: what it is made from; owned */
};

struct predict_configuration {
    char *label, *on;
    bool estimate;              /* made without replay */
    int run_count;              /* repetitions, over all launches */
    struct predict_unit *units; /* the phases, then the kinds of calls outside of phases */
    char *failure;              /* why there is no total; NULL: there is one */
    struct predict_time total;
    double noise_percent;
    struct predict_time measured;
    double measured_noise_percent;
    /* set by predict_rank() */
    int place;
    int decides;             /* unit that decides; -1: none */
    char *tie_with, *reason; /* owned, "" if there is none */
};

struct predict_peaks;
struct predict_sources;

struct prediction {
    struct predict_program program;
    struct predict_configuration *configurations; /* sorted by predict_rank() */
    int configuration_count;
    struct predict_peaks *peaks;     /* owned; NULL: none */
    struct predict_sources *sources; /* owned; NULL: none */
    double *measured;                /* owned: a row for each measured run, in it the time of each unit in ns */
    int measured_count;
    char **notes; /* what was left out or is doubtful, for people; owned */
    size_t note_count;
};

void prediction_clear(struct prediction *prediction);
/* Units of a configuration: the phases, and behind them one for each kind of calls outside of phases. */
static inline int predict_unit_count(const struct prediction *prediction)
{
    return prediction->program.phase_count + prediction->program.call_count;
}
/* "1-40" of a phase, "open" of calls. */
const char *predict_unit_label(const struct prediction *prediction, int unit);
/* The unit of calls outside of phases; -1: the program has none of this kind. */
int predict_unit_of_call(const struct predict_program *program, const char *operation);

/* Takes what a file holds of this program's replays; other blocks are passed over, and noted where they are replays of
 * another model. *ret_count: how many blocks were taken. */
pl_status predict_read_replay(struct prediction *prediction, const struct blockfile *file, int *ret_count,
                              struct pl_error *error);
/* The configuration of this name, made if it is not there; NULL: no memory. */
struct predict_configuration *predict_configuration_of(struct prediction *prediction, const char *label);
/* Forgets all configurations but this one; false, and nothing done, if there is none of this name. */
bool predict_keep_configuration(struct prediction *prediction, const char *label);
bool predict_unit_add(struct predict_unit *unit, const struct predict_sample *sample); /* false: no memory */

/* Adds a measured run of the program, from its model with an observed part. `phase_ns`: the times of the phases where
 * they are known better (predict_observe_rank()), else NULL. To be called when the replays are read: of the calls
 * outside of phases only those are taken that were replayed too. PL_E_INPUT: it is another program. */
pl_status predict_measured_add(struct prediction *prediction, const char *name, const struct model *model,
                               const double *phase_ns, struct pl_error *error);

/* Peak blocks of a file, see predict_source.c. */
pl_status predict_read_peak(struct prediction *prediction, struct blockfile *file, int *ret_count,
                            struct pl_error *error);
void predict_peaks_free(struct predict_peaks *peaks);
/* The peak for a phase on a configuration; all is NaN where there is none. */
struct predict_usage predict_peak_of(const struct prediction *prediction, const struct predict_configuration *on,
                                     const struct predict_phase *phase);

/* Characterisations of a system (b_eff_io, Parallel I/O Test Suite, Peak), see predict_source.c. */
pl_status predict_read_sources(struct prediction *prediction, struct blockfile *file, int *ret_count,
                               struct pl_error *error);
void predict_sources_free(struct predict_sources *sources);
/* Adds a configuration whose times come from the characterisations. */
pl_status predict_estimate(struct prediction *prediction, struct pl_error *error);

/* Computes times, totals, usage and errors out of all that was read, and ranks the configurations. */
pl_status predict_finish(struct prediction *prediction, struct pl_error *error);
/* Places, ties and reasons; sorts by time, those without a total last. */
pl_status predict_rank(struct prediction *prediction, struct pl_error *error);

/* ---- equations ---- */

/* Bytes a second; NaN where a time is not known or none passed. Eq. 2 turned round. */
double predict_bandwidth(double bytes, double ns);
/* |value - reference| in percent of the reference (eq. 6 and 7); NaN where it makes no sense. */
double predict_error_percent(double value, double reference);
/* BW_PK of a phase of two directions: the rate at which these bytes take the time that each part needs by itself. */
double predict_harmonic(double bytes_a, double rate_a, double bytes_b, double rate_b);

/* Keeps a note; notes said before are not said again. */
void predict_note(struct prediction *prediction, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How long each phase took on each rank of a traced run. The observed part of a model has the slowest rank of each
 * call; where a phase is of several calls, their sum is too much unless one rank is the slowest in all of them. A trace
 * tells exactly. Pure. */

/* Times of the phases on the slowest rank, from all ranks so far. */
struct predict_observer {
    const struct model *model; /* of the same trace */
    double *phase_ns;          /* owned, one for each phase */
    int *phase_of;             /* owned: by leaf, from 0; -1: outside of phases */
    int64_t calls_left;        /* that may still be looked at: a limit of time */
    bool gave_up;              /* the trace is too long, or does not fit the model: phase_ns has no meaning */
};

enum { PREDICT_OBSERVE_CALLS = 20 * 1000 * 1000 };

bool predict_observer_init(struct predict_observer *observer, const struct model *model); /* false: no memory */
void predict_observer_clear(struct predict_observer *observer);
pl_status predict_observe_rank(struct predict_observer *observer, const struct trace_tree *tree,
                               struct pl_error *error);

/* A prediction as tables of at most 80 columns, as JSON, CSV and as a block. */

/* The tables of each configuration: time, usage where there are peaks, errors where there are measured runs. */
void predict_print(const struct prediction *prediction, FILE *stream);
/* The configurations by their places, with ties and reasons. */
void predict_print_ranks(const struct prediction *prediction, FILE *stream);

void predict_export_json(const struct prediction *prediction, FILE *stream);
/* A row for each phase of each configuration, and one for its total. */
void predict_export_csv(const struct prediction *prediction, FILE *stream);
/* Appends a block of class Prediction (docs/predict.md), made from the files `sources` (up to NULL). */
pl_status predict_export_block(const struct prediction *prediction, const char *path, const char *timestamp,
                               const char *const *sources, struct pl_error *error);

/* Prints words in lines of at most 80 columns, the first behind `lead`, the others behind as many blanks. Control
 * characters are escaped: names come from files. */
void predict_print_wrapped(FILE *stream, const char *lead, const char *words);

#endif
