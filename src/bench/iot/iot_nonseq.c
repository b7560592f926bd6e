/* nonseq: blocks of a file are read in a pseudo-random order, each once and each by one rank; a fraction of them is
 * changed and written back (IOT-22).
 *
 * r[j] and u[j] are the raw times of seek + read and of seek + write of a rank's j-th block and update. The file is
 * written before, in order and not timed (`write_time` tells how long all of it took); at the end all of it is read
 * again, to see that every update is there and nothing else has changed. */
#include "bench/iot/iot.h"
#include "bench/iot/iot_data.h"

#include "base/rng.h"
#include "base/units.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct nonseq {
    struct iot_run *run;
    int64_t blocks; /* of the file */
    int doubles;    /* of a block */
    double fraction;
    MPI_File file;
    struct iot_data data;    /* salt 0: as first written; salt 1: updated */
    struct iot_order order;  /* in which blocks are visited */
    struct iot_order choice; /* of the steps that update: those whose number here is below `updates` */
    int64_t updates;
    double *buffer;
    enum iot_check check;
    struct sample_series *r, *u;
};

/* Step k of the common order belongs to rank k mod P. */
static int64_t nonseq_steps_of(const struct nonseq *n)
{
    const int64_t P = n->run->nprocs;
    return n->blocks / P + (n->run->rank < n->blocks % P);
}

/* Chosen at random, not every so many: with some numbers of ranks those would all fall to the same ones. */
static bool nonseq_is_update(const struct nonseq *n, int64_t k)
{
    return iot_order_at(&n->choice, k) < n->updates;
}

static int64_t nonseq_bytes_at(const struct nonseq *n, int64_t number)
{
    return number * n->doubles * 8;
}

static pl_status nonseq_prepare(void *test, struct pl_error *error)
{
    struct nonseq *n = test;
    pl_status status = iot_check_memory(n->run, error);
    const int64_t steps = status == PL_OK ? nonseq_steps_of(n)
                                          : 0; /* the results need the same list of series everywhere */
    if (samples_add(&n->run->samples, "r", "ns", steps, &n->r, error) != PL_OK)
        status = error->status;
    if (samples_add(&n->run->samples, "u", "ns", steps, &n->u, error) != PL_OK)
        status = error->status;
    if (status == PL_OK)
        status = iot_data_init(&n->data, (int64_t)n->doubles * 8, n->run->seed, error);
    if (status == PL_OK && !(n->buffer = malloc((size_t)n->doubles * 8)))
        status = pl_fail_errno(error, ENOMEM, "taking memory for a block");
    return status;
}

static pl_status nonseq_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct nonseq *)test)->run, error);
}

static pl_status nonseq_open_coll(void *test, struct pl_error *error)
{
    struct nonseq *n = test;
    pl_status status = iot_file_open_coll(n->run, n->run->comm, &n->file, error);
    if (status != PL_OK)
        return status;
    const int code = MPI_File_set_view(n->file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", n->run->info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting the view of '%s'", n->run->filename);
}

static pl_status nonseq_preallocate_coll(void *test, struct pl_error *error)
{
    struct nonseq *n = test;
    return iot_file_preallocate_coll(n->run, n->file, error);
}

static pl_status nonseq_fail(const struct nonseq *n, const char *doing, int64_t number, int code, MPI_Status *moved,
                             struct pl_error *error)
{
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s block %lld at byte %lld of '%s'", doing, (long long)number,
                             (long long)nonseq_bytes_at(n, number), n->run->filename);
    int count = 0;
    MPI_Get_count(moved, MPI_DOUBLE, &count);
    if (count == n->doubles)
        return PL_OK;
    pl_fail(error, PL_E_SYSTEM, "%s block %lld at byte %lld of '%s': only %d of %d numbers moved", doing,
            (long long)number, (long long)nonseq_bytes_at(n, number), n->run->filename, count, n->doubles);
    return iot_file_note_full_disk(n->run, doing, error);
}

static pl_status nonseq_verify(const struct nonseq *n, int64_t number, uint64_t generation, const char *doing,
                               struct pl_error *error)
{
    const double *wanted = iot_data_block(&n->data, nonseq_bytes_at(n, number), generation);
    const int64_t wrong = iot_data_check(n->check, wanted, n->buffer, n->doubles, (uint64_t)number);
    if (wrong < 0)
        return PL_OK;
    return pl_fail(error, PL_E_DATA,
                   "%s block %lld: number %lld (byte %lld of '%s') is %.17g, but %.17g was written (generation %d)",
                   doing, (long long)number, (long long)wrong, (long long)(nonseq_bytes_at(n, number) + wrong * 8),
                   n->run->filename, n->buffer[wrong], wanted[wrong], (int)generation);
}

/* The file as it is before: every rank writes every P-th block. */
static pl_status nonseq_first_write(void *test, struct pl_error *error)
{
    struct nonseq *n = test;
    for (int64_t k = n->run->rank; k < n->blocks; k += n->run->nprocs) {
        MPI_Status moved;
        const int code = MPI_File_write_at(n->file, k * n->doubles, iot_data_block(&n->data, nonseq_bytes_at(n, k), 0),
                                           n->doubles, MPI_DOUBLE, &moved);
        if (nonseq_fail(n, "writing", k, code, &moved, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

/* Other ranks' blocks become visible by this sequence only. */
static pl_status nonseq_settle_coll(void *test, struct pl_error *error)
{
    struct nonseq *n = test;
    const pl_status status = iot_file_sync_coll(n->run, n->file, error);
    struct pl_error second_error;
    MPI_Barrier(n->run->comm);
    const pl_status second = iot_file_sync_coll(n->run, n->file, &second_error);
    if (status == PL_OK && second != PL_OK)
        *error = second_error;
    return status != PL_OK ? status : second;
}

/* The measured loop: nothing else moves the file pointer, so seek and transfer belong together. */
static pl_status nonseq_visit(void *test, struct pl_error *error)
{
    struct nonseq *n = test;
    for (int64_t k = n->run->rank; k < n->blocks; k += n->run->nprocs) {
        const int64_t number = iot_order_at(&n->order, k);
        MPI_Status moved;
        const double told = MPI_Wtime();
        int code = MPI_File_seek(n->file, number * n->doubles, MPI_SEEK_SET);
        if (code == MPI_SUCCESS)
            code = MPI_File_read(n->file, n->buffer, n->doubles, MPI_DOUBLE, &moved);
        sample_put(n->r, n->r->count, told, MPI_Wtime());
        if (nonseq_fail(n, "reading", number, code, &moved, error) != PL_OK ||
            nonseq_verify(n, number, 0, "checking", error) != PL_OK)
            return error->status;
        if (!nonseq_is_update(n, k))
            continue;
        const double *changed = iot_data_block(&n->data, nonseq_bytes_at(n, number), 1);
        const double begin = MPI_Wtime();
        code = MPI_File_seek(n->file, number * n->doubles, MPI_SEEK_SET);
        if (code == MPI_SUCCESS)
            code = MPI_File_write(n->file, changed, n->doubles, MPI_DOUBLE, &moved);
        sample_put(n->u, n->u->count, begin, MPI_Wtime());
        if (nonseq_fail(n, "updating", number, code, &moved, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

/* Another rank than the one that visited it looks at each block. */
static pl_status nonseq_final_check(void *test, struct pl_error *error)
{
    struct nonseq *n = test;
    const int64_t P = n->run->nprocs;
    for (int64_t k = (n->run->rank + 1) % P; k < n->blocks; k += P) {
        const int64_t number = iot_order_at(&n->order, k);
        MPI_Status moved;
        const int code = MPI_File_read_at(n->file, number * n->doubles, n->buffer, n->doubles, MPI_DOUBLE, &moved);
        if (nonseq_fail(n, "reading again", number, code, &moved, error) != PL_OK ||
            nonseq_verify(n, number, nonseq_is_update(n, k), "checking at the end", error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

static pl_status nonseq_close_coll(void *test, struct pl_error *error)
{
    struct nonseq *n = test;
    return iot_file_close_coll(n->run, &n->file, error);
}

static const struct iot_course NONSEQ_COURSE[] = {
    {nonseq_prepare, NULL, 0},
    {nonseq_clear, NULL, IOT_ALONE},
    {nonseq_open_coll, "pre_time", IOT_OPENS},
    {nonseq_preallocate_coll, "palloc_time", 0},
    {nonseq_first_write, "write_time", 0},
    {nonseq_settle_coll, NULL, 0},
    {nonseq_visit, NULL, 0},
    {nonseq_settle_coll, "sync_time", 0},
    {nonseq_final_check, NULL, 0},
    {nonseq_close_coll, "post_time", IOT_CLOSES},
};

/* ---- plan ---- */

static const struct option_row NONSEQ_KEYWORDS[] = {
    {.name = "filesize",
     .type = OPTION_MB,
     .flags = OPTION_REQUIRED,
     .min = 8e-6,
     .max = 1e12,
     .help = "size of the file"},
    {.name = "numblocksize",
     .type = OPTION_INT,
     .flags = OPTION_REQUIRED,
     .min = 1,
     .max = 1e6,
     .help = "block sizes to run"},
    {.name = "blocksize",
     .type = OPTION_MBS,
     .flags = OPTION_REQUIRED,
     .min = 8e-6,
     .max = 17179,
     .help = "sizes of what is read and written back"},
    {.name = "numupdate",
     .type = OPTION_INT,
     .flags = OPTION_REQUIRED,
     .min = 1,
     .max = 1e6,
     .help = "fractions to run"},
    {.name = "update_frac",
     .type = OPTION_NUMBERS,
     .flags = OPTION_REQUIRED,
     .min = 0,
     .max = 1,
     .help = "fractions of the blocks read that are changed and written back"},
    {0},
};

static void nonseq_sizes_of(const struct iot_block *block, int64_t index, int64_t *ret_blocks, int64_t *ret_bytes,
                            double *ret_fraction)
{
    const int64_t sizes = (int64_t)iot_spec_number(block, "numblocksize"),
                  fractions = (int64_t)iot_spec_number(block, "numupdate");
    const int64_t filesize = iot_spec_find(block, "filesize")->integers[0];
    int64_t bytes = iot_spec_find(block, "blocksize")->integers[index / fractions % sizes];
    if (bytes > filesize)
        bytes = filesize;
    *ret_bytes = bytes;
    *ret_blocks = filesize / bytes;
    *ret_fraction = iot_spec_find(block, "update_frac")->numbers[index % fractions];
}

static pl_status nonseq_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                              struct pl_error *error)
{
    (void)nprocs;
    pl_status status = iot_check_list(spec, block, "numblocksize", "blocksize", error);
    if (status == PL_OK)
        status = iot_check_list(spec, block, "numupdate", "update_frac", error);
    *ret_sets = (int64_t)(iot_spec_number(block, "numblocksize") * iot_spec_number(block, "numupdate") *
                          iot_spec_number(block, "repeat"));
    return status;
}

static void nonseq_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    int64_t blocks, bytes;
    double fraction;
    char file_text[UNITS_TEXT_MAX], block_text[UNITS_TEXT_MAX];
    nonseq_sizes_of(block, index, &blocks, &bytes, &fraction);
    const int64_t most = (blocks + nprocs - 1) / nprocs;
    *ret_set = (struct iot_set){.file_bytes = blocks * bytes,
                                .tail_bytes = iot_spec_find(block, "filesize")->integers[0] - blocks * bytes,
                                .write_bytes = blocks * bytes + (int64_t)((double)blocks * fraction) * bytes,
                                .read_bytes = 2 * blocks * bytes,
                                .mean_bytes = (double)bytes,
                                .samples = most + (int64_t)((double)most * fraction),
                                .memory_bytes = 32 * most + bytes + iot_data_memory(bytes)};
    snprintf(ret_set->label, sizeof ret_set->label, "%s, block %s, update %g", units_bytes(blocks * bytes, file_text),
             units_bytes(bytes, block_text), fraction);
}

static pl_status nonseq_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct nonseq n = {.run = run, .file = MPI_FILE_NULL, .check = iot_check_named(iot_spec_text(run->block, "check"))};
    int64_t bytes;
    nonseq_sizes_of(run->block, run->index, &n.blocks, &bytes, &n.fraction);
    n.doubles = (int)(bytes / 8);
    n.order = iot_order_make(n.blocks, run->seed);
    n.choice = iot_order_make(n.blocks, rng_mix(run->seed));
    n.updates = (int64_t)((double)n.blocks * n.fraction);
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "blocksize_bytes", "%lld", (long long)bytes);
    iot_param(run, "blocks", "%lld", (long long)n.blocks);
    iot_param(run, "tail_bytes", "%lld", (long long)run->set.tail_bytes);
    iot_param(run, "update_frac", "%g", n.fraction);
    const pl_status status = iot_course_coll(run, NONSEQ_COURSE, sizeof NONSEQ_COURSE / sizeof NONSEQ_COURSE[0], &n,
                                             error, ret_verdict);
    iot_data_clear(&n.data);
    free(n.buffer);
    return status;
}

IOT_TEST(nonseq) = {
    .name = "nonseq",
    .keywords = (const struct option_row *const[]){IOT_COMMON_BOTH_ONLY, NONSEQ_KEYWORDS, NULL},
    .summary = "blocks read in random order, a fraction of them changed and written back",
    .access = "independent",
    IOT_TEST_CALLS(nonseq),
};
