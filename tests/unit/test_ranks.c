/* What 16 to 1000 ranks send, meet for and keep in memory, counted: the exchange by messages and the ring across nodes,
 * all ranks in one process over an MPI that counts (fake_mpi.h), on a real file.
 * proves: COLL-2 COLL-5 GPFS-1 GPFS-2 GPFS-6
 * It would fail if more than a tenth on top of the bytes that must move went to other ranks or nodes, if ranks sent
 * more than a greeting to each aggregator and a message for each window, or nodes more than a message for each pair and
 * block; if the memory of a rank, or what it brings to a meeting of all, grew with the ranks; if nodes chose different
 * ways; if a rank without memory let others wait; or if a byte were wrong. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/exchange/exchange.h"
#include "engine/fault/fault.h"
#include "engine/mem.h"
#include "engine/ring/ring.h"
#include "engine/strategy/strategy.h"

#include "fake_mpi.h"
#include "random_case.h"

enum {
    WORD = 8,
    PIECE = 128,
    EACH = 16384,   /* bytes of a rank */
    GROUP = 4,      /* ranks whose pieces lie among each other, in the exchange */
    FIRST = 100000, /* byte of the file */
    WINDOW = 16384, /* of an aggregator */
    BLOCK = 131072, /* of the ring */
    NODE_RANKS = 8,
    TURNS_MAX = 100000,
};

static struct pl_error fine;

/* ---- a job in one process ---- */

struct member {
    struct view view;
    struct access_request request;
    char *buffer;
    struct file file;
    struct move move;
    struct ring *ring;
    bool finished;
};

static struct {
    int ranks, aggregators;
    int among; /* ranks whose pieces take turns in a part of the file */
    char path[32];
    int fd;
    struct storage *storage;
    struct member member[FAKE_RANKS];
    void *segment[FAKE_RANKS / NODE_RANKS];
    size_t before, most; /* memory of all ranks */
} job;

static size_t allocated(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 0; /* sanitizers have an allocator of their own, which does not tell */
#else
    const struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd - fake.own_bytes;
#endif
}

static void watch_memory(void)
{
    const size_t now = allocated() - job.before;
    job.most = now > job.most ? now : job.most;
}

static int64_t first_of(int rank)
{
    return FIRST + (int64_t)(rank / job.among) * job.among * EACH + (int64_t)(rank % job.among) * PIECE;
}

static char datum(int rank, int64_t position)
{
    return (char)(rng_mix((uint64_t)rank * EACH + (uint64_t)position / 8) >> (8 * (position % 8)));
}

static void member_open(int rank)
{
    struct member *member = &job.member[rank];
    struct typemap *piece;
    ok(typemap_dense(PIECE, &piece, &error));
    member->view = (struct view){.displacement = first_of(rank), .etype_size = 1, .etype_extent = 1};
    ok(typemap_resized(piece, 0, (int64_t)PIECE * job.among, &member->view.filetype, &error));
    typemap_unref(piece);
    member->request = (struct access_request){.view = &member->view, .bytes = EACH};
    ok(typemap_dense(1, &member->request.memory, &error));
    member->buffer = member->request.buffer = malloc(EACH);
}

static void job_open(int ranks, int among)
{
    memset(&job, 0, sizeof job);
    fake_open(ranks, NODE_RANKS);
    job.ranks = ranks;
    job.among = among;
    job.aggregators = ranks / GROUP;
    strcpy(job.path, "test_ranks.XXXXXX");
    job.fd = mkstemp(job.path);
    assert_true(job.fd >= 0);
    ok(storage_open(job.path, O_RDWR, 0, &job.storage, &error));
    for (int i = 0; i < ranks; i++)
        member_open(i);
    job.before = allocated();
}

static void job_close(void)
{
    for (int i = 0; i < job.ranks; i++) {
        typemap_unref(job.member[i].view.filetype);
        typemap_unref(job.member[i].request.memory);
        free(job.member[i].buffer);
        mem_free(job.member[i].file.memory.bytes);
    }
    ok(storage_close(job.storage, &error));
    close(job.fd);
    unlink(job.path);
    fake_close();
}

static void prepare(bool write)
{
    for (int i = 0; i < job.ranks; i++) {
        struct member *member = &job.member[i];
        member->request.write = write;
        member->finished = false;
        for (int64_t k = 0; k < EACH; k++)
            member->buffer[k] = write ? datum(i, k) : 0;
    }
    fake.messages = fake.message_bytes = fake.off_messages = fake.off_bytes = fake.meetings = 0;
    fake.meeting_bytes_most = 0;
}

static void expect_data(bool write)
{
    char piece[PIECE];
    for (int i = 0; i < job.ranks; i++)
        for (int64_t k = 0; k < EACH; k += PIECE) {
            const char *found = job.member[i].buffer + k;
            if (write) {
                assert_int_equal(pread(job.fd, piece, PIECE, first_of(i) + k * job.among), PIECE);
                found = piece;
            }
            for (int64_t b = 0; b < PIECE; b++)
                if (found[b] != datum(i, k + b))
                    fail_msg("byte %lld of rank %d is wrong", (long long)(k + b), i);
        }
}

/* Ranks go on in turn, beginning anywhere. */
static void run_all(void)
{
    int turns = 0, left = 0;
    for (int i = 0; i < job.ranks; i++)
        left += !job.member[i].finished;
    while (left > 0) {
        if (++turns > TURNS_MAX)
            fail_msg("%d of %d ranks do not come to an end", left, job.ranks);
        const int first = (int)below(job.ranks);
        for (int i = 0; i < job.ranks; i++) {
            struct member *member = &job.member[(first + i) % job.ranks];
            if (member->finished || move_step(&member->move) == STEP_PENDING)
                continue;
            member->finished = true;
            left--;
        }
        watch_memory();
    }
}

static void tell(const char *what, bool write, int64_t must)
{
    print_message("%s, %s, %4d ranks: %6.1f messages a rank, %.3f of the bytes that must move, meetings of %lld bytes, "
                  "%zu KiB a rank\n",
                  what, write ? "write" : "read ", job.ranks, (double)fake.off_messages / job.ranks,
                  (double)fake.off_bytes / (double)must, (long long)fake.meeting_bytes_most,
                  job.most / (size_t)job.ranks >> 10);
}

/* ---- the exchange by messages ---- */

/* Bytes of others than the aggregator itself, and how many messages they take at most: one for each rank and window. */
static int64_t must_exchange(int64_t *ret_messages)
{
    const int aggregators = job.aggregators;
    struct move_domain domain;
    int64_t must = 0;
    move_domain_block(&domain, FIRST, FIRST + (int64_t)job.ranks * EACH, aggregators, 4096, WINDOW);
    *ret_messages = 0;
    for (int i = 0; i < job.ranks; i++) {
        int before = -1;
        int64_t window = -1;
        for (int64_t k = 0; k < EACH; k += WORD) { /* windows begin at multiples of it */
            const int64_t byte = view_byte(&job.member[i].view, k), round = move_domain_round(&domain, byte);
            const int aggregator = move_domain_aggregator(&domain, byte);
            const bool off = move_aggregator_rank(aggregator, aggregators, job.ranks) != i;
            must += off ? WORD : 0;
            *ret_messages += off ? (aggregator != before) + (aggregator != before || round != window) : 0;
            before = aggregator;
            window = round;
        }
    }
    return must;
}

/* All have taken their memory, and begun to agree. */
static void start_moves(const char *strategy, bool write)
{
    prepare(write);
    for (int i = 0; i < job.ranks; i++) {
        struct member *member = &job.member[i];
        member->move = (struct move){
            .file = &member->file, .strategy = strategy_find(strategy), .request = member->request};
        move_start(&member->move);
        member->finished = move_step(&member->move) == STEP_DONE;
    }
}

static void start_exchanges(bool write)
{
    for (int i = 0; i < job.ranks; i++) {
        const struct file_memory memory = job.member[i].file.memory;
        job.member[i].file = (struct file){.comm = fake_comm(0, i),
                                           .rank = i,
                                           .size = job.ranks,
                                           .storage = job.storage,
                                           .readable = true,
                                           .values = {.cb_nodes = job.aggregators,
                                                      .cb_buffer_size = WINDOW,
                                                      .striping_unit = 4096,
                                                      .ds_write = HINT_ENABLE},
                                           .memory = memory};
    }
    start_moves("twophase", write);
}

/* The outcome of a rank, whose operation goes. */
static pl_status end_move(int rank, int64_t *ret_done)
{
    struct move *move = &job.member[rank].move;
    if (move->call)
        move->strategy->transport->clear(move);
    *ret_done = move->done;
    return move->error.status;
}

static void exchange_once(bool write)
{
    start_exchanges(write);
    watch_memory();
    run_all();
    int64_t messages, must = must_exchange(&messages);
    tell("exchange", write, must);
    for (int i = 0; i < job.ranks; i++) {
        int64_t done;
        assert_int_equal(end_move(i, &done), PL_OK);
        assert_int_equal(done, EACH);
    }
    expect_data(write);
    assert_true(fake.off_bytes <= must + must / 10);
    /* reading: each question has an answer */
    assert_true(fake.off_messages <= (write ? messages : 2 * messages));
    assert_true(fake.meeting_bytes_most <= 128);
}

static void test_exchange(void **unused)
{
    (void)unused;
    static const int counts[] = {16, 128, 1000};
    size_t first = 0;
    for (int i = 0; i < 3; i++) {
        job_open(counts[i], GROUP);
        exchange_once(true);
        exchange_once(false);
        const size_t each = job.most / (size_t)job.ranks;
        first = i == 0 ? each : first;
        assert_true(each <= first + first / 20);
        job_close();
    }
}

/* Memory fails while ranks and aggregators learn of each other: everybody comes to an end, with the same outcome. */
static bool exchange_without_memory(bool write, int call)
{
    char plan[64];
    snprintf(plan, sizeof plan, "malloc:%d=ENOMEM", call);
    start_exchanges(write);
    ok(fault_plan_load(plan, 0, &error));
    run_all();
    ok(fault_plan_load(NULL, 0, &error));
    bool failed = false;
    for (int i = 0; i < job.ranks; i++) {
        int64_t done;
        const pl_status status = end_move(i, &done);
        assert_true(status == PL_OK || status == PL_E_NOMEM);
        assert_true(i == 0 || failed == (status != PL_OK));
        failed = status != PL_OK;
    }
    if (!failed)
        expect_data(write);
    return failed;
}

static void test_no_memory(void **unused)
{
    (void)unused;
    int failures = 0;
    job_open(150, 150);
    job.aggregators = 100; /* more partners than there is room for at first, on both sides */
    for (int call = 1; call < 400; call += call < 8 ? 1 : 61)
        for (int write = 1; write >= 0; write--)
            failures += exchange_without_memory(write, call);
    assert_true(failures >= 20);
    job_close();
}

/* ---- the ring across nodes ---- */

static void ring_open(int rank)
{
    const int nodes = job.ranks / NODE_RANKS, node = rank / NODE_RANKS;
    if (rank % NODE_RANKS == 0) {
        job.segment[node] = mmap(NULL, ring_segment_bytes(NODE_RANKS, nodes, RING_CAPACITY_MAX), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_ptr_not_equal(job.segment[node], MAP_FAILED);
    }
    const struct node place = {
        .rank = rank % NODE_RANKS, .size = NODE_RANKS, .leader = node * NODE_RANKS, .count = nodes, .everywhere = true};
    struct member *member = &job.member[rank];
    ok(ring_new(job.segment[node], RING_CAPACITY_MAX, place.rank, NODE_RANKS, nodes, &member->ring, &error));
    error = fine;
    ok(ring_port_open_coll(member->ring, fake_comm(0, rank), &place, &error));
}

static void start_rings(bool write, bool may_choose)
{
    for (int i = 0; i < job.ranks; i++)
        job.member[i].file = (struct file){.comm = fake_comm(0, i),
                                           .rank = i,
                                           .size = job.ranks,
                                           .storage = job.storage,
                                           .ring = job.member[i].ring,
                                           .readable = true,
                                           .values = {.cb_buffer_size = 4 * BLOCK,
                                                      .cb_block_size = BLOCK,
                                                      .ds_write = HINT_ENABLE,
                                                      .ind_rd_buffer_size = BLOCK,
                                                      .ind_wr_buffer_size = BLOCK},
                                           .tune_reads = may_choose,
                                           .tune_writes = may_choose};
    start_moves("ring", write);
}

/* All ranks have pieces in every block: each pair of nodes has one message for each block, and an answer. */
static void ring_once(bool write)
{
    const int nodes = job.ranks / NODE_RANKS;
    start_rings(write, false);
    run_all();
    const int64_t data = (int64_t)job.ranks * EACH, must = data - data / nodes;
    const int64_t blocks = (FIRST + data - 1) / BLOCK - FIRST / BLOCK + 1;
    tell("ring", write, must);
    for (int i = 0; i < job.ranks; i++) {
        int64_t done;
        assert_int_equal(end_move(i, &done), PL_OK);
        assert_int_equal(done, EACH);
    }
    expect_data(write);
    assert_true(fake.off_bytes <= must + must / 10);
    assert_true(fake.off_messages <= (write ? 1 : 2) * blocks * (nodes - 1));
    assert_true(fake.meeting_bytes_most <= 64 * nodes);
}

static void open_rings(int ranks)
{
    job_open(ranks, ranks);
    fake.alone = true;
    for (int i = 0; i < ranks; i++)
        ring_open(i);
    fake.alone = false;
}

static void close_rings(void)
{
    for (int i = 0; i < job.ranks; i++)
        ring_free(job.member[i].ring);
    for (int i = 0; i < job.ranks / NODE_RANKS; i++)
        munmap(job.segment[i], ring_segment_bytes(NODE_RANKS, job.ranks / NODE_RANKS, RING_CAPACITY_MAX));
    job_close();
}

static void test_ring(void **unused)
{
    (void)unused;
    static const int counts[] = {16, 128, 1000};
    size_t first = 0;
    for (int i = 0; i < 3; i++) {
        open_rings(counts[i]);
        ring_once(true);
        ring_once(false);
        const size_t each = job.most / (size_t)job.ranks;
        first = i == 0 ? each : first;
        assert_true(each <= first + first / 20);
        close_rings();
    }
}

/* All nodes try both ways in the same calls, and come to the same end. */
static void test_choice(void **unused)
{
    (void)unused;
    open_rings(32);
    for (int call = 0; call < 24; call++) {
        const bool write = call % 3 != 2;
        start_rings(write, true);
        run_all();
        expect_data(write);
    }
    char first[200], other[200];
    for (int i = 0; i < job.ranks; i++) {
        ring_explain(job.member[i].ring, true, i == 0 ? first : other, sizeof first);
        assert_true(first[0] != '\0');
        if (i > 0)
            assert_string_equal(other, first);
    }
    close_rings();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exchange), cmocka_unit_test(test_no_memory),
                                       cmocka_unit_test(test_ring), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
