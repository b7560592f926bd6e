/* The course of MADbench2's I/O mode: the functions S, W and C, with the communication of the original between
 * requests.
 *
 * No rank learns of another's failure before the end: the original has nothing there that could tell it. A rank that
 * fails goes on with nothing to give. */
#include "bench/apps/madbench.h"

#include "base/memory.h"
#include "base/notes.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const PHASE_KEYS[MADBENCH_PHASES] = {
    [MADBENCH_S_W] = "S_w", [MADBENCH_W_R] = "W_r", [MADBENCH_W_W] = "W_w", [MADBENCH_C_R] = "C_r"};

/* ---- functions ---- */

/* In the place of the computation: n^exponent operations for the n numbers of a part; ranks of `comm` meet before and
 * behind it. */
static void madbench_busy_work_coll(struct madbench *bench, MPI_Comm comm)
{
    const double exponent = bench->plan->options.work;
    PMPI_Barrier(comm);
    if (exponent > 0) {
        const int64_t bytes = comm == bench->gang ? madbench_plan_result_bytes(bench->plan, bench->run->rank)
                                                  : madbench_plan_matrix_bytes(bench->plan, bench->run->rank);
        const double begin = MPI_Wtime(), numbers = (double)bytes / sizeof(double);
        const uint64_t operations = (uint64_t)fmin(pow(numbers, exponent), 1e18);
        double x = 0.5;
        for (uint64_t done = 0; done < operations; done++)
            x = x * 0.999999 + 1e-7;
        bench->sum = x;
        bench->work_s += MPI_Wtime() - begin;
    }
    PMPI_Barrier(comm);
}

static void madbench_S_coll(struct madbench *bench)
{
    const int64_t bins = bench->plan->options.bins;
    for (int64_t b = 0; b <= bins; b++) {
        if (b < bins)
            madbench_busy_work_coll(bench, bench->all);
        if (b > 0)
            madbench_resync_coll(bench, true);
        if (b < bins)
            madbench_io_coll(bench, bench->all, true);
    }
}

/* One gang: reading is a bin ahead of the work on it, so that two are read before the first is written. */
static void madbench_W_alone_coll(struct madbench *bench)
{
    const int64_t bins = bench->plan->options.bins;
    for (int64_t b = 0; b <= bins + 1; b++) {
        const bool works = b > 0 && b <= bins;
        if (works)
            madbench_resync_coll(bench, false);
        if (b < bins)
            madbench_io_coll(bench, bench->all, false);
        if (works)
            madbench_busy_work_coll(bench, bench->gang);
        if (b > 1)
            madbench_resync_coll(bench, true);
        if (works)
            madbench_io_coll(bench, bench->gang, true);
    }
}

/* Several: a round of reads brings each gang its matrix; while one is read, the one before goes to its gang. The
 * original's remap is busy-work here, too. */
static void madbench_W_gangs_coll(struct madbench *bench)
{
    const int64_t gangs = bench->plan->options.gangs, rounds = bench->plan->rounds;
    for (int64_t round = 0; round <= rounds + 1; round++) {
        const bool works = round > 0 && round <= rounds;
        for (int64_t g = 0; round < rounds && g <= gangs; g++) {
            if (g > 0)
                madbench_resync_coll(bench, false);
            if (g < gangs)
                madbench_io_coll(bench, bench->all, false);
            if (g > 0)
                madbench_busy_work_coll(bench, bench->all);
        }
        if (works)
            madbench_busy_work_coll(bench, bench->gang);
        if (round > 1)
            madbench_resync_coll(bench, true);
        if (works)
            madbench_io_coll(bench, bench->gang, true);
    }
}

/* The result that the next gang holds, from it; ours to the gang before. */
static void madbench_pass_on_coll(struct madbench *bench)
{
    enum { RESULT_TAG = 1 };
    const struct madbench_plan *plan = bench->plan;
    const int rank = bench->run->rank, ranks = plan->ranks, members = plan->members;
    const int count = (int)(madbench_plan_result_bytes(plan, rank) / (int64_t)sizeof(double));
    const int to = (rank + ranks - members) % ranks, from = (rank + members) % ranks;
    double *values = bench->values[false];
    double *spare = memory_new((size_t)count + 1, sizeof *spare);
    const bool sends_first = rank / members % 2 == 0; /* a ring in which everybody sent first would stand still */
    if (sends_first)
        MPI_Ssend(values, count, MPI_DOUBLE, to, RESULT_TAG, bench->run->comm);
    MPI_Recv(spare, count, MPI_DOUBLE, from, RESULT_TAG, bench->run->comm, MPI_STATUS_IGNORE);
    if (!sends_first)
        MPI_Ssend(values, count, MPI_DOUBLE, to, RESULT_TAG, bench->run->comm);
    memcpy(values, spare, (size_t)count * sizeof *values);
    free(spare);
}

static void madbench_C_coll(struct madbench *bench)
{
    const int64_t bins = bench->plan->options.bins, gangs = bench->plan->options.gangs;
    for (int64_t b = 0; b <= bins; b++) {
        if (b > 0)
            madbench_resync_coll(bench, false);
        if (b < bins && b % gangs == 0)
            madbench_io_coll(bench, bench->gang, false);
        else if (b < bins)
            madbench_pass_on_coll(bench);
        if (b > 0)
            madbench_busy_work_coll(bench, bench->gang);
    }
}

/* A function and the original's report of it: sum, least and most of what each rank spent. */
static void madbench_function_coll(struct madbench *bench, enum madbench_function function)
{
    static const char *const times[MADBENCH_FUNCTIONS] = {"S_time", "W_time", "C_time"};
    static const char *const works[MADBENCH_FUNCTIONS] = {"S_work", "W_work", "C_work"};
    static const MPI_Op ways[] = {MPI_SUM, MPI_MIN, MPI_MAX};
    enum { SPENT = 4 };
    struct apps_run *run = bench->run;
    bench->work_s = bench->io_s[false] = bench->io_s[true] = 0;
    const double begin = MPI_Wtime();
    if (function == MADBENCH_S)
        madbench_S_coll(bench);
    else if (function == MADBENCH_C)
        madbench_C_coll(bench);
    else if (bench->plan->options.gangs == 1)
        madbench_W_alone_coll(bench);
    else
        madbench_W_gangs_coll(bench);
    double spent[SPENT] = {MPI_Wtime() - begin, bench->work_s, bench->io_s[false], bench->io_s[true]}, ignored[SPENT];
    samples_time(&run->samples, times[function], spent[0]);
    samples_time(&run->samples, works[function], bench->work_s);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) /* our results are made of every rank's times */
        MPI_Reduce(spent, ignored, SPENT, MPI_DOUBLE, ways[i], 0, run->comm);
    PMPI_Barrier(run->comm);
}

/* ---- the course ---- */

/* Where requests of ranks differ, what each moves: the same in every phase of one gang. */
static pl_status madbench_add_sizes(struct madbench *bench, struct pl_error *error)
{
    const struct madbench_plan *plan = bench->plan;
    struct sample_series *sizes;
    if (madbench_plan_is_even(plan) || plan->options.gangs > 1)
        return PL_OK;
    if (samples_add(&bench->run->samples, "b", "B", plan->options.bins, &sizes, error) != PL_OK)
        return error->status;
    for (int64_t b = 0; b < plan->options.bins; b++)
        sizes->values[sizes->count++] = (double)madbench_plan_matrix_bytes(plan, bench->run->rank);
    return PL_OK;
}

static pl_status madbench_prepare(struct madbench *bench, struct pl_error *error)
{
    const struct madbench_plan *plan = bench->plan;
    const int64_t capacities[MADBENCH_PHASES] = {[MADBENCH_S_W] = plan->options.bins,
                                                 [MADBENCH_W_R] = plan->options.bins,
                                                 [MADBENCH_W_W] = plan->rounds,
                                                 [MADBENCH_C_R] = plan->rounds};
    const bool two = plan->options.mode == MADBENCH_ASYNC;
    const int64_t bytes = madbench_plan_result_bytes(plan, 0);
    pl_status status = PL_OK;
    for (int i = 0; i < MADBENCH_PHASES; i++) { /* all of them, whatever fails: ranks must have the same series */
        const pl_status added = apps_phase_add(bench->run, PHASE_KEYS[i], capacities[i], &bench->phases[i], error);
        status = status == PL_OK ? added : status;
    }
    const pl_status sized = madbench_add_sizes(bench, error);
    status = status == PL_OK ? sized : status;
    if (status == PL_OK)
        status = apps_file_name(bench->run->options, plan->options.files == MADBENCH_UNIQUE, bench->run->rank,
                                bench->run->nprocs, bench->name, error);
    if (status == PL_OK)
        status = apps_file_memory(bench->run, madbench_plan_cost(plan).memory_bytes, error);
    if (status == PL_OK) {
        bench->values[false] = malloc((size_t)bytes);
        bench->values[true] = two ? malloc((size_t)bytes) : bench->values[false];
        if (!bench->values[false] || !bench->values[true])
            status = pl_fail_errno(error, ENOMEM, "taking %lld bytes for a request", (long long)bytes);
    }
    return status;
}

/* Makes the file's place free; others look whether they can get there at all, since a file that only some can open can
 * be closed by nobody. */
static pl_status madbench_clear(const struct madbench *bench, struct pl_error *error)
{
    const bool own = bench->plan->options.files == MADBENCH_UNIQUE;
    const int64_t bytes = own ? madbench_plan_region_bytes(bench->plan) : madbench_plan_cost(bench->plan).file_bytes;
    if (own || bench->run->rank == 0)
        return apps_file_clear(bench->name, bytes, error);
    char directory[APPS_PATH_MAX];
    snprintf(directory, sizeof directory, "%s", bench->name);
    return access(dirname(directory), X_OK) == 0 ? PL_OK : pl_fail_errno(error, errno, "making '%s'", bench->name);
}

/* The original's own beginning and end: arguments to all ranks, its communicators, the directory that each rank makes
 * in its turn. */
static void madbench_begin_coll(struct madbench *bench)
{
    struct apps_run *run = bench->run;
    int arguments[8] = {0}, stride = 0;
    MPI_Bcast(arguments, 8, MPI_INT, 0, run->comm);
    PMPI_Barrier(run->comm);
    MPI_Comm_split(run->comm, 0, run->rank, &bench->all);
    MPI_Comm_split(run->comm, run->rank / bench->plan->members, run->rank, &bench->gang);
    MPI_Bcast(&stride, 1, MPI_INT, 0, bench->all);
    MPI_Bcast(&stride, 1, MPI_INT, 0, bench->gang);
    for (int rank = 0; rank < run->nprocs; rank++)
        PMPI_Barrier(run->comm);
    const double begin = MPI_Wtime();
    madbench_open_coll(bench);
    samples_time(&run->samples, "pre_time", MPI_Wtime() - begin);
    PMPI_Barrier(run->comm);
}

static void madbench_end_coll(struct madbench *bench)
{
    struct apps_run *run = bench->run;
    double begin = MPI_Wtime();
    madbench_close_coll(bench);
    samples_time(&run->samples, "post_time", MPI_Wtime() - begin);
    begin = MPI_Wtime();
    testfile_drop(bench->name); /* who looks after it, unless it is to be kept */
    samples_time(&run->samples, "unlink_time", MPI_Wtime() - begin);
    for (int rank = 0; rank <= run->nprocs; rank++)
        PMPI_Barrier(run->comm);
    MPI_Comm_free(&bench->all);
    MPI_Comm_free(&bench->gang);
}

static pl_status madbench_course_coll(struct madbench *bench, struct pl_error *error, struct coll_verdict *verdict)
{
    struct apps_run *run = bench->run;
    pl_status status = coll_agree_coll(run->comm, madbench_prepare(bench, error), error, verdict);
    if (status == PL_OK)
        status = coll_agree_coll(run->comm, madbench_clear(bench, error), error, verdict);
    if (status != PL_OK)
        return status;
    if (run->rank != 0)
        testfile_watch(bench->name, run->lab->job->common.keep);
    madbench_begin_coll(bench);
    for (int f = 0; f < MADBENCH_FUNCTIONS; f++)
        madbench_function_coll(bench, (enum madbench_function)f);
    assert(bench->next == madbench_plan_requests(bench->plan) && !bench->flights[0].flies && !bench->flights[1].flies);
    madbench_end_coll(bench);
    *error = bench->error;
    return coll_agree_coll(run->comm, error->status, error, verdict);
}

static pl_status madbench_run_coll(struct apps_run *run, const void *plan, struct pl_error *error,
                                   struct coll_verdict *ret_verdict)
{
    struct madbench bench = {
        .run = run, .plan = plan, .mpi = MPI_FILE_NULL, .fd = -1, .all = MPI_COMM_NULL, .gang = MPI_COMM_NULL};
    bench.file_comm = bench.plan->options.files == MADBENCH_UNIQUE ? MPI_COMM_SELF : run->comm;
    bench.error.status = PL_OK;
    const pl_status status = madbench_course_coll(&bench, error, ret_verdict);
    if (bench.values[true] != bench.values[false])
        free(bench.values[true]);
    free(bench.values[false]);
    return status;
}

/* ---- the benchmark ---- */

static void madbench_param(struct text *params, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    notes_add(params, key, text);
}

/* What a rank has of a matrix on `ranks` of them, on average: bytes of a phase are so many for each of its requests. */
static void madbench_mean(struct text *params, const char *key, const struct madbench_plan *plan, int ranks)
{
    char text[32];
    const double matrix = (double)plan->options.pixels * (double)plan->options.pixels * sizeof(double);
    snprintf(text, sizeof text, "%.17g", matrix / ranks);
    notes_add(params, key, text);
}

static void madbench_params(const void *any, struct text *params)
{
    const struct madbench_plan *plan = any;
    const struct madbench_options *options = &plan->options;
    char work[32];
    snprintf(work, sizeof work, "%g", options->work);
    madbench_param(params, "pixels", options->pixels);
    madbench_param(params, "bins", options->bins);
    madbench_param(params, "gangs", options->gangs);
    notes_add(params, "files", options->files == MADBENCH_SHARED ? "shared" : "unique");
    notes_add(params, "iomethod", options->method == MADBENCH_MPI ? "mpi" : "posix");
    notes_add(params, "collective", options->calls == MADBENCH_COLLECTIVE ? "true" : "false");
    if (options->mode == MADBENCH_ASYNC)
        notes_add(params, "iomode", "async");
    madbench_param(params, "scatter", options->scatter);
    madbench_param(params, "rmod", options->rmod);
    madbench_param(params, "wmod", options->wmod);
    notes_add(params, "work", work);
    madbench_param(params, "filesize_bytes", madbench_plan_cost(plan).file_bytes);
    const bool even = madbench_plan_is_even(plan) && options->gangs == 1;
    if (even)
        madbench_param(params, "blocksize_bytes", madbench_plan_matrix_bytes(plan, 0));
    madbench_param(params, "stride_bytes", plan->stride_bytes);
    madbench_mean(params, "request_bytes", plan, plan->ranks);
    madbench_mean(params, "result_bytes", plan, plan->members);
}

static void madbench_free(const void *plan)
{
    free((void *)plan);
}

struct madbench_bench {
    struct apps_options apps; /* first */
    int64_t pixels, bins, gangs, scatter, block_bytes, rmod, wmod;
    int files, calls, method, mode; /* numbers of words */
    double work;
};

enum { PIXELS_MAX = 1000000, BINS_MAX = 100000, MOD_MAX = 1000000, BLOCK_MAX = 1 << 30 };

#define AT(member) OPTION_AT(struct madbench_bench, member)
static const struct option_row MADBENCH_ROWS[] = {
    {.name = "pixels",
     .type = OPTION_INT,
     .initial = "640",
     .min = 1,
     .max = PIXELS_MAX,
     AT(pixels),
     .help = "matrices of N x N doubles"},
    {.name = "bins",
     .letter = 'b',
     .type = OPTION_INT,
     .initial = "8",
     .min = 1,
     .max = BINS_MAX,
     AT(bins),
     .help = "number of matrices"},
    {.name = "gangs",
     .letter = 'g',
     .type = OPTION_INT,
     .initial = "1",
     .min = 1,
     .max = BINS_MAX,
     AT(gangs),
     .more = "Each gang holds its own results in W and C, in larger parts. They must leave each gang a square number "
             "of ranks, and divide the bins.",
     .help = "gangs that share the bins in W and C"},
    {.name = "scatter",
     .aliases = "sblock",
     .type = OPTION_INT,
     .initial = "8",
     .min = 1,
     .max = PIXELS_MAX,
     AT(scatter),
     .more =
         "Blocks go in turn to the rows and columns of a square of ranks, so that ranks may own different numbers of "
         "elements.",
     .help = "matrices are dealt out in blocks of N x N elements"},
    {.name = "block",
     .aliases = "fblock",
     .type = OPTION_SIZE,
     .initial = "4k",
     .min = 1,
     .max = BLOCK_MAX,
     AT(block_bytes),
     .more = "Requests themselves are not rounded.",
     .help = "matrices lie a multiple of this apart in the file: the largest request, rounded up"},
    {.name = "files",
     .type = OPTION_CHOICE,
     .argument = "KIND",
     .choices = "shared unique",
     .initial = "shared",
     AT(files),
     .more = "A file for each rank is FILE.RANK.",
     .help = "one file, or one for each rank"},
    {.name = "calls",
     .type = OPTION_CHOICE,
     .argument = "KIND",
     .choices = "independent collective",
     .initial = "independent",
     AT(calls),
     .help = "calls of MPI-IO"},
    {.name = "iomethod",
     .type = OPTION_CHOICE,
     .argument = "METHOD",
     .choices = "mpi posix",
     .initial = "mpi",
     AT(method),
     .more = "Plain lseek, write and read.",
     .help = "MPI-IO or UNIX calls"},
    {.name = "iomode",
     .type = OPTION_CHOICE,
     .argument = "MODE",
     .choices = "sync async",
     .initial = "sync",
     AT(mode),
     .more = "async: MPI_File_iwrite and iread, waited for before the memory is used again; a request's time is that "
             "of both "
             "calls.",
     .help = "blocking calls, or calls that go on during the work"},
    {.name = "rmod",
     .type = OPTION_INT,
     .argument = "K",
     .initial = "1",
     .min = 1,
     .max = MOD_MAX,
     AT(rmod),
     .more = "1: all at once. Waiting for one's turn is not part of the times.",
     .help = "only one of K neighbouring ranks reads at a time"},
    {.name = "wmod",
     .type = OPTION_INT,
     .argument = "K",
     .initial = "1",
     .min = 1,
     .max = MOD_MAX,
     AT(wmod),
     .more = "1: all at once. Waiting for one's turn is not part of the times.",
     .help = "only one of K neighbouring ranks writes at a time"},
    {.name = "work",
     .type = OPTION_NUMBER,
     .initial = "0",
     .max = 3,
     AT(work),
     .more = "Before each write of S and W and behind each read of C; ranks meet around it with any value.",
     .help = "busy-work: n^X operations for a request of n numbers; 0 is none"},
    APPS_ROWS(struct madbench_bench),
    {0}};
#undef AT

static pl_status madbench_bench_prepare(struct lab_job *job, struct pl_error *error)
{
    const struct madbench_bench *bench = job->own;
    const struct madbench_options options = {.pixels = bench->pixels,
                                             .bins = bench->bins,
                                             .gangs = bench->gangs,
                                             .scatter = bench->scatter,
                                             .block_bytes = bench->block_bytes,
                                             .files = (enum madbench_files)bench->files,
                                             .calls = (enum madbench_calls)bench->calls,
                                             .method = (enum madbench_method)bench->method,
                                             .mode = (enum madbench_mode)bench->mode,
                                             .rmod = bench->rmod,
                                             .wmod = bench->wmod,
                                             .work = bench->work};
    struct madbench_plan *plan = memory_new(1, sizeof *plan);
    if (madbench_plan_make(&options, job->ranks ? job->ranks : 1, plan, error) != PL_OK) {
        free(plan);
        return error->status;
    }
    const struct apps_kernel kernel = {.name = "madbench",
                                       .plan = plan,
                                       .cost = madbench_plan_cost(plan),
                                       .own_files = options.files == MADBENCH_UNIQUE,
                                       .params = madbench_params,
                                       .clear = madbench_free,
                                       .run_coll = madbench_run_coll};
    return apps_prepare(job, &kernel, error);
}

static void madbench_bench_clear(void *options)
{
    apps_clear(options);
}

static pl_status madbench_bench_plan(struct lab_job *job, struct result *document, struct pl_error *error)
{
    enum { SHOWN = 40 };
    static const char *const names[] = {"S", "W", "C"};
    static const struct result_column columns[] = {{.key = "function", .form = RESULT_TEXT},
                                                   {.key = "kind", .form = RESULT_TEXT},
                                                   {.key = "offset", .form = RESULT_INT},
                                                   {.key = "bytes", .form = RESULT_INT},
                                                   {0}};
    static const struct result_column rank_columns[] = {
        {.key = "rank", .form = RESULT_INT},
        {.key = "bytes", .form = RESULT_INT},
        {.key = "result_bytes", .label = "of a result", .form = RESULT_INT},
        {0}};
    const struct apps_options *apps = job->own;
    const struct madbench_plan *plan = apps->kernel->plan;
    const int64_t count = madbench_plan_requests(plan);
    (void)error;
    result_line(document,
                "MADbench2 I/O mode on %d ranks: %lld matrices of %lld x %lld doubles, %lld gangs; matrices are %lld "
                "bytes apart, a rank's region has %lld.",
                plan->ranks, (long long)plan->options.bins, (long long)plan->options.pixels,
                (long long)plan->options.pixels, (long long)plan->options.gangs, (long long)plan->stride_bytes,
                (long long)madbench_plan_region_bytes(plan));
    result_begin_table(document, "ranks", "Each request:", rank_columns);
    for (int rank = 0; rank < plan->ranks && rank < APPS_RANKS_SHOWN; rank++) {
        result_row(document);
        result_put_int(document, rank);
        result_put_int(document, madbench_plan_matrix_bytes(plan, rank));
        result_put_int(document, madbench_plan_result_bytes(plan, rank));
    }
    if (plan->ranks > APPS_RANKS_SHOWN)
        result_line(document, "... and %d more ranks.", plan->ranks - APPS_RANKS_SHOWN);
    result_begin_table(document, "requests", "Requests of rank 0:", columns);
    for (int64_t i = 0; i < count && i < SHOWN; i++) {
        const struct madbench_request request = madbench_plan_request(plan, 0, i);
        result_row(document);
        result_put_text(document, names[request.function]);
        result_put_text(document, request.writes ? "write" : "read");
        result_put_int(document, request.offset);
        result_put_int(document, request.bytes);
    }
    if (count > SHOWN)
        result_line(document, "... and %lld more.", (long long)(count - SHOWN));
    apps_plan_cost(job, document);
    return PL_OK;
}

const struct bench bench_madbench = {
    .name = "madbench",
    .rows = MADBENCH_ROWS,
    .options_size = sizeof(struct madbench_bench),
    .takes = APPS_TAKES,
    .classes = APPS_CLASSES,
    .tests = (const char *const[]){"madbench", NULL},
    .summary = "the I/O of MADbench2: matrices written, read, written and read",
    .details = "The number of ranks, and that of each gang, is a square. Everything read is compared with what was "
               "written.",
    .example = "madbench -n 4 --file /scratch/mad.dat",
    .output = "apps.out",
    .prepare = madbench_bench_prepare,
    .plan = madbench_bench_plan,
    .run_coll = apps_run_coll,
    .results = apps_results,
    .clear = madbench_bench_clear,
};
