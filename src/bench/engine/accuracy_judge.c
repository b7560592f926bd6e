/* Predicted against measured times: verdicts, the order of configurations, and the table. No MPI, no clock. */
#include "bench/engine/engine.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char ACCURACY_CLASS[] = "Accuracy";

/* ---- judgement ---- */

#define GOAL      0.10 /* of the measured time */
#define NARROW    0.05
#define JUDGED_NS 20e6

/* NaN where there is no interval: one pass says nothing about its noise, least of all that there is none. */
static double judge_half(const struct accuracy_time *time)
{
    const double half = (time->high_ns - time->low_ns) / 2;
    return half < 0 ? 0 : half;
}

struct accuracy_judgement accuracy_judge(const struct accuracy_time *predicted, const struct accuracy_time *measured,
                                         bool total)
{
    assert(measured->ns > 0);
    struct accuracy_judgement judgement = {.error = (predicted->ns - measured->ns) / measured->ns,
                                           .noise = hypot(judge_half(predicted), judge_half(measured)) / measured->ns};
    const double off = fabs(judgement.error), noise = judgement.noise;
    const bool is_short = !total && measured->ns < JUDGED_NS && predicted->ns < JUDGED_NS;
    judgement.is_narrow = is_short || noise <= NARROW || off + noise <= GOAL || off > GOAL + 2 * noise;
    judgement.verdict = is_short               ? ACCURACY_SHORT
                        : !judgement.is_narrow ? ACCURACY_UNJUDGED
                        : off <= GOAL          ? ACCURACY_WITHIN
                        : off <= GOAL + noise  ? ACCURACY_NOISE
                                               : ACCURACY_OFF;
    assert(!isnan(noise) || judgement.verdict <= ACCURACY_UNJUDGED);
    return judgement;
}

const char *accuracy_verdict_word(enum accuracy_verdict verdict)
{
    static const char *const words[] = {[ACCURACY_SHORT] = "short",
                                        [ACCURACY_UNJUDGED] = "not judged",
                                        [ACCURACY_WITHIN] = "within 10 %",
                                        [ACCURACY_NOISE] = "within noise",
                                        [ACCURACY_OFF] = "off"};
    return words[verdict];
}

struct accuracy_pairs accuracy_compare(const struct accuracy_time *predicted, const struct accuracy_time *measured,
                                       int count)
{
    struct accuracy_pairs pairs = {.regret = NAN};
    int chosen = 0, best = 0;
    for (int i = 0; i < count; i++) {
        chosen = predicted[i].ns < predicted[chosen].ns ? i : chosen;
        best = measured[i].ns < measured[best].ns ? i : best;
        for (int k = 0; k < i; k++) {
            const bool in_order = (predicted[i].ns < predicted[k].ns) == (measured[i].ns < measured[k].ns);
            const double half = hypot(judge_half(&measured[i]), judge_half(&measured[k]));
            const bool is_known = fabs(measured[i].ns - measured[k].ns) > half; /* not where half is NaN */
            pairs.pairs++;
            pairs.ties += !is_known;
            pairs.in_order += is_known && in_order;
        }
    }
    if (count > 0)
        pairs.regret = measured[chosen].ns / measured[best].ns;
    assert(pairs.in_order + pairs.ties <= pairs.pairs && !(pairs.regret < 1));
    return pairs;
}

/* ---- results ---- */

static const struct quantity_kind ACCURACY_ERROR = {
    "error of a prediction", "%", "|predicted - measured| / measured, of the program's I/O time", true};

static const struct result_column PHASES[] = {
    {.key = "program", .form = RESULT_TEXT},
    {.key = "place", .form = RESULT_TEXT},
    {.key = "mpiio", .label = "MPI-IO", .form = RESULT_TEXT},
    {.key = "phase", .form = RESULT_TEXT},
    {.key = "measured_ns", .label = "measured", .form = RESULT_NS},
    {.key = "measured_half_percent", .label = "± %", .form = RESULT_NUMBER, .decimals = 1},
    {.key = "predicted_ns", .label = "predicted", .form = RESULT_NS},
    {.key = "predicted_half_percent", .label = "± %", .form = RESULT_NUMBER, .decimals = 1},
    {.key = "error_percent", .label = "error %", .form = RESULT_NUMBER, .decimals = 1},
    {.key = "verdict", .form = RESULT_TEXT},
    {0}};

static const struct result_column CHOICES[] = {
    {.key = "program", .form = RESULT_TEXT},
    {.key = "configurations", .form = RESULT_INT},
    {.key = "pairs", .form = RESULT_INT},
    {.key = "ties", .label = "not to be told", .form = RESULT_INT},
    {.key = "in_order", .label = "in order", .form = RESULT_INT},
    {.key = "regret", .label = "chosen / best", .form = RESULT_NUMBER, .decimals = 3},
    {0}};

/* Totals by program, and counts of verdicts. */
struct judge_all {
    struct judge_total {
        const char *program;
        struct accuracy_time predicted, measured;
    } * totals; /* owned */
    size_t total_count;
    int verdicts[2][ACCURACY_OFF + 1]; /* of phases and calls; of totals */
};

static struct accuracy_time judge_time_of(const struct blockfile_set *set, const char *what)
{
    char low[64], high[64], mean[64];
    snprintf(mean, sizeof mean, "%s_time", what);
    snprintf(low, sizeof low, "%s_low", what);
    snprintf(high, sizeof high, "%s_high", what);
    return (struct accuracy_time){analysis_slowest_ns(set, mean), analysis_slowest_ns(set, low),
                                  analysis_slowest_ns(set, high)};
}

static void judge_row(struct result *result, const struct blockfile_block *block, const struct blockfile_set *set,
                      struct judge_all *all)
{
    const char *phase = blockfile_param_of(set, "phase"), *program = blockfile_param_of(set, "program");
    const char *mpiio = blockfile_param_of(set, "mpiio"), *place = blockfile_param_of(set, "place");
    const struct accuracy_time predicted = judge_time_of(set, "predicted"), measured = judge_time_of(set, "measured");
    if (!phase || !program || !(measured.ns > 0) || !isfinite(predicted.ns))
        return;
    const bool total = strcmp(phase, "total") == 0;
    const struct accuracy_judgement judgement = accuracy_judge(&predicted, &measured, total);
    all->verdicts[total][judgement.verdict]++;
    result_row(result);
    result_put_text(result, program);
    result_put_text(result, place);
    result_put_text(result, mpiio);
    result_put_text(result, phase);
    result_put_number(result, measured.ns);
    result_put_number(result, 100 * (measured.high_ns - measured.low_ns) / 2 / measured.ns);
    result_put_number(result, predicted.ns);
    result_put_number(result, 100 * (predicted.high_ns - predicted.low_ns) / 2 / predicted.ns);
    result_put_number(result, 100 * judgement.error);
    result_put_text(result, accuracy_verdict_word(judgement.verdict));
    if (!total)
        return;
    char settings[512];
    snprintf(settings, sizeof settings, "%s, %s, %.300s", program, mpiio ? mpiio : "?", place ? place : "?");
    result_quantity(result, block, &ACCURACY_ERROR, NULL, settings,
                    (struct analysis_estimate){fabs(100 * judgement.error), NAN});
    all->totals = memory_grow(all->totals, all->total_count, sizeof *all->totals);
    all->totals[all->total_count++] = (struct judge_total){program, predicted, measured};
}

static void judge_notes(struct result *result, const struct blockfile_set *set)
{
    const char *program = blockfile_param_of(set, "program"), *mpiio = blockfile_param_of(set, "mpiio");
    const char *place = blockfile_param_of(set, "place");
    const size_t count = set->error_count + set->warning_count;
    for (size_t i = 0; i < count; i++)
        result_note(result, i < set->error_count ? RESULT_ERROR : RESULT_WARNING, "%s, %s, %s: %s",
                    program ? program : "?", mpiio ? mpiio : "?", place ? place : "?",
                    i < set->error_count ? set->errors[i].text : set->warnings[i - set->error_count]);
}

/* Programs in the order in which they come. */
static void judge_choices(struct result *result, const struct judge_all *all)
{
    struct accuracy_time *predicted = memory_new(all->total_count + 1, sizeof *predicted);
    struct accuracy_time *measured = memory_new(all->total_count + 1, sizeof *measured);
    struct accuracy_pairs sum = {0};
    result_begin_table(result, "choices", "Order of the configurations", CHOICES);
    for (size_t i = 0; i < all->total_count; i++) {
        const char *program = all->totals[i].program;
        int count = 0;
        bool first = true;
        for (size_t k = 0; k < all->total_count; k++) {
            if (strcmp(all->totals[k].program, program) != 0)
                continue;
            first &= k >= i;
            predicted[count] = all->totals[k].predicted;
            measured[count++] = all->totals[k].measured;
        }
        if (!first || count < 2)
            continue;
        const struct accuracy_pairs pairs = accuracy_compare(predicted, measured, count);
        result_row(result);
        result_put_text(result, program);
        result_put_int(result, count);
        result_put_int(result, pairs.pairs);
        result_put_int(result, pairs.ties);
        result_put_int(result, pairs.in_order);
        result_put_number(result, pairs.regret);
        sum.pairs += pairs.pairs;
        sum.in_order += pairs.in_order;
        sum.ties += pairs.ties;
        sum.regret = pairs.regret > sum.regret ? pairs.regret : sum.regret;
    }
    if (sum.pairs > 0)
        result_line(
            result,
            "Pairs of configurations: %d compared; of %d the measured order is not known; of the other %d, %d are in "
            "their measured order. The choice takes at most %.2f times as long as the best.",
            sum.pairs, sum.ties, sum.pairs - sum.ties, sum.in_order, sum.regret);
    free(predicted);
    free(measured);
}

pl_status accuracy_results(const struct analysis_request *request, const struct analysis_input *input,
                           struct result *result, struct pl_error *error)
{
    struct analysis_request selection = *request;
    struct analysis_chosen chosen = {0};
    struct judge_all all = {0};
    bool found = false;
    selection.op = NULL;
    result_line(result, "Predicted and measured times of I/O phases, of calls outside of phases, and of all I/O of a "
                        "program (total).");
    result_begin_table(result, "phases", NULL, PHASES);
    while (analysis_next(&selection, input, &chosen)) {
        if (strcmp(chosen.block->class_name, ACCURACY_CLASS) != 0)
            continue;
        found = true;
        judge_row(result, chosen.block, chosen.set, &all);
    }
    for (chosen = (struct analysis_chosen){0}; analysis_next(&selection, input, &chosen);)
        if (strcmp(chosen.block->class_name, ACCURACY_CLASS) == 0)
            judge_notes(result, chosen.set); /* behind the table, which they would end */
    for (int total = 0; total < 2; total++) {
        const int *verdicts = all.verdicts[total];
        const int judged = verdicts[ACCURACY_WITHIN] + verdicts[ACCURACY_NOISE] + verdicts[ACCURACY_OFF];
        if (judged + verdicts[ACCURACY_UNJUDGED] > 0)
            result_line(result,
                        "%s: %d judged, %d within 10 %%, %d more within 10 %% beyond the noise of both, %d off; %d not "
                        "judged, as their noise is too large or not known.",
                        total ? "Totals" : "Phases and calls of 20 ms and more", judged, verdicts[ACCURACY_WITHIN],
                        verdicts[ACCURACY_NOISE], verdicts[ACCURACY_OFF], verdicts[ACCURACY_UNJUDGED]);
    }
    if (all.total_count > 1)
        judge_choices(result, &all);
    free(all.totals);
    return found ? PL_OK : pl_fail(error, PL_E_INPUT, "no results of bench predict are selected");
}
