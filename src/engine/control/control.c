/* What all ranks of a file do together, besides moving data. */
#include "engine/control/control.h"
#include "engine/develop/develop.h"
#include "engine/ship/ship.h"
#include "engine/storage/storage_map.h"
#include "engine/strategy/strategy.h"
#include "mpi/launcher.h"
#include "mpi/real.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- Parts of the file as memory --------------------------------------------------------------------------------- */

/* Whether parts of the file may be mapped, and how much. */

/* Of the whole job, not only of those that open this file: each may have files of its own. */
static int ranks_of_node(const struct file *file)
{
    int world = 1, ranks = launcher_local_size();
    real.Comm_size(MPI_COMM_WORLD, &world);
    ranks = ranks > 0 && ranks < world ? ranks : world; /* a launcher that tells nothing: as if it were one node */
    return ranks > file->node.size ? ranks : file->node.size;
}

int64_t control_map_budget(struct file *file)
{
    const int64_t job_bytes = launcher_node_bytes();
    file->map_ranks = ranks_of_node(file);
    assert(file->map_ranks > 0);
    if (file->values.map == HINT_DISABLE)
        return 0;
    return storage_budget(job_bytes > 0 ? (uint64_t)job_bytes : UINT64_MAX, file->map_ranks);
}

void control_map_apply(struct file *file, int64_t bytes)
{
    assert(bytes >= 0 && file->storage);
    file->map_bytes = bytes;
    storage_map_allow(file->storage, bytes);
}

void control_map_describe(struct file *file, struct control_map_state *ret_state)
{
    const char *refused = file->values.map == HINT_DISABLE ? "as the hint says" : storage_map_refused(file->storage);
    *ret_state = (struct control_map_state){
        .effective = refused ? "disable" : "automatic",
        .why = refused ? refused : "parts of the file that are accessed again stay mapped",
        .rank_bytes = refused ? 0 : file->map_bytes,
        .node_bytes = refused ? 0 : file->map_bytes * file->map_ranks,
    };
}

/* ---- What all ranks do together ---------------------------------------------------------------------------------- */

pl_status control_agree_coll(struct file *file, struct agree *agree, const int64_t *values, int count,
                             struct pl_error *error)
{
    int64_t all[AGREE_VALUES_MAX];
    assert(count < AGREE_VALUES_MAX);
    for (int i = 0; i < count; i++)
        all[i] = values[i];
    all[count] = file_has_late(file) ? file->rank : INT64_MAX;
    const pl_status status = agree_run_coll(agree, file->comm, file->rank, error, all, count + 1);
    file->late_rank = agree_least(agree, count);
    return status;
}

pl_status control_tell_late_coll(struct file *file, struct pl_error *error)
{
    assert(file->late_rank >= 0);
    if (error->status != PL_OK || file->late_rank == INT64_MAX)
        return error->status;
    struct agree agree;
    const struct error_late late = file_late(file); /* more may come while the ranks meet */
    struct pl_error told = late.error;
    agree_run_coll(&agree, file->comm, file->rank, &told, NULL, 0);
    file_forget_late(file, late.number);
    file->late_rank = INT64_MAX;
    if (late.error.status == PL_OK)
        return agree_tell(&agree, error);
    if (!late.heard)
        *error = late.error;
    return error->status;
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

void control_choose(struct file *file, const struct strategy_facts *facts)
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
    file->direct_reads = reading.direct_first;
    file->writing = writing.strategy;
    file->why_writing = writing.why;
    file->tune_writes = writing.tune;
    assert(file->reading && file->writing && file->why_reading && file->why_writing);
}

static void control_choose_agreed(struct file *file, const struct agree *agree, int first)
{
    assert(first + FACTS <= agree->count);
    const struct strategy_facts facts = {.ranks = file->size,
                                         .piece_bytes = agree_least(agree, first + PIECE),
                                         .monotone = agree_least(agree, first + MONOTONE) != 0,
                                         .atomic = file->atomic,
                                         .shares = file->ring != NULL,
                                         .refused = file->node.refused,
                                         .scarce = file->node.scarce,
                                         .hints = &file->values};
    control_choose(file, &facts);
    const bool gaps = agree_least(agree, first + CONTIGUOUS) == 0 || file->writing->agreement != AGREE_LATER;
    file->lock_writes = file_may_sieve_writes(file) && gaps;
}

/* After hints or the mode have changed. */
static pl_status choose_again_coll(struct file *file, struct pl_error *error)
{
    enum { MAP_BYTES = FACTS, VALUES };
    struct agree agree;
    int64_t values[VALUES];
    view_facts(file->view, values);
    values[MAP_BYTES] = control_map_budget(file);
    if (control_agree_coll(file, &agree, values, VALUES, error))
        return error->status;
    control_choose_agreed(file, &agree, 0);
    control_map_apply(file, agree_least(&agree, MAP_BYTES));
    return PL_OK;
}

/* ---- hints ---- */

void control_check_strategy(struct hints *hints, const char *keep)
{
    const char *name = hints_values(hints)->strategy;
    if (strcmp(name, "auto") == 0 || strategy_find(name))
        return;
    char allowed[HINT_TEXT_MAX] = "auto";
    for (const struct strategy *row = STRATEGIES; row->name; row++)
        snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed), ", %s", row->name);
    hints_reject(hints, "piolet_strategy", keep, allowed);
}

void control_take_values(struct file *file)
{
    file->values = *hints_values(file->hints);
    if (file->values.cb_buffer_size > file->buffer_most)
        file->values.cb_buffer_size = file->buffer_most;
    assert(file->values.cb_buffer_size > 0 && file->values.window_size > 0);
}

/* Local. True where something that ranks do together changes by it. */
static bool update_hints(struct file *file, MPI_Info info, struct pl_error *error)
{
    const uint64_t before = hints_digest(file->hints);
    if (error->status != PL_OK || info == MPI_INFO_NULL || hints_update(file->hints, info, error) != PL_OK)
        return false;
    control_check_strategy(file->hints, file->values.strategy);
    return hints_digest(file->hints) != before;
}

/* Hints may differ between ranks; those of rank 0 hold for what ranks do together. */
static pl_status share_hints_coll(struct file *file, struct pl_error *error)
{
    char before[sizeof file->values.strategy];
    memcpy(before, file->values.strategy, sizeof before);
    hints_share_coll(file->hints, file->comm);
    control_take_values(file);
    if (choose_again_coll(file, error) != PL_OK || ship_update_coll(file, error) == PL_OK)
        return error->status;
    /* Agents still hold what they could not store: as long as they do, everything goes through them. */
    struct pl_error none = {0};
    hints_set(file->hints, "piolet_strategy", before, HINT_INFO);
    control_take_values(file);
    choose_again_coll(file, &none);
    return error->status;
}

pl_status control_set_strategy_coll(struct file *file, const char *name, struct pl_error *error)
{
    hints_set(file->hints, "piolet_strategy", name, HINT_INFO);
    control_take_values(file);
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

static void control_install_view(struct file *file, struct view *view)
{
    pthread_mutex_lock(&file->lock);
    struct view *old = file->view;
    assert(old && view->etype_size > 0);
    view->generation = old->generation + 1;
    file->view = view;
    file->position = 0;
    pthread_mutex_unlock(&file->lock);
    view_unref(old);
    shared_turn(file->shared);
}

pl_status control_set_view_coll(struct file *file, struct view *view, MPI_Info info, struct pl_error *error)
{
    assert(view || error->status != PL_OK);
    enum { DATAREP = FACTS, DATAREP_MOST, EXTENT, EXTENT_MOST, SAME_HINTS, VALUES };
    int64_t values[VALUES] = {INT64_MAX, 1, 1, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 1};
    struct agree agree;
    values[SAME_HINTS] = !update_hints(file, info, error);
    if (error->status == PL_OK && file->rank == 0)
        shared_prepare(file->shared, 0, error);
    if (view) {
        view_facts(view, values);
        digest_text(datarep_name(view->representation), &values[DATAREP]);
        values[DATAREP_MOST] = -values[DATAREP];
        values[EXTENT] = view->etype_extent;
        values[EXTENT_MOST] = -view->etype_extent;
    }
    pl_status status = control_agree_coll(file, &agree, values, VALUES, error);
    if (status == PL_OK && agree_least(&agree, DATAREP) != -agree_least(&agree, DATAREP_MOST))
        status = pl_fail(error, PL_E_NOT_SAME, "the ranks set views with different data representations");
    if (status == PL_OK && agree_least(&agree, EXTENT) != -agree_least(&agree, EXTENT_MOST))
        status = pl_fail(error, PL_E_NOT_SAME, "the ranks set views whose etypes have different extents");
    if (status != PL_OK) {
        view_unref(view);
        return status;
    }
    assert(view); /* a rank without one has an error, and all have heard of it */
    control_install_view(file, view);
    control_choose_agreed(file, &agree, 0);
    if (agree_least(&agree, SAME_HINTS) == 0 && share_hints_coll(file, error) != PL_OK)
        return error->status;
    return control_tell_late_coll(file, error);
}

/* ---- sizes, sync, hints, shared pointer ---- */

static int64_t control_greatest(const struct agree *agree, int index)
{
    return -agree_least(agree, index);
}

/* All have come here with the same number. */
static pl_status meet_with_coll(struct file *file, int64_t number, const char *what, struct pl_error *error)
{
    struct agree agree;
    const int64_t values[2] = {number, -number};
    const pl_status status = control_agree_coll(file, &agree, values, 2, error);
    if (status == PL_OK && agree_least(&agree, 0) != control_greatest(&agree, 1))
        return pl_fail(error, PL_E_NOT_SAME, "the ranks give different %s: %lld to %lld", what,
                       (long long)agree_least(&agree, 0), (long long)control_greatest(&agree, 1));
    return status;
}

static pl_status control_meet_coll(struct file *file, struct pl_error *error)
{
    struct agree agree;
    return control_agree_coll(file, &agree, NULL, 0, error);
}

/* The last meeting of a call. */
static pl_status control_part_coll(struct file *file, struct pl_error *error)
{
    return control_meet_coll(file, error) == PL_OK ? control_tell_late_coll(file, error) : error->status;
}

pl_status control_set_size_coll(struct file *file, int64_t bytes, struct pl_error *error)
{
    assert(file->storage);
    file_settle(file, file->comm);
    if (meet_with_coll(file, bytes, "sizes", error))
        return error->status;
    storage_hold_drop(file->storage);
    if (file->rank == 0 && ship_flush(file, true, error) == PL_OK &&
        storage_truncate(file->storage, bytes, error) == PL_OK)
        ship_size_changed(file, error);
    if (file->rank == 0)
        develop_track_resized(file);
    return control_part_coll(file, error);
}

pl_status control_preallocate_coll(struct file *file, int64_t bytes, struct pl_error *error)
{
    file_settle(file, file->comm);
    if (meet_with_coll(file, bytes, "sizes", error))
        return error->status;
    if (file->rank == 0 && ship_flush(file, true, error) == PL_OK)
        storage_allocate(file->storage, bytes, error);
    if (file->rank == 0)
        develop_track_resized(file);
    return control_part_coll(file, error);
}

pl_status control_sync_coll(struct file *file, struct pl_error *error)
{
    assert(file->storage);
    develop_track_sync_begins(file);
    file_settle(file, file->comm);
    storage_hold_drop(file->storage);
    if (error->status == PL_OK && !(file->amode & MPI_MODE_RDONLY) && ship_flush(file, false, error) == PL_OK)
        storage_sync(file->storage, error);
    control_part_coll(file, error);
    develop_track_sync_ends(file);
    return error->status;
}

pl_status control_set_atomicity_coll(struct file *file, bool atomic, struct pl_error *error)
{
    file_settle(file, file->comm);
    if (meet_with_coll(file, atomic, "atomicity flags", error))
        return error->status;
    if (ship_holds(file)) { /* what agents hold must be in the file before ranks access it themselves */
        ship_flush(file, false, error);
        if (control_meet_coll(file, error))
            return error->status;
    }
    file->atomic = atomic;
    if (choose_again_coll(file, error) || ship_update_coll(file, error))
        return error->status;
    return control_tell_late_coll(file, error);
}

pl_status control_set_info_coll(struct file *file, MPI_Info info, struct pl_error *error)
{
    struct agree agree;
    const int64_t same = !update_hints(file, info, error);
    if (control_agree_coll(file, &agree, &same, 1, error))
        return error->status;
    if (agree_least(&agree, 0) == 0 && share_hints_coll(file, error) != PL_OK)
        return error->status;
    return control_tell_late_coll(file, error);
}

/* How many etypes of the view begin before this byte of the file. */
static pl_status etypes_before(const struct view *view, int64_t byte, int64_t *ret_etypes, struct pl_error *error)
{
    assert(view->etype_size > 0 && byte >= 0);
    if (!view->contiguous && !typemap_shape(view->filetype)->monotone)
        return pl_fail(error, PL_E_UNSUPPORTED, "MPI_SEEK_END in a view whose data overlap or go back");
    const int64_t bytes = view_position(view, byte);
    *ret_etypes = bytes / view->etype_size + (bytes % view->etype_size != 0);
    return PL_OK;
}

pl_status control_seek_target(struct file *file, const struct view *view, int64_t offset, int whence, int64_t current,
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

pl_status control_seek_shared_coll(struct file *file, int64_t offset, int whence, struct pl_error *error)
{
    if (whence == MPI_SEEK_END)
        file_settle(file, file->comm);
    if (meet_with_coll(file, offset, "offsets", error) || meet_with_coll(file, whence, "values of whence", error))
        return error->status;
    int64_t current = 0, target = 0;
    if (file->rank == 0 && shared_get(file->shared, &current, error) == PL_OK &&
        control_seek_target(file, file->view, offset, whence, current, &target, error) == PL_OK)
        shared_prepare(file->shared, target, error);
    if (control_meet_coll(file, error))
        return error->status;
    shared_turn(file->shared);
    return control_tell_late_coll(file, error);
}
