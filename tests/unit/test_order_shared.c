/* The order of ranks in shared memory, with ranks that step in any order in one process.
 * proves: GPFS-1 GPFS-7
 * It would fail if a rank got a wrong place, went on before all were there, waited for one that is a call ahead, or did
 * not learn that another failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "engine/shared/shared.h"

enum { RANKS_MOST = 100, CALLS = 30 };

static struct {
    struct shared_order order;
    struct shared_order_call call;
    int calls; /* begun */
    bool done;
} ranks[RANKS_MOST];

static int64_t etypes_of(int rank, int call)
{
    return (int64_t)(rng_at(11, (uint64_t)rank * 1000 + (uint64_t)call) % 1000);
}

static bool fails(int rank, int call)
{
    return rng_at(12, (uint64_t)rank * 1000 + (uint64_t)call) % 400 == 0;
}

static bool anybody_fails(int size, int call)
{
    bool any = false;
    for (int r = 0; r < size; r++)
        any |= fails(r, call);
    return any;
}

/* Where the first rank of a call begins. */
static int64_t base_of(int size, int call)
{
    int64_t sum = 0;
    for (int c = 1; c < call; c++)
        for (int r = 0; r < size && !anybody_fails(size, c); r++)
            sum += etypes_of(r, c);
    return sum;
}

static void check(int size, int rank)
{
    const int call = ranks[rank].calls;
    int64_t before = 0;
    for (int r = 0; r < rank; r++)
        before += etypes_of(r, call);
    for (int r = 0; r < size; r++)
        assert_true(ranks[r].calls >= call);
    assert_int_equal(ranks[rank].call.failures > 0, anybody_fails(size, call));
    if (ranks[rank].call.failures > 0)
        return;
    assert_int_equal(ranks[rank].call.before, before);
    assert_int_equal(ranks[rank].call.base, base_of(size, call));
}

static void run(int size)
{
    void *place = NULL;
    _Atomic int64_t words[2] = {0, 0};
    struct shared pointer = {.words = words};
    struct pl_error error = {0};
    assert_int_equal(posix_memalign(&place, 64, shared_order_bytes(size)), 0);
    memset(place, 0, shared_order_bytes(size));
    memset(ranks, 0, sizeof ranks);
    for (int r = 0; r < size; r++) {
        shared_order_open(&ranks[r].order, place, r, size);
        ranks[r].done = true;
    }
    int left = size;
    for (uint64_t turn = 0; left > 0; turn++) {
        const int r = (int)(rng_at(13, turn) % (uint64_t)size);
        if (ranks[r].done) {
            if (ranks[r].calls == CALLS)
                continue;
            ranks[r].done = false;
            ranks[r].calls++;
            shared_order_start(&ranks[r].order, &ranks[r].call, etypes_of(r, ranks[r].calls), fails(r, ranks[r].calls));
        }
        if (shared_order_step(&ranks[r].order, &ranks[r].call, &pointer, &error) == STEP_DONE) {
            check(size, r);
            ranks[r].done = true;
            left -= ranks[r].calls == CALLS;
        }
    }
    free(place);
}

static void any_order(void **state)
{
    (void)state;
    const int sizes[] = {1, 2, 3, 7, RANKS_MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        run(sizes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
