/* proves: IOT-6
 * What a history judges by: Student's t against tables, a change that is there and one that is not, the rule for many
 * numbers at once, where blocks begin and end. Fails when noise is called a change, or a change noise. */
#include "base/rng.h"
#include "base/statistics.h"
#include "history/history_change.h"
#include "history/history_cut.h"
#include "history/history_quantity.h"
#include "lab/result/settings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_near(double a, double b, double part)
{
    if (!(fabs(a - b) <= part * fabs(b)))
        fail_msg("%.9g in the place of %.9g", a, b);
}

/* Two-sided, from printed tables. */
static void student_is_right(void **state)
{
    (void)state;
    assert_near(statistics_student_t(0.95, 1), 12.7062, 1e-5);
    assert_near(statistics_student_t(0.95, 4), 2.77645, 1e-5);
    assert_near(statistics_student_t(0.9, 10), 1.81246, 1e-5);
    assert_near(statistics_student_t(0.99, 30), 2.74999, 1e-5);
    assert_near(statistics_student_p(1, 1), 0.5, 1e-9);
    assert_near(statistics_student_p(2, 2), 0.183503, 1e-5);
    assert_near(statistics_student_p(0, 7), 1, 1e-12);
}

/* 1, 2, 3, 6: mean 3, squares 14, t(90 %, 3) = 2.35336. Each second number of a row is passed over by the stride. */
static void means_and_medians_are_right(void **state)
{
    double row[] = {6, -1, 2, -1, 3, -1, 1, -1}, values[] = {6, 2, 3, 1};
    (void)state;
    const struct statistics_mean mean = statistics_mean_of(row, 4, 2 * sizeof *row);
    assert_near(mean.mean, 3, 1e-15);
    assert_near(mean.deviation, sqrt(14 / 3.0), 1e-12);
    assert_near(mean.error, 2.35336 * sqrt(14 / 3.0 / 4), 1e-5);
    assert_true(isnan(statistics_mean_of(row, 1, sizeof *row).error) && isnan(statistics_error(0, 1)));
    statistics_sort(values, 4);
    assert_near(statistics_median(values, 4, sizeof *values), 2.5, 1e-15);
    assert_near(statistics_median(values, 3, sizeof *values), 2, 1e-15);
    assert_near(statistics_median(values, 2, 2 * sizeof *values), 2, 1e-15); /* 1 and 3 */
    assert_true(isnan(statistics_median(values, 0, sizeof *values)));
}

/* By hand: logarithms 0, 1, 2 against 4: spread 1, error sqrt(1/3 + 1), 2 degrees. */
static void change_is_right(void **state)
{
    (void)state;
    double earlier[] = {exp(2), exp(0), exp(1)}, later[] = {exp(4)};
    const struct history_change change = history_change_of(earlier, 3, later, 1, 0.95);
    const double error = sqrt(4.0 / 3);
    assert_near(change.factor, exp(3), 1e-12);
    assert_near(change.p, statistics_student_p(3 / error, 2), 1e-12);
    assert_near(change.high, exp(3 + 4.30265 * error), 1e-4);
    assert_true(change.outside);
    double few[] = {1, 2}, one[] = {5};
    assert_true(isnan(history_change_of(few, 2, one, 1, 0.95).p));
}

/* Values that never scatter: equal ones are no change, others are. */
static void constant_values(void **state)
{
    (void)state;
    double earlier[] = {5, 5, 5}, same[] = {5}, less[] = {4};
    assert_near(history_change_of(earlier, 3, same, 1, 0.95).p, 1, 0);
    const struct history_change change = history_change_of(earlier, 3, less, 1, 0.95);
    assert_true(change.p == 0 && history_change_is_real(&change, 0.05));
}

static void threshold_is_right(void **state)
{
    (void)state;
    double p[] = {0.2, 0.001, 0.03, 0.013};
    assert_near(history_change_threshold(p, 4, 0.95), 0.03, 1e-12); /* 0.0125, 0.025, 0.0375, 0.05 */
    double none[] = {0.2, 0.02, 0.4, 0.6};
    assert_true(history_change_threshold(none, 4, 0.95) < 0);
    assert_true(history_change_threshold(none, 0, 0.95) < 0);
}

/* ---- many quantities ---- */

/* Nearly normal, with mean 0 and deviation 1. */
static double noise(uint64_t seed, int place)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += rng_unit(rng_at(rng_at(seed, (uint64_t)place), (uint64_t)i));
    return sum - 6;
}

enum { QUANTITIES = 100, RUNS = 9 };

/* Rates with 3 % of noise; of the first `slower` quantities the newest is a fifth slower. */
static struct history_findings judge(uint64_t seed, int slower)
{
    static struct history_run list[RUNS];
    static struct history_value numbers[QUANTITIES * RUNS];
    const struct history_runs runs = {list, RUNS};
    const struct history_values values = {numbers, QUANTITIES * RUNS};
    struct history_findings findings;
    struct pl_error error;
    for (int q = 0; q < QUANTITIES; q++)
        for (int r = 0; r < RUNS; r++)
            numbers[q * RUNS + r] = (struct history_value){.quantity = q,
                                                           .run = (size_t)r,
                                                           .value = (100 + q) * exp(0.03 * noise(seed, q * RUNS + r)) *
                                                                    (q < slower && r == RUNS - 1 ? 0.8 : 1)};
    assert_int_equal(history_regress(&runs, &values, NULL, 0.95, &findings, &error), PL_OK);
    return findings;
}

static int count_worse(struct history_findings findings, int *ret_right, int slower)
{
    int count = 0;
    *ret_right = 0;
    for (size_t i = 0; i < findings.count; i++)
        if (findings.list[i].real && findings.list[i].worse) {
            count++;
            *ret_right += (int)(findings.list[i].first / RUNS) < slower;
        }
    history_findings_clear(&findings);
    return count;
}

static void noise_is_no_regression(void **state)
{
    (void)state;
    int runs_with_alarm = 0, right;
    for (uint64_t seed = 1; seed <= 40; seed++)
        runs_with_alarm += count_worse(judge(seed, 0), &right, 0) > 0;
    assert_true(runs_with_alarm <= 6); /* 5 % of 40 are expected at most */
}

static void regressions_are_found(void **state)
{
    (void)state;
    int found = 0, all = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        int right;
        all += count_worse(judge(seed, 20), &right, 20);
        found += right;
    }
    assert_true(found >= 180);      /* of 200 */
    assert_true(all - found <= 20); /* 5 % of them are expected at most */
}

/* ---- cutting ---- */

static void blocks_are_cut(void **state)
{
    (void)state;
    const char text[] =
        "junk\npiolet-block 1\nid a\nend-block 0\njunk\npiolet-block 1\nid b\nset 1\npiolet-block 1\nid";
    FILE *stream = tmpfile();
    struct history_pieces pieces;
    struct pl_error error;
    assert_non_null(stream);
    fputs(text, stream);
    fflush(stream);
    assert_int_equal(history_cut(fileno(stream), "x", &pieces, &error), PL_OK);
    assert_int_equal(pieces.count, 3);
    assert_int_equal(pieces.list[0].begin, 5);
    assert_int_equal(pieces.list[0].end, strstr(text, "end-block 0\n") - text + 12);
    assert_int_equal(pieces.list[1].end, pieces.list[2].begin);
    assert_int_equal(pieces.list[2].end, sizeof text - 1);
    assert_non_null(history_piece_at(&pieces, 2));
    assert_null(history_piece_at(&pieces, 3));
    history_pieces_clear(&pieces);
    fclose(stream);
}

/* ---- quantities ---- */

static void sizes_are_exact(void **state)
{
    (void)state;
    static const struct {
        long long bytes;
        const char *text;
    } cases[] = {{16000000, "16 MB"}, {1 << 20, "1 MiB"}, {65536, "64 KiB"}, {1234567, "1234567 B"}, {0, "0 B"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text text = {0};
        settings_add_bytes(&text, cases[i].bytes);
        assert_string_equal(text_get(&text), cases[i].text);
        text_clear(&text);
    }
}

/* A replay's total is the sum of its phases and calls in each repetition, the median of these is kept. */
static void replay_is_summed(void **state)
{
    (void)state;
    char path[] = "/tmp/piolet-history.XXXXXX";
    struct blockfile_writer *writer;
    struct blockfile file;
    struct history_quantities quantities;
    struct pl_error error;
    close(mkstemp(path));
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    blockfile_begin(writer, "Replay", "phases");
    blockfile_fact(writer, "program", "app");
    blockfile_fact(writer, "model_hash", "00");
    blockfile_end_head(writer, &error);
    for (int i = 0; i < 6; i++) {
        blockfile_set(writer);
        blockfile_param(writer, "kind", "%s", i % 2 ? "phase" : "call");
        blockfile_param(writer, "repetition", "%d", i / 2 + 1);
        blockfile_param(writer, "total_ns", "%d", (i + 1) * 1000000);
        blockfile_end_set(writer, &error);
    }
    blockfile_end(writer, &error);
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK);
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    assert_int_equal(history_quantities_of(&file, 0, &quantities, &error), PL_OK);
    assert_int_equal(quantities.count, 1);
    assert_near(quantities.list[0].value, 7, 1e-12); /* 3, 7, 11 */
    assert_true(quantities.list[0].lower_is_better);
    history_quantities_clear(&quantities);
    blockfile_close(&file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_is_right),      cmocka_unit_test(means_and_medians_are_right),
        cmocka_unit_test(change_is_right),       cmocka_unit_test(constant_values),
        cmocka_unit_test(threshold_is_right),    cmocka_unit_test(noise_is_no_regression),
        cmocka_unit_test(regressions_are_found), cmocka_unit_test(blocks_are_cut),
        cmocka_unit_test(sizes_are_exact),       cmocka_unit_test(replay_is_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
