/* Requests of reads and writes, until they are completed. An MPI may use one handle for several that are complete
 * already: each is found once. */
#include "tracer/tracer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BUCKETS = 256 };

struct entry {
    struct tracer_request request;
    struct entry *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *buckets[BUCKETS], *unused;
static atomic_int count;

static struct entry **bucket_of(MPI_Request handle)
{
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    return &buckets[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

bool tracer_request_any(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

void tracer_request_add(MPI_Request handle, struct tracer_site *site, int file)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = unused;
    if (entry)
        unused = entry->next;
    else
        entry = malloc(sizeof *entry); /* without memory, its completion is not told */
    if (entry) {
        *entry = (struct entry){.request = {handle, site, file}, .next = *bucket_of(handle)};
        *bucket_of(handle) = entry;
        atomic_fetch_add(&count, 1);
    }
    pthread_mutex_unlock(&lock);
}

bool tracer_request_take(MPI_Request handle, struct tracer_request *ret_request)
{
    pthread_mutex_lock(&lock);
    struct entry **link = bucket_of(handle);
    while (*link && (*link)->request.handle != handle)
        link = &(*link)->next;
    struct entry *found = *link;
    if (found) {
        *ret_request = found->request;
        *link = found->next;
        found->next = unused;
        unused = found;
        atomic_fetch_sub(&count, 1);
    }
    pthread_mutex_unlock(&lock);
    return found;
}
