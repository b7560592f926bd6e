/* A replay from its beginning to its end: what is needed, the repetitions, the results. */
#include "bench/replay/replay_run.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/units.h"
#include "lab/facts/devices.h"
#include "lab/facts/environment.h"
#include "lab/facts/place.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DEVICE_PERIOD_NS INT64_C(200000000)

/* ---- what is needed ---- */

static int64_t replay_run_memory_of(const struct replay_run *run)
{
    return saturating_mul(run->buffer_bytes, run->buffer_count);
}

/* Buffers in which the program's layouts have their place; where those need more memory than there is, accesses are in
 * one piece. */
static void replay_run_choose_buffers(struct replay_run *run, int64_t available_bytes)
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

/* Not at a page, as those of programs: memory of this size comes with a head of 16 bytes. */
enum { BUFFER_HEAD = 16 };

static char *replay_run_new_buffer(int64_t bytes)
{
    char *memory = mmap(NULL, (size_t)bytes + BUFFER_HEAD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory + BUFFER_HEAD;
}

/* Moves pages of a buffer out of the way, to be kept until the repetition ends: pages that were given back just now
 * would be the next ones that the kernel hands out, and are in the caches still. Those that a program meets for the
 * first time are not. Without memory to spare they are given back. */
static void replay_run_retire(struct replay_run *run, char *memory, size_t bytes)
{
    if (run->retired_bytes + (int64_t)bytes > run->retired_most ||
        !ARRAY_ROOM(run->retired, run->retired_count, run->retired_room, 8))
        return;
    char *away = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (away == MAP_FAILED)
        return;
    if (mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, away) != away) {
        munmap(away, bytes);
        return;
    }
    run->retired[run->retired_count++] = (struct replay_memory){away, bytes};
    run->retired_bytes += (int64_t)bytes;
}

static void replay_run_free_retired(struct replay_run *run)
{
    for (int i = 0; i < run->retired_count; i++)
        munmap(run->retired[i].memory, run->retired[i].bytes);
    run->retired_count = 0;
    run->retired_bytes = 0;
}

/* Other pages are taken, which nobody has touched. (Not by madvise(): it leaves tables of pages, and those of huge
 * pages would not come back.) */
void replay_run_freshen(struct replay_run *run, int buffer, int64_t bytes)
{
    enum { PAGE = 4096 };
    char *memory = run->buffers[buffer] - BUFFER_HEAD;
    assert(bytes > 0 && bytes <= run->buffer_bytes);
    const int64_t whole = (bytes + BUFFER_HEAD + PAGE - 1) / PAGE * PAGE;
    replay_run_retire(run, memory, (size_t)whole);
    if (mmap(memory, (size_t)whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != memory)
        abort(); /* the old pages may be gone */
}

/* What of the buffers is untouched at first is told for each file, of all ranks together: each has its share by the
 * bytes that it moves. */
static pl_status replay_run_share_fresh_coll(struct replay_run *run, struct pl_error *error)
{
    const int count = run->model->file_count;
    double *mine = calloc(2 * (size_t)count + 1, sizeof *mine), *all = calloc(2 * (size_t)count + 1, sizeof *all);
    struct coll_verdict verdict;
    pl_status status = mine && all ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for the files of the model");
    status = coll_agree_coll(run->comm, status, error, &verdict);
    for (int i = 0; i < run->extents.count && status == PL_OK; i++) {
        const struct replay_extent *extent = &run->extents.items[i];
        mine[2 * extent->file] += extent->read_bytes;
        mine[2 * extent->file + 1] += extent->written_bytes;
    }
    if (status == PL_OK)
        MPI_Allreduce(mine, all, 2 * count, MPI_DOUBLE, MPI_SUM, run->comm);
    for (int i = 0; i < count && status == PL_OK && run->model->fresh; i++) {
        struct model_buffers *share = &run->fresh_share[i];
        *share = run->model->fresh[i];
        share->read_bytes *= all[2 * i] > 0 ? mine[2 * i] / all[2 * i] : 0;
        share->written_bytes *= all[2 * i + 1] > 0 ? mine[2 * i + 1] / all[2 * i + 1] : 0;
    }
    free(mine);
    free(all);
    return status;
}

/* Buffers are filled, so that their pages are there before anything is timed, but for those that the program had not
 * touched either. */
static pl_status replay_run_make_buffers(struct replay_run *run, int node_ranks, struct pl_error *error)
{
    enum { PAGE = 4096 };
    const int64_t available = environment_memory_available_bytes();
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    replay_run_choose_buffers(run, available > 0 ? available / node_ranks : 0);
    if (available > 0 && replay_run_memory_of(run) > available / node_ranks)
        return pl_fail(error, PL_E_NOMEM, "a rank needs %s of memory, but %d ranks share %s available on this node",
                       units_bytes(replay_run_memory_of(run), needed), node_ranks, units_bytes(available, there));
    run->retired_most = available > 0 ? (available / node_ranks - replay_run_memory_of(run)) / 2 : 0;
    run->buffers = calloc((size_t)run->buffer_count, sizeof *run->buffers);
    run->is_taken = calloc((size_t)run->buffer_count, sizeof *run->is_taken);
    for (int i = 0; i < run->buffer_count && run->buffers && run->is_taken; i++) {
        run->buffers[i] = replay_run_new_buffer(run->buffer_bytes);
        uint64_t *words = (uint64_t *)(void *)run->buffers[i];
        for (int64_t k = 0; words && k < run->buffer_bytes / (int64_t)sizeof *words; k++)
            words[k] = rng_mix((uint64_t)run->rank << 32 | (uint64_t)k);
        if (!words)
            break;
    }
    return run->buffers && run->is_taken && run->buffers[run->buffer_count - 1]
               ? PL_OK
               : pl_fail(error, PL_E_NOMEM, "not enough memory for %s", units_bytes(replay_run_memory_of(run), needed));
}

/* Ranks that take part in different numbers of collectives would wait for each other for ever. */
static pl_status replay_run_check_order_coll(struct replay_run *run, struct pl_error *error)
{
    const int64_t order = (int64_t)(replay_plan_order(run->model, run->rank, -1, NULL) >> 1);
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

static pl_status replay_run_check_files_coll(struct replay_run *run, struct pl_error *error,
                                             struct coll_verdict *verdict)
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

static pl_status replay_run_check_space_coll(struct replay_run *run, struct coll_verdict *ret_verdict)
{
    char probe[REPLAY_PATH_MAX];
    struct pl_error error;
    const int64_t bytes = replay_extents_space_coll(run->plan, &run->extents, run->comm);
    const int length = snprintf(probe, sizeof probe, "%s/piolet-replay.files", run->job->directory);
    pl_status status = PL_OK;
    if (run->rank == 0)
        status = length < REPLAY_PATH_MAX ? place_check(probe, bytes, &error)
                                          : pl_fail(&error, PL_E_USAGE, "--on: the name is too long");
    return coll_agree_coll(run->comm, status, &error, ret_verdict);
}

static void replay_run_tell_memory_coll(struct replay_run *run)
{
    int untold = run->extents.untold;
    MPI_Allreduce(MPI_IN_PLACE, &untold, 1, MPI_INT, MPI_MAX, run->comm);
    run->extents.untold = untold;
    if (untold)
        lab_warn(run->lab, "note: the program's data were scattered in memory in a way that is not known or too large "
                           "here: such accesses are made from contiguous buffers, and may be faster than the "
                           "program's");
}

#define CALLS_MAX   INT64_C(1000000000) /* of a rank, without a time limit */
#define CALLS_AHEAD INT64_C(2000000)    /* that are looked at before, for each second of the limit and at least */

/* What the calls of this rank need: of all, unless the time limit ends the replay before so many. */
static pl_status replay_run_find_extents(struct replay_run *run, struct pl_error *error)
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

pl_status replay_run_check_coll(struct replay_run *run, const struct replay_job *job, MPI_Comm comm,
                                struct pl_error *error)
{
    struct coll_verdict verdict;
    *run = (struct replay_run){
        .job = job, .plan = job->plan, .model = job->plan->model, .comm = comm, .phase_unit = -1};
    MPI_Comm_rank(comm, &run->rank);
    MPI_Comm_size(comm, &run->ranks);
    run->all_calls = replay_plan_calls(run->model, run->rank);
    pl_status status = replay_run_check_order_coll(run, error);
    if (status == PL_OK && replay_run_find_extents(run, error) != PL_OK)
        status = pl_within(error, "%s", job->model_path);
    if (coll_agree_coll(comm, status, error, &verdict) == PL_OK &&
        replay_run_check_files_coll(run, error, &verdict) == PL_OK)
        return PL_OK;
    replay_run_clear_coll(run);
    return error->status = verdict.status; /* the same on all ranks, and so is how the program ends */
}

pl_status replay_run_begin_coll(struct replay_run *run, struct lab_run *lab, struct pl_error *error)
{
    struct coll_verdict verdict;
    run->lab = lab;
    pl_status status = replay_run_make_buffers(run, environment_node_ranks_coll(run->comm), error);
    run->measures = calloc((size_t)run->plan->unit_count + 1, sizeof *run->measures);
    run->done = calloc((size_t)run->model->leaf_count + (size_t)run->model->loop_count + 1, sizeof *run->done);
    run->fresh_left = calloc((size_t)run->model->file_count + 1, sizeof *run->fresh_left);
    run->fresh_share = calloc((size_t)run->model->file_count + 1, sizeof *run->fresh_share);
    if (status == PL_OK && (!run->measures || !run->done || !run->fresh_left || !run->fresh_share))
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
    status = coll_agree_coll(run->comm, status, error, &verdict);
    if (status == PL_OK)
        status = replay_run_share_fresh_coll(run, error);
    if (status == PL_OK)
        replay_run_tell_memory_coll(run);
    return status;
}

void replay_run_clear_coll(struct replay_run *run)
{
    for (int i = 0; i < run->plan->unit_count && run->measures; i++)
        free(run->measures[i].durations);
    for (int i = 0; i < run->buffer_count && run->buffers; i++)
        if (run->buffers[i])
            munmap(run->buffers[i] - BUFFER_HEAD, (size_t)run->buffer_bytes + BUFFER_HEAD);
    replay_run_free_retired(run);
    free(run->retired);
    free(run->measures);
    free(run->fresh_left);
    free(run->fresh_share);
    free(run->done);
    free(run->buffers);
    free(run->is_taken);
    free(run->gathered);
    replay_files_clear(run);
    replay_extents_clear(&run->extents);
    *run = (struct replay_run){.job = run->job};
}

/* ---- one repetition ---- */

static void replay_run_begin_repetition(struct replay_run *run, int64_t repetition)
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
    replay_run_free_retired(run);
    memcpy(run->fresh_left, run->fresh_share, (size_t)run->model->file_count * sizeof *run->fresh_left);
    memset(run->done, 0, ((size_t)run->model->leaf_count + (size_t)run->model->loop_count) * sizeof *run->done);
    for (int i = 0; i < run->plan->unit_count; i++) {
        run->measures[i].executed = run->measures[i].extended_ns = 0;
        run->measures[i].is_cut = false;
        run->measures[i].begin_ns = run->measures[i].end_ns = -1;
    }
}

/* Samples of the devices behind the target, as `iostat` would show them. */
static struct devices *replay_run_watch_devices(const struct replay_run *run)
{
    struct pl_error ignored; /* without them, there is nothing to show beside the phases */
    return run->rank == 0 ? devices_start(run->job->directory, DEVICE_PERIOD_NS, &ignored) : NULL;
}

/* Ranks that are done sleep until all are, as those of a program that are in MPI_Finalize: they would keep a core busy
 * beside one that still deletes files. */
static void replay_run_end_coll(struct replay_run *run)
{
    const struct timespec pause = {.tv_nsec = 100000};
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(run->comm, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        nanosleep(&pause, NULL);
}

/* *ret_verdict: how it went. The result tells whether the results could be written. */
static pl_status replay_run_repeat_coll(struct replay_run *run, int64_t repetition, struct coll_verdict *ret_verdict,
                                        struct pl_error *error)
{
    struct coll_verdict written;
    replay_run_begin_repetition(run, repetition);
    pl_status status = replay_place_make_coll(run, error);
    if (status != PL_OK)
        replay_note(run, NULL, error);
    struct devices *devices = replay_run_watch_devices(run);
    MPI_Barrier(run->comm);
    run->repetition_ns = replay_now_ns();
    run->idle_ns = replay_now_ns();
    if (status == PL_OK)
        replay_walk_coll(run);
    replay_run_end_coll(run);
    replay_file_close_all_coll(run);
    coll_agree_coll(run->comm, run->failure.status, &run->failure, ret_verdict);
    devices_stop(devices);
    replay_place_remove_coll(run);
    status = replay_write_units_coll(run, run->plan->unit_count, error);
    if (status == PL_OK && devices) /* on rank 0 */
        status = devices_write(devices, run->lab->writer, run->start_ns, (int)run->repetition, error);
    status = coll_agree_coll(run->comm, status, error, &written);
    if (status == PL_OK && ret_verdict->status != PL_OK)
        status = replay_write_failure_coll(run, ret_verdict, error);
    devices_free(devices);
    return status;
}

pl_status replay_run_place_coll(struct replay_run *run, const char *name, const bool *measured, struct pl_error *error)
{
    struct coll_verdict verdict = {.status = PL_OK};
    MPI_Barrier(run->comm); /* times of different ranks begin to count together */
    run->start_ns = clock_read_ns(CLOCK_REALTIME);
    run->began_ns = replay_now_ns();
    pl_status status = replay_write_head_coll(run, name, error);
    if (status == PL_OK && replay_run_check_space_coll(run, &verdict) != PL_OK) {
        run->repetition = 1;
        status = replay_write_failure_coll(run, &verdict, error);
    }
    for (int64_t i = 1; i <= run->job->repeat && status == PL_OK; i++) {
        if (measured[i] || verdict.status != PL_OK) {
            lab_skip(run->lab, 1);
            continue;
        }
        lab_step(run->lab, 1, "%s, repetition %" PRId64, run->job->directory, i);
        status = replay_run_repeat_coll(run, i, &verdict, error);
    }
    return lab_block_end_coll(run->lab, status, error);
}
