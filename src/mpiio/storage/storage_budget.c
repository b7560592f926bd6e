#include "mpiio/storage/storage_budget.h"

#include "base/address_space.h"
#include "base/cgroup.h"

#include <assert.h>

enum { SHARE = 8 };
static const uint64_t MIB = 1 << 20, MOST = 512 << 20;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int64_t storage_budget_of(uint64_t memory_left, uint64_t addresses_left, int ranks)
{
    assert(ranks > 0);
    const uint64_t bytes = least(memory_left / SHARE / (uint64_t)ranks, addresses_left / SHARE);
    return (int64_t)(least(bytes, MOST) / MIB * MIB);
}

int64_t storage_budget(uint64_t job_bytes, int ranks)
{
    return storage_budget_of(least(cgroup_memory_left(), job_bytes), address_space_left(), ranks);
}
