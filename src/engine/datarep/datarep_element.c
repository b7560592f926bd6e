/* Elements between memory and file, a run of one kind at a time. */
#include "engine/datarep/datarep_element.h"

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Floating-point formats that differ by more than the order of their bytes. Bits, no arithmetic: neither signals nor
 * the processor's rounding mode have a say. */

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

/* ---- Same size on both sides: only the order of bytes differs ---------------------------------------------------- */

static int64_t datarep_element_copy_bytes(const char *from, char *to, int64_t n)
{
    memcpy(to, from, (size_t)n);
    return n;
}

/* htobe is its own inverse, so these serve both ways. memcpy, since nothing is aligned. */
#define DEFINE_SWAP(bits)                                                                                              \
    static int64_t swap_##bits(const char *from, char *to, int64_t n)                                                  \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            uint##bits##_t value;                                                                                      \
            memcpy(&value, from + i * (bits / 8), bits / 8);                                                           \
            value = htobe##bits(value);                                                                                \
            memcpy(to + i * (bits / 8), &value, bits / 8);                                                             \
        }                                                                                                              \
        return n;                                                                                                      \
    }
DEFINE_SWAP(16)
DEFINE_SWAP(32)
DEFINE_SWAP(64)

static int64_t swap_128(const char *from, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t half[2];
        memcpy(half, from + i * 16, 16);
        half[0] = htobe64(half[0]);
        half[1] = htobe64(half[1]);
        const int first = BYTE_ORDER == LITTLE_ENDIAN;
        memcpy(to + i * 16, &half[first], 8);
        memcpy(to + i * 16 + 8, &half[1 - first], 8);
    }
    return n;
}

/* ---- Half as many bytes in the file: long, Fortran's INTEGER where it is wide, wide characters ------------------- */

enum { BASIC_PLANE_LAST = 0xffff, REPLACEMENT_CHARACTER = 0xfffd };

/* What the file can hold in the place of a value: that itself where it fits. */
static int64_t keep_signed(int64_t value)
{
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value;
}

static uint64_t keep_unsigned(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : value;
}

static uint32_t keep_wide(uint32_t value)
{
    return value <= BASIC_PLANE_LAST ? value : REPLACEMENT_CHARACTER;
}

/* `native` in memory, `narrow` with its sign, if it has one, in `bits` bits of the file. */
#define DEFINE_NARROW(name, native, narrow, bits)                                                                      \
    static int64_t encode_##name(const char *from, char *to, int64_t n)                                                \
    {                                                                                                                  \
        int64_t good = n;                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            native value;                                                                                              \
            memcpy(&value, from + i * (bits / 4), bits / 4);                                                           \
            const native kept = keep_##name(value);                                                                    \
            const uint##bits##_t stored = htobe##bits((uint##bits##_t)kept);                                           \
            memcpy(to + i * (bits / 8), &stored, bits / 8);                                                            \
            if (kept != value && good == n)                                                                            \
                good = i;                                                                                              \
        }                                                                                                              \
        return good;                                                                                                   \
    }                                                                                                                  \
    static int64_t decode_##name(const char *from, char *to, int64_t n)                                                \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            uint##bits##_t stored;                                                                                     \
            memcpy(&stored, from + i * (bits / 8), bits / 8);                                                          \
            const native value = (narrow)be##bits##toh(stored);                                                        \
            memcpy(to + i * (bits / 4), &value, bits / 4);                                                             \
        }                                                                                                              \
        return n;                                                                                                      \
    }
DEFINE_NARROW(signed, int64_t, int32_t, 32)
DEFINE_NARROW(unsigned, uint64_t, uint32_t, 32)
DEFINE_NARROW(wide, uint32_t, uint16_t, 16)

/* ---- Truth values ------------------------------------------------------------------------------------------------ */

static void convert_truth(const char *from, int from_bytes, char *to, int to_bytes, int last, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        bool is_true = false;
        for (int b = 0; b < from_bytes; b++)
            is_true |= from[i * from_bytes + b] != 0;
        memset(to + i * to_bytes, 0, (size_t)to_bytes);
        to[i * to_bytes + last] = is_true;
    }
}

#define DEFINE_TRUTH(native, file)                                                                                     \
    static int64_t encode_truth_##native##_##file(const char *from, char *to, int64_t n)                               \
    {                                                                                                                  \
        convert_truth(from, native, to, file, file - 1, n);                                                            \
        return n;                                                                                                      \
    }                                                                                                                  \
    static int64_t decode_truth_##native##_##file(const char *from, char *to, int64_t n)                               \
    {                                                                                                                  \
        convert_truth(from, file, to, native, BYTE_ORDER == LITTLE_ENDIAN ? 0 : native - 1, n);                        \
        return n;                                                                                                      \
    }
DEFINE_TRUTH(1, 1)
DEFINE_TRUTH(2, 2)
DEFINE_TRUTH(4, 4)
DEFINE_TRUTH(8, 8)
DEFINE_TRUTH(8, 4)

/* ---- All kinds --------------------------------------------------------------------------------------------------- */

#define SAME(kind_class, bytes, parts, converter)                                                                      \
    {                                                                                                                  \
        kind_class, bytes, bytes, parts, converter, converter                                                          \
    }
/* All widths, and eight bytes in memory that are four in the file. */
#define INTEGERS(kind_class, encoder, decoder)                                                                         \
    SAME(kind_class, 1, 1, datarep_element_copy_bytes), SAME(kind_class, 2, 1, swap_16),                               \
        SAME(kind_class, 4, 1, swap_32), SAME(kind_class, 8, 1, swap_64), SAME(kind_class, 16, 1, swap_128),           \
    {                                                                                                                  \
        kind_class, 8, 4, 1, encoder, decoder                                                                          \
    }
/* The same of numbers of one part, or of two: complex ones. */
#define FLOATS(parts)                                                                                                  \
    SAME(DATAREP_FLOAT, 2 * parts, parts, swap_16), SAME(DATAREP_FLOAT, 4 * parts, parts, swap_32),                    \
        SAME(DATAREP_FLOAT, 8 * parts, parts, swap_64), SAME(DATAREP_FLOAT, 16 * parts, parts, swap_128),              \
    {                                                                                                                  \
        DATAREP_FLOAT, 8 * parts, 4 * parts, parts, datarep_encode_double_as_single, datarep_decode_double_from_single \
    }
#define TRUTH(native, file)                                                                                            \
    {                                                                                                                  \
        DATAREP_TRUTH, native, file, 1, encode_truth_##native##_##file, decode_truth_##native##_##file                 \
    }

static const struct datarep_kind kinds[] = {
    SAME(DATAREP_BYTES, 1, 1, datarep_element_copy_bytes),
    INTEGERS(DATAREP_SIGNED, encode_signed, decode_signed),
    INTEGERS(DATAREP_UNSIGNED, encode_unsigned, decode_unsigned),
    FLOATS(1),
    FLOATS(2),
    {DATAREP_EXTENDED, 16, 16, 1, datarep_encode_extended, datarep_decode_extended},
    {DATAREP_EXTENDED, 32, 32, 2, datarep_encode_extended, datarep_decode_extended},
    TRUTH(1, 1),
    TRUTH(2, 2),
    TRUTH(4, 4),
    TRUTH(8, 8),
    TRUTH(8, 4),
    {DATAREP_WIDE, 4, 2, 1, encode_wide, decode_wide},
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

int datarep_kind_find(enum datarep_class class, int64_t native_bytes, int64_t file_bytes, int parts)
{
    for (int i = 0; i < N_KINDS; i++)
        if (kinds[i].class == class && kinds[i].native_bytes == native_bytes && kinds[i].file_bytes == file_bytes &&
            kinds[i].parts == parts)
            return i;
    return DATAREP_KIND_NONE;
}

const struct datarep_kind *datarep_kind(int number)
{
    return number >= 0 && number < N_KINDS ? &kinds[number] : NULL;
}

int64_t datarep_encode_run(const struct datarep_kind *kind, const char *native, char *file, int64_t n)
{
    return kind->encode(native, file, n * kind->parts) / kind->parts;
}

int64_t datarep_decode_run(const struct datarep_kind *kind, const char *file, char *native, int64_t n)
{
    return kind->decode(file, native, n * kind->parts) / kind->parts;
}
