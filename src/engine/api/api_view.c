/* Views, positions, data representations, and what Fortran needs of its own. */
#include "engine/api/api.h"
#include "engine/datarep/datarep.h"
#include "engine/develop/develop.h"
#include "engine/error/error.h"
#include "engine/ship/ship.h"
#include "mpi/real.h"

#include <dlfcn.h>
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
    if (shared_get(file->shared, &etypes, error))
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

static struct view *api_view_make(struct file *file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
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
    struct view *view = api_view_make(file, disp, etype, filetype, datarep, &api.error);
    control_set_view_coll(file, view, info, &api.error);
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
        control_seek_target(file, view, offset, whence, 0, &target, &api.error);
        pthread_mutex_lock(&file->lock);
    } else {
        pthread_mutex_lock(&file->lock);
        control_seek_target(file, view, offset, whence, file->position, &target, &api.error);
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
    control_seek_shared_coll(file, offset, whence, &api.error);
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
        shared_get(file->shared, &etypes, &api.error) == PL_OK)
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
    control_set_atomicity_coll(api.file, flag != 0, &api.error);
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

/* ---- Data representations ---------------------------------------------------------------------------------------- */

/* Data representations of the program's own. */

static int register_datarep(const char *function, const char *name, const struct datarep_functions *functions)
{
    struct api api;
    api_begin_free(&api, function);
    if (api_wants_pointer(&api, name, "the name of the data representation") == PL_OK)
        datarep_register(name, functions, &api.error);
    return api_end(&api);
}

int MPI_Register_datarep(const char *name, MPI_Datarep_conversion_function *read,
                         MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent, void *extra_state)
{
    const struct datarep_functions functions = {.c = {.read = read == MPI_CONVERSION_FN_NULL ? NULL : read,
                                                      .write = write == MPI_CONVERSION_FN_NULL ? NULL : write},
                                                .extent = extent,
                                                .extra_state = extra_state};
    return register_datarep("MPI_Register_datarep", name, &functions);
}
API_ALIAS(Register_datarep);

#if !PIOLET_IS_OPENMPI
int MPI_Register_datarep_c(const char *name, MPI_Datarep_conversion_function_c *read,
                           MPI_Datarep_conversion_function_c *write, MPI_Datarep_extent_function *extent,
                           void *extra_state)
{
    const struct datarep_functions functions = {.c_large = {.read = read == MPI_CONVERSION_FN_NULL_C ? NULL : read,
                                                            .write = write == MPI_CONVERSION_FN_NULL_C ? NULL : write},
                                                .extent = extent,
                                                .extra_state = extra_state};
    return register_datarep("MPI_Register_datarep_c", name, &functions);
}
API_ALIAS(Register_datarep_c);
#endif

/* ---- Fortran ----------------------------------------------------------------------------------------------------- */

/* Fortran: all functions reach ours through the MPI's own bindings, which call C, but for those that take functions
 * of the program: the bindings keep those to themselves. Compilers spell a name in several ways; `use mpi_f08` has
 * names of its own, with the same arguments in memory. */

#define FORTRAN_ALIAS(target, name) extern __typeof__(target) name __attribute__((alias(#target)))

static void set_ierror(MPI_Fint *ierror, int code)
{
    if (ierror) /* optional in mpi_f08 */
        *ierror = code;
}

/* ---- error handlers ---- */

typedef void file_handler(MPI_Fint *file, MPI_Fint *code, ...);
void mpi_file_create_errhandler_(file_handler *function, MPI_Fint *handler, MPI_Fint *ierror);

void mpi_file_create_errhandler_(file_handler *function, MPI_Fint *handler, MPI_Fint *ierror)
{
    struct api api;
    MPI_Errhandler made;
    api_begin_free(&api, "MPI_File_create_errhandler");
    if (error_handler_create((struct error_function){.fortran = function}, &made, &api.error) == PL_OK) {
#if PIOLET_IS_OPENMPI
        *handler = real.Errhandler_c2f(made);
#else
        *handler = (MPI_Fint)made;
#endif
    }
    set_ierror(ierror, api_end(&api));
}
FORTRAN_ALIAS(mpi_file_create_errhandler_, mpi_file_create_errhandler);
FORTRAN_ALIAS(mpi_file_create_errhandler_, mpi_file_create_errhandler__);
FORTRAN_ALIAS(mpi_file_create_errhandler_, MPI_FILE_CREATE_ERRHANDLER);
FORTRAN_ALIAS(mpi_file_create_errhandler_, mpi_file_create_errhandler_f08_);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpi_file_create_errhandler);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpi_file_create_errhandler_);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpi_file_create_errhandler__);
FORTRAN_ALIAS(mpi_file_create_errhandler_, PMPI_FILE_CREATE_ERRHANDLER);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpi_file_create_errhandler_f08_);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpir_file_create_errhandler_f08_);

/* ---- data representations ---- */

/* MPI_CONVERSION_FN_NULL is a subroutine there. */
static datarep_conversion_fortran *api_fortran_conversion(datarep_conversion_fortran *function)
{
    static const char *const nulls[] = {"mpi_conversion_fn_null_",
                                        "mpi_conversion_fn_null",
                                        "mpi_conversion_fn_null__",
                                        "MPI_CONVERSION_FN_NULL",
                                        "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null",
                                        "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c"};
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        void *address = dlsym(RTLD_DEFAULT, nulls[i]);
        if (address && memcmp(&address, &function, sizeof address) == 0)
            return NULL;
    }
    return function;
}

void mpi_register_datarep_(const char *name, datarep_conversion_fortran *read, datarep_conversion_fortran *write,
                           datarep_extent_fortran *extent, MPI_Aint *extra_state, MPI_Fint *ierror, size_t length);

void mpi_register_datarep_(const char *name, datarep_conversion_fortran *read, datarep_conversion_fortran *write,
                           datarep_extent_fortran *extent, MPI_Aint *extra_state, MPI_Fint *ierror, size_t length)
{
    struct api api;
    char text[MPI_MAX_DATAREP_STRING + 2];
    api_begin_free(&api, "MPI_Register_datarep");
    while (length > 0 && name[length - 1] == ' ')
        length--;
    if (length >= sizeof text)
        length = sizeof text - 1; /* too long: refused below */
    memcpy(text, name, length);
    text[length] = '\0';
    void *state = NULL;
    memcpy(&state, extra_state, sizeof *extra_state);
    const struct datarep_functions functions = {
        .fortran = {.read = api_fortran_conversion(read), .write = api_fortran_conversion(write), .extent = extent},
        .extra_state = state};
    datarep_register(text, &functions, &api.error);
    set_ierror(ierror, api_end(&api));
}
FORTRAN_ALIAS(mpi_register_datarep_, mpi_register_datarep);
FORTRAN_ALIAS(mpi_register_datarep_, mpi_register_datarep__);
FORTRAN_ALIAS(mpi_register_datarep_, MPI_REGISTER_DATAREP);
FORTRAN_ALIAS(mpi_register_datarep_, mpi_register_datarep_f08_);
FORTRAN_ALIAS(mpi_register_datarep_, pmpi_register_datarep);
FORTRAN_ALIAS(mpi_register_datarep_, pmpi_register_datarep_);
FORTRAN_ALIAS(mpi_register_datarep_, pmpi_register_datarep__);
FORTRAN_ALIAS(mpi_register_datarep_, PMPI_REGISTER_DATAREP);
FORTRAN_ALIAS(mpi_register_datarep_, pmpi_register_datarep_f08_);
FORTRAN_ALIAS(mpi_register_datarep_, pmpir_register_datarep_f08_);
