/* A file, as one rank hands parts of it over. */
#include "engine/aux/aux.h"

#include "engine/aux/aux_core.h"
#include "engine/coverage/coverage.h"
#include "engine/mem.h"
#include "engine/storage/storage_map.h"
#include "mpi/wait.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_EVERY = 64 }; /* turns of a wait between two looks whether a process still lives */

static struct aux_record *record_of(const struct aux *aux)
{
    assert(aux->file >= 0 && aux->file < AUX_FILES_MAX);
    return &aux->group->shared->file[aux->file];
}

static int aux_processes(const struct aux *aux)
{
    return aux->group->shared->processes;
}

static bool aux_lives(const struct aux *aux, int queue)
{
    return aux_is_locked(aux->group, AUX_LOCK_PROCESS + queue);
}

void aux_describe(const struct aux *aux, char *text, size_t capacity)
{
    const int count = aux_processes(aux);
    snprintf(text, capacity, "%d process%s, %lld bytes each", count, count == 1 ? "" : "es",
             (long long)aux->group->shared->slots * AUX_CHUNK);
}

/* ---- waiting ---- */

static bool aux_is_through(struct aux *aux, int queue)
{
    const int64_t handed = atomic_load(&record_of(aux)->report[queue].handed);
    if (atomic_load(&aux->group->shared->queue[queue].stored) >= handed)
        return true;
    if (atomic_fetch_add(&aux->turns, 1) % LOOK_EVERY == 0 && !aux_lives(aux, queue))
        aux_recover(aux->group, queue);
    return atomic_load(&aux->group->shared->queue[queue].stored) >= handed;
}

bool aux_is_settled(struct aux *aux)
{
    for (int i = 0; i < aux_processes(aux); i++)
        if (!aux_is_through(aux, i))
            return false;
    return true;
}

static bool aux_settled(void *arg)
{
    return aux_is_settled(arg);
}

void aux_settle(struct aux *aux, MPI_Comm progress)
{
    if (aux)
        wait_until(aux_settled, aux, NULL, progress);
}

/* One rank of the node gets it, and tells all others. */
bool aux_failure(struct aux *aux, struct pl_error *ret_error)
{
    for (int i = 0; i < aux_processes(aux); i++) {
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

struct aux_reservation {
    struct aux *aux;
    int queue;
    struct aux_slot *slot;
    int64_t number;
    unsigned turns;
};

static bool has_room(void *arg)
{
    struct aux_reservation *reservation = arg;
    const struct aux_group *group = reservation->aux->group;
    if (atomic_load_explicit(&group->shared->queue[reservation->queue].abandoned, memory_order_relaxed))
        return true;
    reservation->slot = aux_queue_reserve(group, reservation->queue, &reservation->number);
    return reservation->slot ||
           (++reservation->turns % LOOK_EVERY == 0 && !aux_lives(reservation->aux, reservation->queue));
}

/* A place in the queue; false: its process has ended. */
static bool aux_reserve(struct aux *aux, int queue, enum aux_kind kind, MPI_Comm progress,
                        struct aux_reservation *ret_reservation)
{
    *ret_reservation = (struct aux_reservation){.aux = aux, .queue = queue};
    wait_until(has_room, ret_reservation, NULL, progress);
    if (!ret_reservation->slot)
        return false;
    ret_reservation->slot->kind = kind;
    ret_reservation->slot->file = aux->file;
    return true;
}

static void aux_hand(const struct aux_reservation *reservation)
{
    aux_queue_hand(reservation->aux->group, reservation->queue, reservation->slot, reservation->number);
}

/* To all processes. */
static bool aux_tell(struct aux *aux, enum aux_kind kind, MPI_Comm progress)
{
    bool all = true;
    for (int i = 0; i < aux_processes(aux); i++) {
        struct aux_reservation reservation;
        if (aux_reserve(aux, i, kind, progress, &reservation))
            aux_hand(&reservation);
        else
            all = false;
    }
    return all;
}

/* A window, as store_window() takes it. */
struct aux_piece {
    int64_t offset, bytes;
    const char *window;
    const uint64_t *coverage;
    bool sieve, lock;
    bool maps; /* it may be copied through a map of the file */
};

/* The part of a piece between two of its bytes. What is not filled stays as it is in the queue's memory. */
static void copy_filled(const struct aux_piece *piece, int64_t begin, int64_t end, char *data, uint64_t *coverage)
{
    memset(coverage, 0, coverage_bytes(end - begin));
    for (int64_t from = begin, to; coverage_next(piece->coverage, end, &from, &to); from = to) {
        memcpy(data + (from - begin), piece->window + from, (size_t)(to - from));
        coverage_add(coverage, from - begin, to - from);
    }
}

static bool hand_part(struct aux *aux, const struct aux_piece *piece, int64_t begin, int64_t end, MPI_Comm progress)
{
    const struct aux_group *group = aux->group;
    const int64_t offset = piece->offset + begin;
    assert(begin < end && offset / AUX_CHUNK == (offset + end - begin - 1) / AUX_CHUNK);
    const int queue = (int)((offset / AUX_STRIPE + aux->file) % aux_processes(aux));
    struct aux_reservation reservation;
    if (!aux_reserve(aux, queue, AUX_STORE, progress, &reservation))
        return false;
    struct aux_slot *slot = reservation.slot;
    slot->offset = offset;
    slot->bytes = end - begin;
    slot->sieve = piece->sieve;
    slot->maps = piece->maps;
    slot->lock = piece->lock;
    slot->covered = piece->coverage != NULL;
    if (piece->coverage)
        copy_filled(piece, begin, end, aux_slot_data(group, queue, slot), aux_slot_coverage(group, queue, slot));
    else
        memcpy(aux_slot_data(group, queue, slot), piece->window + begin, (size_t)(end - begin));
    aux_hand(&reservation);
    return true;
}

/* From the first filled byte to the last one of a part; false: there is none. */
static bool aux_trim(const struct aux_piece *piece, int64_t *begin, int64_t *end)
{
    if (!piece->coverage)
        return true;
    int64_t first = -1, last = -1;
    for (int64_t from = *begin, to; coverage_next(piece->coverage, *end, &from, &to); from = last = to)
        first = first < 0 ? from : first;
    *begin = first;
    *end = last;
    return first >= 0;
}

/* Copies it into the queues. False: the processes take nothing more; all that they were given before is stored. */
static bool aux_take(struct aux *aux, const struct aux_piece *piece, MPI_Comm progress)
{
    assert(piece->offset >= 0 && piece->bytes >= 0);
    for (int64_t begin = 0, end; begin < piece->bytes; begin = end) {
        const int64_t room = AUX_CHUNK - (piece->offset + begin) % AUX_CHUNK;
        end = piece->bytes - begin < room ? piece->bytes : begin + room;
        int64_t first = begin, last = end;
        if (aux_trim(piece, &first, &last) && !hand_part(aux, piece, first, last, progress)) {
            aux_settle(aux, progress); /* what has been taken of it is stored, and then once more */
            return false;
        }
    }
    return true;
}

pl_status aux_store(struct aux *aux, const struct store_options *options, int64_t offset, char *window, int64_t bytes,
                    const uint64_t *coverage, struct pl_error *error)
{
    if (aux) {
        const struct aux_piece piece = {.offset = offset,
                                        .bytes = bytes,
                                        .window = window,
                                        .coverage = coverage,
                                        .sieve = options->sieve,
                                        .lock = options->lock,
                                        .maps = storage_map_allowed(options->storage)};
        error->status = PL_OK;
        if (aux_take(aux, &piece, options->progress))
            return PL_OK;
    }
    return store_window(options, offset, window, bytes, coverage, error);
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

pl_status aux_open(struct storage *storage, bool readable, MPI_Comm progress, struct aux **ret_aux,
                   struct aux_offer *ret_offer, struct pl_error *error)
{
    struct aux_group *group = aux_group_any();
    assert(group);
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
    const bool told = aux_tell(aux, AUX_OPEN, progress);
    aux_settle(aux, progress);
    if (!told)
        pl_fail(error, PL_E_IO, "an auxiliary process has ended");
    if (!told || aux_failure(aux, error)) {
        aux_close(aux, progress);
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

void aux_close(struct aux *aux, MPI_Comm progress)
{
    if (!aux->owner)
        return;
    aux_tell(aux, AUX_CLOSE, progress);
    aux_settle(aux, progress);
}

void aux_free(struct aux *aux)
{
    if (!aux)
        return;
    if (aux->owner)
        atomic_store(&record_of(aux)->used, false);
    mem_free(aux);
}
