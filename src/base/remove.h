/* Removing files and folders, by calls that a signal handler may make. */
#ifndef PIOLET_BASE_REMOVE_H
#define PIOLET_BASE_REMOVE_H

/* A regular file, with what an MPI keeps beside it for a shared file pointer, or a folder with all that is in it. What
 * is neither, as a device, stays; so does what cannot be removed. Does not follow links. */
void remove_quietly(const char *path);

#endif
