#include "lab/result/analysis.h"

#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct analysis_region analysis_region_cut(struct analysis_region region, int64_t count)
{
    if (region.from < 0)
        region.from = 0;
    if (region.to > count - 1)
        region.to = count - 1;
    return region;
}

int64_t analysis_region_count(const struct analysis_region *region)
{
    /* from and skip may both be huge: compare before adding */
    if (region->to < region->from || region->to - region->from < region->skip)
        return 0;
    return region->to - region->from - region->skip + 1;
}

/* ---- one series ---- */

void analysis_series_begin(struct analysis_series *series, struct analysis_region region,
                           struct analysis_histogram *histogram)
{
    const int64_t count = analysis_region_count(&region);
    *series = (struct analysis_series){.region = region, .histogram = histogram};
    series->batches.count = (int)(count < ANALYSIS_BATCHES ? count : ANALYSIS_BATCHES);
    if (histogram)
        analysis_histogram_reset(histogram);
}

/* First operation of batch `i` when `count` are cut into `batches`: as equal as whole numbers allow. */
static int64_t analysis_batch_start(int64_t i, int64_t count, int64_t batches)
{
    return i * (count / batches) + i * (count % batches) / batches;
}

/* Adds a run to mean and m2: exact within the run, then combined, which keeps precision over 10^9 values. */
static void analysis_add_moments(struct analysis_series *series, const int64_t *values, size_t count)
{
    double sum = 0;
    int64_t min = values[0];
    int64_t max = values[0];
    for (size_t i = 0; i < count; i++) {
        sum += (double)values[i];
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    const double mean = sum / (double)count;
    double m2 = 0;
    for (size_t i = 0; i < count; i++)
        m2 += ((double)values[i] - mean) * ((double)values[i] - mean);
    const double before = (double)series->n;
    const double after = before + (double)count;
    const double delta = mean - series->mean;
    series->m2 += m2 + delta * delta * before * (double)count / after;
    series->mean += delta * (double)count / after;
    series->min = series->n == 0 || min < series->min ? min : series->min;
    series->max = series->n == 0 || max > series->max ? max : series->max;
    series->sum += sum;
    series->n += (int64_t)count;
}

static void analysis_add_batches(struct analysis_series *series, int64_t at, const int64_t *values, size_t count)
{
    struct analysis_batches *batches = &series->batches;
    const int64_t total = analysis_region_count(&series->region);
    for (size_t i = 0; i < count;) {
        const int64_t position = at + (int64_t)i;
        int b = (int)((double)position / (double)total * batches->count);
        while (b > 0 && analysis_batch_start(b, total, batches->count) > position)
            b--;
        while (b + 1 < batches->count && analysis_batch_start(b + 1, total, batches->count) <= position)
            b++;
        const int64_t end = analysis_batch_start(b + 1, total, batches->count) - at;
        double sum = 0;
        const size_t start = i;
        for (; i < count && (int64_t)i < end; i++)
            sum += (double)values[i];
        batches->sum[b] += sum;
        batches->n[b] += (double)(i - start);
    }
}

static void analysis_add_octaves(struct analysis_series *series, int64_t at, const int64_t *values, size_t count)
{
    /* the first power of two that is not reached yet */
    int octave = 0;
    while (octave < ANALYSIS_OCTAVES - 1 && ((int64_t)1 << octave) <= at)
        octave++;
    if (at == 0)
        series->drawn_min = series->drawn_max = values[0];
    for (size_t i = 0; i < count; i++) {
        series->drawn_min = values[i] < series->drawn_min ? values[i] : series->drawn_min;
        series->drawn_max = values[i] > series->drawn_max ? values[i] : series->drawn_max;
        series->octave_sum += (double)values[i];
        if (at + (int64_t)i + 1 == (int64_t)1 << octave)
            series->octaves[octave++] = series->octave_sum;
    }
}

/* Cuts [first, first + count) to [from, to]; returns how many are left, the first of them at *ret_offset. */
static size_t analysis_overlap_of(int64_t first, size_t count, int64_t from, int64_t to, size_t *ret_offset)
{
    const int64_t begin = first > from ? first : from;
    const int64_t last = first + (int64_t)count - 1 < to ? first + (int64_t)count - 1 : to;
    *ret_offset = (size_t)(begin - first);
    return last < begin ? 0 : (size_t)(last - begin + 1);
}

void analysis_series_take(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct analysis_series *series = context;
    const struct analysis_region *region = &series->region;
    size_t offset;
    size_t length = analysis_overlap_of(first, count, region->from, region->to, &offset);
    if (length)
        analysis_add_octaves(series, first + (int64_t)offset - region->from, values + offset, length);
    if (analysis_region_count(region) == 0)
        return;
    length = analysis_overlap_of(first, count, region->from + region->skip, region->to, &offset);
    if (length == 0)
        return;
    analysis_add_batches(series, first + (int64_t)offset - region->from - region->skip, values + offset, length);
    analysis_add_moments(series, values + offset, length);
    if (series->histogram)
        analysis_histogram_add(series->histogram, values + offset, length);
}

double analysis_series_stddev(const struct analysis_series *series)
{
    return statistics_deviation(series->m2, (size_t)series->n);
}

int analysis_series_octaves(const struct analysis_series *series)
{
    const struct analysis_region *region = &series->region;
    int octaves = 0;
    if (region->to < region->from)
        return 0;
    while (octaves < ANALYSIS_OCTAVES && ((int64_t)1 << octaves) <= region->to - region->from + 1)
        octaves++;
    return octaves;
}

/* ---- means, rates and their errors ---- */

struct analysis_estimate analysis_ratio(const double *top, const double *bottom, int count)
{
    double top_sum = 0;
    double bottom_sum = 0;
    for (int i = 0; i < count; i++) {
        top_sum += top[i];
        bottom_sum += bottom[i];
    }
    if (count < 1 || !(bottom_sum > 0))
        return (struct analysis_estimate){NAN, NAN};
    const double ratio = top_sum / bottom_sum;
    double squares = 0;
    for (int i = 0; i < count; i++)
        squares += (top[i] - ratio * bottom[i]) * (top[i] - ratio * bottom[i]);
    if (count < 2)
        return (struct analysis_estimate){ratio, NAN};
    const double deviation = statistics_deviation(squares * count, (size_t)count) / bottom_sum;
    return (struct analysis_estimate){ratio, statistics_student_t(STATISTICS_LEVEL, count - 1) * deviation};
}

struct analysis_estimate analysis_mean(const double *values, size_t count)
{
    const struct statistics_mean mean = statistics_mean_of(values, count, sizeof *values);
    return (struct analysis_estimate){mean.mean, mean.error};
}

struct analysis_estimate analysis_series_mean(const struct analysis_series *series)
{
    struct analysis_estimate estimate = analysis_ratio(series->batches.sum, series->batches.n, series->batches.count);
    if (series->n)
        estimate.value = series->mean;
    return estimate;
}

struct analysis_estimate analysis_rate(const double *bytes, const double *times_ns, int count, bool asymptotic)
{
    const int first = asymptotic ? count / 2 : 0;
    struct analysis_estimate rate = analysis_ratio(bytes + first, times_ns + first, count - first);
    rate.value *= 1e3; /* bytes a nanosecond → 10^6 bytes a second */
    rate.error *= 1e3;
    return rate;
}

/* ---- start-up ---- */

enum { STARTUP_MIN = 16 };

void analysis_startup_begin(struct analysis_startup *startup, struct analysis_region region)
{
    region.skip = 0;
    *startup = (struct analysis_startup){.from = region.from, .count = analysis_region_count(&region)};
    startup->batches = (int)(startup->count < ANALYSIS_SKIP_BATCHES ? startup->count : ANALYSIS_SKIP_BATCHES);
}

void analysis_startup_take(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct analysis_startup *startup = context;
    size_t offset;
    const size_t length = analysis_overlap_of(first, count, startup->from, startup->from + startup->count - 1, &offset);
    int b = 0;
    for (size_t i = 0; i < length; i++) {
        const int64_t position = first + (int64_t)(offset + i) - startup->from;
        while (b + 1 < startup->batches && analysis_batch_start(b + 1, startup->count, startup->batches) <= position)
            b++;
        startup->sum[b] += (double)values[offset + i];
        startup->n[b] += 1;
    }
}

int64_t analysis_startup_length(const struct analysis_startup *startup)
{
    if (startup->count < STARTUP_MIN)
        return 0;
    const int half = startup->batches / 2;
    double low = INFINITY;
    double high = -INFINITY;
    for (int b = half; b < startup->batches; b++) {
        low = fmin(low, startup->sum[b] / startup->n[b]);
        high = fmax(high, startup->sum[b] / startup->n[b]);
    }
    const double margin = (high - low) / 2;
    int start = half;
    while (start > 0 && startup->sum[start - 1] / startup->n[start - 1] >= low - margin &&
           startup->sum[start - 1] / startup->n[start - 1] <= high + margin)
        start--;
    return analysis_batch_start(start, startup->count, startup->batches);
}

/* ---- overlap ---- */

struct analysis_overlap analysis_overlap(double task, double blocking, double start, double task_in_cycle, double wait)
{
    const double cycle = start + task_in_cycle + wait;
    struct analysis_overlap overlap = {.cycle_ns = cycle, .exposed_ns = cycle - task, .part = NAN};
    const double possible = fmin(blocking, task);
    if (isfinite(blocking) && isfinite(task) && isfinite(cycle) && possible > 0)
        overlap.part = fmax(0, fmin(1, (blocking + task - cycle) / possible));
    return overlap;
}

/* ---- log-linear histogram ---- */

/* Values below 2 * SUB have a bucket of their own. Above, a value with its highest bit at p keeps its 10 bits below
 * that one, so a bucket is 1/1024 of its value wide and its middle is at most 1/2048 off. */
enum { SUB_BITS = 10, SUB = 1 << SUB_BITS, BUCKETS = (63 - SUB_BITS + 1) * SUB };

static size_t histogram_bucket_of(int64_t value)
{
    if (value < 2 * SUB)
        return value < 0 ? 0 : (size_t)value;
    const int shift = 63 - __builtin_clzll((unsigned long long)value) - SUB_BITS;
    return (size_t)shift * SUB + (size_t)(value >> shift);
}

static double histogram_bucket_low(size_t bucket)
{
    if (bucket < 2 * SUB)
        return (double)bucket;
    const int shift = (int)(bucket / SUB) - 1;
    return ldexp((double)(bucket % SUB + SUB), shift);
}

static double histogram_bucket_middle(size_t bucket)
{
    if (bucket < 2 * SUB)
        return (double)bucket;
    return (histogram_bucket_low(bucket) + histogram_bucket_low(bucket + 1) - 1) / 2;
}

bool analysis_histogram_init(struct analysis_histogram *histogram)
{
    *histogram = (struct analysis_histogram){.counts = calloc(BUCKETS, sizeof *histogram->counts), .low = BUCKETS};
    return histogram->counts != NULL;
}

void analysis_histogram_clear(struct analysis_histogram *histogram)
{
    free(histogram->counts);
    *histogram = (struct analysis_histogram){0};
}

void analysis_histogram_reset(struct analysis_histogram *histogram)
{
    if (histogram->high > histogram->low)
        memset(histogram->counts + histogram->low, 0, (histogram->high - histogram->low) * sizeof *histogram->counts);
    histogram->low = BUCKETS;
    histogram->high = 0;
    histogram->total = 0;
}

void analysis_histogram_add(struct analysis_histogram *histogram, const int64_t *values, size_t count)
{
    size_t low = histogram->low;
    size_t high = histogram->high;
    for (size_t i = 0; i < count; i++) {
        const size_t bucket = histogram_bucket_of(values[i]);
        histogram->counts[bucket]++;
        low = bucket < low ? bucket : low;
        high = bucket >= high ? bucket + 1 : high;
    }
    histogram->low = low;
    histogram->high = high;
    histogram->total += count;
}

void analysis_histogram_merge(struct analysis_histogram *histogram, const struct analysis_histogram *other)
{
    for (size_t bucket = other->low; bucket < other->high; bucket++)
        histogram->counts[bucket] += other->counts[bucket];
    histogram->low = other->low < histogram->low ? other->low : histogram->low;
    histogram->high = other->high > histogram->high ? other->high : histogram->high;
    histogram->total += other->total;
}

double analysis_histogram_quantile(const struct analysis_histogram *histogram, double q)
{
    if (histogram->total == 0)
        return NAN;
    uint64_t rank = (uint64_t)ceil(q * (double)histogram->total);
    rank = rank < 1 ? 1 : rank > histogram->total ? histogram->total : rank;
    uint64_t seen = 0;
    for (size_t bucket = histogram->low; bucket < histogram->high; bucket++) {
        seen += histogram->counts[bucket];
        if (seen >= rank)
            return histogram_bucket_middle(bucket);
    }
    return histogram_bucket_middle(histogram->high - 1);
}

void analysis_histogram_log_bins(const struct analysis_histogram *histogram, double low, double high, size_t bins,
                                 double *ret_counts)
{
    for (size_t i = 0; i < bins; i++)
        ret_counts[i] = 0;
    const double scale = (double)bins / log(high / low);
    for (size_t bucket = histogram->low; bucket < histogram->high; bucket++) {
        if (histogram->counts[bucket] == 0)
            continue;
        const double count = (double)histogram->counts[bucket];
        const double place = log(fmax(histogram_bucket_middle(bucket), low) / low) * scale;
        const size_t bin = place < 0 ? 0 : (size_t)place;
        ret_counts[bin < bins ? bin : bins - 1] += count;
    }
}

double analysis_histogram_quantile_in(const struct analysis_histogram *histogram, double q, int64_t min, int64_t max)
{
    const double value = analysis_histogram_quantile(histogram, q);
    return isnan(value) ? NAN : fmin(fmax(value, (double)min), (double)max);
}
