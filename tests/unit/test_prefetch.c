/* Guided prefetching: ranges of blocks, regular patterns, and the policy on a storage that is only played.
 * proves: GPFS-4
 * It would fail if a block had two ranges or a range too much, if a regular pattern were guided, if more ranges were
 * fetched ahead or accessed in a round than allowed, if a range that was taken were not released exactly once, or
 * before its use, or if the number fetched ahead did not follow hits and times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/prefetch/prefetch.h"

#include "random_case.h"

enum { BLOCK = 1000, PIECES_MAX = 2000 };

/* ---- pieces ---- */

struct list {
    struct prefetch_piece pieces[PIECES_MAX];
    int count, next;
};

static struct prefetch_piece list_next(void *self)
{
    struct list *list = self;
    return list->next < list->count ? list->pieces[list->next++] : (struct prefetch_piece){0};
}

static bool regular(struct list *list)
{
    const struct prefetch_pieces pieces = {list, list_next};
    list->next = 0;
    return prefetch_is_regular(&pieces);
}

static struct list strided(int count, int64_t bytes, int64_t distance)
{
    struct list list = {.count = count};
    for (int i = 0; i < count; i++)
        list.pieces[i] = (struct prefetch_piece){50 + i * distance, bytes};
    return list;
}

static void test_regular(void **unused)
{
    (void)unused;
    struct list list = strided(1, 10, 0);
    assert_true(regular(&list));
    list = strided(2, 10, 100);
    assert_true(regular(&list));
    list = strided(PIECES_MAX, 10, 100);
    assert_true(regular(&list));
    list = strided(10, 10, 100);
    list.pieces[9].bytes = 3; /* the request ends in it */
    assert_true(regular(&list));
    list.pieces[9].bytes = 30;
    assert_false(regular(&list));
    list = strided(10, 10, 100);
    list.pieces[4].offset++;
    assert_false(regular(&list));
    list = strided(10, 10, 100);
    list.pieces[4].bytes++;
    assert_false(regular(&list));
}

static struct list irregular(int count)
{
    struct list list = {.count = count};
    int64_t at = below(3 * BLOCK);
    for (int i = 0; i < count; i++) {
        const int64_t bytes = 1 + below(i % 5 ? 50 : 3 * BLOCK);
        list.pieces[i] = (struct prefetch_piece){at, bytes};
        at += bytes + 1 + below(i % 3 ? 100 : 4 * BLOCK);
    }
    return list;
}

/* Against a slow and simple way: which bytes are accessed in each block? */
static void test_ranges(void **unused)
{
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct list list = irregular(1 + (int)below(200));
        const struct prefetch_pieces pieces = {&list, list_next};
        struct prefetch_ranges ranges;
        struct prefetch_range range;
        int64_t block = -1;
        int at = 0;
        prefetch_ranges_init(&ranges, &pieces, BLOCK);
        while (prefetch_ranges_next(&ranges, &range)) {
            assert_true(range.begin < range.end && range.begin / BLOCK == (range.end - 1) / BLOCK);
            assert_true(range.begin / BLOCK > block);
            const int64_t before = block;
            block = range.begin / BLOCK;
            int64_t first = INT64_MAX, last = -1;
            for (int i = 0; i < list.count; i++) {
                const struct prefetch_piece *piece = &list.pieces[i];
                const int64_t begin = piece->offset > block * BLOCK ? piece->offset : block * BLOCK;
                const int64_t end = piece->offset + piece->bytes < (block + 1) * BLOCK ? piece->offset + piece->bytes
                                                                                       : (block + 1) * BLOCK;
                if (begin < end) {
                    first = begin < first ? begin : first;
                    last = end > last ? end : last;
                }
                /* no block in between is left out */
                assert_false(piece->offset / BLOCK > before && (piece->offset + piece->bytes - 1) / BLOCK < block);
            }
            assert_int_equal(range.begin, first);
            assert_int_equal(range.end, last);
            at++;
        }
        assert_true(at > 0);
    }
}

/* ---- a storage that is only played ---- */

enum { BLOCKS_MAX = 20000 };
enum life { NEW, FETCHED, USED, RELEASED };

struct played {
    char life[BLOCKS_MAX];
    int out, out_most, room; /* ranges taken and not released; at most `room` */
    int used_now, used_most; /* since the last release */
    int hit_percent;
    int64_t clock_ns, step_ns;
    int64_t fetches;
};

static bool played_fetch(void *self, struct prefetch_range *range)
{
    struct played *played = self;
    const int64_t block = range->begin / BLOCK;
    if (played->out >= played->room)
        return false;
    assert_int_equal(played->life[block], NEW);
    played->life[block] = FETCHED;
    range->owned = true;
    played->fetches++;
    if (++played->out > played->out_most)
        played->out_most = played->out;
    return true;
}

static bool played_is_there(void *self, const struct prefetch_range *range)
{
    struct played *played = self;
    assert_int_equal(played->life[range->begin / BLOCK], FETCHED);
    played->life[range->begin / BLOCK] = USED;
    if (++played->used_now > played->used_most)
        played->used_most = played->used_now;
    return below(100) < played->hit_percent;
}

static bool played_release(void *self, const struct prefetch_range *range)
{
    struct played *played = self;
    const char life = played->life[range->begin / BLOCK];
    assert_true(life == USED || life == FETCHED);
    played->life[range->begin / BLOCK] = RELEASED;
    played->out--;
    played->used_now = 0;
    return true;
}

static int64_t played_now(void *self)
{
    struct played *played = self;
    return played->clock_ns += played->step_ns;
}

static struct prefetch_policy play(struct played *played, struct list *list, int ahead, int together, int stop_at)
{
    struct prefetch_policy policy;
    struct prefetch_ranges ranges;
    const struct prefetch_pieces pieces = {list, list_next};
    const struct prefetch_storage storage = {played, played_fetch, played_is_there, played_release, played_now};
    const struct prefetch_source source = {&ranges, prefetch_ranges_next};
    list->next = 0;
    prefetch_ranges_init(&ranges, &pieces, BLOCK);
    prefetch_policy_begin(&policy, &storage, &source, ahead, together);
    for (int i = 0; i < list->count && i < stop_at; i++) {
        const struct prefetch_piece *piece = &list->pieces[i];
        int64_t begin = piece->offset, end = piece->offset + piece->bytes;
        for (int64_t part; begin < end; begin = part) { /* one block after the other, as a small buffer would */
            part = (begin / BLOCK + 1) * BLOCK < end ? (begin / BLOCK + 1) * BLOCK : end;
            prefetch_policy_reach(&policy, begin, part);
            assert_true(played->life[begin / BLOCK] != RELEASED);
        }
    }
    prefetch_policy_end(&policy);
    assert_int_equal(played->out, 0);
    assert_int_equal(policy.counts.accepted, played->fetches);
    assert_int_equal(policy.counts.released, played->fetches);
    return policy;
}

static void test_policy(void **unused)
{
    (void)unused;
    for (int round = 0; round < 500; round++) {
        struct played *played = calloc(1, sizeof *played);
        struct list list = irregular(1 + (int)below(500));
        const int ahead = 1 + (int)below(20), together = 1 + (int)below(ahead);
        played->room = round % 4 ? 1000 : (int)below(6); /* also a storage that takes few or none */
        played->hit_percent = 100;
        played->step_ns = INT64_C(1000) * PREFETCH_FAST_NS; /* slow: what is there in time is no reason to ask later */
        const struct prefetch_policy policy = play(played, &list, ahead, together,
                                                   round % 3 ? PIECES_MAX : (int)below(list.count));
        assert_true(played->out_most <= ahead);
        assert_true(played->used_most <= together);
        assert_int_equal(policy.ahead, ahead);
        if (played->room > ahead && round % 3)
            assert_int_equal(policy.counts.hit, policy.counts.accepted);
        free(played);
    }
}

/* One access that covers many blocks: they are released behind it. */
static void test_wide(void **unused)
{
    (void)unused;
    struct played *played = calloc(1, sizeof *played);
    struct list list = {.count = 3, .pieces = {{10, 100 * BLOCK}, {200 * BLOCK, 5}, {300 * BLOCK, 7}}};
    struct prefetch_policy policy;
    struct prefetch_ranges ranges;
    const struct prefetch_pieces pieces = {&list, list_next};
    const struct prefetch_storage storage = {played, played_fetch, played_is_there, played_release, played_now};
    const struct prefetch_source source = {&ranges, prefetch_ranges_next};
    played->room = 1000;
    prefetch_ranges_init(&ranges, &pieces, BLOCK);
    prefetch_policy_begin(&policy, &storage, &source, 8, 2);
    assert_int_equal(played->out, 8);
    prefetch_policy_reach(&policy, 10, 10 + 100 * BLOCK);
    assert_int_equal(policy.counts.released, 0); /* nothing of it has been read yet */
    prefetch_policy_reach(&policy, 200 * BLOCK, 200 * BLOCK + 5);
    assert_int_equal(policy.counts.released, 8);
    assert_int_equal(played->life[200], USED);
    prefetch_policy_reach(&policy, 300 * BLOCK, 300 * BLOCK + 7);
    prefetch_policy_end(&policy);
    assert_int_equal(played->out, 0);
    free(played);
}

static void test_adapting(void **unused)
{
    (void)unused;
    struct played *late = calloc(1, sizeof *late), *quick = calloc(1, sizeof *quick);
    struct list list = irregular(500);
    *late = (struct played){.room = 1000, .hit_percent = 0, .step_ns = 1};
    assert_int_equal(play(late, &list, 8, 2, PIECES_MAX).ahead, PREFETCH_AHEAD_MOST);
    *quick = (struct played){.room = 1000, .hit_percent = 100, .step_ns = 1};
    assert_int_equal(play(quick, &list, 40, 2, PIECES_MAX).ahead, 2);
    free(late);
    free(quick);
}

int main(void)
{
    state = 7;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regular), cmocka_unit_test(test_ranges),   cmocka_unit_test(test_policy),
        cmocka_unit_test(test_wide),    cmocka_unit_test(test_adapting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
