/* Requests above 2 GiB and offsets above 2^40: engine_large FILE. Called by engine_large.sh. */
#include "engine_check.c"

static const char *path;

static const int64_t MIB = 1 << 20;
enum { BLOCKS = 2100 }; /* of 1 MiB: more than 2 GiB */
static const MPI_Offset FAR = ((MPI_Offset)1 << 40) + 8;

static uint64_t word_of(int64_t i)
{
    return (uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)rank + 1;
}

/* Blocks of 1 MiB, `step` bytes apart; what lies between stays 0. */
static void fill(char *data, int blocks, int64_t step)
{
    for (int64_t block = 0; block < blocks; block++) {
        uint64_t *words = (uint64_t *)(data + block * step);
        for (int64_t i = 0; i < MIB / 8; i++)
            words[i] = word_of(block * (MIB / 8) + i);
    }
}

static void expect_filled(const char *what, const char *data, int blocks, int64_t step)
{
    for (int64_t block = 0; block < blocks; block++) {
        const uint64_t *words = (const uint64_t *)(data + block * step);
        for (int64_t i = 0; i < step / 8; i++) {
            const uint64_t wanted = i < MIB / 8 ? word_of(block * (MIB / 8) + i) : 0;
            if (words[i] != wanted) {
                complain("%s: word %" PRId64 " of block %" PRId64 " is wrong", what, i, block);
                return;
            }
        }
    }
}

static void expect_status(const char *what, const MPI_Status *status, MPI_Datatype type, int wanted, int blocks)
{
    int count = -1;
    MPI_Count elements = -1;
    MPI_Get_count(status, type, &count);
    expect(what, count, wanted);
    MPI_Get_elements_x(status, MPI_BYTE, &elements);
    expect(what, elements, blocks * MIB);
    MPI_Get_count(status, MPI_BYTE, &count);
    expect(what, count, blocks * MIB > INT32_MAX ? MPI_UNDEFINED : blocks * MIB);
}

/* ---- one rank ---- */

/* `count` of `type` are BLOCKS blocks of 1 MiB that lie `step` bytes apart in memory. */
static void check_one(MPI_File file, const char *what, char *data, int count, MPI_Datatype type, int64_t step,
                      MPI_Offset offset)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Offset size = 0;
    memset(data, 0, (size_t)(BLOCKS * step));
    fill(data, BLOCKS, step);
    fine("write_at", MPI_File_write_at(file, offset, data, count, type, &status));
    expect_status(what, &status, type, count, BLOCKS);
    fine("get_size", MPI_File_get_size(file, &size));
    expect("size of the file", size, offset + BLOCKS * MIB);
    memset(data, 0, (size_t)(BLOCKS * step));
    fine("iread_at", MPI_File_iread_at(file, offset, data, count, type, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status(what, &status, type, count, BLOCKS);
    expect_filled(what, data, BLOCKS, step);
    fine("iwrite_at", MPI_File_iwrite_at(file, offset, data, count, type, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status(what, &status, type, count, BLOCKS);
    memset(data, 0, (size_t)(BLOCKS * step));
    fine("read_at", MPI_File_read_at(file, offset, data, count, type, &status));
    expect_filled(what, data, BLOCKS, step);
}

static void check_alone(char *data)
{
    const int64_t step = MIB + 65536;
    MPI_Datatype block, strided;
    MPI_Type_contiguous((int)MIB, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    MPI_Type_create_hvector(BLOCKS, (int)MIB, step, MPI_BYTE, &strided);
    MPI_Type_commit(&strided);
    MPI_File file;
    fine("open", MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    check_one(file, "contiguous", data, BLOCKS, block, MIB, FAR);
    fine("set_size", MPI_File_set_size(file, 0));
    check_one(file, "strided", data, 1, strided, step, 3);
#if MPI_VERSION >= 4
    MPI_Status status;
    MPI_Count count = -1;
    memset(data, 0, (size_t)(BLOCKS * MIB));
    fine("read_at_c", MPI_File_read_at_c(file, 3, data, BLOCKS * MIB, MPI_BYTE, &status));
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    expect("count of read_at_c", count, BLOCKS * MIB);
    expect_filled("read_at_c", data, BLOCKS, MIB);
#endif
    fine("close", MPI_File_close(&file));
    MPI_Type_free(&block);
    MPI_Type_free(&strided);
}

/* ---- together: rank 0 has more than 2 GiB, the others 1 MiB each behind it ---- */

static void check_together(char *data, const char *hints, MPI_Offset offset)
{
    const int blocks = rank == 0 ? BLOCKS : 1;
    const MPI_Offset mine = offset + (rank == 0 ? 0 : (BLOCKS + rank - 1) * MIB);
    MPI_Datatype block;
    MPI_Status status;
    MPI_Request request;
    MPI_Type_contiguous((int)MIB, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_with(path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints);
    fill(data, blocks, MIB);
    fine("write_at_all", MPI_File_write_at_all(file, mine, data, blocks, block, &status));
    expect_status("write_at_all", &status, block, blocks, blocks);
    memset(data, 0, (size_t)(blocks * MIB));
    fine("iread_at_all", MPI_File_iread_at_all(file, mine, data, blocks, block, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status("iread_at_all", &status, block, blocks, blocks);
    expect_filled("iread_at_all", data, blocks, MIB);
    fine("close", MPI_File_close(&file));
    MPI_Type_free(&block);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    path = argv[1];
    char *data = malloc((size_t)(rank == 0 ? BLOCKS * (MIB + 65536) : MIB));
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0)
        check_alone(data);
    if (ranks > 1) {
        check_together(data, "romio_cb_write=enable;romio_cb_read=enable;cb_nodes=2", FAR);
        check_together(data, "romio_cb_write=disable;romio_cb_read=disable", 0);
    }
    free(data);
    return check_end("engine_large");
}
