#include "trace/trace_build_core.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

enum { BLOCK_BYTES = 64 << 10 };

struct block {
    struct block *next;
    size_t used, room;
    max_align_t data[];
};

void *trace_build_memory(struct trace_tree *tree, size_t count, size_t bytes)
{
    struct block *block = tree->owner;
    size_t needed;
    if (__builtin_mul_overflow(count, bytes, &needed) || needed > SIZE_MAX / 2)
        return NULL;
    needed = (needed + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!block || block->room - block->used < needed) {
        const size_t room = needed > BLOCK_BYTES ? needed : BLOCK_BYTES;
        if (!(block = calloc(1, sizeof *block + room)))
            return NULL;
        block->room = room;
        block->next = tree->owner;
        tree->owner = block;
    }
    void *memory = (char *)block->data + block->used;
    block->used += needed;
    return memory;
}

char *trace_build_text(struct trace_tree *tree, const char *text, size_t length)
{
    char *copy = trace_build_memory(tree, length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void trace_tree_clear(struct trace_tree *tree)
{
    for (struct block *block = tree->owner, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(tree->bytes);
    *tree = (struct trace_tree){0};
}

/* ---- looking at records ---- */

pl_status build_damaged(struct build *build, const char *what)
{
    return pl_fail(build->error, PL_E_FORMAT, "it is damaged: %s cannot be right", what);
}

pl_status build_no_memory(struct build *build)
{
    return pl_fail(build->error, PL_E_NOMEM, "not enough memory for the trace");
}

void *build_memory(struct build *build, size_t count, size_t bytes)
{
    const size_t file = build->records->count * sizeof(uint64_t), most = BUILD_MEMORY_MAX + BUILD_MEMORY_EACH * file;
    if (count > (most - build->memory) / bytes) {
        pl_fail(build->error, PL_E_FORMAT,
                "its %zu bytes stand for more than %zu MB in memory: given up after %" PRId64 " calls", file,
                most >> 20, build->tree->calls);
        return NULL;
    }
    build->memory += count * bytes;
    void *memory = trace_build_memory(build->tree, count, bytes);
    if (!memory)
        build_no_memory(build);
    return memory;
}

const void *build_at(struct build *build, trace_ref ref, size_t bytes)
{
    const size_t count = build->records->count;
    if (ref != 0 && ref < count && (bytes + 7) / 8 <= count - ref)
        return build->records->words + ref;
    build_damaged(build, "the place of a record");
    return NULL;
}

const char *build_text(struct build *build, trace_ref ref)
{
    const char *text = build_at(build, ref, 1);
    if (!text)
        return NULL;
    const size_t length = strnlen(text, (build->records->count - ref) * 8);
    if (length == (build->records->count - ref) * 8) {
        build_damaged(build, "a text");
        return NULL;
    }
    return text;
}

/* Chains that come back to themselves end here. */
static bool count_visit(struct build *build)
{
    if (build->visited++ < build->records->count + BUILD_AGAIN)
        return true;
    build_damaged(build, "a chain without end");
    return false;
}

/* How many records a chain has: they all begin with the place of the one before. -1: the error is set. */
static int chain_length(struct build *build, trace_ref last)
{
    int count = 0;
    for (trace_ref ref = last; ref; count++) {
        const trace_ref *prev = build_at(build, ref, sizeof *prev);
        if (!prev || !count_visit(build))
            return -1;
        ref = *prev;
    }
    return count;
}

/* ---- files and details ---- */

static pl_status read_file(struct build *build, const struct trace_record_file *record, struct trace_file *file)
{
    file->amode = record->amode;
    file->ranks = record->ranks;
    file->first_rank = record->first_rank;
    file->world_stride = record->world_stride;
    file->world_sequence = record->world_sequence;
    if (!(file->name = build_text(build, record->name)))
        return build->error->status;
    if (!record->members)
        return PL_OK;
    if (record->ranks < 0)
        return build_damaged(build, "the ranks of a file");
    const int32_t *members = build_at(build, record->members, (size_t)record->ranks * sizeof *members);
    int *copy = members ? build_memory(build, (size_t)record->ranks, sizeof *copy) : NULL;
    if (!copy)
        return build->error->status;
    for (int i = 0; i < record->ranks; i++)
        copy[i] = members[i];
    file->members = copy;
    return PL_OK;
}

static pl_status read_files(struct build *build)
{
    const int count = chain_length(build, build->records->control->files);
    struct trace_file *files = count >= 0 ? build_memory(build, (size_t)count, sizeof *files) : NULL;
    if (!files)
        return build->error->status;
    for (trace_ref ref = build->records->control->files; ref;) {
        const struct trace_record_file *record = build_at(build, ref, sizeof *record);
        if (!record)
            return build->error->status;
        if (record->number < 0 || record->number >= count)
            return build_damaged(build, "the number of a file");
        const pl_status status = read_file(build, record, &files[record->number]);
        if (status != PL_OK)
            return status;
        ref = record->prev;
    }
    for (int i = 0; i < count; i++)
        if (!files[i].name)
            return build_damaged(build, "the list of files");
    build->tree->files = files;
    build->tree->file_count = count;
    return PL_OK;
}

static pl_status read_details(struct build *build)
{
    int i = chain_length(build, build->records->control->details);
    struct trace_detail *details = i >= 0 ? build_memory(build, (size_t)i, sizeof *details) : NULL;
    if (!details)
        return build->error->status;
    build->tree->details = details;
    build->tree->detail_count = build->detail_room = i;
    for (trace_ref ref = build->records->control->details; ref;) {
        const struct trace_record_detail *record = build_at(build, ref, sizeof *record);
        if (!record || !(details[--i].text = build_text(build, record->text)))
            return build->error->status;
        ref = record->prev;
    }
    return PL_OK;
}

/* ---- nodes ---- */

static pl_status add_node(struct build *build, const struct trace_node *node)
{
    if (!count_visit(build))
        return build->error->status;
    if (build->node_count == build->node_room) {
        const int room = build->node_room ? 2 * build->node_room : 64;
        struct trace_node *grown = realloc(build->nodes, (size_t)room * sizeof *grown);
        if (!grown)
            return build_no_memory(build);
        build->nodes = grown;
        build->node_room = room;
    }
    build->nodes[build->node_count++] = *node;
    return PL_OK;
}

static const struct trace_record_loop *loop_at(struct build *build, trace_ref ref)
{
    const struct trace_record_loop *loop = build_at(build, ref, sizeof *loop);
    if (!loop)
        return NULL;
    if (loop->per_turn > 0 && loop->matched >= 0 && loop->body_count > 0 && loop->body_count < build->records->count)
        return loop;
    build_damaged(build, "a loop");
    return NULL;
}

static bool is_loop(struct build *build, trace_ref ref)
{
    const struct trace_record_node *node = build_at(build, ref, sizeof *node);
    return node && node->kind == TRACE_RECORD_LOOP;
}

/* The nodes of a body in the order of time; freed with the tree. */
static trace_ref *body_of(struct build *build, const struct trace_record_loop *loop)
{
    trace_ref *nodes = build_memory(build, loop->body_count, sizeof *nodes);
    trace_ref ref = loop->body;
    for (uint32_t i = loop->body_count; nodes && i > 0; i--) {
        const struct trace_record_node *node = build_at(build, ref, sizeof *node);
        if (!node || !count_visit(build))
            return NULL;
        nodes[i - 1] = ref;
        ref = node->prev;
    }
    return nodes;
}

static pl_status build_node(struct build *build, trace_ref ref, const struct build_place *place,
                            struct trace_node *ret_node);

static pl_status build_loop(struct build *build, trace_ref ref, int64_t turns, const struct build_place *place,
                            struct trace_node *ret_node)
{
    const struct trace_record_loop *loop = loop_at(build, ref);
    const trace_ref *nodes = loop ? body_of(build, loop) : NULL;
    struct build_place inner = *place;
    if (!nodes)
        return build->error->status;
    if (place->depth == BUILD_LEVELS_MAX || turns < 1)
        return build_damaged(build, "the loops inside of each other");
    inner.turns[inner.depth++] = turns;
    struct trace_node *body = build_memory(build, loop->body_count, sizeof *body);
    if (!body)
        return build->error->status;
    for (uint32_t i = 0; i < loop->body_count; i++) {
        const pl_status status = build_node(build, nodes[i], &inner, &body[i]);
        if (status != PL_OK)
            return status;
    }
    *ret_node = (struct trace_node){.kind = TRACE_NODE_LOOP,
                                    .turns = turns,
                                    .body = body,
                                    .body_count = (int)loop->body_count,
                                    .file = -1,
                                    .detail = -1,
                                    .bytes = -1,
                                    .offset = -1};
    return PL_OK;
}

static pl_status build_node(struct build *build, trace_ref ref, const struct build_place *place,
                            struct trace_node *ret_node)
{
    if (is_loop(build, ref)) {
        const struct trace_record_loop *loop = loop_at(build, ref);
        return loop ? build_loop(build, ref, loop->matched / loop->per_turn, place, ret_node) : build->error->status;
    }
    const struct trace_record_leaf *leaf = build_at(build, ref, sizeof *leaf);
    struct build_values values = {0};
    int64_t count = 1;
    if (!leaf)
        return build->error->status;
    for (int i = 0; i < place->depth && leaf->list; i++)
        if (!checked_mul(count, place->turns[i], &count))
            return build_damaged(build, "a loop");
    if (leaf->list && build_list(build, leaf, count, &values) != PL_OK)
        return build->error->status;
    return build_leaf(build, ref, place, values.values, ret_node);
}

static pl_status add_built(struct build *build, trace_ref ref, const struct build_place *place)
{
    struct trace_node node;
    const pl_status status = build_node(build, ref, place, &node);
    return status == PL_OK ? add_node(build, &node) : status;
}

/* The loop stands in the turn that is told by `place`, and `events` of it were done. */
static pl_status add_partial(struct build *build, trace_ref ref, const struct build_place *place, int64_t events)
{
    const struct trace_record_loop *loop = loop_at(build, ref);
    const trace_ref *nodes = loop ? body_of(build, loop) : NULL;
    if (!nodes)
        return build->error->status;
    for (uint32_t i = 0; events > 0; i++) {
        if (i == loop->body_count)
            return build_damaged(build, "a loop");
        const struct trace_record_loop *inner = is_loop(build, nodes[i]) ? loop_at(build, nodes[i]) : NULL;
        const int64_t whole = inner ? inner->matched : 1;
        pl_status status = PL_OK;
        if (events >= whole) {
            status = add_built(build, nodes[i], place);
        } else if (inner) {
            struct trace_node node;
            struct build_place part = *place;
            const int64_t turns = events / inner->per_turn;
            if (part.fixed_count == BUILD_LEVELS_MAX)
                return build_damaged(build, "the loops inside of each other");
            memmove(part.fixed + 1, part.fixed, (size_t)part.fixed_count++ * sizeof part.fixed[0]);
            part.fixed[0] = turns;
            if (turns > 0 && (status = build_loop(build, nodes[i], turns, place, &node)) == PL_OK)
                status = add_node(build, &node);
            return status == PL_OK ? add_partial(build, nodes[i], &part, events % inner->per_turn) : status;
        } else {
            return build_damaged(build, "a loop");
        }
        if (status != PL_OK)
            return status;
        events -= whole;
    }
    return PL_OK;
}

/* All values of a listed leaf: they are asked for one by one, so they are kept. */
static const struct build_values *list_of(struct build *build, trace_ref ref)
{
    for (int i = 0; i < build->list_count; i++) {
        const int at = (build->list_last + i) % build->list_count;
        if (build->lists[at].leaf == ref) {
            build->list_last = at;
            return &build->lists[at];
        }
    }
    const struct trace_record_leaf *leaf = build_at(build, ref, sizeof *leaf);
    struct build_values *lists = leaf ? realloc(build->lists, ((size_t)build->list_count + 1) * sizeof *lists) : NULL;
    if (!lists) {
        if (leaf)
            build_no_memory(build);
        return NULL;
    }
    build->lists = lists;
    if (build_list(build, leaf, 0, &lists[build->list_count]) != PL_OK)
        return NULL;
    lists[build->list_count].leaf = ref;
    build->list_last = build->list_count++;
    return &lists[build->list_last];
}

/* A single call of a listed leaf, the one that came after `passed` others. */
static pl_status add_listed_call(struct build *build, trace_ref ref, int64_t passed)
{
    static const struct build_place alone = {0};
    const struct build_values *list = list_of(build, ref);
    struct trace_node node;
    if (!list)
        return build->error->status;
    if (passed >= list->count)
        return build_damaged(build, "a list that is too short");
    const pl_status status = build_leaf(build, ref, &alone, &list->values[passed], &node);
    return status == PL_OK ? add_node(build, &node) : status;
}

/* The same of a listed loop: its calls one by one, with values that stand in the lists behind those of whole turns.
 * `passed`: turns of all loops around and of this one before these `turns`, as one number of times that a call in this
 * body was made. */
static pl_status add_listed(struct build *build, trace_ref ref, int64_t passed, int64_t turns, int depth,
                            int64_t *events)
{
    const struct trace_record_loop *loop = loop_at(build, ref);
    const trace_ref *nodes = loop ? body_of(build, loop) : NULL;
    if (!nodes)
        return build->error->status;
    pl_status status = PL_OK;
    if (depth == BUILD_LEVELS_MAX)
        status = build_damaged(build, "the loops inside of each other");
    for (int64_t turn = 0; status == PL_OK && turn<turns && * events> 0; turn++, passed++) {
        if (!count_visit(build))
            return build->error->status;
        for (uint32_t i = 0; status == PL_OK && i<loop->body_count && * events> 0; i++) {
            if (!is_loop(build, nodes[i])) {
                status = add_listed_call(build, nodes[i], passed);
                --*events;
                continue;
            }
            const struct trace_record_loop *inner = loop_at(build, nodes[i]);
            const int64_t inner_turns = inner ? inner->matched / inner->per_turn : 0;
            int64_t inner_passed;
            if (!inner)
                return build->error->status;
            if (!checked_mul(passed, inner_turns, &inner_passed))
                return build_damaged(build, "the turns of a loop");
            status = add_listed(build, nodes[i], inner_passed, inner_turns, depth + 1, events);
        }
    }
    return status;
}

static pl_status add_record(struct build *build, trace_ref ref)
{
    const struct build_place outside = {0};
    if (!is_loop(build, ref))
        return add_built(build, ref, &outside);
    const struct trace_record_loop *loop = loop_at(build, ref);
    if (!loop)
        return build->error->status;
    const int64_t turns = loop->matched / loop->per_turn;
    int64_t events = loop->matched % loop->per_turn;
    const pl_status status = turns > 0 ? add_built(build, ref, &outside) : PL_OK;
    if (status != PL_OK || events == 0)
        return status;
    const struct build_place place = {.fixed = {turns}, .fixed_count = 1};
    return loop->node.listed ? add_listed(build, ref, turns, 1, 0, &events) : add_partial(build, ref, &place, events);
}

static pl_status read_chain(struct build *build)
{
    int count = chain_length(build, build->records->control->tail);
    trace_ref *refs = count >= 0 ? calloc((size_t)count + 1, sizeof *refs) : NULL;
    if (!refs)
        return count >= 0 ? build_no_memory(build) : build->error->status;
    trace_ref ref = build->records->control->tail;
    for (int i = count; i > 0; i--) {
        refs[i - 1] = ref;
        ref = ((const struct trace_record_node *)(build->records->words + ref))->prev;
    }
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++)
        status = add_record(build, refs[i]);
    free(refs);
    return status;
}

/* Communication behind the last call. */
static pl_status add_rest(struct build *build)
{
    const struct trace_control *control = build->records->control;
    int64_t events, collectives;
    if (!checked_sub(control->comm_events, build->comm_events, &events) ||
        !checked_sub(control->comm_collectives, build->comm_collectives, &collectives) || events < 0 ||
        collectives < 0 || control->comm_events > BUILD_CALLS_MAX || control->comm_collectives > BUILD_CALLS_MAX ||
        control->comm_begin_ns < -BUILD_TIME_MAX || control->comm_begin_ns > BUILD_TIME_MAX)
        return build_damaged(build, "the count of communication");
    if (events == 0)
        return PL_OK;
    struct trace_node node = {.kind = TRACE_NODE_COMM,
                              .events = events,
                              .collectives = collectives,
                              .file = -1,
                              .detail = -1,
                              .bytes = -1,
                              .offset = -1,
                              .times = {.count = 1}};
    node.times.first_ns = node.times.last_ns = control->comm_begin_ns;
    return add_node(build, &node);
}

pl_status trace_build(const struct trace_records *records, struct trace_tree *ret_tree, struct pl_error *error)
{
    struct build build = {.records = records, .tree = ret_tree, .error = error};
    pl_status status = read_files(&build);
    if (status == PL_OK)
        status = read_details(&build);
    if (status == PL_OK)
        status = read_chain(&build);
    if (status == PL_OK)
        status = add_rest(&build);
    if (status == PL_OK && build.node_count > 0) {
        struct trace_node *nodes = build_memory(&build, (size_t)build.node_count, sizeof *nodes);
        if (nodes)
            memcpy(nodes, build.nodes, (size_t)build.node_count * sizeof *nodes);
        else
            status = error->status;
        ret_tree->nodes = nodes;
        ret_tree->node_count = nodes ? build.node_count : 0;
    }
    free(build.nodes);
    free(build.lists);
    ret_tree->complete = records->control->complete != 0;
    return status;
}
