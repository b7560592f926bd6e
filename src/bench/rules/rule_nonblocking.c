/* Nonblocking access and split collective access. */
#include "bench/rules/rule.h"

#include <string.h>

enum { BYTES = 24, MANY = 8 };

/* A new file, the rank's letters to write, and room to read them. */
static bool nonblocking_open_coll(struct rule_context *test, char data[BYTES], char found[BYTES], MPI_File *ret_file)
{
    rule_letters(data, test->rank, BYTES);
    memset(found, 0, BYTES);
    return rule_open_coll(test, RULE_NEW, ret_file);
}

/* The whole file: every rank's letters one behind the other. */
static void nonblocking_expect_coll(struct rule_context *test)
{
    static char content[BYTES * RULE_RANKS_MAX];
    for (int rank = 0; rank < test->nprocs; rank++)
        rule_letters(content + BYTES * rank, rank, BYTES);
    rule_file_coll(test, content, BYTES * (size_t)test->nprocs);
}

static void nonblocking_close_coll(struct rule_context *test, MPI_File *file)
{
    rule_close_coll(test, file);
    nonblocking_expect_coll(test);
}

/* The same where the letters were read back. */
static void nonblocking_compare_coll(struct rule_context *test, MPI_File *file, const char *data, const char *found)
{
    rule_bytes(test, "what was read back", found, data, BYTES);
    nonblocking_close_coll(test, file);
}

/* Waits for an access of all letters, which `what` began. */
static void nonblocking_wait(struct rule_context *test, const char *what, MPI_Request *request)
{
    MPI_Status status;
    DO(MPI_Wait(request, &status));
    rule_count(test, what, &status, MPI_BYTE, BYTES);
}

static void nonblocking_at_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Request request = MPI_REQUEST_NULL;
    char data[BYTES], found[BYTES];
    const MPI_Offset mine = BYTES * (MPI_Offset)test->rank;
    if (!nonblocking_open_coll(test, data, found, &file))
        return;
    DO(MPI_File_iwrite_at(file, mine, data, BYTES, MPI_BYTE, &request));
    nonblocking_wait(test, "MPI_File_iwrite_at", &request);
    rule_true(test, request == MPI_REQUEST_NULL, "a completed request is MPI_REQUEST_NULL");
    DO(MPI_File_iread_at(file, mine, found, BYTES, MPI_BYTE, &request));
    nonblocking_wait(test, "MPI_File_iread_at", &request);
    nonblocking_compare_coll(test, &file, data, found);
}

/* Requests of files and of messages in one MPI_Waitall. */
static void nonblocking_many_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Request requests[MANY + 2];
    MPI_Status statuses[MANY + 2];
    char data[BYTES], found[BYTES];
    int from = -1;
    const int left = (test->rank + test->nprocs - 1) % test->nprocs, right = (test->rank + 1) % test->nprocs;
    if (!nonblocking_open_coll(test, data, found, &file))
        return;
    MPI_Irecv(&from, 1, MPI_INT, left, 1, test->comm, &requests[0]);
    MPI_Isend(&test->rank, 1, MPI_INT, right, 1, test->comm, &requests[1]);
    for (int i = 0; i < MANY; i++) {
        const int piece = BYTES / MANY, place = piece * ((i * 3 + 1) % MANY);
        requests[2 + i] = MPI_REQUEST_NULL;
        DO(MPI_File_iwrite_at(file, BYTES * (MPI_Offset)test->rank + place, data + place, piece, MPI_BYTE,
                              &requests[2 + i]));
    }
    DO(MPI_Waitall(MANY + 2, requests, statuses));
    rule_same(test, "the message that came meanwhile", from, left);
    nonblocking_close_coll(test, &file);
}

static void nonblocking_test_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Request request = MPI_REQUEST_NULL;
    char data[BYTES], found[BYTES];
    int done = 0;
    if (!nonblocking_open_coll(test, data, found, &file))
        return;
    DO(MPI_File_iwrite_at(file, BYTES * (MPI_Offset)test->rank, data, BYTES, MPI_BYTE, &request));
    while (!done && MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        continue;
    rule_true(test, done, "MPI_Test says in the end that the write is complete");
    nonblocking_close_coll(test, &file);
}

static void nonblocking_collective_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Request request = MPI_REQUEST_NULL;
    char data[BYTES], found[BYTES];
    if (!nonblocking_open_coll(test, data, found, &file))
        return;
    rule_view_coll(test, file, BYTES * (MPI_Offset)test->rank, MPI_BYTE, MPI_BYTE);
    DO(MPI_File_iwrite_all(file, data, BYTES, MPI_BYTE, &request));
    nonblocking_wait(test, "MPI_File_iwrite_all", &request);
    DO(MPI_File_iread_at_all(file, 0, found, BYTES, MPI_BYTE, &request));
    nonblocking_wait(test, "MPI_File_iread_at_all", &request);
    nonblocking_compare_coll(test, &file, data, found);
}

/* Several collective writes under way; completed in another order than begun. */
static void nonblocking_several_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Request requests[3];
    char data[BYTES], found[BYTES];
    if (!nonblocking_open_coll(test, data, found, &file))
        return;
    for (int i = 0; i < 3; i++) {
        requests[i] = MPI_REQUEST_NULL;
        DO(MPI_File_iwrite_at_all(file, BYTES * (MPI_Offset)test->rank + BYTES / 3 * i, data + BYTES / 3 * i, BYTES / 3,
                                  MPI_BYTE, &requests[i]));
    }
    for (int i = 2; i >= 0; i--)
        DO(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    nonblocking_close_coll(test, &file);
}

/* ---- split ---- */

static void split_at_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Status status;
    char data[BYTES], found[BYTES];
    const MPI_Offset mine = BYTES * (MPI_Offset)test->rank;
    if (!nonblocking_open_coll(test, data, found, &file))
        return;
    DO(MPI_File_write_at_all_begin(file, mine, data, BYTES, MPI_BYTE));
    DO(MPI_File_write_at_all_end(file, data, &status));
    rule_count(test, "MPI_File_write_at_all_end", &status, MPI_BYTE, BYTES);
    DO(MPI_File_read_at_all_begin(file, mine, found, BYTES, MPI_BYTE));
    DO(MPI_File_read_at_all_end(file, found, &status));
    rule_count(test, "MPI_File_read_at_all_end", &status, MPI_BYTE, BYTES);
    nonblocking_compare_coll(test, &file, data, found);
}

static void split_pointer_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Offset position = -1;
    char data[BYTES], found[BYTES];
    if (!nonblocking_open_coll(test, data, found, &file))
        return;
    rule_view_coll(test, file, BYTES * (MPI_Offset)test->rank, MPI_BYTE, MPI_BYTE);
    DO(MPI_File_write_all_begin(file, data, BYTES, MPI_BYTE));
    DO(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE));
    DO(MPI_File_get_position(file, &position));
    rule_same(test, "the individual pointer", position, BYTES);
    DO(MPI_File_seek(file, 0, MPI_SEEK_SET));
    DO(MPI_File_read_all_begin(file, found, BYTES, MPI_BYTE));
    DO(MPI_File_read_all_end(file, found, MPI_STATUS_IGNORE));
    nonblocking_compare_coll(test, &file, data, found);
}

static void split_ordered_coll(struct rule_context *test)
{
    MPI_File file;
    char data[BYTES], found[BYTES];
    if (!nonblocking_open_coll(test, data, found, &file))
        return;
    DO(MPI_File_write_ordered_begin(file, data, BYTES, MPI_BYTE));
    DO(MPI_File_write_ordered_end(file, data, MPI_STATUS_IGNORE));
    DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    DO(MPI_File_read_ordered_begin(file, found, BYTES, MPI_BYTE));
    DO(MPI_File_read_ordered_end(file, found, MPI_STATUS_IGNORE));
    nonblocking_compare_coll(test, &file, data, found);
}

/* While a split write is under way on one handle: one on another handle, and a rank's own access on both. */
static void split_beside_coll(struct rule_context *test)
{
    MPI_File first, second;
    char data[BYTES], early[BYTES];
    const MPI_Offset mine = BYTES * (MPI_Offset)test->rank;
    rule_letters(data, test->rank, BYTES);
    rule_put_coll(test, NULL, BYTES * (size_t)test->nprocs);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &first))
        return;
    if (rule_open_coll(test, MPI_MODE_RDWR, &second)) {
        DO(MPI_File_write_at_all_begin(first, mine, data, BYTES / 2, MPI_BYTE));
        DO(MPI_File_write_at_all_begin(second, mine + BYTES / 2, data + BYTES / 2, BYTES / 4, MPI_BYTE));
        DO(MPI_File_write_at(first, mine + BYTES * 3 / 4, data + BYTES * 3 / 4, BYTES / 4, MPI_BYTE,
                             MPI_STATUS_IGNORE));
        DO(MPI_File_read_at(second, 0, early, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_write_at_all_end(second, data + BYTES / 2, MPI_STATUS_IGNORE));
        DO(MPI_File_write_at_all_end(first, data, MPI_STATUS_IGNORE));
        rule_close_coll(test, &second);
    }
    nonblocking_close_coll(test, &first);
}

extern const struct rule rule_area_nonblocking[];
const struct rule rule_area_nonblocking[] = {
    {"nonblocking-at", "14.4.2", "Nonblocking writes and reads are complete after MPI_Wait, with a count.", 1,
     nonblocking_at_coll},
    {"nonblocking-many", "14.4.1", "Requests of files and of messages may be waited for together.", 1,
     nonblocking_many_coll},
    {"nonblocking-test", "14.6.3", "MPI_Test alone leads a nonblocking access to its end.", 1, nonblocking_test_coll},
    {"nonblocking-collective", "14.6.5", "Nonblocking collective writes and reads are complete after MPI_Wait.", 1,
     nonblocking_collective_coll},
    {"nonblocking-several", "14.6.5", "Several nonblocking collective writes may be under way on one file.", 1,
     nonblocking_several_coll},
    {"split-at", "14.4.5", "Split collective access at explicit offsets moves the data, and counts.", 1, split_at_coll},
    {"split-pointer", "14.4.5", "Split collective access moves the individual pointer on.", 1, split_pointer_coll},
    {"split-ordered", "14.4.5", "Split ordered access puts data into the order of ranks.", 1, split_ordered_coll},
    {"split-beside", "14.4.5", "Beside a split access there may be one of another handle, and ranks' own access.", 1,
     split_beside_coll},
    {0},
};
