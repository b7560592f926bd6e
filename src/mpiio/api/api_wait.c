/* Completing requests: the program's own calls, with ours among its requests. While none of ours is live they are
 * passed on as they are. A failed request of ours calls the error handler of its file, not that of a communicator. */
#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/api/api_hook.h"
#include "mpiio/api/api_operation.h"
#include "mpiio/mem.h"

#include <string.h>

/* MPICH waits without asking us: there a wait is a test that is repeated. What is complete already lets Open MPI return
 * without running its hook: a program may wait for such requests until another rank has done something. */
#if PIOLET_IS_OPENMPI
#define WAIT_UNTIL(flag, wait_call, test_call)                                                                         \
    pending_step();                                                                                                    \
    code = wait_call
#else
#define WAIT_UNTIL(flag, wait_call, test_call)                                                                         \
    pending_step();                                                                                                    \
    for (struct wait_pace pace = {0}; (code = test_call) == MPI_SUCCESS && !(flag);)                                   \
        if (!pending_step())                                                                                           \
    wait_turn(&pace)
#endif

static bool passive(void)
{
    return api_requests_live() == 0 && pending_count() == 0;
}

/* Nothing of ours is among what this call waits for; another thread may start something meanwhile. */
#if PIOLET_IS_OPENMPI
#define PASS(call)                                                                                                     \
    if (passive())                                                                                                     \
        return (call);
#else
#define PASS(call)                                                                                                     \
    if (passive()) {                                                                                                   \
        api_hook_enter();                                                                                              \
        const int passed = (call);                                                                                     \
        api_hook_leave();                                                                                              \
        return passed;                                                                                                 \
    }
#endif

/* A call without a request of ours may be the first of the process. */
static void ready(const char *function)
{
    struct api api;
    if (!real.loaded)
        api_begin_free(&api, function);
}

/* ---- one request ---- */

static int tell_one(int code)
{
    api_operations_sweep();
    struct api_operation *failed = api_failures_take();
    if (failed)
        code = api_raise(failed->api.file, failed->code, failed->api.error.text);
    api_failures_drop(failed);
    return code;
}

static int wait_one(MPI_Request *request, MPI_Status *status)
{
    int code, flag = 0;
    WAIT_UNTIL(flag, real.Wait(request, status), real.Test(request, &flag, status));
    (void)flag;
    return tell_one(code);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    ready("MPI_Wait");
    PASS(real.Wait(request, status))
    return wait_one(request, status);
}
API_ALIAS(Wait);

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    ready("MPI_Test");
    if (passive())
        return real.Test(request, flag, status);
    pending_step();
    return tell_one(real.Test(request, flag, status));
}
API_ALIAS(Test);

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    ready("MPI_Waitany");
    PASS(real.Waitany(count, requests, index, status))
    int code, flag = 0;
    WAIT_UNTIL(flag, real.Waitany(count, requests, index, status), real.Testany(count, requests, index, &flag, status));
    (void)flag;
    return tell_one(code);
}
API_ALIAS(Waitany);

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    ready("MPI_Testany");
    if (passive())
        return real.Testany(count, requests, index, flag, status);
    pending_step();
    return tell_one(real.Testany(count, requests, index, flag, status));
}
API_ALIAS(Testany);

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    ready("MPI_Request_get_status");
    pending_step();
    const int code = real.Request_get_status(request, flag, status);
    api_failures_drop(api_failures_take()); /* whoever completes it tells */
    return code;
}
API_ALIAS(Request_get_status);

int MPI_Request_free(MPI_Request *request)
{
    ready("MPI_Request_free");
    if (request && api_requests_live() > 0)
        api_request_abandon(*request);
    return real.Request_free(request);
}
API_ALIAS(Request_free);

/* ---- many requests ---- */

/* The requests before they are completed: their handles are gone afterwards. NULL: no memory, or none. */
static MPI_Request *copy_of(int count, const MPI_Request *requests)
{
    if (count <= 0)
        return NULL;
    MPI_Request *copy = mem_alloc((size_t)count * sizeof *copy);
    if (copy)
        memcpy(copy, requests, (size_t)count * sizeof *copy);
    return copy;
}

/* What failed, in the statuses of what was completed: status k is that of request indices[k] (NULL: of request k). */
static int tell_many(int code, int count, const int *indices, const MPI_Request *before, MPI_Status *statuses)
{
    api_operations_sweep();
    struct api_operation *list = api_failures_take();
    if (!list)
        return code;
    for (int k = 0; k < count && code == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE; k++)
        statuses[k].MPI_ERROR = MPI_SUCCESS;
    for (const struct api_operation *failed = list; failed; failed = failed->next_failed) {
        for (int k = 0; k < count && statuses != MPI_STATUSES_IGNORE; k++)
            if (!before || before[indices ? indices[k] : k] == failed->request) /* no memory: it may be any */
                statuses[k].MPI_ERROR = failed->code;
        api_raise(failed->api.file, failed->code, failed->api.error.text);
    }
    api_failures_drop(list);
    return MPI_ERR_IN_STATUS;
}

/* One after the other: all must complete in any case, and whatever is pending goes on meanwhile. */
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    ready("MPI_Waitall");
    PASS(real.Waitall(count, requests, statuses))
    bool failed = false;
    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        const int code = wait_one(&requests[i], status);
        failed = failed || code != MPI_SUCCESS;
        if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = code;
    }
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}
API_ALIAS(Waitall);

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    ready("MPI_Testall");
    if (passive())
        return real.Testall(count, requests, flag, statuses);
    pending_step();
    MPI_Request *before = copy_of(count, requests);
    int code = real.Testall(count, requests, flag, statuses);
    if (code != MPI_SUCCESS || *flag)
        code = tell_many(code, count, NULL, before, statuses);
    else
        api_failures_drop(api_failures_take()); /* the call that completes them tells */
    mem_free(before);
    return code;
}
API_ALIAS(Testall);

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    ready("MPI_Waitsome");
    PASS(real.Waitsome(count, requests, done, indices, statuses))
    int code;
    MPI_Request *before = copy_of(count, requests);
    *done = 0;
    WAIT_UNTIL(*done != 0, real.Waitsome(count, requests, done, indices, statuses),
               real.Testsome(count, requests, done, indices, statuses));
    code = tell_many(code, *done == MPI_UNDEFINED ? 0 : *done, indices, before, statuses);
    mem_free(before);
    return code;
}
API_ALIAS(Waitsome);

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    ready("MPI_Testsome");
    if (passive())
        return real.Testsome(count, requests, done, indices, statuses);
    pending_step();
    MPI_Request *before = copy_of(count, requests);
    int code = real.Testsome(count, requests, done, indices, statuses);
    code = tell_many(code, *done == MPI_UNDEFINED ? 0 : *done, indices, before, statuses);
    mem_free(before);
    return code;
}
API_ALIAS(Testsome);
