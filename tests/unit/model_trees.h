/* Trees of traces by hand, what they say call by call, and the comparison with what a model says. */
#ifndef PIOLET_TESTS_MODEL_TREES_H
#define PIOLET_TESTS_MODEL_TREES_H

#include "model/model.h"
#include "trace/trace_tree.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making trees ---- */

struct tree_maker {
    struct trace_tree tree;
    struct tree_level {
        struct trace_node *nodes;
        int count;
        int64_t turns;
    } level[TRACE_LEVELS_MAX + 1];
    int depth;
    struct trace_detail details[64];
    struct trace_file *files;
    char *texts[64]; /* of the details */
    int64_t clock_ns;
};

static inline struct tree_maker *tree_new(int rank, int size)
{
    struct tree_maker *maker = calloc(1, sizeof *maker);
    if (!maker)
        abort();
    maker->tree = (struct trace_tree){.rank = rank,
                                      .size = size,
                                      .host = "node",
                                      .mpi = "mpich",
                                      .mpiio = "system",
                                      .program = "/opt/app",
                                      .complete = true};
    return maker;
}

static inline struct trace_node *tree_add_node(struct tree_maker *maker, struct trace_node node)
{
    struct tree_level *level = &maker->level[maker->depth];
    if ((level->count & (level->count - 1)) == 0) /* room for twice as many, or for the first */
        level->nodes = realloc(level->nodes, (size_t)(level->count ? 2 * level->count : 1) * sizeof *level->nodes);
    if (!level->nodes)
        abort();
    level->nodes[level->count] = node;
    return &level->nodes[level->count++];
}

/* Files of MPI_COMM_WORLD. */
static inline int tree_file(struct tree_maker *maker, const char *name)
{
    struct trace_tree *tree = &maker->tree;
    maker->files = realloc(maker->files, (size_t)(tree->file_count + 1) * sizeof *maker->files);
    char *copy = strdup(name);
    if (!maker->files || !copy)
        abort();
    maker->files[tree->file_count] = (struct trace_file){
        .name = copy, .amode = 1 | 8, .ranks = tree->size, .world_stride = 1};
    return tree->file_count++;
}

static inline int tree_detail(struct tree_maker *maker, const char *text)
{
    const int index = maker->tree.detail_count++;
    maker->details[index].text = maker->texts[index] = strdup(text);
    return index;
}

static inline void tree_comm(struct tree_maker *maker, int64_t events, int64_t collectives)
{
    tree_add_node(maker, (struct trace_node){.kind = TRACE_NODE_COMM, .events = events, .collectives = collectives});
}

static inline void tree_loop(struct tree_maker *maker, int64_t turns)
{
    maker->level[++maker->depth] = (struct tree_level){.turns = turns};
}

static inline void tree_end(struct tree_maker *maker)
{
    const struct tree_level level = maker->level[maker->depth--];
    tree_add_node(maker,
                  (struct trace_node){
                      .kind = TRACE_NODE_LOOP, .turns = level.turns, .body = level.nodes, .body_count = level.count});
}

/* The node may be changed until the next one is added. */
static inline struct trace_node *tree_call(struct tree_maker *maker, const char *function, const char *class, int file)
{
    struct trace_node node = {.kind = TRACE_NODE_CALL,
                              .function = function,
                              .class = class,
                              .bytes = -1,
                              .offset = -1,
                              .detail = -1,
                              .file = file};
    node.times = (struct trace_times){.count = 1, .sum_ns = 1000, .min_ns = 1000, .max_ns = 1000};
    for (int i = 1; i <= maker->depth; i++)
        node.times.count *= maker->level[i].turns;
    node.times.sum_ns *= node.times.count;
    node.times.first_ns = maker->clock_ns;
    node.times.last_ns = maker->clock_ns += 5000 * node.times.count;
    return tree_add_node(maker, node);
}

static inline struct trace_node *tree_access(struct tree_maker *maker, const char *function, int file, int64_t bytes,
                                             int64_t offset, int64_t stride)
{
    struct trace_node *node = tree_call(maker, function, strstr(function, "read") ? "read" : "write", file);
    node->who = strstr(function, "_all") ? "coll" : "ind";
    node->how = "block";
    node->position = strstr(function, "_at") ? "explicit" : "individual";
    node->bytes = bytes;
    node->offset = offset;
    node->stride[0] = stride;
    return node;
}

static inline const struct trace_tree *tree_done(struct tree_maker *maker)
{
    maker->tree.nodes = maker->level[0].nodes;
    maker->tree.node_count = maker->level[0].count;
    maker->tree.files = maker->files;
    maker->tree.details = maker->details;
    return &maker->tree;
}

static inline void tree_free_nodes(struct trace_node *nodes, int count)
{
    for (int i = 0; i < count; i++)
        tree_free_nodes(nodes[i].body, nodes[i].body_count);
    free(nodes);
}

static inline void tree_free(struct tree_maker *maker)
{
    tree_free_nodes(maker->level[0].nodes, maker->level[0].count);
    for (int i = 0; i < maker->tree.detail_count; i++)
        free(maker->texts[i]);
    for (int i = 0; i < maker->tree.file_count; i++)
        free((char *)maker->files[i].name);
    free(maker->files);
    free(maker);
}

/* ---- what a tree says ---- */

struct tree_event {
    const char *function;
    int64_t bytes, offset;
};

struct tree_events {
    struct tree_event *events;
    size_t count, capacity;
};

static inline void tree_add(struct tree_events *list, struct tree_event event)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->events = realloc(list->events, list->capacity * sizeof *list->events);
        if (!list->events)
            abort();
    }
    list->events[list->count++] = event;
}

/* As trace_tree.h tells, with nothing clever. `turn`: of the loops around, the innermost first; `index`: how often. */
static inline void tree_expand(const struct trace_node *nodes, int count, const int64_t *turn, int depth, int64_t index,
                               struct tree_events *list)
{
    for (int i = 0; i < count; i++) {
        const struct trace_node *node = &nodes[i];
        if (node->kind == TRACE_NODE_CALL && strcmp(node->class, "seek") != 0 && strcmp(node->class, "query") != 0 &&
            node->code == 0) {
            int64_t offset = node->offset;
            for (int level = 0; level < depth; level++)
                offset += turn[level] * node->stride[level];
            if (node->offsets)
                offset = node->offsets[index];
            tree_add(list, (struct tree_event){node->function, node->bytes, node->bytes < 0 ? -1 : offset});
        }
        if (node->kind != TRACE_NODE_LOOP)
            continue;
        int64_t inner[TRACE_LEVELS_MAX + 1];
        for (int level = 0; level < depth; level++)
            inner[level + 1] = turn[level];
        for (inner[0] = 0; inner[0] < node->turns; inner[0]++)
            tree_expand(node->body, node->body_count, inner, depth + 1, index * node->turns + inner[0], list);
    }
}

/* ---- what a model says ---- */

struct tree_compare {
    const struct tree_events *events;
    size_t at;
    bool differs;
};

static inline bool tree_compare_event(void *context, const struct model_event *event)
{
    struct tree_compare *compare = context;
    if (compare->at == compare->events->count) {
        compare->differs = true;
        return false;
    }
    const struct tree_event *wanted = &compare->events->events[compare->at++];
    const bool shared = model_operation_of(event->step->operation).pointer == MODEL_SHARED;
    if (strcmp(wanted->function + strlen("MPI_File_"), event->step->operation) != 0 || wanted->bytes != event->size ||
        (!shared && wanted->offset != event->offset)) {
        fprintf(stderr, "call %zu of rank %lld: %s of %lld at %lld in the trace, %s of %lld at %lld in the model\n",
                compare->at - 1, (long long)event->rank, wanted->function, (long long)wanted->bytes,
                (long long)wanted->offset, event->step->operation, (long long)event->size, (long long)event->offset);
        compare->differs = true;
    }
    return !compare->differs;
}

/* Whether the model gives every call of the tree back. */
static inline bool tree_is_in(const struct model *model, const struct trace_tree *tree)
{
    struct tree_events events = {0};
    struct pl_error error;
    tree_expand(tree->nodes, tree->node_count, NULL, 0, 0, &events);
    struct tree_compare compare = {.events = &events};
    bool ok = model_expand(model, tree->rank, tree_compare_event, &compare, &error) == PL_OK;
    if (!ok)
        fprintf(stderr, "rank %d: %s\n", tree->rank, error.text);
    ok = ok && !compare.differs && compare.at == events.count;
    free(events.events);
    return ok;
}

#endif
