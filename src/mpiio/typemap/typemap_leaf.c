/* Predefined types are as old as MPI itself. What was made of them is kept here, and not as their attributes: neither
 * MPI runs the callbacks of all of them at its end (Open MPI of none, MPICH not those of pairs and of Fortran's
 * parametrised types). They are few, so a list does; it stays for the life of the process. */
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_visit.h"

#include <pthread.h>
#include <stddef.h>

struct entry {
    struct entry *next;
    const void *owner;
    MPI_Datatype type;
    struct typemap_made made;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *list;

static const struct entry *look_up(const void *owner, MPI_Datatype type)
{
    const struct entry *entry = list;
    while (entry && (entry->type != type || entry->owner != owner))
        entry = entry->next;
    return entry;
}

bool typemap_leaf_find(const void *owner, MPI_Datatype type, struct typemap_made *ret_made)
{
    pthread_mutex_lock(&list_lock);
    const struct entry *entry = look_up(owner, type);
    if (entry)
        *ret_made = typemap_made_ref(&entry->made);
    pthread_mutex_unlock(&list_lock);
    return entry;
}

void typemap_leaf_keep(const void *owner, MPI_Datatype type, const struct typemap_made *made)
{
    pthread_mutex_lock(&list_lock);
    /* Where another thread was quicker, both made the same. */
    struct entry *entry = look_up(owner, type) ? NULL : mem_zalloc(1, sizeof *entry);
    if (entry) {
        *entry = (struct entry){list, owner, type, typemap_made_ref(made)};
        list = entry;
    }
    pthread_mutex_unlock(&list_lock);
}
