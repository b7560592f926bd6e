/* MPI-IO. Whose it is and what it does is said by hints, and looked up before anything is measured: nobody is measured
 * under another's name. */
#include "bench/gpfs/gpfs_trial.h"

#include "measure/info.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BIG = 1 << 30 };

/* ---- opening ---- */

static void set_hints(const struct gpfs_trial *trial, MPI_Info info)
{
    const struct gpfs_contestant *contestant = trial->contestant;
    char number[GPFS_LABEL_MAX];
    if (dlsym(RTLD_DEFAULT, "piolet_mpiio_version"))
        MPI_Info_set(info, "piolet_impl", contestant->access == GPFS_ENGINE ? "piolet" : "system");
    if (contestant->access != GPFS_ENGINE)
        return;
    MPI_Info_set(info, "piolet_strategy", contestant->strategy);
    MPI_Info_set(info, "IBM_largeblock_io", contestant->largeblock ? "true" : "false");
    snprintf(number, sizeof number, "%d", contestant->ranges);
    MPI_Info_set(info, "piolet_access_ranges", number);
    snprintf(number, sizeof number, "%lld", (long long)trial->place->cell->value[GPFS_BUFFER]);
    MPI_Info_set(info, "IBM_io_buffer_size", number);
}

static pl_status mpiio_open_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    const struct gpfs_place *place = trial->place;
    MPI_Info info;
    if (MPI_Info_create(&info) != MPI_SUCCESS)
        info = MPI_INFO_NULL; /* the open is collective: go there all the same, and find out behind it */
    else
        set_hints(trial, info);
    /* reading too opens for both: the document synchronises after reading, and that needs a file to write to */
    const int mode = MPI_MODE_RDWR | (place->cell->fresh ? MPI_MODE_CREATE : 0) |
                     (trial->contestant->unique ? MPI_MODE_UNIQUE_OPEN : 0);
    const int code = MPI_File_open(place->comm, place->config->file, mode, info, &file->handle);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "opening '%s'", place->config->file);
}

/* ---- what is in force ---- */

static pl_status fail_force(const struct gpfs_trial *trial, const char *what, const char *is, struct pl_error *error)
{
    return pl_fail(error, PL_E_UNSUPPORTED, "'%s' asks for %s, but what is in force is '%.200s'",
                   trial->contestant->name, what, is ? is : "nothing of it");
}

/* Shipping, and partitioning, as the engine itself describes them. */
static pl_status check_shipping(const struct gpfs_trial *trial, MPI_Info info, struct pl_error *error)
{
    const struct gpfs_contestant *contestant = trial->contestant;
    const bool wanted = strcmp(contestant->strategy, "shipping") == 0 && !contestant->largeblock;
    char value[MPI_MAX_INFO_VAL + 1];
    const char *is = info_get(info, "piolet_shipping", value);
    const bool ships = is && strncmp(is, "on:", 3) == 0, partitioned = ships && strstr(is, ", partitioned");
    if (ships != wanted)
        return fail_force(trial, wanted ? "shipping" : "no shipping", is, error);
    if (ships && partitioned != contestant->unique)
        return fail_force(trial, contestant->unique ? "a partitioned file" : "a file that is not partitioned", is,
                          error);
    return PL_OK;
}

static pl_status check_strategy(const struct gpfs_trial *trial, MPI_Info info, struct pl_error *error)
{
    const struct gpfs_contestant *contestant = trial->contestant;
    char value[MPI_MAX_INFO_VAL + 1];
    const char *is = info_get(info, trial->place->cell->writes ? "piolet_strategy_write" : "piolet_strategy_read",
                              value);
    const char *wanted = contestant->largeblock ? "independent" : contestant->strategy;
    if (strcmp(wanted, "auto") == 0 || (is && strcmp(is, wanted) == 0))
        return PL_OK;
    return fail_force(trial, wanted, is, error);
}

/* A hint of a number: taken as it was given, and not overruled by the environment. */
static pl_status check_number(const struct gpfs_trial *trial, MPI_Info info, const char *key, int64_t wanted,
                              struct pl_error *error)
{
    char value[MPI_MAX_INFO_VAL + 1], what[96];
    const char *is = info_get(info, key, value);
    snprintf(what, sizeof what, "%s=%lld", key, (long long)wanted);
    return is && strtoll(is, NULL, 10) == wanted ? PL_OK : fail_force(trial, what, is, error);
}

static pl_status check_in_force(const struct gpfs_trial *trial, MPI_Info info, struct pl_error *error)
{
    const bool wanted = trial->contestant->access == GPFS_ENGINE;
    char value[MPI_MAX_INFO_VAL + 1];
    const bool is_engine = info_get(info, "piolet_version", value) != NULL;
    if (is_engine != wanted)
        return fail_force(trial, wanted ? "the engine" : "the MPI's own MPI-IO",
                          is_engine ? "the engine" : "the MPI's own MPI-IO", error);
    if (!wanted)
        return PL_OK;
    pl_status status = check_shipping(trial, info, error);
    if (status == PL_OK)
        status = check_strategy(trial, info, error);
    if (status == PL_OK)
        status = check_number(trial, info, "piolet_access_ranges", trial->contestant->ranges, error);
    if (status == PL_OK)
        status = check_number(trial, info, "IBM_io_buffer_size", trial->place->cell->value[GPFS_BUFFER], error);
    return status;
}

static pl_status mpiio_ready_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    const struct gpfs_place *place = trial->place;
    MPI_Info info;
    int code = MPI_SUCCESS;
    if (place->cell->fresh && place->cell->value[GPFS_PREALLOCATE])
        code = MPI_File_preallocate(file->handle, place->cell->file_bytes);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "allocating '%s'", place->config->file);
    code = MPI_File_get_info(file->handle, &info);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "asking for the hints of '%s'", place->config->file);
    pl_status status = check_in_force(trial, info, error);
    MPI_Info_free(&info);
    if (status == PL_OK && place->cell->value[GPFS_THREADS] > 1 && place->thread_level < MPI_THREAD_MULTIPLE)
        status = pl_fail(error, PL_E_UNSUPPORTED,
                         "this MPI does not give MPI_THREAD_MULTIPLE: %lld threads cannot call it",
                         (long long)place->cell->value[GPFS_THREADS]);
    return status;
}

/* ---- views ---- */

/* A view of the pieces first … end - 1, counted from byte `base`. A rank that cannot make one takes part with a view
 * of everything: setting it is collective. */
static pl_status set_view_coll(const struct gpfs_trial *trial, MPI_File handle, int64_t first, int64_t end,
                               int64_t base, struct pl_error *error)
{
    const struct gpfs_plan *plan = &trial->place->plan;
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
    code = MPI_File_set_view(handle, base, MPI_BYTE, status == PL_OK ? type : MPI_BYTE, (char *)"native",
                             MPI_INFO_NULL);
    if (type != MPI_BYTE && type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    if (code != MPI_SUCCESS && status == PL_OK)
        status = coll_fail_mpi(error, code, "setting the view of '%s'", trial->place->config->file);
    return status;
}

static pl_status mpiio_view_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    const struct gpfs_plan *plan = &trial->place->plan;
    return plan->view == GPFS_ONE_VIEW ? set_view_coll(trial, file->handle, 0, plan->count, 0, error) : PL_OK;
}

/* ---- moving ---- */

/* Any number of bytes, as `count` of `type`. */
static int bytes_type(int64_t bytes, MPI_Datatype *ret_type, int *ret_count)
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

struct access {
    MPI_File handle;
    int64_t offset;
    char *data;
    int count;
    MPI_Datatype type;
};

static int move(const struct gpfs_cell *cell, const struct access *access, MPI_Status *ret_moved)
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

static pl_status move_pieces(const struct gpfs_trial *trial, MPI_File handle, int64_t first, int64_t end,
                             int64_t offset, struct pl_error *error)
{
    const struct gpfs_place *place = trial->place;
    const char *doing = place->cell->writes ? "writing" : "reading";
    const int64_t bytes = (end - first) * place->plan.piece_bytes;
    struct access access = {.handle = handle, .offset = offset, .data = place->data + first * place->plan.piece_bytes};
    pl_status status = PL_OK;
    int code = bytes_type(bytes, &access.type, &access.count);
    if (code != MPI_SUCCESS) { /* the call may be collective: go there with nothing */
        status = coll_fail_mpi(error, code, "making a type of %lld bytes", (long long)bytes);
        access.type = MPI_BYTE;
        access.count = 0;
    }
    MPI_Status moved;
    MPI_Count elements = 0;
    code = move(place->cell, &access, &moved);
    if (code != MPI_SUCCESS && status == PL_OK)
        status = coll_fail_mpi(error, code, "%s '%s'", doing, place->config->file);
    if (status == PL_OK)
        MPI_Get_elements_x(&moved, access.type, &elements);
    if (status == PL_OK && elements != bytes)
        status = pl_fail(error, PL_E_IO, "%s '%s': %lld of %lld bytes moved", doing, place->config->file,
                         (long long)elements, (long long)bytes);
    if (access.type != MPI_BYTE)
        MPI_Type_free(&access.type);
    return status;
}

static pl_status mpiio_call(const struct gpfs_trial *trial, struct gpfs_file *file, int64_t call,
                            struct pl_error *error)
{
    const struct gpfs_plan *plan = &trial->place->plan;
    const int64_t first = plan->first_piece[call], end = plan->first_piece[call + 1];
    if (plan->view != GPFS_VIEW_EACH)
        return move_pieces(trial, file->handle, first, end,
                           plan->view == GPFS_ONE_VIEW ? first * plan->piece_bytes : plan->offsets[first], error);
    const pl_status viewed = set_view_coll(trial, file->handle, first, end, call * plan->region_bytes, error);
    struct pl_error ignored; /* a rank without its view takes part with nothing */
    const pl_status moved = move_pieces(trial, file->handle, first, viewed == PL_OK ? end : first, 0,
                                        viewed == PL_OK ? error : &ignored);
    return viewed == PL_OK ? moved : viewed;
}

static pl_status mpiio_sync_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    const int code = MPI_File_sync(file->handle);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "syncing '%s'", trial->place->config->file);
}

/* ---- closing ---- */

/* All that is in force goes to the first repetition; later ones only repeat what counts. */
static bool is_noted(const void *context, const char *key)
{
    const struct gpfs_trial *trial = context;
    if (strncmp(key, "origin:", 7) == 0)
        return false;
    return trial->number == 1 || strcmp(key, "piolet_shipping") == 0 || strcmp(key, "piolet_prefetch") == 0;
}

static pl_status mpiio_close_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    if (trial->place->rank == 0)
        info_note_file(file->handle, is_noted, trial, &trial->used);
    const int code = MPI_File_close(&file->handle);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", trial->place->config->file);
}

const struct gpfs_mover GPFS_MOVER_MPIIO = {.open_coll = mpiio_open_coll,
                                            .ready_coll = mpiio_ready_coll,
                                            .view_coll = mpiio_view_coll,
                                            .call = mpiio_call,
                                            .sync_coll = mpiio_sync_coll,
                                            .close_coll = mpiio_close_coll};
