/* Whoever serves a queue: an auxiliary process all its life, or a rank after the death of one. */
#include "mpi/wait.h"
#include "mpiio/aux/aux_core.h"
#include "mpiio/cover/cover_store.h"
#include "mpiio/mem.h"
#include "mpiio/storage/fault.h"
#include "mpiio/storage/storage_map.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct server {
    struct aux_group *group;
    int number;
    const char *gate; /* for tests: nothing is stored before a file of this name is there; NULL: none */
    struct storage *storage[AUX_FILES_MAX];
};

/* ---- entries ---- */

/* The first failure's words stay: ranks may be reading them. */
static void note(struct server *server, int file, struct pl_error *error)
{
    struct aux_report *report = &server->group->shared->file[file].report[server->number];
    if (atomic_load(&report->failures) == 0) {
        pl_within(error, "auxiliary process %d", server->number);
        report->first = *error;
    }
    atomic_fetch_add(&report->failures, 1);
}

/* Opened when first needed: a rank that stands in for a process begins in the middle. */
static struct storage *find_storage(struct server *server, int file, struct pl_error *error)
{
    const struct aux_record *record = &server->group->shared->file[file];
    struct storage **place = &server->storage[file];
    if (*place)
        return *place;
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)record->pid, (long long)record->fd);
    if (storage_open(path, record->flags, 0, place, error) != PL_OK) {
        pl_within(error, "'%s'", record->name);
        return NULL;
    }
    storage_call(*place, record->name);
    return *place;
}

static void let_go(struct server *server, int file)
{
    struct pl_error error;
    if (storage_close(server->storage[file], &error) != PL_OK)
        note(server, file, &error);
    server->storage[file] = NULL;
}

static bool ranks_live(const struct server *server)
{
    return aux_is_locked(server->group, AUX_LOCK_RANKS);
}

static void pass_gate(const struct server *server)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    while (server->gate && access(server->gate, F_OK) != 0 && ranks_live(server))
        nanosleep(&nap, NULL);
}

static void store(struct server *server, const struct aux_slot *slot)
{
    struct pl_error error = {0};
    pass_gate(server);
    const struct cover_manner manner = {.storage = find_storage(server, slot->file, &error),
                                        .sieve = slot->sieve,
                                        .lock = slot->lock,
                                        .poke = MPI_COMM_NULL};
    if (manner.storage) /* for one copy at a time: what stays mapped is the ranks' share */
        storage_map_allow(manner.storage, slot->maps ? STORAGE_MAP_LEAST : 0);
    char *data = aux_slot_data(server->group, server->number, slot);
    if (manner.storage && slot->covered)
        cover_store(&manner, slot->offset, data, slot->bytes, aux_slot_cover(server->group, server->number, slot),
                    &error);
    else if (manner.storage)
        cover_store_all(&manner, slot->offset, data, slot->bytes, &error);
    if (error.status != PL_OK)
        note(server, slot->file, &error);
}

static void do_entry(struct server *server, const struct aux_slot *slot)
{
    struct pl_error error;
    switch (slot->kind) {
    case AUX_OPEN:
        if (server->storage[slot->file]) /* of a file whose rank has died */
            let_go(server, slot->file);
        if (!find_storage(server, slot->file, &error))
            note(server, slot->file, &error);
        break;
    case AUX_STORE:
        store(server, slot);
        break;
    case AUX_CLOSE:
        let_go(server, slot->file);
        break;
    }
}

static bool serve_one(struct server *server)
{
    struct aux_slot *slot = aux_queue_first(server->group, server->number);
    if (!slot)
        return false;
    do_entry(server, slot);
    aux_queue_done(server->group, server->number, slot);
    return true;
}

/* ---- a rank in the place of a process ---- */

void aux_recover(struct aux_group *group, int number)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* between threads; between processes that of the queue */
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    struct server *server = mem_zalloc(1, sizeof *server);
    if (server && aux_lock(group, F_WRLCK, AUX_LOCK_PROCESS + number)) {
        server->group = group;
        server->number = number;
        atomic_store(&group->shared->queue[number].abandoned, true);
        while (serve_one(server))
            continue;
        for (int i = 0; i < AUX_FILES_MAX; i++)
            if (server->storage[i])
                let_go(server, i);
        aux_lock(group, F_UNLCK, AUX_LOCK_PROCESS + number);
    }
    mem_free(server);
    pthread_mutex_unlock(&lock);
}

/* ---- an auxiliary process ---- */

/* Nothing of the program's stays: a launcher waits for the end of pipes, a directory for who is in it, and the core
 * that the first rank was bound to is that rank's. A session of its own, since launchers kill whole groups of
 * processes, and what was handed over is to be stored before. */
static void become_auxiliary(const struct aux_group *group)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_NAME, "piolet-aux");
    if (group->fd > 0)
        close_range(0, (unsigned)group->fd - 1, 0);
    close_range((unsigned)group->fd + 1, ~0U, 0);
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (open("/dev/null", O_RDWR) < 0)
            break;
    if (chdir("/") != 0)
        return; /* as good as it can be */
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

static void wait_for_bell(struct aux_queue *queue, const struct server *server)
{
    const struct timespec nap = {.tv_nsec = 100000000}; /* then it looks whether any rank is left */
    const uint32_t seen = atomic_load(&queue->bell);
    atomic_store(&queue->asleep, true);
    if (!aux_queue_first(server->group, server->number))
        syscall(SYS_futex, (uint32_t *)&queue->bell, FUTEX_WAIT, seen, &nap, NULL, 0);
    atomic_store(&queue->asleep, false);
}

_Noreturn void aux_serve(struct aux_group *group, int number)
{
    static struct server server;
    struct aux_queue *queue = &group->shared->queue[number];
    struct pl_error error;
    become_auxiliary(group);
    server.group = group;
    server.number = number;
    server.gate = getenv("PIOLET_AUXILIARY_GATE");
    fault_plan_load(getenv("PIOLET_FAULTS"), -1, &error); /* no rank: entries for a certain one do not concern it */
    if (!aux_lock(group, F_WRLCK, AUX_LOCK_PROCESS + number))
        _exit(EXIT_FAILURE);
    atomic_store(&queue->begun, true);
    for (;;) {
        while (serve_one(&server))
            continue;
        if (ranks_live(&server))
            wait_for_bell(queue, &server);
        else if (!aux_queue_first(group, number) && !aux_queue_skip(group, number)) /* all that came before they went */
            _exit(EXIT_SUCCESS);
    }
}
