/* Inside of replay_*.c: one repetition while it runs. */
#ifndef PIOLET_REPLAY_RUN_H
#define PIOLET_REPLAY_RUN_H

#include "replay/replay.h"
#include "replay/replay_detail.h"
#include "replay/replay_extent.h"
#include "replay/replay_operation.h"
#include "replay/replay_type.h"

#include "base/blockfile.h"
#include "mpi/coll.h"

#include <time.h>

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
};

/* A file that this rank has open. */
struct replay_file {
    int file; /* of the model */
    int64_t instance;
    char *path;
    MPI_File handle;
    MPI_Comm comm;
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
    const struct replay_observer *observer;
    MPI_Comm comm;
    int rank, ranks;
    int64_t repetition;
    bool aligned; /* additional meetings do no harm */
    char folder[REPLAY_PATH_MAX];
    struct replay_extents extents;
    struct replay_measure *measures; /* as the units */
    int64_t *done;                   /* executions of each leaf */
    int64_t calls;                   /* made in this repetition */
    int phase_unit;                  /* under way; -1: none */
    struct replay_file *files;
    int file_count, file_room;
    struct replay_comm *comms;
    int comm_count;
    char **buffers; /* of buffer_bytes each */
    bool *is_taken;
    int buffer_count;
    int64_t buffer_bytes, fresh_bytes; /* largest access, largest write */
    bool is_scattered;                 /* accesses have the program's layouts in memory */
    bool is_stale;                     /* the buffer was written since it was made anew */
    int64_t late_ns;                   /* the first meeting waits for ranks that were started later; 0: it is over */
    int64_t changed;                   /* word of the buffer that was changed last */
    int64_t idle_ns;                   /* replay_computed_ns() when the last call or communication ended */
    struct replay_pending *gathered;   /* waits that follow each other, not called yet */
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
    int64_t flushed_ns;              /* as agreed upon by all */
    struct blockfile_writer *writer; /* rank 0 */
};

static inline int64_t replay_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t replay_now_ns(void)
{
    return replay_clock_ns(CLOCK_MONOTONIC);
}

/* What this rank has had of a processor. */
static inline int64_t replay_computed_ns(void)
{
    return replay_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Notes the first failure of this rank; from then on its accesses are empty. */
void replay_note(struct replay_run *run, const struct model_step *step, const struct pl_error *error);
static inline bool replay_has_failed(const struct replay_run *run)
{
    return run->failure.status != PL_OK;
}

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

/* ---- replay_check.c: before anything is done ---- */
/* Do all ranks with which this one opens a file come there? Local. */
pl_status replay_check_members(const struct replay_run *run, const struct model_step *steps, int count,
                               struct pl_error *error);
/* Do they make the same collective calls on it? Keeps the first error; all ranks walk to the end. */
void replay_check_calls_coll(struct replay_run *run, const struct model_step *steps, int count, struct pl_error *error);

/* ---- replay_file.c ---- */
/* The communicator of an open, kept for the next one. All of its ranks call. Takes over the members. */
pl_status replay_file_comm_coll(struct replay_run *run, struct replay_open *open, MPI_Comm *ret_comm,
                                struct pl_error *error);
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

/* ---- replay_place.c: the folder on the target ---- */
pl_status replay_place_make_coll(struct replay_run *run, struct pl_error *error);
void replay_place_remove_coll(struct replay_run *run);
/* Our own name for a file of the program. */
pl_status replay_place_name(const struct replay_run *run, const char *name, char ret_path[REPLAY_PATH_MAX],
                            struct pl_error *error);
/* Writes what is missing of the file up to `bytes`, in large blocks. */
pl_status replay_place_fill(const char *path, int64_t bytes, struct pl_error *error);
pl_status replay_place_drop(const char *path, struct pl_error *error);

/* ---- replay_write.c: the results ---- */
pl_status replay_write_head_coll(struct replay_run *run, struct pl_error *error);
/* Units from run->written_units up to `until`. */
pl_status replay_write_units_coll(struct replay_run *run, int until, struct pl_error *error);
/* That the repetition failed. Rank 0 calls. */
pl_status replay_write_failure(struct replay_run *run, const struct coll_verdict *verdict, struct pl_error *error);

#endif
