#include "base/remove.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES_BYTES = 2048, DEPTH_MAX = 16 };

typedef void take_entry(int folder, const char *name, const void *context);

/* readdir() takes memory; the system call behind it does not. */
static void each_entry(int folder, take_entry *take, const void *context)
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
    each_entry(folder, remove_entry, &depth);
    lseek(folder, 0, SEEK_SET); /* some file systems pass entries over while others are removed */
    each_entry(folder, remove_entry, &depth);
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
    each_entry(folder, remove_pointer, slash ? slash + 1 : path);
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
