/* singleI, multipleI: low-level tests that compute while their I/O goes on. */
#include "bench/iot/iot_lowlevel.h"

#include "lab/facts/environment.h"

#include <string.h>

static const struct lowlevel_block NOTHING = {0};

static uint64_t interleaved_bits_of(double result)
{
    uint64_t bits;
    memcpy(&bits, &result, sizeof bits);
    return bits;
}

/* ---- start and end of one I/O: independent, split collective, or non-blocking collective ---- */

static int interleaved_start_write(struct lowlevel *low, const struct lowlevel_block *block, MPI_Request *ret_request)
{
    *ret_request = MPI_REQUEST_NULL;
    if (!low->collective)
        return MPI_File_iwrite_at(low->file, block->offset, block->data, block->count, MPI_DOUBLE, ret_request);
    if (low->split)
        return MPI_File_write_at_all_begin(low->file, block->offset, block->data, block->count, MPI_DOUBLE);
    return MPI_File_iwrite_at_all(low->file, block->offset, block->data, block->count, MPI_DOUBLE, ret_request);
}

static int interleaved_start_read(struct lowlevel *low, const struct lowlevel_block *block, MPI_Request *ret_request)
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
static int interleaved_end(struct lowlevel *low, bool writes, const struct lowlevel_block *block, int started,
                           MPI_Request *request, MPI_Status *moved)
{
    if (low->collective && low->split) {
        const int ended = writes ? MPI_File_write_at_all_end(low->file, block->data, moved)
                                 : MPI_File_read_at_all_end(low->file, low->buffer, moved);
        return started != MPI_SUCCESS ? started : ended;
    }
    return started != MPI_SUCCESS ? started : environment_wait_file(request, 8 * (int64_t)block->count, moved);
}

/* ---- references ---- */

static pl_status interleaved_compute(struct lowlevel *low, struct pl_error *error)
{
    (void)error;
    iot_task_reset(&low->task);
    for (int64_t j = 0; j < low->t->capacity; j++) {
        const double told = MPI_Wtime();
        iot_task_run(&low->task);
        sample_put(low->t, j, told, MPI_Wtime());
    }
    return PL_OK;
}

static pl_status interleaved_reference_coll(struct lowlevel *low, bool writes, struct pl_error *error)
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
        if (block.count > 0)
            sample_put(series, j, told, tnew);
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, writes ? "writing" : "reading", code, &moved, error);
    }
    return status;
}

/* The loop writes again where the reference wrote. Only this sequence makes the second write the later one for every
 * MPI-IO: without it OMPIO, which lets other ranks write for the owner, now and then leaves the reference's data. */
static pl_status interleaved_settle_coll(struct lowlevel *low, pl_status status, struct pl_error *error)
{
    const int first = MPI_File_sync(low->file);
    MPI_Barrier(low->comm);
    const int second = MPI_File_sync(low->file);
    if (status == PL_OK && (first != MPI_SUCCESS || second != MPI_SUCCESS))
        status = coll_fail_mpi(error, first != MPI_SUCCESS ? first : second, "syncing '%s'", low->run->filename);
    return status;
}

/* ---- the loops ---- */

/* Behind the reference, whose outcome is `status`. */
static pl_status interleaved_loop_coll(struct lowlevel *low, bool writes, pl_status status, struct pl_error *error)
{
    struct sample_series *const starts = writes ? low->wI : low->rI, *const tasks = writes ? low->wtI : low->rtI,
                                *const waits = writes ? low->wwI : low->rwI;
    double result = 0;
    iot_task_reset(&low->task);
    for (int64_t j = 0; j < low->calls && (status == PL_OK || low->collective); j++) {
        const struct lowlevel_block block = status == PL_OK ? lowlevel_block(low, j, interleaved_bits_of(result))
                                                            : NOTHING;
        MPI_Request request;
        MPI_Status moved;
        const double begin = MPI_Wtime();
        const int start_code = writes ? interleaved_start_write(low, &block, &request)
                                      : interleaved_start_read(low, &block, &request);
        const double started = MPI_Wtime();
        result = iot_task_run(&low->task);
        const double computed = MPI_Wtime();
        const int code = interleaved_end(low, writes, &block, start_code, &request, &moved);
        const double ended = MPI_Wtime();
        if (block.count > 0) {
            sample_put(starts, j, begin, started);
            sample_put(tasks, j, started, computed);
            sample_put(waits, j, computed, ended);
        }
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, writes ? "writing" : "reading", code, &moved, error);
        if (status == PL_OK && !writes)
            status = lowlevel_verify(low, &block, j, error);
    }
    return status;
}

static pl_status interleaved_write_coll(struct lowlevel *low, struct pl_error *error)
{
    const pl_status status = interleaved_settle_coll(low, interleaved_reference_coll(low, true, error), error);
    return interleaved_loop_coll(low, true, status, error);
}

static pl_status interleaved_read_coll(struct lowlevel *low, struct pl_error *error)
{
    return interleaved_loop_coll(low, false, interleaved_reference_coll(low, false, error), error);
}

static const struct lowlevel_steps INTERLEAVED_STEPS = {
    LOWLEVEL_MPI_STEPS,
    .compute = interleaved_compute,
    .write = interleaved_write_coll,
    .read = interleaved_read_coll,
};

/* ---- singleI ---- */

IOT_TEST(singleI) = {
    .name = "singleI",
    .keywords = (const struct option_row *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, LOWLEVEL_INTERLEAVED, NULL},
    .summary = "one process computes while its non-blocking I/O goes on",
    .access = "one rank",
    IOT_TEST_CALLS(lowlevel),
    .steps = &INTERLEAVED_STEPS,
};

/* ---- multipleI ---- */

static const struct option_row MULTIPLEI_KEYWORDS[] = {
    {.name = "kind",
     .type = OPTION_CHOICE,
     .initial = "split",
     .choices = "split nonblocking",
     .help = "with collective true: split collectives, or non-blocking ones (MPI 3.1)"},
    {0},
};

IOT_TEST(multipleI) = {
    .name = "multipleI",
    .keywords = (const struct option_row *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, LOWLEVEL_COLLECTIVE_OR_NOT,
                                                   LOWLEVEL_INTERLEAVED, MULTIPLEI_KEYWORDS, NULL},
    .summary = "all processes compute while their non-blocking or split collective I/O goes on",
    IOT_TEST_CALLS(lowlevel),
    .steps = &INTERLEAVED_STEPS,
};
