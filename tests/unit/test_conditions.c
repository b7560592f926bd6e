/* Conditions of measurement, from made-up blocks.
 * proves: COLL-6 GPFS-8
 * It would fail if runs on another file system, of another test file, with another setting or on another host were
 * taken for the same, or if settings that change nothing told runs apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/facts/conditions.h"

static const char *const KEYS[] = {"file", "sync", NULL};

enum { INPUTS = 3, FACTS = 3 };

struct made {
    struct blockfile_pair inputs[INPUTS], facts[FACTS];
    struct blockfile_block block;
};

static const struct blockfile_block *make(struct made *made, const char *trials, const char *file, const char *sync,
                                          const char *source, const char *host)
{
    *made = (struct made){
        .inputs = {{(char *)"trials", (char *)trials}, {(char *)"file", (char *)file}, {(char *)"sync", (char *)sync}},
        .facts = {{(char *)"filesystem", (char *)"ext4"},
                  {(char *)"filesystem_source", (char *)source},
                  {(char *)"hostname", (char *)host}}};
    made->block = (struct blockfile_block){
        .inputs = made->inputs, .input_count = sync ? INPUTS : INPUTS - 1, .facts = made->facts, .fact_count = FACTS};
    return &made->block;
}

static void told_apart(void **state)
{
    (void)state;
    struct made made[6];
    struct conditions list = {0};
    char label[CONDITIONS_LABEL_MAX];
    assert_int_equal(conditions_number(&list, make(&made[0], "3", "f", NULL, "/dev/a", "h"), KEYS), 0);
    assert_string_equal(conditions_label(&list, 0, label), ""); /* nothing to tell it from */
    assert_int_equal(conditions_number(&list, make(&made[1], "9", "f", NULL, "/dev/a", "h"), KEYS), 0);
    assert_int_equal(conditions_number(&list, make(&made[2], "3", "g", NULL, "/dev/a", "h"), KEYS), 1);
    assert_int_equal(conditions_number(&list, make(&made[3], "3", "f", "true", "/dev/a", "h"), KEYS), 2);
    assert_int_equal(conditions_number(&list, make(&made[4], "3", "f", NULL, "/dev/b", "h"), KEYS), 3);
    assert_int_equal(conditions_number(&list, make(&made[5], "3", "f", NULL, "/dev/a", "i"), KEYS), 4);
    assert_string_equal(conditions_label(&list, 2, label), " [3]");
    assert_string_equal(list.texts[2], "ext4 of /dev/a, file f, sync; host h");
    for (int i = 0; i < 6; i++) /* a run may be resumed on another host */
        assert_int_equal(conditions_alike(&made[0].block, &made[i].block, KEYS), i < 2 || i == 5);
    conditions_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(told_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
