/* The run: every block of the keyword file, every parameter set, results into one block file. */
#include "bench/iot/iot_bench.h"

#include "base/memory.h"
#include "base/notes.h"
#include "base/rng.h"
#include "base/units.h"
#include "lab/facts/environment.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct iot_suite {
    struct lab_run *lab;
    const struct iot_spec *spec;
    int node_ranks;
    bool told;   /* the heading of the rows stands there */
    bool cycles; /* some row has rates of cycles */
};

/* ---- what is told of a set ---- */

static const char *iot_access_of(const struct iot_block *block)
{
    const struct option_value *collective = iot_spec_find(block, "collective");
    if (!collective)
        return block->test->access;
    return strcmp(collective->text, "true") == 0 ? "collective" : "independent";
}

static const struct sample_series *iot_series_of(const struct iot_run *run, const char *key)
{
    for (int i = 0; key && i < run->samples.series_count; i++)
        if (strcmp(run->samples.series[i].key, key) == 0)
            return &run->samples.series[i];
    return NULL;
}

static double iot_time_of(const struct iot_run *run, const char *key)
{
    for (int i = 0; key && i < run->samples.time_count; i++)
        if (strcmp(run->samples.times[i].key, key) == 0)
            return run->samples.times[i].seconds;
    return 0;
}

double iot_rate_coll(const struct iot_run *run, enum iot_rate rate)
{
    const struct iot_rate_rule *rule = &IOT_RATE_RULES[rate];
    const struct sample_series *moving = iot_series_of(run, rule->series[0]), *lengths = iot_series_of(run, "b");
    double mine[2] = {0, 0}, longest_s = 0, bytes = 0; /* seconds, bytes */
    const char *const keys[] = {rule->series[0], rule->series[1], rule->series[2], moving ? NULL : rule->time,
                                rule->added};
    const double busy_s = samples_busy_coll(&run->samples, run->comm, keys, sizeof keys / sizeof keys[0]);
    if (moving) {
        for (size_t i = 0; i < sizeof rule->series / sizeof rule->series[0] && rule->series[i]; i++) {
            const struct sample_series *series = iot_series_of(run, rule->series[i]);
            mine[0] += series ? sample_total(series) : 0;
        }
        mine[0] += moving->count ? iot_time_of(run, rule->added) : 0;
        mine[1] = lengths && lengths->count == moving->count ? sample_total(lengths)
                                                             : (double)moving->count * run->set.mean_bytes;
    } else if (iot_time_of(run, rule->time) > 0) {
        mine[0] = iot_time_of(run, rule->time);
        mine[1] = run->rank == 0 ? (double)run->set.file_bytes : 0;
    }
    MPI_Reduce(&mine[0], &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, run->comm);
    MPI_Reduce(&mine[1], &bytes, 1, MPI_DOUBLE, MPI_SUM, 0, run->comm);
    return bytes > 0 ? units_rate_mb_per_s(bytes, (busy_s > 0 ? busy_s : longest_s) * 1e9) : 0;
}

/* A row as soon as it is known. An interleaved test's rates are those of whole cycles. */
static void iot_tell_coll(struct iot_suite *suite, const struct iot_run *run, const struct coll_verdict *verdict)
{
    double rates[2];
    char cells[2][24];
    for (int i = 0; i < 2; i++) {
        static const enum iot_rate plain[] = {IOT_WRITE, IOT_READ}, cycle[] = {IOT_WRITE_CYCLE, IOT_READ_CYCLE};
        const bool cycles = iot_series_of(run, IOT_RATE_RULES[cycle[i]].series[0]) != NULL;
        suite->cycles = suite->cycles || cycles;
        rates[i] = iot_rate_coll(run, cycles ? cycle[i] : plain[i]);
        if (rates[i] > 0)
            snprintf(cells[i], sizeof cells[i], "%.1f", rates[i]);
        else
            snprintf(cells[i], sizeof cells[i], "-");
    }
    if (!suite->told)
        lab_tell(suite->lab, "%-12s %-11s %-31s %10s %10s\n", "test", "access", "sizes", "write MB/s", "read MB/s");
    suite->told = true;
    if (verdict->status == PL_OK)
        lab_tell(suite->lab, "%-12s %-11s %-31s %10s %10s\n", run->test->name, iot_access_of(run->block),
                 run->set.label, cells[0], cells[1]);
    else
        lab_tell(suite->lab, "%-12s %-11s %-31s failed\n", run->test->name, iot_access_of(run->block), run->set.label);
}

/* ---- one set ---- */

static void iot_hints_of(const struct iot_block *block, size_t variant, struct lab_hints *ret_hints)
{
    *ret_hints = (struct lab_hints){.list = memory_new(block->hint_count + 1, sizeof *ret_hints->list)};
    for (size_t i = 0; i < block->hint_count; i++)
        ret_hints->list[ret_hints->count++] = (struct lab_hint){
            memory_copy(block->hints[i].key), memory_copy(iot_spec_hint_value(&block->hints[i], variant))};
}

/* All tests give the file's name as a hint, too. */
static pl_status iot_make_info(const struct lab_hints *hints, const char *filename, MPI_Info *ret_info,
                               struct pl_error *error)
{
    if (lab_hints_info(hints, ret_info, error) != PL_OK)
        return error->status;
    if (*ret_info == MPI_INFO_NULL && MPI_Info_create(ret_info) != MPI_SUCCESS)
        return pl_fail(error, PL_E_MPI, "MPI_Info_create failed");
    MPI_Info_set(*ret_info, "filename", filename);
    return PL_OK;
}

/* Every set has data of its own, so that what another one left is noticed; unless the user fixed the seed, to find the
 * same data in another run. */
static uint64_t iot_seed_of(const struct iot_block *block, uint64_t seed, int64_t number)
{
    return rng_at(seed, iot_spec_find(block, "seed") ? 0 : (uint64_t)number);
}

static pl_status iot_set_run_coll(struct iot_suite *suite, const struct iot_block *block, int64_t number, uint64_t seed,
                                  struct pl_error *error)
{
    struct lab_run *lab = suite->lab;
    struct iot_run run = {.spec = suite->spec,
                          .block = block,
                          .test = block->test,
                          .comm = lab->world,
                          .rank = lab->rank,
                          .nprocs = lab->size,
                          .node_ranks = suite->node_ranks,
                          .index = number / (int64_t)block->hint_variants,
                          .variant = (size_t)(number % (int64_t)block->hint_variants),
                          .seed = iot_seed_of(block, seed, number),
                          .filename = iot_spec_text(block, "filename"),
                          .info = MPI_INFO_NULL};
    struct lab_set set = {.verdict = {.status = PL_OK, .rank = -1}};
    struct lab_hints hints;
    struct pl_error failure;
    iot_set_of(block, lab->size, number, &run.set);
    iot_hints_of(block, run.variant, &hints);
    snprintf(set.label, sizeof set.label, "%.100s:%d: %s, %s", suite->spec->path, block->line, block->test->name,
             run.set.label);
    lab_step(lab, (double)(run.set.write_bytes + run.set.read_bytes), "%s: %s", block->test->name, run.set.label);
    pl_status status = coll_agree_coll(lab->world, iot_make_info(&hints, run.filename, &run.info, &failure), &failure,
                                       &set.verdict);
    if (status == PL_OK)
        status = run.test->run_coll(&run, &failure, &set.verdict);
    assert((status == PL_OK) == (set.verdict.status == PL_OK));
    if (run.info != MPI_INFO_NULL)
        MPI_Info_free(&run.info);
    if (status != PL_OK && lab->rank == 0)
        testfile_drop(iot_local_path(run.filename));
    lab_set_clock_coll(lab, lab->world, &run.samples);
    iot_tell_coll(suite, &run, &set.verdict);
    set.asked = &hints;
    set.params = run.params;
    set.hints_used = run.hints_used;
    set.warnings = run.warnings;
    set.samples = run.samples;
    const pl_status written = lab_set_write_coll(lab, lab->world, &set, error);
    lab_set_clear(&set);
    lab_hints_clear(&hints);
    return written;
}

/* ---- what is resumed ---- */

static bool iot_same_inputs(const struct iot_block *block, const struct blockfile_block *earlier)
{
    if (block->line_count != earlier->input_count)
        return false;
    for (size_t i = 0; i < block->line_count; i++)
        if (strcmp(block->lines[i].key, earlier->inputs[i].key) != 0 ||
            strcmp(block->lines[i].value, earlier->inputs[i].value) != 0)
            return false;
    return true;
}

static bool iot_same_block(const struct iot_block *block, const struct blockfile_block *earlier, int ranks)
{
    const char *mpi = blockfile_fact_of(earlier, "mpi"), *nprocs = blockfile_fact_of(earlier, "nprocs");
    int64_t there;
    return strcmp(block->class_name, earlier->class_name) == 0 && strcmp(block->test->name, earlier->testname) == 0 &&
           nprocs && units_parse_int(nprocs, 1, INT64_MAX, &there) && there == ranks &&
           (!mpi || strcmp(mpi, PIOLET_MPI_NAME) == 0) && iot_same_inputs(block, earlier);
}

/* The fact `sets` of a block that a resumed run made: which of all its sets it has, "3,4,9". Without it: all, in order.
 * The number of set `position` (from 0) among all; -1: none. */
static int64_t iot_number_of(const struct blockfile_block *earlier, int64_t position)
{
    const char *list = blockfile_fact_of(earlier, "sets");
    if (!list)
        return position;
    for (; *list && position > 0; position--)
        list += strcspn(list, ",") + (list[strcspn(list, ",")] == ',');
    const int64_t number = strtoll(list, NULL, 10);
    return *list && number > 0 ? number - 1 : -1;
}

/* Marks the sets that the results hold without error. Where the keyword file has this very block several times, each
 * needs a measurement of its own: `before` of them come first. */
static void iot_mark_measured(const struct blockfile *earlier, const struct iot_block *block, int ranks, int before,
                              unsigned char *measured, int64_t sets)
{
    int *counts = memory_new((size_t)sets + 1, sizeof *counts);
    for (size_t b = 0; b < earlier->block_count; b++) {
        const struct blockfile_block *there = &earlier->blocks[b];
        for (size_t s = 0; iot_same_block(block, there, ranks) && s < there->set_count; s++) {
            const int64_t number = iot_number_of(there, there->sets[s].number - 1);
            if (number >= 0 && number < sets && there->sets[s].error_count == 0)
                counts[number]++;
        }
    }
    for (int64_t i = 0; i < sets; i++)
        measured[i] = counts[i] > before;
    free(counts);
}

static bool iot_equal_blocks(const struct iot_block *a, const struct iot_block *b)
{
    bool same = a->test == b->test && a->line_count == b->line_count;
    for (size_t i = 0; same && i < a->line_count; i++)
        same = strcmp(a->lines[i].key, b->lines[i].key) == 0 && strcmp(a->lines[i].value, b->lines[i].value) == 0;
    return same;
}

/* A block that was measured on another number of ranks, or by another MPI, is no part of this run: that is said. */
static void iot_tell_others(const struct iot_suite *suite, const struct blockfile *earlier,
                            const struct iot_block *block)
{
    const struct blockfile_block *other = NULL;
    for (size_t b = 0; b < earlier->block_count; b++) {
        const struct blockfile_block *there = &earlier->blocks[b];
        if (iot_same_block(block, there, suite->lab->size))
            return;
        if (strcmp(block->test->name, there->testname) == 0 && iot_same_inputs(block, there))
            other = there;
    }
    const char *ranks = other ? blockfile_fact_of(other, "nprocs") : NULL,
               *mpi = other ? blockfile_fact_of(other, "mpi") : NULL;
    if (other)
        lab_warn(suite->lab, "--resume: '%s' has %s on %s ranks of %s; here, on %d of %s, all of it is measured anew",
                 earlier->path, block->test->name, ranks ? ranks : "other", mpi ? mpi : PIOLET_MPI_NAME,
                 suite->lab->size, PIOLET_MPI_NAME);
}

/* Which sets need not be run; the caller frees. Every rank has the same. */
static unsigned char *iot_measured_coll(const struct iot_suite *suite, const struct iot_block *block, int64_t sets)
{
    const struct blockfile *earlier = lab_earlier(suite->lab);
    unsigned char *measured = memory_new((size_t)sets + 1, 1);
    int before = 0;
    for (const struct iot_block *other = suite->spec->blocks; other < block; other++)
        before += iot_equal_blocks(other, block);
    if (earlier) {
        iot_tell_others(suite, earlier, block);
        iot_mark_measured(earlier, block, suite->lab->size, before, measured, sets);
    }
    if (suite->lab->job->common.resume)
        MPI_Bcast(measured, (int)sets, MPI_BYTE, 0, suite->lab->world);
    return measured;
}

/* ---- one block ---- */

static uint64_t iot_choose_seed_coll(const struct iot_suite *suite, const struct iot_block *block)
{
    const struct option_value *given = iot_spec_find(block, "seed");
    uint64_t seed = given ? (uint64_t)given->integers[0] : rng_seed_from_system() >> 11; /* exact as a number */
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, suite->lab->world);
    return seed;
}

/* Which sets the block will hold, where it does not hold all of them. */
static void iot_put_numbers(struct blockfile_writer *writer, const unsigned char *measured, int64_t sets)
{
    struct text list = {0};
    bool all = true;
    for (int64_t i = 0; i < sets; i++) {
        all = all && !measured[i];
        if (!measured[i])
            text_format(&list, "%s%" PRId64, list.length ? "," : "", i + 1);
    }
    if (!all)
        blockfile_fact(writer, "sets", "%s", text_get(&list));
    text_clear(&list);
}

static void iot_block_begin(const struct iot_suite *suite, const struct iot_block *block, uint64_t seed,
                            const unsigned char *measured, int64_t sets)
{
    struct blockfile_writer *writer = suite->lab->writer;
    lab_block_begin(suite->lab, block->class_name, block->test->name);
    for (size_t i = 0; writer && i < block->line_count; i++)
        blockfile_input(writer, block->lines[i].key, block->lines[i].value);
    if (!writer)
        return;
    blockfile_fact(writer, "seed", "%" PRIu64, seed);
    iot_put_numbers(writer, measured, sets);
}

static pl_status iot_block_run_coll(struct iot_suite *suite, const struct iot_block *block, struct pl_error *error)
{
    const int64_t sets = iot_sets_of(suite->spec, block, suite->lab->size);
    const uint64_t seed = iot_choose_seed_coll(suite, block);
    unsigned char *measured = iot_measured_coll(suite, block, sets);
    int64_t left = 0;
    pl_status status = PL_OK;
    for (int64_t i = 0; i < sets; i++)
        left += !measured[i];
    if (left > 0) {
        iot_block_begin(suite, block, seed, measured, sets);
        status = lab_block_head_coll(suite->lab, iot_spec_text(block, "filename"), error);
    }
    for (int64_t i = 0; i < sets && status == PL_OK; i++) {
        struct iot_set set;
        iot_set_of(block, suite->lab->size, i, &set);
        if (measured[i])
            lab_skip(suite->lab, (double)(set.write_bytes + set.read_bytes));
        else
            status = iot_set_run_coll(suite, block, i, seed, error);
    }
    free(measured);
    return left > 0 ? lab_block_end_coll(suite->lab, status, error) : status;
}

pl_status iot_run_coll(struct lab_run *lab, struct pl_error *error)
{
    const struct iot_options *options = lab->job->own;
    struct iot_suite suite = {
        .lab = lab, .spec = &options->spec, .node_ranks = environment_node_ranks_coll(lab->world)};
    const struct iot_totals totals = iot_totals_of(suite.spec, lab->size);
    pl_status status = PL_OK;
    assert(suite.spec->block_count > 0 && suite.node_ranks > 0);
    lab_plan(lab, totals.sets, totals.write_bytes + totals.read_bytes);
    for (size_t b = 0; b < suite.spec->block_count && status == PL_OK; b++)
        status = iot_block_run_coll(&suite, &suite.spec->blocks[b], error);
    if (suite.cycles)
        lab_tell(lab, "Rates of singleI and multipleI are those of whole cycles, with the task inside of them.\n");
    return status;
}
