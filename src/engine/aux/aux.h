/* Auxiliary processes: they store what collective writes hand over to them, while the ranks go on computing.
 *
 * PIOLET_AUXILIARY=n sets n of them aside on every node. They are no ranks: the first rank of a node makes them before
 * MPI begins, they never call MPI, and they end when no rank of theirs is left and all they were given is stored. Data
 * go through memory that they share with the ranks, in queues of bounded size; a byte of a file always goes through
 * the same queue, so that the last write of it stays the last.
 *
 * Nobody depends on their life: where one has ended, a rank stores what lies in its queue (aux_serve.c). */
#ifndef PIOLET_ENGINE_AUX_AUX_H
#define PIOLET_ENGINE_AUX_AUX_H

#include "engine/storage/storage.h"
#include "engine/store/store.h"

#include <mpi.h>
#include <stddef.h>

/* ---- the processes ---- */

/* Before MPI begins: the first rank of a node makes them, where the environment asks for it. */
void aux_start(void);
/* Before MPI ends: this rank hands nothing over any more. */
void aux_stop(void);
/* Why this process knows of none; NULL where it does. */
const char *aux_why_not(void);

/* ---- a file ---- */

struct aux; /* one rank's end of it */

/* What the rank that introduced a file to the processes tells the others of its node. */
struct aux_offer {
    int64_t pid, fd; /* where the shared memory is to be found: /proc/PID/fd/FD */
    uint64_t nonce;  /* proves that it is that memory */
    int64_t file;    /* the number of the file there */
};

/* Introduces an open file; the storage must stay open until aux_close(). `readable`: it was opened for reading too.
 * Waits until every process has opened it. */
pl_status aux_open(struct storage *storage, bool readable, MPI_Comm progress, struct aux **ret_aux,
                   struct aux_offer *ret_offer, struct pl_error *error);
/* The other ranks of the node. */
pl_status aux_join(const struct aux_offer *offer, struct aux **ret_aux, struct pl_error *error);
/* The processes close the file; nothing may be handed over for it any more. Does nothing but in the rank that has
 * introduced it. */
void aux_close(struct aux *aux, MPI_Comm progress);
/* When no rank uses the file any more. Accepts NULL. */
void aux_free(struct aux *aux);

/* "2 processes, 67108864 bytes each". */
void aux_describe(const struct aux *aux, char *text, size_t capacity);

/* Stores a window (store.h): by the processes, later, where `aux` has any that take it, else at once. A failure of what
 * is stored later is told later. Waits for room in the queues. */
pl_status aux_store(struct aux *aux, const struct store_options *options, int64_t offset, char *window, int64_t bytes,
                    const uint64_t *coverage, struct pl_error *error);

/* Is all of the file stored that ranks of this node have handed over, as far as this rank can know? */
bool aux_is_settled(struct aux *aux);
void aux_settle(struct aux *aux, MPI_Comm progress); /* waits for it; accepts NULL */

/* A failure that no rank of the node has been told of. From now on this one has been. */
bool aux_failure(struct aux *aux, struct pl_error *ret_error);

#endif
