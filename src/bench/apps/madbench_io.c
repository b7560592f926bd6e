/* The file of MADbench2, by MPI-IO or by plain UNIX calls. */
#include "bench/apps/madbench_io.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

pl_status madbench_file_open_coll(struct apps_run *run, enum madbench_method method, struct madbench_file *file,
                                  struct pl_error *error)
{
    if (method == MADBENCH_POSIX) {
        file->fd = open(file->name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        return file->fd >= 0 ? PL_OK : pl_fail_errno(error, errno, "opening '%s'", file->name);
    }
    const int code = MPI_File_open(file->comm, file->name, MPI_MODE_RDWR | MPI_MODE_CREATE, run->info, &file->mpi);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "opening '%s'", file->name);
    apps_file_note_hints(run, file->mpi);
    return PL_OK;
}

pl_status madbench_file_close_coll(struct madbench_file *file, struct pl_error *error)
{
    if (file->mpi != MPI_FILE_NULL) {
        const int code = MPI_File_close(&file->mpi);
        return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", file->name);
    }
    const int fd = file->fd;
    file->fd = -1;
    return fd < 0 || close(fd) == 0 ? PL_OK : pl_fail_errno(error, errno, "closing '%s'", file->name);
}

/* ---- transfers ---- */

struct outcome {
    int64_t bytes;
    int cause;    /* errno, where a UNIX call failed */
    int mpi_code; /* where MPI did */
};

static struct outcome transfer_posix(int fd, const struct madbench_request *request, char *bytes)
{
    struct outcome outcome = {0};
    if (lseek(fd, request->offset, SEEK_SET) < 0)
        return (struct outcome){.cause = errno};
    while (outcome.bytes < request->bytes) {
        const size_t left = (size_t)(request->bytes - outcome.bytes);
        const ssize_t moved = request->writes ? write(fd, bytes + outcome.bytes, left)
                                              : read(fd, bytes + outcome.bytes, left);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0) {
            outcome.cause = moved < 0 ? errno : 0;
            break;
        }
        outcome.bytes += moved;
    }
    return outcome;
}

static int call_mpi(MPI_File file, enum madbench_calls calls, bool writes, double *values, int count,
                    MPI_Status *status)
{
    if (calls == MADBENCH_COLLECTIVE)
        return writes ? MPI_File_write_all(file, values, count, MPI_DOUBLE, status)
                      : MPI_File_read_all(file, values, count, MPI_DOUBLE, status);
    return writes ? MPI_File_write(file, values, count, MPI_DOUBLE, status)
                  : MPI_File_read(file, values, count, MPI_DOUBLE, status);
}

static struct outcome transfer_mpi(MPI_File file, enum madbench_calls calls, const struct madbench_request *request,
                                   double *values)
{
    MPI_Status status;
    int code = MPI_File_seek(file, request->offset, MPI_SEEK_SET);
    const bool sought = code == MPI_SUCCESS;
    const int count = sought ? (int)(request->bytes / (int64_t)sizeof(double)) : 0;
    if (sought || calls == MADBENCH_COLLECTIVE) { /* others wait for a collective call */
        const int called = call_mpi(file, calls, request->writes, values, count, &status);
        code = sought ? called : code;
    }
    if (code != MPI_SUCCESS)
        return (struct outcome){.mpi_code = code};
    int numbers = 0;
    MPI_Get_count(&status, MPI_DOUBLE, &numbers);
    return (struct outcome){.bytes = (int64_t)numbers * (int64_t)sizeof(double)};
}

static pl_status judge(const struct outcome *outcome, const struct madbench_file *file,
                       const struct madbench_request *request, struct pl_error *error)
{
    const char *doing = request->writes ? "writing" : "reading";
    const long long bytes = request->bytes, offset = request->offset;
    if (outcome->mpi_code)
        return coll_fail_mpi(error, outcome->mpi_code, "%s %lld bytes at %lld of '%s'", doing, bytes, offset,
                             file->name);
    if (outcome->cause)
        return pl_fail_errno(error, outcome->cause, "%s %lld bytes at %lld of '%s'", doing, bytes, offset, file->name);
    if (outcome->bytes != request->bytes)
        return pl_fail(error, PL_E_IO, "%s at %lld of '%s': only %lld of %lld bytes moved", doing, offset, file->name,
                       (long long)outcome->bytes, bytes);
    return PL_OK;
}

pl_status madbench_transfer(const struct madbench_plan *plan, struct madbench_file *file,
                            const struct madbench_request *request, double *values, struct apps_phase *phase,
                            struct pl_error *error)
{
    const double begin = MPI_Wtime();
    const struct outcome outcome = plan->options.method == MADBENCH_POSIX
                                       ? transfer_posix(file->fd, request, (char *)values)
                                       : transfer_mpi(file->mpi, plan->options.calls, request, values);
    apps_phase_note(phase, begin, request->bytes);
    return judge(&outcome, file, request, error);
}

void madbench_transfer_nothing_coll(const struct madbench_file *file, bool writes, double *values)
{
    MPI_Status status;
    call_mpi(file->mpi, MADBENCH_COLLECTIVE, writes, values, 0, &status);
}
