/* LU decomposition by panels of columns, for a matrix that does not fit in memory: which panel is when and where, and
 * the linear algebra on panels. No MPI, no clock, no file.
 *
 * The matrix is cut into panels of some columns. A slab is what all ranks together hold at a time: `held` panels on
 * each rank, dealt out in turn, so that all have work until the slab's last panels. The decomposition is left-looking:
 * a slab is read, all panels before it are streamed past it and applied, it is factored, and written back once and for
 * all. Compared with right-looking (which writes the whole rest of the matrix in every round) it writes n^2 numbers in
 * the place of n^2 for every slab; it reads about as many.
 *
 * Row interchanges: a panel is stored as it was factored, and later interchanges are never carried into it. Whoever
 * applies panel k to a column applies the interchanges of k first and then eliminates: panel by panel this is the order
 * in which the panel itself was made, so both agree on what row i is. The L in the file is therefore that of LINPACK,
 * not LAPACK's, and no panel in the file changes after it is written. */
#ifndef PIOLET_BENCH_IOT_LU_H
#define PIOLET_BENCH_IOT_LU_H

#include <stdint.h>

/* The bytes of a panel stay within what every MPI library moves with one call. */
#define LU_PANEL_BYTES_MAX (INT64_C(1) << 30)

struct lu_plan {
    int64_t n;      /* order of the matrix */
    int64_t panel;  /* columns of a panel; of the last one perhaps fewer */
    int64_t panels; /* of the matrix */
    int64_t held;   /* panels that a rank holds of a slab; 0: memory_bytes are not enough */
    int64_t slabs;
    int64_t nprocs;
};

/* `panel` 0: as many columns as compute well and leave most of the memory to the slab. */
struct lu_plan lu_plan_make(int64_t n, int64_t nprocs, int64_t memory_bytes, int64_t panel);

/* Bytes on a rank for all panels: those held, the one applied, and a rank's share of the one on its way. */
int64_t lu_plan_bytes(const struct lu_plan *plan);

/* The least memory with which lu_plan_make() succeeds. */
int64_t lu_least_bytes(int64_t n, int64_t nprocs, int64_t panel);

/* Panels streamed for slabs up to the last, and the bytes of these (the parts on and below the diagonal blocks). */
int64_t lu_streamed_panels(const struct lu_plan *plan);
int64_t lu_streamed_bytes(const struct lu_plan *plan);

/* The i-th panel of a rank in a slab; may be beyond the last panel: then there is none. Panel k is owned by rank
 * k mod nprocs. */
int64_t lu_panel_at(const struct lu_plan *plan, int64_t slab, int64_t i, int64_t rank);
int64_t lu_slab_first(const struct lu_plan *plan, int64_t slab); /* panel; the first beyond for slab = plan->slabs */
int64_t lu_width(const struct lu_plan *plan, int64_t k);
int64_t lu_top(const struct lu_plan *plan,
               int64_t k); /* row where panel k's diagonal block begins = its first column */

/* Element at `index` (column * n + row) of the matrix: uniform in [0, 1), made again whenever it is needed. */
double lu_value(uint64_t seed, int64_t index);
void lu_fill(uint64_t seed, int64_t first_index, double *values, int64_t count);

/* A sum of the bits of `values` in their order; no change of a single number leaves it as it was. */
uint64_t lu_sum(const double *values, int64_t count);

/* ---- on panels; all matrices in column order, `ld` doubles from column to column ---- */

/* Factors height x width in place, height >= width. pivots[i], from 1, is the row that was exchanged with row i.
 * Returns 0, or j > 0: column j (from 1) has no pivot, the matrix is singular. */
int lu_factor(double *panel, int height, int width, int ld, int *pivots);

/* Applies a factored panel (packed: ld = height) to columns whose row 0 is the panel's row 0. */
void lu_apply(const double *panel, int height, int width, const int *pivots, double *columns, int count, int ld);

/* Back substitution: rows `top` to `top + width` of x are solved with the panel's diagonal block, and taken out of the
 * rows above. The panel has all its n rows (ld = n). */
void lu_back(const double *panel, int n, int top, int width, double *x);

/* y += (columns first to last - 1 of the matrix) * x, with x NULL for all ones. */
void lu_multiply(uint64_t seed, int64_t n, int64_t first, int64_t last, const double *x, double *y);

/* Each rank has a core: BLAS must not start threads of its own. */
void lu_one_thread(void);

#endif
