/* The run of b_eff_io: every path, partition, access method, pattern type and pattern. */
#include "bench/beffio/beffio.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/units.h"
#include "lab/facts/environment.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So many processes, of each node at most so many. */
struct beffio_partition {
    MPI_Comm comm; /* MPI_COMM_NULL where this rank is not in it */
    int size;      /* known on all ranks */
    int nodes, most_on_node;
};

struct beffio_course {
    struct lab_run *lab;
    struct beffio_config *config;
    struct beffio_partition partitions[BEFFIO_PARTITIONS_MAX];
    struct beffio_stage stage;             /* of the moment */
    const struct blockfile_block *resumes; /* rank 0: the block that this run goes on from; NULL: none */
};

/* ---- partitions ---- */

static int beffio_rank_on_node_coll(MPI_Comm comm)
{
    MPI_Comm node;
    int rank = 0;
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS)
        return 0;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    return rank;
}

/* Nodes, and the processes on the one that has most; rank 0 tells those outside. */
static void beffio_count_nodes_coll(MPI_Comm world, struct beffio_partition *partition)
{
    int counts[2] = {0, 0};
    if (partition->comm != MPI_COMM_NULL) {
        const int place = beffio_rank_on_node_coll(partition->comm), first = place == 0, ranks = place + 1;
        MPI_Allreduce(&first, &counts[0], 1, MPI_INT, MPI_SUM, partition->comm);
        MPI_Allreduce(&ranks, &counts[1], 1, MPI_INT, MPI_MAX, partition->comm);
    }
    MPI_Bcast(counts, 2, MPI_INT, 0, world);
    partition->nodes = counts[0];
    partition->most_on_node = counts[1];
    assert(partition->nodes > 0 && partition->most_on_node <= partition->size);
}

/* Rank 0 is in all of them. Fails alike on all ranks where there are too few. */
static pl_status beffio_partitions_coll(struct beffio_course *course, struct pl_error *error)
{
    const struct beffio_config *config = course->config;
    MPI_Comm world = course->lab->world;
    const int rank = course->lab->rank;
    int before = 0, there = 0;
    const int eligible = config->per_node == 0 || beffio_rank_on_node_coll(world) < config->per_node;
    MPI_Exscan(&eligible, &before, 1, MPI_INT, MPI_SUM, world);
    MPI_Allreduce(&eligible, &there, 1, MPI_INT, MPI_SUM, world);
    before = rank == 0 ? 0 : before;
    for (int i = 0; i < config->partition_count; i++)
        if (config->partitions[i] > there)
            return pl_fail(error, PL_E_USAGE, "partitions: %d processes, but only %d ranks are there%s",
                           config->partitions[i], there, there < course->lab->size ? " with so few on each node" : "");
    for (int i = 0; i < config->partition_count; i++) {
        struct beffio_partition *partition = &course->partitions[i];
        const int member = eligible && before < config->partitions[i];
        *partition = (struct beffio_partition){.size = config->partitions[i], .comm = MPI_COMM_NULL};
        MPI_Comm_split(world, member ? 0 : MPI_UNDEFINED, rank, &partition->comm);
        beffio_count_nodes_coll(world, partition);
    }
    return PL_OK;
}

/* ---- what is resumed ---- */

/* Places that were given again must be those of the run. */
static pl_status beffio_check_places(const struct beffio_course *course, struct pl_error *error)
{
    const struct blockfile_block *block = course->resumes;
    struct text before = {0}, now = {0};
    for (size_t i = 0; i < block->input_count; i++)
        if (strcmp(block->inputs[i].key, "on") == 0 || strcmp(block->inputs[i].key, "path") == 0)
            text_format(&before, "%s%s", before.length ? "\n" : "", block->inputs[i].value);
    for (int i = 0; i < course->config->path_count; i++)
        text_format(&now, "%s%s", i ? "\n" : "", course->config->paths[i]);
    const bool same = strcmp(text_get(&before), text_get(&now)) == 0;
    if (!same)
        pl_fail(error, PL_E_USAGE, "on: '%.200s', but the run to resume has '%.200s'; allowed: the same, or no --on",
                text_get(&now), text_get(&before));
    text_clear(&before);
    text_clear(&now);
    return same ? PL_OK : error->status;
}

/* On rank 0: name and results of the run that goes on. A pattern whose type has failed is not measured again. */
static pl_status beffio_look_back(struct beffio_course *course, struct pl_error *error)
{
    struct blockfile *file;
    struct beffio_stage *stage = &course->stage;
    course->resumes = lab_resumed(course->lab, &file);
    if (!course->resumes) {
        snprintf(stage->run, sizeof stage->run, "%08" PRIx32, (uint32_t)rng_seed_from_system());
        return PL_OK;
    }
    const char *run = blockfile_fact_of(course->resumes, "run");
    const char *number = blockfile_fact_of(course->resumes, "path_number");
    if (!run || strlen(run) >= sizeof stage->run)
        return pl_fail(error, PL_E_USAGE, "'%s' holds no run of b_eff_io to resume", file->path);
    if (course->resumes->complete && number && atoi(number) == course->config->path_count)
        return pl_fail(error, PL_E_USAGE, "the last run of b_eff_io in '%s' is complete: nothing to resume",
                       file->path);
    snprintf(stage->run, sizeof stage->run, "%s", run);
    beffio_results_load(&stage->results, file, run);
    return beffio_check_places(course, error);
}

/* What rank 0 drew, found and read, to all. */
static pl_status beffio_share_coll(struct beffio_course *course, struct pl_error *error)
{
    struct lab_run *lab = course->lab;
    struct beffio_stage *stage = &course->stage;
    struct coll_verdict verdict;
    pl_status status = lab->rank == 0 ? beffio_look_back(course, error) : PL_OK;
    if (coll_agree_coll(lab->world, status, error, &verdict) != PL_OK)
        return verdict.status;
    int64_t numbers[] = {course->config->seed, course->config->node_memory_bytes, (int64_t)stage->results.count};
    MPI_Bcast(numbers, 3, MPI_INT64_T, 0, lab->world);
    MPI_Bcast(stage->run, sizeof stage->run, MPI_CHAR, 0, lab->world);
    course->config->seed = numbers[0];
    course->config->node_memory_bytes = numbers[1];
    for (int64_t i = 0; i < numbers[2]; i++) { /* some hundred at most */
        struct beffio_result result = {0};
        if (lab->rank == 0)
            result = stage->results.list[i];
        MPI_Bcast(&result, sizeof result, MPI_BYTE, 0, lab->world);
        if (lab->rank != 0)
            beffio_results_add(&stage->results, &result);
    }
    assert((int64_t)stage->results.count == numbers[2]);
    return PL_OK;
}

static pl_status beffio_take_memory(struct beffio_course *course, struct pl_error *error)
{
    struct beffio_stage *stage = &course->stage;
    const int64_t longest = beffio_config_mpart(course->config);
    const int64_t most = longest > (INT64_C(2) << 20) ? longest : INT64_C(2) << 20; /* pattern 2 moves 2 MB */
    const int64_t needed = iot_data_memory(most) + most, there = environment_memory_available_bytes();
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    if (longest / 8 > INT_MAX) /* found, not given */
        return pl_fail(error, PL_E_USAGE, "memory-node: M_PART would be beyond 16 GB; allowed: up to 2047g");
    if (there > 0 && needed > there / stage->node_ranks)
        return pl_fail(error, PL_E_NOMEM,
                       "a rank needs %s (twice M_PART), but %d ranks share %s available on this node; "
                       "--memory-node makes M_PART smaller",
                       units_bytes(needed, a), stage->node_ranks, units_bytes(there, b));
    /* the times of calls take at most a quarter of what is left: there are many of them in a long run on a fast disk */
    stage->kept_most = BEFFIO_CALLS_KEPT;
    if (there > 0 && (there / stage->node_ranks - needed) / 4 < BEFFIO_CALLS_KEPT * SAMPLE_OPERATION_BYTES)
        stage->kept_most = (there / stage->node_ranks - needed) / 4 / SAMPLE_OPERATION_BYTES;
    stage->buffer = calloc(1, (size_t)most);
    if (!stage->buffer)
        return pl_fail(error, PL_E_NOMEM, "taking %s for reading", units_bytes(most, a));
    return iot_data_init(&stage->data, most, rng_at((uint64_t)course->config->seed, (uint64_t)course->lab->rank),
                         error);
}

/* ---- the block of one path ---- */

/* Which settings were given by the user, and not by default: in this run or in that which it resumes. */
static void beffio_put_given(const struct beffio_course *course)
{
    const struct options *all = &course->lab->job->all;
    struct blockfile_writer *writer = course->lab->writer;
    for (size_t i = 0; course->resumes && i < course->resumes->fact_count; i++)
        if (strcmp(course->resumes->facts[i].key, "given") == 0)
            blockfile_fact(writer, "given", "%s", course->resumes->facts[i].value);
    for (const char *const *name = BEFFIO_SETTINGS; *name && !course->resumes; name++)
        if (options_given(all, *name) && options_source(all, *name) != OPTION_FROM_RESULTS)
            blockfile_fact(writer, "given", "%s", *name);
    if (!course->resumes && options_source(all, "on") != OPTION_FROM_RESULTS)
        blockfile_fact(writer, "given", "on");
}

static pl_status beffio_head_coll(struct beffio_course *course, int path, struct pl_error *error)
{
    const struct beffio_config *config = course->config;
    struct blockfile_writer *writer = course->lab->writer;
    const char *threads = getenv("OMP_NUM_THREADS");
    lab_block_begin(course->lab, BEFFIO_CLASS, BEFFIO_TEST);
    if (course->lab->rank == 0) {
        blockfile_fact(writer, "run", "%s", course->stage.run);
        blockfile_fact(writer, "path", "%s", config->paths[path]);
        blockfile_fact(writer, "path_number", "%d", path + 1);
        if (course->resumes)
            blockfile_fact(writer, "resumes", "%s", course->resumes->id);
        blockfile_fact(writer, "mpart_bytes", "%" PRId64, beffio_config_mpart(config));
        blockfile_fact(writer, "threads", "%s", threads ? threads : "1");
        beffio_put_given(course);
        for (int i = 0; i < config->partition_count; i++)
            blockfile_fact(writer, "partition", "%d %d %d", course->partitions[i].size, course->partitions[i].nodes,
                           course->partitions[i].most_on_node);
    }
    return lab_block_head_coll(course->lab, config->paths[path], error);
}

static void beffio_enter(struct beffio_course *course, const struct beffio_partition *partition)
{
    struct beffio_stage *stage = &course->stage;
    stage->comm = partition->comm;
    stage->nprocs = partition->size;
    if (stage->comm != MPI_COMM_NULL)
        MPI_Comm_rank(stage->comm, &stage->rank);
}

/* One access method on one partition. Those outside sleep until it is done. */
static pl_status beffio_method_coll(struct beffio_course *course, const struct beffio_partition *partition,
                                    enum beffio_method method, struct pl_error *error)
{
    struct beffio_stage *stage = &course->stage;
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    beffio_enter(course, partition);
    stage->method = method;
    for (int type = 0; type < BEFFIO_TYPES_ALL && stage->comm != MPI_COMM_NULL && status == PL_OK; type++)
        if (beffio_is_wanted(course->config, method, type))
            status = beffio_type_run_coll(stage, type, error);
    coll_barrier_quiet_coll(course->lab->world);
    return coll_agree_coll(course->lab->world, status, error, &verdict);
}

static void beffio_remove_files(struct beffio_course *course, const struct beffio_partition *partition)
{
    beffio_enter(course, partition);
    if (partition->comm != MPI_COMM_NULL && !course->config->keep)
        beffio_type_remove_all(&course->stage);
}

static void beffio_remove_all_files(struct beffio_course *course)
{
    for (int i = 0; i < course->config->partition_count; i++)
        beffio_remove_files(course, &course->partitions[i]);
}

/* The document's order: a partition is done before the next one begins. Release 2.0's: all partitions write, then all
 * rewrite, then all read. */
static pl_status beffio_methods_coll(struct beffio_course *course, struct pl_error *error)
{
    const int count = course->config->partition_count;
    const bool in_turn = course->config->order == BEFFIO_2_0;
    pl_status status = PL_OK;
    for (int i = 0; i < count * BEFFIO_METHODS && status == PL_OK; i++) {
        const int method = in_turn ? i / count : i % BEFFIO_METHODS, number = in_turn ? i % count : i / BEFFIO_METHODS;
        status = beffio_method_coll(course, &course->partitions[number], (enum beffio_method)method, error);
        if (!in_turn && method == BEFFIO_READ)
            beffio_remove_files(course, &course->partitions[number]);
    }
    if (in_turn || status != PL_OK)
        beffio_remove_all_files(course);
    return status;
}

/* Has an earlier run measured all of this path? */
static bool beffio_path_is_done(const struct beffio_course *course, int path)
{
    const struct beffio_config *config = course->config;
    for (int i = 0; i < config->partition_count; i++)
        for (int method = 0; method < BEFFIO_METHODS; method++)
            for (int type = 0; type < BEFFIO_TYPES_ALL; type++)
                if (beffio_is_wanted(config, (enum beffio_method)method, type) &&
                    !beffio_type_is_done(&course->stage.results, path, config->partitions[i],
                                         (enum beffio_method)method, type))
                    return false;
    return true;
}

static pl_status beffio_path_coll(struct beffio_course *course, int path, struct pl_error *error)
{
    course->stage.path = path;
    if (beffio_path_is_done(course, path)) { /* the earlier run may have been killed before it removed its files */
        beffio_remove_all_files(course);
        return PL_OK;
    }
    pl_status status = beffio_head_coll(course, path, error);
    if (status == PL_OK)
        status = lab_block_end_coll(course->lab, beffio_methods_coll(course, error), error);
    return status;
}

pl_status beffio_run_coll(struct lab_run *run, struct pl_error *error)
{
    struct beffio_config *config = run->job->own;
    struct beffio_course course = {.lab = run, .config = config};
    struct coll_verdict verdict;
    course.stage = (struct beffio_stage){
        .lab = run, .config = config, .node_ranks = environment_node_ranks_coll(run->world)};
    pl_status status = beffio_share_coll(&course, error);
    if (status == PL_OK)
        status = beffio_partitions_coll(&course, error);
    if (status == PL_OK)
        status = coll_agree_coll(run->world, beffio_take_memory(&course, error), error, &verdict);
    const int64_t courses = (int64_t)config->partition_count * config->path_count;
    lab_plan(run, beffio_config_patterns(config) * courses, beffio_config_seconds(config) * (double)courses);
    for (int path = 0; path < config->path_count && status == PL_OK; path++)
        status = beffio_path_coll(&course, path, error);
    for (int i = 0; i < config->partition_count; i++)
        if (course.partitions[i].size && course.partitions[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&course.partitions[i].comm);
    iot_data_clear(&course.stage.data);
    free(course.stage.buffer);
    beffio_results_clear(&course.stage.results);
    return status;
}
