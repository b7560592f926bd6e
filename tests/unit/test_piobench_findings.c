/* What PIOBENCH concludes, from made-up numbers.
 * proves: COLL-6 COLL-7
 * It would fail if overlapping intervals counted as a difference, if the sizes between which collective buffering pays,
 * the buffer that is enough, or the number of ranks that is best were misread, or if a sentence said the opposite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/contest/piobench.h"

#include <math.h>

enum { FILE_BYTES = 16 << 20 };

/* A point of 4 ranks with an interval of 2 %. */
static struct contest_point point(const char *distribution, const char *algorithm, const char *family, int64_t block,
                                  double rate)
{
    return (struct contest_point){.op = "write",
                                  .distribution = distribution,
                                  .file_bytes = FILE_BYTES,
                                  .block_bytes = block,
                                  .block_asked_bytes = block,
                                  .ranks = 4,
                                  .mpi = "mpich",
                                  .contestant = algorithm,
                                  .family = family,
                                  .trials = 5,
                                  .rate_mb_per_s = rate,
                                  .error_mb_per_s = rate * 0.02};
}

static struct contest_point naive(const char *distribution, int64_t block, double rate)
{
    return point(distribution, "naive", "naive", block, rate);
}

static struct contest_point buffering(const char *distribution, const char *algorithm, int64_t block, double rate)
{
    return point(distribution, algorithm, "buffering", block, rate);
}

static struct contest_point on_ranks(int ranks, double rate)
{
    struct contest_point result = naive("BLOCK", FILE_BYTES / ranks, rate);
    result.block_asked_bytes = 0;
    result.ranks = ranks;
    return result;
}

static char *words_of(struct contest_point *points, size_t count)
{
    const struct contest_points list = {.points = points, .count = count};
    struct text lines = {0};
    piobench_findings_text(&list, &lines);
    assert_false(lines.failed);
    return lines.data ? lines.data : text_dup("");
}

static void expect_in(char *words, const char *wanted)
{
    if (!strstr(words, wanted))
        fail_msg("'%s' is not in:\n%s", wanted, words);
}

static void expect_words(struct contest_point *points, size_t count, const char *wanted)
{
    char *words = words_of(points, count);
    expect_in(words, wanted);
    free(words);
}

static void chance_is_no_difference(void **state)
{
    (void)state;
    struct contest_point a = point("CYCLIC", "a", "", 64, 100), b = point("CYCLIC", "b", "", 64, 97);
    assert_false(piobench_findings_faster(&a, &b)); /* 98 and 98.94: they overlap */
    b.rate_mb_per_s = 90;
    assert_true(piobench_findings_faster(&a, &b));
    assert_false(piobench_findings_faster(&b, &a));
    b.error_mb_per_s = NAN; /* one trial: nothing is known */
    assert_false(piobench_findings_faster(&a, &b));
}

static void block_size_against_distribution(void **state)
{
    (void)state;
    struct contest_point points[] = {
        naive("CYCLIC", 64, 10),    naive("CYCLIC", 4096, 400),         naive("random", 64, 12),
        naive("random", 4096, 300), buffering("CYCLIC", "ring", 64, 1), buffering("random", "ring", 64, 1000),
    };
    const struct piobench_spread spread = piobench_findings_spread(points, 6, "naive", "write");
    assert_true(fabs(spread.by_block.mean - 40) < 1e-9);
    assert_true(fabs(spread.by_block.low - 40 * 0.98 / 1.02) < 1e-9);
    assert_true(fabs(spread.by_distribution.mean - 4.0 / 3) < 1e-9);
    assert_true(fabs(spread.by_distribution.high - 4.0 / 3 * 1.02 / 0.98) < 1e-9);
    assert_true(piobench_findings_spread(points, 6, "naive", "read").by_block.mean == 0);
    expect_words(points, 4, "the data block size matters more, as in the thesis");
    points[2].rate_mb_per_s = 1000; /* now 100 by distribution, 40 by block */
    expect_words(points, 4, "the distribution matters more, unlike in the thesis");
    points[2].rate_mb_per_s = 385; /* 38.5 by distribution, 40 by block: with 2 % each that is no difference */
    expect_words(points, 4, "the intervals are too wide to say which of the two matters more");
    points[3].error_mb_per_s = NAN; /* a single trial: it may be anything */
    expect_words(points, 4, "the intervals are too wide to say");
    points[2].conditions = points[3].conditions = 1; /* measured elsewhere: not to be compared */
    assert_true(piobench_findings_spread(points, 4, "naive", "write").by_distribution.mean == 0);
}

static void where_buffering_pays(void **state)
{
    (void)state;
    struct contest_point points[] = {
        /* not in order of size, and the better of two that buffer counts */
        naive("CYCLIC", 65536, 900),
        naive("CYCLIC", 64, 5),
        naive("CYCLIC", 1024, 80),
        naive("CYCLIC", 16384, 395),
        buffering("CYCLIC", "ring", 64, 500),
        buffering("CYCLIC", "cbx", 64, 400),
        buffering("CYCLIC", "ring", 1024, 60),
        buffering("CYCLIC", "cbx", 1024, 450),
        buffering("CYCLIC", "cbx", 16384, 400),
        buffering("CYCLIC", "cbx", 65536, 300),
        point("CYCLIC", "auto", "choosing", 65536, 5000),
    };
    enum { COUNT = sizeof points / sizeof points[0] };
    struct piobench_crossover crossover = piobench_findings_crossover(points, COUNT, &points[0]);
    assert_int_equal(crossover.pays_up_to, 1024); /* 400 against 395 is chance */
    assert_int_equal(crossover.not_from, 16384);
    assert_true(fabs(crossover.gain - 100) < 1e-9);
    assert_ptr_equal(crossover.gain_at, &points[4]);
    char *words = words_of(points, COUNT);
    expect_in(words, "pays up to data blocks of 1 KiB (at best 100 times naive: ring with 64 B); from 16 KiB on it is "
                     "not surely faster");
    expect_in(words, "so it is here");
    free(words);
    points[4].warning = "through the page cache"; /* not what naive did */
    assert_ptr_equal(piobench_findings_crossover(points, COUNT, &points[0]).gain_at, &points[5]);
    for (int i = 4; i < COUNT; i++) /* 5 times as fast, but it may be chance */
        points[i].error_mb_per_s = 2 * points[i].rate_mb_per_s;
    words = words_of(points, COUNT);
    expect_in(words, "is not surely faster than naive with any data block size");
    expect_in(words, "is surely faster than naive nowhere");
    free(words);
    /* another distribution has nothing to do with it */
    const struct contest_point other = naive("random", 64, 5);
    crossover = piobench_findings_crossover(points, COUNT, &other);
    assert_null(crossover.gain_at);
}

static struct contest_point with_buffer(const char *algorithm, int64_t block, int64_t buffer, double rate)
{
    struct contest_point result = buffering("CYCLIC", algorithm, block, rate);
    result.buffer_bytes = buffer;
    return result;
}

static void enough_buffer(void **state)
{
    (void)state;
    struct contest_point points[] = {
        with_buffer("cbx:cb_buffer_size=65536", 64, 65536, 100),
        with_buffer("cbx:cb_buffer_size=1048576", 64, 1 << 20, 185),
        with_buffer("cbx:cb_buffer_size=4194304", 64, 4 << 20, 200),
        with_buffer("cb_c:cb_buffer_size=4194304", 64, 4 << 20, 900), /* alone: says nothing */
    };
    assert_int_equal(piobench_findings_buffer(points, 4, &points[0]), 1 << 20); /* 185 is 92 % of 200 */
    assert_int_equal(piobench_findings_buffer(points, 4, &points[3]), 0);
    char *words = words_of(points, 4);
    expect_in(words, "90 % of the best rate needs 1 MiB at most, as far as the intervals tell (cbx, ");
    expect_in(words, "so it is here");
    free(words);
    points[2].buffer_bytes = points[3].buffer_bytes = 1 << 18; /* nothing above 1 MB was tried */
    expect_words(points, 4, "larger ones were not measured here");
    points[2].buffer_bytes = points[3].buffer_bytes = 4 << 20;
    points[1].rate_mb_per_s = 150;
    assert_int_equal(piobench_findings_buffer(points, 4, &points[0]), 4 << 20);
    expect_words(points, 4, "here it is not in 1 of them");
    points[1].buffer_bytes = 1 << 19; /* then nobody knows of 1 MB */
    expect_words(points, 4, "it was not tried where more is needed here");
    points[1].error_mb_per_s = 40; /* it may well reach 180 */
    assert_int_equal(piobench_findings_buffer(points, 4, &points[0]), 1 << 19);
}

static void negative_scaling(void **state)
{
    (void)state;
    /* BLOCK has another data block with each number of ranks: that is no other curve */
    struct contest_point points[6] = {on_ranks(2, 500), on_ranks(16, 300), on_ranks(4, 800), on_ranks(8, 790)};
    struct piobench_scaling scaling = piobench_findings_ranks(points, 4, &points[1]);
    struct contest_point alone[3] = {on_ranks(1, 2000), on_ranks(2, 500), on_ranks(4, 800)};
    assert_null(piobench_findings_ranks(alone, 3, &alone[1]).peak); /* one rank is no peak that others fall from */
    assert_null(piobench_findings_ranks(alone, 3, &alone[0]).peak);
    assert_ptr_equal(scaling.peak, &points[2]);
    assert_ptr_equal(scaling.fallen, &points[1]);
    char *words = words_of(points, 4);
    expect_in(words, "800.0 MB/s on 4 ranks, 300.0 MB/s on 16; advice: 4 ranks at a time");
    expect_in(words, "piolet_group_size=4");
    free(words);
    points[4] = on_ranks(16, 700); /* grouping was tried there */
    points[4].contestant = "node_grouping:piolet_group_size=4";
    points[4].family = "scheduling";
    points[1].crowded = true;
    words = words_of(points, 5);
    expect_in(words, "'node_grouping:piolet_group_size=4', measured there, is faster: 700.0 MB/s");
    expect_in(words, "16 ranks are more than the cores");
    free(words);
    /* rising, or falling by chance */
    points[1].rate_mb_per_s = 799;
    points[1].error_mb_per_s = 10;
    assert_null(piobench_findings_ranks(points, 4, &points[1]).peak);
    words = words_of(points, 4);
    assert_null(strstr(words, "more ranks and less"));
    free(words);
}

static void larger_blocks_less(void **state)
{
    (void)state;
    struct contest_point points[] = {naive("CYCLIC", 1024, 100), naive("CYCLIC", 262144, 900),
                                     naive("CYCLIC", 1048576, 400)};
    const struct piobench_scaling scaling = piobench_findings_blocks(points, 3, &points[0]);
    assert_ptr_equal(scaling.peak, &points[1]);
    assert_ptr_equal(scaling.fallen, &points[2]);
    char *words = words_of(points, 3);
    expect_in(words, "900.0 MB/s with 256 KiB, 400.0 MB/s with 1 MiB; advice: less data at a time");
    free(words);
}

static void nothing_measured(void **state)
{
    (void)state;
    struct contest_point points[] = {naive("CYCLIC", 64, NAN), buffering("CYCLIC", "ring", 64, NAN)};
    char *words = words_of(points, 2);
    assert_string_equal(words, "");
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chance_is_no_difference), cmocka_unit_test(block_size_against_distribution),
        cmocka_unit_test(where_buffering_pays),    cmocka_unit_test(enough_buffer),
        cmocka_unit_test(negative_scaling),        cmocka_unit_test(larger_blocks_less),
        cmocka_unit_test(nothing_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
