/* What the line of a call tells about its arguments and results. */
#include "mpi/real.h"
#include "tracer/tracer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The real function has looked at the datatype and found no fault with it. */
static bool note_type_was_taken(int code)
{
    int class;
    if (code == MPI_SUCCESS)
        return true;
    if (real.Error_class(code, &class) != MPI_SUCCESS)
        return false;
    return class == MPI_ERR_IO || class == MPI_ERR_NO_SPACE || class == MPI_ERR_QUOTA || class == MPI_ERR_READ_ONLY ||
           class == MPI_ERR_ACCESS;
}

static int64_t note_type_bytes(MPI_Datatype type)
{
    MPI_Count bytes;
    return real.Type_size_x(type, &bytes) == MPI_SUCCESS && bytes >= 0 ? bytes : -1;
}

/* The individual pointer goes behind what was asked for, at once also where the access takes its time. How far it went
 * with less than that, or with an error, is asked for at the next access. */
static void note_move_pointer(struct tracer_scope *scope)
{
    struct tracer_file *file = scope->file;
    if (!file || scope->site->place != TRACER_INDIVIDUAL)
        return;
    const bool is_sure = scope->call.code == MPI_SUCCESS && scope->call.asked >= 0 && file->etype_bytes > 0 &&
                         scope->call.offset >= 0 && (!scope->site->reads || scope->site->blocks);
    const int64_t position = is_sure ? scope->call.offset + scope->call.asked / file->etype_bytes : -1;
    atomic_store_explicit(&file->position, position, memory_order_relaxed);
}

void tracer_note_access(struct tracer_scope *scope, const void *buffer, MPI_Datatype type)
{
    struct trace_call *call = &scope->call;
    const char *field = NULL;
    if (note_type_was_taken(call->code) && type != MPI_DATATYPE_NULL) {
        call->type_bytes = tracer_memory_look(buffer, type, call->count, &field);
        if (call->type_bytes >= 0 && __builtin_mul_overflow(call->count, call->type_bytes, &call->asked))
            call->asked = -1;
    }
    if (call->code == MPI_SUCCESS && call->type_bytes > 0) {
        const int64_t bytes = call->type_bytes < 1 << 20 ? call->type_bytes : 1 << 20;
        if (atomic_load_explicit(&scope->site->element_bytes, memory_order_relaxed) != bytes)
            atomic_store_explicit(&scope->site->element_bytes, bytes, memory_order_relaxed);
        if (atomic_load_explicit(&scope->site->element, memory_order_relaxed) != type)
            atomic_store_explicit(&scope->site->element, type, memory_order_relaxed);
    }
    if (call->code == MPI_SUCCESS && call->asked > 0) {
        const double share = tracer_fresh_share(scope);
        if (share > 0)
            call->fresh = (int64_t)(share * (double)call->asked + 0.5);
        scope->constant = field;
    }
    note_move_pointer(scope);
}

void tracer_note_status_now(struct tracer_scope *scope, const MPI_Status *status)
{
    const bool moves = scope->file && scope->site->place == TRACER_INDIVIDUAL && scope->site->reads;
    MPI_Count bytes;
    if (scope->call.code != MPI_SUCCESS || !(tracer_log_is_full() || moves) ||
        tracer_real()->Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0)
        return;
    scope->call.done = bytes;
    if (moves && bytes != scope->call.asked)
        atomic_store_explicit(&scope->file->position, -1, memory_order_relaxed);
}

void tracer_note_request(struct tracer_scope *scope, const MPI_Request *request)
{
    if (scope->call.code == MPI_SUCCESS && *request != MPI_REQUEST_NULL)
        tracer_request_add(*request, scope->site, scope->call.file);
}

void tracer_note_value(struct tracer_scope *scope, const char *key, int64_t value)
{
    if (tracer_log_is_full() || scope->has_value) {
        trace_add_field_int(&scope->fields, key, value);
        return;
    }
    scope->call.offset = value;
    scope->has_value = true;
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
                      MPI_File handle)
{
    tracer_note_text(scope, "name", name);
    tracer_note_int(scope, "amode", amode);
    if (scope->call.code == MPI_SUCCESS) {
        struct tracer_file *file = tracer_file_add(handle, amode);
        int ranks;
        if (file)
            file->name = strdup(name);
        scope->call.file = file ? file->id : 0;
        if (real.Comm_size(comm, &ranks) == MPI_SUCCESS)
            tracer_note_int(scope, "ranks", ranks);
        tracer_note_hints(scope, info);
    }
    tracer_note_members(scope, comm);
}

/* In a view of empty types there are no places, and ROMIO looks for them forever. */
void tracer_note_view(struct tracer_scope *scope, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info)
{
    struct text made[2] = {{0}, {0}};
    tracer_note_int(scope, "disp", disp);
    if (scope->call.code == MPI_SUCCESS) {
        MPI_Count bound, extent;
        const int64_t etype_bytes = note_type_bytes(etype), filetype_bytes = note_type_bytes(filetype);
        tracer_note_int(scope, "etype_bytes", etype_bytes);
        tracer_note_int(scope, "filetype_bytes", filetype_bytes);
        if (real.Type_get_extent_x(filetype, &bound, &extent) == MPI_SUCCESS)
            tracer_note_int(scope, "filetype_extent", extent);
        if (scope->file) {
            scope->file->empty_view = etype_bytes <= 0 || filetype_bytes <= 0;
            scope->file->etype_bytes = etype_bytes;
            atomic_store(&scope->file->position, 0);
        }
        tracer_type_text(etype, &made[0]);
        tracer_type_text(filetype, &made[1]);
    }
    tracer_note_text(scope, "datarep", datarep);
    tracer_note_text(scope, "etype", made[0].data);
    tracer_note_text(scope, "filetype", made[1].data);
    tracer_note_hints(scope, info);
    text_clear(&made[0]);
    text_clear(&made[1]);
}

static const char *note_whence_field(int whence)
{
    static const char set[] = " whence=\"set\"", cur[] = " whence=\"cur\"", end[] = " whence=\"end\"";
    return whence == MPI_SEEK_SET ? set : whence == MPI_SEEK_CUR ? cur : whence == MPI_SEEK_END ? end : NULL;
}

void tracer_note_seek(struct tracer_scope *scope, MPI_Offset offset, int whence)
{
    tracer_note_value(scope, "offset", offset);
    if (!tracer_log_is_full() && scope->call.code == MPI_SUCCESS)
        scope->constant = note_whence_field(whence);
    else
        text_add(&scope->fields, note_whence_field(whence) ? note_whence_field(whence) : " whence=\"?\"");
    const bool is_individual = strcmp(scope->site->function, "MPI_File_seek") == 0;
    if (!scope->file || !is_individual)
        return;
    const int64_t before = atomic_load(&scope->file->position);
    int64_t after = -1;
    if (scope->call.code == MPI_SUCCESS && whence == MPI_SEEK_SET)
        after = offset;
    else if (scope->call.code == MPI_SUCCESS && whence == MPI_SEEK_CUR && before >= 0)
        after = before + offset;
    atomic_store(&scope->file->position, after);
}

void tracer_note_close(struct tracer_scope *scope)
{
    scope->flush = true;
    if (scope->call.code == MPI_SUCCESS && scope->file) {
        tracer_log_closing(scope->file->name);
        tracer_file_remove(scope->file);
    }
}
