/* The benchmark `trace`: what tracing adds to a call, and how long the trace gets. A tracer is preloaded, so that each
 * measurement is a process of its own (piolet-kernel); starts without a tracer, with a minimal logger, with the folded
 * and with the full trace take turns. */
#include "bench/engine/engine.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/process.h"
#include "base/units.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char CLASS[] = "Tracing", TEST[] = "tracing";
static const char NONE[] = "none";
#define TRACING_PATTERNS "regular nested random pointer written barrier"
#define TRACING_TRACERS  "none logger folded full"
enum { BLOCK_CALLS = 1000 }; /* of kernel.c */

/* What the folded trace may add to a call: so much, or so many times what the least logger adds. */
static const double TRACING_LIMIT_NS = 100, TRACING_LIMIT_LOGGERS = 1.5;

struct tracing_options {
    uint64_t patterns;
    int64_t repeat, blocks;
};

#define AT(member) OPTION_AT(struct tracing_options, member)
static const struct option_row TRACING_ROWS[] = {
    {.name = "patterns",
     .type = OPTION_CHOICES,
     .choices = TRACING_PATTERNS,
     .initial = "regular,nested,random,pointer,written,barrier",
     AT(patterns),
     .help = "calls at places in line, in loops of loops, at random places, by the file pointer, writes of 1 KiB, "
             "barriers"},
    ENGINE_REPEAT_ROW("rounds", AT(repeat), .initial = "5", .help = "starts with each tracer, in turn"),
    {.name = "blocks",
     .letter = 'b',
     .type = OPTION_INT,
     .initial = "300",
     .min = 1,
     .max = 1000000,
     AT(blocks),
     .help = "blocks of 1000 calls in each start"},
    {0}};
#undef AT

/* Word `i` of a list of choices. */
static const char *tracing_word(const char *words, int i, char word[16])
{
    for (; i > 0; i--) {
        words = strchr(words, ' ');
        assert(words);
        words++;
    }
    snprintf(word, 16, "%.*s", (int)strcspn(words, " "), words);
    return word;
}

enum { PATTERN_COUNT = 6, TRACER_COUNT = 4 };

static int tracing_ranks(const struct lab_job *job)
{
    return job->common.ranks.count ? (int)job->common.ranks.values[0] : 1;
}

static pl_status tracing_prepare(struct lab_job *job, struct pl_error *error)
{
    if (job->common.ranks.count > 1)
        return pl_fail(error, PL_E_USAGE, "-n: one number of ranks at a time");
    return PL_OK;
}

static pl_status tracing_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct tracing_options *options = job->own;
    (void)error;
    result_line(plan,
                "%d patterns, each %lld times without a tracer, with a logger, with the folded and with the full "
                "trace: %lld calls of each of %d ranks in each start.",
                __builtin_popcountll(options->patterns), (long long)options->repeat,
                (long long)(options->blocks * BLOCK_CALLS), tracing_ranks(job));
    return PL_OK;
}

/* ---- one start ---- */

/* What a start has, in a folder of its own. */
struct tracing_start {
    char program[PATH_MAX + 64], preload[PATH_MAX + 96]; /* preload: "LD_PRELOAD=..."; "": nothing */
    char folder[PATH_MAX], file[PATH_MAX + 32], report[PATH_MAX + 32], trace[PATH_MAX + 32];
    char pattern[16], tracer[16], blocks[32], ranks[16];
};

/* As 'piolet VERB -n' would: the launcher's words in front of the program's. */
static int tracing_launcher(char *ranks, bool is_crowded, char **words)
{
    static char *const of_slurm[] = {"srun", "-n", NULL}, *const of_mpich[] = {PIOLET_MPIEXEC, "-n", NULL},
                       *const of_openmpi[] = {PIOLET_MPIEXEC, "--allow-run-as-root", "-n", NULL},
                       *const of_crowd[] = {
                           PIOLET_MPIEXEC, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", NULL};
    char *const *own = getenv("SLURM_JOB_ID") ? of_slurm
                       : !PIOLET_IS_OPENMPI   ? of_mpich
                       : is_crowded           ? of_crowd
                                              : of_openmpi;
    int count = 0;
    for (; own[count]; count++)
        words[count] = own[count];
    words[count++] = ranks;
    return count;
}

static void tracing_become(void *context)
{
    enum { WORDS_MAX = 20 };
    struct tracing_start *start = context;
    char *words[WORDS_MAX] = {0};
    const int ranks = atoi(start->ranks);
    int count = ranks > 1 ? tracing_launcher(start->ranks, ranks > sysconf(_SC_NPROCESSORS_ONLN), words) : 0;
    environ = engine_environment();
    setenv("PIOLET_TRACE_DIR", start->trace, 1);
    setenv("PIOLET_TRACE_FULL", strcmp(start->tracer, "full") == 0 ? "1" : "0", 1);
    if (*start->preload) { /* into the ranks, not into their launcher */
        words[count++] = "env";
        words[count++] = start->preload;
    }
    words[count++] = start->program;
    words[count++] = start->pattern;
    words[count++] = start->blocks;
    words[count++] = start->file;
    words[count++] = start->report;
    assert(count < WORDS_MAX);
    execvp(words[0], words);
    fprintf(stderr, "cannot start '%s': %s\n", words[0], strerror(errno));
    _exit(127);
}

/* Of all ranks; -1 where one is missing. */
static int64_t tracing_bytes(const struct tracing_start *start, int ranks)
{
    struct stat info;
    char path[PATH_MAX + 64];
    int64_t bytes = 0;
    for (int rank = 0; rank < ranks; rank++) {
        snprintf(path, sizeof path, "%s/trace.%d", start->trace, rank);
        if (stat(path, &info) != 0)
            return -1;
        bytes += info.st_size;
    }
    return bytes;
}

static pl_status tracing_measure(struct tracing_start *start, struct lab_set *set, struct pl_error *error)
{
    struct process child = {0};
    char path[PATH_MAX + 64];
    long long calls = 0;
    double call_ns = 0, end_ns = 0;
    const char *library = strcmp(start->tracer, NONE) == 0       ? NULL
                          : strcmp(start->tracer, "logger") == 0 ? "libpiolet-logger.so"
                                                                 : "libpiolet-trace.so";
    start->preload[0] = '\0';
    if (!engine_find("piolet-kernel", start->program) || (library && !engine_find(library, path)))
        return pl_fail(error, PL_E_UNSUPPORTED, "'%s' is not there; build or install piolet as a whole",
                       library ? library : "piolet-kernel");
    if (library)
        snprintf(start->preload, sizeof start->preload, "LD_PRELOAD=%s", path);
    if (strcmp(start->tracer, "logger") == 0 && mkdir(start->trace, 0777) != 0)
        return pl_fail_errno(error, errno, "making '%s'", start->trace);
    if (!process_start(&child, true, tracing_become, start))
        return pl_fail_errno(error, errno, "starting a process");
    process_follow(&child);
    if (process_signal())
        _exit(interrupt_end(process_signal()));
    FILE *report = child.status == 0 ? fopen(start->report, "r") : NULL;
    const int found = report ? fscanf(report, "%lld %lf %lf", &calls, &call_ns, &end_ns) : 0;
    if (report)
        fclose(report);
    if (found != 3 || calls <= 0)
        return pl_fail(error, PL_E_SYSTEM, "piolet-kernel ended with exit status %d", child.status);
    const int64_t bytes = library ? tracing_bytes(start, atoi(start->ranks)) : 0;
    if (bytes < 0)
        return pl_fail(error, PL_E_SYSTEM, "there is no trace of each of %s ranks in '%s'", start->ranks, start->trace);
    engine_note_number(&set->params, "calls", calls);
    engine_note_number(&set->params, "trace_bytes", bytes);
    samples_time(&set->samples, "block_time", call_ns * BLOCK_CALLS / 1e9);
    samples_time(&set->samples, "finalize_time", end_ns / 1e9);
    return PL_OK;
}

static void tracing_remove(const struct tracing_start *start)
{
    DIR *trace = opendir(start->trace);
    for (const struct dirent *entry; trace && (entry = readdir(trace));)
        unlinkat(dirfd(trace), entry->d_name, 0); /* "." and ".." stay */
    if (trace)
        closedir(trace);
    rmdir(start->trace);
    unlink(start->file);
    unlink(start->report);
    rmdir(start->folder);
    interrupt_keep(start->folder);
}

static pl_status tracing_turn_coll(struct lab_run *run, int pattern, int tracer, int64_t repetition,
                                   struct pl_error *error)
{
    const struct tracing_options *options = run->job->own;
    struct lab_set set = {0};
    struct pl_error failure;
    struct tracing_start start = {0};
    pl_status status = PL_OK, mine = PL_OK;
    tracing_word(TRACING_PATTERNS, pattern, start.pattern);
    tracing_word(TRACING_TRACERS, tracer, start.tracer);
    snprintf(start.blocks, sizeof start.blocks, "%lld", (long long)options->blocks);
    snprintf(start.ranks, sizeof start.ranks, "%d", tracing_ranks(run->job));
    snprintf(set.label, sizeof set.label, "%s, %s", start.pattern, start.tracer);
    notes_add(&set.params, "pattern", start.pattern);
    notes_add(&set.params, "tracer", start.tracer);
    notes_add(&set.params, "blocks", start.blocks);
    if (tracing_ranks(run->job) > 1)
        notes_add(&set.params, "ranks", start.ranks);
    engine_note_number(&set.params, "repetition", repetition);
    if (lab_is_measured_coll(run, TEST, &set.params)) {
        lab_skip(run, 1);
    } else {
        char *folder = lab_job_path(run->job, "piolet-tracing.XXXXXX");
        lab_step(run, 1, "%s, start %lld", set.label, (long long)repetition);
        snprintf(start.folder, sizeof start.folder, "%s", folder);
        free(folder);
        if (!interrupt_mkdtemp(start.folder))
            mine = pl_fail_errno(&failure, errno, "making '%s'", start.folder);
        snprintf(start.file, sizeof start.file, "%s/data", start.folder);
        snprintf(start.report, sizeof start.report, "%s/report", start.folder);
        snprintf(start.trace, sizeof start.trace, "%s/trace", start.folder);
        if (mine == PL_OK)
            mine = tracing_measure(&start, &set, &failure);
        tracing_remove(&start);
        coll_agree_coll(run->world, mine, &failure, &set.verdict);
        status = lab_set_write_coll(run, run->world, &set, error);
    }
    lab_set_clear(&set);
    return status;
}

static pl_status tracing_run_coll(struct lab_run *run, struct pl_error *error)
{
    const struct tracing_options *options = run->job->own;
    const int64_t steps = options->repeat * __builtin_popcountll(options->patterns) * TRACER_COUNT;
    char *place = lab_job_path(run->job, ".");
    assert(run->size == 1);
    lab_plan(run, steps, (double)steps);
    lab_block_begin(run, CLASS, TEST);
    pl_status status = lab_block_head_coll(run, place, error);
    free(place);
    for (int64_t repetition = 1; repetition <= options->repeat && status == PL_OK; repetition++)
        for (int pattern = 0; pattern < PATTERN_COUNT && status == PL_OK; pattern++)
            for (int i = 0; i < TRACER_COUNT && status == PL_OK && options->patterns >> pattern & 1; i++)
                status = tracing_turn_coll(run, pattern, (int)((i + repetition) % TRACER_COUNT), repetition, error);
    return lab_block_end_coll(run, status, error);
}

/* ---- results ---- */

static const struct quantity_kind TRACING_ADDED = {"time that tracing adds", "ns",
                                                   "time of a call with the tracer - without, start by start", true};
static const struct quantity_kind TRACING_BYTES = {"trace", "B", "bytes of the trace / calls", true};
static const struct quantity_kind TRACING_END = {"time of MPI_Finalize", "ms", "of the traced program", true};

static const struct result_column COLUMNS[] = {
    {.key = "pattern", .label = "calls", .form = RESULT_TEXT},
    {.key = "tracer", .form = RESULT_TEXT},
    {.key = "call_ns", .label = "call", .unit = "ns", .form = RESULT_NUMBER, .decimals = 1, .error = true},
    {.key = "added_ns", .label = "added", .unit = "ns", .form = RESULT_NUMBER, .decimals = 1, .error = true},
    {.key = "limit_ns", .label = "limit", .unit = "ns", .form = RESULT_NUMBER, .decimals = 0},
    {.key = "holds", .label = "holds", .form = RESULT_TEXT},
    {.key = "bytes_per_call", .label = "bytes a call", .form = RESULT_NUMBER, .decimals = 3},
    {.key = "finalize_ms", .label = "MPI_Finalize", .unit = "ms", .form = RESULT_NUMBER, .decimals = 2, .error = true},
    {0}};

struct tracing_values {
    struct engine_values call_ns, bytes, end_ms;
};

static void tracing_collect(const struct analysis_request *request, const struct analysis_input *input,
                            struct tracing_values *values)
{
    struct analysis_chosen chosen = {0};
    while (analysis_next(request, input, &chosen)) {
        const struct blockfile_set *set = chosen.set;
        const char *pattern = blockfile_param_of(set, "pattern"), *tracer = blockfile_param_of(set, "tracer"),
                   *calls = blockfile_param_of(set, "calls"), *bytes = blockfile_param_of(set, "trace_bytes"),
                   *ranks = blockfile_param_of(set, "ranks");
        int64_t count, length;
        char what[64];
        if (strcmp(chosen.block->class_name, CLASS) != 0 || set->error_count || set->time_count < 2 || !pattern ||
            !tracer || !calls || !bytes || !units_parse_int(calls, 1, INT64_MAX, &count) ||
            !units_parse_int(bytes, 0, INT64_MAX, &length))
            continue;
        snprintf(what, sizeof what, "%.20s%s%.10s%s", pattern, ranks ? ", " : "", ranks ? ranks : "",
                 ranks ? " ranks" : "");
        engine_values_add(&values->call_ns, chosen.block, what, tracer, (double)set->times[0].nanoseconds / BLOCK_CALLS,
                          NULL);
        engine_values_add(&values->bytes, chosen.block, what, tracer, (double)length / (double)count, NULL);
        engine_values_add(&values->end_ms, chosen.block, what, tracer, (double)set->times[1].nanoseconds / 1e6, NULL);
    }
}

static void tracing_put_row(const struct tracing_values *values, size_t i, struct result *result)
{
    const struct engine_value *call = &values->call_ns.list[i];
    const bool is_traced = strcmp(call->peer, NONE) != 0;
    const struct analysis_estimate bytes = engine_value_mean(&values->bytes.list[i]),
                                   end = engine_value_mean(&values->end_ms.list[i]);
    struct analysis_estimate added = {NAN, NAN};
    char settings[256];
    const struct engine_value *none = engine_values_find(&values->call_ns, call->block, call->what, NONE),
                              *logger = engine_values_find(&values->call_ns, call->block, call->what, "logger");
    double limit = NAN;
    if (is_traced)
        added = engine_value_difference(call, none);
    if (strcmp(call->peer, "folded") == 0 && none && logger)
        limit = fmax(TRACING_LIMIT_NS, TRACING_LIMIT_LOGGERS * engine_value_difference(logger, none).value);
    result_row(result);
    result_put_text(result, call->what);
    result_put_text(result, call->peer);
    result_put_estimate(result, engine_value_mean(call));
    result_put_estimate(result, added);
    result_put_number(result, limit);
    result_put_text(result, isnan(limit) ? "-" : added.value <= limit ? "yes" : "no");
    result_put_number(result, is_traced ? bytes.value : NAN);
    result_put_estimate(result, end);
    snprintf(settings, sizeof settings, "%s, %s", call->what, call->peer);
    result_quantity(result, call->block, &TRACING_ADDED, NULL, settings, added);
    result_quantity(result, call->block, &TRACING_BYTES, NULL, settings, bytes);
    result_quantity(result, call->block, &TRACING_END, NULL, settings, end);
}

static pl_status tracing_results(const struct analysis_request *request, const struct analysis_input *input,
                                 struct result *result, struct pl_error *error)
{
    struct analysis_request selection = *request;
    struct tracing_values values = {0};
    selection.op = NULL;
    tracing_collect(&selection, input, &values);
    if (values.call_ns.count == 0)
        return pl_fail(error, PL_E_INPUT, "no results of bench trace are selected");
    assert(values.call_ns.count == values.bytes.count && values.bytes.count == values.end_ms.count);
    result_line(
        result,
        "Time of a call in the median block (of the slowest rank), what the tracer adds to it, and bytes of the trace "
        "for each call. logger: two times and a record of 32 bytes, the least that a tracer can do. limit: what the "
        "folded trace may add, 100 ns or 1.5 times the logger.");
    result_begin_table(result, "tracers", NULL, COLUMNS);
    for (int pattern = 0; pattern < PATTERN_COUNT; pattern++)
        for (int tracer = 0; tracer < TRACER_COUNT; tracer++)
            for (size_t i = 0; i < values.call_ns.count; i++) {
                char name[16], with[16];
                const char *what = values.call_ns.list[i].what;
                const size_t length = strlen(tracing_word(TRACING_PATTERNS, pattern, name));
                if (length == strcspn(what, ",") && strncmp(what, name, length) == 0 &&
                    strcmp(values.call_ns.list[i].peer, tracing_word(TRACING_TRACERS, tracer, with)) == 0)
                    tracing_put_row(&values, i, result);
            }
    engine_values_clear(&values.call_ns);
    engine_values_clear(&values.bytes);
    engine_values_clear(&values.end_ms);
    return PL_OK;
}

const struct bench bench_trace = {
    .name = "trace",
    .rows = TRACING_ROWS,
    .options_size = sizeof(struct tracing_options),
    .takes = BENCH_ON | BENCH_NO_VERB | BENCH_OWN_RANKS,
    .classes = (const char *const[]){CLASS, NULL},
    .summary = "what tracing adds to a call, and how long the trace gets",
    .details = "Calls that do as little as they can, in processes of their own: without a tracer, with a minimal "
               "logger, with the folded and with the full trace, in turn. -n is the number of their ranks (1), which "
               "call at the "
               "same time and have one file. For the tracer itself see 'piolet trace'.",
    .example = "bench trace --on /dev/shm -n 2 --patterns written --repeat 5",
    .output = "tracing.out",
    .prepare = tracing_prepare,
    .plan = tracing_plan,
    .run_coll = tracing_run_coll,
    .results = tracing_results,
};
