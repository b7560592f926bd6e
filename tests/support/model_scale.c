/* How long a model of many ranks takes, and how much memory: synthetic ranks of BT-IO's kind, given one after the
 * other. Started by hand: build/mpich/test/model_scale RANKS KIND. Kinds: "regular" (two sizes), "random" (offsets of
 * each rank in a list), "calls" (10^9 calls a rank, in loops), "columns" and "apart" (a million calls of all ranks
 * together, sizes and offsets without a rule: as a loop of the trace with lists, and each call for itself). */
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { DUMPS = 40, LIST = 64 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct trace_node call(const char *function, const char *class)
{
    return (struct trace_node){.kind = TRACE_NODE_CALL,
                               .function = function,
                               .class = class,
                               .bytes = -1,
                               .offset = -1,
                               .detail = -1,
                               .times = {1, 1000, 1000, 1000, 0, 0}};
}

static struct trace_node write_call(int64_t bytes, int64_t turns)
{
    struct trace_node node = call("MPI_File_write_at_all", "write");
    node.bytes = bytes;
    node.offset = 0;
    node.stride[0] = bytes / 40;
    node.times.count = turns;
    return node;
}

static struct trace_tree tree_of(int rank, int ranks, struct trace_node *nodes, int node_count)
{
    return (struct trace_tree){.program = "bench",
                               .host = "h",
                               .rank = rank,
                               .size = ranks,
                               .mpi = "m",
                               .mpiio = "s",
                               .complete = true,
                               .nodes = nodes,
                               .node_count = node_count};
}

static bool add_tree(struct model_builder *builder, struct trace_tree *tree, struct pl_error *error)
{
    struct trace_file files[] = {{.name = "bench.out", .amode = 9, .ranks = tree->size, .world_stride = 1}};
    tree->files = files;
    tree->file_count = 1;
    return model_builder_add(builder, tree, error) == PL_OK;
}

/* open, view, loop { communication, write }, loop { read }, close */
static int build_rank(struct model_builder *builder, int rank, int ranks, const char *kind, struct pl_error *error)
{
    static int64_t offsets[LIST];
    char view[160];
    snprintf(view, sizeof view, "disp=%d etype_bytes=40 filetype=vector(10,20,%d) size=400 extent=1600", rank * 400,
             ranks);
    const bool calls = strcmp(kind, "calls") == 0, random = strcmp(kind, "random") == 0;
    const int64_t bytes = rank % 100 < 42 ? 410000 : 400000, turns = calls ? 31623 : random ? LIST : DUMPS;
    struct trace_node inner[] = {write_call(bytes, turns * (calls ? turns : 1))};
    struct trace_node body[] = {
        {.kind = TRACE_NODE_COMM, .events = 121, .collectives = 1},
        calls ? (struct trace_node){.kind = TRACE_NODE_LOOP, .turns = turns, .body = inner, .body_count = 1}
              : inner[0]};
    if (calls)
        inner[0].stride[1] = 1 << 20;
    for (int i = 0; random && i < LIST; i++)
        offsets[i] = (int64_t)(((uint64_t)rank * 2654435761u + (uint64_t)i * 40503u) % 1000003u);
    if (random)
        body[1].offsets = offsets;
    struct trace_node nodes[] = {call("MPI_File_open", "open"),
                                 call("MPI_File_set_view", "view"),
                                 {.kind = TRACE_NODE_LOOP, .turns = turns, .body = body, .body_count = 2},
                                 call("MPI_File_close", "close")};
    struct trace_detail details[] = {{view}};
    nodes[1].detail = 0;
    struct trace_tree tree = tree_of(rank, ranks, nodes, 4);
    tree.details = details;
    tree.detail_count = 1;
    return add_tree(builder, &tree, error);
}

/* open, calls without a rule, close */
static int build_irregular(struct model_builder *builder, int rank, int ranks, bool apart, struct pl_error *error)
{
    const int count = 1000000 / ranks;
    int64_t *numbers = malloc(2 * (size_t)count * sizeof *numbers);
    struct trace_node *nodes = calloc((size_t)count + 2, sizeof *nodes);
    struct trace_node body[] = {write_call(0, count)};
    uint64_t state = (uint64_t)rank + 1;
    if (!numbers || !nodes)
        return false;
    for (int i = 0; i < 2 * count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        numbers[i] = (int64_t)(state >> 33) % (i < count ? 1 << 20 : 1 << 30);
    }
    nodes[0] = call("MPI_File_open", "open");
    for (int i = 0; i < count && apart; i++) {
        nodes[1 + i] = write_call(numbers[i], 1);
        nodes[1 + i].offset = numbers[count + i];
    }
    body[0].bytes = numbers[0];
    body[0].sizes = numbers;
    body[0].offsets = numbers + count;
    if (!apart)
        nodes[1] = (struct trace_node){.kind = TRACE_NODE_LOOP, .turns = count, .body = body, .body_count = 1};
    const int node_count = apart ? count + 2 : 3;
    nodes[node_count - 1] = call("MPI_File_close", "close");
    struct trace_tree tree = tree_of(rank, ranks, nodes, node_count);
    const bool ok = add_tree(builder, &tree, error);
    free(numbers);
    free(nodes);
    return ok;
}

static int build_kind(struct model_builder *builder, int rank, int ranks, const char *kind, struct pl_error *error)
{
    const bool apart = strcmp(kind, "apart") == 0;
    return apart || strcmp(kind, "columns") == 0 ? build_irregular(builder, rank, ranks, apart, error)
                                                 : build_rank(builder, rank, ranks, kind, error);
}

int main(int argc, char **argv)
{
    const int ranks = argc > 1 ? atoi(argv[1]) : 100000;
    const char *kind = argc > 2 ? argv[2] : "regular";
    struct model_builder *builder = model_builder_new();
    struct model model;
    struct pl_error error;
    struct text text = {0};
    struct rusage usage;
    const double begin = seconds();
    for (int rank = 0; rank < ranks; rank++)
        if (!builder || !build_kind(builder, rank, ranks, kind, &error)) {
            fprintf(stderr, "%s\n", builder ? error.text : "not enough memory");
            return 1;
        }
    const double added = seconds();
    if (model_builder_finish(builder, &model, &error) != PL_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    model_write(&model, true, &text);
    getrusage(RUSAGE_SELF, &usage);
    printf("%-8s %7d ranks: %6.2f s to add, %6.2f s to finish, %7.1f MB of memory at most, model of %zu bytes\n", kind,
           ranks, added - begin, seconds() - added, (double)usage.ru_maxrss * 1024 / 1e6, text.length);
    model_clear(&model);
    const double read = seconds();
    if (model_read("model", text_get(&text), &model, &error) != PL_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%.2f s to read it\n", seconds() - read);
    text_clear(&text);
    model_clear(&model);
    model_builder_free(builder);
    return 0;
}
