/* Opening and closing a file, with its auxiliary processes. */
#include "engine/aux/aux.h"
#include "engine/control/control.h"
#include "engine/develop/develop.h"
#include "engine/error/error.h"
#include "engine/fault/fault.h"
#include "engine/mem.h"
#include "engine/peers/peers.h"
#include "engine/ship/ship.h"
#include "engine/strategy/strategy.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Auxiliary processes ----------------------------------------------------------------------------------------- */

/* Auxiliary processes that store what is written collectively: when they take part in a file, and when the ranks wait
 * for them. */

/* In the memory of the node; zeroed before. */
struct invitation {
    atomic_bool claimed, ready; /* some rank introduces the file; it has */
    struct aux_offer offer;
};
_Static_assert(sizeof(struct invitation) <= PEERS_OFFER_BYTES, "an invitation fits into its place");

static void control_auxiliary_refuse(struct file *file, const char *why)
{
    snprintf(file->auxiliary_text, sizeof file->auxiliary_text, "none: %.*s", (int)sizeof file->auxiliary_text - 8,
             why);
}

static const char *control_auxiliary_obstacle(const struct file *file, const void *place)
{
    if (file->amode & MPI_MODE_RDONLY)
        return "the file is only read";
    if (file->size == 1)
        return "the file has one rank";
    /* Another node's processes would store data of this rank, and nothing here could wait for them. */
    if (file->node.count > 1)
        return "the ranks are on several nodes";
    return place ? aux_why_not() : "the ranks of the node cannot share memory";
}

bool control_offer_auxiliary(struct file *file, void *place)
{
    struct invitation *invitation = place;
    const char *why_not = control_auxiliary_obstacle(file, place);
    if (why_not) {
        control_auxiliary_refuse(file, why_not);
        return false;
    }
    assert(place && !file->aux);
    struct pl_error error;
    if (atomic_exchange(&invitation->claimed, true))
        return false; /* another rank of the node does it */
    if (aux_open(file->storage, file->readable, file->comm, &file->aux, &invitation->offer, &error) != PL_OK) {
        control_auxiliary_refuse(file, error.text);
        return false;
    }
    atomic_store(&invitation->ready, true);
    return true;
}

/* All ranks of a node take part, or none: one that does not would not know what it has to wait for. */
void control_join_auxiliary_coll(struct file *file, const void *place)
{
    const struct invitation *invitation = place;
    struct pl_error error = {0}, none = {0};
    if (invitation && atomic_load(&invitation->ready) && !file->aux)
        aux_join(&invitation->offer, &file->aux, &error);
    struct agree agree;
    const int64_t joined = error.status == PL_OK;
    agree_run_coll(&agree, file->comm, file->rank, &none, &joined, 1);
    if (agree_least(&agree, 0) == 0) {
        control_close_auxiliary(file);
        aux_free(file->aux);
        file->aux = NULL;
        control_auxiliary_refuse(file, joined ? "a rank cannot reach them" : error.text);
    } else if (file->aux) {
        aux_describe(file->aux, file->auxiliary_text, sizeof file->auxiliary_text);
    }
}

void control_close_auxiliary(struct file *file)
{
    if (!file->aux)
        return;
    aux_settle(file->aux, file->comm);
    aux_close(file->aux, file->comm);
    file_hear_auxiliary(file);
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

/* ---- hints ---- */

/* The first meeting: by the communicator that all files of these ranks have in common. On success kit_values are what
 * peers_take_coll() wants. */
static pl_status agree_on_arguments_coll(struct file *file, struct peers *peers, int64_t kit_values[PEERS_VALUES],
                                         struct pl_error *error)
{
    enum { AMODE, AMODE_MOST, DIGEST, DIGEST_MOST, DEVELOP, KITS, VALUES = KITS + PEERS_VALUES };
    int64_t values[VALUES] = {file->amode, -(int64_t)file->amode, 0, 0, develop_is_wanted() ? -1 : 0};
    if (file->hints) {
        values[DIGEST] = (int64_t)(hints_digest(file->hints) >> 1);
        values[DIGEST_MOST] = -values[DIGEST];
    }
    peers_bring(peers, values + KITS);
    struct agree agree;
    if (agree_run_coll(&agree, peers_comm(peers), file->rank, error, values, VALUES))
        return error->status;
    for (int i = 0; i < PEERS_VALUES; i++)
        kit_values[i] = agree_least(&agree, KITS + i);
    if (agree_least(&agree, AMODE) != -agree_least(&agree, AMODE_MOST))
        return pl_fail(error, PL_E_NOT_SAME, "the ranks give different access modes");
    if (agree_least(&agree, DIGEST) != -agree_least(&agree, DIGEST_MOST))
        hints_share_coll(file->hints,
                         peers_comm(peers)); /* what makes ranks work together must not differ: rank 0's hold */
    control_take_values(file);
    file->develop = file->size > 1 && agree_least(&agree, DEVELOP) < 0;
    return PL_OK;
}

/* ---- the storage ---- */

static pl_status try_open(struct file *file, const char *path, int flags, mode_t mode, struct pl_error *error)
{
    assert(!file->storage);
    error->status = PL_OK; /* an attempt before may have failed */
    return storage_open(path, flags | O_CLOEXEC, mode, &file->storage, error);
}

/* Writing needs reading too, where gaps are to be kept; the file may forbid it. */
static pl_status open_plain(struct file *file, const char *path, int extra, mode_t mode, struct pl_error *error)
{
    const bool reads = file->amode & MPI_MODE_RDONLY;
    pl_status status = try_open(file, path, (reads ? O_RDONLY : O_RDWR) | extra, mode, error);
    file->readable = status == PL_OK;
    if (status == PL_E_ACCESS && (file->amode & MPI_MODE_WRONLY))
        status = try_open(file, path, O_WRONLY | extra, mode, error);
    return status;
}

/* Rank 0 opens first, and knows whether it has made the file. */
static pl_status open_first(struct file *file, const char *path, bool *ret_created, struct pl_error *error)
{
    enum { TRIES = 10 }; /* another job may make or remove the file in between */
    const mode_t mode = file->values.file_perm >= 0 ? (mode_t)file->values.file_perm : 0666;
    *ret_created = false;
    pl_status status = PL_OK;
    for (int i = 0; i < TRIES; i++) {
        if (!(file->amode & MPI_MODE_EXCL) || !(file->amode & MPI_MODE_CREATE)) {
            status = open_plain(file, path, 0, 0, error);
            if (status != PL_E_NO_SUCH_FILE || !(file->amode & MPI_MODE_CREATE))
                return status;
        }
        status = open_plain(file, path, O_CREAT | O_EXCL, mode, error);
        *ret_created = status == PL_OK;
        if (status != PL_E_EXISTS || (file->amode & MPI_MODE_EXCL))
            return status;
    }
    return status;
}

/* Rank 0 opens, and all learn whether that went well; *ret_size is the file's size where it matters. */
static pl_status open_first_coll(struct file *file, bool *ret_created, int64_t *ret_size, struct pl_error *error)
{
    int64_t size = INT64_MAX;
    *ret_created = false;
    if (file->rank == 0 && open_first(file, file->name, ret_created, error) == PL_OK) {
        size = 0;
        if (file->amode & MPI_MODE_APPEND)
            storage_size(file->storage, &size, error);
    }
    struct agree agree;
    const pl_status status = agree_run_coll(&agree, file->comm, file->rank, error, &size, 1);
    *ret_size = agree_least(&agree, 0);
    return status;
}

/* ---- the whole ---- */

/* What a rank can do alone before the ranks meet. */
static pl_status control_open_begin(struct file *file, const char *name, MPI_Info info, struct pl_error *error)
{
    int rank;
    real.Comm_rank(MPI_COMM_WORLD, &rank);
    if (error->status != PL_OK || fault_plan_load(getenv("PIOLET_FAULTS"), rank, error))
        return error->status;
    file->name = mem_strdup(storage_path(name));
    if (!file->name)
        return pl_fail(error, PL_E_NOMEM, "no memory for a file's name");
    if (hints_new(info, &file->hints, error))
        return error->status;
    control_check_strategy(file->hints, NULL);
    return PL_OK;
}

/* What the file has of its kit until it is closed. */
static void take_kit(struct file *file, struct peers_kit *kit)
{
    file->kit = kit;
    file->comm = kit->comm;
    file->node = kit->node;
    file->shared = &kit->shared;
    file->order = &kit->order;
    file->ring = kit->ring;
}

static void set_up_rest_coll(struct file *file, int64_t size, struct pl_error *error)
{
    assert(size >= 0);
    if (file->develop)
        develop_track_open_coll(file);
    if (error->status == PL_OK && view_new_bytes(&file->view, error) == PL_OK && (file->amode & MPI_MODE_APPEND)) {
        file->position = size;
        if (file->rank == 0)
            shared_prepare(file->shared, size, error);
    }
}

static void choose_first(struct file *file)
{
    const struct strategy_facts facts = {.ranks = file->size,
                                         .piece_bytes = INT64_MAX,
                                         .monotone = true,
                                         .shares = file->ring != NULL,
                                         .refused = file->node.refused,
                                         .scarce = file->node.scarce,
                                         .hints = &file->values};
    control_choose(file, &facts);
    file->lock_writes = file_may_sieve_writes(file) && file->writing->agreement != AGREE_LATER;
}

static void let_go_coll(struct file *file)
{
    aux_free(file->aux);
    file->aux = NULL;
    develop_track_close(file);
    peers_give_back_coll(file->kit);
    file->kit = NULL;
    file->ring = NULL;
    file->shared = NULL;
    file->order = NULL;
    file->comm = MPI_COMM_NULL;
    view_unref(file->view);
    hints_free(file->hints);
    mem_free(file->memory.bytes);
    file->memory = (struct file_memory){0};
    mem_free(file->spare);
    file->spare = NULL;
    mem_free(file->name);
    log_close(file->log);
    file->view = NULL;
    file->hints = NULL;
    file->name = NULL;
    file->log = NULL;
    pthread_mutex_destroy(&file->lock);
    pthread_rwlock_destroy(&file->ship_lock);
    prefetch_memory_clear(&file->prefetch);
}

/* What an open that failed has done already. */
static void undo_open(struct file *file, bool created)
{
    struct pl_error ignored;
    control_close_auxiliary(file);
    storage_close(file->storage, &ignored);
    file->storage = NULL;
    if (created)
        storage_unlink(file->name, &ignored);
}

static void open_log(struct file *file)
{
    int rank;
    real.Comm_rank(MPI_COMM_WORLD, &rank);
    file->log = log_open((uint64_t)getppid(), rank,
                         file->name); /* the launcher's: the same for a job, another for the next */
}

/* An exchange by messages takes up to 17 times as much on an aggregator: not much more than a quarter of what is left.
 */
static int64_t buffer_affordable(const struct node *node)
{
    const uint64_t part = node->left / 64, least = 64 << 10;
    if (part > INT64_MAX / 2)
        return INT64_MAX;
    return (int64_t)(part > least ? part : least);
}

static pl_status open_ours_coll(struct file *file, struct pl_error *error)
{
    bool created;
    int64_t size;
    if (open_first_coll(file, &created, &size, error)) {
        undo_open(file, created);
        return error->status;
    }
    if (file->rank != 0)
        open_plain(file, file->name, 0, 0, error);
    set_up_rest_coll(file, size, error);
    enum { OFFERS, MAP_BYTES, BUFFER, VALUES };
    struct agree agree;
    int64_t values[VALUES] = {[BUFFER] = buffer_affordable(&file->node)};
    if (error->status == PL_OK) {
        values[OFFERS] = control_offer_auxiliary(file, file->kit->offer) ? -1 : 0;
        values[MAP_BYTES] = control_map_budget(file);
    }
    if (agree_run_coll(&agree, file->comm, file->rank, error, values, VALUES)) {
        undo_open(file, created);
        return error->status;
    }
    control_map_apply(file, agree_least(&agree, MAP_BYTES));
    file->buffer_most = agree_least(&agree, BUFFER);
    assert(file->buffer_most > 0);
    assert(file->storage && file->view);
    control_take_values(file);
    if (agree_least(&agree, OFFERS) < 0)
        control_join_auxiliary_coll(file, file->kit->offer);
    if (file->amode & MPI_MODE_APPEND)
        shared_turn(file->shared);
    choose_first(file);
    file->late_rank = INT64_MAX;
    open_log(file);
    return ship_update_coll(file, error); /* nothing can be held yet: it does not fail */
}

static void open_with_coll(struct file *file, struct peers *peers, const char *name, MPI_Info info,
                           struct pl_error *error)
{
    struct peers_kit *kit;
    int64_t kit_values[PEERS_VALUES];
    file->rank = peers_rank(peers);
    file->size = peers_size(peers);
    assert(file->rank >= 0 && file->rank < file->size);
    control_open_begin(file, name, info, error);
    if (agree_on_arguments_coll(file, peers, kit_values, error) != PL_OK)
        return;
    file->is_system = file->values.impl == HINT_IMPL_SYSTEM;
    if (file->is_system || peers_take_coll(peers, kit_values, &kit, error) != PL_OK)
        return;
    take_kit(file, kit);
    open_ours_coll(file, error);
}

pl_status control_open_coll(MPI_Comm comm, const char *name, int amode, MPI_Info info, const struct pl_error *own,
                            struct file *file, struct pl_error *error)
{
    file->amode = amode;
    file->buffer_most = INT64_MAX;
    file->system = MPI_FILE_NULL;
    file->comm = MPI_COMM_NULL;
    pthread_mutex_init(&file->lock, NULL);
    pthread_rwlock_init(&file->ship_lock, NULL);
    prefetch_memory_init(&file->prefetch);
    struct peers *peers = NULL;
    if (peers_find_coll(comm, &peers, error) != PL_OK) {
        let_go_coll(file);
        return error->status;
    }
    *error = *own;
    open_with_coll(file, peers, name, info, error);
    if (error->status != PL_OK || file->is_system)
        let_go_coll(file);
    peers_unref_coll(peers);
    return error->status;
}

pl_status control_close_coll(struct file *file, struct pl_error *error)
{
    assert(file->comm != MPI_COMM_NULL && file->storage);
    assert(!file->queue && atomic_load(&file->together) == 0);
    struct pl_error own = {0};
    control_close_auxiliary(file);
    ship_close_coll(file, error);
    if (storage_close(file->storage, &own) != PL_OK && error->status == PL_OK)
        *error = own;
    file->storage = NULL;
    struct agree agree;
    if (control_agree_coll(file, &agree, NULL, 0, error) == PL_OK)
        control_tell_late_coll(file, error);
    if (file->amode & MPI_MODE_DELETE_ON_CLOSE) { /* nobody has it open any more */
        own.status = PL_OK;
        if (file->rank == 0)
            storage_unlink(file->name, &own);
        if (agree_run_coll(&agree, file->comm, file->rank, &own, NULL, 0) != PL_OK && error->status == PL_OK)
            *error = own;
    }
    let_go_coll(file);
    return error->status;
}
