/* Goes through the cells. In each, contestants take turns; rank 0 keeps the tallies and says whose trial is next; the
 * ranks that a cell does not need sleep until it is done. */
#include "bench/contest/contest.h"

#include "base/notes.h"
#include "base/rng.h"
#include "base/units.h"
#include "lab/facts/place.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct contest_run {
    struct lab_run *lab;
    const struct contest *contest;
    MPI_Comm comm; /* the ranks of the current cell, MPI_COMM_NULL on the others */
    int comm_ranks;
    struct contest_tally *tallies; /* rank 0: of the current cell */
    int64_t ready_bytes;           /* the file has the contents of a file of this length; 0: it is to be written */
};

/* ---- tallies ---- */

struct contest_measured {
    const struct contest *contest;
    const struct blockfile_block *last; /* of the kind, in the file */
    struct contest_tally *tallies;
};

/* Another run may stand in the same file: its trials were other ones. */
static void contest_take_set(void *context, const struct blockfile_block *block, const struct blockfile_set *set)
{
    const struct contest_measured *measured = context;
    const struct contest *contest = measured->contest;
    const char *name = blockfile_param_of(set, contest->kind->contestant_param);
    if (!name || !conditions_alike(block, measured->last, contest->kind->conditions))
        return;
    for (int i = 0; i < contest->contestant_count; i++) {
        struct contest_tally *tally = &measured->tallies[i];
        if (strcmp(contest->contestants[i].label, name) != 0)
            continue;
        for (size_t t = 0; t < set->time_count && tally->count < CONTEST_TRIALS_MAX; t++)
            if (strcmp(set->times[t].key, "total_time") == 0)
                tally->total_ns[tally->count++] = (double)set->times[t].nanoseconds;
    }
}

void contest_tally_measured(const struct lab_run *run, const struct contest *contest, const struct text *params,
                            struct contest_tally *tallies)
{
    struct contest_measured measured = {.contest = contest, .tallies = tallies};
    assert(run->rank == 0);
    for (size_t b = 0; run->resumes && b < run->earlier.block_count; b++)
        if (strcmp(run->earlier.blocks[b].class_name, contest->kind->class_name) == 0)
            measured.last = &run->earlier.blocks[b];
    if (measured.last)
        lab_each_measured(run, contest->test, params, contest_take_set, &measured);
}

/* What earlier runs have of the cell; who cannot take part, or in a single round has failed before, has had enough. */
static void contest_load_tallies(struct contest_run *run, const struct contest_cell *cell)
{
    const struct contest *contest = run->contest;
    struct text params = {0};
    memset(run->tallies, 0, (size_t)contest->contestant_count * sizeof *run->tallies);
    contest->kind->identify(cell, &params);
    contest_tally_measured(run->lab, contest, &params, run->tallies);
    text_clear(&params);
    for (int i = 0; i < contest->contestant_count; i++)
        run->tallies[i].failed = !contest_takes_part(&contest->contestants[i], cell) ||
                                 run->tallies[i].count < contest->round - 1;
}

/* Rank 0's choice: contestant and number of the trial; contestant -1: the cell is done. */
struct contest_turn {
    int contestant, number;
};

static struct contest_turn contest_next_turn(const struct contest_run *run)
{
    const struct contest *contest = run->contest;
    const int next = contest_next(run->tallies, contest->contestant_count, &contest->rule);
    if (next < 0 || (contest->round > 0 && run->tallies[next].count >= contest->round))
        return (struct contest_turn){-1, 0};
    return (struct contest_turn){next, run->tallies[next].count + 1};
}

/* ---- one trial ---- */

static void contest_describe(const struct contest *contest, const struct contest_cell *cell, struct contest_turn turn,
                             struct lab_set *set)
{
    const struct contest_contestant *contestant = &contest->contestants[turn.contestant];
    char number[16], text[CONTEST_TEXT_MAX];
    snprintf(number, sizeof number, "%d", turn.number);
    contest->kind->cell_text(cell, text);
    snprintf(set->label, sizeof set->label, "%.*s: %.40s", (int)sizeof set->label - 48, text, contestant->label);
    contest->kind->identify(cell, &set->params);
    notes_add(&set->params, contest->kind->contestant_param, contestant->label);
    contest->kind->describe(cell, contestant, &set->params);
    notes_add(&set->params, contest->kind->number_param, number);
}

static pl_status contest_trial_coll(struct contest_run *run, struct contest_place *place, int cell,
                                    struct contest_turn turn, struct pl_error *error)
{
    const struct contest *contest = run->contest;
    struct contest_trial trial = {
        .place = place, .contestant = &contest->contestants[turn.contestant], .number = turn.number};
    /* data of its own, so that what another trial left is noticed */
    const uint64_t who = rng_at((uint64_t)contest->seed + 1,
                                (uint64_t)cell * (uint64_t)contest->contestant_count + (uint64_t)turn.contestant);
    trial.seed = rng_at(who, (uint64_t)turn.number);
    contest_describe(contest, place->cell, turn, &trial.set);
    contest_trial_run_coll(&trial);
    const bool failed = trial.set.verdict.status != PL_OK;
    const pl_status written = lab_set_write_coll(run->lab, run->comm, &trial.set, error);
    if (run->lab->rank == 0) {
        struct contest_tally *tally = &run->tallies[turn.contestant];
        assert(tally->count == turn.number - 1);
        tally->failed |= failed;
        if (!failed)
            tally->total_ns[tally->count++] = trial.total_ns;
    }
    struct coll_verdict ignored;
    if (failed) /* the next one is not to blame; where this fails, it will notice */
        contest_place_mend_coll(place, &ignored);
    contest_trial_clear(&trial);
    return written;
}

/* Nothing can be measured here: each contestant's set says why. Rank 0 calls. */
static pl_status contest_write_failure(struct contest_run *run, const struct contest_cell *cell,
                                       struct contest_turn turn, const struct coll_verdict *verdict,
                                       struct pl_error *error)
{
    struct lab_set set = {.label = ""};
    struct blockfile_writer *writer = run->lab->writer;
    contest_describe(run->contest, cell, turn, &set);
    blockfile_set(writer);
    notes_put_params(&set.params, writer);
    blockfile_error(writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
    lab_set_clear(&set);
    run->tallies[turn.contestant].failed = true;
    run->lab->failed++;
    return blockfile_end_set(writer, error);
}

/* ---- one cell ---- */

/* Ranks of the cell call. */
static pl_status contest_members_coll(struct contest_run *run, int number, struct pl_error *error)
{
    const struct contest *contest = run->contest;
    const struct contest_cell *cell = &contest->cells[number];
    const bool is_ready = contest->kind->reuses_file && run->ready_bytes == cell->file_bytes && !cell->fresh;
    struct contest_place place;
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    run->ready_bytes = 0;
    const bool can = contest_place_init_coll(&place, &run->lab->clock, run->comm, contest, cell, is_ready, &verdict) ==
                     PL_OK;
    if (!can) {
        char text[CONTEST_TEXT_MAX];
        contest->kind->cell_text(cell, text);
        strncat(text, ": nothing can be measured", sizeof text - strlen(text) - 1);
        lab_failed(run->lab, text, &verdict);
        run->lab->failed--; /* each of its sets counts */
    }
    for (;;) {
        struct contest_turn turn = {-1, 0};
        if (run->lab->rank == 0 && status == PL_OK)
            turn = contest_next_turn(run);
        MPI_Bcast(&turn, 2, MPI_INT, 0, run->comm);
        if (turn.contestant < 0)
            break;
        if (can)
            status = contest_trial_coll(run, &place, number, turn, error);
        else if (run->lab->rank == 0)
            status = contest_write_failure(run, cell, turn, &verdict, error);
    }
    if (can && !cell->writes)
        run->ready_bytes = cell->file_bytes;
    contest_place_clear(&place);
    return status;
}

/* What is known already: the fastest of the cell. */
static void contest_tell_cell(const struct contest_run *run, const struct contest_cell *cell)
{
    const struct contest *contest = run->contest;
    char text[CONTEST_TEXT_MAX];
    double best = 0;
    int who = -1;
    for (int i = 0; i < contest->contestant_count; i++) {
        const struct contest_tally *tally = &run->tallies[i];
        const double mean_ns = analysis_mean(tally->total_ns, (size_t)tally->count).value;
        const double rate = tally->count ? units_rate_mb_per_s((double)cell->moved_bytes, mean_ns) : 0;
        if (rate > best) {
            best = rate;
            who = i;
        }
    }
    contest->kind->cell_text(cell, text);
    if (who >= 0)
        lab_tell(run->lab, "%s: fastest %s, %.4g MB/s\n", text, contest->contestants[who].label, best);
    else
        lab_tell(run->lab, "%s: failed\n", text);
}

static double contest_weight(const struct contest *contest, const struct contest_cell *cell)
{
    return (double)cell->moved_bytes * contest->contestant_count * (double)contest->rule.trials;
}

static pl_status contest_cell_coll(struct contest_run *run, int number, struct pl_error *error)
{
    const struct contest_cell *cell = &run->contest->cells[number];
    char text[CONTEST_TEXT_MAX];
    int is_wanted = 1;
    if (run->lab->rank == 0) {
        contest_load_tallies(run, cell);
        is_wanted = contest_next_turn(run).contestant >= 0;
    }
    MPI_Bcast(&is_wanted, 1, MPI_INT, 0, run->lab->world);
    if (!is_wanted) {
        lab_skip(run->lab, contest_weight(run->contest, cell));
        return PL_OK;
    }
    run->contest->kind->cell_text(cell, text);
    lab_step(run->lab, contest_weight(run->contest, cell), "%s", text);
    coll_choose_coll(run->lab->world, cell->ranks, &run->comm, &run->comm_ranks);
    pl_status status = PL_OK;
    if (run->comm != MPI_COMM_NULL)
        status = contest_members_coll(run, number, error);
    coll_barrier_quiet_coll(run->lab->world); /* ranks that are not needed must not take a core from those that are */
    MPI_Bcast(&run->ready_bytes, 1, MPI_INT64_T, 0, run->lab->world); /* some ranks were not there */
    if (run->lab->rank == 0)
        contest_tell_cell(run, cell);
    struct coll_verdict verdict;
    return coll_agree_coll(run->lab->world, status, error, &verdict);
}

/* ---- the whole ---- */

static pl_status contest_head_coll(struct contest_run *run, struct pl_error *error)
{
    const struct contest *contest = run->contest;
    bool cold = false;
    lab_block_begin(run->lab, contest->kind->class_name, contest->test);
    for (int c = 0; c < contest->cell_count; c++)
        cold |= contest->cells[c].cold;
    if (run->lab->rank == 0) {
        struct blockfile_writer *writer = run->lab->writer;
        const char *memory = cold ? place_in_memory(contest->file) : NULL;
        blockfile_fact(writer, "seed", "%lld", (long long)contest->seed);
        if (contest->kind->clock == CONTEST_BARRIERS)
            blockfile_fact(writer, "time_rule", "%s", contest->kind->rule);
        else
            blockfile_fact(writer, "time_rule", "%s; %s", contest->kind->rule,
                           run->lab->clock.one_clock ? "one clock for all ranks" : "clocks compared by messages");
        if (memory)
            blockfile_fact(writer, "warning", "%s has no effect: %s is in memory", contest->kind->cold, memory);
    }
    return lab_block_head_coll(run->lab, contest->file, error);
}

pl_status contest_run_coll(struct lab_run *lab, struct pl_error *error)
{
    const struct contest *contest = lab->job->own;
    struct contest_run run = {.lab = lab, .contest = contest, .comm = MPI_COMM_NULL};
    struct coll_verdict verdict;
    double weight = 0;
    pl_status status = PL_OK;
    assert(contest->kind && contest->test && contest->cell_count > 0);
    run.tallies = calloc((size_t)contest->contestant_count, sizeof *run.tallies);
    if (!run.tallies)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
    if (status == PL_OK && lab->rank == 0)
        status = testfile_take(contest->file, contest->keep, lab->job->common.overwrite, error);
    for (int c = 0; c < contest->cell_count; c++)
        weight += contest_weight(contest, &contest->cells[c]);
    lab_plan(lab, contest->cell_count, weight);
    status = coll_agree_coll(lab->world, status, error, &verdict);
    if (status == PL_OK) {
        status = contest_head_coll(&run, error);
        for (const char *at = text_get(&contest->left_out); lab->rank == 0 && *at && !*lab->job->step;
             at += strcspn(at, "\n") + 1)
            lab_warn(lab, "left out: %.*s", (int)strcspn(at, "\n"), at);
        for (int c = 0; c < contest->cell_count && status == PL_OK; c++)
            if (contest->only_cell < 0 || contest->only_cell == c)
                status = contest_cell_coll(&run, c, error);
        status = lab_block_end_coll(lab, status, error);
    }
    if (run.comm != MPI_COMM_NULL)
        MPI_Comm_free(&run.comm);
    free(run.tallies);
    return status;
}
