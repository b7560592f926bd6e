/* proves: IOT-6 IOT-33
 * The forms of a result, made of one document: text in columns, JSON by the benchmark's own keys, CSV, the page's
 * document, SVG. It would fail if a column ran out of its lane, if a key or a number were lost, if a text of a file
 * could act upon a terminal, a spreadsheet or a page, or if a figure were not XML or came out differently twice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/utf8.h"
#include "lab/show/show.h"

static const char HOSTILE[] = "\x1b[2J</text>&\"'\xff,\n=1+1";

typedef void show_form(const struct result *result, FILE *stream);

static char *shown(const struct result *result, show_form *form)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    form(result, stream);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void expect_form(struct result *result, show_form *form, const char *expected)
{
    result_finish(result);
    char *text = shown(result, form);
    assert_string_equal(text, expected);
    free(text);
    result_free(result);
}

static json_t *parsed(const char *text)
{
    json_error_t error;
    json_t *tree = json_loads(text, 0, &error);
    if (!tree)
        fail_msg("not JSON: %s in %s", error.text, text);
    return tree;
}

static json_t *shown_json(const struct result *result)
{
    char *text = shown(result, show_json);
    json_t *tree = parsed(text);
    free(text);
    return tree;
}

static void show_document(const struct result *result, FILE *stream)
{
    struct json json = {.stream = stream};
    show_put_document(result, &json, NULL);
}

static struct analysis_estimate about(double value, double error)
{
    return (struct analysis_estimate){value, error};
}

/* ---- a document with all that there is ---- */

static const struct result_column POINTS[] = {
    {"operation", "", .form = RESULT_TEXT},
    {"request_bytes", "request", .form = RESULT_BINARY},
    {"rate_bytes_per_s", "rate", .form = RESULT_BYTE_RATE, .decimals = 1},
    {"iops", "IOPS", .form = RESULT_NUMBER, .error = true},
    {"mean_ns", "mean", .form = RESULT_NS},
    {"cut", "cut", .form = RESULT_BOOL},
    {"failure", .form = RESULT_TEXT, .hidden = true},
    {0},
};

static void add_node(struct result *result, const char *name, double factor)
{
    result_begin_group(result, "nodes", "I/O node %s", name);
    result_fact_text(result, "io_node", NULL, name);
    result_fact_int(result, "block", "block", 3);
    result_fact(result, "file_bytes", "file size", RESULT_BINARY, 1 << 26);
    result_begin_table(result, "points", NULL, POINTS);
    result_row(result);
    result_put_text(result, "write");
    result_put_int(result, 65536);
    result_put_number(result, 123456789 * factor);
    result_put_estimate(result, about(1234.5678 * factor, 12.3));
    result_put_number(result, 1250000);
    result_put_bool(result, true);
    result_row(result);
    result_put_text(result, "read");
    result_put_int(result, 4096);
    result_put_number(result, 2e6);
    result_put_estimate(result, about(98.7, NAN));
    result_put_empty(result);
    result_put_bool(result, false);
    result_put_text(result, "an error");
    result_fact_estimate(result, "peak", "peak", RESULT_RATE, about(812.34, 4.5));
    result_note(result, RESULT_WARNING, "the cache was not dropped on %s", name);
    result_end_group(result);
}

static struct result *whole_document(void)
{
    struct result *result = result_new("peak", "Peak rates of the devices");
    result_line(result, "1 MB = 10^6 bytes; fsync belongs to writing, and this line is so long that it does not fit.");
    result_fact_int(result, "io_nodes", "I/O nodes", 2);
    result_fact_bool(result, "complete", "complete", false);
    result_begin_object(result, "limits", NULL);
    result_fact(result, "time_s", NULL, RESULT_SECONDS, 12.5);
    result_end_group(result);
    add_node(result, "/dev/a", 1);
    add_node(result, "/dev/b", 2);
    static const struct result_column words[] = {{"", "finding", .form = RESULT_TEXT}, {0}};
    result_begin_table(result, "findings", "Findings", words);
    result_row(result);
    result_put_text(result, "b is faster");
    result_note(result, RESULT_NOTE, "one note");
    static const struct quantity_kind kind = {"rate", "MB/s", "bytes / time", false};
    result_quantity(result, NULL, &kind, NULL, "request 64 KiB", about(123, 4));
    const struct result_axis x = {"request", RESULT_BINARY, .log = true},
                             y = {"rate", RESULT_BYTE_RATE, .from_zero = true};
    result_figure(result, NULL, "what it shows");
    for (int panel = 0; panel < 2; panel++) {
        result_begin_panel(result, &x, &y, 2, panel ? "read" : "write");
        for (int access = 0; access < 2; access++) {
            result_begin_series(result, RESULT_LINE, access ? "sequential" : "random");
            for (int i = 12; i < 24; i += 2)
                result_point(result, ldexp(1, i), i * (1 + access) * 1e7, i * (1 + access) * 0.9e7,
                             i * (1 + access) * 1.1e7);
        }
    }
    result_finish(result);
    return result;
}

static void text_of_a_document(void **state)
{
    (void)state;
    struct result *result = whole_document();
    char *text = shown(result, show_text);
    assert_string_equal(text, "Peak rates of the devices\n"
                              "1 MB = 10^6 bytes; fsync belongs to writing, and this line is so long that it\n"
                              "does not fit.\n"
                              "I/O nodes  2\n"
                              "complete   no\n"
                              "\n"
                              "I/O node /dev/a\n"
                              "  block      3\n"
                              "  file size  64 MiB\n"
                              "\n"
                              "         request   rate       IOPS     mean  cut\n"
                              "                   MB/s\n"
                              "  write   64 KiB  123.5  1235 ± 12  1.25 ms  yes\n"
                              "  read     4 KiB    2.0    99             -\n"
                              "\n"
                              "  peak  812.3 ± 4.5 MB/s\n"
                              "  warning: the cache was not dropped on /dev/a\n"
                              "\n"
                              "I/O node /dev/b\n"
                              "  block      3\n"
                              "  file size  64 MiB\n"
                              "\n"
                              "         request   rate       IOPS     mean  cut\n"
                              "                   MB/s\n"
                              "  write   64 KiB  246.9  2469 ± 12  1.25 ms  yes\n"
                              "  read     4 KiB    2.0    99             -\n"
                              "\n"
                              "  peak  812.3 ± 4.5 MB/s\n"
                              "  warning: the cache was not dropped on /dev/b\n"
                              "\n"
                              "Findings\n"
                              "finding\n"
                              "b is faster\n"
                              "\n"
                              "note: one note\n");
    free(text);
    result_free(result);
}

static void json_of_a_document(void **state)
{
    (void)state;
    struct result *result = whole_document();
    json_t *tree = shown_json(result);
    const char *name, *io_node, *operation, *level, *note, *what, *finding;
    int nodes, complete, cut, block, bytes;
    double rate, iops, error, peak, wrong, time, low;
    assert_int_equal(
        json_unpack(tree,
                    "{s:s, s:i, s:b, s:{s:F}, s:[{s:s, s:i, s:[{s:s, s:i, s:F, s:F, s:F, s:b, s:n}, {}!], s:F, s:F, "
                    "s:[{s:s, s:s}!]}, {}!], s:[s!], s:[{s:s, s:F}!]}",
                    "benchmark", &name, "io_nodes", &nodes, "complete", &complete, "limits", "time_s", &time, "nodes",
                    "io_node", &io_node, "block", &block, "points", "operation", &operation, "request_bytes", &bytes,
                    "rate_bytes_per_s", &rate, "iops", &iops, "iops_error", &error, "cut", &cut, "failure", "peak",
                    &peak, "peak_error", &wrong, "notes", "level", &level, "text", &note, "findings", &finding,
                    "quantities", "what", &what, "low", &low),
        0);
    assert_string_equal(name, "peak");
    assert_string_equal(io_node, "/dev/a");
    assert_string_equal(operation, "write");
    assert_string_equal(level, "warning");
    assert_string_equal(what, "rate");
    assert_string_equal(finding, "b is faster");
    assert_true(nodes == 2 && !complete && cut && block == 3 && bytes == 65536 && time == 12.5);
    assert_true(rate == 123456789 && iops == 1234.5678 && error == 12.3 && peak == 812.34 && wrong == 4.5 &&
                low == 119);
    json_t *second = json_array_get(json_object_get(json_array_get(json_object_get(tree, "nodes"), 1), "points"), 1);
    assert_true(json_is_null(json_object_get(second, "iops_error")));
    assert_true(json_is_null(json_object_get(second, "mean_ns")));
    assert_true(json_is_false(json_object_get(second, "cut")));
    json_decref(tree);
    result_free(result);
}

static void csv_of_a_document(void **state)
{
    (void)state;
    struct result *result = whole_document();
    char *text = shown(result, show_csv);
    assert_string_equal(
        text, "io_node,block,file_bytes,operation,request_bytes,rate_bytes_per_s,iops,iops_error,mean_ns,cut,failure\n"
              "/dev/a,3,67108864,write,65536,123456789,1234.5678,12.3,1250000,yes,\n"
              "/dev/a,3,67108864,read,4096,2000000,98.7,,,no,an error\n"
              "/dev/b,3,67108864,write,65536,246913578,2469.1356,12.3,1250000,yes,\n"
              "/dev/b,3,67108864,read,4096,2000000,98.7,,,no,an error\n");
    free(text);
    result_free(result);
}

static void document_for_the_page(void **state)
{
    (void)state;
    struct result *result = whole_document();
    char *text = shown(result, show_document);
    json_t *tree = parsed(text), *rows, *columns;
    const char *group, *form, *unit, *draw, *label, *fact, *note, *title;
    double x, y, low, high;
    assert_int_equal(
        json_unpack(tree,
                    "{s:s, s:[{s:s, s:s}], s:[{s:s, s:o, s:o}], s:[{s:{s:s, s:s, s:b}, s:[{s:s, s:[[F, F, F, F!]]}]}, "
                    "{}!], s:[{s:s}]}",
                    "title", &title, "facts", "label", &label, "text", &fact, "tables", "group", &group, "columns",
                    &columns, "rows", &rows, "charts", "y", "form", &form, "unit", &unit, "log", &(int){0}, "series",
                    "draw", &draw, "points", &x, &y, &low, &high, "notes", "text", &note),
        0);
    assert_string_equal(group, "I/O node /dev/a");
    assert_string_equal(form, "byte_rate");
    assert_string_equal(unit, "MB/s");
    assert_string_equal(draw, "line");
    assert_string_equal(label, "I/O nodes");
    assert_string_equal(fact, "2");
    assert_true(x == 4096 && y == 12e7 && low == 12 * 0.9e7 && high == 12 * 1.1e7);
    assert_int_equal(json_array_size(columns), 6); /* without the hidden one */
    assert_int_equal(json_array_size(json_array_get(rows, 0)), 6);
    assert_true(json_is_array(json_array_get(json_array_get(rows, 0), 3)));
    json_decref(tree);
    free(text);
    result_free(result);
}

/* ---- text ---- */

/* Returns the widest line. */
static size_t widest_line(const char *text)
{
    size_t widest = 0;
    while (*text) {
        const size_t bytes = strcspn(text, "\n"), width = utf8_count(text, bytes);
        if (bytes)
            assert_int_not_equal(text[bytes - 1], ' ');
        widest = width > widest ? width : widest;
        text += bytes + (text[bytes] == '\n');
    }
    return widest;
}

static const struct result_column WIDE[] = {
    {"name", .form = RESULT_TEXT},
    {"a_long_heading", "a heading of words", .form = RESULT_NUMBER, .decimals = 2},
    {"text", "what happened", .form = RESULT_TEXT},
    {"rate", "rate", .form = RESULT_RATE},
    {0},
};

static struct result *wide_table(const char *words)
{
    struct result *result = result_new("test", NULL);
    result_begin_table(result, "t", NULL, WIDE);
    result_row(result);
    result_put_text(result, "short");
    result_put_number(result, 1);
    result_put_text(result, words);
    result_put_number(result, 12.345);
    result_finish(result);
    return result;
}

static void wide_tables_are_wrapped(void **state)
{
    (void)state;
    struct result *result = wide_table(
        "words upon words upon words upon words, and ä ö ü, upon words upon words upon words");
    char *text = shown(result, show_text);
    assert_int_equal(widest_line(text), 79);
    assert_non_null(strstr(text, "12.35\n")); /* in the first line of its row */
    assert_non_null(strstr(text, "heading"));
    free(text);
    result_free(result);

    char word[121];
    memset(word, 'x', 120);
    word[120] = '\0';
    result = wide_table(word);
    text = shown(result, show_text);
    assert_true(widest_line(text) <= 79); /* a word alone is cut */
    free(text);
    result_free(result);
}

static void too_wide_for_any_screen(void **state)
{
    (void)state;
    struct result_column columns[31] = {{0}};
    char keys[30][16];
    for (int i = 0; i < 30; i++) {
        snprintf(keys[i], sizeof keys[i], "column_%d", i);
        columns[i] = (struct result_column){keys[i], .form = RESULT_INT};
    }
    struct result *result = result_new("test", NULL);
    result_begin_table(result, "t", NULL, columns);
    result_row(result);
    for (int i = 0; i < 30; i++)
        result_put_int(result, i);
    result_finish(result);
    char *text = shown(result, show_text);
    assert_true(widest_line(text) > 79);
    free(text);
    result_free(result);
}

static void notes_and_lines_are_wrapped(void **state)
{
    (void)state;
    struct result *result = result_new("test", "t");
    result_line(result, "two\nlines");
    result_note(result, RESULT_ERROR, "%s",
                "a word and a word and a word and a word and a word and a word and a word and a word");
    result_fact_text(result, "long", "a fact",
                     "a value and a value and a value and a value and a value and a value and a value");
    expect_form(result, show_text,
                "t\ntwo\nlines\n"
                "a fact  a value and a value and a value and a value and a value and a value and\n"
                "        a value\n"
                "\nerror: a word and a word and a word and a word and a word and a word and a word\n"
                "  and a word\n");
}

static void odd_values(void **state)
{
    (void)state;
    static const struct result_column columns[] = {{"n", .form = RESULT_NUMBER, .decimals = -3},
                                                   {"b", .form = RESULT_BYTES},
                                                   {"ns", .form = RESULT_NS, .error = true},
                                                   {"s", .form = RESULT_SECONDS},
                                                   {"p", .form = RESULT_PERCENT, .decimals = 1},
                                                   {"m", "", "MiB", RESULT_NUMBER, .decimals = 1, .scale = 1 << 20},
                                                   {0}};
    struct result *result = result_new("test", NULL);
    result_fact(result, "none", "none", RESULT_RATE, NAN);
    result_fact(result, "huge", "huge", RESULT_BYTES, INFINITY);
    result_begin_table(result, "t", NULL, columns);
    const double values[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        result_row(result);
        for (int c = 0; c < 6; c++)
            result_put_number(result, values[i]);
    }
    result_row(result);
    result_put_number(result, -1234567);
    result_put_number(result, 1e30);
    result_put_estimate(result, about(1500, 20));
    result_put_number(result, 185);
    result_put_number(result, 0.0525);
    result_put_number(result, 3 << 19);
    expect_form(result, show_text,
                "none  -\nhuge  -\n\n"
                "     n        b              ns           s    p  MiB\n"
                "                                               %\n"
                "     -        -       -                   -    -    -\n"
                "     -        -       -                   -    -    -\n"
                "     -        -       -                   -    -    -\n"
                "-1.2e6  9.22 EB  1.5 us ± 20 ns  3 min 05 s  5.2  1.5\n");
}

static void empty_documents(void **state)
{
    (void)state;
    struct result *result = result_new("test", NULL);
    result_finish(result);
    char *text = shown(result, show_text), *csv = shown(result, show_csv);
    assert_string_equal(text, "");
    assert_string_equal(csv, "class,testname,what,settings,value,low,high,unit,repetitions,made\n");
    json_t *tree = shown_json(result);
    assert_int_equal(json_object_size(tree), 2);
    struct pl_error error;
    assert_int_equal(show_plot(result, "/nonexistent/x.svg", &error), PL_E_UNSUPPORTED);
    json_decref(tree);
    free(text);
    free(csv);
    result_free(result);

    result = result_new("test", NULL); /* a table without rows: its columns are known all the same */
    result_begin_table(result, "t", "A table", POINTS);
    result_finish(result);
    text = shown(result, show_text);
    csv = shown(result, show_csv);
    tree = shown_json(result);
    assert_string_equal(text, "A table\n  (nothing)\n");
    assert_string_equal(csv, "operation,request_bytes,rate_bytes_per_s,iops,iops_error,mean_ns,cut,failure\n");
    assert_int_equal(json_array_size(json_object_get(tree, "t")), 0);
    json_decref(tree);
    free(text);
    free(csv);
    result_free(result);
}

/* ---- places, CSV ---- */

static void tables_in_their_places(void **state)
{
    (void)state;
    static const struct result_column columns[] = {{"n", .form = RESULT_INT}, {0}};
    struct result *result = result_new("test", NULL);
    const char *const keys[] = {"summary", "protocol"};
    for (int i = 0; i < 2; i++) {
        result_begin_table(result, keys[i], NULL, columns);
        if (i == 1)
            result_only_in(result, RESULT_IN_CSV);
        result_row(result);
        result_put_int(result, i);
    }
    result_begin_table(result, "summary", NULL, columns); /* the same array in JSON */
    result_row(result);
    result_put_int(result, 7);
    result_csv_table(result, "protocol");
    result_finish(result);
    char *text = shown(result, show_text), *csv = shown(result, show_csv);
    json_t *tree = shown_json(result);
    assert_string_equal(text, "n\n0\n\nn\n7\n");
    assert_string_equal(csv, "n\n1\n");
    assert_null(json_object_get(tree, "protocol"));
    assert_int_equal(json_array_size(json_object_get(tree, "summary")), 2);
    json_decref(tree);
    free(text);
    free(csv);
    result_free(result);
}

static void groups_that_differ(void **state)
{
    (void)state;
    static const struct result_column a[] = {{"x", .form = RESULT_INT}, {"block", .form = RESULT_INT}, {0}};
    static const struct result_column b[] = {{"y", .form = RESULT_TEXT}, {"x", .form = RESULT_INT}, {0}};
    struct result *result = result_new("test", NULL);
    result_fact_text(result, "of_the_whole", NULL, "not in CSV");
    result_begin_group(result, "runs", NULL);
    result_fact_int(result, "block", NULL, 9); /* the column of that name says it better */
    result_fact_text(result, "file", NULL, "=cmd()");
    result_begin_group(result, "parts", NULL);
    result_fact_text(result, "part", NULL, "a,\"b\"");
    result_begin_table(result, "t", NULL, a);
    result_row(result);
    result_put_int(result, 1);
    result_put_int(result, 2);
    result_end_group(result);
    result_begin_table(result, "t", NULL, b);
    result_row(result);
    result_put_text(result, "-1");
    result_put_int(result, 3);
    result_fact_int(result, "behind", NULL, 1);
    result_end_group(result);
    expect_form(result, show_csv, "file,part,x,block,y\n\"'=cmd()\",\"a,\"\"b\"\"\",1,2,\n\"'=cmd()\",,3,,-1\n");
}

static void csv_of_quantities(void **state)
{
    (void)state;
    static const struct quantity_kind kind = {"rate, of all", "MB/s", "bytes / time", false};
    struct result *result = result_new("test", NULL);
    result_quantity(result, NULL, &kind, NULL, "a", about(2, 0.5));
    expect_form(result, show_csv,
                "class,testname,what,settings,value,low,high,unit,repetitions,made\n"
                ",,\"rate, of all\",a,2,1.5,2.5,MB/s,1,bytes / time\n");
}

/* ---- what comes from files ---- */

static struct result *hostile_document(void)
{
    static const struct result_column columns[] = {{"t", .form = RESULT_TEXT}, {0}};
    struct result *result = result_new("test", HOSTILE);
    const struct result_axis x = {HOSTILE, .names = (const char *const[]){HOSTILE, "b"}, .name_count = 2},
                             y = {.label = HOSTILE};
    result_line(result, "%s", HOSTILE);
    result_fact_text(result, "f", HOSTILE, HOSTILE);
    result_begin_group(result, "g", "%s", HOSTILE);
    result_begin_table(result, "table", HOSTILE, columns);
    result_row(result);
    result_put_text(result, HOSTILE);
    result_end_group(result);
    result_note(result, RESULT_WARNING, "%s", HOSTILE);
    result_figure(result, HOSTILE, HOSTILE);
    result_begin_panel(result, &x, &y, 1, "%s", HOSTILE);
    result_begin_series(result, RESULT_BARS, "%s", HOSTILE);
    result_point(result, 0, 1, NAN, NAN);
    result_point(result, 1, NAN, NAN, NAN);
    result_point(result, INFINITY, -INFINITY, -INFINITY, INFINITY);
    result_finish(result);
    return result;
}

/* By xmllint, where it is there; balanced and without bare signs in any case. */
static void expect_xml(const char *svg)
{
    assert_null(strpbrk(svg, "\x1b\x01\xff"));
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    if (access("/usr/bin/xmllint", X_OK) != 0)
        return;
    FILE *pipe = popen("/usr/bin/xmllint --noout -", "w");
    assert_non_null(pipe);
    fputs(svg, pipe);
    assert_int_equal(pclose(pipe), 0);
}

static void hostile_texts(void **state)
{
    (void)state;
    struct result *result = hostile_document();
    char *text = shown(result, show_text), *csv = shown(result, show_csv), *svg = shown(result, show_svg);
    char *document = shown(result, show_document);
    assert_null(strpbrk(text, "\x1b\xff"));
    assert_non_null(strstr(text, "\\e[2J"));
    assert_non_null(strstr(csv, "\"\x1b[2J</text>&\"\"'"));
    expect_xml(svg);
    json_t *tree = shown_json(result);
    json_decref(tree);
    tree = parsed(document);
    json_decref(tree);
    free(text);
    free(csv);
    free(svg);
    free(document);
    result_free(result);
}

/* ---- figures ---- */

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

static void figure_of_a_document(void **state)
{
    (void)state;
    struct result *result = whole_document();
    char *svg = shown(result, show_svg), *again = shown(result, show_svg);
    assert_string_equal(svg, again);
    expect_xml(svg);
    assert_int_equal(count_of(svg, ">sequential</text>"), 1);  /* one legend */
    assert_int_equal(count_of(svg, ">rate (MB/s)</text>"), 1); /* one label for panels beside each other */
    assert_int_equal(count_of(svg, "<clipPath"), 2);
    assert_int_equal(count_of(svg, "<circle"), 2 * 6 + 1);
    assert_non_null(strstr(svg, "what it shows"));
    free(svg);
    free(again);
    result_free(result);
}

static void all_ways_to_draw(void **state)
{
    (void)state;
    static const char *const names[] = {"a name that is rather long", "b", "c"};
    struct result *result = result_new("test", "All ways to draw");
    for (int log = 0; log < 2; log++)
        for (int named = 0; named < 2; named++) {
            const struct result_axis x = {"x", .form = RESULT_INT, .names = named ? names : NULL,
                                          .name_count = named ? 3 : 0};
            const struct result_axis y = {"time", RESULT_NS, .log = log};
            result_begin_panel(result, &x, &y, 2, "panel %d %d", log, named);
            for (int draw = 0; draw < RESULT_DRAWS; draw++) {
                result_begin_series(result, (enum result_draw)draw, "way %d with a long name indeed", draw);
                for (int i = 0; i < 3; i++)
                    result_point(result, i, 1e3 * (i + 1) * (draw + 1), 0.5e3 * (i + 1), 9e3 * (i + 1));
            }
        }
    result_finish(result);
    char *svg = shown(result, show_svg);
    expect_xml(svg);
    assert_int_equal(count_of(svg, ">way 3 with a long name indeed</text>"), 1);
    free(svg);
    result_free(result);
}

static void figures_without_much(void **state)
{
    (void)state;
    const struct result_axis log = {"x", RESULT_BINARY, .log = true}, plain = {"", .from_zero = true};
    struct pl_error error;
    struct result *result = result_new("test", "Little");
    result_begin_panel(result, &log, &plain, 3, NULL);
    result_begin_panel(result, &log, &plain, 3, "no point");
    result_begin_series(result, RESULT_LINE, "a");
    result_begin_panel(result, &log, &log, 3, "none that can be drawn");
    result_begin_series(result, RESULT_LINE, "a");
    result_point(result, 0, 1, NAN, NAN);
    result_point(result, 1, -1, NAN, NAN);
    result_finish(result);
    assert_int_equal(show_plot(result, "/nonexistent/x.svg", &error), PL_E_UNSUPPORTED);
    char *svg = shown(result, show_svg);
    expect_xml(svg);
    free(svg);
    result_free(result);

    result = result_new("test", "One point");
    result_begin_panel(result, &log, &log, 1, NULL);
    result_begin_series(result, RESULT_LINE, "%s", "");
    result_point(result, 4096, 7, 6, 8);
    result_finish(result);
    svg = shown(result, show_svg);
    expect_xml(svg);
    assert_int_equal(count_of(svg, "<circle"), 1); /* and no legend */
    free(svg);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_a_document),
        cmocka_unit_test(json_of_a_document),
        cmocka_unit_test(csv_of_a_document),
        cmocka_unit_test(document_for_the_page),
        cmocka_unit_test(wide_tables_are_wrapped),
        cmocka_unit_test(too_wide_for_any_screen),
        cmocka_unit_test(notes_and_lines_are_wrapped),
        cmocka_unit_test(odd_values),
        cmocka_unit_test(empty_documents),
        cmocka_unit_test(tables_in_their_places),
        cmocka_unit_test(groups_that_differ),
        cmocka_unit_test(csv_of_quantities),
        cmocka_unit_test(hostile_texts),
        cmocka_unit_test(figure_of_a_document),
        cmocka_unit_test(all_ways_to_draw),
        cmocka_unit_test(figures_without_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
