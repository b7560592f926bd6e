/* A case: a file with known contents, a few random steps, and a look at what became of it. */
#include "engine_fuzz_group.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Draws what the file holds before; rank 0 writes it with plain writes. True where there is a file. */
static bool preset_file(struct group *group)
{
    struct model *model = &group->model;
    int kind = (int)random_between(&group->random, 0, model->origin ? 1 : 3);
    const uint64_t id = random_next(&group->random);
    int64_t bytes = kind > 1 ? random_size(&group->random, model->limit) : 0;
    if (fuzz.keep && model->origin == 0) { /* what nobody wrote differs between implementations: leave no such byte */
        kind = 2;
        bytes = model->limit;
    }
    for (int64_t i = 0; i < bytes; i++)
        model->preset[i] = (uint8_t)(mix(id, (uint64_t)i / 8) >> (i % 8 * 8));
    memset(model->known, 1, (size_t)bytes);
    memcpy(model->bytes, model->preset, (size_t)(model->limit - model->origin));
    for (int64_t i = 0; model->allowed && i < model->limit - model->origin; i++)
        model->allowed[i][model->preset[i] / 8] |= (uint8_t)(1u << model->preset[i] % 8);
    model->size = bytes;
    if (group->rank != 0)
        return kind > 0;
    unlink(group->path);
    const int fd = kind > 0 ? open(group->path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (kind > 0 && (fd < 0 || write(fd, model->preset, (size_t)bytes) != bytes))
        give_up("the file cannot be prepared");
    if (fd >= 0)
        close(fd);
    return kind > 0;
}

static void init_model(struct group *group)
{
    static const int64_t SIZES[] = {4096, 20000, 65536, 300000, 1 << 20};
    const int size = (int)random_between(&group->random, 0, fuzz.faults ? 2 : 4);
    const bool is_sparse = has(FEATURE_sparse) && random_chance(&group->random, 12);
    const int64_t terabyte = INT64_C(1) << 40;
    const int64_t origin = is_sparse
                               ? terabyte * random_between(&group->random, 1, 7) + random_size(&group->random, 9999)
                               : 0;
    model_init(&group->model, origin, SIZES[size]);
}

static void run_steps(struct group *group)
{
    const int steps = (int)random_between(&group->random, 1, 12);
    for (fuzz.step = 1; fuzz.step <= steps && !group->is_lost; fuzz.step++)
        step_coll(group);
}

/* Sometimes the last close takes the file with it. */
static bool remove_by_close(struct group *group)
{
    const bool is_wanted = has(FEATURE_reopen) && !fuzz.keep && random_chance(&group->random, 8);
    if (!is_wanted)
        return false;
    if (!group_open_coll(group, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE))
        return false;
    group_close_coll(group);
    return true;
}

void group_run_coll(struct group *group)
{
    bool is_gone = false;
    init_model(group);
    group->views = allocate((size_t)group->procs * sizeof *group->views);
    group->own = allocate((size_t)group->procs * sizeof *group->own);
    const bool exists = preset_file(group);
    int amode = MPI_MODE_RDWR | (exists && random_chance(&group->random, 40) ? 0 : MPI_MODE_CREATE);
    if (has(FEATURE_wronly) && random_chance(&group->random, 10))
        amode ^= MPI_MODE_RDWR | MPI_MODE_WRONLY;
    if (!exists && random_chance(&group->random, 30))
        amode |= MPI_MODE_EXCL;
    MPI_Barrier(group->comm);
    if (group_open_coll(group, amode)) {
        if (random_chance(&group->random, 85)) {
            group_draw_views(group);
            group_set_view_coll(group);
        }
        run_steps(group);
        if (group->file != MPI_FILE_NULL)
            group_close_coll(group);
        if (group->rank == 0)
            group_compare(group, false);
        MPI_Barrier(group->comm);
        is_gone = !group->is_lost && remove_by_close(group);
    }
    if (group->rank == 0 && is_gone)
        group_compare(group, true);
    if (group->rank == 0 && !fuzz.keep)
        unlink(group->path);
    for (int rank = 0; rank < group->procs; rank++)
        view_clear(&group->views[rank]);
    free(group->views);
    free(group->own);
    model_clear(&group->model);
}
