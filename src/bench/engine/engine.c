/* The benchmark `engine`: collective and independent access in patterns, by the engine, by the MPI's own MPI-IO and by
 * one process that does nothing but pwrite or pread ("limit"), in turn. Every file and every byte read is checked. */
#include "bench/engine/engine.h"

#include "base/memory.h"
#include "base/notes.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char TEST[] = "patterns";
const char ENGINE_CLASS[] = "Engine", ENGINE_COUNTS[] = "counts";

/* ---- options ---- */

struct engine_options {
    struct option_texts patterns, strategies;
    uint64_t operations;
    int64_t size, edge, repeat, warmups;
    bool quick, against_fixed, counts;
};

enum { SIZE = 64 << 20, QUICK_SIZE = 8 << 20, REPEAT = 7, QUICK_REPEAT = 3, WORD = 8 };
/* Of --auto: maps of all peers must fit into one process, and the engine learns from what it has seen. */
enum { AUTO_SIZE = 16 << 20, AUTO_WARMUPS = 24 };

#define AT(member) OPTION_AT(struct engine_options, member)
static const struct option_row ENGINE_ROWS[] = {
    {.name = "patterns",
     .type = OPTION_TEXTS,
     AT(patterns),
     .help =
         "names or letters: a contiguous, b cube, c-128 c-1k c-8k c-64k cyclic, d cells, e random, f-1k f-1k+8 series, "
         "g-own g-order small calls, h transposed, i-1k i-256 holes (all)"},
    {.name = "ops",
     .type = OPTION_CHOICES,
     .choices = ENGINE_OPS,
     .initial = "fresh,over,read",
     AT(operations),
     .help = "a new file, one that is there, and reading"},
    {.name = "size",
     .letter = 's',
     .type = OPTION_SIZE,
     .min = 4096,
     AT(size),
     .help = "bytes of all ranks in a pattern (64m)"},
    {.name = "edge",
     .type = OPTION_INT,
     .min = 2,
     .max = 4096,
     AT(edge),
     .help = "of the cube of pattern b (what fits)"},
    {.name = "strategy",
     .type = OPTION_EACH,
     .argument = "NAME",
     AT(strategies),
     .help = "the engine with the hint piolet_strategy=NAME, too; may be repeated"},
    {.name = "auto",
     .type = OPTION_FLAG,
     AT(against_fixed),
     .help = "the engine's own choice against each strategy fixed (those of --strategy, or all), without other peers; "
             "16m and 24 warm-ups unless told otherwise"},
    {.name = "counts",
     .type = OPTION_FLAG,
     AT(counts),
     .help = "no times, but messages, system calls and their bytes in one access behind the warm-ups: exact"},
    ENGINE_REPEAT_ROW("reps", AT(repeat), .help = "repetitions (7)"),
    {.name = "warmups",
     .type = OPTION_INT,
     .initial = "1",
     .max = 1000,
     AT(warmups),
     .help = "accesses before them that do not count"},
    {.name = "quick", .letter = 'q', .type = OPTION_FLAG, AT(quick), .help = "8 MiB, 3 repetitions"},
    {0}};
#undef AT

/* A letter stands for all patterns that begin with it. */
static bool engine_is_named(const struct pattern *pattern, const char *word)
{
    const size_t letters = strcspn(pattern->name, "-");
    return strcmp(pattern->name, word) == 0 || (strlen(word) == letters && strncmp(pattern->name, word, letters) == 0);
}

static bool engine_is_chosen(const struct engine_options *options, const struct pattern *pattern)
{
    bool chosen = options->patterns.count == 0;
    for (size_t i = 0; i < options->patterns.count; i++)
        chosen |= engine_is_named(pattern, options->patterns.values[i]);
    return chosen;
}

static pl_status engine_prepare(struct lab_job *job, struct pl_error *error)
{
    struct engine_options *options = job->own;
    for (size_t i = 0; i < options->patterns.count; i++) {
        bool known = false;
        for (const struct pattern *pattern = PATTERNS; pattern->name; pattern++)
            known |= engine_is_named(pattern, options->patterns.values[i]);
        if (!known)
            return pl_fail(error, PL_E_USAGE, "--patterns: '%s'; allowed: letters a to i, or names as c-1k",
                           options->patterns.values[i]);
    }
    if (options->against_fixed && options->counts)
        return pl_fail(error, PL_E_USAGE, "--auto and --counts exclude each other");
    if (options->size == 0)
        options->size = options->quick ? QUICK_SIZE : options->against_fixed ? AUTO_SIZE : SIZE;
    if (options->against_fixed && options_source(&job->all, "warmups") == OPTION_FROM_DEFAULT)
        options->warmups = AUTO_WARMUPS;
    if (options->counts)
        options->repeat = 1;
    else if (options->repeat == 0)
        options->repeat = options->quick ? QUICK_REPEAT : REPEAT;
    if (options->edge == 0)
        options->edge = (int64_t)fmax(2, fmin(256, cbrt((double)options->size / WORD) + 1e-6));
    return PL_OK;
}

static const char *engine_op_name(enum op op)
{
    static const char *const names[OP_COUNT] = {"fresh", "over", "read"};
    return names[op];
}

static const char *engine_test(const struct engine_options *options)
{
    return options->counts ? ENGINE_COUNTS : TEST;
}

static pl_status engine_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    static const struct result_column columns[] = {
        {.key = "pattern", .form = RESULT_TEXT}, {.key = "about", .label = "", .form = RESULT_TEXT}, {0}};
    const struct engine_options *options = job->own;
    char size[UNITS_TEXT_MAX];
    (void)error;
    result_begin_table(plan, "patterns", NULL, columns);
    for (const struct pattern *pattern = PATTERNS; pattern->name; pattern++)
        if (engine_is_chosen(options, pattern)) {
            result_row(plan);
            result_put_text(plan, pattern->name);
            result_put_text(plan, pattern->about);
        }
    result_line(plan, "%s of all ranks in each, %lld repetitions behind %lld warm-ups, %zu more strategies.",
                units_binary(options->size, size), (long long)options->repeat, (long long)options->warmups,
                options->strategies.count);
    return PL_OK;
}

/* ---- one access ---- */

/* One pattern on one number of ranks, while it is measured. */
struct engine_cell {
    struct lab_run *run;
    const struct engine_options *options;
    MPI_Comm comm;
    int rank;
    struct layout layout;
    enum op op;
    char *memory;
    uint64_t seed;       /* of the newest data */
    uint64_t first_seed; /* of the file before it was overwritten, or of the file to be read */
};

static int engine_access_once(const struct engine_cell *cell, MPI_File file, int64_t call)
{
    const struct layout *layout = &cell->layout;
    char *memory = cell->memory + call * (layout->bytes / layout->calls); /* in a series memory is contiguous */
    const bool reads = cell->op == OP_READ;
    const int count = layout->count;
    const MPI_Datatype type = layout->memory_type;
    switch (layout->pattern->call) {
    case PATTERN_ALL:
        return reads ? MPI_File_read_at_all(file, 0, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write_at_all(file, 0, memory, count, type, MPI_STATUS_IGNORE);
    case PATTERN_SERIES:
        return reads ? MPI_File_read_all(file, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write_all(file, memory, count, type, MPI_STATUS_IGNORE);
    case PATTERN_ALONE:
        return reads ? MPI_File_read_at(file, 0, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write_at(file, 0, memory, count, type, MPI_STATUS_IGNORE);
    case PATTERN_SMALL:
        return reads ? MPI_File_read(file, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write(file, memory, count, type, MPI_STATUS_IGNORE);
    case PATTERN_ORDERED:
        return reads ? MPI_File_read_ordered(file, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write_ordered(file, memory, count, type, MPI_STATUS_IGNORE);
    }
    return MPI_ERR_OTHER;
}

/* Every rank makes all calls, whatever one of them says: others wait for it. */
static pl_status engine_access_coll(const struct engine_cell *cell, MPI_File file, double *ret_seconds,
                                    struct pl_error *error)
{
    int code = cell->layout.pattern->call == PATTERN_ORDERED ? MPI_File_seek_shared(file, 0, MPI_SEEK_SET)
                                                             : MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_Barrier(cell->comm);
    const double begin = MPI_Wtime();
    if (cell->options->counts)
        count_begin();
    for (int64_t call = 0; call < cell->layout.calls; call++) {
        const int called = engine_access_once(cell, file, call);
        code = code == MPI_SUCCESS ? called : code;
    }
    if (cell->options->counts)
        count_end();
    *ret_seconds = engine_slowest_coll(cell->comm, MPI_Wtime() - begin);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "%s", engine_op_name(cell->op));
}

/* Holes of a new file: the MPI standard leaves them undefined, and ROMIO fills them with what its buffer holds. Ours
 * are zero. Right after the access: the bytes must be in the file by then, not in somebody's buffer. */
static pl_status engine_check(const struct engine_cell *cell, const struct engine_peer *peer, struct pl_error *error)
{
    struct data_file wanted = {
        .bytes = cell->layout.file_bytes, .seed = cell->seed, .layout = &cell->layout, .hole_seed = cell->first_seed};
    if (cell->op == OP_FRESH)
        wanted.holes = peer->server == ENGINE_PIOLET ? DATA_HOLES_ARE_ZERO : DATA_HOLES_ARE_ANYTHING;
    if (cell->op == OP_READ)
        return data_memory_check(&cell->layout, cell->memory, cell->first_seed, error);
    return cell->rank == 0 ? data_file_check(peer->path, &wanted, error) : PL_OK;
}

static pl_status engine_open_coll(const struct engine_cell *cell, struct engine_peer *peer, struct pl_error *error)
{
    struct coll_verdict verdict;
    if (engine_peer_open_coll(cell->comm, peer, error) != PL_OK)
        return error->status;
    const int code = MPI_File_set_view(peer->file, cell->layout.displacement, cell->layout.etype, cell->layout.filetype,
                                       "native", MPI_INFO_NULL);
    const pl_status mine = code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting a view");
    return coll_agree_coll(cell->comm, mine, error, &verdict);
}

/* One measurement of one peer; its time is that of the slowest rank. Agreed. */
static void engine_measure_coll(struct engine_cell *cell, struct engine_peer *peer, struct lab_set *set,
                                double *ret_seconds, int64_t *ret_calls)
{
    struct pl_error failure;
    pl_status mine = PL_OK;
    *ret_calls = cell->layout.calls;
    cell->seed += (uint64_t)1 << 48; /* a seed that no data had before; the same on all ranks */
    if (peer->server == ENGINE_LIMIT) {
        if (cell->rank == 0)
            mine = data_limit(&cell->layout, peer->path, cell->op, cell->op == OP_READ ? cell->first_seed : cell->seed,
                              ret_seconds, ret_calls, &failure);
        coll_barrier_quiet_coll(cell->comm);
        coll_agree_coll(cell->comm, mine, &failure, &set->verdict);
        return;
    }
    if (cell->op == OP_FRESH) {
        if (cell->rank == 0)
            unlink(peer->path);
        MPI_Barrier(cell->comm);
        mine = engine_open_coll(cell, peer, &failure);
        if (coll_agree_coll(cell->comm, mine, &failure, &set->verdict) != PL_OK)
            return;
    }
    if (cell->op == OP_READ)
        data_clear(&cell->layout, cell->memory);
    else
        data_fill(&cell->layout, cell->memory, cell->seed);
    mine = engine_access_coll(cell, peer->file, ret_seconds, &failure);
    if (coll_agree_coll(cell->comm, mine, &failure, &set->verdict) == PL_OK) {
        mine = engine_check(cell, peer, &failure);
        coll_barrier_quiet_coll(cell->comm);
        coll_agree_coll(cell->comm, mine, &failure, &set->verdict);
    }
    char chosen[ENGINE_NAME_MAX] = "";
    if (peer->server == ENGINE_PIOLET && cell->layout.pattern->call != PATTERN_ALONE &&
        cell->layout.pattern->call != PATTERN_SMALL)
        engine_peer_info(peer->file, cell->op == OP_READ ? "piolet_strategy_read" : "piolet_strategy_write", chosen,
                         sizeof chosen);
    if (*chosen)
        notes_add(&set->hints_used, "piolet_strategy", chosen);
    if (cell->op == OP_FRESH)
        MPI_File_close(&peer->file);
}

/* ---- all of a pattern ---- */

static void engine_params(const struct engine_cell *cell, const struct engine_peer *peer, int64_t repetition,
                          struct text *params)
{
    notes_add(params, "peer", peer->name);
    notes_add(params, "pattern", cell->layout.pattern->name);
    notes_add(params, "op", engine_op_name(cell->op));
    engine_note_number(params, "ranks", cell->layout.ranks);
    engine_note_number(params, "size_bytes", cell->options->size);
    engine_note_number(params, "repetition", repetition);
}

/* Files that are written over or read are there before. */
static pl_status engine_ready_coll(struct engine_cell *cell, struct engine_peers *peers, struct pl_error *error)
{
    struct coll_verdict verdict;
    cell->first_seed = cell->seed += (uint64_t)1 << 48;
    pl_status status = PL_OK;
    for (int i = 0; i < peers->count && status == PL_OK && cell->op != OP_FRESH; i++) {
        struct engine_peer *peer = &peers->list[i];
        const int64_t bytes = peer->server == ENGINE_LIMIT ? cell->layout.total_bytes : cell->layout.file_bytes;
        pl_status mine = PL_OK;
        if (cell->rank == 0)
            mine = data_write_file(peer->path, bytes, cell->first_seed, error);
        status = coll_agree_coll(cell->comm, mine, error, &verdict);
        if (status == PL_OK && peer->server != ENGINE_LIMIT)
            status = engine_open_coll(cell, peer, error);
    }
    return status;
}

/* One repetition of one peer into the results; repetition 0 is a warm-up. */
static pl_status engine_turn_coll(struct engine_cell *cell, struct engine_peer *peer, int64_t repetition,
                                  struct pl_error *error)
{
    struct lab_set set = {.asked = &peer->hints};
    double seconds = 0;
    int64_t calls = 0;
    pl_status status = PL_OK;
    snprintf(set.label, sizeof set.label, "pattern %s, %s, %d ranks, %s", cell->layout.pattern->name,
             engine_op_name(cell->op), cell->layout.ranks, peer->name);
    engine_params(cell, peer, repetition, &set.params);
    engine_measure_coll(cell, peer, &set, &seconds, &calls);
    engine_note_number(&set.params, "moved_bytes", cell->layout.total_bytes);
    engine_note_number(&set.params, "calls", calls);
    if (cell->options->counts)
        count_note_coll(cell->comm, &cell->layout, &set.params);
    else if (cell->rank == 0 && set.verdict.status == PL_OK)
        samples_time(&set.samples, "total_time", seconds);
    if (repetition > 0 || set.verdict.status != PL_OK)
        status = lab_set_write_coll(cell->run, cell->comm, &set, error);
    lab_set_clear(&set);
    return status;
}

static pl_status engine_op_coll(struct engine_cell *cell, struct engine_peers *peers, struct pl_error *error)
{
    const int64_t failed = cell->run->failed;
    struct pl_error failure;
    pl_status status = PL_OK;
    if (engine_ready_coll(cell, peers, &failure) != PL_OK) {
        struct lab_set set = {.verdict = {.status = failure.status, .rank = 0}};
        snprintf(set.label, sizeof set.label, "pattern %s, %s", cell->layout.pattern->name, engine_op_name(cell->op));
        snprintf(set.verdict.text, sizeof set.verdict.text, "%s", failure.text);
        engine_params(cell, &peers->list[0], 0, &set.params);
        status = lab_set_write_coll(cell->run, cell->comm, &set, error);
        lab_set_clear(&set);
    }
    for (int64_t r = -cell->options->warmups + 1; r <= cell->options->repeat; r++)
        for (int i = 0; i < peers->count && status == PL_OK && cell->run->failed == failed; i++)
            status = engine_turn_coll(cell, &peers->list[(i + (r > 0 ? r : 0)) % peers->count], r > 0 ? r : 0, error);
    for (int i = 0; i < peers->count; i++)
        if (peers->list[i].file != MPI_FILE_NULL)
            MPI_File_close(&peers->list[i].file);
    return status;
}

/* Ranks of `comm` call. `operations` are those that are still to be measured. */
static pl_status engine_pattern_coll(struct lab_run *run, struct engine_peers *peers, const struct pattern *pattern,
                                     uint64_t operations, MPI_Comm comm, struct pl_error *error)
{
    const struct engine_options *options = run->job->own;
    struct engine_cell cell = {
        .run = run,
        .options = options,
        .comm = comm,
        .layout = {.pattern = pattern, .wanted_bytes = options->size, .edge = (int)options->edge}};
    MPI_Comm_rank(comm, &cell.rank);
    cell.layout.rank = cell.rank;
    MPI_Comm_size(comm, &cell.layout.ranks);
    pl_status status = PL_OK;
    if (layout_make_coll(comm, &cell.layout)) { /* else it is not for so many ranks */
        cell.memory = memory_new((size_t)cell.layout.memory_bytes, 1);
        for (int op = 0; op < OP_COUNT && status == PL_OK; op++)
            if (operations >> op & 1) {
                cell.op = (enum op)op;
                lab_step(run, 1, "pattern %s, %s, %d ranks", pattern->name, engine_op_name(cell.op), cell.layout.ranks);
                status = engine_op_coll(&cell, peers, error);
            }
        free(cell.memory);
    }
    layout_clear(&cell.layout);
    return status;
}

/* What of a pattern the results do not hold yet. An operation is measured as a whole or not at all: peers are compared
 * repetition by repetition. */
static uint64_t engine_left_coll(struct lab_run *run, const struct engine_peers *peers, const struct pattern *pattern,
                                 int ranks)
{
    const struct engine_options *options = run->job->own;
    uint64_t left = 0;
    for (int op = 0; op < OP_COUNT; op++) {
        struct text params = {0};
        if (!(options->operations >> op & 1))
            continue;
        notes_add(&params, "pattern", pattern->name);
        notes_add(&params, "op", engine_op_name((enum op)op));
        engine_note_number(&params, "ranks", ranks);
        engine_note_number(&params, "size_bytes", options->size);
        if (lab_count_measured_coll(run, engine_test(options), &params) < peers->count * options->repeat)
            left |= (uint64_t)1 << op;
        else
            lab_skip(run, 1);
        text_clear(&params);
    }
    return left;
}

/* The peers, each tried once: a hint that the engine does not take is one message, before anything is measured. */
static pl_status engine_start_coll(struct lab_run *run, struct engine_peers *peers, struct pl_error *error)
{
    const struct engine_options *options = run->job->own;
    struct option_texts strategies = options->strategies, all = {0};
    struct coll_verdict verdict;
    if (options->against_fixed && strategies.count == 0) {
        engine_strategies(&all);
        strategies = all;
    }
    pl_status status = engine_peers_make(run, "engine", &strategies, !options->against_fixed,
                                         !options->against_fixed && !options->counts, peers, error);
    if (status == PL_OK && options->counts)
        status = count_init(error);
    status = coll_agree_coll(run->world, status, error, &verdict);
    for (int i = 0; i < peers->count && status == PL_OK; i++)
        if (peers->list[i].server != ENGINE_LIMIT) {
            status = engine_peer_open_coll(run->world, &peers->list[i], error);
            if (status == PL_OK)
                MPI_File_close(&peers->list[i].file);
        }
    for (size_t i = 0; i < all.count; i++)
        free((char *)all.values[i]);
    free(all.values);
    return status;
}

static pl_status engine_run_coll(struct lab_run *run, struct pl_error *error)
{
    const struct engine_options *options = run->job->own;
    const struct option_numbers *list = &run->job->common.ranks;
    struct engine_peers *peers = memory_new(1, sizeof *peers);
    struct coll_verdict verdict;
    MPI_Comm comm = MPI_COMM_NULL;
    int comm_ranks = 0, patterns = 0;
    for (const struct pattern *pattern = PATTERNS; pattern->name; pattern++)
        patterns += engine_is_chosen(options, pattern);
    const int64_t sizes = list->count ? (int64_t)list->count : 1;
    const int64_t steps = sizes * patterns * __builtin_popcountll(options->operations);
    lab_plan(run, steps, (double)steps);
    pl_status status = engine_start_coll(run, peers, error);
    if (status == PL_OK) {
        lab_block_begin(run, ENGINE_CLASS, engine_test(options));
        status = lab_block_head_coll(run, peers->list[0].path, error);
        for (int64_t n = 0; n < sizes && status == PL_OK; n++) {
            const int ranks = list->count ? (int)list->values[n] : run->size;
            coll_choose_coll(run->world, ranks, &comm, &comm_ranks);
            for (const struct pattern *pattern = PATTERNS; pattern->name && status == PL_OK; pattern++) {
                if (!engine_is_chosen(options, pattern))
                    continue;
                const uint64_t left = engine_left_coll(run, peers, pattern, ranks);
                if (comm != MPI_COMM_NULL)
                    status = engine_pattern_coll(run, peers, pattern, left, comm, error);
                coll_barrier_quiet_coll(run->world); /* ranks that are not needed must not take a core */
                MPI_Bcast(&run->failed, 1, MPI_INT64_T, 0, run->world);
                status = coll_agree_coll(run->world, status, error, &verdict);
            }
        }
        status = lab_block_end_coll(run, status, error);
    }
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    engine_peers_clear_coll(run, peers);
    free(peers);
    return status;
}

/* ---- the benchmark ---- */

static bool engine_needs_engine(const struct lab_job *job)
{
    (void)job;
    return true;
}

static const char *engine_behind(const void *options)
{
    return ((const struct engine_options *)options)->counts ? "libpiolet-count.so" : NULL;
}

const struct bench bench_engine = {
    .name = "engine",
    .rows = ENGINE_ROWS,
    .options_size = sizeof(struct engine_options),
    .takes = BENCH_ON | BENCH_HINTS | BENCH_RANK_LIST,
    .classes = (const char *const[]){ENGINE_CLASS, NULL},
    .summary = "the engine beside the MPI's own MPI-IO, pattern by pattern",
    .details =
        "Collective and independent access in 15 patterns, with the engine, with the MPI's own MPI-IO and with one "
        "process that does nothing but pwrite or pread (limit), in turn in one process. Every file and every "
        "byte read is checked.",
    .example = "engine -n 2,4 --quick --patterns a,c",
    .output = "engine.out",
    .prepare = engine_prepare,
    .plan = engine_plan,
    .run_coll = engine_run_coll,
    .results = engine_results,
    .needs_engine = engine_needs_engine,
    .behind_engine = engine_behind,
};
