/* How data are moved: the calls of a rank's plan by MPI-IO or POSIX, on one thread or on several, which compute between
 * them. Whose MPI-IO it is and what it does is said by hints, and looked up before anything is measured. */
#include "bench/contest/gpfs.h"

#include "base/memory.h"
#include "lab/facts/place.h"
#include "lab/runner/info.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BIG = 1 << 30, THREADS_MAX = 256, CALIBRATION_SPINS = 200000, CALIBRATIONS = 5 };

/* ---- which bytes ---- */

struct gpfs_layout {
    struct gpfs_plan plan;
    int thread_level;    /* that the MPI gave */
    double spins_per_us; /* of the computation of threads */
};

static const struct gpfs_plan *gpfs_plan_of(const struct contest_place *place)
{
    return &((const struct gpfs_layout *)place->layout)->plan;
}

static void gpfs_spin(int64_t spins)
{
    volatile double value = 1;
    for (int64_t i = 0; i < spins; i++)
        value = value * 0.999999 + 1e-6;
}

/* How fast this machine computes. */
static double gpfs_spins_per_us(void)
{
    double best = 0;
    for (int i = 0; i < CALIBRATIONS; i++) {
        const double begin = MPI_Wtime();
        gpfs_spin(CALIBRATION_SPINS);
        const double rate = CALIBRATION_SPINS / ((MPI_Wtime() - begin) * 1e6);
        best = rate > best ? rate : best;
    }
    return best;
}

pl_status gpfs_layout_new(struct contest_place *place, struct pl_error *error)
{
    struct gpfs_layout *layout = place->layout = memory_new(1, sizeof *layout);
    MPI_Query_thread(&layout->thread_level);
    if (place->cell->value[GPFS_COMPUTE])
        layout->spins_per_us = gpfs_spins_per_us();
    if (gpfs_plan_make(place->cell, place->rank, (uint64_t)place->contest->seed, &layout->plan, error) != PL_OK)
        return error->status;
    place->bytes = layout->plan.count * layout->plan.piece_bytes;
    return PL_OK;
}

void gpfs_layout_free(void *own)
{
    struct gpfs_layout *layout = own;
    gpfs_plan_clear(&layout->plan);
    free(layout);
}

/* Every rank computes the share of every other. */
pl_status gpfs_touch(struct contest_place *place, struct pl_error *error)
{
    const int64_t bytes = place->cell->file_bytes, each = (bytes + place->ranks - 1) / place->ranks;
    const int64_t first = each * place->rank, end = first + each;
    int64_t capacity = 0;
    place->touched_bytes = gpfs_plan_of(place)->piece_bytes;
    for (int rank = 0; rank < place->ranks; rank++) {
        struct gpfs_plan plan;
        if (gpfs_plan_make(place->cell, rank, (uint64_t)place->contest->seed, &plan, error) != PL_OK)
            return error->status;
        bool enough = true;
        for (int64_t i = 0; i < plan.count && enough; i++) {
            if (plan.offsets[i] >= end || plan.offsets[i] + plan.piece_bytes <= first)
                continue;
            if (place->touched_count == capacity) {
                capacity = capacity ? 2 * capacity : 1024;
                int64_t *more = realloc(place->touched, (size_t)capacity * sizeof *more);
                enough = more != NULL;
                place->touched = enough ? more : place->touched;
            }
            if (enough)
                place->touched[place->touched_count++] = plan.offsets[i];
        }
        gpfs_plan_clear(&plan);
        if (!enough)
            return pl_fail(error, PL_E_NOMEM, "not enough memory for the list of all pieces");
    }
    if (place->touched_count)
        qsort(place->touched, (size_t)place->touched_count, sizeof *place->touched, gpfs_by_offset);
    return PL_OK;
}

bool gpfs_each_piece(const struct contest_place *place,
                     bool (*visit)(void *context, char *data, int64_t offset, int64_t bytes), void *context)
{
    const struct gpfs_plan *plan = gpfs_plan_of(place);
    assert(plan->count * plan->piece_bytes == place->bytes);
    for (int64_t i = 0; i < plan->count; i++)
        if (!visit(context, place->data + i * plan->piece_bytes, plan->offsets[i], plan->piece_bytes))
            return false;
    return true;
}

/* ---- opening ---- */

void gpfs_ask(const struct contest_trial *trial, struct lab_hints *hints)
{
    const struct lab_hints *all = &trial->place->contest->hints;
    for (size_t i = 0; i < all->count; i++)
        contest_hint(hints, all->list[i].key, "%s", all->list[i].value);
    if (trial->contestant->access != CONTEST_ENGINE)
        return;
    contest_hint(hints, "IBM_largeblock_io", "%s", trial->contestant->largeblock ? "true" : "false");
    contest_hint(hints, "piolet_access_ranges", "%d", trial->contestant->ranges);
    contest_hint(hints, "IBM_io_buffer_size", "%lld", (long long)trial->place->cell->value[GPFS_BUFFER]);
}

pl_status gpfs_ready_coll(struct contest_trial *trial, struct pl_error *error)
{
    const struct contest_cell *cell = trial->place->cell;
    const char *file = trial->place->contest->file;
    if (!cell->fresh || !cell->value[GPFS_PREALLOCATE])
        return PL_OK;
    if (trial->contestant->access == CONTEST_POSIX) {
        errno = trial->place->rank == 0 ? posix_fallocate(trial->descriptor, 0, cell->file_bytes) : 0;
        return errno ? place_fail(file, "allocating", error) : PL_OK;
    }
    const int code = MPI_File_preallocate(trial->handle, cell->file_bytes);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "allocating '%s'", file);
}

/* ---- what is in force ---- */

/* Shipping, and partitioning, as the engine itself describes them. */
static pl_status gpfs_check_shipping(const struct contest_trial *trial, MPI_Info info, struct pl_error *error)
{
    const struct contest_contestant *contestant = trial->contestant;
    const bool wanted = strcmp(contestant->strategy, "shipping") == 0 && !contestant->largeblock;
    char value[MPI_MAX_INFO_VAL + 1];
    const char *is = info_get(info, "piolet_shipping", value);
    const bool ships = is && strncmp(is, "on:", 3) == 0, partitioned = ships && strstr(is, ", partitioned");
    if (ships != wanted)
        return contest_fail_force(trial, wanted ? "shipping" : "no shipping", is, error);
    if (ships && partitioned != contestant->unique)
        return contest_fail_force(trial, contestant->unique ? "a partitioned file" : "a file that is not partitioned",
                                  is, error);
    return PL_OK;
}

/* A hint of a number: taken as it was given, and not overruled by the environment. */
static pl_status gpfs_check_number(const struct contest_trial *trial, MPI_Info info, const char *key, int64_t wanted,
                                   struct pl_error *error)
{
    char value[MPI_MAX_INFO_VAL + 1], what[96];
    const char *is = info_get(info, key, value);
    snprintf(what, sizeof what, "%s=%lld", key, (long long)wanted);
    return is && strtoll(is, NULL, 10) == wanted ? PL_OK : contest_fail_force(trial, what, is, error);
}

pl_status gpfs_in_force(struct contest_trial *trial, MPI_Info info, struct pl_error *error)
{
    const struct gpfs_layout *layout = trial->place->layout;
    const int64_t *value = trial->place->cell->value;
    pl_status status = PL_OK;
    if (trial->contestant->access == CONTEST_ENGINE) {
        status = gpfs_check_shipping(trial, info, error);
        if (status == PL_OK)
            status = gpfs_check_number(trial, info, "piolet_access_ranges", trial->contestant->ranges, error);
        if (status == PL_OK)
            status = gpfs_check_number(trial, info, "IBM_io_buffer_size", value[GPFS_BUFFER], error);
    }
    if (status == PL_OK && value[GPFS_THREADS] > 1 && layout->thread_level < MPI_THREAD_MULTIPLE)
        status = pl_fail(error, PL_E_UNSUPPORTED,
                         "this MPI does not give MPI_THREAD_MULTIPLE: %lld threads cannot call it",
                         (long long)value[GPFS_THREADS]);
    return status;
}

/* All that is in force goes to the first repetition; later ones only repeat what counts. */
bool gpfs_is_noted(const void *context, const char *key)
{
    const struct contest_trial *trial = context;
    if (strncmp(key, "origin:", 7) == 0)
        return false;
    return trial->number == 1 || strcmp(key, "piolet_shipping") == 0 || strcmp(key, "piolet_prefetch") == 0;
}

/* ---- views ---- */

/* A view of the pieces first … end - 1, counted from byte `base`. A rank that cannot make one takes part with a view
 * of everything: setting it is collective. */
static pl_status gpfs_set_view_coll(const struct contest_trial *trial, int64_t first, int64_t end, int64_t base,
                                    struct pl_error *error)
{
    const struct gpfs_plan *plan = gpfs_plan_of(trial->place);
    const int64_t count = end - first;
    MPI_Aint *places = count && count <= INT_MAX ? malloc((size_t)count * sizeof *places) : NULL;
    MPI_Datatype type = MPI_BYTE;
    pl_status status = PL_OK;
    int code = MPI_SUCCESS;
    if (count && !places)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for a view of %lld pieces", (long long)count);
    for (int64_t i = 0; places && i < count; i++)
        places[i] = (MPI_Aint)(plan->offsets[first + i] - base);
    if (places)
        code = MPI_Type_create_hindexed_block((int)count, (int)plan->piece_bytes, places, MPI_BYTE, &type);
    if (places && code == MPI_SUCCESS)
        code = MPI_Type_commit(&type);
    free(places);
    if (code != MPI_SUCCESS && status == PL_OK)
        status = coll_fail_mpi(error, code, "making a type of %lld pieces", (long long)count);
    code = MPI_File_set_view(trial->handle, base, MPI_BYTE, status == PL_OK ? type : MPI_BYTE, (char *)"native",
                             MPI_INFO_NULL);
    if (type != MPI_BYTE && type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    if (code != MPI_SUCCESS && status == PL_OK)
        status = coll_fail_mpi(error, code, "setting the view of '%s'", trial->place->contest->file);
    return status;
}

/* ---- moving ---- */

/* Any number of bytes, as `count` of `type`. */
static int gpfs_bytes_type(int64_t bytes, MPI_Datatype *ret_type, int *ret_count)
{
    *ret_type = MPI_BYTE;
    *ret_count = (int)bytes;
    if (bytes <= INT_MAX)
        return MPI_SUCCESS;
    MPI_Datatype big, parts[2];
    int code = MPI_Type_contiguous(BIG, MPI_BYTE, &big);
    if (code != MPI_SUCCESS)
        return code;
    const int lengths[2] = {(int)(bytes / BIG), (int)(bytes % BIG)};
    const MPI_Aint places[2] = {0, (MPI_Aint)(bytes / BIG * BIG)};
    parts[0] = big;
    parts[1] = MPI_BYTE;
    *ret_count = 1;
    code = MPI_Type_create_struct(2, lengths, places, parts, ret_type);
    MPI_Type_free(&big);
    return code == MPI_SUCCESS ? MPI_Type_commit(ret_type) : code;
}

struct gpfs_access {
    MPI_File handle;
    int64_t offset;
    char *data;
    int count;
    MPI_Datatype type;
};

static int gpfs_call_mpiio(const struct contest_cell *cell, const struct gpfs_access *access, MPI_Status *ret_moved)
{
    const bool collective = cell->value[GPFS_COLLECTIVE] != 0;
    if (cell->writes)
        return collective ? MPI_File_write_at_all(access->handle, access->offset, access->data, access->count,
                                                  access->type, ret_moved)
                          : MPI_File_write_at(access->handle, access->offset, access->data, access->count, access->type,
                                              ret_moved);
    return collective
               ? MPI_File_read_at_all(access->handle, access->offset, access->data, access->count, access->type,
                                      ret_moved)
               : MPI_File_read_at(access->handle, access->offset, access->data, access->count, access->type, ret_moved);
}

static pl_status gpfs_move_pieces(const struct contest_trial *trial, int64_t first, int64_t end, int64_t offset,
                                  struct pl_error *error)
{
    const struct contest_place *place = trial->place;
    const struct gpfs_plan *plan = gpfs_plan_of(place);
    const char *doing = place->cell->writes ? "writing" : "reading";
    const int64_t bytes = (end - first) * plan->piece_bytes;
    struct gpfs_access access = {
        .handle = trial->handle, .offset = offset, .data = place->data + first * plan->piece_bytes};
    pl_status status = PL_OK;
    int code = gpfs_bytes_type(bytes, &access.type, &access.count);
    if (code != MPI_SUCCESS) { /* the call may be collective: go there with nothing */
        status = coll_fail_mpi(error, code, "making a type of %lld bytes", (long long)bytes);
        access.type = MPI_BYTE;
        access.count = 0;
    }
    MPI_Status moved;
    MPI_Count elements = 0;
    code = gpfs_call_mpiio(place->cell, &access, &moved);
    if (code != MPI_SUCCESS && status == PL_OK)
        status = coll_fail_mpi(error, code, "%s '%s'", doing, place->contest->file);
    if (status == PL_OK)
        MPI_Get_elements_x(&moved, access.type, &elements);
    if (status == PL_OK && elements != bytes)
        status = pl_fail(error, PL_E_IO, "%s '%s': %lld of %lld bytes moved", doing, place->contest->file,
                         (long long)elements, (long long)bytes);
    if (access.type != MPI_BYTE)
        MPI_Type_free(&access.type);
    return status;
}

static pl_status gpfs_call(const struct contest_trial *trial, int64_t call, struct pl_error *error)
{
    const struct contest_place *place = trial->place;
    const struct gpfs_plan *plan = gpfs_plan_of(place);
    const int64_t first = plan->first_piece[call], end = plan->first_piece[call + 1];
    assert(first <= end && end <= plan->count);
    if (trial->contestant->access == CONTEST_POSIX) {
        for (int64_t piece = first; piece < end; piece++)
            if (contest_move_posix(trial, place->data + piece * plan->piece_bytes, plan->offsets[piece],
                                   plan->piece_bytes, false, error) != PL_OK)
                return error->status;
        return PL_OK;
    }
    if (plan->view != GPFS_VIEW_EACH)
        return gpfs_move_pieces(trial, first, end,
                                plan->view == GPFS_ONE_VIEW ? first * plan->piece_bytes : plan->offsets[first], error);
    const pl_status viewed = gpfs_set_view_coll(trial, first, end, call * plan->region_bytes, error);
    struct pl_error ignored; /* a rank without its view takes part with nothing */
    const pl_status moved = gpfs_move_pieces(trial, first, viewed == PL_OK ? end : first, 0,
                                             viewed == PL_OK ? error : &ignored);
    return viewed == PL_OK ? moved : viewed;
}

/* ---- all calls, by as many threads as the cell asks for ---- */

/* What one thread does. */
struct gpfs_worker {
    const struct contest_trial *trial;
    bool computes_only;
    int64_t first, end; /* calls */
    pl_status status;
    struct pl_error error;
};

/* Others may be waiting in the same call: a rank that failed goes on calling. */
static bool gpfs_is_collective(const struct contest_place *place)
{
    return place->cell->value[GPFS_COLLECTIVE] || gpfs_plan_of(place)->view == GPFS_VIEW_EACH;
}

static void *gpfs_work(void *argument)
{
    struct gpfs_worker *worker = argument;
    const struct contest_place *place = worker->trial->place;
    const struct gpfs_layout *layout = place->layout;
    const int64_t spins = (int64_t)((double)place->cell->value[GPFS_COMPUTE] * layout->spins_per_us);
    const bool goes_on = gpfs_is_collective(place);
    for (int64_t i = worker->first; i < worker->end; i++) {
        struct pl_error error;
        const int64_t call = layout->plan.order ? layout->plan.order[i] : i;
        if (!worker->computes_only && gpfs_call(worker->trial, call, &error) != PL_OK && worker->status == PL_OK) {
            worker->status = error.status;
            worker->error = error;
        }
        if (worker->status != PL_OK && !goes_on)
            break;
        gpfs_spin(spins);
    }
    return NULL;
}

/* Each thread has a part of the calls; the first of them runs on the thread that is there. */
static pl_status gpfs_work_all(const struct contest_trial *trial, bool computes_only, struct pl_error *error)
{
    const int64_t calls = gpfs_plan_of(trial->place)->calls, asked = trial->place->cell->value[GPFS_THREADS];
    const int threads = asked > 1 ? (int)asked : 1;
    struct gpfs_worker workers[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    int started = 0, problem = 0;
    assert(threads <= THREADS_MAX);
    for (int t = 0; t < threads; t++)
        workers[t] = (struct gpfs_worker){.trial = trial,
                                          .computes_only = computes_only,
                                          .first = calls * t / threads,
                                          .end = calls * (t + 1) / threads};
    while (started + 1 < threads && !problem) {
        problem = pthread_create(&ids[started], NULL, gpfs_work, &workers[started + 1]);
        started += problem == 0;
    }
    gpfs_work(&workers[0]);
    for (int t = 0; t < started; t++)
        pthread_join(ids[t], NULL);
    if (problem)
        return pl_fail_errno(error, problem, "starting thread %d of %d", started + 2, threads);
    for (int t = 0; t < threads; t++)
        if (workers[t].status != PL_OK) {
            *error = workers[t].error;
            return error->status;
        }
    return PL_OK;
}

pl_status gpfs_move_coll(struct contest_trial *trial, struct pl_error *error)
{
    const struct gpfs_plan *plan = gpfs_plan_of(trial->place);
    const bool views = plan->view == GPFS_ONE_VIEW && trial->contestant->access != CONTEST_POSIX;
    const pl_status viewed = views ? gpfs_set_view_coll(trial, 0, plan->count, 0, error) : PL_OK;
    if (viewed != PL_OK && !gpfs_is_collective(trial->place))
        return viewed;
    struct pl_error ignored;
    const pl_status worked = gpfs_work_all(trial, false, viewed == PL_OK ? error : &ignored);
    return viewed == PL_OK ? worked : viewed;
}

/* What the threads compute, without the calls. */
void gpfs_rehearse(struct contest_trial *trial)
{
    struct pl_error ignored;
    if (!trial->place->cell->value[GPFS_COMPUTE])
        return;
    const double begin = MPI_Wtime();
    gpfs_work_all(trial, true, &ignored);
    samples_time(&trial->set.samples, "task_time", MPI_Wtime() - begin);
}
