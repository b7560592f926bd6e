/* The end of the file, and how much an access moved. */
#include "bench/rules/rule.h"

#include <string.h>

static int end_available(MPI_Offset begin, MPI_Offset end, int asked)
{
    const MPI_Offset left = end - begin;
    return left <= 0 ? 0 : left < asked ? (int)left : asked;
}

/* A file of so many bytes, to be read. */
static bool end_open_coll(struct rule_context *test, MPI_Offset size, MPI_File *ret_file)
{
    rule_put_coll(test, NULL, (size_t)size);
    return rule_open_coll(test, MPI_MODE_RDONLY, ret_file);
}

static void read_coll(struct rule_context *test)
{
    static const MPI_Offset begins[] = {0, 50, 100, 129, 130, 500};
    MPI_File file;
    MPI_Status status;
    char data[100];
    if (!end_open_coll(test, 130, &file))
        return;
    for (int i = 0; i < 6; i++) {
        memset(data, 0, sizeof data);
        DO(MPI_File_read_at(file, begins[i], data, 100, MPI_BYTE, &status));
        const int count = end_available(begins[i], 130, 100);
        rule_count(test, "MPI_File_read_at at the end", &status, MPI_BYTE, count);
        for (int j = 0; j < count; j++)
            rule_same(test, "a byte before the end", data[j], '.');
    }
    rule_close_coll(test, &file);
}

static void end_collective_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    char data[10];
    const MPI_Offset size = 10 * (MPI_Offset)test->nprocs - 5, mine = 10 * (MPI_Offset)test->rank;
    if (!end_open_coll(test, size, &file))
        return;
    DO(MPI_File_read_at_all(file, mine, data, 10, MPI_BYTE, &status));
    rule_count(test, "MPI_File_read_at_all at the end", &status, MPI_BYTE, end_available(mine, size, 10));
    DO(MPI_File_read_at_all(file, size - 5 + mine, data, 10, MPI_BYTE, &status));
    rule_count(test, "MPI_File_read_at_all behind the end", &status, MPI_BYTE,
               end_available(size - 5 + mine, size, 10));
    DO(MPI_File_read_at_all(file, 2 * size, data, 10, MPI_BYTE, &status));
    rule_count(test, "MPI_File_read_at_all far behind the end", &status, MPI_BYTE, 0);
    rule_close_coll(test, &file);
}

/* Of every five bytes the first two are seen: of 51 bytes, 21. */
static void view_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    MPI_Datatype pair, filetype;
    char data[30];
    MPI_Type_contiguous(2, MPI_BYTE, &pair);
    MPI_Type_create_resized(pair, 0, 5, &filetype);
    MPI_Type_commit(&filetype);
    if (end_open_coll(test, 51, &file)) {
        rule_view_coll(test, file, 0, MPI_BYTE, filetype);
        DO(MPI_File_read_at(file, 0, data, 30, MPI_BYTE, &status));
        rule_count(test, "MPI_File_read_at through gaps to the end", &status, MPI_BYTE, 21);
        DO(MPI_File_read_at_all(file, 10, data, 30, MPI_BYTE, &status));
        rule_count(test, "MPI_File_read_at_all through gaps to the end", &status, MPI_BYTE, 11);
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&filetype);
    MPI_Type_free(&pair);
}

static void elements_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    MPI_Datatype three;
    int data[6], elements = -1;
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    if (end_open_coll(test, 16, &file)) {
        DO(MPI_File_read_at(file, 0, data, 2, three, &status));
        rule_count(test, "a read of 4 of 6 ints, in threes,", &status, three, MPI_UNDEFINED);
        MPI_Get_elements(&status, three, &elements);
        rule_same(test, "MPI_Get_elements after a read of 4 of 6 ints", elements, 4);
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&three);
}

static void ordered_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    char data[4];
    const MPI_Offset size = 4 * (MPI_Offset)test->nprocs - 2;
    if (!end_open_coll(test, size, &file))
        return;
    DO(MPI_File_read_ordered(file, data, 4, MPI_BYTE, &status));
    rule_count(test, "MPI_File_read_ordered at the end", &status, MPI_BYTE,
               end_available(4 * (MPI_Offset)test->rank, size, 4));
    DO(MPI_File_seek_shared(file, 100 + size, MPI_SEEK_SET));
    DO(MPI_File_read_shared(file, data, 4, MPI_BYTE, &status));
    rule_count(test, "MPI_File_read_shared behind the end", &status, MPI_BYTE, 0);
    rule_close_coll(test, &file);
}

static void end_nonblocking_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    char data[20];
    if (!end_open_coll(test, 13, &file))
        return;
    DO(MPI_File_iread_at(file, 5, data, 20, MPI_BYTE, &request));
    DO(MPI_Wait(&request, &status));
    rule_count(test, "MPI_File_iread_at at the end", &status, MPI_BYTE, 8);
    DO(MPI_File_read_at_all_begin(file, 6, data, 20, MPI_BYTE));
    DO(MPI_File_read_at_all_end(file, data, &status));
    rule_count(test, "MPI_File_read_at_all_end at the end", &status, MPI_BYTE, 7);
    rule_close_coll(test, &file);
}

static void write_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    MPI_Datatype vector;
    int data[12] = {0};
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        const MPI_Offset mine = 100 * (MPI_Offset)test->rank;
        DO(MPI_File_write_at(file, mine, data, 2, vector, &status));
        rule_count(test, "MPI_File_write_at", &status, vector, 2);
        rule_count(test, "MPI_File_write_at, in ints,", &status, MPI_INT, 6);
        DO(MPI_File_write_at_all(file, mine, data, 2, vector, &status));
        rule_count(test, "MPI_File_write_at_all", &status, vector, 2);
        DO(MPI_File_write_ordered(file, data, 5, MPI_INT, &status));
        rule_count(test, "MPI_File_write_ordered", &status, MPI_INT, 5);
        DO(MPI_File_write_shared(file, data, 3, MPI_INT, &status));
        rule_count(test, "MPI_File_write_shared", &status, MPI_INT, 3);
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&vector);
}

static void nothing_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    char data = 0;
    rule_put_coll(test, NULL, 10);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    DO(MPI_File_read_at(file, 0, &data, 0, MPI_BYTE, &status));
    rule_count(test, "MPI_File_read_at of nothing", &status, MPI_BYTE, 0);
    DO(MPI_File_read_at_all(file, 0, NULL, 0, MPI_BYTE, &status));
    rule_count(test, "MPI_File_read_at_all of nothing", &status, MPI_BYTE, 0);
    DO(MPI_File_write_at(file, 0, &data, 0, MPI_BYTE, &status));
    rule_count(test, "MPI_File_write_at of nothing", &status, MPI_BYTE, 0);
    DO(MPI_File_write_at_all(file, 0, NULL, 0, MPI_BYTE, &status));
    rule_count(test, "MPI_File_write_at_all of nothing", &status, MPI_BYTE, 0);
    rule_close_coll(test, &file);
    rule_file_coll(test, "..........", 10);
}

extern const struct rule rule_area_end[];
const struct rule rule_area_end[] = {
    {"end-read", "14.4.1", "A read across the end of the file tells how much there was.", 1, read_coll},
    {"end-collective", "14.4.1", "A collective read across the end tells each rank what it got.", 1,
     end_collective_coll},
    {"end-view", "14.4.1", "A read through gaps across the end tells how much there was.", 1, view_coll},
    {"end-elements", "14.4.1", "MPI_Get_elements counts the parts of an item that was cut off by the end.", 1,
     elements_coll},
    {"end-ordered", "14.4.4", "Reads by the shared pointer across the end tell what each rank got.", 1, ordered_coll},
    {"end-nonblocking", "14.4.1", "Nonblocking and split reads across the end tell how much there was.", 1,
     end_nonblocking_coll},
    {"count-write", "14.4.1", "The status of a write tells what was written.", 1, write_coll},
    {"count-nothing", "14.4.1", "An access of nothing is allowed, and its count is 0.", 1, nothing_coll},
    {0},
};
