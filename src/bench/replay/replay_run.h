/* The operations that a model may name, and how each is called. */
#ifndef PIOLET_REPLAY_RUN_H
#define PIOLET_REPLAY_RUN_H

#include "base/blockfile.h"
#include "base/clock.h"
#include "bench/replay/replay_plan.h"
#include "bench/replay/replay_type.h"
#include "mpi/coll.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum replay_kind {
    REPLAY_ACCESS, /* moves data, and is over when it returns */
    REPLAY_START,  /* non-blocking: gives a request */
    REPLAY_BEGIN,  /* of a split collective */
    REPLAY_END,
    REPLAY_WAIT,
    REPLAY_OPEN,
    REPLAY_CLOSE,
    REPLAY_DELETE,
    REPLAY_SET_VIEW,
    REPLAY_SET_INFO,
    REPLAY_NUMBER, /* sync, and those that get a number */
};

/* One form for all accesses: what an operation has no use for is passed over. */
typedef int replay_call(MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type,
                        MPI_Request *request, MPI_Status *status);

/* How waiting is asked for; all of them complete what they are given. */
typedef int replay_wait(int count, MPI_Request *requests, MPI_Status *statuses);

struct replay_operation {
    const char *name;
    enum replay_kind kind;
    bool is_access, needs_file, needs_number;
    bool meets;        /* of what is no access: all ranks of the file's communicator call it */
    bool settles;      /* ... after what each of them did alone before */
    bool gathers;      /* a wait that completes several: those that follow each other are one call */
    replay_call *call; /* of accesses, ends of split ones, and REPLAY_NUMBER (its offset) */
    replay_wait *wait;
};

/* NULL: there is none of this name. */
const struct replay_operation *replay_operation_find(const char *name);
bool replay_operation_is_collective(const struct replay_operation *operation);

/* How far the accesses of a rank reach, before anything is done: which files must be there, how much space and memory
 * it takes. */

struct replay_extent {
    int file;
    int64_t instance;
    int64_t end;     /* of all writes */
    int64_t initial; /* bytes that must be there at first; -1: the file need not be there */
    int ranks;       /* of the communicator that opens it */
    double read_bytes, written_bytes;
};

struct replay_extents { /* {0} is empty */
    struct replay_extent *items;
    int count, room, last;
    int64_t largest, largest_write; /* bytes of an access */
    int64_t span, span_write;       /* bytes of memory over which an access reaches, with its layout */
    struct replay_layout *layouts;  /* as the model's */
    int layout_count;
    bool untold;     /* accesses whose layout the model does not tell */
    int buffers;     /* accesses under way at the same time */
    int64_t calls;   /* that were looked at */
    bool is_partial; /* there are more: what they need is not known */
};

/* Walks through the calls of a rank, `most` of them. Views are tried on a file that is none: nothing is touched. */
pl_status replay_extents_find(const struct replay_plan *plan, int rank, int64_t most,
                              struct replay_extents *ret_extents, struct pl_error *error);
void replay_extents_clear(struct replay_extents *extents);
/* NULL: the rank has no such file. */
const struct replay_extent *replay_extents_of(struct replay_extents *extents, int file, int64_t instance);

/* The space that all files take. Every rank calls. */
int64_t replay_extents_space_coll(const struct replay_plan *plan, const struct replay_extents *extents, MPI_Comm comm);

/* The byte behind `size` bytes at `offset` of the file's view; 0 where the view is empty. */
int64_t replay_extent_end(MPI_File file, int64_t offset, int64_t size, int64_t etype_bytes, int64_t view_bytes);

/* Inside of replay_*.c: one repetition while it runs. */

enum { REPLAY_PATH_MAX = 4096 };

/* What was measured of a unit on this rank. */
struct replay_measure {
    int64_t *durations; /* one for each execution */
    int64_t executed, capacity;
    int64_t sum_ns;           /* of the execution under way */
    int64_t extended_ns;      /* of all: of turns that were not done */
    int64_t begin_ns, end_ns; /* of the first and the last one, since the block began; -1: none */
    bool is_cut;              /* the rank failed in it or before: it moved less than it should */
};

struct replay_pending { /* a request, or the beginning of a split access */
    MPI_Request request;
    int buffer; /* of the pool */
    char *data; /* what the call was given */
    int64_t bytes;
    bool writes;
};

/* A file that this rank has open. */
struct replay_file {
    int file; /* of the model */
    int64_t instance;
    char *path;
    MPI_File handle;
    MPI_Comm comm;
    bool is_sequential; /* opened with MPI_MODE_SEQUENTIAL: its pointer is the shared one, its views begin there */
    bool is_open;       /* false: opening failed for somebody: calls on it are passed over */
    int64_t position;   /* of the individual pointer, in etypes; -1: not known */
    int64_t view_bytes; /* of the filetype; 0: an empty view */
    int64_t etype_bytes;
    struct replay_type etype, filetype;
    struct replay_pending *pending; /* in the order in which they were started */
    int pending_count, pending_room;
    struct replay_pending split; /* buffer -1: none */
    const struct replay_operation *split_end;
};

struct replay_comm { /* kept until the end: making one costs */
    int first, stride, ranks;
    int *members;
    MPI_Comm comm;
};

struct replay_run {
    const struct replay_job *job;
    const struct replay_plan *plan;
    const struct model *model;
    struct lab_run *lab; /* progress, notes, results */
    MPI_Comm comm;
    int rank, ranks;
    int64_t repetition;
    bool aligned; /* additional meetings do no harm */
    char folder[REPLAY_PATH_MAX];
    struct replay_extents extents;
    struct replay_measure *measures; /* as the units */
    int64_t *done;                   /* executions of each leaf */
    int64_t calls, all_calls;        /* made in this repetition; of this rank in the program */
    int phase_unit;                  /* under way; -1: none */
    struct replay_file *files;
    int file_count, file_room;
    struct replay_comm *comms;
    int comm_count;
    char **buffers; /* of buffer_bytes each */
    bool *is_taken;
    int buffer_count;
    int64_t buffer_bytes, fresh_bytes; /* largest access, largest write */
    struct model_buffers *fresh_share; /* of each file: what of the model's is this rank's */
    struct model_buffers *fresh_left;  /* of each file: bytes of buffers that are untouched when they are used */
    int64_t fresh_owed;                /* of these, what is less than a page */
    bool is_scattered;                 /* accesses have the program's layouts in memory */
    bool is_stale;                     /* the buffer was written since it was made anew */
    int64_t late_ns;                   /* the first meeting waits for ranks that were started later; 0: it is over */
    int64_t changed;                   /* word of the buffer that was changed last */
    struct replay_memory {
        char *memory;
        size_t bytes;
    } * retired; /* pages that buffers had, kept until the repetition ends */
    int retired_count, retired_room;
    int64_t retired_bytes, retired_most;
    int64_t idle_ns;                 /* when the last call or communication ended */
    struct replay_pending *gathered; /* waits that follow each other, not called yet */
    int gathered_count, gathered_room;
    const struct model_step *gathered_step;
    struct replay_sampling *sampling; /* of the innermost loop that is sampled; NULL: none */
    int depth;                        /* loops around, but those inside of phases */
    int64_t start_ns, began_ns;       /* of the block: CLOCK_REALTIME, CLOCK_MONOTONIC */
    int64_t repetition_ns;            /* when this repetition began */
    int whole_loops;                  /* loops around that go on to their end, and have done a turn */
    bool has_told_cut;
    bool stopped;            /* all have agreed to end */
    struct pl_error failure; /* status PL_OK: none here */
    int finished_units, written_units;
    int64_t flushed_ns; /* as agreed upon by all */
};

static inline int64_t replay_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

/* What this rank has had of a processor. */
static inline int64_t replay_computed_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Notes the first failure of this rank; from then on its accesses are empty. */
void replay_note(struct replay_run *run, const struct model_step *step, const struct pl_error *error);
static inline bool replay_has_failed(const struct replay_run *run)
{
    return run->failure.status != PL_OK;
}

/* ---- replay_run.c ---- */
/* Can the model be replayed by these ranks? Every rank calls; a refusal is agreed, and nothing is to be cleared then.
 */
pl_status replay_run_check_coll(struct replay_run *run, const struct replay_job *job, MPI_Comm comm,
                                struct pl_error *error);
/* Takes the memory that it needs. Behind the check; agreed. */
pl_status replay_run_begin_coll(struct replay_run *run, struct lab_run *lab, struct pl_error *error);
/* One block: the repetitions on job->directory, but for those that are `measured` (from 1 on). What fails there is told
 * in the results; the status is that of the results. */
pl_status replay_run_place_coll(struct replay_run *run, const char *name, const bool *measured, struct pl_error *error);
/* All ranks. */
void replay_run_clear_coll(struct replay_run *run);

/* The first `bytes` of a buffer as memory that nobody has touched. */
void replay_run_freshen(struct replay_run *run, int buffer, int64_t bytes);

/* ---- replay_walk.c ---- */
void replay_walk_coll(struct replay_run *run);
/* The unit that a step belongs to, and its time. */
void replay_walk_time(struct replay_run *run, const struct model_step *step, int64_t begin_ns, int64_t end_ns);

/* ---- replay_call.c: one execution of a call ---- */
void replay_call_do(struct replay_run *run, const struct model_step *step, int64_t n);
/* Waits that were held back. */
void replay_call_flush(struct replay_run *run);
/* Ends what is under way on a file. */
void replay_call_finish(struct replay_run *run, struct replay_file *file);

/* ---- replay_file.c: before anything is done ---- */
/* Do all ranks with which this one opens a file come there? Local. */
pl_status replay_check_members(const struct replay_run *run, const struct model_step *steps, int count,
                               struct pl_error *error);
/* Do they make the same collective calls on it? Keeps the first error; all ranks walk to the end. */
void replay_check_calls_coll(struct replay_run *run, const struct model_step *steps, int count, struct pl_error *error);

/* The open file behind `after` in the order of paths, which is the same on all ranks; NULL: the first, the end. */
struct replay_file *replay_file_next(const struct replay_run *run, const struct replay_file *after);
struct replay_file *replay_file_find(struct replay_run *run, int file, int64_t instance);
void replay_file_open_coll(struct replay_run *run, const struct model_step *step, int64_t n, int64_t instance);
void replay_file_close_coll(struct replay_run *run, const struct model_step *step, struct replay_file *file);
void replay_file_view_coll(struct replay_run *run, const struct model_step *step, int64_t n, struct replay_file *file);
void replay_file_delete(struct replay_run *run, const struct model_step *step, int64_t n);
void replay_file_info_coll(struct replay_run *run, const struct model_step *step, int64_t n, struct replay_file *file);
/* Closes what is open; all ranks that have a file open call at the same place. */
void replay_file_close_all_coll(struct replay_run *run);
/* The byte behind an access through the view in force. */
int64_t replay_file_end(const struct replay_file *file, int64_t offset, int64_t size);
void replay_files_clear(struct replay_run *run);

/* ---- replay_extent.c: the folder on the target ---- */
pl_status replay_place_make_coll(struct replay_run *run, struct pl_error *error);
void replay_place_remove_coll(struct replay_run *run);
/* Our own name for a file of the program. */
pl_status replay_place_name(const struct replay_run *run, const char *name, char ret_path[REPLAY_PATH_MAX],
                            struct pl_error *error);
/* Writes what is missing of the file up to `bytes`, in large blocks. */
pl_status replay_place_fill(const char *path, int64_t bytes, struct pl_error *error);
pl_status replay_place_drop(const char *path, struct pl_error *error);

/* ---- replay_write.c: the results ---- */
/* `name`: of the whole run, which has a block for each configuration. */
pl_status replay_write_head_coll(struct replay_run *run, const char *name, struct pl_error *error);
/* Units from run->written_units up to `until`. */
pl_status replay_write_units_coll(struct replay_run *run, int until, struct pl_error *error);
/* That the repetition failed. */
pl_status replay_write_failure_coll(struct replay_run *run, const struct coll_verdict *verdict, struct pl_error *error);

/* The time of all executions of a phase, from the times of some of them. Pure: anybody may call it on the series that a
 * replay has written. */

struct replay_estimate {
    double total_ns;        /* of all executions: those that were done, and the slope times the rest */
    double low_ns, high_ns; /* at STATISTICS_LEVEL; equal to the total where all were done */
    double slope_ns;        /* of the cumulative time against executions */
    double half_ns;         /* half of the slope's interval; negative: too few to tell */
};

/* `durations`: the executions that were done, the first ones in their order; `all`: how many there are. The slope is
 * the mean of the increments of the cumulative time. Its interval is by batch means, since neighbours are alike (a
 * cache fills, a device throttles): the durations of one batch are one observation. The first execution counts in the
 * total and not in the slope where there are enough others: it meets what is new. */
struct replay_estimate replay_estimate(const int64_t *durations, int64_t count, int64_t all);

/* Is the interval of the slope below 5 %? */
bool replay_estimate_is_sure(const struct replay_estimate *estimate);

/* Inside of replay_*.c: how many turns of a loop are done, and what makes up for the others. */

struct replay_sampling {
    const struct replay_loop *loop;
    struct replay_sampling *around; /* of a loop outside of this one */
    int64_t turn, turns;            /* under way; to be done */
    int64_t begin_ns;
};

/* What this rank brings to the meeting of a turn: whether it needs more, and how long the rest would take. */
struct replay_wish {
    bool unsure;
    int64_t rest_ns;
};
struct replay_wish replay_sample_wish(const struct replay_run *run, const struct replay_sampling *sampling);

/* Is this turn the last one? Of numbers that all ranks have in common. */
bool replay_sample_is_enough(const struct replay_job *job, bool unsure, int64_t rest_ns, int64_t elapsed_ns);

/* Passes over executions of a step: counts them as done. */
void replay_sample_pass(struct replay_run *run, const struct model_step *step, int64_t times, bool told);

/* The turns that were not done: what they would have written and somebody uses later is filled. */
void replay_sample_make_up_coll(struct replay_run *run, const struct replay_sampling *sampling, int64_t missing);

/* Loops that are left early because the time limit is reached, where no meeting of all ranks decides it (those are
 * sampled, replay_sample_*()): loops inside of phases, and loops of calls that are each rank's own. Internal to the
 * replay.
 *
 * A rank alone may leave a loop in which it meets nobody. Where there are collective calls on files of one
 * communicator, and all of its ranks do this loop, these agree now and then. Other loops are done to their end. */

struct replay_cut {
    const struct model_step *loop;
    int64_t turns; /* of this execution */
    bool is_possible;
    MPI_Comm comm;     /* of those who agree; MPI_COMM_NULL: nobody is asked */
    int64_t begin_ns;  /* of the loop */
    int64_t next;      /* turn at which to look */
    int64_t before_ns; /* of the phase, when the loop began */
};

/* Local. `phase`: the phase around the loop; NULL: none. */
void replay_cut_begin(struct replay_run *run, const struct model_step *loop, int64_t turns,
                      const struct model_step *phase, struct replay_cut *ret_cut);
/* Is the loop to be left before this turn, from 1 on? All of the communicator call. */
bool replay_cut_is_due_coll(struct replay_run *run, struct replay_cut *cut, int64_t turn);
/* The loop was left after `done` turns: the time of its phase is extended by the rest, which counts as done; what it
 * would have written is filled where somebody uses it later. Local. */
void replay_cut_make_up(struct replay_run *run, const struct replay_cut *cut, int64_t done);

/* Is the time over, or more done than was planned for? Local. */
bool replay_cut_is_late(const struct replay_run *run);

#endif
