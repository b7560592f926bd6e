/* Data shipping: every block of the file is bound to one agent, and only that agent accesses it (strategy `shipping`);
 * partitioning: the agents keep their blocks in memory meanwhile (MPI_MODE_UNIQUE_OPEN, or piolet_partition_start()).
 *
 * It is state of the whole file: it changes where all ranks meet, while nothing is shipped. Agents on other nodes are
 * reached by messages, which needs MPI_THREAD_MULTIPLE; without it, it stays off and MPI_File_get_info says so. */
#ifndef PIOLET_ENGINE_SHIP_SHIP_H
#define PIOLET_ENGINE_SHIP_SHIP_H

#include "engine/access/access.h"
#include "engine/prefetch/prefetch.h"

#include <mpi.h>
#include <stddef.h>

struct file;
struct ship;

/* ---- one rank alone ---- */

/* What every access of a rank goes through: by the agents where shipping is on, else by access_run(), whose contract it
 * has. `options->progress` keeps MPI going while an agent works. */
pl_status ship_access(struct file *file, const struct access_request *request, const struct access_options *options,
                      int64_t *ret_done, struct pl_error *error);

/* All that agents hold is written to the file. `drop`: and they forget it, since the file is about to change. */
pl_status ship_flush(struct file *file, bool drop, struct pl_error *error);

/* The size of the file, with what agents hold behind its end. */
pl_status ship_size(struct file *file, int64_t *ret_bytes, struct pl_error *error);

/* One line for MPI_File_get_info; false: nobody has asked for shipping. */
bool ship_describe(struct file *file, char *ret_text, size_t size);

struct ship_counts {
    int64_t shipped;               /* bytes that this rank has shipped */
    int64_t served, served_pieces; /* by the agent of this rank */
    int64_t agent_reads, agent_writes, combined;
    int64_t cache_hits, cache_misses, cache_writes;
};
void ship_count(struct file *file, struct ship_counts *ret_counts);
/* Of this rank and its agents; *ret_ahead: 0 before the first. */
void ship_count_prefetch(struct file *file, struct prefetch_counts *ret_counts, int *ret_ahead);

/* ---- all ranks ---- */

/* After hints or the atomic mode have changed, and at open: turns shipping on, off or over. It fails only where agents
 * cannot write what they hold: all stays then as it was. */
pl_status ship_update_coll(struct file *file, struct pl_error *error);

/* Rank 0 has changed the size: agents have been told to drop what they held. Only rank 0 calls it. */
pl_status ship_size_changed(struct file *file, struct pl_error *error);

/* Is there anything that agents may have to write? The same on all ranks. */
bool ship_holds(const struct file *file);

/* Agents write what they hold, and end. In any case; what failed is told. */
pl_status ship_close_coll(struct file *file, struct pl_error *error);

#endif
