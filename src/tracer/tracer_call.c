/* The wrappers, made from tracer_call.def. A program reaches them as MPI_X and as PMPI_X; Fortran does it through the
 * functions of C. */
#include "tracer/tracer.h"

#define EXPORT      TRACER_EXPORT
#define ALIAS(name) TRACER_ALIAS(File_##name)

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
        tracer_enter_access(&scope, &site, fh, OFFSET_##family, (MPI_Count)count);                                     \
        STATUS_BEFORE_##family scope.call.code = tracer_real()->File_##name ARGUMENTS_##family;                        \
        if (tracer_done(&scope)) {                                                                                     \
            tracer_note_access(&scope, buf, type);                                                                     \
            STATUS_AFTER_##family                                                                                      \
        }                                                                                                              \
        return tracer_leave(&scope);                                                                                   \
    }                                                                                                                  \
    ALIAS(name)

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
    ALIAS(name)

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
    ALIAS(name)

#define HELPER(name)
#include "tracer/tracer_call.def"
