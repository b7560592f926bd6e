/* The file of this rank's trace, behind a descriptor that the program may close or put to another use: programs that
 * become daemons close every number they find. So it is looked at before each use, which is seldom. */
#include "base/size_limit.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
    int fd;
    dev_t device;
    ino_t inode;
    off_t bytes; /* that it must have */
    char path[PATH_MAX];
} output = {.fd = -1};

static bool is_ours(int fd, struct stat *ret_facts)
{
    return fd >= 0 && fstat(fd, ret_facts) == 0 && ret_facts->st_dev == output.device &&
           ret_facts->st_ino == output.inode;
}

/* Not a number that the program takes for its standard input, output or error. */
static int above_standard(int fd)
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
    output.fd = above_standard(open(output.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (output.fd < 0 || fstat(output.fd, &facts) != 0)
        return strerror(errno);
    output.device = facts.st_dev;
    output.inode = facts.st_ino;
    return NULL;
}

/* The descriptor; NULL, or what others did to the file. */
static const char *find(int *ret_fd)
{
    struct stat facts;
    if (!is_ours(output.fd, &facts)) {
        output.fd = above_standard(open(output.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        if (!is_ours(output.fd, &facts)) {
            if (output.fd >= 0)
                close(output.fd);
            output.fd = -1;
            return "the program closed its descriptor, and it cannot be opened again";
        }
    }
    *ret_fd = output.fd;
    return facts.st_nlink == 0 ? "it was removed" : facts.st_size < output.bytes ? "it was cut" : NULL;
}

static void note_end(off_t end)
{
    if (end > output.bytes)
        output.bytes = end;
}

int tracer_output_fd(void)
{
    int fd;
    return find(&fd) ? -1 : fd;
}

/* pwrite(), all of it; errno, or 0. */
static int write_all(int fd, const char *bytes, size_t count, off_t offset)
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
    const char *wrong = find(&fd);
    if (wrong)
        return wrong;
    size_limit_look();
    size_limit_enter(&limit);
    const int why = write_all(fd, bytes, count, offset);
    size_limit_leave(&limit, why == EFBIG);
    if (why)
        return strerror(why);
    note_end(offset + (off_t)count);
    return NULL;
}

const char *tracer_output_reserve(off_t offset, off_t bytes)
{
    struct size_limit limit;
    int fd, why;
    const char *wrong = find(&fd);
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
    note_end(offset + bytes);
    return NULL;
}

const char *tracer_output_finish(off_t length)
{
    int fd;
    const char *wrong = find(&fd);
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
    if (!is_ours(output.fd, &facts))
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
