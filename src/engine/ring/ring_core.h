/* Inside of the ring: what lies in shared memory, and one rank's end of it. */
#ifndef PIOLET_ENGINE_RING_CORE_H
#define PIOLET_ENGINE_RING_CORE_H

#include "engine/access/access_memory.h"
#include "engine/move/move.h"
#include "engine/ring/ring.h"
#include "engine/storage/storage_map.h"
#include "engine/tune/tune.h"
#include "mpi/wait.h"

#include <stdatomic.h>
#include <stdint.h>

/* ---- fingerprint of the pieces of a block ---- */
/* Is a stretch of bytes covered exactly once? Answered by one number, whatever the order and the number of pieces.
 *
 * Take any function f of places, and sum f(begin) - f(end) over all pieces. Where the pieces tile [a, b), each end but
 * the last is another's begin, and the sum is f(a) - f(b). Now let f be a hash. If the sum is f(a) - f(b), then (but
 * for one case in 2^64) the begins together with b are the same multiset as the ends together with a. The number of
 * pieces above a place x is the number of begins up to x less the number of ends up to x: it is that of the one piece
 * [a, b), 1 inside and 0 outside. So nothing is missing and nothing overlaps. */

static inline uint64_t ring_fingerprint_at(int64_t place)
{
    /* A full mixer: every bit of the place moves every bit of the hash, so that regular places do not cancel. */
    uint64_t x = (uint64_t)place + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t ring_fingerprint_piece(int64_t begin, int64_t bytes)
{
    return ring_fingerprint_at(begin) - ring_fingerprint_at(begin + bytes);
}

/* ---- what the ranks of a node share ---- */

enum { RING_SLOTS_MAX = 16, RING_LINE = 64, RING_PAGE = 4096, RING_CORES = 1024 };
#define RING_END INT64_MAX /* a cursor behind everything */

/* ---- in shared memory: of one call, and overwritten only by who opens the next: all ranks have entered that one,
 * and so left this ---- */

/* A place for a block. Its number and state are one word, so that one compare-and-swap hands it on. */
enum ring_state {
    RING_OPEN,  /* writing: being filled; reading: still empty */
    RING_BUSY,  /* somebody writes it to the file, or reads it from there */
    RING_READY, /* reading: its data are there */
};
struct ring_slot {
    _Alignas(RING_LINE) _Atomic int64_t tag; /* block number × 4 + state */
    _Atomic uint64_t fingerprint;            /* sum over the pieces: see above */
    int64_t valid;                           /* reading: how many of the wanted bytes the file has */
    _Atomic int64_t settled;                 /* the block for which other nodes have sent, or got, all that is theirs */
};

/* What a rank tells the others. */
struct ring_rank {
    /* The block in which it has something next, for calls of even and odd number: it may enter the next call while
     * others still look whether all are done with this one. */
    _Alignas(RING_LINE) _Atomic int64_t cursor[2];
    _Atomic int64_t marked[2]; /* reading from other nodes: the block in which it has not yet said what it wants */
    int64_t low, high, bytes;  /* of the file: where its data lie, and how many they are */
    atomic_int core;           /* where it was seen last */
    int64_t left_ns;           /* when it was done with the call before */
    uint64_t cores[RING_CORES / 64]; /* that it may run on, as far as they are numbered so low */
    bool failed, late;               /* it cannot take part; it has an older failure to tell */
    enum storage_ground ground;      /* how quick it would be by itself */
};

/* What holds for a call: made by the last rank that enters it. */
struct ring_plan {
    int64_t low, high;   /* bytes of the file between which all data lie */
    int64_t first, last; /* blocks; last < first: there are none */
    int64_t block_bytes;
    int slots;
    int nodes, node; /* blocks belong to the nodes in turn; this one's number */
    int aggregators; /* ranks of each node that access the file: the first ones */
    bool crowded;    /* there are fewer cores than ranks */
    bool tuned;      /* how long it takes is of interest */
    bool failed, late;
    bool map;    /* gaps or overlap: each block has a map of what is filled */
    bool direct; /* the ranks access the file each for itself */
};

/* What is known of the ways to access this file (tune.h). */
struct ring_tune {
    int64_t began_ns, bytes; /* of the last call; 0: it says nothing */
    enum tune_way way;
    bool write;
    int class;
    struct tune_record record[2][TUNE_CLASSES]; /* reading and writing, by size */
};

struct ring_shared {
    _Alignas(RING_LINE) _Atomic int64_t entered[2]; /* ranks, for calls of even and odd number */
    _Alignas(RING_LINE) _Atomic int64_t opened;     /* the call that `plan` is for */
    struct ring_plan plan;
    struct wait_bell bell;                    /* rung with every change that others may wait for */
    _Alignas(RING_LINE) atomic_bool writing;  /* a block: one file takes one writer at a time without losing speed */
    _Alignas(RING_LINE) atomic_bool failed;   /* some access has */
    _Alignas(RING_LINE) atomic_bool unproved; /* a block was not covered once and once only, and has not been written */
    _Alignas(RING_LINE) _Atomic int64_t closed; /* several nodes: the call that all of them are done with, and */
    int64_t verdict;                            /* what came of it */
    struct ring_tune tune;
    int64_t touched;    /* bytes of the blocks that calls have used, since they were last given back */
    atomic_int leaving; /* ranks that are done with the call: where memory is given back after each */
    struct ring_slot slot[RING_SLOTS_MAX];
    struct ring_rank rank[];
};

/* Behind the ranks: the blocks in which each node has something; last < first: in none. */
struct ring_span {
    int64_t first, last;
};

/* What came of a call, on a node or on all. */
enum { RING_FAILED = 1, RING_UNPROVED = 2 };

/* ---- of one rank ---- */

enum ring_stage { STAGE_NONE, STAGE_ENTER, STAGE_MEET, STAGE_MOVE, STAGE_CLOSE };

struct ring {
    struct ring_shared *shared;
    char *blocks;        /* in shared memory, of `capacity` bytes, like */
    uint64_t *coverages; /* the maps of what is filled */
    struct ring_span *spans;
    struct ring_port *port; /* to the aggregators of other nodes; NULL: this rank is no aggregator, or there are none */
    int64_t capacity;
    int rank, ranks; /* on the node */
    int nodes;
    bool frugal;   /* memory is given back after every call */
    int64_t calls; /* that this rank has entered */

    /* The call under way. */
    struct move *move;
    const struct access_request *request; /* the move's */
    enum ring_stage stage;
    bool map;              /* this is the second try, with maps */
    struct ring_plan plan; /* a copy */
    struct typemap_cursor file;
    struct typemap_cursor ahead; /* for saying what is wanted from other nodes */
    struct access_memory memory;
    int64_t position, end;     /* of the view's data: what comes next, and where it ends */
    int64_t mark_position;     /* what is wanted up to here has been said */
    int64_t missing;           /* position of the first byte that the file does not have */
    int64_t done;              /* of a direct access */
    struct ring_slot *working; /* the job's */
    bool meeting;              /* a leader among the leaders */
    uint32_t heard;            /* of the bell, before the last step */
    unsigned idle, stalled;    /* steps without progress: at all, and since the last one with some */
};

static inline int64_t ring_tag(int64_t block, enum ring_state state)
{
    return block * 4 + state;
}

static inline int64_t ring_tag_block(int64_t tag)
{
    return tag >> 2;
}

static inline struct ring_slot *ring_slot_of(const struct ring *ring, int64_t block)
{
    return &ring->shared->slot[(block - ring->plan.first) % ring->plan.slots];
}

static inline _Atomic int64_t *ring_cursor(const struct ring *ring, int rank)
{
    return &ring->shared->rank[rank].cursor[ring->calls % 2];
}

static inline int64_t ring_slot_index(const struct ring *ring, const struct ring_slot *slot)
{
    return slot - ring->shared->slot;
}

static inline char *ring_memory(const struct ring *ring, const struct ring_slot *slot)
{
    return ring->blocks + ring_slot_index(ring, slot) * ring->plan.block_bytes;
}

static inline uint64_t *ring_coverage(const struct ring *ring, const struct ring_slot *slot)
{
    return ring->coverages + ring_slot_index(ring, slot) * (ring->plan.block_bytes / 64);
}

/* Of a block: the bytes of the file that anybody may have. */
static inline int64_t ring_block_begin(const struct ring *ring, int64_t block)
{
    const int64_t begin = block * ring->plan.block_bytes;
    return begin > ring->plan.low ? begin : ring->plan.low;
}

static inline int64_t ring_block_end(const struct ring *ring, int64_t block)
{
    const int64_t end = ring->plan.high -
                        block * ring->plan.block_bytes; /* no overflow at the end of the largest file */
    return block * ring->plan.block_bytes + (end < ring->plan.block_bytes ? end : ring->plan.block_bytes);
}

/* What this node has to do with a block. */
enum ring_role {
    ROLE_MINE,  /* it accesses the file */
    ROLE_OTHER, /* another does, and this one has (or wants) data of it */
    ROLE_NONE,
};
static inline enum ring_role ring_role(const struct ring *ring, int64_t block)
{
    if (ring->plan.nodes == 1 || block % ring->plan.nodes == ring->plan.node)
        return ROLE_MINE;
    const struct ring_span *span = &ring->spans[ring->plan.node];
    return block >= span->first && block <= span->last ? ROLE_OTHER : ROLE_NONE;
}

/* ---- ring_meet.c: the meeting ---- */
int64_t ring_block_bytes(const struct ring *ring, int *ret_slots);
void ring_enter(struct ring *ring);
bool ring_opened(struct ring *ring); /* the plan is there, and copied */
bool ring_closed(struct ring *ring, int64_t *ret_verdict);

/* ---- ring_meet.c: under way in the rank that opens a call ---- */
enum storage_ground ring_tune_ground(const struct ring *ring, int64_t low, int64_t high); /* this rank's */
/* What a node brings to the choice. */
struct ring_report {
    int64_t took_ns;    /* by the last call, where that is of interest */
    int64_t direct_end; /* up to this byte of the file its ranks may go by themselves */
};
void ring_tune_report(const struct ring *ring, struct ring_report *ret_report); /* all ranks have entered */
void ring_tune_add(struct ring_report *report, const struct ring_report *more); /* of another node */
bool ring_tune_direct(struct ring *ring, struct ring_plan *plan, int64_t bytes, const struct ring_report *report);
void ring_tune_left(struct ring *ring); /* every rank, at its end */

/* ---- ring_block.c: this rank's pieces ---- */
int64_t ring_own_block(const struct ring *ring); /* in which it has something next; RING_END */
void ring_fill(struct ring *ring, struct ring_slot *slot, int64_t block);
void ring_empty(struct ring *ring, struct ring_slot *slot, int64_t block);
bool ring_mark_ahead(struct ring *ring);

struct ring_port; /* ring_port.c */

/* ---- ring_block.c: blocks and the file ---- */
/* Does what can be done for blocks that are complete, or wanted next. False: nothing. */
bool ring_serve(struct ring *ring, int64_t least);

int64_t ring_least(const struct ring *ring); /* how far all ranks have got */
int64_t ring_least_marked(const struct ring *ring);
void ring_turn(struct ring *ring, struct ring_slot *slot, int64_t block); /* to the block that comes next there */
bool ring_claim(struct ring_slot *slot, int64_t block);
/* A failure: of this rank, and told to the others of the node. */
void ring_note(struct ring *ring, const struct pl_error *error);
void ring_tell_failure(struct ring *ring);

/* ---- ring_port.c: between nodes ---- */
pl_status ring_port_prepare(struct ring *ring, struct pl_error *error); /* takes the memory for a call */
void ring_port_begin(struct ring *ring);                                /* the plan is known */
bool ring_port_step(struct ring *ring);                                 /* false: nothing has moved */
bool ring_port_idle(const struct ring *ring);                           /* nothing is on its way any more */
void ring_port_free(struct ring_port *port);                            /* accepts NULL */
/* The leader of a node (aggregator 0): what all nodes bring; true when *ret_all is there. */
enum { RING_SUMMARY = 7 };
void ring_port_gather_start(struct ring_port *port, const int64_t mine[RING_SUMMARY]);
const int64_t *ring_port_gathered(struct ring_port *port); /* NULL: not yet; else RING_SUMMARY numbers of each node */
int ring_port_node(const struct ring_port *port);
bool ring_port_leads(const struct ring_port *port); /* is it the leader of its node? */

#endif
