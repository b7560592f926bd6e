/* What this process may use: address space, size of files, memory of its control group. */
#ifndef PIOLET_LIMITS_H
#define PIOLET_LIMITS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes; UINT64_MAX where there is no limit. Without one it costs two cheap system calls. */
uint64_t address_space_left(void);

/* Does the machine never promise more memory than it has (vm.overcommit_memory = 2)? Then a page of a file in memory
 * may be refused when it is touched, which is SIGBUS, unless it was allocated before. */
bool address_space_is_accounted(void);

/* The limit of file size of the process (RLIMIT_FSIZE), and the signal that comes with passing it. */

/* False where there is none. */
bool size_limit_bytes(unsigned long long *ret_bytes);

/* Looks whether there is one: at each open and sync, so that a limit set in between holds from then on. */
void size_limit_look(void);

/* Around a call that lets a file grow: where the process has a limit of file size, passing it would raise SIGXFSZ and
 * end the program. The signal is held back in this thread, and taken away if the call raised it. */
struct size_limit {
    bool held;
    bool was_pending;
    sigset_t before;
};
void size_limit_enter(struct size_limit *limit);
void size_limit_leave(const struct size_limit *limit, bool passed);

/* ftruncate(2), guarded so: the limit holds for files in memory, too. Looks for a limit itself. */
int size_limit_truncate(int fd, off_t bytes);

/* How much memory is left to this process: a batch system sets a limit for the job's control group, and the kernel ends
 * a process of the group that touches more (pages of shared memory included), without an error that could be handled.
 */

/* Bytes that the process's memory control groups (version 1 and 2, each with all groups above it) and the machine still
 * leave, for all processes there together. What caches of files hold counts as left: the kernel gives it back on
 * demand. UINT64_MAX where nothing is known. Opens about ten files: for an open of a file, not for an access. The
 * answer may be a tenth of a second old. */
uint64_t cgroup_memory_left(void);

/* The same, with the folder `root` in the place of "/": for tests. */
uint64_t cgroup_memory_left_below(const char *root);

#endif
