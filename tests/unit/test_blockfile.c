/* Block files: what is written comes back, what is damaged does not.
 * proves: IOT-6
 * It would fail if a record were lost or changed on the way, if a file cut or damaged at any byte crashed the reader,
 * or if a damaged record came out as valid. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/fewer.h"

#include "base/blockfile.h"
#include "base/rng.h"

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_blockfile.%d.tmp", (int)getpid());
    unlink(path);
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void write_set(struct blockfile_writer *writer, int number, int64_t count)
{
    struct pl_error error;
    blockfile_set(writer);
    blockfile_param(writer, "blocksize_bytes", "%d", 1000 * number);
    blockfile_param(writer, "note", "%s", "a\\b\nc\td \x01 end ");
    blockfile_hint(writer, "asked", "cb_nodes", "2");
    blockfile_hint(writer, "used", "cb_nodes", "");
    for (int rank = 0; rank < 2; rank++)
        blockfile_time(writer, rank, "pre_time", 183220 + rank);
    for (int rank = 0; rank < 2; rank++) {
        blockfile_series(writer, rank, "w", "ns", count);
        for (int64_t i = 0; i < count; i++) {
            const int64_t value = i == 0 ? INT64_MIN : i == 1 ? INT64_MAX : number * 1000 + rank * 100 + i;
            blockfile_values(writer, &value, 1);
        }
    }
    blockfile_series(writer, 0, "none", "B", 0);
    blockfile_warning(writer, "the file fits in the page cache");
    assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
}

static void write_block(const char *testname, int sets, int64_t count)
{
    struct blockfile_writer *writer;
    struct pl_error error;
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    blockfile_begin(writer, "Lowlevel", testname);
    blockfile_input(writer, "filename", "/scratch/a b");
    blockfile_fact(writer, "nprocs", "%d", 2);
    blockfile_fact(writer, "host", "0 a");
    blockfile_fact(writer, "host", "1 b");
    assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
    for (int i = 1; i <= sets; i++)
        write_set(writer, i, count);
    assert_int_equal(blockfile_end(writer, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK);
}

static char *slurp(size_t *ret_size)
{
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *ret_size = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*ret_size + 1);
    assert_int_equal(fread(bytes, 1, *ret_size, stream), *ret_size);
    bytes[*ret_size] = '\0';
    fclose(stream);
    return bytes;
}

static void spill(const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

struct expected {
    int number, rank;
    int64_t seen;
    bool same;
};

static void compare(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct expected *expected = context;
    for (size_t i = 0; i < count; i++) {
        const int64_t at = first + (int64_t)i;
        const int64_t value = at == 0   ? INT64_MIN
                              : at == 1 ? INT64_MAX
                                        : expected->number * 1000 + expected->rank * 100 + at;
        expected->same = expected->same && at == expected->seen++ && values[i] == value;
    }
}

/* Whatever else was lost: a set that comes out is the one that was written. */
static void check_set(struct blockfile *file, const struct blockfile_set *set, int64_t count)
{
    char text[32];
    struct pl_error error;
    snprintf(text, sizeof text, "%d", 1000 * (int)set->number);
    assert_string_equal(blockfile_param_of(set, "blocksize_bytes"), text);
    assert_string_equal(blockfile_param_of(set, "note"), "a\\b\nc\td \x01 end ");
    assert_null(blockfile_param_of(set, "absent"));
    assert_int_equal(set->hint_count, 2);
    assert_false(set->hints[0].used);
    assert_true(set->hints[1].used);
    assert_string_equal(set->hints[1].value, "");
    assert_int_equal(set->time_count, 2);
    assert_int_equal(set->times[1].nanoseconds, 183221);
    assert_int_equal(set->warning_count, 1);
    assert_int_equal(set->series_count, 3);
    for (int rank = 0; rank < 2; rank++) {
        struct expected expected = {(int)set->number, rank, 0, true};
        assert_int_equal(set->series[rank].rank, rank);
        assert_int_equal(blockfile_stream(file, &set->series[rank], compare, &expected, &error), PL_OK);
        assert_true(expected.same);
        assert_int_equal(expected.seen, count);
    }
    assert_int_equal(set->series[2].count, 0);
}

static size_t check_all(struct blockfile *file, int64_t count)
{
    size_t sets = 0;
    for (size_t b = 0; b < file->block_count; b++) {
        const struct blockfile_block *block = &file->blocks[b];
        assert_string_equal(block->class_name, "Lowlevel");
        assert_string_equal(blockfile_input_of(block, "filename"), "/scratch/a b");
        assert_string_equal(blockfile_fact_of(block, "host"), "0 a");
        assert_int_equal(block->fact_count, 3);
        for (size_t s = 0; s < block->set_count; s++, sets++)
            check_set(file, &block->sets[s], count);
    }
    return sets;
}

static void round_trip(void **state)
{
    (void)state;
    static const int64_t counts[] = {2, 31, 32, 33, 4096, 100001};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        unlink(path);
        write_block("multiple", 2, counts[i]);
        struct blockfile file;
        struct pl_error error;
        assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
        assert_int_equal(file.warning_count, 0);
        assert_int_equal(file.block_count, 1);
        assert_true(file.blocks[0].complete);
        assert_int_equal(file.blocks[0].line, 1);
        assert_int_equal(check_all(&file, counts[i]), 2);
        blockfile_close(&file);
    }
}

static void concatenated_and_cut(void **state)
{
    (void)state;
    write_block("single", 1, 40);
    size_t first_size, size;
    free(slurp(&first_size));
    write_block("multiple", 2, 40);
    char *bytes = slurp(&size);
    char *twice = malloc(2 * size);
    memcpy(twice, bytes, size);
    memcpy(twice + size, bytes, size);
    struct blockfile file;
    struct pl_error error;

    spill(twice, 2 * size);
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    assert_int_equal(file.block_count, 4);
    assert_int_equal(file.warning_count, 0);
    assert_int_equal(check_all(&file, 40), 6);
    blockfile_close(&file);

    spill(bytes + first_size, size - first_size);
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    assert_int_equal(file.block_count, 1);
    assert_string_equal(file.blocks[0].testname, "multiple");
    assert_int_equal(file.warning_count, 0);
    blockfile_close(&file);
    free(twice);
    free(bytes);
}

/* Ends of the records of a file: after how many bytes how many sets are complete. */
static size_t sets_within(const char *bytes, size_t size)
{
    static const char mark[] = "end-set ";
    size_t sets = 0;
    for (size_t i = 0; i + sizeof mark - 1 < size; i++)
        if (memcmp(bytes + i, mark, sizeof mark - 1) == 0) {
            const char *hash = memchr(bytes + i + sizeof mark - 1, ' ', size - i - sizeof mark + 1);
            sets += hash && (size_t)(hash + 17 - bytes) <= size;
        }
    return sets;
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    write_block("single", 2, 40);
    write_block("multiple", 2, 40);
    size_t size;
    char *bytes = slurp(&size);
    for (size_t cut = size; cut-- > 0;) {
        struct blockfile file;
        struct pl_error error;
        assert_int_equal(truncate(path, (off_t)cut), 0);
        const size_t expected = sets_within(bytes, cut);
        if (blockfile_open(path, &file, &error) != PL_OK) {
            assert_int_equal(expected, 0);
            continue;
        }
        assert_int_equal(check_all(&file, 40), expected);
        blockfile_close(&file);
    }
    free(bytes);
}

/* A run that was killed, then another that appends: only what the first one left unfinished is lost. */
static void appended_after_a_kill(void **state)
{
    (void)state;
    write_block("single", 2, 40);
    size_t size, whole;
    char *bytes = slurp(&size);
    for (size_t cut = 1; cut < size; cut += 37) {
        spill(bytes, cut);
        write_block("multiple", 1, 40);
        struct blockfile file;
        struct pl_error error;
        assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
        assert_string_equal(file.blocks[file.block_count - 1].testname, "multiple");
        assert_true(file.blocks[file.block_count - 1].complete);
        assert_int_equal(check_all(&file, 40), sets_within(bytes, cut) + 1);
        blockfile_close(&file);
    }
    free(slurp(&whole));
    free(bytes);
}

/* 'cat' behind a killed run glues two lines: the second file's sets may be lost, but never become the first one's. */
static void concatenated_behind_a_kill(void **state)
{
    (void)state;
    write_block("single", 2, 40);
    size_t first_size, second_size;
    char *first = slurp(&first_size);
    unlink(path);
    write_block("multiple", 3, 20);
    char *second = slurp(&second_size);
    char *glued = malloc(first_size + second_size);
    for (size_t cut = 1; cut < first_size; cut++) {
        struct blockfile file;
        struct pl_error error;
        memcpy(glued, first, cut);
        memcpy(glued + cut, second, second_size);
        spill(glued, cut + second_size);
        if (blockfile_open(path, &file, &error) != PL_OK)
            continue;
        for (size_t b = 0; b < file.block_count; b++)
            for (size_t i = 0; i < file.blocks[b].set_count; i++)
                check_set(&file, &file.blocks[b].sets[i], strcmp(file.blocks[b].testname, "single") == 0 ? 40 : 20);
        blockfile_close(&file);
    }
    free(first);
    free(second);
    free(glued);
}

static void one_damaged_byte_anywhere(void **state)
{
    (void)state;
    static const unsigned char flips[] = {0x01, 0x02, 0x10, 0x20, 0x80, 0xff};
    write_block("single", 2, 40);
    write_block("multiple", 1, 40);
    size_t size;
    char *bytes = slurp(&size);
    const int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    for (size_t at = 0; at < size; at++)
        for (size_t f = at % FEWER; f < sizeof flips; f += FEWER) {
            struct blockfile file;
            struct pl_error error;
            const char damaged = (char)((unsigned char)bytes[at] ^ flips[f]);
            assert_int_equal(pwrite(fd, &damaged, 1, (off_t)at), 1);
            assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
            const size_t sets = check_all(&file, 40);
            if (sets != 3)
                assert_true(file.warning_count > 0);
            assert_true(sets >= 1); /* at most one block can be lost by one byte */
            blockfile_close(&file);
            assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
        }
    close(fd);
    free(bytes);
}

static void line_ends_of_other_systems(void **state)
{
    (void)state;
    write_block("multiple", 2, 40);
    size_t size;
    char *bytes = slurp(&size);
    FILE *stream = fopen(path, "w");
    for (size_t i = 0; i < size; i++)
        fprintf(stream, bytes[i] == '\n' ? "\r%c" : "%c", bytes[i]);
    fclose(stream);
    struct blockfile file;
    struct pl_error error;
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    assert_int_equal(file.warning_count, 0);
    assert_true(file.blocks[0].complete);
    assert_int_equal(file.blocks[0].set_count, 2);
    blockfile_close(&file);
    free(bytes);
}

static void expect_none(const char *bytes, size_t size)
{
    struct blockfile file;
    struct pl_error error;
    spill(bytes, size);
    assert_int_not_equal(blockfile_open(path, &file, &error), PL_OK);
}

static void garbage(void **state)
{
    (void)state;
    struct blockfile file;
    struct pl_error error;
    expect_none("", 0);
    expect_none("\n\n", 2);
    expect_none("\0\0\0\0", 4);
    expect_none("piolet-block 2\nid 0\n", 20);
    expect_none("piolet-block 99999999999999999999\n", 34);
    char *bytes = malloc(1 << 20);
    memset(bytes, 'x', 1 << 20); /* one overlong line */
    expect_none(bytes, 1 << 20);
    for (size_t i = 0; i < 1 << 20; i++)
        bytes[i] = (char)rng_at(7, i);
    expect_none(bytes, 1 << 20);
    free(bytes);
    assert_int_not_equal(blockfile_open("does/not/exist", &file, &error), PL_OK);
    assert_non_null(strstr(error.text, "does/not/exist"));
    assert_int_not_equal(blockfile_open(".", &file, &error), PL_OK);
}

static void an_unknown_version_is_passed_over(void **state)
{
    (void)state;
    write_block("single", 1, 40);
    size_t size;
    char *bytes = slurp(&size);
    char *both = malloc(2 * size);
    memcpy(both, bytes, size);
    memcpy(both + size, bytes, size);
    both[strlen("piolet-block ")] = '2';
    spill(both, 2 * size);
    struct blockfile file;
    struct pl_error error;
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    assert_int_equal(file.block_count, 1);
    assert_int_equal(file.warning_count, 1);
    assert_non_null(strstr(file.warnings[0], ":1: "));
    assert_int_equal(check_all(&file, 40), 1);
    blockfile_close(&file);
    free(both);
    free(bytes);
}

static void read_from_a_pipe(void **state)
{
    (void)state;
    write_block("multiple", 2, 5000);
    char command[128];
    struct blockfile file;
    struct pl_error error;
    snprintf(command, sizeof command, "cat %s", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", fileno(pipe));
    assert_int_equal(blockfile_open(name, &file, &error), PL_OK);
    assert_int_equal(check_all(&file, 5000), 2);
    blockfile_close(&file);
    pclose(pipe);
}

/* Sets of two runs in one file would lie between each other. */
static void a_second_writer_is_refused(void **state)
{
    (void)state;
    struct blockfile_writer *first, *second;
    struct pl_error error;
    assert_int_equal(blockfile_writer_open(path, &first, &error), PL_OK);
    assert_int_equal(blockfile_writer_open(path, &second, &error), PL_E_IN_USE);
    assert_non_null(strstr(error.text, "is being written by another run"));
    assert_int_equal(blockfile_writer_close(first, &error), PL_OK);
    assert_int_equal(blockfile_writer_open(path, &second, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(second, &error), PL_OK);
    assert_int_equal(blockfile_writer_open("/dev/null", &first, &error), PL_OK);
    assert_int_equal(blockfile_writer_open("/dev/null", &second, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(first, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(second, &error), PL_OK);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(round_trip),
        TEST(concatenated_and_cut),
        TEST(cut_at_every_byte),
        TEST(appended_after_a_kill),
        TEST(concatenated_behind_a_kill),
        TEST(one_damaged_byte_anywhere),
        TEST(line_ends_of_other_systems),
        TEST(garbage),
        TEST(an_unknown_version_is_passed_over),
        TEST(read_from_a_pipe),
        TEST(a_second_writer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
