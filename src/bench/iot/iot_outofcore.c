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
#include "bench/iot/iot_outofcore.h"

#include "bench/iot/iot_course.h"
#include "bench/iot/iot_file.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESIDUAL_MAX 16.0 /* the threshold of the Linpack benchmark */

/* Rows `top` to n - 1 of panel k, and this rank's columns of them. */
struct part {
    int64_t k, top;
    int rows, width;
    int first, columns; /* this rank's, counted from the panel's first */
};

/* The part that is on its way into `share`. */
struct stream {
    struct part part;
    MPI_Request *requests;
    int started, landed;
    double seconds; /* spent on it in MPI calls */
    pl_status status;
    struct pl_error error;
};

struct spent {
    double read, write, wait, sync, compute, comm, check;
};

struct outofcore {
    struct iot_run *run;
    struct lu_plan plan;
    int n;
    bool collective, prefetch, check;
    MPI_File file;
    double *own;   /* plan.held panels of n rows: this rank's part of the slab */
    double *panel; /* the panel that is applied, packed */
    double *share;
    int *pivots; /* of all columns; within a panel from 1 */
    struct outofcore_sums *sums;
    double *b, *x, *rest; /* rest: A x - b */
    struct stream stream;
    int *counts, *places; /* of MPI_Allgatherv */
    struct spent spent;
    int64_t slab;
    struct sample_series *r, *w, *s, *sb;
};

static double *own_panel(const struct outofcore *o, int64_t i)
{
    return o->own + i * o->plan.panel * o->plan.n;
}

static int64_t byte_of(const struct outofcore *o, int64_t k)
{
    return 8 * lu_top(&o->plan, k) * o->plan.n;
}

/* Adds the time since *since, and begins anew. */
static void lap(double *since, double *total)
{
    const double now = MPI_Wtime();
    *total += now - *since;
    *since = now;
}

/* No rank works with what another one failed to read. The words stay with the rank that failed: the course asks for
 * them at the end of the step. */
static bool go_on_coll(struct outofcore *o, pl_status status)
{
    double since = MPI_Wtime();
    const int fine = status == PL_OK;
    int all_fine = 0;
    MPI_Allreduce(&fine, &all_fine, 1, MPI_INT, MPI_MIN, o->run->comm);
    lap(&since, &o->spent.comm);
    return all_fine;
}

/* ---- sums ---- */

/* `column` begins at row `top` of a column of panel k: row 0, or that of the diagonal block. */
static struct outofcore_sums sums_of(const struct outofcore *o, int64_t k, int64_t top, const double *column)
{
    const int64_t diagonal = lu_top(&o->plan, k);
    return (struct outofcore_sums){.upper = lu_sum(column, diagonal - top),
                                   .lower = lu_sum(column + (diagonal - top), o->plan.n - diagonal)};
}

static void note_sums(struct outofcore *o, int64_t k, const double *panel)
{
    double since = MPI_Wtime();
    for (int64_t c = 0; o->check && c < lu_width(&o->plan, k); c++)
        o->sums[lu_top(&o->plan, k) + c] = sums_of(o, k, 0, panel + c * o->plan.n);
    lap(&since, &o->spent.check);
}

static pl_status compare_sums(struct outofcore *o, const struct part *part, const double *columns,
                              struct pl_error *error)
{
    for (int64_t c = 0; c < part->columns; c++) {
        const int64_t column = lu_top(&o->plan, part->k) + part->first + c;
        const struct outofcore_sums is = sums_of(o, part->k, part->top, columns + c * part->rows);
        const struct outofcore_sums was = o->sums[column];
        const bool upper_differs = part->top == 0 && is.upper != was.upper;
        if (!upper_differs && is.lower == was.lower)
            continue;
        const int64_t begin = upper_differs ? 0 : lu_top(&o->plan, part->k);
        const int64_t end = upper_differs && is.lower == was.lower ? lu_top(&o->plan, part->k) : o->plan.n;
        return pl_fail(error, PL_E_DATA,
                       "reading panel %lld: column %lld, bytes %lld to %lld of '%s', is not what was written (sums "
                       "differ); the file was changed behind our back, or the write was lost",
                       (long long)part->k, (long long)column, (long long)(8 * (column * o->plan.n + begin)),
                       (long long)(8 * (column * o->plan.n + end) - 1), o->run->filename);
    }
    return PL_OK;
}

static pl_status check_sums(struct outofcore *o, const struct part *part, const double *columns, struct pl_error *error)
{
    double since = MPI_Wtime();
    const pl_status status = o->check ? compare_sums(o, part, columns, error) : PL_OK;
    lap(&since, &o->spent.check);
    return status;
}

/* ---- whole panels of this rank ---- */

static pl_status judge(const struct outofcore *o, const char *doing, int64_t k, int wanted, int code,
                       const MPI_Status *moved, struct pl_error *error)
{
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s panel %lld at byte %lld of '%s'", doing, (long long)k,
                             (long long)byte_of(o, k), o->run->filename);
    int count = 0;
    if (wanted > 0)
        MPI_Get_count(moved, MPI_DOUBLE, &count);
    if (count == wanted)
        return PL_OK;
    return pl_fail(error, PL_E_SYSTEM, "%s panel %lld at byte %lld of '%s': only %d of %d numbers moved", doing,
                   (long long)k, (long long)byte_of(o, k), o->run->filename, count, wanted);
}

/* Collective calls see the file through a view; with explicit offsets it is that of doubles from the first one on. */
static pl_status plain_view_coll(struct outofcore *o, struct pl_error *error)
{
    const int code = MPI_File_set_view(o->file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", o->run->info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting the view of '%s'", o->run->filename);
}

static int move(struct outofcore *o, bool writes, int64_t offset, double *panel, int count, MPI_Status *moved)
{
    if (writes)
        return o->collective ? MPI_File_write_at_all(o->file, offset, panel, count, MPI_DOUBLE, moved)
                             : MPI_File_write_at(o->file, offset, panel, count, MPI_DOUBLE, moved);
    return o->collective ? MPI_File_read_at_all(o->file, offset, panel, count, MPI_DOUBLE, moved)
                         : MPI_File_read_at(o->file, offset, panel, count, MPI_DOUBLE, moved);
}

/* All panels of the slab, one call for each. A rank that has no such panel, or has failed, takes part with nothing. */
static pl_status move_slab_coll(struct outofcore *o, bool writes, struct pl_error *error)
{
    pl_status status = o->collective ? plain_view_coll(o, error) : PL_OK;
    for (int64_t i = 0; i < o->plan.held; i++) {
        const int64_t k = lu_panel_at(&o->plan, o->slab, i, o->run->rank);
        const bool mine = k < o->plan.panels && status == PL_OK;
        const int count = mine ? (int)(o->plan.n * lu_width(&o->plan, k)) : 0;
        if (!mine && !o->collective)
            continue;
        MPI_Status moved;
        const double begin = MPI_Wtime();
        const int code = move(o, writes, mine ? byte_of(o, k) / 8 : 0, own_panel(o, i), count, &moved);
        const double seconds = MPI_Wtime() - begin;
        *(writes ? &o->spent.write : &o->spent.read) += seconds;
        struct sample_series *series = writes ? o->w : o->r;
        if (mine)
            series->values[series->count++] = seconds;
        if (status == PL_OK)
            status = judge(o, writes ? "writing" : "reading", k, count, code, &moved, error);
    }
    return status;
}

static pl_status read_slab_coll(struct outofcore *o, struct pl_error *error)
{
    pl_status status = move_slab_coll(o, false, error);
    for (int64_t i = 0; i < o->plan.held && status == PL_OK; i++) {
        const int64_t k = lu_panel_at(&o->plan, o->slab, i, o->run->rank);
        if (k >= o->plan.panels)
            break;
        const int width = (int)lu_width(&o->plan, k);
        const struct part whole = {.k = k, .rows = o->n, .width = width, .columns = width};
        status = check_sums(o, &whole, own_panel(o, i), error);
    }
    return status;
}

/* What a rank wrote becomes visible to the others by this sequence only. */
static pl_status settle_coll(struct outofcore *o, struct pl_error *error)
{
    double since = MPI_Wtime();
    const pl_status status = iot_file_sync_coll(o->run, o->file, error);
    MPI_Barrier(o->run->comm);
    struct pl_error second_error;
    const pl_status second = iot_file_sync_coll(o->run, o->file, &second_error);
    lap(&since, &o->spent.sync);
    if (status == PL_OK && second != PL_OK)
        *error = second_error;
    return status != PL_OK ? status : second;
}

/* ---- streamed panels ---- */

static struct part part_of(const struct outofcore *o, int64_t k, bool whole)
{
    const int64_t width = lu_width(&o->plan, k), top = whole ? 0 : lu_top(&o->plan, k);
    const int64_t P = o->run->nprocs, rank = o->run->rank;
    const int64_t first = rank * width / P, next = (rank + 1) * width / P;
    return (struct part){.k = k,
                         .top = top,
                         .rows = (int)(o->plan.n - top),
                         .width = (int)width,
                         .first = (int)first,
                         .columns = (int)(next - first)};
}

/* A call for each column: contiguous, so that MPI can hand it to the system and leave us to compute. (Through a view
 * an independent call is emulated, and ROMIO does that before it returns.) */
static int start_independent(struct outofcore *o, const struct part *part)
{
    struct stream *stream = &o->stream;
    int code = MPI_SUCCESS;
    for (int c = 0; c < part->columns && code == MPI_SUCCESS; c++) {
        const MPI_Offset at = (lu_top(&o->plan, part->k) + part->first + c) * o->plan.n + part->top;
        code = MPI_File_iread_at(o->file, at, o->share + (int64_t)c * part->rows, part->rows, MPI_DOUBLE,
                                 &stream->requests[stream->started]);
        stream->started += code == MPI_SUCCESS;
    }
    return code;
}

/* One call: the view shows the part of the panel as if nothing else were in the file. A rank whose view failed takes
 * part with nothing. */
static int start_coll(struct outofcore *o, const struct part *part)
{
    struct stream *stream = &o->stream;
    MPI_Datatype type;
    MPI_Type_vector(part->width, part->rows, o->n, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    const MPI_Offset begin = byte_of(o, part->k) + 8 * part->top;
    const int view = MPI_File_set_view(o->file, begin, MPI_DOUBLE, type, "native", o->run->info);
    MPI_Type_free(&type);
    const int count = view == MPI_SUCCESS ? part->columns * part->rows : 0;
    const int code = MPI_File_iread_at_all(o->file, (MPI_Offset)part->first * part->rows, o->share, count, MPI_DOUBLE,
                                           &stream->requests[0]);
    stream->started = code == MPI_SUCCESS;
    return view != MPI_SUCCESS ? view : code;
}

static void stream_start_coll(struct outofcore *o, struct part part)
{
    struct stream *stream = &o->stream;
    stream->part = part;
    stream->started = stream->landed = 0;
    stream->status = PL_OK;
    const double begin = MPI_Wtime();
    const int code = o->collective ? start_coll(o, &part) : start_independent(o, &part);
    stream->seconds = MPI_Wtime() - begin;
    if (code != MPI_SUCCESS)
        stream->status = coll_fail_mpi(&stream->error, code, "starting to read panel %lld at byte %lld of '%s'",
                                       (long long)part.k, (long long)byte_of(o, part.k), o->run->filename);
}

static void stream_land(struct outofcore *o, int code, const MPI_Status *moved)
{
    struct stream *stream = &o->stream;
    const struct part *part = &stream->part;
    const int wanted = o->collective ? part->columns * part->rows : part->rows;
    stream->landed++;
    if (stream->status == PL_OK)
        stream->status = judge(o, "reading", part->k, wanted, code, moved, &stream->error);
}

/* Between two pieces of computation: many MPI libraries move data only while they are called. */
static void stream_poke(struct outofcore *o)
{
    struct stream *stream = &o->stream;
    const double begin = MPI_Wtime();
    for (int done = 1; done && stream->landed < stream->started;) {
        MPI_Status moved;
        const int code = MPI_Test(&stream->requests[stream->landed], &done, &moved);
        if (done || code != MPI_SUCCESS)
            stream_land(o, code, &moved);
    }
    const double seconds = MPI_Wtime() - begin;
    stream->seconds += seconds;
    o->spent.compute -= seconds; /* whoever computes counts it in */
}

static pl_status stream_finish(struct outofcore *o, struct pl_error *error)
{
    struct stream *stream = &o->stream;
    const double begin = MPI_Wtime();
    while (stream->landed < stream->started) {
        MPI_Status moved;
        const int code = MPI_Wait(&stream->requests[stream->landed], &moved);
        stream_land(o, code, &moved);
    }
    stream->seconds += MPI_Wtime() - begin;
    o->spent.read += stream->seconds;
    o->spent.wait += stream->seconds;
    o->s->values[o->s->count++] = stream->seconds;
    o->sb->values[o->sb->count++] = 8.0 * stream->part.columns * stream->part.rows;
    if (stream->status == PL_OK)
        stream->status = check_sums(o, &stream->part, o->share, &stream->error);
    if (stream->status != PL_OK)
        *error = stream->error;
    return stream->status;
}

/* A file that was cut off must be noticed before a read is started: with OMPIO a non-blocking one across the end of the
 * file never ends. (One that is under way when the file is cut off is lost there.) */
static pl_status check_length(struct outofcore *o, struct pl_error *error)
{
    MPI_Offset bytes = 0;
    const int code = MPI_File_get_size(o->file, &bytes);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "asking for the size of '%s'", o->run->filename);
    if (bytes >= o->run->set.file_bytes)
        return PL_OK;
    return pl_fail(error, PL_E_DATA,
                   "'%s' has only %lld of its %lld bytes: it was cut off behind our back, or what was written is lost",
                   o->run->filename, (long long)bytes, (long long)o->run->set.file_bytes);
}

/* From the shares of all ranks to the whole part, in `panel`; `share` is free then. */
static void gather_coll(struct outofcore *o)
{
    const struct part part = o->stream.part;
    const int64_t P = o->run->nprocs;
    if (P == 1) {
        double *panel = o->panel;
        o->panel = o->share;
        o->share = panel;
        return;
    }
    double since = MPI_Wtime();
    for (int64_t rank = 0; rank < P; rank++) {
        o->places[rank] = (int)(rank * part.width / P) * part.rows;
        o->counts[rank] = (int)((rank + 1) * part.width / P) * part.rows - o->places[rank];
    }
    MPI_Allgatherv(o->share, part.columns * part.rows, MPI_DOUBLE, o->panel, o->counts, o->places, MPI_DOUBLE,
                   o->run->comm);
    lap(&since, &o->spent.comm);
}

/* What is done with panel k, or its lower part, in o->panel. */
typedef void panel_use(struct outofcore *o, int64_t k);

/* Panels 0 to count - 1, upwards and without their upper parts, or downwards and whole. */
static pl_status stream_coll(struct outofcore *o, int64_t count, bool downwards, panel_use *use, struct pl_error *error)
{
    pl_status status = check_length(o, error);
    if (!go_on_coll(o, status))
        return status;
    for (int64_t j = 0; j < count; j++) {
        const int64_t k = downwards ? count - 1 - j : j, next = downwards ? k - 1 : k + 1;
        if (j == 0 || !o->prefetch)
            stream_start_coll(o, part_of(o, k, downwards));
        status = stream_finish(o, error);
        if (status == PL_OK)
            status = check_length(o, error);
        if (!go_on_coll(o, status))
            return status;
        gather_coll(o);
        if (j + 1 < count && o->prefetch)
            stream_start_coll(o, part_of(o, next, downwards));
        double since = MPI_Wtime();
        use(o, k);
        lap(&since, &o->spent.compute);
    }
    return PL_OK;
}

/* ---- decomposition ---- */

static void apply(struct outofcore *o, int64_t k)
{
    const int64_t top = lu_top(&o->plan, k);
    const int rows = (int)(o->plan.n - top), width = (int)lu_width(&o->plan, k);
    for (int64_t i = 0; i < o->plan.held; i++) {
        const int64_t target = lu_panel_at(&o->plan, o->slab, i, o->run->rank);
        if (target <= k || target >= o->plan.panels)
            continue;
        lu_apply(o->panel, rows, width, o->pivots + top, own_panel(o, i) + top, (int)lu_width(&o->plan, target), o->n);
        stream_poke(o);
    }
}

/* Panel k, this rank's: factored, and its lower part copied into o->panel for all. */
static pl_status factor_own(struct outofcore *o, int64_t k, struct pl_error *error)
{
    const int64_t top = lu_top(&o->plan, k), rows = o->plan.n - top, width = lu_width(&o->plan, k);
    double *own = own_panel(o, k / o->plan.nprocs % o->plan.held);
    double since = MPI_Wtime();
    const int column = lu_factor(own + top, (int)rows, (int)width, o->n, o->pivots + top);
    for (int64_t c = 0; c < width; c++)
        memcpy(o->panel + c * rows, own + c * o->plan.n + top, (size_t)rows * 8);
    lap(&since, &o->spent.compute);
    note_sums(o, k, own);
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
    lap(&since, &o->spent.comm);
}

/* The slab's own panels, one after the other: factored by the owner, applied by all to those behind it. */
static pl_status factor_inside_coll(struct outofcore *o, struct pl_error *error)
{
    const int64_t end = lu_slab_first(&o->plan, o->slab + 1);
    for (int64_t k = lu_slab_first(&o->plan, o->slab); k < end; k++) {
        pl_status status = k % o->run->nprocs == o->run->rank ? factor_own(o, k, error) : PL_OK;
        if (!go_on_coll(o, status))
            return status;
        share_panel_coll(o, k);
        double since = MPI_Wtime();
        apply(o, k);
        lap(&since, &o->spent.compute);
    }
    return PL_OK;
}

static pl_status factor_slab_coll(struct outofcore *o, struct pl_error *error)
{
    pl_status status = read_slab_coll(o, error);
    if (!go_on_coll(o, status))
        return status;
    status = stream_coll(o, lu_slab_first(&o->plan, o->slab), false, apply, error);
    if (!go_on_coll(o, status))
        return status;
    status = factor_inside_coll(o, error);
    if (!go_on_coll(o, status))
        return status;
    status = move_slab_coll(o, true, error);
    if (!go_on_coll(o, status))
        return status;
    return settle_coll(o, error);
}

static pl_status outofcore_factor_coll(void *test, struct pl_error *error)
{
    struct outofcore *o = test;
    o->spent = (struct spent){0};
    pl_status status = PL_OK;
    const double begin = MPI_Wtime();
    for (o->slab = 0; o->slab < o->plan.slabs; o->slab++) {
        status = factor_slab_coll(o, error);
        if (!go_on_coll(o, status))
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
    pl_status status = stream_coll(o, o->plan.panels, false, use_lower, error);
    if (!go_on_coll(o, status))
        return status;
    return stream_coll(o, o->plan.panels, true, use_whole, error);
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
    return status == PL_OK ? plain_view_coll(o, error) : status;
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
            lu_fill(o->run->seed, byte_of(o, k) / 8, own_panel(o, i), lu_width(&o->plan, k) * o->plan.n);
            note_sums(o, k, own_panel(o, i));
        }
        const pl_status status = move_slab_coll(o, true, error);
        if (!go_on_coll(o, status))
            return status;
    }
    /* On a full disk OMPIO's collective writes succeed all the same, and the sync would hang. */
    return check_length(o, error);
}

static pl_status outofcore_settle_coll(void *test, struct pl_error *error)
{
    return settle_coll(test, error);
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
    iot_remove_file(run);
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
