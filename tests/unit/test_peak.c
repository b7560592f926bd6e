/* The plan of peak measurements, and peaks from a block file made here.
 * proves: PHASE-11 PHASE-13
 * It would fail if an access left out or repeated a place, the file were not made first, a smaller file or an odd
 * request passed, the time of a set grew beyond its part, or if the peak took a failed set, counted an I/O node twice
 * or did not sum the nodes (equations 3 and 4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "bench/peak/peak.h"

static struct lab_job job;

/* The command line, and what follows from it; nothing is tried out. */
static pl_status ask(const char *const *words, struct pl_error *error)
{
    char *all[16] = {(char *)"peak", (char *)"--dry-run"};
    int count = 2;
    for (; *words; words++)
        all[count++] = (char *)*words;
    const struct bench *bench = bench_find("peak");
    const pl_status status = lab_job_init(&job, bench, count, all, error);
    return status == PL_OK ? bench->prepare(&job, error) : status;
}

static const struct peak_config *made(const char *requests, const char *access)
{
    struct pl_error error;
    const char *words[] = {"/tmp", "--size=64m", "--requests", requests, access ? "--access" : NULL, access, NULL};
    assert_int_equal(ask(words, &error), PL_OK);
    return job.own;
}

/* Every place once, for every kind of access and awkward counts. */
static void places(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 2, 3, 16, 17, 18, 100, 1000, 4096, 5001};
    for (int access = 0; access < PEAK_ACCESSES; access++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            char *seen = calloc((size_t)counts[c], 1);
            for (int64_t i = 0; i < counts[c]; i++) {
                const int64_t place = peak_place((enum peak_access)access, counts[c], 17, 7, i);
                assert_in_range(place, 0, counts[c] - 1);
                assert_int_equal(seen[place]++, 0);
            }
            free(seen);
        }
    assert_int_equal(peak_place(PEAK_STRIDED, 100, 17, 7, 1), 17);
    assert_int_equal(peak_place(PEAK_STRIDED, 100, 17, 7, 6), 1); /* 0, 17, 34, 51, 68, 85, then from 1 on */
    assert_int_not_equal(peak_place(PEAK_RANDOM, 5001, 17, 7, 1), peak_place(PEAK_RANDOM, 5001, 17, 8, 1));
}

static void plan(void **state)
{
    (void)state;
    struct peak_set sets[PEAK_SETS_MAX];
    char label[PEAK_LABEL_MAX];
    const struct peak_config *config = made("4k,1m,64k,1m", NULL);
    assert_int_equal(config->request_count, 3);
    assert_int_equal(peak_plan_make(config, sets), 1 + 3 * 3 * 2 + 5);
    assert_true(sets[0].makes_file);
    assert_false(sets[1].makes_file);
    assert_string_equal(peak_set_label(&sets[0], label), "first write, sequential, 1 MiB");
    assert_string_equal(peak_set_label(&sets[2], label), "read, sequential, 1 MiB");
    lab_job_clear(&job);
    config = made("4k", "random");
    ((struct peak_config *)job.own)->files = 0;
    assert_int_equal(peak_plan_make(config, sets), 3); /* the file is made whatever is asked for */
    assert_int_equal(sets[2].access, PEAK_RANDOM);
    lab_job_clear(&job);
}

static void sizes_and_times(void **state)
{
    (void)state;
    const struct peak_config *config = made("4k,1m", NULL);
    struct pl_error error;
    int64_t bytes;
    assert_int_equal(peak_file_share(10 << 20, 3, config, &bytes, &error), PL_OK);
    assert_int_equal(bytes, 3 << 20);
    assert_int_equal(peak_file_share(2 << 20, 3, config, &bytes, &error), PL_E_INPUT);
    assert_non_null(strstr(error.text, "--size"));
    lab_job_clear(&job);
    config = made("512", NULL);
    assert_int_equal(peak_file_share(INT64_C(1) << 40, 1, config, &bytes, &error), PL_E_INPUT);
    const struct peak_set first = {.makes_file = true}, other = {.makes_file = false};
    assert_float_equal(peak_slice_s(100, 0, &first, 10), 50, 1e-6);
    assert_float_equal(peak_slice_s(100, 40, &other, 6), 10, 1e-6);
    assert_true(peak_slice_s(100, 200, &other, 6) > 0); /* some operations, however late it is */
    lab_job_clear(&job);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"--requests", "1000"}, {"--requests", "0"}, {"--requests", "2g"},    {"--requests", ""},
        {"--access", "zigzag"}, {"--access", ""},    {"--direct", "maybe"},   {"--size", "0"},
        {"--size", "x"},        {"--limit", "0"},    {"--limit", "1000000h"}, {"--info", "novalue"},
        {"--info", "a b=c"},    {"--stride", "1"},   {"--files", "-1"},       {"--seed", "x"}};
    struct pl_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *words[] = {"/tmp", "--size=64m", wrong[i][0], wrong[i][1], NULL};
        assert_int_not_equal(ask(words, &error), PL_OK);
        assert_non_null(strstr(error.text, wrong[i][0]));
        lab_job_clear(&job);
    }
    const char *const none[] = {NULL}, *const twice[] = {"/tmp", "--on", "/tmp", NULL},
                      *const both[] = {"/tmp", "--drop-caches", "--direct", "yes", NULL};
    const char *const *const cases[] = {none, twice, both};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_not_equal(ask(cases[i], &error), PL_OK);
        lab_job_clear(&job);
    }
}

/* ---- peaks ---- */

static void put_set(struct blockfile_writer *writer, const char *operation, int64_t bytes, int64_t ns, bool fails)
{
    struct pl_error error;
    const int64_t each[] = {ns / 4, ns / 4, ns / 2};
    blockfile_set(writer);
    blockfile_param(writer, "operation", "%s", operation);
    blockfile_param(writer, "access", "sequential");
    blockfile_param(writer, "request_bytes", "%lld", (long long)bytes / 3);
    blockfile_param(writer, "bytes", "%lld", (long long)bytes);
    blockfile_param(writer, "processes", "2");
    blockfile_time(writer, 0, strcmp(operation, "write") == 0 ? "write_time" : "read_time", ns / 2);
    blockfile_time(writer, 1, strcmp(operation, "write") == 0 ? "write_time" : "read_time", ns);
    blockfile_series(writer, 0, "x", "ns", 3);
    blockfile_values(writer, each, 3);
    if (fails)
        blockfile_error(writer, "E_SPACE", 1, "full");
    assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
}

static void put_block(struct blockfile_writer *writer, const char *node, int64_t write_bytes, int64_t read_bytes)
{
    struct pl_error error;
    blockfile_begin(writer, PEAK_CLASS, PEAK_TEST);
    blockfile_fact(writer, "io_node", "%s", node);
    assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
    put_set(writer, "write", write_bytes, 1000000000, false);
    put_set(writer, "write", 100 * write_bytes, 1000000000, true);
    put_set(writer, "read", read_bytes, 1000000000, false);
    blockfile_set(writer);
    blockfile_param(writer, "kind", "device"); /* passed over */
    blockfile_end_set(writer, &error);
    assert_int_equal(blockfile_end(writer, &error), PL_OK);
}

static void peaks(void **state)
{
    (void)state;
    char path[64];
    struct blockfile_writer *writer;
    struct blockfile file;
    struct pl_error error;
    struct peak_points points;
    snprintf(path, sizeof path, "/tmp/piolet-peak-points.%d", (int)getpid());
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    put_block(writer, "a:/x", 3000, 6000);
    put_block(writer, "b:/x", 9000, 300);
    put_block(writer, "a:/x", 6000, 3000); /* measured again: its best counts */
    blockfile_writer_close(writer, &error);
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    const struct analysis_input input = {.files = &file, .file_count = 1};
    const struct analysis_request all = {0}, none = {.op = "create"};
    assert_int_equal(peak_points_load(&all, &input, &points, &error), PL_OK);
    assert_int_equal(points.count, 3);
    assert_int_equal(points.nodes[0].count, 3);
    assert_int_equal(peak_points_nodes(&points), 2);
    assert_float_equal(peak_points_best(&points.nodes[0], PEAK_WRITE)->rate_bytes_per_s, 3000, 1e-3);
    assert_float_equal(peak_points_sum(&points, PEAK_WRITE), 6000 + 9000, 1e-3);
    assert_float_equal(peak_points_sum(&points, PEAK_READ), 6000 + 300, 1e-3);
    assert_float_equal(points.nodes[0].points[0].iops, 3, 1e-6); /* by the slowest process */
    assert_float_equal(points.nodes[0].points[0].p99_ns, 5e8, 5e5);
    peak_points_clear(&points);
    assert_int_equal(peak_points_load(&none, &input, &points, &error), PL_E_INPUT);
    blockfile_close(&file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(plan),
                                       cmocka_unit_test(sizes_and_times), cmocka_unit_test(refusals),
                                       cmocka_unit_test(peaks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
