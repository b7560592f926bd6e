/* What `piolet replay` makes of a model: its plan, the files it needs, and the datatypes of views and memory. */
/* proves: PHASE-10
 * Fails when a model that is read crashes the replay before anything is measured. */
#include "fuzz.h"

#include "bench/replay/replay_plan.h"
#include "bench/replay/replay_run.h"

#include <mpi.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return 0;
}

static void plan(const struct model *model)
{
    struct replay_plan plan;
    struct replay_extents extents;
    struct pl_error error;
    if (replay_plan_make(model, NULL, 0, &plan, &error) != PL_OK)
        return;
    for (int file = -1; file < model->file_count; file++)
        replay_plan_order(model, model->ranks - 1, file, NULL);
    replay_plan_collectives(model, 0);
    if (replay_extents_find(&plan, 0, 1000, &extents, &error) == PL_OK)
        replay_extents_clear(&extents);
    replay_plan_clear(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size);
    struct model model;
    struct pl_error error;
    if (model_read("fuzz", text, &model, &error) == PL_OK) {
        plan(&model);
        model_clear(&model);
    }
    free(text);
    return 0;
}
