/* A file, as one rank hands parts of it over. */
#include "mpiio/aux/aux.h"

#include "mpi/wait.h"
#include "mpiio/aux/aux_core.h"
#include "mpiio/cover/cover.h"
#include "mpiio/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_EVERY = 64 }; /* turns of a wait between two looks whether a process still lives */

static struct aux_record *record_of(const struct aux *aux)
{
    return &aux->group->shared->file[aux->file];
}

static int processes(const struct aux *aux)
{
    return aux->group->shared->processes;
}

static bool lives(const struct aux *aux, int queue)
{
    return aux_is_locked(aux->group, AUX_LOCK_PROCESS + queue);
}

void aux_describe(const struct aux *aux, char *text, size_t capacity)
{
    const int count = processes(aux);
    snprintf(text, capacity, "%d process%s, %lld bytes each", count, count == 1 ? "" : "es",
             (long long)aux->group->shared->slots * AUX_CHUNK);
}

/* ---- waiting ---- */

static bool is_through(struct aux *aux, int queue)
{
    const int64_t handed = atomic_load(&record_of(aux)->report[queue].handed);
    if (atomic_load(&aux->group->shared->queue[queue].stored) >= handed)
        return true;
    if (atomic_fetch_add(&aux->turns, 1) % LOOK_EVERY == 0 && !lives(aux, queue))
        aux_recover(aux->group, queue);
    return atomic_load(&aux->group->shared->queue[queue].stored) >= handed;
}

bool aux_is_settled(struct aux *aux)
{
    for (int i = 0; i < processes(aux); i++)
        if (!is_through(aux, i))
            return false;
    return true;
}

static bool settled(void *arg)
{
    return aux_is_settled(arg);
}

void aux_settle(struct aux *aux, MPI_Comm poke)
{
    if (aux)
        wait_until(settled, aux, NULL, poke);
}

/* One rank of the node gets it, and tells all others. */
bool aux_failure(struct aux *aux, struct pl_error *ret_error)
{
    for (int i = 0; i < processes(aux); i++) {
        struct aux_report *report = &record_of(aux)->report[i];
        const int64_t failures = atomic_load(&report->failures);
        int64_t told = atomic_load(&report->told);
        if (failures > told && atomic_compare_exchange_strong(&report->told, &told, failures)) {
            *ret_error = report->first;
            return true;
        }
    }
    return false;
}

/* ---- handing over ---- */

struct wish {
    struct aux *aux;
    int queue;
    struct aux_slot *slot;
    int64_t number;
    unsigned turns;
};

static bool has_room(void *arg)
{
    struct wish *wish = arg;
    const struct aux_group *group = wish->aux->group;
    if (atomic_load_explicit(&group->shared->queue[wish->queue].abandoned, memory_order_relaxed))
        return true;
    wish->slot = aux_queue_reserve(group, wish->queue, &wish->number);
    return wish->slot || (++wish->turns % LOOK_EVERY == 0 && !lives(wish->aux, wish->queue));
}

/* A place in the queue; false: its process has ended. */
static bool reserve(struct aux *aux, int queue, enum aux_kind kind, MPI_Comm poke, struct wish *ret_wish)
{
    *ret_wish = (struct wish){.aux = aux, .queue = queue};
    wait_until(has_room, ret_wish, NULL, poke);
    if (!ret_wish->slot)
        return false;
    ret_wish->slot->kind = kind;
    ret_wish->slot->file = aux->file;
    return true;
}

static void hand(const struct wish *wish)
{
    aux_queue_hand(wish->aux->group, wish->queue, wish->slot, wish->number);
}

/* To all processes. */
static bool tell(struct aux *aux, enum aux_kind kind, MPI_Comm poke)
{
    bool all = true;
    for (int i = 0; i < processes(aux); i++) {
        struct wish wish;
        if (reserve(aux, i, kind, poke, &wish))
            hand(&wish);
        else
            all = false;
    }
    return all;
}

/* The part of a piece between two of its bytes. What is not filled stays as it is in the queue's memory. */
static void copy_filled(const struct aux_piece *piece, int64_t begin, int64_t end, char *data, uint64_t *cover)
{
    memset(cover, 0, cover_bytes(end - begin));
    for (int64_t from = begin, to; cover_next(piece->cover, end, &from, &to); from = to) {
        memcpy(data + (from - begin), piece->window + from, (size_t)(to - from));
        cover_add(cover, from - begin, to - from);
    }
}

static bool hand_part(struct aux *aux, const struct aux_piece *piece, int64_t begin, int64_t end, MPI_Comm poke)
{
    const struct aux_group *group = aux->group;
    const int64_t offset = piece->offset + begin;
    const int queue = (int)((offset / AUX_STRIPE + aux->file) % processes(aux));
    struct wish wish;
    if (!reserve(aux, queue, AUX_STORE, poke, &wish))
        return false;
    struct aux_slot *slot = wish.slot;
    slot->offset = offset;
    slot->bytes = end - begin;
    slot->sieve = piece->sieve;
    slot->maps = piece->maps;
    slot->lock = piece->lock;
    slot->covered = piece->cover != NULL;
    if (piece->cover)
        copy_filled(piece, begin, end, aux_slot_data(group, queue, slot), aux_slot_cover(group, queue, slot));
    else
        memcpy(aux_slot_data(group, queue, slot), piece->window + begin, (size_t)(end - begin));
    hand(&wish);
    return true;
}

/* From the first filled byte to the last one of a part; false: there is none. */
static bool trim(const struct aux_piece *piece, int64_t *begin, int64_t *end)
{
    if (!piece->cover)
        return true;
    int64_t first = -1, last = -1;
    for (int64_t from = *begin, to; cover_next(piece->cover, *end, &from, &to); from = last = to)
        first = first < 0 ? from : first;
    *begin = first;
    *end = last;
    return first >= 0;
}

bool aux_take(struct aux *aux, const struct aux_piece *piece, MPI_Comm poke)
{
    for (int64_t begin = 0, end; begin < piece->bytes; begin = end) {
        const int64_t room = AUX_CHUNK - (piece->offset + begin) % AUX_CHUNK;
        end = piece->bytes - begin < room ? piece->bytes : begin + room;
        int64_t first = begin, last = end;
        if (trim(piece, &first, &last) && !hand_part(aux, piece, first, last, poke)) {
            aux_settle(aux, poke); /* what has been taken of it is stored, and then once more */
            return false;
        }
    }
    return true;
}

/* ---- a file's beginning and end ---- */

static struct aux *new_aux(struct aux_group *group, int file, struct pl_error *error)
{
    struct aux *aux = mem_zalloc(1, sizeof *aux);
    if (!aux) {
        pl_fail(error, PL_E_NOMEM, "no memory for a file of auxiliary processes");
        return NULL;
    }
    aux->group = group;
    aux->file = file;
    return aux;
}

static int take_record(const struct aux_group *group)
{
    for (int i = 0; i < AUX_FILES_MAX; i++)
        if (!atomic_exchange(&group->shared->file[i].used, true))
            return i;
    return -1;
}

static void fill_record(struct aux_record *record, const struct storage *storage, bool readable)
{
    const char *name = storage_name(storage);
    const size_t length = strlen(name);
    record->pid = getpid();
    record->fd = storage_descriptor(storage);
    record->flags = readable ? O_RDWR : O_WRONLY;
    snprintf(record->name, sizeof record->name, "%s", length < AUX_NAME_MAX ? name : name + length - AUX_NAME_MAX + 1);
    for (int i = 0; i < AUX_PROCESSES_MAX; i++) {
        atomic_store(&record->report[i].handed, 0);
        atomic_store(&record->report[i].failures, 0);
        atomic_store(&record->report[i].told, 0);
    }
}

pl_status aux_open(struct storage *storage, bool readable, MPI_Comm poke, struct aux **ret_aux,
                   struct aux_offer *ret_offer, struct pl_error *error)
{
    struct aux_group *group = aux_group_any();
    const int file = take_record(group);
    if (file < 0)
        return pl_fail(error, PL_E_IO, "the auxiliary processes have %d files open; allowed: no more", AUX_FILES_MAX);
    struct aux *aux = new_aux(group, file, error);
    if (!aux) {
        atomic_store(&group->shared->file[file].used, false);
        return error->status;
    }
    aux->owner = true;
    fill_record(record_of(aux), storage, readable);
    const bool told = tell(aux, AUX_OPEN, poke);
    aux_settle(aux, poke);
    if (!told)
        pl_fail(error, PL_E_IO, "an auxiliary process has ended");
    if (!told || aux_failure(aux, error)) {
        aux_close(aux, poke);
        aux_free(aux);
        return error->status;
    }
    *ret_offer = (struct aux_offer){getpid(), group->fd, group->shared->nonce, file};
    *ret_aux = aux;
    return PL_OK;
}

pl_status aux_join(const struct aux_offer *offer, struct aux **ret_aux, struct pl_error *error)
{
    struct aux_group *group = aux_group_join(offer, error);
    struct aux *aux = group ? new_aux(group, (int)offer->file, error) : NULL;
    if (!aux)
        return error->status;
    *ret_aux = aux;
    return PL_OK;
}

void aux_close(struct aux *aux, MPI_Comm poke)
{
    if (!aux->owner)
        return;
    tell(aux, AUX_CLOSE, poke);
    aux_settle(aux, poke);
}

void aux_free(struct aux *aux)
{
    if (!aux)
        return;
    if (aux->owner)
        atomic_store(&record_of(aux)->used, false);
    mem_free(aux);
}
