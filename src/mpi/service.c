#include "mpi/service.h"

#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct service *services;

static atomic_int program_level = MPI_THREAD_SINGLE;

void service_set_program_level(int level)
{
    atomic_store(&program_level, level);
}

int service_program_level(void)
{
    return atomic_load(&program_level);
}

void service_begin(struct service *service)
{
    assert(service->stop && service->comm != MPI_COMM_NULL);
    pthread_mutex_lock(&lock);
    service->next = services;
    services = service;
    pthread_mutex_unlock(&lock);
}

void service_end(struct service *service)
{
    pthread_mutex_lock(&lock);
    for (struct service **place = &services; *place; place = &(*place)->next)
        if (*place == service) {
            *place = service->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void service_stop_all_coll(void)
{
    pthread_mutex_lock(&lock);
    struct service *first = services;
    services = NULL;
    pthread_mutex_unlock(&lock);
    for (struct service *service = first; service; service = service->next)
        if (real.Ibarrier(service->comm, &service->farewell) != MPI_SUCCESS)
            service->farewell = MPI_REQUEST_NULL;
    for (struct service *service = first; service; service = service->next)
        wait_request(&service->farewell);
    for (struct service *service = first; service; service = service->next)
        service->stop(service->arg);
}
