/* The report of b_eff_io from made-up results: the verdict, the system's value, and what a resumed run adds.
 * proves: BIO-6 BIO-7 BIO-8
 * It would fail if a whole run of 15 minutes were not official, whatever caches may have hidden, if a short or
 * unfinished one were, if the system's value were not the largest of the official partitions of one system, if
 * release 2.1's value lacked the deletes, if data that --cold dropped were said to be cached, or if the blocks of a
 * resumed run were not taken together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/notes.h"
#include "bench/beffio/beffio.h"

#include <math.h>
#include <unistd.h>

/* A run of two partitions in one folder; every pattern moved `bytes` in 1 s, twice as many with 4 processes. */
struct made {
    const char *run, *time, *order;
    int64_t bytes;
    int first_set, end_set; /* of 2 * 129 */
    int failed[2];          /* numbers of sets; 0: none */
    const char *host, *release;
    int64_t delete_ns, decide_ns;
    const char *cold, *filesystem;
};

static bool is_last_of_type(int pattern)
{
    return pattern + 1 == beffio_type_end(BEFFIO_TABLE[pattern].type);
}

static void put_set(struct blockfile_writer *writer, const struct made *made, int number)
{
    const int n = number < 129 ? 2 : 4;
    const struct beffio_result result = {.partition = n,
                                         .method = number % 129 / BEFFIO_PATTERNS,
                                         .pattern = number % BEFFIO_PATTERNS,
                                         .calls = 1,
                                         .bytes = made->bytes * n / 2,
                                         .time_ns = 1000000000,
                                         .decide_ns = made->decide_ns,
                                         .delete_ns = number % 129 / BEFFIO_PATTERNS == BEFFIO_READ &&
                                                              is_last_of_type(number % BEFFIO_PATTERNS)
                                                          ? made->delete_ns
                                                          : 0};
    struct text params = {0};
    struct pl_error error;
    blockfile_set(writer);
    beffio_result_note(&result, &params);
    notes_put_params(&params, writer);
    text_clear(&params);
    if (number && (number == made->failed[0] || number == made->failed[1]))
        blockfile_error(writer, "E_IO", 1, number == made->failed[0] ? "first words" : "other words");
    assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
}

static void put_run(const char *path, const struct made *made)
{
    struct blockfile_writer *writer;
    struct pl_error error;
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    blockfile_begin(writer, BEFFIO_CLASS, BEFFIO_TEST);
    blockfile_input(writer, "time", made->time);
    blockfile_input(writer, "order", made->order);
    if (made->release)
        blockfile_input(writer, "release", made->release);
    if (made->cold)
        blockfile_input(writer, "cold", made->cold);
    if (made->filesystem)
        blockfile_fact(writer, "filesystem", "%s", made->filesystem);
    if (made->host)
        blockfile_fact(writer, "hostname", "%s", made->host);
    blockfile_fact(writer, "run", "%s", made->run);
    blockfile_fact(writer, "path", "/scratch");
    blockfile_fact(writer, "path_number", "1");
    blockfile_fact(writer, "partition", "2 1 2");
    blockfile_fact(writer, "partition", "4 2 2");
    blockfile_fact(writer, "memory_bytes", "1000000000");
    assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
    for (int i = made->first_set; i < made->end_set; i++)
        put_set(writer, made, i);
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK);
}

static struct blockfile file;
static struct beffio_report report;

static void make(const struct made *runs, int count)
{
    char path[] = "/tmp/piolet-beffio-report-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < count; i++)
        put_run(path, &runs[i]);
    struct pl_error error;
    const struct analysis_request request = {0};
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    const struct analysis_input input = {.files = &file, .file_count = 1};
    assert_int_equal(beffio_report_make(&request, &input, &report, &error), PL_OK);
    unlink(path);
}

static void drop(void)
{
    beffio_report_clear(&report);
    blockfile_close(&file);
}

static bool has_reason(size_t index, const char *words)
{
    return strstr(text_get(&report.cases[index].reasons), words) != NULL;
}

static const struct beffio_case *system_of(size_t index)
{
    return beffio_report_system(&report, &report.cases[index]);
}

/* 43 GB in each method against caches of 1 and 2 GB: 20 times as much is there. */
static void official(void **state)
{
    (void)state;
    const struct made runs[] = {{"a", "900", "document", 1000000000, 0, 258, {0}, NULL, NULL, 0, 0, NULL, NULL}};
    make(runs, 1);
    assert_int_equal(report.case_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(text_get(&report.cases[i].reasons), "");
        assert_string_equal(text_get(&report.cases[i].caches), "");
        assert_string_equal(text_get(&report.cases[i].warnings), "");
        assert_true(report.cases[i].complete && beffio_is_official(&report.cases[i]));
        assert_true(fabs(report.cases[i].value - (i ? 2000 : 1000)) < 1e-6);
        assert_true(fabs(report.cases[i].value_2_1 - (i ? 2000 : 1000)) < 1e-6);
    }
    assert_ptr_equal(system_of(0), &report.cases[1]);
    drop();
}

static void not_official(void **state)
{
    (void)state;
    const struct made runs[] = {{"short", "899", "document", 1000000000, 0, 258, {0}, NULL, NULL, 0, 0, NULL, NULL},
                                {"other", "900", "2.0", 1000000000, 0, 258, {0}, NULL, NULL, 0, 0, NULL, NULL},
                                {"cached", "900", "document", 400000000, 0, 258, {0}, NULL, NULL, 0, 0, NULL, NULL},
                                {"killed", "900", "document", 1000000000, 0, 200, {0}, NULL, NULL, 0, 0, NULL, NULL}};
    make(runs, 4);
    assert_int_equal(report.case_count, 8);
    assert_true(has_reason(0, "below 15 minutes"));
    assert_true(has_reason(2, "2.0 schedule"));
    assert_true(beffio_is_official(&report.cases[4])); /* what caches hid is another matter */
    assert_non_null(strstr(text_get(&report.cases[4].caches), "write moved 17.2 GB"));
    assert_non_null(strstr(text_get(&report.cases[4].caches), "up to 6 %"));
    assert_string_equal(text_get(&report.cases[0].caches), "");
    assert_string_equal(text_get(&report.cases[6].reasons), "");
    assert_true(has_reason(7, "type 0 was not measured to its end"));
    assert_true(isnan(report.cases[7].value) && !report.cases[7].complete);
    assert_ptr_equal(system_of(0), &report.cases[6]); /* the cached one is smaller */
    drop();
}

/* A value of its own for each system; of one without an official partition there is none. */
static void systems(void **state)
{
    (void)state;
    const struct made runs[] = {{"a", "900", "document", 1000000000, 0, 258, {0}, .host = "one"},
                                {"b", "900", "document", 3000000000, 0, 258, {0}, .host = "two"},
                                {"c", "60", "document", 3000000000, 0, 258, {0}, .host = "three"}};
    make(runs, 3);
    assert_ptr_equal(system_of(0), &report.cases[1]);
    assert_ptr_equal(system_of(2), &report.cases[3]);
    assert_null(system_of(4));
    assert_false(beffio_same_system(&report.cases[1], &report.cases[2]));
    drop();
}

/* Each type of read takes as long again for its delete: 2.1's read value is half, its own one 1/sqrt(2). A run by 2.1's
 * schedule has the delete in its close. Decisions of a fifth of the time are told. */
static void release_2_1(void **state)
{
    (void)state;
    const int64_t second = 1000000000;
    const struct made runs[] = {
        {"a", "900", "document", 1000000000, 0, 258, {0}, .delete_ns = 9 * second},
        {"b", "900", "2.0", 1000000000, 0, 258, {0}, .release = "2.1", .decide_ns = second / 5}};
    make(runs, 2);
    const struct beffio_case *first = &report.cases[0], *second_run = &report.cases[2];
    assert_true(first->deletes_known && beffio_is_official(first));
    assert_true(fabs(first->value - 1000) < 1e-6 && fabs(first->value_2_1_kept - 1000) < 1e-6);
    const double halves = 9 / 18.0, types_of_8 = 8 / 17.0; /* patterns of types 0, 3 and 4; of 1 and 2 */
    assert_true(fabs(first->value_2_1 - 1000 * sqrt((4 * halves + 2 * types_of_8) / 6)) < 1e-6);
    assert_true(has_reason(2, "the schedule of release 2.1") && second_run->release_2_1);
    assert_true(fabs(second_run->value_2_1 - 1000) < 1e-6);
    assert_non_null(strstr(text_get(&second_run->warnings), "read: deciding whether to go on took more than 10 %"));
    assert_non_null(strstr(text_get(&second_run->warnings), "of 43 patterns, most of pattern 0's: 20 %;"));
    drop();
}

/* What --cold dropped cannot have come from the nodes' caches; what is written may still be there, and what a file
 * system in memory holds has nowhere else to be. */
static void cold(void **state)
{
    (void)state;
    const struct made runs[] = {
        {"a", "900", "document", 400000000, 0, 258, {0}, .cold = "true", .filesystem = "ext4"},
        {"b", "900", "document", 400000000, 0, 258, {0}, .cold = "false", .filesystem = "ext4"},
        {"c", "900", "document", 400000000, 0, 258, {0}, .cold = "true", .filesystem = "tmpfs"}};
    make(runs, 3);
    const char *dropped = text_get(&report.cases[0].caches);
    assert_non_null(strstr(dropped, "write moved 17.2 GB, less than 20 times the 1 GB"));
    assert_non_null(strstr(dropped, "read moved 17.2 GB; the files were dropped from the caches of the nodes before"));
    assert_non_null(strstr(dropped, "rewrite moved 17.2 GB; the files were dropped"));
    assert_null(strstr(dropped, "come from"));
    assert_true(report.cases[0].caches_local);
    assert_true(beffio_is_cooled(&report.cases[0], BEFFIO_READ) && !beffio_is_cooled(&report.cases[0], BEFFIO_WRITE));
    for (size_t i = 2; i < 6; i += 2) {
        assert_non_null(strstr(text_get(&report.cases[i].caches), "up to 6 % may never have come from the disk"));
        assert_null(strstr(text_get(&report.cases[i].caches), "dropped"));
    }
    drop();
}

/* One type in two access methods: the verdict has the words of both. */
static void failed_twice(void **state)
{
    (void)state;
    const struct made runs[] = {
        {"f", "900", "document", 1000000000, 0, 258, {43 + 10, 86 + 12}, NULL, NULL, 0, 0, NULL, NULL}};
    make(runs, 1);
    assert_true(has_reason(0, "type 1 failed in rewrite: first words"));
    assert_true(has_reason(0, "type 1 failed in read: other words"));
    assert_false(has_reason(0, "was not measured"));
    assert_string_equal(text_get(&report.cases[1].reasons), "");
    drop();
}

static void resumed(void **state)
{
    (void)state;
    const struct made runs[] = {{"r", "900", "document", 1000000000, 0, 100, {0}, NULL, NULL, 0, 0, NULL, NULL},
                                {"r", "900", "document", 1000000000, 100, 258, {0}, NULL, NULL, 0, 0, NULL, NULL}};
    make(runs, 2);
    assert_int_equal(report.case_count, 2);
    assert_true(report.cases[0].complete && report.cases[1].complete);
    assert_string_equal(text_get(&report.cases[0].reasons), "");
    drop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(official),     cmocka_unit_test(not_official),
                                       cmocka_unit_test(systems),      cmocka_unit_test(release_2_1),
                                       cmocka_unit_test(failed_twice), cmocka_unit_test(resumed),
                                       cmocka_unit_test(cold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
