/* The shared file pointer, ordered access, and streams. */
#include "bench/rules/rule.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 20 };

static void expect_shared(struct rule_context *test, MPI_File file, const char *what, MPI_Offset wanted)
{
    MPI_Offset position = -1;
    DO(MPI_File_get_position_shared(file, &position));
    rule_same(test, what, position, wanted);
}

/* Every record of the file is one that a rank wrote, and each is there once. */
static void expect_records_coll(struct rule_context *test)
{
    static int records[2 * RECORDS * RULE_RANKS_MAX];
    static char seen[RECORDS * RULE_RANKS_MAX];
    const int all = RECORDS * test->nprocs;
    MPI_File file;
    memset(seen, 0, sizeof seen);
    memset(records, 0, sizeof records);
    if (!rule_open_coll(test, MPI_MODE_RDONLY, &file))
        return;
    DO(MPI_File_read_at(file, 0, records, 2 * all, MPI_INT, MPI_STATUS_IGNORE));
    rule_close_coll(test, &file);
    for (int i = 0; i < all; i++) {
        const int number = records[2 * i];
        if (number < 0 || number >= all || records[2 * i + 1] != -number || seen[number]++)
            rule_break(test, "every record once in the file\nrecord %d is %d, %d: damaged or there twice", i, number,
                       records[2 * i + 1]);
    }
}

static void write_coll(struct rule_context *test)
{
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    rule_view_coll(test, file, 0, MPI_INT, MPI_INT);
    for (int i = 0; i < RECORDS; i++) {
        const int number = test->rank * RECORDS + i, record[2] = {number, -number};
        DO(MPI_File_write_shared(file, record, 2, MPI_INT, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(test->comm);
    expect_shared(test, file, "the shared pointer", 2 * RECORDS * test->nprocs);
    rule_close_coll(test, &file);
    expect_records_coll(test);
}

static void read_coll(struct rule_context *test)
{
    static int content[RECORDS * RULE_RANKS_MAX];
    const int all = RECORDS * test->nprocs;
    int64_t sum = 0, total = 0;
    int before = -1;
    MPI_File file;
    for (int i = 0; i < all; i++)
        content[i] = i;
    rule_put_coll(test, content, (size_t)all * sizeof content[0]);
    if (!rule_open_coll(test, MPI_MODE_RDONLY, &file))
        return;
    for (int i = 0; i < RECORDS; i++) {
        int record = -1;
        DO(MPI_File_read_shared(file, &record, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_true(test, record > before, "a later read gives a later record");
        before = record;
        sum += record;
    }
    MPI_Allreduce(&sum, &total, 1, MPI_INT64_T, MPI_SUM, test->comm);
    rule_same(test, "the sum of all records, each read once,", total, (int64_t)all * (all - 1) / 2);
    rule_close_coll(test, &file);
}

/* Rank r has r + 1 bytes in turn 0; in turn 1 odd ranks have nothing. */
static int shared_part(int turn, int rank)
{
    return turn == 1 && rank % 2 == 1 ? 0 : rank + 1;
}

static int make_ordered(const struct rule_context *test, char *ret_content)
{
    int all = 0;
    for (int turn = 0; turn < 3; turn++)
        for (int rank = 0; rank < test->nprocs; rank++) {
            rule_letters(ret_content + all, rank + turn, shared_part(turn, rank));
            all += shared_part(turn, rank);
        }
    return all;
}

enum { ORDERED_MAX = 3 * RULE_RANKS_MAX * (RULE_RANKS_MAX + 1) };

static void ordered_write_coll(struct rule_context *test)
{
    static char content[ORDERED_MAX];
    char data[RULE_RANKS_MAX + 1];
    const int all = make_ordered(test, content);
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    for (int turn = 0; turn < 3; turn++) {
        const int mine = shared_part(turn, test->rank);
        rule_letters(data, test->rank + turn, mine);
        DO(MPI_File_write_ordered(file, data, mine, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(test->comm);
    expect_shared(test, file, "the shared pointer", all);
    rule_close_coll(test, &file);
    rule_file_coll(test, content, (size_t)all);
}

static void ordered_read_coll(struct rule_context *test)
{
    static char content[ORDERED_MAX];
    char wanted[RULE_RANKS_MAX + 1], found[RULE_RANKS_MAX + 1];
    const int all = make_ordered(test, content);
    MPI_File file;
    rule_put_coll(test, content, (size_t)all);
    if (!rule_open_coll(test, MPI_MODE_RDONLY, &file))
        return;
    for (int turn = 0; turn < 3; turn++) {
        const int mine = shared_part(turn, test->rank);
        rule_letters(wanted, test->rank + turn, mine);
        memset(found, 0, sizeof found);
        DO(MPI_File_read_ordered(file, found, mine, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "the rank's part", found, wanted, (size_t)mine);
    }
    MPI_Barrier(test->comm);
    expect_shared(test, file, "the shared pointer", all);
    rule_close_coll(test, &file);
}

/* All ranks have the same view, of every second pair of bytes. */
static void view_coll(struct rule_context *test)
{
    static char content[8 * RULE_RANKS_MAX];
    char data[4];
    MPI_File file;
    MPI_Datatype pair, filetype;
    MPI_Type_contiguous(2, MPI_BYTE, &pair);
    MPI_Type_create_resized(pair, 0, 4, &filetype);
    MPI_Type_commit(&filetype);
    const int bytes = 8 * test->nprocs;
    memset(content, '.', (size_t)bytes);
    for (int i = 0; i < 4 * test->nprocs; i++)
        content[i / 2 * 4 + i % 2] = rule_letter(i / 4, i % 4);
    rule_letters(data, test->rank, 4);
    rule_put_coll(test, NULL, (size_t)bytes);
    if (rule_open_coll(test, MPI_MODE_RDWR, &file)) {
        rule_view_coll(test, file, 0, MPI_BYTE, filetype);
        DO(MPI_File_write_ordered(file, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_close_coll(test, &file);
    }
    rule_file_coll(test, content, (size_t)bytes);
    MPI_Type_free(&filetype);
    MPI_Type_free(&pair);
}

static void seek_coll(struct rule_context *test)
{
    MPI_File file;
    rule_put_coll(test, NULL, 100);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    DO(MPI_File_seek_shared(file, 40, MPI_SEEK_SET));
    expect_shared(test, file, "the shared pointer after MPI_SEEK_SET 40", 40);
    MPI_Barrier(test->comm);
    DO(MPI_File_seek_shared(file, 10, MPI_SEEK_CUR));
    expect_shared(test, file, "the shared pointer after MPI_SEEK_CUR 10", 50);
    MPI_Barrier(test->comm);
    DO(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
    expect_shared(test, file, "the shared pointer after MPI_SEEK_END -1 of 100", 99);
    rule_close_coll(test, &file);
}

static void shared_nonblocking_coll(struct rule_context *test)
{
    MPI_Request requests[RECORDS];
    MPI_Status statuses[RECORDS];
    int data[RECORDS][2];
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    for (int i = 0; i < RECORDS; i++) {
        const int number = test->rank * RECORDS + i;
        data[i][0] = number;
        data[i][1] = -number;
        requests[i] = MPI_REQUEST_NULL;
        DO(MPI_File_iwrite_shared(file, data[i], 2, MPI_INT, &requests[i]));
    }
    DO(MPI_Waitall(RECORDS, requests, statuses));
    rule_close_coll(test, &file);
    expect_records_coll(test);
}

static void stream_coll(struct rule_context *test)
{
    char content[4 * RULE_RANKS_MAX];
    MPI_File file;
    for (int i = 0; i < 4 * test->nprocs; i++)
        content[i] = rule_letter(i / 2 % test->nprocs, i % 2);
    if (!rule_open_coll(test, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, &file))
        return;
    for (int turn = 0; turn < 2; turn++)
        DO(MPI_File_write_ordered(file, content + 2 * test->rank, 2, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_close_coll(test, &file);
    rule_file_coll(test, content, 4 * (size_t)test->nprocs);
}

static void stream_refuses_coll(struct rule_context *test)
{
    const int class = MPI_ERR_UNSUPPORTED_OPERATION;
    MPI_File file;
    if (!rule_open_coll(test, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, &file))
        return;
    rule_class(test, MPI_File_seek(file, 0, MPI_SEEK_SET), class, "MPI_File_seek");
    rule_class(test, MPI_File_seek_shared(file, 0, MPI_SEEK_SET), class, "MPI_File_seek_shared");
    rule_class(test, MPI_File_write_at(file, 0, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE), class, "MPI_File_write_at");
    rule_close_coll(test, &file);
}

extern const struct rule rule_area_shared[];
const struct rule rule_area_shared[] = {
    {"shared-write", "14.4.4", "Writes by the shared pointer neither overlap nor leave gaps.", 1, write_coll},
    {"shared-read", "14.4.4", "Reads by the shared pointer give each record to one rank.", 1, read_coll},
    {"shared-nonblocking", "14.4.4", "Nonblocking writes by the shared pointer neither overlap nor leave gaps.", 1,
     shared_nonblocking_coll},
    {"shared-seek", "14.4.4", "MPI_File_seek_shared sets the pointer for all ranks.", 1, seek_coll},
    {"ordered-write", "14.4.4", "Ordered writes put the ranks' data into the order of ranks.", 1, ordered_write_coll},
    {"ordered-read", "14.4.4", "Ordered reads give the ranks their data in the order of ranks.", 1, ordered_read_coll},
    {"ordered-view", "14.4.4", "Ordered writes go through the view that all ranks share.", 1, view_coll},
    {"stream-write", "14.6.2", "A file of MPI_MODE_SEQUENTIAL takes ordered writes one behind the other.", 1,
     stream_coll},
    {"stream-refuses", "14.8", "In a file of MPI_MODE_SEQUENTIAL there are no offsets and no seeking.", 1,
     stream_refuses_coll},
    {0},
};
