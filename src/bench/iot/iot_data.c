#include "bench/iot/iot_data.h"

#include "base/rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int64_t iot_data_memory(int64_t longest_bytes)
{
    return longest_bytes + (int64_t)IOT_DATA_WINDOWS * IOT_DATA_STEP * (int64_t)sizeof(double);
}

pl_status iot_data_init(struct iot_data *data, int64_t longest_bytes, uint64_t seed, struct pl_error *error)
{
    enum { PAGE = 4096 };
    const int64_t bytes = (iot_data_memory(longest_bytes) + PAGE - 1) / PAGE * PAGE;
    data->seed = seed;
    data->pool = aligned_alloc(PAGE, (size_t)bytes);
    if (!data->pool)
        return pl_fail_errno(error, ENOMEM, "taking %lld bytes for random data", (long long)bytes);
    for (int64_t i = 0; i < bytes / (int64_t)sizeof(double); i++)
        data->pool[i] = rng_unit(rng_at(seed, (uint64_t)i));
    return PL_OK;
}

void iot_data_clear(struct iot_data *data)
{
    free(data->pool);
    data->pool = NULL;
}

const double *iot_data_block(const struct iot_data *data, int64_t offset, uint64_t salt)
{
    const uint64_t turn = salt ? 1 + rng_mix(salt) % (IOT_DATA_WINDOWS - 1) : 0; /* never the window without salt */
    const uint64_t window = (rng_at(data->seed, (uint64_t)offset) + turn) % IOT_DATA_WINDOWS;
    return data->pool + window * IOT_DATA_STEP;
}

static int64_t check_all(const double *wanted, const double *got, int64_t count)
{
    if (memcmp(wanted, got, (size_t)count * sizeof *got) == 0)
        return -1;
    int64_t i = 0;
    while (memcmp(&wanted[i], &got[i], sizeof *got) == 0)
        i++;
    return i;
}

/* Another number of each 4 KiB with each block: over a run, damage anywhere is met. */
static int64_t check_sample(const double *wanted, const double *got, int64_t count, uint64_t where)
{
    enum { STRETCH = 512 };
    uint64_t random = rng_mix(where);
    for (int64_t begin = 0; begin < count; begin += STRETCH) {
        const int64_t length = count - begin < STRETCH ? count - begin : STRETCH;
        const int64_t i = begin + (int64_t)(random % (uint64_t)length);
        if (wanted[i] != got[i])
            return i;
        random = random * 6364136223846793005u + 1442695040888963407u;
        random ^= random >> 29;
    }
    if (wanted[0] != got[0])
        return 0;
    return wanted[count - 1] != got[count - 1] ? count - 1 : -1;
}

int64_t iot_data_check(enum iot_check check, const double *wanted, const double *got, int64_t count, uint64_t where)
{
    if (count == 0 || check == IOT_CHECK_NONE)
        return -1;
    return check == IOT_CHECK_FULL ? check_all(wanted, got, count) : check_sample(wanted, got, count, where);
}

enum iot_check iot_check_named(const char *name)
{
    if (strcmp(name, "none") == 0)
        return IOT_CHECK_NONE;
    return strcmp(name, "full") == 0 ? IOT_CHECK_FULL : IOT_CHECK_SAMPLE;
}
