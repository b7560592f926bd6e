/* The pure parts of the MPI-IO/GPFS benchmarks.
 * proves: GPFS-8 GPFS-9
 * Fails when two ranks would move the same byte, when a pattern is not the document's, when a default is not its
 * parameter, when wrong settings pass, or when maximum, mean and deviation are not those of the repetitions. */
#include "bench/bench.h"
#include "bench/contest/gpfs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEED = 7, BLOCK = 256 << 10 };

/* ---- making cells ---- */

enum { WORDS_MAX = 32 };

/* Settings "name=value name=value", read and prepared; the caller clears the job. */
static pl_status prepare(struct lab_job *job, const char *benchmark, const char *settings, struct pl_error *error)
{
    static char copy[256], words_of[WORDS_MAX][300];
    char *words[WORDS_MAX] = {(char *)"gpfs", (char *)"--dry-run", (char *)benchmark}, *rest = NULL;
    int count = 3;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count < WORDS_MAX);
        snprintf(words_of[count], sizeof words_of[count], "--%s", word);
        words[count] = words_of[count];
        count++;
    }
    pl_status status = lab_job_init(job, bench_find("gpfs"), count, words, error);
    if (status == PL_OK && job->ranks == 0)
        job->ranks = 2;
    return status == PL_OK ? job->bench->prepare(job, error) : status;
}

static const struct contest *cells_of(struct lab_job *job, const char *benchmark, const char *settings)
{
    struct pl_error error;
    if (prepare(job, benchmark, settings, &error) != PL_OK)
        fail_msg("%s", error.text);
    return job->own;
}

static void expect_refused(const char *benchmark, const char *key, const char *value, const char *words)
{
    struct lab_job job;
    struct pl_error error;
    char setting[128];
    snprintf(setting, sizeof setting, "%s=%s", key, value);
    if (prepare(&job, benchmark, setting, &error) == PL_OK)
        fail_msg("%s --%s %s was taken", benchmark, key, value);
    if (!strstr(error.text, words))
        fail_msg("'%s' is not in: %s", words, error.text);
    lab_job_clear(&job);
}

/* ---- patterns ---- */

static void test_permute(void **state)
{
    (void)state;
    for (int64_t count = 1; count < 200; count++) {
        char seen[200] = {0};
        for (int64_t i = 0; i < count; i++) {
            const int64_t place = gpfs_permute(SEED, count, i);
            assert_in_range(place, 0, count - 1);
            assert_false(seen[place]++);
        }
    }
    assert_in_range(gpfs_permute(SEED, INT64_C(1) << 55, 12345), 0, (INT64_C(1) << 55) - 1);
}

static void check_calls(const struct gpfs_plan *plan)
{
    int64_t next = 0;
    for (int64_t c = 0; c < plan->calls; c++) {
        assert_int_equal(plan->first_piece[c], next);
        next = plan->first_piece[c + 1];
        for (int64_t i = plan->first_piece[c]; i < next; i++) {
            assert_true(i == plan->first_piece[c] || plan->offsets[i] > plan->offsets[i - 1]);
            if (plan->view == GPFS_VIEW_EACH)
                assert_int_equal(plan->offsets[i] / plan->region_bytes, c);
        }
        if (plan->view == GPFS_NO_VIEW)
            assert_int_equal(next - plan->first_piece[c], 1);
    }
    assert_int_equal(next, plan->count);
}

static void check_order(const struct gpfs_plan *plan)
{
    char *seen = calloc((size_t)plan->calls, 1);
    for (int64_t c = 0; plan->order && c < plan->calls; c++)
        assert_false(seen[plan->order[c]]++);
    free(seen);
}

/* Marks the bytes of all ranks; returns how many they are. */
static int64_t mark(const struct contest_cell *cell, char *bytes)
{
    int64_t marked = 0;
    for (int rank = 0; rank < cell->ranks; rank++) {
        struct gpfs_plan plan;
        struct pl_error error;
        assert_int_equal(gpfs_plan_make(cell, rank, SEED, &plan, &error), PL_OK);
        check_calls(&plan);
        check_order(&plan);
        assert_int_equal(plan.count * plan.piece_bytes * cell->ranks, cell->moved_bytes); /* the same for each */
        for (int64_t i = 0; i < plan.count; i++)
            for (int64_t b = 0; b < plan.piece_bytes; b++, marked++) {
                assert_in_range(plan.offsets[i] + b, 0, cell->file_bytes - 1);
                assert_false(bytes[plan.offsets[i] + b]++);
            }
        gpfs_plan_clear(&plan);
    }
    return marked;
}

static void check_pattern(const char *benchmark, const char *settings, bool tiles)
{
    static const char *const ranks[] = {" ranks=1", " ranks=2", " ranks=3", " ranks=5"};
    for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++) {
        char all[256];
        snprintf(all, sizeof all, "%s%s", settings, ranks[r]);
        struct lab_job job;
        const struct contest *cells = cells_of(&job, benchmark, all);
        for (int c = 0; c < cells->cell_count; c++) {
            char *bytes = calloc((size_t)cells->cells[c].file_bytes, 1);
            const int64_t marked = mark(&cells->cells[c], bytes);
            assert_int_equal(marked, cells->cells[c].moved_bytes);
            if (tiles)
                assert_int_equal(marked, cells->cells[c].file_bytes);
            free(bytes);
        }
        lab_job_clear(&job);
    }
}

static void test_patterns(void **state)
{
    (void)state;
    check_pattern("contiguous", "size=1001", true);
    check_pattern("discontiguous", "size=64k region=16k", true);
    check_pattern("discontiguous", "size=10000 block=100 region=700", true);
    check_pattern("partitioning", "blocks=50 block=33", false);
    check_pattern("access-range", "blocks=5 block=4k sub-block=100 sub-blocks=1,2,8,16", false);
    check_pattern("access-range", "blocks=5 block=1600 sub-block=100 sub-blocks=16", true);
    check_pattern("strided", "file-size=2m pattern=tiled,sparse record=4k,12k", false);
    check_pattern("strided", "file-size=120k pattern=tiled record=4k", true);
    check_pattern("random", "file-size=1m record=1k,7k batch=10", false);
    check_pattern("threads", "size=64k record=1k", true);
}

/* Blocks of the partitioning benchmark are not contiguous. */
static void test_partitioning_gaps(void **state)
{
    (void)state;
    struct lab_job job;
    const struct contest *cells = cells_of(&job, "partitioning", "blocks=200 block=16 ranks=3 ops=read");
    char *bytes = calloc((size_t)cells->cells[0].file_bytes, 1);
    mark(&cells->cells[0], bytes);
    int64_t run = 0;
    for (int64_t i = 0; i < cells->cells[0].file_bytes; i++) {
        run = bytes[i] ? run + 1 : 0;
        assert_true(run <= 16);
    }
    free(bytes);
    lab_job_clear(&job);
}

/* No two successive records of a rank meet the same block of the file system. */
static void test_sparse_blocks(void **state)
{
    (void)state;
    struct lab_job job;
    const struct contest *cells = cells_of(&job, "strided",
                                           "file-size=40m pattern=sparse record=1k,4k,12k,100k ranks=1,3,40 ops=read");
    for (int c = 0; c < cells->cell_count; c++)
        for (int rank = 0; rank < cells->cells[c].ranks; rank++) {
            struct gpfs_plan plan;
            struct pl_error error;
            assert_int_equal(gpfs_plan_make(&cells->cells[c], rank, SEED, &plan, &error), PL_OK);
            for (int64_t i = 1; i < plan.count; i++)
                assert_true((plan.offsets[i - 1] + plan.piece_bytes - 1) / BLOCK < plan.offsets[i] / BLOCK);
            if (plan.piece_bytes == 12 << 10 && cells->cells[c].ranks < 24)
                assert_int_equal(plan.offsets[1] - plan.offsets[0], 24 * (12 << 10)); /* the document's example */
            gpfs_plan_clear(&plan);
        }
    lab_job_clear(&job);
}

/* ---- parameters ---- */

static void expect_default(const char *benchmark, int cells_wanted, int64_t file_bytes, int64_t moved_bytes)
{
    struct lab_job job;
    const struct contest *cells = cells_of(&job, benchmark, "ops=read");
    assert_int_equal(cells->cell_count, cells_wanted);
    assert_int_equal(cells->cells[cells->cell_count - 1].file_bytes, file_bytes);
    assert_int_equal(cells->cells[cells->cell_count - 1].moved_bytes, moved_bytes);
    lab_job_clear(&job);
}

static void test_defaults(void **state)
{
    (void)state;
    expect_default("contiguous", 1, 666000000, 666000000);
    expect_default("discontiguous", 1, 2 * (333000000 / 1024) * INT64_C(1024), 2 * (333000000 / 1024) * INT64_C(1024));
    expect_default("partitioning", 1, 2 * 2 * 10000 * INT64_C(8192), 2 * 10000 * INT64_C(8192));
    expect_default("access-range", 4, 2 * 100 * BLOCK, 2 * 100 * 16 * 4096);
    expect_default("strided", 6, 1365 * INT64_C(24) * 65536, 2 * 1365 * INT64_C(65536));
    expect_default("random", 5, INT64_C(1) << 31, INT64_C(1) << 30);
    expect_default("threads", 6, 64 << 20, 64 << 20);
    struct lab_job job;
    const struct contest *contest = cells_of(&job, "access-range", "");
    assert_int_equal(contest->rule.trials, 7);
    assert_int_equal(contest->rule.max_trials, 7);
    assert_int_equal(contest->contestant_count, 7);
    assert_string_equal(contest->contestants[6].label, "ranges-8");
    assert_int_equal(contest->contestants[6].ranges, 8);
    assert_int_equal(contest->contestants[2].ranges, 0);
    assert_true(job.bench->needs_engine(&job));
    lab_job_clear(&job);
    contest = cells_of(&job, "contiguous", "contestants=posix,system ranks=1,4,2");
    assert_false(job.bench->needs_engine(&job));
    assert_int_equal(job.ranks, 4);
    lab_job_clear(&job);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_refused("contiguous", "record", "4k", "no parameter of 'contiguous', which has --ranks");
    expect_refused("contiguous", "size", "0", "--size: '0'; allowed: sizes from 1 to 1 TiB");
    expect_refused("contiguous", "size", "4q", "--size: '4q'");
    expect_refused("contiguous", "size", "1m,1m", "stands there twice");
    expect_refused("contiguous", "size", ",", "--size: ','");
    expect_refused("contiguous", "ops", "rewrite", "--ops: 'rewrite'; allowed: write, read");
    expect_refused("contiguous", "ranks", "0", "--ranks: '0'; allowed: whole numbers from 1 to 1000000");
    expect_refused("contiguous", "reps", "0", "--repeat: '0'; allowed: a whole number from 1 to 1000");
    expect_refused("contiguous", "contestants", "romio", "'romio' is none; allowed: posix");
    expect_refused("contiguous", "contestants", "ranges-65", "'ranges-65' is none");
    expect_refused("contiguous", "contestants", "posix,posix", "stands there twice");
    expect_refused("contiguous", "file", "", "--file");
    expect_refused("discontiguous", "region", "1000", "no whole number of blocks");
    expect_refused("discontiguous", "size", "1000", "no piece of 1024 bytes");
    expect_refused("access-range", "sub-blocks", "65", "do not fit into a block");
    expect_refused("strided", "file-size", "64k", "--file-size: 65536 bytes give 2 ranks no piece");
    expect_refused("access-range", "blocks", "1099511627776", "too large a file");
}

static void test_contestants(void **state)
{
    (void)state;
    struct lab_job job;
    const struct contest *contest = cells_of(&job, "contiguous",
                                             "contestants=partitioned+ranges-4,no-shipping,posix,ranges");
    const struct contest_contestant *one = contest->contestants;
    assert_int_equal(contest->contestant_count, 4);
    assert_true(one[0].unique && !one[0].largeblock && one[0].ranges == 4 && one[0].access == CONTEST_ENGINE);
    assert_string_equal(one[0].label, "partitioned+ranges-4");
    assert_true(one[1].largeblock);
    assert_int_equal(one[2].access, CONTEST_POSIX);
    assert_int_equal(one[3].ranges, 2);
    lab_job_clear(&job);
}

/* ---- contents and statistics ---- */

static void test_data(void **state)
{
    (void)state;
    char whole[100], part[40];
    contest_fill(whole, 1000, sizeof whole, SEED);
    for (int64_t from = 0; from < 20; from++) {
        contest_fill(part, 1000 + from, sizeof part, SEED); /* the same bytes wherever one begins */
        assert_memory_equal(part, whole + from, sizeof part);
        assert_int_equal(contest_differs(part, 1000 + from, sizeof part, SEED), -1);
        part[from] ^= 1;
        assert_int_equal(contest_differs(part, 1000 + from, sizeof part, SEED), from);
    }
    assert_true(contest_differs(whole, 1000, sizeof whole, SEED + 1) >= 0);
}

static void test_statistics(void **state)
{
    (void)state;
    /* rates of 2, 4, 4, 4, 5, 5, 7 and 9 MB/s */
    double total_ns[8];
    static const double rates[] = {2, 4, 4, 4, 5, 5, 7, 9};
    for (int i = 0; i < 8; i++)
        total_ns[i] = 1e9 / rates[i];
    struct contest_point all = {.moved_bytes = 1e6, .trials = 8, .total_ns = total_ns}, one = all, none = all;
    one.trials = 1;
    none.trials = 0;
    contest_point_finish(&all);
    contest_point_finish(&one);
    contest_point_finish(&none);
    assert_true(fabs(all.max_mb_per_s - 9) < 1e-9 && fabs(all.mean_mb_per_s - 5) < 1e-9);
    assert_true(fabs(all.sd_mb_per_s - sqrt(32.0 / 7)) < 1e-9);
    assert_true(fabs(one.max_mb_per_s - 2) < 1e-9 && fabs(one.mean_mb_per_s - 2) < 1e-9 && isnan(one.sd_mb_per_s));
    assert_true(isnan(none.mean_mb_per_s) && isnan(none.max_mb_per_s));
}

/* What the document's figures show of a benchmark is what it is compared by. */
static void test_shown(void **state)
{
    (void)state;
    double fast[] = {1e6, 3e6}, slow[] = {2e6, 2e6};
    struct contest_point points[] = {
        {.contestant = "system", .mpi = "", .moved_bytes = 1e6, .trials = 2, .total_ns = fast},
        {.contestant = "posix", .mpi = "", .moved_bytes = 1e6, .trials = 2, .total_ns = slow}};
    struct contest_points list = {.points = points, .count = 2};
    static const char *const names[] = {"contiguous", "strided"};
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < 2; i++) {
            points[i].benchmark = gpfs_find(names[n]);
            contest_point_finish(&points[i]);
        }
        GPFS_KIND.points_finish(&list);
        /* 1000 and 333 MB/s against 500 and 500: the maximum, or the mean */
        assert_true(fabs(points[0].rate_mb_per_s - (n == 0 ? 1000 : 2000.0 / 3)) < 1e-6);
        assert_ptr_equal(GPFS_KIND.reference(&list, &points[1]), &points[0]);
        assert_true(fabs(contest_ratio(&points[1], &points[0]).value - (n == 0 ? 0.5 : 0.75)) < 1e-9);
        assert_true(isnan(points[0].error_mb_per_s) == (n == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permute),       cmocka_unit_test(test_patterns), cmocka_unit_test(test_partitioning_gaps),
        cmocka_unit_test(test_sparse_blocks), cmocka_unit_test(test_defaults), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_contestants),   cmocka_unit_test(test_data),     cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
