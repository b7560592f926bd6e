/* Whether parts of the file may be mapped, and how much. */
#include "mpi/launcher.h"
#include "mpi/real.h"
#include "mpiio/file/file.h"
#include "mpiio/storage/storage_budget.h"
#include "mpiio/storage/storage_map.h"

#include <stdio.h>

/* Of the whole job, not only of those that open this file: each may have files of its own. */
static int ranks_of_node(const struct file *file)
{
    int world = 1, ranks = launcher_local_size();
    real.Comm_size(MPI_COMM_WORLD, &world);
    ranks = ranks > 0 && ranks < world ? ranks : world; /* a launcher that tells nothing: as if it were one node */
    return ranks > file->node.size ? ranks : file->node.size;
}

int64_t file_map_budget(struct file *file)
{
    const int64_t job_bytes = launcher_node_bytes();
    file->map_ranks = ranks_of_node(file);
    if (file->values.map == HINT_DISABLE)
        return 0;
    return storage_budget(job_bytes > 0 ? (uint64_t)job_bytes : UINT64_MAX, file->map_ranks);
}

void file_map_apply(struct file *file, int64_t bytes)
{
    file->map_bytes = bytes;
    storage_map_allow(file->storage, bytes);
}

void file_map_describe(struct file *file, struct file_map_state *ret_state)
{
    const char *refused = file->values.map == HINT_DISABLE ? "as the hint says" : storage_map_refused(file->storage);
    *ret_state = (struct file_map_state){
        .effective = refused ? "disable" : "automatic",
        .why = refused ? refused : "parts of the file that are accessed again stay mapped",
        .rank_bytes = refused ? 0 : file->map_bytes,
        .node_bytes = refused ? 0 : file->map_bytes * file->map_ranks,
    };
}
