/* A job before it runs: completed, resumed, shared among the ranks. */
#include "base/rng.h"
#include "bench/beffio/beffio_run.h"
#include "bench/beffio/beffio_schedule.h"
#include "measure/environment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void beffio_job_clear(struct beffio_job *job)
{
    beffio_config_clear(&job->config);
    beffio_results_clear(&job->done);
}

bool beffio_is_wanted(const struct beffio_config *config, enum beffio_method method, int type)
{
    if (type == BEFFIO_RANDOM)
        return config->random;
    return method != BEFFIO_REWRITE || !config->order_2_0 || type == 0;
}

int beffio_job_patterns(const struct beffio_config *config)
{
    int count = 0;
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++)
            count += beffio_is_wanted(config, (enum beffio_method)method, BEFFIO_TABLE[p].type);
    return count;
}

double beffio_job_seconds(const struct beffio_config *config)
{
    double sum = 0;
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++)
            if (beffio_is_wanted(config, (enum beffio_method)method, BEFFIO_TABLE[p].type))
                sum += beffio_pattern_s(p, config->time_s);
    return sum;
}

/* ---- resuming ---- */

static const struct blockfile_block *last_block(const struct blockfile *file)
{
    for (size_t b = file->block_count; b-- > 0;)
        if (strcmp(file->blocks[b].class_name, BEFFIO_CLASS) == 0)
            return &file->blocks[b];
    return NULL;
}

/* Nothing is left of a run whose last path has all its patterns. */
static bool is_finished(const struct beffio_job *job, const struct blockfile_block *block)
{
    const char *number = blockfile_fact_of(block, "path_number");
    return block->complete && number && atoi(number) == job->config.path_count;
}

static pl_status take_block(struct beffio_job *job, const struct blockfile *file, const char *path,
                            struct pl_error *error)
{
    const struct blockfile_block *block = last_block(file);
    const char *run = block ? blockfile_fact_of(block, "run") : NULL;
    if (!run)
        return pl_fail(error, PL_E_INPUT, "'%s' holds no run of b_eff_io to resume", path);
    if (beffio_config_resume(&job->config, block, error) != PL_OK)
        return pl_within(error, "%s", path);
    if (is_finished(job, block))
        return pl_fail(error, PL_E_INPUT, "the last run of b_eff_io in '%s' is complete: nothing to resume", path);
    snprintf(job->run, sizeof job->run, "%s", run);
    snprintf(job->resumes, sizeof job->resumes, "%s", block->id);
    if (!beffio_results_load(&job->done, file, run))
        return pl_fail_errno(error, ENOMEM, "reading '%s'", path);
    return PL_OK;
}

pl_status beffio_job_resume(struct beffio_job *job, const char *path, struct pl_error *error)
{
    struct blockfile file;
    pl_status status = blockfile_open(path, &file, error);
    if (status != PL_OK)
        return status;
    status = take_block(job, &file, path, error);
    blockfile_close(&file);
    return status;
}

/* ---- completing ---- */

pl_status beffio_job_complete(struct beffio_job *job, int ranks, struct pl_error *error)
{
    struct beffio_config *config = &job->config;
    if (config->ranks && config->ranks != ranks)
        return pl_fail(error, PL_E_INPUT, "ranks: %d, but the run to resume has %d; allowed: the same", ranks,
                       config->ranks);
    config->ranks = ranks;
    if (config->partition_count == 0) {
        config->partitions[0] = ranks;
        config->partition_count = 1;
    }
    if (config->path_count == 0) {
        bool given[BEFFIO_SETTINGS];
        memcpy(given, config->given, sizeof given);
        if (beffio_config_set(config, "path", ".", error) != PL_OK)
            return error->status;
        memcpy(config->given, given, sizeof given); /* by default, not by the user */
    }
    if (config->node_memory_bytes == 0) { /* rounded, so that M_PART is a whole number of MB */
        const int64_t step = INT64_C(128) << 20;
        config->node_memory_bytes = environment_memory_bytes() / step * step;
    }
    if (config->seed < 0)
        config->seed = (int64_t)(rng_seed_from_system() >> 11);
    if (!job->run[0])
        snprintf(job->run, sizeof job->run, "%08" PRIx32, (uint32_t)rng_seed_from_system());
    return beffio_config_check(config, error);
}

/* ---- sharing ---- */

/* Name, blank, escaped text: a line for each setting. */
static void put_settings(const struct beffio_config *config, struct text *out)
{
    for (int i = 0; i < BEFFIO_SETTINGS; i++) {
        struct text value = {0};
        beffio_setting_text(config, i, &value);
        text_format(out, "%s ", beffio_setting_name(i));
        text_add_escaped(out, text_get(&value));
        text_add(out, "\n");
        text_clear(&value);
    }
}

static pl_status take_settings(struct beffio_config *config, char *lines, struct pl_error *error)
{
    char *rest = lines, *line;
    while ((line = strsep(&rest, "\n")) != NULL && *line) {
        char *value = strchr(line, ' ');
        *value++ = '\0';
        text_unescape(value);
        if (beffio_config_set(config, line, value, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

/* Bytes of rank 0, to all; the caller frees. NULL: no memory. */
static void *share_bytes_coll(MPI_Comm world, const void *data, int64_t *bytes)
{
    int rank;
    MPI_Comm_rank(world, &rank);
    MPI_Bcast(bytes, 1, MPI_INT64_T, 0, world);
    char *copy = calloc((size_t)*bytes + 1, 1);
    int failed = copy == NULL, anybody = 0;
    MPI_Allreduce(&failed, &anybody, 1, MPI_INT, MPI_MAX, world);
    if (anybody || !copy) {
        free(copy);
        return NULL;
    }
    if (rank == 0)
        memcpy(copy, data, (size_t)*bytes);
    MPI_Bcast(copy, (int)*bytes, MPI_BYTE, 0, world); /* settings, or some hundred results: small */
    return copy;
}

pl_status beffio_job_share_coll(struct beffio_job *job, MPI_Comm world, struct pl_error *error)
{
    int rank;
    MPI_Comm_rank(world, &rank);
    struct text lines = {0};
    if (rank == 0)
        put_settings(&job->config, &lines);
    int64_t bytes = (int64_t)lines.length, result_bytes = (int64_t)(job->done.count * sizeof *job->done.list);
    char *settings = share_bytes_coll(world, text_get(&lines), &bytes);
    struct beffio_result *results = share_bytes_coll(world, job->done.count ? (void *)job->done.list : (void *)"",
                                                     &result_bytes);
    MPI_Bcast(job->run, sizeof job->run, MPI_CHAR, 0, world);
    pl_status status = PL_OK;
    if (!settings || !results)
        status = pl_fail_errno(error, ENOMEM, "sharing the settings");
    else if (rank != 0) {
        beffio_job_clear(job);
        beffio_config_init(&job->config);
        status = take_settings(&job->config, settings, error);
        job->done = (struct beffio_results){results, (size_t)result_bytes / sizeof *results};
        results = NULL;
    }
    free(settings);
    free(results);
    text_clear(&lines);
    struct coll_verdict verdict;
    return coll_agree_coll(world, status, error, &verdict);
}
