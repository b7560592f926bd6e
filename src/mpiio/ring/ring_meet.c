/* The beginning of a call: all ranks bring what they have, and the last one makes the plan. */
#include "mpiio/ring/ring_core.h"

#include <string.h>
#include <time.h>

enum { SLOTS = 4, BLOCK_BYTES = 1 << 20 };

int64_t ring_block_bytes(const struct ring_setup *setup, int *ret_slots)
{
    int64_t total = setup->buffer_bytes < RING_BYTES_MAX ? setup->buffer_bytes : RING_BYTES_MAX;
    total = total > SLOTS * RING_PAGE ? total : SLOTS * RING_PAGE;
    int64_t block = setup->block_bytes > 0        ? setup->block_bytes
                    : total / SLOTS < BLOCK_BYTES ? total / SLOTS
                                                  : BLOCK_BYTES;
    if (setup->unit_bytes > 0 && setup->unit_bytes <= total / 2)
        block = block > setup->unit_bytes ? block / setup->unit_bytes * setup->unit_bytes : setup->unit_bytes;
    block = block < RING_BYTES_MAX / 2 ? block / RING_PAGE * RING_PAGE : RING_BYTES_MAX / 2;
    block = block > RING_PAGE ? block : RING_PAGE;
    const int64_t slots = total / block;
    *ret_slots = slots < 2 ? 2 : slots > RING_SLOTS_MAX ? RING_SLOTS_MAX : (int)slots;
    return block;
}

static void gather(const struct ring *ring, struct ring_plan *ret_plan, int64_t *ret_bytes)
{
    *ret_plan = (struct ring_plan){.low = INT64_MAX};
    *ret_bytes = 0;
    for (int i = 0; i < ring->ranks; i++) {
        const struct ring_rank *rank = &ring->shared->rank[i];
        ret_plan->failed = ret_plan->failed || rank->failed;
        ret_plan->late = ret_plan->late || rank->late;
        if (rank->bytes == 0)
            continue;
        ret_plan->low = rank->low < ret_plan->low ? rank->low : ret_plan->low;
        ret_plan->high = rank->high > ret_plan->high ? rank->high : ret_plan->high;
        if (__builtin_add_overflow(*ret_bytes, rank->bytes, ret_bytes))
            *ret_bytes = INT64_MAX;
    }
}

static void prepare_slots(const struct ring *ring, const struct ring_plan *plan)
{
    for (int i = 0; i < plan->slots; i++) {
        struct ring_slot *slot = &ring->shared->slot[i];
        atomic_store_explicit(&slot->print, 0, memory_order_relaxed);
        if (plan->map && ring->request->write && plan->first + i <= plan->last)
            memset(ring->covers + i * (plan->block_bytes / 64), 0, (size_t)(plan->block_bytes / 8));
        atomic_store_explicit(&slot->tag, ring_tag(plan->first + i, RING_OPEN), memory_order_relaxed);
    }
}

static void open_call(struct ring *ring)
{
    struct ring_shared *shared = ring->shared;
    struct ring_plan plan;
    int64_t bytes;
    gather(ring, &plan, &bytes);
    plan.block_bytes = ring_block_bytes(&ring->setup, &plan.slots);
    plan.map = ring->map || bytes != plan.high - plan.low;
    plan.direct = !plan.failed && bytes > 0 && ring_tune_direct(ring, &plan, bytes);
    if (bytes > 0) {
        plan.first = plan.low / plan.block_bytes;
        plan.last = (plan.high - 1) / plan.block_bytes;
    }
    if (bytes == 0 || plan.failed || plan.direct)
        plan.last = plan.first - 1;
    prepare_slots(ring, &plan);
    atomic_store_explicit(&shared->failed, false, memory_order_relaxed);
    atomic_store_explicit(&shared->unproved, false, memory_order_relaxed);
    shared->plan = plan;
    atomic_store_explicit(&shared->entered[(ring->calls + 1) % 2], 0, memory_order_relaxed);
    atomic_store_explicit(&shared->opened, ring->calls, memory_order_release);
}

void ring_enter(struct ring *ring)
{
    struct ring_shared *shared = ring->shared;
    struct ring_rank *rank = &shared->rank[ring->rank];
    const struct access_request *request = ring->request;
    const bool failed = ring->own.status != PL_OK;
    rank->bytes = failed ? 0 : request->bytes;
    if (rank->bytes > 0) {
        rank->low = view_byte(request->view, request->position);
        rank->high = view_byte(request->view, request->position + request->bytes - 1) + 1;
    }
    rank->failed = failed;
    rank->late = ring->late.status != PL_OK;
    int slots;
    const int64_t block_bytes = ring_block_bytes(&ring->setup, &slots);
    ring->calls++;
    atomic_store_explicit(ring_cursor(ring, ring->rank), rank->bytes > 0 ? rank->low / block_bytes : RING_END,
                          memory_order_relaxed);
    if (atomic_fetch_add(&shared->entered[ring->calls % 2], 1) == ring->ranks - 1)
        open_call(ring);
}

bool ring_opened(struct ring *ring)
{
    if (atomic_load_explicit(&ring->shared->opened, memory_order_acquire) != ring->calls)
        return false;
    ring->plan = ring->shared->plan;
    return true;
}
