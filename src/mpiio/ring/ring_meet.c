/* The beginning of a call: all ranks bring what they have, and the last one makes the plan. */
#include "mpiio/ring/ring_core.h"

#include <sched.h>
#include <string.h>

enum { SLOTS = 4, BLOCK_BYTES = 1 << 20 };

int64_t ring_block_bytes(const struct ring *ring, int *ret_slots)
{
    const struct ring_setup *setup = &ring->setup;
    int64_t total = setup->buffer_bytes < ring->capacity ? setup->buffer_bytes : ring->capacity;
    total = total > SLOTS * RING_PAGE ? total : SLOTS * RING_PAGE;
    int64_t block = setup->block_bytes > 0        ? setup->block_bytes
                    : total / SLOTS < BLOCK_BYTES ? total / SLOTS
                                                  : BLOCK_BYTES;
    if (setup->unit_bytes > 0 && setup->unit_bytes <= total / 2)
        block = block > setup->unit_bytes ? block / setup->unit_bytes * setup->unit_bytes : setup->unit_bytes;
    if (ring->nodes > 1 && block > total / SLOTS) /* messages between nodes are as long */
        block = total / SLOTS;
    block = block < ring->capacity / 2 ? block / RING_PAGE * RING_PAGE : ring->capacity / 2;
    block = block > RING_PAGE ? block : RING_PAGE;
    const int64_t slots = total / block;
    *ret_slots = slots < 2 ? 2 : slots > RING_SLOTS_MAX ? RING_SLOTS_MAX : (int)slots;
    return block;
}

/* What ranks and nodes bring together. */
struct sum {
    int64_t low, high, bytes;
    bool failed, late;
};

static void add(struct sum *sum, const struct sum *more)
{
    sum->failed = sum->failed || more->failed;
    sum->late = sum->late || more->late;
    if (more->bytes == 0)
        return;
    sum->low = more->low < sum->low ? more->low : sum->low;
    sum->high = more->high > sum->high ? more->high : sum->high;
    if (__builtin_add_overflow(sum->bytes, more->bytes, &sum->bytes))
        sum->bytes = INT64_MAX;
}

static struct sum sum_ranks(const struct ring *ring)
{
    struct sum sum = {.low = INT64_MAX};
    for (int i = 0; i < ring->ranks; i++) {
        const struct ring_rank *rank = &ring->shared->rank[i];
        add(&sum, &(struct sum){rank->low, rank->high, rank->bytes, rank->failed, rank->late});
    }
    return sum;
}

/* Ranks may be bound to cores, each to another one or several to the same. */
static bool is_crowded(const struct ring *ring)
{
    int cores = 0;
    for (int word = 0; word < RING_CORES / 64; word++) {
        uint64_t all = 0;
        for (int i = 0; i < ring->ranks; i++)
            all |= ring->shared->rank[i].cores[word];
        cores += __builtin_popcountll(all);
    }
    return cores > 0 && ring->ranks > cores;
}

static void tell_cores(struct ring_rank *rank)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int core = 0; core < RING_CORES && core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &set))
            rank->cores[core / 64] |= UINT64_C(1) << (core % 64);
}

static int agents_of(const struct ring *ring)
{
    const int64_t wanted = (ring->setup.agents + ring->nodes - 1) / ring->nodes;
    return wanted > 0 && wanted < ring->ranks ? (int)wanted : ring->ranks;
}

static void prepare_slots(const struct ring *ring, const struct ring_plan *plan)
{
    const bool maps = plan->nodes > 1 || (plan->map && ring->request->write);
    for (int i = 0; i < plan->slots; i++) {
        struct ring_slot *slot = &ring->shared->slot[i];
        atomic_store_explicit(&slot->print, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->settled, -1, memory_order_relaxed);
        if (maps && plan->first + i <= plan->last)
            memset(ring->covers + i * (plan->block_bytes / 64), 0, (size_t)(plan->block_bytes / 8));
        atomic_store_explicit(&slot->tag, ring_tag(plan->first + i, RING_OPEN), memory_order_relaxed);
    }
}

static void open_call(struct ring *ring, const struct sum *sum, const struct ring_report *report, int node)
{
    struct ring_shared *shared = ring->shared;
    struct ring_plan plan = {.low = sum->low,
                             .high = sum->high,
                             .nodes = ring->nodes,
                             .node = node,
                             .agents = agents_of(ring),
                             .crowded = ring->calls > 1 ? shared->plan.crowded : is_crowded(ring),
                             .failed = sum->failed,
                             .late = sum->late,
                             .map = ring->map || sum->bytes != sum->high - sum->low};
    plan.block_bytes = ring_block_bytes(ring, &plan.slots);
    plan.direct = !plan.failed && sum->bytes > 0 && ring_tune_direct(ring, &plan, sum->bytes, report);
    if (sum->bytes > 0) {
        plan.first = plan.low / plan.block_bytes;
        plan.last = (plan.high - 1) / plan.block_bytes;
    }
    if (sum->bytes == 0 || plan.failed || plan.direct)
        plan.last = plan.first - 1;
    prepare_slots(ring, &plan);
    atomic_store_explicit(&shared->failed, false, memory_order_relaxed);
    atomic_store_explicit(&shared->unproved, false, memory_order_relaxed);
    shared->plan = plan;
    atomic_store_explicit(&shared->entered[(ring->calls + 1) % 2], 0, memory_order_relaxed);
    atomic_store_explicit(&shared->opened, ring->calls, memory_order_release);
    wait_bell_ring(&shared->bell);
}

/* ---- several nodes: their leaders meet ---- */

enum { LOW, HIGH, BYTES, FAILURE, LATE, TOOK, DIRECT_END };
_Static_assert(DIRECT_END + 1 == RING_SUMMARY, "what leaders tell each other");

static void start_leaders(struct ring *ring)
{
    const struct sum sum = sum_ranks(ring);
    struct ring_report report;
    ring_tune_report(ring, &report);
    const int64_t mine[RING_SUMMARY] = {sum.low,  sum.high,       sum.bytes,        sum.failed,
                                        sum.late, report.took_ns, report.direct_end};
    ring_port_gather_start(ring->port, mine);
    ring->meeting = true;
}

static void lead(struct ring *ring)
{
    if (!ring->meeting) {
        if (atomic_load(&ring->shared->entered[ring->calls % 2]) < ring->ranks)
            return;
        start_leaders(ring);
    }
    const int64_t *all = ring_port_gathered(ring->port);
    if (!all)
        return;
    ring->meeting = false;
    struct sum sum = {.low = INT64_MAX};
    struct ring_report report = {.direct_end = INT64_MAX};
    int slots;
    const int64_t block_bytes = ring_block_bytes(ring, &slots);
    for (int i = 0; i < ring->nodes; i++, all += RING_SUMMARY) {
        add(&sum, &(struct sum){all[LOW], all[HIGH], all[BYTES], all[FAILURE] != 0, all[LATE] != 0});
        ring_tune_add(&report, &(struct ring_report){all[TOOK], all[DIRECT_END]});
        ring->spans[i] = all[BYTES] > 0 ? (struct ring_span){all[LOW] / block_bytes, (all[HIGH] - 1) / block_bytes}
                                        : (struct ring_span){0, -1};
    }
    open_call(ring, &sum, &report, ring_port_node(ring->port));
}

static int64_t node_verdict(const struct ring *ring)
{
    return (atomic_load(&ring->shared->failed) ? RING_FAILED : 0) |
           (atomic_load(&ring->shared->unproved) ? RING_UNPROVED : 0);
}

/* Is the call over on all nodes? The leader asks the others. */
bool ring_closed(struct ring *ring, int64_t *ret_verdict)
{
    struct ring_shared *shared = ring->shared;
    if (ring->nodes == 1) {
        *ret_verdict = node_verdict(ring);
        return true;
    }
    if (ring_port_leads(ring->port) && atomic_load(&shared->closed) != ring->calls) {
        if (!ring->meeting) {
            const int64_t mine[RING_SUMMARY] = {node_verdict(ring)};
            ring_port_gather_start(ring->port, mine);
            ring->meeting = true;
        }
        const int64_t *all = ring_port_gathered(ring->port);
        if (!all)
            return false;
        ring->meeting = false;
        shared->verdict = 0;
        for (int i = 0; i < ring->nodes; i++)
            shared->verdict |= all[(int64_t)i * RING_SUMMARY];
        atomic_store(&shared->closed, ring->calls);
        wait_bell_ring(&shared->bell);
    }
    if (atomic_load(&shared->closed) != ring->calls)
        return false;
    *ret_verdict = shared->verdict;
    return true;
}

/* ---- every rank ---- */

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
        rank->ground = ring_tune_ground(ring, rank->low, rank->high);
    }
    rank->failed = failed;
    if (ring->calls == 0)
        tell_cores(rank);
    rank->late = ring->late.status != PL_OK;
    int slots;
    const int64_t block_bytes = ring_block_bytes(ring, &slots);
    ring->calls++;
    atomic_store_explicit(&rank->marked[ring->calls % 2], rank->bytes > 0 ? rank->low / block_bytes : RING_END,
                          memory_order_relaxed);
    atomic_store_explicit(ring_cursor(ring, ring->rank), rank->bytes > 0 ? rank->low / block_bytes : RING_END,
                          memory_order_relaxed);
    const int64_t before = atomic_fetch_add(&shared->entered[ring->calls % 2], 1);
    if (ring->nodes == 1 && before == ring->ranks - 1) {
        const struct sum sum = sum_ranks(ring);
        struct ring_report report;
        ring_tune_report(ring, &report);
        open_call(ring, &sum, &report, 0);
    }
}

bool ring_opened(struct ring *ring)
{
    if (ring_port_leads(ring->port) && atomic_load(&ring->shared->opened) != ring->calls)
        lead(ring);
    if (atomic_load_explicit(&ring->shared->opened, memory_order_acquire) != ring->calls)
        return false;
    ring->plan = ring->shared->plan;
    return true;
}
