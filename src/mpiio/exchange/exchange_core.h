/* Inside of the exchange: what source and agent share. */
#ifndef PIOLET_MPIIO_EXCHANGE_CORE_H
#define PIOLET_MPIIO_EXCHANGE_CORE_H

#include "mpiio/exchange/exchange.h"
#include "mpiio/exchange/exchange_finish.h"
#include "mpiio/exchange/exchange_message.h"
#include "mpiio/exchange/exchange_partner.h"
#include "mpiio/exchange/exchange_target.h"
#include "mpiio/pool/pool.h"

/* Messages of a rank that are under way at once: large ones, one to each agent; or those of single pieces, to whom they
 * belong, so that their number does not cost as many turns of the agent. */
enum { EXCHANGE_SLOTS = 4, EXCHANGE_SLOTS_PIECES = 32 };
/* Of an agent: windows in memory, and messages that it deals with at once. */
enum { EXCHANGE_WINDOWS = 2, EXCHANGE_DESKS = 3 };
enum exchange_tag { TAG_HELLO, TAG_DATA, TAG_REPLY, TAG_COUNT };

/* An answer to a request for data: this, and the data behind it. */
struct exchange_answer {
    int64_t bytes; /* of data that are there; fewer than asked for at the end of the file */
    int64_t failed;
};

/* ---- source: a rank's own request on its way to the agents ---- */

struct exchange_slot {
    char *buffer, *answer;
    MPI_Request send, receive;
    bool busy;
    int target;              /* in the list of targets */
    int64_t position, bytes; /* what is asked for, in the request's data */
};

struct exchange_source {
    struct access_memory memory;
    struct typemap_cursor file;
    int slots;
    struct exchange_slot slot[EXCHANGE_SLOTS_PIECES];
    struct exchange_targets targets;
    int64_t limit; /* where the request ends */
    bool greeted;  /* all targets have heard of this rank */
    bool over;     /* all has been sent, and answered */
    int turn;      /* the target to serve next, if it can take something: ranks begin with different ones */
    int64_t end;   /* position where the data end: that of the request, or of the file */
};

/* ---- agent: a part of the file ---- */

/* A window in memory. There are several: while one is stored, the next is filled. */
struct exchange_window {
    int64_t round; /* -1: it is free */
    int64_t begin, end;
    int waiting; /* partners that have something for it next */
    char *bytes;
    uint64_t *cover;
    int64_t file_end; /* where a read met the end of the file; INT64_MAX: not yet */
};

/* Where a message is received, and answered. */
enum exchange_desk_state {
    DESK_FREE,
    DESK_RECEIVING,
    DESK_ASKED, /* what is asked for is still to be read */
    DESK_REPLYING,
};
struct exchange_desk {
    enum exchange_desk_state state;
    char *message, *reply;
    int received; /* bytes of the message */
    int64_t reply_bytes;
    int rank, partner;              /* whose it is; in the list of partners, -1: it did not fit into that */
    struct exchange_window *window; /* that it speaks of; NULL: it will be thrown away */
    MPI_Request request;
};

struct exchange_agent {
    int number; /* -1: this rank is none */
    struct exchange_partners partners;
    struct exchange_window window[EXCHANGE_WINDOWS];
    struct exchange_desk desk[EXCHANGE_DESKS];
    /* The system calls under way: for one window at a time. */
    struct pool_work work; /* a thread has them */
    struct exchange_window *working;
    struct exchange_desk *asked; /* reading: who waits for them */
    bool in_thread;
    bool read_slept; /* the last read of a window had to wait for a device */
    struct pl_error io_error;
};

enum exchange_state { EX_AGREE, EX_MOVE, EX_FINISH, EX_DONE };

struct exchange {
    struct exchange_setup setup;
    const struct access_request *request;
    struct exchange_memory *memory;
    enum exchange_state state;
    struct agree agree;
    struct exchange_domain domain;
    int64_t message_bytes;
    MPI_Request meeting; /* of all ranks that have greeted their agents */
    bool meeting_begun, met;
    struct exchange_source source;
    struct exchange_agent agent;
    struct pl_error own; /* this rank's outcome */
    struct exchange_finish finish;
    bool finished; /* by that: it did not end in the first agreement */
};

static inline int exchange_tag(const struct exchange *exchange, enum exchange_tag tag)
{
    return (int)(exchange->setup.sequence % 4096) * TAG_COUNT + (int)tag;
}

/* The first failure stays. */
void exchange_note(struct exchange *exchange, const struct pl_error *error);
void exchange_note_mpi(struct exchange *exchange, int code, const char *doing);

/* A failure: from then on agents throw away whatever comes, and answer that it failed. */
static inline bool exchange_has_failed(const struct exchange *exchange)
{
    return exchange->own.status != PL_OK;
}

void exchange_source_start(struct exchange *exchange);
bool exchange_source_has_greeted(struct exchange *exchange);
enum step exchange_source_step(struct exchange *exchange);

void exchange_agent_start(struct exchange *exchange);
void exchange_agent_greet(struct exchange *exchange); /* hears of partners, until all ranks have met */
enum step exchange_agent_step(struct exchange *exchange);

/* ---- exchange_desk.c: messages of partners. False: nothing has moved. ---- */
bool exchange_desk_step(struct exchange *exchange, struct exchange_desk *desk);
/* Sends the answer that the desk holds. */
void exchange_desk_reply(struct exchange *exchange, struct exchange_desk *desk);

/* ---- exchange_agent.c ---- */
struct exchange_window *exchange_window_of(struct exchange_agent *agent, int64_t round); /* NULL: not in memory */

/* ---- exchange_window.c. Writing and answering do system calls, perhaps in a thread: they touch nothing but the
 * window, the answer, read_slept, and io_error ---- */
void exchange_window_open(struct exchange *exchange, struct exchange_window *window, int64_t round);
void exchange_window_fill(struct exchange_window *window, const char *message);
void exchange_window_write(struct exchange *exchange, struct exchange_window *window);
void exchange_window_answer(struct exchange *exchange, struct exchange_window *window, struct exchange_desk *desk);
/* Is all that a message asks for in memory? Then it can be answered by a copy. */
bool exchange_window_has(const struct exchange_window *window, const char *message);
void exchange_window_copy(const struct exchange_window *window, struct exchange_desk *desk);

#endif
