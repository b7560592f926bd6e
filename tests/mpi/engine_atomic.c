/* Atomic mode: engine_atomic FILE; engine_atomic --check tries the checker itself. Called by engine_atomic.sh. */
#include "engine_check.c"

static const char *path;
static MPI_File file;

enum { BYTES = 60000, TURNS = 25, PIECE = 100, GAP = 60, PIECES = 300 };

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A byte that tells writer and turn; 0 is nobody's. */
static unsigned char mark(int writer, int turn)
{
    return (unsigned char)(1 + (writer + turn * 16) % 255);
}

/* The checker: is everything of one writer? Returns the first byte that is not like the first one, -1: none. Bytes
 * `piece` to `step` of each step are gaps, which nobody writes: they must be `gap`. */
static int64_t find_mixture(const unsigned char *data, int64_t bytes, int64_t piece, int64_t step, unsigned char gap)
{
    for (int64_t i = 0; i < bytes; i++)
        if (data[i] != (i % step < piece ? data[0] : gap))
            return i;
    return -1;
}

static void check_checker(void)
{
    unsigned char data[1000];
    memset(data, 7, sizeof data);
    expect("of one writer", find_mixture(data, 1000, 1000, 1000, 0), -1);
    data[999] = 8;
    expect("the last byte of another one", find_mixture(data, 1000, 1000, 1000, 0), 999);
    memset(data, 7, sizeof data);
    memset(data + 500, 9, 500);
    expect("half of another one", find_mixture(data, 1000, 1000, 1000, 0), 500);
    for (int i = 0; i < 1000; i++)
        data[i] = i % 100 < 60 ? 7 : 1;
    expect("pieces of one writer", find_mixture(data, 1000, 60, 100, 1), -1);
    data[360] = 7;
    expect("a gap that was written", find_mixture(data, 1000, 60, 100, 1), 360);
    data[360] = 1;
    memset(data + 400, 9, 60);
    expect("a piece of another one", find_mixture(data, 1000, 60, 100, 1), 400);
}

static void expect_whole(const char *what, const unsigned char *data, int64_t bytes, int64_t piece, int64_t step,
                         unsigned char gap)
{
    const int64_t at = find_mixture(data, bytes, piece, step, gap);
    if (at >= 0)
        complain("%s: byte %" PRId64 " is %d among those of %d", what, at, data[at], data[0]);
}

static void begin(const char *hints, bool atomic)
{
    int flag = -1;
    barrier();
    if (rank == 0)
        unlink(path);
    barrier();
    file = open_with(path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints);
    fine("get_atomicity", MPI_File_get_atomicity(file, &flag));
    expect("atomicity of a new file", flag, 0);
    fine("set_atomicity", MPI_File_set_atomicity(file, atomic));
    fine("get_atomicity", MPI_File_get_atomicity(file, &flag));
    expect("atomicity as set", flag, atomic);
}

/* One write of BYTES bytes at 0 in one of the ways. */
enum { WAYS = 5 };
static const char *const WAY[WAYS] = {"write_at", "write_at_all", "iwrite_at", "iwrite_at_all", "write_at_all_begin"};

static void write_by(int way, const void *data, int bytes)
{
    MPI_Request request = MPI_REQUEST_NULL;
    switch (way) {
    case 0:
        fine(WAY[way], MPI_File_write_at(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        break;
    case 1:
        fine(WAY[way], MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        break;
    case 2:
        fine(WAY[way], MPI_File_iwrite_at(file, 0, data, bytes, MPI_BYTE, &request));
        break;
    case 3:
        fine(WAY[way], MPI_File_iwrite_at_all(file, 0, data, bytes, MPI_BYTE, &request));
        break;
    default:
        fine(WAY[way], MPI_File_write_at_all_begin(file, 0, data, bytes, MPI_BYTE));
        fine(WAY[way], MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE));
    }
    fine("Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* All write the same region at once; afterwards it is wholly of one. */
static void check_contiguous(void)
{
    unsigned char *data = malloc(BYTES);
    for (int way = 0; way < WAYS; way++)
        for (int turn = 0; turn < TURNS; turn++) {
            memset(data, mark(rank, turn), BYTES);
            barrier();
            write_by(way, data, BYTES);
            barrier();
            memset(data, 0, BYTES);
            fine("read_at", MPI_File_read_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
            expect_whole(WAY[way], data, BYTES, BYTES, BYTES, 0);
            if (data[0] < mark(0, turn) || data[0] > mark(ranks - 1, turn))
                complain("%s: the bytes are those of turn before: %d", WAY[way], data[0]);
            barrier();
        }
    free(data);
}

/* The same with gaps in the file, which belong to nobody. */
static void check_strided(void)
{
    unsigned char *data = malloc((size_t)PIECES * PIECE), *all = malloc((size_t)PIECES * (PIECE + GAP));
    const unsigned char gap = 255;
    MPI_Datatype piece, filetype;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, PIECE + GAP, &filetype);
    MPI_Type_commit(&filetype);
    memset(all, gap, (size_t)PIECES * (PIECE + GAP));
    if (rank == 0)
        fine("write_at", MPI_File_write_at(file, 0, all, PIECES * (PIECE + GAP), MPI_BYTE, MPI_STATUS_IGNORE));
    barrier();
    for (int way = 0; way < WAYS; way++)
        for (int turn = 0; turn < TURNS; turn++) {
            fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
            memset(data, mark(rank, turn), (size_t)PIECES * PIECE);
            barrier();
            write_by(way, data, PIECES * PIECE);
            barrier();
            fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
            fine("read_at", MPI_File_read_at(file, 0, all, PIECES * (PIECE + GAP), MPI_BYTE, MPI_STATUS_IGNORE));
            expect_whole(WAY[way], all, (int64_t)PIECES * (PIECE + GAP), PIECE, PIECE + GAP, gap);
            barrier();
        }
    MPI_Type_free(&piece);
    MPI_Type_free(&filetype);
    free(data);
    free(all);
}

/* Half of the ranks write while the others read: nobody sees half a write. */
static void check_reading(bool strided, bool nonblocking)
{
    const int64_t step = strided ? PIECE + GAP : BYTES, bytes = strided ? (int64_t)PIECES * PIECE : BYTES;
    unsigned char *data = malloc(BYTES);
    MPI_Datatype piece, filetype;
    MPI_Type_contiguous(strided ? PIECE : BYTES, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, step, &filetype);
    MPI_Type_commit(&filetype);
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    memset(data, mark(0, 0), BYTES);
    if (rank == 0)
        fine("write_at", MPI_File_write_at(file, 0, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    barrier();
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        const bool write = rank % 2 == 0;
        MPI_Request request = MPI_REQUEST_NULL;
        memset(data, write ? mark(rank, turn) : 0, BYTES);
        if (write && nonblocking)
            fine("iwrite_at", MPI_File_iwrite_at(file, 0, data, (int)bytes, MPI_BYTE, &request));
        else if (write)
            fine("write_at", MPI_File_write_at(file, 0, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        else if (nonblocking)
            fine("iread_at", MPI_File_iread_at(file, 0, data, (int)bytes, MPI_BYTE, &request));
        else
            fine("read_at", MPI_File_read_at(file, 0, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        fine("Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (!write)
            expect_whole(strided ? "reading pieces" : "reading", data, bytes, bytes, bytes, 0);
    }
    barrier();
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&piece);
    MPI_Type_free(&filetype);
    free(data);
}

/* What one rank has written, another one reads after a barrier or a message, without sync. */
static void check_sequence(void)
{
    for (int turn = 0; turn < 4 * TURNS; turn++) {
        const int writer = turn % ranks;
        int64_t number = 1000 * turn + writer;
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == writer && turn % 3 == 0)
            fine("iwrite_at", MPI_File_iwrite_at(file, turn % 7, &number, 8, MPI_BYTE, &request));
        else if (rank == writer)
            fine("write_at", MPI_File_write_at(file, turn % 7, &number, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        fine("Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
        barrier();
        int64_t found = -1;
        fine("read_at", MPI_File_read_at(file, turn % 7, &found, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        expect("a number that another rank has written", found, number);
        barrier();
    }
}

/* Two requests of one rank on the same bytes: one after the other, in any order. */
static void check_own_requests(void)
{
    unsigned char *one = malloc(BYTES), *two = malloc(BYTES);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Request requests[2];
        memset(one, mark(2 * rank, turn), BYTES);
        memset(two, mark(2 * rank + 1, turn), BYTES);
        fine("iwrite_at", MPI_File_iwrite_at(file, 0, one, BYTES, MPI_BYTE, &requests[0]));
        fine("iwrite_at", MPI_File_iwrite_at(file, 0, two, BYTES, MPI_BYTE, &requests[1]));
        for (int i = 0; i < 2; i++)
            fine("Wait", MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        fine("read_at", MPI_File_read_at(file, 0, one, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        expect_whole("two requests of each rank", one, BYTES, BYTES, BYTES, 0);
    }
    barrier();
    free(one);
    free(two);
}

/* ---- the mode itself ---- */

static void check_mode(void)
{
    int flag = -1;
    begin("cb_nodes=1", true);
    fine("set_atomicity", MPI_File_set_atomicity(file, 0));
    fine("get_atomicity", MPI_File_get_atomicity(file, &flag));
    expect("atomicity taken back", flag, 0);
    fine("set_atomicity", MPI_File_set_atomicity(file, 5));
    fine("get_atomicity", MPI_File_get_atomicity(file, &flag));
    expect("atomicity by any number", flag, 1);
    if (ranks > 1) {
        fails_as("different flags", MPI_File_set_atomicity(file, rank == 0), MPI_ERR_NOT_SAME);
        fine("get_atomicity", MPI_File_get_atomicity(file, &flag));
        expect("atomicity after a refusal", flag, 1);
    }
    fine("close", MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    static const char *const HINTS[] = {"cb_nodes=2;romio_cb_write=enable;romio_cb_read=enable;cb_buffer_size=4096",
                                        "romio_ds_write=enable;ind_wr_buffer_size=4096;ind_rd_buffer_size=4096"};
    check_begin(&argc, &argv);
    path = argv[1];
    if (strcmp(path, "--check") == 0) {
        check_checker();
        return check_end("the checker");
    }
    check_mode();
    for (int i = 0; i < 2; i++) {
        begin(HINTS[i], true);
        check_contiguous();
        check_strided();
        for (int way = 0; way < 4; way++)
            check_reading(way & 1, way & 2);
        check_sequence();
        check_own_requests();
        fine("close", MPI_File_close(&file));
    }
    return check_end("engine_atomic");
}
