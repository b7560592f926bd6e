/* The course of a low-level run around its timed loops. */
#include "bench/iot/iot_lowlevel.h"

#include "bench/iot/iot_course.h"
#include "bench/iot/iot_file.h"

#include "base/rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- inside the loops ---- */

struct lowlevel_block lowlevel_block(const struct lowlevel *low, int64_t j, uint64_t salt)
{
    if (j >= low->count)
        return (struct lowlevel_block){0};
    const struct iot_extent extent = iot_layout_block(&low->layout, low->shared ? low->run->rank : 0, j);
    return (struct lowlevel_block){.offset_bytes = extent.offset,
                                   .offset = extent.offset / 8,
                                   .count = (int)(extent.length / 8),
                                   .data = iot_data_block(&low->data, extent.offset, salt)};
}

pl_status lowlevel_moved(const struct lowlevel *low, const struct lowlevel_block *block, int64_t j, const char *doing,
                         int mpi_code, MPI_Status *moved, struct pl_error *error)
{
    int count = 0;
    if (mpi_code == MPI_SUCCESS && block->count > 0)
        MPI_Get_count(moved, MPI_DOUBLE, &count);
    if (mpi_code == MPI_SUCCESS && count == block->count)
        return PL_OK;
    if (mpi_code != MPI_SUCCESS)
        coll_fail_mpi(error, mpi_code, "%s block %lld at byte %lld of '%s'", doing, (long long)j,
                      (long long)block->offset_bytes, low->run->filename);
    else
        pl_fail(error, PL_E_SYSTEM, "%s block %lld at byte %lld of '%s': only %d of %d numbers moved", doing,
                (long long)j, (long long)block->offset_bytes, low->run->filename, count == MPI_UNDEFINED ? 0 : count,
                block->count);
    return iot_file_note_full_disk(low->run, doing, error);
}

pl_status lowlevel_verify(const struct lowlevel *low, const struct lowlevel_block *block, int64_t j,
                          struct pl_error *error)
{
    const int64_t wrong = iot_data_check(low->check, block->data, low->buffer, block->count,
                                         rng_at(low->run->seed, (uint64_t)j));
    if (wrong < 0)
        return PL_OK;
    return pl_fail(error, PL_E_DATA,
                   "checking block %lld at byte %lld of '%s': number %lld (byte %lld of the file) is %.17g, "
                   "but %.17g was written",
                   (long long)j, (long long)block->offset_bytes, low->run->filename, (long long)wrong,
                   (long long)(block->offset_bytes + wrong * 8), low->buffer[wrong], block->data[wrong]);
}

/* ---- steps on an MPI file ---- */

pl_status lowlevel_mpi_open_coll(struct lowlevel *low, struct pl_error *error)
{
    const pl_status status = iot_file_open_coll(low->run, low->comm, &low->file, error);
    if (status != PL_OK)
        return status;
    const int code = MPI_File_set_view(low->file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", low->run->info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting the view of '%s'", low->run->filename);
}

pl_status lowlevel_mpi_preallocate_coll(struct lowlevel *low, struct pl_error *error)
{
    return iot_file_preallocate_coll(low->run, low->file, error);
}

pl_status lowlevel_mpi_sync_coll(struct lowlevel *low, struct pl_error *error)
{
    return iot_file_sync_coll(low->run, low->file, error);
}

pl_status lowlevel_mpi_close_coll(struct lowlevel *low, struct pl_error *error)
{
    return iot_file_close_coll(low->run, &low->file, error);
}

/* ---- the course ---- */

static pl_status add_series(struct lowlevel *low, bool refused, struct pl_error *error)
{
    struct samples *samples = &low->run->samples;
    const bool interleaved = low->steps->compute != NULL;
    const int64_t n = refused ? 0 : low->count, few = low->cycles < n ? low->cycles : n;
    const struct {
        const char *key;
        const char *unit;
        int64_t capacity;
        struct sample_series **place;
        bool wanted;
    } rows[] = {
        {"t", "ns", !refused && (n || low->collective) ? low->cycles : 0, &low->t, interleaved},
        {"w", "ns", interleaved ? few : n, &low->w, true},
        {"r", "ns", interleaved ? few : n, &low->r, true},
        {"wI", "ns", n, &low->wI, interleaved},
        {"wtI", "ns", n, &low->wtI, interleaved},
        {"wwI", "ns", n, &low->wwI, interleaved},
        {"rI", "ns", n, &low->rI, interleaved},
        {"rtI", "ns", n, &low->rtI, interleaved},
        {"rwI", "ns", n, &low->rwI, interleaved},
        {"b", "B", n, &low->b, low->layout.fuzzy > 0},
    };
    pl_status status = PL_OK; /* goes on after a failure: the results need the same list everywhere */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].wanted &&
            samples_add(samples, rows[i].key, rows[i].unit, rows[i].capacity, rows[i].place, error) != PL_OK)
            status = error->status;
    return status;
}

static void fill_lengths(struct lowlevel *low)
{
    if (!low->b)
        return;
    for (int64_t j = 0; j < low->b->capacity; j++)
        low->b->values[j] = (double)iot_layout_block(&low->layout, low->shared ? low->run->rank : 0, j).length;
    low->b->count = low->b->capacity;
}

/* On idle ranks too: the results need the same list of series everywhere. */
static pl_status take_memory(void *test, struct pl_error *error)
{
    struct lowlevel *low = test;
    const int64_t longest = iot_layout_longest(&low->layout);
    const pl_status memory = iot_check_memory(low->run, error);
    struct pl_error series_error = {PL_OK, ""};
    pl_status status = add_series(low, memory != PL_OK, &series_error);
    if (memory == PL_OK && status != PL_OK)
        *error = series_error;
    if (memory != PL_OK)
        status = memory;
    if (status != PL_OK || (low->run->rank != 0 && !low->shared))
        return status;
    fill_lengths(low);
    status = iot_data_init(&low->data, longest, low->run->seed, error);
    if (status != PL_OK)
        return status;
    low->buffer = aligned_alloc(4096, (size_t)((longest + 4095) / 4096 * 4096));
    if (!low->buffer)
        return pl_fail_errno(error, ENOMEM, "taking %lld bytes for reading", (long long)longest);
    memset(low->buffer, 0, (size_t)longest);
    if (low->steps->compute) {
        const struct spec_value *task = spec_find(low->run->block, "tasklength");
        status = iot_task_init(&low->task, (int)task->numbers[0], task->count > 1 ? (int)task->numbers[1] : 1, error);
    }
    return status;
}

static pl_status clear_file(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct lowlevel *)test)->run, error);
}

/* The test's own steps, by their place in its struct lowlevel_steps. */
#define OWN_STEP(name)                                                                                                 \
    static pl_status do_##name(void *test, struct pl_error *error)                                                     \
    {                                                                                                                  \
        struct lowlevel *low = test;                                                                                   \
        return low->steps->name(low, error);                                                                           \
    }
OWN_STEP(open)
OWN_STEP(preallocate)
OWN_STEP(compute)
OWN_STEP(write)
OWN_STEP(sync)
OWN_STEP(read)
OWN_STEP(close)

static pl_status course_coll(struct lowlevel *low, struct pl_error *error, struct coll_verdict *verdict)
{
    const int who = low->shared ? 0 : IOT_ALONE;
    const bool preallocates = spec_is_true(low->run->block, "preallocate");
    const struct iot_course course[] = {
        {take_memory, NULL, who | IOT_EVERYWHERE},
        {clear_file, NULL, IOT_ALONE},
        {do_open, "pre_time", who | IOT_OPENS},
        {preallocates ? do_preallocate : NULL, "palloc_time", who | IOT_WRITES},
        {low->steps->compute ? do_compute : NULL, NULL, who},
        {do_write, "write_time", who | IOT_WRITES},
        {do_sync, "sync_time", who | IOT_WRITES},
        {do_read, "read_time", who | IOT_READS},
        {do_close, "post_time", who | IOT_CLOSES},
    };
    return iot_course_coll(low->run, course, sizeof course / sizeof course[0], low, error, verdict);
}

static void note_params(struct iot_run *run, const struct lowlevel *low)
{
    const struct spec_block *block = run->block;
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "blocksize_bytes", "%lld", (long long)low->layout.blocksize);
    iot_param(run, "blocks", "%lld", (long long)low->layout.blocks);
    iot_param(run, "tail_bytes", "%lld", (long long)low->layout.tail_bytes);
    if (low->shared) {
        iot_param(run, "collective", "%s", spec_text(block, "collective"));
        iot_param(run, "layout", "%s", spec_text(block, "layout"));
    }
    iot_param(run, "fuzzy", "%g", low->layout.fuzzy);
    static const char *const copied[] = {"check", "phases", "preallocate", "tasklength", "cycles", "kind"};
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++)
        if (spec_find(block, copied[i]))
            iot_param(run, copied[i], "%s", spec_text(block, copied[i]));
}

pl_status lowlevel_run_coll(struct iot_run *run, const struct lowlevel_steps *steps, struct pl_error *error,
                            struct coll_verdict *ret_verdict)
{
    const struct spec_value *collective = spec_find(run->block, "collective");
    struct lowlevel low = {.run = run,
                           .steps = steps,
                           .layout = lowlevel_layout(run->block, run->nprocs, run->index),
                           .shared = collective != NULL,
                           .file = MPI_FILE_NULL,
                           .fd = -1,
                           .check = iot_check_named(spec_text(run->block, "check"))};
    low.layout.seed = rng_at(run->seed, 1);
    low.comm = low.shared ? run->comm : MPI_COMM_SELF;
    low.collective = low.shared && strcmp(collective->text, "true") == 0;
    if (low.shared || run->rank == 0)
        low.count = iot_layout_count(&low.layout, run->rank);
    low.calls = low.collective ? iot_layout_rounds(&low.layout) : low.count;
    if (steps->compute) {
        const struct spec_value *kind = spec_find(run->block, "kind");
        low.cycles = (int64_t)spec_number(run->block, "cycles");
        low.split = kind && strcmp(kind->text, "split") == 0;
    }
    note_params(run, &low);
    const pl_status status = course_coll(&low, error, ret_verdict);
    iot_data_clear(&low.data);
    iot_task_clear(&low.task);
    free(low.buffer);
    return status;
}
