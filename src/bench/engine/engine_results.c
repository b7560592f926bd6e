/* What `engine` found: rates of peers, the engine's own choice beside fixed strategies, and counts. */
#include "bench/engine/engine.h"

#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct quantity_kind ENGINE_RATE = {"rate, slowest rank", "MB/s",
                                                 "bytes of all ranks / time of the slowest rank", false};
static const struct quantity_kind ENGINE_RATIO = {
    "speed of the engine", "x", "time of the peer / time of the engine, repetition by repetition", false};
static const struct quantity_kind ENGINE_CHOICE = {
    "speed of the engine's choice", "x", "time of the best fixed strategy / time of the engine, by repetition", false};
static const struct quantity_kind ENGINE_MESSAGES = {"messages", "1", "of all ranks in one access", true};
static const struct quantity_kind ENGINE_CALLS = {"calls on files", "1", "reads and writes of all ranks in one access",
                                                  true};
static const struct quantity_kind ENGINE_WIRE = {"bytes on the wire", "B", "sent by all hosts in one access", true};

/* "c-1k, fresh, 2 ranks, 64 MiB": what tells a measurement from others. */
static const char *engine_what(const struct blockfile_set *set, int64_t bytes, char what[160])
{
    char size[UNITS_TEXT_MAX];
    const char *pattern = blockfile_param_of(set, "pattern"), *op = blockfile_param_of(set, "op"),
               *ranks = blockfile_param_of(set, "ranks");
    snprintf(what, 160, "%s, %s, %s ranks, %s", pattern ? pattern : "?", op ? op : "?", ranks ? ranks : "?",
             units_binary(bytes, size));
    return what;
}

static const char *engine_strategy(const struct blockfile_set *set)
{
    for (size_t i = 0; i < set->hint_count; i++)
        if (set->hints[i].used && strcmp(set->hints[i].key, "piolet_strategy") == 0)
            return set->hints[i].value;
    return NULL;
}

/* A set of the class that did not fail; else 0. */
static int64_t engine_moved(const struct analysis_chosen *chosen)
{
    const char *moved = blockfile_param_of(chosen->set, "moved_bytes");
    int64_t bytes = 0;
    if (strcmp(chosen->block->class_name, ENGINE_CLASS) != 0 || chosen->set->error_count ||
        !blockfile_param_of(chosen->set, "peer") || !moved || !units_parse_int(moved, 1, INT64_MAX, &bytes))
        return 0;
    return bytes;
}

/* ---- rates ---- */

static void engine_put_rates(const struct engine_values *values, struct result *result)
{
    static const struct result_column columns[] = {
        {.key = "what", .label = "pattern", .form = RESULT_TEXT},
        {.key = "peer", .label = "", .form = RESULT_TEXT},
        {.key = "strategy", .form = RESULT_TEXT},
        {.key = "rate_mb_per_s", .label = "rate", .form = RESULT_RATE, .decimals = 0, .error = true},
        {.key = "ratio", .label = "engine is x", .form = RESULT_NUMBER, .decimals = 2, .error = true},
        {0}};
    result_line(result, "Rates of patterns of access, and how many times as fast as each peer the engine is: medians, "
                        "with the 90 %% interval of the mean.");
    result_begin_table(result, "rates", NULL, columns);
    for (size_t i = 0; i < values->count; i++) {
        const struct engine_value *value = &values->list[i];
        const struct engine_value *ours = engine_values_find(values, value->block, value->what, "piolet");
        const struct analysis_estimate rate = engine_value_mean(value),
                                       ratio = value == ours ? (struct analysis_estimate){NAN, NAN}
                                                             : engine_value_ratio(ours, value);
        char text[256];
        result_row(result);
        result_put_text(result, value->what);
        result_put_text(result, value->peer);
        result_put_text(result, *value->note ? value->note : NULL);
        result_put_estimate(result, rate);
        result_put_estimate(result, ratio);
        snprintf(text, sizeof text, "%s, %s", value->what, value->peer);
        result_quantity(result, value->block, &ENGINE_RATE, NULL, text, rate);
        snprintf(text, sizeof text, "%s, against %s", value->what, value->peer);
        result_quantity(result, value->block, &ENGINE_RATIO, NULL, text, ratio);
    }
}

/* ---- the engine's own choice ---- */

static const char FIXED[] = "piolet/"; /* before the name of a strategy */

static const struct engine_value *engine_best_fixed(const struct engine_values *values, const struct engine_value *ours)
{
    const struct engine_value *best = NULL;
    for (size_t i = 0; i < values->count; i++) {
        const struct engine_value *value = &values->list[i];
        if (value->block == ours->block && strcmp(value->what, ours->what) == 0 &&
            strncmp(value->peer, FIXED, sizeof FIXED - 1) == 0 &&
            (!best || engine_value_mean(value).value > engine_value_mean(best).value))
            best = value;
    }
    return best;
}

static void engine_put_choices(const struct engine_values *values, struct result *result)
{
    static const double behind = 0.95;
    static const struct result_column columns[] = {
        {.key = "what", .label = "pattern", .form = RESULT_TEXT},
        {.key = "auto_mb_per_s", .label = "auto", .form = RESULT_RATE, .decimals = 0},
        {.key = "chosen", .label = "chose", .form = RESULT_TEXT},
        {.key = "best_mb_per_s", .label = "best fixed", .form = RESULT_RATE, .decimals = 0},
        {.key = "best", .label = "", .form = RESULT_TEXT},
        {.key = "ratio", .label = "auto / best", .form = RESULT_NUMBER, .decimals = 2, .error = true},
        {0}};
    int64_t rows = 0, late = 0;
    for (size_t i = 0; i < values->count; i++) {
        const struct engine_value *ours = &values->list[i];
        const struct engine_value *best = strcmp(ours->peer, "piolet") == 0 ? engine_best_fixed(values, ours) : NULL;
        if (!best)
            continue;
        const struct analysis_estimate ratio = engine_value_ratio(ours, best);
        if (rows++ == 0)
            result_begin_table(result, "choices", "The engine's own choice, and the best fixed strategy", columns);
        late += ratio.value < behind;
        result_row(result);
        result_put_text(result, ours->what);
        result_put_number(result, engine_value_mean(ours).value);
        result_put_text(result, *ours->note ? ours->note : NULL);
        result_put_number(result, engine_value_mean(best).value);
        result_put_text(result, best->peer + sizeof FIXED - 1);
        result_put_estimate(result, ratio);
        result_quantity(result, ours->block, &ENGINE_CHOICE, NULL, ours->what, ratio);
    }
    if (rows)
        result_line(result, "%lld of %lld more than 5 %% behind the best fixed strategy.", (long long)late,
                    (long long)rows);
}

/* ---- counts ---- */

static const struct result_column COUNT_COLUMNS[] = {{.key = "what", .label = "pattern", .form = RESULT_TEXT},
                                                     {.key = "peer", .label = "", .form = RESULT_TEXT},
                                                     {.key = "strategy", .form = RESULT_TEXT, .hidden = true},
                                                     {.key = "of", .label = "", .form = RESULT_TEXT},
                                                     {.key = "messages", .label = "msg", .form = RESULT_INT},
                                                     {.key = "message_bytes", .label = "bytes", .form = RESULT_BYTES},
                                                     {.key = "collectives", .label = "coll", .form = RESULT_INT},
                                                     {.key = "collective_bytes", .form = RESULT_INT, .hidden = true},
                                                     {.key = "reads", .form = RESULT_INT},
                                                     {.key = "read_bytes", .label = "bytes", .form = RESULT_BYTES},
                                                     {.key = "writes", .form = RESULT_INT},
                                                     {.key = "write_bytes", .label = "bytes", .form = RESULT_BYTES},
                                                     {.key = "maps", .form = RESULT_INT},
                                                     {.key = "map_bytes", .form = RESULT_INT, .hidden = true},
                                                     {.key = "moved_bytes", .form = RESULT_INT, .hidden = true},
                                                     {0}};
enum { COUNTS_FIRST = 4, COUNTS_END = 14 };

static int64_t engine_count(const struct blockfile_set *set, const char *prefix, const char *name)
{
    char key[64];
    int64_t number = 0;
    snprintf(key, sizeof key, "%s%s", prefix, name);
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, 0, INT64_MAX, &number) ? number : 0;
}

static void engine_put_counts_of(const struct analysis_chosen *chosen, const char *of, const char *prefix,
                                 struct result *result)
{
    char what[160];
    const int64_t moved = engine_moved(chosen);
    result_row(result);
    result_put_text(result, engine_what(chosen->set, moved, what));
    result_put_text(result, blockfile_param_of(chosen->set, "peer"));
    result_put_text(result, engine_strategy(chosen->set));
    result_put_text(result, of);
    for (int i = COUNTS_FIRST; i < COUNTS_END; i++)
        result_put_int(result, engine_count(chosen->set, prefix, COUNT_COLUMNS[i].key));
    result_put_int(result, moved);
}

static bool engine_is_count(const struct analysis_chosen *chosen)
{
    return engine_moved(chosen) > 0 && strcmp(chosen->block->testname, ENGINE_COUNTS) == 0;
}

static void engine_put_counts(const struct analysis_request *request, const struct analysis_input *input,
                              struct result *result)
{
    struct analysis_chosen chosen = {0};
    bool begun = false;
    while (analysis_next(request, input, &chosen)) {
        char what[160], settings[256];
        if (!engine_is_count(&chosen))
            continue;
        if (!begun) {
            result_line(result, "Counts of one access: of all ranks, and of rank 0. On Open MPI messages are also "
                                "those of which a collective is made, and the collectives of OMPIO are seen as "
                                "messages alone.");
            result_begin_table(result, "counts", NULL, COUNT_COLUMNS);
            begun = true;
        }
        engine_put_counts_of(&chosen, "all", "", result);
        engine_put_counts_of(&chosen, "rank 0", "rank0_", result);
        snprintf(settings, sizeof settings, "%s, %s", engine_what(chosen.set, engine_moved(&chosen), what),
                 blockfile_param_of(chosen.set, "peer"));
        result_quantity(result, chosen.block, &ENGINE_MESSAGES, NULL, settings,
                        (struct analysis_estimate){(double)engine_count(chosen.set, "", "messages"), NAN});
        result_quantity(
            result, chosen.block, &ENGINE_CALLS, NULL, settings,
            (struct analysis_estimate){
                (double)(engine_count(chosen.set, "", "reads") + engine_count(chosen.set, "", "writes")), NAN});
        result_quantity(result, chosen.block, &ENGINE_WIRE, NULL, settings,
                        (struct analysis_estimate){(double)engine_count(chosen.set, "", "wire_bytes"), NAN});
    }
}

/* Bytes between hosts. */
static void engine_put_wire(const struct analysis_request *request, const struct analysis_input *input,
                            struct result *result)
{
    static const struct result_column columns[] = {{.key = "what", .label = "pattern", .form = RESULT_TEXT},
                                                   {.key = "peer", .label = "", .form = RESULT_TEXT},
                                                   {.key = "must_bytes", .label = "must", .form = RESULT_INT},
                                                   {.key = "wire_bytes", .label = "wire", .form = RESULT_INT},
                                                   {.key = "ratio", .form = RESULT_NUMBER, .decimals = 2},
                                                   {0}};
    struct analysis_chosen chosen = {0};
    bool begun = false;
    while (analysis_next(request, input, &chosen)) {
        char what[160];
        if (!engine_is_count(&chosen) || !blockfile_param_of(chosen.set, "wire_bytes"))
            continue;
        const int64_t must = engine_count(chosen.set, "", "must_bytes"),
                      wire = engine_count(chosen.set, "", "wire_bytes");
        if (!begun) {
            result_line(result, "Bytes between hosts. must: of the data, those in another host's part, were the file "
                                "divided evenly in one part for each host. wire: all that the hosts sent.");
            result_begin_table(result, "hosts", NULL, columns);
            begun = true;
        }
        result_row(result);
        result_put_text(result, engine_what(chosen.set, engine_moved(&chosen), what));
        result_put_text(result, blockfile_param_of(chosen.set, "peer"));
        result_put_int(result, must);
        result_put_int(result, wire);
        result_put_number(result, must > 0 ? (double)wire / (double)must : NAN);
    }
}

pl_status engine_results(const struct analysis_request *request, const struct analysis_input *input,
                         struct result *result, struct pl_error *error)
{
    struct analysis_request selection = *request;
    struct analysis_chosen chosen = {0};
    struct engine_values values = {0};
    bool found = false;
    selection.op = NULL;
    while (analysis_next(&selection, input, &chosen)) {
        const int64_t bytes = engine_moved(&chosen);
        char what[160];
        found |= bytes > 0;
        if (bytes > 0 && chosen.set->time_count > 0)
            engine_values_add(&values, chosen.block, engine_what(chosen.set, bytes, what),
                              blockfile_param_of(chosen.set, "peer"),
                              units_rate_mb_per_s((double)bytes, (double)chosen.set->times[0].nanoseconds),
                              engine_strategy(chosen.set));
    }
    if (!found)
        return pl_fail(error, PL_E_INPUT, "no results of engine are selected");
    if (values.count) {
        engine_put_rates(&values, result);
        engine_put_choices(&values, result);
    }
    engine_values_clear(&values);
    engine_put_counts(&selection, input, result);
    engine_put_wire(&selection, input, result);
    return PL_OK;
}
