/* The results of a replay: one block, a set for each unit of each repetition. */
#include "replay/replay_run.h"

#include "replay/replay_estimate.h"

#include "base/checked.h"
#include "measure/environment.h"
#include "measure/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the head ---- */

static const char *const PACES[] = {[REPLAY_FAST] = "fast", [REPLAY_SHORT] = "short", [REPLAY_RECORDED] = "recorded"};

void replay_model_hash(const struct model *model, char ret_hash[32])
{
    struct text text = {0};
    model_write(model, false, &text);
    const char *line = strstr(text_get(&text), "\nend-steps ");
    ret_hash[0] = '\0';
    if (line)
        sscanf(line, "\nend-steps %*d %31s", ret_hash);
    text_clear(&text);
}

void replay_label(const struct replay_job *job, struct text *text)
{
    text_format(text, "%s, %s", job->directory, job->mpiio);
    for (size_t i = 0; i < job->hint_count; i++)
        text_format(text, ", %s=%s", job->hints[i].key, job->hints[i].value);
    if (job->pace != REPLAY_SHORT)
        text_format(text, ", %s pace", PACES[job->pace]);
    if (job->cold)
        text_add(text, ", cold");
}

static void put_inputs(const struct replay_job *job, struct blockfile_writer *writer)
{
    char number[32];
    blockfile_input(writer, "model", job->model_path);
    blockfile_input(writer, "on", job->directory);
    blockfile_input(writer, "mpiio", job->mpiio);
    for (size_t i = 0; i < job->hint_count; i++) {
        char key[300];
        snprintf(key, sizeof key, "hint.%s", job->hints[i].key);
        blockfile_input(writer, key, job->hints[i].value);
    }
    blockfile_input(writer, "pace", PACES[job->pace]);
    blockfile_input(writer, "cache", job->cold ? "cold" : "asis");
    snprintf(number, sizeof number, "%" PRId64, job->repeat);
    blockfile_input(writer, "repeat", number);
}

pl_status replay_write_head_coll(struct replay_run *run, struct pl_error *error)
{
    struct blockfile_writer *writer = run->writer;
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    if (run->rank == 0) {
        struct text label = {0};
        replay_label(run->job, &label);
        blockfile_begin(writer, "Replay", "phases");
        put_inputs(run->job, writer);
        blockfile_fact(writer, "model_hash", "%s", run->job->model_hash);
        blockfile_fact(writer, "program", "%s", run->model->program);
        blockfile_fact(writer, "configuration", "%s", text_get(&label));
        blockfile_fact(writer, "start_ns", "%" PRId64, run->start_ns);
        if (run->model->layout_count > 0)
            blockfile_fact(writer, "memory_layout", "%s", run->extents.untold ? "partly contiguous" : "recorded");
        text_clear(&label);
    }
    environment_facts_coll(run->comm, run->job->directory, writer);
    if (run->rank == 0) {
        record_facts(run->job->directory, record_to_block, writer); /* what cannot be seen is left out */
        status = blockfile_end_head(writer, error);
    }
    return coll_agree_coll(run->comm, status, error, &verdict);
}

/* ---- a unit ---- */

/* What a rank tells of a unit. */
enum { EXECUTED, TOTAL, LOW, HIGH, BEGIN, END, TOLD };

static void tell(const struct replay_run *run, int unit, int64_t told[TOLD])
{
    const struct replay_measure *measure = &run->measures[unit];
    const struct replay_estimate estimate = replay_estimate(measure->durations, measure->executed,
                                                            run->plan->units[unit].count);
    told[EXECUTED] = measure->executed;
    told[TOTAL] = saturating_int(estimate.total_ns + 0.5);
    /* Turns that were not done say nothing: they are anything up to twice as long. */
    told[LOW] = saturating_int(fmax(estimate.low_ns - (double)measure->extended_ns, 0) + 0.5);
    told[HIGH] = saturating_int(estimate.high_ns + (double)measure->extended_ns + 0.5);
    told[BEGIN] = measure->begin_ns;
    told[END] = measure->end_ns;
}

/* Of all ranks: the slowest one's estimate, from the first begin to the last end. */
static void sum_up(const int64_t *all, int ranks, int64_t ret[TOLD])
{
    memcpy(ret, all, TOLD * sizeof *ret); /* NOLINT(clang-analyzer-core.NonNullParamChecker): on rank 0 */
    for (int rank = 1; rank < ranks; rank++) {
        const int64_t *one = all + (ptrdiff_t)rank * TOLD;
        if (one[TOTAL] > ret[TOTAL])
            memcpy(ret + TOTAL, one + TOTAL, 3 * sizeof *ret);
        if (one[EXECUTED] > ret[EXECUTED])
            ret[EXECUTED] = one[EXECUTED];
        if (one[BEGIN] >= 0 && (ret[BEGIN] < 0 || one[BEGIN] < ret[BEGIN]))
            ret[BEGIN] = one[BEGIN];
        if (one[END] > ret[END])
            ret[END] = one[END];
    }
}

/* Each operation once, in the order of the steps. */
static void list_operations(const struct model_step *step, struct text *text)
{
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        list_operations(&step->body[i], text);
    if (step->kind != MODEL_CALL)
        return;
    char found[80], list[4096];
    snprintf(found, sizeof found, ",%s,", step->operation);
    snprintf(list, sizeof list, ",%s,", text_get(text));
    if (!strstr(list, found))
        text_format(text, "%s%s", text->length ? "," : "", step->operation);
}

static void put_params(const struct replay_run *run, const struct replay_unit *unit, const int64_t told[TOLD])
{
    struct blockfile_writer *writer = run->writer;
    const struct model_phase_facts *phase = unit->phase;
    const int64_t read = phase ? phase->read_bytes : 0, written = phase ? phase->written_bytes : 0;
    struct text operations = {0};
    list_operations(unit->step, &operations);
    blockfile_param(writer, "kind", "%s", phase ? "phase" : "call");
    if (phase)
        blockfile_param(writer, "phase", "%d", unit->step->phase);
    else {
        blockfile_param(writer, "step", "%d", unit->step->leaf + 1);
        blockfile_param(writer, "operation", "%s", unit->step->operation);
    }
    blockfile_param(writer, "count", "%" PRId64, unit->count);
    blockfile_param(writer, "executed", "%" PRId64, told[EXECUTED]);
    blockfile_param(writer, "weight_bytes", "%" PRId64, read + written);
    blockfile_param(writer, "read_bytes", "%" PRId64, read);
    blockfile_param(writer, "written_bytes", "%" PRId64, written);
    blockfile_param(writer, "total_bytes", "%" PRId64, saturating_mul(read + written, unit->count));
    blockfile_param(writer, "operations", "%s", text_get(&operations));
    blockfile_param(writer, "metadata", "%s", phase && phase->metadata ? "yes" : "no");
    blockfile_param(writer, "repetition", "%" PRId64, run->repetition);
    blockfile_param(writer, "begin_ns", "%" PRId64, told[BEGIN]);
    blockfile_param(writer, "end_ns", "%" PRId64, told[END]);
    blockfile_param(writer, "total_ns", "%" PRId64, told[TOTAL]);
    blockfile_param(writer, "total_low_ns", "%" PRId64, told[LOW]);
    blockfile_param(writer, "total_high_ns", "%" PRId64, told[HIGH]);
    for (size_t i = 0; i < run->job->hint_count; i++)
        blockfile_hint(writer, "asked", run->job->hints[i].key, run->job->hints[i].value);
    text_clear(&operations);
}

enum { CHUNK = 8192 };

/* The series of a rank, piece by piece: rank 0 never holds more than one. */
static void put_series(const struct replay_run *run, int rank, int unit, int64_t count)
{
    int64_t piece[CHUNK];
    blockfile_series(run->writer, rank, "phase", "ns", count);
    for (int64_t at = 0; at < count; at += CHUNK) {
        const int length = (int)(count - at < CHUNK ? count - at : CHUNK);
        if (rank == 0)
            memcpy(piece, run->measures[unit].durations + at, (size_t)length * sizeof *piece);
        else
            MPI_Recv(piece, length, MPI_INT64_T, rank, 0, run->comm, MPI_STATUS_IGNORE);
        blockfile_values(run->writer, piece, (size_t)length);
    }
}

static void send_series(const struct replay_run *run, int unit)
{
    const struct replay_measure *measure = &run->measures[unit];
    for (int64_t at = 0; at < measure->executed; at += CHUNK)
        MPI_Send(measure->durations + at, (int)(measure->executed - at < CHUNK ? measure->executed - at : CHUNK),
                 MPI_INT64_T, 0, 0, run->comm);
}

static void show(const struct replay_run *run, const struct replay_unit *unit, const int64_t told[TOLD])
{
    const struct replay_row row = {.unit = unit,
                                   .repetition = run->repetition,
                                   .executed = told[EXECUTED],
                                   .total_ns = (double)told[TOTAL],
                                   .low_ns = (double)told[LOW],
                                   .high_ns = (double)told[HIGH]};
    if (run->observer->row)
        run->observer->row(run->observer->context, &row);
}

/* Whether a rank has nothing to tell because it had failed: what the others took is not the time of the whole. */
static bool is_cut_coll(const struct replay_run *run, int unit)
{
    int is_cut = run->measures[unit].is_cut && run->measures[unit].executed == 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_cut, 1, MPI_INT, MPI_MAX, run->comm);
    return is_cut;
}

static pl_status write_unit_coll(struct replay_run *run, int unit, int64_t *all, struct pl_error *error)
{
    int64_t mine[TOLD], told[TOLD];
    if (is_cut_coll(run, unit))
        return PL_OK;
    tell(run, unit, mine);
    MPI_Gather(mine, TOLD, MPI_INT64_T, all, TOLD, MPI_INT64_T, 0, run->comm);
    if (run->rank != 0) {
        send_series(run, unit);
        return PL_OK;
    }
    sum_up(all, run->ranks, told);
    if (told[EXECUTED] == 0)
        return PL_OK;
    blockfile_set(run->writer);
    put_params(run, &run->plan->units[unit], told);
    for (int rank = 0; rank < run->ranks; rank++)
        if (all[(ptrdiff_t)rank * TOLD + EXECUTED] > 0)
            put_series(run, rank, unit, all[(ptrdiff_t)rank * TOLD + EXECUTED]);
    show(run, &run->plan->units[unit], told);
    return blockfile_end_set(run->writer, error);
}

pl_status replay_write_units_coll(struct replay_run *run, int until, struct pl_error *error)
{
    struct coll_verdict verdict;
    int64_t *all = run->rank == 0 ? malloc((size_t)run->ranks * TOLD * sizeof *all) : NULL;
    pl_status status = run->rank == 0 && !all ? pl_fail(error, PL_E_NOMEM, "not enough memory for the results") : PL_OK;
    status = coll_agree_coll(run->comm, status, error, &verdict);
    if (status != PL_OK) {
        free(all);
        return status;
    }
    for (; run->written_units < until; run->written_units++) {
        struct pl_error failure;
        if (write_unit_coll(run, run->written_units, all, &failure) != PL_OK && status == PL_OK) {
            *error = failure;
            status = failure.status;
        }
    }
    free(all);
    return coll_agree_coll(run->comm, status, error, &verdict);
}

pl_status replay_write_failure(struct replay_run *run, const struct coll_verdict *verdict, struct pl_error *error)
{
    blockfile_set(run->writer);
    blockfile_param(run->writer, "kind", "failure");
    blockfile_param(run->writer, "repetition", "%" PRId64, run->repetition);
    blockfile_error(run->writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
    return blockfile_end_set(run->writer, error);
}
