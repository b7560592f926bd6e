/* Arithmetic on numbers that come from files: whoever wrote them may have chosen them.
 *
 * Three ways, by what the number is for. checked_*(): a count, a size, a product of turns; false: it is beyond 2^63,
 * and the file is refused. wrapping_*(): an offset or a stride, which is kept exactly modulo 2^64 and never indexes
 * anything. saturating_*(): a sum that is only shown. */
#ifndef PIOLET_BASE_CHECKED_H
#define PIOLET_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool checked_add(int64_t a, int64_t b, int64_t *ret_sum)
{
    return !__builtin_add_overflow(a, b, ret_sum);
}

static inline bool checked_sub(int64_t a, int64_t b, int64_t *ret_difference)
{
    return !__builtin_sub_overflow(a, b, ret_difference);
}

static inline bool checked_mul(int64_t a, int64_t b, int64_t *ret_product)
{
    return !__builtin_mul_overflow(a, b, ret_product);
}

static inline int64_t wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrapping_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrapping_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline int64_t saturating_add(int64_t a, int64_t b)
{
    int64_t sum;
    return checked_add(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t saturating_mul(int64_t a, int64_t b)
{
    int64_t product;
    return checked_mul(a, b, &product) ? product : (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
}

/* A double as a whole number: what does not fit becomes the nearest that does, what is no number 0. */
static inline int64_t saturating_int(double value)
{
    return value >= 0x1p63 ? INT64_MAX : value <= -0x1p63 ? INT64_MIN : value == value ? (int64_t)value : 0;
}

#endif
