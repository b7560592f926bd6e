/* The equations of the phase model, with numbers worked out by hand and those of the document's tables.
 * proves: PHASE-11 PHASE-12
 * It would fail if a time, bandwidth, usage or error were computed otherwise, if an interval did not hold the true time
 * as often as it says, if a curve were extrapolated silently, or if ranks, ties and the deciding phase were told
 * wrongly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/statistics.h"
#include "predict/predict_source.h"

#include <math.h>

static void near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.9g is not %.9g", value, wanted);
}

/* ---- the document's tables ---- */

/* Tables XIII and XIV. Equation 6 is on bandwidth; the printed percentages are that or the error on time, rounded. */
static void test_errors(void **state)
{
    static const struct {
        double characterised, measured, error;
    } ROWS[] = {{1137.50, 1239.05, 9}, {2773.32, 2701.22, 3},  {1167.40, 1153.05, 1}, {2868.51, 2984.75, 4},
                {1253.05, 1262.10, 1}, {3065.91, 3107.192, 1}, {932.36, 924.85, 1},   {844.42, 909.43, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const double on_time = predict_error_percent(ROWS[i].characterised, ROWS[i].measured);
        const double on_bandwidth = predict_error_percent(predict_bandwidth(1e9, ROWS[i].characterised),
                                                          predict_bandwidth(1e9, ROWS[i].measured));
        if (round(on_time) != ROWS[i].error && round(on_bandwidth) != ROWS[i].error)
            fail_msg("row %zu: %g and %g, not %g", i, on_time, on_bandwidth, ROWS[i].error);
    }
    near(predict_error_percent(1137.50, 1239.05), 8.195795, 1e-6);
    assert_true(isnan(predict_error_percent(1, 0)));
    assert_true(isnan(predict_bandwidth(1, 0)));
    near(predict_bandwidth(4e9, 2e9), 2e9, 1e-3);
}

/* ---- a program of two phases, as BT-IO is ---- */

static void set_phase(struct predict_phase *phase, const char *label, const char *operations, int64_t count,
                      int64_t weight, bool reads)
{
    snprintf(phase->label, sizeof phase->label, "%s", label);
    phase->operations = text_dup(operations);
    phase->words = text_dup(operations);
    phase->count = count;
    phase->weight_bytes = weight;
    phase->processes = 64;
    phase->access[reads ? PREDICT_READ : PREDICT_WRITE] = (struct predict_access){weight, weight / 64, weight / 64,
                                                                                  true, false};
}

static void begin(struct prediction *prediction)
{
    *prediction = (struct prediction){.program = {.name = text_dup("bt"), .ranks = 64, .phase_count = 2}};
    prediction->program.phases = calloc(2, sizeof *prediction->program.phases);
    set_phase(&prediction->program.phases[0], "1-50", "write_at_all", 50, 64 << 20, false);
    set_phase(&prediction->program.phases[1], "51", "read_at_all", 1, 50 * (64LL << 20), true);
}

/* Repetition `run` on a configuration: seconds of each phase, and half of their intervals. */
static void add(struct prediction *prediction, const char *label, int run, double first, double second, double half)
{
    struct predict_configuration *to = predict_configuration_of(prediction, label);
    const double seconds[] = {first, second};
    for (int i = 0; i < 2; i++) {
        const struct predict_sample sample = predict_sample_of(run, seconds[i] * 1e9, (seconds[i] - half) * 1e9,
                                                               (seconds[i] + half) * 1e9);
        assert_true(predict_unit_add(&to->units[i], &sample));
    }
    to->run_count = run + 1;
}

static void finish(struct prediction *prediction)
{
    struct pl_error error;
    assert_int_equal(predict_finish(prediction, &error), PL_OK);
}

/* ---- MADbench2 on configurations A and B: Tables VIII to X ---- */

enum { MADBENCH_PHASES = 5 };

/* Weights in GB by phase, written and read. */
static const int64_t WRITTEN[MADBENCH_PHASES] = {4, 0, 3, 1, 0}, READ[MADBENCH_PHASES] = {0, 1, 3, 0, 4};

static void begin_madbench(struct prediction *prediction, struct predict_peaks *peaks, double write_peak,
                           double read_peak)
{
    *prediction = (struct prediction){.program = {.ranks = 16, .phase_count = MADBENCH_PHASES}, .peaks = peaks};
    prediction->program.phases = calloc(MADBENCH_PHASES, sizeof *prediction->program.phases);
    for (int i = 0; i < MADBENCH_PHASES; i++) {
        struct predict_phase *phase = &prediction->program.phases[i];
        set_phase(phase, "x", "write,read", 1, (WRITTEN[i] + READ[i]) << 30, false);
        phase->access[PREDICT_WRITE] = (struct predict_access){.bytes = WRITTEN[i] << 30, .request = 32 << 20};
        phase->access[PREDICT_READ] = (struct predict_access){.bytes = READ[i] << 30, .request = 32 << 20};
    }
    peaks->count = 1;
    peaks->nodes = calloc(1, sizeof *peaks->nodes);
    peaks->nodes[0] = (struct predict_node){.name = text_dup("nas"), .on = text_dup("/raid")};
    predict_curve_add(&peaks->nodes[0].curves[PREDICT_WRITE][MODEL_SEQUENTIAL], 32 << 20, write_peak, PREDICT_HIGHEST);
    predict_curve_add(&peaks->nodes[0].curves[PREDICT_READ][MODEL_SEQUENTIAL], 32 << 20, read_peak, PREDICT_HIGHEST);
}

/* The document cuts some percentages off, and has 18 for 68 / 350: 19.4. */
static void check_usage(double write_peak, double read_peak, const double measured[], const double usage[])
{
    struct prediction prediction;
    begin_madbench(&prediction, calloc(1, sizeof(struct predict_peaks)), write_peak, read_peak);
    prediction.measured = calloc(MADBENCH_PHASES + 1, sizeof *prediction.measured);
    prediction.measured_count = 1;
    for (int i = 0; i < MADBENCH_PHASES; i++)
        prediction.measured[i] = (double)((WRITTEN[i] + READ[i]) << 30) / measured[i] * 1e9;
    assert_non_null(predict_configuration_of(&prediction, "A"));
    finish(&prediction);
    const struct predict_unit *units = prediction.configurations[0].units;
    for (int i = 0; i < MADBENCH_PHASES; i++)
        near(units[i].usage.percent, usage[i], 1.5);
    near(units[2].usage.plain, (write_peak + read_peak) / 2, 1e-9);
    near(units[2].usage.peak, 2 * write_peak * read_peak / (write_peak + read_peak), 1e-9);
    near(units[0].usage.peak, write_peak, 1e-9);
    near(units[1].usage.plain, read_peak, 1e-9);
    prediction_clear(&prediction);
}

static void test_usage(void **state)
{
    (void)state;
    check_usage(400, 350, (double[]){93, 68, 63, 89, 66}, (double[]){23, 18, 16, 22, 19});
    check_usage(165, 180, (double[]){60, 39, 34, 54, 37}, (double[]){36, 22, 19, 33, 21});
    near(predict_harmonic(3, 400, 3, 350), 373.333333, 1e-6); /* phase 3; the document has the plain mean, 375 */
    near(predict_harmonic(1, 100, 3, 300), 200, 1e-9);        /* 0.01 s and 0.01 s for 4 bytes */
    assert_true(isnan(predict_harmonic(0, 400, 0, 350)));
}

/* Table XII: Finisterrae is chosen, and the reading phase decides. */
static void test_choice(void **state)
{
    struct prediction prediction;
    (void)state;
    begin(&prediction);
    add(&prediction, "configuration C", 0, 1167.40, 2868.51, 0);
    add(&prediction, "Finisterrae", 0, 932.36, 844.42, 0);
    finish(&prediction);
    const struct predict_configuration *first = &prediction.configurations[0], *second = first + 1;
    assert_string_equal(first->label, "Finisterrae");
    assert_int_equal(first->place, 1);
    assert_int_equal(second->place, 2);
    near(first->total.ns, 1776.78e9, 1);
    near(second->total.ns, 4035.91e9, 1);
    assert_int_equal(second->decides, 1);
    assert_string_equal(second->tie_with, "");
    assert_non_null(strstr(second->reason, "2.27 times the time of Finisterrae: phase 51 (read_at_all) takes"));
    assert_non_null(strstr(second->reason, "90 % of the difference"));
    prediction_clear(&prediction);
}

static void test_tie(void **state)
{
    struct prediction prediction;
    (void)state;
    begin(&prediction);
    add(&prediction, "a", 0, 10, 10, 0);
    add(&prediction, "a", 1, 11, 11, 0);
    add(&prediction, "a", 2, 12, 12, 0); /* 22 ± 2.920 * 2 / sqrt 3 = 22 ± 3.37 */
    add(&prediction, "b", 0, 12.5, 12.5, 0);
    add(&prediction, "c", 0, 14, 14, 0);
    add(&prediction, "cut", 0, 1, 1, 0);
    prediction.configurations[3].units[1].sample_count = 0;
    finish(&prediction);
    const struct predict_configuration *all = prediction.configurations;
    near(all[0].total.low_ns, (22 - 3.37171) * 1e9, 1e6);
    near(all[0].total.high_ns, (22 + 3.37171) * 1e9, 1e6);
    near(all[0].noise_percent, 100 * 2 / 22.0, 1e-9);
    assert_string_equal(all[0].tie_with, "b");
    assert_string_equal(all[1].tie_with, "a");
    assert_int_equal(all[1].place, 1);
    assert_int_equal(all[2].place, 3);
    assert_string_equal(all[1].reason, "tie with a: the 90 % intervals overlap; the largest difference: "
                                       "phase 1-50 (write_at_all) takes 12.5 s and not 11 s");
    assert_int_equal(all[1].decides, -1); /* nothing */
    assert_string_equal(all[3].label, "cut");
    assert_string_equal(all[3].failure, "no result for phase 51");
    assert_int_equal(all[3].place, 0);
    assert_true(isnan(all[3].total.ns));
    prediction_clear(&prediction);
}

/* ---- intervals ---- */

static void test_interval(void **state)
{
    const struct predict_sample one[] = {predict_sample_of(0, 100, 90, 130)};
    const struct predict_sample two[] = {predict_sample_of(0, 100, 90, 110), predict_sample_of(1, 100, 80, 120)};
    (void)state;
    struct predict_time time = predict_interval_mean(one, 1);
    near(time.low_ns, 90, 1e-9);
    near(time.high_ns, 130, 1e-9);
    time = predict_interval_mean(two, 2); /* no spread: sqrt(10² + 20²) / 2 */
    near(time.ns, 100, 1e-9);
    near(time.high_ns, 100 + sqrt(500) / 2, 1e-9);
    time = predict_interval_sum((struct predict_time[]){{100, 97, 103}, {50, 46, 54}}, 2);
    near(time.ns, 150, 1e-9);
    near(time.low_ns, 145, 1e-9);
    assert_true(isnan(predict_interval_mean(NULL, 0).ns));
    assert_true(isnan(predict_noise_percent((double[]){1}, 1)));
    near(predict_noise_percent((double[]){9, 11}, 2), 100 * sqrt(2) / 10, 1e-9);
    near(statistics_student_t(0.95, 30), 2.042, 1e-3);
}

/* Nearly normal, with mean 0 and deviation 1. */
static double normal(uint64_t *next)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(rng_at(42, (*next)++) >> 11) / 9007199254740992.0;
    return sum;
}

/* The interval holds the true time in 90 of 100 cases, for any number of repetitions, and is never turned round. */
static void test_coverage(void **state)
{
    enum { TRIALS = 4000 };
    uint64_t next = 0;
    (void)state;
    for (int count = 2; count <= 9; count++) {
        int held = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            struct predict_sample samples[9];
            for (int i = 0; i < count; i++)
                samples[i] = predict_sample_of(i, 1000 + 200 * normal(&next), NAN, NAN);
            const struct predict_time time = predict_interval_mean(samples, (size_t)count);
            assert_true(0 <= time.low_ns && time.low_ns <= time.ns && time.ns <= time.high_ns);
            held += time.low_ns <= 1000 && 1000 <= time.high_ns;
        }
        near((double)held / TRIALS, STATISTICS_LEVEL, 0.016);
    }
}

/* ---- curves and peaks ---- */

static void test_curve(void **state)
{
    struct predict_curve curve = {0};
    enum predict_range range;
    (void)state;
    assert_true(isnan(predict_curve_at(&curve, 1, &range)));
    assert_true(predict_curve_add(&curve, 1000000, 1e9, PREDICT_MEAN));
    assert_true(predict_curve_add(&curve, 100, 1e5, PREDICT_MEAN));
    assert_true(predict_curve_add(&curve, 100, 3e5, PREDICT_MEAN));
    assert_true(predict_curve_add(&curve, 100, 2e5, PREDICT_HIGHEST));
    assert_true(predict_curve_add(&curve, 0, 5, PREDICT_MEAN)); /* passed over */
    assert_true(predict_curve_add(&curve, 7, NAN, PREDICT_MEAN));
    assert_int_equal(curve.count, 2);
    near(predict_curve_at(&curve, 100, &range), 2e5, 1e-3);
    near(predict_curve_at(&curve, 10000, &range), sqrt(2e5 * 1e9), 1);
    assert_int_equal(range, PREDICT_INSIDE);
    near(predict_curve_at(&curve, 10, &range), 2e5, 1e-3);
    assert_int_equal(range, PREDICT_BELOW);
    near(predict_curve_at(&curve, 1e9, &range), 1e9, 1e-3);
    assert_int_equal(range, PREDICT_ABOVE);
    predict_curve_clear(&curve);
}

/* Two I/O nodes are summed (eq. 4), an access mode that was not measured is told. */
static void test_peak(void **state)
{
    struct predict_node nodes[2] = {{.name = (char *)"a", .on = (char *)"/d"},
                                    {.name = (char *)"b", .on = (char *)"/d"}};
    struct predict_peaks peaks = {nodes, 2};
    (void)state;
    for (int i = 0; i < 2; i++) {
        predict_curve_add(&nodes[i].curves[PREDICT_WRITE][MODEL_SEQUENTIAL], 1000, 100 + i, PREDICT_HIGHEST);
        predict_curve_add(&nodes[i].curves[PREDICT_WRITE][MODEL_SEQUENTIAL], 2000, 200 + i, PREDICT_HIGHEST);
    }
    struct predict_peak_rate rate = predict_peaks_at(&peaks, "/d", PREDICT_WRITE, MODEL_SEQUENTIAL, 2000);
    near(rate.bytes_per_s, 401, 1e-9);
    assert_false(rate.other_access);
    rate = predict_peaks_at(&peaks, NULL, PREDICT_WRITE, MODEL_RANDOM, 1);
    near(rate.bytes_per_s, 201, 1e-9);
    assert_true(rate.other_access);
    assert_int_equal(rate.range, PREDICT_BELOW);
    assert_true(isnan(predict_peaks_at(&peaks, "/d", PREDICT_READ, MODEL_RANDOM, 1).bytes_per_s));
    assert_true(isnan(predict_peaks_at(&peaks, "/e", PREDICT_WRITE, MODEL_RANDOM, 1).bytes_per_s));
    for (int i = 0; i < 2; i++)
        predict_curve_clear(&nodes[i].curves[PREDICT_WRITE][MODEL_SEQUENTIAL]);
}

/* ---- patterns ---- */

static void test_piece(void **state)
{
    static const struct {
        const char *type;
        int64_t bytes;
    } CASES[] = {
        {"MPI_DOUBLE", 8},
        {"contiguous(6,contiguous(5,MPI_DOUBLE))", 240},
        {"vector(3,2,5,MPI_DOUBLE)", 16},
        {"vector(3,2,2,MPI_INT)", 24},
        {"hvector(6,1,5760,hvector(6,1,480,contiguous(6,contiguous(5,MPI_DOUBLE))))", 240},
        {"struct([1 1],[0 37680],[hvector(6,1,480,contiguous(6,MPI_DOUBLE)) hvector(6,1,480,MPI_INT)])", 48},
        {"resized(0,69120,vector(2,3,9,MPI_BYTE))", 3},
        {"subarray([10 20 30],[4 20 30],[0 0 0],C,MPI_DOUBLE)", 19200},
        {"subarray([10 20 30],[4 5 30],[0 0 0],C,MPI_DOUBLE)", 1200},
        {"subarray([10 20],[10 7],[0 3],F,MPI_INT)", 280},
        {"indexed([1 2 3],[0 5 9],MPI_INT)", 8},
        {"indexed([1:1*3],[0:9*3],MPI_INT)", 8},
        {"indexed_block(4,[0 9 30],MPI_BYTE)", 4},
        {"darray(4,0,[100 60],[block block],[-1 -1],[2 2],C,MPI_DOUBLE)", 240},
        {"dup(contiguous(2,MPI_INT))", 8},
        {"", 0},
        {"vector(3,2", 0},
        {"vector(3,2,5,MPI_NOSUCH)", 0},
        {"subarray([1],[1],[0],", 0},
        {"nosuch(1,MPI_INT)", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        if (predict_piece_bytes(CASES[i].type) != CASES[i].bytes)
            fail_msg("%s: %lld", CASES[i].type, (long long)predict_piece_bytes(CASES[i].type));
}

static void test_distance(void **state)
{
    const struct predict_pattern phase = {.collective = true, .strided = true, .processes = 4};
    struct predict_pattern scattered = phase, segmented = phase, alone = phase;
    struct text words = {0};
    (void)state;
    segmented.strided = false;
    alone.collective = alone.strided = false;
    near(predict_pattern_distance(&phase, &scattered, NULL), 0, 0);
    assert_true(predict_pattern_distance(&phase, &segmented, NULL) < predict_pattern_distance(&phase, &alone, NULL));
    scattered.processes = 2;
    near(predict_pattern_distance(&phase, &scattered, &words), 1.5, 1e-9);
    assert_string_equal(text_get(&words), "2 and not 4 processes");
    text_clear(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage),    cmocka_unit_test(test_errors),   cmocka_unit_test(test_choice),
        cmocka_unit_test(test_tie),      cmocka_unit_test(test_interval), cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_curve),    cmocka_unit_test(test_peak),     cmocka_unit_test(test_piece),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
