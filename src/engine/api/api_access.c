/* Every function that moves data: the table api_access.def says what differs. */
#include "base/container.h"
#include "engine/api/api.h"
#include "engine/pending/pending.h"
#include "engine/ship/ship.h"
#include "mpi/real.h"
#include "mpi/wait.h"

static int api_access_finish(struct api *api, const struct api_call *call, const struct api_arguments *arguments,
                             const struct access_request *request, int64_t file_done, MPI_Status *status)
{
    const int64_t done = api_deliver(api, arguments, request, file_done);
    api_set_status(status, done);
    const int code = api_end(api);
    api_log(api, call, arguments, request, done, code);
    return code;
}

static int access_alone(struct api *api, const struct api_call *call, const struct api_arguments *arguments,
                        MPI_Status *status)
{
    struct access_request request;
    int64_t done = 0;
    if (api_request(api, call, arguments, &request) == PL_OK) {
        const struct access_options options = file_options(api->file, api->file->comm);
        file_settle(api->file, api->file->comm);
        ship_access(api->file, &request, &options, &done, &api->error);
    }
    const int code = api_access_finish(api, call, arguments, &request, done, status);
    access_request_clear(&request);
    return code;
}

static int access_together(struct api *api, const struct api_call *call, const struct api_arguments *arguments,
                           MPI_Status *status)
{
    struct file *file = api->file;
    struct move move = {.file = file,
                        .function = call->function,
                        .strategy = call->write ? file->writing : file->reading,
                        .ordered = call->positioning == ORDERED};
    pending_drain(file);
    api_request(api, call, arguments, &move.request);
    move.error = api->error;
    move_run_coll(&move);
    api->error = move.error;
    const int code = api_access_finish(api, call, arguments, &move.request, move.done, status);
    move_clear(&move);
    return code;
}

static int access_blocking(const struct api_call *call, MPI_File fh, const struct api_arguments *arguments,
                           MPI_Status *status)
{
    struct api api;
    if (!api_begin(&api, call->function, fh)) {
        if (call->together)
            api_without_file(&api, true);
        return api_end(&api);
    }
    api.moves_data = true;
    return call->together ? access_together(&api, call, arguments, status)
                          : access_alone(&api, call, arguments, status);
}

/* ---- the functions ---- */

/* The MPI's own file, or ours. */
#define BODY(name, direction, where, ranks, system_call)                                                               \
    {                                                                                                                  \
        static const struct api_call call = {"MPI_File_" #name, direction, where, ranks};                              \
        struct file *file = handle_find(fh);                                                                           \
        if (file && file->is_system)                                                                                   \
            return api_end_system(file, api_system.system_call);                                                       \
        return access_blocking(&call, fh, &(struct api_arguments){OFFSET, (void *)buffer, count, type}, status);       \
    }

#define AT_FUNCTION(name, count_type, direction, ranks)                                                                \
    int MPI_File_##name(MPI_File fh, MPI_Offset offset, API_BUFFER_##direction buffer, count_type count,               \
                        MPI_Datatype type, MPI_Status *status)                                                         \
        BODY(name, direction, EXPLICIT, ranks, File_##name(file->system, offset, buffer, count, type, status))         \
            API_ALIAS(File_##name);

#define PLAIN_FUNCTION(name, count_type, direction, where, ranks)                                                      \
    int MPI_File_##name(MPI_File fh, API_BUFFER_##direction buffer, count_type count, MPI_Datatype type,               \
                        MPI_Status *status)                                                                            \
        BODY(name, direction, where, ranks, File_##name(file->system, buffer, count, type, status))                    \
            API_ALIAS(File_##name);

#define IAT(name, direction, ranks)
#define IPLAIN(name, direction, where, ranks)
#define BEGIN_AT(name, direction)
#define BEGIN_PLAIN(name, direction, where)

#define OFFSET                     offset
#define AT(name, direction, ranks) AT_FUNCTION(name, int, direction, ranks)
#define PLAIN(name, direction, where, ranks)
#include "engine/api/api_access.def"
#undef AT
#undef PLAIN
#if !PIOLET_IS_OPENMPI
#define AT(name, direction, ranks) AT_FUNCTION(name##_c, MPI_Count, direction, ranks)
#define PLAIN(name, direction, where, ranks)
#include "engine/api/api_access.def"
#undef AT
#undef PLAIN
#endif
#undef OFFSET

#define OFFSET 0
#define AT(name, direction, ranks)
#define PLAIN(name, direction, where, ranks) PLAIN_FUNCTION(name, int, direction, where, ranks)
#include "engine/api/api_access.def"
#undef AT
#undef PLAIN
#if !PIOLET_IS_OPENMPI
#define AT(name, direction, ranks)
#define PLAIN(name, direction, where, ranks) PLAIN_FUNCTION(name##_c, MPI_Count, direction, where, ranks)
#include "engine/api/api_access.def"
#undef AT
#undef PLAIN
#endif
#undef OFFSET
#undef IAT
#undef IPLAIN
#undef BEGIN_AT
#undef BEGIN_PLAIN

/* ---- Non-blocking and split functions ---------------------------------------------------------------------------- */

/* Every non-blocking and split function that moves data: the table api_access.def says what differs. */

static bool begin_operation(struct api *api, const struct api_call *call, MPI_File fh)
{
    if (api_begin(api, call->function, fh))
        return true;
    if (call->together)
        api_without_file(api, true);
    return false;
}

static int api_nonblocking_start(const struct api_call *call, MPI_File fh, const struct api_arguments *arguments,
                                 MPI_Request *request)
{
    struct api api;
    if (!begin_operation(&api, call, fh))
        return api_end(&api);
    if (api_wants_pointer(&api, request, "the place for the request") == PL_OK)
        *request = MPI_REQUEST_NULL;
    else if (!call->together)
        return api_end(&api);
    api.moves_data = call->together; /* a collective one goes on, and is logged at its end */
    const struct api_operation *operation = api_operation_start(&api, call, arguments, true);
    if (operation)
        *request = operation->request;
    return api_end(&api);
}

/* ---- split collectives ---- */

static int api_split_begin(const struct api_call *call, MPI_File fh, const struct api_arguments *arguments)
{
    struct api api;
    if (!begin_operation(&api, call, fh))
        return api_end(&api);
    api.moves_data = true;
    if (!api.file->split) {
        struct api_operation *operation = api_operation_start(&api, call, arguments, false);
        api.file->split = operation ? &operation->pending : NULL;
        return api_end(&api);
    }
    pl_fail(&api.error, PL_E_IO, "another split collective operation is active on this file");
    if (api.file->develop) /* the others may have none, and wait for this rank */
        api_operation_start(&api, call, arguments, false);
    else
        api.moves_data = false;
    return api_end(&api);
}

/* The call that an _end belongs to has the same name but for its ending. */
static bool api_split_belongs(const struct api_call *begun, const struct api_call *ends)
{
    return begun->write == ends->write && begun->positioning == ends->positioning;
}

static int api_split_end(const struct api_call *call, MPI_File fh, MPI_Status *status)
{
    struct api api;
    if (!api_begin(&api, call->function, fh))
        return api_end(&api);
    struct pending *split = api.file->split;
    struct api_operation *operation = split ? container_of(split, struct api_operation, pending) : NULL;
    if (!operation || !api_split_belongs(operation->call, call)) {
        pl_fail(&api.error, PL_E_IO, "no split collective operation of this kind is active on this file");
        return api_end(&api);
    }
    struct wait_pace pace = {0};
    while (!atomic_load(&operation->finished))
        if (!pending_step())
            wait_turn(&pace);
    api.file->split = NULL;
    api_set_status(status, operation->done);
    const int code = operation->code == MPI_SUCCESS ? MPI_SUCCESS
                                                    : api_raise(api.file, operation->code, operation->api.error.text);
    api_operation_unref(operation);
    return code;
}

/* ---- the functions ---- */

#define AT(name, direction, ranks)
#define PLAIN(name, direction, where, ranks)

#define OPERATION_BODY(name, direction, where, ranks, offset, function, system_call, ...)                              \
    {                                                                                                                  \
        static const struct api_call call = {"MPI_File_" #name, direction, where, ranks};                              \
        struct file *file = handle_find(fh);                                                                           \
        if (file && file->is_system)                                                                                   \
            return api_end_system(file, api_system.system_call);                                                       \
        return function(&call, fh, __VA_ARGS__);                                                                       \
    }
#define ARGUMENTS(offset)                                                                                              \
    &(struct api_arguments)                                                                                            \
    {                                                                                                                  \
        offset, (void *)buffer, count, type                                                                            \
    }
#define IAT_FUNCTION(name, count_type, direction, ranks)                                                               \
    int MPI_File_##name(MPI_File fh, MPI_Offset offset, API_BUFFER_##direction buffer, count_type count,               \
                        MPI_Datatype type, MPI_Request *request)                                                       \
        OPERATION_BODY(name, direction, EXPLICIT, ranks, offset, api_nonblocking_start,                                \
                       File_##name(file->system, offset, buffer, count, type, request), ARGUMENTS(offset), request)    \
            API_ALIAS(File_##name);
#define IPLAIN_FUNCTION(name, count_type, direction, where, ranks)                                                     \
    int MPI_File_##name(MPI_File fh, API_BUFFER_##direction buffer, count_type count, MPI_Datatype type,               \
                        MPI_Request *request) OPERATION_BODY(name, direction, where, ranks, 0, api_nonblocking_start,  \
                                                             File_##name(file->system, buffer, count, type, request),  \
                                                             ARGUMENTS(0), request) API_ALIAS(File_##name);
#define BEGIN_AT_FUNCTION(name, count_type, direction)                                                                 \
    int MPI_File_##name(MPI_File fh, MPI_Offset offset, API_BUFFER_##direction buffer, count_type count,               \
                        MPI_Datatype type)                                                                             \
        OPERATION_BODY(name, direction, EXPLICIT, TOGETHER, offset, api_split_begin,                                   \
                       File_##name(file->system, offset, buffer, count, type), ARGUMENTS(offset))                      \
            API_ALIAS(File_##name);
#define BEGIN_PLAIN_FUNCTION(name, count_type, direction, where)                                                       \
    int MPI_File_##name(MPI_File fh, API_BUFFER_##direction buffer, count_type count, MPI_Datatype type)               \
        OPERATION_BODY(name, direction, where, TOGETHER, 0, api_split_begin,                                           \
                       File_##name(file->system, buffer, count, type), ARGUMENTS(0)) API_ALIAS(File_##name);
#define END_FUNCTION(name, direction, where)                                                                           \
    int MPI_File_##name(MPI_File fh, API_BUFFER_##direction buffer, MPI_Status *status)                                \
        OPERATION_BODY(name, direction, where, TOGETHER, 0, api_split_end, File_##name(file->system, buffer, status),  \
                       status) API_ALIAS(File_##name);

#define IAT(name, direction, ranks)           IAT_FUNCTION(name, int, direction, ranks)
#define IPLAIN(name, direction, where, ranks) IPLAIN_FUNCTION(name, int, direction, where, ranks)
#define BEGIN_AT(name, direction)                                                                                      \
    BEGIN_AT_FUNCTION(name##_begin, int, direction) END_FUNCTION(name##_end, direction, EXPLICIT)
#define BEGIN_PLAIN(name, direction, where)                                                                            \
    BEGIN_PLAIN_FUNCTION(name##_begin, int, direction, where) END_FUNCTION(name##_end, direction, where)
#include "engine/api/api_access.def"
#undef IAT
#undef IPLAIN
#undef BEGIN_AT
#undef BEGIN_PLAIN

#if !PIOLET_IS_OPENMPI
#define IAT(name, direction, ranks)           IAT_FUNCTION(name##_c, MPI_Count, direction, ranks)
#define IPLAIN(name, direction, where, ranks) IPLAIN_FUNCTION(name##_c, MPI_Count, direction, where, ranks)
#define BEGIN_AT(name, direction)             BEGIN_AT_FUNCTION(name##_begin_c, MPI_Count, direction)
#define BEGIN_PLAIN(name, direction, where)   BEGIN_PLAIN_FUNCTION(name##_begin_c, MPI_Count, direction, where)
#include "engine/api/api_access.def"
#endif
