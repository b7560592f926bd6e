/* b_eff_io as a benchmark: its options, and the plan that follows from them. */
#include "bench/beffio/beffio.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/units.h"
#include "lab/facts/environment.h"
#include "mpi/job.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char BEFFIO_CLASS[] = "beffio", BEFFIO_TEST[] = "b_eff_io";
const char *const BEFFIO_SETTINGS[] = {"time",   "partitions", "per-node", "memory-node", "order", "release",
                                       "random", "cold",       "keep",     "seed",        "hints", NULL};

/* ---- options ---- */

enum { COUNT_MAX = 1000000 };

/* A text of hints, as results hold it, or a file: by its name alone, as of old, or with @ before it. */
static pl_status beffio_set_hints(void *target, const struct option_row *row, const char *value, struct pl_error *error)
{
    struct beffio_hints *hints = &((struct beffio_config *)target)->hints;
    const bool is_text = !value || !*value || strncmp(value, "all ", 4) == 0 || strncmp(value, "type ", 5) == 0 ||
                         strncmp(value, "pattern ", 8) == 0;
    struct text lines = {0};
    (void)row;
    if (is_text)
        return beffio_hints_parse("hints", value ? value : "", hints, error);
    const char *path = value + (value[0] == '@');
    pl_status status = text_read_file(path, &lines, error);
    if (status == PL_OK && strlen(text_get(&lines)) != lines.length)
        status = pl_fail(error, PL_E_INPUT, "'%s' is not text", path);
    if (status == PL_OK)
        status = beffio_hints_parse(path, text_get(&lines), hints, error);
    text_clear(&lines);
    return status;
}

static void beffio_hints_as_text(const void *target, const struct option_row *row, struct text *out)
{
    (void)row;
    beffio_hints_text(&((const struct beffio_config *)target)->hints, out);
}

#define AT(member) OPTION_AT(struct beffio_config, member)
static const struct option_row ROWS[] = {
    {.name = "time",
     .letter = 'T',
     .type = OPTION_TIME,
     .initial = "15m",
     .min = 0.5,
     .max = 1e6,
     AT(time_s),
     .help = "of one partition; less than 15m is not official"},
    {.name = "partitions",
     .letter = 'N',
     .type = OPTION_INTS,
     .min = 1,
     .max = COUNT_MAX,
     AT(asked),
     .help = "processes of each partition, as 2,4,8; by default one of all ranks",
     .more = "Each is measured by itself while the other ranks sleep."},
    {.name = "per-node",
     .type = OPTION_INT,
     .max = COUNT_MAX,
     AT(per_node),
     .help = "processes that a partition takes of each node; by default all"},
    {.name = "memory-node",
     .type = OPTION_SIZE,
     .max = 2047.0 * (1 << 30),
     AT(node_memory_bytes),
     .help = "memory of a node, of which M_PART is 1/128; by default as found",
     .more = "What is found is rounded down to a multiple of 128 MB. M_PART is at least 2 MB."},
    {.name = "hints",
     .type = OPTION_CALL,
     .argument = "TEXT|@FILE",
     .set = beffio_set_hints,
     .text = beffio_hints_as_text,
     .help = "lines 'all KEY VALUE', 'type N KEY VALUE' or 'pattern N KEY VALUE'"},
    {.name = "order",
     .type = OPTION_CHOICE,
     .choices = "document 2.0",
     .initial = "document",
     AT(order),
     .help = "with 2.0 all partitions write, then rewrite type 0, then read"},
    {.name = "release",
     .type = OPTION_CHOICE,
     .choices = "document 2.1",
     .initial = "document",
     AT(release),
     .help = "with 2.1 the schedule of release 2.1 of the original program; not official",
     .more = "A barrier, a test on one process and a broadcast behind each call; its repeat factors of types 3 and 4; "
             "M_PART of at most 1 GB; files deleted in the close of their read; --order 2.0, unless another is given."},
    {.name = "random", .type = OPTION_FLAG, AT(random), .help = "also a random-access type, outside the average"},
    {.name = "cold",
     .type = OPTION_FLAG,
     AT(cold),
     .help = "drop the files from the page cache before they are rewritten and read"},
    {.name = "keep", .type = OPTION_FLAG, AT(keep), .help = "leave the files behind"},
    {.name = "seed",
     .type = OPTION_INT,
     .max = (double)(INT64_C(1) << 53),
     AT(seed),
     .help = "of the data; drawn and reported"},
    {.name = "quick",
     .type = OPTION_FLAG,
     .flags = OPTION_NO_INPUT,
     AT(quick),
     .help = "10 s and M_PART of 2 MB: to see that it works"},
    {.name = "assume",
     .type = OPTION_SIZE,
     .flags = OPTION_NO_INPUT,
     .argument = "RATE",
     .min = 1,
     AT(assume_bytes_per_s),
     .help = "dry run: file sizes at so many bytes a second, as 500m"},
    {0}};
#undef AT

static void beffio_clear(void *options)
{
    struct beffio_config *config = options;
    for (int i = 0; i < config->path_count; i++)
        free(config->paths[i]);
    free(config->paths);
    config->paths = NULL;
    config->path_count = 0;
    beffio_hints_clear(&config->hints);
}

/* ---- what options say together ---- */

/* Results say 0 where a setting was left to its default. Whoever gives that as an option means something else, or has
 * an empty variable. */
static pl_status beffio_check_given(const struct lab_job *job, struct pl_error *error)
{
    const struct beffio_config *config = job->own;
    if (job->common.resume && config->quick)
        return pl_fail(error, PL_E_USAGE, "--quick and --resume: the run to resume says its time");
    if (config->assume_bytes_per_s && !job->common.dry_run)
        return pl_fail(error, PL_E_USAGE, "--assume belongs to --dry-run");
    if (options_source(&job->all, "per-node") == OPTION_FROM_COMMAND && config->per_node == 0)
        return pl_fail(error, PL_E_USAGE, "--per-node: '0'; allowed: 1 to %d", COUNT_MAX);
    if (options_source(&job->all, "memory-node") == OPTION_FROM_COMMAND && config->node_memory_bytes == 0)
        return pl_fail(error, PL_E_USAGE, "--memory-node: '0'; allowed: a size such as 16g");
    return PL_OK;
}

static pl_status beffio_take_partitions(struct lab_job *job, struct pl_error *error)
{
    struct beffio_config *config = job->own;
    const size_t count = config->asked.count;
    bool fits = count <= BEFFIO_PARTITIONS_MAX;
    config->partition_count = 0;
    for (size_t i = 0; i < count && fits; i++) {
        for (size_t k = 0; k < i; k++)
            fits = fits && config->asked.values[k] != config->asked.values[i];
        config->partitions[config->partition_count++] = (int)config->asked.values[i];
    }
    if (!fits)
        return pl_fail(error, PL_E_USAGE, "--partitions: allowed: up to %d different numbers of processes, as 2,4,8",
                       BEFFIO_PARTITIONS_MAX);
    for (int i = 0; i < config->partition_count; i++)
        if (job->ranks && config->partitions[i] > job->ranks)
            return pl_fail(error, PL_E_USAGE, "--partitions: %d processes, but the job has only %d ranks",
                           config->partitions[i], job->ranks);
    return PL_OK;
}

/* Can files be made there? One process tries, by a file that it removes at once. */
static pl_status beffio_check_path(const char *path, struct pl_error *error)
{
    char probe[PATH_MAX];
    if (snprintf(probe, sizeof probe, "%s/piolet-beffio-XXXXXX", path) >= (int)sizeof probe)
        return pl_fail_errno(error, ENAMETOOLONG, "using '%s'", path);
    const int fd = interrupt_mkstemp(probe);
    if (fd < 0)
        return pl_fail_errno(error, errno, "making a file in '%s'", path);
    close(fd);
    const pl_status status = unlink(probe) == 0 ? PL_OK : pl_fail_errno(error, errno, "removing '%s'", probe);
    interrupt_keep(probe);
    return status;
}

/* Absolute: a run may be resumed from another directory. */
static pl_status beffio_take_paths(struct lab_job *job, struct pl_error *error)
{
    struct beffio_config *config = job->own;
    struct option_texts *on = &job->common.on;
    if (on->count == 0 && options_set(&job->all, "on", ".", OPTION_FROM_RESULTS, error) != PL_OK)
        return error->status;
    assert(!config->paths && on->count > 0);
    config->paths = memory_new(on->count, sizeof *config->paths);
    for (size_t i = 0; i < on->count; i++) {
        char *path = realpath(on->values[i], NULL);
        if (!path)
            return pl_fail_errno(error, errno, "--on: looking at folder '%s'", on->values[i]);
        config->paths[config->path_count++] = path;
        on->values[i] = path;
        if (job_speaks() && beffio_check_path(path, error) != PL_OK)
            return pl_within(error, "--on");
    }
    return PL_OK;
}

/* The head of a block holds all settings, those by default too: a resumed run takes them from there. */
static pl_status beffio_state(struct lab_job *job, const char *name, const char *text, struct pl_error *error)
{
    return options_given(&job->all, name) ? PL_OK : options_set(&job->all, name, text, OPTION_FROM_RESULTS, error);
}

static pl_status beffio_state_number(struct lab_job *job, const char *name, int64_t value, struct pl_error *error)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return beffio_state(job, name, text, error);
}

static pl_status beffio_prepare(struct lab_job *job, struct pl_error *error)
{
    struct beffio_config *config = job->own;
    const int64_t step = INT64_C(128) << 20; /* so that M_PART is a whole number of MB */
    pl_status status = beffio_check_given(job, error);
    if (status == PL_OK && config->quick && !options_given(&job->all, "time"))
        status = options_set(&job->all, "time", "10", OPTION_FROM_COMMAND, error);
    if (status == PL_OK && config->quick && !options_given(&job->all, "memory-node"))
        status = options_set(&job->all, "memory-node", "256m", OPTION_FROM_COMMAND, error);
    if (status == PL_OK && config->release == BEFFIO_RELEASE_2_1)
        status = beffio_state(job, "order", "2.0", error);
    if (status == PL_OK)
        status = beffio_state_number(job, "partitions", job->ranks ? job->ranks : 1, error);
    if (status == PL_OK)
        status = beffio_state_number(job, "memory-node", environment_memory_bytes() / step * step, error);
    if (status == PL_OK)
        status = beffio_state_number(job, "seed", (int64_t)(rng_seed_from_system() >> 11), error);
    for (const char *const *name = BEFFIO_SETTINGS; *name && status == PL_OK; name++) {
        struct text text = {0};
        options_text(&job->all, *name, &text);
        status = beffio_state(job, *name, text_get(&text), error);
        text_clear(&text);
    }
    if (status == PL_OK)
        status = beffio_take_partitions(job, error);
    return status == PL_OK ? beffio_take_paths(job, error) : status;
}

int64_t beffio_config_mpart(const struct beffio_config *config)
{
    return beffio_mpart(config->node_memory_bytes, (enum beffio_release)config->release);
}

bool beffio_is_wanted(const struct beffio_config *config, enum beffio_method method, int type)
{
    if (type == BEFFIO_RANDOM)
        return config->random;
    return method != BEFFIO_REWRITE || config->order != BEFFIO_2_0 || type == 0;
}

int beffio_config_patterns(const struct beffio_config *config)
{
    int count = 0;
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++)
            count += beffio_is_wanted(config, (enum beffio_method)method, BEFFIO_TABLE[p].type);
    return count;
}

double beffio_config_seconds(const struct beffio_config *config)
{
    double sum = 0;
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++)
            if (beffio_is_wanted(config, (enum beffio_method)method, BEFFIO_TABLE[p].type))
                sum += beffio_pattern_s(p, config->time_s);
    return sum;
}

/* ---- the plan: the schedule, and file sizes from an assumed rate ---- */

/* Calls of each process that fit into the pattern's time, by the rate; at least one. */
static int64_t beffio_assume_calls(const struct beffio_config *config, int pattern, int nprocs)
{
    const double bytes = beffio_pattern_s(pattern, config->time_s) * (double)config->assume_bytes_per_s;
    const int64_t call = beffio_call_bytes(pattern, beffio_config_mpart(config)) * nprocs;
    const int64_t calls = (int64_t)llround(bytes / (double)call);
    return calls > 1 && BEFFIO_TABLE[pattern].units > 0 ? calls : 1;
}

static void beffio_plan_patterns(const struct beffio_config *config, const struct beffio_layout *layout,
                                 struct result *plan)
{
    static const struct result_column columns[] = {
        {.key = "pattern", .label = "no", .form = RESULT_INT},
        {.key = "chunk", .form = RESULT_TEXT},
        {.key = "l", .form = RESULT_INT},
        {.key = "L", .form = RESULT_INT},
        {.key = "U", .form = RESULT_INT},
        {.key = "s", .label = "s a method", .form = RESULT_NUMBER, .decimals = 3},
        {.key = "calls", .label = "calls a rank", .form = RESULT_INT},
        {0}};
    char title[80];
    snprintf(title, sizeof title, "type %d: %s", layout->type, beffio_type_name(layout->type));
    result_begin_table(plan, "patterns", title, columns);
    for (int p = beffio_type_first(layout->type); p < beffio_type_end(layout->type); p++) {
        result_row(plan);
        result_put_int(plan, p);
        result_put_text(plan, beffio_chunk_name(BEFFIO_TABLE[p].chunk));
        if (BEFFIO_TABLE[p].chunk == BEFFIO_FILL)
            result_put_empty(plan); /* to the end of the segment */
        else
            result_put_int(plan, beffio_chunk_bytes(BEFFIO_TABLE[p].chunk, layout->mpart_bytes));
        result_put_int(plan, beffio_layout_call_bytes(layout, p));
        result_put_int(plan, BEFFIO_TABLE[p].units);
        result_put_number(plan, beffio_pattern_s(p, config->time_s));
        if (config->assume_bytes_per_s)
            result_put_int(plan, layout->calls[p]);
    }
}

/* Sizes of all files of a partition, which lie there at the same time; the patterns are told with the first one. */
static int64_t beffio_plan_partition(const struct beffio_config *config, int nprocs, bool first, struct result *plan)
{
    struct beffio_measured measured = {.release = (enum beffio_release)config->release};
    char size[UNITS_TEXT_MAX];
    int64_t sum = 0;
    for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++)
        measured.process_bytes[p] = -1;
    for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
        struct beffio_layout layout;
        if (!beffio_is_wanted(config, BEFFIO_WRITE, type))
            continue;
        beffio_layout_plan(&layout, type, nprocs, beffio_config_mpart(config), &measured);
        for (int p = beffio_type_first(type); p < beffio_type_end(type) && !beffio_is_planned(type); p++) {
            layout.calls[p] = beffio_assume_calls(config, p, nprocs);
            measured.process_bytes[p] = layout.calls[p] * beffio_layout_call_bytes(&layout, p);
        }
        if (first)
            beffio_plan_patterns(config, &layout, plan);
        if (config->assume_bytes_per_s)
            result_line(plan, "n = %d: %s in %s of type %d", nprocs, units_bytes(beffio_layout_total(&layout), size),
                        type == 2 ? "the files" : "the file", type);
        sum += beffio_layout_total(&layout);
    }
    return sum;
}

static pl_status beffio_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct beffio_config *config = job->own;
    int64_t largest = 0, all = 0;
    char rate[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
    (void)error;
    for (int i = 0; i < config->partition_count; i++) {
        const int64_t bytes = beffio_plan_partition(config, config->partitions[i], i == 0, plan);
        largest = bytes > largest ? bytes : largest;
        all += bytes;
    }
    result_line(plan, "M_PART is %lld bytes.", (long long)beffio_config_mpart(config));
    result_line(
        plan, "%d partition%s of T = %g s in %d folder%s: %.1f s are scheduled, and the time of MPI_File_sync besides.",
        config->partition_count, config->partition_count == 1 ? "" : "s", config->time_s, config->path_count,
        config->path_count == 1 ? "" : "s",
        beffio_config_seconds(config) * config->partition_count * config->path_count);
    if (config->assume_bytes_per_s)
        result_line(plan, "At %s a second the files take up to %s.", units_bytes(config->assume_bytes_per_s, rate),
                    units_bytes(config->order == BEFFIO_2_0 ? all : largest, size));
    if (config->time_s < BEFFIO_OFFICIAL_S || config->order == BEFFIO_2_0 || config->release != BEFFIO_BY_DOCUMENT)
        result_line(plan, "The value will be NOT OFFICIAL: see piolet-beffio(1).");
    return PL_OK;
}

const struct bench bench_beffio = {
    .name = "beffio",
    .rows = ROWS,
    .options_size = sizeof(struct beffio_config),
    .takes = BENCH_ON_MANY | BENCH_WHOLE,
    .classes = (const char *const[]){BEFFIO_CLASS, NULL},
    .conditions = (const char *const[]){"order", "cold", "hints", NULL},
    .summary = "b_eff_io: effective I/O bandwidth",
    .details = "Writes, rewrites and reads files by 43 patterns of five types through MPI-IO. 'piolet analyze beffio "
               "FILE...' shows results again.",
    .example = "beffio -n 4 --on /scratch -T 15m",
    .output = "beffio.out",
    .prepare = beffio_prepare,
    .plan = beffio_plan,
    .run_coll = beffio_run_coll,
    .results = beffio_results,
    .clear = beffio_clear,
};
