/* One strategy on patterns of some megabytes: engine_strategies FILE NAME. Called by engine_strategies.sh.
 * Where tests/support/count.c is preloaded, rank 0 prints what each access cost:
 *   PATTERN: DATA bytes of data, PIECES pieces, MESSAGES messages of BYTES bytes, BROADCASTS broadcasts, READ bytes
 * read
 */
#include "engine_check.c"

#include <dlfcn.h>

enum { LENGTH = 128, PIECES = 1000, SAME = (5 << 20) + 77 };

static const char *path, *strategy;
static MPI_File file;

/* Every byte of the file tells where it is. */
static unsigned char letter(int64_t offset)
{
    return (unsigned char)((offset * 2654435761) >> 13);
}

/* ---- counts ---- */

enum { MESSAGES, MESSAGE_BYTES, BROADCASTS, READ_BYTES, COUNTERS };

static int64_t counter(int which)
{
    static const char *const names[] = {"count_messages", "count_message_bytes", "count_broadcasts",
                                        "count_read_bytes"};
    const int64_t *value = dlsym(RTLD_DEFAULT, names[which]);
    return value ? *value : 0;
}

static int64_t before[COUNTERS];

static void count_begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < COUNTERS; i++)
        before[i] = counter(i);
}

static void count_end_coll(const char *pattern, int64_t data, int64_t pieces)
{
    int64_t mine[COUNTERS + 2] = {[COUNTERS] = data, pieces}, sums[COUNTERS + 2];
    for (int i = 0; i < COUNTERS; i++)
        mine[i] = counter(i) - before[i];
    MPI_Reduce(mine, sums, COUNTERS + 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %" PRId64 " bytes of data, %" PRId64 " pieces, %" PRId64 " messages of %" PRId64 " bytes, %" PRId64
               " broadcasts, %" PRId64 " bytes read\n",
               pattern, sums[COUNTERS], sums[COUNTERS + 1], sums[MESSAGES], sums[MESSAGE_BYTES], sums[BROADCASTS],
               sums[READ_BYTES]);
}

/* ---- patterns of pieces ---- */

static unsigned char *data, *back;
static int displacements[PIECES]; /* in pieces */

/* Piece i of all ranks together belongs to rank i % ranks; irregular: in an order without pattern, with gaps. */
static MPI_Datatype pattern_type(bool irregular)
{
    MPI_Datatype piece, type;
    uint32_t state = 1;
    int64_t place = 0;
    for (int i = 0; i < PIECES; i++) {
        for (int r = 0; r < ranks; r++) {
            state = state * 1664525 + 1013904223;
            place += irregular ? 2 + (state >> 24) % 3 : 1;
            if (r == rank)
                displacements[i] = (int)place;
        }
    }
    MPI_Type_contiguous(LENGTH, MPI_BYTE, &piece);
    MPI_Type_create_indexed_block(PIECES, 1, displacements, piece, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&piece);
    return type;
}

static void expect_pieces(const char *what, const unsigned char *bytes)
{
    for (int64_t i = 0; i < (int64_t)PIECES * LENGTH; i++) {
        const int64_t offset = (int64_t)displacements[i / LENGTH] * LENGTH + i % LENGTH;
        if (bytes[i] != letter(offset)) {
            complain("%s: byte %" PRId64 " of the file is wrong", what, offset);
            return;
        }
    }
}

/* The file itself, by the system's calls: each rank looks at its own pieces. */
static void expect_file(const char *what)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    memset(back, 0, SAME);
    for (int i = 0; i < PIECES; i++)
        if (pread(fd, back + (int64_t)i * LENGTH, LENGTH, (int64_t)displacements[i] * LENGTH) != LENGTH)
            complain("%s: the file is too short", what);
    close(fd);
    expect_pieces(what, back);
}

static void check_pattern(bool irregular, bool nonblocking)
{
    char what[100];
    MPI_Status status;
    MPI_Request request;
    const int bytes = PIECES * LENGTH;
    int count = 0;
    MPI_Datatype type = pattern_type(irregular);
    snprintf(what, sizeof what, "%s%s", irregular ? "irregular" : "cyclic", nonblocking ? " in the background" : "");
    for (int64_t i = 0; i < bytes; i++)
        data[i] = letter((int64_t)displacements[i / LENGTH] * LENGTH + i % LENGTH);
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    expect_hint(file, "piolet_strategy_write", strategy);
    count_begin();
    if (nonblocking) {
        fine("iwrite", MPI_File_iwrite_at_all(file, 0, data, bytes, MPI_BYTE, &request));
        fine("wait", MPI_Wait(&request, &status));
    } else {
        fine("write", MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, &status));
    }
    count_end_coll(what, bytes, PIECES);
    MPI_Get_count(&status, MPI_BYTE, &count);
    expect("bytes written", count, bytes);
    expect_file(what);
    memset(back, 0, (size_t)bytes);
    if (nonblocking) {
        fine("iread", MPI_File_iread_at_all(file, 0, back, bytes, MPI_BYTE, &request));
        fine("wait", MPI_Wait(&request, &status));
    } else {
        fine("read", MPI_File_read_at_all(file, 0, back, bytes, MPI_BYTE, &status));
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    expect("bytes read", count, bytes);
    expect_pieces(what, back);
    MPI_Type_free(&type);
}

/* ---- the same for all ---- */

/* Reads `bytes` at `offset` on all ranks but `idle`; `there`: how many the file has. */
static void check_same(const char *what, int64_t offset, int bytes, int there, int idle, bool nonblocking)
{
    MPI_Status status;
    MPI_Request request;
    int count = 0;
    const int wanted = rank == idle ? 0 : bytes, expected = rank == idle ? 0 : there;
    memset(back, 0xee, SAME + 1);
    count_begin();
    if (nonblocking) {
        fine(what, MPI_File_iread_at_all(file, offset, back, wanted, MPI_BYTE, &request));
        fine(what, MPI_Wait(&request, &status));
    } else {
        fine(what, MPI_File_read_at_all(file, offset, back, wanted, MPI_BYTE, &status));
    }
    count_end_coll(what, expected, 1);
    MPI_Get_count(&status, MPI_BYTE, &count);
    expect(what, count, expected);
    for (int64_t i = 0; i < SAME + 1; i++)
        if (back[i] != (i < expected ? letter(offset + i) : 0xee)) {
            complain("%s: byte %" PRId64 " is wrong", what, i);
            break;
        }
}

static void check_broadcast(void)
{
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int64_t i = 0; i < SAME; i++)
        data[i] = letter(i);
    fine("write", MPI_File_write_at_all(file, 0, data, rank == 0 ? SAME : 0, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("set_size", MPI_File_set_size(file, SAME));
    fine("sync", MPI_File_sync(file));
    check_same("same", 0, SAME, SAME, -1, false);
    check_same("same in the background", 3, SAME - 3, SAME - 3, -1, true);
    check_same("same on all but one", 100, 3000000, 3000000, ranks / 2, false);
    check_same("same beyond the end", 1000, SAME, SAME - 1000, -1, false);
    check_same("same behind the end", SAME + 5, 100000, 0, -1, true);
    check_same("nothing on all", 0, 0, 0, -1, false);
    check_same("not the same", rank * 1000, 2000000, 2000000, -1, false);
}

int main(int argc, char **argv)
{
    char hints[200];
    check_begin(&argc, &argv);
    path = argv[1];
    strategy = argv[2];
    data = malloc(SAME);
    back = malloc(SAME + 1);
    if (!data || !back)
        MPI_Abort(MPI_COMM_WORLD, 3);
    snprintf(hints, sizeof hints, "piolet_strategy=%s;striping_factor=3;piolet_window_size=512k", strategy);
    file = open_with(path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints);
    for (int i = 0; i < 4; i++)
        check_pattern(i % 2, i / 2);
    check_broadcast();
    fine("close", MPI_File_close(&file));
    free(data);
    free(back);
    return check_end("engine_strategies");
}
