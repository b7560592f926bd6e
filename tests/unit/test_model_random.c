/* Random programs: a model gives back every call of every rank, however the trace was folded and the ranks were merged.
 * proves: PHASE-2 PHASE-3 PHASE-6
 * It would fail if an offset, a size or the order of calls came out wrong for any pattern, or if folding the trace
 * differently, or building the model from two halves of the ranks, gave another model. The seed is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/fewer.h"
#include "unit/model_trees.h"

#include "base/rng.h"

enum { PROGRAMS = 300 / FEWER, RANKS_MAX = 12, CALLS_MAX = 3000 };

/* ---- random programs ---- */

struct source { /* of random numbers: the same for all ranks of a program */
    uint64_t seed, at;
};

static int64_t pick(struct source *source, int64_t below)
{
    return (int64_t)(rng_at(source->seed, source->at++) % (uint64_t)below);
}

/* A number of a rank: constant, affine, grid, one rank apart, or any. */
static int64_t of_rank(struct source *source, int rank, int64_t unit)
{
    const int64_t a = pick(source, 50) * unit, b = pick(source, 20) * unit, m = 2 + pick(source, 3);
    const uint64_t any = rng_at(source->seed + 77, source->at * 1000 + (uint64_t)rank);
    switch (pick(source, 6)) {
    case 0:
        return a;
    case 1:
        return a + b * rank;
    case 2:
        return a + b * (rank / m) + 7 * unit * (rank % m);
    case 3:
        return rank == m ? a : b;
    case 4:
        return (a + unit) * (3 + rank / m % 2) * (5 + rank % m % 2);
    default:
        return (int64_t)(any % 1000) * unit;
    }
}

static void make_access(struct tree_maker *maker, struct source *source)
{
    static const char *const NAMES[] = {"MPI_File_write_at_all", "MPI_File_read_at", "MPI_File_write"};
    const int rank = maker->tree.rank;
    const char *name = NAMES[pick(source, 3)];
    const int64_t bytes = pick(source, 3) ? 8 * (1 + pick(source, 4)) : of_rank(source, rank, 8) + 8;
    struct trace_node *node = tree_access(maker, name, (int)pick(source, 2), bytes, of_rank(source, rank, 1000), 0);
    const bool list = pick(source, 6) == 0;
    for (int i = 0; i < maker->depth; i++)
        node->stride[i] = of_rank(source, rank, 10);
    if (!list)
        return;
    const bool same = pick(source, 2);
    int64_t *offsets = malloc((size_t)node->times.count * sizeof *offsets);
    assert_non_null(offsets);
    for (int64_t i = 0; i < node->times.count; i++)
        offsets[i] = (int64_t)(rng_at(source->seed + (same ? 0 : (uint64_t)rank), (uint64_t)i) % 100000);
    node->offsets = offsets;
}

static void make_nodes(struct tree_maker *maker, struct source *source, int depth)
{
    const int64_t count = 1 + pick(source, 4);
    for (int64_t i = 0; i < count; i++) {
        const int64_t kind = pick(source, 8);
        const bool alone = pick(source, 5) == 0; /* only some ranks do it */
        const int64_t who = pick(source, 3);
        const struct source before = *source;
        if (alone && maker->tree.rank % 3 != who) {
            source->at = before.at + 100000; /* skip what the others draw */
            continue;
        }
        if (kind < 3 && depth > 0) {
            static const int64_t TURNS[] = {2, 3, 5, 12, 40};
            tree_loop(maker, TURNS[pick(source, 5)]);
            make_nodes(maker, source, depth - 1);
            tree_end(maker);
        } else if (kind == 3 && !alone) {
            tree_comm(maker, 1 + pick(source, 5), pick(source, 3));
        } else if (kind == 4) {
            tree_call(maker, "MPI_File_sync", "sync", 0);
        } else if (kind == 5) {
            tree_call(maker, "MPI_File_seek", "seek", 0);
        } else {
            make_access(maker, source);
        }
        if (alone)
            source->at = before.at + 100000;
    }
}

static struct tree_maker *make_program(uint64_t seed, int rank, int size)
{
    struct source source = {.seed = seed};
    struct tree_maker *maker = tree_new(rank, size);
    tree_file(maker, "shared.dat");
    char name[32];
    snprintf(name, sizeof name, "own.%03d", rank);
    tree_file(maker, name);
    tree_call(maker, "MPI_File_open", "open", 0);
    tree_call(maker, "MPI_File_open", "open", 1);
    make_nodes(maker, &source, 3);
    tree_comm(maker, 1, 1);
    return maker;
}

static void free_lists(struct trace_node *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        free((int64_t *)nodes[i].offsets);
        free_lists(nodes[i].body, nodes[i].body_count);
    }
}

/* ---- the same program, unfolded ---- */

static void unfold(struct tree_maker *flat, const struct trace_node *nodes, int count, const int64_t *turn, int depth,
                   int64_t index)
{
    for (int i = 0; i < count; i++) {
        struct trace_node node = nodes[i];
        int64_t inner[TRACE_LEVELS_MAX + 1];
        for (int level = 0; level < depth; level++) {
            inner[level + 1] = turn[level];
            if (node.kind == TRACE_NODE_CALL)
                node.offset += turn[level] * node.stride[level];
            node.stride[level] = 0;
        }
        if (node.offsets)
            node.offset = node.offsets[index];
        node.offsets = NULL;
        if (node.kind != TRACE_NODE_LOOP)
            tree_add_node(flat, node);
        for (inner[0] = 0; node.kind == TRACE_NODE_LOOP && inner[0] < node.turns; inner[0]++)
            unfold(flat, node.body, node.body_count, inner, depth + 1, index * node.turns + inner[0]);
    }
}

static void add(struct model_builder *builder, const struct trace_tree *tree)
{
    struct pl_error error;
    if (model_builder_add(builder, tree, &error) != PL_OK)
        fail_msg("%s", error.text);
}

/* ---- what must hold ---- */

static int64_t calls_of(const struct trace_tree *tree)
{
    struct tree_events events = {0};
    tree_expand(tree->nodes, tree->node_count, NULL, 0, 0, &events);
    free(events.events);
    return (int64_t)events.count;
}

static void steps_text(struct model_builder *builder, struct model *model, struct text *text)
{
    struct pl_error error;
    if (model_builder_finish(builder, model, &error) != PL_OK)
        fail_msg("%s", error.text);
    model_builder_free(builder);
    model_write(model, false, text);
    assert_false(text->failed);
}

static void try_program(uint64_t seed, int size)
{
    struct tree_maker *ranks[RANKS_MAX];
    struct model_builder *whole = model_builder_new(), *flat = model_builder_new(), *trunk = model_builder_new();
    struct model_builder *branch = model_builder_branch(trunk);
    struct model model, other, read;
    struct text text = {0}, flat_text = {0}, merged_text = {0};
    struct pl_error error;
    for (int rank = 0; rank < size; rank++) {
        ranks[rank] = make_program(seed, rank, size);
        struct tree_maker *unfolded = tree_new(rank, size);
        const struct trace_tree *tree = tree_done(ranks[rank]);
        unfold(unfolded, tree->nodes, tree->node_count, NULL, 0, 0);
        unfolded->tree.file_count = tree->file_count;
        unfolded->files = tree->files;
        add(whole, tree);
        add(flat, tree_done(unfolded));
        add(rank < size / 2 ? trunk : branch, tree);
        unfolded->tree.file_count = 0;
        unfolded->files = NULL;
        tree_free(unfolded);
    }
    steps_text(whole, &model, &text);
    for (int rank = 0; rank < size; rank++)
        if (!tree_is_in(&model, tree_done(ranks[rank])))
            fail_msg("seed %llu, rank %d of %d:\n%s", (unsigned long long)seed, rank, size, text_get(&text));
    if (model_read("model", text_get(&text), &read, &error) != PL_OK)
        fail_msg("seed %llu: %s in:\n%s", (unsigned long long)seed, error.text, text_get(&text));
    for (int rank = 0; rank < size; rank++)
        assert_true(tree_is_in(&read, tree_done(ranks[rank])));
    model_clear(&read);
    model_clear(&model);
    assert_int_equal(model_builder_merge(trunk, branch, &error), PL_OK);
    model_builder_free(branch);
    steps_text(trunk, &other, &merged_text);
    assert_string_equal(text_get(&text), text_get(&merged_text));
    model_clear(&other);
    steps_text(flat, &other, &flat_text);
    for (int rank = 0; rank < size; rank++) {
        assert_true(tree_is_in(&other, tree_done(ranks[rank])));
        free_lists(ranks[rank]->level[0].nodes, ranks[rank]->level[0].count);
        tree_free(ranks[rank]);
    }
    if (strcmp(text_get(&text), text_get(&flat_text)) != 0)
        fail_msg("seed %llu, folded:\n%s\nunfolded:\n%s", (unsigned long long)seed, text_get(&text),
                 text_get(&flat_text));
    model_clear(&other);
    text_clear(&text);
    text_clear(&flat_text);
    text_clear(&merged_text);
}

static void every_call_comes_back(void **state)
{
    (void)state;
    const char *given = getenv("PIOLET_TEST_SEED");
    const uint64_t first = given ? strtoull(given, NULL, 10) : 1;
    printf("seeds from %llu on (PIOLET_TEST_SEED)\n", (unsigned long long)first);
    for (uint64_t seed = first; seed < first + PROGRAMS; seed++) {
        struct tree_maker *maker = make_program(seed, 0, 1);
        const int64_t calls = calls_of(tree_done(maker));
        free_lists(maker->level[0].nodes, maker->level[0].count);
        tree_free(maker);
        if (calls <= CALLS_MAX)
            try_program(seed, 1 + (int)(seed % RANKS_MAX));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
