/* The array on one rank: its values, its view of the file, the one call that moves it. */
#include "bench/iot/iot_matrix.h"
#include "bench/iot/iot_file.h"

#include "base/rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

double matrix_value(uint64_t seed, int64_t offset)
{
    return rng_unit(rng_at(seed, (uint64_t)offset));
}

pl_status matrix_new(const piolet_dist *dist, int rank, double **ret_buffer, struct pl_error *error)
{
    const int64_t count = piolet_dist_count(dist, rank);
    *ret_buffer = malloc((size_t)(count > 0 ? count : 1) * sizeof **ret_buffer);
    if (!*ret_buffer)
        return pl_fail_errno(error, ENOMEM, "taking memory for %lld elements", (long long)count);
    return PL_OK;
}

void matrix_fill(const piolet_dist *dist, int rank, uint64_t seed, double *buffer)
{
    struct piolet_dist_runs runs;
    struct piolet_dist_run run;
    piolet_dist_runs_begin(&runs, dist, rank);
    while (piolet_dist_runs_next(&runs, &run))
        for (int64_t i = 0; i < run.length; i++)
            *buffer++ = matrix_value(seed, run.offset + i);
}

static pl_status wrong(const struct iot_run *run, const piolet_dist *dist, int64_t offset, double got,
                       const char *doing, struct pl_error *error)
{
    int64_t index[PIOLET_DIST_DIMS_MAX] = {0};
    piolet_dist_index(dist, offset, index);
    return pl_fail(error, PL_E_DATA,
                   "%s: element (%lld, %lld, %lld), byte %lld of '%s', is %.17g, but %.17g was written", doing,
                   (long long)index[0], (long long)index[1], (long long)index[2], (long long)offset * 8, run->filename,
                   got, matrix_value(run->seed, offset));
}

/* All elements, or the first and last of every run and one in every 4 KiB. A transposed buffer is looked up. */
pl_status matrix_verify(const struct iot_run *run, const piolet_dist *dist, const double *buffer, const char *doing,
                        struct pl_error *error)
{
    enum { STRETCH = 512 };
    const enum iot_check check = iot_check_named(spec_text(run->block, "check"));
    const bool transposed = piolet_dist_spec_of(dist)->transposed;
    const int64_t step = check == IOT_CHECK_FULL ? 1 : STRETCH;
    struct piolet_dist_runs runs;
    struct piolet_dist_run part;
    int64_t local = 0, skipped = 0;
    piolet_dist_runs_begin(&runs, dist, run->rank);
    while (check != IOT_CHECK_NONE && piolet_dist_runs_next(&runs, &part)) {
        for (int64_t i = skipped % step; i < part.length; i += step) {
            const int64_t offset = part.offset + i;
            const int64_t place = transposed ? piolet_dist_local_of_offset(dist, run->rank, offset) : local + i;
            if (buffer[place] != matrix_value(run->seed, offset))
                return wrong(run, dist, offset, buffer[place], doing, error);
        }
        const int64_t last = part.offset + part.length - 1;
        const int64_t place = transposed ? piolet_dist_local_of_offset(dist, run->rank, last) : local + part.length - 1;
        if (buffer[place] != matrix_value(run->seed, last))
            return wrong(run, dist, last, buffer[place], doing, error);
        local += part.length;
        skipped += 37; /* another place of the stretch in every run */
    }
    return PL_OK;
}

void matrix_note(struct iot_run *run, const piolet_dist *dist)
{
    static const char *const names[] = {"x", "y", "z"};
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(dist);
    char text[PIOLET_DIST_TEXT_MAX] = "";
    for (int d = 0; d < shape->dims && d < MATRIX_DIMS_MAX; d++) {
        char key[16];
        snprintf(key, sizeof key, "%ssize", names[d]);
        iot_param(run, key, "%lld", (long long)shape->size[d]);
    }
    for (int d = 0; d < shape->dims && d < MATRIX_DIMS_MAX; d++) {
        char key[16];
        snprintf(key, sizeof key, "%sproc", names[d]);
        iot_param(run, key, "%lld", (long long)shape->grid[d]);
    }
    piolet_dist_format(piolet_dist_spec_of(dist), text, sizeof text);
    iot_param(run, "distribution", "%s", text);
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
}

/* ---- an MPI file seen through a distribution ---- */

pl_status matrix_types(const piolet_dist *dist, int rank, struct matrix_view *view, struct pl_error *error)
{
    char message[PIOLET_DIST_MESSAGE_MAX];
    view->filetype = view->memtype = MPI_DATATYPE_NULL;
    if (piolet_dist_filetype(dist, rank, MPI_DOUBLE, &view->filetype, message, sizeof message) != PIOLET_DIST_OK ||
        piolet_dist_memtype(dist, rank, MPI_DOUBLE, &view->memtype, message, sizeof message) != PIOLET_DIST_OK)
        return pl_fail(error, PL_E_MPI, "making the types of the array: %s", message);
    return PL_OK;
}

void matrix_types_free(struct matrix_view *view)
{
    if (view->filetype != MPI_DATATYPE_NULL)
        MPI_Type_free(&view->filetype);
    if (view->memtype != MPI_DATATYPE_NULL)
        MPI_Type_free(&view->memtype);
}

pl_status matrix_set_view_coll(const struct iot_run *run, struct matrix_view *view, struct pl_error *error)
{
    const int code = MPI_File_set_view(view->file, 0, MPI_DOUBLE, view->filetype, "native", run->info);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "setting the view of '%s'", run->filename);
    return PL_OK;
}

static pl_status moved(const struct iot_run *run, const char *doing, int code, MPI_Status *status, int64_t count,
                       struct pl_error *error)
{
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s %lld elements of '%s'", doing, (long long)count, run->filename);
    MPI_Count elements = 0;
    MPI_Get_elements_x(status, MPI_DOUBLE, &elements);
    if (elements == count)
        return PL_OK;
    pl_fail(error, PL_E_SYSTEM, "%s '%s': only %lld of %lld elements moved", doing, run->filename,
            elements == MPI_UNDEFINED ? 0 : (long long)elements, (long long)count);
    return iot_file_note_full_disk(run, doing, error);
}

static bool is_collective(const struct iot_run *run)
{
    return spec_is_true(run->block, "collective");
}

pl_status matrix_write_coll(const struct iot_run *run, struct matrix_view *view, const double *buffer, int64_t count,
                            struct pl_error *error)
{
    MPI_Status status;
    const int code = is_collective(run)
                         ? MPI_File_write_at_all(view->file, 0, buffer, count > 0, view->memtype, &status)
                         : MPI_File_write_at(view->file, 0, buffer, count > 0, view->memtype, &status);
    return moved(run, "writing", code, &status, count, error);
}

pl_status matrix_read_coll(const struct iot_run *run, struct matrix_view *view, double *buffer, int64_t count,
                           struct pl_error *error)
{
    MPI_Status status;
    const int code = is_collective(run) ? MPI_File_read_at_all(view->file, 0, buffer, count > 0, view->memtype, &status)
                                        : MPI_File_read_at(view->file, 0, buffer, count > 0, view->memtype, &status);
    return moved(run, "reading", code, &status, count, error);
}
