/* Data accesses that the program does not wait for at once: behind a request, or between …_begin and …_end. */
#ifndef PIOLET_MPIIO_API_OPERATION_H
#define PIOLET_MPIIO_API_OPERATION_H

#include "mpiio/api/api_access.h"
#include "mpiio/pending/pending.h"

struct api_operation {
    struct pending pending; /* first: a pending of ours is its operation */
    struct api api;
    const struct api_call *call;
    struct api_arguments arguments;
    bool owns_type;
    int64_t done; /* bytes of the program's data that were moved */
    int code;     /* what the program gets */
    MPI_Status status;
    atomic_bool finished;
    atomic_int references; /* of the engine until the end, of the request or the split call until it is heard of */
    MPI_Request request;   /* MPI_REQUEST_NULL: none */
    atomic_bool abandoned; /* the program will not ask: MPI_Request_free */
    bool told;             /* its failure was told by the call that started it */
    struct api_operation *next, **place; /* among the live requests */
    struct api_operation *next_failed;   /* of those whose failure a call has to tell */
};

/* Begins it; a collective one also where this rank's arguments are wrong (api->error may tell so before), since the
 * others count on it. NULL: it was
 * refused, or there was no memory; a collective one goes on without the program, or has come to its end. api->error
 * tells. `with_request`: makes one. */
struct api_operation *api_operation_start(struct api *api, const struct api_call *call,
                                          const struct api_arguments *arguments, bool with_request);
/* Makes the operation that the file keeps in reserve, if it can. */
void api_operation_reserve(struct file *file);
void api_operation_unref(struct api_operation *operation);

/* Frees operations whose requests the program has completed. */
void api_operations_sweep(void);

/* How many requests of ours the program has not completed yet. */
int api_requests_live(void);

/* MPI_Request_free: nobody will ask for its outcome. Does nothing where the request is none of ours. */
void api_request_abandon(MPI_Request request);

/* Failed operations whose requests this thread has completed, or looked at, since the last call, linked by
 * `next_failed`; to be dropped. */
struct api_operation *api_failures_take(void);
void api_failures_drop(struct api_operation *list);

#endif
