/* Waits and tests. One that completes requests of reads and writes is told as the end of each of these; one that
 * completes anything else, or waits for nothing, is an event of communication. A test in vain is neither. */
#include "tracer/tracer.h"

#include <stdlib.h>

#define EXPORT TRACER_EXPORT
#define ALIAS  TRACER_ALIAS

enum { FEW = 16 };

/* What the requests were before the call, which takes their handles away. */
struct wait {
    enum tracer_wait which;
    int count; /* of requests; 0: none of them can be ours */
    MPI_Request *before, few[FEW];
    int64_t begin_ns; /* -1: not to be told */
    int others;       /* completed, and no reads or writes */
};

static void enter(struct wait *wait, enum tracer_wait which, int count, const MPI_Request *requests)
{
    wait->which = which;
    wait->begin_ns = tracer_enter_comm();
    wait->count = wait->others = 0;
    wait->before = wait->few;
    if (wait->begin_ns < 0 || count <= 0 || !requests || !tracer_request_any())
        return;
    if (count > FEW && !(wait->before = malloc((size_t)count * sizeof *wait->before)))
        return; /* without memory, nothing is told of them */
    for (int i = 0; i < count; i++)
        wait->before[i] = requests[i];
    wait->count = count;
}

/* Request i was completed. */
static void complete(struct wait *wait, int i, const MPI_Status *status)
{
    struct tracer_request request;
    if (i < 0 || i >= wait->count || !tracer_request_take(wait->before[i], &request)) {
        wait->others++;
        return;
    }
    struct trace_call call = {.file = request.file,
                              .offset = -1,
                              .byte = -1,
                              .count = -1,
                              .type_bytes = -1,
                              .asked = -1,
                              .done = -1,
                              .begin_ns = wait->begin_ns,
                              .end_ns = tracer_log_now_ns()};
    MPI_Count bytes;
    if (tracer_log_is_full() && status && tracer_real()->Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS &&
        bytes >= 0)
        call.done = bytes;
    tracer_log_completion(request.site, wait->which, &call);
}

static int leave(struct wait *wait, int code, bool counts)
{
    if (wait->before != wait->few)
        free(wait->before);
    tracer_leave_comm(counts && (wait->others > 0 || wait->count == 0) ? wait->begin_ns : -1, false);
    return code;
}

static const MPI_Status *one(const MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE ? NULL : status;
}

static const MPI_Status *nth(const MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i];
}

EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct wait wait;
    tracer_real();
    enter(&wait, TRACER_WAIT_Wait, 1, request);
    const int code = tracer_real()->Wait(request, status);
    if (wait.count && code == MPI_SUCCESS)
        complete(&wait, 0, one(status));
    return leave(&wait, code, true);
}
ALIAS(Wait)

EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct wait wait;
    tracer_real();
    enter(&wait, TRACER_WAIT_Test, 1, request);
    const int code = tracer_real()->Test(request, flag, status);
    if (wait.count && code == MPI_SUCCESS && *flag)
        complete(&wait, 0, one(status));
    return leave(&wait, code, code == MPI_SUCCESS && *flag);
}
ALIAS(Test)

EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct wait wait;
    tracer_real();
    enter(&wait, TRACER_WAIT_Waitall, count, requests);
    const int code = tracer_real()->Waitall(count, requests, statuses);
    for (int i = 0; i < wait.count && code == MPI_SUCCESS; i++)
        complete(&wait, i, nth(statuses, i));
    return leave(&wait, code, true);
}
ALIAS(Waitall)

EXPORT int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct wait wait;
    tracer_real();
    enter(&wait, TRACER_WAIT_Testall, count, requests);
    const int code = tracer_real()->Testall(count, requests, flag, statuses);
    for (int i = 0; i < wait.count && code == MPI_SUCCESS && *flag; i++)
        complete(&wait, i, nth(statuses, i));
    return leave(&wait, code, code == MPI_SUCCESS && *flag);
}
ALIAS(Testall)

EXPORT int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct wait wait;
    tracer_real();
    enter(&wait, TRACER_WAIT_Waitany, count, requests);
    const int code = tracer_real()->Waitany(count, requests, index, status);
    if (wait.count && code == MPI_SUCCESS)
        complete(&wait, *index, one(status));
    return leave(&wait, code, true);
}
ALIAS(Waitany)

EXPORT int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct wait wait;
    tracer_real();
    enter(&wait, TRACER_WAIT_Testany, count, requests);
    const int code = tracer_real()->Testany(count, requests, index, flag, status);
    if (wait.count && code == MPI_SUCCESS && *flag)
        complete(&wait, *index, one(status));
    return leave(&wait, code, code == MPI_SUCCESS && *flag);
}
ALIAS(Testany)

/* MPI_UNDEFINED requests: there was none to wait for. */
static void complete_some(struct wait *wait, int code, int outcount, const int *indices, const MPI_Status *statuses)
{
    for (int i = 0; wait->count && code == MPI_SUCCESS && outcount != MPI_UNDEFINED && i < outcount; i++)
        complete(wait, indices[i], nth(statuses, i));
}

EXPORT int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct wait wait;
    tracer_real();
    enter(&wait, TRACER_WAIT_Waitsome, incount, requests);
    const int code = tracer_real()->Waitsome(incount, requests, outcount, indices, statuses);
    complete_some(&wait, code, code == MPI_SUCCESS ? *outcount : 0, indices, statuses);
    return leave(&wait, code, true);
}
ALIAS(Waitsome)

EXPORT int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct wait wait;
    tracer_real();
    enter(&wait, TRACER_WAIT_Testsome, incount, requests);
    const int code = tracer_real()->Testsome(incount, requests, outcount, indices, statuses);
    complete_some(&wait, code, code == MPI_SUCCESS ? *outcount : 0, indices, statuses);
    return leave(&wait, code, code == MPI_SUCCESS && *outcount != 0);
}
ALIAS(Testsome)

/* Whether it ever completes is not known from here on: nothing is told. */
EXPORT int MPI_Request_free(MPI_Request *request)
{
    struct tracer_request forgotten;
    tracer_real();
    const bool own = tracer_enter_comm() >= 0;
    const MPI_Request before = own && request ? *request : MPI_REQUEST_NULL;
    const int code = tracer_real()->Request_free(request);
    if (own && code == MPI_SUCCESS && tracer_request_any())
        tracer_request_take(before, &forgotten);
    tracer_leave_comm(-1, false);
    return code;
}
ALIAS(Request_free)
