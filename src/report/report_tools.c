#include "report/report_tools.h"

#include "bench/beff/beff_analyze.h"
#include "bench/beffio/beffio_report.h"
#include "bench/gpfs/gpfs_analysis.h"
#include "bench/piobench/piobench_analysis.h"
#include "measure/analysis_tools.h"

#include <stdlib.h>
#include <string.h>

const struct report_tool REPORT_TOOLS[] = {
    {.name = "allav", .heading = "Rates by file size and block size", .class_name = "Lowlevel", .run = analysis_allav},
    {.name = "distribution",
     .heading = "Distributions of times",
     .class_name = "Lowlevel",
     .run = analysis_distribution,
     .plain_only = true},
    {.name = "rawdata", .heading = "Raw times", .class_name = "Lowlevel", .run = analysis_rawdata, .plain_only = true},
    {.name = "kernel", .heading = "Kernels", .class_name = "Kernel", .run = analysis_kernel},
    {.name = "beff", .heading = "b_eff", .class_name = "Beff", .run = beff_analyze},
    {.name = "beffio", .heading = "b_eff_io", .class_name = "beffio", .run = beffio_analyze},
    {.name = "piobench",
     .heading = "Algorithms of collective I/O (PIOBENCH)",
     .class_name = "Piobench",
     .run = piobench_analysis},
    {.name = "gpfs", .heading = "The MPI-IO/GPFS benchmarks", .class_name = "Gpfs", .run = gpfs_analysis},
    {0}};

static bool takes(const struct report_tool *tool, const struct blockfile_block *block)
{
    return strcmp(tool->class_name, block->class_name) == 0;
}

bool report_tool_applies(const struct report_tool *tool, const struct report_file *file)
{
    for (size_t i = 0; file->is_blocks && i < file->blocks.block_count; i++)
        if (takes(tool, &file->blocks.blocks[i]))
            return true;
    return false;
}

pl_status report_tool_run(const struct report_tool *tool, const struct report_file *file, FILE *text, FILE *json,
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
        if (takes(tool, &file->blocks.blocks[i]))
            part.blocks[part.block_count++] = file->blocks.blocks[i];
    const pl_status status = tool->run(&request, &input, error);
    free(part.blocks);
    return status;
}
