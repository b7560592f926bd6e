/* How the kernel outofcore moves its panels, and notices that one is not what was written. */
#include "bench/iot/iot_outofcore.h"

#include "bench/iot/iot.h"
#include "lab/facts/environment.h"

double *outofcore_own_panel(const struct outofcore *o, int64_t i)
{
    return o->own + i * o->plan.panel * o->plan.n;
}

int64_t outofcore_byte_of(const struct outofcore *o, int64_t k)
{
    return 8 * lu_top(&o->plan, k) * o->plan.n;
}

void outofcore_lap(double *since, double *total)
{
    const double now = MPI_Wtime();
    *total += now - *since;
    *since = now;
}

bool outofcore_go_on_coll(struct outofcore *o, pl_status status)
{
    double since = MPI_Wtime();
    const int fine = status == PL_OK;
    int all_fine = 0;
    MPI_Allreduce(&fine, &all_fine, 1, MPI_INT, MPI_MIN, o->run->comm);
    outofcore_lap(&since, &o->spent.comm);
    return all_fine;
}

/* ---- sums ---- */

/* `column` begins at row `top` of a column of panel k: row 0, or that of the diagonal block. */
static struct outofcore_sums panels_sums_of(const struct outofcore *o, int64_t k, int64_t top, const double *column)
{
    const int64_t diagonal = lu_top(&o->plan, k);
    return (struct outofcore_sums){.upper = lu_sum(column, diagonal - top),
                                   .lower = lu_sum(column + (diagonal - top), o->plan.n - diagonal)};
}

void outofcore_note_sums(struct outofcore *o, int64_t k, const double *panel)
{
    double since = MPI_Wtime();
    for (int64_t c = 0; o->check && c < lu_width(&o->plan, k); c++)
        o->sums[lu_top(&o->plan, k) + c] = panels_sums_of(o, k, 0, panel + c * o->plan.n);
    outofcore_lap(&since, &o->spent.check);
}

static pl_status panels_compare_sums(struct outofcore *o, const struct outofcore_part *part, const double *columns,
                                     struct pl_error *error)
{
    for (int64_t c = 0; c < part->columns; c++) {
        const int64_t column = lu_top(&o->plan, part->k) + part->first + c;
        const struct outofcore_sums is = panels_sums_of(o, part->k, part->top, columns + c * part->rows);
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

static pl_status panels_check_sums(struct outofcore *o, const struct outofcore_part *part, const double *columns,
                                   struct pl_error *error)
{
    double since = MPI_Wtime();
    const pl_status status = o->check ? panels_compare_sums(o, part, columns, error) : PL_OK;
    outofcore_lap(&since, &o->spent.check);
    return status;
}

/* ---- whole panels of this rank ---- */

static pl_status panels_judge(const struct outofcore *o, const char *doing, int64_t k, int wanted, int code,
                              const MPI_Status *moved, struct pl_error *error)
{
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s panel %lld at byte %lld of '%s'", doing, (long long)k,
                             (long long)outofcore_byte_of(o, k), o->run->filename);
    int count = 0;
    if (wanted > 0)
        MPI_Get_count(moved, MPI_DOUBLE, &count);
    if (count == wanted)
        return PL_OK;
    pl_fail(error, PL_E_SYSTEM, "%s panel %lld at byte %lld of '%s': only %d of %d numbers moved", doing, (long long)k,
            (long long)outofcore_byte_of(o, k), o->run->filename, count, wanted);
    return iot_file_note_full_disk(o->run, doing, error);
}

pl_status outofcore_view_coll(struct outofcore *o, struct pl_error *error)
{
    const int code = MPI_File_set_view(o->file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", o->run->info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting the view of '%s'", o->run->filename);
}

static int panels_move(struct outofcore *o, bool writes, int64_t offset, double *panel, int count, MPI_Status *moved)
{
    if (writes)
        return o->collective ? MPI_File_write_at_all(o->file, offset, panel, count, MPI_DOUBLE, moved)
                             : MPI_File_write_at(o->file, offset, panel, count, MPI_DOUBLE, moved);
    return o->collective ? MPI_File_read_at_all(o->file, offset, panel, count, MPI_DOUBLE, moved)
                         : MPI_File_read_at(o->file, offset, panel, count, MPI_DOUBLE, moved);
}

/* All panels of the slab, one call for each. A rank that has no such panel, or has failed, takes part with nothing. */
pl_status outofcore_move_slab_coll(struct outofcore *o, bool writes, struct pl_error *error)
{
    pl_status status = o->collective ? outofcore_view_coll(o, error) : PL_OK;
    for (int64_t i = 0; i < o->plan.held; i++) {
        const int64_t k = lu_panel_at(&o->plan, o->slab, i, o->run->rank);
        const bool mine = k < o->plan.panels && status == PL_OK;
        const int count = mine ? (int)(o->plan.n * lu_width(&o->plan, k)) : 0;
        if (!mine && !o->collective)
            continue;
        MPI_Status moved;
        const double begin = MPI_Wtime();
        const int code = panels_move(o, writes, mine ? outofcore_byte_of(o, k) / 8 : 0, outofcore_own_panel(o, i),
                                     count, &moved);
        const double end = MPI_Wtime();
        *(writes ? &o->spent.write : &o->spent.read) += end - begin;
        struct sample_series *series = writes ? o->w : o->r;
        if (mine)
            sample_put(series, series->count, begin, end);
        if (status == PL_OK)
            status = panels_judge(o, writes ? "writing" : "reading", k, count, code, &moved, error);
    }
    return status;
}

pl_status outofcore_read_slab_coll(struct outofcore *o, struct pl_error *error)
{
    pl_status status = outofcore_move_slab_coll(o, false, error);
    for (int64_t i = 0; i < o->plan.held && status == PL_OK; i++) {
        const int64_t k = lu_panel_at(&o->plan, o->slab, i, o->run->rank);
        if (k >= o->plan.panels)
            break;
        const int width = (int)lu_width(&o->plan, k);
        const struct outofcore_part whole = {.k = k, .rows = o->n, .width = width, .columns = width};
        status = panels_check_sums(o, &whole, outofcore_own_panel(o, i), error);
    }
    return status;
}

/* What a rank wrote becomes visible to the others by this sequence only. */
pl_status outofcore_make_visible_coll(struct outofcore *o, struct pl_error *error)
{
    double since = MPI_Wtime();
    const pl_status status = iot_file_sync_coll(o->run, o->file, error);
    MPI_Barrier(o->run->comm);
    struct pl_error second_error;
    const pl_status second = iot_file_sync_coll(o->run, o->file, &second_error);
    outofcore_lap(&since, &o->spent.sync);
    if (status == PL_OK && second != PL_OK)
        *error = second_error;
    return status != PL_OK ? status : second;
}

/* ---- streamed panels ---- */

static struct outofcore_part panels_part_of(const struct outofcore *o, int64_t k, bool whole)
{
    const int64_t width = lu_width(&o->plan, k), top = whole ? 0 : lu_top(&o->plan, k);
    const int64_t P = o->run->nprocs, rank = o->run->rank;
    const int64_t first = rank * width / P, next = (rank + 1) * width / P;
    return (struct outofcore_part){.k = k,
                                   .top = top,
                                   .rows = (int)(o->plan.n - top),
                                   .width = (int)width,
                                   .first = (int)first,
                                   .columns = (int)(next - first)};
}

/* A call for each column: contiguous, so that MPI can hand it to the system and leave us to compute. (Through a view
 * an independent call is emulated, and ROMIO does that before it returns.) */
static int panels_start_independent(struct outofcore *o, const struct outofcore_part *part)
{
    struct outofcore_stream *stream = &o->stream;
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
static int panels_start_coll(struct outofcore *o, const struct outofcore_part *part)
{
    struct outofcore_stream *stream = &o->stream;
    MPI_Datatype type;
    MPI_Type_vector(part->width, part->rows, o->n, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    const MPI_Offset begin = outofcore_byte_of(o, part->k) + 8 * part->top;
    const int view = MPI_File_set_view(o->file, begin, MPI_DOUBLE, type, "native", o->run->info);
    MPI_Type_free(&type);
    const int count = view == MPI_SUCCESS ? part->columns * part->rows : 0;
    const int code = MPI_File_iread_at_all(o->file, (MPI_Offset)part->first * part->rows, o->share, count, MPI_DOUBLE,
                                           &stream->requests[0]);
    stream->started = code == MPI_SUCCESS;
    return view != MPI_SUCCESS ? view : code;
}

static void panels_stream_start_coll(struct outofcore *o, struct outofcore_part part)
{
    struct outofcore_stream *stream = &o->stream;
    stream->part = part;
    stream->started = stream->landed = 0;
    stream->status = PL_OK;
    const double begin = MPI_Wtime();
    const int code = o->collective ? panels_start_coll(o, &part) : panels_start_independent(o, &part);
    stream->seconds = MPI_Wtime() - begin;
    if (code != MPI_SUCCESS)
        stream->status = coll_fail_mpi(&stream->error, code, "starting to read panel %lld at byte %lld of '%s'",
                                       (long long)part.k, (long long)outofcore_byte_of(o, part.k), o->run->filename);
}

/* Of each request. */
static int64_t panels_stream_bytes(const struct outofcore *o)
{
    const struct outofcore_part *part = &o->stream.part;
    return 8 * (int64_t)part->rows * (o->collective ? part->columns : 1);
}

static void panels_stream_land(struct outofcore *o, int code, const MPI_Status *moved)
{
    struct outofcore_stream *stream = &o->stream;
    const struct outofcore_part *part = &stream->part;
    const int wanted = o->collective ? part->columns * part->rows : part->rows;
    stream->landed++;
    if (stream->status == PL_OK)
        stream->status = panels_judge(o, "reading", part->k, wanted, code, moved, &stream->error);
}

void outofcore_stream_poke(struct outofcore *o)
{
    struct outofcore_stream *stream = &o->stream;
    const double begin = MPI_Wtime();
    for (int done = 1; done && stream->landed < stream->started;) {
        MPI_Status moved;
        const int code = environment_test_file(&stream->requests[stream->landed], panels_stream_bytes(o), &done,
                                               &moved);
        if (done || code != MPI_SUCCESS)
            panels_stream_land(o, code, &moved);
    }
    const double seconds = MPI_Wtime() - begin;
    stream->seconds += seconds;
    o->spent.compute -= seconds; /* whoever computes counts it in */
}

static pl_status panels_stream_finish(struct outofcore *o, struct pl_error *error)
{
    struct outofcore_stream *stream = &o->stream;
    const double begin = MPI_Wtime();
    while (stream->landed < stream->started) {
        MPI_Status moved;
        const int code = environment_wait_file(&stream->requests[stream->landed], panels_stream_bytes(o), &moved);
        panels_stream_land(o, code, &moved);
    }
    stream->seconds += MPI_Wtime() - begin;
    o->spent.read += stream->seconds;
    o->spent.wait += stream->seconds;
    o->s->values[o->s->count++] = stream->seconds;
    o->sb->values[o->sb->count++] = 8.0 * stream->part.columns * stream->part.rows;
    if (stream->status == PL_OK)
        stream->status = panels_check_sums(o, &stream->part, o->share, &stream->error);
    if (stream->status != PL_OK)
        *error = stream->error;
    return stream->status;
}

/* A file that was cut off must be noticed before a read is started: with OMPIO a non-blocking one across the end of the
 * file never ends. (One that is under way when the file is cut off is lost there.) */
pl_status outofcore_check_length(struct outofcore *o, struct pl_error *error)
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
static void panels_gather_coll(struct outofcore *o)
{
    const struct outofcore_part part = o->stream.part;
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
    outofcore_lap(&since, &o->spent.comm);
}

pl_status outofcore_stream_coll(struct outofcore *o, int64_t count, bool downwards, outofcore_use *use,
                                struct pl_error *error)
{
    pl_status status = outofcore_check_length(o, error);
    if (!outofcore_go_on_coll(o, status))
        return status;
    for (int64_t j = 0; j < count; j++) {
        const int64_t k = downwards ? count - 1 - j : j, next = downwards ? k - 1 : k + 1;
        if (j == 0 || !o->prefetch)
            panels_stream_start_coll(o, panels_part_of(o, k, downwards));
        status = panels_stream_finish(o, error);
        if (status == PL_OK)
            status = outofcore_check_length(o, error);
        if (!outofcore_go_on_coll(o, status))
            return status;
        panels_gather_coll(o);
        if (j + 1 < count && o->prefetch)
            panels_stream_start_coll(o, panels_part_of(o, next, downwards));
        double since = MPI_Wtime();
        use(o, k);
        outofcore_lap(&since, &o->spent.compute);
    }
    return PL_OK;
}
