/* Values in external32, and signatures.
 * proves: GPFS-1 COLL-8
 * Known values have known bytes; long double is compared with the compiler's own binary128, over random bits and every
 * special value; every kind makes the round trip. Signatures are compared with plain lists of kinds. It would fail if a
 * byte, a sign, a rounding or a tie were wrong, if a value that does not fit went by unnoticed, or if an element had
 * another kind or order than its datatype says. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "engine/datarep/datarep_core.h"
#include "engine/datarep/datarep_element.h"

static struct pl_error error;
static uint64_t seed = 20261115;

static uint64_t random64(void)
{
    return seed = rng_mix(seed + 1);
}

static const struct datarep_kind *kind_of(enum datarep_class class, int native, int file, int parts)
{
    const int number = datarep_kind_find(class, native, file, parts);
    assert_int_not_equal(number, DATAREP_KIND_NONE);
    return datarep_kind(number);
}

/* One element, with its bytes in the file in hexadecimal; there and back. */
static void expect_bytes(const struct datarep_kind *kind, const void *value, const char *hex)
{
    char file[64], back[64], text[130] = "";
    assert_int_equal(datarep_encode_run(kind, value, file, 1), 1);
    for (int i = 0; i < kind->file_bytes; i++)
        snprintf(text + 2 * i, sizeof text - (size_t)(2 * i), "%02x", (unsigned char)file[i]);
    assert_string_equal(text, hex);
    assert_int_equal(datarep_decode_run(kind, file, back, 1), 1);
    assert_memory_equal(back, value, (size_t)kind->native_bytes);
}

static void known_bytes(void **state)
{
    (void)state;
    expect_bytes(kind_of(DATAREP_BYTES, 1, 1, 1), "A", "41");
    expect_bytes(kind_of(DATAREP_SIGNED, 1, 1, 1), &(int8_t){-2}, "fe");
    expect_bytes(kind_of(DATAREP_SIGNED, 2, 2, 1), &(int16_t){-2}, "fffe");
    expect_bytes(kind_of(DATAREP_SIGNED, 4, 4, 1), &(int32_t){0x01020304}, "01020304");
    expect_bytes(kind_of(DATAREP_SIGNED, 8, 8, 1), &(int64_t){0x0102030405060708}, "0102030405060708");
    expect_bytes(kind_of(DATAREP_SIGNED, 16, 16, 1), &(__int128){-3}, "fffffffffffffffffffffffffffffffd");
    expect_bytes(kind_of(DATAREP_SIGNED, 8, 4, 1), &(int64_t){-2}, "fffffffe");
    expect_bytes(kind_of(DATAREP_SIGNED, 8, 4, 1), &(int64_t){INT32_MIN}, "80000000");
    expect_bytes(kind_of(DATAREP_UNSIGNED, 8, 4, 1), &(uint64_t){UINT32_MAX}, "ffffffff");
    expect_bytes(kind_of(DATAREP_UNSIGNED, 2, 2, 1), &(uint16_t){258}, "0102");
    expect_bytes(kind_of(DATAREP_FLOAT, 4, 4, 1), &(float){-1.5f}, "bfc00000");
    expect_bytes(kind_of(DATAREP_FLOAT, 8, 8, 1), &(double){1.0}, "3ff0000000000000");
    expect_bytes(kind_of(DATAREP_FLOAT, 8, 4, 1), &(double){-1.5}, "bfc00000");
    expect_bytes(kind_of(DATAREP_FLOAT, 8, 8, 2), (float[]){1.0f, -1.5f}, "3f800000bfc00000");
    expect_bytes(kind_of(DATAREP_TRUTH, 4, 4, 1), &(int32_t){1}, "00000001");
    expect_bytes(kind_of(DATAREP_TRUTH, 8, 4, 1), &(int64_t){1}, "00000001");
    expect_bytes(kind_of(DATAREP_TRUTH, 1, 1, 1), &(_Bool){0}, "00");
    expect_bytes(kind_of(DATAREP_WIDE, 4, 2, 1), &(uint32_t){0x20ac}, "20ac");
    assert_int_equal(datarep_kind_find(DATAREP_SIGNED, 8, 2, 1), DATAREP_KIND_NONE);
}

/* Encodes n values, of which `good` fit before the first that does not. */
static void expect_misfit(const struct datarep_kind *kind, const void *values, int n, int good, const void *stored)
{
    char file[256];
    assert_int_equal(datarep_encode_run(kind, values, file, n), good);
    assert_memory_equal(file, stored, (size_t)(n * kind->file_bytes));
}

static void what_does_not_fit(void **state)
{
    (void)state;
    expect_misfit(kind_of(DATAREP_SIGNED, 8, 4, 1), (int64_t[]){INT32_MAX, (int64_t)INT32_MAX + 1, INT64_MIN, 5}, 4, 1,
                  "\x7f\xff\xff\xff\x7f\xff\xff\xff\x80\0\0\0\0\0\0\x05");
    expect_misfit(kind_of(DATAREP_UNSIGNED, 8, 4, 1), (uint64_t[]){1, UINT64_MAX, 2}, 3, 1,
                  "\0\0\0\x01\xff\xff\xff\xff\0\0\0\x02");
    expect_misfit(kind_of(DATAREP_WIDE, 4, 2, 1), (uint32_t[]){'a', 0xffff, 0x1f600}, 3, 2, "\0a\xff\xff\xff\xfd");
    expect_misfit(kind_of(DATAREP_FLOAT, 8, 4, 1), (double[]){HUGE_VAL, 1e39, 0.5}, 3, 1,
                  "\x7f\x80\0\0\x7f\x80\0\0\x3f\0\0\0");
    /* The second part of the first number: no element is whole before it. */
    expect_misfit(kind_of(DATAREP_FLOAT, 16, 8, 2), (double[]){0.5, -1e39, 0.5, 0.5}, 2, 0,
                  "\x3f\0\0\0\xff\x80\0\0\x3f\0\0\0\x3f\0\0\0");
    /* Truth values have no misfits: whatever is not 0 is true. */
    expect_misfit(kind_of(DATAREP_TRUTH, 4, 4, 1), (int32_t[]){-1, 0, 256}, 3, 3, "\0\0\0\x01\0\0\0\0\0\0\0\x01");
    char back[2];
    assert_int_equal(datarep_decode_run(kind_of(DATAREP_TRUTH, 1, 1, 1), "\x80\0", back, 2), 2);
    assert_memory_equal(back, "\x01\0", 2);
}

/* ---- long double ------------------------------------------------------------------------------------------------- */

#if LDBL_MANT_DIG == 64 && defined __SIZEOF_FLOAT128__

static void encode_extended_like_compiler(long double value)
{
    unsigned char file[16], wanted[16], back[16];
    __float128 quad = value;
    char clean[16] = {0};
    memcpy(clean, &value, 10);
    assert_int_equal(datarep_encode_extended(clean, (char *)file, 1), 1);
    for (int i = 0; i < 16; i++)
        wanted[i] = ((const unsigned char *)&quad)[15 - i];
    if (value == value)
        assert_memory_equal(file, wanted, 16);
    else
        assert_true((file[0] & 0x7f) == 0x7f && file[1] == 0xff && (file[2] & 0x80));
    assert_int_equal(datarep_decode_extended((const char *)file, (char *)back, 1), 1);
    if (value == value)
        assert_memory_equal(back, clean, 16);
}

static void decode_extended_like_compiler(uint64_t high, uint64_t low)
{
    __float128 quad;
    long double wanted, got = 0;
    char file[16], native[16];
    for (int i = 0; i < 8; i++) {
        file[i] = (char)(high >> (56 - 8 * i));
        file[8 + i] = (char)(low >> (56 - 8 * i));
    }
    memcpy(&quad, (uint64_t[]){low, high}, 16);
    wanted = (long double)quad;
    const int64_t good = datarep_decode_extended(file, native, 1);
    memcpy(&got, native, 10);
    if (quad != quad) {
        assert_true(got != got && good == 1);
        return;
    }
    assert_memory_equal(&got, &wanted, 10);
    assert_int_equal(good, isinf(wanted) && (high & 0x7fffffffffffffff) != 0x7fff000000000000 ? 0 : 1);
}

static void long_double(void **state)
{
    (void)state;
    expect_bytes(kind_of(DATAREP_EXTENDED, 16, 16, 1), "\0\0\0\0\0\0\0\xc0\xff\xbf\0\0\0\0\0\0",
                 "bfff8000000000000000000000000000"); /* -1.5 */
    const long double specials[] = {
        0.0L, -0.0L,     1.0L,       LDBL_MAX,         -LDBL_MAX,       LDBL_MIN, LDBL_TRUE_MIN,
        0.1L, HUGE_VALL, -HUGE_VALL, (long double)NAN, LDBL_MIN / 3.0L, -3.0L,    1 + LDBL_EPSILON};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        encode_extended_like_compiler(specials[i]);
    for (int i = 0; i < 20000; i++) {
        const uint64_t significand = random64() | (uint64_t)1 << 63;
        const uint16_t sign_exponent = (uint16_t)(random64() & 0xffff);
        if ((sign_exponent & 0x7fff) == 0x7fff || (sign_exponent & 0x7fff) == 0)
            continue;
        long double value = 0;
        memcpy(&value, &significand, 8);
        memcpy((char *)&value + 8, &sign_exponent, 2);
        encode_extended_like_compiler(value);
    }
}

static void long_double_rounds(void **state)
{
    (void)state;
    /* Just below, at and above a tie, at odd and even last bits, and where the carry reaches the exponent. */
    static const uint64_t lows[] = {0,
                                    1,
                                    0x0000ffffffffffff,
                                    0x0001000000000000,
                                    0x0001000000000001,
                                    0x0002000000000000,
                                    0x0003000000000000,
                                    0xffffffffffffffff,
                                    0xfffeffffffffffff};
    static const uint64_t highs[] = {0x3fff000000000000, 0x3fffffffffffffff, 0x0000000000000000, 0x0000ffffffffffff,
                                     0x0001000000000000, 0x7ffeffffffffffff, 0x7fff000000000000, 0x8000ffffffffffff,
                                     0xfffeffffffffffff, 0x7fff800000000000, 0xbfff123456789abc};
    for (size_t h = 0; h < sizeof highs / sizeof highs[0]; h++)
        for (size_t l = 0; l < sizeof lows / sizeof lows[0]; l++)
            decode_extended_like_compiler(highs[h], lows[l]);
    for (int i = 0; i < 20000; i++)
        decode_extended_like_compiler(random64(), i % 2 ? random64() : lows[random64() % 9]);
}

/* Encodings that no arithmetic makes. */
static void long_double_odd_bits(void **state)
{
    unsigned char file[16];
    (void)state;
    datarep_encode_extended("\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0", (char *)file, 1); /* pseudo-denormal: LDBL_MIN */
    assert_memory_equal(file, "\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    datarep_encode_extended("\x01\0\0\0\0\0\0\0\xff\x3f\0\0\0\0\0\0", (char *)file, 1); /* unnormal: a NaN */
    assert_memory_equal(file, "\x7f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

#else
static void long_double(void **state)
{
    (void)state;
    skip();
}
#define long_double_rounds   long_double
#define long_double_odd_bits long_double
#endif

/* ---- Round trips ------------------------------------------------------------------------------------------------- */

static void round_trips(void **state)
{
    enum { N = 37 };
    (void)state;
    assert_null(datarep_kind(SIGNATURE_KINDS_MAX)); /* or a signature could not tell them apart */
    for (int number = 0; datarep_kind(number); number++) {
        const struct datarep_kind *kind = datarep_kind(number);
        char native[N * 32], file[N * 32 + 1], back[N * 32 + 1];
        assert_int_equal(datarep_kind_find(kind->class, kind->native_bytes, kind->file_bytes, kind->parts), number);
        for (size_t i = 0; i < sizeof native; i++)
            native[i] = (char)random64();
        if (kind->native_bytes != kind->file_bytes)
            memset(native, 0, sizeof native); /* numbers that fit are in known_bytes() */
        if (kind->class == DATAREP_TRUTH || kind->class == DATAREP_EXTENDED)
            memset(native, 0, sizeof native);
        file[N * kind->file_bytes] = back[N * kind->native_bytes] = 'x';
        assert_int_equal(datarep_encode_run(kind, native, file, N), N);
        assert_int_equal(datarep_decode_run(kind, file, back, N), N);
        assert_memory_equal(native, back, (size_t)(N * kind->native_bytes));
        assert_true(file[N * kind->file_bytes] == 'x' && back[N * kind->native_bytes] == 'x');
    }
}

/* ---- Signatures -------------------------------------------------------------------------------------------------- */

enum { LIST_MAX = 4000, CHILDREN = 4 };

struct list {
    int n, kinds[LIST_MAX];
    struct typemap *signature;
};

static void list_append(struct list *list, const struct list *child, int64_t count)
{
    for (int64_t c = 0; c < count; c++)
        for (int i = 0; i < child->n; i++)
            list->kinds[list->n++] = child->kinds[i];
}

static void make_list(struct list *list, int depth)
{
    *list = (struct list){0};
    if (depth == 0) {
        list->n = (int)(random64() % 3);
        for (int i = 0; i < list->n; i++)
            list->kinds[i] = (int)(seed >> 20 & 1);
        assert_int_equal(signature_run((int)(seed >> 20 & 1), list->n, &list->signature, &error), PL_OK);
        return;
    }
    struct list *children = calloc(CHILDREN, sizeof *children);
    struct typemap *signatures[CHILDREN];
    int64_t counts[CHILDREN], n = 1 + (int64_t)(random64() % CHILDREN);
    for (int i = 0; i < n; i++) {
        make_list(&children[i], depth - 1);
        counts[i] = (int64_t)(random64() % 4);
        signatures[i] = children[i].signature;
        list_append(list, &children[i], counts[i]);
    }
    if (n == 1)
        assert_int_equal(signature_repeat(signatures[0], counts[0], &list->signature, &error), PL_OK);
    else
        assert_int_equal(signature_list(n, counts, signatures, &list->signature, &error), PL_OK);
    for (int i = 0; i < n; i++)
        typemap_unref(signatures[i]);
    free(children);
}

static void signatures(void **state)
{
    static struct list list;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct typemap_cursor cursor;
        make_list(&list, round % 4);
        assert_int_equal(typemap_shape(list.signature)->size, list.n);
        assert_int_equal(typemap_cursor_init(&cursor, list.signature, &error), PL_OK);
        const int total = 3 * list.n; /* copies follow each other */
        for (int at = 0; at < total;) {
            int kind = -1;
            const int64_t n = signature_next(&cursor, total - at, &kind);
            assert_true(n > 0 && n <= total - at);
            for (int64_t i = 0; i < n; i++)
                assert_int_equal(list.kinds[(at + i) % list.n], kind);
            at += (int)n;
        }
        typemap_cursor_clear(&cursor);
        typemap_unref(list.signature);
    }
}

static void signatures_are_small(void **state)
{
    struct typemap *one = NULL, *many = NULL, *pair = NULL, *pairs = NULL, *too_many = NULL;
    (void)state;
    assert_int_equal(signature_run(7, 1, &one, &error), PL_OK);
    assert_int_equal(signature_repeat(one, (int64_t)1 << 50, &many, &error), PL_OK);
    assert_int_equal(typemap_shape(many)->pieces, 1);
    assert_int_equal(signature_list(2, (const int64_t[]){3, 4}, (struct typemap *[]){one, many}, &pair, &error), PL_OK);
    assert_int_equal(typemap_shape(pair)->pieces, 1); /* of one kind: one run */
    typemap_unref(pair);
    typemap_unref(many);
    assert_int_equal(signature_run(61, 2, &many, &error), PL_OK);
    assert_int_equal(signature_list(2, (const int64_t[]){1, 1}, (struct typemap *[]){one, many}, &pair, &error), PL_OK);
    assert_int_equal(signature_repeat(pair, (int64_t)1 << 40, &pairs, &error), PL_OK);
    assert_int_equal(typemap_shape(pairs)->size, (int64_t)3 << 40);
    assert_int_equal(signature_repeat(one, (int64_t)1 << 57, &too_many, &error), PL_E_TYPE);
    typemap_unref(one);
    typemap_unref(many);
    typemap_unref(pair);
    typemap_unref(pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes),        cmocka_unit_test(what_does_not_fit),    cmocka_unit_test(long_double),
        cmocka_unit_test(long_double_rounds), cmocka_unit_test(long_double_odd_bits), cmocka_unit_test(round_trips),
        cmocka_unit_test(signatures),         cmocka_unit_test(signatures_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
