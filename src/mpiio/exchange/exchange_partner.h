/* The ranks that have something for an agent: these only. Each has told in which window it has something next, so that
 * nobody has to be asked; messages come from whoever is first. One that cannot be dealt with yet, since its window is
 * not in memory or an earlier one of the same rank is in work, waits in its rank's queue: its data stay with MPI. */
#ifndef PIOLET_MPIIO_EXCHANGE_PARTNER_H
#define PIOLET_MPIIO_EXCHANGE_PARTNER_H

#include "mpiio/exchange/exchange_index.h"

#include <mpi.h>
#include <stdint.h>

struct exchange_partner {
    int rank;
    bool busy;       /* a message of it is in work */
    int64_t next;    /* the window in which it has something next */
    int first, last; /* of its waiting messages; -1: none */
};

struct exchange_waiting {
    MPI_Message message;
    int bytes;
    int next; /* of the same rank, or of those that are free; -1: none */
};

struct exchange_partners {
    struct exchange_partner *list;
    int count, capacity;
    struct exchange_index index; /* by rank */
    struct exchange_waiting *waiting;
    int waiting_capacity, waiting_free, waiting_count;
    bool look_again; /* one of the waiting messages may have become possible */
    int heard;       /* ranks that have greeted: more than are in the list where memory did not suffice */
    int finished;    /* of these, who have nothing more */
    int upcoming;    /* in the list: who have something next in a window that is not in memory */
};

bool exchange_partners_init(struct exchange_partners *partners); /* false: no memory */
void exchange_partners_clear(struct exchange_partners *partners);

/* A rank that has greeted. False: no memory. It counts as heard all the same, since it will send. */
bool exchange_partners_add(struct exchange_partners *partners, int rank, int64_t next);
/* The earliest window behind `behind` in which anybody in the list has something next, and how many; INT64_MAX: none.
 */
int64_t exchange_partners_least(const struct exchange_partners *partners, int64_t behind, int *ret_count);

/* Puts a message to the end of its rank's queue. False: no memory. */
bool exchange_partners_wait(struct exchange_partners *partners, int partner, MPI_Message message, int bytes);
/* The first of a rank's queue, which must not be empty. */
struct exchange_waiting exchange_partners_take(struct exchange_partners *partners, int partner);

#endif
