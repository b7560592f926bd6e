#include "bench/beffio/beffio_type.h"

#include "base/interrupt.h"
#include "base/notes.h"
#include "measure/info.h"
#include "measure/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One type while it is measured. */
struct turn {
    struct beffio_stage *stage;
    struct beffio_file file;
    struct beffio_layout layout;
    double open_s; /* not yet recorded; 0 where the file is open again after a kill */
};

/* ---- what is known already ---- */

static const struct beffio_result *found(const struct turn *turn, enum beffio_method method, int pattern)
{
    return beffio_results_find(turn->stage->results, turn->stage->path, turn->stage->nprocs, method, pattern);
}

bool beffio_type_is_done(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                         int type)
{
    if (beffio_type_failed(results, path, partition, BEFFIO_WRITE, type) ||
        beffio_type_failed(results, path, partition, method, type))
        return true;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++)
        if (!beffio_results_find(results, path, partition, method, p))
            return false;
    return true;
}

/* Where everything is: planned from types 0 to 2, or as far as it was written. */
static void make_layout(struct turn *turn)
{
    struct beffio_stage *stage = turn->stage;
    struct beffio_measured measured;
    beffio_measured_of(stage->results, stage->path, stage->nprocs, &measured);
    beffio_layout_plan(&turn->layout, turn->file.type, stage->nprocs, beffio_mpart(stage->config->node_memory_bytes),
                       &measured);
    for (int p = beffio_type_first(turn->file.type); p < beffio_type_end(turn->file.type); p++) {
        const struct beffio_result *written = found(turn, BEFFIO_WRITE, p);
        if (!beffio_is_planned(turn->file.type) && written)
            turn->layout.calls[p] = written->calls;
    }
}

/* ---- one pattern ---- */

/* Initial writes of types 0 to 2 end by time, of 3 and 4 by size; rewrites and reads by time or at the end of what was
 * written. A pattern without time units is one call, or fills a segment up. */
static struct beffio_loop_plan plan_of(const struct turn *turn, int pattern)
{
    const struct beffio_stage *stage = turn->stage;
    const int type = turn->file.type;
    const double scheduled_s = beffio_pattern_s(pattern, stage->config->time_s);
    const struct beffio_result *written = stage->method == BEFFIO_WRITE ? NULL : found(turn, BEFFIO_WRITE, pattern);
    struct beffio_loop_plan plan = {.limit_s = scheduled_s, .pace_s = scheduled_s, .most_calls = INT64_MAX};
    if (BEFFIO_TABLE[pattern].units == 0) {
        plan.limit_s = INFINITY;
        plan.most_calls = BEFFIO_TABLE[pattern].chunk == BEFFIO_FILL ? turn->layout.calls[pattern] : 1;
    } else if (beffio_is_planned(type)) {
        plan.most_calls = turn->layout.calls[pattern];
    }
    if ((type == 3 || type == 4) && stage->method == BEFFIO_WRITE)
        plan.limit_s = stage->config->time_s < BEFFIO_OFFICIAL_S && BEFFIO_TABLE[pattern].units > 0
                           ? scheduled_s * BEFFIO_PATIENCE
                           : INFINITY;
    if (written && written->calls < plan.most_calls)
        plan.most_calls = written->calls;
    return plan;
}

static int64_t ns(double seconds)
{
    return llround(seconds * 1e9);
}

static struct beffio_result describe(const struct turn *turn, int pattern)
{
    const struct beffio_stage *stage = turn->stage;
    const struct beffio_layout *layout = &turn->layout;
    const int64_t call_bytes = beffio_layout_call_bytes(layout, pattern);
    return (struct beffio_result){
        .path = stage->path,
        .partition = stage->nprocs,
        .method = (int32_t)stage->method,
        .pattern = pattern,
        .chunk_bytes = call_bytes / BEFFIO_TABLE[pattern].chunks,
        .call_bytes = call_bytes,
        .planned = beffio_is_planned(turn->file.type) ? layout->calls[pattern] : 0,
        .start_bytes = beffio_layout_start(layout, pattern),
        .segment_bytes = layout->segment_bytes,
        .scheduled_ns = ns(beffio_pattern_s(pattern, stage->config->time_s)),
    };
}

/* Times of the slowest rank; what was lost in a failure is not counted as moved. */
static void fill_in_coll(const struct turn *turn, const struct beffio_loop *loop, double position_s, double close_s,
                         struct beffio_result *result)
{
    enum { OPEN, POSITION, SYNC, CLOSE, COUNT };
    const double mine[COUNT] = {turn->open_s, position_s, loop->own_sync_s, close_s};
    double most[COUNT] = {0};
    MPI_Allreduce(mine, most, COUNT, MPI_DOUBLE, MPI_MAX, turn->stage->comm);
    result->open_ns = ns(most[OPEN]);
    result->position_ns = ns(most[POSITION]);
    result->sync_ns = ns(most[SYNC]);
    result->close_ns = ns(most[CLOSE]);
    result->time_ns = ns(loop->time_s);
    result->decide_ns = ns(loop->decide_s);
    result->decisions = loop->decisions;
    result->calls = loop->calls;
    result->bytes = loop->calls * result->call_bytes * turn->stage->nprocs;
}

/* ---- its set in the results ---- */

static void put_batches(const struct beffio_loop *loop, struct blockfile_writer *writer)
{
    struct text batches = {0}, times = {0};
    for (int i = 0; i < loop->decisions && i < BEFFIO_BATCHES_KEPT; i++) {
        text_format(&batches, "%s%lld", i ? " " : "", (long long)loop->batches[i]);
        text_format(&times, "%s%lld", i ? " " : "", (long long)ns(loop->elapsed_s[i]));
    }
    blockfile_param(writer, "batches", "%s", text_get(&batches));
    blockfile_param(writer, "elapsed_ns", "%s", text_get(&times));
    text_clear(&batches);
    text_clear(&times);
}

static void put_asked(const struct turn *turn, int pattern)
{
    const struct beffio_hints *hints = turn->file.hints;
    for (size_t i = 0; i < hints->count; i++) {
        const char *value = beffio_hint_value(hints, turn->file.type, pattern, hints->list[i].key);
        bool before = false;
        for (size_t j = 0; j < i && !before; j++)
            before = strcmp(hints->list[j].key, hints->list[i].key) == 0;
        if (value && !before)
            blockfile_hint(turn->stage->writer, "asked", hints->list[i].key, value);
    }
}

/* What MPI says it uses; of files that are open still. */
static void put_used(const struct turn *turn)
{
    struct text used = {0};
    if (turn->file.handle == MPI_FILE_NULL)
        return;
    info_note_file(turn->file.handle, NULL, NULL, &used);
    notes_put_hints_used(&used, turn->stage->writer);
    text_clear(&used);
}

static void put_times(const struct beffio_loop *loop, struct samples *samples)
{
    samples_time(samples, "calls_time", loop->own_calls_s);
    samples_time(samples, "sync_time", loop->own_sync_s);
    samples_time(samples, "decide_time", loop->own_decide_s);
    samples_time(samples, "check_time", loop->own_check_s);
}

static bool is_cut(const struct turn *turn, const struct beffio_result *result)
{
    const bool size_driven = turn->file.type == 3 || turn->file.type == 4;
    return size_driven && result->method == BEFFIO_WRITE && !result->failed && result->calls < result->planned;
}

static pl_status record_coll(struct turn *turn, const struct beffio_loop *loop, const struct beffio_result *result,
                             const struct coll_verdict *verdict, struct pl_error *error)
{
    struct beffio_stage *stage = turn->stage;
    struct samples samples = {0};
    put_times(loop, &samples);
    if (stage->rank == 0) {
        blockfile_set(stage->writer);
        beffio_result_write(result, stage->writer);
        put_batches(loop, stage->writer);
        put_asked(turn, result->pattern);
        if (result->open_ns || beffio_hints_own(turn->file.hints, result->pattern))
            put_used(turn);
    }
    samples_write_coll(&samples, stage->comm, stage->writer);
    pl_status status = beffio_results_add(stage->results, result) ? PL_OK
                                                                  : pl_fail(error, PL_E_NOMEM, "keeping results");
    if (stage->rank == 0) {
        char words[160];
        snprintf(words, sizeof words, "ended at %d times its scheduled time, with %lld of %lld calls", BEFFIO_PATIENCE,
                 (long long)result->calls, (long long)result->planned);
        if (is_cut(turn, result))
            blockfile_warning(stage->writer, words);
        if (verdict->status != PL_OK)
            blockfile_error(stage->writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
        const pl_status written = blockfile_end_set(stage->writer, error);
        status = written != PL_OK ? written : status;
    }
    samples_clear(&samples);
    struct coll_verdict all;
    return coll_agree_coll(stage->comm, status, error, &all);
}

static void tell(struct turn *turn, bool begins, const struct beffio_result *result, const struct coll_verdict *verdict)
{
    struct beffio_stage *stage = turn->stage;
    if (stage->rank != 0)
        return;
    const struct beffio_event event = {.path = stage->config->paths[stage->path],
                                       .result = result,
                                       .verdict = verdict,
                                       .number = stage->number,
                                       .patterns = stage->patterns,
                                       .left_s = stage->left_s};
    (begins ? stage->observer->begin : stage->observer->end)(stage->observer->context, &event);
}

/* ---- the patterns of a type ---- */

static struct beffio_loop loop_of(struct turn *turn, int pattern)
{
    struct beffio_stage *stage = turn->stage;
    const struct beffio_result *rewritten = found(turn, BEFFIO_REWRITE, pattern);
    return (struct beffio_loop){
        .comm = stage->comm,
        .file = &turn->file,
        .layout = &turn->layout,
        .rank = stage->rank,
        .pattern = pattern,
        .method = stage->method,
        .plan = plan_of(turn, pattern),
        .rewritten = rewritten ? rewritten->calls : 0,
        .order_seed = (uint64_t)stage->config->seed,
        .data = &stage->data,
        .buffer = stage->buffer,
        .folder = stage->method == BEFFIO_WRITE ? stage->config->paths[stage->path] : NULL,
    };
}

/* Position, loop, and behind the last pattern the close. The verdict is the same on all ranks. */
static void measure_coll(struct turn *turn, int pattern, struct beffio_loop *loop, struct beffio_result *result,
                         struct coll_verdict *ret_verdict)
{
    struct beffio_stage *stage = turn->stage;
    struct pl_error error;
    const double begin = MPI_Wtime();
    pl_status status = beffio_file_position_coll(&turn->file, &turn->layout, pattern, &error);
    const double position_s = MPI_Wtime() - begin;
    status = coll_agree_coll(stage->comm, status, &error, ret_verdict);
    if (status == PL_OK)
        status = beffio_loop_coll(loop, &error, ret_verdict);
    double close_s = 0;
    if (status == PL_OK && pattern + 1 == beffio_type_end(turn->file.type)) {
        const double closing = MPI_Wtime();
        status = beffio_file_close_coll(&turn->file, &error);
        close_s = MPI_Wtime() - closing;
        status = coll_agree_coll(stage->comm, status, &error, ret_verdict);
    }
    fill_in_coll(turn, loop, position_s, close_s, result);
    result->failed = status != PL_OK;
    turn->open_s = 0;
}

static pl_status run_pattern_coll(struct turn *turn, int pattern, bool *ret_failed, struct pl_error *error)
{
    struct beffio_stage *stage = turn->stage;
    struct beffio_result result = describe(turn, pattern);
    struct beffio_loop loop = loop_of(turn, pattern);
    struct coll_verdict verdict;
    tell(turn, true, &result, NULL);
    measure_coll(turn, pattern, &loop, &result, &verdict);
    if (!beffio_is_planned(turn->file.type) && stage->method == BEFFIO_WRITE)
        turn->layout.calls[pattern] = result.calls;
    const pl_status status = record_coll(turn, &loop, &result, &verdict, error);
    tell(turn, false, &result, &verdict);
    *ret_failed = result.failed;
    return status;
}

static void count_pattern(struct turn *turn, int pattern)
{
    turn->stage->number++;
    turn->stage->left_s -= beffio_pattern_s(pattern, turn->stage->config->time_s);
}

static pl_status run_patterns_coll(struct turn *turn, struct pl_error *error)
{
    bool failed = false;
    pl_status status = PL_OK;
    for (int p = beffio_type_first(turn->file.type); p < beffio_type_end(turn->file.type); p++) {
        count_pattern(turn, p);
        if (status == PL_OK && !failed && !found(turn, turn->stage->method, p))
            status = run_pattern_coll(turn, p, &failed, error);
    }
    turn->stage->failed += failed;
    return status;
}

/* A file that cannot be opened is the failure of the type's first pattern. */
static pl_status record_no_file_coll(struct turn *turn, const struct coll_verdict *verdict, struct pl_error *error)
{
    const int first = beffio_type_first(turn->file.type);
    const struct beffio_loop loop = {.pattern = first};
    struct beffio_result result = describe(turn, first);
    result.failed = true;
    turn->stage->failed++;
    for (int p = first; p < beffio_type_end(turn->file.type); p++)
        count_pattern(turn, p);
    const pl_status status = record_coll(turn, &loop, &result, verdict, error);
    tell(turn, false, &result, verdict);
    return status;
}

static void pass_over(struct turn *turn)
{
    for (int p = beffio_type_first(turn->file.type); p < beffio_type_end(turn->file.type); p++)
        count_pattern(turn, p);
}

/* After a failed write its space is needed by the types behind it. A shared file that only some ranks could open cannot
 * be closed: the others would be waited for. */
static void close_failed_coll(struct turn *turn)
{
    struct pl_error ignored;
    struct beffio_stage *stage = turn->stage;
    int open = turn->file.handle != MPI_FILE_NULL, everywhere = 0;
    MPI_Allreduce(&open, &everywhere, 1, MPI_INT, MPI_MIN, stage->comm);
    if (everywhere || turn->file.type == 2)
        beffio_file_close_coll(&turn->file, &ignored);
    MPI_Barrier(stage->comm);
    if (beffio_type_failed(stage->results, stage->path, stage->nprocs, BEFFIO_WRITE, turn->file.type) &&
        !stage->config->keep)
        beffio_file_remove(&turn->file);
}

/* ---- a file that was removed when the run before was interrupted ---- */

/* Has that run written something to it, and is it gone? The same on all ranks. */
static bool is_lost_coll(const struct turn *turn)
{
    int gone = 0, anywhere = 0;
    if (found(turn, BEFFIO_WRITE, beffio_type_first(turn->file.type)))
        gone = access(turn->file.name, F_OK) != 0;
    MPI_Allreduce(&gone, &anywhere, 1, MPI_INT, MPI_MAX, turn->stage->comm);
    return anywhere;
}

/* As many calls as were measured, with the same data; not measured. */
static pl_status fill_pattern_coll(struct turn *turn, int pattern, enum beffio_method method, struct pl_error *error,
                                   struct coll_verdict *ret_verdict)
{
    const struct beffio_result *measured = found(turn, method, pattern);
    struct beffio_loop loop = loop_of(turn, pattern);
    if (!measured || measured->calls == 0)
        return PL_OK;
    loop.method = method;
    loop.plan = (struct beffio_loop_plan){.limit_s = INFINITY, .pace_s = 1, .most_calls = measured->calls};
    loop.folder = turn->stage->config->paths[turn->stage->path];
    pl_status status = beffio_file_position_coll(&turn->file, &turn->layout, pattern, error);
    status = coll_agree_coll(turn->stage->comm, status, error, ret_verdict);
    return status == PL_OK ? beffio_loop_coll(&loop, error, ret_verdict) : status;
}

static pl_status fill_again_coll(struct turn *turn, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    const int type = turn->file.type;
    pl_status status = beffio_file_open_coll(&turn->file, BEFFIO_WRITE, &turn->layout, error);
    status = coll_agree_coll(turn->stage->comm, status, error, ret_verdict);
    for (int p = beffio_type_first(type); p < beffio_type_end(type) && status == PL_OK; p++) {
        status = fill_pattern_coll(turn, p, BEFFIO_WRITE, error, ret_verdict);
        if (status == PL_OK)
            status = fill_pattern_coll(turn, p, BEFFIO_REWRITE, error, ret_verdict);
    }
    if (status == PL_OK)
        status = coll_agree_coll(turn->stage->comm, beffio_file_close_coll(&turn->file, error), error, ret_verdict);
    return status;
}

pl_status beffio_type_run_coll(struct beffio_stage *stage, int type, struct pl_error *error)
{
    struct turn turn = {.stage = stage,
                        .file = {.comm = stage->comm,
                                 .rank = stage->rank,
                                 .type = type,
                                 .handle = MPI_FILE_NULL,
                                 .hints = &stage->config->hints}};
    if (beffio_type_is_done(stage->results, stage->path, stage->nprocs, stage->method, type)) {
        pass_over(&turn);
        return PL_OK;
    }
    struct pl_error failure;
    struct coll_verdict verdict;
    make_layout(&turn);
    pl_status status = beffio_file_name(&turn.file, stage->config->paths[stage->path], stage->run, stage->nprocs,
                                        &failure);
    if (coll_agree_coll(stage->comm, status, &failure, &verdict) != PL_OK)
        return record_no_file_coll(&turn, &verdict, error);
    if (!stage->config->keep)
        interrupt_remove(turn.file.name);
    if (is_lost_coll(&turn) && fill_again_coll(&turn, &failure, &verdict) != PL_OK) {
        status = record_no_file_coll(&turn, &verdict, error);
        close_failed_coll(&turn);
        return status;
    }
    if (stage->config->cold && stage->method != BEFFIO_WRITE)
        beffio_file_cool(&turn.file);
    MPI_Barrier(stage->comm);
    const double begin = MPI_Wtime();
    status = beffio_file_open_coll(&turn.file, stage->method, &turn.layout, &failure);
    const bool anew = !found(&turn, stage->method, beffio_type_first(type));
    turn.open_s = anew ? MPI_Wtime() - begin : 0;
    status = coll_agree_coll(stage->comm, status, &failure, &verdict);
    status = status == PL_OK ? run_patterns_coll(&turn, error) : record_no_file_coll(&turn, &verdict, error);
    close_failed_coll(&turn);
    return status;
}

void beffio_type_remove_all(struct beffio_stage *stage)
{
    for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
        struct beffio_file file = {.comm = stage->comm, .rank = stage->rank, .type = type};
        struct pl_error ignored;
        if (beffio_file_name(&file, stage->config->paths[stage->path], stage->run, stage->nprocs, &ignored) == PL_OK)
            beffio_file_remove(&file);
    }
}
