/* The exchange that users write where they do not trust MPI-IO: each rank owns a stretch of the file, data go to their
 * owners by MPI_Alltoallv, and owners access the file by pwrite(2) and pread(2). */
#include "bench/engine/engine.h"

#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8 };

/* A piece that this rank owns: where it lies among what the ranks exchange, and in the owner's stretch. */
struct hand_piece {
    int64_t exchanged, file, bytes;
};

/* One call on one rank. */
struct hand_call {
    int64_t memory;               /* where this rank's data of the call begin */
    int *counts, *places;         /* what it exchanges with each owner */
    int *own_counts, *own_places; /* and as an owner with each rank */
    struct hand_piece *pieces;    /* that it owns, in the order of the file */
    int64_t piece_count;
    int64_t own_bytes; /* of them */
};

struct hand {
    int ranks, calls;
    bool direct;         /* a rank's data are one piece: nothing is exchanged */
    int64_t file, bytes; /* of that piece */
    struct hand_call *list;
    char *exchanged, *ordered; /* as exchanged, and in the order of the file */
};

/* The part of a rank's data that a call moves: [begin, end) of its bytes. */
static void hand_part(const struct layout *layout, int calls, int call, int64_t *ret_begin, int64_t *ret_end)
{
    const int64_t words = layout->bytes / WORD;
    *ret_begin = words * call / calls * WORD;
    *ret_end = words * (call + 1) / calls * WORD;
}

/* Calls take(piece) for the pieces of a part, cut where an owner's stretch ends. */
typedef void hand_taker(struct hand_call *call, int rank, int owner, const struct piece *piece, void *arg);

static void hand_each(const struct layout *layout, int64_t begin, int64_t end, int64_t low, int64_t stretch,
                      struct hand_call *call, hand_taker *take, void *arg)
{
    int64_t at = 0; /* of the rank's data */
    for (int64_t i = 0; i < layout->piece_count && at < end; at += layout->pieces[i++].bytes) {
        const struct piece *whole = &layout->pieces[i];
        int64_t from = at < begin ? begin - at : 0;
        const int64_t upto = at + whole->bytes > end ? end - at : whole->bytes;
        while (from < upto) {
            const int64_t file = whole->file + from;
            const int owner = (int)((file - low) / stretch);
            const int64_t left = low + (owner + 1) * stretch - file;
            const int64_t bytes = upto - from < left ? upto - from : left;
            take(call, layout->rank, owner, &(struct piece){whole->memory + from, file, bytes}, arg);
            from += bytes;
        }
    }
}

static void hand_count_own(struct hand_call *call, int rank, int owner, const struct piece *piece, void *arg)
{
    (void)rank;
    (void)arg;
    call->counts[owner] += (int)piece->bytes;
}

/* What another rank has for this one. */
static void hand_take_owned(struct hand_call *call, int rank, int owner, const struct piece *piece, void *arg)
{
    const int *self = arg;
    if (owner != *self)
        return;
    call->pieces = memory_grow(call->pieces, (size_t)call->piece_count, sizeof *call->pieces);
    call->pieces[call->piece_count++] = (struct hand_piece){call->own_bytes, piece->file, piece->bytes};
    call->own_bytes += piece->bytes;
    call->own_counts[rank] += (int)piece->bytes;
}

static int hand_by_place(const void *a, const void *b)
{
    const struct hand_piece *left = a, *right = b;
    return left->file < right->file ? -1 : left->file > right->file;
}

static void hand_find_places(const int *counts, int *places, int ranks)
{
    for (int i = 1; i < ranks; i++)
        places[i] = places[i - 1] + counts[i - 1];
}

static void hand_plan(struct hand *hand, struct layout *all, const struct layout *own, int call)
{
    struct hand_call *plan = &hand->list[call];
    int64_t low = INT64_MAX, high = 0, begin, end;
    for (int i = 0; i < hand->ranks; i++) { /* the stretch that the call covers */
        int64_t at = 0;
        hand_part(&all[i], hand->calls, call, &begin, &end);
        for (int64_t p = 0; p < all[i].piece_count; at += all[i].pieces[p++].bytes) {
            const struct piece *piece = &all[i].pieces[p];
            if (at + piece->bytes <= begin || at >= end)
                continue;
            low = piece->file < low ? piece->file : low;
            high = piece->file + piece->bytes > high ? piece->file + piece->bytes : high;
        }
    }
    const int64_t stretch = ((high - low) / hand->ranks / WORD + 1) * WORD;
    plan->counts = memory_new((size_t)hand->ranks * 4, sizeof *plan->counts);
    plan->places = plan->counts + hand->ranks;
    plan->own_counts = plan->places + hand->ranks;
    plan->own_places = plan->own_counts + hand->ranks;
    hand_part(own, hand->calls, call, &plan->memory, &end);
    hand_each(own, plan->memory, end, low, stretch, plan, hand_count_own, NULL);
    for (int i = 0; i < hand->ranks; i++) {
        hand_part(&all[i], hand->calls, call, &begin, &end);
        hand_each(&all[i], begin, end, low, stretch, plan, hand_take_owned, (void *)&own->rank);
    }
    hand_find_places(plan->counts, plan->places, hand->ranks);
    hand_find_places(plan->own_counts, plan->own_places, hand->ranks);
    qsort(plan->pieces, (size_t)plan->piece_count, sizeof *plan->pieces, hand_by_place);
}

struct hand *hand_new(const struct layout *layout, int calls)
{
    struct hand *hand = memory_new(1, sizeof *hand);
    *hand = (struct hand){.ranks = layout->ranks,
                          .calls = calls,
                          .direct = layout->piece_count == 1,
                          .file = layout->pieces[0].file,
                          .bytes = layout->bytes};
    hand->list = memory_new((size_t)calls, sizeof *hand->list);
    if (hand->direct)
        return hand;
    struct layout *all = memory_new((size_t)hand->ranks, sizeof *all);
    for (int i = 0; i < hand->ranks; i++) {
        all[i] = (struct layout){.pattern = layout->pattern,
                                 .rank = i,
                                 .ranks = layout->ranks,
                                 .wanted_bytes = layout->wanted_bytes,
                                 .edge = layout->edge,
                                 .calls = 1};
        all[i].pattern->make(&all[i]);
    }
    int64_t most = 0;
    for (int call = 0; call < calls; call++) {
        hand_plan(hand, all, layout, call);
        most = hand->list[call].own_bytes > most ? hand->list[call].own_bytes : most;
    }
    hand->exchanged = memory_new((size_t)most + 1, 1);
    hand->ordered = memory_new((size_t)most + 1, 1);
    memset(hand->exchanged, 1, (size_t)most + 1);
    memset(hand->ordered, 1, (size_t)most + 1);
    for (int i = 0; i < hand->ranks; i++)
        free(all[i].pieces);
    free(all);
    return hand;
}

void hand_free(struct hand *hand)
{
    if (!hand)
        return;
    for (int i = 0; i < hand->calls; i++) {
        free(hand->list[i].counts);
        free(hand->list[i].pieces);
    }
    free(hand->list);
    free(hand->exchanged);
    free(hand->ordered);
    free(hand);
}

static int hand_access(int fd, char *memory, int64_t bytes, int64_t offset, bool write)
{
    while (bytes > 0) {
        const ssize_t done = write ? pwrite(fd, memory, (size_t)bytes, offset)
                                   : pread(fd, memory, (size_t)bytes, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        memory += done;
        offset += done;
        bytes -= done;
    }
    return 0;
}

/* Pieces side by side are accessed as one. */
static int hand_access_pieces(const struct hand_call *call, int fd, char *ordered, bool write)
{
    int failed = 0;
    for (int64_t i = 0; i < call->piece_count;) {
        const int64_t file = call->pieces[i].file;
        int64_t bytes = 0;
        while (i < call->piece_count && call->pieces[i].file == file + bytes)
            bytes += call->pieces[i++].bytes;
        const int code = hand_access(fd, ordered, bytes, file, write);
        failed = failed ? failed : code;
        ordered += bytes;
    }
    return failed;
}

static int hand_exchange_coll(const struct hand *hand, const struct hand_call *call, MPI_Comm comm, char *memory,
                              bool write)
{
    char *own = memory + call->memory;
    if (write)
        return MPI_Alltoallv(own, call->counts, call->places, MPI_BYTE, hand->exchanged, call->own_counts,
                             call->own_places, MPI_BYTE, comm);
    return MPI_Alltoallv(hand->exchanged, call->own_counts, call->own_places, MPI_BYTE, own, call->counts, call->places,
                         MPI_BYTE, comm);
}

int hand_move_coll(const struct hand *hand, MPI_Comm comm, int fd, char *memory, int call, bool write)
{
    assert(call >= 0 && call < hand->calls);
    const struct hand_call *plan = &hand->list[call];
    if (hand->direct) {
        const int64_t words = hand->bytes / WORD;
        const int64_t begin = words * call / hand->calls * WORD, end = words * (call + 1) / hand->calls * WORD;
        return hand_access(fd, memory + begin, end - begin, hand->file + begin, write);
    }
    int failed = 0;
    char *ordered = hand->ordered;
    if (write) {
        failed = hand_exchange_coll(hand, plan, comm, memory, true) == MPI_SUCCESS ? 0 : EIO;
        for (int64_t i = 0; i < plan->piece_count; ordered += plan->pieces[i++].bytes)
            memcpy(ordered, hand->exchanged + plan->pieces[i].exchanged, (size_t)plan->pieces[i].bytes);
        const int code = hand_access_pieces(plan, fd, hand->ordered, true);
        return failed ? failed : code;
    }
    failed = hand_access_pieces(plan, fd, hand->ordered, false);
    for (int64_t i = 0; i < plan->piece_count; ordered += plan->pieces[i++].bytes)
        memcpy(hand->exchanged + plan->pieces[i].exchanged, ordered, (size_t)plan->pieces[i].bytes);
    return hand_exchange_coll(hand, plan, comm, memory, false) == MPI_SUCCESS ? failed : EIO;
}
