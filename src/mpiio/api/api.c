#include "mpiio/api/api.h"

#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/api/api_system.h"
#include "mpiio/develop/develop.h"
#include "mpiio/error/error.h"
#include "mpiio/error/error_handler.h"
#include "mpiio/pending/pending.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const char piolet_mpiio_version[] __attribute__((visibility("default"))) = PIOLET_VERSION;

static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Errhandler default_handler;
static bool default_is_set;

MPI_Errhandler api_default_handler(void)
{
    pthread_mutex_lock(&default_lock);
    const MPI_Errhandler handler = default_is_set ? default_handler : MPI_ERRORS_RETURN;
    pthread_mutex_unlock(&default_lock);
    return handler;
}

/* Returns the one before. */
static MPI_Errhandler replace_default(MPI_Errhandler handler)
{
    pthread_mutex_lock(&default_lock);
    const MPI_Errhandler before = default_is_set ? default_handler : MPI_ERRORS_RETURN;
    default_handler = handler;
    default_is_set = true;
    pthread_mutex_unlock(&default_lock);
    return before;
}

/* ---- begin and end ---- */

void api_begin_free(struct api *api, const char *function)
{
    *api = (struct api){.function = function};
    struct pl_error error;
    if (real.loaded || real_load(&error) == PL_OK) {
        pending_step();
        return;
    }
    fprintf(stderr, "%s: %s\n", function, error.text);
    exit(EXIT_FAILURE);
}

bool api_begin(struct api *api, const char *function, MPI_File handle)
{
    api->function = function;
    api->error.status = PL_OK;
    api->moves_data = false;
    api->file = handle_find(handle);
    if (api->file) {
        pending_step(); /* a program may call any function of files until another rank has changed something */
        return true;
    }
    api_begin_free(api, function);
    pl_fail(&api->error, PL_E_FILE, "%s",
            handle == MPI_FILE_NULL ? "the file handle is MPI_FILE_NULL" : "the file handle is none of an open file");
    return false;
}

bool api_begin_together(struct api *api, const char *function, MPI_File handle)
{
    if (api_begin(api, function, handle))
        return true;
    api_without_file(api, false);
    return false;
}

bool api_begin_coll(struct api *api)
{
    struct file *file = api->file;
    pending_drain(file);
    return !file->develop || develop_check_run_coll(file, api->function, &api->error, &api->error) == PL_OK;
}

/* The first of the open files in develop mode that the others wait in; a file with operations under way here may await
 * their turn, not this call's. */
static struct file *awaited_file(bool *ret_any)
{
    *ret_any = false;
    for (MPI_Fint number = 1; number <= handle_count(); number++) {
        struct file *file = handle_at(number);
        if (!file || !file->develop)
            continue;
        *ret_any = true;
        if (atomic_load(&file->under_way) == 0 && develop_is_awaited(file))
            return file;
    }
    return NULL;
}

void api_without_file(struct api *api, bool moves_data)
{
    enum { LONGEST_S = 2 };
    bool any;
    struct wait_pace pace = {0};
    for (const time_t begin = time(NULL); time(NULL) <= begin + LONGEST_S;) {
        struct file *file = awaited_file(&any);
        if (file) {
            const struct pl_error own = api->error;
            file->sequence += moves_data;
            develop_check_run_coll(file, api->function, &own, &api->error);
            return;
        }
        if (!any)
            return;
        if (!pending_step())
            wait_turn(&pace);
    }
}

int api_raise(struct file *file, int code, const char *words)
{
    MPI_File handle = file ? handle_of(file) : MPI_FILE_NULL;
    const MPI_Errhandler handler = file ? file->handler : api_default_handler();
    return error_handler_call(handler, &handle, file ? file->number : 0, code, words);
}

int api_code(struct api *api)
{
    if (api->error.status == PL_OK)
        return MPI_SUCCESS;
    const struct file *file = api->file;
    if (file && file->name)
        pl_within(&api->error, "%s, rank %d, '%s'", api->function, file->rank, file->name);
    else if (api->function) /* else the words are complete */
        pl_within(&api->error, "%s", api->function);
    return error_code(&api->error);
}

int api_end(struct api *api)
{
    const int code = api_code(api);
    if (code == MPI_SUCCESS)
        return code;
    if (api->file && !api->moves_data)
        log_call(
            api->file->log,
            &(struct log_call){
                .function = api->function, .offset = -1, .bytes = -1, .done = -1, .code = code, .error = &api->error});
    return api_raise(api->file, code, api->error.text);
}

int api_end_system(struct file *file, int code)
{
    pending_step();
    if (code == MPI_SUCCESS)
        return code;
    char words[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    real.Error_string(code, words, &length);
    return api_raise(file, code, words);
}

pl_status api_wants_pointer(struct api *api, const void *pointer, const char *what)
{
    return pointer ? PL_OK : pl_fail(&api->error, PL_E_ARG, "%s is NULL", what);
}

/* ---- error handlers ---- */

int MPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *handler)
{
    struct api api;
    api_begin_free(&api, "MPI_File_create_errhandler");
    if (!function)
        pl_fail(&api.error, PL_E_ARG, "the function is NULL");
    else if (api_wants_pointer(&api, handler, "the place for the handler") == PL_OK)
        error_handler_create((struct error_function){.c = function}, handler, &api.error);
    return api_end(&api);
}
API_ALIAS(File_create_errhandler);

/* Is it a file, or MPI_FILE_NULL, which stands for the default? */
static bool begin_handler(struct api *api, const char *function, MPI_File handle)
{
    if (handle != MPI_FILE_NULL)
        return api_begin(api, function, handle);
    api_begin_free(api, function);
    return true;
}

int MPI_File_set_errhandler(MPI_File fh, MPI_Errhandler handler)
{
    struct api api;
    if (fh != MPI_FILE_NULL && handle_is_system(fh))
        return api_system.File_set_errhandler(fh, handler);
    if (begin_handler(&api, "MPI_File_set_errhandler", fh) && error_handler_hold(handler, &api.error) == PL_OK) {
        MPI_Errhandler before;
        if (api.file) {
            before = api.file->handler;
            api.file->handler = handler;
        } else {
            before = replace_default(handler);
        }
        error_handler_drop(before);
    }
    return api_end(&api);
}
API_ALIAS(File_set_errhandler);

int MPI_File_get_errhandler(MPI_File fh, MPI_Errhandler *handler)
{
    struct api api;
    if (begin_handler(&api, "MPI_File_get_errhandler", fh) &&
        api_wants_pointer(&api, handler, "the place for the handler") == PL_OK) {
        const MPI_Errhandler held = api.file ? api.file->handler : api_default_handler();
        if (error_handler_give(held, &api.error) == PL_OK)
            *handler = held;
    }
    return api_end(&api);
}
API_ALIAS(File_get_errhandler);

int MPI_File_call_errhandler(MPI_File fh, int code)
{
    struct api api;
    if (!begin_handler(&api, "MPI_File_call_errhandler", fh))
        return api_end(&api);
    char words[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (!error_words(code, words))
        real.Error_string(code, words, &length);
    api_raise(api.file, code, words);
    return MPI_SUCCESS;
}
API_ALIAS(File_call_errhandler);

int MPI_Errhandler_free(MPI_Errhandler *handler)
{
    struct api api;
    api_begin_free(&api, "MPI_Errhandler_free");
    if (!handler || !error_handler_take_back(*handler))
        return real.Errhandler_free(handler);
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}
API_ALIAS(Errhandler_free);

int MPI_Error_string(int code, char *text, int *length)
{
    struct api api;
    api_begin_free(&api, "MPI_Error_string");
    if (!text || !length || !error_words(code, text))
        return real.Error_string(code, text, length);
    *length = 0;
    while (text[*length])
        ++*length;
    return MPI_SUCCESS;
}
API_ALIAS(Error_string);

/* ---- Fortran handles ---- */

MPI_Fint MPI_File_c2f(MPI_File fh)
{
    const struct file *file = handle_find(fh);
    return file ? file->number : 0;
}
API_ALIAS(File_c2f);

MPI_File MPI_File_f2c(MPI_Fint number)
{
    struct file *file = handle_at(number);
    return file ? handle_of(file) : MPI_FILE_NULL;
}
API_ALIAS(File_f2c);
