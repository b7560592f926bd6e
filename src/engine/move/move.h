/* The aggregation core: one collective access from its start to its end, whatever moves its data.
 *
 *   check → order → settle → prepare → agree → transfer → finish → late
 *
 * check: develop mode only. order: where the data of the ranks follow each other, each rank finds its place. settle:
 * what auxiliary processes have not stored yet is waited for. prepare: the transport takes its memory. agree: all ranks
 * learn who cannot take part, and between which bytes the data lie. transfer: the transport moves data between the
 * ranks and the aggregators, which access their file domains window by window. finish: all learn whether anybody
 * failed. late: and of a failure that came after an earlier call.
 *
 * A strategy is a row (strategy.c): a transport, and the policy that it follows. A transport (exchange/, ring/,
 * direct/) moves data, and nothing else: errors, agreements, threads and storing are the core's.
 *
 * A move is stepped and never waits inside: blocking calls step it in a loop, others from wherever MPI makes progress.
 */
#ifndef PIOLET_ENGINE_MOVE_MOVE_H
#define PIOLET_ENGINE_MOVE_MOVE_H

#include "engine/access/access.h"
#include "engine/develop/develop.h"
#include "engine/file/file.h"
#include "engine/pool/pool.h"
#include "engine/shared/shared.h"
#include "mpi/agree.h"

struct move;

/* ---- policies: what makes one row differ from another ---- */

enum move_order {                /* who accesses what when, where each rank accesses the file itself */
                  ORDER_PLAIN,   /* all at once, each in the order of the file */
                  ORDER_NODES,   /* the ranks of one colour at a time (node grouping) */
                  ORDER_DATA,    /* all ranks, a part of their data at a time (data grouping) */
                  ORDER_RANDOM,  /* all at once, each in an order of its own */
                  ORDER_WINDOW,  /* what lies in a window that slides over the file */
                  ORDER_WINDOWS, /* the same with a window for each storage device */
};
enum move_target {                /* how the file is spread over the aggregators: their file domains */
                   TARGET_NONE,   /* each rank accesses the file itself */
                   TARGET_BLOCK,  /* one part of what is accessed for each */
                   TARGET_CYCLIC, /* blocks in turn */
                   TARGET_LAYOUT, /* blocks in turn, as the file lies on its devices */
                   TARGET_BOUND,  /* blocks in turn, counted from the file's first byte: a block has one owner for ever
                                   */
                   TARGET_FREE,   /* whoever is there first */
};
enum move_aggregators {                   /* who they are */
                        AGGREGATORS_NONE, /* each rank accesses the file itself */
                        AGGREGATORS_ALL,  /* every rank */
                        AGGREGATORS_PAIR, /* cb_nodes, or two on each node: a file takes no more without losing speed */
                        AGGREGATORS_NODE, /* cb_nodes, or one on each node */
                        AGGREGATORS_DEVICE, /* one for each storage device, else cb_nodes, or one on each node */
                        AGGREGATORS_MEMORY, /* cb_nodes, or every rank; between nodes two of each send */
                        AGGREGATORS_AGENTS, /* the agents of data shipping */
};
enum move_exchange { /* how data come to the aggregators */
                     EXCHANGE_NONE,
                     EXCHANGE_PIECES,    /* a message for each piece */
                     EXCHANGE_GATHERED,  /* one message for each pair and window */
                     EXCHANGE_BROADCAST, /* a tree of messages from the aggregator to all */
                     EXCHANGE_MEMORY,    /* memory that the ranks of a node share */
};
enum move_agreement {              /* when all ranks hear of a failure */
                      AGREE_LATER, /* when they next meet: without any meeting in the call */
                      AGREE_LAST,  /* at the end */
                      AGREE_BOTH,  /* before anybody touches the file, and at the end */
};

/* A strategy: state of the file, the same on all ranks, which changes only where they meet anyway. A rank may have
 * nothing to access, but never another way to do it. */
struct strategy {
    const char *name, *summary;
    const struct move_transport *transport;
    enum move_agreement agreement;
    enum move_aggregators aggregators;
    enum move_target target;
    enum move_exchange exchange;
    enum move_order order;
    bool defers; /* leaves its writes to auxiliary processes, where there are any, and settles where it does not */
    const struct strategy *otherwise; /* the row for accesses that this one is not made for; NULL: it is for all */
};

/* ---- transports ---- */

enum { MOVE_VALUES_MAX = 4 };

/* What a transport does in a call; it keeps what it needs for that in move->call. Failures are noted (move_note()): the
 * rank goes on taking part with nothing to give, and the core tells all. */
struct move_transport {
    /* Takes the memory of the call. Local: it may fail. */
    void (*prepare)(struct move *move);
    /* What this rank brings to the first agreement, besides the range of its data; returns how many numbers, of which
     * all get the least (move_agreed()). May be NULL. */
    int (*bring)(const struct move *move, int64_t values[MOVE_VALUES_MAX]);
    /* A first meeting of its own in the place of an agreement by messages; it sets move->verdict, and so does the last
     * step. NULL: there is none. */
    enum step (*meet)(struct move *move);
    /* All ranks take part, and the range is known. */
    void (*begin)(struct move *move);
    /* Moves what can be moved. At the end move->done is set. */
    enum step (*step)(struct move *move);
    void (*wait)(struct move *move);  /* a little, after a step that got nowhere; may be NULL */
    void (*clear)(struct move *move); /* frees move->call, which may be NULL; may be NULL itself */
};

/* ---- a collective access under way on one rank ---- */

/* Where the ranks' data come one after the other in rank order: how they find their places. */
struct move_place {
    int64_t mine[2], upto[2]; /* etypes and failures, of this rank and of all up to it */
    int64_t base[2];          /* where the first rank begins, and whether anybody failed */
    MPI_Request request;
    struct shared_order_call call; /* where the ranks share memory: in the place of the request */
    unsigned turns;                /* of waiting for them */
};

/* Forward only, but for a transport that begins again (move_again(), MOVE_VERDICT_AGAIN). */
enum move_state {
    MOVE_CHECK,   /* are all ranks in the same call? */
    MOVE_MEET,    /* the order of the ranks, by shared memory */
    MOVE_SCAN,    /* or by messages: what stands before this rank, */
    MOVE_BASE,    /* and where the first one begins */
    MOVE_SETTLE,  /* what auxiliary processes have not stored yet is waited for */
    MOVE_PREPARE, /* memory */
    MOVE_AGREE,   /* the first agreement */
    MOVE_TRANSFER,
    MOVE_FINISH, /* the last agreement */
    MOVE_LATE,   /* all hear of an older failure */
    MOVE_DONE,
};

/* What came of a meeting that is a transport's own. */
enum move_verdict { MOVE_VERDICT_WELL, MOVE_VERDICT_FAILED, MOVE_VERDICT_AGAIN };

/* System calls that are done at once, or left to a thread: one such job is under way at a time. */
struct move_job {
    struct pool_work work;
    void (*run)(struct move *move);
    bool busy;      /* it has begun, and nobody has noticed its end */
    bool in_thread; /* it may not call MPI */
    bool slept;     /* a read had to wait for a device */
};

struct move {
    struct file *file;
    const char *function; /* of MPI */
    const struct strategy *strategy;
    struct access_request request; /* bytes == 0 where this rank has nothing, or failed */
    bool ordered;                  /* the request's position is found with the shared file pointer */
    struct pl_error error;         /* this rank's outcome: set before the start where its arguments are wrong */
    int64_t done;                  /* bytes moved */
    bool async;                    /* nobody waits for it: system calls are left to threads */

    enum move_state state;
    int64_t low, high; /* bytes of the file between which all ranks' data lie; low >= high: there are none */
    enum move_verdict verdict;
    bool somebody_late; /* a rank has an older failure to tell */
    struct move_job job;
    void *call; /* the transport's */
    union {     /* one after the other: programs keep thousands of these under way */
        struct develop_check check;
        struct move_place place;
        struct {
            struct agree agree;
            struct error_late late;
        };
        struct pl_error job_error; /* of the job under way, while data are transferred */
    };
};

/* Start once, step until done, clear. All ranks of the file start theirs in the same order. */
void move_start(struct move *move);
enum step move_step(struct move *move);
void move_run_coll(struct move *move); /* both, waiting in between */
void move_clear(struct move *move);

/* ---- what the core does for transports ---- */

/* Notes a failure of this rank; the first one stays. */
void move_note(struct move *move, const struct pl_error *error);
void move_note_mpi(struct move *move, int code, const char *doing); /* nothing where the code is MPI_SUCCESS */
static inline bool move_has_failed(const struct move *move)
{
    return move->error.status != PL_OK;
}

/* In `begin`, before a job: the least of what all ranks brought to the first agreement. */
int64_t move_agreed(const struct move *move, int index);

/* In `begin`: this access goes the way of the row `otherwise`, from its preparation on. On all ranks alike. */
void move_again(struct move *move);

/* ---- move_store.c: the file, by jobs ---- */

/* Runs `run`, which does system calls and touches nothing that the caller touches meanwhile; its failures go to
 * job_error. In a thread where the move is async, or where `pays`. */
void move_job_start(struct move *move, bool pays, void (*run)(struct move *move));
/* Is none under way any more? Notes the failure of one that has ended. */
bool move_job_is_over(struct move *move);
/* Is a thread worth while for so many bytes, where there is something else to do meanwhile? */
bool move_job_pays(const struct move *move, int64_t bytes);
/* What keeps MPI going while a job waits: MPI_COMM_NULL in threads. */
static inline MPI_Comm move_progress(const struct move *move)
{
    return move->job.in_thread ? MPI_COMM_NULL : move->file->comm;
}

/* In a job: a window with its coverage map (NULL: all of it is filled) goes into the file, or to auxiliary processes.
 */
pl_status move_store(struct move *move, int64_t offset, char *window, int64_t bytes, const uint64_t *coverage);
/* In a job: reads a window, or a part of it; *ret_done is less at the end of the file. Finds out whether reads of this
 * file have to wait for a device. */
pl_status move_load(struct move *move, int64_t offset, char *to, int64_t bytes, int64_t *ret_done);

/* ---- move_domain.c: file domains and windows ---- */
/* Who accesses what: the file is cut into blocks that the aggregators get in turn, and a block into windows, which its
 * aggregator fills and writes (or reads and hands out) one after the other. Where each gets one large block, that is
 * HPF's BLOCK, else CYCLIC. Pure arithmetic. */

struct move_domain {
    int64_t begin, end; /* blocks are counted from begin; nothing is accessed at or behind end */
    int aggregators;
    int64_t chunk;   /* bytes of a block */
    int64_t window;  /* bytes of a window, at most */
    int64_t windows; /* of a block */
};

/* How many a policy means, and the unit that domains are aligned to: striping_unit, or 64 KiB. The same on all ranks.
 */
int move_aggregator_count(const struct file *file, enum move_aggregators policy);
int64_t move_domain_unit(const struct file *file);

/* One block for each aggregator; blocks begin at multiples of `unit`. aggregators, unit and window > 0; lo < hi. */
void move_domain_block(struct move_domain *ret_domain, int64_t lo, int64_t hi, int aggregators, int64_t unit,
                       int64_t window);

/* Blocks of `chunk` bytes in turn. `bound`: counted from the file's first byte, so that a block has the same aggregator
 * in every call; else from the block of the first byte that is accessed. */
void move_domain_cyclic(struct move_domain *ret_domain, int64_t lo, int64_t hi, int aggregators, int64_t chunk,
                        int64_t window, bool bound);

static inline int move_domain_aggregator(const struct move_domain *domain, int64_t byte)
{
    return (int)((byte - domain->begin) / domain->chunk % domain->aggregators);
}

/* The number of an aggregator's window: they ascend with the file, and those of a block follow each other. */
static inline int64_t move_domain_round(const struct move_domain *domain, int64_t byte)
{
    const int64_t place = byte - domain->begin;
    return place / domain->chunk / domain->aggregators * domain->windows + place % domain->chunk / domain->window;
}

/* First byte of a window, and the one behind it. Only of windows that have bytes before the end. */
int64_t move_window_begin(const struct move_domain *domain, int aggregator, int64_t round);
int64_t move_window_end(const struct move_domain *domain, int aggregator, int64_t round);

/* The first position at or behind `position` whose byte belongs to `aggregator`, or `limit`: positions of data of a
 * monotone view. The steps it takes are at most the turns of all aggregators in which the view has data. */
int64_t move_domain_next(const struct move_domain *domain, const struct view *view, int aggregator, int64_t position,
                         int64_t limit);

/* The rank that plays aggregator number `aggregator`, spread over all ranks; and the one that a rank plays, or -1. */
int move_aggregator_rank(int aggregator, int aggregators, int ranks);
int move_rank_aggregator(int rank, int aggregators, int ranks);

#endif
