/* The shared file pointer, in etypes of the view: a number that ranks fetch and add to at once. It lies in the memory
 * that the ranks of a node share, or in a window of rank 0 where the file's ranks are on several nodes (or with a
 * thread of it, shared_server.h). No lock, no file. */
#ifndef PIOLET_MPIIO_SHARED_SHARED_H
#define PIOLET_MPIIO_SHARED_SHARED_H

#include "mpi/node.h"

#include <stdatomic.h>
#include <stdbool.h>
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

pl_status shared_fetch_add(struct shared *shared, int64_t etypes, int64_t *ret_before, struct pl_error *error);
/* Rank 0 prepares, all ranks meet, all ranks turn. */
pl_status shared_prepare(struct shared *shared, int64_t etypes, struct pl_error *error);
void shared_turn(struct shared *shared);
pl_status shared_get(struct shared *shared, int64_t *ret_etypes, struct pl_error *error);

#endif
