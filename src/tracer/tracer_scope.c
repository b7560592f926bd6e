#include "mpi/guard.h"
#include "mpi/real.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <string.h>

static _Thread_local bool finalizing;

void tracer_scope_finalizing(void)
{
    finalizing = true;
}

static void prepare(struct tracer_scope *scope, const char *function, struct trace_kind kind, MPI_File file)
{
    tracer_real();
    scope->fields = (struct text){0};
    scope->flush = false;
    scope->logged = guard_enter() && tracer_log_is_on();
    scope->call = (struct trace_call){.function = function,
                                      .kind = kind,
                                      .offset = -1,
                                      .byte = -1,
                                      .count = -1,
                                      .type_bytes = -1,
                                      .asked = -1,
                                      .done = -1};
    if (!scope->logged)
        return;
    scope->file = tracer_file_find(file);
    scope->call.file = scope->file.id;
    scope->logged = !finalizing || scope->file.id;
}

void tracer_enter(struct tracer_scope *scope, const char *function, struct trace_kind kind, MPI_File file)
{
    prepare(scope, function, kind, file);
    if (scope->logged)
        scope->call.begin_ns = tracer_log_now_ns();
}

/* Where the access begins. Nothing is asked of a handle that we did not see opened, nor where the answer is an error:
 * the program's error handler would be called for it. */
static void find_place(struct tracer_scope *scope, MPI_Offset offset)
{
    const struct tracer_real *const behind = tracer_real();
    const bool has_place = scope->file.id && !scope->file.sequential && !scope->file.empty_view;
    MPI_Offset byte;
    if (strcmp(scope->call.kind.position, "shared") == 0)
        return;
    if (strcmp(scope->call.kind.position, "individual") == 0 &&
        (!has_place || behind->File_get_position(scope->file.handle, &offset) != MPI_SUCCESS))
        return;
    scope->call.offset = offset;
    if (offset >= 0 && has_place && behind->File_get_byte_offset(scope->file.handle, offset, &byte) == MPI_SUCCESS)
        scope->call.byte = byte;
}

void tracer_enter_access(struct tracer_scope *scope, const char *function, struct trace_kind kind, MPI_File file,
                         MPI_Offset offset, MPI_Count count)
{
    prepare(scope, function, kind, file);
    if (!scope->logged)
        return;
    scope->call.count = count;
    find_place(scope, offset);
    scope->call.begin_ns = tracer_log_now_ns();
}

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
        const int kept = errno;
        int class;
        if (scope->call.code != MPI_SUCCESS && real.Error_class(scope->call.code, &class) == MPI_SUCCESS)
            tracer_note_int(scope, "error_class", class);
        tracer_log_call(&scope->call, text_get(&scope->fields));
        if (scope->flush)
            tracer_log_flush();
        text_clear(&scope->fields);
        errno = kept;
    }
    guard_leave();
    return scope->call.code;
}
