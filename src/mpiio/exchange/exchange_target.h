/* The agents that a rank has something for: these only, and where what each of them gets begins. */
#ifndef PIOLET_MPIIO_EXCHANGE_TARGET_H
#define PIOLET_MPIIO_EXCHANGE_TARGET_H

#include "mpiio/exchange/exchange_domain.h"
#include "mpiio/exchange/exchange_index.h"

#include <mpi.h>

struct exchange_target {
    int agent;
    bool underway;       /* a message is on its way, and none of several */
    int64_t position;    /* where what remains for it begins, as position of the view's data */
    int64_t round;       /* the window that it lies in */
    int64_t hello_round; /* what it is greeted with */
    MPI_Request hello;
};

struct exchange_targets {
    struct exchange_target *list;
    int count, capacity;
    struct exchange_index index; /* of agents that occur again and again */
};

/* Takes the memory for a few, so that what follows seldom has to. False: there is none. */
bool exchange_targets_init(struct exchange_targets *targets);
/* Those of the data between two positions of a monotone view, in the order of the file. Touches every block of data
 * once at most. False: no memory; then there are none. */
bool exchange_targets_find(struct exchange_targets *targets, const struct exchange_domain *domain,
                           const struct view *view, int64_t position, int64_t limit);
void exchange_targets_clear(struct exchange_targets *targets);

#endif
