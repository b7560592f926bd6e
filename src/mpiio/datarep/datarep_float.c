/* Floating-point formats that differ by more than the order of their bytes. Bits, no arithmetic: neither signals nor
 * the processor's rounding mode have a say. */
#include "mpiio/datarep/datarep_element.h"

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- x87 and binary128 ------------------------------------------------------------------------------------------- */

/* Both have a sign, 15 bits of exponent with the same bias, and then:
 *   x87        the integer bit and 63 bits of fraction
 *   binary128  112 bits of fraction; the integer bit is 1 unless the exponent is 0
 * so one fraction is the other, moved by 49 bits. */
enum { EXPONENT_MAX = 0x7fff, SHIFT = 49, TOP_BITS = 48 };

static const uint64_t INTEGER_BIT = (uint64_t)1 << 63, QUIET_BIT = (uint64_t)1 << 62;

struct extended { /* as the x87 stores it: little-endian, 6 bytes of nothing behind */
    uint64_t significand;
    uint16_t sign_exponent;
};

struct quad {
    uint64_t high, low; /* high: sign, exponent and the first 48 bits of the fraction */
};

static struct quad quad_of(uint16_t sign_exponent, uint64_t fraction63)
{
    return (struct quad){(uint64_t)sign_exponent << TOP_BITS | fraction63 >> (63 - TOP_BITS), fraction63 << SHIFT};
}

static struct quad quad_of_extended(struct extended value)
{
    const uint16_t sign = value.sign_exponent & 0x8000, exponent = value.sign_exponent & EXPONENT_MAX;
    const uint64_t fraction = value.significand & ~INTEGER_BIT;
    const bool has_integer = value.significand & INTEGER_BIT;
    if (exponent != 0 && !has_integer) /* no number since the 80387: the processor itself takes it for a NaN */
        return quad_of(sign | EXPONENT_MAX, QUIET_BIT);
    if (exponent == 0 && has_integer) /* the smallest normal exponent in another dress */
        return quad_of(sign | 1, fraction);
    return quad_of(value.sign_exponent, fraction);
}

static struct extended extended_of_nan(uint16_t sign_exponent, uint64_t fraction)
{
    return (struct extended){INTEGER_BIT | (fraction ? fraction : QUIET_BIT), sign_exponent};
}

/* False where a finite value becomes infinite. */
static bool extended_of_quad(struct quad value, struct extended *ret)
{
    uint16_t sign_exponent = (uint16_t)(value.high >> TOP_BITS);
    const uint16_t exponent = sign_exponent & EXPONENT_MAX;
    const uint64_t top = value.high & (((uint64_t)1 << TOP_BITS) - 1);
    const uint64_t fraction = top << (63 - TOP_BITS) | value.low >> SHIFT;
    const uint64_t rest = value.low << (64 - SHIFT), half = (uint64_t)1 << 63;
    if (exponent == EXPONENT_MAX) {
        const bool is_infinite = top == 0 && value.low == 0;
        *ret = is_infinite ? (struct extended){INTEGER_BIT, sign_exponent} : extended_of_nan(sign_exponent, fraction);
        return true;
    }
    uint64_t significand = (exponent ? INTEGER_BIT : 0) | fraction;
    const bool rounds_up = rest > half || (rest == half && (fraction & 1));
    if (rounds_up && ++significand == 0) { /* carried over the integer bit: the next power of two */
        significand = INTEGER_BIT;
        sign_exponent++;
    } else if (rounds_up && exponent == 0 && (significand & INTEGER_BIT)) {
        sign_exponent++; /* the largest subnormal became the smallest normal number */
    }
    *ret = (struct extended){significand, sign_exponent};
    return (sign_exponent & EXPONENT_MAX) != EXPONENT_MAX;
}

int64_t datarep_encode_extended(const char *from, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        struct extended value;
        memcpy(&value.significand, from + i * 16, 8);
        memcpy(&value.sign_exponent, from + i * 16 + 8, 2);
        const struct quad quad = quad_of_extended(value);
        const uint64_t stored[2] = {htobe64(quad.high), htobe64(quad.low)};
        memcpy(to + i * 16, stored, 16);
    }
    return n;
}

int64_t datarep_decode_extended(const char *from, char *to, int64_t n)
{
    int64_t good = n;
    for (int64_t i = 0; i < n; i++) {
        uint64_t stored[2];
        memcpy(stored, from + i * 16, 16);
        const struct quad quad = {be64toh(stored[0]), be64toh(stored[1])};
        struct extended value;
        if (!extended_of_quad(quad, &value) && good == n)
            good = i;
        memset(to + i * 16, 0, 16);
        memcpy(to + i * 16, &value.significand, 8);
        memcpy(to + i * 16 + 8, &value.sign_exponent, 2);
    }
    return good;
}

/* ---- A REAL that the compiler made eight bytes wide -------------------------------------------------------------- */

int64_t datarep_encode_double_as_single(const char *from, char *to, int64_t n)
{
    int64_t good = n;
    for (int64_t i = 0; i < n; i++) {
        double value;
        uint32_t bits;
        memcpy(&value, from + i * 8, 8);
        const float single = (float)value;
        memcpy(&bits, &single, 4);
        bits = htobe32(bits);
        memcpy(to + i * 4, &bits, 4);
        if (isinf(single) && !isinf(value) && good == n)
            good = i;
    }
    return good;
}

int64_t datarep_decode_double_from_single(const char *from, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        float single;
        memcpy(&bits, from + i * 4, 4);
        bits = be32toh(bits);
        memcpy(&single, &bits, 4);
        const double value = single;
        memcpy(to + i * 8, &value, 8);
    }
    return n;
}
