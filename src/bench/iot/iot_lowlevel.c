/* The course of a low-level run around its timed loops. */
#include "bench/iot/iot_lowlevel.h"

#include "base/rng.h"

#include <errno.h>
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
    if (mpi_code != MPI_SUCCESS)
        return coll_fail_mpi(error, mpi_code, "%s block %lld at byte %lld of '%s'", doing, (long long)j,
                             (long long)block->offset_bytes, low->run->filename);
    if (block->count == 0)
        return PL_OK;
    int count = 0;
    MPI_Get_count(moved, MPI_DOUBLE, &count);
    if (count == block->count)
        return PL_OK;
    return pl_fail(error, PL_E_SYSTEM, "%s block %lld at byte %lld of '%s': only %d of %d numbers moved", doing,
                   (long long)j, (long long)block->offset_bytes, low->run->filename, count == MPI_UNDEFINED ? 0 : count,
                   block->count);
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
    const struct iot_run *run = low->run;
    const int mode = run->set.write_bytes > 0 ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    int code = MPI_File_open(low->comm, run->filename, mode, run->info, &low->file);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "opening '%s'", run->filename);
    code = MPI_File_set_view(low->file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", run->info);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "setting the view of '%s'", run->filename);
    return PL_OK;
}

pl_status lowlevel_mpi_preallocate_coll(struct lowlevel *low, struct pl_error *error)
{
    const int code = MPI_File_preallocate(low->file, low->run->set.file_bytes);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "preallocating %lld bytes of '%s'", (long long)low->run->set.file_bytes,
                             low->run->filename);
    return PL_OK;
}

pl_status lowlevel_mpi_sync_coll(struct lowlevel *low, struct pl_error *error)
{
    const int code = MPI_File_sync(low->file);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "syncing '%s'", low->run->filename);
}

pl_status lowlevel_mpi_close_coll(struct lowlevel *low, struct pl_error *error)
{
    const int code = MPI_File_close(&low->file);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", low->run->filename);
}

/* ---- the course ---- */

static pl_status add_series(struct lowlevel *low, struct pl_error *error)
{
    struct samples *samples = &low->run->samples;
    const bool interleaved = low->steps->compute != NULL;
    const int64_t n = low->count, few = low->cycles < n ? low->cycles : n;
    const struct {
        const char *key;
        const char *unit;
        int64_t capacity;
        struct sample_series **place;
        bool wanted;
    } rows[] = {
        {"t", "ns", n || low->collective ? low->cycles : 0, &low->t, interleaved},
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
    pl_status status = PL_OK; /* goes on after a failure, for the same reason as course_coll() */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].wanted &&
            samples_add(samples, rows[i].key, rows[i].unit, rows[i].capacity, rows[i].place, error) != PL_OK)
            status = error->status;
    return status;
}

static pl_status take_memory(struct lowlevel *low, struct pl_error *error)
{
    const int64_t longest = iot_layout_longest(&low->layout);
    pl_status status = iot_check_memory(low->run, error);
    const pl_status series_status = add_series(low, error);
    if (status == PL_OK)
        status = series_status;
    if (status != PL_OK || (low->run->rank != 0 && !low->shared))
        return status;
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

static void fill_lengths(struct lowlevel *low)
{
    if (!low->b || low->b->capacity < low->count)
        return;
    for (int64_t j = 0; j < low->count; j++)
        low->b->values[j] = (double)iot_layout_block(&low->layout, low->shared ? low->run->rank : 0, j).length;
    low->b->count = low->count;
}

static pl_status clear_file(struct lowlevel *low, struct pl_error *error)
{
    return low->run->rank == 0 ? iot_clear_file(low->run, error) : PL_OK;
}

/* One step, started together, timed under `key` if there is one; all ranks return alike. */
static pl_status step_coll(struct lowlevel *low, lowlevel_step *step, const char *key, struct pl_error *error,
                           struct coll_verdict *verdict)
{
    struct iot_run *run = low->run;
    const bool takes_part = low->shared || run->rank == 0;
    pl_status status = PL_OK;
    if (low->shared)
        MPI_Barrier(run->comm);
    if (takes_part) {
        const double begin = MPI_Wtime();
        status = step(low, error);
        if (key)
            samples_time(&run->samples, key, MPI_Wtime() - begin);
    }
    if (!low->shared)
        coll_barrier_quiet_coll(run->comm); /* waiting ranks must not take the measured one's core */
    return coll_agree_coll(run->comm, status, error, verdict);
}

/* From the open file to its last read. */
static pl_status transfer_coll(struct lowlevel *low, struct pl_error *error, struct coll_verdict *verdict)
{
    const struct lowlevel_steps *steps = low->steps;
    const struct iot_set *set = &low->run->set;
    pl_status status = PL_OK;
    if (set->write_bytes > 0 && spec_is_true(low->run->block, "preallocate"))
        status = step_coll(low, steps->preallocate, "palloc_time", error, verdict);
    if (status == PL_OK && steps->compute)
        status = step_coll(low, steps->compute, NULL, error, verdict);
    if (status == PL_OK && set->write_bytes > 0)
        status = step_coll(low, steps->write, NULL, error, verdict);
    if (status == PL_OK && set->write_bytes > 0)
        status = step_coll(low, steps->sync, "sync_time", error, verdict);
    if (status == PL_OK && set->read_bytes > 0)
        status = step_coll(low, steps->read, NULL, error, verdict);
    return status;
}

static pl_status course_coll(struct lowlevel *low, struct pl_error *error, struct coll_verdict *verdict)
{
    /* Idle ranks too: the results need the same list of series everywhere. */
    pl_status status = coll_agree_coll(low->run->comm, take_memory(low, error), error, verdict);
    if (status == PL_OK && low->run->set.write_bytes > 0)
        status = step_coll(low, clear_file, NULL, error, verdict);
    if (status == PL_OK)
        /* Where only some ranks could open, the others' handles cannot be closed: that would be a collective call. */
        status = step_coll(low, low->steps->open, "pre_time", error, verdict);
    if (status != PL_OK)
        return status;
    fill_lengths(low);
    if (low->file != MPI_FILE_NULL && low->run->rank == 0)
        iot_note_hints(low->run, low->file);
    status = transfer_coll(low, error, verdict);
    struct pl_error close_error;
    struct coll_verdict close_verdict;
    const pl_status closed = step_coll(low, low->steps->close, "post_time", &close_error, &close_verdict);
    if (status == PL_OK && closed != PL_OK) {
        *error = close_error;
        *verdict = close_verdict;
        status = closed;
    }
    return status;
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
    if (run->rank == 0 && !spec_is_true(run->block, "keep") && run->set.write_bytes > 0)
        MPI_File_delete(run->filename, MPI_INFO_NULL);
    iot_data_clear(&low.data);
    iot_task_clear(&low.task);
    free(low.buffer);
    return status;
}
