/* What ranks and agents send each other: a head, the pieces of the file as strided runs, and their data. Every message
 * explains itself, is bounded in size, and says in which window its sender has something next: that is how an agent
 * knows when a window is complete. Pure but for the copying.
 *
 * Runs are written as numbers of variable length (7 bits in a byte, the low ones first): the gap to the run before, the
 * length of a piece twice (plus 1 where there are several), and for several their count and stride. A single piece of
 * 128 bytes takes 4 bytes, whatever its neighbours look like. */
#ifndef PIOLET_MPIIO_EXCHANGE_MESSAGE_H
#define PIOLET_MPIIO_EXCHANGE_MESSAGE_H

#include "mpiio/access/access_memory.h"
#include "mpiio/view/view.h"

#include <stdint.h>

static const int64_t EXCHANGE_NO_ROUND = INT64_MAX; /* nothing more from this rank */

struct exchange_head {
    int64_t sequence;   /* of the collective call on this file */
    int64_t generation; /* of the views in force */
    int64_t next;       /* the sender's next window; the same again where one message did not hold all */
    int64_t offset;     /* in the file, of the first piece */
    int64_t runs_bytes; /* of the runs behind the head; then come the data */
    int64_t bytes;      /* of data that the runs describe */
};

/* count pieces of `length` bytes, each `stride` behind the one before. */
struct exchange_run {
    int64_t offset, length, stride, count;
};

enum { EXCHANGE_MESSAGE_BYTES_MIN = 4096 };

/* What a message is made of. */
struct exchange_content {
    const struct view *view;
    struct typemap_cursor *file;  /* of the view's filetype */
    struct access_memory *memory; /* the data are copied from it; NULL in a request for reading: only described */
    int64_t pieces_max;           /* that a message may hold */
};

/* Builds a message in `buffer` of `capacity` bytes: pieces from *position up to `limit` (positions of data), as many as
 * fit. Returns the message's size; *position moves on. Where and to what call it belongs is left to the caller. */
int64_t exchange_message_build(char *buffer, int64_t capacity, const struct exchange_content *content,
                               int64_t *position, int64_t limit);

static inline struct exchange_head *exchange_message_head(char *buffer)
{
    return (struct exchange_head *)buffer;
}

/* Is this, of `size` bytes, a whole message with pieces between two bytes of the file only? Reads nothing behind it. */
bool exchange_message_is_sound(const char *buffer, int64_t size, bool with_data, int64_t begin, int64_t end);

/* Reads the runs of a message that is sound. */
struct exchange_reader {
    const unsigned char *at, *end;
    int64_t offset; /* where the next gap begins */
    const char *data;
};
void exchange_reader_init(struct exchange_reader *reader, const char *buffer);
bool exchange_reader_next(struct exchange_reader *reader, struct exchange_run *ret_run); /* false: no more */

#endif
