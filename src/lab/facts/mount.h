/* Which mount holds a directory, from the text of /proc/self/mountinfo. */
#ifndef PIOLET_LAB_MOUNT_H
#define PIOLET_LAB_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

enum { MOUNT_TEXT_MAX = 4096, MOUNT_TYPE_MAX = 64 };

struct mount {
    char point[MOUNT_TEXT_MAX];
    char type[MOUNT_TYPE_MAX];    /* ext4, tmpfs, fuse.glusterfs, … */
    char source[MOUNT_TEXT_MAX];  /* device or server */
    char options[MOUNT_TEXT_MAX]; /* of this mount, then those of the file system that are not among them */
};

/* One line of mountinfo; false where it is none. Pure. */
bool mount_parse(const char *line, struct mount *ret_mount);

/* The mount of an absolute path without links: the last of the longest mount points above it, since later mounts cover
 * earlier ones. False: none is listed, as in a change-root. */
bool mount_find(const char *mountinfo_path, const char *path, struct mount *ret_mount);

/* The value of KEY=VALUE among the options; false where it is not there. Pure. */
bool mount_option(const struct mount *mount, const char *key, char *ret_value, size_t capacity);

#endif
