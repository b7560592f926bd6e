#include "engine/error/error.h"
#include "base/text.h"
#include "engine/mem.h"
#include "mpi/real.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int error_class(pl_status status)
{
    static const int classes[PL_STATUS_COUNT] = {
        [PL_OK] = MPI_SUCCESS,
        [PL_E_INPUT] = MPI_ERR_ARG,
        [PL_E_USAGE] = MPI_ERR_OTHER,
        [PL_E_NOMEM] = MPI_ERR_NO_MEM,
        [PL_E_SPACE] = MPI_ERR_NO_SPACE,
        [PL_E_QUOTA] = MPI_ERR_QUOTA,
        [PL_E_SYSTEM] = MPI_ERR_IO,
        [PL_E_IO] = MPI_ERR_IO,
        [PL_E_NO_SUCH_FILE] = MPI_ERR_NO_SUCH_FILE,
        [PL_E_EXISTS] = MPI_ERR_FILE_EXISTS,
        [PL_E_ACCESS] = MPI_ERR_ACCESS,
        [PL_E_READ_ONLY] = MPI_ERR_READ_ONLY,
        [PL_E_BAD_FILE] = MPI_ERR_BAD_FILE,
        [PL_E_IN_USE] = MPI_ERR_FILE_IN_USE,
        [PL_E_MPI] = MPI_ERR_OTHER,
        [PL_E_DATA] = MPI_ERR_IO,
        [PL_E_FORMAT] = MPI_ERR_IO,
        [PL_E_CLOCK] = MPI_ERR_OTHER,
        [PL_E_PEER] = MPI_ERR_IO,
        [PL_E_UNSUPPORTED] = MPI_ERR_UNSUPPORTED_OPERATION,
        [PL_E_ARG] = MPI_ERR_ARG,
        [PL_E_COUNT] = MPI_ERR_COUNT,
        [PL_E_BUFFER] = MPI_ERR_BUFFER,
        [PL_E_TYPE] = MPI_ERR_TYPE,
        [PL_E_COMM] = MPI_ERR_COMM,
        [PL_E_FILE] = MPI_ERR_FILE,
        [PL_E_AMODE] = MPI_ERR_AMODE,
        [PL_E_NOT_SAME] = MPI_ERR_NOT_SAME,
        [PL_E_DATAREP] = MPI_ERR_UNSUPPORTED_DATAREP,
        [PL_E_DUP_DATAREP] = MPI_ERR_DUP_DATAREP,
        [PL_E_CONVERSION] = MPI_ERR_CONVERSION,
        [PL_E_REQUEST] = MPI_ERR_REQUEST,
        [PL_E_INFO] = MPI_ERR_INFO,
    };
    assert(status < PL_STATUS_COUNT && (status == PL_OK || classes[status] != MPI_SUCCESS));
    return classes[status];
}

/* The codes of one status, in the order in which they are used again. */
struct ring {
    int made, next;
    int codes[ERROR_CODES_EACH];
    char text[ERROR_CODES_EACH][MPI_MAX_ERROR_STRING];
};

static struct ring rings[PL_STATUS_COUNT];
static pthread_mutex_t rings_lock = PTHREAD_MUTEX_INITIALIZER;

/* Texts of MPI are single lines of bounded length. */
static void keep_words(char *place, const char *text)
{
    snprintf(place, MPI_MAX_ERROR_STRING, "%.*s", MPI_MAX_ERROR_STRING - 1, text);
    for (char *c = place; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

int error_code(const struct pl_error *error)
{
    if (error->status == PL_OK)
        return MPI_SUCCESS;
    const int class = error_class(error->status);
    pthread_mutex_lock(&rings_lock);
    struct ring *ring = &rings[error->status];
    int code = class; /* a class is a code too, though without words of ours */
    if (ring->made < ERROR_CODES_EACH && real.Add_error_code(class, &ring->codes[ring->made]) == MPI_SUCCESS)
        ring->next = ring->made++;
    if (ring->made > 0) {
        assert(ring->next >= 0 && ring->next < ring->made);
        code = ring->codes[ring->next];
        keep_words(ring->text[ring->next], error->text);
        ring->next = (ring->next + 1) % ring->made;
    }
    pthread_mutex_unlock(&rings_lock);
    return code;
}

int error_text(int code, char *ret_text)
{
    int found = 0;
    pthread_mutex_lock(&rings_lock);
    for (int status = 0; status < PL_STATUS_COUNT && !found; status++)
        for (int i = 0; i < rings[status].made && !found; i++)
            if (rings[status].codes[i] == code) {
                memcpy(ret_text, rings[status].text[i], MPI_MAX_ERROR_STRING);
                found = 1;
            }
    pthread_mutex_unlock(&rings_lock);
    return found;
}

pl_status error_from_mpi(int code, const char *doing, struct pl_error *error)
{
    char words[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    real.Error_string(code, words, &length);
    for (char *c = words; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return pl_fail(error, PL_E_MPI, "%s: %s", doing, words);
}

/* ---- Error handlers ---------------------------------------------------------------------------------------------- */

struct entry {
    MPI_Errhandler handler;
    struct error_function function;
    int references;
    struct entry *next;
};

static struct entry *entries;

/* Predefined handlers, of which the MPI may count the references too (Open MPI frees what it has not handed out). Those
 * that the program has from us are freed with us: nobody can tell one reference from another, but their numbers agree.
 */
enum { PREDEFINED = 3 };
static int64_t given[PREDEFINED];
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

/* Its number among the predefined ones; -1: it is none. */
static int predefined_number(MPI_Errhandler handler)
{
#if !PIOLET_IS_OPENMPI
    if (handler == MPI_ERRORS_ABORT)
        return 2;
#endif
    return handler == MPI_ERRORS_RETURN ? 0 : handler == MPI_ERRORS_ARE_FATAL ? 1 : -1;
}

/* Under the lock. */
static struct entry **error_handler_find(MPI_Errhandler handler)
{
    struct entry **place = &entries;
    while (*place && (*place)->handler != handler)
        place = &(*place)->next;
    return place;
}

static void never_called(MPI_File *file, int *code, ...) /* NOLINT(readability-non-const-parameter): MPI's type */
{
    (void)file;
    (void)code;
}

pl_status error_handler_create(struct error_function function, MPI_Errhandler *ret_handler, struct pl_error *error)
{
    struct entry *entry = mem_alloc(sizeof *entry);
    if (!entry)
        return pl_fail(error, PL_E_NOMEM, "no memory for an error handler");
    *entry = (struct entry){.function = function, .references = 1};
    if (real.File_create_errhandler(function.c ? function.c : never_called, &entry->handler)) {
        mem_free(entry);
        return pl_fail(error, PL_E_MPI, "the MPI makes no more error handlers");
    }
    *ret_handler = entry->handler;
    pthread_mutex_lock(&entries_lock);
    entry->next = entries;
    entries = entry;
    pthread_mutex_unlock(&entries_lock);
    return PL_OK;
}

pl_status error_handler_give(MPI_Errhandler handler, struct pl_error *error)
{
    const int number = predefined_number(handler);
    if (number < 0)
        return error_handler_hold(handler, error);
    pthread_mutex_lock(&entries_lock);
    given[number]++;
    pthread_mutex_unlock(&entries_lock);
    return PL_OK;
}

bool error_handler_take_back(MPI_Errhandler handler)
{
    const int number = predefined_number(handler);
    pthread_mutex_lock(&entries_lock);
    const bool ours = number < 0 ? *error_handler_find(handler) != NULL : given[number] > 0;
    if (ours && number >= 0)
        given[number]--;
    pthread_mutex_unlock(&entries_lock);
    if (ours)
        error_handler_drop(handler);
    return ours;
}

pl_status error_handler_hold(MPI_Errhandler handler, struct pl_error *error)
{
    if (predefined_number(handler) >= 0)
        return PL_OK;
    pthread_mutex_lock(&entries_lock);
    struct entry *entry = *error_handler_find(handler);
    if (entry)
        entry->references++;
    pthread_mutex_unlock(&entries_lock);
    if (!entry)
        return pl_fail(error, PL_E_ARG, "this error handler was not made by MPI_File_create_errhandler");
    return PL_OK;
}

void error_handler_drop(MPI_Errhandler handler)
{
    struct entry *gone = NULL;
    pthread_mutex_lock(&entries_lock);
    struct entry **place = error_handler_find(handler);
    assert(!*place || (*place)->references > 0);
    if (*place && --(*place)->references == 0) {
        gone = *place;
        *place = gone->next;
    }
    pthread_mutex_unlock(&entries_lock);
    if (gone) {
        int finalized = 0;
        real.Finalized(&finalized);
        if (!finalized)
            real.Errhandler_free(&gone->handler);
        mem_free(gone);
    }
}

static int error_handler_die(int code, const char *words)
{
    char host[256] = "?";
    gethostname(host, sizeof host - 1);
    struct text shown = {0};
    text_add_visible(&shown, words); /* names of files are in them */
    fprintf(stderr, "piolet MPI-IO, process %ld on %s: %s\n(the file's error handler is MPI_ERRORS_ARE_FATAL)\n",
            (long)getpid(), host, text_get(&shown));
    text_clear(&shown);
    real.Abort(MPI_COMM_WORLD, code);
    return code;
}

int error_handler_call(MPI_Errhandler handler, MPI_File *file, MPI_Fint number, int code, const char *words)
{
    if (handler == MPI_ERRORS_RETURN)
        return code;
    pthread_mutex_lock(&entries_lock);
    const struct entry *entry = *error_handler_find(handler);
    const struct error_function function = entry ? entry->function : (struct error_function){0};
    pthread_mutex_unlock(&entries_lock);
    if (function.c) {
        function.c(file, &code);
        return code;
    }
    if (function.fortran) {
        MPI_Fint fortran_code = code;
        function.fortran(&number, &fortran_code);
        return code;
    }
    return error_handler_die(code, words);
}
