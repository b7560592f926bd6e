/* A replay from its beginning to its end: what is needed, the repetitions, the results. */
#include "replay/replay_run.h"

#include "base/checked.h"
#include "base/rng.h"
#include "base/units.h"
#include "measure/devices.h"
#include "measure/environment.h"
#include "measure/place.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_PERIOD_NS INT64_C(200000000)

/* ---- what is needed ---- */

static int64_t memory_of(const struct replay_run *run)
{
    return saturating_mul(run->buffer_bytes, run->buffer_count);
}

/* Buffers in which the program's layouts have their place; where those need more memory than there is, accesses are in
 * one piece. */
static void choose_buffers(struct replay_run *run, int64_t available_bytes)
{
    enum { PAGE = 4096 };
    struct replay_extents *extents = &run->extents;
    run->is_scattered = true;
    run->buffer_count = extents->buffers + 1;
    if (available_bytes > 0 && extents->span > available_bytes / run->buffer_count - 2 * PAGE) {
        run->is_scattered = extents->span == extents->largest;
        extents->untold |= !run->is_scattered;
    }
    const int64_t largest = run->is_scattered ? extents->span : extents->largest;
    run->buffer_bytes = largest < INT64_MAX - 2 * PAGE ? (largest + PAGE - 1) / PAGE * PAGE + PAGE : INT64_MAX;
    run->fresh_bytes = run->is_scattered ? extents->span_write : extents->largest_write;
}

/* Buffers are filled, so that their pages are there before anything is timed. */
static pl_status make_buffers(struct replay_run *run, int node_ranks, struct pl_error *error)
{
    enum { PAGE = 4096 };
    const int64_t available = environment_memory_available_bytes();
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    choose_buffers(run, available > 0 ? available / node_ranks : 0);
    if (available > 0 && memory_of(run) > available / node_ranks)
        return pl_fail(error, PL_E_NOMEM, "a rank needs %s of memory, but %d ranks share %s available on this node",
                       units_bytes(memory_of(run), needed), node_ranks, units_bytes(available, there));
    run->buffers = calloc((size_t)run->buffer_count, sizeof *run->buffers);
    run->is_taken = calloc((size_t)run->buffer_count, sizeof *run->is_taken);
    for (int i = 0; i < run->buffer_count && run->buffers && run->is_taken; i++) {
        run->buffers[i] = malloc((size_t)run->buffer_bytes); /* not at a page, as those of programs */
        uint64_t *words = (uint64_t *)(void *)run->buffers[i];
        for (int64_t k = 0; words && k < run->buffer_bytes / (int64_t)sizeof *words; k++)
            words[k] = rng_mix((uint64_t)run->rank << 32 | (uint64_t)k);
        if (!words)
            break;
    }
    return run->buffers && run->is_taken && run->buffers[run->buffer_count - 1]
               ? PL_OK
               : pl_fail(error, PL_E_NOMEM, "not enough memory for %s", units_bytes(memory_of(run), needed));
}

/* Ranks that take part in different numbers of collectives would wait for each other for ever. */
static pl_status check_order_coll(struct replay_run *run, struct pl_error *error)
{
    const int64_t order = (int64_t)(replay_plan_order(run->model, run->rank, -1) >> 1);
    const int64_t collectives = replay_plan_collectives(run->model, run->rank);
    const int64_t mine[4] = {order, -order, collectives, -collectives};
    int64_t most[4];
    MPI_Allreduce(mine, most, 4, MPI_INT64_T, MPI_MAX, run->comm);
    run->aligned = most[0] == -most[1];
    if (most[2] == -most[3])
        return PL_OK;
    return pl_fail(error, PL_E_FORMAT,
                   "'%s': some ranks take part in %" PRId64 " collectives of all ranks and others in %" PRId64
                   ": they would wait for each other for ever%s",
                   run->job->model_path, -most[3], most[2],
                   run->model->incomplete_ranks > 0 ? " (the trace was cut off)" : "");
}

static pl_status check_files_coll(struct replay_run *run, struct pl_error *error, struct coll_verdict *verdict)
{
    const struct model_step *steps = run->model->steps;
    const pl_status status = replay_check_members(run, steps, run->model->step_count, error);
    if (coll_agree_coll(run->comm, status, error, verdict) != PL_OK)
        return pl_within(error, "%s", run->job->model_path);
    error->status = PL_OK;
    replay_check_calls_coll(run, steps, run->model->step_count, error);
    if (coll_agree_coll(run->comm, error->status, error, verdict) != PL_OK)
        return pl_within(error, "%s", run->job->model_path);
    return PL_OK;
}

static pl_status check_space_coll(struct replay_run *run, struct pl_error *error)
{
    char probe[REPLAY_PATH_MAX];
    struct coll_verdict verdict;
    const int64_t bytes = replay_extents_space_coll(run->plan, &run->extents, run->comm);
    const int length = snprintf(probe, sizeof probe, "%s/piolet-replay.files", run->job->directory);
    pl_status status = PL_OK;
    if (run->rank == 0)
        status = length < REPLAY_PATH_MAX ? place_check(probe, bytes, error)
                                          : pl_fail(error, PL_E_USAGE, "--on: the name is too long");
    return coll_agree_coll(run->comm, status, error, &verdict);
}

static void tell_memory_coll(struct replay_run *run)
{
    int untold = run->extents.untold;
    MPI_Allreduce(MPI_IN_PLACE, &untold, 1, MPI_INT, MPI_MAX, run->comm);
    run->extents.untold = untold;
    if (untold && run->rank == 0 && run->observer->note)
        run->observer->note(run->observer->context,
                            "the program's data were scattered in memory in a way that is not known or too large here: "
                            "such accesses are made from contiguous buffers, and may be faster than the program's");
}

#define CALLS_MAX   INT64_C(1000000000) /* of a rank, without a time limit */
#define CALLS_AHEAD INT64_C(2000000)    /* that are looked at before, for each second of the limit and at least */

/* What the calls of this rank need: of all, unless the time limit ends the replay before so many. */
static pl_status find_extents(struct replay_run *run, struct pl_error *error)
{
    const bool is_limited = run->job->limit_s > 0 && !run->job->all;
    const int64_t calls = replay_plan_calls(run->model, run->rank);
    if (!is_limited && calls > CALLS_MAX)
        return pl_fail(error, PL_E_FORMAT,
                       "rank %d makes %" PRId64 " calls: more than %" PRId64 " are replayed with --limit alone",
                       run->rank, calls, CALLS_MAX);
    const int64_t most = is_limited ? saturating_int((run->job->limit_s + 1) * (double)CALLS_AHEAD) : CALLS_MAX;
    return replay_extents_find(run->plan, run->rank, most, &run->extents, error);
}

static pl_status prepare_coll(struct replay_run *run, struct pl_error *error)
{
    struct coll_verdict verdict;
    const int node_ranks = environment_node_ranks_coll(run->comm);
    struct environment_clock clock;
    environment_clock(&clock);
    pl_status status = check_order_coll(run, error);
    if (status == PL_OK)
        status = environment_clock_check(&clock, error);
    if (status == PL_OK && find_extents(run, error) != PL_OK)
        status = pl_within(error, "%s", run->job->model_path);
    if (status == PL_OK)
        status = make_buffers(run, node_ranks, error);
    run->measures = calloc((size_t)run->plan->unit_count + 1, sizeof *run->measures);
    run->done = calloc((size_t)run->model->leaf_count + 1, sizeof *run->done);
    if (status == PL_OK && (!run->measures || !run->done))
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
    if (coll_agree_coll(run->comm, status, error, &verdict) != PL_OK || check_files_coll(run, error, &verdict) != PL_OK)
        return error->status = verdict.status; /* the same on all ranks, and so is how the program ends */
    tell_memory_coll(run);
    return check_space_coll(run, error);
}

static void clear(struct replay_run *run)
{
    for (int i = 0; i < run->plan->unit_count && run->measures; i++)
        free(run->measures[i].durations);
    for (int i = 0; i < run->buffer_count && run->buffers; i++)
        free(run->buffers[i]);
    free(run->measures);
    free(run->done);
    free(run->buffers);
    free(run->is_taken);
    free(run->gathered);
    replay_files_clear(run);
    replay_extents_clear(&run->extents);
}

/* ---- one repetition ---- */

static void begin_repetition(struct replay_run *run, int64_t repetition)
{
    run->repetition = repetition;
    run->failure.status = PL_OK;
    run->stopped = false;
    run->phase_unit = -1;
    run->late_ns = run->job->start_wait_ns;
    run->finished_units = run->written_units = run->depth = run->whole_loops = 0;
    run->calls = 0;
    run->has_told_cut = false;
    run->flushed_ns = 0;
    run->folder[0] = '\0';
    memset(run->done, 0, (size_t)run->model->leaf_count * sizeof *run->done);
    for (int i = 0; i < run->plan->unit_count; i++) {
        run->measures[i].executed = run->measures[i].extended_ns = 0;
        run->measures[i].is_cut = false;
        run->measures[i].begin_ns = run->measures[i].end_ns = -1;
    }
}

/* Samples of the devices behind the target, as `iostat` would show them. */
static struct devices *watch_devices(const struct replay_run *run)
{
    struct pl_error ignored; /* without them, there is nothing to show beside the phases */
    return run->rank == 0 ? devices_start(run->job->directory, DEVICE_PERIOD_NS, &ignored) : NULL;
}

static pl_status write_rest(struct replay_run *run, struct devices *devices, const struct coll_verdict *verdict,
                            struct pl_error *error)
{
    pl_status status = PL_OK;
    if (devices)
        status = devices_write(devices, run->writer, run->start_ns, (int)run->repetition, error);
    if (status == PL_OK && verdict->status != PL_OK)
        status = replay_write_failure(run, verdict, error);
    return status;
}

/* *ret_verdict: how it went. The result tells whether the results could be written. */
static pl_status repeat_coll(struct replay_run *run, int64_t repetition, struct coll_verdict *ret_verdict,
                             struct pl_error *error)
{
    struct coll_verdict written;
    begin_repetition(run, repetition);
    pl_status status = replay_place_make_coll(run, error);
    if (status != PL_OK)
        replay_note(run, NULL, error);
    struct devices *devices = watch_devices(run);
    MPI_Barrier(run->comm);
    run->repetition_ns = replay_now_ns();
    run->idle_ns = replay_computed_ns();
    if (status == PL_OK)
        replay_walk_coll(run);
    replay_file_close_all_coll(run);
    coll_agree_coll(run->comm, run->failure.status, &run->failure, ret_verdict);
    devices_stop(devices);
    replay_place_remove_coll(run);
    status = replay_write_units_coll(run, run->plan->unit_count, error);
    if (status == PL_OK) {
        const pl_status rest = run->rank == 0 ? write_rest(run, devices, ret_verdict, error) : PL_OK;
        status = coll_agree_coll(run->comm, rest, error, &written);
    }
    devices_free(devices);
    return status;
}

static pl_status run_block_coll(struct replay_run *run, struct pl_error *error)
{
    struct timespec now;
    struct coll_verdict verdict = {.status = PL_OK};
    MPI_Barrier(run->comm); /* times of different ranks begin to count together */
    clock_gettime(CLOCK_REALTIME, &now);
    run->start_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    run->began_ns = replay_now_ns();
    pl_status status = replay_write_head_coll(run, error);
    for (int64_t i = 1; i <= run->job->repeat && status == PL_OK && verdict.status == PL_OK; i++)
        status = repeat_coll(run, i, &verdict, error);
    if (status == PL_OK && run->rank == 0)
        status = blockfile_end(run->writer, error);
    if (status == PL_OK && verdict.status != PL_OK)
        status = pl_fail(error, verdict.status, "%s: rank %d: %s", run->job->directory, verdict.rank, verdict.text);
    return coll_agree_coll(run->comm, status, error, &verdict);
}

pl_status replay_run_coll(MPI_Comm comm, const struct replay_job *job, const struct replay_observer *observer,
                          struct pl_error *error)
{
    struct replay_run run = {
        .job = job, .plan = job->plan, .model = job->plan->model, .observer = observer, .comm = comm, .phase_unit = -1};
    struct coll_verdict verdict;
    MPI_Comm_rank(comm, &run.rank);
    MPI_Comm_size(comm, &run.ranks);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is a failed replay, not the end of the program */
    pl_status status = prepare_coll(&run, error);
    if (status == PL_OK) {
        const pl_status opened = run.rank == 0 ? blockfile_writer_open(job->output, &run.writer, error) : PL_OK;
        status = coll_agree_coll(comm, opened, error, &verdict);
    }
    if (status == PL_OK)
        status = run_block_coll(&run, error);
    struct pl_error close_error;
    const pl_status closed = blockfile_writer_close(run.writer, &close_error);
    if (status == PL_OK && closed != PL_OK)
        *error = close_error;
    clear(&run);
    return coll_agree_coll(comm, status != PL_OK ? status : closed, error, &verdict);
}
