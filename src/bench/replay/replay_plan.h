/* The arguments of a call as a model tells them: "KEY=VALUE" fields behind `with=`. Pure. */
#ifndef PIOLET_REPLAY_PLAN_H
#define PIOLET_REPLAY_PLAN_H

#include "base/status.h"
#include "base/text.h"
#include "lab/runner/lab.h"
#include "model/model.h"
#include "trace/trace_format.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Class and test of its blocks. */
extern const char REPLAY_CLASS[], REPLAY_TEST[];

/* The document of Replay blocks (struct bench, .results): replay_results.c. */
pl_status replay_results(const struct analysis_request *request, const struct analysis_input *input,
                         struct result *result, struct pl_error *error);
/* Was repetition `number` of a block done to its end? Those behind it tell, or the block's end. */
bool replay_results_has(const struct blockfile_block *block, int64_t number);

/* What MPI_File_open was given. */
struct replay_open {
    int amode; /* by the bits of enum replay_mode: an MPI has its own */
    int ranks; /* of the communicator, which are first, first + stride, …; or the members */
    int first, stride;
    int *members; /* owned; NULL: none are told */
};

enum replay_mode {
    REPLAY_CREATE = 1,
    REPLAY_EXCL = 2,
    REPLAY_RDONLY = 4,
    REPLAY_WRONLY = 8,
    REPLAY_RDWR = 16,
    REPLAY_APPEND = 32,
    REPLAY_DELETE_ON_CLOSE = 64,
    REPLAY_UNIQUE_OPEN = 128,
    REPLAY_SEQUENTIAL = 256
};

/* Refuses ranks beyond those of the world, and a communicator in which `rank` is not. */
pl_status replay_open_parse(const char *detail, int rank, int world, struct replay_open *ret_open,
                            struct pl_error *error);
void replay_open_clear(struct replay_open *open);
int replay_open_member(const struct replay_open *open, int i);

/* What follows from a model before it is replayed: what is measured, which loops may be sampled, what is known of the
 * files, and whether all ranks meet in the same order. Pure. */

/* What is measured as one: a phase, or a call outside of phases. */
struct replay_unit {
    const struct model_step *step;
    const struct model_phase_facts *phase; /* NULL: a call */
    int64_t count;                         /* executions in the program */
    bool selected;                         /* a phase that is not is passed over */
};

/* A loop whose turns are alike and in each of which all ranks meet: some turns tell what all would take. */
struct replay_loop {
    const struct model_step *step;
    const struct model_step *meeting; /* the communication of all, directly in its body */
    int first_leaf, last_leaf;
};

struct replay_file_facts {
    const char *name; /* pattern of the first open; "" if there is none */
    int group;        /* the first file of this name */
    bool creates;     /* the first open makes it */
    int first_write;  /* leaf of the first writing access to the name; leaf_count: none */
    int last_use;     /* leaf of the last call on the name */
};

struct replay_plan {
    const struct model *model;
    struct model_facts facts;
    struct replay_unit *units; /* in the order of the steps */
    int unit_count;
    int *unit_of_leaf;  /* of a call outside of phases, else -1 */
    int *unit_of_phase; /* by number */
    int *phase_of_leaf; /* number; 0: a call outside of phases */
    struct replay_loop *loops;
    int loop_count;
    struct replay_file_facts *files;
    const struct replay_operation **operations; /* by leaf */
    int last_delete;                            /* leaf; -1: none */
    bool chosen;                                /* only some phases are selected */
};

/* `phases`: numbers of the only phases to be replayed; none: all. Refuses a model with calls that nobody knows. */
pl_status replay_plan_make(const struct model *model, const int *phases, int phase_count, struct replay_plan *ret_plan,
                           struct pl_error *error);
void replay_plan_clear(struct replay_plan *plan);

/* Are the files that are opened in the loop not used behind it? Else turns that are left out would be missed. */
bool replay_plan_is_private(const struct replay_plan *plan, const struct model_step *loop);
const struct replay_loop *replay_plan_loop(const struct replay_plan *plan, const struct model_step *step);

/* Does the step concern every rank? */
bool replay_plan_is_world(const struct model *model, const struct model_step *step);

/* A sum over what a rank does together with others, loops and phases of all ranks included: where it is the same on all
 * ranks they meet in the same order, and additional meetings between steps do no harm. `file` >= 0: only the calls on
 * this file, while it is open `with` these ranks (NULL: with any). */
uint64_t replay_plan_order(const struct model *model, int64_t rank, int file, const struct replay_open *with);
/* Collectives of the world in which the rank takes part: must be the same for all. */
int64_t replay_plan_collectives(const struct model *model, int64_t rank);
/* Calls that the rank makes in all. */
int64_t replay_plan_calls(const struct model *model, int64_t rank);

/* Replay: doing what a model says on a target, and measuring it.
 *
 * Every rank walks through the steps of the model and does those that are its own: the same calls with the same
 * arguments on files of its own making, in a folder that is made for it and removed. Meetings stand where the program
 * had communication. A rank that fails takes part with nothing until all meet; then all end. */

/* Computing before each call: none, as long as the program did but for REPLAY_SHORT_NS at most, as long as it did. */
enum replay_pace { REPLAY_FAST, REPLAY_SHORT, REPLAY_RECORDED };
#define REPLAY_SHORT_NS INT64_C(100000000)

struct replay_job {
    const char *model_path;
    const struct replay_plan *plan;
    char model_hash[32];
    const char *directory;  /* the target */
    const char *mpiio;      /* system or piolet, for the results */
    struct lab_hints hints; /* besides, or in the place of, those of the program */
    enum replay_pace pace;
    bool cold; /* drop the pages of a file before it is read */
    bool all;  /* no sampling */
    bool keep;
    int64_t repeat;        /* from 1 */
    double limit_s;        /* of a repetition: loops end early then; 0: none */
    int64_t start_wait_ns; /* how long this rank waited for the others when all were started */
};

/* "/scratch, piolet, cb_nodes=2" */
void replay_label(const struct replay_job *job, struct text *text);

/* "phase 2 read_at_all (metadata)", "open" */
void replay_unit_name(const struct replay_unit *unit, char *name, size_t size);

/* The hash of a model's steps, as its line `end-steps` has it, computed where a model by hand has none. */
void replay_model_hash(const struct model *model, char ret_hash[32]);

#endif
