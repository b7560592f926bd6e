/* What was made of a derived type for a representation, kept as an attribute of the type: a short list, one entry for
 * each representation that the type was used with. */
#include "mpi/real.h"
#include "mpiio/datarep/datarep_core.h"
#include "mpiio/mem.h"

#include <pthread.h>

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
static int delete_attribute(MPI_Datatype type, int keyval, void *value, void *extra)
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
    void *value = NULL;
    int is_set = 0;
    if (cache_keyval == MPI_KEYVAL_INVALID &&
        real.Type_create_keyval(copy_nothing, delete_attribute, &cache_keyval, NULL) != MPI_SUCCESS)
        cache_keyval = MPI_KEYVAL_INVALID;
    if (cache_keyval == MPI_KEYVAL_INVALID || real.Type_get_attr(type, cache_keyval, &value, &is_set) != MPI_SUCCESS ||
        !is_set)
        return NULL;
    return value;
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

static struct head *make_head(MPI_Datatype type)
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
    pthread_mutex_lock(&cache_lock);
    struct head *head = find_head(type);
    if (!find_entry(head, rep)) { /* else another thread was quicker: both made the same */
        if (!head)
            head = make_head(type);
        struct entry *entry = head ? mem_zalloc(1, sizeof *entry) : NULL;
        if (entry) {
            *entry = (struct entry){head->first, rep, typemap_made_ref(made)};
            head->first = entry;
        }
    }
    pthread_mutex_unlock(&cache_lock);
}
