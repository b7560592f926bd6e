#include "bench/beff/beff_method.h"

#include <string.h>

enum { ALIGNMENT = 64, TAG = 100 };

/* ---- where messages stand ---- */

int64_t beff_exchange_bytes(int links, int64_t length)
{
    return links * (length + ALIGNMENT);
}

/* MPI_Alltoallv has one piece for each process: what goes to the same one must be contiguous. */
static void place(const int *peers, int count, int length, int *ret_at)
{
    int next = 0;
    for (int k = 0; k < count; k++) {
        const bool joined = k > 0 && peers[k] == peers[k - 1];
        ret_at[k] = joined ? next : (next + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        next = ret_at[k] + length;
    }
}

static void count_pieces(const int *peers, const int *at, int links, int length, int *counts, int *displacements)
{
    for (int k = 0; k < links; k++) {
        if (peers[k] == BEFF_NOBODY)
            continue;
        if (counts[peers[k]] == 0)
            displacements[peers[k]] = at[k];
        counts[peers[k]] += length;
    }
}

void beff_exchange_place(struct beff_exchange *exchange)
{
    const struct beff_links *links = &exchange->links;
    const size_t n = (size_t)exchange->nprocs;
    place(links->to, links->count, exchange->length, exchange->send_at);
    place(links->from, links->count, exchange->length, exchange->receive_at);
    memset(exchange->counts, 0, 4 * n * sizeof *exchange->counts);
    count_pieces(links->to, exchange->send_at, links->count, exchange->length, exchange->counts, exchange->counts + n);
    count_pieces(links->from, exchange->receive_at, links->count, exchange->length, exchange->counts + 2 * n,
                 exchange->counts + 3 * n);
}

/* ---- the methods ---- */

static int peer(int rank)
{
    return rank == BEFF_NOBODY ? MPI_PROC_NULL : rank;
}

static void note(struct beff_exchange *x, int code)
{
    if (code != MPI_SUCCESS && x->code == MPI_SUCCESS)
        x->code = code;
}

static void meet_coll(struct beff_exchange *x)
{
    note(x, MPI_Barrier(x->comm));
}

static void sendrecv_coll(struct beff_exchange *x, int64_t rounds)
{
    for (int64_t round = 0; round < rounds; round++)
        for (int k = 0; k < x->links.count; k++)
            note(x, MPI_Sendrecv(x->send + x->send_at[k], x->length, MPI_BYTE, peer(x->links.to[k]), TAG + k,
                                 x->receive + x->receive_at[k], x->length, MPI_BYTE, peer(x->links.from[k]), TAG + k,
                                 x->comm, MPI_STATUS_IGNORE));
}

static void alltoallv_coll(struct beff_exchange *x, int64_t rounds)
{
    const size_t n = (size_t)x->nprocs;
    for (int64_t round = 0; round < rounds; round++)
        note(x, MPI_Alltoallv(x->send, x->counts, x->counts + n, MPI_BYTE, x->receive, x->counts + 2 * n,
                              x->counts + 3 * n, MPI_BYTE, x->comm));
}

static void nonblocking_coll(struct beff_exchange *x, int64_t rounds)
{
    MPI_Request requests[2 * BEFF_LINKS_MAX];
    MPI_Status statuses[2 * BEFF_LINKS_MAX]; /* gcc takes MPICH's MPI_STATUSES_IGNORE for an array too short */
    const int links = x->links.count;
    for (int i = 0; i < 2 * BEFF_LINKS_MAX; i++)
        requests[i] = MPI_REQUEST_NULL; /* where starting one fails */
    for (int64_t round = 0; round < rounds; round++) {
        for (int k = 0; k < links; k++)
            note(x, MPI_Irecv(x->receive + x->receive_at[k], x->length, MPI_BYTE, peer(x->links.from[k]), TAG + k,
                              x->comm, &requests[k]));
        for (int k = 0; k < links; k++)
            note(x, MPI_Isend(x->send + x->send_at[k], x->length, MPI_BYTE, peer(x->links.to[k]), TAG + k, x->comm,
                              &requests[links + k]));
        note(x, MPI_Waitall(2 * links, requests, statuses));
    }
}

/* Only the two that play: a barrier of all would let the others wait for cores that these need. */
static void turns_meet_coll(struct beff_exchange *x)
{
    const int other = peer(x->links.to[0]);
    note(x, MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TAG, NULL, 0, MPI_BYTE, other, TAG, x->comm, MPI_STATUS_IGNORE));
}

static void turns_coll(struct beff_exchange *x, int64_t rounds)
{
    const int other = peer(x->links.to[0]);
    for (int64_t round = 0; round < rounds && x->rank < 2; round++) {
        if (x->rank == 0)
            note(x, MPI_Send(x->send, x->length, MPI_BYTE, other, TAG, x->comm));
        note(x, MPI_Recv(x->receive, x->length, MPI_BYTE, other, TAG, x->comm, MPI_STATUS_IGNORE));
        if (x->rank == 1)
            note(x, MPI_Send(x->send, x->length, MPI_BYTE, other, TAG, x->comm));
    }
}

const struct beff_method BEFF_METHOD_TABLE[BEFF_METHODS] = {
    [BEFF_SENDRECV] = {"sendrecv", "Sendrecv", meet_coll, sendrecv_coll},
    [BEFF_ALLTOALLV] = {"alltoallv", "Alltoallv", meet_coll, alltoallv_coll},
    [BEFF_NONBLOCKING] = {"nonblocking", "nonblocking", meet_coll, nonblocking_coll},
    [BEFF_TURNS] = {"turns", "in turn", turns_meet_coll, turns_coll},
};

bool beff_method_serves(int method, enum beff_kind kind)
{
    return (method == BEFF_TURNS) == (kind == BEFF_PINGPONG);
}
