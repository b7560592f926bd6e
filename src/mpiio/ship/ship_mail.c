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

struct ship_box *ship_segment_box(struct ship_segment *segment, int ranks, int place, int index)
{
    struct ship_box *boxes = (struct ship_box *)(void *)((char *)segment + boxes_begin(ranks));
    return &boxes[(size_t)place * SHIP_BOXES + (size_t)index];
}

struct ship_bell *ship_segment_bell(struct ship_segment *segment, int ranks, int rank)
{
    for (int place = 0; place < ranks; place++)
        if (atomic_load_explicit(&segment->bells[place].rank, memory_order_relaxed) == rank)
            return &segment->bells[place];
    return NULL;
}

void ship_box_post(struct ship_bell *bell, struct ship_box *box)
{
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

int64_t ship_box_bytes(const struct ship_box *box)
{
    int64_t bytes = 0;
    for (int i = 0; i < box->pieces; i++)
        bytes += box->piece[i].bytes;
    return bytes;
}

bool ship_bell_is_heard(const struct ship_bell *bell)
{
    const pid_t pid = atomic_load(&bell->pid);
    return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}
