/* Failures that ranks have not heard of yet, as a file keeps them.
 * proves: GPFS-6
 * It would fail if a failure that came while another one was told were forgotten with it, also where both have the same
 * text; or if one that the program has heard of kept one away that it has not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/file/file.h"

static struct file file;

static int begin(void **unused)
{
    (void)unused;
    memset(&file, 0, sizeof file);
    pthread_mutex_init(&file.lock, NULL);
    return 0;
}

static void note(const char *text, bool heard)
{
    struct pl_error error;
    pl_fail(&error, PL_E_IO, "%s", text);
    file_note_late(&file, &error, heard);
}

static void later_ones_stay(void **unused)
{
    (void)unused;
    assert_int_equal(file_late(&file).error.status, PL_OK);
    file_forget_late(&file, file_late(&file).number); /* none */
    note("the disk is full", true);
    const struct error_late told = file_late(&file); /* all ranks meet, and meanwhile: */
    note("the disk is full", false);
    file_forget_late(&file, told.number);
    const struct error_late left = file_late(&file);
    assert_int_equal(left.error.status, PL_E_IO);
    assert_false(left.heard);
    file_forget_late(&file, left.number);
    assert_int_equal(file_late(&file).error.status, PL_OK);
}

static void the_unheard_comes_first(void **unused)
{
    (void)unused;
    note("first", false);
    note("second", false);
    note("third", true);
    assert_string_equal(file_late(&file).error.text, "first");
    file_forget_late(&file, file_late(&file).number);
    note("heard", true);
    note("unheard", false);
    assert_string_equal(file_late(&file).error.text, "unheard");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(later_ones_stay, begin),
        cmocka_unit_test_setup(the_unheard_comes_first, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
