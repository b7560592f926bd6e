#include "mpi/guard.h"
#include "mpi/real.h"
#include "tracer/tracer.h"

static _Thread_local bool finalizing;

void tracer_scope_finalizing(void)
{
    finalizing = true;
}

static void prepare(struct tracer_scope *scope, struct tracer_site *site, MPI_File file)
{
    tracer_real();
    scope->fields = (struct text){0};
    scope->constant = NULL;
    scope->flush = scope->has_value = false;
    scope->logged = guard_enter() && tracer_log_is_on();
    if (!scope->logged)
        return;
    scope->site = site;
    scope->call.offset = scope->call.byte = scope->call.count = -1;
    scope->call.type_bytes = scope->call.asked = scope->call.done = -1;
    scope->file = tracer_file_find(file);
    scope->call.file = scope->file ? scope->file->id : 0;
    scope->logged = !finalizing || scope->file;
}

void tracer_enter(struct tracer_scope *scope, struct tracer_site *site, MPI_File file)
{
    prepare(scope, site, file);
    if (scope->logged)
        scope->call.begin_ns = tracer_log_now_ns();
}

/* Where the individual pointer stands, or -1. Asked only where it is not known by itself: ROMIO answers with a negative
 * number where the filetype has a lower bound, and looks forever for a place in a view without bytes. */
static MPI_Offset pointer_of(struct tracer_file *file)
{
    MPI_Offset position = atomic_load_explicit(&file->position, memory_order_relaxed);
    if (position >= 0 || file->empty_view)
        return position;
    if (tracer_real()->File_get_position(file->handle, &position) != MPI_SUCCESS || position < 0)
        return -1;
    atomic_store_explicit(&file->position, position, memory_order_relaxed);
    return position;
}

/* Where the access begins. Nothing is asked of a handle that we did not see opened, nor where the answer is an error:
 * the program's error handler would be called for it. */
static void find_place(struct tracer_scope *scope, MPI_Offset offset)
{
    struct tracer_file *file = scope->file;
    const bool has_pointer = file && !file->sequential;
    MPI_Offset byte;
    if (scope->site->place == TRACER_SHARED)
        return;
    if (scope->site->place == TRACER_INDIVIDUAL)
        offset = has_pointer ? pointer_of(file) : -1;
    scope->call.offset = offset;
    if (tracer_log_is_full() && offset >= 0 && has_pointer && !file->empty_view &&
        tracer_real()->File_get_byte_offset(file->handle, offset, &byte) == MPI_SUCCESS)
        scope->call.byte = byte;
}

void tracer_enter_access(struct tracer_scope *scope, struct tracer_site *site, MPI_File file, MPI_Offset offset,
                         MPI_Count count)
{
    prepare(scope, site, file);
    if (!scope->logged)
        return;
    scope->call.count = count;
    find_place(scope, offset);
    scope->call.begin_ns = tracer_log_now_ns();
}

/* Bytes are asked for by full traces, and to see whether a read moved the individual pointer as far as it meant to. */
MPI_Status *tracer_status(struct tracer_scope *scope, MPI_Status *status)
{
    return scope->logged && status == MPI_STATUS_IGNORE ? &scope->status : status;
}

bool tracer_done(struct tracer_scope *scope)
{
    if (scope->logged)
        scope->call.end_ns = tracer_log_now_ns();
    return scope->logged;
}

int tracer_leave(struct tracer_scope *scope)
{
    if (scope->logged) {
        int class;
        if (scope->call.code != MPI_SUCCESS && real.Error_class(scope->call.code, &class) == MPI_SUCCESS)
            tracer_note_int(scope, "error_class", class);
        tracer_log_call(scope->site, &scope->call, scope->fields.data, scope->constant);
        if (scope->flush)
            tracer_log_flush();
        if (scope->fields.data)
            text_clear(&scope->fields);
    }
    guard_leave();
    return scope->call.code;
}

int64_t tracer_enter_comm(void)
{
    tracer_real();
    return guard_enter() && tracer_log_is_on() && !finalizing ? tracer_log_now_ns() : -1;
}

void tracer_leave_comm(int64_t begin_ns, bool is_of_world)
{
    if (begin_ns >= 0)
        tracer_log_comm(begin_ns, is_of_world);
    guard_leave();
}
