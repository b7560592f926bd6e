/* The wrappers: of MPI_Init and MPI_Finalize, of communication, of waits and tests, of MPI_File_*. */
#include "tracer/tracer.h"

#include "mpi/real.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT TRACER_EXPORT
#define ALIAS  TRACER_ALIAS

/* ---- the functions behind ---- */

struct tracer_real tracer_real_files;
atomic_bool tracer_real_is_loaded;

static const struct real_entry REAL_NAMES[] = {
#define HELPER(name)                            {"PMPI_" #name, offsetof(struct tracer_real, name)},
#define ENTRY(name)                             {"PMPI_File_" #name, offsetof(struct tracer_real, File_##name)},
#define CALL(name, ...)                         ENTRY(name)
#define END(name, op, position)                 ENTRY(name)
#define ACCESS(name, family, op, position, who) ENTRY(name) TRACER_LARGE(ENTRY(name##_c))
#include "tracer/tracer_call.def"
#define WAIT(name) HELPER(name)
#include "tracer/tracer_wait.def"
#undef HELPER
#undef ENTRY
#undef CALL
#undef END
#undef ACCESS
#undef WAIT
};

static struct {
#define COMM_CALL(name, ...) __typeof__(&PMPI_##name) name;
#define COMM_COLL            COMM_CALL
#define COMM_TEST            COMM_CALL
#include "tracer/tracer_comm.inc"
#undef COMM_CALL
} behind;

static const struct real_entry COMM_NAMES[] = {
#define COMM_CALL(name, ...) {"PMPI_" #name, offsetof(__typeof__(behind), name)},
#include "tracer/tracer_comm.inc"
#undef COMM_CALL
#undef COMM_COLL
#undef COMM_TEST
};

static pl_status tracer_comm_load(struct pl_error *error)
{
    return real_fill(&behind, COMM_NAMES, sizeof COMM_NAMES / sizeof COMM_NAMES[0], error);
}

static void tracer_real_load_once(void)
{
    struct pl_error error;
    if (real_load(&error) == PL_OK &&
        real_fill(&tracer_real_files, REAL_NAMES, sizeof REAL_NAMES / sizeof REAL_NAMES[0], &error) == PL_OK &&
        tracer_comm_load(&error) == PL_OK) {
        atomic_store_explicit(&tracer_real_is_loaded, true, memory_order_release);
        return;
    }
    fprintf(stderr, "piolet-trace: %s\n", error.text);
    exit(EXIT_FAILURE);
}

void tracer_real_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, tracer_real_load_once);
}

/* ---- begin and end of a trace: with MPI itself ---- */

EXPORT int MPI_Init(int *argc, char ***argv)
{
    tracer_real();
    const bool outermost = guard_enter();
    const int code = real.Init(argc, argv);
    if (outermost && code == MPI_SUCCESS)
        tracer_log_start();
    guard_leave();
    return code;
}
ALIAS(Init)

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    tracer_real();
    const bool outermost = guard_enter();
    const int code = real.Init_thread(argc, argv, required, provided);
    if (outermost && code == MPI_SUCCESS)
        tracer_log_start();
    guard_leave();
    return code;
}
ALIAS(Init_thread)

/* No guard around it: libraries close their files when MPI_Finalize frees the attributes of MPI_COMM_SELF (HDF5 does).
 * The last line comes behind them; what was gathered is written before, should the process end in there. */
EXPORT int MPI_Finalize(void)
{
    tracer_real();
    tracer_log_flush();
    tracer_scope_finalizing();
    const int code = real.Finalize();
    tracer_log_end();
    return code;
}
ALIAS(Finalize)

EXPORT int MPI_Abort(MPI_Comm comm, int errorcode)
{
    tracer_real();
    tracer_log_end();
    return real.Abort(comm, errorcode);
}
ALIAS(Abort)

/* ---- communication ---- */

/* Each call is counted, as an event of logical time. */

/* all ranks of MPI_COMM_WORLD; asked after success only */
static bool tracer_comm_is_world(MPI_Comm comm)
{
    int size, world, is_inter;
    if (comm == MPI_COMM_WORLD)
        return true;
    return real.Comm_size(comm, &size) == MPI_SUCCESS && real.Comm_size(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
           size == world && real.Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && !is_inter;
}

#define WRAP(name, parameters, arguments, counts, is_of_world)                                                         \
    TRACER_EXPORT int MPI_##name parameters                                                                            \
    {                                                                                                                  \
        const int64_t begin_ns = tracer_enter_comm();                                                                  \
        const int code = behind.name arguments;                                                                        \
        const bool own = begin_ns >= 0;                                                                                \
        tracer_leave_comm(own && (counts) ? begin_ns : -1, own && (is_of_world));                                      \
        return code;                                                                                                   \
    }                                                                                                                  \
    TRACER_ALIAS(name)

#define COMM_CALL(name, parameters, arguments) WRAP(name, parameters, arguments, true, false)
#define COMM_TEST(name, parameters, arguments) WRAP(name, parameters, arguments, code == MPI_SUCCESS && *flag, false)
#define COMM_COLL(name, parameters, arguments, comm)                                                                   \
    WRAP(name, parameters, arguments, true, code == MPI_SUCCESS && tracer_comm_is_world(comm))
#include "tracer/tracer_comm.inc"

/* ---- waits ---- */

/* Waits and tests. One that completes requests of reads and writes is told as the end of each of these; one that
 * completes anything else, or waits for nothing, is an event of communication. A test in vain is neither. */

enum { FEW = 16 };

/* What the requests were before the call, which takes their handles away. */
struct wait {
    enum tracer_wait which;
    int count; /* of requests; 0: none of them can be ours */
    MPI_Request *before, few[FEW];
    int64_t begin_ns; /* -1: not to be told */
    int others;       /* completed, and no reads or writes */
};

static void wait_enter(struct wait *wait, enum tracer_wait which, int count, const MPI_Request *requests)
{
    assert(which < TRACER_WAITS);
    wait->which = which;
    wait->begin_ns = tracer_enter_comm();
    wait->count = wait->others = 0;
    wait->before = wait->few;
    if (wait->begin_ns < 0 || count <= 0 || !requests || !tracer_request_any())
        return;
    if (count > FEW && !(wait->before = malloc((size_t)count * sizeof *wait->before)))
        return; /* without memory, nothing is told of them */
    for (int i = 0; i < count; i++)
        wait->before[i] = requests[i];
    wait->count = count;
}

/* Request i was completed. */
static void wait_complete(struct wait *wait, int i, const MPI_Status *status)
{
    struct tracer_request request;
    if (i < 0 || i >= wait->count || !tracer_request_take(wait->before[i], &request)) {
        wait->others++;
        return;
    }
    struct trace_call call = {.file = request.file,
                              .offset = -1,
                              .byte = -1,
                              .count = -1,
                              .type_bytes = -1,
                              .asked = -1,
                              .done = -1,
                              .begin_ns = wait->begin_ns,
                              .end_ns = tracer_log_now_ns()};
    MPI_Count bytes;
    if (tracer_log_is_full() && status && tracer_real()->Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS &&
        bytes >= 0)
        call.done = bytes;
    tracer_log_completion(request.site, wait->which, &call);
}

static int wait_leave(struct wait *wait, int code, bool counts)
{
    assert(wait->count >= 0 && wait->others >= 0);
    if (wait->before != wait->few)
        free(wait->before);
    tracer_leave_comm(counts && (wait->others > 0 || wait->count == 0) ? wait->begin_ns : -1, false);
    return code;
}

static const MPI_Status *wait_one(const MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE ? NULL : status;
}

static const MPI_Status *wait_nth(const MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i];
}

EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct wait wait;
    tracer_real();
    wait_enter(&wait, TRACER_WAIT_Wait, 1, request);
    const int code = tracer_real()->Wait(request, status);
    if (wait.count && code == MPI_SUCCESS)
        wait_complete(&wait, 0, wait_one(status));
    return wait_leave(&wait, code, true);
}
ALIAS(Wait)

EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct wait wait;
    tracer_real();
    wait_enter(&wait, TRACER_WAIT_Test, 1, request);
    const int code = tracer_real()->Test(request, flag, status);
    if (wait.count && code == MPI_SUCCESS && *flag)
        wait_complete(&wait, 0, wait_one(status));
    return wait_leave(&wait, code, code == MPI_SUCCESS && *flag);
}
ALIAS(Test)

EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct wait wait;
    tracer_real();
    wait_enter(&wait, TRACER_WAIT_Waitall, count, requests);
    const int code = tracer_real()->Waitall(count, requests, statuses);
    for (int i = 0; i < wait.count && code == MPI_SUCCESS; i++)
        wait_complete(&wait, i, wait_nth(statuses, i));
    return wait_leave(&wait, code, true);
}
ALIAS(Waitall)

EXPORT int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct wait wait;
    tracer_real();
    wait_enter(&wait, TRACER_WAIT_Testall, count, requests);
    const int code = tracer_real()->Testall(count, requests, flag, statuses);
    for (int i = 0; i < wait.count && code == MPI_SUCCESS && *flag; i++)
        wait_complete(&wait, i, wait_nth(statuses, i));
    return wait_leave(&wait, code, code == MPI_SUCCESS && *flag);
}
ALIAS(Testall)

EXPORT int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct wait wait;
    tracer_real();
    wait_enter(&wait, TRACER_WAIT_Waitany, count, requests);
    const int code = tracer_real()->Waitany(count, requests, index, status);
    if (wait.count && code == MPI_SUCCESS)
        wait_complete(&wait, *index, wait_one(status));
    return wait_leave(&wait, code, true);
}
ALIAS(Waitany)

EXPORT int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct wait wait;
    tracer_real();
    wait_enter(&wait, TRACER_WAIT_Testany, count, requests);
    const int code = tracer_real()->Testany(count, requests, index, flag, status);
    if (wait.count && code == MPI_SUCCESS && *flag)
        wait_complete(&wait, *index, wait_one(status));
    return wait_leave(&wait, code, code == MPI_SUCCESS && *flag);
}
ALIAS(Testany)

/* MPI_UNDEFINED requests: there was none to wait for. */
static void wait_complete_some(struct wait *wait, int code, int outcount, const int *indices,
                               const MPI_Status *statuses)
{
    for (int i = 0; wait->count && code == MPI_SUCCESS && outcount != MPI_UNDEFINED && i < outcount; i++)
        wait_complete(wait, indices[i], wait_nth(statuses, i));
}

EXPORT int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct wait wait;
    tracer_real();
    wait_enter(&wait, TRACER_WAIT_Waitsome, incount, requests);
    const int code = tracer_real()->Waitsome(incount, requests, outcount, indices, statuses);
    wait_complete_some(&wait, code, code == MPI_SUCCESS ? *outcount : 0, indices, statuses);
    return wait_leave(&wait, code, true);
}
ALIAS(Waitsome)

EXPORT int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct wait wait;
    tracer_real();
    wait_enter(&wait, TRACER_WAIT_Testsome, incount, requests);
    const int code = tracer_real()->Testsome(incount, requests, outcount, indices, statuses);
    wait_complete_some(&wait, code, code == MPI_SUCCESS ? *outcount : 0, indices, statuses);
    return wait_leave(&wait, code, code == MPI_SUCCESS && *outcount != 0);
}
ALIAS(Testsome)

/* Whether it ever completes is not known from here on: nothing is told. */
EXPORT int MPI_Request_free(MPI_Request *request)
{
    struct tracer_request forgotten;
    tracer_real();
    const bool own = tracer_enter_comm() >= 0;
    const MPI_Request before = own && request ? *request : MPI_REQUEST_NULL;
    const int code = tracer_real()->Request_free(request);
    if (own && code == MPI_SUCCESS && tracer_request_any())
        tracer_request_take(before, &forgotten);
    tracer_leave_comm(-1, false);
    return code;
}
ALIAS(Request_free)

/* ---- calls of MPI-IO ---- */

/* The wrappers, made from tracer_call.def. A program reaches them as MPI_X and as PMPI_X; Fortran does it through the
 * functions of C. */

#define BUFFER_READ  void *
#define BUFFER_WRITE const void *

/* Words of the columns. */
#define CLASS_READ          "read"
#define CLASS_WRITE         "write"
#define READS_READ          true
#define READS_WRITE         false
#define WHO_IND             "ind"
#define WHO_COLL            "coll"
#define POSITION_EXPLICIT   "explicit"
#define POSITION_INDIVIDUAL "individual"
#define POSITION_SHARED     "shared"
#define HOW_AT              "block"
#define HOW_PLAIN           "block"
#define HOW_I_AT            "nonblock"
#define HOW_I               "nonblock"
#define HOW_BEGIN_AT        "begin"
#define HOW_BEGIN           "begin"
#define BLOCKS_AT           true
#define BLOCKS_PLAIN        true
#define BLOCKS_I_AT         false
#define BLOCKS_I            false
#define BLOCKS_BEGIN_AT     false
#define BLOCKS_BEGIN        false

/* What the parameters of a family are, how they are passed on, and what is seen of them. */
#define PARAMETERS_AT(op, count_type)                                                                                  \
    (MPI_File fh, MPI_Offset offset, BUFFER_##op buf, count_type count, MPI_Datatype type, MPI_Status * status)
#define PARAMETERS_PLAIN(op, count_type)                                                                               \
    (MPI_File fh, BUFFER_##op buf, count_type count, MPI_Datatype type, MPI_Status * status)
#define PARAMETERS_I_AT(op, count_type)                                                                                \
    (MPI_File fh, MPI_Offset offset, BUFFER_##op buf, count_type count, MPI_Datatype type, MPI_Request * request)
#define PARAMETERS_I(op, count_type)                                                                                   \
    (MPI_File fh, BUFFER_##op buf, count_type count, MPI_Datatype type, MPI_Request * request)
#define PARAMETERS_BEGIN_AT(op, count_type)                                                                            \
    (MPI_File fh, MPI_Offset offset, BUFFER_##op buf, count_type count, MPI_Datatype type)
#define PARAMETERS_BEGIN(op, count_type) (MPI_File fh, BUFFER_##op buf, count_type count, MPI_Datatype type)

#define ARGUMENTS_AT       (fh, offset, buf, count, type, status)
#define ARGUMENTS_PLAIN    (fh, buf, count, type, status)
#define ARGUMENTS_I_AT     (fh, offset, buf, count, type, request)
#define ARGUMENTS_I        (fh, buf, count, type, request)
#define ARGUMENTS_BEGIN_AT (fh, offset, buf, count, type)
#define ARGUMENTS_BEGIN    (fh, buf, count, type)

#define OFFSET_AT       offset
#define OFFSET_PLAIN    -1
#define OFFSET_I_AT     offset
#define OFFSET_I        -1
#define OFFSET_BEGIN_AT offset
#define OFFSET_BEGIN    -1

#define STATUS_BEFORE_AT    status = tracer_status(&scope, status);
#define STATUS_BEFORE_PLAIN STATUS_BEFORE_AT
#define STATUS_BEFORE_I_AT  /* bytes are known only when it is waited for */
#define STATUS_BEFORE_I
#define STATUS_BEFORE_BEGIN_AT
#define STATUS_BEFORE_BEGIN
#define STATUS_AFTER_AT    tracer_note_status(&scope, status);
#define STATUS_AFTER_PLAIN STATUS_AFTER_AT
#define STATUS_AFTER_I_AT  tracer_note_request(&scope, request);
#define STATUS_AFTER_I     STATUS_AFTER_I_AT
#define STATUS_AFTER_BEGIN_AT
#define STATUS_AFTER_BEGIN

#define WRAP_ACCESS(name, family, op, pointer, persons, count_type)                                                    \
    EXPORT int MPI_File_##name PARAMETERS_##family(op, count_type)                                                     \
    {                                                                                                                  \
        static struct tracer_site site = {                                                                             \
            .function = "MPI_File_" #name,                                                                             \
            .kind = {.class = CLASS_##op, .who = WHO_##persons, .how = HOW_##family, .position = POSITION_##pointer},  \
            .place = TRACER_##pointer,                                                                                 \
            .reads = READS_##op,                                                                                       \
            .blocks = BLOCKS_##family};                                                                                \
        struct tracer_scope scope;                                                                                     \
        tracer_enter_access(&scope, &site, fh, OFFSET_##family, buf, (MPI_Count)count, type);                          \
        STATUS_BEFORE_##family scope.call.code = tracer_real()->File_##name ARGUMENTS_##family;                        \
        if (tracer_done(&scope)) {                                                                                     \
            tracer_note_access(&scope, buf, type);                                                                     \
            STATUS_AFTER_##family                                                                                      \
        }                                                                                                              \
        return tracer_leave(&scope);                                                                                   \
    }                                                                                                                  \
    ALIAS(File_##name)

#define ACCESS(name, family, op, position, who)                                                                        \
    WRAP_ACCESS(name, family, op, position, who, int)                                                                  \
    TRACER_LARGE(WRAP_ACCESS(name##_c, family, op, position, who, MPI_Count))

#define END(name, op, pointer)                                                                                         \
    EXPORT int MPI_File_##name(MPI_File fh, BUFFER_##op buf, MPI_Status *status)                                       \
    {                                                                                                                  \
        static struct tracer_site site = {                                                                             \
            .function = "MPI_File_" #name,                                                                             \
            .kind = {.class = CLASS_##op, .who = WHO_COLL, .how = "end", .position = POSITION_##pointer},              \
            .place = TRACER_##pointer,                                                                                 \
            .reads = READS_##op};                                                                                      \
        struct tracer_scope scope;                                                                                     \
        tracer_enter(&scope, &site, fh);                                                                               \
        status = tracer_status(&scope, status);                                                                        \
        scope.call.code = tracer_real()->File_##name(fh, buf, status);                                                 \
        if (tracer_done(&scope))                                                                                       \
            tracer_note_status(&scope, status);                                                                        \
        return tracer_leave(&scope);                                                                                   \
    }                                                                                                                  \
    ALIAS(File_##name)

#define NOTHING     (void)0
#define NOTE(value) tracer_note_value(&scope, #value, (int64_t)(value))
#define TEXT(value) tracer_note_text(&scope, #value, value)
#define GOT(pointer)                                                                                                   \
    if (scope.call.code == MPI_SUCCESS)                                                                                \
    tracer_note_value(&scope, #pointer, (int64_t) * (pointer))
#define GOT_TOO(pointer)                                                                                               \
    if (scope.call.code == MPI_SUCCESS && tracer_log_is_full())                                                        \
    tracer_note_int(&scope, #pointer, (int64_t) * (pointer))

#define CALL(name, word, file, parameters, arguments, notes)                                                           \
    EXPORT int MPI_File_##name parameters                                                                              \
    {                                                                                                                  \
        static struct tracer_site site = {.function = "MPI_File_" #name, .kind = {.class = (word)}};                   \
        struct tracer_scope scope;                                                                                     \
        tracer_enter(&scope, &site, file);                                                                             \
        scope.call.code = tracer_real()->File_##name arguments;                                                        \
        if (tracer_done(&scope)) {                                                                                     \
            notes;                                                                                                     \
        }                                                                                                              \
        return tracer_leave(&scope);                                                                                   \
    }                                                                                                                  \
    ALIAS(File_##name)

#define HELPER(name)
#include "tracer/tracer_call.def"
