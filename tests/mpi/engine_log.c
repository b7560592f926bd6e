/* A program whose calls the log shows: engine_log DIRECTORY. Called by engine_log.sh. Opens two files; writes, reads,
 * and makes one mistake. Nothing here depends on the log. */
#include "engine_check.c"

enum { BYTES = 1000 };

int main(int argc, char **argv)
{
    static char buffer[BYTES];
    char first[1024], second[1024];
    check_begin(&argc, &argv);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(first, sizeof first, "%s/first file", argv[1]);
    snprintf(second, sizeof second, "%s/second", argv[1]);
    MPI_File a = open_file(first, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    MPI_File b = open_file(second, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    const MPI_Offset place = (MPI_Offset)rank * BYTES;
    fine("write_at", MPI_File_write_at(a, place, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("write_at_all", MPI_File_write_at_all(a, 1000000 + place, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    fine("read_at", MPI_File_read_at(a, 1000000 + place, buffer, BYTES / 4, MPI_INT, MPI_STATUS_IGNORE));
    fails_as("a count below 0", MPI_File_write_at(a, 0, buffer, -1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    fine("write_shared", MPI_File_write_shared(b, buffer, 10, MPI_BYTE, MPI_STATUS_IGNORE));
    fails_as("a size below 0", MPI_File_set_size(b, -7), MPI_ERR_ARG);
    fine("close", MPI_File_close(&a));
    fine("close", MPI_File_close(&b));
    expect("bytes of the first file", raw_size(first), 1000000 + (int64_t)ranks * BYTES);
    return check_end("engine_log");
}
