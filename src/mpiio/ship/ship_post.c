/* The boxes of a rank: taking them, posting them to agents near and far, waiting for the answers. */
#include "mpi/wait.h"
#include "mpiio/ship/ship_core.h"

/* ---- taking ---- */

static bool has_free(void *arg)
{
    return atomic_load(&((struct ship *)arg)->free) > 0;
}

static struct ship_box *own_box(struct ship *ship, int index)
{
    return ship_segment_box(ship->segment, ship->node.size, ship->node.rank, index);
}

int ship_boxes_take(struct ship *ship, int wanted, MPI_Comm poke, struct ship_box **ret_boxes)
{
    for (;;) {
        int count = 0;
        pthread_mutex_lock(&ship->lock);
        for (int i = 0; i < SHIP_BOXES && count < wanted; i++) {
            if (ship->taken[i])
                continue;
            ship->taken[i] = true;
            ret_boxes[count++] = own_box(ship, i);
        }
        atomic_fetch_sub(&ship->free, count);
        pthread_mutex_unlock(&ship->lock);
        if (count > 0)
            return count;
        wait_until(has_free, ship, NULL, poke); /* other threads of this rank have them all */
    }
}

void ship_boxes_give(struct ship *ship, struct ship_box **boxes, int count)
{
    pthread_mutex_lock(&ship->lock);
    for (int i = 0; i < count; i++)
        ship->taken[boxes[i]->index] = false;
    atomic_fetch_add(&ship->free, count);
    pthread_mutex_unlock(&ship->lock);
}

/* ---- posting and waiting ---- */

void ship_post(struct ship *ship, struct ship_box *box)
{
    struct ship_bell *bell = ship_segment_bell(ship->segment, ship->node.size, box->agent);
    if (bell)
        ship_box_post(bell, box);
    else
        ship_remote_post(&ship->remote[box->index], ship->comm, box);
}

struct answer {
    const struct ship_bell *bell;
    struct ship_box *box;
    int64_t looks;
};

/* A box that nobody will answer is one too: its agent's process is looked for now and then. */
static bool is_answered(void *arg)
{
    enum { LOOKS = 4096 };
    struct answer *answer = arg;
    if (atomic_load(&answer->box->state) == SHIP_BOX_ANSWERED)
        return true;
    return ++answer->looks % LOOKS == 0 && !ship_bell_is_heard(answer->bell);
}

static pl_status wait_here(struct ship *ship, struct ship_box *box, MPI_Comm poke, struct pl_error *error)
{
    struct answer answer = {.bell = ship_segment_bell(ship->segment, ship->node.size, box->agent), .box = box};
    wait_until(is_answered, &answer, &box->state, poke);
    if (atomic_load(&box->state) != SHIP_BOX_ANSWERED)
        return pl_fail(error, PL_E_PEER, "the process of rank %d, which is an agent of this file, has ended",
                       (int)box->agent);
    atomic_store(&box->state, SHIP_BOX_IDLE);
    return PL_OK;
}

pl_status ship_box_wait(struct ship *ship, struct ship_box *box, MPI_Comm poke, struct pl_error *error)
{
    struct ship_remote *remote = &ship->remote[box->index];
    if (remote->posted ? ship_remote_wait(remote, box, poke, error) : wait_here(ship, box, poke, error))
        return error->status;
    if (box->status != PL_OK)
        return pl_fail(error, (pl_status)box->status, "by the agent on rank %d: %s", (int)box->agent, box->words);
    return PL_OK;
}

/* ---- what agents hold ---- */

/* One after the other: rare, and small. */
static pl_status ask_nodes(struct ship *ship, struct ship_box *box, MPI_Comm poke, int64_t *ret_end,
                           struct pl_error *error)
{
    const struct ship_map *map = &ship->setting.map;
    for (int i = 0; i < map->count; i++) {
        if (ship_segment_bell(ship->segment, ship->node.size, map->ranks[i]))
            continue;
        box->agent = map->ranks[i];
        ship_post(ship, box);
        if (ship_box_wait(ship, box, poke, error))
            return error->status;
        *ret_end = box->end > *ret_end ? box->end : *ret_end;
    }
    return PL_OK;
}

pl_status ship_held_end(struct ship *ship, struct ship_box *box, MPI_Comm poke, int64_t *ret_end,
                        struct pl_error *error)
{
    const int32_t agent = box->agent, command = box->command, pieces = box->pieces;
    *ret_end = atomic_load(&ship->segment->cached_end);
    if (ship->comm == MPI_COMM_NULL)
        return PL_OK;
    box->command = SHIP_END;
    box->pieces = 0;
    ask_nodes(ship, box, poke, ret_end, error);
    box->agent = agent;
    box->command = command;
    box->pieces = pieces;
    return error->status;
}
