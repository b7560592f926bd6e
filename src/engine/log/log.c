#include "engine/log/log.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

/* What the environment says of logging. Internal to the log. */
struct log_setting {
    bool accesses; /* not only errors */
    int64_t above; /* -1: all */
    const char *folder;
};

static bool log_setting_refuse(bool speaks, const char *variable, const char *value, const char *allowed)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!speaks || atomic_flag_test_and_set(&told))
        return false;
    struct text shown = {0};
    text_add_visible(&shown, value);
    fprintf(stderr, "piolet: %s is '%s'; allowed: %s; nothing is logged\n", variable, text_get(&shown), allowed);
    text_clear(&shown);
    return false;
}

/* False where nothing is to be logged. A wrong setting is told once on stderr if this rank `speaks`. */
static bool log_setting_read(bool speaks, struct log_setting *ret_setting)
{
    const char *mode = getenv("PIOLET_LOG"), *above = getenv("PIOLET_LOG_ABOVE"), *folder = getenv("PIOLET_LOG_DIR");
    struct log_setting setting = {.above = -1, .folder = folder && *folder ? folder : "."};
    if (above && *above && !units_parse_size(above, &setting.above)) /* also where PIOLET_LOG was forgotten */
        return log_setting_refuse(speaks, "PIOLET_LOG_ABOVE", above,
                                  "a number of bytes, with k, m, g or t behind it if wanted");
    if (!mode || !*mode)
        return false;
    setting.accesses = strcmp(mode, "all") == 0;
    if (!setting.accesses && strcmp(mode, "errors") != 0)
        return log_setting_refuse(speaks, "PIOLET_LOG", mode, "errors, all");
    *ret_setting = setting;
    return true;
}

/* ---- The log of a process ---------------------------------------------------------------------------------------- */

/* Memory and system calls are the plain ones here, not mem.h and storage.h: a log must not change what a fault plan
 * counts, nor suffer by it. */
struct log {
    struct log_setting setting;
    int fd;
    int rank;
    atomic_bool given_up;
    int64_t opened_ns;
    char path[PATH_MAX];
};

static const char COLUMNS[] = "time_s\tfunction\toffset\tbytes\tdone\tparameters\tcode\terror\n";

static void tell_given_up(const struct log *log, const char *why)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&told))
        return;
    struct text path = {0};
    text_add_visible(&path, log->path);
    fprintf(stderr, "piolet: rank %d: the log '%s' cannot be written and is given up: %s\n", log->rank, text_get(&path),
            why);
    text_clear(&path);
}

/* 0, or an errno. One call for a line: with O_APPEND, lines of threads do not mix. */
static int write_line(int fd, const char *line, size_t bytes)
{
    struct size_limit limit;
    size_limit_look();
    size_limit_enter(&limit);
    int trouble = 0;
    while (bytes > 0 && !trouble) {
        const ssize_t put = write(fd, line, bytes);
        if (put > 0) {
            line += put;
            bytes -= (size_t)put;
        } else if (put == 0 || errno != EINTR) {
            trouble = put == 0 ? EIO : errno;
        }
    }
    size_limit_leave(&limit, trouble == EFBIG);
    return trouble;
}

static void log_give_up(struct log *log, int errno_value)
{
    atomic_store(&log->given_up, true);
    tell_given_up(log, strerror(errno_value));
}

/* The last name of the file, such that it can be part of another. */
static void add_name(struct text *path, const char *file_name)
{
    enum { LONGEST = 100 };
    const char *slash = strrchr(file_name, '/');
    const char *name = slash ? slash + 1 : file_name;
    for (int i = 0; name[i] && i < LONGEST; i++) {
        const unsigned char c = (unsigned char)name[i];
        const char shown = isspace(c) || iscntrl(c) ? '_' : name[i];
        text_append(path, &shown, 1);
    }
}

/* Begins the file that log->path names, or goes on with one of ours. Others can guess that name, and the folder may be
 * /tmp: nothing that stands behind a link, no pipe that would make the program wait, no file of theirs. */
static bool log_begin(struct log *log)
{
    int fd = open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0644);
    if (fd >= 0 && fd <= STDERR_FILENO) { /* the program prints there, if it closed its own */
        const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(fd);
        fd = moved;
    }
    const char *why = fd < 0 ? strerror(errno) : path_why_not_own(fd);
    const int trouble = why ? 0 : write_line(fd, COLUMNS, sizeof COLUMNS - 1);
    if (why || trouble) {
        if (fd >= 0)
            close(fd);
        tell_given_up(log, why ? why : strerror(trouble));
        return false;
    }
    log->fd = fd;
    return true;
}

/* Takes over the text. */
static struct log *log_new(const struct log_setting *setting, int rank, struct text *path)
{
    struct log *log = path->failed || path->length >= PATH_MAX ? NULL : calloc(1, sizeof *log);
    if (log) {
        log->setting = *setting;
        log->setting.folder = NULL; /* the program may change its environment */
        log->rank = rank;
        memcpy(log->path, path->data, path->length + 1);
        log->opened_ns = clock_read_ns(CLOCK_MONOTONIC);
    }
    text_clear(path);
    if (log && !log_begin(log)) {
        free(log);
        return NULL;
    }
    return log;
}

struct log *log_open(uint64_t job, int rank, const char *file_name)
{
    static atomic_int_fast64_t opens;
    struct log_setting setting;
    const int64_t sequence = atomic_fetch_add_explicit(&opens, 1, memory_order_relaxed);
    if (!log_setting_read(rank == 0, &setting))
        return NULL;
    struct text path = {0};
    text_format(&path, "%s/piolet-log.%" PRIx64 ".%d.%" PRId64 ".", setting.folder, job, rank, sequence);
    add_name(&path, file_name);
    return log_new(&setting, rank, &path);
}

struct log *log_open_agent(const struct log *log, int agent)
{
    if (!log)
        return NULL;
    struct text path = {0};
    text_format(&path, "%s.agent%d", log->path, agent);
    struct log *own = log_new(&log->setting, log->rank, &path);
    if (own)
        own->opened_ns = log->opened_ns;
    return own;
}

void log_close(struct log *log)
{
    if (!log)
        return;
    if (close(log->fd) != 0 && errno != EINTR && !atomic_load(&log->given_up))
        tell_given_up(log, strerror(errno));
    free(log);
}

bool log_wants_access(const struct log *log, int64_t offset, int64_t bytes)
{
    if (!log || !log->setting.accesses || atomic_load_explicit(&log->given_up, memory_order_relaxed))
        return false;
    if (offset < 0 || log->setting.above < 0)
        return true;
    return offset > log->setting.above || (bytes > 0 && bytes > log->setting.above - offset);
}

static void log_add_number(struct text *line, int64_t number)
{
    if (number < 0)
        text_add(line, "-\t");
    else
        text_format(line, "%" PRId64 "\t", number);
}

static void log_add_words(struct text *line, const char *words)
{
    if (words && *words)
        text_add_escaped(line, words);
    else
        text_add(line, "-");
}

void log_call(struct log *log, const struct log_call *call)
{
    if (!log || atomic_load_explicit(&log->given_up, memory_order_relaxed))
        return;
    const bool failed = call->error || call->code != 0;
    if (!failed && !log_wants_access(log, call->offset, call->bytes))
        return;
    const int64_t us = (clock_read_ns(CLOCK_MONOTONIC) - log->opened_ns) / 1000;
    struct text line = {0};
    text_format(&line, "%" PRId64 ".%06" PRId64 "\t", us / 1000000, us % 1000000);
    log_add_words(&line, call->function);
    text_add(&line, "\t");
    log_add_number(&line, call->offset);
    log_add_number(&line, call->bytes);
    log_add_number(&line, call->done);
    log_add_words(&line, call->parameters);
    text_format(&line, "\t%d\t", call->code);
    log_add_words(&line, call->error ? call->error->text : NULL);
    text_add(&line, "\n");
    const int trouble = line.failed ? ENOMEM : write_line(log->fd, line.data, line.length);
    text_clear(&line);
    if (trouble)
        log_give_up(log, trouble);
}
