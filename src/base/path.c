#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void path_folder(const char *path, char ret_folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(ret_folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
}

int path_follow(const char *path, char ret_target[PATH_MAX])
{
    enum { LINKS_MAX = 40 }; /* as the kernel has it */
    char link[PATH_MAX], next[2 * PATH_MAX];
    if (snprintf(ret_target, PATH_MAX, "%s", path) >= PATH_MAX)
        return ENAMETOOLONG;
    for (int i = 0; i <= LINKS_MAX; i++) {
        const ssize_t length = readlink(ret_target, link, sizeof link - 1);
        if (length < 0)
            return 0;
        link[length] = '\0';
        const char *slash = strrchr(ret_target, '/');
        const int folder = slash && link[0] != '/' ? (int)(slash - ret_target) + 1 : 0;
        if (snprintf(next, sizeof next, "%.*s%s", folder, ret_target, link) >= PATH_MAX)
            return ENAMETOOLONG;
        memcpy(ret_target, next, strlen(next) + 1);
    }
    return ELOOP;
}

/* The path in one spelling, though the file itself may not exist yet; false where its directory does not. */
static bool spell_out(const char *link, char ret_whole[PATH_MAX])
{
    char directory[PATH_MAX], path[PATH_MAX];
    if (path_follow(link, path) != 0)
        return false;
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
