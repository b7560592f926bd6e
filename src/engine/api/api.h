/* What every MPI_File_* function begins and ends with.
 *
 * A function of the chapter is one C function here, exported under its MPI_ and its PMPI_ name (Open MPI's Fortran
 * calls the latter). It checks its arguments, does the work through the layers below with a struct pl_error, and leaves
 * by api_end(), which makes the error code and calls the file's error handler. */
#ifndef PIOLET_ENGINE_API_API_H
#define PIOLET_ENGINE_API_API_H

#include "base/status.h"
#include "engine/control/control.h"
#include "engine/pending/pending.h"
#include "engine/strategy/strategy.h"

#include <mpi.h>

/* ---- handles ---- */
/* Handles: MPI_File is a pointer to our struct file; its Fortran form is a number. Closed files keep their memory, so
 * that the use of a handle after MPI_File_close is noticed. */

/* A zeroed file with a number; NULL: no memory. handle_open() makes its handle valid. */
struct file *handle_new(void);
void handle_open(struct file *file);
void handle_free(struct file *file);

static inline MPI_File handle_of(struct file *file)
{
    return (MPI_File)(void *)file;
}

/* The file behind a handle; NULL where it is none that is open. */
static inline struct file *handle_find(MPI_File handle)
{
    struct file *file = (struct file *)(void *)handle;
    return handle != MPI_FILE_NULL && file && file->magic == FILE_MAGIC ? file : NULL;
}

/* Is this the handle of the MPI's own file behind one of ours? ROMIO sets an error handler of its own in its close. */
bool handle_is_system(MPI_File handle);

MPI_Fint handle_count(void);             /* numbers go from 1 to this one; some may be free */
struct file *handle_at(MPI_Fint number); /* NULL: no file has this number */

/* ---- begin and end of a call ---- */

/* Exports PMPI_x beside MPI_x. */
#define API_ALIAS(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))

struct api {
    const char *function;
    struct file *file;     /* NULL: the call is about no open file, and MPI_FILE_NULL's error handler is used */
    bool moves_data;       /* the log then gets its line by api_log() */
    struct pl_error error; /* the outcome */
};

/* False where the handle is no open file: the error is set. */
bool api_begin(struct api *api, const char *function, MPI_File handle);

/* What a collective call begins with, before it looks at its arguments: operations that are under way come to their
 * end, and in develop mode the ranks compare what they are about to do. False: they differ; all ranks know, and none
 * goes on. api->error: what is known to be wrong on this rank already. */
bool api_begin_coll(struct api *api);

/* A collective call on what is no open file: in develop mode the others, who are in it on a file that this rank has
 * open too, hear of it. It waits a moment for them: they may all have made the same mistake. */
void api_without_file(struct api *api, bool moves_data);
/* api_begin() of collective calls that move no data, with that. */
bool api_begin_together(struct api *api, const char *function, MPI_File handle);

/* For functions without an open file. Ends the process with a message where there is no MPI that fits. */
void api_begin_free(struct api *api, const char *function);

/* What the program gets. */
int api_end(struct api *api);

/* The same in two parts, for errors that are found before the program asks for them. */
int api_code(struct api *api);
int api_raise(struct file *file, int code, const char *text);

/* What the program gets of a call that the MPI's own file did (piolet_impl=system). */
int api_end_system(struct file *file, int code);

pl_status api_wants_pointer(struct api *api, const void *pointer, const char *what);

/* MPI_FILE_NULL's error handler: what new files get. */
MPI_Errhandler api_default_handler(void);

/* ---- functions that move data ---- */
/* What the functions that move data share: checking a call's arguments and making a request of them. */

/* The words of api_access.def. */
enum { READ, WRITE };
enum { ALONE, TOGETHER };
enum api_positioning { EXPLICIT, INDIVIDUAL, SHARED, ORDERED };

/* The type of a buffer that is read into, or written from. */
#define API_BUFFER_READ  void *
#define API_BUFFER_WRITE const void *

/* A function of the table api_access.def. */
struct api_call {
    const char *function;
    bool write;
    enum api_positioning positioning;
    bool together; /* collective */
};

/* What the program gave it. */
struct api_arguments {
    int64_t offset; /* etypes; only with EXPLICIT */
    void *buffer;
    int64_t count;
    MPI_Datatype type;
};

/* A request of the arguments, placed in the file; pointers move on. The place of ORDERED ones is found later.
 * After a failure the request is {0}, and no pointer has moved, but for a shared one that left the largest file. */
pl_status api_request(struct api *api, const struct api_call *call, const struct api_arguments *arguments,
                      struct access_request *ret_request);

/* After an access of `done` bytes of the file: hands data that were read in another representation to the program.
 * Returns the bytes of the program's own data. */
int64_t api_deliver(struct api *api, const struct api_arguments *arguments, const struct access_request *request,
                    int64_t done);

/* Fills a status (may be MPI_STATUS_IGNORE) with the bytes that were moved. */
void api_set_status(MPI_Status *status, int64_t bytes);

/* One line of the log, where it is wanted. `code`: what the program gets. */
void api_log(const struct api *api, const struct api_call *call, const struct api_arguments *arguments,
             const struct access_request *request, int64_t done, int code);

/* ---- operations behind requests ---- */
/* Data accesses that the program does not wait for at once: behind a request, or between …_begin and …_end. */

struct api_operation {
    struct pending pending;
    struct api api;
    const struct api_call *call;
    struct api_arguments arguments;
    bool owns_type;
    int64_t done; /* bytes of the program's data that were moved */
    int code;     /* what the program gets */
    MPI_Status status;
    atomic_bool finished;
    atomic_int references; /* of the engine until the end, of the request or the split call until it is heard of */
    MPI_Request request;   /* MPI_REQUEST_NULL: none */
    atomic_bool abandoned; /* the program will not ask: MPI_Request_free */
    bool told;             /* its failure was told by the call that started it */
    struct api_operation *next, **place; /* among the live requests */
    struct api_operation *next_failed;   /* of those whose failure a call has to tell */
};

/* Begins it; a collective one also where this rank's arguments are wrong (api->error may tell so before), since the
 * others count on it. NULL: it was
 * refused, or there was no memory; a collective one goes on without the program, or has come to its end. api->error
 * tells. `with_request`: makes one. */
struct api_operation *api_operation_start(struct api *api, const struct api_call *call,
                                          const struct api_arguments *arguments, bool with_request);
/* Makes the operation that the file keeps in reserve, if it can. */
void api_operation_reserve(struct file *file);
void api_operation_unref(struct api_operation *operation);

/* Frees operations whose requests the program has completed. */
void api_operations_sweep(void);

/* How many requests of ours the program has not completed yet. */
int api_requests_live(void);

/* MPI_Request_free: nobody will ask for its outcome. Does nothing where the request is none of ours. */
void api_request_abandon(MPI_Request request);

/* Failed operations whose requests this thread has completed, or looked at, since the last call, linked by
 * `next_failed`; to be dropped. */
struct api_operation *api_failures_take(void);
void api_failures_drop(struct api_operation *list);

/* ---- progress ---- */
/* Who carries pending collective operations on while the program does something else.
 *
 * Where MPI allows threads (MPI_THREAD_MULTIPLE; under MPICH MPI_Init asks for it), a thread of ours: it sleeps while
 * nothing is pending, and steps, with naps between, where no thread of the program does. Below that level Open MPI
 * calls us from its progress engine, and with MPICH the program's calls that wait or test do it (real_waiting.def).
 * Those that cannot be taken apart stand between enter and leave: the thread naps less meanwhile, and where there is
 * none, enter goes on with what is pending until nothing moves. */

void api_hook_install(void);
void api_hook_remove(void);
void api_hook_wake(void); /* there is something pending now */
void api_hook_enter(void);
void api_hook_leave(void);

/* Which of the three it is, with an explanation: the value of the info key piolet_progress. */
const char *api_hook_describe(void);

/* The thread level to ask the MPI for, where the program asks for `wanted`. */
int api_hook_thread_level(int wanted);

/* ---- the MPI's own files ---- */
/* The MPI's own I/O functions, for files that are passed through to them. */

struct api_system {
#define FILE_CALL(name) __typeof__(&PMPI_##name) name;
#include "engine/api/api_system.def"
#undef FILE_CALL
};

/* Filled by the first file that needs it; files of ours never look at it. */
extern struct api_system api_system;
pl_status api_system_load(struct pl_error *error);

#endif
