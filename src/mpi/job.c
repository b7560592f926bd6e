#include "mpi/job.h"

#include "mpi/launcher.h"

#include <mpi.h>

static pl_status check_launcher(struct pl_error *error)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return launcher_check(size, "this piolet", error);
}

pl_status job_init_coll(int *argc, char ***argv, struct pl_error *error)
{
    if (MPI_Init(argc, argv) != MPI_SUCCESS)
        return pl_fail(error, PL_E_MPI, "MPI_Init failed");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    return check_launcher(error);
}

void job_finalize_coll(void)
{
    MPI_Finalize();
}
