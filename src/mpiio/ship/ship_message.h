/* What goes between a rank and an agent on another node, over a communicator that the file has for nothing else: a
 * request (from `index` to the last piece of a box), its data where they are written, the answer, and the data where
 * they were read. Each is as large as a box at most. A rank uses a box again when it has the answer, so that the number
 * of the box tells its messages apart. */
#ifndef PIOLET_MPIIO_SHIP_MESSAGE_H
#define PIOLET_MPIIO_SHIP_MESSAGE_H

#include "mpiio/ship/ship_mail.h"

enum ship_tag {
    SHIP_TAG_REQUEST, /* the same for all boxes: agents look for it from anybody */
    SHIP_TAG_WRITTEN, /* each of these + the number of the box */
    SHIP_TAG_ANSWER = SHIP_TAG_WRITTEN + SHIP_BOXES,
    SHIP_TAG_READ = SHIP_TAG_ANSWER + SHIP_BOXES
};

struct ship_answer {
    int64_t end;
    int32_t status;
    int32_t pieces; /* that follow; 0: all are done as far as they go */
    char words[SHIP_WORDS_MAX];
    int64_t done[SHIP_PIECES];
};

static inline char *ship_request_begin(struct ship_box *box)
{
    return (char *)&box->index;
}

static inline size_t ship_request_bytes(int pieces)
{
    return offsetof(struct ship_box, piece) - offsetof(struct ship_box, index) +
           (size_t)pieces * sizeof(struct ship_piece);
}

static inline size_t ship_answer_bytes(int pieces)
{
    return offsetof(struct ship_answer, done) + (size_t)pieces * sizeof(int64_t);
}

#endif
