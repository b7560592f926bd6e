/* One trial: all start together, move, sync where it is asked for; opening and closing have times of their own. What
 * the file holds is written and compared outside of the timing and by POSIX calls only, so that no implementation is
 * judge of itself. */
#include "bench/contest/contest.h"

#include "base/clock.h"
#include "base/notes.h"
#include "base/rng.h"
#include "lab/facts/environment.h"
#include "lab/facts/place.h"
#include "lab/runner/info.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, WORD = 8, ALIGNMENT = 4096 /* of buffers, for direct I/O */, POISON = 0xa5 };

static int64_t contest_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

/* ---- contents ---- */

static int64_t contest_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void contest_fill(char *to, int64_t offset, int64_t bytes, uint64_t seed)
{
    assert(offset >= 0);
    for (int64_t done = 0; done < bytes;) {
        const int64_t within = (offset + done) % WORD, count = contest_least(WORD - within, bytes - done);
        const uint64_t word = rng_at(seed, (uint64_t)((offset + done) / WORD));
        memcpy(to + done, (const char *)&word + within, (size_t)count);
        done += count;
    }
}

int64_t contest_differs(const char *data, int64_t offset, int64_t bytes, uint64_t seed)
{
    for (int64_t done = 0; done < bytes;) {
        const int64_t within = (offset + done) % WORD, count = contest_least(WORD - within, bytes - done);
        const uint64_t word = rng_at(seed, (uint64_t)((offset + done) / WORD));
        const char *wanted = (const char *)&word + within;
        if (memcmp(data + done, wanted, (size_t)count) == 0) {
            done += count;
            continue;
        }
        while (data[done] == *wanted++)
            done++;
        return done;
    }
    return -1;
}

static bool contest_fill_piece(void *seed, char *data, int64_t offset, int64_t bytes)
{
    contest_fill(data, offset, bytes, *(const uint64_t *)seed);
    return true;
}

struct contest_wrong {
    uint64_t seed;
    int64_t at; /* in the file; -1: nothing */
};

static bool contest_check_piece(void *context, char *data, int64_t offset, int64_t bytes)
{
    struct contest_wrong *wrong = context;
    const int64_t at = contest_differs(data, offset, bytes, wrong->seed);
    wrong->at = at < 0 ? -1 : offset + at;
    return at < 0;
}

static pl_status contest_fail_data(const struct contest_place *place, int64_t offset, const char *what,
                                   struct pl_error *error)
{
    return pl_fail(error, PL_E_DATA, "'%s': wrong data at byte %lld, %s", place->contest->file, (long long)offset,
                   what);
}

/* What was read. */
static pl_status contest_check_memory(const struct contest_place *place, struct pl_error *error)
{
    struct contest_wrong wrong = {place->file_seed, -1};
    return place->contest->kind->each_piece(place, contest_check_piece, &wrong)
               ? PL_OK
               : contest_fail_data(place, wrong.at, "as it was read", error);
}

/* Compares [first, end) of the file with what was there before, or, inside of a piece, with what was written. `next` is
 * the first piece that may reach behind `first`. */
static pl_status contest_check_chunk(const struct contest_place *place, const char *data, int64_t first, int64_t end,
                                     uint64_t seed, int64_t *next, struct pl_error *error)
{
    const int64_t length = place->touched_bytes;
    for (int64_t at = first; at < end;) {
        bool written = true;
        int64_t stop = end;
        if (place->contest->kind->touch) {
            while (*next < place->touched_count && place->touched[*next] + length <= at)
                ++*next;
            const int64_t begin = *next < place->touched_count ? place->touched[*next] : INT64_MAX;
            written = begin <= at;
            stop = contest_least(written ? begin + length : begin, end);
        }
        const int64_t wrong = contest_differs(data + (at - first), at, stop - at, written ? seed : place->file_seed);
        if (wrong >= 0)
            return contest_fail_data(place, at + wrong, written ? "which was written" : "which nobody was to write",
                                     error);
        assert(stop > at);
        at = stop;
    }
    return PL_OK;
}

static pl_status contest_check_length(const struct contest_place *place, int descriptor, struct pl_error *error)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return place_fail(place->contest->file, "looking at", error);
    if (info.st_size != place->cell->file_bytes)
        return pl_fail(error, PL_E_DATA, "'%s' has %lld bytes in the place of %lld", place->contest->file,
                       (long long)info.st_size, (long long)place->cell->file_bytes);
    return PL_OK;
}

/* This rank's share of the file: writes what it holds before the trials, or compares with what was written. */
static pl_status contest_visit_file(const struct contest_place *place, bool writes, uint64_t seed,
                                    struct pl_error *error)
{
    const char *file = place->contest->file;
    const int64_t bytes = place->cell->file_bytes, each = (bytes + place->ranks - 1) / place->ranks;
    const int64_t first = contest_least(each * place->rank, bytes), end = contest_least(first + each, bytes);
    int64_t next = 0;
    char *chunk = malloc(CHUNK);
    if (!chunk)
        return pl_fail(error, PL_E_NOMEM, "not enough memory to look at the file");
    const int descriptor = open(file, (writes ? O_WRONLY | O_CREAT : O_RDONLY) | O_CLOEXEC, 0666);
    pl_status status = descriptor < 0 ? place_fail(file, "opening", error) : PL_OK;
    for (int64_t at = first; at < end && status == PL_OK; at += CHUNK) {
        const int64_t count = contest_least(CHUNK, end - at);
        if (writes)
            contest_fill(chunk, at, count, seed);
        status = place_move(file, writes ? "preparing" : "checking", descriptor, writes, chunk, (size_t)count, at,
                            error);
        if (status == PL_OK && !writes)
            status = contest_check_chunk(place, chunk, at, at + count, seed, &next, error);
    }
    if (status == PL_OK && !writes)
        status = contest_check_length(place, descriptor, error);
    if (descriptor >= 0 && close(descriptor) != 0 && status == PL_OK)
        status = place_fail(file, "closing", error);
    free(chunk);
    return status;
}

/* ---- what all trials of a cell share ---- */

/* Memory that a rank does not really have would end the whole job. */
static pl_status contest_take_memory(struct contest_place *place, int node_ranks, struct pl_error *error)
{
    const int64_t free_bytes = environment_memory_available_bytes();
    const size_t bytes = place->bytes ? (size_t)place->bytes : ALIGNMENT;
    void *data = NULL;
    if ((free_bytes > 0 && place->bytes > free_bytes / node_ranks) || posix_memalign(&data, ALIGNMENT, bytes) != 0)
        return pl_fail(error, PL_E_NOMEM, "%d rank%s on this host need %lld bytes each, and %lld are free", node_ranks,
                       node_ranks == 1 ? "" : "s", (long long)place->bytes, (long long)free_bytes);
    memset(data, POISON, bytes);
    place->data = data;
    return PL_OK;
}

/* Rank 0: no file is there; one of another length, of an earlier cell, would be another case. */
static pl_status contest_remove_file(const struct contest_place *place, struct pl_error *error)
{
    return place->rank == 0 ? testfile_clear(place->contest->file, error) : PL_OK;
}

pl_status contest_place_init_coll(struct contest_place *place, const struct timebase *clock, MPI_Comm comm,
                                  const struct contest *contest, const struct contest_cell *cell, bool is_ready,
                                  struct coll_verdict *ret_verdict)
{
    const struct contest_kind *kind = contest->kind;
    struct pl_error error;
    *place = (struct contest_place){.comm = comm,
                                    .contest = contest,
                                    .cell = cell,
                                    .file_seed = rng_at((uint64_t)contest->seed, (uint64_t)cell->file_bytes)};
    MPI_Comm_rank(comm, &place->rank);
    MPI_Comm_size(comm, &place->ranks);
    assert(place->ranks == cell->ranks);
    place->clock_offset_ns = timebase_monotonic_coll(clock, comm).offset_ns;
    const int node_ranks = environment_node_ranks_coll(comm);
    pl_status status = kind->layout_new(place, &error);
    if (status == PL_OK)
        status = contest_take_memory(place, node_ranks, &error);
    if (status == PL_OK && cell->writes && kind->touch)
        status = kind->touch(place, &error);
    if (status == PL_OK && !is_ready)
        status = contest_remove_file(place, &error);
    status = coll_agree_coll(comm, status, &error, ret_verdict);
    if (status == PL_OK && place->rank != 0)
        testfile_watch(contest->file, contest->keep);
    return status == PL_OK && !is_ready ? contest_place_mend_coll(place, ret_verdict) : status;
}

pl_status contest_place_mend_coll(const struct contest_place *place, struct coll_verdict *ret_verdict)
{
    struct pl_error error;
    const pl_status status = place->cell->fresh ? PL_OK : contest_visit_file(place, true, place->file_seed, &error);
    return coll_agree_coll(place->comm, status, &error, ret_verdict);
}

void contest_place_clear(struct contest_place *place)
{
    if (place->layout)
        place->contest->kind->layout_free(place->layout);
    free(place->data);
    free(place->touched);
    place->layout = NULL;
    place->data = NULL;
    place->touched = NULL;
}

/* ---- opening and closing ---- */

static void contest_ask(struct contest_trial *trial)
{
    const struct contest_contestant *contestant = trial->contestant;
    if (contestant->access == CONTEST_POSIX)
        return;
    contest_hint(&trial->asked, "piolet_impl", "%s", contestant->access == CONTEST_ENGINE ? "piolet" : "system");
    if (contestant->strategy)
        contest_hint(&trial->asked, "piolet_strategy", "%s", contestant->strategy);
    trial->place->contest->kind->ask(trial, &trial->asked);
    trial->set.asked = &trial->asked;
}

static pl_status contest_open_mpiio_coll(struct contest_trial *trial, int mode, struct pl_error *error)
{
    const struct contest *contest = trial->place->contest;
    MPI_Info info;
    if (MPI_Info_create(&info) != MPI_SUCCESS)
        info = MPI_INFO_NULL; /* the open is collective: go there all the same, and find out behind it */
    for (size_t i = environment_has_engine() ? 0 : 1; info != MPI_INFO_NULL && i < trial->asked.count; i++)
        MPI_Info_set(info, trial->asked.list[i].key, trial->asked.list[i].value);
    if (info != MPI_INFO_NULL && contest->direct) { /* ROMIO's, where the file system's driver knows them */
        MPI_Info_set(info, "direct_read", "true");
        MPI_Info_set(info, "direct_write", "true");
    }
    const int code = MPI_File_open(trial->place->comm, contest->file, mode, info, &trial->handle);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "opening '%s'", contest->file);
}

static pl_status contest_open_coll(struct contest_trial *trial, struct pl_error *error)
{
    const struct contest_place *place = trial->place;
    const bool both = place->cell->writes || place->contest->kind->syncs_reads;
    if (trial->contestant->access != CONTEST_POSIX)
        return contest_open_mpiio_coll(trial,
                                       (both ? MPI_MODE_RDWR : MPI_MODE_RDONLY) |
                                           (place->cell->fresh ? MPI_MODE_CREATE : 0) |
                                           (trial->contestant->unique ? MPI_MODE_UNIQUE_OPEN : 0),
                                       error);
    trial->descriptor = open(place->contest->file,
                             (both ? O_RDWR : O_RDONLY) | (place->cell->fresh ? O_CREAT : 0) |
                                 (place->contest->direct ? O_DIRECT : 0) | O_CLOEXEC,
                             0666);
    return trial->descriptor < 0 ? place_fail(place->contest->file, "opening", error) : PL_OK;
}

pl_status contest_fail_force(const struct contest_trial *trial, const char *what, const char *is,
                             struct pl_error *error)
{
    return pl_fail(error, PL_E_UNSUPPORTED, "'%s' asks for %s, but what is in force is '%.200s'",
                   trial->contestant->label, what, is && *is ? is : "nothing of it");
}

/* Nobody is measured under another's name. */
static pl_status contest_check_force(const struct contest_trial *trial, MPI_Info info, struct pl_error *error)
{
    const bool wanted = trial->contestant->access == CONTEST_ENGINE;
    char value[MPI_MAX_INFO_VAL + 1];
    const bool is_engine = info_get(info, "piolet_version", value) != NULL;
    if (is_engine != wanted)
        return contest_fail_force(trial, wanted ? "the engine" : "the MPI's own MPI-IO",
                                  is_engine ? "the engine"
                                            : "the MPI's own MPI-IO: the engine was not preloaded, or PIOLET_HINTS "
                                              "forbids it",
                                  error);
    return PL_OK;
}

static pl_status contest_check_strategy(const struct contest_trial *trial, MPI_Info info, struct pl_error *error)
{
    char value[MPI_MAX_INFO_VAL + 1];
    const char *wanted = trial->contestant->largeblock ? "independent" : trial->contestant->strategy;
    const char *is = info_get(info, trial->place->cell->writes ? "piolet_strategy_write" : "piolet_strategy_read",
                              value);
    if (!wanted || strcmp(wanted, "auto") == 0 || (is && strcmp(is, wanted) == 0))
        return PL_OK;
    return contest_fail_force(trial, wanted, is, error);
}

static pl_status contest_ready_coll(struct contest_trial *trial, struct pl_error *error)
{
    const struct contest_kind *kind = trial->place->contest->kind;
    MPI_Info info;
    pl_status status = kind->ready_coll(trial, error);
    if (status != PL_OK || trial->contestant->access == CONTEST_POSIX)
        return status;
    const int code = MPI_File_get_info(trial->handle, &info);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "asking for the hints of '%s'", trial->place->contest->file);
    status = contest_check_force(trial, info, error);
    if (status == PL_OK)
        status = kind->in_force(trial, info, error);
    if (status == PL_OK)
        status = contest_check_strategy(trial, info, error);
    MPI_Info_free(&info);
    return status;
}

static pl_status contest_sync_coll(struct contest_trial *trial, struct pl_error *error)
{
    const char *file = trial->place->contest->file;
    if (trial->contestant->access == CONTEST_POSIX)
        return fsync(trial->descriptor) == 0 ? PL_OK : place_fail(file, "syncing", error);
    const int code = MPI_File_sync(trial->handle);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "syncing '%s'", file);
}

/* The hints in force, now that the access has chosen: all of the first trial. */
static void contest_note_used(struct contest_trial *trial)
{
    struct text names = {0};
    if (trial->place->rank != 0)
        return;
    info_note_file(trial->handle, trial->place->contest->kind->is_noted, trial, &trial->set.hints_used);
    if (trial->number == 1 && trial->contestant->access == CONTEST_SYSTEM)
        environment_io_components(&names); /* Open MPI's info does not tell whose MPI-IO it is */
    if (names.length)
        notes_add(&trial->set.hints_used, "io_components", text_get(&names));
    text_clear(&names);
}

static pl_status contest_close_coll(struct contest_trial *trial, struct pl_error *error)
{
    const char *file = trial->place->contest->file;
    if (trial->contestant->access == CONTEST_POSIX)
        return close(trial->descriptor) == 0 ? PL_OK : place_fail(file, "closing", error);
    contest_note_used(trial);
    const int code = MPI_File_close(&trial->handle);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", file);
}

pl_status contest_move_posix(const struct contest_trial *trial, char *data, int64_t offset, int64_t bytes, bool seeks,
                             struct pl_error *error)
{
    const bool writes = trial->place->cell->writes;
    const char *file = trial->place->contest->file;
    const int descriptor = trial->descriptor;
    if (!seeks)
        return place_move(file, writes ? "writing" : "reading", descriptor, writes, data, (size_t)bytes, offset, error);
    if (lseek(descriptor, offset, SEEK_SET) < 0)
        return place_fail(file, "seeking in", error);
    for (int64_t done = 0; done < bytes;) {
        const ssize_t moved = writes ? write(descriptor, data + done, (size_t)(bytes - done))
                                     : read(descriptor, data + done, (size_t)(bytes - done));
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            return place_fail(file, writes ? "writing" : "reading", error);
        if (moved == 0)
            return pl_fail(error, PL_E_IO, "%s '%s': nothing moved at byte %lld", writes ? "writing" : "reading", file,
                           (long long)(offset + done));
        done += moved;
    }
    return PL_OK;
}

/* ---- the steps of a trial ---- */

static void contest_note_time(struct contest_trial *trial, const char *key, int64_t from_ns, int64_t to_ns)
{
    samples_time(&trial->set.samples, key, (double)(to_ns - from_ns) * 1e-9);
}

static bool contest_prepare_coll(struct contest_trial *trial, struct coll_course *course)
{
    const struct contest_place *place = trial->place;
    struct pl_error error;
    pl_status status = PL_OK;
    contest_ask(trial);
    if (place->cell->writes)
        place->contest->kind->each_piece(place, contest_fill_piece, &trial->seed);
    else
        memset(place->data, POISON, (size_t)place->bytes); /* what is not read is seen */
    if (place->cell->fresh)
        status = contest_remove_file(place, &error);
    else if (place->cell->cold)
        status = place_drop(place->contest->file, &error);
    return coll_course_agree_coll(course, status, &error);
}

/* Opened, be it that it is not ready. */
static bool contest_begin_coll(struct contest_trial *trial, struct coll_course *course)
{
    const bool apart = trial->place->contest->kind->opens_apart;
    struct pl_error error;
    MPI_Barrier(trial->place->comm);
    const int64_t begin = contest_now_ns();
    const bool opened = coll_course_agree_coll(course, contest_open_coll(trial, &error), &error);
    const int64_t open_ns = contest_now_ns();
    if (!opened && trial->descriptor >= 0)
        close(trial->descriptor);
    if (opened)
        coll_course_agree_coll(course, contest_ready_coll(trial, &error), &error);
    if (opened || apart)
        contest_note_time(trial, "pre_time", begin, apart ? open_ns : contest_now_ns());
    return opened;
}

/* From the first start to the last end, by the clock of rank 0. */
static void contest_total_coll(struct contest_trial *trial, int64_t start_ns, int64_t end_ns)
{
    const int64_t offset = trial->place->clock_offset_ns;
    const int64_t mine[2] = {start_ns + offset, -(end_ns + offset)};
    int64_t least[2];
    MPI_Allreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, trial->place->comm);
    trial->total_ns = (double)(-least[1] - least[0]);
    contest_note_time(trial, "start_time", least[0], mine[0]);
    contest_note_time(trial, "end_time", least[0], -mine[1]);
}

static void contest_measure_coll(struct contest_trial *trial, struct coll_course *course)
{
    const struct contest *contest = trial->place->contest;
    const bool syncs = contest->sync && (trial->place->cell->writes || contest->kind->syncs_reads);
    const bool barriers = contest->kind->clock == CONTEST_BARRIERS;
    MPI_Comm comm = trial->place->comm;
    struct pl_error error, sync_error;
    if (contest->kind->rehearse)
        contest->kind->rehearse(trial);
    MPI_Barrier(comm);
    const int64_t start = contest_now_ns();
    pl_status status = contest->kind->move_coll(trial, &error);
    const int64_t moved = contest_now_ns();
    const pl_status synced = syncs ? contest_sync_coll(trial, &sync_error) : PL_OK; /* a rank that failed takes part */
    int64_t end = contest_now_ns();
    if (syncs)
        contest_note_time(trial, "sync_time", moved, end);
    if (barriers) {
        MPI_Barrier(comm);
        int64_t job = contest_now_ns() - start;
        MPI_Allreduce(MPI_IN_PLACE, &job, 1, MPI_INT64_T, MPI_MAX, comm);
        trial->total_ns = (double)job;
        contest_note_time(trial, "access_time", start, moved);
    } else {
        contest_total_coll(trial, start, end);
    }
    if (status == PL_OK && synced != PL_OK) {
        status = synced;
        error = sync_error;
    }
    coll_course_agree_coll(course, status, &error);
}

static bool contest_wants_check(const struct contest *contest, int number)
{
    return contest->check == CONTEST_CHECK_ALL || (contest->check == CONTEST_CHECK_FIRST && number == 1);
}

void contest_trial_run_coll(struct contest_trial *trial)
{
    const struct contest_place *place = trial->place;
    struct coll_course course;
    struct pl_error error, own;
    assert(trial->number >= 1);
    trial->descriptor = -1;
    trial->handle = MPI_FILE_NULL;
    coll_course_init(&course, place->comm, &error, &trial->set.verdict);
    if (!contest_prepare_coll(trial, &course) || !contest_begin_coll(trial, &course))
        return;
    if (course.status == PL_OK)
        contest_measure_coll(trial, &course);
    const int64_t begin = contest_now_ns();
    const pl_status closed = contest_close_coll(trial, &own);
    contest_note_time(trial, "post_time", begin, contest_now_ns());
    coll_course_agree_coll(&course, closed, &own);
    if (course.status == PL_OK && contest_wants_check(place->contest, trial->number)) {
        const pl_status right = place->cell->writes ? contest_visit_file(place, false, trial->seed, &own)
                                                    : contest_check_memory(place, &own);
        coll_course_agree_coll(&course, right, &own);
    }
    if (course.status == PL_OK && place->rank == 0)
        samples_time(&trial->set.samples, "total_time", trial->total_ns * 1e-9);
}

void contest_trial_clear(struct contest_trial *trial)
{
    lab_hints_clear(&trial->asked);
    lab_set_clear(&trial->set);
}
