/* The benchmark `calls`: what one call of 1 KiB costs, and opening and closing a file. The engine and the MPI's own I/O
 * take turns in one process, block by block: a block is the time of many equal calls, the same number for both. */
#include "bench/engine/engine.h"

#include "base/memory.h"
#include "base/notes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char CLASS[] = "Calls", TEST[] = "calls";
enum { BYTES = 1024, PLACES = 1024 }; /* of a call; before it begins anew: a file of 1 MiB for each rank */

struct calls_options {
    int64_t blocks;
    double block_ms;
};

#define AT(member) OPTION_AT(struct calls_options, member)
static const struct option_row CALLS_ROWS[] = {{.name = "blocks",
                                                .letter = 'b',
                                                .type = OPTION_INT,
                                                .initial = "7",
                                                .min = 1,
                                                .max = 1000,
                                                AT(blocks),
                                                .help = "blocks of calls of each peer"},
                                               {.name = "block-ms",
                                                .type = OPTION_NUMBER,
                                                .initial = "20",
                                                .min = 0.1,
                                                .max = 60000,
                                                AT(block_ms),
                                                .help = "milliseconds of a block"},
                                               {0}};
#undef AT

/* A peer while it is its turn. */
struct calls_turn {
    struct lab_run *run;
    struct engine_peer *peer;
    char buffer[BYTES];
};

static MPI_Offset calls_place(int64_t i)
{
    return (MPI_Offset)(i % PLACES) * BYTES;
}

/* Calls that use a file pointer go back to the beginning before it leaves the file. */
static int calls_rewind(struct calls_turn *turn, int64_t i)
{
    return i % PLACES == 0 ? MPI_File_seek(turn->peer->file, 0, MPI_SEEK_SET) : MPI_SUCCESS;
}

static int calls_write_at(struct calls_turn *turn, int64_t i)
{
    return MPI_File_write_at(turn->peer->file, calls_place(i), turn->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int calls_read_at(struct calls_turn *turn, int64_t i)
{
    return MPI_File_read_at(turn->peer->file, calls_place(i), turn->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int calls_iwrite_at(struct calls_turn *turn, int64_t i)
{
    MPI_Request request;
    const int code = MPI_File_iwrite_at(turn->peer->file, calls_place(i), turn->buffer, BYTES, MPI_BYTE, &request);
    return code ? code : engine_peer_wait(turn->peer, &request, BYTES);
}

static int calls_iwrite_at_all(struct calls_turn *turn, int64_t i)
{
    MPI_Request request;
    const int code = MPI_File_iwrite_at_all(turn->peer->file, calls_place(i), turn->buffer, BYTES, MPI_BYTE, &request);
    return code ? code : engine_peer_wait(turn->peer, &request, BYTES);
}

static int calls_write_all(struct calls_turn *turn, int64_t i)
{
    const int code = calls_rewind(turn, i);
    const int called = MPI_File_write_all(turn->peer->file, turn->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    return code ? code : called;
}

static int calls_read_all(struct calls_turn *turn, int64_t i)
{
    const int code = calls_rewind(turn, i);
    const int called = MPI_File_read_all(turn->peer->file, turn->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    return code ? code : called;
}

static int calls_open_close(struct calls_turn *turn, int64_t i)
{
    struct engine_peer again = *turn->peer; /* its hints are borrowed, its handle is another */
    struct pl_error error;
    (void)i;
    again.file = MPI_FILE_NULL;
    if (engine_peer_open_coll(turn->run->world, &again, &error) != PL_OK)
        return MPI_ERR_FILE;
    return MPI_File_close(&again.file);
}

static const struct calls_call {
    const char *name;
    int (*make)(struct calls_turn *turn, int64_t i);
} CALLS[] = {
    {"write_at", calls_write_at},     {"read_at", calls_read_at},   {"iwrite_at+wait", calls_iwrite_at},
    {"write_all", calls_write_all},   {"read_all", calls_read_all}, {"iwrite_at_all+wait", calls_iwrite_at_all},
    {"open+close", calls_open_close},
};
enum { CALL_COUNT = sizeof CALLS / sizeof CALLS[0] };

/* Seconds of `count` calls on the slowest rank; every rank makes them all. */
static double calls_block_coll(struct calls_turn *turn, const struct calls_call *call, int64_t count, int *code)
{
    int first = MPI_File_seek(turn->peer->file, 0, MPI_SEEK_SET);
    MPI_Barrier(turn->run->world);
    const double begin = MPI_Wtime();
    for (int64_t i = 0; i < count; i++) {
        const int called = call->make(turn, i);
        first = first == MPI_SUCCESS ? called : first;
    }
    *code = *code == MPI_SUCCESS ? first : *code;
    return engine_slowest_coll(turn->run->world, MPI_Wtime() - begin);
}

/* How many calls fill a block: by the time that one takes. */
static int64_t calls_calibrate_coll(struct calls_turn *turn, const struct calls_call *call, double block_s, int *code)
{
    int64_t count = 4;
    double seconds = 0;
    while (seconds < block_s / 4 && count < INT32_MAX) {
        count *= 2;
        seconds = calls_block_coll(turn, call, count, code);
    }
    return 1 + (int64_t)((double)count * block_s / seconds);
}

static pl_status calls_write_set_coll(struct lab_run *run, const struct calls_turn *turn, const char *call,
                                      int64_t block, int64_t count, double seconds, int code, struct pl_error *error)
{
    struct lab_set set = {.asked = &turn->peer->hints};
    struct pl_error failure;
    snprintf(set.label, sizeof set.label, "%s, %s", call, turn->peer->name);
    notes_add(&set.params, "peer", turn->peer->name);
    notes_add(&set.params, "call", call);
    engine_note_number(&set.params, "ranks", run->size);
    engine_note_number(&set.params, "repetition", block);
    engine_note_number(&set.params, "calls", count);
    const pl_status mine = code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(&failure, code, "%s", call);
    if (coll_agree_coll(run->world, mine, &failure, &set.verdict) == PL_OK && run->rank == 0)
        samples_time(&set.samples, "total_time", seconds);
    const pl_status status = lab_set_write_coll(run, run->world, &set, error);
    lab_set_clear(&set);
    return status;
}

/* Blocks of a call are measured together, or not at all. */
static bool calls_is_done_coll(struct lab_run *run, const struct calls_call *call)
{
    const struct calls_options *options = run->job->own;
    struct text params = {0};
    notes_add(&params, "call", call->name);
    const bool done = lab_count_measured_coll(run, TEST, &params) >= 2 * options->blocks;
    text_clear(&params);
    return done;
}

/* All blocks of one call. */
static pl_status calls_measure_coll(struct lab_run *run, struct engine_peers *peers, const struct calls_call *call,
                                    struct pl_error *error)
{
    const struct calls_options *options = run->job->own;
    struct calls_turn turns[2] = {{.run = run, .peer = &peers->list[0]}, {.run = run, .peer = &peers->list[1]}};
    int64_t count = INT64_MAX;
    int code = MPI_SUCCESS;
    pl_status status = PL_OK;
    assert(peers->count == 2);
    if (calls_is_done_coll(run, call)) {
        lab_skip(run, 1);
        return PL_OK;
    }
    lab_step(run, 1, "%s", call->name);
    for (int i = 0; i < 2; i++) { /* the first calls warm up, too */
        const int64_t own = calls_calibrate_coll(&turns[i], call, options->block_ms / 1000, &code);
        count = own < count ? own : count;
    }
    MPI_Bcast(&count, 1, MPI_INT64_T, 0, run->world);
    for (int64_t block = 1; block <= options->blocks && status == PL_OK; block++)
        for (int i = 0; i < 2 && status == PL_OK; i++) {
            struct calls_turn *turn = &turns[(i + block) % 2];
            const double seconds = calls_block_coll(turn, call, count, &code);
            status = calls_write_set_coll(run, turn, call->name, block, count, seconds, code, error);
        }
    return status;
}

static pl_status calls_open_coll(struct lab_run *run, struct engine_peers *peers, struct pl_error *error)
{
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    for (int i = 0; i < peers->count && status == PL_OK; i++) {
        status = engine_peer_open_coll(run->world, &peers->list[i], error);
        if (status != PL_OK)
            return status;
        const int code = MPI_File_set_view(peers->list[i].file, (MPI_Offset)run->rank * PLACES * BYTES, MPI_BYTE,
                                           MPI_BYTE, "native", MPI_INFO_NULL);
        status = code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting a view");
        status = coll_agree_coll(run->world, status, error, &verdict);
    }
    return status;
}

static pl_status calls_run_coll(struct lab_run *run, struct pl_error *error)
{
    struct engine_peers *peers = memory_new(1, sizeof *peers);
    struct coll_verdict verdict;
    bool missing = false;
    for (int i = 0; i < CALL_COUNT; i++)
        missing |= !calls_is_done_coll(run, &CALLS[i]);
    if (!missing) {
        free(peers);
        return PL_OK;
    }
    pl_status status = engine_peers_make(run, "calls", NULL, true, false, peers, error);
    status = coll_agree_coll(run->world, status, error, &verdict);
    if (status == PL_OK)
        status = calls_open_coll(run, peers, error);
    if (status == PL_OK) {
        lab_plan(run, CALL_COUNT, CALL_COUNT);
        lab_block_begin(run, CLASS, TEST);
        status = lab_block_head_coll(run, peers->list[0].path, error);
        for (int i = 0; i < CALL_COUNT && status == PL_OK; i++)
            status = calls_measure_coll(run, peers, &CALLS[i], error);
        status = lab_block_end_coll(run, status, error);
    }
    engine_peers_clear_coll(run, peers);
    free(peers);
    return status;
}

static pl_status calls_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct calls_options *options = job->own;
    (void)error;
    result_line(plan, "%d calls of %d bytes, %lld blocks of %g ms of each peer.", CALL_COUNT, BYTES,
                (long long)options->blocks, options->block_ms);
    return PL_OK;
}

/* ---- results ---- */

static const struct quantity_kind CALLS_TIME = {"time of a call", "us", "time of a block / its calls, slowest rank",
                                                true};

static const struct result_column COLUMNS[] = {
    {.key = "call", .form = RESULT_TEXT},
    {.key = "ranks", .form = RESULT_INT},
    {.key = "against", .form = RESULT_TEXT},
    {.key = "engine_us", .label = "engine us", .form = RESULT_NUMBER, .decimals = 2, .error = true},
    {.key = "peer_us", .label = "peer us", .form = RESULT_NUMBER, .decimals = 2, .error = true},
    {.key = "ratio", .label = "engine / peer", .form = RESULT_NUMBER, .decimals = 2, .error = true},
    {0}};

static pl_status calls_results(const struct analysis_request *request, const struct analysis_input *input,
                               struct result *result, struct pl_error *error)
{
    struct analysis_chosen chosen = {0};
    struct analysis_request selection = *request;
    struct engine_values values = {0};
    selection.op = NULL;
    while (analysis_next(&selection, input, &chosen)) {
        const struct blockfile_set *set = chosen.set;
        const char *call = blockfile_param_of(set, "call"), *count = blockfile_param_of(set, "calls");
        if (strcmp(chosen.block->class_name, CLASS) == 0 && !set->error_count && set->time_count && call && count)
            engine_values_add(&values, chosen.block, call, blockfile_param_of(set, "peer"),
                              (double)set->times[0].nanoseconds / 1e3 / atof(count), NULL);
    }
    if (values.count == 0)
        return pl_fail(error, PL_E_INPUT, "no results of calls are selected");
    result_begin_table(result, "calls", NULL, COLUMNS);
    for (size_t i = 0; i < values.count; i++) {
        const struct engine_value *peer = &values.list[i];
        const struct engine_value *ours = engine_values_find(&values, peer->block, peer->what, "piolet");
        const char *ranks = blockfile_fact_of(peer->block, "nprocs");
        char settings[256];
        snprintf(settings, sizeof settings, "%s, %s", peer->what, peer->peer);
        result_quantity(result, peer->block, &CALLS_TIME, NULL, settings, engine_value_mean(peer));
        if (!ours || peer == ours)
            continue;
        const struct analysis_estimate ratio = engine_value_ratio(ours, peer);
        result_row(result);
        result_put_text(result, peer->what);
        result_put_int(result, ranks ? atoi(ranks) : 0);
        result_put_text(result, peer->peer);
        result_put_estimate(result, engine_value_mean(ours));
        result_put_estimate(result, engine_value_mean(peer));
        result_put_estimate(result, ratio);
        snprintf(settings, sizeof settings, "%s, against %s", peer->what, peer->peer);
        result_quantity(result, peer->block, &ENGINE_TIME, NULL, settings, ratio);
    }
    engine_values_clear(&values);
    return PL_OK;
}

static bool calls_needs_engine(const struct lab_job *job)
{
    (void)job;
    return true;
}

const struct bench bench_calls = {
    .name = "calls",
    .rows = CALLS_ROWS,
    .options_size = sizeof(struct calls_options),
    .takes = BENCH_ON | BENCH_HINTS,
    .classes = (const char *const[]){CLASS, NULL},
    .summary = "what one small call of MPI-IO costs, beside the MPI's own",
    .details = "Calls of 1 KiB on a file of 1 MiB for each rank, and opening and closing, with the engine and with the "
               "MPI's own MPI-IO in turn.",
    .example = "calls -n 2",
    .output = "calls.out",
    .plan = calls_plan,
    .run_coll = calls_run_coll,
    .results = calls_results,
    .needs_engine = calls_needs_engine,
};
