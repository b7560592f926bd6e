#include "cli/suite_shell.h"

#include "base/blockfile.h"
#include "base/output.h"
#include "bench/iot/iot.h"
#include "cli/cli_outputs.h"
#include "measure/export.h"

#include <stdio.h>

pl_status suite_export_check(const struct suite_request *request, const struct spec *spec, struct pl_error *error)
{
    const struct cli_outputs outputs = {.results = spec->timings_path, .json = request->json, .csv = request->csv};
    for (size_t b = 0; b < spec->block_count; b++)
        output_reserve(iot_local_path(spec_text(&spec->blocks[b], "filename")), "a test file will be");
    return cli_outputs_check(&outputs, error);
}

size_t suite_export_count(const char *output)
{
    struct blockfile file;
    struct pl_error ignored;
    if (blockfile_open(output, &file, &ignored) != PL_OK)
        return 0;
    const size_t count = file.block_count;
    blockfile_close(&file);
    return count;
}

typedef pl_status exporter(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error);

static pl_status write_one(exporter *export, struct blockfile *file, const char *path, struct pl_error *error)
{
    FILE *stream;
    if (output_open(path, &stream, error) != PL_OK)
        return error->status;
    const pl_status status = export(file, 1, stream, error);
    return status == PL_OK ? output_finish(stream, error) : status;
}

pl_status suite_export(const struct suite_request *request, const char *output, size_t blocks_before,
                       struct pl_error *error)
{
    struct blockfile file;
    pl_status status = blockfile_open(output, &file, error);
    if (status != PL_OK)
        return status;
    struct blockfile ours = file; /* a window on this run's blocks; `file` keeps owning them */
    ours.blocks += blocks_before;
    ours.block_count -= blocks_before;
    if (request->json)
        status = write_one(export_json, &ours, request->json, error);
    if (status == PL_OK && request->csv)
        status = write_one(export_csv, &ours, request->csv, error);
    if (status == PL_OK)
        status = output_commit(error);
    blockfile_close(&file);
    return status;
}
