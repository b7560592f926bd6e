#include "bench/iot/iot_suite.h"

#include "base/notes.h"
#include "base/rng.h"
#include "base/units.h"
#include "measure/environment.h"
#include "measure/testfile.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct iot_test *iot_test_of(const struct spec_block *block)
{
    return (const struct iot_test *)((const char *)block->test - offsetof(struct iot_test, spec));
}

int64_t iot_sets_of(const struct spec *spec, const struct spec_block *block, int nprocs)
{
    int64_t sets = 0;
    struct pl_error error;
    const pl_status status = iot_test_of(block)->check(spec, block, nprocs, &sets, &error);
    assert(status == PL_OK); /* the spec was checked when it was loaded */
    (void)status;
    return sets * (int64_t)block->hint_variants;
}

void iot_set_of(const struct spec_block *block, int nprocs, int64_t number, struct iot_set *ret_set)
{
    iot_test_of(block)->describe(block, nprocs, number / (int64_t)block->hint_variants, ret_set);
}

struct iot_totals iot_suite_totals(const struct spec *spec, int nprocs)
{
    struct iot_totals totals = {0};
    for (size_t b = 0; b < spec->block_count; b++) {
        const struct spec_block *block = &spec->blocks[b];
        const int64_t sets = iot_sets_of(spec, block, nprocs);
        for (int64_t i = 0; i < sets; i++) {
            struct iot_set set;
            iot_set_of(block, nprocs, i, &set);
            totals.sets++;
            totals.write_bytes += (double)set.write_bytes;
            totals.read_bytes += (double)set.read_bytes;
            totals.samples += (double)set.samples * (set.memory_bytes > 0 ? nprocs : 1);
            if (set.file_bytes > totals.largest_file_bytes)
                totals.largest_file_bytes = set.file_bytes;
            if (set.memory_bytes + set.memory_alone_bytes > totals.memory_bytes)
                totals.memory_bytes = set.memory_bytes + set.memory_alone_bytes;
        }
    }
    return totals;
}

/* The state of a run through the whole file. */
struct suite {
    MPI_Comm comm;
    int rank, nprocs, node_ranks;
    const struct spec *spec;
    const struct iot_observer *observer;
    struct blockfile_writer *writer; /* rank 0 */
    struct iot_totals totals;
    struct iot_event event;
    double began;
    int64_t failed;
};

/* ---- one set ---- */

static pl_status make_info(const struct spec_block *block, size_t variant, MPI_Info *ret_info, struct pl_error *error)
{
    *ret_info = MPI_INFO_NULL;
    if (MPI_Info_create(ret_info) != MPI_SUCCESS)
        return pl_fail(error, PL_E_MPI, "MPI_Info_create failed");
    MPI_Info_set(*ret_info, "filename", spec_text(block, "filename"));
    for (size_t i = 0; i < block->hint_count; i++) {
        const int code = MPI_Info_set(*ret_info, block->hints[i].key, spec_hint_value(&block->hints[i], variant));
        if (code != MPI_SUCCESS)
            return coll_fail_mpi(error, code, "setting hint '%s'", block->hints[i].key);
    }
    return PL_OK;
}

static void put_param(struct blockfile_writer *writer, const char *key, const char *value)
{
    blockfile_param(writer, key, "%s", value);
}

static pl_status write_set_coll(struct suite *suite, const struct iot_run *run, const struct coll_verdict *verdict,
                                struct pl_error *error)
{
    struct blockfile_writer *writer = suite->writer;
    if (suite->rank == 0) {
        blockfile_set(writer);
        notes_each(&run->params, writer, put_param);
        for (size_t i = 0; i < run->block->hint_count; i++)
            blockfile_hint(writer, "asked", run->block->hints[i].key,
                           spec_hint_value(&run->block->hints[i], run->variant));
        notes_put_hints_used(&run->hints_used, writer);
    }
    samples_write_coll(&run->samples, suite->comm, writer);
    pl_status status = PL_OK;
    if (suite->rank == 0) {
        notes_put_warnings(&run->warnings, writer);
        if (verdict->status != PL_OK)
            blockfile_error(writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
        status = blockfile_end_set(writer, error);
    }
    struct coll_verdict written;
    return coll_agree_coll(suite->comm, status, error, &written);
}

static const struct sample_series *series_of(const struct iot_run *run, const char *key)
{
    for (int i = 0; i < run->samples.series_count; i++)
        if (strcmp(run->samples.series[i].key, key) == 0)
            return &run->samples.series[i];
    return NULL;
}

/* Seconds and bytes of this rank in the series `key`; with a task between start and end of the I/O, of whole cycles. */
static void add_series(const struct iot_run *run, const char *key, double *seconds, double *bytes)
{
    static const char *const parts[] = {"I", "tI", "wI"};
    char name[SAMPLE_NAME_MAX];
    snprintf(name, sizeof name, "%sI", key);
    const struct sample_series *starts = series_of(run, name), *plain = series_of(run, key);
    const struct sample_series *counted = starts ? starts : plain, *lengths = series_of(run, "b");
    if (!counted)
        return;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && starts; i++) {
        snprintf(name, sizeof name, "%s%s", key, parts[i]);
        *seconds += series_of(run, name) ? sample_total(series_of(run, name)) : 0;
    }
    if (!starts)
        *seconds += sample_total(plain);
    const bool have_lengths = lengths && lengths->count == counted->count;
    *bytes += have_lengths ? sample_total(lengths) : (double)counted->count * run->set.mean_bytes;
}

/* Bytes moved over the longest rank's time. Low-level tests have series of operations, kernels the time of one. */
static double rate_coll(struct suite *suite, const struct iot_run *run, const char *series_key, const char *time_key)
{
    double seconds = 0, bytes = 0, longest_s = 0, all_bytes = 0;
    add_series(run, series_key, &seconds, &bytes);
    for (int i = 0; i < run->samples.time_count; i++)
        if (strcmp(run->samples.times[i].key, time_key) == 0) {
            seconds = run->samples.times[i].seconds;
            bytes = suite->rank == 0 ? (double)run->set.file_bytes : 0;
        }
    MPI_Reduce(&seconds, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, suite->comm);
    MPI_Reduce(&bytes, &all_bytes, 1, MPI_DOUBLE, MPI_SUM, 0, suite->comm);
    return units_rate_mb_per_s(all_bytes, longest_s * 1e9);
}

/* Every set has data of its own, so that what another one left is noticed; unless the user fixed the seed, to find the
 * same data in another run. */
static uint64_t seed_of(const struct spec_block *block, uint64_t seed, int64_t number)
{
    return rng_at(seed, spec_find(block, "seed") ? 0 : (uint64_t)number);
}

static pl_status run_set_coll(struct suite *suite, const struct spec_block *block, int64_t number, uint64_t seed,
                              struct pl_error *error)
{
    struct iot_run run = {.spec = suite->spec,
                          .block = block,
                          .test = iot_test_of(block),
                          .comm = suite->comm,
                          .rank = suite->rank,
                          .nprocs = suite->nprocs,
                          .node_ranks = suite->node_ranks,
                          .index = number / (int64_t)block->hint_variants,
                          .variant = (size_t)(number % (int64_t)block->hint_variants),
                          .seed = seed_of(block, seed, number),
                          .filename = spec_text(block, "filename")};
    iot_set_of(block, suite->nprocs, number, &run.set);
    struct iot_event *event = &suite->event;
    struct coll_verdict verdict = {.status = PL_OK, .rank = -1};
    event->block = block;
    event->set = &run.set;
    event->verdict = &verdict;
    event->number++;
    if (suite->rank == 0)
        suite->observer->begin(suite->observer->context, event);

    struct pl_error failure;
    pl_status status = coll_agree_coll(suite->comm, make_info(block, run.variant, &run.info, &failure), &failure,
                                       &verdict);
    if (status == PL_OK)
        status = run.test->run_coll(&run, &failure, &verdict);
    if (run.info != MPI_INFO_NULL)
        MPI_Info_free(&run.info);
    suite->failed += status != PL_OK;
    if (status != PL_OK && suite->rank == 0)
        testfile_drop(iot_local_path(run.filename));

    event->write_mb_per_s = rate_coll(suite, &run, "w", "write");
    event->read_mb_per_s = rate_coll(suite, &run, "r", "read");
    event->bytes_done += (double)(run.set.write_bytes + run.set.read_bytes);
    event->elapsed_s = MPI_Wtime() - suite->began;
    const pl_status written = write_set_coll(suite, &run, &verdict, error);
    if (suite->rank == 0)
        suite->observer->end(suite->observer->context, event);
    event->set = NULL;
    event->verdict = NULL;
    samples_clear(&run.samples);
    text_clear(&run.params);
    text_clear(&run.hints_used);
    text_clear(&run.warnings);
    return written;
}

/* ---- one block ---- */

static uint64_t choose_seed_coll(struct suite *suite, const struct spec_block *block)
{
    const struct spec_value *given = spec_find(block, "seed");
    uint64_t seed = given ? (uint64_t)given->numbers[0] : rng_seed_from_system() >> 11; /* exact as a number */
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, suite->comm);
    return seed;
}

static pl_status run_block_coll(struct suite *suite, const struct spec_block *block, struct pl_error *error)
{
    const uint64_t seed = choose_seed_coll(suite, block);
    if (suite->rank == 0) {
        blockfile_begin(suite->writer, block->test->class_name, block->test->name);
        for (size_t i = 0; i < block->line_count; i++)
            blockfile_input(suite->writer, block->lines[i].key, block->lines[i].value);
        blockfile_fact(suite->writer, "seed", "%" PRIu64, seed);
    }
    environment_facts_coll(suite->comm, spec_text(block, "filename"), suite->writer);
    struct coll_verdict verdict;
    pl_status status = suite->rank == 0 ? blockfile_end_head(suite->writer, error) : PL_OK;
    status = coll_agree_coll(suite->comm, status, error, &verdict);
    const int64_t sets = iot_sets_of(suite->spec, block, suite->nprocs);
    for (int64_t i = 0; i < sets && status == PL_OK; i++)
        status = run_set_coll(suite, block, i, seed, error);
    if (status != PL_OK)
        return status;
    if (suite->rank == 0)
        status = blockfile_end(suite->writer, error);
    return coll_agree_coll(suite->comm, status, error, &verdict);
}

/* ---- the file ---- */

static pl_status check_clock(struct pl_error *error)
{
    struct environment_clock clock;
    environment_clock(&clock);
    return environment_clock_check(&clock, error);
}

pl_status iot_suite_run_coll(MPI_Comm comm, const struct spec *spec, const struct iot_observer *observer,
                             int64_t *ret_failed, struct pl_error *error)
{
    struct suite suite = {.comm = comm, .spec = spec, .observer = observer, .began = MPI_Wtime()};
    MPI_Comm_rank(comm, &suite.rank);
    MPI_Comm_size(comm, &suite.nprocs);
    suite.node_ranks = environment_node_ranks_coll(comm);
    suite.totals = iot_suite_totals(spec, suite.nprocs);
    suite.event.sets = suite.totals.sets;
    suite.event.bytes_total = suite.totals.write_bytes + suite.totals.read_bytes;
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of its test, not the end of the run */

    struct coll_verdict verdict;
    pl_status status = check_clock(error);
    if (status == PL_OK && suite.rank == 0)
        status = blockfile_writer_open(spec->timings_path, &suite.writer, error);
    status = coll_agree_coll(comm, status, error, &verdict);
    for (size_t b = 0; b < spec->block_count && status == PL_OK; b++)
        status = run_block_coll(&suite, &spec->blocks[b], error);
    testfile_end(); /* of rank 0: no rank has it open */
    struct pl_error close_error;
    const pl_status closed = blockfile_writer_close(suite.writer, &close_error);
    if (status == PL_OK && closed != PL_OK)
        *error = close_error;
    *ret_failed = suite.failed;
    return coll_agree_coll(comm, status != PL_OK ? status : closed, error, &verdict);
}
