/* Opens what the page is made of: block files, model files, and whatever else was named. */
#include "report/report.h"

#include "base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char MODEL_MARK[] = "piolet-model ";
static const char OBSERVED[] = "\nobserved\n";

static pl_status read_text(FILE *stream, const char *path, struct text *text, struct pl_error *error)
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
static void find_hash(const char *text, char hash[20])
{
    const char *line = strstr(text, "\nend-steps ");
    if (!line || sscanf(line, "\nend-steps %*s %19s", hash) != 1)
        hash[0] = '\0';
}

/* A model whose observed part is damaged is used without it. */
static pl_status parse_model(struct report_file *file, struct text *text, struct pl_error *error)
{
    find_hash(text_get(text), file->model_hash);
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

static void open_model(struct report_file *file, FILE *stream)
{
    struct text text = {0};
    struct pl_error error;
    pl_status status = read_text(stream, file->path, &text, &error);
    if (status == PL_OK)
        status = parse_model(file, &text, &error);
    file->is_model = status == PL_OK;
    if (status != PL_OK)
        snprintf(file->trouble, sizeof file->trouble, "%s", error.text);
    text_clear(&text);
}

static void open_file(struct report_file *file)
{
    char start[sizeof MODEL_MARK] = "";
    struct pl_error error;
    output_reads(file->path);
    FILE *stream = fopen(file->path, "r");
    if (stream && fread(start, 1, sizeof start - 1, stream) == sizeof start - 1 && strcmp(start, MODEL_MARK) == 0) {
        rewind(stream);
        open_model(file, stream);
    } else if (blockfile_open(file->path, &file->blocks, &error) == PL_OK) {
        file->is_blocks = true;
    } else {
        snprintf(file->trouble, sizeof file->trouble, "%s", error.text);
    }
    if (stream)
        fclose(stream);
}

pl_status report_open(const char *const *paths, size_t count, struct report *ret_report, struct pl_error *error)
{
    size_t used = 0;
    *ret_report = (struct report){.files = calloc(count + 1, sizeof *ret_report->files), .title = "", .made = ""};
    if (!ret_report->files)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    ret_report->file_count = count;
    for (size_t i = 0; i < count; i++) {
        ret_report->files[i].path = paths[i];
        open_file(&ret_report->files[i]);
        used += ret_report->files[i].is_blocks || ret_report->files[i].is_model;
    }
    if (used)
        return PL_OK;
    const pl_status status = pl_fail(error, PL_E_INPUT, "%s",
                                     count ? ret_report->files[0].trouble : "no file is given");
    report_close(ret_report);
    return status;
}

void report_close(struct report *report)
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
