#include "base/address_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static bool limit_of(int resource, uint64_t *ret_bytes)
{
    struct rlimit limit;
    *ret_bytes = UINT64_MAX;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *ret_bytes = limit.rlim_cur;
    return true;
}

/* Pages of all maps, and of those that count as data. No stream: it would take memory. */
static bool pages_in_use(unsigned long long *ret_all, unsigned long long *ret_data)
{
    char text[256];
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return sscanf(text, "%llu %*u %*u %*u %*u %llu", ret_all, ret_data) == 2; /* NOLINT(cert-err34-c) */
}

static uint64_t left_of(uint64_t limit, uint64_t used)
{
    return limit == UINT64_MAX ? limit : limit - (used < limit ? used : limit);
}

uint64_t address_space_left(void)
{
    uint64_t all_most, data_most;
    unsigned long long all = 0, data = 0;
    const bool limits_all = limit_of(RLIMIT_AS, &all_most), limits_data = limit_of(RLIMIT_DATA, &data_most);
    if (!limits_all && !limits_data)
        return UINT64_MAX;
    const int before = errno;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const bool known = pages_in_use(&all, &data);
    errno = before;
    if (!known)
        return UINT64_MAX;
    const uint64_t left = left_of(all_most, all * page), left_data = left_of(data_most, data * page);
    return left < left_data ? left : left_data;
}

bool address_space_is_accounted(void)
{
    char text[4] = "";
    const int before = errno, fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    const bool strict = fd >= 0 && read(fd, text, sizeof text - 1) > 0 && text[0] == '2';
    if (fd >= 0)
        close(fd);
    errno = before;
    return strict;
}
