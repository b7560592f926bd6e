/* The results of a replay: one block, a set for each unit of each repetition. */
#include "bench/replay/replay_run.h"

#include "base/checked.h"
#include "base/notes.h"
#include "base/statistics.h"
#include "lab/facts/record.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char REPLAY_CLASS[] = "Replay", REPLAY_TEST[] = "phases";

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
    for (size_t i = 0; i < job->hints.count; i++)
        text_format(text, ", %s=%s", job->hints.list[i].key, job->hints.list[i].value);
    if (job->pace != REPLAY_SHORT)
        text_format(text, ", %s pace", PACES[job->pace]);
    if (job->cold)
        text_add(text, ", cold");
}

/* Inputs that stand in every block, also where they were not given: a resumed run is asked for the same. */
static void replay_write_put_inputs(const struct replay_run *run)
{
    static const char *const names[] = {"mpiio", "pace", "cache", "repeat"};
    const struct options *options = &run->lab->job->all;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct text value = {0};
        if (options_given(options, names[i]))
            continue;
        if (strcmp(names[i], "mpiio") == 0)
            text_add(&value, run->job->mpiio);
        else
            options_text(options, names[i], &value);
        blockfile_input(run->lab->writer, names[i], text_get(&value));
        text_clear(&value);
    }
}

pl_status replay_write_head_coll(struct replay_run *run, const char *name, struct pl_error *error)
{
    struct blockfile_writer *writer = run->lab->writer;
    const struct option_texts *on = &run->lab->job->common.on;
    run->lab->place = run->job->directory;
    lab_block_begin(run->lab, REPLAY_CLASS, REPLAY_TEST);
    if (run->rank == 0) {
        struct text label = {0}, places = {0};
        replay_label(run->job, &label);
        for (size_t i = 0; i < on->count; i++)
            text_format(&places, "%s%s", i ? "\n" : "", on->values[i]);
        replay_write_put_inputs(run);
        blockfile_fact(writer, "run", "%s", name);
        blockfile_fact(writer, "places", "%s", text_get(&places));
        blockfile_fact(writer, "model_hash", "%s", run->job->model_hash);
        blockfile_fact(writer, "program", "%s", run->model->program);
        blockfile_fact(writer, "configuration", "%s", text_get(&label));
        blockfile_fact(writer, "start_ns", "%" PRId64, run->start_ns);
        blockfile_fact(writer, "interval_percent", "%d", STATISTICS_LEVEL_PERCENT);
        if (run->model->layout_count > 0)
            blockfile_fact(writer, "memory_layout", "%s", run->extents.untold ? "partly contiguous" : "recorded");
        record_facts(run->job->directory, record_to_block, writer); /* what cannot be seen is left out */
        text_clear(&label);
        text_clear(&places);
    }
    return lab_block_head_coll(run->lab, run->job->directory, error);
}

/* ---- a unit ---- */

/* What a rank tells of a unit. */
enum { EXECUTED, TOTAL, LOW, HIGH, BEGIN, END, TOLD };

static void replay_write_tell(const struct replay_run *run, int unit, int64_t told[TOLD])
{
    const struct replay_measure *measure = &run->measures[unit];
    const struct replay_estimate estimate = replay_estimate(measure->durations, measure->executed,
                                                            run->plan->units[unit].count);
    told[EXECUTED] = measure->executed;
    told[TOTAL] = saturating_int(estimate.total_ns + 0.5);
    /* Turns that were not done say nothing: they are anything up to twice as long. */
    told[LOW] = saturating_int(fmax(estimate.low_ns - (double)measure->extended_ns, 0) + 0.5);
    told[HIGH] = saturating_int(estimate.high_ns + (double)measure->extended_ns + 0.5);
    assert(told[LOW] <= told[TOTAL] && told[TOTAL] <= told[HIGH]);
    told[BEGIN] = measure->begin_ns;
    told[END] = measure->end_ns;
}

/* Of all ranks: the slowest one's estimate, from the first begin to the last end. */
static void replay_write_sum_up(const int64_t *all, int ranks, int64_t ret[TOLD])
{
    assert(ranks > 0);
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
static void replay_write_list_operations(const struct model_step *step, struct text *text)
{
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        replay_write_list_operations(&step->body[i], text);
    if (step->kind != MODEL_CALL)
        return;
    char found[80], list[4096];
    snprintf(found, sizeof found, ",%s,", step->operation);
    snprintf(list, sizeof list, ",%s,", text_get(text));
    if (!strstr(list, found))
        text_format(text, "%s%s", text->length ? "," : "", step->operation);
}

static void replay_write_add(struct text *params, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    notes_add(params, key, text);
}

static void replay_write_add_params(const struct replay_run *run, const struct replay_unit *unit,
                                    const int64_t told[TOLD], struct text *params)
{
    const struct model_phase_facts *phase = unit->phase;
    const int64_t read = phase ? phase->read_bytes : 0, written = phase ? phase->written_bytes : 0;
    struct text operations = {0};
    replay_write_list_operations(unit->step, &operations);
    notes_add(params, "kind", phase ? "phase" : "call");
    if (phase)
        replay_write_add(params, "phase", unit->step->phase);
    else {
        replay_write_add(params, "step", unit->step->leaf + 1);
        notes_add(params, "operation", unit->step->operation);
    }
    replay_write_add(params, "count", unit->count);
    replay_write_add(params, "executed", told[EXECUTED]);
    replay_write_add(params, "weight_bytes", read + written);
    replay_write_add(params, "read_bytes", read);
    replay_write_add(params, "written_bytes", written);
    replay_write_add(params, "total_bytes", saturating_mul(read + written, unit->count));
    notes_add(params, "operations", text_get(&operations));
    notes_add(params, "metadata", phase && phase->metadata ? "yes" : "no");
    replay_write_add(params, "repetition", run->repetition);
    replay_write_add(params, "begin_ns", told[BEGIN]);
    replay_write_add(params, "end_ns", told[END]);
    replay_write_add(params, "total_ns", told[TOTAL]);
    replay_write_add(params, "total_low_ns", told[LOW]);
    replay_write_add(params, "total_high_ns", told[HIGH]);
    text_clear(&operations);
}

/* Times without stamps: begin and end stand in the parameters, and clocks are not compared between two phases. */
static pl_status replay_write_take_series(const struct replay_measure *measure, struct samples *samples,
                                          struct pl_error *error)
{
    struct sample_series *series;
    samples->clock.known = true;
    if (samples_add(samples, "phase", "ns", measure->executed, &series, error) != PL_OK)
        return error->status;
    for (int64_t i = 0; i < measure->executed; i++)
        series->values[i] = (double)measure->durations[i] * 1e-9;
    series->count = measure->executed;
    return PL_OK;
}

/* Is there something to tell? Not where a rank has nothing because it had failed: what the others took is not the time
 * of the whole. */
static bool replay_write_has_coll(const struct replay_run *run, int unit)
{
    const struct replay_measure *measure = &run->measures[unit];
    int64_t most[2] = {measure->is_cut && measure->executed == 0, measure->executed};
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, run->comm);
    return !most[0] && most[1] > 0;
}

static pl_status replay_write_unit_coll(struct replay_run *run, int unit, int64_t *all, struct pl_error *error)
{
    int64_t mine[TOLD], told[TOLD];
    struct lab_set set = {.asked = &run->job->hints};
    struct coll_verdict verdict;
    assert(run->written_units == unit);
    if (!replay_write_has_coll(run, unit))
        return PL_OK;
    replay_write_tell(run, unit, mine);
    MPI_Gather(mine, TOLD, MPI_INT64_T, all, TOLD, MPI_INT64_T, 0, run->comm);
    if (run->rank == 0) {
        replay_write_sum_up(all, run->ranks, told);
        replay_write_add_params(run, &run->plan->units[unit], told, &set.params);
    }
    pl_status status = replay_write_take_series(&run->measures[unit], &set.samples, error);
    status = coll_agree_coll(run->comm, status, error, &verdict);
    if (status == PL_OK)
        status = lab_set_write_coll(run->lab, run->comm, &set, error);
    lab_set_clear(&set);
    return status;
}

pl_status replay_write_units_coll(struct replay_run *run, int until, struct pl_error *error)
{
    assert(until >= run->written_units && until <= run->plan->unit_count);
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
        if (replay_write_unit_coll(run, run->written_units, all, &failure) != PL_OK && status == PL_OK) {
            *error = failure;
            status = failure.status;
        }
    }
    free(all);
    return coll_agree_coll(run->comm, status, error, &verdict);
}

pl_status replay_write_failure_coll(struct replay_run *run, const struct coll_verdict *verdict, struct pl_error *error)
{
    struct lab_set set = {.verdict = *verdict};
    assert(verdict->status != PL_OK);
    snprintf(set.label, sizeof set.label, "%.200s, repetition %" PRId64, run->job->directory, run->repetition);
    notes_add(&set.params, "kind", "failure");
    replay_write_add(&set.params, "repetition", run->repetition);
    const pl_status status = lab_set_write_coll(run->lab, run->comm, &set, error);
    lab_set_clear(&set);
    return status;
}
