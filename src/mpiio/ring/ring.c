#include "mpiio/ring/ring.h"

#include "mpi/wait.h"
#include "mpiio/aux/aux.h"
#include "mpiio/mem.h"
#include "mpiio/ring/ring_core.h"

#include <assert.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>

enum { POKE_EVERY = 64 }; /* turns without progress between two pokes of MPI */

/* ---- memory ---- */

static size_t head_bytes(int ranks, int nodes)
{
    const size_t bytes = sizeof(struct ring_shared) + (size_t)ranks * sizeof(struct ring_rank) +
                         (size_t)nodes * sizeof(struct ring_span);
    return (bytes + RING_PAGE - 1) / RING_PAGE * RING_PAGE;
}

size_t ring_segment_bytes(int ranks, int nodes, int64_t capacity)
{
    return head_bytes(ranks, nodes) + (size_t)capacity / 8 + (size_t)capacity;
}

pl_status ring_new(void *memory, int64_t capacity, int rank, int ranks, int nodes, struct ring **ret_ring,
                   struct pl_error *error)
{
    assert(capacity >= RING_CAPACITY_MIN && capacity <= RING_CAPACITY_MAX);
    struct ring *ring = mem_zalloc(1, sizeof *ring);
    if (!ring)
        return pl_fail(error, PL_E_NOMEM, "no memory for collective access");
    ring->shared = memory;
    ring->covers = (uint64_t *)((char *)memory + head_bytes(ranks, nodes));
    ring->blocks = (char *)ring->covers + capacity / 8;
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

/* ---- start ---- */

static void rewind_call(struct ring *ring)
{
    ring->position = ring->request->position;
    ring->end = ring->position + (ring->own.status == PL_OK ? ring->request->bytes : 0);
    ring->missing = ring->end;
    ring->mark_position = ring->position;
    if (ring->file.state)
        typemap_cursor_seek(&ring->file, ring->position);
    if (ring->memory.cursor.state)
        access_memory_seek(&ring->memory, 0);
}

static void prepare(struct ring *ring)
{
    const struct access_request *request = ring->request;
    if (ring->own.status != PL_OK || ring_port_prepare(ring, &ring->own) != PL_OK || request->bytes == 0)
        return;
    if (ring->nodes > 1 && !request->write && !request->view->contiguous &&
        typemap_cursor_init(&ring->ahead, request->view->filetype, &ring->own) != PL_OK)
        return;
    if (access_memory_init(&ring->memory, request->memory, request->buffer, &ring->own) == PL_OK &&
        !request->view->contiguous)
        typemap_cursor_init(&ring->file, request->view->filetype, &ring->own);
}

void ring_start(struct ring *ring, const struct ring_setup *setup, const struct access_request *request,
                const struct pl_error *own, const struct pl_error *late, bool late_heard)
{
    ring->setup = *setup;
    ring->request = request;
    ring->own = *own;
    ring->late = *late;
    ring->late_heard = late_heard;
    ring->told_late = ring->failed = ring->map = ring->busy = false;
    ring->io_error.status = PL_OK;
    ring->done = 0;
    ring->stage = STAGE_ENTER;
    prepare(ring);
    rewind_call(ring);
}

/* ---- the steps ---- */

/* Waiting here must not stop MPI: messages of the program may be under way that others wait for. */
static enum step idle(struct ring *ring)
{
    ring->stalled++;
    if (++ring->idle % POKE_EVERY == 0)
        wait_poke(ring->setup.comm);
    return STEP_PENDING;
}

/* Does another rank run on this core, though there is one for each? The system leaves two that wait for each other
 * together for long, since neither seems to need more. The second of them moves away. */
static void part(struct ring *ring)
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

void ring_wait(struct ring *ring)
{
    const bool crowded = ring->plan.crowded; /* as it was in the last call, before this one has a plan */
    if (ring->stage == STAGE_WORDS || ring->stage == STAGE_LATE || ring->port || ring->busy) {
        wait_turn(&(struct wait_pace){.idle = UINT_MAX / 2}); /* not a change of the shared memory is waited for */
        return;
    }
    if (!crowded && ring->stage == STAGE_MOVE)
        part(ring);
    wait_bell_listen(&ring->shared->bell, ring->heard, crowded, ring->setup.comm);
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

static void publish(struct ring *ring, int64_t block)
{
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
    publish(ring, ring_own_block(ring));
    return true;
}

static bool is_over(const struct ring *ring)
{
    if (ring->busy || ring_least(ring) != RING_END || !ring_port_idle(ring))
        return false;
    for (int i = 0; i < ring->plan.slots; i++)
        if (ring_tag_block(atomic_load(&ring->shared->slot[i].tag)) <= ring->plan.last)
            return false;
    return true;
}

static void run_direct(struct ring *ring, MPI_Comm poke)
{
    ring->setup.manner.poke = poke;
    aux_settle(ring->setup.aux, poke);
    struct pl_error error = {0};
    if (access_run(ring->setup.storage, ring->request, &ring->setup.manner, &ring->done, &error) != PL_OK)
        ring_note(ring, &error);
    publish(ring, RING_END);
}

static void direct_in_thread(struct pool_work *work)
{
    run_direct((struct ring *)((char *)work - offsetof(struct ring, work)), MPI_COMM_NULL);
}

static void start_direct(struct ring *ring)
{
    if (ring->position == ring->end) {
        publish(ring, RING_END);
    } else if (ring->setup.async) {
        ring->busy = true;
        pool_submit(&ring->work, direct_in_thread);
    } else {
        run_direct(ring, ring->setup.comm);
    }
}

static void start_words(struct ring *ring)
{
    agree_start(&ring->agree, ring->setup.comm, ring->setup.rank, &ring->own, NULL, 0);
    ring->failed = true;
    ring->stage = STAGE_WORDS;
}

static void after_meeting(struct ring *ring)
{
    if (ring->plan.failed) {
        start_words(ring);
        return;
    }
    ring->stage = STAGE_MOVE;
    ring_port_begin(ring);
    if (ring->plan.direct)
        start_direct(ring);
}

/* All is stored or fetched. Another try, words about a failure, or the end. */
static void after_moving(struct ring *ring, int64_t verdict)
{
    if (verdict & RING_FAILED) {
        if (ring->own.status == PL_OK)
            ring->own = ring->io_error;
        start_words(ring);
    } else if (verdict & RING_UNPROVED) {
        ring->map = true;
        rewind_call(ring);
        ring->stage = STAGE_ENTER;
    } else if (ring->plan.late) {
        agree_start(&ring->agree, ring->setup.comm, ring->setup.rank, &ring->late, NULL, 0);
        ring->stage = STAGE_LATE;
    } else {
        ring->stage = STAGE_DONE;
    }
}

static enum step move_step(struct ring *ring)
{
    bool moved;
    do {
        moved = !ring->plan.direct && move_own(ring);
        if (ring->plan.nodes > 1) {
            moved = (!ring->plan.direct && !ring->request->write && ring_mark_ahead(ring)) || moved;
            moved = ring_port_step(ring) || moved;
        }
        moved = ring_serve(ring, ring_least(ring)) || moved;
        ring->stalled = moved ? 0 : ring->stalled;
    } while (moved);
    if (!is_over(ring))
        return STEP_PENDING;
    ring_tune_left(ring);
    return STEP_DONE;
}

enum step ring_step(struct ring *ring)
{
    int64_t verdict;
    ring->heard = wait_bell_heard(&ring->shared->bell);
    for (;;) {
        switch (ring->stage) {
        case STAGE_ENTER:
            ring_enter(ring);
            ring->stage = STAGE_MEET;
            break;
        case STAGE_MEET:
            if (!ring_opened(ring))
                return idle(ring);
            after_meeting(ring);
            break;
        case STAGE_MOVE:
            if (move_step(ring) == STEP_PENDING)
                return idle(ring);
            ring->stage = STAGE_CLOSE;
            break;
        case STAGE_CLOSE:
            if (!ring_closed(ring, &verdict))
                return idle(ring);
            after_moving(ring, verdict);
            break;
        case STAGE_WORDS:
        case STAGE_LATE:
            if (agree_step(&ring->agree) == STEP_PENDING)
                return STEP_PENDING;
            ring->told_late = ring->stage == STAGE_LATE;
            ring->stage = STAGE_DONE;
            break;
        case STAGE_DONE:
            clear_call(ring);
            return STEP_DONE;
        }
    }
}

/* ---- the outcome ---- */

pl_status ring_result(struct ring *ring, int64_t *ret_done, struct pl_error *error)
{
    *ret_done = 0;
    if (ring->failed)
        return agree_result(&ring->agree, error);
    *ret_done = ring->plan.direct ? ring->done
                                  : (ring->missing < ring->end ? ring->missing : ring->end) - ring->request->position;
    if (!ring->told_late || (ring->late.status != PL_OK && ring->late_heard))
        return PL_OK;
    return agree_result(&ring->agree, error);
}

struct pl_error ring_told_late(const struct ring *ring)
{
    return ring->told_late ? ring->late : (struct pl_error){.status = PL_OK};
}
