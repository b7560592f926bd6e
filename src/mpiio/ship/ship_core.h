/* What the files of data shipping share. */
#ifndef PIOLET_MPIIO_SHIP_CORE_H
#define PIOLET_MPIIO_SHIP_CORE_H

#include "mpi/node.h"
#include "mpi/service.h"
#include "mpiio/file/file.h"
#include "mpiio/ship/ship.h"
#include "mpiio/ship/ship_agent.h"
#include "mpiio/ship/ship_map.h"
#include "mpiio/ship/ship_remote.h"

/* How it is done, the same on all ranks. */
struct ship_setting {
    bool on, partitioned;
    struct ship_map map;
    int together; /* of guided prefetching */
};

struct ship {
    struct node node; /* a rank that shares memory with nobody is one of its own */
    struct ship_segment *segment;
    MPI_Comm comm;       /* for messages between nodes, and nothing else; MPI_COMM_NULL: none are needed */
    const char *missing; /* why shipping cannot be had at all, the same on all ranks; NULL: it can */
    struct service service;
    struct ship_setting setting;
    struct ship_agent *agent; /* of this rank; NULL: it has none */
    struct ship_counts past;  /* of agents that it had before */
    char reason[128];         /* why it is off, or not partitioned */

    /* piolet_partition_… */
    bool stopped;           /* although the file was opened with MPI_MODE_UNIQUE_OPEN */
    bool started;           /* although it was not */
    struct ship_map wanted; /* count 0: none */
    char strategy[32];      /* the hint before piolet_partition_start() changed it; empty: it did not */

    pthread_mutex_t lock; /* of the boxes of this rank */
    bool taken[SHIP_BOXES];
    atomic_int free; /* of them */
    _Atomic int64_t shipped;
    struct ship_remote remote[SHIP_BOXES]; /* of each box */
};

/* No failure: where memory is missing on any rank, the file has no shipping on all of them. */
void ship_open_coll(struct file *file);

/* The boxes of a rank: how many of `wanted` it got (at least one: it waits for it). */
int ship_boxes_take(struct ship *ship, int wanted, MPI_Comm poke, struct ship_box **ret_boxes);
void ship_boxes_give(struct ship *ship, struct ship_box **boxes, int count);

/* To the agent that the box names, by memory or by messages. */
void ship_post(struct ship *ship, struct ship_box *box);
/* Waits for the answer. PL_E_PEER: the agent's process has died, or MPI has failed. */
pl_status ship_box_wait(struct ship *ship, struct ship_box *box, MPI_Comm poke, struct pl_error *error);

/* Behind the last byte that any agent of any node holds. `box`: a free one; its pieces and data stay. */
pl_status ship_held_end(struct ship *ship, struct ship_box *box, MPI_Comm poke, int64_t *ret_end,
                        struct pl_error *error);

/* The access itself, while shipping is on. */
pl_status ship_send(struct ship *ship, const struct access_request *request, MPI_Comm poke, int64_t *ret_done,
                    struct pl_error *error);

#endif
