#include "mpi/comm.h"

#include "base/limits.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void mpi_words(int code, char ret_words[MPI_MAX_ERROR_STRING + 1])
{
    int length = 0;
    if (real.Error_string(code, ret_words, &length) != MPI_SUCCESS)
        length = 0;
    ret_words[length] = '\0';
}

/* ---- who we were when MPI began ---- */

static uid_t first_user;
static int first_dumpable;
static bool has_begun;

void comm_begin(void)
{
    first_user = geteuid();
    first_dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    has_begun = true;
}

static bool has_changed(void)
{
    return has_begun && (geteuid() != first_user || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != first_dumpable);
}

/* ---- the end of a job ---- */

static _Noreturn void comm_end_job(int code)
{
    char host[256] = "?", words[MPI_MAX_ERROR_STRING + 1];
    int rank = -1;
    gethostname(host, sizeof host - 1);
    real.Comm_rank(MPI_COMM_WORLD, &rank);
    mpi_words(code, words);
    fprintf(stderr,
            "piolet MPI-IO, rank %d on %s: the MPI fails between ranks that access a file together%s: %s\n"
            "(the others would wait for ever: the job ends)\n",
            rank, host, has_changed() ? ", and this one has become another user since MPI_Init" : "", words);
    real.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort(); /* it does not come back */
}

/* MPI wants the dots. */
// NOLINTNEXTLINE(readability-non-const-parameter): MPI's type
static void on_failure(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    comm_end_job(*code);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static MPI_Errhandler handler = MPI_ERRORS_RETURN;

static void comm_make_handler(void)
{
    if (real.Comm_create_errhandler(on_failure, &handler) != MPI_SUCCESS)
        handler = MPI_ERRORS_ARE_FATAL;
}

void comm_strict(MPI_Comm comm)
{
    pthread_once(&once, comm_make_handler);
    real.Comm_set_errhandler(comm, handler);
}

void comm_tolerant(MPI_Comm comm)
{
    real.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

/* ---- is the MPI able to? ---- */

#if PIOLET_IS_OPENMPI
bool comm_is_odd(void)
{
    return has_changed();
}

pl_status comm_ready_coll(MPI_Comm comm, struct pl_error *error)
{
    (void)comm;
    (void)error;
    return PL_OK;
}
#else

/* MPICH 4.0.2 needs 5 MiB for the connections of 8 ranks; its own MPI-IO needs 32 MiB and more. */
static const uint64_t SPACE_LEAST = (uint64_t)8 << 20;

enum { SHORT, STRANGE, FACTS };

static void look_at_self(int32_t ret_facts[FACTS])
{
    ret_facts[SHORT] = address_space_left() < SPACE_LEAST;
    ret_facts[STRANGE] = has_changed();
}

bool comm_is_odd(void)
{
    int32_t facts[FACTS];
    look_at_self(facts);
    return facts[SHORT] || facts[STRANGE];
}

/* A collective call of MPICH in which a rank cannot send goes on at that rank, and may wait for what others would have
 * sent after it: for ever, on all ranks. In a reduction and in a broadcast every rank sends last, so that whoever fails
 * comes to know it. */
static void meet_safely_coll(int32_t facts[FACTS], MPI_Comm comm)
{
    int32_t all[FACTS] = {0};
    int code = real.Reduce(facts, all, FACTS, MPI_INT32_T, MPI_MAX, 0, comm);
    if (code == MPI_SUCCESS)
        code = real.Bcast(all, FACTS, MPI_INT32_T, 0, comm);
    if (code != MPI_SUCCESS)
        comm_end_job(code);
    memcpy(facts, all, sizeof all);
}

/* Everybody sends to everybody: MPI_Gatherv is a message from each rank to the root. Shorter ones go another way, which
 * says nothing of those; whoever cannot send longer ones hangs. */
static void reach_all_coll(MPI_Comm comm)
{
    enum { BYTES = 4096 };
    static const char message[BYTES];
    int ranks;
    MPI_Errhandler before;
    real.Comm_size(comm, &ranks);
    int *counts = calloc((size_t)ranks, sizeof *counts), *places = calloc((size_t)ranks, sizeof *places);
    char *room = malloc((size_t)ranks * BYTES);
    int code = counts && places && room ? real.Comm_get_errhandler(comm, &before) : MPI_ERR_NO_MEM;
    if (code != MPI_SUCCESS)
        comm_end_job(code);
    comm_strict(comm); /* for a message that says what it is about */
    for (int i = 0; i < ranks; i++) {
        counts[i] = BYTES;
        places[i] = i * BYTES;
    }
    for (int root = 0; root < ranks && code == MPI_SUCCESS; root++)
        code = real.Gatherv(message, BYTES, MPI_BYTE, room, counts, places, MPI_BYTE, root, comm);
    if (code != MPI_SUCCESS)
        comm_end_job(code);
    real.Comm_set_errhandler(comm, before);
    real.Errhandler_free(&before);
    free(counts);
    free(places);
    free(room);
}

pl_status comm_ready_coll(MPI_Comm comm, struct pl_error *error)
{
    int32_t facts[FACTS];
    look_at_self(facts);
    wait_enter();
    meet_safely_coll(facts, comm);
    if (facts[STRANGE])
        reach_all_coll(comm);
    wait_leave();
    if (facts[SHORT])
        return pl_fail(
            error, PL_E_NOMEM,
            "less than %lld MiB of address space are left to a rank (RLIMIT_AS, 'ulimit -v'): too little for "
            "messages of MPICH",
            (long long)(SPACE_LEAST >> 20));
    return PL_OK;
}
#endif

/* ---- communicators ---- */

/* An MPI has a number of communicators, 2048 in MPICH. That they are used up is found by all ranks together. MPICH has
 * neither a class nor a code of its own for it: its text is all that tells it from a rank's own failure. */
static bool fails_alike(int code)
{
    char words[MPI_MAX_ERROR_STRING + 1];
    mpi_words(code, words);
    return strstr(words, "Too many communicators") || strstr(words, "fragmentation");
}

int comm_dup_coll(MPI_Comm comm, MPI_Comm *ret_comm)
{
    assert(comm != MPI_COMM_NULL);
    wait_enter();
    const int code = real.Comm_dup(comm, ret_comm);
    wait_leave();
    if (code == MPI_SUCCESS) {
        comm_strict(*ret_comm);
        return code;
    }
    *ret_comm = MPI_COMM_NULL;
    if (!fails_alike(code))
        comm_end_job(code);
    return code;
}
