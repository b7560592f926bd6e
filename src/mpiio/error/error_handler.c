#include "mpiio/error/error_handler.h"

#include "base/text.h"
#include "mpi/real.h"
#include "mpiio/mem.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

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
static struct entry **find(MPI_Errhandler handler)
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
    const bool ours = number < 0 ? *find(handler) != NULL : given[number] > 0;
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
    struct entry *entry = *find(handler);
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
    struct entry **place = find(handler);
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

static int die(int code, const char *words)
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
    const struct entry *entry = *find(handler);
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
    return die(code, words);
}
