/* Predefined types are as old as MPI itself. What was made of them is kept here, and not as their attributes: neither
 * MPI runs the callbacks of all of them at its end (Open MPI of none, MPICH not those of pairs and of Fortran's
 * parametrised types). They are few, so a list does; it stays for the life of the process. Entries are put
 * before the first one and never change or go, so that every access can look one up without a lock. */
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_visit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct entry {
    const struct entry *next;
    const void *owner;
    MPI_Datatype type;
    struct typemap_made made;
};

static pthread_mutex_t keep_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct entry *_Atomic list;

static const struct entry *look_up(const void *owner, MPI_Datatype type)
{
    const struct entry *entry = atomic_load_explicit(&list, memory_order_acquire);
    while (entry && (entry->type != type || entry->owner != owner))
        entry = entry->next;
    return entry;
}

bool typemap_leaf_find(const void *owner, MPI_Datatype type, struct typemap_made *ret_made)
{
    const struct entry *entry = look_up(owner, type);
    if (entry)
        *ret_made = typemap_made_ref(&entry->made);
    return entry;
}

void typemap_leaf_keep(const void *owner, MPI_Datatype type, const struct typemap_made *made)
{
    pthread_mutex_lock(&keep_lock);
    /* Where another thread was quicker, both made the same. */
    struct entry *entry = look_up(owner, type) ? NULL : mem_zalloc(1, sizeof *entry);
    if (entry) {
        *entry = (struct entry){list, owner, type, typemap_made_ref(made)};
        typemap_keep(entry->made.map);
        atomic_store_explicit(&list, entry, memory_order_release);
    }
    pthread_mutex_unlock(&keep_lock);
}
