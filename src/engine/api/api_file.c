/* Opening, closing and what concerns the file as a whole. */
#include "engine/api/api.h"
#include "engine/develop/develop.h"
#include "engine/error/error.h"
#include "engine/pending/pending.h"
#include "engine/ring/ring.h"
#include "engine/ship/ship.h"
#include "engine/strategy/strategy.h"
#include "mpi/real.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- open ---- */

static pl_status check_amode(int amode, struct pl_error *error)
{
    const int known = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL |
                      MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
    if (amode & ~known)
        return pl_fail(error, PL_E_AMODE, "access mode %d has unknown bits", amode);
    if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY)
        return pl_fail(error, PL_E_AMODE, "access mode %d must have exactly one of MPI_MODE_RDONLY, RDWR, WRONLY",
                       amode);
    if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        return pl_fail(error, PL_E_AMODE, "MPI_MODE_CREATE and MPI_MODE_EXCL cannot go with MPI_MODE_RDONLY");
    if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL))
        return pl_fail(error, PL_E_AMODE, "MPI_MODE_SEQUENTIAL cannot go with MPI_MODE_RDWR");
    return PL_OK;
}

static void check_open(const char *name, int amode, struct file *file, struct pl_error *error)
{
    if (!file)
        pl_fail(error, PL_E_NOMEM, "no memory for a file");
    else if (!name)
        pl_fail(error, PL_E_BAD_FILE, "the file name is NULL");
    else if (!*storage_path(name))
        pl_fail(error, PL_E_BAD_FILE, "the file name is empty");
    else if (strlen(name) >= PATH_MAX)
        pl_fail(error, PL_E_BAD_FILE, "the file name has %zu characters; allowed: up to %d", strlen(name),
                PATH_MAX - 1);
    else
        check_amode(amode, error);
}

/* The MPI's own file, whose errors come back to us. */
static int open_system(struct api *api, MPI_Comm comm, const char *name, int amode, MPI_Info info, struct file *file)
{
    if (api_system_load(&api->error))
        return MPI_SUCCESS; /* the error is set */
    const int code = api_system.File_open(comm, name, amode, info, &file->system);
    if (code == MPI_SUCCESS)
        api_system.File_set_errhandler(file->system, MPI_ERRORS_RETURN);
    return code;
}

/* A rank that has no memory for the file still has to meet the others. */
static struct file *api_file_spare(struct file *place)
{
    memset(place, 0, sizeof *place);
    return place;
}

int MPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *fh)
{
    struct api api;
    api_begin_free(&api, "MPI_File_open");
    int inter = 0, code = MPI_SUCCESS;
    if (comm == MPI_COMM_NULL || real.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        pl_fail(&api.error, PL_E_COMM, "the communicator is %s", inter ? "an intercommunicator" : "invalid");
    if (api.error.status != PL_OK)
        return api_end(&api);

    struct pl_error own = {0};
    struct file emergency, *file = handle_new();
    check_open(name, amode, file, &own);
    if (fh)
        *fh = MPI_FILE_NULL;
    else if (own.status == PL_OK)
        pl_fail(&own, PL_E_ARG, "the place for the file handle is NULL");
    struct file *used = file ? file : api_file_spare(&emergency);
    if (control_open_coll(comm, name, amode, info, &own, used, &api.error) == PL_OK && used->is_system)
        code = open_system(&api, comm, name, amode, info, used);
    if (api.error.status == PL_OK && code == MPI_SUCCESS && file && fh) {
        file->handler = api_default_handler();
        error_handler_hold(file->handler, &api.error);
        if (!file->is_system)
            api_operation_reserve(file);
        handle_open(file);
        *fh = handle_of(file);
        return MPI_SUCCESS;
    }
    if (file)
        handle_free(file);
    if (code != MPI_SUCCESS)
        return api_end_system(NULL, code);
    int rank = -1;
    real.Comm_rank(comm, &rank);
    pl_within(&api.error, "MPI_File_open, rank %d, '%.200s'", rank, name ? name : "");
    api.function = NULL;
    return api_end(&api);
}
API_ALIAS(File_open);

int MPI_File_close(MPI_File *fh)
{
    struct api api;
    if (!api_begin_together(&api, "MPI_File_close", fh ? *fh : MPI_FILE_NULL))
        return api_end(&api);
    struct file *file = api.file;
    const MPI_Errhandler handler = file->handler;
    if (!file->is_system && !api_begin_coll(&api))
        return api_end(&api);
    *fh = MPI_FILE_NULL;
    int code = MPI_SUCCESS;
    if (file->is_system) {
        code = api_end_system(file, api_system.File_close(&file->system));
    } else {
        char name[256];
        const int rank = file->rank;
        pending_finish(file); /* a correct program has waited for them */
        snprintf(name, sizeof name, "%s", file->name);
        if (control_close_coll(file, &api.error) != PL_OK)
            pl_within(&api.error, "MPI_File_close, rank %d, '%s'", rank, name);
        api.function = NULL;
        file->name = NULL;
        code = api_end(&api);
    }
    handle_free(file);
    error_handler_drop(handler);
    return code;
}
API_ALIAS(File_close);

int MPI_File_delete(const char *name, MPI_Info info)
{
    struct api api;
    (void)info;
    api_begin_free(&api, "MPI_File_delete");
    if (!name || !*storage_path(name))
        pl_fail(&api.error, PL_E_BAD_FILE, "the file name is empty");
    else
        storage_unlink(storage_path(name), &api.error);
    return api_end(&api);
}
API_ALIAS(File_delete);

/* ---- size ---- */

static pl_status api_file_check_size(struct api *api, MPI_Offset size)
{
    if (size < 0)
        return pl_fail(&api->error, PL_E_ARG, "the size is %lld; allowed: 0 and above", (long long)size);
    if (api->file->amode & MPI_MODE_RDONLY)
        return pl_fail(&api->error, PL_E_READ_ONLY, "the file was opened with MPI_MODE_RDONLY");
    if (api->file->amode & MPI_MODE_SEQUENTIAL)
        return pl_fail(&api->error, PL_E_UNSUPPORTED, "the file was opened with MPI_MODE_SEQUENTIAL");
    return PL_OK;
}

int MPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    struct api api;
    if (!api_begin_together(&api, "MPI_File_set_size", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_set_size(api.file->system, size));
    if (!api_begin_coll(&api))
        return api_end(&api);
    api_file_check_size(&api, size);
    control_set_size_coll(api.file, size, &api.error);
    return api_end(&api);
}
API_ALIAS(File_set_size);

int MPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    struct api api;
    if (!api_begin_together(&api, "MPI_File_preallocate", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_preallocate(api.file->system, size));
    if (!api_begin_coll(&api))
        return api_end(&api);
    api_file_check_size(&api, size);
    control_preallocate_coll(api.file, size, &api.error);
    return api_end(&api);
}
API_ALIAS(File_preallocate);

int MPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    struct api api;
    if (!api_begin(&api, "MPI_File_get_size", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_get_size(api.file->system, size));
    int64_t bytes;
    file_settle(api.file, api.file->comm);
    if (api_wants_pointer(&api, size, "the place for the size") == PL_OK &&
        ship_size(api.file, &bytes, &api.error) == PL_OK) {
        *size = bytes;
        develop_track_size(api.file, api.function, bytes);
    }
    return api_end(&api);
}
API_ALIAS(File_get_size);

int MPI_File_sync(MPI_File fh)
{
    struct api api;
    if (!api_begin_together(&api, "MPI_File_sync", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_sync(api.file->system));
    if (!api_begin_coll(&api))
        return api_end(&api);
    pending_finish(api.file); /* what was freed and failed is told here */
    control_sync_coll(api.file, &api.error);
    return api_end(&api);
}
API_ALIAS(File_sync);

/* ---- what it was opened with ---- */

int MPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    struct api api;
    if (!api_begin(&api, "MPI_File_get_group", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_get_group(api.file->system, group));
    if (api_wants_pointer(&api, group, "the place for the group") == PL_OK) {
        const int code = real.Comm_group(api.file->comm, group);
        if (code != MPI_SUCCESS)
            error_from_mpi(code, "asking for the group", &api.error);
    }
    return api_end(&api);
}
API_ALIAS(File_get_group);

int MPI_File_get_amode(MPI_File fh, int *amode)
{
    struct api api;
    if (!api_begin(&api, "MPI_File_get_amode", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_get_amode(api.file->system, amode));
    if (api_wants_pointer(&api, amode, "the place for the access mode") == PL_OK)
        *amode = api.file->amode;
    return api_end(&api);
}
API_ALIAS(File_get_amode);

int MPI_File_set_info(MPI_File fh, MPI_Info info)
{
    struct api api;
    if (!api_begin_together(&api, "MPI_File_set_info", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_set_info(api.file->system, info));
    if (!api_begin_coll(&api))
        return api_end(&api);
    control_set_info_coll(api.file, info, &api.error);
    return api_end(&api);
}
API_ALIAS(File_set_info);

/* Why it is done so: the reason of the choice, and what was learned since. */
static const char *api_file_reason(const struct file *file, bool write, char *text, size_t bytes)
{
    const char *why = write ? file->why_writing : file->why_reading;
    text[0] = '\0';
    if (write ? file->tune_writes : file->tune_reads)
        ring_explain(file->ring, write, text, bytes);
    return text[0] ? text : why;
}

/* Guided prefetching, where it is on. */
static void add_prefetch(struct file *file, MPI_Info info)
{
    char text[HINT_TEXT_MAX];
    struct prefetch_counts counts;
    int ahead;
    if (file->values.access_ranges == 0)
        return;
    ship_count_prefetch(file, &counts, &ahead);
    snprintf(text, sizeof text, "asked %lld, accepted %lld, hit %lld, released %lld blocks; ahead %d",
             (long long)counts.asked, (long long)counts.accepted, (long long)counts.hit, (long long)counts.released,
             ahead);
    real.Info_set(info, "piolet_prefetch", text);
}

/* Maps of the file: what is in force takes the place of what was asked for. */
static void add_maps(struct file *file, MPI_Info info)
{
    char text[32];
    struct control_map_state state;
    control_map_describe(file, &state);
    real.Info_set(info, "piolet_map", state.effective);
    real.Info_set(info, "piolet_why_map", state.why);
    snprintf(text, sizeof text, "%lld", (long long)state.node_bytes);
    real.Info_set(info, "piolet_map_budget", text);
    snprintf(text, sizeof text, "%lld", (long long)state.rank_bytes);
    real.Info_set(info, "piolet_map_share", text);
}

/* Less than the program asked for, where that is so. */
static void add_memory(const struct file *file, MPI_Info info)
{
    char text[HINT_TEXT_MAX];
    if (hints_values(file->hints)->cb_buffer_size <= file->values.cb_buffer_size)
        return;
    snprintf(text, sizeof text, "little is left to a rank: collective buffers have %lld bytes",
             (long long)file->values.cb_buffer_size);
    real.Info_set(info, "piolet_memory", text);
}

/* What the engine decided, beside what it was told. */
static void add_decisions(struct file *file, MPI_Info info)
{
    char reading[160], writing[160], shipping[HINT_TEXT_MAX];
    const struct {
        const char *key, *value;
    } decisions[] = {
        {"piolet_version", PIOLET_VERSION},
        {"piolet_strategy_read", file->reading->name},
        {"piolet_strategy_write", file->writing->name},
        {"piolet_why_read", api_file_reason(file, false, reading, sizeof reading)},
        {"piolet_why_write", api_file_reason(file, true, writing, sizeof writing)},
        {"piolet_auxiliary", file->auxiliary_text},
        {"piolet_progress", api_hook_describe()},
    };
    for (size_t i = 0; i < sizeof decisions / sizeof decisions[0]; i++)
        real.Info_set(info, decisions[i].key, decisions[i].value);
    if (ship_describe(file, shipping, sizeof shipping))
        real.Info_set(info, "piolet_shipping", shipping);
    add_prefetch(file, info);
    add_maps(file, info);
    add_memory(file, info);
}

int MPI_File_get_info(MPI_File fh, MPI_Info *info)
{
    struct api api;
    if (!api_begin(&api, "MPI_File_get_info", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_get_info(api.file->system, info));
    if (api_wants_pointer(&api, info, "the place for the info") == PL_OK &&
        hints_to_info(api.file->hints, info, &api.error) == PL_OK)
        add_decisions(api.file, *info);
    return api_end(&api);
}
API_ALIAS(File_get_info);
