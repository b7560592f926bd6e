#include "bench/peak/peak.h"

#include "base/rng.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>

const char PEAK_CLASS[] = "Peak", PEAK_TEST[] = "device";
const char *const PEAK_OPERATION_NAMES[PEAK_OPERATIONS + 1] = {
    [PEAK_WRITE] = "write", [PEAK_READ] = "read",   [PEAK_CREATE] = "create", [PEAK_OPEN] = "open",
    [PEAK_STAT] = "stat",   [PEAK_FSYNC] = "fsync", [PEAK_UNLINK] = "unlink"};
const char *const PEAK_ACCESS_NAMES[PEAK_ACCESSES + 1] = {
    [PEAK_SEQUENTIAL] = "sequential", [PEAK_STRIDED] = "strided", [PEAK_RANDOM] = "random"};

/* ---- the sets ---- */

static int add_pair(struct peak_set *sets, int count, enum peak_access access, int64_t request)
{
    sets[count] = (struct peak_set){.operation = PEAK_WRITE, .access = access, .request_bytes = request};
    sets[count + 1] = (struct peak_set){.operation = PEAK_READ, .access = access, .request_bytes = request};
    return count + 2;
}

int peak_plan_make(const struct peak_config *config, struct peak_set sets[PEAK_SETS_MAX])
{
    sets[0] = (struct peak_set){.operation = PEAK_WRITE, .request_bytes = config->requests[0], .makes_file = true};
    int count = 1;
    for (int access = 0; access < PEAK_ACCESSES; access++)
        for (int i = 0; i < config->request_count && config->access[access]; i++)
            count = add_pair(sets, count, (enum peak_access)access, config->requests[i]);
    for (int operation = PEAK_CREATE; operation < PEAK_OPERATIONS && config->files > 0; operation++)
        sets[count++] = (struct peak_set){.operation = (enum peak_operation)operation};
    return count;
}

const char *peak_set_label(const struct peak_set *set, char label[PEAK_LABEL_MAX])
{
    char size[UNITS_TEXT_MAX];
    if (set->operation > PEAK_READ)
        snprintf(label, PEAK_LABEL_MAX, "%s", PEAK_OPERATION_NAMES[set->operation]);
    else
        snprintf(label, PEAK_LABEL_MAX, "%s%s, %s, %s", set->makes_file ? "first " : "",
                 PEAK_OPERATION_NAMES[set->operation], PEAK_ACCESS_NAMES[set->access],
                 units_binary(set->request_bytes, size));
    return label;
}

/* ---- sizes and times ---- */

pl_status peak_file_share(int64_t size_bytes, int processes, const struct peak_config *config, int64_t *ret_bytes,
                          struct pl_error *error)
{
    char size[UNITS_TEXT_MAX], request[UNITS_TEXT_MAX];
    const int64_t count = size_bytes / processes / config->requests[0];
    units_binary(size_bytes, size);
    units_binary(config->requests[0], request);
    if (count == 0)
        return pl_fail(error, PL_E_INPUT,
                       "a file of %s for %d process%s is shorter than a request of %s; allowed: a larger --size, or "
                       "smaller --requests",
                       size, processes, processes == 1 ? "" : "es", request);
    if (count > PEAK_MAKING_MAX)
        return pl_fail(
            error, PL_E_INPUT,
            "a file of %s has more than %d requests of %s, and the largest requests make it; allowed: also a "
            "larger one in --requests",
            size, PEAK_MAKING_MAX, request);
    *ret_bytes = count * config->requests[0];
    return PL_OK;
}

double peak_slice_s(double limit_s, double elapsed_s, const struct peak_set *set, int sets_left)
{
    const double least_s = 0.02; /* whatever was spent before: every set has a few operations */
    if (set->makes_file && sets_left > 1)
        return fmax(limit_s / 2, least_s);
    return fmax((limit_s - elapsed_s) / (sets_left > 0 ? sets_left : 1), least_s);
}

/* ---- places ---- */

/* Passes over the file, each `stride` requests further with every operation, and beginning one further than the last.
 */
static int64_t strided_place(int64_t count, int64_t stride, int64_t index)
{
    const int64_t each = count / stride, longer = count % stride; /* the first passes have one more */
    if (index < longer * (each + 1))
        return index / (each + 1) + index % (each + 1) * stride;
    const int64_t rest = index - longer * (each + 1);
    return longer + rest / each + rest % each * stride;
}

/* A permutation of 0 … 4^k - 1: four rounds of a Feistel network over halves of k bits. */
static uint64_t shuffle(uint64_t seed, uint64_t value, int half_bits)
{
    enum { ROUNDS = 4 };
    const uint64_t mask = (UINT64_C(1) << half_bits) - 1;
    uint64_t left = value >> half_bits, right = value & mask;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t next = left ^ (rng_at(seed + round, right) & mask);
        left = right;
        right = next;
    }
    return left << half_bits | right;
}

static int64_t random_place(int64_t count, uint64_t seed, int64_t index)
{
    int half_bits = 1;
    while (half_bits < 31 && INT64_C(1) << (2 * half_bits) < count)
        half_bits++;
    uint64_t place = (uint64_t)index;
    do /* what falls outside goes on to where that leads: still every place once */
        place = shuffle(seed, place, half_bits);
    while (place >= (uint64_t)count);
    return (int64_t)place;
}

int64_t peak_place(enum peak_access access, int64_t count, int64_t stride, uint64_t seed, int64_t index)
{
    switch (access) {
    case PEAK_STRIDED:
        return strided_place(count, stride, index);
    case PEAK_RANDOM:
        return random_place(count, seed, index);
    default:
        return index;
    }
}
