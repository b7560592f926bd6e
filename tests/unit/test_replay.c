/* What a replay is made of, without MPI running: estimates from samples, arguments of calls, the plan of a model.
 * proves: PHASE-10 PHASE-12
 * Fails when an estimate or its interval is wrong, when an argument is read otherwise than it was written, when a loop
 * is sampled that must not be, or when a model that cannot be replayed is not refused with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/replay/replay_plan.h"
#include "bench/replay/replay_run.h"

/* ---- estimates ---- */

static void estimates_add_up(void **state)
{
    (void)state;
    const int64_t times[] = {500, 100, 102, 98, 100, 100, 101, 99, 100};
    struct replay_estimate estimate = replay_estimate(times, 9, 9);
    assert_true(estimate.total_ns == 1300 && estimate.low_ns == 1300 && estimate.high_ns == 1300);
    /* The first execution is special, and is not what the others are taken to be. */
    estimate = replay_estimate(times, 9, 1009);
    assert_true(estimate.total_ns == 1300 + 1000 * 100);
    assert_true(estimate.low_ns < estimate.total_ns && estimate.high_ns > estimate.total_ns);
    assert_true(estimate.high_ns - estimate.total_ns < 0.05 * estimate.total_ns);
    assert_true(replay_estimate_is_sure(&estimate));
}

static void few_or_wild_samples_are_unsure(void **state)
{
    (void)state;
    const int64_t times[] = {100, 300, 100, 400, 50, 900, 10, 200};
    struct replay_estimate estimate = replay_estimate(times, 1, 10);
    assert_false(replay_estimate_is_sure(&estimate));
    assert_true(estimate.total_ns == 1000 && estimate.low_ns == 100 && estimate.high_ns == 1900);
    estimate = replay_estimate(times, 8, 100);
    assert_false(replay_estimate_is_sure(&estimate));
    estimate = replay_estimate(NULL, 0, 100);
    assert_false(replay_estimate_is_sure(&estimate));
    assert_true(estimate.total_ns == 0);
}

/* A device that slows down after some executions: batches differ, and more executions are asked for. */
static void a_change_is_seen(void **state)
{
    (void)state;
    int64_t times[64];
    for (int i = 0; i < 64; i++)
        times[i] = i < 48 ? 100 : 200;
    const struct replay_estimate estimate = replay_estimate(times, 64, 1000);
    assert_false(replay_estimate_is_sure(&estimate));
}

/* ---- arguments ---- */

static void arguments_are_read(void **state)
{
    (void)state;
    const char *detail = "disp=16 datarep=\"native\" etype=\"MPI_INT\" hint.a\\x20b=\"x \\x22y\\x22\" size=-3";
    char *text = trace_detail_text(detail, "hint.a b");
    assert_string_equal(text, "x \"y\"");
    free(text);
    assert_int_equal(trace_detail_number(detail, "disp", 0), 16);
    assert_int_equal(trace_detail_number(detail, "size", 0), -3);
    assert_int_equal(trace_detail_number(detail, "extent", 7), 7);
    assert_null(trace_detail_text(detail, "filetype"));
}

static void opens_are_read(void **state)
{
    (void)state;
    struct replay_open open;
    struct pl_error error;
    assert_int_equal(replay_open_parse("amode=create|rdwr ranks=2 first=1 stride=2", 3, 4, &open, &error), PL_OK);
    assert_true(open.amode == (REPLAY_CREATE | REPLAY_RDWR) && replay_open_member(&open, 1) == 3);
    replay_open_clear(&open);
    assert_int_equal(replay_open_parse("amode=rdonly ranks=3 first=0 members=0,1,3", 1, 4, &open, &error), PL_OK);
    assert_int_equal(replay_open_member(&open, 2), 3);
    replay_open_clear(&open);
    static const char *const wrong[][2] = {{"amode=rdonly ranks=2 first=0 stride=2", "not in"},
                                           {"amode=rdonly ranks=9", "no communicator"},
                                           {"amode=rdonly ranks=2 first=1 stride=3", "ranks 0 to 3"},
                                           {"amode=sideways ranks=1 first=1", "no mode of access"},
                                           {"ranks=1 first=1", "amode= is missing"},
                                           {"amode=rdonly ranks=3 first=0 members=0,1", "must be 3 ranks"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_not_equal(replay_open_parse(wrong[i][0], 1, 4, &open, &error), PL_OK);
        assert_non_null(strstr(error.text, wrong[i][1]));
    }
}

/* ---- plans ---- */

#define HEAD            "piolet-model 1\nprogram p\nranks 2\n"
#define FILE_LINE(rest) "file 1 name=\"f\" type=shared processes=2 access=sequential pointer=" rest " views=0 written="

static struct model read_text(const char *text)
{
    struct model model;
    struct pl_error error = {.text = ""};
    if (model_read("m", text, &model, &error) != PL_OK)
        fail_msg("%s", error.text);
    return model;
}

static const char LOOPS[] = HEAD FILE_LINE(
    "explicit calls=independent waits=blocking") "160 read=0\n"
                                                 "steps\n"
                                                 "open ranks=0-1 file=1 name=\"f\" with=\"amode=create|rdwr ranks=2 "
                                                 "first=0 stride=1\"\n"
                                                 "loop 4\n"
                                                 "comm ranks=0-1 collectives=1\n"
                                                 "phase 1 count=4 numbers=1-4 ranks=0-1 weight=20 access=sequential\n"
                                                 "write_at file=1 size=10 offset=idP*40+n*10\n"
                                                 "end\n"
                                                 "end\n"
                                                 "loop 4\n"
                                                 "comm ranks=0-1 collectives=0\n"
                                                 "phase 2 count=4 numbers=5-8 ranks=0-1 weight=20 access=sequential\n"
                                                 "write_at file=1 size=10 offset=idP*40+n*10\n"
                                                 "end\n"
                                                 "end\n"
                                                 "close ranks=0-1 file=1\n"
                                                 "end-steps 15 -\n";

static void loops_with_a_meeting_are_sampled(void **state)
{
    (void)state;
    struct model model = read_text(LOOPS);
    struct replay_plan plan;
    struct pl_error error;
    const int second[] = {2}, third[] = {3};
    assert_int_equal(replay_plan_make(&model, NULL, 0, &plan, &error), PL_OK);
    assert_int_equal(plan.loop_count, 1);
    assert_ptr_equal(plan.loops[0].step, &model.steps[1]);
    assert_int_equal(plan.unit_count, 4);
    assert_true(plan.units[1].phase && plan.units[1].count == 4 && !plan.units[0].phase);
    assert_true(plan.files[0].creates && plan.files[0].first_write == 2 && plan.files[0].last_use == 5);
    assert_true(replay_plan_order(&model, 0, -1, NULL) == replay_plan_order(&model, 1, -1, NULL));
    assert_int_equal(replay_plan_collectives(&model, 1), 4);
    replay_plan_clear(&plan);
    assert_int_equal(replay_plan_make(&model, second, 1, &plan, &error), PL_OK);
    assert_true(plan.units[2].selected && !plan.units[1].selected && plan.units[0].selected);
    replay_plan_clear(&plan);
    assert_int_equal(replay_plan_make(&model, third, 1, &plan, &error), PL_E_USAGE);
    assert_non_null(strstr(error.text, "phases 1 to 2"));
    model_clear(&model);
}

/* Rank 0 sets its view before a meeting and rank 1 behind it: the orders differ, and no meeting may be added. */
static void different_orders_are_seen(void **state)
{
    (void)state;
    struct model model = read_text(HEAD FILE_LINE(
        "none calls=none waits=none") "0 read=0\n"
                                      "steps\n"
                                      "open ranks=0-1 file=1 name=\"f\" with=\"amode=rdwr ranks=2 first=0 stride=1\"\n"
                                      "sync ranks=0 file=1\n"
                                      "comm ranks=0-1 collectives=0\n"
                                      "sync ranks=1 file=1\n"
                                      "comm ranks=0 collectives=1\n"
                                      "loop 3\n"
                                      "sync ranks=0 file=1\n"
                                      "end\n"
                                      "sync ranks=1 file=1\n"
                                      "loop 2\n"
                                      "sync ranks=1 file=1\n"
                                      "end\n"
                                      "close ranks=0-1 file=1\n"
                                      "end-steps 13 -\n");
    assert_true(replay_plan_order(&model, 0, -1, NULL) != replay_plan_order(&model, 1, -1, NULL));
    assert_true(replay_plan_order(&model, 0, 0, NULL) == replay_plan_order(&model, 1, 0, NULL));
    assert_true(replay_plan_collectives(&model, 0) != replay_plan_collectives(&model, 1));
    model_clear(&model);
}

/* All ranks open a file, and some of them open it again later: what they do then concerns those alone. */
static void calls_count_for_those_who_opened(void **state)
{
    (void)state;
    struct model model = read_text(
        "piolet-model 1\nprogram p\nranks 3\n"
        "file 1 name=\"f\" type=shared processes=3 access=sequential pointer=none calls=none "
        "waits=none views=0 written=0 read=0\n"
        "steps\n"
        "open ranks=0-2 file=1 name=\"f\" with=\"amode=rdwr ranks=3 first=0 stride=1\"\n"
        "sync ranks=0-2 file=1\n"
        "close ranks=0-2 file=1\n"
        "open ranks=0,2 file=1 name=\"f\" with=\"amode=rdwr ranks=2 first=2 stride=-2\"\n"
        "sync ranks=0,2 file=1\n"
        "sync ranks=0,2 file=1\n"
        "close ranks=0,2 file=1\n"
        "end-steps 7 -\n");
    const struct replay_open all = {.ranks = 3, .first = 0, .stride = 1}, two = {.ranks = 2, .first = 2, .stride = -2};
    assert_true(replay_plan_order(&model, 0, 0, NULL) != replay_plan_order(&model, 1, 0, NULL));
    assert_true(replay_plan_order(&model, 0, 0, &all) == replay_plan_order(&model, 1, 0, &all));
    assert_true(replay_plan_order(&model, 0, 0, &two) == replay_plan_order(&model, 2, 0, &two));
    assert_true(replay_plan_order(&model, 0, 0, &two) != replay_plan_order(&model, 0, 0, &all));
    model_clear(&model);
}

static void what_cannot_be_replayed_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"frobnicate ranks=0-1 file=1", "step 1: 'frobnicate' is no operation that can be replayed"},
        {"set_size ranks=0-1 file=1", "set_size: offset= is missing"},
        {"sync ranks=0-1", "sync: file= is missing"},
        {"set_view ranks=0-1 file=1", "set_view: with= is missing"},
        {"open ranks=0-1 file=1", "open: name= is missing"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct replay_plan plan;
        struct pl_error error;
        char text[1000];
        snprintf(text, sizeof text,
                 HEAD "file 1 name=\"\" type=shared processes=0 access=sequential pointer=none "
                      "calls=none waits=none views=%d written=0 read=0\nsteps\n%s\nend-steps 1 -\n",
                 strstr(wrong[i][0], "view") ? 1 : 0, wrong[i][0]);
        struct model model;
        if (model_read("m", text, &model, &error) != PL_OK)
            fail_msg("%s", error.text);
        assert_int_not_equal(replay_plan_make(&model, NULL, 0, &plan, &error), PL_OK);
        if (!strstr(error.text, wrong[i][1]))
            fail_msg("'%s' in the place of '%s'", error.text, wrong[i][1]);
        model_clear(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_add_up),
        cmocka_unit_test(few_or_wild_samples_are_unsure),
        cmocka_unit_test(a_change_is_seen),
        cmocka_unit_test(arguments_are_read),
        cmocka_unit_test(opens_are_read),
        cmocka_unit_test(loops_with_a_meeting_are_sampled),
        cmocka_unit_test(different_orders_are_seen),
        cmocka_unit_test(calls_count_for_those_who_opened),
        cmocka_unit_test(what_cannot_be_replayed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
