#include "cli/suite_shell.h"

#include "base/blockfile.h"
#include "base/path.h"
#include "measure/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static pl_status check_one(const char *option, const char *path, const struct suite_request *request,
                           const struct spec *spec, struct pl_error *error)
{
    if (!path)
        return PL_OK;
    const char *what = path_same(path, spec->timings_path) ? "the results go"
                       : path_same(path, request->path)    ? "the keyword file is"
                                                           : NULL;
    for (size_t b = 0; b < spec->block_count && !what; b++)
        if (path_same(path, spec_text(&spec->blocks[b], "filename")))
            what = "a test file will be";
    return what ? pl_fail(error, PL_E_USAGE, "%s: '%s' is where %s; allowed: another file", option, path, what) : PL_OK;
}

pl_status suite_export_check(const struct suite_request *request, const struct spec *spec, struct pl_error *error)
{
    const pl_status status = check_one("--json", request->json, request, spec, error);
    return status == PL_OK ? check_one("--csv", request->csv, request, spec, error) : status;
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
