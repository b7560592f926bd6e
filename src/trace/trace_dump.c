#include "trace/trace_dump.h"

#include "base/checked.h"
#include "trace/trace_extent.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The view in force of a file. Its types are those of the text `made`, which lives with the tree. */
struct dump_view {
    struct trace_view view;
    const char *made;
    bool known;
};

struct dump {
    const struct trace_tree *tree;
    FILE *stream;
    int most;
    int64_t tick, call;
    int64_t turn[TRACE_LEVELS_MAX + 1], turns[TRACE_LEVELS_MAX + 1]; /* the outermost first */
    int depth;
    struct dump_view *views; /* one for each file of the tree */
    struct text extents;
};

void trace_dump_head(FILE *stream)
{
    fprintf(stream, "%5s %4s %-28s %16s %10s %14s %15s %13s %24s %s\n", "IdP", "IdF", "MPI-Operation", "Offset", "tick",
            "RequestSize", "time", "duration", "range", "extents");
}

static int64_t dump_offset_of(const struct dump *dump, const struct trace_node *node, int64_t index)
{
    if (node->offsets)
        return node->offsets[index];
    int64_t offset = node->offset;
    for (int i = 0; i < dump->depth && i < TRACE_LEVELS_MAX; i++)
        offset = wrapping_add(offset, wrapping_mul(dump->turn[dump->depth - 1 - i], node->stride[i]));
    return offset;
}

/* ---- times ---- */

struct dump_time {
    double begin_ns, took_ns;
    bool is_begin, took_is; /* as it was */
};

static struct dump_time dump_time_of(const struct dump *dump, const struct trace_node *node, int64_t index)
{
    const struct trace_times *times = &node->times;
    if (dump->tree->stamps && dump->call < dump->tree->calls) {
        const struct trace_stamp *stamp = &dump->tree->stamps[dump->call];
        return (struct dump_time){(double)stamp->begin_ns, (double)(stamp->end_ns - stamp->begin_ns), true, true};
    }
    /* What a first or last call took is known where it is this node's own; else its begin is that of another. */
    const bool first = index == 0 && times->first_took_ns >= 0,
               last = index == times->count - 1 && times->last_took_ns >= 0;
    const double count = times->count > 0 ? (double)times->count : 1;
    const double step = times->count > 1 ? (double)(times->last_ns - times->first_ns) / (count - 1) : 0;
    struct dump_time time = {.begin_ns = (double)times->first_ns + step * (double)index,
                             .took_ns = (double)times->sum_ns / count,
                             .is_begin = first || last,
                             .took_is = first || last};
    if (first || last)
        time.took_ns = (double)(first ? times->first_took_ns : times->last_took_ns);
    return time;
}

/* ---- views ---- */

/* That a call has changed the view in force: an open, or a set_view, whose number is the displacement. */
static void dump_note_view(struct dump *dump, const struct trace_node *node, int64_t value)
{
    const bool opens = strcmp(node->class, "open") == 0, sets = strcmp(node->class, "view") == 0;
    struct pl_error unknown;
    if (node->file < 0 || node->code != 0 || (!opens && !sets))
        return;
    struct dump_view *view = &dump->views[node->file];
    const char *made = sets && node->detail >= 0 ? dump->tree->details[node->detail].text : "";
    if (!view->made || strcmp(view->made, made) != 0) {
        trace_view_clear(&view->view);
        view->known = trace_view_init(&view->view, made, &unknown) == PL_OK;
        view->made = made;
    }
    if (sets)
        view->view.disp = value;
}

static void dump_print_places(struct dump *dump, const struct trace_node *node, int64_t offset, int64_t bytes)
{
    const struct dump_view *view = node->file >= 0 && dump->views[node->file].made ? &dump->views[node->file] : NULL;
    char range[56] = "-";
    int64_t first, end;
    dump->extents.length = 0;
    if (bytes < 0 || offset < 0) {
        text_add(&dump->extents, "-");
    } else if (!view || !view->known) {
        snprintf(range, sizeof range, "?");
        text_add(&dump->extents, "?");
    } else {
        if (trace_extents_range(&view->view, offset, bytes, &first, &end))
            snprintf(range, sizeof range, "%" PRId64 "..%" PRId64, first, end);
        trace_extents_add_text(&view->view, offset, bytes, dump->most, &dump->extents);
    }
    fprintf(dump->stream, " %24s %s\n", range, text_get(&dump->extents));
}

/* ---- calls ---- */

static void dump_call(struct dump *dump, const struct trace_node *node)
{
    int64_t index = 0;
    for (int i = 0; i < dump->depth; i++)
        index = index * dump->turns[i] + dump->turn[i];
    char offset[24] = "-", size[24] = "-", begin[32], took[32];
    const int64_t value = dump_offset_of(dump, node, index), bytes = node->sizes ? node->sizes[index] : node->bytes;
    const bool has_place = bytes >= 0 && node->offset >= 0;
    const struct dump_time time = dump_time_of(dump, node, index);
    if (bytes >= 0)
        snprintf(size, sizeof size, "%" PRId64, bytes);
    if (has_place)
        snprintf(offset, sizeof offset, "%" PRId64, value);
    snprintf(begin, sizeof begin, "%s%.6f", time.is_begin ? "" : "~", time.begin_ns / 1e9);
    snprintf(took, sizeof took, "%s%.6f", time.took_is ? "" : "~", time.took_ns / 1e9);
    fprintf(dump->stream, "%5d %4d %-28s %16s %10" PRId64 " %14s %15s %13s", dump->tree->rank, node->file + 1,
            node->function, offset, dump->tick++, size, begin, took);
    dump_print_places(dump, node, has_place ? value : -1, bytes);
    dump_note_view(dump, node, value);
    dump->call++;
}

/* Ticks of a loop of communication alone; -1: there are calls in it. */
static int64_t dump_ticks_alone(const struct trace_node *node)
{
    int64_t ticks = node->kind == TRACE_NODE_COMM ? node->events : 0;
    if (node->kind == TRACE_NODE_CALL)
        return -1;
    for (int i = 0; i < node->body_count; i++) {
        const int64_t inside = dump_ticks_alone(&node->body[i]);
        if (inside < 0)
            return -1;
        ticks = saturating_add(ticks, inside);
    }
    if (node->order) /* a mixed loop without calls is never made, but may be told */
        return -1;
    return node->kind == TRACE_NODE_LOOP ? saturating_mul(ticks, node->turns) : ticks;
}

static void dump_nodes(struct dump *dump, const struct trace_node *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        const struct trace_node *node = &nodes[i];
        if (node->kind == TRACE_NODE_CALL)
            dump_call(dump, node);
        else if (dump_ticks_alone(node) >= 0) /* however often: nothing is printed */
            dump->tick = saturating_add(dump->tick, dump_ticks_alone(node));
        else if (dump->depth < TRACE_LEVELS_MAX) {
            const int level = dump->depth++;
            int64_t passed[UINT8_MAX + 1] = {0};
            for (int64_t event = 0; node->order && event < node->turns; event++) {
                const uint8_t which = node->order[event];
                dump->turns[level] = node->body[which].times.count;
                dump->turn[level] = passed[which]++;
                dump_nodes(dump, &node->body[which], 1);
            }
            dump->turns[level] = node->turns;
            for (dump->turn[level] = 0; dump->turn[level] < node->turns && !node->order; dump->turn[level]++)
                dump_nodes(dump, node->body, node->body_count);
            dump->depth--;
        }
    }
}

pl_status trace_dump(const struct trace_tree *tree, int most, FILE *stream, struct pl_error *error)
{
    struct dump dump = {.tree = tree, .stream = stream, .most = most};
    dump.views = calloc((size_t)tree->file_count + 1, sizeof *dump.views);
    if (!dump.views)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the views of rank %d", tree->rank);
    dump_nodes(&dump, tree->nodes, tree->node_count);
    const bool failed = dump.extents.failed;
    for (int i = 0; i < tree->file_count; i++)
        trace_view_clear(&dump.views[i].view);
    free(dump.views);
    text_clear(&dump.extents);
    return failed ? pl_fail(error, PL_E_NOMEM, "not enough memory for the extents of rank %d", tree->rank) : PL_OK;
}
