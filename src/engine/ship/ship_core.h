/* What the files of data shipping share. */
#ifndef PIOLET_ENGINE_SHIP_CORE_H
#define PIOLET_ENGINE_SHIP_CORE_H

#include "engine/file/file.h"
#include "engine/ship/ship.h"
#include "engine/ship/ship_agent.h"
#include "engine/ship/ship_mail.h"
#include "mpi/node.h"
#include "mpi/service.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- parts of the file ---- */
/* Which agent a byte of the file belongs to: parts of equal size, counted from the file's first byte, go round a list
 * of ranks. Pure. */

struct ship_map {
    int64_t part_bytes; /* whole blocks */
    int count;
    int *ranks; /* owned by whoever made the map; a rank may come more than once */
};

static inline int ship_map_rank(const struct ship_map *map, int64_t byte)
{
    return map->ranks[byte / map->part_bytes % map->count];
}

/* The first byte behind the part that `byte` lies in. */
static inline int64_t ship_map_end(const struct ship_map *map, int64_t byte)
{
    const int64_t begin = byte - byte % map->part_bytes;
    return begin > INT64_MAX - map->part_bytes ? INT64_MAX : begin + map->part_bytes;
}

/* Is this rank an agent at all? */
bool ship_map_has(const struct ship_map *map, int rank);

/* What is handed out as one: at least 256 KiB, as a block of the file system that the document is about. */
int64_t ship_map_block(int64_t file_system_block);

/* The part that a wish (0: none) leads to, in whole blocks; without one, 16 blocks. */
int64_t ship_map_part(int64_t wish, int64_t block);

/* Spreads `count` agents over `ranks` ranks. */
void ship_map_spread(int *ret_ranks, int count, int ranks);

/* ---- boxes that go to other nodes ---- */
/* A box on its way to an agent on another node, and the answer to it. Needs MPI_THREAD_MULTIPLE: any thread of the rank
 * may ship, and the agents' threads answer. */

enum { SHIP_REMOTE_REQUESTS = 4 };

/* One for each box of a rank; {0} is one without anything under way. */
struct ship_remote {
    bool posted;
    int code, count; /* MPI's; of requests */
    MPI_Request requests[SHIP_REMOTE_REQUESTS];
    struct ship_answer answer;
};

/* Never waits. Its own receives are there before the request leaves, so that an agent gets rid of every answer, in
 * whatever order this rank waits for them: two agents never wait for each other by way of two ranks. */
void ship_remote_post(struct ship_remote *remote, MPI_Comm comm, struct ship_box *box);

/* Waits for the answer, and puts it into the box. `progress`: the communicator to make progress with, as in wait.h:
 * where it is MPI_COMM_NULL, only the messages go on. PL_E_PEER: MPI has failed; what the agent says is in the box. */
pl_status ship_remote_wait(struct ship_remote *remote, struct ship_box *box, MPI_Comm progress, struct pl_error *error);

/* ---- boxes that come from other nodes ---- */
/* The agent's end of the messages from other nodes: a few boxes of its own, into which requests are received and from
 * which they are answered. Used by the agent's thread alone; nothing here waits. */

enum { SHIP_PORT_BOXES = 8 };

struct ship_port;

/* `end`: of the caches of this node; it is part of every answer. */
pl_status ship_port_new(MPI_Comm comm, const _Atomic int64_t *end, struct ship_port **ret_port, struct pl_error *error);
void ship_port_free(struct ship_port *port); /* accepts NULL; the port is quiet */

/* Keeps messages going. True: some have moved. `last`: no rank has anything to ask for any more, so that a request that
 * is not complete yet, since its rank has failed, never will be. */
bool ship_port_poll(struct ship_port *port, bool last);
/* The requests that are complete, at most SHIP_PORT_BOXES; each is to be answered, after which its box is the port's.
 */
int ship_port_take(struct ship_port *port, struct ship_box **ret_boxes);
void ship_port_answer(struct ship_port *port, struct ship_box *box); /* the next poll sends it */
bool ship_port_is_quiet(const struct ship_port *port);               /* nothing is under way */

/* ---- shipping ---- */

/* How it is done, the same on all ranks. */
struct ship_setting {
    bool on, partitioned;
    struct ship_map map;
    int together; /* of guided prefetching */
};

/* Whether agents keep their blocks. */
enum ship_parts {
    SHIP_PARTS_AS_OPENED, /* as MPI_MODE_UNIQUE_OPEN says */
    SHIP_PARTS_STARTED,   /* by piolet_partition_start(), whatever it says */
    SHIP_PARTS_STOPPED,
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
    enum ship_parts parts;
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
int ship_boxes_take(struct ship *ship, int wanted, MPI_Comm progress, struct ship_box **ret_boxes);
void ship_boxes_give(struct ship *ship, struct ship_box **boxes, int count);

/* To the agent that the box names, by memory or by messages. */
void ship_post(struct ship *ship, struct ship_box *box);
/* Waits for the answer. PL_E_PEER: the agent's process has died, or MPI has failed. */
pl_status ship_box_wait(struct ship *ship, struct ship_box *box, MPI_Comm progress, struct pl_error *error);

/* Behind the last byte that any agent of any node holds. `box`: a free one; its pieces and data stay. */
pl_status ship_held_end(struct ship *ship, struct ship_box *box, MPI_Comm progress, int64_t *ret_end,
                        struct pl_error *error);

/* The access itself, while shipping is on. */
pl_status ship_send(struct ship *ship, const struct access_request *request, MPI_Comm progress, int64_t *ret_done,
                    struct pl_error *error);

#endif
