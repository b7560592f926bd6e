#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path in one spelling, though the file itself may not exist yet; false where its directory does not. */
static bool spell_out(const char *path, char ret_whole[PATH_MAX])
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if ((size_t)(name - path) >= sizeof directory)
        return false;
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(name - path) : 1, slash ? path : ".");
    char *whole = realpath(directory, NULL);
    const bool fits = whole && snprintf(ret_whole, PATH_MAX, "%s/%s", whole, name) < PATH_MAX;
    free(whole);
    return fits;
}

bool path_same(const char *a, const char *b)
{
    struct stat first, second;
    char whole_a[PATH_MAX], whole_b[PATH_MAX];
    if (strcmp(a, b) == 0)
        return true;
    if (stat(a, &first) == 0 && stat(b, &second) == 0)
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
    return spell_out(a, whole_a) && spell_out(b, whole_b) && strcmp(whole_a, whole_b) == 0;
}

int path_write_errno(const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0)
        return 0;
    if (stat(path, &about) == 0)
        return S_ISDIR(about.st_mode) ? EISDIR : access(path, W_OK) == 0 ? 0 : errno;
    if (errno != ENOENT)
        return errno;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) + 1 : 1;
    if (length >= PATH_MAX || strlen(path) >= PATH_MAX)
        return ENAMETOOLONG;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    return access(folder, W_OK) == 0 ? 0 : errno;
}

const char *path_why_not_own(int fd)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return "what it is cannot be found out";
    if (!S_ISREG(facts.st_mode))
        return "the name is taken by something that is no regular file";
    if (facts.st_uid != geteuid())
        return "the name is taken by a file of another user";
    if (facts.st_nlink != 1)
        return "the name is taken by a file that has other names";
    return NULL;
}
