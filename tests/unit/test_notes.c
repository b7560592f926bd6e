/* Notes that a test takes while it runs, and what of them comes into the block file.
 * proves: IOT-4 IOT-6
 * It would fail if a value with spaces, line ends or backslashes came back as another, if a pair without a value were
 * lost, or if a warning were cut at its first word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/notes.h"

static struct text seen;

static void take(void *context, const char *key, const char *value)
{
    (void)context;
    text_format(&seen, "<%s|%s>", key, value);
}

static void pairs_come_back(void **state)
{
    (void)state;
    struct text notes = {0};
    notes_add(&notes, "one", "a b  c");
    notes_add(&notes, "two", "line\nend \\ and\ttab");
    notes_add(&notes, "empty", "");
    notes_each(&notes, take, NULL);
    assert_string_equal(text_get(&seen), "<one|a b  c><two|line\nend \\ and\ttab><empty|>");
    text_clear(&seen);
    text_clear(&notes);
    notes_each(&notes, take, NULL);
    assert_string_equal(text_get(&seen), "");
}

static void hints_and_warnings_are_written(void **state)
{
    (void)state;
    char path[64];
    struct text hints = {0}, warnings = {0};
    struct blockfile_writer *writer = NULL;
    struct blockfile file;
    struct pl_error error;
    snprintf(path, sizeof path, "test_notes.%d.tmp", (int)getpid());
    notes_add(&hints, "cb_nodes", "2 or 3");
    notes_add(&warnings, NULL, "several words, \\ and more");
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    blockfile_begin(writer, "Class", "test");
    assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
    blockfile_set(writer);
    notes_put_hints_used(&hints, writer);
    notes_put_warnings(&warnings, writer);
    assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
    assert_int_equal(blockfile_end(writer, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK);

    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    const struct blockfile_set *set = &file.blocks[0].sets[0];
    assert_int_equal(set->hint_count, 1);
    assert_true(set->hints[0].used);
    assert_string_equal(set->hints[0].key, "cb_nodes");
    assert_string_equal(set->hints[0].value, "2 or 3");
    assert_int_equal(set->warning_count, 1);
    assert_string_equal(set->warnings[0], "several words, \\ and more");
    blockfile_close(&file);
    unlink(path);
    text_clear(&hints);
    text_clear(&warnings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_come_back),
                                       cmocka_unit_test(hints_and_warnings_are_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
