/* Views of all ranks: the same for all, tiling the file among them in several ways, or anything. */
#include "engine_fuzz_group.h"

#include <stdlib.h>

enum { TYPE_MOST = 2048 }; /* bytes of a filetype */

static struct type *draw_filetype(const struct group *group, int rank, struct random *random, int which, int64_t most)
{
    struct type *base = type_etype(which, rank == group->rank || rank < 0);
    const struct type_style style = {
        .is_file = true, .is_mine = base->mpi != MPI_DATATYPE_NULL, .unit = base->extent, .most = most};
    struct type *type = type_draw(random, base, &style);
    type_free(base);
    return type;
}

static struct type *etype_of(const struct group *group, int rank, int which)
{
    return type_etype(which, rank == group->rank);
}

static void draw_same(struct group *group, int which)
{
    const uint64_t seed = random_next(&group->random);
    const int64_t displacement = random_chance(&group->random, 40) ? 0 : random_between(&group->random, 0, 500);
    for (int rank = 0; rank < group->procs; rank++) {
        struct random random = random_of(seed, 1);
        group->views[rank].file = draw_filetype(group, rank, &random, which, TYPE_MOST);
        group->views[rank].displacement = displacement;
    }
    group->same_view = true;
}

/* Each rank a part of the file for itself. */
static void draw_slabs(struct group *group, int which)
{
    const int64_t slab = (group->model.limit - group->model.origin) / group->procs;
    for (int rank = 0; rank < group->procs; rank++) {
        struct view *view = &group->views[rank];
        struct random random = random_of(random_next(&group->random), (uint64_t)rank);
        view->file = draw_filetype(group, rank, &random, which, slab / 8 < TYPE_MOST ? slab / 8 : TYPE_MOST);
        view->displacement = rank * slab + random_size(&random, 64);
        view->limit = group->model.origin + (rank + 1) * slab;
    }
}

/* One block after the other for rank 0, 1, 2, …; within its blocks each rank has a pattern of its own. */
static void draw_cyclic(struct group *group, int which)
{
    int64_t block = 1;
    for (int rank = 0; rank < group->procs; rank++) {
        struct random random = random_of(random_next(&group->random), (uint64_t)rank);
        struct type *file = group->views[rank].file = draw_filetype(group, rank, &random, which,
                                                                    TYPE_MOST / group->procs + 1);
        const int64_t extent = group->views[rank].etype->extent;
        const int64_t wide = (type_true_ub(file) + extent - 1) / extent * extent;
        block = wide > block ? wide : block;
    }
    const int64_t displacement = random_size(&group->random, 4096), one = 1;
    for (int rank = 0; rank < group->procs; rank++) {
        const int64_t at = rank * block;
        struct view *view = &group->views[rank];
        view->file = type_resized(type_hindexed(view->file, 1, &one, &at), 0, group->procs * block);
        view->displacement = displacement;
    }
}

/* Blocks of etypes, each of a rank that was drawn. */
static void draw_blocks(struct group *group, int which)
{
    const int blocks = group->procs * (int)random_between(&group->random, 1, 6);
    const int64_t length = 1 + random_size(&group->random, 64), displacement = random_size(&group->random, 1000);
    const int64_t gap = random_between(&group->random, 0, 2);
    int *owner = allocate((size_t)blocks * sizeof *owner);
    int64_t *at = allocate((size_t)blocks * sizeof *at), *lengths = allocate((size_t)blocks * sizeof *lengths);
    for (int i = 0; i < blocks; i++) /* each has at least one, unless it may be empty */
        owner[i] = i < group->procs && !has(FEATURE_empty) ? i
                                                           : (int)random_between(&group->random, 0, group->procs - 1);
    for (int rank = 0; rank < group->procs; rank++) {
        struct type *element = etype_of(group, rank, which);
        const int64_t extent = element->extent * length;
        int n = 0;
        for (int i = 0; i < blocks; i++) {
            if (owner[i] != rank)
                continue;
            at[n] = i * extent;
            lengths[n++] = length;
        }
        group->views[rank].file = type_resized(type_hindexed(element, n, lengths, at), 0, (blocks + gap) * extent);
        group->views[rank].displacement = displacement;
    }
    free(owner);
    free(at);
    free(lengths);
}

/* A distributed array, of which each rank has its part. Some of them may be empty. */
static void draw_darray(struct group *group, int which)
{
    struct array array = {.dims = (int)random_between(&group->random, 1, 3), .procs = group->procs};
    const int64_t displacement = random_size(&group->random, 1000);
    int rest = group->procs;
    array.order = random_chance(&group->random, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int i = 0; i < array.dims; i++) {
        int part = rest;
        while (i < array.dims - 1 && part > 1 && (rest % part || random_chance(&group->random, 50)))
            part--;
        array.grid[i] = part;
        rest /= part;
        array.sizes[i] = part * (int)random_between(&group->random, 1, 4);
        if (has(FEATURE_empty))
            array.sizes[i] = (int)random_between(&group->random, 1, array.sizes[i] + 1);
        const bool is_block = random_chance(&group->random, 50);
        array.kinds[i] = is_block ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        array.arguments[i] = is_block || random_chance(&group->random, 40) || !has(FEATURE_empty)
                                 ? MPI_DISTRIBUTE_DFLT_DARG
                                 : (int)random_between(&group->random, 1, 3);
        if (part == 1 && random_chance(&group->random, 50)) {
            array.kinds[i] = MPI_DISTRIBUTE_NONE;
            array.arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        }
    }
    for (int rank = 0; rank < group->procs; rank++) {
        array.rank = rank;
        group->views[rank].file = type_darray(etype_of(group, rank, which), &array);
        group->views[rank].displacement = displacement;
    }
}

/* Every rank as it likes; writes that meet are left out later. */
static void draw_free(struct group *group, int which)
{
    for (int rank = 0; rank < group->procs; rank++) {
        struct view *view = &group->views[rank];
        struct random random = random_of(random_next(&group->random), (uint64_t)rank);
        view->file = draw_filetype(group, rank, &random, which, TYPE_MOST);
        view->displacement = random_size(&random, (group->model.limit - group->model.origin) / 2);
    }
}

/* Nothing but etypes, one after the other. */
static void draw_plain(struct group *group, int which)
{
    const int64_t displacement = random_chance(&group->random, 50) ? 0 : random_size(&group->random, 1000);
    for (int rank = 0; rank < group->procs; rank++) {
        group->views[rank].file = etype_of(group, rank, which);
        group->views[rank].displacement = displacement;
    }
    group->same_view = true;
}

/* Takes the displacement to the model's part of the file; where that is far away, partly by skipping tiles. */
static void move_view(struct group *group, struct view *view, struct random *random)
{
    const int64_t tiles = view->file->size ? group->model.origin / view->file->extent : 0;
    const int64_t skip = tiles && has(FEATURE_skip) && random_chance(random, 60) ? random_between(random, 0, tiles) : 0;
    view->displacement += group->model.origin - skip * view->file->extent;
    view->base = skip * (view->file->size / view->etype->size);
}

void group_draw_views(struct group *group)
{
    static void (*const DRAW[])(struct group *, int) = {draw_same,   draw_same,   draw_plain,  draw_slabs,
                                                        draw_cyclic, draw_blocks, draw_darray, draw_free};
    const int which = type_draw_etype(&group->random);
    /* gaps are not in the file: sizes would differ from those of the model */
    const bool is_external = has(FEATURE_external32) && !type_has_gaps(which) && random_chance(&group->random, 8);
    int kind = (int)random_between(&group->random, 0, (int)(sizeof DRAW / sizeof *DRAW) - 1);
    if (DRAW[kind] == draw_darray && !has(FEATURE_darray))
        kind = 0;
    for (int rank = 0; rank < group->procs; rank++) {
        view_clear(&group->views[rank]);
        group->views[rank] = (struct view){.which = which, .limit = group->model.limit, .is_external = is_external};
        group->views[rank].etype = etype_of(group, rank, which);
    }
    group->same_view = false;
    DRAW[kind](group, which);
    const uint64_t seed = random_next(&group->random);
    for (int rank = 0; rank < group->procs; rank++) {
        struct random random = random_of(seed, group->same_view ? 0 : (uint64_t)rank);
        move_view(group, &group->views[rank], &random);
    }
}
