/* What the ranks of a node say to the agents among them: boxes in memory that all of them see.
 *
 * Each rank has a few boxes of its own. It fills one with pieces of the file that belong to one agent (and their data,
 * where they are to be written), posts it, rings the agent's bell, and waits for the answer in the same box. An agent
 * waits for nobody: whoever dies takes nothing with it but its own boxes. For an agent on another node, what is in the
 * box goes there by messages (ship_port.c). */
#ifndef PIOLET_ENGINE_SHIP_MAIL_H
#define PIOLET_ENGINE_SHIP_MAIL_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SHIP_BOXES = 4, /* of each rank: one is filled while the agents are at the others */
    SHIP_PIECES = 1024,
    SHIP_BOX_BYTES = 512 * 1024,
    SHIP_TEXT_MAX = 480,
};

enum ship_command {
    SHIP_READ,
    SHIP_WRITE,
    SHIP_FLUSH,
    SHIP_DROP,  /* SHIP_FLUSH, and forget all */
    SHIP_END,   /* nothing but what every answer by message tells: `end` */
    SHIP_RESIZE /* the size of the file was set: nothing is held behind its end */
};
/* The state of a box; SHIP_BOX_POSTED + r: to the agent on rank r. One word says both, since an agent may look at a box
 * while its rank fills it for another one. */
enum { SHIP_BOX_IDLE, SHIP_BOX_ANSWERED, SHIP_BOX_POSTED };

struct ship_piece {
    int64_t offset, bytes;
    int64_t done; /* the answer */
};

struct ship_box {
    _Atomic uint32_t state; /* futex of the rank that waits for the answer */
    int32_t agent;          /* a rank of the file */
    int32_t status;         /* the answer: a pl_status, and its text */
    char text[SHIP_TEXT_MAX];
    int64_t end; /* the answer of an agent on another node: behind the last byte that caches there have held */

    /* What a message to an agent on another node holds: from here to the last piece. */
    int32_t index; /* of the box, among those of its rank */
    int32_t command;
    int32_t pieces;
    struct ship_piece piece[SHIP_PIECES];
    _Alignas(4096) char data[SHIP_BOX_BYTES]; /* of the pieces, one behind the other */
};

struct ship_bell {
    _Alignas(64) _Atomic uint32_t count; /* futex of the agent */
    _Atomic int32_t pid;                 /* of its process; 0: there is no agent on this rank */
    _Atomic int32_t rank;                /* of the file */
};

struct ship_segment {
    char first[64];             /* node.c uses it while the ranks find each other */
    _Atomic int64_t cached_end; /* behind the last byte that was written into a cache of an agent of this node */
    struct ship_bell bells[];   /* of each rank of the node; the boxes follow */
};

/* `ranks`: of the node; `place`: a rank's number among them. */
size_t ship_segment_bytes(int ranks);
struct ship_box *ship_segment_box(struct ship_segment *segment, int ranks, int place, int index);
/* The bell of a rank of the file; NULL: it is on another node. */
struct ship_bell *ship_segment_bell(struct ship_segment *segment, int ranks, int rank);

void ship_box_post(struct ship_bell *bell, struct ship_box *box);
void ship_box_answer(struct ship_box *box);
/* Keeps the first failure. */
void ship_box_fail(struct ship_box *box, const struct pl_error *error);
/* Of all pieces. */
int64_t ship_box_bytes(const struct ship_box *box);

/* Is the agent that has this bell still alive? */
bool ship_bell_is_heard(const struct ship_bell *bell);

/* ---- between nodes ---- */
/* What goes between a rank and an agent on another node, over a communicator that the file has for nothing else: a
 * request (from `index` to the last piece of a box), its data where they are written, the answer, and the data where
 * they were read. Each is as large as a box at most. A rank uses a box again when it has the answer, so that the number
 * of the box tells its messages apart. */

enum ship_tag {
    SHIP_TAG_REQUEST, /* the same for all boxes: agents look for it from anybody */
    SHIP_TAG_WRITTEN, /* each of these + the number of the box */
    SHIP_TAG_ANSWER = SHIP_TAG_WRITTEN + SHIP_BOXES,
    SHIP_TAG_READ = SHIP_TAG_ANSWER + SHIP_BOXES
};

struct ship_answer {
    int64_t end;
    int32_t status;
    int32_t pieces; /* that follow; 0: all are done as far as they go */
    char text[SHIP_TEXT_MAX];
    int64_t done[SHIP_PIECES];
};

static inline char *ship_request_begin(struct ship_box *box)
{
    return (char *)&box->index;
}

static inline size_t ship_request_bytes(int pieces)
{
    return offsetof(struct ship_box, piece) - offsetof(struct ship_box, index) +
           (size_t)pieces * sizeof(struct ship_piece);
}

static inline size_t ship_answer_bytes(int pieces)
{
    return offsetof(struct ship_answer, done) + (size_t)pieces * sizeof(int64_t);
}

#endif
