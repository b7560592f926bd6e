/* Block files of earlier runs: what they were asked for, and which repetitions they hold. */
#include "base/blockfile.h"
#include "base/units.h"
#include "bench/gpfs/gpfs_run.h"
#include "measure/conditions.h"

#include <string.h>

static bool is_ours(const struct blockfile_block *block)
{
    return strcmp(block->class_name, GPFS_CLASS) == 0 && gpfs_benchmark_find(block->testname);
}

static const struct blockfile_block *last_of(const struct blockfile *file)
{
    const struct blockfile_block *last = NULL;
    for (size_t b = 0; b < file->block_count; b++)
        if (is_ours(&file->blocks[b]))
            last = &file->blocks[b];
    return last;
}

pl_status gpfs_results_config(const struct blockfile *file, struct gpfs_config *ret_config, struct pl_error *error)
{
    const struct blockfile_block *last = last_of(file);
    if (!last)
        return pl_fail(error, PL_E_INPUT, "'%s' holds no results of gpfs", file->path);
    gpfs_config_init(ret_config, gpfs_benchmark_find(last->testname));
    for (size_t i = 0; i < last->input_count; i++)
        if (gpfs_config_set(ret_config, last->inputs[i].key, last->inputs[i].value, error) != PL_OK) {
            gpfs_config_clear(ret_config);
            return pl_within(error, "'%s', line %lld and what follows", file->path, (long long)last->line);
        }
    return PL_OK;
}

bool gpfs_results_cell(const struct gpfs_benchmark *benchmark, const struct blockfile_set *set,
                       struct gpfs_cell *ret_cell)
{
    struct gpfs_cell cell = {.benchmark = benchmark};
    for (int key = 0; key < GPFS_KEYS; key++) {
        const char *text = blockfile_param_of(set, GPFS_KEY_ROWS[key].param);
        if (benchmark->defaults[key] && (!text || !gpfs_key_parse((enum gpfs_key)key, text, &cell.value[key])))
            return false;
    }
    const char *moved = blockfile_param_of(set, "moved_bytes");
    if (!moved || !units_parse_int(moved, 1, INT64_MAX, &cell.moved_bytes))
        return false;
    cell.ranks = (int)cell.value[GPFS_RANKS];
    cell.writes = cell.value[GPFS_OP] == GPFS_WRITE;
    *ret_cell = cell;
    return true;
}

static void count_set(const struct blockfile_set *set, const struct gpfs_config *config, const struct gpfs_cell *cell,
                      struct gpfs_tally *tallies)
{
    const char *name = blockfile_param_of(set, "contestant");
    struct gpfs_cell of;
    if (!name || set->error_count || !gpfs_results_cell(config->benchmark, set, &of) ||
        memcmp(of.value, cell->value, sizeof of.value) != 0)
        return;
    for (int i = 0; i < config->contestant_count; i++) {
        struct gpfs_tally *tally = &tallies[i];
        if (strcmp(config->contestants[i].name, name) != 0)
            continue;
        for (size_t t = 0; t < set->time_count && tally->count < GPFS_REPS_MAX; t++)
            if (strcmp(set->times[t].key, "total_time") == 0)
                tally->rates[tally->count++] = units_rate_mb_per_s((double)of.moved_bytes,
                                                                   (double)set->times[t].nanoseconds);
    }
}

void gpfs_results_count(const struct blockfile *file, const struct gpfs_config *config, const struct gpfs_cell *cell,
                        struct gpfs_tally *tallies)
{
    for (size_t b = 0; b < file->block_count; b++) {
        const struct blockfile_block *block = &file->blocks[b];
        const char *mpi = blockfile_fact_of(block, "mpi");
        const bool matches = is_ours(block) && strcmp(block->testname, config->benchmark->name) == 0 && mpi &&
                             strcmp(mpi, PIOLET_MPI_NAME) == 0 &&
                             conditions_alike(block, last_of(file), GPFS_CONDITIONS);
        for (size_t s = 0; s < block->set_count && matches; s++)
            count_set(&block->sets[s], config, cell, tallies);
    }
}
