/* The open files, by their handles. A handle may come back for a new file while another thread's close of the old one
 * has not been noted yet: the youngest is found first. */
#include "tracer/tracer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BUCKETS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tracer_file *buckets[BUCKETS];
static int last_id;
/* Changes with every change of the table: until then, a thread need not look for its last file again. */
static atomic_uint generation = 1;

static struct tracer_file **bucket_of(MPI_File handle)
{
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    return &buckets[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

struct tracer_file *tracer_file_add(MPI_File handle, int amode)
{
    struct tracer_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->handle = handle;
    file->sequential = amode & MPI_MODE_SEQUENTIAL;
    file->etype_bytes = 1;
    file->position = amode & MPI_MODE_APPEND ? -1 : 0;
    pthread_mutex_lock(&lock);
    file->id = ++last_id;
    file->next = *bucket_of(handle);
    *bucket_of(handle) = file;
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
    return file;
}

struct tracer_file *tracer_file_find(MPI_File handle)
{
    static _Thread_local struct {
        unsigned generation;
        MPI_File handle;
        struct tracer_file *file;
    } last;
    if (last.handle == handle && last.generation == atomic_load_explicit(&generation, memory_order_acquire))
        return last.file;
    pthread_mutex_lock(&lock);
    struct tracer_file *file = *bucket_of(handle);
    while (file && file->handle != handle)
        file = file->next;
    last.generation = atomic_load(&generation);
    last.handle = handle;
    last.file = file;
    pthread_mutex_unlock(&lock);
    return file;
}

void tracer_file_remove(struct tracer_file *file)
{
    pthread_mutex_lock(&lock);
    struct tracer_file **link = bucket_of(file->handle);
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
    free(file);
}
