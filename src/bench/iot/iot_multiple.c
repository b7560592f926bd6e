/* multiple: all processes write one file block by block and read it back, independently or collectively (IOT-12).
 * w[j] and r[j] are the raw times of this rank's block j. */
#include "bench/iot/iot_lowlevel.h"

typedef int write_at(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);
typedef int read_at(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *);

static const struct lowlevel_block NOTHING = {0};

/* After a failure a rank goes on taking part in collective calls, with nothing; alone it leaves. */
static pl_status multiple_write_coll(struct lowlevel *low, struct pl_error *error)
{
    write_at *const write = low->collective ? MPI_File_write_at_all : MPI_File_write_at;
    pl_status status = PL_OK;
    double told = MPI_Wtime();
    for (int64_t j = 0; j < low->calls && (status == PL_OK || low->collective); j++) {
        const struct lowlevel_block block = status == PL_OK ? lowlevel_block(low, j, 0) : NOTHING;
        MPI_Status moved;
        const int code = write(low->file, block.offset, block.data, block.count, MPI_DOUBLE, &moved);
        const double tnew = MPI_Wtime();
        if (block.count > 0) {
            low->w->values[j] = tnew - told;
            low->w->count = j + 1;
        }
        told = tnew;
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, "writing", code, &moved, error);
    }
    return status;
}

static pl_status multiple_read_coll(struct lowlevel *low, struct pl_error *error)
{
    read_at *const read = low->collective ? MPI_File_read_at_all : MPI_File_read_at;
    pl_status status = PL_OK;
    for (int64_t j = 0; j < low->calls && (status == PL_OK || low->collective); j++) {
        const struct lowlevel_block block = status == PL_OK ? lowlevel_block(low, j, 0) : NOTHING;
        MPI_Status moved;
        const double told = MPI_Wtime();
        const int code = read(low->file, block.offset, low->buffer, block.count, MPI_DOUBLE, &moved);
        const double tnew = MPI_Wtime();
        if (block.count > 0) {
            low->r->values[j] = tnew - told;
            low->r->count = j + 1;
        }
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, "reading", code, &moved, error);
        if (status == PL_OK)
            status = lowlevel_verify(low, &block, j, error);
    }
    return status;
}

static const struct lowlevel_steps MULTIPLE_STEPS = {
    .open = lowlevel_mpi_open_coll,
    .preallocate = lowlevel_mpi_preallocate_coll,
    .write = multiple_write_coll,
    .sync = lowlevel_mpi_sync_coll,
    .read = multiple_read_coll,
    .close = lowlevel_mpi_close_coll,
};

static pl_status multiple_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    return lowlevel_run_coll(run, &MULTIPLE_STEPS, error, ret_verdict);
}

extern const struct iot_test iot_test_multiple;
const struct iot_test iot_test_multiple = {
    .spec = {.class_name = "Lowlevel",
             .name = "multiple",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, LOWLEVEL_COLLECTIVE,
                                                              NULL}},
    .summary = "all processes write and read one file, independently or collectively",
    .check = lowlevel_check,
    .describe = lowlevel_describe,
    .run_coll = multiple_run_coll,
};
