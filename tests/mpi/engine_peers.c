/* What the engine keeps of a communicator between files: engine_peers FOLDER OPENS MANY. Called by engine_peers.sh. */
#include "engine_check.c"

#include <dirent.h>
#include <pthread.h>

static const char *folder;
enum { PIECE = 1000, PIECES = 300 };

static const char *path_of(const char *name, int number)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d", folder, name, number);
    return path;
}

/* ---- one file ---- */

/* Pieces of all ranks in turn, so that they have to be put together. */
static void set_view(MPI_File file, MPI_Comm comm)
{
    int own, all;
    MPI_Datatype type;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &all);
    MPI_Type_vector(PIECES, PIECE, all * PIECE, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    fine("set_view", MPI_File_set_view(file, (MPI_Offset)own * PIECE, MPI_BYTE, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
}

static void fill(char *data, int own, int salt)
{
    for (int i = 0; i < PIECES * PIECE; i++)
        data[i] = (char)(i / 7 + own * 31 + salt * 17);
}

static void expect_data(const char *what, const char *data, int own, int salt)
{
    static char wanted[PIECES * PIECE];
    fill(wanted, own, salt);
    if (memcmp(data, wanted, sizeof wanted) != 0)
        complain("%s: wrong data", what);
}

static MPI_File open_on(MPI_Comm comm, const char *path)
{
    MPI_File file = MPI_FILE_NULL;
    fine("open", MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    return file;
}

static void write_and_read(MPI_File file, MPI_Comm comm, int salt)
{
    static char data[PIECES * PIECE], back[PIECES * PIECE];
    MPI_Offset shared = -1;
    int own;
    MPI_Comm_rank(comm, &own);
    fine("get_position_shared", MPI_File_get_position_shared(file, &shared));
    expect("the shared file pointer of a file just opened", shared, 0);
    set_view(file, comm);
    fill(data, own, salt);
    fine("write_all", MPI_File_write_all(file, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
    memset(back, 0, sizeof back);
    fine("read_at_all", MPI_File_read_at_all(file, 0, back, sizeof back, MPI_BYTE, MPI_STATUS_IGNORE));
    expect_data("what was written", back, own, salt);
    fine("write_ordered", MPI_File_write_ordered(file, data, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* ---- the communicator ---- */

/* It goes while files of it are open, and others of it come and go. */
static void freed_early(void)
{
    MPI_Comm comm, twin;
    MPI_File files[3];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    MPI_Comm_dup(comm, &twin);
    for (int i = 0; i < 3; i++)
        files[i] = open_on(i == 1 ? twin : comm, path_of("early", rank % 2 * 3 + i));
    MPI_Comm_free(&twin);
    write_and_read(files[1], comm, 1);
    fine("close", MPI_File_close(&files[0]));
    files[0] = open_on(comm, path_of("early", rank % 2 * 3));
    write_and_read(files[2], comm, 2);
    write_and_read(files[0], comm, 3);
    fine("close", MPI_File_close(&files[1]));
    MPI_Comm reference;
    MPI_Comm_dup(comm, &reference);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&reference);
    fine("sync", MPI_File_sync(files[2]));
    fine("close", MPI_File_close(&files[2]));
    fine("close", MPI_File_close(&files[0]));
}

/* A library that duplicates the communicator for each of its files, and frees it with the file. */
static void duplicated(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_File file = open_on(comm, path_of("dup", 0));
        if (i % 2 == 0)
            MPI_Comm_free(&comm);
        write_and_read(file, MPI_COMM_WORLD, i);
        fine("close", MPI_File_close(&file));
        if (i % 2 != 0)
            MPI_Comm_free(&comm);
    }
}

/* Accesses of many files of one communicator are under way at once, posted in another order by each rank. */
static void at_once(void)
{
    enum { FILES = 9 };
    static char data[FILES][PIECES * PIECE], back[FILES][PIECES * PIECE];
    MPI_File files[FILES];
    MPI_Request requests[FILES];
    for (int i = 0; i < FILES; i++) {
        files[i] = open_on(MPI_COMM_WORLD, path_of("once", i));
        set_view(files[i], MPI_COMM_WORLD);
        fill(data[i], rank, i);
    }
    for (int turn = 0; turn < 2 * FILES; turn++) {
        const int i = (turn + rank) % FILES;
        if (turn == FILES)
            MPI_Waitall(FILES, requests, MPI_STATUSES_IGNORE);
        if (turn < FILES)
            fine("iwrite_at_all", MPI_File_iwrite_at_all(files[i], 0, data[i], sizeof data[i], MPI_BYTE, &requests[i]));
        else
            fine("iread_at_all", MPI_File_iread_at_all(files[i], 0, back[i], sizeof back[i], MPI_BYTE, &requests[i]));
    }
    MPI_Waitall(FILES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < FILES; i++) {
        expect_data("of files that were written at once", back[i], rank, i);
        fine("close", MPI_File_close(&files[i]));
    }
}

/* ---- memory ---- */

static int64_t resident_bytes(void) /* of this process, its part of what is shared included */
{
    char line[256];
    long kib = 0;
    FILE *stream = fopen("/proc/self/smaps_rollup", "r");
    while (stream && fgets(line, sizeof line, stream))
        if (sscanf(line, "Pss: %ld kB", &kib) == 1)
            break;
    if (stream)
        fclose(stream);
    return (int64_t)kib * 1024;
}

static int descriptors(void)
{
    int count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list && readdir(list))
        count++;
    if (list)
        closedir(list);
    return count;
}

static void again_and_again(int opens)
{
    int64_t before = 0;
    int open_before = 0;
    for (int i = 0; i < opens; i++) {
        if (i == opens / 10) { /* what is kept is there */
            before = resident_bytes();
            open_before = descriptors();
        }
        MPI_File file = open_on(MPI_COMM_WORLD, path_of("again", 0));
        if (i % 100 == 0)
            write_and_read(file, MPI_COMM_WORLD, i);
        fine("close", MPI_File_close(&file));
    }
    const int64_t more = resident_bytes() - before;
    expect("descriptors after many files", descriptors(), open_before);
    if (more > (2 << 20) + (int64_t)opens * 40)
        complain("%d files, opened and closed, keep %" PRId64 " bytes", opens, more);
}

/* Every file has been written through memory that ranks share. */
static void many_open(int many)
{
    static char data[PIECES * PIECE];
    MPI_File *files = malloc((size_t)many * sizeof *files);
    const int64_t before = resident_bytes();
    fill(data, rank, 0);
    for (int i = 0; i < many; i++) {
        files[i] = open_on(MPI_COMM_WORLD, path_of("many", i % 3));
        set_view(files[i], MPI_COMM_WORLD);
        fine("write_all", MPI_File_write_all(files[i], data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    const int64_t each = (resident_bytes() - before) / many;
    if (each > 1000000)
        complain("each of %d files keeps %" PRId64 " bytes", many, each);
    for (int i = 0; i < many; i++)
        fine("close", MPI_File_close(&files[i]));
    free(files);
}

/* ---- threads ---- */

static MPI_Comm twins[2];

/* Each thread has a communicator of its own, and opens files on it whenever it comes to it. */
static void *open_in_thread(void *arg)
{
    const int number = *(int *)arg;
    char path[4096], byte = (char)('a' + number);
    snprintf(path, sizeof path, "%s/twin.%d", folder, number);
    for (int i = 0; i < 100; i++) {
        MPI_File file = MPI_FILE_NULL;
        fine("open", MPI_File_open(twins[number], path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        fine("write_at_all", MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        fine("close", MPI_File_close(&file));
    }
    return NULL;
}

static void in_threads(void)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &twins[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, open_in_thread, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&twins[i]);
}

int main(int argc, char **argv)
{
    int level;
    if (argc < 4)
        return 2;
    folder = argv[1];
    const bool threads = argc > 4;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (threads && level == MPI_THREAD_MULTIPLE)
        in_threads();
    freed_early();
    duplicated();
    at_once();
    again_and_again(atoi(argv[2]));
    many_open(atoi(argv[3]));
    again_and_again(100);
    return check_end("engine_peers");
}
