/* Names of files. */
#ifndef PIOLET_BASE_PATH_H
#define PIOLET_BASE_PATH_H

#include <stdbool.h>

/* Do both names mean the same file, though it may not exist yet? */
bool path_same(const char *a, const char *b);

/* Could the file be written, now or as a new one? 0, or the errno that says why not. Touches nothing. "-" always can:
 * it is standard output. */
int path_write_errno(const char *path);

/* For names that others can guess, behind open() with O_NOFOLLOW and O_NONBLOCK: NULL where the descriptor is of a
 * regular file of this user with one name, else why not, in words. */
const char *path_why_not_own(int fd);

#endif
