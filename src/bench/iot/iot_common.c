/* What tests of every class use while they run. */
#include "base/interrupt.h"
#include "base/notes.h"
#include "base/units.h"
#include "bench/iot/iot.h"
#include "lab/facts/environment.h"
#include "lab/facts/place.h"
#include "lab/runner/info.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMON_ROWS                                                                                                    \
    {.name = "filename", .type = OPTION_TEXT, .argument = "NAME", .flags = OPTION_REQUIRED, .help = "the test file"},  \
        {.name = "repeat", .type = OPTION_INT, .initial = "1", .min = 1, .max = 1e6, .help = "run all sets so often"}, \
        {.name = "check",                                                                                              \
         .type = OPTION_CHOICE,                                                                                        \
         .initial = "sample",                                                                                          \
         .choices = "none sample full",                                                                                \
         .help = "how much of what is read is compared with what was written"},                                        \
        {.name = "preallocate",                                                                                        \
         .type = OPTION_FLAG,                                                                                          \
         .initial = "true",                                                                                            \
         .help = "MPI_File_preallocate before the first write"},                                                       \
        {.name = "keep", .type = OPTION_FLAG, .initial = "false", .help = "leave the test file behind"},               \
    {                                                                                                                  \
        .name = "seed", .type = OPTION_INT, .min = 0, .max = 9007199254740992.0,                                       \
        .help = "of everything random; drawn and reported if not given"                                                \
    }

const struct option_row IOT_COMMON_BOTH_ONLY[] = {COMMON_ROWS, {0}};

const struct option_row IOT_COMMON[] = {
    COMMON_ROWS,
    {.name = "phases",
     .type = OPTION_CHOICE,
     .initial = "both",
     .choices = "both write read",
     .help = "write and read, or one of them; read takes a file written before with the same seed"},
    {0},
};

pl_status iot_check_list(const struct iot_spec *spec, const struct iot_block *block, const char *count_name,
                         const char *list_name, struct pl_error *error)
{
    const int64_t count = (int64_t)iot_spec_number(block, count_name);
    const size_t given = iot_spec_find(block, list_name)->count;
    if (count <= (int64_t)given)
        return PL_OK;
    return iot_spec_fail(spec, block, list_name, error,
                         "the list holds %zu value%s, but %s is %lld; allowed: at least %lld", given,
                         given == 1 ? "" : "s", count_name, (long long)count, (long long)count);
}

bool iot_checks_old_data(const struct iot_block *block)
{
    return strcmp(iot_spec_text(block, "phases"), "read") == 0 && strcmp(iot_spec_text(block, "check"), "none") != 0;
}

pl_status iot_check_phases(const struct iot_spec *spec, const struct iot_block *block, struct pl_error *error)
{
    if (!iot_checks_old_data(block) || iot_spec_find(block, "seed"))
        return PL_OK;
    return iot_spec_fail(
        spec, block, "phases", error,
        "'read' cannot check the data without the seed of the writing run; allowed: with seed N, or with "
        "check none");
}

void iot_set_phases(const struct iot_block *block, struct iot_set *set)
{
    const char *phases = iot_spec_text(block, "phases");
    set->write_bytes = strcmp(phases, "read") == 0 ? 0 : set->file_bytes;
    set->read_bytes = strcmp(phases, "write") == 0 ? 0 : set->file_bytes;
}

bool iot_has_hint(const struct iot_block *block, const char *name)
{
    for (size_t i = 0; i < block->hint_count; i++)
        if (strcmp(block->hints[i].key, name) == 0)
            return true;
    return false;
}

static void iot_add_note(struct text *notes, const char *key, const char *format, va_list args)
{
    char value[1024];
    vsnprintf(value, sizeof value, format, args);
    notes_add(notes, key, value);
}

void iot_param(struct iot_run *run, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    iot_add_note(&run->params, key, format, args);
    va_end(args);
}

void iot_warn(struct iot_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    iot_add_note(&run->warnings, NULL, format, args);
    va_end(args);
}

void iot_note_hints(struct iot_run *run, MPI_File file)
{
    info_note_file(file, NULL, NULL, &run->hints_used);
}

const char *iot_local_path(const char *filename)
{
    const char *c = filename;
    while (isalnum((unsigned char)*c))
        c++;
    return *c == ':' && c - filename >= 2 ? c + 1 : filename;
}

/* Before the old file goes: it is not given up for a new one that cannot be. */
static pl_status iot_check_space(const struct iot_run *run, const char *path, struct pl_error *error)
{
    struct environment_filesystem fs;
    if (environment_filesystem(path, &fs, error) != PL_OK)
        return pl_within(error, "making '%s'", run->filename);
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    const int64_t room = fs.free_bytes + place_taken_bytes(path);
    if (fs.total_bytes > 0 && run->set.file_bytes > room)
        return pl_fail(error, PL_E_SPACE, "'%s' needs %s, but the file system of '%s' (%s) has only %s free",
                       run->filename, units_bytes(run->set.file_bytes, needed), fs.directory, fs.type,
                       units_bytes(room, there));
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (uint64_t)run->set.file_bytes > limit.rlim_cur)
        return pl_fail(error, PL_E_SPACE, "'%s' needs %s, but this shell limits files to %s (ulimit -f)", run->filename,
                       units_bytes(run->set.file_bytes, needed), units_bytes((int64_t)limit.rlim_cur, there));
    return PL_OK;
}

/* A read across the end of a file is worse than an error: with OMPIO a non-blocking one never ends. */
static pl_status iot_check_length(const struct iot_run *run, const char *path, struct pl_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0 && errno == ENOENT)
        return pl_fail(error, PL_E_NO_SUCH_FILE,
                       "'%s' is not there to be read; a block before this one writes it, or an earlier run with 'keep "
                       "true'",
                       run->filename);
    if (stat(path, &info) != 0)
        return pl_fail_errno(error, errno, "opening '%s', to read what an earlier run wrote", run->filename);
    if (S_ISREG(info.st_mode) && info.st_size < run->set.file_bytes)
        return pl_fail(error, PL_E_DATA,
                       "'%s' has only %lld bytes of the %lld to read; was it written with these sizes?", run->filename,
                       (long long)info.st_size, (long long)run->set.file_bytes);
    return PL_OK;
}

/* Whether a file can be made there. MPI-IO would answer "invalid access mode" or "other error": here errno tells. */
static pl_status iot_check_place(const struct iot_run *run, const char *path, struct pl_error *error)
{
    struct stat info;
    if (lstat(path, &info) == 0)
        return PL_OK; /* a device, or a link to where nothing is yet */
    interrupt_hold();
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    pl_status status = fd < 0 ? pl_fail_errno(error, errno, "making '%s'", run->filename) : PL_OK;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && remove(path) != 0)
        status = pl_fail_errno(error, errno, "removing '%s'", run->filename);
    interrupt_release();
    return status;
}

pl_status iot_clear_file(const struct iot_run *run, struct pl_error *error)
{
    const char *path = iot_local_path(run->filename);
    if (run->set.write_bytes == 0)
        return iot_check_length(run, path, error);
    pl_status status = iot_check_space(run, path, error);
    if (status == PL_OK)
        status = testfile_clear(path, error);
    return status == PL_OK ? iot_check_place(run, path, error) : status;
}

void iot_watch_file(const struct iot_run *run)
{
    if (run->set.write_bytes > 0 && run->rank != 0)
        testfile_watch(iot_local_path(run->filename), iot_spec_is_true(run->block, "keep"));
}

pl_status iot_check_memory(const struct iot_run *run, struct pl_error *error)
{
    const int64_t available = environment_memory_available_bytes();
    const int64_t alone = run->rank == 0 ? run->set.memory_alone_bytes : 0;
    if (available == 0 || run->set.memory_bytes + alone / run->node_ranks <= available / run->node_ranks)
        return PL_OK;
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    return pl_fail(error, PL_E_NOMEM,
                   "a rank needs %s of memory for timings and data, but %d ranks share %s available on this node",
                   units_bytes(run->set.memory_bytes + alone, needed), run->node_ranks, units_bytes(available, there));
}

/* ---- the course of a test ---- */

static pl_status course_step_coll(struct iot_run *run, const struct iot_course *row, void *test, struct pl_error *error,
                                  struct coll_verdict *verdict)
{
    const bool alone = row->when & IOT_ALONE;
    const bool takes_part = !alone || run->rank == 0 || (row->when & IOT_EVERYWHERE);
    pl_status status = PL_OK;
    if (!alone)
        MPI_Barrier(run->comm);
    if (takes_part) {
        const double begin = MPI_Wtime();
        status = row->step(test, error);
        if (row->key)
            samples_span(&run->samples, row->key, begin, MPI_Wtime());
    }
    if (alone)
        coll_barrier_quiet_coll(run->comm); /* waiting ranks must not take the measured one's core */
    return coll_agree_coll(run->comm, status, error, verdict);
}

static bool course_applies(const struct iot_course *row, const struct iot_set *set)
{
    if (!row->step)
        return false;
    if ((row->when & IOT_WRITES) && set->write_bytes == 0)
        return false;
    return !(row->when & IOT_READS) || set->read_bytes > 0;
}

pl_status iot_course_coll(struct iot_run *run, const struct iot_course *course, size_t count, void *test,
                          struct pl_error *error, struct coll_verdict *ret_verdict)
{
    pl_status status = PL_OK;
    bool opened = false;
    for (size_t i = 0; i < count; i++) {
        const bool closes = course[i].when & IOT_CLOSES;
        if (!course_applies(&course[i], &run->set) || (closes ? !opened : status != PL_OK))
            continue;
        struct pl_error step_error = {PL_OK, ""};
        struct coll_verdict step_verdict;
        const pl_status done = course_step_coll(run, &course[i], test, &step_error, &step_verdict);
        if (done == PL_OK) {
            opened = opened || (course[i].when & IOT_OPENS);
        } else if (status == PL_OK) { /* the first failure is the one to report */
            status = done;
            *error = step_error;
            *ret_verdict = step_verdict;
        }
    }
    return status;
}

/* ---- a test's file through MPI-IO ---- */

pl_status iot_file_open_coll(struct iot_run *run, MPI_Comm comm, MPI_File *ret_file, struct pl_error *error)
{
    const int mode = run->set.write_bytes > 0 ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    iot_watch_file(run);
    const int code = MPI_File_open(comm, run->filename, mode, run->info, ret_file);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "opening '%s'", run->filename);
    if (run->rank == 0)
        iot_note_hints(run, *ret_file);
    return PL_OK;
}

/* OMPIO 4.1 lets each rank look at the size while the first already writes: those that find the file long enough leave,
 * and the others wait for them for ever. The first rank alone has nobody to wait for. */
static int file_preallocate_alone(const struct iot_run *run)
{
    if (run->rank != 0)
        return MPI_SUCCESS;
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_SELF, run->filename, MPI_MODE_RDWR, run->info, &file);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_File_preallocate(file, run->set.file_bytes);
    const int closed = MPI_File_close(&file);
    return code != MPI_SUCCESS ? code : closed;
}

pl_status iot_file_preallocate_coll(const struct iot_run *run, MPI_File file, struct pl_error *error)
{
    if (!iot_spec_is_true(run->block, "preallocate"))
        return PL_OK;
    const bool alone = environment_is_ompio();
    const int code = alone ? file_preallocate_alone(run) : MPI_File_preallocate(file, run->set.file_bytes);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "preallocating %lld bytes of '%s'", (long long)run->set.file_bytes,
                             run->filename);
    return PL_OK;
}

pl_status iot_file_sync_coll(const struct iot_run *run, MPI_File file, struct pl_error *error)
{
    const int code = MPI_File_sync(file);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "syncing '%s'", run->filename);
}

pl_status iot_file_close_coll(const struct iot_run *run, MPI_File *file, struct pl_error *error)
{
    const int code = MPI_File_close(file);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", run->filename);
}

pl_status iot_file_note_full_disk(const struct iot_run *run, const char *doing, struct pl_error *error)
{
    enum { NEARLY_NOTHING = 1 << 20 };
    struct environment_filesystem fs;
    struct pl_error ignored;
    char there[UNITS_TEXT_MAX];
    if ((strcmp(doing, "writing") != 0 && strcmp(doing, "updating") != 0) ||
        environment_filesystem(run->filename, &fs, &ignored) != PL_OK || fs.total_bytes == 0 ||
        fs.free_bytes >= NEARLY_NOTHING)
        return error->status;
    const size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, "; its file system has only %s free",
             units_bytes(fs.free_bytes, there));
    return error->status = PL_E_SPACE;
}
