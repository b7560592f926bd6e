/* The file DIR/trace.RANK: lines gathered in memory, written in one piece when they are many or when the last piece is
 * old, so that a kill costs little and most calls cost no system call. */
#include "mpi/real.h"
#include "tracer/tracer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { GATHER_BYTES = 256 << 10 };
static const int64_t GATHER_NS = 1000000000;

static struct {
    pthread_mutex_t lock;
    struct text lines;
    int fd;
    pid_t owner; /* a forked child has a copy of all this, and leaves it alone */
    int64_t zero_ns, written_ns, calls;
    char path[PATH_MAX];
} journal = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static atomic_bool is_on;

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t tracer_log_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC) - journal.zero_ns;
}

bool tracer_log_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

static void switch_off(const char *what)
{
    atomic_store(&is_on, false);
    fprintf(stderr, "piolet-trace: '%s': %s; this rank is not traced any further\n", journal.path, what);
}

static bool write_all(const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(journal.fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

/* With the lock held. */
static void write_lines(void)
{
    journal.written_ns = tracer_log_now_ns();
    if (journal.lines.failed)
        switch_off("not enough memory");
    else if (!write_all(text_get(&journal.lines), journal.lines.length))
        switch_off(strerror(errno));
    journal.lines.length = 0;
}

static void flush_lines(void)
{
    if (journal.lines.length == 0 && !journal.lines.failed)
        return;
    trace_add_end(&journal.lines, 0, "calls");
    write_lines();
}

void tracer_log_call(struct trace_call *call, const char *fields)
{
    pthread_mutex_lock(&journal.lock);
    if (tracer_log_is_on()) {
        call->sequence = journal.calls++;
        trace_add_call(&journal.lines, call, fields);
        if (journal.lines.length >= GATHER_BYTES || journal.lines.failed ||
            tracer_log_now_ns() - journal.written_ns > GATHER_NS)
            flush_lines();
    }
    pthread_mutex_unlock(&journal.lock);
}

void tracer_log_flush(void)
{
    pthread_mutex_lock(&journal.lock);
    if (tracer_log_is_on() && journal.owner == getpid())
        flush_lines();
    pthread_mutex_unlock(&journal.lock);
}

void tracer_log_end(void)
{
    pthread_mutex_lock(&journal.lock);
    if (tracer_log_is_on() && journal.owner == getpid()) {
        flush_lines();
        text_format(&journal.lines, "end-trace %" PRId64 "\n", journal.calls);
        if (tracer_log_is_on())
            write_lines();
        atomic_store(&is_on, false);
        close(journal.fd);
        text_clear(&journal.lines);
    }
    pthread_mutex_unlock(&journal.lock);
}

static void add_fact_int(const char *key, int64_t value)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, value);
    trace_add_fact(&journal.lines, key, number);
}

static void add_mpi(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", value[MPI_MAX_LIBRARY_VERSION_STRING + 16];
    int length;
    tracer_real()->Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    for (char *c = library; *c; c++) /* MPICH has tabs in it */
        if (*c == '\t')
            *c = ' ';
    snprintf(value, sizeof value, "%s %s", PIOLET_MPI_NAME, library);
    trace_add_fact(&journal.lines, "mpi", value);
    const char *engine = dlsym(RTLD_DEFAULT, "piolet_mpiio_version");
    snprintf(value, sizeof value, engine ? "piolet %.200s" : "system", engine);
    trace_add_fact(&journal.lines, "mpiio", value);
}

static void add_head(int rank)
{
    char host[HOST_NAME_MAX + 1] = "unknown", program[PATH_MAX] = "unknown";
    gethostname(host, sizeof host - 1);
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0)
        program[length] = '\0';
    int size;
    real.Comm_size(MPI_COMM_WORLD, &size);
    text_add(&journal.lines, TRACE_FIRST_LINE);
    add_fact_int("rank", rank);
    add_fact_int("size", size);
    trace_add_fact(&journal.lines, "host", host);
    add_mpi();
    trace_add_fact(&journal.lines, "program", program);
    add_fact_int("pid", getpid());
    journal.zero_ns = clock_ns(CLOCK_MONOTONIC);
    add_fact_int("start_ns", clock_ns(CLOCK_REALTIME));
    trace_add_fact(&journal.lines, "columns", TRACE_COLUMNS);
    trace_add_end(&journal.lines, sizeof TRACE_FIRST_LINE - 1, "head");
}

void tracer_log_start(void)
{
    const char *directory = getenv("PIOLET_TRACE_DIR");
    if (!directory || !*directory || journal.fd >= 0)
        return;
    int rank;
    real.Comm_rank(MPI_COMM_WORLD, &rank);
    mkdir(directory, 0777); /* another rank may have made it */
    const int length = snprintf(journal.path, sizeof journal.path, "%s/trace.%d", directory, rank);
    if (length < (int)sizeof journal.path) /* never over the trace of another program */
        journal.fd = open(journal.path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    else
        errno = ENAMETOOLONG;
    if (journal.fd < 0) {
        switch_off(strerror(errno));
        return;
    }
    journal.owner = getpid();
    add_head(rank);
    atomic_store(&is_on, true);
    write_lines();
    atexit(tracer_log_end);
}
