#include "page/page_tools.h"

#include "bench/bench.h"
#include "lab/show/analysis_tools.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LOWLEVEL, KERNEL }; /* in the order of the benchmark's classes */

const struct page_tool PAGE_TOOLS[] = {
    {.name = "allav", .heading = "Rates by file size and block size", .class_number = LOWLEVEL, .run = analysis_allav},
    {.name = "distribution",
     .heading = "Distributions of times",
     .class_number = LOWLEVEL,
     .run = analysis_distribution,
     .plain_only = true},
    {.name = "rawdata", .heading = "Raw times", .class_number = LOWLEVEL, .run = analysis_rawdata, .plain_only = true},
    {.name = "kernel", .heading = "Kernels", .class_number = KERNEL, .run = analysis_kernel},
    {0}};

static bool page_tool_takes(const struct page_tool *tool, const struct blockfile_block *block)
{
    const struct bench *bench = bench_find("run");
    assert(bench && bench->classes[tool->class_number]);
    return strcmp(bench->classes[tool->class_number], block->class_name) == 0;
}

bool page_tool_applies(const struct page_tool *tool, const struct page_file *file)
{
    for (size_t i = 0; file->is_blocks && i < file->blocks.block_count; i++)
        if (page_tool_takes(tool, &file->blocks.blocks[i]))
            return true;
    return false;
}

pl_status page_tool_run(const struct page_tool *tool, const struct page_file *file, FILE *text, FILE *json,
                        const char *plot, struct pl_error *error)
{
    struct blockfile part = file->blocks; /* borrows everything but the list of its blocks */
    const struct analysis_request request = {.to = INT64_MAX - 1, .text = text, .json = json, .plot = plot};
    const struct analysis_input input = {.files = &part, .file_count = 1};
    part.blocks = malloc((file->blocks.block_count + 1) * sizeof *part.blocks);
    part.block_count = 0;
    if (!part.blocks)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    for (size_t i = 0; i < file->blocks.block_count; i++)
        if (page_tool_takes(tool, &file->blocks.blocks[i]))
            part.blocks[part.block_count++] = file->blocks.blocks[i];
    const pl_status status = tool->run(&request, &input, error);
    free(part.blocks);
    return status;
}
