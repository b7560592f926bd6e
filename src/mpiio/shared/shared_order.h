/* Where each rank's data begin in a call in which they come one after the other in rank order, found in memory that all
 * ranks share: each says how much it has, sums up what stands before it, and the last moves the shared file pointer for
 * all. Nobody goes on before all are there, so a rank is never two calls ahead of another: two places for each rank,
 * used in turn, are enough. */
#ifndef PIOLET_MPIIO_SHARED_ORDER_H
#define PIOLET_MPIIO_SHARED_ORDER_H

#include "mpi/step.h"
#include "mpiio/shared/shared.h"

#include <stdbool.h>
#include <stddef.h>

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
