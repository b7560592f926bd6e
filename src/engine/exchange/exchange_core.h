/* Inside of the exchange: what source and aggregator share. */
#ifndef PIOLET_ENGINE_EXCHANGE_CORE_H
#define PIOLET_ENGINE_EXCHANGE_CORE_H

#include "engine/access/access_memory.h"
#include "engine/exchange/exchange.h"
#include "engine/view/view.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- index ---- */
/* Finds the place of something in a list by its number. Memory grows with what is in it, not with how large numbers
 * can be: an exchange keeps only those ranks and aggregators that have to do with each other. */

struct exchange_entry {
    int key, place;
};

struct exchange_index {
    struct exchange_entry *entries; /* a power of two of them, at most half of them in use */
    int capacity, count;
};

/* Takes the memory for a few. False: there is none. */
bool exchange_index_init(struct exchange_index *index);
int exchange_index_find(const struct exchange_index *index, int key); /* its place; -1: it is not in it */
/* A key that is not in it yet, >= 0. False: no memory; nothing has changed. */
bool exchange_index_add(struct exchange_index *index, int key, int place);
void exchange_index_clear(struct exchange_index *index);

/* A list of *capacity items, made longer; NULL: no memory, and the old one stays. */
void *exchange_list_grow(void *list, int *capacity, size_t item_bytes);

/* ---- messages ---- */
/* What ranks and aggregators send each other: a head, the pieces of the file as strided runs, and their data. Every
 * message explains itself, is bounded in size, and says in which window its sender has something next: that is how an
 * aggregator knows when a window is complete. Pure but for the copying.
 *
 * Runs are written as numbers of variable length (7 bits in a byte, the low ones first): the gap to the run before, the
 * length of a piece twice (plus 1 where there are several), and for several their count and stride. A single piece of
 * 128 bytes takes 4 bytes, whatever its neighbours look like. */

static const int64_t EXCHANGE_NO_ROUND = INT64_MAX; /* nothing more from this rank */

struct exchange_head {
    int64_t sequence;   /* of the collective call on this file */
    int64_t generation; /* of the views in force */
    int64_t next;       /* the sender's next window; the same again where one message did not hold all */
    int64_t offset;     /* in the file, of the first piece */
    int64_t runs_bytes; /* of the runs behind the head; then come the data */
    int64_t bytes;      /* of data that the runs describe */
};

/* count pieces of `length` bytes, each `stride` behind the one before. */
struct exchange_run {
    int64_t offset, length, stride, count;
};

enum { EXCHANGE_MESSAGE_BYTES_MIN = 4096 };

/* What a message is made of. */
struct exchange_content {
    const struct view *view;
    struct typemap_cursor *file;  /* of the view's filetype */
    struct access_memory *memory; /* the data are copied from it; NULL in a request for reading: only described */
    int64_t pieces_max;           /* that a message may hold */
};

/* Builds a message in `buffer` of `capacity` bytes: pieces from *position up to `limit` (positions of data), as many as
 * fit. Returns the message's size; *position moves on. Where and to what call it belongs is left to the caller. */
int64_t exchange_message_build(char *buffer, int64_t capacity, const struct exchange_content *content,
                               int64_t *position, int64_t limit);

static inline struct exchange_head *exchange_message_head(char *buffer)
{
    return (struct exchange_head *)buffer;
}

/* Is this, of `size` bytes, a whole message with pieces between two bytes of the file only? Reads nothing behind it. */
bool exchange_message_is_sound(const char *buffer, int64_t size, bool with_data, int64_t begin, int64_t end);

/* Reads the runs of a message that is sound. */
struct exchange_reader {
    const unsigned char *at, *end;
    int64_t offset; /* where the next gap begins */
    const char *data;
};
void exchange_reader_init(struct exchange_reader *reader, const char *buffer);
bool exchange_reader_next(struct exchange_reader *reader, struct exchange_run *ret_run); /* false: no more */

/* ---- partners of an aggregator ---- */
/* The ranks that have something for an aggregator: these only. Each has told in which window it has something next, so
 * that nobody has to be asked; messages come from whoever is first. One that cannot be dealt with yet, since its window
 * is not in memory or an earlier one of the same rank is in work, waits in its rank's queue: its data stay with MPI. */

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

/* ---- targets of a rank ---- */
/* The aggregators that a rank has something for: these only, and where what each of them gets begins. */

struct exchange_target {
    int aggregator;
    bool underway;       /* a message is on its way, and none of several */
    int64_t position;    /* where what remains for it begins, as position of the view's data */
    int64_t round;       /* the window that it lies in */
    int64_t hello_round; /* what it is greeted with */
    MPI_Request hello;
};

struct exchange_targets {
    struct exchange_target *list;
    int count, capacity;
    struct exchange_index index; /* of aggregators that occur again and again */
};

/* Takes the memory for a few, so that what follows seldom has to. False: there is none. */
bool exchange_targets_init(struct exchange_targets *targets);
/* Those of the data between two positions of a monotone view, in the order of the file. Touches every block of data
 * once at most. False: no memory; then there are none. */
bool exchange_targets_find(struct exchange_targets *targets, const struct move_domain *domain, const struct view *view,
                           int64_t position, int64_t limit);
void exchange_targets_clear(struct exchange_targets *targets);

/* ---- the exchange itself ---- */

/* Messages of a rank that are under way at once: large ones, one to each aggregator; or those of single pieces, to whom
 * they belong, so that their number does not cost as many turns of the aggregator. */
enum { EXCHANGE_SEND_SLOTS = 4, EXCHANGE_SEND_SLOTS_PIECES = 32 };
/* Of an aggregator: windows in memory, and messages that it deals with at once. */
enum { EXCHANGE_WINDOWS = 2, EXCHANGE_RECEIVE_SLOTS = 3 };
enum exchange_tag { TAG_HELLO, TAG_DATA, TAG_REPLY, TAG_COUNT };

/* An answer to a request for data: this, and the data behind it. */
struct exchange_answer {
    int64_t bytes; /* of data that are there; fewer than asked for at the end of the file */
    int64_t failed;
};

/* ---- source: a rank's own request on its way to the aggregators ---- */

struct exchange_send_slot {
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
    struct exchange_send_slot slot[EXCHANGE_SEND_SLOTS_PIECES];
    struct exchange_targets targets;
    int64_t limit; /* where the request ends */
    bool greeted;  /* all targets have heard of this rank */
    bool over;     /* all has been sent, and answered */
    int turn;      /* the target to serve next, if it can take something: ranks begin with different ones */
    int64_t end;   /* position where the data end: that of the request, or of the file */
};

/* ---- aggregator: a part of the file ---- */

/* A window in memory. There are several: while one is stored, the next is filled. */
struct exchange_window {
    int64_t round; /* -1: it is free */
    int64_t begin, end;
    int waiting; /* partners that have something for it next */
    char *bytes;
    uint64_t *coverage;
    int64_t file_end; /* where a read met the end of the file; INT64_MAX: not yet */
};

/* Where a message is received, and answered. */
enum exchange_receive_state {
    RECEIVE_FREE,
    RECEIVE_RECEIVING,
    RECEIVE_ASKED, /* what is asked for is still to be read */
    RECEIVE_REPLYING,
};
struct exchange_receive_slot {
    enum exchange_receive_state state;
    char *message, *reply;
    int received; /* bytes of the message */
    int64_t reply_bytes;
    int rank, partner;              /* whose it is; in the list of partners, -1: it did not fit into that */
    struct exchange_window *window; /* that it speaks of; NULL: it will be thrown away */
    MPI_Request request;
};

struct exchange_aggregator {
    int number; /* -1: this rank is none */
    struct exchange_partners partners;
    struct exchange_window window[EXCHANGE_WINDOWS];
    struct exchange_receive_slot slot[EXCHANGE_RECEIVE_SLOTS];
    /* The job under way: for one window at a time. */
    struct exchange_window *working;
    struct exchange_receive_slot *asked; /* reading: who waits for it */
    bool refuses;                        /* something has failed before it began */
};

/* All ranks meet when their aggregators have heard of them. */
enum exchange_meeting { EX_GREETING, EX_MEETING, EX_MET };

/* The same on every rank. */
struct exchange_setup {
    int aggregators;
    int64_t window_bytes; /* what an aggregator accesses at once */
    int64_t block_bytes;  /* what goes to aggregators in turn; with TARGET_BLOCK, their parts are aligned to it */
    bool each_piece;      /* is a message of its own; else all pieces for a window are one, as far as they fit */
};

struct exchange {
    struct move *move;
    struct exchange_setup setup;
    struct move_domain domain;
    int64_t message_bytes;
    MPI_Request meeting; /* of all ranks that have greeted their aggregators */
    enum exchange_meeting met;
    struct exchange_source source;
    struct exchange_aggregator aggregator;
};

static inline int exchange_tag(const struct exchange *exchange, enum exchange_tag tag)
{
    return (int)(exchange->move->file->sequence % 4096) * TAG_COUNT + (int)tag;
}

static inline bool exchange_writes(const struct exchange *exchange)
{
    return exchange->move->request.write;
}

static inline MPI_Comm exchange_comm(const struct exchange *exchange)
{
    return exchange->move->file->comm;
}

void exchange_source_start(struct exchange *exchange);
bool exchange_source_has_greeted(struct exchange *exchange);
enum step exchange_source_step(struct exchange *exchange);

void exchange_aggregator_start(struct exchange *exchange);
void exchange_aggregator_greet(struct exchange *exchange); /* hears of partners, until all ranks have met */
enum step exchange_aggregator_step(struct exchange *exchange);

/* ---- exchange_receive.c: messages of partners. False: nothing has moved. ---- */
bool exchange_receive_step(struct exchange *exchange, struct exchange_receive_slot *slot);
/* Sends the answer that the slot holds. */
void exchange_receive_reply(struct exchange *exchange, struct exchange_receive_slot *slot);

/* ---- exchange_aggregator.c ---- */
struct exchange_window *exchange_window_of(struct exchange_aggregator *aggregator,
                                           int64_t round); /* NULL: not in memory */

/* ---- exchange_aggregator.c: windows. Writing and answering are jobs: they touch nothing but the window and the answer
 * ----
 */
void exchange_window_open(struct exchange *exchange, struct exchange_window *window, int64_t round);
void exchange_window_fill(struct exchange_window *window, const char *message);
void exchange_window_write(struct exchange *exchange, struct exchange_window *window);
void exchange_window_answer(struct exchange *exchange, struct exchange_window *window,
                            struct exchange_receive_slot *slot);
/* Is all that a message asks for in memory? Then it can be answered by a copy. */
bool exchange_window_has(const struct exchange_window *window, const char *message);
void exchange_window_copy(const struct exchange_window *window, struct exchange_receive_slot *slot);

#endif
