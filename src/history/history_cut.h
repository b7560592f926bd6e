/* Where the blocks of a block file begin and end, in bytes. Needs no knowledge of what is in them. */
#ifndef PIOLET_HISTORY_HISTORY_CUT_H
#define PIOLET_HISTORY_HISTORY_CUT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct history_piece {
    int64_t line; /* of its `piolet-block` line, from 1 */
    int64_t begin, end;
};

struct history_pieces {
    struct history_piece *list; /* owned */
    size_t count;
};

/* A piece ends behind its `end-block` line, or before the next block, or at the end of the file. */
pl_status history_cut(int descriptor, const char *path, struct history_pieces *ret_pieces, struct pl_error *error);
void history_pieces_clear(struct history_pieces *pieces);

/* The piece that begins in this line; NULL: none. */
const struct history_piece *history_piece_at(const struct history_pieces *pieces, int64_t line);

#endif
