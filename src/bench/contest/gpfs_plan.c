/* Which bytes a rank moves in which call. Pure: every rank can compute the share of every other. */
#include "bench/contest/gpfs.h"

#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>

enum {
    BLOCK = 256 << 10,   /* of the document's file system: a sparse stride leaves it behind */
    SPARSE_RECORDS = 24, /* least stride of the sparse pattern: 24 records of 12 KiB in the document */
    SPACING = 2,         /* partitioning: the file is so many times as long as what is accessed; random: likewise */
    ROUNDS = 4
};

/* ---- random ---- */

/* A Feistel network on the least even number of bits that holds `count`; numbers beyond it are sent on. */
int64_t gpfs_permute(uint64_t seed, int64_t count, int64_t index)
{
    int half = 1;
    while (half < 31 && (UINT64_C(1) << (2 * half)) < (uint64_t)count)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t value = (uint64_t)index;
    do {
        uint64_t left = value >> half, right = value & mask;
        for (int round = 0; round < ROUNDS; round++) {
            const uint64_t mixed = (left ^ rng_at(seed + (uint64_t)round, right)) & mask;
            left = right;
            right = mixed;
        }
        value = left << half | right;
    } while (value >= (uint64_t)count);
    return (int64_t)value;
}

/* One of 0 … count - 1. */
static int64_t plan_pick(uint64_t seed, int64_t place, int64_t count)
{
    return (int64_t)(rng_at(seed, (uint64_t)place) % (uint64_t)count);
}

/* ---- sizes ---- */

static int64_t plan_sparse_stride_records(const struct contest_cell *cell)
{
    const int64_t record = cell->value[GPFS_RECORD];
    const int64_t beyond = 1 + (BLOCK + record - 1) / record; /* no block is met by two successive records of a rank */
    int64_t stride = beyond > SPARSE_RECORDS ? beyond : SPARSE_RECORDS;
    return stride > cell->ranks ? stride : cell->ranks;
}

/* Bytes of the file from one record of a rank to its next. */
static int64_t plan_stride_bytes(const struct contest_cell *cell)
{
    return cell->value[GPFS_RECORD] *
           (cell->value[GPFS_PATTERN] == GPFS_SPARSE ? plan_sparse_stride_records(cell) : cell->ranks);
}

struct plan_shape {
    int64_t pieces; /* of each rank */
    int64_t piece_bytes, file_bytes;
};

static struct plan_shape plan_shape_of(const struct contest_cell *cell)
{
    const int64_t *value = cell->value, ranks = cell->ranks;
    switch (cell->benchmark->kind) {
    case GPFS_CONTIGUOUS:
        return (struct plan_shape){1, value[GPFS_SIZE], ranks * value[GPFS_SIZE]};
    case GPFS_DISCONTIGUOUS: {
        const int64_t blocks = value[GPFS_SIZE] / value[GPFS_BLOCK];
        return (struct plan_shape){blocks, value[GPFS_BLOCK], ranks * blocks * value[GPFS_BLOCK]};
    }
    case GPFS_PARTITIONING:
        return (struct plan_shape){value[GPFS_BLOCKS], value[GPFS_BLOCK],
                                   SPACING * ranks * value[GPFS_BLOCKS] * value[GPFS_BLOCK]};
    case GPFS_ACCESS_RANGE:
        return (struct plan_shape){value[GPFS_BLOCKS] * value[GPFS_SUB_BLOCKS], value[GPFS_SUB_BLOCK],
                                   ranks * value[GPFS_BLOCKS] * value[GPFS_BLOCK]};
    case GPFS_STRIDED: {
        const int64_t count = value[GPFS_FILE_SIZE] / plan_stride_bytes(cell);
        return (struct plan_shape){count, value[GPFS_RECORD], count * plan_stride_bytes(cell)};
    }
    case GPFS_RANDOM: {
        const int64_t slots = value[GPFS_FILE_SIZE] / value[GPFS_RECORD];
        return (struct plan_shape){slots / (SPACING * ranks), value[GPFS_RECORD], slots * value[GPFS_RECORD]};
    }
    case GPFS_THREADED:
        break;
    }
    const int64_t records = value[GPFS_SIZE] / value[GPFS_RECORD];
    return (struct plan_shape){records, value[GPFS_RECORD], ranks * records * value[GPFS_RECORD]};
}

pl_status gpfs_plan_size(struct contest_cell *cell, struct pl_error *error)
{
    const int64_t *value = cell->value;
    const bool tiles = cell->benchmark->kind == GPFS_ACCESS_RANGE || cell->benchmark->kind == GPFS_PARTITIONING;
    if (cell->benchmark->kind == GPFS_DISCONTIGUOUS && value[GPFS_REGION] % value[GPFS_BLOCK])
        return pl_fail(error, PL_E_USAGE, "--region: %lld bytes are no whole number of blocks of %lld",
                       (long long)value[GPFS_REGION], (long long)value[GPFS_BLOCK]);
    if (cell->benchmark->kind == GPFS_ACCESS_RANGE &&
        value[GPFS_SUB_BLOCKS] * value[GPFS_SUB_BLOCK] > value[GPFS_BLOCK])
        return pl_fail(error, PL_E_USAGE, "--sub-blocks: %lld of %lld bytes do not fit into a block of %lld",
                       (long long)value[GPFS_SUB_BLOCKS], (long long)value[GPFS_SUB_BLOCK],
                       (long long)value[GPFS_BLOCK]);
    if (tiles && value[GPFS_BLOCKS] > (INT64_C(1) << 58) / value[GPFS_BLOCK] / SPACING / cell->ranks)
        return pl_fail(error, PL_E_USAGE, "--blocks: %lld of %lld bytes on %d ranks make too large a file",
                       (long long)value[GPFS_BLOCKS], (long long)value[GPFS_BLOCK], cell->ranks);
    const struct plan_shape shape = plan_shape_of(cell);
    if (shape.pieces < 1)
        return pl_fail(error, PL_E_USAGE, "--%s: %lld bytes give %d rank%s no piece of %lld bytes each",
                       cell->benchmark->defaults[GPFS_SIZE] ? "size" : "file-size",
                       (long long)(value[GPFS_SIZE] + value[GPFS_FILE_SIZE]), cell->ranks, cell->ranks == 1 ? "" : "s",
                       (long long)shape.piece_bytes);
    cell->file_bytes = shape.file_bytes;
    cell->moved_bytes = cell->ranks * shape.pieces * shape.piece_bytes;
    return PL_OK;
}

/* ---- offsets ---- */

static int64_t plan_offset_of(const struct contest_cell *cell, int rank, uint64_t seed, const struct plan_shape *shape,
                              int64_t piece)
{
    const int64_t *value = cell->value, ranks = cell->ranks;
    switch (cell->benchmark->kind) {
    case GPFS_DISCONTIGUOUS:
        return gpfs_permute(seed, ranks * shape->pieces, rank * shape->pieces + piece) * shape->piece_bytes;
    case GPFS_PARTITIONING: { /* one block at a random place in each stretch of two, so that none touch */
        const int64_t stretch = gpfs_permute(seed, ranks * shape->pieces, piece * ranks + rank);
        return stretch * SPACING * shape->piece_bytes + plan_pick(seed, stretch, shape->piece_bytes);
    }
    case GPFS_ACCESS_RANGE: { /* a block is cut into as many stretches as it has sub-blocks */
        const int64_t subs = value[GPFS_SUB_BLOCKS], stretch = value[GPFS_BLOCK] / subs;
        const int64_t block = gpfs_permute(seed, ranks * value[GPFS_BLOCKS], rank * value[GPFS_BLOCKS] + piece / subs);
        return block * value[GPFS_BLOCK] + piece % subs * stretch +
               plan_pick(seed, block * subs + piece % subs, stretch - shape->piece_bytes + 1);
    }
    case GPFS_STRIDED:
        return rank * shape->piece_bytes + piece * plan_stride_bytes(cell);
    case GPFS_RANDOM:
        return gpfs_permute(seed, shape->file_bytes / shape->piece_bytes, rank * shape->pieces + piece) *
               shape->piece_bytes;
    case GPFS_CONTIGUOUS:
    case GPFS_THREADED:
        break;
    }
    return (rank * shape->pieces + piece) * shape->piece_bytes;
}

int gpfs_by_offset(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- calls ---- */

static enum gpfs_view plan_view_of(const struct contest_cell *cell)
{
    const enum gpfs_pattern kind = cell->benchmark->kind;
    if (kind == GPFS_DISCONTIGUOUS)
        return GPFS_VIEW_EACH;
    return kind == GPFS_ACCESS_RANGE || kind == GPFS_RANDOM ? GPFS_ONE_VIEW : GPFS_NO_VIEW;
}

static int64_t plan_calls_of(const struct contest_cell *cell, const struct plan_shape *shape)
{
    if (plan_view_of(cell) == GPFS_NO_VIEW)
        return shape->pieces;
    if (cell->benchmark->kind == GPFS_ACCESS_RANGE)
        return 1;
    const int64_t *value = cell->value;
    if (cell->benchmark->kind == GPFS_RANDOM)
        return (shape->pieces + value[GPFS_BATCH] - 1) / value[GPFS_BATCH];
    return (shape->file_bytes + value[GPFS_REGION] - 1) / value[GPFS_REGION];
}

static void plan_cut_into_calls(const struct contest_cell *cell, uint64_t seed, struct gpfs_plan *plan)
{
    int64_t piece = 0;
    for (int64_t call = 0; call < plan->calls; call++) {
        plan->first_piece[call] = piece;
        if (plan->view == GPFS_VIEW_EACH)
            while (piece < plan->count && plan->offsets[piece] < (call + 1) * plan->region_bytes)
                piece++;
        else
            piece = (call + 1) * (plan->calls == 1 ? plan->count : plan->order ? cell->value[GPFS_BATCH] : 1);
        piece = piece < plan->count ? piece : plan->count;
        if (plan->order)
            plan->order[call] = gpfs_permute(seed, plan->calls, call);
    }
    plan->first_piece[plan->calls] = plan->count;
}

pl_status gpfs_plan_make(const struct contest_cell *cell, int rank, uint64_t seed, struct gpfs_plan *ret_plan,
                         struct pl_error *error)
{
    assert(rank >= 0 && rank < cell->ranks);
    const struct plan_shape shape = plan_shape_of(cell);
    struct gpfs_plan plan = {.view = plan_view_of(cell),
                             .piece_bytes = shape.piece_bytes,
                             .count = shape.pieces,
                             .calls = plan_calls_of(cell, &shape),
                             .region_bytes = cell->value[GPFS_REGION]};
    const bool shuffles = cell->benchmark->kind == GPFS_RANDOM;
    plan.offsets = malloc((size_t)plan.count * sizeof *plan.offsets);
    plan.first_piece = malloc((size_t)(plan.calls + 1) * sizeof *plan.first_piece);
    plan.order = shuffles ? malloc((size_t)plan.calls * sizeof *plan.order) : NULL;
    if (!plan.offsets || !plan.first_piece || (shuffles && !plan.order)) {
        gpfs_plan_clear(&plan);
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a list of %lld pieces", (long long)shape.pieces);
    }
    for (int64_t piece = 0; piece < plan.count; piece++)
        plan.offsets[piece] = plan_offset_of(cell, rank, seed, &shape, piece);
    if (plan.view != GPFS_NO_VIEW)
        qsort(plan.offsets, (size_t)plan.count, sizeof *plan.offsets, gpfs_by_offset);
    plan_cut_into_calls(cell, rng_at(seed, (uint64_t)rank), &plan);
    *ret_plan = plan;
    return PL_OK;
}

void gpfs_plan_clear(struct gpfs_plan *plan)
{
    free(plan->offsets);
    free(plan->first_piece);
    free(plan->order);
    *plan = (struct gpfs_plan){0};
}
