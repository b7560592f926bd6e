/* Strategies of collective access: rows of one table. A strategy is state of the file, the same on all ranks, and
 * changes only where they meet anyway: a rank may have nothing to access, but never another way to do it.
 *
 * To add one: strategy_NAME.c defines `const struct strategy strategy_NAME`, and strategy.def has a line for it. */
#ifndef PIOLET_MPIIO_STRATEGY_STRATEGY_H
#define PIOLET_MPIIO_STRATEGY_STRATEGY_H

#include "mpi/step.h"
#include "mpiio/develop/develop.h"
#include "mpiio/file/file.h"
#include "mpiio/pool/pool.h"

/* The parameters of the framework: what makes one row of the table differ from another. */
enum scheme_order {                /* who accesses what when, where each rank accesses the file itself */
                    ORDER_PLAIN,   /* all at once, each in the order of the file */
                    ORDER_NODES,   /* the ranks of one colour at a time (node grouping) */
                    ORDER_DATA,    /* all ranks, a part of their data at a time (data grouping) */
                    ORDER_RANDOM,  /* all at once, each in an order of its own */
                    ORDER_WINDOW,  /* what lies in a window that slides over the file */
                    ORDER_WINDOWS, /* the same with a window for each storage device */
};
enum scheme_target { /* how the file is spread over the agents, where they access it for all */
                     TARGET_NONE,
                     TARGET_BLOCK,  /* one part of what is accessed for each agent */
                     TARGET_CYCLIC, /* blocks in turn */
                     TARGET_LAYOUT, /* blocks in turn, as the file lies on its devices */
                     TARGET_BOUND, /* blocks in turn, counted from the file's first byte: a block has one agent for ever
                                    */
                     TARGET_FREE,  /* whoever is there first */
};
enum scheme_exchange { /* how data come to the agents */
                       EXCHANGE_NONE,
                       EXCHANGE_PIECES,    /* a message for each piece */
                       EXCHANGE_GATHERED,  /* one message for each pair and round */
                       EXCHANGE_BROADCAST, /* a tree of messages from the agent to all */
                       EXCHANGE_MEMORY,    /* memory that the ranks of a node share */
};
struct scheme {
    enum scheme_order order;
    enum scheme_target target;
    enum scheme_exchange exchange;
};

/* Where the ranks' data come one after the other in rank order: how they find their places. */
struct collective_order {
    int64_t mine[2], upto[2]; /* etypes and failures, of this rank and of all up to it */
    int64_t base[2];          /* where the first rank begins, and whether anybody failed */
    MPI_Request request;
    struct shared_order_call call; /* where the ranks share memory: in the place of the request */
    unsigned turns;                /* of waiting for them */
    struct agree agree;
};

/* A collective data access under way on one rank. */
struct collective {
    struct file *file;
    const char *function; /* of MPI */
    const struct strategy *strategy;
    struct access_request request; /* bytes == 0 where this rank has nothing, or failed */
    bool ordered;                  /* the request's position is found with the shared file pointer */
    struct pl_error error;         /* this rank's outcome: set before the start where its arguments are wrong */
    int64_t done;                  /* bytes moved */
    bool async;                    /* nobody waits for it: system calls are left to threads */
    int state;
    struct pool_work work;
    bool working;
    union { /* one after the other: programs keep thousands of these under way */
        struct develop_check check;
        struct collective_order order;
        struct exchange_refusal refusal; /* where there was no memory for the exchange */
    };
    struct exchange *exchange; /* of strategies that exchange by messages */
    void *private;             /* whatever else the strategy needs: its own */
};

struct strategy {
    const char *name, *summary;
    bool exchanges; /* ranks meet in every call, so that errors are agreed in it */
    bool defers;    /* leaves its writes to auxiliary processes, where there are any, and settles where it does not */
    struct scheme scheme;
    const char *agents; /* who they are, in words; NULL where each rank accesses the file itself */
    void (*start)(struct collective *collective);
    enum step (*step)(struct collective *collective);
    void (*wait)(struct collective *collective);  /* after a step without progress, a little; may be NULL */
    void (*clear)(struct collective *collective); /* frees `private`; may be NULL */
};

extern const struct strategy *const STRATEGIES[]; /* ends with NULL */
const struct strategy *strategy_find(const char *name);

/* What the choice depends on: the least and greatest over all ranks, so that all choose the same. */
struct strategy_facts {
    int ranks;
    bool write;
    int64_t piece_bytes; /* mean piece of the view that is cut finest */
    bool monotone;       /* of every rank */
    bool atomic;
    bool shares;  /* the ranks of each node share memory */
    bool refused; /* a rank may not open another's memory, as the MPI does for long messages */
    bool scarce;  /* a rank has too little address space for them */
    const struct hint_values *hints;
};
/* What was chosen, and why: in words, of the library's own. `tune`: the strategy may find out by trying whether it is
 * the best. */
struct strategy_choice {
    const struct strategy *strategy;
    const char *why;
    bool tune, small_pieces;
};
struct strategy_choice strategy_choose(const struct strategy_facts *facts);

/* The access as an operation: start once, step until done, clear. All ranks of the file start theirs in the same order.
 */
void collective_start(struct collective *collective);
enum step collective_step(struct collective *collective);
void collective_run_coll(struct collective *collective); /* both, waiting in between */
void collective_clear(struct collective *collective);

#endif
