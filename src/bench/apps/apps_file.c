/* The test files of a kernel: their names, and a look at their place before anything is opened. */
#include "base/interrupt.h"
#include "base/units.h"
#include "bench/apps/apps.h"
#include "measure/environment.h"
#include "measure/info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

pl_status apps_file_name(const struct apps_run *run, bool own, char ret_name[APPS_PATH_MAX], struct pl_error *error)
{
    const int digits = snprintf(NULL, 0, "%d", run->nprocs - 1);
    const int length = own ? snprintf(ret_name, APPS_PATH_MAX, "%s.%0*d", run->job->file, digits, run->rank)
                           : snprintf(ret_name, APPS_PATH_MAX, "%s", run->job->file);
    return length < APPS_PATH_MAX ? PL_OK : pl_fail_errno(error, ENAMETOOLONG, "naming '%s'", run->job->file);
}

/* What a link leads to, not the link: it may stand for a place on another file system. */
static pl_status remove_old(const char *name, struct pl_error *error)
{
    char *target = realpath(name, NULL);
    const int code = target ? remove(target) : -1;
    const int cause = errno;
    free(target);
    return code == 0 ? PL_OK : pl_fail_errno(error, cause, "removing the old '%s'", name);
}

/* Whether a file can be made there. MPI-IO would answer "other error": here errno tells. */
static pl_status try_place(const char *name, struct pl_error *error)
{
    struct stat info;
    if (lstat(name, &info) == 0)
        return PL_OK; /* a device, or a link to where nothing is yet */
    interrupt_hold();
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    pl_status status = fd < 0 ? pl_fail_errno(error, errno, "making '%s'", name) : PL_OK;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && remove(name) != 0)
        status = pl_fail_errno(error, errno, "removing '%s'", name);
    interrupt_release();
    return status;
}

pl_status apps_file_clear(const char *name, int64_t bytes, struct pl_error *error)
{
    struct stat info;
    if (stat(name, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return pl_fail(error, PL_E_INPUT, "'%s' is a directory; --file must name a file", name);
        if (S_ISREG(info.st_mode) && remove_old(name, error) != PL_OK)
            return error->status;
    }
    struct environment_filesystem fs;
    if (environment_filesystem(name, &fs, error) != PL_OK)
        return pl_within(error, "making '%s'", name);
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    if (fs.total_bytes > 0 && bytes > fs.free_bytes)
        return pl_fail(error, PL_E_SPACE, "'%s' needs %s, but the file system of '%s' (%s) has only %s free", name,
                       units_bytes(bytes, needed), fs.directory, fs.type, units_bytes(fs.free_bytes, there));
    return try_place(name, error);
}

pl_status apps_file_memory(const struct apps_run *run, int64_t bytes, struct pl_error *error)
{
    const int64_t available = environment_memory_available_bytes();
    if (available == 0 || bytes <= available / run->node_ranks)
        return PL_OK;
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    return pl_fail(error, PL_E_NOMEM, "a rank needs %s of memory, but %d ranks share %s available on this node",
                   units_bytes(bytes, needed), run->node_ranks, units_bytes(available, there));
}

void apps_file_note_hints(struct apps_run *run, MPI_File file)
{
    if (run->rank == 0 && run->hints_used.length == 0)
        info_note_file(file, NULL, NULL, &run->hints_used);
}
