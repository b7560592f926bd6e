/* Inside of the exchange: what source and agent share. */
#ifndef PIOLET_MPIIO_EXCHANGE_CORE_H
#define PIOLET_MPIIO_EXCHANGE_CORE_H

#include "mpiio/exchange/exchange.h"
#include "mpiio/exchange/exchange_finish.h"
#include "mpiio/exchange/exchange_message.h"
#include "mpiio/pool/pool.h"

/* Messages of a rank that are under way at once: large ones, one to each agent; or those of single pieces, to whom they
 * belong, so that their number does not cost as many turns of the agent. */
enum { EXCHANGE_SLOTS = 4, EXCHANGE_SLOTS_PIECES = 32, EXCHANGE_REPLIES = 2 };
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
    int agent;
    int64_t position, bytes; /* what is asked for, in the request's data */
};

struct exchange_source {
    struct access_memory memory;
    struct typemap_cursor file;
    int slots;
    struct exchange_slot slot[EXCHANGE_SLOTS_PIECES];
    int64_t *position; /* for each agent: where what remains for it begins, as position of the view's data */
    int64_t *round;    /* for each agent: the window that it lies in */
    int64_t limit;     /* where the request ends */
    bool *underway;    /* for each agent: a message is on its way, and none of several */
    int64_t *hello_round;
    MPI_Request *hello;
    int turn;    /* the agent to serve next, if it can take something: ranks begin with different ones */
    int64_t end; /* position where the data end: that of the request, or of the file */
};

/* ---- agent: a part of the file ---- */

struct exchange_agent {
    int number;    /* -1: this rank is none */
    int expected;  /* ranks that will send something */
    int known;     /* of these, who said hello */
    int *rank;     /* who they are */
    int64_t *next; /* the window in which each has something next */
    int64_t round; /* the window in memory; -1: none yet */
    int64_t begin, end;
    char *window;
    uint64_t *cover;
    char *message;
    MPI_Request receive;
    int receiving; /* index of the sender, -1: none */
    int received;  /* bytes of its message */
    char *reply[EXCHANGE_REPLIES];
    MPI_Request reply_send[EXCHANGE_REPLIES];
    int replying; /* the reply that is being made, -1: none */
    int64_t reply_bytes;
    bool written;          /* the window in memory is in the file */
    struct pool_work work; /* a thread has the window */
    bool working;
    struct pl_error io_error; /* of the window's system calls */
    int64_t file_end;         /* where a read met the end of the file; INT64_MAX: not yet */
};

enum exchange_state { EX_AGREE, EX_COUNT, EX_MOVE, EX_FINISH, EX_DONE };

struct exchange {
    struct exchange_setup setup;
    const struct access_request *request;
    enum exchange_state state;
    struct agree agree;
    struct exchange_domain domain;
    int64_t message_bytes;
    int32_t *touch, *touched; /* for each agent: do I have something for it; how many ranks do */
    MPI_Request count_request;
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

/* Are all of these sends complete? */
bool exchange_all_sent(MPI_Request *requests, int count);

void exchange_source_start(struct exchange *exchange);
enum step exchange_source_step(struct exchange *exchange);
void exchange_agent_start(struct exchange *exchange);
enum step exchange_agent_step(struct exchange *exchange);

/* The window. Writing and answering do system calls, perhaps in a thread: they touch nothing but the agent. */
void exchange_window_open(struct exchange *exchange, int64_t round);
void exchange_window_fill(struct exchange *exchange, const char *message);
void exchange_window_write(struct exchange *exchange);
void exchange_window_answer(struct exchange *exchange);

#endif
