/* Wrong arguments on one rank of a collective call: engine_develop_arguments FILE HINTS. Called by
 * engine_develop_arguments.sh, which has set PIOLET_DEVELOP=1. The last rank makes the mistake; all must hear of it in
 * that call, or where they wait for it, and be able to go on. */
#include "engine_check.c"

enum { BYTES = 1000 };
enum mistake { COUNT, TYPE, BUFFER, OFFSET, HANDLE, MISTAKES };

static const char *const MISTAKES_NAMED[] = {"count", "type", "buffer", "offset", "handle"};
static const int CLASSES[] = {MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_BUFFER, MPI_ERR_ARG, MPI_ERR_FILE};

static char buffer[BYTES];

struct arguments {
    MPI_File file;
    MPI_Offset offset;
    void *buffer;
    int count;
    MPI_Datatype type;
};

#define WAITED(call)                                                                                                   \
    {                                                                                                                  \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        const int code = call;                                                                                         \
        return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;                                     \
    }
#define SPLIT(begin, end)                                                                                              \
    {                                                                                                                  \
        const int code = begin;                                                                                        \
        return code == MPI_SUCCESS ? end : code;                                                                       \
    }

static int write_all(const struct arguments *a)
{
    return MPI_File_write_all(a->file, a->buffer, a->count, a->type, MPI_STATUS_IGNORE);
}
static int read_all(const struct arguments *a)
{
    return MPI_File_read_all(a->file, a->buffer, a->count, a->type, MPI_STATUS_IGNORE);
}
static int write_at_all(const struct arguments *a)
{
    return MPI_File_write_at_all(a->file, a->offset, a->buffer, a->count, a->type, MPI_STATUS_IGNORE);
}
static int read_at_all(const struct arguments *a)
{
    return MPI_File_read_at_all(a->file, a->offset, a->buffer, a->count, a->type, MPI_STATUS_IGNORE);
}
static int write_ordered(const struct arguments *a)
{
    return MPI_File_write_ordered(a->file, a->buffer, a->count, a->type, MPI_STATUS_IGNORE);
}
static int read_ordered(const struct arguments *a)
{
    return MPI_File_read_ordered(a->file, a->buffer, a->count, a->type, MPI_STATUS_IGNORE);
}
static int iwrite_all(const struct arguments *a)
{
    WAITED(MPI_File_iwrite_all(a->file, a->buffer, a->count, a->type, &request))
}
static int iread_all(const struct arguments *a)
{
    WAITED(MPI_File_iread_all(a->file, a->buffer, a->count, a->type, &request))
}
static int iwrite_at_all(const struct arguments *a)
{
    WAITED(MPI_File_iwrite_at_all(a->file, a->offset, a->buffer, a->count, a->type, &request))
}
static int iread_at_all(const struct arguments *a)
{
    WAITED(MPI_File_iread_at_all(a->file, a->offset, a->buffer, a->count, a->type, &request))
}
static int write_all_split(const struct arguments *a)
{
    SPLIT(MPI_File_write_all_begin(a->file, a->buffer, a->count, a->type),
          MPI_File_write_all_end(a->file, a->buffer, MPI_STATUS_IGNORE))
}
static int read_all_split(const struct arguments *a)
{
    SPLIT(MPI_File_read_all_begin(a->file, a->buffer, a->count, a->type),
          MPI_File_read_all_end(a->file, a->buffer, MPI_STATUS_IGNORE))
}
static int write_at_all_split(const struct arguments *a)
{
    SPLIT(MPI_File_write_at_all_begin(a->file, a->offset, a->buffer, a->count, a->type),
          MPI_File_write_at_all_end(a->file, a->buffer, MPI_STATUS_IGNORE))
}
static int read_at_all_split(const struct arguments *a)
{
    SPLIT(MPI_File_read_at_all_begin(a->file, a->offset, a->buffer, a->count, a->type),
          MPI_File_read_at_all_end(a->file, a->buffer, MPI_STATUS_IGNORE))
}
static int write_ordered_split(const struct arguments *a)
{
    SPLIT(MPI_File_write_ordered_begin(a->file, a->buffer, a->count, a->type),
          MPI_File_write_ordered_end(a->file, a->buffer, MPI_STATUS_IGNORE))
}
static int read_ordered_split(const struct arguments *a)
{
    SPLIT(MPI_File_read_ordered_begin(a->file, a->buffer, a->count, a->type),
          MPI_File_read_ordered_end(a->file, a->buffer, MPI_STATUS_IGNORE))
}
static int set_size(const struct arguments *a)
{
    return MPI_File_set_size(a->file, a->offset);
}
static int preallocate(const struct arguments *a)
{
    return MPI_File_preallocate(a->file, a->offset);
}
static int set_view_type(const struct arguments *a)
{
    return MPI_File_set_view(a->file, 0, a->type, a->type, "native", MPI_INFO_NULL);
}
static int set_view_offset(const struct arguments *a)
{
    return MPI_File_set_view(a->file, a->offset, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}
static int sync_file(const struct arguments *a)
{
    return MPI_File_sync(a->file);
}
static int set_info(const struct arguments *a)
{
    return MPI_File_set_info(a->file, MPI_INFO_NULL);
}
static int set_atomicity(const struct arguments *a)
{
    return MPI_File_set_atomicity(a->file, 0);
}
static int seek_shared(const struct arguments *a)
{
    return MPI_File_seek_shared(a->file, 0, MPI_SEEK_SET);
}
static int close_file(const struct arguments *a)
{
    MPI_File file = a->file;
    return MPI_File_close(&file);
}

/* `mistakes`: bits of enum mistake that the call can be made with. */
#define DATA ((1 << COUNT) | (1 << TYPE) | (1 << BUFFER) | (1 << HANDLE))
#define AT   (DATA | (1 << OFFSET))
static const struct {
    const char *name;
    int (*call)(const struct arguments *arguments);
    int mistakes;
} CALLS[] = {
    {"write_all", write_all, DATA},
    {"read_all", read_all, DATA},
    {"write_at_all", write_at_all, AT},
    {"read_at_all", read_at_all, AT},
    {"write_ordered", write_ordered, DATA},
    {"read_ordered", read_ordered, DATA},
    {"iwrite_all", iwrite_all, DATA},
    {"iread_all", iread_all, DATA},
    {"iwrite_at_all", iwrite_at_all, AT},
    {"iread_at_all", iread_at_all, AT},
    {"write_all_begin", write_all_split, DATA},
    {"read_all_begin", read_all_split, DATA},
    {"write_at_all_begin", write_at_all_split, AT},
    {"read_at_all_begin", read_at_all_split, AT},
    {"write_ordered_begin", write_ordered_split, DATA},
    {"read_ordered_begin", read_ordered_split, DATA},
    {"set_size", set_size, 1 << OFFSET | 1 << HANDLE},
    {"preallocate", preallocate, 1 << OFFSET | 1 << HANDLE},
    {"set_view (type)", set_view_type, 1 << TYPE | 1 << HANDLE},
    {"set_view (displacement)", set_view_offset, 1 << OFFSET},
    {"sync", sync_file, 1 << HANDLE},
    {"set_info", set_info, 1 << HANDLE},
    {"set_atomicity", set_atomicity, 1 << HANDLE},
    {"seek_shared", seek_shared, 1 << HANDLE},
    {"close", close_file, 1 << HANDLE},
};

static void try_mistake(MPI_File file, size_t index, enum mistake mistake)
{
    char what[100];
    const bool wrong = rank == ranks - 1;
    struct arguments a = {file, 64, buffer, BYTES, MPI_BYTE};
    snprintf(what, sizeof what, "%s, wrong %s", CALLS[index].name, MISTAKES_NAMED[mistake]);
    if (wrong && mistake == COUNT)
        a.count = -5;
    if (wrong && mistake == TYPE)
        a.type = MPI_DATATYPE_NULL;
    if (wrong && mistake == BUFFER)
        a.buffer = NULL;
    if (wrong && mistake == OFFSET)
        a.offset = -7;
    if (wrong && mistake == HANDLE)
        a.file = MPI_FILE_NULL;
    const int code = CALLS[index].call(&a);
    fails_as(what, code, CLASSES[mistake]);
    if (!wrong)
        has_words(code, "another task failed");
    MPI_Barrier(MPI_COMM_WORLD); /* so that a late one is not taken for the next */
}

/* The whole call goes well after each mistake. */
static void try_right(MPI_File file)
{
    fine("write_at_all",
         MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("sync", MPI_File_sync(file));
}

/* Wrong modes: of one rank alone they cannot be, of all they are the same. */
static void try_modes(const char *path, const char *hints)
{
    MPI_File file = open_with(path, MPI_MODE_RDONLY, hints);
    fails_as("write_all, read only", MPI_File_write_all(file, buffer, 1, MPI_BYTE, MPI_STATUS_IGNORE),
             MPI_ERR_READ_ONLY);
    fine("close", MPI_File_close(&file));
    const int code = MPI_File_open(
        MPI_COMM_WORLD, path, rank == 0 ? MPI_MODE_RDONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    fails_as("open, wrong mode on rank 0", code, MPI_ERR_AMODE);
    fails_as("open, no name on rank 0",
             MPI_File_open(MPI_COMM_WORLD, rank == 0 ? "" : path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
             MPI_ERR_BAD_FILE);
}

/* A second begin on the last rank, where the others begin their first; and no place for a request. */
static void try_split_twice(MPI_File file)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_File_iwrite_at_all(file, 0, buffer, 10, MPI_BYTE, rank == ranks - 1 ? NULL : &request);
    if (rank != ranks - 1) {
        fine("iwrite_at_all", code);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    fails_as("iwrite_at_all without a place for the request", code, MPI_ERR_ARG);
    fine("first begin", MPI_File_write_at_all_begin(file, 0, buffer, 10, MPI_BYTE));
    if (rank != ranks - 1)
        fine("first end", MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE));
    code = MPI_File_write_at_all_begin(file, 0, buffer, 10, MPI_BYTE);
    if (rank != ranks - 1) {
        fine("second begin", code);
        code = MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE);
    } else {
        fine("end", MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE));
    }
    fails_as("second begin", code, MPI_ERR_IO);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File other = open_with(argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, argv[2]); /* not the one that is meant */
    MPI_File file = open_with(argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, argv[2]);
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
        for (int mistake = 0; mistake < MISTAKES; mistake++)
            if (CALLS[i].mistakes & (1 << mistake)) {
                try_mistake(file, i, (enum mistake)mistake);
                try_right(file);
            }
    try_split_twice(file);
    try_right(file);
    fine("close", MPI_File_close(&file));
    fine("close", MPI_File_close(&other));
    try_modes(argv[1], argv[2]);
    return check_end("every mistake");
}
