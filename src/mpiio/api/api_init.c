/* Starting MPI: the moment to refuse combinations that look right and are not. Ending it: nothing of ours goes on. */
#include "base/text.h"
#include "mpi/comm.h"
#include "mpi/job_variables.h"
#include "mpi/launcher.h"
#include "mpi/real.h"
#include "mpi/service.h"
#include "mpi/wait.h"
#include "mpiio/api/api.h"
#include "mpiio/api/api_hook.h"
#include "mpiio/api/api_operation.h"
#include "mpiio/aux/aux.h"
#include "mpiio/file/file.h"
#include "mpiio/pending/pending.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell_hint(const struct hints *hints, const char *name, const char *wrong)
{
    char origin[HINT_TEXT_MAX];
    struct text shown = {0};
    if (!hints_origin(hints, name, origin) || strncmp(origin, wrong, strlen(wrong)) != 0)
        return;
    text_add_visible(&shown, origin);
    fprintf(stderr, "piolet: warning: hints of the environment: %s: %s\n", name, text_get(&shown));
    text_clear(&shown);
}

/* One rank says what is wrong with the environment: a wrong value changes nothing, and would pass unseen. */
static void check_environment(void)
{
    int rank = 0;
    struct hints *hints;
    struct pl_error ignored;
    if (real.Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS || rank != 0)
        return;
    job_variables_tell();
    if (hints_new_local(&hints, &ignored) != PL_OK)
        return;
    file_check_strategy(hints, NULL);
    tell_hint(hints, "PIOLET_HINTS", "ignored");
    tell_hint(hints, "ROMIO_HINTS", "ignored");
    for (int i = 0; hint_row_at(i); i++)
        tell_hint(hints, hint_row_at(i)->name, "rejected");
    hints_free(hints);
}

static bool begun; /* MPI_COMM_WORLD is there */

/* From here on whoever waits is counted, so that no wait is overlooked when something becomes pending. */
static void begin(int code)
{
    int size = 1;
    struct pl_error error = {0};
    begun = code == MPI_SUCCESS;
    comm_begin();
    api_hook_install();
    if (code != MPI_SUCCESS || real.Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS ||
        launcher_check(size, "this program", &error) == PL_OK) {
        if (code == MPI_SUCCESS)
            check_environment();
        return;
    }
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
