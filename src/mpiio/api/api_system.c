#include "mpiio/api/api_system.h"

#include "mpi/real.h"

#include <pthread.h>

struct api_system api_system;

static const struct real_entry NAMES[] = {
#define FILE_CALL(name) {"PMPI_" #name, offsetof(struct api_system, name)},
#include "mpiio/api/api_system.def"
#undef FILE_CALL
};

static struct pl_error load_error;

static void load_once(void)
{
    real_fill(&api_system, NAMES, sizeof NAMES / sizeof NAMES[0], &load_error);
}

pl_status api_system_load(struct pl_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    if (load_error.status != PL_OK)
        *error = load_error;
    return load_error.status;
}
