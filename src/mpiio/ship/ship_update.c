/* Turning shipping on, off or over: all ranks, while nothing is shipped. */
#include "mpiio/mem.h"
#include "mpiio/ship/ship_core.h"

#include <stdio.h>
#include <string.h>

enum {
    AGENTS_EACH_NODE = 2, /* one file takes no more writers at once without losing speed */
    CACHE_BLOCKS_LEAST = 4,
    CACHE_BLOCKS_MOST = 256,
    CACHE_PARTS = 2, /* one is written to while another waits to be written */
    BUFFER_MOST = 16 * SHIP_BOX_BYTES
};

static bool is_wanted(const struct file *file)
{
    return strcmp(file->values.strategy, "shipping") == 0;
}

static int64_t block_bytes(const struct file *file)
{
    return ship_map_block(storage_block_bytes(file->storage));
}

/* ---- the setting ---- */

/* Size and length of the map that holds; from what is the same on all ranks. */
static struct ship_map map_wanted(const struct file *file, const struct ship *ship, bool partitioned)
{
    const int64_t block = block_bytes(file);
    if (partitioned && ship->wanted.count > 0)
        return ship->wanted;
    if (partitioned && ship->started)
        return (struct ship_map){.part_bytes = block, .count = file->size};
    const int64_t usual = (int64_t)AGENTS_EACH_NODE * ship->node.count;
    const int64_t agents = file->values.cb_nodes > 0 ? file->values.cb_nodes : usual;
    return (struct ship_map){.part_bytes = ship_map_part(file->values.io_buffer_size, block),
                             .count = agents < file->size ? (int)agents : file->size};
}

static const char *reason_for_off(const struct file *file, const struct ship *ship)
{
    if (!is_wanted(file))
        return "the strategy is another one";
    if (file->values.largeblock)
        return "IBM_largeblock_io is true";
    if (file->atomic)
        return "the file is in atomic mode";
    return ship->missing;
}

static bool partitions(const struct file *file, const struct ship *ship)
{
    return ship->started || ((file->amode & MPI_MODE_UNIQUE_OPEN) && !ship->stopped);
}

/* The ranks of the map are a copy of its own; NULL with an error where there is no memory. */
static struct ship_setting make_setting(const struct file *file, struct ship *ship, struct pl_error *error)
{
    const char *reason = reason_for_off(file, ship);
    struct ship_setting setting = {.on = !reason};
    snprintf(ship->reason, sizeof ship->reason, "%s", reason ? reason : "");
    if (!setting.on)
        return setting;
    setting.partitioned = partitions(file, ship);
    setting.together = (int)file->values.access_ranges;
    setting.map = map_wanted(file, ship, setting.partitioned);
    const int *given = setting.map.ranks;
    setting.map.ranks = mem_zalloc((size_t)setting.map.count, sizeof *setting.map.ranks);
    if (!setting.map.ranks)
        pl_fail(error, PL_E_NOMEM, "no memory for a list of %d agents", setting.map.count);
    else if (given)
        memcpy(setting.map.ranks, given, (size_t)setting.map.count * sizeof *given);
    else
        ship_map_spread(setting.map.ranks, setting.map.count, file->size);
    return setting;
}

/* ---- agents ---- */

static pl_status make_agent(struct file *file, struct ship *ship, const struct ship_setting *setting,
                            struct pl_error *error)
{
    const int64_t part = setting->map.part_bytes, block = block_bytes(file);
    const struct ship_agent_setup setup = {.segment = ship->segment,
                                           .rank = file->rank,
                                           .place = ship->node.rank,
                                           .node_ranks = ship->node.size,
                                           .comm = ship->comm,
                                           .storage = file->storage,
                                           .prefetch = &file->prefetch,
                                           .block_bytes = block,
                                           .together = setting->together,
                                           .buffer_bytes = part < BUFFER_MOST ? part : BUFFER_MOST};
    if (ship_agent_new(&setup, &ship->agent, error) || !setting->partitioned)
        return error->status;
    const int64_t wanted = part / block > CACHE_BLOCKS_MOST ? CACHE_BLOCKS_MOST : CACHE_PARTS * part / block;
    const int blocks = wanted < CACHE_BLOCKS_LEAST  ? CACHE_BLOCKS_LEAST
                       : wanted > CACHE_BLOCKS_MOST ? CACHE_BLOCKS_MOST
                                                    : (int)wanted;
    struct ship_cache *cache;
    if (ship_cache_new(file->storage, file->readable, block, blocks, &ship->segment->cached_end, &cache, error))
        return error->status;
    ship_agent_set_cache(ship->agent, cache);
    return PL_OK;
}

/* Everything that agents hold is written. All have met before, so that nothing is shipped, and meet again. */
static pl_status flush_coll(struct file *file, struct ship *ship, struct pl_error *error)
{
    struct agree agree;
    if (!ship->setting.partitioned)
        return PL_OK;
    if (ship->agent)
        ship_agent_flush(ship->agent, error);
    return agree_run_coll(&agree, file->comm, file->rank, error, NULL, 0);
}

static void replace_agents_coll(struct file *file, struct ship *ship, struct ship_setting setting)
{
    struct pl_error error = {0};
    struct agree agree;
    ship_count(file, &ship->past);
    ship_agent_free(ship->agent);
    ship->agent = NULL;
    if (ship->node.rank == 0)
        atomic_store(&ship->segment->cached_end, 0);
    if (setting.on && ship_map_has(&setting.map, file->rank))
        make_agent(file, ship, &setting, &error);
    if (agree_run_coll(&agree, file->comm, file->rank, &error, NULL, 0) != PL_OK) {
        setting.on = setting.partitioned = false;
        snprintf(ship->reason, sizeof ship->reason, "%.*s", (int)sizeof ship->reason - 1, error.text);
        ship_agent_free(ship->agent);
        ship->agent = NULL;
    }
    mem_free(ship->setting.map.ranks);
    ship->setting = setting;
}

/* Under the lock: no thread of this rank ships anything. */
static pl_status change_coll(struct file *file, struct pl_error *error)
{
    if (!file->ship)
        ship_open_coll(file);
    struct ship *ship = file->ship;
    if (!ship)
        return PL_OK;
    struct pl_error own = {0};
    struct agree agree;
    struct ship_setting setting = make_setting(file, ship, &own);
    if (agree_run_coll(&agree, file->comm, file->rank, &own, NULL, 0) != PL_OK) { /* no memory: no shipping */
        mem_free(setting.map.ranks);
        setting = (struct ship_setting){.on = false};
        snprintf(ship->reason, sizeof ship->reason, "%.*s", (int)sizeof ship->reason - 1, own.text);
        own.status = PL_OK;
    }
    if (flush_coll(file, ship, &own) != PL_OK) {
        mem_free(setting.map.ranks);
        *error = own;
        return pl_within(error, "data shipping stays as it was");
    }
    replace_agents_coll(file, ship, setting);
    return PL_OK;
}

/* What a change depends on, all of it the same on all ranks: compared without memory, so that all decide alike. */
static bool may_change(const struct file *file)
{
    struct ship *ship = file->ship;
    if (!ship)
        return is_wanted(file);
    const struct ship_setting *now = &ship->setting;
    const bool on = !reason_for_off(file, ship);
    if (on != now->on || !on)
        return on != now->on;
    const bool partitioned = partitions(file, ship);
    const struct ship_map map = map_wanted(file, ship, partitioned);
    if (partitioned != now->partitioned || file->values.access_ranges != now->together ||
        map.part_bytes != now->map.part_bytes || map.count != now->map.count)
        return true;
    return map.ranks && memcmp(map.ranks, now->map.ranks, (size_t)map.count * sizeof *map.ranks) != 0;
}

pl_status ship_update_coll(struct file *file, struct pl_error *error)
{
    if (!may_change(file))
        return PL_OK;
    pthread_rwlock_wrlock(&file->ship_lock);
    change_coll(file, error);
    pthread_rwlock_unlock(&file->ship_lock);
    return error->status;
}
