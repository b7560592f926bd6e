/* Agreement: every rank brings its outcome and some numbers; all learn whether anybody failed, who and why, and the
 * least of each number. One reduction where all is well, one broadcast of its text more where not.
 *
 * The greatest of a number comes by bringing its negative. */
#ifndef PIOLET_MPI_AGREE_H
#define PIOLET_MPI_AGREE_H

#include "base/status.h"

#include <assert.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A collective is an operation that is stepped until it is done: blocking calls step it in a loop, non-blocking ones
 * from wherever MPI makes progress. A step never waits for another rank. */
enum step { STEP_PENDING, STEP_DONE };

enum { AGREE_VALUES_MAX = 12, AGREE_TEXT_MAX = 480 };

/* Memory in which ranks that share it meet: a reduction by messages takes ten times as long. For communicators of up to
 * AGREE_BOARD_RANKS ranks, of which one agreement is under way at a time. */
enum { AGREE_BOARD_RANKS = 64 };
struct agree_line;
struct agree_board {
    struct agree_line *lines; /* two for each rank, used in turn */
    int rank, size;
    bool on;   /* all ranks have it */
    bool busy; /* an agreement is under way */
    uint64_t calls;
};

size_t agree_board_bytes(int ranks);
/* `place`: so many bytes, zeroed, seen by all ranks of `comm`, aligned to a cache line. The board belongs to the
 * caller, and must live as long as `comm`; it is used from the moment when all ranks have set `on`, between two
 * agreements. */
pl_status agree_board_attach(struct agree_board *board, MPI_Comm comm, void *place, int rank, int size,
                             struct pl_error *error);

struct agree_text {
    int32_t status;
    char text[AGREE_TEXT_MAX];
};

enum agree_state { AGREE_REDUCE, AGREE_TEXT, AGREE_FINISHED };

struct agree {
    MPI_Comm comm;
    int rank, count;
    enum agree_state state;
    struct agree_board *board; /* NULL: by messages */
    int next;                  /* rank whose line is to be looked at */
    unsigned turns;            /* without it */
    MPI_Request request;
    const struct pl_error *own; /* the caller's; must live until the end */
    int64_t mine[1 + AGREE_VALUES_MAX], least[1 + AGREE_VALUES_MAX];
    struct agree_text text;
    /* results */
    pl_status status; /* PL_OK, or that of the first rank that failed */
    int failed_rank;  /* -1: none */
};

/* own->status: PL_OK or what happened here. `values` may be NULL where count is 0. */
void agree_start(struct agree *agree, MPI_Comm comm, int rank, const struct pl_error *own, const int64_t *values,
                 int count);
enum step agree_step(struct agree *agree);
static inline int64_t agree_least(const struct agree *agree, int index)
{
    assert(index >= 0 && index < agree->count);
    return agree->least[1 + index];
}

/* After the last step: PL_OK, or in *error this rank's own failure, else the text of the first rank that failed. */
pl_status agree_result(const struct agree *agree, struct pl_error *error);

/* The text of the first rank that failed, for a rank that did not. */
pl_status agree_tell(const struct agree *agree, struct pl_error *error);

/* All steps at once, waiting in between. */
pl_status agree_run_coll(struct agree *agree, MPI_Comm comm, int rank, struct pl_error *error, const int64_t *values,
                         int count);

#endif
