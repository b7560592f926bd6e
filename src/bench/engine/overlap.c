/* The benchmark `overlap`: computation beside I/O. For each way to access a file without waiting, and each peer in
 * turn, three times: io    the blocking call alone          compute   the computation alone, calibrated to take as long
 *   both  start, compute, wait; once without any call of MPI during the computation, once with some of MPI_Test */
#include "bench/engine/engine.h"

#include "base/memory.h"
#include "base/notes.h"
#include "base/units.h"
#include "lab/facts/place.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char CLASS[] = "Overlap", TEST[] = "overlap";
enum { PIECE_BYTES = 8192 }; /* of the interleaved layout */

struct overlap_options {
    int64_t size, repeat, tests;
    double compute_s; /* 0: as long as the I/O */
    bool sync, cold, interleaved;
    struct option_texts without;
};

#define AT(member) OPTION_AT(struct overlap_options, member)
static const struct option_row OVERLAP_ROWS[] = {
    {.name = "size",
     .letter = 's',
     .type = OPTION_SIZE,
     .initial = "64m",
     .min = 8192,
     .max = 1 << 30,
     AT(size),
     .help = "bytes that a rank moves in a call, a multiple of 8k"},
    ENGINE_REPEAT_ROW("repetitions reps", AT(repeat), .initial = "5", .help = "repetitions"),
    {.name = "tests",
     .type = OPTION_INT,
     .initial = "20",
     .max = 100000,
     AT(tests),
     .help = "calls of MPI_Test during the computation; 0: only without"},
    {.name = "compute",
     .type = OPTION_TIME,
     .max = 3600,
     AT(compute_s),
     .help = "time of the computation (as long as the I/O)"},
    {.name = "sync", .type = OPTION_FLAG, AT(sync), .help = "writing ends with MPI_File_sync"},
    {.name = "cold", .type = OPTION_FLAG, AT(cold), .help = "take the file out of the page cache before reading"},
    {.name = "interleaved",
     .type = OPTION_FLAG,
     AT(interleaved),
     .help = "pieces of 8 KiB dealt to the ranks, not a part for each"},
    {.name = "without", .type = OPTION_TEXTS, AT(without), .help = "calls to leave out, as iwrite_at"},
    {0}};
#undef AT

struct overlap_method;

/* What is measured while it is measured. */
struct overlap {
    struct lab_run *lab;
    const struct overlap_options *options;
    struct engine_peer *peer; /* whose turn it is */
    uint64_t *buffer;
    int bytes;
    uint64_t seed;           /* of the data, another for each access */
    double iterations_per_s; /* of the computation */
    volatile double result;  /* of the computation, so that it is done */
    const struct overlap_method *now;
};

struct overlap_method {
    const char *name;
    bool is_write, has_request;
    int (*block)(struct overlap *run);
    int (*start)(struct overlap *run, MPI_Request *request);
    int (*end)(struct overlap *run); /* of those without a request */
};

/* ---- the ways to access a file; the view makes 0 the place of each rank ---- */

static int overlap_block_write_at(struct overlap *run)
{
    return MPI_File_write_at(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int overlap_block_write_at_all(struct overlap *run)
{
    return MPI_File_write_at_all(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int overlap_block_read_at(struct overlap *run)
{
    return MPI_File_read_at(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int overlap_block_read_at_all(struct overlap *run)
{
    return MPI_File_read_at_all(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int overlap_start_iwrite_at(struct overlap *run, MPI_Request *request)
{
    return MPI_File_iwrite_at(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE, request);
}

static int overlap_start_iwrite_at_all(struct overlap *run, MPI_Request *request)
{
    return MPI_File_iwrite_at_all(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE, request);
}

static int overlap_start_iread_at(struct overlap *run, MPI_Request *request)
{
    return MPI_File_iread_at(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE, request);
}

static int overlap_start_iread_at_all(struct overlap *run, MPI_Request *request)
{
    return MPI_File_iread_at_all(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE, request);
}

static int overlap_start_write_split(struct overlap *run, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL; /* split collectives have none */
    return MPI_File_write_at_all_begin(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE);
}

static int overlap_end_write_split(struct overlap *run)
{
    return MPI_File_write_at_all_end(run->peer->file, run->buffer, MPI_STATUS_IGNORE);
}

static int overlap_start_read_split(struct overlap *run, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_File_read_at_all_begin(run->peer->file, 0, run->buffer, run->bytes, MPI_BYTE);
}

static int overlap_end_read_split(struct overlap *run)
{
    return MPI_File_read_at_all_end(run->peer->file, run->buffer, MPI_STATUS_IGNORE);
}

static const struct overlap_method METHODS[] = {
    {"iwrite_at", true, true, overlap_block_write_at, overlap_start_iwrite_at, NULL},
    {"iwrite_at_all", true, true, overlap_block_write_at_all, overlap_start_iwrite_at_all, NULL},
    {"write_at_all_begin", true, false, overlap_block_write_at_all, overlap_start_write_split, overlap_end_write_split},
    {"iread_at", false, true, overlap_block_read_at, overlap_start_iread_at, NULL},
    {"iread_at_all", false, true, overlap_block_read_at_all, overlap_start_iread_at_all, NULL},
    {"read_at_all_begin", false, false, overlap_block_read_at_all, overlap_start_read_split, overlap_end_read_split},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

/* ---- the data ---- */

static void overlap_fill(struct overlap *run)
{
    const size_t words = (size_t)run->bytes / sizeof *run->buffer;
    run->seed += (uint64_t)1 << 40;
    for (size_t i = 0; i < words; i++)
        run->buffer[i] = run->seed + i;
}

static bool overlap_is_filled(const struct overlap *run, const uint64_t *data, size_t first, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (data[i] != run->seed + first + i)
            return false;
    return true;
}

/* This rank's data as they lie in the file, read past MPI. */
static pl_status overlap_check(const struct overlap *run, struct pl_error *error)
{
    const int pieces = run->bytes / PIECE_BYTES, ranks = run->lab->size, rank = run->lab->rank;
    uint64_t piece[PIECE_BYTES / sizeof(uint64_t)];
    bool right = true;
    if (!run->now->is_write) {
        right = overlap_is_filled(run, run->buffer, 0, (size_t)run->bytes / sizeof *run->buffer);
        return right ? PL_OK : pl_fail(error, PL_E_DATA, "%s: what was read is not what was written", run->now->name);
    }
    const int fd = open(run->peer->path, O_RDONLY | O_CLOEXEC);
    pl_status status = fd >= 0 ? PL_OK : pl_fail_errno(error, errno, "opening '%s'", run->peer->path);
    for (int i = 0; i < pieces && status == PL_OK && right; i++) {
        const int64_t at = run->options->interleaved ? (int64_t)i * ranks + rank : (int64_t)rank * pieces + i;
        status = place_move(run->peer->path, "reading", fd, false, piece, sizeof piece, at * PIECE_BYTES, error);
        right = overlap_is_filled(run, piece, (size_t)i * PIECE_BYTES / sizeof *piece, PIECE_BYTES / sizeof *piece);
    }
    if (fd >= 0)
        close(fd);
    return status != PL_OK || right
               ? status
               : pl_fail(error, PL_E_DATA, "%s: what is in the file is not what was written", run->now->name);
}

/* What a measurement of I/O finds: data to write, or an empty buffer and, with --cold, no page in the cache. */
static pl_status overlap_ready(struct overlap *run, struct pl_error *error)
{
    if (run->now->is_write) {
        overlap_fill(run);
        return PL_OK;
    }
    memset(run->buffer, 0, (size_t)run->bytes);
    return run->options->cold && run->lab->rank == 0 ? place_drop(run->peer->path, error) : PL_OK;
}

/* ---- the computation ---- */

/* No memory but registers. Now and then, if asked for, it gives MPI a chance. */
static int overlap_compute(struct overlap *run, int64_t iterations, int64_t tests, MPI_Request *request)
{
    double x = 0.5;
    int done = 0, code = MPI_SUCCESS;
    for (int64_t part = 0; part <= tests; part++) {
        for (int64_t i = iterations * part / (tests + 1); i < iterations * (part + 1) / (tests + 1); i++)
            x = x * 0.999999 + 1e-9;
        if (part < tests && !done)
            code = engine_peer_test(run->peer, request, run->bytes, &done);
        done |= code != MPI_SUCCESS;
    }
    run->result = x;
    return code;
}

static double overlap_compute_coll(struct overlap *run, int64_t iterations)
{
    MPI_Barrier(run->lab->world);
    const double begin = MPI_Wtime();
    overlap_compute(run, iterations, 0, NULL);
    return engine_slowest_coll(run->lab->world, MPI_Wtime() - begin);
}

static void overlap_calibrate_coll(struct overlap *run)
{
    int64_t iterations = 1000000;
    double seconds = 0;
    while (seconds < 0.05) {
        iterations *= 2;
        seconds = overlap_compute_coll(run, iterations);
    }
    run->iterations_per_s = (double)iterations / seconds;
}

/* ---- the three measurements ---- */

/* `iterations` < 0: the blocking call alone. */
static double overlap_measure_coll(struct overlap *run, int64_t iterations, int64_t tests, pl_status *status,
                                   struct pl_error *error)
{
    MPI_Request request = MPI_REQUEST_NULL;
    struct pl_error failure;
    struct coll_verdict verdict;
    pl_status mine = overlap_ready(run, &failure);
    int code;
    MPI_Barrier(run->lab->world);
    const double begin = MPI_Wtime();
    if (iterations < 0) {
        code = run->now->block(run);
    } else {
        code = run->now->start(run, &request);
        const int tested = overlap_compute(run, iterations, tests, &request);
        const int ended = run->now->has_request ? engine_peer_wait(run->peer, &request, run->bytes)
                                                : run->now->end(run);
        code = code == MPI_SUCCESS ? tested : code;
        code = code == MPI_SUCCESS ? ended : code;
    }
    if (run->options->sync && run->now->is_write) {
        const int synced = MPI_File_sync(run->peer->file);
        code = code == MPI_SUCCESS ? synced : code;
    }
    const double seconds = engine_slowest_coll(run->lab->world, MPI_Wtime() - begin);
    if (mine == PL_OK && code != MPI_SUCCESS)
        mine = coll_fail_mpi(&failure, code, "%s", run->now->name);
    if (mine == PL_OK)
        mine = overlap_check(run, &failure);
    if (coll_agree_coll(run->lab->world, mine, &failure, &verdict) != PL_OK && *status == PL_OK) {
        *status = failure.status;
        *error = failure;
    }
    return seconds;
}

static void overlap_params(const struct overlap *run, int64_t tests, int64_t repetition, struct text *params)
{
    notes_add(params, "peer", run->peer->name);
    notes_add(params, "call", run->now->name);
    engine_note_number(params, "tests", tests);
    engine_note_number(params, "bytes", run->bytes);
    engine_note_number(params, "ranks", run->lab->size);
    engine_note_number(params, "repetition", repetition);
}

static pl_status overlap_turn_coll(struct overlap *run, int64_t tests, int64_t repetition, struct pl_error *error)
{
    struct lab_set set = {.asked = &run->peer->hints};
    struct pl_error failure;
    pl_status mine = PL_OK;
    overlap_params(run, tests, repetition, &set.params);
    if (lab_is_measured_coll(run->lab, TEST, &set.params)) {
        lab_skip(run->lab, 1);
        lab_set_clear(&set);
        return PL_OK;
    }
    snprintf(set.label, sizeof set.label, "%s, %s", run->now->name, run->peer->name);
    lab_step(run->lab, 1, "%s, repetition %lld", set.label, (long long)repetition);
    const double io = overlap_measure_coll(run, -1, 0, &mine, &failure);
    const double wanted = run->options->compute_s > 0 ? run->options->compute_s : io;
    const int64_t iterations = (int64_t)(wanted * run->iterations_per_s);
    const double computing = overlap_compute_coll(run, iterations);
    const double both = overlap_measure_coll(run, iterations, tests, &mine, &failure);
    if (coll_agree_coll(run->lab->world, mine, &failure, &set.verdict) == PL_OK && run->lab->rank == 0) {
        samples_time(&set.samples, "io_time", io);
        samples_time(&set.samples, "compute_time", computing);
        samples_time(&set.samples, "both_time", both);
    }
    const pl_status status = lab_set_write_coll(run->lab, run->lab->world, &set, error);
    lab_set_clear(&set);
    return status;
}

/* ---- everything, in turn ---- */

static pl_status overlap_open_coll(struct overlap *run, struct engine_peers *peers, struct pl_error *error)
{
    const int ranks = run->lab->size;
    const MPI_Offset place = (MPI_Offset)run->lab->rank * (run->options->interleaved ? PIECE_BYTES : run->bytes);
    pl_status status = PL_OK;
    run->now = &METHODS[1];
    for (int i = 0; i < peers->count && status == PL_OK; i++) {
        MPI_Datatype filetype = MPI_BYTE, piece;
        struct coll_verdict verdict;
        run->peer = &peers->list[i];
        status = engine_peer_open_coll(run->lab->world, run->peer, error);
        if (status != PL_OK)
            return status;
        if (run->options->interleaved) {
            MPI_Type_contiguous(PIECE_BYTES, MPI_BYTE, &piece);
            MPI_Type_create_resized(piece, 0, (MPI_Aint)ranks * PIECE_BYTES, &filetype);
            MPI_Type_commit(&filetype);
            MPI_Type_free(&piece);
        }
        const int code = MPI_File_set_view(run->peer->file, place, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
        if (run->options->interleaved)
            MPI_Type_free(&filetype);
        status = code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting a view");
        status = coll_agree_coll(run->lab->world, status, error, &verdict);
        if (status == PL_OK) /* files exist and are in the page cache before anything is measured */
            overlap_measure_coll(run, -1, 0, &status, error);
    }
    return status;
}

/* All files hold the same data before reads, so that what is read can be checked. */
static pl_status overlap_write_files_coll(struct overlap *run, struct engine_peers *peers, struct pl_error *error)
{
    struct coll_verdict verdict;
    int code = MPI_SUCCESS;
    overlap_fill(run);
    for (int i = 0; i < peers->count; i++) {
        run->peer = &peers->list[i];
        const int written = METHODS[1].block(run), synced = MPI_File_sync(run->peer->file);
        code = code != MPI_SUCCESS ? code : written != MPI_SUCCESS ? written : synced;
    }
    const pl_status mine = code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "writing what is to be read");
    return coll_agree_coll(run->lab->world, mine, error, &verdict);
}

static bool overlap_is_left_out(const struct overlap_options *options, const struct overlap_method *method)
{
    for (size_t i = 0; i < options->without.count; i++)
        if (strcmp(options->without.values[i], method->name) == 0)
            return true;
    return false;
}

static pl_status overlap_all_coll(struct overlap *run, struct engine_peers *peers, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int64_t repetition = 1; repetition <= run->options->repeat && status == PL_OK; repetition++)
        for (int m = 0; m < METHOD_COUNT && status == PL_OK; m++) {
            const struct overlap_method *method = &METHODS[m];
            if (overlap_is_left_out(run->options, method))
                continue;
            if (!method->is_write)
                status = overlap_write_files_coll(run, peers, error);
            run->now = method;
            for (int variant = 0; variant <= (method->has_request && run->options->tests > 0); variant++)
                for (int i = 0; i < peers->count && status == PL_OK; i++) {
                    run->peer = &peers->list[(i + repetition) % peers->count];
                    status = overlap_turn_coll(run, variant ? run->options->tests : 0, repetition, error);
                }
        }
    return status;
}

static int64_t overlap_steps(const struct overlap_options *options)
{
    int64_t steps = 0;
    for (int m = 0; m < METHOD_COUNT; m++)
        if (!overlap_is_left_out(options, &METHODS[m]))
            steps += 2 * (1 + (METHODS[m].has_request && options->tests > 0));
    return steps * options->repeat;
}

static pl_status overlap_run_coll(struct lab_run *lab, struct pl_error *error)
{
    const struct overlap_options *options = lab->job->own;
    struct engine_peers *peers = memory_new(1, sizeof *peers);
    struct overlap run = {.lab = lab,
                          .options = options,
                          .bytes = (int)options->size,
                          .seed = (uint64_t)lab->rank << 56,
                          .buffer = memory_new((size_t)options->size, 1)};
    struct coll_verdict verdict;
    pl_status status = engine_peers_make(lab, "overlap", NULL, true, false, peers, error);
    status = coll_agree_coll(lab->world, status, error, &verdict);
    overlap_calibrate_coll(&run);
    if (status == PL_OK)
        status = overlap_open_coll(&run, peers, error);
    if (status == PL_OK) {
        lab_plan(lab, overlap_steps(options), (double)overlap_steps(options));
        lab_block_begin(lab, CLASS, TEST);
        status = lab_block_head_coll(lab, peers->list[0].path, error);
        if (status == PL_OK)
            status = overlap_all_coll(&run, peers, error);
        status = lab_block_end_coll(lab, status, error);
    }
    engine_peers_clear_coll(lab, peers);
    free(run.buffer);
    free(peers);
    return status;
}

static pl_status overlap_prepare(struct lab_job *job, struct pl_error *error)
{
    const struct overlap_options *options = job->own;
    if (options->size % PIECE_BYTES != 0)
        return pl_fail(error, PL_E_USAGE, "--size: %lld; allowed: multiples of 8k up to 1g", (long long)options->size);
    for (size_t i = 0; i < options->without.count; i++) {
        bool known = false;
        for (int m = 0; m < METHOD_COUNT; m++)
            known |= strcmp(METHODS[m].name, options->without.values[i]) == 0;
        if (!known)
            return pl_fail(error, PL_E_USAGE, "--without: '%s' is not a call that is measured",
                           options->without.values[i]);
    }
    return PL_OK;
}

static pl_status overlap_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct overlap_options *options = job->own;
    char size[UNITS_TEXT_MAX];
    (void)error;
    result_line(plan, "%lld measurements of I/O, computation and both, with %s of each rank.",
                (long long)overlap_steps(options), units_binary(options->size, size));
    return PL_OK;
}

/* ---- results ---- */

static const struct quantity_kind OVERLAP_PART = {
    "overlap", "part", "(io + compute - both) / min(io, compute); 1: the shorter is hidden, 0: one after the other",
    false};
static const struct quantity_kind OVERLAP_LONGER = {"both / longer", "x", "both / max(io, compute); 1 is the best",
                                                    true};

static const struct result_column COLUMNS[] = {
    {.key = "call", .form = RESULT_TEXT},
    {.key = "peer", .form = RESULT_TEXT},
    {.key = "overlap", .form = RESULT_NUMBER, .decimals = 2, .error = true},
    {.key = "both_longer", .label = "both/longer", .form = RESULT_NUMBER, .decimals = 2, .error = true},
    {0}};

static double overlap_time(const struct blockfile_set *set, const char *key)
{
    for (size_t i = 0; i < set->time_count; i++)
        if (strcmp(set->times[i].key, key) == 0)
            return (double)set->times[i].nanoseconds;
    return NAN;
}

static pl_status overlap_results(const struct analysis_request *request, const struct analysis_input *input,
                                 struct result *result, struct pl_error *error)
{
    struct analysis_chosen chosen = {0};
    struct analysis_request selection = *request;
    struct engine_values parts = {0}, longer = {0};
    selection.op = NULL;
    while (analysis_next(&selection, input, &chosen)) {
        const char *call = blockfile_param_of(chosen.set, "call"), *tests = blockfile_param_of(chosen.set, "tests");
        const double io = overlap_time(chosen.set, "io_time"), compute = overlap_time(chosen.set, "compute_time"),
                     both = overlap_time(chosen.set, "both_time");
        char what[160];
        if (strcmp(chosen.block->class_name, CLASS) != 0 || !isfinite(io + compute + both) || !call || !tests)
            continue;
        snprintf(what, sizeof what, "%s%s", call, strcmp(tests, "0") == 0 ? "" : ", with MPI_Test");
        engine_values_add(&parts, chosen.block, what, blockfile_param_of(chosen.set, "peer"),
                          (io + compute - both) / fmin(io, compute), NULL);
        engine_values_add(&longer, chosen.block, what, blockfile_param_of(chosen.set, "peer"), both / fmax(io, compute),
                          NULL);
    }
    if (parts.count == 0)
        return pl_fail(error, PL_E_INPUT, "no results of overlap are selected");
    assert(parts.count == longer.count);
    result_line(result,
                "overlap = (io + compute - both) / min(io, compute): 1 hides the shorter, 0 is one after the other; "
                "below 0, doing both disturbed both.");
    result_begin_table(result, "overlap", NULL, COLUMNS);
    for (size_t i = 0; i < parts.count; i++) {
        const struct engine_value *part = &parts.list[i];
        char settings[256];
        result_row(result);
        result_put_text(result, part->what);
        result_put_text(result, part->peer);
        result_put_estimate(result, engine_value_mean(part));
        result_put_estimate(result, engine_value_mean(&longer.list[i]));
        snprintf(settings, sizeof settings, "%s, %s", part->what, part->peer);
        result_quantity(result, part->block, &OVERLAP_PART, NULL, settings, engine_value_mean(part));
        result_quantity(result, part->block, &OVERLAP_LONGER, NULL, settings, engine_value_mean(&longer.list[i]));
    }
    engine_values_clear(&parts);
    engine_values_clear(&longer);
    return PL_OK;
}

static bool overlap_needs_engine(const struct lab_job *job)
{
    (void)job;
    return true;
}

const struct bench bench_overlap = {
    .name = "overlap",
    .rows = OVERLAP_ROWS,
    .options_size = sizeof(struct overlap_options),
    .takes = BENCH_ON | BENCH_HINTS,
    .classes = (const char *const[]){CLASS, NULL},
    .summary = "does computation hide I/O, beside the MPI's own MPI-IO",
    .details =
        "For every way to access a file without waiting: the blocking call alone, a computation that takes as long, "
        "and both at once. Into the page cache I/O is copying by a core: use half of the cores, or a slow place.",
    .example = "overlap -n 2 --size 16m --sync",
    .output = "overlap.out",
    .prepare = overlap_prepare,
    .plan = overlap_plan,
    .run_coll = overlap_run_coll,
    .results = overlap_results,
    .needs_engine = overlap_needs_engine,
};
