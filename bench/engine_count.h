/* What a measured access asked of MPI, system and network. Exact where times are noisy. */
#ifndef PIOLET_BENCH_ENGINE_COUNT_H
#define PIOLET_BENCH_ENGINE_COUNT_H

#include <mpi.h>
#include <stdint.h>

/* In pairs: how often, and bytes. */
enum count {
    COUNT_MESSAGES,
    COUNT_MESSAGE_BYTES,
    COUNT_COLLECTIVES,
    COUNT_COLLECTIVE_BYTES, /* that this rank gave */
    COUNT_READS,
    COUNT_READ_BYTES,
    COUNT_WRITES,
    COUNT_WRITE_BYTES,
    COUNT_MAPS,
    COUNT_MAP_BYTES,
    COUNT_KINDS,
};

/* Of the preloaded bench/count.c. */
void bench_count_read(int64_t *ret_sums);

struct layout;

/* All ranks, after MPI_Init. Ends the program where nothing is preloaded that counts. */
void count_init_coll(void);
/* Between these two lies what is counted. The first is called by all ranks together. */
void count_begin(void);
void count_end(void);
/* All ranks: rank 0 prints a line: `head`, the kinds of rank 0, their sums over all ranks, bytes that the hosts sent
 * over the network, and bytes that lie in other hosts' parts of the file (-1: there is one host only). */
void count_print_coll(const char *head, const struct layout *layout);

#endif
