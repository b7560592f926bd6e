/* A cycle is: start the I/O, do the task, wait for the I/O. wI, wtI and wwI are the times of the three in a writing
 * cycle, rI, rtI and rwI in a reading one. For comparison t is the time of the task without I/O, and w and r are
 * those of blocking calls without task.
 *
 * What is written depends on the task before it: its result chooses the data. Reading runs the same tasks again, and so
 * knows what to expect. */
#include "bench/iot/iot_interleaved.h"

#include <string.h>

static const struct lowlevel_block NOTHING = {0};

static uint64_t bits_of(double result)
{
    uint64_t bits;
    memcpy(&bits, &result, sizeof bits);
    return bits;
}

/* ---- start and end of one I/O: independent, split collective, or non-blocking collective ---- */

static int start_write(struct lowlevel *low, const struct lowlevel_block *block, MPI_Request *ret_request)
{
    *ret_request = MPI_REQUEST_NULL;
    if (!low->collective)
        return MPI_File_iwrite_at(low->file, block->offset, block->data, block->count, MPI_DOUBLE, ret_request);
    if (low->split)
        return MPI_File_write_at_all_begin(low->file, block->offset, block->data, block->count, MPI_DOUBLE);
    return MPI_File_iwrite_at_all(low->file, block->offset, block->data, block->count, MPI_DOUBLE, ret_request);
}

static int start_read(struct lowlevel *low, const struct lowlevel_block *block, MPI_Request *ret_request)
{
    *ret_request = MPI_REQUEST_NULL;
    if (!low->collective)
        return MPI_File_iread_at(low->file, block->offset, low->buffer, block->count, MPI_DOUBLE, ret_request);
    if (low->split)
        return MPI_File_read_at_all_begin(low->file, block->offset, low->buffer, block->count, MPI_DOUBLE);
    return MPI_File_iread_at_all(low->file, block->offset, low->buffer, block->count, MPI_DOUBLE, ret_request);
}

/* `started` is what the start returned. A split collective is ended even when its start failed: until then the file
 * refuses the next one at once, and this rank would be through its loop while the others wait for it. */
static int end_write(struct lowlevel *low, const struct lowlevel_block *block, int started, MPI_Request *request,
                     MPI_Status *moved)
{
    if (low->collective && low->split) {
        const int ended = MPI_File_write_at_all_end(low->file, block->data, moved);
        return started != MPI_SUCCESS ? started : ended;
    }
    return started != MPI_SUCCESS ? started : MPI_Wait(request, moved);
}

static int end_read(struct lowlevel *low, int started, MPI_Request *request, MPI_Status *moved)
{
    if (low->collective && low->split) {
        const int ended = MPI_File_read_at_all_end(low->file, low->buffer, moved);
        return started != MPI_SUCCESS ? started : ended;
    }
    return started != MPI_SUCCESS ? started : MPI_Wait(request, moved);
}

/* ---- references ---- */

static pl_status interleaved_compute(struct lowlevel *low, struct pl_error *error)
{
    (void)error;
    iot_task_reset(&low->task);
    for (int64_t j = 0; j < low->t->capacity; j++) {
        const double told = MPI_Wtime();
        iot_task_run(&low->task);
        low->t->values[j] = MPI_Wtime() - told;
        low->t->count = j + 1;
    }
    return PL_OK;
}

static pl_status reference_coll(struct lowlevel *low, bool writes, struct pl_error *error)
{
    struct sample_series *series = writes ? low->w : low->r;
    pl_status status = PL_OK;
    const int64_t calls = low->cycles < low->calls ? low->cycles : low->calls;
    for (int64_t j = 0; j < calls && (status == PL_OK || low->collective); j++) {
        const struct lowlevel_block block = status == PL_OK ? lowlevel_block(low, j, 0) : NOTHING;
        MPI_Status moved;
        int code;
        const double told = MPI_Wtime();
        if (writes)
            code = (low->collective ? MPI_File_write_at_all : MPI_File_write_at)(low->file, block.offset, block.data,
                                                                                 block.count, MPI_DOUBLE, &moved);
        else
            code = (low->collective ? MPI_File_read_at_all : MPI_File_read_at)(low->file, block.offset, low->buffer,
                                                                               block.count, MPI_DOUBLE, &moved);
        const double tnew = MPI_Wtime();
        if (block.count > 0) {
            series->values[j] = tnew - told;
            series->count = j + 1;
        }
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, writes ? "writing" : "reading", code, &moved, error);
    }
    return status;
}

/* The loop writes again where the reference wrote. Only this sequence makes the second write the later one for every
 * MPI-IO: without it OMPIO, which lets other ranks write for the owner, now and then leaves the reference's data. */
static pl_status settle_coll(struct lowlevel *low, pl_status status, struct pl_error *error)
{
    const int first = MPI_File_sync(low->file);
    MPI_Barrier(low->comm);
    const int second = MPI_File_sync(low->file);
    if (status == PL_OK && (first != MPI_SUCCESS || second != MPI_SUCCESS))
        status = coll_fail_mpi(error, first != MPI_SUCCESS ? first : second, "syncing '%s'", low->run->filename);
    return status;
}

/* ---- the loops ---- */

static void stamp(struct sample_series *series, int64_t j, double seconds)
{
    series->values[j] = seconds;
    series->count = j + 1;
}

static pl_status interleaved_write_coll(struct lowlevel *low, struct pl_error *error)
{
    pl_status status = settle_coll(low, reference_coll(low, true, error), error);
    double result = 0;
    iot_task_reset(&low->task);
    for (int64_t j = 0; j < low->calls && (status == PL_OK || low->collective); j++) {
        const struct lowlevel_block block = status == PL_OK ? lowlevel_block(low, j, bits_of(result)) : NOTHING;
        MPI_Request request;
        MPI_Status moved;
        const double begin = MPI_Wtime();
        const int start_code = start_write(low, &block, &request);
        const double started = MPI_Wtime();
        result = iot_task_run(&low->task);
        const double computed = MPI_Wtime();
        const int code = end_write(low, &block, start_code, &request, &moved);
        const double ended = MPI_Wtime();
        if (block.count > 0) {
            stamp(low->wI, j, started - begin);
            stamp(low->wtI, j, computed - started);
            stamp(low->wwI, j, ended - computed);
        }
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, "writing", code, &moved, error);
    }
    return status;
}

static pl_status interleaved_read_coll(struct lowlevel *low, struct pl_error *error)
{
    pl_status status = reference_coll(low, false, error);
    double result = 0;
    iot_task_reset(&low->task);
    for (int64_t j = 0; j < low->calls && (status == PL_OK || low->collective); j++) {
        const struct lowlevel_block block = status == PL_OK ? lowlevel_block(low, j, bits_of(result)) : NOTHING;
        MPI_Request request;
        MPI_Status moved;
        const double begin = MPI_Wtime();
        const int start_code = start_read(low, &block, &request);
        const double started = MPI_Wtime();
        result = iot_task_run(&low->task);
        const double computed = MPI_Wtime();
        const int code = end_read(low, start_code, &request, &moved);
        const double ended = MPI_Wtime();
        if (block.count > 0) {
            stamp(low->rI, j, started - begin);
            stamp(low->rtI, j, computed - started);
            stamp(low->rwI, j, ended - computed);
        }
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, "reading", code, &moved, error);
        if (status == PL_OK)
            status = lowlevel_verify(low, &block, j, error);
    }
    return status;
}

const struct lowlevel_steps INTERLEAVED_STEPS = {
    .open = lowlevel_mpi_open_coll,
    .preallocate = lowlevel_mpi_preallocate_coll,
    .compute = interleaved_compute,
    .write = interleaved_write_coll,
    .sync = lowlevel_mpi_sync_coll,
    .read = interleaved_read_coll,
    .close = lowlevel_mpi_close_coll,
};
