#include "cli/cli_screen.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct screen {
    int fd;
    bool begun, plain;
    int failed;   /* the first failure: no byte comes behind those that are missing */
    char rest[4]; /* of a character that came in parts */
    size_t rest_length;
};

static bool write_whole(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t put = write(fd, bytes, count);
        if (put > 0) {
            bytes += put;
            count -= (size_t)put;
        } else if (put == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Our own files on their way to another program keep every byte: those of earlier versions may hold any. */
static bool is_file_of_ours(const struct screen *screen, const char *bytes, size_t count)
{
    static const char *const HEADS[] = {"piolet-block ", "piolet-model ", "piolet-trace "};
    for (size_t i = 0; i < sizeof HEADS / sizeof HEADS[0]; i++)
        if (count > strlen(HEADS[i]) && memcmp(bytes, HEADS[i], strlen(HEADS[i])) == 0)
            return !isatty(screen->fd);
    return false;
}

static ssize_t screen_write(void *cookie, const char *bytes, size_t count)
{
    struct screen *screen = cookie;
    struct text raw = {0}, shown = {0};
    if (screen->failed) {
        errno = screen->failed;
        return 0;
    }
    if (!screen->begun)
        screen->plain = is_file_of_ours(screen, bytes, count);
    screen->begun = true;
    if (screen->plain) {
        screen->failed = write_whole(screen->fd, bytes, count) ? 0 : errno;
        return screen->failed ? 0 : (ssize_t)count;
    }
    text_append(&raw, screen->rest, screen->rest_length);
    text_append(&raw, bytes, count);
    const size_t taken = raw.failed ? 0 : text_add_screen(&shown, raw.data, raw.length);
    bool good = !raw.failed && !shown.failed;
    if (good) {
        assert(taken <= raw.length && raw.length - taken < sizeof screen->rest);
        screen->rest_length = raw.length - taken;
        memcpy(screen->rest, raw.data + taken, screen->rest_length);
        good = write_whole(screen->fd, text_get(&shown), shown.length);
    } else {
        errno = ENOMEM;
    }
    screen->failed = good ? 0 : errno;
    text_clear(&raw);
    text_clear(&shown);
    errno = good ? errno : screen->failed;
    return good ? (ssize_t)count : 0; /* 0: the stream has an error */
}

static int screen_close(void *cookie)
{
    struct screen *screen = cookie;
    struct text shown = {0};
    assert(screen->rest_length < sizeof screen->rest);
    screen->rest[screen->rest_length] = '\0';
    text_add_visible(&shown, screen->rest);
    write_whole(screen->fd, text_get(&shown), shown.length);
    text_clear(&shown);
    return 0;
}

static FILE *screen_stream(struct screen *screen, int mode)
{
    static const cookie_io_functions_t FUNCTIONS = {.write = screen_write, .close = screen_close};
    FILE *stream = fopencookie(screen, "w", FUNCTIONS);
    if (stream)
        setvbuf(stream, NULL, mode, BUFSIZ);
    return stream;
}

void cli_screen_open(void)
{
    static struct screen out = {.fd = STDOUT_FILENO}, err = {.fd = STDERR_FILENO};
    FILE *shown = screen_stream(&out, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    FILE *told = screen_stream(&err, _IONBF);
    if (shown)
        stdout = shown;
    if (told)
        stderr = told;
}

void cli_screen_clear_line(void)
{
    static const char CLEAR[] = "\r\033[K";
    fflush(stderr);
    write_whole(STDERR_FILENO, CLEAR, sizeof CLEAR - 1);
}
