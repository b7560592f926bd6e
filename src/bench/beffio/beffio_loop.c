#include "bench/beffio/beffio_loop.h"

#include "base/rng.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* ---- one call ---- */

static int64_t offset_of(const struct beffio_loop *loop, int64_t index)
{
    if (loop->layout->type != BEFFIO_RANDOM)
        return loop->base_bytes + index * loop->stride_bytes;
    const int64_t place = iot_order_at(&loop->order, index * loop->layout->nprocs + loop->rank);
    return loop->base_bytes + place * loop->call_bytes;
}

/* The type goes into the key: a file that was taken for another one is noticed. */
static const double *data_of(const struct beffio_loop *loop, int64_t offset, bool rewritten)
{
    return iot_data_block(loop->data, offset ^ (int64_t)loop->layout->type << 56, rewritten);
}

static bool ends_match(const double *wanted, const double *got, int64_t count)
{
    return wanted[0] == got[0] && wanted[count - 1] == got[count - 1];
}

/* What belongs where call `index` reads. A run that was killed while it rewrote may have left new data behind the calls
 * that its continuation rewrote: there, both are right. */
static const double *wanted_of(const struct beffio_loop *loop, int64_t index)
{
    const int64_t offset = offset_of(loop, index), count = loop->call_bytes / (int64_t)sizeof(double);
    const double *wanted = data_of(loop, offset, index < loop->rewritten);
    if (index < loop->rewritten || ends_match(wanted, loop->buffer, count))
        return wanted;
    const double *newer = data_of(loop, offset, true);
    return ends_match(newer, loop->buffer, count) ? newer : wanted;
}

static pl_status wrong_data(const struct beffio_loop *loop, int64_t index, int64_t at, struct pl_error *error)
{
    return pl_fail(error, PL_E_DATA, "pattern %d, call %lld: wrong data at byte %lld of the call", loop->pattern,
                   (long long)index, (long long)at * 8);
}

static pl_status check_ends(const struct beffio_loop *loop, int64_t index, struct pl_error *error)
{
    const int64_t count = loop->call_bytes / (int64_t)sizeof(double);
    const double *wanted = wanted_of(loop, index);
    if (wanted[0] != loop->buffer[0])
        return wrong_data(loop, index, 0, error);
    return wanted[count - 1] == loop->buffer[count - 1] ? PL_OK : wrong_data(loop, index, count - 1, error);
}

static pl_status check_moved(const struct beffio_loop *loop, int64_t index, int code, MPI_Status *moved,
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
static int call(const struct beffio_loop *loop, int64_t index, bool idle, MPI_Status *moved)
{
    const int64_t offset = offset_of(loop, index);
    const int count = idle ? 0 : (int)(loop->call_bytes / 8);
    if (loop->method == BEFFIO_READ)
        return beffio_file_read(loop->file, offset, loop->buffer, count, moved);
    return beffio_file_write(loop->file, offset, data_of(loop, offset, loop->method == BEFFIO_REWRITE), count, moved);
}

static pl_status run_batch(struct beffio_loop *loop, int64_t batch, struct pl_error *error)
{
    const bool collective = beffio_is_collective(loop->layout->type);
    pl_status status = PL_OK;
    const double begin = MPI_Wtime();
    for (int64_t i = loop->calls; i < loop->calls + batch && (status == PL_OK || collective); i++) {
        MPI_Status moved;
        const int code = call(loop, i, status != PL_OK, &moved);
        if (status != PL_OK)
            continue;
        status = check_moved(loop, i, code, &moved, error);
        if (status == PL_OK && loop->method == BEFFIO_READ)
            status = check_ends(loop, i, error);
    }
    loop->own_calls_s += MPI_Wtime() - begin;
    return status;
}

/* The last call of a batch, all over. */
static pl_status check_last(struct beffio_loop *loop, int64_t index, struct pl_error *error)
{
    const double begin = MPI_Wtime();
    const int64_t wrong = iot_data_check(IOT_CHECK_SAMPLE, wanted_of(loop, index), loop->buffer, loop->call_bytes / 8,
                                         rng_at((uint64_t)loop->pattern, (uint64_t)index));
    loop->own_check_s += MPI_Wtime() - begin;
    return wrong < 0 ? PL_OK : wrong_data(loop, index, wrong, error);
}

/* ---- the decision ---- */

/* What all ranks know after they met. */
struct meeting {
    bool failed;
    double elapsed_s; /* of the slowest */
    int64_t free_bytes;
};

/* How far this shell lets a file grow (ulimit -f), as bytes of all processes from here on. */
static int64_t limit_bytes_of(const struct beffio_loop *loop)
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

static int64_t free_bytes_of(const struct beffio_loop *loop)
{
    struct statvfs space;
    if (!loop->folder)
        return INT64_MAX;
    const int64_t limit = limit_bytes_of(loop);
    if (statvfs(loop->folder, &space) != 0 || space.f_blocks == 0)
        return limit;
    const int64_t there = (int64_t)space.f_bavail * (int64_t)space.f_frsize;
    return there < limit ? there : limit;
}

/* One reduction: it is the barrier, it brings the slowest clock, and it tells of failures. The cost of a decision is
 * the time in it of the rank that came last, which waited for nobody: the least over the ranks, known one meeting
 * later. */
static struct meeting meet_coll(struct beffio_loop *loop, bool failed)
{
    enum { FAILED, ELAPSED, FREE, COST, COUNT };
    const double begin = MPI_Wtime();
    const double elapsed_s = begin - loop->began - loop->own_check_s;
    int64_t mine[COUNT] = {failed, llround(elapsed_s * 1e9), -free_bytes_of(loop), -llround(loop->last_decide_s * 1e9)};
    int64_t all[COUNT] = {0};
    MPI_Allreduce(mine, all, COUNT, MPI_INT64_T, MPI_MAX, loop->comm);
    loop->last_decide_s = MPI_Wtime() - begin;
    loop->own_decide_s += loop->last_decide_s;
    loop->decide_s += (double)-all[COST] * 1e-9;
    return (struct meeting){.failed = all[FAILED], .elapsed_s = (double)all[ELAPSED] * 1e-9, .free_bytes = -all[FREE]};
}

static pl_status no_space(const struct beffio_loop *loop, int64_t free_bytes, struct pl_error *error)
{
    return pl_fail(error, PL_E_SPACE,
                   "pattern %d, call %lld: a call writes %lld bytes, but '%s' has only %lld free (or "
                   "'ulimit -f' allows no more), of which 4 MB and 1 %% are kept",
                   loop->pattern, (long long)loop->calls, (long long)loop->call_bytes * loop->layout->nprocs,
                   loop->folder, (long long)free_bytes);
}

static void keep_batch(struct beffio_loop *loop, int64_t batch, double elapsed_s)
{
    if (loop->decisions < BEFFIO_BATCHES_KEPT) {
        loop->batches[loop->decisions] = batch;
        loop->elapsed_s[loop->decisions] = elapsed_s;
    }
    loop->decisions++;
}

/* ---- the loop ---- */

static pl_status run_batches_coll(struct beffio_loop *loop, struct meeting *met, struct pl_error *error)
{
    struct beffio_state state = {.decision_s = loop->first_decide_s};
    pl_status status = PL_OK;
    int64_t batch;
    while ((batch = beffio_next_batch(&loop->plan, &state)) > 0) {
        batch = loop->folder ? beffio_calls_in_space(batch, loop->call_bytes * loop->layout->nprocs, met->free_bytes)
                             : batch;
        if (batch == 0) { /* all ranks know the same */
            met->failed = true;
            return no_space(loop, met->free_bytes, error);
        }
        status = run_batch(loop, batch, error);
        if (status == PL_OK && loop->method == BEFFIO_READ)
            status = check_last(loop, loop->calls + batch - 1, error);
        loop->calls += batch;
        *met = meet_coll(loop, status != PL_OK);
        keep_batch(loop, batch, met->elapsed_s);
        if (met->failed)
            return status;
        state.batch_s = met->elapsed_s - state.elapsed_s;
        state.calls = loop->calls;
        state.batch = batch;
        state.elapsed_s = met->elapsed_s;
        if (loop->decisions > 1) /* the last one's cost is not known yet */
            state.decision_s = fmax(loop->first_decide_s, loop->decide_s / (loop->decisions - 1));
    }
    return status;
}

static void prepare(struct beffio_loop *loop)
{
    const struct beffio_layout *layout = loop->layout;
    loop->call_bytes = beffio_layout_call_bytes(layout, loop->pattern);
    loop->base_bytes = layout->type == BEFFIO_RANDOM ? beffio_layout_start(layout, loop->pattern)
                                                     : beffio_layout_offset(layout, loop->pattern, loop->rank, 0);
    loop->stride_bytes = beffio_layout_offset(layout, loop->pattern, loop->rank, 1) -
                         beffio_layout_offset(layout, loop->pattern, loop->rank, 0);
    if (layout->type == BEFFIO_RANDOM)
        loop->order = iot_order_make(layout->calls[loop->pattern] * layout->nprocs,
                                     rng_at(loop->order_seed, (uint64_t)loop->pattern));
}

/* Ranks may have come one by one: the first meeting is a barrier, the second one costs what a decision does, and the
 * third one tells it to all. Crowded nodes, where it is dear, then begin with larger batches. */
static struct meeting begin_coll(struct beffio_loop *loop)
{
    loop->began = MPI_Wtime();
    meet_coll(loop, false);
    meet_coll(loop, false);
    loop->decide_s = 0;
    const struct meeting met = meet_coll(loop, false);
    loop->first_decide_s = loop->decide_s;
    loop->own_decide_s = loop->decide_s = loop->last_decide_s = 0;
    loop->began = MPI_Wtime();
    return met;
}

pl_status beffio_loop_coll(struct beffio_loop *loop, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    prepare(loop);
    struct meeting met = begin_coll(loop);
    pl_status status = run_batches_coll(loop, &met, error);
    if (!met.failed && loop->method != BEFFIO_READ) {
        const double begin = MPI_Wtime();
        status = beffio_file_sync_coll(loop->file, error);
        loop->own_sync_s = MPI_Wtime() - begin;
    }
    const double own_decide_s = loop->own_decide_s;
    loop->time_s = meet_coll(loop, status != PL_OK).elapsed_s;
    loop->own_decide_s = own_decide_s; /* this meeting decided nothing and is not in the time */
    return coll_agree_coll(loop->comm, status, error, ret_verdict);
}
