/* Model files, and the formulas in them.
 * proves: PHASE-3 PHASE-6
 * It would fail if a wrong file were accepted or told without its line, if a fit were not exact or took a longer form
 * than needed, or if differences between models were not told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "model/model.h"
#include "model/model_formula.h"

static void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

/* ---- files that a person has edited ---- */

static const char GOOD[] = "piolet-model 1\nprogram app\nranks 4\n"
                           "file 1 name=\"a\" type=shared processes=4 access=sequential pointer=explicit "
                           "calls=independent waits=blocking views=0 written=400 read=0\nsteps\n"
                           "open ranks=0-3 file=1 name=\"a\"\n"
                           "phase 1 count=1 numbers=1 ranks=0-3 weight=400 access=sequential\n"
                           "  write_at file=1 size=100 offset=idP*100\nend\n"
                           "end-steps 8 -\n";

static void wrong_files_are_told_by_line(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } CASES[] = {{"piolet-model 1", "piolet-model 3", "m:1: a model file begins with 'piolet-model 2'"},
                 {"ranks 4\n", "ranks 0\n", "m:3: expected program"},
                 {"written=400", "written=300", "m:4: from the steps follows 'name=\"a\" type=shared"},
                 {"open ranks=0-3", "open ranks=0-4", "m:6: ranks=0-4: the program has the ranks 0 to 3"},
                 {"open ranks=0-3 ", "open ", "m:6: ranks= is missing"},
                 {"weight=400", "weight=40", "m:7: from the steps follows 'count=1"},
                 {"phase 1", "phase 2", "m:7: this is phase 1"},
                 {"offset=idP*100", "offset=idP**100", "m:8: offset: a formula has '*100'"},
                 {"offset=idP*100", "ofset=idP*100", "m:8: 'write_at' has no 'ofset='"},
                 {" offset=idP*100", "", "m:8: offset= is missing"},
                 {"offset=idP*100", "offset=[0,1][idP]", "m:8: offset has no value for rank 2"},
                 {"size=100", "size=-1", "m:8: size is negative for rank 0"},
                 {"offset=idP*100", "offset=-2", "m:8: offset is negative for rank 0"},
                 {"file=1 size", "file=2 size", "m:8: file=2 must be a whole number from 1 to 1"},
                 {"offset=idP*100", "offset=idP*100 memory=idP", "m:8: memory is 1 for rank 1, and may be 0 at most"},
                 {"steps\n", "memory 2 type=\"MPI_INT\"\nsteps\n", "m:5: this is memory 1"},
                 {"steps\n", "memory 1\nsteps\n", "m:5: memory needs type= or left_out=yes"},
                 {"0-3 file=1 name", "0-3 file=1 memory=0 name", "m:6: 'open' moves no data, and has memory="},
                 {"write_at ", "sync ", "m:8: 'sync' is no operation that moves data"},
                 {"\nend\n", "\n", "m:9: an 'end' is missing before it"},
                 {"end-steps 8 -", "end-steps 8 00", "m:10: the lines above have been changed"}};
    struct model model;
    struct pl_error error;
    assert_int_equal(model_read("m", GOOD, &model, &error), PL_OK);
    model_clear(&model);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct text text = {0};
        const char *at = strstr(GOOD, CASES[i].from);
        assert_non_null(at);
        text_append(&text, GOOD, (size_t)(at - GOOD));
        text_add(&text, CASES[i].to);
        text_add(&text, at + strlen(CASES[i].from));
        if (model_read("m", text_get(&text), &model, &error) == PL_OK)
            fail_msg("accepted:\n%s", text_get(&text));
        expect_in(error.text, CASES[i].message);
        text_clear(&text);
    }
}

static void differences_are_told(void **state)
{
    (void)state;
    struct model a, b;
    struct pl_error error;
    struct text text = {0}, other = {0};
    const char *at = strstr(GOOD, "offset=idP*100");
    text_append(&other, GOOD, (size_t)(at - GOOD));
    text_add(&other, "offset=idP*200");
    text_add(&other, at + strlen("offset=idP*100"));
    assert_int_equal(model_read("a", GOOD, &a, &error), PL_OK);
    assert_int_equal(model_read("b", text_get(&other), &b, &error), PL_OK);
    assert_int_equal(model_diff(&a, &a, true, &text), 0);
    assert_string_equal(text_get(&text), "");
    b.program[0] = 'b';
    assert_int_equal(model_diff(&a, &b, false, &text), 2);
    assert_string_equal(text_get(&text), "<   write_at file=1 size=100 offset=idP*100\n"
                                         ">   write_at file=1 size=100 offset=idP*200\n");
    text_clear(&text);
    text_clear(&other);
    model_clear(&a);
    model_clear(&b);
}

/* ---- formulas ---- */

/* The formula gives every number back; where `wanted` is told, it is that one. */
static void expect_fit(const int64_t *ranks, const int64_t *values, size_t count, const char *wanted)
{
    struct text text = {0};
    struct pl_error error;
    struct model_formula *formula;
    model_fit(ranks, values, count, &text);
    if (wanted)
        assert_string_equal(text_get(&text), wanted);
    if (model_formula_parse(text_get(&text), NULL, &formula, NULL, &error) != PL_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        assert_true(model_formula_value(formula, ranks[i], 0, &value));
        if (value != values[i])
            fail_msg("%s is %lld, not %lld, for rank %lld", text_get(&text), (long long)value, (long long)values[i],
                     (long long)ranks[i]);
    }
    model_formula_free(formula);
    text_clear(&text);
}

static void forms_of_fits(void **state)
{
    (void)state;
    enum { COUNT = 12 };
    static const struct {
        int64_t values[COUNT];
        const char *wanted;
    } CASES[] = {{{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, "7"},
                 {{5, 3, 1, -1, -3, -5, -7, -9, -11, -13, -15, -17}, "-idP*2+5"},
                 {{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}, "idP%4+idP/4*10"},
                 {{0, 1, 10, 11, 20, 21, 5, 6, 15, 16, 25, 26}, "idP%2+idP/2%3*10+idP/6*5"},
                 {{9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, "{0:9;1-11:idP}"},
                 {{4, 4, 4, 4, 9, 9, 9, 9, 9, 9, 9, 9}, "{0-3:4;4-11:9}"},
                 {{1, 5, 2, 1, 5, 2, 4, 8, 5, 4, 8, 5}, NULL},
                 {{6, 10, 16, 15, 25, 40, 9, 15, 24, 33, 55, 88}, "[6,15,9,33][idP/3]*[6,10,16][idP%3]/6"},
                 {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, NULL}};
    int64_t all[COUNT], third[COUNT], any[COUNT];
    for (int i = 0; i < COUNT; i++) {
        all[i] = i;
        third[i] = 2 + 3 * i;
        any[i] = i * i + 1;
    }
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        expect_fit(all, CASES[i].values, COUNT, CASES[i].wanted);
        for (size_t count = 1; count <= COUNT; count++) {
            expect_fit(all, CASES[i].values, count, NULL);
            expect_fit(third, CASES[i].values, count, NULL);
            expect_fit(any, CASES[i].values, count, NULL);
        }
    }
}

static void random_fits(void **state)
{
    (void)state;
    enum { COUNT = 40, TRIES = 3000 };
    int64_t ranks[COUNT], values[COUNT];
    for (uint64_t seed = 0; seed < TRIES; seed++) {
        const size_t count = 1 + rng_at(seed, 1) % COUNT;
        const uint64_t step = 1 + rng_at(seed, 2) % 3, range = 1 + rng_at(seed, 3) % 5, m = 1 + rng_at(seed, 4) % 7;
        ranks[0] = (int64_t)(rng_at(seed, 5) % 4);
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                ranks[i] = ranks[i - 1] + (int64_t)(seed % 2 ? step : 1 + rng_at(seed, 100 + i) % step);
            values[i] = (int64_t)(rng_at(seed, 200 + i / m) % range * 100 + rng_at(seed, 300 + i % m) % range) - 150;
        }
        expect_fit(ranks, values, count, NULL);
    }
}

static void values_of_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t rank, n, value;
        bool has;
    } CASES[] = {{"2+3*4-1", 0, 0, 13, true},
                 {"-idP*2+n", 3, 1, -5, true},
                 {"-(idP-2)*-3", 5, 0, 9, true},
                 {"n/4%3*10+n%4", 0, 27, 3, true},
                 {"[5x3,0+10x4][n]", 0, 5, 20, true},
                 {"[1,2][n]", 0, 2, 0, false},
                 {"{0-4/2:1;5:[7,8][n]}", 4, 0, 1, true},
                 {"{0-4/2:1;5:[7,8][n]}", 5, 1, 8, true},
                 {"{0-4/2:1;5:2}", 3, 0, 0, false},
                 {"[7,z3:yAGEATI][n]", 0, 1, 100, true}, /* 100, 166, 191 */
                 {"[7,z3:yAGEATI][n]", 0, 3, 191, true},
                 {"[z1:____________AQ][n]", 0, 0, INT64_MIN, true},
                 {"1/(n-1)", 0, 1, 0, false},
                 {"9223372036854775807+1", 0, 0, 0, false}};
    static const char *const WRONG[] = {
        "",     "1+",      "(1",  "[1][", "[]",       "x",           "{0:1",      "1 2",
        "[1,]", "{3-1:2}", "idp", "1)",   "[1x0][0]", "[z2:yAE][0]", "[z:AA][0]", "[z1:____________fw][0]"};
    struct model_formula *formula;
    struct pl_error error;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        int64_t value = 0;
        assert_int_equal(model_formula_parse(CASES[i].text, NULL, &formula, NULL, &error), PL_OK);
        assert_int_equal(model_formula_value(formula, CASES[i].rank, CASES[i].n, &value), CASES[i].has);
        if (CASES[i].has)
            assert_true(value == CASES[i].value);
        model_formula_free(formula);
    }
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++)
        if (model_formula_parse(WRONG[i], NULL, &formula, NULL, &error) == PL_OK)
            fail_msg("'%s' was accepted", WRONG[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_files_are_told_by_line),
        cmocka_unit_test(differences_are_told),
        cmocka_unit_test(forms_of_fits),
        cmocka_unit_test(random_fits),
        cmocka_unit_test(values_of_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
