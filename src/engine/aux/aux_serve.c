/* Whoever serves a queue: an auxiliary process all its life, or a rank after the death of one. */
#include "engine/aux/aux_core.h"
#include "engine/fault/fault.h"
#include "engine/mem.h"
#include "engine/storage/storage_map.h"
#include "mpi/wait.h"

#include <assert.h>
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

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

/* Queues with many who hand over and one who takes: each place carries a number that says whose turn it is. */

static size_t whole_pages(size_t bytes)
{
    return (bytes + AUX_PAGE - 1) / AUX_PAGE * AUX_PAGE;
}

static size_t slots_bytes(int64_t slots)
{
    return whole_pages((size_t)slots * sizeof(struct aux_slot));
}

static size_t queue_bytes(int64_t slots)
{
    return slots_bytes(slots) + (size_t)slots * (AUX_CHUNK / 8 + AUX_CHUNK);
}

size_t aux_shared_bytes(int processes, int64_t slots)
{
    assert(processes > 0 && processes <= AUX_PROCESSES_MAX && slots > 0);
    return whole_pages(sizeof(struct aux_shared)) + (size_t)processes * queue_bytes(slots);
}

static char *queue_memory(const struct aux_group *group, int queue)
{
    return (char *)group->shared + whole_pages(sizeof(struct aux_shared)) +
           (size_t)queue * queue_bytes(group->shared->slots);
}

static struct aux_slot *slot_at(const struct aux_group *group, int queue, int64_t number)
{
    assert(number >= 0);
    return (struct aux_slot *)queue_memory(group, queue) + number % group->shared->slots;
}

static int64_t slot_index(const struct aux_group *group, int queue, const struct aux_slot *slot)
{
    return slot - (struct aux_slot *)queue_memory(group, queue);
}

uint64_t *aux_slot_coverage(const struct aux_group *group, int queue, const struct aux_slot *slot)
{
    char *maps = queue_memory(group, queue) + slots_bytes(group->shared->slots);
    return (uint64_t *)(maps + slot_index(group, queue, slot) * (AUX_CHUNK / 8));
}

char *aux_slot_data(const struct aux_group *group, int queue, const struct aux_slot *slot)
{
    const int64_t slots = group->shared->slots;
    char *data = queue_memory(group, queue) + slots_bytes(slots) + (size_t)slots * (AUX_CHUNK / 8);
    return data + slot_index(group, queue, slot) * AUX_CHUNK;
}

void aux_queue_init(const struct aux_group *group, int queue)
{
    for (int64_t i = 0; i < group->shared->slots; i++)
        atomic_store(&slot_at(group, queue, i)->turn, i);
}

struct aux_slot *aux_queue_reserve(const struct aux_group *group, int queue, int64_t *ret_number)
{
    _Atomic int64_t *handed = &group->shared->queue[queue].handed;
    int64_t number = atomic_load(handed);
    for (;;) {
        struct aux_slot *slot = slot_at(group, queue, number);
        const int64_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
        if (turn < number)
            return NULL;
        if (turn > number) {
            number = atomic_load(handed);
        } else if (atomic_compare_exchange_weak(handed, &number, number + 1)) {
            *ret_number = number;
            return slot;
        }
    }
}

void aux_queue_hand(const struct aux_group *group, int queue, struct aux_slot *slot, int64_t number)
{
    assert(atomic_load(&slot->turn) == number);
    struct aux_queue *own = &group->shared->queue[queue];
    _Atomic int64_t *handed = &group->shared->file[slot->file].report[queue].handed;
    int64_t before = atomic_load(handed);
    while (before <= number && !atomic_compare_exchange_weak(handed, &before, number + 1))
        continue;
    atomic_store(&slot->turn, number + 1);
    atomic_fetch_add(&own->bell, 1);
    if (atomic_load(&own->asleep))
        wait_wake(&own->bell);
}

struct aux_slot *aux_queue_first(const struct aux_group *group, int queue)
{
    const int64_t number = atomic_load(&group->shared->queue[queue].stored);
    struct aux_slot *slot = slot_at(group, queue, number);
    return atomic_load(&slot->turn) == number + 1 ? slot : NULL;
}

bool aux_queue_skip(const struct aux_group *group, int queue)
{
    struct aux_queue *own = &group->shared->queue[queue];
    if (atomic_load(&own->stored) == atomic_load(&own->handed))
        return false;
    atomic_fetch_add(&own->stored, 1);
    return true;
}

/* In this order: whoever goes on after a death in between must not wait for an entry that is gone. The place is then
 * lost, but nobody uses the queue any more. */
void aux_queue_done(const struct aux_group *group, int queue, struct aux_slot *slot)
{
    struct aux_queue *own = &group->shared->queue[queue];
    const int64_t number = atomic_load(&own->stored);
    assert(atomic_load(&slot->turn) == number + 1);
    atomic_store(&own->stored, number + 1);
    atomic_store(&slot->turn, number + group->shared->slots);
}

/* ---- Serving ----------------------------------------------------------------------------------------------------- */

struct server {
    struct aux_group *group;
    int number;
    const char *gate; /* for tests: nothing is stored before a file of this name is there; NULL: none */
    struct storage *storage[AUX_FILES_MAX];
};

/* ---- entries ---- */

/* The first failure stays: ranks may be reading them. */
static void aux_serve_note(struct server *server, int file, struct pl_error *error)
{
    assert(error->status != PL_OK && file >= 0 && file < AUX_FILES_MAX);
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

static void aux_serve_let_go(struct server *server, int file)
{
    struct pl_error error;
    if (storage_close(server->storage[file], &error) != PL_OK)
        aux_serve_note(server, file, &error);
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

static void aux_serve_store(struct server *server, const struct aux_slot *slot)
{
    struct pl_error error = {0};
    pass_gate(server);
    const struct store_options options = {.storage = find_storage(server, slot->file, &error),
                                          .sieve = slot->sieve,
                                          .lock = slot->lock,
                                          .progress = MPI_COMM_NULL};
    if (options.storage) { /* for one copy at a time: what stays mapped is the ranks' share */
        storage_map_allow(options.storage, slot->maps ? STORAGE_MAP_LEAST : 0);
        store_window(&options, slot->offset, aux_slot_data(server->group, server->number, slot), slot->bytes,
                     slot->covered ? aux_slot_coverage(server->group, server->number, slot) : NULL, &error);
    }
    if (error.status != PL_OK)
        aux_serve_note(server, slot->file, &error);
}

static void do_entry(struct server *server, const struct aux_slot *slot)
{
    struct pl_error error;
    switch (slot->kind) {
    case AUX_OPEN:
        if (server->storage[slot->file]) /* of a file whose rank has died */
            aux_serve_let_go(server, slot->file);
        if (!find_storage(server, slot->file, &error))
            aux_serve_note(server, slot->file, &error);
        break;
    case AUX_STORE:
        aux_serve_store(server, slot);
        break;
    case AUX_CLOSE:
        aux_serve_let_go(server, slot->file);
        break;
    }
}

static bool aux_serve_one(struct server *server)
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
        while (aux_serve_one(server))
            continue;
        for (int i = 0; i < AUX_FILES_MAX; i++)
            if (server->storage[i])
                aux_serve_let_go(server, i);
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
        while (aux_serve_one(&server))
            continue;
        if (ranks_live(&server))
            wait_for_bell(queue, &server);
        else if (!aux_queue_first(group, number) && !aux_queue_skip(group, number)) /* all that came before they went */
            _exit(EXIT_SUCCESS);
    }
}
