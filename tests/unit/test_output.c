/* Outputs that take their places together or not at all.
 * proves: IOT-6
 * It would fail if one of two outputs changed though the other could not be made, if a file lost its attributes, its
 * names or its mode, if what was read or reserved could be opened, or if something were left beside the outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/output.h"

static char folder[] = "/tmp/piolet-test-output.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1; /* fails where something is left */
}

static void put_file(const char *path, const char *content)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(content, stream);
    fclose(stream);
}

/* Without text_read_file(), which notes what it reads. */
static void assert_content(const char *path, const char *wanted)
{
    char content[64] = "";
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    fread(content, 1, sizeof content - 1, stream);
    fclose(stream);
    assert_string_equal(content, wanted);
}

static FILE *opened(const char *path)
{
    FILE *stream = NULL;
    struct pl_error error;
    assert_int_equal(output_open(path, &stream, &error), PL_OK);
    fprintf(stream, "new");
    return stream;
}

static void outputs_come_together(void **state)
{
    (void)state;
    struct pl_error error;
    put_file("first", "old");
    assert_int_equal(mkdir("sub", 0777), 0);
    opened("first");
    opened("sub/second");
    assert_content("first", "old");
    assert_int_equal(rmdir("sub"), 0); /* nameless files do not hold it */
    assert_int_not_equal(output_commit(&error), PL_OK);
    assert_non_null(strstr(error.text, "sub/second"));
    unlink("first");
    put_file("third", "old");
    opened("third");
    opened("fourth");
    assert_int_equal(output_commit(&error), PL_OK);
    unlink("fourth");
    assert_content("third", "new");
    unlink("third");
}

static void one_broken_output_changes_none(void **state)
{
    (void)state;
    struct pl_error error;
    put_file("old.json", "old");
    opened("old.json");
    opened("/dev/full");
    assert_int_not_equal(output_commit(&error), PL_OK);
    assert_non_null(strstr(error.text, "No space left"));
    assert_content("old.json", "old");
    unlink("old.json");
}

static void attributes_and_names_stay(void **state)
{
    (void)state;
    struct pl_error error;
    struct stat before, after;
    char value[8] = "";
    put_file("noted", "a longer old content");
    put_file("named", "a longer old content");
    assert_int_equal(link("named", "again"), 0);
    assert_int_equal(chmod("named", 0600), 0);
    const int can_note = setxattr("noted", "user.mine", "yes", 3, 0) == 0;
    assert_int_equal(stat("noted", &before), 0);
    opened("noted");
    opened("again");
    assert_int_equal(output_commit(&error), PL_OK);
    assert_int_equal(stat("noted", &after), 0);
    if (can_note) {
        assert_int_equal(getxattr("noted", "user.mine", value, sizeof value), 3);
        assert_int_equal(before.st_ino, after.st_ino);
    }
    unlink("noted");
    assert_int_equal(stat("named", &after), 0);
    assert_int_equal(after.st_nlink, 2);
    assert_int_equal(after.st_mode & 0777, 0600);
    unlink("again");
    assert_content("named", "new");
    unlink("named");
}

static void what_is_read_or_reserved_is_refused(void **state)
{
    (void)state;
    struct pl_error error;
    FILE *stream = NULL;
    put_file("input", "precious");
    assert_int_equal(link("input", "other"), 0);
    assert_int_equal(symlink("later", "to-later"), 0);
    output_reads("input");
    output_reserve("later", "the results go");
    static const char *const names[] = {"input", "other", "./input", "later", "to-later"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(output_check(names[i], &error), PL_E_USAGE);
        assert_int_equal(output_open(names[i], &stream, &error), PL_E_USAGE);
    }
    assert_int_equal(output_check("fine", &error), PL_OK);
    assert_int_equal(output_check("fine", &error), PL_E_USAGE); /* of a second option */
    opened("fine");
    assert_int_equal(output_open("./fine", &stream, &error), PL_E_USAGE);
    assert_int_equal(output_commit(&error), PL_OK);
    unlink("fine");
    unlink("input");
    unlink("other");
    unlink("to-later");
}

/* What a killed process had opened is gone, and what a child drops is its own. */
static void nothing_is_left(void **state)
{
    (void)state;
    struct pl_error error;
    put_file("old", "old");
    opened("old");
    const pid_t child = fork();
    if (child == 0) {
        output_discard();
        FILE *stream;
        output_open("of-child", &stream, &error);
        fputs("half", stream);
        fflush(stream);
        abort();
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(output_commit(&error), PL_OK);
    assert_int_not_equal(access("of-child", F_OK), 0);
    unlink("old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_come_together), cmocka_unit_test(one_broken_output_changes_none),
        cmocka_unit_test(attributes_and_names_stay), cmocka_unit_test(what_is_read_or_reserved_is_refused),
        cmocka_unit_test(nothing_is_left)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
