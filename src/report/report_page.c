/* Fills the template that web/ was built into: title, JSON, columns. */
#include "report/report.h"
#include "report/report_encode.h"
#include "report/report_payload.h"

#include <stdlib.h>
#include <string.h>

static const char TITLE[] = "<!--piolet:title-->", DATA[] = "<!--piolet:data-->";

static pl_status read_template(const char *path, struct text *text, struct pl_error *error)
{
    if (text_read_file(path, text, error) != PL_OK)
        return pl_within(error, "the page's template");
    if (!strstr(text_get(text), TITLE) || !strstr(text_get(text), DATA))
        return pl_fail(error, PL_E_FORMAT, "'%s' is not a template of the page", path);
    return PL_OK;
}

static pl_status put_data(const struct report_payload *payload, FILE *stream, struct pl_error *error)
{
    fputs("<script type=\"text/plain\" id=\"piolet-json\">", stream);
    pl_status status = report_encode(payload->json, payload->json_length, stream, error);
    fputs("</script>\n<script type=\"text/plain\" id=\"piolet-columns\">", stream);
    if (status == PL_OK)
        status = report_encode(payload->columns, payload->columns_length, stream, error);
    fputs("</script>", stream);
    return status;
}

pl_status report_write_page(struct report *report, const char *template_path, FILE *stream, struct pl_error *error)
{
    struct text template = {0};
    struct report_payload payload = {0};
    pl_status status = read_template(template_path, &template, error);
    if (status == PL_OK)
        status = report_payload_make(report, &payload, error);
    if (status == PL_OK) {
        const char *title = strstr(text_get(&template), TITLE), *data = strstr(text_get(&template), DATA);
        fwrite(template.data, 1, (size_t)(title - template.data), stream);
        report_escape(report->title, stream);
        title += strlen(TITLE);
        fwrite(title, 1, (size_t)(data - title), stream);
        status = put_data(&payload, stream, error);
        fputs(data + strlen(DATA), stream);
    }
    report_payload_clear(&payload);
    text_clear(&template);
    return status;
}
