/* PIOBENCH before anything is measured: settings, matrix, whose trial is next, what a killed run left, clocks.
 * proves: COLL-1 COLL-6
 * It would fail if a setting were misread, a cell missing or twice, a data block not as long as asked for, an element
 * owned twice or never, if trials did not alternate or ended too early or too late, if a resumed run took trials of
 * another case for its own, or if the interval were not Student's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/blockfile.h"
#include "base/statistics.h"
#include "bench/bench.h"
#include "bench/contest/piobench.h"

#include <math.h>

/* ---- settings ---- */

enum { WORDS_MAX = 32 };

/* A command line of pairs "name", "value", read and prepared; the caller clears the job. */
static pl_status prepare(struct lab_job *job, const char *const (*settings)[2], struct pl_error *error)
{
    char *words[WORDS_MAX] = {(char *)"piobench", (char *)"--dry-run"}, names[WORDS_MAX][64];
    int count = 2;
    for (; (*settings)[0]; settings++) {
        snprintf(names[count], sizeof names[count], "--%s", (*settings)[0]);
        words[count] = names[count];
        words[count + 1] = (char *)(*settings)[1];
        count += 2;
    }
    assert_true(count < WORDS_MAX);
    pl_status status = lab_job_init(job, bench_find("piobench"), count, words, error);
    if (status == PL_OK && job->ranks == 0)
        job->ranks = 2;
    return status == PL_OK ? job->bench->prepare(job, error) : status;
}

static const struct contest *make(struct lab_job *job, const char *const (*settings)[2])
{
    struct pl_error error;
    if (prepare(job, settings, &error) != PL_OK)
        fail_msg("%s", error.text);
    return job->own;
}

static void settings_are_read(void **state)
{
    (void)state;
    static const char *const settings[][2] = {{"ranks", "2,4"},
                                              {"blocks", "64,1k,1m"},
                                              {"algorithms", "naive,cbx:cb_nodes=2,node_grouping,system"},
                                              {"buffers", "64k,1m"},
                                              {"groups", "1,2"},
                                              {"width", "2.5%"},
                                              {0}};
    struct lab_job job;
    const struct contest *contest = make(&job, settings);
    const struct piobench *piobench = job.own;
    assert_int_equal(piobench->blocks.values[2], 1 << 20);
    assert_true(fabs(contest->rule.width - 0.025) < 1e-12);
    assert_int_equal(job.ranks, 4);
    assert_true(job.bench->needs_engine(&job));
    static const char *const labels[] = {"naive",
                                         "cbx:cb_nodes=2:cb_buffer_size=65536",
                                         "cbx:cb_nodes=2:cb_buffer_size=1048576",
                                         "node_grouping:piolet_group_size=1",
                                         "node_grouping:piolet_group_size=2",
                                         "system:cb_buffer_size=65536",
                                         "system:cb_buffer_size=1048576"};
    assert_int_equal(contest->contestant_count, sizeof labels / sizeof labels[0]);
    for (int i = 0; i < contest->contestant_count; i++)
        assert_string_equal(contest->contestants[i].label, labels[i]);
    lab_job_clear(&job);
    static const char *const system[][2] = {{"algorithms", "naive,system"}, {0}};
    make(&job, system);
    assert_false(job.bench->needs_engine(&job));
    lab_job_clear(&job);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"ranks", "0"},          {"ranks", "2,x"},   {"ranks", "2,2"},         {"blocks", "12"},
        {"blocks", "64,-8"},     {"sizes", "0"},     {"algorithms", "nave"},   {"algorithms", "naive:a=b"},
        {"algorithms", "cbx:a"}, {"algorithms", ""}, {"distribution", "BLOK"}, {"distribution", "transposed"},
        {"width", "0%"},         {"width", "x"},     {"trials", "0"},          {"check", "often"},
        {"ops", "append"},       {"dims", "4"},      {"dims", "0x4"},          {"mpis", "lam"},
        {"mpis", "mpich,mpich"}, {"hint", "a"},      {"nosuch", "1"},          {"seed", "-1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *const settings[][2] = {{wrong[i][0], wrong[i][1]}, {NULL, NULL}};
        struct lab_job job;
        struct pl_error error;
        if (prepare(&job, settings, &error) == PL_OK)
            fail_msg("--%s '%s' was taken", wrong[i][0], wrong[i][1]);
        lab_job_clear(&job);
    }
}

/* ---- the matrix ---- */

/* Each element belongs to one rank (to all in a broadcast), and pieces are as long as the cell says. */
static void check_cell(const struct contest_cell *cell)
{
    char message[PIOLET_DIST_MESSAGE_MAX], text[CONTEST_TEXT_MAX];
    piolet_dist *dist;
    assert_int_equal(piolet_dist_new(&cell->spec, &cell->shape, &dist, message, sizeof message), PIOLET_DIST_OK);
    const int64_t elements = piolet_dist_elements(dist);
    piobench_cell_text(cell, text);
    assert_int_equal(elements * PIOBENCH_ELEMENT, cell->file_bytes);
    assert_true(cell->file_bytes <= cell->file_asked_bytes && cell->file_bytes > cell->file_asked_bytes / 2);
    unsigned char *seen = calloc((size_t)elements, 1);
    assert_non_null(seen);
    int64_t longest = 0;
    for (int rank = 0; rank < cell->ranks; rank++) {
        struct piolet_dist_runs runs;
        struct piolet_dist_run run;
        assert_true(piolet_dist_count(dist, rank) > 0);
        piolet_dist_runs_begin(&runs, dist, rank);
        while (piolet_dist_runs_next(&runs, &run)) {
            longest = run.length > longest ? run.length : longest;
            for (int64_t i = 0; i < run.length; i++)
                seen[run.offset + i]++;
        }
    }
    const int owners = cell->spec.kind == PIOLET_DIST_BROADCAST ? cell->ranks : 1;
    for (int64_t i = 0; i < elements; i++)
        if (seen[i] != owners)
            fail_msg("%s: element %lld has %d owners", text, (long long)i, seen[i]);
    /* two random blocks of a rank may be neighbours, and so may cells of a multi-partition */
    const bool may_touch = cell->spec.kind == PIOLET_DIST_RANDOM || cell->spec.kind == PIOLET_DIST_MULTIPARTITION;
    assert_int_equal(longest * PIOBENCH_ELEMENT % cell->block_bytes, 0);
    if (!may_touch && longest * PIOBENCH_ELEMENT != cell->block_bytes)
        fail_msg("%s: pieces of %lld bytes", text, (long long)longest * PIOBENCH_ELEMENT);
    free(seen);
    piolet_dist_free(dist);
}

static void every_cell_once(void **state)
{
    (void)state;
    static const char *const settings[][2] = {{"ranks", "2,4"}, {"blocks", "64,1k,16k"}, {"sizes", "256k,1m"}, {0}};
    struct lab_job job;
    const struct contest *contest = make(&job, settings);
    for (int i = 0; i < contest->cell_count; i++) {
        check_cell(&contest->cells[i]);
        for (int k = 0; k < i; k++) {
            const struct contest_cell *a = &contest->cells[i], *b = &contest->cells[k];
            assert_false(a->distribution == b->distribution && a->writes == b->writes && a->ranks == b->ranks &&
                         a->file_asked_bytes == b->file_asked_bytes && a->block_bytes == b->block_bytes);
        }
    }
    /* 2 file sizes × (2 × (BLOCK, BALANCED, 3 CYCLIC, 3 three-dimensional, 3 random) + broadcast read), and
     * multi-partition on the square number of ranks: 2 × 3 × 2 */
    assert_int_equal(contest->cell_count, 2 * (2 * (2 * 11 + 1)) + 2 * 3 * 2);
    assert_non_null(strstr(text_get(&contest->left_out), "multipartition needs a square number"));
    lab_job_clear(&job);
}

static void given_dimensions(void **state)
{
    (void)state;
    static const char *const settings[][2] = {
        {"ranks", "4"},     {"dims", "32x16x24"}, {"distribution", "BLOCK,*,BLOCK"},
        {"sizes", "1m,2m"}, {"ops", "read"},      {0}};
    struct lab_job job;
    const struct contest *contest = make(&job, settings);
    assert_int_equal(contest->cell_count, 1);
    assert_int_equal(contest->cells[0].file_bytes, 32 * 16 * 24 * 8);
    assert_int_equal(contest->cells[0].block_bytes, 16 * 8);
    check_cell(&contest->cells[0]);
    lab_job_clear(&job);
}

/* Owners on 4 ranks, written down from the definitions alone. */
static int64_t owner_by_definition(const struct contest_cell *cell, int64_t element)
{
    const int64_t *n = cell->shape.size;
    if (cell->shape.dims == 3) { /* a grid of 2 x 2 x 1 */
        const int64_t x = element % n[0], y = element / n[0] % n[1];
        return x / ((n[0] + 1) / 2) + 2 * (y / ((n[1] + 1) / 2));
    }
    return cell->spec.rule[0].kind == PIOLET_DIST_BLOCK ? element / (n[0] / 4) : element / 8 % 4;
}

static void owners_are_right(void **state)
{
    (void)state;
    static const char *const settings[][2] = {{"ranks", "4"},
                                              {"blocks", "64"},
                                              {"sizes", "16k"},
                                              {"distribution", "BLOCK"},
                                              {"distribution", "CYCLIC"},
                                              {"distribution", "BLOCK,BLOCK,BLOCK"},
                                              {"ops", "write"},
                                              {0}};
    struct lab_job job;
    const struct contest *contest = make(&job, settings);
    assert_int_equal(contest->cell_count, 3);
    for (int c = 0; c < contest->cell_count; c++) {
        char message[PIOLET_DIST_MESSAGE_MAX];
        piolet_dist *dist;
        assert_int_equal(
            piolet_dist_new(&contest->cells[c].spec, &contest->cells[c].shape, &dist, message, sizeof message), 0);
        for (int64_t e = 0; e < piolet_dist_elements(dist); e++)
            assert_int_equal(piolet_dist_owner(dist, e), owner_by_definition(&contest->cells[c], e));
        piolet_dist_free(dist);
    }
    lab_job_clear(&job);
}

/* Multi-partition on 4 ranks: in each half of each dimension each rank has one cell, an eighth of the array. */
static void multipartition_is_spread(void **state)
{
    (void)state;
    static const char *const settings[][2] = {
        {"ranks", "4"}, {"blocks", "64"}, {"sizes", "32k"}, {"distribution", "multipartition"}, {"ops", "write"}, {0}};
    struct lab_job job;
    char message[PIOLET_DIST_MESSAGE_MAX];
    piolet_dist *dist;
    const struct contest *contest = make(&job, settings);
    const int64_t *n = contest->cells[0].shape.size;
    assert_int_equal(n[0], 16); /* two data blocks of 8 elements */
    assert_int_equal(piolet_dist_new(&contest->cells[0].spec, &contest->cells[0].shape, &dist, message, sizeof message),
                     0);
    int64_t elements[3][2][4] = {{{0}}};
    for (int64_t e = 0; e < piolet_dist_elements(dist); e++) {
        const int64_t index[3] = {e % n[0], e / n[0] % n[1], e / n[0] / n[1]};
        for (int d = 0; d < 3; d++)
            elements[d][index[d] >= (n[d] + 1) / 2][piolet_dist_owner(dist, e)]++;
    }
    for (int d = 0; d < 3; d++)
        for (int half = 0; half < 2; half++)
            for (int rank = 0; rank < 4; rank++)
                assert_int_equal(elements[d][half][rank], n[0] * n[1] * n[2] / 8);
    piolet_dist_free(dist);
    lab_job_clear(&job);
}

/* ---- trials ---- */

static void intervals_are_students(void **state)
{
    (void)state;
    /* two-sided 90 %, from printed tables */
    static const struct {
        int degrees;
        double t;
    } table[] = {{1, 6.314}, {2, 2.920}, {4, 2.132}, {9, 1.833}, {20, 1.725}, {30, 1.697}, {60, 1.671}, {120, 1.658}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_true(fabs(statistics_student_t(0.9, table[i].degrees) - table[i].t) < 0.0015);
    /* 10, 12, 14: mean 12, deviation 2, half width 2.920 * 2 / sqrt(3) */
    const struct contest_tally tally = {.total_ns = {10, 12, 14}, .count = 3};
    assert_true(fabs(contest_width(&tally) - 2.9199855804 * 2 / sqrt(3) / 12) < 1e-6);
}

static void enough_trials(void **state)
{
    (void)state;
    const struct contest_rule rule = {.trials = 3, .max_trials = 6, .width = 0.05};
    struct contest_tally tally = {.total_ns = {100, 100, 101, 100, 300, 100}};
    for (tally.count = 0; tally.count < 3; tally.count++)
        assert_false(contest_finished(&tally, &rule)); /* 3 at least, however alike */
    assert_true(contest_finished(&tally, &rule));
    tally.count = 5; /* 300 came: too wide */
    assert_false(contest_finished(&tally, &rule));
    tally.count = 6;
    assert_true(contest_finished(&tally, &rule));
    tally = (struct contest_tally){.failed = true};
    assert_true(contest_finished(&tally, &rule));
}

static void trials_alternate(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    const struct contest_rule rule = {.trials = 3, .max_trials = 5, .width = 0.05};
    struct contest_tally tallies[COUNT] = {0};
    tallies[2].failed = true;
    int turns = 0, next, first_of_round[8] = {0}, rounds = 0;
    while ((next = contest_next(tallies, COUNT, &rule)) >= 0) {
        assert_int_not_equal(next, 2);
        for (int i = 0; i < COUNT; i++) /* nobody is more than one trial ahead of who still runs */
            if (i != 2 && !contest_finished(&tallies[i], &rule))
                assert_true(tallies[next].count <= tallies[i].count);
        if (turns++ % 3 == 0 && rounds < 3)
            first_of_round[rounds++] = next;
        /* contestant 3 is restless, the others are steady */
        tallies[next].total_ns[tallies[next].count] = next == 3 && tallies[next].count % 2 ? 200 : 100;
        tallies[next].count++;
    }
    assert_int_equal(tallies[0].count, 3);
    assert_int_equal(tallies[1].count, 3);
    assert_int_equal(tallies[2].count, 0);
    assert_int_equal(tallies[3].count, 5);
    assert_int_not_equal(first_of_round[0], first_of_round[1]);
}

/* ---- resuming ---- */

static void put_trial(struct blockfile_writer *writer, const char *op, const char *algorithm, int block, int64_t total,
                      bool failed)
{
    struct pl_error error;
    blockfile_set(writer);
    blockfile_param(writer, "op", "%s", op);
    blockfile_param(writer, "distribution", "CYCLIC");
    blockfile_param(writer, "algorithm", "%s", algorithm);
    blockfile_param(writer, "ranks", "2");
    blockfile_param(writer, "block_asked_bytes", "%d", block);
    blockfile_param(writer, "file_asked_bytes", "65536");
    if (failed)
        blockfile_error(writer, "E_IO", 1, "made up");
    else
        blockfile_time(writer, 0, "total_time", total);
    assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
}

static void write_results(const char *path)
{
    struct blockfile_writer *writer;
    struct pl_error error;
    static const char *const mpis[] = {"mpich", "openmpi"};
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    for (int m = 0; m < 2; m++) {
        blockfile_begin(writer, PIOBENCH_CLASSES[0], "piobench");
        blockfile_input(writer, "ranks", "2");
        blockfile_input(writer, "algorithms", "naive,cbx");
        blockfile_input(writer, "distribution", "CYCLIC");
        blockfile_input(writer, "blocks", "64,128");
        blockfile_input(writer, "sizes", "64k");
        blockfile_fact(writer, "mpi", "%s", mpis[m]);
        assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
        put_trial(writer, "write", "naive", 64, 1000 + m, false);
        put_trial(writer, "write", "cbx", 64, 2000, false);
        put_trial(writer, "write", "cbx", 64, 2001, false);
        put_trial(writer, "read", "cbx", 128, 3000, false);
        put_trial(writer, "read", "cbx", 128, 0, true);
        put_trial(writer, "read", "cbx", 256, 1, false);           /* not of this matrix */
        put_trial(writer, "read", "cbx:cb_nodes=1", 64, 1, false); /* nor this */
    }
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK); /* no end-block: killed */
}

static void resumed_where_it_ended(void **state)
{
    (void)state;
    char path[] = "/tmp/piolet-unit.XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    write_results(path);
    const char *const settings[][2] = {{"resume", path}, {NULL, NULL}};
    struct lab_job job;
    struct pl_error error;
    const struct contest *contest = make(&job, settings);
    assert_int_equal(contest->cell_count, 4); /* 64 write, read; 128 write, read */
    struct lab_run run = {.job = &job, .resumes = true};
    struct contest_tally *tallies = calloc(8, sizeof *tallies);
    assert_int_equal(blockfile_open(path, &run.earlier, &error), PL_OK);
    job.mpi = "openmpi";
    for (int c = 0; c < contest->cell_count; c++) {
        struct text params = {0};
        piobench_identify(&contest->cells[c], &params);
        contest_tally_measured(&run, contest, &params, &tallies[2 * c]);
        text_clear(&params);
    }
    static const int counts[8] = {1, 2, 0, 0, 0, 0, 0, 1};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(tallies[i].count, counts[i]);
        assert_false(tallies[i].failed);
    }
    assert_true(tallies[0].total_ns[0] == 1001 && tallies[1].total_ns[1] == 2001 && tallies[7].total_ns[0] == 3000);
    free(tallies);
    blockfile_close(&run.earlier);
    lab_job_clear(&job);
    unlink(path);
}

/* ---- clocks ---- */

static void clocks_are_compared(void **state)
{
    (void)state;
    /* the other clock is 5000 ahead; the ways there and back take as long only in the fastest exchange */
    static const struct clock_ping pings[] = {{0, 5900, 1000}, {2000, 7050, 2100}, {3000, 8010, 3900}};
    assert_int_equal(clock_offset_of(pings, 3).offset_ns, 5000);
    static const struct clock_ping behind[] = {{10000, 60, 10120}};
    assert_int_equal(clock_offset_of(behind, 1).offset_ns, -10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_read),      cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(every_cell_once),        cmocka_unit_test(given_dimensions),
        cmocka_unit_test(owners_are_right),       cmocka_unit_test(multipartition_is_spread),
        cmocka_unit_test(intervals_are_students), cmocka_unit_test(enough_trials),
        cmocka_unit_test(trials_alternate),       cmocka_unit_test(resumed_where_it_ended),
        cmocka_unit_test(clocks_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
