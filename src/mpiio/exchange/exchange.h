/* Two-phase exchange by messages: every rank sends its data to the agents that own their place in the file (or asks
 * them for it); agents access the file in whole windows. One operation with step(): it never waits inside.
 *
 * Buffers are taken before the ranks first meet, so that a rank that lacks memory says so before anybody touches the
 * file; only lists of many partners grow later. A failure after that is noted; the rank goes on taking part, and all
 * learn of it in the agreement at the end.
 */
#ifndef PIOLET_MPIIO_EXCHANGE_EXCHANGE_H
#define PIOLET_MPIIO_EXCHANGE_EXCHANGE_H

#include "mpi/agree.h"
#include "mpi/step.h"
#include "mpiio/access/access.h"
#include "mpiio/exchange/exchange_domain.h"

#include <stdint.h>

/* How the file is spread over the agents. */
enum exchange_spread {
    EXCHANGE_SPREAD_BLOCK,  /* one part of what is accessed for each agent */
    EXCHANGE_SPREAD_CYCLIC, /* blocks in turn */
    EXCHANGE_SPREAD_BOUND,  /* the same, counted from the file's first byte: a block has one agent for ever */
};

/* The same on every rank, but for what belongs to the rank itself. */
struct exchange_setup {
    MPI_Comm comm;
    int rank, ranks;
    struct storage *storage;
    bool lock_writes; /* somebody may sieve beside: what is written is locked */
    bool readable;    /* agents may read, modify and write back */
    int agents;
    int64_t window_bytes; /* what an agent accesses at once */
    enum exchange_spread spread;
    int64_t block_bytes; /* what goes to agents in turn; with SPREAD_BLOCK, their parts are aligned to it */
    bool each_piece;     /* is a message of its own; else all pieces for a window are one, as far as they fit */
    int64_t sequence;    /* number of the collective call on this file */
    bool async;          /* agents leave system calls to threads */
    struct aux *aux;     /* auxiliary processes that store windows; NULL: none */
};

struct exchange;

/* What a file keeps between its calls: memory, and how its storage was. */
struct exchange_memory {
    char *bytes;
    size_t capacity;
    bool reads_sleep; /* the last read of a window had to wait for a device */
};
void exchange_memory_clear(struct exchange_memory *memory);

/* `own`: this rank's outcome so far. A rank that failed already, or that fails here, takes part with nothing to give.
 * The request must live until the end. `late`: a failure that others should hear of at the end (status PL_OK: none),
 * and whether this rank's program has heard of it. */
pl_status exchange_new(const struct exchange_setup *setup, const struct access_request *request,
                       struct exchange_memory *memory, const struct pl_error *own, const struct pl_error *late,
                       bool late_heard, struct exchange **ret_exchange, struct pl_error *error);

/* A rank whose exchange_new() failed calls this in its place, as often, until it is done: the first agreement then
 * ends the call for all. */
struct exchange_refusal {
    struct agree agree;
    bool started;
};
enum step exchange_refuse_step(struct exchange_refusal *refusal, MPI_Comm comm, int rank, const struct pl_error *error);

enum step exchange_step(struct exchange *exchange);

/* After the last step: what all agreed on, and the bytes of data that this rank's request moved. */
pl_status exchange_result(const struct exchange *exchange, int64_t *ret_done, struct pl_error *error);
/* The late failure that all ranks have heard of now; status PL_OK: none. */
struct pl_error exchange_told_late(const struct exchange *exchange);
void exchange_free(struct exchange *exchange); /* accepts NULL */

#endif
