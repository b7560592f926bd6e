#include "bench/beffio/beffio_pattern.h"

#include <assert.h>

const struct beffio_pattern BEFFIO_TABLE[BEFFIO_PATTERNS_ALL] = {
#define PATTERN(type, chunk, chunks, units) {type, BEFFIO_##chunk, chunks, units},
#include "bench/beffio/pattern.def"
#undef PATTERN
};

static const int64_t KB = 1024, MB = 1024 * 1024;

int64_t beffio_mpart(int64_t node_memory_bytes)
{
    const int64_t part = node_memory_bytes / 128 / 8 * 8;
    return part > 2 * MB ? part : 2 * MB;
}

int64_t beffio_chunk_bytes(enum beffio_chunk chunk, int64_t mpart_bytes)
{
    switch (chunk) {
    case BEFFIO_KB1:
        return KB;
    case BEFFIO_KB1_8:
        return KB + 8;
    case BEFFIO_KB32:
        return 32 * KB;
    case BEFFIO_KB32_8:
        return 32 * KB + 8;
    case BEFFIO_MB1:
        return MB;
    case BEFFIO_MB1_8:
        return MB + 8;
    case BEFFIO_MPART:
        return mpart_bytes;
    default:
        return 0;
    }
}

int64_t beffio_call_bytes(int pattern, int64_t mpart_bytes)
{
    return BEFFIO_TABLE[pattern].chunks * beffio_chunk_bytes(BEFFIO_TABLE[pattern].chunk, mpart_bytes);
}

int beffio_type_first(int type)
{
    int pattern = 0;
    while (pattern < BEFFIO_PATTERNS_ALL && BEFFIO_TABLE[pattern].type < type)
        pattern++;
    return pattern;
}

int beffio_type_end(int type)
{
    return beffio_type_first(type + 1);
}

int beffio_counterpart(int type, enum beffio_chunk chunk)
{
    int found = -1;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_pattern *pattern = &BEFFIO_TABLE[p];
        const bool same_length = pattern->chunks == 1 || chunk < BEFFIO_MB1;
        if (pattern->chunk == chunk && pattern->units > 0 && same_length)
            found = p;
    }
    assert(found >= 0);
    return found;
}

bool beffio_is_planned(int type)
{
    return type >= 3;
}

bool beffio_is_collective(int type)
{
    return type == 0 || type == 1 || type == 4;
}

const char *beffio_method_name(enum beffio_method method)
{
    static const char *const names[BEFFIO_METHODS] = {"write", "rewrite", "read"};
    return names[method];
}

const char *beffio_type_name(int type)
{
    static const char *const names[BEFFIO_TYPES_ALL] = {
        "strided, collective, scattering", "strided, collective, shared pointer",
        "separate files, non-collective",  "segmented, non-collective",
        "segmented, collective",           "random, non-collective (not averaged)"};
    return names[type];
}

const char *beffio_chunk_name(enum beffio_chunk chunk)
{
    static const char *const names[] = {"1k", "1k+8", "32k", "32k+8", "1M", "1M+8", "M_PART", "fill"};
    return names[chunk];
}
