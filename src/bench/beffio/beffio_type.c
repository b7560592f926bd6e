/* One pattern type in one access method: opens its file, measures its patterns one after the other, closes. */
#include "bench/beffio/beffio.h"

#include "base/interrupt.h"
#include "base/notes.h"
#include "lab/runner/info.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One type while it is measured. */
struct beffio_turn {
    struct beffio_stage *stage;
    struct beffio_file file;
    struct beffio_layout layout;
    double open_s;      /* not yet recorded; 0 where the file is open again after a kill */
    int64_t file_bytes; /* rank 0: when it was looked at last */
};

/* What lies around the loop of a pattern. */
struct beffio_ends {
    double position_s, close_s, delete_s;
};

/* ---- what is known already ---- */

static const struct beffio_result *beffio_found(const struct beffio_turn *turn, enum beffio_method method, int pattern)
{
    return beffio_results_find(&turn->stage->results, turn->stage->path, turn->stage->nprocs, method, pattern);
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
static void beffio_make_layout(struct beffio_turn *turn)
{
    struct beffio_stage *stage = turn->stage;
    struct beffio_measured measured;
    beffio_measured_of(&stage->results, stage->path, stage->nprocs, &measured);
    measured.release = (enum beffio_release)stage->config->release;
    beffio_layout_plan(&turn->layout, turn->file.type, stage->nprocs, beffio_config_mpart(stage->config), &measured);
    for (int p = beffio_type_first(turn->file.type); p < beffio_type_end(turn->file.type); p++) {
        const struct beffio_result *written = beffio_found(turn, BEFFIO_WRITE, p);
        if (!beffio_is_planned(turn->file.type) && written)
            turn->layout.calls[p] = written->calls;
    }
}

/* ---- one pattern ---- */

/* Seconds that a call of the pattern may take: those of its write or, before that, of the pattern before it, and more
 * if that moved less with a call. 0: nothing is known. */
static double beffio_expected_s(const struct beffio_turn *turn, int pattern)
{
    const struct beffio_result *like = beffio_found(turn, BEFFIO_WRITE, pattern);
    if (!like && pattern > beffio_type_first(turn->file.type))
        like = beffio_found(turn, BEFFIO_WRITE, pattern - 1);
    if (!like || like->failed || like->calls == 0)
        return 0;
    const double call_s = (double)(like->time_ns - like->sync_ns) * 1e-9 / (double)like->calls;
    const double longer = (double)beffio_layout_call_bytes(&turn->layout, pattern) / (double)like->call_bytes;
    return call_s * fmax(longer, 1);
}

/* Initial writes of types 0 to 2 end by time, of 3 and 4 by size; rewrites and reads by time or at the end of what was
 * written. A pattern without time units is one call, or fills a segment up. */
static struct beffio_loop_plan beffio_plan_of(const struct beffio_turn *turn, int pattern)
{
    const struct beffio_stage *stage = turn->stage;
    const int type = turn->file.type;
    const double scheduled_s = beffio_pattern_s(pattern, stage->config->time_s);
    const struct beffio_result *written = stage->method == BEFFIO_WRITE ? NULL
                                                                        : beffio_found(turn, BEFFIO_WRITE, pattern);
    const bool by_2_1 = stage->config->release == BEFFIO_RELEASE_2_1;
    struct beffio_loop_plan plan = {.limit_s = scheduled_s,
                                    .pace_s = scheduled_s,
                                    .most_calls = INT64_MAX,
                                    .expected_s = beffio_expected_s(turn, pattern),
                                    .each_call = by_2_1};
    if (BEFFIO_TABLE[pattern].units == 0) {
        plan.limit_s = INFINITY;
        plan.most_calls = BEFFIO_TABLE[pattern].chunk == BEFFIO_FILL ? turn->layout.calls[pattern] : 1;
    } else if (beffio_is_planned(type)) {
        plan.most_calls = turn->layout.calls[pattern];
    }
    if ((type == 3 || type == 4) && stage->method == BEFFIO_WRITE)
        plan.limit_s = stage->config->time_s < BEFFIO_OFFICIAL_S && BEFFIO_TABLE[pattern].units > 0 && !by_2_1
                           ? scheduled_s * BEFFIO_PATIENCE
                           : INFINITY;
    if (written && written->calls < plan.most_calls)
        plan.most_calls = written->calls;
    return plan;
}

static int64_t beffio_ns(double seconds)
{
    return llround(seconds * 1e9);
}

static struct beffio_result beffio_describe(const struct beffio_turn *turn, int pattern)
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
        .scheduled_ns = beffio_ns(beffio_pattern_s(pattern, stage->config->time_s)),
    };
}

/* Times of the slowest rank; what was lost in a failure is not counted as moved. */
static void beffio_fill_in_coll(const struct beffio_turn *turn, const struct beffio_loop *loop,
                                const struct beffio_ends *ends, struct beffio_result *result)
{
    enum { OPEN, POSITION, SYNC, CLOSE, DELETE, KEPT, COUNT };
    const double kept = loop->series ? (double)loop->series->count : 0; /* below 2^53 */
    const double mine[COUNT] = {turn->open_s, ends->position_s, loop->own_sync_s, ends->close_s, ends->delete_s, -kept};
    double most[COUNT] = {0};
    MPI_Allreduce(mine, most, COUNT, MPI_DOUBLE, MPI_MAX, turn->stage->comm);
    result->open_ns = beffio_ns(most[OPEN]);
    result->position_ns = beffio_ns(most[POSITION]);
    result->sync_ns = beffio_ns(most[SYNC]);
    result->close_ns = beffio_ns(most[CLOSE]);
    result->delete_ns = beffio_ns(most[DELETE]);
    result->kept_calls = (int64_t)-most[KEPT];
    result->time_ns = beffio_ns(loop->time_s);
    result->decide_ns = beffio_ns(loop->decide_s);
    result->decisions = loop->decisions;
    result->calls = loop->calls;
    result->bytes = loop->calls * result->call_bytes * turn->stage->nprocs;
}

/* ---- its set in the results ---- */

static void beffio_note_batches(const struct beffio_loop *loop, struct text *params)
{
    struct text batches = {0}, times = {0};
    for (int i = 0; i < loop->batch_count && i < BEFFIO_BATCHES_KEPT; i++) {
        text_format(&batches, "%s%lld", i ? " " : "", (long long)loop->batches[i]);
        text_format(&times, "%s%lld", i ? " " : "", (long long)beffio_ns(loop->elapsed_s[i]));
    }
    notes_add(params, "batches", text_get(&batches));
    notes_add(params, "elapsed_ns", text_get(&times));
    text_clear(&batches);
    text_clear(&times);
}

/* The hints in force for a pattern, each key once; texts are borrowed. */
static void beffio_asked(const struct beffio_turn *turn, int pattern, struct lab_hints *asked)
{
    const struct beffio_hints *hints = turn->file.hints;
    for (size_t i = 0; i < hints->count; i++) {
        const char *value = beffio_hint_value(hints, turn->file.type, pattern, hints->list[i].key);
        bool before = false;
        for (size_t j = 0; j < i && !before; j++)
            before = strcmp(hints->list[j].key, hints->list[i].key) == 0;
        if (value && !before)
            asked->list[asked->count++] = (struct lab_hint){hints->list[i].key, (char *)value};
    }
}

static bool beffio_is_cut(const struct beffio_turn *turn, const struct beffio_result *result)
{
    const bool size_driven = turn->file.type == 3 || turn->file.type == 4;
    return size_driven && result->method == BEFFIO_WRITE && !result->failed && result->calls < result->planned;
}

/* The file as it is now, of rank 0 where each has one. A reader's last pattern may have removed it: then as it was. */
static void beffio_note_size(struct beffio_turn *turn, struct text *params)
{
    struct stat info;
    char bytes[32];
    if (turn->stage->rank != 0)
        return;
    if (stat(turn->file.name, &info) == 0)
        turn->file_bytes = info.st_size;
    snprintf(bytes, sizeof bytes, "%lld", (long long)turn->file_bytes);
    if (turn->file_bytes > 0)
        notes_add(params, "filesize_bytes", bytes);
}

/* Takes the set's series; its times are added to them. */
static pl_status beffio_record_coll(struct beffio_turn *turn, const struct beffio_loop *loop,
                                    const struct beffio_result *result, const struct coll_verdict *verdict,
                                    struct samples *samples, struct pl_error *error)
{
    struct beffio_stage *stage = turn->stage;
    struct lab_hint list[BEFFIO_HINTS_MAX];
    assert(turn->file.hints->count <= BEFFIO_HINTS_MAX && (verdict->status != PL_OK) == (result->failed != 0));
    struct lab_hints asked = {.list = list};
    struct lab_set set = {.asked = &asked, .verdict = *verdict, .samples = *samples};
    char words[160];
    snprintf(set.label, sizeof set.label, "%.70s: n = %d, %s: type %d ends here", stage->config->paths[stage->path],
             stage->nprocs, beffio_method_name(stage->method), turn->file.type);
    beffio_result_note(result, &set.params);
    beffio_note_batches(loop, &set.params);
    beffio_note_size(turn, &set.params);
    beffio_asked(turn, result->pattern, &asked);
    /* what MPI says it uses, of files that are open still */
    if (stage->rank == 0 && turn->file.handle != MPI_FILE_NULL &&
        (result->open_ns || beffio_hints_own(turn->file.hints, result->pattern)))
        info_note_file(turn->file.handle, NULL, NULL, &set.hints_used);
    samples_time(&set.samples, "calls_time", loop->own_calls_s);
    samples_time(&set.samples, "sync_time", loop->own_sync_s);
    samples_time(&set.samples, "decide_time", loop->own_decide_s);
    samples_time(&set.samples, "check_time", loop->own_check_s);
    snprintf(words, sizeof words, "ended at %d times its scheduled time, with %lld of %lld calls", BEFFIO_PATIENCE,
             (long long)result->calls, (long long)result->planned);
    if (beffio_is_cut(turn, result))
        notes_add(&set.warnings, NULL, words);
    snprintf(words, sizeof words, "memory for the times of %lld of %lld calls only: those of the others are not kept",
             (long long)result->kept_calls, (long long)result->calls);
    if (!result->failed && result->kept_calls < result->calls && result->kept_calls < BEFFIO_CALLS_KEPT)
        notes_add(&set.warnings, NULL, words);
    beffio_results_add(&stage->results, result);
    const pl_status status = lab_set_write_coll(stage->lab, stage->comm, &set, error);
    lab_set_clear(&set);
    *samples = (struct samples){0};
    return status;
}

/* ---- the patterns of a type ---- */

static struct beffio_loop beffio_loop_of(struct beffio_turn *turn, int pattern)
{
    struct beffio_stage *stage = turn->stage;
    const struct beffio_result *rewritten = beffio_found(turn, BEFFIO_REWRITE, pattern);
    return (struct beffio_loop){
        .comm = stage->comm,
        .file = &turn->file,
        .layout = &turn->layout,
        .rank = stage->rank,
        .pattern = pattern,
        .method = stage->method,
        .plan = beffio_plan_of(turn, pattern),
        .rewritten = rewritten ? rewritten->calls : 0,
        .order_seed = (uint64_t)stage->config->seed,
        .data = &stage->data,
        .buffer = stage->buffer,
        .folder = stage->method == BEFFIO_WRITE ? stage->config->paths[stage->path] : NULL,
    };
}

/* Position, loop, and behind the last pattern the close. The verdict is the same on all ranks. */
static void beffio_measure_coll(struct beffio_turn *turn, int pattern, struct beffio_loop *loop,
                                struct beffio_result *result, struct coll_verdict *ret_verdict)
{
    struct beffio_stage *stage = turn->stage;
    struct pl_error error;
    assert(turn->file.handle != MPI_FILE_NULL && BEFFIO_TABLE[pattern].type == turn->file.type);
    struct beffio_ends ends = {0};
    double begin = MPI_Wtime();
    pl_status status = beffio_file_position_coll(&turn->file, &turn->layout, pattern, &error);
    ends.position_s = MPI_Wtime() - begin;
    status = coll_agree_coll(stage->comm, status, &error, ret_verdict);
    if (status == PL_OK)
        status = beffio_loop_coll(loop, &error, ret_verdict);
    const bool is_last = pattern + 1 == beffio_type_end(turn->file.type);
    if (status == PL_OK && is_last) {
        begin = MPI_Wtime();
        status = beffio_file_close_coll(&turn->file, &error);
        ends.close_s = MPI_Wtime() - begin;
        status = coll_agree_coll(stage->comm, status, &error, ret_verdict);
    }
    if (status == PL_OK && is_last && stage->method == BEFFIO_READ && !stage->config->keep &&
        !turn->file.delete_on_close) {
        begin = MPI_Wtime();
        status = beffio_file_delete_coll(&turn->file, &error);
        ends.delete_s = MPI_Wtime() - begin;
        status = coll_agree_coll(stage->comm, status, &error, ret_verdict);
    }
    beffio_fill_in_coll(turn, loop, &ends, result);
    result->failed = status != PL_OK;
    turn->open_s = 0;
}

static pl_status beffio_run_pattern_coll(struct beffio_turn *turn, int pattern, bool *ret_failed,
                                         struct pl_error *error)
{
    struct beffio_stage *stage = turn->stage;
    struct beffio_result result = beffio_describe(turn, pattern);
    struct beffio_loop loop = beffio_loop_of(turn, pattern);
    struct coll_verdict verdict;
    struct samples samples = {0};
    samples_add(&samples, stage->method == BEFFIO_READ ? "r" : "w", "ns", 0, &loop.series, error);
    loop.kept_most = stage->kept_most;
    loop.decision_before_s = stage->decision_s;
    beffio_measure_coll(turn, pattern, &loop, &result, &verdict);
    if (loop.decisions > 0)
        stage->decision_s = loop.decide_s / loop.decisions;
    if (!beffio_is_planned(turn->file.type) && stage->method == BEFFIO_WRITE)
        turn->layout.calls[pattern] = result.calls;
    *ret_failed = result.failed;
    return beffio_record_coll(turn, &loop, &result, &verdict, &samples, error);
}

static double beffio_weight(const struct beffio_turn *turn, int pattern)
{
    return beffio_pattern_s(pattern, turn->stage->config->time_s);
}

/* Patterns that need not be measured, or cannot be any more. */
static void beffio_pass_over(const struct beffio_turn *turn, int from)
{
    for (int p = from; p < beffio_type_end(turn->file.type); p++)
        lab_skip(turn->stage->lab, beffio_weight(turn, p));
}

static pl_status beffio_run_patterns_coll(struct beffio_turn *turn, struct pl_error *error)
{
    const struct beffio_stage *stage = turn->stage;
    bool failed = false;
    pl_status status = PL_OK;
    for (int p = beffio_type_first(turn->file.type); p < beffio_type_end(turn->file.type) && status == PL_OK; p++) {
        if (failed || beffio_found(turn, stage->method, p)) {
            lab_skip(stage->lab, beffio_weight(turn, p));
            continue;
        }
        lab_step(stage->lab, beffio_weight(turn, p), "%s: %d processes, %s, type %d, pattern %d",
                 stage->config->paths[stage->path], stage->nprocs, beffio_method_name(stage->method), turn->file.type,
                 p);
        status = beffio_run_pattern_coll(turn, p, &failed, error);
    }
    return status;
}

/* A file that cannot be opened is the failure of the type's first pattern. */
static pl_status beffio_record_no_file_coll(struct beffio_turn *turn, const struct coll_verdict *verdict,
                                            struct pl_error *error)
{
    const int first = beffio_type_first(turn->file.type);
    const struct beffio_loop loop = {.pattern = first};
    struct beffio_result result = beffio_describe(turn, first);
    struct samples none = {0};
    result.failed = true;
    beffio_pass_over(turn, first);
    return beffio_record_coll(turn, &loop, &result, verdict, &none, error);
}

/* After a failed write its space is needed by the types behind it. A shared file that only some ranks could open cannot
 * be closed: the others would be waited for. */
static void beffio_close_failed_coll(struct beffio_turn *turn)
{
    struct pl_error ignored;
    struct beffio_stage *stage = turn->stage;
    int open = turn->file.handle != MPI_FILE_NULL, everywhere = 0;
    MPI_Allreduce(&open, &everywhere, 1, MPI_INT, MPI_MIN, stage->comm);
    if (everywhere || turn->file.type == 2)
        beffio_file_close_coll(&turn->file, &ignored);
    MPI_Barrier(stage->comm);
    if (beffio_type_failed(&stage->results, stage->path, stage->nprocs, BEFFIO_WRITE, turn->file.type) &&
        !stage->config->keep)
        beffio_file_remove(&turn->file);
}

/* ---- a file that was removed when the run before was interrupted ---- */

/* Has that run written something to it, and is it gone? The same on all ranks. */
static bool beffio_is_lost_coll(const struct beffio_turn *turn)
{
    int gone = 0, anywhere = 0;
    if (beffio_found(turn, BEFFIO_WRITE, beffio_type_first(turn->file.type)))
        gone = access(turn->file.name, F_OK) != 0;
    MPI_Allreduce(&gone, &anywhere, 1, MPI_INT, MPI_MAX, turn->stage->comm);
    return anywhere;
}

/* As many calls as were measured, with the same data; not measured. */
static pl_status beffio_fill_pattern_coll(struct beffio_turn *turn, int pattern, enum beffio_method method,
                                          struct pl_error *error, struct coll_verdict *ret_verdict)
{
    const struct beffio_result *measured = beffio_found(turn, method, pattern);
    struct beffio_loop loop = beffio_loop_of(turn, pattern);
    if (!measured || measured->calls == 0)
        return PL_OK;
    loop.method = method;
    loop.plan = (struct beffio_loop_plan){.limit_s = INFINITY, .pace_s = 1, .most_calls = measured->calls};
    loop.folder = turn->stage->config->paths[turn->stage->path];
    pl_status status = beffio_file_position_coll(&turn->file, &turn->layout, pattern, error);
    status = coll_agree_coll(turn->stage->comm, status, error, ret_verdict);
    return status == PL_OK ? beffio_loop_coll(&loop, error, ret_verdict) : status;
}

static pl_status beffio_fill_again_coll(struct beffio_turn *turn, struct pl_error *error,
                                        struct coll_verdict *ret_verdict)
{
    const int type = turn->file.type;
    pl_status status = beffio_file_open_coll(&turn->file, BEFFIO_WRITE, &turn->layout, error);
    status = coll_agree_coll(turn->stage->comm, status, error, ret_verdict);
    for (int p = beffio_type_first(type); p < beffio_type_end(type) && status == PL_OK; p++) {
        status = beffio_fill_pattern_coll(turn, p, BEFFIO_WRITE, error, ret_verdict);
        if (status == PL_OK)
            status = beffio_fill_pattern_coll(turn, p, BEFFIO_REWRITE, error, ret_verdict);
    }
    if (status == PL_OK)
        status = coll_agree_coll(turn->stage->comm, beffio_file_close_coll(&turn->file, error), error, ret_verdict);
    return status;
}

pl_status beffio_type_run_coll(struct beffio_stage *stage, int type, struct pl_error *error)
{
    struct beffio_turn turn = {
        .stage = stage,
        .file = {.comm = stage->comm,
                 .rank = stage->rank,
                 .type = type,
                 .delete_on_close = stage->config->release == BEFFIO_RELEASE_2_1 && !stage->config->keep,
                 .handle = MPI_FILE_NULL,
                 .hints = &stage->config->hints}};
    if (beffio_type_is_done(&stage->results, stage->path, stage->nprocs, stage->method, type)) {
        beffio_pass_over(&turn, beffio_type_first(type));
        return PL_OK;
    }
    struct pl_error failure;
    struct coll_verdict verdict;
    beffio_make_layout(&turn);
    pl_status status = beffio_file_name(&turn.file, stage->config->paths[stage->path], stage->run, stage->nprocs,
                                        &failure);
    if (coll_agree_coll(stage->comm, status, &failure, &verdict) != PL_OK)
        return beffio_record_no_file_coll(&turn, &verdict, error);
    if (!stage->config->keep)
        interrupt_remove(turn.file.name);
    if (beffio_is_lost_coll(&turn) && beffio_fill_again_coll(&turn, &failure, &verdict) != PL_OK) {
        status = beffio_record_no_file_coll(&turn, &verdict, error);
        beffio_close_failed_coll(&turn);
        return status;
    }
    if (stage->config->cold && stage->method != BEFFIO_WRITE)
        beffio_file_cool(&turn.file);
    MPI_Barrier(stage->comm);
    const double begin = MPI_Wtime();
    status = beffio_file_open_coll(&turn.file, stage->method, &turn.layout, &failure);
    const bool anew = !beffio_found(&turn, stage->method, beffio_type_first(type));
    turn.open_s = anew ? MPI_Wtime() - begin : 0;
    status = coll_agree_coll(stage->comm, status, &failure, &verdict);
    status = status == PL_OK ? beffio_run_patterns_coll(&turn, error)
                             : beffio_record_no_file_coll(&turn, &verdict, error);
    beffio_close_failed_coll(&turn);
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
