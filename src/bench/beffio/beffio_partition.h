/* Partitions: so many processes, of each node at most so many, as communicators. */
#ifndef PIOLET_BENCH_BEFFIO_PARTITION_H
#define PIOLET_BENCH_BEFFIO_PARTITION_H

#include "base/status.h"
#include "bench/beffio/beffio_config.h"

#include <mpi.h>

struct beffio_partition {
    MPI_Comm comm; /* MPI_COMM_NULL where this rank is not in it */
    int size;      /* known on all ranks */
    int nodes, most_on_node;
};

/* One for each of config->partitions; rank 0 is in all of them. Fails alike on all ranks where there are too few. */
pl_status beffio_partitions_make_coll(MPI_Comm world, const struct beffio_config *config,
                                      struct beffio_partition *ret_partitions, struct pl_error *error);
void beffio_partitions_free(struct beffio_partition *partitions, int count);

#endif
