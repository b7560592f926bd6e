/* Files that the program partitions itself: start, map, stop. The agents of data shipping keep their blocks meanwhile.
 */
#include "engine/control/control.h"
#include "engine/mem.h"
#include "engine/ship/ship_core.h"

#include <stdio.h>
#include <string.h>

static pl_status control_partition_refuse(const struct file *file, struct pl_error *error)
{
    const struct ship *ship = file->ship;
    return pl_fail(error, ship ? PL_E_UNSUPPORTED : PL_E_NOMEM, "the file cannot be partitioned: %s",
                   ship ? ship->reason : "not enough memory");
}

/* Back to how collective access was done before the start. */
static pl_status give_back_strategy_coll(struct file *file, struct pl_error *error)
{
    struct ship *ship = file->ship;
    if (!ship || !*ship->strategy)
        return PL_OK;
    char name[sizeof ship->strategy];
    memcpy(name, ship->strategy, sizeof name);
    ship->strategy[0] = '\0';
    return control_set_strategy_coll(file, name, error);
}

static pl_status control_partition_start_coll(struct file *file, struct pl_error *error)
{
    char before[sizeof file->values.strategy];
    memcpy(before, file->values.strategy, sizeof before);
    const bool changes = strcmp(before, "shipping") != 0;
    if (changes && control_set_strategy_coll(file, "shipping", error))
        return error->status;
    if (ship_update_coll(file, error)) /* there is a struct ship now, if there can be one */
        return error->status;
    struct ship *ship = file->ship;
    if (ship) {
        if (changes)
            snprintf(ship->strategy, sizeof ship->strategy, "%s", before);
        const enum ship_parts parts = ship->parts;
        ship->parts = SHIP_PARTS_STARTED;
        if (ship_update_coll(file, error) == PL_OK && ship->setting.partitioned)
            return PL_OK;
        ship->parts = parts;
    }
    struct pl_error own = *error;
    if (own.status == PL_OK)
        control_partition_refuse(file, &own);
    if (changes && ship)
        give_back_strategy_coll(file, error);
    else if (changes)
        control_set_strategy_coll(file, before, error);
    *error = own;
    return error->status;
}

static pl_status stop_coll(struct file *file, struct pl_error *error)
{
    struct ship *ship = file->ship;
    if (!ship || !ship->setting.partitioned)
        return pl_fail(error, PL_E_ARG, "the file is not partitioned");
    const enum ship_parts parts = ship->parts;
    struct ship_map map = ship->wanted;
    ship->parts = SHIP_PARTS_STOPPED;
    ship->wanted = (struct ship_map){0};
    if (ship_update_coll(file, error)) { /* agents could not write what they hold: the mode goes on */
        ship->parts = parts;
        ship->wanted = map;
        return error->status;
    }
    mem_free(map.ranks);
    return give_back_strategy_coll(file, error) == PL_OK ? ship_update_coll(file, error) : error->status;
}

pl_status control_partition_coll(struct file *file, bool on, struct pl_error *error)
{
    struct agree agree;
    const int64_t values[2] = {on, -(int64_t)on};
    if (control_agree_coll(file, &agree, values, 2, error))
        return error->status;
    if (agree_least(&agree, 0) != -agree_least(&agree, 1))
        return pl_fail(error, PL_E_NOT_SAME, "some ranks start partitioning and others stop it");
    const pl_status status = on ? control_partition_start_coll(file, error) : stop_coll(file, error);
    return status == PL_OK ? control_tell_late_coll(file, error) : status;
}

/* ---- map ---- */

static pl_status check_map(const struct file *file, int64_t part_bytes, int count, const int *agents,
                           struct pl_error *error)
{
    if (error->status != PL_OK)
        return error->status;
    if (!file->ship || !file->ship->setting.partitioned)
        return pl_fail(error, PL_E_ARG, "the file is not partitioned");
    if (part_bytes < 0)
        return pl_fail(error, PL_E_ARG, "the partition size is %lld; allowed: 0 and above", (long long)part_bytes);
    if (count < 0 || (count > 0 && !agents))
        return pl_fail(error, PL_E_ARG, "the list of agents is missing or has a negative length");
    for (int i = 0; i < count; i++)
        if (agents[i] < 0 || agents[i] >= file->size)
            return pl_fail(error, PL_E_ARG, "agent %d of the list is rank %d; allowed: 0 to %d", i, agents[i],
                           file->size - 1);
    return PL_OK;
}

static pl_status copy_map(const struct file *file, int64_t part_bytes, int count, const int *agents,
                          struct ship_map *ret_map, struct pl_error *error)
{
    const int64_t block = ship_map_block(storage_block_bytes(file->storage));
    ret_map->part_bytes = ship_map_part(part_bytes > 0 ? part_bytes : block, block);
    ret_map->count = count > 0 ? count : file->size;
    ret_map->ranks = mem_zalloc((size_t)ret_map->count, sizeof *ret_map->ranks);
    if (!ret_map->ranks)
        return pl_fail(error, PL_E_NOMEM, "no memory for a list of %d agents", ret_map->count);
    if (count > 0)
        memcpy(ret_map->ranks, agents, (size_t)count * sizeof *agents);
    else
        ship_map_spread(ret_map->ranks, ret_map->count, file->size);
    return PL_OK;
}

static int64_t control_partition_digest(const struct ship_map *map)
{
    uint64_t sum = 14695981039346656037u ^ (uint64_t)map->part_bytes; /* FNV-1a: enough to tell lists apart */
    for (int i = 0; map->ranks && i < map->count; i++)
        sum = (sum ^ (uint64_t)map->ranks[i]) * 1099511628211u;
    return (int64_t)(((sum ^ (uint64_t)map->count) * 1099511628211u) >> 1);
}

pl_status control_partition_map_coll(struct file *file, int64_t part_bytes, int count, const int *agents,
                                     struct pl_error *error)
{
    struct ship_map map = {0};
    struct agree agree;
    if (check_map(file, part_bytes, count, agents, error) == PL_OK)
        copy_map(file, part_bytes, count, agents, &map, error);
    const int64_t values[2] = {control_partition_digest(&map), -control_partition_digest(&map)};
    if (control_agree_coll(file, &agree, values, 2, error) == PL_OK &&
        agree_least(&agree, 0) != -agree_least(&agree, 1))
        pl_fail(error, PL_E_NOT_SAME, "the ranks give different partitions");
    if (error->status != PL_OK) {
        mem_free(map.ranks);
        return error->status;
    }
    const struct ship_map before = file->ship->wanted;
    file->ship->wanted = map;
    if (ship_update_coll(file, error)) {
        file->ship->wanted = before;
        mem_free(map.ranks);
        return error->status;
    }
    mem_free(before.ranks);
    if (!file->ship->setting.partitioned)
        return control_partition_refuse(file, error);
    return control_tell_late_coll(file, error);
}
