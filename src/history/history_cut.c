#include "history/history_cut.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char BEGIN[] = "piolet-block ", END[] = "end-block ";
enum { HEAD_MAX = sizeof BEGIN, BUFFER_BYTES = 1 << 16 };

struct cut {
    struct history_pieces pieces;
    bool open; /* the last piece has no end yet */
    int64_t line, line_begin;
    char head[HEAD_MAX]; /* the first bytes of this line */
    size_t length;       /* of this line */
    bool failed;
};

static bool begins_with(const struct cut *cut, const char *word, size_t length)
{
    return cut->length >= length && memcmp(cut->head, word, length) == 0;
}

static void add_piece(struct cut *cut)
{
    struct history_pieces *pieces = &cut->pieces;
    if ((pieces->count & (pieces->count - 1)) == 0) {
        struct history_piece *more = realloc(pieces->list, (pieces->count ? 2 * pieces->count : 1) * sizeof *more);
        if (!more) {
            cut->failed = true;
            return;
        }
        pieces->list = more;
    }
    assert(pieces->count == 0 || pieces->list[pieces->count - 1].end <= cut->line_begin); /* no byte is in two */
    pieces->list[pieces->count++] = (struct history_piece){cut->line, cut->line_begin, cut->line_begin};
    cut->open = true;
}

/* `end` is behind the line. */
static void end_line(struct cut *cut, int64_t end)
{
    assert(cut->length > 0 && end == cut->line_begin + (int64_t)cut->length);
    if (begins_with(cut, BEGIN, sizeof BEGIN - 1))
        add_piece(cut);
    if (cut->open && !cut->failed)
        cut->pieces.list[cut->pieces.count - 1].end = end;
    if (begins_with(cut, END, sizeof END - 1))
        cut->open = false;
    cut->line++;
    cut->line_begin = end;
    cut->length = 0;
}

static void cut_take(struct cut *cut, const char *bytes, size_t count, int64_t offset)
{
    for (size_t i = 0; i < count && !cut->failed; i++) {
        if (cut->length < HEAD_MAX)
            cut->head[cut->length] = bytes[i];
        cut->length++;
        if (bytes[i] == '\n')
            end_line(cut, offset + (int64_t)i + 1);
    }
}

pl_status history_cut(int descriptor, const char *path, struct history_pieces *ret_pieces, struct pl_error *error)
{
    char buffer[BUFFER_BYTES];
    struct cut cut = {.line = 1};
    int64_t offset = 0;
    ssize_t got;
    while ((got = pread(descriptor, buffer, sizeof buffer, offset)) > 0 && !cut.failed) {
        cut_take(&cut, buffer, (size_t)got, offset);
        offset += got;
    }
    if (cut.length && !cut.failed)
        end_line(&cut, offset);
    if (got < 0 || cut.failed) {
        history_pieces_clear(&cut.pieces);
        return pl_fail_errno(error, got < 0 ? errno : ENOMEM, "reading '%s'", path);
    }
    *ret_pieces = cut.pieces;
    return PL_OK;
}

void history_pieces_clear(struct history_pieces *pieces)
{
    free(pieces->list);
    *pieces = (struct history_pieces){0};
}

const struct history_piece *history_piece_at(const struct history_pieces *pieces, int64_t line)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->list[i].line == line)
            return &pieces->list[i];
    return NULL;
}
