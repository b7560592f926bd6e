/* An MPI of many ranks in one process: what the exchange and the ring call of it, put into the table `real`. Nothing
 * ever waits. A communicator's handle tells which rank calls: fake_comm(group, rank). Messages are matched as MPI does,
 * and counted. What it allocates itself is counted apart, so that a test can tell what ranks take.
 *
 * Group 0 has all ranks, group 1 + k the k-th rank of each node: ranks of a node follow each other. */
#ifndef PIOLET_TESTS_UNIT_FAKE_MPI_H
#define PIOLET_TESTS_UNIT_FAKE_MPI_H

#include "mpi/real.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_GROUPS = 3, FAKE_RANKS = 1000, FAKE_ROUNDS = 4, FAKE_WORDS = 6 * FAKE_RANKS };
enum fake_kind { FAKE_SENT, FAKE_SYNCHRONOUS, FAKE_RECEIVE, FAKE_MEETING };

struct fake_item { /* a request, or a message: what is needed of each */
    struct fake_item *next;
    enum fake_kind kind;
    bool done;
    int group, rank, source, tag, bytes;
    void *buffer;           /* of a receive, or of a synchronous send */
    char *copy;             /* of any other send */
    struct fake_item *send; /* a message: to be completed */
    int64_t round;          /* of a meeting */
};

/* The messages for a rank that nobody has received, and the receives that have no message. */
struct fake_rank {
    struct fake_item *messages, *receives;
    int64_t round;
};

struct fake_meeting {
    int entered;
    int64_t values[FAKE_WORDS];
};

static struct {
    int ranks, node_ranks;
    struct fake_rank rank[FAKE_GROUPS][FAKE_RANKS];
    struct fake_meeting meeting[FAKE_GROUPS][FAKE_ROUNDS];
    bool alone; /* a reduction is over at once: opening, where all bring the same */
    size_t own_bytes;
    int64_t messages, message_bytes;      /* of all, */
    int64_t off_messages, off_bytes;      /* and of those to other ranks (group 0) or nodes (others) */
    int64_t meetings, meeting_bytes_most; /* reductions and such of a rank; the largest that it brings or gets */
} fake;

static MPI_Comm fake_comm(int group, int rank)
{
    return (MPI_Comm)(intptr_t)(1 + group * FAKE_RANKS + rank);
}

static int fake_group(MPI_Comm comm)
{
    return (int)((intptr_t)comm - 1) / FAKE_RANKS;
}

static int fake_me(MPI_Comm comm)
{
    return (int)((intptr_t)comm - 1) % FAKE_RANKS;
}

static int fake_size(int group)
{
    return group == 0 ? fake.ranks : fake.ranks / fake.node_ranks;
}

/* Handles are numbers on one MPI and pointers on the other: items have small numbers. */
enum { FAKE_ITEMS = 1 << 17 };
static struct fake_item *fake_items;
static struct fake_item *fake_unused;

static struct fake_item *fake_new(enum fake_kind kind, int group, int rank)
{
    struct fake_item *item = fake_unused;
    if (!item)
        abort();
    fake_unused = item->next;
    *item = (struct fake_item){.kind = kind, .group = group, .rank = rank};
    return item;
}

static void fake_drop(struct fake_item *item)
{
    if (item->copy)
        fake.own_bytes -= malloc_usable_size(item->copy);
    free(item->copy);
    item->next = fake_unused;
    fake_unused = item;
}

static intptr_t fake_number(const struct fake_item *item)
{
    return 1 + (item - fake_items);
}

#define FAKE_ITEM(handle) (&fake_items[(intptr_t)(handle)-1])

static int fake_type_bytes(MPI_Datatype type)
{
    return type == MPI_BYTE ? 1 : 8;
}

static void fake_append(struct fake_item **list, struct fake_item *item)
{
    while (*list)
        list = &(*list)->next;
    *list = item;
    item->next = NULL;
}

/* The first that fits is taken out of the list. */
static struct fake_item *fake_take(struct fake_item **list, int source, int tag)
{
    for (; *list; list = &(*list)->next) {
        struct fake_item *item = *list;
        if ((source == MPI_ANY_SOURCE || item->source == source) && item->tag == tag) {
            *list = item->next;
            return item;
        }
    }
    return NULL;
}

static void fake_deliver(struct fake_item *message, void *to)
{
    memcpy(to, message->copy ? message->copy : message->buffer, (size_t)message->bytes);
    if (message->send)
        message->send->done = true;
    fake_drop(message);
}

static int fake_send(const void *buffer, int bytes, int to, int tag, MPI_Comm comm, bool synchronous, intptr_t *ret)
{
    const int group = fake_group(comm), me = fake_me(comm);
    struct fake_item *request = fake_new(synchronous ? FAKE_SYNCHRONOUS : FAKE_SENT, group, me);
    struct fake_item *message = fake_new(FAKE_SENT, group, to);
    fake.messages++;
    fake.message_bytes += bytes;
    fake.off_messages += to != me;
    fake.off_bytes += to != me ? bytes : 0;
    message->source = me;
    message->tag = tag;
    message->bytes = bytes;
    message->buffer = (void *)buffer;
    request->done = !synchronous;
    if (synchronous) {
        message->send = request;
    } else {
        message->copy = malloc((size_t)bytes + 1);
        memcpy(message->copy, buffer, (size_t)bytes);
        fake.own_bytes += malloc_usable_size(message->copy);
    }
    *ret = fake_number(request);
    struct fake_item *receive = fake_take(&fake.rank[group][to].receives, me, tag);
    if (receive) {
        fake_deliver(message, receive->buffer);
        receive->done = true;
    } else {
        fake_append(&fake.rank[group][to].messages, message);
    }
    return MPI_SUCCESS;
}

static int fake_isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    intptr_t number;
    const int code = fake_send(buffer, count * fake_type_bytes(type), to, tag, comm, false, &number);
    *request = (MPI_Request)number;
    return code;
}

static int fake_issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                       MPI_Request *request)
{
    intptr_t number;
    const int code = fake_send(buffer, count * fake_type_bytes(type), to, tag, comm, true, &number);
    *request = (MPI_Request)number;
    return code;
}

static int fake_irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    (void)count;
    (void)type;
    struct fake_rank *rank = &fake.rank[fake_group(comm)][fake_me(comm)];
    struct fake_item *receive = fake_new(FAKE_RECEIVE, fake_group(comm), fake_me(comm));
    struct fake_item *message = fake_take(&rank->messages, from, tag);
    receive->buffer = buffer;
    receive->source = from;
    receive->tag = tag;
    if (message) {
        fake_deliver(message, buffer);
        receive->done = true;
    } else {
        fake_append(&rank->receives, receive);
    }
    *request = (MPI_Request)fake_number(receive);
    return MPI_SUCCESS;
}

static int fake_probed_bytes; /* of the message that was found last */

static int fake_improbe(int from, int tag, MPI_Comm comm, int *found, MPI_Message *ret_message, MPI_Status *status)
{
    struct fake_item *message = fake_take(&fake.rank[fake_group(comm)][fake_me(comm)].messages, from, tag);
    *found = message != NULL;
    if (!message)
        return MPI_SUCCESS;
    *ret_message = (MPI_Message)fake_number(message);
    status->MPI_SOURCE = message->source;
    fake_probed_bytes = message->bytes;
    return MPI_SUCCESS;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as MPI has it */
static int fake_imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    struct fake_item *item = FAKE_ITEM(*message), *receive = fake_new(FAKE_RECEIVE, item->group, item->rank);
    if (item->bytes > count * fake_type_bytes(type))
        return MPI_ERR_TRUNCATE;
    fake_deliver(item, buffer);
    receive->done = true;
    *request = (MPI_Request)fake_number(receive);
    return MPI_SUCCESS;
}

static int fake_get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)status;
    *count = fake_probed_bytes / fake_type_bytes(type);
    return MPI_SUCCESS;
}

static int fake_iprobe(int from, int tag, MPI_Comm comm, int *found, MPI_Status *status)
{
    (void)from;
    (void)tag;
    (void)comm;
    (void)status;
    *found = 0;
    return MPI_SUCCESS;
}

/* ---- where all meet ---- */

static struct fake_meeting *fake_meet(MPI_Comm comm, int64_t bytes, struct fake_item **ret_item)
{
    const int group = fake_group(comm), me = fake_me(comm);
    struct fake_item *item = fake_new(FAKE_MEETING, group, me);
    item->round = fake.rank[group][me].round++;
    struct fake_meeting *meeting = &fake.meeting[group][item->round % FAKE_ROUNDS];
    if (meeting->entered == fake_size(group)) /* of a round long ago */
        meeting->entered = 0;
    meeting->entered++;
    fake.meetings++;
    fake.meeting_bytes_most = bytes > fake.meeting_bytes_most ? bytes : fake.meeting_bytes_most;
    *ret_item = item;
    return meeting;
}

static int fake_ibarrier(MPI_Comm comm, MPI_Request *request)
{
    struct fake_item *item;
    fake_meet(comm, 0, &item);
    *request = (MPI_Request)fake_number(item);
    return MPI_SUCCESS;
}

static int fake_iallreduce(const void *mine, void *result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           MPI_Request *request) /* the least of 64-bit numbers */
{
    (void)op;
    struct fake_item *item;
    const int64_t *values = mine;
    struct fake_meeting *meeting = fake_meet(comm, (int64_t)count * fake_type_bytes(type), &item);
    for (int i = 0; i < count; i++)
        if (meeting->entered == 1 || values[i] < meeting->values[i])
            meeting->values[i] = values[i];
    item->buffer = result;
    item->bytes = count * fake_type_bytes(type);
    if (fake.alone) {
        memcpy(result, mine, (size_t)item->bytes);
        item->done = true;
    }
    *request = (MPI_Request)fake_number(item);
    return MPI_SUCCESS;
}

static int fake_ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    struct fake_item *item;
    struct fake_meeting *meeting = fake_meet(comm, (int64_t)count * fake_type_bytes(type), &item);
    item->buffer = buffer;
    item->bytes = count * fake_type_bytes(type);
    if (fake_me(comm) == root)
        memcpy(meeting->values, buffer, (size_t)item->bytes);
    *request = (MPI_Request)fake_number(item);
    return MPI_SUCCESS;
}

static int fake_iallgather(const void *mine, int count, MPI_Datatype type, void *all, int all_count,
                           MPI_Datatype all_type, MPI_Comm comm, MPI_Request *request)
{
    (void)all_count;
    (void)all_type;
    struct fake_item *item;
    const int bytes = count * fake_type_bytes(type);
    struct fake_meeting *meeting = fake_meet(comm, (int64_t)bytes * fake_size(fake_group(comm)), &item);
    memcpy((char *)meeting->values + (size_t)fake_me(comm) * (size_t)bytes, mine, (size_t)bytes);
    item->buffer = all;
    item->bytes = bytes * fake_size(fake_group(comm));
    *request = (MPI_Request)fake_number(item);
    return MPI_SUCCESS;
}

static int fake_test(MPI_Request *request, int *done, MPI_Status *status)
{
    (void)status;
    *done = 1;
    if (*request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    struct fake_item *item = FAKE_ITEM(*request);
    if (item->kind == FAKE_MEETING && !item->done) {
        const struct fake_meeting *meeting = &fake.meeting[item->group][item->round % FAKE_ROUNDS];
        item->done = meeting->entered == fake_size(item->group);
        if (item->done && item->bytes > 0)
            memcpy(item->buffer, meeting->values, (size_t)item->bytes);
    }
    *done = item->done;
    if (*done) {
        fake_drop(item);
        *request = MPI_REQUEST_NULL;
    }
    return MPI_SUCCESS;
}

static int fake_wait(MPI_Request *request, MPI_Status *status)
{
    int done;
    fake_test(request, &done, status);
    if (!done)
        abort();
    return MPI_SUCCESS;
}

/* ---- communicators ---- */

static int fake_comm_size(MPI_Comm comm, int *size)
{
    *size = fake_size(fake_group(comm));
    return MPI_SUCCESS;
}

static int fake_comm_rank(MPI_Comm comm, int *rank)
{
    *rank = fake_me(comm);
    return MPI_SUCCESS;
}

static int fake_comm_split(MPI_Comm comm, int color, int key, MPI_Comm *ret_comm)
{
    (void)key;
    *ret_comm = color == MPI_UNDEFINED ? MPI_COMM_NULL : fake_comm(1 + color, fake_me(comm) / fake.node_ranks);
    return MPI_SUCCESS;
}

static int fake_comm_free(MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int fake_comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm;
    (void)handler;
    return MPI_SUCCESS;
}

static void fake_open(int ranks, int node_ranks)
{
    memset(&fake, 0, sizeof fake);
    fake.ranks = ranks;
    fake.node_ranks = node_ranks;
    fake_items = calloc(FAKE_ITEMS, sizeof *fake_items);
    fake_unused = NULL;
    for (int i = 0; i < FAKE_ITEMS; i++) {
        fake_items[i].next = fake_unused;
        fake_unused = &fake_items[i];
    }
    real.Isend = fake_isend;
    real.Issend = fake_issend;
    real.Irecv = fake_irecv;
    real.Improbe = fake_improbe;
    real.Imrecv = fake_imrecv;
    real.Get_count = fake_get_count;
    real.Iprobe = fake_iprobe;
    real.Ibarrier = fake_ibarrier;
    real.Iallreduce = fake_iallreduce;
    real.Ibcast = fake_ibcast;
    real.Iallgather = fake_iallgather;
    real.Test = fake_test;
    real.Wait = fake_wait;
    real.Comm_size = fake_comm_size;
    real.Comm_rank = fake_comm_rank;
    real.Comm_split = fake_comm_split;
    real.Comm_free = fake_comm_free;
    real.Comm_set_errhandler = fake_comm_set_errhandler;
}

static void fake_close(void)
{
    free(fake_items);
}

#endif
