/* What the ranks share for shipping: memory on each node, and a communicator where there are several. And turning it
 * on, off or over. */
#include "engine/error/error.h"
#include "engine/mem.h"
#include "engine/ship/ship_core.h"
#include "mpi/comm.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* ---- memory ---- */

/* A rank that shares memory with nobody is a node of its own. */
static void ship_open_stand_alone(struct node *node)
{
    node_close(node);
    node->rank = 0;
    node->size = 1;
    node->bytes = ship_segment_bytes(1);
    void *memory = mmap(NULL, node->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    node->segment = memory == MAP_FAILED ? NULL : memory;
}

static pl_status open_memory_coll(const struct file *file, struct node *ret_node, struct pl_error *error)
{
    const size_t bytes = ship_segment_bytes(file->node.size);
    node_open_coll(file->comm, file->rank, file->size, &bytes, 1, ret_node);
    if (!ret_node->segment || ret_node->size != file->node.size)
        ship_open_stand_alone(ret_node);
    if (!ret_node->segment)
        return pl_fail(error, PL_E_NOMEM, "no memory for the boxes of data shipping");
    struct ship_segment *segment = ret_node->segment;
    atomic_store(&segment->bells[ret_node->rank].rank, file->rank);
    return PL_OK;
}

/* ---- messages ---- */

enum { LEVEL_STARVES = -1 };

/* Seen with MPICH 4.0.2: threads of the program that wait in MPI keep its one lock so busy that an agent may get no
 * answer through for a minute. */
static int64_t usable_level(int level)
{
    return !PIOLET_IS_OPENMPI && service_program_level() == MPI_THREAD_MULTIPLE ? LEVEL_STARVES : level;
}

static const char *what_is_missing(const struct node *node, int64_t least_level)
{
    if (node->alone || least_level == MPI_THREAD_MULTIPLE)
        return NULL;
    if (least_level == LEVEL_STARVES)
        return "the ranks are on several nodes, and several threads of the program call MPI: MPICH lets agents starve "
               "then";
    return node->count > 1 ? "the ranks are on several nodes, and the MPI was not initialised with MPI_THREAD_MULTIPLE"
                           : "the ranks cannot share memory, and the MPI was not initialised with MPI_THREAD_MULTIPLE";
}

static pl_status open_messages_coll(const struct file *file, MPI_Comm *ret_comm, struct pl_error *error)
{
    const int code = comm_dup_coll(file->comm, ret_comm);
    if (code == MPI_SUCCESS)
        return PL_OK;
    return error_from_mpi(code, "duplicating the communicator for data shipping", error);
}

/* ---- opening and closing ---- */

static void free_coll(struct ship *ship)
{
    service_end(&ship->service);
    ship_agent_free(ship->agent);
    wait_enter();
    if (ship->comm != MPI_COMM_NULL)
        real.Comm_free(&ship->comm);
    wait_leave();
    node_close(&ship->node);
    pthread_mutex_destroy(&ship->lock);
    mem_free(ship->setting.map.ranks);
    mem_free(ship->wanted.ranks);
    mem_free(ship);
}

/* MPI ends, and the file is still open. */
static void ship_open_stop(void *arg)
{
    struct ship *ship = arg;
    struct pl_error lost = {0}; /* nobody is left to be told */
    if (ship->agent)
        ship_agent_flush(ship->agent, &lost);
    ship_agent_free(ship->agent);
    ship->agent = NULL;
}

static void ship_open_init(struct ship *ship, const struct node *node)
{
    assert(node->segment && node->rank >= 0 && node->rank < node->size);
    pthread_mutex_init(&ship->lock, NULL);
    ship->node = *node;
    ship->segment = node->segment;
    ship->comm = MPI_COMM_NULL;
    atomic_init(&ship->free, SHIP_BOXES);
    for (int i = 0; i < SHIP_BOXES; i++)
        ship_segment_box(ship->segment, node->size, node->rank, i)->index = i;
}

void ship_open_coll(struct file *file)
{
    assert(!file->ship);
    struct pl_error error = {0};
    struct node node = {0};
    struct agree agree;
    int level = MPI_THREAD_SINGLE;
    struct ship *ship = mem_zalloc(1, sizeof *ship);
    if (!ship)
        pl_fail(&error, PL_E_NOMEM, "no memory for data shipping");
    open_memory_coll(file, &node, &error);
    real.Query_thread(&level);
    const int64_t mine = usable_level(level);
    if (agree_run_coll(&agree, file->comm, file->rank, &error, &mine, 1) != PL_OK || !ship) { /* on all ranks */
        node_close(&node);
        mem_free(ship);
        return;
    }
    ship_open_init(ship, &node);
    ship->missing = what_is_missing(&node, agree_least(&agree, 0));
    if (!node.alone && !ship->missing)
        open_messages_coll(file, &ship->comm, &error);
    if (agree_run_coll(&agree, file->comm, file->rank, &error, NULL, 0) != PL_OK) {
        free_coll(ship);
        return;
    }
    if (ship->comm != MPI_COMM_NULL) {
        ship->service = (struct service){.comm = ship->comm, .stop = ship_open_stop, .arg = ship};
        service_begin(&ship->service);
    }
    file->ship = ship;
}

pl_status ship_close_coll(struct file *file, struct pl_error *error)
{
    struct ship *ship = file->ship;
    if (!ship)
        return PL_OK;
    struct agree agree;
    struct pl_error own = {0};
    agree_run_coll(&agree, file->comm, file->rank, &own, NULL, 0); /* nobody ships any more */
    if (ship->agent && ship_agent_flush(ship->agent, &own) != PL_OK && error->status == PL_OK)
        *error = own;
    free_coll(ship);
    file->ship = NULL;
    return error->status;
}

/* ---- On, off and over -------------------------------------------------------------------------------------------- */

/* Turning shipping on, off or over: all ranks, while nothing is shipped. */

enum {
    AGENTS_EACH_NODE = 2, /* one file takes no more writers at once without losing speed */
    CACHE_BLOCKS_LEAST = 4,
    CACHE_BLOCKS_MOST = 256,
    CACHE_PARTS = 2, /* one is written to while another waits to be written */
    BUFFER_MOST = 16 * SHIP_BOX_BYTES
};

static bool ship_update_is_wanted(const struct file *file)
{
    return strcmp(file->values.strategy, "shipping") == 0;
}

static int64_t ship_update_block_bytes(const struct file *file)
{
    return ship_map_block(storage_block_bytes(file->storage));
}

/* ---- the setting ---- */

/* Size and length of the map that holds; from what is the same on all ranks. */
static struct ship_map map_wanted(const struct file *file, const struct ship *ship, bool partitioned)
{
    const int64_t block = ship_update_block_bytes(file);
    if (partitioned && ship->wanted.count > 0)
        return ship->wanted;
    if (partitioned && ship->parts == SHIP_PARTS_STARTED)
        return (struct ship_map){.part_bytes = block, .count = file->size};
    const int64_t usual = (int64_t)AGENTS_EACH_NODE * ship->node.count;
    const int64_t agents = file->values.cb_nodes > 0 ? file->values.cb_nodes : usual;
    return (struct ship_map){.part_bytes = ship_map_part(file->values.io_buffer_size, block),
                             .count = agents < file->size ? (int)agents : file->size};
}

static const char *reason_for_off(const struct file *file, const struct ship *ship)
{
    if (!ship_update_is_wanted(file))
        return "the strategy is another one";
    if (file->values.largeblock)
        return "IBM_largeblock_io is true";
    if (file->atomic)
        return "the file is in atomic mode";
    return ship->missing;
}

static bool ship_update_partitions(const struct file *file, const struct ship *ship)
{
    if (ship->parts == SHIP_PARTS_AS_OPENED)
        return file->amode & MPI_MODE_UNIQUE_OPEN;
    return ship->parts == SHIP_PARTS_STARTED;
}

/* The ranks of the map are a copy of its own; NULL with an error where there is no memory. */
static struct ship_setting make_setting(const struct file *file, struct ship *ship, struct pl_error *error)
{
    const char *reason = reason_for_off(file, ship);
    struct ship_setting setting = {.on = !reason};
    snprintf(ship->reason, sizeof ship->reason, "%s", reason ? reason : "");
    if (!setting.on)
        return setting;
    setting.partitioned = ship_update_partitions(file, ship);
    setting.together = (int)file->values.access_ranges;
    setting.map = map_wanted(file, ship, setting.partitioned);
    const int *given = setting.map.ranks;
    assert(setting.map.count > 0 && setting.map.part_bytes > 0);
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
    assert(!ship->agent && setting->on);
    const int64_t part = setting->map.part_bytes, block = ship_update_block_bytes(file);
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
static pl_status ship_update_flush_coll(struct file *file, struct ship *ship, struct pl_error *error)
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
    if (ship_update_flush_coll(file, ship, &own) != PL_OK) {
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
        return ship_update_is_wanted(file);
    const struct ship_setting *now = &ship->setting;
    const bool on = !reason_for_off(file, ship);
    if (on != now->on || !on)
        return on != now->on;
    const bool partitioned = ship_update_partitions(file, ship);
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
