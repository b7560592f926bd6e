/* Files of a replay: opened, looked at, closed and deleted as the program did. */
#include "bench/replay/replay_run.h"

#include "base/array.h"
#include "mpi/coll.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

struct replay_file *replay_file_find(struct replay_run *run, int file, int64_t instance)
{
    for (int i = run->file_count - 1; i >= 0; i--)
        if (run->files[i].file == file && run->files[i].instance == instance)
            return &run->files[i];
    return NULL;
}

int64_t replay_file_end(const struct replay_file *file, int64_t offset, int64_t size)
{
    return replay_extent_end(file->handle, offset, size, file->etype_bytes, file->view_bytes);
}

/* ---- communicators ---- */

static bool replay_file_is_same(const struct replay_comm *comm, const struct replay_open *open)
{
    if (comm->ranks != open->ranks || !comm->members != !open->members)
        return false;
    if (open->members)
        return memcmp(comm->members, open->members, (size_t)open->ranks * sizeof *open->members) == 0;
    return comm->first == open->first && (comm->ranks == 1 || comm->stride == open->stride);
}

static int replay_file_make_comm_coll(const struct replay_run *run, const struct replay_open *open, MPI_Comm *ret_comm)
{
    MPI_Group world, group = MPI_GROUP_NULL;
    int *ranks = malloc((size_t)open->ranks * sizeof *ranks);
    if (!ranks)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < open->ranks; i++)
        ranks[i] = replay_open_member(open, i);
    MPI_Comm_group(run->comm, &world);
    int code = MPI_Group_incl(world, open->ranks, ranks, &group);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_create_group(run->comm, group, 0, ret_comm);
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
    MPI_Group_free(&world);
    free(ranks);
    return code;
}

/* ---- replay_file.c ---- */
/* The communicator of an open, kept for the next one. All of its ranks call. Takes over the members. */
static pl_status replay_file_comm_coll(struct replay_run *run, struct replay_open *open, MPI_Comm *ret_comm,
                                       struct pl_error *error)
{
    for (int i = 0; i < run->comm_count; i++)
        if (replay_file_is_same(&run->comms[i], open)) {
            *ret_comm = run->comms[i].comm;
            return PL_OK;
        }
    struct replay_comm comm = {.first = open->first, .stride = open->stride, .ranks = open->ranks};
    struct replay_comm *comms = realloc(run->comms, ((size_t)run->comm_count + 1) * sizeof *comms);
    run->comms = comms ? comms : run->comms;
    const int code = replay_file_make_comm_coll(run, open, &comm.comm);
    if (code != MPI_SUCCESS || !comms)
        return coll_fail_mpi(error, code, "making a communicator of %d ranks", open->ranks);
    MPI_Comm_set_errhandler(comm.comm, MPI_ERRORS_RETURN);
    comm.members = open->members;
    open->members = NULL; /* kept */
    comms[run->comm_count++] = comm;
    *ret_comm = comm.comm;
    return PL_OK;
}

void replay_files_clear(struct replay_run *run)
{
    for (int i = 0; i < run->comm_count; i++) {
        MPI_Comm_free(&run->comms[i].comm);
        free(run->comms[i].members);
    }
    free(run->comms);
    free(run->files);
    run->comms = NULL;
    run->files = NULL;
    run->comm_count = run->file_count = run->file_room = 0;
}

/* ---- open ---- */

static int replay_file_amode_of(int modes)
{
    static const struct {
        int bit, mode;
    } table[] = {{REPLAY_CREATE, MPI_MODE_CREATE},
                 {REPLAY_EXCL, MPI_MODE_EXCL},
                 {REPLAY_RDONLY, MPI_MODE_RDONLY},
                 {REPLAY_WRONLY, MPI_MODE_WRONLY},
                 {REPLAY_RDWR, MPI_MODE_RDWR},
                 {REPLAY_APPEND, MPI_MODE_APPEND},
                 {REPLAY_DELETE_ON_CLOSE, MPI_MODE_DELETE_ON_CLOSE},
                 {REPLAY_UNIQUE_OPEN, MPI_MODE_UNIQUE_OPEN},
                 {REPLAY_SEQUENTIAL, MPI_MODE_SEQUENTIAL}};
    int amode = 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        amode |= modes & table[i].bit ? table[i].mode : 0;
    return amode;
}

/* Hints of the program, and over them those of the command line. */
static pl_status replay_file_make_info(const struct replay_run *run, const char *detail, MPI_Info *ret_info,
                                       struct pl_error *error)
{
    struct trace_field field;
    int code = MPI_Info_create(ret_info);
    while (code == MPI_SUCCESS && trace_field_next(&detail, &field)) {
        if (strncmp(field.key, "hint.", 5) == 0)
            code = MPI_Info_set(*ret_info, field.key + 5, field.value);
        trace_field_clear(&field);
    }
    for (size_t i = 0; i < run->job->hints.count && code == MPI_SUCCESS; i++)
        code = MPI_Info_set(*ret_info, run->job->hints.list[i].key, run->job->hints.list[i].value);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting the hints");
}

/* Bytes that the program found there are made before. The ranks of the file agree whether all know what to open, and
 * whether it is there where it must be. */
static bool replay_file_prepare_coll(struct replay_run *run, struct replay_file *file, bool is_ready, int modes,
                                     bool *ret_was_made, struct pl_error *error)
{
    const struct replay_extent *extent = replay_extents_of(&run->extents, file->file, file->instance);
    const int64_t mine[2] = {!is_ready, extent ? extent->initial : -1};
    int64_t most[2];
    int rank, ok = 1;
    MPI_Comm_rank(file->comm, &rank);
    MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, file->comm);
    *ret_was_made = most[1] >= 0;
    if (!most[0] && most[1] < 0 && (modes & REPLAY_EXCL)) {
        if (rank == 0)
            unlink(file->path); /* the program has removed it, perhaps without MPI: it was not there */
        MPI_Barrier(file->comm);
    }
    if (most[0] || most[1] < 0)
        return !most[0];
    if (rank == 0 && file->path && access(file->path, F_OK) != 0)
        ok = replay_place_fill(file->path, most[1], error) == PL_OK;
    MPI_Bcast(&ok, 1, MPI_INT, 0, file->comm);
    return ok;
}

static struct replay_file *replay_file_add(struct replay_run *run, const struct replay_file *file)
{
    if (!ARRAY_ROOM(run->files, run->file_count, run->file_room, 8))
        return NULL;
    run->files[run->file_count] = *file;
    return &run->files[run->file_count++];
}

/* Everything that only concerns this rank. */
static pl_status replay_file_make(struct replay_run *run, const struct model_step *step, int64_t n, struct text *detail,
                                  struct replay_file *file, MPI_Info *info, struct pl_error *error)
{
    char path[REPLAY_PATH_MAX];
    struct text name = {0};
    pl_status status = model_render(step->name, run->rank, n, &name, error);
    if (status == PL_OK)
        status = replay_place_name(run, text_get(&name), path, error);
    text_clear(&name);
    if (status == PL_OK && !(file->path = text_dup(path)))
        status = pl_fail(error, PL_E_NOMEM, "not enough memory");
    if (status == PL_OK)
        status = replay_file_make_info(run, text_get(detail), info, error);
    return status;
}

/* A program that opens a file before it has communicated meets its ranks there for the first time, and waits for those
 * that were started last. This replay has met before: what it waited then is counted here. */
static int64_t replay_file_waited_for_start(struct replay_run *run, MPI_Comm comm)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    if (ranks < run->ranks)
        return 0;
    const int64_t waited = run->late_ns;
    run->late_ns = 0;
    return waited;
}

/* The open itself, timed; then all know whether all have it. */
static void replay_file_open_one_coll(struct replay_run *run, const struct model_step *step, struct replay_file *file,
                                      int amode, MPI_Info info, struct pl_error *error)
{
    const int64_t begin = replay_now_ns();
    const int code = MPI_File_open(file->comm, file->path, amode, info, &file->handle);
    const int64_t end = replay_now_ns();
    int failed = code != MPI_SUCCESS, any = 0;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, file->comm);
    file->is_open = !any;
    if (failed)
        coll_fail_mpi(error, code, "opening '%s'", file->path);
    else if (any)
        pl_fail(error, PL_E_PEER, "opening '%s' failed on another rank", file->path);
    if (error->status != PL_OK)
        replay_note(run, step, error);
    replay_walk_time(run, step, begin, end + replay_file_waited_for_start(run, file->comm));
}

void replay_file_open_coll(struct replay_run *run, const struct model_step *step, int64_t n, int64_t instance)
{
    struct replay_file file = {.file = step->file,
                               .instance = instance,
                               .etype_bytes = 1,
                               .view_bytes = 1,
                               .split.buffer = -1,
                               .etype = {MPI_BYTE, false},
                               .filetype = {MPI_BYTE, false}};
    struct replay_open open = {0};
    struct text detail = {0};
    struct pl_error error = {.status = PL_OK};
    MPI_Info info = MPI_INFO_NULL;
    bool was_made = false;
    /* That the communicator can be told was seen before the replay began. */
    model_render(step->detail, run->rank, n, &detail, &error);
    if (replay_open_parse(text_get(&detail), run->rank, run->ranks, &open, &error) == PL_OK &&
        replay_file_comm_coll(run, &open, &file.comm, &error) == PL_OK) {
        const bool ready = replay_file_make(run, step, n, &detail, &file, &info, &error) == PL_OK;
        const int modes = open.amode;
        if (replay_file_prepare_coll(run, &file, ready, modes, &was_made, &error))
            replay_file_open_one_coll(run, step, &file, replay_file_amode_of(was_made ? modes & ~REPLAY_EXCL : modes),
                                      info, &error);
        file.position = modes & REPLAY_APPEND ? -1 : 0;
        file.is_sequential = modes & REPLAY_SEQUENTIAL;
    }
    if (!replay_file_add(run, &file))
        pl_fail(&error, PL_E_NOMEM, "not enough memory for an open file");
    if (error.status != PL_OK)
        replay_note(run, step, &error);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    replay_open_clear(&open);
    text_clear(&detail);
}

/* ---- close, delete ---- */

static void replay_file_forget(struct replay_run *run, struct replay_file *file)
{
    free(file->path);
    free(file->pending);
    replay_type_clear(&file->etype);
    replay_type_clear(&file->filetype);
    *file = run->files[--run->file_count];
}

void replay_file_close_coll(struct replay_run *run, const struct model_step *step, struct replay_file *file)
{
    struct pl_error error = {.status = PL_OK};
    replay_call_finish(run, file);
    if (file->is_open) {
        int rank;
        MPI_Comm_rank(file->comm, &rank);
        const int64_t begin = replay_now_ns();
        const int code = MPI_File_close(&file->handle);
        const int64_t end = replay_now_ns();
        const struct replay_file_facts *group = &run->plan->files[run->plan->files[file->file].group];
        if (step && rank == 0 && group->last_use == step->leaf && run->model->fresh &&
            run->model->fresh[file->file].unlinked)
            unlink(file->path); /* as the program: whoever closes last frees the file */
        if (step)
            replay_walk_time(run, step, begin, end);
        if (code != MPI_SUCCESS)
            coll_fail_mpi(&error, code, "closing '%s'", file->path);
    }
    replay_file_forget(run, file);
    if (error.status != PL_OK)
        replay_note(run, step, &error);
}

static int replay_file_compare(const struct replay_file *a, const struct replay_file *b)
{
    const int order = strcmp(a->path, b->path);
    return order ? order : (a->file > b->file) - (a->file < b->file);
}

struct replay_file *replay_file_next(const struct replay_run *run, const struct replay_file *after)
{
    struct replay_file *next = NULL;
    for (int i = 0; i < run->file_count; i++) {
        struct replay_file *file = &run->files[i];
        if (file->is_open && (!after || replay_file_compare(file, after) > 0) &&
            (!next || replay_file_compare(file, next) < 0))
            next = file;
    }
    return next;
}

void replay_file_close_all_coll(struct replay_run *run)
{
    for (struct replay_file *file; (file = replay_file_next(run, NULL));)
        replay_file_close_coll(run, NULL, file);
    while (run->file_count > 0)
        replay_file_forget(run, &run->files[0]);
}

void replay_file_delete(struct replay_run *run, const struct model_step *step, int64_t n)
{
    char path[REPLAY_PATH_MAX];
    struct text detail = {0};
    struct pl_error error = {.status = PL_OK};
    char *name = NULL;
    if (model_render(step->detail, run->rank, n, &detail, &error) == PL_OK &&
        (name = trace_detail_text(text_get(&detail), "name")) && replay_place_name(run, name, path, &error) == PL_OK &&
        !replay_has_failed(run)) {
        const int64_t begin = replay_now_ns();
        const int code = MPI_File_delete(path, MPI_INFO_NULL);
        replay_walk_time(run, step, begin, replay_now_ns());
        if (code != MPI_SUCCESS && access(path, F_OK) == 0) /* one that the program made without MPI is not there */
            coll_fail_mpi(&error, code, "deleting '%s'", path);
    }
    free(name);
    text_clear(&detail);
    if (error.status != PL_OK)
        replay_note(run, step, &error);
}

/* ---- view, info ---- */

static pl_status replay_file_make_types(const char *detail, struct replay_type *etype, struct replay_type *filetype,
                                        struct pl_error *error)
{
    char *texts[] = {trace_detail_text(detail, "etype"), trace_detail_text(detail, "filetype")};
    pl_status status = texts[0] && texts[1] ? PL_OK : pl_fail(error, PL_E_FORMAT, "etype= or filetype= is missing");
    if (status == PL_OK)
        status = replay_type_make(texts[0], etype, error);
    if (status == PL_OK)
        status = replay_type_make(texts[1], filetype, error);
    free(texts[0]);
    free(texts[1]);
    return status;
}

/* A rank that cannot make its types has a view of bytes: the others count on its call. */
void replay_file_view_coll(struct replay_run *run, const struct model_step *step, int64_t n, struct replay_file *file)
{
    struct replay_type etype = {MPI_BYTE, false}, filetype = {MPI_BYTE, false};
    struct text detail = {0};
    struct pl_error error = {.status = PL_OK};
    MPI_Info info = MPI_INFO_NULL;
    MPI_Count etype_bytes = 1, view_bytes = 1;
    if (model_render(step->detail, run->rank, n, &detail, &error) != PL_OK ||
        replay_file_make_types(text_get(&detail), &etype, &filetype, &error) != PL_OK ||
        replay_file_make_info(run, text_get(&detail), &info, &error) != PL_OK) {
        replay_type_clear(&etype);
        replay_type_clear(&filetype);
        etype.type = filetype.type = MPI_BYTE;
    }
    char *datarep = trace_detail_text(text_get(&detail), "datarep");
    const MPI_Offset disp = file->is_sequential ? MPI_DISPLACEMENT_CURRENT /* no other is allowed */
                                                : trace_detail_number(text_get(&detail), "disp", 0);
    const int64_t begin = replay_now_ns();
    const int code = MPI_File_set_view(file->handle, disp, etype.type, filetype.type, datarep ? datarep : "native",
                                       info);
    replay_walk_time(run, step, begin, replay_now_ns());
    if (code != MPI_SUCCESS)
        coll_fail_mpi(&error, code, "set_view of '%s'", file->path);
    MPI_Type_size_x(etype.type, &etype_bytes);
    MPI_Type_size_x(filetype.type, &view_bytes);
    replay_type_clear(&file->etype);
    replay_type_clear(&file->filetype);
    file->etype = etype;
    file->filetype = filetype;
    file->etype_bytes = etype_bytes > 0 ? etype_bytes : 1;
    file->view_bytes = view_bytes;
    file->position = 0;
    free(datarep);
    text_clear(&detail);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (error.status != PL_OK)
        replay_note(run, step, &error);
}

void replay_file_info_coll(struct replay_run *run, const struct model_step *step, int64_t n, struct replay_file *file)
{
    struct text detail = {0};
    struct pl_error error = {.status = PL_OK};
    MPI_Info info = MPI_INFO_NULL;
    if (step->detail)
        model_render(step->detail, run->rank, n, &detail, &error);
    replay_file_make_info(run, text_get(&detail), &info, &error);
    const int64_t begin = replay_now_ns();
    const int code = MPI_File_set_info(file->handle, info);
    replay_walk_time(run, step, begin, replay_now_ns());
    if (code != MPI_SUCCESS)
        coll_fail_mpi(&error, code, "set_info of '%s'", file->path);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    text_clear(&detail);
    if (error.status != PL_OK)
        replay_note(run, step, &error);
}

/* ---- checks before the first open ---- */

/* Models by hand may open files with ranks that never come, or make ranks part ways: they would wait for each other. */

static bool replay_check_opens_file(const struct model_step *steps, int count, int file, int rank)
{
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == MODEL_LOOP && replay_check_opens_file(steps[i].body, steps[i].count, file, rank))
            return true;
        if (steps[i].kind == MODEL_CALL && steps[i].name && steps[i].file == file &&
            model_ranks_has(&steps[i].ranks, rank))
            return true;
    }
    return false;
}

static pl_status replay_check_members_of(const struct replay_run *run, const struct model_step *step,
                                         const struct replay_open *open, struct pl_error *error)
{
    for (int i = 0; i < open->ranks; i++)
        if (!replay_check_opens_file(run->model->steps, run->model->step_count, step->file,
                                     replay_open_member(open, i)))
            return pl_fail(error, PL_E_FORMAT, "step %d: rank %d opens file %d together with rank %d, which never does",
                           step->leaf + 1, run->rank, step->file + 1, replay_open_member(open, i));
    return PL_OK;
}

static pl_status replay_check_parse_open(const struct replay_run *run, const struct model_step *step,
                                         struct replay_open *open, struct pl_error *error)
{
    struct text detail = {0};
    pl_status status = model_render(step->detail, run->rank, 0, &detail, error);
    if (status == PL_OK)
        status = replay_open_parse(text_get(&detail), run->rank, run->ranks, open, error);
    text_clear(&detail);
    return status;
}

pl_status replay_check_members(const struct replay_run *run, const struct model_step *steps, int count,
                               struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++) {
        struct replay_open open = {0};
        if (steps[i].kind == MODEL_LOOP && steps[i].phase == 0)
            status = replay_check_members(run, steps[i].body, steps[i].count, error);
        if (steps[i].kind != MODEL_CALL || !steps[i].name || !model_ranks_has(&steps[i].ranks, run->rank))
            continue;
        status = replay_check_parse_open(run, &steps[i], &open, error);
        if (status == PL_OK)
            status = replay_check_members_of(run, &steps[i], &open, error);
        replay_open_clear(&open);
    }
    return status;
}

/* Whether the ranks that open a file together will make the same collective calls on it. */
static void replay_check_each_coll(struct replay_run *run, const struct model_step *step, struct pl_error *error)
{
    struct replay_open open = {0};
    MPI_Comm comm;
    int64_t most[2];
    if (replay_check_parse_open(run, step, &open, error) == PL_OK &&
        replay_file_comm_coll(run, &open, &comm, error) == PL_OK) {
        const int64_t order = (int64_t)(replay_plan_order(run->model, run->rank, step->file, &open) >> 1);
        const int64_t mine[2] = {order, -order};
        MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm);
        if (most[0] != -most[1] && error->status == PL_OK)
            pl_fail(error, PL_E_FORMAT,
                    "step %d: the ranks that open '%s' make different collective calls on it: they would wait for each "
                    "other for ever%s",
                    step->leaf + 1, step->name,
                    run->model->failed_calls > 0 ? " (calls that failed in the program are not in the model)" : "");
    }
    replay_open_clear(&open);
}

void replay_check_calls_coll(struct replay_run *run, const struct model_step *steps, int count, struct pl_error *error)
{
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == MODEL_LOOP && steps[i].phase == 0)
            replay_check_calls_coll(run, steps[i].body, steps[i].count, error);
        if (steps[i].kind == MODEL_CALL && steps[i].name && model_ranks_has(&steps[i].ranks, run->rank))
            replay_check_each_coll(run, &steps[i], error);
    }
}
