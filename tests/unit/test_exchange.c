/* The pure parts of the two-phase exchange: domains and windows, aggregators, coverage, messages.
 * proves: GPFS-1 GPFS-2 COLL-2
 * It would fail if a byte belonged to no aggregator or to two, if a domain began at an odd place, if two aggregators
 * were one rank, if a byte that nobody wrote counted as filled, if a message overran its buffer, lost a piece, or
 * described its data wrongly. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/coverage/coverage.h"
#include "engine/exchange/exchange.h"
#include "engine/exchange/exchange_core.h"

#include "random_case.h"

/* ---- Domains ----------------------------------------------------------------------------------------------------- */

/* Checks a window: that it begins where the one before ended, and that its bytes know whose they are. */
static int64_t expect_window(const struct move_domain *domain, int aggregator, int64_t round, int64_t reached)
{
    assert_int_equal(move_window_begin(domain, aggregator, round), reached);
    const int64_t next = move_window_end(domain, aggregator, round);
    assert_true(next > reached && next - reached <= domain->window && next <= domain->end);
    for (int i = 0; i < 3; i++) {
        const int64_t byte = i == 0 ? reached : i == 1 ? next - 1 : reached + below(next - reached);
        assert_int_equal(move_domain_aggregator(domain, byte), aggregator);
        assert_int_equal(move_domain_round(domain, byte), round);
    }
    return next;
}

/* The windows of all aggregators, each at its turn, are the range. */
static void expect_tiled(const struct move_domain *domain, int64_t lo, int64_t hi, int64_t unit)
{
    assert_int_equal(domain->begin % unit, 0);
    assert_true(domain->begin <= lo);
    assert_int_equal(domain->end, hi);
    assert_int_equal(domain->chunk % unit, 0);
    const int64_t cycle = (lo - domain->begin) / domain->chunk / domain->aggregators;
    int64_t reached = domain->begin + cycle * domain->chunk * domain->aggregators;
    for (int64_t round = cycle * domain->windows; reached < hi; round += domain->windows)
        for (int aggregator = 0; aggregator < domain->aggregators && reached < hi; aggregator++)
            for (int64_t i = 0; i < domain->windows && reached < hi; i++)
                reached = expect_window(domain, aggregator, round + i, reached);
    assert_int_equal(reached, hi);
}

static void test_domain(void **unused)
{
    (void)unused;
    static const int64_t units[] = {1, 7, 512, 4096, 65536};
    for (int i = 0; i < 20000; i++) {
        const int64_t unit = units[below(5)], span = 1 + below(i % 2 ? 300 : 3000000);
        const int64_t lo = below(i % 3 ? 100000 : INT64_C(1) << 50), hi = lo + span;
        const int64_t window = 1 + span / (1 + below(40)) + below(100);
        const int aggregators = (int)(1 + below(i % 5 ? 9 : 300));
        struct move_domain domain;
        move_domain_block(&domain, lo, hi, aggregators, unit, window);
        assert_true(lo - domain.begin < unit);
        assert_true(hi - domain.begin <= aggregators * domain.chunk); /* one cycle */
        expect_tiled(&domain, lo, hi, unit);
        const int64_t chunk = unit * (1 + span / unit / (1 + below(200)));
        move_domain_cyclic(&domain, lo, hi, aggregators, chunk, 1 + below(2 * chunk), false);
        assert_true(lo - domain.begin < chunk);
        expect_tiled(&domain, lo, hi, unit);
        move_domain_cyclic(&domain, lo, hi, aggregators, chunk, 1 + chunk / (1 + below(9)), true);
        assert_int_equal(domain.begin, 0);
        expect_tiled(&domain, lo, hi, unit);
    }
}

static void test_domain_far(void **unused)
{
    (void)unused;
    const int64_t hi = INT64_MAX - 5, lo = hi - 1000;
    struct move_domain domain;
    move_domain_block(&domain, lo, hi, 3, 4096, 100);
    expect_tiled(&domain, lo, hi, 4096);
    move_domain_cyclic(&domain, lo, hi, 3, 4096, 100, true);
    expect_tiled(&domain, lo, hi, 4096);
    move_domain_block(&domain, 0, hi, 4, 65536, 1 << 22);
    assert_int_equal(move_domain_aggregator(&domain, hi - 1), 3);
    assert_int_equal(move_window_end(&domain, 3, move_domain_round(&domain, hi - 1)), hi);
}

static void test_aggregators(void **unused)
{
    (void)unused;
    for (int ranks = 1; ranks <= 70; ranks++)
        for (int aggregators = 1; aggregators <= ranks; aggregators++) {
            int playing = 0;
            for (int aggregator = 0; aggregator < aggregators; aggregator++) {
                const int rank = move_aggregator_rank(aggregator, aggregators, ranks);
                assert_in_range(rank, 0, ranks - 1);
                assert_int_equal(move_rank_aggregator(rank, aggregators, ranks), aggregator);
                assert_true(aggregator == 0 || rank > move_aggregator_rank(aggregator - 1, aggregators, ranks));
            }
            for (int rank = 0; rank < ranks; rank++)
                playing += move_rank_aggregator(rank, aggregators, ranks) >= 0;
            assert_int_equal(playing, aggregators);
        }
}

static void test_aggregators_many(void **unused)
{
    (void)unused;
    const int ranks = 2000000000, aggregators = 1999999999; /* products beyond 32 bits */
    for (int i = 0; i < 1000; i++) {
        const int aggregator = (int)below(aggregators), rank = move_aggregator_rank(aggregator, aggregators, ranks);
        assert_in_range(rank, 0, ranks - 1);
        assert_int_equal(move_rank_aggregator(rank, aggregators, ranks), aggregator);
    }
}

/* ---- Coverage ---------------------------------------------------------------------------------------------------- */

static void expect_cover(const uint64_t *coverage, const bool *filled, int64_t window)
{
    int64_t begin = 0, end = -1, place = 0;
    while (coverage_next(coverage, window, &begin, &end)) {
        assert_true(begin < end && end <= window);
        while (place < begin)
            assert_false(filled[place++]);
        while (place < end)
            assert_true(filled[place++]);
        assert_true(end == window || !filled[end]); /* as long as it can be */
        begin = end;
    }
    while (place < window)
        assert_false(filled[place++]);
}

static void test_cover(void **unused)
{
    (void)unused;
    enum { LARGEST = 700 };
    for (int i = 0; i < 5000; i++) {
        uint64_t coverage[(LARGEST + 63) / 64 + 1] = {0};
        bool filled[LARGEST] = {0};
        const int64_t window = 1 + below(i % 4 ? 130 : LARGEST), adds = below(12);
        assert_true(coverage_bytes(window) <= sizeof coverage);
        coverage[coverage_bytes(window) / sizeof coverage[0]] = UINT64_C(0xabcdef); /* behind it: nobody's business */
        for (int64_t add = 0; add < adds; add++) {
            const int64_t begin = below(window), bytes = below(i % 3 ? window - begin + 1 : 3);
            const int64_t fitting = bytes < window - begin ? bytes : window - begin;
            coverage_add(coverage, begin, fitting);
            memset(filled + begin, true, (size_t)fitting);
            expect_cover(coverage, filled, window);
        }
        expect_cover(coverage, filled, window);
        assert_int_equal(coverage[coverage_bytes(window) / sizeof coverage[0]], 0xabcdef);
        const int64_t begin_at = below(window); /* from the middle */
        int64_t begin = begin_at, end = 0, wanted = begin_at;
        const bool found = coverage_next(coverage, window, &begin, &end);
        while (wanted < window && !filled[wanted])
            wanted++;
        assert_int_equal(found, wanted < window);
        if (found)
            assert_int_equal(begin, wanted);
    }
}

static void test_cover_empty(void **unused)
{
    (void)unused;
    uint64_t coverage[2] = {0};
    int64_t begin = 0, end = 0;
    coverage_add(coverage, 0, 0);
    coverage_add(coverage, 64, 0);
    assert_false(coverage_next(coverage, 128, &begin, &end));
    begin = 128;
    assert_false(coverage_next(coverage, 128, &begin, &end)); /* at the end there is nothing more */
    coverage_add(coverage, 0, 128);
    begin = 0;
    assert_true(coverage_next(coverage, 128, &begin, &end));
    assert_int_equal(begin, 0);
    assert_int_equal(end, 128);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

enum { FILE_BYTES = 60000, DATA_BYTES = 20000, GUARD = 64 };

/* A filetype of random blocks, ascending; or of one block size and stride. */
static struct typemap *random_filetype(void)
{
    enum { BLOCKS = 40 };
    struct typemap *byte, *map = NULL, *bounded;
    int64_t displacements[BLOCKS], counts[BLOCKS], place = below(10);
    ok(typemap_dense(1, &byte, &error));
    if (below(3) == 0) {
        const int64_t length = 1 + below(30), stride = length + 1 + below(20);
        struct typemap *piece;
        ok(typemap_dense(length, &piece, &error));
        ok(typemap_repeat(piece, 1 + below(50), stride, &map, &error));
        typemap_unref(piece);
    } else {
        const int64_t blocks = 1 + below(BLOCKS), longest = below(2) ? 20 : 900;
        for (int64_t i = 0; i < blocks; i++) {
            displacements[i] = place;
            counts[i] = 1 + below(longest);
            place += counts[i] + below(30);
        }
        ok(typemap_indexed(blocks, displacements, counts, byte, &map, &error));
    }
    typemap_unref(byte);
    const struct typemap_shape *shape = typemap_shape(map);
    ok(typemap_resized(map, 0, shape->true_lb + shape->true_extent + below(25), &bounded, &error));
    typemap_unref(map);
    return bounded;
}

static void make_view(struct view *view, bool contiguous)
{
    *view = (struct view){.displacement = below(500), .etype_size = 1, .etype_extent = 1, .contiguous = contiguous};
    if (contiguous)
        ok(typemap_dense(1, &view->filetype, &error));
    else
        view->filetype = random_filetype();
    view->contiguous = contiguous || typemap_shape(view->filetype)->tiles;
}

/* Where the bytes of the view's data are in the file, by the plain formula. */
static int64_t place_of(const struct view *view, int64_t position)
{
    return view->displacement + (view->contiguous ? position : typemap_displacement(view->filetype, position));
}

/* The aggregators that have something, and no others, each where it begins. */
static void check_targets(const struct move_domain *domain, const struct view *view, int64_t first, int64_t limit,
                          const int64_t *next)
{
    struct exchange_targets targets;
    int count = 0;
    assert_true(exchange_targets_init(&targets));
    assert_true(exchange_targets_find(&targets, domain, view, first, limit));
    for (int aggregator = 0; aggregator < domain->aggregators; aggregator++)
        count += next[aggregator] < limit;
    assert_int_equal(targets.count, count);
    for (int i = 0; i < targets.count; i++)
        assert_int_equal(targets.list[i].position, next[targets.list[i].aggregator]);
    exchange_targets_clear(&targets);
}

/* What is found for an aggregator by steps is what looking at every byte finds. */
static void check_next(const struct view *view)
{
    const int64_t first = below(2000), limit = first + 1 + below(3000);
    const int64_t lo = place_of(view, first), hi = place_of(view, limit - 1) + 1;
    const int aggregators = (int)(1 + below(6));
    struct move_domain domain;
    if (below(3) == 0)
        move_domain_block(&domain, lo, hi, aggregators, 1 + below(700), 100);
    else
        move_domain_cyclic(&domain, lo, hi, aggregators, 1 + below(below(2) ? 40 : 2000), 64, below(2));
    int64_t next[6] = {0};
    for (int aggregator = 0; aggregator < aggregators; aggregator++)
        next[aggregator] = limit;
    for (int64_t position = limit - 1; position >= first; position--) {
        next[move_domain_aggregator(&domain, place_of(view, position))] = position;
        const int aggregator = (int)below(aggregators);
        assert_int_equal(move_domain_next(&domain, view, aggregator, position, limit), next[aggregator]);
    }
    check_targets(&domain, view, first, limit, next);
}

static void test_next(void **unused)
{
    (void)unused;
    for (int i = 0; i < 300; i++) {
        struct view view;
        make_view(&view, i % 5 == 0);
        check_next(&view);
        typemap_unref(view.filetype);
    }
}

/* Checks one message against the pieces from `from` on; returns the bytes it describes. */
static int64_t expect_message(char *buffer, int64_t size, int64_t capacity, const struct view *view, int64_t from,
                              const unsigned char *data)
{
    const struct exchange_head *head = exchange_message_head(buffer);
    struct exchange_reader reader;
    struct exchange_run run;
    int64_t done = 0;
    assert_true(size <= capacity);
    const int64_t begin = place_of(view, from), end = place_of(view, from + head->bytes - 1) + 1;
    assert_true(exchange_message_is_sound(buffer, size, data != NULL, begin, end));
    assert_false(exchange_message_is_sound(buffer, size, data != NULL, begin, end - 1));
    assert_false(exchange_message_is_sound(buffer, size, data != NULL, begin + 1, end));
    assert_false(exchange_message_is_sound(buffer, size - 1, data != NULL, begin, end));
    exchange_reader_init(&reader, buffer);
    const unsigned char *moved = (const unsigned char *)reader.data;
    while (exchange_reader_next(&reader, &run)) {
        assert_true(run.count >= 1 && run.length >= 1);
        for (int64_t i = 0; i < run.count; i++)
            for (int64_t k = 0; k < run.length; k++, done++) {
                const int64_t place = run.offset + i * run.stride + k;
                if (place != place_of(view, from + done))
                    fail_msg("byte %" PRId64 " of the data is at %" PRId64 " in the place of %" PRId64, from + done,
                             place, place_of(view, from + done));
                if (data)
                    assert_int_equal(moved[done], data[done]);
            }
    }
    assert_int_equal(done, head->bytes);
    return done;
}

/* A memory type with gaps, and the bytes that it gives in order. */
static struct typemap *random_memory(char *memory, unsigned char *stream)
{
    struct typemap *piece, *map;
    const int64_t length = 1 + below(40), gap = below(2) ? 0 : below(3);
    ok(typemap_dense(length, &piece, &error));
    ok(typemap_resized(piece, 0, length + gap, &map, &error));
    typemap_unref(piece);
    for (int64_t i = 0; i < FILE_BYTES; i++)
        memory[i] = (char)(rng_mix((uint64_t)i) & 0xff);
    for (int64_t i = 0; i < DATA_BYTES; i++)
        stream[i] = (unsigned char)memory[typemap_displacement(map, i)];
    return map;
}

static void check_messages(bool contiguous, bool with_data, int64_t capacity, int64_t pieces_max)
{
    static char memory[4 * FILE_BYTES];
    static unsigned char stream[DATA_BYTES];
    struct view view;
    struct typemap_cursor cursor = {0};
    struct access_memory source;
    make_view(&view, contiguous);
    struct typemap *map = random_memory(memory, stream);
    ok(typemap_cursor_init(&cursor, view.filetype, &error));
    ok(access_memory_init(&source, map, memory, &error));
    const int64_t first = below(3000), limit = first + below(DATA_BYTES);
    int64_t position = first;
    char *buffer = malloc((size_t)capacity + GUARD);
    assert_non_null(buffer);
    typemap_cursor_seek(&cursor, position);
    while (position < limit) {
        const int64_t from = position;
        memset(buffer, 0, (size_t)capacity);
        memset(buffer + capacity, 0x5a, GUARD);
        const struct exchange_content content = {&view, &cursor, with_data ? &source : NULL, pieces_max};
        const int64_t size = exchange_message_build(buffer, capacity, &content, &position, limit);
        assert_true(position > from && position <= limit);
        const int64_t done = expect_message(buffer, size, capacity, &view, from,
                                            with_data ? stream + (from - first) : NULL);
        assert_int_equal(done, position - from);
        assert_true(done + 16 <= capacity); /* an answer to it fits too */
        for (int i = 0; i < GUARD; i++)
            assert_int_equal(buffer[capacity + i], 0x5a);
    }
    assert_int_equal(position, limit);
    free(buffer);
    access_memory_clear(&source);
    typemap_cursor_clear(&cursor);
    typemap_unref(map);
    typemap_unref(view.filetype);
}

static void test_messages(void **unused)
{
    (void)unused;
    for (int i = 0; i < 400; i++) {
        const int64_t capacity = i % 3 == 0 ? EXCHANGE_MESSAGE_BYTES_MIN : EXCHANGE_MESSAGE_BYTES_MIN + below(30000);
        check_messages(i % 4 == 0, i % 2 == 0, capacity, i % 7 ? INT64_MAX : 1 + below(3));
    }
}

/* Equal pieces at equal distances are one run, whatever their number. */
static void test_message_is_short(void **unused)
{
    (void)unused;
    enum { PIECES = 400 };
    char buffer[EXCHANGE_MESSAGE_BYTES_MIN];
    struct view view = {.displacement = 100, .etype_size = 1, .etype_extent = 1};
    struct typemap *piece;
    struct typemap_cursor cursor;
    ok(typemap_dense(5, &piece, &error));
    ok(typemap_resized(piece, 0, 12, &view.filetype, &error));
    ok(typemap_cursor_init(&cursor, view.filetype, &error));
    int64_t position = 0;
    const struct exchange_content content = {&view, &cursor, NULL, INT64_MAX};
    const int64_t size = exchange_message_build(buffer, sizeof buffer, &content, &position, 5 * PIECES);
    struct exchange_reader reader;
    struct exchange_run run;
    exchange_reader_init(&reader, buffer);
    assert_true(exchange_reader_next(&reader, &run));
    assert_int_equal(position, 5 * PIECES);
    assert_true(size <= (int64_t)sizeof(struct exchange_head) + 5);
    assert_int_equal(run.offset, 100);
    assert_int_equal(run.length, 5);
    assert_int_equal(run.stride, 12);
    assert_int_equal(run.count, PIECES);
    assert_false(exchange_reader_next(&reader, &run));
    typemap_cursor_clear(&cursor);
    typemap_unref(piece);
    typemap_unref(view.filetype);
}

/* Pieces of 128 bytes at irregular places: what describes them is 5 % of them at most. */
static void test_message_is_lean(void **unused)
{
    (void)unused;
    enum { PIECES = 4000, PIECE = 128, CAPACITY = PIECES * PIECE + PIECES * PIECE / 16 + EXCHANGE_MESSAGE_BYTES_MIN };
    static int64_t displacements[PIECES], counts[PIECES];
    struct view view = {.etype_size = 1, .etype_extent = 1};
    struct typemap *byte;
    struct typemap_cursor cursor;
    char *buffer = malloc(CAPACITY);
    assert_non_null(buffer);
    for (int64_t i = 0, place = 5; i < PIECES; i++, place += PIECE + 1 + below(10000)) {
        displacements[i] = place;
        counts[i] = PIECE;
    }
    ok(typemap_dense(1, &byte, &error));
    ok(typemap_indexed(PIECES, displacements, counts, byte, &view.filetype, &error));
    ok(typemap_cursor_init(&cursor, view.filetype, &error));
    const struct exchange_content content = {&view, &cursor, NULL, INT64_MAX};
    int64_t position = 0;
    const int64_t size = exchange_message_build(buffer, CAPACITY, &content, &position, (int64_t)PIECES * PIECE);
    assert_int_equal(position, PIECES * PIECE);
    assert_true(size * 20 <= position);
    expect_message(buffer, size, CAPACITY, &view, 0, NULL);
    free(buffer);
    typemap_cursor_clear(&cursor);
    typemap_unref(byte);
    typemap_unref(view.filetype);
}

/* Whatever stands in a message: it is read to its end and no further, and what is sound stays in the window. */
static void test_message_of_nonsense(void **unused)
{
    (void)unused;
    enum { LONGEST = 60 };
    int sound = 0;
    for (int i = 0; i < 200000; i++) {
        const int64_t runs = below(LONGEST), bytes = below(4) ? runs * below(20) : below(1 << 20);
        const int64_t size = (int64_t)sizeof(struct exchange_head) + runs;
        char *buffer = malloc((size_t)size); /* sanitizers see where it ends */
        assert_non_null(buffer);
        *exchange_message_head(buffer) = (struct exchange_head){.offset = below(3), .runs_bytes = runs, .bytes = bytes};
        for (int64_t k = 0; k < runs; k++)
            buffer[(int64_t)sizeof(struct exchange_head) + k] = (char)(below(3) ? below(8) : below(256));
        const int64_t end = below(5000);
        struct exchange_reader reader;
        struct exchange_run run;
        exchange_reader_init(&reader, buffer);
        if (exchange_message_is_sound(buffer, size, false, 0, end)) {
            sound++;
            for (; exchange_reader_next(&reader, &run); assert_true(reader.at <= reader.end))
                assert_true(run.offset >= 0 && run.offset + (run.count - 1) * run.stride + run.length <= end);
        }
        free(buffer);
    }
    assert_true(sound > 100);
}

int main(void)
{
    const char *seed = getenv("PIOLET_TEST_SEED");
    state = seed ? strtoull(seed, NULL, 10) : 20261115;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_domain),
        cmocka_unit_test(test_domain_far),
        cmocka_unit_test(test_aggregators),
        cmocka_unit_test(test_aggregators_many),
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_cover_empty),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_message_is_short),
        cmocka_unit_test(test_next),
        cmocka_unit_test(test_message_is_lean),
        cmocka_unit_test(test_message_of_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
