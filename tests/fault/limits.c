/* limits [--LIMIT VALUE]... SCENE FILE: an ordinary MPI program under a limit that a batch system, a container or the
 * program itself sets. Called by limits.sh and limits_long.sh.
 *   --fsize --as --data --nofile --memlock --stack BYTES   setrlimit(2), before MPI_Init; "--nofile +3": so many more
 *                               than are open, and "--as +N": so many bytes more than are mapped, after MPI_Init;
 *                               "++N": the same when the file is open
 *   --refuse memfd|memfd-perm|threads|shmget   the system call fails from now on (seccomp), before MPI_Init, or with a
 *                               plus before it: after that
 *   --cgroup FOLDER             the process joins that control group, before MPI_Init
 *   --cgroup-left FOLDER:BYTES  ... and rank 0 leaves so many bytes there, after MPI_Init
 *   --user NUMBER               ranks other than 0 become another user after MPI_Init
 *   --warm yes                  all ranks exchange messages after MPI_Init, before the limits that come then
 * Scenes: open, collective, independent, shared, and all of these; many (files open at once). Every rank says "rank R:
 * done" or "rank R: error: WORDS", and goes on to the end whatever fails: a rank that says neither has died. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rank, ranks;
static char failure[600];

/* The first failure is kept. No memory is taken: there may be none. */
static void note(const char *format, ...)
{
    va_list arguments;
    if (failure[0])
        return;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
}

static void look(const char *doing, int code)
{
    static char words[MPI_MAX_ERROR_STRING + 1];
    int length = 0;
    if (code == MPI_SUCCESS || failure[0])
        return;
    MPI_Error_string(code, words, &length);
    note("%s: %.300s", doing, words);
}

/* ---- limits ---- */

struct limit {
    const char *name;
    int resource;
};
static const struct limit LIMITS[] = {{"--fsize", RLIMIT_FSIZE},   {"--as", RLIMIT_AS},
                                      {"--data", RLIMIT_DATA},     {"--stack", RLIMIT_STACK},
                                      {"--nofile", RLIMIT_NOFILE}, {"--memlock", RLIMIT_MEMLOCK}};

static rlim_t in_use(int resource)
{
    if (resource == RLIMIT_NOFILE) {
        const int next = dup(0);
        close(next);
        return next < 0 ? 0 : (rlim_t)next;
    }
    unsigned long pages = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    if (!stream || fscanf(stream, "%lu", &pages) != 1)
        exit(9);
    fclose(stream);
    return pages * 4096;
}

enum { AT_START, AFTER_INIT, AFTER_OPEN };

static int time_of(const char *value)
{
    return value[0] != '+' ? AT_START : value[1] != '+' ? AFTER_INIT : AFTER_OPEN;
}

static void set_limit(const struct limit *limit, const char *value, int when)
{
    const int relative = time_of(value);
    if (relative != when)
        return;
    const rlim_t amount = strtoull(value + relative, NULL, 10) + (relative ? in_use(limit->resource) : 0);
    struct rlimit both;
    getrlimit(limit->resource, &both);
    both.rlim_cur = amount; /* the other one could not be raised for the next scene, where that is "++" */
    if (setrlimit(limit->resource, &both) != 0) {
        perror("setrlimit");
        exit(9);
    }
}

static void refuse_call(unsigned number, unsigned number2, int code)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        exit(9);
    }
}

static void refuse(const char *what)
{
    if (!strcmp(what, "memfd"))
        refuse_call(SYS_memfd_create, SYS_memfd_create, ENOSYS);
    else if (!strcmp(what, "memfd-perm"))
        refuse_call(SYS_memfd_create, SYS_memfd_create, EPERM);
    else if (!strcmp(what, "threads"))
        refuse_call(SYS_clone, SYS_clone3, EAGAIN);
    else if (!strcmp(what, "shmget"))
        refuse_call(SYS_shmget, SYS_shmget, ENOSYS);
    else
        exit(9);
}

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        perror(path);
        exit(9);
    }
    close(fd);
}

static long long read_number(const char *folder, const char *name)
{
    char path[512];
    long long number = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "r");
    if (!stream || fscanf(stream, "%lld", &number) != 1) {
        perror(path);
        exit(9);
    }
    fclose(stream);
    return number;
}

/* FOLDER:BYTES, and all ranks have joined: what they use already stays. Version 1, where its files are there, or 2. */
static void leave_in_group(const char *value)
{
    char folder[256], number[32], path[400];
    const char *colon = strrchr(value, ':');
    snprintf(folder, sizeof folder, "%.*s", (int)(colon - value), value);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        snprintf(path, sizeof path, "%s/memory.limit_in_bytes", folder);
        const int first = access(path, F_OK) == 0;
        const long long used = read_number(folder, first ? "memory.usage_in_bytes" : "memory.current");
        snprintf(number, sizeof number, "%lld", used + atoll(colon + 1));
        write_text(folder, first ? "memory.limit_in_bytes" : "memory.max", number);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void change_user(uid_t user)
{
    if (rank != 0 && (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)) {
        perror("setresuid");
        exit(9);
    }
}

/* MPIs make connections when they are first used: these are there when the limit comes. */
static void warm_up(void)
{
    enum { EACH = 4096 };
    char *const all = calloc((size_t)ranks, 2 * EACH);
    if (!all)
        exit(9);
    MPI_Alltoall(all, EACH, MPI_BYTE, all + (size_t)ranks * EACH, EACH, MPI_BYTE, MPI_COMM_WORLD);
    free(all);
}

static void set_limits(char **given, int when)
{
    for (; given[0] && !strncmp(given[0], "--", 2); given += 2) {
        for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++)
            if (!strcmp(given[0], LIMITS[i].name))
                set_limit(&LIMITS[i], given[1], when);
        if (!strcmp(given[0], "--refuse") && when == time_of(given[1]))
            refuse(given[1] + when);
        if (when == AT_START && !strncmp(given[0], "--cgroup", 8)) {
            char folder[256];
            snprintf(folder, sizeof folder, "%.*s", (int)strcspn(given[1], ":"), given[1]);
            write_text(folder, "cgroup.procs", "0");
        }
        if (when == AFTER_INIT && !strcmp(given[0], "--cgroup-left"))
            leave_in_group(given[1]);
        if (when == AFTER_INIT && !strcmp(given[0], "--warm"))
            warm_up();
        if (when == AFTER_INIT && !strcmp(given[0], "--user"))
            change_user((uid_t)atoi(given[1]));
    }
}

/* ---- scenes ---- */

/* Numbers of the file's 8-byte words: whoever writes and reads, the same word has the same number. */
#ifndef PIECES
#define PIECES 512 /* 32 KiB a rank and round */
#endif
enum { WORDS = 8, BLOCK = PIECES * WORDS, ROUNDS = 6 };
static int64_t buffer[BLOCK];

static void fill(int round)
{
    for (int i = 0; i < BLOCK; i++)
        buffer[i] = ((int64_t)round << 40) + ((int64_t)(i / WORDS) * ranks + rank) * WORDS + i % WORDS;
}

static void check(const char *doing, int round)
{
    for (int i = 0; i < BLOCK; i++)
        if (buffer[i] != ((int64_t)round << 40) + ((int64_t)(i / WORDS) * ranks + rank) * WORDS + i % WORDS) {
            note("%s: round %d, word %d is %lld", doing, round, i, (long long)buffer[i]);
            return;
        }
}

static char **options; /* of the command line */

static MPI_File open_file(const char *path)
{
    MPI_File file = MPI_FILE_NULL;
    look("open", MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    set_limits(options, AFTER_OPEN);
    return file;
}

static void close_file(MPI_File *file)
{
    if (*file != MPI_FILE_NULL)
        look("close", MPI_File_close(file));
}

static void scene_open(const char *path)
{
    MPI_Info info;
    for (int i = 0; i < 3; i++) {
        MPI_File file = open_file(path);
        if (file != MPI_FILE_NULL && MPI_File_get_info(file, &info) == MPI_SUCCESS)
            MPI_Info_free(&info);
        close_file(&file);
    }
}

/* Pieces of 64 bytes of the ranks in turn: what collective buffering is for. */
static MPI_Datatype strided(void)
{
    MPI_Datatype vector, type;
    MPI_Type_vector(PIECES, WORDS, WORDS * ranks, MPI_INT64_T, &vector);
    MPI_Type_create_resized(vector, 0, (MPI_Aint)PIECES * WORDS * ranks * 8, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}

static void on_strided(const char *path, void (*rounds)(MPI_File file))
{
    MPI_Datatype type = strided();
    MPI_File file = open_file(path);
    if (file != MPI_FILE_NULL) {
        look("set_view",
             MPI_File_set_view(file, (MPI_Offset)rank * WORDS * 8, MPI_INT64_T, type, "native", MPI_INFO_NULL));
        rounds(file);
    }
    close_file(&file);
    MPI_Type_free(&type);
}

static void rounds_collective(MPI_File file)
{
    MPI_Request request;
    for (int i = 0; i < ROUNDS; i++) {
        fill(i);
        if (i % 2 == 0) {
            look("write_all", MPI_File_write_all(file, buffer, BLOCK, MPI_INT64_T, MPI_STATUS_IGNORE));
            continue;
        }
        const int code = MPI_File_iwrite_all(file, buffer, BLOCK, MPI_INT64_T, &request);
        look("iwrite_all", code);
        if (code == MPI_SUCCESS)
            look("wait of iwrite_all", MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    look("sync", MPI_File_sync(file));
    for (int i = 0; i < ROUNDS; i++) {
        memset(buffer, 0, sizeof buffer);
        look("read_at_all",
             MPI_File_read_at_all(file, (MPI_Offset)i * BLOCK, buffer, BLOCK, MPI_INT64_T, MPI_STATUS_IGNORE));
        check("read_at_all", i);
    }
}

static void scene_collective(const char *path)
{
    on_strided(path, rounds_collective);
}

static void rounds_independent(MPI_File file)
{
    MPI_Request request;
    for (int i = 0; i < ROUNDS; i++) {
        fill(i);
        look("write_at", MPI_File_write_at(file, (MPI_Offset)i * BLOCK, buffer, BLOCK, MPI_INT64_T, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < 4 * ROUNDS; i++) {
        memset(buffer, 0, sizeof buffer);
        const int code = MPI_File_iread_at(file, (MPI_Offset)(i % ROUNDS) * BLOCK, buffer, BLOCK, MPI_INT64_T,
                                           &request);
        look("iread_at", code);
        if (code == MPI_SUCCESS)
            look("wait of iread_at", MPI_Wait(&request, MPI_STATUS_IGNORE));
        check("iread_at", i % ROUNDS);
    }
}

static void scene_independent(const char *path)
{
    on_strided(path, rounds_independent);
}

/* Shared pointer: which rank's data lie where is not known, but each word that is read was written. */
static void scene_shared(const char *path)
{
    MPI_File file = open_file(path);
    if (file != MPI_FILE_NULL) {
        for (int i = 0; i < ROUNDS; i++) {
            fill(0);
            look("write_ordered", MPI_File_write_ordered(file, buffer, BLOCK, MPI_INT64_T, MPI_STATUS_IGNORE));
            look("write_shared", MPI_File_write_shared(file, buffer, BLOCK, MPI_INT64_T, MPI_STATUS_IGNORE));
        }
        look("sync", MPI_File_sync(file));
        look("seek_shared", MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        memset(buffer, 0, sizeof buffer);
        look("read_ordered", MPI_File_read_ordered(file, buffer, BLOCK, MPI_INT64_T, MPI_STATUS_IGNORE));
        check("read_ordered", 0);
        MPI_Offset position = 0;
        look("get_position_shared", MPI_File_get_position_shared(file, &position));
        if (!failure[0] && position != (MPI_Offset)BLOCK * 8 * ranks)
            note("the shared pointer is at %lld", (long long)position);
    }
    close_file(&file);
}

/* All are open before the first is written: what each may take then is decided before any takes it. */
static void scene_many(const char *path)
{
    enum { FILES = 100, BLOCKS = 48 };
    static int64_t large[BLOCK * BLOCKS]; /* 1.5 MiB */
    static MPI_File files[FILES];
    char name[600];
    MPI_Datatype type = strided();
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%s.%d", path, i);
        files[i] = open_file(name);
        if (files[i] != MPI_FILE_NULL)
            look("set_view",
                 MPI_File_set_view(files[i], (MPI_Offset)rank * WORDS * 8, MPI_INT64_T, type, "native", MPI_INFO_NULL));
    }
    for (int i = 0; i < FILES; i++)
        if (files[i] != MPI_FILE_NULL)
            look("write_at_all",
                 MPI_File_write_at_all(files[i], 0, large, BLOCK * BLOCKS, MPI_INT64_T, MPI_STATUS_IGNORE));
    for (int i = 0; i < FILES; i++)
        close_file(&files[i]);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    char line[700];
    options = argv + 1;
    set_limits(options, AT_START);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = 1;
    while (first < argc && !strncmp(argv[first], "--", 2))
        first += 2;
    if (argc - first != 2)
        MPI_Abort(MPI_COMM_WORLD, 9);
    const char *scene = argv[first], *path = argv[first + 1];
    set_limits(options, AFTER_INIT);
    const int all = !strcmp(scene, "all");
    if (all || !strcmp(scene, "open"))
        scene_open(path);
    if (all || !strcmp(scene, "collective"))
        scene_collective(path);
    if (all || !strcmp(scene, "independent"))
        scene_independent(path);
    if (all || !strcmp(scene, "shared"))
        scene_shared(path);
    if (!strcmp(scene, "many"))
        scene_many(path);
    snprintf(line, sizeof line, failure[0] ? "rank %d: error: %s\n" : "rank %d: done\n", rank, failure);
    if (write(STDOUT_FILENO, line, strlen(line)) < 0)
        return 8;
    MPI_Finalize();
    return failure[0] ? 3 : 0;
}
