/* Completing requests: the program's own calls, with ours among its requests. While none of ours is live they are
 * passed on as they are. A failed request of ours calls the error handler of its file, not that of a communicator. */
#include "engine/api/api.h"
#include "engine/mem.h"
#include "engine/pending/pending.h"
#include "mpi/real.h"
#include "mpi/wait.h"

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

static bool api_wait_passive(void)
{
    return api_requests_live() == 0 && pending_count() == 0;
}

/* Nothing of ours is among what this call waits for; another thread may start something meanwhile. */
#if PIOLET_IS_OPENMPI
#define PASS(call)                                                                                                     \
    if (api_wait_passive())                                                                                            \
        return (call);
#else
#define PASS(call)                                                                                                     \
    if (api_wait_passive()) {                                                                                          \
        api_hook_enter();                                                                                              \
        const int passed = (call);                                                                                     \
        api_hook_leave();                                                                                              \
        return passed;                                                                                                 \
    }
#endif

/* A call without a request of ours may be the first of the process. */
static void api_wait_ready(const char *function)
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

static int api_wait_one(MPI_Request *request, MPI_Status *status)
{
    int code, flag = 0;
    WAIT_UNTIL(flag, real.Wait(request, status), real.Test(request, &flag, status));
    (void)flag;
    return tell_one(code);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    api_wait_ready("MPI_Wait");
    PASS(real.Wait(request, status))
    return api_wait_one(request, status);
}
API_ALIAS(Wait);

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    api_wait_ready("MPI_Test");
    if (api_wait_passive())
        return real.Test(request, flag, status);
    pending_step();
    return tell_one(real.Test(request, flag, status));
}
API_ALIAS(Test);

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    api_wait_ready("MPI_Waitany");
    PASS(real.Waitany(count, requests, index, status))
    int code, flag = 0;
    WAIT_UNTIL(flag, real.Waitany(count, requests, index, status), real.Testany(count, requests, index, &flag, status));
    (void)flag;
    return tell_one(code);
}
API_ALIAS(Waitany);

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    api_wait_ready("MPI_Testany");
    if (api_wait_passive())
        return real.Testany(count, requests, index, flag, status);
    pending_step();
    return tell_one(real.Testany(count, requests, index, flag, status));
}
API_ALIAS(Testany);

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    api_wait_ready("MPI_Request_get_status");
    pending_step();
    const int code = real.Request_get_status(request, flag, status);
    api_failures_drop(api_failures_take()); /* whoever completes it tells */
    return code;
}
API_ALIAS(Request_get_status);

int MPI_Request_free(MPI_Request *request)
{
    api_wait_ready("MPI_Request_free");
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
    api_wait_ready("MPI_Waitall");
    PASS(real.Waitall(count, requests, statuses))
    bool failed = false;
    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        const int code = api_wait_one(&requests[i], status);
        failed = failed || code != MPI_SUCCESS;
        if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = code;
    }
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}
API_ALIAS(Waitall);

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    api_wait_ready("MPI_Testall");
    if (api_wait_passive())
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
    api_wait_ready("MPI_Waitsome");
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
    api_wait_ready("MPI_Testsome");
    if (api_wait_passive())
        return real.Testsome(count, requests, done, indices, statuses);
    pending_step();
    MPI_Request *before = copy_of(count, requests);
    int code = real.Testsome(count, requests, done, indices, statuses);
    code = tell_many(code, *done == MPI_UNDEFINED ? 0 : *done, indices, before, statuses);
    mem_free(before);
    return code;
}
API_ALIAS(Testsome);

/* ---- Calls that wait --------------------------------------------------------------------------------------------- */

/* Calls that wait for other ranks, or are polled until one has done something: our pending operations go on meanwhile.
 * A rank that sits in a receive may be the one whose part in a collective access its partner waits for. While nothing
 * is pending they are passed on. Open MPI has a hook that most calls run: there the list is short. */

static void api_blocking_ready(void)
{
    struct api api;
    if (!real.loaded)
        api_begin_free(&api, "MPI");
}

/* Also where nothing is pending: another thread may start something while this one is inside. */
#define WAITING(name, parameters, ...)                                                                                 \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        api_blocking_ready();                                                                                          \
        api_hook_enter();                                                                                              \
        const int code = real.name(__VA_ARGS__);                                                                       \
        api_hook_leave();                                                                                              \
        return code;                                                                                                   \
    }                                                                                                                  \
    API_ALIAS(name);
#define POLLED(name, parameters, ...)                                                                                  \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        api_blocking_ready();                                                                                          \
        pending_step();                                                                                                \
        return real.name(__VA_ARGS__);                                                                                 \
    }                                                                                                                  \
    API_ALIAS(name);
#define KNOWN(kind, ...) kind(__VA_ARGS__)
#include "mpi/real_waiting.def"

#if !PIOLET_IS_OPENMPI
/* ---- messages ---- */

#define PASS_ALONG(call)                                                                                               \
    api_blocking_ready();                                                                                              \
    if (pending_count() == 0) {                                                                                        \
        api_hook_enter();                                                                                              \
        const int passed = (call);                                                                                     \
        api_hook_leave();                                                                                              \
        return passed;                                                                                                 \
    }                                                                                                                  \
    pending_step();

static int api_blocking_finish(MPI_Request *request, MPI_Status *status)
{
    int code, flag = 0;
    for (struct wait_pace pace = {0}; (code = real.Test(request, &flag, status)) == MPI_SUCCESS && !flag;)
        if (!pending_step())
            wait_turn(&pace);
    return code;
}

#define SENDING(name, iname)                                                                                           \
    int MPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)                   \
    {                                                                                                                  \
        PASS_ALONG(real.name(buffer, count, type, to, tag, comm))                                                      \
        MPI_Request request;                                                                                           \
        const int code = real.iname(buffer, count, type, to, tag, comm, &request);                                     \
        return code == MPI_SUCCESS ? api_blocking_finish(&request, MPI_STATUS_IGNORE) : code;                          \
    }                                                                                                                  \
    API_ALIAS(name);
SENDING(Send, Isend)
SENDING(Ssend, Issend)
SENDING(Rsend, Irsend)

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    PASS_ALONG(real.Recv(buffer, count, type, from, tag, comm, status))
    MPI_Request request;
    const int code = real.Irecv(buffer, count, type, from, tag, comm, &request);
    return code == MPI_SUCCESS ? api_blocking_finish(&request, status) : code;
}
API_ALIAS(Recv);

int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int to, int send_tag, void *receive,
                 int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    PASS_ALONG(real.Sendrecv(send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from,
                             receive_tag, comm, status))
    MPI_Request sending, receiving;
    int code = real.Irecv(receive, receive_count, receive_type, from, receive_tag, comm, &receiving);
    if (code != MPI_SUCCESS)
        return code;
    code = real.Isend(send, send_count, send_type, to, send_tag, comm, &sending);
    if (code != MPI_SUCCESS) { /* nobody may answer */
        real.Cancel(&receiving);
        real.Request_free(&receiving);
        return code;
    }
    code = api_blocking_finish(&sending, MPI_STATUS_IGNORE);
    const int received = api_blocking_finish(&receiving, status);
    return code == MPI_SUCCESS ? received : code;
}
API_ALIAS(Sendrecv);

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    PASS_ALONG(real.Probe(from, tag, comm, status))
    int code, flag = 0;
    for (struct wait_pace pace = {0}; (code = real.Iprobe(from, tag, comm, &flag, status)) == MPI_SUCCESS && !flag;)
        if (!pending_step())
            wait_turn(&pace);
    return code;
}
API_ALIAS(Probe);

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    PASS_ALONG(real.Mprobe(from, tag, comm, message, status))
    int code, flag = 0;
    for (struct wait_pace pace = {0};
         (code = real.Improbe(from, tag, comm, &flag, message, status)) == MPI_SUCCESS && !flag;)
        if (!pending_step())
            wait_turn(&pace);
    return code;
}
API_ALIAS(Mprobe);

int MPI_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    PASS_ALONG(real.Mrecv(buffer, count, type, message, status))
    MPI_Request request;
    const int code = real.Imrecv(buffer, count, type, message, &request);
    return code == MPI_SUCCESS ? api_blocking_finish(&request, status) : code;
}
API_ALIAS(Mrecv);
#endif
