/* What the ranks of a communicator know of each other: who shares memory with whom, the memory itself, a communicator
 * of ours, the shared file pointer and the ring. To find it out takes far longer than to open a file. So it is kept as
 * an attribute of the communicator, in kits; a file borrows one kit when it is opened and gives it back, warm, when it
 * is closed.
 *
 * A kit is lent to one file at a time: two files of one communicator may have accesses under way at once. References
 * are counted: the program may free the communicator while files are open. Duplicates share what their original has,
 * and all that are congruent to MPI_COMM_WORLD share with it, unless the program asked for MPI_THREAD_MULTIPLE: threads
 * may open files on two duplicates at once, in any order. */
#ifndef PIOLET_ENGINE_PEERS_PEERS_H
#define PIOLET_ENGINE_PEERS_PEERS_H

#include "engine/shared/shared.h"
#include "mpi/agree.h"
#include "mpi/node.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct ring;
struct peers; /* of one group of ranks */

struct peers_kit {
    struct peers *peers;
    MPI_Comm comm; /* of one file at a time */
    int rank, size;
    struct node node;
    struct shared shared;
    struct shared_order order;
    struct ring *ring; /* NULL where not all ranks share memory */
    struct agree_board board;
    void *offer;        /* PEERS_OFFER_BYTES of the segment, zeroed; NULL: there is none */
    int place;          /* among the kits that are kept; -1: it goes with the file */
    int64_t warm_bytes; /* memory that it keeps while nobody uses it; on the first rank of a node */
};

enum { PEERS_OFFER_BYTES = 128 };

/* Every rank of `comm` calls it. Fails on all or none. The caller holds a reference. */
pl_status peers_find_coll(MPI_Comm comm, struct peers **ret_peers, struct pl_error *error);
void peers_unref_coll(struct peers *peers); /* accepts NULL */

/* For the first agreement of a file: nobody else uses it meanwhile. */
MPI_Comm peers_comm(const struct peers *peers);
int peers_rank(const struct peers *peers);
int peers_size(const struct peers *peers);

/* What a rank brings to that agreement: which kits are free here, and whether something has changed in this process
 * that speaks against all of them. */
enum { PEERS_KEPT = 4, PEERS_VALUES = 1 + PEERS_KEPT };
void peers_bring(const struct peers *peers, int64_t values[PEERS_VALUES]);

/* After it: every rank takes the same kit, a free one or a new one. values: the least of each. Fails on all or none. */
pl_status peers_take_coll(struct peers *peers, const int64_t values[PEERS_VALUES], struct peers_kit **ret_kit,
                          struct pl_error *error);
/* All ranks have met since they used it; accepts NULL. */
void peers_give_back_coll(struct peers_kit *kit);

/* At the end of MPI: frees what no file uses. */
void peers_end_coll(void);

#endif
