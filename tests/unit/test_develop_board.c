/* The board of develop mode: what lacks between a write and who looks at it, for pieces of every shape.
 * proves: GPFS-6
 * Fails when an overlap of strided pieces is missed or invented, when sync, barrier, sync is not enough, when notes
 * that all have acquired stay, or when a size that nobody else changed is warned of. */
#include "base/rng.h"
#include "engine/develop/develop_board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 2 };

static struct develop_board *new_board(void)
{
    struct develop_board *board = calloc(1, develop_board_bytes(RANKS));
    assert_non_null(board);
    for (int i = 0; i < RANKS; i++)
        develop_board_enter(board, i, RANKS, 10 + i);
    return board;
}

static void sync_all(struct develop_board *board)
{
    for (int i = 0; i < RANKS; i++)
        develop_board_sync_begins(board, i);
    for (int i = 0; i < RANKS; i++)
        develop_board_sync_ends(board, i);
}

static enum develop_lack look(struct develop_board *board, int rank, const struct develop_pieces *pieces)
{
    struct develop_finding finding = {0};
    develop_board_read(board, rank, pieces, &finding);
    return finding.lack;
}

static void syncs(void **state)
{
    (void)state;
    struct develop_board *board = new_board();
    const struct develop_pieces some = {.begin = 100, .length = 50, .count = 1},
                                behind = {.begin = 150, .length = 1, .count = 1};
    struct develop_finding finding = {0};
    develop_board_write(board, 0, &some, 1000);
    assert_int_equal(look(board, 1, &some), DEVELOP_LACKS_SYNC);
    assert_int_equal(look(board, 0, &some), DEVELOP_LACKS_NOTHING);
    assert_int_equal(look(board, 1, &behind), DEVELOP_LACKS_NOTHING);
    develop_board_read(board, 1, &(struct develop_pieces){.begin = 120, .length = 500, .count = 1}, &finding);
    assert_int_equal(finding.writer, 10);
    assert_int_equal(finding.begin, 120);
    assert_int_equal(finding.end, 150);
    sync_all(board);
    assert_int_equal(look(board, 1, &some), DEVELOP_LACKS_SECOND_SYNC);
    sync_all(board);
    assert_int_equal(look(board, 1, &some), DEVELOP_LACKS_NOTHING);
    free(board);
}

static void sizes(void **state)
{
    (void)state;
    struct develop_board *board = new_board();
    const struct develop_pieces some = {.begin = 100, .length = 50, .count = 1};
    struct develop_finding finding = {0};
    develop_board_write(board, 0, &some, 150); /* within the file */
    develop_board_size(board, 1, 150, &finding);
    assert_int_equal(finding.lack, DEVELOP_LACKS_NOTHING);
    develop_board_write(board, 0, &(struct develop_pieces){.begin = 300, .length = 50, .count = 1}, 150);
    develop_board_size(board, 1, 400, &finding); /* something else made it larger */
    assert_int_equal(finding.lack, DEVELOP_LACKS_NOTHING);
    develop_board_reach(board, 1, 150, &finding);
    assert_int_equal(finding.lack, DEVELOP_LACKS_NOTHING);
    develop_board_reach(board, 1, 151, &finding);
    assert_int_equal(finding.lack, DEVELOP_LACKS_SYNC);
    finding.lack = DEVELOP_LACKS_NOTHING;
    develop_board_size(board, 1, 350, &finding);
    assert_int_equal(finding.lack, DEVELOP_LACKS_SYNC);
    finding.lack = DEVELOP_LACKS_NOTHING;
    develop_board_resized(board);
    develop_board_size(board, 1, 350, &finding);
    assert_int_equal(finding.lack, DEVELOP_LACKS_NOTHING);
    free(board);
}

/* A loop of 10^6 writes and syncs fits, and so do strided ones. */
static void room(void **state)
{
    (void)state;
    struct develop_board *board = new_board();
    for (int64_t i = 0; i < 1000000; i++)
        develop_board_write(board, 0, &(struct develop_pieces){.begin = 30 * i, .length = 10, .count = 1}, 0);
    assert_int_equal(look(board, 1, &(struct develop_pieces){.begin = 29999970, .length = 1, .count = 1}),
                     DEVELOP_LACKS_SYNC);
    assert_int_equal(look(board, 1, &(struct develop_pieces){.begin = 29999980, .length = 20, .count = 1}),
                     DEVELOP_LACKS_NOTHING);
    for (int64_t i = 0; i < 200000; i++) {
        develop_board_write(board, 1, &(struct develop_pieces){.begin = i * i, .length = 1, .count = 1}, 0);
        if (i % 1000 == 0)
            sync_all(board);
    }
    const int64_t last = 199999;
    assert_int_equal(look(board, 0, &(struct develop_pieces){.begin = last * last, .length = 1, .count = 1}),
                     DEVELOP_LACKS_SYNC);
    free(board);
}

static void mark(char *map, const struct develop_pieces *pieces)
{
    for (int64_t i = 0; i < pieces->count; i++)
        memset(map + pieces->begin + i * pieces->stride, 1, (size_t)pieces->length);
}

static uint64_t draw(void)
{
    static uint64_t drawn;
    return rng_at(17, ++drawn);
}

static struct develop_pieces any_pieces(void)
{
    return (struct develop_pieces){.begin = (int64_t)(draw() % 50),
                                   .length = 1 + (int64_t)(draw() % 5),
                                   .stride = (int64_t)(draw() % 12),
                                   .count = 1 + (int64_t)(draw() % 8)};
}

/* Against maps of bytes. */
static void random_pieces(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20000; trial++) {
        char written[200] = {0}, wanted[200] = {0};
        struct develop_board *board = trial % 1000 == 0 ? new_board() : NULL;
        static struct develop_board *used;
        if (board) {
            free(used);
            used = board;
        } else {
            sync_all(used);
            sync_all(used);
        }
        for (int i = 0; i < 3; i++) {
            const struct develop_pieces pieces = any_pieces();
            develop_board_write(used, 0, &pieces, 0);
            mark(written, &pieces);
        }
        const struct develop_pieces read = any_pieces();
        mark(wanted, &read);
        bool overlap = false;
        for (size_t i = 0; i < sizeof written; i++)
            overlap = overlap || (written[i] && wanted[i]);
        assert_int_equal(look(used, 1, &read), overlap ? DEVELOP_LACKS_SYNC : DEVELOP_LACKS_NOTHING);
        if (trial == 19999)
            free(used);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(syncs), cmocka_unit_test(sizes), cmocka_unit_test(room),
                                       cmocka_unit_test(random_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
