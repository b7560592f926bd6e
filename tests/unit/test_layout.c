/* Which rank owns which part of the file: properties over many sizes, rank counts, layouts and scatterings.
 * proves: IOT-3 IOT-12 IOT-15
 * It would fail if a byte of the file belonged to nobody or to two blocks, if a length left the range mean ± F or were
 * no multiple of 8, or if a rank's count were not the number of its blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "bench/iot/iot_lowlevel.h"

enum { BLOCKS_MAX = 4096 };

/* What the layout says about block k of the file, found by asking every rank for all of its blocks. */
struct owner {
    int times;
    struct iot_extent extent;
};

static int64_t index_of(const struct iot_layout *layout, int rank, int64_t j)
{
    if (!layout->segmented)
        return j * layout->nprocs + rank;
    int64_t before = 0;
    for (int r = 0; r < rank; r++)
        before += iot_layout_count(layout, r);
    return before + j;
}

static void check_extent(const struct iot_layout *layout, const struct iot_extent *extent)
{
    const double mean = (double)layout->blocksize, scatter = layout->fuzzy * mean;
    assert_int_equal(extent->offset % 8, 0);
    assert_int_equal(extent->length % 8, 0);
    assert_true(extent->length >= 8);
    assert_true(extent->length <= iot_layout_longest(layout));
    if (layout->blocks > 1)
        assert_true((double)extent->length >= mean - scatter - 1e-9 && (double)extent->length <= mean + scatter + 1e-9);
}

static void check_layout(const struct iot_layout *layout, int64_t filesize)
{
    static struct owner owners[BLOCKS_MAX];
    memset(owners, 0, sizeof owners);
    assert_true(layout->blocks >= 1 && layout->blocks <= BLOCKS_MAX);
    assert_true(layout->tail_bytes >= 0 && layout->tail_bytes < layout->blocksize);
    assert_int_equal(layout->blocks * layout->blocksize + layout->tail_bytes, filesize);
    int64_t most = 0;
    for (int rank = 0; rank < layout->nprocs; rank++) {
        const int64_t count = iot_layout_count(layout, rank);
        most = count > most ? count : most;
        for (int64_t j = 0; j < count; j++) {
            const int64_t k = index_of(layout, rank, j);
            assert_true(k >= 0 && k < layout->blocks);
            owners[k].times++;
            owners[k].extent = iot_layout_block(layout, rank, j);
            check_extent(layout, &owners[k].extent);
        }
    }
    assert_int_equal(most, iot_layout_rounds(layout));
    int64_t end = 0; /* block after block without gap or overlap: every byte has one owner */
    for (int64_t k = 0; k < layout->blocks; k++) {
        assert_int_equal(owners[k].times, 1);
        assert_int_equal(owners[k].extent.offset, end);
        end += owners[k].extent.length;
    }
    assert_int_equal(end, layout->blocks * layout->blocksize);
}

static void every_byte_once(void **state)
{
    (void)state;
    static const int ranks[] = {1, 2, 3, 4, 5, 7, 16, 61, 1000};
    static const double scatterings[] = {0, 0.01, 0.3, 0.5, 0.99};
    for (uint64_t trial = 0; trial < 400; trial++) {
        const int64_t blocksize = 8 + 8 * (int64_t)(rng_at(trial, 1) % (trial % 2 ? 6 : 3000));
        const int64_t filesize = 8 + 8 * (int64_t)(rng_at(trial, 2) % (uint64_t)(blocksize / 8 * 200));
        for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++)
            for (size_t f = 0; f < sizeof scatterings / sizeof scatterings[0]; f++) {
                struct iot_layout layout = iot_layout_make(filesize, blocksize, ranks[r]);
                layout.fuzzy = scatterings[f];
                layout.seed = rng_at(trial, 3);
                layout.segmented = (trial + r + f) % 2;
                check_layout(&layout, filesize);
            }
    }
}

static void block_larger_than_file(void **state)
{
    (void)state;
    const struct iot_layout layout = iot_layout_make(1000, 64000000, 4);
    assert_int_equal(layout.blocks, 1);
    assert_int_equal(layout.blocksize, 1000);
    assert_int_equal(layout.tail_bytes, 0);
    assert_int_equal(iot_layout_count(&layout, 0), 1);
    for (int rank = 1; rank < 4; rank++)
        assert_int_equal(iot_layout_count(&layout, rank), 0);
    assert_int_equal(iot_layout_block(&layout, 0, 0).length, 1000);
}

/* One block alone fills the file: there is nothing to scatter. */
static void one_block_is_not_scattered(void **state)
{
    (void)state;
    struct iot_layout layout = iot_layout_make(80000, 80000, 3);
    layout.fuzzy = 0.5;
    assert_int_equal(iot_layout_longest(&layout), 80000);
    assert_int_equal(iot_layout_block(&layout, 0, 0).length, 80000);
}

static void more_ranks_than_blocks(void **state)
{
    (void)state;
    for (int segmented = 0; segmented < 2; segmented++) {
        struct iot_layout layout = iot_layout_make(3 * 800 + 16, 800, 16);
        layout.segmented = segmented;
        assert_int_equal(layout.tail_bytes, 16);
        assert_int_equal(iot_layout_rounds(&layout), 1);
        for (int rank = 0; rank < 16; rank++)
            assert_int_equal(iot_layout_count(&layout, rank), rank < 3);
        check_layout(&layout, 3 * 800 + 16);
    }
}

static void order_of_blocks(void **state)
{
    (void)state;
    struct iot_layout layout = iot_layout_make(80, 8, 3);
    assert_int_equal(iot_layout_block(&layout, 1, 2).offset, 8 * (2 * 3 + 1)); /* block j of rank r: j·P + r */
    layout.segmented = true;                                                   /* 4, 3, 3 blocks */
    assert_int_equal(iot_layout_block(&layout, 0, 3).offset, 8 * 3);
    assert_int_equal(iot_layout_block(&layout, 1, 0).offset, 8 * 4);
    assert_int_equal(iot_layout_block(&layout, 2, 2).offset, 8 * 9);
}

/* F is used: lengths really scatter, evenly around the mean, and another seed scatters otherwise. */
static void scatters(void **state)
{
    (void)state;
    struct iot_layout layout = iot_layout_make(8000 * 4000, 8000, 1), other;
    layout.fuzzy = 0.4;
    layout.seed = 5;
    other = layout;
    other.seed = 6;
    int64_t shortest = INT64_MAX, longest = 0, differ = 0;
    for (int64_t j = 0; j < layout.blocks; j++) {
        const int64_t length = iot_layout_block(&layout, 0, j).length;
        shortest = length < shortest ? length : shortest;
        longest = length > longest ? length : longest;
        differ += length != iot_layout_block(&other, 0, j).length;
    }
    assert_true(shortest < 8000 * 0.65 && shortest >= 8000 * 0.6);
    assert_true(longest > 8000 * 1.35 && longest <= 8000 * 1.4);
    assert_true(differ > layout.blocks * 9 / 10);
}

/* Any block in constant time, far out and without overflow: 1 EB in blocks of 8 bytes. */
static void far_out(void **state)
{
    (void)state;
    struct iot_layout layout = iot_layout_make(1000000000000000000, 8, 7);
    const int64_t last = iot_layout_count(&layout, 5) - 1;
    const struct iot_extent strided = iot_layout_block(&layout, 5, last);
    assert_true(strided.offset == (last * 7 + 5) * 8 && strided.length == 8);
    layout.segmented = true;
    const struct iot_extent segmented = iot_layout_block(&layout, 6, iot_layout_count(&layout, 6) - 1);
    assert_true(segmented.offset + segmented.length == 1000000000000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_once),
        cmocka_unit_test(block_larger_than_file),
        cmocka_unit_test(one_block_is_not_scattered),
        cmocka_unit_test(more_ranks_than_blocks),
        cmocka_unit_test(order_of_blocks),
        cmocka_unit_test(scatters),
        cmocka_unit_test(far_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
