#include "engine/peers/peers.h"

#include "base/limits.h"
#include "engine/error/error.h"
#include "engine/mem.h"
#include "engine/ring/ring.h"
#include "mpi/comm.h"
#include "mpi/real.h"
#include "mpi/service.h"
#include "mpi/wait.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct peers {
    MPI_Comm comm; /* for the first agreement of each file */
    int rank, size;
    atomic_int references;    /* of communicators and files */
    int files;                /* that have a kit */
    bool shareable;           /* with duplicates of the communicator */
    struct agree_board board; /* in the segment of the first kit */
    struct peers_kit *kits[PEERS_KEPT];
    bool taken[PEERS_KEPT];
    struct peers *next; /* in the order in which they were made */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, of `files` and of `taken` */
static struct peers *all;
static int key = MPI_KEYVAL_INVALID;
static bool ended;
static int64_t warm_bytes; /* of kits that nobody uses, of which this process is the first of its node */

/* ---- the segment of a kit ---- */

/* The shared file pointer and the offer of auxiliary processes lie in its first page, behind it what finds the order of
 * the ranks, two boards for agreements (the second one is that of the peers), and then the ring. */
enum { OFFER_AT = 2048, POINTER_BYTES = 4096 };
_Static_assert(OFFER_AT + PEERS_OFFER_BYTES <= POINTER_BYTES, "the offer fits into the first page");

/* Less room for the ring, each time by half, where little memory is left. */
enum { SEGMENT_SIZES = 11 };
_Static_assert(RING_CAPACITY_MAX >> (SEGMENT_SIZES - 1) == RING_CAPACITY_MIN, "the last is the least");

static size_t kit_boards_place(int ranks)
{
    return POINTER_BYTES + shared_order_bytes(ranks);
}

static size_t kit_ring_place(int ranks)
{
    assert(ranks > 0);
    const size_t before = kit_boards_place(ranks) + (ranks <= AGREE_BOARD_RANKS ? 2 * agree_board_bytes(ranks) : 0);
    return (before + POINTER_BYTES - 1) / POINTER_BYTES * POINTER_BYTES;
}

/* Where all ranks share memory they agree by it. Used when all ranks have set it up. */
static void kit_set_up_boards(struct peers_kit *kit, struct pl_error *error)
{
    char *place = (char *)kit->node.segment + kit_boards_place(kit->size);
    if (!kit->node.alone || kit->size > AGREE_BOARD_RANKS)
        return;
    agree_board_attach(&kit->board, kit->comm, place, kit->rank, kit->size, error);
    if (kit->place == 0 && kit->size > 1) /* threads may open files on MPI_COMM_SELF at once */
        agree_board_attach(&kit->peers->board, kit->peers->comm, place + agree_board_bytes(kit->size), kit->rank,
                           kit->size, error);
}

static void kit_open_node_coll(struct peers_kit *kit)
{
    size_t sizes[SEGMENT_SIZES];
    for (int i = 0; i < SEGMENT_SIZES; i++)
        sizes[i] = kit_ring_place(kit->size) + ring_segment_bytes(kit->size, kit->size, RING_CAPACITY_MAX >> i);
    node_open_coll(kit->peers->comm, kit->rank, kit->size, sizes, SEGMENT_SIZES, &kit->node);
}

static void kit_set_up_coll(struct peers_kit *kit, struct pl_error *error)
{
    const struct node *node = &kit->node;
    char *segment = node->segment;
    shared_open_coll(&kit->shared, node, segment, kit->comm, kit->rank, error);
    shared_order_open(&kit->order, node->alone ? segment + POINTER_BYTES : NULL, kit->rank, kit->size);
    kit->offer = segment ? segment + OFFER_AT : NULL;
    if (node->everywhere)
        ring_new(segment + kit_ring_place(kit->size), RING_CAPACITY_MAX >> node->choice, node->rank, node->size,
                 node->count, &kit->ring, error);
    if (node->everywhere && node->count > 1)
        ring_port_open_coll(kit->ring, kit->comm, node, error);
    kit_set_up_boards(kit, error);
}

/* What another file left in it. All ranks meet before anybody uses it. */
static void kit_clean(struct peers_kit *kit)
{
    if (kit->node.rank == 0 && kit->offer)
        memset(kit->offer, 0, PEERS_OFFER_BYTES);
    if (kit->rank == 0)
        shared_reset(&kit->shared);
}

/* ---- kits ---- */

static void kit_clear_coll(struct peers_kit *kit)
{
    shared_close_coll(&kit->shared);
    ring_free(kit->ring);
    node_close(&kit->node);
    wait_enter();
    if (kit->comm != MPI_COMM_NULL)
        real.Comm_free(&kit->comm);
    wait_leave();
}

static void kit_free_coll(struct peers_kit *kit)
{
    pthread_mutex_lock(&lock);
    warm_bytes -= kit->warm_bytes;
    pthread_mutex_unlock(&lock);
    kit_clear_coll(kit);
    mem_free(kit);
}

/* A rank without memory takes part all the same. */
static pl_status kit_new_coll(struct peers *peers, int place, struct peers_kit **ret_kit, struct pl_error *error)
{
    struct peers_kit spare, *kit = mem_zalloc(1, sizeof *kit), *used = kit ? kit : &spare;
    *used = (struct peers_kit){
        .peers = peers, .comm = MPI_COMM_NULL, .rank = peers->rank, .size = peers->size, .place = place};
    used->shared.window = MPI_WIN_NULL;
    /* Before there is another communicator: with its third one more, MPICH takes 0.9 MB of memory. */
    kit_open_node_coll(used);
    const int code = comm_dup_coll(peers->comm, &used->comm);
    if (code != MPI_SUCCESS) {
        node_close(&used->node);
        mem_free(kit);
        return error_from_mpi(code, "duplicating the communicator", error);
    }
    if (place == 0)
        peers->board = (struct agree_board){0}; /* that of a kit before lay in its memory */
    struct pl_error own = {0};
    if (!kit)
        pl_fail(&own, PL_E_NOMEM, "no memory for a file");
    kit_set_up_coll(used, &own);
    struct agree agree;
    if (agree_run_coll(&agree, used->comm, used->rank, &own, NULL, 0) != PL_OK) {
        kit_clear_coll(used);
        mem_free(kit);
        *error = own;
        return error->status;
    }
    kit->board.on = kit->board.lines != NULL;
    if (place == 0)
        peers->board.on = peers->board.lines != NULL;
    *ret_kit = kit;
    return PL_OK;
}

/* What a rank says of itself and of each place for a kit; the least of all ranks holds. Address space that is limited
 * is the program's: nothing is kept of it. */
enum { SELF_ODD = -2, SELF_LIMITED, SELF_USUAL };
enum { PLACE_TAKEN = -2, PLACE_TOO_LARGE, PLACE_FREE };

void peers_bring(const struct peers *peers, int64_t values[PEERS_VALUES])
{
    values[0] = comm_is_odd() ? SELF_ODD : address_space_left() != UINT64_MAX ? SELF_LIMITED : SELF_USUAL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PEERS_KEPT; i++) {
        const struct peers_kit *kit = peers->kits[i];
        values[1 + i] = peers->taken[i] ? PLACE_TAKEN : kit && !node_affords(&kit->node) ? PLACE_TOO_LARGE : PLACE_FREE;
    }
    pthread_mutex_unlock(&lock);
}

/* A place for the kit of a file; -1: there is none. One that has a kit is best; next comes one whose kit has become too
 * large for what the job may take, and is replaced. The same on all ranks; but threads of one process may open files of
 * their own at once, all on MPI_COMM_SELF: there, what counts is what is free now. */
static int choose_place(const struct peers *peers, const int64_t values[PEERS_VALUES])
{
    int empty = -1, large = -1;
    for (int i = PEERS_KEPT - 1; i >= 0; i--) {
        if (peers->size == 1 ? peers->taken[i] : values[1 + i] == PLACE_TAKEN)
            continue;
        if (!peers->kits[i])
            empty = i;
        else if (values[1 + i] == PLACE_TOO_LARGE)
            large = i;
    }
    for (int i = 0; i < PEERS_KEPT; i++)
        if (peers->kits[i] && (peers->size == 1 ? !peers->taken[i] : values[1 + i] == PLACE_FREE))
            return i;
    return large >= 0 ? large : empty;
}

static int take_place(struct peers *peers, const int64_t values[PEERS_VALUES])
{
    pthread_mutex_lock(&lock);
    const int place = choose_place(peers, values);
    if (place >= 0) {
        assert(!peers->taken[place]);
        peers->taken[place] = true;
    }
    pthread_mutex_unlock(&lock);
    return place;
}

static void leave_place(struct peers *peers, int place)
{
    pthread_mutex_lock(&lock);
    peers->taken[place] = false;
    pthread_mutex_unlock(&lock);
}

static void kit_lend(struct peers_kit *kit)
{
    pthread_mutex_lock(&lock);
    warm_bytes -= kit->warm_bytes;
    kit->warm_bytes = 0;
    pthread_mutex_unlock(&lock);
}

pl_status peers_take_coll(struct peers *peers, const int64_t values[PEERS_VALUES], struct peers_kit **ret_kit,
                          struct pl_error *error)
{
    /* A process that has become another user, or has little address space left, finds out anew what it can do. */
    if (values[0] == SELF_ODD && comm_ready_coll(peers->comm, error) != PL_OK)
        return error->status;
    const int place = values[0] == SELF_USUAL ? take_place(peers, values) : -1;
    struct peers_kit *kit = place >= 0 ? peers->kits[place] : NULL;
    if (kit && values[1 + place] == PLACE_TOO_LARGE) {
        if (place == 0)
            peers->board.on = false;
        peers->kits[place] = NULL;
        kit_free_coll(kit);
        kit = NULL;
    }
    if (kit) {
        kit_lend(kit);
        kit_clean(kit);
    } else {
        if (kit_new_coll(peers, place, &kit, error) != PL_OK) {
            if (place >= 0)
                leave_place(peers, place);
            return error->status;
        }
        if (place >= 0)
            peers->kits[place] = kit;
        else if (kit->ring && values[0] == SELF_USUAL) /* there are many */
            ring_set_frugal(kit->ring);
    }
    atomic_fetch_add(&peers->references, 1);
    pthread_mutex_lock(&lock);
    peers->files++;
    pthread_mutex_unlock(&lock);
    *ret_kit = kit;
    return PL_OK;
}

/* Memory that stays warm: of one kit, and of all. */
enum { WARM_BYTES = 8 << 20, WARM_BYTES_ALL = 64 << 20 };

void peers_give_back_coll(struct peers_kit *kit)
{
    if (!kit)
        return;
    struct peers *peers = kit->peers;
    const int place = kit->place;
    if (place < 0)
        kit_free_coll(kit);
    pthread_mutex_lock(&lock);
    assert(peers->files > 0);
    peers->files--;
    if (place >= 0) {
        assert(peers->taken[place] && kit->warm_bytes == 0);
        if (kit->ring && kit->node.rank == 0) {
            const int64_t left = WARM_BYTES_ALL - warm_bytes;
            kit->warm_bytes = ring_cool(kit->ring, left < WARM_BYTES ? left : WARM_BYTES);
            warm_bytes += kit->warm_bytes;
        }
        peers->taken[place] = false;
    }
    pthread_mutex_unlock(&lock);
    peers_unref_coll(peers);
}

/* ---- of a communicator ---- */

static void peers_free_coll(struct peers *peers)
{
    for (int i = 0; i < PEERS_KEPT; i++)
        if (peers->kits[i])
            kit_free_coll(peers->kits[i]);
    wait_enter();
    real.Comm_free(&peers->comm);
    wait_leave();
    mem_free(peers);
}

void peers_unref_coll(struct peers *peers)
{
    if (!peers || atomic_fetch_sub(&peers->references, 1) > 1)
        return;
    pthread_mutex_lock(&lock);
    for (struct peers **place = &all; *place; place = &(*place)->next)
        if (*place == peers) {
            *place = peers->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    peers_free_coll(peers);
}

/* MPI calls them where the program duplicates or frees a communicator. */
static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *value, void *ret_value, int *ret_copied)
{
    struct peers *peers = value;
    (void)comm;
    (void)keyval;
    (void)extra;
    *ret_copied = !ended && peers->shareable;
    if (*ret_copied) {
        atomic_fetch_add(&peers->references, 1);
        *(void **)ret_value = peers;
    }
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    if (!ended)
        peers_unref_coll(value);
    return MPI_SUCCESS;
}

static struct peers *peers_of(MPI_Comm comm)
{
    struct peers *peers = NULL;
    int found = 0;
    if (key == MPI_KEYVAL_INVALID || real.Comm_get_attr(comm, key, &peers, &found) != MPI_SUCCESS)
        return NULL;
    return found ? peers : NULL;
}

static bool is_like_world(MPI_Comm comm)
{
    int result = MPI_UNEQUAL;
    return real.Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS &&
           (result == MPI_IDENT || result == MPI_CONGRUENT);
}

/* The key of the attribute; false: MPI has none. */
static bool peers_key(void)
{
    pthread_mutex_lock(&lock);
    if (key == MPI_KEYVAL_INVALID)
        real.Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    const bool has = key != MPI_KEYVAL_INVALID;
    pthread_mutex_unlock(&lock);
    return has;
}

/* On all ranks or on none: what is found must be the same everywhere. */
static pl_status peers_attach_coll(struct peers *peers, MPI_Comm comm, struct pl_error *error)
{
    struct pl_error own = {0};
    struct agree agree;
    const bool attached = peers_key() && real.Comm_set_attr(comm, key, peers) == MPI_SUCCESS;
    if (attached)
        atomic_fetch_add(&peers->references, 1);
    else
        pl_fail(&own, PL_E_MPI, "the MPI takes no attribute for a communicator");
    if (agree_run_coll(&agree, peers->comm, peers->rank, &own, NULL, 0) == PL_OK)
        return PL_OK;
    if (attached)
        real.Comm_delete_attr(comm, key);
    *error = own;
    return error->status;
}

static void peers_enlist(struct peers *peers)
{
    pthread_mutex_lock(&lock);
    struct peers **place = &all;
    while (*place)
        place = &(*place)->next;
    *place = peers;
    pthread_mutex_unlock(&lock);
}

/* With one reference. */
static pl_status peers_new_coll(MPI_Comm comm, struct peers **ret_peers, struct pl_error *error)
{
    MPI_Comm own = MPI_COMM_NULL;
    if (comm_ready_coll(comm, error) != PL_OK)
        return error->status;
    const int code = comm_dup_coll(comm, &own);
    if (code != MPI_SUCCESS)
        return error_from_mpi(code, "duplicating the communicator", error);
    struct peers *peers = mem_zalloc(1, sizeof *peers);
    struct pl_error failure = {0};
    struct agree agree;
    int rank;
    real.Comm_rank(own, &rank);
    if (!peers)
        pl_fail(&failure, PL_E_NOMEM, "no memory for what the ranks of a communicator know of each other");
    const int64_t threads = service_program_level() == MPI_THREAD_MULTIPLE ? -1 : 0;
    if (agree_run_coll(&agree, own, rank, &failure, &threads, 1) != PL_OK) {
        wait_enter();
        real.Comm_free(&own);
        wait_leave();
        mem_free(peers);
        *error = failure;
        return error->status;
    }
    peers->comm = own;
    peers->rank = rank;
    real.Comm_size(own, &peers->size);
    peers->shareable = agree_least(&agree, 0) == 0;
    atomic_store(&peers->references, 1);
    peers_enlist(peers);
    *ret_peers = peers;
    return PL_OK;
}

pl_status peers_find_coll(MPI_Comm comm, struct peers **ret_peers, struct pl_error *error)
{
    struct peers *peers = peers_of(comm);
    const bool like_world = !peers && is_like_world(comm);
    if (like_world)
        peers = peers_of(MPI_COMM_WORLD);
    if (like_world && peers && !peers->shareable)
        peers = NULL;
    if (peers) {
        atomic_fetch_add(&peers->references, 1);
        *ret_peers = peers;
        return PL_OK;
    }
    if (peers_new_coll(comm, &peers, error) != PL_OK)
        return error->status;
    /* Where it cannot be kept, it is for this file alone. */
    struct pl_error ignored;
    if (peers_attach_coll(peers, comm, &ignored) == PL_OK && like_world && peers->shareable && comm != MPI_COMM_WORLD)
        peers_attach_coll(peers, MPI_COMM_WORLD, &ignored);
    *ret_peers = peers;
    return PL_OK;
}

MPI_Comm peers_comm(const struct peers *peers)
{
    return peers->comm;
}

int peers_rank(const struct peers *peers)
{
    return peers->rank;
}

int peers_size(const struct peers *peers)
{
    return peers->size;
}

void peers_end_coll(void)
{
    ended = true; /* MPI's own end deletes attributes, and nothing of ours is to be called then */
    struct peers *next;
    for (struct peers *peers = all; peers; peers = next) {
        next = peers->next;
        if (peers->files == 0)
            peers_free_coll(peers);
    }
    all = NULL;
}
