/* Views and positions. */
#include "mpi/real.h"
#include "mpiio/api/api.h"
#include "mpiio/api/api_system.h"
#include "mpiio/develop/develop_track.h"
#include "mpiio/error/error.h"
#include "mpiio/ship/ship.h"

#include <string.h>

/* ---- views ---- */

static pl_status find_datarep(const char *name, const struct datarep **ret_rep, struct pl_error *error)
{
    if (!name)
        return pl_fail(error, PL_E_ARG, "the data representation is NULL");
    return datarep_find(name, ret_rep, error);
}

/* Where the shared pointer stands, as a byte of the file. */
static pl_status current_byte(struct file *file, int64_t *ret_byte, struct pl_error *error)
{
    int64_t etypes, position;
    if (shared_get(&file->shared, &etypes, error))
        return error->status;
    struct view *view = file_view(file);
    if (typemap_shape(view->filetype)->size == 0)
        *ret_byte = view->displacement; /* no data: it cannot have moved */
    else if (__builtin_mul_overflow(etypes, view->etype_size, &position) || !view_fits(view, position, 1))
        pl_fail(error, PL_E_ARG, "the shared file pointer has left the largest file");
    else
        *ret_byte = view_byte(view, position);
    view_unref(view);
    return error->status;
}

/* The displacement in bytes, where MPI_DISPLACEMENT_CURRENT is allowed too. */
static pl_status find_displacement(struct file *file, MPI_Offset given, int64_t *ret_bytes, struct pl_error *error)
{
    const bool sequential = file->amode & MPI_MODE_SEQUENTIAL;
    if (given == MPI_DISPLACEMENT_CURRENT && sequential)
        return current_byte(file, ret_bytes, error);
    if (sequential)
        return pl_fail(error, PL_E_ARG,
                       "in a file opened with MPI_MODE_SEQUENTIAL the displacement must be MPI_DISPLACEMENT_CURRENT");
    if (given < 0)
        return pl_fail(error, PL_E_ARG, "the displacement is %lld; allowed: 0 and above", (long long)given);
    *ret_bytes = given;
    return PL_OK;
}

static struct view *make_view(struct file *file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                              const char *datarep, struct pl_error *error)
{
    struct view *view = NULL;
    const struct datarep *rep = NULL;
    int64_t bytes = 0;
    if (etype == MPI_DATATYPE_NULL || filetype == MPI_DATATYPE_NULL)
        pl_fail(error, PL_E_TYPE, "etype or filetype is MPI_DATATYPE_NULL");
    else if (find_datarep(datarep, &rep, error) == PL_OK &&
             find_displacement(file, displacement, &bytes, error) == PL_OK)
        view_new(bytes, etype, filetype, rep, !(file->amode & MPI_MODE_RDONLY), &view, error);
    return view;
}

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                      MPI_Info info)
{
    struct api api;
    if (!api_begin_together(&api, "MPI_File_set_view", fh))
        return api_end(&api);
    struct file *file = api.file;
    if (file->is_system)
        return api_end_system(file, api_system.File_set_view(file->system, disp, etype, filetype, datarep, info));
    if (!api_begin_coll(&api))
        return api_end(&api);
    struct view *view = make_view(file, disp, etype, filetype, datarep, &api.error);
    file_set_view_coll(file, view, info, &api.error);
    return api_end(&api);
}
API_ALIAS(File_set_view);

static void tell_view(struct file *file, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep,
                      struct pl_error *error)
{
    struct view *view = file_view(file);
    if (view_types(view, etype, filetype, error) == PL_OK) {
        const char *name = datarep_name(view->representation);
        *disp = view->displacement;
        memcpy(datarep, name, strlen(name) + 1);
    }
    view_unref(view);
}

int MPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep)
{
    struct api api;
    if (!api_begin(&api, "MPI_File_get_view", fh))
        return api_end(&api);
    struct file *file = api.file;
    if (file->is_system)
        return api_end_system(file, api_system.File_get_view(file->system, disp, etype, filetype, datarep));
    if (!disp || !etype || !filetype || !datarep)
        pl_fail(&api.error, PL_E_ARG, "a place for displacement, etype, filetype or data representation is NULL");
    else
        tell_view(file, disp, etype, filetype, datarep, &api.error);
    return api_end(&api);
}
API_ALIAS(File_get_view);

static int type_extent(MPI_File fh, MPI_Datatype type, int64_t *ret_extent)
{
    struct api api;
    if (!api_begin(&api, "MPI_File_get_type_extent", fh))
        return api_end(&api);
    if (type == MPI_DATATYPE_NULL)
        pl_fail(&api.error, PL_E_TYPE, "the datatype is MPI_DATATYPE_NULL");
    else if (api_wants_pointer(&api, ret_extent, "the place for the extent") == PL_OK) {
        struct view *view = file_view(api.file);
        datarep_extent(view->representation, type, ret_extent, &api.error);
        view_unref(view);
    }
    return api_end(&api);
}

int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype type, MPI_Aint *extent)
{
    struct file *file = handle_find(fh);
    if (file && file->is_system)
        return api_end_system(file, api_system.File_get_type_extent(file->system, type, extent));
    int64_t bytes = 0;
    const int code = type_extent(fh, type, extent ? &bytes : NULL);
    if (code == MPI_SUCCESS && extent)
        *extent = (MPI_Aint)bytes;
    return code;
}
API_ALIAS(File_get_type_extent);

#if !PIOLET_IS_OPENMPI
int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype type, MPI_Count *extent)
{
    struct file *file = handle_find(fh);
    if (file && file->is_system)
        return api_end_system(file, api_system.File_get_type_extent_c(file->system, type, extent));
    int64_t bytes = 0;
    const int code = type_extent(fh, type, extent ? &bytes : NULL);
    if (code == MPI_SUCCESS && extent)
        *extent = bytes;
    return code;
}
API_ALIAS(File_get_type_extent_c);
#endif

/* ---- positions ---- */

/* Functions about the individual pointer and offsets have no meaning in a stream. */
static bool begin_position(struct api *api, const char *function, MPI_File fh)
{
    if (!api_begin(api, function, fh))
        return false;
    if (!api->file->is_system && (api->file->amode & MPI_MODE_SEQUENTIAL))
        pl_fail(&api->error, PL_E_UNSUPPORTED, "the file was opened with MPI_MODE_SEQUENTIAL");
    return api->error.status == PL_OK;
}

/* Whoever seeks from the end asks for the size. */
static void track_end(const struct api *api, int whence)
{
    int64_t size;
    struct pl_error ignored = {0};
    if (whence == MPI_SEEK_END && api->file->track && ship_size(api->file, &size, &ignored) == PL_OK)
        develop_track_size(api->file, api->function, size);
}

int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    struct api api;
    if (!begin_position(&api, "MPI_File_seek", fh))
        return api_end(&api);
    struct file *file = api.file;
    if (file->is_system)
        return api_end_system(file, api_system.File_seek(file->system, offset, whence));
    struct view *view = file_view(file);
    int64_t target;
    if (whence == MPI_SEEK_END) { /* agents and the like are waited for: not under the lock */
        file_seek_target(file, view, offset, whence, 0, &target, &api.error);
        pthread_mutex_lock(&file->lock);
    } else {
        pthread_mutex_lock(&file->lock);
        file_seek_target(file, view, offset, whence, file->position, &target, &api.error);
    }
    if (api.error.status == PL_OK)
        file->position = target;
    pthread_mutex_unlock(&file->lock);
    view_unref(view);
    track_end(&api, whence);
    return api_end(&api);
}
API_ALIAS(File_seek);

int MPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    struct api api;
    if (!begin_position(&api, "MPI_File_get_position", fh))
        return api_end(&api);
    struct file *file = api.file;
    if (file->is_system)
        return api_end_system(file, api_system.File_get_position(file->system, offset));
    if (api_wants_pointer(&api, offset, "the place for the offset") == PL_OK) {
        pthread_mutex_lock(&file->lock);
        *offset = file->position;
        pthread_mutex_unlock(&file->lock);
    }
    return api_end(&api);
}
API_ALIAS(File_get_position);

int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    struct api api;
    if (!begin_position(&api, "MPI_File_get_byte_offset", fh))
        return api_end(&api);
    struct file *file = api.file;
    if (file->is_system)
        return api_end_system(file, api_system.File_get_byte_offset(file->system, offset, disp));
    struct view *view = file_view(file);
    int64_t position;
    if (offset < 0)
        pl_fail(&api.error, PL_E_ARG, "the offset is %lld; allowed: 0 and above", (long long)offset);
    else if (__builtin_mul_overflow(offset, view->etype_size, &position) || !view_fits(view, position, 1))
        pl_fail(&api.error, PL_E_ARG, "offset %lld is beyond the largest byte of a file", (long long)offset);
    else if (api_wants_pointer(&api, disp, "the place for the byte offset") == PL_OK)
        *disp = view_byte(view, position);
    view_unref(view);
    return api_end(&api);
}
API_ALIAS(File_get_byte_offset);

int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    struct api api;
    if (!api_begin_together(&api, "MPI_File_seek_shared", fh))
        return api_end(&api);
    struct file *file = api.file;
    if (file->is_system)
        return api_end_system(file, api_system.File_seek_shared(file->system, offset, whence));
    if (!api_begin_coll(&api))
        return api_end(&api);
    if (file->amode & MPI_MODE_SEQUENTIAL)
        pl_fail(&api.error, PL_E_UNSUPPORTED, "the file was opened with MPI_MODE_SEQUENTIAL");
    file_seek_shared_coll(file, offset, whence, &api.error);
    track_end(&api, whence);
    return api_end(&api);
}
API_ALIAS(File_seek_shared);

int MPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    struct api api;
    if (!begin_position(&api, "MPI_File_get_position_shared", fh))
        return api_end(&api);
    struct file *file = api.file;
    if (file->is_system)
        return api_end_system(file, api_system.File_get_position_shared(file->system, offset));
    int64_t etypes;
    if (api_wants_pointer(&api, offset, "the place for the offset") == PL_OK &&
        shared_get(&file->shared, &etypes, &api.error) == PL_OK)
        *offset = etypes;
    return api_end(&api);
}
API_ALIAS(File_get_position_shared);

/* ---- atomic mode ---- */

int MPI_File_set_atomicity(MPI_File fh, int flag)
{
    struct api api;
    if (!api_begin_together(&api, "MPI_File_set_atomicity", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_set_atomicity(api.file->system, flag));
    if (!api_begin_coll(&api))
        return api_end(&api);
    file_set_atomicity_coll(api.file, flag != 0, &api.error);
    return api_end(&api);
}
API_ALIAS(File_set_atomicity);

int MPI_File_get_atomicity(MPI_File fh, int *flag)
{
    struct api api;
    if (!api_begin(&api, "MPI_File_get_atomicity", fh))
        return api_end(&api);
    if (api.file->is_system)
        return api_end_system(api.file, api_system.File_get_atomicity(api.file->system, flag));
    if (api_wants_pointer(&api, flag, "the place for the flag") == PL_OK)
        *flag = api.file->atomic;
    return api_end(&api);
}
API_ALIAS(File_get_atomicity);
