/* Inside libpiolet-trace.so. A wrapper is
 *
 *     tracer_enter(&scope, …);        the program's own call? then look at the file and the clock
 *     scope.call.code = tracer_real()->File_…(…);
 *     if (tracer_done(&scope)) …      it is logged: add fields
 *     return tracer_leave(&scope);
 *
 * What is asked of MPI besides the call itself must not be able to fail, since the program's error handler would run:
 * handles are looked at only where the real function has taken them, or where they are ours. */
#ifndef PIOLET_TRACER_TRACER_H
#define PIOLET_TRACER_TRACER_H

#include "base/status.h"
#include "trace/trace_format.h"
#include "trace/trace_record.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define TRACER_EXPORT      __attribute__((visibility("default")))
#define TRACER_ALIAS(name) extern TRACER_EXPORT __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)));

/* The functions behind us: the MPI's, or those of libpiolet-mpiio.so where it is preloaded too. */
struct tracer_real {
#define HELPER(name)            __typeof__(&PMPI_##name) name;
#define CALL(name, ...)         __typeof__(&PMPI_File_##name) File_##name;
#define END(name, op, position) __typeof__(&PMPI_File_##name) File_##name;
#define ACCESS(name, family, op, position, who)                                                                        \
    __typeof__(&PMPI_File_##name) File_##name;                                                                         \
    TRACER_LARGE(__typeof__(&PMPI_File_##name##_c) File_##name##_c;)
#if PIOLET_IS_OPENMPI /* MPI 3: no functions with MPI_Count */
#define TRACER_LARGE(...)
#else
#define TRACER_LARGE(...) __VA_ARGS__
#endif
#include "tracer/tracer_call.def"
#undef HELPER
#undef CALL
#undef END
#undef ACCESS
#define WAIT(name) __typeof__(&PMPI_##name) name;
#include "tracer/tracer_wait.def"
#undef WAIT
};

/* Found on the first call. Where that fails (the program belongs to the other MPI) the process ends with a message:
 * its handles would not even have the right size. */
extern struct tracer_real tracer_real_files;
extern atomic_bool tracer_real_is_loaded;
void tracer_real_load(void);
static inline const struct tracer_real *tracer_real(void)
{
    if (__builtin_expect(!atomic_load_explicit(&tracer_real_is_loaded, memory_order_acquire), 0))
        tracer_real_load();
    return &tracer_real_files;
}

enum tracer_wait {
#define WAIT(name) TRACER_WAIT_##name,
#include "tracer/tracer_wait.def"
#undef WAIT
    TRACER_WAITS
};

/* Where a folded trace has function and kind of a call; 0: not looked for yet. */
struct tracer_kept {
    trace_ref call;
};

/* Where an access begins: as the word in its kind says. */
enum tracer_place { TRACER_NOWHERE, TRACER_EXPLICIT, TRACER_INDIVIDUAL, TRACER_SHARED };

/* A wrapper's own words. */
struct tracer_site {
    const char *function;
    struct trace_kind kind;
    enum tracer_place place;
    bool reads, blocks;            /* of accesses; one that does not block, or begins only, ends later */
    _Atomic MPI_Datatype element;  /* of the last access, and */
    _Atomic int64_t element_bytes; /* its size, 2^20 at most */
    struct tracer_kept call, completion[TRACER_WAITS];
};

/* The log of this rank. */
void tracer_log_start(void); /* behind MPI_Init; off without PIOLET_TRACE_DIR, or after a message where it fails */
bool tracer_log_is_on(void);
bool tracer_log_is_full(void); /* every call as a line */
int64_t tracer_log_now_ns(void);
int64_t tracer_log_begin_ns(void); /* the same, where a call begins: it ends the computing before */
/* Keeps the call; `fields` as trace_add_field_*() made them, or NULL. `constant`: the same where it is one of few texts
 * that are always at the same place in memory; at most one of the two. */
void tracer_log_call(struct tracer_site *site, struct trace_call *call, const char *fields, const char *constant);
/* That a request of a call at `site` was completed by a wait or test. */
void tracer_log_completion(struct tracer_site *site, enum tracer_wait wait, struct trace_call *call);
/* A call of communication that ends now; `is_of_world`: a collective one of all ranks. */
void tracer_log_comm(int64_t begin_ns, bool is_of_world);
/* That a file of this name is being closed: whether it is removed right behind is told, too. */
void tracer_log_closing(const char *name);
void tracer_log_flush(void);
void tracer_log_end(void); /* logging is off from here on */

/* The file of this rank's trace. All return a text where they failed, but tracer_output_fd(), -1. */
const char *tracer_output_open(const char *directory, int rank);
const char *tracer_output_write(const void *bytes, size_t count, off_t offset);
const char *tracer_output_reserve(off_t offset, off_t bytes);
const char *tracer_output_finish(off_t length);
void tracer_output_discard(void); /* where nothing can be written to it from the start */
void tracer_output_complain(const char *what);
int tracer_output_fd(void);

/* What a store to the mapped trace that meets SIGBUS would come to on this thread. OPEN: its shield catches
 * it; BLOCKED: bus_guard_run() does; NONE: it ends the program, since the program has taken the signal for itself. */
enum tracer_guard { TRACER_GUARD_NONE, TRACER_GUARD_BLOCKED, TRACER_GUARD_OPEN };
enum tracer_guard tracer_guard_look(int64_t now_ns);

/* Both forms have these. All return a text where they failed, and are called with the log's lock held, but for comm. */
struct tracer_form {
    const char *(*start)(struct text *head, struct trace_control **ret_control);
    const char *(*call)(struct tracer_kept *kept, const struct trace_call *call, const char *fields,
                        const char *constant);
    const char *(*comm)(int64_t now_ns); /* the control block has counted communication; NULL: nothing is to be done */
    const char *(*flush)(void);
    const char *(*end)(void);
};
extern const struct tracer_form tracer_form_full, tracer_form_folded;
/* A call without fields that its loop in the folded form expects, without communication before it. False: it was not
 * such a call, or could not be stored: `call` of the form tells. */
bool tracer_folded_call_quick(const struct tracer_kept *kept, const struct trace_call *call, const char *constant);

/* A file that the program has open. */
struct tracer_file {
    MPI_File handle;
    int id;          /* from 1 */
    bool sequential; /* opened with MPI_MODE_SEQUENTIAL: it has no places to ask for */
    bool empty_view; /* nor has a view of types without bytes */
    int64_t etype_bytes;
    _Atomic int64_t position; /* of the individual pointer, in etypes; -1: has to be asked for */
    char *name;               /* NULL: not known */
    struct tracer_file *next;
};
struct tracer_file *tracer_file_add(MPI_File handle, int amode); /* NULL: no memory */
void tracer_file_remove(struct tracer_file *file);

/* Requests of reads and writes that were started and not completed yet. */
struct tracer_request {
    MPI_Request handle;
    struct tracer_site *site; /* NULL: none */
    int file;
};
void tracer_request_add(MPI_Request handle, struct tracer_site *site, int file);
bool tracer_request_any(void);
bool tracer_request_take(MPI_Request handle, struct tracer_request *ret_request); /* false: not one of them */

/* Pages of an access's buffer, as far as they are looked at, that were not there when it began. */
struct tracer_fresh {
    uintptr_t begin, end;
    int64_t bytes; /* of the buffer, within these pages */
    int64_t missing;
};

/* One call of the program, on its wrapper's stack. */
struct tracer_scope {
    struct trace_call call;
    struct tracer_site *site;
    struct tracer_file *file;
    struct text fields;
    const char *constant; /* a field in their place */
    MPI_Status status;    /* in the place of MPI_STATUS_IGNORE */
    bool logged;
    bool flush;     /* a good moment to write what was gathered */
    bool has_value; /* a number stands in the place of the offset, and in no field */
    struct tracer_fresh fresh;
};
/* Inside of MPI_Finalize the MPI itself uses its functions; only calls on files that are still open are the program's.
 */
void tracer_scope_finalizing(void);
void tracer_enter(struct tracer_scope *scope, struct tracer_site *site, MPI_File file);
/* The same for reads and writes; `offset` is looked up where the position is not explicit. */
void tracer_enter_access(struct tracer_scope *scope, struct tracer_site *site, MPI_File file, MPI_Offset offset,
                         const void *buffer, MPI_Count count, MPI_Datatype type);
/* Behind the call: bytes of pages that it touched first, for each byte of the buffer. */
double tracer_fresh_share(const struct tracer_scope *scope);
/* Bytes are asked for by full traces, and to see whether a read moved the individual pointer as far as it meant to. */
static inline bool tracer_looks_at_status(const struct tracer_scope *scope)
{
    return scope->logged &&
           (tracer_log_is_full() || (scope->file && scope->site->place == TRACER_INDIVIDUAL && scope->site->reads));
}
/* The status to hand to the real function. */
static inline MPI_Status *tracer_status(struct tracer_scope *scope, MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE && tracer_looks_at_status(scope) ? &scope->status : status;
}
static inline bool tracer_done(struct tracer_scope *scope)
{
    if (scope->logged)
        scope->call.end_ns = tracer_log_now_ns();
    return scope->logged;
}
int tracer_leave(struct tracer_scope *scope);
/* Communication: when it began, or -1 where it is not the program's own call. -1 also where it is not to be told. */
int64_t tracer_enter_comm(void);
void tracer_leave_comm(int64_t begin_ns, bool is_of_world);

/* Fields, and what the files' table must know; behind tracer_done(). */
void tracer_note_access(struct tracer_scope *scope, const void *buffer, MPI_Datatype type);
void tracer_note_status_now(struct tracer_scope *scope, const MPI_Status *status);
static inline void tracer_note_status(struct tracer_scope *scope, const MPI_Status *status)
{
    if (tracer_looks_at_status(scope))
        tracer_note_status_now(scope, status);
}
void tracer_note_request(struct tracer_scope *scope, const MPI_Request *request);
void tracer_note_value(struct tracer_scope *scope, const char *key, int64_t value); /* the number of the call */
void tracer_note_int(struct tracer_scope *scope, const char *key, int64_t value);
void tracer_note_text(struct tracer_scope *scope, const char *key, const char *value); /* NULL: no field */
void tracer_note_hints(struct tracer_scope *scope, MPI_Info info);
void tracer_note_open(struct tracer_scope *scope, MPI_Comm comm, const char *name, int amode, MPI_Info info,
                      MPI_File file);
void tracer_note_view(struct tracer_scope *scope, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info);
void tracer_note_seek(struct tracer_scope *scope, MPI_Offset offset, int whence);
void tracer_note_close(struct tracer_scope *scope);

/* The ranks of a communicator as those of MPI_COMM_WORLD, and a number that this open has on all of them. */
void tracer_note_members(struct tracer_scope *scope, MPI_Comm comm);

/* How a datatype was made: "vector(10,2,4,MPI_INT)". */
void tracer_type_text(MPI_Datatype type, struct text *text);

/* The size of a datatype that the real function has taken, as MPI told it once; -1: it did not. The field of an access
 * whose data lies scattered in memory, always at the same place; NULL: it is in one piece. */
int64_t tracer_memory_look(const void *buffer, MPI_Datatype type, int64_t count, const char **ret_field);

#endif
