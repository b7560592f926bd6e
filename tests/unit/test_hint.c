/* Hints: every row takes what it says it allows and nothing else, and tells where its value comes from.
 * proves: GPFS-5
 * It would fail if a wrong value were put in force or went unmentioned, if a source of less weight beat one of more, if
 * set_info changed what is fixed at open, or if ranks with the same hints in force had different digests. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/fault/fault.h"
#include "engine/hint/hint.h"

static struct pl_error error;
static char path[64];

static int clean_environment(void **state)
{
    (void)state;
    unsetenv("ROMIO_HINTS");
    unsetenv("PIOLET_HINTS");
    unsetenv("PIOLET_MAP");
    snprintf(path, sizeof path, "test_hint.%d.tmp", (int)getpid());
    unlink(path);
    return fault_plan_load(NULL, 0, &error);
}

static struct hints *make(void)
{
    struct hints *hints = NULL;
    if (hints_new_local(&hints, &error) != PL_OK)
        fail_msg("%s", error.text);
    return hints;
}

static void assert_hint(const struct hints *hints, const char *name, const char *value, const char *origin)
{
    assert_string_equal(hints_get(hints, name), value);
    char text[HINT_TEXT_MAX] = "";
    if (!hints_origin(hints, name, text))
        text[0] = '\0';
    if (strcmp(text, origin) != 0)
        fail_msg("%s: origin '%s', not '%s'", name, text, origin);
}

static void defaults(void **state)
{
    (void)state;
    struct hints *hints = make();
    const struct hint_values *values = hints_values(hints);
    assert_int_equal(values->impl, HINT_IMPL_PIOLET);
    assert_string_equal(values->strategy, "auto");
    assert_int_equal(values->cb_nodes, 0);
    assert_int_equal(values->cb_buffer_size, 4 << 20);
    assert_int_equal(values->cb_read, HINT_AUTOMATIC);
    assert_int_equal(values->cb_write, HINT_AUTOMATIC);
    assert_int_equal(values->ds_read, HINT_AUTOMATIC);
    assert_int_equal(values->ds_write, HINT_AUTOMATIC);
    assert_int_equal(values->ind_rd_buffer_size, 4 << 20);
    assert_int_equal(values->ind_wr_buffer_size, 512 << 10);
    assert_int_equal(values->striping_unit, 0);
    assert_int_equal(values->striping_factor, 0);
    assert_int_equal(values->file_perm, -1);
    assert_int_equal(values->largeblock, 0);
    assert_hint(hints, "cb_buffer_size", "4194304", "default");
    assert_hint(hints, "file_perm", "", "default");
    assert_hint(hints, "access_style", "", "");
    assert_hint(hints, "collective_buffering", "", "");
    assert_null(hints_get(hints, "no_such_hint"));
    hints_free(hints);
    hints_free(NULL);
}

static void rows(void **state)
{
    (void)state;
    int count = 0;
    for (const struct hint_row *row; (row = hint_row_at(count)); count++) {
        if (strlen("origin:") + strlen(row->name) >= 36) /* the shortest limit of the MPIs: Open MPI's */
            fail_msg("%s: no key 'origin:…' could be made of it", row->name);
        if (strlen(row->allowed) > 130)
            fail_msg("%s: what is allowed would not fit into an MPI_Info", row->name);
        assert_true(*row->help);
        for (int i = 0; i < count; i++)
            assert_string_not_equal(hint_row_at(i)->name, row->name);
    }
    assert_int_equal(count, 31);
    assert_null(hint_row_at(-1));
    assert_string_equal(hint_row_at(0)->name, "piolet_impl");
    assert_false(hint_row_at(0)->changeable);
}

static void allowed_values(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *kept;
    } cases[] = {
        {"piolet_impl", "system", "system"},
        {"piolet_impl", "Piolet", "piolet"},
        {"piolet_strategy", "two_phase2", "two_phase2"},
        {"piolet_strategy", "a234567890123456789012345678901", "a234567890123456789012345678901"},
        {"cb_nodes", " 3 ", "3"},
        {"cb_nodes", "2147483647", "2147483647"},
        {"cb_buffer_size", "4096", "4096"},
        {"cb_buffer_size", "16m", "16777216"},
        {"cb_buffer_size", "1G", "1073741824"},
        {"romio_cb_read", "ENABLE", "enable"},
        {"romio_cb_write", "disable", "disable"},
        {"romio_ds_read", "automatic", "automatic"},
        {"romio_ds_write", "Disable", "disable"},
        {"ind_rd_buffer_size", "49", "49"},
        {"striping_unit", "1m", "1048576"},
        {"striping_factor", "0", "0"},
        {"file_perm", "0640", "0640"},
        {"file_perm", "777", "777"},
        {"IBM_largeblock_io", "TRUE", "true"},
        {"access_style", "read_once, sequential", "read_once, sequential"},
        {"access_style", "random", "random"},
        {"cb_config_list", "*:1,host:2", "*:1,host:2"},
        {"cb_block_size", "64k", "65536"},
        {"nb_proc", "8", "8"},
        {"romio_no_indep_rw", "true", "true"},
        {"piolet_map", "Disable", "disable"},
        {"piolet_map", "automatic", "automatic"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hints *hints = make();
        assert_true(hints_set(hints, cases[i].name, cases[i].value, HINT_INFO));
        assert_hint(hints, cases[i].name, cases[i].kept, "info");
        const char *text = hints_get(hints, cases[i].name); /* what is reported is taken again */
        struct hints *again = make();
        assert_true(hints_set(again, cases[i].name, text, HINT_INFO));
        assert_hint(again, cases[i].name, cases[i].kept, "info");
        assert_true(hints_digest(hints) == hints_digest(again));
        hints_free(again);
        hints_free(hints);
    }
}

static void wrong_values(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
    } cases[] = {
        {"piolet_impl", "romio"},
        {"piolet_impl", ""},
        {"piolet_strategy", "two-phase"},
        {"piolet_strategy", "a2345678901234567890123456789012"},
        {"cb_nodes", "-1"},
        {"cb_nodes", "2k"},
        {"cb_nodes", "2147483648"},
        {"cb_buffer_size", "0"},
        {"cb_buffer_size", "2147483648"},
        {"cb_buffer_size", "2g"},
        {"cb_buffer_size", "4 mb"},
        {"cb_buffer_size", "99999999999999999999"},
        {"cb_buffer_size", "nan"},
        {"romio_cb_read", "true"},
        {"romio_cb_write", "enabled"},
        {"ind_wr_buffer_size", "0"},
        {"striping_unit", "-4096"},
        {"striping_factor", "many"},
        {"file_perm", "0o644"},
        {"file_perm", "1000"},
        {"file_perm", "rw-r--r--"},
        {"IBM_largeblock_io", "1"},
        {"collective_buffering", "yes"},
        {"access_style", "read_once,,random"},
        {"access_style", "often"},
        {"access_style", "random,"},
        {"piolet_map", "enable"},
        {"piolet_map", "0"},
    };
    struct hints *plain = make();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hints *hints = make();
        assert_true(hints_set(hints, cases[i].name, cases[i].value, HINT_INFO));
        assert_true(hints_digest(hints) == hints_digest(plain));
        assert_string_equal(hints_get(hints, cases[i].name), hints_get(plain, cases[i].name));
        char text[HINT_TEXT_MAX], wanted[HINT_TEXT_MAX];
        assert_true(hints_origin(hints, cases[i].name, text));
        snprintf(wanted, sizeof wanted, "rejected '%s': allowed: ", cases[i].value);
        if (strncmp(text, wanted, strlen(wanted)) != 0 || !strstr(text, " (kept: default)"))
            fail_msg("%s: the origin is '%s'", cases[i].name, text);
        hints_free(hints);
    }
    assert_false(hints_set(plain, "no_such_hint", "1", HINT_INFO));
    char longest[1000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    char text[HINT_TEXT_MAX];
    for (int i = 0; hint_row_at(i); i++) { /* whatever is rejected, the words fit */
        assert_true(hints_set(plain, hint_row_at(i)->name, longest, HINT_INFO));
        assert_true(hints_origin(plain, hint_row_at(i)->name, text));
        assert_non_null(strstr(text, "xxx...': allowed: up to 255 characters (kept: default)"));
        longest[200] = '\0';
        hints_set(plain, hint_row_at(i)->name, longest, HINT_INFO);
        assert_true(hints_origin(plain, hint_row_at(i)->name, text));
        assert_true(strcmp(text, "info") == 0 || strstr(text, "(kept: default)"));
        longest[200] = 'x';
    }
    hints_free(plain);
}

static void write_file(const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
    setenv("ROMIO_HINTS", path, 1);
}

static void weights(void **state)
{
    (void)state;
    write_file("# a comment\n\ncb_nodes 2\n  cb_buffer_size\t8192   # the half\r\nstriping_unit 65536\nunknown 3\n"
               "romio_cb_read\nfile_perm 600");
    setenv("PIOLET_HINTS", "cb_buffer_size=1m;striping_factor=4  access_style=read_once,random\tromio_ds_read=perhaps",
           1);
    struct hints *hints = make();
    hints_set(hints, "striping_factor", "5", HINT_INFO);
    hints_set(hints, "cb_nodes", "none", HINT_INFO);
    assert_hint(hints, "cb_nodes", "2", "rejected 'none': allowed: 0 to 2147483647 (kept: file)");
    assert_hint(hints, "striping_unit", "65536", "file");
    assert_hint(hints, "file_perm", "600", "file");
    assert_int_equal(hints_values(hints)->file_perm, 0600);
    assert_hint(hints, "cb_buffer_size", "1048576", "environment");
    assert_hint(hints, "striping_factor", "5", "info");
    assert_hint(hints, "access_style", "read_once,random", "environment");
    assert_hint(hints, "romio_cb_read", "automatic", "default");
    assert_hint(hints, "romio_ds_read", "automatic",
                "rejected 'perhaps': allowed: enable, disable, automatic (kept: default)");
    char text[HINT_TEXT_MAX], wanted[HINT_TEXT_MAX];
    assert_true(hints_origin(hints, "ROMIO_HINTS", text));
    snprintf(wanted, sizeof wanted, "read '%s'", path);
    assert_string_equal(text, wanted);
    assert_false(hints_origin(hints, "PIOLET_HINTS", text));
    hints_free(hints);
    unlink(path);
}

/* PIOLET_MAP speaks for one hint, before PIOLET_HINTS and behind the program's own. */
static void map_environment(void **state)
{
    (void)state;
    clean_environment(NULL);
    setenv("PIOLET_HINTS", "piolet_map=automatic", 1);
    setenv("PIOLET_MAP", "disable", 1);
    struct hints *hints = make();
    assert_hint(hints, "piolet_map", "disable", "environment");
    assert_int_equal(hints_values(hints)->map, HINT_DISABLE);
    hints_set(hints, "piolet_map", "automatic", HINT_INFO);
    assert_hint(hints, "piolet_map", "automatic", "info");
    hints_free(hints);
    setenv("PIOLET_MAP", "off", 1);
    setenv("PIOLET_HINTS", "piolet_map=disable", 1);
    hints = make();
    assert_hint(hints, "piolet_map", "disable", "rejected 'off': allowed: automatic, disable (kept: environment)");
    hints_free(hints);
    clean_environment(NULL);
    setenv("PIOLET_MAP", "", 1);
    hints = make();
    assert_hint(hints, "piolet_map", "automatic", "default");
    hints_free(hints);
}

static void wrong_environment(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *value, *note;
    } cases[] = {
        {"ROMIO_HINTS", "/no/such/file", "ignored: '/no/such/file': No such file or directory"},
        {"ROMIO_HINTS", ".", "ignored: '.': Is a directory"},
        {"ROMIO_HINTS", "/dev/null", "ignored: '/dev/null': Invalid argument"},
        {"PIOLET_HINTS", " cb_nodes ;; x", "ignored 'cb_nodes': allowed: name=value, with blanks or ; between"},
        {"PIOLET_HINTS", "cb_node=1", "ignored 'cb_node': no hint has this name; did you mean cb_nodes?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clean_environment(NULL);
        setenv(cases[i].variable, cases[i].value, 1);
        struct hints *hints = make();
        char text[HINT_TEXT_MAX] = "";
        assert_true(hints_origin(hints, cases[i].variable, text));
        assert_string_equal(text, cases[i].note);
        hints_free(hints);
    }
    clean_environment(NULL);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes: opening it must not wait */
    setenv("ROMIO_HINTS", path, 1);
    hints_free(make());
    unlink(path);
}

static void buffering(void **state)
{
    (void)state;
    struct hints *hints = make();
    hints_set(hints, "romio_cb_write", "enable", HINT_ENVIRONMENT);
    hints_set(hints, "collective_buffering", "false", HINT_INFO); /* of more weight */
    assert_hint(hints, "romio_cb_read", "disable", "info");
    assert_hint(hints, "romio_cb_write", "disable", "info");
    assert_int_equal(hints_values(hints)->cb_write, HINT_DISABLE);
    hints_set(hints, "romio_cb_write", "automatic", HINT_INFO); /* the own name wins, in either order */
    assert_hint(hints, "romio_cb_write", "automatic", "info");
    hints_set(hints, "collective_buffering", "true", HINT_INFO);
    assert_hint(hints, "romio_cb_write", "automatic", "info");
    assert_hint(hints, "romio_cb_read", "enable", "info");
    assert_hint(hints, "collective_buffering", "true", "info");
    hints_begin_update(hints);
    hints_set(hints, "collective_buffering", "false", HINT_INFO);
    assert_hint(hints, "romio_cb_write", "disable", "info");
    hints_free(hints);
}

static void updates(void **state)
{
    (void)state;
    struct hints *hints = make();
    hints_set(hints, "striping_unit", "4k", HINT_INFO);
    const uint64_t digest = hints_digest(hints);
    hints_begin_update(hints);
    hints_set(hints, "striping_unit", "4096", HINT_INFO); /* what get_info gave */
    assert_hint(hints, "striping_unit", "4096", "info");
    hints_set(hints, "striping_unit", "8192", HINT_INFO);
    assert_hint(hints, "striping_unit", "4096", "rejected '8192': allowed: only when the file is opened (kept: info)");
    hints_set(hints, "piolet_impl", "system", HINT_INFO);
    assert_int_equal(hints_values(hints)->impl, HINT_IMPL_PIOLET);
    assert_true(hints_digest(hints) == digest);
    hints_set(hints, "access_style", "random", HINT_INFO); /* noted only: no matter for the digest */
    assert_true(hints_digest(hints) == digest);
    hints_set(hints, "cb_nodes", "7", HINT_INFO);
    assert_hint(hints, "cb_nodes", "7", "info");
    assert_true(hints_digest(hints) != digest);
    hints_free(hints);
}

static void rejected_by_the_engine(void **state)
{
    (void)state;
    struct hints *hints = make();
    hints_set(hints, "piolet_strategy", "magic", HINT_INFO);
    hints_reject(hints, "piolet_strategy", NULL, "auto, direct");
    assert_hint(hints, "piolet_strategy", "auto", "rejected 'magic': allowed: auto, direct (kept: default)");
    assert_string_equal(hints_values(hints)->strategy, "auto");
    hints_set(hints, "piolet_strategy", "direct", HINT_INFO);
    assert_hint(hints, "piolet_strategy", "direct", "info");
    hints_set(hints, "piolet_strategy", "magic", HINT_INFO);
    hints_reject(hints, "piolet_strategy", "direct", "auto, direct");
    assert_hint(hints, "piolet_strategy", "direct", "rejected 'magic': allowed: auto, direct (kept: info)");
    assert_string_equal(hints_values(hints)->strategy, "direct");
    hints_free(hints);
}

static void digests(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
    } cases[] = {{"piolet_impl", "system"}, {"piolet_strategy", "a"},      {"cb_nodes", "1"},
                 {"file_perm", "600"},      {"romio_ds_write", "disable"}, {"IBM_largeblock_io", "true"}};
    enum { COUNT = sizeof cases / sizeof cases[0] };
    uint64_t found[COUNT + 1];
    struct hints *hints = make();
    found[0] = hints_digest(hints);
    for (size_t i = 0; i < COUNT; i++) {
        hints_set(hints, cases[i].name, cases[i].value, HINT_INFO);
        found[i + 1] = hints_digest(hints);
        for (size_t k = 0; k <= i; k++)
            assert_true(found[k] != found[i + 1]);
    }
    hints_set(hints, "file_perm", "0600", HINT_ENVIRONMENT); /* the same value, written otherwise */
    assert_true(hints_digest(hints) == found[COUNT]);
    hints_free(hints);
}

static void want_of_memory(void **state)
{
    (void)state;
    write_file("cb_nodes 2\n");
    setenv("PIOLET_HINTS", "cb_nodes=3", 1);
    for (int i = 1; i <= 3; i++) {
        char plan[64];
        snprintf(plan, sizeof plan, "malloc:%d=ENOMEM", i);
        assert_int_equal(fault_plan_load(plan, 0, &error), PL_OK);
        struct hints *hints = NULL;
        assert_int_equal(hints_new_local(&hints, &error), PL_E_NOMEM);
        assert_null(hints);
    }
    unlink(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clean_environment, clean_environment)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults),     TEST(rows),           TEST(allowed_values),
        TEST(wrong_values), TEST(weights),        TEST(wrong_environment),
        TEST(buffering),    TEST(updates),        TEST(rejected_by_the_engine),
        TEST(digests),      TEST(want_of_memory), TEST(map_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
