/* Goes through the cells. In each, the contestants take turns, every round beginning with another one. Rank 0 writes
 * the results; the ranks that a cell does not need sleep until it is done. */
#include "bench/gpfs/gpfs_run.h"

#include "base/blockfile.h"
#include "base/interrupt.h"
#include "base/notes.h"
#include "base/rng.h"
#include "base/units.h"
#include "bench/gpfs/gpfs_trial.h"
#include "measure/environment.h"
#include "measure/place.h"
#include "measure/testfile.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct gpfs_job *job;
    MPI_Comm world, comm; /* comm: the ranks of the current cell, MPI_COMM_NULL on the others */
    int rank, size, comm_ranks;
    struct blockfile_writer *writer; /* rank 0 */
    struct gpfs_tally *tallies;      /* of the current cell */
    int64_t ready_bytes;             /* the file has the contents of a file of this length; 0: it is to be written */
    double began;
    int64_t done, failed; /* repetitions of this run */
};

/* ---- results ---- */

static void put_asked(struct blockfile_writer *writer, const struct gpfs_cell *cell,
                      const struct gpfs_contestant *contestant)
{
    char number[GPFS_LABEL_MAX];
    if (contestant->access == GPFS_POSIX)
        return;
    blockfile_hint(writer, "asked", "piolet_impl", contestant->access == GPFS_ENGINE ? "piolet" : "system");
    if (contestant->access != GPFS_ENGINE)
        return;
    blockfile_hint(writer, "asked", "piolet_strategy", contestant->strategy);
    blockfile_hint(writer, "asked", "IBM_largeblock_io", contestant->largeblock ? "true" : "false");
    blockfile_hint(writer, "asked", "piolet_access_ranges", gpfs_key_text(GPFS_RANKS, contestant->ranges, number));
    blockfile_hint(writer, "asked", "IBM_io_buffer_size", gpfs_key_text(GPFS_BUFFER, cell->value[GPFS_BUFFER], number));
}

static void put_params(struct blockfile_writer *writer, const struct gpfs_cell *cell,
                       const struct gpfs_contestant *contestant, int number)
{
    char word[GPFS_LABEL_MAX];
    blockfile_param(writer, "contestant", "%s", contestant->name);
    blockfile_param(writer, "repetition", "%d", number);
    for (int key = 0; key < GPFS_KEYS; key++)
        if (cell->benchmark->defaults[key])
            blockfile_param(writer, GPFS_KEY_ROWS[key].param, "%s",
                            gpfs_key_text((enum gpfs_key)key, cell->value[key], word));
    blockfile_param(writer, "filesize_bytes", "%lld", (long long)cell->file_bytes);
    blockfile_param(writer, "moved_bytes", "%lld", (long long)cell->moved_bytes);
    blockfile_param(writer, "unique_open", "%s", contestant->unique ? "yes" : "no");
    put_asked(writer, cell, contestant);
}

/* Ranks of the cell call; what goes wrong with the results is known on rank 0. */
static pl_status write_trial_coll(struct run *run, const struct gpfs_trial *trial, const struct coll_verdict *verdict,
                                  struct pl_error *error)
{
    struct blockfile_writer *writer = run->writer;
    if (run->rank == 0) {
        blockfile_set(writer);
        put_params(writer, trial->place->cell, trial->contestant, trial->number);
        notes_put_hints_used(&trial->used, writer);
    }
    samples_write_coll(&trial->samples, run->comm, writer);
    if (run->rank != 0)
        return PL_OK;
    if (verdict->status == PL_OK)
        blockfile_time(writer, 0, "total_time", llround(trial->total_ns));
    else
        blockfile_error(writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
    return blockfile_end_set(writer, error);
}

/* ---- one repetition ---- */

static struct gpfs_event event_of(const struct run *run, int cell)
{
    const struct gpfs_job *job = run->job;
    return (struct gpfs_event){.config = job->config,
                               .cell = &job->cells->cells[cell],
                               .number = cell + 1,
                               .cells = job->cells->count,
                               .tallies = run->tallies,
                               .left_s = -1};
}

/* `contestant` NULL: nobody can be measured in this cell. */
static void tell_failure(const struct run *run, int cell, const struct gpfs_contestant *contestant,
                         const struct coll_verdict *verdict)
{
    struct gpfs_event event = event_of(run, cell);
    event.contestant = contestant;
    event.verdict = verdict;
    run->job->observer->failed(run->job->observer->context, &event);
}

static pl_status run_trial_coll(struct run *run, struct gpfs_place *place, int cell, int contestant, int number,
                                struct pl_error *error)
{
    const struct gpfs_config *config = run->job->config;
    struct gpfs_trial trial = {.place = place, .contestant = &config->contestants[contestant], .number = number};
    /* data of its own, so that what another one left is noticed */
    const uint64_t who = rng_at((uint64_t)config->seed + 1, (uint64_t)(cell * GPFS_CONTESTANTS_MAX + contestant));
    trial.seed = rng_at(who, (uint64_t)number);
    struct gpfs_tally *tally = &run->tallies[contestant];
    struct pl_error failure;
    struct coll_verdict verdict;
    gpfs_trial_run_coll(&trial, &failure, &verdict);
    const pl_status written = write_trial_coll(run, &trial, &verdict, error);
    run->done++;
    tally->failed |= verdict.status != PL_OK;
    if (verdict.status == PL_OK)
        tally->rates[tally->count++] = units_rate_mb_per_s((double)place->cell->moved_bytes, round(trial.total_ns));
    run->failed += verdict.status != PL_OK;
    if (verdict.status != PL_OK && run->rank == 0)
        tell_failure(run, cell, trial.contestant, &verdict);
    if (verdict.status != PL_OK) /* the next one is not to blame; where this fails, it will notice */
        gpfs_place_mend_coll(place, &failure, &verdict);
    gpfs_trial_clear(&trial);
    return written;
}

/* ---- one cell ---- */

/* Nothing can be measured here: each contestant's set says why. Rank 0 calls. */
static pl_status write_failed_cell(struct run *run, int cell, const struct coll_verdict *verdict,
                                   struct pl_error *error)
{
    const struct gpfs_config *config = run->job->config;
    pl_status status = PL_OK;
    for (int i = 0; i < config->contestant_count && status == PL_OK; i++) {
        blockfile_set(run->writer);
        put_params(run->writer, &run->job->cells->cells[cell], &config->contestants[i], 1);
        blockfile_error(run->writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
        status = blockfile_end_set(run->writer, error);
        run->tallies[i].failed = true;
        run->failed++;
    }
    tell_failure(run, cell, NULL, verdict);
    return status;
}

/* Ranks of the cell call. */
static pl_status run_turns_coll(struct run *run, struct gpfs_place *place, int cell, struct pl_error *error)
{
    const struct gpfs_config *config = run->job->config;
    const int count = config->contestant_count;
    for (int number = 1; number <= config->reps; number++)
        for (int i = 0; i < count; i++) {
            /* nobody always runs behind the same one, whose data still lie in caches */
            const int contestant = (i + number - 1) % count;
            int goes_on = 1;
            if (run->tallies[contestant].failed || run->tallies[contestant].count >= number)
                continue;
            const pl_status status = run_trial_coll(run, place, cell, contestant, number, error);
            if (run->rank == 0)
                goes_on = status == PL_OK;
            MPI_Bcast(&goes_on, 1, MPI_INT, 0, run->comm);
            if (!goes_on)
                return run->rank == 0 ? status : pl_fail(error, PL_E_PEER, "results cannot be written");
        }
    return PL_OK;
}

static pl_status run_members_coll(struct run *run, int cell, struct pl_error *error)
{
    const struct gpfs_job *job = run->job;
    const struct gpfs_cell *what = &job->cells->cells[cell];
    struct gpfs_place place;
    struct coll_verdict verdict;
    struct pl_error failure;
    pl_status status = PL_OK;
    const bool is_ready = run->ready_bytes == what->file_bytes && !what->fresh;
    run->ready_bytes = 0;
    if (gpfs_place_init_coll(&place, run->comm, job->config, what, is_ready, &failure, &verdict) == PL_OK) {
        status = run_turns_coll(run, &place, cell, error);
        run->ready_bytes = what->writes ? 0 : what->file_bytes;
    } else if (run->rank == 0) {
        status = write_failed_cell(run, cell, &verdict, error);
    }
    gpfs_place_clear(&place);
    return status;
}

static double estimate_left(const struct run *run, int cell)
{
    const double each = (MPI_Wtime() - run->began) / (double)run->done;
    const int64_t turns = run->job->config->reps * run->job->config->contestant_count;
    return run->done ? each * (double)turns * (run->job->cells->count - cell) : -1;
}

/* What an earlier run has measured, rank 0 tells all: how many repetitions of each. Returns whether any are missing. */
static bool load_earlier_coll(struct run *run, const struct gpfs_cell *cell)
{
    const struct gpfs_config *config = run->job->config;
    int counts[GPFS_CONTESTANTS_MAX];
    bool missing = false;
    memset(run->tallies, 0, (size_t)config->contestant_count * sizeof *run->tallies);
    if (run->rank == 0 && run->job->earlier)
        gpfs_results_count(run->job->earlier, config, cell, run->tallies);
    for (int i = 0; i < config->contestant_count; i++)
        counts[i] = run->tallies[i].count;
    MPI_Bcast(counts, config->contestant_count, MPI_INT, 0, run->world);
    for (int i = 0; i < config->contestant_count; i++) {
        run->tallies[i].count = counts[i];
        missing |= counts[i] < config->reps;
    }
    return missing;
}

static pl_status run_cell_coll(struct run *run, int cell, struct pl_error *error)
{
    const struct gpfs_job *job = run->job;
    const struct gpfs_cell *what = &job->cells->cells[cell];
    struct gpfs_event event = event_of(run, cell);
    event.left_s = estimate_left(run, cell);
    if (!load_earlier_coll(run, what))
        return PL_OK;
    if (run->rank == 0)
        job->observer->begin(job->observer->context, &event);
    coll_choose_coll(run->world, what->ranks, &run->comm, &run->comm_ranks);
    pl_status status = PL_OK;
    if (run->comm != MPI_COMM_NULL)
        status = run_members_coll(run, cell, error);
    coll_barrier_quiet_coll(run->world); /* ranks that are not needed must not take a core from those that are */
    MPI_Bcast(&run->ready_bytes, 1, MPI_INT64_T, 0, run->world); /* some ranks were not there */
    if (run->rank == 0)
        job->observer->end(job->observer->context, &event);
    struct coll_verdict verdict;
    return coll_agree_coll(run->world, status, error, &verdict);
}

/* ---- the whole ---- */

/* What stands nowhere but in memory cannot be read cold. */
static void warn_of_memory(const struct run *run)
{
    const struct gpfs_values *caches = &run->job->config->keys[GPFS_CACHE];
    const char *memory = place_in_memory(run->job->config->file);
    for (int i = 0; i < caches->count && memory; i++)
        if (caches->values[i] == GPFS_COLD)
            blockfile_fact(run->writer, "warning", "--cache cold has no effect: %s is in memory", memory);
}

static pl_status write_head_coll(struct run *run, struct pl_error *error)
{
    const struct gpfs_config *config = run->job->config;
    if (run->rank == 0) {
        blockfile_begin(run->writer, GPFS_CLASS, config->benchmark->name);
        notes_each(&config->inputs, run->writer, blockfile_input);
        blockfile_fact(run->writer, "mpi", "%s", PIOLET_MPI_NAME);
        blockfile_fact(run->writer, "seed", "%lld", (long long)config->seed);
        blockfile_fact(run->writer, "time_rule", "barrier, access, sync, barrier; the longest of all ranks");
        warn_of_memory(run);
    }
    environment_facts_coll(run->world, config->file, run->writer);
    const pl_status status = run->rank == 0 ? blockfile_end_head(run->writer, error) : PL_OK;
    struct coll_verdict verdict;
    return coll_agree_coll(run->world, status, error, &verdict);
}

pl_status gpfs_run_check_place(const struct gpfs_config *config, const struct gpfs_cells *cells, bool overwrite,
                               struct pl_error *error)
{
    int64_t largest = 0;
    for (int c = 0; c < cells->count; c++)
        largest = cells->cells[c].file_bytes > largest ? cells->cells[c].file_bytes : largest;
    const pl_status status = place_check(config->file, largest, error);
    return status == PL_OK ? testfile_check(config->file, overwrite, error) : status;
}

static pl_status run_cells_coll(struct run *run, struct pl_error *error)
{
    struct coll_verdict verdict;
    pl_status status = write_head_coll(run, error);
    for (int c = 0; c < run->job->cells->count && status == PL_OK; c++)
        status = run_cell_coll(run, c, error);
    if (status != PL_OK)
        return status;
    if (run->rank == 0)
        status = blockfile_end(run->writer, error);
    return coll_agree_coll(run->world, status, error, &verdict);
}

static pl_status begin_coll(struct run *run, struct pl_error *error)
{
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    run->tallies = calloc((size_t)run->job->config->contestant_count, sizeof *run->tallies);
    if (!run->tallies)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
    if (status == PL_OK && run->rank == 0)
        status = testfile_take(run->job->config->file, run->job->config->keep, run->job->overwrite, error);
    if (status == PL_OK && run->rank == 0)
        status = blockfile_writer_open(run->job->output, &run->writer, error);
    return coll_agree_coll(run->world, status, error, &verdict);
}

pl_status gpfs_run_coll(MPI_Comm world, const struct gpfs_job *job, int64_t *ret_failed, struct pl_error *error)
{
    struct run run = {.job = job, .world = world, .comm = MPI_COMM_NULL, .began = MPI_Wtime()};
    MPI_Comm_rank(world, &run.rank);
    MPI_Comm_size(world, &run.size);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of its repetition, not the end of the run */
    pl_status status = begin_coll(&run, error);
    if (status == PL_OK)
        status = run_cells_coll(&run, error);
    struct pl_error close_error;
    const pl_status closed = blockfile_writer_close(run.writer, &close_error);
    if (status == PL_OK && closed != PL_OK)
        *error = close_error;
    if (run.comm != MPI_COMM_NULL)
        MPI_Comm_free(&run.comm);
    testfile_end(); /* of rank 0 */
    free(run.tallies);
    MPI_Bcast(&run.failed, 1, MPI_INT64_T, 0, world);
    *ret_failed = run.failed;
    struct coll_verdict verdict;
    return coll_agree_coll(world, status != PL_OK ? status : closed, error, &verdict);
}
