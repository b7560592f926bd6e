/* Individual file pointers. */
#include "bench/rules/rule.h"

static void expect_position(struct rule_context *test, MPI_File file, const char *what, MPI_Offset wanted)
{
    MPI_Offset position = -1;
    DO(MPI_File_get_position(file, &position));
    rule_same(test, what, position, wanted);
}

static void advance_coll(struct rule_context *test)
{
    MPI_File file;
    int data[4] = {1, 2, 3, 4};
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    rule_view_coll(test, file, 24 * (MPI_Offset)test->rank, MPI_INT, MPI_INT); /* each rank its own bytes */
    DO(MPI_File_write(file, data, 4, MPI_INT, MPI_STATUS_IGNORE));
    expect_position(test, file, "the pointer after a write of 4", 4);
    DO(MPI_File_write_all(file, data, 2, MPI_INT, MPI_STATUS_IGNORE));
    expect_position(test, file, "the pointer after a collective write of 2", 6);
    DO(MPI_File_seek(file, 1, MPI_SEEK_SET));
    DO(MPI_File_read(file, data, 3, MPI_INT, MPI_STATUS_IGNORE));
    expect_position(test, file, "the pointer after a read of 3", 4);
    DO(MPI_File_read_all(file, data, 1, MPI_INT, MPI_STATUS_IGNORE));
    expect_position(test, file, "the pointer after a collective read of 1", 5);
    rule_close_coll(test, &file);
}

static void explicit_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset shared = -1;
    char data[4] = "data";
    const MPI_Offset mine = 10 + 4 * (MPI_Offset)test->rank;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_seek(file, 3, MPI_SEEK_SET));
    DO(MPI_File_write_at(file, mine, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all(file, mine, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at(file, mine, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at_all(file, mine, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    expect_position(test, file, "the individual pointer", 3);
    DO(MPI_File_get_position_shared(file, &shared));
    rule_same(test, "the shared pointer", shared, 0);
    rule_close_coll(test, &file);
}

static void separate_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset shared = -1;
    char data[4] = "data";
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_write_ordered(file, data, 2, MPI_BYTE, MPI_STATUS_IGNORE));
    expect_position(test, file, "the individual pointer after an ordered write", 0);
    DO(MPI_File_write(file, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(test->comm);
    DO(MPI_File_get_position_shared(file, &shared));
    rule_same(test, "the shared pointer after an individual write", shared, 2 * test->nprocs);
    rule_close_coll(test, &file);
}

static void ranks_coll(struct rule_context *test)
{
    MPI_File file;
    const MPI_Offset mine = 10 * (MPI_Offset)test->rank;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_seek(file, mine, MPI_SEEK_SET));
    MPI_Barrier(test->comm);
    expect_position(test, file, "the rank's own pointer", mine);
    DO(MPI_File_write_all(file, "abcdefgh", test->rank % 3, MPI_BYTE, MPI_STATUS_IGNORE));
    expect_position(test, file, "the pointer after the rank's own part of a collective write", mine + test->rank % 3);
    rule_close_coll(test, &file);
}

static void seek_coll(struct rule_context *test)
{
    MPI_File file;
    rule_put_coll(test, NULL, 100);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    DO(MPI_File_seek(file, 40, MPI_SEEK_SET));
    expect_position(test, file, "the pointer after MPI_SEEK_SET 40", 40);
    DO(MPI_File_seek(file, -15, MPI_SEEK_CUR));
    expect_position(test, file, "the pointer after MPI_SEEK_CUR -15", 25);
    DO(MPI_File_seek(file, -10, MPI_SEEK_END));
    expect_position(test, file, "the pointer after MPI_SEEK_END -10 of 100", 90);
    DO(MPI_File_seek(file, 5, MPI_SEEK_END));
    expect_position(test, file, "the pointer after MPI_SEEK_END 5 of 100", 105);
    rule_close_coll(test, &file);
}

/* The end of a view is its first etype behind the last byte of the file: of 50 bytes from byte 10 on, in stretches of
 * 20 bytes of which two ints are seen, the third int pair begins at byte 50. */
static void seek_end_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Datatype pair, filetype;
    rule_put_coll(test, NULL, 50);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 20, &filetype);
    MPI_Type_commit(&filetype);
    if (rule_open_coll(test, MPI_MODE_RDWR, &file)) {
        rule_view_coll(test, file, 10, MPI_INT, MPI_INT);
        DO(MPI_File_seek(file, 0, MPI_SEEK_END));
        expect_position(test, file, "the end of a view of ints", 10);
        rule_view_coll(test, file, 10, MPI_INT, filetype);
        DO(MPI_File_seek(file, 0, MPI_SEEK_END));
        expect_position(test, file, "the end of a view with gaps", 4);
        DO(MPI_File_seek(file, -1, MPI_SEEK_END));
        expect_position(test, file, "one before the end of a view with gaps", 3);
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&filetype);
    MPI_Type_free(&pair);
}

static void seek_negative_coll(struct rule_context *test)
{
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    rule_refused(test, MPI_File_seek(file, -1, MPI_SEEK_SET), "MPI_File_seek to -1");
    DO(MPI_File_seek(file, 3, MPI_SEEK_SET));
    rule_refused(test, MPI_File_seek(file, -4, MPI_SEEK_CUR), "MPI_File_seek by -4 from 3");
    rule_close_coll(test, &file);
}

static void pointer_nonblocking_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    char content[12];
    const char data[12] = "abcdefghijkl";
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    if (test->rank == 0) {
        DO(MPI_File_iwrite(file, data, 5, MPI_BYTE, &requests[0]));
        expect_position(test, file, "the pointer while a write of 5 is under way", 5);
        DO(MPI_File_iwrite(file, data + 5, 7, MPI_BYTE, &requests[1]));
        expect_position(test, file, "the pointer while a write of 7 more is under way", 12);
        DO(MPI_Waitall(2, requests, statuses));
        DO(MPI_File_read_at(file, 0, content, 12, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "what was read back", content, data, 12);
    }
    rule_close_coll(test, &file);
    rule_file_coll(test, data, 12);
}

/* The pointer may stand behind the end; a write there makes the file longer. */
static void beyond_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    char data[3] = "end";
    rule_put_coll(test, NULL, 4);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    DO(MPI_File_seek(file, 20, MPI_SEEK_SET));
    if (test->rank == 0) {
        DO(MPI_File_write(file, data, 3, MPI_BYTE, &status));
        rule_count(test, "a write behind the end", &status, MPI_BYTE, 3);
    }
    rule_close_coll(test, &file);
    rule_same(test, "the size of the file in bytes", rule_size_coll(test), 23);
}

extern const struct rule rule_area_pointer[];
const struct rule rule_area_pointer[] = {
    {"pointer-advance", "14.4.3", "The pointer moves on by the etypes that were read or written.", 1, advance_coll},
    {"pointer-explicit", "14.4.2", "Access at explicit offsets moves no pointer.", 1, explicit_coll},
    {"pointer-separate", "14.4.4", "Individual and shared pointers do not move each other.", 1, separate_coll},
    {"pointer-ranks", "14.4.3", "Each rank has its own individual pointer.", 1, ranks_coll},
    {"pointer-nonblocking", "14.4.1", "The pointer has moved on as soon as a nonblocking access began.", 1,
     pointer_nonblocking_coll},
    {"pointer-seek", "14.4.3", "MPI_File_seek sets the pointer from the beginning, itself or the end.", 1, seek_coll},
    {"pointer-seek-end", "14.1.1", "The end of a view is its first etype behind the last byte of the file.", 1,
     seek_end_coll},
    {"pointer-seek-negative", "14.4.3", "Seeking to a place before the view is an error.", 1, seek_negative_coll},
    {"pointer-beyond", "14.4.3", "The pointer may stand behind the end, and a write there is possible.", 1,
     beyond_coll},
    {0},
};
