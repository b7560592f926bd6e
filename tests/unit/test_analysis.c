/* The statistics of the analysis against naive references, and the exports read back.
 * proves: IOT-14 IOT-30 IOT-31 IOT-32
 * It would fail if a mean, percentile, error, rate, start-up or overlap differed from its definition, if a region took
 * in an operation too many or too few, or if an exported number changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "base/rng.h"
#include "base/statistics.h"
#include "lab/result/analysis.h"
#include "lab/result/analysis_rows.h"
#include "lab/result/analysis_select.h"
#include "lab/show/export.h"
#include "lab/show/plot.h"

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= fabs(expected) * relative))
        fail_msg("%.17g is not near %.17g", value, expected);
}

/* Long tailed, as I/O times are: 10^2 … 10^9. */
static int64_t *make_times(size_t count, uint64_t seed)
{
    int64_t *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (int64_t)(100 * pow(10, 7 * pow(rng_unit(rng_at(seed, i)), 4)));
    return values;
}

/* In pieces of uneven length, as a file brings them. */
static void feed(void *context, void (*take)(void *, int64_t, const int64_t *, size_t), const int64_t *values,
                 size_t count)
{
    for (size_t at = 0, piece = 1; at < count; piece = piece * 3 % 1009 + 1) {
        const size_t length = piece < count - at ? piece : count - at;
        take(context, (int64_t)at, values + at, length);
        at += length;
    }
}

static int compare_ints(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_region(const int64_t *values, size_t count, struct analysis_region region)
{
    struct analysis_histogram histogram;
    struct analysis_series series;
    assert_true(analysis_histogram_init(&histogram));
    region = analysis_region_cut(region, (int64_t)count);
    analysis_series_begin(&series, region, &histogram);
    feed(&series, analysis_series_take, values, count);
    const int64_t n = analysis_region_count(&region);
    assert_int_equal(series.n, n);
    if (n == 0) {
        assert_true(isnan(analysis_histogram_quantile(&histogram, 0.5)));
        assert_true(isnan(analysis_series_mean(&series).value));
        analysis_histogram_clear(&histogram);
        return;
    }
    int64_t *sorted = malloc((size_t)n * sizeof *sorted);
    memcpy(sorted, values + region.from + region.skip, (size_t)n * sizeof *sorted);
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += sorted[i];
    long double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += (sorted[i] - sum / n) * (sorted[i] - sum / n);
    assert_near(series.sum, (double)sum, 1e-12);
    assert_near(analysis_series_mean(&series).value, (double)(sum / n), 1e-12);
    if (n > 1)
        assert_near(analysis_series_stddev(&series), (double)sqrtl(squares / (n - 1)), 1e-9);
    else
        assert_true(isnan(analysis_series_mean(&series).error));
    qsort(sorted, (size_t)n, sizeof *sorted, compare_ints);
    assert_int_equal(series.min, sorted[0]);
    assert_int_equal(series.max, sorted[n - 1]);
    static const double qs[] = {0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1};
    for (size_t i = 0; i < sizeof qs / sizeof qs[0]; i++) {
        const int64_t rank = (int64_t)ceil(qs[i] * (double)n);
        const int64_t exact = sorted[rank < 1 ? 0 : rank - 1];
        assert_near(analysis_histogram_quantile(&histogram, qs[i]), (double)exact, exact < 2048 ? 0 : 0.0005);
    }
    free(sorted);
    analysis_histogram_clear(&histogram);
}

static void against_a_naive_reference(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 19, 20, 21, 39, 40, 41, 1000, 54321};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        int64_t *values = make_times(counts[c], c);
        const int64_t last = (int64_t)counts[c] - 1;
        check_region(values, counts[c], (struct analysis_region){0, 0, INT64_MAX - 1});
        check_region(values, counts[c], (struct analysis_region){last / 3, 0, last / 2});
        check_region(values, counts[c], (struct analysis_region){last / 3, last / 5, last});
        check_region(values, counts[c], (struct analysis_region){last, 0, last});
        check_region(values, counts[c], (struct analysis_region){last + 1, 0, INT64_MAX - 1});
        check_region(values, counts[c], (struct analysis_region){0, INT64_MAX / 4, INT64_MAX - 1});
        free(values);
    }
}

static void extreme_values(void **state)
{
    (void)state;
    struct analysis_histogram histogram;
    assert_true(analysis_histogram_init(&histogram));
    const int64_t values[] = {INT64_MAX, INT64_MIN, 0, -5, 2047, 2048, 2049};
    analysis_histogram_add(&histogram, values, sizeof values / sizeof values[0]);
    assert_near(analysis_histogram_quantile(&histogram, 1), (double)INT64_MAX, 0.0005);
    assert_true(analysis_histogram_quantile(&histogram, 0) == 0);
    analysis_histogram_reset(&histogram);
    assert_true(isnan(analysis_histogram_quantile(&histogram, 0.5)));
    for (int64_t v = 1; v > 0 && v < INT64_MAX / 3; v = v * 3 + 1) {
        analysis_histogram_add(&histogram, &v, 1);
        assert_near(analysis_histogram_quantile(&histogram, 0.5), (double)v, v < 2048 ? 0 : 0.0005);
        analysis_histogram_reset(&histogram);
    }
    analysis_histogram_clear(&histogram);
}

/* The 90 % interval must hold the true mean in about 90 % of trials, for independent and for correlated times. */
static double coverage(double memory)
{
    enum { TRIALS = 600, LENGTH = 4000 };
    int hits = 0;
    int64_t *values = malloc(LENGTH * sizeof *values);
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        double noise = 0;
        for (uint64_t i = 0; i < LENGTH; i++) {
            noise = memory * noise + (rng_unit(rng_at(rng_at(11, trial), i)) - 0.5);
            values[i] = (int64_t)(1e6 + 1e4 * noise);
        }
        struct analysis_series series;
        analysis_series_begin(&series, (struct analysis_region){0, 0, LENGTH - 1}, NULL);
        feed(&series, analysis_series_take, values, LENGTH);
        const struct analysis_estimate mean = analysis_series_mean(&series);
        hits += fabs(mean.value - 1e6) <= mean.error + 1;
    }
    free(values);
    return (double)hits / TRIALS;
}

static void errors_cover_what_they_promise(void **state)
{
    (void)state;
    const double independent = coverage(0);
    const double correlated = coverage(0.9);
    assert_true(independent > 0.86 && independent < 0.94);
    assert_true(correlated > 0.84 && correlated < 0.95);
}

static void ratios(void **state)
{
    (void)state;
    const double bytes[] = {100, 100, 100, 100};
    const double times[] = {10, 10, 10, 10};
    assert_near(analysis_rate(bytes, times, 4, false).value, 1e4, 1e-12);
    assert_near(analysis_rate(bytes, times, 4, false).error, 0, 1);
    const double faster[] = {40, 40, 10, 10};
    assert_near(analysis_rate(bytes, faster, 4, true).value, 1e4, 1e-12);
    assert_near(analysis_rate(bytes, faster, 4, false).value, 4e3, 1e-12);
    assert_true(isnan(analysis_rate(bytes, times, 0, false).value));
    assert_true(isnan(analysis_rate(bytes, times, 1, false).error));
    const double values[] = {9, 11};
    assert_near(analysis_mean(values, 2).value, 10, 1e-12);
    assert_near(analysis_mean(values, 2).error, 6.3137515147 * 1, 1e-9);
    assert_near(statistics_student_t(0.9, 19), 1.729, 1e-3);
    assert_near(statistics_student_t(0.9, 21), 1.7207, 1e-3);
    assert_near(statistics_student_t(0.9, 1000), 1.6464, 1e-3);
}

static int64_t startup_of(const int64_t *values, size_t count)
{
    struct analysis_startup startup;
    analysis_startup_begin(&startup, (struct analysis_region){0, 0, (int64_t)count - 1});
    feed(&startup, analysis_startup_take, values, count);
    return analysis_startup_length(&startup);
}

static void startup(void **state)
{
    (void)state;
    enum { COUNT = 6400 };
    int64_t *values = malloc(COUNT * sizeof *values);
    for (uint64_t i = 0; i < COUNT; i++)
        values[i] = (int64_t)((i < 1000 ? 300 : 1000) * (0.8 + 0.4 * rng_unit(rng_at(3, i))));
    const int64_t skip = startup_of(values, COUNT);
    assert_true(skip >= 1000 && skip <= 1100);
    assert_int_equal(startup_of(values + 1000, COUNT - 1000), 0);
    assert_int_equal(startup_of(values + 990, 15), 0);
    for (int i = 0; i < COUNT; i++)
        values[i] = 7;
    assert_int_equal(startup_of(values, COUNT), 0);
    free(values);
}

static void octaves(void **state)
{
    (void)state;
    int64_t values[100];
    for (int i = 0; i < 100; i++)
        values[i] = i + 1;
    struct analysis_series series;
    analysis_series_begin(&series, (struct analysis_region){10, 5, 99}, NULL);
    feed(&series, analysis_series_take, values, 100);
    assert_int_equal(analysis_series_octaves(&series), 7); /* 1, 2, … 64 of 90 */
    assert_true(series.octaves[0] == 11);
    assert_true(series.octaves[2] == 11 + 12 + 13 + 14);
    assert_true(series.octaves[6] == (11 + 74) * 32);
    assert_true(series.octave_sum == (11 + 100) * 45);
    assert_int_equal(series.n, 85);
}

static void overlap(void **state)
{
    (void)state;
    assert_near(analysis_overlap(100, 60, 5, 100, 5).part, 50.0 / 60, 1e-12);
    assert_near(analysis_overlap(100, 60, 5, 100, 5).exposed_ns, 10, 1e-12);
    assert_true(analysis_overlap(100, 60, 60, 100, 20).part == 0);
    assert_true(analysis_overlap(100, 60, 0, 90, 0).part == 1);
    assert_true(isnan(analysis_overlap(100, NAN, 5, 100, 5).part));
    assert_near(analysis_overlap(100, NAN, 5, 100, 5).exposed_ns, 10, 1e-12);
}

static void ranks(void **state)
{
    (void)state;
    struct analysis_ranks list;
    assert_true(analysis_ranks_parse("0,2-5", &list));
    assert_true(analysis_ranks_hold(&list, 0) && analysis_ranks_hold(&list, 5) && !analysis_ranks_hold(&list, 1));
    static const char *const wrong[] = {"", ",", "1,", "5-2", "a", "1-", "-1", "99999999999", "1 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(analysis_ranks_parse(wrong[i], &list));
}

static void ticks(void **state)
{
    (void)state;
    double at[PLOT_TICKS_MAX];
    const struct plot_axis axes[] = {{.min = 0, .max = 1},
                                     {.min = 0, .max = 9999999},
                                     {.min = -3, .max = 1e-9},
                                     {.min = 1, .max = 1e15, .log = true},
                                     {.min = 90, .max = 130, .log = true}};
    for (size_t a = 0; a < sizeof axes / sizeof axes[0]; a++) {
        const size_t count = plot_ticks(&axes[a], 6, at);
        assert_true(count >= 2 && count <= 13);
        for (size_t i = 1; i < count; i++)
            assert_true(at[i] > at[i - 1] && at[i] <= axes[a].max * (1 + 1e-6) + 1e-6);
    }
}

/* Labels of a log axis must not run into each other: hardly more ticks than there is room for. */
static void log_ticks_are_thinned(void **state)
{
    (void)state;
    double at[PLOT_TICKS_MAX];
    for (int tenths = 5; tenths < 120; tenths++)
        for (int wanted = 3; wanted <= 8; wanted++) {
            const struct plot_axis axis = {.min = 3e3, .max = 3e3 * pow(10, tenths / 10.0), .log = true};
            const size_t count = plot_ticks(&axis, wanted, at);
            assert_true(count >= 2 && count <= (size_t)wanted + 2);
        }
    const struct plot_axis whole = {.min = 0, .max = 3, .whole = true};
    assert_int_equal(plot_ticks(&whole, 8, at), 4);
    const struct plot_axis one = {.min = -0.01, .max = 1.01, .whole = true};
    assert_int_equal(plot_ticks(&one, 8, at), 2);
}

static void merged_histograms(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    struct analysis_histogram parts[2], merged, whole;
    int64_t *values = make_times(COUNT, 5);
    assert_true(analysis_histogram_init(&parts[0]) && analysis_histogram_init(&parts[1]));
    assert_true(analysis_histogram_init(&merged) && analysis_histogram_init(&whole));
    analysis_histogram_add(&whole, values, COUNT);
    analysis_histogram_add(&parts[0], values, 1000);
    analysis_histogram_add(&parts[1], values + 1000, COUNT - 1000);
    analysis_histogram_merge(&merged, &parts[0]);
    analysis_histogram_merge(&merged, &parts[1]);
    analysis_histogram_reset(&parts[0]);
    analysis_histogram_merge(&merged, &parts[0]); /* of nothing */
    for (int percent = 0; percent <= 100; percent++)
        assert_true(analysis_histogram_quantile(&merged, percent / 100.0) ==
                    analysis_histogram_quantile(&whole, percent / 100.0));
    free(values);
    analysis_histogram_clear(&parts[0]);
    analysis_histogram_clear(&parts[1]);
    analysis_histogram_clear(&merged);
    analysis_histogram_clear(&whole);
}

/* ---- with a file ---- */

/* `sets` sets of `ranks` ranks, each set three times. */
static void write_sets(const char *path, int sets, int ranks)
{
    struct blockfile_writer *writer;
    struct pl_error error;
    const int64_t times[] = {10, 20, 30};
    unlink(path);
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    blockfile_begin(writer, "Lowlevel", "multiple");
    assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
    for (int set = 0; set < 3 * sets; set++) {
        blockfile_set(writer);
        blockfile_param(writer, "blocksize_bytes", "%d", 1000 * (set % sets + 1));
        for (int rank = 0; rank < ranks; rank++) {
            blockfile_series(writer, rank, "w", "ns", 3);
            blockfile_values(writer, times, 3);
        }
        assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
    }
    assert_int_equal(blockfile_end(writer, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK);
}

static void check_choice(int sets, int ranks, size_t limit)
{
    char path[64];
    snprintf(path, sizeof path, "test_choice.%d.tmp", (int)getpid());
    write_sets(path, sets, ranks);
    struct blockfile file;
    struct pl_error error;
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    const struct analysis_request request = {.to = INT64_MAX - 1};
    const struct analysis_input input = {&file, 1};
    struct analysis_choice choice;
    assert_int_equal(analysis_choice_build(&request, &input, &choice, &error), PL_OK);
    assert_int_equal(choice.count, 3 * sets);
    assert_int_equal(choice.kinds, 1);
    const size_t all = (size_t)(3 * sets * ranks);
    const size_t left_out = analysis_choice_spread(&request, &choice, ANALYSIS_ALL_KINDS, limit);
    size_t drawn = 0;
    size_t drawn_sets = 0;
    for (size_t i = 0; i < choice.count; i++) {
        drawn += (size_t)(choice.sets[i].last_rank + 1);
        drawn_sets += choice.sets[i].last_rank >= 0;
        assert_true(choice.sets[i].repeat == (i >= (size_t)sets));
        assert_true(all <= limit || !choice.sets[i].repeat || choice.sets[i].last_rank < 0);
        assert_ptr_equal(analysis_choice_of(&choice, choice.sets[i].chosen.set), &choice.sets[i]);
    }
    assert_true(drawn >= 1 && drawn <= limit && drawn + left_out == all);
    assert_true(all > limit || left_out == 0);
    assert_int_equal(drawn_sets, all <= limit ? 3 * (size_t)sets : (size_t)sets < limit ? (size_t)sets : limit);
    assert_true(choice.sets[0].last_rank >= 0);
    assert_true(limit == 1 || choice.sets[sets - 1].last_rank >= 0);
    analysis_choice_clear(&choice);
    blockfile_close(&file);
    unlink(path);
}

static void what_a_plot_has_room_for(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 3, 5, 12, 13, 30};
    for (size_t s = 0; s < sizeof counts / sizeof counts[0]; s++)
        for (int ranks = 1; ranks < 6; ranks += 2) {
            check_choice(counts[s], ranks, 12);
            check_choice(counts[s], ranks, 7);
            check_choice(counts[s], ranks, 1);
        }
}

static void write_fuzzy(const char *path)
{
    struct blockfile_writer *writer;
    struct pl_error error;
    unlink(path);
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    blockfile_begin(writer, "Lowlevel", "multiple \"quoted\"");
    assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
    blockfile_set(writer);
    blockfile_param(writer, "blocksize_bytes", "1000");
    blockfile_time(writer, 1, "pre_time", INT64_MIN);
    const int64_t times[2][4] = {{10, 20, 30, 40}, {40, 30, 20, INT64_C(9007199254740993)}};
    const int64_t bytes[4] = {100, 200, 300, 400};
    for (int rank = 0; rank < 2; rank++) {
        blockfile_series(writer, rank, "w", "ns", 4);
        blockfile_values(writer, times[rank], 4);
        blockfile_series(writer, rank, "r", "ns", 3);
        blockfile_values(writer, times[rank], 3);
    }
    blockfile_series(writer, 0, "b", "B", 4);
    blockfile_values(writer, bytes, 4);
    assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
    assert_int_equal(blockfile_end(writer, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK);
}

static void bytes_and_rates_of_a_set(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "test_analysis.%d.tmp", (int)getpid());
    write_fuzzy(path);
    struct blockfile file;
    struct pl_error error;
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    const struct analysis_request request = {.to = 2};
    const struct analysis_input input = {&file, 1};
    struct analysis_chosen chosen = {0};
    assert_true(analysis_next(&request, &input, &chosen));
    struct analysis_rows rows;
    assert_int_equal(analysis_rows_build(&request, &chosen, &rows, &error), PL_OK);
    assert_int_equal(rows.count, 4);
    assert_true(rows.rows[0].bytes == 600);  /* rank 0, w: from series b, counter 0 to 2 */
    assert_true(rows.rows[1].bytes == 3000); /* rank 1, w: three blocks */
    assert_true(rows.rows[2].bytes == 3000); /* rank 0, r: its count is not that of b */
    assert_int_equal(rows.op_count, 2);
    assert_int_equal(rows.ops[0].n, 6);
    assert_int_equal(rows.ops[0].processes, 2);
    assert_true(rows.ops[0].bytes == 3600 && rows.ops[0].sum == 150 && rows.ops[0].median == 20);
    assert_true(rows.ops[0].min == 10 && rows.ops[0].max == 40);
    struct analysis_op_rate rate;
    assert_int_equal(analysis_rows_end_of_op(&rows, 0), 2);
    assert_true(analysis_op_rate(&rows, 0, 2, &rate));
    assert_near(rate.rate.value, 3600e3 / 90, 1e-12);
    assert_near(rate.point_rate[0], 1100e3 / 40, 1e-12);
    assert_near(rate.point_bytes[rate.point_count - 1], 3600, 1e-12);
    analysis_rows_clear(&rows);
    assert_false(analysis_next(&request, &input, &chosen));
    blockfile_close(&file);
    unlink(path);
}

static void exports_keep_every_digit(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "test_export.%d.tmp", (int)getpid());
    write_fuzzy(path);
    struct blockfile file;
    struct pl_error error;
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(export_json(&file, 1, stream, &error), PL_OK);
    fclose(stream);
    json_error_t why;
    json_t *tree = json_loads(text, 0, &why);
    assert_non_null(tree);
    json_t *block = json_array_get(json_object_get(tree, "blocks"), 0);
    assert_string_equal(json_string_value(json_object_get(block, "testname")), "multiple \"quoted\"");
    assert_true(json_is_true(json_object_get(block, "complete")));
    json_t *set = json_array_get(json_object_get(block, "sets"), 0);
    json_t *time = json_array_get(json_object_get(set, "times"), 0);
    assert_true(json_integer_value(json_object_get(time, "ns")) == INT64_MIN);
    json_t *series = json_array_get(json_object_get(set, "series"), 2);
    json_t *values = json_object_get(series, "values");
    assert_int_equal(json_array_size(values), 4);
    assert_true(json_integer_value(json_array_get(values, 3)) == INT64_C(9007199254740993));
    json_decref(tree);
    free(text);

    stream = open_memstream(&text, &size);
    assert_int_equal(export_csv(&file, 1, stream, &error), PL_OK);
    fclose(stream);
    assert_non_null(strstr(text, ",1,Lowlevel,\"multiple \"\"quoted\"\"\",1,1,w,ns,3,9007199254740993,"));
    assert_non_null(strstr(text, ",1,1,pre_time,ns,,-9223372036854775808,,,1000,blocksize_bytes=1000\n"));
    free(text);
    blockfile_close(&file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_a_naive_reference),
        cmocka_unit_test(extreme_values),
        cmocka_unit_test(errors_cover_what_they_promise),
        cmocka_unit_test(ratios),
        cmocka_unit_test(startup),
        cmocka_unit_test(octaves),
        cmocka_unit_test(overlap),
        cmocka_unit_test(ranks),
        cmocka_unit_test(ticks),
        cmocka_unit_test(log_ticks_are_thinned),
        cmocka_unit_test(merged_histograms),
        cmocka_unit_test(what_a_plot_has_room_for),
        cmocka_unit_test(bytes_and_rates_of_a_set),
        cmocka_unit_test(exports_keep_every_digit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
