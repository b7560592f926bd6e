/* make_trace DIR KIND: a folded trace DIR/trace.0 as no tracer would write it. It says that it is not complete, so no
 * hash is looked at. Kinds: good       a loop of three calls self       a listed loop, begun, with a loop in it whose
 * body is itself ring a chain of nodes that comes back to its first one nested     loops inside of each other, more
 * than there may be turns a loop of 2^40 turns of ever other calls: no few loops tell them many       the same with
 * 2^62 turns list       a list that tells of 2^40 values passed     a begun loop whose turns times those around it are
 * beyond 2^63 */
#include "trace/trace_format.h"
#include "trace/trace_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct trace_arena arena;

static void *at(trace_ref ref)
{
    return trace_arena_at(&arena, ref);
}

static trace_ref take(size_t bytes)
{
    const trace_ref ref = trace_arena_take(&arena, bytes);
    if (!ref)
        exit(3);
    return ref;
}

static trace_ref text(const char *word)
{
    const trace_ref ref = take(strlen(word) + 1);
    strcpy(at(ref), word);
    return ref;
}

static trace_ref key(int64_t bytes)
{
    const trace_ref call = take(sizeof(struct trace_record_call)), made = take(sizeof(struct trace_record_key));
    const trace_ref function = text("MPI_File_write_at"), class = text("write");
    *(struct trace_record_call *)at(call) = (struct trace_record_call){.function = function, .class = class};
    *(struct trace_record_key *)at(made) = (struct trace_record_key){
        .call = call, .file = -1, .detail = -1, .bytes = bytes};
    return made;
}

static trace_ref leaf(trace_ref prev, int levels, int64_t bytes)
{
    const trace_ref name = key(bytes), ref = take(sizeof(struct trace_record_leaf) + (size_t)levels * sizeof(int64_t));
    struct trace_record_leaf *made = at(ref);
    made->node = (struct trace_record_node){.prev = prev, .kind = TRACE_RECORD_LEAF, .levels = (uint8_t)levels};
    made->key = name;
    made->count = 1;
    return ref;
}

static trace_ref loop(trace_ref prev, trace_ref body, uint32_t count, int64_t matched, int64_t per_turn)
{
    const trace_ref ref = take(sizeof(struct trace_record_loop));
    *(struct trace_record_loop *)at(ref) = (struct trace_record_loop){
        .node = {.prev = prev, .kind = TRACE_RECORD_LOOP, .levels = 1},
        .body = body,
        .body_count = count,
        .matched = matched,
        .per_turn = per_turn};
    return ref;
}

static trace_ref listed_leaf(uint64_t word)
{
    const trace_ref ref = leaf(0, 0, 8), chunk = take(sizeof(struct trace_record_chunk) + sizeof(uint64_t));
    struct trace_record_chunk *made = at(chunk);
    made->used = made->room = 1;
    made->words[0] = word;
    made->next = chunk; /* and so on for ever */
    ((struct trace_record_leaf *)at(ref))->list = chunk;
    ((struct trace_record_leaf *)at(ref))->node.listed = 1;
    return ref;
}

static trace_ref make(const char *kind)
{
    trace_ref ref = 0, before = 0;
    if (strcmp(kind, "good") == 0)
        return loop(0, leaf(0, 1, 8), 1, 3, 1);
    if (strcmp(kind, "self") == 0) {
        const trace_ref inner = loop(0, 0, 1, 2, 2);
        ((struct trace_record_loop *)at(inner))->body = inner;
        ref = loop(0, inner, 1, 1, 2);
        ((struct trace_record_loop *)at(ref))->node.listed = 1;
    } else if (strcmp(kind, "ring") == 0) {
        ref = leaf(0, 0, 8);
        ((struct trace_record_node *)at(ref))->prev = ref;
    } else if (strcmp(kind, "nested") == 0) {
        ref = leaf(0, 20, 8);
        for (int i = 0; i < 20; i++)
            ref = loop(0, ref, 1, 2, 1);
    } else if (strcmp(kind, "turns") == 0 || strcmp(kind, "many") == 0) {
        enum { CALLS = 200 };
        for (int i = 0; i < CALLS; i++)
            before = leaf(before, 1, i + 1);
        const int64_t turns = strcmp(kind, "turns") == 0 ? INT64_C(1) << 40 : (INT64_C(1) << 62) / CALLS;
        ref = loop(0, before, CALLS, turns * CALLS, CALLS);
    } else if (strcmp(kind, "list") == 0) {
        ref = loop(0, listed_leaf((UINT64_C(65535) << TRACE_RECORD_STEP_BITS) | 8), 1, INT64_C(1) << 40, 1);
        ((struct trace_record_loop *)at(ref))->node.listed = 1;
    } else if (strcmp(kind, "passed") == 0) {
        const trace_ref inner = loop(0, listed_leaf(1), 1, INT64_C(1) << 62, 1);
        ref = loop(0, inner, 1, (INT64_C(1) << 62) + 7, INT64_C(1) << 59);
        ((struct trace_record_loop *)at(ref))->node.listed = 1;
    } else {
        exit(2);
    }
    return ref;
}

int main(int argc, char **argv)
{
    static const char zeros[2 * TRACE_RECORD_PAGE];
    struct text head = {0};
    char path[4096];
    if (argc != 3 || !trace_arena_init(&arena))
        return 2;
    arena.control->order = TRACE_RECORD_ORDER;
    arena.control->tail = make(argv[2]);
    text_add(&head, TRACE_FIRST_LINE_FOLDED);
    const size_t from = head.length;
    text_format(&head, "rank 0\nsize 1\nhost node7\nmpi mpich\nmpiio system\nprogram app\nrecords %d\n",
                TRACE_RECORD_PAGE);
    trace_add_end(&head, from, "head");
    snprintf(path, sizeof path, "%s/trace.0", argv[1]);
    FILE *stream = fopen(path, "w");
    if (!stream || head.failed)
        return 3;
    fwrite(head.data, 1, head.length, stream);
    fwrite(zeros, 1, TRACE_RECORD_PAGE - head.length, stream);
    fwrite(arena.control, 1, sizeof *arena.control, stream);
    fwrite(zeros, 1, TRACE_RECORD_PAGE - sizeof *arena.control, stream);
    fwrite(arena.words, sizeof *arena.words, arena.used, stream);
    text_clear(&head);
    trace_arena_clear(&arena);
    return fclose(stream) == 0 ? 0 : 3;
}
