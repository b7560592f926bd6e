/* proves: IOT-6 IOT-33
 * How a result is built: repetitions become one quantity, copies are its own, and what a benchmark may not do ends the
 * process. It would fail if a median or its interval were wrong, if quantities of two blocks were joined, if a string
 * of the caller's were kept, or if a cell found its way into a column of another kind. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "lab/result/result.h"
#include "lab/result/settings.h"

static const struct quantity_kind RATE = {"write rate", "MB/s", "bytes / time of the slowest rank", false};
static const struct quantity_kind TIME = {"time", "ms", "estimated", true};

static struct analysis_estimate exact(double value)
{
    return (struct analysis_estimate){value, NAN};
}

static void repetitions_become_their_median(void **state)
{
    (void)state;
    struct blockfile_block a = {0}, b = {0};
    struct result *result = result_new("test", NULL);
    const double values[] = {10, 100, 12};
    for (int i = 0; i < 3; i++) {
        result_quantity(result, &a, &RATE, NULL, "block 4 kB", exact(values[i]));
        result_quantity(result, &b, &RATE, NULL, "block 4 kB", exact(2 * values[i]));
    }
    result_quantity(result, &a, &RATE, NULL, "block 8 kB", (struct analysis_estimate){50, 5});
    result_quantity(result, &a, &TIME, "read time", NULL, (struct analysis_estimate){1, 3});
    result_quantity(result, &a, &TIME, NULL, NULL, exact(7));
    result_finish(result);
    assert_int_equal(result->quantity_count, 5);

    const struct quantity *first = &result->quantities[0];
    assert_ptr_equal(first->block, &a);
    assert_string_equal(first->what, "write rate");
    assert_true(first->value == 12);
    assert_int_equal(first->repetitions, 3);
    const double error = analysis_mean(values, 3).error;
    assert_true(fabs(first->high - (12 + error)) < 1e-9);
    assert_true(first->low == 0); /* no rate lies below */
    assert_ptr_equal(result->quantities[1].block, &b);
    assert_true(result->quantities[1].value == 24);

    const struct quantity *single = result_find(result, "write rate", "block 8 kB");
    assert_non_null(single);
    assert_true(single->low == 45 && single->high == 55 && single->repetitions == 1);
    const struct quantity *wide = result_find(result, "read time", "");
    assert_non_null(wide);
    assert_true(wide->low == 0 && wide->high == 4 && wide->lower_is_better);
    assert_true(isnan(result_find(result, "time", NULL)->low));
    assert_null(result_find(result, "time", "block 4 kB"));
    result_free(result);
}

/* What draws nothing gets a panel for each name of a quantity; what draws keeps its own. */
static void quantities_are_drawn(void **state)
{
    (void)state;
    static const struct result_axis axis = {.label = "x"};
    for (int own = 0; own < 2; own++) {
        struct result *result = result_new("test", NULL);
        for (int i = 1; i <= 3; i++)
            result_quantity(result, NULL, &RATE, NULL, i == 1 ? "a" : "b", (struct analysis_estimate){10 * i, i});
        result_quantity(result, NULL, &TIME, NULL, "b", exact(3));
        result_begin_panel(result, &axis, &axis, 1, "own");
        result_begin_series(result, RESULT_POINTS, "s");
        if (own)
            result_point(result, 1, 1, NAN, NAN);
        result_finish(result);
        assert_int_equal(result->panel_count, own ? 1 : 2);
        if (!own) {
            assert_string_equal(result->panels[0].title, "write rate");
            assert_int_equal(result->panels[0].series_count, 2);
            assert_string_equal(result->panels[0].series[1].name, "b");
            assert_true(result->panels[0].series[1].x[0] == 2 && result->panels[0].series[1].y[0] == 25);
            assert_true(result->panels[1].series[0].x[0] == 2); /* the place of its settings */
        }
        result_free(result);
    }
}

static void even_and_equal_repetitions(void **state)
{
    (void)state;
    struct result *result = result_new("test", NULL);
    for (int i = 1; i <= 4; i++)
        result_quantity(result, NULL, &RATE, NULL, NULL, exact(i));
    for (int i = 0; i < 100; i++)
        result_quantity(result, NULL, &TIME, NULL, NULL, exact(3));
    result_finish(result);
    assert_int_equal(result->quantity_count, 2);
    assert_true(result->quantities[0].value == 2.5);
    assert_true(fabs(result->quantities[0].low + result->quantities[0].high - 5) < 1e-9);
    assert_true(result->quantities[1].low == 3 && result->quantities[1].high == 3);
    assert_int_equal(result->quantities[1].repetitions, 100);
    result_free(result);
}

static void values_that_are_none(void **state)
{
    (void)state;
    struct result *result = result_new("test", NULL);
    const double none[] = {NAN, INFINITY, -INFINITY, 0, -1};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        result_quantity(result, NULL, &RATE, NULL, NULL, exact(none[i]));
    result_finish(result);
    assert_int_equal(result->quantity_count, 0);
    result_free(result);
    result_free(NULL);
}

/* What the caller gave may be gone at once. */
static void nothing_is_borrowed(void **state)
{
    (void)state;
    struct result *result = result_new("test", "title");
    char word[8] = "before";
    const char *names[] = {word};
    const struct result_column columns[] = {{word, word, word, .form = RESULT_TEXT}, {0}};
    const struct result_axis axis = {word, RESULT_NUMBER, false, false, names, 1};
    const struct result_axis plain = {.label = word};
    result_fact_text(result, word, word, word);
    result_begin_group(result, word, "%s", word);
    result_begin_table(result, word, word, columns);
    result_row(result);
    result_put_text(result, word);
    result_end_group(result);
    result_begin_panel(result, &axis, &plain, 1, "%s", word);
    result_begin_series(result, RESULT_LINE, "%s", word);
    result_point(result, 0, 1, NAN, NAN);
    result_quantity(result, NULL, &RATE, word, word, exact(1));
    strcpy(word, "after");
    result_finish(result);

    const struct result_item *fact = &result->root.items[0], *group = &result->root.items[1];
    const struct result_table *table = &group->items[0].table;
    const char *const kept[] = {fact->key,
                                fact->label,
                                fact->cell.text,
                                group->key,
                                group->label,
                                table->title,
                                table->columns[0].key,
                                table->columns[0].label,
                                table->columns[0].unit,
                                table->cells[0].text,
                                result->panels[0].title,
                                result->panels[0].x.names[0],
                                result->panels[0].x.label,
                                result->panels[0].series[0].name,
                                result->quantities[0].what,
                                result->quantities[0].settings};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        assert_string_equal(kept[i], "before");
    result_free(result);
}

static void rows_may_end_early(void **state)
{
    (void)state;
    static const struct result_column columns[] = {
        {"a", .form = RESULT_TEXT}, {"b", .form = RESULT_NUMBER}, {"c", .form = RESULT_BYTES}, {0}};
    struct result *result = result_new("test", NULL);
    result_begin_table(result, "t", NULL, columns);
    for (int i = 0; i < 1000; i++) {
        result_row(result);
        result_put_text(result, i % 2 ? "odd" : NULL);
        if (i % 3 == 0)
            result_put_number(result, i ? i : NAN);
    }
    result_finish(result);
    const struct result_table *table = &result->root.items[0].table;
    assert_int_equal(table->row_count, 1000);
    assert_int_equal(table->cells[0].type, RESULT_CELL_EMPTY);
    assert_int_equal(table->cells[1].type, RESULT_CELL_EMPTY);
    assert_string_equal(table->cells[999 * 3].text, "odd");
    assert_true(table->cells[999 * 3 + 1].number == 999);
    assert_int_equal(table->cells[999 * 3 + 2].type, RESULT_CELL_EMPTY);
    result_free(result);
}

/* ---- misuse: each of these trips an assertion ---- */

static const struct result_column COLUMNS[] = {{"text", .form = RESULT_TEXT}, {"number", .form = RESULT_NUMBER}, {0}};

static void one_cell_too_many(struct result *result)
{
    result_begin_table(result, "t", NULL, COLUMNS);
    result_row(result);
    for (int i = 0; i < 3; i++)
        result_put_empty(result);
}

static void cell_without_row(struct result *result)
{
    result_begin_table(result, "t", NULL, COLUMNS);
    result_put_text(result, "a");
}

static void cell_of_another_type(struct result *result)
{
    result_begin_table(result, "t", NULL, COLUMNS);
    result_row(result);
    result_put_number(result, 1);
}

static void error_without_room(struct result *result)
{
    result_begin_table(result, "t", NULL, COLUMNS);
    result_row(result);
    result_put_text(result, "a");
    result_put_estimate(result, exact(1));
}

static void row_behind_a_note(struct result *result)
{
    result_begin_table(result, "t", NULL, COLUMNS);
    result_note(result, RESULT_NOTE, "a note");
    result_row(result);
}

static void fact_given_twice(struct result *result)
{
    result_fact_int(result, "n", NULL, 1);
    result_fact_int(result, "n", NULL, 2);
}

static void group_left_open(struct result *result)
{
    result_begin_group(result, "g", NULL);
    result_finish(result);
}

static void group_closed_twice(struct result *result)
{
    result_end_group(result);
}

static void series_without_panel(struct result *result)
{
    result_begin_series(result, RESULT_LINE, "s");
}

static void point_without_series(struct result *result)
{
    const struct result_axis axis = {.label = "x"};
    result_begin_panel(result, &axis, &axis, 1, NULL);
    result_point(result, 1, 1, NAN, NAN);
}

static void more_when_finished(struct result *result)
{
    result_finish(result);
    result_line(result, "late");
}

static void text_as_a_number(struct result *result)
{
    result_fact(result, "n", NULL, RESULT_TEXT, 1);
}

static void key_that_is_taken(struct result *result)
{
    result_fact_int(result, "quantities", NULL, 1);
}

static void misuse_trips_assertions(void **state)
{
    (void)state;
    static void (*const misuses[])(struct result *) = {
        one_cell_too_many,  cell_without_row, cell_of_another_type, error_without_room,   row_behind_a_note,
        fact_given_twice,   group_left_open,  group_closed_twice,   series_without_panel, point_without_series,
        more_when_finished, text_as_a_number, key_that_is_taken};
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const struct rlimit none = {0, 0};
            setrlimit(RLIMIT_CORE, &none);
            signal(SIGABRT, SIG_DFL); /* cmocka's would go on */
            freopen("/dev/null", "w", stderr);
            misuses[i](result_new("test", NULL));
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
            fail_msg("misuse %zu was taken", i);
    }
}

/* ---- settings and memory ---- */

static void settings_are_exact(void **state)
{
    (void)state;
    struct blockfile_pair params[] = {
        {(char *)"filesize_bytes", (char *)"16000000"}, {(char *)"collective", (char *)"true"},
        {(char *)"layout", (char *)"strided"},          {(char *)"blocksize_bytes", (char *)"65537"},
        {(char *)"check", (char *)"anything"},          {(char *)"ranks", (char *)"4"}};
    struct blockfile_hint hints[] = {{.key = (char *)"cb_nodes", .value = (char *)"2"},
                                     {.used = true, .key = (char *)"cb_nodes", .value = (char *)"9"}};
    const struct blockfile_set set = {.params = params, .param_count = 6, .hints = hints, .hint_count = 2};
    struct text text = {0};
    settings_of_set(&set, (const char *const[]){"ranks", NULL}, &text);
    assert_string_equal(text_get(&text), "file 16 MB, collective, block 65537 B, cb_nodes=2");
    text_clear(&text);
    settings_of_keys(&set, (const char *const[]){"ranks", "collective", NULL}, &text);
    assert_string_equal(text_get(&text), "collective, ranks 4");
    text_clear(&text);
    settings_add_bytes(&text, 65536);
    assert_string_equal(text_get(&text), "64 KiB");
    text_clear(&text);
}

static void arrays_grow_with_zeroes(void **state)
{
    (void)state;
    int *array = NULL;
    for (size_t i = 0; i < 1000; i++) {
        array = memory_grow(array, i, sizeof *array);
        assert_int_equal(array[i], 0);
        array[i] = (int)i + 1;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array[i], i + 1);
    free(array);
    assert_null(memory_copy(NULL));
    char *text = memory_text("%d %s", 3, "words");
    assert_string_equal(text, "3 words");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repetitions_become_their_median),
        cmocka_unit_test(even_and_equal_repetitions),
        cmocka_unit_test(quantities_are_drawn),
        cmocka_unit_test(values_that_are_none),
        cmocka_unit_test(nothing_is_borrowed),
        cmocka_unit_test(rows_may_end_early),
        cmocka_unit_test(misuse_trips_assertions),
        cmocka_unit_test(settings_are_exact),
        cmocka_unit_test(arrays_grow_with_zeroes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
