/* The memory that ranks and auxiliary processes share, who of them is alive, and how the processes begin. */
#include "base/limits.h"
#include "base/units.h"
#include "engine/aux/aux_core.h"
#include "engine/mem.h"
#include "mpi/launcher.h"
#include "mpi/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
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

static void *aux_group_map(int fd, size_t bytes)
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
        group->shared = group->fd < 0 ? NULL : aux_group_map(group->fd, group->bytes);
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
    group->shared = bytes < (off_t)sizeof *group->shared ? NULL : aux_group_map(group->fd, group->bytes);
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

/* ---- The processes begin ----------------------------------------------------------------------------------------- */

/* Making the auxiliary processes. */

static char why_not[PL_ERROR_TEXT_MAX] = "PIOLET_AUXILIARY is not set";

const char *aux_why_not(void)
{
    return aux_group_any() ? NULL : why_not;
}

static void aux_start_say(const char *words)
{
    snprintf(why_not, sizeof why_not, "%s", words);
}

/* ---- a process ---- */

/* The process is a grandchild: the program neither gets a signal of its end nor finds it when it waits for children of
 * its own. */
static bool make_process(struct aux_group *group, int number)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* the program's handlers must not run in the child */
    const pid_t child = fork();
    if (child == 0) {
        const pid_t grandchild = fork();
        if (grandchild == 0)
            aux_serve(group, number);
        _exit(grandchild < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status = 0;
    pid_t ended = -1;
    while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        continue;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child > 0 && (ended < 0 || status == 0); /* no status where the program ignores SIGCHLD */
}

static bool has_begun(const struct aux_queue *queue)
{
    enum { NAPS = 10000 };
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int i = 0; i < NAPS && !atomic_load(&queue->begun); i++)
        nanosleep(&nap, NULL);
    return atomic_load(&queue->begun);
}

static void make_group(int processes, int64_t bytes_each)
{
    struct pl_error error;
    struct aux_group *group = aux_group_new(processes, bytes_each, &error);
    if (!group) {
        aux_start_say(error.text);
        return;
    }
    for (int i = 0; i < processes; i++)
        if (!make_process(group, i) || !has_begun(&group->shared->queue[i])) {
            aux_start_say("a process could not be made");
            aux_group_drop(group); /* those that were made end by it */
            return;
        }
    aux_group_enter(group);
}

/* ---- from the environment ---- */

void aux_start(void)
{
    const char *count_text = getenv("PIOLET_AUXILIARY"), *bytes_text = getenv("PIOLET_AUXILIARY_BYTES");
    const int64_t least = 1 << 20, most = INT64_C(1) << 34;
    int64_t count = 0, bytes = 64 << 20;
    if (!count_text || !*count_text)
        return;
    const int rank = launcher_local_rank();
    if (!units_parse_int(count_text, 0, AUX_PROCESSES_MAX, &count))
        snprintf(why_not, sizeof why_not, "PIOLET_AUXILIARY is '%.40s'; allowed: 0 to %d", count_text,
                 AUX_PROCESSES_MAX);
    else if (bytes_text && *bytes_text && (!units_parse_size(bytes_text, &bytes) || bytes < least || bytes > most))
        snprintf(why_not, sizeof why_not, "PIOLET_AUXILIARY_BYTES is '%.40s'; allowed: 1m to 16g", bytes_text);
    else if (count == 0)
        aux_start_say("PIOLET_AUXILIARY is 0");
    else if (rank < 0)
        aux_start_say("the launcher does not tell which rank is the first of its node");
    else if (rank > 0)
        aux_start_say("the first rank of the node has none to offer");
    else
        make_group((int)count, bytes);
}

void aux_stop(void)
{
    aux_group_leave_all();
}
