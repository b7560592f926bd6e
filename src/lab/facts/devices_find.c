/* From a directory to the block devices that it lies on, by st_dev, mountinfo and /sys. */
#include "lab/facts/devices.h"

#include "lab/facts/environment.h"
#include "lab/facts/mount.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char SYS[] = "/sys";
enum { DEPTH_MAX = 8 }; /* a loop device's file may lie on a loop device */

const char *devices_read_text(const char *path, char *text, size_t capacity)
{
    text[0] = '\0';
    FILE *stream = fopen(path, "re");
    if (!stream)
        return text;
    if (!fgets(text, (int)capacity, stream))
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(stream);
    return text;
}

/* ---- below a device ---- */

static bool is_listed(const struct devices_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

/* Calls devices_add() for each entry of a folder. */
static void add_entries(struct devices_list *list, const char *sys, const char *folder)
{
    DIR *entries = opendir(folder);
    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries));)
        if (entry->d_name[0] != '.')
            devices_add(list, sys, entry->d_name);
    closedir(entries);
}

/* Of a partition /sys/class/block leads to …/sda/sda1. */
static void add_whole_disk(struct devices_list *list, const char *sys, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    snprintf(path, sizeof path, "%s/class/block/%s/partition", sys, name);
    if (access(path, F_OK) != 0)
        return;
    snprintf(path, sizeof path, "%s/class/block/%s", sys, name);
    char *slash = realpath(path, real) ? strrchr(real, '/') : NULL;
    if (!slash)
        return;
    *slash = '\0';
    slash = strrchr(real, '/');
    if (slash)
        devices_add(list, sys, slash + 1);
}

void devices_add(struct devices_list *list, const char *sys, const char *name)
{
    char path[PATH_MAX];
    if (list->count == DEVICES_MAX || strlen(name) >= DEVICES_NAME_MAX || is_listed(list, name))
        return;
    snprintf(path, sizeof path, "%s/class/block/%s", sys, name);
    if (access(path, F_OK) != 0)
        return;
    snprintf(list->names[list->count++], DEVICES_NAME_MAX, "%s", name);
    add_whole_disk(list, sys, name);
    snprintf(path, sizeof path, "%s/class/block/%s/slaves", sys, name);
    add_entries(list, sys, path);
}

bool devices_btrfs(const char *sys, const char *name, char *ret_path, size_t capacity)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/fs/btrfs", sys);
    DIR *systems = opendir(path);
    bool found = false;
    if (!systems)
        return false;
    for (const struct dirent *entry; !found && (entry = readdir(systems));) {
        snprintf(path, sizeof path, "%s/fs/btrfs/%s/devices/%s", sys, entry->d_name, name);
        found = entry->d_name[0] != '.' && access(path, F_OK) == 0;
        if (found)
            snprintf(ret_path, capacity, "%s/fs/btrfs/%s", sys, entry->d_name);
    }
    closedir(systems);
    return found;
}

/* ---- behind a directory ---- */

static bool name_of_number(dev_t number, char name[DEVICES_NAME_MAX])
{
    char path[PATH_MAX], real[PATH_MAX];
    snprintf(path, sizeof path, "%s/dev/block/%u:%u", SYS, major(number), minor(number));
    const char *slash = major(number) != 0 && realpath(path, real) ? strrchr(real, '/') : NULL;
    if (slash)
        snprintf(name, DEVICES_NAME_MAX, "%.*s", DEVICES_NAME_MAX - 1, slash + 1);
    return slash;
}

/* Sets its words where the list stays empty. */
static void say_why(struct devices_list *list, const struct mount *mount)
{
    static const char *const memory[] = {"tmpfs", "ramfs", "devtmpfs"};
    const char *why = "no block device is known for it";
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (strcmp(mount->type, memory[i]) == 0)
            why = "in memory";
    if (strncmp(mount->type, "nfs", 3) == 0 || strcmp(mount->type, "cifs") == 0 || strcmp(mount->type, "9p") == 0 ||
        strcmp(mount->type, "ceph") == 0 || strcmp(mount->type, "lustre") == 0)
        why = "on a server";
    if (strncmp(mount->type, "fuse", 4) == 0)
        why = "behind a FUSE server";
    snprintf(list->why, sizeof list->why, "%s: %s", mount->type, why);
}

static void add_directory(struct devices_list *list, const char *directory, int depth);

static void add_loop_files(struct devices_list *list, int first, int depth)
{
    for (int i = first; i < list->count; i++) {
        char path[PATH_MAX], file[PATH_MAX];
        snprintf(path, sizeof path, "%s/class/block/%s/loop/backing_file", SYS, list->names[i]);
        char *slash = devices_read_text(path, file, sizeof file)[0] ? strrchr(file, '/') : NULL;
        if (!slash || depth == DEPTH_MAX)
            continue;
        slash[slash == file] = '\0';
        add_directory(list, file, depth + 1);
    }
}

/* The name of the device that holds a mount: some file systems have device numbers of their own. */
static bool name_of_mount(const struct mount *mount, char name[DEVICES_NAME_MAX])
{
    struct stat info;
    return mount->source[0] == '/' && stat(mount->source, &info) == 0 && S_ISBLK(info.st_mode) &&
           name_of_number(info.st_rdev, name);
}

static void add_mount(struct devices_list *list, const struct mount *mount, int depth)
{
    char name[DEVICES_NAME_MAX], path[PATH_MAX];
    if (name_of_mount(mount, name)) {
        devices_add(list, SYS, name);
        if (strcmp(mount->type, "btrfs") == 0 && devices_btrfs(SYS, name, path, sizeof path - sizeof "/devices")) {
            strcat(path, "/devices");
            add_entries(list, SYS, path);
        }
    } else if (strcmp(mount->type, "overlay") == 0 && depth < DEPTH_MAX &&
               mount_option(mount, "upperdir", path, sizeof path)) {
        add_directory(list, path, depth + 1); /* where what is written lands */
    } else if (!list->why[0]) {
        say_why(list, mount);
    }
}

static void add_directory(struct devices_list *list, const char *directory, int depth)
{
    char name[DEVICES_NAME_MAX], real[PATH_MAX];
    struct stat info;
    const int first = list->count;
    struct mount *mount = malloc(sizeof *mount);
    if (stat(directory, &info) == 0 && name_of_number(info.st_dev, name))
        devices_add(list, SYS, name);
    else if (mount && realpath(directory, real) && mount_find("/proc/self/mountinfo", real, mount))
        add_mount(list, mount, depth);
    free(mount);
    add_loop_files(list, first, depth);
}

pl_status devices_behind(const char *directory, struct devices_list *ret_list, struct pl_error *error)
{
    struct stat info;
    *ret_list = (struct devices_list){0};
    if (stat(directory, &info) != 0)
        return pl_fail_errno(error, errno, "looking for the devices of '%s'", directory);
    add_directory(ret_list, directory, 0);
    if (ret_list->count == 0 && !ret_list->why[0])
        snprintf(ret_list->why, sizeof ret_list->why, "no block device is known for it");
    return PL_OK;
}
