/* Collective writes on auxiliary processes. Run as  engine_auxiliary SCENE FILE  by engine_auxiliary.sh, which says
 * what each scene needs in the environment. Ends with a message and status 1 at the first thing that is wrong.
 *
 * PIOLET_AUXILIARY_GATE names a file without which an auxiliary process stores nothing: so it is known, without any
 * clock, that what has been handed over is not in the file yet. */
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 1000, PIECES = 700 }; /* of each rank in each call; blocks end inside of pieces */

static int rank, ranks;
static const char *name, *gate;
static MPI_File file;

static void check(bool right, const char *format, ...)
{
    if (right)
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "rank %d: ", rank);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void succeed(int code, const char *what)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, words, &length);
    check(code == MPI_SUCCESS, "%s: %s", what, words);
}

static void expect_class(int code, int wanted, const char *what)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    check(class == wanted, "%s: error class %d in the place of %d", what, class, wanted);
}

/* ---- data ---- */

static unsigned char value(long offset, int generation)
{
    return (unsigned char)(offset * 7 + offset / 251 + generation * 31 + 1);
}

static long total(void)
{
    return (long)ranks * PIECE * PIECES;
}

/* Pieces of the ranks in turn. */
static void open_file(int extra)
{
    MPI_Datatype piece, turn;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    succeed(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | extra, info, &file), "open");
    MPI_Info_free(&info);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &turn);
    MPI_Type_commit(&turn);
    succeed(MPI_File_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, turn, "native", MPI_INFO_NULL), "set_view");
    MPI_Type_free(&piece);
    MPI_Type_free(&turn);
}

static int write_generation(int generation)
{
    static unsigned char buffer[PIECE * PIECES];
    for (long i = 0; i < PIECE * PIECES; i++)
        buffer[i] = value((i / PIECE * ranks + rank) * PIECE + i % PIECE, generation);
    return MPI_File_write_at_all(file, 0, buffer, PIECE * PIECES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void check_bytes(const unsigned char *bytes, long count, int generation, const char *where)
{
    for (long i = 0; i < count; i++)
        check(bytes[i] == value(i, generation), "%s: byte %ld is %d, not %d", where, i, bytes[i], value(i, generation));
}

static long file_bytes(unsigned char **ret_bytes)
{
    FILE *stream = fopen(name, "rb");
    check(stream != NULL, "cannot open '%s'", name);
    unsigned char *bytes = malloc((size_t)total() + 1);
    const long got = (long)fread(bytes, 1, (size_t)total() + 1, stream);
    fclose(stream);
    *ret_bytes = bytes;
    return got;
}

static void check_file(int generation)
{
    unsigned char *bytes;
    const long got = file_bytes(&bytes);
    check(got == total(), "the file has %ld bytes, not %ld", got, total());
    check_bytes(bytes, got, generation, "file");
    free(bytes);
}

/* ---- auxiliary processes ---- */

static bool holds(const char *path, const char *text)
{
    static char buffer[1 << 18];
    const int fd = open(path, O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t got = 0, more;
    while (got < (ssize_t)sizeof buffer && (more = read(fd, buffer + got, sizeof buffer - (size_t)got)) > 0)
        got += more;
    close(fd);
    return memmem(buffer, (size_t)got, text, strlen(text)) != NULL;
}

/* Those of this test: the gate's name is in their environment. A process that nobody has collected has none. */
static int find_processes(pid_t *ret_pids, int most)
{
    char marker[4096], path[300];
    int count = 0;
    snprintf(marker, sizeof marker, "PIOLET_AUXILIARY_GATE=%s", gate);
    DIR *directory = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(directory)) && count < most;) {
        const pid_t pid = atoi(entry->d_name);
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        if (pid <= 0 || !holds(path, "piolet-aux"))
            continue;
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        if (holds(path, marker))
            ret_pids[count++] = pid;
    }
    closedir(directory);
    return count;
}

static void kill_processes(void)
{
    pid_t pids[16];
    const int count = find_processes(pids, 16);
    check(count == atoi(getenv("PIOLET_AUXILIARY")), "%d auxiliary processes", count);
    for (int i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
}

/* Opens the gate when the main thread is most likely waiting: that it did not go on before is certain. */
static void *open_gate_later(void *unused)
{
    usleep(200000);
    const int fd = open(gate, O_CREAT | O_WRONLY, 0600);
    close(fd);
    return unused;
}

static pthread_t opener;

static void begin_to_open_gate(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pthread_create(&opener, NULL, open_gate_later, NULL);
}

/* What has just returned has waited for it. */
static void check_gate(const char *what)
{
    check(access(gate, F_OK) == 0, "%s has not waited", what);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        pthread_join(opener, NULL);
        unlink(gate);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- scenes ---- */

/* write_all returns before anything is stored, and whatever must wait does. */
static void scene_later(void)
{
    unsigned char *bytes;
    MPI_Offset size = 0;
    MPI_Status status;
    MPI_Request request;
    open_file(0);
    for (int i = 1; i <= 3; i++)
        succeed(write_generation(i), "write_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
    check(file_bytes(&bytes) == 0, "write_at_all has stored something itself");
    begin_to_open_gate();
    succeed(MPI_File_sync(file), "sync");
    check_gate("sync");
    check_file(3);

    succeed(write_generation(4), "write_at_all");
    check_file(3);
    begin_to_open_gate();
    succeed(MPI_File_get_size(file, &size), "get_size");
    check(size == total(), "size %lld", (long long)size);
    check_gate("get_size");

    succeed(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
    const int count = (int)total();
    succeed(MPI_File_write_at_all(file, count, bytes, rank == 0 ? 1000 : 0, MPI_BYTE, &status), "write_at_all");
    begin_to_open_gate();
    succeed(MPI_File_set_size(file, count), "set_size");
    check_gate("set_size");
    MPI_File_close(&file);

    open_file(0);
    succeed(write_generation(5), "write_at_all");
    check_file(4);
    begin_to_open_gate();
    static unsigned char own[PIECE];
    succeed(MPI_File_read_at(file, 0, own, PIECE, MPI_BYTE, &status), "read_at");
    check(own[1] == value((long)rank * PIECE + 1, 5), "read_at gives old data");
    check_gate("read_at");

    succeed(write_generation(6), "write_at_all");
    check_file(5);
    begin_to_open_gate();
    succeed(MPI_File_iread_at(file, 0, own, PIECE, MPI_BYTE, &request), "iread_at");
    MPI_Wait(&request, &status);
    check(own[1] == value((long)rank * PIECE + 1, 6), "iread_at gives old data");
    check_gate("iread_at");

    succeed(write_generation(7), "write_at_all");
    begin_to_open_gate();
    succeed(MPI_File_read_at_all(file, 0, own, PIECE, MPI_BYTE, &status), "read_at_all");
    check(own[1] == value((long)rank * PIECE + 1, 7), "read_at_all gives old data");
    check_gate("read_at_all");

    succeed(write_generation(8), "write_at_all");
    begin_to_open_gate();
    succeed(MPI_File_close(&file), "close");
    check_gate("close");
    check_file(8);
    free(bytes);
}

/* More than the queues hold; overlap and holes; a file that has lost its name. */
static void scene_data(void)
{
    open_file(0);
    for (int i = 1; i <= 8; i++)
        succeed(write_generation(i), "write_at_all");
    succeed(MPI_File_sync(file), "sync");
    check_file(8);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
    succeed(write_generation(9), "write_at_all");
    succeed(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
    unsigned char *bytes = malloc((size_t)total());
    succeed(MPI_File_read_at(file, 0, bytes, (int)total(), MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    check_bytes(bytes, total(), 9, "removed file");
    free(bytes);
    succeed(MPI_File_close(&file), "close");
}

/* Every store fails (PIOLET_FAULTS): no write_all does, but who meets afterwards. */
static void scene_failure(void)
{
    open_file(0);
    expect_class(write_generation(1), MPI_SUCCESS, "write_at_all");
    expect_class(MPI_File_sync(file), MPI_ERR_NO_SPACE, "sync");
    expect_class(MPI_File_sync(file), MPI_SUCCESS, "second sync");
    expect_class(write_generation(2), MPI_SUCCESS, "write_at_all");
    expect_class(MPI_File_close(&file), MPI_ERR_NO_SPACE, "close");
}

/* The processes are killed while they hold everything (the gate is shut). */
static void scene_killed(void)
{
    open_file(0);
    succeed(write_generation(1), "write_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        kill_processes();
    MPI_Barrier(MPI_COMM_WORLD);
    succeed(MPI_File_sync(file), "sync");
    check_file(1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 2; i <= 5; i++)
        succeed(write_generation(i), "write_at_all");
    succeed(MPI_File_close(&file), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    check_file(5);
    open_file(0);
    succeed(write_generation(6), "write_at_all");
    succeed(MPI_File_close(&file), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    check_file(6);
}

/* The same while a rank waits for room. */
static void *kill_later(void *unused)
{
    usleep(200000);
    kill_processes();
    return unused;
}

static void scene_killed_full(void)
{
    pthread_t killer;
    open_file(0);
    if (rank == 0)
        pthread_create(&killer, NULL, kill_later, NULL);
    for (int i = 1; i <= 8; i++)
        succeed(write_generation(i), "write_at_all");
    if (rank == 0)
        pthread_join(killer, NULL);
    succeed(MPI_File_close(&file), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    check_file(8);
}

static void scene_abort(void)
{
    open_file(0);
    succeed(write_generation(1), "write_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    pause();
}

static void scene_kill_ranks(void)
{
    open_file(0);
    succeed(write_generation(1), "write_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
    kill(getpid(), SIGKILL);
}

/* Only its own descriptors; and the program does not find it among its children. */
static void scene_descriptors(void)
{
    pid_t pids[16];
    open_file(0);
    const int count = rank == 0 ? find_processes(pids, 16) : 0;
    check(rank != 0 || count == atoi(getenv("PIOLET_AUXILIARY")), "%d auxiliary processes", count);
    for (int i = 0; i < count; i++) {
        char path[300], target[4096];
        int others = 0;
        snprintf(path, sizeof path, "/proc/%d/fd", (int)pids[i]);
        DIR *directory = opendir(path);
        check(directory != NULL, "cannot look at the descriptors of process %d", (int)pids[i]);
        for (struct dirent *entry; (entry = readdir(directory));) {
            snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)pids[i], entry->d_name);
            const ssize_t length = readlink(path, target, sizeof target - 1);
            if (length < 0)
                continue;
            target[length] = '\0';
            if (strcmp(target, "/dev/null") != 0 && !strstr(target, "piolet-auxiliary") && strcmp(target, name) != 0)
                fprintf(stderr, "descriptor %s: %s\n", entry->d_name, target), others++;
        }
        closedir(directory);
        check(others == 0, "process %d has %d descriptors of the program", (int)pids[i], others);
    }
    check(wait(NULL) < 0, "the program finds a child");
    MPI_File_close(&file);
}

static void scene_info(void)
{
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int found;
    MPI_Info info;
    open_file(0);
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, "piolet_auxiliary", MPI_MAX_INFO_VAL, text, &found);
    MPI_Info_free(&info);
    if (rank == ranks - 1)
        printf("piolet_auxiliary: %s\n", text);
    MPI_File_close(&file);
}

/* A communicator without the first rank, before and after the others have heard of the processes. */
static void scene_part(void)
{
    MPI_Comm part;
    char own[4096];
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, -rank, &part);
    snprintf(own, sizeof own, "%s.%d", name, rank == 0);
    for (int i = 0; i < 2; i++) {
        MPI_File other;
        int byte = rank, back = -1;
        succeed(
            MPI_File_open(part, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &other),
            "open");
        succeed(MPI_File_write_at_all(other, 4 * rank, &byte, 1, MPI_INT, MPI_STATUS_IGNORE), "write_at_all");
        succeed(MPI_File_read_at(other, 4 * rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE), "read_at");
        check(back == byte, "%d in the place of %d", back, byte);
        succeed(MPI_File_close(&other), "close");
        open_file(0);
        succeed(write_generation(i), "write_at_all");
        succeed(MPI_File_close(&file), "close");
        MPI_Barrier(MPI_COMM_WORLD);
        check_file(i);
    }
    MPI_Comm_free(&part);
}

/* For a file of another launch: ranks as the environment says. */
static void scene_verify(void)
{
    ranks = atoi(getenv("WRITTEN_BY"));
    check_file(1);
}

static const struct {
    const char *name;
    void (*run)(void);
} SCENES[] = {
    {"later", scene_later},
    {"data", scene_data},
    {"failure", scene_failure},
    {"killed", scene_killed},
    {"killed-full", scene_killed_full},
    {"abort", scene_abort},
    {"kill-ranks", scene_kill_ranks},
    {"descriptors", scene_descriptors},
    {"info", scene_info},
    {"part", scene_part},
    {"verify", scene_verify},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(argc == 3, "usage: engine_auxiliary SCENE FILE");
    name = argv[2];
    gate = getenv("PIOLET_AUXILIARY_GATE");
    for (size_t i = 0; i < sizeof SCENES / sizeof SCENES[0]; i++)
        if (strcmp(SCENES[i].name, argv[1]) == 0)
            SCENES[i].run();
    MPI_Finalize();
    return 0;
}
