/* Starting MPI: the moment to refuse combinations that look right and are not. Ending it: nothing of ours goes on.
 * And our own functions, piolet_*: include/piolet/mpiio.h. */
#include "base/text.h"
#include "engine/api/api.h"
#include "engine/aux/aux.h"
#include "engine/control/control.h"
#include "engine/hint/hint.h"
#include "engine/peers/peers.h"
#include "engine/pending/pending.h"
#include "engine/ship/ship.h"
#include "engine/strategy/strategy.h"
#include "mpi/comm.h"
#include "mpi/launcher.h"
#include "mpi/real.h"
#include "mpi/service.h"
#include "mpi/wait.h"
#include "piolet/mpiio.h" /* behind mpi.h: what concerns open files too */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell_hint(const struct hints *hints, const char *name)
{
    char origin[HINT_TEXT_MAX];
    struct text shown = {0};
    if (!hints_went_wrong(hints, name) || !hints_origin(hints, name, origin))
        return;
    text_add_visible(&shown, origin);
    fprintf(stderr, "piolet: warning: hints of the environment: %s: %s\n", name, text_get(&shown));
    text_clear(&shown);
}

/* One rank says what is wrong with the environment: a wrong value changes nothing, and would pass unseen. */
static void check_environment(void)
{
    int rank = 0;
    struct hints *hints;
    struct pl_error ignored;
    if (real.Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS || rank != 0)
        return;
    job_variables_tell();
    if (hints_new_local(&hints, &ignored) != PL_OK)
        return;
    control_check_strategy(hints, NULL);
    tell_hint(hints, "PIOLET_HINTS");
    tell_hint(hints, "ROMIO_HINTS");
    for (int i = 0; hint_row_at(i); i++)
        tell_hint(hints, hint_row_at(i)->name);
    hints_free(hints);
}

static bool begun; /* MPI_COMM_WORLD is there */

/* From here on whoever waits is counted, so that no wait is overlooked when something becomes pending. */
static void api_init_begin(int code)
{
    int size = 1;
    struct pl_error error = {0};
    begun = code == MPI_SUCCESS;
    comm_begin();
    api_hook_install();
    if (code != MPI_SUCCESS || real.Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS ||
        launcher_check(size, "this program", &error) == PL_OK) {
        if (code == MPI_SUCCESS)
            check_environment();
        return;
    }
    fprintf(stderr, "piolet MPI-IO: %s\n", error.text);
    real.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int MPI_Init(int *argc, char ***argv)
{
    struct api api;
    api_begin_free(&api, "MPI_Init");
    aux_start();
    const int level = api_hook_thread_level(MPI_THREAD_SINGLE);
    int provided;
    const int code = level == MPI_THREAD_SINGLE ? real.Init(argc, argv)
                                                : real.Init_thread(argc, argv, level, &provided);
    api_init_begin(code);
    return code;
}
API_ALIAS(Init);

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct api api;
    api_begin_free(&api, "MPI_Init_thread");
    aux_start();
    service_set_program_level(required);
    const int code = real.Init_thread(argc, argv, api_hook_thread_level(required), provided);
    api_init_begin(code);
    return code;
}
API_ALIAS(Init_thread);

/* What is pending goes on until all have come here: nothing of ours does once MPI's own end has begun. */
static void api_init_meet_coll(void)
{
    MPI_Request farewell = MPI_REQUEST_NULL;
    if (begun && real.Ibarrier(MPI_COMM_WORLD, &farewell) == MPI_SUCCESS)
        wait_request(&farewell);
    begun = false;
}

int MPI_Finalize(void)
{
    struct api api;
    api_begin_free(&api, "MPI_Finalize");
    api_init_meet_coll();
    pending_settle(2); /* a file was not closed: what only some ranks have begun never ends */
    service_stop_all_coll();
    pool_stop();
    pending_step();
    api_operations_sweep();
    api_hook_remove();
    aux_stop();
    peers_end_coll();
    return real.Finalize();
}
API_ALIAS(Finalize);

/* ---- What tools ask for ------------------------------------------------------------------------------------------ */

/* What a program can learn of the engine: include/piolet/mpiio.h. */

__attribute__((visibility("default"))) int piolet_hint_at(int index, struct piolet_hint *ret_hint)
{
    const struct hint_row *row = hint_row_at(index);
    if (!row)
        return -1;
    *ret_hint = (struct piolet_hint){.name = row->name,
                                     .default_value = row->default_text,
                                     .allowed = row->allowed,
                                     .help = row->help,
                                     .changeable = row->changeable};
    return 0;
}

/* ---- the parameters of strategies, in words ---- */

static const char *const ORDERS[] = {
    [ORDER_PLAIN] = "all at once, each in the order of the file",
    [ORDER_NODES] = "the ranks of one group, then of the next",
    [ORDER_DATA] = "all ranks, a part of their data at a time",
    [ORDER_RANDOM] = "all at once, each in a random order",
    [ORDER_WINDOW] = "what lies in a window that slides over the file",
    [ORDER_WINDOWS] = "what lies in windows that slide over the file, one for each device",
};
static const char *const TARGETS[] = {
    [TARGET_NONE] = "",
    [TARGET_BLOCK] = "one part of the file for each aggregator",
    [TARGET_CYCLIC] = "blocks of the file in turn",
    [TARGET_LAYOUT] = "blocks of the file in turn, as they lie on devices",
    [TARGET_BOUND] = "blocks of the file in turn, the same for ever",
    [TARGET_FREE] = "whoever is there first",
};
static const char *const AGGREGATORS[] = {
    [AGGREGATORS_NONE] = "",
    [AGGREGATORS_ALL] = "all ranks",
    [AGGREGATORS_PAIR] = "cb_nodes, or two on each node",
    [AGGREGATORS_NODE] = "cb_nodes, or one on each node",
    [AGGREGATORS_DEVICE] = "striping_factor, or cb_nodes, or one on each node",
    [AGGREGATORS_MEMORY] = "cb_nodes, or every rank; between nodes two of each send",
    [AGGREGATORS_AGENTS] = "cb_nodes, or two on each node: threads that also serve one rank's access",
};
static const char *const EXCHANGES[] = {
    [EXCHANGE_NONE] = "",
    [EXCHANGE_PIECES] = "a message for each piece",
    [EXCHANGE_GATHERED] = "one message for each pair and round",
    [EXCHANGE_BROADCAST] = "a tree of messages to all ranks",
    [EXCHANGE_MEMORY] = "memory that the ranks of a node share",
};

__attribute__((visibility("default"))) int piolet_strategy_at(int index, struct piolet_strategy *ret_strategy)
{
    for (int i = 0; i <= index; i++)
        if (!STRATEGIES[i].name)
            return -1;
    if (index < 0)
        return -1;
    const struct strategy *strategy = &STRATEGIES[index];
    *ret_strategy = (struct piolet_strategy){.name = strategy->name,
                                             .summary = strategy->summary,
                                             .order = strategy->target == TARGET_NONE ? ORDERS[strategy->order] : "",
                                             .target = TARGETS[strategy->target],
                                             .agents = AGGREGATORS[strategy->aggregators],
                                             .exchange = EXCHANGES[strategy->exchange]};
    return 0;
}

/* ---- Partitions -------------------------------------------------------------------------------------------------- */

/* File partitioning and counters: include/piolet/mpiio.h. */

#define EXPORTED __attribute__((visibility("default")))

/* A file of the MPI's own has no agents. */
static bool api_partition_begin(struct api *api, const char *function, MPI_File handle)
{
    if (!api_begin(api, function, handle))
        return false;
    if (api->file->is_system)
        pl_fail(&api->error, PL_E_UNSUPPORTED, "the file was opened with piolet_impl=system");
    return api->error.status == PL_OK;
}

/* Nothing may be under way while the parts of the file change hands. */
static bool api_partition_begin_coll(struct api *api, const char *function, MPI_File handle)
{
    if (!api_partition_begin(api, function, handle)) {
        if (!api->file)
            api_without_file(api, false);
        return false;
    }
    if (!api_begin_coll(api))
        return false;
    pending_finish(api->file);
    return true;
}

static int api_partition_turn(const char *function, MPI_File file, bool on)
{
    struct api api;
    if (api_partition_begin_coll(&api, function, file))
        control_partition_coll(api.file, on, &api.error);
    return api_end(&api);
}

EXPORTED int piolet_partition_start(MPI_File file)
{
    return api_partition_turn("piolet_partition_start", file, true);
}

EXPORTED int piolet_partition_stop(MPI_File file)
{
    return api_partition_turn("piolet_partition_stop", file, false);
}

EXPORTED int piolet_partition_map(MPI_File file, long long partition_bytes, int count, const int *agents)
{
    struct api api;
    if (api_partition_begin_coll(&api, "piolet_partition_map", file))
        control_partition_map_coll(api.file, partition_bytes, count, agents, &api.error);
    return api_end(&api);
}

EXPORTED int piolet_counters(MPI_File file, struct piolet_counters *ret_counters, int size)
{
    struct api api;
    if (api_partition_begin(&api, "piolet_counters", file) &&
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
