#include "engine/api/api.h"
#include "engine/develop/develop.h"
#include "engine/error/error.h"
#include "engine/mem.h"
#include "engine/typemap/typemap.h"
#include "mpi/real.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pl_status check_mode(const struct file *file, const struct api_call *call, struct pl_error *error)
{
    if (call->write && (file->amode & MPI_MODE_RDONLY))
        return pl_fail(error, PL_E_READ_ONLY, "the file was opened with MPI_MODE_RDONLY");
    if (!call->write && (file->amode & MPI_MODE_WRONLY))
        return pl_fail(error, PL_E_ACCESS, "the file was opened with MPI_MODE_WRONLY");
    if ((file->amode & MPI_MODE_SEQUENTIAL) && (call->positioning == EXPLICIT || call->positioning == INDIVIDUAL))
        return pl_fail(error, PL_E_UNSUPPORTED,
                       "a file opened with MPI_MODE_SEQUENTIAL is accessed with the shared file pointer only");
    return PL_OK;
}

static pl_status api_request_check_arguments(const struct api_call *call, const struct api_arguments *arguments,
                                             struct pl_error *error)
{
    if (arguments->count < 0)
        return pl_fail(error, PL_E_COUNT, "the count is %lld; allowed: 0 and above", (long long)arguments->count);
    if (arguments->type == MPI_DATATYPE_NULL)
        return pl_fail(error, PL_E_TYPE, "the datatype is MPI_DATATYPE_NULL");
    if (call->positioning == EXPLICIT && arguments->offset < 0)
        return pl_fail(error, PL_E_ARG, "the offset is %lld; allowed: 0 and above", (long long)arguments->offset);
    return PL_OK;
}

static pl_status count_bytes(const struct api_arguments *arguments, int64_t size, struct access_request *request,
                             struct pl_error *error)
{
    if (__builtin_mul_overflow(arguments->count, size, &request->bytes))
        return pl_fail(error, PL_E_COUNT, "%lld times %lld bytes is more than a file can have",
                       (long long)arguments->count, (long long)size);
    const int64_t etype = request->view->etype_size;
    if (request->bytes % etype != 0)
        return pl_fail(error, PL_E_IO, "%lld bytes are no whole number of etypes, which have %lld",
                       (long long)request->bytes, (long long)etype);
    return PL_OK;
}

static pl_status check_buffer(const struct api_arguments *arguments, const struct typemap *memory,
                              struct pl_error *error)
{
    enum { FIRST_ADDRESS = 4096 }; /* MPI_BOTTOM is NULL too: its displacements are addresses */
    const struct typemap_shape *shape = typemap_shape(memory);
    if (!arguments->buffer && arguments->count > 0 && shape->size > 0 && shape->true_lb < FIRST_ADDRESS &&
        shape->true_lb > -FIRST_ADDRESS)
        return pl_fail(error, PL_E_BUFFER, "the buffer is NULL");
    return PL_OK;
}

/* Data in another representation are converted in memory of ours, as a whole; the file sees bytes. */
static pl_status api_request_stage(const struct api_arguments *arguments, struct access_request *request,
                                   struct pl_error *error)
{
    const struct datarep *rep = request->view->representation;
    int64_t size;
    if (datarep_size(rep, arguments->type, &size, error) || count_bytes(arguments, size, request, error))
        return error->status;
    typemap_unref(request->memory);
    request->memory = NULL;
    /* zeroed: a conversion function that writes nothing must not send old memory to the file */
    request->staged = mem_zalloc(request->bytes > 0 ? (size_t)request->bytes : 1, 1);
    if (!request->staged)
        return pl_fail(error, PL_E_NOMEM, "no memory for the conversion of %lld bytes", (long long)request->bytes);
    request->buffer = request->staged;
    if (request->write &&
        datarep_encode(rep, arguments->buffer, arguments->count, arguments->type, request->staged, error))
        return error->status;
    return typemap_dense(1, &request->memory, error);
}

static pl_status api_request_prepare_memory(const struct api_arguments *arguments, struct access_request *request,
                                            struct pl_error *error)
{
    if (typemap_of(arguments->type, &request->memory, error) || check_buffer(arguments, request->memory, error))
        return error->status;
    if (!datarep_is_native(request->view->representation))
        return api_request_stage(arguments, request, error);
    return count_bytes(arguments, typemap_shape(request->memory)->size, request, error);
}

int64_t api_deliver(struct api *api, const struct api_arguments *arguments, const struct access_request *request,
                    int64_t done)
{
    assert(done >= 0 && done <= request->bytes);
    if (!request->write && api->error.status == PL_OK && request->view)
        develop_track_read(api->file, api->function, request);
    if (!request->staged)
        return done;
    const struct datarep *rep = request->view->representation;
    struct pl_error error = {0};
    int64_t native = 0, size = 0;
    MPI_Count native_size = 0;
    if (!request->write) {
        if (datarep_decode(rep, arguments->buffer, arguments->count, arguments->type, request->staged, done, &native,
                           &error) != PL_OK &&
            api->error.status == PL_OK)
            api->error = error;
        return native;
    }
    datarep_size(rep, arguments->type, &size, &error);
    real.Type_size_x(arguments->type, &native_size);
    return size > 0 ? done / size * native_size : 0;
}

static pl_status place_at(struct access_request *request, int64_t etypes, struct pl_error *error)
{
    if (__builtin_mul_overflow(etypes, request->view->etype_size, &request->position) ||
        !view_fits(request->view, request->position, request->bytes)) {
        if (typemap_shape(request->view->filetype)->size == 0)
            return pl_fail(error, PL_E_IO, "the view's filetype has no data, so that nothing can be accessed");
        return pl_fail(error, PL_E_ARG, "%lld bytes at offset %lld would leave the largest file",
                       (long long)request->bytes, (long long)etypes);
    }
    return PL_OK;
}

/* Finds the request's place and moves the pointer that it used. */
static pl_status api_request_place(struct file *file, const struct api_call *call, int64_t offset,
                                   struct access_request *request, struct pl_error *error)
{
    const int64_t etypes = request->bytes / request->view->etype_size;
    int64_t before;
    if (call->positioning == ORDERED)
        return PL_OK;
    if (call->positioning == EXPLICIT)
        return place_at(request, offset, error);
    if (call->positioning == SHARED) {
        if (shared_fetch_add(file->shared, etypes, &before, error))
            return error->status;
        return place_at(request, before, error);
    }
    pthread_mutex_lock(&file->lock);
    const pl_status status = place_at(request, file->position, error);
    if (status == PL_OK)
        file->position += etypes;
    pthread_mutex_unlock(&file->lock);
    return status;
}

pl_status api_request(struct api *api, const struct api_call *call, const struct api_arguments *arguments,
                      struct access_request *ret_request)
{
    struct file *file = api->file;
    struct pl_error *error = &api->error;
    struct access_request request = {.write = call->write, .buffer = arguments->buffer};
    *ret_request = request;
    if (check_mode(file, call, error) || api_request_check_arguments(call, arguments, error))
        return error->status;
    request.view = file_view(file);
    if (api_request_prepare_memory(arguments, &request, error) ||
        api_request_place(file, call, arguments->offset, &request, error)) {
        access_request_clear(&request);
        return error->status;
    }
    assert(request.bytes >= 0 && request.bytes % request.view->etype_size == 0 && request.memory);
    *ret_request = request;
    if (file->track && call->write && call->positioning != ORDERED)
        develop_track_write(file, &request);
    return PL_OK;
}

/* What a status holds beside its bytes. It is the same every time, and MPICH takes a lock to set it. */
static pthread_once_t plain_once = PTHREAD_ONCE_INIT;
static MPI_Status plain_status;

static void make_plain_status(void)
{
    real.Status_set_elements_x(&plain_status, MPI_BYTE, 0);
    real.Status_set_cancelled(&plain_status, 0);
}

void api_set_status(MPI_Status *status, int64_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    pthread_once(&plain_once, make_plain_status);
    const int error = status->MPI_ERROR; /* belongs to calls that complete many */
    *status = plain_status;
    status->MPI_ERROR = error;
    real.Status_set_elements_x(status, MPI_BYTE, bytes);
}

void api_log(const struct api *api, const struct api_call *call, const struct api_arguments *arguments,
             const struct access_request *request, int64_t done, int code)
{
    struct log *log = api->file->log;
    if (!log)
        return;
    const bool placed = request->view && request->bytes > 0;
    const int64_t offset = placed ? view_byte(request->view, request->position) : -1;
    const bool failed = api->error.status != PL_OK;
    if (!failed && !log_wants_access(log, offset, request->bytes))
        return;
    char parameters[128];
    snprintf(parameters, sizeof parameters, "count %lld, type %lld bytes, view %lld", (long long)arguments->count,
             (long long)(request->memory ? typemap_shape(request->memory)->size : -1),
             (long long)(request->view ? request->view->generation : -1));
    log_call(log, &(struct log_call){.function = call->function,
                                     .offset = offset,
                                     .bytes = request->view ? request->bytes : -1,
                                     .done = done,
                                     .parameters = parameters,
                                     .code = code,
                                     .error = failed ? &api->error : NULL});
}
