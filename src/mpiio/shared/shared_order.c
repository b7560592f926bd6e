#include "mpiio/shared/shared_order.h"

/* The mark is written last: twice the number of the call, and one more where the rank has failed. */
struct shared_order_line {
    struct {
        _Alignas(64) _Atomic int64_t etypes;
        _Atomic uint64_t mark;
    } turns[2];
};

size_t shared_order_bytes(int ranks)
{
    return ((size_t)ranks + 1) * sizeof(struct shared_order_line);
}

void shared_order_open(struct shared_order *order, void *place, int rank, int size)
{
    *order = (struct shared_order){.lines = place, .rank = rank, .size = size};
}

static void say(struct shared_order *order, int line, int64_t etypes, bool failed)
{
    const uint64_t turn = order->calls & 1;
    atomic_store_explicit(&order->lines[line].turns[turn].etypes, etypes, memory_order_relaxed);
    atomic_store_explicit(&order->lines[line].turns[turn].mark, 2 * order->calls + failed, memory_order_release);
}

static bool has_said(struct shared_order *order, int line, int64_t *ret_etypes, bool *ret_failed)
{
    const uint64_t turn = order->calls & 1;
    const uint64_t mark = atomic_load_explicit(&order->lines[line].turns[turn].mark, memory_order_acquire);
    if (mark / 2 != order->calls)
        return false;
    *ret_etypes = atomic_load_explicit(&order->lines[line].turns[turn].etypes, memory_order_relaxed);
    *ret_failed = mark & 1;
    return true;
}

void shared_order_start(struct shared_order *order, struct shared_order_call *ret_call, int64_t etypes, bool failed)
{
    *ret_call = (struct shared_order_call){0};
    order->calls++;
    say(order, order->rank, etypes, failed);
}

enum step shared_order_step(struct shared_order *order, struct shared_order_call *call, struct shared *pointer,
                            struct pl_error *error)
{
    int64_t etypes;
    bool failed;
    for (; call->next < order->size; call->next++) {
        if (!has_said(order, call->next, &etypes, &failed))
            return STEP_PENDING;
        call->failures += failed;
        call->total += etypes;
        call->before += call->next < order->rank ? etypes : 0;
    }
    if (order->rank == order->size - 1) {
        if (call->failures == 0 && shared_fetch_add(pointer, call->total, &call->base, error) != PL_OK)
            call->failures = 1;
        say(order, order->size, call->base, call->failures > 0);
        return STEP_DONE;
    }
    if (!has_said(order, order->size, &call->base, &failed))
        return STEP_PENDING;
    call->failures += failed;
    return STEP_DONE;
}
