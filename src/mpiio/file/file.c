/* What all ranks of a file do together, besides moving data. */
#include "mpiio/file/file.h"

#include "mpiio/develop/develop_track.h"
#include "mpiio/ship/ship.h"
#include "mpiio/storage/storage_hold.h"
#include "mpiio/strategy/strategy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- late failures ---- */

void file_note_late(struct file *file, const struct pl_error *error, bool heard)
{
    pthread_mutex_lock(&file->lock);
    if (file->late.status == PL_OK || (file->late_heard && !heard)) {
        file->late = *error;
        file->late_heard = heard;
    }
    pthread_mutex_unlock(&file->lock);
}

struct pl_error file_late(struct file *file, bool *ret_heard)
{
    pthread_mutex_lock(&file->lock);
    const struct pl_error late = file->late;
    *ret_heard = file->late_heard;
    pthread_mutex_unlock(&file->lock);
    return late;
}

void file_forget_late(struct file *file, const struct pl_error *late)
{
    pthread_mutex_lock(&file->lock);
    if (late->status != PL_OK && strcmp(file->late.text, late->text) == 0)
        file->late = (struct pl_error){.status = PL_OK};
    pthread_mutex_unlock(&file->lock);
}

pl_status file_agree_coll(struct file *file, struct agree *agree, const int64_t *values, int count,
                          struct pl_error *error)
{
    int64_t all[AGREE_VALUES_MAX];
    bool heard;
    assert(count < AGREE_VALUES_MAX);
    for (int i = 0; i < count; i++)
        all[i] = values[i];
    all[count] = file_late(file, &heard).status == PL_OK ? INT64_MAX : file->rank;
    const pl_status status = agree_run_coll(agree, file->comm, file->rank, error, all, count + 1);
    file->late_rank = agree_least(agree, count);
    return status;
}

pl_status file_tell_late_coll(struct file *file, struct pl_error *error)
{
    if (error->status != PL_OK || file->late_rank == INT64_MAX)
        return error->status;
    struct agree agree;
    bool heard;
    const struct pl_error late = file_late(file, &heard); /* more may come while the ranks meet */
    struct pl_error told = late;
    agree_run_coll(&agree, file->comm, file->rank, &told, NULL, 0);
    file_forget_late(file, &late);
    file->late_rank = INT64_MAX;
    if (late.status == PL_OK)
        return agree_tell(&agree, error);
    if (!heard)
        *error = late;
    return error->status;
}

struct view *file_view(struct file *file)
{
    pthread_mutex_lock(&file->lock);
    struct view *view = view_ref(file->view);
    pthread_mutex_unlock(&file->lock);
    return view;
}

/* ---- strategies ---- */

/* What of a view matters for the choice, as numbers whose least decides. */
enum { PIECE, MONOTONE, CONTIGUOUS, FACTS };

static void view_facts(const struct view *view, int64_t ret_facts[FACTS])
{
    const struct typemap_shape *shape = typemap_shape(view->filetype);
    ret_facts[PIECE] = view->contiguous || shape->pieces == 0 ? INT64_MAX : shape->size / shape->pieces;
    ret_facts[MONOTONE] = view->contiguous || shape->monotone || shape->size == 0;
    ret_facts[CONTIGUOUS] = view->contiguous;
}

/* Sieving writes back what was read in the gaps. Without being asked for, we do so only where nobody else has the file
 * open. */
bool file_may_sieve_writes(const struct file *file)
{
    if (file->values.ds_write == HINT_AUTOMATIC)
        return (file->amode & MPI_MODE_UNIQUE_OPEN) != 0;
    return file->values.ds_write == HINT_ENABLE;
}

void file_choose(struct file *file, const struct strategy_facts *facts)
{
    struct strategy_facts both = *facts;
    both.write = false;
    const struct strategy_choice reading = strategy_choose(&both);
    both.write = true;
    const struct strategy_choice writing = strategy_choose(&both);
    file->small_reads = reading.small_pieces;
    file->small_writes = writing.small_pieces;
    file->reading = reading.strategy;
    file->why_reading = reading.why;
    file->tune_reads = reading.tune;
    file->writing = writing.strategy;
    file->why_writing = writing.why;
    file->tune_writes = writing.tune;
}

static void choose(struct file *file, const struct agree *agree, int first)
{
    const struct strategy_facts facts = {.ranks = file->size,
                                         .piece_bytes = agree_least(agree, first + PIECE),
                                         .monotone = agree_least(agree, first + MONOTONE) != 0,
                                         .atomic = file->atomic,
                                         .shares = file->ring != NULL,
                                         .refused = file->node.refused,
                                         .scarce = file->node.scarce,
                                         .hints = &file->values};
    file_choose(file, &facts);
    const bool gaps = agree_least(agree, first + CONTIGUOUS) == 0 || file->writing->exchanges;
    file->lock_writes = file_may_sieve_writes(file) && gaps;
}

/* After hints or the mode have changed. */
static pl_status choose_again_coll(struct file *file, struct pl_error *error)
{
    enum { MAP_BYTES = FACTS, VALUES };
    struct agree agree;
    int64_t values[VALUES];
    view_facts(file->view, values);
    values[MAP_BYTES] = file_map_budget(file);
    if (file_agree_coll(file, &agree, values, VALUES, error))
        return error->status;
    choose(file, &agree, 0);
    file_map_apply(file, agree_least(&agree, MAP_BYTES));
    return PL_OK;
}

struct access_manner file_manner(const struct file *file, MPI_Comm poke)
{
    return (struct access_manner){
        .atomic = file->atomic,
        .sieve_reads = file->values.ds_read != HINT_DISABLE,
        .sieve_writes = file_may_sieve_writes(file) && file->readable,
        .lock_writes = file->lock_writes,
        .read_buffer_bytes = file->values.ind_rd_buffer_size,
        .write_buffer_bytes = file->values.ind_wr_buffer_size,
        .poke = poke,
    };
}

/* ---- hints ---- */

void file_check_strategy(struct hints *hints, const char *keep)
{
    const char *name = hints_values(hints)->strategy;
    if (strcmp(name, "auto") == 0 || strategy_find(name))
        return;
    char allowed[HINT_TEXT_MAX] = "auto";
    for (int i = 0; STRATEGIES[i]; i++)
        snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed), ", %s", STRATEGIES[i]->name);
    hints_reject(hints, "piolet_strategy", keep, allowed);
}

void file_take_values(struct file *file)
{
    file->values = *hints_values(file->hints);
    if (file->values.cb_buffer_size > file->buffer_most)
        file->values.cb_buffer_size = file->buffer_most;
}

/* Local. True where something that ranks do together changes by it. */
static bool update_hints(struct file *file, MPI_Info info, struct pl_error *error)
{
    const uint64_t before = hints_digest(file->hints);
    if (error->status != PL_OK || info == MPI_INFO_NULL || hints_update(file->hints, info, error) != PL_OK)
        return false;
    file_check_strategy(file->hints, file->values.strategy);
    return hints_digest(file->hints) != before;
}

/* Hints may differ between ranks; those of rank 0 hold for what ranks do together. */
static pl_status share_hints_coll(struct file *file, struct pl_error *error)
{
    char before[sizeof file->values.strategy];
    memcpy(before, file->values.strategy, sizeof before);
    hints_share_coll(file->hints, file->comm);
    file_take_values(file);
    if (choose_again_coll(file, error) != PL_OK || ship_update_coll(file, error) == PL_OK)
        return error->status;
    /* Agents still hold what they could not store: as long as they do, everything goes through them. */
    struct pl_error none = {0};
    hints_set(file->hints, "piolet_strategy", before, HINT_INFO);
    file_take_values(file);
    choose_again_coll(file, &none);
    return error->status;
}

pl_status file_set_strategy_coll(struct file *file, const char *name, struct pl_error *error)
{
    hints_set(file->hints, "piolet_strategy", name, HINT_INFO);
    file_take_values(file);
    return choose_again_coll(file, error);
}

/* ---- views ---- */

static void digest_text(const char *text, int64_t *ret_digest)
{
    uint64_t digest = 14695981039346656037u; /* FNV-1a: enough to tell names apart */
    for (; *text; text++)
        digest = (digest ^ (unsigned char)*text) * 1099511628211u;
    *ret_digest = (int64_t)(digest >> 1);
}

static void install(struct file *file, struct view *view)
{
    pthread_mutex_lock(&file->lock);
    struct view *old = file->view;
    view->generation = old->generation + 1;
    file->view = view;
    file->position = 0;
    pthread_mutex_unlock(&file->lock);
    view_unref(old);
    shared_turn(&file->shared);
}

pl_status file_set_view_coll(struct file *file, struct view *view, MPI_Info info, struct pl_error *error)
{
    enum { DATAREP = FACTS, DATAREP_MOST, EXTENT, EXTENT_MOST, SAME_HINTS, VALUES };
    int64_t values[VALUES] = {INT64_MAX, 1, 1, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 1};
    struct agree agree;
    values[SAME_HINTS] = !update_hints(file, info, error);
    if (error->status == PL_OK && file->rank == 0)
        shared_prepare(&file->shared, 0, error);
    if (view) {
        view_facts(view, values);
        digest_text(datarep_name(view->representation), &values[DATAREP]);
        values[DATAREP_MOST] = -values[DATAREP];
        values[EXTENT] = view->etype_extent;
        values[EXTENT_MOST] = -view->etype_extent;
    }
    pl_status status = file_agree_coll(file, &agree, values, VALUES, error);
    if (status == PL_OK && agree_least(&agree, DATAREP) != -agree_least(&agree, DATAREP_MOST))
        status = pl_fail(error, PL_E_NOT_SAME, "the ranks set views with different data representations");
    if (status == PL_OK && agree_least(&agree, EXTENT) != -agree_least(&agree, EXTENT_MOST))
        status = pl_fail(error, PL_E_NOT_SAME, "the ranks set views whose etypes have different extents");
    if (status != PL_OK) {
        view_unref(view);
        return status;
    }
    assert(view); /* a rank without one has an error, and all have heard of it */
    install(file, view);
    choose(file, &agree, 0);
    if (agree_least(&agree, SAME_HINTS) == 0 && share_hints_coll(file, error) != PL_OK)
        return error->status;
    return file_tell_late_coll(file, error);
}

/* ---- sizes, sync, hints, shared pointer ---- */

static int64_t greatest(const struct agree *agree, int index)
{
    return -agree_least(agree, index);
}

/* All have come here with the same number. */
static pl_status meet_with_coll(struct file *file, int64_t number, const char *what, struct pl_error *error)
{
    struct agree agree;
    const int64_t values[2] = {number, -number};
    const pl_status status = file_agree_coll(file, &agree, values, 2, error);
    if (status == PL_OK && agree_least(&agree, 0) != greatest(&agree, 1))
        return pl_fail(error, PL_E_NOT_SAME, "the ranks give different %s: %lld to %lld", what,
                       (long long)agree_least(&agree, 0), (long long)greatest(&agree, 1));
    return status;
}

static pl_status meet_coll(struct file *file, struct pl_error *error)
{
    struct agree agree;
    return file_agree_coll(file, &agree, NULL, 0, error);
}

/* The last meeting of a call. */
static pl_status part_coll(struct file *file, struct pl_error *error)
{
    return meet_coll(file, error) == PL_OK ? file_tell_late_coll(file, error) : error->status;
}

pl_status file_set_size_coll(struct file *file, int64_t bytes, struct pl_error *error)
{
    file_settle(file, file->comm);
    if (meet_with_coll(file, bytes, "sizes", error))
        return error->status;
    storage_hold_drop(file->storage);
    if (file->rank == 0 && ship_flush(file, true, error) == PL_OK &&
        storage_truncate(file->storage, bytes, error) == PL_OK)
        ship_size_changed(file, error);
    if (file->rank == 0)
        develop_track_resized(file);
    return part_coll(file, error);
}

pl_status file_preallocate_coll(struct file *file, int64_t bytes, struct pl_error *error)
{
    file_settle(file, file->comm);
    if (meet_with_coll(file, bytes, "sizes", error))
        return error->status;
    if (file->rank == 0 && ship_flush(file, true, error) == PL_OK)
        storage_allocate(file->storage, bytes, error);
    if (file->rank == 0)
        develop_track_resized(file);
    return part_coll(file, error);
}

pl_status file_sync_coll(struct file *file, struct pl_error *error)
{
    develop_track_sync_begins(file);
    file_settle(file, file->comm);
    storage_hold_drop(file->storage);
    if (error->status == PL_OK && !(file->amode & MPI_MODE_RDONLY) && ship_flush(file, false, error) == PL_OK)
        storage_sync(file->storage, error);
    part_coll(file, error);
    develop_track_sync_ends(file);
    return error->status;
}

pl_status file_set_atomicity_coll(struct file *file, bool atomic, struct pl_error *error)
{
    file_settle(file, file->comm);
    if (meet_with_coll(file, atomic, "atomicity flags", error))
        return error->status;
    if (ship_holds(file)) { /* what agents hold must be in the file before ranks access it themselves */
        ship_flush(file, false, error);
        if (meet_coll(file, error))
            return error->status;
    }
    file->atomic = atomic;
    if (choose_again_coll(file, error) || ship_update_coll(file, error))
        return error->status;
    return file_tell_late_coll(file, error);
}

pl_status file_set_info_coll(struct file *file, MPI_Info info, struct pl_error *error)
{
    struct agree agree;
    const int64_t same = !update_hints(file, info, error);
    if (file_agree_coll(file, &agree, &same, 1, error))
        return error->status;
    if (agree_least(&agree, 0) == 0 && share_hints_coll(file, error) != PL_OK)
        return error->status;
    return file_tell_late_coll(file, error);
}

/* How many etypes of the view begin before this byte of the file. */
static pl_status etypes_before(const struct view *view, int64_t byte, int64_t *ret_etypes, struct pl_error *error)
{
    if (!view->contiguous && !typemap_shape(view->filetype)->monotone)
        return pl_fail(error, PL_E_UNSUPPORTED, "MPI_SEEK_END in a view whose data overlap or go back");
    const int64_t bytes = view_position(view, byte);
    *ret_etypes = bytes / view->etype_size + (bytes % view->etype_size != 0);
    return PL_OK;
}

pl_status file_seek_target(struct file *file, const struct view *view, int64_t offset, int whence, int64_t current,
                           int64_t *ret_target, struct pl_error *error)
{
    int64_t base = 0, size;
    if (whence == MPI_SEEK_CUR) {
        base = current;
    } else if (whence == MPI_SEEK_END) {
        file_settle(file, file->comm);
        if (ship_size(file, &size, error) || etypes_before(view, size, &base, error))
            return error->status;
    } else if (whence != MPI_SEEK_SET) {
        return pl_fail(error, PL_E_ARG, "whence is %d; allowed: MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END", whence);
    }
    int64_t target;
    if (__builtin_add_overflow(base, offset, &target) || target < 0)
        return pl_fail(error, PL_E_ARG, "the file pointer would be at %lld + %lld; allowed: 0 and above",
                       (long long)base, (long long)offset);
    *ret_target = target;
    return PL_OK;
}

pl_status file_seek_shared_coll(struct file *file, int64_t offset, int whence, struct pl_error *error)
{
    if (whence == MPI_SEEK_END)
        file_settle(file, file->comm);
    if (meet_with_coll(file, offset, "offsets", error) || meet_with_coll(file, whence, "values of whence", error))
        return error->status;
    int64_t current = 0, target = 0;
    if (file->rank == 0 && shared_get(&file->shared, &current, error) == PL_OK &&
        file_seek_target(file, file->view, offset, whence, current, &target, error) == PL_OK)
        shared_prepare(&file->shared, target, error);
    if (meet_coll(file, error))
        return error->status;
    shared_turn(&file->shared);
    return file_tell_late_coll(file, error);
}
