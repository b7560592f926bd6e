/* The shared file pointer, in etypes of the view: a number that ranks fetch and add to at once. It lies in the memory
 * that the ranks of a node share, or in a window of rank 0 where the file's ranks are on several nodes (or with a
 * thread of it, shared_server in shared.c). No lock, no file. */
#ifndef PIOLET_ENGINE_SHARED_SHARED_H
#define PIOLET_ENGINE_SHARED_SHARED_H

#include "mpi/agree.h"
#include "mpi/node.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* There are two words. One is in force; the other is where rank 0 prepares the next value, which holds when all have
 * turned to it: so one meeting of the ranks is enough to set the pointer. */
struct shared_server;
struct shared {
    _Atomic int64_t *words; /* in the node's segment; NULL: the window or the server is used */
    int turn;               /* which word is in force */
    MPI_Win window;
    int64_t *window_words;
    struct shared_server *server; /* in the place of the window */
    bool missing;                 /* there is none of these: whoever uses the pointer gets an error */
};

enum { SHARED_BYTES = 64 }; /* what it needs of the segment: a cache line of its own */

/* Every rank calls it; `place` is the part of node->segment that belongs to it. */
pl_status shared_open_coll(struct shared *shared, const struct node *node, void *place, MPI_Comm comm, int rank,
                           struct pl_error *error);
void shared_close_coll(struct shared *shared);
/* For the next file: rank 0 calls it, and all ranks meet before anybody uses it. */
void shared_reset(struct shared *shared);

pl_status shared_fetch_add(struct shared *shared, int64_t etypes, int64_t *ret_before, struct pl_error *error);
/* Rank 0 prepares, all ranks meet, all ranks turn. */
pl_status shared_prepare(struct shared *shared, int64_t etypes, struct pl_error *error);
void shared_turn(struct shared *shared);
pl_status shared_get(struct shared *shared, int64_t *ret_etypes, struct pl_error *error);

/* ---- calls in the order of ranks ---- */
/* Where each rank's data begin in a call in which they come one after the other in rank order, found in memory that all
 * ranks share: each says how much it has, sums up what stands before it, and the last moves the shared file pointer for
 * all. Nobody goes on before all are there, so a rank is never two calls ahead of another: two places for each rank,
 * used in turn, are enough. */

struct shared_order_line;
struct shared_order {
    struct shared_order_line *lines; /* one for each rank, and one for the pointer; NULL: there is no such memory */
    int rank, size;
    uint64_t calls;
};

size_t shared_order_bytes(int ranks);
/* `place`: shared_order_bytes() of zeroed memory that all ranks see, aligned to a cache line; NULL: none. */
void shared_order_open(struct shared_order *order, void *place, int rank, int size);

/* One call. */
struct shared_order_call {
    int next;       /* the rank to look at */
    int64_t before; /* etypes of the ranks before this one, */
    int64_t total;  /* and of all that were looked at */
    int failures;
    int64_t base; /* where the first rank begins; not known where there are failures */
};
void shared_order_start(struct shared_order *order, struct shared_order_call *ret_call, int64_t etypes, bool failed);
enum step shared_order_step(struct shared_order *order, struct shared_order_call *call, struct shared *pointer,
                            struct pl_error *error);

#endif
