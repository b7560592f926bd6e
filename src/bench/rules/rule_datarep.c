/* Data representations: native, internal, external32, and those of users. */
#include "bench/rules/rule.h"

#include <string.h>

static void use_coll(struct rule_context *test, MPI_File file, MPI_Datatype type, const char *name)
{
    DO(MPI_File_set_view(file, 0, type, type, name, MPI_INFO_NULL));
}

static void native_coll(struct rule_context *test)
{
    const double data[3] = {1.5, -2.25, 1e300};
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    use_coll(test, file, MPI_DOUBLE, "native");
    if (test->rank == 0)
        DO(MPI_File_write(file, data, 3, MPI_DOUBLE, MPI_STATUS_IGNORE));
    rule_close_coll(test, &file);
    rule_file_coll(test, data, sizeof data);
}

static void internal_coll(struct rule_context *test)
{
    const double data[2] = {1.5 + test->rank, -2.25};
    double found[2] = {0, 0};
    char name[MPI_MAX_DATAREP_STRING + 1] = "";
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    use_coll(test, file, MPI_DOUBLE, "internal");
    DO(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    rule_true(test, strcmp(name, "internal") == 0, "MPI_File_get_view names the representation internal");
    DO(MPI_File_write_at_all(file, 2 * (MPI_Offset)test->rank, data, 2, MPI_DOUBLE, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at_all(file, 2 * (MPI_Offset)test->rank, found, 2, MPI_DOUBLE, MPI_STATUS_IGNORE));
    rule_bytes(test, "what was read back", found, data, sizeof data);
    rule_close_coll(test, &file);
}

/* ---- external32: big endian, IEEE ---- */

static void external_int_coll(struct rule_context *test)
{
    static const unsigned char content[] = {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe};
    const int data[2] = {0x01020304, -2};
    int found[2] = {0, 0};
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    use_coll(test, file, MPI_INT, "external32");
    if (test->rank == 0)
        rule_echo(test, file, 0, data, found, 2, MPI_INT, sizeof data);
    rule_close_coll(test, &file);
    rule_file_coll(test, content, sizeof content);
}

static void external_double_coll(struct rule_context *test)
{
    static const unsigned char content[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0x02, 0, 0, 0, 0, 0, 0};
    double found[2] = {0, 0};
    MPI_File file;
    rule_put_coll(test, content, sizeof content);
    if (!rule_open_coll(test, MPI_MODE_RDONLY, &file))
        return;
    use_coll(test, file, MPI_DOUBLE, "external32");
    DO(MPI_File_read_at_all(file, 0, found, 2, MPI_DOUBLE, MPI_STATUS_IGNORE));
    rule_true(test, found[0] == 1.5 && found[1] == -2.25, "the doubles read are 1.5 and -2.25");
    rule_close_coll(test, &file);
}

/* Shorts dealt out to the ranks in turn, written together. */
static void external_view_coll(struct rule_context *test)
{
    enum { COUNT = 10 };
    static unsigned char content[2 * COUNT * RULE_RANKS_MAX];
    short data[COUNT], found[COUNT] = {0};
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Type_vector(COUNT, 1, test->nprocs, MPI_SHORT, &filetype);
    MPI_Type_commit(&filetype);
    for (int i = 0; i < COUNT; i++)
        data[i] = (short)(256 * test->rank + i);
    for (int i = 0; i < COUNT * test->nprocs; i++) {
        content[2 * i] = (unsigned char)(i % test->nprocs);
        content[2 * i + 1] = (unsigned char)(i / test->nprocs);
    }
    if (rule_open_coll(test, RULE_NEW, &file)) {
        DO(MPI_File_set_view(file, 2 * (MPI_Offset)test->rank, MPI_SHORT, filetype, "external32", MPI_INFO_NULL));
        DO(MPI_File_write_all(file, data, COUNT, MPI_SHORT, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at_all(file, 0, found, COUNT, MPI_SHORT, MPI_STATUS_IGNORE));
        rule_bytes(test, "what was read back", found, data, sizeof data);
        rule_close_coll(test, &file);
        rule_file_coll(test, content, 2 * (size_t)COUNT * test->nprocs);
    }
    MPI_Type_free(&filetype);
}

static void external_extent_coll(struct rule_context *test)
{
    const struct {
        MPI_Datatype type;
        int bytes;
    } types[] = {{MPI_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_FLOAT, 4}, {MPI_DOUBLE, 8}, {MPI_LONG_DOUBLE, 16}};
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    use_coll(test, file, MPI_BYTE, "external32");
    for (int i = 0; i < 6; i++) {
        MPI_Aint extent = -1;
        DO(MPI_File_get_type_extent(file, types[i].type, &extent));
        rule_same(test, "the extent of a type in external32", extent, types[i].bytes);
    }
    rule_close_coll(test, &file);
}

/* ---- of a user: an int takes eight bytes, itself and its complement ---- */

static char state; /* its address goes through the MPI to our functions */

static int user_extent(MPI_Datatype type, MPI_Aint *extent, void *extra_state)
{
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    *extent = 2 * (MPI_Aint)bytes;
    return extra_state == &state ? MPI_SUCCESS : MPI_ERR_ARG;
}

static int ints_of(MPI_Datatype type, int count)
{
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    return count * (bytes / (int)sizeof(int));
}

static int user_read(void *buffer, MPI_Datatype type, int count, void *in_file, MPI_Offset position, void *extra_state)
{
    int *data = (int *)buffer + position * ints_of(type, 1);
    const char *source = in_file;
    for (int i = 0; i < ints_of(type, count); i++)
        memcpy(&data[i], source + 8 * (size_t)i, sizeof(int));
    return extra_state == &state ? MPI_SUCCESS : MPI_ERR_ARG;
}

static int user_write(void *buffer, MPI_Datatype type, int count, void *in_file, MPI_Offset position, void *extra_state)
{
    const int *data = (const int *)buffer + position * ints_of(type, 1);
    char *target = in_file;
    for (int i = 0; i < ints_of(type, count); i++) {
        const int both[2] = {data[i], ~data[i]};
        memcpy(target + 8 * (size_t)i, both, sizeof both);
    }
    return extra_state == &state ? MPI_SUCCESS : MPI_ERR_ARG;
}

static void user_coll(struct rule_context *test)
{
    static int content[6 * RULE_RANKS_MAX];
    int data[3], found[3] = {0};
    MPI_File file;
    for (int i = 0; i < 3 * test->nprocs; i++) {
        content[2 * i] = 1000 + i;
        content[2 * i + 1] = ~content[2 * i];
    }
    for (int i = 0; i < 3; i++)
        data[i] = content[2 * (3 * test->rank + i)];
    DO(MPI_Register_datarep("piolet-doctor", user_read, user_write, user_extent, &state));
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    use_coll(test, file, MPI_INT, "piolet-doctor");
    if (!test->broken)
        rule_echo(test, file, 3 * (MPI_Offset)test->rank, data, found, 3, MPI_INT, sizeof data);
    rule_close_coll(test, &file);
    rule_file_coll(test, content, 6 * sizeof(int) * (size_t)test->nprocs);
}

static void duplicate_coll(struct rule_context *test)
{
    const char *const name = "piolet-doctor-2";
    DO(MPI_Register_datarep(name, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, user_extent, &state));
    rule_class(test, MPI_Register_datarep(name, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, user_extent, &state),
               MPI_ERR_DUP_DATAREP, "a second MPI_Register_datarep of one name");
}

extern const struct rule rule_area_datarep[];
const struct rule rule_area_datarep[] = {
    {"datarep-native", "14.5", "In native the file holds the bytes of the memory.", 1, native_coll},
    {"datarep-internal", "14.5", "In internal what was written is read again.", 1, internal_coll},
    {"external32-int", "14.5.2", "In external32 ints are in the file with the highest byte first.", 1,
     external_int_coll},
    {"external32-double", "14.5.2", "In external32 doubles are in the file as IEEE has them.", 1, external_double_coll},
    {"external32-view", "14.5.2", "In external32 views with gaps are written and read together.", 1,
     external_view_coll},
    {"external32-extent", "14.5.1", "MPI_File_get_type_extent gives the extents of external32.", 1,
     external_extent_coll},
    {"datarep-user", "14.5.3", "Data go through the functions of a user's representation.", 1, user_coll},
    {"datarep-duplicate", "14.5.3", "A name of a representation can be defined only once.", 1, duplicate_coll},
    {0},
};
