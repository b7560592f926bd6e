/* Single calls of the tree: their keys, values and times. */
#include "trace/trace_build_core.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Adds the values that a chunk tells; false: it is damaged. */
static bool read_chunk(const struct trace_record_chunk *chunk, struct build_values *values, int64_t limit)
{
    const int unused = 64 - TRACE_RECORD_STEP_BITS;
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

/* How many values a list holds, if they are fewer than `most`. -1: the error is set. */
static int64_t list_length(struct build *build, const struct trace_record_leaf *leaf, int64_t most)
{
    int64_t length = 1;
    size_t chunks = 0; /* fewer than words, unless they go around */
    for (trace_ref ref = leaf->list; ref && length < most;) {
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

pl_status build_list(struct build *build, const struct trace_record_leaf *leaf, int64_t count,
                     struct build_values *ret_values)
{
    const int64_t wanted = count ? count : BUILD_CALLS_MAX, limit = list_length(build, leaf, wanted);
    if (limit < 0)
        return build->error->status;
    if (limit < count)
        return build_damaged(build, "a list that is too short");
    struct build_values values = {.values = build_memory(build, (size_t)limit, sizeof(int64_t)), .count = 1};
    if (!values.values)
        return build->error->status;
    values.values[0] = leaf->value;
    for (trace_ref ref = leaf->list; ref && values.count < limit;) {
        const struct trace_record_chunk *chunk = build_at(build, ref, sizeof *chunk);
        if (!chunk)
            return build->error->status;
        if (!read_chunk(chunk, &values, limit))
            return build_damaged(build, "a list");
        ref = chunk->next;
    }
    if (values.count < limit)
        return build_damaged(build, "a list that is too short");
    *ret_values = values;
    return PL_OK;
}

/* What a view was given last stands in the value; those who read it look for it in the detail. */
static pl_status add_view_detail(struct build *build, struct trace_node *node)
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
    tree->details[tree->detail_count] = (struct trace_detail){text};
    node->detail = tree->detail_count++;
    return PL_OK;
}

static pl_status fill_call(struct build *build, const struct trace_record_key *key, struct trace_node *node)
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
static void fill_times(const struct trace_record_leaf *leaf, bool is_part, struct trace_times *times)
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

static bool is_time(int64_t time_ns)
{
    return time_ns >= -BUILD_TIME_MAX && time_ns <= BUILD_TIME_MAX;
}

static pl_status check_times(struct build *build, const struct trace_record_leaf *leaf)
{
    const bool good = is_time(leaf->sum_ns) && is_time(leaf->gap_ns) && is_time(leaf->min_ns) &&
                      is_time(leaf->max_ns) && is_time(leaf->first_ns) && is_time(leaf->last_ns) &&
                      is_time(leaf->first_took_ns) && is_time(leaf->last_took_ns);
    return good ? PL_OK : build_damaged(build, "the times of a call");
}

/* Adds calls or communication to those that the tree stands for. */
static pl_status count_events(struct build *build, int64_t each, int64_t times, int64_t *sum)
{
    int64_t more;
    if (each < 0 || !checked_mul(each, times, &more) || !checked_add(*sum, more, &more) || more > BUILD_CALLS_MAX)
        return pl_fail(build->error, PL_E_FORMAT, "it is damaged: it stands for more than 2^53 calls");
    *sum = more;
    return PL_OK;
}

/* A list that only has one step all along is a stride. */
static bool is_straight(const int64_t *values, int64_t count)
{
    for (int64_t i = 2; i < count; i++)
        if ((uint64_t)values[i] - (uint64_t)values[i - 1] != (uint64_t)values[1] - (uint64_t)values[0])
            return false;
    return true;
}

static void fill_values(const struct trace_record_leaf *leaf, const struct build_place *place, const int64_t *listed,
                        struct trace_node *node)
{
    node->offset = listed ? listed[0] : leaf->value;
    if (listed) {
        if (place->depth == 1 && is_straight(listed, node->times.count))
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

pl_status build_leaf(struct build *build, trace_ref ref, const struct build_place *place, const int64_t *listed,
                     struct trace_node *ret_node)
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
    if (check_times(build, leaf) != PL_OK || count_events(build, 1, node.times.count, &build->calls) != PL_OK)
        return build->error->status;
    fill_times(leaf, place->fixed_count > 0 || (listed && place->depth == 0), &node.times);
    if (key->call == 0) {
        node.kind = TRACE_NODE_COMM;
        node.events = key->bytes;
        node.collectives = key->collectives;
        *ret_node = node;
        const pl_status counted = count_events(build, node.events, node.times.count, &build->comm_events);
        return counted == PL_OK ? count_events(build, node.collectives, node.times.count, &build->comm_collectives)
                                : counted;
    }
    pl_status status = fill_call(build, key, &node);
    if (status != PL_OK)
        return status;
    build->tree->calls += node.times.count;
    fill_values(leaf, place, listed, &node);
    *ret_node = node;
    return node.class && strcmp(node.class, "view") == 0 ? add_view_detail(build, ret_node) : PL_OK;
}
