#include "mpiio/shared/shared_server.h"

#include "base/thread.h"
#include "mpi/agree.h"
#include "mpi/comm.h"
#include "mpi/real.h"
#include "mpi/service.h"
#include "mpi/wait.h"
#include "mpiio/error/error.h"
#include "mpiio/mem.h"

#include <pthread.h>
#include <stdatomic.h>

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

bool shared_server_is_needed_coll(MPI_Comm comm, int rank)
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
    _Atomic int64_t *word = &server->words[wish->word];
    return wish->change == SHARED_ADD ? atomic_fetch_add(word, wish->value) : atomic_exchange(word, wish->value);
}

static bool serve_one(struct shared_server *server)
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

static void *serve(void *arg)
{
    struct shared_server *server = arg;
    int idle = 0;
    wait_steps_nothing();
    while (!atomic_load(&server->ends)) {
        if (serve_one(server))
            idle = 0;
        else
            wait_idle(&idle, NULL, 0);
    }
    return NULL;
}

static bool start_thread(struct shared_server *server)
{
    server->runs = thread_start(&server->thread, serve, server);
    return server->runs;
}

static void stop(void *arg)
{
    struct shared_server *server = arg;
    atomic_store(&server->ends, true);
    if (server->runs)
        pthread_join(server->thread, NULL);
    server->runs = false;
}

/* ---- all ranks ---- */

pl_status shared_server_open_coll(MPI_Comm comm, int rank, struct shared_server **ret_server, struct pl_error *error)
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
            .comm = own, .rank = rank, .service = {.comm = own, .stop = stop, .arg = server}};
        if (rank == 0 && !start_thread(server))
            pl_fail(error, PL_E_SYSTEM, "the system starts no thread for the shared file pointer");
    }
    if (agree_run_coll(&agree, comm, rank, error, NULL, 0) != PL_OK) {
        if (server)
            stop(server);
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
void shared_server_close_coll(struct shared_server *server)
{
    service_end(&server->service);
    stop(server);
    wait_enter();
    real.Comm_free(&server->comm);
    wait_leave();
    mem_free(server);
}

pl_status shared_server_do(struct shared_server *server, int word, enum shared_change change, int64_t value,
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
