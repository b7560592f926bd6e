/* Offsets, displacements and extents beyond 32 bits. The files are sparse. */
#include "bench/rules/rule.h"

#include <string.h>

static const MPI_Offset FAR = ((MPI_Offset)5 << 30) + 3;

static void offset_coll(struct rule_context *test)
{
    MPI_File file;
    const int data = 4711 + test->rank;
    int found = -1;
    const MPI_Offset mine = FAR + 4 * (MPI_Offset)test->rank;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_write_at(file, mine, &data, 1, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at(file, mine, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
    rule_same(test, "the int read back", found, data);
    rule_close_coll(test, &file);
    rule_same(test, "the size of the file in bytes", rule_size_coll(test), FAR + 4 * (int64_t)test->nprocs);
}

/* The ranks' places are 3 GiB apart: no buffer holds them all. */
static void large_collective_coll(struct rule_context *test)
{
    MPI_File file;
    const MPI_Offset mine = 3 * ((MPI_Offset)test->rank << 30) + FAR;
    const int data = 4711 + test->rank;
    int found = -1;
    MPI_Offset size = -1;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_write_at_all(file, mine, &data, 1, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at_all(file, mine, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
    rule_same(test, "the int read back", found, data);
    rule_settle_coll(test, file);
    DO(MPI_File_get_size(file, &size));
    rule_same(test, "the size", size, 3 * ((MPI_Offset)(test->nprocs - 1) << 30) + FAR + 4);
    rule_close_coll(test, &file);
}

static void size_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset size = -1;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_set_size(file, FAR));
    rule_settle_coll(test, file);
    DO(MPI_File_get_size(file, &size));
    rule_same(test, "the size", size, FAR);
    rule_close_coll(test, &file);
    rule_same(test, "the size that the kernel has", rule_size_coll(test), FAR);
}

static void pointer_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset own = -1, shared = -1, byte = -1;
    const MPI_Offset far = (MPI_Offset)1 << 31;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    rule_view_coll(test, file, 0, MPI_DOUBLE, MPI_DOUBLE);
    DO(MPI_File_seek(file, far, MPI_SEEK_SET));
    DO(MPI_File_get_position(file, &own));
    rule_same(test, "the individual pointer", own, far);
    DO(MPI_File_seek_shared(file, far, MPI_SEEK_SET));
    DO(MPI_File_get_position_shared(file, &shared));
    rule_same(test, "the shared pointer", shared, far);
    DO(MPI_File_get_byte_offset(file, far, &byte));
    rule_same(test, "the byte of the double 2^31", byte, (int64_t)1 << 34);
    rule_close_coll(test, &file);
}

static void displacement_coll(struct rule_context *test)
{
    MPI_File file;
    const char data = rule_letter(test->rank, 0);
    char found = 0;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    rule_view_coll(test, file, FAR + test->rank, MPI_BYTE, MPI_BYTE);
    DO(MPI_File_write_all(file, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_view_coll(test, file, 0, MPI_BYTE, MPI_BYTE);
    DO(MPI_File_read_at(file, FAR + test->rank, &found, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_same(test, "the byte read back", found, data);
    rule_close_coll(test, &file);
    rule_same(test, "the size of the file in bytes", rule_size_coll(test), FAR + test->nprocs);
}

/* Copies of the filetype are 3 GiB apart. */
static void extent_coll(struct rule_context *test)
{
    const MPI_Aint apart = (MPI_Aint)3 << 30;
    const int data[3] = {11 + test->rank, 22 + test->rank, 33 + test->rank};
    int found[3] = {0};
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Type_create_resized(MPI_INT, 0, apart, &filetype);
    MPI_Type_commit(&filetype);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        rule_view_coll(test, file, 4 * (MPI_Offset)test->rank, MPI_INT, filetype);
        DO(MPI_File_write_all(file, data, 3, MPI_INT, MPI_STATUS_IGNORE));
        rule_view_coll(test, file, 0, MPI_BYTE, MPI_BYTE);
        for (int i = 0; i < 3; i++) {
            DO(MPI_File_read_at(file, (MPI_Offset)i * apart + 4 * (MPI_Offset)test->rank, &found[i], 1, MPI_INT,
                                MPI_STATUS_IGNORE));
            rule_same(test, "an int read back without the view", found[i], data[i]);
        }
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&filetype);
}

extern const struct rule rule_area_large[];
const struct rule rule_area_large[] = {
    {"large-offset", "14.6.8", "Offsets beyond 4 GiB lead to their place.", 1, offset_coll},
    {"large-collective", "14.6.8", "Collective access reaches places that are gigabytes apart.", 1,
     large_collective_coll},
    {"large-size", "14.6.8", "Sizes beyond 4 GiB are set and told.", 1, size_coll},
    {"large-pointer", "14.6.8", "Pointers stand beyond 2^31 etypes.", 1, pointer_coll},
    {"large-displacement", "14.6.8", "Displacements beyond 4 GiB lead to their place.", 1, displacement_coll},
    {"large-extent", "14.6.8", "Filetypes may have an extent beyond 2 GiB.", 1, extent_coll},
    {0},
};
