#include "engine/direct/direct.h"

#include "base/rng.h"
#include "engine/mem.h"
#include "engine/schedule/schedule.h"
#include "engine/ship/ship.h"
#include "mpi/real.h"

#include <assert.h>

enum { BLOCK_BYTES = 1 << 20, DEVICES_MAX = 4096 };

/* Where a rank is in its rounds. */
struct direct {
    struct schedule schedule;
    int64_t next, round; /* this rank's next round, and the one that all are in */
    int64_t end;         /* where the data end: those of the request, or of the file */
    bool meeting;        /* the round is done */
    MPI_Request request;
};

/* ---- the order of a row ---- */

/* Neighbours get different colours, so that ranks of one colour are spread over the nodes. */
static int64_t direct_colour(const struct file *file)
{
    const int64_t group = file->values.group_size;
    if (group == 0)
        return file->node.rank;
    const int64_t colours = (file->size - 1) / group + 1;
    return file->rank % colours;
}

/* A data block is what lies side by side in the file; of views without gaps, what cb_block_size says. */
static int64_t direct_block_bytes(const struct move *move)
{
    const struct view *view = move->request.view;
    const int64_t wanted = move->file->values.cb_block_size;
    if (!view || view->contiguous || typemap_shape(view->filetype)->pieces == 0)
        return wanted > 0 ? wanted : BLOCK_BYTES;
    const struct typemap_shape *shape = typemap_shape(view->filetype);
    return shape->size / shape->pieces;
}

/* One window for each storage device, so that all have work in every round; ranks begin with different ones. */
static struct schedule direct_device_windows(const struct move *move)
{
    const struct file *file = move->file;
    const int64_t known = file->values.striping_factor > 0 ? file->values.striping_factor : file->node.count;
    const int devices = known < DEVICES_MAX ? (int)known : DEVICES_MAX;
    return schedule_windows(&move->request, devices, move_domain_unit(file), file->values.window_size,
                            file->rank % devices);
}

static struct schedule direct_schedule(const struct move *move)
{
    const struct file *file = move->file;
    const int64_t window = file->values.window_size;
    switch (move->strategy->order) {
    case ORDER_NODES:
        return schedule_turn(&move->request, direct_colour(file));
    case ORDER_DATA:
        return schedule_parts(&move->request, window);
    case ORDER_RANDOM: /* it keeps ranks with regular distributions from meeting at the same device again and again */
        return schedule_shuffled(&move->request, direct_block_bytes(move),
                                 rng_at((uint64_t)file->sequence, (uint64_t)file->rank));
    case ORDER_WINDOW:
        return schedule_windows(&move->request, 1, window, window, 0);
    case ORDER_WINDOWS:
        return direct_device_windows(move);
    case ORDER_PLAIN:
        break;
    }
    return schedule_turn(&move->request, 0);
}

static void direct_prepare(struct move *move)
{
    if (move->strategy->order == ORDER_PLAIN || move_has_failed(move))
        return;
    struct direct *direct = mem_zalloc(1, sizeof *direct);
    move->call = direct;
    if (!direct) {
        pl_fail(&move->error, PL_E_NOMEM, "no memory for a collective access");
        return;
    }
    direct->schedule = direct_schedule(move);
    direct->next = schedule_next_round(&direct->schedule, 0);
    direct->end = move->request.position + move->request.bytes;
}

static int direct_bring(const struct move *move, int64_t values[MOVE_VALUES_MAX])
{
    const struct direct *direct = move->call;
    values[0] = direct ? direct->next : SCHEDULE_NO_ROUND;
    return 1;
}

/* ---- access ---- */

static void direct_access_part(struct move *move, const struct access_options *options, int64_t position, int64_t bytes)
{
    struct direct *direct = move->call;
    struct access_request part = move->request;
    assert(position >= part.position && bytes > 0 && position + bytes <= part.position + part.bytes);
    part.skip = position - part.position;
    part.position = position;
    part.bytes = bytes;
    int64_t done;
    access_run(move->file->storage, &part, options, &done, &move->job_error);
    if (done < bytes && position + done < direct->end)
        direct->end = position + done;
}

static void direct_access_round(struct move *move)
{
    struct direct *direct = move->call;
    const struct access_options options = file_options(move->file, move_progress(move));
    int64_t position, bytes;
    schedule_enter(&direct->schedule, direct->round);
    while (move->job_error.status == PL_OK && schedule_next_part(&direct->schedule, &position, &bytes))
        if (position < direct->end) /* else the file has ended before */
            direct_access_part(move, &options, position, bytes);
}

static void direct_access_all(struct move *move)
{
    const struct access_options options = file_options(move->file, move_progress(move));
    ship_access(move->file, &move->request, &options, &move->done, &move->job_error);
}

/* ---- rounds ---- */

static void direct_round_start(struct move *move)
{
    struct direct *direct = move->call;
    assert(direct->round >= 0 && direct->round <= direct->next);
    direct->meeting = false;
    if (direct->next == direct->round)
        move_job_start(move, false, direct_access_round);
}

static void direct_meet_start(struct move *move)
{
    struct direct *direct = move->call;
    if (move_has_failed(move))
        direct->next = SCHEDULE_NO_ROUND;
    else if (direct->next == direct->round)
        direct->next = schedule_next_round(&direct->schedule, direct->round + 1);
    assert(direct->next > direct->round);
    direct->meeting = true;
    const int code = real.Iallreduce(&direct->next, &direct->round, 1, MPI_INT64_T, MPI_MIN, move->file->comm,
                                     &direct->request);
    if (code != MPI_SUCCESS) {
        direct->request = MPI_REQUEST_NULL;
        direct->round = SCHEDULE_NO_ROUND;
    }
    move_note_mpi(move, code, "meeting the other ranks between two rounds");
}

/* Where the MPI itself fails: on to the end, where the others hear of it if they can. */
static enum step direct_round_step(struct move *move)
{
    struct direct *direct = move->call;
    for (;;) {
        if (!direct->meeting) {
            if (!move_job_is_over(move))
                return STEP_PENDING;
            direct_meet_start(move);
        }
        int met = 0;
        const int code = real.Test(&direct->request, &met, MPI_STATUS_IGNORE);
        move_note_mpi(move, code, "meeting the other ranks between two rounds");
        if (code == MPI_SUCCESS && !met)
            return STEP_PENDING;
        if (code != MPI_SUCCESS || direct->round == SCHEDULE_NO_ROUND)
            break;
        direct_round_start(move);
    }
    if (!move_has_failed(move) && move->request.bytes > 0)
        move->done = direct->end - move->request.position;
    return STEP_DONE;
}

/* ---- the transport ---- */

static void direct_begin(struct move *move)
{
    struct direct *direct = move->call;
    if (direct) {
        direct->round = move_agreed(move, 0);
        direct_round_start(move);
    } else if (!move_has_failed(move)) {
        move_job_start(move, false, direct_access_all);
    }
}

static enum step direct_step(struct move *move)
{
    if (move->call)
        return direct_round_step(move);
    return move_job_is_over(move) ? STEP_DONE : STEP_PENDING;
}

static void direct_clear(struct move *move)
{
    mem_free(move->call);
    move->call = NULL;
}

const struct move_transport direct_transport = {
    .prepare = direct_prepare,
    .bring = direct_bring,
    .begin = direct_begin,
    .step = direct_step,
    .clear = direct_clear,
};
