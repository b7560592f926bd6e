#include "model/model_dump.h"

#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

struct dump {
    const struct trace_tree *tree;
    FILE *stream;
    int64_t tick;
    int64_t turn[TRACE_LEVELS_MAX + 1], turns[TRACE_LEVELS_MAX + 1]; /* the outermost first */
    int depth;
};

void model_dump_head(FILE *stream)
{
    fprintf(stream, "%5s %4s %-28s %16s %10s %14s %14s %12s\n", "IdP", "IdF", "MPI-Operation", "Offset", "tick",
            "RequestSize", "time", "duration");
}

static int64_t offset_of(const struct dump *dump, const struct trace_node *node, int64_t index)
{
    if (node->offsets)
        return node->offsets[index];
    int64_t offset = node->offset;
    for (int i = 0; i < dump->depth && i < TRACE_LEVELS_MAX; i++)
        offset = wrapping_add(offset, wrapping_mul(dump->turn[dump->depth - 1 - i], node->stride[i]));
    return offset;
}

static void dump_call(struct dump *dump, const struct trace_node *node)
{
    const struct trace_times *times = &node->times;
    const double count = times->count > 0 ? (double)times->count : 1;
    const double step = times->count > 1 ? (double)(times->last_ns - times->first_ns) / (count - 1) : 0;
    int64_t index = 0;
    for (int i = 0; i < dump->depth; i++)
        index = index * dump->turns[i] + dump->turn[i];
    char offset[24] = "-", size[24] = "-";
    if (node->bytes >= 0)
        snprintf(size, sizeof size, "%" PRId64, node->bytes);
    if (node->bytes >= 0 && node->offset >= 0)
        snprintf(offset, sizeof offset, "%" PRId64, offset_of(dump, node, index));
    fprintf(dump->stream, "%5d %4d %-28s %16s %10" PRId64 " %14s %14.6f %12.6f\n", dump->tree->rank, node->file + 1,
            node->function, offset, dump->tick++, size, ((double)times->first_ns + step * (double)index) / 1e9,
            (double)times->sum_ns / count / 1e9);
}

/* Ticks of a loop of communication alone; -1: there are calls in it. */
static int64_t ticks_alone(const struct trace_node *node)
{
    int64_t ticks = node->kind == TRACE_NODE_COMM ? node->events : 0;
    if (node->kind == TRACE_NODE_CALL)
        return -1;
    for (int i = 0; i < node->body_count; i++) {
        const int64_t inside = ticks_alone(&node->body[i]);
        if (inside < 0)
            return -1;
        ticks = saturating_add(ticks, inside);
    }
    return node->kind == TRACE_NODE_LOOP ? saturating_mul(ticks, node->turns) : ticks;
}

static void dump_nodes(struct dump *dump, const struct trace_node *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        const struct trace_node *node = &nodes[i];
        if (node->kind == TRACE_NODE_CALL)
            dump_call(dump, node);
        else if (ticks_alone(node) >= 0) /* however often: nothing is printed */
            dump->tick = saturating_add(dump->tick, ticks_alone(node));
        else if (dump->depth < TRACE_LEVELS_MAX) {
            const int level = dump->depth++;
            dump->turns[level] = node->turns;
            for (dump->turn[level] = 0; dump->turn[level] < node->turns; dump->turn[level]++)
                dump_nodes(dump, node->body, node->body_count);
            dump->depth--;
        }
    }
}

void model_dump(const struct trace_tree *tree, FILE *stream)
{
    struct dump dump = {.tree = tree, .stream = stream};
    dump_nodes(&dump, tree->nodes, tree->node_count);
}
