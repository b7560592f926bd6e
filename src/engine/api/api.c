#include "engine/api/api.h"
#include "base/clock.h"
#include "engine/develop/develop.h"
#include "engine/error/error.h"
#include "engine/mem.h"
#include "engine/pending/pending.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file **table; /* entry i has number i + 1: 0 is MPI_FILE_NULL in Fortran */
static int used, room;

/* Under the lock. */
static struct file *handle_recycle(void)
{
    for (int i = 0; i < used; i++)
        if (table[i]->number == 0) {
            memset(table[i], 0, sizeof *table[i]);
            table[i]->number = i + 1;
            return table[i];
        }
    return NULL;
}

static struct file *handle_extend(void)
{
    if (used == room) {
        const int more = room ? 2 * room : 16;
        struct file **larger = mem_resize(table, (size_t)more * sizeof(struct file *));
        if (!larger)
            return NULL;
        table = larger;
        room = more;
    }
    struct file *file = mem_zalloc(1, sizeof *file);
    if (file) {
        table[used++] = file;
        file->number = used;
    }
    return file;
}

struct file *handle_new(void)
{
    pthread_mutex_lock(&table_lock);
    struct file *file = handle_recycle();
    if (!file)
        file = handle_extend();
    pthread_mutex_unlock(&table_lock);
    return file;
}

void handle_open(struct file *file)
{
    assert(file->number > 0 && file->magic != FILE_MAGIC);
    file->magic = FILE_MAGIC;
}

void handle_free(struct file *file)
{
    assert(file->number > 0);
    pthread_mutex_lock(&table_lock);
    file->magic = 0;
    file->number = 0;
    pthread_mutex_unlock(&table_lock);
}

bool handle_is_system(MPI_File handle)
{
    bool found = false;
    pthread_mutex_lock(&table_lock);
    for (int i = 0; i < used && !found; i++)
        found = table[i]->number != 0 && table[i]->is_system && table[i]->system == handle;
    pthread_mutex_unlock(&table_lock);
    return found;
}

MPI_Fint handle_count(void)
{
    pthread_mutex_lock(&table_lock);
    const MPI_Fint count = used;
    pthread_mutex_unlock(&table_lock);
    return count;
}

struct file *handle_at(MPI_Fint number)
{
    pthread_mutex_lock(&table_lock);
    struct file *file = number >= 1 && number <= used && table[number - 1]->number == number ? table[number - 1] : NULL;
    pthread_mutex_unlock(&table_lock);
    return file && file->magic == FILE_MAGIC ? file : NULL;
}

/* ---- The MPI's own files ----------------------------------------------------------------------------------------- */

struct api_system api_system;

static const struct real_entry NAMES[] = {
#define FILE_CALL(name) {"PMPI_" #name, offsetof(struct api_system, name)},
#include "engine/api/api_system.def"
#undef FILE_CALL
};

static struct pl_error load_error;

static void api_system_load_once(void)
{
    real_fill(&api_system, NAMES, sizeof NAMES / sizeof NAMES[0], &load_error);
}

pl_status api_system_load(struct pl_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, api_system_load_once);
    if (load_error.status != PL_OK)
        *error = load_error;
    return load_error.status;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

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
    assert(api->file && !api->file->is_system);
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
    for (const double begin_s = clock_now_s(); clock_now_s() <= begin_s + LONGEST_S;) {
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

int api_raise(struct file *file, int code, const char *text)
{
    MPI_File handle = file ? handle_of(file) : MPI_FILE_NULL;
    const MPI_Errhandler handler = file ? file->handler : api_default_handler();
    return error_handler_call(handler, &handle, file ? file->number : 0, code, text);
}

int api_code(struct api *api)
{
    if (api->error.status == PL_OK)
        return MPI_SUCCESS;
    const struct file *file = api->file;
    if (file && file->name)
        pl_within(&api->error, "%s, rank %d, '%s'", api->function, file->rank, file->name);
    else if (api->function) /* else the text is complete */
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
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    real.Error_string(code, text, &length);
    return api_raise(file, code, text);
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
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (!error_text(code, text))
        real.Error_string(code, text, &length);
    api_raise(api.file, code, text);
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
    if (!text || !length || !error_text(code, text))
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
