#include "mpiio/storage/storage_budget.h"

#include "base/cgroup.h"

#include <assert.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SHARE = 8 };
static const uint64_t MIB = 1 << 20, MOST = 512 << 20;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int64_t storage_budget_of(uint64_t memory_left, uint64_t process_left, int ranks)
{
    assert(ranks > 0);
    const uint64_t bytes = least(memory_left / SHARE / (uint64_t)ranks, process_left / SHARE);
    return (int64_t)(least(bytes, MOST) / MIB * MIB);
}

/* Of a limit, when column `column` of /proc/self/statm, in pages, counts for it. */
static uint64_t left_of(int resource, int column)
{
    struct rlimit limit;
    unsigned long long pages[2] = {0};
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    FILE *stream = fopen("/proc/self/statm", "re");
    const int found = stream ? fscanf(stream, "%llu %llu", &pages[0], &pages[1]) : 0;
    if (stream)
        fclose(stream);
    const uint64_t used = found == 2 ? pages[column] * (uint64_t)sysconf(_SC_PAGESIZE) : limit.rlim_cur;
    return limit.rlim_cur - least(used, limit.rlim_cur);
}

int64_t storage_budget(uint64_t job_bytes, int ranks)
{
    return storage_budget_of(least(cgroup_memory_left(), job_bytes),
                             least(left_of(RLIMIT_AS, 0), left_of(RLIMIT_RSS, 1)), ranks);
}
