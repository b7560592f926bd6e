/* --large: requests of more than 2^31 bytes. Nothing random: each rank writes 2 GiB and a bit through a view of cyclic
 * blocks, collectively and by itself, and reads them back. Needs that much memory for each rank, and space for all. */
#include "engine_fuzz_large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

struct large {
    MPI_File file;
    MPI_Datatype element; /* 8 bytes: the count fits an int, the bytes do not */
    int64_t count;
    uint64_t *memory;
};

static void check(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    complain("%s failed: %s", call, text);
}

static void check_count(const struct large *large, const MPI_Status *status)
{
    int count = -7;
    MPI_Get_count(status, large->element, &count);
    if (count != large->count)
        complain("MPI_Get_count says %d in the place of %lld", count, (long long)large->count);
}

static void fill(struct large *large, uint64_t id)
{
    for (int64_t i = 0; i < large->count; i++)
        large->memory[i] = mix(id + (uint64_t)fuzz.rank, (uint64_t)i);
}

static void compare(const struct large *large, uint64_t id)
{
    int64_t wrong = 0, first = -1;
    for (int64_t i = large->count - 1; i >= 0; i--) {
        if (large->memory[i] == mix(id + (uint64_t)fuzz.rank, (uint64_t)i))
            continue;
        wrong++;
        first = i;
    }
    if (wrong)
        complain("%lld numbers of %lld are wrong, the first is number %lld", (long long)wrong, (long long)large->count,
                 (long long)first);
}

static void set_view(struct large *large)
{
    MPI_Datatype block, view;
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)BLOCK * fuzz.procs, &view);
    MPI_Type_commit(&view);
    check(MPI_File_set_view(large->file, (MPI_Offset)BLOCK * fuzz.rank, MPI_BYTE, view, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
    MPI_Type_free(&block);
    MPI_Type_free(&view);
}

static void round_trip(struct large *large, bool is_collective)
{
    const uint64_t id = is_collective ? 1000 : 2000;
    const int count = (int)large->count;
    MPI_Status status;
    doing("%s of %lld × 8 bytes", is_collective ? "write_at_all and read_at_all" : "write_at and read_at",
          (long long)large->count);
    fill(large, id);
    check((is_collective ? MPI_File_write_at_all : MPI_File_write_at)(large->file, 0, large->memory, count,
                                                                      large->element, &status),
          "writing");
    check_count(large, &status);
    memset(large->memory, 0, (size_t)large->count * sizeof *large->memory);
    check(MPI_File_sync(large->file), "MPI_File_sync");
    check((is_collective ? MPI_File_read_at_all : MPI_File_read_at)(large->file, 0, large->memory, count,
                                                                    large->element, &status),
          "reading");
    check_count(large, &status);
    compare(large, id);
}

int large_run_coll(void)
{
    struct large large = {.count = (INT64_C(1) << 28) + 1025};
    MPI_Offset size = -1;
    int failures = 0;
    large.memory = allocate((size_t)large.count * sizeof *large.memory);
    MPI_Type_contiguous(8, MPI_BYTE, &large.element);
    MPI_Type_commit(&large.element);
    check(MPI_File_open(MPI_COMM_WORLD, fuzz.path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &large.file),
          "MPI_File_open");
    set_view(&large);
    round_trip(&large, true);
    round_trip(&large, false);
    MPI_Barrier(MPI_COMM_WORLD);
    check(MPI_File_get_size(large.file, &size), "MPI_File_get_size");
    const int64_t bytes = large.count * 8, blocks = bytes / BLOCK; /* the last rank's last block is not a whole one */
    const int64_t wanted = (blocks * fuzz.procs + fuzz.procs - 1) * BLOCK + bytes % BLOCK;
    if (size != wanted)
        complain("the file has %lld bytes in the place of %lld", (long long)size, (long long)wanted);
    check(MPI_File_close(&large.file), "MPI_File_close");
    MPI_Type_free(&large.element);
    free(large.memory);
    MPI_Allreduce(&fuzz.failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (fuzz.rank == 0 && failures == 0 && !fuzz.quiet)
        printf("requests of %lld bytes on %d ranks are right\n", (long long)bytes, fuzz.procs);
    return failures != 0;
}
