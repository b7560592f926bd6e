/* Goes through the cells. Rank 0 keeps the tallies, says whose trial is next and writes the results; the ranks that a
 * cell does not need sleep until it is done. */
#include "bench/piobench/piobench_run.h"

#include "base/blockfile.h"
#include "base/interrupt.h"
#include "base/notes.h"
#include "base/rng.h"
#include "bench/piobench/piobench_trial.h"
#include "measure/environment.h"
#include "measure/place.h"
#include "measure/testfile.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct piobench_job *job;
    MPI_Comm world, comm; /* comm: the ranks of the current cell, MPI_COMM_NULL on the others */
    int rank, size, comm_ranks;
    struct blockfile_writer *writer; /* rank 0 */
    struct piobench_rule rule;
    double began;
    int64_t done, failed; /* trials of this run */
};

bool piobench_run_takes_part(const struct piobench_contestant *contestant, const struct piobench_cell *cell)
{
    return strcmp(contestant->algorithm->name, "broadcast") != 0 || cell->spec.kind == PIOLET_DIST_BROADCAST;
}

pl_status piobench_run_check_place(const struct piobench_config *config, const struct piobench_matrix *matrix,
                                   bool overwrite, struct pl_error *error)
{
    int64_t largest = 0;
    for (int c = 0; c < matrix->count; c++)
        largest = matrix->cells[c].file_bytes > largest ? matrix->cells[c].file_bytes : largest;
    const pl_status status = place_check(config->file, largest, error);
    return status == PL_OK ? testfile_check(config->file, overwrite, error) : status;
}

/* ---- results ---- */

static void put_shape(struct blockfile_writer *writer, const struct piobench_cell *cell)
{
    struct text sizes = {0};
    for (int d = 0; d < cell->shape.dims; d++)
        text_format(&sizes, "%s%lld", d ? "x" : "", (long long)cell->shape.size[d]);
    blockfile_param(writer, "array", "%s", text_get(&sizes));
    text_clear(&sizes);
}

static int64_t moved_bytes(const struct piobench_cell *cell)
{
    return cell->file_bytes * (cell->spec.kind == PIOLET_DIST_BROADCAST ? cell->ranks : 1);
}

static void put_asked(struct blockfile_writer *writer, const struct piobench_config *config,
                      const struct piobench_contestant *contestant)
{
    if (contestant->algorithm->access == PIOBENCH_NAIVE)
        return;
    blockfile_hint(writer, "asked", "piolet_impl", contestant->algorithm->strategy ? "piolet" : "system");
    if (contestant->algorithm->strategy)
        blockfile_hint(writer, "asked", "piolet_strategy", contestant->algorithm->strategy);
    for (int i = 0; i < config->hint_count; i++)
        blockfile_hint(writer, "asked", config->hints[i].key, config->hints[i].value);
    for (int i = 0; i < contestant->hint_count; i++)
        blockfile_hint(writer, "asked", contestant->hints[i].key, contestant->hints[i].value);
}

static void put_params(struct blockfile_writer *writer, const struct piobench_config *config,
                       const struct piobench_cell *cell, const struct piobench_contestant *contestant, int number)
{
    blockfile_param(writer, "op", "%s", cell->writes ? "write" : "read");
    blockfile_param(writer, "distribution", "%s", cell->distribution->text);
    blockfile_param(writer, "algorithm", "%s", contestant->label);
    blockfile_param(writer, "family", "%s", contestant->algorithm->family);
    blockfile_param(writer, "ranks", "%d", cell->ranks);
    blockfile_param(writer, "blocksize_bytes", "%lld", (long long)cell->block_bytes);
    blockfile_param(writer, "block_asked_bytes", "%lld", (long long)cell->block_asked_bytes);
    blockfile_param(writer, "filesize_bytes", "%lld", (long long)cell->file_bytes);
    blockfile_param(writer, "file_asked_bytes", "%lld", (long long)cell->file_asked_bytes);
    blockfile_param(writer, "moved_bytes", "%lld", (long long)moved_bytes(cell));
    put_shape(writer, cell);
    blockfile_param(writer, "trial", "%d", number);
    put_asked(writer, config, contestant);
}

/* Ranks of the cell call; what goes wrong with the file is known on rank 0. */
static pl_status write_trial_coll(struct run *run, const struct piobench_trial *trial,
                                  const struct coll_verdict *verdict, struct pl_error *error)
{
    struct blockfile_writer *writer = run->writer;
    if (run->rank == 0) {
        blockfile_set(writer);
        put_params(writer, run->job->config, trial->place->cell, trial->contestant, trial->number);
        notes_put_hints_used(&trial->used, writer);
    }
    samples_write_coll(&trial->samples, run->comm, writer);
    if (run->rank != 0)
        return PL_OK;
    if (verdict->status == PL_OK)
        blockfile_time(writer, 0, "total_time", llround(trial->total_ns));
    else
        blockfile_error(writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
    notes_put_warnings(&trial->warnings, writer);
    return blockfile_end_set(writer, error);
}

/* ---- one trial ---- */

static bool wants_check(const struct piobench_config *config, int number)
{
    return config->check == PIOBENCH_CHECK_ALL || (config->check == PIOBENCH_CHECK_FIRST && number == 1);
}

static struct piobench_event event_of(const struct run *run, int cell)
{
    const struct piobench_job *job = run->job;
    return (struct piobench_event){
        .cell = &job->matrix->cells[cell],
        .number = cell + 1,
        .cells = job->matrix->count,
        .config = job->config,
        .tallies = run->rank == 0 ? &job->tallies[cell * job->config->contestant_count] : NULL,
        .left_s = -1,
    };
}

static void note_failure(struct run *run, int cell, int contestant)
{
    run->failed++;
    run->job->tallies[cell * run->job->config->contestant_count + contestant].failed = true;
}

/* `contestant` NULL: nobody can be measured in this cell. */
static void tell_failure(const struct run *run, int cell, const struct piobench_contestant *contestant,
                         const struct coll_verdict *verdict)
{
    struct piobench_event event = event_of(run, cell);
    event.contestant = contestant;
    event.verdict = verdict;
    run->job->observer->failed(run->job->observer->context, &event);
}

/* `number` counts the contestant's trials in this cell, from 1. */
static pl_status run_trial_coll(struct run *run, struct piobench_place *place, int cell, int contestant, int number,
                                struct pl_error *error)
{
    const struct piobench_config *config = run->job->config;
    struct piobench_trial trial = {.place = place,
                                   .contestant = &config->contestants[contestant],
                                   .number = number,
                                   .check = wants_check(config, number)};
    /* data of its own, so that what another trial left is noticed */
    const uint64_t who = rng_at((uint64_t)config->seed + 1, (uint64_t)(cell * PIOBENCH_CONTESTANTS_MAX + contestant));
    trial.seed = rng_at(who, (uint64_t)number);
    struct pl_error failure;
    struct coll_verdict verdict;
    piobench_trial_run_coll(&trial, &failure, &verdict);
    const pl_status written = write_trial_coll(run, &trial, &verdict, error);
    run->done++;
    if (run->rank == 0 && verdict.status != PL_OK) {
        note_failure(run, cell, contestant);
        tell_failure(run, cell, trial.contestant, &verdict);
    }
    if (run->rank == 0 && verdict.status == PL_OK) {
        struct piobench_tally *tally = &run->job->tallies[cell * config->contestant_count + contestant];
        tally->total_ns[tally->count++] = trial.total_ns;
    }
    piobench_trial_clear(&trial);
    return written;
}

/* ---- one cell ---- */

/* Rank 0's choice: contestant and number of the trial; contestant -1: the cell is done. */
struct turn {
    int contestant, number;
};

static struct turn next_turn(const struct run *run, int cell)
{
    const struct piobench_job *job = run->job;
    const struct piobench_tally *tallies = &job->tallies[cell * job->config->contestant_count];
    const int next = piobench_schedule_next(tallies, job->config->contestant_count, &run->rule);
    if (next < 0 || (job->round > 0 && tallies[next].count >= job->round))
        return (struct turn){-1, 0};
    return (struct turn){next, tallies[next].count + 1};
}

/* Nothing can be measured here: each contestant's set says why. Rank 0 calls. */
static pl_status write_failed_cell(struct run *run, int cell, const struct coll_verdict *verdict,
                                   struct pl_error *error)
{
    pl_status status = PL_OK;
    struct turn turn;
    while (status == PL_OK && (turn = next_turn(run, cell)).contestant >= 0) {
        blockfile_set(run->writer);
        put_params(run->writer, run->job->config, &run->job->matrix->cells[cell],
                   &run->job->config->contestants[turn.contestant], turn.number);
        blockfile_error(run->writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
        status = blockfile_end_set(run->writer, error);
        note_failure(run, cell, turn.contestant);
    }
    tell_failure(run, cell, NULL, verdict);
    return status;
}

/* Ranks of the cell call. */
static pl_status run_members_coll(struct run *run, int cell, struct pl_error *error)
{
    struct piobench_place place;
    struct coll_verdict verdict;
    struct pl_error failure;
    pl_status status = PL_OK;
    if (piobench_place_init_coll(&place, run->comm, run->job->config, &run->job->matrix->cells[cell], &failure,
                                 &verdict) != PL_OK) {
        if (run->rank == 0)
            status = write_failed_cell(run, cell, &verdict, error);
        piobench_place_clear(&place);
        return status;
    }
    for (;;) {
        struct turn turn = {-1, 0};
        if (run->rank == 0 && status == PL_OK)
            turn = next_turn(run, cell);
        MPI_Bcast(&turn, 2, MPI_INT, 0, run->comm);
        if (turn.contestant < 0)
            break;
        status = run_trial_coll(run, &place, cell, turn.contestant, turn.number, error);
    }
    piobench_place_clear(&place);
    return status;
}

/* Trials that contestants have needed so far, on average. */
static double trials_needed(const struct run *run)
{
    const struct piobench_job *job = run->job;
    int64_t trials = 0, finished = 0;
    for (int i = 0; i < job->matrix->count * job->config->contestant_count; i++)
        if (job->tallies[i].count && piobench_schedule_finished(&job->tallies[i], &run->rule)) {
            trials += job->tallies[i].count;
            finished++;
        }
    return finished ? (double)trials / (double)finished : run->rule.trials;
}

/* Trials that are still to come, at the pace of this run so far. */
static double estimate_left(const struct run *run)
{
    const struct piobench_job *job = run->job;
    const double needed = trials_needed(run);
    double to_do = 0;
    for (int i = 0; i < job->matrix->count * job->config->contestant_count; i++)
        if (!piobench_schedule_finished(&job->tallies[i], &run->rule))
            to_do += fmax(needed - job->tallies[i].count, 1);
    return run->done ? (MPI_Wtime() - run->began) / (double)run->done * to_do : -1;
}

static pl_status run_cell_coll(struct run *run, int cell, struct pl_error *error)
{
    const struct piobench_job *job = run->job;
    struct piobench_event event = event_of(run, cell);
    int is_wanted = 1;
    if (run->rank == 0) {
        event.left_s = estimate_left(run);
        is_wanted = next_turn(run, cell).contestant >= 0;
    }
    MPI_Bcast(&is_wanted, 1, MPI_INT, 0, run->world);
    if (is_wanted && run->rank == 0)
        job->observer->begin(job->observer->context, &event);
    pl_status status = PL_OK;
    if (is_wanted) {
        coll_choose_coll(run->world, job->matrix->cells[cell].ranks, &run->comm, &run->comm_ranks);
        if (run->comm != MPI_COMM_NULL)
            status = run_members_coll(run, cell, error);
        coll_barrier_quiet_coll(run->world); /* ranks that are not needed must not take a core from those that are */
    }
    if (run->rank == 0)
        job->observer->end(job->observer->context, &event);
    struct coll_verdict verdict;
    return coll_agree_coll(run->world, status, error, &verdict);
}

/* ---- the whole ---- */

static pl_status write_head_coll(struct run *run, struct pl_error *error)
{
    const struct piobench_job *job = run->job;
    bool one_node;
    piobench_clock_offset_coll(run->world, &one_node);
    if (run->rank == 0) {
        blockfile_begin(run->writer, PIOBENCH_CLASS, PIOBENCH_TEST);
        notes_each(&job->config->inputs, run->writer, blockfile_input);
        blockfile_fact(run->writer, "mpi", "%s", job->mpi);
        blockfile_fact(run->writer, "seed", "%lld", (long long)job->config->seed);
        blockfile_fact(run->writer, "time_rule", "first start to last end; %s",
                       one_node ? "one clock for all ranks" : "clocks compared by messages");
        const char *memory = job->config->cold ? place_in_memory(job->config->file) : NULL;
        if (memory)
            blockfile_fact(run->writer, "warning", "--cold has no effect: %s is in memory", memory);
    }
    environment_facts_coll(run->world, job->config->file, run->writer);
    const pl_status status = run->rank == 0 ? blockfile_end_head(run->writer, error) : PL_OK;
    struct coll_verdict verdict;
    return coll_agree_coll(run->world, status, error, &verdict);
}

/* Who cannot take part; in a single round also who failed in an earlier one. */
static void leave_out(const struct piobench_job *job)
{
    const int count = job->config->contestant_count;
    for (int c = 0; c < job->matrix->count; c++)
        for (int i = 0; i < count; i++) {
            struct piobench_tally *tally = &job->tallies[c * count + i];
            if (!piobench_run_takes_part(&job->config->contestants[i], &job->matrix->cells[c]) ||
                tally->count < job->round - 1)
                tally->failed = true;
        }
}

static pl_status run_cells_coll(struct run *run, struct pl_error *error)
{
    const struct piobench_job *job = run->job;
    struct coll_verdict verdict;
    pl_status status = write_head_coll(run, error);
    for (int c = 0; c < job->matrix->count && status == PL_OK; c++)
        if (job->only_cell < 0 || job->only_cell == c)
            status = run_cell_coll(run, c, error);
    if (status != PL_OK)
        return status;
    if (run->rank == 0)
        status = blockfile_end(run->writer, error);
    return coll_agree_coll(run->world, status, error, &verdict);
}

pl_status piobench_run_coll(MPI_Comm world, const struct piobench_job *job, int64_t *ret_failed, struct pl_error *error)
{
    struct run run = {.job = job,
                      .world = world,
                      .comm = MPI_COMM_NULL,
                      .rule = {(int)job->config->trials, (int)job->config->max_trials, job->config->width},
                      .began = MPI_Wtime()};
    MPI_Comm_rank(world, &run.rank);
    MPI_Comm_size(world, &run.size);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of its trial, not the end of the run */
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    if (run.rank == 0) {
        leave_out(job);
        status = testfile_take(job->config->file, job->config->keep, job->overwrite, error);
    }
    if (status == PL_OK && run.rank == 0) {
        status = blockfile_writer_open(job->output, &run.writer, error);
    }
    status = coll_agree_coll(world, status, error, &verdict);
    if (status == PL_OK)
        status = run_cells_coll(&run, error);
    struct pl_error close_error;
    const pl_status closed = blockfile_writer_close(run.writer, &close_error);
    if (status == PL_OK && closed != PL_OK)
        *error = close_error;
    if (run.comm != MPI_COMM_NULL)
        MPI_Comm_free(&run.comm);
    testfile_end(); /* of rank 0 */
    MPI_Bcast(&run.failed, 1, MPI_INT64_T, 0, world);
    *ret_failed = run.failed;
    return coll_agree_coll(world, status != PL_OK ? status : closed, error, &verdict);
}
