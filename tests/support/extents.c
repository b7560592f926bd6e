/* libextents.so: which bytes of which file each rank accesses, told by the MPI alone. Preloaded into a program, or into
 * a replay of its model, it writes one line for each read and write that succeeds to $EXTENTS_DIR/extents.RANK, in the
 * order of the calls:
 *
 *     OPERATION FILE BYTES EXTENTS DONE        write_at_all a.dat 300 0+100,400+200 300
 *
 * Nothing of piolet is in here: the individual pointer is asked for, and a filetype is laid out by having the MPI
 * unpack numbered bytes through it, so that an error in our constructors, flattening, tracer or model has no twin in
 * here. EXTENTS is "-" where nobody but the MPI-IO knows the place (shared pointer, but for ordered accesses), and
 * where there are no bytes. DONE is "-" where the call does not wait. */
#include <mpi.h>

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 4096, EXTENT_MAX = 1 << 28 };

enum pointer { EXPLICIT, INDIVIDUAL, SHARED, ORDERED };

struct run {                      /* of bytes of the filetype that follow each other */
    int64_t place, bytes, before; /* bytes of the runs before it */
};

static struct file {
    bool is_open, is_native;
    MPI_File handle;
    MPI_Comm comm;
    char name[256];
    int64_t disp, etype_bytes, size, extent; /* of the view; size and extent of its filetype */
    struct run *runs;
    int64_t run_count;
} files[FILES_MAX];

static FILE *stream;
static __thread int depth; /* calls that an MPI makes inside of its functions are not the program's */

static void extents_give_up(const char *why)
{
    fprintf(stderr, "libextents.so: %s\n", why);
    abort();
}

static void *extents_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        extents_give_up(name);
    return found;
}

static void *extents_memory(int64_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? (size_t)bytes : 1);
    if (!memory)
        extents_give_up("no memory");
    return memory;
}

/* ---- views ---- */

/* Which byte of the packed stream comes to each byte of the filetype, -1: none. Four passes, a digit each; the fifth
 * tells which bytes are touched at all. */
static int64_t *extents_unpack(MPI_Datatype filetype, int64_t size, int64_t lower, int64_t span)
{
    unsigned char *packed = extents_memory(size), *memory = extents_memory(span);
    int64_t *index = extents_memory(span * (int64_t)sizeof *index);
    for (int pass = 0; pass < 5; pass++) {
        int position = 0;
        for (int64_t i = 0; i < size; i++)
            packed[i] = pass == 4 ? 1 : (unsigned char)(i >> (8 * pass));
        memset(memory, 0, (size_t)span);
        if (PMPI_Unpack(packed, (int)size, &position, memory - lower, 1, filetype, MPI_COMM_SELF) != MPI_SUCCESS ||
            position != size)
            extents_give_up("a filetype cannot be unpacked");
        for (int64_t i = 0; i < span; i++)
            if (pass == 4)
                index[i] = memory[i] ? index[i] : -1;
            else
                index[i] |= (int64_t)memory[i] << (8 * pass);
    }
    free(packed);
    free(memory);
    return index;
}

static void extents_lay_out(struct file *file, MPI_Datatype filetype)
{
    MPI_Count size, lower, extent, true_lower, span;
    PMPI_Type_size_x(filetype, &size);
    PMPI_Type_get_extent_x(filetype, &lower, &extent);
    PMPI_Type_get_true_extent_x(filetype, &true_lower, &span);
    free(file->runs);
    file->runs = NULL;
    file->run_count = 0;
    file->size = size;
    file->extent = extent;
    if (size == 0)
        return;
    if (span == size) { /* in one piece */
        file->runs = extents_memory(sizeof *file->runs);
        file->runs[file->run_count++] = (struct run){true_lower, size, 0};
        return;
    }
    if (span > EXTENT_MAX)
        extents_give_up("a filetype reaches too far");
    int64_t *index = extents_unpack(filetype, size, true_lower, span);
    int64_t *place = extents_memory(size * (int64_t)sizeof *place);
    for (int64_t i = 0; i < span; i++)
        if (index[i] >= 0)
            place[index[i]] = true_lower + i;
    free(index);
    for (int64_t i = 0; i < size; i++)
        file->run_count += i == 0 || place[i] != place[i - 1] + 1;
    file->runs = extents_memory(file->run_count * (int64_t)sizeof *file->runs);
    struct run *last = file->runs - 1;
    for (int64_t i = 0; i < size; i++) {
        if (i == 0 || place[i] != place[i - 1] + 1)
            *++last = (struct run){place[i], 0, i};
        last->bytes++;
    }
    free(place);
}

static struct file *extents_find(MPI_File handle)
{
    for (int i = 0; i < FILES_MAX; i++)
        if (files[i].is_open && files[i].handle == handle)
            return &files[i];
    return NULL;
}

/* ---- lines ---- */

struct line {
    struct file *file;
    const char *operation;
    int64_t bytes;
    char *extents;
    size_t length, room;
};

static void extents_print(struct line *line, int64_t from, int64_t bytes)
{
    if (line->room - line->length < 64) {
        line->room = 2 * line->room + 256;
        line->extents = realloc(line->extents, line->room);
        if (!line->extents)
            extents_give_up("no memory");
    }
    line->length += (size_t)snprintf(line->extents + line->length, line->room - line->length, "%s%lld+%lld",
                                     line->length ? "," : "", (long long)from, (long long)bytes);
}

/* `bytes` of the view from byte `from` of its data on; pieces that touch are one. */
static void extents_walk(struct line *line, int64_t from, int64_t bytes)
{
    const struct file *file = line->file;
    int64_t open_at = 0, open_bytes = 0;
    if (file->size == 0)
        return;
    int64_t tile = from / file->size, within = from % file->size, low = 0, high = file->run_count - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (file->runs[middle].before <= within)
            low = middle;
        else
            high = middle - 1;
    }
    within -= file->runs[low].before;
    while (bytes > 0) {
        const struct run *run = &file->runs[low];
        const int64_t at = file->disp + tile * file->extent + run->place + within;
        const int64_t piece = run->bytes - within < bytes ? run->bytes - within : bytes;
        if (open_bytes > 0 && open_at + open_bytes == at) {
            open_bytes += piece;
        } else {
            if (open_bytes > 0)
                extents_print(line, open_at, open_bytes);
            open_at = at;
            open_bytes = piece;
        }
        bytes -= piece;
        within = 0;
        if (++low == file->run_count) {
            low = 0;
            tile++;
        }
    }
    if (open_bytes > 0)
        extents_print(line, open_at, open_bytes);
}

/* Before the call: where it goes. -1 where that is not known. */
static int64_t extents_where(const struct line *line, enum pointer pointer, int64_t offset)
{
    MPI_Offset at = offset;
    const struct file *file = line->file;
    if (pointer == INDIVIDUAL && PMPI_File_get_position(file->handle, &at) != MPI_SUCCESS)
        return -1;
    if (pointer == SHARED)
        return -1;
    if (pointer == ORDERED) { /* the ranks stand one behind the other, each in its own view */
        long long mine = file->etype_bytes > 0 ? line->bytes / file->etype_bytes : 0, before = 0;
        int rank;
        PMPI_Comm_rank(file->comm, &rank);
        PMPI_Exscan(&mine, &before, 1, MPI_LONG_LONG, MPI_SUM, file->comm);
        if (PMPI_File_get_position_shared(file->handle, &at) != MPI_SUCCESS)
            at = -1;
        PMPI_Barrier(file->comm); /* nobody has moved it */
        return at < 0 ? -1 : (at + (rank > 0 ? before : 0)) * file->etype_bytes;
    }
    return at < 0 ? -1 : at * file->etype_bytes;
}

static void extents_before(struct line *line, MPI_File handle, enum pointer pointer, int64_t offset, int64_t count,
                           MPI_Datatype type)
{
    MPI_Count size = 0;
    line->file = type == MPI_DATATYPE_NULL || count < 0 ? NULL : extents_find(handle); /* a call that will be refused */
    if (!line->file || PMPI_Type_size_x(type, &size) != MPI_SUCCESS)
        return;
    line->bytes = count * size;
    const int64_t from = extents_where(line, pointer, offset);
    if (from >= 0 && line->file->is_native)
        extents_walk(line, from, line->bytes);
}

static void extents_after(struct line *line, int code, const MPI_Status *status)
{
    if (!stream) {
        char path[4096];
        int rank;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(path, sizeof path, "%s/extents.%d", getenv("EXTENTS_DIR") ? getenv("EXTENTS_DIR") : ".", rank);
        stream = fopen(path, "a");
        if (!stream)
            extents_give_up(path);
    }
    MPI_Count done = -1;
    if (status)
        PMPI_Get_elements_x(status, MPI_BYTE, &done);
    if (line->file && code == MPI_SUCCESS) {
        fprintf(stream, "%s %s %lld %s ", line->operation, line->file->name, (long long)line->bytes,
                line->length ? line->extents : "-");
        fprintf(stream, done >= 0 ? "%lld\n" : "-\n", (long long)done);
        fflush(stream);
    }
    free(line->extents);
}

/* ---- open, view, close ---- */

static void extents_opened(MPI_Comm comm, const char *name, MPI_File handle)
{
    const char *slash = strrchr(name, '/');
    int i = 0;
    while (i < FILES_MAX && files[i].is_open)
        i++;
    if (i == FILES_MAX)
        extents_give_up("too many files");
    files[i] = (struct file){.is_open = true, .is_native = true, .handle = handle, .etype_bytes = 1};
    snprintf(files[i].name, sizeof files[i].name, "%s", slash ? slash + 1 : name);
    for (char *c = files[i].name; *c; c++)
        *c = isalnum((unsigned char)*c) || (c > files[i].name && strchr("._-", *c)) ? *c : '_';
    PMPI_Comm_dup(comm, &files[i].comm);
    extents_lay_out(&files[i], MPI_BYTE);
}

static void extents_viewed(struct file *file)
{
    MPI_Datatype etype, filetype;
    MPI_Offset disp;
    MPI_Count bytes;
    char datarep[MPI_MAX_DATAREP_STRING + 1];
    if (PMPI_File_get_view(file->handle, &disp, &etype, &filetype, datarep) != MPI_SUCCESS)
        extents_give_up("the view cannot be asked for");
    PMPI_Type_size_x(etype, &bytes);
    file->disp = disp;
    file->etype_bytes = bytes;
    file->is_native = strcmp(datarep, "native") == 0; /* else sizes in the file are others */
    extents_lay_out(file, filetype);
    MPI_Datatype *types[] = {&etype, &filetype};
    for (int i = 0; i < 2; i++) {
        int integers, addresses, inner, combiner;
        PMPI_Type_get_envelope(*types[i], &integers, &addresses, &inner, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            PMPI_Type_free(types[i]);
    }
}

static void extents_closing(MPI_File handle)
{
    struct file *file = extents_find(handle);
    if (!file)
        return;
    PMPI_Comm_free(&file->comm);
    free(file->runs);
    *file = (struct file){0};
}

#define CALL_NEXT(symbol, name, arguments)                                                                             \
    static __typeof__(&symbol) next;                                                                                   \
    if (!next)                                                                                                         \
        next = extents_next("PMPI_" #name);                                                                            \
    depth++;                                                                                                           \
    const int code = next arguments;                                                                                   \
    depth--;

#define BOTH(define, name, ...) define(MPI_##name, name, __VA_ARGS__) define(PMPI_##name, name, __VA_ARGS__)

#define DEFINE_OPEN(symbol, name, unused)                                                                              \
    int symbol(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *fh)                                \
    {                                                                                                                  \
        CALL_NEXT(symbol, name, (comm, path, amode, info, fh))                                                         \
        if (depth == 0 && code == MPI_SUCCESS)                                                                         \
            extents_opened(comm, path, *fh);                                                                           \
        return code;                                                                                                   \
    }
BOTH(DEFINE_OPEN, File_open, )

#define DEFINE_CLOSE(symbol, name, unused)                                                                             \
    int symbol(MPI_File *fh)                                                                                           \
    {                                                                                                                  \
        if (depth == 0)                                                                                                \
            extents_closing(*fh);                                                                                      \
        CALL_NEXT(symbol, name, (fh))                                                                                  \
        return code;                                                                                                   \
    }
BOTH(DEFINE_CLOSE, File_close, )

#define DEFINE_VIEW(symbol, name, unused)                                                                              \
    int symbol(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,           \
               MPI_Info info)                                                                                          \
    {                                                                                                                  \
        CALL_NEXT(symbol, name, (fh, disp, etype, filetype, datarep, info))                                            \
        if (depth == 0 && code == MPI_SUCCESS && extents_find(fh))                                                     \
            extents_viewed(extents_find(fh));                                                                          \
        return code;                                                                                                   \
    }
BOTH(DEFINE_VIEW, File_set_view, )

/* ---- accesses ---- */

/* `last`: the last parameter, and what of it tells how much was done. */
#define DEFINE_ACCESS(symbol, name, text, pointer, at, parameters, arguments, status)                                  \
    int symbol parameters                                                                                              \
    {                                                                                                                  \
        struct line line = {.operation = text};                                                                        \
        if (depth == 0)                                                                                                \
            extents_before(&line, fh, pointer, at, (int64_t)count, type);                                              \
        CALL_NEXT(symbol, name, arguments)                                                                             \
        if (depth == 0)                                                                                                \
            extents_after(&line, code, status);                                                                        \
        return code;                                                                                                   \
    }

#define STATUS                                                                                                         \
    MPI_Status mine;                                                                                                   \
    MPI_Status *const status = result == MPI_STATUS_IGNORE ? &mine : result;

/* How much a blocking call has done is asked for also where the program does not want to know. */
#define DEFINE_BLOCKING(symbol, name, text, pointer, at, parameters, arguments)                                        \
    int symbol parameters                                                                                              \
    {                                                                                                                  \
        struct line line = {.operation = text};                                                                        \
        STATUS                                                                                                         \
        if (depth == 0)                                                                                                \
            extents_before(&line, fh, pointer, at, (int64_t)count, type);                                              \
        CALL_NEXT(symbol, name, arguments)                                                                             \
        if (depth == 0)                                                                                                \
            extents_after(&line, code, status);                                                                        \
        return code;                                                                                                   \
    }

#define AT_SIZED(name, text, buffer, number)                                                                           \
    BOTH(DEFINE_BLOCKING, name, text, EXPLICIT, offset,                                                                \
         (MPI_File fh, MPI_Offset offset, buffer buf, number count, MPI_Datatype type, MPI_Status * result),           \
         (fh, offset, buf, count, type, status))
#define PLAIN_SIZED(name, text, pointer, buffer, number)                                                               \
    BOTH(DEFINE_BLOCKING, name, text, pointer, -1,                                                                     \
         (MPI_File fh, buffer buf, number count, MPI_Datatype type, MPI_Status * result),                              \
         (fh, buf, count, type, status))
#define START_AT_SIZED(name, text, buffer, number)                                                                     \
    BOTH(DEFINE_ACCESS, name, text, EXPLICIT, offset,                                                                  \
         (MPI_File fh, MPI_Offset offset, buffer buf, number count, MPI_Datatype type, MPI_Request * request),         \
         (fh, offset, buf, count, type, request), NULL)
#define START_SIZED(name, text, pointer, buffer, number)                                                               \
    BOTH(DEFINE_ACCESS, name, text, pointer, -1,                                                                       \
         (MPI_File fh, buffer buf, number count, MPI_Datatype type, MPI_Request * request),                            \
         (fh, buf, count, type, request), NULL)
#define BEGIN_AT_SIZED(name, text, buffer, number)                                                                     \
    BOTH(DEFINE_ACCESS, name, text, EXPLICIT, offset,                                                                  \
         (MPI_File fh, MPI_Offset offset, buffer buf, number count, MPI_Datatype type),                                \
         (fh, offset, buf, count, type), NULL)
#define BEGIN_SIZED(name, text, pointer, buffer, number)                                                               \
    BOTH(DEFINE_ACCESS, name, text, pointer, -1, (MPI_File fh, buffer buf, number count, MPI_Datatype type),           \
         (fh, buf, count, type), NULL)

#if MPI_VERSION >= 4
#define AT(name, buffer) AT_SIZED(File_##name, #name, buffer, int) AT_SIZED(File_##name##_c, #name, buffer, MPI_Count)
#define PLAIN(name, pointer, buffer)                                                                                   \
    PLAIN_SIZED(File_##name, #name, pointer, buffer, int)                                                              \
    PLAIN_SIZED(File_##name##_c, #name, pointer, buffer, MPI_Count)
#define START_AT(name, buffer)                                                                                         \
    START_AT_SIZED(File_##name, #name, buffer, int) START_AT_SIZED(File_##name##_c, #name, buffer, MPI_Count)
#define START(name, pointer, buffer)                                                                                   \
    START_SIZED(File_##name, #name, pointer, buffer, int)                                                              \
    START_SIZED(File_##name##_c, #name, pointer, buffer, MPI_Count)
#define BEGIN_AT(name, buffer)                                                                                         \
    BEGIN_AT_SIZED(File_##name, #name, buffer, int) BEGIN_AT_SIZED(File_##name##_c, #name, buffer, MPI_Count)
#define BEGIN(name, pointer, buffer)                                                                                   \
    BEGIN_SIZED(File_##name, #name, pointer, buffer, int)                                                              \
    BEGIN_SIZED(File_##name##_c, #name, pointer, buffer, MPI_Count)
#else
#define AT(name, buffer)             AT_SIZED(File_##name, #name, buffer, int)
#define PLAIN(name, pointer, buffer) PLAIN_SIZED(File_##name, #name, pointer, buffer, int)
#define START_AT(name, buffer)       START_AT_SIZED(File_##name, #name, buffer, int)
#define START(name, pointer, buffer) START_SIZED(File_##name, #name, pointer, buffer, int)
#define BEGIN_AT(name, buffer)       BEGIN_AT_SIZED(File_##name, #name, buffer, int)
#define BEGIN(name, pointer, buffer) BEGIN_SIZED(File_##name, #name, pointer, buffer, int)
#endif

#define IN  void *
#define OUT const void *
AT(read_at, IN)
AT(read_at_all, IN)
AT(write_at, OUT)
AT(write_at_all, OUT)
PLAIN(read, INDIVIDUAL, IN)
PLAIN(read_all, INDIVIDUAL, IN)
PLAIN(write, INDIVIDUAL, OUT)
PLAIN(write_all, INDIVIDUAL, OUT)
PLAIN(read_shared, SHARED, IN)
PLAIN(write_shared, SHARED, OUT)
PLAIN(read_ordered, ORDERED, IN)
PLAIN(write_ordered, ORDERED, OUT)
START_AT(iread_at, IN)
START_AT(iread_at_all, IN)
START_AT(iwrite_at, OUT)
START_AT(iwrite_at_all, OUT)
START(iread, INDIVIDUAL, IN)
START(iread_all, INDIVIDUAL, IN)
START(iwrite, INDIVIDUAL, OUT)
START(iwrite_all, INDIVIDUAL, OUT)
START(iread_shared, SHARED, IN)
START(iwrite_shared, SHARED, OUT)
BEGIN_AT(read_at_all_begin, IN)
BEGIN_AT(write_at_all_begin, OUT)
BEGIN(read_all_begin, INDIVIDUAL, IN)
BEGIN(write_all_begin, INDIVIDUAL, OUT)
BEGIN(read_ordered_begin, ORDERED, IN)
BEGIN(write_ordered_begin, ORDERED, OUT)
