/* From positions to displacements and back, and the cursor. Nothing here recurses or depends on the amount of data. */
#include "engine/mem.h"
#include "engine/typemap/typemap_node.h"

#include <assert.h>

static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b < 0 ? INT64_MIN : INT64_MAX;
}

/* Displacement of the first byte of a copy. */
static int64_t copy_at(const struct typemap *map, int64_t copy)
{
    int64_t shift;
    if (__builtin_mul_overflow(copy, map->shape.extent, &shift))
        shift = map->shape.extent < 0 ? INT64_MIN : INT64_MAX;
    return add_clamped(map->first, shift);
}

int64_t typemap_displacement(const struct typemap *map, int64_t position)
{
    assert(map->shape.size > 0 && position >= 0);
    int64_t rest = position % map->shape.size, at = 0;
    const struct typemap_node *node = map->node;
    while (node) {
        const int64_t i = typemap_node_find(node, rest);
        rest -= typemap_node_before(node, i);
        at += typemap_node_place(node, i);
        node = typemap_node_child(node, i);
    }
    return add_clamped(copy_at(map, position / map->shape.size), at + rest);
}

/* The last child that begins before `at`, which lies behind the node's first byte. Of a monotone node. */
static int64_t typemap_walk_find_place(const struct typemap_node *node, int64_t at)
{
    if (!node->pieces)
        return typemap_min(at / node->stride, node->count - 1);
    int64_t low = 0, high = node->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (node->pieces[middle].place < at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t typemap_position(const struct typemap *map, int64_t displacement)
{
    assert(map->shape.size > 0 && map->shape.monotone);
    int64_t at;
    if (displacement <= map->first)
        return 0;
    if (__builtin_sub_overflow(displacement, map->first, &at))
        return INT64_MAX;
    /* Monotone: a copy's data ends before the next one's begins, so that extent ≥ size and nothing overflows. */
    int64_t position = at / map->shape.extent * map->shape.size, size = map->shape.size;
    const struct typemap_node *node = map->node;
    at %= map->shape.extent;
    while (node && at > 0 && at < node->sum.end) {
        const int64_t i = typemap_walk_find_place(node, at);
        position += typemap_node_before(node, i);
        at -= typemap_node_place(node, i);
        size = typemap_node_length(node, i);
        node = typemap_node_child(node, i);
    }
    return position + typemap_min(at, size); /* in dense bytes, or behind all of a node's */
}

/* ---- The cursor -------------------------------------------------------------------------------------------------- */

struct frame {
    const struct typemap_node *node;
    int64_t index; /* the child that the walk is in */
    int64_t at;    /* displacement of the node's first byte, relative to the copy's */
};

/* The walk stands inside a run of dense bytes; the frames lead to it from the root. */
struct cursor_state {
    int64_t even_count; /* pieces of one copy, where all pieces of all copies are equal and equally far apart; else 0 */
    int64_t even_length, even_stride;
    int64_t copy, copy_at;
    int64_t run_at, run_left; /* relative to the copy's first byte */
    int64_t depth;
    struct frame frames[];
};

/* Down to the dense bytes at `rest` of a node; `size` is the size where there is no node. */
static void typemap_walk_descend(struct cursor_state *state, const struct typemap_node *node, int64_t at, int64_t size,
                                 int64_t rest)
{
    while (node) {
        const int64_t i = rest ? typemap_node_find(node, rest) : 0;
        state->frames[state->depth++] = (struct frame){node, i, at};
        rest -= typemap_node_before(node, i);
        at += typemap_node_place(node, i);
        size = typemap_node_length(node, i);
        node = typemap_node_child(node, i);
    }
    state->run_at = at + rest;
    state->run_left = size - rest;
}

static void enter_copy(struct cursor_state *state, const struct typemap *map, int64_t copy, int64_t rest)
{
    state->copy = copy;
    state->copy_at = copy_at(map, copy);
    state->depth = 0;
    typemap_walk_descend(state, map->node, 0, map->shape.size, rest);
}

/* To the next run: that of the nearest node upwards that has one more child, or the next copy's first. */
static void typemap_walk_next_run(struct cursor_state *state, const struct typemap *map)
{
    while (state->depth > 0) {
        struct frame *top = &state->frames[state->depth - 1];
        if (++top->index < top->node->count) {
            typemap_walk_descend(state, typemap_node_child(top->node, top->index),
                                 top->at + typemap_node_place(top->node, top->index),
                                 typemap_node_length(top->node, top->index), 0);
            return;
        }
        state->depth--;
    }
    enter_copy(state, map, state->copy + 1, 0);
}

/* One piece with a gap behind it, or a vector whose copies go on in step. */
static void find_even(struct cursor_state *state, const struct typemap *map)
{
    const struct typemap_node *node = map->node;
    int64_t step;
    state->even_count = 0;
    if (!node) {
        state->even_count = 1;
        state->even_length = map->shape.size;
        state->even_stride = map->shape.extent;
    } else if (!node->pieces && !node->child && !__builtin_mul_overflow(node->count, node->stride, &step) &&
               step == map->shape.extent) {
        state->even_count = node->count;
        state->even_length = node->unit;
        state->even_stride = node->stride;
    }
}

pl_status typemap_cursor_init(struct typemap_cursor *cursor, const struct typemap *map, struct pl_error *error)
{
    const int64_t height = map->node ? map->node->sum.height : 0;
    struct cursor_state *state = mem_alloc(sizeof *state + (size_t)height * sizeof state->frames[0]);
    if (!state)
        return typemap_no_memory(error);
    *cursor = (struct typemap_cursor){.map = map, .state = state};
    find_even(state, map);
    enter_copy(state, map, 0, 0);
    assert(state->depth <= height);
    return PL_OK;
}

void typemap_cursor_clear(struct typemap_cursor *cursor)
{
    mem_free(cursor->state);
    *cursor = (struct typemap_cursor){0};
}

void typemap_cursor_seek(struct typemap_cursor *cursor, int64_t position)
{
    const int64_t size = cursor->map->shape.size;
    assert(position >= 0);
    if (position == cursor->position)
        return;
    cursor->position = position;
    if (size > 0)
        enter_copy(cursor->state, cursor->map, position / size, position % size);
}

/* Does the current run begin at `end`? A displacement that 64 bits do not hold touches nothing. */
static bool typemap_walk_touches(const struct cursor_state *state, int64_t begin, int64_t length)
{
    int64_t end, run;
    return !__builtin_add_overflow(begin, length, &end) &&
           !__builtin_add_overflow(state->copy_at, state->run_at, &run) && run == end;
}

int64_t typemap_cursor_next(struct typemap_cursor *cursor, int64_t limit, int64_t *ret_displacement)
{
    const struct typemap *map = cursor->map;
    struct cursor_state *state = cursor->state;
    assert(limit > 0);
    if (map->shape.size == 0) {
        *ret_displacement = 0;
        return 0;
    }
    limit = typemap_min(limit, INT64_MAX - cursor->position);
    if (map->shape.tiles) { /* endless: there is no run to look for, and none would end */
        *ret_displacement = add_clamped(map->first, cursor->position);
        cursor->position += limit;
        return limit;
    }
    if (state->run_left == 0)
        typemap_walk_next_run(state, map);
    const int64_t begin = add_clamped(state->copy_at, state->run_at);
    int64_t length = 0;
    do {
        const int64_t take = typemap_min(state->run_left, limit - length);
        state->run_at += take;
        state->run_left -= take;
        length += take;
        if (length == limit)
            break;
        typemap_walk_next_run(state, map);
    } while (typemap_walk_touches(state, begin, length));
    cursor->position += length;
    *ret_displacement = begin;
    return length;
}

/* Whole pieces of an even map, across copies. Returns how many; 0: none, or 64 bits do not hold their places. */
static int64_t run_even(struct cursor_state *state, const struct typemap *map, int64_t limit,
                        struct typemap_run *ret_run)
{
    const int64_t length = state->even_length, n = limit / length;
    if (n == 0 || state->run_left != length)
        return 0;
    const int64_t index = state->depth > 0 ? state->frames[0].index : 0;
    const int64_t copies = (index + n) / state->even_count, rest = (index + n) % state->even_count;
    int64_t shift, end;
    if (__builtin_mul_overflow(state->copy + copies + 1, map->shape.extent, &shift) ||
        __builtin_add_overflow(map->first, shift, &end))
        return 0;
    *ret_run = (struct typemap_run){state->copy_at + state->run_at, length, state->even_stride, n};
    state->copy += copies;
    state->copy_at = end - map->shape.extent;
    state->run_at = rest * state->even_stride;
    if (state->depth > 0)
        state->frames[0].index = rest;
    return n;
}

/* Whole pieces of the innermost node but its last, which may go on in what follows. Returns how many. */
static int64_t run_node(struct cursor_state *state, int64_t limit, struct typemap_run *ret_run)
{
    struct frame *top = &state->frames[state->depth - 1];
    const struct typemap_node *node = top->node;
    assert(node);                                      /* a map without one is even */
    if (node->pieces || state->run_left != node->unit) /* innermost: its children are dense */
        return 0;
    const int64_t n = typemap_min(node->count - 1 - top->index, limit / node->unit);
    *ret_run = (struct typemap_run){add_clamped(state->copy_at, state->run_at), node->unit, node->stride, n};
    top->index += n;
    state->run_at += n * node->stride;
    return n;
}

/* The last piece of a node belongs to the run of those before it, unless something touches its end. */
static void run_extend(struct typemap_cursor *cursor, int64_t limit, struct typemap_run *run)
{
    const struct cursor_state *state = cursor->state;
    const struct frame *top = &state->frames[state->depth - 1];
    const int64_t position = cursor->position;
    int64_t displacement;
    if (top->index < top->node->count - 1 || limit < run->length)
        return;
    if (typemap_cursor_next(cursor, limit, &displacement) == run->length)
        run->count++;
    else
        typemap_cursor_seek(cursor, position);
}

int64_t typemap_cursor_run(struct typemap_cursor *cursor, int64_t limit, struct typemap_run *ret_run)
{
    assert(limit > 0);
    const struct typemap *map = cursor->map;
    struct cursor_state *state = cursor->state;
    const int64_t room = typemap_min(limit, INT64_MAX - cursor->position);
    int64_t n = 0;
    if (map->shape.size > 0 && !map->shape.tiles) {
        if (state->run_left == 0)
            typemap_walk_next_run(state, map);
        n = state->even_count > 0 ? run_even(state, map, room, ret_run) : run_node(state, room, ret_run);
    }
    if (n == 0) { /* less than a piece, or one that nothing like it follows */
        ret_run->length = ret_run->stride = typemap_cursor_next(cursor, limit, &ret_run->displacement);
        ret_run->count = ret_run->length > 0;
        return ret_run->length;
    }
    cursor->position += n * ret_run->length;
    if (state->even_count == 0)
        run_extend(cursor, room - n * ret_run->length, ret_run);
    return ret_run->count * ret_run->length;
}
