/* Calls on another file than the one whose write is pending. */
#include "engine_progress.h"

#include <stdio.h>

static MPI_File other;
static char name[4096];
static char bytes[64];

static void name_other(void)
{
    snprintf(name, sizeof name, "%s.other", path);
}

/* With a strategy by which ranks meet in every collective access. */
static void open_other(void)
{
    MPI_Info info;
    name_other();
    MPI_Info_create(&info);
    MPI_Info_set(info, "piolet_strategy", "twophase");
    if (MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &other) != MPI_SUCCESS)
        fail_row("%s cannot be opened", name);
    MPI_Info_free(&info);
    MPI_File_set_size(other, sizeof bytes * 16);
}

static void close_other(void)
{
    MPI_File_close(&other);
    if (rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
}

/* ---- all ranks ---- */

#define TOGETHER(function, ...)                                                                                        \
    static void row_##function(void)                                                                                   \
    {                                                                                                                  \
        if (MPI_File_##function(__VA_ARGS__) != MPI_SUCCESS)                                                           \
            fail_row("it fails");                                                                                      \
    }
#define SPLIT(function, ...)                                                                                           \
    static void row_##function##_end(void)                                                                             \
    {                                                                                                                  \
        MPI_File_##function##_begin(__VA_ARGS__);                                                                      \
        if (MPI_File_##function##_end(other, bytes, MPI_STATUS_IGNORE) != MPI_SUCCESS)                                 \
            fail_row("it fails");                                                                                      \
    }
#define AT    other, rank * 8, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE
#define PLAIN other, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE

TOGETHER(open, world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &other)
TOGETHER(close, &other)
TOGETHER(set_view, other, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)
TOGETHER(set_size, other, 100)
TOGETHER(preallocate, other, 100)
TOGETHER(sync, other)
TOGETHER(set_info, other, MPI_INFO_NULL)
TOGETHER(set_atomicity, other, 1)
TOGETHER(seek_shared, other, 0, MPI_SEEK_SET)
TOGETHER(read_at_all, AT)
TOGETHER(write_at_all, AT)
TOGETHER(read_all, PLAIN)
TOGETHER(write_all, PLAIN)
TOGETHER(read_ordered, PLAIN)
TOGETHER(write_ordered, PLAIN)
SPLIT(read_at_all, other, rank * 8, bytes, 8, MPI_BYTE)
SPLIT(write_at_all, other, rank * 8, bytes, 8, MPI_BYTE)
SPLIT(read_all, other, bytes, 8, MPI_BYTE)
SPLIT(write_all, other, bytes, 8, MPI_BYTE)
SPLIT(read_ordered, other, bytes, 8, MPI_BYTE)
SPLIT(write_ordered, other, bytes, 8, MPI_BYTE)
#ifdef MPICH_NUMVERSION
TOGETHER(read_at_all_c, AT)
TOGETHER(write_at_all_c, AT)
TOGETHER(read_all_c, PLAIN)
TOGETHER(write_all_c, PLAIN)
TOGETHER(read_ordered_c, PLAIN)
TOGETHER(write_ordered_c, PLAIN)
#endif

static void delete_other(void)
{
    if (rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
}

/* ---- one rank, until another has done something ---- */

#define POLLED(function, ...)                                                                                          \
    static void row_##function(void)                                                                                   \
    {                                                                                                                  \
        while (atomic_load(&board->released) == 0)                                                                     \
            MPI_File_##function(__VA_ARGS__);                                                                          \
    }
static MPI_Offset offset;

POLLED(read_at, other, 0, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE)
POLLED(read, PLAIN)
POLLED(read_shared, PLAIN)
POLLED(write_at, AT)
POLLED(write, PLAIN)
POLLED(write_shared, PLAIN)
POLLED(get_size, other, &offset)
POLLED(get_position_shared, other, &offset)
POLLED(delete, "/nowhere/at/all", MPI_INFO_NULL)
#ifdef MPICH_NUMVERSION
POLLED(read_at_c, other, 0, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE)
POLLED(read_c, PLAIN)
POLLED(read_shared_c, PLAIN)
POLLED(write_at_c, AT)
POLLED(write_c, PLAIN)
POLLED(write_shared_c, PLAIN)
#endif

static void nothing(void)
{
}

#define ROW_TOGETHER(name)                                                                                             \
    {                                                                                                                  \
        "File_" #name, open_other, row_##name, row_##name, close_other, false                                          \
    }
#define ROW_POLLED(name)                                                                                               \
    {                                                                                                                  \
        "File_" #name, open_other, row_##name, nothing, close_other, false                                             \
    }

const struct row ROWS_FILE[] = {
    {"File_open", name_other, row_open, row_open, close_other, false},
    {"File_close", open_other, row_close, row_close, delete_other, false},
    ROW_TOGETHER(set_view),
    ROW_TOGETHER(set_size),
    ROW_TOGETHER(preallocate),
    ROW_TOGETHER(sync),
    ROW_TOGETHER(set_info),
    ROW_TOGETHER(set_atomicity),
    ROW_TOGETHER(seek_shared),
    ROW_TOGETHER(read_at_all),
    ROW_TOGETHER(write_at_all),
    ROW_TOGETHER(read_all),
    ROW_TOGETHER(write_all),
    ROW_TOGETHER(read_ordered),
    ROW_TOGETHER(write_ordered),
    ROW_TOGETHER(read_at_all_end),
    ROW_TOGETHER(write_at_all_end),
    ROW_TOGETHER(read_all_end),
    ROW_TOGETHER(write_all_end),
    ROW_TOGETHER(read_ordered_end),
    ROW_TOGETHER(write_ordered_end),
    ROW_POLLED(read_at),
    ROW_POLLED(read),
    ROW_POLLED(read_shared),
    ROW_POLLED(write_at),
    ROW_POLLED(write),
    ROW_POLLED(write_shared),
    ROW_POLLED(get_size),
    ROW_POLLED(get_position_shared),
    ROW_POLLED(delete),
#ifdef MPICH_NUMVERSION
    ROW_TOGETHER(read_at_all_c),
    ROW_TOGETHER(write_at_all_c),
    ROW_TOGETHER(read_all_c),
    ROW_TOGETHER(write_all_c),
    ROW_TOGETHER(read_ordered_c),
    ROW_TOGETHER(write_ordered_c),
    ROW_POLLED(read_at_c),
    ROW_POLLED(read_c),
    ROW_POLLED(read_shared_c),
    ROW_POLLED(write_at_c),
    ROW_POLLED(write_c),
    ROW_POLLED(write_shared_c),
#endif
    {.name = NULL},
};
