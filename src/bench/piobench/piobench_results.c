/* Block files of earlier runs: what they were asked for, and which trials they hold. */
#include "base/blockfile.h"
#include "base/units.h"
#include "bench/piobench/piobench.h"
#include "measure/conditions.h"

#include <stdlib.h>
#include <string.h>

static bool is_ours(const struct blockfile_block *block)
{
    return strcmp(block->class_name, PIOBENCH_CLASS) == 0 && strcmp(block->testname, PIOBENCH_TEST) == 0;
}

static const struct blockfile_block *last_of(const struct blockfile *file)
{
    const struct blockfile_block *last = NULL;
    for (size_t b = 0; b < file->block_count; b++)
        if (is_ours(&file->blocks[b]))
            last = &file->blocks[b];
    return last;
}

pl_status piobench_results_config(const struct blockfile *file, struct piobench_config *ret_config,
                                  struct pl_error *error)
{
    const struct blockfile_block *last = last_of(file);
    if (!last)
        return pl_fail(error, PL_E_INPUT, "'%s' holds no results of piobench", file->path);
    piobench_config_init(ret_config);
    for (size_t i = 0; i < last->input_count; i++)
        if (piobench_config_set(ret_config, last->inputs[i].key, last->inputs[i].value, error) != PL_OK) {
            piobench_config_clear(ret_config);
            return pl_within(error, "'%s', line %lld and what follows", file->path, (long long)last->line);
        }
    return PL_OK;
}

static bool number_is(const struct blockfile_set *set, const char *key, int64_t wanted)
{
    const char *text = blockfile_param_of(set, key);
    int64_t value;
    return text && units_parse_int(text, 0, INT64_MAX, &value) && value == wanted;
}

static bool text_is(const struct blockfile_set *set, const char *key, const char *wanted)
{
    const char *text = blockfile_param_of(set, key);
    return text && strcmp(text, wanted) == 0;
}

static bool is_of_cell(const struct blockfile_set *set, const struct piobench_cell *cell)
{
    return text_is(set, "op", cell->writes ? "write" : "read") &&
           text_is(set, "distribution", cell->distribution->text) && number_is(set, "ranks", cell->ranks) &&
           number_is(set, "file_asked_bytes", cell->file_asked_bytes) &&
           number_is(set, "block_asked_bytes", cell->block_asked_bytes);
}

static void count_set(const struct blockfile_set *set, const struct piobench_config *config,
                      const struct piobench_matrix *matrix, struct piobench_tally *tallies)
{
    for (int c = 0; c < matrix->count; c++) {
        if (!is_of_cell(set, &matrix->cells[c]))
            continue;
        for (int i = 0; i < config->contestant_count; i++) {
            struct piobench_tally *tally = &tallies[c * config->contestant_count + i];
            if (!text_is(set, "algorithm", config->contestants[i].label) || tally->count == PIOBENCH_TRIALS_MAX)
                continue;
            for (size_t t = 0; t < set->time_count; t++)
                if (strcmp(set->times[t].key, "total_time") == 0)
                    tally->total_ns[tally->count++] = (double)set->times[t].nanoseconds;
        }
    }
}

pl_status piobench_results_count(const struct blockfile *file, const struct piobench_config *config,
                                 const struct piobench_matrix *matrix, const char *mpi, struct piobench_tally *tallies,
                                 struct pl_error *error)
{
    for (size_t b = 0; b < file->block_count; b++) {
        const struct blockfile_block *block = &file->blocks[b];
        if (!is_ours(block) || !conditions_alike(block, last_of(file), PIOBENCH_CONDITIONS))
            continue;
        const char *used = blockfile_fact_of(block, "mpi");
        if (!used)
            return pl_fail(error, PL_E_FORMAT, "'%s', line %lld: the block does not name its MPI", file->path,
                           (long long)block->line);
        for (size_t s = 0; s < block->set_count && strcmp(used, mpi) == 0; s++)
            if (block->sets[s].error_count == 0)
                count_set(&block->sets[s], config, matrix, tallies);
    }
    return PL_OK;
}
