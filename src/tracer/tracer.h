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

#include "trace/trace_format.h"

#include <mpi.h>
#include <stdbool.h>

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
};

/* Found on the first call. Where that fails (the program belongs to the other MPI) the process ends with a message:
 * its handles would not even have the right size. */
const struct tracer_real *tracer_real(void);

/* The log of this rank. */
void tracer_log_start(void); /* behind MPI_Init; off without PIOLET_TRACE_DIR, or after a message where it fails */
bool tracer_log_is_on(void);
int64_t tracer_log_now_ns(void);
/* Gives the call its number and writes its line; `fields` as trace_add_field_*() made them. */
void tracer_log_call(struct trace_call *call, const char *fields);
void tracer_log_flush(void);
void tracer_log_end(void); /* the last line; logging is off from here on */

/* The files that the program has open. */
struct tracer_file {
    MPI_File handle;
    int id;          /* from 1; 0: not one of ours */
    bool sequential; /* opened with MPI_MODE_SEQUENTIAL: it has no places to ask for */
    bool empty_view; /* nor has a view of types without bytes */
};
int tracer_file_add(MPI_File handle, bool sequential); /* returns its id; 0: no memory */
struct tracer_file tracer_file_find(MPI_File handle);
void tracer_file_set_view(int id, bool empty_view);
void tracer_file_remove(int id);

/* One call of the program, on its wrapper's stack. */
struct tracer_scope {
    struct trace_call call;
    struct tracer_file file;
    struct text fields;
    MPI_Status status; /* in the place of MPI_STATUS_IGNORE */
    bool logged;
    bool flush; /* a good moment to write what was gathered */
};
/* Inside of MPI_Finalize the MPI itself uses its functions; only calls on files that are still open are the program's.
 */
void tracer_scope_finalizing(void);
void tracer_enter(struct tracer_scope *scope, const char *function, struct trace_kind kind, MPI_File file);
/* The same for reads and writes; `offset` is looked up where the position is not explicit. */
void tracer_enter_access(struct tracer_scope *scope, const char *function, struct trace_kind kind, MPI_File file,
                         MPI_Offset offset, MPI_Count count);
/* The status to hand to the real function. */
MPI_Status *tracer_status(struct tracer_scope *scope, MPI_Status *status);
bool tracer_done(struct tracer_scope *scope);
int tracer_leave(struct tracer_scope *scope);

/* Fields, and what the files' table must know; behind tracer_done(). */
void tracer_note_access(struct tracer_scope *scope, MPI_Datatype type);
void tracer_note_status(struct tracer_scope *scope, const MPI_Status *status);
void tracer_note_int(struct tracer_scope *scope, const char *key, int64_t value);
void tracer_note_text(struct tracer_scope *scope, const char *key, const char *value); /* NULL: no field */
void tracer_note_hints(struct tracer_scope *scope, MPI_Info info);
void tracer_note_open(struct tracer_scope *scope, MPI_Comm comm, const char *name, int amode, MPI_Info info,
                      MPI_File file);
void tracer_note_view(struct tracer_scope *scope, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info);
void tracer_note_close(struct tracer_scope *scope);

#endif
