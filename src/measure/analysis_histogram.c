#include "measure/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values below 2 * SUB have a bucket of their own. Above, a value with its highest bit at p keeps its 10 bits below
 * that one, so a bucket is 1/1024 of its value wide and its middle is at most 1/2048 off. */
enum { SUB_BITS = 10, SUB = 1 << SUB_BITS, BUCKETS = (63 - SUB_BITS + 1) * SUB };

static size_t bucket_of(int64_t value)
{
    if (value < 2 * SUB)
        return value < 0 ? 0 : (size_t)value;
    const int shift = 63 - __builtin_clzll((unsigned long long)value) - SUB_BITS;
    return (size_t)shift * SUB + (size_t)(value >> shift);
}

static double bucket_low(size_t bucket)
{
    if (bucket < 2 * SUB)
        return (double)bucket;
    const int shift = (int)(bucket / SUB) - 1;
    return ldexp((double)(bucket % SUB + SUB), shift);
}

static double bucket_middle(size_t bucket)
{
    if (bucket < 2 * SUB)
        return (double)bucket;
    return (bucket_low(bucket) + bucket_low(bucket + 1) - 1) / 2;
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
        const size_t bucket = bucket_of(values[i]);
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
            return bucket_middle(bucket);
    }
    return bucket_middle(histogram->high - 1);
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
        const double place = log(fmax(bucket_middle(bucket), low) / low) * scale;
        const size_t bin = place < 0 ? 0 : (size_t)place;
        ret_counts[bin < bins ? bin : bins - 1] += count;
    }
}
