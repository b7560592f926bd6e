/* Blocks and the file: whoever sees that a block is complete writes it; whoever needs one first reads it. */
#include "mpiio/cover/cover_store.h"
#include "mpiio/ring/ring_core.h"
#include "mpiio/ring/ring_print.h"

#include <stddef.h>
#include <string.h>

void ring_note(struct ring *ring, const struct pl_error *error)
{
    if (ring->io_error.status == PL_OK)
        ring->io_error = *error;
    atomic_store_explicit(&ring->shared->failed, true, memory_order_relaxed);
}

/* ---- writing ---- */

/* Everything about the old one is stored before. */
void ring_turn(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    atomic_store_explicit(&slot->tag, ring_tag(block + ring->plan.slots, RING_OPEN), memory_order_release);
    wait_bell_ring(&ring->shared->bell);
}

static void store(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    const struct ring_setup *setup = &ring->setup;
    const struct cover_manner manner = {.storage = setup->storage,
                                        .sieve = setup->sieve,
                                        .lock = setup->lock_writes,
                                        .aux = setup->aux,
                                        .poke = ring->in_thread ? MPI_COMM_NULL : setup->comm};
    const int64_t begin = ring_block_begin(ring, block), end = ring_block_end(ring, block);
    char *memory = ring_memory(ring, slot);
    struct pl_error error = {0};
    if (ring->plan.map) {
        const int64_t offset = block * ring->plan.block_bytes;
        cover_store(&manner, offset, memory, end - offset, ring_cover(ring, slot), &error);
        memset(ring_cover(ring, slot), 0, (size_t)(ring->plan.block_bytes / 8));
    } else if (atomic_load_explicit(&slot->print, memory_order_relaxed) == ring_print_piece(begin, end - begin)) {
        cover_store_all(&manner, begin, memory + (begin - block * ring->plan.block_bytes), end - begin, &error);
    } else {
        atomic_store_explicit(&ring->shared->unproved, true, memory_order_relaxed);
    }
    if (error.status != PL_OK)
        ring_note(ring, &error);
    atomic_store_explicit(&slot->print, 0, memory_order_relaxed);
    atomic_store(&ring->shared->writing, false);
    ring_turn(ring, slot, block); /* it rings the bell for both */
}

/* ---- reading ---- */

static void fetch(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    const int64_t begin = ring_block_begin(ring, block), end = ring_block_end(ring, block);
    char *memory = ring_memory(ring, slot) + (begin - block * ring->plan.block_bytes);
    struct pl_error error = {0};
    const long sleeps = ring->port ? pool_sleeps() : 0;
    slot->valid = 0;
    if (storage_read(ring->setup.storage, begin, memory, end - begin, &slot->valid, &error) != PL_OK)
        ring_note(ring, &error);
    ring->reads_sleep = ring->port && pool_sleeps() > sleeps;
    atomic_store(&slot->tag, ring_tag(block, RING_READY));
    wait_bell_ring(&ring->shared->bell);
}

/* ---- both ---- */

static void do_block(struct ring *ring, struct ring_slot *slot)
{
    const int64_t block = ring_tag_block(atomic_load_explicit(&slot->tag, memory_order_relaxed));
    if (ring->request->write)
        store(ring, slot, block);
    else
        fetch(ring, slot, block);
}

static void do_in_thread(struct pool_work *work)
{
    struct ring *ring = (struct ring *)((char *)work - offsetof(struct ring, work));
    do_block(ring, ring->working);
}

/* An agent has other nodes to serve meanwhile: a thread does what takes longer than to wake it. What is read is waited
 * for: only where the storage is slow. */
static bool pays_in_thread(const struct ring *ring, int64_t block)
{
    enum { THREAD_BYTES = 256 << 10 };
    return ring->port && (ring->request->write || ring->reads_sleep) &&
           ring_block_end(ring, block) - ring_block_begin(ring, block) >= THREAD_BYTES;
}

static void start_block(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    ring->in_thread = ring->setup.async || pays_in_thread(ring, block);
    if (!ring->in_thread) {
        do_block(ring, slot);
        return;
    }
    ring->working = slot;
    ring->busy = true;
    pool_submit(&ring->work, do_in_thread);
}

bool ring_claim(struct ring_slot *slot, int64_t block)
{
    int64_t tag = ring_tag(block, RING_OPEN);
    return atomic_compare_exchange_strong(&slot->tag, &tag, ring_tag(block, RING_BUSY));
}

/* A block is best left to the rank that had the last one in its place: the memory is in the cache of its core. Not
 * where ranks share cores, and not for ever: that rank may be kept from running. */
static bool is_own(const struct ring *ring, int64_t block)
{
    enum { PATIENCE = 30 };
    const int agents = ring->plan.agents;
    if (ring->rank >= agents)
        return false;
    return block % agents == ring->rank || ring->stalled > PATIENCE || ring->plan.crowded;
}

/* Several nodes: may this node store the block, or give its place away? Others may still have to do with it. */
static bool is_settled(const struct ring *ring, const struct ring_slot *slot, int64_t block)
{
    return ring->plan.nodes == 1 || atomic_load(&slot->settled) == block;
}

static bool pass_by(struct ring *ring, struct ring_slot *slot, int64_t tag)
{
    if (!atomic_compare_exchange_strong(&slot->tag, &tag, ring_tag(ring_tag_block(tag) + ring->plan.slots, RING_OPEN)))
        return false;
    wait_bell_ring(&ring->shared->bell);
    return true;
}

/* Does a rank need this block now? Where the data are dense, somebody will. */
static bool wanted(const struct ring *ring, int64_t block)
{
    if (!ring->plan.map)
        return true;
    for (int i = 0; i < ring->ranks; i++)
        if (atomic_load_explicit(ring_cursor(ring, i), memory_order_relaxed) == block)
            return true;
    for (int i = 0; i < ring->plan.nodes; i++)
        if (i != ring->plan.node && block >= ring->spans[i].first && block <= ring->spans[i].last)
            return true;
    return false;
}

/* Are all done with it? */
static bool is_read(const struct ring *ring, const struct ring_slot *slot, int64_t tag, int64_t least)
{
    const int64_t block = ring_tag_block(tag);
    if (block >= least)
        return false;
    switch (ring_role(ring, block)) {
    case ROLE_MINE:
        return is_settled(ring, slot, block);
    case ROLE_OTHER:
        return tag == ring_tag(block, RING_READY);
    case ROLE_NONE:
        break;
    }
    return true;
}

/* What is to be done about a block in its place. */
enum duty { DUTY_NONE, DUTY_PASS, DUTY_ACCESS };

static enum duty write_duty(const struct ring *ring, const struct ring_slot *slot, int64_t tag, int64_t least)
{
    const int64_t block = ring_tag_block(tag);
    const enum ring_role role = ring_role(ring, block);
    if (tag != ring_tag(block, RING_OPEN) || block >= least || role == ROLE_OTHER)
        return DUTY_NONE;
    if (role == ROLE_NONE)
        return DUTY_PASS;
    return is_own(ring, block) && is_settled(ring, slot, block) ? DUTY_ACCESS : DUTY_NONE;
}

static enum duty read_duty(const struct ring *ring, const struct ring_slot *slot, int64_t tag, int64_t least)
{
    const int64_t block = ring_tag_block(tag);
    if (tag == ring_tag(block, RING_BUSY))
        return DUTY_NONE;
    if (is_read(ring, slot, tag, least))
        return DUTY_PASS;
    return tag == ring_tag(block, RING_OPEN) && ring_role(ring, block) == ROLE_MINE && is_own(ring, block) &&
                   wanted(ring, block)
               ? DUTY_ACCESS
               : DUTY_NONE;
}

/* Passes by what can be passed by; NULL, or the lowest block that this rank may access. */
static struct ring_slot *look(struct ring *ring, int64_t least, int64_t *ret_block, bool *ret_moved)
{
    struct ring_slot *found = NULL;
    *ret_block = INT64_MAX;
    *ret_moved = false;
    for (int i = 0; i < ring->plan.slots; i++) {
        struct ring_slot *slot = &ring->shared->slot[i];
        const int64_t tag = atomic_load(&slot->tag), block = ring_tag_block(tag);
        if (block > ring->plan.last)
            continue;
        const enum duty duty = ring->request->write ? write_duty(ring, slot, tag, least)
                                                    : read_duty(ring, slot, tag, least);
        if (duty == DUTY_PASS) {
            *ret_moved = pass_by(ring, slot, tag) || *ret_moved;
        } else if (duty == DUTY_ACCESS && block < *ret_block) {
            *ret_block = block;
            found = slot;
        }
    }
    return found;
}

static bool serve_write(struct ring *ring, int64_t least)
{
    bool moved;
    int64_t block;
    struct ring_slot *slot = look(ring, least, &block, &moved);
    if (!slot || atomic_exchange(&ring->shared->writing, true))
        return moved;
    if (!ring_claim(slot, block)) {
        atomic_store(&ring->shared->writing, false);
        return true; /* things have changed: look again */
    }
    start_block(ring, slot, block);
    return true;
}

static bool serve_read(struct ring *ring, int64_t least)
{
    bool moved;
    int64_t block;
    struct ring_slot *slot = look(ring, least, &block, &moved);
    if (!slot || !ring_claim(slot, block))
        return moved;
    start_block(ring, slot, block);
    return true;
}

bool ring_serve(struct ring *ring, int64_t least)
{
    if (ring->busy) {
        if (!pool_is_done(&ring->work))
            return false;
        ring->busy = false;
    }
    return ring->request->write ? serve_write(ring, least) : serve_read(ring, least);
}
