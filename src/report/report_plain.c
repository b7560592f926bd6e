/* The page without scripts: what was measured, every warning, and the tables and SVG plots of the analysis tools. */
#include "model/model_plot.h"

#include "base/interrupt.h"
#include "base/remove.h"
#include "report/report.h"
#include "report/report_encode.h"
#include "report/report_tools.h"

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

static void put(FILE *stream, const char *before, const char *text, const char *after)
{
    fputs(before, stream);
    report_escape(text ? text : "", stream);
    fputs(after, stream);
}

/* ---- what was measured ---- */

static void put_block_row(const struct report_file *file, const struct blockfile_block *block, FILE *stream)
{
    static const char *const FACTS[] = {"nprocs", "mpi_library", "mpiio", "filesystem", "hostname", "timestamp"};
    put(stream, "<tr><td>", file->path, "");
    put(stream, "<td>", block->class_name, "");
    put(stream, "<td>", block->testname, "");
    for (size_t i = 0; i < sizeof FACTS / sizeof FACTS[0]; i++)
        put(stream, "<td>", blockfile_fact_of(block, FACTS[i]), "");
    fprintf(stream, "<td>%zu%s</tr>\n", block->set_count, block->complete ? "" : ", not complete");
}

static void put_contents(const struct report *report, FILE *stream)
{
    fputs("<h2>What was measured</h2>\n<div class=\"wide\"><table>\n<tr><th>file<th>class<th>test<th>ranks<th>MPI<th>"
          "MPI-IO<th>file system<th>host<th>when<th>sets</tr>\n",
          stream);
    for (size_t f = 0; f < report->file_count; f++) {
        const struct report_file *file = &report->files[f];
        for (size_t b = 0; b < file->blocks.block_count; b++)
            put_block_row(file, &file->blocks.blocks[b], stream);
        if (file->is_model) {
            put(stream, "<tr><td>", file->path, "<td>model");
            put(stream, "<td>", file->model.program, "");
            fprintf(stream, "<td>%lld</tr>\n", (long long)file->model.ranks);
        }
    }
    fputs("</table></div>\n", stream);
}

/* ---- warnings ---- */

static void put_set_troubles(const struct blockfile_set *set, FILE *stream)
{
    for (size_t i = 0; i < set->warning_count; i++)
        put(stream, "<li>", set->warnings[i], "\n");
    for (size_t i = 0; i < set->error_count; i++) {
        fprintf(stream, "<li>rank %d: ", set->errors[i].rank);
        put(stream, "", set->errors[i].status, "");
        put(stream, ": ", set->errors[i].text, "\n");
    }
}

static void put_warnings(const struct report *report, FILE *stream)
{
    fputs("<h2>Warnings</h2>\n<ul>\n", stream);
    for (size_t f = 0; f < report->file_count; f++) {
        const struct report_file *file = &report->files[f];
        if (file->trouble[0])
            put(stream, "<li>", file->trouble, "\n");
        for (size_t i = 0; i < file->blocks.warning_count; i++)
            put(stream, "<li>", file->blocks.warnings[i], "\n");
        for (size_t b = 0; b < file->blocks.block_count; b++) {
            const struct blockfile_block *block = &file->blocks.blocks[b];
            for (size_t i = 0; i < block->fact_count; i++)
                if (strcmp(block->facts[i].key, "warning") == 0)
                    put(stream, "<li>", block->facts[i].value, "\n");
            for (size_t s = 0; s < block->set_count; s++)
                put_set_troubles(&block->sets[s], stream);
        }
    }
    fputs("</ul>\n", stream);
}

/* ---- tables and plots ---- */

/* The SVG in `path`, from its <svg> element on, without what stands before it in a file. */
static void put_svg(const char *path, const char *label, FILE *stream)
{
    char buffer[65536];
    size_t length;
    bool begun = false;
    FILE *svg = fopen(path, "r");
    if (!svg)
        return;
    put(stream, "<figure aria-label=\"", label, "\">\n");
    while ((length = fread(buffer, 1, sizeof buffer - 1, svg)) > 0) {
        buffer[length] = '\0';
        const char *from = begun ? buffer : strstr(buffer, "<svg");
        if (from)
            fwrite(from, 1, length - (size_t)(from - buffer), stream);
        begun = begun || from;
    }
    fputs("\n</figure>\n", stream);
    fclose(svg);
}

static void put_tool(const struct report_tool *tool, const struct report_file *file, const char *plot, FILE *stream)
{
    char *text = NULL;
    size_t length = 0;
    struct pl_error error;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return;
    unlink(plot);
    const pl_status status = report_tool_run(tool, file, memory, NULL, plot, &error);
    fclose(memory);
    if (status != PL_E_INPUT) {
        put(stream, "<h2>", tool->heading, "");
        put(stream, " <small>", file->path, "</small></h2>\n");
        put_svg(plot, tool->heading, stream);
        put(stream, "<pre>", text, "</pre>\n");
        if (status != PL_OK)
            put(stream, "<p>", error.text, "</p>\n");
    }
    free(text);
}

static void put_model(const struct report_file *file, const char *plot, FILE *stream)
{
    struct text words = {0}, text = {0};
    struct pl_error error;
    model_words(&file->model, &words);
    model_write(&file->model, true, &text);
    put(stream, "<h2>I/O phases of ", file->model.program, "</h2>\n");
    put(stream, "<p>", text_get(&words), "</p>\n");
    unlink(plot);
    if (model_plot(&file->model, plot, &error) == PL_OK)
        put_svg(plot, "process, tick and offset of every access", stream);
    put(stream, "<pre>", text_get(&text), "</pre>\n");
    text_clear(&words);
    text_clear(&text);
}

pl_status report_write_plain(struct report *report, FILE *stream, struct pl_error *error)
{
    const char *folder = getenv("TMPDIR");
    char directory[4096], plot[4200];
    snprintf(directory, sizeof directory, "%s/piolet-report.XXXXXX", folder && *folder ? folder : "/tmp");
    if (!interrupt_mkdtemp(directory))
        return pl_fail_errno(error, errno, "cannot make a folder for plots, '%s'", directory);
    snprintf(plot, sizeof plot, "%s/plot.svg", directory);
    fputs(HEAD, stream);
    put(stream, "<title>", report->title, "</title>\n");
    put(stream, "<h1>", report->title, "</h1>\n");
    put(stream, "<p>Made by piolet " PIOLET_VERSION ", ", report->made, ".</p>\n");
    put_warnings(report, stream);
    put_contents(report, stream);
    for (size_t f = 0; f < report->file_count; f++)
        for (const struct report_tool *tool = REPORT_TOOLS; tool->name; tool++)
            if (report_tool_applies(tool, &report->files[f]))
                put_tool(tool, &report->files[f], plot, stream);
    for (size_t f = 0; f < report->file_count; f++)
        if (report->files[f].is_model)
            put_model(&report->files[f], plot, stream);
    remove_quietly(directory);
    interrupt_keep(directory);
    return PL_OK;
}
