#include "bench/beff/beff_run.h"

#include "base/blockfile.h"
#include "base/rng.h"
#include "bench/beff/beff_data.h"
#include "bench/beff/beff_method.h"
#include "measure/environment.h"
#include "mpi/coll.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct run {
    MPI_Comm comm;
    int rank, nprocs;
    struct beff_plan plan;
    const struct beff_wish *wish;
    const struct beff_observer *observer;
    struct blockfile_writer *writer; /* rank 0 */
    struct beff_exchange exchange;
    int *order;
    uint64_t serial; /* of measurements: the same on all ranks */
    double began, random_began;
    int repetitions; /* of the current pattern */
    int64_t failed;
    pl_status written; /* rank 0: of the last set; all learn of it with the next one */
    struct pl_error write_error;
};

/* One pattern with one length: what goes into a set. Before all know it, `seconds` are those of this rank. */
struct measured {
    struct beff_pattern pattern;
    int64_t length;
    int64_t loops[BEFF_METHODS];
    double seconds[BEFF_METHODS][BEFF_REPETITIONS]; /* of the slowest rank */
};

enum trouble { TROUBLE_NONE, TROUBLE_MESSAGES, TROUBLE_RESULTS };

/* ---- one measurement ---- */

static void fill_messages(struct run *run)
{
    struct beff_exchange *x = &run->exchange;
    for (int k = 0; k < x->links.count; k++) {
        const struct beff_message out = {run->serial, run->rank, k, x->length};
        const struct beff_message in = {run->serial, x->links.from[k], k, x->length};
        if (x->links.to[k] != BEFF_NOBODY)
            beff_data_fill(&out, x->send + x->send_at[k]);
        if (x->links.from[k] != BEFF_NOBODY)
            beff_data_spoil(&in, x->receive + x->receive_at[k]);
    }
}

static pl_status check_messages(const struct run *run, struct pl_error *error)
{
    const struct beff_exchange *x = &run->exchange;
    if (x->code != MPI_SUCCESS)
        return coll_fail_mpi(error, x->code, "sending and receiving");
    for (int k = 0; k < x->links.count; k++) {
        const struct beff_message in = {run->serial, x->links.from[k], k, x->length};
        if (x->links.from[k] != BEFF_NOBODY && beff_data_check(&in, x->receive + x->receive_at[k], error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

/* All repetitions with one method. *status is this rank's first failure of the set so far. */
static void measure_method_coll(struct run *run, struct measured *set, int m, pl_status *status, struct pl_error *error)
{
    const struct beff_method *method = &BEFF_METHOD_TABLE[m];
    struct beff_exchange *x = &run->exchange;
    run->serial++;
    x->code = MPI_SUCCESS;
    fill_messages(run);
    if (set->length == run->plan.lengths[0])
        method->loop_coll(x, 1); /* connections are made by the first message: not in the time */
    for (int r = 0; r < run->repetitions; r++) {
        method->meet_coll(x);
        const double began = MPI_Wtime();
        method->loop_coll(x, set->loops[m]);
        set->seconds[m][r] = MPI_Wtime() - began;
    }
    if (m == BEFF_TURNS)
        coll_barrier_quiet_coll(run->comm); /* the idle ones must not compete for the cores of those that play */
    struct pl_error wrong;
    if (*status == PL_OK && check_messages(run, &wrong) != PL_OK) {
        *status = wrong.status;
        pl_fail(error, wrong.status, "%s: %.900s", method->label, wrong.text);
    }
}

/* The best repetition decides: a loop is never lengthened again, and one disturbance must not shorten all to come. */
static int64_t next_loops(const struct run *run, const struct measured *set, int m)
{
    double least = set->seconds[m][0];
    for (int r = 1; r < run->repetitions; r++)
        least = set->seconds[m][r] < least ? set->seconds[m][r] : least;
    return beff_loop_next(set->loops[m], least, run->plan.loop_target_s);
}

/* ---- results ---- */

static pl_status write_set(struct run *run, const struct measured *set, const struct coll_verdict *verdict,
                           struct pl_error *error)
{
    char name[BEFF_NAME_MAX];
    struct blockfile_writer *writer = run->writer;
    blockfile_set(writer);
    blockfile_param(writer, "pattern", "%s", beff_pattern_name(set->pattern, name));
    blockfile_param(writer, "length_bytes", "%" PRId64, set->length);
    blockfile_param(writer, "messages", "%" PRId64, beff_pattern_messages(set->pattern, run->nprocs));
    for (int m = 0; m < BEFF_METHODS; m++)
        if (beff_method_serves(m, set->pattern.kind)) {
            char key[BEFF_NAME_MAX];
            snprintf(key, sizeof key, "%s_loops", BEFF_METHOD_TABLE[m].name);
            blockfile_param(writer, key, "%" PRId64, set->loops[m]);
        }
    for (int m = 0; m < BEFF_METHODS; m++) {
        if (!beff_method_serves(m, set->pattern.kind))
            continue;
        int64_t times_ns[BEFF_REPETITIONS];
        for (int r = 0; r < run->repetitions; r++)
            times_ns[r] = set->seconds[m][r] > 1e-9 ? (int64_t)(set->seconds[m][r] * 1e9 + 0.5) : 1;
        blockfile_series(writer, 0, BEFF_METHOD_TABLE[m].name, "ns", run->repetitions);
        blockfile_values(writer, times_ns, (size_t)run->repetitions);
    }
    if (verdict->status != PL_OK)
        blockfile_error(writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
    return blockfile_end_set(writer, error);
}

static void put_head_facts(struct run *run)
{
    const struct beff_plan *plan = &run->plan;
    struct blockfile_writer *writer = run->writer;
    char number[64];
    if (run->wish->rmax_gflops > 0) {
        snprintf(number, sizeof number, "%.17g", run->wish->rmax_gflops);
        blockfile_input(writer, "rmax_gflops", number);
    }
    blockfile_input(writer, "quick", run->wish->quick ? "true" : "false");
    blockfile_fact(writer, "seed", "%" PRIu64, plan->seed);
    blockfile_fact(writer, "memory_per_process_bytes", "%" PRId64, plan->memory_bytes);
    blockfile_fact(writer, "memory_per_process_from", "%s", plan->memory_given ? "option" : "detected");
    blockfile_fact(writer, "length_max_bytes", "%" PRId64, plan->lengths[BEFF_LENGTHS - 1]);
    blockfile_fact(writer, "random_patterns", "%d", plan->random_patterns);
    blockfile_fact(writer, "repetitions", "%d", BEFF_REPETITIONS);
    blockfile_fact(writer, "loops_first", "%" PRId64, plan->loop_first);
    blockfile_fact(writer, "loop_target_ns", "%.0f", plan->loop_target_s * 1e9);
    blockfile_fact(writer, "time_limit_s", "%.15g", plan->time_s);
}

static pl_status write_head_coll(struct run *run, struct pl_error *error)
{
    if (run->rank == 0) {
        blockfile_begin(run->writer, "Beff", "b_eff");
        put_head_facts(run);
    }
    environment_facts_coll(run->comm, ".", run->writer);
    struct coll_verdict verdict;
    const pl_status status = run->rank == 0 ? blockfile_end_head(run->writer, error) : PL_OK;
    return coll_agree_coll(run->comm, status, error, &verdict);
}

/* ---- one pattern ---- */

/* The times of the slowest, and whether anybody is in trouble: with many ranks on few cores each further meeting of all
 * would cost as much as a measurement. */
static enum trouble reduce_coll(struct run *run, struct measured *set, pl_status status)
{
    enum { COUNT = BEFF_METHODS * BEFF_REPETITIONS + 1 };
    double mine[COUNT], most[COUNT];
    memcpy(mine, set->seconds, sizeof set->seconds);
    mine[COUNT - 1] = run->written != PL_OK ? TROUBLE_RESULTS : status != PL_OK ? TROUBLE_MESSAGES : TROUBLE_NONE;
    MPI_Allreduce(mine, most, COUNT, MPI_DOUBLE, MPI_MAX, run->comm);
    memcpy(set->seconds, most, sizeof set->seconds);
    return (enum trouble)most[COUNT - 1];
}

static pl_status run_set_coll(struct run *run, struct measured *set, struct pl_error *error)
{
    struct beff_exchange *x = &run->exchange;
    struct pl_error failure = {.status = PL_OK};
    struct coll_verdict verdict = {.status = PL_OK, .rank = -1};
    pl_status status = PL_OK;
    x->length = (int)set->length;
    beff_exchange_place(x);
    for (int m = 0; m < BEFF_METHODS; m++)
        if (beff_method_serves(m, set->pattern.kind))
            measure_method_coll(run, set, m, &status, &failure);
    const enum trouble trouble = reduce_coll(run, set, status);
    if (trouble == TROUBLE_RESULTS) {
        *error = run->write_error;
        return coll_agree_coll(run->comm, run->written, error, &verdict);
    }
    if (trouble == TROUBLE_MESSAGES)
        coll_agree_coll(run->comm, status, &failure, &verdict);
    run->failed += verdict.status != PL_OK;
    if (run->rank != 0)
        return PL_OK;
    if (verdict.status != PL_OK)
        run->observer->failed(run->observer->context, set->pattern, set->length, verdict.text);
    run->written = write_set(run, set, &verdict, &run->write_error);
    return PL_OK;
}

static pl_status run_pattern_coll(struct run *run, struct beff_pattern pattern, struct pl_error *error)
{
    struct measured set = {.pattern = pattern};
    run->exchange.links = beff_pattern_links(pattern, run->nprocs, run->rank, run->plan.seed, run->order);
    for (int m = 0; m < BEFF_METHODS; m++)
        set.loops[m] = run->plan.loop_first;
    pl_status status = PL_OK;
    for (int i = 0; i < BEFF_LENGTHS && status == PL_OK; i++) {
        set.length = run->plan.lengths[i];
        status = run_set_coll(run, &set, error);
        for (int m = 0; m < BEFF_METHODS; m++)
            set.loops[m] = next_loops(run, &set, m);
    }
    return status;
}

/* Random patterns come last; rank 0's clock decides whether there is time for another one, and for how many
 * repetitions. */
static bool has_time_coll(struct run *run, const struct beff_event *event)
{
    const double now = MPI_Wtime();
    const int random = event->pattern.kind == BEFF_RANDOM ? event->pattern.number : 0;
    const int must = beff_pattern_count(run->nprocs, 1) - event->number;
    run->repetitions = beff_repetitions(now - run->began, event->number, must > 1 ? must : 1, run->plan.time_s);
    if (random == 1)
        run->random_began = now;
    if (random > 1 && now + (now - run->random_began) / (random - 1) > run->began + run->plan.time_s)
        run->repetitions = 0;
    MPI_Bcast(&run->repetitions, 1, MPI_INT, 0, run->comm);
    return run->repetitions > 0;
}

static pl_status run_patterns_coll(struct run *run, struct pl_error *error)
{
    struct beff_event event = {.patterns = beff_pattern_count(run->nprocs, run->plan.random_patterns)};
    pl_status status = PL_OK;
    while (status == PL_OK && beff_pattern_next(run->nprocs, run->plan.random_patterns, event.number, &event.pattern) &&
           has_time_coll(run, &event)) {
        event.number++;
        event.elapsed_s = MPI_Wtime() - run->began;
        if (run->rank == 0)
            run->observer->begin(run->observer->context, &event);
        status = run_pattern_coll(run, event.pattern, error);
    }
    if (status != PL_OK)
        return status;
    struct coll_verdict verdict; /* also of the last set */
    status = run->rank == 0 ? blockfile_end(run->writer, error) : PL_OK;
    return coll_agree_coll(run->comm, status, error, &verdict);
}

/* ---- before and after ---- */

static pl_status plan_coll(struct run *run, struct pl_error *error)
{
    const int node_ranks = environment_node_ranks_coll(run->comm);
    int64_t mine = environment_memory_bytes() / node_ranks, least = 0;
    MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, run->comm);
    pl_status status = beff_plan_make(run->wish, run->nprocs, least, &run->plan, error);
    if (status != PL_OK)
        return status; /* the same on every rank */
    if (!run->wish->has_seed)
        run->plan.seed = rng_seed_from_system() >> 11; /* exact as a number of JSON */
    MPI_Bcast(&run->plan.seed, 1, MPI_UINT64_T, 0, run->comm);
    const int64_t needed = beff_plan_buffer_bytes(&run->plan) * node_ranks;
    const int64_t available = environment_memory_available_bytes();
    if (available > 0 && needed > available)
        status = pl_fail(error, PL_E_USAGE,
                         "the %d ranks of this node need %lld bytes for messages of up to %lld bytes, and %lld are "
                         "available; give a smaller --memory",
                         node_ranks, (long long)needed, (long long)run->plan.lengths[BEFF_LENGTHS - 1],
                         (long long)available);
    struct coll_verdict verdict;
    coll_agree_coll(run->comm, status, error, &verdict);
    return verdict.status == PL_OK ? PL_OK : pl_fail(error, verdict.status, "rank %d: %s", verdict.rank, verdict.text);
}

static pl_status prepare(struct run *run, struct pl_error *error)
{
    struct environment_clock clock;
    environment_clock(&clock);
    if (environment_clock_check(&clock, error) != PL_OK)
        return error->status;
    const size_t bytes = (size_t)beff_plan_buffer_bytes(&run->plan) / 2;
    struct beff_exchange *x = &run->exchange;
    *x = (struct beff_exchange){.comm = run->comm, .rank = run->rank, .nprocs = run->nprocs};
    x->send = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    x->receive = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    x->counts = calloc(4 * (size_t)run->nprocs, sizeof *x->counts);
    run->order = calloc((size_t)run->nprocs, sizeof *run->order);
    if (!x->send || !x->receive || !x->counts || !run->order)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for messages: %zu bytes", 2 * bytes);
    memset(x->send, 1, bytes); /* pages that were never written would all be one page of zeros */
    memset(x->receive, 2, bytes);
    return run->rank == 0 ? blockfile_writer_open(run->wish->output, &run->writer, error) : PL_OK;
}

static void clear(struct run *run)
{
    free(run->exchange.send);
    free(run->exchange.receive);
    free(run->exchange.counts);
    free(run->order);
}

pl_status beff_run_coll(MPI_Comm comm, const struct beff_wish *wish, const struct beff_observer *observer,
                        int64_t *ret_failed, struct pl_error *error)
{
    struct run run = {.comm = comm, .wish = wish, .observer = observer, .began = MPI_Wtime()};
    MPI_Comm_rank(comm, &run.rank);
    MPI_Comm_size(comm, &run.nprocs);
    *ret_failed = 0;
    signal(SIGXFSZ, SIG_IGN); /* results beyond the limit of a file are a message, not a death */
    pl_status status = plan_coll(&run, error);
    if (status != PL_OK)
        return status;
    struct coll_verdict verdict;
    status = coll_agree_coll(comm, prepare(&run, error), error, &verdict);
    if (status == PL_OK)
        status = write_head_coll(&run, error);
    if (status == PL_OK)
        status = run_patterns_coll(&run, error);
    struct pl_error close_error;
    const pl_status closed = blockfile_writer_close(run.writer, &close_error);
    if (status == PL_OK && closed != PL_OK)
        *error = close_error;
    clear(&run);
    *ret_failed = run.failed;
    return coll_agree_coll(comm, status != PL_OK ? status : closed, error, &verdict);
}
