/* One execution of a call of the model: found, prepared outside of the timing, made, and judged. */
#include "bench/replay/replay_run.h"

#include "base/array.h"
#include "lab/facts/environment.h"
#include "mpi/coll.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ---- */

static int replay_call_take_buffer(struct replay_run *run)
{
    for (int i = 0; i < run->buffer_count; i++)
        if (!run->is_taken[i]) {
            run->is_taken[i] = true;
            return i;
        }
    return 0; /* there are as many as accesses under way: replay_extents_find() has counted them */
}

/* The program's first accesses to a file went to memory that it had not touched: so do those of the replay. */
static void replay_call_freshen(struct replay_run *run, int buffer, int file, bool writes, int64_t size)
{
    enum { PAGE = 4096 };
    double *left = writes ? &run->fresh_left[file].written_bytes : &run->fresh_left[file].read_bytes;
    const int64_t bytes = (double)size < *left ? size : (int64_t)*left;
    if (bytes <= 0)
        return;
    *left -= (double)bytes;
    run->fresh_owed += bytes;
    if (run->fresh_owed < PAGE) /* several small ones meet one page */
        return;
    replay_run_freshen(run, buffer, run->fresh_owed < run->buffer_bytes ? run->fresh_owed : run->buffer_bytes);
    run->fresh_owed = 0;
}

/* What is moved: count times type. */
struct piece {
    int count;
    MPI_Datatype type;
    bool owned;
    int64_t lowest; /* where the first byte is, seen from the buffer that is passed */
};

/* Bytes beyond 2^31 need a type of their own. */
static bool replay_call_make_large(int64_t size, struct piece *ret_piece)
{
    assert(size > INT_MAX);
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
static pl_status replay_call_make_contiguous(const struct replay_file *file, int64_t size, struct piece *ret_piece,
                                             struct pl_error *error)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(file->etype.type, &lower, &extent);
    const int64_t bytes = file->etype_bytes;
    if (bytes > 1 && lower == 0 && extent == bytes && size % bytes == 0 && size / bytes <= INT_MAX)
        *ret_piece = (struct piece){.count = (int)(size / bytes), .type = file->etype.type};
    else if (size <= INT_MAX)
        *ret_piece = (struct piece){.count = (int)size, .type = MPI_BYTE};
    else if (!replay_call_make_large(size, ret_piece))
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

static pl_status replay_call_make_piece(const struct replay_run *run, const struct access *access,
                                        struct piece *ret_piece, struct pl_error *error)
{
    const struct replay_layout *layout = access->memory > 0 && run->is_scattered
                                             ? &run->extents.layouts[access->memory - 1]
                                             : NULL;
    struct replay_reach reach;
    if ((!layout || layout->type.type == MPI_DATATYPE_NULL) && access->size > run->buffer_bytes)
        return pl_fail(error, PL_E_FORMAT, "%s of %" PRId64 " bytes: buffers were made for %" PRId64,
                       access->step->operation, access->size, run->buffer_bytes);
    if (!layout || layout->type.type == MPI_DATATYPE_NULL)
        return replay_call_make_contiguous(access->file, access->size, ret_piece, error);
    pl_status status = replay_layout_reach(layout, access->size, &reach, error);
    if (status == PL_OK && reach.span > run->buffer_bytes)
        status = pl_fail(error, PL_E_FORMAT, "it reaches over %" PRId64 " bytes: buffers were made for %" PRId64,
                         reach.span, run->buffer_bytes);
    if (status == PL_OK)
        *ret_piece = (struct piece){.count = (int)reach.count, .type = layout->type.type, .lowest = reach.lowest};
    return status;
}

static pl_status replay_call_add_pending(struct replay_file *file, const struct replay_pending *pending,
                                         struct pl_error *error)
{
    assert(pending->buffer >= 0);
    if (!ARRAY_ROOM(file->pending, file->pending_count, file->pending_room, 8))
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a request");
    file->pending[file->pending_count++] = *pending;
    return PL_OK;
}

/* What the shared pointer or the size of the file is made to be here depends on what each rank did alone before: the
 * program has waited for them. Where ranks go different ways its communication is not made again: they meet on the
 * file. Not timed. */
static void replay_call_settle_coll(const struct replay_run *run, const struct replay_file *file)
{
    if (!run->aligned)
        MPI_Barrier(file->comm);
}

/* The individual pointer is brought to where the program had it. */
static void replay_call_place_pointer(const struct access *access)
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
static pl_status replay_call_judge(const struct access *access, int code, const MPI_Status *status,
                                   struct pl_error *error)
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
static pl_status replay_call_keep(struct replay_run *run, const struct access *access, int buffer, char *data,
                                  MPI_Request request, int code, struct pl_error *error)
{
    pl_status status = PL_OK;
    if (access->operation->kind == REPLAY_START && code == MPI_SUCCESS) {
        const struct replay_pending pending = {
            .request = request, .buffer = buffer, .bytes = access->size, .writes = access->is.writes};
        status = replay_call_add_pending(access->file, &pending, error);
    } else if (access->operation->kind == REPLAY_BEGIN && code == MPI_SUCCESS) {
        char name[64];
        const int length = (int)strlen(access->operation->name) - (int)strlen("_begin");
        snprintf(name, sizeof name, "%.*s_end", length, access->operation->name);
        access->file->split = (struct replay_pending){.buffer = buffer, .data = data};
        access->file->split_end = replay_operation_find(name);
    } else
        run->is_taken[buffer] = false;
    return status;
}

static void replay_call_do_access(struct replay_run *run, const struct access *access)
{
    struct piece piece;
    struct pl_error error = {.status = PL_OK};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status = {0};
    if (replay_call_make_piece(run, access, &piece, &error) != PL_OK) {
        replay_note(run, access->step, &error);
        piece = (struct piece){.count = 0, .type = MPI_BYTE};
        if (!access->collective)
            return;
    }
    const int buffer = replay_call_take_buffer(run);
    char *const data = run->buffers[buffer] - piece.lowest;
    replay_call_freshen(run, buffer, access->step->file, access->is.writes, access->size);
    replay_call_place_pointer(access);
    if (access->is.pointer == MODEL_SHARED && access->collective)
        replay_call_settle_coll(run, access->file);
    const MPI_Offset offset = access->offset < 0 ? 0 : access->offset;
    const int64_t begin = replay_now_ns();
    const int code = access->operation->call(access->file->handle, offset, data, piece.count, piece.type, &request,
                                             &status);
    const int64_t end = replay_now_ns();
    replay_walk_time(run, access->step, begin, end);
    run->is_stale |= access->is.writes;
    if (replay_call_keep(run, access, buffer, data, request, code, &error) != PL_OK ||
        replay_call_judge(access, code, &status, &error) != PL_OK)
        replay_note(run, access->step, &error);
    if (piece.owned)
        MPI_Type_free(&piece.type);
}

static void replay_call_access_step(struct replay_run *run, const struct model_step *step,
                                    const struct replay_operation *operation, struct replay_file *file, int64_t n)
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
    } else if (access.size < 0 || access.memory < 0 || access.memory > run->extents.layout_count) {
        pl_fail(&error, PL_E_FORMAT, "%s of %" PRId64 " bytes with memory layout %" PRId64, step->operation,
                access.size, access.memory);
        replay_note(run, step, &error);
    }
    if (replay_has_failed(run)) { /* the others count on a collective call, and on nothing else */
        if (!access.collective)
            return;
        access.size = access.memory = 0;
    }
    replay_call_do_access(run, &access);
}

/* ---- ends and waits ---- */

static void replay_call_end_split(struct replay_run *run, const struct model_step *step,
                                  const struct replay_operation *operation, struct replay_file *file)
{
    MPI_Status status = {0};
    struct pl_error error;
    if (file->split.buffer < 0)
        return; /* its beginning was passed over */
    const int64_t begin = replay_now_ns();
    const int code = operation->call(file->handle, 0, file->split.data, 0, MPI_BYTE, NULL, &status);
    if (step)
        replay_walk_time(run, step, begin, replay_now_ns());
    assert(file->split.buffer < run->buffer_count);
    run->is_taken[file->split.buffer] = false;
    file->split.buffer = -1;
    if (code != MPI_SUCCESS) {
        coll_fail_mpi(&error, code, "%s of '%s'", operation->name, file->path);
        replay_note(run, step, &error);
    }
}

/* The oldest request of a file is the one that is completed. */
static bool replay_call_take_oldest(struct replay_file *file, struct replay_pending *ret_pending)
{
    if (file->pending_count == 0)
        return false; /* its access was passed over */
    *ret_pending = file->pending[0];
    file->pending_count--;
    memmove(file->pending, file->pending + 1, (size_t)file->pending_count * sizeof *file->pending);
    return true;
}

/* OMPIO's requests that fail end the process where they are waited for: the program's call is made where none did. */
static int replay_call_wait_ompio(const struct replay_pending *pending, int count, MPI_Request *requests,
                                  MPI_Status *statuses, replay_wait *wait)
{
    bool all = true;
    int code = MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        all = environment_moved_all(requests[i], pending[i].bytes) && all;
    if (all)
        return wait(count, requests, statuses);
    for (int i = 0; i < count; i++) {
        const int one = environment_wait_file(&requests[i], pending[i].bytes, &statuses[i]);
        code = code == MPI_SUCCESS ? one : code;
    }
    return code;
}

/* A request whose write failed may end without an error, and tell it by its count. */
static pl_status replay_call_judge_waited(const struct replay_pending *pending, int count, int code,
                                          const MPI_Status *statuses, struct pl_error *error)
{
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "waiting for an access");
    for (int i = 0; i < count; i++) {
        MPI_Count done = 0;
        MPI_Get_elements_x(&statuses[i], MPI_BYTE, &done);
        if (pending[i].writes && done >= 0 && (int64_t)done < pending[i].bytes)
            return pl_fail(error, PL_E_IO, "waiting for an access: only %lld of %" PRId64 " bytes were written",
                           (long long)done, pending[i].bytes);
    }
    return PL_OK;
}

static void replay_call_wait_for(struct replay_run *run, const struct model_step *step,
                                 const struct replay_pending *pending, int count, replay_wait *wait)
{
    assert(count > 0);
    struct pl_error error;
    MPI_Request *requests = malloc((size_t)count * sizeof *requests);
    MPI_Status *statuses = calloc((size_t)count, sizeof *statuses);
    const bool ready = requests && statuses;
    for (int i = 0; i < count && ready; i++)
        requests[i] = pending[i].request;
    const bool ompio = environment_is_ompio();
    const int64_t begin = replay_now_ns();
    const int code = !ready  ? MPI_ERR_NO_MEM
                     : ompio ? replay_call_wait_ompio(pending, count, requests, statuses, wait)
                             : wait(count, requests, statuses);
    if (step)
        replay_walk_time(run, step, begin, replay_now_ns());
    for (int i = 0; i < count; i++) {
        assert(pending[i].buffer >= 0 && pending[i].buffer < run->buffer_count);
        run->is_taken[pending[i].buffer] = false;
    }
    if (replay_call_judge_waited(pending, count, code, statuses, &error) != PL_OK)
        replay_note(run, step, &error);
    free(requests);
    free(statuses);
}

void replay_call_flush(struct replay_run *run)
{
    const int count = run->gathered_count;
    if (count == 0)
        return;
    assert(run->gathered_step); /* the first one that was gathered */
    run->gathered_count = 0;
    replay_call_wait_for(run, run->gathered_step, run->gathered, count,
                         run->plan->operations[run->gathered_step->leaf]->wait);
    run->idle_ns = replay_now_ns();
}

/* Completions of one MPI_Waitall follow each other in a model: they are one call again, and its time is the first's. */
static void replay_call_wait_step(struct replay_run *run, const struct model_step *step,
                                  const struct replay_operation *operation, struct replay_file *file)
{
    struct replay_pending pending;
    if (!replay_call_take_oldest(file, &pending))
        return;
    if (!operation->gathers) {
        replay_call_wait_for(run, step, &pending, 1, operation->wait);
        return;
    }
    if (!ARRAY_ROOM(run->gathered, run->gathered_count, run->gathered_room, 8)) {
        replay_call_wait_for(run, step, &pending, 1, operation->wait);
        return;
    }
    if (run->gathered_count == 0)
        run->gathered_step = step;
    else
        replay_walk_time(run, step, run->began_ns, run->began_ns);
    run->gathered[run->gathered_count++] = pending;
}

static int replay_call_wait_each(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        const int one = MPI_Wait(&requests[i], &statuses[i]);
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
        replay_call_end_split(run, NULL, file->split_end, file);
    while (replay_call_take_oldest(file, &pending))
        replay_call_wait_for(run, NULL, &pending, 1, replay_call_wait_each);
}

/* ---- all calls ---- */

static void replay_call_number_step(struct replay_run *run, const struct model_step *step,
                                    const struct replay_operation *operation, struct replay_file *file, int64_t n)
{
    int64_t number = 0;
    struct pl_error error;
    int whence = MPI_SEEK_SET;
    if (step->offset.formula)
        model_formula_value(step->offset.formula, run->rank, n, &number);
    if (step->detail && strstr(step->detail, "whence"))
        whence = strstr(step->detail, "cur") ? MPI_SEEK_CUR : strstr(step->detail, "end") ? MPI_SEEK_END : MPI_SEEK_SET;
    if (operation->settles)
        replay_call_settle_coll(run, file);
    const int64_t begin = replay_now_ns();
    const int code = operation->call(file->handle, number, NULL, whence, MPI_BYTE, NULL, NULL);
    replay_walk_time(run, step, begin, replay_now_ns());
    if (code != MPI_SUCCESS) {
        coll_fail_mpi(&error, code, "%s of '%s'", operation->name, file->path);
        replay_note(run, step, &error);
    }
}

static void replay_call_file_step(struct replay_run *run, const struct model_step *step,
                                  const struct replay_operation *operation, struct replay_file *file, int64_t n)
{
    switch (operation->kind) {
    case REPLAY_ACCESS:
    case REPLAY_START:
    case REPLAY_BEGIN:
        replay_call_access_step(run, step, operation, file, n);
        break;
    case REPLAY_END:
        replay_call_end_split(run, step, operation, file);
        break;
    case REPLAY_WAIT:
        replay_call_wait_step(run, step, operation, file);
        break;
    case REPLAY_SET_VIEW:
        replay_file_view_coll(run, step, n, file);
        break;
    case REPLAY_SET_INFO:
        replay_file_info_coll(run, step, n, file);
        break;
    default:
        replay_call_number_step(run, step, operation, file, n);
    }
}

void replay_call_do(struct replay_run *run, const struct model_step *step, int64_t n)
{
    assert(step->kind == MODEL_CALL && n >= 0 && run->plan->operations[step->leaf]);
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
        replay_call_file_step(run, step, operation, file, n);
}
