/* Starting MPI: the moment to refuse combinations that look right and are not. Ending it: nothing of ours goes on. */
#include "mpi/launcher.h"
#include "mpi/real.h"
#include "mpi/service.h"
#include "mpi/wait.h"
#include "mpiio/api/api.h"
#include "mpiio/api/api_hook.h"
#include "mpiio/api/api_operation.h"
#include "mpiio/aux/aux.h"
#include "mpiio/pending/pending.h"

#include <stdio.h>
#include <stdlib.h>

static bool begun; /* MPI_COMM_WORLD is there */

/* From here on whoever waits is counted, so that no wait is overlooked when something becomes pending. */
static void begin(int code)
{
    int size = 1;
    struct pl_error error = {0};
    begun = code == MPI_SUCCESS;
    api_hook_install();
    if (code != MPI_SUCCESS || real.Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS ||
        launcher_check(size, "this program", &error) == PL_OK)
        return;
    fprintf(stderr, "piolet MPI-IO: %s\n", error.text);
    real.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int MPI_Init(int *argc, char ***argv)
{
    struct api api;
    api_begin_free(&api, "MPI_Init");
    aux_start();
    const int level = api_hook_thread_level(MPI_THREAD_SINGLE);
    int provided;
    const int code = level == MPI_THREAD_SINGLE ? real.Init(argc, argv)
                                                : real.Init_thread(argc, argv, level, &provided);
    begin(code);
    return code;
}
API_ALIAS(Init);

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct api api;
    api_begin_free(&api, "MPI_Init_thread");
    aux_start();
    service_set_program_level(required);
    const int code = real.Init_thread(argc, argv, api_hook_thread_level(required), provided);
    begin(code);
    return code;
}
API_ALIAS(Init_thread);

/* What is pending goes on until all have come here: nothing of ours does once MPI's own end has begun. */
static void meet_coll(void)
{
    MPI_Request farewell = MPI_REQUEST_NULL;
    if (begun && real.Ibarrier(MPI_COMM_WORLD, &farewell) == MPI_SUCCESS)
        wait_request(&farewell);
    begun = false;
}

int MPI_Finalize(void)
{
    struct api api;
    api_begin_free(&api, "MPI_Finalize");
    meet_coll();
    pending_settle(2); /* a file was not closed: what only some ranks have begun never ends */
    service_stop_all_coll();
    pool_stop();
    pending_step();
    api_operations_sweep();
    api_hook_remove();
    aux_stop();
    return real.Finalize();
}
API_ALIAS(Finalize);
