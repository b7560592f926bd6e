/* The limit of file size of the process (RLIMIT_FSIZE), and the signal that comes with passing it. */
#ifndef PIOLET_BASE_SIZE_LIMIT_H
#define PIOLET_BASE_SIZE_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

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

#endif
