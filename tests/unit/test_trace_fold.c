/* Folding of traces: whatever comes is given back event by event, and what is regular stays small.
 * proves: PHASE-1 PHASE-2
 * It would fail if a fold lost, changed or reordered an event, if memory grew with the turns of loops, if a stream
 * that no loop fits took more than linear time, or if the records of a trace that ends in the middle of a turn could
 * not be read. */
#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/fewer.h"

#include "base/rng.h"
#include "trace/trace_collect.h"
#include "trace/trace_tree.h"

enum { KEYS = 6 };

struct item {
    int key; /* 0: communication */
    int64_t value;
};

struct stream {
    struct item *items;
    size_t count, room;
};

static struct trace_arena arena;
static struct trace_collect collect;
static struct trace_kind kind = {.class = "write", .who = "ind", .how = "block", .position = "explicit"};
static trace_ref call;
static uint64_t seed;
static uint64_t *quick; /* the copy, where expected calls go straight to it, as in the tracer */

static uint64_t draw(uint64_t limit)
{
    seed = rng_mix(seed);
    return seed % limit;
}

static void begin(void)
{
    assert_true(trace_arena_init(&arena));
    assert_true(trace_collect_init(&collect, &arena));
    call = trace_intern_call(&collect.fold.intern, "MPI_File_write_at", &kind);
}

static void end(void)
{
    quick = NULL;
    trace_collect_clear(&collect);
    trace_arena_clear(&arena);
}

static void add(int key, int64_t value)
{
    const struct trace_fold_event event = {
        .key = {.call = key ? call : 0, .file = -1, .detail = -1, .bytes = key ? key : 3, .collectives = key ? 0 : 1},
        .value = key ? value : 0,
        .begin_ns = 5,
        .duration_ns = 7,
        .gap_ns = 11};
    if (!key) { /* as the tracer counts it */
        arena.control->comm_events += 3;
        arena.control->comm_collectives++;
    }
    if (key && quick && trace_fold_add_quick(&collect.fold, &event, quick))
        return;
    assert_true(trace_fold_add(&collect.fold, &event));
}

static void put(struct stream *stream, int key, int64_t value)
{
    if (stream->count == stream->room) {
        stream->room = stream->room ? 2 * stream->room : 1024;
        stream->items = realloc(stream->items, stream->room * sizeof *stream->items);
        assert_non_null(stream->items);
    }
    stream->items[stream->count++] = (struct item){key, value};
}

static struct trace_tree build(void)
{
    struct trace_tree tree = {0};
    struct pl_error error = {0};
    const struct trace_records records = {arena.words, arena.used, arena.control};
    if (trace_build(&records, &tree, &error) != PL_OK)
        fail_msg("%s", error.text);
    return tree;
}

struct sums {
    int64_t duration_ns, gap_ns;
};

static void add_times(const struct trace_node *nodes, int count, struct sums *sums)
{
    for (int i = 0; i < count; i++) {
        if (nodes[i].kind == TRACE_NODE_LOOP)
            add_times(nodes[i].body, nodes[i].body_count, sums);
        sums->duration_ns += nodes[i].times.sum_ns;
        sums->gap_ns += nodes[i].times.gap_ns;
    }
}

/* What was folded so far is the first `count` items. */
static void check(const struct stream *stream, size_t count)
{
    struct trace_tree tree = build();
    struct trace_expand expand;
    struct trace_expanded found;
    size_t at = 0;
    int64_t calls = 0;
    trace_expand_init(&expand, &tree);
    for (; trace_expand_next(&expand, &found); at++) {
        assert_true(at < count);
        const int key = found.node->kind == TRACE_NODE_COMM ? 0 : (int)found.bytes;
        if (key != stream->items[at].key || (key && found.offset != stream->items[at].value))
            fail_msg("event %zu is %d at %" PRId64 ", not %d at %" PRId64, at, key, found.offset, stream->items[at].key,
                     stream->items[at].value);
        calls += key != 0;
    }
    assert_int_equal(at, count);
    assert_int_equal(calls, tree.calls);
    struct sums sums = {0, 0};
    add_times(tree.nodes, tree.node_count, &sums);
    const int64_t rounded = 8 * (int64_t)tree.node_count + 80; /* means are */
    assert_true(llabs(sums.duration_ns - 7 * (int64_t)count) <= rounded);
    assert_true(llabs(sums.gap_ns - 11 * (int64_t)count) <= rounded);
    trace_tree_clear(&tree);
}

/* How many events the tree has: those of which we know that they were added, or one more. */
static size_t count_events(int64_t known, const struct stream *stream)
{
    struct trace_tree tree = build();
    struct trace_expand expand;
    struct trace_expanded found;
    int64_t count = 0;
    trace_expand_init(&expand, &tree);
    while (trace_expand_next(&expand, &found))
        count++;
    trace_tree_clear(&tree);
    assert_true(count == known || count == known + 1);
    assert_true((size_t)count <= stream->count);
    return (size_t)count;
}

static void fold(const struct stream *stream)
{
    for (size_t i = 0; i < stream->count; i++)
        add(stream->items[i].key, stream->items[i].value);
}

/* A random program: loops of loops, calls whose offset depends on their counters, seldom on nothing. */
static void program(struct stream *stream, int depth, int64_t base, size_t limit)
{
    const uint64_t body_seed = seed;
    const int64_t turns = 1 + (int64_t)draw(depth > 3 ? 3 : 9), move = (int64_t)draw(5) * 100 - 100;
    const int body = 1 + (int)draw(4);
    const bool odd = draw(6) == 0, changing = draw(8) == 0;
    for (int64_t turn = 0; turn < turns && stream->count < limit; turn++) {
        uint64_t own = rng_at(body_seed, changing ? (uint64_t)turn : 0);
        for (int i = 0; i < body; i++) {
            seed = rng_at(own, (uint64_t)i);
            const int key = (int)draw(KEYS);
            if (depth > 0 && draw(2))
                program(stream, depth - 1, base + turn * move, limit);
            else
                put(stream, key, odd && key == 1 ? (int64_t)rng_at(own, (uint64_t)turn) : base + turn * move + key);
        }
    }
}

static void test_programs(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3000; i++) {
        struct stream stream = {0};
        seed = rng_at(4711, i);
        for (int part = 0; part < 3; part++) {
            seed = rng_at(rng_at(4711, i), (uint64_t)part + 1);
            program(&stream, 1 + (int)(i % 6), (int64_t)draw(1000), 4000);
        }
        begin();
        for (size_t k = 0; k < stream.count; k++) {
            add(stream.items[k].key, stream.items[k].value);
            if (i % 50 == 0 && k < 300) /* as if it were killed here */
                check(&stream, k + 1);
        }
        check(&stream, stream.count);
        end();
        free(stream.items);
    }
}

/* Streams without any structure, of few and of many values. */
static void test_noise(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 400; i++) {
        struct stream stream = {0};
        seed = rng_at(815, i);
        const uint64_t keys = 1 + draw(KEYS), values = 1 + draw(i % 2 ? 4 : 100000);
        for (int k = 0; k < 3000; k++) {
            const int key = (int)draw(keys);
            put(&stream, key, i % 7 == 0 ? (int64_t)rng_mix(draw(values)) : (int64_t)draw(values));
            if (draw(200) == 0) /* a straight part between */
                for (int n = 0, length = (int)draw(90); n < length; n++)
                    put(&stream, 1, n * 64);
        }
        begin();
        fold(&stream);
        check(&stream, stream.count);
        end();
        free(stream.items);
    }
}

static int shape(const struct trace_node *nodes, int count, char *text, int room)
{
    int used = 0;
    for (int i = 0; i < count; i++)
        if (nodes[i].kind == TRACE_NODE_LOOP) {
            used += snprintf(text + used, (size_t)(room - used), " %" PRId64 "(", nodes[i].turns);
            used += shape(nodes[i].body, nodes[i].body_count, text + used, room - used);
            used += snprintf(text + used, (size_t)(room - used), " )");
        } else if (nodes[i].kind == TRACE_NODE_COMM) {
            used += snprintf(text + used, (size_t)(room - used), " comm");
        } else {
            const char *form = nodes[i].offsets ? " %d?" : " %d";
            used += nodes[i].sizes ? snprintf(text + used, (size_t)(room - used), " any%s", nodes[i].offsets ? "?" : "")
                                   : snprintf(text + used, (size_t)(room - used), form, (int)nodes[i].bytes);
        }
    return used;
}

static void expect_shape(const char *expected)
{
    char text[4096] = "";
    struct trace_tree tree = build();
    shape(tree.nodes, tree.node_count, text, sizeof text);
    assert_string_equal(text, expected);
    trace_tree_clear(&tree);
}

static void test_shapes(void **state)
{
    (void)state;
    begin(); /* steps with communication between, and the reading of them all: BT-IO */
    for (int i = 0; i < 40; i++) {
        add(0, 0);
        add(1, 265302 * i);
    }
    for (int i = 0; i < 40; i++)
        add(2, 265302 * i);
    expect_shape(" 40( comm 1 ) 40( 2 )");
    end();

    begin(); /* a cube by lines */
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 9; k++)
                add(1, i * 10000 + j * 100 + k);
    expect_shape(" 5( 7( 9( 1 ) ) )");
    end();

    begin(); /* two lines with different strides are two loops */
    for (int i = 0; i < 100; i++)
        add(1, i * 8);
    for (int i = 0; i < 100; i++)
        add(1, 5000 + i * 16);
    expect_shape(" 100( 1 ) 100( 1 )");
    end();

    begin(); /* anywhere; anywhere with communication between; then in line again */
    for (int i = 0; i < 1000; i++)
        add(1, (int64_t)draw(1 << 30));
    for (int i = 0; i < 1000; i++) {
        add(0, 0);
        add(2, (int64_t)draw(1 << 30));
    }
    for (int i = 0; i < 1000; i++)
        add(2, 64 * i);
    expect_shape(" 1000( 1? ) 1000( comm 2? ) 1000( 2 )");
    end();
}

/* The copy, as the tracer keeps it in a file: in memory that is shared with us. */
static struct {
    uint64_t *words;
    struct trace_control *control;
} copy;

static bool publish(struct trace_arena *of)
{
    trace_control_copy_comm(of->control, copy.control); /* in the tracer's order */
    atomic_signal_fence(memory_order_seq_cst);
    trace_arena_copy_records(of, copy.words);
    trace_arena_copy_control(of, copy.control);
    of->change_count = 0;
    return true;
}

/* Folds, and keeps the copy, until it is killed. */
static void fold_for_ever(const struct stream *stream, _Atomic int64_t *done)
{
    begin();
    arena.publish = publish;
    quick = copy.words;
    trace_arena_note(&arena, 1, (arena.used - 1) * sizeof *arena.words); /* what begin() made */
    for (size_t i = 0; i < stream->count; i++) {
        add(stream->items[i].key, stream->items[i].value);
        atomic_store(done, (int64_t)i + 1);
    }
    _exit(0);
}

/* A process that is killed at any instruction leaves all that it had added, and at most what it was adding. */
static void test_kills(void **state)
{
    (void)state;
    enum { ROOM = 32 << 20 };
    for (uint64_t round = 0; round < 60 / FEWER; round++) {
        struct stream stream = {0};
        seed = rng_at(99, round);
        for (int part = 0; stream.count < 60000; part++) {
            seed = rng_at(rng_at(99, round), (uint64_t)part + 1);
            program(&stream, 1 + (int)(round % 5), (int64_t)draw(1000), stream.count + 3000);
            for (uint64_t i = 0, noise = draw(60); i < noise; i++)
                put(&stream, (int)draw(KEYS), (int64_t)draw(50));
            for (uint64_t i = 0, noise = round % 2 ? draw(3000) : 0; i < noise; i++) /* sizes that vary */
                put(&stream, 1 + (int)draw(100000), (int64_t)draw(1 << 30));
        }
        char *shared = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_ptr_not_equal(shared, MAP_FAILED);
        _Atomic int64_t *done = (_Atomic int64_t *)(void *)shared;
        copy.control = (struct trace_control *)(void *)(shared + 1024);
        copy.words = (uint64_t *)(void *)(shared + 4096);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            fold_for_ever(&stream, done);
        while (!atomic_load(done))
            sched_yield();
        usleep((useconds_t)draw(3000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        arena = (struct trace_arena){.control = copy.control, .words = copy.words, .used = (ROOM - 4096) / 8};
        check(&stream, count_events(atomic_load(done), &stream));
        munmap(shared, ROOM);
        free(stream.items);
    }
}

/* The copy is whole behind every event, and nothing is read from it: others may have written to it. */
static void test_copy(void **state)
{
    (void)state;
    enum { ROOM = 1 << 20 };
    for (uint64_t round = 0; round < 40 / FEWER; round++) {
        struct stream stream = {0};
        struct trace_control control = {0};
        seed = rng_at(7, round);
        while (stream.count < 4000) {
            program(&stream, 1 + (int)(round % 5), (int64_t)draw(1000), stream.count + 1000);
            for (uint64_t i = 0, noise = draw(60); i < noise; i++)
                put(&stream, (int)draw(KEYS), (int64_t)draw(50));
        }
        copy.words = calloc(ROOM, sizeof *copy.words);
        copy.control = &control;
        begin();
        arena.publish = publish;
        quick = copy.words;
        trace_arena_note(&arena, 1, (arena.used - 1) * sizeof *arena.words);
        const struct trace_arena copied = {.control = &control, .words = copy.words, .used = ROOM};
        for (size_t i = 0; i < stream.count; i++) {
            add(stream.items[i].key, stream.items[i].value);
            assert_true(arena.used <= ROOM);
            if (i % 61)
                continue;
            const struct trace_arena folding = arena;
            arena = copied;
            check(&stream, i + 1);
            arena = folding;
        }
        memset(copy.words, 0x5a, ROOM * sizeof *copy.words);
        add(1, 0);
        end();
        free(copy.words);
        free(stream.items);
    }
}

static size_t bytes_used(void)
{
    return arena.used * sizeof arena.words[0];
}

/* 10^8 events of three loops inside of each other (10^7 with sanitizers, which make it slow): the arena does not grow
 * after the first turns. */
static void test_many(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    enum { TURNS = 10 };
#else
    enum { TURNS = 100 };
#endif
    char expected[64];
    begin();
    size_t early = 0;
    for (int64_t i = 0; i < TURNS; i++) {
        for (int64_t j = 0; j < 500; j++) {
            for (int64_t k = 0; k < 1998; k++)
                add(1, (i << 40) + (j << 20) + 8 * k);
            add(2, j);
            add(0, 0);
        }
        if (i == 4)
            early = bytes_used();
    }
    assert_int_equal(bytes_used(), early);
    assert_true(early < 8192);
    snprintf(expected, sizeof expected, " %d( 500( 1998( 1 ) 2 comm ) )", TURNS);
    expect_shape(expected);
    end();
}

/* Offsets without rule: about 8 bytes each. */
/* Two reads, six times a write and a read, two writes: the loop that is found begins with the second read and ends with
 * the first of the two writes. What the calls at its ends took belongs to other phases of the program. */
static void test_durations_at_the_ends(void **state)
{
    enum { READ = 1, WRITE, CALLS = 16 };
    static const int64_t took[CALLS] = {100, 200, 20, 10, 20, 10, 20, 10, 20, 10, 20, 10, 20, 10, 300, 400};
    int64_t offset[WRITE + 1] = {0};
    struct trace_expand expand;
    struct trace_expanded found;
    (void)state;
    begin();
    for (int i = 0; i < CALLS; i++) {
        const int key = i < 2 || (i < 14 && i % 2 == 1) ? READ : WRITE;
        const struct trace_fold_event event = {.key = {.call = call, .file = -1, .detail = -1, .bytes = key},
                                               .value = offset[key]++,
                                               .duration_ns = took[i]};
        assert_true(trace_fold_add(&collect.fold, &event));
    }
    struct trace_tree tree = build();
    assert_true(tree.node_count < 5);
    trace_expand_init(&expand, &tree);
    for (int i = 0; i < CALLS; i++) {
        assert_true(trace_expand_next(&expand, &found));
        assert_int_equal(found.duration_ns, took[i]);
    }
    trace_tree_clear(&tree);
    end();
}

/* A first call that takes much longer than the others: listed, then in line. It is counted once. */
static void test_durations_once(void **state)
{
    enum { CALLS = 96, LISTED = 40, LONG = 1000000 };
    struct trace_expand expand;
    struct trace_expanded found;
    double sum = 0;
    (void)state;
    begin();
    seed = 7;
    for (int i = 0; i < CALLS; i++) {
        const struct trace_fold_event event = {.key = {.call = call, .file = -1, .detail = -1, .bytes = 8},
                                               .value = i < LISTED ? (int64_t)draw(1000) * 8 : 100000 + 8 * i,
                                               .duration_ns = i == 0 ? LONG : 1};
        assert_true(trace_fold_add(&collect.fold, &event));
    }
    struct trace_tree tree = build();
    trace_expand_init(&expand, &tree);
    while (trace_expand_next(&expand, &found))
        sum += found.duration_ns;
    assert_in_range(sum, LONG + CALLS / 2, LONG + 2 * CALLS);
    trace_tree_clear(&tree);
    end();
}

static void test_random_bytes(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 100000; i++)
        add(1, (int64_t)draw(INT64_C(1) << 40));
    assert_true(bytes_used() < 100000 * 10);
    end();
}

/* Sizes without rule: two numbers a call, in rows too; what is regular behind them is folded as ever. */
static void test_random_sizes(void **state)
{
    enum { CALLS = 100000 };
    struct stream stream = {0};
    (void)state;
    for (int kinds = 2; kinds <= 1 << 20; kinds *= 32) {
        stream.count = 0;
        seed = (uint64_t)kinds;
        for (int i = 0; i < CALLS; i++)
            put(&stream, 1 + (int)draw((uint64_t)kinds), (int64_t)draw(INT64_C(1) << 40));
        begin();
        fold(&stream);
        check(&stream, stream.count);
        assert_true(bytes_used() < (size_t)CALLS * 18);
        end();

        stream.count = 0; /* one behind the other, and communication between */
        for (int64_t i = 0, at = 0; i < CALLS; i++, at += stream.items[stream.count - 1].key) {
            put(&stream, 0, 0);
            put(&stream, 1 + (int)draw((uint64_t)kinds), at);
        }
        begin();
        fold(&stream);
        check(&stream, stream.count);
        assert_true(bytes_used() < (size_t)CALLS * 20);
        end();
    }
    free(stream.items);
}

/* Sizes at random with communication now and then; and such stretches with regular ones between. What is regular behind
 * all of it is folded as ever. */
static void test_any_order(void **state)
{
    enum { CALLS = 100000, STRETCH = 300, REGULAR = 600 };
    struct stream stream = {0};
    (void)state;
    seed = 11;
    for (int i = 0; i < CALLS; i++) {
        const bool comm = draw(15) == 0;
        put(&stream, comm ? 0 : 1 + (int)draw(2000), comm ? 0 : (int64_t)draw(INT64_C(1) << 40));
    }
    begin();
    fold(&stream);
    check(&stream, stream.count);
    assert_true(bytes_used() < (size_t)CALLS * 19);
    const size_t before = bytes_used();
    for (int i = 0; i < CALLS; i++)
        add(1 + i % 5, 8 * i);
    assert_true(bytes_used() < before + 65536);
    end();

    stream.count = 0;
    for (int i = 0; i < CALLS; i++)
        if (i % (STRETCH + REGULAR) < STRETCH)
            put(&stream, 1 + (int)draw(2000), (int64_t)draw(INT64_C(1) << 40));
        else
            put(&stream, 3000, 8 * i);
    begin();
    fold(&stream);
    check(&stream, stream.count);
    assert_true(bytes_used() < (size_t)CALLS * 20);
    end();
    free(stream.items);
}

static void test_sizes_that_fall_into_line(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 1000; i++)
        add(1 + (int)draw(1 << 20), (int64_t)draw(1 << 30));
    const size_t early = bytes_used();
    for (int i = 0; i < 100000; i++) /* ten sizes, again and again */
        add(10 + i % 10, 1000 * (int64_t)i);
    for (int i = 0; i < 100000; i++)
        add(7, 64 * (int64_t)i);
    assert_true(bytes_used() < early + 65536);
    end();

    begin(); /* the row of a hundred sizes is found, however alike they are */
    for (int i = 0; i < 100000; i++)
        add(1 + i % 100, 8 * (int64_t)i);
    assert_true(bytes_used() < 65536);
    end();
}

/* Streams that come close to loops all the time and break off: every event is looked at a bounded number of times. */
static void test_adversaries(void **state)
{
    (void)state;
    struct stream stream = {0};
    for (int i = 1; stream.count < 300000; i++) /* runs that grow */
        for (int k = 0; k < i % 700; k++)
            put(&stream, 1 + k % 2, k);
    for (uint64_t i = 0; stream.count < 600000; i++) /* the word without cubes */
        put(&stream, 1 + __builtin_popcountll(i) % 2, 0);
    for (int i = 0; stream.count < 900000; i++) { /* a long body that changes in its last call */
        for (int k = 0; k < 100; k++)
            put(&stream, 1 + k % 5, k * k);
        put(&stream, 1 + i % 3, i * i);
    }
    begin();
    fold(&stream);
    check(&stream, stream.count);
    end();
    free(stream.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),         cmocka_unit_test(test_programs),
        cmocka_unit_test(test_noise),          cmocka_unit_test(test_kills),
        cmocka_unit_test(test_copy),           cmocka_unit_test(test_many),
        cmocka_unit_test(test_random_bytes),   cmocka_unit_test(test_random_sizes),
        cmocka_unit_test(test_any_order),      cmocka_unit_test(test_sizes_that_fall_into_line),
        cmocka_unit_test(test_adversaries),    cmocka_unit_test(test_durations_at_the_ends),
        cmocka_unit_test(test_durations_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
