/* The fault plan: which call fails is what was asked for, and a plan that cannot be read says why.
 * proves: GPFS-6
 * It would fail if a fault struck another call, rank or number than the plan says, if chances were not the same with
 * the same seed, if counting lost calls between threads, or if a wrong plan were taken. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/fault/fault.h"
#include "engine/mem.h"

static struct pl_error error;

static void plan(const char *text, int rank)
{
    if (fault_plan_load(text, rank, &error) != PL_OK)
        fail_msg("%s", error.text);
}

static int no_plan(void **state)
{
    (void)state;
    return fault_plan_load(NULL, 0, &error);
}

static void nothing_without_plan(void **state)
{
    (void)state;
    static const char *const texts[] = {NULL, "", "  \t\n", "seed=3", "pwrite:1=EIO@1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        plan(texts[i], 0);
        assert_false(fault_plan_active());
        for (int n = 0; n < 10; n++)
            assert_int_equal(fault_next(FAULT_pwrite), FAULT_NONE);
    }
}

static void counted(void **state)
{
    (void)state;
    plan("pwrite:3=ENOSPC@2 pread:2+=short\tfsync:*=EIO close:1=EDQUOT lock:1=EOPNOTSUPP lock:2=EWOULDBLOCK", 2);
    assert_true(fault_plan_active());
    const int writes[] = {0, 0, ENOSPC, 0, 0}, reads[] = {0, FAULT_SHORT, FAULT_SHORT};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++)
        assert_int_equal(fault_next(FAULT_pwrite), writes[i]);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        assert_int_equal(fault_next(FAULT_pread), reads[i]);
    assert_int_equal(fault_next(FAULT_fsync), EIO);
    assert_int_equal(fault_next(FAULT_fsync), EIO);
    assert_int_equal(fault_next(FAULT_close), EDQUOT);
    assert_int_equal(fault_next(FAULT_close), 0);
    assert_int_equal(fault_next(FAULT_lock), EOPNOTSUPP);
    assert_int_equal(fault_next(FAULT_lock), EAGAIN);
    assert_int_equal(fault_next(FAULT_open), 0);
}

static void first_entry_counts(void **state)
{
    (void)state;
    plan("pwrite:2=EIO pwrite:*=ENOSPC", 0);
    assert_int_equal(fault_next(FAULT_pwrite), ENOSPC);
    assert_int_equal(fault_next(FAULT_pwrite), EIO);
    assert_int_equal(fault_next(FAULT_pwrite), ENOSPC);
}

static void loaded_again(void **state)
{
    (void)state;
    plan("pwrite:2=EIO", 0);
    assert_int_equal(fault_next(FAULT_pwrite), 0);
    plan("pwrite:2=EIO", 0); /* as the second open does */
    assert_int_equal(fault_next(FAULT_pwrite), EIO);
    plan("pwrite:1=EIO", 0);
    assert_int_equal(fault_next(FAULT_pwrite), EIO);
    for (int i = 0; i < 2; i++)
        assert_int_equal(fault_plan_load("nonsense", 0, &error), PL_E_INPUT);
    assert_int_equal(fault_next(FAULT_pwrite), 0);
}

static void any_call(void **state)
{
    (void)state;
    plan("*:3=EIO *:4+=zero", 0);
    assert_int_equal(fault_next(FAULT_open), 0);
    assert_int_equal(fault_next(FAULT_pread), 0);
    assert_int_equal(fault_next(FAULT_stat), EIO);
    assert_int_equal(fault_next(FAULT_pread), FAULT_ZERO);
    assert_int_equal(fault_next(FAULT_fsync), 0); /* nothing there to be cut short */
}

static uint64_t chances(int rank, const char *text)
{
    plan(text, rank);
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++)
        bits = bits << 1 | (fault_next(FAULT_pread) == EIO);
    return bits;
}

static void by_chance(void **state)
{
    (void)state;
    const uint64_t bits = chances(0, "pread:?0.5=EIO seed=7");
    assert_true(bits == chances(0, "seed=7 pread:?0.5=EIO"));
    assert_true(bits != chances(1, "pread:?0.5=EIO seed=7"));
    assert_true(bits != chances(0, "pread:?0.5=EIO seed=8"));
    const int ones = __builtin_popcountll(bits);
    assert_in_range(ones, 16, 48);
    assert_true(chances(0, "pread:?0=EIO") == 0);
    assert_true(chances(0, "pread:?1=EIO") == UINT64_MAX);
}

static void wrong_plans(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"pwrit:3=EIO", "no call is named 'pwrit'; allowed: open close pread pwrite fsync truncate allocate stat "
                        "unlink lock malloc and *"},
        {"pwrite", "'pwrite' is no entry; allowed: CALL:WHEN=WHAT"},
        {"pwrite:3", "'pwrite:3' is no entry"},
        {"pwrite:0=EIO", "'0' does not say when; allowed: N and N+"},
        {"pwrite:=EIO", "'' does not say when"},
        {"pwrite:+=EIO", "'+' does not say when"},
        {"pwrite:?1.5=EIO", "'?1.5' does not say when"},
        {"pwrite:?=EIO", "'?' does not say when"},
        {"pwrite:?nan=EIO", "'?nan' does not say when"},
        {"pwrite:1=ENOSUCH", "'ENOSUCH' is no fault; allowed: the name of an errno"},
        {"pwrite:1=", "'' is no fault"},
        {"pwrite:1=0", "'0' is no fault"},
        {"fsync:1=short", "'short' is for pread and pwrite"},
        {"malloc:1=zero", "'zero' is for pread and pwrite"},
        {"pwrite:1=EIO@", "'' is no rank"},
        {"pwrite:1=EIO@-1", "'-1' is no rank"},
        {"pwrite:1=EIO@all", "'all' is no rank"},
        {"pread:1=EIO pwrite:1=EIO@9 seed=x", "'seed=x': the seed is 'x'"},
        {"pwrite:0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001=EIO",
         "is too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(fault_plan_load(cases[i].text, 0, &error), PL_E_INPUT);
        if (!strstr(error.text, cases[i].words))
            fail_msg("%s: '%s' does not say '%s'", cases[i].text, error.text, cases[i].words);
        assert_false(fault_plan_active());
    }
    char many[65 * 16 + 1] = "";
    for (int i = 0; i < 65; i++)
        strcat(many, "pread:1=EIO ");
    assert_int_equal(fault_plan_load(many, 0, &error), PL_E_INPUT);
    assert_non_null(strstr(error.text, "one too many; allowed: 64"));
}

enum { THREADS = 4, CALLS = 10000 };

static void *call_often(void *hits)
{
    for (int i = 0; i < CALLS; i++)
        *(int *)hits += fault_next(FAULT_pwrite) == EIO;
    return NULL;
}

static void threads_count_together(void **state)
{
    (void)state;
    plan("pwrite:30001+=EIO", 0);
    pthread_t threads[THREADS];
    int hits[THREADS] = {0}, sum = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &hits[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += hits[i];
    }
    assert_int_equal(sum, THREADS * CALLS - 30000);
}

static void memory(void **state)
{
    (void)state;
    plan("malloc:2=ENOMEM malloc:4=ENOMEM malloc:6=ENOMEM malloc:8=ENOMEM", 0);
    void *one = mem_alloc(0);
    assert_non_null(one);
    assert_null(mem_alloc(10));
    char *zeroed = mem_zalloc(3, 5);
    for (int i = 0; i < 15; i++)
        assert_int_equal(zeroed[i], 0);
    assert_null(mem_zalloc(1, 1));
    char *text = mem_strdup("words");
    assert_string_equal(text, "words");
    assert_null(mem_strdup("more"));
    text = mem_resize(text, 1000);
    assert_string_equal(text, "words");
    assert_null(mem_resize(text, 2000)); /* the old one stays */
    assert_string_equal(text, "words");
    assert_null(mem_zalloc(SIZE_MAX / 2, 3));
    mem_free(one);
    mem_free(zeroed);
    mem_free(text);
    mem_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_without_plan, no_plan),
        cmocka_unit_test_teardown(counted, no_plan),
        cmocka_unit_test_teardown(first_entry_counts, no_plan),
        cmocka_unit_test_teardown(loaded_again, no_plan),
        cmocka_unit_test_teardown(any_call, no_plan),
        cmocka_unit_test_teardown(by_chance, no_plan),
        cmocka_unit_test_teardown(wrong_plans, no_plan),
        cmocka_unit_test_teardown(threads_count_together, no_plan),
        cmocka_unit_test_teardown(memory, no_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
