#include "mpiio/error/error_handler.h"

#include "base/text.h"
#include "mpi/real.h"
#include "mpiio/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct entry {
    MPI_Errhandler handler;
    struct error_function function;
    int references;
    struct entry *next;
};

static struct entry *entries;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_predefined(MPI_Errhandler handler)
{
#if !PIOLET_IS_OPENMPI
    if (handler == MPI_ERRORS_ABORT)
        return true;
#endif
    return handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL;
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

bool error_handler_is_ours(MPI_Errhandler handler)
{
    pthread_mutex_lock(&entries_lock);
    const bool found = *find(handler) != NULL;
    pthread_mutex_unlock(&entries_lock);
    return found;
}

pl_status error_handler_hold(MPI_Errhandler handler, struct pl_error *error)
{
    if (is_predefined(handler))
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
