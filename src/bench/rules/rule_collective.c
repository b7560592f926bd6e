/* Collective access: any mixture of requests, and the bytes that nobody asked for. */
#include "bench/rules/rule.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Blocks of 3 bytes dealt out in turn. */
static void interleaved_coll(struct rule_context *test)
{
    enum { BLOCKS = 50, BLOCK = 3 };
    static char content[BLOCKS * BLOCK * RULE_RANKS_MAX];
    char data[BLOCKS * BLOCK], found[BLOCKS * BLOCK] = "";
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * test->nprocs, MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    rule_letters(data, test->rank, sizeof data);
    for (int i = 0; i < BLOCKS * BLOCK * test->nprocs; i++)
        content[i] = rule_letter(i / BLOCK % test->nprocs, i / BLOCK / test->nprocs * BLOCK + i % BLOCK);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        rule_view_coll(test, file, BLOCK * test->rank, MPI_BYTE, filetype);
        DO(MPI_File_write_all(file, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_seek(file, 0, MPI_SEEK_SET));
        DO(MPI_File_read_all(file, found, sizeof found, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "what was read back", found, data, sizeof data);
        rule_close_coll(test, &file);
        rule_file_coll(test, content, sizeof data * (size_t)test->nprocs);
    }
    MPI_Type_free(&filetype);
}

/* Rank r has r blocks of 4 bytes; rank 0 has none. The last rank's come first. */
static void uneven_coll(struct rule_context *test)
{
    static char content[4 * RULE_RANKS_MAX * RULE_RANKS_MAX];
    char data[4 * RULE_RANKS_MAX], found[4 * RULE_RANKS_MAX] = "";
    const int mine = 4 * test->rank;
    int all = 0, place = 0;
    MPI_File file;
    for (int rank = test->nprocs - 1; rank >= 0; rank--) {
        if (rank == test->rank)
            place = all;
        rule_letters(content + all, rank, 4 * rank);
        all += 4 * rank;
    }
    rule_letters(data, test->rank, mine);
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_write_at_all(file, place, data, mine, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at_all(file, place, found, mine, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_bytes(test, "what was read back", found, data, (size_t)mine);
    rule_close_coll(test, &file);
    rule_file_coll(test, content, (size_t)all);
}

/* Rank r reads 300 bytes from byte 100 r on. */
static void overlap_coll(struct rule_context *test)
{
    static char content[100 * RULE_RANKS_MAX + 300];
    char found[300] = "";
    const int bytes = 100 * test->nprocs + 200;
    MPI_File file;
    rule_letters(content, 0, bytes);
    rule_put_coll(test, content, (size_t)bytes);
    if (!rule_open_coll(test, MPI_MODE_RDONLY, &file))
        return;
    DO(MPI_File_read_at_all(file, 100 * (MPI_Offset)test->rank, found, 300, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_bytes(test, "a part that others read, too", found, content + 100 * test->rank, 300);
    DO(MPI_File_read_at_all(file, 10, found, 300, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_bytes(test, "a part that all read", found, content + 10, (size_t)(bytes < 310 ? bytes - 10 : 300));
    rule_close_coll(test, &file);
}

/* The same through views with gaps: every second byte, beginning at byte r. */
static void overlap_view_coll(struct rule_context *test)
{
    static char content[2 * 200 + RULE_RANKS_MAX];
    char found[200] = "", wanted[200];
    const int bytes = 2 * 200 + test->nprocs;
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &filetype);
    MPI_Type_commit(&filetype);
    rule_letters(content, 0, bytes);
    for (int i = 0; i < 200; i++)
        wanted[i] = content[test->rank + 2 * i];
    rule_put_coll(test, content, (size_t)bytes);
    if (rule_open_coll(test, MPI_MODE_RDONLY, &file)) {
        rule_view_coll(test, file, test->rank, MPI_BYTE, filetype);
        DO(MPI_File_read_all(file, found, 200, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "bytes that others read, too", found, wanted, 200);
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&filetype);
}

/* Between the ranks' bytes lie two that nobody writes. */
static void gaps_coll(struct rule_context *test)
{
    enum { BLOCKS = 40 };
    static char content[BLOCKS * 3 * RULE_RANKS_MAX];
    const int bytes = BLOCKS * 3 * test->nprocs;
    char data[BLOCKS];
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Type_create_resized(MPI_BYTE, 0, 3 * test->nprocs, &filetype);
    MPI_Type_commit(&filetype);
    memset(content, '.', sizeof content);
    for (int i = 0; i < BLOCKS * test->nprocs; i++)
        content[3 * i] = rule_letter(i % test->nprocs, i / test->nprocs);
    rule_put_coll(test, NULL, (size_t)bytes);
    rule_letters(data, test->rank, BLOCKS);
    if (rule_open_coll(test, MPI_MODE_RDWR, &file)) {
        rule_view_coll(test, file, 3 * test->rank, MPI_BYTE, filetype);
        DO(MPI_File_write_all(file, data, BLOCKS, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_close_coll(test, &file);
    }
    rule_file_coll(test, content, (size_t)bytes);
    MPI_Type_free(&filetype);
}

/* Of 16 bytes, even ranks write four ints, odd ranks one item of a type. */
static void types_coll(struct rule_context *test)
{
    char content[16 * RULE_RANKS_MAX];
    int data[4];
    MPI_File file;
    MPI_Datatype item;
    MPI_Type_contiguous(16, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    for (int rank = 0; rank < test->nprocs; rank++)
        rule_letters(content + 16 * rank, rank, 16);
    memcpy(data, content + 16 * test->rank, 16);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        const bool even = test->rank % 2 == 0;
        DO(MPI_File_write_at_all(file, 16 * (MPI_Offset)test->rank, data, even ? 4 : 1, even ? MPI_INT : item,
                                 MPI_STATUS_IGNORE));
        rule_close_coll(test, &file);
    }
    rule_file_coll(test, content, 16 * (size_t)test->nprocs);
    MPI_Type_free(&item);
}

/* Half of the ranks on one file, half on another, at the same time. */
static void part_coll(struct rule_context *test)
{
    char path[PATH_MAX + 16];
    MPI_Comm half;
    MPI_File file = MPI_FILE_NULL;
    MPI_Offset size = -1;
    int rank, nprocs, found = -1;
    MPI_Comm_split(test->comm, test->rank % 2, -test->rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &nprocs);
    snprintf(path, sizeof path, "%s.%d", test->path, test->rank % 2);
    DO(MPI_File_open(half, path, RULE_NEW, MPI_INFO_NULL, &file));
    if (file != MPI_FILE_NULL) {
        DO(MPI_File_write_at_all(file, 4 * (MPI_Offset)rank, &test->rank, 1, MPI_INT, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at_all(file, 4 * (MPI_Offset)rank, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_same(test, "the int read back", found, test->rank);
        DO(MPI_File_sync(file));
        MPI_Barrier(half);
        DO(MPI_File_sync(file));
        DO(MPI_File_get_size(file, &size));
        rule_same(test, "the size of the half's file", size, 4 * nprocs);
        DO(MPI_File_close(&file));
    }
    if (rank == 0)
        unlink(path);
    MPI_Comm_free(&half);
}

extern const struct rule rule_area_collective[];
const struct rule rule_area_collective[] = {
    {"collective-interleaved", "14.4.1", "Interleaved blocks of all ranks are written and read together.", 1,
     interleaved_coll},
    {"collective-uneven", "14.4.1", "Ranks may ask for different amounts, and for nothing.", 1, uneven_coll},
    {"collective-overlap", "14.4.1", "Ranks may read the same bytes together.", 2, overlap_coll},
    {"collective-overlap-view", "14.4.1", "Ranks may read the same bytes together through views with gaps.", 2,
     overlap_view_coll},
    {"collective-gaps", "14.4.1", "A collective write leaves the bytes that nobody writes.", 1, gaps_coll},
    {"collective-types", "14.6.4", "Ranks may describe their data by different types.", 2, types_coll},
    {"collective-part", "14.6.4", "Two halves of the ranks work on two files at the same time.", 2, part_coll},
    {0},
};
