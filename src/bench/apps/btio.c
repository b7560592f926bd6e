/* The course of BT-IO: dumps written with computation and communication between them, then read back and checked. */
#include "bench/apps/btio.h"

#include "bench/apps/btio_io.h"
#include "measure/testfile.h"

#include <string.h>

struct btio {
    struct apps_run *run;
    const struct btio_plan *plan;
    char name[APPS_PATH_MAX];
    MPI_Comm file_comm; /* of those that share a file */
    MPI_File file;
    struct btio_memory memory;
    struct apps_phase *writes, *reads;
};

/* Where requests differ, what each moves: the same for writing and reading. */
static pl_status add_sizes(struct btio *btio, int64_t requests, struct pl_error *error)
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
    apps_file_name(run->job, plan->options.subtype == BTIO_EPIO, run->rank, run->nprocs, btio->name, &failures[2]);
    apps_file_memory(run, btio_plan_cost(plan).memory_bytes, &failures[3]);
    if (btio_plan_even_bytes(plan) == 0)
        add_sizes(btio, requests, &failures[4]);
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
    if (!own && btio->run->rank != 0)
        return PL_OK;
    return apps_file_clear(btio->name, own ? own_bytes : btio_plan_cost(btio->plan).file_bytes, error);
}

/* A view of the rank's cells in etypes of 5 doubles (full), of doubles (simple), or of bytes. */
static int set_view_coll(struct btio *btio)
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

static pl_status btio_open_coll(struct btio *btio, bool writes, struct pl_error *error)
{
    const int mode = writes ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    int code = MPI_File_open(btio->file_comm, btio->name, mode, btio->run->info, &btio->file);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "opening '%s'", btio->name);
    code = set_view_coll(btio);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "setting the view of '%s'", btio->name);
    apps_file_note_hints(btio->run, btio->file);
    return PL_OK;
}

static pl_status btio_close_coll(struct btio *btio, struct pl_error *error)
{
    const int code = MPI_File_close(&btio->file);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", btio->name);
}

/* ---- the loops ---- */

static void compute(int64_t milliseconds)
{
    volatile double x = 1;
    const double end = MPI_Wtime() + (double)milliseconds * 1e-3;
    while (milliseconds > 0 && MPI_Wtime() < end)
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001 + 1e-9;
}

/* Where BT exchanges the faces of its cells: all meet, and learn whether somebody has failed. */
static bool communicate_coll(const struct btio *btio, bool failed)
{
    int mine = failed, any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, btio->run->comm);
    return any == 0;
}

static pl_status btio_write_coll(struct btio *btio, struct pl_error *error)
{
    const struct btio_plan *plan = btio->plan;
    const int rank = btio->run->rank;
    error->status = PL_OK;
    for (int64_t dump = 0; dump < plan->options.dumps; dump++) {
        compute(plan->options.compute_ms);
        btio_memory_fill(plan, rank, btio->run->job->seed, dump, &btio->memory);
        if (!communicate_coll(btio, error->status != PL_OK))
            break;
        btio_io_dump_coll(plan, rank, dump, true, true, btio->file, &btio->memory, btio->writes, error);
        apps_progress(btio->run, dump + 1, plan->options.dumps * (plan->options.reads ? 2 : 1));
    }
    return error->status;
}

/* As in the original nobody communicates here: a rank that fails goes on with nothing, to the end. */
static pl_status btio_read_coll(struct btio *btio, struct pl_error *error)
{
    const struct btio_plan *plan = btio->plan;
    const int rank = btio->run->rank;
    error->status = PL_OK;
    for (int64_t dump = 0; dump < plan->options.dumps; dump++) {
        btio_memory_forget(plan, &btio->memory);
        btio_io_dump_coll(plan, rank, dump, false, error->status == PL_OK, btio->file, &btio->memory, btio->reads,
                          error);
        if (error->status == PL_OK)
            btio_memory_check(plan, rank, btio->run->job->seed, dump, &btio->memory, error);
        apps_progress(btio->run, plan->options.dumps + dump + 1, plan->options.dumps * 2);
    }
    return error->status;
}

/* ---- the course ---- */

typedef pl_status loop_coll(struct btio *btio, struct pl_error *error);

/* Opens, moves everything, closes; each of them timed and agreed upon. */
static pl_status btio_pass_coll(struct btio *btio, bool writes, loop_coll *loop, const char *const keys[2],
                                struct pl_error *error, struct coll_verdict *verdict)
{
    struct apps_run *run = btio->run;
    MPI_Barrier(run->comm);
    double begin = MPI_Wtime();
    pl_status status = btio_open_coll(btio, writes, error);
    samples_time(&run->samples, keys[0], MPI_Wtime() - begin);
    status = coll_agree_coll(run->comm, status, error, verdict);
    if (status != PL_OK) {
        if (btio->file_comm == MPI_COMM_SELF && btio->file != MPI_FILE_NULL)
            MPI_File_close(&btio->file);
        return status; /* a shared file that only some have opened can be closed by nobody */
    }
    status = coll_agree_coll(run->comm, loop(btio, error), error, verdict);
    struct pl_error close_error;
    struct coll_verdict close_verdict;
    begin = MPI_Wtime();
    pl_status closed = btio_close_coll(btio, &close_error);
    samples_time(&run->samples, keys[1], MPI_Wtime() - begin);
    closed = coll_agree_coll(run->comm, closed, &close_error, &close_verdict);
    if (status == PL_OK && closed != PL_OK) {
        *error = close_error;
        *verdict = close_verdict;
        return closed;
    }
    return status;
}

static pl_status btio_course_coll(struct btio *btio, struct pl_error *error, struct coll_verdict *verdict)
{
    static const char *const write_keys[] = {"pre_time", "post_time"};
    static const char *const read_keys[] = {"reopen_time", "reclose_time"};
    MPI_Comm comm = btio->run->comm;
    pl_status status = coll_agree_coll(comm, btio_prepare(btio, error), error, verdict);
    if (status == PL_OK)
        status = coll_agree_coll(comm, btio_clear(btio, error), error, verdict);
    if (status == PL_OK && btio->run->rank != 0)
        testfile_watch(btio->name, btio->run->job->keep);
    if (status == PL_OK)
        status = btio_pass_coll(btio, true, btio_write_coll, write_keys, error, verdict);
    if (status == PL_OK && btio->plan->options.reads)
        status = btio_pass_coll(btio, false, btio_read_coll, read_keys, error, verdict);
    return status;
}

static pl_status btio_run_coll(struct apps_run *run, const void *plan, struct pl_error *error,
                               struct coll_verdict *ret_verdict)
{
    struct btio btio = {.run = run, .plan = plan, .file = MPI_FILE_NULL};
    const bool own = btio.plan->options.subtype == BTIO_EPIO;
    btio.file_comm = own ? MPI_COMM_SELF : run->comm;
    btio.memory = (struct btio_memory){
        .point = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL, .all_cells = MPI_DATATYPE_NULL};
    const pl_status status = btio_course_coll(&btio, error, ret_verdict);
    btio_memory_clear(&btio.memory);
    return status;
}

static void btio_params(const void *any, struct blockfile_writer *writer)
{
    const struct btio_plan *plan = any;
    const struct apps_cost cost = btio_plan_cost(plan);
    blockfile_param(writer, "class", "%s", plan->options.class->name);
    blockfile_param(writer, "subtype", "%s", BTIO_SUBTYPE_NAMES[plan->options.subtype]);
    blockfile_param(writer, "size", "%lld", (long long)plan->options.class->size);
    blockfile_param(writer, "dumps", "%lld", (long long)plan->options.dumps);
    blockfile_param(writer, "compute_ms", "%lld", (long long)plan->options.compute_ms);
    blockfile_param(writer, "distribution", "multipartition");
    blockfile_param(writer, "collective", "%s", plan->options.subtype == BTIO_FULL ? "true" : "false");
    blockfile_param(writer, "filesize_bytes", "%lld", (long long)cost.file_bytes);
    if (btio_plan_even_bytes(plan) > 0)
        blockfile_param(writer, "blocksize_bytes", "%lld", (long long)btio_plan_even_bytes(plan));
}

struct apps_kernel btio_kernel(const struct btio_plan *plan)
{
    return (struct apps_kernel){.name = "btio",
                                .plan = plan,
                                .cost = btio_plan_cost(plan),
                                .own_files = plan->options.subtype == BTIO_EPIO,
                                .params = btio_params,
                                .run_coll = btio_run_coll};
}
