/* Pieces of several boxes, put in the order of the file, and accessed together where they lie side by side. */
#ifndef PIOLET_MPIIO_SHIP_COMBINE_H
#define PIOLET_MPIIO_SHIP_COMBINE_H

#include "mpiio/prefetch/prefetch.h"
#include "mpiio/ship/ship_mail.h"
#include "mpiio/storage/storage.h"

enum { SHIP_BATCH = 16 }; /* boxes that are looked at together */

struct ship_ref {
    int64_t offset;
    struct ship_box *box;
    struct ship_piece *piece;
    char *data;
};

struct ship_combine {
    struct storage *storage;
    char *buffer; /* owned */
    int64_t buffer_bytes;
    struct ship_ref *refs; /* owned; room for all pieces of SHIP_BATCH boxes */
    int64_t count;
    struct prefetch_memory *prefetch; /* not owned */
    int64_t block_bytes, looked_at;   /* of guided prefetching: how far its pieces were given */
    int together;                     /* 0: none */
    int64_t calls, combined;          /* since the beginning: of the storage, pieces that went together with others */
};

/* Guided prefetching is the caller's to set up, in the fields above. */
pl_status ship_combine_init(struct ship_combine *combine, struct storage *storage, int64_t buffer_bytes,
                            struct pl_error *error);
void ship_combine_clear(struct ship_combine *combine); /* accepts {0} */

/* Adds a box; then carries out all that were added, of one command: every piece gets its `done`, every box whose
 * pieces failed its status and words. */
void ship_combine_add(struct ship_combine *combine, struct ship_box *box);
void ship_combine_run(struct ship_combine *combine, bool write);

#endif
