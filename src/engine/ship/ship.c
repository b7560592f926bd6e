/* What one rank does alone, and may ask at any time; and which agent a byte belongs to. */
#include "engine/ship/ship.h"
#include "engine/mem.h"
#include "engine/prefetch/prefetch.h"
#include "engine/ship/ship_core.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- Parts of the file ------------------------------------------------------------------------------------------- */

enum { BLOCK_LEAST = 256 * 1024, PART_BLOCKS = 16 };

bool ship_map_has(const struct ship_map *map, int rank)
{
    for (int i = 0; i < map->count; i++)
        if (map->ranks[i] == rank)
            return true;
    return false;
}

int64_t ship_map_block(int64_t file_system_block)
{
    return file_system_block > BLOCK_LEAST ? file_system_block : BLOCK_LEAST;
}

int64_t ship_map_part(int64_t wish, int64_t block)
{
    assert(block > 0);
    if (wish <= 0)
        return PART_BLOCKS * block;
    const int64_t blocks = wish / block + (wish % block != 0);
    return blocks > INT64_MAX / block ? INT64_MAX / block * block : blocks * block;
}

void ship_map_spread(int *ret_ranks, int count, int ranks)
{
    assert(count > 0 && count <= ranks);
    for (int i = 0; i < count; i++)
        ret_ranks[i] = (int)((int64_t)i * ranks / count);
}

/* ---- One rank alone ---------------------------------------------------------------------------------------------- */

/* By this rank itself, with guided prefetching where the hints ask for it. */
static pl_status access_itself(struct file *file, const struct access_request *request,
                               const struct access_options *options, int64_t *ret_done, struct pl_error *error)
{
    const struct access_prefetch ahead = {.memory = &file->prefetch,
                                          .block_bytes = ship_map_block(storage_block_bytes(file->storage)),
                                          .together = file->values.largeblock ? 0 : (int)file->values.access_ranges};
    return access_run_guided(file->storage, request, options, &ahead, ret_done, error);
}

pl_status ship_access(struct file *file, const struct access_request *request, const struct access_options *options,
                      int64_t *ret_done, struct pl_error *error)
{
    if (!file->ship)
        return access_itself(file, request, options, ret_done, error);
    pthread_rwlock_rdlock(&file->ship_lock); /* nobody changes who serves while something is under way */
    struct ship *ship = file->ship;
    if (ship && ship->setting.on && !options->atomic)
        ship_send(ship, request, options->progress, ret_done, error);
    else
        access_itself(file, request, options, ret_done, error);
    pthread_rwlock_unlock(&file->ship_lock);
    return error->status;
}

/* ---- what agents hold ---- */

bool ship_holds(const struct file *file)
{
    return file->ship && file->ship->setting.on && file->ship->setting.partitioned;
}

/* A command without data to every agent, one after the other. */
static pl_status tell_agents(struct file *file, enum ship_command command, struct pl_error *error)
{
    pthread_rwlock_rdlock(&file->ship_lock);
    struct ship *ship = file->ship;
    assert(ship && ship->setting.on && ship->setting.map.count > 0);
    struct ship_box *box;
    ship_boxes_take(ship, 1, file->comm, &box);
    for (int rank = 0; rank < file->size; rank++) {
        struct pl_error own = {0};
        if (!ship_map_has(&ship->setting.map, rank))
            continue;
        box->agent = rank;
        box->command = (int32_t)command;
        box->pieces = 0;
        ship_post(ship, box);
        if (ship_box_wait(ship, box, file->comm, &own) != PL_OK && error->status == PL_OK)
            *error = own;
    }
    ship_boxes_give(ship, &box, 1);
    pthread_rwlock_unlock(&file->ship_lock);
    return error->status;
}

pl_status ship_flush(struct file *file, bool drop, struct pl_error *error)
{
    return ship_holds(file) ? tell_agents(file, drop ? SHIP_DROP : SHIP_FLUSH, error) : PL_OK;
}

static pl_status held_end(struct file *file, int64_t *ret_end, struct pl_error *error)
{
    struct ship_box *box;
    pthread_rwlock_rdlock(&file->ship_lock);
    ship_boxes_take(file->ship, 1, file->comm, &box);
    ship_held_end(file->ship, box, file->comm, ret_end, error);
    ship_boxes_give(file->ship, &box, 1);
    pthread_rwlock_unlock(&file->ship_lock);
    return error->status;
}

pl_status ship_size(struct file *file, int64_t *ret_bytes, struct pl_error *error)
{
    int64_t held = 0;
    if (ship_holds(file) && held_end(file, &held, error)) /* first: what is written meanwhile counts all the same */
        return error->status;
    if (storage_size(file->storage, ret_bytes, error))
        return error->status;
    if (held > *ret_bytes)
        *ret_bytes = held;
    return PL_OK;
}

pl_status ship_size_changed(struct file *file, struct pl_error *error)
{
    return ship_holds(file) ? tell_agents(file, SHIP_RESIZE, error) : PL_OK;
}

/* ---- what a program may learn ---- */

static void count_agents(const struct ship_map *map, int ranks, int *ret_agents)
{
    *ret_agents = 0;
    for (int rank = 0; rank < ranks; rank++)
        *ret_agents += ship_map_has(map, rank);
}

void ship_count_prefetch(struct file *file, struct prefetch_counts *ret_counts, int *ret_ahead)
{
    pthread_mutex_lock(&file->prefetch.lock);
    *ret_counts = file->prefetch.counts;
    *ret_ahead = file->prefetch.ahead;
    pthread_mutex_unlock(&file->prefetch.lock);
}

bool ship_describe(struct file *file, char *ret_text, size_t size)
{
    const struct ship *ship = file->ship;
    if (!ship || !ship->setting.on) {
        const char *reason = ship ? ship->reason : "there was not enough memory";
        snprintf(ret_text, size, "off: %s", reason);
        return ship || strcmp(file->values.strategy, "shipping") == 0;
    }
    int agents;
    count_agents(&ship->setting.map, file->size, &agents);
    snprintf(ret_text, size, "on: %d agents, parts of %lld bytes%s%s", agents, (long long)ship->setting.map.part_bytes,
             ship->setting.partitioned ? ", partitioned" : "", ship->setting.partitioned ? "" : ship->reason);
    return true;
}

void ship_count(struct file *file, struct ship_counts *ret_counts)
{
    struct ship_agent_counts agent = {0};
    struct ship_cache_counts cache = {0};
    *ret_counts = (struct ship_counts){0};
    if (!file->ship)
        return;
    const struct ship_counts *past = &file->ship->past;
    if (file->ship->agent)
        ship_agent_count(file->ship->agent, &agent, &cache);
    *ret_counts = (struct ship_counts){
        .shipped = atomic_load(&file->ship->shipped),
        .served = past->served + agent.boxes,
        .served_pieces = past->served_pieces + agent.pieces,
        .agent_reads = past->agent_reads + agent.reads,
        .agent_writes = past->agent_writes + agent.writes,
        .combined = past->combined + agent.combined,
        .cache_hits = past->cache_hits + cache.hits,
        .cache_misses = past->cache_misses + cache.misses,
        .cache_writes = past->cache_writes + cache.writes,
    };
}
