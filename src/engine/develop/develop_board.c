#include "engine/develop/develop_board.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    NOTES = 1 << 16,       /* of all ranks; where they are all in use, further writes are not noted */
    COMPARISONS = 1 << 24, /* for one look at the board; what lies behind is taken for right */
    TURNS = 1 << 20,       /* of waiting for the lock: whoever held it has died, and the board is given up */
};

/* Writes of one rank that nobody told of yet, or not all have acquired. Times are those of the board's clock; 0: not
 * yet. */
struct note {
    struct develop_pieces pieces;
    int64_t size_before;
    int64_t release_begun, released; /* the writer's next sync: its begin and its end */
    int32_t rank, next;              /* next: index + 1; 0: the last */
};

struct rank_state {
    int64_t begun, acquire_begun, acquired; /* the sync under way, and begin and end of the last one */
    int32_t last;                           /* the note that may grow: index + 1 */
    int32_t number;                         /* how findings name this rank */
};

struct develop_board {
    atomic_flag lock;
    atomic_bool given_up;
    atomic_flag told[DEVELOP_LACKS_SYNC + 1];
    int64_t clock;
    int32_t ranks;
    int32_t list, unused; /* notes in use, and those that were: index + 1 */
    int32_t fresh;        /* notes from this one on were never used */
    struct note note[NOTES];
    struct rank_state rank[];
};

size_t develop_board_bytes(int ranks)
{
    return sizeof(struct develop_board) + (size_t)ranks * sizeof(struct rank_state);
}

void develop_board_enter(struct develop_board *board, int rank, int ranks, int number)
{
    assert(rank >= 0 && rank < ranks);
    board->ranks = ranks; /* everybody brings the same */
    board->rank[rank].number = number;
}

static bool board_lock(struct develop_board *board)
{
    for (int i = 0; !atomic_load(&board->given_up); i++) {
        if (!atomic_flag_test_and_set(&board->lock))
            return true;
        if (i == TURNS)
            atomic_store(&board->given_up, true);
        sched_yield();
    }
    return false;
}

static void board_unlock(struct develop_board *board)
{
    atomic_flag_clear(&board->lock);
}

static int64_t develop_board_end_of(const struct develop_pieces *pieces)
{
    return pieces->begin + (pieces->count - 1) * pieces->stride + pieces->length;
}

/* Pieces that touch or overlap are one. */
static struct develop_pieces develop_board_joined(const struct develop_pieces *pieces)
{
    assert(pieces->length > 0 && pieces->count > 0);
    struct develop_pieces one = *pieces;
    if (one.count == 1 || one.stride <= one.length) {
        one.length = develop_board_end_of(pieces) - one.begin;
        one.count = 1;
        one.stride = 0;
    }
    return one;
}

/* ---- writing ---- */

/* The next piece of what the note holds, as a loop of writes brings it? */
static bool develop_board_grow(struct note *note, const struct develop_pieces *more)
{
    struct develop_pieces *pieces = &note->pieces;
    if (more->count != 1)
        return false;
    if (pieces->count == 1 && more->begin == develop_board_end_of(pieces)) {
        pieces->length += more->length;
        return true;
    }
    const int64_t stride = pieces->count == 1 ? more->begin - pieces->begin : pieces->stride;
    if (more->length != pieces->length || stride <= pieces->length ||
        more->begin != pieces->begin + pieces->count * stride)
        return false;
    pieces->stride = stride;
    pieces->count++;
    return true;
}

static int32_t take_note(struct develop_board *board)
{
    int32_t index = board->unused;
    if (index)
        board->unused = board->note[index - 1].next;
    else if (board->fresh < NOTES)
        index = ++board->fresh;
    return index;
}

void develop_board_write(struct develop_board *board, int rank, const struct develop_pieces *pieces,
                         int64_t size_before)
{
    const struct develop_pieces one = develop_board_joined(pieces);
    if (!board_lock(board))
        return;
    struct rank_state *state = &board->rank[rank];
    if (!state->last || !develop_board_grow(&board->note[state->last - 1], &one)) {
        const int32_t index = take_note(board);
        if (index) {
            board->note[index - 1] = (struct note){
                .pieces = one, .size_before = size_before, .rank = rank, .next = board->list};
            board->list = index;
            state->last = index;
        }
    }
    board_unlock(board);
}

/* ---- looking ---- */

static enum develop_lack lack_of(const struct note *note, const struct rank_state *reader)
{
    if (!note->release_begun || note->release_begun > reader->acquired)
        return DEVELOP_LACKS_SYNC;
    if (!note->released || note->released > reader->acquire_begun)
        return DEVELOP_LACKS_SECOND_SYNC;
    return DEVELOP_LACKS_NOTHING;
}

/* The first bytes that [begin, end) has in common with the pieces. */
static bool meets_one(const struct develop_pieces *pieces, int64_t begin, int64_t end, int64_t *ret_begin,
                      int64_t *ret_end)
{
    int64_t index = 0; /* of the first piece that does not end before `begin` */
    if (pieces->count > 1 && begin >= pieces->begin + pieces->length)
        index = (begin - pieces->begin - pieces->length) / pieces->stride + 1;
    if (index >= pieces->count)
        return false;
    const int64_t from = pieces->begin + index * pieces->stride, upto = from + pieces->length;
    *ret_begin = from > begin ? from : begin;
    *ret_end = upto < end ? upto : end;
    return *ret_begin < *ret_end;
}

static bool develop_board_meets(const struct develop_pieces *a, const struct develop_pieces *b, int64_t *budget,
                                int64_t *ret_begin, int64_t *ret_end)
{
    const int64_t begin = a->begin > b->begin ? a->begin : b->begin;
    const int64_t end = develop_board_end_of(a) < develop_board_end_of(b) ? develop_board_end_of(a)
                                                                          : develop_board_end_of(b);
    --*budget;
    if (begin >= end)
        return false;
    const struct develop_pieces *few = a->count < b->count ? a : b, *many = few == a ? b : a;
    int64_t i = few->count > 1 && begin > few->begin ? (begin - few->begin) / few->stride : 0;
    for (; i < few->count && --*budget > 0; i++) {
        const int64_t from = few->begin + i * few->stride;
        if (from >= end)
            return false;
        if (meets_one(many, from, from + few->length, ret_begin, ret_end))
            return true;
    }
    return false;
}

static void develop_board_tell(struct develop_finding *finding, enum develop_lack lack, int writer, int64_t begin,
                               int64_t end)
{
    if (lack > finding->lack)
        *finding = (struct develop_finding){.lack = lack, .writer = writer, .begin = begin, .end = end};
}

static struct note *note_at(struct develop_board *board, int32_t index)
{
    assert(index >= 0 && index <= NOTES);
    return index ? &board->note[index - 1] : NULL;
}

void develop_board_read(struct develop_board *board, int rank, const struct develop_pieces *pieces,
                        struct develop_finding *finding)
{
    const struct develop_pieces one = develop_board_joined(pieces);
    int64_t begin, end, budget = COMPARISONS;
    if (!board_lock(board))
        return;
    for (struct note *note = note_at(board, board->list); note; note = note_at(board, note->next)) {
        if (note->rank == rank || budget <= 0)
            continue;
        const enum develop_lack lack = lack_of(note, &board->rank[rank]);
        if (lack > finding->lack && develop_board_meets(&note->pieces, &one, &budget, &begin, &end))
            develop_board_tell(finding, lack, board->rank[note->rank].number, begin, end);
    }
    board_unlock(board);
}

/* Up to where this rank has written itself: the file reaches so far whatever others do. */
static int64_t own_end(struct develop_board *board, int rank)
{
    int64_t end = 0;
    for (struct note *note = note_at(board, board->list); note; note = note_at(board, note->next)) {
        if (note->rank == rank && develop_board_end_of(&note->pieces) > end)
            end = develop_board_end_of(&note->pieces);
    }
    return end;
}

static bool has_grown(const struct note *note)
{
    return develop_board_end_of(&note->pieces) > note->size_before;
}

void develop_board_reach(struct develop_board *board, int rank, int64_t end, struct develop_finding *finding)
{
    if (!board_lock(board))
        return;
    const bool sure = own_end(board, rank) >= end;
    for (struct note *note = note_at(board, board->list); note; note = note_at(board, note->next)) {
        if (!sure && note->rank != rank && has_grown(note) && note->size_before < end)
            develop_board_tell(finding, lack_of(note, &board->rank[rank]), board->rank[note->rank].number,
                               note->size_before, develop_board_end_of(&note->pieces));
    }
    board_unlock(board);
}

void develop_board_size(struct develop_board *board, int rank, int64_t size, struct develop_finding *finding)
{
    if (!board_lock(board))
        return;
    const int64_t own = own_end(board, rank);
    for (struct note *note = note_at(board, board->list); note; note = note_at(board, note->next)) {
        if (note->rank != rank && has_grown(note) && develop_board_end_of(&note->pieces) > own &&
            develop_board_end_of(&note->pieces) >= size)
            develop_board_tell(finding, lack_of(note, &board->rank[rank]), board->rank[note->rank].number,
                               note->size_before, develop_board_end_of(&note->pieces));
    }
    board_unlock(board);
}

/* ---- sync ---- */

void develop_board_sync_begins(struct develop_board *board, int rank)
{
    if (!board_lock(board))
        return;
    const int64_t now = ++board->clock;
    board->rank[rank].begun = now;
    board->rank[rank].last = 0;
    for (struct note *note = note_at(board, board->list); note; note = note_at(board, note->next)) {
        if (note->rank == rank && !note->release_begun)
            note->release_begun = now;
    }
    board_unlock(board);
}

/* Takes away what every rank has acquired. */
static void develop_board_sweep(struct develop_board *board)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < board->ranks; i++)
        if (board->rank[i].acquire_begun < least)
            least = board->rank[i].acquire_begun;
    for (int32_t *link = &board->list; *link;) {
        const int32_t index = *link;
        struct note *note = &board->note[index - 1];
        if (!note->released || note->released > least) {
            link = &note->next;
            continue;
        }
        *link = note->next;
        note->next = board->unused;
        board->unused = index;
    }
}

void develop_board_sync_ends(struct develop_board *board, int rank)
{
    if (!board_lock(board))
        return;
    const int64_t now = ++board->clock;
    struct rank_state *state = &board->rank[rank];
    assert(state->begun > 0 && state->begun < now);
    state->acquire_begun = state->begun;
    state->acquired = now;
    for (struct note *note = note_at(board, board->list); note; note = note_at(board, note->next)) {
        if (note->rank == rank && note->release_begun && !note->released)
            note->released = now;
    }
    develop_board_sweep(board);
    board_unlock(board);
}

void develop_board_resized(struct develop_board *board)
{
    if (!board_lock(board))
        return;
    for (struct note *note = note_at(board, board->list); note; note = note_at(board, note->next))
        note->size_before = INT64_MAX;
    for (int i = 0; i < board->ranks; i++)
        board->rank[i].last = 0; /* what is written next may change it again */
    board_unlock(board);
}

bool develop_board_first(struct develop_board *board, enum develop_lack lack)
{
    return !atomic_flag_test_and_set(&board->told[lack]);
}
