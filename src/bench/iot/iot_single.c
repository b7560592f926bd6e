/* single: one process writes a file block by block and reads it back, through MPI_COMM_SELF (IOT-11).
 * w[j] and r[j] are the raw times of block j. */
#include "bench/iot/iot_lowlevel.h"

static pl_status single_write(struct lowlevel *low, struct pl_error *error)
{
    double told = MPI_Wtime();
    for (int64_t j = 0; j < low->count; j++) {
        const struct lowlevel_block block = lowlevel_block(low, j, 0);
        MPI_Status moved;
        const int code = MPI_File_write_at(low->file, block.offset, block.data, block.count, MPI_DOUBLE, &moved);
        const double tnew = MPI_Wtime();
        low->w->values[j] = tnew - told;
        told = tnew;
        low->w->count = j + 1;
        if (lowlevel_moved(low, &block, j, "writing", code, &moved, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

static pl_status single_read(struct lowlevel *low, struct pl_error *error)
{
    for (int64_t j = 0; j < low->count; j++) {
        const struct lowlevel_block block = lowlevel_block(low, j, 0);
        MPI_Status moved;
        const double told = MPI_Wtime();
        const int code = MPI_File_read_at(low->file, block.offset, low->buffer, block.count, MPI_DOUBLE, &moved);
        low->r->values[j] = MPI_Wtime() - told;
        low->r->count = j + 1;
        if (lowlevel_moved(low, &block, j, "reading", code, &moved, error) != PL_OK ||
            lowlevel_verify(low, &block, j, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

static const struct lowlevel_steps SINGLE_STEPS = {
    .open = lowlevel_mpi_open_coll,
    .preallocate = lowlevel_mpi_preallocate_coll,
    .write = single_write,
    .sync = lowlevel_mpi_sync_coll,
    .read = single_read,
    .close = lowlevel_mpi_close_coll,
};

static pl_status single_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    return lowlevel_run_coll(run, &SINGLE_STEPS, error, ret_verdict);
}

extern const struct iot_test iot_test_single;
const struct iot_test iot_test_single = {
    .spec = {.class_name = "Lowlevel",
             .name = "single",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, NULL}},
    .summary = "one process writes and reads a file through MPI-IO",
    .access = "one rank",
    .check = lowlevel_check,
    .describe = lowlevel_describe,
    .run_coll = single_run_coll,
};
