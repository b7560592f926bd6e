/* The file of this rank's trace, behind a descriptor that the program may close or put to another use: programs that
 * become daemons close every number they find. So it is looked at before each use, which is seldom. */
#include "tracer/tracer.h"

#include "base/bus_guard.h"
#include "base/limits.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- files of the tracer ---- */

static struct {
    int fd;
    dev_t device;
    ino_t inode;
    off_t bytes; /* that it must have */
    char path[PATH_MAX];
} output = {.fd = -1};

static bool tracer_output_is_ours(int fd, struct stat *ret_facts)
{
    return fd >= 0 && fstat(fd, ret_facts) == 0 && ret_facts->st_dev == output.device &&
           ret_facts->st_ino == output.inode;
}

/* Not a number that the program takes for its standard input, output or error. */
static int tracer_output_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), why = errno;
    close(fd);
    errno = why;
    return above;
}

const char *tracer_output_open(const char *directory, int rank)
{
    char *absolute;
    struct stat facts;
    mkdir(directory, 0777); /* another rank may have made it */
    absolute = realpath(directory, NULL);
    const int length = snprintf(output.path, sizeof output.path, "%s/trace.%d", absolute ? absolute : directory, rank);
    free(absolute);
    if (length >= (int)sizeof output.path)
        return strerror(ENAMETOOLONG);
    /* Never over the trace of another program. */
    output.fd = tracer_output_above_standard(open(output.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (output.fd < 0 || fstat(output.fd, &facts) != 0)
        return strerror(errno);
    assert(output.fd > STDERR_FILENO);
    output.device = facts.st_dev;
    output.inode = facts.st_ino;
    return NULL;
}

/* The descriptor; NULL, or what others did to the file. */
static const char *tracer_output_find(int *ret_fd)
{
    struct stat facts;
    if (!tracer_output_is_ours(output.fd, &facts)) {
        output.fd = tracer_output_above_standard(open(output.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        if (!tracer_output_is_ours(output.fd, &facts)) {
            if (output.fd >= 0)
                close(output.fd);
            output.fd = -1;
            return "the program closed its descriptor, and it cannot be opened again";
        }
    }
    *ret_fd = output.fd;
    return facts.st_nlink == 0 ? "it was removed" : facts.st_size < output.bytes ? "it was cut" : NULL;
}

static void tracer_output_note_end(off_t end)
{
    if (end > output.bytes)
        output.bytes = end;
}

int tracer_output_fd(void)
{
    int fd;
    return tracer_output_find(&fd) ? -1 : fd;
}

/* pwrite(), all of it; errno, or 0. */
static int tracer_output_write_all(int fd, const char *bytes, size_t count, off_t offset)
{
    while (count > 0) {
        const ssize_t written = pwrite(fd, bytes, count, offset);
        if (written > 0) {
            bytes += written;
            offset += written;
            count -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            return written == 0 ? EIO : errno;
        }
    }
    return 0;
}

const char *tracer_output_write(const void *bytes, size_t count, off_t offset)
{
    struct size_limit limit;
    int fd;
    const char *wrong = tracer_output_find(&fd);
    if (wrong)
        return wrong;
    size_limit_look();
    size_limit_enter(&limit);
    const int why = tracer_output_write_all(fd, bytes, count, offset);
    size_limit_leave(&limit, why == EFBIG);
    if (why)
        return strerror(why);
    tracer_output_note_end(offset + (off_t)count);
    return NULL;
}

const char *tracer_output_reserve(off_t offset, off_t bytes)
{
    struct size_limit limit;
    int fd, why;
    const char *wrong = tracer_output_find(&fd);
    if (wrong)
        return wrong;
    size_limit_look();
    size_limit_enter(&limit);
    do
        why = posix_fallocate(fd, offset, bytes);
    while (why == EINTR);
    size_limit_leave(&limit, why == EFBIG);
    if (why)
        return strerror(why);
    tracer_output_note_end(offset + bytes);
    return NULL;
}

const char *tracer_output_finish(off_t length)
{
    assert(length <= output.bytes);
    int fd;
    const char *wrong = tracer_output_find(&fd);
    if (wrong)
        return wrong;
    wrong = length == output.bytes || ftruncate(fd, length) == 0 ? NULL : strerror(errno);
    close(fd);
    output.fd = -1;
    return wrong;
}

void tracer_output_discard(void)
{
    struct stat facts;
    if (!tracer_output_is_ours(output.fd, &facts))
        return;
    unlink(output.path);
    close(output.fd);
    output.fd = -1;
}

/* A reader that went away, or a log at its limit of size, must not end the program for a message of ours. */
void tracer_output_complain(const char *what)
{
    char message[PATH_MAX + 256];
    struct text path = {0};
    const struct timespec at_once = {0};
    sigset_t deadly, before, pending;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGPIPE);
    sigaddset(&deadly, SIGXFSZ);
    text_add_visible(&path, output.path);
    const int length = snprintf(message, sizeof message,
                                "piolet-trace: '%s': %s; this rank is not traced any further\n", text_get(&path), what);
    text_clear(&path);
    const size_t bytes = length < (int)sizeof message ? (size_t)length : sizeof message - 1;
    pthread_sigmask(SIG_BLOCK, &deadly, &before);
    sigpending(&pending);
    if (write(STDERR_FILENO, message, bytes) < 0 && (errno == EPIPE || errno == EFBIG)) {
        const int raised = errno == EPIPE ? SIGPIPE : SIGXFSZ;
        sigemptyset(&deadly);
        sigaddset(&deadly, raised);
        if (!sigismember(&pending, raised))
            while (sigtimedwait(&deadly, NULL, &at_once) < 0 && errno == EINTR)
                continue;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- signal handlers of the program ---- */

/* Whether a store to the mapped trace may meet SIGBUS here and live. Asking the system costs more than the whole rest
 * of a traced call. So the functions by which a program changes the handler or a thread's mask are wrapped, and the
 * system is asked behind each such change, once on each thread, and now and then for changes on other ways (longjmp(),
 * system calls by number). */

static const int64_t LOOK_NS = 100000; /* two system calls in that time: less than 1 % */

static atomic_uint changes = 1; /* of the handler */
static _Thread_local bool mask_changed;
static atomic_bool started;
static _Atomic(void *) over_ours; /* a handler that took the place of ours, or NULL */

/* The engine, which maps files too, passes on what is not its own to the handler that it found: ours. */
static bool guard_is_of_engine(void *handler)
{
    static _Atomic(void *) known;
    Dl_info info;
    if (!handler)
        return false;
    if (atomic_load(&known) == handler)
        return true;
    if (!dladdr(handler, &info) || !info.dli_fname || !strstr(info.dli_fname, "libpiolet-mpiio.so"))
        return false;
    atomic_store(&known, handler);
    return true;
}

static void *guard_function_of(const struct sigaction *action)
{
    void *function = NULL;
    if (action->sa_flags & SA_SIGINFO)
        memcpy(&function, &action->sa_sigaction, sizeof function);
    return function;
}

static bool guard_handler_is_ours(void)
{
    struct sigaction now;
    if (bus_guard_ready())
        return true;
    void *over = atomic_load(&over_ours);
    return over && sigaction(SIGBUS, NULL, &now) == 0 && guard_function_of(&now) == over && guard_is_of_engine(over);
}

static enum tracer_guard guard_ask_system(void)
{
    sigset_t blocked;
    const int errno_before = errno;
    const bool ours = guard_handler_is_ours();
    atomic_store(&started, true);
    const bool known = ours && pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0;
    errno = errno_before;
    if (!known)
        return TRACER_GUARD_NONE;
    return sigismember(&blocked, SIGBUS) ? TRACER_GUARD_BLOCKED : TRACER_GUARD_OPEN;
}

enum tracer_guard tracer_guard_look(int64_t now_ns)
{
    static _Thread_local struct {
        unsigned seen;
        int64_t asked_ns;
        enum tracer_guard guard;
    } here;
    const unsigned seen = atomic_load_explicit(&changes, memory_order_acquire);
    if (here.seen != seen || mask_changed || now_ns - here.asked_ns >= LOOK_NS) {
        mask_changed = false;
        here.seen = seen;
        here.asked_ns = now_ns;
        here.guard = guard_ask_system();
    }
    return here.guard;
}

/* ---- the functions that change it ---- */

static void guard_note_handler(int number)
{
    if (number == SIGBUS)
        atomic_fetch_add_explicit(&changes, 1, memory_order_release);
}

static struct {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
#define HANDLER(name)  sighandler_t (*name)(int, sighandler_t);
#define MASK(name)     int (*name)(int, const sigset_t *, sigset_t *);
#define MASK_INT(name) int (*name)(int);
#include "tracer/tracer_guard.def"
#undef HANDLER
#undef MASK
#undef MASK_INT
} libc;

/* Before anything else of ours runs: looking for a function may take memory, which these functions must not. */
__attribute__((constructor(101))) static void guard_find_libc(void)
{
    if (libc.sigaction)
        return;
#define FIND(name)                                                                                                     \
    do {                                                                                                               \
        void *found = dlsym(RTLD_NEXT, #name);                                                                         \
        memcpy(&libc.name, &found, sizeof found);                                                                      \
    } while (0);
#define HANDLER  FIND
#define MASK     FIND
#define MASK_INT FIND
#include "tracer/tracer_guard.def"
    FIND(sigaction)
#undef HANDLER
#undef MASK
#undef MASK_INT
}

TRACER_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    guard_find_libc();
    const bool changes_ours = number == SIGBUS && action && atomic_load(&started) && bus_guard_ready();
    const int code = libc.sigaction(number, action, old);
    if (action && code == 0 && number == SIGBUS) {
        atomic_store(&over_ours, changes_ours ? guard_function_of(action) : NULL);
        guard_note_handler(number);
    }
    return code;
}

#define HANDLER(name)                                                                                                  \
    TRACER_EXPORT sighandler_t name(int number, sighandler_t handler)                                                  \
    {                                                                                                                  \
        guard_find_libc();                                                                                             \
        const sighandler_t old = libc.name(number, handler);                                                           \
        guard_note_handler(number);                                                                                    \
        mask_changed = true; /* sigset() does */                                                                       \
        return old;                                                                                                    \
    }
#define MASK(name)                                                                                                     \
    TRACER_EXPORT int name(int how, const sigset_t *set, sigset_t *old)                                                \
    {                                                                                                                  \
        guard_find_libc();                                                                                             \
        const int code = libc.name(how, set, old);                                                                     \
        mask_changed |= set && how != SIG_UNBLOCK && sigismember(set, SIGBUS) == 1;                                    \
        return code;                                                                                                   \
    }
#define MASK_INT(name)                                                                                                 \
    TRACER_EXPORT int name(int number)                                                                                 \
    {                                                                                                                  \
        guard_find_libc();                                                                                             \
        const int old = libc.name(number);                                                                             \
        guard_note_handler(number); /* sigignore() does */                                                             \
        mask_changed = true;                                                                                           \
        return old;                                                                                                    \
    }
#include "tracer/tracer_guard.def"
