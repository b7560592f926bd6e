/* irregular: nodes and elements of an unstructured mesh, written and read in global order through indexed filetypes
 * (IOT-27).
 *
 * The file has four sections: the nodes' coordinates (3 doubles each), the elements' nodes (4 int64 each), and the
 * fields of nodes and of elements (doubles, field after field). Each is in the order of global numbers, byte for byte
 * as one process would write it, whoever owns what. One call moves a rank's share of a section; its view lists the
 * pieces.
 *
 * write_… and read_… are the times of these calls, write and read their sums; view_time is that of building filetypes
 * and setting views. At the end every rank reads all nodes of its elements, also those that others own: ghost. */
#include "bench/iot/iot_irregular.h"
#include "bench/iot/iot_course.h"
#include "bench/iot/iot_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the calls that are measured ---- */

enum pass { WRITE, READ, GHOST };

static int transfer_coll(const struct irregular *k, bool collective, enum pass pass, int count, MPI_Datatype type,
                         MPI_Status *ret_moved)
{
    if (pass == WRITE)
        return collective ? MPI_File_write_at_all(k->file, 0, k->buffer, count, type, ret_moved)
                          : MPI_File_write_at(k->file, 0, k->buffer, count, type, ret_moved);
    return collective ? MPI_File_read_at_all(k->file, 0, k->buffer, count, type, ret_moved)
                      : MPI_File_read_at(k->file, 0, k->buffer, count, type, ret_moved);
}

static pl_status judge(const struct irregular *k, const struct irregular_section *s, const char *doing, int code,
                       const MPI_Status *moved, struct pl_error *error)
{
    const int64_t wanted = s->mine->count * s->fields * s->numbers;
    MPI_Count count = 0;
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s %s, %lld numbers of '%s'", doing, s->what, (long long)wanted,
                             k->run->filename);
    if (wanted > 0)
        MPI_Get_elements_x(moved, s->etype, &count);
    if (count == wanted)
        return PL_OK;
    pl_fail(error, PL_E_SYSTEM, "%s %s of '%s': only %lld of %lld numbers moved", doing, s->what, k->run->filename,
            count == MPI_UNDEFINED ? 0 : (long long)count, (long long)wanted);
    return iot_file_note_full_disk(k->run, doing, error);
}

/* Moves the buffer. Whatever fails on the way, every rank comes to every meeting: with nothing, if need be. */
static pl_status move_coll(struct irregular *k, const struct irregular_section *s, enum pass pass, double *ret_seconds,
                           struct pl_error *error)
{
    struct irregular_view view = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    pl_status status = irregular_view_coll(k, s, &view, error);
    const bool has = status == PL_OK && s->mine->count > 0;
    MPI_Status moved;
    MPI_Barrier(k->run->comm); /* no section pays for the one before */
    const double begin = MPI_Wtime();
    const int code = transfer_coll(k, s->collective, pass, has ? s->fields : 0, has ? view.memtype : s->etype, &moved);
    *ret_seconds = MPI_Wtime() - begin;
    if (status == PL_OK)
        status = judge(k, s, pass == WRITE ? "writing" : "reading", code, &moved, error);
    irregular_view_clear(&view);
    return status;
}

static pl_status write_section_coll(struct irregular *k, const struct irregular_section *s, double *ret_seconds,
                                    struct pl_error *error)
{
    irregular_fill(k, s);
    return move_coll(k, s, WRITE, ret_seconds, error);
}

static pl_status read_section_coll(struct irregular *k, const struct irregular_section *s, double *ret_seconds,
                                   struct pl_error *error)
{
    const int64_t bytes = s->mine->count * s->fields * s->numbers * IRREGULAR_NUMBER_BYTES;
    memset(k->buffer, 0xff, (size_t)bytes); /* no number of ours */
    const pl_status status = move_coll(k, s, READ, ret_seconds, error);
    return status == PL_OK ? irregular_verify(k, s, error) : status;
}

/* Through the file, section by section; the first failure is the one to report. GHOST reads the sections of nodes. */
static pl_status pass_coll(struct irregular *k, enum pass pass, const char *key, struct pl_error *error)
{
    pl_status status = PL_OK;
    double total_s = 0, seconds = 0;
    for (int i = 0; i < IRREGULAR_SECTIONS; i += pass == GHOST ? 2 : 1) {
        const struct irregular_section s = pass == GHOST ? irregular_ghost_of(k, i) : k->sections[i];
        struct pl_error section_error;
        if (s.fields == 0)
            continue;
        const pl_status done = pass == WRITE ? write_section_coll(k, &s, &seconds, &section_error)
                                             : read_section_coll(k, &s, &seconds, &section_error);
        if (pass != GHOST)
            samples_time(&k->run->samples, pass == WRITE ? s.write_key : s.read_key, seconds);
        total_s += seconds;
        if (status == PL_OK && done != PL_OK) {
            status = done;
            *error = section_error;
        }
    }
    samples_time(&k->run->samples, key, total_s);
    return status;
}

/* ---- the course ---- */

static pl_status irregular_prepare(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    pl_status status = iot_check_memory(k->run, error);
    if (status == PL_OK)
        status = iot_mesh_part_init(&k->mesh, k->run->rank, &k->part, error);
    if (status != PL_OK)
        return status;
    int64_t longest = 1;
    for (int i = 0; i < IRREGULAR_SECTIONS; i++) {
        const struct irregular_section *s = &k->sections[i];
        const int64_t most = s->mine == &k->part.nodes ? k->part.touched.count : s->mine->count;
        if (most * s->fields * s->numbers > longest)
            longest = most * s->fields * s->numbers;
    }
    k->buffer = malloc((size_t)longest * sizeof *k->buffer);
    if (!k->buffer)
        return pl_fail_errno(error, ENOMEM, "taking memory for %lld numbers", (long long)longest);
    return PL_OK;
}

static void note_spread_coll(struct iot_run *run, const char *key, int64_t value)
{
    int64_t low = 0, high = 0, sum = 0;
    char name[64];
    MPI_Reduce(&value, &low, 1, MPI_INT64_T, MPI_MIN, 0, run->comm);
    MPI_Reduce(&value, &high, 1, MPI_INT64_T, MPI_MAX, 0, run->comm);
    MPI_Reduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, 0, run->comm);
    snprintf(name, sizeof name, "%s_min", key);
    iot_param(run, name, "%lld", (long long)low);
    snprintf(name, sizeof name, "%s_mean", key);
    iot_param(run, name, "%.1f", (double)sum / run->nprocs);
    snprintf(name, sizeof name, "%s_max", key);
    iot_param(run, name, "%lld", (long long)high);
}

/* How evenly the mesh is dealt out, and into how many pieces the filetypes fall. */
static pl_status irregular_note_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    (void)error;
    const struct irregular_section ghost = irregular_ghost_of(k, 0);
    note_spread_coll(k->run, "owned_nodes", k->part.nodes.count);
    note_spread_coll(k->run, "owned_elements", k->part.elements.count);
    note_spread_coll(k->run, "ghost_nodes", k->part.touched.count - k->part.nodes.count);
    note_spread_coll(k->run, "node_runs", irregular_runs(&k->sections[0], NULL, NULL));
    note_spread_coll(k->run, "element_runs", irregular_runs(&k->sections[1], NULL, NULL));
    note_spread_coll(k->run, "ghost_runs", irregular_runs(&ghost, NULL, NULL));
    const int64_t mine = k->part.touched.count * (3 + k->sections[2].fields) * IRREGULAR_NUMBER_BYTES;
    int64_t all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, 0, k->run->comm);
    iot_param(k->run, "ghost_bytes", "%lld", (long long)all);
    iot_param(k->run, "ghost_collective", "%s", ghost.collective ? "true" : "false");
    if (ghost.collective != k->sections[0].collective)
        iot_warn(k->run, "ghost nodes are read by independent calls: this Open MPI returns wrong data where collective "
                         "reads overlap (fixed in 4.1.5)");
    return PL_OK;
}

static pl_status irregular_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct irregular *)test)->run, error);
}

static pl_status irregular_open_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_open_coll(k->run, k->run->comm, &k->file, error);
}

static pl_status irregular_preallocate_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_preallocate_coll(k->run, k->file, error);
}

static pl_status irregular_write_coll(void *test, struct pl_error *error)
{
    return pass_coll(test, WRITE, "write", error);
}

static pl_status irregular_sync_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_sync_coll(k->run, k->file, error);
}

static pl_status irregular_read_coll(void *test, struct pl_error *error)
{
    return pass_coll(test, READ, "read", error);
}

static pl_status irregular_ghost_coll(void *test, struct pl_error *error)
{
    return pass_coll(test, GHOST, "ghost", error);
}

static pl_status irregular_close_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_close_coll(k->run, &k->file, error);
}

static const struct iot_course IRREGULAR_COURSE[] = {
    {irregular_prepare, NULL, 0},
    {irregular_note_coll, NULL, 0},
    {irregular_clear, NULL, IOT_ALONE},
    {irregular_open_coll, "pre_time", IOT_OPENS},
    {irregular_preallocate_coll, "palloc_time", IOT_WRITES},
    {irregular_write_coll, NULL, IOT_WRITES},
    {irregular_sync_coll, "sync_time", IOT_WRITES},
    {irregular_sync_coll, NULL, IOT_WRITES}, /* sync, meet, sync: only then others' nodes are sure to be seen */
    {irregular_read_coll, NULL, IOT_READS},
    {irregular_ghost_coll, NULL, IOT_READS},
    {irregular_close_coll, "post_time", IOT_CLOSES},
};

static pl_status irregular_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct irregular k = {.run = run,
                          .mesh = irregular_mesh(run->block, run->seed, run->nprocs, run->index),
                          .check = iot_check_named(spec_text(run->block, "check")),
                          .file = MPI_FILE_NULL};
    irregular_lay_out(&k);
    irregular_note_params(run, &k.mesh);
    const pl_status status = iot_course_coll(
        run, IRREGULAR_COURSE, sizeof IRREGULAR_COURSE / sizeof IRREGULAR_COURSE[0], &k, error, ret_verdict);
    iot_mesh_part_clear(&k.part);
    free(k.buffer);
    return status;
}

extern const struct iot_test iot_test_irregular;
const struct iot_test iot_test_irregular = {
    .spec = {.class_name = "Kernel",
             .name = "irregular",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, IRREGULAR_KEYWORDS, NULL}},
    .summary = "nodes and elements of an unstructured mesh, through indexed filetypes",
    .check = irregular_check,
    .describe = irregular_describe,
    .run_coll = irregular_run_coll,
};
