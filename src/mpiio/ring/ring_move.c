/* A rank's own pieces, between its memory and the blocks. */
#include "mpiio/ring/ring_core.h"
#include "mpiio/ring/ring_print.h"

int64_t ring_own_block(const struct ring *ring)
{
    if (ring->position >= ring->end)
        return RING_END;
    return view_byte(ring->request->view, ring->position) / ring->plan.block_bytes;
}

/* The next pieces of the file, at most up to `limit` (a position). */
static int64_t next_run(struct ring *ring, int64_t limit, struct typemap_run *ret_run)
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

/* Several ranks mark the same words: only the edges of a piece can be shared. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is written through, by atomic operations */
void ring_mark(uint64_t *cover, int64_t begin, int64_t bytes)
{
    const int64_t end = begin + bytes, first = begin / 64, last = (end - 1) / 64;
    const uint64_t head = ~UINT64_C(0) << (begin % 64), tail = ~UINT64_C(0) >> (63 - (end - 1) % 64);
    if (first == last) {
        __atomic_fetch_or(&cover[first], head & tail, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_or(&cover[first], head, __ATOMIC_RELAXED);
    for (int64_t word = first + 1; word < last; word++)
        __atomic_store_n(&cover[word], ~UINT64_C(0), __ATOMIC_RELAXED);
    __atomic_fetch_or(&cover[last], tail, __ATOMIC_RELAXED);
}

static uint64_t print_run(const struct typemap_run *run)
{
    uint64_t print = 0;
    int64_t place = run->displacement;
    for (int64_t i = 0; i < run->count; i++, place += run->stride)
        print += ring_print_piece(place, run->length);
    return print;
}

/* Between strided places of a block and a rank's memory, which may be one piece itself. */
static void copy_run(struct ring *ring, char *place, const struct typemap_run *run, int64_t bytes)
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
    for (int64_t i = 0; i < run->count; i++, place += run->stride)
        if (write)
            access_memory_take(memory, place, run->length);
        else
            access_memory_give(memory, place, run->length);
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
    uint64_t print = 0, *cover = ring_cover(ring, slot);
    while (ring->position < limit) {
        struct typemap_run run;
        const int64_t bytes = next_run(ring, limit, &run);
        copy_run(ring, memory + (run.displacement - begin), &run, bytes);
        if (map)
            for (int64_t i = 0; i < run.count; i++)
                ring_mark(cover, run.displacement + i * run.stride - begin, run.length);
        else
            print += print_run(&run);
        ring->position += bytes;
    }
    if (!map)
        atomic_fetch_add_explicit(&slot->print, print, memory_order_relaxed);
}

/* What the file does not have stays as it is in the rank's memory. */
static void skip_to(struct ring *ring, int64_t position)
{
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
        const int64_t bytes = next_run(ring, there, &run);
        copy_run(ring, memory + (run.displacement - begin), &run, bytes);
        ring->position += bytes;
    }
    if (ring->position < limit)
        skip_to(ring, limit);
}

/* ---- several nodes: what this rank wants is said before it is fetched ---- */

static void mark_block(struct ring *ring, struct ring_slot *slot, int64_t block, int64_t limit)
{
    const struct view *view = ring->request->view;
    const int64_t begin = block * ring->plan.block_bytes;
    uint64_t *cover = ring_cover(ring, slot);
    if (view->contiguous) {
        ring_mark(cover, view->displacement + ring->mark_position - begin, limit - ring->mark_position);
        return;
    }
    typemap_cursor_seek(&ring->ahead, ring->mark_position);
    for (int64_t left = limit - ring->mark_position; left > 0;) {
        struct typemap_run run;
        left -= typemap_cursor_run(&ring->ahead, left, &run);
        for (int64_t i = 0; i < run.count; i++)
            ring_mark(cover, view->displacement + run.displacement + i * run.stride - begin, run.length);
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
