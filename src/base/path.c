#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
static bool path_spell_out(const char *link, char ret_whole[PATH_MAX])
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
    return path_spell_out(a, whole_a) && path_spell_out(b, whole_b) && strcmp(whole_a, whole_b) == 0;
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

/* ---- removing ---- */

enum { ENTRIES_BYTES = 2048, DEPTH_MAX = 16 };

typedef void take_entry(int folder, const char *name, const void *context);

/* readdir() takes memory; the system call behind it does not. */
static void remove_each_entry(int folder, take_entry *take, const void *context)
{
    char entries[ENTRIES_BYTES] __attribute__((aligned(8)));
    long length;
    while ((length = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < length;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                take(folder, entry->d_name, context);
            at += entry->d_reclen;
        }
}

static void remove_tree(int parent, const char *name, int depth);

static void remove_entry(int folder, const char *name, const void *context)
{
    const int depth = *(const int *)context;
    if (unlinkat(folder, name, 0) != 0 && depth < DEPTH_MAX)
        remove_tree(folder, name, depth + 1);
}

static void remove_tree(int parent, const char *name, int depth)
{
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    remove_each_entry(folder, remove_entry, &depth);
    lseek(folder, 0, SEEK_SET); /* some file systems pass entries over while others are removed */
    remove_each_entry(folder, remove_entry, &depth);
    close(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* ".NAME.shfp.…" is ROMIO's, "NAME.lockedfile…" OMPIO's. */
static void remove_pointer(int folder, const char *entry, const void *context)
{
    static const char *const endings[] = {".shfp", ".lockedfile"};
    const char *file = context, *shown = entry + (entry[0] == '.' && file[0] != '.');
    const size_t length = strlen(file);
    if (strncmp(shown, file, length) != 0)
        return;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (strncmp(shown + length, endings[i], strlen(endings[i])) == 0)
            unlinkat(folder, entry, 0);
}

static void remove_pointers(const char *path)
{
    char parent[4096];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    if (length >= sizeof parent)
        return;
    memcpy(parent, slash ? path : ".", length);
    parent[length] = '\0';
    const int folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    remove_each_entry(folder, remove_pointer, slash ? slash + 1 : path);
    close(folder);
}

void remove_quietly(const char *path)
{
    struct stat info;
    const bool there = lstat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode)) {
        remove_tree(AT_FDCWD, path, 0);
        return;
    }
    if (there && S_ISREG(info.st_mode))
        unlink(path);
    if (!there || S_ISREG(info.st_mode))
        remove_pointers(path);
}
