/* What a failed system call means: try again, or find words. */
#include "base/size_limit.h"
#include "mpiio/storage/storage_core.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *storage_tail(const char *path)
{
    enum { SHOWN = 200 }; /* leaves room for the words in a struct pl_error */
    const size_t length = strlen(path);
    return length > SHOWN ? path + length - SHOWN : path;
}

pl_status storage_fail(struct pl_error *error, int errno_value, const char *format, ...)
{
    char context[PL_ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    if (errno_value != EFBIG)
        return pl_fail_errno(error, errno_value, "%s", context);
    unsigned long long bytes;
    if (size_limit_bytes(&bytes))
        return pl_fail(error, PL_E_SPACE,
                       "%s: %s: the limit of file size of this process (RLIMIT_FSIZE, ulimit -f) is %llu bytes",
                       context, strerror(EFBIG), bytes);
    return pl_fail(error, PL_E_SPACE, "%s: %s for this file system", context, strerror(EFBIG));
}

bool storage_again(struct storage_patience *patience, int errno_value)
{
    enum { INTERRUPTED_MAX = 1000000 }; /* no storm of signals does that; a fault plan may, and must not hang */
    const int64_t ms = 1000000, nap_longest_ns = 256 * ms, naps_ns = 2000 * ms;
    if (errno_value == EINTR)
        return ++patience->interrupted < INTERRUPTED_MAX;
    if (errno_value != EAGAIN || patience->napped_ns >= naps_ns)
        return false;
    /* Each nap is as long as all before it, so that a short trouble costs little. */
    int64_t nap_ns = patience->napped_ns ? patience->napped_ns : ms;
    if (nap_ns > nap_longest_ns)
        nap_ns = nap_longest_ns;
    nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
    patience->napped_ns += nap_ns;
    return true;
}
