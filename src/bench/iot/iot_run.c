/* What tests of every class use while they run. */
#include "base/units.h"
#include "bench/iot/iot.h"
#include "measure/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void add_note(struct text *notes, const char *key, const char *format, va_list args)
{
    char value[1024];
    vsnprintf(value, sizeof value, format, args);
    if (key)
        text_format(notes, "%s ", key);
    text_add_escaped(notes, value);
    text_add(notes, "\n");
}

void iot_param(struct iot_run *run, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(&run->params, key, format, args);
    va_end(args);
}

void iot_warn(struct iot_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(&run->warnings, NULL, format, args);
    va_end(args);
}

void iot_note_hints(struct iot_run *run, MPI_File file)
{
    MPI_Info info;
    int count = 0;
    if (MPI_File_get_info(file, &info) != MPI_SUCCESS)
        return;
    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        if (!found)
            continue;
        text_format(&run->hints_used, "%s ", key);
        text_add_escaped(&run->hints_used, value);
        text_add(&run->hints_used, "\n");
    }
    MPI_Info_free(&info);
}

/* MPI file names may begin with the name of a file system driver: "ufs:/scratch/x". */
static const char *local_path(const char *filename)
{
    const char *c = filename;
    while (isalnum((unsigned char)*c))
        c++;
    return *c == ':' && c - filename >= 2 ? c + 1 : filename;
}

static pl_status check_space(const struct iot_run *run, const char *path, struct pl_error *error)
{
    struct environment_filesystem fs;
    const pl_status status = environment_filesystem(path, &fs, error);
    if (status != PL_OK)
        return status;
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    if (fs.total_bytes > 0 && run->set.file_bytes > fs.free_bytes)
        return pl_fail(error, PL_E_SPACE, "'%s' needs %s, but the file system of '%s' (%s) has only %s free",
                       run->filename, units_bytes(run->set.file_bytes, needed), fs.directory, fs.type,
                       units_bytes(fs.free_bytes, there));
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (uint64_t)run->set.file_bytes > limit.rlim_cur)
        return pl_fail(error, PL_E_SPACE, "'%s' needs %s, but this shell limits files to %s (ulimit -f)", run->filename,
                       units_bytes(run->set.file_bytes, needed), units_bytes((int64_t)limit.rlim_cur, there));
    return PL_OK;
}

pl_status iot_clear_file(const struct iot_run *run, struct pl_error *error)
{
    const char *path = local_path(run->filename);
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return pl_fail(error, PL_E_INPUT, "'%s' is a directory; filename must name a file", run->filename);
        if (S_ISREG(info.st_mode) && remove(path) != 0)
            return pl_fail_errno(error, errno, "removing the old '%s'", run->filename);
    }
    return check_space(run, path, error);
}

pl_status iot_check_memory(const struct iot_run *run, struct pl_error *error)
{
    const int64_t available = environment_memory_available_bytes();
    if (available == 0 || run->set.memory_bytes <= available / run->node_ranks)
        return PL_OK;
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    return pl_fail(error, PL_E_NOMEM,
                   "a rank needs %s of memory for timings and data, but %d ranks share %s available on this node",
                   units_bytes(run->set.memory_bytes, needed), run->node_ranks, units_bytes(available, there));
}
