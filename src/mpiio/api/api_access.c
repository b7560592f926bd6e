/* Every blocking function that moves data. Their bodies are one: the table api_access.def says what differs. */
#include "mpiio/api/api_access.h"

#include "mpiio/api/api_system.h"
#include "mpiio/pending/pending.h"
#include "mpiio/ship/ship.h"

static int finish(struct api *api, const struct api_call *call, const struct api_arguments *arguments,
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
        const struct access_manner manner = file_manner(api->file, api->file->comm);
        file_settle(api->file, api->file->comm);
        ship_access(api->file, &request, &manner, &done, &api->error);
    }
    const int code = finish(api, call, arguments, &request, done, status);
    access_request_clear(&request);
    return code;
}

static int access_together(struct api *api, const struct api_call *call, const struct api_arguments *arguments,
                           MPI_Status *status)
{
    struct file *file = api->file;
    struct collective collective = {.file = file,
                                    .function = call->function,
                                    .strategy = call->write ? file->writing : file->reading,
                                    .ordered = call->positioning == ORDERED};
    pending_drain(file);
    api_request(api, call, arguments, &collective.request);
    collective.error = api->error;
    collective_run_coll(&collective);
    api->error = collective.error;
    const int code = finish(api, call, arguments, &collective.request, collective.done, status);
    collective_clear(&collective);
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
#include "mpiio/api/api_access.def"
#undef AT
#undef PLAIN
#if !PIOLET_IS_OPENMPI
#define AT(name, direction, ranks) AT_FUNCTION(name##_c, MPI_Count, direction, ranks)
#define PLAIN(name, direction, where, ranks)
#include "mpiio/api/api_access.def"
#undef AT
#undef PLAIN
#endif
#undef OFFSET

#define OFFSET 0
#define AT(name, direction, ranks)
#define PLAIN(name, direction, where, ranks) PLAIN_FUNCTION(name, int, direction, where, ranks)
#include "mpiio/api/api_access.def"
#undef AT
#undef PLAIN
#if !PIOLET_IS_OPENMPI
#define AT(name, direction, ranks)
#define PLAIN(name, direction, where, ranks) PLAIN_FUNCTION(name##_c, MPI_Count, direction, where, ranks)
#include "mpiio/api/api_access.def"
#undef AT
#undef PLAIN
#endif
