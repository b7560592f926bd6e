#include "engine/ring/ring.h"

#include "engine/aux/aux.h"
#include "engine/mem.h"
#include "engine/ring/ring_core.h"
#include "mpi/wait.h"

#include <assert.h>
#include <limits.h>
#include <sched.h>
#include <sys/mman.h>

enum { PROGRESS_EVERY = 64 }; /* turns without anything done between two calls that let MPI make progress */

/* ---- memory ---- */

static size_t head_bytes(int ranks, int nodes)
{
    const size_t bytes = sizeof(struct ring_shared) + (size_t)ranks * sizeof(struct ring_rank) +
                         (size_t)nodes * sizeof(struct ring_span);
    return (bytes + RING_PAGE - 1) / RING_PAGE * RING_PAGE;
}

size_t ring_segment_bytes(int ranks, int nodes, int64_t capacity)
{
    assert(ranks > 0 && nodes > 0 && capacity > 0);
    return head_bytes(ranks, nodes) + (size_t)capacity / 8 + (size_t)capacity;
}

pl_status ring_new(void *memory, int64_t capacity, int rank, int ranks, int nodes, struct ring **ret_ring,
                   struct pl_error *error)
{
    assert(capacity >= RING_CAPACITY_MIN && capacity <= RING_CAPACITY_MAX);
    assert(rank >= 0 && rank < ranks && (uintptr_t)memory % RING_PAGE == 0);
    struct ring *ring = mem_zalloc(1, sizeof *ring);
    if (!ring)
        return pl_fail(error, PL_E_NOMEM, "no memory for collective access");
    ring->shared = memory;
    ring->coverages = (uint64_t *)((char *)memory + head_bytes(ranks, nodes));
    ring->blocks = (char *)ring->coverages + capacity / 8;
    ring->capacity = capacity;
    ring->rank = rank;
    ring->ranks = ranks;
    ring->nodes = nodes;
    ring->spans = (struct ring_span *)&ring->shared->rank[ranks];
    *ret_ring = ring;
    return PL_OK;
}

static void clear_call(struct ring *ring)
{
    typemap_cursor_clear(&ring->file);
    typemap_cursor_clear(&ring->ahead);
    access_memory_clear(&ring->memory);
}

void ring_free(struct ring *ring)
{
    if (!ring)
        return;
    clear_call(ring);
    ring_port_free(ring->port);
    mem_free(ring);
}

/* What is not touched costs nothing, and what is given back is not touched any more. */
int64_t ring_cool(struct ring *ring, int64_t bytes)
{
    struct ring_shared *shared = ring->shared;
    const int64_t kept = bytes > 0 ? bytes / RING_PAGE * RING_PAGE : 0;
    assert(ring->stage == STAGE_NONE);
    if (shared->touched > kept) {
        madvise(ring->blocks + kept, (size_t)(shared->touched - kept), MADV_REMOVE);
        shared->touched = kept;
    }
    return shared->touched;
}

void ring_set_frugal(struct ring *ring)
{
    ring->frugal = true;
}

/* Nobody fills a block of the next call before all have entered it, and so left this one. */
static void ring_leave_frugally(struct ring *ring)
{
    if (atomic_fetch_add(&ring->shared->leaving, 1) < ring->ranks - 1)
        return;
    ring_cool(ring, 0);
    atomic_store(&ring->shared->leaving, 0);
}

/* ---- start ---- */

static void rewind_call(struct ring *ring)
{
    ring->position = ring->request->position;
    ring->end = ring->position + (move_has_failed(ring->move) ? 0 : ring->request->bytes);
    ring->missing = ring->end;
    assert(ring->position >= 0 && ring->position <= ring->end);
    ring->mark_position = ring->position;
    if (ring->file.state)
        typemap_cursor_seek(&ring->file, ring->position);
    if (ring->memory.cursor.state)
        access_memory_seek(&ring->memory, 0);
    ring->stage = STAGE_ENTER;
}

static void ring_take(struct ring *ring, struct pl_error *error)
{
    const struct access_request *request = ring->request;
    if (error->status != PL_OK || (ring->port && ring_port_prepare(ring, error) != PL_OK) || request->bytes == 0)
        return;
    if (ring->nodes > 1 && !request->write && !request->view->contiguous &&
        typemap_cursor_init(&ring->ahead, request->view->filetype, error) != PL_OK)
        return;
    if (access_memory_init(&ring->memory, request->memory, request->buffer, error) == PL_OK &&
        !request->view->contiguous)
        typemap_cursor_init(&ring->file, request->view->filetype, error);
}

static void ring_prepare(struct move *move)
{
    struct ring *ring = move->file->ring;
    assert(ring && ring->stage == STAGE_NONE);
    ring->move = move;
    ring->request = &move->request;
    ring->map = false;
    ring->done = 0;
    ring_take(ring, &move->error);
    rewind_call(ring);
}

/* The call is over for this rank; the file may have the next one. */
static void ring_end(struct ring *ring)
{
    clear_call(ring);
    ring->move = NULL;
    ring->stage = STAGE_NONE;
    if (ring->frugal)
        ring_leave_frugally(ring);
}

/* ---- the steps ---- */

/* Waiting here must not stop MPI: messages of the program may be under way that others wait for. */
static enum step ring_idle(struct ring *ring)
{
    ring->stalled++;
    if (++ring->idle % PROGRESS_EVERY == 0)
        wait_progress(ring->move->file->comm);
    return STEP_PENDING;
}

/* Does another rank run on this core, though there is one for each? The system leaves two that wait for each other
 * together for long, since neither seems to need more. The second of them moves away. */
static void ring_leave_core(struct ring *ring)
{
    const int core = sched_getcpu();
    atomic_store_explicit(&ring->shared->rank[ring->rank].core, core, memory_order_relaxed);
    for (int i = 0; i < ring->rank; i++)
        if (atomic_load_explicit(&ring->shared->rank[i].core, memory_order_relaxed) == core) {
            wait_change_core();
            atomic_store_explicit(&ring->shared->rank[ring->rank].core, sched_getcpu(), memory_order_relaxed);
            return;
        }
}

static void ring_wait(struct move *move)
{
    struct ring *ring = move->file->ring;
    const bool crowded = ring->plan.crowded; /* as it was in the last call, before this one has a plan */
    if (ring->port || move->job.busy) {
        wait_turn(&(struct wait_pace){.idle = UINT_MAX / 2}); /* not a change of the shared memory is waited for */
        return;
    }
    if (!crowded && ring->stage == STAGE_MOVE)
        ring_leave_core(ring);
    wait_bell_listen(&ring->shared->bell, ring->heard, crowded, move->file->comm);
}

int64_t ring_least(const struct ring *ring)
{
    int64_t least = RING_END;
    for (int i = 0; i < ring->ranks; i++) {
        const int64_t cursor = atomic_load(ring_cursor(ring, i));
        least = cursor < least ? cursor : least;
    }
    return least;
}

int64_t ring_least_marked(const struct ring *ring)
{
    int64_t least = RING_END;
    for (int i = 0; i < ring->ranks; i++) {
        const int64_t marked = atomic_load(&ring->shared->rank[i].marked[ring->calls % 2]);
        least = marked < least ? marked : least;
    }
    return least;
}

static void ring_publish(struct ring *ring, int64_t block)
{
    assert(block >= atomic_load(ring_cursor(ring, ring->rank)));
    atomic_store(ring_cursor(ring, ring->rank), block);
    atomic_store_explicit(&ring->shared->rank[ring->rank].core, sched_getcpu(), memory_order_relaxed);
    wait_bell_ring(&ring->shared->bell);
}

static bool move_own(struct ring *ring)
{
    const int64_t block = ring_own_block(ring);
    if (block == RING_END)
        return false;
    struct ring_slot *slot = ring_slot_of(ring, block);
    const bool write = ring->request->write;
    if (atomic_load(&slot->tag) != ring_tag(block, write ? RING_OPEN : RING_READY))
        return false;
    if (write)
        ring_fill(ring, slot, block);
    else
        ring_empty(ring, slot, block);
    ring_publish(ring, ring_own_block(ring));
    return true;
}

static bool ring_is_over(const struct ring *ring)
{
    if (ring->move->job.busy || ring_least(ring) != RING_END || (ring->port && !ring_port_idle(ring)))
        return false;
    for (int i = 0; i < ring->plan.slots; i++)
        if (ring_tag_block(atomic_load(&ring->shared->slot[i].tag)) <= ring->plan.last)
            return false;
    return true;
}

static void ring_run_direct(struct move *move)
{
    struct ring *ring = move->file->ring;
    const struct access_options options = file_options(move->file, move_progress(move));
    if (move->file->aux)
        aux_settle(move->file->aux, move_progress(move));
    if (access_run(move->file->storage, ring->request, &options, &ring->done, &move->job_error) != PL_OK)
        ring_tell_failure(ring);
    ring_publish(ring, RING_END);
}

static void ring_begin(struct move *move)
{
    struct ring *ring = move->file->ring;
    assert(ring->stage == STAGE_MEET);
    ring->stage = STAGE_MOVE;
    if (ring->port)
        ring_port_begin(ring);
    if (!ring->plan.direct)
        return;
    if (ring->position == ring->end)
        ring_publish(ring, RING_END);
    else
        move_job_start(move, false, ring_run_direct);
}

static enum step ring_move_step(struct ring *ring)
{
    bool moved;
    do {
        moved = !ring->plan.direct && move_own(ring);
        if (ring->plan.nodes > 1) {
            moved = (!ring->plan.direct && !ring->request->write && ring_mark_ahead(ring)) || moved;
            moved = (ring->port && ring_port_step(ring)) || moved;
        }
        moved = ring_serve(ring, ring_least(ring)) || moved;
        ring->stalled = moved ? 0 : ring->stalled;
    } while (moved);
    if (!ring_is_over(ring))
        return STEP_PENDING;
    ring_tune_left(ring);
    return STEP_DONE;
}

/* All ranks enter, and the last one makes the plan for all. */
static enum step ring_meet(struct move *move)
{
    struct ring *ring = move->file->ring;
    ring->heard = wait_bell_heard(&ring->shared->bell);
    if (ring->stage == STAGE_ENTER) {
        ring_enter(ring);
        ring->stage = STAGE_MEET;
    }
    if (!ring_opened(ring))
        return ring_idle(ring);
    move->somebody_late = ring->plan.late;
    move->verdict = ring->plan.failed ? MOVE_VERDICT_FAILED : MOVE_VERDICT_WELL;
    if (ring->plan.failed)
        ring_end(ring);
    return STEP_DONE;
}

/* All is stored or fetched. Another try, or the end. */
static void ring_judge(struct ring *ring, int64_t verdict)
{
    struct move *move = ring->move;
    assert(ring->stage == STAGE_CLOSE && !move->job.busy);
    if (!(verdict & RING_FAILED) && verdict & RING_UNPROVED) {
        assert(!ring->plan.map);
        move->verdict = MOVE_VERDICT_AGAIN;
        ring->map = true;
        rewind_call(ring);
        return;
    }
    move->verdict = verdict & RING_FAILED ? MOVE_VERDICT_FAILED : MOVE_VERDICT_WELL;
    move->done = ring->plan.direct ? ring->done
                                   : (ring->missing < ring->end ? ring->missing : ring->end) - ring->request->position;
    ring_end(ring);
}

static enum step ring_step(struct move *move)
{
    struct ring *ring = move->file->ring;
    int64_t verdict;
    ring->heard = wait_bell_heard(&ring->shared->bell);
    if (ring->stage == STAGE_MOVE) {
        if (ring_move_step(ring) == STEP_PENDING)
            return ring_idle(ring);
        ring->stage = STAGE_CLOSE;
    }
    if (!ring_closed(ring, &verdict))
        return ring_idle(ring);
    ring_judge(ring, verdict);
    return STEP_DONE;
}

const struct move_transport ring_transport = {
    .prepare = ring_prepare,
    .meet = ring_meet,
    .begin = ring_begin,
    .step = ring_step,
    .wait = ring_wait,
};
