#include "bench/iot/iot_file.h"

#include "base/units.h"
#include "measure/environment.h"

#include <stdio.h>
#include <string.h>

pl_status iot_file_open_coll(struct iot_run *run, MPI_Comm comm, MPI_File *ret_file, struct pl_error *error)
{
    const int mode = run->set.write_bytes > 0 ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    iot_watch_file(run);
    const int code = MPI_File_open(comm, run->filename, mode, run->info, ret_file);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "opening '%s'", run->filename);
    if (run->rank == 0)
        iot_note_hints(run, *ret_file);
    return PL_OK;
}

static bool is_ompio(void)
{
    char name[ENVIRONMENT_TEXT_MAX];
    environment_mpiio(name);
    return strcmp(name, "OMPIO") == 0;
}

/* OMPIO 4.1 lets each rank look at the size while the first already writes: those that find the file long enough leave,
 * and the others wait for them for ever. The first rank alone has nobody to wait for. */
static int preallocate_alone(const struct iot_run *run)
{
    if (run->rank != 0)
        return MPI_SUCCESS;
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_SELF, run->filename, MPI_MODE_RDWR, run->info, &file);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_File_preallocate(file, run->set.file_bytes);
    const int closed = MPI_File_close(&file);
    return code != MPI_SUCCESS ? code : closed;
}

pl_status iot_file_preallocate_coll(const struct iot_run *run, MPI_File file, struct pl_error *error)
{
    if (!spec_is_true(run->block, "preallocate"))
        return PL_OK;
    const bool alone = PIOLET_IS_OPENMPI && is_ompio();
    const int code = alone ? preallocate_alone(run) : MPI_File_preallocate(file, run->set.file_bytes);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "preallocating %lld bytes of '%s'", (long long)run->set.file_bytes,
                             run->filename);
    return PL_OK;
}

pl_status iot_file_sync_coll(const struct iot_run *run, MPI_File file, struct pl_error *error)
{
    const int code = MPI_File_sync(file);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "syncing '%s'", run->filename);
}

pl_status iot_file_close_coll(const struct iot_run *run, MPI_File *file, struct pl_error *error)
{
    const int code = MPI_File_close(file);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", run->filename);
}

pl_status iot_file_note_full_disk(const struct iot_run *run, const char *doing, struct pl_error *error)
{
    enum { NEARLY_NOTHING = 1 << 20 };
    struct environment_filesystem fs;
    struct pl_error ignored;
    char there[UNITS_TEXT_MAX];
    if ((strcmp(doing, "writing") != 0 && strcmp(doing, "updating") != 0) ||
        environment_filesystem(run->filename, &fs, &ignored) != PL_OK || fs.total_bytes == 0 ||
        fs.free_bytes >= NEARLY_NOTHING)
        return error->status;
    const size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, "; its file system has only %s free",
             units_bytes(fs.free_bytes, there));
    return error->status = PL_E_SPACE;
}
