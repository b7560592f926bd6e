#include "replay/replay_extent.h"

#include "base/checked.h"
#include "mpi/coll.h"
#include "replay/replay_detail.h"
#include "replay/replay_operation.h"
#include "replay/replay_type.h"

#include <stdlib.h>
#include <string.h>

enum { INSTANCES_MAX = 1 << 20 };

/* A file that is open in thought. */
struct trial {
    bool has_view;
    MPI_File file; /* /dev/null with the view in force */
    struct replay_type etype, filetype;
    int64_t etype_bytes, view_bytes;
    int64_t shared_bytes; /* moved by the shared pointer so far, by this rank */
};

struct search {
    const struct replay_plan *plan;
    int rank;
    struct replay_extents *extents;
    struct trial *trials; /* as the extents */
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

static void end_trial(struct trial *trial)
{
    if (trial->has_view)
        MPI_File_close(&trial->file);
    replay_type_clear(&trial->etype);
    replay_type_clear(&trial->filetype);
    *trial = (struct trial){.etype_bytes = 1, .view_bytes = 1};
}

/* The place of a file in the table; -1: no memory. */
static int item_of(struct search *search, int file, int64_t instance)
{
    struct replay_extents *extents = search->extents;
    if (replay_extents_of(extents, file, instance))
        return extents->last;
    if (instance >= INSTANCES_MAX) {
        pl_fail(search->error, PL_E_FORMAT, "file %d: instance %lld; allowed: below %d", file + 1, (long long)instance,
                (int)INSTANCES_MAX);
        return -1;
    }
    if (extents->count == extents->room) {
        const int room = 2 * extents->room + 8;
        struct replay_extent *items = realloc(extents->items, (size_t)room * sizeof *items);
        extents->items = items ? items : extents->items;
        struct trial *trials = items ? realloc(search->trials, (size_t)room * sizeof *trials) : NULL;
        if (!trials) {
            pl_fail(search->error, PL_E_NOMEM, "not enough memory for the files of the model");
            return -1;
        }
        search->trials = trials;
        extents->room = room;
    }
    extents->last = extents->count++;
    extents->items[extents->last] = (struct replay_extent){.file = file, .instance = instance, .initial = -1};
    search->trials[extents->last] = (struct trial){.etype_bytes = 1, .view_bytes = 1};
    return extents->last;
}

/* ---- views ---- */

static pl_status open_trial(struct trial *trial, struct pl_error *error)
{
    if (trial->has_view)
        return PL_OK;
    const int code = MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &trial->file);
    trial->has_view = code == MPI_SUCCESS;
    return trial->has_view ? PL_OK : coll_fail_mpi(error, code, "opening /dev/null to try a view");
}

static pl_status make_types(const char *detail, struct trial *trial, struct pl_error *error)
{
    char *etype = replay_detail_text(detail, "etype"), *filetype = replay_detail_text(detail, "filetype");
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

static pl_status try_view(struct trial *trial, const char *detail, struct pl_error *error)
{
    MPI_Count etype_bytes = 0, view_bytes = 0;
    pl_status status = open_trial(trial, error);
    if (status == PL_OK)
        status = make_types(detail, trial, error);
    if (status != PL_OK)
        return status;
    MPI_Type_size_x(trial->etype.type, &etype_bytes);
    MPI_Type_size_x(trial->filetype.type, &view_bytes);
    trial->etype_bytes = etype_bytes;
    trial->view_bytes = view_bytes;
    char *datarep = replay_detail_text(detail, "datarep");
    const int code = MPI_File_set_view(trial->file, replay_detail_number(detail, "disp", 0), trial->etype.type,
                                       trial->filetype.type, datarep ? datarep : "native", MPI_INFO_NULL);
    free(datarep);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "set_view");
}

/* ---- calls ---- */

static pl_status take_call(struct search *search, const struct model_event *event,
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
        end_trial(trial);
    } else if (status == PL_OK && operation->kind == REPLAY_SET_VIEW) {
        status = try_view(trial, text_get(&detail), search->error);
    } else if (operation->kind == REPLAY_CLOSE) {
        end_trial(trial);
    }
    text_clear(&detail);
    return status;
}

/* The shared pointer is where the ranks together have brought it: the others are taken to move as much. */
static int64_t end_of(const struct replay_extent *extent, struct trial *trial, const struct model_event *event,
                      bool is_shared)
{
    if (is_shared)
        return saturating_mul(trial->shared_bytes = saturating_add(trial->shared_bytes, event->size), extent->ranks);
    if (trial->has_view)
        return replay_extent_end(trial->file, event->offset, event->size, trial->etype_bytes, trial->view_bytes);
    return event->size > 0 && event->offset >= 0 ? saturating_add(event->offset, event->size) : 0;
}

static pl_status take_memory(struct search *search, const struct model_event *event, bool writes)
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

static pl_status take_access(struct search *search, const struct model_event *event, int item)
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
    const int64_t end = end_of(extent, &search->trials[item], event, is.pointer == MODEL_SHARED);
    const bool updates = is.writes && !group->creates; /* a file that was there is written anew in its place */
    const bool before = is.reads && (event->step->leaf < group->first_write || plan->chosen);
    if (is.writes && end > extent->end)
        extent->end = end;
    if ((before || updates) && end > extent->initial)
        extent->initial = end;
    return take_memory(search, event, is.writes);
}

static bool take_event(void *context, const struct model_event *event)
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
    const int item = item_of(search, event->step->file, event->instance < 0 ? 0 : event->instance);
    if (item < 0)
        return false;
    if (operation->kind == REPLAY_OPEN && !search->plan->files[event->step->file].creates &&
        search->extents->items[item].initial < 0)
        search->extents->items[item].initial = 0;
    if (event->step->access)
        return take_access(search, event, item) == PL_OK;
    if (take_call(search, event, operation, item) != PL_OK) {
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
        status = model_expand(plan->model, rank, take_event, &search, error);
    if (status == PL_OK)
        status = error->status; /* the walk was ended by take_event() */
    for (int i = 0; search.trials && i < extents.count; i++)
        end_trial(&search.trials[i]);
    free(search.trials);
    if (status == PL_OK)
        *ret_extents = extents;
    else
        replay_extents_clear(&extents);
    return status;
}

/* ---- space ---- */

static int64_t bytes_of(const struct replay_extent *extent)
{
    return extent->end > extent->initial ? extent->end : extent->initial > 0 ? extent->initial : 0;
}

/* A file of several ranks is as long as the one that reaches farthest makes it. */
static int64_t shared_space_coll(const struct replay_extents *extents, int file, int64_t instances, MPI_Comm comm)
{
    enum { CHUNK = 1024 };
    int64_t sum = 0, mine[CHUNK], most[CHUNK];
    for (int64_t from = 0; from < instances; from += CHUNK) {
        const int64_t count = instances - from < CHUNK ? instances - from : CHUNK;
        memset(mine, 0, sizeof mine);
        for (int i = 0; i < extents->count; i++) {
            const struct replay_extent *extent = &extents->items[i];
            if (extent->file == file && extent->instance >= from && extent->instance < from + count)
                mine[extent->instance - from] = bytes_of(extent);
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
                sum = saturating_add(sum, bytes_of(&extents->items[i]));
            }
        MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm);
        if (facts->type == MODEL_FILE_UNIQUE)
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
        else
            sum = shared_space_coll(extents, file, most[0], comm);
        /* What is not written takes no space: a far offset makes a hole. */
        const int64_t written = saturating_add(facts->written_bytes, most[1] > 0 ? sum : 0);
        space = saturating_add(space, sum < written ? sum : written);
    }
    return space;
}
