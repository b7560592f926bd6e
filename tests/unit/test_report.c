/* proves: IOT-30 IOT-33
 * What a page carries: text of result files inside of HTML and JSON, numbers in columns, files that hold little or
 * nothing. It would fail if a label could end the script that it stands in, if a number came back other than it went
 * in, or if an empty file took the page with it. */
#include "base/utf8.h"
#include "page/page_parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>
#include <zlib.h>

static const char HOSTILE[] = "</script><script>alert('1')</script> <!--piolet:data--> & \"quoted\"";

static struct pl_error error;
static char folder[] = "/tmp/piolet-report-test.XXXXXX";
static char path[64]; /* of a file there */

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *stream = fopen(in_folder(name), "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

/* A head, and what `sets` adds. */
static void write_blocks(const char *name, void (*sets)(struct blockfile_writer *))
{
    struct blockfile_writer *writer;
    unlink(in_folder(name));
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    blockfile_begin(writer, "Lowlevel", "single");
    blockfile_fact(writer, "nprocs", "1");
    blockfile_fact(writer, "hostname", "%s", HOSTILE);
    assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
    if (sets)
        sets(writer);
    assert_int_equal(blockfile_end(writer, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* ---- text ---- */

static void markup_becomes_text(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    utf8_put_markup(stream, "</script a=\"1\" b='2'>&\x01\x1b\t\n\xc3\xa6\xff");
    fclose(stream);
    assert_string_equal(
        text, "&lt;/script a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;\xef\xbf\xbd\xef\xbf\xbd\t\n\xc3\xa6\xef\xbf\xbd");
    free(text);
}

/* The bytes behind base64 and zlib, and a zero; fails on any character that HTML could take for its own. */
static char *decode(const char *text, size_t count, size_t *ret_length)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *packed = calloc(count + 4, 1);
    uLongf length = 1 << 20;
    char *bytes = calloc(length + 1, 1);
    size_t used = 0;
    unsigned bits = 0;
    assert_int_equal(count % 4, 0);
    for (size_t i = 0; i < count && text[i] != '='; i++) {
        const char *digit = strchr(DIGITS, text[i]);
        assert_true(digit && *digit);
        bits = bits << 6 | (unsigned)(digit - DIGITS);
        if (i % 4)
            packed[used++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    assert_int_equal(uncompress((Bytef *)bytes, &length, packed, used), Z_OK);
    free(packed);
    *ret_length = length;
    return bytes;
}

static void bytes_come_back(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 3, 4, 200000};
    unsigned char *bytes = malloc(200000);
    for (size_t i = 0; i < 200000; i++)
        bytes[i] = (unsigned char)(i * i >> 3);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char *text = NULL;
        size_t count = 0, length = 0;
        FILE *stream = open_memstream(&text, &count);
        assert_int_equal(page_encode(bytes, lengths[i], stream, &error), PL_OK);
        fclose(stream);
        char *back = decode(text, count, &length);
        assert_int_equal(length, lengths[i]);
        assert_memory_equal(back, bytes, length);
        free(back);
        free(text);
    }
    free(bytes);
}

/* ---- columns ---- */

/* Where [BYTE, COUNT, WIDTH] says, after one byte that is in the way. */
static void put_column(const double *values, size_t count, int64_t ret_place[3], char *ret_bytes, size_t room)
{
    char *text = NULL, *bytes = NULL;
    size_t length = 0, byte_count = 0;
    struct json json = {.stream = open_memstream(&text, &length)};
    struct page_columns columns = {.stream = open_memstream(&bytes, &byte_count), .length = 1};
    fputc('x', columns.stream);
    json_object_begin(&json, NULL);
    page_column_put(&columns, &json, "column", values, count);
    json_object_end(&json);
    fclose(json.stream);
    fclose(columns.stream);
    json_t *tree = json_loads(text, 0, NULL);
    for (size_t i = 0; i < 3; i++)
        ret_place[i] = json_integer_value(json_array_get(json_object_get(tree, "column"), i));
    assert_int_equal(columns.length, byte_count);
    assert_int_equal(byte_count, ret_place[0] + ret_place[1] * ret_place[2]);
    assert_true(byte_count <= room);
    memcpy(ret_bytes, bytes, byte_count);
    json_decref(tree);
    free(text);
    free(bytes);
}

static void numbers_come_back(void **state)
{
    (void)state;
    const double whole[] = {0, 7, UINT32_MAX};
    const double others[][4] = {{(double)UINT32_MAX + 1, 9007199254740991.0, 0, 1},
                                {-1, 0, 0, 0},
                                {0.5, 0, 0, 0},
                                {NAN, INFINITY, -INFINITY, 1}};
    char bytes[64];
    int64_t place[3];
    put_column(whole, 3, place, bytes, sizeof bytes);
    assert_true(place[0] == 8 && place[1] == 3 && place[2] == 4);
    uint32_t narrow[3];
    memcpy(narrow, bytes + 8, sizeof narrow);
    assert_true(narrow[0] == 0 && narrow[1] == 7 && narrow[2] == UINT32_MAX);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        put_column(others[i], 4, place, bytes, sizeof bytes);
        assert_true(place[0] == 8 && place[1] == 4 && place[2] == 8);
        assert_memory_equal(bytes + 8, others[i], sizeof others[i]);
    }
    put_column(NULL, 0, place, bytes, sizeof bytes);
    assert_int_equal(place[1], 0);
}

/* ---- payload, page ---- */

static void two_sets(struct blockfile_writer *writer)
{
    const int64_t times[] = {5, INT64_C(1) << 52};
    blockfile_set(writer);
    blockfile_param(writer, "filesize_bytes", "nan");
    blockfile_param(writer, "blocksize_bytes", "inf");
    blockfile_warning(writer, HOSTILE);
    blockfile_series(writer, 0, "w", "ns", 2);
    blockfile_values(writer, times, 2);
    assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
    blockfile_set(writer);
    blockfile_series(writer, 0, "w", "ns", 0);
    assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
}

static json_t *payload_of(struct report *report, struct page_payload *ret_payload)
{
    json_error_t wrong;
    assert_int_equal(page_payload_make(report, ret_payload, &error), PL_OK);
    json_t *tree = json_loadb(ret_payload->json, ret_payload->json_length, 0, &wrong);
    if (!tree)
        fail_msg("not JSON: %s", wrong.text);
    return tree;
}

static const json_t *at(const json_t *array, size_t i, const char *key)
{
    return json_object_get(json_array_get(array, i), key);
}

static void open_two_sets(struct report *ret_report)
{
    static char name[64]; /* the report keeps it */
    write_blocks("sets.out", two_sets);
    snprintf(name, sizeof name, "%s", path);
    const char *const names[] = {name};
    assert_int_equal(page_open(names, 1, ret_report, &error), PL_OK);
    ret_report->title = HOSTILE;
}

/* Texts that spell numbers which are none stay texts; derived numbers that are none are null, or the tree is no JSON.
 */
static void payload_is_whole(void **state)
{
    (void)state;
    struct report report;
    struct page_payload payload;
    open_two_sets(&report);
    json_t *tree = payload_of(&report, &payload);
    assert_string_equal(json_string_value(json_object_get(tree, "title")), HOSTILE);
    assert_int_equal(json_integer_value(json_object_get(tree, "samples")), 2);
    const json_t *sets = at(at(json_object_get(tree, "files"), 0, "blocks"), 0, "sets");
    assert_int_equal(json_array_size(sets), 2);
    const json_t *param = json_array_get(at(sets, 0, "params"), 0);
    assert_string_equal(json_string_value(json_array_get(param, 1)), "nan");
    assert_string_equal(json_string_value(json_array_get(at(sets, 0, "warnings"), 0)), HOSTILE);
    const json_t *sums = at(at(sets, 0, "series"), 0, "sums");
    double values[2];
    assert_int_equal(json_integer_value(json_array_get(sums, 2)), 8);
    memcpy(values, payload.columns + json_integer_value(json_array_get(sums, 0)), sizeof values);
    assert_true(values[0] == 5 && values[1] == 0x1p52);
    assert_int_equal(json_integer_value(at(at(sets, 1, "series"), 0, "count")), 0);
    json_decref(tree);
    page_payload_clear(&payload);
    page_close(&report);
}

/* Beside a file that can be used, others are told; alone, none is a page. */
static void empty_files(void **state)
{
    (void)state;
    char names[3][64];
    struct report report;
    struct page_payload payload;
    write_file("empty.out", "");
    snprintf(names[0], sizeof names[0], "%s", path);
    snprintf(names[1], sizeof names[1], "%s", in_folder("absent.out"));
    write_blocks("head.out", NULL);
    snprintf(names[2], sizeof names[2], "%s", path);
    const char *const list[] = {names[0], names[1], names[2]};
    assert_int_equal(page_open(list, 2, &report, &error), PL_E_INPUT);
    assert_int_equal(page_open(list, 0, &report, &error), PL_E_INPUT);
    assert_int_equal(page_open(list, 3, &report, &error), PL_OK);
    json_t *tree = payload_of(&report, &payload);
    const json_t *files = json_object_get(tree, "files");
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(json_string_value(at(files, i, "kind")), "none");
        assert_true(strlen(json_string_value(at(files, i, "trouble"))) > 0);
        assert_int_equal(json_array_size(at(files, i, "blocks")), 0);
    }
    assert_string_equal(json_string_value(at(files, 2, "kind")), "blocks");
    assert_int_equal(json_array_size(at(at(files, 2, "blocks"), 0, "sets")), 0);
    assert_int_equal(payload.columns_length, 0);
    json_decref(tree);
    page_payload_clear(&payload);
    page_close(&report);
}

static void page_stays_whole(void **state)
{
    (void)state;
    char *page = NULL;
    size_t length = 0, json_length = 0;
    struct report report;
    open_two_sets(&report);
    FILE *stream = open_memstream(&page, &length);
    write_file("no-template.html", "<title>another page</title>");
    assert_int_equal(page_write_page(&report, path, stream, &error), PL_E_FORMAT);
    assert_int_equal(page_write_page(&report, in_folder("absent.html"), stream, &error), PL_E_NO_SUCH_FILE);
    write_file("template.html", "<title><!--piolet:title--></title><!--piolet:data-->END");
    assert_int_equal(page_write_page(&report, path, stream, &error), PL_OK);
    fclose(stream);
    assert_int_equal(count_of(page, "</script>"), 2); /* of the JSON and of the columns */
    assert_int_equal(count_of(page, "<!--"), 0);
    assert_non_null(strstr(page, "<title>&lt;/script&gt;"));
    assert_string_equal(page + length - 3, "END");
    const char *data = strstr(page, "id=\"piolet-json\">") + 17;
    char *json = decode(data, strcspn(data, "<"), &json_length);
    json_t *tree = json_loadb(json, json_length, 0, NULL);
    assert_non_null(tree);
    json_decref(tree);
    free(json);
    free(page);
    page_close(&report);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"sets.out", "empty.out",        "head.out",
                                        "page.out", "no-template.html", "template.html"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(in_folder(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_becomes_text), cmocka_unit_test(bytes_come_back), cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(payload_is_whole),    cmocka_unit_test(empty_files),     cmocka_unit_test(page_stays_whole),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
