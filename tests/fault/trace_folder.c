/* A program whose trace gets into trouble: trace_folder FILE TRACE-FOLDER [FAULT]... does I/O and communication, then
 * the faults, then more of both. It ends with 0 where everything that it asked of MPI was done. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;
static char trace[4096], folder[3000];
static MPI_File fh;
static int victims[64], victim_count;

#define CHECK(condition) check(condition, #condition, __LINE__)
static void check(int right, const char *what, int line)
{
    if (right)
        return;
    fprintf(stderr, "trace_folder.c:%d, rank %d: not so: %s (%s)\n", line, rank, what, strerror(errno));
    _exit(3);
}

/* Calls that do not look alike make the trace grow. */
static void work(int calls)
{
    static char buffer[4096];
    for (int i = 0; i < calls; i++) {
        int one = 1, sum = 0;
        const int count = 1 + (int)((long)i * i % 997);
        CHECK(MPI_File_write_at(fh, 4096L * rank, buffer, i % 3 ? count : 64, MPI_BYTE, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        if (i % 50 == 0)
            CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF) == MPI_SUCCESS && sum == 1);
    }
}

static void *work_in_thread(void *calls)
{
    work(*(int *)calls);
    return NULL;
}

/* In a thread that lets no signal through. */
static void work_blocked(int calls)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    CHECK(pthread_create(&thread, NULL, work_in_thread, &calls) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_join(thread, NULL);
}

static void on_bus(int number)
{
    (void)number;
    _exit(9);
}

static int descriptor_of_trace(void)
{
    char path[64], target[4096];
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        const ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strcmp(target, trace) == 0)
            return fd;
    }
    return -1;
}

/* The tracer's descriptor is closed, and its number goes to files of the program. */
static void take_descriptor(void)
{
    const int fd = descriptor_of_trace();
    char name[64];
    if (fd >= 0)
        close(fd);
    for (victim_count = 0; victim_count < 8; victim_count++) {
        snprintf(name, sizeof name, "victim.%d.%d", rank, victim_count);
        victims[victim_count] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        CHECK(victims[victim_count] >= 0 && write(victims[victim_count], "my data", 7) == 7);
    }
}

static void check_victims(void)
{
    char text[64];
    for (int i = 0; i < victim_count; i++)
        CHECK(pread(victims[i], text, sizeof text, 0) == 7 && memcmp(text, "my data", 7) == 0);
}

static void limit(int resource, rlim_t value)
{
    struct rlimit now;
    getrlimit(resource, &now);
    now.rlim_cur = value;
    CHECK(setrlimit(resource, &now) == 0);
}

static rlim_t memory_in_use(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return (rlim_t)pages * 4096;
}

static void overwrite(void)
{
    char noise[65536];
    const int fd = open(trace, O_WRONLY);
    memset(noise, 0xa5, sizeof noise);
    CHECK(fd >= 0 && pwrite(fd, noise, sizeof noise, 4096) > 0);
    close(fd);
}

/* What a file system does whose device is gone. */
static void shut_down(void)
{
    unsigned flags = 2; /* without its journal */
    const int fd = open(folder, O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0 && ioctl(fd, _IOR('X', 125, unsigned), &flags) == 0);
    close(fd);
}

static void fill_disk(void)
{
    static char block[1 << 16];
    char name[3100];
    snprintf(name, sizeof name, "%s/filling.%d", folder, rank);
    const int fd = open(name, O_WRONLY | O_CREAT, 0600);
    for (size_t bytes = sizeof block; fd >= 0 && bytes > 0; bytes /= 2)
        while (write(fd, block, bytes) > 0)
            continue;
    close(fd);
}

static void cut_and_grow(void)
{
    CHECK(truncate(trace, 0) == 0 && truncate(trace, 1 << 20) == 0);
}

/* A child that the C library does not know of ends as if it were the program. */
static void fork_by_number(void)
{
    int status;
    const pid_t child = (pid_t)syscall(SYS_fork);
    CHECK(child >= 0);
    if (child == 0)
        exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static int in_thread;

static void do_fault(const char *fault)
{
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    if (strncmp(fault, "cut=", 4) == 0)
        CHECK(truncate(trace, atol(fault + 4)) == 0);
    else if (strcmp(fault, "regrow") == 0)
        cut_and_grow();
    else if (strcmp(fault, "fork") == 0)
        fork_by_number();
    else if (strcmp(fault, "remove") == 0)
        CHECK(unlink(trace) == 0);
    else if (strcmp(fault, "readonly") == 0)
        CHECK(chmod(trace, 0) == 0 && chmod(folder, 0555) == 0);
    else if (strcmp(fault, "overwrite") == 0)
        overwrite();
    else if (strcmp(fault, "default") == 0)
        signal(SIGBUS, SIG_DFL);
    else if (strcmp(fault, "ignore") == 0)
        CHECK(sigaction(SIGBUS, &(struct sigaction){.sa_handler = SIG_IGN}, NULL) == 0);
    else if (strcmp(fault, "handler") == 0)
        CHECK(sigaction(SIGBUS, &(struct sigaction){.sa_handler = on_bus}, NULL) == 0);
    else if (strcmp(fault, "block") == 0)
        CHECK(pthread_sigmask(SIG_BLOCK, &bus, NULL) == 0);
    else if (strcmp(fault, "procmask") == 0)
        CHECK(sigprocmask(SIG_BLOCK, &bus, NULL) == 0);
    else if (strcmp(fault, "thread") == 0)
        in_thread = 1;
    else if (strcmp(fault, "descriptor") == 0)
        take_descriptor();
    else if (strcmp(fault, "chroot") == 0)
        CHECK(chroot("/") == 0 && mkdir("root", 0755) + 1 >= 0 && chroot("root") == 0);
    else if (strcmp(fault, "user") == 0)
        CHECK(syscall(SYS_setresuid, 65534, 65534, 65534) == 0);
    else if (strcmp(fault, "chdir") == 0)
        CHECK(chdir("/") == 0);
    else if (strncmp(fault, "filesize=", 9) == 0)
        limit(RLIMIT_FSIZE, (rlim_t)atol(fault + 9));
    else if (strcmp(fault, "files") == 0)
        limit(RLIMIT_NOFILE, 0);
    else if (strcmp(fault, "memory") == 0)
        limit(RLIMIT_AS, memory_in_use());
    else if (strcmp(fault, "full") == 0)
        fill_disk();
    else if (strcmp(fault, "shutdown") == 0)
        shut_down();
    else if (strcmp(fault, "stderr") == 0)
        CHECK(close(STDERR_FILENO) == 0);
    else
        CHECK(!"a known fault");
}

int main(int argc, char **argv)
{
    int provided, late = 0;
    const int calls = 3000;
    CHECK(argc >= 3);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(folder, sizeof folder, "%s", argv[2]);
    snprintf(trace, sizeof trace, "%s/trace.%d", folder, rank);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    work(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "late") == 0)
            late = 1; /* what follows comes right before MPI_Finalize */
        if (!late)
            do_fault(argv[i]);
    }
    if (in_thread)
        work_blocked(calls);
    else
        work(calls);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
    for (int i = 3, on = 0; i < argc; i++) {
        if (on)
            do_fault(argv[i]);
        on |= strcmp(argv[i], "late") == 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    check_victims();
    printf("rank %d went on\n", rank);
    return 0;
}
