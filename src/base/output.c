#include "base/output.h"

#include "base/path.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- what must not be replaced ---- */

enum kind { READ, RESERVED, CHECKED };

struct claim {
    enum kind kind;
    char *path;
    const char *what; /* RESERVED: what goes there */
};

static struct claim *claims;
static size_t claim_count;

static void add_claim(enum kind kind, const char *path, const char *what)
{
    struct claim *more = realloc(claims, (claim_count + 1) * sizeof *claims);
    char *copy = text_dup(path);
    claims = more ? more : claims;
    if (!more || !copy) {
        free(copy);
        return; /* whoever has no memory for a name will not get as far as writing a file */
    }
    claims[claim_count++] = (struct claim){kind, copy, what};
}

void output_reads(const char *path)
{
    struct stat info;
    if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &info) : stat(path, &info)) != 0 || !S_ISREG(info.st_mode))
        return; /* pipes and devices have nothing to lose */
    for (size_t i = 0; i < claim_count; i++)
        if (claims[i].kind == READ && strcmp(claims[i].path, path) == 0)
            return;
    add_claim(READ, path, NULL);
}

void output_reserve(const char *path, const char *what)
{
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
        add_claim(RESERVED, path, what);
}

static bool claims_it(const struct claim *claim, const char *path, const struct stat *info)
{
    struct stat now; /* what was removed meanwhile may have left its inode to another file */
    if (!info)
        return path_same(path, claim->path);
    if (strcmp(claim->path, "-") == 0 ? fstat(STDIN_FILENO, &now) != 0 : stat(claim->path, &now) != 0)
        return false;
    return now.st_dev == info->st_dev && now.st_ino == info->st_ino;
}

/* `info` is NULL where there is no such file yet. */
static pl_status refuse_claimed(const char *path, const struct stat *info, bool checked_too, struct pl_error *error)
{
    for (size_t i = 0; i < claim_count; i++) {
        const struct claim *claim = &claims[i];
        if ((claim->kind == CHECKED && !checked_too) || !claims_it(claim, path, info))
            continue;
        if (claim->kind == READ)
            return pl_fail(error, PL_E_USAGE, "'%s' is a file that this command reads; allowed: another file", path);
        if (claim->kind == RESERVED)
            return pl_fail(error, PL_E_USAGE, "'%s' is where %s; allowed: another file", path, claim->what);
        return pl_fail(error, PL_E_USAGE, "'%s' is named for two outputs; allowed: another file", path);
    }
    return PL_OK;
}

pl_status output_check_unread(const char *path, struct pl_error *error)
{
    struct stat info;
    return refuse_claimed(path, stat(path, &info) == 0 ? &info : NULL, false, error);
}

/* ---- names ---- */

/* The descriptor that the name stands for, or -1. Opening such a name anew would begin at the file's start. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t length = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], length) == 0 && path[length] >= '0' && path[length] <= '9') {
            const long number = strtol(path + length, &end, 10);
            return *end || number > INT_MAX ? -1 : (int)number;
        }
    }
    return -1;
}

/* Looks at what the name leads to. *ret_info->st_mode is 0 where nothing is there. */
static pl_status output_look(const char *path, char ret_target[PATH_MAX], struct stat *ret_info, struct pl_error *error)
{
    char folder[PATH_MAX];
    const int failed = path_follow(path, ret_target);
    if (failed)
        return pl_fail_errno(error, failed, "'%s' cannot be made", path);
    path_folder(ret_target, folder);
    *ret_info = (struct stat){0};
    if (stat(ret_target, ret_info) == 0) {
        if (S_ISDIR(ret_info->st_mode))
            return pl_fail(error, PL_E_USAGE, "'%s' is a directory; allowed: a file", path);
        if (access(ret_target, W_OK) != 0)
            return pl_fail_errno(error, errno, "'%s' cannot be written", path);
        if (S_ISREG(ret_info->st_mode) && access(folder, W_OK | X_OK) != 0)
            return pl_fail_errno(error, errno, "'%s' cannot be replaced: the directory", path);
        return PL_OK;
    }
    if (errno != ENOENT || access(folder, W_OK | X_OK) != 0)
        return pl_fail_errno(error, errno, "'%s' cannot be made", path);
    return PL_OK;
}

/* What goes to standard output, or to a descriptor, must not go into a file that is read. */
static pl_status check_descriptor(const char *path, int descriptor, struct pl_error *error)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return pl_fail_errno(error, errno, "writing '%s'", path);
    return S_ISREG(info.st_mode) ? refuse_claimed(path, &info, false, error) : PL_OK;
}

pl_status output_check(const char *path, struct pl_error *error)
{
    char target[PATH_MAX];
    struct stat info;
    const int descriptor = named_descriptor(path);
    if (!*path)
        return pl_fail(error, PL_E_USAGE, "'' names no file");
    if (descriptor >= 0)
        return check_descriptor(path, descriptor, error);
    if (output_look(path, target, &info, error) != PL_OK)
        return error->status;
    const bool is_there = info.st_mode != 0;
    if (is_there && !S_ISREG(info.st_mode))
        return PL_OK; /* any number of outputs may go to /dev/null */
    if (refuse_claimed(path, is_there ? &info : NULL, true, error) != PL_OK)
        return error->status;
    add_claim(CHECKED, path, NULL);
    return PL_OK;
}

/* ---- files that are being written ---- */

enum { OUTPUTS_MAX = 32, TRIES = 100 };

/* A file is gathered without a name where the file system can do that, so that nothing is left of a killed process;
 * else under `temporary`. */
static struct output {
    volatile sig_atomic_t used; /* set last, read by output_discard() */
    pid_t owner;
    FILE *stream; /* NULL: finished */
    int fd;       /* of the gathered content; -1: written as it is */
    bool in_place, is_there;
    char name[PATH_MAX], target[PATH_MAX], temporary[PATH_MAX];
    struct stat info; /* of the file that is there */
} outputs[OUTPUTS_MAX];

static struct output *find_output(const FILE *stream)
{
    for (int i = 0; i < OUTPUTS_MAX; i++)
        if (outputs[i].used && outputs[i].stream == stream)
            return &outputs[i];
    return NULL;
}

static void output_release(struct output *output)
{
    if (output->stream)
        fclose(output->stream);
    if (output->fd >= 0)
        close(output->fd);
    if (output->temporary[0])
        unlink(output->temporary);
    output->stream = NULL;
    output->fd = -1;
    output->used = 0;
}

void output_discard(void)
{
    for (int i = 0; i < OUTPUTS_MAX; i++)
        if (outputs[i].used && outputs[i].owner == getpid() && outputs[i].temporary[0])
            unlink(outputs[i].temporary);
}

/* A name beside the target that nobody has; `make` makes the file there, and fails with EEXIST where one is. */
static int make_beside(struct output *output, int (*make)(const struct output *output))
{
    static unsigned number;
    char folder[PATH_MAX];
    path_folder(output->target, folder);
    sigset_t all, before;
    int made = -1;
    sigfillset(&all); /* a handler sees a name that is ours, or none */
    sigprocmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < TRIES && made < 0; i++) {
        const int length = snprintf(output->temporary, PATH_MAX, "%s/.piolet-%ld-%u.part", folder, (long)getpid(),
                                    number++);
        errno = ENAMETOOLONG;
        made = length < PATH_MAX ? make(output) : -1;
        if (made < 0 && errno != EEXIST)
            break;
    }
    const int error = errno;
    if (made < 0)
        output->temporary[0] = '\0';
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return made;
}

static int open_named(const struct output *output)
{
    return open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int link_named(const struct output *output)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW);
}

static int open_gathering(struct output *output)
{
    char folder[PATH_MAX];
    path_folder(output->target, folder);
    const int fd = access("/proc/self/fd", X_OK) == 0 ? open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666) : -1;
    return fd >= 0 ? fd : make_beside(output, open_named);
}

/* Attributes that a new file would not get by itself: access lists, and what the user noted. */
static bool has_attributes(const char *path)
{
    char names[4096];
    const ssize_t length = listxattr(path, names, sizeof names);
    if (length < 0)
        return errno == ERANGE;
    for (const char *name = names; name < names + length; name += strlen(name) + 1)
        if (strncmp(name, "security.", 9) != 0)
            return true;
    return false;
}

/* The new file looks like the old one, or the old one gets the new content. */
static void take_after(struct output *output)
{
    const struct stat *old = &output->info;
    struct stat new;
    output->in_place = old->st_nlink > 1 || has_attributes(output->target) || fstat(output->fd, &new) != 0;
    if (!output->in_place && (new.st_uid != old->st_uid || new.st_gid != old->st_gid))
        output->in_place = fchown(output->fd, old->st_uid, old->st_gid) != 0;
    if (!output->in_place)
        output->in_place = fchmod(output->fd, old->st_mode & 07777) != 0;
}

static pl_status open_file(struct output *output, struct pl_error *error)
{
    output->fd = open_gathering(output);
    if (output->fd < 0)
        return pl_fail_errno(error, errno, "'%s' cannot be written: a file beside it", output->name);
    if (output->is_there)
        take_after(output);
    const int copy = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
    output->stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (output->stream)
        return PL_OK;
    pl_fail_errno(error, errno, "opening '%s'", output->name);
    if (copy >= 0)
        close(copy);
    return error->status;
}

static pl_status open_as_it_is(struct output *output, int descriptor, struct pl_error *error)
{
    const int fd = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                                   : open(output->target, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    output->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->stream)
        return PL_OK;
    pl_fail_errno(error, errno, "opening '%s'", output->name);
    if (fd >= 0)
        close(fd);
    return error->status;
}

static pl_status refuse_open(const char *path, const struct stat *info, const char *target, struct pl_error *error)
{
    struct stat standard;
    for (int i = 0; i < OUTPUTS_MAX; i++)
        if (outputs[i].used && outputs[i].fd >= 0 && path_same(outputs[i].target, target))
            return pl_fail(error, PL_E_USAGE, "'%s' is named for two outputs; allowed: another file", path);
    if (info && fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == info->st_dev &&
        standard.st_ino == info->st_ino)
        return pl_fail(error, PL_E_USAGE, "'%s' is standard output already; allowed: -, or another file", path);
    return refuse_claimed(path, info, false, error);
}

static pl_status output_begin(struct output *output, const char *path, struct pl_error *error)
{
    if (snprintf(output->name, PATH_MAX, "%s", path) >= PATH_MAX)
        return pl_fail_errno(error, ENAMETOOLONG, "opening '%.64s...'", path);
    const int descriptor = named_descriptor(path);
    if (descriptor >= 0) {
        if (check_descriptor(path, descriptor, error) != PL_OK)
            return error->status;
        return open_as_it_is(output, descriptor, error);
    }
    if (output_look(path, output->target, &output->info, error) != PL_OK)
        return error->status;
    output->is_there = output->info.st_mode != 0;
    if (output->is_there && !S_ISREG(output->info.st_mode))
        return open_as_it_is(output, -1, error);
    if (refuse_open(path, output->is_there ? &output->info : NULL, output->target, error) != PL_OK)
        return error->status;
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error, not the end of the process */
    return open_file(output, error);
}

pl_status output_open(const char *path, FILE **ret_stream, struct pl_error *error)
{
    struct output *output = NULL;
    if (named_descriptor(path) == STDOUT_FILENO) {
        *ret_stream = stdout;
        return check_descriptor(path, STDOUT_FILENO, error);
    }
    for (int i = 0; i < OUTPUTS_MAX && !output; i++)
        output = outputs[i].used ? NULL : &outputs[i];
    assert(output); /* no verb has that many */
    *output = (struct output){.fd = -1, .owner = getpid()};
    output->used = 1;
    const pl_status status = output_begin(output, path, error);
    *ret_stream = output->stream;
    if (status != PL_OK)
        output_release(output);
    return status;
}

/* ---- the end ---- */

int output_stream_errno(FILE *stream)
{
    static const char more[1 << 16]; /* a few bytes may find room where all the others did not */
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream))
        return 0;
    if (errno == 0) { /* it was an earlier write: what stopped that stops this one. The content is lost anyway. */
        clearerr(stream);
        errno = fwrite(more, 1, sizeof more, stream) < sizeof more || fflush(stream) != 0 ? errno : 0;
    }
    return errno ? errno : EIO;
}

static int finish_file(struct output *output)
{
    int failed = output_stream_errno(output->stream);
    if (!failed && output->fd >= 0 && fsync(output->fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
        failed = errno;
    if (fclose(output->stream) != 0 && !failed)
        failed = errno;
    output->stream = NULL;
    return failed;
}

static bool stdout_failed;

bool output_stdout_failed(void)
{
    return stdout_failed;
}

static pl_status finish_stdout(struct pl_error *error)
{
    const int cause = output_stream_errno(stdout);
    if (cause == 0)
        return PL_OK;
    stdout_failed = true;
    return pl_fail_errno(error, cause, "writing to standard output");
}

pl_status output_finish(FILE *stream, struct pl_error *error)
{
    if (!stream)
        return PL_OK;
    if (stream == stdout)
        return finish_stdout(error);
    struct output *output = find_output(stream);
    assert(output);
    const int failed = finish_file(output);
    if (failed)
        pl_fail_errno(error, failed, "writing '%s'", output->name);
    if (failed || output->fd < 0)
        output_release(output);
    return failed ? error->status : PL_OK;
}

static int copy_bytes(int from, int to, off_t bytes)
{
    char chunk[65536];
    for (off_t at = 0; at < bytes;) {
        const ssize_t got = pread(from, chunk, sizeof chunk, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        for (ssize_t put = 0; put < got;) {
            const ssize_t done = pwrite(to, chunk + put, (size_t)(got - put), at + put);
            if (done < 0 && errno != EINTR)
                return errno;
            put += done > 0 ? done : 0;
        }
        at += got;
    }
    return 0;
}

/* The whole content is there, and its room is taken before the first old byte goes. */
static int write_in_place(const struct output *output)
{
    struct stat new = {0};
    const int to = open(output->target, O_WRONLY | O_CLOEXEC);
    int failed = to < 0 || fstat(output->fd, &new) != 0 ? errno : 0;
    if (!failed && new.st_size > 0 && fallocate(to, FALLOC_FL_KEEP_SIZE, 0, new.st_size) != 0 &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        failed = errno;
    if (!failed)
        failed = copy_bytes(output->fd, to, new.st_size);
    if (!failed && (ftruncate(to, new.st_size) != 0 || (fsync(to) != 0 && errno != EINVAL)))
        failed = errno;
    if (to >= 0 && close(to) != 0 && !failed)
        failed = errno;
    return failed;
}

static int put_in_place(struct output *output)
{
    if (output->in_place)
        return write_in_place(output);
    if (rename(output->temporary, output->target) == 0)
        output->temporary[0] = '\0';
    else if (errno == EBUSY && output->is_there) /* mounted by itself, as containers do */
        return write_in_place(output);
    else
        return errno;
    return 0;
}

static pl_status finish_all(struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int i = 0; i < OUTPUTS_MAX && status == PL_OK; i++)
        if (outputs[i].used && outputs[i].stream)
            status = output_finish(outputs[i].stream, error);
    return status;
}

/* The last that can fail for want of room or rights, before the first file changes. */
static pl_status name_all(struct pl_error *error)
{
    for (int i = 0; i < OUTPUTS_MAX; i++)
        if (outputs[i].used && !outputs[i].in_place && !outputs[i].temporary[0] &&
            make_beside(&outputs[i], link_named) < 0)
            return pl_fail_errno(error, errno, "writing '%s'", outputs[i].name);
    return PL_OK;
}

pl_status output_commit(struct pl_error *error)
{
    sigset_t all, before;
    pl_status status = finish_all(error); /* may wait for the reader of a pipe */
    sigfillset(&all);                     /* a signal comes before all of it or behind */
    sigprocmask(SIG_BLOCK, &all, &before);
    if (status == PL_OK)
        status = name_all(error);
    for (int i = 0; i < OUTPUTS_MAX; i++) {
        if (!outputs[i].used)
            continue;
        const int failed = status == PL_OK ? put_in_place(&outputs[i]) : 0;
        if (failed)
            status = pl_fail_errno(error, failed, "writing '%s'", outputs[i].name);
        output_release(&outputs[i]);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
