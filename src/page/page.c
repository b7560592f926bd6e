/* Opens what the page is made of: block files, model files, and whatever else was named; and fills the template that
 * web/ was built into: title, JSON, columns. Data are deflated (zlib's format, as browsers open it), then base64: text
 * that can stand in any HTML. */
#include "page/page_parts.h"

#include "base/output.h"
#include "base/progress.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST /* what is compressed is not written to */
#include <zlib.h>

static const char MODEL_MARK[] = "piolet-model ";
static const char OBSERVED[] = "\nobserved\n";

static pl_status page_read_text(FILE *stream, const char *path, struct text *text, struct pl_error *error)
{
    char buffer[65536];
    size_t length;
    while ((length = fread(buffer, 1, sizeof buffer, stream)) > 0)
        text_append(text, buffer, length);
    if (ferror(stream))
        return pl_fail_errno(error, errno, "cannot read '%s'", path);
    return text->failed ? pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", path) : PL_OK;
}

/* The hash behind "end-steps LINES ", which names the model in results of replays. */
static void page_find_hash(const char *text, char hash[20])
{
    const char *line = strstr(text, "\nend-steps ");
    if (!line || sscanf(line, "\nend-steps %*s %19s", hash) != 1)
        hash[0] = '\0';
}

/* A model whose observed part is damaged is used without it. */
static pl_status page_parse_model(struct page_file *file, struct text *text, struct pl_error *error)
{
    page_find_hash(text_get(text), file->model_hash);
    if (model_read(file->path, text_get(text), &file->model, error) == PL_OK)
        return PL_OK;
    char *observed = text->data ? strstr(text->data, OBSERVED) : NULL;
    if (!observed)
        return error->status;
    struct pl_error again;
    observed[1] = '\0';
    if (model_read(file->path, text->data, &file->model, &again) != PL_OK)
        return error->status;
    snprintf(file->trouble, sizeof file->trouble, "%.400s; used without what was observed", error->text);
    return PL_OK;
}

static void page_open_model(struct page_file *file, FILE *stream)
{
    struct text text = {0};
    struct pl_error error;
    pl_status status = page_read_text(stream, file->path, &text, &error);
    if (status == PL_OK)
        status = page_parse_model(file, &text, &error);
    file->is_model = status == PL_OK;
    if (status != PL_OK)
        snprintf(file->trouble, sizeof file->trouble, "%s", error.text);
    text_clear(&text);
}

static void page_open_file(struct page_file *file)
{
    char start[sizeof MODEL_MARK] = "";
    struct pl_error error;
    output_reads(file->path);
    FILE *stream = fopen(file->path, "r");
    if (stream && fread(start, 1, sizeof start - 1, stream) == sizeof start - 1 && strcmp(start, MODEL_MARK) == 0) {
        rewind(stream);
        page_open_model(file, stream);
    } else if (blockfile_open(file->path, &file->blocks, &error) == PL_OK) {
        file->is_blocks = true;
    } else {
        snprintf(file->trouble, sizeof file->trouble, "%s", error.text);
    }
    if (stream)
        fclose(stream);
}

pl_status page_open(const char *const *paths, size_t count, struct report *ret_report, struct pl_error *error)
{
    size_t used = 0;
    *ret_report = (struct report){.files = calloc(count + 1, sizeof *ret_report->files), .title = "", .made = ""};
    if (!ret_report->files)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    ret_report->file_count = count;
    for (size_t i = 0; i < count; i++) {
        ret_report->files[i].path = paths[i];
        page_open_file(&ret_report->files[i]);
        assert(!ret_report->files[i].is_blocks || !ret_report->files[i].is_model);
        assert(ret_report->files[i].is_blocks || ret_report->files[i].is_model || *ret_report->files[i].trouble);
        used += ret_report->files[i].is_blocks || ret_report->files[i].is_model;
    }
    if (used)
        return PL_OK;
    const pl_status status = pl_fail(error, PL_E_INPUT, "%s",
                                     count ? ret_report->files[0].trouble : "no file is given");
    page_close(ret_report);
    return status;
}

void page_close(struct report *report)
{
    for (size_t i = 0; i < report->file_count; i++) {
        if (report->files[i].is_blocks)
            blockfile_close(&report->files[i].blocks);
        if (report->files[i].is_model)
            model_clear(&report->files[i].model);
    }
    free(report->files);
    *report = (struct report){0};
}

/* ---- text for HTML ---- */

enum { CHUNK = 3 * 16384, LEVEL = 6 };
static const char ENCODING[] = "compressing the page";

struct base64 {
    FILE *stream;
    unsigned char rest[3];
    size_t rest_count;
};

static void base64_put_three(FILE *stream, const unsigned char *from, size_t count)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned second = count > 1 ? from[1] : 0, third = count > 2 ? from[2] : 0;
    fputc(DIGITS[from[0] >> 2], stream);
    fputc(DIGITS[(from[0] & 3U) << 4 | second >> 4], stream);
    fputc(count > 1 ? DIGITS[(second & 15U) << 2 | third >> 6] : '=', stream);
    fputc(count > 2 ? DIGITS[third & 63U] : '=', stream);
}

static void base64_add(struct base64 *base64, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        base64->rest[base64->rest_count++] = bytes[i];
        if (base64->rest_count == 3) {
            base64_put_three(base64->stream, base64->rest, 3);
            base64->rest_count = 0;
        }
    }
}

static void base64_end(struct base64 *base64)
{
    assert(base64->rest_count < 3);
    if (base64->rest_count)
        base64_put_three(base64->stream, base64->rest, base64->rest_count);
}

pl_status page_encode(const void *bytes, size_t count, FILE *stream, struct pl_error *error)
{
    struct base64 base64 = {.stream = stream};
    unsigned char out[CHUNK];
    z_stream z = {0};
    if (deflateInit(&z, LEVEL) != Z_OK)
        return pl_fail(error, PL_E_NOMEM, "not enough memory to compress the report");
    const unsigned char *from = bytes;
    const double all = (double)count;
    int result = Z_OK;
    struct progress progress;
    progress_begin(&progress, PROGRESS_AUTO, 1, 1);
    progress_step(&progress, ENCODING, 1);
    while (result != Z_STREAM_END) {
        if (z.avail_in == 0 && count > 0) { /* zlib counts in 32 bits */
            z.next_in = from;
            z.avail_in = (unsigned)(count < (1U << 30) ? count : 1U << 30);
            from += z.avail_in;
            count -= z.avail_in;
        }
        z.next_out = out;
        z.avail_out = sizeof out;
        result = deflate(&z, count > 0 ? Z_NO_FLUSH : Z_FINISH);
        base64_add(&base64, out, sizeof out - z.avail_out);
        progress_part(&progress, ENCODING, all > 0 ? (double)z.total_in / all : 1);
    }
    assert(count == 0 && z.avail_in == 0); /* all of it is in the stream */
    base64_end(&base64);
    deflateEnd(&z);
    return PL_OK;
}

/* ---- the template ---- */

static const char TITLE[] = "<!--piolet:title-->", DATA[] = "<!--piolet:data-->";

static pl_status page_read_template(const char *path, struct text *text, struct pl_error *error)
{
    if (text_read_file(path, text, error) != PL_OK)
        return pl_within(error, "the page's template");
    const char *title = strstr(text_get(text), TITLE), *data = strstr(text_get(text), DATA);
    if (!title || !data || data < title)
        return pl_fail(error, PL_E_FORMAT, "'%s' is not a template of the page", path);
    return PL_OK;
}

static pl_status page_put_data(const struct page_payload *payload, FILE *stream, struct pl_error *error)
{
    fputs("<script type=\"text/plain\" id=\"piolet-json\">", stream);
    pl_status status = page_encode(payload->json, payload->json_length, stream, error);
    fputs("</script>\n<script type=\"text/plain\" id=\"piolet-columns\">", stream);
    if (status == PL_OK)
        status = page_encode(payload->columns, payload->columns_length, stream, error);
    fputs("</script>", stream);
    return status;
}

pl_status page_write_page(struct report *report, const char *template_path, FILE *stream, struct pl_error *error)
{
    struct text template = {0};
    struct page_payload payload = {0};
    pl_status status = page_read_template(template_path, &template, error);
    if (status == PL_OK)
        status = page_payload_make(report, &payload, error);
    if (status == PL_OK) {
        const char *title = strstr(text_get(&template), TITLE), *data = strstr(text_get(&template), DATA);
        assert(title && data > title);
        fwrite(template.data, 1, (size_t)(title - template.data), stream);
        utf8_put_markup(stream, report->title);
        title += strlen(TITLE);
        fwrite(title, 1, (size_t)(data - title), stream);
        status = page_put_data(&payload, stream, error);
        fputs(data + strlen(DATA), stream);
    }
    page_payload_clear(&payload);
    text_clear(&template);
    return status;
}
