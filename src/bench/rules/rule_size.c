/* Sizes of files. */
#include "bench/rules/rule.h"

#include <string.h>

static void set_size_coll(struct rule_context *test)
{
    static const MPI_Offset sizes[] = {1000, 10, 0, 77};
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    for (int i = 0; i < 4; i++) {
        MPI_Offset size = -1;
        DO(MPI_File_set_size(file, sizes[i]));
        rule_settle_coll(test, file);
        DO(MPI_File_get_size(file, &size));
        rule_same(test, "the size after MPI_File_set_size", size, sizes[i]);
        rule_same(test, "the size that the kernel has", rule_size_coll(test), sizes[i]);
    }
    rule_close_coll(test, &file);
}

static void set_size_pointers_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset own = -1, shared = -1;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_seek(file, 20 + test->rank, MPI_SEEK_SET));
    DO(MPI_File_seek_shared(file, 30, MPI_SEEK_SET));
    DO(MPI_File_set_size(file, 5));
    DO(MPI_File_get_position(file, &own));
    DO(MPI_File_get_position_shared(file, &shared));
    rule_same(test, "the individual pointer", own, 20 + test->rank);
    rule_same(test, "the shared pointer", shared, 30);
    rule_close_coll(test, &file);
}

static void set_size_content_coll(struct rule_context *test)
{
    MPI_File file;
    rule_put_coll(test, "abcdefgh", 8);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    DO(MPI_File_set_size(file, 4));
    rule_close_coll(test, &file);
    rule_file_coll(test, "abcd", 4);
}

static void preallocate_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset size = -1;
    char found[8] = "";
    rule_put_coll(test, "abcdefgh", 8);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    DO(MPI_File_preallocate(file, 5000));
    rule_settle_coll(test, file);
    DO(MPI_File_get_size(file, &size));
    rule_same(test, "the size after MPI_File_preallocate(5000)", size, 5000);
    DO(MPI_File_read_at(file, 0, found, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_bytes(test, "what was in the file before", found, "abcdefgh", 8);
    MPI_Barrier(test->comm);
    DO(MPI_File_preallocate(file, 10));
    rule_settle_coll(test, file);
    DO(MPI_File_get_size(file, &size));
    rule_same(test, "the size after MPI_File_preallocate(10)", size, 5000);
    rule_close_coll(test, &file);
}

/* The file ends behind the last byte that was written, wherever views lead. */
static void written_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Datatype vector;
    MPI_Offset size = -1;
    MPI_Type_vector(2, 1, 10, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        rule_view_coll(test, file, 100, MPI_INT, vector);
        if (test->rank == 0)
            DO(MPI_File_write_at(file, 1, &(int){7}, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_settle_coll(test, file);
        DO(MPI_File_get_size(file, &size));
        rule_same(test, "the size in bytes", size, 144);
        rule_close_coll(test, &file);
        rule_same(test, "the size that the kernel has", rule_size_coll(test), 144);
    }
    MPI_Type_free(&vector);
}

/* Reading beyond the end, seeking, and writing nothing do not make a file longer. */
static void unchanged_coll(struct rule_context *test)
{
    MPI_File file;
    char data[8];
    rule_put_coll(test, NULL, 4);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    DO(MPI_File_seek(file, 1000, MPI_SEEK_SET));
    DO(MPI_File_read(file, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at(file, 500, data, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(file, 500, data, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_close_coll(test, &file);
    rule_file_coll(test, "....", 4);
}

extern const struct rule rule_area_size[];
const struct rule rule_area_size[] = {
    {"size-set", "14.2.4", "MPI_File_set_size makes the file longer or shorter, on all ranks.", 1, set_size_coll},
    {"size-set-content", "14.2.4", "MPI_File_set_size leaves what stands before the new end.", 1,
     set_size_content_coll},
    {"size-set-pointers", "14.2.4", "MPI_File_set_size moves no file pointer.", 1, set_size_pointers_coll},
    {"size-preallocate", "14.2.5", "MPI_File_preallocate may make a file longer, never shorter, and changes no data.",
     1, preallocate_coll},
    {"size-written", "14.2.6", "The file ends behind the last byte that was written.", 1, written_coll},
    {"size-unchanged", "14.6.10", "Reading, seeking and writing nothing leave the size.", 1, unchanged_coll},
    {0},
};
