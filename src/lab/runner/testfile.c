#include "lab/runner/testfile.h"

#include "base/interrupt.h"
#include "base/path.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct testfile {
    struct testfile *next;
    bool keep, was_there, cleared;
    char path[PATH_MAX]; /* without links */
    char mark[PATH_MAX];
};

static struct testfile *taken;

/* ---- marks ---- */

#define MARK_BEGIN "piolet-test-file 1 "
enum { MARK_TEXT_MAX = 160, BORN_AFTER_S = 60 /* a file is made right behind its mark; servers may be slow */ };

/* The mark of a file of a name without links; false where the name would be too long for one. */
static bool mark_of(const char *path, char ret_mark[PATH_MAX])
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    path_folder(path, folder);
    return strlen(name) + sizeof ".piolet" < NAME_MAX &&
           snprintf(ret_mark, PATH_MAX, "%s/.%s.piolet", folder, name) < PATH_MAX;
}

/* What identifies a file that was kept: whoever changes it makes it his own. */
static void describe_kept(const struct stat *info, char ret_text[MARK_TEXT_MAX])
{
    snprintf(ret_text, MARK_TEXT_MAX, MARK_BEGIN "kept %ju %jd %jd.%09ld\n", (uintmax_t)info->st_ino,
             (intmax_t)info->st_size, (intmax_t)info->st_mtim.tv_sec, info->st_mtim.tv_nsec);
}

static const char TEMPORARY[] = MARK_BEGIN "temporary\n"; /* goes at the end of the run */
static const char REPLACED[] = MARK_BEGIN "replaced\n";   /* stays: it is kept, or was there before */

static bool read_mark(const char *mark, char ret_text[MARK_TEXT_MAX])
{
    const int fd = open(mark, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, ret_text, MARK_TEXT_MAX - 1) : -1;
    if (fd >= 0)
        close(fd);
    ret_text[length > 0 ? length : 0] = '\0';
    return strncmp(ret_text, MARK_BEGIN, sizeof MARK_BEGIN - 1) == 0;
}

/* A file beside ours that only looks like a mark by its name is left alone. Without a mark the file is not known again:
 * that is no reason to fail. */
static void write_mark(const char *mark, const char *text)
{
    char old[MARK_TEXT_MAX];
    struct stat info;
    if (!*mark || (lstat(mark, &info) == 0 && info.st_size > 0 && !read_mark(mark, old)))
        return;
    const int fd = open(mark, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    const ssize_t written = write(fd, text, strlen(text));
    if (close(fd) != 0 || written != (ssize_t)strlen(text))
        unlink(mark);
}

static void remove_mark(const char *mark)
{
    char text[MARK_TEXT_MAX];
    if (*mark && read_mark(mark, text))
        unlink(mark);
}

/* Times of one file system: of when the file was made and when the mark was written. */
static bool is_of_killed_run(const char *path, const char *mark)
{
    struct statx file, marked;
    if (statx(AT_FDCWD, path, 0, STATX_BTIME, &file) != 0 || statx(AT_FDCWD, mark, 0, STATX_MTIME, &marked) != 0)
        return false;
    if (!(file.stx_mask & STATX_BTIME))
        return true; /* not every file system knows */
    return file.stx_btime.tv_sec <= marked.stx_mtime.tv_sec + BORN_AFTER_S;
}

enum origin { NOTHING, KEPT, LEFT_BEHIND, FOREIGN };

static enum origin origin_of(const char *path, const char *mark, const struct stat *info)
{
    char found[MARK_TEXT_MAX], wanted[MARK_TEXT_MAX];
    if (!read_mark(mark, found))
        return FOREIGN;
    describe_kept(info, wanted);
    if (strcmp(found, wanted) == 0)
        return KEPT;
    if (strcmp(found, REPLACED) == 0 && is_of_killed_run(path, mark))
        return KEPT;
    return strcmp(found, TEMPORARY) == 0 && is_of_killed_run(path, mark) ? LEFT_BEHIND : FOREIGN;
}

/* ---- files ---- */

static pl_status testfile_look(const char *name, bool overwrite, struct testfile *ret_file, enum origin *ret_origin,
                               struct pl_error *error)
{
    struct stat info;
    char target[PATH_MAX];
    const int failed = path_follow(name, target);
    *ret_file = (struct testfile){0};
    *ret_origin = NOTHING;
    if (failed)
        return pl_fail_errno(error, failed, "looking at '%s'", name);
    memcpy(ret_file->path, target, strlen(target) + 1);
    if (!mark_of(target, ret_file->mark))
        ret_file->mark[0] = '\0';
    if (stat(target, &info) != 0)
        return PL_OK; /* a new one; what is wrong with its place is told when it is made */
    *ret_origin = S_ISREG(info.st_mode) && ret_file->mark[0] ? origin_of(target, ret_file->mark, &info) : FOREIGN;
    ret_file->was_there = *ret_origin != LEFT_BEHIND;
    if (*ret_origin != FOREIGN || overwrite || !(S_ISREG(info.st_mode) || S_ISBLK(info.st_mode)))
        return PL_OK; /* other devices have nothing to lose, and a directory is not taken */
    return pl_fail(error, PL_E_INPUT,
                   "'%s' is there already and was not left by piolet as it is now; name another test file, remove it, "
                   "or say --overwrite",
                   name);
}

static struct testfile *find_taken(const char *name)
{
    char target[PATH_MAX];
    if (path_follow(name, target) != 0)
        return NULL;
    for (struct testfile *file = taken; file; file = file->next)
        if (path_same(file->path, target))
            return file;
    return NULL;
}

pl_status testfile_check(const char *path, bool overwrite, struct pl_error *error)
{
    struct testfile file;
    enum origin origin;
    return testfile_look(path, overwrite, &file, &origin, error);
}

pl_status testfile_take(const char *path, bool keep, bool overwrite, struct pl_error *error)
{
    struct testfile found, *file = find_taken(path);
    enum origin origin;
    if (file) {
        file->keep |= keep;
        return PL_OK;
    }
    if (testfile_look(path, overwrite, &found, &origin, error) != PL_OK)
        return error->status;
    file = malloc(sizeof *file);
    if (!file)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the name of '%s'", path);
    *file = found;
    file->keep = keep;
    file->next = taken;
    taken = file;
    return PL_OK;
}

void testfile_keep(const char *path)
{
    struct testfile *file = find_taken(path);
    assert(!file || !file->cleared);
    if (file)
        file->keep = true;
}

static bool goes_at_end(const struct testfile *file)
{
    return !file->keep && !file->was_there;
}

void testfile_watch(const char *path, bool keep)
{
    struct testfile found;
    enum origin origin;
    struct pl_error ignored;
    char text[MARK_TEXT_MAX];
    if (keep || find_taken(path) || testfile_look(path, true, &found, &origin, &ignored) != PL_OK)
        return;
    struct testfile *file = read_mark(found.mark, text) && strcmp(text, TEMPORARY) == 0 ? malloc(sizeof *file) : NULL;
    if (!file)
        return;
    *file = found;
    file->next = taken;
    taken = file; /* not cleared by us: testfile_end() leaves it alone */
    interrupt_remove(file->path);
}

pl_status testfile_clear(const char *path, struct pl_error *error)
{
    struct stat info;
    char target[PATH_MAX];
    struct testfile *file = find_taken(path);
    const int failed = path_follow(path, target);
    if (failed)
        return pl_fail_errno(error, failed, "removing the old '%s'", path);
    const bool is_there = stat(target, &info) == 0;
    if (is_there && S_ISDIR(info.st_mode))
        return pl_fail(error, PL_E_INPUT, "'%s' is a directory; a test file is a file", path);
    if (is_there && !S_ISREG(info.st_mode))
        return PL_OK;
    if (is_there && unlink(target) != 0 && errno != ENOENT)
        return pl_fail_errno(error, errno, "removing the old '%s'", path);
    if (file) {
        file->cleared = true;
        if (goes_at_end(file)) {
            interrupt_remove(file->path);
            interrupt_remove(file->mark);
        }
        /* behind the removal: what is born from here on is ours */
        write_mark(file->mark, goes_at_end(file) ? TEMPORARY : REPLACED);
    }
    return PL_OK;
}

void testfile_drop(const char *path)
{
    struct pl_error ignored;
    const struct testfile *file = find_taken(path);
    if (file && file->cleared && goes_at_end(file))
        testfile_clear(path, &ignored);
}

static void end_file(const struct testfile *file)
{
    struct stat info;
    char text[MARK_TEXT_MAX];
    const bool is_there = stat(file->path, &info) == 0;
    if (!is_there || goes_at_end(file)) {
        if (is_there)
            unlink(file->path); /* what is left is no reason to fail */
        remove_mark(file->mark);
        return;
    }
    describe_kept(&info, text);
    write_mark(file->mark, text);
}

void testfile_end(void)
{
    while (taken) {
        struct testfile *file = taken;
        taken = file->next;
        if (file->cleared)
            end_file(file);
        interrupt_keep(file->path);
        interrupt_keep(file->mark);
        free(file);
    }
}
