#include "mpi/job.h"

#include "base/interrupt.h"
#include "mpi/launcher.h"

#include <mpi.h>

static pl_status check_launcher(struct pl_error *error)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return launcher_check(size, "this piolet", error);
}

static pl_status job_start(int code, struct pl_error *error)
{
    if (code != MPI_SUCCESS)
        return pl_fail(error, PL_E_MPI, "MPI_Init failed");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    return check_launcher(error);
}

pl_status job_init_coll(int *argc, char ***argv, struct pl_error *error)
{
    interrupt_cleaner_start();
    return job_start(MPI_Init(argc, argv), error);
}

pl_status job_init_thread_coll(int *argc, char ***argv, int level, struct pl_error *error)
{
    int given;
    interrupt_cleaner_start();
    return job_start(level == MPI_THREAD_SINGLE ? MPI_Init(argc, argv) : MPI_Init_thread(argc, argv, level, &given),
                     error);
}

int64_t job_meet_coll(void)
{
    const double begin = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    return (int64_t)((MPI_Wtime() - begin) * 1e9);
}

void job_finalize_coll(void)
{
    MPI_Finalize();
    interrupt_cleaner_stop();
}
