/* Clocks. On one node all ranks read the same one. Between nodes, rank 0 asks each rank a few times what its clock
 * says, and takes the answer that came back fastest: it is wrong by half of that round trip at most. */
#include "bench/piobench/piobench_trial.h"

#include "measure/environment.h"

#include <time.h>

enum { PINGS = 24, TAG_PING = 71, TAG_OFFSET };

int64_t piobench_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t piobench_clock_estimate(const struct piobench_ping *pings, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (pings[i].received_ns - pings[i].sent_ns < pings[best].received_ns - pings[best].sent_ns)
            best = i;
    const int64_t half = (pings[best].received_ns - pings[best].sent_ns) / 2;
    return pings[best].answered_ns - (pings[best].sent_ns + half);
}

static void ask(MPI_Comm comm, int rank)
{
    struct piobench_ping pings[PINGS];
    for (int i = 0; i < PINGS; i++) {
        pings[i].sent_ns = piobench_clock_ns();
        MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_PING, comm);
        MPI_Recv(&pings[i].answered_ns, 1, MPI_INT64_T, rank, TAG_PING, comm, MPI_STATUS_IGNORE);
        pings[i].received_ns = piobench_clock_ns();
    }
    const int64_t offset = piobench_clock_estimate(pings, PINGS);
    MPI_Send(&offset, 1, MPI_INT64_T, rank, TAG_OFFSET, comm);
}

static int64_t answer(MPI_Comm comm)
{
    int64_t offset;
    for (int i = 0; i < PINGS; i++) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_PING, comm, MPI_STATUS_IGNORE);
        const int64_t now = piobench_clock_ns();
        MPI_Send(&now, 1, MPI_INT64_T, 0, TAG_PING, comm);
    }
    MPI_Recv(&offset, 1, MPI_INT64_T, 0, TAG_OFFSET, comm, MPI_STATUS_IGNORE);
    return offset;
}

int64_t piobench_clock_offset_coll(MPI_Comm comm, bool *ret_one_node)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int here = environment_node_ranks_coll(comm) == size;
    int everywhere;
    MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, comm);
    *ret_one_node = everywhere;
    if (everywhere)
        return 0;
    for (int other = 1; other < size && rank == 0; other++)
        ask(comm, other);
    return rank == 0 ? 0 : answer(comm);
}
