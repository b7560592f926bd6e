/* Messages and collectives of MPI between the accesses. */
#include "engine_mix.h"

#include <stdlib.h>

int word_of(int from, int tag, int i)
{
    return from * 1000003 + tag * 101 + i;
}

void message_check(int *words, int count, int from, int tag)
{
    for (int i = 0; i < count; i++)
        if (words[i] != word_of(from, tag, i)) {
            complain("word %d of %d of the message from rank %d is wrong", i, count, from);
            break;
        }
    free(words);
}

static int *make_words(int count, int tag)
{
    int *words = allocate((int64_t)count * (int64_t)sizeof *words);
    for (int i = 0; i < count; i++)
        words[i] = word_of(mix.rank, tag, i);
    return words;
}

static void send_message(int to, int count)
{
    int *words = make_words(count, mix.event);
    MPI_Request request;
    const int kind = (int)draw(&mix.own, 0, 3);
    doing("%s of %d words to rank %d", (const char *[]){"Send", "Ssend", "Isend", "Issend"}[kind], count, to);
    if (kind == 0) {
        MPI_Send(words, count, MPI_INT, to, mix.event, MPI_COMM_WORLD);
        free(words);
    } else if (kind == 1) {
        MPI_Ssend(words, count, MPI_INT, to, mix.event, MPI_COMM_WORLD);
        free(words);
    } else {
        (kind == 2 ? MPI_Isend : MPI_Issend)(words, count, MPI_INT, to, mix.event, MPI_COMM_WORLD, &request);
        request_add(request, (struct subject){.words = words, .from = -1});
    }
}

static void receive_message(int from, int count)
{
    int *words = allocate((int64_t)count * (int64_t)sizeof *words);
    const int kind = (int)draw(&mix.own, 0, 4), tag = mix.event;
    MPI_Request request;
    MPI_Message message;
    int found = 0;
    doing("receiving %d words from rank %d, way %d", count, from, kind);
    if (kind == 0) {
        MPI_Irecv(words, count, MPI_INT, from, tag, MPI_COMM_WORLD, &request);
        request_add(request, (struct subject){.words = words, .count = count, .from = from, .tag = tag});
        return;
    }
    if (kind == 1)
        MPI_Probe(from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (kind == 2 && !found)
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (kind == 3) {
        MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(words, count, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(words, count, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    message_check(words, count, from, tag);
}

static void shift(int count)
{
    int *out = make_words(count, mix.event), *in = allocate((int64_t)count * (int64_t)sizeof *in);
    const int to = (mix.rank + 1) % mix.ranks, from = (mix.rank + mix.ranks - 1) % mix.ranks;
    doing("Sendrecv of %d words", count);
    MPI_Sendrecv(out, count, MPI_INT, to, mix.event, in, count, MPI_INT, from, mix.event, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    message_check(in, count, from, mix.event);
    free(out);
}

void message_event(void)
{
    const int count = (int)draw(&mix.plan, 0, draw(&mix.plan, 0, 3) == 0 ? 40000 : 100);
    const int from = (int)draw(&mix.plan, 0, mix.ranks - 1), to = (int)draw(&mix.plan, 0, mix.ranks - 1);
    if (from == to)
        shift(count);
    else if (mix.rank == from)
        send_message(to, count);
    else if (mix.rank == to)
        receive_message(from, count);
}

/* ---- collectives ---- */

static void broadcast_coll(void)
{
    const int root = (int)draw(&mix.plan, 0, mix.ranks - 1);
    int number = mix.rank == root ? word_of(root, mix.event, 0) : 0;
    doing("Bcast from rank %d", root);
    MPI_Bcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (number != word_of(root, mix.event, 0))
        complain("Bcast brings %d", number);
}

static void sum_coll(void)
{
    int sum = -1;
    doing("Allreduce");
    MPI_Allreduce(&mix.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != mix.ranks * (mix.ranks - 1) / 2)
        complain("the sum of the ranks is %d", sum);
}

static void new_comm_coll(bool split)
{
    MPI_Comm comm;
    doing(split ? "Comm_split" : "Comm_dup");
    if (split)
        MPI_Comm_split(MPI_COMM_WORLD, mix.rank % 2, -mix.rank, &comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

void collective_event_coll(void)
{
    MPI_Request request;
    switch (draw(&mix.plan, 0, 6)) {
    case 0:
    case 1:
        doing("Barrier");
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 2:
        broadcast_coll();
        break;
    case 3:
        sum_coll();
        break;
    case 4:
        doing("Ibarrier");
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        request_add(request, (struct subject){.from = -1});
        break;
    case 5:
        new_comm_coll(false);
        break;
    default:
        new_comm_coll(true);
    }
}
