#include "bench/beffio/beffio_partition.h"

static int rank_on_node_coll(MPI_Comm comm)
{
    MPI_Comm node;
    int rank = 0;
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS)
        return 0;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    return rank;
}

/* Nodes, and the processes on the one that has most; rank 0 tells those outside. */
static void count_nodes_coll(MPI_Comm world, struct beffio_partition *partition)
{
    int counts[2] = {0, 0};
    if (partition->comm != MPI_COMM_NULL) {
        const int place = rank_on_node_coll(partition->comm), first = place == 0, ranks = place + 1;
        MPI_Allreduce(&first, &counts[0], 1, MPI_INT, MPI_SUM, partition->comm);
        MPI_Allreduce(&ranks, &counts[1], 1, MPI_INT, MPI_MAX, partition->comm);
    }
    MPI_Bcast(counts, 2, MPI_INT, 0, world);
    partition->nodes = counts[0];
    partition->most_on_node = counts[1];
}

pl_status beffio_partitions_make_coll(MPI_Comm world, const struct beffio_config *config,
                                      struct beffio_partition *ret_partitions, struct pl_error *error)
{
    int rank, size, before = 0, there = 0;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    const int eligible = config->per_node == 0 || rank_on_node_coll(world) < config->per_node;
    MPI_Exscan(&eligible, &before, 1, MPI_INT, MPI_SUM, world);
    MPI_Allreduce(&eligible, &there, 1, MPI_INT, MPI_SUM, world);
    before = rank == 0 ? 0 : before;
    for (int i = 0; i < config->partition_count; i++)
        if (config->partitions[i] > there)
            return pl_fail(error, PL_E_INPUT, "partitions: %d processes, but only %d ranks are there%s",
                           config->partitions[i], there, there < size ? " with so few on each node" : "");
    for (int i = 0; i < config->partition_count; i++) {
        struct beffio_partition *partition = &ret_partitions[i];
        const int member = eligible && before < config->partitions[i];
        *partition = (struct beffio_partition){.size = config->partitions[i], .comm = MPI_COMM_NULL};
        MPI_Comm_split(world, member ? 0 : MPI_UNDEFINED, rank, &partition->comm);
        count_nodes_coll(world, partition);
    }
    return PL_OK;
}

void beffio_partitions_free(struct beffio_partition *partitions, int count)
{
    for (int i = 0; i < count; i++)
        if (partitions[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&partitions[i].comm);
}
