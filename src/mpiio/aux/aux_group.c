/* The memory that ranks and auxiliary processes share, and who of them is alive. */
#include "base/address_space.h"
#include "base/cgroup.h"
#include "base/size_limit.h"
#include "mpi/wait.h"
#include "mpiio/aux/aux_core.h"
#include "mpiio/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aux_group *known; /* that this process has joined */

bool aux_lock(const struct aux_group *group, short kind, int byte)
{
    struct flock span = {.l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(group->fd, F_SETLK, &span) == 0;
}

bool aux_is_locked(const struct aux_group *group, int byte)
{
    struct flock span = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(group->fd, F_GETLK, &span) == 0 && span.l_type != F_UNLCK;
}

/* ---- making and joining ---- */

static void *map(int fd, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Above the standard ones, which a program may close and open again. */
static int make_memory(size_t bytes)
{
    const int made = memfd_create("piolet-auxiliary", MFD_CLOEXEC);
    if (made < 0)
        return -1;
    const int fd = fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(made);
    if (fd >= 0 && size_limit_truncate(fd, (off_t)bytes) == 0 &&
        (!address_space_is_accounted() || fallocate(fd, 0, 0, (off_t)bytes) == 0))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void aux_group_drop(struct aux_group *group)
{
    if (group->shared)
        munmap(group->shared, group->bytes);
    if (group->fd >= 0)
        close(group->fd); /* this lets the lock go by which the processes know of us */
    mem_free(group);
}

/* Few places in the queues, and a small part of the memory that is left to this node's processes: a page that the
 * system cannot give would end whoever touches it. */
static int64_t slots_affordable(int processes, int64_t bytes_each)
{
    enum { PART = 8, SLOTS_LEAST = 2 };
    const int64_t slot_bytes = (int64_t)sizeof(struct aux_slot) + AUX_CHUNK / 8 + AUX_CHUNK;
    const uint64_t most = cgroup_memory_left() / PART / (uint64_t)processes;
    const int64_t slots = ((uint64_t)bytes_each < most ? bytes_each : (int64_t)most) / slot_bytes;
    return slots > SLOTS_LEAST ? slots : SLOTS_LEAST;
}

/* With fewer places where a limit of the process allows no more; false: not even so. */
static bool make_shared(struct aux_group *group, int processes, int64_t *slots)
{
    for (;; *slots /= 2) {
        group->bytes = aux_shared_bytes(processes, *slots);
        group->fd = make_memory(group->bytes);
        group->shared = group->fd < 0 ? NULL : map(group->fd, group->bytes);
        if (group->shared || *slots < 4)
            return group->shared != NULL;
        if (group->fd >= 0)
            close(group->fd);
    }
}

struct aux_group *aux_group_new(int processes, int64_t bytes_each, struct pl_error *error)
{
    int64_t slots = slots_affordable(processes, bytes_each);
    struct aux_group *group = mem_zalloc(1, sizeof *group);
    if (!group) {
        pl_fail(error, PL_E_NOMEM, "no memory for auxiliary processes");
        return NULL;
    }
    if (!make_shared(group, processes, &slots) ||
        getrandom(&group->shared->nonce, sizeof group->shared->nonce, 0) < 0 ||
        !aux_lock(group, F_RDLCK, AUX_LOCK_RANKS)) {
        pl_fail_errno(error, errno, "making %zu bytes of memory for auxiliary processes", group->bytes);
        aux_group_drop(group);
        return NULL;
    }
    group->shared->processes = processes;
    group->shared->slots = slots;
    for (int i = 0; i < processes; i++)
        aux_queue_init(group, i);
    return group;
}

static struct aux_group *open_group(const struct aux_offer *offer, struct pl_error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)offer->pid, (long long)offer->fd);
    struct aux_group *group = mem_zalloc(1, sizeof *group);
    if (!group) {
        pl_fail(error, PL_E_NOMEM, "no memory for auxiliary processes");
        return NULL;
    }
    group->fd = open(path, O_RDWR | O_CLOEXEC);
    const off_t bytes = group->fd < 0 ? -1 : lseek(group->fd, 0, SEEK_END);
    group->bytes = (size_t)bytes;
    group->shared = bytes < (off_t)sizeof *group->shared ? NULL : map(group->fd, group->bytes);
    if (group->shared && group->shared->nonce == offer->nonce && aux_lock(group, F_RDLCK, AUX_LOCK_RANKS))
        return group;
    pl_fail(error, PL_E_IO, "the memory of the auxiliary processes cannot be opened");
    aux_group_drop(group);
    return NULL;
}

/* A process opens the memory once only: closing a second descriptor would drop its locks. */
struct aux_group *aux_group_join(const struct aux_offer *offer, struct pl_error *error)
{
    pthread_mutex_lock(&lock);
    struct aux_group *group = known;
    while (group && group->shared->nonce != offer->nonce)
        group = group->next;
    if (!group && (group = open_group(offer, error))) {
        group->next = known;
        known = group;
    }
    pthread_mutex_unlock(&lock);
    return group;
}

void aux_group_enter(struct aux_group *group)
{
    pthread_mutex_lock(&lock);
    group->next = known;
    known = group;
    pthread_mutex_unlock(&lock);
}

struct aux_group *aux_group_any(void)
{
    pthread_mutex_lock(&lock);
    struct aux_group *group = known && known->fd >= 0 ? known : NULL;
    pthread_mutex_unlock(&lock);
    return group;
}

/* The memory stays mapped: a file that the program never closed may still point to it. */
void aux_group_leave_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct aux_group *group = known; group; group = group->next) {
        close(group->fd);
        group->fd = -1;
        for (int i = 0; i < group->shared->processes; i++) {
            atomic_fetch_add(&group->shared->queue[i].bell, 1);
            wait_wake(&group->shared->queue[i].bell);
        }
    }
    pthread_mutex_unlock(&lock);
}
