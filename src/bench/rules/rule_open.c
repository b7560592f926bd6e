/* Opening, closing, deleting, and access modes. */
#include "bench/rules/rule.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Opening fails on every rank, with an error of this class. */
static void refuse_coll(struct rule_context *test, int amode, int class)
{
    MPI_File file = MPI_FILE_NULL;
    const int code = MPI_File_open(test->comm, test->path, amode, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS)
        MPI_File_close(&file);
    rule_class(test, code, class, "MPI_File_open");
}

static void create_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset size = -1;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_get_size(file, &size));
    rule_same(test, "the size of a new file", size, 0);
    rule_close_coll(test, &file);
    rule_same(test, "the size of the file in bytes", rule_size_coll(test), 0);
}

static void missing_coll(struct rule_context *test)
{
    refuse_coll(test, MPI_MODE_RDWR, MPI_ERR_NO_SUCH_FILE);
    refuse_coll(test, MPI_MODE_RDONLY, MPI_ERR_NO_SUCH_FILE);
    rule_same(test, "the size of a file that is not there (-1)", rule_size_coll(test), -1);
}

static void exclusive_coll(struct rule_context *test)
{
    rule_put_coll(test, NULL, 3);
    refuse_coll(test, RULE_NEW | MPI_MODE_EXCL, MPI_ERR_FILE_EXISTS);
    rule_file_coll(test, "...", 3);
}

static void exclusive_new_coll(struct rule_context *test)
{
    MPI_File file;
    if (rule_open_coll(test, RULE_NEW | MPI_MODE_EXCL, &file))
        rule_close_coll(test, &file);
    rule_same(test, "the size of the file in bytes", rule_size_coll(test), 0);
}

static void keeps_coll(struct rule_context *test)
{
    MPI_File file;
    rule_put_coll(test, "content", 7);
    if (rule_open_coll(test, MPI_MODE_CREATE | MPI_MODE_WRONLY, &file))
        rule_close_coll(test, &file);
    rule_file_coll(test, "content", 7);
}

static void create_rdonly_coll(struct rule_context *test)
{
    refuse_coll(test, MPI_MODE_CREATE | MPI_MODE_RDONLY, MPI_ERR_AMODE);
}

static void two_modes_coll(struct rule_context *test)
{
    rule_put_coll(test, NULL, 3);
    refuse_coll(test, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_ERR_AMODE);
    refuse_coll(test, MPI_MODE_CREATE, MPI_ERR_AMODE);
}

static void sequential_rdwr_coll(struct rule_context *test)
{
    refuse_coll(test, RULE_NEW | MPI_MODE_SEQUENTIAL, MPI_ERR_AMODE);
}

static void delete_on_close_coll(struct rule_context *test)
{
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW | MPI_MODE_DELETE_ON_CLOSE, &file))
        return;
    rule_same(test, "the size of the open file in bytes", rule_size_coll(test), 0);
    rule_close_coll(test, &file);
    rule_same(test, "the size of a file that is gone (-1)", rule_size_coll(test), -1);
}

static void append_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset own = -1, shared = -1;
    rule_put_coll(test, NULL, 11);
    if (!rule_open_coll(test, MPI_MODE_RDWR | MPI_MODE_APPEND, &file))
        return;
    DO(MPI_File_get_position(file, &own));
    DO(MPI_File_get_position_shared(file, &shared));
    rule_same(test, "the individual pointer", own, 11);
    rule_same(test, "the shared pointer", shared, 11);
    rule_close_coll(test, &file);
}

static void get_amode_coll(struct rule_context *test)
{
    MPI_File file;
    int amode = -1;
    const int wanted = RULE_NEW | MPI_MODE_UNIQUE_OPEN;
    if (!rule_open_coll(test, wanted, &file))
        return;
    DO(MPI_File_get_amode(file, &amode));
    rule_same(test, "the access mode (CREATE, RDWR, UNIQUE_OPEN)", amode, wanted);
    rule_close_coll(test, &file);
}

static void get_group_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Group group = MPI_GROUP_NULL, wanted;
    int result = MPI_UNEQUAL;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_get_group(file, &group));
    MPI_Comm_group(test->comm, &wanted);
    if (group != MPI_GROUP_NULL) {
        MPI_Group_compare(group, wanted, &result);
        MPI_Group_free(&group);
    }
    rule_true(test, result == MPI_IDENT, "the group is that of the communicator");
    MPI_Group_free(&wanted);
    rule_close_coll(test, &file);
}

/* Each rank its own file, in an order of its own: nobody may wait for another. */
static void self_coll(struct rule_context *test)
{
    char path[PATH_MAX + 16];
    MPI_File file = MPI_FILE_NULL;
    snprintf(path, sizeof path, "%s.%d", test->path, test->rank);
    if (test->rank % 2 == 1)
        MPI_Recv(NULL, 0, MPI_BYTE, test->rank - 1, 0, test->comm, MPI_STATUS_IGNORE);
    DO(MPI_File_open(MPI_COMM_SELF, path, RULE_NEW, MPI_INFO_NULL, &file));
    if (file != MPI_FILE_NULL) {
        const char data = rule_letter(test->rank, 0);
        char found = 0;
        DO(MPI_File_write_at_all(file, 0, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at_all(file, 0, &found, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_same(test, "the byte read back", found, data);
        DO(MPI_File_close(&file));
    }
    if (test->rank % 2 == 0 && test->rank + 1 < test->nprocs)
        MPI_Send(NULL, 0, MPI_BYTE, test->rank + 1, 0, test->comm);
    unlink(path);
}

static void close_null_coll(struct rule_context *test)
{
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    rule_close_coll(test, &file);
    rule_true(test, file == MPI_FILE_NULL, "the handle is MPI_FILE_NULL");
}

static void delete_coll(struct rule_context *test)
{
    rule_put_coll(test, NULL, 3);
    if (test->rank == 0) {
        DO(MPI_File_delete(test->path, MPI_INFO_NULL));
        rule_class(test, MPI_File_delete(test->path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, "a second MPI_File_delete");
    }
    rule_same(test, "the size of a file that is gone (-1)", rule_size_coll(test), -1);
}

static void rdonly_coll(struct rule_context *test)
{
    MPI_File file;
    rule_put_coll(test, NULL, 8);
    if (!rule_open_coll(test, MPI_MODE_RDONLY, &file))
        return;
    rule_refused(test, MPI_File_write_at(file, 0, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_write_at");
    rule_refused(test, MPI_File_write_at_all(file, 0, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_write_at_all");
    rule_refused(test, MPI_File_set_size(file, 1), "MPI_File_set_size");
    rule_close_coll(test, &file);
    rule_file_coll(test, "........", 8);
}

static void wronly_coll(struct rule_context *test)
{
    MPI_File file;
    char data = 0;
    rule_put_coll(test, NULL, 8);
    if (!rule_open_coll(test, MPI_MODE_WRONLY, &file))
        return;
    rule_refused(test, MPI_File_read_at(file, 0, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_read_at");
    rule_refused(test, MPI_File_read_at_all(file, 0, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_read_at_all");
    rule_close_coll(test, &file);
}

extern const struct rule rule_area_open[];
const struct rule rule_area_open[] = {
    {"open-create", "14.2.1", "MPI_MODE_CREATE makes a file that is not there; it is empty.", 1, create_coll},
    {"open-missing", "14.2.1", "Without MPI_MODE_CREATE a missing file is not made, and its error class is told.", 1,
     missing_coll},
    {"open-exclusive", "14.2.1", "MPI_MODE_EXCL refuses a file that is there already.", 1, exclusive_coll},
    {"open-exclusive-new", "14.2.1", "MPI_MODE_EXCL makes a new file, on all ranks together.", 1, exclusive_new_coll},
    {"open-keeps", "14.2.1", "Opening a file that exists leaves its content.", 1, keeps_coll},
    {"open-create-rdonly", "14.2.1", "MPI_MODE_CREATE does not go with MPI_MODE_RDONLY.", 1, create_rdonly_coll},
    {"open-one-mode", "14.2.1", "Exactly one of the modes RDONLY, WRONLY and RDWR is given.", 1, two_modes_coll},
    {"open-stream-rdwr", "14.2.1", "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR.", 1, sequential_rdwr_coll},
    {"open-append", "14.2.1", "With MPI_MODE_APPEND all pointers begin at the end of the file.", 1, append_coll},
    {"open-self", "14.2.1", "Ranks open files of their own without waiting for each other.", 1, self_coll},
    {"close-delete", "14.2.2", "With MPI_MODE_DELETE_ON_CLOSE the file is gone after closing, not before.", 1,
     delete_on_close_coll},
    {"close-handle", "14.2.2", "Closing sets the handle to MPI_FILE_NULL.", 1, close_null_coll},
    {"delete", "14.2.3", "MPI_File_delete removes a file; of a missing one the error class is told.", 1, delete_coll},
    {"get-amode", "14.2.7", "MPI_File_get_amode gives the modes of the open call.", 1, get_amode_coll},
    {"get-group", "14.2.7", "MPI_File_get_group gives the group of the communicator.", 1, get_group_coll},
    {"mode-rdonly", "14.2.1", "A file opened with MPI_MODE_RDONLY cannot be written.", 1, rdonly_coll},
    {"mode-wronly", "14.2.1", "A file opened with MPI_MODE_WRONLY cannot be read.", 1, wronly_coll},
    {0},
};
