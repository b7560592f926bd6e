/* The course of BT-IO: dumps written with the original's communication between them, then read back and checked.
 *
 * What a rank learns of another's failure comes with messages that the original sends, too: those of a time step, and
 * the error norm behind each read. Nothing of ours stands between the calls. */
#include "bench/apps/btio.h"

#include "base/memory.h"
#include "base/notes.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the calls of one dump ---- */

/* What one call moves: its place in memory, and count times type. */
struct btio_piece {
    double *values;
    int count;
    MPI_Datatype type;
};

static struct btio_piece btio_piece_of(const struct btio_plan *plan, const struct btio_memory *memory,
                                       const struct btio_request *request)
{
    switch (plan->options.subtype) {
    case BTIO_FULL:
        return (struct btio_piece){memory->values, 1, memory->all_cells};
    case BTIO_SIMPLE:
        return (struct btio_piece){btio_memory_line(plan, memory, request->cell, request->row[0], request->row[1]),
                                   (int)(request->bytes / (int64_t)sizeof(double)), MPI_DOUBLE};
    default:
        return (struct btio_piece){btio_memory_line(plan, memory, request->cell, 0, 0), 1, memory->cell[request->cell]};
    }
}

static int btio_transfer(const struct btio_plan *plan, bool writes, MPI_File file, int64_t offset,
                         const struct btio_piece *piece, MPI_Status *status)
{
    if (plan->options.subtype == BTIO_FULL)
        return writes ? MPI_File_write_at_all(file, offset, piece->values, piece->count, piece->type, status)
                      : MPI_File_read_at_all(file, offset, piece->values, piece->count, piece->type, status);
    return writes ? MPI_File_write_at(file, offset, piece->values, piece->count, piece->type, status)
                  : MPI_File_read_at(file, offset, piece->values, piece->count, piece->type, status);
}

static pl_status btio_judge(const struct btio_request *request, const struct btio_piece *piece, bool writes,
                            int64_t dump, int code, const MPI_Status *status, struct pl_error *error)
{
    const char *doing = writes ? "writing" : "reading";
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s %lld bytes of dump %lld at offset %lld", doing, (long long)request->bytes,
                             (long long)dump + 1, (long long)request->offset);
    MPI_Count numbers = 0;
    MPI_Get_elements_x(status, piece->type, &numbers);
    if ((int64_t)numbers * (int64_t)sizeof(double) != request->bytes)
        return pl_fail(error, PL_E_IO, "%s dump %lld at offset %lld: only %lld of %lld bytes moved", doing,
                       (long long)dump + 1, (long long)request->offset, (long long)numbers * (long long)sizeof(double),
                       (long long)request->bytes);
    return PL_OK;
}

/* A rank that has failed: nothing to write or read, but the others count on its call. */
static void btio_take_part_coll(const struct btio_plan *plan, bool writes, MPI_File file,
                                struct btio_memory const *memory)
{
    const struct btio_piece nothing = {memory->values, 0, MPI_DOUBLE};
    MPI_Status status;
    if (plan->options.subtype == BTIO_FULL)
        btio_transfer(plan, writes, file, 0, &nothing, &status);
}

struct btio {
    struct apps_run *run;
    const struct btio_plan *plan;
    char name[APPS_PATH_MAX];
    MPI_Comm file_comm; /* of those that share a file */
    MPI_File file;
    int fd; /* of epio by UNIX calls; else -1 */
    struct btio_memory memory;
    struct btio_comm comm;
    struct apps_phase *writes, *reads;
    struct pl_error error; /* the first of this rank: it goes on with nothing to give */
    bool failed;           /* anybody, as far as all know it */
};

static pl_status btio_call(struct btio *btio, int64_t dump, bool writes, const struct btio_request *request)
{
    struct apps_phase *phase = writes ? btio->writes : btio->reads;
    if (btio_plan_is_records(btio->plan))
        return btio_record_transfer(btio->plan, btio->run->rank, writes, btio->fd, request, &btio->memory, phase,
                                    &btio->error);
    const struct btio_piece piece = btio_piece_of(btio->plan, &btio->memory, request);
    MPI_Status status;
    const double begin = MPI_Wtime();
    const int code = btio_transfer(btio->plan, writes, btio->file, request->offset, &piece, &status);
    apps_phase_note(phase, begin, request->bytes);
    return btio_judge(request, &piece, writes, dump, code, &status, &btio->error);
}

/* Makes all requests of one dump. A rank that failed before goes on in collective calls, with nothing. */
static void btio_dump_coll(struct btio *btio, int64_t dump, bool writes)
{
    struct btio_walk walk;
    struct btio_request request;
    if (btio->error.status != PL_OK) {
        if (btio->file != MPI_FILE_NULL)
            btio_take_part_coll(btio->plan, writes, btio->file, &btio->memory);
        return;
    }
    btio_walk_begin(&walk, btio->plan, btio->run->rank, dump);
    while (btio->error.status == PL_OK && btio_walk_next(&walk, &request))
        btio_call(btio, dump, writes, &request);
}

/* Where requests differ, what each moves: the same for writing and reading. */
static pl_status btio_add_sizes(struct btio *btio, int64_t requests, struct pl_error *error)
{
    struct sample_series *sizes;
    struct btio_walk walk;
    struct btio_request request;
    if (samples_add(&btio->run->samples, "b", "B", requests, &sizes, error) != PL_OK)
        return error->status;
    for (int64_t dump = 0; dump < btio->plan->options.dumps; dump++) {
        btio_walk_begin(&walk, btio->plan, btio->run->rank, dump);
        while (btio_walk_next(&walk, &request))
            sizes->values[sizes->count++] = (double)request.bytes;
    }
    return PL_OK;
}

/* ---- steps: each is agreed upon by all ranks ---- */

static pl_status btio_prepare(struct btio *btio, struct pl_error *error)
{
    struct apps_run *run = btio->run;
    const struct btio_plan *plan = btio->plan;
    const int64_t requests = btio_plan_requests(plan, run->rank) * plan->options.dumps;
    struct pl_error failures[5] = {{PL_OK, ""}};
    /* All of them, whatever fails: ranks must have the same series. */
    apps_phase_add(run, "w", requests, &btio->writes, &failures[0]);
    if (plan->options.reads)
        apps_phase_add(run, "r", requests, &btio->reads, &failures[1]);
    apps_file_name(run->options, plan->options.subtype == BTIO_EPIO, run->rank, run->nprocs, btio->name, &failures[2]);
    apps_file_memory(run, btio_plan_cost(plan).memory_bytes, &failures[3]);
    if (btio_plan_even_bytes(plan) == 0)
        btio_add_sizes(btio, requests, &failures[4]);
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (failures[i].status != PL_OK) {
            *error = failures[i];
            return error->status;
        }
    return btio_memory_make(plan, run->rank, &btio->memory, error);
}

static pl_status btio_clear(struct btio *btio, struct pl_error *error)
{
    const bool own = btio->plan->options.subtype == BTIO_EPIO;
    const int64_t own_bytes = btio_plan_points(btio->plan, btio->run->rank) * BTIO_POINT_BYTES *
                              btio->plan->options.dumps;
    if (!own && btio->run->rank != 0) { /* can it get there at all? What only some have opened nobody can close */
        char directory[APPS_PATH_MAX];
        snprintf(directory, sizeof directory, "%s", btio->name);
        return access(dirname(directory), X_OK) == 0 ? PL_OK : pl_fail_errno(error, errno, "making '%s'", btio->name);
    }
    return apps_file_clear(btio->name, own ? own_bytes : btio_plan_cost(btio->plan).file_bytes, error);
}

/* A view of the rank's cells in etypes of 5 doubles (full), of doubles (simple), or of bytes. */
static int btio_set_view_coll(struct btio *btio)
{
    switch (btio->plan->options.subtype) {
    case BTIO_FULL:
        return MPI_File_set_view(btio->file, 0, btio->memory.point, btio->memory.filetype, "native", btio->run->info);
    case BTIO_SIMPLE:
        return MPI_File_set_view(btio->file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", btio->run->info);
    default:
        return MPI_SUCCESS;
    }
}

/* A failure is noted in btio->error. */
static void btio_open_coll(struct btio *btio, bool writes)
{
    if (btio->error.status != PL_OK && btio->file_comm == MPI_COMM_SELF)
        return;
    if (btio_plan_is_records(btio->plan)) {
        btio->fd = open(btio->name, O_CLOEXEC | (writes ? O_RDWR | O_CREAT : O_RDONLY), 0666);
        if (btio->fd < 0)
            pl_fail_errno(&btio->error, errno, "opening '%s'", btio->name);
        return;
    }
    struct pl_error failure = {.status = PL_OK};
    const int mode = writes ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    int code = MPI_File_open(btio->file_comm, btio->name, mode, btio->run->info, &btio->file);
    if (code != MPI_SUCCESS) {
        btio->file = MPI_FILE_NULL;
        coll_fail_mpi(&failure, code, "opening '%s'", btio->name);
    } else if ((code = btio_set_view_coll(btio)) != MPI_SUCCESS) {
        coll_fail_mpi(&failure, code, "setting the view of '%s'", btio->name);
    } else {
        apps_file_note_hints(btio->run, btio->file);
    }
    if (btio->error.status == PL_OK)
        btio->error = failure;
}

static void btio_close_coll(struct btio *btio)
{
    struct pl_error failure = {.status = PL_OK};
    if (btio->fd >= 0 && close(btio->fd) != 0)
        pl_fail_errno(&failure, errno, "closing '%s'", btio->name);
    btio->fd = -1;
    if (btio->file != MPI_FILE_NULL) {
        const int code = MPI_File_close(&btio->file);
        if (code != MPI_SUCCESS)
            coll_fail_mpi(&failure, code, "closing '%s'", btio->name);
    }
    if (btio->error.status == PL_OK)
        btio->error = failure;
}

/* ---- the loops ---- */

static void btio_compute(int64_t milliseconds)
{
    volatile double x = 1;
    const double end = MPI_Wtime() + (double)milliseconds * 1e-3;
    while (milliseconds > 0 && MPI_Wtime() < end)
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001 + 1e-9;
}

/* Time steps; a failure of any rank in a dump ends the loop of all before the next one. */
static void btio_write_coll(struct btio *btio)
{
    const struct btio_plan *plan = btio->plan;
    for (int64_t dump = 0; dump < plan->options.dumps; dump++) {
        btio_compute(plan->options.compute_ms);
        for (int step = 0; step < BTIO_INTERVAL; step++)
            btio->failed = btio_comm_step_coll(&btio->comm, btio->failed || btio->error.status != PL_OK);
        if (btio->failed)
            return;
        btio_memory_fill(plan, btio->run->rank, (uint64_t)btio->run->options->seed, dump, &btio->memory);
        btio_dump_coll(btio, dump, true);
        apps_progress(btio->run, dump + 1, plan->options.dumps * (plan->options.reads ? 2 : 1));
    }
}

/* BT's norms: five sums over all ranks. Here they tell whether a rank has failed. */
static bool btio_norm_coll(const struct btio *btio)
{
    double mine[BTIO_COMPONENTS] = {0}, all[BTIO_COMPONENTS] = {0};
    mine[0] = btio->error.status != PL_OK;
    MPI_Allreduce(mine, all, BTIO_COMPONENTS, MPI_DOUBLE, MPI_SUM, btio->run->comm);
    return all[0] > 0;
}

static void btio_read_coll(struct btio *btio)
{
    const struct btio_plan *plan = btio->plan;
    for (int64_t dump = 0; dump < plan->options.dumps && !btio->failed; dump++) {
        btio_memory_forget(plan, &btio->memory);
        btio_dump_coll(btio, dump, false);
        if (btio->error.status == PL_OK)
            btio_memory_check(plan, btio->run->rank, (uint64_t)btio->run->options->seed, dump, &btio->memory,
                              &btio->error);
        btio->failed = btio_norm_coll(btio);
        apps_progress(btio->run, plan->options.dumps + dump + 1, plan->options.dumps * 2);
    }
}

/* ---- the course ---- */

/* The original opens its file, makes a step that does not count, and meets before the first one that does. */
static void btio_writes_coll(struct btio *btio)
{
    struct apps_run *run = btio->run;
    MPI_Barrier(btio->comm.solve);
    double begin = MPI_Wtime();
    btio_open_coll(btio, true);
    samples_time(&run->samples, "pre_time", MPI_Wtime() - begin);
    btio->failed = btio_comm_step_coll(&btio->comm, btio->error.status != PL_OK);
    MPI_Barrier(run->comm);
    if (btio->failed && btio->file_comm != MPI_COMM_SELF)
        return; /* a shared file that only some have opened can be closed by nobody */
    if (!btio->failed)
        btio_write_coll(btio);
    begin = MPI_Wtime();
    btio_close_coll(btio);
    samples_time(&run->samples, "post_time", MPI_Wtime() - begin);
}

static void btio_reads_coll(struct btio *btio)
{
    struct apps_run *run = btio->run;
    double begin = MPI_Wtime();
    btio_open_coll(btio, false);
    samples_time(&run->samples, "reopen_time", MPI_Wtime() - begin);
    btio_read_coll(btio);
    begin = MPI_Wtime();
    btio_close_coll(btio);
    samples_time(&run->samples, "reclose_time", MPI_Wtime() - begin);
    btio_comm_faces_coll(&btio->comm); /* of the residual's norm */
    btio_norm_coll(btio);
}

static pl_status btio_course_coll(struct btio *btio, struct pl_error *error, struct coll_verdict *verdict)
{
    MPI_Comm comm = btio->run->comm;
    pl_status status = coll_agree_coll(comm, btio_prepare(btio, error), error, verdict);
    if (status == PL_OK)
        status = coll_agree_coll(comm, btio_clear(btio, error), error, verdict);
    if (status == PL_OK && btio->run->rank != 0)
        testfile_watch(btio->name, btio->run->lab->job->common.keep);
    if (status == PL_OK) {
        status = btio_comm_make_coll(btio->plan, btio->run->rank, comm, &btio->comm, error);
        status = coll_agree_coll(comm, status, error, verdict);
    }
    if (status != PL_OK)
        return status;
    btio_writes_coll(btio);
    if (btio->plan->options.reads && !btio->failed)
        btio_reads_coll(btio);
    *error = btio->error;
    return coll_agree_coll(comm, error->status, error, verdict);
}

static pl_status btio_run_coll(struct apps_run *run, const void *plan, struct pl_error *error,
                               struct coll_verdict *ret_verdict)
{
    struct btio btio = {.run = run, .plan = plan, .file = MPI_FILE_NULL, .fd = -1};
    btio.error.status = PL_OK;
    btio.comm.solve = btio.comm.faces = MPI_COMM_NULL;
    const bool own = btio.plan->options.subtype == BTIO_EPIO;
    btio.file_comm = own ? MPI_COMM_SELF : run->comm;
    btio.memory = (struct btio_memory){
        .point = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL, .all_cells = MPI_DATATYPE_NULL};
    const pl_status status = btio_course_coll(&btio, error, ret_verdict);
    btio_memory_clear(&btio.memory);
    btio_comm_clear_coll(&btio.comm);
    return status;
}

/* ---- the benchmark ---- */

static void btio_note(struct text *params, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    notes_add(params, key, text);
}

static void btio_params(const void *any, struct text *params)
{
    const struct btio_plan *plan = any;
    notes_add(params, "class", plan->options.class->name);
    notes_add(params, "subtype", BTIO_SUBTYPE_NAMES[plan->options.subtype]);
    if (plan->options.subtype == BTIO_EPIO)
        notes_add(params, "iomethod", plan->options.method == BTIO_POSIX ? "posix" : "mpi");
    btio_note(params, "size", plan->options.class->size);
    btio_note(params, "dumps", plan->options.dumps);
    btio_note(params, "compute_ms", plan->options.compute_ms);
    notes_add(params, "distribution", "multipartition");
    notes_add(params, "collective", plan->options.subtype == BTIO_FULL ? "true" : "false");
    btio_note(params, "filesize_bytes", btio_plan_cost(plan).file_bytes);
    if (btio_plan_even_bytes(plan) > 0)
        btio_note(params, "blocksize_bytes", btio_plan_even_bytes(plan));
}

static void btio_free(const void *plan)
{
    btio_plan_clear((struct btio_plan *)plan);
    free((void *)plan);
}

struct btio_bench {
    struct apps_options apps;  /* first */
    int grid, subtype, method; /* numbers of words */
    int64_t dumps, compute_ms;
    bool no_read;
};

#define AT(member) OPTION_AT(struct btio_bench, member)
#define CHOICE(row_name, row_letter, row_argument, words, first)                                                       \
    .name = row_name, .letter = row_letter, .type = OPTION_CHOICE, .argument = row_argument, .choices = words,         \
    .initial = first
static const struct option_row BTIO_ROWS[] = {
    {CHOICE("class", 'c', "CLASS", "S W A B C D", "W"), AT(grid),
     .more = "Points along each side: S 12, W 24, A 64, B 102, C 162, D 408. There are 12 dumps in class S, 50 in D, "
             "40 in the others.",
     .help = "the size of the grid"},
    {CHOICE("subtype", 't', "SUBTYPE", "full simple epio", "full"), AT(subtype),
     .more = "full: through a view of the rank's cells. simple: one line in x each. epio: files FILE.RANK, one call "
             "for each cell.",
     .help = "one collective call a dump, independent calls for lines, or a file for each rank"},
    {CHOICE("iomethod", 0, "METHOD", "posix mpi", "posix"), AT(method),
     .more =
         "posix: records of an unformatted Fortran file, as the original has them. full and simple are always MPI-IO.",
     .help = "calls of subtype epio"},
    {.name = "dumps",
     .letter = 'd',
     .type = OPTION_INT,
     .min = 1,
     .max = 1000000,
     AT(dumps),
     .help = "only the first N dumps"},
    {.name = "no-read",
     .type = OPTION_FLAG,
     AT(no_read),
     .more = "Then nothing is checked.",
     .help = "do not read the dumps back"},
    {.name = "compute",
     .type = OPTION_INT,
     .argument = "MS",
     .initial = "0",
     .max = 3600000,
     AT(compute_ms),
     .more = "With any value ranks communicate there, as they do in BT.",
     .help = "compute for so many milliseconds before each dump"},
    APPS_ROWS(struct btio_bench),
    {0}};
#undef CHOICE
#undef AT

static pl_status btio_bench_prepare(struct lab_job *job, struct pl_error *error)
{
    const struct btio_bench *bench = job->own;
    const struct btio_options options = {.class = &BTIO_CLASSES[bench->grid],
                                         .subtype = (enum btio_subtype)bench->subtype,
                                         .method = (enum btio_method)bench->method,
                                         .dumps = bench->dumps,
                                         .reads = !bench->no_read,
                                         .compute_ms = bench->compute_ms};
    struct btio_plan *plan = memory_new(1, sizeof *plan);
    if (btio_plan_make(&options, job->ranks ? job->ranks : 1, plan, error) != PL_OK) {
        free(plan);
        return error->status;
    }
    const struct apps_kernel kernel = {.name = "btio",
                                       .plan = plan,
                                       .cost = btio_plan_cost(plan),
                                       .own_files = options.subtype == BTIO_EPIO,
                                       .params = btio_params,
                                       .clear = btio_free,
                                       .run_coll = btio_run_coll};
    return apps_prepare(job, &kernel, error);
}

static void btio_bench_clear(void *options)
{
    apps_clear(options);
}

static pl_status btio_bench_plan(struct lab_job *job, struct result *document, struct pl_error *error)
{
    static const char *const units[] = {"etypes of 40 bytes", "doubles", "bytes of the own file"};
    static const struct result_column columns[] = {{.key = "rank", .form = RESULT_INT},
                                                   {.key = "requests", .form = RESULT_INT},
                                                   {.key = "bytes", .form = RESULT_INT},
                                                   {.key = "first_bytes", .label = "first: bytes", .form = RESULT_INT},
                                                   {.key = "first_offset", .label = "offset", .form = RESULT_INT},
                                                   {.key = "step", .label = "to next dump", .form = RESULT_INT},
                                                   {0}};
    const struct apps_options *apps = job->own;
    const struct btio_plan *plan = apps->kernel->plan;
    (void)error;
    result_line(document,
                "BT-IO class %s, %s, on %d ranks: %lld dumps of a grid of %lld^3 points, %lld cells of up to %lld^3 "
                "points for each rank; offsets in %s.",
                plan->options.class->name, BTIO_SUBTYPE_NAMES[plan->options.subtype], plan->ranks,
                (long long)plan->options.dumps, (long long)plan->options.class->size, (long long)plan->cells,
                (long long)plan->cell_max, units[plan->options.subtype]);
    result_begin_table(document, "ranks", "In each dump:", columns);
    for (int rank = 0; rank < plan->ranks && rank < APPS_RANKS_SHOWN; rank++) {
        struct btio_walk walk;
        struct btio_request first, next;
        btio_walk_begin(&walk, plan, rank, 0);
        btio_walk_next(&walk, &first);
        btio_walk_begin(&walk, plan, rank, 1);
        btio_walk_next(&walk, &next);
        result_row(document);
        result_put_int(document, rank);
        result_put_int(document, btio_plan_requests(plan, rank));
        result_put_int(document, btio_plan_points(plan, rank) * BTIO_POINT_BYTES);
        result_put_int(document, first.bytes);
        result_put_int(document, first.offset);
        result_put_int(document, next.offset - first.offset);
    }
    if (plan->ranks > APPS_RANKS_SHOWN)
        result_line(document, "... and %d more ranks.", plan->ranks - APPS_RANKS_SHOWN);
    apps_plan_cost(job, document);
    return PL_OK;
}

const struct bench bench_btio = {
    .name = "btio",
    .rows = BTIO_ROWS,
    .options_size = sizeof(struct btio_bench),
    .takes = APPS_TAKES,
    .classes = APPS_CLASSES,
    .tests = (const char *const[]){"btio", NULL},
    .summary = "the I/O of NAS BT-IO: dumps of a multi-partitioned grid",
    .details = "The number of ranks is a square. Everything read back is compared with what was written.",
    .example = "btio -n 4 --class A --file /scratch/bt.dat",
    .output = "apps.out",
    .prepare = btio_bench_prepare,
    .plan = btio_bench_plan,
    .run_coll = apps_run_coll,
    .results = apps_results,
    .clear = btio_bench_clear,
};
