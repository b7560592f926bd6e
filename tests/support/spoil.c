/* Preloaded by mpi/beff.sh: changes the last byte of what rank 1 receives by MPI_Sendrecv of 64 bytes. */
#include <mpi.h>

int MPI_Sendrecv(const void *out, int count, MPI_Datatype type, int to, int tag, void *in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    int rank;
    const int code = PMPI_Sendrecv(out, count, type, to, tag, in, in_count, in_type, from, in_tag, comm, status);
    MPI_Comm_rank(comm, &rank);
    if (rank == 1 && in_count == 64 && from != MPI_PROC_NULL)
        ((char *)in)[63] ^= 8;
    return code;
}
