/* The benchmark `files`: whole files, as most programs have them: open, view, a few collective calls, close. By the
 * engine, by the MPI's own MPI-IO and by an exchange as users write it, in turn. Every byte is checked. */
#include "bench/engine/engine.h"

#include "base/memory.h"
#include "base/notes.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char CLASS[] = "Files", TEST[] = "files";
enum { WORD = 8, REPEAT = 9, QUICK_REPEAT = 3, CALLS_MOST = 100 };

struct files_options {
    struct option_numbers sizes, calls;
    uint64_t patterns, operations;
    int64_t repeat, warmups;
    bool quick;
};

static const char *const PATTERN_NAMES[] = {"a", "c-1k", "b"}; /* of engine_pattern.c; in the order of the option */
static const char *const PATTERN_WORDS[] = {"contiguous", "cyclic", "block"};
enum { PATTERN_COUNT = sizeof PATTERN_NAMES / sizeof PATTERN_NAMES[0] };
static const char *const OP_WORDS[OP_COUNT] = {"new", "existing", "read"};

#define AT(member) OPTION_AT(struct files_options, member)
static const struct option_row FILES_ROWS[] = {
    {.name = "sizes",
     .letter = 's',
     .type = OPTION_SIZES,
     .initial = "64k,256k,1m,4m,16m,64m,256m",
     .min = 4096,
     AT(sizes),
     .help = "bytes of a file; one beyond the memory of the machine is measured only where it stands here"},
    {.name = "patterns",
     .type = OPTION_CHOICES,
     .choices = "contiguous cyclic block",
     .initial = "contiguous,cyclic,block",
     AT(patterns),
     .help = "a part of the file for each rank, pieces of 1 KiB dealt like cards, blocks of a cube"},
    {.name = "ops",
     .type = OPTION_CHOICES,
     .choices = "new existing read",
     .initial = "new,existing,read",
     AT(operations),
     .help = "a new file, one that is there, and reading"},
    {.name = "calls",
     .type = OPTION_INTS,
     .initial = "1,3",
     .min = 1,
     .max = CALLS_MOST,
     AT(calls),
     .help = "collective calls on a file, which share its data"},
    ENGINE_REPEAT_ROW("reps", AT(repeat), .help = "repetitions (9)"),
    {.name = "warmups",
     .type = OPTION_INT,
     .initial = "2",
     .max = 1000,
     AT(warmups),
     .help = "files before them that do not count"},
    {.name = "quick", .letter = 'q', .type = OPTION_FLAG, AT(quick), .help = "3 repetitions"},
    {0}};
#undef AT

static pl_status files_prepare(struct lab_job *job, struct pl_error *error)
{
    struct files_options *options = job->own;
    (void)error;
    if (options->repeat == 0)
        options->repeat = options->quick ? QUICK_REPEAT : REPEAT;
    return PL_OK;
}

static pl_status files_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct files_options *options = job->own;
    (void)error;
    result_line(plan, "Files of %zu sizes, %d patterns, %d operations, %zu numbers of calls, %lld of each.",
                options->sizes.count, __builtin_popcountll(options->patterns),
                __builtin_popcountll(options->operations), options->calls.count, (long long)options->repeat);
    return PL_OK;
}

/* ---- one file ---- */

enum files_phase { PHASE_OPEN, PHASE_VIEW, PHASE_ACCESS, PHASE_CLOSE, PHASE_TOTAL, PHASES };
static const char *const PHASE_NAMES[PHASES] = {"open_time", "view_time", "access_time", "close_time", "total_time"};

struct files_cell {
    struct lab_run *run;
    const struct files_options *options;
    MPI_Comm comm;
    int rank, pattern;
    int64_t size;
    int calls;
    enum op op;
    struct layout layout;
    struct hand *hand;
    char *memory;
    uint64_t seed; /* of what the file holds, or will hold */
};

static MPI_Info files_info(const struct engine_peer *peer)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "piolet_impl", peer->server == ENGINE_PIOLET ? "piolet" : "system");
    for (size_t i = 0; i < peer->hints.count; i++)
        MPI_Info_set(info, peer->hints.list[i].key, peer->hints.list[i].value);
    return info;
}

/* Every rank makes all calls, whatever one of them says: others wait for it. */
static int files_cycle_coll(const struct files_cell *cell, const char *path, MPI_Info info, double at[PHASES])
{
    const struct layout *layout = &cell->layout;
    const int amode = cell->op == OP_READ ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_RDWR;
    int etype_bytes, code;
    int64_t done = 0;
    MPI_File file;
    MPI_Type_size(layout->etype, &etype_bytes);
    const int64_t all = layout->bytes / etype_bytes;
    at[PHASE_OPEN] = MPI_Wtime();
    if ((code = MPI_File_open(cell->comm, path, amode, info, &file)) != MPI_SUCCESS)
        return code;
    at[PHASE_VIEW] = MPI_Wtime();
    code = MPI_File_set_view(file, layout->displacement, layout->etype, layout->filetype, "native", MPI_INFO_NULL);
    at[PHASE_ACCESS] = MPI_Wtime();
    for (int call = 0; call < cell->calls; call++) {
        const int64_t upto = all * (call + 1) / cell->calls;
        char *memory = cell->memory + done * etype_bytes;
        const int count = (int)(upto - done);
        const int called = cell->op == OP_READ
                               ? MPI_File_read_all(file, memory, count, layout->etype, MPI_STATUS_IGNORE)
                               : MPI_File_write_all(file, memory, count, layout->etype, MPI_STATUS_IGNORE);
        code = code ? code : called;
        done = upto;
    }
    at[PHASE_CLOSE] = MPI_Wtime();
    const int closed = MPI_File_close(&file);
    at[PHASE_TOTAL] = MPI_Wtime();
    return code ? code : closed;
}

/* The same without MPI-IO: rank 0 makes the file, and nobody leaves before all are done. errno's value. */
static int files_hand_coll(const struct files_cell *cell, const char *path, double at[PHASES])
{
    const bool write = cell->op != OP_READ;
    int fd = -1, failed = 0;
    at[PHASE_OPEN] = MPI_Wtime();
    if (cell->rank == 0 && write)
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (write)
        MPI_Barrier(cell->comm);
    if (fd < 0)
        fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    failed = fd < 0 ? errno : 0;
    at[PHASE_VIEW] = at[PHASE_ACCESS] = MPI_Wtime();
    for (int call = 0; call < cell->calls; call++) {
        const int code = hand_move_coll(cell->hand, cell->comm, fd, cell->memory, call, write);
        failed = failed ? failed : code;
    }
    at[PHASE_CLOSE] = MPI_Wtime();
    if (fd >= 0 && close(fd) != 0 && !failed)
        failed = errno;
    MPI_Barrier(cell->comm);
    at[PHASE_TOTAL] = MPI_Wtime();
    return failed;
}

static pl_status files_measure(const struct files_cell *cell, const struct engine_peer *peer, MPI_Info info,
                               double at[PHASES], struct pl_error *error)
{
    if (peer->server == ENGINE_HAND) {
        const int failed = files_hand_coll(cell, peer->path, at);
        return failed ? pl_fail_errno(error, failed, "accessing '%s' by hand", peer->path) : PL_OK;
    }
    const int code = files_cycle_coll(cell, peer->path, info, at);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "'%s'", peer->path);
}

static pl_status files_check(const struct files_cell *cell, const struct engine_peer *peer, struct pl_error *error)
{
    const struct data_file wanted = {.bytes = cell->layout.file_bytes, .seed = cell->seed, .layout = &cell->layout};
    if (cell->op == OP_READ)
        return data_memory_check(&cell->layout, cell->memory, cell->seed, error);
    return cell->rank == 0 ? data_file_check(peer->path, &wanted, error) : PL_OK;
}

/* What must be there before: a file, or none, and data. */
static pl_status files_ready_coll(struct files_cell *cell, const struct engine_peer *peer, struct pl_error *error)
{
    pl_status mine = PL_OK;
    struct coll_verdict verdict;
    cell->seed += (uint64_t)1 << 48; /* a seed that no data had before; the same on all ranks */
    if (cell->rank == 0 && cell->op == OP_FRESH)
        unlink(peer->path);
    if (cell->rank == 0 && cell->op != OP_FRESH)
        mine = data_write_file(peer->path, cell->layout.file_bytes, cell->seed, error);
    if (cell->op == OP_OVER)
        cell->seed += (uint64_t)1 << 48;
    if (cell->op == OP_READ)
        data_clear(&cell->layout, cell->memory);
    else
        data_fill(&cell->layout, cell->memory, cell->seed);
    coll_barrier_quiet_coll(cell->comm);
    return coll_agree_coll(cell->comm, mine, error, &verdict);
}

static void files_params(const struct files_cell *cell, const struct engine_peer *peer, int64_t repetition,
                         struct text *params)
{
    if (peer)
        notes_add(params, "peer", peer->name);
    notes_add(params, "pattern", PATTERN_WORDS[cell->pattern]);
    notes_add(params, "op", OP_WORDS[cell->op]);
    engine_note_number(params, "ranks", cell->layout.ranks);
    engine_note_number(params, "size_bytes", cell->size);
    engine_note_number(params, "calls", cell->calls);
    if (peer)
        engine_note_number(params, "repetition", repetition);
}

/* One file of one peer; repetition 0 is a warm-up. */
static pl_status files_turn_coll(struct files_cell *cell, struct engine_peer *peer, int64_t repetition,
                                 struct pl_error *error)
{
    struct lab_set set = {.asked = &peer->hints};
    struct pl_error failure;
    double at[PHASES] = {0}, seconds[PHASES], slowest[PHASES];
    snprintf(set.label, sizeof set.label, "%s, %s, %lld bytes, %d calls, %s", PATTERN_WORDS[cell->pattern],
             OP_WORDS[cell->op], (long long)cell->size, cell->calls, peer->name);
    files_params(cell, peer, repetition, &set.params);
    MPI_Info info = files_info(peer);
    pl_status mine = files_ready_coll(cell, peer, &failure);
    if (mine == PL_OK) {
        MPI_Barrier(cell->comm);
        mine = files_measure(cell, peer, info, at, &failure);
    }
    MPI_Info_free(&info);
    for (int i = 0; i + 1 < PHASES; i++)
        seconds[i] = at[i + 1] - at[i];
    seconds[PHASE_TOTAL] = at[PHASE_TOTAL] - at[PHASE_OPEN];
    MPI_Reduce(seconds, slowest, PHASES, MPI_DOUBLE, MPI_MAX, 0, cell->comm);
    if (coll_agree_coll(cell->comm, mine, &failure, &set.verdict) == PL_OK) {
        mine = files_check(cell, peer, &failure);
        coll_agree_coll(cell->comm, mine, &failure, &set.verdict);
    }
    if (cell->rank == 0 && set.verdict.status == PL_OK)
        for (int i = 0; i < PHASES; i++)
            samples_time(&set.samples, PHASE_NAMES[i], slowest[i]);
    pl_status status = PL_OK;
    if (repetition > 0 || set.verdict.status != PL_OK)
        status = lab_set_write_coll(cell->run, cell->comm, &set, error);
    lab_set_clear(&set);
    return status;
}

static pl_status files_cell_coll(struct files_cell *cell, struct engine_peers *peers, struct pl_error *error)
{
    const int64_t failed = cell->run->failed;
    pl_status status = PL_OK;
    cell->hand = hand_new(&cell->layout, cell->calls);
    for (int64_t r = -cell->options->warmups + 1; r <= cell->options->repeat; r++)
        for (int i = 0; i < peers->count && status == PL_OK && cell->run->failed == failed; i++)
            status = files_turn_coll(cell, &peers->list[(i + (r > 0 ? r : 0)) % peers->count], r > 0 ? r : 0, error);
    hand_free(cell->hand);
    if (cell->rank == 0)
        for (int i = 0; i < peers->count; i++)
            unlink(peers->list[i].path);
    return status;
}

/* ---- all of them ---- */

/* All ranks of the world call it. */
static bool files_is_done_coll(struct files_cell *cell, const struct engine_peers *peers)
{
    struct text params = {0};
    files_params(cell, NULL, 0, &params);
    const bool done = lab_count_measured_coll(cell->run, TEST, &params) >= peers->count * cell->options->repeat;
    text_clear(&params);
    return done;
}

/* Each pattern of one size on one number of ranks, with each operation and number of calls. */
static pl_status files_size_coll(struct files_cell *cell, struct engine_peers *peers, struct pl_error *error)
{
    const struct files_options *options = cell->options;
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    const int ranks = cell->layout.ranks;
    for (cell->pattern = 0; cell->pattern < PATTERN_COUNT && status == PL_OK; cell->pattern++) {
        if (!(options->patterns >> cell->pattern & 1))
            continue;
        const struct pattern *pattern = PATTERNS;
        while (strcmp(pattern->name, PATTERN_NAMES[cell->pattern]) != 0)
            pattern++;
        cell->layout = (struct layout){.pattern = pattern,
                                       .rank = cell->rank,
                                       .ranks = ranks,
                                       .wanted_bytes = cell->size,
                                       .edge = (int)(cbrt((double)cell->size / WORD) + 1e-6)};
        const bool made = cell->comm != MPI_COMM_NULL && layout_make_coll(cell->comm, &cell->layout);
        if (made)
            cell->memory = memory_new((size_t)cell->layout.memory_bytes, 1);
        for (int op = 0; op < OP_COUNT && status == PL_OK; op++)
            for (size_t i = 0; i < options->calls.count && status == PL_OK; i++) {
                cell->op = (enum op)op;
                cell->calls = (int)options->calls.values[i];
                if (!(options->operations >> op & 1))
                    continue;
                if (files_is_done_coll(cell, peers)) {
                    lab_skip(cell->run, 1);
                    continue;
                }
                lab_step(cell->run, 1, "%s, %s, %lld bytes, %d calls, %d ranks", PATTERN_WORDS[cell->pattern],
                         OP_WORDS[op], (long long)cell->size, cell->calls, ranks);
                if (made)
                    status = files_cell_coll(cell, peers, error);
                coll_barrier_quiet_coll(cell->run->world); /* ranks that are not needed must not take a core */
                MPI_Bcast(&cell->run->failed, 1, MPI_INT64_T, 0, cell->run->world);
                status = coll_agree_coll(cell->run->world, status, error, &verdict);
            }
        free(cell->memory);
        cell->memory = NULL;
        if (made)
            layout_clear(&cell->layout);
    }
    return status;
}

static pl_status files_start_coll(struct lab_run *run, struct engine_peers *peers, struct pl_error *error)
{
    struct coll_verdict verdict;
    pl_status status = engine_peers_make(run, "files", NULL, true, false, peers, error);
    engine_peers_add_hand(run, "files", peers);
    status = coll_agree_coll(run->world, status, error, &verdict);
    for (int i = 0; i < peers->count && status == PL_OK; i++)
        if (peers->list[i].server != ENGINE_HAND) {
            status = engine_peer_open_coll(run->world, &peers->list[i], error);
            if (status == PL_OK)
                MPI_File_close(&peers->list[i].file);
        }
    return status;
}

static pl_status files_run_coll(struct lab_run *run, struct pl_error *error)
{
    const struct files_options *options = run->job->own;
    const struct option_numbers *list = &run->job->common.ranks;
    struct engine_peers *peers = memory_new(1, sizeof *peers);
    struct files_cell cell = {.run = run, .options = options, .comm = MPI_COMM_NULL};
    int comm_ranks = 0;
    const int64_t numbers = list->count ? (int64_t)list->count : 1;
    const int64_t steps = numbers * (int64_t)options->sizes.count * __builtin_popcountll(options->patterns) *
                          __builtin_popcountll(options->operations) * (int64_t)options->calls.count;
    lab_plan(run, steps, (double)steps);
    pl_status status = files_start_coll(run, peers, error);
    if (status == PL_OK) {
        lab_block_begin(run, CLASS, TEST);
        status = lab_block_head_coll(run, peers->list[0].path, error);
        for (int64_t n = 0; n < numbers && status == PL_OK; n++) {
            const int ranks = list->count ? (int)list->values[n] : run->size;
            coll_choose_coll(run->world, ranks, &cell.comm, &comm_ranks);
            cell.rank = -1;
            if (cell.comm != MPI_COMM_NULL)
                MPI_Comm_rank(cell.comm, &cell.rank);
            for (size_t i = 0; i < options->sizes.count && status == PL_OK; i++) {
                cell.size = options->sizes.values[i];
                cell.layout.ranks = ranks;
                status = files_size_coll(&cell, peers, error);
            }
        }
        status = lab_block_end_coll(run, status, error);
    }
    if (cell.comm != MPI_COMM_NULL)
        MPI_Comm_free(&cell.comm);
    engine_peers_clear_coll(run, peers);
    free(peers);
    return status;
}

/* ---- results ---- */

static const struct quantity_kind FILES_TIME = {"time of a file", "us", "from open to close, slowest rank", true};
static const struct quantity_kind FILES_MEAN = {"mean time of the engine", "x", "geometric mean over all kinds of file",
                                                true};

static double files_time_us(const struct blockfile_set *set, const char *key)
{
    for (size_t i = 0; i < set->time_count; i++)
        if (strcmp(set->times[i].key, key) == 0)
            return (double)set->times[i].nanoseconds / 1e3;
    return NAN;
}

/* "2 ranks, 1 MiB, cyclic, existing, 3 calls" */
static void files_what(const struct blockfile_set *set, char what[160])
{
    char size[UNITS_TEXT_MAX];
    const char *pattern = blockfile_param_of(set, "pattern"), *op = blockfile_param_of(set, "op"),
               *ranks = blockfile_param_of(set, "ranks"), *calls = blockfile_param_of(set, "calls"),
               *bytes = blockfile_param_of(set, "size_bytes");
    snprintf(what, 160, "%s ranks, %s, %s, %s, %s calls", ranks ? ranks : "?",
             units_binary(bytes ? atoll(bytes) : 0, size), pattern ? pattern : "?", op ? op : "?", calls ? calls : "?");
}

/* What all cells of a number of ranks come to. */
struct files_mean {
    char ranks[16], peer[ENGINE_NAME_MAX];
    double logarithms, worst;
    char worst_what[160];
    int64_t cells, behind; /* beyond noise */
};

static void files_add_mean(struct files_mean **means, size_t *count, const struct engine_value *peer,
                           const struct analysis_estimate *ratio)
{
    char ranks[16];
    snprintf(ranks, sizeof ranks, "%.*s", (int)strcspn(peer->what, " "), peer->what);
    struct files_mean *mean = NULL;
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*means)[i].ranks, ranks) == 0 && strcmp((*means)[i].peer, peer->peer) == 0)
            mean = &(*means)[i];
    if (!mean) {
        *means = memory_grow(*means, *count, sizeof **means);
        mean = &(*means)[(*count)++];
        snprintf(mean->ranks, sizeof mean->ranks, "%s", ranks);
        snprintf(mean->peer, sizeof mean->peer, "%s", peer->peer);
    }
    mean->logarithms += log(ratio->value);
    mean->cells++;
    mean->behind += ratio->value - (isnan(ratio->error) ? 0 : ratio->error) > 1;
    if (ratio->value > mean->worst) {
        mean->worst = ratio->value;
        snprintf(mean->worst_what, sizeof mean->worst_what, "%s", peer->what);
    }
}

static void files_put_means(const struct blockfile_block *block, const struct files_mean *means, size_t count,
                            struct result *result)
{
    static const struct result_column columns[] = {
        {.key = "ranks", .form = RESULT_TEXT},
        {.key = "against", .form = RESULT_TEXT},
        {.key = "files", .label = "kinds", .form = RESULT_INT},
        {.key = "mean", .label = "mean engine / peer", .form = RESULT_NUMBER, .decimals = 2},
        {.key = "behind", .label = "above 1", .form = RESULT_INT},
        {.key = "worst", .form = RESULT_NUMBER, .decimals = 2},
        {.key = "worst_what", .label = "", .form = RESULT_TEXT},
        {0}};
    result_begin_table(result, "means", "All kinds of file together: geometric means, and those above 1 beyond noise",
                       columns);
    for (size_t i = 0; i < count; i++) {
        char settings[96];
        const double mean = exp(means[i].logarithms / (double)means[i].cells);
        result_row(result);
        result_put_text(result, means[i].ranks);
        result_put_text(result, means[i].peer);
        result_put_int(result, means[i].cells);
        result_put_number(result, mean);
        result_put_int(result, means[i].behind);
        result_put_number(result, means[i].worst);
        result_put_text(result, means[i].worst_what);
        snprintf(settings, sizeof settings, "%s ranks, against %s", means[i].ranks, means[i].peer);
        result_quantity(result, block, &FILES_MEAN, NULL, settings, (struct analysis_estimate){mean, NAN});
    }
}

static const struct result_column COLUMNS[] = {
    {.key = "what", .label = "file", .form = RESULT_TEXT},
    {.key = "against", .form = RESULT_TEXT},
    {.key = "engine_us", .label = "engine us", .form = RESULT_NUMBER, .decimals = 0, .error = true},
    {.key = "peer_us", .label = "peer us", .form = RESULT_NUMBER, .decimals = 0, .error = true},
    {.key = "ratio", .label = "engine / peer", .form = RESULT_NUMBER, .decimals = 2, .error = true},
    {.key = "engine_open_close_us", .label = "open+close us", .form = RESULT_NUMBER, .decimals = 0},
    {.key = "peer_open_close_us", .label = "peer's", .form = RESULT_NUMBER, .decimals = 0},
    {0}};

static void files_put_values(const struct engine_values *totals, const struct engine_values *ends,
                             struct result *result)
{
    struct files_mean *means = NULL;
    size_t mean_count = 0;
    result_line(result, "Files from open to close: medians, with the 90 %% interval of the mean.");
    result_begin_table(result, "files", NULL, COLUMNS);
    for (size_t i = 0; i < totals->count; i++) {
        const struct engine_value *peer = &totals->list[i];
        const struct engine_value *ours = engine_values_find(totals, peer->block, peer->what, "piolet");
        char settings[256];
        snprintf(settings, sizeof settings, "%s, %s", peer->what, peer->peer);
        result_quantity(result, peer->block, &FILES_TIME, NULL, settings, engine_value_mean(peer));
        if (!ours || peer == ours)
            continue;
        const struct engine_value *own_end = engine_values_find(ends, peer->block, peer->what, "piolet"),
                                  *end = engine_values_find(ends, peer->block, peer->what, peer->peer);
        const struct analysis_estimate ratio = engine_value_ratio(ours, peer);
        files_add_mean(&means, &mean_count, peer, &ratio);
        result_row(result);
        result_put_text(result, peer->what);
        result_put_text(result, peer->peer);
        result_put_estimate(result, engine_value_mean(ours));
        result_put_estimate(result, engine_value_mean(peer));
        result_put_estimate(result, ratio);
        result_put_number(result, own_end ? engine_value_mean(own_end).value : NAN);
        result_put_number(result, end ? engine_value_mean(end).value : NAN);
        snprintf(settings, sizeof settings, "%s, against %s", peer->what, peer->peer);
        result_quantity(result, peer->block, &ENGINE_TIME, NULL, settings, ratio);
    }
    if (mean_count)
        files_put_means(totals->list[0].block, means, mean_count, result);
    free(means);
}

static pl_status files_results(const struct analysis_request *request, const struct analysis_input *input,
                               struct result *result, struct pl_error *error)
{
    struct analysis_chosen chosen = {0};
    struct analysis_request selection = *request;
    struct engine_values totals = {0}, ends = {0};
    selection.op = NULL;
    while (analysis_next(&selection, input, &chosen)) {
        const struct blockfile_set *set = chosen.set;
        const char *peer = blockfile_param_of(set, "peer");
        const double total = files_time_us(set, PHASE_NAMES[PHASE_TOTAL]);
        char what[160];
        if (strcmp(chosen.block->class_name, CLASS) != 0 || set->error_count || !peer || !(total > 0))
            continue;
        files_what(set, what);
        engine_values_add(&totals, chosen.block, what, peer, total, NULL);
        engine_values_add(&ends, chosen.block, what, peer,
                          files_time_us(set, PHASE_NAMES[PHASE_OPEN]) + files_time_us(set, PHASE_NAMES[PHASE_CLOSE]),
                          NULL);
    }
    if (totals.count == 0)
        return pl_fail(error, PL_E_INPUT, "no results of files are selected");
    files_put_values(&totals, &ends, result);
    engine_values_clear(&totals);
    engine_values_clear(&ends);
    return PL_OK;
}

static bool files_needs_engine(const struct lab_job *job)
{
    (void)job;
    return true;
}

const struct bench bench_files = {
    .name = "files",
    .rows = FILES_ROWS,
    .options_size = sizeof(struct files_options),
    .takes = BENCH_ON | BENCH_HINTS | BENCH_RANK_LIST,
    .classes = (const char *const[]){CLASS, NULL},
    .summary = "whole files, small and large: open, view, a few calls, close",
    .details = "Files from open to close with the engine, with the MPI's own MPI-IO and with an exchange as users "
               "write it (MPI_Alltoallv, then pwrite or pread), in turn. Every byte is checked.",
    .example = "files -n 2,4 --quick --sizes 64k,1m",
    .output = "files.out",
    .prepare = files_prepare,
    .plan = files_plan,
    .run_coll = files_run_coll,
    .results = files_results,
    .needs_engine = files_needs_engine,
};
