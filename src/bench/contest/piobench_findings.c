/* What the points mean: comparisons, the sentences that tell them, and how they stand to the thesis (COLL-7). A
 * difference counts only where the 90 % intervals are apart. */
#include "bench/contest/piobench.h"

#include "base/units.h"
#include "lab/show/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool findings_is_measured(const struct contest_point *point)
{
    return isfinite(point->rate_mb_per_s);
}

bool piobench_findings_faster(const struct contest_point *a, const struct contest_point *b)
{
    return a->rate_mb_per_s - a->error_mb_per_s > b->rate_mb_per_s + b->error_mb_per_s; /* false with NaN */
}

/* ---- block size against distribution ---- */

static bool findings_is_like(const struct contest_point *a, const struct contest_point *b)
{
    return a->conditions == b->conditions && a->ranks == b->ranks && a->file_bytes == b->file_bytes &&
           strcmp(a->mpi, b->mpi) == 0 && strcmp(a->op, b->op) == 0 && strcmp(a->contestant, b->contestant) == 0;
}

static double findings_error_of(const struct contest_point *point)
{
    return isfinite(point->error_mb_per_s) ? point->error_mb_per_s : INFINITY; /* one trial: it may be anything */
}

static void findings_widen(struct piobench_factor *factor, const struct contest_point *a, const struct contest_point *b)
{
    const double mean = a->rate_mb_per_s / b->rate_mb_per_s, least = b->rate_mb_per_s - findings_error_of(b);
    if (mean <= factor->mean)
        return;
    factor->mean = mean;
    factor->low = fmax(0, (a->rate_mb_per_s - findings_error_of(a)) / (b->rate_mb_per_s + findings_error_of(b)));
    factor->high = least > 0 ? (a->rate_mb_per_s + findings_error_of(a)) / least : INFINITY;
}

struct piobench_spread piobench_findings_spread(const struct contest_point *points, size_t count, const char *algorithm,
                                                const char *op)
{
    struct piobench_spread spread = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            const struct contest_point *a = &points[i], *b = &points[j];
            if (i == j || !findings_is_measured(a) || !findings_is_measured(b) ||
                strcmp(a->contestant, algorithm) != 0 || strcmp(a->op, op) != 0 || !findings_is_like(a, b))
                continue;
            const bool same_distribution = strcmp(a->distribution, b->distribution) == 0;
            if (same_distribution && a->block_bytes != b->block_bytes)
                findings_widen(&spread.by_block, a, b);
            if (!same_distribution && a->block_bytes == b->block_bytes)
                findings_widen(&spread.by_distribution, a, b);
        }
    return spread;
}

/* ---- where collective buffering pays ---- */

static bool findings_is_in_row(const struct contest_point *point, const struct contest_point *like)
{
    return point->conditions == like->conditions && point->ranks == like->ranks &&
           point->file_bytes == like->file_bytes && strcmp(point->mpi, like->mpi) == 0 &&
           strcmp(point->op, like->op) == 0 && strcmp(point->distribution, like->distribution) == 0;
}

/* The fastest that buffers, with this data block size. */
static const struct contest_point *findings_best_buffering(const struct contest_point *points, size_t count,
                                                           const struct contest_point *naive)
{
    const struct contest_point *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (findings_is_in_row(&points[i], naive) && points[i].block_bytes == naive->block_bytes &&
            findings_is_measured(&points[i]) && !points[i].warning && strcmp(points[i].family, "buffering") == 0 &&
            (!best || points[i].rate_mb_per_s > best->rate_mb_per_s))
            best = &points[i];
    return best;
}

/* The naive point with the smallest data block above `above`. */
static const struct contest_point *findings_next_naive(const struct contest_point *points, size_t count,
                                                       const struct contest_point *like, int64_t above)
{
    const struct contest_point *next = NULL;
    for (size_t i = 0; i < count; i++)
        if (findings_is_in_row(&points[i], like) && strcmp(points[i].family, "naive") == 0 &&
            findings_is_measured(&points[i]) && points[i].block_bytes > above &&
            (!next || points[i].block_bytes < next->block_bytes))
            next = &points[i];
    return next;
}

struct piobench_crossover piobench_findings_crossover(const struct contest_point *points, size_t count,
                                                      const struct contest_point *like)
{
    struct piobench_crossover crossover = {0};
    bool pays_so_far = true;
    const struct contest_point *naive = NULL;
    while ((naive = findings_next_naive(points, count, like, naive ? naive->block_bytes : 0))) {
        const struct contest_point *best = findings_best_buffering(points, count, naive);
        if (!best)
            continue;
        const bool pays = piobench_findings_faster(best, naive);
        pays_so_far = pays_so_far && pays;
        if (pays_so_far)
            crossover.pays_up_to = naive->block_bytes;
        crossover.sizes++;
        if (pays)
            crossover.not_from = 0;
        else if (!crossover.not_from)
            crossover.not_from = naive->block_bytes;
        const double gain = best->rate_mb_per_s / naive->rate_mb_per_s;
        if (pays && gain > crossover.gain) {
            crossover.gain = gain;
            crossover.gain_at = best;
        }
    }
    return crossover;
}

/* ---- buffer space ---- */

static bool findings_is_variant(const struct contest_point *point, const struct contest_point *like)
{
    const size_t length = strcspn(like->contestant, ":");
    return piobench_same_cell(point, like) && strcmp(point->mpi, like->mpi) == 0 && findings_is_measured(point) &&
           point->buffer_bytes > 0 && strcspn(point->contestant, ":") == length &&
           strncmp(point->contestant, like->contestant, length) == 0;
}

int64_t piobench_findings_buffer(const struct contest_point *points, size_t count, const struct contest_point *like)
{
    static const double enough = 0.9;
    const struct contest_point *best = NULL;
    int variants = 0;
    for (size_t i = 0; i < count; i++)
        if (findings_is_variant(&points[i], like)) {
            variants++;
            best = !best || points[i].rate_mb_per_s > best->rate_mb_per_s ? &points[i] : best;
        }
    int64_t smallest = 0;
    for (size_t i = 0; i < count && best; i++)
        if (findings_is_variant(&points[i], like) &&
            points[i].rate_mb_per_s + findings_error_of(&points[i]) >=
                enough * (best->rate_mb_per_s - findings_error_of(best)) &&
            (!smallest || points[i].buffer_bytes < smallest))
            smallest = points[i].buffer_bytes;
    return variants < 2 || !isfinite(best->error_mb_per_s) ? 0 : smallest;
}

/* ---- negative scaling ---- */

typedef int64_t findings_measure(const struct contest_point *point);

static int64_t findings_ranks_of(const struct contest_point *point)
{
    return point->ranks;
}

static int64_t findings_block_of(const struct contest_point *point)
{
    return point->block_bytes;
}

/* Cells of one rank are on no curve, as they are no part of the headline: nothing is collective about them. */
static bool findings_is_on_curve(const struct contest_point *point, const struct contest_point *like,
                                 findings_measure *x)
{
    return point->ranks > 1 && findings_is_measured(point) && point->conditions == like->conditions &&
           point->file_bytes == like->file_bytes && strcmp(point->mpi, like->mpi) == 0 &&
           strcmp(point->op, like->op) == 0 && strcmp(point->distribution, like->distribution) == 0 &&
           strcmp(point->contestant, like->contestant) == 0 &&
           (x == findings_ranks_of ? point->block_asked_bytes == like->block_asked_bytes : point->ranks == like->ranks);
}

static struct piobench_scaling findings_find_fall(const struct contest_point *points, size_t count,
                                                  const struct contest_point *like, findings_measure *x)
{
    struct piobench_scaling scaling = {0};
    for (size_t i = 0; i < count; i++)
        if (findings_is_on_curve(&points[i], like, x) &&
            (!scaling.peak || points[i].rate_mb_per_s > scaling.peak->rate_mb_per_s))
            scaling.peak = &points[i];
    for (size_t i = 0; i < count && scaling.peak; i++)
        if (findings_is_on_curve(&points[i], like, x) && x(&points[i]) > x(scaling.peak) &&
            piobench_findings_faster(scaling.peak, &points[i]) &&
            (!scaling.fallen || points[i].rate_mb_per_s < scaling.fallen->rate_mb_per_s))
            scaling.fallen = &points[i];
    return scaling.fallen ? scaling : (struct piobench_scaling){0};
}

struct piobench_scaling piobench_findings_ranks(const struct contest_point *points, size_t count,
                                                const struct contest_point *like)
{
    return findings_find_fall(points, count, like, findings_ranks_of);
}

struct piobench_scaling piobench_findings_blocks(const struct contest_point *points, size_t count,
                                                 const struct contest_point *like)
{
    return findings_find_fall(points, count, like, findings_block_of);
}

/* ---- in words ---- */

enum { ROW_TEXT_MAX = 320 };
static const int64_t THESIS_BUFFER = 1 << 20; /* for each target, of Chapter VI */

struct findings_words {
    const struct contest_points *list;
    const struct contest_point *points;
    size_t count;
    struct text *lines;
};

static const char *findings_row_text(const struct findings_words *words, const struct contest_point *point,
                                     char text[ROW_TEXT_MAX])
{
    char file[UNITS_TEXT_MAX];
    const bool mpi = words->list->has_many_mpis;
    char conditions[CONDITIONS_LABEL_MAX];
    snprintf(text, ROW_TEXT_MAX, "%s%s%s %.160s, file %s%s", mpi ? point->mpi : "", mpi ? " " : "", point->op,
             point->distribution, units_binary(point->file_bytes, file),
             conditions_label(&words->list->conditions, point->conditions, conditions));
    return text;
}

/* ---- block size against distribution ---- */

static void findings_tell_spread(const struct findings_words *words, const char *op)
{
    const struct piobench_spread spread = piobench_findings_spread(words->points, words->count, "naive", op);
    if (spread.by_block.mean <= 0 || spread.by_distribution.mean <= 0)
        return;
    char by_block[SHOW_CELL_MAX], by_distribution[SHOW_CELL_MAX];
    const char *verdict = "the intervals are too wide to say which of the two matters more";
    if (spread.by_block.low > spread.by_distribution.high)
        verdict = "the data block size matters more, as in the thesis";
    else if (spread.by_distribution.low > spread.by_block.high)
        verdict = "here the distribution matters more, unlike in the thesis";
    text_format(words->lines,
                "%s, naive: over data block sizes the rate changes by a factor of up to %s, over distributions at the "
                "same size by up to %s: %s.\n",
                op, show_cell(spread.by_block.mean, 3, by_block),
                show_cell(spread.by_distribution.mean, 3, by_distribution), verdict);
}

/* ---- collective buffering ---- */

static bool findings_is_first_of_row(const struct findings_words *words, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (findings_is_in_row(&words->points[i], &words->points[at]))
            return false;
    return true;
}

static void findings_tell_crossover(const struct findings_words *words, const struct contest_point *like,
                                    const struct piobench_crossover *crossover)
{
    char row[ROW_TEXT_MAX], size[UNITS_TEXT_MAX], at[UNITS_TEXT_MAX];
    text_format(words->lines, "%s, %d rank%s: collective buffering ", findings_row_text(words, like, row), like->ranks,
                like->ranks == 1 ? "" : "s");
    if (!crossover->gain_at) {
        text_format(words->lines, "is not surely faster than naive%s.\n",
                    crossover->sizes > 1 ? " with any data block size" : "");
        return;
    }
    if (crossover->pays_up_to)
        text_format(words->lines, "pays up to data blocks of %s", units_binary(crossover->pays_up_to, size));
    else
        text_add(words->lines, "is not surely faster with the smallest data block measured");
    text_format(words->lines, " (at best %.3g times naive: %s with %s)", crossover->gain,
                crossover->gain_at->contestant, units_binary(crossover->gain_at->block_bytes, at));
    if (crossover->not_from)
        text_format(words->lines, "; from %s on it is not surely faster", units_binary(crossover->not_from, size));
    text_add(words->lines, ".\n");
}

static void findings_tell_buffering(const struct findings_words *words)
{
    double gain = 0;
    int rows = 0;
    for (size_t i = 0; i < words->count; i++) {
        if (!findings_is_first_of_row(words, i))
            continue;
        const struct piobench_crossover crossover = piobench_findings_crossover(words->points, words->count,
                                                                                &words->points[i]);
        if (!crossover.sizes)
            continue;
        findings_tell_crossover(words, &words->points[i], &crossover);
        if (words->points[i].ranks == 1) /* nothing is collective about it: no part of the headline */
            continue;
        rows++;
        gain = fmax(gain, crossover.gain);
    }
    static const char thesis[] = "the thesis found up to two orders of magnitude with the smallest data blocks";
    if (gain > 0)
        text_format(words->lines, "Collective buffering reaches at most %.3g times naive; %s: %s.\n", gain, thesis,
                    gain >= 100 ? "so it is here" : "it is less here");
    else if (rows)
        text_format(words->lines, "Collective buffering is surely faster than naive nowhere; %s.\n", thesis);
}

/* ---- buffers ---- */

static bool findings_is_first_variant(const struct findings_words *words, size_t at)
{
    const struct contest_point *point = &words->points[at];
    const size_t length = strcspn(point->contestant, ":");
    for (size_t i = 0; i < at; i++)
        if (piobench_same_cell(&words->points[i], point) && words->points[i].buffer_bytes > 0 &&
            strcmp(words->points[i].mpi, point->mpi) == 0 && strcspn(words->points[i].contestant, ":") == length &&
            strncmp(words->points[i].contestant, point->contestant, length) == 0)
            return false;
    return point->buffer_bytes > 0;
}

/* One as large as the thesis' was tried, and is too small. */
static bool findings_is_above_thesis(const struct findings_words *words, const struct contest_point *like,
                                     int64_t needed)
{
    const size_t length = strcspn(like->contestant, ":");
    for (size_t i = 0; i < words->count; i++) {
        const struct contest_point *point = &words->points[i];
        if (piobench_same_cell(point, like) && strcmp(point->mpi, like->mpi) == 0 &&
            strncmp(point->contestant, like->contestant, length + 1) == 0 && point->buffer_bytes >= THESIS_BUFFER &&
            point->buffer_bytes < needed && isfinite(point->rate_mb_per_s))
            return true;
    }
    return false;
}

static void findings_tell_buffers(const struct findings_words *words)
{
    const struct contest_point *worst = NULL;
    int64_t most = 0, largest = 0;
    int cases = 0, above = 0;
    for (size_t i = 0; i < words->count; i++) {
        largest = words->points[i].buffer_bytes > largest ? words->points[i].buffer_bytes : largest;
        const int64_t needed = findings_is_first_variant(words, i)
                                   ? piobench_findings_buffer(words->points, words->count, &words->points[i])
                                   : 0;
        cases += needed > 0;
        above += needed > THESIS_BUFFER && findings_is_above_thesis(words, &words->points[i], needed);
        if (needed > most) {
            most = needed;
            worst = &words->points[i];
        }
    }
    if (!worst)
        return;
    char size[UNITS_TEXT_MAX], block[UNITS_TEXT_MAX], row[ROW_TEXT_MAX];
    text_format(words->lines,
                "Buffers: in %d case%s, 90 %% of the best rate needs %s at most, as far as the intervals tell (%.*s, "
                "%s, %s, %d ranks). The thesis found 1 MB for each target enough: ",
                cases, cases == 1 ? "" : "s", units_binary(most, size), (int)strcspn(worst->contestant, ":"),
                worst->contestant, findings_row_text(words, worst, row), units_binary(worst->block_bytes, block),
                worst->ranks);
    if (above)
        text_format(words->lines, "here it is not in %d of them.\n", above);
    else if (most > THESIS_BUFFER)
        text_add(words->lines, "it was not tried where more is needed here.\n");
    else
        text_add(words->lines, largest > THESIS_BUFFER ? "so it is here.\n" : "larger ones were not measured here.\n");
}

/* ---- negative scaling ---- */

/* Grouping in the cell where the rate has fallen; NULL: not measured. */
static const struct contest_point *findings_best_grouping(const struct findings_words *words,
                                                          const struct contest_point *fallen)
{
    const struct contest_point *best = NULL;
    for (size_t i = 0; i < words->count; i++) {
        const struct contest_point *point = &words->points[i];
        if (piobench_same_cell(point, fallen) && strcmp(point->mpi, fallen->mpi) == 0 &&
            strncmp(point->contestant, "node_grouping", 13) == 0 && isfinite(point->rate_mb_per_s) &&
            (!best || point->rate_mb_per_s > best->rate_mb_per_s))
            best = point;
    }
    return best;
}

static void findings_tell_advice(const struct findings_words *words, const struct piobench_scaling *scaling)
{
    char rate[SHOW_CELL_MAX];
    const struct contest_point *grouping = findings_best_grouping(words, scaling->fallen);
    text_format(words->lines, "; advice: %d rank%s at a time (piolet_strategy=node_grouping, piolet_group_size=%d)",
                scaling->peak->ranks, scaling->peak->ranks == 1 ? "" : "s", scaling->peak->ranks);
    if (grouping)
        text_format(words->lines, "; '%s', measured there, %s: %s MB/s", grouping->contestant,
                    piobench_findings_faster(grouping, scaling->fallen) ? "is faster" : "is not surely faster",
                    show_cell(grouping->rate_mb_per_s, 4, rate));
    if (scaling->fallen->crowded)
        text_format(words->lines, "; %d ranks are more than the cores, which may be the cause", scaling->fallen->ranks);
    text_add(words->lines, ".\n");
}

typedef struct piobench_scaling findings_finder(const struct contest_point *points, size_t count,
                                                const struct contest_point *like);

/* The falls of one algorithm and operation: how many, and the deepest. */
struct findings_falls {
    int cases;
    struct piobench_scaling deepest;
};

static double findings_depth_of(const struct piobench_scaling *scaling)
{
    return scaling->fallen ? scaling->peak->rate_mb_per_s / scaling->fallen->rate_mb_per_s : 0;
}

static bool findings_is_of_contestant(const struct contest_point *a, const struct contest_point *b)
{
    return a->conditions == b->conditions && strcmp(a->contestant, b->contestant) == 0 && strcmp(a->op, b->op) == 0 &&
           strcmp(a->mpi, b->mpi) == 0;
}

static struct findings_falls findings_collect_falls(const struct findings_words *words,
                                                    const struct contest_point *like, findings_finder *find)
{
    struct findings_falls falls = {0};
    for (size_t i = 0; i < words->count; i++) {
        if (!findings_is_of_contestant(&words->points[i], like))
            continue;
        const struct piobench_scaling scaling = find(words->points, words->count, &words->points[i]);
        if (scaling.peak != &words->points[i]) /* each curve once: at its peak */
            continue;
        falls.cases++;
        if (findings_depth_of(&scaling) > findings_depth_of(&falls.deepest))
            falls.deepest = scaling;
    }
    return falls;
}

static void findings_tell_ranks(const struct findings_words *words, const struct contest_point *like)
{
    char row[ROW_TEXT_MAX], block[UNITS_TEXT_MAX], high[SHOW_CELL_MAX], low[SHOW_CELL_MAX];
    const struct findings_falls falls = findings_collect_falls(words, like, piobench_findings_ranks);
    const struct contest_point *peak = falls.deepest.peak, *fallen = falls.deepest.fallen;
    if (!peak || !fallen)
        return;
    text_format(words->lines, "Negative scaling, more ranks and less: %s, %s, in %d case%s; most of all ", like->op,
                like->contestant, falls.cases, falls.cases == 1 ? "" : "s");
    text_format(words->lines, "%s, data blocks of %s: %s MB/s on %d rank%s, %s MB/s on %d",
                findings_row_text(words, peak, row), units_binary(peak->block_bytes, block),
                show_cell(peak->rate_mb_per_s, 4, high), peak->ranks, peak->ranks == 1 ? "" : "s",
                show_cell(fallen->rate_mb_per_s, 4, low), fallen->ranks);
    findings_tell_advice(words, &falls.deepest);
}

static void findings_tell_blocks(const struct findings_words *words, const struct contest_point *like)
{
    char row[ROW_TEXT_MAX], large[UNITS_TEXT_MAX], small[UNITS_TEXT_MAX];
    char high[SHOW_CELL_MAX], low[SHOW_CELL_MAX];
    const struct findings_falls falls = findings_collect_falls(words, like, piobench_findings_blocks);
    const struct contest_point *peak = falls.deepest.peak, *fallen = falls.deepest.fallen;
    if (!peak || !fallen)
        return;
    text_format(words->lines, "Negative scaling, larger data blocks and less: %s, %s, in %d case%s; most of all ",
                like->op, like->contestant, falls.cases, falls.cases == 1 ? "" : "s");
    text_format(words->lines,
                "%s, %d rank%s: %s MB/s with %s, %s MB/s with %s; advice: less data at a time "
                "(piolet_strategy=data_grouping).\n",
                findings_row_text(words, peak, row), peak->ranks, peak->ranks == 1 ? "" : "s",
                show_cell(peak->rate_mb_per_s, 4, high), units_binary(peak->block_bytes, small),
                show_cell(fallen->rate_mb_per_s, 4, low), units_binary(fallen->block_bytes, large));
}

static void findings_tell_scaling(const struct findings_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct contest_point *point = &words->points[i];
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !findings_is_of_contestant(&words->points[k], point);
        /* what grouping could help; the others organise themselves */
        if (!is_first || (strcmp(point->family, "naive") != 0 && strcmp(point->family, "system") != 0))
            continue;
        findings_tell_ranks(words, point);
        findings_tell_blocks(words, point);
    }
}

void piobench_findings_text(const struct contest_points *points, struct text *ret_lines)
{
    const struct findings_words words = {points, points->points, points->count, ret_lines};
    findings_tell_spread(&words, "write");
    findings_tell_spread(&words, "read");
    findings_tell_buffering(&words);
    findings_tell_buffers(&words);
    findings_tell_scaling(&words);
}
