/* Inside of the auxiliary processes: the memory that they share with the ranks. */
#ifndef PIOLET_ENGINE_AUX_CORE_H
#define PIOLET_ENGINE_AUX_CORE_H

#include "engine/aux/aux.h"

#include <stdatomic.h>

enum {
    AUX_PROCESSES_MAX = 16,
    AUX_FILES_MAX = 128, /* open at once on a node; one more is written in place */
    AUX_NAME_MAX = 256,
    AUX_LINE = 64,
    AUX_PAGE = 4096,
    AUX_CHUNK = 1 << 18, /* what one place of a queue holds: never across a multiple of it in the file */
    AUX_STRIPE = 1 << 22 /* of a file, one after the other for each process: a multiple of AUX_CHUNK */
};

/* Who is alive is told by locks of bytes of the shared memory (fcntl): the system drops them with the process, even
 * while nobody has collected it, and no number of a process can be mistaken for that of another one. */
enum { AUX_LOCK_RANKS = 0, AUX_LOCK_PROCESS = 1 }; /* shared by all ranks; + number: of whoever serves that queue */

enum aux_kind { AUX_OPEN, AUX_STORE, AUX_CLOSE };

/* A place of a queue. Places are used in turn: `turn` is the number of the entry that may be put there next, and one
 * more when it is there. */
struct aux_slot {
    _Alignas(AUX_LINE) _Atomic int64_t turn;
    enum aux_kind kind;
    int file;
    bool sieve, lock, maps, covered; /* covered: the map tells what is filled; else all is */
    int64_t offset, bytes;
};

struct aux_queue {
    _Alignas(AUX_LINE) _Atomic int64_t handed; /* entries so far; the last ones may still be being copied */
    _Alignas(AUX_LINE) _Atomic int64_t stored; /* entries that are done */
    _Alignas(AUX_LINE) _Atomic uint32_t bell;  /* rung for new entries */
    atomic_bool asleep;                        /* somebody listens to it */
    atomic_bool begun;                         /* its process serves */
    atomic_bool abandoned;                     /* its process has ended */
};

/* What a process has to say of a file. Written by whoever serves the queue. */
struct aux_report {
    _Atomic int64_t handed; /* the file's last entry in the queue, + 1 */
    _Atomic int64_t failures, told;
    struct pl_error first; /* of the failures */
};

struct aux_record { /* a file */
    atomic_bool used;
    int64_t pid, fd; /* a descriptor of it: works for a file that was renamed or removed, too */
    int flags;
    char name[AUX_NAME_MAX]; /* its end, for messages */
    struct aux_report report[AUX_PROCESSES_MAX];
};

struct aux_shared {
    uint64_t nonce;
    int processes;
    int64_t slots; /* of each queue */
    struct aux_queue queue[AUX_PROCESSES_MAX];
    struct aux_record file[AUX_FILES_MAX];
};

/* A set of processes with their memory. */
struct aux_group {
    struct aux_shared *shared;
    size_t bytes;
    int fd; /* of the memory; open while this process takes part */
    struct aux_group *next;
};

struct aux {
    struct aux_group *group;
    int file;
    bool owner; /* has introduced the file */
    atomic_uint turns;
};

/* ---- aux_group.c ---- */
struct aux_group *aux_group_new(int processes, int64_t bytes_each, struct pl_error *error);
void aux_group_drop(struct aux_group *group); /* one that nobody uses yet */
/* The one that an offer tells of; opened if this process does not have it yet. */
struct aux_group *aux_group_join(const struct aux_offer *offer, struct pl_error *error);
void aux_group_enter(struct aux_group *group);
struct aux_group *aux_group_any(void); /* one that this process has made or joined; NULL: none */
void aux_group_leave_all(void);
bool aux_lock(const struct aux_group *group, short kind, int byte);
bool aux_is_locked(const struct aux_group *group, int byte); /* by another process */

/* ---- aux_serve.c: queues ---- */
/* A place for the next entry, whose number is *ret_number; NULL: all are taken. */
struct aux_slot *aux_queue_reserve(const struct aux_group *group, int queue, int64_t *ret_number);
/* The entry is complete. */
void aux_queue_hand(const struct aux_group *group, int queue, struct aux_slot *slot, int64_t number);
/* The entry that is to be done next; NULL: there is none, or it is still being copied. */
struct aux_slot *aux_queue_first(const struct aux_group *group, int queue);
void aux_queue_done(const struct aux_group *group, int queue, struct aux_slot *slot);
/* Passes an entry by that nobody will complete; false: there is none. */
bool aux_queue_skip(const struct aux_group *group, int queue);
char *aux_slot_data(const struct aux_group *group, int queue, const struct aux_slot *slot);
uint64_t *aux_slot_coverage(const struct aux_group *group, int queue, const struct aux_slot *slot);
size_t aux_shared_bytes(int processes, int64_t slots);
void aux_queue_init(const struct aux_group *group, int queue);

/* ---- aux_serve.c: serving ---- */
/* The life of an auxiliary process; does not return. */
_Noreturn void aux_serve(struct aux_group *group, int number);
/* Does what an auxiliary process has left behind, where it has ended and nobody else is at it. */
void aux_recover(struct aux_group *group, int number);

#endif
