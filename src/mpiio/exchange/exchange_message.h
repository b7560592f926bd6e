/* What ranks and agents send each other: a head, the pieces of the file as strided runs, and their data. Every message
 * explains itself, is bounded in size, and says in which window its sender has something next: that is how an agent
 * knows when a window is complete. Pure but for the copying. */
#ifndef PIOLET_MPIIO_EXCHANGE_MESSAGE_H
#define PIOLET_MPIIO_EXCHANGE_MESSAGE_H

#include "mpiio/access/access_memory.h"
#include "mpiio/view/view.h"

#include <stdint.h>

static const int64_t EXCHANGE_NO_ROUND = INT64_MAX; /* nothing more from this rank */

struct exchange_head {
    int64_t sequence;   /* of the collective call on this file */
    int64_t generation; /* of the views in force */
    int64_t round;      /* the window it belongs to */
    int64_t next;       /* the sender's next window; the same again where one message did not hold all */
    int64_t runs;       /* how many stand behind the data */
    int64_t bytes;      /* of data that the runs describe */
};

/* count pieces of `length` bytes, each `stride` behind the one before. */
struct exchange_run {
    int64_t offset, length, stride, count;
};

enum { EXCHANGE_MESSAGE_BYTES_MIN = 4096 };

/* Builds a message in `buffer` of `capacity` bytes: pieces of `view` from *position up to `limit` (positions of data),
 * as many as fit. `file` is a cursor of the view's filetype. With `memory`, the data are copied behind the head;
 * without (a request for reading), only described. Returns the message's size; *position moves on. head->next is left
 * to the caller. */
int64_t exchange_message_build(char *buffer, int64_t capacity, const struct view *view, struct typemap_cursor *file,
                               int64_t *position, int64_t limit, struct access_memory *memory);

/* Where the runs and the data of a message are. In a request there are no data. */
static inline struct exchange_head *exchange_message_head(char *buffer)
{
    return (struct exchange_head *)buffer;
}
const struct exchange_run *exchange_message_runs(const char *buffer, bool with_data);
static inline const char *exchange_message_data(const char *buffer)
{
    return buffer + sizeof(struct exchange_head);
}

#endif
