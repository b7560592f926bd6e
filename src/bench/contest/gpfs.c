/* The MPI-IO/GPFS benchmarks: parameters and contestants, with the document's values as defaults. */
#include "bench/contest/gpfs.h"

#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)GPFS_KEYS <= (int)CONTEST_KEYS_MAX, "a cell has room for all parameters");

#define COMMON [GPFS_RANKS] = "", [GPFS_OP] = "write,read", [GPFS_CACHE] = "cold"

static const struct gpfs_benchmark BENCHMARKS[] = {
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

const struct gpfs_benchmark *gpfs_find(const char *name)
{
    for (const struct gpfs_benchmark *row = BENCHMARKS; name && row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* ---- contestants: "ranges-N" and "NAME+ranges-N" are the same with another number. To add one: one line ---- */

#define ENGINE(name, s, large, alone, count, text)                                                                     \
    {                                                                                                                  \
        .label = name, .access = CONTEST_ENGINE, .strategy = (s), .largeblock = (large), .unique = (alone),            \
        .ranges = (count), .summary = (text)                                                                           \
    }
static const struct contest_contestant CONTESTANTS[] = {
    {.label = "posix", .access = CONTEST_POSIX, .summary = "plain POSIX calls: pread, pwrite, fsync"},
    {.label = "system", .access = CONTEST_SYSTEM, .unique = true, .summary = "the MPI's own MPI-IO"},
    ENGINE("no-shipping", "auto", true, true, 0, "the engine, data shipping off (IBM_largeblock_io=true)"),
    ENGINE("shipping", "shipping", false, false, 0, "the engine, data shipping on, file not partitioned"),
    ENGINE("partitioned", "shipping", false, true, 0, "the engine, data shipping on, file partitioned"),
    ENGINE("independent", "independent", false, false, 0, "the engine, each rank by itself"),
    ENGINE("auto", "auto", false, true, 0, "the engine as it chooses"),
    ENGINE("ranges", "shipping", false, false, 2, "the engine, shipping and guided prefetching"),
    ENGINE("independent+ranges", "independent", false, false, 2, "the engine, each rank by itself, guided prefetching"),
    ENGINE("partitioned+ranges", "shipping", false, true, 2, "the engine, shipping, partitioned, guided prefetching")};
#undef ENGINE

enum { CONTESTANT_COUNT = sizeof CONTESTANTS / sizeof CONTESTANTS[0] };

static bool gpfs_contestant(const char *name, struct contest_contestant *ret_contestant)
{
    char stem[GPFS_WORD_MAX];
    int64_t ranges = -1;
    const char *number = strstr(name, "ranges-");
    if (strlen(name) >= sizeof stem)
        return false;
    if (number && units_parse_int(number + 7, 0, GPFS_RANGES_MAX, &ranges))
        snprintf(stem, sizeof stem, "%.*s", (int)(number - name) + 6, name);
    else
        snprintf(stem, sizeof stem, "%s", name);
    for (int i = 0; i < CONTESTANT_COUNT; i++)
        if (strcmp(CONTESTANTS[i].label, stem) == 0) {
            *ret_contestant = CONTESTANTS[i];
            snprintf(ret_contestant->label, sizeof ret_contestant->label, "%s", name);
            ret_contestant->ranges = ranges >= 0 ? (int)ranges : CONTESTANTS[i].ranges;
            return true;
        }
    return false;
}

static pl_status gpfs_refuse_contestant(const char *name, struct pl_error *error)
{
    struct text names = {0};
    for (int i = 0; i < CONTESTANT_COUNT; i++)
        text_format(&names, "%s, ", CONTESTANTS[i].label);
    pl_fail(error, PL_E_USAGE, "--contestants: '%.64s' is none; allowed: %sranges-N (N from 0 to %d)", name,
            text_get(&names), GPFS_RANGES_MAX);
    text_clear(&names);
    return error->status;
}

/* ---- options ---- */

#define KEY(id, n, t, m)          .name = (n), .type = (t), OPTION_AT(struct gpfs, m[GPFS_##id])
#define WORDS(id, n, list)        KEY(id, n, OPTION_CHOICES, words), .choices = (list)
#define NUMBERS(id, n, low, high) KEY(id, n, OPTION_INTS, numbers), .min = (low), .max = (high)
#define SIZES(id, n, low, high)   KEY(id, n, OPTION_SIZES, numbers), .min = (low), .max = (high)
#define GIB                       1073741824.0

/* Every parameter may be a list. Those of gpfs_key but for the number of ranks come first, in its order. */
static const struct option_row ROWS[] = {
    {WORDS(PATTERN, "pattern", "tiled sparse"), .help = "strided (both)"},
    {WORDS(COLLECTIVE, "collective", "no yes"),
     .help = "collective calls (discontiguous: yes; contiguous, access-range: no)"},
    {WORDS(PREALLOCATE, "preallocate", "no yes"), .help = "discontiguous: allocate the new file before writing (no)"},
    {SIZES(SIZE, "size", 1, 1024 * GIB), .letter = 's',
     .help = "bytes of each rank: contiguous, discontiguous (333000000), threads (32m)"},
    {SIZES(FILE_SIZE, "file-size", 1, 1048576 * GIB), .help = "of the file: strided, random (2g)"},
    {SIZES(REGION, "region", 1, 2 * GIB), .help = "discontiguous: part of the file that one view and call covers (2g)"},
    {SIZES(BLOCK, "block", 1, GIB), .letter = 'b',
     .help = "bytes of a block: discontiguous (1k), partitioning (8k), access-range (256k)"},
    {NUMBERS(BLOCKS, "blocks", 1, 1024 * GIB), .help = "blocks of each rank: partitioning (10000), access-range (100)"},
    {SIZES(SUB_BLOCK, "sub-block", 1, GIB), .help = "access-range: bytes of a sub-block (4k)"},
    {NUMBERS(SUB_BLOCKS, "sub-blocks", 1, 1 << 20),
     .help = "access-range: sub-blocks accessed in each block (1,2,8,16)"},
    {SIZES(RECORD, "record", 1, GIB),
     .help = "bytes of a record: strided (4k,12k,64k), random (4k,16k,64k,256k,512k), threads (64k)"},
    {NUMBERS(BATCH, "batch", 1, 1 << 20), .help = "random: records of one call (64)"},
    {NUMBERS(THREADS, "threads", 1, 256), .help = "threads: of each rank (1,2,4)"},
    {NUMBERS(COMPUTE, "compute", 0, 1000000),
     .help = "threads: microseconds that a thread computes after each call (0,200)"},
    {SIZES(BUFFER, "buffer", 0, INT32_MAX),
     .help = "hint IBM_io_buffer_size (partitioning: 16m; others: 0, as the engine chooses)"},
    {WORDS(CACHE, "cache", "cold warm"),
     .help = "cold: take the file out of the page cache before each repetition (cold)"},
    {WORDS(OP, "ops", "write read"), .help = "operations (both)"},
    {.name = "contestants",
     .letter = 'c',
     .type = OPTION_TEXTS,
     .argument = "LIST",
     OPTION_AT(struct gpfs, contestants),
     .help = "posix, system, no-shipping, shipping, partitioned, independent, auto, ranges-N, ... (by benchmark)"},
    {.name = "repeat",
     .aliases = "reps",
     .letter = 'r',
     .type = OPTION_INT,
     .min = 1,
     .max = CONTEST_TRIALS_MAX,
     .initial = "7",
     OPTION_AT(struct gpfs, reps),
     .help = "repetitions of each contestant"},
    CONTEST_ROWS("gpfs.dat"),
    {0}};

const char *gpfs_key_name(int key)
{
    return key == GPFS_RANKS ? "ranks" : ROWS[key - 1].name;
}

enum option_type gpfs_key_type(int key)
{
    return key == GPFS_RANKS ? OPTION_INTS : ROWS[key - 1].type;
}

const char *gpfs_key_text(int key, int64_t value, char text[GPFS_WORD_MAX])
{
    if (gpfs_key_type(key) != OPTION_CHOICES) {
        snprintf(text, GPFS_WORD_MAX, "%" PRId64, value);
        return text;
    }
    const char *word = ROWS[key - 1].choices;
    for (; value > 0; value--)
        word += strcspn(word, " ") + 1;
    snprintf(text, GPFS_WORD_MAX, "%.*s", (int)strcspn(word, " "), word);
    return text;
}

bool gpfs_key_parse(int key, const char *word, int64_t *ret_value)
{
    char text[GPFS_WORD_MAX];
    if (gpfs_key_type(key) != OPTION_CHOICES)
        return units_parse_int(word, 0, INT64_MAX, ret_value);
    for (*ret_value = 0; *ret_value < 2; ++*ret_value) /* all words are of two */
        if (strcmp(gpfs_key_text(key, *ret_value, text), word) == 0)
            return true;
    return false;
}

void gpfs_text(const struct gpfs_benchmark *benchmark, const int64_t *value, char text[CONTEST_TEXT_MAX])
{
    char word[GPFS_WORD_MAX], bytes[UNITS_TEXT_MAX];
    size_t at = (size_t)snprintf(text, CONTEST_TEXT_MAX, "%s, %" PRId64 " rank%s",
                                 gpfs_key_text(GPFS_OP, value[GPFS_OP], word), value[GPFS_RANKS],
                                 value[GPFS_RANKS] == 1 ? "" : "s");
    for (int key = GPFS_RANKS + 1; key < GPFS_OP && at < CONTEST_TEXT_MAX; key++) {
        if (!benchmark->defaults[key] || (key == GPFS_BUFFER && value[key] == 0))
            continue;
        at += (size_t)snprintf(text + at, CONTEST_TEXT_MAX - at, ", %s %s", gpfs_key_name(key),
                               gpfs_key_type(key) == OPTION_SIZES ? units_binary(value[key], bytes)
                                                                  : gpfs_key_text(key, value[key], word));
    }
}

void gpfs_cell_text(const struct contest_cell *cell, char text[CONTEST_TEXT_MAX])
{
    gpfs_text(cell->benchmark, cell->value, text);
}

/* ---- prepare ---- */

static const char *gpfs_name(const struct lab_job *job)
{
    return job->test ? job->test : job->all.operand_count ? job->all.operands[0] : NULL;
}

static pl_status gpfs_choose(struct lab_job *job, struct pl_error *error)
{
    struct gpfs *gpfs = job->own;
    const char *name = gpfs_name(job);
    struct text names = {0};
    pl_status status = PL_OK;
    for (const struct gpfs_benchmark *row = BENCHMARKS; row->name; row++)
        text_format(&names, "%s%s", names.length ? ", " : "", row->name);
    gpfs->benchmark = gpfs_find(name);
    if (!name)
        status = pl_fail(error, PL_E_USAGE, "which benchmark? Allowed: %s", text_get(&names));
    else if (!gpfs->benchmark)
        status = pl_fail(error, PL_E_USAGE, "'%s' is no benchmark; allowed: %s", name, text_get(&names));
    else if (job->all.operand_count > 1)
        status = pl_fail(error, PL_E_USAGE, "'%s': one benchmark at a time", job->all.operands[1]);
    else if (job->all.operand_count && strcmp(job->all.operands[0], name) != 0)
        status = pl_fail(error, PL_E_USAGE, "'%s', but the run to resume is of '%s'; leave it out",
                         job->all.operands[0], name);
    text_clear(&names);
    return status;
}

static pl_status gpfs_refuse_foreign(const struct gpfs_benchmark *benchmark, const char *name, struct pl_error *error)
{
    struct text names = {0};
    for (int key = 0; key < GPFS_KEYS; key++)
        if (benchmark->defaults[key])
            text_format(&names, "%s--%s", names.length ? ", " : "", gpfs_key_name(key));
    pl_fail(error, PL_E_USAGE, "--%s is no parameter of '%s', which has %s", name, benchmark->name, text_get(&names));
    text_clear(&names);
    return error->status;
}

/* What was not given is the document's. */
static pl_status gpfs_set_defaults(struct lab_job *job, struct pl_error *error)
{
    const struct gpfs *gpfs = job->own;
    const struct gpfs_benchmark *benchmark = gpfs->benchmark;
    pl_status status = PL_OK;
    for (int key = GPFS_RANKS + 1; key < GPFS_KEYS && status == PL_OK; key++) {
        const char *name = gpfs_key_name(key);
        const bool given = options_given(&job->all, name);
        if (given && !benchmark->defaults[key])
            return gpfs_refuse_foreign(benchmark, name, error);
        if (!given && benchmark->defaults[key])
            status = options_set(&job->all, name, benchmark->defaults[key], OPTION_FROM_DEFAULT, error);
        if (status == PL_OK && gpfs_key_type(key) != OPTION_CHOICES)
            status = contest_check_twice(name, &gpfs->numbers[key], error);
    }
    if (status == PL_OK && !options_given(&job->all, "contestants"))
        status = options_set(&job->all, "contestants", benchmark->contestants, OPTION_FROM_DEFAULT, error);
    return status;
}

static int64_t gpfs_count(const struct gpfs *gpfs, int key)
{
    if (!gpfs->benchmark->defaults[key])
        return 1;
    return gpfs_key_type(key) == OPTION_CHOICES ? __builtin_popcountll(gpfs->words[key])
                                                : (int64_t)gpfs->numbers[key].count;
}

static int64_t gpfs_value(const struct gpfs *gpfs, int key, int64_t index)
{
    if (gpfs_key_type(key) != OPTION_CHOICES)
        return gpfs->numbers[key].values[index];
    return gpfs->words[key] == 3 ? index : __builtin_ctzll(gpfs->words[key]);
}

static pl_status gpfs_make_cells(struct gpfs *gpfs, struct pl_error *error)
{
    int64_t count = 1;
    pl_status status = PL_OK;
    for (int key = 0; key < GPFS_KEYS && count <= GPFS_CELLS_MAX; key++)
        count *= gpfs_count(gpfs, key);
    if (count > GPFS_CELLS_MAX)
        return pl_fail(error, PL_E_USAGE, "the lists have more than %d combinations; allowed: fewer", GPFS_CELLS_MAX);
    for (int64_t i = 0; i < count && status == PL_OK; i++) {
        struct contest_cell cell = {.benchmark = gpfs->benchmark};
        int64_t rest = i; /* a number in mixed base: the last key varies fastest */
        for (int key = GPFS_KEYS - 1; key >= 0; key--)
            if (gpfs->benchmark->defaults[key]) {
                cell.value[key] = gpfs_value(gpfs, key, rest % gpfs_count(gpfs, key));
                rest /= gpfs_count(gpfs, key);
            }
        cell.ranks = (int)cell.value[GPFS_RANKS];
        cell.writes = cell.value[GPFS_OP] == GPFS_WRITE;
        cell.fresh = cell.writes && gpfs->benchmark->kind == GPFS_DISCONTIGUOUS;
        cell.cold = cell.value[GPFS_CACHE] == GPFS_COLD;
        status = gpfs_plan_size(&cell, error);
        contest_add_cell(&gpfs->contest, &cell);
    }
    return status;
}

static pl_status gpfs_prepare(struct lab_job *job, struct pl_error *error)
{
    struct gpfs *gpfs = job->own;
    struct contest *contest = &gpfs->contest;
    pl_status status = contest_begin(job, &GPFS_KIND, error);
    if (status == PL_OK)
        status = gpfs_choose(job, error);
    if (status == PL_OK)
        status = gpfs_set_defaults(job, error);
    for (size_t i = 0; i < gpfs->contestants.count && status == PL_OK; i++) {
        struct contest_contestant contestant;
        status = gpfs_contestant(gpfs->contestants.values[i], &contestant)
                     ? contest_add_contestant(contest, contestant, "contestants", error)
                     : gpfs_refuse_contestant(gpfs->contestants.values[i], error);
    }
    if (status != PL_OK)
        return status;
    contest->test = gpfs->benchmark->name;
    contest->rule = (struct contest_rule){gpfs->reps, gpfs->reps, 1};
    contest->check = CONTEST_CHECK_ALL;
    contest->sync = true;
    gpfs->numbers[GPFS_RANKS] = job->common.ranks;
    status = gpfs_make_cells(gpfs, error);
    return status == PL_OK ? contest_check_place(job, error) : status;
}

static pl_status gpfs_plan_document(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct gpfs *gpfs = job->own;
    result_line(plan, "%s: %s.", gpfs->benchmark->name, gpfs->benchmark->summary);
    return contest_plan(job, plan, error);
}

/* Before `prepare`, from the words alone: what each benchmark compares where none are given needs it. */
static bool gpfs_needs_engine(const struct lab_job *job)
{
    const struct gpfs *gpfs = job->own;
    struct contest_contestant contestant;
    for (size_t i = 0; i < gpfs->contestants.count; i++)
        if (gpfs_contestant(gpfs->contestants.values[i], &contestant) && contestant.access == CONTEST_ENGINE)
            return true;
    return gpfs->contestants.count == 0;
}

/* Threads that call MPI need its highest level, which costs; others are measured as ordinary programs run. */
static int gpfs_threads(const struct lab_job *job)
{
    const struct gpfs_benchmark *benchmark = gpfs_find(gpfs_name(job));
    return benchmark && benchmark->defaults[GPFS_THREADS] ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

static pl_status gpfs_results(const struct analysis_request *request, const struct analysis_input *input,
                              struct result *result, struct pl_error *error)
{
    return contest_results(&GPFS_KIND, request, input, result, error);
}

const struct bench bench_gpfs = {
    .name = "gpfs",
    .rows = ROWS,
    .options_size = sizeof(struct gpfs),
    .takes = BENCH_ON | BENCH_TESTFILE | BENCH_HINTS | BENCH_RANK_LIST,
    .classes = GPFS_CLASSES,
    .summary = "the MPI-IO/GPFS benchmarks: shipping, partitioning, guided prefetching",
    .operands = "BENCHMARK",
    .details =
        "Benchmarks: contiguous (each rank one contiguous part of the file), discontiguous (blocks of 1 KiB at "
        "random ranks, by views), partitioning (many small blocks, each by a call of its own), access-range "
        "(sub-blocks scattered in blocks, guided prefetching), strided (records at a regular distance, tiled and "
        "sparse), random (records at random places, announced by a view), threads (threads of a rank compute and "
        "access the file at once).\n"
        "Contestants move the same data in turn; every byte is checked outside of the timing. 'piolet analyze "
        "gpfs FILE' reads the results. Lists are separated by commas, all combinations are measured; sizes may "
        "end in k, m, g.",
    .example = "gpfs strided -n 4 --record 4k,64k -c system,shipping",
    .output = "gpfs.out",
    .prepare = gpfs_prepare,
    .plan = gpfs_plan_document,
    .run_coll = contest_run_coll,
    .results = gpfs_results,
    .clear = contest_clear,
    .needs_engine = gpfs_needs_engine,
    .threads = gpfs_threads,
};
