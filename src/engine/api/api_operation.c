#include "engine/api/api.h"

#include "base/container.h"
#include "engine/mem.h"
#include "engine/view/view.h"
#include "mpi/real.h"

#include <assert.h>
#include <string.h>

static atomic_int requests_live;
static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static struct api_operation *live;
static struct api_operation *released; /* their requests are gone; they are freed where MPI may be called */

int api_requests_live(void)
{
    return atomic_load_explicit(&requests_live, memory_order_relaxed);
}

void api_operation_unref(struct api_operation *operation)
{
    assert(atomic_load(&operation->references) > 0);
    if (atomic_fetch_sub(&operation->references, 1) > 1)
        return;
    if (operation->owns_type)
        view_type_drop(&operation->arguments.type);
    move_clear(&operation->pending.operation);
    mem_free(operation);
}

/* ---- failures on their way to the program ---- */

static _Thread_local struct api_operation *failed, **failed_last;

/* Linked by what they have: telling of a failure may not need memory. The MPI may ask twice in one call. */
static void remember_failure(struct api_operation *operation)
{
    for (const struct api_operation *known = failed; known; known = known->next_failed)
        if (known == operation)
            return;
    atomic_fetch_add(&operation->references, 1);
    operation->next_failed = NULL;
    if (!failed)
        failed_last = &failed;
    *failed_last = operation;
    failed_last = &operation->next_failed;
}

struct api_operation *api_failures_take(void)
{
    struct api_operation *list = failed;
    failed = NULL;
    return list;
}

void api_failures_drop(struct api_operation *list)
{
    while (list) {
        struct api_operation *operation = list;
        list = operation->next_failed;
        api_operation_unref(operation);
    }
}

/* ---- requests ---- */

static void enter_live(struct api_operation *operation)
{
    pthread_mutex_lock(&live_lock);
    operation->next = live;
    operation->place = &live;
    if (live)
        live->place = &operation->next;
    live = operation;
    pthread_mutex_unlock(&live_lock);
    atomic_fetch_add(&requests_live, 1);
}

static void leave_live(struct api_operation *operation)
{
    pthread_mutex_lock(&live_lock);
    assert(operation->place && *operation->place == operation);
    *operation->place = operation->next;
    if (operation->next)
        operation->next->place = operation->place;
    pthread_mutex_unlock(&live_lock);
    atomic_fetch_sub(&requests_live, 1);
}

void api_request_abandon(MPI_Request request)
{
    pthread_mutex_lock(&live_lock);
    struct api_operation *operation = live;
    while (operation && operation->request != request)
        operation = operation->next;
    if (operation) {
        atomic_store(&operation->abandoned, true);
        if (atomic_load(&operation->finished) && operation->code != MPI_SUCCESS)
            file_note_late(operation->api.file, &operation->api.error, false); /* nobody will ask: it is told later */
    }
    pthread_mutex_unlock(&live_lock);
}

/* MPICH holds a lock while it calls these: they call nothing of MPI. This one is called in the program's thread, in the
 * call that completes the request or only looks at it. */
static int api_operation_query(void *state, MPI_Status *status)
{
    struct api_operation *operation = state;
    const int error = status->MPI_ERROR;
    if (!atomic_load(&operation->finished)) /* what follows was stored before it, perhaps by another thread */
        return MPI_SUCCESS;
    *status = operation->status;
    status->MPI_ERROR = error;
    if (operation->code != MPI_SUCCESS)
        remember_failure(operation);
    return MPI_SUCCESS; /* errors go by the file's error handler, not by that of a communicator */
}

/* May be called in any thread: in that of the program, or in the one that has just told MPI of the operation's end. */
static int api_operation_release(void *state)
{
    struct api_operation *operation = state;
    leave_live(operation);
    pthread_mutex_lock(&live_lock);
    operation->next = released;
    released = operation;
    pthread_mutex_unlock(&live_lock);
    return MPI_SUCCESS;
}

void api_operations_sweep(void)
{
    pthread_mutex_lock(&live_lock);
    struct api_operation *list = released;
    released = NULL;
    pthread_mutex_unlock(&live_lock);
    while (list) {
        struct api_operation *operation = list;
        list = operation->next;
        api_operation_unref(operation);
    }
}

/* What has begun goes on to its end. */
static int api_operation_cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static pl_status make_request(struct api_operation *operation, struct pl_error *error)
{
    if (real.Grequest_start(api_operation_query, api_operation_release, api_operation_cancel, operation,
                            &operation->request) != MPI_SUCCESS)
        return pl_fail(error, PL_E_MPI, "the MPI makes no more requests");
    atomic_fetch_add(&operation->references, 1);
    enter_live(operation);
    return PL_OK;
}

/* ---- the course of an operation ---- */

static void api_operation_finish(struct pending *pending)
{
    struct api_operation *operation = container_of(pending, struct api_operation, pending);
    struct move *inner = &pending->operation;
    assert(!atomic_load(&operation->finished));
    operation->api.error = inner->error;
    operation->done = api_deliver(&operation->api, &operation->arguments, &inner->request, inner->done);
    operation->code = api_code(&operation->api);
    api_log(&operation->api, operation->call, &operation->arguments, &inner->request, operation->done, operation->code);
    api_set_status(&operation->status, operation->done);
    operation->status.MPI_SOURCE = operation->status.MPI_TAG = MPI_UNDEFINED;
    pthread_mutex_lock(&live_lock); /* against MPI_Request_free at the same time */
    if (operation->code != MPI_SUCCESS && atomic_load(&operation->abandoned) && !operation->told)
        file_note_late(operation->api.file, &operation->api.error, false);
    atomic_store(&operation->finished, true);
    pthread_mutex_unlock(&live_lock);
    if (operation->request != MPI_REQUEST_NULL)
        real.Grequest_complete(operation->request);
    api_operation_unref(operation);
}

/* No memory, not even the file's spare operation: the rank takes part at once, with nothing. */
static void take_part_empty(struct api *api, const struct api_call *call)
{
    assert(api->error.status != PL_OK);
    struct move move = {.file = api->file,
                        .function = call->function,
                        .strategy = call->write ? api->file->writing : api->file->reading,
                        .ordered = call->positioning == ORDERED,
                        .error = api->error};
    pending_drain(api->file);
    move_run_coll(&move);
    move_clear(&move);
}

/* A file keeps one operation in reserve, so that a rank without memory can still take part in a collective one. */
void api_operation_reserve(struct file *file)
{
    if (!file->spare)
        file->spare = mem_zalloc(1, sizeof(struct api_operation));
}

static struct api_operation *api_operation_take_memory(struct file *file, bool together)
{
    struct api_operation *operation = mem_zalloc(1, sizeof *operation);
    if (!operation && together) {
        operation = file->spare;
        file->spare = NULL;
    }
    return operation;
}

static struct api_operation *new_operation(struct api *api, const struct api_call *call,
                                           const struct api_arguments *arguments)
{
    api_operation_reserve(api->file);
    struct api_operation *operation = api_operation_take_memory(api->file, call->together);
    if (!operation) {
        pl_fail(&api->error, PL_E_NOMEM, "no memory for an operation");
        return NULL;
    }
    operation->call = call;
    operation->arguments = *arguments;
    operation->request = MPI_REQUEST_NULL;
    atomic_init(&operation->references, 1);
    struct move *inner = &operation->pending.operation;
    *inner = (struct move){.file = api->file,
                           .function = call->function,
                           .strategy = call->write ? api->file->writing : api->file->reading,
                           .ordered = call->positioning == ORDERED,
                           .async = true};
    operation->pending.file = api->file;
    operation->pending.finish = api_operation_finish;
    return operation;
}

/* The program may free its datatype at once; a conversion at the end needs it. */
static void keep_type(struct api_operation *operation, struct pl_error *error)
{
    if (!operation->pending.operation.request.staged)
        return;
    if (view_type_keep(operation->arguments.type, &operation->arguments.type, error))
        return;
    operation->owns_type = true;
}

struct api_operation *api_operation_start(struct api *api, const struct api_call *call,
                                          const struct api_arguments *arguments, bool with_request)
{
    api_operations_sweep();
    struct api_operation *operation = new_operation(api, call, arguments);
    if (!operation) {
        if (call->together)
            take_part_empty(api, call);
        return NULL;
    }
    struct move *inner = &operation->pending.operation;
    api_hook_install();
    if (api->error.status == PL_OK && api_request(api, call, arguments, &inner->request) == PL_OK)
        keep_type(operation, &api->error);
    if (api->error.status == PL_OK && with_request)
        make_request(operation, &api->error);
    operation->pending.calls_program = inner->request.staged &&
                                       datarep_is_registered(inner->request.view->representation);
    const bool wrong = api->error.status != PL_OK;
    if (wrong && !call->together) {
        api_operation_unref(operation);
        return NULL;
    }
    operation->told = wrong; /* the program hears of it now; the others count on this rank */
    operation->api = (struct api){.function = call->function, .file = api->file};
    inner->error = api->error;
    if (!with_request && !wrong)
        atomic_fetch_add(&operation->references, 1); /* of …_end */
    if (call->together)
        pending_start_together(&operation->pending);
    else
        pending_start_alone(&operation->pending);
    api_hook_wake();
    return wrong ? NULL : operation;
}
