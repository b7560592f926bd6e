/* One execution of a call of the model: found, prepared outside of the timing, made, and judged. */
#include "replay/replay_run.h"

#include "mpi/coll.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ---- */

static int take_buffer(struct replay_run *run)
{
    for (int i = 0; i < run->buffer_count; i++)
        if (!run->is_taken[i]) {
            run->is_taken[i] = true;
            return i;
        }
    return 0; /* there are as many as accesses under way: replay_extents_find() has counted them */
}

/* What is moved: count times type. */
struct piece {
    int count;
    MPI_Datatype type;
    bool owned;
    int64_t lowest; /* where the first byte is, seen from the buffer that is passed */
};

/* Bytes beyond 2^31 need a type of their own. */
static bool make_large(int64_t size, struct piece *ret_piece)
{
    enum { BLOCK = 1 << 30 };
    MPI_Datatype block, parts[2] = {MPI_DATATYPE_NULL, MPI_BYTE};
    const int lengths[] = {(int)(size / BLOCK), (int)(size % BLOCK)};
    const MPI_Aint places[] = {0, (MPI_Aint)(size - size % BLOCK)};
    if (MPI_Type_contiguous(BLOCK, MPI_BYTE, &block) != MPI_SUCCESS)
        return false;
    parts[0] = block;
    *ret_piece = (struct piece){.count = 1, .owned = true};
    const bool ok = MPI_Type_create_struct(2, lengths, places, parts, &ret_piece->type) == MPI_SUCCESS &&
                    MPI_Type_commit(&ret_piece->type) == MPI_SUCCESS;
    MPI_Type_free(&block);
    return ok;
}

/* In etypes, as programs do it, where the etype has no holes of its own. */
static pl_status make_contiguous(const struct replay_file *file, int64_t size, struct piece *ret_piece,
                                 struct pl_error *error)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(file->etype.type, &lower, &extent);
    const int64_t bytes = file->etype_bytes;
    if (bytes > 1 && lower == 0 && extent == bytes && size % bytes == 0 && size / bytes <= INT_MAX)
        *ret_piece = (struct piece){.count = (int)(size / bytes), .type = file->etype.type};
    else if (size <= INT_MAX)
        *ret_piece = (struct piece){.count = (int)size, .type = MPI_BYTE};
    else if (!make_large(size, ret_piece))
        return pl_fail(error, PL_E_MPI, "a type of %" PRId64 " bytes cannot be made", size);
    return PL_OK;
}

/* ---- accesses ---- */

struct access {
    const struct model_step *step;
    const struct replay_operation *operation;
    struct model_operation is;
    struct replay_file *file;
    int64_t size, offset, memory;
    bool collective;
};

static pl_status make_piece(const struct replay_run *run, const struct access *access, struct piece *ret_piece,
                            struct pl_error *error)
{
    const struct replay_layout *layout = access->memory > 0 && run->is_scattered
                                             ? &run->extents.layouts[access->memory - 1]
                                             : NULL;
    struct replay_reach reach;
    if (!layout || layout->type.type == MPI_DATATYPE_NULL)
        return make_contiguous(access->file, access->size, ret_piece, error);
    pl_status status = replay_layout_reach(layout, access->size, &reach, error);
    if (status == PL_OK && reach.span > run->buffer_bytes)
        status = pl_fail(error, PL_E_FORMAT, "it reaches over %" PRId64 " bytes: buffers were made for %" PRId64,
                         reach.span, run->buffer_bytes);
    if (status == PL_OK)
        *ret_piece = (struct piece){.count = (int)reach.count, .type = layout->type.type, .lowest = reach.lowest};
    return status;
}

static pl_status add_pending(struct replay_file *file, MPI_Request request, int buffer, struct pl_error *error)
{
    if (file->pending_count == file->pending_room) {
        const int room = 2 * file->pending_room + 8;
        struct replay_pending *pending = realloc(file->pending, (size_t)room * sizeof *pending);
        if (!pending)
            return pl_fail(error, PL_E_NOMEM, "not enough memory for a request");
        file->pending = pending;
        file->pending_room = room;
    }
    file->pending[file->pending_count++] = (struct replay_pending){.request = request, .buffer = buffer};
    return PL_OK;
}

/* The individual pointer is brought to where the program had it. */
static void place_pointer(const struct access *access)
{
    struct replay_file *file = access->file;
    if (access->is.pointer != MODEL_INDIVIDUAL || access->offset < 0)
        return;
    if (file->position != access->offset)
        MPI_File_seek(file->handle, access->offset, MPI_SEEK_SET);
    /* A read may end before what was asked for: then nobody knows where the pointer is. */
    file->position = access->is.reads ? -1 : access->offset + access->size / file->etype_bytes;
}

/* A write that is short without an error. */
static pl_status judge(const struct access *access, int code, const MPI_Status *status, struct pl_error *error)
{
    MPI_Count done = 0;
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s of %" PRId64 " bytes at offset %" PRId64 " of '%s'",
                             access->operation->name, access->size, access->offset, access->file->path);
    if (access->operation->kind != REPLAY_ACCESS || !access->is.writes)
        return PL_OK;
    MPI_Get_elements_x(status, MPI_BYTE, &done);
    if (done >= 0 && (int64_t)done < access->size)
        return pl_fail(error, PL_E_IO, "%s at offset %" PRId64 " of '%s': only %lld of %" PRId64 " bytes were written",
                       access->operation->name, access->offset, access->file->path, (long long)done, access->size);
    return PL_OK;
}

/* Requests and split accesses keep their buffer until they are over. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the split access keeps it */
static pl_status keep(struct replay_run *run, const struct access *access, int buffer, char *data, MPI_Request request,
                      int code, struct pl_error *error)
{
    pl_status status = PL_OK;
    if (access->operation->kind == REPLAY_START && code == MPI_SUCCESS)
        status = add_pending(access->file, request, buffer, error);
    else if (access->operation->kind == REPLAY_BEGIN && code == MPI_SUCCESS) {
        char name[64];
        const int length = (int)strlen(access->operation->name) - (int)strlen("_begin");
        snprintf(name, sizeof name, "%.*s_end", length, access->operation->name);
        access->file->split = (struct replay_pending){.buffer = buffer, .data = data};
        access->file->split_end = replay_operation_find(name);
    } else
        run->is_taken[buffer] = false;
    return status;
}

static void do_access(struct replay_run *run, const struct access *access)
{
    struct piece piece;
    struct pl_error error = {.status = PL_OK};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status = {0};
    if (make_piece(run, access, &piece, &error) != PL_OK) {
        replay_note(run, access->step, &error);
        piece = (struct piece){.count = 0, .type = MPI_BYTE};
        if (!access->collective)
            return;
    }
    const int buffer = take_buffer(run);
    char *const data = run->buffers[buffer] - piece.lowest;
    place_pointer(access);
    const MPI_Offset offset = access->offset < 0 ? 0 : access->offset;
    const int64_t begin = replay_now_ns();
    const int code = access->operation->call(access->file->handle, offset, data, piece.count, piece.type, &request,
                                             &status);
    const int64_t end = replay_now_ns();
    replay_walk_time(run, access->step, begin, end);
    run->is_stale |= access->is.writes;
    if (keep(run, access, buffer, data, request, code, &error) != PL_OK ||
        judge(access, code, &status, &error) != PL_OK)
        replay_note(run, access->step, &error);
    if (piece.owned)
        MPI_Type_free(&piece.type);
}

static void access_step(struct replay_run *run, const struct model_step *step, const struct replay_operation *operation,
                        struct replay_file *file, int64_t n)
{
    struct access access = {.step = step,
                            .operation = operation,
                            .is = model_operation_of(step->operation),
                            .file = file,
                            .offset = -1,
                            .collective = replay_operation_is_collective(operation)};
    struct pl_error error = {.status = PL_OK};
    if (!model_formula_value(step->size.formula, run->rank, n, &access.size) ||
        (step->offset.formula && !model_formula_value(step->offset.formula, run->rank, n, &access.offset)) ||
        (step->memory.formula && !model_formula_value(step->memory.formula, run->rank, n, &access.memory))) {
        pl_fail(&error, PL_E_FORMAT, "%s has no size, offset or memory for n = %" PRId64, step->operation, n);
        replay_note(run, step, &error);
    } else if (access.size < 0 || access.size > run->buffer_bytes || access.memory < 0 ||
               access.memory > run->extents.layout_count) {
        pl_fail(&error, PL_E_FORMAT, "%s of %" PRId64 " bytes: buffers were made for %" PRId64, step->operation,
                access.size, run->buffer_bytes);
        replay_note(run, step, &error);
    }
    if (replay_has_failed(run)) { /* the others count on a collective call, and on nothing else */
        if (!access.collective)
            return;
        access.size = access.memory = 0;
    }
    do_access(run, &access);
}

/* ---- ends and waits ---- */

static void end_split(struct replay_run *run, const struct model_step *step, const struct replay_operation *operation,
                      struct replay_file *file)
{
    MPI_Status status = {0};
    struct pl_error error;
    if (file->split.buffer < 0)
        return; /* its beginning was passed over */
    const int64_t begin = replay_now_ns();
    const int code = operation->call(file->handle, 0, file->split.data, 0, MPI_BYTE, NULL, &status);
    if (step)
        replay_walk_time(run, step, begin, replay_now_ns());
    run->is_taken[file->split.buffer] = false;
    file->split.buffer = -1;
    if (code != MPI_SUCCESS) {
        coll_fail_mpi(&error, code, "%s of '%s'", operation->name, file->path);
        replay_note(run, step, &error);
    }
}

/* The oldest request of a file is the one that is completed. */
static bool take_oldest(struct replay_file *file, struct replay_pending *ret_pending)
{
    if (file->pending_count == 0)
        return false; /* its access was passed over */
    *ret_pending = file->pending[0];
    file->pending_count--;
    memmove(file->pending, file->pending + 1, (size_t)file->pending_count * sizeof *file->pending);
    return true;
}

static void wait_for(struct replay_run *run, const struct model_step *step, const struct replay_pending *pending,
                     int count, replay_wait *wait)
{
    struct pl_error error;
    MPI_Request *requests = malloc((size_t)count * sizeof *requests);
    for (int i = 0; i < count && requests; i++)
        requests[i] = pending[i].request;
    const int64_t begin = replay_now_ns();
    const int code = requests ? wait(count, requests) : MPI_ERR_NO_MEM;
    if (step)
        replay_walk_time(run, step, begin, replay_now_ns());
    for (int i = 0; i < count; i++)
        run->is_taken[pending[i].buffer] = false;
    free(requests);
    if (code != MPI_SUCCESS) {
        coll_fail_mpi(&error, code, "waiting for an access");
        replay_note(run, step, &error);
    }
}

void replay_call_flush(struct replay_run *run)
{
    const int count = run->gathered_count;
    if (count == 0)
        return;
    run->gathered_count = 0;
    wait_for(run, run->gathered_step, run->gathered, count, run->plan->operations[run->gathered_step->leaf]->wait);
    run->idle_ns = replay_computed_ns();
}

/* Completions of one MPI_Waitall follow each other in a model: they are one call again, and its time is the first's. */
static void wait_step(struct replay_run *run, const struct model_step *step, const struct replay_operation *operation,
                      struct replay_file *file)
{
    struct replay_pending pending;
    if (!take_oldest(file, &pending))
        return;
    if (!operation->gathers) {
        wait_for(run, step, &pending, 1, operation->wait);
        return;
    }
    if (run->gathered_count == run->gathered_room) {
        const int room = 2 * run->gathered_room + 8;
        struct replay_pending *gathered = realloc(run->gathered, (size_t)room * sizeof *gathered);
        if (!gathered) {
            wait_for(run, step, &pending, 1, operation->wait);
            return;
        }
        run->gathered = gathered;
        run->gathered_room = room;
    }
    if (run->gathered_count == 0)
        run->gathered_step = step;
    else
        replay_walk_time(run, step, run->began_ns, run->began_ns);
    run->gathered[run->gathered_count++] = pending;
}

static int wait_each(int count, MPI_Request *requests)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        const int one = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        code = code == MPI_SUCCESS ? one : code;
    }
    return code;
}

/* What the program never waited for, or what is left when all end early. */
void replay_call_finish(struct replay_run *run, struct replay_file *file)
{
    struct replay_pending pending;
    replay_call_flush(run);
    if (file->split.buffer >= 0)
        end_split(run, NULL, file->split_end, file);
    while (take_oldest(file, &pending))
        wait_for(run, NULL, &pending, 1, wait_each);
}

/* ---- all calls ---- */

static void number_step(struct replay_run *run, const struct model_step *step, const struct replay_operation *operation,
                        struct replay_file *file, int64_t n)
{
    int64_t number = 0;
    struct pl_error error;
    int whence = MPI_SEEK_SET;
    if (step->offset.formula)
        model_formula_value(step->offset.formula, run->rank, n, &number);
    if (step->detail && strstr(step->detail, "whence"))
        whence = strstr(step->detail, "cur") ? MPI_SEEK_CUR : strstr(step->detail, "end") ? MPI_SEEK_END : MPI_SEEK_SET;
    const int64_t begin = replay_now_ns();
    const int code = operation->call(file->handle, number, NULL, whence, MPI_BYTE, NULL, NULL);
    replay_walk_time(run, step, begin, replay_now_ns());
    if (code != MPI_SUCCESS) {
        coll_fail_mpi(&error, code, "%s of '%s'", operation->name, file->path);
        replay_note(run, step, &error);
    }
}

static void file_step(struct replay_run *run, const struct model_step *step, const struct replay_operation *operation,
                      struct replay_file *file, int64_t n)
{
    switch (operation->kind) {
    case REPLAY_ACCESS:
    case REPLAY_START:
    case REPLAY_BEGIN:
        access_step(run, step, operation, file, n);
        break;
    case REPLAY_END:
        end_split(run, step, operation, file);
        break;
    case REPLAY_WAIT:
        wait_step(run, step, operation, file);
        break;
    case REPLAY_SET_VIEW:
        replay_file_view_coll(run, step, n, file);
        break;
    case REPLAY_SET_INFO:
        replay_file_info_coll(run, step, n, file);
        break;
    default:
        number_step(run, step, operation, file, n);
    }
}

void replay_call_do(struct replay_run *run, const struct model_step *step, int64_t n)
{
    const struct replay_operation *operation = run->plan->operations[step->leaf];
    int64_t instance = 0;
    struct pl_error error;
    if (step->instance.formula)
        model_formula_value(step->instance.formula, run->rank, n, &instance);
    if (operation->kind == REPLAY_DELETE) {
        replay_file_delete(run, step, n);
        return;
    }
    if (operation->kind == REPLAY_OPEN) {
        replay_file_open_coll(run, step, n, instance);
        return;
    }
    struct replay_file *file = replay_file_find(run, step->file, instance);
    if (!file) {
        pl_fail(&error, PL_E_FORMAT, "%s on a file that is not open", step->operation);
        replay_note(run, step, &error);
        return;
    }
    if (operation->kind == REPLAY_CLOSE)
        replay_file_close_coll(run, step, file);
    else if (file->is_open)
        file_step(run, step, operation, file, n);
}
