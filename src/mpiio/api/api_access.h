/* What the functions that move data share: checking a call's arguments and making a request of them. */
#ifndef PIOLET_MPIIO_API_ACCESS_H
#define PIOLET_MPIIO_API_ACCESS_H

#include "mpiio/api/api.h"
#include "mpiio/strategy/strategy.h"

/* The words of api_access.def. */
enum { READ, WRITE };
enum { ALONE, TOGETHER };
enum api_positioning { EXPLICIT, INDIVIDUAL, SHARED, ORDERED };

/* The type of a buffer that is read into, or written from. */
#define API_BUFFER_READ  void *
#define API_BUFFER_WRITE const void *

/* A function of the table api_access.def. */
struct api_call {
    const char *function;
    bool write;
    enum api_positioning positioning;
    bool together; /* collective */
};

/* What the program gave it. */
struct api_arguments {
    int64_t offset; /* etypes; only with EXPLICIT */
    void *buffer;
    int64_t count;
    MPI_Datatype type;
};

/* A request of the arguments, placed in the file; pointers move on. The place of ORDERED ones is found later.
 * After a failure the request is {0}, and no pointer has moved, but for a shared one that left the largest file. */
pl_status api_request(struct api *api, const struct api_call *call, const struct api_arguments *arguments,
                      struct access_request *ret_request);

/* After an access of `done` bytes of the file: hands data that were read in another representation to the program.
 * Returns the bytes of the program's own data. */
int64_t api_deliver(struct api *api, const struct api_arguments *arguments, const struct access_request *request,
                    int64_t done);

/* Fills a status (may be MPI_STATUS_IGNORE) with the bytes that were moved. */
void api_set_status(MPI_Status *status, int64_t bytes);

/* One line of the log, where it is wanted. `code`: what the program gets. */
void api_log(const struct api *api, const struct api_call *call, const struct api_arguments *arguments,
             const struct access_request *request, int64_t done, int code);

#endif
