/* b_eff as a benchmark: its options, and the plan that follows from them. */
#include "bench/beff/beff.h"

#include "base/units.h"
#include "lab/facts/environment.h"

#include <assert.h>
#include <stdio.h>

const char BEFF_CLASS[] = "Beff", BEFF_TEST[] = "b_eff";

/* ---- options ---- */

enum { TIME_MAX_S = 7 * 86400 };

#define AT(member) OPTION_AT(struct beff_options, member)
static const struct option_row BEFF_ROWS[] = {
    {.name = "memory",
     .type = OPTION_SIZE,
     .min = (double)BEFF_MEMORY_LEAST,
     AT(memory_bytes),
     .help = "memory of a process; by default that of its node, divided by the ranks there",
     .more = "The longest message is 1/128 of it, at most 128 MB. By default the node counts where a rank has least."},
    {.name = "patterns",
     .type = OPTION_INT,
     .min = 1,
     .max = BEFF_RANDOM_MOST,
     AT(random_patterns),
     .help = "random patterns (30)"},
    {.name = "seed", .type = OPTION_INT, AT(seed), .help = "of the random patterns; drawn and reported"},
    {.name = "time",
     .type = OPTION_TIME,
     .min = 1,
     .max = TIME_MAX_S,
     AT(time_s),
     .help = "begin no further random pattern after this time (5m); below 3m loops are shortened too",
     .more = "At least one random pattern is measured. Where even the other patterns would take longer, they are "
             "repeated once and not three times."},
    {.name = "rmax",
     .aliases = "rmax_gflops",
     .type = OPTION_NUMBER,
     .argument = "GFLOPS",
     .min = 1e-6,
     AT(rmax_gflops),
     .help = "Linpack performance of these processes, for the balance factor"},
    {.name = "cached",
     .type = OPTION_FLAG,
     AT(cached),
     .help = "the same addresses in each round: messages stay in the cache; not standard",
     .more = "By default addresses walk through a buffer of six times the longest message, as those of b_eff 3.6 do."},
    {.name = "quick",
     .type = OPTION_FLAG,
     AT(quick),
     .help = "a try of some seconds: 3 random patterns, messages up to 256 kB, short loops"},
    {0}};
#undef AT

/* ---- from what was asked for to the numbers of a run ---- */

enum { QUICK_PATTERNS = 3, QUICK_TIME_S = 12, QUICK_LENGTH = 256 << 10, QUICK_LOOP_FIRST = 10, TIME_S = 300 };
#define FULL_LOOPS_S 180.0 /* runs that may take so long have loops of the full time, others proportionally less */

pl_status beff_plan_make(const struct beff_options *options, int nprocs, int64_t memory_bytes,
                         struct beff_plan *ret_plan, struct pl_error *error)
{
    const int64_t memory = options->memory_bytes ? options->memory_bytes : memory_bytes;
    const int64_t longest = beff_length_max(memory);
    if (nprocs < 2)
        return pl_fail(error, PL_E_USAGE,
                       "b_eff measures messages between processes, and there is only one; start it with at least 2");
    if (memory < BEFF_MEMORY_LEAST)
        return pl_fail(error, PL_E_USAGE,
                       "a process has %lld bytes of memory; allowed: at least %lld, so that the longest message "
                       "(1/%d of it) is longer than 4 kB",
                       (long long)memory, (long long)BEFF_MEMORY_LEAST, BEFF_MEMORY_PART);
    *ret_plan = (struct beff_plan){
        .nprocs = nprocs,
        .memory_bytes = memory,
        .memory_given = options->memory_bytes != 0,
        .random_patterns = options->random_patterns ? (int)options->random_patterns
                           : options->quick         ? QUICK_PATTERNS
                                                    : BEFF_RANDOM_PATTERNS,
        .time_s = options->time_s > 0 ? options->time_s
                  : options->quick    ? QUICK_TIME_S
                                      : TIME_S,
        .loop_first = options->quick ? QUICK_LOOP_FIRST : BEFF_LOOP_FIRST,
        .loop_target_s = BEFF_LOOP_TARGET_S,
        .seed = (uint64_t)options->seed,
        .cached = options->cached,
    };
    if (ret_plan->time_s < FULL_LOOPS_S)
        ret_plan->loop_target_s *= ret_plan->time_s / FULL_LOOPS_S;
    beff_lengths(options->quick && longest > QUICK_LENGTH ? QUICK_LENGTH : longest, ret_plan->lengths);
    assert(ret_plan->lengths[BEFF_LENGTHS - 1] <= longest && ret_plan->random_patterns > 0);
    return PL_OK;
}

int64_t beff_plan_buffer_bytes(const struct beff_plan *plan)
{
    return 2 * beff_buffer_bytes(plan->lengths[BEFF_LENGTHS - 1]);
}

const char *beff_length_text(int64_t length, char text[BEFF_LENGTH_TEXT_MAX])
{
    if (length < 1024)
        snprintf(text, BEFF_LENGTH_TEXT_MAX, "%lld B", (long long)length);
    else if (length < 1 << 20)
        snprintf(text, BEFF_LENGTH_TEXT_MAX, "%.4g kB", (double)length / 1024);
    else
        snprintf(text, BEFF_LENGTH_TEXT_MAX, "%.4g MB", (double)length / (1 << 20));
    return text;
}

/* ---- the plan, as a document ---- */

/* A dry run without -n plans for two. */
static int beff_ranks(const struct lab_job *job)
{
    return job->common.dry_run && job->common.ranks.count == 0 && job->ranks < 2 ? 2 : job->ranks;
}

static pl_status beff_plan_of(const struct lab_job *job, struct beff_plan *ret_plan, struct pl_error *error)
{
    const int ranks = beff_ranks(job);
    return beff_plan_make(job->own, ranks, environment_memory_bytes() / (ranks > 0 ? ranks : 1), ret_plan, error);
}

static pl_status beff_prepare(struct lab_job *job, struct pl_error *error)
{
    struct beff_plan plan;
    return beff_plan_of(job, &plan, error);
}

static void beff_plan_patterns(const struct beff_plan *plan, struct result *document)
{
    static const struct result_column columns[] = {{.key = "pattern", .form = RESULT_TEXT},
                                                   {.key = "messages", .form = RESULT_INT},
                                                   {.key = "processes", .form = RESULT_TEXT},
                                                   {0}};
    char label[BEFF_NAME_MAX], shape[BEFF_RINGS_TEXT_MAX];
    struct beff_pattern pattern;
    result_begin_table(document, "patterns", "Patterns:", columns);
    for (int i = 0; beff_pattern_next(plan->nprocs, 1, i, &pattern); i++) {
        const bool random = pattern.kind == BEFF_RANDOM;
        beff_pattern_shape(pattern, plan->nprocs, shape);
        result_row(document);
        result_put_text(document, random && pattern.as36 ? "random 1, 2, ..., as 3.6"
                                  : random               ? "random 1, 2, ..."
                                                         : beff_pattern_label(pattern, label));
        result_put_int(document, beff_pattern_messages(pattern, plan->nprocs));
        result_put_text(document, shape);
    }
}

static pl_status beff_plan(struct lab_job *job, struct result *document, struct pl_error *error)
{
    struct beff_plan plan;
    struct text lengths = {0};
    char text[BEFF_LENGTH_TEXT_MAX], bytes[UNITS_TEXT_MAX];
    if (beff_plan_of(job, &plan, error) != PL_OK)
        return error->status;
    const int patterns = beff_pattern_count(plan.nprocs, plan.random_patterns);
    const int loops = (patterns - 1) * BEFF_LENGTHS * (BEFF_METHODS - 1) * BEFF_REPETITIONS;
    for (int i = 0; i < BEFF_LENGTHS; i++)
        text_format(&lengths, "%s%s", i ? ", " : "", beff_length_text(plan.lengths[i], text));
    result_line(document, "Plan for %d ranks, %s of memory each (%s).", plan.nprocs,
                units_bytes(plan.memory_bytes, bytes),
                plan.memory_given ? "--memory" : "this host's, shared by all ranks");
    result_line(document, "Message lengths: %s.", text_get(&lengths));
    text_clear(&lengths);
    beff_plan_patterns(&plan, document);
    result_line(document,
                "In all: %d patterns of %d lengths, 3 methods, %d repetitions (ping-pong: one method); %d of the "
                "patterns are random ones, which come last.",
                patterns, BEFF_LENGTHS, BEFF_REPETITIONS, plan.random_patterns);
    result_line(document,
                "Loops of %.3g to %.3g ms, from %lld rounds down to 1: %.0f s at most, and more where one round takes "
                "longer than that. After %.0f s no further random pattern is begun.",
                plan.loop_target_s * 1e3, 2e3 * plan.loop_target_s, (long long)plan.loop_first,
                loops * 2 * plan.loop_target_s, plan.time_s);
    result_line(document, "Messages of a rank take %s; results take about %.1f MB.",
                units_bytes(beff_plan_buffer_bytes(&plan), bytes), patterns * BEFF_LENGTHS * 420e-6);
    return PL_OK;
}

const struct bench bench_beff = {
    .name = "beff",
    .rows = BEFF_ROWS,
    .options_size = sizeof(struct beff_options),
    .takes = BENCH_WHOLE | BENCH_TIMES,
    .classes = (const char *const[]){BEFF_CLASS, NULL},
    .summary = "measure the effective communication bandwidth, b_eff",
    .details = "All processes send messages at the same time, in rings and in random order; there must be at least 2. "
               "'piolet analyze beff FILE...' shows results again, several side by side.",
    .example = "beff -n 4 --quick",
    .output = "beff.out",
    .prepare = beff_prepare,
    .plan = beff_plan,
    .run_coll = beff_run_coll,
    .results = beff_results,
};
