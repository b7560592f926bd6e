/* Values one by one: the steps from each to the next, equal ones in a row as one word. */
#include "trace/trace_fold_core.h"

enum { CHUNK_FIRST = 8, CHUNK_MAX = 512, COUNT_MAX = 65535 };

static const uint64_t STEP_MASK = (UINT64_C(1) << TRACE_RECORD_STEP_BITS) - 1;
static const uint64_t COUNT_ONE = UINT64_C(1) << TRACE_RECORD_STEP_BITS;

static trace_ref new_chunk(struct trace_fold_core *core, uint32_t room)
{
    const trace_ref ref = trace_arena_take(core->arena, sizeof(struct trace_record_chunk) + room * sizeof(uint64_t));
    if (ref)
        ((struct trace_record_chunk *)trace_arena_at(core->arena, ref))->room = room;
    else
        core->failed = true;
    return ref;
}

bool fold_list_start(struct trace_fold_core *core, trace_ref leaf)
{
    const trace_ref chunk = new_chunk(core, CHUNK_FIRST);
    if (!chunk)
        return false;
    fold_leaf(core, leaf)->list = chunk;
    fold_leaf(core, leaf)->node.listed = 1;
    return true;
}

static bool fits(int64_t step)
{
    const int64_t limit = INT64_C(1) << (TRACE_RECORD_STEP_BITS - 1);
    return step >= -limit && step < limit;
}

static void note_word(struct trace_fold_core *core, trace_ref chunk, uint32_t word)
{
    const size_t before = sizeof(struct trace_record_chunk) / sizeof(uint64_t);
    trace_arena_note(core->arena, chunk + (trace_ref)before + word, sizeof(uint64_t));
}

/* The last chunk, with room for two more words. */
static struct trace_record_chunk *chunk_with_room(struct trace_fold_core *core, struct fold_step *end)
{
    struct trace_record_chunk *chunk = trace_arena_at(core->arena, end->chunk);
    if (chunk->used + 2 <= chunk->room)
        return chunk;
    const trace_ref next = new_chunk(core, chunk->room < CHUNK_MAX ? 2 * chunk->room : CHUNK_MAX);
    if (!next)
        return NULL;
    chunk = trace_arena_at(core->arena, end->chunk);
    chunk->next = next;
    trace_arena_note(core->arena, end->chunk, sizeof *chunk);
    end->chunk = next;
    return trace_arena_at(core->arena, next);
}

void fold_list_add(struct trace_fold_core *core, struct fold_step *end, int64_t value)
{
    const int64_t step = wrapping_sub(value, end->last);
    struct trace_record_chunk *chunk = trace_arena_at(core->arena, end->chunk);
    end->last = value;
    if (chunk->used > 0 && fits(step)) {
        uint64_t *word = &chunk->words[chunk->used - 1];
        const bool same = end->plain && (*word & STEP_MASK) == ((uint64_t)step & STEP_MASK);
        if (same && *word >> TRACE_RECORD_STEP_BITS < COUNT_MAX) {
            *word += COUNT_ONE;
            note_word(core, end->chunk, chunk->used - 1);
            return;
        }
    }
    if (!(chunk = chunk_with_room(core, end)))
        return;
    end->plain = fits(step);
    if (end->plain) {
        chunk->words[chunk->used] = ((uint64_t)step & STEP_MASK) | COUNT_ONE;
    } else {
        chunk->words[chunk->used] = 0;
        chunk->words[chunk->used + 1] = (uint64_t)step;
    }
    const uint32_t before = chunk->used;
    chunk->used += end->plain ? 1 : 2;
    for (uint32_t i = before; i < chunk->used; i++)
        note_word(core, end->chunk, i);
    trace_arena_note(core->arena, end->chunk, sizeof *chunk);
}

bool fold_list_in_line(const struct trace_fold_core *core, const struct fold_step *end, int count, int64_t *ret_step)
{
    const struct trace_record_chunk *chunk = trace_arena_at(core->arena, end->chunk);
    if (!end->plain || chunk->used == 0)
        return false;
    const uint64_t word = chunk->words[chunk->used - 1];
    const int unused = 64 - TRACE_RECORD_STEP_BITS;
    *ret_step = (int64_t)(word << unused) >> unused;
    return word >> TRACE_RECORD_STEP_BITS >= (uint64_t)count;
}
