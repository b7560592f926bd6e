/* Collective communication: every rank calls the same, with roots for which the last rank has to wait. */
#include "engine_progress.h"

#include <stddef.h>

enum { RANKS_MAX = 64 };
static MPI_Comm ring; /* with neighbours */
static MPI_Datatype types[RANKS_MAX];

static void make_ring(void)
{
    const int periods[1] = {1};
    const int dims[1] = {size};
    MPI_Cart_create(world, 1, dims, periods, 0, &ring);
}

static void free_ring(void)
{
    MPI_Comm_free(&ring);
}

static MPI_Request again = MPI_REQUEST_NULL; /* of a persistent one */

static void run_again(void)
{
    if (again == MPI_REQUEST_NULL)
        return;
    MPI_Start(&again);
    MPI_Wait(&again, MPI_STATUS_IGNORE);
    MPI_Request_free(&again);
}

/* One int for each rank. */
#define FUNCTION(name, count, displ, ...)                                                                              \
    static void row_##name(void)                                                                                       \
    {                                                                                                                  \
        count counts[RANKS_MAX];                                                                                       \
        displ displs[RANKS_MAX];                                                                                       \
        MPI_Aint far[RANKS_MAX];                                                                                       \
        for (int i = 0; i < RANKS_MAX; i++) {                                                                          \
            counts[i] = 1;                                                                                             \
            displs[i] = 0;                                                                                             \
            far[i] = 0;                                                                                                \
            types[i] = MPI_INT;                                                                                        \
        }                                                                                                              \
        (void)counts, (void)displs, (void)far;                                                                         \
        MPI_##name(__VA_ARGS__);                                                                                       \
        run_again();                                                                                                   \
    }
#ifdef MPICH_NUMVERSION
#define BOTH(name, ...)                                                                                                \
    FUNCTION(name, int, int, __VA_ARGS__)                                                                              \
    FUNCTION(name##_c, MPI_Count, MPI_Aint, __VA_ARGS__)                                                               \
    FUNCTION(name##_init, int, int, __VA_ARGS__, MPI_INFO_NULL, &again)                                                \
    FUNCTION(name##_init_c, MPI_Count, MPI_Aint, __VA_ARGS__, MPI_INFO_NULL, &again)
#define ROW(name)       {#name, NULL, row_##name, row_##name, NULL, false},
#define ROWS(name)      ROW(name) ROW(name##_c) ROW(name##_init) ROW(name##_init_c)
#define RING_ROW(name)  {#name, make_ring, row_##name, row_##name, free_ring, false},
#define RING_ROWS(name) RING_ROW(name) RING_ROW(name##_c) RING_ROW(name##_init) RING_ROW(name##_init_c)
#else
#define BOTH(name, ...) FUNCTION(name, int, int, __VA_ARGS__)
#define ROW(name)       {#name, NULL, row_##name, row_##name, NULL, false},
#define ROWS            ROW
#define RING_ROWS(name) {#name, make_ring, row_##name, row_##name, free_ring, false},
#endif

FUNCTION(Barrier, int, int, world)
#ifdef MPICH_NUMVERSION
FUNCTION(Barrier_init, int, int, world, MPI_INFO_NULL, &again)
#endif
BOTH(Bcast, in, 1, MPI_INT, 0, world)
BOTH(Gather, in, 1, MPI_INT, out, 1, MPI_INT, LAST, world)
BOTH(Gatherv, in, 1, MPI_INT, out, counts, displs, MPI_INT, LAST, world)
BOTH(Scatter, in, 1, MPI_INT, out, 1, MPI_INT, 0, world)
BOTH(Scatterv, in, counts, displs, MPI_INT, out, 1, MPI_INT, 0, world)
BOTH(Allgather, in, 1, MPI_INT, out, 1, MPI_INT, world)
BOTH(Allgatherv, in, 1, MPI_INT, out, counts, displs, MPI_INT, world)
BOTH(Alltoall, in, 1, MPI_INT, out, 1, MPI_INT, world)
BOTH(Alltoallv, in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, world)
BOTH(Alltoallw, in, counts, displs, types, out, counts, displs, types, world)
BOTH(Reduce, in, out, 1, MPI_INT, MPI_SUM, LAST, world)
BOTH(Allreduce, in, out, 1, MPI_INT, MPI_SUM, world)
BOTH(Reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, world)
BOTH(Reduce_scatter_block, in, out, 1, MPI_INT, MPI_SUM, world)
BOTH(Scan, in, out, 1, MPI_INT, MPI_SUM, world)
BOTH(Exscan, in, out, 1, MPI_INT, MPI_SUM, world)
BOTH(Neighbor_allgather, in, 1, MPI_INT, out, 1, MPI_INT, ring)
BOTH(Neighbor_allgatherv, in, 1, MPI_INT, out, counts, displs, MPI_INT, ring)
BOTH(Neighbor_alltoall, in, 1, MPI_INT, out, 1, MPI_INT, ring)
BOTH(Neighbor_alltoallv, in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, ring)
BOTH(Neighbor_alltoallw, in, counts, far, types, out, counts, far, types, ring)

const struct row ROWS_COLLECTIVE[] = {
/* clang-format off */
#ifdef MPICH_NUMVERSION
    ROW(Barrier_init)
#endif
    ROW(Barrier) ROWS(Bcast) ROWS(Gather) ROWS(Gatherv) ROWS(Scatter) ROWS(Scatterv) ROWS(Allgather) ROWS(Allgatherv)
    ROWS(Alltoall) ROWS(Alltoallv) ROWS(Alltoallw) ROWS(Reduce) ROWS(Allreduce) ROWS(Reduce_scatter)
    ROWS(Reduce_scatter_block) ROWS(Scan) ROWS(Exscan) RING_ROWS(Neighbor_allgather) RING_ROWS(Neighbor_allgatherv)
    RING_ROWS(Neighbor_alltoall) RING_ROWS(Neighbor_alltoallv) RING_ROWS(Neighbor_alltoallw)
    /* clang-format on */
    {.name = NULL},
};
