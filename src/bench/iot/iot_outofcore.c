/* outofcore: LU decomposition of a matrix larger than the memory given to it. */
#include "bench/iot/iot_outofcore.h"

#include "base/units.h"
#include "bench/iot/iot.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keywords, sizes, memory; pure ---- */

#define ORDER_MAX 1e6

const struct option_row OUTOFCORE_KEYWORDS[] = {
    IOT_COUNT("numsizes", "numproblemsizes", "problem sizes to run"),
    {.name = "size",
     .aliases = "xsize",
     .type = OPTION_INTS,
     .flags = OPTION_REQUIRED,
     .min = 1,
     .max = ORDER_MAX,
     .help = "orders of the matrix"},
    {.name = "memory",
     .type = OPTION_MB,
     .flags = OPTION_REQUIRED,
     .min = 8e-6,
     .max = 1e9,
     .help = "of each process for panels of the matrix, which must not fit in that of all"},
    {.name = "panel",
     .type = OPTION_INT,
     .min = 1,
     .max = ORDER_MAX,
     .help = "columns that are factored, streamed and applied at a time; chosen from the memory if not given"},
    {.name = "collective", .type = OPTION_FLAG, .initial = "true", .help = "collective calls, or independent ones"},
    {.name = "prefetch", .type = OPTION_FLAG, .initial = "true", .help = "read the next panel while one is applied"},
    {.name = "allow_incore", .type = OPTION_FLAG, .initial = "false", .help = "also take a matrix that fits in memory"},
    {0},
};

static int64_t outofcore_order_of(const struct iot_block *block, int64_t index)
{
    return (int64_t)iot_spec_find(block, "size")->numbers[index % (int64_t)iot_spec_number(block, "numsizes")];
}

static int64_t outofcore_panel_asked(const struct iot_block *block)
{
    return iot_spec_find(block, "panel") ? (int64_t)iot_spec_number(block, "panel") : 0;
}

int64_t outofcore_memory(const struct iot_block *block)
{
    return iot_spec_find(block, "memory")->integers[0];
}

struct lu_plan outofcore_plan(const struct iot_block *block, int nprocs, int64_t index)
{
    return lu_plan_make(outofcore_order_of(block, index), nprocs, outofcore_memory(block),
                        outofcore_panel_asked(block));
}

static pl_status outofcore_check_order(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                       int64_t index, struct pl_error *error)
{
    const struct lu_plan plan = outofcore_plan(block, nprocs, index);
    const int64_t matrix = 8 * plan.n * plan.n, memory = outofcore_memory(block);
    const int64_t least = lu_least_bytes(plan.n, nprocs, outofcore_panel_asked(block));
    if (8 * plan.n * plan.panel > LU_PANEL_BYTES_MAX)
        return iot_spec_fail(spec, block, "panel", error,
                             "%lld columns of %lld numbers are more than one call can move; allowed: at most %lld",
                             (long long)plan.panel, (long long)plan.n, (long long)(LU_PANEL_BYTES_MAX / (8 * plan.n)));
    if (plan.held == 0)
        return iot_spec_fail(
            spec, block, "memory", error,
            "%.6f MB do not hold the panels that order %lld needs on each of %d processes (one kept, one "
            "applied, a share of the next, of %lld columns); allowed: at least %.6f",
            (double)memory * 1e-6, (long long)plan.n, nprocs, (long long)plan.panel, (double)least * 1e-6);
    if (memory >= (matrix + nprocs - 1) / nprocs && !iot_spec_is_true(block, "allow_incore"))
        return iot_spec_fail(
            spec, block, "memory", error,
            "the matrix of order %lld, %.6f MB, fits in the %.6f MB of each of %d processes; allowed: less "
            "than %.6f, or allow_incore true",
            (long long)plan.n, (double)matrix * 1e-6, (double)memory * 1e-6, nprocs, (double)matrix * 1e-6 / nprocs);
    return PL_OK;
}

pl_status outofcore_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                          struct pl_error *error)
{
    const int64_t sizes = (int64_t)iot_spec_number(block, "numsizes");
    pl_status status = iot_check_list(spec, block, "numsizes", "size", error);
    for (int64_t i = 0; i < sizes && status == PL_OK; i++)
        status = outofcore_check_order(spec, block, nprocs, i, error);
    *ret_sets = sizes * (int64_t)iot_spec_number(block, "repeat");
    return status;
}

void outofcore_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct lu_plan plan = outofcore_plan(block, nprocs, index);
    const int64_t matrix = 8 * plan.n * plan.n, streamed = lu_streamed_panels(&plan) + 2 * plan.panels;
    const int64_t samples = 3 * plan.held * plan.slabs + 2 * streamed;
    int64_t lower = 0; /* read once more to solve */
    for (int64_t k = 0; k < plan.panels; k++)
        lower += 8 * lu_width(&plan, k) * (plan.n - lu_top(&plan, k));
    char memory[UNITS_TEXT_MAX];
    *ret_set = (struct iot_set){
        .file_bytes = matrix,
        .write_bytes = 2 * matrix,                                   /* filled, factored */
        .read_bytes = 2 * matrix + lu_streamed_bytes(&plan) + lower, /* slabs, and whole once more to solve */
        .mean_bytes = (double)matrix / (double)plan.panels,          /* of w and r */
        .samples = samples,
        .memory_bytes = lu_plan_bytes(&plan) + plan.n * (int64_t)(sizeof(int) + sizeof(struct outofcore_sums) + 3 * 8) +
                        16 * samples};
    snprintf(ret_set->label, sizeof ret_set->label, "n %lld, memory %s, %lld slabs", (long long)plan.n,
             units_bytes(outofcore_memory(block), memory), (long long)plan.slabs);
}

/* ---- the run ---- */

#define RESIDUAL_MAX 16.0 /* the threshold of the Linpack benchmark */

/* ---- decomposition ---- */

static void outofcore_apply(struct outofcore *o, int64_t k)
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
static pl_status outofcore_factor_own(struct outofcore *o, int64_t k, struct pl_error *error)
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

static void outofcore_share_panel_coll(struct outofcore *o, int64_t k)
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
static pl_status outofcore_factor_inside_coll(struct outofcore *o, struct pl_error *error)
{
    const int64_t end = lu_slab_first(&o->plan, o->slab + 1);
    for (int64_t k = lu_slab_first(&o->plan, o->slab); k < end; k++) {
        pl_status status = k % o->run->nprocs == o->run->rank ? outofcore_factor_own(o, k, error) : PL_OK;
        if (!outofcore_go_on_coll(o, status))
            return status;
        outofcore_share_panel_coll(o, k);
        double since = MPI_Wtime();
        outofcore_apply(o, k);
        outofcore_lap(&since, &o->spent.compute);
    }
    return PL_OK;
}

static pl_status outofcore_factor_slab_coll(struct outofcore *o, struct pl_error *error)
{
    pl_status status = outofcore_read_slab_coll(o, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    status = outofcore_stream_coll(o, lu_slab_first(&o->plan, o->slab), false, outofcore_apply, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    status = outofcore_factor_inside_coll(o, error);
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
        status = outofcore_factor_slab_coll(o, error);
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
static void outofcore_multiply_coll(struct outofcore *o, const double *x, double *y)
{
    const int64_t n = o->n, P = o->run->nprocs, rank = o->run->rank;
    memset(y, 0, (size_t)n * sizeof *y);
    lu_multiply(o->run->seed, n, rank * n / P, (rank + 1) * n / P, x, y);
    MPI_Allreduce(MPI_IN_PLACE, y, o->n, MPI_DOUBLE, MPI_SUM, o->run->comm);
}

static void outofcore_use_lower(struct outofcore *o, int64_t k)
{
    const int64_t top = lu_top(&o->plan, k);
    lu_apply(o->panel, (int)(o->plan.n - top), (int)lu_width(&o->plan, k), o->pivots + top, o->x + top, 1, o->n);
}

static void outofcore_use_whole(struct outofcore *o, int64_t k)
{
    lu_back(o->panel, o->n, (int)lu_top(&o->plan, k), (int)lu_width(&o->plan, k), o->x);
}

static pl_status outofcore_right_side_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    (void)error;
    outofcore_multiply_coll(o, NULL, o->b);
    return PL_OK;
}

/* Every rank has b, and finds the same x: a column is not worth a message. */
static pl_status outofcore_solve_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    memcpy(o->x, o->b, (size_t)o->n * sizeof *o->x);
    pl_status status = outofcore_stream_coll(o, o->plan.panels, false, outofcore_use_lower, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    return outofcore_stream_coll(o, o->plan.panels, true, outofcore_use_whole, error);
}

static double outofcore_largest(const double *values, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fabs(values[i]) > most || isnan(values[i]) ? fabs(values[i]) : most;
    return most;
}

static pl_status outofcore_residual_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    outofcore_multiply_coll(o, o->x, o->rest);
    for (int i = 0; i < o->n; i++)
        o->rest[i] -= o->b[i];
    const double norm = outofcore_largest(
        o->b, o->n); /* of A: no element is negative, so b = A * ones are the sums of rows */
    const double rest = outofcore_largest(o->rest, o->n), x = outofcore_largest(o->x, o->n);
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

static pl_status outofcore_add_series(struct outofcore *o, struct pl_error *error)
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

static pl_status outofcore_take_memory(struct outofcore *o, struct pl_error *error)
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
    pl_status status = outofcore_add_series(o, error);
    if (status == PL_OK)
        status = iot_check_memory(o->run, error);
    return status == PL_OK ? outofcore_take_memory(o, error) : status;
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

static void outofcore_note_params(struct iot_run *run, const struct lu_plan *plan)
{
    iot_param(run, "n", "%lld", (long long)plan->n);
    iot_param(run, "panel", "%lld", (long long)plan->panel);
    iot_param(run, "panels", "%lld", (long long)plan->panels);
    iot_param(run, "slabs", "%lld", (long long)plan->slabs);
    iot_param(run, "memory_bytes", "%lld", (long long)outofcore_memory(run->block));
    iot_param(run, "panels_bytes", "%lld", (long long)lu_plan_bytes(plan));
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "streamed_bytes", "%lld", (long long)lu_streamed_bytes(plan));
    iot_param(run, "collective", "%s", iot_spec_text(run->block, "collective"));
    iot_param(run, "prefetch", "%s", iot_spec_text(run->block, "prefetch"));
    iot_param(run, "check", "%s", iot_spec_text(run->block, "check"));
}

static pl_status outofcore_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct outofcore o = {.run = run,
                          .plan = outofcore_plan(run->block, run->nprocs, run->index),
                          .collective = iot_spec_is_true(run->block, "collective"),
                          .prefetch = iot_spec_is_true(run->block, "prefetch"),
                          .check = strcmp(iot_spec_text(run->block, "check"), "none") != 0,
                          .file = MPI_FILE_NULL};
    o.n = (int)o.plan.n;
    outofcore_note_params(run, &o.plan);
    lu_one_thread();
    const pl_status status = iot_course_coll(
        run, OUTOFCORE_COURSE, sizeof OUTOFCORE_COURSE / sizeof OUTOFCORE_COURSE[0], &o, error, ret_verdict);
    outofcore_free(&o);
    return status;
}

IOT_TEST(outofcore) = {
    .name = "outofcore",
    .keywords = (const struct option_row *const[]){IOT_COMMON_BOTH_ONLY, OUTOFCORE_KEYWORDS, NULL},
    .summary = "LU decomposition of a matrix larger than the memory given to it",
    IOT_TEST_CALLS(outofcore),
};
