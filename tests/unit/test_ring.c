/* The ring without MPI: all ranks in one process, stepped in random order, on a real file.
 * proves: COLL-2 GPFS-1 GPFS-2
 * It would fail if a byte were lost, written though nobody wrote it, or read from the wrong place; if a call did not
 * end whatever the order in which ranks go on; if overlap made a gap look filled; if memory for a rank grew with the
 * ranks. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/coverage/coverage.h"
#include "engine/ring/ring.h"
#include "engine/ring/ring_core.h"
#include "engine/strategy/strategy.h"

#include "random_case.h"

enum { RANKS_MAX = 1000, FILE_MAX = 300000, UNTOUCHED = 0xee };

/* ---- a job in one process ---- */

struct member {
    struct ring *ring;
    struct file file;
    struct move move;
    struct view view;
    struct access_request request;
    char *buffer;
    bool finished;
};

struct job {
    int ranks;
    void *memory;
    size_t memory_bytes;
    char path[32];
    struct storage *storage;
    struct member member[RANKS_MAX];
    /* the model: who has each byte of the file; several where they overlap */
    int64_t size;
    unsigned char expected[FILE_MAX];
    bool written[FILE_MAX];
};

static struct job job;

static void job_open(int ranks)
{
    memset(&job, 0, sizeof job);
    job.ranks = ranks;
    job.memory_bytes = ring_segment_bytes(ranks, 1, RING_CAPACITY_MAX);
    job.memory = mmap(NULL, job.memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                      0);
    assert_ptr_not_equal(job.memory, MAP_FAILED);
    strcpy(job.path, "test_ring.XXXXXX");
    const int fd = mkstemp(job.path);
    assert_true(fd >= 0);
    close(fd);
    ok(storage_open(job.path, 02 /* O_RDWR */, 0, &job.storage, &error));
    for (int i = 0; i < ranks; i++)
        ok(ring_new(job.memory, RING_CAPACITY_MAX, i, ranks, 1, &job.member[i].ring, &error));
}

static void job_close(void)
{
    for (int i = 0; i < job.ranks; i++)
        ring_free(job.member[i].ring);
    ok(storage_close(job.storage, &error));
    unlink(job.path);
    munmap(job.memory, job.memory_bytes);
}

/* Each rank's data are bytes of its own. */
static unsigned char datum(int rank, int64_t place)
{
    return (unsigned char)(rng_mix((uint64_t)rank * 1000003 + (uint64_t)place) >> 40);
}

/* ---- who has what ---- */

struct share {
    int64_t n, bytes;
    int64_t at[FILE_MAX], length[FILE_MAX];
};
static struct share shares[16];

static void give(struct share *share, int64_t at, int64_t length)
{
    share->at[share->n] = at;
    share->length[share->n++] = length;
    share->bytes += length;
}

/* Deals the file in runs of random lengths; some to nobody where there are gaps, some to two where they overlap. */
static void deal(int ranks, int64_t size, bool gaps, bool overlap)
{
    const int64_t longest = 1 + below(below(3) ? 300 : 6000);
    for (int i = 0; i < ranks; i++)
        shares[i].n = shares[i].bytes = 0;
    for (int64_t at = 0; at < size;) {
        int64_t length = 1 + below(longest);
        length = length < size - at ? length : size - at;
        const int owner = (int)below(ranks);
        if (!gaps || below(4))
            give(&shares[owner], at, length);
        if (overlap && !below(5) && ranks > 1)
            give(&shares[(owner + 1) % ranks], at, length);
        at += length;
    }
}

static void make_view(struct member *member, const struct share *share, int64_t displacement)
{
    struct typemap *byte, *map;
    ok(typemap_dense(1, &byte, &error));
    ok(typemap_indexed(share->n, share->at, share->length, byte, &map, &error));
    ok(typemap_resized(map, 0, FILE_MAX, &member->view.filetype, &error));
    typemap_unref(map);
    typemap_unref(byte);
    member->view.displacement = displacement;
    member->view.etype_size = member->view.etype_extent = 1;
}

/* Memory: one piece, or pieces of 3 bytes 5 apart. */
static void make_memory(struct member *member, bool pieces)
{
    struct typemap *dense;
    ok(typemap_dense(pieces ? 3 : 1, &dense, &error));
    if (pieces)
        ok(typemap_resized(dense, 0, 5, &member->request.memory, &error));
    else
        member->request.memory = typemap_ref(dense);
    typemap_unref(dense);
}

static char *memory_byte(const struct member *member, int64_t position)
{
    return member->buffer + typemap_displacement(member->request.memory, position);
}

static void member_clear(struct member *member)
{
    typemap_unref(member->view.filetype);
    typemap_unref(member->request.memory);
    free(member->buffer);
    struct ring *ring = member->ring;
    *member = (struct member){.ring = ring};
}

/* ---- running ---- */

static void run(bool write, int64_t buffer_bytes)
{
    for (int i = 0; i < job.ranks; i++) {
        struct member *member = &job.member[i];
        member->request.write = write;
        member->finished = false;
        member->file = (struct file){.comm = MPI_COMM_NULL,
                                     .rank = i,
                                     .size = job.ranks,
                                     .storage = job.storage,
                                     .ring = member->ring,
                                     .values = {.cb_buffer_size = buffer_bytes}};
        member->move = (struct move){
            .file = &member->file, .strategy = strategy_find("ring"), .request = member->request};
        move_start(&member->move);
    }
    int64_t left = job.ranks, steps = 0;
    while (left > 0) {
        struct member *member = &job.member[below(job.ranks)];
        if (++steps > 20000000)
            fail_msg("%d ranks: the call does not end", job.ranks);
        if (member->finished || move_step(&member->move) == STEP_PENDING)
            continue;
        member->finished = true;
        left--;
    }
}

static void expect_file(void)
{
    static unsigned char found[FILE_MAX];
    int64_t done;
    ok(storage_read(job.storage, 0, found, job.size, &done, &error));
    assert_int_equal(done, job.size);
    for (int64_t i = 0; i < job.size; i++)
        if (job.written[i] ? found[i] != job.expected[i] : found[i] != UNTOUCHED)
            fail_msg("byte %lld of the file: %d, expected %d", (long long)i, found[i],
                     job.written[i] ? job.expected[i] : UNTOUCHED);
}

static void fill_file(void)
{
    static char fill[FILE_MAX];
    memset(fill, UNTOUCHED, sizeof fill);
    ok(storage_truncate(job.storage, 0, &error));
    ok(storage_write(job.storage, 0, fill, job.size, NULL, &error));
}

/* What rank i writes at a byte; where several do, all write the same. */
static void write_case(int64_t displacement, bool pieces, int64_t buffer_bytes)
{
    memset(job.written, 0, sizeof job.written);
    for (int i = 0; i < job.ranks; i++) {
        struct member *member = &job.member[i];
        const struct share *share = &shares[i];
        make_view(member, share, displacement);
        make_memory(member, pieces);
        member->buffer = malloc((size_t)share->bytes * 2 + 16);
        memset(member->buffer, 0, (size_t)share->bytes * 2 + 16);
        member->request.view = &member->view;
        member->request.bytes = share->bytes;
        member->request.buffer = member->buffer;
        for (int64_t run = 0, position = 0; run < share->n; run++)
            for (int64_t k = 0; k < share->length[run]; k++, position++) {
                const int64_t byte = displacement + share->at[run] + k;
                job.written[byte] = true;
                job.expected[byte] = datum(0, byte);
                *memory_byte(member, position) = (char)datum(0, byte);
            }
    }
    fill_file();
    run(true, buffer_bytes);
    for (int i = 0; i < job.ranks; i++) {
        assert_int_equal(job.member[i].move.error.status, PL_OK);
        assert_int_equal(job.member[i].move.done, shares[i].bytes);
    }
    expect_file();
}

/* The same views, from a file that may end before them. */
static void read_case(int64_t displacement, int64_t end, int64_t buffer_bytes)
{
    ok(storage_truncate(job.storage, end, &error));
    for (int i = 0; i < job.ranks; i++)
        memset(job.member[i].buffer, 0x55, (size_t)shares[i].bytes * 2 + 16);
    run(false, buffer_bytes);
    for (int i = 0; i < job.ranks; i++) {
        const struct share *share = &shares[i];
        int64_t there = 0, position = 0;
        assert_int_equal(job.member[i].move.error.status, PL_OK);
        for (int64_t run_ = 0; run_ < share->n; run_++)
            for (int64_t k = 0; k < share->length[run_]; k++, position++) {
                const int64_t byte = displacement + share->at[run_] + k;
                const unsigned char found = (unsigned char)*memory_byte(&job.member[i], position);
                const unsigned char wanted = byte < end ? job.expected[byte] : 0x55;
                there += byte < end;
                if (found != wanted)
                    fail_msg("rank %d, byte %lld: %d, expected %d", i, (long long)byte, found, wanted);
            }
        assert_int_equal(job.member[i].move.done, there);
    }
}

static void random_views(void **unused)
{
    (void)unused;
    for (int c = 0; c < 120; c++) {
        state = (uint64_t)c + 1;
        const int ranks = 1 + (int)below(7);
        job_open(ranks);
        for (int call = 0; call < 3; call++) { /* the ring goes on from call to call */
            const int64_t displacement = below(3) ? below(9000) : 0, size = 1 + below(120000);
            const int64_t buffer_bytes = below(2) ? 16384 : 4096 * (1 + below(40));
            job.size = displacement + size + below(100);
            deal(ranks, size, below(2), below(2));
            write_case(displacement, below(2), buffer_bytes);
            read_case(displacement, below(2) ? job.size : below(job.size), buffer_bytes);
            for (int i = 0; i < ranks; i++)
                member_clear(&job.member[i]);
        }
        job_close();
    }
}

/* Two ranks write one byte twice, and nobody the next: as many bytes as there is room for, and yet a gap. */
static void overlap_and_gap(void **unused)
{
    (void)unused;
    job_open(2);
    job.size = 20000;
    shares[0].n = shares[0].bytes = shares[1].n = shares[1].bytes = 0;
    give(&shares[0], 0, 10000);
    give(&shares[1], 9000, 500); /* again */
    give(&shares[1], 10500, 9500);
    write_case(0, false, 16384);
    for (int i = 0; i < 2; i++)
        member_clear(&job.member[i]);
    job.size = 3 * 65536; /* and in a regular grid */
    shares[0].n = shares[0].bytes = shares[1].n = shares[1].bytes = 0;
    give(&shares[0], 0, 65536);
    give(&shares[1], 0, 65536);
    give(&shares[1], 131072, 65536);
    write_case(0, false, 1 << 20);
    for (int i = 0; i < 2; i++)
        member_clear(&job.member[i]);
    job_close();
}

static void many_ranks(void **unused)
{
    (void)unused;
    static const int counts[] = {16, 200, RANKS_MAX};
    size_t each[3];
    for (int c = 0; c < 3; c++) {
        const int ranks = counts[c];
        struct typemap *byte;
        state = 5;
        const size_t before = mallinfo2().uordblks;
        job_open(ranks);
        each[c] = (mallinfo2().uordblks - before) / (size_t)ranks;
        job.size = FILE_MAX;
        ok(typemap_dense(1, &byte, &error));
        for (int i = 0; i < ranks; i++) { /* CYCLIC(7) */
            struct member *member = &job.member[i];
            struct typemap *piece;
            ok(typemap_dense(7, &piece, &error));
            ok(typemap_resized(piece, 0, 7 * (int64_t)ranks, &member->view.filetype, &error));
            typemap_unref(piece);
            member->view.displacement = 7 * (int64_t)i;
            member->view.etype_size = 1;
            member->request = (struct access_request){
                .view = &member->view, .memory = typemap_ref(byte), .bytes = FILE_MAX / (7 * ranks) * 7};
            member->buffer = member->request.buffer = malloc((size_t)member->request.bytes);
            memset(member->buffer, i % 251, (size_t)member->request.bytes);
        }
        typemap_unref(byte);
        fill_file();
        memset(job.written, 0, sizeof job.written);
        for (int64_t i = 0; i < FILE_MAX / (7 * ranks) * 7 * ranks; i++) {
            job.written[i] = true;
            job.expected[i] = (unsigned char)(i / 7 % ranks % 251);
        }
        run(true, 65536);
        expect_file();
        for (int i = 0; i < ranks; i++)
            member_clear(&job.member[i]);
        job_close();
    }
    if (each[2] > each[0] + 1024)
        fail_msg("a rank takes %zu bytes among 16, %zu among %d", each[0], each[2], RANKS_MAX);
    const size_t more = ring_segment_bytes(RANKS_MAX, RANKS_MAX, RING_CAPACITY_MAX) -
                        ring_segment_bytes(16, 16, RING_CAPACITY_MAX);
    assert_true(more <= (RANKS_MAX - 16) * 512); /* of the node's segment, for each rank and node */
}

/* ---- covers as codes ---- */

static void codes(void **unused)
{
    (void)unused;
    enum { WINDOW = 4096 };
    for (int c = 0; c < 2000; c++) {
        uint64_t coverage[WINDOW / 64] = {0}, back[WINDOW / 64] = {0};
        unsigned char code[WINDOW];
        state = (uint64_t)c + 77;
        const int64_t longest = 1 + below(below(2) ? 4 : 400), stride = below(3) ? 0 : 1 + below(50);
        for (int64_t at = below(64); at < WINDOW;) {
            int64_t length = stride ? stride : 1 + below(longest);
            length = length < WINDOW - at ? length : WINDOW - at;
            coverage_add(coverage, at, length);
            at += length + (stride ? stride : below(longest));
        }
        const size_t bytes = coverage_encode(coverage, WINDOW, code);
        assert_true(bytes <= coverage_code_bytes(WINDOW));
        if (stride)
            assert_true(bytes <= 24);
        struct coverage_reader reader;
        int64_t begin, length;
        coverage_reader_init(&reader, code, bytes, WINDOW);
        while (coverage_reader_next(&reader, &begin, &length))
            coverage_add(back, begin, length);
        assert_false(reader.wrong);
        assert_memory_equal(coverage, back, sizeof coverage);
        for (size_t i = 0; i < bytes; i++) /* broken codes end, and stay inside */
            if (!below(4))
                code[i] = (unsigned char)below(256);
        coverage_reader_init(&reader, code, bytes, WINDOW);
        int64_t sum = 0;
        while (coverage_reader_next(&reader, &begin, &length) && sum <= WINDOW) {
            assert_true(begin >= 0 && length >= 0 && begin + length <= WINDOW);
            sum += length > 0 ? length : 1;
        }
    }
}

static void prints(void **unused)
{
    (void)unused;
    assert_true(ring_fingerprint_piece(10, 20) == ring_fingerprint_piece(10, 5) + ring_fingerprint_piece(15, 15));
    assert_true(ring_fingerprint_piece(10, 20) != ring_fingerprint_piece(10, 6) + ring_fingerprint_piece(15, 14));
    assert_true(ring_fingerprint_piece(0, 4) != ring_fingerprint_piece(0, 2) + ring_fingerprint_piece(0, 2));
    state = 3;
    for (int i = 0; i < 200000; i++) { /* one piece twice, and its neighbour missing: regular places must not cancel */
        const int64_t unit = (int64_t)1 << below(22), at = below(1 << 10) * unit;
        if (ring_fingerprint_piece(at, 2 * unit) == 2 * ring_fingerprint_piece(at, unit))
            fail_msg("pieces of %lld bytes at %lld", (long long)unit, (long long)at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints),          cmocka_unit_test(codes),      cmocka_unit_test(random_views),
        cmocka_unit_test(overlap_and_gap), cmocka_unit_test(many_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
