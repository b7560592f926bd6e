/* How predictions are judged, from times made here.
 * proves: PHASE-11 PHASE-12
 * It would fail if noise made an error larger, if a large error within the noise passed as within 10 %, if a short
 * phase, a single pass or one within wide intervals were judged, if rounds ended while the verdict may change, or if
 * the order of configurations were counted wrong, or where nobody knows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/engine/engine.h"

#include <math.h>

static struct accuracy_time ms(double value, double half)
{
    return (struct accuracy_time){value * 1e6, isnan(half) ? NAN : (value - half) * 1e6,
                                  isnan(half) ? NAN : (value + half) * 1e6};
}

static enum accuracy_verdict verdict(struct accuracy_time predicted, struct accuracy_time measured, bool total)
{
    return accuracy_judge(&predicted, &measured, total).verdict;
}

static bool narrow(struct accuracy_time predicted, struct accuracy_time measured)
{
    return accuracy_judge(&predicted, &measured, true).is_narrow;
}

static void verdicts(void **state)
{
    (void)state;
    assert_int_equal(verdict(ms(108, 1), ms(100, 1), false), ACCURACY_WITHIN);
    assert_int_equal(verdict(ms(96, 4), ms(100, 4), false), ACCURACY_WITHIN); /* with all noise */
    assert_int_equal(verdict(ms(112, 3), ms(100, 4), false), ACCURACY_NOISE); /* 12 % <= 10 % + 5 % */
    assert_int_equal(verdict(ms(116, 3), ms(100, 4), false), ACCURACY_OFF);
    assert_int_equal(verdict(ms(84, 3), ms(100, 4), false), ACCURACY_OFF);
    assert_int_equal(verdict(ms(2, 0), ms(19, 0), false), ACCURACY_SHORT);
    assert_int_equal(verdict(ms(2, 0), ms(19, 0), true), ACCURACY_OFF);    /* totals are judged */
    assert_int_equal(verdict(ms(200, 0), ms(19, 0), false), ACCURACY_OFF); /* a long one was predicted */
    const struct accuracy_time predicted = ms(110, 3), measured = ms(100, 4);
    const struct accuracy_judgement judgement = accuracy_judge(&predicted, &measured, false);
    assert_true(fabs(judgement.error - 0.1) < 1e-12 && fabs(judgement.noise - 0.05) < 1e-12);
}

/* Nothing is said where nothing is known: not that it is right, and not that it is wrong. */
static void not_judged(void **state)
{
    (void)state;
    const struct accuracy_time once = ms(100, NAN), often = ms(100, 1);
    const double predicted[] = {100, 108, 112, 300};
    for (size_t i = 0; i < sizeof predicted / sizeof predicted[0]; i++) {
        assert_int_equal(verdict(ms(predicted[i], NAN), once, true), ACCURACY_UNJUDGED);
        assert_int_equal(verdict(ms(predicted[i], 1), once, true), ACCURACY_UNJUDGED);
        assert_int_equal(verdict(ms(predicted[i], NAN), often, false), ACCURACY_UNJUDGED);
    }
    assert_int_equal(verdict(ms(92, 30), ms(100, 30), false), ACCURACY_UNJUDGED);
    assert_int_equal(verdict(ms(130, 30), ms(100, 30), false), ACCURACY_UNJUDGED);
    assert_int_equal(verdict(ms(400, 20), ms(100, 20), false), ACCURACY_OFF); /* wide, and off all the same */
    assert_int_equal(verdict(ms(2, NAN), ms(19, NAN), false), ACCURACY_SHORT);
    assert_string_equal(accuracy_verdict_word(ACCURACY_UNJUDGED), "not judged");
}

static void rounds(void **state)
{
    (void)state;
    assert_true(narrow(ms(130, 3), ms(100, 4)));    /* the noise is small */
    assert_true(narrow(ms(101, 5), ms(100, 5)));    /* within, whatever comes */
    assert_false(narrow(ms(108, 6), ms(100, 6)));   /* it may yet be off */
    assert_false(narrow(ms(120, 10), ms(100, 10))); /* it may yet be within */
    assert_true(narrow(ms(400, 20), ms(100, 20)));  /* off by far */
    assert_false(narrow(ms(101, NAN), ms(100, NAN)));
}

static void order(void **state)
{
    (void)state;
    const struct accuracy_time measured[] = {ms(100, 1), ms(200, 1), ms(300, 40), ms(310, 40)};
    const struct accuracy_time same[] = {ms(90, 1), ms(180, 1), ms(250, 1), ms(260, 1)};
    const struct accuracy_time swapped[] = {ms(200, 1), ms(100, 1), ms(320, 1), ms(310, 1)};
    struct accuracy_pairs pairs = accuracy_compare(same, measured, 4);
    assert_int_equal(pairs.pairs, 6);
    assert_int_equal(pairs.ties, 1); /* the last two: right by chance is no point either */
    assert_int_equal(pairs.in_order, 5);
    assert_true(pairs.regret == 1);
    pairs = accuracy_compare(swapped, measured, 4);
    assert_int_equal(pairs.ties, 1);
    assert_int_equal(pairs.in_order, 4); /* the first two are wrong, of the last two nobody knows */
    assert_true(fabs(pairs.regret - 2) < 1e-12);
    const struct accuracy_time once[] = {ms(100, NAN), ms(200, 1), ms(300, 1)};
    pairs = accuracy_compare(same, once, 3);
    assert_int_equal(pairs.ties, 2); /* all with the one that was measured once */
    assert_int_equal(pairs.in_order, 1);
    assert_true(isnan(accuracy_compare(NULL, NULL, 0).regret));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts), cmocka_unit_test(not_judged),
                                       cmocka_unit_test(rounds), cmocka_unit_test(order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
