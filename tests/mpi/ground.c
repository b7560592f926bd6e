/* What the engine stands on: waiting, agreement, shared memory (src/mpi). ground CASE. Called by ground.sh.
 *   wait    rank 0 waits for a flag while its message to rank 1 is pending: wait_until() must keep the message going
 *   bare    the same with a sleep that leaves MPI alone: hangs on MPICH, which shows that "wait" proves something
 *   agree   random ranks fail: the same verdict everywhere
 *   node    ranks see each other's writes in the segment
 *   apart   ranks that MPI believes to share memory, and that cannot, know it */
#include <mpi.h>

#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rng.h"
#include "mpi/agree.h"
#include "mpi/node.h"
#include "mpi/real.h"
#include "mpi/wait.h"

enum { MESSAGE_BYTES = 100000, SEGMENT_BYTES = 4096 };
static const size_t SEGMENT_SIZE = SEGMENT_BYTES;

static int rank, ranks, failures;

static void complain(const char *what, int64_t found, int64_t wanted)
{
    failures++;
    fprintf(stderr, "rank %d of %d: %s: %" PRId64 " in the place of %" PRId64 "\n", rank, ranks, what, found, wanted);
}

static void expect(const char *what, int64_t found, int64_t wanted)
{
    if (found != wanted)
        complain(what, found, wanted);
}

/* ---- waiting ---- */

static bool is_set(void *arg)
{
    return atomic_load((_Atomic uint32_t *)arg) != 0;
}

static void sleep_bare(_Atomic uint32_t *word)
{
    while (atomic_load(word) == 0)
        syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void check_wait(bool bare)
{
    static char message[MESSAGE_BYTES];
    MPI_Comm ours;
    struct node node;
    MPI_Comm_dup(MPI_COMM_WORLD, &ours);
    node_open_coll(MPI_COMM_WORLD, rank, ranks, &SEGMENT_SIZE, 1, &node);
    if (!node.segment) {
        complain("no segment on ranks", node.size, ranks);
        return;
    }
    _Atomic uint32_t *flag = node.segment;
    if (rank == 0) {
        MPI_Request request;
        memset(message, 'm', sizeof message);
        MPI_Isend(message, MESSAGE_BYTES, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
        if (bare)
            sleep_bare(flag);
        else
            wait_until(is_set, flag, flag, ours);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(message, MESSAGE_BYTES, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("last byte of the message", message[MESSAGE_BYTES - 1], 'm');
        atomic_store(flag, 1);
        wait_wake(flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    node_close(&node);
    MPI_Comm_free(&ours);
}

/* ---- agreement ---- */

static bool fails(uint64_t seed, int who)
{
    const uint64_t luck = rng_at(seed, (uint64_t)who);
    return seed % 3 == 0 ? false : seed % 3 == 1 ? luck % 2 == 0 : luck % (uint64_t)ranks == 0;
}

static pl_status status_of(uint64_t seed, int who)
{
    static const pl_status some[] = {PL_E_SPACE, PL_E_ACCESS, PL_E_IO, PL_E_COUNT, PL_E_NOT_SAME};
    return some[rng_at(seed + 77, (uint64_t)who) % (sizeof some / sizeof some[0])];
}

static int64_t value_of(uint64_t seed, int who, int index)
{
    return (int64_t)rng_at(rng_at(seed, (uint64_t)index), (uint64_t)who) >> (index * 6);
}

static void check_words(uint64_t seed, int first, const struct pl_error *error)
{
    char wanted[128];
    if (fails(seed, rank))
        snprintf(wanted, sizeof wanted, "words of rank %d", rank);
    else
        snprintf(wanted, sizeof wanted, "another task failed: rank %d: words of rank %d", first, first);
    if (strcmp(error->text, wanted) != 0) {
        complain("words", 0, 1);
        fprintf(stderr, "  '%s' in the place of '%s'\n", error->text, wanted);
    }
}

static void check_agreement(MPI_Comm comm, uint64_t seed)
{
    int64_t values[AGREE_VALUES_MAX], least[AGREE_VALUES_MAX];
    const int count = (int)(rng_mix(seed) % (AGREE_VALUES_MAX + 1));
    int first = -1;
    for (int i = 0; i < count; i++) {
        least[i] = INT64_MAX;
        for (int who = 0; who < ranks; who++)
            least[i] = value_of(seed, who, i) < least[i] ? value_of(seed, who, i) : least[i];
        values[i] = value_of(seed, rank, i);
    }
    for (int who = ranks - 1; who >= 0; who--)
        first = fails(seed, who) ? who : first;
    struct pl_error error = {0};
    if (fails(seed, rank))
        pl_fail(&error, status_of(seed, rank), "words of rank %d", rank);
    struct agree agree;
    const pl_status status = agree_run_coll(&agree, comm, rank, &error, count ? values : NULL, count);
    expect("rank that failed first", agree.failed_rank, first);
    expect("verdict", agree.status, first < 0 ? PL_OK : status_of(seed, first));
    expect("own status", status, first < 0 ? PL_OK : status_of(seed, fails(seed, rank) ? rank : first));
    expect("status in the error", error.status, status);
    for (int i = 0; i < count; i++)
        expect("least of a number", agree_least(&agree, i), least[i]);
    if (first >= 0)
        check_words(seed, first, &error);
}

/* Stepped, with the program's own messages under way, and very long words. */
static void check_agreement_stepped(MPI_Comm comm)
{
    struct pl_error error = {0};
    struct agree agree;
    if (rank == ranks - 1) {
        pl_fail(&error, PL_E_IO, "%s", "");
        memset(error.text, 'x', sizeof error.text - 1);
        error.text[sizeof error.text - 1] = '\0';
    }
    const struct pl_error before = error;
    agree_start(&agree, comm, rank, &error, NULL, 0);
    int token = rank, got = -1;
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % ranks, 3, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("token", got, (rank + ranks - 1) % ranks);
    while (agree_step(&agree) == STEP_PENDING)
        ;
    agree_result(&agree, &error);
    expect("verdict of a step", agree.status, PL_E_IO);
    if (rank == ranks - 1)
        expect("own words changed", strcmp(before.text, error.text), 0);
    else
        expect("long words are cut", strlen(error.text) < PL_ERROR_TEXT_MAX && strstr(error.text, "xxxxx"), 1);
}

static void check_agreements(MPI_Comm comm)
{
    for (uint64_t seed = 1; seed <= 150; seed++)
        check_agreement(comm, seed);
    check_agreement_stepped(comm);
}

/* By messages, and in shared memory. */
static void check_agree(void)
{
    MPI_Comm ours;
    struct node node;
    struct agree_board board;
    struct pl_error error = {0};
    const size_t bytes = agree_board_bytes(ranks) + SEGMENT_SIZE;
    check_agreements(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &ours);
    node_open_coll(MPI_COMM_WORLD, rank, ranks, &bytes, 1, &node);
    if (node.alone && ranks <= AGREE_BOARD_RANKS) {
        expect("a board", agree_board_attach(&board, ours, node.segment, rank, ranks, &error), PL_OK);
        MPI_Barrier(MPI_COMM_WORLD);
        board.on = true;
        check_agreements(ours);
        expect("agreements by the board", board.calls > 150, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&ours);
    node_close(&node);
}

/* ---- shared memory ---- */

static void check_node(void)
{
    struct node node;
    for (int round = 1; round <= 20; round++) {
        const size_t bytes = (size_t)round * SEGMENT_BYTES;
        node_open_coll(MPI_COMM_WORLD, rank, ranks, &bytes, 1, &node);
        expect("ranks on the node", node.size, ranks);
        expect("nodes", node.count, 1);
        expect("alone", node.alone, 1);
        expect("segment", node.segment != NULL, 1);
        if (!node.segment)
            return;
        char *const memory = node.segment;
        for (size_t i = 0; i < bytes; i++)
            if (memory[i] != 0) {
                complain("a byte that is not zero", memory[i], 0);
                break;
            }
        MPI_Barrier(MPI_COMM_WORLD);
        int32_t *const mine = (int32_t *)(memory + bytes - SEGMENT_BYTES) + node.rank;
        *mine = 1000 * round + node.rank;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int who = 0; who < node.size; who++)
            expect("what another rank wrote", mine[who - node.rank], 1000 * round + who);
        MPI_Barrier(MPI_COMM_WORLD);
        node_close(&node);
        node_close(&node); /* twice is allowed */
    }
}

/* A part of the ranks, in another order. */
static void check_node_part(void)
{
    MPI_Comm part;
    struct node node;
    int part_rank, part_size;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    MPI_Comm_rank(part, &part_rank);
    MPI_Comm_size(part, &part_size);
    node_open_coll(part, part_rank, part_size, &SEGMENT_SIZE, 1, &node);
    expect("ranks of the part", node.size, part_size);
    expect("rank in the part", node.rank, part_rank);
    if (node.segment) {
        _Atomic int32_t *const sum = node.segment;
        atomic_fetch_add(sum, 1 + part_rank);
        MPI_Barrier(part);
        expect("sum of a part", atomic_load(sum), part_size * (part_size + 1) / 2);
        MPI_Barrier(part);
    }
    node_close(&node);
    MPI_Comm_free(&part);
}

static void check_apart(void)
{
    struct node node;
    node_open_coll(MPI_COMM_WORLD, rank, ranks, &SEGMENT_SIZE, 1, &node);
    expect("a segment that not all can see", node.segment != NULL, 0);
    expect("alone", node.alone, 0);
    node_close(&node);
}

int main(int argc, char **argv)
{
    const char *which = argc == 2 ? argv[1] : "";
    struct pl_error error;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (real_load(&error) != PL_OK) {
        fprintf(stderr, "%s\n", error.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (strcmp(which, "wait") == 0 || strcmp(which, "bare") == 0) {
        check_wait(strcmp(which, "bare") == 0);
    } else if (strcmp(which, "agree") == 0) {
        check_agree();
    } else if (strcmp(which, "node") == 0) {
        check_node();
        check_node_part();
    } else if (strcmp(which, "apart") == 0) {
        check_apart();
    } else {
        fprintf(stderr, "usage: ground wait|bare|agree|node|apart\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int sum = 0;
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 0)
        printf("%d ranks: %s is right\n", ranks, which);
    MPI_Finalize();
    return sum != 0;
}
