/* What the standard says of pointers, modes, sizes and consistency: engine_semantics FILE. Called by
 * engine_semantics.sh. */
#include "engine_check.c"

static const char *path;
static const int AMODE = MPI_MODE_CREATE | MPI_MODE_RDWR;

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_File fresh(const char *hints)
{
    barrier();
    if (rank == 0)
        unlink(path);
    barrier();
    return open_with(path, AMODE, hints);
}

/* The byte that rank `who` writes as its number i. */
static char letter(int who, int64_t i)
{
    return (char)('A' + who * 3 + i % 3);
}

/* The file, compared by rank 0 with one byte after the other of what is wanted. */
static void expect_file(const char *what, const char *wanted, int64_t bytes)
{
    barrier();
    if (rank == 0) {
        char *found = calloc(1, (size_t)bytes + 1);
        const int64_t got = raw_read(path, found, bytes + 1, 0);
        if (got != bytes)
            complain("%s: the file has %" PRId64 " bytes or more in the place of %" PRId64, what, got, bytes);
        for (int64_t i = 0; i < got && i < bytes; i++)
            if (found[i] != wanted[i]) {
                complain("%s: byte %" PRId64 " is %d in the place of %d", what, i, found[i], wanted[i]);
                break;
            }
        free(found);
    }
    barrier();
}

/* ---- shared and ordered ---- */

/* Rank r writes r + 2 bytes, three times: in rank order, each time behind the one before. */
static void check_ordered(const char *hints)
{
    MPI_File file = fresh(hints);
    char data[64], wanted[3 * 64 * 64];
    int64_t all = 0;
    MPI_Offset place = -1;
    for (int turn = 0; turn < 3; turn++) {
        for (int who = 0; who < ranks; who++)
            for (int i = 0; i < who + 2; i++)
                wanted[all++] = letter(who, turn + i);
        for (int i = 0; i < rank + 2; i++)
            data[i] = letter(rank, turn + i);
        fine("write_ordered", MPI_File_write_ordered(file, data, rank + 2, MPI_BYTE, MPI_STATUS_IGNORE));
        barrier();
        fine("get_position_shared", MPI_File_get_position_shared(file, &place));
        expect("shared position after an ordered write", place, all);
        barrier();
    }
    fine("get_position", MPI_File_get_position(file, &place));
    expect("individual position after ordered writes", place, 0);
    expect_file("ordered writes", wanted, all);
    fine("seek_shared", MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    memset(data, 0, sizeof data);
    fine("read_ordered", MPI_File_read_ordered(file, data, rank + 2, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < rank + 2; i++)
        expect("byte of an ordered read", data[i], letter(rank, i));
    fine("close", MPI_File_close(&file));
}

/* Records of all ranks, in any order, none lost and none overwritten. */
static void check_shared(const char *hints)
{
    enum { RECORDS = 60 };
    MPI_File file = fresh(hints);
    const int all = RECORDS * ranks;
    int *found = calloc((size_t)all * 2, sizeof *found);
    char *seen = calloc(1, (size_t)all);
    MPI_Offset place = -1;
    fine("set_view", MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < RECORDS; i++) {
        const int record[2] = {rank * RECORDS + i, -(rank * RECORDS + i)};
        fine("write_shared", MPI_File_write_shared(file, record, 2, MPI_INT, MPI_STATUS_IGNORE));
    }
    barrier();
    fine("get_position_shared", MPI_File_get_position_shared(file, &place));
    expect("shared position", place, 2 * all);
    if (rank == 0) {
        expect("bytes of shared writes", raw_read(path, found, (int64_t)all * 8, 0), (int64_t)all * 8);
        for (int i = 0; i < all; i++)
            if (found[2 * i] < 0 || found[2 * i] >= all || found[2 * i + 1] != -found[2 * i] || seen[found[2 * i]]++) {
                complain("record %d is %d, %d", i, found[2 * i], found[2 * i + 1]);
                break;
            }
    }
    /* Shared reads: every record once over all ranks. */
    fine("sync", MPI_File_sync(file));
    barrier();
    fine("sync", MPI_File_sync(file));
    fine("seek_shared", MPI_File_seek_shared(file, -2 * all, MPI_SEEK_CUR));
    int64_t sum = 0, total = 0;
    for (int i = 0; i < RECORDS; i++) {
        int record[2] = {0, 0};
        fine("read_shared", MPI_File_read_shared(file, record, 2, MPI_INT, MPI_STATUS_IGNORE));
        sum += record[0];
    }
    MPI_Allreduce(&sum, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect("sum of shared reads", total, (int64_t)all * (all - 1) / 2);
    fine("close", MPI_File_close(&file));
    free(found);
    free(seen);
}

static void check_seek_shared(void)
{
    MPI_File file = fresh("cb_nodes=1");
    MPI_Offset place = -1;
    fine("set_size", MPI_File_set_size(file, 1000));
    fine("seek_shared", MPI_File_seek_shared(file, -100, MPI_SEEK_END));
    fine("get_position_shared", MPI_File_get_position_shared(file, &place));
    expect("shared position before the end", place, 900);
    barrier();
    fine("seek_shared", MPI_File_seek_shared(file, 50, MPI_SEEK_CUR));
    fine("get_position_shared", MPI_File_get_position_shared(file, &place));
    expect("shared position moved on", place, 950);
    fails_as("seek_shared before the beginning", MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    if (ranks > 1)
        fails_as("different offsets", MPI_File_seek_shared(file, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    fine("get_position_shared", MPI_File_get_position_shared(file, &place));
    expect("shared position after refusals", place, 950);
    fine("set_view", MPI_File_set_view(file, 100, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    fine("get_position_shared", MPI_File_get_position_shared(file, &place));
    expect("shared position after set_view", place, 0);
    fine("close", MPI_File_close(&file));
}

/* ---- modes ---- */

static void check_append(void)
{
    MPI_File file = fresh("cb_nodes=1");
    MPI_Offset place = -1, shared = -1;
    fine("set_size", MPI_File_set_size(file, 123));
    fine("close", MPI_File_close(&file));
    file = open_file(path, AMODE | MPI_MODE_APPEND, MPI_INFO_NULL);
    fine("get_position", MPI_File_get_position(file, &place));
    fine("get_position_shared", MPI_File_get_position_shared(file, &shared));
    expect("position of an appending file", place, 123);
    expect("shared position of an appending file", shared, 123);
    barrier();
    const char data = letter(rank, 0);
    fine("write_ordered", MPI_File_write_ordered(file, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("write_at", MPI_File_write_at(file, rank, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE)); /* not to the end */
    fine("close", MPI_File_close(&file));
    expect("size after appending", raw_size(path), 123 + ranks);
    char found = 0;
    raw_read(path, &found, 1, 123 + rank);
    expect("an appended byte", found, letter(rank, 0));
}

static void check_delete_on_close(void)
{
    MPI_File file = fresh("cb_nodes=1");
    fine("close", MPI_File_close(&file));
    file = open_file(path, AMODE | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL);
    expect("the file is there", raw_size(path), 0);
    barrier();
    fine("write_at_all", MPI_File_write_at_all(file, rank, "d", 1, MPI_BYTE, MPI_STATUS_IGNORE));
    barrier();
    fine("close", MPI_File_close(&file));
    barrier();
    expect("the file is gone", raw_size(path), -1);
    MPI_File other;
    fails_as("opening it again", MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &other),
             MPI_ERR_NO_SUCH_FILE);
}

/* A stream: only the shared pointer, and a view from where it is. */
static void check_sequential(void)
{
    barrier();
    if (rank == 0)
        unlink(path);
    barrier();
    MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL);
    const char data[2] = {letter(rank, 0), letter(rank, 1)};
    fine("write_ordered", MPI_File_write_ordered(file, data, 2, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("set_view", MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    fine("write_ordered", MPI_File_write_ordered(file, data, 2, MPI_BYTE, MPI_STATUS_IGNORE));
    fails_as("write_at in a stream", MPI_File_write_at(file, 0, data, 1, MPI_BYTE, MPI_STATUS_IGNORE),
             MPI_ERR_UNSUPPORTED_OPERATION);
    fails_as("seek in a stream", MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    fails_as("seek_shared in a stream", MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    fine("close", MPI_File_close(&file));
    char wanted[256];
    for (int i = 0; i < 4 * ranks; i++)
        wanted[i] = letter(i / 2 % ranks, i % 2);
    expect_file("a stream", wanted, 4 * ranks);
}

/* ---- views and positions ---- */

static void check_view(void)
{
    MPI_File file = fresh("cb_nodes=1");
    MPI_Datatype vector, filetype, etype, got;
    MPI_Offset disp = -1, place = -1;
    MPI_Aint lb = -1, extent = -1;
    int size = -1;
    char datarep[MPI_MAX_DATAREP_STRING + 1] = "";
    MPI_Type_vector(3, 2, 5, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 80, &filetype);
    MPI_Type_commit(&filetype);
    fine("seek", MPI_File_seek(file, 77, MPI_SEEK_SET));
    fine("set_view", MPI_File_set_view(file, 16, MPI_INT, filetype, "native", MPI_INFO_NULL));
    MPI_Type_free(&filetype); /* the file keeps its own */
    MPI_Type_free(&vector);
    fine("get_position", MPI_File_get_position(file, &place));
    expect("position after set_view", place, 0);
    fine("get_view", MPI_File_get_view(file, &disp, &etype, &got, datarep));
    expect("displacement", disp, 16);
    expect("etype", etype == MPI_INT, 1);
    expect("data representation", strcmp(datarep, "native"), 0);
    MPI_Type_size(got, &size);
    MPI_Type_get_extent(got, &lb, &extent);
    expect("size of the filetype", size, 24);
    expect("extent of the filetype", extent, 80);
    fine("set_view with what get_view gave", MPI_File_set_view(file, disp, etype, got, datarep, MPI_INFO_NULL));
    MPI_Type_free(&got);
    static const int64_t places[] = {16, 20, 36, 40, 56, 60, 96, 100};
    for (int i = 0; i < 8; i++) {
        fine("get_byte_offset", MPI_File_get_byte_offset(file, i, &disp));
        expect("byte offset", disp, places[i]);
    }
    fine("seek", MPI_File_seek(file, 4, MPI_SEEK_SET));
    fine("seek", MPI_File_seek(file, 3, MPI_SEEK_CUR));
    fine("get_position", MPI_File_get_position(file, &place));
    expect("position", place, 7);
    fine("set_size", MPI_File_set_size(file, 16 + 40)); /* the view then has 5 whole etypes: 0 to 4 begin before 56 */
    fine("seek", MPI_File_seek(file, 0, MPI_SEEK_END));
    fine("get_position", MPI_File_get_position(file, &place));
    expect("position at the end", place, 4);
    fine("get_type_extent", MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    expect("extent of a double", extent, 8);
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    fine("get_view", MPI_File_get_view(file, &disp, &etype, &got, datarep));
    expect("predefined types come back as themselves", etype == MPI_BYTE && got == MPI_BYTE, 1);
    fine("close", MPI_File_close(&file));
}

static void check_handles(void)
{
    MPI_File file = fresh("cb_nodes=1");
    MPI_Group group, world;
    int same = MPI_UNEQUAL, amode = 0;
    fine("get_group", MPI_File_get_group(file, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    expect("the group is the communicator's", same, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    fine("get_amode", MPI_File_get_amode(file, &amode));
    expect("access mode", amode, AMODE);
    expect("to Fortran and back", MPI_File_f2c(MPI_File_c2f(file)) == file, 1);
    expect("MPI_FILE_NULL to Fortran and back", MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, 1);
    const MPI_Fint number = MPI_File_c2f(file);
    MPI_File second = open_file(path, AMODE, MPI_INFO_NULL);
    expect("two files have two numbers", MPI_File_c2f(second) == number, 0);
    fine("close", MPI_File_close(&second));
    fine("close", MPI_File_close(&file));
    expect("the number of a closed file", MPI_File_f2c(number) == MPI_FILE_NULL, 1);
}

/* ---- sizes ---- */

static void check_sizes(void)
{
    MPI_File file = fresh("cb_nodes=1");
    MPI_Offset size = -1;
    char wanted[5000] = {0};
    memset(wanted, 's', 100);
    if (rank == 0)
        fine("write_at", MPI_File_write_at(file, 0, wanted, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("preallocate", MPI_File_preallocate(file, 50));
    fine("get_size", MPI_File_get_size(file, &size));
    expect("preallocating less than there is shortens", size, 100);
    barrier();
    fine("preallocate", MPI_File_preallocate(file, 5000));
    fine("get_size", MPI_File_get_size(file, &size));
    expect("size after preallocate", size, 5000);
    expect_file("preallocate keeps and adds zeros", wanted, 5000);
    fine("set_size", MPI_File_set_size(file, 60));
    fine("get_size", MPI_File_get_size(file, &size));
    expect("size after truncation", size, 60);
    barrier();
    fine("set_size", MPI_File_set_size(file, 3000));
    memset(wanted + 60, 0, 100);
    expect_file("set_size cuts and adds zeros", wanted, 3000);
    if (ranks > 1)
        fails_as("different sizes", MPI_File_set_size(file, 100 + rank), MPI_ERR_NOT_SAME);
    fine("get_size", MPI_File_get_size(file, &size));
    expect("size after a refusal", size, 3000);
    fine("close", MPI_File_close(&file));
}

static void check_end_of_file(const char *hints)
{
    MPI_File file = fresh(hints);
    char data[100];
    int count = -1;
    MPI_Status status;
    MPI_Offset place;
    fine("set_size", MPI_File_set_size(file, 130));
    static const int64_t begins[] = {0, 50, 100, 129, 130, 500, INT64_C(1) << 40};
    for (int i = 0; i < 7; i++) {
        const int64_t left = 130 - begins[i], wanted = left < 0 ? 0 : left < 100 ? left : 100;
        fine("read_at", MPI_File_read_at(file, begins[i], data, 100, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &count);
        expect("bytes read at the end", count, wanted);
        fine("read_at_all", MPI_File_read_at_all(file, begins[i], data, 100, MPI_BYTE, &status));
        MPI_Get_count(&status, MPI_BYTE, &count);
        expect("bytes read together at the end", count, wanted);
    }
    fine("seek", MPI_File_seek(file, 100, MPI_SEEK_SET));
    fine("read", MPI_File_read(file, data, 50, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    expect("bytes read by the pointer", count, 30);
    fine("get_position", MPI_File_get_position(file, &place)); /* as MPI-IO libraries do: by what was asked for */
    expect("position behind a short read", place == 130 || place == 150, 1);
    fine("read of nothing", MPI_File_read_at_all(file, 0, NULL, 0, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    expect("bytes of nothing", count, 0);
    fine("close", MPI_File_close(&file));
}

static void check_far(const char *hints)
{
    MPI_File file = fresh(hints);
    const int64_t far = (INT64_C(5) << 30) + 3;
    char data[1000], back[1000], raw[1000];
    MPI_Offset size, place;
    for (int i = 0; i < 1000; i++)
        data[i] = letter(rank, i);
    const MPI_Offset mine = far + (MPI_Offset)rank * 1000;
    fine("write_at_all", MPI_File_write_at_all(file, mine, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("sync", MPI_File_sync(file));
    barrier();
    fine("sync", MPI_File_sync(file));
    fine("get_size", MPI_File_get_size(file, &size));
    expect("size of a sparse file", size, far + ranks * 1000);
    expect("bytes read directly", raw_read(path, raw, 1000, mine), 1000);
    expect("far data", memcmp(raw, data, 1000), 0);
    fine("seek", MPI_File_seek(file, mine, MPI_SEEK_SET));
    fine("read_all", MPI_File_read_all(file, back, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    expect("far data read back", memcmp(back, data, 1000), 0);
    fine("get_position", MPI_File_get_position(file, &place));
    expect("far position", place, mine + 1000);
    /* A view of doubles: offsets in etypes lead beyond 2^31 bytes, too. */
    fine("set_view", MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    fine("get_byte_offset", MPI_File_get_byte_offset(file, INT64_C(1) << 31, &place));
    expect("byte of element 2^31", place, INT64_C(1) << 34);
    fine("seek_shared", MPI_File_seek_shared(file, INT64_C(1) << 31, MPI_SEEK_SET));
    fine("get_position_shared", MPI_File_get_position_shared(file, &place));
    expect("far shared position", place, INT64_C(1) << 31);
    fine("close", MPI_File_close(&file));
}

/* ---- names ---- */

static void check_prefix(void)
{
    char name[1100];
    MPI_File file = fresh("cb_nodes=1");
    fine("close", MPI_File_close(&file));
    snprintf(name, sizeof name, "ufs:%s", path);
    file = open_file(name, AMODE, MPI_INFO_NULL);
    fine("set_size", MPI_File_set_size(file, 321));
    fine("close", MPI_File_close(&file));
    expect("the file behind the prefix", raw_size(path), 321);
    barrier();
    if (rank == 0)
        fine("delete", MPI_File_delete(name, MPI_INFO_NULL));
    barrier();
    expect("deleted behind the prefix", raw_size(path), -1);
    fails_as("deleting what is not there", MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

/* ---- consistency ---- */

/* After sync, barrier, sync every rank sees what the others wrote. */
static void check_sync(void)
{
    MPI_File file = fresh("cb_nodes=1");
    for (int turn = 0; turn < 10; turn++) {
        const int mine = 1000 * turn + rank;
        int found = -1;
        fine("write_at", MPI_File_write_at(file, 4 * rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
        fine("sync", MPI_File_sync(file));
        barrier();
        fine("sync", MPI_File_sync(file));
        const int other = (rank + 1) % ranks;
        fine("read_at", MPI_File_read_at(file, 4 * other, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
        expect("what another rank wrote", found, 1000 * turn + other);
        barrier();
    }
    fine("close", MPI_File_close(&file));
}

/* In atomic mode a reader sees all of a write or nothing of it. */
static void check_atomic(void)
{
    enum { BYTES = 40000 };
    static char data[BYTES];
    MPI_File file = fresh("cb_nodes=1");
    int flag = 0;
    fine("set_atomicity", MPI_File_set_atomicity(file, 1));
    fine("get_atomicity", MPI_File_get_atomicity(file, &flag));
    expect("atomicity", flag, 1);
    memset(data, 'z', BYTES);
    fine("write_at_all", MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int turn = 0; turn < 12; turn++) {
        if (rank % 2 == 0) {
            memset(data, 'a' + (rank + turn) % 20, BYTES);
            fine("write_at", MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        } else {
            fine("read_at", MPI_File_read_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
            for (int i = 1; i < BYTES; i++)
                if (data[i] != data[0]) {
                    complain("an atomic read saw parts of two writes: %c and %c", data[0], data[i]);
                    break;
                }
        }
    }
    barrier();
    fine("set_atomicity", MPI_File_set_atomicity(file, 0));
    fine("close", MPI_File_close(&file));
}

/* Small pieces of all ranks interleaved, written at the same time by independent calls; each rank leaves gaps that
 * belong to the others, and some bytes are nobody's. */
static void check_sieving(const char *hints, int amode)
{
    enum { PIECES = 2000, PIECE = 5 };
    const int period = ranks * PIECE + 3;
    static char data[PIECES * PIECE];
    char *wanted = malloc((size_t)(PIECES * period));
    MPI_File file = fresh("cb_nodes=1");
    MPI_Datatype filetype, piece;
    memset(wanted, 'u', (size_t)(PIECES * period));
    if (rank == 0)
        fine("write_at", MPI_File_write_at(file, 0, wanted, PIECES * period, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("close", MPI_File_close(&file));
    file = open_with(path, AMODE | amode, hints);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, period, &filetype);
    MPI_Type_commit(&filetype);
    fine("set_view", MPI_File_set_view(file, rank * PIECE, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    for (int64_t i = 0; i < PIECES * PIECE; i++)
        data[i] = letter(rank, i);
    for (int64_t i = 0; i < PIECES; i++)
        for (int who = 0; who < ranks; who++)
            for (int k = 0; k < PIECE; k++)
                wanted[i * period + who * PIECE + k] = letter(who, i * PIECE + k);
    barrier();
    for (int at = 0; at < PIECES * PIECE; at += 2500) /* several calls, that the ranks make at different times */
        fine("write", MPI_File_write(file, data + at, 2500, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("sync", MPI_File_sync(file));
    expect_file(hints, wanted, (int64_t)PIECES * period);
    fine("close", MPI_File_close(&file));
    MPI_Type_free(&filetype);
    MPI_Type_free(&piece);
    free(wanted);
}

/* Two files of different ranks on the same bytes: the even ranks write with gaps, together; the odd ranks write into
 * these gaps, each alone. Nothing overlaps, so nothing may get lost. */
static void check_two_handles(const char *even_hints, const char *odd_hints)
{
    enum { TURNS = 30, SPAN = 4096, PIECE = 16 };
    MPI_File file = fresh("cb_nodes=1"), mine;
    MPI_Comm part;
    fine("set_size", MPI_File_set_size(file, (MPI_Offset)TURNS * SPAN));
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    MPI_Info info = info_of(rank % 2 ? odd_hints : even_hints);
    fine("open", MPI_File_open(part, path, AMODE, info, &mine));
    MPI_Info_free(&info);
    static char data[TURNS * SPAN];
    memset(data, rank % 2 ? 'o' : 'e', sizeof data);
    const int half = rank / 2, halves = rank % 2 ? ranks / 2 : (ranks + 1) / 2;
    MPI_Datatype piece, filetype;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)2 * PIECE * halves, &filetype);
    MPI_Type_commit(&filetype);
    const MPI_Offset disp = PIECE * (2 * half + rank % 2);
    if (rank % 2 == 0)
        fine("set_view", MPI_File_set_view(mine, disp, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    const int bytes = TURNS * SPAN / 2 / halves / PIECE * PIECE;
    barrier();
    if (rank % 2 == 0) {
        for (int at = 0; at < bytes; at += PIECE * 16)
            fine("write_at_all",
                 MPI_File_write_at_all(mine, at, data, bytes - at < PIECE * 16 ? bytes - at : PIECE * 16, MPI_BYTE,
                                       MPI_STATUS_IGNORE));
    } else {
        for (int at = 0; at < bytes; at += PIECE)
            fine("write_at",
                 MPI_File_write_at(mine, disp + (MPI_Offset)at * 2 * halves, data, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    barrier();
    fine("close", MPI_File_close(&mine));
    fine("close", MPI_File_close(&file));
    barrier();
    /* Each rank looks at its own bytes. */
    raw_read(path, data, sizeof data, 0);
    for (int at = 0; at < bytes; at++) {
        const int64_t place = disp + (int64_t)(at / PIECE) * 2 * PIECE * halves + at % PIECE;
        if (data[place] != (rank % 2 ? 'o' : 'e')) {
            complain("two handles (%s): byte %" PRId64 " is lost: %d", even_hints, place, data[place]);
            break;
        }
    }
    MPI_Type_free(&filetype);
    MPI_Type_free(&piece);
    MPI_Comm_free(&part);
}

/* A rank's own write that is still under way, into the gaps of a collective one: nothing overlaps here either. */
static void check_under_way(const char *hints)
{
    enum { TURNS = 200, PIECE = 64 };
    const int period = 2 * PIECE * ranks;
    char own[PIECE], together[PIECE], found[2 * PIECE];
    MPI_File file = fresh(hints);
    memset(own, 'o', PIECE);
    memset(together, 't', PIECE);
    for (int turn = 0; turn < TURNS; turn++) {
        const MPI_Offset place = (MPI_Offset)turn * period + 2 * PIECE * rank;
        MPI_Request request;
        fine("iwrite_at", MPI_File_iwrite_at(file, place + PIECE, own, PIECE, MPI_BYTE, &request));
        fine("write_at_all", MPI_File_write_at_all(file, place, together, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
        fine("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    fine("sync", MPI_File_sync(file));
    for (int turn = 0; turn < TURNS; turn++) {
        raw_read(path, found, sizeof found, (int64_t)turn * period + 2 * PIECE * rank);
        if (memcmp(found, together, PIECE) != 0 || memcmp(found + PIECE, own, PIECE) != 0) {
            complain("%s: a write beside a collective one is lost in turn %d", hints, turn);
            break;
        }
    }
    fine("close", MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    static const char *const strategies[] = {"piolet_strategy=twophase", "piolet_strategy=independent", "cb_nodes=1"};
    check_begin(&argc, &argv);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    path = argv[1];
    if (argc == 3) {
        for (int i = 0; i < 15; i++)
            check_two_handles(strategies[0], "cb_nodes=1");
        check_under_way("piolet_strategy=twophase");
        check_under_way("piolet_strategy=twophase;romio_ds_write=enable");
        check_under_way("piolet_strategy=independent;romio_ds_write=enable");
        return check_end("beside");
    }
    for (int i = 0; i < 3; i++) {
        check_ordered(strategies[i]);
        check_shared(strategies[i]);
        check_end_of_file(strategies[i]);
        check_far(strategies[i]);
    }
    check_seek_shared();
    check_append();
    check_delete_on_close();
    check_sequential();
    check_view();
    check_handles();
    check_sizes();
    check_prefix();
    check_sync();
    check_atomic();
    check_sieving("romio_ds_write=enable", 0);
    check_sieving("romio_ds_write=enable;ind_wr_buffer_size=1000", 0);
    check_sieving("romio_ds_write=disable", 0);
    check_sieving("romio_ds_write=automatic", 0);
    check_sieving("romio_ds_write=automatic", MPI_MODE_UNIQUE_OPEN);
    barrier();
    if (rank == 0)
        unlink(path);
    return check_end("engine_semantics");
}
