/* The measured loop of one pattern. */
#include "bench/beffio/beffio.h"

#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* ---- one call ---- */

static int64_t beffio_offset_of(const struct beffio_loop *loop, int64_t index)
{
    if (loop->layout->type != BEFFIO_RANDOM)
        return loop->base_bytes + index * loop->stride_bytes;
    const int64_t place = iot_order_at(&loop->order, index * loop->layout->nprocs + loop->rank);
    return loop->base_bytes + place * loop->call_bytes;
}

/* The type goes into the key: a file that was taken for another one is noticed. */
static const double *beffio_data_of(const struct beffio_loop *loop, int64_t offset, bool rewritten)
{
    return iot_data_block(loop->data, offset ^ (int64_t)loop->layout->type << 56, rewritten);
}

static bool beffio_ends_match(const double *wanted, const double *got, int64_t count)
{
    return wanted[0] == got[0] && wanted[count - 1] == got[count - 1];
}

/* What belongs where call `index` reads. A run that was killed while it rewrote may have left new data behind the calls
 * that its continuation rewrote: there, both are right. */
static const double *beffio_wanted_of(const struct beffio_loop *loop, int64_t index)
{
    const int64_t offset = beffio_offset_of(loop, index), count = loop->call_bytes / (int64_t)sizeof(double);
    const double *wanted = beffio_data_of(loop, offset, index < loop->rewritten);
    if (index < loop->rewritten || beffio_ends_match(wanted, loop->buffer, count))
        return wanted;
    const double *newer = beffio_data_of(loop, offset, true);
    return beffio_ends_match(newer, loop->buffer, count) ? newer : wanted;
}

static pl_status beffio_wrong_data(const struct beffio_loop *loop, int64_t index, int64_t at, struct pl_error *error)
{
    return pl_fail(error, PL_E_DATA, "pattern %d, call %lld: wrong data at byte %lld of the call", loop->pattern,
                   (long long)index, (long long)at * 8);
}

static pl_status beffio_check_ends(const struct beffio_loop *loop, int64_t index, struct pl_error *error)
{
    const int64_t count = loop->call_bytes / (int64_t)sizeof(double);
    const double *wanted = beffio_wanted_of(loop, index);
    if (wanted[0] != loop->buffer[0])
        return beffio_wrong_data(loop, index, 0, error);
    return wanted[count - 1] == loop->buffer[count - 1] ? PL_OK : beffio_wrong_data(loop, index, count - 1, error);
}

static pl_status beffio_check_moved(const struct beffio_loop *loop, int64_t index, int code, MPI_Status *moved,
                                    struct pl_error *error)
{
    const char *doing = loop->method == BEFFIO_READ ? "reading" : "writing";
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s pattern %d, call %lld", doing, loop->pattern, (long long)index);
    int count = 0;
    MPI_Get_count(moved, MPI_INT64_T, &count);
    if (count == loop->call_bytes / 8)
        return PL_OK;
    /* Open MPI tells of a full disk by a count alone */
    return pl_fail(error, loop->method == BEFFIO_READ ? PL_E_DATA : PL_E_SPACE,
                   "%s pattern %d, call %lld: moved %lld of %lld bytes%s", doing, loop->pattern, (long long)index,
                   (long long)count * 8, (long long)loop->call_bytes,
                   loop->method == BEFFIO_READ ? "" : "; is the disk full?");
}

/* A rank that has failed goes on with nothing to give where the others need it. */
static int beffio_call(const struct beffio_loop *loop, int64_t index, bool idle, MPI_Status *moved)
{
    const int64_t offset = beffio_offset_of(loop, index);
    const int count = idle ? 0 : (int)(loop->call_bytes / 8);
    if (loop->method == BEFFIO_READ)
        return beffio_file_read(loop->file, offset, loop->buffer, count, moved);
    return beffio_file_write(loop->file, offset, beffio_data_of(loop, offset, loop->method == BEFFIO_REWRITE), count,
                             moved);
}

/* Room for the times of a batch's calls, taken between two batches and outside of the pattern's time. Where there is no
 * memory, the times of later calls are lost, and the results say so. */
static void beffio_make_room(struct beffio_loop *loop, int64_t batch)
{
    const double begin = MPI_Wtime();
    const int64_t calls = loop->calls + batch;
    struct pl_error ignored;
    if (loop->series)
        sample_reserve(loop->series, calls < loop->kept_most ? calls : loop->kept_most, &ignored);
    loop->own_memory_s += MPI_Wtime() - begin;
}

static double beffio_elapsed_s(const struct beffio_loop *loop, double now)
{
    return now - loop->began - loop->own_check_s - loop->own_memory_s;
}

/* Release 2.1 behind each call: rank 0 looks whether the next one would end in time, and tells the others. */
static bool beffio_goes_on_coll(struct beffio_loop *loop, int64_t calls)
{
    const double begin = MPI_Wtime();
    int goes_on = 0;
    MPI_Barrier(loop->comm);
    if (loop->rank == 0)
        goes_on = beffio_elapsed_s(loop, MPI_Wtime()) * (double)(calls + 1) / (double)calls <= loop->plan.limit_s;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, loop->comm);
    loop->own_decide_s += MPI_Wtime() - begin;
    loop->decisions++;
    return goes_on;
}

/* The time of a call runs from the end of what was before it: one look at the clock a call. Returns the calls that were
 * made: fewer than `batch` where release 2.1's test ended the loop. */
static int64_t beffio_run_batch(struct beffio_loop *loop, int64_t batch, pl_status *ret_status, struct pl_error *error)
{
    const bool each_call = loop->plan.each_call, collective = beffio_is_collective(loop->layout->type);
    struct sample_series *series = loop->series;
    assert(batch > 0 && batch <= loop->plan.most_calls - loop->calls);
    pl_status status = PL_OK;
    int64_t i = loop->calls;
    double before = MPI_Wtime();
    for (; i < loop->calls + batch && !loop->over && (status == PL_OK || collective || each_call); i++) {
        MPI_Status moved;
        const bool failed = status != PL_OK;
        const int code = failed && !collective ? MPI_SUCCESS : beffio_call(loop, i, failed, &moved);
        const double now = MPI_Wtime();
        loop->own_calls_s += now - before;
        if (series && i == series->count && i < series->capacity)
            sample_put(series, i, before, now);
        before = now;
        if (!failed)
            status = beffio_check_moved(loop, i, code, &moved, error);
        if (!failed && status == PL_OK && loop->method == BEFFIO_READ)
            status = beffio_check_ends(loop, i, error);
        if (each_call) {
            loop->over = !beffio_goes_on_coll(loop, i + 1);
            before = MPI_Wtime();
        }
    }
    *ret_status = status;
    return status == PL_OK || collective || each_call ? i - loop->calls : batch;
}

/* The last call of a batch, all over. */
static pl_status beffio_check_last(struct beffio_loop *loop, int64_t index, struct pl_error *error)
{
    const double begin = MPI_Wtime();
    const int64_t wrong = iot_data_check(IOT_CHECK_SAMPLE, beffio_wanted_of(loop, index), loop->buffer,
                                         loop->call_bytes / 8, rng_at((uint64_t)loop->pattern, (uint64_t)index));
    loop->own_check_s += MPI_Wtime() - begin;
    return wrong < 0 ? PL_OK : beffio_wrong_data(loop, index, wrong, error);
}

/* ---- the decision ---- */

/* What all ranks know after they met. */
struct beffio_meeting {
    bool failed;
    double elapsed_s; /* of the slowest */
    int64_t free_bytes;
};

/* How far this shell lets a file grow (ulimit -f), as bytes of all processes from here on. */
static int64_t beffio_limit_bytes_of(const struct beffio_loop *loop)
{
    const struct beffio_layout *layout = loop->layout;
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > (rlim_t)INT64_MAX / layout->nprocs)
        return INT64_MAX;
    const int64_t most = (int64_t)limit.rlim_cur;
    if (layout->segment_bytes > 0)
        return layout->segment_bytes * layout->nprocs <= most ? INT64_MAX : 0;
    const int64_t sharers = layout->type == 2 ? 1 : layout->nprocs; /* of a file */
    const int64_t end = beffio_layout_start(layout, loop->pattern) + loop->calls * loop->call_bytes * sharers;
    return end < most ? (most - end) / sharers * layout->nprocs : 0;
}

static int64_t beffio_free_bytes_of(const struct beffio_loop *loop)
{
    struct statvfs space;
    if (!loop->folder)
        return INT64_MAX;
    const int64_t limit = beffio_limit_bytes_of(loop);
    if (statvfs(loop->folder, &space) != 0 || space.f_blocks == 0)
        return limit;
    const int64_t there = (int64_t)space.f_bavail * (int64_t)space.f_frsize;
    return there < limit ? there : limit;
}

/* One reduction: it is the barrier, it brings the slowest clock, and it tells of failures. The cost of a decision is
 * the time in it of the rank that came last, which waited for nobody: the least over the ranks, known one meeting
 * later. */
static struct beffio_meeting beffio_meet_coll(struct beffio_loop *loop, bool failed)
{
    enum { FAILED, ELAPSED, FREE, COST, COUNT };
    const double begin = MPI_Wtime();
    const double elapsed_s = beffio_elapsed_s(loop, begin);
    int64_t mine[COUNT] = {failed, llround(elapsed_s * 1e9), -beffio_free_bytes_of(loop),
                           -llround(loop->last_decide_s * 1e9)};
    int64_t all[COUNT] = {0};
    MPI_Allreduce(mine, all, COUNT, MPI_INT64_T, MPI_MAX, loop->comm);
    loop->last_decide_s = MPI_Wtime() - begin;
    loop->own_decide_s += loop->last_decide_s;
    loop->decide_s += (double)-all[COST] * 1e-9;
    return (struct beffio_meeting){
        .failed = all[FAILED], .elapsed_s = (double)all[ELAPSED] * 1e-9, .free_bytes = -all[FREE]};
}

static pl_status beffio_no_space(const struct beffio_loop *loop, int64_t free_bytes, struct pl_error *error)
{
    return pl_fail(error, PL_E_SPACE,
                   "pattern %d, call %lld: a call writes %lld bytes, but '%s' has only %lld free (or "
                   "'ulimit -f' allows no more), of which 4 MB and 1 %% are kept",
                   loop->pattern, (long long)loop->calls, (long long)loop->call_bytes * loop->layout->nprocs,
                   loop->folder, (long long)free_bytes);
}

static void beffio_keep_batch(struct beffio_loop *loop, int64_t batch, double elapsed_s)
{
    if (loop->batch_count < BEFFIO_BATCHES_KEPT) {
        loop->batches[loop->batch_count] = batch;
        loop->elapsed_s[loop->batch_count] = elapsed_s;
    }
    loop->batch_count++;
}

/* ---- the loop ---- */

static pl_status beffio_run_batches_coll(struct beffio_loop *loop, struct beffio_meeting *met, struct pl_error *error)
{
    const double least_s = fmax(loop->first_decide_s, loop->decision_before_s);
    struct beffio_state state = {.decision_s = least_s};
    pl_status status = PL_OK;
    int64_t batch;
    while (!loop->over && (batch = beffio_next_batch(&loop->plan, &state)) > 0) {
        batch = loop->folder ? beffio_calls_in_space(batch, loop->call_bytes * loop->layout->nprocs, met->free_bytes)
                             : batch;
        if (batch == 0) { /* all ranks know the same */
            met->failed = true;
            return beffio_no_space(loop, met->free_bytes, error);
        }
        beffio_make_room(loop, batch);
        batch = beffio_run_batch(loop, batch, &status, error);
        if (status == PL_OK && loop->method == BEFFIO_READ)
            status = beffio_check_last(loop, loop->calls + batch - 1, error);
        loop->calls += batch;
        if (loop->calls == loop->plan.most_calls || loop->over) { /* the end: nothing is to be decided */
            beffio_keep_batch(loop, batch, beffio_elapsed_s(loop, MPI_Wtime()));
            return status;
        }
        *met = beffio_meet_coll(loop, status != PL_OK);
        loop->decisions += !loop->plan.each_call;
        beffio_keep_batch(loop, batch, met->elapsed_s);
        if (met->failed)
            return status;
        state.batch_s = met->elapsed_s - state.elapsed_s - (loop->decide_s - state.spent_s);
        state.spent_s = loop->decide_s; /* without the meeting just over, as the elapsed time */
        state.calls = loop->calls;
        state.batch = batch;
        state.elapsed_s = met->elapsed_s;
        if (loop->batch_count > 1) /* the last one's cost is not known yet */
            state.decision_s = fmax(least_s, loop->decide_s / (loop->batch_count - 1));
    }
    return status;
}

static void beffio_prepare(struct beffio_loop *loop)
{
    const struct beffio_layout *layout = loop->layout;
    loop->call_bytes = beffio_layout_call_bytes(layout, loop->pattern);
    assert(loop->call_bytes % 8 == 0 && loop->call_bytes / 8 <= INT_MAX);
    loop->base_bytes = layout->type == BEFFIO_RANDOM ? beffio_layout_start(layout, loop->pattern)
                                                     : beffio_layout_offset(layout, loop->pattern, loop->rank, 0);
    loop->stride_bytes = beffio_layout_offset(layout, loop->pattern, loop->rank, 1) -
                         beffio_layout_offset(layout, loop->pattern, loop->rank, 0);
    if (layout->type == BEFFIO_RANDOM)
        loop->order = iot_order_make(layout->calls[loop->pattern] * layout->nprocs,
                                     rng_at(loop->order_seed, (uint64_t)loop->pattern));
}

/* Ranks may have come one by one: the first meeting is a barrier, the second one costs what a decision does, and the
 * third one tells it to all. Crowded nodes, where it is dear, then begin with larger batches. What is known from before
 * is agreed upon: ranks that were not in a smaller partition know less, and would make another number of calls. */
static struct beffio_meeting beffio_begin_coll(struct beffio_loop *loop)
{
    double known[2] = {loop->decision_before_s, loop->plan.expected_s};
    MPI_Allreduce(MPI_IN_PLACE, known, 2, MPI_DOUBLE, MPI_MAX, loop->comm);
    loop->decision_before_s = known[0];
    loop->plan.expected_s = known[1];
    loop->began = MPI_Wtime();
    beffio_meet_coll(loop, false);
    beffio_meet_coll(loop, false);
    loop->decide_s = 0;
    const struct beffio_meeting met = beffio_meet_coll(loop, false);
    loop->first_decide_s = loop->decide_s;
    loop->own_decide_s = loop->decide_s = loop->last_decide_s = 0;
    loop->began = MPI_Wtime();
    return met;
}

pl_status beffio_loop_coll(struct beffio_loop *loop, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    beffio_prepare(loop);
    struct beffio_meeting met = beffio_begin_coll(loop);
    pl_status status = beffio_run_batches_coll(loop, &met, error);
    if (!met.failed && loop->method != BEFFIO_READ) { /* also by a rank that failed behind the last decision */
        struct pl_error failure;
        if (loop->plan.each_call)
            MPI_Barrier(loop->comm);
        const double begin = MPI_Wtime();
        const pl_status synced = beffio_file_sync_coll(loop->file, &failure);
        loop->own_sync_s = MPI_Wtime() - begin;
        if (loop->plan.each_call)
            MPI_Barrier(loop->comm);
        if (status == PL_OK && synced != PL_OK) {
            *error = failure;
            status = synced;
        }
    }
    const double own_decide_s = loop->own_decide_s;
    if (loop->plan.each_call) { /* of the rank that waited least */
        loop->decide_s = 0;
        loop->last_decide_s = own_decide_s;
    }
    loop->time_s = beffio_meet_coll(loop, status != PL_OK).elapsed_s;
    loop->own_decide_s = own_decide_s; /* this meeting decided nothing and is not in the time */
    return coll_agree_coll(loop->comm, status, error, ret_verdict);
}
