/* MPI-IO: one call moves everything. Whose MPI-IO and which algorithm is said by hints, and looked up afterwards. */
#include "bench/piobench/piobench_trial.h"

#include "base/notes.h"
#include "measure/info.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static bool engine_is_there(void)
{
    return dlsym(RTLD_DEFAULT, "piolet_mpiio_version") != NULL;
}

static void set_hints(const struct piobench_trial *trial, MPI_Info info)
{
    const struct piobench_config *config = trial->place->config;
    const struct piobench_contestant *contestant = trial->contestant;
    if (engine_is_there())
        MPI_Info_set(info, "piolet_impl", contestant->algorithm->strategy ? "piolet" : "system");
    if (contestant->algorithm->strategy)
        MPI_Info_set(info, "piolet_strategy", contestant->algorithm->strategy);
    if (config->direct) { /* ROMIO's, where the file system's driver knows them */
        MPI_Info_set(info, "direct_read", "true");
        MPI_Info_set(info, "direct_write", "true");
    }
    for (int i = 0; i < config->hint_count; i++)
        MPI_Info_set(info, config->hints[i].key, config->hints[i].value);
    for (int i = 0; i < contestant->hint_count; i++)
        MPI_Info_set(info, contestant->hints[i].key, contestant->hints[i].value);
}

static pl_status mpiio_open_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    const struct piobench_place *place = trial->place;
    MPI_Info info;
    if (MPI_Info_create(&info) != MPI_SUCCESS)
        info = MPI_INFO_NULL; /* the open is collective: go there all the same, and find out behind it */
    else
        set_hints(trial, info);
    const int code = MPI_File_open(place->comm, place->config->file,
                                   place->cell->writes ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY, info,
                                   &file->handle);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "opening '%s'", place->config->file);
}

/* ---- what is in force ---- */

/* The engine's are told after the access, when it may have changed its mind. */
static bool is_noted(const void *context, const char *key)
{
    (void)context;
    return strncmp(key, "origin:", 7) != 0 && strncmp(key, "piolet_strategy_", 16) != 0 &&
           strncmp(key, "piolet_why_", 11) != 0;
}

/* Open MPI's info does not tell whose MPI-IO it is: the components that it has loaded do. */
static int note_component(struct dl_phdr_info *object, size_t size, void *names)
{
    static const char prefix[] = "/mca_io_";
    const char *name = strstr(object->dlpi_name, prefix);
    (void)size;
    if (name) {
        name += sizeof prefix - 1;
        text_format(names, "%s%.*s", ((struct text *)names)->length ? "," : "", (int)strcspn(name, "."), name);
    }
    return 0;
}

static void note_components(struct piobench_trial *trial)
{
    struct text names = {0};
    dl_iterate_phdr(note_component, &names);
    if (names.length)
        text_format(&trial->used, "io_components %s\n", text_get(&names));
    text_clear(&names);
}

static pl_status check_in_force(const struct piobench_trial *trial, MPI_Info info, struct pl_error *error)
{
    const char *wanted = trial->contestant->algorithm->strategy;
    char value[MPI_MAX_INFO_VAL + 1];
    const bool is_engine = info_get(info, "piolet_version", value);
    if (is_engine != (wanted != NULL))
        return pl_fail(error, PL_E_UNSUPPORTED, "'%s': %s", trial->contestant->label,
                       wanted ? "the engine is not in force; it was not preloaded, or PIOLET_HINTS forbids it"
                              : "the engine is in force where the MPI's own MPI-IO was asked for");
    if (!wanted || strcmp(wanted, "auto") == 0)
        return PL_OK;
    info_get(info, trial->place->cell->writes ? "piolet_strategy_write" : "piolet_strategy_read", value);
    return strcmp(value, wanted) == 0
               ? PL_OK
               : pl_fail(error, PL_E_UNSUPPORTED, "asked for '%s', but '%.64s' is in force", wanted, value);
}

/* ROMIO gives the hint back where it obeys; OMPIO gives everything back. */
static bool knows_direct(MPI_Info info, bool writes)
{
    char value[MPI_MAX_INFO_VAL + 1];
    return info_get(info, "romio_cb_read", value) && info_get(info, writes ? "direct_write" : "direct_read", value);
}

static pl_status mpiio_ready_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    const struct piobench_place *place = trial->place;
    MPI_Info info;
    const int viewed = MPI_File_set_view(file->handle, 0, MPI_UINT64_T, place->filetype, (char *)"native",
                                         MPI_INFO_NULL);
    const int asked = viewed == MPI_SUCCESS ? MPI_File_get_info(file->handle, &info) : viewed;
    if (asked != MPI_SUCCESS)
        return coll_fail_mpi(error, asked, "setting the view of '%s'", place->config->file);
    const pl_status status = check_in_force(trial, info, error);
    if (place->rank == 0 && trial->number == 1) {
        info_note(info, is_noted, NULL, &trial->used);
        if (!trial->contestant->algorithm->strategy)
            note_components(trial);
    }
    if (place->config->direct && !knows_direct(info, place->cell->writes))
        piobench_trial_warn(trial, "this MPI-IO knows no direct I/O: data go through the page cache");
    MPI_Info_free(&info);
    return status;
}

/* ---- moving ---- */

/* The file was opened for this: its pointer stands at the beginning of the view. */
static int move(const struct piobench_trial *trial, MPI_File handle, MPI_Status *ret_moved)
{
    const struct piobench_place *place = trial->place;
    const bool collective = trial->contestant->algorithm->access == PIOBENCH_COLLECTIVE;
    void *data = place->elements;
    if (place->cell->writes)
        return collective ? MPI_File_write_all(handle, data, 1, place->memtype, ret_moved)
                          : MPI_File_write(handle, data, 1, place->memtype, ret_moved);
    return collective ? MPI_File_read_all(handle, data, 1, place->memtype, ret_moved)
                      : MPI_File_read(handle, data, 1, place->memtype, ret_moved);
}

static void note_strategy(struct piobench_trial *trial, MPI_File handle)
{
    MPI_Info info;
    if (trial->place->rank != 0 || MPI_File_get_info(handle, &info) != MPI_SUCCESS)
        return;
    const bool writes = trial->place->cell->writes;
    const char *const keys[] = {writes ? "piolet_strategy_write" : "piolet_strategy_read",
                                writes ? "piolet_why_write" : "piolet_why_read"};
    for (int i = 0; i < 2; i++) {
        char value[MPI_MAX_INFO_VAL + 1];
        if (info_get(info, keys[i], value))
            notes_add(&trial->used, keys[i], value);
    }
    MPI_Info_free(&info);
}

static pl_status mpiio_move_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    const struct piobench_place *place = trial->place;
    const char *doing = place->cell->writes ? "writing" : "reading";
    MPI_Status moved;
    const int code = move(trial, file->handle, &moved);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s '%s'", doing, place->config->file);
    MPI_Count elements = 0;
    MPI_Get_elements_x(&moved, place->memtype, &elements);
    if (elements != place->count)
        return pl_fail(error, PL_E_IO, "%s '%s': %lld of %lld elements moved", doing, place->config->file,
                       (long long)elements, (long long)place->count);
    return PL_OK;
}

static pl_status mpiio_sync_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    const int code = MPI_File_sync(file->handle);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "syncing '%s'", trial->place->config->file);
}

static pl_status mpiio_close_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    note_strategy(trial, file->handle);
    const int code = MPI_File_close(&file->handle);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", trial->place->config->file);
}

const struct piobench_mover PIOBENCH_MOVER_MPIIO = {mpiio_open_coll, mpiio_ready_coll, mpiio_move_coll, mpiio_sync_coll,
                                                    mpiio_close_coll};
