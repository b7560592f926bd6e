/* What the line of a call tells about its arguments and results. */
#include "mpi/real.h"
#include "tracer/tracer.h"

#include <stdio.h>

/* The real function has looked at the datatype and found no fault with it. */
static bool type_was_taken(int code)
{
    int class;
    if (code == MPI_SUCCESS)
        return true;
    if (real.Error_class(code, &class) != MPI_SUCCESS)
        return false;
    return class == MPI_ERR_IO || class == MPI_ERR_NO_SPACE || class == MPI_ERR_QUOTA || class == MPI_ERR_READ_ONLY ||
           class == MPI_ERR_ACCESS;
}

static int64_t type_bytes(MPI_Datatype type)
{
    MPI_Count bytes;
    return real.Type_size_x(type, &bytes) == MPI_SUCCESS && bytes >= 0 ? bytes : -1;
}

void tracer_note_access(struct tracer_scope *scope, MPI_Datatype type)
{
    struct trace_call *call = &scope->call;
    if (!type_was_taken(call->code) || type == MPI_DATATYPE_NULL)
        return;
    call->type_bytes = type_bytes(type);
    if (call->type_bytes >= 0 && __builtin_mul_overflow(call->count, call->type_bytes, &call->asked))
        call->asked = -1;
}

void tracer_note_status(struct tracer_scope *scope, const MPI_Status *status)
{
    MPI_Count bytes;
    if (scope->call.code == MPI_SUCCESS && tracer_real()->Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS &&
        bytes >= 0)
        scope->call.done = bytes;
}

void tracer_note_int(struct tracer_scope *scope, const char *key, int64_t value)
{
    trace_add_field_int(&scope->fields, key, value);
}

void tracer_note_text(struct tracer_scope *scope, const char *key, const char *value)
{
    if (value)
        trace_add_field_text(&scope->fields, key, value);
}

void tracer_note_hints(struct tracer_scope *scope, MPI_Info info)
{
    int count = 0;
    if (scope->call.code != MPI_SUCCESS || info == MPI_INFO_NULL || real.Info_get_nkeys(info, &count) != MPI_SUCCESS)
        return;
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1], name[MPI_MAX_INFO_KEY + 8], value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        if (real.Info_get_nthkey(info, i, key) == MPI_SUCCESS &&
            real.Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) == MPI_SUCCESS && found) {
            snprintf(name, sizeof name, "hint.%s", key);
            tracer_note_text(scope, name, value);
        }
    }
}

void tracer_note_open(struct tracer_scope *scope, MPI_Comm comm, const char *name, int amode, MPI_Info info,
                      MPI_File file)
{
    tracer_note_text(scope, "name", name);
    tracer_note_int(scope, "amode", amode);
    if (scope->call.code != MPI_SUCCESS)
        return;
    int ranks;
    if (real.Comm_size(comm, &ranks) == MPI_SUCCESS)
        tracer_note_int(scope, "ranks", ranks);
    tracer_note_hints(scope, info);
    scope->call.file = tracer_file_add(file, amode & MPI_MODE_SEQUENTIAL);
}

/* In a view of empty types there are no places, and ROMIO looks for them forever. */
void tracer_note_view(struct tracer_scope *scope, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info)
{
    tracer_note_int(scope, "disp", disp);
    if (scope->call.code == MPI_SUCCESS) {
        MPI_Count bound, extent;
        const int64_t etype_bytes = type_bytes(etype), filetype_bytes = type_bytes(filetype);
        tracer_note_int(scope, "etype_bytes", etype_bytes);
        tracer_note_int(scope, "filetype_bytes", filetype_bytes);
        if (real.Type_get_extent_x(filetype, &bound, &extent) == MPI_SUCCESS)
            tracer_note_int(scope, "filetype_extent", extent);
        tracer_file_set_view(scope->file.id, etype_bytes <= 0 || filetype_bytes <= 0);
    }
    tracer_note_text(scope, "datarep", datarep);
    tracer_note_hints(scope, info);
}

void tracer_note_close(struct tracer_scope *scope)
{
    scope->flush = true;
    if (scope->call.code == MPI_SUCCESS)
        tracer_file_remove(scope->file.id);
}
