#include "bench/replay/replay_run.h"

#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(readability-non-const-parameter): all have the same parameters, also those that do not need them */

/* ---- accesses ---- */

#define PARAMETERS                                                                                                     \
    (MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type, MPI_Request *request,               \
     MPI_Status *status)
#define UNUSED (void)offset, (void)buffer, (void)count, (void)type, (void)request, (void)status

#define AT(name)                                                                                                       \
    static int operation_call_##name PARAMETERS                                                                        \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return MPI_File_##name(file, offset, buffer, count, type, status);                                             \
    }
#define PLAIN(name)                                                                                                    \
    static int operation_call_##name PARAMETERS                                                                        \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return MPI_File_##name(file, buffer, count, type, status);                                                     \
    }
#define START_AT(name)                                                                                                 \
    static int operation_call_##name PARAMETERS                                                                        \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return MPI_File_##name(file, offset, buffer, count, type, request);                                            \
    }
#define START(name)                                                                                                    \
    static int operation_call_##name PARAMETERS                                                                        \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return MPI_File_##name(file, buffer, count, type, request);                                                    \
    }
#define SPLIT_AT(name)                                                                                                 \
    static int operation_call_##name##_begin PARAMETERS                                                                \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return MPI_File_##name##_begin(file, offset, buffer, count, type);                                             \
    }                                                                                                                  \
    static int operation_call_##name##_end PARAMETERS                                                                  \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return MPI_File_##name##_end(file, buffer, status);                                                            \
    }
#define SPLIT(name)                                                                                                    \
    static int operation_call_##name##_begin PARAMETERS                                                                \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return MPI_File_##name##_begin(file, buffer, count, type);                                                     \
    }                                                                                                                  \
    static int operation_call_##name##_end PARAMETERS                                                                  \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return MPI_File_##name##_end(file, buffer, status);                                                            \
    }
#include "bench/replay/replay_operation.def"
#undef AT
#undef PLAIN
#undef START_AT
#undef START
#undef SPLIT_AT
#undef SPLIT

/* ---- what moves no data ---- */

static int operation_call_sync PARAMETERS
{
    UNUSED;
    return MPI_File_sync(file);
}

static int operation_call_set_size PARAMETERS
{
    UNUSED;
    return MPI_File_set_size(file, offset);
}

static int operation_call_preallocate PARAMETERS
{
    UNUSED;
    return MPI_File_preallocate(file, offset);
}

static int operation_call_set_atomicity PARAMETERS
{
    UNUSED;
    return MPI_File_set_atomicity(file, offset != 0);
}

/* `count` is the whence. */
static int operation_call_seek_shared PARAMETERS
{
    UNUSED;
    return MPI_File_seek_shared(file, offset, count);
}

/* NOLINTEND(readability-non-const-parameter) */

/* ---- waits: `statuses` of each request ---- */

static int operation_wait_one(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = MPI_Wait(&requests[i], &statuses[i]);
    return code;
}

static int operation_wait_test(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        for (int flag = 0; !flag && code == MPI_SUCCESS;)
            code = MPI_Test(&requests[i], &flag, &statuses[i]);
    return code;
}

static int operation_wait_all(int count, MPI_Request *requests, MPI_Status *statuses)
{
    return MPI_Waitall(count, requests, statuses);
}

static int operation_wait_testall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int flag = 0, code = MPI_SUCCESS;
    while (!flag && code == MPI_SUCCESS)
        code = MPI_Testall(count, requests, &flag, statuses);
    return code;
}

static int operation_wait_any(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int index;
    (void)count;
    return MPI_Waitany(1, requests, &index, statuses);
}

static int operation_wait_testany(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int index, flag = 0, code = MPI_SUCCESS;
    (void)count;
    while (!flag && code == MPI_SUCCESS)
        code = MPI_Testany(1, requests, &index, &flag, statuses);
    return code;
}

static int operation_wait_some(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int completed, index;
    (void)count;
    return MPI_Waitsome(1, requests, &completed, &index, statuses);
}

static int operation_wait_testsome(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int completed = 0, index, code = MPI_SUCCESS;
    (void)count;
    while (completed == 0 && code == MPI_SUCCESS)
        code = MPI_Testsome(1, requests, &completed, &index, statuses);
    return code;
}

/* ---- the table ---- */

#define ACCESS_ROW(operation, how)                                                                                     \
    {                                                                                                                  \
        .name = #operation, .kind = how, .is_access = how != REPLAY_END, .needs_file = true,                           \
        .call = operation_call_##operation                                                                             \
    }
#define WAIT_ROW(operation, function)                                                                                  \
    {                                                                                                                  \
        .name = operation, .kind = REPLAY_WAIT, .needs_file = true, .wait = function                                   \
    }
#define GATHER_ROW(operation, function)                                                                                \
    {                                                                                                                  \
        .name = operation, .kind = REPLAY_WAIT, .needs_file = true, .gathers = true, .wait = function                  \
    }
#define NUMBER_ROW(operation, has, after)                                                                              \
    {                                                                                                                  \
        .name = #operation, .kind = REPLAY_NUMBER, .meets = true, .needs_file = true, .needs_number = has,             \
        .settles = after, .call = operation_call_##operation                                                           \
    }

static const struct replay_operation OPERATIONS[] = {
#define AT(name)       ACCESS_ROW(name, REPLAY_ACCESS),
#define PLAIN(name)    ACCESS_ROW(name, REPLAY_ACCESS),
#define START_AT(name) ACCESS_ROW(name, REPLAY_START),
#define START(name)    ACCESS_ROW(name, REPLAY_START),
#define SPLIT_AT(name) ACCESS_ROW(name##_begin, REPLAY_BEGIN), ACCESS_ROW(name##_end, REPLAY_END),
#define SPLIT(name)    ACCESS_ROW(name##_begin, REPLAY_BEGIN), ACCESS_ROW(name##_end, REPLAY_END),
#include "bench/replay/replay_operation.def"
    NUMBER_ROW(sync, false, false),
    NUMBER_ROW(set_size, true, true),
    NUMBER_ROW(preallocate, true, false),
    NUMBER_ROW(set_atomicity, true, false),
    NUMBER_ROW(seek_shared, true, true),
    {.name = "open", .kind = REPLAY_OPEN, .meets = true, .needs_file = true},
    {.name = "close", .kind = REPLAY_CLOSE, .meets = true, .needs_file = true},
    {.name = "delete", .kind = REPLAY_DELETE},
    {.name = "set_view", .kind = REPLAY_SET_VIEW, .meets = true, .needs_file = true},
    {.name = "set_info", .kind = REPLAY_SET_INFO, .meets = true, .needs_file = true},
    WAIT_ROW("MPI_Wait", operation_wait_one),
    WAIT_ROW("MPI_Test", operation_wait_test),
    WAIT_ROW("MPI_Waitany", operation_wait_any),
    WAIT_ROW("MPI_Testany", operation_wait_testany),
    WAIT_ROW("MPI_Waitsome", operation_wait_some),
    WAIT_ROW("MPI_Testsome", operation_wait_testsome),
    GATHER_ROW("MPI_Waitall", operation_wait_all),
    GATHER_ROW("MPI_Testall", operation_wait_testall),
};

const struct replay_operation *replay_operation_find(const char *name)
{
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof OPERATIONS[0]; i++)
        if (strcmp(OPERATIONS[i].name, name) == 0)
            return &OPERATIONS[i];
    return NULL;
}

bool replay_operation_is_collective(const struct replay_operation *operation)
{
    if (operation->kind > REPLAY_END)
        return operation->meets;
    return strstr(operation->name, "_all") || strstr(operation->name, "_ordered");
}
