/* What a program's I/O costs on one or several configurations, phase by phase: times, bandwidths, errors, ranks. The
 * definitions are in docs/predict.md; equations are those of the phase model document.
 *
 *     predict_program_make(&model, text, &prediction.program, &error);
 *     predict_read_replay(&prediction, &file, &error) for each file of results
 *     predict_read_peak(), predict_read_sources(), predict_measured_add() where there are such
 *     predict_finish(&prediction, &error);
 *
 * No MPI, no clock. */
#ifndef PIOLET_PREDICT_PREDICT_H
#define PIOLET_PREDICT_PREDICT_H

#include "base/blockfile.h"
#include "base/text.h"
#include "model/model_facts.h"
#include "predict/predict_curve.h"
#include "predict/predict_interval.h"

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

/* A phase, or all calls outside of phases, on a configuration. */
struct predict_unit {
    struct predict_sample *samples; /* owned: one for each repetition */
    size_t sample_count;
    struct predict_time time; /* for all executions of the program */
    double noise_percent;     /* of the repetitions */
    double measured_ns, measured_noise_percent;
    struct predict_usage usage;
    double replay_ns; /* of an estimate, where a replay is there to compare with */
    char *source;     /* of an estimate: what it is made from; owned */
};

struct predict_configuration {
    char *label, *on;
    bool estimate;              /* made without replay */
    int run_count;              /* repetitions, over all launches */
    struct predict_unit *units; /* the phases, then the calls outside of phases */
    char *failure;              /* why there is no total; NULL: there is one */
    struct predict_time total;
    double noise_percent;
    double measured_ns, measured_noise_percent;
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
    char *call_names;                /* "close,open": operations outside of phases that were replayed */
    struct predict_peaks *peaks;     /* owned; NULL: none */
    struct predict_sources *sources; /* owned; NULL: none */
    double *measured;                /* owned: a row for each measured run, in it the time of each unit in ns */
    int measured_count;
    char **notes; /* what was left out or is doubtful, for people; owned */
    size_t note_count;
};

void prediction_clear(struct prediction *prediction);
/* Units of a configuration: the phases, and behind them one for the calls outside of phases. */
static inline int predict_unit_count(const struct prediction *prediction)
{
    return prediction->program.phase_count + 1;
}

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
 * they are known better (predict_observe.h), else NULL. To be called when the replays are read: of the calls outside of
 * phases only those are taken that were replayed too. PL_E_INPUT: it is another program. */
pl_status predict_measured_add(struct prediction *prediction, const char *name, const struct model *model,
                               const double *phase_ns, struct pl_error *error);

/* Peak blocks of a file, see predict_peak.c. */
pl_status predict_read_peak(struct prediction *prediction, const struct blockfile *file, int *ret_count,
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

#endif
