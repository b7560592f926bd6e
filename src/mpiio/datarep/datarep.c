/* Which representations there are. */
#include "mpiio/datarep/datarep.h"
#include "mpiio/datarep/datarep_core.h"
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_node.h"

#include <pthread.h>
#include <string.h>

static const struct datarep predefined[] = {
    {.family = DATAREP_NATIVE, .name = "native"},
    {.family = DATAREP_NATIVE, .name = "internal"},
    {.family = DATAREP_EXTERNAL32, .name = "external32"},
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct datarep *registered; /* never shorter: nothing in MPI takes one away */

static const struct datarep *look_up(const char *name)
{
    for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
        if (strcmp(predefined[i].name, name) == 0)
            return &predefined[i];
    for (const struct datarep *rep = registered; rep; rep = rep->next)
        if (strcmp(rep->name, name) == 0)
            return rep;
    return NULL;
}

pl_status datarep_find(const char *name, const struct datarep **ret_rep, struct pl_error *error)
{
    if (!name)
        return pl_fail(error, PL_E_ARG, "the name of the data representation is missing");
    pthread_mutex_lock(&list_lock);
    const struct datarep *rep = look_up(name);
    pthread_mutex_unlock(&list_lock);
    if (!rep)
        return pl_fail(error, PL_E_DATAREP,
                       "data representation '%.100s' is not known: neither native, internal, external32 nor a "
                       "registered one",
                       name);
    *ret_rep = rep;
    return PL_OK;
}

const char *datarep_name(const struct datarep *rep)
{
    return rep->name;
}

bool datarep_is_native(const struct datarep *rep)
{
    return rep->family == DATAREP_NATIVE;
}

bool datarep_is_registered(const struct datarep *rep)
{
    return rep->family == DATAREP_REGISTERED;
}

static pl_status check_arguments(const char *name, const struct datarep_functions *functions, struct pl_error *error)
{
    if (!name || !*name)
        return pl_fail(error, PL_E_ARG, "the name of the data representation is missing");
    if (strnlen(name, MPI_MAX_DATAREP_STRING) == MPI_MAX_DATAREP_STRING)
        return pl_fail(error, PL_E_ARG,
                       "the name of the data representation needs more than the %d characters of "
                       "MPI_MAX_DATAREP_STRING",
                       MPI_MAX_DATAREP_STRING);
    if (!functions->extent == !functions->fortran.extent)
        return pl_fail(error, PL_E_ARG, "data representation '%s' needs a function for extents in the file", name);
    return PL_OK;
}

static struct datarep *make(const char *name, const struct datarep_functions *functions)
{
    struct datarep *rep = mem_zalloc(1, sizeof *rep);
    struct datarep_sizes *kinds = mem_zalloc(SIGNATURE_KINDS_MAX, sizeof *kinds);
    char *copy = mem_alloc(strlen(name) + 1);
    if (!rep || !kinds || !copy) {
        mem_free(rep);
        mem_free(kinds);
        mem_free(copy);
        return NULL;
    }
    memcpy(copy, name, strlen(name) + 1);
    *rep = (struct datarep){.family = DATAREP_REGISTERED, .name = copy, .functions = *functions, .kinds = kinds};
    return rep;
}

pl_status datarep_register(const char *name, const struct datarep_functions *functions, struct pl_error *error)
{
    pl_status status = check_arguments(name, functions, error);
    if (status)
        return status;
    pthread_mutex_lock(&list_lock);
    struct datarep *rep = NULL;
    if (look_up(name))
        status = pl_fail(error, PL_E_DUP_DATAREP, "data representation '%s' is defined already", name);
    else if (!(rep = make(name, functions)))
        status = typemap_no_memory(error);
    if (rep) {
        rep->next = registered;
        registered = rep;
    }
    pthread_mutex_unlock(&list_lock);
    return status;
}
