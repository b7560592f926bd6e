/* Names of files. */
#ifndef PIOLET_PATH_H
#define PIOLET_PATH_H

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

/* Removing files and folders, by calls that a signal handler may make. */

/* A regular file, with what an MPI keeps beside it for a shared file pointer, or a folder with all that is in it. What
 * is neither, as a device, stays; so does what cannot be removed. Does not follow links. */
void remove_quietly(const char *path);

#endif
