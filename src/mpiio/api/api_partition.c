/* File partitioning and counters: include/piolet/mpiio.h. */
#include "mpiio/api/api.h"
#include "mpiio/pending/pending.h"
#include "mpiio/ship/ship.h"

#include <mpi.h>
#include <string.h>

#include "piolet/mpiio.h" /* behind mpi.h: what concerns open files too */

#define EXPORTED __attribute__((visibility("default")))

/* A file of the MPI's own has no agents. */
static bool begin(struct api *api, const char *function, MPI_File handle)
{
    if (!api_begin(api, function, handle))
        return false;
    if (api->file->is_system)
        pl_fail(&api->error, PL_E_UNSUPPORTED, "the file was opened with piolet_impl=system");
    return api->error.status == PL_OK;
}

/* Nothing may be under way while the parts of the file change hands. */
static bool begin_coll(struct api *api, const char *function, MPI_File handle)
{
    if (!begin(api, function, handle)) {
        if (!api->file)
            api_without_file(api, false);
        return false;
    }
    if (!api_begin_coll(api))
        return false;
    pending_finish(api->file);
    return true;
}

EXPORTED int piolet_partition_start(MPI_File file)
{
    struct api api;
    if (begin_coll(&api, "piolet_partition_start", file))
        ship_partition_coll(api.file, true, &api.error);
    return api_end(&api);
}

EXPORTED int piolet_partition_map(MPI_File file, long long partition_bytes, int count, const int *agents)
{
    struct api api;
    if (begin_coll(&api, "piolet_partition_map", file))
        ship_partition_map_coll(api.file, partition_bytes, count, agents, &api.error);
    return api_end(&api);
}

EXPORTED int piolet_partition_stop(MPI_File file)
{
    struct api api;
    if (begin_coll(&api, "piolet_partition_stop", file))
        ship_partition_coll(api.file, false, &api.error);
    return api_end(&api);
}

EXPORTED int piolet_counters(MPI_File file, struct piolet_counters *ret_counters, int size)
{
    struct api api;
    if (begin(&api, "piolet_counters", file) &&
        api_wants_pointer(&api, ret_counters, "the place for the counters") == PL_OK) {
        struct ship_counts ship;
        struct prefetch_counts prefetch;
        int ahead;
        ship_count(api.file, &ship);
        ship_count_prefetch(api.file, &prefetch, &ahead);
        const struct piolet_counters counters = {.shipped_bytes = ship.shipped,
                                                 .agent_requests = ship.served,
                                                 .agent_pieces = ship.served_pieces,
                                                 .agent_reads = ship.agent_reads,
                                                 .agent_writes = ship.agent_writes,
                                                 .agent_combined = ship.combined,
                                                 .cached_hits = ship.cache_hits,
                                                 .cached_misses = ship.cache_misses,
                                                 .cached_writes = ship.cache_writes,
                                                 .prefetch_asked = prefetch.asked,
                                                 .prefetch_accepted = prefetch.accepted,
                                                 .prefetch_hit = prefetch.hit,
                                                 .prefetch_released = prefetch.released,
                                                 .prefetch_ahead = ahead};
        const size_t known = sizeof counters, wanted = size > 0 ? (size_t)size : 0;
        memset(ret_counters, 0, wanted);
        memcpy(ret_counters, &counters, wanted < known ? wanted : known);
    }
    return api_end(&api);
}
