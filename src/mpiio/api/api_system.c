#include "mpiio/api/api_system.h"

#include "mpi/real.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

struct api_system api_system;

static const struct {
    const char *name;
    size_t place;
} NAMES[] = {
#define FILE_CALL(name) {"MPI_" #name, offsetof(struct api_system, name)},
#include "mpiio/api/api_system.def"
#undef FILE_CALL
};

static struct pl_error load_error;

static void load_once(void)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        void *function = real_find(NAMES[i].name);
        if (!function) {
            pl_fail(&load_error, PL_E_UNSUPPORTED, "the MPI of this process has no function %s", NAMES[i].name);
            return;
        }
        memcpy((char *)&api_system + NAMES[i].place, &function, sizeof function);
    }
}

pl_status api_system_load(struct pl_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    if (load_error.status != PL_OK)
        *error = load_error;
    return load_error.status;
}
