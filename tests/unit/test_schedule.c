/* The pure part of data block scheduling: which data are accessed in which round.
 * proves: COLL-3
 * It would fail if a byte of a request were accessed twice or never, in a round that is not its own, in a round that is
 * said to be empty, if the random order were no order of all blocks or the same for all seeds, or if a device's window
 * held bytes of another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/schedule/schedule.h"

#include "random_case.h"

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static void test_shuffle(void **unused)
{
    (void)unused;
    enum { MOST = 1000 };
    for (int64_t count = 1; count <= MOST; count += count < 70 ? 1 : 31) {
        bool seen[MOST] = {0};
        const uint64_t seed = (uint64_t)below(1000);
        for (int64_t i = 0; i < count; i++) {
            const int64_t number = schedule_shuffle(count, seed, i);
            assert_in_range(number, 0, count - 1);
            assert_false(seen[number]);
            seen[number] = true;
        }
    }
}

/* Numbers that no list could hold; and an order that is one. */
static void test_shuffle_far(void **unused)
{
    (void)unused;
    static const int64_t counts[] = {INT64_MAX, INT64_C(1) << 62, (INT64_C(1) << 62) + 1, INT64_C(1) << 40};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 100; k++)
            assert_in_range(schedule_shuffle(counts[i], 7, below(counts[i])), 0, counts[i] - 1);
    int64_t in_place = 0, same = 0, ascending = 0;
    for (int64_t i = 0; i < 10000; i++) {
        const int64_t number = schedule_shuffle(10000, 1, i);
        in_place += number == i;
        same += number == schedule_shuffle(10000, 2, i);
        ascending += i > 0 && number > schedule_shuffle(10000, 1, i - 1);
    }
    assert_true(in_place < 20 && same < 20); /* 1 is to be expected */
    assert_in_range(ascending, 4700, 5300);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

static struct typemap *random_filetype(void)
{
    enum { BLOCKS = 30 };
    struct typemap *byte, *map, *bounded;
    int64_t displacements[BLOCKS], counts[BLOCKS], place = below(10);
    const int64_t blocks = 1 + below(BLOCKS), longest = below(2) ? 20 : 400, widest = below(4) ? 30 : 100000;
    for (int64_t i = 0; i < blocks; i++) {
        displacements[i] = place;
        counts[i] = 1 + below(longest);
        place += counts[i] + below(widest);
    }
    ok(typemap_dense(1, &byte, &error));
    ok(typemap_indexed(blocks, displacements, counts, byte, &map, &error));
    typemap_unref(byte);
    ok(typemap_resized(map, 0, place + below(25), &bounded, &error));
    typemap_unref(map);
    return bounded;
}

static void make_view(struct view *view)
{
    const bool contiguous = below(5) == 0;
    *view = (struct view){.displacement = below(below(3) ? 500 : INT64_C(1) << 45), .etype_size = 1, .etype_extent = 1};
    if (contiguous)
        ok(typemap_dense(1, &view->filetype, &error));
    else
        view->filetype = random_filetype();
    view->contiguous = contiguous || typemap_shape(view->filetype)->tiles;
}

enum { BYTES_MAX = 6000 };

/* What one schedule does: the round of each byte, -1 before. */
struct trail {
    const struct access_request *request;
    int64_t round[BYTES_MAX];
    int64_t parts;
};

static void note_part(struct trail *trail, int64_t round, int64_t position, int64_t bytes)
{
    const struct access_request *request = trail->request;
    assert_true(bytes > 0 && position >= request->position && position + bytes <= request->position + request->bytes);
    for (int64_t i = position - request->position; i < position + bytes - request->position; i++) {
        assert_int_equal(trail->round[i], -1);
        trail->round[i] = round;
    }
    trail->parts++;
}

/* Goes through all rounds as ranks do, now and then with another rank's round in between. */
static void follow(struct schedule *schedule, struct trail *trail)
{
    int64_t before = -1, position, bytes;
    trail->parts = 0;
    memset(trail->round, 0xff, sizeof trail->round);
    for (int64_t round = schedule_next_round(schedule, 0); round != SCHEDULE_NO_ROUND;
         round = schedule_next_round(schedule, round + 1)) {
        assert_true(round > before);
        assert_int_equal(schedule_next_round(schedule, round), round);
        assert_int_equal(schedule_next_round(schedule, before + 1 + below(round - before)), round);
        const int64_t parts = trail->parts;
        schedule_enter(schedule, round);
        while (schedule_next_part(schedule, &position, &bytes))
            note_part(trail, round, position, bytes);
        assert_true(trail->parts > parts);
        before = round;
    }
    for (int64_t i = 0; i < trail->request->bytes; i++)
        assert_true(trail->round[i] >= 0);
}

static int64_t byte_at(const struct trail *trail, int64_t index)
{
    return view_byte(trail->request->view, trail->request->position + index);
}

static void check_schedules(const struct access_request *request)
{
    static struct trail trail;
    trail.request = request;
    const int64_t turn = below(9), unit = 1 + below(below(2) ? 50 : 3000);
    struct schedule schedule = schedule_turn(request, turn);
    follow(&schedule, &trail);
    for (int64_t i = 0; i < request->bytes; i++)
        assert_int_equal(trail.round[i], turn);
    schedule = schedule_parts(request, unit);
    follow(&schedule, &trail);
    for (int64_t i = 0; i < request->bytes; i++)
        assert_int_equal(trail.round[i], i / unit);
    schedule = schedule_shuffled(request, unit, (uint64_t)unit);
    follow(&schedule, &trail);
    const int64_t window = 1 + below(below(2) ? 700 : 50000);
    schedule = schedule_windows(request, 1, window, window, 0);
    follow(&schedule, &trail);
    for (int64_t i = 0; i < request->bytes; i++)
        assert_int_equal(trail.round[i], byte_at(&trail, i) / window);
    const int devices = (int)(1 + below(7));
    schedule = schedule_windows(request, devices, unit, window, (int)below(devices));
    follow(&schedule, &trail);
    const int64_t rows = window > unit ? window / unit : 1;
    for (int64_t i = 0; i < request->bytes; i++)
        assert_int_equal(trail.round[i], byte_at(&trail, i) / unit / devices / rows);
}

static void test_schedules(void **unused)
{
    (void)unused;
    for (int i = 0; i < 600; i++) {
        struct view view;
        make_view(&view);
        const struct access_request request = {
            .view = &view, .position = below(3) ? below(4000) : 0, .bytes = below(i % 9 ? BYTES_MAX : 3)};
        check_schedules(&request);
        typemap_unref(view.filetype);
    }
}

/* In each round a rank goes from device to device, beginning with its own. */
static void test_devices(void **unused)
{
    (void)unused;
    enum { DEVICES = 3, STRIPE = 10 };
    struct view view = {.etype_size = 1, .etype_extent = 1, .contiguous = true};
    ok(typemap_dense(1, &view.filetype, &error));
    const struct access_request request = {.view = &view, .position = 5, .bytes = 100};
    struct schedule schedule = schedule_windows(&request, DEVICES, STRIPE, 2 * STRIPE, 1);
    static const int64_t expected[][2] = {{10, 10}, {40, 10}, {20, 10}, {50, 10}, {5, 5}, {30, 10}};
    int64_t position, bytes;
    schedule_enter(&schedule, 0);
    for (int i = 0; i < 6; i++) {
        assert_true(schedule_next_part(&schedule, &position, &bytes));
        assert_int_equal(position, expected[i][0]);
        assert_int_equal(bytes, expected[i][1]);
    }
    assert_false(schedule_next_part(&schedule, &position, &bytes));
    typemap_unref(view.filetype);
}

/* A rank that has nothing, or no view at all. */
static void test_nothing(void **unused)
{
    (void)unused;
    const struct access_request request = {.position = 77};
    const struct schedule schedules[] = {schedule_turn(&request, 3), schedule_parts(&request, 10),
                                         schedule_shuffled(&request, 10, 1), schedule_windows(&request, 4, 10, 100, 2)};
    for (int i = 0; i < 4; i++)
        assert_int_equal(schedule_next_round(&schedules[i], 0), SCHEDULE_NO_ROUND);
}

int main(void)
{
    const char *seed = getenv("PIOLET_TEST_SEED");
    state = seed ? strtoull(seed, NULL, 10) : 20261115;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffle), cmocka_unit_test(test_shuffle_far), cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_devices), cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
