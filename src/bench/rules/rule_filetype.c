/* Which bytes a filetype selects, for every way of making types. */
#include "bench/rules/rule.h"

#include <string.h>

enum { SPAN = 256, BYTES_MAX = 64 };

/* Byte i of what is accessed through a filetype lies at place[i]; two filetypes at least are accessed. */
struct selection {
    int place[BYTES_MAX];
    int count;
};

static void select_bytes(struct selection *selection, int first, int count)
{
    for (int i = 0; i < count; i++)
        selection->place[selection->count++] = first + i;
}

/* Adds the whole selection once more, `extent` bytes further on. */
static void select_again(struct selection *selection, int extent)
{
    const int count = selection->count;
    for (int i = 0; i < count; i++)
        selection->place[selection->count++] = selection->place[i] + extent;
}

/* The content of the file when every rank wrote its letters from `shift` on through its stretch of SPAN bytes. */
static void filetype_fill(const struct rule_context *test, const struct selection *selection, int shift,
                          char *ret_content)
{
    memset(ret_content, '.', (size_t)SPAN * test->nprocs);
    for (int rank = 0; rank < test->nprocs; rank++)
        for (int i = 0; i < selection->count; i++)
            ret_content[SPAN * rank + selection->place[i]] = rule_letter(rank, i + shift);
}

/* Writes and reads through the filetype, together and alone; frees it. What it leaves out must stay. */
static void access_coll(struct rule_context *test, MPI_Datatype filetype, const struct selection *selection)
{
    static char content[SPAN * RULE_RANKS_MAX];
    char data[BYTES_MAX + 1], found[BYTES_MAX];
    const int count = selection->count;
    MPI_File file;
    rule_put_coll(test, NULL, (size_t)SPAN * test->nprocs);
    MPI_Type_commit(&filetype);
    rule_letters(data, test->rank, count + 1);
    if (rule_open_coll(test, MPI_MODE_RDWR, &file)) {
        rule_view_coll(test, file, (MPI_Offset)SPAN * test->rank, MPI_BYTE, filetype);
        DO(MPI_File_write_all(file, data, count, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_sync(file));
        filetype_fill(test, selection, 0, content);
        rule_file_coll(test, content, (size_t)SPAN * test->nprocs);
        memset(found, 0, sizeof found);
        DO(MPI_File_read_at_all(file, 0, found, count, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "read together", found, data, (size_t)count);
        DO(MPI_File_write_at(file, 0, data + 1, count, MPI_BYTE, MPI_STATUS_IGNORE));
        memset(found, 0, sizeof found);
        DO(MPI_File_read_at(file, 0, found, count, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "read alone", found, data + 1, (size_t)count);
        rule_close_coll(test, &file);
        filetype_fill(test, selection, 1, content);
        rule_file_coll(test, content, (size_t)SPAN * test->nprocs);
    }
    MPI_Type_free(&filetype);
}

static void vector_coll(struct rule_context *test)
{
    struct selection selection = {.count = 0};
    MPI_Datatype type;
    MPI_Type_vector(3, 2, 5, MPI_BYTE, &type);
    for (int i = 0; i < 3; i++)
        select_bytes(&selection, 5 * i, 2);
    select_again(&selection, 12);
    access_coll(test, type, &selection);
}

static void indexed_coll(struct rule_context *test)
{
    struct selection selection = {.count = 0};
    MPI_Datatype inner, type;
    MPI_Type_indexed(4, (const int[]){2, 0, 3, 0}, (const int[]){1, 2, 5, 9}, MPI_BYTE, &inner);
    MPI_Type_create_resized(inner, 0, 12, &type);
    MPI_Type_free(&inner);
    select_bytes(&selection, 1, 2);
    select_bytes(&selection, 5, 3);
    select_again(&selection, 12);
    access_coll(test, type, &selection);
}

static void struct_coll(struct rule_context *test)
{
    struct selection selection = {.count = 0};
    MPI_Datatype inner, pair, type;
    MPI_Type_contiguous(2, MPI_BYTE, &pair);
    MPI_Type_create_struct(2, (const int[]){4, 2}, (const MPI_Aint[]){0, 7}, (const MPI_Datatype[]){MPI_BYTE, pair},
                           &inner);
    MPI_Type_create_resized(inner, 0, 16, &type);
    MPI_Type_free(&inner);
    MPI_Type_free(&pair);
    select_bytes(&selection, 0, 4);
    select_bytes(&selection, 7, 4);
    select_again(&selection, 16);
    access_coll(test, type, &selection);
}

static void subarray_coll(struct rule_context *test)
{
    struct selection selection = {.count = 0};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, (const int[]){4, 6}, (const int[]){2, 3}, (const int[]){1, 2}, MPI_ORDER_C, MPI_BYTE,
                             &type);
    select_bytes(&selection, 8, 3);
    select_bytes(&selection, 14, 3);
    select_again(&selection, 24);
    access_coll(test, type, &selection);
}

/* Blocks of two, dealt out to the ranks in turn; two rounds in each array. */
static void darray_coll(struct rule_context *test)
{
    static char content[8 * RULE_RANKS_MAX];
    char data[8], found[8] = "";
    MPI_File file;
    MPI_Datatype type;
    const int bytes = 4 * test->nprocs;
    MPI_Type_create_darray(test->nprocs, test->rank, 1, &bytes, (const int[]){MPI_DISTRIBUTE_CYCLIC}, (const int[]){2},
                           &test->nprocs, MPI_ORDER_C, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    rule_letters(data, test->rank, 8);
    for (int i = 0; i < 2 * bytes; i++)
        content[i] = rule_letter(i / 2 % test->nprocs, i / 2 / test->nprocs * 2 + i % 2);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        rule_view_coll(test, file, 0, MPI_BYTE, type);
        DO(MPI_File_write_all(file, data, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at_all(file, 0, found, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, "what was read back", found, data, 8);
        rule_close_coll(test, &file);
        rule_file_coll(test, content, 2 * (size_t)bytes);
    }
    MPI_Type_free(&type);
}

static void nested_vector_coll(struct rule_context *test)
{
    struct selection selection = {.count = 0};
    MPI_Datatype inner, outer, type;
    MPI_Type_vector(3, 2, 4, MPI_BYTE, &inner);
    MPI_Type_create_hvector(2, 1, 30, inner, &outer);
    MPI_Type_create_resized(outer, 0, 70, &type);
    MPI_Type_free(&inner);
    MPI_Type_free(&outer);
    for (int i = 0; i < 6; i++)
        select_bytes(&selection, 30 * (i / 3) + 4 * (i % 3), 2);
    select_again(&selection, 70);
    access_coll(test, type, &selection);
}

static void nested_subarray_coll(struct rule_context *test)
{
    struct selection selection = {.count = 0};
    MPI_Datatype inner, outer, type;
    MPI_Type_create_subarray(2, (const int[]){4, 6}, (const int[]){2, 3}, (const int[]){1, 2}, MPI_ORDER_C, MPI_BYTE,
                             &inner);
    MPI_Type_create_hindexed(2, (const int[]){1, 2}, (const MPI_Aint[]){3, 40}, inner, &outer);
    MPI_Type_create_resized(outer, 0, 100, &type);
    MPI_Type_free(&inner);
    MPI_Type_free(&outer);
    static const int begins[] = {3, 40, 64};
    for (int i = 0; i < 3; i++) {
        select_bytes(&selection, begins[i] + 8, 3);
        select_bytes(&selection, begins[i] + 14, 3);
    }
    select_again(&selection, 100);
    access_coll(test, type, &selection);
}

static void resized_coll(struct rule_context *test)
{
    struct selection selection = {.count = 0};
    MPI_Datatype inner, type;
    MPI_Type_contiguous(3, MPI_BYTE, &inner);
    MPI_Type_create_resized(inner, -4, 8, &type);
    MPI_Type_free(&inner);
    select_bytes(&selection, 0, 3);
    select_again(&selection, 8);
    select_again(&selection, 16);
    access_coll(test, type, &selection);
}

/* The type begins at byte 4 and is 3 bytes long: so are its copies, which follow without a gap. */
static void lower_bound_coll(struct rule_context *test)
{
    struct selection selection = {.count = 0};
    MPI_Datatype type;
    MPI_Type_indexed(1, (const int[]){3}, (const int[]){4}, MPI_BYTE, &type);
    select_bytes(&selection, 4, 3);
    select_again(&selection, 3);
    access_coll(test, type, &selection);
}

/* A short and an int lie as in a C struct: two bytes between them belong to nobody. */
static void pair_coll(struct rule_context *test)
{
    struct pair {
        short first;
        int second;
    } data[3], found[3];
    MPI_File file;
    memset(data, '.', sizeof data);
    memset(found, '.', sizeof found);
    for (int i = 0; i < 3; i++) {
        data[i].first = (short)(11 + i);
        data[i].second = 12345 + i;
    }
    rule_put_coll(test, NULL, sizeof data);
    if (!rule_open_coll(test, MPI_MODE_RDWR, &file))
        return;
    rule_view_coll(test, file, 0, MPI_SHORT_INT, MPI_SHORT_INT);
    if (test->rank == 0)
        rule_echo(test, file, 0, data, found, 3, MPI_SHORT_INT, sizeof data);
    rule_close_coll(test, &file);
    rule_file_coll(test, data, sizeof data);
}

extern const struct rule rule_area_filetype[];
const struct rule rule_area_filetype[] = {
    {"filetype-vector", "14.3", "A view by a vector selects its blocks, again and again.", 1, vector_coll},
    {"filetype-indexed", "14.3", "A view by an indexed type selects its blocks; empty ones count nothing.", 1,
     indexed_coll},
    {"filetype-struct", "14.3", "A view by a struct type selects its members.", 1, struct_coll},
    {"filetype-subarray", "14.3", "A view by a subarray selects its part of each array.", 1, subarray_coll},
    {"filetype-darray", "14.3", "Views by a distributed array deal the file out to the ranks.", 1, darray_coll},
    {"filetype-nested", "14.3", "A view by a vector of vectors selects the inner blocks.", 1, nested_vector_coll},
    {"filetype-nested-array", "14.3", "A view by an indexed type of subarrays selects the inner blocks.", 1,
     nested_subarray_coll},
    {"filetype-resized", "14.3",
     "Copies of the filetype follow at its extent, which may have a lower bound below zero.", 1, resized_coll},
    {"filetype-lower-bound", "14.3", "A filetype whose first byte is not at zero is repeated at its extent.", 1,
     lower_bound_coll},
    {"filetype-pair", "14.3", "A view of MPI_SHORT_INT leaves the gap between both numbers.", 1, pair_coll},
    {0},
};
