/* Blocks and the file: whoever sees that a block is complete writes it; whoever needs one first reads it. And the
 * pieces of a rank, between its memory and the blocks. */
#include "engine/coverage/coverage.h"
#include "engine/ring/ring_core.h"

#include <assert.h>
#include <string.h>

void ring_tell_failure(struct ring *ring)
{
    atomic_store_explicit(&ring->shared->failed, true, memory_order_relaxed);
}

void ring_note(struct ring *ring, const struct pl_error *error)
{
    move_note(ring->move, error);
    ring_tell_failure(ring);
}

/* ---- writing ---- */

/* Everything about the old one is stored before. */
void ring_turn(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    assert(atomic_load_explicit(&slot->tag, memory_order_relaxed) == ring_tag(block, RING_BUSY));
    atomic_store_explicit(&slot->tag, ring_tag(block + ring->plan.slots, RING_OPEN), memory_order_release);
    wait_bell_ring(&ring->shared->bell);
}

static void ring_block_store(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    const int64_t begin = ring_block_begin(ring, block), end = ring_block_end(ring, block);
    char *memory = ring_memory(ring, slot);
    assert(begin < end && end - begin <= ring->plan.block_bytes);
    pl_status status = PL_OK;
    if (ring->plan.map) {
        const int64_t offset = block * ring->plan.block_bytes;
        status = move_store(ring->move, offset, memory, end - offset, ring_coverage(ring, slot));
        memset(ring_coverage(ring, slot), 0, (size_t)(ring->plan.block_bytes / 8));
    } else if (atomic_load_explicit(&slot->fingerprint, memory_order_relaxed) ==
               ring_fingerprint_piece(begin, end - begin)) {
        status = move_store(ring->move, begin, memory + (begin - block * ring->plan.block_bytes), end - begin, NULL);
    } else {
        atomic_store_explicit(&ring->shared->unproved, true, memory_order_relaxed);
    }
    if (status != PL_OK)
        ring_tell_failure(ring);
    atomic_store_explicit(&slot->fingerprint, 0, memory_order_relaxed);
    atomic_store(&ring->shared->writing, false);
    ring_turn(ring, slot, block); /* it rings the bell for both */
}

/* ---- reading ---- */

static void ring_block_fetch(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    const int64_t begin = ring_block_begin(ring, block), end = ring_block_end(ring, block);
    char *memory = ring_memory(ring, slot) + (begin - block * ring->plan.block_bytes);
    if (move_load(ring->move, begin, memory, end - begin, &slot->valid) != PL_OK)
        ring_tell_failure(ring);
    atomic_store(&slot->tag, ring_tag(block, RING_READY));
    wait_bell_ring(&ring->shared->bell);
}

/* ---- both ---- */

static void ring_block_access(struct move *move)
{
    struct ring *ring = move->file->ring;
    struct ring_slot *slot = ring->working;
    const int64_t block = ring_tag_block(atomic_load_explicit(&slot->tag, memory_order_relaxed));
    assert(atomic_load_explicit(&slot->tag, memory_order_relaxed) == ring_tag(block, RING_BUSY));
    if (ring->request->write)
        ring_block_store(ring, slot, block);
    else
        ring_block_fetch(ring, slot, block);
}

/* An aggregator has other nodes to serve meanwhile. */
static void start_block(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    ring->working = slot;
    move_job_start(ring->move,
                   ring->port && move_job_pays(ring->move, ring_block_end(ring, block) - ring_block_begin(ring, block)),
                   ring_block_access);
}

bool ring_claim(struct ring_slot *slot, int64_t block)
{
    assert(block >= 0);
    int64_t tag = ring_tag(block, RING_OPEN);
    return atomic_compare_exchange_strong(&slot->tag, &tag, ring_tag(block, RING_BUSY));
}

/* A block is best left to the rank that had the last one in its place: the memory is in the cache of its core. Not
 * where ranks share cores, and not for ever: that rank may be kept from running. */
static bool ring_block_is_own(const struct ring *ring, int64_t block)
{
    enum { PATIENCE = 30 };
    const int aggregators = ring->plan.aggregators;
    if (ring->rank >= aggregators)
        return false;
    return block % aggregators == ring->rank || ring->stalled > PATIENCE || ring->plan.crowded;
}

/* Several nodes: may this node store the block, or give its place away? Others may still have to do with it. */
static bool ring_block_is_settled(const struct ring *ring, const struct ring_slot *slot, int64_t block)
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
static bool ring_block_wanted(const struct ring *ring, int64_t block)
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
        return ring_block_is_settled(ring, slot, block);
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
    return ring_block_is_own(ring, block) && ring_block_is_settled(ring, slot, block) ? DUTY_ACCESS : DUTY_NONE;
}

static enum duty read_duty(const struct ring *ring, const struct ring_slot *slot, int64_t tag, int64_t least)
{
    const int64_t block = ring_tag_block(tag);
    if (tag == ring_tag(block, RING_BUSY))
        return DUTY_NONE;
    if (is_read(ring, slot, tag, least))
        return DUTY_PASS;
    return tag == ring_tag(block, RING_OPEN) && ring_role(ring, block) == ROLE_MINE && ring_block_is_own(ring, block) &&
                   ring_block_wanted(ring, block)
               ? DUTY_ACCESS
               : DUTY_NONE;
}

/* Passes by what can be passed by; NULL, or the lowest block that this rank may access. */
static struct ring_slot *ring_block_look(struct ring *ring, int64_t least, int64_t *ret_block, bool *ret_moved)
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
    struct ring_slot *slot = ring_block_look(ring, least, &block, &moved);
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
    struct ring_slot *slot = ring_block_look(ring, least, &block, &moved);
    if (!slot || !ring_claim(slot, block))
        return moved;
    start_block(ring, slot, block);
    return true;
}

bool ring_serve(struct ring *ring, int64_t least)
{
    if (!move_job_is_over(ring->move))
        return false;
    return ring->request->write ? serve_write(ring, least) : serve_read(ring, least);
}

/* ---- The pieces of a rank ---------------------------------------------------------------------------------------- */

/* A rank's own pieces, between its memory and the blocks. */

int64_t ring_own_block(const struct ring *ring)
{
    if (ring->position >= ring->end)
        return RING_END;
    return view_byte(ring->request->view, ring->position) / ring->plan.block_bytes;
}

/* The next pieces of the file, at most up to `limit` (a position). */
static int64_t ring_move_next_run(struct ring *ring, int64_t limit, struct typemap_run *ret_run)
{
    const struct view *view = ring->request->view;
    const int64_t room = limit - ring->position;
    if (view->contiguous) {
        *ret_run = (struct typemap_run){view->displacement + ring->position, room, room, 1};
        return room;
    }
    const int64_t bytes = typemap_cursor_run(&ring->file, room, ret_run);
    ret_run->displacement += view->displacement;
    return bytes;
}

static uint64_t ring_move_fingerprint_run(const struct typemap_run *run)
{
    uint64_t fingerprint = 0;
    int64_t place = run->displacement;
    for (int64_t i = 0; i < run->count; i++, place += run->stride)
        fingerprint += ring_fingerprint_piece(place, run->length);
    return fingerprint;
}

/* Between strided places of a block and a rank's memory, which may be one piece itself. */
static void ring_move_copy_run(struct ring *ring, char *place, const struct typemap_run *run, int64_t bytes)
{
    struct access_memory *memory = &ring->memory;
    const bool write = ring->request->write;
    if (typemap_shape(ring->request->memory)->tiles) {
        int64_t moved;
        char *own = access_memory_piece(memory, bytes, &moved);
        if (write)
            access_memory_copy(place, run->stride, own, run->length, run->length, run->count);
        else
            access_memory_copy(own, run->length, place, run->stride, run->length, run->count);
        return;
    }
    access_memory_move(memory, place, run, write);
}

/* Where this rank's data in a block end. */
static int64_t position_behind(const struct ring *ring, int64_t byte)
{
    const int64_t position = view_position(ring->request->view, byte);
    return position < ring->end ? position : ring->end;
}

void ring_fill(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    const int64_t limit = position_behind(ring, ring_block_end(ring, block));
    const int64_t begin = block * ring->plan.block_bytes;
    char *memory = ring_memory(ring, slot);
    const bool map = ring->plan.map || ring_role(ring, block) == ROLE_OTHER;
    uint64_t fingerprint = 0, *coverage = ring_coverage(ring, slot);
    while (ring->position < limit) {
        struct typemap_run run;
        const int64_t bytes = ring_move_next_run(ring, limit, &run);
        ring_move_copy_run(ring, memory + (run.displacement - begin), &run, bytes);
        if (map)
            for (int64_t i = 0; i < run.count; i++)
                coverage_add_shared(coverage, run.displacement + i * run.stride - begin, run.length);
        else
            fingerprint += ring_move_fingerprint_run(&run);
        ring->position += bytes;
    }
    assert(ring->position == limit);
    if (!map)
        atomic_fetch_add_explicit(&slot->fingerprint, fingerprint, memory_order_relaxed);
}

/* What the file does not have stays as it is in the rank's memory. */
static void skip_to(struct ring *ring, int64_t position)
{
    assert(position >= ring->position && position <= ring->end);
    if (ring->position < ring->missing)
        ring->missing = ring->position;
    ring->position = position;
    if (!ring->request->view->contiguous)
        typemap_cursor_seek(&ring->file, position);
    access_memory_seek(&ring->memory, position - ring->request->position);
}

void ring_empty(struct ring *ring, struct ring_slot *slot, int64_t block)
{
    const int64_t limit = position_behind(ring, ring_block_end(ring, block));
    const int64_t there = position_behind(ring, ring_block_begin(ring, block) + slot->valid);
    const int64_t begin = block * ring->plan.block_bytes;
    char *memory = ring_memory(ring, slot);
    while (ring->position < there) {
        struct typemap_run run;
        const int64_t bytes = ring_move_next_run(ring, there, &run);
        ring_move_copy_run(ring, memory + (run.displacement - begin), &run, bytes);
        ring->position += bytes;
    }
    if (ring->position < limit)
        skip_to(ring, limit);
    assert(ring->position == limit);
}

/* ---- several nodes: what this rank wants is said before it is fetched ---- */

static void mark_block(struct ring *ring, struct ring_slot *slot, int64_t block, int64_t limit)
{
    assert(limit > ring->mark_position && limit <= ring->end);
    const struct view *view = ring->request->view;
    const int64_t begin = block * ring->plan.block_bytes;
    uint64_t *coverage = ring_coverage(ring, slot);
    if (view->contiguous) {
        coverage_add_shared(coverage, view->displacement + ring->mark_position - begin, limit - ring->mark_position);
        return;
    }
    typemap_cursor_seek(&ring->ahead, ring->mark_position);
    for (int64_t left = limit - ring->mark_position; left > 0;) {
        struct typemap_run run;
        left -= typemap_cursor_run(&ring->ahead, left, &run);
        for (int64_t i = 0; i < run.count; i++)
            coverage_add_shared(coverage, view->displacement + run.displacement + i * run.stride - begin, run.length);
    }
}

bool ring_mark_ahead(struct ring *ring)
{
    if (ring->mark_position >= ring->end)
        return false;
    const int64_t block = view_byte(ring->request->view, ring->mark_position) / ring->plan.block_bytes;
    const int64_t limit = position_behind(ring, ring_block_end(ring, block));
    if (ring_role(ring, block) == ROLE_OTHER) {
        struct ring_slot *slot = ring_slot_of(ring, block);
        if (atomic_load(&slot->tag) != ring_tag(block, RING_OPEN))
            return false;
        mark_block(ring, slot, block, limit);
    }
    ring->mark_position = limit;
    const int64_t next = limit < ring->end ? view_byte(ring->request->view, limit) / ring->plan.block_bytes : RING_END;
    atomic_store(&ring->shared->rank[ring->rank].marked[ring->calls % 2], next);
    wait_bell_ring(&ring->shared->bell);
    return true;
}
