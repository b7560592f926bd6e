/* Which representations there are. */
#include "engine/datarep/datarep.h"
#include "engine/datarep/datarep_core.h"
#include "engine/mem.h"
#include "engine/typemap/typemap_node.h"
#include "mpi/real.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

static const struct datarep predefined[] = {
    {.family = DATAREP_NATIVE, .name = "native"},
    {.family = DATAREP_NATIVE, .name = "internal"},
    {.family = DATAREP_EXTERNAL32, .name = "external32"},
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct datarep *registered; /* never shorter: nothing in MPI takes one away */

static const struct datarep *datarep_look_up(const char *name)
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
    const struct datarep *rep = datarep_look_up(name);
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

static pl_status datarep_check_arguments(const char *name, const struct datarep_functions *functions,
                                         struct pl_error *error)
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

static struct datarep *datarep_make(const char *name, const struct datarep_functions *functions)
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
    pl_status status = datarep_check_arguments(name, functions, error);
    if (status)
        return status;
    pthread_mutex_lock(&list_lock);
    struct datarep *rep = NULL;
    if (datarep_look_up(name))
        status = pl_fail(error, PL_E_DUP_DATAREP, "data representation '%s' is defined already", name);
    else if (!(rep = datarep_make(name, functions)))
        status = typemap_no_memory(error);
    if (rep) {
        rep->next = registered;
        registered = rep;
    }
    pthread_mutex_unlock(&list_lock);
    return status;
}

/* ---- Functions of the program ------------------------------------------------------------------------------------ */

/* Calls of the functions that a program registered. */

bool datarep_has_conversion(const struct datarep *rep, enum datarep_direction direction)
{
    const struct datarep_functions *functions = &rep->functions;
    return direction == DATAREP_READ ? functions->c.read || functions->c_large.read || functions->fortran.read
                                     : functions->c.write || functions->c_large.write || functions->fortran.write;
}

int64_t datarep_call_max(const struct datarep *rep, enum datarep_direction direction)
{
    const bool is_large = direction == DATAREP_READ ? rep->functions.c_large.read : rep->functions.c_large.write;
    return is_large ? INT64_MAX : INT_MAX;
}

/* Open MPI has a table of handles for Fortran; MPICH's handles are integers already, and there it is a macro. */
static MPI_Fint fortran_handle(MPI_Datatype type)
{
#if PIOLET_IS_OPENMPI
    return real.Type_c2f(type);
#else
    return MPI_Type_c2f(type);
#endif
}

static pl_status check_answer(const struct datarep *rep, const char *what, int code, struct pl_error *error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return PL_OK;
    if (real.Error_string(code, text, &length) != MPI_SUCCESS)
        text[0] = '\0';
    return pl_fail(error, PL_E_CONVERSION, "the %s function of data representation '%s' failed with code %d%s%.200s",
                   what, rep->name, code, text[0] ? ": " : "", text);
}

pl_status datarep_call(const struct datarep *rep, enum datarep_direction direction, void *buffer, MPI_Datatype type,
                       int64_t elements, int64_t position, void *file_bytes, struct pl_error *error)
{
    assert(datarep_has_conversion(rep, direction) && elements > 0 && elements <= datarep_call_max(rep, direction));
    const struct datarep_functions *functions = &rep->functions;
    const bool reads = direction == DATAREP_READ;
    MPI_Datarep_conversion_function *c = reads ? functions->c.read : functions->c.write;
    datarep_conversion_large *c_large = reads ? functions->c_large.read : functions->c_large.write;
    datarep_conversion_fortran *fortran = reads ? functions->fortran.read : functions->fortran.write;
    int code = MPI_SUCCESS;
    if (c_large) {
        code = c_large(buffer, type, elements, file_bytes, position, functions->extra_state);
    } else if (c) {
        code = c(buffer, type, (int)elements, file_bytes, position, functions->extra_state);
    } else if (fortran) {
        MPI_Fint handle = fortran_handle(type), count = (MPI_Fint)elements, ierror = MPI_SUCCESS;
        MPI_Offset at = position;
        MPI_Aint extra_state = (MPI_Aint)functions->extra_state;
        fortran(buffer, &handle, &count, file_bytes, &at, &extra_state, &ierror);
        code = ierror;
    }
    return check_answer(rep, reads ? "read conversion" : "write conversion", code, error);
}

pl_status datarep_call_extent(const struct datarep *rep, MPI_Datatype type, int64_t *ret_extent, struct pl_error *error)
{
    const struct datarep_functions *functions = &rep->functions;
    MPI_Aint extent = 0;
    int code;
    if (functions->extent) {
        code = functions->extent(type, &extent, functions->extra_state);
    } else {
        MPI_Fint handle = fortran_handle(type), ierror = MPI_SUCCESS;
        MPI_Aint extra_state = (MPI_Aint)functions->extra_state;
        functions->fortran.extent(&handle, &extent, &extra_state, &ierror);
        code = ierror;
    }
    const pl_status status = check_answer(rep, "extent", code, error);
    if (!status && extent <= 0)
        return pl_fail(error, PL_E_CONVERSION, "the extent function of data representation '%s' gives %lld bytes",
                       rep->name, (long long)extent);
    if (!status)
        *ret_extent = extent;
    return status;
}

/* ---- What was made of a type ------------------------------------------------------------------------------------- */

/* What was made of a derived type for a representation, kept as an attribute of the type: a short list, one entry for
 * each representation that the type was used with. */

struct entry {
    struct entry *next;
    const struct datarep *rep;
    struct typemap_made made;
};

/* The attribute's value stays the same for the type's life: a head whose list grows. */
struct head {
    struct entry *first;
};

/* MPI runs it inside of its own calls and may hold locks: it only frees. A copy of a type starts without entries, which
 * come from the entries of the type that it copies. */
static int datarep_cache_delete_attribute(MPI_Datatype type, int keyval, void *value, void *extra)
{
    struct head *head = value;
    (void)type, (void)keyval, (void)extra;
    while (head->first) {
        struct entry *entry = head->first;
        head->first = entry->next;
        typemap_made_clear(&entry->made);
        mem_free(entry);
    }
    mem_free(head);
    return MPI_SUCCESS;
}

static int copy_nothing(MPI_Datatype type, int keyval, void *extra, void *value, void *ret_value, int *ret_flag)
{
    (void)type, (void)keyval, (void)extra, (void)value, (void)ret_value;
    *ret_flag = 0;
    return MPI_SUCCESS;
}

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER; /* of all heads and of the key */
static int cache_keyval = MPI_KEYVAL_INVALID;

static struct head *find_head(MPI_Datatype type)
{
    return typemap_attribute(type, copy_nothing, datarep_cache_delete_attribute, &cache_keyval);
}

static const struct entry *find_entry(const struct head *head, const struct datarep *rep)
{
    const struct entry *entry = head ? head->first : NULL;
    while (entry && entry->rep != rep)
        entry = entry->next;
    return entry;
}

bool datarep_cache_find(const struct datarep *rep, MPI_Datatype type, struct typemap_made *ret_made)
{
    pthread_mutex_lock(&cache_lock);
    const struct entry *entry = find_entry(find_head(type), rep);
    if (entry)
        *ret_made = typemap_made_ref(&entry->made);
    pthread_mutex_unlock(&cache_lock);
    return entry;
}

static struct head *datarep_cache_make_head(MPI_Datatype type)
{
    struct head *head = cache_keyval == MPI_KEYVAL_INVALID ? NULL : mem_zalloc(1, sizeof *head);
    if (head && real.Type_set_attr(type, cache_keyval, head) != MPI_SUCCESS) {
        mem_free(head);
        head = NULL;
    }
    return head;
}

void datarep_cache_keep(const struct datarep *rep, MPI_Datatype type, const struct typemap_made *made)
{
    assert(made->map && made->signature);
    pthread_mutex_lock(&cache_lock);
    struct head *head = find_head(type);
    if (!find_entry(head, rep)) { /* else another thread was quicker: both made the same */
        if (!head)
            head = datarep_cache_make_head(type);
        struct entry *entry = head ? mem_zalloc(1, sizeof *entry) : NULL;
        if (entry) {
            *entry = (struct entry){head->first, rep, typemap_made_ref(made)};
            head->first = entry;
        }
    }
    pthread_mutex_unlock(&cache_lock);
}
