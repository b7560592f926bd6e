#include "trace/trace_tree.h"

#include "base/array.h"
#include "base/checked.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What records may stand for, so that a small file cannot ask for more than a machine has. */
enum { BUILD_LEVELS_MAX = TRACE_LEVELS_MAX };
#ifdef PIOLET_FUZZ
#define BUILD_MEMORY_MAX ((size_t)1 << 20)
enum { BUILD_AGAIN = 1 << 12 };
#else
enum { BUILD_AGAIN = 1 << 20 }; /* records that are looked at more than once: those of a turn that was begun */
#define BUILD_MEMORY_MAX ((size_t)512 << 20) /* and BUILD_MEMORY_EACH bytes for each of the file's */
#endif
enum { BUILD_MEMORY_EACH = 64 };
#define BUILD_CALLS_MAX (INT64_C(1) << 53) /* calls and communication: sums of them are exact and never overflow */
#define BUILD_TIME_MAX  (INT64_C(1) << 61) /* ns: sums and differences of three fit */

struct build_values {
    trace_ref leaf;
    int64_t *values, count;
    const int64_t *sizes; /* NULL: all are the key's */
    int64_t size_count;   /* one less than values, where the process was killed in between */
};

struct build {
    const struct trace_records *records;
    struct trace_tree *tree;
    struct pl_error *error;
    size_t visited;                        /* records of the chains: no more than fit into the arena */
    size_t memory;                         /* bytes that the tree has taken */
    int64_t calls;                         /* and communication, that the nodes stand for */
    int64_t comm_events, comm_collectives; /* that were found in the nodes */
    struct build_values *lists;            /* of the listed leaves of a turn that was begun */
    int list_count, list_last;
    struct trace_node *nodes; /* of the chain, so far */
    int node_count, node_room, detail_room;
};

/* Where a node stands: turns of the loops around it that are part of the tree, and loops of which it is one turn. */
struct build_place {
    int64_t turns[TRACE_LEVELS_MAX]; /* the outermost first */
    int depth;
    int64_t fixed[TRACE_LEVELS_MAX + 1]; /* the innermost first */
    int fixed_count;
};

/* ---- looking at records ---- */

static pl_status build_damaged(struct build *build, const char *what)
{
    return pl_fail(build->error, PL_E_FORMAT, "it is damaged: %s cannot be right", what);
}

static pl_status build_no_memory(struct build *build)
{
    return pl_fail(build->error, PL_E_NOMEM, "not enough memory for the trace");
}

/* Memory of the tree, within its bounds; NULL: there is none, and the error is set. */
static void *build_memory(struct build *build, size_t count, size_t bytes)
{
    const size_t file = build->records->count * sizeof(uint64_t), most = BUILD_MEMORY_MAX + BUILD_MEMORY_EACH * file;
    assert(bytes > 0 && build->memory <= most);
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

/* The record at `ref`, of at least so many bytes; NULL: it lies outside, and the error is set. */
static const void *build_at(struct build *build, trace_ref ref, size_t bytes)
{
    const size_t count = build->records->count;
    if (ref != 0 && ref < count && (bytes + 7) / 8 <= count - ref)
        return build->records->words + ref;
    build_damaged(build, "the place of a record");
    return NULL;
}

static const char *build_text(struct build *build, trace_ref ref)
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
static bool build_count_visit(struct build *build)
{
    if (build->visited++ < build->records->count + BUILD_AGAIN)
        return true;
    build_damaged(build, "a chain without end");
    return false;
}

/* How many records a chain has: they all begin with the place of the one before. -1: the error is set. */
static int build_chain_length(struct build *build, trace_ref last)
{
    int count = 0;
    for (trace_ref ref = last; ref; count++) {
        const trace_ref *prev = build_at(build, ref, sizeof *prev);
        if (!prev || !build_count_visit(build))
            return -1;
        ref = *prev;
    }
    return count;
}

/* ---- files and details ---- */

static pl_status build_read_file(struct build *build, const struct trace_record_file *record, struct trace_file *file)
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

static pl_status build_read_files(struct build *build)
{
    const int count = build_chain_length(build, build->records->control->files);
    struct trace_file *files = count >= 0 ? build_memory(build, (size_t)count, sizeof *files) : NULL;
    if (!files)
        return build->error->status;
    for (trace_ref ref = build->records->control->files; ref;) {
        const struct trace_record_file *record = build_at(build, ref, sizeof *record);
        if (!record)
            return build->error->status;
        if (record->number < 0 || record->number >= count)
            return build_damaged(build, "the number of a file");
        const pl_status status = build_read_file(build, record, &files[record->number]);
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

static pl_status build_read_details(struct build *build)
{
    int i = build_chain_length(build, build->records->control->details);
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
    assert(i == 0); /* as many as the chain was counted to have */
    return PL_OK;
}

/* ---- leaves ---- */

/* Single calls of the tree: their keys, values and times. */

/* Adds the values that a chunk tells; false: it is damaged. */
static bool build_read_chunk(const struct trace_record_chunk *chunk, struct build_values *values, int64_t limit)
{
    const int unused = 64 - TRACE_RECORD_STEP_BITS;
    assert(values->count > 0); /* steps follow a first value */
    for (uint32_t i = 0; i < chunk->used && values->count < limit; i++) {
        uint64_t repeat = chunk->words[i] >> TRACE_RECORD_STEP_BITS;
        int64_t step = (int64_t)(chunk->words[i] << unused) >> unused;
        if (repeat == 0) {
            if (++i == chunk->used)
                return false;
            step = (int64_t)chunk->words[i];
            repeat = 1;
        }
        for (; repeat > 0 && values->count < limit; repeat--, values->count++)
            values->values[values->count] = (int64_t)((uint64_t)values->values[values->count - 1] + (uint64_t)step);
    }
    return true;
}

/* How many values a list holds behind the `length` before it, if they are fewer than `most`. -1: the error is set. */
static int64_t build_list_length(struct build *build, trace_ref list, int64_t length, int64_t most)
{
    size_t chunks = 0; /* fewer than words, unless they go around */
    for (trace_ref ref = list; ref && length < most;) {
        const struct trace_record_chunk *chunk = build_at(build, ref, sizeof *chunk);
        if (!chunk || !build_at(build, ref, sizeof *chunk + chunk->used * sizeof(uint64_t)))
            return -1;
        if (chunks++ > build->records->count) {
            build_damaged(build, "a list");
            return -1;
        }
        for (uint32_t i = 0; i < chunk->used && length < most; i++) {
            const uint64_t repeat = chunk->words[i] >> TRACE_RECORD_STEP_BITS;
            length += repeat ? (int64_t)repeat : 1;
            i += repeat == 0;
        }
        ref = chunk->next;
    }
    return length < most ? length : most;
}

/* The first `count` values of a list; 0: all. `first`: the one before it; NULL: it is the step to the first from 0. */
static pl_status build_list(struct build *build, trace_ref list, const int64_t *first, int64_t count,
                            struct build_values *ret_values)
{
    const int before = 1; /* a value, from which the first step goes */
    const int64_t wanted = (count ? count : BUILD_CALLS_MAX) + !first;
    int64_t limit = build_list_length(build, list, before, wanted);
    if (limit < 0)
        return build->error->status;
    if (limit < count + !first)
        return build_damaged(build, "a list that is too short");
    struct build_values values = {.values = build_memory(build, (size_t)limit, sizeof(int64_t)), .count = 1};
    if (!values.values)
        return build->error->status;
    values.values[0] = first ? *first : 0;
    for (trace_ref ref = list; ref && values.count < limit;) {
        const struct trace_record_chunk *chunk = build_at(build, ref, sizeof *chunk);
        if (!chunk)
            return build->error->status;
        if (!build_read_chunk(chunk, &values, limit))
            return build_damaged(build, "a list");
        ref = chunk->next;
    }
    if (values.count < limit)
        return build_damaged(build, "a list that is too short");
    assert(values.count == limit);
    if (!first) {
        values.values++;
        values.count--;
    }
    *ret_values = values;
    return PL_OK;
}

/* What a view was given last stands in the value; those who read it look for it in the detail. */
static pl_status build_add_view_detail(struct build *build, struct trace_node *node)
{
    struct trace_tree *tree = build->tree;
    const char *rest = node->detail >= 0 ? tree->details[node->detail].text : "";
    const size_t length = strlen(rest) + 48;
    if (tree->detail_count == build->detail_room) {
        const int room = 2 * build->detail_room + 16;
        struct trace_detail *grown = build_memory(build, (size_t)room, sizeof *grown);
        if (!grown)
            return build->error->status;
        if (tree->detail_count)
            memcpy(grown, tree->details, (size_t)tree->detail_count * sizeof *grown);
        tree->details = grown;
        build->detail_room = room;
    }
    char *text = build_memory(build, length, 1);
    if (!text)
        return build->error->status;
    snprintf(text, length, "disp=%" PRId64 "%s%s", node->offset, *rest ? " " : "", rest);
    assert(tree->detail_count < build->detail_room);
    tree->details[tree->detail_count] = (struct trace_detail){text};
    node->detail = tree->detail_count++;
    return PL_OK;
}

static pl_status build_fill_call(struct build *build, const struct trace_record_key *key, struct trace_node *node)
{
    const struct trace_record_call *call = build_at(build, key->call, sizeof *call);
    if (!call || !(node->function = build_text(build, call->function)) ||
        !(node->class = build_text(build, call->class)))
        return build->error->status;
    if ((call->who && !(node->who = build_text(build, call->who))) ||
        (call->how && !(node->how = build_text(build, call->how))) ||
        (call->position && !(node->position = build_text(build, call->position))))
        return build->error->status;
    if (key->file < -1 || key->file >= build->tree->file_count || key->detail < -1 ||
        key->detail >= build->tree->detail_count)
        return build_damaged(build, "a call's file or detail");
    node->kind = TRACE_NODE_CALL;
    node->file = key->file;
    node->detail = key->detail;
    node->code = key->code;
    node->bytes = key->bytes;
    return PL_OK;
}

/* Calls of a turn that was begun are among those of the loop: the sum stays there, and the last one is not the loop's.
 */
static void build_fill_times(const struct trace_record_leaf *leaf, bool is_part, struct trace_times *times)
{
    times->sum_ns = is_part ? 0 : leaf->sum_ns;
    times->gap_ns = is_part ? 0 : leaf->gap_ns;
    times->min_ns = leaf->min_ns;
    times->max_ns = leaf->max_ns;
    times->first_ns = leaf->first_ns;
    times->last_ns = leaf->last_ns;
    times->first_took_ns = is_part ? -1 : leaf->first_took_ns;
    times->last_took_ns = is_part || leaf->count != times->count ? -1 : leaf->last_took_ns;
}

static bool build_is_time(int64_t time_ns)
{
    return time_ns >= -BUILD_TIME_MAX && time_ns <= BUILD_TIME_MAX;
}

static pl_status build_check_times(struct build *build, const struct trace_record_leaf *leaf)
{
    const bool good = build_is_time(leaf->sum_ns) && build_is_time(leaf->gap_ns) && build_is_time(leaf->min_ns) &&
                      build_is_time(leaf->max_ns) && build_is_time(leaf->first_ns) && build_is_time(leaf->last_ns) &&
                      build_is_time(leaf->first_took_ns) && build_is_time(leaf->last_took_ns);
    return good ? PL_OK : build_damaged(build, "the times of a call");
}

/* Adds calls or communication to those that the tree stands for. */
static pl_status build_count_events(struct build *build, int64_t each, int64_t times, int64_t *sum)
{
    int64_t more;
    if (each < 0 || !checked_mul(each, times, &more) || !checked_add(*sum, more, &more) || more > BUILD_CALLS_MAX)
        return pl_fail(build->error, PL_E_FORMAT, "it is damaged: it stands for more than 2^53 calls");
    *sum = more;
    return PL_OK;
}

/* A list that only has one step all along is a stride. */
static bool build_is_straight(const int64_t *values, int64_t count)
{
    for (int64_t i = 2; i < count; i++)
        if ((uint64_t)values[i] - (uint64_t)values[i - 1] != (uint64_t)values[1] - (uint64_t)values[0])
            return false;
    return true;
}

static void build_fill_values(const struct trace_record_leaf *leaf, const struct build_place *place,
                              const int64_t *listed, struct trace_node *node)
{
    node->offset = listed ? listed[0] : leaf->value;
    if (listed) {
        if (place->depth == 1 && build_is_straight(listed, node->times.count))
            node->stride[0] = node->times.count > 1 ? (int64_t)((uint64_t)listed[1] - (uint64_t)listed[0]) : 0;
        else if (node->times.count > 1)
            node->offsets = listed;
        return;
    }
    for (int i = 0; i < place->depth; i++)
        node->stride[i] = leaf->stride[i];
    for (int i = 0; i < place->fixed_count; i++)
        node->offset = wrapping_add(node->offset, wrapping_mul(place->fixed[i], leaf->stride[place->depth + i]));
}

/* The sizes of the first `count` calls of a leaf; 0: all that are there. */
static pl_status build_sizes_of(struct build *build, trace_ref ref, int64_t count, struct build_values *ret_values)
{
    const struct trace_record_leaf *leaf = build_at(build, ref, sizeof *leaf + sizeof(int64_t));
    struct build_values sizes;
    if (!leaf)
        return build->error->status;
    if (leaf->node.levels != 1 || leaf->stride[0] < 0 || leaf->stride[0] > UINT32_MAX)
        return build_damaged(build, "a list of sizes");
    if (build_list(build, (trace_ref)leaf->stride[0], NULL, count, &sizes) != PL_OK)
        return build->error->status;
    for (int64_t i = 0; i < sizes.count; i++)
        if (sizes.values[i] < 0)
            return build_damaged(build, "a size");
    ret_values->sizes = sizes.values;
    ret_values->size_count = sizes.count;
    return PL_OK;
}

static pl_status build_fill_sizes(struct build *build, const int64_t *sizes, struct trace_node *node)
{
    if (!sizes)
        return node->bytes == TRACE_RECORD_ANY ? build_damaged(build, "the size of a call") : PL_OK;
    node->bytes = sizes[0];
    for (int64_t i = 1; i < node->times.count && !node->sizes; i++)
        if (sizes[i] != sizes[0])
            node->sizes = sizes;
    return PL_OK;
}

/* A leaf as a node of the tree. `listed`, `sizes`: NULL, or its values there. */
static pl_status build_leaf(struct build *build, trace_ref ref, const struct build_place *place, const int64_t *listed,
                            const int64_t *sizes, struct trace_node *ret_node)
{
    const struct trace_record_leaf *leaf = build_at(build, ref, sizeof *leaf);
    if (!leaf || !build_at(build, ref, sizeof *leaf + leaf->node.levels * sizeof(int64_t)))
        return build->error->status;
    if (!listed && leaf->node.levels != place->depth + place->fixed_count)
        return build_damaged(build, "the strides of a call");
    const struct trace_record_key *key = build_at(build, leaf->key, sizeof *key);
    struct trace_node node = {.file = -1, .detail = -1, .bytes = -1, .offset = -1, .times.count = 1};
    if (!key)
        return build->error->status;
    for (int i = 0; i < place->depth; i++)
        if (!checked_mul(node.times.count, place->turns[i], &node.times.count))
            return build_damaged(build, "a loop");
    if (build_check_times(build, leaf) != PL_OK ||
        build_count_events(build, 1, node.times.count, &build->calls) != PL_OK)
        return build->error->status;
    build_fill_times(leaf, place->fixed_count > 0 || (listed && place->depth == 0), &node.times);
    if (key->call == 0) {
        node.kind = TRACE_NODE_COMM;
        node.events = key->bytes;
        node.collectives = key->collectives;
        *ret_node = node;
        const pl_status counted = build_count_events(build, node.events, node.times.count, &build->comm_events);
        return counted == PL_OK
                   ? build_count_events(build, node.collectives, node.times.count, &build->comm_collectives)
                   : counted;
    }
    pl_status status = build_fill_call(build, key, &node);
    if (status != PL_OK)
        return status;
    build->tree->calls += node.times.count;
    build_fill_values(leaf, place, listed, &node);
    if (build_fill_sizes(build, sizes, &node) != PL_OK)
        return build->error->status;
    *ret_node = node;
    return node.class && strcmp(node.class, "view") == 0 ? build_add_view_detail(build, ret_node) : PL_OK;
}

/* ---- nodes ---- */

static pl_status build_add_node(struct build *build, const struct trace_node *node)
{
    if (!build_count_visit(build))
        return build->error->status;
    if (!ARRAY_ROOM(build->nodes, build->node_count, build->node_room, 64))
        return build_no_memory(build);
    build->nodes[build->node_count++] = *node;
    return PL_OK;
}

static const struct trace_record_loop *build_loop_at(struct build *build, trace_ref ref)
{
    const struct trace_record_loop *loop = build_at(build, ref, sizeof *loop);
    if (!loop)
        return NULL;
    if (loop->per_turn > 0 && loop->matched >= 0 && loop->body_count > 0 && loop->body_count < build->records->count)
        return loop;
    build_damaged(build, "a loop");
    return NULL;
}

static bool build_is_loop(struct build *build, trace_ref ref)
{
    const struct trace_record_node *node = build_at(build, ref, sizeof *node);
    return node && node->kind == TRACE_RECORD_LOOP;
}

/* The nodes of a body in the order of time; freed with the tree. */
static trace_ref *build_body_of(struct build *build, const struct trace_record_loop *loop)
{
    trace_ref *nodes = build_memory(build, loop->body_count, sizeof *nodes);
    trace_ref ref = loop->body;
    for (uint32_t i = loop->body_count; nodes && i > 0; i--) {
        const struct trace_record_node *node = build_at(build, ref, sizeof *node);
        if (!node || !build_count_visit(build))
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
    const struct trace_record_loop *loop = build_loop_at(build, ref);
    const trace_ref *nodes = loop ? build_body_of(build, loop) : NULL;
    struct build_place inner = *place;
    if (!nodes)
        return build->error->status;
    if (place->depth == BUILD_LEVELS_MAX || turns < 1)
        return build_damaged(build, "the loops inside of each other");
    assert(inner.depth >= 0 && inner.depth < TRACE_LEVELS_MAX);
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
    if (build_is_loop(build, ref)) {
        const struct trace_record_loop *loop = build_loop_at(build, ref);
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
    if (leaf->list && build_list(build, leaf->list, &leaf->value, count, &values) != PL_OK)
        return build->error->status;
    if (leaf->node.listed == TRACE_RECORD_SIZED && build_sizes_of(build, ref, count, &values) != PL_OK)
        return build->error->status;
    return build_leaf(build, ref, place, values.values, values.sizes, ret_node);
}

static pl_status build_add_built(struct build *build, trace_ref ref, const struct build_place *place)
{
    struct trace_node node;
    const pl_status status = build_node(build, ref, place, &node);
    return status == PL_OK ? build_add_node(build, &node) : status;
}

/* The loop stands in the turn that is told by `place`, and `events` of it were done. */
static pl_status build_add_partial(struct build *build, trace_ref ref, const struct build_place *place, int64_t events)
{
    const struct trace_record_loop *loop = build_loop_at(build, ref);
    const trace_ref *nodes = loop ? build_body_of(build, loop) : NULL;
    if (!nodes)
        return build->error->status;
    for (uint32_t i = 0; events > 0; i++) {
        if (i == loop->body_count)
            return build_damaged(build, "a loop");
        const struct trace_record_loop *inner = build_is_loop(build, nodes[i]) ? build_loop_at(build, nodes[i]) : NULL;
        const int64_t whole = inner ? inner->matched : 1;
        pl_status status = PL_OK;
        if (events >= whole) {
            status = build_add_built(build, nodes[i], place);
        } else if (inner) {
            struct trace_node node;
            struct build_place part = *place;
            const int64_t turns = events / inner->per_turn;
            if (part.fixed_count == BUILD_LEVELS_MAX)
                return build_damaged(build, "the loops inside of each other");
            memmove(part.fixed + 1, part.fixed, (size_t)part.fixed_count++ * sizeof part.fixed[0]);
            part.fixed[0] = turns;
            if (turns > 0 && (status = build_loop(build, nodes[i], turns, place, &node)) == PL_OK)
                status = build_add_node(build, &node);
            return status == PL_OK ? build_add_partial(build, nodes[i], &part, events % inner->per_turn) : status;
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
static const struct build_values *build_list_of(struct build *build, trace_ref ref)
{
    for (int i = 0; i < build->list_count; i++) {
        const int at = (build->list_last + i) % build->list_count;
        assert(at >= 0 && at < build->list_count);
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
    if (build_list(build, leaf->list, &leaf->value, 0, &lists[build->list_count]) != PL_OK)
        return NULL;
    lists[build->list_count].leaf = ref;
    lists[build->list_count].sizes = NULL;
    if (leaf->node.listed == TRACE_RECORD_SIZED && build_sizes_of(build, ref, 0, &lists[build->list_count]) != PL_OK)
        return NULL;
    build->list_last = build->list_count++;
    return &lists[build->list_last];
}

/* A single call of a listed leaf, the one that came after `passed` others. */
static pl_status build_add_listed_call(struct build *build, trace_ref ref, int64_t passed)
{
    static const struct build_place alone = {0};
    const struct build_values *list = build_list_of(build, ref);
    struct trace_node node;
    if (!list)
        return build->error->status;
    if (passed >= list->count || (list->sizes && passed >= list->size_count))
        return build_damaged(build, "a list that is too short");
    const pl_status status = build_leaf(build, ref, &alone, &list->values[passed],
                                        list->sizes ? &list->sizes[passed] : NULL, &node);
    return status == PL_OK ? build_add_node(build, &node) : status;
}

/* The same of a listed loop: its calls one by one, with values that stand in the lists behind those of whole turns.
 * `passed`: turns of all loops around and of this one before these `turns`, as one number of times that a call in this
 * body was made. */
static pl_status build_add_listed(struct build *build, trace_ref ref, int64_t passed, int64_t turns, int depth,
                                  int64_t *events)
{
    const struct trace_record_loop *loop = build_loop_at(build, ref);
    const trace_ref *nodes = loop ? build_body_of(build, loop) : NULL;
    if (!nodes)
        return build->error->status;
    pl_status status = PL_OK;
    if (depth == BUILD_LEVELS_MAX)
        status = build_damaged(build, "the loops inside of each other");
    for (int64_t turn = 0; status == PL_OK && turn<turns && * events> 0; turn++, passed++) {
        if (!build_count_visit(build))
            return build->error->status;
        for (uint32_t i = 0; status == PL_OK && i<loop->body_count && * events> 0; i++) {
            if (!build_is_loop(build, nodes[i])) {
                status = build_add_listed_call(build, nodes[i], passed);
                --*events;
                continue;
            }
            const struct trace_record_loop *inner = build_loop_at(build, nodes[i]);
            const int64_t inner_turns = inner ? inner->matched / inner->per_turn : 0;
            int64_t inner_passed;
            if (!inner)
                return build->error->status;
            if (!checked_mul(passed, inner_turns, &inner_passed))
                return build_damaged(build, "the turns of a loop");
            status = build_add_listed(build, nodes[i], inner_passed, inner_turns, depth + 1, events);
        }
    }
    return status;
}

/* The first `count` bytes of a list of bytes. */
static const uint8_t *build_order(struct build *build, trace_ref list, int64_t count)
{
    if (count > (int64_t)build->records->count * (int64_t)sizeof(uint64_t)) {
        build_damaged(build, "the order of calls");
        return NULL;
    }
    uint8_t *order = build_memory(build, (size_t)count, 1);
    int64_t done = 0;
    for (trace_ref ref = list; order && ref && done < count;) {
        const struct trace_record_chunk *chunk = build_at(build, ref, sizeof *chunk);
        if (!chunk || !build_at(build, ref, sizeof *chunk + chunk->used * sizeof(uint64_t)) ||
            !build_count_visit(build))
            return NULL;
        for (uint32_t i = 0; i < chunk->used && done < count; i++)
            for (int byte = 0; byte < 8 && done < count; byte++)
                order[done++] = (uint8_t)(chunk->words[i] >> (8 * byte));
        ref = chunk->next;
    }
    if (order && done < count) {
        build_damaged(build, "the order of calls");
        return NULL;
    }
    return order;
}

/* A loop whose turns are calls of one of its leaves each. */
static pl_status build_add_mixed(struct build *build, const struct trace_record_loop *loop)
{
    const trace_ref *nodes = build_body_of(build, loop);
    const uint8_t *order = nodes && loop->per_turn <= UINT32_MAX
                               ? build_order(build, (trace_ref)loop->per_turn, loop->matched)
                               : NULL;
    int64_t counts[UINT8_MAX + 1] = {0};
    uint32_t kinds = 0; /* the last leaf may be there before its first call */
    if (!order)
        return nodes && build->error->status == PL_OK ? build_damaged(build, "a loop") : build->error->status;
    for (int64_t i = 0; i < loop->matched; i++) {
        counts[order[i]]++;
        kinds = order[i] >= kinds ? order[i] + 1u : kinds;
    }
    struct trace_node *body = kinds <= loop->body_count ? build_memory(build, kinds, sizeof *body) : NULL;
    if (!body)
        return kinds <= loop->body_count ? build->error->status : build_damaged(build, "the order of calls");
    for (uint32_t i = 0; i < kinds; i++) {
        const struct build_place place = {.turns = {counts[i]}, .depth = 1};
        if (counts[i] == 0 || build_is_loop(build, nodes[i]))
            return build_damaged(build, "the order of calls");
        const pl_status status = build_node(build, nodes[i], &place, &body[i]);
        if (status != PL_OK)
            return status;
    }
    return build_add_node(build, &(struct trace_node){.kind = TRACE_NODE_LOOP,
                                                      .turns = loop->matched,
                                                      .body = body,
                                                      .body_count = (int)kinds,
                                                      .order = order,
                                                      .file = -1,
                                                      .detail = -1,
                                                      .bytes = -1,
                                                      .offset = -1});
}

static pl_status build_add_record(struct build *build, trace_ref ref)
{
    const struct build_place outside = {0};
    if (!build_is_loop(build, ref))
        return build_add_built(build, ref, &outside);
    const struct trace_record_loop *loop = build_loop_at(build, ref);
    if (!loop)
        return build->error->status;
    if (loop->node.listed == TRACE_RECORD_MIXED)
        return loop->matched > 0 ? build_add_mixed(build, loop) : build_damaged(build, "a loop");
    const int64_t turns = loop->matched / loop->per_turn;
    int64_t events = loop->matched % loop->per_turn;
    const pl_status status = turns > 0 ? build_add_built(build, ref, &outside) : PL_OK;
    if (status != PL_OK || events == 0)
        return status;
    const struct build_place place = {.fixed = {turns}, .fixed_count = 1};
    return loop->node.listed ? build_add_listed(build, ref, turns, 1, 0, &events)
                             : build_add_partial(build, ref, &place, events);
}

static pl_status build_read_chain(struct build *build)
{
    int count = build_chain_length(build, build->records->control->tail);
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
        status = build_add_record(build, refs[i]);
    free(refs);
    return status;
}

/* Communication behind the last call. */
static pl_status build_add_rest(struct build *build)
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
    return build_add_node(build, &node);
}

static pl_status build_read_fresh(struct build *build)
{
    const struct trace_control *control = build->records->control;
    for (int i = 0; i < build->tree->file_count && i < TRACE_RECORD_FRESH; i++) {
        struct trace_file *file = &build->tree->files[i];
        file->fresh_read_bytes = control->fresh_read_bytes[i];
        file->fresh_written_bytes = control->fresh_written_bytes[i];
        file->unlinked = control->unlinked >> i & 1;
        if (file->fresh_read_bytes < 0 || file->fresh_written_bytes < 0)
            return build_damaged(build, "the bytes of untouched buffers");
    }
    return PL_OK;
}

pl_status trace_build(const struct trace_records *records, struct trace_tree *ret_tree, struct pl_error *error)
{
    struct build build = {.records = records, .tree = ret_tree, .error = error};
    pl_status status = build_read_files(&build);
    if (status == PL_OK)
        status = build_read_fresh(&build);
    if (status == PL_OK)
        status = build_read_details(&build);
    if (status == PL_OK)
        status = build_read_chain(&build);
    if (status == PL_OK)
        status = build_add_rest(&build);
    if (status == PL_OK && build.node_count > 0) {
        struct trace_node *nodes = build_memory(&build, (size_t)build.node_count, sizeof *nodes);
        if (nodes)
            memcpy(nodes, build.nodes, (size_t)build.node_count * sizeof *nodes);
        else
            status = error->status;
        ret_tree->nodes = nodes;
        ret_tree->node_count = nodes ? build.node_count : 0;
    }
    assert(status != PL_OK || (build.calls <= BUILD_CALLS_MAX && build.comm_events <= BUILD_CALLS_MAX));
    free(build.nodes);
    free(build.lists);
    ret_tree->complete = records->control->complete != 0;
    return status;
}
