#include "mpiio/access/access_lock.h"

#include "mpi/wait.h"

#include <stddef.h>

struct attempt {
    struct storage *storage;
    enum storage_lock kind;
    int64_t offset, bytes;
    struct pl_error *error;
    pl_status status;
};

static bool try_it(void *arg)
{
    struct attempt *attempt = arg;
    bool locked = false;
    attempt->status = storage_try_lock(attempt->storage, attempt->kind, attempt->offset, attempt->bytes, &locked,
                                       attempt->error);
    return locked || attempt->status != PL_OK;
}

pl_status access_lock(struct storage *storage, enum storage_lock kind, int64_t offset, int64_t bytes, MPI_Comm poke,
                      struct pl_error *error)
{
    struct attempt attempt = {storage, kind, offset, bytes, error, PL_OK};
    wait_until(try_it, &attempt, NULL, poke);
    return attempt.status;
}

void access_unlock(struct storage *storage, int64_t offset, int64_t bytes, struct pl_error *error)
{
    struct pl_error own = {0};
    if (storage_unlock(storage, offset, bytes, &own) != PL_OK && error->status == PL_OK)
        *error = own;
}
