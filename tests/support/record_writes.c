/* Preloaded: each write at an offset leaves a line "PID OFFSET BYTES" in the file that RECORD_WRITES names. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static void record(off_t offset, ssize_t bytes)
{
    const char *path = getenv("RECORD_WRITES");
    char line[100];
    if (!path || bytes <= 0)
        return;
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const int length = snprintf(line, sizeof line, "%ld %lld %lld\n", (long)getpid(), (long long)offset,
                                (long long)bytes);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define RECORDED(name, data_type, count_type)                                                                          \
    ssize_t name(int fd, data_type data, count_type count, off_t offset)                                               \
    {                                                                                                                  \
        ssize_t (*real)(int, data_type, count_type, off_t);                                                            \
        void *symbol = next(#name);                                                                                    \
        memcpy(&real, &symbol, sizeof real);                                                                           \
        const ssize_t done = real(fd, data, count, offset);                                                            \
        record(offset, done);                                                                                          \
        return done;                                                                                                   \
    }
RECORDED(pwrite, const void *, size_t)
RECORDED(pwrite64, const void *, size_t)
RECORDED(pwritev, const struct iovec *, int)
RECORDED(pwritev64, const struct iovec *, int)
