#include "mpiio/ship/ship_mail.h"

#include "mpi/wait.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

static size_t boxes_begin(int ranks)
{
    const size_t bytes = sizeof(struct ship_segment) + (size_t)ranks * sizeof(struct ship_bell);
    const size_t page = _Alignof(struct ship_box);
    return (bytes + page - 1) / page * page;
}

size_t ship_segment_bytes(int ranks)
{
    return boxes_begin(ranks) + (size_t)ranks * SHIP_BOXES * sizeof(struct ship_box);
}

struct ship_box *ship_segment_box(struct ship_segment *segment, int ranks, int rank, int index)
{
    struct ship_box *boxes = (struct ship_box *)(void *)((char *)segment + boxes_begin(ranks));
    return &boxes[(size_t)rank * SHIP_BOXES + (size_t)index];
}

void ship_box_post(struct ship_segment *segment, struct ship_box *box)
{
    struct ship_bell *bell = &segment->bells[box->agent];
    box->status = PL_OK;
    atomic_store(&box->state, SHIP_BOX_POSTED + (uint32_t)box->agent);
    atomic_fetch_add(&bell->count, 1);
    wait_wake(&bell->count);
}

void ship_box_answer(struct ship_box *box)
{
    atomic_store(&box->state, SHIP_BOX_ANSWERED);
    wait_wake(&box->state);
}

void ship_box_fail(struct ship_box *box, const struct pl_error *error)
{
    if (box->status != PL_OK)
        return;
    box->status = (int32_t)error->status;
    snprintf(box->words, sizeof box->words, "%.*s", SHIP_WORDS_MAX - 1, error->text);
}

bool ship_box_is_served(const struct ship_segment *segment, const struct ship_box *box)
{
    const pid_t pid = atomic_load(&segment->bells[box->agent].pid);
    return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}
