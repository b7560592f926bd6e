/* The page without scripts: what was measured, every warning, and the tables and SVG plots of the analysis tools. */
#include "base/utf8.h"
#include "lab/show/plot.h"
#include "lab/show/show.h"
#include "model/model.h"
#include "page/page_parts.h"
#include "page/page_tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char HEAD[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; border-top: 1px solid #8886; padding-top: "
    "1rem; }\n"
    "pre { font: 12.5px/1.4 ui-monospace, monospace; overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-size: 13px; } td, th { padding: .15rem .7rem .15rem 0; text-align: left;\n"
    "vertical-align: top; } th { font-weight: 600; } .wide { overflow-x: auto; }\n"
    "figure { margin: 1rem 0; overflow-x: auto; } figure svg { max-width: 100%; height: auto; background: #fff; }\n"
    "@media print { body { max-width: none; } figure, table { break-inside: avoid; } }\n"
    "</style>\n";

static void plain_put(FILE *stream, const char *before, const char *text, const char *after)
{
    fputs(before, stream);
    utf8_put_markup(stream, text ? text : "");
    fputs(after, stream);
}

/* ---- what was measured ---- */

static void plain_put_block_row(const struct page_file *file, const struct blockfile_block *block, FILE *stream)
{
    static const char *const FACTS[] = {"nprocs", "mpi_library", "mpiio", "filesystem", "hostname", "timestamp"};
    plain_put(stream, "<tr><td>", file->path, "");
    plain_put(stream, "<td>", block->class_name, "");
    plain_put(stream, "<td>", block->testname, "");
    for (size_t i = 0; i < sizeof FACTS / sizeof FACTS[0]; i++)
        plain_put(stream, "<td>", blockfile_fact_of(block, FACTS[i]), "");
    fprintf(stream, "<td>%zu%s</tr>\n", block->set_count, block->complete ? "" : ", not complete");
}

static void plain_put_contents(const struct report *report, FILE *stream)
{
    fputs("<h2>What was measured</h2>\n<div class=\"wide\"><table>\n<tr><th>file<th>class<th>test<th>ranks<th>MPI<th>"
          "MPI-IO<th>file system<th>host<th>when<th>sets</tr>\n",
          stream);
    for (size_t f = 0; f < report->file_count; f++) {
        const struct page_file *file = &report->files[f];
        for (size_t b = 0; b < file->blocks.block_count; b++)
            plain_put_block_row(file, &file->blocks.blocks[b], stream);
        if (file->is_model) {
            plain_put(stream, "<tr><td>", file->path, "<td>model");
            plain_put(stream, "<td>", file->model.program, "");
            fprintf(stream, "<td>%lld</tr>\n", (long long)file->model.ranks);
        }
    }
    fputs("</table></div>\n", stream);
}

/* ---- warnings ---- */

static void plain_put_set_troubles(const struct blockfile_set *set, FILE *stream)
{
    for (size_t i = 0; i < set->warning_count; i++)
        plain_put(stream, "<li>", set->warnings[i], "\n");
    for (size_t i = 0; i < set->error_count; i++) {
        fprintf(stream, "<li>rank %d: ", set->errors[i].rank);
        plain_put(stream, "", set->errors[i].status, "");
        plain_put(stream, ": ", set->errors[i].text, "\n");
    }
}

static void plain_put_warnings(const struct report *report, FILE *stream)
{
    fputs("<h2>Warnings</h2>\n<ul>\n", stream);
    for (size_t f = 0; f < report->file_count; f++) {
        const struct page_file *file = &report->files[f];
        if (file->trouble[0])
            plain_put(stream, "<li>", file->trouble, "\n");
        for (size_t i = 0; i < file->blocks.warning_count; i++)
            plain_put(stream, "<li>", file->blocks.warnings[i], "\n");
        for (size_t b = 0; b < file->blocks.block_count; b++) {
            const struct blockfile_block *block = &file->blocks.blocks[b];
            for (size_t i = 0; i < block->fact_count; i++)
                if (strcmp(block->facts[i].key, "warning") == 0)
                    plain_put(stream, "<li>", block->facts[i].value, "\n");
            for (size_t s = 0; s < block->set_count; s++)
                plain_put_set_troubles(&block->sets[s], stream);
        }
    }
    fputs("</ul>\n", stream);
}

/* ---- tables and plots ---- */

/* A file without a name into which tools draw one plot after the other. */
struct easel {
    FILE *svg;
    char path[32]; /* of its descriptor */
};

static pl_status easel_open(struct easel *easel, struct pl_error *error)
{
    easel->svg = plot_temporary(error);
    if (!easel->svg)
        return error->status;
    snprintf(easel->path, sizeof easel->path, "/dev/fd/%d", fileno(easel->svg));
    return PL_OK;
}

static bool easel_clear(const struct easel *easel)
{
    const int fd = fileno(easel->svg);
    return lseek(fd, 0, SEEK_SET) == 0 && ftruncate(fd, 0) == 0;
}

/* The SVG that was drawn, from its <svg> element on, without what stands before it in a file. */
static void plain_put_svg(const struct easel *easel, const char *label, FILE *stream)
{
    char buffer[65536];
    ssize_t length;
    off_t at = 0;
    bool begun = false;
    if (lseek(fileno(easel->svg), 0, SEEK_END) <= 0)
        return; /* the tool draws nothing */
    plain_put(stream, "<figure aria-label=\"", label, "\">\n");
    while ((length = pread(fileno(easel->svg), buffer, sizeof buffer - 1, at)) > 0) {
        buffer[length] = '\0';
        at += length;
        const char *from = begun ? buffer : strstr(buffer, "<svg");
        if (from)
            fwrite(from, 1, (size_t)(length - (from - buffer)), stream);
        begun = begun || from;
    }
    fputs("\n</figure>\n", stream);
}

static void plain_put_tool(const struct page_tool *tool, const struct page_file *file, const struct easel *easel,
                           FILE *stream)
{
    char *text = NULL;
    size_t length = 0;
    struct pl_error error;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return;
    const bool ready = easel_clear(easel);
    const pl_status status = page_tool_run(tool, file, memory, NULL, ready ? easel->path : NULL, &error);
    fclose(memory);
    if (status != PL_E_INPUT) {
        plain_put(stream, "<h2>", tool->heading, "");
        plain_put(stream, " <small>", file->path, "</small></h2>\n");
        plain_put_svg(easel, tool->heading, stream);
        plain_put(stream, "<pre>", text, "</pre>\n");
        if (status != PL_OK)
            plain_put(stream, "<p>", error.text, "</p>\n");
    }
    free(text);
}

static void plain_put_bench(const struct bench *bench, const struct page_file *file, const struct easel *easel,
                            FILE *stream)
{
    struct blockfile part = page_blocks_of(file, bench);
    struct pl_error error;
    struct result *result = NULL;
    char *text = NULL;
    size_t length = 0;
    const pl_status status = page_result_of(&part, bench, &result, &error);
    if (status != PL_E_INPUT) {
        plain_put(stream, "<h2>", bench->name, ": ");
        plain_put(stream, "", bench->summary, "");
        plain_put(stream, " <small>", file->path, "</small></h2>\n");
    }
    if (status == PL_OK && result->panel_count && easel_clear(easel) && show_plot(result, easel->path, &error) == PL_OK)
        plain_put_svg(easel, bench->name, stream);
    FILE *memory = status == PL_OK ? open_memstream(&text, &length) : NULL;
    if (memory) {
        show_text(result, memory);
        fclose(memory);
        plain_put(stream, "<pre>", text, "</pre>\n");
    }
    if (status != PL_OK && status != PL_E_INPUT)
        plain_put(stream, "<p>", error.text, "</p>\n");
    free(text);
    result_free(result);
    free(part.blocks);
}

static void plain_put_model(const struct page_file *file, const struct easel *easel, FILE *stream)
{
    struct text words = {0}, text = {0};
    struct pl_error error;
    model_words(&file->model, &words);
    model_write(&file->model, true, &text);
    plain_put(stream, "<h2>I/O phases of ", file->model.program, "</h2>\n");
    plain_put(stream, "<p>", text_get(&words), "</p>\n");
    if (easel_clear(easel) && model_plot(&file->model, easel->path, &error) == PL_OK)
        plain_put_svg(easel, "process, tick and offset of every access", stream);
    plain_put(stream, "<pre>", text_get(&text), "</pre>\n");
    text_clear(&words);
    text_clear(&text);
}

pl_status page_write_plain(struct report *report, FILE *stream, struct pl_error *error)
{
    struct easel easel;
    if (easel_open(&easel, error) != PL_OK)
        return pl_within(error, "making a file for plots");
    fputs(HEAD, stream);
    plain_put(stream, "<title>", report->title, "</title>\n");
    plain_put(stream, "<h1>", report->title, "</h1>\n");
    plain_put(stream, "<p>Made by piolet " PIOLET_VERSION ", ", report->made, ".</p>\n");
    plain_put_warnings(report, stream);
    plain_put_contents(report, stream);
    struct progress progress;
    page_progress_begin(report, &progress);
    for (size_t f = 0; f < report->file_count; f++) {
        progress_step(&progress, report->files[f].path, page_weight_of(&report->files[f]));
        for (const struct page_tool *tool = PAGE_TOOLS; tool->name; tool++)
            if (page_tool_applies(tool, &report->files[f]))
                plain_put_tool(tool, &report->files[f], &easel, stream);
        for (const struct bench *const *bench = BENCHES; *bench; bench++)
            plain_put_bench(*bench, &report->files[f], &easel, stream);
    }
    for (size_t f = 0; f < report->file_count; f++)
        if (report->files[f].is_model)
            plain_put_model(&report->files[f], &easel, stream);
    fclose(easel.svg);
    return PL_OK;
}
