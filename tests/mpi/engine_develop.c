/* Ranks in different collective calls: engine_develop FILE CASE HINTS. Called by engine_develop.sh, which has set
 * PIOLET_DEVELOP=1. The odd ranks make the second call of the pair.
 *   right  all ranks in the same calls      write_read, all_at, ordered_all, view  see PAIRS */
#include "engine_check.c"

enum { BYTES = 3000 };

static char buffer[BYTES];

enum call { WRITE_ALL, READ_ALL, WRITE_AT_ALL, WRITE_ORDERED, READ_AT_ALL };

static const char *const NAMES[] = {"MPI_File_write_all", "MPI_File_read_all", "MPI_File_write_at_all",
                                    "MPI_File_write_ordered", "MPI_File_read_at_all"};

static int run(MPI_File file, enum call call)
{
    memset(buffer, 'a' + rank, sizeof buffer);
    switch (call) {
    case WRITE_ALL:
        return MPI_File_write_all(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    case READ_ALL:
        return MPI_File_read_all(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    case WRITE_AT_ALL:
        return MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    case WRITE_ORDERED:
        return MPI_File_write_ordered(file, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    default:
        return MPI_File_read_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

static const struct {
    const char *name;
    enum call even, odd;
} PAIRS[] = {
    {"write_read", WRITE_ALL, READ_ALL},
    {"all_at", WRITE_ALL, WRITE_AT_ALL},
    {"ordered_all", WRITE_ORDERED, WRITE_ALL},
    {"read_write_at", READ_AT_ALL, WRITE_AT_ALL},
};

/* What all ranks wrote in turn, and the next call, are as if nothing had happened. */
static void check_right(MPI_File file, const char *path)
{
    fine("write_at_all", run(file, WRITE_AT_ALL));
    fine("sync", MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    fine("read_at_all", run(file, READ_AT_ALL));
    for (int i = 0; i < BYTES; i++)
        if (buffer[i] != 'a' + rank) {
            complain("byte %d read is %d", i, buffer[i]);
            break;
        }
    for (int64_t i = 0; rank == 0 && i < (int64_t)BYTES * ranks; i += 7) {
        char byte = 0;
        raw_read(path, &byte, 1, i);
        if (byte != 'a' + i / BYTES) {
            complain("byte %" PRId64 " of the file is %d", i, byte);
            break;
        }
    }
    fine("seek_shared", MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    fine("write_ordered", run(file, WRITE_ORDERED));
}

static void check_pair(MPI_File file, enum call even, enum call odd)
{
    const int code = run(file, rank % 2 ? odd : even);
    fails_as("different calls", code, MPI_ERR_NOT_SAME);
    has_words(code, NAMES[even]);
    has_words(code, NAMES[odd]);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File file = open_with(argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, argv[3]);
    check_right(file, argv[1]);
    for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++)
        if (strcmp(PAIRS[i].name, argv[2]) == 0) {
            check_pair(file, PAIRS[i].even, PAIRS[i].odd);
            fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
            check_right(file, argv[1]);
        }
    fine("close", MPI_File_close(&file));
    return check_end(argv[2]);
}
