/* The operations that a model may name, and how each is called. */
#ifndef PIOLET_REPLAY_OPERATION_H
#define PIOLET_REPLAY_OPERATION_H

#include <mpi.h>
#include <stdbool.h>

enum replay_kind {
    REPLAY_ACCESS, /* moves data, and is over when it returns */
    REPLAY_START,  /* non-blocking: gives a request */
    REPLAY_BEGIN,  /* of a split collective */
    REPLAY_END,
    REPLAY_WAIT,
    REPLAY_OPEN,
    REPLAY_CLOSE,
    REPLAY_DELETE,
    REPLAY_SET_VIEW,
    REPLAY_SET_INFO,
    REPLAY_NUMBER, /* sync, and those that get a number */
};

/* One form for all accesses: what an operation has no use for is passed over. */
typedef int replay_call(MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type,
                        MPI_Request *request, MPI_Status *status);

/* How waiting is asked for; all of them complete what they are given. */
typedef int replay_wait(int count, MPI_Request *requests);

struct replay_operation {
    const char *name;
    enum replay_kind kind;
    bool is_access, needs_file, needs_number;
    bool meets;        /* of what is no access: all ranks of the file's communicator call it */
    bool gathers;      /* a wait that completes several: those that follow each other are one call */
    replay_call *call; /* of accesses, ends of split ones, and REPLAY_NUMBER (its offset) */
    replay_wait *wait;
};

/* NULL: there is none of this name. */
const struct replay_operation *replay_operation_find(const char *name);
bool replay_operation_is_collective(const struct replay_operation *operation);

#endif
