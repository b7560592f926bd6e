/* One rank's access to the file, without any other rank: from (view, position, bytes) and (buffer, memory type) to
 * calls of the storage. Calls no MPI (but to make progress while it waits for a lock, where that is wanted), so that
 * any thread may run it. */
#ifndef PIOLET_ENGINE_ACCESS_ACCESS_H
#define PIOLET_ENGINE_ACCESS_ACCESS_H

#include "engine/storage/storage.h"
#include "engine/typemap/typemap.h"
#include "engine/view/view.h"

#include <mpi.h>
#include <stdbool.h>

struct prefetch;
struct prefetch_memory;

/* What is to be moved between where and where. */
struct access_request {
    bool write;
    struct view *view; /* a reference of the request */
    int64_t position;  /* bytes of the view's data before it */
    int64_t bytes;
    struct typemap *memory; /* a reference of the request */
    int64_t skip;           /* bytes of the memory's data before it: where only a part of them is accessed */
    char *buffer;           /* where displacement 0 of the memory type is; not written to when `write` */
    char *staged;           /* owned; where data are converted, the buffer is this one, in the file's representation */
};

/* How, by the hints and the mode of the file. */
struct access_options {
    bool atomic;       /* the whole access under one span lock */
    bool sieve_reads;  /* may read more than asked for */
    bool sieve_writes; /* may read, modify and write back: under a span lock, and only where `lock_writes` holds on all
                          ranks */
    bool lock_writes;  /* others may be sieving: plain writes lock what they write */
    int64_t read_buffer_bytes, write_buffer_bytes;
    struct prefetch *prefetch; /* is told what is read next; NULL: nobody needs to know */
    MPI_Comm progress;         /* keeps MPI going while waiting for a lock; MPI_COMM_NULL in threads of ours */
};

/* *ret_done: bytes of data that were moved, in order, also after a failure. Reading stops at the end of the file. */
pl_status access_run(struct storage *storage, const struct access_request *request,
                     const struct access_options *options, int64_t *ret_done, struct pl_error *error);

/* The same with guided prefetching, where the pattern is one that the system does not see by itself. */
struct access_prefetch {
    struct prefetch_memory *memory; /* of the file, on this rank */
    int64_t block_bytes;            /* one range for each */
    int together;                   /* ranges that are accessed before they are released; 0: none are fetched */
};
pl_status access_run_guided(struct storage *storage, const struct access_request *request,
                            const struct access_options *options, const struct access_prefetch *ahead,
                            int64_t *ret_done, struct pl_error *error);
void access_request_clear(struct access_request *request);

/* ---- span locks ---- */
/* Span locks of an access. */

/* Waits until the span is locked, letting MPI make progress through `progress`. */
pl_status access_lock(struct storage *storage, enum storage_lock kind, int64_t offset, int64_t bytes, MPI_Comm progress,
                      struct pl_error *error);
/* Keeps an error that is there already. */
void access_unlock(struct storage *storage, int64_t offset, int64_t bytes, struct pl_error *error);

#endif
