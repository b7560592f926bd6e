/* Writes down the calls that b_eff_io makes on its files, for tests/mpi/beffio_calls.sh: a library that is preloaded
 * before MPI. Each rank writes $BEFFIO_CALLS.RANK, a line a call, with the bytes of the file that it touches as the MPI
 * standard defines them: first byte, bytes of a piece, pieces, bytes from a piece to the next. It knows views of etypes
 * of 8 bytes whose filetype is one run of bytes, which is all that b_eff_io has; anything else ends the program. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 64, ETYPE = 8 };

static struct opened {
    MPI_File handle;
    MPI_Comm comm;
    const char *kind;
    int64_t displacement, run, extent; /* of the view */
    int64_t own, shared;               /* pointers, in bytes of the view */
} files[FILES];
static FILE *lines;

static void give_up(const char *why)
{
    fprintf(stderr, "beffio_calls: %s\n", why);
    abort();
}

static void ready(void)
{
    char name[4096];
    const char *base = getenv("BEFFIO_CALLS");
    int rank;
    if (lines)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", base ? base : "calls", rank);
    lines = fopen(name, "w");
    if (!lines)
        give_up("its file cannot be written");
}

static struct opened *find(MPI_File handle)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].kind && files[i].handle == handle)
            return &files[i];
    return NULL; /* a file of the laboratory's, which looks at the MPI-IO in force */
}

static int64_t place_of(const struct opened *file, int64_t position)
{
    return file->displacement + position / file->run * file->extent + position % file->run;
}

static void note(const char *call, const struct opened *file, int64_t position, int64_t bytes)
{
    const int64_t first = place_of(file, position);
    if (file->run == file->extent || position % file->run + bytes <= file->run)
        fprintf(lines, "%s %lld %lld 1 0\n", call, (long long)first, (long long)bytes);
    else if (position % file->run == 0 && bytes % file->run == 0)
        fprintf(lines, "%s %lld %lld %lld %lld\n", call, (long long)first, (long long)file->run,
                (long long)(bytes / file->run), (long long)file->extent);
    else
        give_up("a call that is not made of whole pieces");
}

static int64_t bytes_of(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return (int64_t)count * size;
}

/* An access at the rank's own pointer. */
static void note_own(const char *call, MPI_File handle, int count, MPI_Datatype type)
{
    struct opened *file = find(handle);
    if (!file)
        return;
    note(call, file, file->own, bytes_of(count, type));
    file->own += bytes_of(count, type);
}

/* An access at the shared pointer, in the order of the ranks. */
static void note_ordered(const char *call, MPI_File handle, int count, MPI_Datatype type)
{
    struct opened *file = find(handle);
    int64_t mine = bytes_of(count, type), before = 0, all = 0;
    int rank;
    if (!file)
        return;
    PMPI_Comm_rank(file->comm, &rank);
    PMPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, file->comm);
    PMPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, file->comm);
    note(call, file, file->shared + (rank ? before : 0), mine);
    file->shared += all;
}

int MPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *handle)
{
    const char *own = strstr(name, "/piolet-beffio-"), *type = own ? strstr(own + 9, "-t") : NULL;
    const int code = PMPI_File_open(comm, name, amode, info, handle);
    int i = 0;
    if (!type)
        return code;
    ready();
    while (i < FILES && files[i].kind)
        i++;
    if (code != MPI_SUCCESS || i == FILES)
        give_up("a file cannot be opened");
    files[i] = (struct opened){.handle = *handle, .comm = comm, .run = ETYPE, .extent = ETYPE};
    files[i].kind = amode & MPI_MODE_CREATE ? "write" : amode & MPI_MODE_RDWR ? "rewrite" : "read";
    fprintf(lines, "open %c %s%s%s%s\n", type[2], files[i].kind, comm == MPI_COMM_SELF ? " self" : "",
            amode & MPI_MODE_DELETE_ON_CLOSE ? " delete" : "", amode & MPI_MODE_UNIQUE_OPEN ? " unique" : "");
    return code;
}

int MPI_File_close(MPI_File *handle)
{
    struct opened *file = find(*handle);
    if (file) {
        fprintf(lines, "close\n");
        fflush(lines);
        file->kind = NULL;
    }
    return PMPI_File_close(handle);
}

int MPI_File_delete(const char *name, MPI_Info info)
{
    if (strstr(name, "/piolet-beffio-")) {
        ready();
        fprintf(lines, "delete\n");
        fflush(lines);
    }
    return PMPI_File_delete(name, info);
}

int MPI_File_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      const char *datarep, MPI_Info info)
{
    struct opened *file = find(handle);
    MPI_Aint lower, extent;
    if (!file)
        return PMPI_File_set_view(handle, displacement, etype, filetype, datarep, info);
    PMPI_Type_get_extent(filetype, &lower, &extent);
    if (bytes_of(1, etype) != ETYPE || lower != 0)
        give_up("a view that it does not know");
    file->displacement = displacement;
    file->run = bytes_of(1, filetype);
    file->extent = extent;
    file->own = file->shared = 0;
    return PMPI_File_set_view(handle, displacement, etype, filetype, datarep, info);
}

int MPI_File_seek(MPI_File handle, MPI_Offset offset, int whence)
{
    struct opened *file = find(handle);
    if (file && whence != MPI_SEEK_SET)
        give_up("a seek that it does not know");
    if (file)
        file->own = offset * ETYPE;
    return PMPI_File_seek(handle, offset, whence);
}

int MPI_File_seek_shared(MPI_File handle, MPI_Offset offset, int whence)
{
    struct opened *file = find(handle);
    if (file && whence != MPI_SEEK_SET)
        give_up("a seek that it does not know");
    if (file)
        file->shared = offset * ETYPE;
    return PMPI_File_seek_shared(handle, offset, whence);
}

int MPI_File_sync(MPI_File handle)
{
    if (find(handle))
        fprintf(lines, "sync\n");
    return PMPI_File_sync(handle);
}

#define ACCESS(name, constness, noted)                                                                                 \
    int MPI_File_##name(MPI_File handle, constness void *data, int count, MPI_Datatype type, MPI_Status *status)       \
    {                                                                                                                  \
        noted(#name, handle, count, type);                                                                             \
        return PMPI_File_##name(handle, data, count, type, status);                                                    \
    }
ACCESS(write, const, note_own)
ACCESS(write_all, const, note_own)
ACCESS(write_ordered, const, note_ordered)
ACCESS(read, , note_own)
ACCESS(read_all, , note_own)
ACCESS(read_ordered, , note_ordered)

int MPI_Barrier(MPI_Comm comm)
{
    if (lines)
        fprintf(lines, "barrier\n");
    return PMPI_Barrier(comm);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (lines)
        fprintf(lines, "bcast\n");
    return PMPI_Bcast(data, count, type, root, comm);
}
