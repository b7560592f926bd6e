/* The document of Replay blocks: phases, calls outside of them, the whole; and the quantities that are kept. */
#include "base/units.h"
#include "bench/replay/replay_plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct quantity_kind TOTAL = {
    "replayed I/O time", "ms", "phases and calls outside of them, each on its slowest rank; median of repetitions",
    true};
static const struct quantity_kind PHASE = {
    "replayed phase time", "ms", "all executions of the phase on its slowest rank; median of repetitions", true};

static const struct result_column PHASES[] = {{.key = "name", .label = "", .form = RESULT_TEXT},
                                              {.key = "phase", .form = RESULT_INT, .hidden = true},
                                              {.key = "repetition", .label = "rep", .form = RESULT_INT},
                                              {.key = "executed", .form = RESULT_INT},
                                              {.key = "count", .label = "of", .form = RESULT_INT},
                                              {.key = "total_bytes", .label = "bytes", .form = RESULT_BYTES},
                                              {.key = "time_ns", .label = "time", .form = RESULT_NS, .error = true},
                                              {.key = "rate", .form = RESULT_RATE},
                                              {0}};
static const struct result_column TOTALS[] = {
    {.key = "repetition", .label = "rep", .form = RESULT_INT},
    {.key = "phases_ns", .label = "phases", .form = RESULT_NS},
    {.key = "calls_ns", .label = "calls outside of phases", .form = RESULT_NS},
    {.key = "total_ns", .label = "all", .form = RESULT_NS},
    {0}};

/* ---- sets ---- */

enum replay_set { SET_PHASE, SET_CALL, SET_FAILURE, SET_OTHER };

static enum replay_set results_kind(const struct blockfile_set *set)
{
    static const char *const names[] = {[SET_PHASE] = "phase", [SET_CALL] = "call", [SET_FAILURE] = "failure"};
    const char *kind = blockfile_param_of(set, "kind");
    int i = 0;
    while (i < SET_OTHER && !(kind && strcmp(kind, names[i]) == 0))
        i++;
    return (enum replay_set)i;
}

static double results_number(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    double number;
    return text && units_parse_number(text, &number) ? number : NAN;
}

/* 1 where a set does not tell it. */
static int64_t results_repetition(const struct blockfile_set *set)
{
    const char *text = blockfile_param_of(set, "repetition");
    int64_t number;
    return text && units_parse_int(text, 1, INT64_MAX, &number) ? number : 1;
}

static int64_t results_last(const struct blockfile_block *block)
{
    int64_t last = 0;
    for (size_t i = 0; i < block->set_count; i++)
        if (results_repetition(&block->sets[i]) > last)
            last = results_repetition(&block->sets[i]);
    return last;
}

bool replay_results_has(const struct blockfile_block *block, int64_t number)
{
    bool found = false, ended = block->complete;
    for (size_t i = 0; i < block->set_count; i++) {
        const struct blockfile_set *set = &block->sets[i];
        const int64_t repetition = results_repetition(set);
        ended |= repetition > number;
        if (repetition != number || results_kind(set) == SET_OTHER)
            continue;
        if (results_kind(set) == SET_FAILURE || set->error_count > 0)
            return false;
        found = true;
    }
    return found && ended;
}

/* ---- a block ---- */

static void results_name(const struct blockfile_set *set, char *name, size_t size)
{
    const char *phase = blockfile_param_of(set, "phase"), *operations = blockfile_param_of(set, "operations");
    const char *metadata = blockfile_param_of(set, "metadata");
    snprintf(name, size, "phase %s %s%s", phase ? phase : "?",
             !operations || !*operations || strchr(operations, ',') ? "mixed operations" : operations,
             metadata && strcmp(metadata, "yes") == 0 ? " (metadata)" : "");
}

/* Of all executions; the error is known where some were extrapolated. */
static struct analysis_estimate results_time(const struct blockfile_set *set)
{
    const double total = results_number(set, "total_ns"), high = results_number(set, "total_high_ns");
    return (struct analysis_estimate){set->error_count ? NAN : total, high > total ? high - total : NAN};
}

static void results_put_int(struct result *result, const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    int64_t number;
    if (text && units_parse_int(text, 0, INT64_MAX, &number))
        result_put_int(result, number);
    else
        result_put_empty(result);
}

/* What makes replays comparable: "app, model 58a65d9f1d18c9a8, cb_nodes=2". */
static void results_settings(const struct blockfile_block *block, const char *phase, struct text *settings)
{
    const char *program = blockfile_fact_of(block, "program"), *model = blockfile_fact_of(block, "model_hash");
    const struct blockfile_set *first = NULL;
    for (size_t i = 0; i < block->set_count && !first; i++)
        first = results_kind(&block->sets[i]) < SET_FAILURE ? &block->sets[i] : NULL;
    text_format(settings, "%s, model %s%s%s", program ? program : "unknown", model ? model : "unknown",
                phase ? ", " : "", phase ? phase : "");
    for (size_t i = 0; first && i < first->hint_count; i++)
        if (!first->hints[i].used)
            text_format(settings, ", %s=%s", first->hints[i].key, first->hints[i].value);
}

static void results_put_phase(struct result *result, const struct blockfile_block *block,
                              const struct blockfile_set *set)
{
    const struct analysis_estimate time = results_time(set);
    const double bytes = results_number(set, "total_bytes");
    char name[160];
    struct text settings = {0};
    results_name(set, name, sizeof name);
    result_row(result);
    result_put_text(result, name);
    results_put_int(result, set, "phase");
    result_put_int(result, results_repetition(set));
    results_put_int(result, set, "executed");
    results_put_int(result, set, "count");
    results_put_int(result, set, "total_bytes");
    result_put_estimate(result, time);
    result_put_number(result, bytes > 0 && time.value > 0 ? units_rate_mb_per_s(bytes, time.value) : NAN);
    results_settings(block, name, &settings);
    if (blockfile_param_of(set, "phase"))
        result_quantity(result, block, &PHASE, NULL, text_get(&settings),
                        (struct analysis_estimate){time.value / 1e6, time.error / 1e6});
    text_clear(&settings);
}

static void results_put_totals(struct result *result, const struct blockfile_block *block)
{
    const int64_t last = results_last(block);
    struct text settings = {0};
    results_settings(block, NULL, &settings);
    result_begin_table(result, "totals", NULL, TOTALS);
    /* not more than there are sets, whatever a file says */
    for (int64_t i = last > (int64_t)block->set_count ? last - (int64_t)block->set_count : 1; i <= last; i++) {
        double times[2] = {0, 0};
        if (!replay_results_has(block, i))
            continue;
        for (size_t k = 0; k < block->set_count; k++)
            if (results_kind(&block->sets[k]) < SET_FAILURE && results_repetition(&block->sets[k]) == i)
                times[results_kind(&block->sets[k])] += results_number(&block->sets[k], "total_ns");
        result_row(result);
        result_put_int(result, i);
        result_put_number(result, times[SET_PHASE]);
        result_put_number(result, times[SET_CALL]);
        result_put_number(result, times[SET_PHASE] + times[SET_CALL]);
        result_quantity(result, block, &TOTAL, NULL, text_get(&settings),
                        (struct analysis_estimate){(times[SET_PHASE] + times[SET_CALL]) / 1e6, NAN});
    }
    if (last > 0 && !block->complete && !replay_results_has(block, last))
        result_note(result, RESULT_NOTE, "repetition %" PRId64 " was interrupted: it counts for no total", last);
    text_clear(&settings);
}

static const char *results_label(const struct blockfile_block *block)
{
    const char *label = blockfile_fact_of(block, "configuration"), *on = blockfile_input_of(block, "on");
    return label && *label ? label : on ? on : "unknown";
}

static void results_put_block(struct result *result, const struct blockfile_block *block)
{
    const char *program = blockfile_fact_of(block, "program");
    result_begin_group(result, "replays", "%s: %s", program ? program : "unknown", results_label(block));
    result_fact_text(result, "program", NULL, program);
    result_fact_text(result, "model_hash", NULL, blockfile_fact_of(block, "model_hash"));
    result_fact_text(result, "configuration", NULL, results_label(block));
    result_begin_table(result, "phases", NULL, PHASES);
    for (size_t i = 0; i < block->set_count; i++)
        if (results_kind(&block->sets[i]) == SET_PHASE)
            results_put_phase(result, block, &block->sets[i]);
    results_put_totals(result, block);
    for (size_t i = 0; i < block->set_count; i++)
        for (size_t k = 0; k < block->sets[i].error_count; k++)
            result_note(result, RESULT_ERROR, "repetition %" PRId64 ": rank %d: %s",
                        results_repetition(&block->sets[i]), block->sets[i].errors[k].rank,
                        block->sets[i].errors[k].text);
    result_end_group(result);
}

/* Times of the phases, a series for each configuration. */
static void results_draw_block(struct result *result, const struct blockfile_block *block)
{
    result_begin_series(result, RESULT_POINTS, "%s", results_label(block));
    for (size_t i = 0; i < block->set_count; i++) {
        const struct blockfile_set *set = &block->sets[i];
        const struct analysis_estimate time = results_time(set);
        if (results_kind(set) == SET_PHASE && time.value > 0)
            result_point(result, results_number(set, "phase"), time.value, results_number(set, "total_low_ns"),
                         results_number(set, "total_high_ns"));
    }
}

static int64_t results_each_block(const struct analysis_request *request, const struct analysis_input *input,
                                  struct result *result,
                                  void (*put)(struct result *result, const struct blockfile_block *block))
{
    struct analysis_chosen chosen = {0};
    const struct blockfile_block *last = NULL;
    int64_t found = 0;
    while (analysis_next(request, input, &chosen)) {
        if (chosen.block == last || strcmp(chosen.block->class_name, REPLAY_CLASS) != 0)
            continue;
        last = chosen.block;
        put(result, last);
        found++;
    }
    return found;
}

pl_status replay_results(const struct analysis_request *request, const struct analysis_input *input,
                         struct result *result, struct pl_error *error)
{
    const struct result_axis x = {.label = "phase", .form = RESULT_INT};
    const struct result_axis y = {.label = "time", .form = RESULT_NS, .log = true};
    if (results_each_block(request, input, result, results_put_block) == 0)
        return pl_fail(error, PL_E_INPUT, "no replays are selected");
    result_begin_panel(result, &x, &y, 1, "Replayed phases");
    results_each_block(request, input, result, results_draw_block);
    return PL_OK;
}
