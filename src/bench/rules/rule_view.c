/* What views do to offsets, pointers and types. Which bytes a filetype selects is in rule_filetype.c. */
#include "bench/rules/rule.h"

#include <string.h>

static void expect_named(struct rule_context *test, const char *what, MPI_Datatype seen, MPI_Datatype wanted)
{
    int integers = 0, addresses = 0, types = 0, combiner = -1;
    MPI_Type_get_envelope(seen, &integers, &addresses, &types, &combiner);
    rule_true(test, combiner == MPI_COMBINER_NAMED && seen == wanted, what);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&seen);
}

static void default_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset displacement = -1;
    MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    char name[MPI_MAX_DATAREP_STRING + 1] = "";
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    rule_same(test, "the displacement of a new file", displacement, 0);
    rule_true(test, strcmp(name, "native") == 0, "the data representation of a new file is native");
    expect_named(test, "the etype of a new file is MPI_BYTE", etype, MPI_BYTE);
    expect_named(test, "the filetype of a new file is MPI_BYTE", filetype, MPI_BYTE);
    rule_close_coll(test, &file);
}

static void get_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset displacement = -1;
    MPI_Aint lower = -1, extent = -1;
    MPI_Datatype vector, etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    char name[MPI_MAX_DATAREP_STRING + 1] = "";
    int size = -1;
    MPI_Type_vector(3, 2, 5, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        DO(MPI_File_set_view(file, 24, MPI_INT, vector, "native", MPI_INFO_NULL));
        DO(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
        rule_same(test, "the displacement", displacement, 24);
        expect_named(test, "the etype is MPI_INT", etype, MPI_INT);
        if (filetype != MPI_DATATYPE_NULL) {
            MPI_Type_size(filetype, &size);
            MPI_Type_get_extent(filetype, &lower, &extent);
            rule_same(test, "the size of the filetype", size, 24);
            rule_same(test, "the extent of the filetype", extent, 48);
            DO(MPI_Type_free(&filetype));
        }
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&vector);
}

static void resets_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset own = -1, shared = -1;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_seek(file, 5, MPI_SEEK_SET));
    DO(MPI_File_seek_shared(file, 6, MPI_SEEK_SET));
    rule_view_coll(test, file, 0, MPI_INT, MPI_INT);
    DO(MPI_File_get_position(file, &own));
    DO(MPI_File_get_position_shared(file, &shared));
    rule_same(test, "the individual pointer", own, 0);
    rule_same(test, "the shared pointer", shared, 0);
    rule_close_coll(test, &file);
}

/* The view: two ints of every five, from byte 8 on. Offset 5 is the second int of the third block's pair. */
static void offsets_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Datatype filetype, pair;
    MPI_Offset byte = -1;
    int wanted[16], found = 0;
    for (int i = 0; i < 16; i++)
        wanted[i] = 0x2e2e2e2e;
    wanted[2 + 2 * 5 + 1] = 77;
    rule_put_coll(test, NULL, sizeof wanted);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 20, &filetype);
    MPI_Type_commit(&filetype);
    if (rule_open_coll(test, MPI_MODE_RDWR, &file)) {
        rule_view_coll(test, file, 8, MPI_INT, filetype);
        DO(MPI_File_get_byte_offset(file, 5, &byte));
        rule_same(test, "the byte of offset 5", byte, 52);
        if (test->rank == 0)
            DO(MPI_File_write_at(file, 5, &(int){77}, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_settle_coll(test, file);
        DO(MPI_File_read_at(file, 5, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_same(test, "the int read at offset 5", found, 77);
        rule_close_coll(test, &file);
    }
    rule_file_coll(test, wanted, sizeof wanted);
    MPI_Type_free(&filetype);
    MPI_Type_free(&pair);
}

static void displacement_coll(struct rule_context *test)
{
    MPI_File file;
    char wanted[13 + RULE_RANKS_MAX];
    memset(wanted, '.', 13);
    rule_put_coll(test, NULL, 13);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    rule_view_coll(test, file, 13 + test->rank, MPI_BYTE, MPI_BYTE);
    const char data = rule_letter(test->rank, 0);
    DO(MPI_File_write_all(file, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_close_coll(test, &file);
    for (int rank = 0; rank < test->nprocs; rank++)
        wanted[13 + rank] = rule_letter(rank, 0);
    rule_file_coll(test, wanted, 13 + (size_t)test->nprocs);
}

/* A type may be freed as soon as the view is set. */
static void freed_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Datatype inner, vector;
    char data[4] = "data", found[4] = "";
    MPI_Type_contiguous(1, MPI_BYTE, &inner);
    MPI_Type_vector(2, 1, 3, inner, &vector);
    MPI_Type_commit(&vector);
    rule_put_coll(test, NULL, 8);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    rule_view_coll(test, file, 0, MPI_BYTE, vector);
    MPI_Type_free(&vector);
    MPI_Type_free(&inner);
    if (test->rank == 0) {
        DO(MPI_File_write(file, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at(file, 0, found, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "what was read back", found, data, 4);
    }
    rule_close_coll(test, &file);
    rule_file_coll(test, "d..at..a", 8);
}

static void again_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Datatype vector;
    char found[3] = "";
    MPI_Type_vector(2, 1, 4, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    rule_put_coll(test, "abcdefghijkl", 12);
    if (rule_open_coll(test, MPI_MODE_RDONLY, &file)) {
        rule_view_coll(test, file, 1, MPI_BYTE, vector);
        DO(MPI_File_read_all(file, found, 3, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "read by the first view", found, "bfg", 3);
        rule_view_coll(test, file, 2, MPI_BYTE, MPI_BYTE);
        DO(MPI_File_read_all(file, found, 3, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "read by the second view", found, "cde", 3);
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&vector);
}

static void type_extent_coll(struct rule_context *test)
{
    const struct {
        MPI_Datatype type;
        int bytes;
    } types[] = {{MPI_BYTE, 1}, {MPI_INT, sizeof(int)}, {MPI_DOUBLE, sizeof(double)}};
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    for (int i = 0; i < 3; i++) {
        MPI_Aint extent = -1;
        DO(MPI_File_get_type_extent(file, types[i].type, &extent));
        rule_same(test, "the extent of a native type", extent, types[i].bytes);
    }
    rule_close_coll(test, &file);
}

extern const struct rule rule_area_view[];
const struct rule rule_area_view[] = {
    {"view-default", "14.2.1", "A new file has the view of bytes from byte 0 on, in native.", 1, default_coll},
    {"view-get", "14.3", "MPI_File_get_view gives what was set.", 1, get_coll},
    {"view-pointers", "14.3", "Setting a view sets all pointers to zero.", 1, resets_coll},
    {"view-offsets", "14.3", "Offsets count etypes that the view shows, not bytes and not gaps.", 1, offsets_coll},
    {"view-displacement", "14.3", "The displacement is in bytes, and each rank has its own.", 1, displacement_coll},
    {"view-type-freed", "14.3", "A filetype may be freed as soon as the view is set.", 1, freed_coll},
    {"view-again", "14.3", "A view may be set again on an open file.", 1, again_coll},
    {"view-type-extent", "14.5.1", "In native, types have the extent in the file that they have in memory.", 1,
     type_extent_coll},
    {0},
};
