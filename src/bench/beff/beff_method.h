/* The ways in which a pattern's messages are sent: a table. To add a method: its loop in beff_method.c and a row. */
#ifndef PIOLET_BENCH_BEFF_METHOD_H
#define PIOLET_BENCH_BEFF_METHOD_H

#include "bench/beff/beff_pattern.h"

#include <mpi.h>

/* One pattern with one message length, as this rank sees it. */
struct beff_exchange {
    MPI_Comm comm;
    int rank, nprocs;
    struct beff_links links;
    int length;
    char *send, *receive;                                    /* link k: at send + send_at[k], receive + receive_at[k] */
    int send_at[BEFF_LINKS_MAX], receive_at[BEFF_LINKS_MAX]; /* two links to one process stand behind each other */
    int *counts;                                             /* for MPI_Alltoallv: 4 arrays of nprocs */
    int code;                                                /* the first failure; the loops go on all the same */
};

struct beff_method {
    const char *name;  /* in block files */
    const char *label; /* in tables */
    /* Before a loop: all ranks that take part begin together. */
    void (*meet_coll)(struct beff_exchange *exchange);
    /* `rounds` times all messages of this rank; nothing else may be in it. */
    void (*loop_coll)(struct beff_exchange *exchange, int64_t rounds);
};

enum { BEFF_SENDRECV, BEFF_ALLTOALLV, BEFF_NONBLOCKING, BEFF_TURNS, BEFF_METHODS };
extern const struct beff_method BEFF_METHOD_TABLE[BEFF_METHODS];

/* Ping-pong has a method of its own, all other patterns have the three others. */
bool beff_method_serves(int method, enum beff_kind kind);

/* Places the messages in the buffers and fills `counts`; links and length are set. */
void beff_exchange_place(struct beff_exchange *exchange);
/* Bytes of each of both buffers for messages of up to `length`. */
int64_t beff_exchange_bytes(int links, int64_t length);

#endif
