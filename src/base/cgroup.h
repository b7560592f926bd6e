/* How much memory is left to this process: a batch system sets a limit for the job's control group, and the kernel ends
 * a process of the group that touches more (pages of shared memory included), without an error that could be handled.
 */
#ifndef PIOLET_BASE_CGROUP_H
#define PIOLET_BASE_CGROUP_H

#include <stdint.h>

/* Bytes that the process's memory control groups (version 1 and 2, each with all groups above it) and the machine still
 * leave, for all processes there together. What caches of files hold counts as left: the kernel gives it back on
 * demand. UINT64_MAX where nothing is known. Opens about ten files: for an open of a file, not for an access. The
 * answer may be a tenth of a second old. */
uint64_t cgroup_memory_left(void);

/* The same, with the folder `root` in the place of "/": for tests. */
uint64_t cgroup_memory_left_below(const char *root);

#endif
