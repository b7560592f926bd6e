/* sharedfp: all processes write records of random length to one file through the shared file pointer, until the next
 * one would pass `filesize` (IOT-24). `collective true` writes in rank order (MPI_File_write_ordered).
 *
 * w[j] and b[j] are time and bytes of a rank's j-th record. A record's first number names its rank and its number, the
 * others are random; its length follows from both. So rank 0 can walk through the finished file and see that every
 * record is there once, whole, and in the order of its rank. */
#include "bench/iot/iot.h"
#include "bench/iot/iot_data.h"

#include "base/rng.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BITS = 31 }; /* of a record's number in its first double; the rank has the other 22 */

struct sharedfp {
    struct iot_run *run;
    int64_t filesize, least, most; /* bytes, multiples of 8 */
    bool ordered;
    MPI_File file;
    MPI_Win window; /* independent: bytes given out so far, on rank 0 */
    int64_t *given; /* in the window */
    struct iot_data data;
    double *record;
    int64_t records, bytes; /* of this rank */
    struct sample_series *w, *b;
};

static int64_t sharedfp_length_of(const struct sharedfp *s, int64_t rank, int64_t number)
{
    const uint64_t bits = rng_at(rng_at(s->run->seed, (uint64_t)rank), (uint64_t)number);
    return s->least + (int64_t)(bits % (uint64_t)((s->most - s->least) / 8 + 1)) * 8;
}

static const double *sharedfp_content_of(const struct sharedfp *s, int64_t rank, int64_t number)
{
    return iot_data_block(&s->data, number, rng_mix((uint64_t)rank));
}

static double sharedfp_name_of(int64_t rank, int64_t number)
{
    return (double)(rank << NUMBER_BITS | number) * 0x1p-53;
}

static void sharedfp_make_record(const struct sharedfp *s, int64_t rank, int64_t number, int64_t length, double *record)
{
    if (length == 0)
        return;
    memcpy(record, sharedfp_content_of(s, rank, number), (size_t)length);
    record[0] = sharedfp_name_of(rank, number);
}

/* Most records that fit: of the mean length if it is random, with some room. */
static int64_t sharedfp_capacity_of(int64_t filesize, int64_t least, int64_t most)
{
    const int64_t mean = (least + most) / 2 > 0 ? (least + most) / 2 : 8;
    return filesize / mean + filesize / mean / 4 + 1024;
}

static pl_status sharedfp_prepare(void *test, struct pl_error *error)
{
    struct sharedfp *s = test;
    pl_status status = iot_check_memory(s->run, error);
    /* Also after a failure: the results need the same list of series everywhere. */
    const int64_t capacity = status == PL_OK ? sharedfp_capacity_of(s->filesize, s->least, s->most) : 0;
    if (samples_add(&s->run->samples, "w", "ns", capacity, &s->w, error) != PL_OK)
        status = error->status;
    if (samples_add(&s->run->samples, "b", "B", capacity, &s->b, error) != PL_OK)
        status = error->status;
    if (status == PL_OK)
        status = iot_data_init(&s->data, s->most, s->run->seed, error);
    if (status == PL_OK && !(s->record = malloc((size_t)s->most + 8)))
        status = pl_fail_errno(error, ENOMEM, "taking memory for a record");
    return status;
}

static pl_status sharedfp_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct sharedfp *)test)->run, error);
}

static pl_status sharedfp_open_coll(void *test, struct pl_error *error)
{
    struct sharedfp *s = test;
    const pl_status status = iot_file_open_coll(s->run, s->run->comm, &s->file, error);
    if (status != PL_OK)
        return status;
    const int code = MPI_File_set_view(s->file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", s->run->info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting the view of '%s'", s->run->filename);
}

static pl_status sharedfp_preallocate_coll(void *test, struct pl_error *error)
{
    struct sharedfp *s = test;
    return iot_file_preallocate_coll(s->run, s->file, error);
}

/* ---- the loops ---- */

static pl_status sharedfp_wrote(struct sharedfp *s, int64_t number, int64_t length, int code, MPI_Status *moved,
                                struct pl_error *error)
{
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "writing record %lld of %lld bytes to '%s'", (long long)number,
                             (long long)length, s->run->filename);
    int count = 0;
    if (length > 0)
        MPI_Get_count(moved, MPI_DOUBLE, &count);
    if (count == length / 8)
        return PL_OK;
    pl_fail(error, PL_E_SYSTEM, "writing record %lld to '%s': only %d of %lld numbers moved", (long long)number,
            s->run->filename, count, (long long)length / 8);
    return iot_file_note_full_disk(s->run, "writing", error);
}

static void sharedfp_stamp(struct sharedfp *s, double begin, double end, int64_t length)
{
    sample_put(s->w, s->w->count, begin, end);
    s->b->values[s->b->count++] = (double)length;
    s->bytes += length;
}

/* Takes `length` bytes of the file's size, or nothing if they are not left. One rank's taking never waits for another.
 */
static bool sharedfp_reserve(struct sharedfp *s, int64_t length)
{
    int64_t before = 0;
    MPI_Fetch_and_op(&length, &before, MPI_INT64_T, 0, 0, MPI_SUM, s->window);
    MPI_Win_flush(0, s->window);
    return before + length <= s->filesize;
}

static pl_status sharedfp_write_independent(struct sharedfp *s, struct pl_error *error)
{
    const int rank = s->run->rank;
    for (; s->records < s->w->capacity; s->records++) {
        const int64_t length = sharedfp_length_of(s, rank, s->records);
        if (!sharedfp_reserve(s, length))
            return PL_OK;
        sharedfp_make_record(s, rank, s->records, length, s->record);
        MPI_Status moved;
        const double told = MPI_Wtime();
        const int code = MPI_File_write_shared(s->file, s->record, (int)(length / 8), MPI_DOUBLE, &moved);
        sharedfp_stamp(s, told, MPI_Wtime(), length);
        if (sharedfp_wrote(s, s->records, length, code, &moved, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

/* Every round all ranks write one record, in rank order, or all stop. A rank that failed goes on with nothing. */
static pl_status sharedfp_write_ordered_coll(struct sharedfp *s, struct pl_error *error)
{
    pl_status status = PL_OK;
    int64_t before = 0;
    for (; s->records < s->w->capacity; s->records++) {
        const int64_t wanted = sharedfp_length_of(s, s->run->rank, s->records);
        int64_t round = 0;
        MPI_Allreduce(&wanted, &round, 1, MPI_INT64_T, MPI_SUM, s->run->comm);
        if (before + round > s->filesize)
            return status;
        before += round;
        const int64_t length = status == PL_OK ? wanted : 0;
        sharedfp_make_record(s, s->run->rank, s->records, length, s->record);
        MPI_Status moved;
        const double told = MPI_Wtime();
        const int code = MPI_File_write_ordered(s->file, s->record, (int)(length / 8), MPI_DOUBLE, &moved);
        const double tnew = MPI_Wtime();
        if (status == PL_OK) {
            sharedfp_stamp(s, told, tnew, length);
            status = sharedfp_wrote(s, s->records, length, code, &moved, error);
        }
    }
    return status;
}

/* The counter of bytes given out, agreed upon before the loop begins. */
static pl_status sharedfp_count_coll(void *test, struct pl_error *error)
{
    struct sharedfp *s = test;
    if (s->ordered)
        return PL_OK;
    const MPI_Aint bytes = s->run->rank == 0 ? sizeof *s->given : 0;
    const int code = MPI_Win_allocate(bytes, sizeof *s->given, MPI_INFO_NULL, s->run->comm, &s->given, &s->window);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "making the counter of bytes given out");
    MPI_Win_set_errhandler(s->window, MPI_ERRORS_RETURN);
    if (s->run->rank == 0)
        *s->given = 0;
    return PL_OK;
}

static pl_status sharedfp_write_coll(void *test, struct pl_error *error)
{
    struct sharedfp *s = test;
    if (s->ordered)
        return sharedfp_write_ordered_coll(s, error);
    MPI_Win_lock_all(0, s->window);
    const pl_status status = sharedfp_write_independent(s, error);
    MPI_Win_unlock_all(s->window);
    MPI_Win_free(&s->window);
    return status;
}

static pl_status sharedfp_sync_coll(void *test, struct pl_error *error)
{
    struct sharedfp *s = test;
    return iot_file_sync_coll(s->run, s->file, error);
}

static pl_status sharedfp_close_coll(void *test, struct pl_error *error)
{
    struct sharedfp *s = test;
    return iot_file_close_coll(s->run, &s->file, error);
}

static const struct iot_course SHAREDFP_COURSE[] = {
    {sharedfp_prepare, NULL, 0},
    {sharedfp_clear, NULL, IOT_ALONE},
    {sharedfp_open_coll, "pre_time", IOT_OPENS},
    {sharedfp_preallocate_coll, "palloc_time", 0},
    {sharedfp_count_coll, NULL, 0},
    {sharedfp_write_coll, "loop_time", 0},
    {sharedfp_sync_coll, "sync_time", 0},
    {sharedfp_close_coll, "post_time", IOT_CLOSES},
};

/* ---- the proof: rank 0 walks through the file ---- */

/* A window of the file in memory: at least one whole record ahead. */
struct walk {
    FILE *stream;
    double *numbers;
    size_t have, next; /* doubles */
    size_t capacity;
    int64_t offset; /* bytes walked */
};

static pl_status sharedfp_walk_refill(struct walk *walk, size_t wanted, const char *filename, struct pl_error *error)
{
    if (walk->have - walk->next >= wanted)
        return PL_OK;
    memmove(walk->numbers, walk->numbers + walk->next, (walk->have - walk->next) * sizeof *walk->numbers);
    walk->have -= walk->next;
    walk->next = 0;
    walk->have += fread(walk->numbers + walk->have, sizeof *walk->numbers, walk->capacity - walk->have, walk->stream);
    if (walk->have >= wanted)
        return PL_OK;
    return pl_fail(error, PL_E_DATA, "checking '%s': the file ends at byte %lld, in the middle of a record", filename,
                   (long long)walk->offset + (long long)walk->have * 8);
}

/* Bit for bit: a number that is only near a name is damaged. */
static bool sharedfp_is_name(double first, int64_t *ret_rank, int64_t *ret_number)
{
    const double scaled = first * 0x1p53;
    if (!(scaled >= 0 && scaled < 0x1p53) || signbit(scaled) || scaled != floor(scaled))
        return false;
    const int64_t name = (int64_t)scaled;
    *ret_rank = name >> NUMBER_BITS;
    *ret_number = name & (((int64_t)1 << NUMBER_BITS) - 1);
    return true;
}

/* One record: the next one of its rank, and whole. `seen` counts the records of each rank. */
static pl_status sharedfp_walk_record(const struct sharedfp *s, struct walk *walk, int64_t *seen, const int64_t *counts,
                                      struct pl_error *error)
{
    pl_status status = sharedfp_walk_refill(walk, 1, s->run->filename, error);
    if (status != PL_OK)
        return status;
    int64_t rank, number;
    if (!sharedfp_is_name(walk->numbers[walk->next], &rank, &number) || rank >= s->run->nprocs ||
        number >= counts[rank] || sharedfp_length_of(s, rank, number) == 0)
        return pl_fail(error, PL_E_DATA, "checking '%s': no record begins at byte %lld", s->run->filename,
                       (long long)walk->offset);
    while (seen[rank] < number && sharedfp_length_of(s, rank, seen[rank]) == 0)
        seen[rank]++; /* empty records leave no trace */
    if (seen[rank] != number)
        return pl_fail(
            error, PL_E_DATA, "checking '%s': record %lld of rank %lld at byte %lld, but its record %lld is due",
            s->run->filename, (long long)number, (long long)rank, (long long)walk->offset, (long long)seen[rank]);
    const size_t doubles = (size_t)sharedfp_length_of(s, rank, number) / 8;
    status = sharedfp_walk_refill(walk, doubles, s->run->filename, error);
    if (status != PL_OK)
        return status;
    const double *wanted = sharedfp_content_of(s, rank, number);
    if (memcmp(wanted + 1, walk->numbers + walk->next + 1, (doubles - 1) * sizeof *wanted) != 0)
        return pl_fail(error, PL_E_DATA, "checking '%s': record %lld of rank %lld at byte %lld is damaged",
                       s->run->filename, (long long)number, (long long)rank, (long long)walk->offset);
    walk->next += doubles;
    walk->offset += (int64_t)doubles * 8;
    seen[rank]++;
    return PL_OK;
}

static pl_status sharedfp_walk_file(const struct sharedfp *s, struct walk *walk, int64_t *seen, const int64_t *counts,
                                    int64_t bytes, struct pl_error *error)
{
    while (walk->offset < bytes) {
        const pl_status status = sharedfp_walk_record(s, walk, seen, counts, error);
        if (status != PL_OK)
            return status;
    }
    for (int rank = 0; rank < s->run->nprocs; rank++) {
        while (seen[rank] < counts[rank] && sharedfp_length_of(s, rank, seen[rank]) == 0)
            seen[rank]++;
        if (seen[rank] != counts[rank])
            return pl_fail(error, PL_E_DATA, "checking '%s': rank %d sharedfp_wrote %lld records, the file holds %lld",
                           s->run->filename, rank, (long long)counts[rank], (long long)seen[rank]);
    }
    return PL_OK;
}

/* Behind the last record nothing may stand: it would have been written twice. Preallocated bytes are zero. */
static pl_status sharedfp_walk_rest(const struct sharedfp *s, struct walk *walk, int64_t bytes, struct pl_error *error)
{
    const size_t most = (size_t)s->most / 8;
    if (fseeko(walk->stream, (off_t)bytes, SEEK_SET) != 0)
        return pl_fail_errno(error, errno, "checking '%s'", s->run->filename);
    const size_t have = fread(walk->numbers, sizeof *walk->numbers, most, walk->stream);
    for (size_t i = 0; i < have; i++)
        if (walk->numbers[i] != 0)
            return pl_fail(error, PL_E_DATA, "checking '%s': %lld bytes were written, but something stands behind them",
                           s->run->filename, (long long)bytes);
    return PL_OK;
}

static pl_status sharedfp_prove(const struct sharedfp *s, const int64_t *counts, int64_t bytes, struct pl_error *error)
{
    assert(counts);
    struct walk walk = {.capacity = (size_t)s->most / 8 + (1 << 17)};
    int64_t *seen = calloc((size_t)s->run->nprocs, sizeof *seen);
    walk.numbers = malloc(walk.capacity * sizeof *walk.numbers);
    walk.stream = fopen(iot_local_path(s->run->filename), "re");
    pl_status status;
    if (!seen || !walk.numbers)
        status = pl_fail_errno(error, ENOMEM, "checking '%s'", s->run->filename);
    else if (!walk.stream)
        status = pl_fail_errno(error, errno, "opening '%s' for the check", s->run->filename);
    else
        status = sharedfp_walk_file(s, &walk, seen, counts, bytes, error);
    if (status == PL_OK)
        status = sharedfp_walk_rest(s, &walk, bytes, error);
    if (walk.stream)
        fclose(walk.stream);
    free(walk.numbers);
    free(seen);
    return status;
}

/* Every rank tells how many records and bytes it sharedfp_wrote; rank 0 looks for them. */
static pl_status sharedfp_prove_coll(struct sharedfp *s, struct pl_error *error, struct coll_verdict *verdict)
{
    struct iot_run *run = s->run;
    int64_t total = 0, least = 0, most = 0;
    int64_t *counts = run->rank == 0 ? calloc((size_t)run->nprocs, sizeof *counts) : NULL;
    pl_status status = run->rank == 0 && !counts ? pl_fail_errno(error, ENOMEM, "checking the records") : PL_OK;
    status = coll_agree_coll(run->comm, status, error, verdict);
    if (status == PL_OK) {
        MPI_Gather(&s->records, 1, MPI_INT64_T, counts, 1, MPI_INT64_T, 0, run->comm);
        MPI_Reduce(&s->bytes, &total, 1, MPI_INT64_T, MPI_SUM, 0, run->comm);
        MPI_Reduce(&s->bytes, &least, 1, MPI_INT64_T, MPI_MIN, 0, run->comm);
        MPI_Reduce(&s->bytes, &most, 1, MPI_INT64_T, MPI_MAX, 0, run->comm);
        if (run->rank == 0) {
            iot_param(run, "written_bytes", "%lld", (long long)total);
            iot_param(run, "balance_least_bytes", "%lld", (long long)least);
            iot_param(run, "balance_most_bytes", "%lld", (long long)most);
            if (iot_check_named(iot_spec_text(run->block, "check")) != IOT_CHECK_NONE)
                status = sharedfp_prove(s, counts, total, error);
        }
        coll_barrier_quiet_coll(run->comm);
        status = coll_agree_coll(run->comm, status, error, verdict);
    }
    free(counts);
    return status;
}

/* ---- plan ---- */

static const struct option_row SHAREDFP_KEYWORDS[] = {
    {.name = "filesize",
     .type = OPTION_MB,
     .flags = OPTION_REQUIRED,
     .min = 8e-6,
     .max = 1e12,
     .help = "size not to be passed"},
    {.name = "numblocksize",
     .type = OPTION_INT,
     .flags = OPTION_REQUIRED,
     .min = 1,
     .max = 1e6,
     .help = "ranges of record sizes to run"},
    {.name = "blockmin",
     .type = OPTION_MBS,
     .flags = OPTION_REQUIRED,
     .min = 0,
     .max = 2000,
     .help = "smallest record of each range"},
    {.name = "blockmax",
     .type = OPTION_MBS,
     .flags = OPTION_REQUIRED,
     .min = 8e-6,
     .max = 2000,
     .help = "largest record of each range"},
    {.name = "collective",
     .type = OPTION_FLAG,
     .initial = "false",
     .help = "in rank order (MPI_File_write_ordered), or as it comes"},
    {0},
};

static void sharedfp_range_of(const struct iot_block *block, int64_t index, int64_t *ret_least, int64_t *ret_most)
{
    const int64_t ranges = (int64_t)iot_spec_number(block, "numblocksize");
    *ret_least = iot_spec_find(block, "blockmin")->integers[index % ranges];
    *ret_most = iot_spec_find(block, "blockmax")->integers[index % ranges];
}

static pl_status sharedfp_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                int64_t *ret_sets, struct pl_error *error)
{
    pl_status status = iot_check_list(spec, block, "numblocksize", "blockmin", error);
    if (status == PL_OK)
        status = iot_check_list(spec, block, "numblocksize", "blockmax", error);
    const int64_t ranges = (int64_t)iot_spec_number(block, "numblocksize");
    for (int64_t i = 0; i < ranges && status == PL_OK; i++) {
        int64_t least, most;
        sharedfp_range_of(block, i, &least, &most);
        if (least > most)
            status = iot_spec_fail(spec, block, "blockmin", error,
                                   "%lld bytes are more than blockmax, %lld bytes; allowed: up to blockmax",
                                   (long long)least, (long long)most);
    }
    if (status == PL_OK && nprocs > 1 << 22)
        status = iot_spec_fail(spec, block, "testname", error, "%d ranks; allowed: up to 4194304", nprocs);
    *ret_sets = ranges * (int64_t)iot_spec_number(block, "repeat");
    return status;
}

static void sharedfp_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    (void)nprocs;
    int64_t least, most;
    char file_text[UNITS_TEXT_MAX], least_text[UNITS_TEXT_MAX], most_text[UNITS_TEXT_MAX];
    sharedfp_range_of(block, index, &least, &most);
    const int64_t filesize = iot_spec_find(block, "filesize")->integers[0];
    const int64_t capacity = sharedfp_capacity_of(filesize, least, most);
    *ret_set = (struct iot_set){.file_bytes = filesize,
                                .write_bytes = filesize,
                                .mean_bytes = (double)(least + most) / 2,
                                .samples = capacity,
                                .memory_bytes = 24 * capacity + most + iot_data_memory(most)};
    snprintf(ret_set->label, sizeof ret_set->label, "file %s, %s to %s", units_bytes(filesize, file_text),
             units_bytes(least, least_text), units_bytes(most, most_text));
}

static pl_status sharedfp_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct sharedfp s = {.run = run,
                         .file = MPI_FILE_NULL,
                         .filesize = run->set.file_bytes,
                         .ordered = iot_spec_is_true(run->block, "collective")};
    sharedfp_range_of(run->block, run->index, &s.least, &s.most);
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "blockmin_bytes", "%lld", (long long)s.least);
    iot_param(run, "blockmax_bytes", "%lld", (long long)s.most);
    iot_param(run, "collective", "%s", s.ordered ? "true" : "false");
    if (!iot_has_hint(run->block, "access_style"))
        MPI_Info_set(run->info, "access_style", "write_once");
    pl_status status = iot_course_coll(run, SHAREDFP_COURSE, sizeof SHAREDFP_COURSE / sizeof SHAREDFP_COURSE[0], &s,
                                       error, ret_verdict);
    if (status == PL_OK)
        status = sharedfp_prove_coll(&s, error, ret_verdict);
    iot_data_clear(&s.data);
    free(s.record);
    return status;
}

IOT_TEST(sharedfp) = {
    .name = "sharedfp",
    .keywords = (const struct option_row *const[]){IOT_COMMON_BOTH_ONLY, SHAREDFP_KEYWORDS, NULL},
    .summary = "records of random length written through the shared file pointer",
    IOT_TEST_CALLS(sharedfp),
};
