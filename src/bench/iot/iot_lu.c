#include "bench/iot/iot_lu.h"

#include "base/rng.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* The Fortran names: every BLAS and LAPACK has them, and no header is needed. */
extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info);
extern void dlaswp_(const int *n, double *a, const int *lda, const int *k1, const int *k2, const int *ipiv,
                    const int *incx);
extern void dtrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
                   const double *alpha, const double *a, const int *lda, double *b, const int *ldb);
extern void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                   const double *beta, double *c, const int *ldc);
extern void openblas_set_num_threads(int threads) __attribute__((weak));

/* Wide enough for dgemm to run near its best; wider takes memory from the slab and makes the factoring of a panel,
 * which one rank does while the others wait, longer. */
enum { PANEL_BEST = 128 };

static int64_t lu_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t lu_divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* ---- panels and slabs ---- */

/* Columns besides those of the slab: the panel applied and a rank's share of the next. */
static int64_t lu_passing_columns(int64_t panel, int64_t nprocs)
{
    return panel + lu_divide_up(panel, nprocs);
}

int64_t lu_least_bytes(int64_t n, int64_t nprocs, int64_t panel)
{
    panel = panel > 0 ? lu_least(panel, n) : 1;
    return 8 * n * (panel + lu_passing_columns(panel, nprocs));
}

/* An eighth of the memory for the panel that is applied. */
static int64_t lu_choose_panel(int64_t n, int64_t nprocs, int64_t columns)
{
    int64_t panel = lu_least(PANEL_BEST, columns / 8);
    panel = lu_least(panel, lu_divide_up(n, nprocs));
    panel = lu_least(panel, LU_PANEL_BYTES_MAX / (8 * n));
    return panel > 0 ? panel : 1;
}

struct lu_plan lu_plan_make(int64_t n, int64_t nprocs, int64_t memory_bytes, int64_t panel)
{
    const int64_t columns = memory_bytes / (8 * n); /* that fit in a rank's memory */
    panel = panel > 0 ? lu_least(panel, n) : lu_choose_panel(n, nprocs, columns);
    struct lu_plan plan = {.n = n, .panel = panel, .panels = lu_divide_up(n, panel), .nprocs = nprocs};
    const int64_t room = columns - lu_passing_columns(panel, nprocs);
    plan.held = lu_least(room > 0 ? room / panel : 0, lu_divide_up(plan.panels, nprocs));
    plan.slabs = plan.held > 0 ? lu_divide_up(plan.panels, plan.held * nprocs) : 0;
    return plan;
}

int64_t lu_plan_bytes(const struct lu_plan *plan)
{
    return 8 * plan->n * (plan->held * plan->panel + lu_passing_columns(plan->panel, plan->nprocs));
}

int64_t lu_slab_first(const struct lu_plan *plan, int64_t slab)
{
    return lu_least(slab * plan->held * plan->nprocs, plan->panels);
}

int64_t lu_panel_at(const struct lu_plan *plan, int64_t slab, int64_t i, int64_t rank)
{
    return (slab * plan->held + i) * plan->nprocs + rank;
}

int64_t lu_top(const struct lu_plan *plan, int64_t k)
{
    return k * plan->panel;
}

int64_t lu_width(const struct lu_plan *plan, int64_t k)
{
    return lu_least(plan->panel, plan->n - lu_top(plan, k));
}

int64_t lu_streamed_panels(const struct lu_plan *plan)
{
    int64_t count = 0;
    for (int64_t slab = 1; slab < plan->slabs; slab++)
        count += lu_slab_first(plan, slab);
    return count;
}

int64_t lu_streamed_bytes(const struct lu_plan *plan)
{
    int64_t bytes = 0, before = 0; /* before: the panels ahead of this slab, together */
    for (int64_t slab = 1; slab < plan->slabs; slab++) {
        for (int64_t k = lu_slab_first(plan, slab - 1); k < lu_slab_first(plan, slab); k++)
            before += 8 * lu_width(plan, k) * (plan->n - lu_top(plan, k));
        bytes += before;
    }
    return bytes;
}

/* ---- the matrix ---- */

double lu_value(uint64_t seed, int64_t index)
{
    return rng_unit(rng_at(seed, (uint64_t)index));
}

void lu_fill(uint64_t seed, int64_t first_index, double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = lu_value(seed, first_index + i);
}

void lu_multiply(uint64_t seed, int64_t n, int64_t first, int64_t last, const double *x, double *y)
{
    for (int64_t column = first; column < last; column++)
        for (int64_t row = 0; row < n; row++)
            y[row] += lu_value(seed, column * n + row) * (x ? x[column] : 1);
}

/* Four chains, each of steps that can be undone; as fast as memory, which one chain alone is not. */
uint64_t lu_sum(const double *values, int64_t count)
{
    uint64_t chains[4] = {1, 2, 3, (uint64_t)count};
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        const uint64_t next = (chains[i & 3] ^ bits) * 0x9e3779b97f4a7c15u;
        chains[i & 3] = next << 29 | next >> 35;
    }
    return rng_at(rng_at(rng_at(chains[0], chains[1]), chains[2]), chains[3]);
}

/* ---- linear algebra ---- */

int lu_factor(double *panel, int height, int width, int ld, int *pivots)
{
    int info = 0;
    dgetrf_(&height, &width, panel, &ld, pivots, &info);
    assert(info >= 0);
    return info;
}

static void lu_subtract_product(int m, int n, int k, const double *a, int lda, const double *b, int ldb, double *c,
                                int ldc)
{
    const double minus_one = -1, one = 1;
    if (m > 0 && n > 0)
        dgemm_("N", "N", &m, &n, &k, &minus_one, a, &lda, b, &ldb, &one, c, &ldc);
}

void lu_apply(const double *panel, int height, int width, const int *pivots, double *columns, int count, int ld)
{
    const double one = 1;
    const int first = 1, step = 1;
    dlaswp_(&count, columns, &ld, &first, &width, pivots, &step);
    dtrsm_("L", "L", "N", "U", &width, &count, &one, panel, &height, columns, &ld);
    lu_subtract_product(height - width, count, width, panel + width, height, columns, ld, columns + width, ld);
}

void lu_back(const double *panel, int n, int top, int width, double *x)
{
    const double one = 1;
    const int count = 1;
    dtrsm_("L", "U", "N", "N", &width, &count, &one, panel + top, &n, x + top, &n);
    lu_subtract_product(top, count, width, panel, n, x + top, n, x, n);
}

void lu_one_thread(void)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
}
