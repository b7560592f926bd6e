/* The options of peak, and the plan that follows from them. */
#include "bench/peak/peak.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char PEAK_CLASS[] = "Peak", PEAK_TEST[] = "device";
const char *const PEAK_OPERATION_NAMES[PEAK_OPERATIONS + 1] = {
    [PEAK_WRITE] = "write", [PEAK_READ] = "read",   [PEAK_CREATE] = "create", [PEAK_OPEN] = "open",
    [PEAK_STAT] = "stat",   [PEAK_FSYNC] = "fsync", [PEAK_UNLINK] = "unlink"};
const char *const PEAK_ACCESS_NAMES[PEAK_ACCESSES + 1] = {
    [PEAK_SEQUENTIAL] = "sequential", [PEAK_STRIDED] = "strided", [PEAK_RANDOM] = "random"};

/* ---- the sets ---- */

static int peak_add_pair(struct peak_set *sets, int count, enum peak_access access, int64_t request)
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
        for (int i = 0; i < config->request_count && config->access >> access & 1; i++)
            count = peak_add_pair(sets, count, (enum peak_access)access, config->requests[i]);
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
static int64_t peak_strided_place(int64_t count, int64_t stride, int64_t index)
{
    const int64_t each = count / stride, longer = count % stride; /* the first passes have one more */
    if (index < longer * (each + 1))
        return index / (each + 1) + index % (each + 1) * stride;
    const int64_t rest = index - longer * (each + 1);
    return longer + rest / each + rest % each * stride;
}

/* A permutation of 0 … 4^k - 1: four rounds of a Feistel network over halves of k bits. */
static uint64_t peak_shuffle(uint64_t seed, uint64_t value, int half_bits)
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

static int64_t peak_random_place(int64_t count, uint64_t seed, int64_t index)
{
    int half_bits = 1;
    while (half_bits < 31 && INT64_C(1) << (2 * half_bits) < count)
        half_bits++;
    uint64_t place = (uint64_t)index;
    do /* what falls outside goes on to where that leads: still every place once */
        place = peak_shuffle(seed, place, half_bits);
    while (place >= (uint64_t)count);
    return (int64_t)place;
}

int64_t peak_place(enum peak_access access, int64_t count, int64_t stride, uint64_t seed, int64_t index)
{
    switch (access) {
    case PEAK_STRIDED:
        return peak_strided_place(count, stride, index);
    case PEAK_RANDOM:
        return peak_random_place(count, seed, index);
    default:
        return index;
    }
}

/* ---- options ---- */

static const double LIMIT_S = 900, QUICK_LIMIT_S = 5;
static const int64_t QUICK_SIZE = INT64_C(64) << 20;
enum { FILES = 1000, QUICK_FILES = 100, STRIDE_MAX = 1 << 20, LIMIT_MAX_S = 7 * 86400, REQUEST_MAX = 1 << 30 };

/* A fact of the record of the configuration. */
static pl_status peak_give(void *target, const struct option_row *row, const char *value, struct pl_error *error)
{
    struct peak_config *config = target;
    (void)row;
    if (!value)
        config->given.count = 0;
    return value ? record_give(&config->given, value, error) : PL_OK;
}

#define AT(member) OPTION_AT(struct peak_config, member)
const struct option_row PEAK_ROWS[] = {
    {.name = "size",
     .letter = 's',
     .type = OPTION_SIZE,
     .min = 1,
     AT(size_bytes),
     .more = "Each rank has a file of its own.",
     .help = "of all files of an I/O node; by default 2 x memory. A smaller one needs direct I/O or --drop-caches"},
    {.name = "requests",
     .letter = 'r',
     .type = OPTION_SIZES,
     .min = PEAK_REQUEST_UNIT,
     .max = REQUEST_MAX,
     AT(request_list),
     .more = "The largest makes the file.",
     .help = "request sizes, multiples of 512 bytes (4k,64k,1m,16m)"},
    {.name = "access",
     .letter = 'a',
     .type = OPTION_CHOICES,
     .choices = "sequential strided random",
     .initial = "sequential,strided,random",
     AT(access),
     .help = "order of the requests"},
    {.name = "direct",
     .letter = 'd',
     .type = OPTION_CHOICE,
     .argument = "WHEN",
     .choices = "auto yes no",
     .initial = "auto",
     AT(direct),
     .more = "auto: where the size is below twice the memory and the caches are not dropped.",
     .help = "direct I/O; auto is where --size is below 2 x memory"},
    {.name = "drop-caches",
     .aliases = "drop_caches",
     .type = OPTION_FLAG,
     AT(drop_caches),
     .more = "Of the whole host. Needs root.",
     .help = "empty the page cache before each reading, in the place of direct I/O (root)"},
    {.name = "stride",
     .type = OPTION_INT,
     .initial = "17",
     .min = 2,
     .max = STRIDE_MAX,
     AT(stride),
     .more = "Passes go over the file until all of it is touched.",
     .help = "distance of strided requests, in requests"},
    {.name = "files",
     .type = OPTION_INT,
     .max = PEAK_FILES_MAX,
     AT(files),
     .help = "files of a process for metadata operations (1000); 0: none"},
    {.name = "limit",
     .aliases = "limit_s",
     .letter = 'l',
     .type = OPTION_TIME,
     .min = 1,
     .max = LIMIT_MAX_S,
     AT(limit_s),
     .more = "Making the file may take half of it, and the file is smaller where that is not enough; each other set "
             "has an equal part of the rest, and ends where it is over. The results say where.",
     .help = "time of the whole run, about (15m)"},
    {.name = "quick",
     .letter = 'q',
     .type = OPTION_FLAG,
     AT(quick),
     .more = "The limit is 5 seconds.",
     .help = "some seconds: 64 MiB, 4k,64k,1m, 100 files"},
    {.name = "info",
     .letter = 'i',
     .type = OPTION_CALL,
     .flags = OPTION_REPEATS,
     .argument = "KEY=VALUE",
     .set = peak_give,
     .more = "It stands in the place of what was detected under this key.",
     .help = "a fact for the record of the configuration, as raid='RAID 5, 5 disks'; may be repeated"},
    {.name = "io-node",
     .type = OPTION_TEXT,
     .argument = "NAME",
     AT(io_node),
     .more = "Or the server's name. Results of the same name are never summed.",
     .help = "name of the I/O node (host and directory)"},
    {.name = "seed", .type = OPTION_INT, .initial = "1", AT(seed), .help = "of data and of random places"},
    {0}};
#undef AT

static int peak_descending(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

/* Each size once, largest first. */
static pl_status peak_choose_requests(struct peak_config *config, struct pl_error *error)
{
    static const int64_t usual[] = {4096, 65536, 1 << 20, 16 << 20};
    const bool given = config->request_list.count > 0;
    const int64_t *values = given ? config->request_list.values : usual;
    const size_t count = given ? config->request_list.count : config->quick ? 3 : 4;
    config->request_count = 0;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (int k = 0; k < config->request_count; k++)
            known |= config->requests[k] == values[i];
        if (values[i] % PEAK_REQUEST_UNIT != 0)
            return pl_fail(error, PL_E_USAGE,
                           "--requests: %lld; allowed: multiples of 512 bytes up to 1g, as 4k,64k,1m",
                           (long long)values[i]);
        if (!known && config->request_count == PEAK_REQUESTS_MAX)
            return pl_fail(error, PL_E_USAGE, "--requests: more than %d sizes", PEAK_REQUESTS_MAX);
        if (!known)
            config->requests[config->request_count++] = values[i];
    }
    qsort(config->requests, (size_t)config->request_count, sizeof config->requests[0], peak_descending);
    return PL_OK;
}

/* Operands are places, too. */
static pl_status peak_take_places(struct lab_job *job, struct pl_error *error)
{
    const struct option_texts *on = &job->common.on;
    pl_status status = PL_OK;
    for (size_t i = 0; i < job->all.operand_count && status == PL_OK; i++)
        status = options_set(&job->all, "on", job->all.operands[i], OPTION_FROM_COMMAND, error);
    job->all.operand_count = 0;
    if (status == PL_OK && on->count == 0)
        status = pl_fail(error, PL_E_USAGE, "a directory is missing: that whose storage is to be measured");
    for (size_t i = 0; i < on->count && status == PL_OK; i++)
        for (size_t k = 0; k < i && status == PL_OK; k++)
            if (strcmp(on->values[i], on->values[k]) == 0)
                status = pl_fail(error, PL_E_USAGE, "'%s' is given twice; allowed: each I/O node once", on->values[i]);
    return status;
}

/* All targets are looked at before anything is run. */
static pl_status peak_look(struct lab_job *job, struct pl_error *error)
{
    struct peak_config *config = job->own;
    const struct option_texts *on = &job->common.on;
    pl_status status = PL_OK;
    free(config->targets);
    config->targets = memory_new(on->count, sizeof *config->targets);
    config->target_count = (int)on->count;
    for (int i = 0; i < config->target_count && status == PL_OK; i++) {
        int64_t share;
        status = peak_target_look(config, on->values[i], !job->common.dry_run, &config->targets[i], error);
        if (status == PL_OK)
            status = peak_file_share(config->targets[i].size_bytes, job->ranks ? job->ranks : 1, config, &share, error);
    }
    return status;
}

static pl_status peak_prepare(struct lab_job *job, struct pl_error *error)
{
    struct peak_config *config = job->own;
    if (config->drop_caches && config->direct == PEAK_DIRECT_YES)
        return pl_fail(error, PL_E_USAGE, "--drop-caches and --direct yes: one of them is enough");
    if (peak_choose_requests(config, error) != PL_OK || peak_take_places(job, error) != PL_OK)
        return error->status;
    if (config->quick && config->size_bytes == 0)
        config->size_bytes = QUICK_SIZE;
    if (!options_given(&job->all, "limit"))
        config->limit_s = config->quick ? QUICK_LIMIT_S : LIMIT_S;
    if (!options_given(&job->all, "files"))
        config->files = config->quick ? QUICK_FILES : FILES;
    return peak_look(job, error);
}

static void peak_clear(void *options)
{
    struct peak_config *config = options;
    free(config->targets);
    config->targets = NULL;
}

/* ---- the plan, as a document ---- */

static pl_status peak_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    static const struct result_column columns[] = {{.key = "set", .form = RESULT_TEXT}, {0}};
    const struct peak_config *config = job->own;
    const int ranks = job->ranks ? job->ranks : 1;
    struct peak_set sets[PEAK_SETS_MAX];
    char text[UNITS_TEXT_MAX], label[PEAK_LABEL_MAX];
    for (int i = 0; i < config->target_count; i++) {
        const struct peak_target *target = &config->targets[i];
        int64_t share = 0;
        if (peak_file_share(target->size_bytes, ranks, config, &share, error) != PL_OK)
            return error->status;
        result_line(plan, "%s: %s of %s; a file of %s for each of %d process%s, %s", target->directory, target->fs.type,
                    target->fs.source, units_binary(share, text), ranks, ranks == 1 ? "" : "es",
                    target->direct ? "direct I/O" : "through the page cache");
        for (int w = 0; w < target->warning_count; w++)
            result_note(plan, RESULT_WARNING, "%s", target->warnings[w]);
    }
    const int count = peak_plan_make(config, sets);
    result_begin_table(plan, "sets", "Sets, on each:", columns);
    for (int i = 0; i < count; i++) {
        char row[PEAK_LABEL_MAX + 32];
        snprintf(row, sizeof row, "%s%s", peak_set_label(&sets[i], label),
                 sets[i].makes_file ? " (makes the file)" : "");
        result_row(plan);
        result_put_text(plan, row);
    }
    result_line(plan, "In all %d sets, in about %s at most.", count * config->target_count,
                units_duration(config->limit_s, text));
    return PL_OK;
}

const struct bench bench_peak = {
    .name = "peak",
    .rows = PEAK_ROWS,
    .options_size = sizeof(struct peak_config),
    .takes = BENCH_ON_MANY,
    .classes = (const char *const[]){PEAK_CLASS, NULL},
    .summary = "measure the peak of storage at the level of its devices",
    .operands = "DIR...",
    .details =
        "Writes and reads files in each DIR with UNIX calls: sequential, strided and random, with several request "
        "sizes; then metadata operations. Several DIRs are several I/O nodes: their peaks are summed. The "
        "configuration of each is recorded. 'piolet analyze peak FILE...' shows results again and sums those of "
        "several files.",
    .example = "peak /scratch --quick",
    .output = "peak.out",
    .prepare = peak_prepare,
    .plan = peak_plan,
    .run_coll = peak_run_coll,
    .results = peak_results,
    .clear = peak_clear,
};
