#include "mpiio/file/file.h"

#include "mpi/comm.h"
#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/aux/aux.h"
#include "mpiio/develop/develop.h"
#include "mpiio/develop/develop_track.h"
#include "mpiio/error/error.h"
#include "mpiio/mem.h"
#include "mpiio/ring/ring_port.h"
#include "mpiio/ship/ship.h"
#include "mpiio/storage/fault.h"
#include "mpiio/strategy/strategy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- hints ---- */

static pl_status agree_on_arguments_coll(struct file *file, struct pl_error *error)
{
    enum { AMODE, AMODE_MOST, DIGEST, DIGEST_MOST, DEVELOP, VALUES };
    int64_t values[VALUES] = {file->amode, -(int64_t)file->amode, 0, 0, develop_is_wanted() ? -1 : 0};
    if (file->hints) {
        values[DIGEST] = (int64_t)(hints_digest(file->hints) >> 1);
        values[DIGEST_MOST] = -values[DIGEST];
    }
    struct agree agree;
    if (agree_run_coll(&agree, file->comm, file->rank, error, values, VALUES))
        return error->status;
    if (agree_least(&agree, AMODE) != -agree_least(&agree, AMODE_MOST))
        return pl_fail(error, PL_E_NOT_SAME, "the ranks give different access modes");
    if (agree_least(&agree, DIGEST) != -agree_least(&agree, DIGEST_MOST))
        hints_share_coll(file->hints, file->comm); /* what makes ranks work together must not differ: rank 0's hold */
    file_take_values(file);
    file->develop = file->size > 1 && agree_least(&agree, DEVELOP) < 0;
    return PL_OK;
}

/* ---- the storage ---- */

static pl_status try_open(struct file *file, const char *path, int flags, mode_t mode, struct pl_error *error)
{
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
static pl_status begin(struct file *file, const char *name, MPI_Info info, struct pl_error *error)
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
    file_check_strategy(file->hints, NULL);
    return PL_OK;
}

/* The node's segment: the shared file pointer and the offer of auxiliary processes lie in the first page, behind it
 * what finds the order of the ranks, and then the ring. */
enum { OFFER_AT = 2048, POINTER_BYTES = 4096 };
_Static_assert(OFFER_AT + FILE_AUXILIARY_BYTES <= POINTER_BYTES, "the offer fits into the first page");

static void *offer_place(const struct file *file)
{
    return file->node.segment ? (char *)file->node.segment + OFFER_AT : NULL;
}

static size_t ring_place(int ranks)
{
    const size_t order = shared_order_bytes(ranks);
    return POINTER_BYTES + (order + POINTER_BYTES - 1) / POINTER_BYTES * POINTER_BYTES;
}

/* Less room for the ring, each time by half, where little memory is left. */
enum { SEGMENT_SIZES = 11 };
_Static_assert(RING_CAPACITY_MAX >> (SEGMENT_SIZES - 1) == RING_CAPACITY_MIN, "the last is the least");

static void open_node_coll(struct file *file)
{
    size_t sizes[SEGMENT_SIZES];
    for (int i = 0; i < SEGMENT_SIZES; i++)
        sizes[i] = ring_place(file->size) + ring_segment_bytes(file->size, file->size, RING_CAPACITY_MAX >> i);
    node_open_coll(file->comm, file->rank, file->size, sizes, SEGMENT_SIZES, &file->node);
}

static void set_up_rest_coll(struct file *file, int64_t size, struct pl_error *error)
{
    open_node_coll(file);
    const struct node *node = &file->node;
    struct pl_error own = {0};
    shared_open_coll(&file->shared, node, node->segment, file->comm, file->rank, &own);
    shared_order_open(&file->order, node->alone ? (char *)node->segment + POINTER_BYTES : NULL, file->rank, file->size);
    if (node->everywhere)
        ring_new((char *)node->segment + ring_place(file->size), RING_CAPACITY_MAX >> node->choice, node->rank,
                 node->size, node->count, &file->ring, &own);
    if (node->everywhere && node->count > 1)
        ring_port_open_coll(file->ring, file->comm, node, &own);
    if (file->develop)
        develop_track_open_coll(file);
    if (own.status != PL_OK && error->status == PL_OK)
        *error = own;
    if (error->status == PL_OK && view_new_bytes(&file->view, error) == PL_OK && (file->amode & MPI_MODE_APPEND)) {
        file->position = size;
        if (file->rank == 0)
            shared_prepare(&file->shared, size, error);
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
    file_choose(file, &facts);
    file->lock_writes = file_may_sieve_writes(file) && file->writing->exchanges;
}

static void let_go_coll(struct file *file)
{
    shared_close_coll(&file->shared);
    ring_free(file->ring);
    file->ring = NULL;
    aux_free(file->aux);
    file->aux = NULL;
    develop_track_close(file);
    node_close(&file->node);
    wait_enter();
    if (file->comm != MPI_COMM_NULL)
        real.Comm_free(&file->comm);
    wait_leave();
    view_unref(file->view);
    hints_free(file->hints);
    exchange_memory_clear(&file->memory);
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

static void give_back_coll(struct file *file, bool created)
{
    struct pl_error ignored;
    file_close_auxiliary(file);
    storage_close(file->storage, &ignored);
    if (created)
        storage_unlink(file->name, &ignored);
    let_go_coll(file);
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
        give_back_coll(file, created);
        return error->status;
    }
    if (file->rank != 0)
        open_plain(file, file->name, 0, 0, error);
    set_up_rest_coll(file, size, error);
    enum { OFFERS, MAP_BYTES, BUFFER, VALUES };
    struct agree agree;
    int64_t values[VALUES] = {[BUFFER] = buffer_affordable(&file->node)};
    if (error->status == PL_OK) {
        values[OFFERS] = file_offer_auxiliary(file, offer_place(file)) ? -1 : 0;
        values[MAP_BYTES] = file_map_budget(file);
    }
    if (agree_run_coll(&agree, file->comm, file->rank, error, values, VALUES)) {
        give_back_coll(file, created);
        return error->status;
    }
    file_map_apply(file, agree_least(&agree, MAP_BYTES));
    file->buffer_most = agree_least(&agree, BUFFER);
    file_take_values(file);
    if (agree_least(&agree, OFFERS) < 0)
        file_join_auxiliary_coll(file, offer_place(file));
    if (file->amode & MPI_MODE_APPEND)
        shared_turn(&file->shared);
    choose_first(file);
    file->late_rank = INT64_MAX;
    open_log(file);
    return ship_update_coll(file, error); /* nothing can be held yet: it does not fail */
}

pl_status file_open_coll(MPI_Comm comm, const char *name, int amode, MPI_Info info, const struct pl_error *own,
                         struct file *file, struct pl_error *error)
{
    file->amode = amode;
    file->buffer_most = INT64_MAX;
    file->system = MPI_FILE_NULL;
    file->shared.window = MPI_WIN_NULL;
    pthread_mutex_init(&file->lock, NULL);
    pthread_rwlock_init(&file->ship_lock, NULL);
    prefetch_memory_init(&file->prefetch);
    file->comm = MPI_COMM_NULL;
    if (comm_ready_coll(comm, error) != PL_OK) {
        let_go_coll(file);
        return error->status;
    }
    const int code = comm_dup_coll(comm, &file->comm);
    if (code != MPI_SUCCESS) {
        let_go_coll(file);
        return error_from_mpi(code, "duplicating the communicator", error);
    }
    real.Comm_rank(file->comm, &file->rank);
    real.Comm_size(file->comm, &file->size);
    *error = *own;
    begin(file, name, info, error);
    if (agree_on_arguments_coll(file, error)) {
        let_go_coll(file);
        return error->status;
    }
    if (file->values.impl != HINT_IMPL_SYSTEM)
        return open_ours_coll(file, error);
    file->is_system = true;
    let_go_coll(file);
    return PL_OK;
}

pl_status file_close_coll(struct file *file, struct pl_error *error)
{
    struct pl_error own = {0};
    file_close_auxiliary(file);
    ship_close_coll(file, error);
    if (storage_close(file->storage, &own) != PL_OK && error->status == PL_OK)
        *error = own;
    file->storage = NULL;
    struct agree agree;
    if (file_agree_coll(file, &agree, NULL, 0, error) == PL_OK)
        file_tell_late_coll(file, error);
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
