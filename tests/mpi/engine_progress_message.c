/* Messages and requests. The last rank talks with rank 0; the others have nothing to do. */
#include "engine_progress.h"

#include <stddef.h>

enum { TAG = 7 };
#define ANY world, MPI_STATUS_IGNORE

/* What lets a receive of the last rank out, and a send. */
static void give(void)
{
    if (rank == 0)
        MPI_Send(in, 1, MPI_INT, LAST, TAG, world);
}

static void take_big(void)
{
    if (rank == 0)
        MPI_Recv(big_out, BIG_BYTES, MPI_BYTE, LAST, TAG, ANY);
}

static void exchange(void)
{
    if (rank == 0)
        MPI_Sendrecv(in, 1, MPI_INT, LAST, TAG, out, 1, MPI_INT, LAST, TAG, ANY);
}

static void take_out(void) /* what a probe has found */
{
    if (rank == LAST)
        MPI_Recv(out, 1, MPI_INT, 0, TAG, ANY);
}

/* ---- blocking ---- */

#ifdef MPICH_NUMVERSION
#define BOTH(name, ...)                                                                                                \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        MPI_##name(__VA_ARGS__);                                                                                       \
    }                                                                                                                  \
    static void name##_c(void)                                                                                         \
    {                                                                                                                  \
        MPI_##name##_c(__VA_ARGS__);                                                                                   \
    }
#else
#define BOTH(name, ...)                                                                                                \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        MPI_##name(__VA_ARGS__);                                                                                       \
    }
#endif

BOTH(Send, big_in, BIG_BYTES, MPI_BYTE, 0, TAG, world)
BOTH(Ssend, in, 1, MPI_INT, 0, TAG, world)
BOTH(Rsend, big_in, BIG_BYTES, MPI_BYTE, 0, TAG, world)
BOTH(Recv, out, 1, MPI_INT, 0, TAG, ANY)
BOTH(Sendrecv, in, 1, MPI_INT, 0, TAG, out, 1, MPI_INT, 0, TAG, ANY)
BOTH(Sendrecv_replace, in, 1, MPI_INT, 0, TAG, 0, TAG, ANY)

static char attached[BIG_BYTES + MPI_BSEND_OVERHEAD];

static void attach(void)
{
    if (rank == LAST)
        MPI_Buffer_attach(attached, (int)sizeof attached);
}

static void detach(void)
{
    void *buffer;
    int bytes;
    if (rank == LAST)
        MPI_Buffer_detach(&buffer, &bytes);
}

BOTH(Bsend, big_in, BIG_BYTES, MPI_BYTE, 0, TAG, world)

static void Buffer_detach(void)
{
    MPI_Bsend(big_in, BIG_BYTES, MPI_BYTE, 0, TAG, world);
    detach();
}

static void Probe(void)
{
    MPI_Probe(0, TAG, ANY);
}

static MPI_Message message;

static void Mprobe(void)
{
    MPI_Mprobe(0, TAG, world, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(out, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

/* Found at once, and so long that its sender has to do something before it is here: see hold_big(). */
static MPI_Request holding = MPI_REQUEST_NULL;

static void hold_big(void)
{
    if (rank == 0)
        MPI_Isend(big_in, BIG_BYTES, MPI_BYTE, LAST, TAG, world, &holding);
    if (rank == LAST)
        MPI_Mprobe(0, TAG, world, &message, MPI_STATUS_IGNORE);
}

static void let_big(void)
{
    if (rank == 0)
        MPI_Wait(&holding, MPI_STATUS_IGNORE);
}

static void post_big(void)
{
    if (rank == 0)
        MPI_Irecv(big_out, BIG_BYTES, MPI_BYTE, LAST, TAG, world, &holding);
}

BOTH(Mrecv, big_out, BIG_BYTES, MPI_BYTE, &message, MPI_STATUS_IGNORE)

/* ---- requests ---- */

static MPI_Request requests[2];

static void ask(void)
{
    MPI_Irecv(out, 1, MPI_INT, 0, TAG, world, &requests[0]);
    requests[1] = MPI_REQUEST_NULL;
}

static void Wait(void)
{
    ask();
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void Waitall(void)
{
    ask();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void Waitany(void)
{
    int index;
    ask();
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void Waitsome(void)
{
    int count, indices[2];
    ask();
    MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static void Test(void)
{
    int done = 0;
    for (ask(); !done;)
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
}

static void Testall(void)
{
    int done = 0;
    for (ask(); !done;)
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
}

static void Testany(void)
{
    int index, done = 0;
    for (ask(); !done;)
        MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
}

static void Testsome(void)
{
    int count = 0, indices[2];
    for (ask(); count == 0;)
        MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static void Request_get_status(void)
{
    int done = 0;
    for (ask(); !done;)
        MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void Iprobe(void)
{
    int found = 0;
    while (!found)
        MPI_Iprobe(0, TAG, world, &found, MPI_STATUS_IGNORE);
}

static void Improbe(void)
{
    int found = 0;
    while (!found)
        MPI_Improbe(0, TAG, world, &found, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(out, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

#ifdef MPICH_NUMVERSION
/* ---- partitioned, and what is started again ---- */

static MPI_Request parts = MPI_REQUEST_NULL;

static void init_parts(void)
{
    if (rank == 0)
        MPI_Psend_init(in, 2, 1, MPI_INT, LAST, TAG, world, MPI_INFO_NULL, &parts);
    if (rank == LAST)
        MPI_Precv_init(out, 2, 1, MPI_INT, 0, TAG, world, MPI_INFO_NULL, &parts);
    if (rank == 0 || rank == LAST)
        MPI_Start(&parts);
}

static void send_parts(void)
{
    if (rank == 0)
        MPI_Pready_range(0, 1, parts);
}

static void free_parts(void)
{
    if (rank != 0 && rank != LAST)
        return;
    MPI_Wait(&parts, MPI_STATUS_IGNORE);
    MPI_Request_free(&parts);
}

static void Parrived(void)
{
    int there = 0;
    while (!there)
        MPI_Parrived(parts, 1, &there);
}

static void Buffer_detach_c(void)
{
    void *buffer;
    MPI_Count bytes;
    MPI_Bsend(big_in, BIG_BYTES, MPI_BYTE, 0, TAG, world);
    MPI_Buffer_detach_c(&buffer, &bytes);
}
#define ROWS(name)                                                                                                     \
    {#name, ROW_##name(name)},                                                                                         \
    {                                                                                                                  \
#name "_c", ROW_##name(name##_c)                                                                               \
    }
#else
#define ROWS(name)                                                                                                     \
    {                                                                                                                  \
#name, ROW_##name(name)                                                                                        \
    }
#endif

#define ROW_Send(f)             NULL, f, take_big, NULL, false
#define ROW_Ssend(f)            NULL, f, take_big, NULL, false
#define ROW_Rsend(f)            post_big, f, let_big, NULL, true
#define ROW_Recv(f)             NULL, f, give, NULL, false
#define ROW_Sendrecv(f)         NULL, f, exchange, NULL, false
#define ROW_Sendrecv_replace(f) NULL, f, exchange, NULL, false
#define ROW_Bsend(f)            attach, f, take_big, detach, true
#define ROW_Buffer_detach(f)    attach, f, take_big, NULL, true
#define ROW_Mrecv(f)            hold_big, f, let_big, NULL, true

const struct row ROWS_MESSAGE[] = {
    ROWS(Send),
    ROWS(Ssend),
    ROWS(Rsend),
    ROWS(Recv),
    ROWS(Sendrecv),
    ROWS(Sendrecv_replace),
    ROWS(Bsend),
    ROWS(Buffer_detach),
    ROWS(Mrecv),
    {"Probe", NULL, Probe, give, take_out, false},
    {"Mprobe", NULL, Mprobe, give, NULL, false},
    {"Wait", NULL, Wait, give, NULL, false},
    {"Waitall", NULL, Waitall, give, NULL, false},
    {"Waitany", NULL, Waitany, give, NULL, false},
    {"Waitsome", NULL, Waitsome, give, NULL, false},
    {"Test", NULL, Test, give, NULL, false},
    {"Testall", NULL, Testall, give, NULL, false},
    {"Testany", NULL, Testany, give, NULL, false},
    {"Testsome", NULL, Testsome, give, NULL, false},
    {"Request_get_status", NULL, Request_get_status, give, NULL, false},
    {"Iprobe", NULL, Iprobe, give, take_out, false},
    {"Improbe", NULL, Improbe, give, NULL, false},
#ifdef MPICH_NUMVERSION
    {"Parrived", init_parts, Parrived, send_parts, free_parts, false},
#endif
    {.name = NULL},
};
