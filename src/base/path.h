/* Names of files. */
#ifndef PIOLET_BASE_PATH_H
#define PIOLET_BASE_PATH_H

#include <limits.h>
#include <stdbool.h>

/* Do both names mean the same file, though it may not exist yet? */
bool path_same(const char *a, const char *b);

/* What the name leads to when its last part is a link, though nothing may be there. 0, or an errno. */
int path_follow(const char *path, char ret_target[PATH_MAX]);

/* The folder of the name: what stands before its last slash, or ".". */
void path_folder(const char *path, char ret_folder[PATH_MAX]);

/* For names that others can guess, behind open() with O_NOFOLLOW and O_NONBLOCK: NULL where the descriptor is of a
 * regular file of this user with one name, else why not, in words. */
const char *path_why_not_own(int fd);

#endif
