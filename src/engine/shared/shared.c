#include "engine/shared/shared.h"
#include "base/status.h"
#include "base/thread.h"
#include "engine/error/error.h"
#include "engine/mem.h"
#include "mpi/agree.h"
#include "mpi/comm.h"
#include "mpi/real.h"
#include "mpi/service.h"
#include "mpi/wait.h"

#include <assert.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* ---- A thread of rank 0 ------------------------------------------------------------------------------------------ */

/* The words of the shared file pointer, kept by a thread of rank 0 that others send messages to. For an MPI without
 * windows: Open MPI 4.1 has none across hosts at MPI_THREAD_MULTIPLE, which this needs. */

enum shared_change { SHARED_ADD, SHARED_SET };
enum { TAG_WISH = 0, TAG_FIRST = 1, TAGS = 16384 }; /* an answer has the tag that was asked for */

struct wish {
    int64_t word, change, value, tag;
};

struct shared_server {
    MPI_Comm comm;
    int rank;
    struct service service;
    atomic_uint wishes; /* of this rank: each has another tag, since threads may have several under way */
    /* rank 0 */
    pthread_t thread;
    bool runs;
    atomic_bool ends;
    _Atomic int64_t words[2];
};

/* Does this MPI, as the ranks have initialised it, need one? The same answer on all ranks. */
static bool shared_server_is_needed_coll(MPI_Comm comm, int rank)
{
#if PIOLET_IS_OPENMPI
    struct agree agree;
    struct pl_error none = {0};
    int level = MPI_THREAD_SINGLE;
    real.Query_thread(&level);
    const int64_t mine = level;
    return agree_run_coll(&agree, comm, rank, &none, &mine, 1) == PL_OK &&
           agree_least(&agree, 0) == MPI_THREAD_MULTIPLE;
#else
    (void)comm;
    (void)rank;
    return false;
#endif
}

/* ---- rank 0 ---- */

static int64_t change_word(struct shared_server *server, const struct wish *wish)
{
    assert(wish->word == 0 || wish->word == 1);
    assert(wish->change == SHARED_ADD || wish->change == SHARED_SET);
    _Atomic int64_t *word = &server->words[wish->word];
    return wish->change == SHARED_ADD ? atomic_fetch_add(word, wish->value) : atomic_exchange(word, wish->value);
}

static bool shared_server_serve_one(struct shared_server *server)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    struct wish wish;
    int found = 0;
    if (real.Improbe(MPI_ANY_SOURCE, TAG_WISH, server->comm, &found, &message, &status) != MPI_SUCCESS || !found)
        return false;
    if (real.Imrecv(&wish, sizeof wish, MPI_BYTE, &message, &request) != MPI_SUCCESS ||
        wait_answer(1, &request, MPI_COMM_NULL) != MPI_SUCCESS)
        return true;
    const int64_t before = change_word(server, &wish);
    if (real.Isend(&before, 1, MPI_INT64_T, status.MPI_SOURCE, (int)wish.tag, server->comm, &request) == MPI_SUCCESS)
        wait_answer(1, &request, MPI_COMM_NULL); /* who asked has its receive ready: this does not last */
    return true;
}

static void *shared_server_serve(void *arg)
{
    struct shared_server *server = arg;
    int idle = 0;
    wait_steps_nothing();
    while (!atomic_load(&server->ends)) {
        if (shared_server_serve_one(server))
            idle = 0;
        else
            wait_idle(&idle, NULL, 0);
    }
    return NULL;
}

static bool shared_server_start_thread(struct shared_server *server)
{
    server->runs = thread_start(&server->thread, shared_server_serve, server);
    return server->runs;
}

static void shared_server_stop(void *arg)
{
    struct shared_server *server = arg;
    atomic_store(&server->ends, true);
    if (server->runs)
        pthread_join(server->thread, NULL);
    server->runs = false;
}

/* ---- all ranks ---- */

/* Fails on all ranks or on none. */
static pl_status shared_server_open_coll(MPI_Comm comm, int rank, struct shared_server **ret_server,
                                         struct pl_error *error)
{
    struct agree agree;
    MPI_Comm own = MPI_COMM_NULL;
    struct shared_server *server = mem_zalloc(1, sizeof *server);
    const int code = comm_dup_coll(comm, &own);
    if (code != MPI_SUCCESS) {
        error_from_mpi(code, "duplicating the communicator for the shared file pointer", error);
    } else if (!server) {
        pl_fail(error, PL_E_NOMEM, "no memory for the shared file pointer");
    } else {
        *server = (struct shared_server){
            .comm = own, .rank = rank, .service = {.comm = own, .stop = shared_server_stop, .arg = server}};
        if (rank == 0 && !shared_server_start_thread(server))
            pl_fail(error, PL_E_SYSTEM, "the system starts no thread for the shared file pointer");
    }
    if (agree_run_coll(&agree, comm, rank, error, NULL, 0) != PL_OK) {
        if (server)
            shared_server_stop(server);
        if (own != MPI_COMM_NULL)
            real.Comm_free(&own);
        mem_free(server);
        return error->status;
    }
    service_begin(&server->service);
    *ret_server = server;
    return PL_OK;
}

/* All have met before, so that nobody asks any more. */
static void shared_server_close_coll(struct shared_server *server)
{
    service_end(&server->service);
    shared_server_stop(server);
    wait_enter();
    real.Comm_free(&server->comm);
    wait_leave();
    mem_free(server);
}

static pl_status shared_server_do(struct shared_server *server, int word, enum shared_change change, int64_t value,
                                  int64_t *ret_before, struct pl_error *error)
{
    const int tag = TAG_FIRST + (int)(atomic_fetch_add(&server->wishes, 1) % TAGS);
    const struct wish wish = {.word = word, .change = change, .value = value, .tag = tag};
    MPI_Request requests[2];
    if (server->rank == 0) {
        *ret_before = change_word(server, &wish);
        return PL_OK;
    }
    int code = real.Irecv(ret_before, 1, MPI_INT64_T, 0, tag, server->comm, &requests[0]);
    if (code == MPI_SUCCESS)
        code = real.Isend(&wish, sizeof wish, MPI_BYTE, 0, TAG_WISH, server->comm, &requests[1]);
    if (code == MPI_SUCCESS)
        code = wait_answer(2, requests, MPI_COMM_NULL);
    return code == MPI_SUCCESS ? PL_OK : error_from_mpi(code, "moving the shared file pointer", error);
}

/* ---- The pointer ------------------------------------------------------------------------------------------------- */

/* MPICH's Win_allocate() hangs on all ranks where one has no descriptors left for it. */
static void shared_look_for_descriptors(struct pl_error *error)
{
    enum { NEEDED = 2 };
    int spare[NEEDED], count = 0;
    while (count < NEEDED && (spare[count] = dup(0)) >= 0)
        count++;
    if (count < NEEDED)
        pl_fail_errno(error, errno, "making the window of the shared file pointer");
    while (count > 0)
        close(spare[--count]);
}

pl_status shared_open_coll(struct shared *shared, const struct node *node, void *place, MPI_Comm comm, int rank,
                           struct pl_error *error)
{
    *shared = (struct shared){.window = MPI_WIN_NULL};
    if (node->alone) {
        shared->words = place;
        return PL_OK;
    }
    if (shared_server_is_needed_coll(comm, rank))
        return shared_server_open_coll(comm, rank, &shared->server, error);
    const MPI_Aint bytes = rank == 0 ? 2 * sizeof(int64_t) : 0;
    struct pl_error own = {0};
    struct agree agree;
    shared_look_for_descriptors(&own);
    shared->missing = agree_run_coll(&agree, comm, rank, &own, NULL, 0) != PL_OK;
    if (shared->missing)
        return PL_OK;
    comm_tolerant(comm); /* an MPI that has no memory for it fails on all ranks */
    wait_enter();
    int code = real.Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, comm, &shared->window_words, &shared->window);
    if (code == MPI_SUCCESS) {
        if (rank == 0)
            shared->window_words[0] = shared->window_words[1] = 0;
        code = real.Win_lock_all(0, shared->window);
    }
    wait_leave();
    comm_strict(comm);
    if (code != MPI_SUCCESS)
        error_from_mpi(code, "making the window of the shared file pointer", &own);
    shared->missing = agree_run_coll(&agree, comm, rank, &own, NULL, 0) != PL_OK;
    if (shared->missing) /* where some ranks have it, it is left: they cannot free it without the others */
        shared->window = MPI_WIN_NULL;
    return PL_OK;
}

static pl_status fail_missing(struct pl_error *error)
{
    return pl_fail(error, PL_E_MPI, "this file has no shared file pointer: the MPI could not make a window for it");
}

void shared_close_coll(struct shared *shared)
{
    if (!shared->words && shared->window != MPI_WIN_NULL) {
        wait_enter();
        real.Win_unlock_all(shared->window);
        real.Win_free(&shared->window);
        wait_leave();
    }
    if (shared->server)
        shared_server_close_coll(shared->server);
    *shared = (struct shared){.window = MPI_WIN_NULL};
}

static pl_status change_far(struct shared *shared, int word, MPI_Op op, int64_t value, int64_t *ret_before,
                            struct pl_error *error)
{
    assert(word == 0 || word == 1);
    assert(shared->missing || shared->server || shared->window != MPI_WIN_NULL);
    if (shared->missing)
        return fail_missing(error);
    if (shared->server)
        return shared_server_do(shared->server, word, op == MPI_REPLACE ? SHARED_SET : SHARED_ADD, value, ret_before,
                                error);
    int code = real.Fetch_and_op(&value, ret_before, MPI_INT64_T, 0, word, op, shared->window);
    if (code == MPI_SUCCESS)
        code = real.Win_flush(0, shared->window);
    return code == MPI_SUCCESS ? PL_OK : error_from_mpi(code, "moving the shared file pointer", error);
}

pl_status shared_fetch_add(struct shared *shared, int64_t etypes, int64_t *ret_before, struct pl_error *error)
{
    if (!shared->words)
        return change_far(shared, shared->turn, MPI_SUM, etypes, ret_before, error);
    *ret_before = atomic_fetch_add(&shared->words[shared->turn], etypes);
    return PL_OK;
}

pl_status shared_prepare(struct shared *shared, int64_t etypes, struct pl_error *error)
{
    int64_t before;
    if (shared->missing) /* who does not use it need not know */
        return PL_OK;
    if (!shared->words)
        return change_far(shared, !shared->turn, MPI_REPLACE, etypes, &before, error);
    atomic_store(&shared->words[!shared->turn], etypes);
    return PL_OK;
}

void shared_reset(struct shared *shared)
{
    struct pl_error ignored = {0};
    int64_t before;
    for (int word = 0; word < 2 && !shared->missing; word++)
        if (shared->words)
            atomic_store(&shared->words[word], 0);
        else if (change_far(shared, word, MPI_REPLACE, 0, &before, &ignored) != PL_OK)
            shared->missing = true; /* this rank's next use of it gives the error */
}

void shared_turn(struct shared *shared)
{
    shared->turn = !shared->turn;
}

pl_status shared_get(struct shared *shared, int64_t *ret_etypes, struct pl_error *error)
{
    if (!shared->words)
        return change_far(shared, shared->turn, MPI_NO_OP, 0, ret_etypes, error);
    *ret_etypes = atomic_load(&shared->words[shared->turn]);
    return PL_OK;
}

/* ---- Calls in the order of ranks --------------------------------------------------------------------------------- */

/* The mark is written last: twice the number of the call, and one more where the rank has failed. */
struct shared_order_line {
    struct {
        _Alignas(64) _Atomic int64_t etypes;
        _Atomic uint64_t mark;
    } turns[2];
};

size_t shared_order_bytes(int ranks)
{
    return ((size_t)ranks + 1) * sizeof(struct shared_order_line);
}

void shared_order_open(struct shared_order *order, void *place, int rank, int size)
{
    assert(rank >= 0 && rank < size);
    *order = (struct shared_order){.lines = place, .rank = rank, .size = size};
}

static void shared_order_say(struct shared_order *order, int line, int64_t etypes, bool failed)
{
    const uint64_t turn = order->calls & 1;
    atomic_store_explicit(&order->lines[line].turns[turn].etypes, etypes, memory_order_relaxed);
    atomic_store_explicit(&order->lines[line].turns[turn].mark, 2 * order->calls + failed, memory_order_release);
}

static bool has_said(struct shared_order *order, int line, int64_t *ret_etypes, bool *ret_failed)
{
    const uint64_t turn = order->calls & 1;
    const uint64_t mark = atomic_load_explicit(&order->lines[line].turns[turn].mark, memory_order_acquire);
    if (mark / 2 != order->calls)
        return false;
    *ret_etypes = atomic_load_explicit(&order->lines[line].turns[turn].etypes, memory_order_relaxed);
    *ret_failed = mark & 1;
    return true;
}

void shared_order_start(struct shared_order *order, struct shared_order_call *ret_call, int64_t etypes, bool failed)
{
    assert(order->lines && etypes >= 0);
    *ret_call = (struct shared_order_call){0};
    order->calls++;
    shared_order_say(order, order->rank, etypes, failed);
}

enum step shared_order_step(struct shared_order *order, struct shared_order_call *call, struct shared *pointer,
                            struct pl_error *error)
{
    int64_t etypes;
    bool failed;
    for (; call->next < order->size; call->next++) {
        if (!has_said(order, call->next, &etypes, &failed))
            return STEP_PENDING;
        call->failures += failed;
        call->total += etypes;
        call->before += call->next < order->rank ? etypes : 0;
    }
    assert(call->next == order->size && call->before <= call->total);
    if (order->rank == order->size - 1) {
        if (call->failures == 0 && shared_fetch_add(pointer, call->total, &call->base, error) != PL_OK)
            call->failures = 1;
        shared_order_say(order, order->size, call->base, call->failures > 0);
        return STEP_DONE;
    }
    if (!has_said(order, order->size, &call->base, &failed))
        return STEP_PENDING;
    call->failures += failed;
    return STEP_DONE;
}
