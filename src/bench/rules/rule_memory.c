/* Data in memory that is not in one piece. */
#include "bench/rules/rule.h"

#include <string.h>

enum { ROOM = 256, BASE = 64, BYTES_MAX = 64 };

/* `count` items of `type` from byte BASE of a buffer on; byte i of the data lies at BASE + place[i]. */
struct memory {
    MPI_Datatype type;
    int count;
    int place[BYTES_MAX];
    int bytes;
};

static void add_bytes(struct memory *memory, int first, int count)
{
    for (int i = 0; i < count; i++)
        memory->place[memory->bytes++] = first + i;
}

static void add_again(struct memory *memory, int extent)
{
    const int bytes = memory->bytes;
    for (int i = 0; i < bytes; i++)
        memory->place[memory->bytes++] = memory->place[i] + extent;
}

/* What a read leaves in a buffer of dots: the data at its places, and dots between. */
static void expect_read(struct rule_context *test, const struct memory *memory, const char *found)
{
    char wanted[ROOM];
    memset(wanted, '.', sizeof wanted);
    for (int i = 0; i < memory->bytes; i++)
        wanted[BASE + memory->place[i]] = rule_letter(test->rank, i);
    rule_bytes(test, "the buffer after reading", found, wanted, sizeof wanted);
}

/* Each rank writes its data behind that of the rank before, and reads it again; together and alone. Frees the type. */
static void access_coll(struct rule_context *test, struct memory *memory)
{
    static char content[BYTES_MAX * RULE_RANKS_MAX];
    char data[ROOM], found[ROOM];
    const int bytes = memory->bytes, count = memory->count;
    const MPI_Offset place = (MPI_Offset)bytes * test->rank;
    MPI_File file;
    memset(data, '#', sizeof data);
    for (int i = 0; i < bytes; i++)
        data[BASE + memory->place[i]] = rule_letter(test->rank, i);
    for (int rank = 0; rank < test->nprocs; rank++)
        rule_letters(content + bytes * rank, rank, bytes);
    MPI_Type_commit(&memory->type);
    for (int alone = 0; alone < 2 && rule_open_coll(test, RULE_NEW, &file); alone++) {
        DO(MPI_File_set_size(file, 0));
        memset(found, '.', sizeof found);
        if (alone) {
            DO(MPI_File_write_at(file, place, data + BASE, count, memory->type, MPI_STATUS_IGNORE));
            DO(MPI_File_read_at(file, place, found + BASE, count, memory->type, MPI_STATUS_IGNORE));
        } else {
            DO(MPI_File_write_at_all(file, place, data + BASE, count, memory->type, MPI_STATUS_IGNORE));
            DO(MPI_File_read_at_all(file, place, found + BASE, count, memory->type, MPI_STATUS_IGNORE));
        }
        rule_close_coll(test, &file);
        rule_file_coll(test, content, (size_t)bytes * test->nprocs);
        expect_read(test, memory, found);
    }
    if (memory->type != MPI_SHORT_INT)
        MPI_Type_free(&memory->type);
}

static void vector_coll(struct rule_context *test)
{
    struct memory memory = {.count = 2};
    MPI_Type_vector(3, 2, 5, MPI_BYTE, &memory.type);
    for (int i = 0; i < 3; i++)
        add_bytes(&memory, 5 * i, 2);
    add_again(&memory, 12);
    access_coll(test, &memory);
}

/* The later block lies first in memory, but second in the data. */
static void order_coll(struct rule_context *test)
{
    struct memory memory = {.count = 1};
    MPI_Type_create_hindexed(3, (const int[]){3, 2, 4}, (const MPI_Aint[]){20, 0, 10}, MPI_BYTE, &memory.type);
    add_bytes(&memory, 20, 3);
    add_bytes(&memory, 0, 2);
    add_bytes(&memory, 10, 4);
    access_coll(test, &memory);
}

/* Begins 8 bytes behind the buffer's address; copies follow at the extent of 5. */
static void lower_bound_coll(struct rule_context *test)
{
    struct memory memory = {.count = 3};
    MPI_Type_indexed(2, (const int[]){2, 1}, (const int[]){8, 12}, MPI_BYTE, &memory.type);
    for (int i = 0; i < 3; i++) {
        add_bytes(&memory, 5 * i + 8, 2);
        add_bytes(&memory, 5 * i + 12, 1);
    }
    access_coll(test, &memory);
}

static void negative_coll(struct rule_context *test)
{
    struct memory memory = {.count = 2};
    MPI_Datatype inner;
    MPI_Type_create_hindexed(2, (const int[]){2, 3}, (const MPI_Aint[]){-9, 4}, MPI_BYTE, &inner);
    MPI_Type_create_resized(inner, -10, 20, &memory.type);
    MPI_Type_free(&inner);
    add_bytes(&memory, -9, 2);
    add_bytes(&memory, 4, 3);
    add_again(&memory, 20);
    access_coll(test, &memory);
}

/* Two bytes between the short and the int are no data. */
static void pair_coll(struct rule_context *test)
{
    struct memory memory = {.type = MPI_SHORT_INT, .count = 2};
    add_bytes(&memory, 0, 2);
    add_bytes(&memory, 4, 4);
    add_again(&memory, 8);
    access_coll(test, &memory);
}

static void struct_coll(struct rule_context *test)
{
    struct memory memory = {.count = 2};
    MPI_Type_create_struct(3, (const int[]){1, 1, 3}, (const MPI_Aint[]){0, 8, 16},
                           (const MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_CHAR}, &memory.type);
    MPI_Datatype inner = memory.type;
    MPI_Type_create_resized(inner, 0, 24, &memory.type);
    MPI_Type_free(&inner);
    add_bytes(&memory, 0, 4);
    add_bytes(&memory, 8, 11);
    add_again(&memory, 24);
    access_coll(test, &memory);
}

static void subarray_coll(struct rule_context *test)
{
    struct memory memory = {.count = 1};
    MPI_Type_create_subarray(2, (const int[]){5, 4}, (const int[]){3, 2}, (const int[]){1, 1}, MPI_ORDER_FORTRAN,
                             MPI_BYTE, &memory.type);
    add_bytes(&memory, 6, 3);
    add_bytes(&memory, 11, 3);
    access_coll(test, &memory);
}

/* Addresses in the type, and no buffer. */
static void bottom_coll(struct rule_context *test)
{
    char first[3] = "", second[4] = "", content[7 * RULE_RANKS_MAX];
    MPI_Aint places[2];
    MPI_Datatype type;
    MPI_File file;
    MPI_Get_address(first, &places[0]);
    MPI_Get_address(second, &places[1]);
    MPI_Type_create_hindexed(2, (const int[]){3, 4}, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int rank = 0; rank < test->nprocs; rank++)
        rule_letters(content + 7 * rank, rank, 7);
    memcpy(first, content + 7 * test->rank, 3);
    memcpy(second, content + 7 * test->rank + 3, 4);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        DO(MPI_File_write_at_all(file, 7 * (MPI_Offset)test->rank, MPI_BOTTOM, 1, type, MPI_STATUS_IGNORE));
        memset(first, 0, 3);
        memset(second, 0, 4);
        DO(MPI_File_read_at(file, 7 * (MPI_Offset)test->rank, MPI_BOTTOM, 1, type, MPI_STATUS_IGNORE));
        rule_bytes(test, "the first part read", first, content + 7 * test->rank, 3);
        rule_bytes(test, "the second part read", second, content + 7 * test->rank + 3, 4);
        rule_close_coll(test, &file);
        rule_file_coll(test, content, 7 * (size_t)test->nprocs);
    }
    MPI_Type_free(&type);
}

extern const struct rule rule_area_memory[];
const struct rule rule_area_memory[] = {
    {"memory-vector", "14.4.1", "A vector in memory is written and read; what lies between stays.", 1, vector_coll},
    {"memory-order", "14.4.1", "Data follow the order of the type, not that of addresses.", 1, order_coll},
    {"memory-lower-bound", "14.4.1", "A type in memory may begin behind the buffer's address.", 1, lower_bound_coll},
    {"memory-negative", "14.4.1", "A type in memory may begin before the buffer's address.", 1, negative_coll},
    {"memory-pair", "14.4.1", "The gap inside MPI_SHORT_INT is no data.", 1, pair_coll},
    {"memory-struct", "14.4.1", "The gaps inside a struct are no data.", 1, struct_coll},
    {"memory-subarray", "14.4.1", "A subarray in Fortran's order is written and read.", 1, subarray_coll},
    {"memory-bottom", "14.4.1", "MPI_BOTTOM goes with a type of absolute addresses.", 1, bottom_coll},
    {0},
};
