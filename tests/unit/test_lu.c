/* The pure half of `outofcore`: panels and slabs, and the linear algebra on panels against a plain LU decomposition.
 * proves: IOT-26
 * It would fail if a column belonged to no panel or a panel to no rank, if a rank took more memory than it was given,
 * if the least memory named were not the least, if interchanges of rows were applied in a wrong order, or if a matrix
 * cut into panels had other factors than a whole one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/iot/iot_lu.h"

#include <math.h>

enum { N_MAX = 61 };

/* ---- panels and slabs ---- */

static void check_plan(const struct lu_plan *plan)
{
    int64_t columns = 0, next = 0;
    for (int64_t slab = 0; slab < plan->slabs; slab++) {
        assert_int_equal(lu_slab_first(plan, slab), next);
        for (int64_t i = 0; i < plan->held; i++)
            for (int64_t rank = 0; rank < plan->nprocs; rank++) {
                const int64_t k = lu_panel_at(plan, slab, i, rank);
                if (k >= plan->panels)
                    continue;
                assert_int_equal(k, next++);
                assert_int_equal(k % plan->nprocs, rank);
                assert_int_equal(k / plan->nprocs % plan->held, i);
                assert_int_equal(lu_top(plan, k), columns);
                assert_true(lu_width(plan, k) > 0);
                columns += lu_width(plan, k);
            }
    }
    assert_int_equal(columns, plan->n);
    assert_int_equal(next, plan->panels);
    assert_int_equal(lu_slab_first(plan, plan->slabs), plan->panels);
}

static void test_every_column_has_one_place(void **state)
{
    (void)state;
    static const int64_t orders[] = {1, 2, 3, 7, 64, 100, 501};
    static const int64_t ranks[] = {1, 2, 3, 4, 6, 8, 9, 16};
    static const int64_t panels[] = {0, 1, 3, 16, 1000};
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++)
        for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++)
            for (size_t p = 0; p < sizeof panels / sizeof panels[0]; p++) {
                const int64_t n = orders[o], least = lu_least_bytes(n, ranks[r], panels[p]);
                for (int64_t memory = least; memory < 20 * least; memory += least / 2 + 8) {
                    const struct lu_plan plan = lu_plan_make(n, ranks[r], memory, panels[p]);
                    assert_true(plan.held > 0);
                    assert_true(lu_plan_bytes(&plan) <= memory);
                    check_plan(&plan);
                }
                assert_int_equal(lu_plan_make(n, ranks[r], least - 8, panels[p]).held, 0);
            }
}

static void test_large_orders(void **state)
{
    (void)state;
    const struct lu_plan plan = lu_plan_make(60000, 16, INT64_C(500000000), 0);
    check_plan(&plan);
    assert_int_equal(plan.panel, 128);
    assert_true(plan.slabs >= 4 && plan.slabs <= 8); /* 1.8 GB on each rank would hold all */
    assert_true(lu_streamed_bytes(&plan) > INT64_C(8) * 60000 * 60000 / 2);
    assert_true(lu_streamed_bytes(&plan) < plan.slabs * INT64_C(8) * 60000 * 60000 / 2);
    const struct lu_plan huge = lu_plan_make(1000000, 4, INT64_C(4000000000000), 0);
    assert_true(huge.panel * huge.n * 8 <= LU_PANEL_BYTES_MAX);
}

/* Three slabs of one panel on one rank: panel 0 is streamed twice, panel 1 once. */
static void test_streamed(void **state)
{
    (void)state;
    const struct lu_plan plan = {.n = 6, .panel = 2, .panels = 3, .held = 1, .slabs = 3, .nprocs = 1};
    assert_int_equal(lu_streamed_panels(&plan), 3);
    assert_int_equal(lu_streamed_bytes(&plan), 8 * (2 * (2 * 6) + 2 * 4));
}

/* ---- linear algebra ---- */

static void exchange(double *a, int n, int row, int other)
{
    for (int c = 0; c < n; c++) {
        const double keep = a[c * n + row];
        a[c * n + row] = a[c * n + other];
        a[c * n + other] = keep;
    }
}

/* Textbook: whole rows are exchanged, to the left as well. */
static void plain_lu(double *a, int n, int *rows)
{
    for (int j = 0; j < n; j++) {
        rows[j] = j;
        for (int i = j + 1; i < n; i++)
            if (fabs(a[j * n + i]) > fabs(a[j * n + rows[j]]))
                rows[j] = i;
        exchange(a, n, j, rows[j]);
        for (int i = j + 1; i < n; i++)
            a[j * n + i] /= a[j * n + j];
        for (int c = j + 1; c < n; c++)
            for (int i = j + 1; i < n; i++)
                a[c * n + i] -= a[j * n + i] * a[c * n + j];
    }
}

/* Left-looking, as the kernel does it: every earlier panel, packed, is applied to panel k; then k is factored. */
static void panel_lu(double *a, int n, int panel, int *pivots)
{
    static double packed[N_MAX * N_MAX];
    for (int top = 0; top < n; top += panel) {
        const int width = n - top < panel ? n - top : panel;
        for (int before = 0; before < top; before += panel) {
            const int rows = n - before;
            for (int c = 0; c < panel; c++)
                memcpy(packed + c * rows, a + (before + c) * n + before, (size_t)rows * 8);
            lu_apply(packed, rows, panel, pivots + before, a + top * n + before, width, n);
        }
        assert_int_equal(lu_factor(a + top * n + top, n - top, width, n, pivots + top), 0);
    }
}

/* Carries the interchanges of later panels into the L of earlier ones: from LINPACK's form to the textbook's. */
static void finish_rows(double *a, int n, int panel, const int *pivots)
{
    for (int j = 0; j < n; j++) {
        const int top = j / panel * panel, other = top + pivots[j] - 1;
        for (int c = 0; c < top; c++) {
            const double keep = a[c * n + j];
            a[c * n + j] = a[c * n + other];
            a[c * n + other] = keep;
        }
    }
}

static void test_panels_make_the_same_factors(void **state)
{
    (void)state;
    static double whole[N_MAX * N_MAX], cut[N_MAX * N_MAX];
    int rows[N_MAX], pivots[N_MAX];
    static const int orders[] = {1, 2, 5, 16, 37, N_MAX};
    static const int panels[] = {1, 2, 3, 8, 16, N_MAX};
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++)
        for (size_t p = 0; p < sizeof panels / sizeof panels[0]; p++) {
            const int n = orders[o], panel = panels[p];
            lu_fill(7, 0, whole, (int64_t)n * n);
            lu_fill(7, 0, cut, (int64_t)n * n);
            plain_lu(whole, n, rows);
            panel_lu(cut, n, panel, pivots);
            finish_rows(cut, n, panel, pivots);
            for (int i = 0; i < n; i++)
                assert_int_equal(i / panel * panel + pivots[i] - 1, rows[i]);
            for (int i = 0; i < n * n; i++)
                assert_true(fabs(cut[i] - whole[i]) < 1e-9);
        }
}

/* Solves A x = A * ones by the stored form, panel by panel. */
static void test_solve(void **state)
{
    (void)state;
    enum { N = 37, PANEL = 5 };
    static double a[N * N], packed[N * N];
    double x[N] = {0};
    int pivots[N];
    lu_multiply(3, N, 0, N / 2, NULL, x);
    lu_multiply(3, N, N / 2, N, NULL, x);
    lu_fill(3, 0, a, N * N);
    panel_lu(a, N, PANEL, pivots);
    for (int top = 0; top < N; top += PANEL) {
        const int width = N - top < PANEL ? N - top : PANEL, rows = N - top;
        for (int c = 0; c < width; c++)
            memcpy(packed + c * rows, a + (top + c) * N + top, (size_t)rows * 8);
        lu_apply(packed, rows, width, pivots + top, x + top, 1, N);
    }
    for (int top = (N - 1) / PANEL * PANEL; top >= 0; top -= PANEL)
        lu_back(a + top * N, N, top, N - top < PANEL ? N - top : PANEL, x);
    for (int i = 0; i < N; i++)
        assert_true(fabs(x[i] - 1) < 1e-9);
}

static void test_interchanges_come_first(void **state)
{
    (void)state;
    /* L of one column {1, 0.5, 0.25}, rows 1 and 3 exchanged before */
    const double panel[] = {8, 0.5, 0.25};
    const int pivots[] = {3};
    double columns[] = {1, 2, 4, 10, 20, 40};
    const double wanted[] = {4, 2 - 0.5 * 4, 1 - 0.25 * 4, 40, 20 - 0.5 * 40, 10 - 0.25 * 40};
    lu_apply(panel, 3, 1, pivots, columns, 2, 3);
    assert_memory_equal(columns, wanted, sizeof wanted);
}

static void test_singular(void **state)
{
    (void)state;
    double a[] = {1, 2, 4, 2, 4, 8, 1, 0, 0}; /* the second column is twice the first, exactly */
    int pivots[3];
    assert_int_equal(lu_factor(a, 3, 3, 3, pivots), 2);
}

static void test_values(void **state)
{
    (void)state;
    const int64_t far = INT64_C(100000) * 100000 - 1;
    double two[2];
    lu_fill(1, far - 1, two, 2);
    assert_true(two[1] == lu_value(1, far));
    assert_true(lu_value(1, far) != lu_value(1, far & 0xffffffff));
    assert_true(lu_value(1, 5) != lu_value(2, 5));
    assert_true(lu_value(1, 5) >= 0 && lu_value(1, 5) < 1);
}

static void test_sum_notices_every_change(void **state)
{
    (void)state;
    double values[9];
    lu_fill(1, 0, values, 9);
    const uint64_t sum = lu_sum(values, 9);
    for (int i = 0; i < 9 * 64; i++) {
        unsigned char *byte = (unsigned char *)values + i / 8;
        *byte ^= (unsigned char)(1 << i % 8);
        assert_true(lu_sum(values, 9) != sum);
        *byte ^= (unsigned char)(1 << i % 8);
    }
    assert_true(lu_sum(values, 9) == sum);
    assert_true(lu_sum(values, 8) != sum);
    const double keep = values[0]; /* exchanged within a chain, and between two */
    values[0] = values[4], values[4] = keep;
    assert_true(lu_sum(values, 9) != sum);
    lu_fill(1, 0, values, 9);
    values[0] = values[1], values[1] = keep;
    assert_true(lu_sum(values, 9) != sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_column_has_one_place),
        cmocka_unit_test(test_large_orders),
        cmocka_unit_test(test_streamed),
        cmocka_unit_test(test_panels_make_the_same_factors),
        cmocka_unit_test(test_solve),
        cmocka_unit_test(test_interchanges_come_first),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_sum_notices_every_change),
    };
    lu_one_thread();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
