/* Calls that wait for other ranks, or are polled until one has done something: our pending operations go on meanwhile.
 * A rank that sits in a receive may be the one whose part in a collective access its partner waits for. While nothing
 * is pending they are passed on. Open MPI has a hook that most calls run: there the list is short. */
#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/api/api.h"
#include "mpiio/api/api_hook.h"
#include "mpiio/pending/pending.h"

static void ready(void)
{
    struct api api;
    if (!real.loaded)
        api_begin_free(&api, "MPI");
}

/* Also where nothing is pending: another thread may start something while this one is inside. */
#define WAITING(name, parameters, ...)                                                                                 \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        ready();                                                                                                       \
        api_hook_enter();                                                                                              \
        const int code = real.name(__VA_ARGS__);                                                                       \
        api_hook_leave();                                                                                              \
        return code;                                                                                                   \
    }                                                                                                                  \
    API_ALIAS(name);
#define POLLED(name, parameters, ...)                                                                                  \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        ready();                                                                                                       \
        pending_step();                                                                                                \
        return real.name(__VA_ARGS__);                                                                                 \
    }                                                                                                                  \
    API_ALIAS(name);
#define KNOWN(kind, ...) kind(__VA_ARGS__)
#include "mpi/real_waiting.def"

#if !PIOLET_IS_OPENMPI
/* ---- messages ---- */

#define PASS(call)                                                                                                     \
    ready();                                                                                                           \
    if (pending_count() == 0) {                                                                                        \
        api_hook_enter();                                                                                              \
        const int passed = (call);                                                                                     \
        api_hook_leave();                                                                                              \
        return passed;                                                                                                 \
    }                                                                                                                  \
    pending_step();

static int finish(MPI_Request *request, MPI_Status *status)
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
        PASS(real.name(buffer, count, type, to, tag, comm))                                                            \
        MPI_Request request;                                                                                           \
        const int code = real.iname(buffer, count, type, to, tag, comm, &request);                                     \
        return code == MPI_SUCCESS ? finish(&request, MPI_STATUS_IGNORE) : code;                                       \
    }                                                                                                                  \
    API_ALIAS(name);
SENDING(Send, Isend)
SENDING(Ssend, Issend)
SENDING(Rsend, Irsend)

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    PASS(real.Recv(buffer, count, type, from, tag, comm, status))
    MPI_Request request;
    const int code = real.Irecv(buffer, count, type, from, tag, comm, &request);
    return code == MPI_SUCCESS ? finish(&request, status) : code;
}
API_ALIAS(Recv);

int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int to, int send_tag, void *receive,
                 int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    PASS(real.Sendrecv(send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from,
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
    code = finish(&sending, MPI_STATUS_IGNORE);
    const int received = finish(&receiving, status);
    return code == MPI_SUCCESS ? received : code;
}
API_ALIAS(Sendrecv);

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    PASS(real.Probe(from, tag, comm, status))
    int code, flag = 0;
    for (struct wait_pace pace = {0}; (code = real.Iprobe(from, tag, comm, &flag, status)) == MPI_SUCCESS && !flag;)
        if (!pending_step())
            wait_turn(&pace);
    return code;
}
API_ALIAS(Probe);

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    PASS(real.Mprobe(from, tag, comm, message, status))
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
    PASS(real.Mrecv(buffer, count, type, message, status))
    MPI_Request request;
    const int code = real.Imrecv(buffer, count, type, message, &request);
    return code == MPI_SUCCESS ? finish(&request, status) : code;
}
API_ALIAS(Mrecv);
#endif
