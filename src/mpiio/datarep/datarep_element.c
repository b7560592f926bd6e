#include "mpiio/datarep/datarep_element.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- Same size on both sides: only the order of bytes differs ---------------------------------------------------- */

static int64_t copy_bytes(const char *from, char *to, int64_t n)
{
    memcpy(to, from, (size_t)n);
    return n;
}

/* htobe is its own inverse, so these serve both ways. memcpy, since nothing is aligned. */
#define DEFINE_SWAP(bits)                                                                                              \
    static int64_t swap##bits(const char *from, char *to, int64_t n)                                                   \
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

static int64_t swap128(const char *from, char *to, int64_t n)
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

/* ---- Eight bytes in memory, four in the file: long, and Fortran's INTEGER where it is wide ----------------------- */

static int64_t encode_signed64_as_32(const char *from, char *to, int64_t n)
{
    int64_t good = n;
    for (int64_t i = 0; i < n; i++) {
        int64_t value;
        memcpy(&value, from + i * 8, 8);
        const int64_t kept = value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value;
        const uint32_t stored = htobe32((uint32_t)kept);
        memcpy(to + i * 4, &stored, 4);
        if (kept != value && good == n)
            good = i;
    }
    return good;
}

static int64_t decode_signed64_from_32(const char *from, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t stored;
        memcpy(&stored, from + i * 4, 4);
        const int64_t value = (int32_t)be32toh(stored);
        memcpy(to + i * 8, &value, 8);
    }
    return n;
}

static int64_t encode_unsigned64_as_32(const char *from, char *to, int64_t n)
{
    int64_t good = n;
    for (int64_t i = 0; i < n; i++) {
        uint64_t value;
        memcpy(&value, from + i * 8, 8);
        const uint64_t kept = value > UINT32_MAX ? UINT32_MAX : value;
        const uint32_t stored = htobe32((uint32_t)kept);
        memcpy(to + i * 4, &stored, 4);
        if (kept != value && good == n)
            good = i;
    }
    return good;
}

static int64_t decode_unsigned64_from_32(const char *from, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t stored;
        memcpy(&stored, from + i * 4, 4);
        const uint64_t value = be32toh(stored);
        memcpy(to + i * 8, &value, 8);
    }
    return n;
}

/* ---- Wide characters --------------------------------------------------------------------------------------------- */

enum { BASIC_PLANE_LAST = 0xffff, REPLACEMENT_CHARACTER = 0xfffd };

static int64_t encode_wide(const char *from, char *to, int64_t n)
{
    int64_t good = n;
    for (int64_t i = 0; i < n; i++) {
        uint32_t value;
        memcpy(&value, from + i * 4, 4);
        const bool fits = value <= BASIC_PLANE_LAST;
        const uint16_t stored = htobe16((uint16_t)(fits ? value : REPLACEMENT_CHARACTER));
        memcpy(to + i * 2, &stored, 2);
        if (!fits && good == n)
            good = i;
    }
    return good;
}

static int64_t decode_wide(const char *from, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint16_t stored;
        memcpy(&stored, from + i * 2, 2);
        const uint32_t value = be16toh(stored);
        memcpy(to + i * 4, &value, 4);
    }
    return n;
}

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
#define TRUTH(native, file)                                                                                            \
    {                                                                                                                  \
        DATAREP_TRUTH, native, file, 1, encode_truth_##native##_##file, decode_truth_##native##_##file                 \
    }

static const struct datarep_kind kinds[] = {
    SAME(DATAREP_BYTES, 1, 1, copy_bytes),
    SAME(DATAREP_SIGNED, 1, 1, copy_bytes),
    SAME(DATAREP_SIGNED, 2, 1, swap16),
    SAME(DATAREP_SIGNED, 4, 1, swap32),
    SAME(DATAREP_SIGNED, 8, 1, swap64),
    SAME(DATAREP_SIGNED, 16, 1, swap128),
    {DATAREP_SIGNED, 8, 4, 1, encode_signed64_as_32, decode_signed64_from_32},
    SAME(DATAREP_UNSIGNED, 1, 1, copy_bytes),
    SAME(DATAREP_UNSIGNED, 2, 1, swap16),
    SAME(DATAREP_UNSIGNED, 4, 1, swap32),
    SAME(DATAREP_UNSIGNED, 8, 1, swap64),
    SAME(DATAREP_UNSIGNED, 16, 1, swap128),
    {DATAREP_UNSIGNED, 8, 4, 1, encode_unsigned64_as_32, decode_unsigned64_from_32},
    SAME(DATAREP_FLOAT, 2, 1, swap16),
    SAME(DATAREP_FLOAT, 4, 1, swap32),
    SAME(DATAREP_FLOAT, 8, 1, swap64),
    SAME(DATAREP_FLOAT, 16, 1, swap128),
    {DATAREP_FLOAT, 8, 4, 1, datarep_encode_double_as_single, datarep_decode_double_from_single},
    SAME(DATAREP_FLOAT, 4, 2, swap16),
    SAME(DATAREP_FLOAT, 8, 2, swap32),
    SAME(DATAREP_FLOAT, 16, 2, swap64),
    SAME(DATAREP_FLOAT, 32, 2, swap128),
    {DATAREP_FLOAT, 16, 8, 2, datarep_encode_double_as_single, datarep_decode_double_from_single},
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
