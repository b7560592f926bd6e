/* Looking at what another rank wrote: engine_develop_sync FILE CASE. Called by engine_develop_sync.sh, which has set
 * PIOLET_DEVELOP=1 and looks for the warning. See CASES. */
#include "engine_check.c"

enum { BYTES = 100 };

static char buffer[BYTES];

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void write_mine(MPI_File file)
{
    memset(buffer, 'a' + rank, sizeof buffer);
    fine("write_at", MPI_File_write_at(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void read_of(MPI_File file, int whose)
{
    fine("read_at", MPI_File_read_at(file, (MPI_Offset)whose * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
}

static int next(void)
{
    return (rank + 1) % ranks;
}

static void sync_file(MPI_File file)
{
    fine("sync", MPI_File_sync(file));
}

static void sync_barrier_sync(MPI_File file)
{
    sync_file(file);
    meet();
    sync_file(file);
}

static int64_t size_of(MPI_File file)
{
    MPI_Offset size = -1;
    fine("get_size", MPI_File_get_size(file, &size));
    return size;
}

/* Rank r has the r-th of every `ranks` bytes. */
static void set_strided(MPI_File file)
{
    MPI_Datatype one;
    MPI_Type_create_resized(MPI_BYTE, 0, ranks, &one);
    MPI_Type_commit(&one);
    fine("set_view", MPI_File_set_view(file, rank, MPI_BYTE, one, "native", MPI_INFO_NULL));
    MPI_Type_free(&one);
}

/* ---- wrong: a rank looks at what another one wrote ---- */

static void wrong_read(MPI_File file)
{
    if (rank == 0)
        write_mine(file);
    meet();
    if (rank == 1)
        read_of(file, 0);
}

static void wrong_size(MPI_File file)
{
    if (rank == 0)
        write_mine(file);
    meet();
    if (rank == 1)
        size_of(file);
}

static void wrong_end(MPI_File file)
{
    if (rank == 0)
        write_mine(file);
    meet();
    if (rank == 1)
        fine("seek", MPI_File_seek(file, 0, MPI_SEEK_END));
}

static void wrong_shared_end(MPI_File file)
{
    if (rank == 0)
        write_mine(file);
    meet();
    fine("seek_shared", MPI_File_seek_shared(file, 0, MPI_SEEK_END));
}

/* The bytes are nobody's, but that there are any is rank 0's doing. */
static void wrong_hole(MPI_File file)
{
    if (rank == 0)
        fine("write_at", MPI_File_write_at(file, 10 * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet();
    if (rank == 1)
        read_of(file, 1);
}

static void wrong_collective(MPI_File file)
{
    fine("write_at_all",
         MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("read_at_all",
         MPI_File_read_at_all(file, (MPI_Offset)next() * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void wrong_ordered(MPI_File file)
{
    fine("write_ordered", MPI_File_write_ordered(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet();
    read_of(file, next());
}

static void wrong_shared(MPI_File file)
{
    if (rank == 0)
        fine("write_shared", MPI_File_write_shared(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet();
    if (rank == 1)
        read_of(file, 0);
}

static void wrong_strided(MPI_File file)
{
    set_strided(file);
    fine("write_all", MPI_File_write_all(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    meet();
    fine("read_at", MPI_File_read_at(file, next(), buffer, 1, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void wrong_request(MPI_File file)
{
    MPI_Request request;
    if (rank == 0) {
        fine("iwrite_at", MPI_File_iwrite_at(file, 0, buffer, BYTES, MPI_BYTE, &request));
        fine("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    meet();
    if (rank == 1) {
        fine("iread_at", MPI_File_iread_at(file, 0, buffer, BYTES, MPI_BYTE, &request));
        fine("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void wrong_split(MPI_File file)
{
    fine("begin", MPI_File_write_at_all_begin(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE));
    fine("end", MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE));
    fine("begin", MPI_File_read_at_all_begin(file, (MPI_Offset)next() * BYTES, buffer, BYTES, MPI_BYTE));
    fine("end", MPI_File_read_at_all_end(file, buffer, MPI_STATUS_IGNORE));
}

/* Rank 0 writes again after the last sync. */
static void wrong_after(MPI_File file)
{
    if (rank == 0)
        write_mine(file);
    sync_barrier_sync(file);
    if (rank == 0)
        write_mine(file);
    meet();
    if (rank == 1)
        read_of(file, 0);
}

/* Many of them: one warning. */
static void wrong_often(MPI_File file)
{
    for (int i = 0; i < 50; i++) {
        write_mine(file);
        meet();
        read_of(file, next());
        size_of(file);
        meet();
    }
}

/* ---- one sync only ---- */

static void once(MPI_File file)
{
    write_mine(file);
    sync_file(file);
    meet();
    read_of(file, next());
}

/* ---- right ---- */

static void right_sync(MPI_File file)
{
    for (int i = 0; i < 3; i++) {
        write_mine(file);
        sync_barrier_sync(file);
        read_of(file, next());
        expect("byte", buffer[0], 'a' + next());
        expect("size", size_of(file), (int64_t)ranks * BYTES);
        sync_barrier_sync(file); /* reading must be over, too */
    }
}

static void right_atomic(MPI_File file)
{
    fine("set_atomicity", MPI_File_set_atomicity(file, 1));
    write_mine(file);
    meet();
    read_of(file, next());
    size_of(file);
}

static void right_own(MPI_File file)
{
    write_mine(file);
    meet();
    read_of(file, rank);
    sync_barrier_sync(file); /* the bytes change hands */
    set_strided(file);
    fine("write_all", MPI_File_write_all(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("read_at_all", MPI_File_read_at_all(file, 0, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* Writing within the file changes no size, and setting it is everybody's own doing. */
static void right_size(MPI_File file)
{
    fine("set_size", MPI_File_set_size(file, (MPI_Offset)ranks * BYTES));
    write_mine(file);
    meet();
    expect("size", size_of(file), (int64_t)ranks * BYTES);
    meet();
    fine("write_at",
         MPI_File_write_at(file, (MPI_Offset)(ranks + rank) * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("set_size", MPI_File_set_size(file, BYTES));
    expect("size", size_of(file), BYTES);
    meet();
    if (rank == 0)
        fine("write_at", MPI_File_write_at(file, 5 * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    if (rank == 0)
        expect("size", size_of(file), 6 * BYTES);
}

/* What was there before, and reading before writing. */
static void right_before(MPI_File file)
{
    write_mine(file);
    sync_barrier_sync(file);
    for (int i = 0; i < ranks; i++)
        read_of(file, i);
    meet();
    write_mine(file);
}

static const struct {
    const char *name;
    void (*run)(MPI_File file);
} CASES[] = {
    {"wrong_read", wrong_read},       {"wrong_size", wrong_size},
    {"wrong_end", wrong_end},         {"wrong_shared_end", wrong_shared_end},
    {"wrong_hole", wrong_hole},       {"wrong_collective", wrong_collective},
    {"wrong_ordered", wrong_ordered}, {"wrong_shared", wrong_shared},
    {"wrong_strided", wrong_strided}, {"wrong_request", wrong_request},
    {"wrong_split", wrong_split},     {"wrong_after", wrong_after},
    {"wrong_often", wrong_often},     {"once", once},
    {"right_sync", right_sync},       {"right_atomic", right_atomic},
    {"right_own", right_own},         {"right_size", right_size},
    {"right_before", right_before},
};

/* "wrong": all of those, each on a file of its own. "right": all of those on one file, which is closed and opened in
 * between, and looked at at once. */
int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const bool right = strcmp(argv[2], "right") == 0;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char path[1024];
        if (strncmp(CASES[i].name, argv[2], strlen(argv[2])) != 0)
            continue;
        snprintf(path, sizeof path, "%s.%s", argv[1], right ? argv[2] : CASES[i].name);
        MPI_File file = open_with(path, MPI_MODE_CREATE | MPI_MODE_RDWR, argv[3]);
        if (right) {
            read_of(file, next());
            size_of(file);
            meet();
        }
        CASES[i].run(file);
        fine("close", MPI_File_close(&file));
    }
    return check_end(argv[2]);
}
