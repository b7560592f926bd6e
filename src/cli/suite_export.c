#include "cli/suite_shell.h"

#include "base/blockfile.h"
#include "measure/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
    FILE *stream = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!stream)
        return pl_fail_errno(error, errno, "opening '%s'", path);
    pl_status status = export(file, 1, stream, error);
    const int flushed = stream == stdout ? fflush(stream) : fclose(stream);
    if (status == PL_OK && flushed != 0)
        status = pl_fail_errno(error, errno, "writing '%s'", path);
    return status;
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
    blockfile_close(&file);
    return status;
}
