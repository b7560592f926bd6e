/* outofcore: LU decomposition with partial pivoting of a matrix larger than the memory given to it (IOT-26).
 *
 * The matrix stands in the file in column order. iot_lu.h tells the algorithm: slabs of columns, held by all ranks
 * together, past which the panels factored before are streamed from the file. Of a streamed panel every rank reads some
 * columns, and an allgather gives all of them to all: each byte leaves the file system once (P times if everyone read
 * everything), and all ranks read at a time (one of P if one read and broadcast); the messages are those of a
 * broadcast. Only the part on and below the diagonal block is read: the U above it changes nothing to the right, and
 * leaving it out saves a third of the bytes. While a panel is applied, the share of the next one is on its way
 * (`prefetch`).
 *
 * Series, for each rank: w[j] and r[j], the times of writing (when the file is filled, then when panels are finished)
 * and reading whole panels of its own; s[j] and sb[j], seconds and bytes for its share of the j-th streamed panel,
 * where only the time counts that the rank spent in MPI calls: what prefetching hid is not in it. Times of the
 * decomposition: factor = io_read + io_write + sync_time + compute + comm + check, and a little;  io_wait: the part of
 * io_read spent for streamed panels.  comm holds the waiting for ranks that are late as well.
 *
 * The result is proved twice. Every column's sum is kept in memory when it is written and compared whenever it is read:
 * a file changed behind our back, or a lost write, is named by panel and byte. And A x = b is solved with the factors
 * in the file, A being made again from the seed. */
#include "bench/iot/iot_course.h"
#include "bench/iot/iot_file.h"
#include "bench/iot/iot_outofcore_panels.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESIDUAL_MAX 16.0 /* the threshold of the Linpack benchmark */

/* ---- decomposition ---- */

static void apply(struct outofcore *o, int64_t k)
{
    const int64_t top = lu_top(&o->plan, k);
    const int rows = (int)(o->plan.n - top), width = (int)lu_width(&o->plan, k);
    for (int64_t i = 0; i < o->plan.held; i++) {
        const int64_t target = lu_panel_at(&o->plan, o->slab, i, o->run->rank);
        if (target <= k || target >= o->plan.panels)
            continue;
        lu_apply(o->panel, rows, width, o->pivots + top, outofcore_own_panel(o, i) + top,
                 (int)lu_width(&o->plan, target), o->n);
        outofcore_stream_poke(o);
    }
}

/* Panel k, this rank's: factored, and its lower part copied into o->panel for all. */
static pl_status factor_own(struct outofcore *o, int64_t k, struct pl_error *error)
{
    const int64_t top = lu_top(&o->plan, k), rows = o->plan.n - top, width = lu_width(&o->plan, k);
    double *own = outofcore_own_panel(o, k / o->plan.nprocs % o->plan.held);
    double since = MPI_Wtime();
    const int column = lu_factor(own + top, (int)rows, (int)width, o->n, o->pivots + top);
    for (int64_t c = 0; c < width; c++)
        memcpy(o->panel + c * rows, own + c * o->plan.n + top, (size_t)rows * 8);
    outofcore_lap(&since, &o->spent.compute);
    outofcore_note_sums(o, k, own);
    if (column == 0)
        return PL_OK;
    return pl_fail(error, PL_E_DATA, "factoring panel %lld: no pivot in column %lld: the matrix is singular",
                   (long long)k, (long long)(top + column - 1));
}

static void share_panel_coll(struct outofcore *o, int64_t k)
{
    const int64_t top = lu_top(&o->plan, k), width = lu_width(&o->plan, k);
    const int owner = (int)(k % o->run->nprocs);
    double since = MPI_Wtime();
    MPI_Bcast(o->pivots + top, (int)width, MPI_INT, owner, o->run->comm);
    MPI_Bcast(o->sums + top, (int)(2 * width), MPI_UINT64_T, owner, o->run->comm);
    MPI_Bcast(o->panel, (int)((o->plan.n - top) * width), MPI_DOUBLE, owner, o->run->comm);
    outofcore_lap(&since, &o->spent.comm);
}

/* The slab's own panels, one after the other: factored by the owner, applied by all to those behind it. */
static pl_status factor_inside_coll(struct outofcore *o, struct pl_error *error)
{
    const int64_t end = lu_slab_first(&o->plan, o->slab + 1);
    for (int64_t k = lu_slab_first(&o->plan, o->slab); k < end; k++) {
        pl_status status = k % o->run->nprocs == o->run->rank ? factor_own(o, k, error) : PL_OK;
        if (!outofcore_go_on_coll(o, status))
            return status;
        share_panel_coll(o, k);
        double since = MPI_Wtime();
        apply(o, k);
        outofcore_lap(&since, &o->spent.compute);
    }
    return PL_OK;
}

static pl_status factor_slab_coll(struct outofcore *o, struct pl_error *error)
{
    pl_status status = outofcore_read_slab_coll(o, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    status = outofcore_stream_coll(o, lu_slab_first(&o->plan, o->slab), false, apply, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    status = factor_inside_coll(o, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    status = outofcore_move_slab_coll(o, true, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    return outofcore_make_visible_coll(o, error);
}

static pl_status outofcore_factor_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    o->spent = (struct outofcore_spent){0};
    pl_status status = PL_OK;
    const double begin = MPI_Wtime();
    for (o->slab = 0; o->slab < o->plan.slabs; o->slab++) {
        status = factor_slab_coll(o, error);
        if (!outofcore_go_on_coll(o, status))
            break;
    }
    const double n = o->n, seconds = MPI_Wtime() - begin;
    struct samples *samples = &o->run->samples;
    samples_time(samples, "io_read", o->spent.read);
    samples_time(samples, "io_write", o->spent.write);
    samples_time(samples, "io_wait", o->spent.wait);
    samples_time(samples, "sync_time", o->spent.sync);
    samples_time(samples, "compute", o->spent.compute);
    samples_time(samples, "comm", o->spent.comm);
    samples_time(samples, "check", o->spent.check);
    iot_param(o->run, "gflops", "%.4g", (2.0 / 3 * n * n * n) / seconds * 1e-9);
    return status;
}

/* ---- proof ---- */

/* y = A x, x NULL for ones; the columns are divided among the ranks, A is made from the seed. */
static void multiply_coll(struct outofcore *o, const double *x, double *y)
{
    const int64_t n = o->n, P = o->run->nprocs, rank = o->run->rank;
    memset(y, 0, (size_t)n * sizeof *y);
    lu_multiply(o->run->seed, n, rank * n / P, (rank + 1) * n / P, x, y);
    MPI_Allreduce(MPI_IN_PLACE, y, o->n, MPI_DOUBLE, MPI_SUM, o->run->comm);
}

static void use_lower(struct outofcore *o, int64_t k)
{
    const int64_t top = lu_top(&o->plan, k);
    lu_apply(o->panel, (int)(o->plan.n - top), (int)lu_width(&o->plan, k), o->pivots + top, o->x + top, 1, o->n);
}

static void use_whole(struct outofcore *o, int64_t k)
{
    lu_back(o->panel, o->n, (int)lu_top(&o->plan, k), (int)lu_width(&o->plan, k), o->x);
}

static pl_status outofcore_right_side_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    (void)error;
    multiply_coll(o, NULL, o->b);
    return PL_OK;
}

/* Every rank has b, and finds the same x: a column is not worth a message. */
static pl_status outofcore_solve_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    memcpy(o->x, o->b, (size_t)o->n * sizeof *o->x);
    pl_status status = outofcore_stream_coll(o, o->plan.panels, false, use_lower, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    return outofcore_stream_coll(o, o->plan.panels, true, use_whole, error);
}

static double largest(const double *values, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fabs(values[i]) > most || isnan(values[i]) ? fabs(values[i]) : most;
    return most;
}

static pl_status outofcore_residual_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    multiply_coll(o, o->x, o->rest);
    for (int i = 0; i < o->n; i++)
        o->rest[i] -= o->b[i];
    const double norm = largest(o->b, o->n); /* of A: no element is negative, so b = A * ones are the sums of rows */
    const double rest = largest(o->rest, o->n), x = largest(o->x, o->n);
    const double residual = rest / (norm * x * o->n * DBL_EPSILON);
    iot_param(o->run, "residual", "%.6g", residual);
    if (residual <= RESIDUAL_MAX) /* false for a NaN as well */
        return PL_OK;
    return pl_fail(error, PL_E_DATA,
                   "the factors in '%s' are wrong: |Ax-b| / (|A| |x| n eps) is %.6g with |Ax-b| = %.6g, |A| = %.6g, "
                   "|x| = %.6g, n = %d; allowed: at most %g",
                   o->run->filename, residual, rest, norm, x, o->n, RESIDUAL_MAX);
}

/* ---- course ---- */

static pl_status add_series(struct outofcore *o, struct pl_error *error)
{
    const int64_t own = o->plan.held * o->plan.slabs, streamed = lu_streamed_panels(&o->plan) + 2 * o->plan.panels;
    const struct {
        const char *key, *unit;
        int64_t capacity;
        struct sample_series **series;
    } wanted[] = {
        {"w", "ns", 2 * own, &o->w},
        {"r", "ns", own, &o->r},
        {"s", "ns", streamed, &o->s},
        {"sb", "B", streamed, &o->sb},
    };
    pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) /* every rank must have all, whatever fails */
        if (samples_add(&o->run->samples, wanted[i].key, wanted[i].unit, wanted[i].capacity, wanted[i].series, error) !=
            PL_OK)
            status = error->status;
    return status;
}

static pl_status take_memory(struct outofcore *o, struct pl_error *error)
{
    const size_t n = (size_t)o->plan.n, panel = (size_t)o->plan.panel, P = (size_t)o->plan.nprocs;
    const size_t columns = (panel + P - 1) / P; /* of a share */
    o->own = malloc((size_t)o->plan.held * panel * n * 8);
    o->panel = malloc(panel * n * 8);
    o->share = malloc(columns * n * 8);
    o->pivots = calloc(n, sizeof *o->pivots);
    o->sums = calloc(n, sizeof *o->sums);
    o->b = malloc(3 * n * 8);
    o->stream.requests = malloc(columns * sizeof *o->stream.requests);
    o->counts = malloc(2 * P * sizeof *o->counts);
    if (!o->own || !o->panel || !o->share || !o->pivots || !o->sums || !o->b || !o->stream.requests || !o->counts)
        return pl_fail_errno(error, ENOMEM, "taking memory for panels");
    o->x = o->b + n;
    o->rest = o->x + n;
    o->places = o->counts + P;
    return PL_OK;
}

static pl_status outofcore_prepare(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    pl_status status = add_series(o, error);
    if (status == PL_OK)
        status = iot_check_memory(o->run, error);
    return status == PL_OK ? take_memory(o, error) : status;
}

static void outofcore_free(struct outofcore *o)
{
    free(o->own);
    free(o->panel);
    free(o->share);
    free(o->pivots);
    free(o->sums);
    free(o->b);
    free(o->stream.requests);
    free(o->counts);
}

static pl_status outofcore_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct outofcore *)test)->run, error);
}

static pl_status outofcore_open_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    const pl_status status = iot_file_open_coll(o->run, o->run->comm, &o->file, error);
    return status == PL_OK ? outofcore_view_coll(o, error) : status;
}

static pl_status outofcore_preallocate_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    return iot_file_preallocate_coll(o->run, o->file, error);
}

/* The matrix, slab by slab, as the ranks will read it. */
static pl_status outofcore_fill_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    for (o->slab = 0; o->slab < o->plan.slabs; o->slab++) {
        for (int64_t i = 0; i < o->plan.held; i++) {
            const int64_t k = lu_panel_at(&o->plan, o->slab, i, o->run->rank);
            if (k >= o->plan.panels)
                break;
            lu_fill(o->run->seed, outofcore_byte_of(o, k) / 8, outofcore_own_panel(o, i),
                    lu_width(&o->plan, k) * o->plan.n);
            outofcore_note_sums(o, k, outofcore_own_panel(o, i));
        }
        const pl_status status = outofcore_move_slab_coll(o, true, error);
        if (!outofcore_go_on_coll(o, status))
            return status;
    }
    /* On a full disk OMPIO's collective writes succeed all the same, and the sync would hang. */
    return outofcore_check_length(o, error);
}

static pl_status outofcore_settle_coll(void *test, struct pl_error *error)
{
    return outofcore_make_visible_coll(test, error);
}

static pl_status outofcore_close_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    return iot_file_close_coll(o->run, &o->file, error);
}

static const struct iot_course OUTOFCORE_COURSE[] = {
    {outofcore_prepare, NULL, 0},
    {outofcore_clear, NULL, IOT_ALONE},
    {outofcore_open_coll, "pre_time", IOT_OPENS},
    {outofcore_preallocate_coll, "palloc_time", 0},
    {outofcore_fill_coll, "fill", 0},
    {outofcore_settle_coll, "fill_sync", 0},
    {outofcore_factor_coll, "factor", 0},
    {outofcore_right_side_coll, NULL, 0},
    {outofcore_solve_coll, "solve", 0},
    {outofcore_residual_coll, NULL, 0},
    {outofcore_close_coll, "post_time", IOT_CLOSES},
};

static void note_params(struct iot_run *run, const struct lu_plan *plan)
{
    iot_param(run, "n", "%lld", (long long)plan->n);
    iot_param(run, "panel", "%lld", (long long)plan->panel);
    iot_param(run, "panels", "%lld", (long long)plan->panels);
    iot_param(run, "slabs", "%lld", (long long)plan->slabs);
    iot_param(run, "memory_bytes", "%lld", (long long)outofcore_memory(run->block));
    iot_param(run, "panels_bytes", "%lld", (long long)lu_plan_bytes(plan));
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "streamed_bytes", "%lld", (long long)lu_streamed_bytes(plan));
    iot_param(run, "collective", "%s", spec_text(run->block, "collective"));
    iot_param(run, "prefetch", "%s", spec_text(run->block, "prefetch"));
    iot_param(run, "check", "%s", spec_text(run->block, "check"));
}

static pl_status outofcore_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct outofcore o = {.run = run,
                          .plan = outofcore_plan(run->block, run->nprocs, run->index),
                          .collective = spec_is_true(run->block, "collective"),
                          .prefetch = spec_is_true(run->block, "prefetch"),
                          .check = strcmp(spec_text(run->block, "check"), "none") != 0,
                          .file = MPI_FILE_NULL};
    o.n = (int)o.plan.n;
    note_params(run, &o.plan);
    lu_one_thread();
    const pl_status status = iot_course_coll(
        run, OUTOFCORE_COURSE, sizeof OUTOFCORE_COURSE / sizeof OUTOFCORE_COURSE[0], &o, error, ret_verdict);
    outofcore_free(&o);
    return status;
}

extern const struct iot_test iot_test_outofcore;
const struct iot_test iot_test_outofcore = {
    .spec = {.class_name = "Kernel",
             .name = "outofcore",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON_BOTH_ONLY, OUTOFCORE_KEYWORDS, NULL}},
    .summary = "LU decomposition of a matrix larger than the memory given to it",
    .check = outofcore_check,
    .describe = outofcore_describe,
    .run_coll = outofcore_run_coll,
};
