/* The test files of a kernel: their names, and a look at their place before anything is opened. */
#include "base/interrupt.h"
#include "base/units.h"
#include "bench/apps/apps.h"
#include "measure/environment.h"
#include "measure/info.h"
#include "measure/place.h"
#include "measure/testfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

pl_status apps_file_name(const struct apps_job *job, bool own, int rank, int nprocs, char ret_name[APPS_PATH_MAX],
                         struct pl_error *error)
{
    const int digits = snprintf(NULL, 0, "%d", nprocs - 1);
    const int length = own ? snprintf(ret_name, APPS_PATH_MAX, "%s.%0*d", job->file, digits, rank)
                           : snprintf(ret_name, APPS_PATH_MAX, "%s", job->file);
    return length < APPS_PATH_MAX ? PL_OK : pl_fail_errno(error, ENAMETOOLONG, "naming '%s'", job->file);
}

pl_status apps_file_check(const struct apps_job *job, bool own, int nprocs, struct pl_error *error)
{
    char name[APPS_PATH_MAX];
    pl_status status = PL_OK;
    for (int rank = 0; rank < (own ? nprocs : 1) && status == PL_OK; rank++) {
        status = apps_file_name(job, own, rank, nprocs, name, error);
        if (status == PL_OK)
            status = testfile_check(name, job->overwrite, error);
    }
    return status;
}

pl_status apps_file_take(const struct apps_job *job, bool own, int rank, int nprocs, struct pl_error *error)
{
    char name[APPS_PATH_MAX];
    if (!own && rank != 0)
        return PL_OK;
    const pl_status status = apps_file_name(job, own, rank, nprocs, name, error);
    return status == PL_OK ? testfile_take(name, job->keep, job->overwrite, error) : status;
}

void apps_file_drop(const struct apps_job *job, bool own, int rank, int nprocs)
{
    char name[APPS_PATH_MAX];
    struct pl_error ignored;
    if (apps_file_name(job, own, rank, nprocs, name, &ignored) == PL_OK)
        testfile_drop(name);
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
    struct environment_filesystem fs;
    if (environment_filesystem(name, &fs, error) != PL_OK)
        return pl_within(error, "making '%s'", name);
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    const int64_t room = fs.free_bytes + place_taken_bytes(name); /* before the old file is given up */
    if (fs.total_bytes > 0 && bytes > room)
        return pl_fail(error, PL_E_SPACE, "'%s' needs %s, but the file system of '%s' (%s) has only %s free", name,
                       units_bytes(bytes, needed), fs.directory, fs.type, units_bytes(room, there));
    return testfile_clear(name, error) == PL_OK ? try_place(name, error) : error->status;
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
