/* The beginning of a call: all ranks bring what they have, and the last one makes the plan. */
#include "base/clock.h"
#include "engine/access/access_memory.h"
#include "engine/ring/ring_core.h"
#include "engine/storage/storage_map.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

/* ---- Which way is faster ----------------------------------------------------------------------------------------- */

/* Which way is faster for a file: through the blocks, or each rank for itself? Found out by trying, and remembered in
 * the shared memory, where the rank that opens a call decides for all. Where there are several nodes, their leaders
 * bring how long the last call took to the meeting that opens the next: all see the same numbers, and decide the same.
 * The choice itself is tune.h's. (Several nodes do not tell each other of maps.) */

static bool ring_may_choose(const struct ring *ring)
{
    return ring->request->write ? ring->move->file->tune_writes : ring->move->file->tune_reads;
}

/* Up to where in the file each rank may go by itself. Small pieces are quick without the ring only by copies through a
 * map of the file, and inside of it. */
static int64_t direct_end(const struct ring *ring)
{
    struct pl_error error;
    int64_t size;
    if (!ring_may_choose(ring))
        return 0;
    if (!(ring->request->write ? ring->move->file->small_writes : ring->move->file->small_reads))
        return INT64_MAX;
    const bool maps = storage_map_reach(ring->move->file->storage, ring->request->write) > 0;
    return maps && storage_size(ring->move->file->storage, &size, &error) == PL_OK ? size : 0;
}

void ring_tune_report(const struct ring *ring, struct ring_report *ret_report)
{
    const struct ring_tune *tune = &ring->shared->tune;
    *ret_report = (struct ring_report){0};
    for (int i = 0; i < ring->ranks && tune->began_ns > 0; i++) {
        const int64_t took_ns = ring->shared->rank[i].left_ns - tune->began_ns;
        ret_report->took_ns = took_ns > ret_report->took_ns ? took_ns : ret_report->took_ns;
    }
    ret_report->direct_end = direct_end(ring);
}

void ring_tune_add(struct ring_report *report, const struct ring_report *more)
{
    report->took_ns = more->took_ns > report->took_ns ? more->took_ns : report->took_ns;
    report->direct_end = more->direct_end < report->direct_end ? more->direct_end : report->direct_end;
}

/* How the last call went. */
static void ring_tune_learn(struct ring_tune *tune, int64_t took_ns)
{
    assert(tune->began_ns == 0 || (tune->bytes > 0 && tune->class < TUNE_CLASSES));
    if (tune->began_ns > 0 && took_ns > 0) /* it may have failed before anybody left */
        tune_note(&tune->record[tune->write][tune->class], tune->way, (double)took_ns / (double)tune->bytes);
    tune->began_ns = 0;
}

enum storage_ground ring_tune_ground(const struct ring *ring, int64_t low, int64_t high)
{
    if (!ring_may_choose(ring) || ring->nodes > 1)
        return STORAGE_NEW;
    return access_map_ground(ring->move->file->storage, ring->request, low, high);
}

static enum storage_ground least_ground(const struct ring *ring)
{
    enum storage_ground least = ring->nodes > 1 ? STORAGE_NEW : STORAGE_HELD;
    for (int i = 0; i < ring->ranks; i++) {
        const struct ring_rank *rank = &ring->shared->rank[i];
        least = rank->bytes > 0 && rank->ground < least ? rank->ground : least;
    }
    return least;
}

bool ring_tune_direct(struct ring *ring, struct ring_plan *plan, int64_t bytes, const struct ring_report *report)
{
    struct ring_tune *tune = &ring->shared->tune;
    ring_tune_learn(tune, report->took_ns);
    if ((plan->high - plan->low) / TUNE_SPARSE > bytes)
        return true;
    if (report->direct_end < plan->high)
        return false;
    tune->class = tune_class(bytes);
    const struct file *file = ring->move->file;
    const bool direct_first = !ring->request->write && file->direct_reads && storage_is_near(file->storage);
    tune->way = tune_choose(&tune->record[ring->request->write][tune->class], least_ground(ring), direct_first);
    plan->tuned = true;
    tune->write = ring->request->write;
    tune->bytes = bytes;
    tune->began_ns = clock_read_ns(CLOCK_MONOTONIC);
    return tune->way != TUNE_AGGREGATE;
}

void ring_tune_left(struct ring *ring)
{
    struct ring_rank *rank = &ring->shared->rank[ring->rank];
    if (!ring->plan.tuned)
        return;
    rank->left_ns = clock_read_ns(CLOCK_MONOTONIC);
    if (!ring->plan.direct && rank->bytes > 0)
        storage_hold_see(ring->move->file->storage, rank->low, rank->high);
}

void ring_explain(const struct ring *ring, bool write, char *ret_text, size_t bytes)
{
    const struct ring_tune *tune = &ring->shared->tune;
    tune_explain(tune->record[write], tune->write == write ? tune->class : 0, ret_text, bytes);
}

/* ---- The meeting ------------------------------------------------------------------------------------------------- */

enum { SLOTS = 4, BLOCK_BYTES = 1 << 20 };

int64_t ring_block_bytes(const struct ring *ring, int *ret_slots)
{
    const struct hint_values *values = &ring->move->file->values;
    int64_t total = values->cb_buffer_size < ring->capacity ? values->cb_buffer_size : ring->capacity;
    total = total > SLOTS * RING_PAGE ? total : SLOTS * RING_PAGE;
    int64_t block = values->cb_block_size > 0     ? values->cb_block_size
                    : total / SLOTS < BLOCK_BYTES ? total / SLOTS
                                                  : BLOCK_BYTES;
    if (values->striping_unit > 0 && values->striping_unit <= total / 2)
        block = block > values->striping_unit ? block / values->striping_unit * values->striping_unit
                                              : values->striping_unit;
    if (ring->nodes > 1 && block > total / SLOTS) /* messages between nodes are as long */
        block = total / SLOTS;
    block = block < ring->capacity / 2 ? block / RING_PAGE * RING_PAGE : ring->capacity / 2;
    block = block > RING_PAGE ? block : RING_PAGE;
    const int64_t slots = total / block;
    *ret_slots = slots < 2 ? 2 : slots > RING_SLOTS_MAX ? RING_SLOTS_MAX : (int)slots;
    assert(block % RING_PAGE == 0 && *ret_slots * block <= ring->capacity);
    return block;
}

/* What ranks and nodes bring together. */
struct sum {
    int64_t low, high, bytes;
    bool failed, late;
};

static void ring_meet_add(struct sum *sum, const struct sum *more)
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
        ring_meet_add(&sum, &(struct sum){rank->low, rank->high, rank->bytes, rank->failed, rank->late});
    }
    return sum;
}

/* Ranks may be bound to cores, each to another one or several to the same. */
static bool ring_meet_is_crowded(const struct ring *ring)
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

static int ring_aggregators(const struct ring *ring)
{
    const int64_t wanted = (ring->move->file->values.cb_nodes + ring->nodes - 1) / ring->nodes;
    return wanted > 0 && wanted < ring->ranks ? (int)wanted : ring->ranks;
}

static void prepare_slots(const struct ring *ring, const struct ring_plan *plan)
{
    const bool maps = plan->nodes > 1 || (plan->map && ring->request->write);
    for (int i = 0; i < plan->slots; i++) {
        struct ring_slot *slot = &ring->shared->slot[i];
        atomic_store_explicit(&slot->fingerprint, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->settled, -1, memory_order_relaxed);
        if (maps && plan->first + i <= plan->last)
            memset(ring->coverages + i * (plan->block_bytes / 64), 0, (size_t)(plan->block_bytes / 8));
        atomic_store_explicit(&slot->tag, ring_tag(plan->first + i, RING_OPEN), memory_order_relaxed);
    }
}

static void open_call(struct ring *ring, const struct sum *sum, const struct ring_report *report, int node)
{
    assert(atomic_load(&ring->shared->entered[ring->calls % 2]) == ring->ranks);
    struct ring_shared *shared = ring->shared;
    struct ring_plan plan = {.low = sum->low,
                             .high = sum->high,
                             .nodes = ring->nodes,
                             .node = node,
                             .aggregators = ring_aggregators(ring),
                             .crowded = ring->calls > 1 ? shared->plan.crowded : ring_meet_is_crowded(ring),
                             .failed = sum->failed,
                             .late = sum->late,
                             .map = ring->map || sum->bytes != sum->high - sum->low};
    plan.block_bytes = ring_block_bytes(ring, &plan.slots);
    assert(plan.aggregators > 0 && plan.aggregators <= ring->ranks);
    assert(sum->bytes == 0 || (sum->low >= 0 && sum->low < sum->high));
    plan.direct = !plan.failed && sum->bytes > 0 && ring_tune_direct(ring, &plan, sum->bytes, report);
    if (sum->bytes > 0) {
        plan.first = plan.low / plan.block_bytes;
        plan.last = (plan.high - 1) / plan.block_bytes;
    }
    if (sum->bytes == 0 || plan.failed || plan.direct)
        plan.last = plan.first - 1;
    const int64_t touched = plan.slots * plan.block_bytes;
    if (plan.last >= plan.first && touched > shared->touched)
        shared->touched = touched;
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
    assert(!ring->meeting);
    const struct sum sum = sum_ranks(ring);
    struct ring_report report;
    ring_tune_report(ring, &report);
    const int64_t mine[RING_SUMMARY] = {sum.low,  sum.high,       sum.bytes,        sum.failed,
                                        sum.late, report.took_ns, report.direct_end};
    ring_port_gather_start(ring->port, mine);
    ring->meeting = true;
}

static void ring_meet_lead(struct ring *ring)
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
        ring_meet_add(&sum, &(struct sum){all[LOW], all[HIGH], all[BYTES], all[FAILURE] != 0, all[LATE] != 0});
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
    if (ring->port && ring_port_leads(ring->port) && atomic_load(&shared->closed) != ring->calls) {
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
    const bool failed = move_has_failed(ring->move);
    rank->bytes = failed ? 0 : request->bytes;
    if (rank->bytes > 0) {
        rank->low = view_byte(request->view, request->position);
        rank->high = view_byte(request->view, request->position + request->bytes - 1) + 1;
        assert(rank->low >= 0 && rank->low < rank->high);
        rank->ground = ring_tune_ground(ring, rank->low, rank->high);
    }
    rank->failed = failed;
    if (ring->calls == 0)
        tell_cores(rank);
    rank->late = file_has_late(ring->move->file);
    int slots;
    const int64_t block_bytes = ring_block_bytes(ring, &slots);
    ring->calls++;
    atomic_store_explicit(&rank->marked[ring->calls % 2], rank->bytes > 0 ? rank->low / block_bytes : RING_END,
                          memory_order_relaxed);
    atomic_store_explicit(ring_cursor(ring, ring->rank), rank->bytes > 0 ? rank->low / block_bytes : RING_END,
                          memory_order_relaxed);
    const int64_t before = atomic_fetch_add(&shared->entered[ring->calls % 2], 1);
    assert(before >= 0 && before < ring->ranks);
    if (ring->nodes == 1 && before == ring->ranks - 1) {
        const struct sum sum = sum_ranks(ring);
        struct ring_report report;
        ring_tune_report(ring, &report);
        open_call(ring, &sum, &report, 0);
    }
}

bool ring_opened(struct ring *ring)
{
    if (ring->port && ring_port_leads(ring->port) && atomic_load(&ring->shared->opened) != ring->calls)
        ring_meet_lead(ring);
    if (atomic_load_explicit(&ring->shared->opened, memory_order_acquire) != ring->calls)
        return false;
    ring->plan = ring->shared->plan;
    assert(ring->plan.nodes == ring->nodes && ring->plan.node < ring->nodes);
    return true;
}
