#include "mpiio/ship/ship_remote.h"

#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/error/error.h"

#include <string.h>

static void receive(struct ship_remote *remote, void *to, size_t bytes, int from, int tag, MPI_Comm comm)
{
    if (remote->code == MPI_SUCCESS)
        remote->code = real.Irecv(to, (int)bytes, MPI_BYTE, from, tag, comm, &remote->requests[remote->count]);
    remote->count += remote->code == MPI_SUCCESS;
}

static void send(struct ship_remote *remote, const void *from, size_t bytes, int to, int tag, MPI_Comm comm)
{
    if (remote->code == MPI_SUCCESS)
        remote->code = real.Isend(from, (int)bytes, MPI_BYTE, to, tag, comm, &remote->requests[remote->count]);
    remote->count += remote->code == MPI_SUCCESS;
}

void ship_remote_post(struct ship_remote *remote, MPI_Comm comm, struct ship_box *box)
{
    const size_t bytes = (size_t)ship_box_bytes(box);
    const int agent = box->agent;
    remote->posted = true;
    remote->code = MPI_SUCCESS;
    remote->count = 0;
    box->status = PL_OK;
    receive(remote, &remote->answer, sizeof remote->answer, agent, SHIP_TAG_ANSWER + box->index, comm);
    if (box->command == SHIP_READ)
        receive(remote, box->data, bytes, agent, SHIP_TAG_READ + box->index, comm);
    send(remote, ship_request_begin(box), ship_request_bytes(box->pieces), agent, SHIP_TAG_REQUEST, comm);
    if (box->command == SHIP_WRITE)
        send(remote, box->data, bytes, agent, SHIP_TAG_WRITTEN + box->index, comm);
}

static void give_up(struct ship_remote *remote)
{
    for (int i = 0; i < remote->count; i++) {
        if (remote->requests[i] == MPI_REQUEST_NULL)
            continue;
        real.Cancel(&remote->requests[i]);
        real.Request_free(&remote->requests[i]);
    }
}

static void open_answer(const struct ship_answer *answer, struct ship_box *box)
{
    box->status = answer->status;
    box->end = answer->end;
    memcpy(box->words, answer->words, sizeof box->words);
    for (int i = 0; i < box->pieces; i++)
        box->piece[i].done = answer->pieces > 0 ? answer->done[i] : box->piece[i].bytes;
}

pl_status ship_remote_wait(struct ship_remote *remote, struct ship_box *box, MPI_Comm poke, struct pl_error *error)
{
    if (remote->code == MPI_SUCCESS)
        remote->code = wait_answer(remote->count, remote->requests, poke);
    remote->posted = false;
    if (remote->code == MPI_SUCCESS) {
        open_answer(&remote->answer, box);
        return PL_OK;
    }
    give_up(remote);
    error_from_mpi(remote->code, "a message to or from an agent on another node", error);
    return error->status = PL_E_PEER; /* there is no answer, whatever it might have been */
}
