/* Data shipping: each rank sends what it accesses to the agents that the file's blocks are bound to, as it does in
 * independent access, and the ranks agree at the end. Agents combine what lies side by side, whoever sent it. */
#include "mpiio/ship/ship.h"
#include "mpiio/strategy/strategy.h"

#include <stddef.h>

static void run(struct collective *collective, MPI_Comm poke)
{
    const struct access_manner manner = file_manner(collective->file, poke);
    ship_access(collective->file, &collective->request, &manner, &collective->done, &collective->error);
}

/* Agents of this node need no MPI, and those of others are only used where all threads may call it. */
static void run_in_thread(struct pool_work *work)
{
    run((struct collective *)((char *)work - offsetof(struct collective, work)), MPI_COMM_NULL);
}

/* The order of the ranks has been found: its place in the union is free for the last agreement. */
static void agree(struct collective *collective)
{
    const struct file *file = collective->file;
    collective->working = false;
    collective->private = collective; /* SHIP is over */
    agree_start(&collective->order.agree, file->comm, file->rank, &collective->error, NULL, 0);
}

static void start(struct collective *collective)
{
    collective->private = NULL;
    collective->working = collective->async && collective->error.status == PL_OK;
    if (collective->working)
        pool_submit(&collective->work, run_in_thread);
}

static enum step step(struct collective *collective)
{
    if (!collective->private) {
        if (collective->working && !pool_is_done(&collective->work))
            return STEP_PENDING;
        if (!collective->async && collective->error.status == PL_OK)
            run(collective, collective->file->comm);
        agree(collective);
    }
    if (agree_step(&collective->order.agree) == STEP_PENDING)
        return STEP_PENDING;
    agree_result(&collective->order.agree, &collective->error);
    return STEP_DONE;
}

const struct strategy strategy_shipping = {
    .name = "shipping",
    .summary = "each block of the file is bound to an agent, which accesses it for all ranks, alone or together",
    .exchanges = true,
    .scheme = {.target = TARGET_BOUND, .exchange = EXCHANGE_MEMORY},
    .agents = "cb_nodes, or two on each node: threads that also serve one rank's access",
    .start = start,
    .step = step,
};
