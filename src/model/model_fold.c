#include "model/model_fold.h"

#include "base/checked.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct feed {
    struct model_files files;
    struct model_list *list;
    /* communication since the last call; it becomes an item when the next call comes, so that it is one */
    bool comm;
    int64_t collectives;
    double events, comm_gap_ns;
    double left_gap_ns; /* before calls that are left out, for the next one that is not */
    int64_t turn[TRACE_LEVELS_MAX], turns[TRACE_LEVELS_MAX]; /* of the loops around, the outermost first */
    int depth;
    int compacted; /* items of the list that were looked at already */
    int64_t apart; /* more events of communication than these are much */
    int64_t failed_calls;
    int64_t fed;  /* nodes and grids, one by one: bounded, however often a loop is told to turn */
    bool gave_up; /* at that bound */
    bool failed;  /* that, or memory was short */
};

#ifdef PIOLET_FUZZ
enum { FED_MAX = 1 << 12, ITEMS_MAX = 1 << 11 };
#else
enum { FED_MAX = 1 << 23, ITEMS_MAX = 1 << 19 }; /* some ten seconds; some hundred MB */
#endif

/* Counts what is done one by one; false: it was too much. */
static bool model_fold_count_fed(struct feed *feed)
{
    feed->gave_up |= ++feed->fed > FED_MAX || feed->list->count > ITEMS_MAX;
    feed->failed |= feed->gave_up;
    return !feed->gave_up;
}

/* Accesses by the shared pointer have no offset of their own: where it is set must be told. */
static bool model_fold_is_left_out(const struct trace_node *node)
{
    return (strcmp(node->class, "seek") == 0 && strcmp(node->function, "MPI_File_seek_shared") != 0) ||
           strcmp(node->class, "query") == 0 || strcmp(node->class, "handler") == 0;
}

/* Whether the number of a call that is no access is an argument of it. */
static bool model_fold_has_number(const struct model_call *call)
{
    return strcmp(call->function, "MPI_File_seek_shared") == 0 ||
           strcmp(call->function, "MPI_File_set_atomicity") == 0 || strcmp(call->class, "size") == 0;
}

enum { COMPACT_EVERY = 4096, COMPACT_BEHIND = 256 }; /* items that were not folded; left alone, since more may come */

static void model_fold_push(struct feed *feed, struct model_item *item)
{
    if (!model_list_push(feed->list, item))
        feed->failed = true;
    if (feed->list->count < feed->compacted + COMPACT_EVERY || feed->failed)
        return;
    /* The last loop that was made goes on, if it may; what is before it stays. */
    feed->failed = !model_list_compact(feed->list, COMPACT_BEHIND, feed->apart, &feed->compacted);
}

static void model_fold_flush_comm(struct feed *feed)
{
    if (!feed->comm)
        return;
    struct model_item item = {.kind = MODEL_COMM, .has_comm = true, .inner_events = saturating_int(feed->events)};
    item.hash = item.shape = rng_at((uint64_t)MODEL_COMM, feed->events > (double)feed->apart);
    item.entry_events = item.exit_events = item.inner_events;
    item.params = calloc(MODEL_COMM_PARAMS, sizeof *item.params);
    item.param_count = item.params ? MODEL_COMM_PARAMS : 0;
    feed->failed |= !item.params || !model_seq_add(&item.params[MODEL_PARAM_COLLECTIVES], feed->collectives);
    item.observed = (struct model_observed){.calls = 1, .events = feed->events, .gap_ns = feed->comm_gap_ns};
    feed->comm = false;
    feed->collectives = 0;
    feed->events = feed->comm_gap_ns = 0;
    model_fold_push(feed, &item);
}

/* Which execution of the node this is. */
static int64_t model_fold_occurrence(const struct feed *feed)
{
    int64_t index = 0;
    for (int i = 0; i < feed->depth; i++)
        index = index * feed->turns[i] + feed->turn[i];
    return index;
}

static int64_t model_fold_offset_now(const struct feed *feed, const struct trace_node *node)
{
    if (node->offsets) {
        assert(model_fold_occurrence(feed) < node->times.count);
        return node->offsets[model_fold_occurrence(feed)];
    }
    int64_t offset = node->offset;
    for (int i = 0; i < feed->depth; i++)
        offset = wrapping_add(offset, wrapping_mul(feed->turn[feed->depth - 1 - i], node->stride[i]));
    return offset;
}

/* Single times are not in a folded trace: the begins are spread evenly between first and last, the durations are the
 * mean. */
static double model_fold_begin_of(const struct trace_times *times, int64_t index)
{
    const double step = times->count > 1 ? (double)(times->last_ns - times->first_ns) / (double)(times->count - 1) : 0;
    return (double)times->first_ns + step * (double)index;
}

static double model_fold_mean(int64_t sum_ns, const struct trace_times *times)
{
    return (double)sum_ns / (double)(times->count > 0 ? times->count : 1);
}

static struct model_observed model_fold_observe(struct feed *feed, const struct trace_node *node)
{
    const struct trace_times *times = &node->times;
    const double gap = feed->left_gap_ns + model_fold_mean(times->gap_ns, times);
    feed->left_gap_ns = 0;
    return (struct model_observed){.calls = 1,
                                   .sum_ns = model_fold_mean(times->sum_ns, times),
                                   .gap_ns = gap,
                                   .min_ns = times->min_ns,
                                   .max_ns = times->max_ns,
                                   .first_ns = (int64_t)model_fold_begin_of(times, model_fold_occurrence(feed))};
}

/* The detail of a view tells the displacement of its first execution: others have moved on with the loops around. */
static void model_fold_move_view(struct feed *feed, const struct trace_node *node, struct model_item *item)
{
    static const char begin[] = {'d', 'i', 's', 'p', '=', MODEL_SLOT};
    if (strcmp(node->class, "view") != 0 || !item->call.text || strncmp(item->call.text, begin, sizeof begin) != 0)
        return;
    assert(item->param_count > MODEL_PARAM_FORMS && item->params[MODEL_PARAM_FORMS].count == 1);
    struct model_grid *disp = &item->params[MODEL_PARAM_FORMS].grids[0];
    disp->base = wrapping_add(disp->base, wrapping_sub(model_fold_offset_now(feed, node), node->offset));
}

static void model_fold_feed_call(struct feed *feed, const struct trace_node *node)
{
    struct model_item item;
    struct trace_node sized;
    if (node->sizes) {
        sized = *node;
        sized.bytes = node->sizes[model_fold_occurrence(feed)];
        node = &sized;
    }
    feed->failed_calls += !model_fold_is_left_out(node) && node->code != 0;
    if (model_fold_is_left_out(node) || node->code != 0) {
        feed->left_gap_ns += model_fold_mean(node->times.gap_ns, &node->times);
        return;
    }
    model_fold_flush_comm(feed);
    struct trace_node now = *node;
    if (node->sizes)
        now.bytes = node->sizes[model_fold_occurrence(feed)];
    if (!model_files_call(&feed->files, &now, &item)) {
        feed->failed = true;
        return;
    }
    model_fold_move_view(feed, node, &item);
    item.observed = model_fold_observe(feed, node);
    item.call.number = !item.call.access && model_fold_has_number(&item.call);
    const bool counts = item.call.access || item.call.number;
    if (!model_seq_add(&item.params[MODEL_PARAM_OFFSET], counts ? model_fold_offset_now(feed, node) : -1))
        feed->failed = true;
    model_fold_push(feed, &item);
}

/* ---- loops: all but the first few turns at once ---- */

enum { LOOK = 132 }; /* folding changes no more items than this at the end of the list */

struct snapshot {
    int count, looked;
    bool comm;
    int64_t collectives;
    uint64_t hash[LOOK]; /* the last items, the last one first */
    int64_t turns[LOOK];
    int64_t failed_calls;
};

static void model_fold_take_snapshot(const struct feed *feed, struct snapshot *ret)
{
    const struct model_list *list = feed->list;
    *ret = (struct snapshot){.count = list->count, .comm = feed->comm, .collectives = feed->collectives};
    ret->looked = list->count < LOOK ? list->count : LOOK;
    ret->failed_calls = feed->failed_calls;
    for (int i = 0; i < ret->looked; i++) {
        const struct model_item *item = &list->items[list->count - 1 - i];
        ret->hash[i] = item->hash;
        ret->turns[i] = item->turns;
    }
}

/* A turn that has made one loop longer, and nothing else: its place from the end, and by how many turns. */
struct growth {
    int place; /* -1: none */
    int64_t turns;
};

static struct growth model_fold_compare(const struct snapshot *before, const struct snapshot *after,
                                        const struct model_list *list)
{
    struct growth growth = {.place = -1};
    if (before->count != after->count || before->comm != after->comm || before->collectives != after->collectives)
        return growth;
    for (int i = 0; i < after->looked; i++) {
        if (before->hash[i] == after->hash[i])
            continue;
        const struct model_item *item = &list->items[list->count - 1 - i];
        if (growth.place >= 0 || item->kind != MODEL_LOOP || after->turns[i] <= before->turns[i] ||
            before->turns[i] < 2)
            return (struct growth){.place = -1};
        growth = (struct growth){i, after->turns[i] - before->turns[i]};
    }
    return growth;
}

/* What the last `turns` turns of a loop put into a sequence, and by how much it had moved on since the turns before. */
static bool model_fold_last_turns(const struct model_seq *seq, const struct growth *growth, int64_t loop_turns,
                                  struct model_seq *ret_last, int64_t *ret_by)
{
    const int64_t total = model_seq_total(seq), each = total / loop_turns * growth->turns;
    struct model_seq before = {0};
    const bool ok = total >= 2 * each && model_seq_add_slice(ret_last, seq, total - each, each) &&
                    model_seq_add_slice(&before, seq, total - 2 * each, each) &&
                    model_seq_is_moved(&before, ret_last, ret_by);
    model_seq_clear(&before);
    return ok;
}

/* Appends `last` moved on by `by`, `times` times. */
static bool model_fold_repeat_seq(struct feed *feed, struct model_seq *seq, const struct model_seq *last, int64_t by,
                                  int64_t times)
{
    bool ok = true;
    if (model_seq_is_grid(last) && last->grids[0].levels < MODEL_GRID_LEVELS) {
        struct model_grid grid = last->grids[0];
        grid.base = wrapping_add(grid.base, by);
        assert(times > 0);
        grid.count[grid.levels] = times;
        grid.stride[grid.levels] = by;
        grid.levels++;
        return model_seq_add_grid(seq, grid);
    }
    for (int64_t t = 1; t <= times && ok; t++)
        for (size_t i = 0; i < last->count && ok; i++) {
            struct model_grid grid = last->grids[i];
            ok = model_fold_count_fed(feed);
            for (int64_t at = 0; grid.levels == MODEL_GRID_LIST && at < grid.count[0] && ok; at++)
                ok = model_seq_add(seq, wrapping_add(model_seq_grid_at(last, &grid, at), wrapping_mul(t, by)));
            if (grid.levels == MODEL_GRID_LIST)
                continue;
            grid.base = wrapping_add(grid.base, wrapping_mul(t, by));
            ok = ok && model_seq_add_grid(seq, grid);
        }
    return ok;
}

/* Whether every number below goes on regularly. */
static bool model_fold_is_regular(const struct model_item *item, const struct growth *growth, int64_t loop_turns)
{
    for (int i = 0; i < item->count; i++)
        if (!model_fold_is_regular(&item->body[i], growth, loop_turns))
            return false;
    for (int i = 0; i < item->param_count; i++) {
        struct model_seq last = {0};
        int64_t by;
        const bool ok = model_fold_last_turns(&item->params[i], growth, loop_turns, &last, &by);
        model_seq_clear(&last);
        if (!ok)
            return false;
    }
    return true;
}

static void model_fold_scale_observed(struct model_observed *observed, double factor)
{
    observed->sum_ns *= factor;
    observed->gap_ns *= factor;
    observed->events *= factor;
    observed->calls = saturating_int((double)observed->calls * factor + 0.5);
}

/* Adds `times` times the growth to an item of the loop; `behind`, if any, is its beginning of a next turn, which stands
 * behind the loop and moves on. */
static bool model_fold_repeat_item(struct feed *feed, struct model_item *item, struct model_item *behind,
                                   const struct growth *growth, int64_t loop_turns, int64_t times)
{
    bool ok = true;
    for (int i = 0; i < item->count && ok; i++)
        ok = model_fold_repeat_item(feed, &item->body[i], behind ? &behind->body[i] : NULL, growth, loop_turns, times);
    for (int i = 0; i < item->param_count && ok; i++) {
        struct model_seq last = {0};
        int64_t by = 0;
        ok = model_fold_last_turns(&item->params[i], growth, loop_turns, &last, &by) &&
             model_fold_repeat_seq(feed, &item->params[i], &last, by, times);
        for (size_t g = 0; behind && g < behind->params[i].count; g++)
            if (behind->params[i].grids[g].levels != MODEL_GRID_LIST)
                behind->params[i].grids[g].base = wrapping_add(behind->params[i].grids[g].base,
                                                               wrapping_mul(times, by));
        for (size_t v = 0; behind && v < behind->params[i].value_count; v++)
            behind->params[i].values[v] = wrapping_add(behind->params[i].values[v], wrapping_mul(times, by));
        model_seq_clear(&last);
    }
    model_fold_scale_observed(&item->observed, 1 + (double)(growth->turns * times) / (double)loop_turns);
    return ok;
}

/* Adds what `times` turns more do. False if it cannot be known: then nothing has changed. */
static bool model_fold_repeat(struct feed *feed, const struct growth *growth, int64_t times)
{
    struct model_item *const loop = &feed->list->items[feed->list->count - 1 - growth->place];
    struct model_item *const behind = loop + 1; /* growth->place items, the beginning of a next turn */
    const int64_t loop_turns = loop->turns;
    assert(loop->kind == MODEL_LOOP && growth->turns > 0 && growth->turns < loop_turns && times > 0);
    if (growth->place > loop->count)
        return false;
    for (int i = 0; i < growth->place; i++)
        if (behind[i].hash != loop->body[i].hash)
            return false;
    for (int i = 0; i < loop->count; i++)
        if (!model_fold_is_regular(&loop->body[i], growth, loop_turns))
            return false;
    for (int i = 0; i < loop->count; i++)
        if (!model_fold_repeat_item(feed, &loop->body[i], i < growth->place ? &behind[i] : NULL, growth, loop_turns,
                                    times))
            feed->failed = true;
    loop->turns += growth->turns * times;
    model_loop_rehash(loop);
    return true;
}

static void model_fold_feed_nodes(struct feed *feed, const struct trace_node *nodes, int count);

/* A loop in which each turn is one of its calls, whichever. */
static void model_fold_feed_mixed(struct feed *feed, const struct trace_node *node)
{
    int64_t passed[UINT8_MAX + 1] = {0};
    assert(feed->depth == 0 && node->order);
    const double each_gap_ns = (feed->left_gap_ns + feed->comm_gap_ns) / (double)node->turns;
    feed->left_gap_ns = feed->comm_gap_ns = 0;
    feed->depth = 1;
    for (int64_t event = 0; event < node->turns && !feed->failed; event++) {
        const uint8_t which = node->order[event];
        feed->turns[0] = node->body[which].times.count;
        feed->turn[0] = passed[which]++;
        feed->left_gap_ns += each_gap_ns;
        model_fold_feed_nodes(feed, &node->body[which], 1);
    }
    feed->depth = 0;
}

static bool model_fold_has_lists(const struct trace_node *node)
{
    for (int i = 0; i < node->body_count; i++)
        if (model_fold_has_lists(&node->body[i]))
            return true;
    return node->offsets || node->sizes;
}

/* Is the first thing in it a call of the model, and not communication? */
static bool model_fold_begins_with_call(const struct trace_node *node)
{
    while (node->kind == TRACE_NODE_LOOP && node->body_count > 0)
        node = &node->body[0];
    return node->kind == TRACE_NODE_CALL && !model_fold_is_left_out(node) && node->code == 0;
}

/* After so many turns that did the same, the last two surely are turns of this loop alone. */
enum { STEADY = 4 };

static void model_fold_feed_loop(struct feed *feed, const struct trace_node *node)
{
    struct snapshot before, after;
    const bool regular = !model_fold_has_lists(node) && node->turns > 2 * STEADY;
    assert(feed->depth >= 0 && feed->depth < TRACE_LEVELS_MAX && node->turns > 0);
    const int level = feed->depth++;
    struct growth growth = {.place = -1};
    int steady = 0;
    if (model_fold_begins_with_call(node)) /* communication before it is whole, and has its computing */
        model_fold_flush_comm(feed);
    /* Computing before the loop is spread over its turns: the first ones stand for all, and would multiply it. */
    const double each_gap_ns = (feed->left_gap_ns + feed->comm_gap_ns) / (double)node->turns;
    feed->left_gap_ns = feed->comm_gap_ns = 0;
    feed->turns[level] = node->turns;
    for (int64_t turn = 0; turn < node->turns && !feed->failed; turn++) {
        feed->turn[level] = turn;
        feed->left_gap_ns += each_gap_ns;
        if (regular && steady < STEADY)
            model_fold_take_snapshot(feed, &before);
        model_fold_feed_nodes(feed, node->body, node->body_count);
        if (!regular || steady >= STEADY)
            continue;
        model_fold_take_snapshot(feed, &after);
        const struct growth now = model_fold_compare(&before, &after, feed->list);
        steady = now.place < 0 ? 0 : now.place == growth.place && now.turns == growth.turns ? steady + 1 : 1;
        growth = now;
        const int64_t times = node->turns - 2 - turn; /* the last turn is fed, so that times go on where it ends */
        if (steady == STEADY && times > 0 && model_fold_repeat(feed, &growth, times)) {
            feed->failed_calls += times * (after.failed_calls - before.failed_calls);
            turn += times;
        }
    }
    feed->depth--;
}

static bool model_fold_has_calls(const struct trace_node *node)
{
    bool found = node->kind == TRACE_NODE_CALL && !model_fold_is_left_out(node);
    for (int i = 0; i < node->body_count && !found; i++)
        found = model_fold_has_calls(&node->body[i]);
    return found;
}

/* Communication alone, and calls that are left out, however often. */
static void model_fold_feed_comm(struct feed *feed, const struct trace_node *node, int64_t times)
{
    if (!model_fold_count_fed(feed))
        return;
    if (node->kind == TRACE_NODE_CALL)
        feed->left_gap_ns += (double)times * model_fold_mean(node->times.gap_ns, &node->times);
    if (node->kind == TRACE_NODE_COMM) {
        feed->comm = true;
        feed->comm_gap_ns += (double)times * model_fold_mean(node->times.gap_ns, &node->times) + feed->left_gap_ns;
        feed->left_gap_ns = 0;
        feed->collectives += times * node->collectives;
        feed->events += (double)times * (double)node->events;
    }
    for (int i = 0; i < node->body_count; i++)
        model_fold_feed_comm(feed, &node->body[i], times * node->turns);
}

static void model_fold_feed_nodes(struct feed *feed, const struct trace_node *nodes, int count)
{
    for (int i = 0; i < count && !feed->failed && model_fold_count_fed(feed); i++) {
        if (nodes[i].kind == TRACE_NODE_CALL)
            model_fold_feed_call(feed, &nodes[i]);
        else if (nodes[i].order)
            model_fold_feed_mixed(feed, &nodes[i]);
        else if (nodes[i].kind == TRACE_NODE_LOOP && model_fold_has_calls(&nodes[i]))
            model_fold_feed_loop(feed, &nodes[i]);
        else
            model_fold_feed_comm(feed, &nodes[i], 1);
    }
}

static int model_fold_depth_of(const struct trace_node *nodes, int count)
{
    int deepest = 0;
    for (int i = 0; i < count; i++) {
        const int depth = nodes[i].kind == TRACE_NODE_LOOP ? 1 + model_fold_depth_of(nodes[i].body, nodes[i].body_count)
                                                           : 0;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

pl_status model_fold(const struct trace_tree *tree, struct model_pool *pool, int64_t apart, struct model_list *ret_list,
                     int64_t *ret_failed_calls, struct pl_error *error)
{
    struct model_list list = {0};
    struct feed feed = {.list = &list, .apart = apart};
    if (model_fold_depth_of(tree->nodes, tree->node_count) > TRACE_LEVELS_MAX)
        return pl_fail(error, PL_E_FORMAT, "the trace of rank %d has more than %d loops inside of each other",
                       tree->rank, TRACE_LEVELS_MAX);
    feed.failed = !model_files_begin(&feed.files, tree, pool);
    model_fold_feed_nodes(&feed, tree->nodes, tree->node_count);
    model_fold_flush_comm(&feed);
    feed.failed = feed.failed || !model_list_compact(&list, 0, apart, &feed.compacted);
    for (int i = 0; i < list.count && !feed.failed; i++)
        feed.failed = list.items[i].free && !model_free_end(&list.items[i]);
    feed.failed = feed.failed || !model_list_rotate(&list, apart);
    for (int i = 0; i < tree->file_count && !feed.failed; i++) {
        struct trace_file file = tree->files[i];
        const char *form = feed.files.files[i].form;
        for (int other = 0; other < tree->file_count; other++) /* what is made anew behind it stays */
            file.unlinked = file.unlinked && (feed.files.files[other].form != form || tree->files[other].unlinked);
        if (form && (file.fresh_read_bytes || file.fresh_written_bytes || file.unlinked))
            feed.failed = !model_pool_add_fresh(pool, form, &file);
    }
    model_files_clear(&feed.files);
    if (feed.failed) {
        model_list_clear(&list);
        if (feed.gave_up)
            return pl_fail(error, PL_E_FORMAT,
                           "the trace of rank %d stands for %lld calls that no few loops tell: given up after %lld",
                           tree->rank, (long long)tree->calls, (long long)feed.fed);
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the calls of rank %d", tree->rank);
    }
    assert(feed.depth == 0 && !feed.comm);
    *ret_list = list;
    *ret_failed_calls = feed.failed_calls;
    return PL_OK;
}
