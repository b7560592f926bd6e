/* Steps that move data: all ranks together, or each a few calls of its own. */
#include "engine_fuzz_op.h"

#include <stdlib.h>

enum { MOST_OPS = 3 };

struct batch {
    int n[256];
    struct op (*ops)[MOST_OPS];
};

static void batch_clear(struct group *group, struct batch *batch)
{
    for (int rank = 0; rank < group->procs; rank++) {
        for (int i = 0; i < batch->n[rank]; i++)
            op_clear(&batch->ops[rank][i]);
    }
    free(batch->ops);
}

static bool draw_direction(struct group *group, struct random *random)
{
    if (!can_read(group))
        return true;
    return can_write(group) && random_chance(random, 60);
}

static int64_t draw_most(struct group *group)
{
    const int64_t most = (const int64_t[]){32, 512, 4096, 32768}[random_between(&group->random, 0, 3)];
    const int64_t share = (group->model.limit - group->model.origin) / (group->procs < 8 ? 2 : 4);
    return most < share ? most : share;
}

static enum where draw_where(struct random *random)
{
    return has(FEATURE_own) && (!has(FEATURE_at) || random_chance(random, 40)) ? OWN : AT;
}

/* All ranks the same call, with arguments of their own. */
static void draw_collective(struct group *group, struct batch *batch)
{
    struct op kind = {.is_write = draw_direction(group, &group->random), .is_collective = true};
    const bool may_ordered = has(FEATURE_ordered) && group->same_view && group->views[0].file->size > 0;
    const bool is_ordered = may_ordered && (!has(FEATURE_collective) || random_chance(&group->random, 35));
    const int64_t most = draw_most(group);
    kind.where = is_ordered ? ORDERED : draw_where(&group->random);
    kind.how = op_draw_how(&group->random, true);
    if (is_ordered && kind.how == NONBLOCKING)
        kind.how = BLOCKING;
    for (int rank = 0; rank < group->procs; rank++) {
        struct random random = random_of(random_next(&group->random), (uint64_t)rank);
        batch->ops[rank][0] = op_draw(group, rank, &random, &kind, most);
        batch->n[rank] = 1;
    }
}

static void draw_independent(struct group *group, struct batch *batch)
{
    const int64_t most = draw_most(group);
    for (int rank = 0; rank < group->procs; rank++) {
        struct random random = random_of(random_next(&group->random), (uint64_t)rank);
        const int64_t pointer = group->own[rank];
        batch->n[rank] = (int)random_between(&random, 0, MOST_OPS);
        for (int i = 0; i < batch->n[rank]; i++) {
            struct op kind = {.is_write = draw_direction(group, &random)};
            kind.where = draw_where(&random);
            kind.how = op_draw_how(&random, false);
            struct op *op = &batch->ops[rank][i];
            *op = op_draw(group, rank, &random, &kind, most);
            if (kind.where == OWN)
                group->own[rank] = op_behind(group, rank, op);
        }
        group->own[rank] = pointer;
    }
}

/* Where a call of this rank goes now that those before it are settled. */
static void place(struct group *group, int rank, struct op *op)
{
    const struct view *view = &group->views[rank];
    if (op->where == OWN && op->seek == -1 && op->position != group->own[rank])
        op->seek = MPI_SEEK_SET;
    if (op->where != ORDERED)
        return;
    op->position = group->shared;
    const int64_t etypes = op_bytes(op) / view->etype->size;
    if (op->position < view->base || op->position + etypes > view->base + op_room(group, rank, op->is_write))
        op->count = 0;
}

static void advance(struct group *group, int rank, const struct op *op)
{
    if (op->where == OWN)
        group->own[rank] = op_behind(group, rank, op);
    if (op->where == ORDERED)
        group->shared = op_behind(group, rank, op);
}

static bool conflicts(const struct group *group, int rank, const struct op *op)
{
    return model_conflicts(&group->model, rank, &group->views[rank], op->position * group->views[rank].etype->size,
                           op_bytes(op), op->is_write);
}

/* Whether anything here meets what other ranks did before: then all must synchronise first. */
static bool needs_sync(struct group *group, const struct batch *batch)
{
    int64_t *own = allocate((size_t)group->procs * sizeof *own);
    const int64_t shared = group->shared;
    bool needed = false;
    for (int rank = 0; rank < group->procs; rank++) {
        own[rank] = group->own[rank];
        for (int i = 0; i < batch->n[rank]; i++) {
            struct op op = batch->ops[rank][i];
            place(group, rank, &op);
            needed = needed || conflicts(group, rank, &op);
            advance(group, rank, &op);
        }
    }
    for (int rank = 0; rank < group->procs; rank++)
        group->own[rank] = own[rank];
    group->shared = shared;
    free(own);
    return needed;
}

/* Calls in flight must not meet the next one of the same rank. */
static bool must_land(struct group *group, const struct flight *flight, const struct op *op)
{
    const struct view *view = &group->views[group->rank];
    const struct op *other = flight->op;
    if (!other || op_bytes(op) == 0 || op_bytes(other) == 0)
        return other && op->seek == MPI_SEEK_END;
    const int64_t etype = view->etype->size;
    const int64_t first = view_at(view, op->position * etype),
                  last = view_at(view, op->position * etype + op_bytes(op) - 1);
    const int64_t other_first = view_at(view, other->position * etype),
                  other_last = view_at(view, other->position * etype + op_bytes(other) - 1);
    if (op->seek == MPI_SEEK_END || last >= group->model.synced_size || other_last >= group->model.synced_size)
        return true;
    return first <= other_last && other_first <= last;
}

/* Settles one call: leaves it out where it would meet another rank's, and follows it in the model. */
static void run_op(struct group *group, int rank, struct op *op, struct flight *flights, int started)
{
    const struct view *view = &group->views[rank];
    place(group, rank, op);
    if (conflicts(group, rank, op))
        op->count = 0;
    if (op->seek == MPI_SEEK_END && !model_end_is_known(&group->model, rank))
        op->seek = MPI_SEEK_SET;
    if (op->seek == MPI_SEEK_END)
        model_note_end_read(&group->model, rank);
    op->is_bottom = op->is_bottom && op->count > 0;
    model_note(&group->model, rank, view, op->position * view->etype->size, op_bytes(op), op->is_write);
    if (rank == group->rank) {
        for (int i = 0; i < started; i++) {
            if (must_land(group, &flights[i], op))
                op_wait(group, &flights[i]);
        }
        op_start(group, op, &flights[started]);
    }
    op_follow(group, rank, op);
    advance(group, rank, op);
}

static void run_batch(struct group *group, struct batch *batch)
{
    struct flight flights[MOST_OPS] = {{0}};
    for (int rank = 0; rank < group->procs; rank++) {
        for (int i = 0; i < batch->n[rank]; i++)
            run_op(group, rank, &batch->ops[rank][i], flights, i);
    }
    for (int i = batch->n[group->rank] - 1; i >= 0; i--) /* backwards: waiting in order proves less */
        op_wait(group, &flights[i]);
}

/* The ordered calls begin where the model begins. */
static void bring_shared_pointer(struct group *group)
{
    const int64_t base = group->views[0].base, room = op_room(group, 0, true);
    if (group->shared >= base && group->shared - base <= room)
        return;
    group->shared = base;
    doing("seek_shared to %lld", (long long)base);
    MPI_Barrier(group->comm); /* others may still be using it */
    group_check(group, MPI_File_seek_shared(group->file, base, MPI_SEEK_SET), "MPI_File_seek_shared");
    MPI_Barrier(group->comm);
}

void step_accesses_coll(struct group *group)
{
    struct batch batch = {.ops = allocate((size_t)group->procs * sizeof *batch.ops)};
    const bool may_collective = has(FEATURE_collective) || has(FEATURE_ordered);
    if (may_collective && (!has(FEATURE_independent) || random_chance(&group->random, 60)))
        draw_collective(group, &batch);
    else
        draw_independent(group, &batch);
    if (batch.n[0] && batch.ops[0][0].where == ORDERED) {
        bring_shared_pointer(group);
        group->is_unchecked = group->is_unchecked || batch.ops[0][0].is_write;
    }
    if (needs_sync(group, &batch))
        group_sync_coll(group);
    run_batch(group, &batch);
    if (batch.n[0] && batch.ops[0][0].is_collective && batch.ops[0][0].is_write && !has(FEATURE_overtake))
        group_sync_coll(group);
    batch_clear(group, &batch);
    group_learn_coll(group);
}
