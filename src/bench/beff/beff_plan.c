#include "bench/beff/beff_plan.h"

#include <math.h>
#include <stdio.h>

int64_t beff_length_max(int64_t memory_bytes)
{
    const int64_t part = memory_bytes / BEFF_MEMORY_PART;
    return part < BEFF_LENGTH_LARGEST ? part : BEFF_LENGTH_LARGEST;
}

void beff_lengths(int64_t length_max, int64_t ret_lengths[BEFF_LENGTHS])
{
    enum { VARIABLE = BEFF_LENGTHS - BEFF_FIXED_LENGTHS };
    for (int i = 0; i < BEFF_FIXED_LENGTHS; i++)
        ret_lengths[i] = (int64_t)1 << i;
    const double longest_fixed = (double)ret_lengths[BEFF_FIXED_LENGTHS - 1];
    for (int i = 1; i < VARIABLE; i++)
        ret_lengths[BEFF_FIXED_LENGTHS - 1 + i] = llround(
            longest_fixed * pow((double)length_max / longest_fixed, (double)i / VARIABLE));
    ret_lengths[BEFF_LENGTHS - 1] = length_max;
}

int64_t beff_loop_next(int64_t loop, double seconds, double target_s)
{
    if (seconds <= target_s)
        return loop;
    const int64_t next = (int64_t)((double)loop * target_s / seconds);
    return next > 1 ? next : 1;
}

int beff_repetitions(double elapsed_s, int done, int left, double time_s)
{
    const double pace_s = done ? elapsed_s / done : 0;
    return elapsed_s + pace_s * left <= time_s ? BEFF_REPETITIONS : 1;
}

/* The standard size of a ring; 0: all processes in one. */
static int standard_size(int pattern, int n)
{
    switch (pattern) {
    case 1:
        return 2;
    case 2:
        return n <= 7 ? n : 4; /* the document: up to 7 processes form one ring */
    case 3:
        return 8;
    case 4:
        return n / 4 > 16 ? n / 4 : 16;
    case 5:
        return n / 2 > 32 ? n / 2 : 32;
    default:
        return n;
    }
}

struct beff_rings beff_rings_of(int pattern, int n)
{
    const int64_t wanted = standard_size(pattern, n);
    const int64_t m = wanted < n ? wanted : n;
    int count = (int)((5 * (int64_t)n + 2 * m) / (5 * m)); /* the whole part of n/m + 0.4 */
    count = count < n / 2 ? count : n / 2;
    count = count > 1 ? count : 1;
    return (struct beff_rings){
        .count = count, .size = n / count, .larger = n % count, .larger_first = n / count % 2 == 1};
}

struct beff_ring beff_ring_at(const struct beff_rings *rings, int position)
{
    const int leading = rings->larger_first ? rings->larger : rings->count - rings->larger;
    const int first_size = rings->size + (rings->larger_first ? 1 : 0);
    const int other_size = rings->size + (rings->larger_first ? 0 : 1);
    const int64_t border = (int64_t)leading * first_size;
    if (position < border)
        return (struct beff_ring){position / first_size * first_size, first_size};
    const int beyond = position - (int)border;
    return (struct beff_ring){(int)border + beyond / other_size * other_size, other_size};
}

const char *beff_rings_text(const struct beff_rings *rings, char text[BEFF_RINGS_TEXT_MAX])
{
    const int equal = rings->count - rings->larger;
    if (rings->larger == 0)
        snprintf(text, BEFF_RINGS_TEXT_MAX, "%d x %d", equal, rings->size);
    else if (rings->larger_first)
        snprintf(text, BEFF_RINGS_TEXT_MAX, "%d x %d + %d x %d", rings->larger, rings->size + 1, equal, rings->size);
    else
        snprintf(text, BEFF_RINGS_TEXT_MAX, "%d x %d + %d x %d", equal, rings->size, rings->larger, rings->size + 1);
    return text;
}
