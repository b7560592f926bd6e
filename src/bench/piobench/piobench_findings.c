/* Comparisons of points. A difference counts only where the 90 % intervals are apart. */
#include "bench/piobench/piobench_findings.h"

#include <math.h>
#include <string.h>

static bool is_measured(const struct piobench_point *point)
{
    return isfinite(point->rate_mb_per_s);
}

bool piobench_findings_faster(const struct piobench_point *a, const struct piobench_point *b)
{
    return a->rate_mb_per_s - a->error_mb_per_s > b->rate_mb_per_s + b->error_mb_per_s; /* false with NaN */
}

/* ---- block size against distribution ---- */

static bool is_like(const struct piobench_point *a, const struct piobench_point *b)
{
    return a->conditions == b->conditions && a->ranks == b->ranks && a->file_bytes == b->file_bytes &&
           strcmp(a->mpi, b->mpi) == 0 && strcmp(a->op, b->op) == 0 && strcmp(a->algorithm, b->algorithm) == 0;
}

static double error_of(const struct piobench_point *point)
{
    return isfinite(point->error_mb_per_s) ? point->error_mb_per_s : INFINITY; /* one trial: it may be anything */
}

static void widen(struct piobench_factor *factor, const struct piobench_point *a, const struct piobench_point *b)
{
    const double mean = a->rate_mb_per_s / b->rate_mb_per_s, least = b->rate_mb_per_s - error_of(b);
    if (mean <= factor->mean)
        return;
    factor->mean = mean;
    factor->low = fmax(0, (a->rate_mb_per_s - error_of(a)) / (b->rate_mb_per_s + error_of(b)));
    factor->high = least > 0 ? (a->rate_mb_per_s + error_of(a)) / least : INFINITY;
}

struct piobench_spread piobench_findings_spread(const struct piobench_point *points, size_t count,
                                                const char *algorithm, const char *op)
{
    struct piobench_spread spread = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            const struct piobench_point *a = &points[i], *b = &points[j];
            if (i == j || !is_measured(a) || !is_measured(b) || strcmp(a->algorithm, algorithm) != 0 ||
                strcmp(a->op, op) != 0 || !is_like(a, b))
                continue;
            const bool same_distribution = strcmp(a->distribution, b->distribution) == 0;
            if (same_distribution && a->block_bytes != b->block_bytes)
                widen(&spread.by_block, a, b);
            if (!same_distribution && a->block_bytes == b->block_bytes)
                widen(&spread.by_distribution, a, b);
        }
    return spread;
}

/* ---- where collective buffering pays ---- */

static bool is_in_row(const struct piobench_point *point, const struct piobench_point *like)
{
    return point->conditions == like->conditions && point->ranks == like->ranks &&
           point->file_bytes == like->file_bytes && strcmp(point->mpi, like->mpi) == 0 &&
           strcmp(point->op, like->op) == 0 && strcmp(point->distribution, like->distribution) == 0;
}

/* The fastest that buffers, with this data block size. */
static const struct piobench_point *best_buffering(const struct piobench_point *points, size_t count,
                                                   const struct piobench_point *naive)
{
    const struct piobench_point *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (is_in_row(&points[i], naive) && points[i].block_bytes == naive->block_bytes && is_measured(&points[i]) &&
            !points[i].warning && strcmp(points[i].family, "buffering") == 0 &&
            (!best || points[i].rate_mb_per_s > best->rate_mb_per_s))
            best = &points[i];
    return best;
}

/* The naive point with the smallest data block above `above`. */
static const struct piobench_point *next_naive(const struct piobench_point *points, size_t count,
                                               const struct piobench_point *like, int64_t above)
{
    const struct piobench_point *next = NULL;
    for (size_t i = 0; i < count; i++)
        if (is_in_row(&points[i], like) && strcmp(points[i].family, "naive") == 0 && is_measured(&points[i]) &&
            points[i].block_bytes > above && (!next || points[i].block_bytes < next->block_bytes))
            next = &points[i];
    return next;
}

struct piobench_crossover piobench_findings_crossover(const struct piobench_point *points, size_t count,
                                                      const struct piobench_point *like)
{
    struct piobench_crossover crossover = {0};
    bool pays_so_far = true;
    const struct piobench_point *naive = NULL;
    while ((naive = next_naive(points, count, like, naive ? naive->block_bytes : 0))) {
        const struct piobench_point *best = best_buffering(points, count, naive);
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

static bool is_variant(const struct piobench_point *point, const struct piobench_point *like)
{
    const size_t length = strcspn(like->algorithm, ":");
    return piobench_points_same_cell(point, like) && strcmp(point->mpi, like->mpi) == 0 && is_measured(point) &&
           point->buffer_bytes > 0 && strcspn(point->algorithm, ":") == length &&
           strncmp(point->algorithm, like->algorithm, length) == 0;
}

int64_t piobench_findings_buffer(const struct piobench_point *points, size_t count, const struct piobench_point *like)
{
    static const double enough = 0.9;
    const struct piobench_point *best = NULL;
    int variants = 0;
    for (size_t i = 0; i < count; i++)
        if (is_variant(&points[i], like)) {
            variants++;
            best = !best || points[i].rate_mb_per_s > best->rate_mb_per_s ? &points[i] : best;
        }
    int64_t smallest = 0;
    for (size_t i = 0; i < count && best; i++)
        if (is_variant(&points[i], like) &&
            points[i].rate_mb_per_s + error_of(&points[i]) >= enough * (best->rate_mb_per_s - error_of(best)) &&
            (!smallest || points[i].buffer_bytes < smallest))
            smallest = points[i].buffer_bytes;
    return variants < 2 || !isfinite(best->error_mb_per_s) ? 0 : smallest;
}

/* ---- negative scaling ---- */

typedef int64_t measure(const struct piobench_point *point);

static int64_t ranks_of(const struct piobench_point *point)
{
    return point->ranks;
}

static int64_t block_of(const struct piobench_point *point)
{
    return point->block_bytes;
}

static bool is_on_curve(const struct piobench_point *point, const struct piobench_point *like, measure *x)
{
    return is_measured(point) && point->conditions == like->conditions && point->file_bytes == like->file_bytes &&
           strcmp(point->mpi, like->mpi) == 0 && strcmp(point->op, like->op) == 0 &&
           strcmp(point->distribution, like->distribution) == 0 && strcmp(point->algorithm, like->algorithm) == 0 &&
           (x == ranks_of ? point->block_asked_bytes == like->block_asked_bytes : point->ranks == like->ranks);
}

static struct piobench_scaling find_fall(const struct piobench_point *points, size_t count,
                                         const struct piobench_point *like, measure *x)
{
    struct piobench_scaling scaling = {0};
    for (size_t i = 0; i < count; i++)
        if (is_on_curve(&points[i], like, x) &&
            (!scaling.peak || points[i].rate_mb_per_s > scaling.peak->rate_mb_per_s))
            scaling.peak = &points[i];
    for (size_t i = 0; i < count && scaling.peak; i++)
        if (is_on_curve(&points[i], like, x) && x(&points[i]) > x(scaling.peak) &&
            piobench_findings_faster(scaling.peak, &points[i]) &&
            (!scaling.fallen || points[i].rate_mb_per_s < scaling.fallen->rate_mb_per_s))
            scaling.fallen = &points[i];
    return scaling.fallen ? scaling : (struct piobench_scaling){0};
}

struct piobench_scaling piobench_findings_ranks(const struct piobench_point *points, size_t count,
                                                const struct piobench_point *like)
{
    return find_fall(points, count, like, ranks_of);
}

struct piobench_scaling piobench_findings_blocks(const struct piobench_point *points, size_t count,
                                                 const struct piobench_point *like)
{
    return find_fall(points, count, like, block_of);
}
