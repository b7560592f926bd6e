#include "bench/beffio/beffio_run.h"

#include "base/rng.h"
#include "base/units.h"
#include "bench/beffio/beffio_partition.h"
#include "bench/beffio/beffio_type.h"
#include "measure/environment.h"

#include <signal.h>
#include <stdlib.h>

struct run {
    MPI_Comm world;
    int rank, size;
    struct beffio_job *job;
    struct beffio_partition partitions[BEFFIO_PARTITIONS_MAX];
    struct beffio_stage stage; /* of the moment */
};

/* ---- before anything is measured ---- */

static pl_status prepare_memory(struct run *run, struct pl_error *error)
{
    struct beffio_stage *stage = &run->stage;
    const int64_t longest = beffio_mpart(run->job->config.node_memory_bytes);
    const int64_t most = longest > (INT64_C(2) << 20) ? longest : INT64_C(2) << 20; /* pattern 2 moves 2 MB */
    const int64_t needed = iot_data_memory(most) + most, there = environment_memory_available_bytes();
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    if (there > 0 && needed > there / stage->node_ranks)
        return pl_fail(error, PL_E_NOMEM,
                       "a rank needs %s (twice M_PART), but %d ranks share %s available on this node; "
                       "--memory-node makes M_PART smaller",
                       units_bytes(needed, a), stage->node_ranks, units_bytes(there, b));
    stage->buffer = calloc(1, (size_t)most);
    if (!stage->buffer)
        return pl_fail(error, PL_E_NOMEM, "taking %s for reading", units_bytes(most, a));
    return iot_data_init(&stage->data, most, rng_at((uint64_t)run->job->config.seed, (uint64_t)run->rank), error);
}

static pl_status begin_coll(struct run *run, struct pl_error *error)
{
    struct environment_clock clock;
    environment_clock(&clock);
    pl_status status = environment_clock_check(&clock, error);
    if (status == PL_OK)
        status = prepare_memory(run, error);
    if (status == PL_OK && run->rank == 0)
        status = blockfile_writer_open(run->job->output, &run->stage.writer, error);
    struct coll_verdict verdict;
    return coll_agree_coll(run->world, status, error, &verdict);
}

/* ---- the block of one path ---- */

static void put_facts(struct run *run, int path)
{
    struct blockfile_writer *writer = run->stage.writer;
    const struct beffio_config *config = &run->job->config;
    blockfile_fact(writer, "run", "%s", run->job->run);
    blockfile_fact(writer, "path", "%s", config->paths[path]);
    blockfile_fact(writer, "path_number", "%d", path + 1);
    if (run->job->resumes[0])
        blockfile_fact(writer, "resumes", "%s", run->job->resumes);
    blockfile_fact(writer, "mpart_bytes", "%lld", (long long)beffio_mpart(config->node_memory_bytes));
    const char *threads = getenv("OMP_NUM_THREADS");
    blockfile_fact(writer, "threads", "%s", threads ? threads : "1");
    for (int i = 0; i < BEFFIO_SETTINGS; i++)
        if (config->given[i])
            blockfile_fact(writer, "given", "%s", beffio_setting_name(i));
    for (int i = 0; i < config->partition_count; i++)
        blockfile_fact(writer, "partition", "%d %d %d", run->partitions[i].size, run->partitions[i].nodes,
                       run->partitions[i].most_on_node);
}

static pl_status begin_block_coll(struct run *run, int path, struct pl_error *error)
{
    struct blockfile_writer *writer = run->stage.writer;
    if (run->rank == 0) {
        blockfile_begin(writer, BEFFIO_CLASS, BEFFIO_TEST);
        for (int i = 0; i < BEFFIO_SETTINGS; i++) {
            struct text value = {0};
            beffio_setting_text(&run->job->config, i, &value);
            blockfile_input(writer, beffio_setting_name(i), text_get(&value));
            text_clear(&value);
        }
        put_facts(run, path);
    }
    environment_facts_coll(run->world, run->job->config.paths[path], writer);
    struct coll_verdict verdict;
    const pl_status status = run->rank == 0 ? blockfile_end_head(writer, error) : PL_OK;
    return coll_agree_coll(run->world, status, error, &verdict);
}

/* One access method on one partition. Those outside sleep until it is done. */
static pl_status run_method_coll(struct run *run, const struct beffio_partition *partition, enum beffio_method method,
                                 struct pl_error *error)
{
    struct beffio_stage *stage = &run->stage;
    stage->comm = partition->comm;
    stage->nprocs = partition->size;
    stage->method = method;
    pl_status status = PL_OK;
    if (stage->comm != MPI_COMM_NULL) {
        MPI_Comm_rank(stage->comm, &stage->rank);
        for (int type = 0; type < BEFFIO_TYPES_ALL && status == PL_OK; type++)
            if (beffio_is_wanted(stage->config, method, type))
                status = beffio_type_run_coll(stage, type, error);
    }
    coll_barrier_quiet_coll(run->world);
    struct coll_verdict verdict;
    return coll_agree_coll(run->world, status, error, &verdict);
}

static void remove_files(struct run *run, const struct beffio_partition *partition)
{
    struct beffio_stage *stage = &run->stage;
    stage->comm = partition->comm;
    stage->nprocs = partition->size;
    if (stage->comm == MPI_COMM_NULL || stage->config->keep)
        return;
    MPI_Comm_rank(stage->comm, &stage->rank);
    beffio_type_remove_all(stage);
}

static void remove_all_files(struct run *run)
{
    for (int i = 0; i < run->job->config.partition_count; i++)
        remove_files(run, &run->partitions[i]);
}

/* The document's order: a partition is done before the next one begins. */
static pl_status run_partitions_coll(struct run *run, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int i = 0; i < run->job->config.partition_count && status == PL_OK; i++) {
        for (int method = 0; method < BEFFIO_METHODS && status == PL_OK; method++)
            status = run_method_coll(run, &run->partitions[i], (enum beffio_method)method, error);
        remove_files(run, &run->partitions[i]);
    }
    return status;
}

/* Release 2.0's order: all partitions write, then all rewrite, then all read. */
static pl_status run_methods_coll(struct run *run, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int i = 0; i < run->job->config.partition_count && status == PL_OK; i++)
            status = run_method_coll(run, &run->partitions[i], (enum beffio_method)method, error);
    remove_all_files(run);
    return status;
}

/* Has an earlier run measured all of this path? */
static bool path_is_done(const struct run *run, int path)
{
    const struct beffio_config *config = &run->job->config;
    for (int i = 0; i < config->partition_count; i++)
        for (int method = 0; method < BEFFIO_METHODS; method++)
            for (int type = 0; type < BEFFIO_TYPES_ALL; type++)
                if (beffio_is_wanted(config, (enum beffio_method)method, type) &&
                    !beffio_type_is_done(&run->job->done, path, config->partitions[i], (enum beffio_method)method,
                                         type))
                    return false;
    return true;
}

static pl_status run_path_coll(struct run *run, int path, struct pl_error *error)
{
    run->stage.path = path;
    if (path_is_done(run, path)) { /* the earlier run may have been killed before it removed its files */
        remove_all_files(run);
        return PL_OK;
    }
    pl_status status = begin_block_coll(run, path, error);
    if (status == PL_OK)
        status = run->job->config.order_2_0 ? run_methods_coll(run, error) : run_partitions_coll(run, error);
    if (status != PL_OK)
        return status;
    if (run->rank == 0)
        status = blockfile_end(run->stage.writer, error);
    struct coll_verdict verdict;
    return coll_agree_coll(run->world, status, error, &verdict);
}

static pl_status run_paths_coll(struct run *run, struct pl_error *error)
{
    pl_status status = beffio_partitions_make_coll(run->world, &run->job->config, run->partitions, error);
    if (status != PL_OK)
        return status;
    status = begin_coll(run, error);
    for (int path = 0; path < run->job->config.path_count && status == PL_OK; path++)
        status = run_path_coll(run, path, error);
    beffio_partitions_free(run->partitions, run->job->config.partition_count);
    return status;
}

pl_status beffio_run_coll(MPI_Comm world, struct beffio_job *job, const struct beffio_observer *observer,
                          int64_t *ret_failed, struct pl_error *error)
{
    struct run run = {.world = world, .job = job};
    MPI_Comm_rank(world, &run.rank);
    MPI_Comm_size(world, &run.size);
    run.stage = (struct beffio_stage){
        .config = &job->config,
        .run = job->run,
        .results = &job->done,
        .observer = observer,
        .node_ranks = environment_node_ranks_coll(world),
        .patterns = (int64_t)beffio_job_patterns(&job->config) * job->config.partition_count * job->config.path_count,
        .left_s = beffio_job_seconds(&job->config) * job->config.partition_count * job->config.path_count};
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of its type, not the end of the run */
    pl_status status = run_paths_coll(&run, error);
    struct pl_error close_error;
    const pl_status closed = blockfile_writer_close(run.stage.writer, &close_error);
    if (status == PL_OK && closed != PL_OK)
        *error = close_error;
    iot_data_clear(&run.stage.data);
    free(run.stage.buffer);
    *ret_failed = run.stage.failed;
    struct coll_verdict verdict;
    return coll_agree_coll(world, status != PL_OK ? status : closed, error, &verdict);
}
