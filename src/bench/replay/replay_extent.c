#include "bench/replay/replay_run.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "base/rng.h"
#include "bench/replay/replay_plan.h"
#include "bench/replay/replay_type.h"
#include "mpi/coll.h"
#include "trace/trace_extent.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- bytes that a replay touches ---- */

enum { INSTANCES_MAX = 1 << 20 };

/* A file that is open in thought. */
struct trial {
    bool has_view;
    struct trace_view view; /* the one in force */
    bool has_file;          /* of a view that does not tell places: */
    MPI_File file;          /* /dev/null with it */
    struct replay_type etype, filetype;
    int64_t etype_bytes, view_bytes;
    int64_t shared_bytes; /* moved by the shared pointer so far, by this rank */
};

struct search {
    const struct replay_plan *plan;
    int rank;
    struct replay_extents *extents;
    struct trial *trials; /* as the extents */
    int trial_room;
    int under_way;
    int64_t most; /* calls to look at */
    struct pl_error *error;
};

int64_t replay_extent_end(MPI_File file, int64_t offset, int64_t size, int64_t etype_bytes, int64_t view_bytes)
{
    MPI_Offset byte = 0;
    if (size < 1 || view_bytes < 1 || offset < 0)
        return 0;
    const int64_t etypes = etype_bytes > 0 ? size / etype_bytes + (size % etype_bytes != 0) : size;
    if (!checked_add(offset, etypes - 1, &offset) || MPI_File_get_byte_offset(file, offset, &byte) != MPI_SUCCESS)
        return 0;
    return saturating_add(byte, etype_bytes);
}

void replay_extents_clear(struct replay_extents *extents)
{
    free(extents->items);
    replay_layouts_free(extents->layouts, extents->layout_count);
    *extents = (struct replay_extents){0};
}

const struct replay_extent *replay_extents_of(struct replay_extents *extents, int file, int64_t instance)
{
    for (int i = 0; i < extents->count; i++) {
        const int at = (extents->last + i) % extents->count;
        if (extents->items[at].file == file && extents->items[at].instance == instance) {
            extents->last = at;
            return &extents->items[at];
        }
    }
    return NULL;
}

static void extent_end_trial(struct trial *trial)
{
    if (trial->has_view)
        trace_view_clear(&trial->view);
    if (trial->has_file)
        MPI_File_close(&trial->file);
    replay_type_clear(&trial->etype);
    replay_type_clear(&trial->filetype);
    *trial = (struct trial){.etype_bytes = 1, .view_bytes = 1};
}

/* The place of a file in the table; -1: no memory. */
static int extent_item_of(struct search *search, int file, int64_t instance)
{
    struct replay_extents *extents = search->extents;
    if (replay_extents_of(extents, file, instance))
        return extents->last;
    if (instance >= INSTANCES_MAX) {
        pl_fail(search->error, PL_E_FORMAT, "file %d: instance %lld; allowed: below %d", file + 1, (long long)instance,
                (int)INSTANCES_MAX);
        return -1;
    }
    if (!ARRAY_ROOM(extents->items, extents->count, extents->room, 8) ||
        !ARRAY_ROOM(search->trials, extents->count, search->trial_room, 8)) {
        pl_fail(search->error, PL_E_NOMEM, "not enough memory for the files of the model");
        return -1;
    }
    extents->last = extents->count++;
    extents->items[extents->last] = (struct replay_extent){.file = file, .instance = instance, .initial = -1};
    search->trials[extents->last] = (struct trial){.etype_bytes = 1, .view_bytes = 1};
    return extents->last;
}

/* ---- views ---- */

static pl_status extent_open_trial(struct trial *trial, struct pl_error *error)
{
    if (trial->has_file)
        return PL_OK;
    const int code = MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &trial->file);
    trial->has_file = code == MPI_SUCCESS;
    return trial->has_file ? PL_OK : coll_fail_mpi(error, code, "opening /dev/null to try a view");
}

static pl_status extent_make_types(const char *detail, struct trial *trial, struct pl_error *error)
{
    char *etype = trace_detail_text(detail, "etype"), *filetype = trace_detail_text(detail, "filetype");
    pl_status status = etype && filetype ? PL_OK
                                         : pl_fail(error, PL_E_FORMAT, "set_view: etype= or filetype= is missing");
    replay_type_clear(&trial->etype);
    replay_type_clear(&trial->filetype);
    if (status == PL_OK)
        status = replay_type_make(etype, &trial->etype, error);
    if (status == PL_OK)
        status = replay_type_make(filetype, &trial->filetype, error);
    free(etype);
    free(filetype);
    return status;
}

/* No file is opened where it can be helped: the first open of a process costs more than later ones, and it is the
 * program's. */
static pl_status extent_try_view(struct trial *trial, const char *detail, struct pl_error *error)
{
    MPI_Count etype_bytes = 0, view_bytes = 0;
    pl_status status = extent_make_types(detail, trial, error);
    if (status != PL_OK)
        return status;
    MPI_Type_size_x(trial->etype.type, &etype_bytes);
    MPI_Type_size_x(trial->filetype.type, &view_bytes);
    trial->etype_bytes = etype_bytes;
    trial->view_bytes = view_bytes;
    if (trial->has_view)
        trace_view_clear(&trial->view);
    status = trace_view_init(&trial->view, detail, error);
    trial->has_view = status == PL_OK;
    if (status != PL_E_UNSUPPORTED || (status = extent_open_trial(trial, error)) != PL_OK)
        return status;
    char *datarep = trace_detail_text(detail, "datarep");
    const int64_t disp = trace_detail_number(detail, "disp", 0);
    const int code = MPI_File_set_view(trial->file, disp > 0 ? disp : 0 /* MPI_DISPLACEMENT_CURRENT */,
                                       trial->etype.type, trial->filetype.type, datarep ? datarep : "native",
                                       MPI_INFO_NULL);
    free(datarep);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "set_view");
}

/* ---- calls ---- */

static pl_status extent_take_call(struct search *search, const struct model_event *event,
                                  const struct replay_operation *operation, int item)
{
    struct trial *trial = &search->trials[item];
    struct text detail = {0};
    pl_status status = PL_OK;
    if (event->step->detail)
        status = model_render(event->step->detail, event->rank, event->n, &detail, search->error);
    if (status == PL_OK && operation->kind == REPLAY_OPEN) {
        struct replay_open open;
        status = replay_open_parse(text_get(&detail), search->rank, (int)search->plan->model->ranks, &open,
                                   search->error);
        if (status == PL_OK)
            search->extents->items[item].ranks = open.ranks;
        replay_open_clear(&open);
        extent_end_trial(trial);
    } else if (status == PL_OK && operation->kind == REPLAY_SET_VIEW) {
        status = extent_try_view(trial, text_get(&detail), search->error);
    } else if (operation->kind == REPLAY_CLOSE) {
        extent_end_trial(trial);
    }
    text_clear(&detail);
    return status;
}

/* The shared pointer is where the ranks together have brought it: the others are taken to move as much. */
static int64_t extent_end_of(const struct replay_extent *extent, struct trial *trial, const struct model_event *event,
                             bool is_shared)
{
    if (is_shared)
        return saturating_mul(trial->shared_bytes = saturating_add(trial->shared_bytes, event->size), extent->ranks);
    int64_t first, end;
    if (trial->has_view)
        return event->size > 0 && trial->view_bytes > 0 &&
                       trace_extents_range(&trial->view, event->offset, event->size, &first, &end)
                   ? end
                   : 0;
    if (trial->has_file)
        return replay_extent_end(trial->file, event->offset, event->size, trial->etype_bytes, trial->view_bytes);
    return event->size > 0 && event->offset >= 0 ? saturating_add(event->offset, event->size) : 0;
}

static pl_status extent_take_memory(struct search *search, const struct model_event *event, bool writes)
{
    struct replay_extents *extents = search->extents;
    struct replay_reach reach = {.span = event->size};
    if (event->memory > 0) {
        const struct replay_layout *layout = &extents->layouts[event->memory - 1];
        if (layout->type.type == MPI_DATATYPE_NULL)
            extents->untold = true;
        else if (replay_layout_reach(layout, event->size, &reach, search->error) != PL_OK)
            return pl_within(search->error, "step %d", event->step->leaf + 1);
    }
    extents->largest = event->size > extents->largest ? event->size : extents->largest;
    extents->span = reach.span > extents->span ? reach.span : extents->span;
    if (writes && event->size > extents->largest_write)
        extents->largest_write = event->size;
    if (writes && reach.span > extents->span_write)
        extents->span_write = reach.span;
    return PL_OK;
}

static pl_status extent_take_access(struct search *search, const struct model_event *event, int item)
{
    struct replay_extents *extents = search->extents;
    struct replay_extent *extent = &extents->items[item];
    const struct model_operation is = model_operation_of(event->step->operation);
    const struct replay_plan *plan = search->plan;
    const struct replay_file_facts *group = &plan->files[plan->files[extent->file].group];
    const int phase = plan->phase_of_leaf[event->step->leaf];
    const struct replay_unit *unit = &plan->units[plan->unit_of_phase[phase]];
    if (!unit->selected)
        return PL_OK;
    const int64_t end = extent_end_of(extent, &search->trials[item], event, is.pointer == MODEL_SHARED);
    const bool updates = is.writes && !group->creates; /* a file that was there is written anew in its place */
    const bool before = is.reads && (event->step->leaf < group->first_write || plan->chosen);
    extent->read_bytes += is.reads ? (double)event->size : 0;
    extent->written_bytes += is.writes ? (double)event->size : 0;
    if (is.writes && end > extent->end)
        extent->end = end;
    if ((before || updates) && end > extent->initial)
        extent->initial = end;
    return extent_take_memory(search, event, is.writes);
}

static bool extent_take_event(void *context, const struct model_event *event)
{
    struct search *search = context;
    const struct replay_operation *operation = search->plan->operations[event->step->leaf];
    if (search->extents->calls++ == search->most) {
        search->extents->is_partial = true;
        return false;
    }
    if (operation->kind == REPLAY_START || operation->kind == REPLAY_BEGIN)
        search->under_way++;
    if (search->under_way > search->extents->buffers)
        search->extents->buffers = search->under_way;
    if ((operation->kind == REPLAY_WAIT || operation->kind == REPLAY_END) && search->under_way > 0)
        search->under_way--;
    if (event->step->file < 0)
        return true;
    const int item = extent_item_of(search, event->step->file, event->instance < 0 ? 0 : event->instance);
    if (item < 0)
        return false;
    if (operation->kind == REPLAY_OPEN && !search->plan->files[event->step->file].creates &&
        search->extents->items[item].initial < 0)
        search->extents->items[item].initial = 0;
    if (event->step->access)
        return extent_take_access(search, event, item) == PL_OK;
    if (extent_take_call(search, event, operation, item) != PL_OK) {
        pl_within(search->error, "step %d", event->step->leaf + 1);
        return false;
    }
    return true;
}

pl_status replay_extents_find(const struct replay_plan *plan, int rank, int64_t most,
                              struct replay_extents *ret_extents, struct pl_error *error)
{
    struct replay_extents extents = {0};
    struct search search = {.plan = plan, .rank = rank, .extents = &extents, .most = most, .error = error};
    error->status = PL_OK;
    pl_status status = replay_layouts_make(plan->model, &extents.layouts, error);
    extents.layout_count = status == PL_OK ? plan->model->layout_count : 0;
    if (status == PL_OK)
        status = model_expand(plan->model, rank, extent_take_event, &search, error);
    if (status == PL_OK)
        status = error->status; /* the walk was ended by extent_take_event() */
    for (int i = 0; search.trials && i < extents.count; i++)
        extent_end_trial(&search.trials[i]);
    free(search.trials);
    if (status == PL_OK)
        *ret_extents = extents;
    else
        replay_extents_clear(&extents);
    return status;
}

/* ---- space ---- */

static int64_t extent_bytes_of(const struct replay_extent *extent)
{
    return extent->end > extent->initial ? extent->end : extent->initial > 0 ? extent->initial : 0;
}

/* A file of several ranks is as long as the one that reaches farthest makes it. */
static int64_t extent_shared_space_coll(const struct replay_extents *extents, int file, int64_t instances,
                                        MPI_Comm comm)
{
    enum { CHUNK = 1024 };
    int64_t sum = 0, mine[CHUNK], most[CHUNK];
    for (int64_t from = 0; from < instances; from += CHUNK) {
        const int64_t count = instances - from < CHUNK ? instances - from : CHUNK;
        memset(mine, 0, sizeof mine);
        for (int i = 0; i < extents->count; i++) {
            const struct replay_extent *extent = &extents->items[i];
            if (extent->file == file && extent->instance >= from && extent->instance < from + count)
                mine[extent->instance - from] = extent_bytes_of(extent);
        }
        MPI_Allreduce(mine, most, (int)count, MPI_INT64_T, MPI_MAX, comm);
        for (int64_t i = 0; i < count; i++)
            sum = saturating_add(sum, most[i]);
    }
    return sum;
}

int64_t replay_extents_space_coll(const struct replay_plan *plan, const struct replay_extents *extents, MPI_Comm comm)
{
    int64_t space = 0;
    for (int file = 0; file < plan->model->file_count; file++) {
        const struct model_file_facts *facts = &plan->facts.files[file];
        int64_t mine[2] = {0, 0}, most[2], sum = 0; /* instances, bytes that must be there at first */
        for (int i = 0; i < extents->count; i++)
            if (extents->items[i].file == file) {
                mine[0] = extents->items[i].instance >= mine[0] ? extents->items[i].instance + 1 : mine[0];
                mine[1] = saturating_add(mine[1], extents->items[i].initial > 0 ? extents->items[i].initial : 0);
                sum = saturating_add(sum, extent_bytes_of(&extents->items[i]));
            }
        MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm);
        if (facts->type == MODEL_FILE_UNIQUE)
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
        else
            sum = extent_shared_space_coll(extents, file, most[0], comm);
        /* What is not written takes no space: a far offset makes a hole. */
        const int64_t written = saturating_add(facts->written_bytes, most[1] > 0 ? sum : 0);
        space = saturating_add(space, sum < written ? sum : written);
    }
    return space;
}

/* ---- places and their files ---- */

/* The folder of a replay on its target: made by us, with names of ours, and removed with all that is in it. Nothing
 * else is touched there. */

enum { FILL_BLOCK = 4 << 20, NAME_SHOWN = 60 };

/* ---- the folder ---- */

/* Rank 0 makes a folder that was not there; the others make it where they do not see it (a disk of their own node). */
pl_status replay_place_make_coll(struct replay_run *run, struct pl_error *error)
{
    pl_status status = PL_OK;
    struct coll_verdict verdict;
    if (run->rank == 0) {
        snprintf(run->folder, sizeof run->folder, "%s/piolet-replay.XXXXXX", run->job->directory);
        if (!interrupt_mkdtemp(run->folder))
            status = pl_fail_errno(error, errno, "making a folder in '%s'", run->job->directory);
    }
    status = coll_agree_coll(run->comm, status, error, &verdict);
    if (status != PL_OK) {
        run->folder[0] = '\0';
        return status;
    }
    MPI_Bcast(run->folder, sizeof run->folder, MPI_CHAR, 0, run->comm);
    if (run->job->keep)
        interrupt_keep(run->folder);
    else
        interrupt_remove(run->folder);
    if (mkdir(run->folder, 0700) != 0 && errno != EEXIST)
        status = pl_fail_errno(error, errno, "making '%s'", run->folder);
    return coll_agree_coll(run->comm, status, error, &verdict);
}

void replay_place_remove_coll(struct replay_run *run)
{
    if (!run->folder[0])
        return;
    MPI_Barrier(run->comm); /* nobody has a file open */
    if (run->rank == 0 && !run->job->keep)
        remove_quietly(run->folder);
    MPI_Barrier(run->comm);
    if (run->rank != 0 && !run->job->keep)
        remove_quietly(run->folder);
    interrupt_keep(run->folder);
}

/* The end of the name for people, and a sum of all of it, so that two names are two files. */
pl_status replay_place_name(const struct replay_run *run, const char *name, char ret_path[REPLAY_PATH_MAX],
                            struct pl_error *error)
{
    uint64_t sum = 1;
    const char *slash = strrchr(name, '/');
    const char *shown = slash ? slash + 1 : name;
    for (const char *c = name; *c; c++)
        sum = rng_at(sum, (uint64_t)(unsigned char)*c);
    const size_t length = strlen(shown);
    int used = snprintf(ret_path, REPLAY_PATH_MAX, "%s/", run->folder);
    for (const char *c = shown + (length > NAME_SHOWN ? length - NAME_SHOWN : 0); *c && used < REPLAY_PATH_MAX; c++)
        ret_path[used++] = isalnum((unsigned char)*c) || (strchr("._-", *c) && c > shown) ? *c : '_';
    if (used < REPLAY_PATH_MAX)
        used += snprintf(ret_path + used, (size_t)(REPLAY_PATH_MAX - used), "-%016llx", (unsigned long long)sum);
    return used < REPLAY_PATH_MAX ? PL_OK : pl_fail_errno(error, ENAMETOOLONG, "naming a file in '%s'", run->folder);
}

/* ---- filling ---- */

static pl_status place_write_range(int fd, const char *path, const char *block, int64_t from, int64_t to,
                                   struct pl_error *error)
{
    while (from < to) {
        const size_t length = to - from < FILL_BLOCK ? (size_t)(to - from) : FILL_BLOCK;
        const ssize_t done = pwrite(fd, block, length, from);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return pl_fail_errno(error, done < 0 ? errno : ENOSPC, "filling '%s'", path);
        from += done;
    }
    return PL_OK;
}

/* Holes in what is there, then what lies behind its end. */
static pl_status place_fill_holes(int fd, const char *path, const char *block, int64_t bytes, struct pl_error *error)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return pl_fail_errno(error, errno, "looking at '%s'", path);
    const int64_t size = info.st_size < bytes ? info.st_size : bytes;
    pl_status status = PL_OK;
    for (int64_t at = 0; at < size && status == PL_OK;) {
        const int64_t hole = lseek(fd, at, SEEK_HOLE);
        if (hole < 0 || hole >= size)
            break; /* none, or a file system that does not tell */
        int64_t data = lseek(fd, hole, SEEK_DATA);
        data = data < 0 || data > size ? size : data;
        status = place_write_range(fd, path, block, hole, data, error);
        at = data;
    }
    return status == PL_OK ? place_write_range(fd, path, block, size, bytes, error) : status;
}

pl_status replay_place_fill(const char *path, int64_t bytes, struct pl_error *error)
{
    char *block = malloc(FILL_BLOCK);
    const int fd = block ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    const int cause = errno;
    pl_status status = PL_OK;
    if (!block)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory to fill '%s'", path);
    else if (fd < 0)
        status = pl_fail_errno(error, cause, "making '%s'", path);
    for (size_t i = 0; block && i < FILL_BLOCK / sizeof(uint64_t); i++)
        ((uint64_t *)(void *)block)[i] = rng_mix(i);
    if (status == PL_OK)
        status = place_fill_holes(fd, path, block, bytes, error);
    if (fd >= 0 && close(fd) != 0 && status == PL_OK)
        status = pl_fail_errno(error, errno, "filling '%s'", path);
    free(block);
    return status;
}

pl_status replay_place_drop(const char *path, struct pl_error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? PL_OK : pl_fail_errno(error, errno, "opening '%s'", path);
    const bool synced = fdatasync(fd) == 0;
    const int cause = errno, code = synced ? posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) : 0;
    close(fd);
    return !synced ? pl_fail_errno(error, cause, "fdatasync of '%s'", path)
           : code  ? pl_fail_errno(error, code, "dropping the pages of '%s'", path)
                   : PL_OK;
}
