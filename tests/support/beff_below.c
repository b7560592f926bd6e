/* Preloaded by mpi/beff_messages.sh. Between two barriers, of rank 0: calls with messages of 64 bytes, and their
 * addresses. A line for each loop, in the file that BELOW names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 64, MOST = 4096 };

static int sendrecvs, isends, waits, calls, count;
static const void *addresses[MOST];

static void note(const void *address)
{
    for (int i = 0; i < count; i++)
        if (addresses[i] == address)
            return;
    if (count < MOST)
        addresses[count++] = address;
}

int MPI_Sendrecv(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    if (n == LENGTH) {
        sendrecvs++;
        note(out);
    }
    return PMPI_Sendrecv(out, n, type, to, tag, in, in_count, in_type, from, in_tag, comm, status);
}

int MPI_Isend(const void *out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (n == LENGTH) {
        isends++;
        note(out);
    }
    return PMPI_Isend(out, n, type, to, tag, comm, request);
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    waits += isends > 0;
    return PMPI_Waitall(n, requests, statuses);
}

int MPI_Alltoallv(const void *out, const int *counts, const int *at, MPI_Datatype type, void *in, const int *in_counts,
                  const int *in_at, MPI_Datatype in_type, MPI_Comm comm)
{
    if (counts[1] == LENGTH) {
        calls++;
        note((const char *)out + at[1]);
    }
    return PMPI_Alltoallv(out, counts, at, type, in, in_counts, in_at, in_type, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
    const char *name = getenv("BELOW");
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = rank == 0 && sendrecvs + isends + calls > 0 ? fopen(name, "a") : NULL;
    if (file) {
        if (sendrecvs)
            fprintf(file, "sendrecv %d %d\n", sendrecvs, count);
        if (isends)
            fprintf(file, "nonblocking %d/%d %d\n", isends, waits, count);
        if (calls)
            fprintf(file, "alltoallv %d %d\n", calls, count);
        fclose(file);
    }
    sendrecvs = isends = waits = calls = count = 0;
    return PMPI_Barrier(comm);
}
