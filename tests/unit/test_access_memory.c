/* The memory side of an access: any datatype in memory, to and from runs of places, against a copy byte by byte.
 * proves: GPFS-1 COLL-8
 * It would fail if a byte went to the wrong place, above all where rows of a transposed matrix are copied in tiles: of
 * any element, with rests in both directions, cut anywhere, from matrices that lie side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/access/access_memory.h"

#include "random_case.h"

enum { MEMORY_BYTES = 1 << 18, STREAM_BYTES = 1 << 16 };

/* `rows` of `columns` elements, of which memory has the columns side by side: with room between them. */
static struct typemap *transposed(int64_t element, int64_t rows, int64_t columns, int64_t room)
{
    struct typemap *one = NULL, *row = NULL, *narrow = NULL, *all = NULL;
    ok(typemap_dense(element, &one, &error));
    ok(typemap_repeat(one, columns, (rows + room) * element, &row, &error));
    ok(typemap_resized(row, 0, element, &narrow, &error));
    ok(typemap_repeat(narrow, rows, element, &all, &error));
    typemap_unref(one);
    typemap_unref(row);
    typemap_unref(narrow);
    return all;
}

static void check(struct typemap *map, int64_t bytes)
{
    static char memory[MEMORY_BYTES], stream[STREAM_BYTES], expected[STREAM_BYTES], wanted[MEMORY_BYTES];
    struct access_memory access;
    const int64_t length = 1 + below(below(2) ? 64 : 4096), stride = length + below(50);
    for (int64_t i = 0; i < MEMORY_BYTES; i++)
        memory[i] = wanted[i] = (char)below(256);
    for (int64_t i = 0; i < STREAM_BYTES; i++)
        stream[i] = expected[i] = (char)below(256);
    const int64_t begin = below(bytes), count = (bytes - begin) / length < STREAM_BYTES / stride - 1
                                                    ? (bytes - begin) / length
                                                    : STREAM_BYTES / stride - 1;
    const struct typemap_run run = {.length = length, .stride = stride, .count = count};
    const bool write = below(2);
    ok(access_memory_init(&access, map, memory, &error));
    access_memory_seek(&access, begin);
    access_memory_move(&access, stream, &run, write);
    for (int64_t i = 0; i < count * length; i++) {
        const int64_t place = i / length * stride + i % length, at = typemap_displacement(map, begin + i);
        if (write)
            expected[place] = memory[at];
        else
            wanted[at] = stream[place];
    }
    assert_memory_equal(stream, expected, sizeof stream);
    assert_memory_equal(memory, wanted, sizeof memory);
    access_memory_clear(&access);
}

static void test_transposed(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200; i++) {
        state = (uint64_t)i + 1;
        static const int64_t elements[] = {1, 2, 4, 8, 12, 16, 24};
        const int64_t element = elements[below(7)], rows = 1 + below(90), columns = 1 + below(80), room = below(30);
        struct typemap *map = transposed(element, rows, columns, room);
        check(map, rows * columns * element);
        typemap_unref(map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_transposed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
