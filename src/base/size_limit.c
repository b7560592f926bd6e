#include "base/size_limit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

bool size_limit_bytes(unsigned long long *ret_bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *ret_bytes = limit.rlim_cur;
    return true;
}

static atomic_bool limited; /* asking the system costs a third of a small write: it is asked when a file is opened */

void size_limit_look(void)
{
    unsigned long long bytes;
    atomic_store(&limited, size_limit_bytes(&bytes));
}

void size_limit_enter(struct size_limit *limit)
{
    limit->held = false;
    if (!atomic_load_explicit(&limited, memory_order_relaxed))
        return;
    sigset_t signals, pending;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    limit->held = pthread_sigmask(SIG_BLOCK, &signals, &limit->before) == 0;
    limit->was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void size_limit_leave(const struct size_limit *limit, bool passed)
{
    if (!limit->held)
        return;
    if (passed && !limit->was_pending) { /* one that the program was to get already stays */
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGXFSZ);
        const struct timespec at_once = {0};
        while (sigtimedwait(&signals, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}

int size_limit_truncate(int fd, off_t bytes)
{
    struct size_limit limit;
    size_limit_look();
    size_limit_enter(&limit);
    const int outcome = ftruncate(fd, bytes), code = errno;
    size_limit_leave(&limit, outcome != 0 && code == EFBIG);
    errno = code;
    return outcome;
}
