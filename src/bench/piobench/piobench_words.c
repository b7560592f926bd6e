/* Findings as sentences, and how they stand to the thesis (COLL-7). */
#include "base/units.h"
#include "bench/piobench/piobench_findings.h"
#include "measure/analysis_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROW_TEXT_MAX = 320 };
static const int64_t THESIS_BUFFER = 1 << 20; /* for each target, of Chapter VI */

struct words {
    const struct piobench_points *list;
    const struct piobench_point *points;
    size_t count;
    struct text *lines;
};

static const char *row_text(const struct words *words, const struct piobench_point *point, char text[ROW_TEXT_MAX])
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

static void tell_spread(const struct words *words, const char *op)
{
    const struct piobench_spread spread = piobench_findings_spread(words->points, words->count, "naive", op);
    if (spread.by_block.mean <= 0 || spread.by_distribution.mean <= 0)
        return;
    char by_block[ANALYSIS_CELL_MAX], by_distribution[ANALYSIS_CELL_MAX];
    const char *verdict = "the intervals are too wide to say which of the two matters more";
    if (spread.by_block.low > spread.by_distribution.high)
        verdict = "the data block size matters more, as in the thesis";
    else if (spread.by_distribution.low > spread.by_block.high)
        verdict = "here the distribution matters more, unlike in the thesis";
    text_format(words->lines,
                "%s, naive: over data block sizes the rate changes by a factor of up to %s, over distributions at the "
                "same size by up to %s: %s.\n",
                op, analysis_cell(spread.by_block.mean, 3, by_block),
                analysis_cell(spread.by_distribution.mean, 3, by_distribution), verdict);
}

/* ---- collective buffering ---- */

static bool is_first_of_row(const struct words *words, size_t at)
{
    const struct piobench_point *point = &words->points[at];
    for (size_t i = 0; i < at; i++) {
        const struct piobench_point *other = &words->points[i];
        if (other->conditions == point->conditions && other->ranks == point->ranks &&
            other->file_bytes == point->file_bytes && strcmp(other->mpi, point->mpi) == 0 &&
            strcmp(other->op, point->op) == 0 && strcmp(other->distribution, point->distribution) == 0)
            return false;
    }
    return true;
}

static void tell_crossover(const struct words *words, const struct piobench_point *like,
                           const struct piobench_crossover *crossover)
{
    char row[ROW_TEXT_MAX], size[UNITS_TEXT_MAX], at[UNITS_TEXT_MAX];
    text_format(words->lines, "%s, %d rank%s: collective buffering ", row_text(words, like, row), like->ranks,
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
    text_format(words->lines, " (at best %.3g times naive: %s with %s)", crossover->gain, crossover->gain_at->algorithm,
                units_binary(crossover->gain_at->block_bytes, at));
    if (crossover->not_from)
        text_format(words->lines, "; from %s on it is not surely faster", units_binary(crossover->not_from, size));
    text_add(words->lines, ".\n");
}

static void tell_buffering(const struct words *words)
{
    double gain = 0;
    int rows = 0;
    for (size_t i = 0; i < words->count; i++) {
        if (!is_first_of_row(words, i))
            continue;
        const struct piobench_crossover crossover = piobench_findings_crossover(words->points, words->count,
                                                                                &words->points[i]);
        if (!crossover.sizes)
            continue;
        rows++;
        tell_crossover(words, &words->points[i], &crossover);
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

static bool is_first_variant(const struct words *words, size_t at)
{
    const struct piobench_point *point = &words->points[at];
    const size_t length = strcspn(point->algorithm, ":");
    for (size_t i = 0; i < at; i++)
        if (piobench_points_same_cell(&words->points[i], point) && words->points[i].buffer_bytes > 0 &&
            strcmp(words->points[i].mpi, point->mpi) == 0 && strcspn(words->points[i].algorithm, ":") == length &&
            strncmp(words->points[i].algorithm, point->algorithm, length) == 0)
            return false;
    return point->buffer_bytes > 0;
}

/* One as large as the thesis' was tried, and is too small. */
static bool is_above_thesis(const struct words *words, const struct piobench_point *like, int64_t needed)
{
    const size_t length = strcspn(like->algorithm, ":");
    for (size_t i = 0; i < words->count; i++) {
        const struct piobench_point *point = &words->points[i];
        if (piobench_points_same_cell(point, like) && strcmp(point->mpi, like->mpi) == 0 &&
            strncmp(point->algorithm, like->algorithm, length + 1) == 0 && point->buffer_bytes >= THESIS_BUFFER &&
            point->buffer_bytes < needed && isfinite(point->rate_mb_per_s))
            return true;
    }
    return false;
}

static void tell_buffers(const struct words *words)
{
    const struct piobench_point *worst = NULL;
    int64_t most = 0, largest = 0;
    int cases = 0, above = 0;
    for (size_t i = 0; i < words->count; i++) {
        largest = words->points[i].buffer_bytes > largest ? words->points[i].buffer_bytes : largest;
        const int64_t needed = is_first_variant(words, i)
                                   ? piobench_findings_buffer(words->points, words->count, &words->points[i])
                                   : 0;
        cases += needed > 0;
        above += needed > THESIS_BUFFER && is_above_thesis(words, &words->points[i], needed);
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
                cases, cases == 1 ? "" : "s", units_binary(most, size), (int)strcspn(worst->algorithm, ":"),
                worst->algorithm, row_text(words, worst, row), units_binary(worst->block_bytes, block), worst->ranks);
    if (above)
        text_format(words->lines, "here it is not in %d of them.\n", above);
    else if (most > THESIS_BUFFER)
        text_add(words->lines, "it was not tried where more is needed here.\n");
    else
        text_add(words->lines, largest > THESIS_BUFFER ? "so it is here.\n" : "larger ones were not measured here.\n");
}

/* ---- negative scaling ---- */

/* Grouping in the cell where the rate has fallen; NULL: not measured. */
static const struct piobench_point *best_grouping(const struct words *words, const struct piobench_point *fallen)
{
    const struct piobench_point *best = NULL;
    for (size_t i = 0; i < words->count; i++) {
        const struct piobench_point *point = &words->points[i];
        if (piobench_points_same_cell(point, fallen) && strcmp(point->mpi, fallen->mpi) == 0 &&
            strncmp(point->algorithm, "node_grouping", 13) == 0 && isfinite(point->rate_mb_per_s) &&
            (!best || point->rate_mb_per_s > best->rate_mb_per_s))
            best = point;
    }
    return best;
}

static void tell_advice(const struct words *words, const struct piobench_scaling *scaling)
{
    char rate[ANALYSIS_CELL_MAX];
    const struct piobench_point *grouping = best_grouping(words, scaling->fallen);
    text_format(words->lines, "; advice: %d rank%s at a time (piolet_strategy=node_grouping, piolet_group_size=%d)",
                scaling->peak->ranks, scaling->peak->ranks == 1 ? "" : "s", scaling->peak->ranks);
    if (grouping)
        text_format(words->lines, "; '%s', measured there, %s: %s MB/s", grouping->algorithm,
                    piobench_findings_faster(grouping, scaling->fallen) ? "is faster" : "is not surely faster",
                    analysis_cell(grouping->rate_mb_per_s, 4, rate));
    if (scaling->fallen->crowded)
        text_format(words->lines, "; %d ranks are more than the cores, which may be the cause", scaling->fallen->ranks);
    text_add(words->lines, ".\n");
}

typedef struct piobench_scaling find_fall(const struct piobench_point *points, size_t count,
                                          const struct piobench_point *like);

/* The falls of one algorithm and operation: how many, and the deepest. */
struct falls {
    int cases;
    struct piobench_scaling deepest;
};

static double depth_of(const struct piobench_scaling *scaling)
{
    return scaling->fallen ? scaling->peak->rate_mb_per_s / scaling->fallen->rate_mb_per_s : 0;
}

static bool is_of_contestant(const struct piobench_point *a, const struct piobench_point *b)
{
    return a->conditions == b->conditions && strcmp(a->algorithm, b->algorithm) == 0 && strcmp(a->op, b->op) == 0 &&
           strcmp(a->mpi, b->mpi) == 0;
}

static struct falls collect_falls(const struct words *words, const struct piobench_point *like, find_fall *find)
{
    struct falls falls = {0};
    for (size_t i = 0; i < words->count; i++) {
        if (!is_of_contestant(&words->points[i], like))
            continue;
        const struct piobench_scaling scaling = find(words->points, words->count, &words->points[i]);
        if (scaling.peak != &words->points[i]) /* each curve once: at its peak */
            continue;
        falls.cases++;
        if (depth_of(&scaling) > depth_of(&falls.deepest))
            falls.deepest = scaling;
    }
    return falls;
}

static void tell_ranks(const struct words *words, const struct piobench_point *like)
{
    char row[ROW_TEXT_MAX], block[UNITS_TEXT_MAX], high[ANALYSIS_CELL_MAX], low[ANALYSIS_CELL_MAX];
    const struct falls falls = collect_falls(words, like, piobench_findings_ranks);
    const struct piobench_point *peak = falls.deepest.peak, *fallen = falls.deepest.fallen;
    if (!peak || !fallen)
        return;
    text_format(words->lines, "Negative scaling, more ranks and less: %s, %s, in %d case%s; most of all ", like->op,
                like->algorithm, falls.cases, falls.cases == 1 ? "" : "s");
    text_format(words->lines, "%s, data blocks of %s: %s MB/s on %d rank%s, %s MB/s on %d", row_text(words, peak, row),
                units_binary(peak->block_bytes, block), analysis_cell(peak->rate_mb_per_s, 4, high), peak->ranks,
                peak->ranks == 1 ? "" : "s", analysis_cell(fallen->rate_mb_per_s, 4, low), fallen->ranks);
    tell_advice(words, &falls.deepest);
}

static void tell_blocks(const struct words *words, const struct piobench_point *like)
{
    char row[ROW_TEXT_MAX], large[UNITS_TEXT_MAX], small[UNITS_TEXT_MAX];
    char high[ANALYSIS_CELL_MAX], low[ANALYSIS_CELL_MAX];
    const struct falls falls = collect_falls(words, like, piobench_findings_blocks);
    const struct piobench_point *peak = falls.deepest.peak, *fallen = falls.deepest.fallen;
    if (!peak || !fallen)
        return;
    text_format(words->lines, "Negative scaling, larger data blocks and less: %s, %s, in %d case%s; most of all ",
                like->op, like->algorithm, falls.cases, falls.cases == 1 ? "" : "s");
    text_format(words->lines,
                "%s, %d rank%s: %s MB/s with %s, %s MB/s with %s; advice: less data at a time "
                "(piolet_strategy=data_grouping).\n",
                row_text(words, peak, row), peak->ranks, peak->ranks == 1 ? "" : "s",
                analysis_cell(peak->rate_mb_per_s, 4, high), units_binary(peak->block_bytes, small),
                analysis_cell(fallen->rate_mb_per_s, 4, low), units_binary(fallen->block_bytes, large));
}

static void tell_scaling(const struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct piobench_point *point = &words->points[i];
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !is_of_contestant(&words->points[k], point);
        /* what grouping could help; the others organise themselves */
        if (!is_first || (strcmp(point->family, "naive") != 0 && strcmp(point->family, "system") != 0))
            continue;
        tell_ranks(words, point);
        tell_blocks(words, point);
    }
}

void piobench_findings_text(const struct piobench_points *points, struct text *ret_lines)
{
    const struct words words = {points, points->points, points->count, ret_lines};
    tell_spread(&words, "write");
    tell_spread(&words, "read");
    tell_buffering(&words);
    tell_buffers(&words);
    tell_scaling(&words);
}
