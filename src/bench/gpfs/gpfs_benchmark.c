/* The tables: parameters, benchmarks and contestants, with the document's values as defaults. */
#include "bench/gpfs/gpfs.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char GPFS_CLASS[] = "Gpfs";
const char *const GPFS_CONDITIONS[] = {"file", NULL};

#define KEY(id, n, k, words, low, high, letter, argument, p, help)                                                     \
    [GPFS_##                                                                                                           \
        id] = {.name = (n), .kind = GPFS_KIND_##k, .allowed = (words), .least = (low), .most = (high), .param = (p)},
const struct gpfs_key_row GPFS_KEY_ROWS[GPFS_KEYS] = {
#include "bench/gpfs/key.def"
};
#undef KEY

#define COMMON [GPFS_RANKS] = "", [GPFS_OP] = "write,read", [GPFS_CACHE] = "cold"

const struct gpfs_benchmark GPFS_BENCHMARKS[] = {
    {.name = "contiguous",
     .summary = "each rank one contiguous part of the file (section 4.1.1, Figures 8 to 10)",
     .kind = GPFS_CONTIGUOUS,
     .defaults = {COMMON, [GPFS_SIZE] = "333000000", [GPFS_COLLECTIVE] = "no", [GPFS_BUFFER] = "0"},
     .contestants = "posix,system,no-shipping,shipping,partitioned",
     .by_maximum = true},
    {.name = "discontiguous",
     .summary = "blocks of 1 KiB at random ranks, by views (section 4.1.2, Figures 11 and 12)",
     .kind = GPFS_DISCONTIGUOUS,
     .defaults = {COMMON, [GPFS_SIZE] = "333000000", [GPFS_BLOCK] = "1k", [GPFS_REGION] = "2g",
                  [GPFS_COLLECTIVE] = "yes", [GPFS_PREALLOCATE] = "no", [GPFS_BUFFER] = "0"},
     .contestants = "posix,system,no-shipping,shipping,partitioned,auto",
     .by_maximum = true},
    {.name = "partitioning",
     .summary = "small blocks, each by a call of its own (section 4.1.3, Figures 13 and 14)",
     .kind = GPFS_PARTITIONING,
     .defaults = {COMMON, [GPFS_BLOCK] = "8k", [GPFS_BLOCKS] = "10000", [GPFS_BUFFER] = "16m"},
     .contestants = "posix,system,shipping,partitioned"},
    {.name = "access-range",
     .summary = "sub-blocks scattered in blocks (section 4.1.4, Figures 15 and 16)",
     .kind = GPFS_ACCESS_RANGE,
     .defaults = {COMMON, [GPFS_BLOCK] = "256k", [GPFS_BLOCKS] = "100", [GPFS_SUB_BLOCK] = "4k",
                  [GPFS_SUB_BLOCKS] = "1,2,8,16", [GPFS_COLLECTIVE] = "no", [GPFS_BUFFER] = "0"},
     .contestants = "posix,system,ranges-0,ranges-1,ranges-2,ranges-4,ranges-8"},
    {.name = "strided",
     .summary = "records at a regular distance, tiled and sparse (section 2.1, Figures 2 and 3)",
     .kind = GPFS_STRIDED,
     .defaults = {COMMON, [GPFS_PATTERN] = "tiled,sparse", [GPFS_FILE_SIZE] = "2g", [GPFS_RECORD] = "4k,12k,64k",
                  [GPFS_BUFFER] = "0"},
     .contestants = "posix,system,shipping,partitioned"},
    {.name = "random",
     .summary = "records at random places, announced by a view (section 2.2, Figure 6)",
     .kind = GPFS_RANDOM,
     .defaults = {COMMON, [GPFS_FILE_SIZE] = "2g", [GPFS_RECORD] = "4k,16k,64k,256k,512k", [GPFS_BATCH] = "64",
                  [GPFS_BUFFER] = "0"},
     .contestants = "posix,system,independent,independent+ranges,partitioned,partitioned+ranges"},
    {.name = "threads",
     .summary = "threads of a rank compute and access the file at once (section 5)",
     .kind = GPFS_THREADED,
     .defaults = {COMMON, [GPFS_SIZE] = "32m", [GPFS_RECORD] = "64k", [GPFS_THREADS] = "1,2,4",
                  [GPFS_COMPUTE] = "0,200", [GPFS_BUFFER] = "0"},
     .contestants = "posix,system,no-shipping,shipping"},
    {0}};

const struct gpfs_benchmark *gpfs_benchmark_find(const char *name)
{
    for (const struct gpfs_benchmark *row = GPFS_BENCHMARKS; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

const char *gpfs_benchmark_names(char text[GPFS_CELL_TEXT_MAX])
{
    size_t at = 0;
    for (const struct gpfs_benchmark *row = GPFS_BENCHMARKS; row->name; row++)
        at += (size_t)snprintf(text + at, GPFS_CELL_TEXT_MAX - at, "%s%s", at ? ", " : "", row->name);
    return text;
}

const char *gpfs_key_text(enum gpfs_key key, int64_t value, char text[GPFS_LABEL_MAX])
{
    const char *word = GPFS_KEY_ROWS[key].allowed;
    if (GPFS_KEY_ROWS[key].kind != GPFS_KIND_WORD)
        snprintf(text, GPFS_LABEL_MAX, "%" PRId64, value);
    else {
        for (; value > 0; value--)
            word += strlen(word) + 1;
        snprintf(text, GPFS_LABEL_MAX, "%s", word);
    }
    return text;
}

/* ---- contestants ---- */

#define CONTESTANT(n, a, s, l, u, r, text)                                                                             \
    {.name = n,                                                                                                        \
     .access = GPFS_##a,                                                                                               \
     .strategy = (s),                                                                                                  \
     .largeblock = (l),                                                                                                \
     .unique = (u),                                                                                                    \
     .ranges = (r),                                                                                                    \
     .summary = (text)},
static const struct gpfs_contestant CONTESTANTS[] = {
#include "bench/gpfs/contestant.def"
};
#undef CONTESTANT

enum { CONTESTANT_COUNT = sizeof CONTESTANTS / sizeof CONTESTANTS[0] };

/* "…ranges-4" is "…ranges" with 4 of them. */
static bool cut_ranges(const char *name, char stem[GPFS_LABEL_MAX], int64_t *ret_ranges)
{
    const char *number = strstr(name, "ranges-");
    if (!number || !units_parse_int(number + 7, 0, GPFS_RANGES_MAX, ret_ranges))
        return false;
    snprintf(stem, GPFS_LABEL_MAX, "%.*s", (int)(number - name) + 6, name);
    return true;
}

pl_status gpfs_contestant_parse(const char *name, struct gpfs_contestant *ret_contestant, struct pl_error *error)
{
    char stem[GPFS_LABEL_MAX];
    int64_t ranges = -1;
    if (strlen(name) >= GPFS_LABEL_MAX || !cut_ranges(name, stem, &ranges))
        snprintf(stem, sizeof stem, "%s", name);
    for (int i = 0; i < CONTESTANT_COUNT; i++)
        if (strcmp(CONTESTANTS[i].name, stem) == 0) {
            *ret_contestant = CONTESTANTS[i];
            snprintf(ret_contestant->name, sizeof ret_contestant->name, "%.31s", name);
            if (ranges >= 0)
                ret_contestant->ranges = (int)ranges;
            return PL_OK;
        }
    struct text names = {0};
    for (int i = 0; i < CONTESTANT_COUNT; i++)
        text_format(&names, "%s, ", CONTESTANTS[i].name);
    pl_fail(error, PL_E_USAGE, "--contestants: '%.64s' is none; allowed: %sranges-N (N from 0 to %d)", name,
            text_get(&names), GPFS_RANGES_MAX);
    text_clear(&names);
    return PL_E_USAGE;
}
